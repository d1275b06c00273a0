/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/internal.h"

enum lbm_err
pool_init(struct pool *pool, uint32_t n_vertices, uint32_t room)
{
    *pool = (struct pool){.n_vertices = n_vertices,
                          .room = room,
                          .part = lbm_alloc((size_t)room * n_vertices, sizeof *pool->part),
                          .slot = lbm_alloc(room, sizeof *pool->slot),
                          .objective = lbm_alloc(room, sizeof *pool->objective)};
    if (pool->part != NULL && pool->slot != NULL && pool->objective != NULL)
        return LBM_OK;
    pool_free(pool);
    return LBM_E_NOMEM;
}

void
pool_offer(struct pool *pool, const uint32_t *part, struct objective objective)
{
    uint32_t slot = pool->n;
    if (pool->n == pool->room) {
        slot = pool->slot[pool->n - 1];
        if (!objective_less(&objective, &pool->objective[slot]))
            return;
    } else {
        pool->n++;
    }
    uint32_t i = pool->n - 1;
    for (; i > 0 && objective_less(&objective, &pool->objective[pool->slot[i - 1]]); i--)
        pool->slot[i] = pool->slot[i - 1];
    pool->slot[i] = slot;
    pool->objective[slot] = objective;
    if (pool->n_vertices != 0)
        memcpy(&pool->part[(size_t)slot * pool->n_vertices], part, pool->n_vertices * sizeof *part);
}

void
pool_free(struct pool *pool)
{
    free(pool->part);
    free(pool->slot);
    free(pool->objective);
    *pool = (struct pool){0};
}
