/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options that name a load policy and a schedule, and what they say to a daemon. */
#ifndef LBM_CLIENT_POLICY_H
#define LBM_CLIENT_POLICY_H

#include "client/command.h"
#include "node/node.h"

extern const struct lbm_choice lbm_policy_choices[], lbm_schedule_choices[];

#define LBM_JOB_POLICY_OPTION                                                                                \
    {                                                                                                        \
        .name = "policy", .type = LBM_OPTION_CHOICE, .value = "POLICY", .choices = lbm_policy_choices,       \
        .text = "how loads are balanced before vertices are exchanged; the daemon's if absent:"              \
    }
#define LBM_JOB_SCHEDULE_OPTION                                                                              \
    {                                                                                                        \
        .name = "schedule", .type = LBM_OPTION_CHOICE, .value = "SCHEDULE", .choices = lbm_schedule_choices, \
        .text = "how the vertices are handed over; the daemon's if absent:"                                  \
    }

/* As in SubmitBegin; 0 if the option is not given. */
uint32_t lbm_policy_given(const struct lbm_option_value *value);
uint32_t lbm_schedule_given(const struct lbm_option_value *value);

/* lbctl set JOB: answered when the control log has taken it. */
enum lbm_status lbm_job_change(const struct lbm_cli *client, Lbm__JobChange *change, const char *job,
                               unsigned timeout_ms);

#endif
