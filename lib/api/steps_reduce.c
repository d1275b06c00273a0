/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Values of the whole job: what all vertices contribute after the steps `every`, 2 every and so on, combined
 * in the order of vertices by the collector. A step waits for the value of a period before its own, so there
 * is no barrier.
 *
 * Invariants. (1) A contribution follows from a state alone, and a value from all contributions: whoever
 * works it out gets the same. (2) The payload of a vertex has its contributions of the last `periods`. A step
 * waits for the value that all vertices have contributed to two periods before, and a vertex that begins
 * again does so no more than a window back; so what a value is made from that anybody may need is in the
 * payloads of all. (3) No message needs to arrive: a program that lacks a value asks the collector, which
 * asks all. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "api/steps.h"
#include "base/check.h"

enum { ASK_MS = 100 }; /* for a value, or contributions, again */

/* The values of one step, while they come in. */
struct lbm_sum {
    uint64_t step;
    uint32_t n;        /* vertices that have contributed */
    uint8_t *value;    /* [vertices * value_size] */
    uint8_t *is_there; /* [vertices] */
    uint8_t *whole;    /* [value_size] all of them; NULL: not yet */
    int64_t asked_ms;  /* programs were asked for what lacks; 0: not yet */
};

uint64_t
lbm_reduce_periods(const struct lbmap_steps *program, uint64_t window)
{
    return program->every != 0 ? 5 + (window + program->every - 1) / program->every : 0;
}

/* Of a step that a vertex is about to do: after which step the value was taken that it sees; 0: none yet. */
static uint64_t
seen_at(const struct lbm_steps *steps, uint64_t step)
{
    const uint64_t every = steps->program.every;
    return every != 0 && step / every >= 2 ? (step / every - 1) * every : 0;
}

static struct lbm_sum *
sum_known(const struct lbm_steps *steps, uint64_t step)
{
    for (size_t i = 0; i < steps->sums.n; i++)
        if (steps->sums.at[i]->step == step)
            return steps->sums.at[i];
    return NULL;
}

static void
free_sum(struct lbm_sum *sum)
{
    free(sum->value);
    free(sum->is_there);
    free(sum->whole);
    free(sum);
}

static int
by_step(const void *a, const void *b)
{
    uint64_t x = (*(struct lbm_sum *const *)a)->step, y = (*(struct lbm_sum *const *)b)->step;
    return (x > y) - (x < y);
}

/* Those that no vertex can need again are forgotten. */
static void
forget_old(struct lbm_steps *steps)
{
    if (steps->sums.n <= 2 * steps->periods)
        return;
    qsort(steps->sums.at, steps->sums.n, sizeof *steps->sums.at, by_step);
    size_t old = steps->sums.n - (size_t)(2 * steps->periods);
    for (size_t i = 0; i < old; i++)
        free_sum(steps->sums.at[i]);
    memmove(steps->sums.at, steps->sums.at + old, (steps->sums.n - old) * sizeof *steps->sums.at);
    steps->sums.n -= old;
}

/* Out: NULL if memory is short, which is noted, or no such value can be. */
static struct lbm_sum *
sum_of(struct lbm_steps *steps, uint64_t step)
{
    struct lbm_sum *sum = sum_known(steps, step);
    if (sum != NULL || steps->program.every == 0 || step == 0 || step % steps->program.every != 0 ||
        step > steps->program.steps)
        return sum;
    forget_old(steps);
    sum = lbm_alloc(1, sizeof *sum);
    if (sum == NULL || lbm_vec_push(&steps->sums, sum) != LBM_OK) {
        free(sum);
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for a value of the job");
        return NULL;
    }
    sum->step = step;
    return sum;
}

/* ---- values -------------------------------------------------------------------------------------------- */

const void *
lbm_reduce_value(const struct lbm_steps *steps, uint64_t step, uint64_t *at)
{
    *at = seen_at(steps, step);
    const struct lbm_sum *sum = *at != 0 ? sum_known(steps, *at) : NULL;
    return sum != NULL ? sum->whole : NULL;
}

int
lbm_reduce_is_there(const struct lbm_steps *steps, uint64_t step)
{
    uint64_t at;
    return seen_at(steps, step) == 0 || lbm_reduce_value(steps, step, &at) != NULL;
}

static void
set_whole(struct lbm_steps *steps, struct lbm_sum *sum, uint8_t *whole)
{
    sum->whole = whole;
    free(sum->value);
    free(sum->is_there);
    sum->value = sum->is_there = NULL;
    for (size_t i = 0; i < steps->own.n; i++)
        lbm_steps_consider(steps, steps->own.at[i]);
    if (sum->step > steps->reduced) {
        steps->reduced = sum->step;
        if (steps->program.reduced != NULL)
            steps->program.reduced(steps->program.context, sum->step, whole);
    }
}

/* All have contributed: in the order of vertices, so that sums of real numbers are the same everywhere. */
static void
complete(struct lbm_steps *steps, struct lbm_sum *sum)
{
    const struct lbmap_steps *program = &steps->program;
    const size_t size = steps->value_size;
    uint8_t *whole = lbm_copy(sum->value, size, 1);
    if (whole == NULL) {
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for a value of the job");
        return;
    }
    for (uint32_t v = 1; v < lbmap_vertices(steps->map); v++)
        program->combine(program->context, whole, sum->value + v * size);
    set_whole(steps, sum, whole);
    for (size_t i = 0; i < steps->peers.n; i++)
        lbm_mail_value(steps, steps->peers.at[i], LBM_ROW_WHOLE, 0, sum->step, whole);
}

void
lbm_reduce_take_whole(struct lbm_steps *steps, uint64_t step, const uint8_t *value)
{
    struct lbm_sum *sum = sum_of(steps, step);
    if (sum == NULL || sum->whole != NULL)
        return;
    uint8_t *whole = lbm_copy(value, steps->value_size, 1);
    if (whole == NULL)
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for a value of the job");
    else
        set_whole(steps, sum, whole);
}

/* ---- contributions ------------------------------------------------------------------------------------- */

void
lbm_reduce_take_part(struct lbm_steps *steps, uint32_t vertex, uint64_t step, const uint8_t *value)
{
    const uint32_t vertices = lbmap_vertices(steps->map);
    struct lbm_sum *sum = vertex < vertices ? sum_of(steps, step) : NULL;
    if (sum == NULL || sum->whole != NULL)
        return;
    if (sum->value == NULL) {
        sum->value = lbm_alloc(vertices, steps->value_size);
        sum->is_there = lbm_alloc(vertices, 1);
        sum->n = 0;
    }
    if (sum->value == NULL || sum->is_there == NULL) {
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for %u contributions", vertices);
        return;
    }
    if (sum->is_there[vertex])
        return;
    sum->is_there[vertex] = 1;
    memcpy(sum->value + vertex * steps->value_size, value, steps->value_size);
    if (++sum->n == vertices)
        complete(steps, sum);
}

static void
send_part(struct lbm_steps *steps, uint32_t host, uint32_t vertex, uint64_t step, const uint8_t *value)
{
    if (host == lbmap_host(steps->map))
        lbm_reduce_take_part(steps, vertex, step, value);
    else if (host != LBMAP_NOWHERE)
        lbm_mail_value(steps, host, LBM_ROW_PART, vertex, step, value);
}

/* Contributions that nobody can ask for any more. */
static void
drop_old(const struct lbm_steps *steps, struct lbm_line *line)
{
    while (line->parts.n > steps->periods) {
        free(line->parts.at[0].value);
        memmove(line->parts.at, line->parts.at + 1, --line->parts.n * sizeof *line->parts.at);
    }
}

void
lbm_reduce_contribute(struct lbm_steps *steps, struct lbm_line *line)
{
    const struct lbmap_steps *program = &steps->program;
    uint64_t step = lbm_line_step(line);
    if (program->every == 0 || step == 0 || step % program->every != 0)
        return;
    if (line->parts.n != 0 && line->parts.at[line->parts.n - 1].step >= step)
        return;
    const struct lbm_state *state = lbm_line_get(line, step);
    struct lbm_part part = {step, lbm_alloc(1, steps->value_size)};
    if (part.value == NULL || lbm_vec_push(&line->parts, part) != LBM_OK) {
        free(part.value);
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for what vertex %u contributes", line->vertex);
        return;
    }
    program->contribute(program->context, line->vertex, state->bytes, state->len, part.value);
    drop_old(steps, line);
    send_part(steps, steps->collector, line->vertex, step, part.value);
}

/* ---- what is missing ----------------------------------------------------------------------------------- */

/* Somebody collects contributions: all that are here of that step. */
static void
send_parts(struct lbm_steps *steps, uint32_t host, uint64_t step)
{
    for (size_t i = 0; i < steps->own.n; i++) {
        const struct lbm_line *line = steps->own.at[i];
        for (size_t k = 0; k < line->parts.n; k++)
            if (line->parts.at[k].step == step)
                send_part(steps, host, line->vertex, step, line->parts.at[k].value);
    }
}

void
lbm_reduce_asked(struct lbm_steps *steps, uint32_t host, uint64_t step, int for_parts)
{
    struct lbm_sum *sum = sum_of(steps, step);
    if (sum == NULL)
        return;
    if (sum->whole != NULL)
        lbm_mail_value(steps, host, LBM_ROW_WHOLE, 0, step, sum->whole);
    else if (for_parts)
        send_parts(steps, host, step);
    else
        sum->asked_ms = sum->asked_ms != 0 ? sum->asked_ms : 1; /* it is collected from now on */
}

/* The step whose value an own vertex waits for; 0: none does. */
static uint64_t
awaited(const struct lbm_steps *steps)
{
    uint64_t least = 0;
    for (size_t i = 0; i < steps->own.n; i++) {
        uint64_t step = lbm_line_step(steps->own.at[i]), at = seen_at(steps, step);
        if (!lbm_steps_is_done(steps, steps->own.at[i]) && !lbm_reduce_is_there(steps, step) &&
            (least == 0 || at < least))
            least = at;
    }
    return least;
}

void
lbm_reduce_look(struct lbm_steps *steps, int64_t now_ms)
{
    uint64_t step = steps->program.every != 0 ? awaited(steps) : 0;
    struct lbm_sum *sum = step != 0 ? sum_of(steps, step) : NULL;
    int is_collector = steps->collector == lbmap_host(steps->map);
    if (sum != NULL && is_collector && sum->asked_ms == 0)
        sum->asked_ms = 1;
    if (sum != NULL && !is_collector && now_ms - sum->asked_ms >= ASK_MS) {
        sum->asked_ms = now_ms;
        lbm_mail_step(steps, steps->collector, LBM_ROW_WANT_WHOLE, 0, step);
    }
    for (size_t i = 0; is_collector && i < steps->sums.n; i++) {
        sum = steps->sums.at[i];
        if (sum->whole != NULL || sum->asked_ms == 0 || now_ms - sum->asked_ms < ASK_MS)
            continue;
        sum->asked_ms = now_ms;
        step = sum->step;
        for (size_t k = 0; k < steps->peers.n; k++)
            lbm_mail_step(steps, steps->peers.at[k], LBM_ROW_WANT_PARTS, 0, step);
        send_parts(steps, lbmap_host(steps->map), step);
    }
}

void
lbm_reduce_free(struct lbm_steps *steps)
{
    for (size_t i = 0; i < steps->sums.n; i++)
        free_sum(steps->sums.at[i]);
    lbm_vec_free(&steps->sums);
}

/* ---- random numbers ------------------------------------------------------------------------------------ */

/* The finalizer of SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t
mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t
lbmap_random(uint64_t seed, uint32_t vertex, uint64_t step, uint64_t n)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = mix(seed + golden);
    x = mix(x ^ (vertex + golden));
    x = mix(x + step * golden);
    return mix(x ^ (n * golden + 1));
}
