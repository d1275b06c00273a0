/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/balance/field_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

void
assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.12g is not %.12g within %g", a, b, tolerance);
}

void
field_open(struct field *f, struct lbm_hosts h)
{
    struct lbm_diag diag;
    f->h = h;
    assert_true(h.n <= FIELD_LOADS_MAX);
    if (lbm_network_make(&f->h, &f->net, &diag) != LBM_OK)
        fail_msg("%s", diag.text);
    f->flow = lbm_alloc(f->net.colouring.n_links, sizeof *f->flow);
    assert_non_null(f->flow);
}

void
field_close(struct field *f)
{
    free(f->flow);
    lbm_network_free(&f->net);
    lbm_hosts_free(&f->h);
}

void
field_draw(struct field *f, uint64_t seed, int integer)
{
    struct lbm_rng rng;
    lbm_rng_stream(&rng, seed, 99);
    for (uint32_t p = 0; p < f->h.n; p++)
        f->load[p] = integer ? lbm_rng_below(&rng, 256) : 2.0 * lbm_rng_unit(&rng);
}

double
field_total(const struct field *f)
{
    double sum = 0.0;
    for (uint32_t p = 0; p < f->h.n; p++)
        sum += f->load[p];
    return sum;
}

struct lbm_balance_options
field_usual(enum lbm_policy policy, int integer)
{
    return (struct lbm_balance_options){.policy = policy,
                                        .integer = integer,
                                        .stop = integer ? LBM_STOP_QUIESCENT : LBM_STOP_BALANCED,
                                        .bound = 0.01,
                                        .seed = 3};
}

int
field_run(struct field *f, const struct lbm_balance_options *o, struct lbm_balance_result *r)
{
    struct lbm_diag diag;
    enum lbm_err err = lbm_balance_run(&f->net, o, f->load, f->flow, r, &diag);
    if (err != LBM_OK && err != LBM_E_UNSUPPORTED)
        fail_msg("%s: %s", diag.where, diag.text);
    return err == LBM_OK;
}

static const char *const specs[FIELD_HOSTS] = {
    "ring:64",     "ring:15", "mesh:16x16", "torus:16x16", "torus:16x5",
    "hypercube:8", "star:16", "tree:2,6",   "planar 200",
};

const char *
field_name(size_t i)
{
    assert_true(i < FIELD_HOSTS);
    return specs[i];
}

struct lbm_hosts
field_hosts(size_t i)
{
    return strcmp(field_name(i), "planar 200") == 0 ? make_planar_hosts(200) : make_hosts(specs[i]);
}
