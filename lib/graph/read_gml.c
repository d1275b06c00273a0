/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GML: lists of keys and values. Of the first `graph`, each `node` is a vertex (`id`, `label`, `weight`, and
 * `x`, `y` of its `graphics`) and each `edge` an edge (`source`, `target`, `weight`); other keys are skipped.
 * Source: M. Himsolt, GML: A portable graph file format (1997). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "graph/items.h"
#include "graph/readers.h"

enum { DEPTH_MAX = 64, KEY_MAX = 32 };

/* Inside which list we are. */
enum place { TOP, GRAPH, NODE, GRAPHICS, EDGE, SKIPPED };

struct gml {
    struct lbm_items items; /* their names are the labels */
    struct lbm_names ids;   /* of the nodes */
    struct lbm_names ends;  /* source and target of each edge */
    LBM_VEC(double) weight; /* of each edge */
    LBM_VEC(uint64_t) line;
    enum place place[DEPTH_MAX];
    unsigned depth, n_graphs;
    int has_id, has_label, has_source, has_target; /* of the node or edge being read */
    size_t labels;                                 /* nodes that have one */
    char source[KEY_MAX], target[KEY_MAX];
    double edge_weight;
    uint64_t begun;  /* line where it begins */
    uint64_t values; /* edges with `value` and no weight */
};

static enum lbm_err
no_memory(const struct lbm_scan *s)
{
    return lbm_scan_refuse(s, LBM_E_NOMEM, "no memory for the graph");
}

/* Go to the next key, value or bracket; nonzero at the end of the text. */
static int
skip(struct lbm_scan *s)
{
    while (!lbm_scan_text_done(s)) {
        if (*s->at != '#')
            return 0;
        lbm_scan_next_line(s);
    }
    return 1;
}

static int
is_end(const struct lbm_scan *s, const char *at)
{
    return at == s->end || *at == '\n' || lbm_scan_is_blank(*at) || *at == '[' || *at == ']';
}

static enum lbm_err
read_key(struct lbm_scan *s, char key[KEY_MAX])
{
    size_t len = 0;
    while (!is_end(s, s->at + len))
        len++;
    if (len == 0 || (unsigned char)((*s->at | 0x20) - 'a') > 25)
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "a key is missing: GML is made of keys and values");
    size_t kept = len < KEY_MAX ? len : KEY_MAX - 1;
    memcpy(key, s->at, kept);
    key[kept] = '\0';
    s->at += len;
    return LBM_OK;
}

/* A value: what stands between quotes, or a word. Out: where it is, the scanner behind it. */
static enum lbm_err
read_value(struct lbm_scan *s, const char **value, size_t *len)
{
    if (skip(s))
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "the file ends before a value");
    if (*s->at != '"') {
        *value = s->at;
        while (!is_end(s, s->at))
            s->at++;
        *len = (size_t)(s->at - *value);
        return *len > 0 ? LBM_OK : lbm_scan_refuse(s, LBM_E_SYNTAX, "a value is missing");
    }
    struct lbm_scan start = *s;
    *value = ++s->at;
    for (; s->at < s->end && *s->at != '"'; s->at++)
        s->line += *s->at == '\n';
    if (s->at == s->end)
        return lbm_scan_refuse(&start, LBM_E_SYNTAX, "the quotes that begin here are not closed");
    *len = (size_t)(s->at++ - *value);
    return LBM_OK;
}

/* Append a string with its entities resolved as a name. */
static enum lbm_err
add_name(struct lbm_names *names, const struct lbm_scan *s, const char *text, size_t len)
{
    static const char *const entities[][2] = {{"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}};
    struct lbm_buf plain = {0};
    for (size_t i = 0; i < len;) {
        size_t step = 1;
        const char *put = text + i;
        for (size_t k = 0; k < sizeof entities / sizeof entities[0]; k++) {
            size_t entity = strlen(entities[k][0]);
            if (len - i >= entity && memcmp(text + i, entities[k][0], entity) == 0) {
                put = entities[k][1];
                step = entity;
            }
        }
        lbm_buf_put(&plain, put, 1);
        i += step;
    }
    enum lbm_err err =
        plain.failed ? LBM_E_NOMEM : lbm_names_add(names, plain.at != NULL ? plain.at : "", plain.len);
    lbm_buf_free(&plain);
    return err == LBM_OK ? err : no_memory(s);
}

/* A number between start and the end of a value. */
static enum lbm_err
number(const struct lbm_scan *s, const char *value, size_t len, const struct lbm_field *field,
       const char *what, double *out)
{
    struct lbm_scan text = *s;
    text.at = value;
    text.end = value + len;
    enum lbm_err err = field != NULL ? lbm_scan_weight(&text, field, out) : lbm_scan_real(&text, what, out);
    return err == LBM_OK ? lbm_scan_expect_line_end(&text, "a number") : err;
}

static enum lbm_err
set_node(struct gml *m, struct lbm_scan *s, const char *key, const char *value, size_t len)
{
    struct lbm_item *item = &m->items.at.at[m->items.at.n - 1];
    if (strcasecmp(key, "id") == 0 && !m->has_id) {
        m->has_id = 1;
        return lbm_names_add(&m->ids, value, len) == LBM_OK ? LBM_OK : no_memory(s);
    }
    if (strcasecmp(key, "label") == 0 && !m->has_label) {
        m->has_label = 1;
        m->labels++;
        return add_name(&m->items.names, s, value, len);
    }
    if (strcasecmp(key, "weight") == 0)
        return number(s, value, len, s->work, NULL, &item->work);
    return LBM_OK;
}

static enum lbm_err
set_graphics(struct gml *m, struct lbm_scan *s, const char *key, const char *value, size_t len)
{
    struct lbm_item *item = &m->items.at.at[m->items.at.n - 1];
    if (strcasecmp(key, "x") == 0) {
        item->has_x = 1;
        return number(s, value, len, NULL, "x", &item->x);
    }
    if (strcasecmp(key, "y") == 0) {
        item->has_y = 1;
        return number(s, value, len, NULL, "y", &item->y);
    }
    return LBM_OK;
}

static enum lbm_err
set_edge(struct gml *m, struct lbm_scan *s, const char *key, const char *value, size_t len)
{
    int source = strcasecmp(key, "source") == 0;
    if (source || strcasecmp(key, "target") == 0) {
        if (len >= KEY_MAX)
            return lbm_scan_refuse(s, LBM_E_SYNTAX, "the id of a node is longer than %d characters",
                                   KEY_MAX - 1);
        char *end = source ? m->source : m->target;
        memcpy(end, value, len);
        end[len] = '\0';
        *(source ? &m->has_source : &m->has_target) = 1;
        return LBM_OK;
    }
    m->values += strcasecmp(key, "value") == 0;
    return strcasecmp(key, "weight") == 0 ? number(s, value, len, &lbm_field_weight, NULL, &m->edge_weight)
                                          : LBM_OK;
}

static enum lbm_err
open_list(struct gml *m, struct lbm_scan *s, const char *key)
{
    enum place in = m->place[m->depth], to = SKIPPED;
    if (m->depth + 1 == DEPTH_MAX)
        return lbm_scan_refuse(s, LBM_E_LIMIT, "lists are nested more than %d deep", DEPTH_MAX);
    if (in == TOP && strcasecmp(key, "graph") == 0) {
        to = GRAPH;
        if (m->n_graphs++ > 0)
            return lbm_scan_refuse(s, LBM_E_UNSUPPORTED, "a second graph: keep one graph in a file");
    } else if (in == GRAPH && strcasecmp(key, "node") == 0) {
        to = NODE;
        struct lbm_item item = {.work = 1};
        m->has_id = m->has_label = 0;
        if (m->items.at.n >= LBM_VERTICES_MAX)
            return lbm_scan_refuse(s, LBM_E_LIMIT, "more than %" PRIu32 " nodes", LBM_VERTICES_MAX);
        if (lbm_vec_push(&m->items.at, item) != LBM_OK)
            return no_memory(s);
    } else if (in == GRAPH && strcasecmp(key, "edge") == 0) {
        to = EDGE;
        m->has_source = m->has_target = 0;
        m->edge_weight = 1;
    } else if (in == NODE && strcasecmp(key, "graphics") == 0) {
        to = GRAPHICS;
    }
    if (to == NODE || to == EDGE)
        m->begun = s->line;
    m->place[++m->depth] = to;
    return LBM_OK;
}

static enum lbm_err
close_list(struct gml *m, struct lbm_scan *s)
{
    enum place place = m->place[m->depth];
    if (m->depth == 0)
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "a ] too many");
    m->depth--;
    if (place == NODE && !m->has_id)
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "a node needs an id");
    if (place != EDGE)
        return LBM_OK;
    if (!m->has_source || !m->has_target)
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "an edge needs a source and a target");
    if (lbm_names_add(&m->ends, m->source, strlen(m->source)) != LBM_OK ||
        lbm_names_add(&m->ends, m->target, strlen(m->target)) != LBM_OK ||
        lbm_vec_push(&m->weight, m->edge_weight) != LBM_OK || lbm_vec_push(&m->line, m->begun) != LBM_OK)
        return no_memory(s);
    return LBM_OK;
}

static enum lbm_err
read_pair(struct gml *m, struct lbm_scan *s)
{
    char key[KEY_MAX];
    const char *value = NULL;
    size_t len = 0;
    if (*s->at == ']') {
        s->at++;
        return close_list(m, s);
    }
    enum lbm_err err = read_key(s, key);
    if (err == LBM_OK && !skip(s) && *s->at == '[') {
        s->at++;
        return open_list(m, s, key);
    }
    if (err == LBM_OK)
        err = read_value(s, &value, &len);
    if (err != LBM_OK)
        return err;
    switch (m->place[m->depth]) {
    case NODE:
        return set_node(m, s, key, value, len);
    case GRAPHICS:
        return set_graphics(m, s, key, value, len);
    case EDGE:
        return set_edge(m, s, key, value, len);
    default:
        return LBM_OK;
    }
}

/* Resolve the ends of the edges. */
static enum lbm_err
link_nodes(struct gml *m, const struct lbm_scan *s)
{
    size_t n = m->items.at.n;
    struct lbm_labels labels = lbm_names_labels(&m->ids), ends = lbm_names_labels(&m->ends);
    struct lbm_name_entry *sorted = lbm_names_sort(&m->ids);
    enum lbm_err err = sorted != NULL ? LBM_OK : no_memory(s);
    char shown[LBM_LABEL_BYTES];
    for (size_t i = 1; i < n && err == LBM_OK; i++)
        if (strcmp(sorted[i - 1].name, sorted[i].name) == 0) {
            lbm_label_show(&labels, sorted[i].v, shown);
            err = lbm_diag_set(s->diag, LBM_E_SYNTAX, s->name, 0, "two nodes have the id %s", shown);
        }
    m->items.list.labels = labels;
    for (size_t e = 0; e < m->weight.n && err == LBM_OK; e++) {
        struct lbm_scan at = *s;
        uint32_t end[2];
        at.line = m->line.at[e];
        for (int i = 0; i < 2 && err == LBM_OK; i++) {
            end[i] = lbm_names_find(sorted, n, m->ends.text.at + m->ends.at.at[2 * e + (size_t)i]);
            if (end[i] != LBM_NONE)
                continue;
            lbm_label_show(&ends, (uint32_t)(2 * e) + (uint32_t)i, shown);
            err = lbm_scan_refuse(&at, LBM_E_SYNTAX, "there is no node with the id %s", shown);
        }
        if (err == LBM_OK)
            err = lbm_edge_list_add(&m->items.list, &at, end[0], end[1], m->weight.at[e]);
    }
    free(sorted);
    return err;
}

/* Labels are the names if all nodes have one and they differ; else ids are. */
static void
choose_names(struct gml *m, const struct lbm_scan *s)
{
    size_t n = m->items.at.n;
    int distinct = m->labels == n && n > 0;
    struct lbm_name_entry *sorted = distinct ? lbm_names_sort(&m->items.names) : NULL;
    for (size_t i = 1; i < n && sorted != NULL && distinct; i++)
        distinct = strcmp(sorted[i - 1].name, sorted[i].name) != 0;
    free(sorted);
    if (distinct)
        return;
    if (m->labels > 0)
        lbm_reading_remark(
            s->reading, "labels of nodes are not kept, because some are missing or equal; ids are the names");
    struct lbm_names labels = m->items.names;
    m->items.names = m->ids;
    m->ids = labels;
}

enum lbm_err
lbm_read_gml(struct lbm_scan *s, struct lbm_graph *out)
{
    struct gml m = {0};
    enum lbm_err err = LBM_OK;
    while (err == LBM_OK && !skip(s))
        err = read_pair(&m, s);
    if (err == LBM_OK && m.depth > 0)
        err = lbm_scan_refuse(s, LBM_E_SYNTAX, "the file ends inside a list: a ] is missing");
    if (err == LBM_OK && m.n_graphs == 0)
        err = lbm_scan_refuse(s, LBM_E_SYNTAX, "there is no graph [ ... ]");
    if (err == LBM_OK)
        err = link_nodes(&m, s);
    if (err == LBM_OK) {
        choose_names(&m, s);
        m.items.list.labels = lbm_names_labels(&m.items.names);
        err = lbm_items_build(&m.items, s, out);
    }
    if (err == LBM_OK && m.values > 0)
        lbm_reading_remark(s->reading, "\"value\" of edges is not read: an edge weight is called \"weight\"");
    lbm_items_free(&m.items);
    lbm_names_free(&m.ids);
    lbm_names_free(&m.ends);
    lbm_vec_free(&m.weight);
    lbm_vec_free(&m.line);
    return err;
}
