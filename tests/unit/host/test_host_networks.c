/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks with switches: of graphs, and by name. Each is judged by distances that were made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/unit/host/distance_check.h"

/* ---- switches in graphs -------------------------------------------------------------------------------- */

static void
vertices_of_capacity_0_are_switches(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"four hosts at one switch, which is vertex 1",
         "5 4 010\n0 2 3 4 5\n1 1\n1 1\n2 1\n1 1\n",
         4,
         NULL,
         {2, 2, 2, 2, 2, 2},
         {0}},
        {"hosts 1 2 at one leaf, 4 5 at another, a slow line through the root",
         "7 6 011\n1 3 1\n1 3 1\n0 1 1 2 1 7 10\n1 6 1\n1 6 1\n0 4 1 5 1 7 10\n0 3 10 6 10\n",
         4,
         NULL,
         {2, 22, 22, 22, 22, 2},
         {0}},
        {"a ring of three switches with a host each, and a switch that leads nowhere",
         "7 6 010\n1 4\n1 5\n1 6\n0 1 5 6\n0 2 4 6\n0 3 4 5\n0\n",
         3,
         NULL,
         {3, 3, 3},
         {0}},
        {"hosts are passed through as well: 1 - 2 - switch - 4",
         "4 3 010\n1 2\n2 1 3\n0 2 4\n1 3\n",
         3,
         NULL,
         {1, 3, 2},
         {0}},
        {"two ways, through a host or through two switches",
         "5 5 011\n1 2 1 3 5\n1 1 1 4 5\n0 1 5 5 1\n1 2 5 5 9\n0 3 1 4 9\n",
         3,
         NULL,
         {1, 6, 5},
         {0}},
        {"one host and its switch", "2 1 010\n1 2\n0 1\n", 1, NULL, {0}, {0}},
        {"GraphML, names of the hosts alone",
         "<graphml><key id=\"c\" for=\"node\" attr.name=\"weight\" attr.type=\"int\"/>"
         "<key id=\"l\" for=\"edge\" attr.name=\"weight\" attr.type=\"int\"/>"
         "<graph edgedefault=\"undirected\"><node id=\"left\"><data key=\"c\">2</data></node>"
         "<node id=\"a switch\"><data key=\"c\">0</data></node><node id=\"right\"/><node id=\"far\"/>"
         "<edge source=\"left\" target=\"a switch\"/><edge source=\"a switch\" target=\"right\"/>"
         "<edge source=\"far\" target=\"a switch\"><data key=\"l\">7</data></edge></graph></graphml>",
         3,
         "left right far",
         {2, 8, 8},
         {0}},
    };
    JUDGE_EXAMPLES(examples);
}

static void
capacities_and_positions_of_hosts_stay_with_them(void **state)
{
    (void)state;
    struct lbm_hosts h = judge_hosts("4 3 010\n0 2 3 4\n5 1\n6 1\n7 1\n");
    assert_true(h.capacity[0] == 5.0 && h.capacity[1] == 6.0 && h.capacity[2] == 7.0);
    assert_int_equal(h.offset[3], 6); /* each linked with both others */
    lbm_hosts_free(&h);
    h = judge_hosts(
        "<graphml><key id=\"c\" for=\"node\" attr.name=\"weight\" attr.type=\"int\"/>"
        "<key id=\"x\" for=\"node\" attr.name=\"x\" attr.type=\"double\"/>"
        "<key id=\"y\" for=\"node\" attr.name=\"y\" attr.type=\"double\"/>"
        "<graph edgedefault=\"undirected\">"
        "<node id=\"s\"><data key=\"c\">0</data><data key=\"x\">9</data><data key=\"y\">9</data></node>"
        "<node id=\"a\"><data key=\"x\">4</data><data key=\"y\">0</data></node>"
        "<node id=\"b\"><data key=\"x\">2</data><data key=\"y\">0</data></node>"
        "<edge source=\"a\" target=\"s\"/><edge source=\"b\" target=\"s\"/></graph></graphml>");
    assert_true(h.site[0] == 0.75 && h.site[2] == 0.25);
    lbm_hosts_free(&h);
}

static struct lbm_hosts
with_capacities(const char *spec, const char *capacities)
{
    struct lbm_hosts h;
    struct lbm_diag diag = {0};
    assert_int_equal(lbm_hosts_generate(spec, &h, NULL), LBM_OK);
    if (lbm_hosts_parse_capacities(&h, "caps", capacities, strlen(capacities), &diag) != LBM_OK)
        fail_msg("%s", diag.text);
    return h;
}

static void
hosts_of_capacity_0_become_switches(void **state)
{
    (void)state;
    static const uint32_t star[] = {2, 2, 2}, groups[] = {10, 100, 100};
    struct lbm_hosts mesh, h = with_capacities("mesh:3x3", "5 0 6  0 0 0  7 0 8");
    assert_int_equal(h.n, 4);
    /* 0 2 6 8: from corner to corner, through switches alone */
    judge_distances(&h, "corners", (const uint32_t[]){2, 2, 4, 4, 2, 2});
    assert_true(h.capacity[0] == 5.0 && h.capacity[3] == 8.0);
    assert_int_equal(lbm_hosts_generate("mesh:3x3", &mesh, NULL), LBM_OK);
    assert_memory_equal(&h.site[6], &mesh.site[16], 2 * sizeof *h.site); /* where it was */
    lbm_hosts_free(&mesh);
    lbm_hosts_free(&h);
    h = with_capacities("star:4", "0 1 1 1");
    judge_distances(&h, "star", star);
    lbm_hosts_free(&h);
    h = with_capacities("hier:2:2:2/1:10:100",
                        "1 0 1 0 0 1 0 0"); /* nothing to go through: it stays as far */
    assert_int_equal(h.n, 3);
    judge_distances(&h, "groups", groups);
    lbm_hosts_free(&h);
}

static void
networks_without_hosts_or_in_parts_are_refused(void **state)
{
    (void)state;
    judge_refused("2 1 010\n0 2\n0 1\n", LBM_E_RANGE, 0, "no hosts among 2 switches");
    judge_refused("4 2 010\n1 2\n0 1\n0 4\n1 3\n", LBM_E_SYNTAX, 0, "no way leads from host 0 to host 3");
    judge_refused(
        "<graphml><key id=\"c\" for=\"node\" attr.name=\"weight\"/><graph edgedefault=\"undirected\">"
        "<node id=\"a\"/><node id=\"s\"><data key=\"c\">0</data></node><node id=\"b\"/>"
        "<edge source=\"a\" target=\"s\"/></graph></graphml>",
        LBM_E_SYNTAX, 0, "no way leads from host a to host b");
    judge_refused("2 1 011\n1 2 600000\n0 1 600000\n", LBM_E_RANGE, 0, "costs 600000");
    judge_refused("2 1 011\n-1 2 1\n0 1 1\n", LBM_E_RANGE, 2, "capacity");
    judge_refused("2 1 011\n3000000000 2 1\n0 1 1\n", LBM_E_RANGE, 2, "0 makes a switch");
}

/* ---- named networks of switches ------------------------------------------------------------------------ */

static struct lbm_hosts
generate(const char *spec)
{
    struct lbm_hosts h;
    struct lbm_diag diag = {0};
    if (lbm_hosts_generate(spec, &h, &diag) != LBM_OK)
        fail_msg("%s", diag.text);
    return h;
}

static void
a_fat_tree_has_three_distances(void **state)
{
    (void)state;
    static const uint32_t two_pods[] = {6};
    struct lbm_hosts h = generate("fattree:2");
    assert_int_equal(h.n, 2);
    judge_distances(&h, "fattree:2", two_pods);
    lbm_hosts_free(&h);
    h = generate("fattree:4");
    assert_int_equal(h.n, 16);
    for (uint32_t p = 0; p < h.n; p++)
        for (uint32_t q = 0; q < p; q++)
            assert_int_equal(lbm_dist(&h, p, q), p / 2 == q / 2 ? 2 : p / 4 == q / 4 ? 4 : 6);
    judge_links(&h, "fattree:4");
    lbm_hosts_free(&h);
    h = generate("fattree:32");
    assert_int_equal(h.n, 8192);
    lbm_hosts_free(&h);
}

/* With one global link and one host a router the routers are a ring: 0 1 4 5 3 2. */
static void
a_dragonfly_has_its_global_links_in_the_absolute_arrangement(void **state)
{
    (void)state;
    static const uint32_t ring[] = {3, 3, 4, 4, 5, 3, 4, 3, 5, 4, 5, 4, 4, 3, 3};
    struct lbm_hosts h = generate("dragonfly:2,1,1");
    assert_int_equal(h.n, 6);
    judge_distances(&h, "dragonfly:2,1,1", ring);
    assert_int_equal(h.offset[6], 12); /* linked as the routers are */
    lbm_hosts_free(&h);
    h = generate("dragonfly:4,2,2"); /* the balanced one of the paper, a = 2p = 2h: 72 hosts in 9 groups */
    assert_int_equal(h.n, 72);
    uint32_t most = 0;
    for (uint32_t p = 0; p < h.n; p++)
        for (uint32_t q = 0; q < p; q++) {
            uint32_t d = lbm_dist(&h, p, q);
            most = d > most ? d : most;
            if (p / 8 == q / 8)
                assert_int_equal(d, p / 2 == q / 2 ? 2 : 3);
            else
                assert_in_range(d, 3, 5);
        }
    assert_int_equal(most, 5);
    /* Group 0 has its links 0 and 1, to groups 1 and 2, at router 0; they have theirs to it at router 0. */
    assert_int_equal(lbm_dist(&h, 0, 8), 3);
    assert_int_equal(lbm_dist(&h, 0, 16), 3);
    assert_int_equal(lbm_dist(&h, 0, 24), 4);
    assert_int_equal(lbm_dist(&h, 7, 72 - 8), 3); /* link 7, at router 3, to group 8 */
    judge_links(&h, "dragonfly:4,2,2");
    lbm_hosts_free(&h);
    h = generate("dragonfly:1,1,3");
    assert_int_equal(h.n, 6);
    assert_int_equal(lbm_dist(&h, 0, 5), 3);
    lbm_hosts_free(&h);
}

static void
wrong_forms_of_switched_networks_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        enum lbm_err err;
        const char *says;
    } wrong[] = {
        {"fattree", LBM_E_SYNTAX, "fattree:K"},
        {"fattree:", LBM_E_SYNTAX, "fattree:K"},
        {"fattree:0", LBM_E_RANGE, "even"},
        {"fattree:3", LBM_E_RANGE, "even"},
        {"fattree:4,4", LBM_E_SYNTAX, "2 numbers"},
        {"fattree:34", LBM_E_LIMIT, "8192"},
        {"fattree:4000000000", LBM_E_LIMIT, "8192"},
        {"dragonfly:4,2", LBM_E_SYNTAX, "dragonfly:A,H,P"},
        {"dragonfly:4x2x2", LBM_E_SYNTAX, "dragonfly:A,H,P"},
        {"dragonfly:0,2,2", LBM_E_RANGE, "the least is 1"},
        {"dragonfly:4,2,0", LBM_E_RANGE, "the least is 1"},
        {"dragonfly:20,20,20", LBM_E_LIMIT, "8192"},
        {"dragonfly:4294967295,4294967295,4294967295", LBM_E_LIMIT, "8192"},
        {"dragonfly:8192,8192,1", LBM_E_LIMIT, "8192"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct lbm_hosts h = {.n = 77};
        struct lbm_diag diag = {0};
        enum lbm_err err = lbm_hosts_generate(wrong[i].spec, &h, &diag);
        if (err != wrong[i].err || strstr(diag.text, wrong[i].says) == NULL || h.n != 77)
            fail_msg("%s: %s, \"%s\"", wrong[i].spec, lbm_err_name(err), diag.text);
    }
}

/* ---- links --------------------------------------------------------------------------------------------- */

/* A two-level tree of switches: `leaves` leaf switches of `each` hosts below one root. */
static struct lbm_hosts
two_levels(uint32_t leaves, uint32_t each)
{
    struct lbm_buf text = {0};
    uint32_t hosts = leaves * each;
    lbm_buf_printf(&text, "%u %u 010\n", hosts + leaves + 1, hosts + leaves);
    for (uint32_t p = 0; p < hosts; p++)
        lbm_buf_printf(&text, "1 %u\n", hosts + 1 + p / each);
    for (uint32_t s = 0; s < leaves; s++) {
        lbm_buf_printf(&text, "0 %u", hosts + leaves + 1);
        for (uint32_t k = 0; k < each; k++)
            lbm_buf_printf(&text, " %u", s * each + k + 1);
        lbm_buf_printf(&text, "\n");
    }
    lbm_buf_printf(&text, "0");
    for (uint32_t s = 0; s < leaves; s++)
        lbm_buf_printf(&text, " %u", hosts + s + 1);
    lbm_buf_printf(&text, "\n");
    assert_false(text.failed);
    struct lbm_hosts h;
    struct lbm_diag diag = {0};
    if (lbm_hosts_parse("net", text.at, text.len, NULL, &h, &diag) != LBM_OK)
        fail_msg("%s", diag.text);
    lbm_buf_free(&text);
    return h;
}

static void
degrees_stay_small_in_large_fabrics(void **state)
{
    (void)state;
    struct lbm_hosts h = two_levels(100, 8);
    assert_int_equal(h.n, 800);
    uint32_t most = 0;
    for (uint32_t p = 0; p < h.n; p++) {
        uint32_t degree = h.offset[p + 1] - h.offset[p];
        most = degree > most ? degree : most;
        for (uint32_t q = 0; q < p; q++)
            assert_int_equal(lbm_dist(&h, p, q), p / 8 == q / 8 ? 2 : 4);
    }
    assert_in_range(most, 7 + 7, 7 + 14); /* its switch's, and 7 places in both directions */
    assert_in_range(lbm_hosts_diameter_hops(&h), 2, 8);
    judge_links(&h, "100 leaves");
    lbm_hosts_free(&h);
    h = two_levels(1, 1000);
    for (uint32_t p = 0; p < h.n; p++)
        assert_in_range(h.offset[p + 1] - h.offset[p], 10, 20);
    lbm_hosts_free(&h);
    h = judge_hosts("SwitchName=one Nodes=x[0-5000]\n"); /* a hierarchy has links of its own */
    assert_int_equal(h.n, 5001);
    for (uint32_t p = 0; p < h.n; p++)
        assert_in_range(h.offset[p + 1] - h.offset[p], 20, 26);
    lbm_hosts_free(&h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertices_of_capacity_0_are_switches),
        cmocka_unit_test(capacities_and_positions_of_hosts_stay_with_them),
        cmocka_unit_test(hosts_of_capacity_0_become_switches),
        cmocka_unit_test(networks_without_hosts_or_in_parts_are_refused),
        cmocka_unit_test(a_fat_tree_has_three_distances),
        cmocka_unit_test(a_dragonfly_has_its_global_links_in_the_absolute_arrangement),
        cmocka_unit_test(wrong_forms_of_switched_networks_are_refused),
        cmocka_unit_test(degrees_stay_small_in_large_fabrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
