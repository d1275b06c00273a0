/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/report.h"

#define AT(field) offsetof(struct lbm_report, field)

const struct lbm_field lbm_report_fields[LBM_REPORT_REMAP_FIELDS] = {
    {"vertices", "vertices", LBM_FIELD_COUNT32, AT(vertices)},
    {"edges", "edges", LBM_FIELD_COUNT, AT(edges)},
    {"hosts", "hosts", LBM_FIELD_COUNT32, AT(hosts)},
    {"imbalance", "imbalance", LBM_FIELD_PERCENT, AT(quality.imbalance)},
    {"imbalance_least", "imbalance, lower bound", LBM_FIELD_PERCENT, AT(balance.least)},
    {"imbalance_longest_first", "imbalance, longest first", LBM_FIELD_PERCENT, AT(balance.longest_first)},
    {"hop_bytes", "hop-bytes J", LBM_FIELD_COUNT, AT(quality.hop_bytes)},
    {"cut", "cut", LBM_FIELD_COUNT, AT(quality.cut)},
    {"dilation_mean", "dilation, mean", LBM_FIELD_RATIO, AT(quality.dilation_mean)},
    {"dilation_max", "dilation, largest", LBM_FIELD_COUNT32, AT(quality.dilation_max)},
    {"comm_volume_total", "volume, total", LBM_FIELD_COUNT, AT(quality.comm_volume_total)},
    {"comm_volume_max", "volume, largest of a host", LBM_FIELD_COUNT, AT(quality.comm_volume_max)},
    {"empty_hosts", "empty hosts", LBM_FIELD_COUNT32, AT(quality.empty_hosts)},
    {"extra_pieces", "pieces beyond one a host", LBM_FIELD_COUNT32, AT(extra_pieces)},
    {"time_s", "time", LBM_FIELD_SECONDS, AT(time_s)},
    {"seed", "seed", LBM_FIELD_COUNT, AT(seed)},
    {"imbalance_asked", "imbalance, asked", LBM_FIELD_PERCENT, AT(imbalance_asked)},
    {"migration_cost", "migration cost", LBM_FIELD_RATIO, AT(migration_cost)},
    {"moved_vertices", "moved vertices", LBM_FIELD_COUNT32, AT(migration.vertices)},
    {"moved_weight", "moved weight", LBM_FIELD_COUNT, AT(migration.work)},
    {"unavoidable_weight", "unavoidable of that", LBM_FIELD_COUNT, AT(migration.unavoidable)},
};

enum lbm_err
lbm_report_fill(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part,
                struct lbm_report *out, struct lbm_diag *diag)
{
    out->vertices = g->n;
    out->edges = lbm_graph_directions(g) / 2;
    out->hosts = h->n;
    enum lbm_err err = lbm_map_evaluate(g, h, part, &out->quality, diag);
    if (err == LBM_OK && (lbm_map_balance(g, h, &out->balance) != LBM_OK ||
                          lbm_map_pieces(g, h, part, &out->extra_pieces) != LBM_OK))
        err = lbm_diag_set(diag, LBM_E_NOMEM, "", 0, "no memory for the report");
    return err;
}

void
lbm_report_remark(const struct lbm_cli *client, const struct lbm_report *report, double asked)
{
    double imbalance = report->quality.imbalance;
    if (imbalance <= asked + 1e-9)
        return;
    if (report->balance.least > asked + 1e-9)
        lbm_cli_remark(
            client,
            "imbalance %.2f %% exceeds %.2f %%; no mapping is below %.2f %%, longest first reaches "
            "%.2f %%",
            100 * imbalance, 100 * asked, 100 * report->balance.least, 100 * report->balance.longest_first);
    else
        lbm_cli_remark(client, "imbalance %.2f %% exceeds %.2f %%; longest first reaches %.2f %%",
                       100 * imbalance, 100 * asked, 100 * report->balance.longest_first);
}
