/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every change of stage that a vertex record may go through (protocol.md section 6).
 *
 * Owns: the list, its names and its arithmetic. lib/node changes a stage by naming a row of it and in no
 * other way; the checked model (tests/model/handoff.pml) has one macro T_<NAME> for each, and
 * tests/model/model.sh compares the two.  Never: decides when a transition is due.
 *
 * Not in the list, since no single record changes: a job that is deleted, and the reset of an evicted host,
 * which archives all it has. */
#ifndef LBM_NODE_CORE_TRANSITIONS_H
#define LBM_NODE_CORE_TRANSITIONS_H

#include <stdint.h>

#include "node/core/persist.h"

/* Stages a record may have before a transition, as a set. NONE is "no record". LOWER: what a host may have
 * of a vertex that lives elsewhere at a higher epoch; never OWN, there is one owner. */
#define LBM_FROM_NONE (1u << LBM_STAGE_NONE)
#define LBM_FROM_OWN (1u << LBM_STAGE_OWN)
#define LBM_FROM_OUT (1u << LBM_STAGE_OUT)
#define LBM_FROM_REF (1u << LBM_STAGE_REF)
#define LBM_FROM_MOV (1u << LBM_STAGE_MOV)
#define LBM_FROM_LOWER (LBM_FROM_NONE | LBM_FROM_OUT | LBM_FROM_REF | LBM_FROM_MOV)
#define LBM_FROM_FINISHED (LBM_FROM_REF | LBM_FROM_MOV)

/* What the new epoch is counted from: the record itself, the epoch offered, that of the replica merged, or
 * nothing (zero). */
enum lbm_epoch_base { LBM_EPOCH_ZERO, LBM_EPOCH_SELF, LBM_EPOCH_OFFER, LBM_EPOCH_REPLICA };

/* X(name, stages from, stage to, base of the epoch, added to it, event) */
#define LBM_TRANSITION_LIST(X)                                                                               \
    X(BEGIN, NONE, OWN, ZERO, 1, "a guest begins here")                                                      \
    X(ACCEPT, LOWER, OWN, OFFER, 0, "OFFER or OFFER_FOR of a higher epoch, taken")                           \
    X(REFUSE, LOWER, REF, OFFER, 0, "OFFER of a higher epoch, refused")                                      \
    X(RELEASE, OWN, OUT, SELF, 0, "wants to move, and nobody works on it here")                              \
    X(MOVE, OUT, MOV, SELF, 0, "ACK of epoch + 1")                                                           \
    X(REMOVE, OWN, MOV, SELF, 0, "its application removes it: nobody has it any more")                       \
    X(RETURN, OUT, OWN, SELF, 2, "REFUSE of epoch + 1")                                                      \
    X(INHERIT, OUT, OWN, SELF, 1, "the target is taken over, and this host speaks for it")                   \
    X(TAKE_BACK, OUT, OWN, SELF, 1, "the target has left, or who spoke for it has")                          \
    X(TAKE_OVER_OWN, LOWER, OWN, REPLICA, 1, "merge: the evicted host owned it")                             \
    X(TAKE_OVER_MINE, LOWER, OWN, REPLICA, 1, "merge: it was on its way here")                               \
    X(TAKE_OVER_REFUSED_HERE, REF, OWN, REPLICA, 2, "merge: it was on its way here, and refused")            \
    X(TAKE_OVER_REFUSED_THERE, OUT, OWN, SELF, 2, "merge: it was on its way there, and refused")             \
    X(TAKE_OVER_OUT, LOWER, OUT, REPLICA, 0, "merge: it was on its way to a third host")                     \
    X(TAKE_OVER_REF, LOWER, REF, REPLICA, 0, "merge: the evicted host had refused it")                       \
    X(TAKE_OVER_MOV, LOWER, MOV, REPLICA, 0, "merge: the evicted host had handed it over")                   \
    X(COLLECT, FINISHED, NONE, ZERO, 0, "its source will not offer it again")

enum lbm_transition {
#define LBM_TRANSITION_ENUM(id, from, to, base, plus, event) LBM_TRANSITION_##id,
    LBM_TRANSITION_LIST(LBM_TRANSITION_ENUM)
#undef LBM_TRANSITION_ENUM
        LBM_TRANSITION_COUNT
};

struct lbm_transition_rule {
    const char *name;
    const char *event;
    unsigned from; /* LBM_FROM_ */
    enum lbm_stage to;
    enum lbm_epoch_base base;
    unsigned plus;
};

extern const struct lbm_transition_rule lbm_transition_rules[LBM_TRANSITION_COUNT];

/* The epoch after a transition.
 * In: base_epoch, of whatever lbm_transition_rules[transition].base names; ignored for LBM_EPOCH_ZERO. */
static inline uint64_t
lbm_transition_epoch(enum lbm_transition transition, uint64_t base_epoch)
{
    const struct lbm_transition_rule *rule = &lbm_transition_rules[transition];
    return (rule->base == LBM_EPOCH_ZERO ? 0 : base_epoch) + rule->plus;
}

/* Nonzero if the list has this transition from that stage. */
static inline int
lbm_transition_allows(enum lbm_transition transition, enum lbm_stage from)
{
    return (lbm_transition_rules[transition].from >> from & 1) != 0;
}

#endif
