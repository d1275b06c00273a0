/* The diffusion kernel (HEI97 fig. 4): x_v becomes the weighted mean of its neighbours, one vertex after the
 * other in a random order. Speed is memory: blocks of consecutive vertices fit the cache with their rows,
 * and one short permutation serves all blocks of a sweep, each block entering it at another place. */
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "embed/embed.h"

enum {
    BLOCK = 2048,        /* vertices: 32 KiB of points, and about as much of rows */
    DEGREES_MAX = 64,    /* reciprocals kept in a table */
};

/* What the sweeps of one call share. */
struct kernel {
    const struct lbm_graph *g;
    const struct lbm_diffusion *how;
    double *x;
    double reciprocal[DEGREES_MAX];
    double norm4;    /* sum of |displacement|^4: HEI97 eq. (2) squares Delta_i = dx^2 + dy^2 */
    double largest2; /* largest squared displacement */
};

/* One update. m, weighted, wrap and measured are constants at every call, so each call compiles to its own
 * loop. */
static inline void
update(struct kernel *k, uint32_t v, unsigned m, int weighted, int wrap, int measured)
{
    const struct lbm_graph *g = k->g;
    uint64_t from = g->offset[v], to = g->offset[v + 1];
    double *restrict xv = &k->x[(size_t)v * m];
    double sum[LBM_DIMENSIONS_MAX] = {0}, weights = 0;
    if (from == to || (k->how->pinned != NULL && k->how->pinned[v]))
        return;
    for (uint64_t e = from; e < to; e++) {
        const double *xu = &k->x[(size_t)g->target[e] * m];
        double w = weighted ? g->weight[e] : 1.0;
        if (weighted)
            weights += w;
        for (unsigned i = 0; i < m; i++) {
            double d = wrap ? xu[i] - xv[i] : xu[i];
            if (wrap)
                d -= rint(d);
            sum[i] += weighted ? w * d : d;
        }
    }
    uint64_t degree = to - from;
    double scale = weighted ? 1.0 / weights : degree < DEGREES_MAX ? k->reciprocal[degree] : 1.0 / (double)degree;
    double moved2 = 0;
    for (unsigned i = 0; i < m; i++) {
        double next = sum[i] * scale;
        if (wrap) {
            next += xv[i];
            next -= floor(next);
        }
        if (measured) {
            double d = next - xv[i];
            if (wrap)
                d -= rint(d);
            moved2 += d * d;
        }
        xv[i] = next;
    }
    if (measured) {
        k->norm4 += moved2 * moved2;
        k->largest2 = moved2 > k->largest2 ? moved2 : k->largest2;
    }
}

/* Update order[0 .. n) shifted by base, for every constant of update(). */
#define RUN(m_, weighted_, wrap_, measured_)                                                                 \
    do {                                                                                                     \
        for (uint32_t i = 0; i < n; i++)                                                                     \
            update(k, base + order[i], m_, weighted_, wrap_, measured_);                                     \
        return;                                                                                              \
    } while (0)

static void
update_all(struct kernel *k, uint32_t base, const uint32_t *order, uint32_t n, int measured)
{
    int weighted = k->g->weight != NULL, three = k->how->m == 3;
    if (k->how->wrap) {
        if (three)
            RUN(3, weighted, 1, 1);
        RUN(2, weighted, 1, 1);
    }
    switch (4 * three + 2 * weighted + measured) {
    case 0:
        RUN(2, 0, 0, 0);
    case 1:
        RUN(2, 0, 0, 1);
    case 2:
        RUN(2, 1, 0, 0);
    case 3:
        RUN(2, 1, 0, 1);
    case 4:
        RUN(3, 0, 0, 0);
    case 5:
        RUN(3, 0, 0, 1);
    case 6:
        RUN(3, 1, 0, 0);
    default:
        RUN(3, 1, 0, 1);
    }
}

/* Blocks in random order; inside a block the shared permutation, entered at a random place. */
static void
sweep_blocks(struct kernel *k, struct lbm_rng *rng, uint32_t *blocks, uint32_t n_blocks, uint32_t *order,
             int measured)
{
    uint32_t n = k->g->n, shared[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++)
        shared[i] = i;
    lbm_rng_shuffle(rng, shared, BLOCK);
    lbm_rng_shuffle(rng, blocks, n_blocks);
    for (uint32_t b = 0; b < n_blocks; b++) {
        uint32_t base = blocks[b] * BLOCK, size = n - base < BLOCK ? n - base : BLOCK, kept = 0;
        uint32_t enter = lbm_rng_below(rng, BLOCK);
        for (uint32_t i = 0; i < BLOCK; i++) {
            uint32_t v = shared[(i + enter) & (BLOCK - 1)];
            order[kept] = v;
            kept += v < size;
        }
        update_all(k, base, order, size, measured);
    }
}

static void
sweep_replacement(struct kernel *k, struct lbm_rng *rng, int measured)
{
    for (uint32_t i = 0; i < k->g->n; i++) {
        uint32_t v = lbm_rng_below(rng, k->g->n);
        update_all(k, v, &(uint32_t){0}, 1, measured);
    }
}

enum lbm_err
lbm_diffuse(const struct lbm_graph *g, const struct lbm_diffusion *how, int sweeps, double *x, struct lbm_rng *rng,
            double *norm, double *largest)
{
    LBM_ASSERT(how->m == 2 || how->m == 3);
    LBM_ASSERT((BLOCK & (BLOCK - 1)) == 0);
    struct kernel k = {.g = g, .how = how, .x = x};
    uint32_t n_blocks = (g->n + BLOCK - 1) / BLOCK;
    size_t n_order = how->order == LBM_ORDER_PERMUTATION ? g->n : n_blocks + BLOCK + 1;
    uint32_t *order = lbm_alloc(n_order, sizeof *order);
    if (order == NULL)
        return LBM_E_NOMEM;
    for (uint32_t i = 1; i < DEGREES_MAX; i++)
        k.reciprocal[i] = 1.0 / i;
    uint32_t listed = how->order == LBM_ORDER_PERMUTATION ? g->n : n_blocks;
    for (uint32_t i = 0; i < listed; i++)
        order[i] = i;
    for (int s = 0; s < sweeps && g->n != 0; s++) {
        int measured = s + 1 == sweeps && (norm != NULL || largest != NULL);
        if (how->order == LBM_ORDER_BLOCK) {
            sweep_blocks(&k, rng, order, n_blocks, order + n_blocks, measured);
        } else if (how->order == LBM_ORDER_PERMUTATION) {
            lbm_rng_shuffle(rng, order, g->n);
            update_all(&k, 0, order, g->n, measured);
        } else {
            sweep_replacement(&k, rng, measured);
        }
    }
    if (norm != NULL)
        *norm = sqrt(k.norm4);
    if (largest != NULL)
        *largest = sqrt(k.largest2);
    free(order);
    return LBM_OK;
}
