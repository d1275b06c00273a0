/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pins of planar guests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "embed/embed.h"
#include "tests/unit/embed/embed_fixture.h"

static uint32_t
pin(const struct lbm_graph *g, uint8_t *pinned, double *x)
{
    uint32_t n_pinned = LBM_NONE, counted = 0;
    assert_int_equal(lbm_pin_outer_face(g, pinned, x, &n_pinned), LBM_OK);
    for (uint32_t v = 0; v < g->n; v++)
        counted += pinned[v];
    assert_int_equal(counted, n_pinned);
    return n_pinned;
}

static void
a_lattice_keeps_its_perimeter(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        uint32_t a, b;
    } lattices[] = {
        {"lattice:32x32", 32, 32}, {"lattice:9x5", 9, 5}, {"lattice:3x40", 3, 40}, {"lattice:3x3", 3, 3}};
    for (size_t l = 0; l < sizeof lattices / sizeof *lattices; l++) {
        uint32_t a = lattices[l].a, b = lattices[l].b;
        struct lbm_graph g = embed_generate(lattices[l].spec);
        uint8_t *pinned = lbm_alloc(g.n, 1);
        double *x = lbm_alloc(g.n, 2 * sizeof *x);
        assert_int_equal(pin(&g, pinned, x), 2 * (a + b) - 4);
        for (uint32_t v = 0; v < g.n; v++) {
            uint32_t i = v % a, j = v / a;
            assert_int_equal(pinned[v], i == 0 || i == a - 1 || j == 0 || j == b - 1);
            if (pinned[v])
                assert_close(&x[2 * v], (const double[]){(double)i / (a - 1), (double)j / (b - 1)}, 2, 1e-12);
        }
        free(pinned);
        free(x);
        lbm_graph_free(&g);
    }
}

/* Distance along the perimeter of the unit square, counter-clockwise from the origin. */
static double
along_perimeter(const double *x)
{
    return x[1] == 0 && x[0] < 1   ? x[0]
           : x[0] == 1 && x[1] < 1 ? 1 + x[1]
           : x[1] == 1 && x[0] > 0 ? 3 - x[0]
                                   : 4 - x[1];
}

/* Planarity of g with a hub linked to each pin by a path of two edges: if it is planar, the pins lie on one
 * face, and it shows in that there are pins (its faces have more than four vertices, the hub among them). */
static int
planar_with_hub(const struct lbm_graph *g, const uint8_t *pinned)
{
    struct lbm_edge *edges = lbm_alloc(lbm_graph_directions(g) / 2 + 2 * (size_t)g->n, sizeof *edges);
    size_t n_edges = 0;
    uint32_t n = g->n + 1, hub = g->n;
    for (uint32_t v = 0; v < g->n; v++) {
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            if (v < g->target[e])
                edges[n_edges++] = (struct lbm_edge){v, g->target[e], 1};
        if (pinned[v]) {
            edges[n_edges++] = (struct lbm_edge){v, n, 1};
            edges[n_edges++] = (struct lbm_edge){n++, hub, 1};
        }
    }
    struct lbm_graph joined = embed_build(n, edges, n_edges);
    uint8_t *also = lbm_alloc(n, 1);
    double *x = lbm_alloc(n, 2 * sizeof *x);
    int planar = pin(&joined, also, x) != 0;
    free(edges);
    free(also);
    free(x);
    lbm_graph_free(&joined);
    return planar;
}

/* Pins lie on a face, apart from each other, and no side of the square is empty. */
static void
assert_pins_are_a_face(const struct lbm_graph *g)
{
    uint8_t *pinned = lbm_alloc(g->n, 1);
    double *x = lbm_alloc(g->n, 2 * sizeof *x);
    uint32_t n = pin(g, pinned, x);
    assert_true(n >= 4);
    for (uint32_t v = 0; v < g->n; v++) {
        double next = 4; /* how far to the next pin along the perimeter */
        for (uint32_t u = 0; pinned[v] && u < g->n; u++)
            if (pinned[u] && u != v)
                next = fmin(next, fmod(along_perimeter(x + 2 * u) - along_perimeter(x + 2 * v) + 4, 4));
        assert_true(!pinned[v] || (next > 0 && next <= 1.0 / (n / 4) + 1e-12));
    }
    assert_true(planar_with_hub(g, pinned));
    free(pinned);
    free(x);
}

static void
pins_of_planar_guests_are_a_face(void **state)
{
    (void)state;
    static const char *const specs[] = {"tri:40", "tri:1000", "airfoil:2000"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct lbm_graph g = embed_generate(specs[i]);
        assert_pins_are_a_face(&g);
        lbm_graph_free(&g);
    }
}

/* What the tests above rely on: a vertex inside shares no face with the perimeter. */
static void
pins_and_a_vertex_inside_are_no_face(void **state)
{
    (void)state;
    struct lbm_graph g = embed_generate("lattice:12x17");
    uint8_t *pinned = lbm_alloc(g.n, 1);
    double *x = lbm_alloc(g.n, 2 * sizeof *x);
    assert_int_equal(pin(&g, pinned, x), 54);
    assert_true(planar_with_hub(&g, pinned));
    pinned[8 * 12 + 6] = 1;
    assert_false(planar_with_hub(&g, pinned));
    free(pinned);
    free(x);
    lbm_graph_free(&g);
}

/* Lattices in a chain, each sharing a corner with the next, and a tail: the longest face passes the shared
 * corners more than once. */
static void
cut_vertices_are_pinned_once(void **state)
{
    (void)state;
    enum { COPIES = 3, A = 6, LAST = A * A - 1 };
    struct lbm_graph square = embed_generate("lattice:6x6");
    struct lbm_edge edges[COPIES * 2 * A * A];
    size_t n_edges = 0;
    for (uint32_t copy = 0; copy < COPIES; copy++)
        for (uint32_t v = 0; v < square.n; v++)
            for (uint64_t e = square.offset[v]; e < square.offset[v + 1]; e++)
                if (v < square.target[e])
                    edges[n_edges++] = (struct lbm_edge){copy * LAST + v, copy * LAST + square.target[e], 1};
    edges[n_edges++] = (struct lbm_edge){COPIES * LAST, COPIES * LAST + 1, 1};
    struct lbm_graph g = embed_build(COPIES * LAST + 2, edges, n_edges);
    assert_pins_are_a_face(&g);
    lbm_graph_free(&g);
    lbm_graph_free(&square);
}

static void
no_pins_without_a_face_to_pin(void **state)
{
    (void)state;
    static const char *const specs[] = {"tree:500", "lattice:1x30", "lattice:4x4x4"};
    const struct lbm_edge triangle[] = {{0, 1, 1}, {1, 2, 1}, {0, 2, 1}};
    const struct lbm_edge ring[] = {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1}, {4, 0, 1}};
    struct lbm_edge k5[10], k33[9], apart[24];
    size_t n5 = 0, n33 = 0;
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t j = 0; j < i; j++)
            k5[n5++] = (struct lbm_edge){i, j, 1};
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 3; j < 6; j++)
            k33[n33++] = (struct lbm_edge){i, j, 1};
    for (uint32_t i = 0; i < 24; i++) /* two lattices of 3 x 3 */
        apart[i] = i % 12 < 6 ? (struct lbm_edge){i / 12 * 9 + i % 6 / 2 * 3 + i % 2,
                                                  i / 12 * 9 + i % 6 / 2 * 3 + i % 2 + 1, 1}
                              : (struct lbm_edge){i / 12 * 9 + i % 6, i / 12 * 9 + i % 6 + 3, 1};
    struct lbm_graph graphs[] = {
        embed_build(0, NULL, 0),     embed_build(1, NULL, 0),    embed_build(50, NULL, 0),
        embed_build(3, triangle, 3), embed_build(5, ring, 5),    embed_build(5, k5, n5),
        embed_build(6, k33, n33),    embed_build(18, apart, 24), embed_generate(specs[0]),
        embed_generate(specs[1]),    embed_generate(specs[2])};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        uint8_t pinned[500];
        double x[1000];
        memset(pinned, 7, sizeof pinned);
        assert_int_equal(pin(&graphs[i], pinned, x), 0);
        lbm_graph_free(&graphs[i]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lattice_keeps_its_perimeter),
        cmocka_unit_test(pins_of_planar_guests_are_a_face),
        cmocka_unit_test(pins_and_a_vertex_inside_are_no_face),
        cmocka_unit_test(cut_vertices_are_pinned_once),
        cmocka_unit_test(no_pins_without_a_face_to_pin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
