/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generators: what they promise of every size, and that a seed decides every byte. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "graph/generate.h"
#include "tests/unit/graph/graph_fixture.h"

static struct lbm_diag diag;

static struct lbm_graph
generate(const char *spec, uint64_t seed)
{
    struct lbm_graph g;
    if (lbm_graph_generate(spec, seed, &g, &diag) != LBM_OK)
        fail_msg("%s: %s", spec, diag.text);
    return g;
}

static const char *const specs[] = {
    "lattice:1x1", "lattice:1x7",  "lattice:5x3", "lattice:2x3x4", "lattice:32x32",
    "tri:1",       "tri:2",        "tri:3",       "tri:4",         "tri:5",
    "tri:100",     "tri:3000",     "rgg:1",       "rgg:2",         "rgg:3",
    "rgg:30",      "rgg:3000",     "airfoil:16",  "airfoil:17",    "airfoil:40",
    "airfoil:100", "airfoil:3000", "tree:1",      "tree:2",        "tree:3000",
};
enum { SPECS = sizeof specs / sizeof specs[0] };

static void
every_graph_is_valid_and_connected(void **state)
{
    (void)state;
    for (int i = 0; i < SPECS; i++) {
        struct lbm_graph g = generate(specs[i], 7);
        uint32_t *component = lbm_alloc(g.n, sizeof *component);
        assert_non_null(component);
        if (lbm_graph_check(&g, &diag) != LBM_OK)
            fail_msg("%s: %s", specs[i], diag.text);
        if (lbm_graph_components(&g, component) != 1)
            fail_msg("%s: not connected", specs[i]);
        free(component);
        lbm_graph_free(&g);
    }
}

static int
same_bytes(const struct lbm_graph *a, const struct lbm_graph *b)
{
    return a->n == b->n && lbm_graph_directions(a) == lbm_graph_directions(b) &&
           memcmp(a->offset, b->offset, ((size_t)a->n + 1) * sizeof *a->offset) == 0 &&
           memcmp(a->target, b->target, lbm_graph_directions(a) * sizeof *a->target) == 0 &&
           (a->position == NULL) == (b->position == NULL) &&
           (a->position == NULL ||
            memcmp(a->position, b->position, 2 * (size_t)a->n * sizeof *a->position) == 0);
}

static void
the_seed_decides_every_byte(void **state)
{
    (void)state;
    static const char *const random[] = {"tri:500", "rgg:500", "airfoil:500", "tree:500"};
    for (int i = 0; i < 4; i++) {
        struct lbm_graph a = generate(random[i], 1), again = generate(random[i], 1),
                         b = generate(random[i], 2);
        assert_true(same_bytes(&a, &again));
        assert_false(same_bytes(&a, &b));
        lbm_graph_free(&a);
        lbm_graph_free(&again);
        lbm_graph_free(&b);
    }
}

static void
lattices_have_the_edges_of_the_grid(void **state)
{
    (void)state;
    struct lbm_graph g = generate("lattice:4x3x2", 0);
    assert_int_equal(g.n, 24);
    for (uint32_t v = 0; v < g.n; v++)
        for (uint32_t u = 0; u < g.n; u++) {
            int dx = abs((int)(v % 4) - (int)(u % 4)), dy = abs((int)(v / 4 % 3) - (int)(u / 4 % 3));
            int dz = abs((int)(v / 12) - (int)(u / 12));
            assert_int_equal(graph_lists(&g, v, u), dx + dy + dz == 1);
        }
    assert_null(g.position);
    lbm_graph_free(&g);
    g = generate("lattice:4x3", 0);
    for (uint32_t v = 0; v < g.n; v++) {
        assert_true(g.position[2 * v] == v % 4);
        assert_true(g.position[2 * v + 1] == v / 4);
    }
    lbm_graph_free(&g);
}

static void
trees_have_one_edge_less_than_vertices(void **state)
{
    (void)state;
    struct lbm_graph g = generate("tree:1000", 3);
    assert_int_equal(lbm_graph_directions(&g), 2 * 999);
    lbm_graph_free(&g);
}

/* A triangulation of n points, h of them on the hull, has 3n - 3 - h edges. */
static void
triangulations_have_as_many_edges_as_euler_says(void **state)
{
    (void)state;
    struct lbm_graph g = generate("tri:2000", 5);
    uint64_t edges = lbm_graph_directions(&g) / 2;
    assert_int_equal(g.n, 2000);
    assert_true(edges <= 3 * 2000 - 6);
    assert_true(edges >= 3 * 2000 - 3 - 100);
    for (size_t i = 0; i < 4000; i++)
        assert_true(g.position[i] >= 0 && g.position[i] < 1);
    lbm_graph_free(&g);
}

static double
length(const struct lbm_graph *g, uint32_t u, uint32_t v)
{
    return hypot(g->position[2 * u] - g->position[2 * v], g->position[2 * u + 1] - g->position[2 * v + 1]);
}

/* Whether u and v are linked is their distance alone, but for the few bridges, which are longer. */
static void
near_points_are_linked_in_a_geometric_graph(void **state)
{
    (void)state;
    enum { N = 1000 };
    struct lbm_graph g = generate("rgg:1000", 11);
    double radius = sqrt(9 / (3.14159265358979323846 * N));
    uint32_t bridges = 0;
    for (uint32_t u = 0; u < N; u++)
        for (uint32_t v = u + 1; v < N; v++) {
            int near = length(&g, u, v) <= radius, linked = graph_lists(&g, u, v);
            assert_true(linked || !near);
            bridges += (uint32_t)(linked && !near);
        }
    assert_true(bridges < N / 50);
    double degree = (double)lbm_graph_directions(&g) / N;
    assert_true(degree > 8 && degree < 10);
    lbm_graph_free(&g);
}

/* Half the thickness of the foil at x. */
static double
half_thickness(double x)
{
    return 0.6 *
           (0.2969 * sqrt(x) - 0.1260 * x - 0.3516 * x * x + 0.2843 * x * x * x - 0.1036 * x * x * x * x);
}

/* Nonzero well inside the foil: the mesh knows it as a polygon, a little smaller, most at the nose. */
static int
in_foil(double x, double y)
{
    const double margin = 5e-4;
    return x > margin && x < 1 && fabs(y) < half_thickness(x - margin) - margin;
}

static void
no_point_or_edge_lies_in_the_foil(void **state)
{
    (void)state;
    struct lbm_graph g = generate("airfoil:20000", 1);
    uint32_t near = 0;
    for (uint32_t u = 0; u < g.n; u++) {
        const double *a = g.position + 2 * u;
        assert_false(in_foil(a[0], a[1]));
        near += hypot(a[0] - 0.5, a[1]) < 1;
        for (uint64_t k = g.offset[u]; k < g.offset[u + 1]; k++) {
            const double *b = g.position + 2 * g.target[k];
            for (int i = 1; i < 8; i++)
                assert_false(in_foil(a[0] + (b[0] - a[0]) * i / 8, a[1] + (b[1] - a[1]) * i / 8));
        }
    }
    assert_true(near > g.n / 2); /* graded: most points are close to the foil, a thirtieth of the area */
    lbm_graph_free(&g);
}

static void
an_airfoil_has_about_the_vertices_asked_for(void **state)
{
    (void)state;
    static const uint32_t wanted[] = {100, 200, 1000, 5000, 20000};
    for (int i = 0; i < 5; i++) {
        char spec[32];
        snprintf(spec, sizeof spec, "airfoil:%u", wanted[i]);
        struct lbm_graph g = generate(spec, 1);
        assert_in_range(g.n, wanted[i] * 95 / 100, wanted[i] * 105 / 100);
        /* The plane with a hole: by Euler 3n - h - i edges, h and i on the outer and inner border. */
        assert_true(lbm_graph_directions(&g) / 2 <= 3 * (uint64_t)g.n);
        assert_true(lbm_graph_directions(&g) / 2 >= 2 * (uint64_t)g.n);
        lbm_graph_free(&g);
    }
}

static void
wrong_specs_are_refused_with_the_right_form(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        enum lbm_err err;
        const char *text;
    } wrong[] = {
        {"", LBM_E_SYNTAX, "lattice:AxB"},
        {"latice:3x3", LBM_E_SYNTAX, "tri:N"},
        {"lattice", LBM_E_SYNTAX, "lattice:AxB"},
        {"lattice:", LBM_E_SYNTAX, "lattice:AxB"},
        {"lattice:3", LBM_E_SYNTAX, "lattice:AxB"},
        {"lattice:3x", LBM_E_SYNTAX, "lattice:AxB"},
        {"lattice:3xx3", LBM_E_SYNTAX, "lattice"},
        {"lattice:2x2x2x2", LBM_E_SYNTAX, "lattice"},
        {"lattice:0x3", LBM_E_RANGE, "from 1"},
        {"lattice:-1x3", LBM_E_SYNTAX, "lattice"},
        {"tri:1x2", LBM_E_SYNTAX, "tri:N"},
        {"tri: 5", LBM_E_SYNTAX, "tri:N"},
        {"tri:5 ", LBM_E_SYNTAX, "tri:N"},
        {"tri:+5", LBM_E_SYNTAX, "tri:N"},
        {"tri:0", LBM_E_RANGE, "from 1"},
        {"tri:4000001", LBM_E_RANGE, "4000000"},
        {"tree:100000001", LBM_E_RANGE, "from 1"},
        {"airfoil:15", LBM_E_RANGE, "16"},
        {"rgg:99999999999999999999", LBM_E_RANGE, "from 1"},
        {"lattice:100000000x100000000x100000000", LBM_E_RANGE, "from 1"},
        {"lattice:4294967296x4294967296", LBM_E_RANGE, "from 1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct lbm_graph g = {.n = 77};
        if (lbm_graph_generate(wrong[i].spec, 1, &g, &diag) != wrong[i].err || g.n != 77)
            fail_msg("%s", wrong[i].spec);
        if (strstr(diag.text, wrong[i].text) == NULL)
            fail_msg("%s: %s", wrong[i].spec, diag.text);
        assert_string_equal(diag.where, wrong[i].spec);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_graph_is_valid_and_connected),
        cmocka_unit_test(the_seed_decides_every_byte),
        cmocka_unit_test(lattices_have_the_edges_of_the_grid),
        cmocka_unit_test(trees_have_one_edge_less_than_vertices),
        cmocka_unit_test(triangulations_have_as_many_edges_as_euler_says),
        cmocka_unit_test(near_points_are_linked_in_a_geometric_graph),
        cmocka_unit_test(no_point_or_edge_lies_in_the_foil),
        cmocka_unit_test(an_airfoil_has_about_the_vertices_asked_for),
        cmocka_unit_test(wrong_specs_are_refused_with_the_right_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
