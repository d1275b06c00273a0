/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "client/dial.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The port in an address, as text inside it; NULL: it has none. */
static const char *
port_of(const char *address)
{
    const char *colon = strrchr(address, ':');
    return colon != NULL && colon != address && colon[1] != '\0' ? colon + 1 : NULL;
}

int
lbm_dial_is_address(const char *text)
{
    const char *port = port_of(text);
    return strchr(text, '/') == NULL && port != NULL && strspn(port, "0123456789") == strlen(port);
}

/* Out: the host without brackets. Errors: LBM_E_SYNTAX. */
static enum lbm_err
split(const char *address, char host[LBM_ADDRESS_MAX + 1], const char **port, struct lbm_diag *diag)
{
    *port = port_of(address);
    size_t len = *port != NULL ? (size_t)(*port - address) - 1 : 0;
    if (len == 0 || len > LBM_ADDRESS_MAX)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "ADDRESS:PORT", 0,
                            "%.80s has no port; hosts listen at port 7411 as a rule", address);
    int in_brackets = address[0] == '[' && address[len - 1] == ']' && len > 2;
    snprintf(host, LBM_ADDRESS_MAX + 1, "%.*s", (int)(in_brackets ? len - 2 : len), address + in_brackets);
    return LBM_OK;
}

/* Connect within the time. Value: 0, or the errno. */
static int
connect_within(int fd, const struct sockaddr *to, socklen_t len, int64_t deadline_ms)
{
    int flags = fcntl(fd, F_GETFL), error = 0;
    socklen_t error_len = sizeof error;
    if (fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
        return errno;
    if (connect(fd, to, len) != 0) {
        struct pollfd poller = {.fd = fd, .events = POLLOUT};
        if (errno != EINPROGRESS)
            return errno;
        for (int ready = 0; ready <= 0;) {
            int64_t left_ms = deadline_ms - lbm_api_now_ms();
            ready = poll(&poller, 1, left_ms > 0 ? (int)left_ms : 0);
            if (ready == 0 || (ready < 0 && errno != EINTR))
                return ready == 0 ? ETIMEDOUT : errno;
        }
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_len) != 0)
            return errno;
    }
    return error != 0 ? error : fcntl(fd, F_SETFL, flags) == 0 ? 0 : errno;
}

enum lbm_err
lbm_dial(const char *address, unsigned timeout_ms, int *fd, struct lbm_diag *diag)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    const int64_t deadline_ms = lbm_api_now_ms() + timeout_ms;
    char host[LBM_ADDRESS_MAX + 1];
    const char *port;
    struct addrinfo *found = NULL;
    int error = 0, connected = -1;
    enum lbm_err err = split(address, host, &port, diag);
    if (err != LBM_OK)
        return err;
    int failed = getaddrinfo(host, port, &hints, &found);
    if (failed)
        return lbm_diag_set(diag, LBM_E_UNREACHABLE, address, 0, "%s", gai_strerror(failed));
    for (const struct addrinfo *at = found; at != NULL && connected < 0; at = at->ai_next) {
        int tried = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        error = tried >= 0 ? connect_within(tried, at->ai_addr, at->ai_addrlen, deadline_ms) : errno;
        if (error == 0)
            connected = tried;
        else if (tried >= 0)
            close(tried);
    }
    freeaddrinfo(found);
    if (connected < 0)
        return lbm_diag_set(diag, LBM_E_UNREACHABLE, address, 0, "%s", strerror(error));
    *fd = connected;
    return LBM_OK;
}
