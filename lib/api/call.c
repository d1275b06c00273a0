/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "api/call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/system.h"
#include "base/check.h"
#include "wire/check.h"

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
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof map->path)
        return LBM_E_RANGE;
    int fd = lbm_system_connect(path);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        return LBM_E_IO;
    if (fd < 0)
        return errno == EACCES || errno == EPERM ? LBM_E_DENIED : LBM_E_UNREACHABLE;
    map->fd = fd;
    map->connections++;
    map->ended_here = 0;
    memcpy(map->path, path, len + 1);
    return LBM_OK;
}

void
lbm_api_disconnect(struct lbmap *map)
{
    if (map->stream != NULL)
        map->stream->close(map->stream->context);
    map->stream = NULL;
    if (map->fd >= 0)
        lbm_system_close(map->fd);
    map->fd = -1;
    map->pushing = 0;
    free(map->body);
    map->body = NULL;
    map->got = 0;
    free(map->out);
    map->out = NULL;
    lbm_vec_free(&map->awaited);
}

int64_t
lbm_api_now_ms(void)
{
    return lbm_system_now_ms();
}

/* Close a connection that cannot be used any more. */
static enum lbm_err
lose(struct lbmap *map, enum lbm_err err, const char *why)
{
    map->ended_here = 1;
    lbm_api_disconnect(map);
    return lbm_api_fail(map, err, "%s", why);
}

/* The same when the daemon has closed it, or is gone. */
static enum lbm_err
lose_peer(struct lbmap *map, const char *why)
{
    char text[LBM_DIAG_TEXT_MAX];
    const char *said = map->stream != NULL ? map->stream->why(map->stream->context) : "";
    enum lbm_err err = said[0] != '\0' ? LBM_E_DENIED : LBM_E_IO;
    snprintf(text, sizeof text, "%s", said[0] != '\0' ? said : why);
    lbm_api_disconnect(map);
    return lbm_api_fail(map, err, "%s", text);
}

/* Wait until the socket is ready for some of `events` (LBM_SYSTEM_READ, LBM_SYSTEM_WRITE).
 * Out: *ready, what it is ready for; 0 if the time is over. */
static enum lbm_err
wait_ready(struct lbmap *map, int events, int64_t deadline_ms, int *ready)
{
    if ((events & LBM_SYSTEM_READ) != 0 && map->stream != NULL &&
        map->stream->pending(map->stream->context)) {
        *ready = LBM_SYSTEM_READ;
        return LBM_OK;
    }
    for (;;) {
        int64_t left_ms = deadline_ms - lbm_api_now_ms();
        int wait_ms = left_ms <= 0 ? 0 : left_ms < INT32_MAX ? (int)left_ms : INT32_MAX;
        *ready = lbm_system_wait(map->fd, events, wait_ms);
        if (*ready > 0 || (*ready == 0 && left_ms <= 0))
            return LBM_OK;
        if (*ready < 0 && errno != EINTR)
            return lose(map, LBM_E_IO, strerror(errno));
    }
}

static int
would_block(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static ssize_t
send_some(struct lbmap *map, const uint8_t *bytes, size_t len)
{
    return map->stream != NULL ? map->stream->send(map->stream->context, bytes, len)
                               : lbm_system_send(map->fd, bytes, len);
}

static ssize_t
receive_some(struct lbmap *map, uint8_t *bytes, size_t len)
{
    return map->stream != NULL ? map->stream->receive(map->stream->context, bytes, len)
                               : lbm_system_receive(map->fd, bytes, len);
}

static enum lbm_err
send_all(struct lbmap *map, const uint8_t *bytes, size_t len, int64_t deadline_ms)
{
    for (size_t sent = 0; sent < len;) {
        int ready;
        enum lbm_err err = wait_ready(map, LBM_SYSTEM_WRITE, deadline_ms, &ready);
        if (err != LBM_OK)
            return err;
        if (!ready)
            return lose(map, LBM_E_TIMEOUT, "the daemon did not take the request in time");
        ssize_t n = send_some(map, bytes + sent, len - sent);
        if (n >= 0)
            sent += (size_t)n;
        else if (errno == EPIPE)
            return LBM_OK; /* the daemon has closed it: what it said before is there to be read, then the end
                            */
        else if (!would_block())
            return lose_peer(map, strerror(errno));
    }
    return LBM_OK;
}

static void
drop_out(struct lbmap *map)
{
    free(map->out);
    map->out = NULL;
}

enum lbm_err
lbm_api_go_on(struct lbmap *map)
{
    while (map->out != NULL) {
        ssize_t n = send_some(map, map->out + map->out_sent, map->out_len - map->out_sent);
        if (n < 0 && would_block())
            return LBM_OK;
        if (n < 0 && errno != EPIPE)
            return lose_peer(map, strerror(errno));
        map->out_sent += n > 0 ? (size_t)n : 0;
        if (n < 0 || map->out_sent == map->out_len)
            drop_out(map); /* EPIPE: as in send_all */
    }
    return LBM_OK;
}

/* The header is complete: make room for the body. */
static enum lbm_err
begin_body(struct lbmap *map)
{
    if (lbm_frame_length(map->header, &map->body_len) != LBM_OK)
        return lose(map, LBM_E_LIMIT, "the daemon announced an impossible length of its answer");
    map->body = malloc(map->body_len);
    map->got = 0;
    return map->body != NULL ? LBM_OK : lose(map, LBM_E_NOMEM, "no memory for the answer");
}

/* Out: *chunk owned by the caller. */
static enum lbm_err
end_body(struct lbmap *map, Lbm__Response **chunk)
{
    struct lbm_diag diag = {0};
    enum lbm_err err = lbm_wire_unpack_response(map->body, map->body_len, chunk, &diag);
    free(map->body);
    map->body = NULL;
    map->got = 0;
    return err == LBM_OK ? LBM_OK : lose(map, err, diag.text);
}

/* The next chunk, or NULL if the time is over before it is complete, or what was on its way out has gone:
 * then the rest is read later. Out: *chunk owned by the caller. */
static enum lbm_err
receive_chunk(struct lbmap *map, int64_t deadline_ms, Lbm__Response **chunk)
{
    *chunk = NULL;
    for (int ready;;) {
        int events = LBM_SYSTEM_READ | (map->out != NULL ? LBM_SYSTEM_WRITE : 0);
        enum lbm_err err = wait_ready(map, events, deadline_ms, &ready);
        if (err != LBM_OK || !ready)
            return err;
        if ((ready & LBM_SYSTEM_WRITE) != 0 && ((err = lbm_api_go_on(map)) != LBM_OK || map->out == NULL))
            return err;
        if ((ready & LBM_SYSTEM_READ) == 0)
            continue;
        uint8_t *into = map->body != NULL ? map->body : map->header;
        size_t want = map->body != NULL ? map->body_len : sizeof map->header;
        ssize_t n = receive_some(map, into + map->got, want - map->got);
        if (n == 0)
            return lose_peer(map, "the daemon closed the connection");
        if (n < 0 && !would_block())
            return lose_peer(map, strerror(errno));
        map->got += n > 0 ? (size_t)n : 0;
        if (map->got < want)
            continue;
        if (map->body != NULL)
            return end_body(map, chunk);
        if ((err = begin_body(map)) != LBM_OK)
            return err;
    }
}

/* Nonzero if the chunk answers a request of lbm_api_start: it is dealt with. */
static int
is_awaited(struct lbmap *map, Lbm__Response *chunk)
{
    size_t at = 0;
    while (at < map->awaited.n && map->awaited.at[at].id != chunk->id)
        at++;
    if (at == map->awaited.n)
        return 0;
    const struct lbm_api_awaited request = map->awaited.at[at];
    if (chunk->last != 0) {
        map->awaited.n--;
        memmove(&map->awaited.at[at], &map->awaited.at[at + 1],
                (map->awaited.n - at) * sizeof *map->awaited.at);
    }
    map->answered(map, &request, chunk);
    lbm__response__free_unpacked(chunk, NULL);
    return 1;
}

enum aside {
    ASIDE_NOT,     /* an answer to the request in progress, or to none */
    ASIDE_IGNORED, /* nobody wanted it */
    ASIDE_TAKEN    /* somebody else has it */
};

/* A chunk that is no answer to the request in progress is dealt with. */
static enum aside
put_aside(struct lbmap *map, Lbm__Response *chunk)
{
    if (is_awaited(map, chunk))
        return ASIDE_TAKEN;
    if (map->pushing != 0 && chunk->id == map->pushing) {
        map->push(map, chunk);
        return ASIDE_TAKEN;
    }
    if (chunk->id == 0 || chunk->id > map->ignored)
        return ASIDE_NOT;
    lbm__response__free_unpacked(chunk, NULL);
    return ASIDE_IGNORED;
}

/* No answer in time. Whoever serves a job keeps the connection, and drops the answer when it comes. */
static enum lbm_err
late(struct lbmap *map)
{
    char text[96];
    snprintf(text, sizeof text, "the daemon did not answer in time, %g s: it is stopped, or very busy",
             map->timeout_ms / 1000.0);
    if (map->pushing == 0)
        return lose(map, LBM_E_TIMEOUT, text);
    map->ignored = map->request;
    return lbm_api_fail(map, LBM_E_TIMEOUT, "the daemon did not answer in time");
}

static enum lbm_err
receive_answer(struct lbmap *map, int64_t deadline_ms, lbm_api_chunk take, void *arg)
{
    enum lbm_err result = LBM_OK;
    for (int last = 0; !last;) {
        Lbm__Response *chunk;
        enum lbm_err err = receive_chunk(map, deadline_ms, &chunk);
        if (err != LBM_OK)
            return err;
        if (chunk == NULL)
            return late(map);
        if (put_aside(map, chunk) != ASIDE_NOT)
            continue;
        last = chunk->last != 0;
        if (chunk->id == 0 &&
            chunk->code != LBM_OK) { /* of the connection: the daemon ends it, and says why */
            enum lbm_err code = (enum lbm_err)chunk->code;
            result = lose(map, code, chunk->text[0] != '\0' ? chunk->text : lbm_err_text(code));
            last = 1;
        } else if (chunk->id != map->request) {
            result = lose(map, LBM_E_SYNTAX, "the daemon answered something that was not asked");
            last = 1;
        } else if (chunk->code != LBM_OK) {
            enum lbm_err code = (enum lbm_err)chunk->code;
            result = lbm_api_fail(map, code, "%s", chunk->text[0] != '\0' ? chunk->text : lbm_err_text(code));
        } else if (result == LBM_OK && take != NULL) {
            result = take(map, chunk, arg);
        }
        lbm__response__free_unpacked(chunk, NULL);
    }
    return result;
}

/* Out: *frame [*len], to be freed. Errors: as lbm_api_call; nothing is sent. */
static enum lbm_err
prepare(struct lbmap *map, Lbm__Request *request, uint8_t **frame, size_t *len)
{
    struct lbm_diag diag;
    if (map->fd < 0 && map->service != NULL)
        return lbm_api_fail(map, LBM_E_BUSY, "the daemon is away: dispatch, and try again");
    if (map->fd < 0)
        return lbm_api_fail(map, LBM_E_STATE, "the connection is lost; close the handle and open another");
    enum lbm_err err = lbm_wire_check(&lbm_wire_request_table, "request", &request->base, &diag);
    if (err != LBM_OK) /* or the daemon would end the connection */
        return lbm_api_fail(map, err, "%s: %s", diag.where, diag.text);
    request->id = map->request + 1;
    err = lbm_wire_pack_request(request, frame, len);
    if (err != LBM_OK)
        return lbm_api_fail(map, err, "the request cannot be sent: %s", lbm_err_text(err));
    map->request++;
    return LBM_OK;
}

static enum lbm_err
send_request(struct lbmap *map, Lbm__Request *request, int64_t deadline_ms)
{
    uint8_t *frame;
    size_t len;
    enum lbm_err err = prepare(map, request, &frame, &len);
    if (err != LBM_OK)
        return err;
    if (map->out != NULL) { /* one after the other */
        err = send_all(map, map->out + map->out_sent, map->out_len - map->out_sent, deadline_ms);
        drop_out(map);
    }
    if (err == LBM_OK)
        err = send_all(map, frame, len, deadline_ms);
    free(frame);
    return err;
}

enum lbm_err
lbm_api_start(struct lbmap *map, Lbm__Request *request, struct lbm_api_awaited as)
{
    uint8_t *frame;
    size_t len;
    LBM_ASSERT(map->out == NULL);
    if (lbm_vec_reserve(&map->awaited, 1) != LBM_OK)
        return lbm_api_fail(map, LBM_E_NOMEM, "no memory for a request");
    enum lbm_err err = prepare(map, request, &frame, &len);
    if (err != LBM_OK)
        return err;
    as.id = request->id;
    map->awaited.at[map->awaited.n++] = as;
    map->out = frame;
    map->out_len = len;
    map->out_sent = 0;
    return lbm_api_go_on(map);
}

void
lbm_api_abandon(struct lbmap *map)
{
    if (map->awaited.n != 0)
        map->ignored = map->request;
    map->awaited.n = 0;
}

enum { ANSWER_MS = 1000 };

enum lbm_err
lbm_api_call(struct lbmap *map, Lbm__Request *request, lbm_api_chunk take, void *arg)
{
    int64_t deadline_ms = lbm_api_now_ms() + map->timeout_ms;
    /* What is not ordered by then is void; its answer has the rest of the time to arrive. */
    request->within_ms =
        map->timeout_ms - (map->timeout_ms / 10 < ANSWER_MS ? map->timeout_ms / 10 : ANSWER_MS);
    enum lbm_err err = send_request(map, request, deadline_ms);
    return err == LBM_OK ? receive_answer(map, deadline_ms, take, arg) : err;
}

enum lbm_err
lbm_api_tell(struct lbmap *map, Lbm__Request *request)
{
    enum lbm_err err = send_request(map, request, lbm_api_now_ms() + map->timeout_ms);
    if (err == LBM_OK)
        map->ignored = map->request;
    return err;
}

/* The next chunk within that time is dealt with. Out: *came nonzero if there was one, *taken if somebody
 * wanted it. */
static enum lbm_err
hear_one(struct lbmap *map, int64_t deadline_ms, int *came, int *taken)
{
    Lbm__Response *chunk;
    enum lbm_err err = receive_chunk(map, deadline_ms, &chunk);
    *came = err == LBM_OK && chunk != NULL;
    if (!*came)
        return err;
    enum aside aside = put_aside(map, chunk);
    *taken = aside == ASIDE_TAKEN;
    if (aside != ASIDE_NOT)
        return LBM_OK;
    lbm__response__free_unpacked(chunk, NULL);
    return lose(map, LBM_E_SYNTAX, "the daemon answered something that was not asked");
}

enum lbm_err
lbm_api_listen(struct lbmap *map, int64_t timeout_ms)
{
    int64_t deadline_ms = lbm_api_now_ms() + timeout_ms;
    enum lbm_err err = LBM_OK;
    for (int came = 1, taken = 0; came && !taken && err == LBM_OK;)
        err = hear_one(map, deadline_ms, &came, &taken);
    return err;
}

enum lbm_err
lbm_api_take(struct lbmap *map)
{
    enum lbm_err err = LBM_OK;
    for (int came = 1, taken; came && err == LBM_OK;)
        err = hear_one(map, 0, &came, &taken);
    return err;
}
