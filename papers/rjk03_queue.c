/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RJK03 Figs 7 to 9: what the event simulation gives, and the 30 % that the paper claims. */
#include <math.h>

#include "papers/papers.h"
#include "papers/queue.h"

struct both {
    struct queue_result dem, oem; /* means over runs */
};

static void
add(struct queue_result *to, const struct queue_result *from, uint32_t runs)
{
    to->difference += from->difference / runs;
    to->response += from->response / runs;
    to->length += from->length / runs;
    to->busy += from->busy / runs;
    to->balancings += from->balancings / runs;
}

/* The same streams for both rules. */
static int
simulate(struct table_run *t, uint32_t d, uint32_t processes, uint32_t runs, struct both *out)
{
    struct cube cube;
    enum lbm_err err = LBM_OK;
    *out = (struct both){0};
    if (!cube_open(t, d, &cube))
        return 0;
    for (uint32_t run = 0; run < 2 * runs && err == LBM_OK; run++) {
        int oem = run % 2 != 0;
        struct queue_result result;
        struct lbm_rng rng;
        lbm_rng_stream(&rng, t->options->seed, run / 2);
        err = queue_simulate(&cube, oem ? LBM_POLICY_OEM : LBM_POLICY_DEM, processes, &rng, &result);
        add(oem ? &out->oem : &out->dem, &result, runs);
    }
    cube_close(&cube);
    return err == LBM_OK || table_fail(t, err);
}

/* difference, response: of OEM over DEM, from long runs of this simulation. */
static const struct {
    uint32_t d, processes;
    double difference, response;
} rows[] = {
    {3, 1000, 0.874, 1.015}, {4, 1000, 0.868, 1.015}, {5, 1000, 0.852, 1.015}, {6, 1000, 0.803, 1.015},
    {3, 5000, 0.874, 1.015}, {4, 5000, 0.868, 1.015}, {5, 5000, 0.852, 1.015}, {6, 5000, 0.803, 1.015},
};

void
rjk03_queue(struct table_run *t)
{
    const char *why = "the paper claims about 30 %; no number of its figures is printed, see docs/papers.md";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct both both;
        uint32_t n = 1u << rows[i].d;
        if (!simulate(t, rows[i].d, rows[i].processes, table_runs(t, 5, 10), &both))
            return;
        struct cell *cell =
            table_cell(t, both.oem.difference / both.dem.difference,
                       "largest difference, OEM over DEM, %u processors, %u", n, rows[i].processes);
        cell_computed(cell_paper(cell, 0.7, 0.0), rows[i].difference, 0.05);
        cell_not_reproduced(cell, why);
        cell = table_cell(t, both.dem.response / both.oem.response,
                          "speed-up, OEM over DEM, %u processors, %u", n, rows[i].processes);
        cell_computed(cell_paper(cell, 1.3, 0.0), rows[i].response, 0.06);
        cell_not_reproduced(cell, why);
        cell_computed(table_cell(t, both.oem.busy, "utilization, %u processors, %u", n, rows[i].processes),
                      0.55, 0.03);
    }
}
