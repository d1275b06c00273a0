/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/internal.h"

const char *
lbm_start_name(enum lbm_start start)
{
    static const char *const names[] = {
#define START_NAME(id, name, text) name,
        LBM_START_LIST(START_NAME)
#undef START_NAME
    };
    return (unsigned)start < LBM_START_COUNT ? names[start] : "unknown";
}

const char *
lbm_phase_name(enum lbm_phase phase)
{
    static const char *const names[] = {
#define PHASE_NAME(id, name, text) name,
        LBM_PHASE_LIST(PHASE_NAME)
#undef PHASE_NAME
    };
    return (unsigned)phase < LBM_PHASE_COUNT ? names[phase] : "unknown";
}

void
fail(struct lbm_node *node, enum lbm_err err)
{
    if (node->failed == LBM_OK)
        node->failed = err;
}

static void
emit(struct lbm_node *node, struct lbm_effect effect)
{
    if (lbm_vec_push(&node->out->list, effect) != LBM_OK)
        fail(node, LBM_E_NOMEM);
}

static void
effect_free(struct lbm_effect *effect)
{
    switch (effect->kind) {
    case LBM_EFFECT_PERSIST:
        lbm_persist_free(effect->as.persist);
        break;
    case LBM_EFFECT_SEND:
        free(effect->as.send.frame);
        break;
    case LBM_EFFECT_REPLY:
        free(effect->as.reply.frame);
        break;
    case LBM_EFFECT_PLAN:
        free(effect->as.plan);
        break;
    case LBM_EFFECT_DIAL:
    case LBM_EFFECT_NOTE:
    case LBM_EFFECT_COUNT:
        break;
    }
}

void
lbm_effects_clear(struct lbm_effects *effects)
{
    for (size_t i = 0; i < effects->list.n; i++)
        effect_free(&effects->list.at[i]);
    lbm_vec_free(&effects->list);
}

void
note(struct lbm_node *node, enum lbm_note_level level, const char *fmt, ...)
{
    struct lbm_effect effect = {.kind = LBM_EFFECT_NOTE};
    effect.as.note.level = level;
    va_list args;
    va_start(args, fmt);
    vsnprintf(effect.as.note.text, sizeof effect.as.note.text, fmt, args);
    va_end(args);
    emit(node, effect);
}

void
dial(struct lbm_node *node, uint32_t host, const char *address)
{
    struct lbm_effect effect = {.kind = LBM_EFFECT_DIAL};
    effect.as.dial.host = host;
    snprintf(effect.as.dial.address, sizeof effect.as.dial.address, "%s", address);
    emit(node, effect);
}

static void
send_after(struct lbm_node *node, uint32_t host, Lbm__Peer *message, uint64_t after, int lossy)
{
    const struct lbm_member *member = lbm_view_member(&node->view, host);
    message->cluster = node->view.cluster;
    message->src = node->host;
    message->src_incarnation = node->incarnation;
    message->dst = host;
    message->dst_incarnation = member != NULL ? member->incarnation : 0;
    message->view = node->view.index;
    struct lbm_effect effect = {.kind = LBM_EFFECT_SEND, .after = after};
    effect.as.send.host = host;
    effect.as.send.lossy = lossy;
    enum lbm_err err = lbm_wire_pack_peer(message, &effect.as.send.frame, &effect.as.send.len);
    if (err != LBM_OK) {
        fail(node, err);
        return;
    }
    node->n_sent++;
    node->bytes_sent += effect.as.send.len;
    emit(node, effect);
}

void
send_peer(struct lbm_node *node, uint32_t host, Lbm__Peer *message)
{
    persist_flush(node);
    send_after(node, host, message, node->persist_id, 0);
}

void
send_soft(struct lbm_node *node, uint32_t host, Lbm__Peer *message)
{
    send_after(node, host, message, 0, 1);
}

void
reply(struct lbm_node *node, uint64_t client, uint64_t request, int last, Lbm__Response *response)
{
    response->id = request;
    response->last = last != 0;
    struct lbm_effect effect = {.kind = LBM_EFFECT_REPLY};
    effect.as.reply.client = client;
    enum lbm_err err = lbm_wire_pack_response(response, &effect.as.reply.frame, &effect.as.reply.len);
    if (err != LBM_OK)
        fail(node, err);
    else
        emit(node, effect);
}

void
reply_error(struct lbm_node *node, uint64_t client, uint64_t request, enum lbm_err code, const char *fmt, ...)
{
    char text[LBM_DIAG_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.code = code;
    response.text = text;
    reply(node, client, request, 1, &response);
}

void
persist(struct lbm_node *node, struct lbm_persist_op op)
{
    if (node->open == NULL) {
        node->open = lbm_alloc(1, sizeof *node->open);
        if (node->open == NULL) {
            fail(node, LBM_E_NOMEM);
            return;
        }
        node->open->id = ++node->persist_id;
    }
    if (lbm_vec_push(&node->open->ops, op) != LBM_OK)
        fail(node, LBM_E_NOMEM);
}

void
persist_flush(struct lbm_node *node)
{
    if (node->open == NULL)
        return;
    struct lbm_effect effect = {.kind = LBM_EFFECT_PERSIST};
    effect.as.persist = node->open;
    node->open = NULL;
    emit(node, effect);
}

void
persist_vertex(struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex)
{
    struct lbm_persist_op op = {.kind = LBM_PERSIST_ROW, .job = job->id};
    enum lbm_err err = lbm_shard_row(&job->shard, job->id, vertex, &op.as.row);
    if (err != LBM_OK)
        fail(node, err);
    else
        persist(node, op);
}

void
columns_init(struct columns *columns)
{
    *columns = (struct columns){.message = LBM__RECORDS__INIT};
}

void
columns_add(struct lbm_node *node, struct columns *c, const struct job *job, const struct lbm_vertex *vertex,
            uint64_t epoch, int with_halves)
{
    enum lbm_err err = lbm_vec_push(&c->vertex, vertex->id);
    err |= lbm_vec_push(&c->epoch, epoch);
    err |= lbm_vec_push(&c->work, vertex->work);
    err |= lbm_vec_push(&c->pin, vertex->pin);
    err |= lbm_vec_push(&c->anchored, vertex->anchored);
    for (unsigned k = 0; k < job->shard.m; k++)
        err |= lbm_vec_push(&c->position, vertex->x[k]);
    if (with_halves) {
        err |= lbm_vec_push(&c->degree, vertex->degree);
        for (uint32_t i = 0; i < vertex->degree; i++) {
            uint32_t host = lbm_shard_where(&job->shard, vertex->half[i].to);
            err |= lbm_vec_push(&c->neighbour, vertex->half[i].to);
            err |= lbm_vec_push(&c->weight, vertex->half[i].weight);
            err |= lbm_vec_push(&c->host, host != LBM_NONE ? host : vertex->half[i].host);
        }
    }
    if (err != LBM_OK)
        fail(node, LBM_E_NOMEM);
}

const Lbm__Records *
columns_message(struct columns *c)
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
#undef COLUMN
    return &c->message;
}

void
columns_free(struct columns *c)
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
}
