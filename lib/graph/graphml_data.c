/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data of nodes and edges that mean something to a mapping. */
#include <math.h>
#include <string.h>

#include "graph/graphml.h"

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

static struct lbm_graphml_node *
last_node(struct lbm_graphml *doc)
{
    return &doc->nodes.at[doc->nodes.n - 1];
}

static enum lbm_err
set_work(struct lbm_graphml *doc, struct lbm_scan *text)
{
    return set_integer(text, text->work, &last_node(doc)->work);
}

static enum lbm_err
set_weight(struct lbm_graphml *doc, struct lbm_scan *text)
{
    return set_integer(text, &lbm_field_weight, &doc->edges.at[doc->edges.n - 1].weight);
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

enum lbm_err
lbm_graphml_add_key(struct lbm_graphml *doc, const struct lbm_scan *scan, const char *id, const char *domain,
                    const char *name)
{
    if (doc->n_keys == LBM_GRAPHML_KEYS_MAX)
        return lbm_scan_refuse(scan, LBM_E_LIMIT, "more than %d keys", LBM_GRAPHML_KEYS_MAX);
    if (id == NULL || strlen(id) >= LBM_GRAPHML_TEXT_MAX)
        return lbm_scan_refuse(scan, LBM_E_SYNTAX, "a key needs an id shorter than %d bytes",
                               LBM_GRAPHML_TEXT_MAX);
    if (lbm_graphml_find_key(doc, id) != NULL)
        return lbm_scan_refuse(scan, LBM_E_SYNTAX, "key \"%s\" is declared twice", id);
    struct lbm_graphml_key *key = &doc->keys[doc->n_keys++];
    *key = (struct lbm_graphml_key){0};
    memcpy(key->id, id, strlen(id) + 1);
    int all = domain == NULL || strcmp(domain, "all") == 0;
    for (size_t i = 0; name != NULL && i < sizeof meanings / sizeof meanings[0]; i++) {
        if (strcmp(name, meanings[i].name) != 0)
            continue;
        key->node = all || strcmp(domain, "node") == 0 ? meanings[i].node : NULL;
        key->edge = all || strcmp(domain, "edge") == 0 ? meanings[i].edge : NULL;
    }
    return LBM_OK;
}

const struct lbm_graphml_key *
lbm_graphml_find_key(const struct lbm_graphml *doc, const char *id)
{
    for (unsigned k = 0; k < doc->n_keys; k++)
        if (strcmp(doc->keys[k].id, id) == 0)
            return &doc->keys[k];
    return NULL;
}

enum lbm_err
lbm_graphml_apply(struct lbm_graphml *doc, const struct lbm_scan *scan, lbm_graphml_setter *set,
                  const char *text, size_t len)
{
    struct lbm_scan value;
    lbm_scan_begin(&value, scan->name, text, len, scan->diag);
    lbm_scan_text_done(&value); /* values may stand on lines of their own */
    value.line = scan->line;
    value.work = scan->work;
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
