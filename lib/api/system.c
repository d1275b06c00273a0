/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "config.h"

#include "api/system.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

int
lbm_system_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        int why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

void
lbm_system_close(int fd)
{
    close(fd);
}

int
lbm_system_wait(int fd, int events, int timeout_ms)
{
    struct pollfd poller = {.fd = fd};
    poller.events = (short)(((events & LBM_SYSTEM_READ) != 0 ? POLLIN : 0) |
                            ((events & LBM_SYSTEM_WRITE) != 0 ? POLLOUT : 0));
    int n = poll(&poller, 1, timeout_ms);
    if (n <= 0)
        return n;
    return ((poller.revents & POLLOUT) != 0 ? LBM_SYSTEM_WRITE : 0) |
           ((poller.revents & ~POLLOUT) != 0 ? LBM_SYSTEM_READ : 0);
}

int
lbm_system_has_hung_up(int fd)
{
    struct pollfd end = {.fd = fd, .events = 0};
    return poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLERR)) != 0;
}

ssize_t
lbm_system_send(int fd, const uint8_t *bytes, size_t len)
{
    return send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t
lbm_system_receive(int fd, uint8_t *bytes, size_t len)
{
    return recv(fd, bytes, len, MSG_DONTWAIT);
}

void
lbm_system_sleep(int64_t ms)
{
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

int64_t
lbm_system_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
