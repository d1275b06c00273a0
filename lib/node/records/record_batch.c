/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vertex records as columns of a message, and back. */
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/records/record_batch.h"
#include "node/records/records.h"

void
lbm_records_batch_init(struct columns *columns)
{
    *columns = (struct columns){.message = LBM__RECORDS__INIT};
}

/* What every kind of record has. */
static enum lbm_err
add_common(struct columns *c, const struct job *job, const struct lbm_vertex *vertex, uint64_t epoch)
{
    enum lbm_err err = lbm_vec_push(&c->vertex, vertex->id);
    err |= lbm_vec_push(&c->epoch, epoch);
    err |= lbm_vec_push(&c->work, vertex->work);
    err |= lbm_vec_push(&c->pin, vertex->pin);
    err |= lbm_vec_push(&c->anchored, vertex->anchored);
    for (unsigned k = 0; k < job->shard.m; k++)
        err |= lbm_vec_push(&c->position, vertex->x[k]);
    return err;
}

static enum lbm_err
add_halves(struct columns *c, const struct job *job, const struct lbm_vertex *vertex, uint32_t degree)
{
    enum lbm_err err = lbm_vec_push(&c->degree, degree);
    for (uint32_t i = 0; i < degree; i++) {
        uint32_t host = lbm_shard_where(&job->shard, vertex->half[i].to);
        err |= lbm_vec_push(&c->neighbour, vertex->half[i].to);
        err |= lbm_vec_push(&c->weight, vertex->half[i].weight);
        err |= lbm_vec_push(&c->host, host != LBM_NONE ? host : vertex->half[i].host);
    }
    return err;
}

static enum lbm_err
add_payload(struct columns *c, const struct lbm_vertex *vertex, uint32_t len)
{
    enum lbm_err err = lbm_vec_push(&c->payload_len, len);
    err |= lbm_vec_push(&c->blob, len != 0 && vertex->is_blob);
    c->has_blobs |= len != 0 && vertex->is_blob;
    lbm_buf_put(&c->payload, vertex->payload, len);
    return c->payload.failed ? LBM_E_NOMEM : err;
}

void
lbm_records_batch_add(struct lbm_node *node, struct columns *c, const struct job *job,
                      const struct lbm_vertex *vertex, uint64_t epoch, int with_content)
{
    enum lbm_err err = add_common(c, job, vertex, epoch);
    if (with_content != COLUMNS_BARE)
        err |= add_halves(c, job, vertex, vertex->degree);
    if (with_content == COLUMNS_WHOLE)
        err |= add_payload(c, vertex, vertex->payload_len);
    if (err != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

/* The column of lengths is there for all rows, or for none. */
static enum lbm_err
add_news(struct columns *c, const struct lbm_vertex *vertex)
{
    enum lbm_err err = LBM_OK;
    size_t rows = c->bare.n;
    while (err == LBM_OK && vertex->n_news != 0 && c->news_degree.n + 1 < rows)
        err = lbm_vec_push(&c->news_degree, 0);
    if (vertex->n_news != 0 || c->news_degree.n != 0)
        err |= lbm_vec_push(&c->news_degree, vertex->n_news);
    for (uint32_t i = 0; i < vertex->n_news; i++) {
        err |= lbm_vec_push(&c->news_vertex, vertex->news[i].to);
        err |= lbm_vec_push(&c->news_weight, vertex->news[i].weight);
        err |= lbm_vec_push(&c->news_host, vertex->news[i].host);
    }
    return err;
}

void
lbm_records_batch_add_replica(struct lbm_node *node, struct columns *c, const struct job *job,
                              const struct lbm_vertex *vertex, int bare)
{
    enum lbm_err err = add_common(c, job, vertex, vertex->epoch);
    err |= add_halves(c, job, vertex, bare ? 0 : vertex->degree);
    err |= add_payload(c, vertex, bare ? 0 : vertex->payload_len);
    err |= lbm_vec_push(&c->stage, vertex->stage);
    err |= lbm_vec_push(&c->peer, vertex->stage == LBM_STAGE_OWN ? vertex->destination : vertex->peer);
    err |= lbm_vec_push(&c->peer_incarnation, vertex->peer_incarnation);
    err |= lbm_vec_push(&c->source, vertex->source);
    err |= lbm_vec_push(&c->source_incarnation, vertex->source_incarnation);
    err |= lbm_vec_push(&c->fin, vertex->fin);
    err |= lbm_vec_push(&c->bare, bare != 0);
    err |= add_news(c, vertex);
    if (err != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

const Lbm__Records *
lbm_records_batch_message(struct columns *c)
{
#define COLUMN(field, list) c->message.n_##field = c->list.n, c->message.field = c->list.at
    COLUMN(vertex, vertex);
    COLUMN(epoch, epoch);
    COLUMN(work, work);
    COLUMN(pin, pin);
    COLUMN(anchored, anchored);
    COLUMN(position, position);
    COLUMN(degree, degree);
    COLUMN(neighbour, neighbour);
    COLUMN(weight, weight);
    COLUMN(neighbour_host, host);
    COLUMN(stage, stage);
    COLUMN(peer, peer);
    COLUMN(peer_incarnation, peer_incarnation);
    COLUMN(source, source);
    COLUMN(source_incarnation, source_incarnation);
    COLUMN(fin, fin);
    COLUMN(bare, bare);
    COLUMN(news_degree, news_degree);
    COLUMN(news_vertex, news_vertex);
    COLUMN(news_weight, news_weight);
    COLUMN(news_host, news_host);
    if (c->payload.len != 0)
        COLUMN(payload_len, payload_len);
    if (c->has_blobs)
        COLUMN(blob, blob);
#undef COLUMN
    c->message.payload = (ProtobufCBinaryData){c->payload.len, (uint8_t *)c->payload.at};
    return &c->message;
}

void
lbm_records_batch_free(struct columns *c)
{
    lbm_vec_free(&c->vertex);
    lbm_vec_free(&c->epoch);
    lbm_vec_free(&c->work);
    lbm_vec_free(&c->pin);
    lbm_vec_free(&c->anchored);
    lbm_vec_free(&c->position);
    lbm_vec_free(&c->degree);
    lbm_vec_free(&c->neighbour);
    lbm_vec_free(&c->weight);
    lbm_vec_free(&c->host);
    lbm_vec_free(&c->payload_len);
    lbm_vec_free(&c->blob);
    lbm_buf_free(&c->payload);
    lbm_vec_free(&c->stage);
    lbm_vec_free(&c->peer);
    lbm_vec_free(&c->source);
    lbm_vec_free(&c->fin);
    lbm_vec_free(&c->bare);
    lbm_vec_free(&c->news_degree);
    lbm_vec_free(&c->news_vertex);
    lbm_vec_free(&c->news_weight);
    lbm_vec_free(&c->news_host);
    lbm_vec_free(&c->peer_incarnation);
    lbm_vec_free(&c->source_incarnation);
}

enum lbm_err
lbm_records_batch_row(const Lbm__Records *r, size_t i, struct columns_place *at, unsigned m, uint64_t job,
                      struct lbm_row *row)
{
    const uint8_t *payload = r->payload.data + at->payload;
    uint32_t payload_len = r->n_payload_len != 0 ? r->payload_len[i] : 0;
    size_t halves_at = at->half, news_at = at->news;
    uint32_t n_news = r->n_news_degree != 0 ? r->news_degree[i] : 0;
    at->news += n_news;
    at->half += r->degree[i];
    at->payload += payload_len;
    struct lbm_row out = {.job = job,
                          .vertex = r->vertex[i],
                          .epoch = r->epoch[i],
                          .stage = LBM_STAGE_OWN,
                          .peer = LBM_NONE,
                          .work = r->work[i],
                          .pin = r->pin[i],
                          .anchored = r->anchored[i] != 0,
                          .source = LBM_NONE,
                          .degree = r->degree[i]};
    if (r->n_stage != 0) {
        out.stage = (enum lbm_stage)r->stage[i];
        out.peer = r->peer[i];
        out.peer_incarnation = r->peer_incarnation[i];
        out.source = r->source[i];
        out.source_incarnation = r->source_incarnation[i];
        out.fin = r->fin[i] != 0;
    }
    int keeps = out.stage == LBM_STAGE_OWN || out.stage == LBM_STAGE_OUT;
    out.degree = keeps ? out.degree : 0;
    memcpy(out.position, &r->position[i * m], m * sizeof(double));
    if (keeps && (out.half = lbm_alloc(out.degree, sizeof *out.half)) == NULL)
        return LBM_E_NOMEM;
    for (uint32_t k = 0; k < out.degree; k++)
        out.half[k] = (struct lbm_half){r->neighbour[halves_at + k], r->weight[halves_at + k],
                                        r->neighbour_host[halves_at + k]};
    if (keeps && payload_len != 0) {
        out.payload_len = payload_len;
        out.is_blob = r->n_blob != 0 && r->blob[i] != 0;
        out.payload = lbm_copy(payload, payload_len, 1);
        if (out.payload == NULL) {
            free(out.half);
            return LBM_E_NOMEM;
        }
    }
    if (n_news != 0 && (out.news = lbm_alloc(n_news, sizeof *out.news)) == NULL) {
        lbm_row_free(&out);
        return LBM_E_NOMEM;
    }
    for (uint32_t k = 0; k < n_news; k++)
        out.news[out.n_news++] = (struct lbm_half){r->news_vertex[news_at + k], r->news_weight[news_at + k],
                                                   r->news_host[news_at + k]};
    *row = out;
    return LBM_OK;
}

int
lbm_records_payload_fits(size_t n, const uint32_t *len, const ProtobufCBinaryData *payload)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += len[i];
    return sum == payload->len;
}
