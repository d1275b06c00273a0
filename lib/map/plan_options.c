/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every stage of planning may use of the options: their defaults, work on several threads; and the end
 * of a plan. */
#include <stdlib.h>

#include "map/internal.h"

void
lbm_plan_defaults(struct lbm_plan_options *options)
{
    *options = (struct lbm_plan_options){
        .method = LBM_METHOD_LBMAP, .effort = LBM_EFFORT_NORMAL, .imbalance = 0.03, .seed = 1};
}

void
lbm_plan_parallel(const struct lbm_plan_options *options, void (*task)(void *context), void *const *context,
                  unsigned n)
{
    if (options->parallel != NULL) {
        options->parallel(task, context, n);
        return;
    }
    for (unsigned i = 0; i < n; i++)
        task(context[i]);
}

void
lbm_plan_free(struct lbm_plan *plan)
{
    free(plan->part);
    free(plan->x);
    free(plan->weight);
    *plan = (struct lbm_plan){0};
}
