/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A checkpoint on its way to the daemon, while the program goes on (docs/adr/0046).
 *
 * Rows are sent in their order, several to a request. A large payload is hashed, asked for, brought in pieces
 * unless the daemon has it, and then named by its row; what is needed for the next ones is done while answers
 * are awaited. Rows whose vertex is not held any more, or has a newer payload, are passed over. */
#ifndef LBM_API_CHECKPOINT_H
#define LBM_API_CHECKPOINT_H

#include "api/call.h"
#include "lbmap.h"

struct lbm_checkpoint;

/* Begin to keep payloads. borrows: all of them stay as they are until the end, else those of up to
 * LBM_PAYLOAD_MAX are copied. Errors: LBM_E_BUSY one is in progress, or the daemon is away; LBM_E_STATE;
 * LBM_E_RANGE; LBM_E_NOMEM. Nothing has begun then. */
enum lbm_err lbm_checkpoint_begin(struct lbmap *map, const struct lbmap_state *states, size_t n,
                                  int borrows) LBM_MUST_CHECK;

/* Take what was answered, and do some of what can be done without waiting. Nonzero, once, if the checkpoint
 * in progress has come to its end. */
int lbm_checkpoint_turn(struct lbmap *map);

/* Nonzero if the next turn has something to do that needs no answer and no room in the socket. */
int lbm_checkpoint_has_work(const struct lbmap *map);

/* Forget it; what was sent may be kept. NULL: nothing. */
void lbm_checkpoint_free(struct lbmap *map, struct lbm_checkpoint *checkpoint);

#endif
