/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/cluster/serving.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

volatile sig_atomic_t serving_stopped;

static void
on_signal(int signal)
{
    (void)signal;
    serving_stopped = 1;
}

void
serving_until_stopped(void)
{
    const struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
}

int64_t
serving_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

struct lbmap *
serving_open(const char *job, const char *path, int64_t end_us, enum lbmap_error *error)
{
    const struct timespec pause = {0, 100000000};
    *error = LBMAP_E_UNREACHABLE;
    while (!serving_stopped && serving_now_us() < end_us) {
        struct lbmap *map = NULL;
        *error = lbmap_open(path, &map);
        if (*error == LBMAP_OK && (*error = lbmap_attach(map, job)) == LBMAP_OK)
            return map;
        lbmap_close(map);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

void *
serving_share(const char *path, int writable, size_t *bytes)
{
    struct stat stat;
    void *at = MAP_FAILED;
    int fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &stat) == 0)
        at = mmap(NULL, (size_t)stat.st_size, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        perror(path);
    else
        *bytes = (size_t)stat.st_size;
    if (fd >= 0)
        close(fd);
    return at == MAP_FAILED ? NULL : at;
}
