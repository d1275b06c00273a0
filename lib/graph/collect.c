/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edges whose weights are real, or of which there are copies: joined first, made integers then. */
#include <inttypes.h>
#include <stdlib.h>

#include "graph/rows.h"

/* An edge in one direction as it stands in the text. */
struct arc {
    uint32_t low, high; /* its ends */
    double weight;
    uint32_t line;
    uint32_t back; /* nonzero: from high to low */
};

/* All arcs between two vertices. */
struct bundle {
    double weight[2];   /* sum of each direction */
    uint32_t copies[2]; /* arcs of each direction */
    const struct arc *last[2];
};

struct collection {
    const struct lbm_edge_list *list;
    const struct lbm_scan *scan;
    enum lbm_directions directions;
    struct arc *arc; /* sorted by ends and direction */
    size_t n_arcs;
    struct lbm_edge *edge; /* joined */
    double *weight;        /* of each joined edge */
    uint32_t *line;        /* of each, for messages */
    uint32_t *whole;
    size_t n;
    uint64_t copies, opposites; /* joined with another */
};

static int
compare_arcs(const void *a, const void *b)
{
    const struct arc *left = a, *right = b;
    if (left->low != right->low)
        return left->low < right->low ? -1 : 1;
    if (left->high != right->high)
        return left->high < right->high ? -1 : 1;
    if (left->back != right->back)
        return left->back < right->back ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

static enum lbm_err
no_memory(const struct lbm_scan *scan)
{
    return lbm_diag_set(scan->diag, LBM_E_NOMEM, scan->name, 0, "no memory for the graph");
}

static enum lbm_err
begin(struct collection *c)
{
    size_t m = c->n_arcs = c->list->edges.n;
    c->arc = lbm_alloc(m, sizeof *c->arc);
    c->edge = lbm_alloc(m, sizeof *c->edge);
    c->weight = lbm_alloc(m, sizeof *c->weight);
    c->line = lbm_alloc(m, sizeof *c->line);
    c->whole = lbm_alloc(m, sizeof *c->whole);
    if (c->arc == NULL || c->edge == NULL || c->weight == NULL || c->line == NULL || c->whole == NULL)
        return no_memory(c->scan);
    for (size_t e = 0; e < m; e++) {
        uint32_t u = c->list->edges.at[e].u, v = c->list->edges.at[e].v;
        c->arc[e] =
            (struct arc){u < v ? u : v, u < v ? v : u, c->list->reals.at[e], c->list->lines.at[e], u > v};
    }
    if (m > 0)
        qsort(c->arc, m, sizeof *c->arc, compare_arcs);
    return LBM_OK;
}

static void
end(struct collection *c)
{
    free(c->arc);
    free(c->edge);
    free(c->weight);
    free(c->line);
    free(c->whole);
}

/* Gather the arcs from i on that have the same ends. Returns the index after them. */
static size_t
gather(const struct collection *c, size_t i, struct bundle *b)
{
    const struct arc *first = &c->arc[i];
    *b = (struct bundle){0};
    for (; i < c->n_arcs && c->arc[i].low == first->low && c->arc[i].high == first->high; i++) {
        const struct arc *arc = &c->arc[i];
        b->weight[arc->back] += arc->weight;
        b->copies[arc->back]++;
        b->last[arc->back] = arc;
    }
    return i;
}

/* Nonzero if every edge has both directions with one weight. */
static int
is_symmetric(const struct collection *c)
{
    struct bundle b;
    for (size_t i = 0; i < c->n_arcs;) {
        i = gather(c, i, &b);
        if (b.copies[0] == 0 || b.copies[1] == 0 || b.weight[0] != b.weight[1])
            return 0;
    }
    return 1;
}

/* What is wrong with a bundle in a reading that does not sum. Returns LBM_OK if nothing is. */
static enum lbm_err
check_bundle(const struct collection *c, const struct bundle *b, uint32_t low, uint32_t high)
{
    struct lbm_graph_fault fault = {LBM_FAULT_DUPLICATE, low, high, b->weight[0], b->weight[1]};
    const struct arc *there = b->last[0], *back = b->last[1];
    const struct arc *later = there == NULL || (back != NULL && back->line > there->line) ? back : there;
    int one = c->directions == LBM_DIRECTIONS_ONE && there != NULL && back != NULL;
    if (b->copies[0] > 1 || b->copies[1] > 1 || one) {
        const struct arc *copy = b->copies[1] > 1 && b->copies[0] <= 1 ? back : one ? later : there;
        fault.u = copy->back ? high : low;
        fault.v = copy->back ? low : high;
        return lbm_fault_refuse(&fault, &c->list->labels, c->scan, copy->line);
    }
    if (c->directions == LBM_DIRECTIONS_BOTH && (there == NULL || back == NULL)) {
        fault.kind = LBM_FAULT_ONE_SIDED;
        fault.u = there != NULL ? low : high;
        fault.v = there != NULL ? high : low;
        return lbm_fault_refuse(&fault, &c->list->labels, c->scan, later->line);
    }
    fault.kind = LBM_FAULT_UNEQUAL;
    if (c->directions != LBM_DIRECTIONS_ADD && there != NULL && back != NULL && b->weight[0] != b->weight[1])
        return lbm_fault_refuse(&fault, &c->list->labels, c->scan, later->line);
    return LBM_OK;
}

/* Join the arcs between each two vertices to one edge. */
static enum lbm_err
join(struct collection *c)
{
    const struct lbm_reading *r = c->scan->reading;
    int sided = c->directions == LBM_DIRECTIONS_BOTH;
    int add = r->sum ? !sided || !is_symmetric(c) : c->directions == LBM_DIRECTIONS_ADD;
    struct bundle b;
    for (size_t i = 0; i < c->n_arcs;) {
        uint32_t low = c->arc[i].low, high = c->arc[i].high;
        i = gather(c, i, &b);
        enum lbm_err err = r->sum ? LBM_OK : check_bundle(c, &b, low, high);
        if (err != LBM_OK)
            return err;
        for (int d = 0; d < 2; d++)
            c->copies += b.copies[d] > 1 ? b.copies[d] - 1 : 0;
        c->opposites += b.copies[0] > 0 && b.copies[1] > 0 && (add || !sided);
        double one = b.copies[0] > 0 ? b.weight[0] : b.weight[1];
        c->edge[c->n] = (struct lbm_edge){low, high, 1};
        c->line[c->n] = b.last[b.copies[0] == 0]->line;
        c->weight[c->n++] = r->unweighted ? 1 : add ? b.weight[0] + b.weight[1] : one;
    }
    return LBM_OK;
}

/* Make the weights integers and leave out the edges that have none. */
static enum lbm_err
convert(struct collection *c)
{
    struct lbm_reading *r = c->scan->reading;
    size_t at = 0, kept = 0;
    enum lbm_err err =
        lbm_reading_convert(r, &r->edge_scale, "edge weight", LBM_ZEROS_STAY, c->weight, c->n, c->whole, &at);
    if (err != LBM_OK) {
        char u[LBM_LABEL_BYTES], v[LBM_LABEL_BYTES];
        lbm_label_show(&c->list->labels, c->edge[at].u, u);
        lbm_label_show(&c->list->labels, c->edge[at].v, v);
        return lbm_diag_set(c->scan->diag, err, c->scan->name, c->line[at],
                            "the edge between %s and %s weighs %.10g%s, more than %" PRIu32 "%s%s", u, v,
                            c->weight[at], r->edge_scale.how == LBM_SCALE_BY ? " times the scale" : "",
                            LBM_WEIGHT_MAX, r->hint != NULL ? ": " : "", r->hint != NULL ? r->hint : "");
    }
    for (size_t e = 0; e < c->n; e++) {
        c->edge[kept] = c->edge[e];
        c->edge[kept].weight = c->whole[e];
        kept += c->whole[e] != 0;
    }
    if (kept < c->n)
        lbm_reading_remark(r, "%zu edges of weight 0 were left out", c->n - kept);
    c->n = kept;
    return LBM_OK;
}

static void
remark(const struct collection *c)
{
    struct lbm_reading *r = c->scan->reading;
    if (c->copies > 0 || c->opposites > 0 || c->list->loops > 0)
        lbm_reading_remark(r,
                           "%" PRIu64 " copies of edges and %" PRIu64
                           " opposite directions were joined, %" PRIu64 " self-loops were left out",
                           c->copies, c->opposites, c->list->loops);
}

enum lbm_err
lbm_edge_list_collect(const struct lbm_edge_list *list, uint32_t n, enum lbm_directions directions,
                      const struct lbm_scan *scan, struct lbm_graph *out)
{
    struct collection c = {.list = list, .scan = scan, .directions = directions};
    struct lbm_graph_fault fault;
    enum lbm_err err = begin(&c);
    if (err == LBM_OK)
        err = join(&c);
    if (err == LBM_OK)
        err = convert(&c);
    if (err == LBM_OK && lbm_edges_build(n, c.edge, c.n, LBM_MERGE_REJECT, out, &fault) != LBM_OK)
        err = no_memory(scan); /* joined edges are distinct */
    if (err == LBM_OK && scan->reading->sum)
        remark(&c);
    end(&c);
    return err;
}

enum lbm_err
lbm_work_collect(const double *work, uint32_t n, const struct lbm_labels *labels, const struct lbm_scan *scan,
                 uint32_t **out)
{
    struct lbm_reading *r = scan->reading;
    uint32_t *whole = lbm_alloc(n, sizeof *whole);
    size_t at = 0;
    if (whole == NULL)
        return no_memory(scan);
    enum lbm_err err =
        lbm_reading_convert(r, &r->work_scale, "vertex weight", LBM_ZEROS_WEIGH_ONE, work, n, whole, &at);
    if (err != LBM_OK) {
        char v[LBM_LABEL_BYTES];
        lbm_label_show(labels, (uint32_t)at, v);
        free(whole);
        return lbm_diag_set(scan->diag, err, scan->name, 0,
                            "vertex %s weighs %.10g times the scale, more than %" PRIu32, v, work[at],
                            LBM_WEIGHT_MAX);
    }
    *out = whole;
    return LBM_OK;
}
