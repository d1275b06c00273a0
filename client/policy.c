/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/policy.h"

#include <stdio.h>

#include "client/daemon.h"

const struct lbm_choice lbm_policy_choices[] = {
    {"none", "exchange rounds alone"},
#define POLICY_CHOICE(id, number, name, source, text) {name, text},
    LBM_POLICY_LIST(POLICY_CHOICE)
#undef POLICY_CHOICE
        {NULL, NULL},
};

const struct lbm_choice lbm_schedule_choices[] = {
#define SCHEDULE_CHOICE(id, number, name, text) {name, text},
    LBM_SCHEDULE_LIST(SCHEDULE_CHOICE)
#undef SCHEDULE_CHOICE
        {NULL, NULL},
};

uint32_t
lbm_policy_given(const struct lbm_option_value *value)
{
    return value->given ? LBM_JOB_POLICY_NONE + (uint32_t)value->integer : LBM_JOB_POLICY_DEFAULT;
}

uint32_t
lbm_schedule_given(const struct lbm_option_value *value)
{
    return value->given ? 1 + (uint32_t)value->integer : 0;
}

enum lbm_status
lbm_job_change(const struct lbm_cli *client, Lbm__JobChange *change, const char *job, unsigned timeout_ms)
{
    struct lbm_daemon daemon;
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, timeout_ms, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    char name[LBM_NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", job);
    change->job = name;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_JOB_CHANGE;
    request.job_change = change;
    status = lbm_daemon_change(&daemon, &request);
    lbm_daemon_close(&daemon);
    return status;
}
