/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data of nodes and edges that mean something to a mapping. */
#include <math.h>
#include <string.h>

#include "graph/graphml.h"

#include <stdio.h>
#include <strings.h>

static const struct lbm_field field_host = {"host", 0, LBM_HOSTS_MAX - 1, "hosts are numbered from 0"};

static enum lbm_err
set_real(struct lbm_scan *text, const char *what, double *number)
{
    enum lbm_err err = lbm_scan_real(text, what, number);
    return err == LBM_OK ? lbm_scan_expect_text_end(text, "", what) : err;
}

/* An integer, also if it is written as a real ("3.0"), as writers of attr.type="double" do. */
static enum lbm_err
set_integer(struct lbm_scan *text, const struct lbm_field *field, uint32_t *number)
{
    double real = 0;
    struct lbm_scan before = *text;
    enum lbm_err err = set_real(text, field->what, &real);
    if (err != LBM_OK)
        return err;
    if (floor(real) != real || real < (double)field->min || real > (double)field->max)
        return lbm_scan_bad_field(&before, field);
    *number = (uint32_t)real;
    return LBM_OK;
}

static enum lbm_err
set_weight_of(struct lbm_scan *text, const struct lbm_field *field, double *weight)
{
    enum lbm_err err = lbm_scan_weight(text, field, weight);
    return err == LBM_OK ? lbm_scan_expect_text_end(text, "", field->what) : err;
}

static struct lbm_graphml_node *
last_node(struct lbm_graphml *doc)
{
    return &doc->nodes.at[doc->nodes.n - 1];
}

static enum lbm_err
set_work(struct lbm_graphml *doc, struct lbm_scan *text)
{
    return set_weight_of(text, text->work, &last_node(doc)->work);
}

static enum lbm_err
set_weight(struct lbm_graphml *doc, struct lbm_scan *text)
{
    return set_weight_of(text, &lbm_field_weight, &doc->edges.at[doc->edges.n - 1].weight);
}

static enum lbm_err
set_x(struct lbm_graphml *doc, struct lbm_scan *text)
{
    last_node(doc)->has_x = 1;
    return set_real(text, "x", &last_node(doc)->x);
}

static enum lbm_err
set_y(struct lbm_graphml *doc, struct lbm_scan *text)
{
    last_node(doc)->has_y = 1;
    return set_real(text, "y", &last_node(doc)->y);
}

static enum lbm_err
set_host(struct lbm_graphml *doc, struct lbm_scan *text)
{
    struct lbm_scan quiet = *text;
    quiet.diag = NULL; /* without `pinned` it means nothing, whatever it says */
    last_node(doc)->has_host = set_integer(&quiet, &field_host, &last_node(doc)->host) == LBM_OK;
    return LBM_OK;
}

static enum lbm_err
set_pinned(struct lbm_graphml *doc, struct lbm_scan *text)
{
    int yes = lbm_scan_word(text, "true") || lbm_scan_word(text, "1");
    if (!yes && !lbm_scan_word(text, "false") && !lbm_scan_word(text, "0"))
        return lbm_scan_refuse(text, LBM_E_SYNTAX, "pinned must be true or false");
    last_node(doc)->pinned = (uint8_t)yes;
    return lbm_scan_expect_text_end(text, "", "pinned");
}

static const struct {
    const char *name;
    lbm_graphml_setter *node, *edge;
} meanings[] = {
    {"weight", set_work, set_weight}, {"x", set_x, NULL},           {"y", set_y, NULL},
    {"host", set_host, NULL},         {"pinned", set_pinned, NULL},
};

/* The place of the key of this id for nodes or for edges, or n_keys. */
static unsigned
find_key(const struct lbm_graphml *doc, const char *id, int node, int edge)
{
    unsigned k = 0;
    while (k < doc->n_keys && !(strcmp(doc->keys[k].id, id) == 0 &&
                                ((node && doc->keys[k].for_node) || (edge && doc->keys[k].for_edge))))
        k++;
    return k;
}

static int
is_one_of(const char *word, const char *const *list)
{
    for (; word != NULL && *list != NULL; list++)
        if (strcasecmp(word, *list) == 0)
            return 1;
    return 0;
}

enum lbm_err
lbm_graphml_add_key(struct lbm_graphml *doc, const struct lbm_scan *scan,
                    const struct lbm_graphml_declaration *from)
{
    static const char *const numbers[] = {"int", "integer", "long", "float", "double", NULL};
    if (doc->n_keys == LBM_GRAPHML_KEYS_MAX)
        return lbm_scan_refuse(scan, LBM_E_LIMIT, "more than %d keys", LBM_GRAPHML_KEYS_MAX);
    if (from->id == NULL || strlen(from->id) >= LBM_GRAPHML_TEXT_MAX)
        return lbm_scan_refuse(scan, LBM_E_SYNTAX, "a key needs an id shorter than %d bytes",
                               LBM_GRAPHML_TEXT_MAX);
    int all = from->domain == NULL || strcmp(from->domain, "all") == 0;
    int node = all || strcmp(from->domain, "node") == 0, edge = all || strcmp(from->domain, "edge") == 0;
    if (find_key(doc, from->id, node, edge) < doc->n_keys)
        return lbm_scan_refuse(scan, LBM_E_SYNTAX, "key \"%s\" is declared twice", from->id);
    if (doc->n_undeclared > 0 && strcmp(doc->undeclared, from->id) == 0)
        return lbm_scan_refuse(scan, LBM_E_SYNTAX, "key \"%s\" is declared after it is used: put keys first",
                               from->id);
    struct lbm_graphml_key *key = &doc->keys[doc->n_keys++];
    *key = (struct lbm_graphml_key){.for_node = node != 0, .for_edge = edge != 0};
    key->is_numeric = (uint8_t)is_one_of(from->type, numbers);
    memcpy(key->id, from->id, strlen(from->id) + 1);
    snprintf(key->name, sizeof key->name, "%s", from->name != NULL ? from->name : "");
    for (size_t i = 0; from->name != NULL && i < sizeof meanings / sizeof meanings[0]; i++) {
        if (strcmp(from->name, meanings[i].name) != 0)
            continue;
        key->node = node ? meanings[i].node : NULL;
        key->edge = edge ? meanings[i].edge : NULL;
    }
    return LBM_OK;
}

lbm_graphml_setter *
lbm_graphml_setter_of(struct lbm_graphml *doc, const char *id, int node)
{
    unsigned k = find_key(doc, id, node, !node);
    if (k < doc->n_keys)
        return node ? doc->keys[k].node : doc->keys[k].edge;
    k = find_key(doc, id, !node, node);
    if (k < doc->n_keys)
        doc->keys[k].is_misplaced = 1;
    else if (doc->n_undeclared++ == 0)
        snprintf(doc->undeclared, sizeof doc->undeclared, "%s", id);
    return NULL;
}

/* Nonzero if the name sounds like that of a weight. */
static int
sounds_like_weight(const char *name)
{
    static const char *const words[] = {
        "weight", "weights",  "vertex_weight", "node_weight", "edge_weight", "cost",      "costs",
        "load",   "work",     "traffic",       "bytes",       "volume",      "bandwidth", "value",
        "w",      "capacity", "size",          NULL};
    return is_one_of(name, words);
}

void
lbm_graphml_remark(const struct lbm_graphml *doc, struct lbm_reading *reading)
{
    int work = 0, weight = 0;
    for (unsigned k = 0; k < doc->n_keys; k++) {
        work |= doc->keys[k].for_node && strcmp(doc->keys[k].name, "weight") == 0;
        weight |= doc->keys[k].for_edge && strcmp(doc->keys[k].name, "weight") == 0;
    }
    for (unsigned k = 0; k < doc->n_keys; k++) {
        const struct lbm_graphml_key *key = &doc->keys[k];
        const char *where = key->for_node ? "nodes" : "edges", *there = key->for_node ? "edges" : "nodes";
        int odd = strcmp(key->name, "weight") != 0 && sounds_like_weight(key->name);
        if (key->is_misplaced)
            lbm_reading_remark(reading,
                               "data with key \"%s\" (%s) are not read from %s: it is declared for %s",
                               key->id, key->name, there, where);
        if (key->for_edge && !weight && (odd || (key->is_numeric && key->edge == NULL && !key->for_node)))
            lbm_reading_remark(
                reading, "\"%s\" of edges (key \"%s\") is not read: an edge weight is called \"weight\"",
                key->name, key->id);
        if (key->for_node && !work && odd)
            lbm_reading_remark(
                reading, "\"%s\" of nodes (key \"%s\") is not read: a vertex weight is called \"weight\"",
                key->name, key->id);
    }
    if (doc->n_undeclared > 0)
        lbm_reading_remark(reading, "%u data whose key is not declared are not read, the first of key \"%s\"",
                           doc->n_undeclared, doc->undeclared);
}

enum lbm_err
lbm_graphml_apply(struct lbm_graphml *doc, const struct lbm_scan *scan, lbm_graphml_setter *set,
                  const char *text, size_t len)
{
    struct lbm_scan value;
    lbm_scan_begin(&value, scan->name, text, len, scan->diag);
    value.reading = scan->reading;
    value.work = scan->work;
    lbm_scan_text_done(&value); /* values may stand on lines of their own */
    value.line = scan->line;
    return set(doc, &value);
}

enum lbm_err
lbm_graphml_apply_defaults(struct lbm_graphml *doc, const struct lbm_scan *scan, int node)
{
    for (unsigned k = 0; k < doc->n_keys; k++) {
        const struct lbm_graphml_key *key = &doc->keys[k];
        lbm_graphml_setter *set = node ? key->node : key->edge;
        if (set == NULL || key->preset[0] == '\0')
            continue;
        enum lbm_err err = lbm_graphml_apply(doc, scan, set, key->preset, strlen(key->preset));
        if (err != LBM_OK)
            return err;
    }
    return LBM_OK;
}
