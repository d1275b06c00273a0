/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The terms of a job, to and from the commands of the control log: its load policy, its throttle, the program
 * that is run. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "node/node.h"
#include "node/view/view.h"

void
lbm_job_policy_put(const struct lbm_job_policy *policy, Lbm__JobPolicy *to)
{
    lbm__job_policy__init(to);
    to->policy = policy->policy;
    to->asked = policy->asked;
    to->schedule = policy->schedule;
    to->alpha = policy->rule.alpha;
    to->lambda = policy->rule.lambda;
    to->lambda_numerator = policy->rule.lambda_numerator;
    to->lambda_denominator = policy->rule.lambda_denominator;
    to->gamma = isfinite(policy->rule.gamma) ? policy->rule.gamma : 0;
    to->why = (char *)policy->why;
    to->topology = policy->topology;
    to->view = policy->view;
}

void
lbm_job_policy_take(const Lbm__JobPolicy *from, struct lbm_job_policy *out)
{
    *out = (struct lbm_job_policy){.policy = LBM_JOB_POLICY_NONE};
    if (from == NULL)
        return;
    *out = (struct lbm_job_policy){.policy = from->policy,
                                   .asked = from->asked,
                                   .schedule = (enum lbm_schedule)from->schedule,
                                   .topology = from->topology,
                                   .view = from->view};
    snprintf(out->why, sizeof out->why, "%s", from->why);
    if (from->policy <= LBM_JOB_POLICY_NONE)
        return;
    out->rule = (struct lbm_rule){.policy = (enum lbm_policy)(from->policy - LBM_JOB_POLICY_FIRST),
                                  .alpha = from->alpha,
                                  .lambda = from->lambda,
                                  .lambda_numerator = from->lambda_numerator,
                                  .lambda_denominator = from->lambda_denominator,
                                  .gamma = from->gamma};
}

enum lbm_schedule
lbm_job_policy_schedule(const struct lbm_job_policy *policy)
{
    return (unsigned)policy->schedule < LBM_SCHEDULE_COUNT ? policy->schedule : LBM_SCHEDULE_PIPELINED;
}

void
lbm_gates_put(const struct lbm_gates *gates, Lbm__JobGates *to)
{
    lbm__job_gates__init(to);
    to->given = LBM_GATE_ALL;
    to->cooldown_s = gates->cooldown_s;
    to->payback_s = gates->payback_s;
    to->bytes_per_s = gates->bytes_per_s;
    to->in_flight = gates->in_flight;
    to->view = gates->view;
}

void
lbm_gates_take(const Lbm__JobGates *from, struct lbm_gates *gates)
{
    if (from == NULL)
        return;
    if (from->given & LBM_GATE_COOLDOWN)
        gates->cooldown_s = from->cooldown_s;
    if (from->given & LBM_GATE_PAYBACK)
        gates->payback_s = from->payback_s;
    if (from->given & LBM_GATE_BYTES)
        gates->bytes_per_s = from->bytes_per_s;
    if (from->given & LBM_GATE_IN_FLIGHT)
        gates->in_flight = from->in_flight;
}

void
lbm_job_run_put(const struct lbm_job_run *run, Lbm__JobRun *to)
{
    lbm__job_run__init(to);
    to->view = run->view;
    to->watcher = run->watcher;
    to->arguments = run->arguments;
    to->words = (ProtobufCBinaryData){run->len, (uint8_t *)(uintptr_t)run->words}; /* packed, not changed */
}

void
lbm_job_run_take(const Lbm__JobRun *from, struct lbm_job_run *out)
{
    *out = (struct lbm_job_run){.watcher = LBM_NONE};
    if (from == NULL)
        return;
    out->view = from->view;
    out->watcher = from->watcher;
    size_t n = 0;
    for (size_t i = 0; i < from->words.len; i++)
        n += from->words.data[i] == 0;
    int is_good = from->words.len != 0 && from->words.len <= sizeof out->words &&
                  from->words.data[from->words.len - 1] == 0 && n > from->arguments;
    if (from->arguments == 0 || !is_good)
        return;
    out->arguments = from->arguments;
    out->len = (uint32_t)from->words.len;
    memcpy(out->words, from->words.data, from->words.len);
}
