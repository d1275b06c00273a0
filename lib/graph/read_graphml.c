/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GraphML by expat: nodes, edges and the data of both that mean something to a mapping.
 * Source: graphml.graphdrawing.org, structure and attributes layers. Elements and data of other tools are
 * skipped; what would change the meaning (hyperedges, nested graphs, entities) is refused. */
#include <expat.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "graph/graphml.h"
#include "graph/readers.h"

enum { CHUNK_BYTES = 1 << 20 };               /* expat counts bytes in int */
enum { PREFIXES_MAX = 8, PREFIX_BYTES = 32 }; /* of one namespace; more is noise */

/* Where in the document we are: inside which element. */
enum place { OUTSIDE, GRAPHML, KEY, DEFAULT, GRAPH, NODE, EDGE, NODE_DATA, EDGE_DATA };

struct reader {
    XML_Parser xml;
    struct lbm_scan scan; /* name, line and diag for refusals; expat reads the text */
    struct lbm_graphml doc;
    unsigned n_graphs;
    enum place place;
    unsigned skipped;        /* depth inside an element that means nothing to us */
    lbm_graphml_setter *set; /* of the text being read, or NULL */
    char text[LBM_GRAPHML_TEXT_MAX];
    size_t text_len;                         /* if LBM_GRAPHML_TEXT_MAX, the text is too long */
    char prefix[PREFIXES_MAX][PREFIX_BYTES]; /* that stand for the namespace of the outermost element */
    unsigned n_prefixes;
    enum lbm_err err;
};

static enum lbm_err
refuse(struct reader *r, enum lbm_err err, const char *text)
{
    return lbm_scan_refuse(&r->scan, err, "%s", text);
}

static const char *
attribute(const char **attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static enum lbm_err
open_key(struct reader *r, const char **attributes)
{
    struct lbm_graphml_declaration key = {attribute(attributes, "id"), attribute(attributes, "for"),
                                          attribute(attributes, "attr.name"),
                                          attribute(attributes, "attr.type")};
    return lbm_graphml_add_key(&r->doc, &r->scan, &key);
}

static void
begin_text(struct reader *r, lbm_graphml_setter *set)
{
    r->set = set;
    r->text_len = 0;
}

static enum lbm_err
open_default(struct reader *r, const char **attributes)
{
    (void)attributes;
    const struct lbm_graphml_key *key = &r->doc.keys[r->doc.n_keys - 1];
    begin_text(r, key->node != NULL ? key->node : key->edge);
    return LBM_OK;
}

static enum lbm_err
close_default(struct reader *r)
{
    if (r->set == NULL)
        return LBM_OK;
    r->set = NULL;
    if (r->text_len == LBM_GRAPHML_TEXT_MAX)
        return refuse(r, LBM_E_SYNTAX, "this default is too long for a number");
    struct lbm_graphml_key *key = &r->doc.keys[r->doc.n_keys - 1];
    memcpy(key->preset, r->text, r->text_len);
    key->preset[r->text_len] = '\0';
    return LBM_OK;
}

static enum lbm_err
open_graph(struct reader *r, const char **attributes)
{
    (void)attributes;
    return r->n_graphs++ == 0 ? LBM_OK
                              : refuse(r, LBM_E_UNSUPPORTED, "a second graph: keep one graph in a file");
}

static enum lbm_err
open_subgraph(struct reader *r, const char **attributes)
{
    (void)attributes;
    return refuse(r, LBM_E_UNSUPPORTED, "nested graphs are not supported: flatten them");
}

static enum lbm_err
open_hyperedge(struct reader *r, const char **attributes)
{
    (void)attributes;
    return refuse(r, LBM_E_UNSUPPORTED, "hyperedges are not supported: replace each by edges");
}

/* Keep the name of an end and return its offset. */
static size_t
keep(struct reader *r, const char *name)
{
    size_t offset = r->doc.ends.len;
    lbm_buf_put(&r->doc.ends, name, strlen(name) + 1);
    return offset;
}

static enum lbm_err
open_node(struct reader *r, const char **attributes)
{
    const char *id = attribute(attributes, "id");
    if (id == NULL)
        return refuse(r, LBM_E_SYNTAX, "a node needs an id");
    if (r->doc.nodes.n >= LBM_VERTICES_MAX)
        return lbm_scan_refuse(&r->scan, LBM_E_LIMIT, "more than %" PRIu32 " nodes", LBM_VERTICES_MAX);
    struct lbm_graphml_node node = {.line = r->scan.line, .work = 1};
    if (lbm_names_add(&r->doc.names, id, strlen(id)) != LBM_OK || lbm_vec_push(&r->doc.nodes, node) != LBM_OK)
        return refuse(r, LBM_E_NOMEM, "no memory for the nodes");
    return lbm_graphml_apply_defaults(&r->doc, &r->scan, 1);
}

static enum lbm_err
open_edge(struct reader *r, const char **attributes)
{
    const char *source = attribute(attributes, "source"), *target = attribute(attributes, "target");
    if (source == NULL || target == NULL)
        return refuse(r, LBM_E_SYNTAX, "an edge needs a source and a target");
    struct lbm_graphml_edge edge = {.line = r->scan.line, .weight = 1};
    edge.source = keep(r, source);
    edge.target = keep(r, target);
    if (r->doc.ends.failed || lbm_vec_push(&r->doc.edges, edge) != LBM_OK)
        return refuse(r, LBM_E_NOMEM, "no memory for the edges");
    return lbm_graphml_apply_defaults(&r->doc, &r->scan, 0);
}

static enum lbm_err
open_data(struct reader *r, const char **attributes)
{
    const char *id = attribute(attributes, "key");
    if (id == NULL)
        return refuse(r, LBM_E_SYNTAX, "data must name a key");
    begin_text(r, lbm_graphml_setter_of(&r->doc, id, r->place == NODE_DATA));
    return LBM_OK;
}

static enum lbm_err
close_data(struct reader *r)
{
    lbm_graphml_setter *set = r->set;
    r->set = NULL;
    if (set == NULL)
        return LBM_OK;
    if (r->text_len == LBM_GRAPHML_TEXT_MAX)
        return refuse(r, LBM_E_SYNTAX, "this value is too long for a number");
    return lbm_graphml_apply(&r->doc, &r->scan, set, r->text, r->text_len);
}

/* Which element may stand where, where that leads, and what it does. */
static const struct element {
    const char *name;
    enum place in, to;
    enum lbm_err (*open)(struct reader *r, const char **attributes);
    enum lbm_err (*close)(struct reader *r);
} elements[] = {
    {"graphml", OUTSIDE, GRAPHML, NULL, NULL},
    {"key", GRAPHML, KEY, open_key, NULL},
    {"default", KEY, DEFAULT, open_default, close_default},
    {"graph", GRAPHML, GRAPH, open_graph, NULL},
    {"node", GRAPH, NODE, open_node, NULL},
    {"edge", GRAPH, EDGE, open_edge, NULL},
    {"data", NODE, NODE_DATA, open_data, close_data},
    {"data", EDGE, EDGE_DATA, open_data, close_data},
    {"graph", NODE, GRAPH, open_subgraph, NULL},
    {"graph", EDGE, GRAPH, open_subgraph, NULL},
    {"hyperedge", GRAPH, EDGE, open_hyperedge, NULL},
};

enum { ELEMENTS = sizeof elements / sizeof elements[0] };

/* Nonzero if the element means nothing, or if the parser was stopped: expat still tells some ends then. */
static int
deaf(const struct reader *r)
{
    return r->skipped > 0 || r->err != LBM_OK;
}

static void
stop_on_error(struct reader *r, enum lbm_err err)
{
    r->err = err;
    if (err != LBM_OK)
        XML_StopParser(r->xml, XML_FALSE);
}

/* Note which prefixes stand for the namespace of the outermost element. */
static void
note_prefixes(struct reader *r, const char *name, const char **attributes)
{
    char own[PREFIX_BYTES + 8] = "xmlns";
    const char *colon = strchr(name, ':');
    if (colon != NULL)
        snprintf(own, sizeof own, "xmlns:%.*s", (int)(colon - name), name);
    const char *space = attribute(attributes, own);
    snprintf(r->prefix[r->n_prefixes++], PREFIX_BYTES, "%.*s", colon != NULL ? (int)(colon - name) : 0, name);
    for (; space != NULL && attributes[0] != NULL && r->n_prefixes < PREFIXES_MAX; attributes += 2) {
        int declares = strncmp(attributes[0], "xmlns", 5) == 0 && strcmp(attributes[1], space) == 0;
        if (declares && (attributes[0][5] == '\0' || attributes[0][5] == ':'))
            snprintf(r->prefix[r->n_prefixes++], PREFIX_BYTES, "%s",
                     attributes[0] + 5 + (attributes[0][5] == ':'));
    }
}

/* The name of an element without its prefix; NULL if that stands for another namespace. */
static const char *
local_name(const struct reader *r, const char *name)
{
    const char *colon = strchr(name, ':');
    size_t len = colon != NULL ? (size_t)(colon - name) : 0;
    for (unsigned i = 0; i < r->n_prefixes; i++)
        if (strlen(r->prefix[i]) == len && memcmp(r->prefix[i], name, len) == 0)
            return colon != NULL ? colon + 1 : name;
    return NULL;
}

static void
on_start(void *arg, const char *name, const char **attributes)
{
    struct reader *r = arg;
    if (deaf(r)) {
        r->skipped++;
        return;
    }
    r->scan.line = XML_GetCurrentLineNumber(r->xml);
    if (r->place == OUTSIDE)
        note_prefixes(r, name, attributes);
    const char *local = local_name(r, name);
    for (int i = 0; i < ELEMENTS; i++) {
        if (local == NULL || elements[i].in != r->place || strcmp(elements[i].name, local) != 0)
            continue;
        r->place = elements[i].to;
        stop_on_error(r, elements[i].open != NULL ? elements[i].open(r, attributes) : LBM_OK);
        return;
    }
    if (r->place == OUTSIDE)
        stop_on_error(r, refuse(r, LBM_E_SYNTAX, "not GraphML: the outermost element must be graphml"));
    r->skipped = 1;
}

static void
on_end(void *arg, const char *name)
{
    struct reader *r = arg;
    (void)name; /* expat has matched it with the start */
    if (deaf(r)) {
        r->skipped -= r->skipped > 0;
        return;
    }
    int i = 0;
    while (elements[i].to != r->place)
        i++;
    stop_on_error(r, elements[i].close != NULL ? elements[i].close(r) : LBM_OK);
    r->place = elements[i].in;
}

static void
on_text(void *arg, const char *text, int len)
{
    struct reader *r = arg;
    if (deaf(r) || r->set == NULL)
        return;
    size_t room = LBM_GRAPHML_TEXT_MAX - r->text_len, taken = (size_t)len < room ? (size_t)len : room;
    memcpy(r->text + r->text_len, text, taken);
    r->text_len += taken;
}

/* Entities can make a small file large, and no writer of graphs needs them. */
static void
on_entity(void *arg, const char *name, int parameter, const char *text, int len, const char *base,
          const char *system, const char *public, const char *notation)
{
    (void)name, (void)parameter, (void)text, (void)len, (void)base, (void)system, (void)public,
        (void)notation;
    struct reader *r = arg;
    r->scan.line = XML_GetCurrentLineNumber(r->xml);
    stop_on_error(r, refuse(r, LBM_E_UNSUPPORTED, "entity declarations are not supported"));
}

static enum lbm_err
parse_document(struct reader *r)
{
    XML_SetUserData(r->xml, r);
    XML_SetElementHandler(r->xml, on_start, on_end);
    XML_SetCharacterDataHandler(r->xml, on_text);
    XML_SetEntityDeclHandler(r->xml, on_entity);
    const char *at = r->scan.at;
    for (int last = 0; !last;) {
        size_t left = (size_t)(r->scan.end - at), len = left < CHUNK_BYTES ? left : CHUNK_BYTES;
        last = len == left;
        enum XML_Status status = XML_Parse(r->xml, at, (int)len, last);
        if (r->err != LBM_OK)
            return r->err;
        if (status != XML_STATUS_OK) {
            enum XML_Error error = XML_GetErrorCode(r->xml);
            r->scan.line = XML_GetCurrentLineNumber(r->xml);
            enum lbm_err err = error == XML_ERROR_NO_MEMORY ? LBM_E_NOMEM : LBM_E_SYNTAX;
            return lbm_scan_refuse(&r->scan, err, "not well-formed XML: %s", XML_ErrorString(error));
        }
        at += len;
    }
    return r->n_graphs > 0 ? LBM_OK : refuse(r, LBM_E_SYNTAX, "there is no graph element");
}

/* A text that came as UTF-16 is UTF-8 by now, whatever its declaration says. NULL: as it is declared. */
static const char *
encoding_of(const struct lbm_scan *s)
{
    static const char declaration[] = "<?xml";
    const char *end = s->at;
    while (end < s->end && *end != '>')
        end++;
    if ((size_t)(end - s->at) < sizeof declaration || memcmp(s->at, declaration, sizeof declaration - 1) != 0)
        return NULL;
    for (const char *c = s->at; end - c >= 6; c++)
        if (strncasecmp(c, "utf-16", 6) == 0)
            return "UTF-8";
    return NULL;
}

/* The names as they stand, also those that no vertex of a guest may have. */
static enum lbm_err
tell_names(const struct lbm_graphml *doc, struct lbm_buf *names)
{
    lbm_buf_put(names, doc->names.text.at, doc->names.text.len);
    return names->failed ? LBM_E_NOMEM : LBM_OK;
}

enum lbm_err
lbm_read_graphml_named(struct lbm_scan *s, struct lbm_graph *out, struct lbm_buf *names)
{
    struct reader *r = lbm_alloc(1, sizeof *r);
    enum lbm_err err = LBM_E_NOMEM;
    if (r != NULL) {
        r->scan = *s;
        r->xml = XML_ParserCreate(encoding_of(s));
    }
    if (r == NULL || r->xml == NULL)
        err = lbm_scan_refuse(s, LBM_E_NOMEM, "no memory for an XML parser");
    else
        err = parse_document(r);
    if (err == LBM_OK && names != NULL)
        err = tell_names(&r->doc, names);
    if (err == LBM_OK)
        err = lbm_graphml_build(&r->doc, s, out);
    if (err == LBM_OK)
        lbm_graphml_remark(&r->doc, s->reading);
    if (r != NULL) {
        XML_ParserFree(r->xml);
        lbm_graphml_free(&r->doc);
    }
    free(r);
    return err;
}

enum lbm_err
lbm_read_graphml(struct lbm_scan *s, struct lbm_graph *out)
{
    return lbm_read_graphml_named(s, out, NULL);
}
