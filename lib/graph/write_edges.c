/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edge lists. Vertices with names come first, each on a line, so that a reader numbers them in this order;
 * names that are numbers in ascending order need no such lines. */
#include <inttypes.h>
#include <string.h>

#include "graph/writers.h"

/* The number that a name is, or -1: no leading zeros, below 2^32 - 1. */
static int64_t
number_of(const char *name)
{
    uint64_t number = 0;
    size_t len = strlen(name);
    if (len == 0 || len > 10 || (name[0] == '0' && len > 1) || name[strspn(name, "0123456789")] != '\0')
        return -1;
    for (const char *c = name; *c != '\0'; c++)
        number = number * 10 + (uint64_t)(*c - '0');
    return number < UINT32_MAX ? (int64_t)number : -1;
}

/* Nonzero if readers number these names as they are numbered here. */
static int
are_ascending(const struct lbm_graph *g)
{
    int64_t last = -1;
    for (uint32_t v = 0; v < g->n; v++) {
        int64_t number = number_of(lbm_graph_name(g, v));
        if (number <= last)
            return 0;
        last = number;
    }
    return 1;
}

/* Names are put in quotes unless they are plain words. */
static void
put_vertex(struct lbm_buf *out, const struct lbm_graph *g, uint32_t v, int quote)
{
    const char *name = lbm_graph_name(g, v);
    if (name == NULL) {
        lbm_buf_u64(out, v);
        return;
    }
    int plain = !quote || (name[strcspn(name, " ,;#%")] == '\0' && strchr("0123456789+-.", name[0]) == NULL);
    lbm_buf_put(out, "\"", !plain);
    lbm_buf_put(out, name, strlen(name));
    lbm_buf_put(out, "\"", !plain);
}

void
lbm_write_edges(const struct lbm_graph *g, struct lbm_buf *out)
{
    int named = g->name != NULL && lbm_write_quoted_names(g);
    struct lbm_graph plain = *g;
    if (!named)
        plain.name = NULL;
    int quote = named && !are_ascending(g);
    lbm_buf_printf(out, "# %" PRIu32 " vertices, %" PRIu64 " edges\n", g->n, lbm_graph_directions(g) / 2);
    for (uint32_t v = 0; v < g->n; v++) {
        if (!quote && g->offset[v] != g->offset[v + 1])
            continue;
        put_vertex(out, &plain, v, quote);
        lbm_buf_put(out, "\n", 1);
    }
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t k = g->offset[v]; k < g->offset[v + 1]; k++) {
            if (g->target[k] < v)
                continue;
            put_vertex(out, &plain, v, quote);
            lbm_buf_put(out, "\t", 1);
            put_vertex(out, &plain, g->target[k], quote);
            if (g->weight != NULL) {
                lbm_buf_put(out, "\t", 1);
                lbm_buf_u64(out, g->weight[k]);
            }
            lbm_buf_put(out, "\n", 1);
        }
}
