/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matrix Market coordinate matrices: vertex i is row and column i, an entry off the diagonal an edge.
 * Source: Boisvert, Pozo & Remington, NISTIR 5935 (1996).
 * The diagonal is dropped. Absolute values are weights, unless the reading is unweighted: values of a
 * discretization are not traffic.
 * A general matrix is symmetrized: |a_ij| + |a_ji| if values are weights, as with bytes sent both ways. */
#include <inttypes.h>
#include <math.h>

#include "graph/readers.h"
#include "graph/rows.h"

enum field { PATTERN, INTEGER, REAL, COMPLEX, FIELDS };
enum symmetry { GENERAL, SYMMETRIC, SKEW_SYMMETRIC, HERMITIAN, SYMMETRIES };

static const char *const field_words[] = {"pattern", "integer", "real", "complex"};
static const char *const symmetry_words[] = {"general", "symmetric", "skew-symmetric", "hermitian"};

static const struct lbm_field field_rows = {"number of rows", 0, LBM_VERTICES_MAX, ""};
static const struct lbm_field field_columns = {"number of columns", 0, LBM_VERTICES_MAX, ""};
static const struct lbm_field field_entries = {"number of entries", 0, LBM_EDGE_DIRECTIONS_MAX, ""};

struct matrix {
    enum field field;
    enum symmetry symmetry;
    uint32_t n;
    uint64_t entries;
    int weighted;      /* values are weights */
    uint64_t diagonal; /* entries dropped whose value is not 0 */
    struct lbm_edge_list list;
};

/* Skip the one of n words that is next; n if none is. */
static int
one_word_of(struct lbm_scan *s, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (lbm_scan_word(s, words[i]))
            return i;
    return n;
}

static enum lbm_err
read_banner(struct lbm_scan *s, struct matrix *a)
{
    if (!lbm_scan_word(s, "%%MatrixMarket") || !lbm_scan_word(s, "matrix"))
        return lbm_scan_refuse(
            s, LBM_E_SYNTAX,
            "no banner: the first line is \"%%%%MatrixMarket matrix coordinate FIELD SYMMETRY\"");
    if (!lbm_scan_word(s, "coordinate"))
        return lbm_scan_refuse(s, LBM_E_UNSUPPORTED,
                               "only coordinate matrices are graphs, dense ones are not");
    a->field = (enum field)one_word_of(s, field_words, FIELDS);
    a->symmetry = (enum symmetry)one_word_of(s, symmetry_words, SYMMETRIES);
    if (a->field == FIELDS || a->symmetry == SYMMETRIES)
        return lbm_scan_refuse(
            s, LBM_E_SYNTAX,
            "the banner must name a field (pattern, integer, real) and a symmetry (general, "
            "symmetric, skew-symmetric)");
    if (a->field == COMPLEX || a->symmetry == HERMITIAN)
        return lbm_scan_refuse(s, LBM_E_UNSUPPORTED,
                               "complex matrices are not supported: write the pattern or absolute values");
    a->weighted = a->field != PATTERN && (s->reading == NULL || !s->reading->unweighted);
    return lbm_scan_expect_line_end(s, "the banner");
}

static enum lbm_err
read_size(struct lbm_scan *s, struct matrix *a, size_t len)
{
    uint64_t columns = 0;
    if (lbm_scan_skip_lines(s, "%", 1))
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "the file ends where \"rows columns entries\" should be");
    enum lbm_err err = lbm_scan_u32(s, &field_rows, &a->n);
    if (err == LBM_OK)
        err = lbm_scan_u64(s, &field_columns, &columns);
    if (err == LBM_OK)
        err = lbm_scan_u64(s, &field_entries, &a->entries);
    if (err == LBM_OK)
        err = lbm_scan_expect_line_end(s, "the size");
    if (err == LBM_OK && columns != a->n)
        return lbm_scan_refuse(s, LBM_E_UNSUPPORTED,
                               "%" PRIu32 " rows and %" PRIu64 " columns: only a square matrix is a graph",
                               a->n, columns);
    return err == LBM_OK ? lbm_edge_list_bound(a->n, len, s) : err;
}

/* The value of an entry. Out: *weight, its absolute value. */
static enum lbm_err
read_value(struct lbm_scan *s, struct matrix *a, int diagonal, double *weight)
{
    double value;
    struct lbm_scan before = *s;
    enum lbm_err err = lbm_scan_real(s, "value", &value);
    if (err != LBM_OK)
        return err;
    if (floor(value) != value && a->field == INTEGER)
        return lbm_scan_refuse(&before, LBM_E_SYNTAX, "the value of an integer matrix must be an integer");
    a->diagonal += diagonal && value != 0;
    if (diagonal || !a->weighted)
        return LBM_OK;
    lbm_scan_line_done(&before);
    before.at += *before.at == '-' || *before.at == '+';
    return lbm_scan_weight(&before, &lbm_field_weight, weight);
}

static enum lbm_err
read_entry(struct lbm_scan *s, struct matrix *a)
{
    const struct lbm_field field_row = {"row", 1, a->n, "rows are numbered from 1"};
    const struct lbm_field field_column = {"column", 1, a->n, "columns are numbered from 1"};
    uint32_t row = 0, column = 0;
    double weight = 1;
    enum lbm_err err = lbm_scan_u32(s, &field_row, &row);
    if (err == LBM_OK)
        err = lbm_scan_u32(s, &field_column, &column);
    if (err == LBM_OK && a->field != PATTERN)
        err = read_value(s, a, row == column, &weight);
    if (err == LBM_OK)
        err = lbm_scan_expect_line_end(s, "an entry");
    if (err != LBM_OK || row == column)
        return err;
    return lbm_edge_list_add(&a->list, s, row - 1, column - 1, weight);
}

static enum lbm_err
read_matrix(struct lbm_scan *s, struct matrix *a)
{
    size_t len = (size_t)(s->end - s->at);
    enum lbm_err err = read_banner(s, a);
    if (err == LBM_OK)
        err = read_size(s, a, len);
    for (uint64_t k = 0; k < a->entries && err == LBM_OK; k++) {
        lbm_scan_next_line(s);
        if (lbm_scan_skip_lines(s, "%", 1))
            return lbm_scan_refuse(s, LBM_E_SYNTAX, "the file ends after %" PRIu64 " of %" PRIu64 " entries",
                                   k, a->entries);
        err = read_entry(s, a);
    }
    if (err != LBM_OK)
        return err;
    lbm_scan_next_line(s);
    return lbm_scan_expect_text_end(s, "%", "the last entry");
}

enum lbm_err
lbm_read_matrix_market(struct lbm_scan *s, struct lbm_graph *out)
{
    struct matrix a = {.list.labels.base = 1};
    enum lbm_err err = read_matrix(s, &a);
    /* Half of a symmetric matrix is stored: there, both (i, j) and (j, i) would be one edge too many. */
    enum lbm_directions general = a.weighted ? LBM_DIRECTIONS_ADD : LBM_DIRECTIONS_EQUAL;
    if (err == LBM_OK)
        err = lbm_edge_list_build(&a.list, a.n, a.symmetry == GENERAL ? general : LBM_DIRECTIONS_ONE, s, out);
    if (err == LBM_OK && a.weighted && a.diagonal > 0)
        lbm_reading_remark(s->reading, "%" PRIu64 " values on the diagonal were left out", a.diagonal);
    lbm_edge_list_free(&a.list);
    return err;
}
