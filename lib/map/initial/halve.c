/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recursive halving by itself: a start for who holds a guest, without a plan of it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "embed/embed.h"
#include "map/internal.h"

enum { CLUSTERS = 4096, CLUSTERS_HOST = 64 };

static enum lbm_err
halve_top(const struct lbm_graph *g, const struct lbm_hosts *h, double imbalance, struct lbm_rng *rng,
          uint32_t *part)
{
    static const struct staging once = {.draws_vertex = 50, .tries = 1, .draws_try = 100000};
    uint64_t *limit = lbm_alloc(h->n, sizeof *limit);
    struct mapping m = {.g = g, .h = h, .limit = limit, .part = part};
    enum lbm_err err = limit == NULL ? LBM_E_NOMEM : lbm_map_limits(g, h, imbalance, limit);
    if (err == LBM_OK)
        err = map_start_bisection(&m, &once, rng);
    free(limit);
    return err;
}

enum lbm_err
lbm_map_halve(const struct lbm_graph *g, const struct lbm_hosts *h, double imbalance, uint64_t seed,
              uint32_t *part)
{
    struct lbm_levels levels;
    struct lbm_rng rng;
    uint32_t target = CLUSTERS_HOST * h->n > CLUSTERS ? CLUSTERS_HOST * h->n : CLUSTERS;
    uint64_t share = lbm_graph_total_work(g) / ((uint64_t)h->n * CLUSTERS_HOST / 4);
    memset(part, 0, g->n * sizeof *part);
    if (g->n == 0 || h->n < 2)
        return LBM_OK;
    lbm_rng_seed(&rng, seed);
    enum lbm_err err = lbm_levels_build(g, NULL, target, share > 1 ? share : 1, &rng, &levels);
    if (err != LBM_OK)
        return err;
    const struct lbm_graph *top = &levels.graph[levels.n - 1];
    uint32_t *host = lbm_alloc(top->n, sizeof *host);
    err = host == NULL ? LBM_E_NOMEM : halve_top(top, h, imbalance, &rng, host);
    for (uint32_t v = 0; err == LBM_OK && v < g->n; v++) {
        uint32_t cluster = v;
        for (uint32_t l = 0; l + 1 < levels.n; l++)
            cluster = levels.parent[l][cluster];
        part[v] = host[cluster];
    }
    free(host);
    lbm_levels_free(&levels);
    return err;
}
