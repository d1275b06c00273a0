/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Colourings as sweeps; spectra of Laplacians, diffusion matrices and sweeps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "host/colouring.h"
#include "host/spectrum.h"
#include "tests/unit/host/hosts_fixture.h"

static void
assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.12g is not %.12g within %g", a, b, tolerance);
}

/* ---- colourings ---------------------------------------------------------------------------------- */

static const char *const specs[] = {
    "chain:1",     "chain:2",   "chain:7",   "ring:3",    "ring:8",        "ring:15",     "mesh:4x4",
    "mesh:5x3x2",  "torus:4x4", "torus:5x3", "torus:2x3", "torus:16x5",    "hypercube:0", "hypercube:1",
    "hypercube:5", "star:1",    "star:2",    "star:16",   "complete:6",    "complete:7",  "tree:0,3",
    "tree:1,4",    "tree:2,6",  "tree:5,2",  "tree:6,1",  "hier:4:8/1:10",
};

enum { N_SPECS = sizeof specs / sizeof *specs };

static void
check_colouring(const struct lbm_hosts *h, int bipartite)
{
    struct lbm_colouring c;
    assert_int_equal(lbm_colouring_make(h, &c), LBM_OK);
    assert_true(lbm_colouring_is_proper(&c));
    assert_int_equal(c.n_links, h->offset[h->n] / 2);
    for (uint32_t i = 0; i < c.n_links; i++)
        assert_true(c.link[i].p < c.link[i].q);
    if (bipartite)
        assert_int_equal(c.n_colours, c.degree);
    else if (h->topology == LBM_TOPOLOGY_FILE)
        assert_true(c.n_colours <= c.degree + 1);
    lbm_colouring_free(&c);
}

static void
colourings_of_named_hosts_are_proper(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SPECS; i++) {
        struct lbm_hosts h = make_hosts(specs[i]);
        check_colouring(&h, 0);
        lbm_hosts_free(&h);
    }
}

static void
bipartite_networks_take_as_many_colours_as_the_largest_degree(void **state)
{
    (void)state;
    static const char *const bipartite[] = {"chain:9", "ring:8",   "mesh:5x4", "torus:6x4", "hypercube:6",
                                            "star:16", "tree:2,6", "tree:5,2", "tree:9,1"};
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 5);
    for (size_t i = 0; i < sizeof bipartite / sizeof *bipartite; i++) {
        struct lbm_hosts h = make_hosts(bipartite[i]);
        check_colouring(&h, 1);
        lbm_hosts_free(&h);
    }
    for (uint32_t n = 2; n < 60; n++) { /* trees of no name */
        struct lbm_hosts h = make_random_hosts(&rng, n, 0, 0);
        check_colouring(&h, 1);
        lbm_hosts_free(&h);
    }
}

static void
arbitrary_networks_take_one_colour_more_at_most(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 6);
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t n = 2 + lbm_rng_below(&rng, 50);
        struct lbm_hosts h = make_random_hosts(&rng, n, lbm_rng_below(&rng, 4 * n), 0);
        check_colouring(&h, 0);
        lbm_hosts_free(&h);
    }
}

static void
ten_thousand_links_are_coloured(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 7);
    struct lbm_hosts h = make_random_hosts(&rng, 1000, 9300, 0);
    check_colouring(&h, 0);
    lbm_hosts_free(&h);
}

static void
greedy_colours_may_save_one(void **state)
{
    (void)state;
    struct lbm_rng rng;
    unsigned saved = 0;
    lbm_rng_seed(&rng, 8);
    for (int i = 0; i < 100; i++) {
        struct lbm_hosts h = make_random_hosts(&rng, 24, 30, 0);
        struct lbm_colouring c;
        uint32_t *colour = lbm_alloc(h.offset[h.n], sizeof *colour);
        assert_int_equal(lbm_colouring_make(&h, &c), LBM_OK);
        uint32_t others = lbm_hosts_colour(&h, colour);
        assert_true(c.n_colours <= others);
        assert_true((c.method == LBM_COLOURING_GREEDY) == (c.n_colours < others));
        assert_true(c.n_colours == c.degree || c.n_colours == c.degree + 1);
        saved += c.n_colours < others;
        free(colour);
        lbm_colouring_free(&c);
        lbm_hosts_free(&h);
    }
    assert_true(saved > 0);
}

/* ---- the Laplacian ------------------------------------------------------------------------------- */

static void
closed_forms_are_what_arpack_finds(void **state)
{
    (void)state;
    unsigned closed = 0;
    for (size_t i = 0; i < N_SPECS; i++) {
        struct lbm_hosts h = make_hosts(specs[i]);
        struct lbm_laplacian a = {0}, b;
        assert_int_equal(lbm_laplacian_numeric(&h, &b), LBM_OK);
        if (lbm_laplacian_closed(&h, &a)) {
            assert_near(a.lambda_2, b.lambda_2, 1e-9);
            assert_near(a.lambda_max, b.lambda_max, 1e-9);
            closed++;
        }
        lbm_hosts_free(&h);
    }
    assert_true(closed >= 20);
}

static void
the_best_alpha_of_meshes_is_that_of_the_spectrum(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        double alpha, gamma;
    } rows[] = {{"mesh:4x4", .26975, .84198}, {"mesh:8x8", .25486, .96120}};
    for (size_t i = 0; i < 2; i++) {
        struct lbm_hosts h = make_hosts(rows[i].spec);
        struct lbm_laplacian l;
        assert_int_equal(lbm_laplacian_of(&h, &l), LBM_OK);
        assert_near(lbm_alpha_optimal(&l), rows[i].alpha, 2e-5);
        assert_near(lbm_gamma_uniform(&l, lbm_alpha_optimal(&l)), rows[i].gamma, 5e-6);
        lbm_hosts_free(&h);
    }
}

/* What a sweep or step leaves of a random deviation in the long run, without any eigensolver. */
struct decay {
    const struct lbm_hosts *h;
    const struct lbm_colouring *c;
    double lambda; /* of a sweep, or 0 */
    double alpha;  /* of a step */
};

static double
decay_norm(const struct decay *d, double *x)
{
    double sum = 0.0, total = 0.0, norm = 0.0;
    for (uint32_t p = 0; p < d->h->n; p++) {
        sum += x[p];
        total += d->h->capacity[p];
    }
    for (uint32_t p = 0; p < d->h->n; p++) {
        x[p] -= sum * d->h->capacity[p] / total;
        norm += x[p] * x[p];
    }
    return sqrt(norm);
}

static void
decay_step(const struct decay *d, double *x)
{
    double mean = 0.0, *before = lbm_copy(x, d->h->n, sizeof *x);
    const double *s = d->h->capacity;
    for (uint32_t p = 0; p < d->h->n; p++)
        mean += s[p] / d->h->n;
    for (uint32_t i = 0; i < d->c->n_links; i++) {
        uint32_t p = d->c->link[i].p, q = d->c->link[i].q;
        double given = d->lambda > 0.0 ? 2.0 * d->lambda * (x[p] * s[q] - x[q] * s[p]) / (s[p] + s[q])
                                       : d->alpha * mean * (before[p] / s[p] - before[q] / s[q]);
        x[p] -= given;
        x[q] += given;
    }
    free(before);
}

static double
decay_measure(const struct decay *d)
{
    enum { WARM = 600, MEASURED = 1200 };
    struct lbm_rng rng;
    double *x = lbm_alloc(d->h->n, sizeof *x), log_norm = 0.0;
    lbm_rng_seed(&rng, 11);
    for (uint32_t p = 0; p < d->h->n; p++)
        x[p] = lbm_rng_unit(&rng);
    for (int t = 0; t < WARM + MEASURED; t++) {
        double norm = decay_norm(d, x);
        if (norm < 1e-200) {
            free(x);
            return 0.0;
        }
        for (uint32_t p = 0; p < d->h->n; p++)
            x[p] /= norm;
        log_norm += t > WARM ? log(norm) : 0.0;
        decay_step(d, x);
    }
    free(x);
    return exp(log_norm / (MEASURED - 1));
}

static void
spectra_are_how_deviations_decay(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 12);
    for (int i = 0; i < 24; i++) {
        uint32_t n = 2 + lbm_rng_below(&rng, 30);
        struct lbm_hosts h = make_random_hosts(&rng, n, lbm_rng_below(&rng, n), i % 2);
        struct lbm_colouring c;
        struct lbm_laplacian l;
        double gamma;
        assert_int_equal(lbm_colouring_make(&h, &c), LBM_OK);
        assert_int_equal(lbm_laplacian_of(&h, &l), LBM_OK);
        struct decay d = {.h = &h, .c = &c, .alpha = lbm_alpha_safe(&h)};
        assert_near(decay_measure(&d), lbm_gamma_uniform(&l, d.alpha), 2e-3);
        d.lambda = 0.2 + 0.6 * lbm_rng_unit(&rng);
        assert_int_equal(lbm_gamma_sweep(&h, &c, d.lambda, &gamma), LBM_OK);
        assert_near(decay_measure(&d), gamma, 5e-3);
        lbm_colouring_free(&c);
        lbm_hosts_free(&h);
    }
}

/* ---- diffusion ----------------------------------------------------------------------------------- */

static double *
uniform_alpha(const struct lbm_hosts *h, double alpha)
{
    double *a = lbm_alloc(h->offset[h->n], sizeof *a);
    assert_non_null(a);
    for (uint32_t i = 0; i < h->offset[h->n]; i++)
        a[i] = alpha;
    return a;
}

static double
gamma_of(const char *spec, double alpha)
{
    struct lbm_hosts h = make_hosts(spec);
    double *a = uniform_alpha(&h, alpha), lambda_2, lambda_n;
    assert_int_equal(lbm_diffusion_ends(&h, a, &lambda_2, &lambda_n), LBM_OK);
    free(a);
    lbm_hosts_free(&h);
    return fmax(fabs(lambda_2), fabs(lambda_n));
}

static void
rings_of_theorem_1_have_the_gamma_it_says(void **state)
{
    (void)state;
    assert_near(gamma_of("ring:8", 0.5), 1.0, 1e-9);
    assert_near(gamma_of("ring:8", 0.49), 0.96, 1e-9);
    assert_near(gamma_of("ring:9", 0.5), cos(M_PI / 9.0), 1e-9);
}

static void
lemma_2_modifies_hypercubes_to_the_best_diffusion(void **state)
{
    (void)state;
    for (uint32_t d = 2; d <= 8; d++) {
        char spec[] = "hypercube:0";
        spec[sizeof spec - 2] = (char)('0' + d);
        struct lbm_hosts h = make_hosts(spec);
        double *a = uniform_alpha(&h, 1.0 / d), lambda_2, lambda_n; /* no host keeps a share of its own */
        assert_int_equal(lbm_diffusion_ends(&h, a, &lambda_2, &lambda_n), LBM_OK);
        double kappa = lbm_modification(lambda_2, lambda_n, 0.0);
        assert_near(1.0 / d / (1.0 + kappa), 1.0 / (d + 1), 1e-9);
        assert_near((lambda_2 + kappa) / (1.0 + kappa), 1.0 - 2.0 / (d + 1), 1e-9);
        free(a);
        lbm_hosts_free(&h);
    }
    assert_near(lbm_modification(0.9, 0.5, 0.25), -0.25, 1e-15); /* no more than the least own share */
}

static void
theorem_1_explains_what_does_not_level(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *word;
        double alpha;
        int converges;
    } rows[] = {
        {"ring:8", "bipartite", 0.5, 0},       {"ring:8", "own load", 0.49, 1},
        {"ring:9", "odd circle", 0.5, 1},      {"torus:4x4", "bipartite", 0.25, 0},
        {"ring:8", "connect", 0.0, 0},         {"star:5", "gives away more", 0.3, 1},
        {"star:5", "gives away more", 0.9, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lbm_hosts h = make_hosts(rows[i].spec);
        double *a = uniform_alpha(&h, rows[i].alpha);
        struct lbm_convergence c;
        assert_int_equal(lbm_convergence_check(&h, a, &c), LBM_OK);
        assert_int_equal(c.converges, rows[i].converges);
        assert_non_null(strstr(c.text, rows[i].word));
        free(a);
        lbm_hosts_free(&h);
    }
}

static void
links_left_out_may_cut_the_network(void **state)
{
    (void)state;
    struct lbm_hosts h = make_hosts("chain:4");
    double *a = uniform_alpha(&h, 0.3);
    struct lbm_convergence c;
    for (uint32_t i = h.offset[1]; i < h.offset[3]; i++) /* the link between 1 and 2 */
        if (h.target[i] == 1 || h.target[i] == 2)
            a[i] = 0.0;
    assert_int_equal(lbm_convergence_check(&h, a, &c), LBM_OK);
    assert_false(c.connected);
    assert_false(c.converges);
    free(a);
    lbm_hosts_free(&h);
}

/* ---- exchange ------------------------------------------------------------------------------------ */

static void
a_sweep_on_a_ring_of_16_has_the_gamma_of_table_2(void **state)
{
    (void)state;
    static const double gammas[] = {.8536, .8206, .7777, .7170, .6112, .5, .6, .7, .8, .9};
    struct lbm_hosts h = make_hosts("ring:16");
    struct lbm_colouring c;
    double gamma, lambda;
    int exact;
    assert_int_equal(lbm_colouring_make(&h, &c), LBM_OK);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(lbm_gamma_sweep_numeric(&h, &c, 0.5 + 0.05 * i, &gamma), LBM_OK);
        assert_near(gamma, gammas[i], 5.1e-5);
    }
    assert_true(lbm_lambda_closed(&h, &lambda, &exact) && exact);
    assert_near(lambda, .72323, 5e-6);
    assert_int_equal(lbm_gamma_sweep(&h, &c, lambda, &gamma), LBM_OK);
    assert_near(gamma, .44646, 1e-5);
    lbm_colouring_free(&c);
    lbm_hosts_free(&h);
}

static void
closed_forms_of_sweeps_are_what_arpack_finds(void **state)
{
    (void)state;
    static const char *const closed[] = {"chain:2", "chain:3",   "chain:8",     "chain:9",   "ring:4",
                                         "ring:16", "mesh:4x7",  "mesh:3x2x5",  "torus:4x6", "torus:2x4",
                                         "ring:2",  "torus:8x8", "hypercube:4", "chain:1",   "mesh:1x6"};
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++) {
        struct lbm_hosts h = make_hosts(closed[i]);
        struct lbm_colouring c;
        assert_int_equal(lbm_colouring_make(&h, &c), LBM_OK);
        for (int k = 1; k < 20; k++) {
            double a, b;
            assert_int_equal(lbm_gamma_sweep(&h, &c, k / 20.0, &a), LBM_OK);
            assert_int_equal(lbm_gamma_sweep_numeric(&h, &c, k / 20.0, &b), LBM_OK);
            assert_near(a, b, k == 10 ? 1e-5 : 1e-6); /* at 1/2 some are defective */
        }
        lbm_colouring_free(&c);
        lbm_hosts_free(&h);
    }
}

static void
large_networks_have_a_gamma_too(void **state)
{
    (void)state;
    static const char *const large[] = {"star:600", "tree:8,2", "ring:601"};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        struct lbm_hosts h = make_hosts(large[i]);
        struct lbm_colouring c;
        assert_int_equal(lbm_colouring_make(&h, &c), LBM_OK);
        for (double lambda = 0.1; lambda < 1.0; lambda += 0.4) {
            double gamma = -1.0;
            assert_int_equal(lbm_gamma_sweep(&h, &c, lambda, &gamma), LBM_OK);
            assert_true(gamma > 0.5 && gamma < 1.0);
        }
        lbm_colouring_free(&c);
        lbm_hosts_free(&h);
    }
}

static void
the_best_lambda_is_found_where_a_closed_form_knows_it(void **state)
{
    (void)state;
    static const char *const known[] = {"ring:8",   "ring:16",   "chain:8",   "chain:9",     "mesh:4x4",
                                        "mesh:8x3", "torus:8x8", "torus:8x4", "hypercube:4", "chain:2"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct lbm_hosts h = make_hosts(known[i]);
        struct lbm_colouring c;
        double closed, found, gamma_closed, gamma_found;
        int exact;
        assert_int_equal(lbm_colouring_make(&h, &c), LBM_OK);
        assert_true(lbm_lambda_closed(&h, &closed, &exact) && exact);
        assert_int_equal(lbm_gamma_sweep(&h, &c, closed, &gamma_closed), LBM_OK);
        assert_int_equal(lbm_lambda_numeric(&h, &c, &found, &gamma_found), LBM_OK);
        assert_true(gamma_found >= gamma_closed - 1e-6);
        assert_true(gamma_found <= gamma_closed + 2e-3);
        assert_near(found, closed, 2e-3);
        lbm_colouring_free(&c);
        lbm_hosts_free(&h);
    }
}

static void
the_best_lambda_of_a_star_lies_below_a_half(void **state)
{
    (void)state;
    struct lbm_hosts h = make_hosts("star:16");
    struct lbm_colouring c;
    double lambda, gamma, at_half;
    int exact;
    assert_int_equal(lbm_colouring_make(&h, &c), LBM_OK);
    assert_false(lbm_lambda_closed(&h, &lambda, &exact));
    assert_int_equal(lbm_lambda_numeric(&h, &c, &lambda, &gamma), LBM_OK);
    assert_near(lambda, .274, 1e-3);
    assert_int_equal(lbm_gamma_sweep(&h, &c, 0.5, &at_half), LBM_OK);
    assert_true(gamma < at_half);
    lbm_colouring_free(&c);
    lbm_hosts_free(&h);
}

static void
a_sweep_of_a_hypercube_levels_everything(void **state)
{
    (void)state;
    struct lbm_hosts h = make_hosts("hypercube:6");
    struct lbm_colouring c;
    double gamma;
    assert_int_equal(lbm_colouring_make(&h, &c), LBM_OK);
    assert_int_equal(lbm_gamma_sweep(&h, &c, 0.5, &gamma), LBM_OK);
    assert_near(gamma, 0.0, 1e-9);
    lbm_colouring_free(&c);
    lbm_hosts_free(&h);
}

static void
one_host_has_nothing_to_level(void **state)
{
    (void)state;
    struct lbm_hosts h = make_hosts("chain:1");
    struct lbm_colouring c;
    struct lbm_laplacian l;
    double gamma;
    assert_int_equal(lbm_colouring_make(&h, &c), LBM_OK);
    assert_int_equal(c.n_colours, 0);
    assert_int_equal(lbm_laplacian_numeric(&h, &l), LBM_OK);
    assert_near(lbm_gamma_uniform(&l, 0.5), 0.0, 0.0);
    assert_int_equal(lbm_gamma_sweep(&h, &c, 0.5, &gamma), LBM_OK);
    assert_near(gamma, 0.0, 0.0);
    lbm_colouring_free(&c);
    lbm_hosts_free(&h);
}

static int allocations_left;

static int
fails_after_some(void)
{
    return allocations_left-- <= 0;
}

static void
short_memory_is_told(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 13);
    struct lbm_hosts h = make_random_hosts(&rng, 12, 9, 1);
    double *a = uniform_alpha(&h, 0.1);
    for (int k = 0; k < 40; k++) {
        struct lbm_colouring c = {0};
        struct lbm_laplacian l;
        struct lbm_convergence convergence;
        allocations_left = k;
        lbm_alloc_fails = fails_after_some;
        enum lbm_err err = lbm_colouring_make(&h, &c);
        enum lbm_err other = lbm_laplacian_numeric(&h, &l);
        enum lbm_err third = lbm_convergence_check(&h, a, &convergence);
        lbm_alloc_fails = NULL;
        assert_true(err == LBM_OK || err == LBM_E_NOMEM);
        assert_true(other == LBM_OK || other == LBM_E_NOMEM);
        assert_true(third == LBM_OK || third == LBM_E_NOMEM);
        assert_true(k > 0 || (err == LBM_E_NOMEM && other == LBM_E_NOMEM && third == LBM_E_NOMEM));
        if (err == LBM_OK) {
            assert_true(lbm_colouring_is_proper(&c));
            lbm_colouring_free(&c);
        }
    }
    free(a);
    lbm_hosts_free(&h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colourings_of_named_hosts_are_proper),
        cmocka_unit_test(bipartite_networks_take_as_many_colours_as_the_largest_degree),
        cmocka_unit_test(arbitrary_networks_take_one_colour_more_at_most),
        cmocka_unit_test(ten_thousand_links_are_coloured),
        cmocka_unit_test(greedy_colours_may_save_one),
        cmocka_unit_test(closed_forms_are_what_arpack_finds),
        cmocka_unit_test(the_best_alpha_of_meshes_is_that_of_the_spectrum),
        cmocka_unit_test(spectra_are_how_deviations_decay),
        cmocka_unit_test(rings_of_theorem_1_have_the_gamma_it_says),
        cmocka_unit_test(lemma_2_modifies_hypercubes_to_the_best_diffusion),
        cmocka_unit_test(theorem_1_explains_what_does_not_level),
        cmocka_unit_test(links_left_out_may_cut_the_network),
        cmocka_unit_test(a_sweep_on_a_ring_of_16_has_the_gamma_of_table_2),
        cmocka_unit_test(closed_forms_of_sweeps_are_what_arpack_finds),
        cmocka_unit_test(large_networks_have_a_gamma_too),
        cmocka_unit_test(the_best_lambda_is_found_where_a_closed_form_knows_it),
        cmocka_unit_test(the_best_lambda_of_a_star_lies_below_a_half),
        cmocka_unit_test(a_sweep_of_a_hypercube_levels_everything),
        cmocka_unit_test(one_host_has_nothing_to_level),
        cmocka_unit_test(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
