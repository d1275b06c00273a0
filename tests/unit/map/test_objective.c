/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a mapping costs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/unit/map/map_fixture.h"

/* ---- the evaluator ---------------------------------------------------------------------------------- */

/* Distances by Floyd and Warshall, from the links alone. */
static uint64_t *
distances(const struct lbm_hosts *h)
{
    uint64_t *d = lbm_alloc((size_t)h->n * h->n, sizeof *d);
    assert_non_null(d);
    for (size_t i = 0; i < (size_t)h->n * h->n; i++)
        d[i] = i % (h->n + 1) == 0 ? 0 : UINT32_MAX;
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++)
            d[(size_t)p * h->n + h->target[e]] = h->cost[e];
    for (uint32_t k = 0; k < h->n; k++)
        for (uint32_t p = 0; p < h->n; p++)
            for (uint32_t q = 0; q < h->n; q++) {
                uint64_t through = d[(size_t)p * h->n + k] + d[(size_t)k * h->n + q];
                if (through < d[(size_t)p * h->n + q])
                    d[(size_t)p * h->n + q] = through;
            }
    return d;
}

/* The same figures, vertex by vertex and pair by pair. */
static struct lbm_quality
measure(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part)
{
    struct lbm_quality out = {0};
    uint64_t *d = distances(h), weight = 0;
    double work = 0, capacity = 0, fullest = 0;
    for (uint32_t p = 0; p < h->n; p++)
        capacity += h->capacity[p];
    for (uint32_t v = 0; v < g->n; v++)
        work += lbm_graph_work(g, v);
    for (uint32_t p = 0; p < h->n; p++) {
        uint64_t load = 0, volume = 0;
        for (uint32_t v = 0; v < g->n; v++) {
            if (part[v] != p)
                continue;
            load += lbm_graph_work(g, v);
            for (uint32_t q = 0; q < h->n; q++) {
                int any = 0;
                for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
                    any |= q != p && part[g->target[e]] == q;
                volume += any;
            }
        }
        fullest = fmax(fullest, work > 0 ? (double)load * capacity / (work * h->capacity[p]) : 1);
        out.comm_volume_total += volume;
        out.comm_volume_max = volume > out.comm_volume_max ? volume : out.comm_volume_max;
        out.empty_hosts += load == 0;
    }
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            if (g->target[e] < v) {
                uint64_t c = lbm_graph_weight(g, e), far = d[(size_t)part[v] * h->n + part[g->target[e]]];
                weight += c;
                out.hop_bytes += c * far;
                out.cut += part[v] != part[g->target[e]] ? c : 0;
                out.dilation_max = far > out.dilation_max ? (uint32_t)far : out.dilation_max;
            }
    out.imbalance = fullest - 1;
    out.dilation_mean = weight != 0 ? (double)out.hop_bytes / (double)weight : 0;
    free(d);
    return out;
}

static void
assert_quality_equal(const struct lbm_quality *a, const struct lbm_quality *b)
{
    assert_int_equal(a->hop_bytes, b->hop_bytes);
    assert_int_equal(a->cut, b->cut);
    assert_int_equal(a->dilation_max, b->dilation_max);
    assert_int_equal(a->comm_volume_total, b->comm_volume_total);
    assert_int_equal(a->comm_volume_max, b->comm_volume_max);
    assert_int_equal(a->empty_hosts, b->empty_hosts);
    assert_true(fabs(a->imbalance - b->imbalance) < 1e-9);
    assert_true(fabs(a->dilation_mean - b->dilation_mean) < 1e-9);
}

static void
evaluator_agrees_with_brute_force(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 1);
    for (unsigned i = 0; i < 60; i++) {
        uint32_t n = lbm_rng_below(&rng, 40);
        struct lbm_hosts h = map_hosts_some(i % MAP_HOSTS_SOME);
        struct lbm_graph g = map_guest(n, lbm_rng_below(&rng, 120), 1 + i % 3 * 50, 1 + i % 2 * 9, &rng);
        uint32_t *part = map_chunk(&g, h.n, &rng);
        struct lbm_quality ours, theirs = measure(&g, &h, part);
        assert_int_equal(lbm_map_evaluate(&g, &h, part, &ours, NULL), LBM_OK);
        assert_quality_equal(&ours, &theirs);
        assert_int_equal(lbm_map_hop_bytes(&g, &h, part), theirs.hop_bytes);
        free(part);
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
    }
}

static void
write_metis(const struct lbm_graph *g, const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%u %llu 011\n", g->n, (unsigned long long)lbm_graph_directions(g) / 2);
    for (uint32_t v = 0; v < g->n; v++) {
        fprintf(file, "%u", lbm_graph_work(g, v));
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            fprintf(file, " %u %u", g->target[e] + 1, lbm_graph_weight(g, e));
        fprintf(file, "\n");
    }
    assert_int_equal(fclose(file), 0);
}

/* The number behind a key of a flat JSON object. */
static double
number_of(const char *json, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(json, quoted);
    assert_non_null(at);
    return strtod(at + strlen(quoted), NULL);
}

/* Needs python3 and the reference material next to the source tree. */
static void
evaluator_agrees_with_the_independent_judge(void **state)
{
    char judge[512], graph[] = "/tmp/lbmap-judge-XXXXXX", map[sizeof graph + 8], command[1600], json[4096];
    const char *top = getenv("top_srcdir");
    struct lbm_rng rng;
    (void)state;
    snprintf(judge, sizeof judge, "%s/../shared/tools/evalmap.py", top != NULL ? top : ".");
    if (access(judge, R_OK) != 0 || system("python3 -c '' 2>/dev/null") != 0) {
        print_message("skipped: no ../shared/tools/evalmap.py next to the sources, or no python3\n");
        skip();
    }
    close(mkstemp(graph));
    snprintf(map, sizeof map, "%s.map", graph);
    lbm_rng_seed(&rng, 2);
    static const char *const specs[] = {"mesh:4x4", "torus:3x5", "hypercube:4", "star:7", "mesh:2x3x4"};
    for (unsigned i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct lbm_hosts h = map_hosts(specs[i]);
        struct lbm_graph g = map_guest(60, 150, 20, 9, &rng);
        uint32_t *part = map_chunk(&g, h.n, &rng);
        FILE *file = fopen(map, "w");
        assert_non_null(file);
        for (uint32_t v = 0; v < g.n; v++)
            fprintf(file, "%u\n", part[v]);
        assert_int_equal(fclose(file), 0);
        write_metis(&g, graph);
        snprintf(command, sizeof command, "python3 %s %s %s %s", judge, graph, map, specs[i]);
        file = popen(command, "r");
        assert_non_null(file);
        assert_non_null(fgets(json, sizeof json, file));
        assert_int_equal(pclose(file), 0);
        struct lbm_quality ours,
            theirs = {.imbalance = number_of(json, "imbalance"),
                      .hop_bytes = (uint64_t)number_of(json, "hop_bytes"),
                      .cut = (uint64_t)number_of(json, "cut"),
                      .dilation_mean = number_of(json, "dilation_mean"),
                      .dilation_max = (uint32_t)number_of(json, "dilation_max"),
                      .comm_volume_total = (uint64_t)number_of(json, "comm_volume_total"),
                      .comm_volume_max = (uint64_t)number_of(json, "comm_volume_max"),
                      .empty_hosts = (uint32_t)number_of(json, "empty_hosts")};
        assert_int_equal(lbm_map_evaluate(&g, &h, part, &ours, NULL), LBM_OK);
        assert_quality_equal(&ours, &theirs);
        free(part);
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
    }
    unlink(graph);
    unlink(map);
}

static void
a_host_out_of_range_is_named(void **state)
{
    struct lbm_rng rng;
    struct lbm_diag diag = {0};
    struct lbm_quality quality = {.cut = 77};
    (void)state;
    lbm_rng_seed(&rng, 3);
    struct lbm_hosts h = map_hosts("mesh:4x4");
    struct lbm_graph g = map_guest(20, 40, 1, 1, &rng);
    uint32_t *part = map_chunk(&g, h.n, &rng);
    part[13] = 16;
    assert_int_equal(lbm_map_evaluate(&g, &h, part, &quality, &diag), LBM_E_RANGE);
    assert_non_null(strstr(diag.text, "vertex 13 "));
    assert_non_null(strstr(diag.text, "host 16;"));
    assert_int_equal(quality.cut, 77);
    free(part);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

/* Every pair of n vertices joined by the largest weight. */
static struct lbm_graph
heavy_clique(uint32_t n)
{
    struct lbm_graph g;
    LBM_VEC(struct lbm_edge) edges = {0};
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t u = 0; u < v; u++)
            assert_int_equal(lbm_vec_push(&edges, ((struct lbm_edge){u, v, LBM_WEIGHT_MAX})), LBM_OK);
    assert_int_equal(lbm_graph_build(n, edges.at, edges.n, LBM_MERGE_REJECT, &g, NULL), LBM_OK);
    lbm_vec_free(&edges);
    return g;
}

static void
sums_beyond_64_bits_are_refused(void **state)
{
    static const struct lbm_link far[] = {{0, 1, LBM_LINK_COST_MAX}};
    struct lbm_hosts h;
    struct lbm_quality quality;
    struct lbm_plan plan;
    struct lbm_plan_options options;
    (void)state;
    assert_int_equal(lbm_hosts_build(2, far, 1, NULL, 2, NULL, &h, NULL), LBM_OK);
    struct lbm_graph g = heavy_clique(320), small = heavy_clique(40);
    uint32_t part[320];
    for (uint32_t v = 0; v < 320; v++)
        part[v] = v % 2;
    assert_int_equal(lbm_map_evaluate(&g, &h, part, &quality, NULL), LBM_E_LIMIT);
    assert_int_equal(lbm_map_check_sums(&g, &h, NULL), LBM_E_LIMIT);
    lbm_plan_defaults(&options);
    assert_int_equal(lbm_plan_make(&g, &h, &options, &plan, NULL), LBM_E_LIMIT);
    assert_int_equal(lbm_map_check_sums(&small, &h, NULL), LBM_OK);
    assert_int_equal(lbm_map_evaluate(&small, &h, part, &quality, NULL), LBM_OK);
    assert_int_equal(quality.hop_bytes, UINT64_C(400) * LBM_WEIGHT_MAX * LBM_LINK_COST_MAX);
    lbm_graph_free(&g);
    lbm_graph_free(&small);
    lbm_hosts_free(&h);
}

static void
limits_leave_the_slack_or_what_whole_vertices_need(void **state)
{
    struct lbm_rng rng;
    uint64_t limit[24];
    (void)state;
    lbm_rng_seed(&rng, 4);
    struct lbm_hosts h = map_hosts("mesh:2x2");
    struct lbm_graph many = map_guest(4000, 0, 1, 1, &rng), few = map_guest(9, 0, 1, 1, &rng);
    assert_int_equal(lbm_map_limits(&many, &h, 0.03, limit), LBM_OK);
    for (uint32_t p = 0; p < 4; p++)
        assert_int_equal(limit[p], 1030); /* exactly 3 % */
    assert_int_equal(lbm_map_limits(&few, &h, 0.03, limit), LBM_OK);
    for (uint32_t p = 0; p < 4; p++)
        assert_int_equal(limit[p], 3); /* 2.25 and one vertex */
    lbm_hosts_free(&h);
    h = map_hosts_some(MAP_HOSTS_SOME - 1); /* capacities 1 2 .5 1 3 1 */
    assert_int_equal(lbm_map_limits(&many, &h, 0.0, limit), LBM_OK);
    /* 4000 * 3 / 8.5 is 1411.8 and 4000 / 8.5 is 470.6: whole vertices need 0.09 % more, on every host */
    assert_int_equal(limit[4], 1413);
    assert_int_equal(limit[0], 471);
    assert_int_equal(limit[2], 235);
    lbm_graph_free(&many);
    lbm_graph_free(&few);
    lbm_hosts_free(&h);
}

static void
gain_is_the_difference_of_hop_bytes(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 5);
    for (unsigned i = 0; i < 40; i++) {
        struct lbm_hosts h = map_hosts_some(i % MAP_HOSTS_SOME);
        struct lbm_graph g = map_guest(30, 90, 100, 1, &rng);
        uint32_t *part = map_chunk(&g, h.n, &rng);
        for (uint32_t v = 0; v < g.n; v++) {
            uint32_t p = part[v], q = lbm_rng_below(&rng, h.n);
            int64_t before = (int64_t)lbm_map_hop_bytes(&g, &h, part);
            int64_t gain = lbm_map_gain(&g, &h, part, v, q);
            part[v] = q;
            assert_int_equal(gain, before - (int64_t)lbm_map_hop_bytes(&g, &h, part));
            part[v] = p;
        }
        free(part);
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluator_agrees_with_brute_force),
        cmocka_unit_test(evaluator_agrees_with_the_independent_judge),
        cmocka_unit_test(a_host_out_of_range_is_named),
        cmocka_unit_test(sums_beyond_64_bits_are_refused),
        cmocka_unit_test(limits_leave_the_slack_or_what_whole_vertices_need),
        cmocka_unit_test(gain_is_the_difference_of_hop_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
