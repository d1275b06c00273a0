/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings as other mappers write them: one host a vertex. */
#include "client/formats.h"

enum lbm_err
lbm_map_write_part(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    (void)diag;
    for (uint32_t v = 0; v < mapping->g->n; v++) {
        lbm_buf_u64(out, mapping->plan->part[v]);
        lbm_buf_put(out, "\n", 1);
    }
    return LBM_OK;
}

/* The number of vertices, then a line "vertex host" each; labels are ids from 0. */
enum lbm_err
lbm_map_write_scotch(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    (void)diag;
    lbm_buf_u64(out, mapping->g->n);
    lbm_buf_put(out, "\n", 1);
    for (uint32_t v = 0; v < mapping->g->n; v++) {
        lbm_buf_u64(out, lbm_mapping_id(mapping, v));
        lbm_buf_put(out, "\t", 1);
        lbm_buf_u64(out, mapping->plan->part[v]);
        lbm_buf_put(out, "\n", 1);
    }
    return LBM_OK;
}
