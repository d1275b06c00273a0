/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readers and writers of graphs: what is read is what stands there, and what is refused is refused with its
 * line and a word on what to do. tests/corpus has more inputs; tests/fuzz/test_corpus.c replays them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/write.h"
#include "tests/unit/graph/graph_fixture.h"

static struct lbm_diag diag;

static struct lbm_graph
parse(enum lbm_graph_format format, const char *text)
{
    struct lbm_graph g;
    if (lbm_graph_parse(format, "input", text, strlen(text), &g, &diag) != LBM_OK)
        fail_msg("line %llu: %s", (unsigned long long)diag.line, diag.text);
    assert_int_equal(lbm_graph_check(&g, &diag), LBM_OK);
    return g;
}

/* ---- what is refused ----------------------------------------------------------------------------- */

struct refusal {
    enum lbm_graph_format format;
    const char *text;
    enum lbm_err err;
    uint64_t line;
    const char *says; /* a part of the message */
};

#define METIS LBM_FORMAT_METIS
#define SCOTCH LBM_FORMAT_SCOTCH
#define MTX LBM_FORMAT_MATRIX_MARKET
#define GRAPHML LBM_FORMAT_GRAPHML
#define EDGES LBM_FORMAT_EDGES
#define BANNER "%%MatrixMarket matrix coordinate "
#define NODES "<graphml>\n<graph>\n<node id='a'/>\n<node id='b'/>\n"

static const struct refusal refusals[] = {
    {METIS, "", LBM_E_SYNTAX, 0, "empty"},
    {METIS, "%\n", LBM_E_SYNTAX, 2, "no header"},
    {METIS, "\177ELF\2\1", LBM_E_SYNTAX, 0, "not a text"},
    {METIS, "2147483648 1\n", LBM_E_RANGE, 1, "number of vertices"},
    {METIS, "900000000 1\n", LBM_E_SYNTAX, 1, "900000000 vertices"},
    {METIS, "2 7999999999\n2\n1\n", LBM_E_SYNTAX, 1, "7999999999 edges"},
    {METIS, "2 1 0 1 9\n2\n1\n", LBM_E_SYNTAX, 1, "\"9\" follows the header"},
    {METIS, "2 1 020\n2\n1\n", LBM_E_RANGE, 1, "fmt"},
    {METIS, "2 1 10 3\n", LBM_E_UNSUPPORTED, 1, "3 weights"},
    {METIS, "% a\n\n3 2\n%\n2\n% b\n1 3\n2 4\n", LBM_E_RANGE, 8,
     "neighbour must be an integer from 1 to 3, not \"4\""},
    {METIS, "3 2\n2\n1 3\n", LBM_E_SYNTAX, 4, "after 2 of 3 vertices"},
    {METIS, "2 1\n2\n1\n\n% fine\n7 7\n", LBM_E_SYNTAX, 6, "\"7\" follows the last vertex"},
    {METIS, "3 2\n2 3\n1\n%\n\n", LBM_E_SYNTAX, 2, "vertex 1 lists 3 as a neighbour, but 3 does not list 1"},
    {METIS, "3 1\n%\n2\n1\n1 2\n", LBM_E_SYNTAX, 5, "more neighbours"},
    {METIS, "3 3\n2    \n1    3\n2    \n", LBM_E_SYNTAX, 0, "3 edges, the rows hold 2"},
    {METIS, "2 1 1\n2 5\n1 6\n", LBM_E_SYNTAX, 2, "weighs 5 on one side and 6 on the other"},
    {METIS, "2 1 1\n2 5\n1 0\n", LBM_E_RANGE, 3, "leave out an edge without traffic"},
    {METIS, "2 1 10\n0 2\n1 1\n", LBM_E_RANGE, 2, "give 1 to a vertex"},
    {METIS, "2 1 1\n2 -5\n1 -5\n", LBM_E_RANGE, 2, "\"-5\""},
    {METIS, "2 1 1\n2 1.5\n1 1.5\n", LBM_E_RANGE, 2, "scale and round"},
    {METIS, "2 1 1\n2 nan\n1 nan\n", LBM_E_SYNTAX, 2, "\"nan\""},
    {METIS, "2 1 1\n2 5\n1\n", LBM_E_SYNTAX, 3, "ends before the edge weight"},
    {METIS, "2 1\n99999999999999999999999\n1\n", LBM_E_RANGE, 2, "99999999999999999999999"},
    {METIS, "3 2\n2 2\n1\n\n", LBM_E_SYNTAX, 2, "from 1 to 2 is given twice"},
    {METIS, "2 1\n2\n2\n", LBM_E_SYNTAX, 3, "its own neighbour"},
    {METIS, "2 1\n2\n1x\n", LBM_E_SYNTAX, 3, "\"1x\""},
    {METIS, "2 1\n2\001234567890123456789012345678901234567890\n1\n", LBM_E_SYNTAX, 0, "not a text"},
    {SCOTCH, "1\n2 2\n", LBM_E_RANGE, 1, "only version 0"},
    {SCOTCH, "0\n2 2\n0 000\n\n1 1\n1", LBM_E_SYNTAX, 6, "ends before the neighbour"},
    {SCOTCH, "0\n2 2\n1 000\n1 2\n1 0\n", LBM_E_RANGE, 5, "from 1 to 2"},
    {SCOTCH, "0\n2 3\n0 000\n1 1\n1 0\n", LBM_E_SYNTAX, 2, "each edge counts twice"},
    {SCOTCH, "0\n3 4\n0 100\n2 1 1\n0 1 1\n2 2 2 0\n", LBM_E_SYNTAX, 6, "label 2 is given twice"},
    {SCOTCH, "0\n3 2\n0 100\n2 0\n1 1 2\n0 1 1\n", LBM_E_SYNTAX, 6, "vertex 0 lists 1"},
    {MTX, "3 3 1\n2 1\n", LBM_E_SYNTAX, 1, "no banner"},
    {MTX, BANNER "complex general\n", LBM_E_UNSUPPORTED, 1, "complex"},
    {MTX, BANNER "real general\n%\n2 3 0\n", LBM_E_UNSUPPORTED, 3, "2 rows and 3 columns"},
    {MTX, BANNER "real general\n2 2 1\n1 2 inf\n", LBM_E_SYNTAX, 3, "\"inf\""},
    {MTX, BANNER "real general\n2 2 2\n1 2 1\n", LBM_E_SYNTAX, 4, "1 of 2 entries"},
    {MTX, BANNER "pattern symmetric\n2 2 2\n2 1\n1 2\n", LBM_E_SYNTAX, 4, "twice"},
    {MTX, BANNER "pattern general\n2 2 2\n2 1\n2 1\n", LBM_E_SYNTAX, 4, "twice"},
    {MTX, BANNER "pattern general\n900000000 900000000 1\n2 1\n", LBM_E_LIMIT, 2, "without gaps"},
    {MTX, BANNER "real symmetric\n3 3 2\n2 1 5\n3 2 6.5\n", LBM_E_RANGE, 4, "\"6.5\""},
    {MTX, BANNER "real symmetric\n3 3 2\n2 1 5\n3 2 0\n", LBM_E_RANGE, 4, "\"0\""},
    {MTX, BANNER "integer symmetric\n3 3 2\n2 1 2147483648\n3 2 1\n", LBM_E_RANGE, 3, "2147483648"},
    {MTX, BANNER "real general\n3 3 3\n1 2 5\n2 1 0.25\n3 2 1\n", LBM_E_RANGE, 4, "0.25"},
    {EDGES, "0 1\n# ok\n1 1\n", LBM_E_SYNTAX, 3, "its own neighbour"},
    {EDGES, "0 1 2\n1 2\n1 0 3\n", LBM_E_SYNTAX, 3, "weighs 2 on one side and 3"},
    {EDGES, "0 1\n1 2\n\n1 2\n", LBM_E_SYNTAX, 4, "twice"},
    {EDGES, "0 1\n1 -3\n", LBM_E_RANGE, 2, "\"-3\" is no vertex"},
    {EDGES, "0,1\n", LBM_E_SYNTAX, 1, "separated by blanks"},
    {EDGES, "a\tb\n\"c d\n", LBM_E_SYNTAX, 2, "not closed"},
    {EDGES, "source target\n0 1\n1 2\n", LBM_E_SYNTAX, 1, "heading"},
    {EDGES, "a b\nb c\na b\n", LBM_E_SYNTAX, 3, "from a to b is given twice"},
    {EDGES, "0 1 1 1\n", LBM_E_SYNTAX, 1, "follows an edge"},
    {GRAPHML, "0 1\n", LBM_E_SYNTAX, 1, "XML"},
    {GRAPHML, "<svg/>", LBM_E_SYNTAX, 1, "graphml"},
    {GRAPHML, NODES "<edge source='a' target='c'/></graph></graphml>", LBM_E_SYNTAX, 5, "no node \"c\""},
    {GRAPHML, NODES "<node\nid='b'/></graph></graphml>", LBM_E_SYNTAX, 5, "node \"b\" is given twice"},
    {GRAPHML, NODES "\n<node/></graph></graphml>", LBM_E_SYNTAX, 6, "id"},
    {GRAPHML, NODES "<hyperedge/></graph></graphml>", LBM_E_UNSUPPORTED, 5, "replace each by edges"},
    {GRAPHML, NODES "</graph>\n", LBM_E_SYNTAX, 6, "XML"},
};

static void
refusals_name_line_and_cause(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *r = &refusals[i];
        struct lbm_graph g = {.n = 77};
        enum lbm_err err = lbm_graph_parse(r->format, "input", r->text, strlen(r->text), &g, &diag);
        if (err != r->err || diag.code != err || g.n != 77)
            fail_msg("%s gives %s: %s", r->text, lbm_err_name(err), diag.text);
        if (diag.line != r->line)
            fail_msg("%s: line %llu is named", r->text, (unsigned long long)diag.line);
        if (strstr(diag.text, r->says) == NULL)
            fail_msg("%s: \"%s\" does not say \"%s\"", r->text, diag.text, r->says);
        assert_string_equal(diag.where, "input");
        assert_int_equal(lbm_graph_parse(r->format, "input", r->text, strlen(r->text), &g, NULL), r->err);
    }
}

/* Whatever is cut off or changed in a good file, nothing but a graph or a refusal comes of it. */
static void
cut_and_damaged_files_are_graphs_or_refused(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 1);
    for (int format = 0; format < LBM_FORMAT_COUNT; format++) {
        if (!lbm_graph_is_written((enum lbm_graph_format)format))
            continue;
        struct lbm_graph g = graph_random(12, 20, 1, &rng), got;
        struct lbm_buf text = {0};
        assert_int_equal(lbm_graph_write((enum lbm_graph_format)format, &g, &text), LBM_OK);
        for (size_t i = 0; i < 2 * text.len; i++) {
            size_t len = i < text.len ? i : text.len;
            char *copy = malloc(len > 0 ? len : 1); /* of its own, so that a byte beyond it is noticed */
            assert_non_null(copy);
            memcpy(copy, text.at, len);
            if (i >= text.len)
                copy[i - text.len] = (char)(' ' + lbm_rng_below(&rng, 64));
            if (lbm_graph_parse((enum lbm_graph_format)format, "input", copy, len, &got, &diag) == LBM_OK) {
                assert_int_equal(lbm_graph_check(&got, &diag), LBM_OK);
                lbm_graph_free(&got);
            }
            free(copy);
        }
        lbm_buf_free(&text);
        lbm_graph_free(&g);
    }
}

/* ---- what is read -------------------------------------------------------------------------------- */

static void
metis_digits_of_fmt_are_told_apart(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "2 1\n2\n1\n",
        "2 1 0\n2\n1\n",
        "2 1 1\n2 9\n1 9\n",
        "2 1 10\n7 2\n8 1\n",
        "2 1 11\n7 2 9\n8 1 9",
        "2 1 100\n5 2\n5 1\n",
        "2 1 101\n5 2 9\n5 1 9",
        "2 1 110\n5 7 2\n5 8 1\n",
        "2 1 011 1\n7 2 9\n8 1 9\n",
        "2 1 111\n5 7 2 9\n5 8 1 9\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct lbm_graph g = parse(METIS, texts[i]);
        int weighted = strchr(texts[i], '9') != NULL, worked = strchr(texts[i], '7') != NULL;
        assert_int_equal(g.n, 2);
        assert_int_equal(lbm_graph_directions(&g), 2);
        assert_int_equal(lbm_graph_weight(&g, 0), weighted ? 9 : 1);
        assert_int_equal(lbm_graph_work(&g, 0), worked ? 7 : 1);
        assert_int_equal(lbm_graph_work(&g, 1), worked ? 8 : 1);
        lbm_graph_free(&g);
    }
}

static void
comments_blank_lines_and_line_ends_do_not_matter(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "4 2\n2\n1\n4\n3\n",
        "4 2\r\n2\r\n1\r\n4\r\n3\r\n",
        "%c\n%c\n4   2  \n%\n 2\t\n% 9 9 9\n1\n4\n3",
        "\357\273\2774 2\n2\n1\n4\n3\n\n\n%\n\r\n",
    };
    struct lbm_graph first = parse(METIS, texts[0]);
    for (int i = 1; i < 4; i++) {
        struct lbm_graph g = parse(METIS, texts[i]);
        assert_graph_equal(&first, &g);
        lbm_graph_free(&g);
    }
    lbm_graph_free(&first);
}

static void
a_blank_line_is_a_vertex_without_edges(void **state)
{
    (void)state;
    struct lbm_graph g = parse(METIS, "5 1\n\n4\n   \n2\n\n");
    assert_int_equal(g.n, 5);
    assert_true(graph_lists(&g, 1, 3) && graph_lists(&g, 3, 1));
    assert_int_equal(lbm_graph_directions(&g), 2);
    lbm_graph_free(&g);
}

static void
scotch_labels_order_the_rows(void **state)
{
    (void)state;
    struct lbm_graph plain = parse(SCOTCH, "0\n3 4\n1 011\n4 1 8 2\n5 2 8 1 9 3\n6 1 9 2\n");
    struct lbm_graph mixed = parse(SCOTCH, "0\n3 4\n1 111\n3 6 1 9 2\n1 4 1 8 2\n2 5 2 9 3 8 1\n");
    assert_graph_equal(&plain, &mixed);
    for (uint32_t v = 0; v < 3; v++) {
        assert_int_equal(lbm_graph_work(&plain, v), 4 + v);
        assert_int_equal(lbm_graph_work(&mixed, v), 4 + v);
    }
    lbm_graph_free(&plain);
    lbm_graph_free(&mixed);
}

static void
values_of_a_matrix_are_weights(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t weight; /* of edge 0 - 1 */
    } cases[] = {
        {BANNER "pattern symmetric\n3 3 3\n1 1\n2 1\n3 2\n", 1},
        {BANNER "integer symmetric\n3 3 3\n1 1 0\n2 1 5\n3 2 -6\n", 5},
        {BANNER "integer skew-symmetric\n3 3 2\n2 1 -5\n3 2 6\n", 5},
        {BANNER "real symmetric\n3 3 3\n1 1 0.5\n2 1 5.0\n3 2 6e0\n", 5},
        {BANNER "real symmetric\n3 3 2\n2 1 5\n3 2 2147483647\n", 5},
        {BANNER "integer general\n3 3 3\n2 1 5\n1 2 4\n3 2 1\n", 9},
        {BANNER "integer general\n3 3 2\n1 2 5\n3 2 1\n", 5},
        {BANNER "pattern general\n3 3 3\n1 2\n2 1\n3 2\n", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lbm_graph g = parse(MTX, cases[i].text);
        assert_int_equal(g.n, 3);
        assert_int_equal(lbm_graph_directions(&g), 4);
        if (lbm_graph_weight(&g, 0) != cases[i].weight)
            fail_msg("%s: weight %u", cases[i].text, lbm_graph_weight(&g, 0));
        lbm_graph_free(&g);
    }
}

static void
edge_lists_take_both_directions_and_number_densely(void **state)
{
    (void)state;
    struct lbm_graph g = parse(EDGES, "# SNAP\n3 1 4\n\n1\t3\t4\n% KONECT\n6\n0 1\n");
    assert_int_equal(g.n, 4);
    assert_int_equal(lbm_graph_directions(&g), 4);
    assert_int_equal(lbm_graph_weight(&g, 0), 1);
    assert_int_equal(lbm_graph_weight(&g, 2), 4);
    assert_string_equal(lbm_graph_name(&g, 2), "3");
    assert_string_equal(lbm_graph_name(&g, 3), "6");
    lbm_graph_free(&g);
}

static void
graphml_data_reach_their_vertices(void **state)
{
    (void)state;
    static const char text[] =
        "<graphml><key id='k' for='node' attr.name='weight'><default>3</default></key>"
        "<key id='x' for='node' attr.name='x'/><key id='y' for='node' attr.name='y'/>"
        "<key id='h' for='node' attr.name='host'/><key id='p' for='node' attr.name='pinned'/>"
        "<key id='c' for='edge' attr.name='weight'/><graph>"
        "<edge source='u&#x20;1' target='v'><data key='c'>12.0</data></edge>"
        "<node id='u 1'><data key='k'>5</data><data key='x'> 1.25 </data><data key='y'>-1e-3</data>"
        "<data key='h'>7</data><data key='p'>true</data></node>"
        "<node id='v'><data key='x'>0</data><data key='y'>0</data><data key='h'>node07</data></node>"
        "</graph></graphml>";
    struct lbm_graph g = parse(GRAPHML, text);
    assert_int_equal(g.n, 2);
    assert_int_equal(lbm_graph_weight(&g, 0), 12);
    assert_int_equal(lbm_graph_work(&g, 0), 5);
    assert_int_equal(lbm_graph_work(&g, 1), 3);
    assert_true(g.position[0] == 1.25 && g.position[1] == -1e-3 && g.position[3] == 0);
    assert_int_equal(g.pin[0], 7);
    assert_int_equal(g.pin[1], LBM_NONE); /* a host without pinned is a result, not a demand */
    lbm_graph_free(&g);
}

static void
entities_do_not_blow_up(void **state)
{
    (void)state;
    static const char text[] = "<!DOCTYPE g [<!ENTITY a 'xxxxxxxxxx'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>"
                               "<graphml><graph><node id='&b;'/></graph></graphml>";
    struct lbm_graph g;
    assert_int_equal(lbm_graph_parse(GRAPHML, "input", text, strlen(text), &g, &diag), LBM_E_UNSUPPORTED);
}

/* ---- writers ------------------------------------------------------------------------------------- */

static void
assert_comes_back(enum lbm_graph_format format, const struct lbm_graph *g)
{
    struct lbm_buf text = {0};
    struct lbm_graph back;
    assert_int_equal(lbm_graph_write(format, g, &text), LBM_OK);
    if (lbm_graph_parse(format, "written", text.at, text.len, &back, &diag) != LBM_OK)
        fail_msg("%s: line %llu: %s", lbm_graph_format_name(format), (unsigned long long)diag.line,
                 diag.text);
    assert_graph_equal(g, &back);
    int holds_work = (lbm_graph_losses(format, g) & 1u << LBM_LOSS_WORK) == 0;
    for (uint32_t v = 0; v < g->n && holds_work; v++)
        assert_int_equal(lbm_graph_work(g, v), lbm_graph_work(&back, v));
    if (format == GRAPHML && g->position != NULL) {
        assert_memory_equal(g->position, back.position, 2 * (size_t)g->n * sizeof *g->position);
        assert_memory_equal(g->pin, back.pin, g->n * sizeof *g->pin);
    }
    lbm_graph_free(&back);
    lbm_buf_free(&text);
}

static void
what_is_written_is_read_back(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 9);
    for (uint32_t n = 0; n < 40; n++) {
        struct lbm_graph g = graph_random(n, lbm_rng_below(&rng, 3 * n + 1), n % 2, &rng);
        for (int format = 0; format < LBM_FORMAT_COUNT; format++)
            if (lbm_graph_is_written((enum lbm_graph_format)format))
                assert_comes_back((enum lbm_graph_format)format, &g);
        lbm_graph_free(&g);
    }
}

/* ---- formats by name ----------------------------------------------------------------------------- */

static void
formats_are_found_by_name_and_suffix(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum lbm_graph_format format;
    } paths[] = {
        {"a.graph", METIS},      {"dir.d/a.GRAPH.GZ", METIS}, {"a.chaco", METIS},
        {"a.grf", SCOTCH},       {"a.grf.gz", SCOTCH},        {"x.mtx", MTX},
        {"x.graphml", GRAPHML},  {"x.xml", GRAPHML},          {"x.tsv", EDGES},
        {"x.txt", EDGES},        {"graph", LBM_FORMAT_COUNT}, {"a.graph/file", LBM_FORMAT_COUNT},
        {"", LBM_FORMAT_COUNT},  {".gz", LBM_FORMAT_COUNT},   {"a.", LBM_FORMAT_COUNT},
        {"-", LBM_FORMAT_COUNT}, {"a.gra", LBM_FORMAT_COUNT}, {"a.graph2", LBM_FORMAT_COUNT},
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (lbm_graph_format_by_path(paths[i].path) != paths[i].format)
            fail_msg("%s", paths[i].path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_name_line_and_cause),
        cmocka_unit_test(cut_and_damaged_files_are_graphs_or_refused),
        cmocka_unit_test(metis_digits_of_fmt_are_told_apart),
        cmocka_unit_test(comments_blank_lines_and_line_ends_do_not_matter),
        cmocka_unit_test(a_blank_line_is_a_vertex_without_edges),
        cmocka_unit_test(scotch_labels_order_the_rows),
        cmocka_unit_test(values_of_a_matrix_are_weights),
        cmocka_unit_test(edge_lists_take_both_directions_and_number_densely),
        cmocka_unit_test(graphml_data_reach_their_vertices),
        cmocka_unit_test(entities_do_not_blow_up),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(formats_are_found_by_name_and_suffix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
