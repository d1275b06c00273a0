/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dense matrices: a row of values a line, separated by commas, semicolons, tabs or blanks; the value in row i
 * and column j is the weight of the edge between them, 0 or nothing means none. A first row and a first
 * column may hold names. A matrix that is not symmetric is traffic in two directions, which add up. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "graph/names.h"
#include "graph/readers.h"

enum { ROWS_MAX = 1 << 17 }; /* 16 GiB of text, the largest file, hold no more values than their square */

struct cell {
    const char *at;
    uint32_t len;
    uint8_t quoted;
};

struct table {
    LBM_VEC(struct cell) cells;
    LBM_VEC(uint64_t) line; /* of each row */
    size_t columns;
    char separator;    /* ' ': blanks and tabs, any number */
    size_t head, side; /* rows and columns of names: 0 or 1 */
    size_t n;
    double *value; /* [n * n] */
    struct lbm_names names;
};

static enum lbm_err
no_memory(const struct lbm_scan *s)
{
    return lbm_diag_set(s->diag, LBM_E_NOMEM, s->name, 0, "no memory for the matrix");
}

/* What separates cells: the first of these that the first line has outside quotes. */
static char
find_separator(const struct lbm_scan *s)
{
    static const char separators[] = {';', ',', '\t'};
    const char *end = memchr(s->at, '\n', (size_t)(s->end - s->at));
    end = end != NULL ? end : s->end;
    for (size_t i = 0; i < sizeof separators; i++) {
        int quoted = 0;
        for (const char *c = s->at; c < end; c++) {
            quoted ^= *c == '"';
            if (!quoted && *c == separators[i])
                return separators[i];
        }
    }
    return ' ';
}

static int
is_space(const struct table *t, char c)
{
    return c == ' ' || c == '\r' || (c == '\t' && t->separator != '\t');
}

/* The next cell of the line, without blanks and quotes around it. Out: *more, nonzero if another one follows.
 */
static enum lbm_err
read_cell(struct table *t, struct lbm_scan *s, int *more)
{
    while (s->at < s->end && is_space(t, *s->at))
        s->at++;
    struct cell cell = {.at = s->at, .quoted = s->at < s->end && *s->at == '"'};
    if (cell.quoted) {
        for (cell.at = ++s->at; s->at < s->end && *s->at != '"' && *s->at != '\n';)
            s->at++;
        if (s->at == s->end || *s->at != '"')
            return lbm_scan_refuse(s, LBM_E_SYNTAX, "quotes are not closed on this line");
        cell.len = (uint32_t)(s->at++ - cell.at);
    } else {
        while (s->at < s->end && *s->at != '\n' && *s->at != t->separator &&
               !(t->separator == ' ' && is_space(t, *s->at)))
            s->at++;
        cell.len = (uint32_t)(s->at - cell.at);
        while (cell.len > 0 && is_space(t, cell.at[cell.len - 1]))
            cell.len--;
    }
    while (s->at < s->end && is_space(t, *s->at))
        s->at++;
    int ended = s->at == s->end || *s->at == '\n';
    if (!ended && t->separator != ' ' && *s->at != t->separator)
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "text behind quotes: cells are separated by \"%c\"",
                               t->separator);
    *more = !ended;
    s->at += !ended && t->separator != ' ';
    return lbm_vec_push(&t->cells, cell) == LBM_OK ? LBM_OK : no_memory(s);
}

static enum lbm_err
read_row(struct table *t, struct lbm_scan *s)
{
    size_t begin = t->cells.n;
    int more = 1;
    enum lbm_err err = lbm_vec_push(&t->line, s->line) == LBM_OK ? LBM_OK : no_memory(s);
    while (err == LBM_OK && more)
        err = read_cell(t, s, &more);
    size_t columns = t->cells.n - begin;
    t->columns = t->line.n == 1 ? columns : t->columns;
    if (err == LBM_OK && columns != t->columns)
        err = lbm_scan_refuse(s, LBM_E_SYNTAX, "%zu values, the first row has %zu", columns, t->columns);
    return err;
}

static const struct cell *
cell_at(const struct table *t, size_t row, size_t column)
{
    return &t->cells.at[row * t->columns + column];
}

/* Nonzero if the cell is meant as a number, be it one that is refused. */
static int
is_number(const struct cell *cell)
{
    size_t sign = cell->len > 0 && (cell->at[0] == '-' || cell->at[0] == '+');
    if (cell->len == 3 + sign &&
        (strncasecmp(cell->at + sign, "nan", 3) == 0 || strncasecmp(cell->at + sign, "inf", 3) == 0))
        return 1;
    struct lbm_scan text = {.at = cell->at, .end = cell->at + cell->len};
    double ignored;
    return cell->len > 0 && !cell->quoted && lbm_scan_real(&text, "value", &ignored) == LBM_OK &&
           lbm_scan_line_done(&text);
}

/* Nonzero if the cells from (row, column) on, in its row or in its column, hold a name. */
static int
holds_name(const struct table *t, size_t row, size_t column, int down)
{
    size_t n = down ? t->line.n : t->columns;
    for (size_t i = down ? row : column; i < n; i++) {
        const struct cell *cell = down ? cell_at(t, i, column) : cell_at(t, row, i);
        if (cell->len > 0 && !is_number(cell))
            return 1;
    }
    return 0;
}

/* Nonzero if the first cell alone is empty: numbers around the matrix are names then, as spreadsheets write
 * them. */
static int
has_empty_corner(const struct table *t)
{
    for (size_t i = 0; i < t->cells.n; i++)
        if ((t->cells.at[i].len == 0) != (i == 0))
            return 0;
    return t->line.n == t->columns && t->columns > 1;
}

/* Nonzero if the first row is that of a list of edges. */
static int
heads_edges(const struct table *t)
{
    static const char *const words[][2] = {{"source", "target"}, {"from", "to"}, {"src", "dst"}, {"u", "v"}};
    const struct cell *cell = t->cells.at;
    for (size_t i = 0; i < sizeof words / sizeof words[0] && (t->columns == 2 || t->columns == 3); i++)
        if (cell[0].len == strlen(words[i][0]) && strncasecmp(cell[0].at, words[i][0], cell[0].len) == 0 &&
            cell[1].len == strlen(words[i][1]) && strncasecmp(cell[1].at, words[i][1], cell[1].len) == 0)
            return 1;
    return 0;
}

/* Find the names around the matrix, and its size. */
static enum lbm_err
find_frame(struct table *t, const struct lbm_scan *s)
{
    size_t rows = t->line.n;
    int both = rows == t->columns && rows > 0 &&
               (holds_name(t, 0, 0, 0) || holds_name(t, 0, 0, 1) || has_empty_corner(t));
    t->head = both || (rows == t->columns + 1 && holds_name(t, 0, 0, 0));
    t->side = both || (rows > 0 && rows + 1 == t->columns && holds_name(t, 0, 0, 1));
    if (rows - t->head != t->columns - t->side || heads_edges(t))
        return lbm_diag_set(s->diag, LBM_E_UNSUPPORTED, s->name, 0,
                            "%zu rows and %zu columns: only a square matrix is a graph (an edge list is "
                            "\"u v weight\" with blanks: --from edges)",
                            rows - t->head, t->columns - t->side);
    t->n = rows - t->head;
    if (t->n > ROWS_MAX)
        return lbm_diag_set(s->diag, LBM_E_LIMIT, s->name, 0, "%zu rows are too many", t->n);
    return LBM_OK;
}

static enum lbm_err
read_names(struct table *t, const struct lbm_scan *s)
{
    for (size_t v = 0; v < t->n && (t->head || t->side); v++) {
        const struct cell *above = t->head ? cell_at(t, 0, v + t->side) : NULL;
        const struct cell *left = t->side ? cell_at(t, v + t->head, 0) : NULL;
        if (above != NULL && left != NULL &&
            (above->len != left->len || memcmp(above->at, left->at, above->len) != 0))
            return lbm_diag_set(s->diag, LBM_E_SYNTAX, s->name, t->line.at[v + t->head],
                                "row %zu and column %zu have different names", v + 1, v + 1);
        const struct cell *cell = above != NULL ? above : left;
        if (lbm_names_add(&t->names, cell->at, cell->len) != LBM_OK)
            return no_memory(s);
    }
    return LBM_OK;
}

/* The value of a cell: a weight, or 0. */
static enum lbm_err
read_value(const struct table *t, const struct lbm_scan *s, size_t row, size_t column, double *value)
{
    const struct cell *cell = cell_at(t, row + t->head, column + t->side);
    struct lbm_scan text = *s;
    text.at = cell->at;
    text.end = cell->at + cell->len;
    text.line = t->line.at[row + t->head];
    *value = 0;
    if (cell->len == 0)
        return LBM_OK;
    struct lbm_scan before = text;
    enum lbm_err err = lbm_scan_real(&text, "value", value);
    if (err == LBM_OK)
        err = lbm_scan_expect_line_end(&text, "a value");
    if (err == LBM_OK && *value != 0 && row != column)
        err = lbm_scan_weight(&before, &lbm_field_weight, value);
    return err;
}

static enum lbm_err
read_values(struct table *t, const struct lbm_scan *s)
{
    t->value = lbm_alloc(t->n * t->n, sizeof *t->value);
    if (t->value == NULL)
        return no_memory(s);
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; i < t->n && err == LBM_OK; i++)
        for (size_t j = 0; j < t->n && err == LBM_OK; j++)
            err = read_value(t, s, i, j, &t->value[i * t->n + j]);
    return err;
}

static enum lbm_err
build(struct table *t, const struct lbm_scan *s, struct lbm_graph *g)
{
    struct lbm_edge_list list = {.labels = t->names.at.n > 0 ? lbm_names_labels(&t->names)
                                                             : (struct lbm_labels){.base = 1}};
    size_t n = t->n, diagonal = 0;
    int symmetric = 1;
    for (size_t i = 0; i < n; i++) {
        diagonal += t->value[i * n + i] != 0;
        for (size_t j = 0; j < i; j++)
            symmetric &= t->value[i * n + j] == t->value[j * n + i];
    }
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; i < n && err == LBM_OK; i++) {
        struct lbm_scan at = *s;
        at.line = t->line.at[i + t->head];
        for (size_t j = symmetric ? i + 1 : 0; j < n && err == LBM_OK; j++)
            if (i != j && t->value[i * n + j] != 0)
                err = lbm_edge_list_add(&list, &at, (uint32_t)i, (uint32_t)j, t->value[i * n + j]);
    }
    int add = !symmetric && (s->reading == NULL || !s->reading->unweighted);
    if (err == LBM_OK)
        err = lbm_edge_list_build(&list, (uint32_t)n, add ? LBM_DIRECTIONS_ADD : LBM_DIRECTIONS_EQUAL, s, g);
    lbm_edge_list_free(&list);
    if (err == LBM_OK && add)
        lbm_reading_remark(s->reading, "the matrix is not symmetric: both directions were added");
    if (err == LBM_OK && diagonal > 0)
        lbm_reading_remark(s->reading, "%zu values on the diagonal were left out", diagonal);
    if (err == LBM_OK && (t->head || t->side))
        lbm_reading_remark(s->reading, "the first %s holds the names of the vertices",
                           t->head && t->side ? "row and column"
                           : t->head          ? "row"
                                              : "column");
    return err;
}

enum lbm_err
lbm_read_csv(struct lbm_scan *s, struct lbm_graph *out)
{
    struct table t = {0};
    struct lbm_graph g = {0};
    enum lbm_err err = LBM_OK;
    lbm_scan_skip_lines(s, "#%", 1);
    t.separator = find_separator(s);
    while (err == LBM_OK && !lbm_scan_skip_lines(s, "#%", 1)) {
        err = read_row(&t, s);
        if (err == LBM_OK)
            lbm_scan_next_line(s);
    }
    if (err == LBM_OK)
        err = find_frame(&t, s);
    if (err == LBM_OK)
        err = read_names(&t, s);
    if (err == LBM_OK)
        err = read_values(&t, s);
    if (err == LBM_OK)
        err = build(&t, s, &g);
    if (err == LBM_OK)
        err = lbm_names_give(&t.names, s, &g);
    lbm_vec_free(&t.cells);
    lbm_vec_free(&t.line);
    lbm_names_free(&t.names);
    free(t.value);
    if (err == LBM_OK)
        *out = g;
    else
        lbm_graph_free(&g);
    return err;
}
