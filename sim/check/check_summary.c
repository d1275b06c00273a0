/* SPDX-License-Identifier: GPL-3.0-or-later */
/* I17: no host says of a job what is better than the truth. A job that has settled, or is well, has all its
 * vertices with hosts that live and may work on them; what has ended lately a host may not have heard of yet.
 */
#include <inttypes.h>

#include "sim/check/check.h"

enum { HEARD_US = 6000000 }; /* whoever falls silent is known to be after that */

void
check_summary(struct check *check, uint32_t host, const char *job, const struct lbm_job_summary *summary,
              const struct check_attended *attended)
{
    if (attended->missing == 0 || attended->since_us + HEARD_US + check->lag_us >= attended->now_us)
        return;
    if (summary->settled)
        check_violated(check, "I17",
                       "host %" PRIu32 " says that job %s has settled, but nobody may work on %" PRIu32
                       " of its vertices, for %" PRId64 " ms",
                       host, job, attended->missing, (attended->now_us - attended->since_us) / 1000);
    else if (summary->condition == LBM_CONDITION_WELL)
        check_violated(check, "I17",
                       "host %" PRIu32 " calls job %s well, but nobody may work on %" PRIu32
                       " of its vertices, for %" PRId64 " ms",
                       host, job, attended->missing, (attended->now_us - attended->since_us) / 1000);
}
