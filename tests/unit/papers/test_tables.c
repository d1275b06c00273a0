/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the papers: numbers are judged, wrong ones are noticed, and processes that die are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/command.h"
#include "papers/chart.h"
#include "papers/papers.h"
#include "papers/pool.h"
#include "papers/report.h"

/* ---- a registry of our own, instead of the program's ------------------------------------------------ */

static void
right(struct table_run *t)
{
    cell_paper(table_cell(t, 1.25, "a number"), 1.2, 0.1);
}

static void
wrong(struct table_run *t)
{
    right(t);
    cell_paper(table_cell(t, 1.25, "a wrong number"), 1.0, 0.1);
}

static void
fails(struct table_run *t)
{
    right(t);
    table_fail(t, LBM_E_NOMEM);
}

static void
dies(struct table_run *t)
{
    (void)t;
    abort();
}

static void
large(struct table_run *t)
{
    for (int i = 0; i < 2000; i++)
        cell_paper(table_cell(t, i, "number %d", i), i, 0.0);
}

const struct table tables[] = {
    {"test-right", "nobody", "right", right}, {"test-wrong", "nobody", "wrong", wrong},
    {"test-fails", "nobody", "fails", fails}, {"test-dies", "nobody", "dies", dies},
    {"test-large", "nobody", "large", large}, {NULL, NULL, NULL, NULL},
};

/* ---- cells ------------------------------------------------------------------------------------------- */

static struct cell
cell_of(double ours)
{
    return (struct cell){.ours = ours, .paper = nan(""), .computed = nan("")};
}

static void
a_number_within_its_tolerance_is_right(void **state)
{
    (void)state;
    struct cell cell = cell_of(1.1);
    assert_true(cell_ok(cell_paper(&cell, 1.0, 0.11)));
    assert_false(cell_ok(cell_paper(&cell, 1.0, 0.09)));
    cell = cell_of(3);
    assert_true(cell_ok(cell_paper(&cell, 3, 0)));
    assert_false(cell_ok(cell_paper(&cell, 4, 0)));
}

static void
a_bound_holds_on_one_side(void **state)
{
    (void)state;
    struct cell cell = cell_of(2);
    assert_true(cell_ok(cell_bound(&cell, AT_MOST, 2)));
    assert_false(cell_ok(cell_bound(&cell, AT_MOST, 1.9)));
    assert_true(cell_ok(cell_bound(&cell, AT_LEAST, 2)));
    assert_false(cell_ok(cell_bound(&cell, AT_LEAST, 2.1)));
}

static void
what_was_computed_is_judged_too(void **state)
{
    (void)state;
    struct cell cell = cell_of(1.1);
    cell_paper(&cell, 1.0, 0.2);
    assert_true(cell_ok(cell_computed(&cell, 1.1, 0.01)));
    assert_false(cell_ok(cell_computed(&cell, 1.2, 0.01)));
}

static void
where_the_paper_errs_the_computed_number_decides(void **state)
{
    (void)state;
    struct cell cell = cell_of(82.8);
    cell_paper_errs(cell_computed(cell_paper(&cell, 84.2, 0.1), 82.77, 0.1), "a misprint");
    assert_true(cell_ok(&cell));
    cell.ours = 84.2;
    assert_false(cell_ok(&cell));
}

static void
a_number_that_nothing_judges_is_wrong(void **state)
{
    (void)state;
    struct cell cell = cell_of(1);
    assert_false(cell_ok(&cell));
    cell_paper_errs(cell_paper(&cell, 1, 1), "no other number");
    assert_false(cell_ok(&cell));
}

static void
what_is_not_finite_is_wrong(void **state)
{
    (void)state;
    struct cell cell = cell_of(nan(""));
    assert_false(cell_ok(cell_paper(&cell, 1, 1)));
    cell = cell_of(-HUGE_VAL);
    assert_false(cell_ok(cell_bound(&cell, AT_MOST, 1)));
}

/* Move each number of a real table just outside: nothing is printed unjudged. */
static void
every_number_of_the_papers_is_judged(void **state)
{
    static void (*const some[])(struct table_run *) = {
        xl95_gamma,   xl95_table_1,  xl95_table_4,  rjk03_table_1,  rjk03_bounds,
        rjk03_random, cyb89_lemma_2, cyb89_table_2, hei97_spectrum, rjk03_schedules};
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        struct table_options options = {.runs = 20, .seed = 1};
        struct table_run run = {.options = &options};
        some[i](&run);
        assert_int_equal(run.diag.code, LBM_OK);
        assert_true(run.cells.n > 0);
        for (size_t k = 0; k < run.cells.n; k++) {
            struct cell cell = run.cells.at[k];
            int by_paper = !isnan(cell.paper) && !cell.paper_errs;
            double right = by_paper ? cell.paper : cell.computed;
            double off = (by_paper ? cell.tolerance : cell.slack) * 1.001 + 1e-6 * fabs(right) + 1e-15;
            cell.ours = cell.relation == AT_LEAST ? right - off : right + off;
            assert_false(cell_ok(&cell));
        }
        lbm_vec_free(&run.cells);
    }
}

/* ---- the command --------------------------------------------------------------------------------------- */

static int
status_of(char *name)
{
    static const struct lbm_command *const commands[] = {&command_table, NULL};
    static const struct lbm_program program = {.name = "lbsim", .commands = commands};
    char lbsim[] = "lbsim", table[] = "table", quiet[] = "-q";
    char *argv[] = {lbsim, table, name, quiet, NULL};
    return lbm_program_run(&program, 4, argv);
}

static void
a_wrong_number_makes_the_status_one(void **state)
{
    static const struct {
        char name[16];
        int status;
    } rows[] = {{"test-right", 0}, {"test-wrong", 1}, {"test-fails", 1}, {"test-dies", 1},
                {"test-large", 0}, {"all", 1},        {"nonsense", 2}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[sizeof rows[i].name];
        memcpy(name, rows[i].name, sizeof name);
        assert_int_equal(status_of(name), rows[i].status);
    }
}

static void
ignore(const struct table *table, size_t done)
{
    (void)table;
    (void)done;
}

static void
tables_that_run_together_keep_their_numbers(void **state)
{
    (void)state;
    const struct table *chosen[] = {&tables[4], &tables[0], &tables[3], &tables[4], &tables[1]};
    struct table_options options = {.seed = 1};
    struct table_run run[5] = {{0}};
    struct lbm_diag diag;
    assert_int_equal(pool_run(chosen, 5, &options, 3, ignore, run, &diag), LBM_OK);
    assert_int_equal(run[0].cells.n, 2000);
    assert_string_equal(run[0].cells.at[1999].item, "number 1999");
    assert_int_equal(run[1].cells.n, 1);
    assert_int_equal(run[2].cells.n, 0);
    assert_int_equal(run[2].diag.code, LBM_E_STATE);
    assert_int_equal(run[3].cells.n, 2000);
    assert_int_equal(run[4].cells.n, 2);
    assert_int_equal(report_wrong(&run[2]), 1);
    assert_int_equal(report_wrong(&run[4]), 1);
    for (int i = 0; i < 5; i++)
        lbm_vec_free(&run[i].cells);
}

/* ---- charts -------------------------------------------------------------------------------------------- */

static void
a_chart_of_one_point_is_drawn(void **state)
{
    (void)state;
    struct chart *chart = lbm_alloc(1, sizeof *chart);
    struct lbm_buf out = {0};
    assert_non_null(chart);
    series_add(chart_series(chart, "alone"), 5, 0);
    chart->from_zero = 1;
    chart_draw(chart, &out);
    assert_false(out.failed);
    assert_null(strstr(out.at, "nan"));
    assert_null(strstr(out.at, "inf"));
    assert_non_null(strstr(out.at, "alone"));
    lbm_buf_free(&out);
    free(chart);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_within_its_tolerance_is_right),
        cmocka_unit_test(a_bound_holds_on_one_side),
        cmocka_unit_test(what_was_computed_is_judged_too),
        cmocka_unit_test(where_the_paper_errs_the_computed_number_decides),
        cmocka_unit_test(a_number_that_nothing_judges_is_wrong),
        cmocka_unit_test(what_is_not_finite_is_wrong),
        cmocka_unit_test(every_number_of_the_papers_is_judged),
        cmocka_unit_test(a_wrong_number_makes_the_status_one),
        cmocka_unit_test(tables_that_run_together_keep_their_numbers),
        cmocka_unit_test(a_chart_of_one_point_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
