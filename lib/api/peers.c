/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "config.h"

#include "api/peers.h"

#include <string.h>

#include "api/send.h"
#include "api/serve.h"

_Static_assert(LBMAP_NOTE_MAX == LBM_NOTE_BYTES_MAX, "the daemon takes as much");
_Static_assert(LBMAP_MESSAGE_MAX == LBM_POST_BYTES_MAX, "the daemon takes as much");

static void
take_places(const struct lbmap_callbacks *callbacks, const Lbm__Places *places)
{
    for (size_t i = 0; i < places->n_host; i++) {
        const struct lbmap_peer peer = {.host = places->host[i],
                                        .finished = places->finished[i] != 0,
                                        .name = places->name[i],
                                        .address = places->address[i],
                                        .note = places->note[i].data,
                                        .note_len = places->note[i].len};
        if ((places->present[i] || places->finished[i]) && callbacks->peer_up != NULL)
            callbacks->peer_up(callbacks->context, &peer);
        if (!places->present[i] && callbacks->peer_down != NULL)
            callbacks->peer_down(callbacks->context, places->host[i]);
    }
}

void
lbm_api_peers_take(const struct lbmap_callbacks *callbacks, const Lbm__Response *chunk)
{
    if (chunk->what_case == LBM__RESPONSE__WHAT_PLACES)
        take_places(callbacks, chunk->places);
    else if (chunk->what_case == LBM__RESPONSE__WHAT_POSTED && callbacks->message != NULL)
        callbacks->message(callbacks->context, chunk->posted->host, chunk->posted->data.data,
                           chunk->posted->data.len);
}

enum lbm_err
lbm_api_peers_note(struct lbm_peers *peers, uint64_t connection, const Lbm__Places *places)
{
    for (size_t i = 0; i < places->n_host; i++) {
        const struct lbm_peer peer = {places->host[i], connection};
        size_t at = 0;
        while (at < peers->up.n && peers->up.at[at].host != peer.host)
            at++;
        if (places->present[i] && at < peers->up.n)
            peers->up.at[at] = peer;
        else if (places->present[i] && lbm_vec_push(&peers->up, peer) != LBM_OK)
            return LBM_E_NOMEM;
        else if (!places->present[i] && at < peers->up.n)
            peers->up.at[at] = peers->up.at[--peers->up.n];
    }
    return LBM_OK;
}

uint32_t
lbm_api_peers_forget(struct lbm_peers *peers, uint64_t connection)
{
    for (size_t i = 0; i < peers->up.n; i++)
        if (peers->up.at[i].connection != connection) {
            uint32_t host = peers->up.at[i].host;
            peers->up.at[i] = peers->up.at[--peers->up.n];
            return host;
        }
    return LBMAP_NOWHERE;
}

enum lbm_err
lbm_api_peers_again(struct lbmap *map, const struct lbm_note *note)
{
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__PublishRequest body;
    if (!note->is_published)
        return LBM_OK;
    lbm__publish_request__init(&body);
    body.note = (ProtobufCBinaryData){note->len, (uint8_t *)(uintptr_t)note->bytes}; /* packed, not changed */
    body.finished = note->finished != 0;
    request.what_case = LBM__REQUEST__WHAT_PUBLISH;
    request.publish = &body;
    return lbm_api_call(map, &request, NULL, NULL);
}

enum lbm_err
lbm_api_peers_post(struct lbmap *map, uint32_t *host, uint32_t *len, size_t n, const void *bytes,
                   size_t bytes_len)
{
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__PostRequest body;
    lbm__post_request__init(&body);
    body.n_host = body.n_len = n;
    body.host = host;
    body.len = len;
    body.data = (ProtobufCBinaryData){bytes_len, (uint8_t *)(uintptr_t)bytes}; /* packed, not changed */
    request.what_case = LBM__REQUEST__WHAT_POST;
    request.post = &body;
    return lbm_api_tell(map, &request);
}

enum lbmap_error
lbmap_publish(struct lbmap *map, const void *bytes, size_t n)
{
    struct lbm_note *note = lbm_api_serve_note(map);
    if (note == NULL)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_STATE, "no job is served");
    if (n > LBMAP_NOTE_MAX)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_RANGE, "a note has up to %d bytes, this one %zu",
                                              LBMAP_NOTE_MAX, n);
    note->is_published = 1;
    note->len = n;
    if (n != 0)
        memcpy(note->bytes, bytes, n);
    return (enum lbmap_error)lbm_api_peers_again(map, note);
}

enum lbmap_error
lbmap_finish(struct lbmap *map)
{
    struct lbm_note *note = lbm_api_serve_note(map);
    if (note == NULL)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_STATE, "no job is served");
    note->is_published = note->finished = 1;
    return (enum lbmap_error)lbm_api_peers_again(map, note);
}

enum lbmap_error
lbmap_post(struct lbmap *map, uint32_t host, const void *bytes, size_t n)
{
    uint32_t len = (uint32_t)n;
    if (map->service == NULL)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_STATE, "no job is served");
    if (n == 0 || n > LBMAP_MESSAGE_MAX || host >= LBM_HOSTS_MAX)
        return (enum lbmap_error)lbm_api_fail(
            map, LBM_E_RANGE, "host %u, %zu bytes: hosts are below %d, a message has 1 to %d bytes", host, n,
            LBM_HOSTS_MAX, LBMAP_MESSAGE_MAX);
    if (lbm_send_is_reserved(map->service, bytes, n))
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_RANGE,
                                              "a message begins as those that the library sends itself");
    return (enum lbmap_error)lbm_api_peers_post(map, &host, &len, 1, bytes, n);
}
