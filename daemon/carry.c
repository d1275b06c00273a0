/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Effects of the node, carried out in order. */
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/loop_internal.h"

enum {
    STORE_BEHIND =
        4096, /* transactions not yet durable at which reading stops; about a second of a slow disk */
    STORE_CAUGHT_UP = STORE_BEHIND / 2,
    STORE_BEHIND_BYTES = 32 << 20, /* the same: payloads may be large, and leases do not wait */
};

static void
wait_for(struct loop *loop, const struct lbm_effect *effect, uint64_t connection)
{
    struct waiting waiting = {.effect = *effect, .connection = connection};
    if (lbm_vec_push(&loop->waiting, waiting) != LBM_OK) {
        free(effect->kind == LBM_EFFECT_SEND ? effect->as.send.frame : effect->as.reply.frame);
        lbm_log(LBM_NOTE_ERROR, "out of memory");
        loop_fail(loop);
    } else if (effect->kind == LBM_EFFECT_SEND) {
        lbm_outgoing_wait(loop->outgoing, effect->as.send.host, connection, (int64_t)effect->as.send.len);
    }
}

static void
deliver(struct loop *loop, const struct lbm_effect *effect, uint64_t connection)
{
    if (effect->kind == LBM_EFFECT_SEND)
        lbm_outgoing_send(loop->outgoing, effect->as.send.host, connection, effect->as.send.frame,
                          effect->as.send.len, effect->as.send.lossy);
    else if (effect->as.reply.client & LBM_ENROL_CLIENT)
        lbm_enrol_reply(loop->enrol, effect->as.reply.client, effect->as.reply.frame, effect->as.reply.len);
    else
        lbm_control_reply(loop->control, effect->as.reply.client, effect->as.reply.frame,
                          effect->as.reply.len);
}

static void
pause_reading(struct loop *loop, int paused)
{
    if (paused == loop->paused)
        return;
    loop->paused = paused;
    lbm_log(LBM_NOTE_DEBUG, paused ? "the disk is behind: reading nothing until it has caught up"
                                   : "the disk has caught up: reading again");
    lbm_inbound_pause(loop->inbound, paused);
    lbm_control_pause(loop->control, paused);
}

static void
carry_persist(struct loop *loop, struct lbm_effect *effect)
{
    if (loop->stopping) { /* one before it was not taken: none may be stored without it */
        lbm_persist_free(effect->as.persist);
        return;
    }
    loop->asked = effect->as.persist->id;
    if (lbm_store_worker_push(loop->store_worker, effect->as.persist) != LBM_OK) {
        lbm_log(LBM_NOTE_ERROR, "out of memory");
        loop_fail(loop);
    } else if (loop->asked - loop->durable > STORE_BEHIND ||
               lbm_store_worker_waiting(loop->store_worker) > STORE_BEHIND_BYTES) {
        pause_reading(loop, 1);
    }
}

static void
carry_send(struct loop *loop, struct lbm_effect *effect)
{
    uint64_t connection = lbm_outgoing_connection(loop->outgoing, effect->as.send.host);
    if (connection != 0 && effect->after > loop->durable)
        wait_for(loop, effect, connection);
    else
        deliver(loop, effect, connection);
}

static void
carry_reply(struct loop *loop, struct lbm_effect *effect)
{
    if (effect->after > loop->durable)
        wait_for(loop, effect, 0);
    else
        deliver(loop, effect, 0);
}

static void
carry_dial(struct loop *loop, struct lbm_effect *effect)
{
    struct lbm_diag diag = {0};
    if (lbm_outgoing_dial(loop->outgoing, effect->as.dial.host, effect->as.dial.address, &diag) != LBM_OK)
        lbm_log(LBM_NOTE_WARNING, "cannot connect to host %u: %s", effect->as.dial.host, diag.text);
}

static void
carry_blob_read(struct loop *loop, struct lbm_effect *effect)
{
    if (lbm_store_worker_read(loop->store_worker, &effect->as.blob_read) == LBM_OK)
        return;
    lbm_log(LBM_NOTE_ERROR, "out of memory");
    loop_fail(loop);
}

static void
carry_plan(struct loop *loop, struct lbm_effect *effect)
{
    if (lbm_plan_worker_push(loop->plan_worker, effect->as.plan) != LBM_OK) {
        lbm_log(LBM_NOTE_ERROR, "no memory or no thread for a plan");
        loop_fail(loop);
    }
}

static void
carry_note(struct loop *loop, struct lbm_effect *effect)
{
    (void)loop;
    lbm_log(effect->as.note.level, "%s", effect->as.note.text);
}

static void
carry_lease(struct loop *loop, struct lbm_effect *effect)
{
    lbm_lease_file_write(loop->lease_file, effect->as.lease.deadline_us, effect->as.lease.term,
                         effect->as.lease.used, effect->as.lease.gone);
}

/* The one that is in use: the ensemble's, or the one that the configuration names. NULL: there is none yet.
 */
static struct lbm_etcd *
etcd_of(const struct loop *loop)
{
    return loop->etcd != NULL ? loop->etcd : lbm_ensemble_etcd(loop->ensemble);
}

static void
carry_log_append(struct loop *loop, struct lbm_effect *effect)
{
    if (etcd_of(loop) != NULL)
        lbm_etcd_append(etcd_of(loop), effect->as.log.index, &effect->as.log.bytes);
    free(effect->as.log.bytes.at);
}

static void
carry_log_begin(struct loop *loop, struct lbm_effect *effect)
{
    if (etcd_of(loop) != NULL)
        lbm_etcd_begin(etcd_of(loop), effect->as.log.index, &effect->as.log.bytes);
    free(effect->as.log.bytes.at);
}

static void
carry_log_follow(struct loop *loop, struct lbm_effect *effect)
{
    if (etcd_of(loop) != NULL)
        lbm_etcd_follow(etcd_of(loop), effect->as.log.index);
}

static void
carry_log_compact(struct loop *loop, struct lbm_effect *effect)
{
    if (etcd_of(loop) != NULL)
        lbm_etcd_compact(etcd_of(loop), effect->as.log.index, &effect->as.log.bytes);
    free(effect->as.log.bytes.at);
}

static void
carry_ensemble(struct loop *loop, struct lbm_effect *effect)
{
    if (loop->ensemble != NULL)
        lbm_ensemble_set(loop->ensemble, &effect->as.ensemble.is, effect->as.ensemble.tends);
}

static void
carry_program(struct loop *loop, struct lbm_effect *effect)
{
    struct lbm_programs_process *programs = loop->config.programs;
    enum lbm_err err = programs == NULL ? LBM_E_IO
                       : effect->as.program.program == NULL
                           ? lbm_programs_end(programs, effect->as.program.id)
                           : lbm_programs_start(programs, effect->as.program.program);
    if (err != LBM_OK) {
        lbm_log(LBM_NOTE_ERROR, "the process that runs programs is gone");
        loop_fail(loop);
    }
    free(effect->as.program.program);
}

static void (*const carriers[LBM_EFFECT_COUNT])(struct loop *, struct lbm_effect *) = {
    [LBM_EFFECT_PERSIST] = carry_persist,
    [LBM_EFFECT_SEND] = carry_send,
    [LBM_EFFECT_REPLY] = carry_reply,
    [LBM_EFFECT_DIAL] = carry_dial,
    [LBM_EFFECT_PLAN] = carry_plan,
    [LBM_EFFECT_NOTE] = carry_note,
    [LBM_EFFECT_LEASE] = carry_lease,
    [LBM_EFFECT_LOG_APPEND] = carry_log_append,
    [LBM_EFFECT_LOG_FOLLOW] = carry_log_follow,
    [LBM_EFFECT_LOG_COMPACT] = carry_log_compact,
    [LBM_EFFECT_LOG_BEGIN] = carry_log_begin,
    [LBM_EFFECT_ENSEMBLE] = carry_ensemble,
    [LBM_EFFECT_PROGRAM] = carry_program,
    [LBM_EFFECT_BLOB_READ] = carry_blob_read,
};

void
carry_out(struct loop *loop)
{
    /* Carriers call nobody who steps the node, so the list does not change meanwhile. Each takes what its
     * effect owns, also when it fails. */
    for (size_t i = 0; i < loop->effects.list.n; i++)
        carriers[loop->effects.list.at[i].kind](loop, &loop->effects.list.at[i]);
    loop->effects.list.n = 0;
}

void
carry_notes_only(struct loop *loop)
{
    for (size_t i = 0; i < loop->effects.list.n; i++)
        if (loop->effects.list.at[i].kind == LBM_EFFECT_NOTE)
            carry_note(loop, &loop->effects.list.at[i]);
    lbm_effects_clear(&loop->effects);
}

void
carry_released(struct loop *loop, uint64_t durable)
{
    size_t kept = 0;
    loop->durable = durable;
    for (size_t i = 0; i < loop->waiting.n; i++) {
        struct waiting *waiting = &loop->waiting.at[i];
        if (waiting->effect.after > durable) {
            loop->waiting.at[kept++] = *waiting;
            continue;
        }
        if (waiting->effect.kind == LBM_EFFECT_SEND)
            lbm_outgoing_wait(loop->outgoing, waiting->effect.as.send.host, waiting->connection,
                              -(int64_t)waiting->effect.as.send.len);
        deliver(loop, &waiting->effect, waiting->connection);
    }
    loop->waiting.n = kept;
    if (loop->asked - durable < STORE_CAUGHT_UP &&
        lbm_store_worker_waiting(loop->store_worker) < STORE_BEHIND_BYTES / 2)
        pause_reading(loop, 0);
}

void
carry_drop(struct loop *loop)
{
    for (size_t i = 0; i < loop->waiting.n; i++) {
        struct lbm_effect *effect = &loop->waiting.at[i].effect;
        free(effect->kind == LBM_EFFECT_SEND ? effect->as.send.frame : effect->as.reply.frame);
    }
    lbm_vec_free(&loop->waiting);
    lbm_effects_clear(&loop->effects);
}
