/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a seed says: hosts, guests, delays, and what goes wrong when. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "graph/generate.h"
#include "sim/run/run.h"
#include "sim/scenario/directed.h"

enum {
    SPAN_US = 60000000, /* of all faults, at most */
    USUAL_HOSTS = 6,    /* more than the least: mostly */
    DIRECTED_HOSTS = 1,
    POLICY_STREAM = 77,
    COPIES_STREAM = 78,
    LARGE_STREAM = 79,
    PROGRAMS_STREAM = 80,
    PROGRAM_FAULTS = 8,         /* at most, */
    PROGRAM_SPAN_US = 30000000, /* within this */
};

static void
draw_hosts(struct run *s, uint32_t spread)
{
    static const char *const shapes[] = {"chain", "ring", "star", "complete", "mesh", "ring"};
    uint32_t least = s->options.hosts_least, most = s->options.hosts_most;
    if (s->directed_scenario != NULL && s->directed_scenario->hosts > least &&
        s->directed_scenario->hosts <= most)
        least = s->directed_scenario->hosts;
    /* Mostly small: there, everything meets everything. */
    uint32_t usual = least + spread < most ? least + spread : most;
    uint32_t span =
        spread == USUAL_HOSTS && lbm_rng_below(&s->rng, 40) == 0 ? most - least + 1 : usual - least + 1;
    uint32_t n = least + lbm_rng_below(&s->rng, span);
    const char *shape = shapes[lbm_rng_below(&s->rng, sizeof shapes / sizeof *shapes)];
    char spec[32];
    struct lbm_diag diag;
    if (strcmp(shape, "mesh") == 0)
        snprintf(spec, sizeof spec, "mesh:%" PRIu32 "x2", (n + 1) / 2);
    else if (strcmp(shape, "complete") == 0 && n > 16)
        snprintf(spec, sizeof spec, "ring:%" PRIu32, n);
    else
        snprintf(spec, sizeof spec, "%s:%" PRIu32, shape, n);
    LBM_ASSERT(lbm_hosts_generate(spec, &s->h, &diag) == LBM_OK);
}

static void
draw_weights(struct lbm_rng *rng, struct lbm_graph *g)
{
    g->work = lbm_alloc(g->n, sizeof *g->work);
    g->weight = lbm_alloc(lbm_graph_directions(g), sizeof *g->weight);
    for (uint32_t v = 0; v < g->n; v++) {
        g->work[v] = 1 + lbm_rng_below(rng, 5);
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            g->weight[e] = 1 + (v ^ g->target[e]) % 7; /* the same both ways */
    }
}

static void
draw_guest(struct run *s, struct lbm_graph *g, uint32_t widths)
{
    char spec[40];
    struct lbm_diag diag;
    uint32_t width = 2 + lbm_rng_below(&s->rng, widths);
    uint32_t height = 5 + lbm_rng_below(&s->rng, 8);
    if (widths > 2 && lbm_rng_below(&s->rng, 12) == 0)
        width *= 3;
    snprintf(spec, sizeof spec, "lattice:%" PRIu32 "x%" PRIu32, width, height);
    LBM_ASSERT(lbm_graph_generate(spec, 1, g, &diag) == LBM_OK);
    if (lbm_rng_below(&s->rng, 2) != 0)
        draw_weights(&s->rng, g);
}

static uint64_t
draw_kinds(struct run *s)
{
    uint64_t kinds = 0;
    uint32_t share = 1 + lbm_rng_below(&s->rng, 8); /* of eight: some seeds know few faults, some all */
    for (uint32_t k = 0; k < FAULT_OF_PROGRAMS; k++)
        if ((k != FAULT_ENSEMBLE_LOST || s->has_etcd) && lbm_rng_below(&s->rng, 8) < share)
            kinds |= UINT64_C(1) << k;
    return kinds & s->options.kinds;
}

static int64_t
lasts(struct lbm_rng *rng, const struct fault_row *row)
{
    return (row->least_ms + (int64_t)lbm_rng_below(rng, row->most_ms - row->least_ms + 1)) * 1000;
}

static void
draw_faults(struct run *s)
{
    uint64_t kinds = draw_kinds(s);
    uint32_t total = 0, n = 4 + lbm_rng_below(&s->rng, 28);
    int64_t span = 5000000 + lbm_rng_below(&s->rng, SPAN_US - 5000000), at = 0;
    for (uint32_t k = 0; k < FAULT_COUNT; k++)
        total += (kinds >> k & 1) != 0 ? fault_rows[k].weight : 0;
    for (uint32_t i = 0; i < n && total != 0; i++) {
        uint32_t draw = lbm_rng_below(&s->rng, total), kind = 0;
        for (;; kind++) {
            uint32_t weight = (kinds >> kind & 1) != 0 ? fault_rows[kind].weight : 0;
            if (draw < weight)
                break;
            draw -= weight;
        }
        at += (int64_t)(lbm_rng_unit(&s->rng) * 2 * (double)span / n);
        struct fault *f = &s->fault[i];
        *f = (struct fault){.kind = (enum fault_kind)kind, .at_us = at};
        f->lasts_us = lasts(&s->rng, &fault_rows[kind]);
        f->a = (uint32_t)lbm_rng_next(&s->rng);
        f->b = (uint32_t)lbm_rng_next(&s->rng);
        f->c = (uint32_t)lbm_rng_next(&s->rng);
        f->trigger = lbm_rng_below(&s->rng, 3) == 0 ? TRIGGER_STAGE : TRIGGER_NONE;
        s->n_faults = i + 1;
    }
}

/* Draws in order: what initializers evaluate first is the compiler's choice. */
static void
draw_options(struct run *s)
{
    struct cluster_options *o = &s->cluster_options;
    *o = (struct cluster_options){.seed = s->options.seed,
                                  .delay_least_us = 50,
                                  .limited_host = LBM_NONE,
                                  /* every other run: hosts store late what does not concern them */
                                  .large_members = s->options.seed % 2 != 0,
                                  /* every fourth: a vertex is little, so amounts are agreed first */
                                  .imbalance = s->options.seed / 2 % 4 == 0 ? 0.3 : 0,
                                  .evict_share = 100, /* runs have many evictions in few minutes */
                                  .judged = 1,
                                  .line = s->options.line,
                                  .line_arg = s->options.line_arg};
    o->delay_most_us = 100 + lbm_rng_below(&s->rng, 30000);
    o->sync_us = 100 + lbm_rng_below(&s->rng, 30000);
    o->lose_soft = 0.2 * lbm_rng_unit(&s->rng);
    o->repeat_soft = 0.2 * lbm_rng_unit(&s->rng);
    o->late = lbm_rng_below(&s->rng, 3) == 0 && s->h.n > 3;
    o->engine = (enum lbm_log_engine)lbm_rng_below(&s->rng, LBM_LOG_ENGINE_COUNT);
    s->has_etcd = o->engine == LBM_LOG_ENGINE_LOCAL && s->options.seed % 3 == 0;
    o->etcd = s->has_etcd ? LBM_ETCD_ABILITY_RUNS : LBM_ETCD_ABILITY_UNKNOWN;
    o->tombstone_us = (int64_t)lbm_rng_below(&s->rng, 2) * 10000000;
    o->restart_us = 200000 + lbm_rng_below(&s->rng, 2000000);
}

/* Load policies that any hosts can run, by a stream of their own: what else happens stays as it is. */
static void
draw_policy(struct run *s)
{
    static const uint32_t policies[] = {
        LBM_JOB_POLICY_NONE,
        LBM_JOB_POLICY_FIRST + LBM_POLICY_AUTO,
        LBM_JOB_POLICY_FIRST + LBM_POLICY_DIFFUSION,
        LBM_JOB_POLICY_FIRST + LBM_POLICY_SECOND_ORDER,
        LBM_JOB_POLICY_FIRST + LBM_POLICY_DIMENSION_EXCHANGE,
        LBM_JOB_POLICY_FIRST + LBM_POLICY_GDE,
        LBM_JOB_POLICY_FIRST + LBM_POLICY_EDGE_REMAP,
    };
    struct lbm_rng rng;
    lbm_rng_stream(&rng, s->options.seed, POLICY_STREAM);
    s->cluster_options.policy = policies[lbm_rng_below(&rng, sizeof policies / sizeof *policies)];
    s->cluster_options.schedule = 1 + lbm_rng_below(&rng, LBM_SCHEDULE_COUNT);
    s->cluster_options.changes = lbm_rng_below(&rng, 4) == 0;
    /* Now and then nobody declares links, and some hosts may be far from the others. */
    if (lbm_rng_below(&rng, 8) == 0) {
        s->cluster_options.hop_us = 1000;
        s->cluster_options.sites_from = lbm_rng_below(&rng, s->h.n);
        s->cluster_options.sites_us = lbm_rng_below(&rng, 10000);
    }
}

/* Every fourth of the usual runs keeps two copies, if it has the hosts for it and nothing else is asked. */
static void
draw_copies(struct run *s)
{
    struct lbm_rng rng;
    lbm_rng_stream(&rng, s->options.seed, COPIES_STREAM);
    s->cluster_options.copies = lbm_rng_below(&rng, 4) == 0 && s->h.n > 2 ? 2 : 1;
    if (s->options.copies != 0)
        s->cluster_options.copies = s->options.copies;
}

/* In every third run some payloads are large. */
static void
draw_large(struct run *s)
{
    struct lbm_rng rng;
    lbm_rng_stream(&rng, s->options.seed, LARGE_STREAM);
    s->cluster_options.large = lbm_rng_below(&rng, 3) == 0;
}

/* Programs of the library in place of models of applications; what happens to them comes on top. */
static void
draw_programs(struct run *s)
{
    struct lbm_rng rng;
    s->cluster_options.programs = s->options.programs;
    if (s->options.programs == CLUSTER_PROGRAMS_NONE)
        return;
    s->cluster_options.large = s->cluster_options.changes = 0;
    lbm_rng_stream(&rng, s->options.seed, PROGRAMS_STREAM);
    for (uint32_t n = lbm_rng_below(&rng, PROGRAM_FAULTS + 1); n > 0 && s->n_faults < RUN_FAULTS_MAX; n--) {
        uint32_t kind = FAULT_OF_PROGRAMS + lbm_rng_below(&rng, FAULT_COUNT - FAULT_OF_PROGRAMS);
        struct fault f = {.kind = (enum fault_kind)kind, .at_us = lbm_rng_below(&rng, PROGRAM_SPAN_US)};
        f.lasts_us = lasts(&rng, &fault_rows[kind]);
        f.a = (uint32_t)lbm_rng_next(&rng);
        if ((s->options.kinds >> kind & 1) != 0)
            s->fault[s->n_faults++] = f;
    }
}

void
run_draw(struct run *s)
{
    lbm_rng_seed(&s->rng, s->options.seed);
    int is_directed = lbm_rng_below(&s->rng, 2) != 0;
    if (is_directed)
        directed_draw_scenario(s);
    draw_hosts(s, is_directed ? DIRECTED_HOSTS : USUAL_HOSTS);
    for (uint32_t i = 0; i < RUN_JOBS_MAX; i++)
        draw_guest(s, &s->g[i], is_directed ? 2 : 9);
    draw_options(s);
    draw_policy(s);
    if (is_directed) {
        directed_draw_options(s);
        directed_draw_faults(s);
    } else {
        draw_faults(s);
    }
    if (!is_directed || s->options.copies != 0)
        draw_copies(s);
    draw_large(s);
    draw_programs(s);
    s->result->n_faults = s->n_faults;
}
