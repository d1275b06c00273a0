/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "config.h"

#include "api/send.h"

#include <string.h>

#include "api/peers.h"
#include "api/serve.h"
#include "api/service.h"

enum lbm_err
lbm_send_begin(struct lbmap *map)
{
    struct lbm_service *s = map->service;
    if (s->callbacks.deliver == NULL && s->callbacks.vertex_moved == NULL)
        return LBM_OK;
    s->mail = lbm_alloc(1, sizeof *s->mail);
    if (s->mail == NULL)
        return lbm_api_fail(map, LBM_E_NOMEM, "no memory to serve a job");
    s->mail->delivers = s->callbacks.deliver != NULL;
    s->mail->nowhere.failed = 1;
    s->mail->refused = LBMAP_NOWHERE;
    s->note.is_published |= s->mail->delivers;
    return LBM_OK;
}

static struct lbm_desk *
desk_of(const struct lbm_service *s, uint32_t vertex)
{
    return s->mail != NULL && s->mail->delivers ? lbm_letters_desk(s->mail, vertex) : NULL;
}

/* ---- vertices come and go ------------------------------------------------------------------------------ */

enum lbm_err
lbm_send_acquired(struct lbm_service *s, uint32_t vertex, uint64_t token, struct lbmap_payload *payload)
{
    const struct lbmap_payload all = *payload;
    if (s->mail == NULL || !s->mail->delivers)
        return LBM_OK;
    return lbm_letters_open(s->mail, vertex, token, (uint64_t)lbm_page_now_us(), &all, payload);
}

/* In/out: payload, behind what the desk has. Errors: LBM_E_NOMEM. */
static enum lbm_err
prepend(struct lbm_letters *mail, const struct lbm_desk *desk, struct lbmap_payload *payload)
{
    mail->packed.len = 0;
    mail->packed.failed = 0;
    lbm_letters_pack(desk, &mail->packed);
    lbm_buf_put(&mail->packed, payload->bytes, payload->len);
    *payload = (struct lbmap_payload){mail->packed.at, mail->packed.len};
    return mail->packed.failed ? LBM_E_NOMEM : LBM_OK;
}

enum lbm_err
lbm_send_released(struct lbm_service *s, uint32_t vertex, struct lbmap_payload *payload)
{
    struct lbm_desk *desk = desk_of(s, vertex);
    enum lbm_err err = LBM_OK;
    if (desk == NULL)
        return LBM_OK;
    if (payload->bytes != NULL && (err = prepend(s->mail, desk, payload)) != LBM_OK)
        *payload = (struct lbmap_payload){NULL, 0};
    lbm_letters_close(s->mail, desk);
    return err;
}

void
lbm_send_lost(struct lbm_service *s, uint32_t vertex)
{
    lbm_letters_close(s->mail, desk_of(s, vertex));
}

void
lbm_send_removed(struct lbm_service *s, uint32_t vertex)
{
    struct lbm_desk *desk = desk_of(s, vertex);
    struct lbm_hint *hint = desk != NULL ? lbm_letters_hint(s->mail, vertex) : NULL;
    if (hint != NULL)
        hint->gone = 1;
    lbm_letters_close(s->mail, desk);
}

void
lbm_send_neighbours(struct lbm_service *s, const struct lbmap_edge *edges, size_t n)
{
    for (size_t i = 0; i < n && s->mail != NULL; i++) {
        struct lbm_hint *hint =
            edges[i].host != LBMAP_NOWHERE ? lbm_letters_hint(s->mail, edges[i].other) : NULL;
        if (hint == NULL)
            continue;
        int has_moved = hint->told != LBMAP_NOWHERE && hint->told != edges[i].host;
        hint->told = hint->host = edges[i].host;
        if (has_moved && s->callbacks.vertex_moved != NULL)
            s->callbacks.vertex_moved(s->callbacks.context, edges[i].other, edges[i].host);
    }
}

/* ---- payloads ------------------------------------------------------------------------------------------ */

static enum lbm_err
check_length(struct lbmap *map, uint32_t vertex, size_t own, size_t with, size_t most)
{
    if (with > most)
        return lbm_api_fail(map, LBM_E_RANGE,
                            "vertex %u: a payload of %zu bytes, with %zu of its messages: up to %zu are kept",
                            vertex, own, with - own, most);
    return LBM_OK;
}

enum lbm_err
lbm_send_pack(struct lbmap *map, uint32_t vertex, size_t own, struct lbm_buf *into)
{
    struct lbm_desk *desk = desk_of(map->service, vertex);
    size_t before = into->len;
    if (desk == NULL)
        return LBM_OK;
    lbm_letters_pack(desk, into);
    if (into->failed)
        return lbm_api_fail(map, LBM_E_NOMEM, "no memory for a payload of %zu bytes", own);
    enum lbm_err err = check_length(map, vertex, own, into->len - before + own, LBMAP_PAYLOAD_MAX);
    if (err == LBM_OK)
        lbm_letters_mark(desk);
    return err;
}

enum lbm_err
lbm_send_pack_change(struct lbmap *map, const struct lbmap_vertex_change *change,
                     struct lbmap_payload *payload)
{
    struct lbm_desk *desk = change->token != 0 ? desk_of(map->service, change->vertex) : NULL;
    size_t own = payload->len;
    if (desk == NULL)
        return LBM_OK;
    lbm_letters_clear_old(desk);
    if (change->removed && desk->letters.n != 0)
        return lbm_api_fail(
            map, LBM_E_BUSY,
            "vertex %u: %zu messages that it has sent have not arrived: dispatch, and try again",
            change->vertex, desk->letters.n);
    if (payload->bytes == NULL)
        return LBM_OK;
    if (prepend(map->service->mail, desk, payload) != LBM_OK)
        return lbm_api_fail(map, LBM_E_NOMEM, "no memory for a payload of %zu bytes", own);
    return check_length(map, change->vertex, own, payload->len, LBMAP_CHANGE_PAYLOAD_MAX);
}

void
lbm_send_kept(struct lbm_service *s, uint32_t vertex)
{
    struct lbm_desk *desk = desk_of(s, vertex);
    if (desk != NULL)
        lbm_letters_set_kept(s->mail, desk);
}

void
lbm_send_changed(struct lbm_service *s, uint32_t vertex)
{
    struct lbm_desk *desk = desk_of(s, vertex);
    if (desk == NULL)
        return;
    lbm_letters_mark(desk);
    lbm_letters_set_kept(s->mail, desk);
}

/* ---- other programs ------------------------------------------------------------------------------------ */

void
lbm_send_heard(struct lbmap *map, const Lbm__Response *chunk)
{
    struct lbm_service *s = map->service;
    int delivers = s->mail != NULL && s->mail->delivers;
    if (chunk->what_case == LBM__RESPONSE__WHAT_PLACES &&
        lbm_api_peers_note(&s->peers, map->connections, chunk->places) != LBM_OK)
        s->short_of_memory = 1;
    if (delivers && chunk->what_case == LBM__RESPONSE__WHAT_PLACES)
        for (size_t i = 0; i < chunk->places->n_host; i++)
            lbm_letters_peer(s->mail, chunk->places->host[i], chunk->places->present[i] != 0);
    if (!delivers || chunk->what_case != LBM__RESPONSE__WHAT_POSTED ||
        !lbm_letters_is_ours(chunk->posted->data.data, chunk->posted->data.len))
        lbm_api_peers_take(&s->callbacks, chunk);
    else if (lbmap_lease_valid(map) == LBMAP_WORK) /* or it is sent again */
        lbm_letters_take(map, chunk->posted->host, chunk->posted->data.data, chunk->posted->data.len);
}

void
lbm_send_peer_gone(struct lbm_service *s, uint32_t host)
{
    if (s->mail != NULL && s->mail->delivers)
        lbm_letters_peer(s->mail, host, 0);
    if (s->callbacks.peer_down != NULL)
        s->callbacks.peer_down(s->callbacks.context, host);
}

size_t
lbm_send_turn(struct lbmap *map)
{
    struct lbm_service *s = map->service;
    if (s->mail == NULL || lbmap_lease_valid(map) != LBMAP_WORK)
        return 0;
    if (s->mail->delivers)
        lbm_letters_turn(map);
    size_t n = s->mail->n_delivered;
    s->mail->n_delivered = 0;
    s->short_of_memory |= s->mail->short_of_memory;
    s->mail->short_of_memory = 0;
    return n;
}

enum lbm_err
lbm_send_refusal(struct lbmap *map)
{
    struct lbm_letters *mail = map->service->mail;
    uint32_t vertex = mail->refused;
    mail->refused = LBMAP_NOWHERE;
    return lbm_api_fail(map, LBM_E_LIMIT,
                        "vertex %u has messages of %d others: one of yet another vertex waits", vertex,
                        LBMAP_PARTNERS_MAX);
}

int
lbm_send_is_reserved(const struct lbm_service *s, const void *bytes, size_t n)
{
    return s->mail != NULL && s->mail->delivers && lbm_letters_is_ours(bytes, n);
}

enum lbmap_error
lbmap_send(struct lbmap *map, uint32_t from, uint32_t to, uint32_t tag, const void *bytes, size_t n)
{
    struct lbm_service *s = map->service;
    if (s == NULL || s->mail == NULL || !s->mail->delivers)
        return (enum lbmap_error)lbm_api_fail(
            map, LBM_E_STATE, s == NULL ? "no job is served" : "a callback is missing: deliver");
    if (n > LBMAP_SEND_MAX || to == LBMAP_NOWHERE)
        return (enum lbmap_error)lbm_api_fail(
            map, LBM_E_RANGE, "%zu bytes to vertex %u: a message has up to %d bytes", n, to, LBMAP_SEND_MAX);
    struct lbm_desk *desk = lbm_api_serve_token(map, from) != 0 ? lbm_letters_desk(s->mail, from) : NULL;
    if (desk == NULL)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_STATE, "vertex %u is not held", from);
    enum lbm_err err = lbm_letters_write(s->mail, desk, to, tag, bytes, n);
    if (err == LBM_E_BUSY)
        return (enum lbmap_error)lbm_api_fail(map, err,
                                              "vertex %u: %zu messages that it has sent have not arrived: "
                                              "dispatch, checkpoint, and try again",
                                              from, desk->letters.n);
    if (err == LBM_E_LIMIT)
        return (enum lbmap_error)lbm_api_fail(
            map, err, "vertex %u has sent messages to %d others: no more can be", from, LBMAP_PARTNERS_MAX);
    if (err != LBM_OK)
        return (enum lbmap_error)lbm_api_fail(map, err, "no memory for a message of %zu bytes", n);
    return LBMAP_OK;
}
