/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Host graphs as the field writes them: networks with switches. Every file is judged by a matrix of distances
 * that was made by hand. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "host/host.h"

static enum lbm_err
parse(const char *text, const struct lbm_hosts_reading *how, struct lbm_hosts *h, struct lbm_diag *diag)
{
    /* Not terminated, so that reading beyond its end is found. */
    char *copy = lbm_copy(text, strlen(text), 1);
    assert_non_null(copy);
    enum lbm_err err = lbm_hosts_parse("net", copy, strlen(text), how, h, diag);
    free(copy);
    return err;
}

static struct lbm_hosts
hosts_read(const char *text, const struct lbm_hosts_reading *how)
{
    struct lbm_hosts h;
    struct lbm_diag diag = {0};
    if (parse(text, how, &h, &diag) != LBM_OK)
        fail_msg("%s:%" PRIu64 ": %s\n%s", diag.where, diag.line, diag.text, text);
    return h;
}

static struct lbm_hosts
hosts_of(const char *text)
{
    return hosts_read(text, NULL);
}

/* Refused with this error, at this line, saying this; the result untouched. */
static void
refused_with(const char *text, const struct lbm_hosts_reading *how, enum lbm_err expected, uint64_t line,
             const char *says)
{
    struct lbm_hosts h = {.n = 77};
    struct lbm_diag diag = {0};
    enum lbm_err err = parse(text, how, &h, &diag);
    if (err != expected || diag.line != line || strstr(diag.text, says) == NULL)
        fail_msg("\"%s\": %s, %s:%" PRIu64 ": \"%s\"", text, lbm_err_name(err), diag.where, diag.line,
                 diag.text);
    assert_int_equal(h.n, 77);
}

static void
refused(const char *text, enum lbm_err expected, uint64_t line, const char *says)
{
    refused_with(text, NULL, expected, line, says);
}

/* Links connect all hosts and cost at least the distance. */
static void
links_are_fit(const struct lbm_hosts *h, const char *what)
{
    if (h->n > 1 && lbm_hosts_diameter_hops(h) >= h->n)
        fail_msg("%s: links do not connect all", what);
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++)
            if (h->cost[e] < lbm_dist(h, p, h->target[e]))
                fail_msg("%s: link %" PRIu32 "-%" PRIu32 " is cheaper than the way", what, p, h->target[e]);
}

/* The distances of the lower triangle, row by row: d10, d20 d21, ... */
static void
distances_are(const struct lbm_hosts *h, const char *what, const uint32_t *lower)
{
    for (uint32_t p = 0, k = 0; p < h->n; p++) {
        assert_int_equal(lbm_dist(h, p, p), 0);
        for (uint32_t q = 0; q < p; q++, k++)
            if (lbm_dist(h, p, q) != lower[k] || lbm_dist(h, q, p) != lower[k])
                fail_msg("%s: from %" PRIu32 " to %" PRIu32 " it is %" PRIu32 ", not %" PRIu32, what, p, q,
                         lbm_dist(h, p, q), lower[k]);
    }
    links_are_fit(h, what);
}

/* names: words in the order of the hosts, or NULL: none. */
static void
names_are(const struct lbm_hosts *h, const char *what, const char *names)
{
    if (names == NULL) {
        assert_null(h->name);
        return;
    }
    for (uint32_t p = 0; p < h->n; p++, names += strcspn(names, " "), names += *names == ' ') {
        size_t len = strcspn(names, " ");
        if (h->name == NULL || strlen(h->name[p]) != len || memcmp(h->name[p], names, len) != 0)
            fail_msg("%s: host %" PRIu32 " is called %s, not %.*s", what, p,
                     h->name != NULL ? h->name[p] : "nothing", (int)len, names);
    }
    assert_int_equal(*names, '\0');
}

enum { HOSTS_HERE = 8 };

struct example {
    const char *what, *text;
    uint32_t n;
    const char *names;
    uint32_t lower[HOSTS_HERE * (HOSTS_HERE - 1) / 2];
    struct lbm_hosts_reading how;
};

static void
examples_hold(const struct example *examples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct example *x = &examples[i];
        struct lbm_hosts h = hosts_read(x->text, &x->how);
        if (h.n != x->n)
            fail_msg("%s: %" PRIu32 " hosts, not %" PRIu32, x->what, h.n, x->n);
        distances_are(&h, x->what, x->lower);
        names_are(&h, x->what, x->names);
        lbm_hosts_free(&h);
    }
}

#define EXAMPLES_HOLD(examples) examples_hold(examples, sizeof(examples) / sizeof *(examples))

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
    EXAMPLES_HOLD(examples);
}

static void
capacities_and_positions_of_hosts_stay_with_them(void **state)
{
    (void)state;
    struct lbm_hosts h = hosts_of("4 3 010\n0 2 3 4\n5 1\n6 1\n7 1\n");
    assert_true(h.capacity[0] == 5.0 && h.capacity[1] == 6.0 && h.capacity[2] == 7.0);
    assert_int_equal(h.offset[3], 6); /* each linked with both others */
    lbm_hosts_free(&h);
    h = hosts_of(
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
    distances_are(&h, "corners", (const uint32_t[]){2, 2, 4, 4, 2, 2});
    assert_true(h.capacity[0] == 5.0 && h.capacity[3] == 8.0);
    assert_int_equal(lbm_hosts_generate("mesh:3x3", &mesh, NULL), LBM_OK);
    assert_memory_equal(&h.site[6], &mesh.site[16], 2 * sizeof *h.site); /* where it was */
    lbm_hosts_free(&mesh);
    lbm_hosts_free(&h);
    h = with_capacities("star:4", "0 1 1 1");
    distances_are(&h, "star", star);
    lbm_hosts_free(&h);
    h = with_capacities("hier:2:2:2/1:10:100",
                        "1 0 1 0 0 1 0 0"); /* nothing to go through: it stays as far */
    assert_int_equal(h.n, 3);
    distances_are(&h, "groups", groups);
    lbm_hosts_free(&h);
}

static void
networks_without_hosts_or_in_parts_are_refused(void **state)
{
    (void)state;
    refused("2 1 010\n0 2\n0 1\n", LBM_E_RANGE, 0, "no hosts among 2 switches");
    refused("4 2 010\n1 2\n0 1\n0 4\n1 3\n", LBM_E_SYNTAX, 0, "no way leads from host 0 to host 3");
    refused("<graphml><key id=\"c\" for=\"node\" attr.name=\"weight\"/><graph edgedefault=\"undirected\">"
            "<node id=\"a\"/><node id=\"s\"><data key=\"c\">0</data></node><node id=\"b\"/>"
            "<edge source=\"a\" target=\"s\"/></graph></graphml>",
            LBM_E_SYNTAX, 0, "no way leads from host a to host b");
    refused("2 1 011\n1 2 600000\n0 1 600000\n", LBM_E_RANGE, 0, "costs 600000");
    refused("2 1 011\n-1 2 1\n0 1 1\n", LBM_E_RANGE, 2, "capacity");
    refused("2 1 011\n3000000000 2 1\n0 1 1\n", LBM_E_RANGE, 2, "0 makes a switch");
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
    distances_are(&h, "fattree:2", two_pods);
    lbm_hosts_free(&h);
    h = generate("fattree:4");
    assert_int_equal(h.n, 16);
    for (uint32_t p = 0; p < h.n; p++)
        for (uint32_t q = 0; q < p; q++)
            assert_int_equal(lbm_dist(&h, p, q), p / 2 == q / 2 ? 2 : p / 4 == q / 4 ? 4 : 6);
    links_are_fit(&h, "fattree:4");
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
    distances_are(&h, "dragonfly:2,1,1", ring);
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
    links_are_fit(&h, "dragonfly:4,2,2");
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

/* ---- Slurm --------------------------------------------------------------------------------------------- */

static void
slurm_trees_forests_and_fabrics(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"two leaves below a root; blanks, quotes and continued lines",
         "# cluster\nSwitchName = core Switches = leaf[1-2]\n  switchname=leaf1 NODES=\"a1,a2\"  "
         "LinkSpeed=100\n"
         "SwitchName=leaf2 \\\n  Nodes=b[1-2]   # two\n",
         4,
         "a1 a2 b1 b2",
         {2, 4, 4, 4, 4, 2},
         {0}},
        {"hostlists: several brackets, leading zeros, lists within",
         "SwitchName=s Nodes=r[1-2,5]c[08-09]\n",
         6,
         "r1c08 r1c09 r2c08 r2c09 r5c08 r5c09",
         {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
         {0}},
        {"three trees without a common root: the islands cost twice the depth of the deepest host",
         "SwitchName=A Switches=a1,a2\nSwitchName=a1 Nodes=n1\nSwitchName=a2 Nodes=n2\n"
         "SwitchName=B Switches=b1\nSwitchName=b1 Nodes=n[3-4]\nSwitchName=C Nodes=n5\n",
         5,
         "n1 n2 n3 n4 n5",
         {4, 8, 8, 8, 8, 2, 7, 7, 7, 7},
         {0}},
        {"the same with a cost of 100 between islands",
         "SwitchName=A Switches=a1,a2\nSwitchName=a1 Nodes=n1\nSwitchName=a2 Nodes=n2\n"
         "SwitchName=B Switches=b1\nSwitchName=b1 Nodes=n[3-4]\nSwitchName=C Nodes=n5\n",
         5,
         "n1 n2 n3 n4 n5",
         {4, 104, 104, 104, 104, 2, 103, 103, 103, 103},
         {.island_cost = 100}},
        {"every leaf below each of two spines",
         "SwitchName=s0 Nodes=t[0-1]\nSwitchName=s1 Nodes=t[2-3]\nSwitchName=s2 Nodes=t4\n"
         "SwitchName=s3 Switches=s[0-2]\nSwitchName=s4 Switches=s[0-2]\n",
         5,
         "t0 t1 t2 t3 t4",
         {2, 4, 4, 4, 4, 2, 4, 4, 4, 4},
         {0}},
        {"a host with two rails is near to both switches",
         "SwitchName=l Nodes=x,both\nSwitchName=r Nodes=both,y\nSwitchName=top Switches=l,r\n",
         3,
         "x both y",
         {2, 4, 2},
         {0}},
        {"two fabrics with two spines each are islands",
         "SwitchName=a Nodes=a1\nSwitchName=b Nodes=b1\nSwitchName=c Nodes=c1\n"
         "SwitchName=p Switches=a,b\nSwitchName=q Switches=a,b\nSwitchName=o Switches=c\n",
         3,
         "a1 b1 c1",
         {4, 14, 14},
         {.island_cost = 10}},
        {"unequal depths, and a switch below which nobody is wanted",
         "SwitchName=top Switches=mid,flat,idle\nSwitchName=mid Switches=low\nSwitchName=flat Nodes=a\n"
         "SwitchName=low Nodes=b,c,d\nSwitchName=idle Nodes=z[1-9999]\n",
         3,
         "b d a",
         {2, 5, 5},
         {.nodes = "a,d,b"}},
    };
    EXAMPLES_HOLD(examples);
}

static void
slurm_blocks_are_joined_as_their_sizes_tell(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"four blocks, pairs of them, all",
         "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n3\nBlockName=b3 Nodes=n4\nBlockName=b4 Nodes=n5\n"
         "BlockSizes=1,2,4,8\n",
         5,
         "n1 n2 n3 n4 n5",
         {2, 4, 4, 6, 6, 6, 6, 6, 6, 4},
         {0}},
        {"three blocks, the third without a partner",
         "BlockSizes=2,4\nBlockName=x Nodes=a\nblockname=y nodes=b\nBlockName=z Nodes=c,d\n",
         4,
         "a b c d",
         {4, 6, 6, 6, 6, 2},
         {0}},
        {"without sizes all blocks are equally far",
         "BlockName=x Nodes=a,b\nBlockName=y Nodes=c\n",
         3,
         "a b c",
         {2, 4, 4},
         {0}},
        {"one block", "BlockName=x Nodes=a,b\nBlockSizes=30,120\n", 2, "a b", {2}, {0}},
        {"the nodes of a job",
         "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n3\nBlockName=b3 Nodes=n4\nBlockName=b4 Nodes=n5\n"
         "BlockSizes=1,2,4\n",
         3,
         "n2 n4 n5",
         {6, 6, 4},
         {.nodes = "n[4-5],n2"}},
    };
    EXAMPLES_HOLD(examples);
}

static const char several[] = "# two clusters\n"
                              "- topology: old\n"
                              "  tree:\n"
                              "    switches:\n"
                              "      - switch: root\n"
                              "        children: leaf[1-2]\n"
                              "      - switch: leaf1\n"
                              "        nodes: a[1-2]\n"
                              "      - {switch: leaf2, nodes: 'b1'}\n"
                              "- topology: new\n"
                              "  cluster_default: true\n"
                              "  block:\n"
                              "    block_sizes: [1, 2]\n"
                              "    blocks:\n"
                              "      - block: x\n"
                              "        nodes: n1\n"
                              "      - block: y\n"
                              "        nodes: n2\n"
                              "      - block: z\n"
                              "        nodes: n3\n"
                              "- topology: tpu\n"
                              "  torus3d:\n"
                              "    toruses:\n"
                              "      - name: pod\n"
                              "        dims: {x: 5, y: 2, z: 1}\n"
                              "        placements: [{dims: {x: 1, y: 1, z: 1}}]\n"
                              "        regions:\n"
                              "          - anchor: {x: 4, y: 0, z: 0}\n"
                              "            dims: {x: 1, y: 2, z: 1}\n"
                              "            nodes: t[1-2]\n"
                              "          - anchor: {x: 0, y: 1, z: 0}\n"
                              "            dims: {x: 3, y: 1, z: 1}\n"
                              "            nodes: t[3-5]\n"
                              "- topology: plain\n"
                              "  flat: true\n";

static void
slurm_yaml_has_several_topologies(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"the cluster's own", several, 3, "n1 n2 n3", {4, 6, 6}, {0}},
        {"the tree", several, 3, "a1 a2 b1", {2, 4, 4}, {.topology = "old"}},
        {"two of the tree", several, 2, "a2 b1", {4}, {.topology = "old", .nodes = "a2,b1"}},
        {"regions of a torus of 5 x 2; places without a host are passed through",
         several,
         5,
         "t1 t2 t3 t4 t5",
         /* at (4,0) (4,1) (0,1) (1,1) (2,1) */
         {1, 2, 1, 3, 2, 1, 3, 2, 2, 1},
         {.topology = "tpu"}},
        {"a document mark, islands, JSON is YAML too",
         "---\n[{\"topology\": \"t\", \"tree\": {\"switches\": [{\"switch\": \"p\", \"nodes\": \"a\"},"
         "{\"switch\": \"q\", \"nodes\": \"b,c\"}]}}]\n",
         3,
         "a b c",
         {4, 4, 2},
         {0}},
        {"two rings of topology.conf",
         "RingName=r0 Nodes=n[0-5]\nRingName=r1 Nodes=m[0-1]\n",
         8,
         "n0 n1 n2 n3 n4 n5 m0 m1",
         {1, 2, 1, 3, 2, 1, 2, 3, 2, 1, 1, 2, 3, 2, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 1},
         {0}},
        {"a ring of topology.yaml, of which a job has some hosts",
         "- topology: r\n  ring:\n    rings:\n    - ring: r0\n      nodes: n[0-7]\n",
         3,
         "n0 n3 n7",
         {3, 1, 4},
         {.nodes = "n7,n3,n0"}},
    };
    EXAMPLES_HOLD(examples);
}

static void
wrong_slurm_yaml_is_refused(void **state)
{
    (void)state;
    refused_with(several, &(struct lbm_hosts_reading){.topology = "none"}, LBM_E_RANGE, 2,
                 "no such topology");
    refused_with(several, &(struct lbm_hosts_reading){.topology = "plain"}, LBM_E_SYNTAX, 35,
                 "lists no nodes");
    refused("---\n", LBM_E_SYNTAX, 2, "list");
    refused("--- {a: b}\n", LBM_E_SYNTAX, 1, "list");
    refused("---\n- topology: t\n  tree: {switches: [\n", LBM_E_SYNTAX, 4, "not YAML");
    refused("- topology: t\n", LBM_E_SYNTAX, 1, "one of tree, block");
    refused("- tree: {switches: []}\n", LBM_E_SYNTAX, 1, "a name first");
    refused("- topology: t\n  colour: red\n  flat: true\n", LBM_E_SYNTAX, 2, "colour");
    refused("- topology: t\n  flat: true\n  tree: {switches: []}\n", LBM_E_SYNTAX, 1, "one of tree, block");
    refused("- topology: t\n  tree: {switches: []}\n", LBM_E_SYNTAX, 1, "empty");
    refused("- topology: t\n  tree: x\n", LBM_E_SYNTAX, 2, "members");
    refused("- topology: t\n  tree:\n    switches: x\n", LBM_E_SYNTAX, 3, "a list is expected");
    refused("- topology: t\n  tree:\n    switches:\n    - switch: s\n", LBM_E_SYNTAX, 4, "either nodes or");
    refused("- topology: t\n  tree:\n    switches:\n    - nodes: s\n", LBM_E_SYNTAX, 4, "a name is missing");
    refused("- topology: t\n  tree:\n    switches:\n    - {switch: s, nodes: [a, b]}\n", LBM_E_SYNTAX, 4,
            "one word");
    refused("- topology: t\n  tree:\n    switches:\n    - {switch: s, children: u}\n", LBM_E_SYNTAX, 4,
            "\"u\"");
    refused("- topology: t\n  tree:\n    switches:\n    - {switch: s, nodes: 'n[1-'}\n", LBM_E_SYNTAX, 4,
            "not closed");
    refused("- topology: t\n  block:\n    block_sizes: [4, 12]\n    blocks:\n    - {block: b, nodes: a}\n",
            LBM_E_RANGE, 3, "power of two");
    refused("- topology: t\n  block:\n    block_sizes: [many]\n    blocks:\n    - {block: b, nodes: a}\n",
            LBM_E_SYNTAX, 3, "number");
    static const char torus[] =
        "- topology: t\n  torus3d:\n    toruses:\n    - name: p\n      dims: {x: 2, y: 1, z: 1}\n";
    struct lbm_buf text = {0};
    lbm_buf_printf(&text, "%s      nodes: a[1-3]\n", torus);
    lbm_buf_put(&text, "", 1);
    refused(text.at, LBM_E_RANGE, 4, "3 nodes for 2 places");
    text.len = 0;
    lbm_buf_printf(
        &text, "%s      regions:\n      - {anchor: {x: 1, y: 0, z: 0}, dims: {x: 2, y: 1, z: 1}, nodes: a}\n",
        torus);
    lbm_buf_put(&text, "", 1);
    refused(text.at, LBM_E_SYNTAX, 7, "does not fit");
    text.len = 0;
    lbm_buf_printf(
        &text,
        "%s      regions:\n      - {anchor: {x: 1, y: 0, z: 0}, dims: {x: 1, y: 1, z: 1}, nodes: a}\n"
        "      - {anchor: {x: 1, y: 0, z: 0}, dims: {x: 1, y: 1, z: 1}, nodes: b}\n",
        torus);
    lbm_buf_put(&text, "", 1);
    refused(text.at, LBM_E_SYNTAX, 8, "has this place already: \"b\"");
    lbm_buf_free(&text);
}

static void
wrong_slurm_files_are_refused(void **state)
{
    (void)state;
    static const char tree[] = "SwitchName=a Nodes=x[1-9000]\nSwitchName=b Nodes=y[1-2]\n";
    refused(tree, LBM_E_LIMIT, 0, "9002 hosts, at most 8192 are possible; choose those of a job with @nodes");
    refused_with(tree, &(struct lbm_hosts_reading){.nodes = "x1,z3"}, LBM_E_RANGE, 0, "no host \"z3\"");
    refused_with(tree, &(struct lbm_hosts_reading){.nodes = "x[1-"}, LBM_E_SYNTAX, 0, "not closed");
    refused_with(tree, &(struct lbm_hosts_reading){.topology = "t"}, LBM_E_UNSUPPORTED, 0, "@topology");
    refused("BlockName=a Nodes=x\nSwitchName=b Nodes=y\n", LBM_E_SYNTAX, 2, "not as the others");
    refused("BlockName=a Nodes=x Switches=y\n", LBM_E_SYNTAX, 1, "no Switches");
    refused("BlockName=a SwitchName=b Nodes=x\n", LBM_E_SYNTAX, 1, "two names");
    refused("BlockName=a Nodes=x\nBlockName=a Nodes=y\n", LBM_E_SYNTAX, 2, "this block has a line already");
    refused("BlockName=a Nodes=x\nBlockName=b Nodes=x\n", LBM_E_SYNTAX, 2, "in another block");
    refused("BlockName=a Nodes=x\n\nBlockSizes=4,12\n", LBM_E_RANGE, 3, "power of two");
    refused("BlockName=a Nodes=x\nBlockSizes=4,4\n", LBM_E_RANGE, 2, "power of two");
    refused("BlockName=a Nodes=x\nBlockSizes=4,x\n", LBM_E_SYNTAX, 2, "4,16");
    refused("BlockName=a Nodes=x\nBlockSizes=0\n", LBM_E_SYNTAX, 2, "4,16");
    refused("BlockName=a Nodes=x\nBlockSizes=1,\n", LBM_E_SYNTAX, 2, "4,16");
    refused("BlockSizes=4\n", LBM_E_SYNTAX, 2, "no line with");
    refused("BlockName=a\n", LBM_E_RANGE, 0, "no hosts");
    refused("SwitchName=a Nodes=\"x\n", LBM_E_SYNTAX, 1, "not understood");
    refused("SwitchName=a Nodes\n", LBM_E_SYNTAX, 1, "not understood");
    refused("SwitchName=a Nodes=x[0-999999]\nSwitchName=b Nodes=y[0-999999]\n", LBM_E_LIMIT, 2,
            "too many names");
    refused_with("2 1\n2\n1\n", &(struct lbm_hosts_reading){.nodes = "x"}, LBM_E_UNSUPPORTED, 0, "METIS");
}

/* ---- hostfiles ----------------------------------------------------------------------------------------- */

static void
slots_are(const struct lbm_hosts *h, const uint32_t *slots)
{
    for (uint32_t p = 0; p < h->n; p++) {
        assert_non_null(h->slots);
        assert_int_equal(h->slots[p], slots[p]);
        assert_true(h->capacity[p] == slots[p]);
    }
}

static void
hostfiles_tell_names_and_slots(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"Open MPI: slots, limits, a user, comments",
         "# two racks\nnode1 slots=4 max_slots=8\n\nroot@node2.site slots=2 # old\nnode3 max-slots=3 "
         "slots=1\n",
         3,
         "node1 node2.site node3",
         {1, 1, 1},
         {0}},
        {"MPICH", "a-1:2\nb_2:16 binding=user:0,1\n", 2, "a-1 b_2", {1}, {0}},
        {"names alone",
         "login\n10.0.0.7\nnode[01-02]\n",
         4,
         "login 10.0.0.7 node01 node02",
         {1, 1, 1, 1, 1, 1},
         {0}},
        {"those of a job", "n1 slots=2\nn2 slots=2\nn3 slots=4", 2, "n1 n3", {1}, {.nodes = "n[1,3]"}},
    };
    EXAMPLES_HOLD(examples);
    struct lbm_hosts h = hosts_of(examples[0].text);
    slots_are(&h, (const uint32_t[]){4, 2, 1});
    lbm_hosts_free(&h);
    h = hosts_of(examples[1].text);
    slots_are(&h, (const uint32_t[]){2, 16});
    lbm_hosts_free(&h);
    h = hosts_of(examples[2].text);
    assert_null(h.slots);
    lbm_hosts_free(&h);
    h = hosts_of(
        "x\ny slots=3\nx\nx slots=2\n"); /* lines of one name add up, one slot each if none is said */
    assert_int_equal(h.n, 2);
    slots_are(&h, (const uint32_t[]){4, 3});
    uint8_t gone[] = {1, 0};
    uint32_t number[2];
    struct lbm_hosts left;
    assert_int_equal(lbm_hosts_without(&h, gone, number, &left, NULL), LBM_OK);
    slots_are(&left, (const uint32_t[]){3});
    lbm_hosts_free(&left);
    lbm_hosts_free(&h);
}

static void
wrong_hostfiles_are_refused(void **state)
{
    (void)state;
    refused("node1 slots=0\n", LBM_E_SYNTAX, 1, "from 1 on");
    refused("node1\nnode2 slots=x\n", LBM_E_SYNTAX, 2, "not \"x\"");
    refused("node1 slots=99999999999\n", LBM_E_SYNTAX, 1, "slots");
    refused("node1:\n", LBM_E_SYNTAX, 1, "slots");
    refused("node1 speed=4\n", LBM_E_SYNTAX, 1, "\"speed=4\" is not understood");
    refused("dear sir or madam\n", LBM_E_SYNTAX, 1, "METIS, GraphML");
    refused("node1\n+n0\n", LBM_E_SYNTAX, 2, "no name of a host");
    refused("node1\n^node2\n", LBM_E_SYNTAX, 2, "no name of a host");
    refused("node[1-\n", LBM_E_SYNTAX, 1, "not closed");
    refused("node1 slots=2\nnode2\n", LBM_E_SYNTAX, 0, "node2 has no slots");
    refused("node[1-9000]\n", LBM_E_LIMIT, 0, "9000 hosts");
    refused_with("node1\n", &(struct lbm_hosts_reading){.nodes = "node2"}, LBM_E_RANGE, 0, "node2");
    refused_with("node1\n", &(struct lbm_hosts_reading){.leaf = "core"}, LBM_E_UNSUPPORTED, 0, "@leaf");
}

/* ---- hwloc --------------------------------------------------------------------------------------------- */

#define PU "<object type=\"PU\" os_index=\"0\"/>"
#define CORE "<object type=\"Core\">" PU PU "</object>"

static const char two_packages[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology "
    "version=\"2.0\">\n"
    "<object type=\"Machine\" os_index=\"0\"><info name=\"HostName\" value=\"big\"/>\n"
    "<object type=\"Package\"><info name=\"CPUModel\" value=\"a &amp; b\"/><object "
    "type=\"NUMANode\"><page_type size=\"1\"/></object>"
    "<object type=\"L3Cache\"><object type=\"L2Cache\">" CORE CORE "</object><object type=\"L2Cache\">" CORE
    "</object></object>"
    "</object>\n<object type=\"Package\"><object type=\"NUMANode\"/><object type=\"Die\">" CORE
    "</object>" CORE "</object>"
    "<object type=\"Bridge\"><object type=\"PCIDev\"><object type=\"OSDev\"/></object></object></object>\n"
    "<support name=\"x\"/></topology>\n";

static const char old_version[] =
    "<topology>\n<object type=\"Machine\"><object type=\"NUMANode\"><object type=\"Socket\"><object "
    "type=\"Cache\" depth=\"3\">" PU PU
    "</object></object></object><object type=\"NUMANode\"><object type=\"Socket\">" PU
    "</object></object></object></topology>";

static const char two_machines[] =
    "<topology><object type=\"System\"><object type=\"Machine\"><info name=\"HostName\" value=\"m1\"/>" CORE
        CORE "</object>"
    "<object type=\"Machine\"><info name=\"HostName\" value=\"m2\"/>" CORE "</object></object></topology>";

static void
parts_of_machines_are_hosts(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"cores: 2 in a cache, 3 in the next, 8 in a package, 20 in the machine",
         two_packages,
         5,
         "core0 core1 core2 core3 core4",
         {2, 3, 3, 20, 20, 20, 20, 20, 20, 8},
         {0}},
        {"packages", two_packages, 2, "package0 package1", {20}, {.leaf = "package"}},
        {"one cache in a machine", two_packages, 1, "l30", {0}, {.leaf = "l3"}},
        {"version 1, without cores; a socket costs no more than the memory around it",
         old_version,
         3,
         "pu0 pu1 pu2",
         {3, 20, 20},
         {0}},
        {"its sockets", old_version, 2, "package0 package1", {20}, {.leaf = "package"}},
        {"two machines", two_machines, 3, "m1.core0 m1.core1 m2.core0", {20, 100, 100}, {0}},
        {"processing units of a core",
         two_machines,
         6,
         "m1.pu0 m1.pu1 m1.pu2 m1.pu3 m2.pu0 m2.pu1",
         {1, 20, 20, 20, 20, 1, 100, 100, 100, 100, 100, 100, 100, 100, 1},
         {.leaf = "pu"}},
    };
    EXAMPLES_HOLD(examples);
    struct lbm_hosts h = hosts_read(two_packages, &(struct lbm_hosts_reading){.leaf = "package"});
    slots_are(&h, (const uint32_t[]){3, 2});
    assert_true(h.core[0] == 0 && h.core[1] == 3);
    assert_string_equal(h.machine[1], "big");
    lbm_hosts_free(&h);
    h = hosts_of(two_machines);
    slots_are(&h, (const uint32_t[]){1, 1, 1});
    assert_true(h.core[0] == 0 && h.core[1] == 1 && h.core[2] == 0);
    assert_string_equal(h.machine[2], "m2");
    lbm_hosts_free(&h);
}

static void
wrong_machines_are_refused(void **state)
{
    (void)state;
    static const struct lbm_hosts_reading die = {.leaf = "die"}, socket = {.leaf = "socket"};
    refused("<topology/>", LBM_E_RANGE, 0, "no object of the type \"pu\"");
    refused_with(two_machines, &die, LBM_E_RANGE, 0, "no object of the type \"die\"");
    refused_with(two_machines, &socket, LBM_E_SYNTAX, 0, "\"socket\" is none of pu, core");
    refused_with(two_machines, &(struct lbm_hosts_reading){.nodes = "m1.core0"}, LBM_E_UNSUPPORTED, 0,
                 "@nodes");
    refused("<topology>\n<object type=\"Machine\">\n", LBM_E_SYNTAX, 3, "not well-formed");
    refused("<?xml version=\"1.0\"?>\n<machine><topology/></machine>\n", LBM_E_SYNTAX, 2, "must be topology");
    refused("<!DOCTYPE x [<!ENTITY a \"b\">]>\n<topology/>\n", LBM_E_UNSUPPORTED, 1, "entity");
    refused("<topology>" PU PU "</topology>", LBM_E_SYNTAX, 1, "two outermost");
    refused("<topology><object type=\"Machine\"><info name=\"HostName\" value=\"a b\"/></object></topology>",
            LBM_E_SYNTAX, 1, "HostName");
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
    links_are_fit(&h, "100 leaves");
    lbm_hosts_free(&h);
    h = two_levels(1, 1000);
    for (uint32_t p = 0; p < h.n; p++)
        assert_in_range(h.offset[p + 1] - h.offset[p], 10, 20);
    lbm_hosts_free(&h);
    h = hosts_of("SwitchName=one Nodes=x[0-5000]\n"); /* a hierarchy has links of its own */
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
        cmocka_unit_test(slurm_trees_forests_and_fabrics),
        cmocka_unit_test(slurm_blocks_are_joined_as_their_sizes_tell),
        cmocka_unit_test(wrong_slurm_files_are_refused),
        cmocka_unit_test(slurm_yaml_has_several_topologies),
        cmocka_unit_test(wrong_slurm_yaml_is_refused),
        cmocka_unit_test(hostfiles_tell_names_and_slots),
        cmocka_unit_test(wrong_hostfiles_are_refused),
        cmocka_unit_test(parts_of_machines_are_hosts),
        cmocka_unit_test(wrong_machines_are_refused),
        cmocka_unit_test(degrees_stay_small_in_large_fabrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
