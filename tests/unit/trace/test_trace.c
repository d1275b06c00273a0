/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces as texts: what is written comes back, a cut end costs what was cut and no more, and every refusal
 * names the line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/trace.h"

#define HEAD "lbmap-trace 1\n" HOSTS
#define HEAD2 "lbmap-trace 2\n" HOSTS
#define HOSTS                                                                                                \
    "job j 0.03 auto 1\n"                                                                                    \
    "guest 3 2\n"                                                                                            \
    "host 0 h0 1 at 0.25 0.5 to 1:1\n"                                                                       \
    "host 1 h1 1 at 0.75 0.5 to 0:1 4:2\n"

#define WHOLE                                                                                                \
    HEAD "vertex 0 10 0 1:3\n"                                                                               \
         "vertex 1 20 0 pin 1 2:4\n"                                                                         \
         "vertex 2 30 1\n"                                                                                   \
         "begin\n"                                                                                           \
         "at 1.000000\n"                                                                                     \
         "load 0:11 2:33\n"                                                                                  \
         "own 1 0 1\n"                                                                                       \
         "at 2.250000\n"                                                                                     \
         "join 4 h4 0.5 at 0.1 0.1 to 1:2\n"                                                                 \
         "host 1 h1 2 at 0.75 0.5 to 0:1 4:2\n"                                                              \
         "drain 0\n"                                                                                         \
         "back 0\n"                                                                                          \
         "at 3.000000\n"                                                                                     \
         "drain 0\n"                                                                                         \
         "left 0\n"                                                                                          \
         "lost 4\n"                                                                                          \
         "end 4.500000\n"

/* Two vertices are added and one goes; version 1 does not know that. */
#define CHANGES                                                                                              \
    "lbmap-trace 2\n"                                                                                        \
    "job j 0.03 auto 1\n"                                                                                    \
    "guest 3 2\n"                                                                                            \
    "host 0 h0 1 at 0.25 0.5 to 1:1\n"                                                                       \
    "host 1 h1 1 at 0.75 0.5 to 0:1\n"                                                                       \
    "vertex 0 10 0 1:3\n"                                                                                    \
    "vertex 1 20 0 2:4\n"                                                                                    \
    "vertex 2 30 1\n"                                                                                        \
    "begin\n"                                                                                                \
    "at 1.000000\n"                                                                                          \
    "add 0 3\n"                                                                                              \
    "add 1 4\n"                                                                                              \
    "edge 0 1:0 3:7 4:1\n"                                                                                   \
    "edge 3 4:2\n"                                                                                           \
    "load 3:5 4:6\n"                                                                                         \
    "own 1 1\n"                                                                                              \
    "remove 1 2\n"                                                                                           \
    "end 2.000000\n"

static enum lbm_err
read_text(const char *text, size_t len, struct lbm_trace *trace, struct lbm_diag *diag)
{
    return lbm_trace_read("t", text, len, trace, diag);
}

static void
whole_is_read(void **state)
{
    struct lbm_trace t;
    struct lbm_diag diag;
    (void)state;
    assert_int_equal(read_text(WHOLE, strlen(WHOLE), &t, &diag), LBM_OK);
    assert_string_equal(t.job, "j");
    assert_string_equal(t.policy, "auto");
    assert_int_equal(t.seed, 1);
    assert_false(t.measured);
    assert_int_equal(t.g.n, 3);
    assert_int_equal(t.n, 3);
    assert_int_equal(lbm_graph_directions(&t.g), 4);
    assert_int_equal(t.g.work[2], 30);
    assert_int_equal(t.g.pin[0], LBM_NONE);
    assert_int_equal(t.g.pin[1], 1);
    assert_int_equal(t.owner[2], 1);
    assert_int_equal(t.n_present, 2);
    assert_int_equal(t.hosts.n, 4);
    assert_int_equal(t.hosts.at[1].links.n, 2);
    assert_int_equal(t.hosts.at[1].links.at[1].host, 4);
    assert_int_equal(t.steps.n, 3);
    assert_int_equal(t.steps.at[0].n, 4);
    assert_int_equal(t.steps.at[1].at_us, 2250000);
    assert_int_equal(t.events.at[t.steps.at[1].first].kind, LBM_TRACE_JOIN);
    assert_int_equal(t.events.at[t.events.n - 1].a, 4);
    assert_int_equal(t.end_us, 4500000);
    assert_false(t.cut);
    lbm_trace_free(&t);
}

static void
changes_of_the_guest_are_read(void **state)
{
    struct lbm_trace t;
    struct lbm_diag diag;
    (void)state;
    assert_int_equal(read_text(CHANGES, strlen(CHANGES), &t, &diag), LBM_OK);
    assert_int_equal(t.g.n, 3);
    assert_int_equal(t.n, 5);
    assert_int_equal(t.events.n, 11);
    assert_int_equal(t.events.at[1].kind, LBM_TRACE_ADD);
    assert_int_equal(t.events.at[1].a, 4);
    assert_int_equal(t.events.at[1].b, 1);
    assert_int_equal(t.events.at[3].kind, LBM_TRACE_EDGE);
    assert_int_equal(t.events.at[3].a, 0);
    assert_int_equal(t.events.at[3].b, 3);
    assert_int_equal(t.events.at[3].c, 7);
    assert_int_equal(t.events.at[10].kind, LBM_TRACE_REMOVE);
    assert_int_equal(t.events.at[10].a, 2);
    lbm_trace_free(&t);
}

static void
expect_written(const char *text, const char *written)
{
    struct lbm_trace t;
    struct lbm_diag diag;
    struct lbm_buf out = {0};
    assert_int_equal(read_text(text, strlen(text), &t, &diag), LBM_OK);
    lbm_trace_put_head(&out, &t, NULL);
    for (size_t i = 0; i < t.steps.n; i++)
        lbm_trace_put_step(&out, &t, &t.steps.at[i]);
    lbm_trace_put_end(&out, t.end_us);
    assert_string_equal(out.at, written);
    lbm_buf_free(&out);
    lbm_trace_free(&t);
}

static void
what_is_written_comes_back(void **state)
{
    char written[sizeof WHOLE] = WHOLE;
    (void)state;
    *strchr(written, '1') = '2'; /* the version that is written */
    expect_written(WHOLE, written);
    expect_written(CHANGES, CHANGES);
}

static void
names_are_made_fit_for_the_format(void **state)
{
    struct lbm_trace t;
    struct lbm_diag diag;
    struct lbm_buf out = {0};
    (void)state;
    assert_int_equal(read_text(WHOLE, strlen(WHOLE), &t, &diag), LBM_OK);
    strcpy(t.job, "a b\xc3\xa4");
    t.hosts.at[0].name[0] = '\0';
    lbm_trace_put_head(&out, &t, "by hand");
    lbm_trace_put_end(&out, 0);
    lbm_trace_free(&t);
    assert_int_equal(read_text(out.at, out.len, &t, &diag), LBM_OK);
    assert_string_equal(t.job, "a_b__");
    assert_string_equal(t.hosts.at[0].name, "-");
    lbm_trace_free(&t);
    lbm_buf_free(&out);
}

/* Wherever it is cut: it is refused if the guest is not complete, else it has what its whole lines say. */
static void
cut_text_keeps_its_whole_lines(void **state)
{
    size_t begin = (size_t)(strstr(WHOLE, "begin\n") - WHOLE) + strlen("begin\n");
    (void)state;
    for (size_t len = 0; len < strlen(WHOLE); len++) {
        struct lbm_trace t;
        struct lbm_diag diag;
        enum lbm_err err = read_text(WHOLE, len, &t, &diag);
        if (len < begin) {
            assert_int_equal(err, LBM_E_SYNTAX);
            assert_true(diag.line >= 1);
            continue;
        }
        assert_int_equal(err, LBM_OK);
        assert_true(t.cut);
        assert_in_range(t.steps.n, 0, 3);
        lbm_trace_free(&t);
    }
}

static void
bad_lines_are_named(void **state)
{
#define THREE "vertex 0 1 0\nvertex 1 1 0 0:1 2:1\nvertex 2 1 0\nbegin\n"
    static const struct {
        const char *text;
        enum lbm_err err;
        uint64_t line;
        const char *says;
    } cases[] = {
        {"", LBM_E_SYNTAX, 1, "no trace"},
        {"metis\n", LBM_E_SYNTAX, 1, "no trace"},
        {"lbmap-trace 3\n", LBM_E_VERSION, 1, "version 3"},
        {"lbmap-trace 0\n", LBM_E_RANGE, 1, "version"},
        {"lbmap-trace x\n", LBM_E_SYNTAX, 1, "version"},
        {"lbmap-trace 1 1\n", LBM_E_SYNTAX, 1, "follows"},
        {"lbmap-trace 1\nnonsense 1\n", LBM_E_SYNTAX, 2, "no word of a trace"},
        {"lbmap-trace 1\njob j 0.03 auto\n", LBM_E_SYNTAX, 2, "seed"},
        {"lbmap-trace 1\njob j -1 auto 1\n", LBM_E_RANGE, 2, "imbalance"},
        {"lbmap-trace 1\njob j 0 auto x\n", LBM_E_SYNTAX, 2, "seed"},
        {"lbmap-trace 1\njob j 0 auto 99999999999999999999\n", LBM_E_SYNTAX, 2, "64 bits"},
        {"lbmap-trace 1\njob j\x01 0 auto 1\n", LBM_E_SYNTAX, 2, "printable"},
        {"lbmap-trace 1\nguest 0 0\n", LBM_E_RANGE, 2, "number of vertices"},
        {"lbmap-trace 1\nguest 5 0\n", LBM_E_SYNTAX, 2, "too short"},
        {"lbmap-trace 1\nvertex 0 1 0\n", LBM_E_SYNTAX, 2, "0 vertices"},
        {"lbmap-trace 1\nload 0:1\n", LBM_E_SYNTAX, 2, "behind `begin`"},
        {"lbmap-trace 1\nbegin\n", LBM_E_SYNTAX, 2, "there must be"},
        {HEAD "job j 0.03 auto 1\n", LBM_E_SYNTAX, 6, "known already"},
        {HEAD "guest 3 2\n", LBM_E_SYNTAX, 6, "known already"},
        {HEAD "host 1 h1 1 at 0 0\n", LBM_E_SYNTAX, 6, "there already"},
        {HEAD "host 9000 h 1\n", LBM_E_RANGE, 6, "host"},
        {HEAD "host 2 h2 0 at 0 0\n", LBM_E_RANGE, 6, "more than 0"},
        {HEAD "host 2 h2 1 at 0\n", LBM_E_SYNTAX, 6, "two or three"},
        {HEAD "host 2 h2 1 at 0 0 0\n", LBM_E_SYNTAX, 6, "as many numbers"},
        {HEAD "host 2 h2 1 at 0 0 to 2:1\n", LBM_E_RANGE, 6, "itself"},
        {HEAD "host 2 h2 1 at 0 0 to 1\n", LBM_E_SYNTAX, 6, "is not host"},
        {HEAD "host 2 h2 1 at 0 0 to 1:0\n", LBM_E_RANGE, 6, "cost"},
        {HEAD "vertex 1 1 0\n", LBM_E_RANGE, 6, "next vertex"},
        {HEAD "vertex 0 0 0\n", LBM_E_RANGE, 6, "vertex weight"},
        {HEAD "vertex 0 1 2\n", LBM_E_RANGE, 6, "not there"},
        {HEAD "vertex 0 1 0 pin\n", LBM_E_SYNTAX, 6, "host"},
        {HEAD "vertex 0 1 0 0:1\n", LBM_E_SYNTAX, 6, "own neighbour"},
        {HEAD "vertex 0 1 0 3:1\n", LBM_E_RANGE, 6, "vertex"},
        {HEAD "vertex 0 1 0 1:0\n", LBM_E_RANGE, 6, "edge weight"},
        {HEAD "vertex 0 1 0 1: 1\n", LBM_E_SYNTAX, 6, "missing"},
        {HEAD "vertex 0 1 0 1\n", LBM_E_SYNTAX, 6, "is not vertex"},
        {HEAD "vertex 0 1 0 1:1\nvertex 1 1 0 0:2\nvertex 2 1 0\nbegin\n", LBM_E_SYNTAX, 7, "weighs"},
        {HEAD "vertex 0 1 0 1:1 1:1\nvertex 1 1 0\nvertex 2 1 0\nbegin\n", LBM_E_SYNTAX, 6, "twice"},
        {HEAD "vertex 0 1 0\nvertex 1 1 0\nbegin\n", LBM_E_SYNTAX, 8, "vertex 2 is missing"},
        {HEAD "vertex 0 1 0\nvertex 1 1 0\nvertex 2 1 0\nbegin\n", LBM_E_SYNTAX, 9, "0 edges, not 2"},
        {HEAD "vertex 0 1 0\nvertex 1 1 0\nvertex 2 1 0\nvertex 3 1 0\n", LBM_E_SYNTAX, 9, "3 vertices"},
        {HEAD THREE "load 0:1\n", LBM_E_SYNTAX, 10, "`at` must come first"},
        {HEAD THREE "vertex 0 1 0\n", LBM_E_SYNTAX, 10, "before `begin`"},
        {HEAD THREE "at -1\n", LBM_E_RANGE, 10, "time"},
        {HEAD THREE "at 1\nat 0.5\n", LBM_E_RANGE, 11, "before that"},
        {HEAD THREE "at 1\nload 3:1\n", LBM_E_RANGE, 11, "vertex"},
        {HEAD THREE "at 1\nload\n", LBM_E_SYNTAX, 11, "is not vertex"},
        {HEAD THREE "at 1\nown 3 1\n", LBM_E_RANGE, 11, "never there"},
        {HEAD THREE "at 1\nown 1\n", LBM_E_SYNTAX, 11, "vertex"},
        {HEAD THREE "at 1\njoin 1 h1 1 at 0 0\n", LBM_E_SYNTAX, 11, "takes part"},
        {HEAD THREE "at 1\nhost 2 h2 1 at 0 0\n", LBM_E_SYNTAX, 11, "never there"},
        {HEAD THREE "at 1\nback 1\n", LBM_E_SYNTAX, 11, "takes part"},
        {HEAD THREE "at 1\nlost 1\nleft 1\n", LBM_E_SYNTAX, 12, "is gone"},
        {HEAD THREE "at 1\ndrain 1\ndrain 1\n", LBM_E_SYNTAX, 12, "about to leave"},
        {HEAD THREE "at 1\nend 0\n", LBM_E_RANGE, 11, "before that"},
        {HEAD THREE "end 1\nat 2\n", LBM_E_SYNTAX, 11, "follows `end`"},
        {HEAD THREE "at 1\nadd 0 3\n", LBM_E_SYNTAX, 11, "no word of a trace"},
        {HEAD2 THREE "add 0 3\n", LBM_E_SYNTAX, 10, "`at` must come first"},
        {HEAD2 THREE "at 1\nadd 0\n", LBM_E_SYNTAX, 11, "next vertex"},
        {HEAD2 THREE "at 1\nadd 0 4\n", LBM_E_RANGE, 11, "next vertex"},
        {HEAD2 THREE "at 1\nadd 0 3 3\n", LBM_E_RANGE, 11, "next vertex"},
        {HEAD2 THREE "at 1\nadd 3 3\n", LBM_E_RANGE, 11, "never there"},
        {HEAD2 THREE "at 1\nedge 3 1:1\n", LBM_E_RANGE, 11, "vertex"},
        {HEAD2 THREE "at 1\nedge 0 3:1\n", LBM_E_RANGE, 11, "vertex"},
        {HEAD2 THREE "at 1\nedge 0 0:1\n", LBM_E_SYNTAX, 11, "own neighbour"},
        {HEAD2 THREE "at 1\nedge 0\n", LBM_E_SYNTAX, 11, "is not vertex"},
        {HEAD2 THREE "at 1\nedge 0 1:99999999999\n", LBM_E_RANGE, 11, "edge weight"},
        {HEAD2 THREE "at 1\nremove 1\nedge 0 1:1\n", LBM_E_RANGE, 12, "is gone"},
        {HEAD2 THREE "at 1\nremove 1\nedge 1 0:1\n", LBM_E_RANGE, 12, "is gone"},
        {HEAD2 THREE "at 1\nremove 1\nload 1:1\n", LBM_E_RANGE, 12, "is gone"},
        {HEAD2 THREE "at 1\nremove 1\nown 1 1\n", LBM_E_RANGE, 12, "is gone"},
        {HEAD2 THREE "at 1\nremove 1 1\n", LBM_E_RANGE, 11, "is gone"},
        {HEAD2 THREE "at 1\nremove 0 1 2\n", LBM_E_RANGE, 11, "the last vertex"},
        {HEAD2 THREE "at 1\nremove\n", LBM_E_SYNTAX, 11, "vertex"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lbm_trace t;
        struct lbm_diag diag = {0};
        enum lbm_err err = read_text(cases[i].text, strlen(cases[i].text), &t, &diag);
        if (err != cases[i].err || diag.line != cases[i].line || strstr(diag.text, cases[i].says) == NULL)
            fail_msg("case %zu, \"%s\": %s, line %u, \"%s\"", i, cases[i].says, lbm_err_name(err),
                     (unsigned)diag.line, diag.text);
        assert_string_equal(diag.where, "t");
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_is_read),
        cmocka_unit_test(changes_of_the_guest_are_read),
        cmocka_unit_test(what_is_written_comes_back),
        cmocka_unit_test(names_are_made_fit_for_the_format),
        cmocka_unit_test(cut_text_keeps_its_whole_lines),
        cmocka_unit_test(bad_lines_are_named),
    };
    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
