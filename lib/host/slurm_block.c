/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of Slurm's topology/block: neighbouring blocks are joined to larger ones, as BlockSizes tells.
 *
 * Distance: 2 in a block, 2 more for each level of the least block that holds both, and for all of them. */
#include <inttypes.h>
#include <stdlib.h>

#include "host/slurm.h"

/* How many blocks make one of each level; the last level has all. Out: count [SLURM_BLOCK_SIZES_MAX + 2].
 * Returns how many levels, or 0 if a size is no power of two times the first. */
static uint32_t
levels(const struct slurm_topology *t, uint32_t n, uint32_t *count)
{
    uint32_t n_levels = 0;
    count[n_levels++] = 1;
    for (uint32_t k = 1; k < t->n_block_sizes; k++) {
        uint64_t times = t->block_size[k] / t->block_size[0];
        if (t->block_size[k] % t->block_size[0] != 0 || (times & (times - 1)) != 0 ||
            t->block_size[k] <= t->block_size[k - 1])
            return 0;
        if (times < n)
            count[n_levels++] = (uint32_t)times;
    }
    if (n > 1)
        count[n_levels++] = n;
    return n_levels;
}

enum lbm_err
lbm_slurm_block_groups(struct slurm_topology *t)
{
    uint32_t n = (uint32_t)t->entries.n, count[SLURM_BLOCK_SIZES_MAX + 2];
    uint32_t n_levels = levels(t, n, count);
    if (n_levels == 0) {
        t->scan.line = t->sizes_line;
        return lbm_scan_refuse(&t->scan, LBM_E_RANGE,
                               "block sizes grow, and each is the first one times a power of two");
    }
    t->groups = lbm_alloc((size_t)n * n_levels, sizeof *t->groups);
    t->entry_of = lbm_alloc((size_t)n * n_levels, sizeof *t->entry_of);
    if (t->groups == NULL || t->entry_of == NULL)
        return LBM_E_NOMEM;
    uint32_t first_below = 1; /* where the groups of the next level begin */
    for (uint32_t level = n_levels; level-- > 0;) {
        uint32_t here = (n + count[level] - 1) / count[level], below = 0;
        for (uint32_t i = 0; i < here; i++) {
            uint32_t begin = i * count[level], end = begin + count[level] < n ? begin + count[level] : n;
            struct lbm_group group = {.depth = 2 * (n_levels - 1 - level)};
            if (level > 0) {
                group.n_children = (end - begin + count[level - 1] - 1) / count[level - 1];
                group.first_child = first_below + below;
                below += group.n_children;
            }
            t->entry_of[t->n_groups] = level > 0 ? LBM_NONE : i;
            t->groups[t->n_groups++] = group;
        }
        first_below += below;
    }
    return LBM_OK;
}
