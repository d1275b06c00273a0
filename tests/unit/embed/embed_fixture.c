/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/embed/embed_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/mem.h"
#include "graph/generate.h"

struct lbm_graph
embed_generate(const char *spec)
{
    struct lbm_graph g;
    struct lbm_diag diag = {0};
    if (lbm_graph_generate(spec, 1, &g, &diag) != LBM_OK)
        fail_msg("%s: %s", spec, diag.text);
    return g;
}

struct lbm_graph
embed_build(uint32_t n, const struct lbm_edge *edges, size_t n_edges)
{
    struct lbm_graph g;
    struct lbm_diag diag = {0};
    if (lbm_graph_build(n, edges, n_edges, LBM_MERGE_REJECT, &g, &diag) != LBM_OK)
        fail_msg("%s", diag.text);
    return g;
}

double *
embed_points(size_t n, unsigned m, struct lbm_rng *rng)
{
    double *x = lbm_alloc(n * m, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n * m; i++)
        x[i] = lbm_rng_unit(rng);
    return x;
}

void
assert_close(const double *a, const double *b, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance))
            fail_msg("value %zu: %.17g and %.17g differ by more than %g", i, a[i], b[i], tolerance);
}
