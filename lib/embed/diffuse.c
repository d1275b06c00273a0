/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The diffusion kernel: one body, compiled for every combination of dimension, weights, torus and norm, so
 * that the inner loop over neighbours holds no decision; and the fetching that keeps it from waiting.
 * Source: HEI97 fig. 4; deviation: edges have weights, and a sweep visits every vertex once by default. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/mutants.h"
#include "embed/embed.h"
#include "embed/order.h"
#include "embed/rules.h"

/* Degrees whose reciprocal is looked up: a division would take longer than the rest of an update. */
enum { RECIPROCALS = 64 };

/* What the sweeps of one call share. */
struct kernel {
    const struct lbm_graph *g;
    unsigned m;
    double *x;
    const double *from; /* where neighbours are looked up: x, or x as it was before the sweep */
    double sum4;        /* sum of |displacement|^4: HEI97 eq. (2) squares Delta_i = dx^2 + dy^2 */
    double largest2;    /* greatest |displacement|^2 */
    double reciprocal[RECIPROCALS];
    const struct lbm_diffusion *how; /* of rules other than the mean */
};

/* The nearest whole number: doubles from 2^52 on have no fraction left. A call of rint() takes longer. */
static inline double
nearest(double d)
{
    return (d + 0x1.8p52) - 0x1.8p52;
}

/* The shorter way around a circle of length 1, for any difference of coordinates. */
static inline double
around(double d)
{
    return d - nearest(d);
}

/* The same point of the circle in [0, 1). */
static inline double
into_unit(double x)
{
    double d = x - nearest(x);
    d = d < 0 ? d + 1 : d;
    return d < 1 ? d : 0; /* a tiny negative d was rounded up to 1 */
}

/* Move every vertex of a batch to the mean of its neighbours. The last four arguments are constants in
 * every call, which is what keeps the loops short. */
static inline __attribute__((always_inline)) void
update(struct kernel *kernel, const uint32_t *batch, uint32_t count, unsigned m, int weighted, int wrap,
       int measured)
{
    const uint64_t *offset = kernel->g->offset;
    const uint32_t *target = kernel->g->target, *weight = kernel->g->weight;
    double *x = kernel->x;
    const double *from = kernel->from;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t begin = offset[batch[i]], end = offset[batch[i] + 1], degree = end - begin;
        double *at = x + (size_t)batch[i] * m;
        double sum[LBM_DIMENSIONS_MAX] = {0}, total = 0;
        if (degree == 0)
            continue;
        for (uint64_t e = begin; e < end; e++) {
            const double *near = from + (size_t)target[e] * m;
            double c = weighted ? weight[e] : 1;
            total += weighted ? c : 0;
            for (unsigned k = 0; k < m; k++) {
                double d = wrap ? around(near[k] - at[k]) : near[k];
                sum[k] += weighted ? c * d : d;
            }
        }
        double scale = weighted               ? 1 / total
                       : degree < RECIPROCALS ? kernel->reciprocal[degree]
                                              : 1 / (double)degree;
        scale *= LBM_MUTANT(KERNEL_MEAN, 1.0, (double)degree / (double)(degree + 1));
        double moved2 = 0;
        for (unsigned k = 0; k < m; k++) {
            double mean = sum[k] * scale, d = wrap ? mean : mean - at[k];
            moved2 += measured ? d * d : 0;
            at[k] = wrap ? into_unit(at[k] + mean) : mean;
        }
        if (measured) {
            kernel->sum4 += moved2 * moved2;
            kernel->largest2 = moved2 > kernel->largest2 ? moved2 : kernel->largest2;
        }
    }
}

typedef void update_fn(struct kernel *kernel, const uint32_t *batch, uint32_t count);

/* name, m, weighted, wrap, measured */
#define UPDATES(X)                                                                                           \
    X(update_2, 2, 0, 0, 0)                                                                                  \
    X(update_2n, 2, 0, 0, 1)                                                                                 \
    X(update_2t, 2, 0, 1, 0)                                                                                 \
    X(update_2tn, 2, 0, 1, 1)                                                                                \
    X(update_2w, 2, 1, 0, 0)                                                                                 \
    X(update_2wn, 2, 1, 0, 1)                                                                                \
    X(update_2wt, 2, 1, 1, 0)                                                                                \
    X(update_2wtn, 2, 1, 1, 1)                                                                               \
    X(update_3, 3, 0, 0, 0)                                                                                  \
    X(update_3n, 3, 0, 0, 1)                                                                                 \
    X(update_3t, 3, 0, 1, 0)                                                                                 \
    X(update_3tn, 3, 0, 1, 1)                                                                                \
    X(update_3w, 3, 1, 0, 0)                                                                                 \
    X(update_3wn, 3, 1, 0, 1)                                                                                \
    X(update_3wt, 3, 1, 1, 0)                                                                                \
    X(update_3wtn, 3, 1, 1, 1)

#define UPDATE_BODY(name, m, weighted, wrap, measured)                                                       \
    static void name(struct kernel *kernel, const uint32_t *batch, uint32_t count)                           \
    {                                                                                                        \
        update(kernel, batch, count, m, weighted, wrap, measured);                                           \
    }
UPDATES(UPDATE_BODY)
#undef UPDATE_BODY

static update_fn *const updates[2][2][2][2] = {
#define UPDATE_ROW(name, m, weighted, wrap, measured) [(m)-2][weighted][wrap][measured] = name,
    UPDATES(UPDATE_ROW)
#undef UPDATE_ROW
};

/* The other rules, which are not in a hurry. */
static void
update_ruled(struct kernel *kernel, const uint32_t *batch, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        double *at = kernel->x + (size_t)batch[i] * kernel->m, to[LBM_DIMENSIONS_MAX], moved2 = 0;
        if (!lbm_rule_place(kernel->how, kernel->g, kernel->from, batch[i], to))
            continue;
        for (unsigned k = 0; k < kernel->m; k++) {
            moved2 += (to[k] - at[k]) * (to[k] - at[k]);
            at[k] = to[k];
        }
        kernel->sum4 += moved2 * moved2;
        kernel->largest2 = moved2 > kernel->largest2 ? moved2 : kernel->largest2;
    }
}

/* ---- fetching ahead --------------------------------------------------------------------------------- */

/* Inside a block the order is random, so no processor foresees what a large guest's next block needs. While
 * a batch is computed, a slice at a time, rows and coordinates of the block after the next are fetched, and
 * the neighbours of the next block, whose rows are there by now. */
enum {
    SLICE = 64,     /* vertices computed between two fetches */
    LINE = 64,      /* bytes of a cache line */
    STRIDE = 3,     /* neighbours of vertices nearby share lines: one direction in that many is enough */
    DEGREE_MAX = 32 /* mean degree up to which the rows of three blocks fit the cache */
};

/* gcc takes a function that only prefetches for one without effect and drops its calls, unless inlined. */
#define FETCHING static inline __attribute__((always_inline)) void

/* The rows of a block; n is 0 if there is nothing to fetch. */
struct rows {
    uint32_t first, n;
    uint64_t begin, end; /* directions */
};

static struct rows
rows_coming(const struct kernel *kernel, const struct lbm_sweep_order *order, uint32_t distance)
{
    struct rows rows = {0};
    uint32_t first = 0, n = lbm_order_coming(order, distance, &first);
    if (n == 0)
        return rows;
    rows = (struct rows){first, n, kernel->g->offset[first], kernel->g->offset[first + n]};
    if (rows.end - rows.begin > (uint64_t)DEGREE_MAX * n)
        rows = (struct rows){0};
    return rows;
}

/* Fetch the lines of one slice in `slices` of an array's part. */
FETCHING
fetch(const void *part, size_t size, size_t slice, size_t slices)
{
    const char *bytes = part;
    for (size_t i = size * slice / slices; i < size * (slice + 1) / slices; i += LINE)
        __builtin_prefetch(bytes + i);
}

FETCHING
fetch_rows(const struct kernel *kernel, const struct rows *rows, size_t slice, size_t slices)
{
    const struct lbm_graph *g = kernel->g;
    size_t directions = rows->end - rows->begin;
    fetch(g->offset + rows->first, rows->n * sizeof *g->offset, slice, slices);
    fetch(g->target + rows->begin, directions * sizeof *g->target, slice, slices);
    if (g->weight != NULL)
        fetch(g->weight + rows->begin, directions * sizeof *g->weight, slice, slices);
    fetch(kernel->x + (size_t)rows->first * kernel->m, rows->n * kernel->m * sizeof *kernel->x, slice,
          slices);
}

FETCHING
fetch_neighbours(const struct kernel *kernel, const struct rows *rows, size_t slice, size_t slices)
{
    uint64_t directions = rows->end - rows->begin, end = rows->begin + directions * (slice + 1) / slices;
    for (uint64_t e = rows->begin + directions * slice / slices; e < end; e += STRIDE)
        __builtin_prefetch(kernel->x + (size_t)kernel->g->target[e] * kernel->m);
}

/* ---- sweeps ----------------------------------------------------------------------------------------- */

/* Leave out the vertices that may not move. Returns how many are left. */
static uint32_t
drop_pinned(uint32_t *batch, uint32_t count, const uint8_t *pinned)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = batch[i];
        batch[left] = v;
        left += pinned[v] == 0;
    }
    return left;
}

static void
sweep(struct kernel *kernel, struct lbm_sweep_order *order, const uint8_t *pinned, update_fn *move,
      struct lbm_rng *rng)
{
    lbm_order_shuffle(order, rng);
    for (uint32_t count; (count = lbm_order_next(order, rng)) != 0;) {
        struct rows next = rows_coming(kernel, order, 1), after = rows_coming(kernel, order, 2);
        if (pinned != NULL)
            count = drop_pinned(order->batch, count, pinned);
        uint32_t slices = (count + SLICE - 1) / SLICE;
        for (uint32_t slice = 0; slice < slices; slice++) {
            uint32_t done = slice * SLICE;
            fetch_rows(kernel, &after, slice, slices);
            fetch_neighbours(kernel, &next, slice, slices);
            move(kernel, order->batch + done, count - done < SLICE ? count - done : SLICE);
        }
    }
}

/* Doubles that x has: the rows, and the ghosts that they name. */
static size_t
coordinates(const struct lbm_graph *g, unsigned m)
{
    uint32_t n = g->n;
    for (uint64_t e = 0; g->n > 0 && e < g->offset[g->n]; e++)
        n = g->target[e] >= n ? g->target[e] + 1 : n;
    return (size_t)n * m;
}

enum lbm_err
lbm_diffuse(const struct lbm_graph *g, const struct lbm_diffusion *how, int sweeps, double *x,
            struct lbm_rng *rng, double *norm, double *largest)
{
    LBM_ASSERT(how->m == 2 || how->m == 3);
    LBM_ASSERT(sweeps >= 0);
    LBM_ASSERT(how->rule == LBM_RULE_MEAN || (!how->wrap && (how->rule == LBM_RULE_CIRCLES || how->m == 2)));
    struct lbm_sweep_order order;
    enum lbm_err err = lbm_order_open(&order, how->order, g->n);
    if (err != LBM_OK)
        return err;
    struct kernel kernel = {.g = g, .m = how->m, .x = x, .from = x, .how = how};
    size_t n = how->order == LBM_ORDER_JACOBI ? coordinates(g, how->m) : 0;
    double *before = how->order == LBM_ORDER_JACOBI ? lbm_copy(x, n, sizeof *before) : NULL;
    if (how->order == LBM_ORDER_JACOBI && before == NULL) {
        lbm_order_close(&order);
        return LBM_E_NOMEM;
    }
    if (before != NULL)
        kernel.from = LBM_MUTANT(KERNEL_JACOBI, before, x);
    for (int degree = 1; degree < RECIPROCALS; degree++)
        kernel.reciprocal[degree] = 1.0 / degree;
    update_fn *const *moves = updates[how->m - 2][g->weight != NULL][how->wrap != 0];
    for (int i = 0; i < sweeps; i++) {
        int measured = i == sweeps - 1 && (norm != NULL || largest != NULL);
        if (i > 0 && before != NULL)
            memcpy(before, x, n * sizeof *before);
        kernel.sum4 = kernel.largest2 = 0; /* of the last sweep */
        sweep(&kernel, &order, how->pinned, how->rule == LBM_RULE_MEAN ? moves[measured] : update_ruled, rng);
    }
    free(before);
    if (norm != NULL)
        *norm = sqrt(kernel.sum4);
    if (largest != NULL)
        *largest = sqrt(kernel.largest2);
    lbm_order_close(&order);
    return LBM_OK;
}
