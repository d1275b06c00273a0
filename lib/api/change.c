/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Changes of the guest by the program that works on it. The daemon judges them: here they are only packed. */
#include "config.h"

#include <stdlib.h>

#include "api/call.h"
#include "api/send.h"
#include "api/serve.h"
#include "base/mem.h"
#include "lbmap.h"

struct ids {
    uint32_t *vertex;
    size_t n, got;
};

static enum lbm_err
take_ids(struct lbmap *map, const Lbm__Response *chunk, void *arg)
{
    struct ids *ids = arg;
    if (chunk->what_case != LBM__RESPONSE__WHAT_IDS || chunk->ids->n_vertex != ids->n)
        return lbm_api_fail(map, LBM_E_SYNTAX, "the daemon gave other ids than were asked for");
    for (size_t i = 0; i < ids->n; i++)
        ids->vertex[i] = chunk->ids->vertex[i];
    ids->got = ids->n;
    return LBM_OK;
}

enum lbmap_error
lbmap_new_vertices(struct lbmap *map, uint32_t *vertex, size_t n)
{
    struct ids ids = {vertex, n, 0};
    if (map->service == NULL)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_STATE, "no job is served");
    if (n == 0 || n > LBM_CHANGE_RECORDS_MAX)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_RANGE, "1 to %d ids at a time",
                                              LBM_CHANGE_RECORDS_MAX);
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__IdsRequest body;
    lbm__ids_request__init(&body);
    body.count = (uint32_t)n;
    request.what_case = LBM__REQUEST__WHAT_IDS;
    request.ids = &body;
    enum lbm_err err = lbm_api_call(map, &request, take_ids, &ids);
    if (err == LBM_OK && ids.got != n)
        err = lbm_api_fail(map, LBM_E_SYNTAX, "the daemon gave no ids");
    return (enum lbmap_error)err;
}

/* A change as columns. */
struct columns {
    LBM_VEC(uint32_t) vertex, near, work, removed, keeps, len, end, other, weight;
    LBM_VEC(uint64_t) token;
    struct lbm_buf payload;
};

static void
columns_free(struct columns *c)
{
    lbm_vec_free(&c->vertex);
    lbm_vec_free(&c->near);
    lbm_vec_free(&c->work);
    lbm_vec_free(&c->removed);
    lbm_vec_free(&c->keeps);
    lbm_vec_free(&c->len);
    lbm_vec_free(&c->end);
    lbm_vec_free(&c->other);
    lbm_vec_free(&c->weight);
    lbm_vec_free(&c->token);
    lbm_buf_free(&c->payload);
}

static enum lbm_err
add_vertex(struct columns *c, const struct lbmap_vertex_change *v, const struct lbmap_payload *payload)
{
    size_t len = payload->bytes != NULL ? payload->len : 0;
    enum lbm_err err = lbm_vec_push(&c->vertex, v->vertex);
    err |= lbm_vec_push(&c->token, v->token);
    err |= lbm_vec_push(&c->near, v->token == 0 ? v->near : v->vertex);
    err |= lbm_vec_push(&c->work, v->work);
    err |= lbm_vec_push(&c->removed, v->removed != 0);
    err |= lbm_vec_push(&c->keeps, payload->bytes == NULL);
    err |= lbm_vec_push(&c->len, (uint32_t)len);
    lbm_buf_put(&c->payload, payload->bytes, len);
    return c->payload.failed ? LBM_E_NOMEM : err;
}

static enum lbm_err
add_edge(struct columns *c, const struct lbmap_edge_change *e)
{
    enum lbm_err err = lbm_vec_push(&c->end, e->vertex);
    err |= lbm_vec_push(&c->other, e->other);
    return err | lbm_vec_push(&c->weight, e->weight);
}

static enum lbm_err
send_change(struct lbmap *map, const struct columns *c)
{
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__ChangeRequest body;
    lbm__change_request__init(&body);
    body.n_vertex = body.n_token = body.n_near = body.n_work = body.n_removed = body.n_keeps =
        body.n_payload_len = c->vertex.n;
    body.vertex = c->vertex.at;
    body.token = c->token.at;
    body.near = c->near.at;
    body.work = c->work.at;
    body.removed = c->removed.at;
    body.keeps = c->keeps.at;
    body.payload_len = c->len.at;
    body.payload = (ProtobufCBinaryData){c->payload.len, (uint8_t *)c->payload.at};
    body.n_end = body.n_other = body.n_weight = c->end.n;
    body.end = c->end.at;
    body.other = c->other.at;
    body.weight = c->weight.at;
    body.term = lbm_api_serve_term(map);
    request.what_case = LBM__REQUEST__WHAT_CHANGE;
    request.change = &body;
    return lbm_api_call(map, &request, NULL, NULL);
}

/* Nonzero if the answer does not tell whether anything has changed. */
static int
is_in_doubt(const struct lbmap *map, enum lbm_err err)
{
    return err == LBM_E_TIMEOUT || (err != LBM_OK && map->fd < 0);
}

enum lbmap_error
lbmap_change(struct lbmap *map, const struct lbmap_vertex_change *vertices, size_t n,
             const struct lbmap_edge_change *edges, size_t m)
{
    struct columns columns = {0};
    enum lbm_err err = LBM_OK;
    if (map->service == NULL)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_STATE, "no job is served");
    if (map->fd < 0)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_BUSY, "the daemon is away: dispatch, and try again");
    if (n > LBM_CHANGE_RECORDS_MAX || m > LBM_ROWS_MAX)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_LIMIT,
                                              "%zu vertices and %zu edges: at most %d and %d at once", n, m,
                                              LBM_CHANGE_RECORDS_MAX, LBM_ROWS_MAX);
    for (size_t i = 0; i < n && err == LBM_OK; i++) {
        struct lbmap_payload payload = vertices[i].payload;
        if (vertices[i].payload.bytes != NULL && vertices[i].payload.len > LBM_PAYLOAD_MAX)
            err = lbm_api_fail(map, LBM_E_RANGE,
                               "vertex %u: in a change a payload has up to %d bytes; checkpoint it",
                               vertices[i].vertex, LBMAP_CHANGE_PAYLOAD_MAX);
        else if ((err = lbm_send_pack_change(map, &vertices[i], &payload)) == LBM_OK &&
                 add_vertex(&columns, &vertices[i], &payload) != LBM_OK)
            err = lbm_api_fail(map, LBM_E_NOMEM, "no memory for a change of %zu vertices", n);
    }
    for (size_t i = 0; i < m && err == LBM_OK; i++)
        if (add_edge(&columns, &edges[i]) != LBM_OK)
            err = lbm_api_fail(map, LBM_E_NOMEM, "no memory for a change of %zu edges", m);
    if (err == LBM_OK && columns.payload.len > LBM_CHANGE_BYTES_MAX)
        err = lbm_api_fail(map, LBM_E_LIMIT, "%zu bytes of payloads: at most %u at once", columns.payload.len,
                           LBM_CHANGE_BYTES_MAX);
    if (err == LBM_OK) {
        err = send_change(map, &columns);
        if (is_in_doubt(map, err))
            lbm_api_serve_doubt(map);
    }
    for (size_t i = 0; i < n && err == LBM_OK; i++)
        if (vertices[i].removed)
            lbm_api_serve_forget(map, vertices[i].vertex, vertices[i].token);
        else if (vertices[i].token != 0 && vertices[i].payload.bytes != NULL) {
            lbm_api_serve_renew(map, vertices[i].vertex);
            lbm_send_changed(map->service, vertices[i].vertex);
        }
    columns_free(&columns);
    return (enum lbmap_error)err;
}
