/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What igraph computes for us: classical scaling, eigenvalues, greedy colours. The only file that
 * knows igraph.
 *
 * igraph's error handler aborts by default and its state is global, so the handlers are set before each call
 * and its results are copied at once. One thread at a time may come here. */
#include <igraph/igraph.h>
#include <math.h>

#include "base/check.h"
#include "host/internal.h"
#include "host/spectrum.h"

/* igraph's own random generator picks ARPACK's start vector: seeded, so that the same hosts give the same
 * result. Any constant will do. */
enum { START_SEED = 1 };

static enum lbm_err
prepare(void)
{
    igraph_set_error_handler(igraph_error_handler_ignore);
    igraph_set_warning_handler(igraph_warning_handler_ignore);
    return igraph_rng_seed(igraph_rng_default(), START_SEED) == IGRAPH_SUCCESS ? LBM_OK : LBM_E_NOMEM;
}

static enum lbm_err
outcome(igraph_error_t err)
{
    return err == IGRAPH_SUCCESS ? LBM_OK : err == IGRAPH_ENOMEM ? LBM_E_NOMEM : LBM_E_STATE;
}

/* ---- classical multidimensional scaling ---------------------------------------------------------- */

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
    igraph_matrix_t dist, where;
    if (prepare() != LBM_OK || igraph_matrix_init(&dist, n, n) != IGRAPH_SUCCESS)
        return LBM_E_NOMEM;
    if (igraph_matrix_init(&where, 0, 0) != IGRAPH_SUCCESS) {
        igraph_matrix_destroy(&dist);
        return LBM_E_NOMEM;
    }
    enum lbm_err err = outcome(layout(h, host, n, &dist, &where));
    if (err == LBM_OK)
        err = copy_out(&where, n, h->m, x);
    igraph_matrix_destroy(&dist);
    igraph_matrix_destroy(&where);
    return err;
}

/* ---- eigenvalues --------------------------------------------------------------------------------- */

enum {
    BASIS = 48,           /* of the Krylov space: more means fewer restarts */
    RESTARTS = 20000,     /* symmetric: a chain of thousands of hosts needs hundreds */
    RESTARTS_RADIUS = 60, /* else, where it may not converge at all */
};

/* At lambda_opt a sweep has double eigenvalues without a second vector: more digits than this do not come. */
static const double RADIUS_TOLERANCE = 1e-9;

struct product {
    lbm_operator *apply;
    void *arg;
};

static igraph_error_t
multiply(igraph_real_t *to, const igraph_real_t *from, int n, void *extra)
{
    const struct product *product = extra;
    product->apply(product->arg, from, to, (uint32_t)n);
    return IGRAPH_SUCCESS;
}

static void
set_options(igraph_arpack_options_t *options, uint32_t n, int wanted, const char *which)
{
    igraph_arpack_options_init(options);
    options->n = (int)n;
    options->nev = wanted;
    options->ncv = n < BASIS ? (int)n : BASIS;
    options->mxiter = RESTARTS;
    options->which[0] = which[0];
    options->which[1] = which[1];
}

enum lbm_err
lbm_eigen_ends(lbm_operator *apply, void *arg, uint32_t n, double *least, double *largest)
{
    LBM_ASSERT(n >= 3);
    igraph_arpack_options_t options;
    igraph_vector_t values;
    struct product product = {apply, arg};
    if (prepare() != LBM_OK || igraph_vector_init(&values, 0) != IGRAPH_SUCCESS)
        return LBM_E_NOMEM;
    set_options(&options, n, 2, "BE");
    enum lbm_err err = outcome(igraph_arpack_rssolve(multiply, &product, &options, NULL, &values, NULL));
    if (err == LBM_OK && (igraph_vector_size(&values) != 2 || options.nconv < 2))
        err = LBM_E_STATE;
    if (err == LBM_OK) {
        *least = fmin(VECTOR(values)[0], VECTOR(values)[1]);
        *largest = fmax(VECTOR(values)[0], VECTOR(values)[1]);
    }
    igraph_vector_destroy(&values);
    return err;
}

static enum lbm_err
copy_eigen(uint32_t n, const igraph_vector_t *values, const igraph_matrix_t *vectors, double *value,
           double *vector)
{
    if ((uint32_t)igraph_vector_size(values) != n)
        return LBM_E_STATE;
    for (uint32_t k = 0; k < n; k++) {
        value[k] = VECTOR(*values)[k];
        for (uint32_t p = 0; vector != NULL && p < n; p++)
            vector[(size_t)k * n + p] = MATRIX(*vectors, p, k);
    }
    return LBM_OK;
}

enum lbm_err
lbm_eigen_all(const double *a, uint32_t n, double *value, double *vector)
{
    igraph_matrix_t matrix, vectors;
    igraph_vector_t values;
    if (prepare() != LBM_OK || igraph_matrix_init(&matrix, n, n) != IGRAPH_SUCCESS)
        return LBM_E_NOMEM;
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t q = 0; q < n; q++)
            MATRIX(matrix, p, q) = a[(size_t)p * n + q];
    enum lbm_err err = LBM_E_NOMEM;
    if (igraph_vector_init(&values, 0) == IGRAPH_SUCCESS) {
        if (igraph_matrix_init(&vectors, 0, 0) == IGRAPH_SUCCESS) {
            err = outcome(igraph_lapack_dsyevr(&matrix, IGRAPH_LAPACK_DSYEV_ALL, 0, 0, 0, 0, 0, 0.0, &values,
                                               vector != NULL ? &vectors : NULL, NULL));
            if (err == LBM_OK)
                err = copy_eigen(n, &values, &vectors, value, vector);
            igraph_matrix_destroy(&vectors);
        }
        igraph_vector_destroy(&values);
    }
    igraph_matrix_destroy(&matrix);
    return err;
}

enum lbm_err
lbm_eigen_radius(lbm_operator *apply, void *arg, uint32_t n, double *radius)
{
    LBM_ASSERT(n >= 4);
    igraph_arpack_options_t options;
    igraph_matrix_t values;
    struct product product = {apply, arg};
    if (prepare() != LBM_OK || igraph_matrix_init(&values, 0, 0) != IGRAPH_SUCCESS)
        return LBM_E_NOMEM;
    set_options(&options, n, 1, "LM");
    options.tol = RADIUS_TOLERANCE;
    options.mxiter = RESTARTS_RADIUS;
    enum lbm_err err = outcome(igraph_arpack_rnsolve(multiply, &product, &options, NULL, &values, NULL));
    if (err == LBM_OK && (igraph_matrix_nrow(&values) < 1 || options.nconv < 1))
        err = LBM_E_STATE;
    if (err == LBM_OK)
        *radius = hypot(MATRIX(values, 0, 0), MATRIX(values, 0, 1));
    igraph_matrix_destroy(&values);
    return err;
}

/* ---- colours ------------------------------------------------------------------------------------- */

static igraph_error_t
colour_line_graph(uint32_t n, const igraph_vector_int_t *ends, igraph_vector_int_t *colours)
{
    igraph_t graph, line;
    igraph_error_t err = igraph_create(&graph, ends, n, IGRAPH_UNDIRECTED);
    if (err != IGRAPH_SUCCESS)
        return err;
    err = igraph_linegraph(&graph, &line);
    igraph_destroy(&graph);
    if (err != IGRAPH_SUCCESS)
        return err;
    err = igraph_vertex_coloring_greedy(&line, colours, IGRAPH_COLORING_GREEDY_COLORED_NEIGHBORS);
    igraph_destroy(&line);
    return err;
}

enum lbm_err
lbm_colour_greedy(uint32_t n, const struct lbm_link *links, uint32_t n_links, uint32_t *colour)
{
    igraph_vector_int_t ends, colours;
    if (prepare() != LBM_OK || igraph_vector_int_init(&ends, 2 * (igraph_integer_t)n_links) != IGRAPH_SUCCESS)
        return LBM_E_NOMEM;
    if (igraph_vector_int_init(&colours, 0) != IGRAPH_SUCCESS) {
        igraph_vector_int_destroy(&ends);
        return LBM_E_NOMEM;
    }
    for (uint32_t i = 0; i < n_links; i++) {
        VECTOR(ends)[2 * i] = links[i].p;
        VECTOR(ends)[2 * i + 1] = links[i].q;
    }
    enum lbm_err err = outcome(colour_line_graph(n, &ends, &colours));
    for (uint32_t i = 0; err == LBM_OK && i < n_links; i++)
        colour[i] = (uint32_t)VECTOR(colours)[i];
    igraph_vector_int_destroy(&ends);
    igraph_vector_int_destroy(&colours);
    return err;
}
