/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classical multidimensional scaling, by igraph: the only file that knows igraph.
 *
 * igraph's error handler aborts by default and its state is global, so the handlers are set before each call
 * and its results are copied at once. One thread at a time may come here. */
#include <igraph/igraph.h>
#include <math.h>

#include "base/check.h"
#include "host/internal.h"

/* igraph's own random generator picks ARPACK's start vector: seeded, so that the same hosts give the same
 * sites. Any constant will do. */
enum { START_SEED = 1 };

static igraph_error_t
layout(const struct lbm_hosts *h, const uint32_t *host, uint32_t n, igraph_matrix_t *dist,
       igraph_matrix_t *where)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            MATRIX(*dist, i, j) = lbm_dist(h, host[i], host[j]);
    igraph_t star; /* the layout asks only whether its graph is connected */
    igraph_error_t err = igraph_star(&star, n, IGRAPH_STAR_UNDIRECTED, 0);
    if (err != IGRAPH_SUCCESS)
        return err;
    err = igraph_layout_mds(&star, where, dist, h->m);
    igraph_destroy(&star);
    return err;
}

static enum lbm_err
copy_out(const igraph_matrix_t *where, uint32_t n, unsigned m, double *x)
{
    LBM_ASSERT((uint32_t)igraph_matrix_nrow(where) == n && (unsigned)igraph_matrix_ncol(where) == m);
    for (uint32_t i = 0; i < n; i++)
        for (unsigned k = 0; k < m; k++) {
            x[(size_t)i * m + k] = MATRIX(*where, i, k);
            if (!isfinite(x[(size_t)i * m + k]))
                return LBM_E_STATE;
        }
    return LBM_OK;
}

enum lbm_err
lbm_mds(const struct lbm_hosts *h, const uint32_t *host, uint32_t n, double *x)
{
    LBM_ASSERT(n >= 3);
    igraph_set_error_handler(igraph_error_handler_ignore);
    igraph_set_warning_handler(igraph_warning_handler_ignore);
    igraph_matrix_t dist, where;
    if (igraph_rng_seed(igraph_rng_default(), START_SEED) != IGRAPH_SUCCESS ||
        igraph_matrix_init(&dist, n, n) != IGRAPH_SUCCESS)
        return LBM_E_NOMEM;
    if (igraph_matrix_init(&where, 0, 0) != IGRAPH_SUCCESS) {
        igraph_matrix_destroy(&dist);
        return LBM_E_NOMEM;
    }
    igraph_error_t failed = layout(h, host, n, &dist, &where);
    enum lbm_err err = failed == IGRAPH_SUCCESS  ? copy_out(&where, n, h->m, x)
                       : failed == IGRAPH_ENOMEM ? LBM_E_NOMEM
                                                 : LBM_E_STATE;
    igraph_matrix_destroy(&dist);
    igraph_matrix_destroy(&where);
    return err;
}
