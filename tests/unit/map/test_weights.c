/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans of weighted guests with few vertices a host: the unit of weight does not matter, the bound asked is kept
 * where longest first keeps it, nothing is worse than longest first.
 *
 * LBMAP_GUESTS=N: N random guests, 10,000 by default; LBMAP_SEED=N: other ones; LBMAP_NORMAL=1: each with the effort
 * normal, else one in sixteen. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/unit/map/map_fixture.h"

static uint64_t
setting(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : fallback;
}

/* ---- random problems ---------------------------------------------------------------------------------- */

struct trial {
    struct lbm_graph g;
    struct lbm_hosts h;
    struct lbm_plan_options options;
    uint32_t *current; /* NULL: a fresh plan */
};

static struct lbm_graph
random_guest(struct lbm_rng *rng)
{
    static const char *const specs[] = {"lattice:5x5", "lattice:3x4", "lattice:2x7", "lattice:3x3x2",
                                        "tri:20",      "tri:9",       "lattice:1x9", "lattice:6x4"};
    enum { SPECS = sizeof specs / sizeof *specs };
    uint32_t which = lbm_rng_below(rng, SPECS + 2);
    if (which < SPECS)
        return map_guest_by_spec(specs[which]);
    uint32_t n = 1 + lbm_rng_below(rng, 24);
    return map_guest(n, which == SPECS ? n : 3 * n, 1 + lbm_rng_below(rng, 20), 1, rng);
}

/* Works: equal, of a few kinds, even from 1 to 100, with few that are very heavy. */
static void
weigh(struct lbm_graph *g, struct lbm_rng *rng)
{
    uint32_t kind = lbm_rng_below(rng, 6), equal = 1 + lbm_rng_below(rng, 60);
    if (kind == 0)
        return;
    g->work = lbm_alloc(g->n, sizeof *g->work);
    assert_non_null(g->work);
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t of_kind[] = {0,
                              equal,
                              2 + lbm_rng_below(rng, 2),
                              1 + lbm_rng_below(rng, 100),
                              lbm_rng_below(rng, 6) == 0 ? 200 + lbm_rng_below(rng, 800)
                                                         : 1 + lbm_rng_below(rng, 5),
                              1 + lbm_rng_below(rng, 6)};
        g->work[v] = of_kind[kind];
    }
}

static struct lbm_hosts
random_hosts(struct lbm_rng *rng)
{
    static const char *const specs[] = {"chain:2",  "ring:3",      "mesh:2x2", "star:5",
                                        "mesh:3x2", "hypercube:3", "tree:2,2"};
    struct lbm_hosts h = map_hosts(specs[lbm_rng_below(rng, sizeof specs / sizeof *specs)]);
    if (lbm_rng_below(rng, 3) == 0)
        for (uint32_t p = 0; p < h.n; p++)
            h.capacity[p] = 1 + lbm_rng_below(rng, 4);
    return h;
}

static void
open_trial(struct trial *t, uint64_t seed)
{
    struct lbm_rng rng;
    lbm_rng_seed(&rng, seed);
    *t = (struct trial){.g = random_guest(&rng), .h = random_hosts(&rng)};
    weigh(&t->g, &rng);
    lbm_plan_defaults(&t->options);
    t->options.seed = seed;
    t->options.effort =
        lbm_rng_below(&rng, 16) == 0 || setting("LBMAP_NORMAL", 0) != 0 ? LBM_EFFORT_NORMAL : LBM_EFFORT_FAST;
    t->options.imbalance = lbm_rng_below(&rng, 4) == 0 ? 0 : 0.01 * lbm_rng_below(&rng, 12);
    uint32_t kind = lbm_rng_below(&rng, 16);
    if (kind == 0)
        t->options.method = LBM_METHOD_HEIRICH;
    if (kind == 1 || kind == 2)
        t->options.current = t->current = map_chunk(&t->g, t->h.n, &rng);
    if (kind == 2 || kind == 3) {
        uint32_t *part = map_chunk(&t->g, t->h.n, &rng);
        map_pin_some(&t->g, part, 4, &rng);
        free(part);
    }
}

static void
close_trial(struct trial *t)
{
    lbm_graph_free(&t->g);
    lbm_hosts_free(&t->h);
    free(t->current);
}

static struct lbm_plan
make(const struct trial *t, const struct lbm_graph *g)
{
    struct lbm_plan_options options = t->options;
    struct lbm_plan plan;
    if (options.current != NULL)
        options.migration_cost = lbm_map_migration_cost(g, t->h.n);
    assert_int_equal(lbm_plan_make(g, &t->h, &options, &plan, NULL), LBM_OK);
    return plan;
}

/* ---- properties --------------------------------------------------------------------------------------- */

static void
fail_trial(uint64_t seed, const char *what, double is, double should)
{
    print_error("LBMAP_SEED=%llu LBMAP_GUESTS=1: %s: %g, not %g\n", (unsigned long long)seed, what, is,
                should);
    fail();
}

/* All weights times c, vertices' and edges' each by their own: the same bytes. */
static void
assert_unit_does_not_matter(const struct trial *t, const struct lbm_plan *plan, uint64_t seed)
{
    static const uint32_t factor[] = {1, 2, 3, 7, 1000, 1000000};
    struct lbm_graph g = t->g;
    uint64_t directions = lbm_graph_directions(&g);
    uint32_t c = factor[1 + seed % 5], d = factor[seed / 5 % 5];
    g.work = lbm_alloc(g.n, sizeof *g.work);
    g.weight = lbm_alloc(directions, sizeof *g.weight);
    assert_true(g.work != NULL && g.weight != NULL);
    for (uint32_t v = 0; v < g.n; v++)
        g.work[v] = c * lbm_graph_work(&t->g, v);
    for (uint64_t e = 0; e < directions; e++)
        g.weight[e] = d * lbm_graph_weight(&t->g, e);
    struct lbm_plan other = make(t, &g);
    for (uint32_t v = 0; v < g.n; v++)
        if (plan->part[v] != other.part[v])
            fail_trial(seed, "the unit of weight changes the host of a vertex", other.part[v], plan->part[v]);
    assert_memory_equal(plan->x, other.x, (size_t)g.n * plan->m * sizeof *plan->x);
    lbm_plan_free(&other);
    free(g.work);
    free(g.weight);
}

/* Longest first by the book: every host is looked at for every vertex. Out: hosts without work. */
static double
longest_first(const struct lbm_graph *g, const struct lbm_hosts *h, uint32_t *empty)
{
    double *load = lbm_alloc(h->n, sizeof *load), work = 0, capacity = 0, level = 0;
    uint8_t *is_placed = lbm_alloc(g->n, 1);
    assert_true(load != NULL && is_placed != NULL);
    for (uint32_t v = 0; v < g->n; v++) {
        work += lbm_graph_work(g, v);
        if (g->pin != NULL && g->pin[v] != LBM_NONE) {
            load[g->pin[v]] += lbm_graph_work(g, v);
            is_placed[v] = 1;
        }
    }
    for (;;) {
        uint32_t heaviest = LBM_NONE, best = 0;
        for (uint32_t v = 0; v < g->n; v++)
            if (!is_placed[v] && (heaviest == LBM_NONE || lbm_graph_work(g, v) > lbm_graph_work(g, heaviest)))
                heaviest = v;
        if (heaviest == LBM_NONE)
            break;
        double w = lbm_graph_work(g, heaviest);
        for (uint32_t p = 1; p < h->n; p++)
            if ((load[p] + w) / h->capacity[p] < (load[best] + w) / h->capacity[best])
                best = p;
        load[best] += w;
        is_placed[heaviest] = 1;
    }
    *empty = 0;
    for (uint32_t p = 0; p < h->n; p++)
        capacity += h->capacity[p];
    for (uint32_t p = 0; p < h->n; p++) {
        level = fmax(level, load[p] / (work * h->capacity[p] / capacity));
        *empty += load[p] == 0;
    }
    free(load);
    free(is_placed);
    return level - 1;
}

static void
assert_balanced(const struct trial *t, const struct lbm_plan *plan, uint64_t seed)
{
    struct lbm_quality quality;
    struct lbm_balance balance;
    uint32_t empty;
    double reference = longest_first(&t->g, &t->h, &empty);
    assert_int_equal(lbm_map_evaluate(&t->g, &t->h, plan->part, &quality, NULL), LBM_OK);
    assert_int_equal(lbm_map_balance(&t->g, &t->h, &balance), LBM_OK);
    if (fabs(balance.longest_first - reference) > 1e-9)
        fail_trial(seed, "longest first", balance.longest_first, reference);
    if (quality.imbalance < balance.least - 1e-9)
        fail_trial(seed, "an imbalance below the lower bound", quality.imbalance, balance.least);
    if (quality.imbalance > fmax(t->options.imbalance, reference) + 1e-9)
        fail_trial(seed, "imbalance", quality.imbalance, fmax(t->options.imbalance, reference));
    if (empty == 0 && quality.empty_hosts != 0)
        fail_trial(seed, "empty hosts", quality.empty_hosts, 0);
    for (uint32_t v = 0; v < t->g.n; v++)
        if (t->g.pin != NULL && t->g.pin[v] != LBM_NONE && plan->part[v] != t->g.pin[v])
            fail_trial(seed, "a pinned vertex's host", plan->part[v], t->g.pin[v]);
}

static void
random_guests_are_as_even_as_longest_first_in_any_unit(void **state)
{
    uint64_t guests = setting("LBMAP_GUESTS", 10000), first = setting("LBMAP_SEED", 1);
    (void)state;
    for (uint64_t seed = first; seed < first + guests; seed++) {
        struct trial t;
        open_trial(&t, seed);
        struct lbm_plan plan = make(&t, &t.g);
        assert_balanced(&t, &plan, seed);
        assert_unit_does_not_matter(&t, &plan, seed);
        lbm_plan_free(&plan);
        close_trial(&t);
    }
}

/* The least level of all mappings of a tiny guest, by trying them all. */
static double
least_level(const struct lbm_graph *g, const struct lbm_hosts *h)
{
    uint64_t all = 1;
    double least = HUGE_VAL;
    for (uint32_t v = 0; v < g->n; v++)
        all *= h->n;
    for (uint64_t code = 0; code < all; code++) {
        double load[8] = {0}, work = 0, capacity = 0, level = 0;
        uint64_t rest = code;
        for (uint32_t v = 0; v < g->n; v++, rest /= h->n) {
            load[rest % h->n] += lbm_graph_work(g, v);
            work += lbm_graph_work(g, v);
        }
        for (uint32_t p = 0; p < h->n; p++)
            capacity += h->capacity[p];
        for (uint32_t p = 0; p < h->n; p++)
            level = fmax(level, load[p] / (work * h->capacity[p] / capacity));
        least = fmin(least, level);
    }
    return least - 1;
}

static void
the_lower_bound_is_below_all_mappings(void **state)
{
    static const char *const hosts[] = {"chain:2", "ring:3", "mesh:2x2"};
    struct lbm_rng rng;
    unsigned tight = 0;
    (void)state;
    lbm_rng_seed(&rng, 11);
    for (unsigned i = 0; i < 600; i++) {
        struct lbm_hosts h = map_hosts(hosts[i % 3]);
        struct lbm_graph g = map_guest(1 + lbm_rng_below(&rng, 6), 5, 1, 1 + lbm_rng_below(&rng, 12), &rng);
        struct lbm_balance balance;
        for (uint32_t p = 0; p < h.n; p++)
            h.capacity[p] = i % 2 == 0 ? 1 : 1 + lbm_rng_below(&rng, 3);
        assert_int_equal(lbm_map_balance(&g, &h, &balance), LBM_OK);
        double least = least_level(&g, &h);
        assert_true(balance.least <= least + 1e-9 && least <= balance.longest_first + 1e-9);
        tight += balance.least > least - 1e-9;
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
    }
    assert_true(tight > 300); /* a bound of 0 would be below, too */
}

/* ---- loads and pieces that are asked for -------------------------------------------------------------- */

static struct lbm_graph
weighted_guest(const char *spec, uint32_t hardest, struct lbm_rng *rng)
{
    struct lbm_graph g = map_guest_by_spec(spec);
    g.work = lbm_alloc(g.n, sizeof *g.work);
    assert_non_null(g.work);
    for (uint32_t v = 0; v < g.n; v++)
        g.work[v] = 1 + lbm_rng_below(rng, hardest);
    return g;
}

/* Pieces of a host's part beyond one for each component of the guest, counted vertex by vertex. */
static uint32_t
count_extra(const struct lbm_graph *g, uint32_t n_hosts, const uint32_t *part)
{
    uint32_t *component = lbm_alloc(g->n, sizeof *component), *queue = lbm_alloc(g->n, sizeof *queue),
             extra = 0;
    uint8_t *seen = lbm_alloc(g->n, 1), *has = lbm_alloc((size_t)n_hosts * g->n, 1);
    assert_true(component != NULL && queue != NULL && seen != NULL && has != NULL);
    (void)lbm_graph_components(g, component);
    for (uint32_t v = 0; v < g->n; v++) {
        if (seen[v])
            continue;
        uint8_t *first = &has[(size_t)part[v] * g->n + component[v]];
        extra += *first;
        *first = seen[v] = 1;
        queue[0] = v;
        for (uint32_t i = 0, n = 1; i < n; i++)
            for (uint64_t e = g->offset[queue[i]]; e < g->offset[queue[i] + 1]; e++) {
                uint32_t u = g->target[e];
                if (!seen[u] && part[u] == part[v]) {
                    seen[u] = 1;
                    queue[n++] = u;
                }
            }
    }
    free(component);
    free(queue);
    free(seen);
    free(has);
    return extra;
}

static void
parts_are_connected_where_that_is_asked_for(void **state)
{
    static const char *const guests[] = {"lattice:24x25", "tri:700",       "rgg:600",
                                         "airfoil:800",   "lattice:8x8x8", "lattice:1x200"};
    static const char *const hosts[] = {"mesh:4x4", "tree:3,2", "ring:7"};
    uint32_t cut = 0, late = 0;
    (void)state;
    for (unsigned i = 0; i < 36; i++) {
        struct lbm_rng rng;
        struct lbm_plan_options options;
        struct lbm_quality quality;
        uint32_t extra;
        lbm_rng_seed(&rng, i);
        struct lbm_graph g = weighted_guest(guests[i % 6], 1 + i / 18 * 9, &rng);
        struct lbm_hosts h = map_hosts(hosts[i / 6 % 3]);
        lbm_plan_defaults(&options);
        options.effort = LBM_EFFORT_FAST;
        for (options.connected = 0; options.connected < 2; options.connected++) {
            struct lbm_plan plan;
            assert_int_equal(lbm_plan_make(&g, &h, &options, &plan, NULL), LBM_OK);
            assert_int_equal(lbm_map_pieces(&g, &h, plan.part, &extra), LBM_OK);
            assert_int_equal(extra, count_extra(&g, h.n, plan.part));
            assert_int_equal(lbm_map_evaluate(&g, &h, plan.part, &quality, NULL), LBM_OK);
            if (options.connected)
                assert_int_equal(extra, 0);
            cut += extra;
            late += options.connected && quality.imbalance > 0.03 + 1e-9;
            if (options.connected)
                assert_true(quality.imbalance < 0.2);
            lbm_plan_free(&plan);
        }
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
    }
    assert_true(cut > 0); /* there was something to do */
    assert_true(late <= 12);
}

static void
loads_are_as_asked_for_or_refused(void **state)
{
    struct lbm_rng rng;
    unsigned made = 0, refused = 0;
    (void)state;
    lbm_rng_seed(&rng, 5);
    for (unsigned i = 0; i < 300; i++) {
        struct lbm_graph g = weighted_guest(i % 2 == 0 ? "lattice:6x5" : "tri:40", 1 + i % 9, &rng);
        struct lbm_hosts h = map_hosts(i % 3 == 0 ? "mesh:2x2" : "ring:5");
        uint64_t share = lbm_graph_total_work(&g) / h.n, *load = lbm_alloc(h.n, sizeof *load);
        struct lbm_plan_options options;
        struct lbm_plan plan;
        struct lbm_diag diag;
        assert_non_null(load);
        lbm_plan_defaults(&options);
        options.effort = LBM_EFFORT_FAST;
        options.imbalance = 1;
        options.load_least = share - lbm_rng_below(&rng, (uint32_t)share / 4 + 1);
        options.load_most = share + lbm_rng_below(&rng, (uint32_t)share / 4 + 1);
        enum lbm_err err = lbm_plan_make(&g, &h, &options, &plan, &diag);
        if (err == LBM_OK) {
            lbm_map_loads(&g, h.n, plan.part, load);
            for (uint32_t p = 0; p < h.n; p++)
                assert_true(load[p] >= options.load_least && load[p] <= options.load_most);
            lbm_plan_free(&plan);
            made++;
        } else {
            assert_int_equal(err, LBM_E_UNSUPPORTED);
            assert_true(options.load_most < share + 3); /* only what is tight may fail */
            refused++;
        }
        free(load);
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
    }
    assert_true(made > 200 && refused > 5);
}

/* ---- cases that went wrong ----------------------------------------------------------------------------- */

static void
assert_loads(const char *guest, const char *hosts, const uint32_t *work, double imbalance,
             uint32_t empty_hosts)
{
    struct trial t = {.g = map_guest_by_spec(guest), .h = map_hosts(hosts)};
    struct lbm_quality quality;
    lbm_plan_defaults(&t.options);
    t.g.work = lbm_copy(work, t.g.n, sizeof *work);
    assert_non_null(t.g.work);
    for (int effort = 0; effort < LBM_EFFORT_COUNT; effort++) {
        t.options.effort = (enum lbm_effort)effort;
        struct lbm_plan plan = make(&t, &t.g);
        assert_int_equal(lbm_map_evaluate(&t.g, &t.h, plan.part, &quality, NULL), LBM_OK);
        assert_true(quality.imbalance <= imbalance + 1e-9);
        assert_int_equal(quality.empty_hosts, empty_hosts);
        lbm_plan_free(&plan);
    }
    close_trial(&t);
}

static void
one_vertex_a_host_whatever_it_weighs(void **state)
{
    uint32_t forty[25], nine[30];
    static const uint32_t two[] = {3, 2}, three[] = {5, 4, 4},
                          one_heavy[] = {100, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, four_of_nine[] = {7, 3, 9, 5};
    (void)state;
    for (uint32_t v = 0; v < 30; v++)
        nine[v] = 9;
    for (uint32_t v = 0; v < 25; v++)
        forty[v] = 40;
    assert_loads("lattice:5x5", "mesh:5x5", forty, 0, 0);
    assert_loads("lattice:6x5", "ring:15", nine, 0, 0);
    assert_loads("lattice:2x1", "chain:2", two, 0.2, 0);
    assert_loads("lattice:3x1", "ring:3", three, 5 / (13 / 3.0) - 1, 0);
    /* the others are spread, though the heavy one alone decides the imbalance */
    assert_loads("lattice:4x3", "mesh:3x4", one_heavy, 100 / (111 / 12.0) - 1, 0);
    assert_loads("lattice:4x1", "mesh:3x3", four_of_nine, 9 / (24 / 9.0) - 1, 5);
}

/* Next to a heavy vertex the others are as even as without it. */
static void
others_share_what_a_heavy_vertex_leaves(void **state)
{
    (void)state;
    struct lbm_graph g = map_guest_by_spec("lattice:40x40");
    struct lbm_hosts h = map_hosts("mesh:4x4");
    struct lbm_plan_options options;
    struct lbm_plan plan;
    uint64_t load[16], most = 0;
    g.work = lbm_alloc(g.n, sizeof *g.work);
    assert_non_null(g.work);
    for (uint32_t v = 0; v < g.n; v++)
        g.work[v] = v == 777 ? 1000 : 1;
    lbm_plan_defaults(&options);
    assert_int_equal(lbm_plan_make(&g, &h, &options, &plan, NULL), LBM_OK);
    lbm_map_loads(&g, h.n, plan.part, load);
    for (uint32_t p = 0; p < h.n; p++)
        if (p == plan.part[777])
            assert_int_equal(load[p], 1000);
        else
            most = load[p] > most ? load[p] : most;
    assert_true(most <= 1.03 * 1599 / 15);
    lbm_plan_free(&plan);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_vertex_a_host_whatever_it_weighs),
        cmocka_unit_test(others_share_what_a_heavy_vertex_leaves),
        cmocka_unit_test(the_lower_bound_is_below_all_mappings),
        cmocka_unit_test(parts_are_connected_where_that_is_asked_for),
        cmocka_unit_test(loads_are_as_asked_for_or_refused),
        cmocka_unit_test(random_guests_are_as_even_as_longest_first_in_any_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
