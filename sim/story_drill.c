/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drills: few hosts and vertices, and within seconds several things that happen to one host, its buddy and
 * those that hand vertices to them, most of them at the moment of a message or an entry of the control log.
 */
#include <stdlib.h>

#include "sim/story.h"

/* Weights of what may happen, and to whom. Handoffs are made by to-and-fro, drain and set. */
static const struct {
    enum fault_kind kind;
    uint32_t weight;
    enum role role;
} parts[] = {
    {FAULT_TO_AND_FRO, 5, ROLE_OTHER},
    {FAULT_TO_AND_FRO, 4, ROLE_VICTIM},
    {FAULT_TO_AND_FRO, 2, ROLE_BUDDY},
    {FAULT_SET, 4, ROLE_ANY},
    {FAULT_DRAIN, 2, ROLE_BUDDY},
    {FAULT_DRAIN, 1, ROLE_VICTIM},
    {FAULT_EVICT_LIVE, 5, ROLE_VICTIM},
    {FAULT_EVICT_LIVE, 2, ROLE_BUDDY},
    {FAULT_EVICT_DEAD, 4, ROLE_VICTIM},
    {FAULT_EVICT_DEAD, 3, ROLE_BUDDY},
    {FAULT_EVICT_UNHEARD, 5, ROLE_VICTIM},
    {FAULT_EVICT, 4, ROLE_VICTIM},
    {FAULT_EVICT, 2, ROLE_BUDDY},
    {FAULT_CRASH_BEFORE, 2, ROLE_VICTIM},
    {FAULT_CRASH_INSIDE, 2, ROLE_BUDDY},
    {FAULT_CRASH_AFTER, 2, ROLE_VICTIM},
    {FAULT_CRASH_INSIDE, 2, ROLE_ANY},
    {FAULT_KILL, 4, ROLE_VICTIM},
    {FAULT_KILL, 2, ROLE_BUDDY},
    {FAULT_LAG, 5, ROLE_VICTIM},
    {FAULT_LAG, 4, ROLE_BUDDY},
    {FAULT_LAG, 3, ROLE_ORDERS},
    {FAULT_DEAF, 4, ROLE_VICTIM},
    {FAULT_DEAF, 3, ROLE_ANY},
    {FAULT_LEASH, 3, ROLE_VICTIM},
    {FAULT_CUT_ONE_WAY, 3, ROLE_ANY},
    {FAULT_CUT, 2, ROLE_VICTIM},
    {FAULT_DISCONNECT, 2, ROLE_ANY},
    {FAULT_SUSPEND, 3, ROLE_VICTIM},
    {FAULT_STOP, 2, ROLE_VICTIM},
    {FAULT_STOP, 2, ROLE_BUDDY},
    {FAULT_STALLED_DISK, 2, ROLE_ANY},
    {FAULT_SLOW_DISK, 1, ROLE_ANY},
    {FAULT_LOG_LOSES, 2, ROLE_ANY},
    {FAULT_DISOBEDIENT, 1, ROLE_ANY},
    {FAULT_CLOCK_RATE, 1, ROLE_ANY},
    {FAULT_ROLL_BACK, 1, ROLE_VICTIM},
    {FAULT_DEATH, 1, ROLE_VICTIM},
    {FAULT_JOIN, 2, ROLE_BUDDY},
    {FAULT_RETURN, 2, ROLE_ANY},
};

enum { N_PARTS = sizeof parts / sizeof *parts, LEAST_FAULTS = 3, SPREAD_FAULTS = 8, EVICTED_MS = 14000 };

static size_t
draw_part(struct story *s)
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

/* What is known to be delicate, step by step. Milliseconds are after the step before. */
struct step {
    enum fault_kind kind;
    enum role role, role_b;
    enum moment moment;
    enum role at;
    uint32_t after_ms, after_spread_ms, lasts_ms, lasts_spread_ms;
};

enum { STEPS_MAX = 3 };

static const struct figure {
    struct step step[STEPS_MAX];
    uint32_t n;
    enum role limited; /* refuses what it is offered; ROLE_ANY: nobody */
} figures[] = {
    /* The victim's refusal does not come back to its buddy, who knows of it by the replica. */
    {{{FAULT_LAG, ROLE_BUDDY, ROLE_VICTIM, MOMENT_OFFER, ROLE_VICTIM, 0, 2000, 3000, 5000},
      {FAULT_EVICT_DEAD, ROLE_VICTIM, ROLE_ANY, MOMENT_NONE, ROLE_ANY, 30, 600, 6500, 6000}},
     2,
     ROLE_VICTIM},
    /* The heir has refused what it inherits, and the victim never heard. */
    {{{FAULT_EVICT_DEAD, ROLE_VICTIM, ROLE_ANY, MOMENT_OFFER, ROLE_BUDDY, 0, 3000, 6500, 6000}},
     1,
     ROLE_BUDDY},
    /* A new buddy, and the victim is cut off under its first lease. */
    {{{FAULT_DRAIN, ROLE_BUDDY, ROLE_ANY, MOMENT_NONE, ROLE_ANY, 0, 1000, 0, 0},
      {FAULT_EVICT_LIVE, ROLE_VICTIM, ROLE_ANY, MOMENT_LEAVE, ROLE_ANY, 100, 500, 9000, 5000}},
     2,
     ROLE_ANY},
    {{{FAULT_EVICT_DEAD, ROLE_BUDDY, ROLE_ANY, MOMENT_STAGE, ROLE_ANY, 0, 1000, 9000, 9000},
      {FAULT_EVICT_LIVE, ROLE_VICTIM, ROLE_ANY, MOMENT_IN_SYNC, ROLE_ANY, 4000, 2000, 7000, 7000}},
     2,
     ROLE_ANY},
    /* Some go on as if the victim were there, and it comes back or does not know either. */
    {{{FAULT_EVICT_UNHEARD, ROLE_VICTIM, ROLE_ANY, MOMENT_OFFER, ROLE_VICTIM, 500, 4000, 9000, 12000}},
     1,
     ROLE_ANY},
    {{{FAULT_EVICT_UNHEARD, ROLE_VICTIM, ROLE_ANY, MOMENT_STAGE, ROLE_VICTIM, 500, 4000, 9000, 12000}},
     1,
     ROLE_ANY},
    /* A refusal comes late, and the offer again and again. */
    {{{FAULT_LAG, ROLE_VICTIM, ROLE_OTHER, MOMENT_OFFER, ROLE_VICTIM, 0, 2000, 3000, 9000},
      {FAULT_LAG, ROLE_VICTIM, ROLE_BUDDY, MOMENT_NONE, ROLE_ANY, 0, 100, 3000, 9000}},
     2,
     ROLE_VICTIM},
    /* One buddy after the other goes while vertices move. */
    {{{FAULT_EVICT_DEAD, ROLE_VICTIM, ROLE_ANY, MOMENT_OFFER, ROLE_VICTIM, 0, 2000, 20000, 9000},
      {FAULT_EVICT_DEAD, ROLE_BUDDY, ROLE_ANY, MOMENT_IN_SYNC, ROLE_ANY, 9000, 3000, 9000, 9000}},
     2,
     ROLE_ANY},
    /* The heir of the victim is leaving. */
    {{{FAULT_DRAIN, ROLE_BUDDY, ROLE_ANY, MOMENT_NONE, ROLE_ANY, 0, 1000, 0, 0},
      {FAULT_EVICT, ROLE_VICTIM, ROLE_ANY, MOMENT_NONE, ROLE_ANY, 0, 1500, 0, 0}},
     2,
     ROLE_ANY},
    {{{FAULT_EVICT_DEAD, ROLE_VICTIM, ROLE_ANY, MOMENT_OFFER, ROLE_VICTIM, 0, 1000, 9000, 9000},
      {FAULT_DRAIN, ROLE_BUDDY, ROLE_ANY, MOMENT_NONE, ROLE_ANY, 1000, 4500, 0, 0}},
     2,
     ROLE_ANY},
    /* A daemon is killed while its application works on what is asked for. */
    {{{FAULT_KILL, ROLE_VICTIM, ROLE_ANY, MOMENT_STAGE, ROLE_VICTIM, 0, 1500, 300, 600}}, 1, ROLE_ANY},
    /* The heir is away while what it granted lasts, and after. */
    {{{FAULT_EVICT_LIVE, ROLE_VICTIM, ROLE_ANY, MOMENT_LEASE, ROLE_VICTIM, 0, 2000, 9000, 5000},
      {FAULT_KILL, ROLE_BUDDY, ROLE_ANY, MOMENT_EVICT, ROLE_ANY, 4000, 1500, 300, 1200}},
     2,
     ROLE_ANY},
};

enum { N_FIGURES = sizeof figures / sizeof *figures };

static struct fault *
add_fault(struct story *s, enum fault_kind kind, int64_t at_us)
{
    if ((s->options.kinds >> kind & 1) == 0 || s->n_faults == STORY_FAULTS_MAX)
        return NULL;
    struct fault *f = &s->fault[s->n_faults++];
    *f = (struct fault){.kind = kind, .at_us = at_us};
    f->a = (uint32_t)lbm_rng_next(&s->rng);
    f->b = (uint32_t)lbm_rng_next(&s->rng);
    f->c = (uint32_t)lbm_rng_next(&s->rng);
    return f;
}

static void
draw_parts(struct story *s)
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
            f->moment = (enum moment)lbm_rng_below(&s->rng, MOMENT_COUNT);
        f->anyone = lbm_rng_below(&s->rng, 3) == 0;
    }
}

/* One host after the other is drained and takes part again, so that vertices go round and come back. */
static void
draw_carousel(struct story *s, uint32_t rounds)
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

static void
draw_figure(struct story *s, const struct figure *figure)
{
    int64_t at = 500000 + lbm_rng_below(&s->rng, 1500000);
    for (uint32_t i = 0; i < figure->n; i++) {
        const struct step *step = &figure->step[i];
        at += (step->after_ms + (int64_t)lbm_rng_below(&s->rng, step->after_spread_ms + 1)) * 1000;
        struct fault *f = add_fault(s, step->kind, at);
        if (f == NULL)
            continue;
        f->role = step->role;
        f->role_b = step->role_b;
        f->moment = step->moment;
        f->at = step->at;
        f->lasts_us = (step->lasts_ms + (int64_t)lbm_rng_below(&s->rng, step->lasts_spread_ms + 1)) * 1000;
        if (step->kind == FAULT_LAG)
            f->c &= ~1u; /* the one link alone */
    }
}

/* A host that refuses what it is offered; records that go as soon as they may. */
void
drill_draw_options(struct story *s)
{
    struct cluster_options *o = &s->cluster_options;
    s->victim = lbm_rng_below(&s->rng, s->h.n);
    s->figure = lbm_rng_below(&s->rng, 2) != 0 ? lbm_rng_below(&s->rng, N_FIGURES) : N_FIGURES;
    o->late = 0;
    o->tombstone_us = 200000 + lbm_rng_below(&s->rng, 3000000);
    enum role limited = s->figure < N_FIGURES ? figures[s->figure].limited : ROLE_ANY;
    if (limited == ROLE_ANY && lbm_rng_below(&s->rng, 4) != 0)
        return;
    o->limited_host = limited == ROLE_VICTIM ? s->victim : lbm_rng_below(&s->rng, s->h.n);
    o->vertices_max = 1 + lbm_rng_below(&s->rng, 6);
}

static int
by_time(const void *a, const void *b)
{
    const struct fault *x = a, *y = b;
    return (x->at_us > y->at_us) - (x->at_us < y->at_us);
}

void
drill_draw_faults(struct story *s)
{
    uint32_t rounds =
        lbm_rng_below(&s->rng, 4) == 0 ? 6 + lbm_rng_below(&s->rng, 12) : lbm_rng_below(&s->rng, 5);
    draw_carousel(s, rounds);
    if (s->figure < N_FIGURES)
        draw_figure(s, &figures[s->figure]);
    if (s->figure == N_FIGURES || lbm_rng_below(&s->rng, 3) == 0)
        draw_parts(s);
    /* Times that are the same keep their order nowhere: make them differ. */
    for (uint32_t i = 0; i < s->n_faults; i++)
        s->fault[i].at_us += i;
    qsort(s->fault, s->n_faults, sizeof *s->fault, by_time);
}

static uint32_t
buddy_of_victim(struct story *s)
{
    uint32_t buddy = cluster_is_stopped(s->cluster, s->victim) ? LBM_NONE : story_buddy(s, s->victim);
    if (buddy != LBM_NONE)
        s->victims_buddy = buddy;
    return s->victims_buddy != LBM_NONE ? s->victims_buddy : (s->victim + 1) % s->h.n;
}

uint32_t
drill_host(struct story *s, enum role role, uint32_t drawn)
{
    uint32_t buddy = buddy_of_victim(s), founder = LBM_NONE;
    switch (role) {
    case ROLE_VICTIM:
        return s->victim;
    case ROLE_BUDDY:
        return buddy;
    case ROLE_ORDERS:
        for (uint32_t p = 0; p < s->h.n && founder == LBM_NONE; p++)
            if (cluster_is_up(s->cluster, p) && !cluster_is_stopped(s->cluster, p))
                founder = story_founder(s, p);
        return founder != LBM_NONE ? founder : drawn % s->h.n;
    case ROLE_OTHER:
        for (uint32_t i = 0; i < s->h.n; i++) {
            uint32_t p = (drawn + i) % s->h.n;
            if (p != s->victim && p != buddy)
                return p;
        }
        return drawn % s->h.n;
    case ROLE_ANY:
        break;
    }
    return drawn % s->h.n;
}
