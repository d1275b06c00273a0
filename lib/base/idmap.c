/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "base/idmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

/* Fibonacci hashing spreads the runs of consecutive ids that guests consist of. */
static size_t
home_of(const struct lbm_idmap *map, uint32_t id)
{
    return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (map->size - 1);
}

/* The cell that holds id, or the free cell where it would go. */
static size_t
find(const struct lbm_idmap *map, uint32_t id)
{
    size_t at = home_of(map, id);
    while (map->cell[2 * at] != LBM_NONE && map->cell[2 * at] != id)
        at = (at + 1) & (map->size - 1);
    return at;
}

uint32_t
lbm_idmap_get(const struct lbm_idmap *map, uint32_t id)
{
    if (map->n == 0)
        return LBM_NONE;
    size_t at = find(map, id);
    return map->cell[2 * at] == id ? map->cell[2 * at + 1] : LBM_NONE;
}

static enum lbm_err
grow(struct lbm_idmap *map)
{
    size_t size = map->size < 16 ? 16 : map->size * 2;
    struct lbm_idmap bigger = {.cell = reallocarray(NULL, size, 2 * sizeof(uint32_t)), .size = size};
    if (bigger.cell == NULL)
        return LBM_E_NOMEM;
    memset(bigger.cell, 0xff, size * 2 * sizeof(uint32_t));
    for (size_t i = 0; i < map->size; i++) {
        if (map->cell[2 * i] == LBM_NONE)
            continue;
        size_t at = find(&bigger, map->cell[2 * i]);
        bigger.cell[2 * at] = map->cell[2 * i];
        bigger.cell[2 * at + 1] = map->cell[2 * i + 1];
    }
    bigger.n = map->n;
    free(map->cell);
    *map = bigger;
    return LBM_OK;
}

enum lbm_err
lbm_idmap_put(struct lbm_idmap *map, uint32_t id, uint32_t slot)
{
    LBM_ASSERT(id != LBM_NONE);
    if (4 * (map->n + 1) > 3 * map->size) {
        enum lbm_err err = grow(map);
        if (err != LBM_OK)
            return err;
    }
    size_t at = find(map, id);
    if (map->cell[2 * at] == LBM_NONE) {
        map->cell[2 * at] = id;
        map->n++;
    }
    map->cell[2 * at + 1] = slot;
    return LBM_OK;
}

void
lbm_idmap_remove(struct lbm_idmap *map, uint32_t id)
{
    if (map->n == 0)
        return;
    size_t hole = find(map, id);
    if (map->cell[2 * hole] != id)
        return;
    size_t mask = map->size - 1;
    for (size_t at = (hole + 1) & mask; map->cell[2 * at] != LBM_NONE; at = (at + 1) & mask) {
        /* An entry may move back into the hole unless its home lies between hole and itself. */
        size_t home = home_of(map, map->cell[2 * at]);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        map->cell[2 * hole] = map->cell[2 * at];
        map->cell[2 * hole + 1] = map->cell[2 * at + 1];
        hole = at;
    }
    map->cell[2 * hole] = LBM_NONE;
    map->n--;
}

void
lbm_idmap_clear(struct lbm_idmap *map)
{
    if (map->size != 0)
        memset(map->cell, 0xff, map->size * 2 * sizeof(uint32_t));
    map->n = 0;
}

void
lbm_idmap_free(struct lbm_idmap *map)
{
    free(map->cell);
    *map = (struct lbm_idmap){0};
}
