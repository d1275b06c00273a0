/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writers of formats that list vertices and edges apart, or all values: GML, Pajek, DIMACS, dense matrices.
 */
#include <inttypes.h>
#include <string.h>

#include "graph/writers.h"

enum { DENSE_MAX = 20000 }; /* vertices of a dense matrix: 800 MB of text */

/* A name with the quotes and ampersands that GML reserves replaced. */
static void
put_gml_name(struct lbm_buf *out, const char *name)
{
    for (; *name != '\0'; name++)
        if (*name == '"')
            lbm_buf_put(out, "&quot;", 6);
        else if (*name == '&')
            lbm_buf_put(out, "&amp;", 5);
        else
            lbm_buf_put(out, name, 1);
}

void
lbm_write_gml(const struct lbm_graph *g, struct lbm_buf *out)
{
    lbm_buf_printf(out, "graph [\n  directed 0\n");
    for (uint32_t v = 0; v < g->n; v++) {
        lbm_buf_printf(out, "  node [ id %" PRIu32, v);
        if (g->name != NULL) {
            lbm_buf_printf(out, " label \"");
            put_gml_name(out, lbm_graph_name(g, v));
            lbm_buf_printf(out, "\"");
        }
        if (g->work != NULL)
            lbm_buf_printf(out, " weight %" PRIu32, g->work[v]);
        if (g->position != NULL)
            lbm_buf_printf(out, " graphics [ x %.17g y %.17g ]", g->position[2 * (size_t)v],
                           g->position[2 * (size_t)v + 1]);
        lbm_buf_printf(out, " ]\n");
    }
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t k = g->offset[v]; k < g->offset[v + 1]; k++) {
            if (g->target[k] < v)
                continue;
            lbm_buf_printf(out, "  edge [ source %" PRIu32 " target %" PRIu32, v, g->target[k]);
            if (g->weight != NULL)
                lbm_buf_printf(out, " weight %" PRIu32, g->weight[k]);
            lbm_buf_printf(out, " ]\n");
        }
    lbm_buf_printf(out, "]\n");
}

int
lbm_write_quoted_names(const struct lbm_graph *g)
{
    for (uint32_t v = 0; v < g->n; v++)
        if (strchr(lbm_graph_name(g, v), '"') != NULL)
            return 0;
    return 1;
}

void
lbm_write_pajek(const struct lbm_graph *g, struct lbm_buf *out)
{
    int named = g->name != NULL && lbm_write_quoted_names(g);
    lbm_buf_printf(out, "*Vertices %" PRIu32 "\n", g->n);
    for (uint32_t v = 0; v < g->n && (named || g->position != NULL); v++) {
        if (named)
            lbm_buf_printf(out, "%" PRIu32 " \"%s\"", v + 1, lbm_graph_name(g, v));
        else /* a label that readers know as the number of the vertex in lbmap */
            lbm_buf_printf(out, "%" PRIu32 " \"%" PRIu32 "\"", v + 1, v);
        if (g->position != NULL)
            lbm_buf_printf(out, " %.17g %.17g", g->position[2 * (size_t)v], g->position[2 * (size_t)v + 1]);
        lbm_buf_put(out, "\n", 1);
    }
    lbm_buf_printf(out, "*Edges\n");
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t k = g->offset[v]; k < g->offset[v + 1]; k++) {
            if (g->target[k] < v)
                continue;
            lbm_buf_printf(out, "%" PRIu32 " %" PRIu32, v + 1, g->target[k] + 1);
            if (g->weight != NULL)
                lbm_buf_printf(out, " %" PRIu32, g->weight[k]);
            lbm_buf_put(out, "\n", 1);
        }
}

void
lbm_write_dimacs(const struct lbm_graph *g, struct lbm_buf *out)
{
    lbm_buf_printf(out, "p %s %" PRIu32 " %" PRIu64 "\n", g->weight != NULL ? "sp" : "edge", g->n,
                   lbm_graph_directions(g) / (g->weight != NULL ? 1 : 2));
    for (uint32_t v = 0; v < g->n && g->work != NULL; v++)
        lbm_buf_printf(out, "n %" PRIu32 " %" PRIu32 "\n", v + 1, g->work[v]);
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t k = g->offset[v]; k < g->offset[v + 1]; k++) {
            if (g->weight != NULL) /* arcs, so both directions */
                lbm_buf_printf(out, "a %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", v + 1, g->target[k] + 1,
                               g->weight[k]);
            else if (g->target[k] > v)
                lbm_buf_printf(out, "e %" PRIu32 " %" PRIu32 "\n", v + 1, g->target[k] + 1);
        }
}

int
lbm_write_csv_fits(const struct lbm_graph *g)
{
    return g->n <= DENSE_MAX;
}

void
lbm_write_csv(const struct lbm_graph *g, struct lbm_buf *out)
{
    int named = g->name != NULL && lbm_write_quoted_names(g);
    if (g->n == 0)
        lbm_buf_put(out, "\n", 1);
    if (named)
        lbm_buf_printf(out, "vertex");
    for (uint32_t v = 0; v < g->n && named; v++)
        lbm_buf_printf(out, ",\"%s\"", lbm_graph_name(g, v));
    if (named)
        lbm_buf_put(out, "\n", 1);
    for (uint32_t v = 0; v < g->n; v++) {
        if (named)
            lbm_buf_printf(out, "\"%s\",", lbm_graph_name(g, v));
        uint64_t k = g->offset[v];
        for (uint32_t u = 0; u < g->n; u++) {
            if (u > 0)
                lbm_buf_put(out, ",", 1);
            int linked = k < g->offset[v + 1] && g->target[k] == u;
            lbm_buf_u64(out, linked ? lbm_graph_weight(g, k) : 0);
            k += linked;
        }
        lbm_buf_put(out, "\n", 1);
    }
}
