/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `lbpapers table` prints: a line a cell, or an object a cell. */
#include "papers/report.h"

#include <math.h>
#include <stdio.h>

size_t
report_wrong(const struct table_run *run)
{
    size_t wrong = run->diag.code != LBM_OK;
    for (size_t i = 0; i < run->cells.n; i++)
        wrong += !cell_ok(&run->cells.at[i]);
    return wrong;
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static const char *const relation_signs[] = {[WITHIN] = "", [AT_MOST] = "<=", [AT_LEAST] = ">="};

static void
print_number(double value, const char *sign)
{
    char text[40];
    if (isnan(value))
        snprintf(text, sizeof text, "-");
    else
        snprintf(text, sizeof text, "%s%.10g", sign, value);
    printf(" %14s", text);
}

/* Judged by the paper, or by what was computed where the paper has nothing or errs. */
static void
print_cell(const struct cell *cell)
{
    int by_paper = cell_is_by_paper(cell);
    const char *verdict = !cell_ok(cell)         ? "WRONG"
                          : cell->paper_errs     ? "ok, the paper errs"
                          : cell->not_reproduced ? "ok, not reproduced"
                                                 : "ok";
    printf("  %-62s", cell->item);
    print_number(cell->paper, relation_signs[cell->relation]);
    print_number(cell->ours, "");
    print_number(by_paper ? cell->tolerance : cell->slack, "");
    printf("  %s", verdict);
    if (!by_paper)
        printf(" (right: %.10g)", cell->computed);
    else if (!isnan(cell->computed))
        printf(" (computed: %.10g +- %.3g)", cell->computed, cell->slack);
    printf("\n");
    if (cell->note[0] != '\0')
        printf("      %s\n", cell->note);
}

void
report_table(const struct table *table, const struct table_run *run, int quiet)
{
    int headed = 0;
    for (size_t i = 0; i < run->cells.n; i++) {
        if (quiet && cell_ok(&run->cells.at[i]))
            continue;
        if (!headed)
            printf("%s: %s (%s)\n  %-62s %14s %14s %14s\n", table->name, table->text, table->source, "item",
                   "paper", "ours", "tolerance");
        headed = 1;
        print_cell(&run->cells.at[i]);
    }
    if (run->diag.code != LBM_OK)
        printf("%s: not computed: %s%s%s\n", table->name, run->diag.where,
               run->diag.where[0] != '\0' ? ": " : "", run->diag.text);
    else if (run->diag.text[0] != '\0' && !quiet)
        printf("%s: skipped: %s\n", table->name, run->diag.text);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void
json_text(const char *key, const char *text)
{
    printf("\"%s\": \"", key);
    for (; *text != '\0'; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else
            putchar(*text);
    printf("\"");
}

static void
json_number(const char *key, double value)
{
    if (isfinite(value))
        printf(", \"%s\": %.12g", key, value);
    else
        printf(", \"%s\": null", key);
}

static void
json_cell(const struct table *table, const struct cell *cell)
{
    static const char *const relations[] = {
        [WITHIN] = "within", [AT_MOST] = "at most", [AT_LEAST] = "at least"};
    int by_paper = cell_is_by_paper(cell);
    printf("{");
    json_text("name", table->name);
    printf(", ");
    json_text("source", table->source);
    printf(", ");
    json_text("item", cell->item);
    json_number("paper", cell->paper);
    json_number("ours", cell->ours);
    json_number("tolerance", by_paper ? cell->tolerance : cell->slack);
    printf(", \"ok\": %s, ", cell_ok(cell) ? "true" : "false");
    json_text("relation", relations[cell->relation]);
    if (!isnan(cell->computed)) {
        json_number("computed", cell->computed);
        json_number("computed_tolerance", cell->slack);
    }
    printf(", \"paper_errs\": %s, \"not_reproduced\": %s", cell->paper_errs ? "true" : "false",
           cell->not_reproduced ? "true" : "false");
    if (cell->note[0] != '\0') {
        printf(", ");
        json_text("note", cell->note);
    }
    printf("}");
}

static void
json_failure(const struct table *table, const struct table_run *run)
{
    struct cell cell = {.ours = nan(""), .paper = nan(""), .computed = nan("")};
    snprintf(cell.item, sizeof cell.item, "the table");
    snprintf(cell.note, sizeof cell.note, "not computed: %.170s", run->diag.text);
    json_cell(table, &cell);
}

void
report_json(const struct table *const *table, const struct table_run *run, size_t n)
{
    const char *between = "[";
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < run[i].cells.n; k++) {
            printf("%s\n  ", between);
            json_cell(table[i], &run[i].cells.at[k]);
            between = ",";
        }
        if (run[i].diag.code != LBM_OK) {
            printf("%s\n  ", between);
            json_failure(table[i], &run[i]);
            between = ",";
        }
    }
    printf("%s\n]\n", *between == '[' ? "[" : "");
}
