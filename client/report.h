/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figures of a mapping that plan and eval report; the JSON names are fixed (docs/formats.md). */
#ifndef LBM_CLIENT_REPORT_H
#define LBM_CLIENT_REPORT_H

#include "cli/command.h"
#include "client/output.h"
#include "map/map.h"

struct lbm_report {
    uint32_t vertices;
    uint64_t edges;
    uint32_t hosts;
    struct lbm_quality quality;
    uint32_t extra_pieces;      /* of the guest on hosts, beyond one of each component on each */
    struct lbm_balance balance; /* what imbalance could be */
    double time_s;
    uint64_t seed;
    double imbalance_asked;
    double migration_cost; /* of a remapping, as the rest */
    struct lbm_migration migration;
};

/* The fields in order; only a plan has a seed and a bound, and only one from a present mapping what comes
 * after. */
extern const struct lbm_field lbm_report_fields[];
enum { LBM_REPORT_EVAL_FIELDS = 15, LBM_REPORT_PLAN_FIELDS = 17, LBM_REPORT_REMAP_FIELDS = 21 };

/* Fill in all but the time, the seed, the bound and the migration. Errors: those of lbm_map_evaluate. */
enum lbm_err lbm_report_fill(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part,
                             struct lbm_report *out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Say so if the imbalance is above what was asked, and what could be had. */
void lbm_report_remark(const struct lbm_cli *client, const struct lbm_report *report, double asked);

#endif
