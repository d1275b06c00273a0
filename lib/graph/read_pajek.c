/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pajek networks: *Vertices n, then lines "number [label [x y ...]]"; *Arcs and *Edges with lines "u v
 * [weight ...]"; *Arcslist and *Edgeslist with lines "u v v ..."; *Matrix with n lines of n weights. Vertices
 * are numbered from 1. Source: Pajek reference manual, "Pajek and Pajek-XXL data files". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/items.h"
#include "graph/readers.h"

enum section { NONE, VERTICES, EDGES, LISTS, MATRIX, FOREIGN };

static const struct lbm_field field_count = {"number of vertices", 0, LBM_VERTICES_MAX, ""};

struct pajek {
    struct lbm_items items;
    struct lbm_names label;     /* of the vertices that have one */
    LBM_VEC(uint32_t) labelled; /* which these are */
    enum section section;
    int has_vertices;
    uint64_t row;     /* of the matrix */
    uint64_t ignored; /* lines of sections that are no network */
};

static enum lbm_err
no_memory(const struct lbm_scan *s)
{
    return lbm_scan_refuse(s, LBM_E_NOMEM, "no memory for the network");
}

static enum lbm_err
begin_vertices(struct pajek *p, struct lbm_scan *s)
{
    uint64_t n = 0;
    if (p->has_vertices)
        return lbm_scan_refuse(s, LBM_E_UNSUPPORTED, "a second network: keep one in a file");
    size_t left = (size_t)(s->end - s->at);
    enum lbm_err err = lbm_scan_u64(s, &field_count, &n); /* a second number: vertices of the first mode */
    if (err == LBM_OK)
        err = lbm_edge_list_bound(n, left, s);
    if (err != LBM_OK)
        return err;
    p->has_vertices = 1;
    if (lbm_vec_reserve(&p->items.at, (size_t)n) != LBM_OK)
        return no_memory(s);
    for (uint64_t v = 0; v < n; v++)
        p->items.at.at[v] = (struct lbm_item){.work = 1};
    p->items.at.n = (size_t)n;
    return LBM_OK;
}

/* A line that begins with a star. */
static enum lbm_err
begin_section(struct pajek *p, struct lbm_scan *s)
{
    static const struct {
        const char *word;
        enum section section;
    } words[] = {{"*vertices", VERTICES}, {"*arcs", EDGES},    {"*edges", EDGES}, {"*arcslist", LISTS},
                 {"*edgeslist", LISTS},   {"*matrix", MATRIX}, {"*network", NONE}};
    p->section = FOREIGN;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (lbm_scan_word(s, words[i].word)) {
            p->section = words[i].section;
            break;
        }
    p->ignored += p->section == FOREIGN;
    if (p->section == VERTICES)
        return begin_vertices(p, s);
    if (p->section != FOREIGN && p->section != NONE && !p->has_vertices)
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "*Vertices must come first");
    return LBM_OK;
}

static enum lbm_err
read_vertex_number(struct pajek *p, struct lbm_scan *s, uint32_t *v)
{
    const struct lbm_field field = {"vertex", 1, p->items.at.n, "vertices are numbered from 1"};
    if (p->items.at.n == 0)
        return lbm_scan_refuse(s, LBM_E_RANGE, "there are no vertices");
    enum lbm_err err = lbm_scan_u32(s, &field, v);
    *v -= err == LBM_OK;
    return err;
}

/* The label: a word, or what stands in quotes. */
static enum lbm_err
read_label(struct pajek *p, struct lbm_scan *s, uint32_t v)
{
    const char *start = s->at, *at = start;
    int quoted = *start == '"';
    if (quoted)
        for (start = ++at; at < s->end && *at != '"' && *at != '\n';)
            at++;
    else
        while (at < s->end && *at != '\n' && !lbm_scan_is_blank(*at))
            at++;
    if (quoted && (at == s->end || *at != '"'))
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "the quotes of the label are not closed on this line");
    s->at = at + quoted;
    if (lbm_names_add(&p->label, start, (size_t)(at - start)) != LBM_OK ||
        lbm_vec_push(&p->labelled, v) != LBM_OK)
        return no_memory(s);
    return LBM_OK;
}

static enum lbm_err
read_vertex(struct pajek *p, struct lbm_scan *s)
{
    uint32_t v = 0;
    enum lbm_err err = read_vertex_number(p, s, &v);
    if (err == LBM_OK && !lbm_scan_line_done(s))
        err = read_label(p, s, v);
    if (err != LBM_OK)
        return err;
    struct lbm_item *item = &p->items.at.at[v];
    struct lbm_scan probe = *s;
    probe.diag = NULL; /* what follows may also be a shape */
    item->has_x = item->has_y = !lbm_scan_line_done(&probe) &&
                                lbm_scan_real(&probe, "x", &item->x) == LBM_OK &&
                                !lbm_scan_line_done(&probe) && lbm_scan_real(&probe, "y", &item->y) == LBM_OK;
    return LBM_OK;
}

static enum lbm_err
read_edge(struct pajek *p, struct lbm_scan *s)
{
    uint32_t u = 0, v = 0;
    double weight = 1;
    enum lbm_err err = read_vertex_number(p, s, &u);
    if (err == LBM_OK)
        err = read_vertex_number(p, s, &v);
    if (err == LBM_OK && !lbm_scan_line_done(s))
        err = lbm_scan_weight(s, &lbm_field_weight, &weight); /* colours and widths may follow */
    return err == LBM_OK ? lbm_edge_list_add(&p->items.list, s, u, v, weight) : err;
}

static enum lbm_err
read_list(struct pajek *p, struct lbm_scan *s)
{
    uint32_t u = 0, v = 0;
    enum lbm_err err = read_vertex_number(p, s, &u);
    while (err == LBM_OK && !lbm_scan_line_done(s)) {
        err = read_vertex_number(p, s, &v);
        if (err == LBM_OK)
            err = lbm_edge_list_add(&p->items.list, s, u, v, 1);
    }
    return err;
}

static enum lbm_err
read_matrix_row(struct pajek *p, struct lbm_scan *s)
{
    if (p->row >= p->items.at.n)
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "more rows than vertices");
    enum lbm_err err = LBM_OK;
    for (uint32_t v = 0; v < p->items.at.n && err == LBM_OK; v++) {
        double weight = 0;
        struct lbm_scan before = *s;
        err = lbm_scan_real(s, "weight", &weight);
        if (err == LBM_OK && weight != 0 && v != p->row)
            err = lbm_scan_weight(&before, &lbm_field_weight, &weight);
        if (err == LBM_OK && weight != 0 && v != p->row)
            err = lbm_edge_list_add(&p->items.list, s, (uint32_t)p->row, v, weight);
    }
    p->row++;
    return err == LBM_OK ? lbm_scan_expect_line_end(s, "a row") : err;
}

static enum lbm_err
read_line(struct pajek *p, struct lbm_scan *s)
{
    switch (p->section) {
    case VERTICES:
        return read_vertex(p, s);
    case EDGES:
        return read_edge(p, s);
    case LISTS:
        return read_list(p, s);
    case MATRIX:
        return read_matrix_row(p, s);
    case FOREIGN:
        return LBM_OK;
    case NONE:
        break;
    }
    return lbm_scan_refuse(s, LBM_E_SYNTAX, "not a Pajek network: it begins with \"*Vertices n\"");
}

/* The labels in the order of the vertices; a vertex without one has its number. */
static enum lbm_err
order_labels(struct pajek *p, const struct lbm_scan *s)
{
    char number[24];
    size_t n = p->items.at.n;
    uint32_t *label = lbm_alloc(n, sizeof *label); /* its place among the labels, plus 1 */
    if (label == NULL)
        return no_memory(s);
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; i < p->labelled.n; i++)
        label[p->labelled.at[i]] = (uint32_t)i + 1;
    for (size_t v = 0; v < n && err == LBM_OK && p->labelled.n > 0; v++) {
        snprintf(number, sizeof number, "%zu", v + 1);
        const char *name = label[v] != 0 ? p->label.text.at + p->label.at.at[label[v] - 1] : number;
        if (lbm_names_add(&p->items.names, name, strlen(name)) != LBM_OK)
            err = no_memory(s);
    }
    free(label);
    return err;
}

enum lbm_err
lbm_read_pajek(struct lbm_scan *s, struct lbm_graph *out)
{
    struct pajek p = {.items.list.labels.base = 1};
    enum lbm_err err = LBM_OK;
    while (err == LBM_OK && !lbm_scan_skip_lines(s, "%", 1)) {
        lbm_scan_line_done(s);
        err = *s->at == '*' ? begin_section(&p, s) : read_line(&p, s);
        if (err == LBM_OK)
            lbm_scan_next_line(s);
    }
    if (err == LBM_OK && !p.has_vertices)
        err = lbm_scan_refuse(s, LBM_E_SYNTAX, "there are no *Vertices");
    if (err == LBM_OK && p.section == MATRIX && p.row < p.items.at.n)
        err = lbm_scan_refuse(s, LBM_E_SYNTAX, "the file ends after %" PRIu64 " of %zu rows", p.row,
                              p.items.at.n);
    if (err == LBM_OK)
        err = order_labels(&p, s);
    if (err == LBM_OK)
        err = lbm_items_build(&p.items, s, out);
    if (err == LBM_OK && p.ignored > 0)
        lbm_reading_remark(s->reading, "%" PRIu64 " sections are not read: they are no network", p.ignored);
    lbm_items_free(&p.items);
    lbm_names_free(&p.label);
    lbm_vec_free(&p.labelled);
    return err;
}
