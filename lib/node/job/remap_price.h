/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan from the mapping that a running job has. For plan_task.c. */
#ifndef LBM_NODE_JOB_REMAP_PRICE_H
#define LBM_NODE_JOB_REMAP_PRICE_H

#include "node/node.h"

/* In: task with current; options of a plan from nothing.  Out: plan.  Errors: as lbm_plan_make. */
enum lbm_err lbm_job_plan_remap(const struct lbm_plan_task *task, const struct lbm_plan_options *options,
                                struct lbm_plan *plan) LBM_MUST_CHECK;

#endif
