/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of record transitions as a table. */
#include "node/core/transitions.h"

const struct lbm_transition_rule lbm_transition_rules[LBM_TRANSITION_COUNT] = {
#define LBM_TRANSITION_RULE(id, from, to, base, plus, event)                                                 \
    {#id, event, LBM_FROM_##from, LBM_STAGE_##to, LBM_EPOCH_##base, plus},
    LBM_TRANSITION_LIST(LBM_TRANSITION_RULE)
#undef LBM_TRANSITION_RULE
};
