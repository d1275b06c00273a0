/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "serving.h"

#include <time.h>

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
