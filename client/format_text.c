/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings as other mappers write them: one host a vertex. */
#include <string.h>

#include "client/formats.h"

static void
put_name(const struct lbm_mapping *mapping, uint32_t v, struct lbm_buf *out)
{
    const char *name = lbm_graph_name(mapping->g, v);
    lbm_buf_put(out, "\t", 1);
    if (name != NULL)
        lbm_buf_put(out, name, strlen(name));
    else
        lbm_buf_u64(out, v);
}

enum lbm_err
lbm_map_write_part(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    (void)diag;
    for (uint32_t v = 0; v < mapping->g->n; v++) {
        lbm_buf_u64(out, mapping->plan->part[v]);
        if (mapping->names_column)
            put_name(mapping, v, out);
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
