/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every room does with a step: effects for the shell, operations of the step's transaction, failure. A
 * shortage of memory fails the step; what follows in it is void. */
#ifndef LBM_NODE_CORE_CORE_H
#define LBM_NODE_CORE_CORE_H

#include "base/check.h"
#include "node/core/events.h"
#include "node/core/state.h"
#include "node/core/timeouts.h"
#include "node/mutants.h"

/* ---- effects.c ---- */

/* Effect: a line for the daemon's log and, from LBM_NOTE_INFO on, for `lbctl events`. */
void lbm_core_note(struct lbm_node *node, enum lbm_note_level level, const char *fmt, ...) LBM_PRINTF(3, 4);
/* Effect: connect to a host at that address. */
void lbm_core_dial(struct lbm_node *node, uint32_t host, const char *address);
/* LOG_APPEND, LOG_FOLLOW, LOG_COMPACT; copies the bytes. */
void lbm_core_emit_log(struct lbm_node *node, enum lbm_effect_kind kind, uint64_t index, const uint8_t *bytes,
                       size_t len);
/* Effect: these hosts run the ensemble of etcd. */
void lbm_core_emit_ensemble(struct lbm_node *node, const struct lbm_ensemble *is, int tends);
/* Effect: read a piece of a large payload, as all that was asked to be stored so far has it. */
void lbm_core_read_blob(struct lbm_node *node, const struct lbm_blob_read *read);
/* Effect: start the program, which is taken; NULL: end the one of that id. */
void lbm_core_emit_program(struct lbm_node *node, uint64_t id, struct lbm_program_order *program);
/* Fill the envelope, pack and send once every transaction asked for so far is durable. */
void lbm_core_send(struct lbm_node *node, uint32_t host, Lbm__Peer *message);
/* The same at once: nothing stored depends on it. */
void lbm_core_send_now(struct lbm_node *node, uint32_t host, Lbm__Peer *message);
/* Lossy, but like lbm_core_send not before what it tells is durable. */
void lbm_core_send_stored_lossy(struct lbm_node *node, uint32_t host, Lbm__Peer *message);
/* At once and lossy. */
void lbm_core_send_lossy(struct lbm_node *node, uint32_t host, Lbm__Peer *message);
/* Effect: answer a client's request. `last`: no further answer follows. Takes what the response owns. */
void lbm_core_reply(struct lbm_node *node, uint64_t client, uint64_t request, int last,
                    Lbm__Response *response);
/* The same once every transaction asked for so far is durable. */
void lbm_core_reply_stored(struct lbm_node *node, uint64_t client, uint64_t request, int last,
                           Lbm__Response *response);
/* Effect: refuse a client's request with a code and one sentence. */
void lbm_core_reply_error(struct lbm_node *node, uint64_t client, uint64_t request, enum lbm_err code,
                          const char *fmt, ...) LBM_PRINTF(5, 6);
/* Add an operation to the transaction of this step, which end_step issues. Takes what the op owns. */
void lbm_core_persist(struct lbm_node *node, struct lbm_persist_op op);
/* Issue the open transaction now, so that later sends of this step wait for it. */
void lbm_core_persist_flush(struct lbm_node *node);
/* This step fails with `err`; the first error of a step counts. The daemon ends then, since memory and state
 * may differ. */
void lbm_core_fail(struct lbm_node *node, enum lbm_err err);

#endif
