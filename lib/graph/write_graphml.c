/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "graph/writers.h"

/* Declare the keys that this graph uses. */
static void
put_keys(const struct lbm_graph *g, struct lbm_buf *out)
{
    const struct {
        int used;
        const char *id, *domain, *name, *type;
    } keys[] = {
        {g->work != NULL, "w", "node", "weight", "int"},    {g->position != NULL, "x", "node", "x", "double"},
        {g->position != NULL, "y", "node", "y", "double"},  {g->pin != NULL, "h", "node", "host", "int"},
        {g->pin != NULL, "p", "node", "pinned", "boolean"}, {g->weight != NULL, "c", "edge", "weight", "int"},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].used)
            lbm_buf_printf(out, " <key id=\"%s\" for=\"%s\" attr.name=\"%s\" attr.type=\"%s\"/>\n",
                           keys[i].id, keys[i].domain, keys[i].name, keys[i].type);
}

void
lbm_write_escaped(struct lbm_buf *out, const char *text)
{
    static const struct {
        char c;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
    for (const char *c = text; *c != '\0'; c++) {
        const char *entity = NULL;
        for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++)
            if (entities[i].c == *c)
                entity = entities[i].entity;
        lbm_buf_put(out, entity != NULL ? entity : c, entity != NULL ? strlen(entity) : 1);
    }
}

void
lbm_write_id(struct lbm_buf *out, const struct lbm_graph *g, uint32_t v)
{
    if (g->name != NULL)
        lbm_write_escaped(out, lbm_graph_name(g, v));
    else
        lbm_buf_u64(out, v);
}

static void
put_node(const struct lbm_graph *g, uint32_t v, struct lbm_buf *out)
{
    lbm_buf_printf(out, "  <node id=\"");
    lbm_write_id(out, g, v);
    lbm_buf_printf(out, "\">");
    if (g->work != NULL)
        lbm_buf_printf(out, "<data key=\"w\">%" PRIu32 "</data>", g->work[v]);
    if (g->position != NULL)
        lbm_buf_printf(out, "<data key=\"x\">%.17g</data><data key=\"y\">%.17g</data>",
                       g->position[2 * (size_t)v], g->position[2 * (size_t)v + 1]);
    if (g->pin != NULL && g->pin[v] != LBM_NONE)
        lbm_buf_printf(out, "<data key=\"h\">%" PRIu32 "</data><data key=\"p\">true</data>", g->pin[v]);
    lbm_buf_printf(out, "</node>\n");
}

void
lbm_write_graphml(const struct lbm_graph *g, struct lbm_buf *out)
{
    lbm_buf_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n");
    put_keys(g, out);
    lbm_buf_printf(out, " <graph edgedefault=\"undirected\">\n");
    for (uint32_t v = 0; v < g->n; v++)
        put_node(g, v, out);
    for (uint32_t v = 0; v < g->n; v++) {
        for (uint64_t k = g->offset[v]; k < g->offset[v + 1]; k++) {
            if (g->target[k] < v)
                continue;
            lbm_buf_printf(out, "  <edge source=\"");
            lbm_write_id(out, g, v);
            lbm_buf_printf(out, "\" target=\"");
            lbm_write_id(out, g, g->target[k]);
            lbm_buf_printf(out, "\"");
            if (g->weight != NULL)
                lbm_buf_printf(out, "><data key=\"c\">%" PRIu32 "</data></edge>\n", g->weight[k]);
            else
                lbm_buf_printf(out, "/>\n");
        }
    }
    lbm_buf_printf(out, " </graph>\n</graphml>\n");
}
