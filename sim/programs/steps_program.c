/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs of lbmap_steps. What one loop over all vertices comes to is computed beforehand; every state that
 * a program sees is compared with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lbmap_steps.h"
#include "sim/programs/programs.h"

enum {
    WORK_OF_JOB = 5000, /* steps of all vertices together, about */
    STEPS_LEAST = 24,
    STEPS_MOST = 240,
    TAIL_MOST = 1000,   /* bytes that a state may have beyond its number, */
    TAIL_SHORT = 24,    /* in jobs with short ones */
    LONG_ONE_IN = 1500, /* steps, of those that take up to: */
    LONG_US = 1700000,  /* less than the 2 s that a program is promised */
};

enum share { SHARE_ALL, SHARE_SOME, SHARE_EACH, SHARES };

struct steps_truth {
    struct lbmap_steps program; /* but for context */
    enum share share;
    uint32_t step_us, tail;
    uint64_t *state;             /* [(steps + 1) * n] */
    double *value;               /* [steps / every + 1] of the job after that many periods */
    uint64_t stable;             /* some program was told */
    uint32_t n_given;            /* vertices of which the result was given, */
    const struct program *giver; /* to this one */
};

static const struct steps_truth *
truth_of(const struct program *p)
{
    return p->of->truth;
}

static uint64_t
state_at(const struct program_job *of, uint64_t step, uint32_t vertex)
{
    const struct steps_truth *truth = of->truth;
    return truth->state[step * of->n + vertex];
}

/* ---- what a state looks like -----------------------------------------------------------------------------
 */

static size_t
state_write(const struct steps_truth *truth, uint64_t number, uint8_t *bytes)
{
    size_t len = truth->program.length != NULL ? 8 + number % (truth->tail + 1) : 8;
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(i < 8 ? number >> (8 * i) : hash_number(number, i));
    return len;
}

static uint64_t
number_of(const void *bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < 8; i++)
        number |= (uint64_t)((const uint8_t *)bytes)[i] << (8 * i);
    return number;
}

static int
is_state(const struct steps_truth *truth, uint64_t number, const void *bytes, size_t len)
{
    uint8_t expected[8 + TAIL_MOST];
    return len == state_write(truth, number, expected) && memcmp(bytes, expected, len) == 0;
}

/* What a neighbour sees of a state, as a number. */
static uint64_t
seen_of(const struct steps_truth *truth, uint64_t number, uint32_t neighbour)
{
    return truth->share == SHARE_ALL    ? number
           : truth->share == SHARE_SOME ? hash_number(number, 1)
                                        : hash_number(number, 2 + (uint64_t)neighbour);
}

/* ---- the loop --------------------------------------------------------------------------------------------
 */

static double
contribution(uint64_t number)
{
    return (double)(number % 1000003) / 7;
}

static uint64_t
bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t
begin_number(const struct program_job *of, uint32_t vertex)
{
    return hash_number(of->cluster->options.seed, vertex);
}

static void
compute_all(struct program_job *of)
{
    struct steps_truth *truth = of->truth;
    const struct lbmap_steps *p = &truth->program;
    truth->state = lbm_alloc((p->steps + 1) * of->n, sizeof *truth->state);
    truth->value = lbm_alloc(p->every != 0 ? p->steps / p->every + 1 : 1, sizeof *truth->value);
    for (uint32_t v = 0; v < of->n; v++)
        truth->state[v] = begin_number(of, v);
    for (uint64_t s = 0; s < p->steps; s++) {
        if (p->every != 0 && s != 0 && s % p->every == 0) {
            double sum = contribution(state_at(of, s, 0));
            for (uint32_t v = 1; v < of->n; v++)
                sum += contribution(state_at(of, s, v));
            truth->value[s / p->every] = sum;
        }
        for (uint32_t v = 0; v < of->n; v++) {
            uint64_t number = hash_number(state_at(of, s, v), s);
            for (uint64_t e = of->g.offset[v]; e < of->g.offset[v + 1]; e++)
                number = hash_number(hash_number(number, of->g.weight[e]),
                                     seen_of(truth, state_at(of, s, of->g.target[e]), v));
            if (p->every != 0 && s >= 2 * p->every)
                number = hash_number(number, bits_of(truth->value[s / p->every - 1]));
            truth->state[(s + 1) * of->n + v] = number;
        }
    }
}

/* ---- callbacks -------------------------------------------------------------------------------------------
 */

static void
init(void *context, uint32_t vertex, void *state)
{
    const struct program *p = context;
    state_write(truth_of(p), begin_number(p->of, vertex), state);
}

static size_t
length(void *context, uint32_t vertex, const void *state)
{
    uint8_t all[8 + TAIL_MOST];
    (void)vertex;
    return state_write(truth_of(context), number_of(state), all);
}

static size_t
share(void *context, uint32_t vertex, const void *state, size_t size, void *shared)
{
    uint64_t seen = seen_of(truth_of(context), number_of(state), 0);
    (void)vertex;
    (void)size;
    memcpy(shared, &seen, sizeof seen);
    return sizeof seen;
}

static size_t
share_with(void *context, uint32_t vertex, uint32_t neighbour, const void *state, size_t size, void *shared)
{
    uint64_t seen = seen_of(truth_of(context), number_of(state), neighbour);
    (void)vertex;
    (void)size;
    memcpy(shared, &seen, sizeof seen);
    return sizeof seen;
}

static double
load(void *context, uint32_t vertex)
{
    (void)vertex;
    return 1 + program_draw(context, 4);
}

/* P2: what a step is made from is what one loop has there. */
static void
check_step(struct program *p, const struct lbmap_step *s)
{
    const struct steps_truth *truth = truth_of(p);
    const struct lbm_graph *g = &p->of->g;
    uint64_t first = g->offset[s->vertex], every = truth->program.every;
    if (!is_state(truth, state_at(p->of, s->step, s->vertex), s->state, s->size))
        program_violates(p, "P2", "vertex %" PRIu32 " has another state after %" PRIu64 " steps", s->vertex,
                         s->step);
    if (s->degree != g->offset[s->vertex + 1] - first)
        program_violates(p, "P2", "vertex %" PRIu32 " has %zu neighbours", s->vertex, s->degree);
    for (size_t i = 0; i < s->degree && s->degree == g->offset[s->vertex + 1] - first; i++) {
        const struct lbmap_neighbour *other = &s->neighbour[i];
        uint64_t number = state_at(p->of, s->step, other->vertex);
        uint64_t seen = seen_of(truth, number, s->vertex);
        int is_right = truth->share == SHARE_ALL ? is_state(truth, number, other->state, other->size)
                                                 : other->size == 8 && number_of(other->state) == seen;
        if (!is_right || other->vertex != g->target[first + i] || other->weight != g->weight[first + i])
            program_violates(p, "P2",
                             "vertex %" PRIu32 " sees another state of %" PRIu32 " after %" PRIu64 " steps",
                             s->vertex, other->vertex, s->step);
    }
    int has_value = every != 0 && s->step >= 2 * every;
    uint64_t period = has_value ? s->step / every - 1 : 0;
    if (has_value != (s->value != NULL) ||
        (has_value &&
         (s->value_step != period * every || memcmp(s->value, &truth->value[period], sizeof(double)) != 0)))
        program_violates(p, "P2", "vertex %" PRIu32 " sees another value of the job in step %" PRIu64,
                         s->vertex, s->step);
    if (s->step < truth->stable)
        program_violates(p, "P3", "vertex %" PRIu32 " does step %" PRIu64 " again; stable were %" PRIu64,
                         s->vertex, s->step, truth->stable);
}

static void
do_step(void *context, const struct lbmap_step *s, void *after)
{
    struct program *p = context;
    const struct steps_truth *truth = truth_of(p);
    int is_long = program_draw(p, LONG_ONE_IN) == 0;
    if (p->is_dead)
        return;
    trace(p->of->cluster, p->host, "program %" PRIu32 " does step %" PRIu64 " of vertex %" PRIu32, p->number,
          s->step, s->vertex);
    check_step(p, s);
    state_write(truth, state_at(p->of, s->step + 1, s->vertex), after);
    (void)program_works(p, s->vertex, 1 + program_draw(p, is_long ? LONG_US : 2 * truth->step_us));
}

static void
contribute(void *context, uint32_t vertex, const void *state, size_t size, void *value)
{
    double mine = contribution(number_of(state));
    (void)context;
    (void)vertex;
    (void)size;
    memcpy(value, &mine, sizeof mine);
}

static void
combine(void *context, void *into, const void *value)
{
    double sum, other;
    (void)context;
    memcpy(&sum, into, sizeof sum);
    memcpy(&other, value, sizeof other);
    sum += other;
    memcpy(into, &sum, sizeof sum);
}

static void
reduced(void *context, uint64_t at, const void *value)
{
    struct program *p = context;
    const struct steps_truth *truth = truth_of(p);
    uint64_t period = at / truth->program.every;
    if (at % truth->program.every != 0 || period > truth->program.steps / truth->program.every ||
        (at < truth->program.steps && memcmp(value, &truth->value[period], sizeof(double)) != 0))
        program_violates(p, "P2", "the value of the job after %" PRIu64 " steps is another one", at);
}

static void
stable(void *context, uint64_t at)
{
    struct program *p = context;
    struct steps_truth *truth = p->of->truth;
    if (p->is_dead)
        return;
    trace(p->of->cluster, p->host, "program %" PRIu32 " is told that step %" PRIu64 " is stable", p->number,
          at);
    truth->stable = at > truth->stable ? at : truth->stable;
}

static void
result(void *context, uint32_t vertex, const void *state, size_t size)
{
    struct program *p = context;
    struct steps_truth *truth = p->of->truth;
    if (p->is_dead)
        return;
    if (!is_state(truth, state_at(p->of, truth->program.steps, vertex), state, size))
        program_violates(p, "P2", "the result of vertex %" PRIu32 " is another one", vertex);
    truth->n_given = vertex == 0 ? 0 : truth->n_given;
    if (truth->n_given != vertex)
        program_violates(p, "P2", "results do not come in order");
    p->of->is_done |= ++truth->n_given == p->of->n;
}

/* ---- programs --------------------------------------------------------------------------------------------
 */

static void
begin(struct program_job *of)
{
    struct steps_truth *truth = lbm_alloc(1, sizeof *truth);
    struct lbmap_steps *p = &truth->program;
    uint64_t steps = WORK_OF_JOB / of->n;
    steps = steps < STEPS_LEAST ? STEPS_LEAST : steps > STEPS_MOST ? STEPS_MOST : steps;
    of->truth = truth;
    truth->share = (enum share)lbm_rng_below(&of->rng, SHARES);
    /* With long ones what neighbours see is shorter, as a rule. */
    truth->tail = begin_number(of, of->n) % 2 != 0 ? TAIL_MOST : TAIL_SHORT;
    truth->step_us = 500 + lbm_rng_below(&of->rng, 8000);
    *p = (struct lbmap_steps){.size = sizeof *p,
                              .job = of->name,
                              .socket_path = "socket",
                              .steps = steps / 2 + lbm_rng_below(&of->rng, (uint32_t)steps),
                              .state_size = 8 + truth->tail,
                              .keep = 1 + lbm_rng_below(&of->rng, 12),
                              .init = init,
                              .step = do_step,
                              .result = result};
    if (lbm_rng_below(&of->rng, 2) != 0)
        p->length = length;
    else
        p->state_size = 8;
    if (lbm_rng_below(&of->rng, 2) != 0)
        p->load = load;
    if (lbm_rng_below(&of->rng, 4) != 0)
        p->stable = stable;
    if (lbm_rng_below(&of->rng, 3) == 0) {
        p->every = 1 + lbm_rng_below(&of->rng, 20);
        p->value_size = sizeof(double);
        p->contribute = contribute;
        p->combine = combine;
        p->reduced = reduced;
    }
    p->share_size = truth->share == SHARE_ALL ? 0 : 8;
    p->share = truth->share == SHARE_SOME ? share : NULL;
    p->share_with = truth->share == SHARE_EACH ? share_with : NULL;
    if (p->load != NULL)
        of->cluster->check.loads_change = 1;
    compute_all(of);
}

static void
end(struct program_job *of)
{
    struct steps_truth *truth = of->truth;
    free(truth->state);
    free(truth->value);
    free(truth);
}

static enum lbmap_error
main_of_steps(struct program *p, char *message, size_t len)
{
    struct lbmap_steps program = truth_of(p)->program;
    program.context = p;
    program.stop = &p->stop;
    return lbmap_steps(&program, message, len);
}

static void
tell(const struct program_job *of, char *text, size_t len)
{
    const struct steps_truth *truth = of->truth;
    snprintf(text, len, "has no results of %" PRIu64 " steps, stable are %" PRIu64, truth->program.steps,
             truth->stable);
}

const struct program_kind program_steps = {
    .name = "steps", .begin = begin, .end = end, .main = main_of_steps, .tell = tell};
