/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long drawn loads take on a field. A large one is computed block by block: in t sweeps nothing comes
 * from further away than 2 t hosts along an axis (t in t steps of diffusion), so that a block with a border
 * of that width has inside what the whole field would have. Of every step the least and the largest load are
 * kept, and the mean at the end says which step was the first within the bound. */
#include <math.h>
#include <stdlib.h>

#include "balance/field_internal.h"
#include "balance/internal.h"
#include "base/check.h"

enum {
    HOSTS_WHOLE = 1 << 20, /* fields up to here are computed in one piece */
    STEPS_SLACK = 4,       /* a large field takes longer than a sample of it, as the logarithm of its size */
};

/* Sides of blocks without their border: two copies of one fit a cache of some MiB. */
static const uint32_t block_sides[] = {1 << 16, 256, 48};

static void
step(struct box *b, const struct lbm_field_run *run, int ring)
{
    if (run->lambda > 0.0)
        lbm_box_exchange(b, run->lambda);
    else
        lbm_box_diffuse(b, run->alpha, ring);
}

/* ---- in one piece ----------------------------------------------------------------------------------- */

static enum lbm_err
time_whole(const struct lbm_field_run *run, uint32_t *steps)
{
    struct lbm_field f;
    enum lbm_err err = lbm_field_open(run->d, run->side, run->ring, &f);
    if (err != LBM_OK)
        return err;
    lbm_field_draw(&f, run->seed);
    uint32_t t = 0;
    while (lbm_field_error(&f) > run->bound && t < LBM_FIELD_STEPS_MAX) {
        if (run->lambda > 0.0)
            lbm_field_exchange(&f, run->lambda);
        else
            lbm_field_diffuse(&f, run->alpha);
        t++;
    }
    lbm_field_close(&f);
    if (t == LBM_FIELD_STEPS_MAX)
        return LBM_E_LIMIT;
    *steps = t;
    return LBM_OK;
}

/* ---- by blocks -------------------------------------------------------------------------------------- */

struct blocks {
    const struct lbm_field_run *run;
    uint32_t most;           /* steps */
    double *least, *largest; /* [most + 1] */
    double sum;
    struct box box;
    uint32_t inner[LBM_FIELD_DIMENSIONS_MAX][2]; /* of the box, without its border: from, to */
};

static void
draw(struct blocks *b, const int64_t *corner)
{
    const uint32_t *size = b->box.size;
    int64_t side = b->run->side;
    for (int64_t z = 0; z < size[2]; z++)
        for (int64_t y = 0; y < size[1]; y++)
            for (int64_t x = 0; x < size[0]; x++) {
                int64_t place = (corner[0] + x + side) % side; /* beyond the ends of a ring */
                uint64_t host = (uint64_t)(place + side * (corner[1] + y + side * (corner[2] + z)));
                b->box.load[(size_t)x + size[0] * ((size_t)y + (size_t)size[1] * (size_t)z)] =
                    lbm_field_drawn(b->run->seed, host);
            }
}

/* Least and largest load inside; the sum at the start. */
static void
look(struct blocks *b, uint32_t t)
{
    double least = b->least[t], largest = b->largest[t], sum = 0.0;
    for (size_t z = b->inner[2][0]; z < b->inner[2][1]; z++)
        for (size_t y = b->inner[1][0]; y < b->inner[1][1]; y++) {
            const double *row = &b->box.load[(z * b->box.size[1] + y) * b->box.size[0]];
            for (size_t x = b->inner[0][0]; x < b->inner[0][1]; x++) {
                least = row[x] < least ? row[x] : least;
                largest = row[x] > largest ? row[x] : largest;
                sum += row[x];
            }
        }
    b->least[t] = least;
    b->largest[t] = largest;
    b->sum += t == 0 ? sum : 0.0;
}

/* The block whose inside begins at `from`. */
static void
run_block(struct blocks *b, const uint32_t *from)
{
    const struct lbm_field_run *run = b->run;
    uint32_t border = b->most * (run->lambda > 0.0 ? 2 : 1);
    int64_t corner[LBM_FIELD_DIMENSIONS_MAX] = {0};
    for (unsigned k = 0; k < LBM_FIELD_DIMENSIONS_MAX; k++) {
        int64_t side = k < run->d ? run->side : 1, lo = from[k], hi = lo + block_sides[run->d - 1];
        hi = hi < side ? hi : side;
        int64_t first = run->ring || lo - border > 0 ? lo - border : 0;
        int64_t last = run->ring || hi + border < side ? hi + border : side;
        if (k >= run->d)
            first = 0, last = 1;
        corner[k] = first;
        b->box.size[k] = (uint32_t)(last - first);
        b->box.odd[k] = (uint32_t)(first & 1);
        b->inner[k][0] = (uint32_t)(lo - first);
        b->inner[k][1] = (uint32_t)(hi - first);
    }
    draw(b, corner);
    for (uint32_t t = 0; t <= b->most; t++) {
        if (t > 0)
            step(&b->box, run, 0);
        look(b, t);
    }
}

/* The first of the steps that is within the bound; 0 of them: not reached. */
static int
first_within(const struct blocks *b, uint32_t *steps)
{
    double n = pow(b->run->side, b->run->d), mean = b->sum / n;
    for (uint32_t t = 0; t <= b->most; t++)
        if (fmax(b->largest[t] - mean, mean - b->least[t]) <= b->run->bound * mean) {
            *steps = t;
            return 1;
        }
    return 0;
}

static enum lbm_err
try_blocks(const struct lbm_field_run *run, uint32_t most, uint32_t *steps, int *reached)
{
    uint32_t side = block_sides[run->d - 1], wide = side + 4 * most;
    size_t room = 1;
    for (unsigned k = 0; k < run->d; k++)
        room *= wide < run->side || run->ring ? wide : run->side;
    struct blocks b = {.run = run, .most = most};
    b.least = lbm_alloc((size_t)most + 1, sizeof *b.least);
    b.largest = lbm_alloc((size_t)most + 1, sizeof *b.largest);
    b.box.load = lbm_alloc(room, sizeof *b.box.load);
    b.box.next = lbm_alloc(room, sizeof *b.box.next);
    enum lbm_err err = b.least && b.largest && b.box.load && b.box.next ? LBM_OK : LBM_E_NOMEM;
    for (uint32_t t = 0; err == LBM_OK && t <= most; t++) {
        b.least[t] = HUGE_VAL;
        b.largest[t] = -HUGE_VAL;
    }
    uint32_t ends[LBM_FIELD_DIMENSIONS_MAX] = {run->side, run->d > 1 ? run->side : 1,
                                               run->d > 2 ? run->side : 1};
    uint32_t from[LBM_FIELD_DIMENSIONS_MAX];
    for (from[2] = 0; err == LBM_OK && from[2] < ends[2]; from[2] += side)
        for (from[1] = 0; from[1] < ends[1]; from[1] += side)
            for (from[0] = 0; from[0] < ends[0]; from[0] += side)
                run_block(&b, from);
    *reached = err == LBM_OK && first_within(&b, steps);
    free(b.least);
    free(b.largest);
    free(b.box.load);
    free(b.box.next);
    return err;
}

enum lbm_err
lbm_field_time(const struct lbm_field_run *run, uint32_t *steps)
{
    LBM_ASSERT(run->d >= 1 && run->d <= LBM_FIELD_DIMENSIONS_MAX && run->bound > 0.0);
    double n = pow(run->side, run->d);
    if (n <= HOSTS_WHOLE)
        return time_whole(run, steps);
    struct lbm_field_run sample = *run;
    sample.side = (uint32_t)pow(HOSTS_WHOLE / 4.0, 1.0 / run->d);
    uint32_t most = 0;
    enum lbm_err err = time_whole(&sample, &most);
    int reached = 0;
    for (most += most / 4 + STEPS_SLACK; err == LBM_OK && !reached; most *= 2)
        err = most < LBM_FIELD_STEPS_MAX ? try_blocks(run, most, steps, &reached) : LBM_E_LIMIT;
    return err;
}
