/* SPDX-License-Identifier: GPL-3.0-or-later */
/* I17: no host says of a job what is better than the truth. A job that has settled, or is well, has all its
 * vertices with hosts that live and may work on them; what has ended lately a host may not have heard of yet.
 */
#include <inttypes.h>

#include "base/check.h"
#include "base/mem.h"
#include "sim/check/check.h"

/* Whoever falls silent is known to be after 3.5 s; one that is stopped for less, runs for a moment, and falls
 * silent again, after twice that. */
enum { HEARD_US = 8000000 };

/* Since when it says that the job is well; 0: it does not. */
static int64_t
says_well(const struct check *check, uint32_t host, struct guest *guest,
          const struct lbm_job_summary *summary, int64_t now_us)
{
    int is_well = summary != NULL && (summary->settled || summary->condition == LBM_CONDITION_WELL);
    if (guest->well_us == NULL)
        guest->well_us = lbm_alloc(check->n_hosts, sizeof *guest->well_us);
    LBM_ASSERT(guest->well_us != NULL);
    guest->well_us[host] = !is_well ? 0 : guest->well_us[host] != 0 ? guest->well_us[host] : now_us;
    return guest->well_us[host];
}

void
check_summary(struct check *check, uint32_t host, struct guest *guest, const struct lbm_job_summary *summary,
              int64_t now_us)
{
    int64_t known_us = now_us - HEARD_US - check->lag_us,
            since_us = says_well(check, host, guest, summary, now_us);
    uint32_t idle = 0, one = LBM_NONE;
    if (!guest->was_whole || since_us == 0 || since_us > known_us)
        return;
    for (uint32_t v = 0; v < guest->n; v++)
        if (guest->vertex[v].idle_us != 0 && guest->vertex[v].idle_us < known_us) {
            one = v;
            idle++;
        }
    if (idle != 0)
        check_violated(check, "I17",
                       "host %" PRIu32 " says that a job %s, but nobody may work on %" PRIu32
                       " of its vertices, such as %" PRIu32 " for %" PRId64 " ms",
                       host, summary->settled ? "has settled" : "is well", idle, one,
                       (now_us - guest->vertex[one].idle_us) / 1000);
}
