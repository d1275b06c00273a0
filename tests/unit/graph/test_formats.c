/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between all formats: a graph that a format can hold comes back from it the same, whatever format it came
 * from; what it cannot hold is known before it is written. Weights that are no integers in range: what
 * becomes of them. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/write.h"
#include "tests/unit/graph/graph_fixture.h"

static struct lbm_diag diag;

/* ---- pairs of formats ---------------------------------------------------------------------------- */

/* Names that formats find hard. */
static const char *const hard_names[] = {"alice", "b c",  "7",     "#x",  "-1",   "x,y", "\xc3\xa4",
                                         "a&b",   "<i>",  "1.5",   "nan", "0",    "*e",  "%y",
                                         "d;e",   "e'f'", "&amp;", "[j]", "k\\l", "g",   "source"};

enum { VERTICES = 21 };

/* Give g the names and what else the bits of features say. */
static void
decorate(struct lbm_graph *g, unsigned features, int quotes, struct lbm_rng *rng)
{
    if ((features & 1u << LBM_LOSS_WORK) != 0) {
        g->work = lbm_alloc(g->n, sizeof *g->work);
        for (uint32_t v = 0; v < g->n; v++)
            g->work[v] = 1 + lbm_rng_below(rng, LBM_WEIGHT_MAX);
    }
    if ((features & 1u << LBM_LOSS_POSITION) != 0) {
        g->position = lbm_alloc(2 * (size_t)g->n, sizeof *g->position);
        for (uint32_t i = 0; i < 2 * g->n; i++)
            g->position[i] = lbm_rng_unit(rng) * 1e3 - 500;
    }
    if ((features & 1u << LBM_LOSS_PIN) != 0) {
        g->pin = lbm_alloc(g->n, sizeof *g->pin);
        for (uint32_t v = 0; v < g->n; v++)
            g->pin[v] = v % 3 == 0 ? v % 5 : LBM_NONE;
    }
    if ((features & 1u << LBM_LOSS_NAME) != 0) {
        struct lbm_buf text = {0};
        g->name = lbm_alloc(g->n, sizeof *g->name);
        for (uint32_t v = 0; v < g->n; v++) {
            g->name[v] = text.len;
            lbm_buf_printf(&text, "%s%s", hard_names[v], quotes && v == 0 ? "\"" : "");
            lbm_buf_put(&text, "", 1);
        }
        g->name_text = text.at;
    }
}

static int
same(const void *a, const void *b, size_t bytes)
{
    return (a == NULL) == (b == NULL) && (a == NULL || memcmp(a, b, bytes) == 0);
}

static void
assert_same(const struct lbm_graph *a, const struct lbm_graph *b, const char *where)
{
    if (a->n != b->n || !same(a->offset, b->offset, ((size_t)a->n + 1) * sizeof *a->offset) ||
        !same(a->target, b->target, lbm_graph_directions(a) * sizeof *a->target) ||
        !same(a->weight, b->weight, lbm_graph_directions(a) * sizeof *a->weight))
        fail_msg("%s: other edges", where);
    if (!same(a->work, b->work, a->n * sizeof *a->work))
        fail_msg("%s: other vertex weights", where);
    if (!same(a->position, b->position, 2 * (size_t)a->n * sizeof *a->position))
        fail_msg("%s: other positions", where);
    if (!same(a->pin, b->pin, a->n * sizeof *a->pin))
        fail_msg("%s: other pins", where);
    if ((a->name == NULL) != (b->name == NULL))
        fail_msg("%s: names %s", where, a->name == NULL ? "from nowhere" : "lost");
    for (uint32_t v = 0; v < a->n && a->name != NULL; v++)
        if (strcmp(lbm_graph_name(a, v), lbm_graph_name(b, v)) != 0)
            fail_msg("%s: vertex %u is called %s, not %s", where, v, lbm_graph_name(b, v),
                     lbm_graph_name(a, v));
}

static struct lbm_graph
through(enum lbm_graph_format format, const struct lbm_graph *g, const char *where)
{
    struct lbm_buf text = {0};
    struct lbm_graph back;
    assert_int_equal(lbm_graph_write(format, g, &text), LBM_OK);
    if (lbm_graph_parse(format, "written", text.at, text.len, &back, &diag) != LBM_OK)
        fail_msg("%s: line %llu: %s\n%s", where, (unsigned long long)diag.line, diag.text, text.at);
    lbm_buf_free(&text);
    return back;
}

static void
try_pair(const struct lbm_graph *g, enum lbm_graph_format a, enum lbm_graph_format b, int *equal, int *lost)
{
    char where[64];
    snprintf(where, sizeof where, "%s -> %s", lbm_graph_format_name(a), lbm_graph_format_name(b));
    if (!lbm_graph_is_written(a) || !lbm_graph_is_written(b) || lbm_graph_losses(a, g) != 0)
        return;
    struct lbm_graph first = through(a, g, where);
    assert_same(g, &first, where);
    assert_int_equal(lbm_graph_losses(b, &first), lbm_graph_losses(b, g));
    if (lbm_graph_losses(b, &first) == 0) {
        struct lbm_graph second = through(b, &first, where);
        assert_same(g, &second, where);
        lbm_graph_free(&second);
        (*equal)++;
    } else {
        (*lost)++;
    }
    lbm_graph_free(&first);
}

static void
a_graph_comes_through_two_formats_or_the_loss_is_known(void **state)
{
    (void)state;
    struct lbm_rng rng;
    int equal = 0, lost = 0;
    lbm_rng_seed(&rng, 3);
    assert_int_equal(sizeof hard_names / sizeof hard_names[0], VERTICES);
    for (unsigned features = 0; features < 1u << LBM_LOSS_COUNT; features++)
        for (int quotes = 0; quotes < 2; quotes++) {
            struct lbm_graph g = graph_random(VERTICES, 30, (features & 1u << LBM_LOSS_WEIGHT) != 0, &rng);
            free(g.work);
            free(g.position);
            free(g.pin);
            g.work = g.pin = NULL;
            g.position = NULL;
            decorate(&g, features, quotes, &rng);
            for (int a = 0; a < LBM_FORMAT_COUNT; a++)
                for (int b = 0; b < LBM_FORMAT_COUNT; b++)
                    try_pair(&g, (enum lbm_graph_format)a, (enum lbm_graph_format)b, &equal, &lost);
            lbm_graph_free(&g);
        }
    assert_true(equal > 500 && lost > 500);
}

/* ---- weights ------------------------------------------------------------------------------------- */

struct scaling {
    const char *weights; /* of the edges of a path */
    struct lbm_scale scale;
    const char *expected; /* weights; 0: no edge */
    const char *says;     /* part of the remarks; NULL: there is none */
};

static const struct scaling scalings[] = {
    {"1 5 2147483647", {LBM_SCALE_AUTO, 0}, "1 5 2147483647", NULL},
    {"0.5 1.25 3", {LBM_SCALE_AUTO, 0}, "50 125 300", "multiplied by 100"},
    {"0.1 0.2 0.7", {LBM_SCALE_AUTO, 0}, "1 2 7", "multiplied by 10 "},
    {"0.125 1e6", {LBM_SCALE_AUTO, 0}, "125 1000000000", "error is 0"},
    {"4294967296 8589934592", {LBM_SCALE_AUTO, 0}, "1 2", "error is 0"},
    {"9223372036854775807 4611686018427387904", {LBM_SCALE_AUTO, 0}, "2 1", "multiplied by 2.168404345e-19"},
    {"3e9 2e9 1", {LBM_SCALE_AUTO, 0}, "2147483647 1431655765 1", "error is 0.4"},
    {"0 3 5", {LBM_SCALE_AUTO, 0}, "0 3 5", "1 edges of weight 0 were left out"},
    {"0 0", {LBM_SCALE_AUTO, 0}, "0 0", "2 edges of weight 0"},
    {"1e-300 1e-300", {LBM_SCALE_AUTO, 0}, "1 1", "multiplied"},
    {"1e300 2e300", {LBM_SCALE_AUTO, 0}, "1073741824 2147483647", "multiplied"},
    {"1e308 1e308 1e308", {LBM_SCALE_AUTO, 0}, "2147483647 2147483647 2147483647", "multiplied"},
    {"1e-9 1", {LBM_SCALE_AUTO, 0}, "1 1000000000", "multiplied by 1000000000"},
    {"1e-300 1e300", {LBM_SCALE_AUTO, 0}, "1 2147483647", "1 of these were less than half of 1"},
    {"1 2.4 2.6", {LBM_SCALE_BY, 1}, "1 2 3", "largest relative error is 0.17"},
    {"1 2 3", {LBM_SCALE_BY, 1}, "1 2 3", NULL},
    {"1 2 3", {LBM_SCALE_BY, 1000}, "1000 2000 3000", "error is 0"},
    {"1000 2000 1", {LBM_SCALE_BY, 0.001}, "1 2 1", "1 of these"},
    {"3.0 +4 5e0", {LBM_SCALE_NONE, 0}, "3 4 5", NULL},
};

/* An edge list 0 - 1 - 2 ... with these weights; as the vertex weights of a METIS graph without edges, if
 * work. */
static void
put_weights(struct lbm_buf *text, const char *weights, int work)
{
    size_t n = 0;
    for (const char *w = weights; *w != '\0'; w += strspn(w, " "), n++)
        w += strcspn(w, " ");
    if (work)
        lbm_buf_printf(text, "%zu 0 10\n", n);
    for (size_t i = 0; i < n; i++, weights += strspn(weights, " ")) {
        int len = (int)strcspn(weights, " ");
        if (work)
            lbm_buf_printf(text, "%.*s\n", len, weights);
        else
            lbm_buf_printf(text, "%zu %zu %.*s\n", i, i + 1, len, weights);
        weights += len;
    }
    if (!work)
        lbm_buf_printf(text, "0\n%zu\n", n);
}

static uint32_t
edge_weight(const struct lbm_graph *g, uint32_t u)
{
    for (uint64_t k = g->offset[u]; k < g->offset[u + 1]; k++)
        if (g->target[k] == u + 1)
            return lbm_graph_weight(g, k);
    return 0;
}

static void
weights_are_scaled(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scalings / sizeof scalings[0]; i++) {
        const struct scaling *s = &scalings[i];
        struct lbm_buf text = {0}, got = {0};
        struct lbm_graph g;
        struct lbm_reading reading = {.edge_scale = s->scale, .work_scale = s->scale};
        put_weights(&text, s->weights, 0);
        /* Vertices that no edge names any more are still there. */
        if (lbm_graph_read(LBM_FORMAT_EDGES, "input", text.at, text.len, &reading, &g, &diag) != LBM_OK)
            fail_msg("%s: %s", s->weights, diag.text);
        for (uint32_t v = 0; v + 1 < g.n; v++)
            lbm_buf_printf(&got, "%s%u", v > 0 ? " " : "", edge_weight(&g, v));
        if (strcmp(got.at, s->expected) != 0)
            fail_msg("%s: %s, not %s", s->weights, got.at, s->expected);
        if (s->says == NULL ? reading.remarks.len > 0
                            : reading.remarks.len == 0 || strstr(reading.remarks.at, s->says) == NULL)
            fail_msg("%s: \"%s\"", s->weights, reading.remarks.len > 0 ? reading.remarks.at : "no remark");
        lbm_graph_free(&g);
        lbm_buf_free(&text);
        lbm_buf_free(&got);
        lbm_buf_free(&reading.remarks);
    }
}

static void
vertices_of_weight_0_weigh_next_to_nothing(void **state)
{
    (void)state;
    struct lbm_buf text = {0};
    struct lbm_graph g;
    struct lbm_reading reading = {.work_scale.how = LBM_SCALE_AUTO};
    put_weights(&text, "0 1 2 3", 1);
    assert_int_equal(lbm_graph_read(LBM_FORMAT_METIS, "input", text.at, text.len, &reading, &g, &diag),
                     LBM_OK);
    assert_int_equal(g.work[0], 1);
    assert_true(g.work[1] > 700000000 && g.work[2] == 2 * g.work[1] && g.work[3] == 3 * g.work[1]);
    assert_non_null(strstr(reading.remarks.at, "1 times the vertex weight is 0 and became 1"));
    lbm_graph_free(&g);
    lbm_buf_free(&text);
    lbm_buf_free(&reading.remarks);
}

static void
weights_out_of_range_are_refused_with_the_option_that_helps(void **state)
{
    (void)state;
    static const char *const weights[] = {"0", "0.5", "2147483648", "1e10", "-1", "9223372036854775808"};
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++)
        for (int work = 0; work < 2; work++) {
            struct lbm_buf text = {0};
            struct lbm_graph g = {.n = 77};
            struct lbm_reading reading = {.hint = "HINT"};
            put_weights(&text, weights[i], work);
            enum lbm_graph_format format = work ? LBM_FORMAT_METIS : LBM_FORMAT_EDGES;
            assert_int_equal(lbm_graph_read(format, "input", text.at, text.len, &reading, &g, &diag),
                             LBM_E_RANGE);
            if (strstr(diag.text, "HINT") == NULL || g.n != 77)
                fail_msg("%s: %s", weights[i], diag.text);
            reading.edge_scale.how = reading.work_scale.how = LBM_SCALE_BY;
            reading.edge_scale.factor = reading.work_scale.factor = 1e12;
            if (weights[i][0] != '0')
                assert_int_equal(lbm_graph_read(format, "input", text.at, text.len, &reading, &g, &diag),
                                 LBM_E_RANGE);
            lbm_buf_free(&text);
            lbm_buf_free(&reading.remarks);
        }
}

/* All weights times a factor are the same weights, up to the rounding of one unit. */
static void
scales_do_not_depend_on_the_unit(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 5);
    for (int round = 0; round < 200; round++) {
        double value[16], factor = pow(10, (double)lbm_rng_below(&rng, 30) - 15);
        uint32_t whole[16], again[16];
        size_t at;
        struct lbm_scale scale = {LBM_SCALE_AUTO, 0};
        for (int i = 0; i < 16; i++)
            value[i] = 1e-3 + lbm_rng_unit(&rng);
        assert_int_equal(lbm_reading_convert(NULL, &scale, "weight", LBM_ZEROS_STAY, value, 16, whole, &at),
                         LBM_OK);
        for (int i = 0; i < 16; i++)
            value[i] *= factor;
        assert_int_equal(lbm_reading_convert(NULL, &scale, "weight", LBM_ZEROS_STAY, value, 16, again, &at),
                         LBM_OK);
        for (int i = 0; i < 16; i++)
            assert_true(fabs((double)whole[i] - (double)again[i]) <= 2);
    }
}

static void
numbers_have_a_dot_in_every_locale(void **state)
{
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "de_AT.UTF-8"};
    int found = 0;
    for (size_t i = 0; i < sizeof locales / sizeof locales[0] && !found; i++)
        found = setlocale(LC_NUMERIC, locales[i]) != NULL;
    if (!found)
        skip();
    struct lbm_graph g;
    struct lbm_reading reading = {.edge_scale = {LBM_SCALE_BY, 8}, .work_scale = {LBM_SCALE_BY, 1}};
    enum lbm_err err = lbm_graph_read(LBM_FORMAT_EDGES, "input", "0 1 1.125\n", 10, &reading, &g, &diag);
    setlocale(LC_NUMERIC, "C");
    assert_int_equal(err, LBM_OK);
    assert_int_equal(g.weight[0], 9);
    lbm_graph_free(&g);
    lbm_buf_free(&reading.remarks);
}

/* ---- sums ---------------------------------------------------------------------------------------- */

static void
sums_join_copies_and_directions(void **state)
{
    (void)state;
    static const struct {
        enum lbm_graph_format format;
        const char *text;
        uint32_t weight; /* of 0 - 1 */
        const char *says;
    } cases[] = {
        {LBM_FORMAT_EDGES, "0 1 3\n0 1 4\n1 0 5\n1 1 9\n", 12, "1 copies of edges and 1 opposite directions"},
        {LBM_FORMAT_EDGES, "0 1\n", 1, NULL},
        {LBM_FORMAT_METIS, "2 1 001\n2 3\n1 3\n", 3, NULL},
        {LBM_FORMAT_METIS, "2 1 001\n2 3\n1 4\n", 7, "1 opposite directions"},
        {LBM_FORMAT_METIS, "2 2 001\n2 3 2 4 1 1\n1 7\n", 7, "1 copies"},
        {LBM_FORMAT_METIS, "2 1 001\n2 3\n\n", 3, "announces 1 edges, the rows hold 0"},
        {LBM_FORMAT_SCOTCH, "0\n2 2\n0 010\n1 3 1\n1 4 0\n", 7, "1 opposite directions"},
        {LBM_FORMAT_MATRIX_MARKET,
         "%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 2 3\n1 2 4\n2 1 5\n", 12, "1 copies"},
        {LBM_FORMAT_PAJEK, "*Vertices 2\n*Arcs\n1 2 3\n2 1 4\n1 1 5\n", 7, "1 self-loops"},
        {LBM_FORMAT_DIMACS, "p max 2 2\na 1 2 3\na 2 1 4\n", 7, "1 opposite"},
        {LBM_FORMAT_GML,
         "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 weight 2 ] "
         "edge [ source 0 target 1 weight 5 ] ]",
         7, "1 copies"},
        {LBM_FORMAT_CSV, "0,3\n4,0\n", 7, "not symmetric"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lbm_graph g;
        struct lbm_reading reading = {.sum = 1};
        if (lbm_graph_read(cases[i].format, "input", cases[i].text, strlen(cases[i].text), &reading, &g,
                           &diag) != LBM_OK)
            fail_msg("%s: %s", cases[i].text, diag.text);
        assert_int_equal(edge_weight(&g, 0), cases[i].weight);
        if (cases[i].says == NULL
                ? reading.remarks.len > 0
                : reading.remarks.len == 0 || strstr(reading.remarks.at, cases[i].says) == NULL)
            fail_msg("%s: \"%s\"", cases[i].text, reading.remarks.len > 0 ? reading.remarks.at : "no remark");
        lbm_graph_free(&g);
        lbm_buf_free(&reading.remarks);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_comes_through_two_formats_or_the_loss_is_known),
        cmocka_unit_test(weights_are_scaled),
        cmocka_unit_test(vertices_of_weight_0_weigh_next_to_nothing),
        cmocka_unit_test(weights_out_of_range_are_refused_with_the_option_that_helps),
        cmocka_unit_test(scales_do_not_depend_on_the_unit),
        cmocka_unit_test(numbers_have_a_dot_in_every_locale),
        cmocka_unit_test(sums_join_copies_and_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
