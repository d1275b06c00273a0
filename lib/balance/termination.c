/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Termination counters. */
#include "balance/balance.h"

#include "base/mutants.h"

void
lbm_termination_reset(struct lbm_termination *t)
{
    *t = (struct lbm_termination){.counter = 0, .least = UINT32_MAX, .disturbed = 1};
}

void
lbm_termination_hear(struct lbm_termination *t, uint32_t counter)
{
    if (counter < t->least)
        t->least = counter;
}

void
lbm_termination_disturb(struct lbm_termination *t)
{
    t->disturbed = 1;
}

void
lbm_termination_sweep(struct lbm_termination *t)
{
    uint32_t least = t->least < t->counter ? t->least : t->counter;
    if (t->disturbed)
        t->counter = 0;
    else if (least < UINT32_MAX)
        t->counter = least + LBM_MUTANT(TERMINATION_STEP, 1, 2);
    t->least = UINT32_MAX;
    t->disturbed = 0;
}

int
lbm_termination_done(const struct lbm_termination *t, uint32_t diameter_hops)
{
    return t->counter > diameter_hops - LBM_MUTANT(TERMINATION_EARLY, 0u, diameter_hops > 0);
}
