/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"

const char *
lbm_start_name(enum lbm_start start)
{
    static const char *const names[] = {
#define START_NAME(id, number, name, text) [number] = name,
        LBM_START_LIST(START_NAME)
#undef START_NAME
    };
    return (unsigned)start < LBM_START_COUNT ? names[start] : "unknown";
}

const char *
lbm_phase_name(enum lbm_phase phase)
{
    static const char *const names[] = {
#define PHASE_NAME(id, number, name, text) [number] = name,
        LBM_PHASE_LIST(PHASE_NAME)
#undef PHASE_NAME
    };
    return (unsigned)phase < LBM_PHASE_COUNT ? names[phase] : "unknown";
}

const char *
lbm_condition_name(enum lbm_condition condition)
{
    static const char *const names[] = {
#define CONDITION_NAME(id, number, name) [number] = name,
        LBM_CONDITION_LIST(CONDITION_NAME)
#undef CONDITION_NAME
    };
    return (unsigned)condition < LBM_CONDITION_COUNT ? names[condition] : "unknown";
}

const char *
lbm_program_state_name(enum lbm_program_state state)
{
    static const char *const names[] = {
#define PROGRAM_STATE_NAME(id, number, name) [number] = name,
        LBM_PROGRAM_STATE_LIST(PROGRAM_STATE_NAME)
#undef PROGRAM_STATE_NAME
    };
    return (unsigned)state < LBM_PROGRAM_COUNT ? names[state] : "unknown";
}

void
lbm_core_fail(struct lbm_node *node, enum lbm_err err)
{
    if (node->failed == LBM_OK)
        node->failed = err;
}

static void
emit(struct lbm_node *node, struct lbm_effect effect)
{
    if (lbm_vec_push(&node->out->list, effect) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
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
    case LBM_EFFECT_LOG_APPEND:
    case LBM_EFFECT_LOG_COMPACT:
    case LBM_EFFECT_LOG_BEGIN:
        free(effect->as.log.bytes.at);
        break;
    case LBM_EFFECT_PROGRAM:
        free(effect->as.program.program);
        break;
    case LBM_EFFECT_DIAL:
    case LBM_EFFECT_NOTE:
    case LBM_EFFECT_LEASE:
    case LBM_EFFECT_LOG_FOLLOW:
    case LBM_EFFECT_ENSEMBLE:
    case LBM_EFFECT_BLOB_READ:
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
lbm_core_note(struct lbm_node *node, enum lbm_note_level level, const char *fmt, ...)
{
    struct lbm_effect effect = {.kind = LBM_EFFECT_NOTE};
    effect.as.note.level = level;
    va_list args;
    va_start(args, fmt);
    vsnprintf(effect.as.note.text, sizeof effect.as.note.text, fmt, args);
    va_end(args);
    if (level <= LBM_NOTE_INFO)
        node->raise->client_event(node, level, effect.as.note.text);
    emit(node, effect);
}

void
lbm_core_dial(struct lbm_node *node, uint32_t host, const char *address)
{
    struct lbm_effect effect = {.kind = LBM_EFFECT_DIAL};
    effect.as.dial.host = host;
    snprintf(effect.as.dial.address, sizeof effect.as.dial.address, "%s", address);
    emit(node, effect);
}

void
lbm_core_emit_log(struct lbm_node *node, enum lbm_effect_kind kind, uint64_t index, const uint8_t *bytes,
                  size_t len)
{
    struct lbm_effect effect = {.kind = kind};
    effect.as.log.index = index;
    effect.as.log.bytes.len = len;
    effect.as.log.bytes.at = bytes != NULL ? lbm_copy(bytes, len, 1) : NULL;
    if (bytes != NULL && effect.as.log.bytes.at == NULL)
        lbm_core_fail(node, LBM_E_NOMEM);
    else
        emit(node, effect);
}

void
lbm_core_emit_ensemble(struct lbm_node *node, const struct lbm_ensemble *is, int tends)
{
    struct lbm_effect effect = {.kind = LBM_EFFECT_ENSEMBLE};
    effect.as.ensemble.is = *is;
    effect.as.ensemble.tends = tends;
    emit(node, effect);
}

void
lbm_core_emit_program(struct lbm_node *node, uint64_t id, struct lbm_program_order *program)
{
    struct lbm_effect effect = {.kind = LBM_EFFECT_PROGRAM};
    effect.as.program.id = id;
    effect.as.program.program = program;
    if (lbm_vec_push(&node->out->list, effect) != LBM_OK) {
        free(program);
        lbm_core_fail(node, LBM_E_NOMEM);
    }
}

void
lbm_core_read_blob(struct lbm_node *node, const struct lbm_blob_read *read)
{
    lbm_core_persist_flush(node);
    struct lbm_effect effect = {.kind = LBM_EFFECT_BLOB_READ};
    effect.as.blob_read = *read;
    emit(node, effect);
}

static int
concerns_log(const Lbm__Peer *message)
{
    return (message->body_case >= LBM__PEER__BODY_LOG_FETCH &&
            message->body_case <= LBM__PEER__BODY_LOG_RESULT) ||
           (message->body_case >= LBM__PEER__BODY_LOG_SNAPSHOT &&
            message->body_case <= LBM__PEER__BODY_LOG_POSITION);
}

static void
send_after(struct lbm_node *node, uint32_t host, Lbm__Peer *message, uint64_t after, int lossy)
{
    if (node->failed != LBM_OK)
        return; /* memory was short: the message may be built by half, and nobody will send it */
    const struct lbm_member *member = lbm_view_member(&node->view, host);
    message->cluster = node->view.cluster;
    message->src = node->host;
    message->src_incarnation = node->incarnation;
    message->dst = host;
    /* A host that begins again is reached by the log before the log knows its new incarnation. */
    message->dst_incarnation = member != NULL && !concerns_log(message) ? member->incarnation : 0;
    message->view = node->diverged ? 0 : node->view.index;
    message->forced = node->forced;
    struct lbm_effect effect = {.kind = LBM_EFFECT_SEND, .after = after};
    effect.as.send.host = host;
    effect.as.send.lossy = lossy;
    enum lbm_err err = lbm_wire_pack_peer(message, &effect.as.send.frame, &effect.as.send.len);
    if (err != LBM_OK) {
        lbm_core_fail(node, err);
        return;
    }
    node->n_sent++;
    node->bytes_sent += effect.as.send.len;
    emit(node, effect);
}

void
lbm_core_send(struct lbm_node *node, uint32_t host, Lbm__Peer *message)
{
    lbm_core_persist_flush(node);
    send_after(node, host, message, node->persist_id, 0);
}

void
lbm_core_send_now(struct lbm_node *node, uint32_t host, Lbm__Peer *message)
{
    send_after(node, host, message, 0, 0);
}

void
lbm_core_send_stored_lossy(struct lbm_node *node, uint32_t host, Lbm__Peer *message)
{
    lbm_core_persist_flush(node);
    if (node->persisted < node->persist_id) {
        if (node->soft_held == SOFT_HELD_MAX)
            return;
        node->soft_held++;
        node->soft_after = node->persist_id;
    }
    send_after(node, host, message, node->persist_id, 1);
}

void
lbm_core_send_lossy(struct lbm_node *node, uint32_t host, Lbm__Peer *message)
{
    send_after(node, host, message, 0, 1);
}

static void
reply_after(struct lbm_node *node, uint64_t client, uint64_t request, int last, Lbm__Response *response,
            uint64_t after)
{
    if (node->failed != LBM_OK)
        return;
    response->id = request;
    response->last = last != 0;
    struct lbm_effect effect = {.kind = LBM_EFFECT_REPLY, .after = after};
    effect.as.reply.client = client;
    enum lbm_err err = lbm_wire_pack_response(response, &effect.as.reply.frame, &effect.as.reply.len);
    if (err == LBM_E_LIMIT && response->code == LBM_OK) {
        lbm_core_reply_error(node, client, request, err, "the answer is larger than a message may be");
        return;
    }
    if (err != LBM_OK)
        lbm_core_fail(node, err);
    else
        emit(node, effect);
}

void
lbm_core_reply(struct lbm_node *node, uint64_t client, uint64_t request, int last, Lbm__Response *response)
{
    reply_after(node, client, request, last, response, 0);
}

void
lbm_core_reply_stored(struct lbm_node *node, uint64_t client, uint64_t request, int last,
                      Lbm__Response *response)
{
    lbm_core_persist_flush(node);
    reply_after(node, client, request, last, response, node->persist_id);
}

void
lbm_core_reply_error(struct lbm_node *node, uint64_t client, uint64_t request, enum lbm_err code,
                     const char *fmt, ...)
{
    char text[LBM_DIAG_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.code = code;
    response.text = text;
    lbm_core_reply(node, client, request, 1, &response);
}

void
lbm_core_persist(struct lbm_node *node, struct lbm_persist_op op)
{
    if (node->open == NULL) {
        node->open = lbm_alloc(1, sizeof *node->open);
        if (node->open == NULL) {
            lbm_core_fail(node, LBM_E_NOMEM);
            return;
        }
        node->open->id = ++node->persist_id;
        node->raise->log_store_deferred(node); /* before anything that may follow from them */
    }
    if (lbm_vec_push(&node->open->ops, op) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

void
lbm_core_persist_flush(struct lbm_node *node)
{
    if (node->open == NULL)
        return;
    struct lbm_effect effect = {.kind = LBM_EFFECT_PERSIST};
    effect.as.persist = node->open;
    node->open = NULL;
    emit(node, effect);
}
