/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Directed runs: few hosts and vertices, and within seconds several things that happen to one host, its
 * backup and those that hand vertices to them, most of them when a message or an entry of the
 * control log.
 */
#include <stdlib.h>

#include "node/core/timeouts.h"
#include "sim/run/run.h"
#include "sim/scenario/directed.h"

/* Weights of what may happen, and to whom. Handoffs are made by to-and-fro, drain and set. */
static const struct {
    enum fault_kind kind;
    uint32_t weight;
    enum role role;
} parts[] = {
    {FAULT_TO_AND_FRO, 5, ROLE_OTHER},     {FAULT_TO_AND_FRO, 4, ROLE_VICTIM},
    {FAULT_TO_AND_FRO, 2, ROLE_BACKUP},    {FAULT_SET, 4, ROLE_ANY},
    {FAULT_DRAIN, 2, ROLE_BACKUP},         {FAULT_DRAIN, 1, ROLE_VICTIM},
    {FAULT_EVICT_LIVE, 5, ROLE_VICTIM},    {FAULT_EVICT_LIVE, 2, ROLE_BACKUP},
    {FAULT_EVICT_DEAD, 4, ROLE_VICTIM},    {FAULT_EVICT_DEAD, 3, ROLE_BACKUP},
    {FAULT_EVICT_UNHEARD, 5, ROLE_VICTIM}, {FAULT_EVICT, 4, ROLE_VICTIM},
    {FAULT_EVICT, 2, ROLE_BACKUP},         {FAULT_CRASH_BEFORE, 2, ROLE_VICTIM},
    {FAULT_CRASH_INSIDE, 2, ROLE_BACKUP},  {FAULT_CRASH_AFTER, 2, ROLE_VICTIM},
    {FAULT_CRASH_INSIDE, 2, ROLE_ANY},     {FAULT_KILL, 4, ROLE_VICTIM},
    {FAULT_KILL, 2, ROLE_BACKUP},          {FAULT_LAG, 5, ROLE_VICTIM},
    {FAULT_LAG, 4, ROLE_BACKUP},           {FAULT_LAG, 3, ROLE_ORDERS},
    {FAULT_HOLD, 4, ROLE_VICTIM},          {FAULT_HOLD, 2, ROLE_BACKUP},
    {FAULT_HOLD, 3, ROLE_OTHER},           {FAULT_PASS, 3, ROLE_ANY},
    {FAULT_DEAF, 4, ROLE_VICTIM},          {FAULT_DEAF, 3, ROLE_ANY},
    {FAULT_LEASH, 3, ROLE_VICTIM},         {FAULT_CUT_ONE_WAY, 3, ROLE_ANY},
    {FAULT_CUT, 2, ROLE_VICTIM},           {FAULT_DISCONNECT, 2, ROLE_ANY},
    {FAULT_SUSPEND, 3, ROLE_VICTIM},       {FAULT_STOP, 2, ROLE_VICTIM},
    {FAULT_STOP, 2, ROLE_BACKUP},          {FAULT_STALLED_DISK, 2, ROLE_ANY},
    {FAULT_SLOW_DISK, 1, ROLE_ANY},        {FAULT_LOG_LOSES, 2, ROLE_ANY},
    {FAULT_DISOBEDIENT, 1, ROLE_ANY},      {FAULT_CLOCK_RATE, 1, ROLE_ANY},
    {FAULT_ROLL_BACK, 1, ROLE_VICTIM},     {FAULT_ROLL_BACK, 1, ROLE_ORDERS},
    {FAULT_ROLL_BACK_TWO, 1, ROLE_ORDERS}, {FAULT_EMPTY, 1, ROLE_VICTIM},
    {FAULT_EMPTY, 1, ROLE_ORDERS},         {FAULT_DEATH, 1, ROLE_VICTIM},
    {FAULT_JOIN, 2, ROLE_BACKUP},          {FAULT_RETURN, 2, ROLE_ANY},
};

/* Later than any run is long: when the step before has happened is not known yet. */
#define LATER_US INT64_C(1000000000000)

enum {
    N_PARTS = sizeof parts / sizeof *parts,
    LEAST_FAULTS = 3,
    SPREAD_FAULTS = 8,
    EVICTED_MS = (SUSPECT_US + CONFIRM_US + GRANT_US) / 1000 + 920
};

static size_t
draw_part(struct run *s)
{
    uint32_t total = 0;
    size_t part = 0;
    for (size_t i = 0; i < N_PARTS; i++)
        total += (s->options.kinds >> parts[i].kind & 1) != 0 ? parts[i].weight : 0;
    if (total == 0)
        return N_PARTS;
    for (uint32_t draw = lbm_rng_below(&s->rng, total);; part++) {
        uint32_t weight = (s->options.kinds >> parts[part].kind & 1) != 0 ? parts[part].weight : 0;
        if (draw < weight)
            return part;
        draw -= weight;
    }
}

static struct fault *
add_fault(struct run *s, enum fault_kind kind, int64_t at_us)
{
    if ((s->options.kinds >> kind & 1) == 0 || s->n_faults == RUN_FAULTS_MAX)
        return NULL;
    struct fault *f = &s->fault[s->n_faults++];
    *f = (struct fault){.kind = kind, .at_us = at_us};
    f->a = (uint32_t)lbm_rng_next(&s->rng);
    f->b = (uint32_t)lbm_rng_next(&s->rng);
    f->c = (uint32_t)lbm_rng_next(&s->rng);
    return f;
}

static void
draw_parts(struct run *s)
{
    uint32_t n = LEAST_FAULTS + lbm_rng_below(&s->rng, SPREAD_FAULTS);
    int64_t at = 0, pause = 300000 + lbm_rng_below(&s->rng, 3000000);
    for (uint32_t i = 0; i < n; i++) {
        size_t part = draw_part(s);
        at += (int64_t)(lbm_rng_unit(&s->rng) * 2 * (double)pause);
        struct fault *f = part != N_PARTS ? add_fault(s, parts[part].kind, at) : NULL;
        if (f == NULL)
            return;
        const struct fault_row *row = &fault_rows[f->kind];
        uint32_t most = row->most_ms < EVICTED_MS ? row->most_ms : EVICTED_MS;
        f->role = parts[part].role;
        f->lasts_us = (row->least_ms + (int64_t)lbm_rng_below(&s->rng, most - row->least_ms + 1)) * 1000;
        if (lbm_rng_below(&s->rng, 4) != 0)
            f->trigger = (enum trigger)lbm_rng_below(&s->rng, TRIGGER_COUNT);
        f->anyone = lbm_rng_below(&s->rng, 3) == 0;
    }
}

/* One host after the other is drained and takes part again, so that vertices go round and come back. */
static void
draw_carousel(struct run *s, uint32_t rounds)
{
    int64_t pace = 300000 + lbm_rng_below(&s->rng, 1200000);
    uint32_t first = lbm_rng_below(&s->rng, s->h.n);
    for (uint32_t i = 0; i < rounds; i++) {
        struct fault *f = add_fault(s, FAULT_TO_AND_FRO, i * pace);
        if (f == NULL)
            return;
        f->a = first + i;
        f->lasts_us = pace / 2 + lbm_rng_below(&s->rng, (uint32_t)pace);
    }
}

static int64_t
span_us(struct run *s, struct span span)
{
    return (span.ms + (int64_t)lbm_rng_below(&s->rng, span.spread_ms + 1)) * 1000;
}

/* What fault_lag takes for that. */
static uint32_t
lag_of(struct run *s, struct span late, uint32_t drawn)
{
    return late.ms != 0 ? (uint32_t)(span_us(s, late) - LAG_LEAST_US) : drawn;
}

/* Who does not hear of an eviction: the victim alone, or all but the successor, or some. */
static uint32_t
draw_deaf(struct run *s, enum role who, uint32_t some)
{
    if (who == ROLE_VICTIM || lbm_rng_below(&s->rng, 3) == 0)
        return UINT32_C(1) << s->victim % 32;
    return lbm_rng_below(&s->rng, 2) == 0 ? UINT32_MAX : some;
}

/* The first step has a time; each other one gets it when the one before has happened. */
static void
draw_scenario(struct run *s)
{
    uint32_t steps = 0;
    int64_t gap = 500000 + lbm_rng_below(&s->rng, 1500000);
    for (uint32_t i = 0; i < s->directed_scenario->n; i++) {
        const struct step *step = &s->directed_scenario->step[i];
        gap += span_us(s, step->after);
        int64_t then = span_us(s, step->then), lasts = span_us(s, step->lasts);
        struct fault *f = add_fault(s, step->kind, steps == 0 ? gap : LATER_US + steps);
        if (f == NULL)
            continue;
        f->step = ++steps;
        f->gap_us = gap;
        f->role = step->role;
        f->role_b = step->role_b;
        f->trigger = step->trigger;
        f->at = step->at;
        f->then_us = then;
        f->lasts_us = lasts;
        f->held = step->held;
        if (step->kind == FAULT_LAG)
            f->c = lag_of(s, step->late, f->c) & ~1u; /* the one link alone */
        if (step->kind == FAULT_EVICT_UNHEARD)
            f->c = draw_deaf(s, step->role_b, f->c);
        gap = 0;
    }
}

void
directed_draw_scenario(struct run *s)
{
    uint32_t total = 0, i = 0;
    if (lbm_rng_below(&s->rng, 3) == 0)
        return;
    for (uint32_t k = 0; k < n_directed_scenarios; k++)
        total += 1 + directed_scenarios[k].more;
    for (uint32_t draw = lbm_rng_below(&s->rng, total); draw > directed_scenarios[i].more; i++)
        draw -= 1 + directed_scenarios[i].more;
    s->directed_scenario = &directed_scenarios[i];
}

/* A host that refuses what it is offered; records that go as soon as they may. */
void
directed_draw_options(struct run *s)
{
    struct cluster_options *o = &s->cluster_options;
    const struct directed_scenario *directed_scenario = s->directed_scenario;
    s->victim = lbm_rng_below(&s->rng, s->h.n);
    s->other = lbm_rng_below(&s->rng, s->h.n);
    o->late = 0;
    o->etcd = LBM_ETCD_ABILITY_UNKNOWN; /* the log stays where the scenario has it */
    s->has_etcd = 0;
    o->tombstone_us = 200000 + lbm_rng_below(&s->rng, 3000000);
    if (directed_scenario != NULL && directed_scenario->engine != DIRECTED_ANY_ENGINE) {
        o->engine = (enum lbm_log_engine)directed_scenario->engine;
        if (o->engine == LBM_LOG_ENGINE_LOCAL && s->victim == 0) /* who founds the cluster cannot go */
            s->victim = 1;
    }
    enum role limited = directed_scenario != NULL ? directed_scenario->limited : ROLE_ANY;
    if (limited == ROLE_ANY && lbm_rng_below(&s->rng, 4) != 0)
        return;
    o->limited_host = limited == ROLE_VICTIM ? s->victim : lbm_rng_below(&s->rng, s->h.n);
    o->vertices_max = 1 + lbm_rng_below(&s->rng, 6);
    if (directed_scenario != NULL && directed_scenario->room != 0)
        o->vertices_max = directed_scenario->room;
}

static int
by_time(const void *a, const void *b)
{
    const struct fault *x = a, *y = b;
    return (x->at_us > y->at_us) - (x->at_us < y->at_us);
}

void
directed_draw_faults(struct run *s)
{
    uint32_t rounds =
        lbm_rng_below(&s->rng, 4) == 0 ? 6 + lbm_rng_below(&s->rng, 12) : lbm_rng_below(&s->rng, 5);
    /* Most directed scenarios are left alone. */
    int is_mixed = s->directed_scenario == NULL || lbm_rng_below(&s->rng, 3) == 0;
    if (is_mixed)
        draw_carousel(s, rounds);
    if (s->directed_scenario != NULL)
        draw_scenario(s);
    if (is_mixed)
        draw_parts(s);
    /* Times that are the same keep their order nowhere: make them differ. */
    for (uint32_t i = 0; i < s->n_faults; i++)
        s->fault[i].at_us += i;
    qsort(s->fault, s->n_faults, sizeof *s->fault, by_time);
}

static uint32_t
backup_of_victim(struct run *s)
{
    uint32_t backup = cluster_is_stopped(s->cluster, s->victim) ? LBM_NONE : run_backup(s, s->victim);
    if (backup != LBM_NONE)
        s->victims_backup = backup;
    return s->victims_backup != LBM_NONE ? s->victims_backup : (s->victim + 1) % s->h.n;
}

uint32_t
directed_host(struct run *s, enum role role, uint32_t drawn)
{
    uint32_t backup = backup_of_victim(s), leader = LBM_NONE;
    switch (role) {
    case ROLE_VICTIM:
        return s->victim;
    case ROLE_BACKUP:
        return backup;
    case ROLE_ORDERS:
        for (uint32_t p = 0; p < s->h.n && leader == LBM_NONE; p++)
            if (cluster_is_up(s->cluster, p) && !cluster_is_stopped(s->cluster, p))
                leader = run_leader(s, p);
        return leader != LBM_NONE ? leader : drawn % s->h.n;
    case ROLE_OTHER:
        for (uint32_t i = 0; i < s->h.n; i++) {
            uint32_t p = ((s->directed_scenario != NULL ? s->other : drawn) + i) % s->h.n;
            if (p != s->victim && p != backup)
                return p;
        }
        return drawn % s->h.n;
    case ROLE_ANY:
        break;
    }
    return drawn % s->h.n;
}
