/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figures of a mapping that plan and eval report; the JSON names are fixed (docs/formats.md). */
#ifndef LBM_CLIENT_REPORT_H
#define LBM_CLIENT_REPORT_H

#include "client/output.h"
#include "map/map.h"

struct lbm_report {
    uint32_t vertices;
    uint64_t edges;
    uint32_t hosts;
    struct lbm_quality quality;
    double time_s;
    uint64_t seed;
    double migration_cost; /* of a remapping, as the rest */
    struct lbm_migration migration;
};

/* The fields in order; only a plan has a seed, and only one from a present mapping what comes after. */
extern const struct lbm_field lbm_report_fields[];
enum { LBM_REPORT_EVAL_FIELDS = 12, LBM_REPORT_PLAN_FIELDS = 13, LBM_REPORT_REMAP_FIELDS = 17 };

/* Fill in all but the time, the seed and the migration. Errors: those of lbm_map_evaluate. */
enum lbm_err lbm_report_fill(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part,
                             struct lbm_report *out, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
