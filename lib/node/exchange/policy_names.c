/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of load policies and schedules, for programs that run none. */
#include <string.h>

#include "node/node.h"

const char *
lbm_job_policy_name(uint32_t policy)
{
    if (policy <= LBM_JOB_POLICY_NONE)
        return "none";
    static const char *const names[] = {
#define POLICY_NAME(id, number, name, source, text) [number] = name,
        LBM_POLICY_LIST(POLICY_NAME)
#undef POLICY_NAME
    };
    return policy - LBM_JOB_POLICY_FIRST < LBM_POLICY_COUNT ? names[policy - LBM_JOB_POLICY_FIRST]
                                                            : "unknown";
}

const char *
lbm_schedule_name(enum lbm_schedule schedule)
{
    static const char *const names[] = {
#define SCHEDULE_NAME(id, number, name, text) [number] = name,
        LBM_SCHEDULE_LIST(SCHEDULE_NAME)
#undef SCHEDULE_NAME
    };
    return (unsigned)schedule < LBM_SCHEDULE_COUNT ? names[schedule] : "unknown";
}

uint32_t
lbm_job_policy_by_name(const char *name)
{
    for (uint32_t policy = LBM_JOB_POLICY_NONE; policy < LBM_JOB_POLICY_FIRST + LBM_POLICY_COUNT; policy++)
        if (strcmp(lbm_job_policy_name(policy), name) == 0)
            return policy;
    return LBM_JOB_POLICY_DEFAULT;
}

int
lbm_job_policy_is_local(uint32_t policy)
{
    return policy != LBM_JOB_POLICY_FIRST + LBM_POLICY_CWA &&
           policy != LBM_JOB_POLICY_FIRST + LBM_POLICY_OPS &&
           policy != LBM_JOB_POLICY_FIRST + LBM_POLICY_POTENTIALS &&
           policy != LBM_JOB_POLICY_FIRST + LBM_POLICY_OPTIMIZED;
}
