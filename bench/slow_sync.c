/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For bench/transfer.sh, preloaded into daemons whose files are in memory: a sync takes SYNC_US microseconds.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int
wait_for_disk(void)
{
    const char *text = getenv("SYNC_US");
    long us = text != NULL ? strtol(text, NULL, 10) : 0;
    struct timespec left = {us / 1000000, us % 1000000 * 1000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
    return 0;
}

int
fsync(int fd)
{
    (void)fd;
    return wait_for_disk();
}

int
fdatasync(int fd)
{
    (void)fd;
    return wait_for_disk();
}
