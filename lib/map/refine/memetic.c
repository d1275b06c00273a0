/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evolution: several mappings are annealed, each by itself, then combined two by two. What both parents agree
 * on stays together on the coarsest level, and the child begins as the better one.
 * Source: Sanders & Schulz 2012 (KaFFPaE) for the combination. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "map/run.h"

enum {
    CYCLE_PER_HOST = 20,
    STREAM = 1000,  /* the random streams before it are those of starts */
    DRAWS_PAIR = 1, /* a level has up to that many for two vertices: small guests need members, not draws */
};

/* Hot and cold of the members in turn: guests differ in what suits them. */
static const struct cooling cooling_alone[] = {{6, 0.15, 0}, {3, 0.15, 0}, {12, 0.15, 0}, {6, 0.15, 0}};

/* Of combinations: what the parents agree on is to stay. */
static const struct cooling cooling_together = {1, 0.15, 0};

/* Nanoseconds or so of a draw, without and for each neighbour that is looked at. */
static const double DRAW_COST = 40, VISIT_COST = 1;

struct member {
    uint32_t *part;
    struct objective objective;
};

struct population {
    struct run *run;
    uint32_t level;
    struct member member[RUN_MEMBERS_MAX];
    uint32_t n, generations;
    uint64_t draws_alone, draws_together; /* on each level */
};

/* A member that is annealed, or replaced by its child with a better one. */
struct labour {
    const struct run *run;
    uint32_t level;
    uint64_t stream;
    struct cooling cooling;
    struct member *member;
    const struct member *better; /* NULL: none */
    enum lbm_err err;
};

static enum lbm_err
carry_out(struct run *own, const struct labour *labour)
{
    struct mapping m = run_mapping(own, labour->level);
    struct member *member = labour->member;
    uint32_t target = CYCLE_PER_HOST * m.h->n;
    const uint32_t *from = labour->better != NULL ? labour->better->part : member->part;
    memcpy(m.part, from, m.g->n * sizeof *m.part);
    enum lbm_err err = map_combine(&m, member->part, target, &labour->cooling, &own->rng);
    if (err != LBM_OK)
        return err;
    memcpy(member->part, m.part, m.g->n * sizeof *m.part);
    member->objective = mapping_objective(&m, own->load);
    return LBM_OK;
}

static void
run_labour(void *context)
{
    struct labour *labour = context;
    struct run own;
    struct mapping m = run_mapping(labour->run, labour->level);
    if (mapping_stopped(&m))
        return;
    labour->err = run_fork(labour->run, labour->level, labour->stream, &own);
    if (labour->err == LBM_OK)
        labour->err = carry_out(&own, labour);
    run_close(&own);
}

static enum lbm_err
run_labours(const struct run *run, struct labour *labour, uint32_t n)
{
    void *context[RUN_MEMBERS_MAX] = {0};
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; i < n; i++)
        context[i] = &labour[i];
    lbm_plan_parallel(run->options, run_labour, context, n);
    for (uint32_t i = 0; i < n; i++)
        err = err == LBM_OK ? labour[i].err : err;
    return err;
}

/* Draws on each level that come to about that many seconds on all. */
static double
draws_of(const struct mapping *m, double seconds)
{
    double degree = (double)lbm_graph_directions(m->g) / m->g->n;
    double levels = 1 + fmax(0, log2((double)m->g->n / (CYCLE_PER_HOST * (double)m->h->n)));
    return seconds * 1e9 / (levels * (DRAW_COST + VISIT_COST * degree));
}

/* Small guests take no more than that many draws, and more members instead. */
static void
plan_labour(struct population *p)
{
    const struct evolution *how = &p->run->effort->evolution;
    struct mapping m = run_mapping(p->run, p->level);
    double alone = draws_of(&m, how->seconds_alone), together = draws_of(&m, how->seconds_together);
    double most = (double)DRAWS_PAIR * m.g->n * m.g->n;
    p->n = alone > most ? RUN_MEMBERS_MAX : how->members;
    p->generations = alone > most ? 2 * how->generations : how->generations;
    alone *= (double)how->members / p->n; /* in as much time in all */
    together *= (double)how->members * how->generations / ((double)p->n * p->generations);
    p->draws_alone = (uint64_t)fmin(alone, most);
    p->draws_together = (uint64_t)fmin(together, most);
}

/* Every member by itself. */
static enum lbm_err
anneal_members(struct population *p)
{
    struct labour labour[RUN_MEMBERS_MAX];
    for (uint32_t i = 0; i < p->n; i++) {
        labour[i] =
            (struct labour){.run = p->run, .level = p->level, .stream = STREAM + i, .member = &p->member[i]};
        labour[i].cooling = cooling_alone[i % (sizeof cooling_alone / sizeof *cooling_alone)];
        labour[i].cooling.draws = p->draws_alone;
    }
    return run_labours(p->run, labour, p->n);
}

/* Every two members, drawn by lot, and a child in the place of the worse. */
static enum lbm_err
combine_members(struct population *p, uint32_t generation)
{
    struct labour labour[RUN_MEMBERS_MAX];
    uint32_t lot[RUN_MEMBERS_MAX];
    for (uint32_t i = 0; i < p->n; i++)
        lot[i] = i;
    lbm_rng_shuffle(&p->run->rng, lot, p->n);
    for (uint32_t i = 0; i < p->n / 2; i++) {
        struct member *a = &p->member[lot[2 * i]], *b = &p->member[lot[2 * i + 1]];
        int a_better = objective_less(&a->objective, &b->objective);
        labour[i] = (struct labour){.run = p->run,
                                    .level = p->level,
                                    .stream = STREAM + (generation + 1) * RUN_MEMBERS_MAX + i,
                                    .cooling = cooling_together,
                                    .member = a_better ? b : a,
                                    .better = a_better ? a : b};
        labour[i].cooling.draws = p->draws_together;
    }
    return run_labours(p->run, labour, p->n / 2);
}

static enum lbm_err
evolve(struct population *p)
{
    struct mapping m = run_mapping(p->run, p->level);
    run_tell(p->run, "annealing", 0.3);
    enum lbm_err err = anneal_members(p);
    for (uint32_t i = 0; i < p->generations && err == LBM_OK && !mapping_stopped(&m); i++) {
        run_tell(p->run, "combining", 0.45 + 0.2 * i / p->generations);
        err = combine_members(p, i);
    }
    uint32_t best = 0;
    for (uint32_t i = 1; i < p->n; i++)
        if (objective_less(&p->member[i].objective, &p->member[best].objective))
            best = i;
    if (err == LBM_OK)
        memcpy(m.part, p->member[best].part, m.g->n * sizeof *m.part);
    return err;
}

enum lbm_err
run_memetic(struct run *run, uint32_t level, struct pool *pool)
{
    struct population p = {.run = run, .level = level};
    struct mapping m = run_mapping(run, level);
    enum lbm_err err = LBM_OK;
    plan_labour(&p);
    LBM_ASSERT(p.n >= 1 && p.n <= RUN_MEMBERS_MAX && pool->n >= 1);
    for (uint32_t i = 0; i < p.n && err == LBM_OK; i++) {
        p.member[i].part = lbm_copy(pool_part(pool, i % pool->n), m.g->n, sizeof *m.part);
        p.member[i].objective = pool->objective[pool->slot[i % pool->n]];
        err = p.member[i].part == NULL ? LBM_E_NOMEM : LBM_OK;
    }
    if (err == LBM_OK)
        err = evolve(&p);
    for (uint32_t i = 0; i < p.n; i++)
        free(p.member[i].part);
    return err;
}
