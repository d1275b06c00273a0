/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* An application works on vertices: what its daemon gives and asks back, by the lease page (PROTOCOL
 * sections 4 and 5).
 *
 * What is held is lost when the page's term grows or its deadline passes, when this side ends the connection,
 * or when a daemon that goes on ends it: then the daemon counts the vertices as released. A daemon that dies
 * takes nothing away: the page holds, and the next one is told what is held. */
#include "config.h"

#include "api/serve.h"

#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/checkpoint.h"
#include "api/mutants.h"
#include "api/payloads.h"
#include "api/send.h"
#include "api/service.h"
#include "api/system.h"
#include "base/check.h"
#include "lbmap.h"

enum {
    LOOK_MS = 100, /* between looks at the page and for the daemon while waiting */
};

/* Of the first program that this library serves: up to `edges`. */
#define LEAST_CALLBACKS offsetof(struct lbmap_callbacks, peer_up)

_Static_assert(LBMAP_PAYLOAD_MAX == LBM_BLOB_BYTES_MAX && LBMAP_CHANGE_PAYLOAD_MAX == LBM_PAYLOAD_MAX,
               "the daemon takes as much");

/* ---- what is held ----------------------------------------------------------------------------------- */

static void
forget(struct lbm_service *s, uint32_t at)
{
    struct held last = s->held.at[--s->held.n];
    lbm_idmap_remove(&s->slot, s->held.at[at].vertex);
    if (at == s->held.n)
        return;
    s->held.at[at] = last;
    enum lbm_err err = lbm_idmap_put(&s->slot, last.vertex, at); /* replaces: needs no memory */
    LBM_ASSERT(err == LBM_OK);
}

/* Index in held, or LBM_NONE. */
static uint32_t
find(const struct lbm_service *s, uint32_t vertex, uint64_t token)
{
    uint32_t at = lbm_idmap_get(&s->slot, vertex);
    return at != LBM_NONE && s->held.at[at].token == token ? at : LBM_NONE;
}

static void
revoke_from(struct lbm_service *s, size_t n)
{
    while (s->held.n > n) {
        struct held last = s->held.at[s->held.n - 1];
        forget(s, (uint32_t)s->held.n - 1);
        lbm_send_lost(s, last.vertex);
        s->callbacks.revoked(s->callbacks.context, last.vertex, last.token);
    }
}

static void
drop_pushed(struct lbm_service *s)
{
    for (size_t i = 0; i < s->pushed.n; i++)
        lbm__response__free_unpacked(s->pushed.at[i], NULL);
    s->pushed.n = 0;
}

void
lbm_api_serve_end(struct lbmap *map)
{
    struct lbm_service *s = map->service;
    if (s == NULL)
        return;
    map->service = NULL;
    map->pushing = 0;
    drop_pushed(s);
    lbm_vec_free(&s->pushed);
    lbm_vec_free(&s->held);
    lbm_idmap_free(&s->slot);
    lbm_page_close(&s->page);
    lbm_returns_free(&s->with_payload);
    lbm_returns_free(&s->bare);
    lbm_vec_free(&s->edges);
    lbm_vec_free(&s->peers.up);
    lbm_checkpoint_free(map, s->checkpoint);
    lbm_letters_free(s->mail);
    free(s);
}

/* ---- the lease ----------------------------------------------------------------------------------------- */

/* Revoke what is lost, and go on with the term that there is now. A daemon that did not notice that the lease
 * was over (it stood still) is told what nobody works on any more.
 * Returns 0 while nothing the daemon says can be judged: the page cannot be read, or the daemon may have cut
 * us off, and given to others since what it gave to us. */
static int
settle_losses(struct lbmap *map)
{
    struct lbm_service *s = map->service;
    struct lbm_lease_page lease;
    enum lbmap_lease valid = s->lost ? LBMAP_LOST : lbm_api_lease_look(map);
    enum lbm_err err = lbm_lease_page_get(s->page.mapping, &lease);
    if (valid != LBMAP_LOST)
        return err == LBM_OK && s->ended_us == 0;
    for (size_t i = 0; map->fd >= 0 && i < s->held.n; i++) {
        if (lbm_returns_add(map, &s->bare, s->held.at[i].vertex, s->held.at[i].token, NULL) != LBM_OK)
            s->short_of_memory = 1;
        if (lbm_returns_are_many(&s->bare))
            (void)lbm_returns_send(map, &s->bare, s->term);
    }
    revoke_from(s, 0);
    (void)lbm_returns_send(map, &s->bare, s->term); /* now: they belong to the term that is over */
    if (err != LBM_OK || !lbm_api_lease_is_good(map, &lease))
        return 0; /* until there is a page again, and a daemon */
    s->term = lease.term;
    s->lost = 0;
    return 1;
}

/* ---- attaching ----------------------------------------------------------------------------------------- */

static void
take_push(struct lbmap *map, Lbm__Response *chunk)
{
    struct lbm_service *s = map->service;
    if (lbm_vec_push(&s->pushed, chunk) == LBM_OK)
        return;
    lbm__response__free_unpacked(chunk, NULL);
    s->short_of_memory = 1; /* a chunk is missing: what the daemon thinks we hold is not what we know */
}

/* If the daemon refuses to be served, its reason. */
static enum lbm_err
find_refusal(struct lbmap *map)
{
    struct lbm_service *s = map->service;
    for (size_t i = 0; i < s->pushed.n; i++) {
        const Lbm__Response *chunk = s->pushed.at[i];
        if (chunk->code != LBM_OK) {
            enum lbm_err code = (enum lbm_err)chunk->code;
            return lbm_api_fail(map, code, "%s", chunk->text[0] != '\0' ? chunk->text : lbm_err_text(code));
        }
    }
    return LBM_OK;
}

static enum lbm_err
send_attach(struct lbmap *map)
{
    struct lbm_service *s = map->service;
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__AttachRequest attach;
    lbm__attach_request__init(&attach);
    uint32_t *vertex = lbm_alloc(s->held.n, sizeof *vertex);
    uint64_t *token = lbm_alloc(s->held.n, sizeof *token);
    enum lbm_err err = LBM_E_NOMEM;
    if (vertex != NULL && token != NULL) {
        for (size_t i = 0; i < s->held.n; i++) {
            vertex[i] = s->held.at[i].vertex;
            token[i] = s->held.at[i].token;
        }
        attach.job = map->job;
        attach.n_vertex = attach.n_token = s->held.n;
        attach.edges = s->callbacks.edges != NULL || s->mail != NULL;
        attach.moves = s->callbacks.vertex_moved != NULL;
        attach.blobs = 1;
        attach.vertex = vertex;
        attach.token = token;
        request.what_case = LBM__REQUEST__WHAT_ATTACH;
        request.attach = &attach;
        err = lbm_api_tell(map, &request);
    }
    free(vertex);
    free(token);
    if (err == LBM_E_NOMEM)
        return lbm_api_fail(map, err, "no memory for %zu vertices", s->held.n);
    return err;
}

/* Serve over the connection that stands, naming what is held. A question after it tells when a refusal would
 * have come. */
static enum lbm_err
attach(struct lbmap *map)
{
    struct lbm_service *s = map->service;
    struct lbm_lease_page lease;
    int replaced = 0;
    if (lbm_page_open(&s->page, map->path, &replaced) != LBM_OK ||
        lbm_lease_page_get(s->page.mapping, &lease) != LBM_OK)
        return lbm_api_fail(map, LBM_E_IO, "the lease page of the daemon, %s%s, cannot be read", map->path,
                            LBM_LEASE_PAGE_SUFFIX);
    int has_seen_us_go = (lease.life == s->life || lease.gone != s->gone) && !LBM_API_BUG(HELD_AFTER_CUT);
    if (replaced || lease.term != s->term || has_seen_us_go)
        revoke_from(s, 0);        /* it gave away what we had */
    revoke_from(s, LBM_ROWS_MAX); /* no more can be named */
    s->term = lease.term;
    s->life = lease.life;
    s->gone = lease.gone;
    s->fresh_us = 0;
    s->lost = s->short_of_memory = 0;
    s->ended_us = 0;
    drop_pushed(s);
    enum lbm_err err = send_attach(map);
    if (err != LBM_OK)
        return err;
    map->push = take_push;
    map->pushing = map->request;
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    request.what_case = LBM__REQUEST__WHAT_STATUS;
    request.status = &empty;
    err = lbm_api_call(map, &request, NULL, NULL);
    if (err == LBM_OK && (err = find_refusal(map)) != LBM_OK)
        return err;
    if (err == LBM_OK)
        err = lbm_api_peers_again(map, &s->note);
    s->peers.due_ms = lbm_api_now_ms() + map->timeout_ms;
    if (err == LBM_OK)
        return LBM_OK;
    map->ended_here = map->fd >= 0 ? 1 : map->ended_here;
    lbm_api_disconnect(map); /* it may serve us now, and nobody would listen */
    return err;
}

enum lbmap_error
lbmap_serve(struct lbmap *map, const struct lbmap_callbacks *callbacks)
{
    enum lbm_err err = LBM_OK;
    if (map->job[0] == '\0' || map->service != NULL)
        err = lbm_api_fail(map, LBM_E_STATE,
                           map->service != NULL ? "a job is served already" : "no job is attached");
    else if (callbacks->size < LEAST_CALLBACKS)
        err =
            lbm_api_fail(map, LBM_E_RANGE, "size of the callbacks is %zu, not sizeof(struct lbmap_callbacks)",
                         callbacks->size);
    else if (callbacks->acquire == NULL || callbacks->release == NULL || callbacks->revoked == NULL)
        err = lbm_api_fail(map, LBM_E_RANGE, "a callback is missing");
    else if ((map->service = lbm_alloc(1, sizeof *map->service)) == NULL)
        err = lbm_api_fail(map, LBM_E_NOMEM, "no memory to serve a job");
    if (err != LBM_OK)
        return (enum lbmap_error)err;
    memcpy(&map->service->callbacks, callbacks,
           callbacks->size < sizeof *callbacks ? callbacks->size : sizeof *callbacks);
    map->service->page.fd = -1;
    err = lbm_send_begin(map);
    if (err == LBM_OK)
        err = attach(map);
    if (err != LBM_OK)
        lbm_api_serve_end(map);
    return (enum lbmap_error)err;
}

/* ---- what the daemon says ------------------------------------------------------------------- */

static void
acquire_one(struct lbm_service *s, uint32_t vertex, uint64_t token, struct lbmap_payload payload)
{
    uint32_t at = lbm_idmap_get(&s->slot, vertex);
    if (at != LBM_NONE)
        return; /* the daemon gives nothing twice in one term */
    struct held held = {vertex, token, ++s->n_given};
    if (lbm_vec_reserve(&s->held, 1) != LBM_OK ||
        lbm_idmap_put(&s->slot, vertex, (uint32_t)s->held.n) != LBM_OK) {
        s->short_of_memory = 1;
        return;
    }
    s->held.at[s->held.n++] = held;
    if (lbm_send_acquired(s, vertex, token, &payload) == LBM_OK) {
        s->callbacks.acquire(s->callbacks.context, vertex, token, &payload);
        return;
    }
    forget(s, (uint32_t)s->held.n - 1);
    s->short_of_memory = 1;
}

/* A vertex whose payload is read first. If that cannot be, the daemon goes on to count it as held, or gives
 * it again, and the program hears why. */
static void
acquire_large(struct lbmap *map, uint32_t vertex, uint64_t token, const uint8_t *words, size_t len)
{
    struct lbm_service *s = map->service;
    struct lbmap_payload payload;
    enum lbm_err err = lbm_api_payload_get(map, NULL, 0, words, len, &payload);
    if (err == LBM_E_NOMEM)
        s->short_of_memory = 1;
    else if (err != LBM_OK && map->fd >= 0)
        s->unread = err;
    if (err == LBM_E_TIMEOUT || err == LBM_E_BUSY)
        s->short_of_memory |= lbm_returns_add(map, &s->bare, vertex, token, NULL) != LBM_OK;
    if (err != LBM_OK)
        return;
    acquire_one(s, vertex, token, payload);
    free((void *)payload.bytes);
}

/* Edges of vertices; those that are not held any more are passed over. */
static void
tell_edges(struct lbm_service *s, const Lbm__Neighbours *of)
{
    size_t at = 0;
    for (size_t i = 0; i < of->n_vertex && (s->callbacks.edges != NULL || s->mail != NULL);
         at += of->degree[i++]) {
        if (find(s, of->vertex[i], of->token[i]) == LBM_NONE)
            continue;
        s->edges.n = 0;
        for (size_t k = at; k < at + of->degree[i]; k++) {
            struct lbmap_edge edge = {of->neighbour[k], of->weight[k],
                                      of->n_host != 0 ? of->host[k] : LBMAP_NOWHERE};
            if (lbm_vec_push(&s->edges, edge) != LBM_OK) {
                s->short_of_memory = 1;
                return;
            }
        }
        lbm_send_neighbours(s, s->edges.at, s->edges.n);
        if (s->callbacks.edges != NULL)
            s->callbacks.edges(s->callbacks.context, of->vertex[i], of->token[i], s->edges.at, s->edges.n);
    }
}

static void
acquire(struct lbmap *map, const Lbm__Acquire *acquire)
{
    struct lbm_service *s = map->service;
    size_t at = 0;
    if (acquire->term != s->term || s->lost)
        return; /* given before the lease lapsed: void, and given again if it still is ours */
    for (size_t i = 0; i < acquire->n_vertex; i++) {
        size_t len = acquire->n_payload_len != 0 ? acquire->payload_len[i] : 0;
        if (len > acquire->payload.len - at) {
            s->short_of_memory = 1; /* lengths that do not fit: as if it had not come */
            return;
        }
        struct lbmap_payload payload = {len != 0 ? acquire->payload.data + at : acquire->payload.data, len};
        at += len;
        if (acquire->n_blob != 0 && acquire->blob[i] != 0)
            acquire_large(map, acquire->vertex[i], acquire->token[i], payload.bytes, len);
        else
            acquire_one(s, acquire->vertex[i], acquire->token[i], payload);
    }
    if (acquire->neighbours != NULL)
        tell_edges(s, acquire->neighbours);
}

static void
release(struct lbmap *map, const Lbm__Release *release)
{
    struct lbm_service *s = map->service;
    for (size_t i = 0; i < release->n_vertex; i++) {
        uint32_t at = find(s, release->vertex[i], release->token[i]);
        struct lbmap_payload payload = {NULL, 0};
        if (at != LBM_NONE) {
            forget(s, at);
            s->callbacks.release(s->callbacks.context, release->vertex[i], release->token[i], &payload);
            if (lbm_send_released(s, release->vertex[i], &payload) != LBM_OK)
                s->short_of_memory = 1;
        }
        int kept = payload.bytes == NULL || payload.len > LBM_BLOB_BYTES_MAX;
        if (payload.bytes != NULL && kept) {
            s->too_long = 1;
            (void)lbm_api_fail(map, LBM_E_RANGE,
                               "vertex %u: a payload of %zu bytes is released, up to %d are kept; it goes on "
                               "with that of its last checkpoint",
                               release->vertex[i], payload.len, LBMAP_PAYLOAD_MAX);
        }
        struct lbm_returns *returns = kept ? &s->bare : &s->with_payload;
        enum lbm_err err =
            lbm_returns_add(map, returns, release->vertex[i], release->token[i], kept ? NULL : &payload);
        if (err != LBM_OK && err != LBM_E_NOMEM && !kept && map->fd >= 0) { /* a large one was not taken */
            s->unread = err;
            err = lbm_returns_add(map, &s->bare, release->vertex[i], release->token[i], NULL);
        }
        if (err == LBM_OK && lbm_returns_are_many(returns))
            err = lbm_returns_send(map, returns, s->term);
        if (err == LBM_E_NOMEM)
            s->short_of_memory = 1;
    }
}

/* All that has come, in order. Errors: what the daemon ends serving with. */
static enum lbm_err
handle_pushed(struct lbmap *map)
{
    struct lbm_service *s = map->service;
    enum lbm_err err = find_refusal(map);
    for (size_t i = 0; err == LBM_OK && i < s->pushed.n; i++) {
        const Lbm__Response *chunk = s->pushed.at[i];
        if (chunk->what_case == LBM__RESPONSE__WHAT_ACQUIRE)
            acquire(map, chunk->acquire);
        else if (chunk->what_case == LBM__RESPONSE__WHAT_RELEASE)
            release(map, chunk->release);
        else if (chunk->what_case == LBM__RESPONSE__WHAT_NEIGHBOURS)
            tell_edges(s, chunk->neighbours);
        else
            lbm_send_heard(map, chunk);
    }
    if (err == LBM_OK)
        err = find_refusal(map); /* it may have come while payloads were read */
    drop_pushed(s);
    if (err != LBM_OK)
        return err;
    /* If it fails, the connection is lost: seen at the next look. */
    (void)lbm_returns_send(map, &s->with_payload, s->term);
    (void)lbm_returns_send(map, &s->bare, s->term);
    return LBM_OK;
}

/* ---- dispatching ---------------------------------------------------------------------------- */

/* Without a connection: try once. Errors: what cannot get better by waiting. */
static enum lbm_err
look_for_daemon(struct lbmap *map)
{
    char path[sizeof map->path];
    memcpy(path, map->path, sizeof path);
    if (lbm_api_connect(map, path) != LBM_OK)
        return LBM_OK;
    enum lbm_err err = attach(map);
    if (err == LBM_OK || err == LBM_E_NOTFOUND || err == LBM_E_NOMEM)
        return err;
    map->ended_here = map->fd >= 0 ? 1 : map->ended_here;
    lbm_api_disconnect(map);
    return LBM_OK; /* it may not know that the old connection is over, or be on its way down */
}

/* Nothing can be served any more: all is revoked. */
static enum lbmap_error
end_with(struct lbmap *map, enum lbm_err err)
{
    revoke_from(map->service, 0);
    lbm_api_serve_end(map);
    return (enum lbmap_error)err;
}

/* A program that ended while there was no connection, or no daemon, is told of by nobody. All that has come
 * is dealt with. */
static void
drop_peers(struct lbmap *map)
{
    struct lbm_service *s = map->service;
    uint32_t host;
    if (map->fd < 0 || s->peers.due_ms == 0 || lbm_api_now_ms() < s->peers.due_ms)
        return;
    s->peers.due_ms = 0;
    while ((host = lbm_api_peers_forget(&s->peers, map->connections)) != LBMAP_NOWHERE)
        lbm_send_peer_gone(s, host);
}

/* Until something comes, or the time is over. */
static void
wait_for_daemon(struct lbmap *map, int64_t ms)
{
    if (map->fd < 0)
        lbm_system_sleep(ms);
    else if (lbm_api_listen(map, ms) != LBM_OK)
        LBM_ASSERT(map->fd < 0); /* the next look sees it */
}

/* Begin again, empty: the daemon gives everything again. */
static enum lbmap_error
start_over(struct lbmap *map)
{
    map->ended_here = 1;
    lbm_api_disconnect(map);
    (void)settle_losses(map);
    return (enum lbmap_error)lbm_api_fail(map, LBM_E_NOMEM, "no memory for what the daemon said");
}

enum lbmap_error
lbmap_dispatch(struct lbmap *map, unsigned timeout_ms)
{
    struct lbm_service *s = map->service;
    int64_t end_ms = lbm_api_now_ms() + timeout_ms;
    if (s == NULL)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_STATE, "no job is served");
    for (;;) {
        enum lbm_err err = LBM_OK;
        int readable = settle_losses(map);
        if (map->fd < 0 && (s->lost || s->ended_us == 0)) {
            err = look_for_daemon(map);
            readable = settle_losses(map);
        }
        size_t n_pushed = readable ? s->pushed.n : 0;
        if (err == LBM_OK && (readable || find_refusal(map) != LBM_OK))
            err = handle_pushed(map);
        if (err != LBM_OK)
            return end_with(map, err);
        size_t n_delivered = readable ? lbm_send_turn(map) : 0;
        if (s->short_of_memory)
            return start_over(map);
        if (s->unread != LBM_OK) {
            err = s->unread;
            s->unread = LBM_OK;
            return (enum lbmap_error)err;
        }
        if (s->mail != NULL && s->mail->refused != LBMAP_NOWHERE)
            return (enum lbmap_error)lbm_send_refusal(map);
        if (s->too_long) {
            s->too_long = 0;
            return LBMAP_E_RANGE;
        }
        int has_ended = lbm_checkpoint_turn(map);
        int64_t left_ms = end_ms - lbm_api_now_ms();
        int is_due = left_ms < 0 || has_ended || n_pushed + n_delivered != 0;
        left_ms = is_due ? 0 : left_ms < LOOK_MS ? left_ms : LOOK_MS;
        int is_busy = lbm_checkpoint_has_work(map) || (readable && s->pushed.n != 0);
        wait_for_daemon(map, is_busy ? 0 : left_ms);
        if (s->pushed.n == 0)
            drop_peers(map);
        if (left_ms == 0 && (s->pushed.n == 0 || !readable))
            return LBMAP_OK;
    }
}

int
lbmap_fd(const struct lbmap *map)
{
    return map->fd;
}

int
lbmap_events(const struct lbmap *map)
{
    int has_more = map->out != NULL || lbm_checkpoint_has_work(map);
    return map->fd < 0 ? 0 : has_more ? LBMAP_READ | LBMAP_WRITE : LBMAP_READ;
}

struct lbm_note *
lbm_api_serve_note(struct lbmap *map)
{
    return map->service != NULL ? &map->service->note : NULL;
}

/* ---- changes -------------------------------------------------------------------------------- */

uint64_t
lbm_api_serve_token(const struct lbmap *map, uint32_t vertex)
{
    uint32_t at = lbm_idmap_get(&map->service->slot, vertex);
    return at != LBM_NONE && !map->service->lost ? map->service->held.at[at].token : 0;
}

uint64_t
lbm_api_serve_term(const struct lbmap *map)
{
    return map->service->term;
}

uint64_t
lbm_api_serve_since(const struct lbmap *map, uint32_t vertex, uint64_t token)
{
    uint32_t at = find(map->service, vertex, token);
    return at != LBM_NONE ? map->service->held.at[at].since : 0;
}

void
lbm_api_serve_renew(struct lbmap *map, uint32_t vertex)
{
    struct lbm_service *s = map->service;
    uint32_t at = lbm_idmap_get(&s->slot, vertex);
    if (at != LBM_NONE)
        s->held.at[at].since = ++s->n_given;
}

void
lbm_api_serve_forget(struct lbmap *map, uint32_t vertex, uint64_t token)
{
    uint32_t at = find(map->service, vertex, token);
    if (at == LBM_NONE)
        return;
    forget(map->service, at);
    lbm_send_removed(map->service, vertex);
}

void
lbm_api_serve_doubt(struct lbmap *map)
{
    if (map->fd >= 0) {
        map->ended_here = 1;
        lbm_api_disconnect(map);
    }
    map->service->lost = 1;
}
