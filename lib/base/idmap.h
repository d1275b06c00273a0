/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A map from 32-bit ids to 32-bit slots: 8 bytes an entry, no allocation per entry.
 * Open addressing with linear probing; removal shifts back, so that there are no tombstones. */
#ifndef LBM_BASE_IDMAP_H
#define LBM_BASE_IDMAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"

struct lbm_idmap {
    uint32_t *cell; /* [2 * size] id, slot; LBM_NONE marks a free cell */
    size_t size;    /* a power of two, or 0 */
    size_t n;
};

/* Slot of id, or LBM_NONE. */
uint32_t lbm_idmap_get(const struct lbm_idmap *map, uint32_t id);

/* Insert or replace; id must not be LBM_NONE. Errors: LBM_E_NOMEM, unchanged. */
enum lbm_err lbm_idmap_put(struct lbm_idmap *map, uint32_t id, uint32_t slot) LBM_MUST_CHECK;

void lbm_idmap_remove(struct lbm_idmap *map, uint32_t id);
void lbm_idmap_clear(struct lbm_idmap *map); /* keeps the memory */
void lbm_idmap_free(struct lbm_idmap *map);

#endif
