/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings for launchers of parallel programs. A vertex is a rank; what they read names the host of each. */
#include <stdlib.h>

#include "client/formats.h"

/* Rank v on its host, bound to the next core of that host: rank 7=h3 slot=1. */
enum lbm_err
lbm_map_write_rankfile(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    (void)diag;
    char id[LBM_HOST_ID_BYTES];
    uint32_t *slots = lbm_alloc(mapping->h->n, sizeof *slots);
    if (slots == NULL)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < mapping->g->n; v++) {
        uint32_t p = mapping->plan->part[v];
        lbm_buf_printf(out, "rank %u=%s slot=%u\n", v, lbm_host_label(mapping->h, p, id), slots[p]++);
    }
    free(slots);
    return LBM_OK;
}

/* The host of each rank, one a line, with a format around the name. */
static enum lbm_err
write_lines(const struct lbm_mapping *mapping, const char *before, struct lbm_buf *out)
{
    char id[LBM_HOST_ID_BYTES];
    for (uint32_t v = 0; v < mapping->g->n; v++)
        lbm_buf_printf(out, "%s%s\n", before, lbm_host_label(mapping->h, mapping->plan->part[v], id));
    return LBM_OK;
}

enum lbm_err
lbm_map_write_seq(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    (void)diag;
    return write_lines(mapping, "", out);
}

enum lbm_err
lbm_map_write_slurm(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    (void)diag;
    return write_lines(mapping, "", out);
}

enum lbm_err
lbm_map_write_charm(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    (void)diag;
    lbm_buf_printf(out, "group main\n");
    return write_lines(mapping, "  host ", out);
}

/* Hydra fills the lines of a host file in order, so a run of ranks on one host is a line host:count, and
 * a host may come again. */
enum lbm_err
lbm_map_write_hydra(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    (void)diag;
    char id[LBM_HOST_ID_BYTES];
    const uint32_t *part = mapping->plan->part;
    for (uint32_t v = 0, end; v < mapping->g->n; v = end) {
        for (end = v + 1; end < mapping->g->n && part[end] == part[v]; end++)
            ;
        lbm_buf_printf(out, "%s:%u\n", lbm_host_label(mapping->h, part[v], id), end - v);
    }
    return LBM_OK;
}
