/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drills: few hosts and vertices, and within seconds several things that happen to one host, its buddy and
 * those that hand vertices to them, most of them at the moment of a message or an entry of the control log.
 */
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

/* A host that refuses what it is offered; records that go as soon as they may. */
void
drill_draw_options(struct story *s)
{
    struct cluster_options *o = &s->cluster_options;
    o->late = 0;
    o->tombstone_us = 200000 + lbm_rng_below(&s->rng, 8000000);
    if (lbm_rng_below(&s->rng, 3) == 0) {
        o->limited_host = lbm_rng_below(&s->rng, s->h.n);
        o->vertices_max = 1 + lbm_rng_below(&s->rng, 6);
    }
}

void
drill_draw_faults(struct story *s)
{
    uint32_t n = LEAST_FAULTS + lbm_rng_below(&s->rng, SPREAD_FAULTS);
    int64_t at = 0, pause = 300000 + lbm_rng_below(&s->rng, 3000000);
    s->victim = (uint32_t)lbm_rng_next(&s->rng) % s->h.n;
    for (uint32_t i = 0; i < n; i++) {
        size_t part = draw_part(s);
        if (part == N_PARTS)
            return;
        const struct fault_row *row = &fault_rows[parts[part].kind];
        uint32_t most = row->most_ms < EVICTED_MS ? row->most_ms : EVICTED_MS;
        struct fault *f = &s->fault[i];
        at += (int64_t)(lbm_rng_unit(&s->rng) * 2 * (double)pause);
        *f = (struct fault){.kind = parts[part].kind, .role = parts[part].role, .at_us = at};
        f->lasts_us = (row->least_ms + (int64_t)lbm_rng_below(&s->rng, most - row->least_ms + 1)) * 1000;
        f->a = (uint32_t)lbm_rng_next(&s->rng);
        f->b = (uint32_t)lbm_rng_next(&s->rng);
        f->c = (uint32_t)lbm_rng_next(&s->rng);
        if (lbm_rng_below(&s->rng, 4) != 0)
            f->moment = (enum moment)lbm_rng_below(&s->rng, MOMENT_COUNT);
        f->anyone = lbm_rng_below(&s->rng, 3) == 0;
        s->n_faults = i + 1;
    }
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
