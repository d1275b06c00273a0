/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "api/call.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

enum lbm_err
lbm_api_fail(struct lbmap *map, enum lbm_err err, const char *fmt, ...)
{
    LBM_ASSERT(err != LBM_OK);
    va_list args;
    va_start(args, fmt);
    vsnprintf(map->message, sizeof map->message, fmt, args);
    va_end(args);
    return err;
}

enum lbm_err
lbm_api_connect(struct lbmap *map, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof address.sun_path)
        return LBM_E_RANGE;
    memcpy(address.sun_path, path, len + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return LBM_E_IO;
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        enum lbm_err err = errno == EACCES || errno == EPERM ? LBM_E_DENIED : LBM_E_UNREACHABLE;
        close(fd);
        return err;
    }
    map->fd = fd;
    return LBM_OK;
}

void
lbm_api_disconnect(struct lbmap *map)
{
    if (map->fd >= 0)
        close(map->fd);
    map->fd = -1;
}

static int64_t
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Close a connection that cannot be used any more. */
static enum lbm_err
lose(struct lbmap *map, enum lbm_err err, const char *why)
{
    lbm_api_disconnect(map);
    return lbm_api_fail(map, err, "%s", why);
}

/* Wait until the socket is ready for `events` (POLLIN or POLLOUT). */
static enum lbm_err
wait_ready(struct lbmap *map, short events, int64_t deadline_ms)
{
    for (;;) {
        int64_t left_ms = deadline_ms - now_ms();
        if (left_ms <= 0)
            return lose(map, LBM_E_TIMEOUT, "the daemon did not answer in time");
        struct pollfd ready = {.fd = map->fd, .events = events};
        int n = poll(&ready, 1, left_ms < INT32_MAX ? (int)left_ms : INT32_MAX);
        if (n > 0)
            return LBM_OK;
        if (n < 0 && errno != EINTR)
            return lose(map, LBM_E_IO, strerror(errno));
    }
}

static int
would_block(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static enum lbm_err
send_all(struct lbmap *map, const uint8_t *bytes, size_t len, int64_t deadline_ms)
{
    for (size_t sent = 0; sent < len;) {
        enum lbm_err err = wait_ready(map, POLLOUT, deadline_ms);
        if (err != LBM_OK)
            return err;
        ssize_t n = send(map->fd, bytes + sent, len - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n >= 0)
            sent += (size_t)n;
        else if (!would_block())
            return lose(map, LBM_E_IO, strerror(errno));
    }
    return LBM_OK;
}

static enum lbm_err
receive_all(struct lbmap *map, uint8_t *bytes, size_t len, int64_t deadline_ms)
{
    for (size_t got = 0; got < len;) {
        enum lbm_err err = wait_ready(map, POLLIN, deadline_ms);
        if (err != LBM_OK)
            return err;
        ssize_t n = recv(map->fd, bytes + got, len - got, MSG_DONTWAIT);
        if (n == 0)
            return lose(map, LBM_E_IO, "the daemon closed the connection");
        if (n > 0)
            got += (size_t)n;
        else if (!would_block())
            return lose(map, LBM_E_IO, strerror(errno));
    }
    return LBM_OK;
}

/* Out: *part owned by the caller. */
static enum lbm_err
receive_part(struct lbmap *map, int64_t deadline_ms, Lbm__Response **part)
{
    uint8_t header[LBM_FRAME_HEADER];
    uint32_t len;
    enum lbm_err err = receive_all(map, header, sizeof header, deadline_ms);
    if (err != LBM_OK)
        return err;
    if (lbm_frame_length(header, &len) != LBM_OK)
        return lose(map, LBM_E_LIMIT, "the daemon announced an impossible length of its answer");
    uint8_t *bytes = malloc(len);
    if (bytes == NULL)
        return lose(map, LBM_E_NOMEM, "no memory for the answer");
    struct lbm_diag diag = {0};
    err = receive_all(map, bytes, len, deadline_ms);
    if (err == LBM_OK && (err = lbm_wire_unpack_response(bytes, len, part, &diag)) != LBM_OK)
        err = lose(map, err, diag.text);
    free(bytes);
    return err;
}

static enum lbm_err
receive_answer(struct lbmap *map, int64_t deadline_ms, lbm_api_part take, void *arg)
{
    enum lbm_err result = LBM_OK;
    for (int last = 0; !last;) {
        Lbm__Response *part;
        enum lbm_err err = receive_part(map, deadline_ms, &part);
        if (err != LBM_OK)
            return err;
        last = part->last != 0;
        if (part->id != map->request) {
            result = lose(map, LBM_E_SYNTAX, "the daemon answered something that was not asked");
            last = 1;
        } else if (part->code != LBM_OK) {
            enum lbm_err code = (enum lbm_err)part->code;
            result = lbm_api_fail(map, code, "%s", part->text[0] != '\0' ? part->text : lbm_err_text(code));
        } else if (result == LBM_OK && take != NULL) {
            result = take(map, part, arg);
        }
        lbm__response__free_unpacked(part, NULL);
    }
    return result;
}

enum lbm_err
lbm_api_call(struct lbmap *map, Lbm__Request *request, lbm_api_part take, void *arg)
{
    if (map->fd < 0)
        return lbm_api_fail(map, LBM_E_STATE, "the connection is lost; close the handle and open another");
    request->id = ++map->request;
    uint8_t *frame;
    size_t len;
    enum lbm_err err = lbm_wire_pack_request(request, &frame, &len);
    if (err != LBM_OK)
        return lbm_api_fail(map, err, "the request cannot be sent: %s", lbm_err_text(err));
    int64_t deadline_ms = now_ms() + map->timeout_ms;
    err = send_all(map, frame, len, deadline_ms);
    free(frame);
    return err == LBM_OK ? receive_answer(map, deadline_ms, take, arg) : err;
}
