/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edge lists: "u v [weight]" a line; "u" alone is a vertex without edges. Lines that begin with # or % are
 * comments, as in the SNAP and KONECT collections. Vertices are called by numbers, which may have gaps, or by
 * words (read_edges_words.c); what they are called is kept as their name, unless it is their number in the
 * graph. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/edge_lines.h"
#include "graph/readers.h"

enum {
    SPARSE = 4,
    SPARSE_MORE = 65536
}; /* an array looks ids up that are at most SPARSE times those in use */

/* An edge list whose vertices are numbers below 2^32 - 1. */
struct numbers {
    struct lbm_edge_list list; /* of the numbers as they stand */
    LBM_VEC(uint32_t) lone;    /* on lines of their own */
    uint32_t *id;              /* [n] the numbers in use, ascending */
    size_t n;
    uint32_t most; /* the greatest number */
};

enum lbm_err
lbm_edge_line_tail(struct lbm_scan *s, double *weight)
{
    *weight = 1;
    enum lbm_err err = lbm_scan_line_done(s) ? LBM_OK : lbm_scan_weight(s, &lbm_field_weight, weight);
    return err == LBM_OK ? lbm_scan_expect_line_end(s, "an edge") : err;
}

/* Read a number if that is what is next. Nonzero if it was not. */
static int
number_missing(struct lbm_scan *s, struct numbers *numbers, uint32_t *id)
{
    while (s->at < s->end && lbm_scan_is_blank(*s->at))
        s->at++;
    const char *p = s->at;
    uint64_t number = 0;
    for (; p < s->end && (unsigned char)(*p - '0') <= 9 && number < UINT32_MAX; p++)
        number = number * 10 + (unsigned char)(*p - '0');
    if (p == s->at || number >= UINT32_MAX || (p < s->end && *p != '\n' && !lbm_scan_is_blank(*p)))
        return 1;
    s->at = p;
    *id = (uint32_t)number;
    numbers->most = *id > numbers->most ? *id : numbers->most;
    return 0;
}

/* One line. Out: *words, nonzero if its vertices are no numbers; then the line is not used. */
static enum lbm_err
read_line(struct lbm_scan *s, struct numbers *numbers, int *words)
{
    uint32_t u, v;
    double weight;
    *words = number_missing(s, numbers, &u);
    if (*words)
        return LBM_OK;
    if (lbm_scan_line_done(s))
        return lbm_vec_push(&numbers->lone, u) == LBM_OK
                   ? LBM_OK
                   : lbm_scan_refuse(s, LBM_E_NOMEM, "no memory for the vertices");
    *words = number_missing(s, numbers, &v);
    if (*words)
        return LBM_OK;
    enum lbm_err err = lbm_edge_line_tail(s, &weight);
    return err == LBM_OK ? lbm_edge_list_add(&numbers->list, s, u, v, weight) : err;
}

static int
compare_ids(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Which ids are in use. Out: numbers->n, how many. NULL if memory is short. */
static uint8_t *
mark_used(struct numbers *numbers)
{
    uint8_t *used = lbm_alloc((size_t)numbers->most + 1, sizeof *used);
    if (used == NULL)
        return NULL;
    for (size_t i = 0; i < numbers->lone.n; i++)
        used[numbers->lone.at[i]] = 1;
    for (size_t e = 0; e < numbers->list.edges.n; e++)
        used[numbers->list.edges.at[e].u] = used[numbers->list.edges.at[e].v] = 1;
    for (size_t id = 0; id <= numbers->most; id++)
        numbers->n += used[id];
    return used;
}

/* Number the vertices densely by an array over all ids up to the greatest. Out: numbers->id, unless all are
 * in use. */
static enum lbm_err
number_by_array(struct numbers *numbers)
{
    uint8_t *used = mark_used(numbers);
    if (used == NULL)
        return LBM_E_NOMEM;
    if (numbers->n > numbers->most) {
        free(used);
        return LBM_OK;
    }
    uint32_t *place = lbm_alloc((size_t)numbers->most + 1, sizeof *place), n = 0;
    numbers->id = lbm_alloc(numbers->n, sizeof *numbers->id);
    enum lbm_err err = place != NULL && numbers->id != NULL ? LBM_OK : LBM_E_NOMEM;
    for (uint32_t id = 0; id <= numbers->most && err == LBM_OK; id++)
        if (used[id]) {
            place[id] = n;
            numbers->id[n++] = id;
        }
    for (size_t e = 0; e < numbers->list.edges.n && err == LBM_OK; e++) {
        struct lbm_edge *edge = &numbers->list.edges.at[e];
        edge->u = place[edge->u];
        edge->v = place[edge->v];
    }
    free(used);
    free(place);
    return err;
}

static uint32_t
rank_of(const struct numbers *numbers, uint32_t id)
{
    const uint32_t *found = bsearch(&id, numbers->id, numbers->n, sizeof id, compare_ids);
    return (uint32_t)(found - numbers->id);
}

/* The same by sorting, if the ids in use are few among many. */
static enum lbm_err
number_by_sort(struct numbers *numbers)
{
    size_t m = numbers->list.edges.n, n = 0;
    uint32_t *id = lbm_alloc(2 * m + numbers->lone.n, sizeof *id);
    if (id == NULL)
        return LBM_E_NOMEM;
    for (size_t e = 0; e < m; e++) {
        id[n++] = numbers->list.edges.at[e].u;
        id[n++] = numbers->list.edges.at[e].v;
    }
    for (size_t i = 0; i < numbers->lone.n; i++)
        id[n++] = numbers->lone.at[i];
    qsort(id, n, sizeof *id, compare_ids);
    numbers->id = id;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || id[i] != numbers->id[numbers->n - 1])
            numbers->id[numbers->n++] = id[i];
    for (size_t e = 0; e < m; e++) {
        struct lbm_edge *edge = &numbers->list.edges.at[e];
        edge->u = rank_of(numbers, edge->u);
        edge->v = rank_of(numbers, edge->v);
    }
    return LBM_OK;
}

/* The ids as names. */
static enum lbm_err
name_ids(const struct numbers *numbers, const struct lbm_scan *s, struct lbm_names *names)
{
    char text[16];
    for (size_t v = 0; v < numbers->n; v++) {
        int len = snprintf(text, sizeof text, "%" PRIu32, numbers->id[v]);
        if (lbm_names_add(names, text, (size_t)len) != LBM_OK)
            return lbm_scan_refuse(s, LBM_E_NOMEM, "no memory for the names of the vertices");
    }
    lbm_reading_remark(s->reading,
                       "%zu vertices have ids from %" PRIu32 " to %" PRIu32
                       "; they are numbered from 0 in the order of these ids, which are kept as names",
                       numbers->n, numbers->id[0], numbers->id[numbers->n - 1]);
    return LBM_OK;
}

static enum lbm_err
build(struct numbers *numbers, const struct lbm_scan *s, struct lbm_graph *out)
{
    struct lbm_names names = {0};
    struct lbm_graph g = {0};
    size_t used = 2 * numbers->list.edges.n + numbers->lone.n;
    enum lbm_err err = LBM_OK;
    if (used > 0)
        err =
            numbers->most / SPARSE <= used + SPARSE_MORE ? number_by_array(numbers) : number_by_sort(numbers);
    if (err != LBM_OK)
        return lbm_scan_refuse(s, err, "no memory for %zu edges", numbers->list.edges.n);
    if (numbers->n > LBM_VERTICES_MAX)
        return lbm_scan_refuse(s, LBM_E_LIMIT, "more than %" PRIu32 " vertices", LBM_VERTICES_MAX);
    int gaps = numbers->n > 0 && numbers->n <= numbers->most;
    if (gaps)
        err = name_ids(numbers, s, &names);
    if (gaps)
        numbers->list.labels = lbm_names_labels(&names);
    if (err == LBM_OK)
        err = lbm_edge_list_build(&numbers->list, (uint32_t)numbers->n, LBM_DIRECTIONS_EQUAL, s, &g);
    if (err == LBM_OK)
        err = lbm_names_give(&names, s, &g);
    lbm_names_free(&names);
    if (err == LBM_OK)
        *out = g;
    else
        lbm_graph_free(&g);
    return err;
}

enum lbm_err
lbm_read_edges(struct lbm_scan *s, struct lbm_graph *out)
{
    struct numbers numbers = {0};
    struct lbm_scan start = *s;
    enum lbm_err err = LBM_OK;
    int words = 0;
    while (err == LBM_OK && !words && !lbm_scan_skip_lines(s, "#%", 1)) {
        err = read_line(s, &numbers, &words);
        if (err == LBM_OK && !words)
            lbm_scan_next_line(s);
    }
    if (err == LBM_OK && words)
        err = lbm_read_edges_words(&start, out);
    else if (err == LBM_OK)
        err = build(&numbers, s, out);
    lbm_edge_list_free(&numbers.list);
    lbm_vec_free(&numbers.lone);
    free(numbers.id);
    return err;
}
