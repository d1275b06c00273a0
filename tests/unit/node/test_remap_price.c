/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans that begin with the mapping there is: what moves cost. Few move where few must. They are cheaper
 * where boundaries have become long, and where much has to move anyway. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph/generate.h"
#include "map/map.h"
#include "node/node.h"

enum { USUAL = 100 };

struct again {
    struct lbm_graph g;
    struct lbm_hosts h;
    uint32_t *part;     /* [g.n] the mapping there is */
    double *baseline;   /* [h.n] parts of J of the plan from nothing */
    double there, then; /* J of it and of the one that is planned, in parts of J of a plan from nothing */
    double must, moved; /* work that is over what is due to hosts, and that moves; in parts of all */
};

static void
again_new(struct again *a)
{
    struct lbm_diag diag;
    *a = (struct again){.part = NULL};
    assert_int_equal(lbm_hosts_generate("mesh:4x4", &a->h, &diag), LBM_OK);
    assert_int_equal(lbm_graph_generate("airfoil:8000", 1, &a->g, &diag), LBM_OK);
    free(a->g.work);
    a->g.work = calloc(a->g.n, sizeof *a->g.work);
    a->part = calloc(a->g.n, sizeof *a->part);
    a->baseline = calloc(a->h.n, sizeof *a->baseline);
    assert_true(a->g.work != NULL && a->part != NULL && a->baseline != NULL);
    for (uint32_t v = 0; v < a->g.n; v++)
        a->g.work[v] = USUAL;
}

static void
again_free(struct again *a)
{
    free(a->part);
    free(a->baseline);
    lbm_hosts_free(&a->h);
    lbm_graph_free(&a->g);
}

/* current: NULL: from nothing. Out: part [g.n]. Returns J. */
static double
plan(const struct again *a, const uint32_t *current, uint32_t *part)
{
    struct lbm_plan_task task = {.seed = 1,
                                 .starts = 1,
                                 .imbalance = 0.03,
                                 .graph = &a->g,
                                 .hosts = &a->h,
                                 .current = current,
                                 .baseline = current != NULL ? a->baseline : NULL};
    struct lbm_plan *made = NULL;
    uint8_t *anchored = NULL;
    assert_int_equal(lbm_node_plan(&task, NULL, &made, &anchored), LBM_OK);
    double hop_bytes = (double)lbm_map_hop_bytes(&a->g, &a->h, made->part);
    for (uint32_t v = 0; v < a->g.n; v++)
        part[v] = made->part[v];
    lbm_plan_free(made);
    free(made);
    return hop_bytes;
}

/* Plan from a->part. */
static void
plan_again(struct again *a)
{
    uint32_t *part = calloc(a->g.n, sizeof *part);
    uint64_t *load = calloc(a->h.n, sizeof *load), *share = calloc(a->h.n, sizeof *share);
    double all = (double)lbm_graph_total_work(&a->g);
    double fresh = plan(a, NULL, part);
    a->there = (double)lbm_map_hop_bytes(&a->g, &a->h, a->part) / fresh;
    lbm_map_host_hop_bytes(&a->g, &a->h, part, a->baseline);
    lbm_map_loads(&a->g, a->h.n, a->part, load);
    assert_int_equal(lbm_map_limits(&a->g, &a->h, 0, share), LBM_OK);
    a->must = (double)lbm_map_excess(a->h.n, load, share) / all;
    a->then = plan(a, a->part, part) / fresh;
    for (uint32_t v = 0; v < a->g.n; v++)
        a->moved += part[v] != a->part[v] ? a->g.work[v] / all : 0;
    if (getenv("SHOW") != NULL)
        print_message("must %.3f, moved %.3f, J %.3f, %.3f\n", a->must, a->moved, a->there, a->then);
    free(part);
    free(load);
    free(share);
}

/* Planned once, and again when what two of the hosts have costs that many times as much. */
static void
grown(struct again *a, double factor)
{
    enum { HOSTS = 2 };
    again_new(a);
    (void)plan(a, NULL, a->part);
    for (uint32_t v = 0; v < a->g.n; v++)
        if (a->part[v] < HOSTS)
            a->g.work[v] = (uint32_t)(USUAL * factor);
    plan_again(a);
}

static void
few_move_where_few_must(void **state)
{
    struct again a;
    (void)state;
    grown(&a, 1.2);
    assert_true(a.moved <= 2 * a.must && a.then <= 1.05);
    again_free(&a);
}

/* The mapping there is was made when some pairs of vertices talked twenty times as much as others. */
static void
moves_are_cheaper_while_boundaries_are_long(void **state)
{
    struct again a;
    (void)state;
    again_new(&a);
    a.g.weight = calloc(a.g.offset[a.g.n], sizeof *a.g.weight);
    assert_non_null(a.g.weight);
    for (uint32_t v = 0; v < a.g.n; v++)
        for (uint64_t e = a.g.offset[v]; e < a.g.offset[v + 1]; e++)
            a.g.weight[e] = (v ^ a.g.target[e]) % 4 == 1 ? 20 : 1;
    (void)plan(&a, NULL, a.part);
    free(a.g.weight);
    a.g.weight = NULL;
    plan_again(&a);
    assert_true(a.there >= 1.3 && a.then <= 1.005); /* as dear as ever: 1.024 */
    again_free(&a);
}

/* Two hosts have each other's vertices, row by row; the others have what a plan gave them. */
static void
others_keep_what_they_have_where_boundaries_are_long(void **state)
{
    enum { SPOILT = 2 };
    struct again a;
    (void)state;
    again_new(&a);
    (void)plan(&a, NULL, a.part);
    for (uint32_t v = 0; v < a.g.n; v++)
        a.part[v] = a.part[v] < SPOILT ? v % SPOILT : a.part[v];
    plan_again(&a);
    assert_true(a.there >= 1.3 && a.then <= 1.01 && a.moved <= 0.075); /* all cheap: 0.081 */
    again_free(&a);
}

static void
moves_are_cheaper_where_much_must_move(void **state)
{
    struct again a;
    (void)state;
    grown(&a, 2.5);
    assert_true(a.there <= 1.05 && a.then <= 1.012); /* as dear as ever: 1.023 */
    again_free(&a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_move_where_few_must),
        cmocka_unit_test(moves_are_cheaper_while_boundaries_are_long),
        cmocka_unit_test(others_keep_what_they_have_where_boundaries_are_long),
        cmocka_unit_test(moves_are_cheaper_where_much_must_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
