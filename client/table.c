/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/table.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/check.h"
#include "client/output.h"

/* A cell holds any job or host name, and the path of a socket with what stands before it. */
enum { CELL_MAX = 256, LABEL_WIDTH = 22 };

static void
render(const struct lbm_column *column, const json_t *row, char cell[CELL_MAX])
{
    const json_t *value = json_object_get(row, column->key);
    cell[0] = '\0';
    if (value == NULL || json_is_null(value))
        return;
    switch (column->type) {
    case LBM_COLUMN_TEXT:
        snprintf(cell, CELL_MAX, "%s", json_is_string(value) ? json_string_value(value) : "");
        break;
    case LBM_COLUMN_COUNT:
        snprintf(cell, CELL_MAX, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case LBM_COLUMN_RATIO:
        snprintf(cell, CELL_MAX, "%.4g", json_number_value(value));
        break;
    case LBM_COLUMN_PERCENT:
        snprintf(cell, CELL_MAX, "%.2f %%", 100 * json_number_value(value));
        break;
    case LBM_COLUMN_SECONDS:
        if (json_number_value(value) < 0)
            snprintf(cell, CELL_MAX, "never");
        else
            snprintf(cell, CELL_MAX, "%.1f s", json_number_value(value));
        break;
    }
}

/* Columns of a text in UTF-8: its characters, not its bytes. */
static size_t
columns_of(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static size_t
width_of(const struct lbm_column *column, const json_t *rows)
{
    size_t width = strlen(column->label), i;
    const json_t *row;
    char cell[CELL_MAX];
    json_array_foreach((json_t *)(uintptr_t)rows, i, row)
    {
        render(column, row, cell);
        width = columns_of(cell) > width ? columns_of(cell) : width;
    }
    return width;
}

static void
print_cell(FILE *to, const struct lbm_column *column, size_t width, const char *text, int last)
{
    int blanks = (int)(width - columns_of(text));
    if (column->type == LBM_COLUMN_TEXT)
        fprintf(to, "%s%*s", text, last ? 0 : blanks, "");
    else
        fprintf(to, "%*s%s", blanks, "", text);
    fputs(last ? "\n" : "  ", to);
}

/* Columns of the terminal, or 0: it is none. */
static size_t
width_of_terminal(FILE *to)
{
    struct winsize size;
    return isatty(fileno(to)) && ioctl(fileno(to), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* The columns that fit: shown [n] and how many they are. */
static size_t
choose_columns(FILE *to, const struct lbm_column *columns, const size_t *width, size_t n, size_t *shown)
{
    size_t total = 0, room = width_of_terminal(to), kept = n;
    for (size_t c = 0; c < n; c++) {
        shown[c] = c;
        total += width[c] + (c != 0 ? 2 : 0);
    }
    while (room != 0 && total > room) {
        size_t least = 0;
        for (size_t k = 1; k < kept; k++)
            if (columns[shown[k]].spare > columns[shown[least]].spare)
                least = k;
        if (columns[shown[least]].spare == 0)
            break;
        total -= width[shown[least]] + 2;
        kept--;
        memmove(&shown[least], &shown[least + 1], (kept - least) * sizeof *shown);
    }
    return kept;
}

enum lbm_err
lbm_table_print(FILE *to, const struct lbm_column *columns, size_t n, const json_t *rows, int json)
{
    enum { COLUMNS_MAX = 24 };
    size_t width[COLUMNS_MAX], shown[COLUMNS_MAX], i;
    const json_t *row;
    char cell[CELL_MAX];
    LBM_ASSERT(n <= COLUMNS_MAX);
    if (json) {
        int failed = json_dumpf(rows, to, LBM_JSON_FLAGS | JSON_INDENT(2));
        fputc('\n', to);
        return failed ? LBM_E_NOMEM : LBM_OK;
    }
    for (size_t c = 0; c < n; c++)
        width[c] = width_of(&columns[c], rows);
    n = choose_columns(to, columns, width, n, shown);
    for (size_t k = 0; k < n; k++)
        print_cell(to, &columns[shown[k]], width[shown[k]], columns[shown[k]].label, k + 1 == n);
    json_array_foreach((json_t *)(uintptr_t)rows, i, row)
    {
        for (size_t k = 0; k < n; k++) {
            render(&columns[shown[k]], row, cell);
            print_cell(to, &columns[shown[k]], width[shown[k]], cell, k + 1 == n);
        }
    }
    return LBM_OK;
}

enum lbm_err
lbm_table_print_object(FILE *to, const struct lbm_column *columns, size_t n, const json_t *object, int json)
{
    char cell[CELL_MAX];
    if (json) {
        int failed = json_dumpf(object, to, LBM_JSON_FLAGS | JSON_INDENT(2));
        fputc('\n', to);
        return failed ? LBM_E_NOMEM : LBM_OK;
    }
    for (size_t c = 0; c < n; c++) {
        render(&columns[c], object, cell);
        if (cell[0] != '\0')
            fprintf(to, "%-*s%s\n", LABEL_WIDTH, columns[c].label, cell);
    }
    return LBM_OK;
}
