/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Host graphs from files: METIS, GraphML, Scotch targets, Slurm's topology.conf, capacities.
 * One test reads a host graph next to the source tree (../shared) and is skipped without it. */
#include <inttypes.h>
#include <math.h>
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

static struct lbm_hosts
parse(const char *text)
{
    struct lbm_hosts h;
    struct lbm_diag diag = {0};
    char *copy =
        lbm_copy(text, strlen(text), 1); /* not terminated, so that reading beyond its end is found */
    assert_non_null(copy);
    if (lbm_hosts_parse("net", copy, strlen(text), NULL, &h, &diag) != LBM_OK)
        fail_msg("%s:%" PRIu64 ": %s", diag.where, diag.line, diag.text);
    free(copy);
    return h;
}

/* Refused with this error, at this line, saying this; the result untouched. */
static void
refused(const char *text, enum lbm_err expected, uint64_t line, const char *says)
{
    struct lbm_hosts h = {.n = 77};
    struct lbm_diag diag = {0};
    char *copy = lbm_copy(text, strlen(text), 1);
    assert_non_null(copy);
    enum lbm_err err = lbm_hosts_parse("net", copy, strlen(text), NULL, &h, &diag);
    free(copy);
    if (err != expected || diag.line != line || strstr(diag.text, says) == NULL)
        fail_msg("\"%s\": %s, %s:%" PRIu64 ": \"%s\"", text, lbm_err_name(err), diag.where, diag.line,
                 diag.text);
    assert_string_equal(diag.where, "net");
    assert_int_equal(h.n, 77);
}

/* As Scotch's atst prints them: the mean distance of two different terminals, to five digits. */
static void
mean_distance_is(const char *text, uint32_t n, double mean)
{
    struct lbm_hosts h = parse(text);
    double sum = 0.0;
    assert_int_equal(h.n, n);
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t q = 0; q < p; q++) {
            assert_int_equal(lbm_dist(&h, p, q), lbm_dist(&h, q, p));
            sum += lbm_dist(&h, p, q);
        }
    if (fabs(sum / (n * (n - 1) / 2.0) - mean) > 1e-5 * mean)
        fail_msg("%s: mean distance %g", text, sum / (n * (n - 1) / 2.0));
    lbm_hosts_free(&h);
}

/* ---- METIS and GraphML --------------------------------------------------------------------------- */

static void
metis_weights_are_costs_and_capacities(void **state)
{
    (void)state;
    struct lbm_hosts h = parse("% a triangle whose long side is not worth going\r\n3 3 011\r\n2 2 1 3 9\r\n"
                               "3 1 1 3 2\r\n4 1 9 2 2\r\n");
    assert_int_equal(h.n, 3);
    assert_true(h.capacity[0] == 2.0 && h.capacity[1] == 3.0 && h.capacity[2] == 4.0);
    assert_int_equal(lbm_dist(&h, 0, 1), 1);
    assert_int_equal(lbm_dist(&h, 0, 2), 3);
    assert_int_equal(h.topology, LBM_TOPOLOGY_FILE);
    assert_null(h.name);
    lbm_hosts_free(&h);
    h = parse("1 0\n\n");
    assert_int_equal(h.n, 1);
    lbm_hosts_free(&h);
}

static void
graphml_positions_are_sites_and_ids_are_names(void **state)
{
    (void)state;
    struct lbm_hosts h = parse(
        "<?xml version=\"1.0\"?>\n"
        "<graphml><key id=\"w\" for=\"all\" attr.name=\"weight\" attr.type=\"int\"/>"
        "<key id=\"x\" for=\"node\" attr.name=\"x\" attr.type=\"double\"/>"
        "<key id=\"y\" for=\"node\" attr.name=\"y\" attr.type=\"double\"/>"
        "<graph edgedefault=\"undirected\">"
        "<node id=\"a\"><data key=\"w\">5</data><data key=\"x\">10</data><data key=\"y\">0</data></node>"
        "<node id=\"b\"><data key=\"x\">0</data><data key=\"y\">0</data></node>"
        "<edge source=\"a\" target=\"b\"><data key=\"w\">7</data></edge>"
        "</graph></graphml>\n");
    assert_int_equal(h.n, 2);
    assert_int_equal(lbm_dist(&h, 0, 1), 7);
    assert_true(h.capacity[0] == 5.0 && h.capacity[1] == 1.0);
    assert_true(fabs(h.site[0] - 0.75) < 1e-15 && fabs(h.site[2] - 0.25) < 1e-15);
    assert_string_equal(h.name[0], "a");
    assert_string_equal(h.name[1], "b");
    lbm_hosts_free(&h);
}

static void
graphml_ids_that_no_launcher_would_understand_are_refused(void **state)
{
    (void)state;
    refused("<graphml><graph edgedefault=\"undirected\"><node id=\"two words\"/></graph></graphml>",
            LBM_E_SYNTAX, 0, "host 0");
    refused("<graphml><graph edgedefault=\"undirected\"><node id=\"a\"/><node id=\"b&#9;\"/>"
            "<edge source=\"a\" target=\"b&#9;\"/></graph></graphml>",
            LBM_E_SYNTAX, 0, "host 1");
}

static void
wrong_graphs_are_refused_naming_file_and_line(void **state)
{
    (void)state;
    refused("", LBM_E_SYNTAX, 1, "no host graph");
    refused("\n\n  \n", LBM_E_SYNTAX, 4, "no host graph");
    refused("\x7f\x45\x4c\x46", LBM_E_SYNTAX, 1, "no host graph");
    refused("0 0\n", LBM_E_RANGE, 0, "at least one");
    refused("3 1\n2\n1\n\n", LBM_E_SYNTAX, 0, "no way leads from host 0 to host 2");
    refused("2 1 001\n2 600000\n1 600000\n", LBM_E_RANGE, 0, "costs 600000");
}

static void
more_hosts_than_possible_are_refused(void **state)
{
    (void)state;
    struct lbm_buf text = {0};
    lbm_buf_printf(&text, "%d %d\n", LBM_HOSTS_MAX + 1, LBM_HOSTS_MAX);
    lbm_buf_printf(&text, "2\n");
    for (int v = 2; v <= LBM_HOSTS_MAX; v++)
        lbm_buf_printf(&text, "%d %d\n", v - 1, v + 1);
    lbm_buf_printf(&text, "%d\n", LBM_HOSTS_MAX);
    assert_false(text.failed);
    refused(text.at, LBM_E_LIMIT, 0, "8193 hosts");
    lbm_buf_free(&text);
}

/* ---- Scotch -------------------------------------------------------------------------------------- */

static void
scotch_targets_have_the_distances_scotch_prints(void **state)
{
    (void)state;
    mean_distance_is("hcub 3\n", 8, 1.71429);
    mean_distance_is("mesh2D 3 2\n", 6, 1.66667);
    mean_distance_is("mesh3D 2 2 2\n", 8, 1.71429);
    mean_distance_is("meshXD 3 2 2 2\n", 8, 1.71429);
    mean_distance_is("torus2D 3 3\n", 9, 1.5);
    mean_distance_is("torus3D 3 3 3\n", 27, 2.07692);
    mean_distance_is("torusXD 2 3 4\n", 12, 1.81818);
    mean_distance_is("cmplt\n4\n", 4, 1.0);
    mean_distance_is("cmpltw 3\n1 2 3\n", 3, 1.0);
    mean_distance_is("tleaf 2 2 10 2 3\n", 4, 9.66667);
    mean_distance_is("deco 0\n3 5\n7 2 4\n9 3 5\n4 1 3\n5\n6 2\n", 3, 4.33333);
}

static void
scotch_weights_are_capacities(void **state)
{
    (void)state;
    struct lbm_hosts h = parse("cmpltw 3 1 20 300");
    assert_true(h.capacity[0] == 1.0 && h.capacity[1] == 20.0 && h.capacity[2] == 300.0);
    assert_int_equal(h.topology, LBM_TOPOLOGY_COMPLETE);
    lbm_hosts_free(&h);
}

static void
tleaf_costs_add_up_from_the_leaves(void **state)
{
    (void)state;
    struct lbm_hosts h = parse("tleaf 2 3 10 2 3");
    assert_int_equal(h.n, 6);
    assert_int_equal(lbm_dist(&h, 0, 1), 3);
    assert_int_equal(lbm_dist(&h, 1, 2), 13);
    assert_int_equal(lbm_dist(&h, 0, 5), 13);
    lbm_hosts_free(&h);
}

/* mesh2D 2 2 as amk_m2 writes it and as acpl compiles that. */
static void
both_types_of_deco_give_the_mesh_they_were_made_of(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "deco\n0\n4\t7\n0\t1\t4\n1\t1\t5\n2\t1\t6\n3\t1\t7\n1\n1 2\n2 1 1\n",
        "deco\n1\n4 7\n0 4 4\n0 2 2\n2 2 2\n0 1 1\n1 1 1\n2 1 1\n3 1 1\n"
        "2 2 2 2 1 2 2 1\n2 1 2 2 1 1 2 2\n2 1 2 1 1\n",
    };
    struct lbm_hosts mesh;
    assert_int_equal(lbm_hosts_generate("mesh:2x2", &mesh, NULL), LBM_OK);
    for (size_t i = 0; i < 2; i++) {
        struct lbm_hosts h = parse(texts[i]);
        assert_int_equal(h.n, 4);
        assert_memory_equal(h.dist, mesh.dist, 16 * sizeof *h.dist);
        assert_memory_equal(h.offset, mesh.offset, 5 * sizeof *h.offset);
        assert_memory_equal(h.target, mesh.target, 8 * sizeof *h.target);
        assert_null(h.name);
        lbm_hosts_free(&h);
    }
    lbm_hosts_free(&mesh);
}

static void
labels_of_terminals_are_ids_if_they_can_be_else_names(void **state)
{
    (void)state;
    struct lbm_hosts h = parse("deco 0\n3 5\n2 30 4\n0 10 5\n1 20 3\n5\n6 2\n"); /* labels 2 0 1 */
    assert_true(h.capacity[0] == 10.0 && h.capacity[1] == 20.0 && h.capacity[2] == 30.0);
    assert_int_equal(lbm_dist(&h, 2, 0), 5);
    assert_int_equal(lbm_dist(&h, 2, 1), 6);
    assert_int_equal(lbm_dist(&h, 0, 1), 2);
    assert_null(h.name);
    lbm_hosts_free(&h);
    h = parse("deco 0\n3 5\n7 2 4\n9 3 5\n4 1 3\n5\n6 2\n");
    assert_int_equal(lbm_dist(&h, 0, 1), 5);
    assert_string_equal(h.name[0], "7");
    assert_string_equal(h.name[2], "4");
    lbm_hosts_free(&h);
    h = parse("deco 0 1 1\n0 3 1\n");
    assert_int_equal(h.n, 1);
    lbm_hosts_free(&h);
}

static void
wrong_targets_are_refused_naming_file_and_line(void **state)
{
    (void)state;
    refused("vcmplt\n", LBM_E_UNSUPPORTED, 1, "mesh2D");
    refused("mesh2D 3\n", LBM_E_SYNTAX, 2, "extent");
    refused("mesh2D 3 x\n", LBM_E_SYNTAX, 1, "extent");
    refused("mesh2D 3 0\n", LBM_E_RANGE, 0, "mesh:AxB[xC]");
    refused("mesh2D 3 2 2\n", LBM_E_SYNTAX, 1, "follows the target");
    refused("meshXD 4 2 2 2 2\n", LBM_E_RANGE, 1, "2 or 3");
    refused("hcub 14\n", LBM_E_LIMIT, 0, "8192");
    refused("cmpltw 3 1 2\n", LBM_E_SYNTAX, 2, "host weight");
    refused("cmpltw 3 1 2 0\n", LBM_E_RANGE, 1, "host weight");
    refused("tleaf 0\n", LBM_E_RANGE, 1, "levels");
    refused("tleaf 17\n", LBM_E_RANGE, 1, "levels");
    refused("tleaf 2 2 10 2\n", LBM_E_SYNTAX, 2, "link cost");
    refused("tleaf 3 100 1 100 1 100 1\n", LBM_E_LIMIT, 0, "8192");
    refused("deco 2\n1\n", LBM_E_RANGE, 1, "types 0 and 1");
    refused("deco 0\n2 3\n7 1 2\n7 1 3\n4\n", LBM_E_SYNTAX, 5, "two terminals have the number 7");
    refused("deco 0\n0 0\n", LBM_E_RANGE, 2, "terminals");
    refused("deco 0\n1024 2000\n0 1 1\n", LBM_E_SYNTAX, 2, "too short");
    refused("deco 0\n1000000000 2000\n", LBM_E_RANGE, 2, "terminals");
    refused("deco 0\n2 3\n0 1 2\n1 1 3\n0\n", LBM_E_RANGE, 5, "distance");
    refused("deco 0\n2 3\n0 1 2\n1 1 3\n", LBM_E_SYNTAX, 5, "distance");
    refused("deco 0\n2 3\n0 0 2\n1 1 3\n4\n", LBM_E_RANGE, 3, "terminal weight");
    refused("deco 1\n2 3\n0 2 2\n0 1 1\n1 2 1\n1 1 1\n", LBM_E_SYNTAX, 5, "1 domains of size 1");
    refused("deco 1\n1 3\n0 1 2\n0 1 1\n1 2 1\n1 1 1\n", LBM_E_SYNTAX, 4, "more domains of size 1");
}

/* ---- Slurm --------------------------------------------------------------------------------------- */

static void
switches_give_distances_names_and_ids_in_the_order_of_the_tree(void **state)
{
    (void)state;
    struct lbm_hosts h = parse("# two leaves below a root\r\n"
                               "SwitchName=leaf1 Nodes=node[01-03] LinkSpeed=900\r\n"
                               "switchname=leaf2 nodes=login,gpu[7,9-10]x # by the door\r\n"
                               "\r\n"
                               "SwitchName=root \\\r\n    Switches=leaf[1-2]");
    static const char *const names[] = {"node01", "node02", "node03", "login", "gpu7x", "gpu9x", "gpu10x"};
    assert_int_equal(h.n, 7);
    for (uint32_t p = 0; p < 7; p++) {
        assert_string_equal(h.name[p], names[p]);
        for (uint32_t q = 0; q < 7; q++)
            assert_int_equal(lbm_dist(&h, p, q), p == q ? 0 : (p < 3) == (q < 3) ? 2 : 4);
    }
    assert_int_equal(lbm_hosts_diameter_hops(&h), 2); /* the seventh host has no counterpart of its own */
    lbm_hosts_free(&h);
}

static void
leaves_at_different_depths_count_their_own_links(void **state)
{
    (void)state;
    struct lbm_hosts h = parse("SwitchName=top Switches=mid,flat\nSwitchName=mid Switches=low\n"
                               "SwitchName=flat Nodes=a\nSwitchName=low Nodes=b,c\n");
    assert_int_equal(h.n, 3);
    assert_string_equal(h.name[0], "b"); /* mid comes before flat in the file */
    assert_string_equal(h.name[2], "a");
    assert_int_equal(lbm_dist(&h, 0, 1), 2);
    assert_int_equal(lbm_dist(&h, 0, 2), 5);
    lbm_hosts_free(&h);
}

static void
one_switch_is_a_network(void **state)
{
    (void)state;
    struct lbm_hosts h = parse("SwitchName=s Nodes=only");
    assert_int_equal(h.n, 1);
    lbm_hosts_free(&h);
    h = parse("SwitchName=s Nodes=r[0-1]c[0-2]");
    assert_int_equal(h.n, 6);
    assert_string_equal(h.name[0], "r0c0");
    assert_string_equal(h.name[5], "r1c2");
    lbm_hosts_free(&h);
}

static void
wrong_switches_are_refused_naming_file_and_line(void **state)
{
    (void)state;
    static const char deep[] =
        "SwitchName=s0 Nodes=a\nSwitchName=s1 Switches=s0\nSwitchName=s2 Switches=s1\n"
        "SwitchName=s3 Switches=s2\nSwitchName=s4 Switches=s3\nSwitchName=s5 Switches=s4\n"
        "SwitchName=s6 Switches=s5\nSwitchName=s7 Switches=s6\nSwitchName=s8 Switches=s7\n"
        "SwitchName=s9 Switches=s8\nSwitchName=s10 Switches=s9\nSwitchName=s11 Switches=s10\n"
        "SwitchName=s12 Switches=s11\nSwitchName=s13 Switches=s12\n"
        "SwitchName=s14 Switches=s13\nSwitchName=s15 Switches=s14\n"
        "SwitchName=s16 Switches=s15\n";
    refused(deep, LBM_E_LIMIT, 2, "too many levels");
    refused("SwitchName=a Nodes=x Color=red", LBM_E_SYNTAX, 1, "Color=red");
    refused("SwitchName=a Nodes=x\\,y\n", LBM_E_SYNTAX, 1, "not understood");
    refused("SwitchName=a Nodes=kn\xf6tchen[1-2]\n", LBM_E_SYNTAX, 1, "no name of a host");
    refused("SwitchName=a\n", LBM_E_SYNTAX, 1, "either Nodes or Switches");
    refused("SwitchName=a Nodes=x Switches=b\n", LBM_E_SYNTAX, 1, "either Nodes or Switches");
    refused("SwitchName=a Nodes=x\n\nNodes=y\n", LBM_E_SYNTAX, 3, "no SwitchName");
    refused("SwitchName=a Nodes=\n", LBM_E_SYNTAX, 1, "Nodes=");
    refused("SwitchName=a Nodes=x\nSwitchName=a Nodes=y\n", LBM_E_SYNTAX, 2, "a line already");
    refused("SwitchName=a Nodes=x\nSwitchName=b Switches=a,c\n", LBM_E_SYNTAX, 2, "no line tells");
    refused("SwitchName=a Nodes=x\nSwitchName=b Switches=a,a\n", LBM_E_SYNTAX, 2, "named twice");
    refused("SwitchName=a Switches=b\nSwitchName=b Switches=a\n", LBM_E_SYNTAX, 1, "circle");
    refused("SwitchName=a Switches=a\n", LBM_E_SYNTAX, 1, "circle");
    refused("SwitchName=r Nodes=x\nSwitchName=a Switches=b\nSwitchName=b Switches=a\n", LBM_E_SYNTAX, 2,
            "circle");
    refused("SwitchName=a Nodes=x,x\n", LBM_E_SYNTAX, 1, "named twice here: \"x\"");
    refused("SwitchName=a Nodes=x,\n", LBM_E_SYNTAX, 1, "a name is missing");
    refused("SwitchName=a Nodes=x[1-\n", LBM_E_SYNTAX, 1, "not closed");
    refused("SwitchName=a Nodes=x[4-1]\n", LBM_E_SYNTAX, 1, "ranges of numbers");
    refused("SwitchName=a Nodes=x[]\n", LBM_E_SYNTAX, 1, "ranges of numbers");
    refused("SwitchName=a Nodes=x[1,]\n", LBM_E_SYNTAX, 1, "ranges of numbers");
    refused("SwitchName=a Nodes=x[1-2-3]\n", LBM_E_SYNTAX, 1, "ranges of numbers");
    refused("SwitchName=a Nodes=x[0-999999999]\n", LBM_E_LIMIT, 1, "too many names");
    refused("SwitchName=a Nodes=x[0-99999]y[0-99999]\n", LBM_E_LIMIT, 1, "too many names");
    refused("SwitchName=a Nodes=x[0-9999999999]\n", LBM_E_SYNTAX, 1, "ranges of numbers");
    refused("SwitchName=a Nodes=n123456789012345678901234567890123456789012345678901234567890123\n",
            LBM_E_LIMIT, 1, "too long");
    refused("SwitchName=a Nodes=n12345678901234567890123456789012345678901234567890123456789012[1-2]\n",
            LBM_E_LIMIT, 1, "too long");
    refused("SwitchName=a Nodes=x[0-5000]\nSwitchName=b Nodes=y[0-5000]\nSwitchName=c Switches=a,b\n",
            LBM_E_LIMIT, 0, "10002 hosts");
}

/* ---- capacities ---------------------------------------------------------------------------------- */

static enum lbm_err
set_capacities(struct lbm_hosts *h, const char *text, struct lbm_diag *diag)
{
    return lbm_hosts_parse_capacities(h, "caps", text, strlen(text), diag);
}

static void
capacities_replace_those_of_the_hosts(void **state)
{
    (void)state;
    struct lbm_hosts h;
    assert_int_equal(lbm_hosts_generate("chain:3", &h, NULL), LBM_OK);
    assert_int_equal(set_capacities(&h, "1.5 2e3\r\n\r\n  0.25\n\n", NULL), LBM_OK);
    assert_true(h.capacity[0] == 1.5 && h.capacity[1] == 2000.0 && h.capacity[2] == 0.25);
    static const struct {
        const char *text;
        enum lbm_err err;
        uint64_t line;
        const char *says;
    } wrong[] = {
        {"", LBM_E_SYNTAX, 1, "0 capacities for 3 hosts"},
        {"1 2\n", LBM_E_SYNTAX, 2, "2 capacities for 3 hosts"},
        {"1 2 3\n4", LBM_E_SYNTAX, 2, "more than 3"},
        {"1 2\nx", LBM_E_SYNTAX, 2, "capacity"},
        {"1 2\nnan", LBM_E_SYNTAX, 2, "capacity"},
        {"1 inf 3", LBM_E_SYNTAX, 1, "capacity"},
        {"1 1e999 3", LBM_E_RANGE, 1, "capacity"},
        {"0\n0\n0", LBM_E_RANGE, 0, "no hosts among 3 switches"},
        {"1\n-2\n3", LBM_E_RANGE, 2, "from 1e-09 to 1e+12"},
        {"1\n1e13\n3", LBM_E_RANGE, 2, "from 1e-09 to 1e+12"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct lbm_diag diag = {0};
        enum lbm_err err = set_capacities(&h, wrong[i].text, &diag);
        if (err != wrong[i].err || diag.line != wrong[i].line || strstr(diag.text, wrong[i].says) == NULL)
            fail_msg("\"%s\": %s, line %" PRIu64 ", \"%s\"", wrong[i].text, lbm_err_name(err), diag.line,
                     diag.text);
        assert_true(h.capacity[0] == 1.5 && h.capacity[1] == 2000.0 && h.capacity[2] == 0.25);
    }
    lbm_hosts_free(&h);
}

/* ---- a real one ---------------------------------------------------------------------------------- */

static char *
read_text(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    char *text = lbm_alloc(1 << 16, 1);
    assert_non_null(text);
    *len = fread(text, 1, 1 << 16, file);
    fclose(file);
    return text;
}

static void
the_irregular_network_of_24_is_laid_out_by_its_distances(void **state)
{
    (void)state;
    const char *top = getenv("top_srcdir");
    char path[4096];
    size_t len = 0;
    snprintf(path, sizeof path, "%s/../shared/hosts/irr24.graph", top != NULL ? top : "..");
    char *text = read_text(path, &len);
    if (text == NULL) {
        print_message("%s is not there: skipped\n", path);
        skip();
    }
    struct lbm_hosts h;
    struct lbm_diag diag = {0};
    if (lbm_hosts_parse(path, text, len, NULL, &h, &diag) != LBM_OK)
        fail_msg("%s", diag.text);
    assert_int_equal(h.n, 24);
    assert_int_equal(h.offset[24], 72);
    assert_int_equal(h.m, 2);
    /* Linked hosts lie nearer than others on average, by far. */
    double near = 0.0, far = 0.0;
    uint32_t n_near = 0, n_far = 0;
    for (uint32_t p = 0; p < 24; p++)
        for (uint32_t q = 0; q < p; q++) {
            double d = hypot(h.site[2 * p] - h.site[2 * q], h.site[2 * p + 1] - h.site[2 * q + 1]);
            if (lbm_dist(&h, p, q) == 1)
                near += d, n_near++;
            else
                far += d, n_far++;
        }
    assert_true(near / n_near < 0.6 * far / n_far);
    lbm_hosts_free(&h);
    free(text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metis_weights_are_costs_and_capacities),
        cmocka_unit_test(graphml_positions_are_sites_and_ids_are_names),
        cmocka_unit_test(graphml_ids_that_no_launcher_would_understand_are_refused),
        cmocka_unit_test(wrong_graphs_are_refused_naming_file_and_line),
        cmocka_unit_test(more_hosts_than_possible_are_refused),
        cmocka_unit_test(scotch_targets_have_the_distances_scotch_prints),
        cmocka_unit_test(scotch_weights_are_capacities),
        cmocka_unit_test(tleaf_costs_add_up_from_the_leaves),
        cmocka_unit_test(both_types_of_deco_give_the_mesh_they_were_made_of),
        cmocka_unit_test(labels_of_terminals_are_ids_if_they_can_be_else_names),
        cmocka_unit_test(wrong_targets_are_refused_naming_file_and_line),
        cmocka_unit_test(switches_give_distances_names_and_ids_in_the_order_of_the_tree),
        cmocka_unit_test(leaves_at_different_depths_count_their_own_links),
        cmocka_unit_test(one_switch_is_a_network),
        cmocka_unit_test(wrong_switches_are_refused_naming_file_and_line),
        cmocka_unit_test(capacities_replace_those_of_the_hosts),
        cmocka_unit_test(the_irregular_network_of_24_is_laid_out_by_its_distances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
