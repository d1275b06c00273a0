/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RJK03 Theorem 1's bound for every size, and section 5.5: Table 2 and the hybrid of OEM and CWA. */
#include <math.h>
#include <string.h>

#include "papers/cube.h"
#include "papers/papers.h"

/* ---- is ceil(log N / 2) attained? ---------------------------------------------------------------------- */

/* Loads that OEM leaves ceil(d/2) apart. Two hosts: 1, 0. Four: 1, 0, 0, 0. From d to d + 2 dimensions: four
 * copies, the last one with two units more on every host. OEM treats a copy like the original, two units more
 * or not, since both keep the parity of m. So the four hosts of a column hold M, M, M, M + 2 where the
 * original ends with its largest load M, and end with two of M and two of M + 1; where it ends with its least
 * load m they end with two of m: what is between largest and least has grown by one. */
static void
worst_loads(uint32_t d, double *load)
{
    uint32_t first = d % 2 == 1 ? 1 : 2;
    memset(load, 0, (sizeof *load) << first);
    load[0] = 1.0;
    for (uint32_t k = first; k < d; k += 2)
        for (uint32_t copy = 1; copy < 4; copy++)
            for (uint32_t p = 0; p < UINT32_C(1) << k; p++)
                load[(copy << k) + p] = load[p] + (copy == 3 ? 2.0 : 0.0);
}

void
rjk03_attained(struct table_run *t)
{
    uint32_t most = t->options->full ? 12 : 10;
    for (uint32_t d = 1; d <= most && t->diag.code == LBM_OK; d++) {
        struct cube c;
        if (!cube_open(t, d, &c))
            return;
        worst_loads(d, c.load);
        enum lbm_err err = cube_balance(&c, LBM_POLICY_OEM);
        if (err != LBM_OK)
            table_fail(t, err);
        struct cell *cell = table_cell(t, cube_difference(&c), "OEM, loads built for it, %u processors", c.n);
        cell_paper(cell, ceil(d / 2.0), 0.0);
        if (d == 1)
            cell_note(cell, "the bound is attained for every N: the construction goes on from d to d + 2");
        cube_close(&c);
    }
}

/* ---- table 2, the hybrid ------------------------------------------------------------------------------- */

struct outcome {
    double spread, collection; /* largest over the runs; of each */
    double time;               /* of transfers, one dimension after the other, mean */
};

static int
run_policy(struct table_run *t, struct cube *c, enum lbm_policy policy, uint32_t low, uint32_t runs,
           struct outcome *out)
{
    struct lbm_balance_options options = {
        .policy = policy, .integer = 1, .stop = LBM_STOP_QUIESCENT, .low = low, .seed = t->options->seed};
    struct lbm_rng rng;
    lbm_rng_stream(&rng, t->options->seed, c->d);
    *out = (struct outcome){0};
    c->low = low;
    for (uint32_t run = 0; run < runs; run++) {
        struct lbm_balance_result result;
        double before[64], copy[64];
        for (uint32_t p = 0; p < c->n; p++)
            before[p] = copy[p] = lbm_rng_below(&rng, 2 + run % 60);
        enum lbm_err err = lbm_balance_run(&c->net.network, &options, copy, NULL, &result, &t->diag);
        memcpy(c->load, before, c->n * sizeof *before);
        if (err == LBM_OK)
            err = cube_balance(c, policy);
        if (err != LBM_OK)
            return table_fail(t, err);
        out->spread = fmax(out->spread, result.spread);
        out->collection = result.collection;
        out->time += cube_time(t, c, LBM_SCHEDULE_PLAIN, before) / runs;
    }
    return 1;
}

void
rjk03_table_2(struct table_run *t)
{
    for (uint32_t d = 3; d <= 6 && t->diag.code == LBM_OK; d++) {
        struct outcome oem, cwa;
        struct cube c;
        if (!cube_open(t, d, &c))
            return;
        uint32_t runs = table_runs(t, 300, 10000);
        if (run_policy(t, &c, LBM_POLICY_OEM, 0, runs, &oem) &&
            run_policy(t, &c, LBM_POLICY_CWA, 0, runs, &cwa)) {
            cell_paper(table_cell(t, oem.collection, "OEM, %u processors: steps to collect loads", c.n), 0.0,
                       0.0);
            cell_paper(table_cell(t, cwa.collection, "CWA, %u processors: steps to collect loads", c.n),
                       2.0 * d, 0.0);
            cell_bound(table_cell(t, oem.spread, "OEM, %u processors: largest difference", c.n), AT_MOST,
                       ceil(d / 2.0));
            cell_bound(table_cell(t, cwa.spread, "CWA, %u processors: largest difference", c.n), AT_MOST,
                       1.0);
        }
        cube_close(&c);
    }
}

/* 64 processors: OEM in the first log P dimensions, CWA in the others. Few runs find the worst. */
void
rjk03_hybrid(struct table_run *t)
{
    enum { D = 6 };
    struct cube c;
    double first = nan("");
    if (!cube_open(t, D, &c))
        return;
    for (uint32_t low = 0; low <= D; low++) {
        struct outcome o;
        if (!run_policy(t, &c, LBM_POLICY_CWA, low, table_runs(t, 1000, 30000), &o))
            break;
        struct cell *cell = table_cell(t, o.spread, "P = %u of 64: largest difference", 1u << low);
        cell_note(cell_bound(cell, AT_MOST, low + 1.0), "transfers take %.4g units of time on average",
                  o.time);
        cell_bound(table_cell(t, o.spread, "P = %u of 64: the same, at most ceil(log P / 2) + 1", 1u << low),
                   AT_MOST, ceil(low / 2.0) + (low < D));
        cell_paper(table_cell(t, o.collection, "P = %u of 64: steps to collect loads", 1u << low),
                   2.0 * (D - low), 0.0);
        first = low == 0 ? o.time : first;
        if (low > 0)
            cell_bound(table_cell(t, o.time / first, "P = %u of 64: time of transfers over that of CWA alone",
                                  1u << low),
                       AT_MOST, 1.0);
    }
    cube_close(&c);
}
