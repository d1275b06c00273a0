/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph/graph.h"

#include <stdlib.h>

#include "base/mem.h"

uint64_t
lbm_graph_total_work(const struct lbm_graph *g)
{
    if (g->work == NULL)
        return g->n;
    uint64_t sum = 0;
    for (uint32_t v = 0; v < g->n; v++)
        sum += g->work[v];
    return sum;
}

uint32_t
lbm_graph_max_work(const struct lbm_graph *g)
{
    if (g->work == NULL)
        return g->n != 0;
    uint32_t max = 0;
    for (uint32_t v = 0; v < g->n; v++)
        max = g->work[v] > max ? g->work[v] : max;
    return max;
}

void
lbm_graph_free(struct lbm_graph *g)
{
    free(g->offset);
    free(g->target);
    free(g->weight);
    free(g->work);
    free(g->position);
    free(g->pin);
    free(g->name);
    free(g->name_text);
    *g = (struct lbm_graph){0};
}

/* Give `label` to every vertex reachable from `start`; queue [n] is scratch. Breadth first. */
static void
flood(const struct lbm_graph *g, uint32_t start, uint32_t label, uint32_t *component, uint32_t *queue)
{
    uint32_t head = 0, tail = 0;
    queue[tail++] = start;
    component[start] = label;
    while (head < tail) {
        uint32_t v = queue[head++];
        for (uint64_t k = g->offset[v]; k < g->offset[v + 1]; k++) {
            uint32_t u = g->target[k];
            if (u < g->n && component[u] == LBM_NONE) { /* in a patch, ghosts have no row */
                component[u] = label;
                queue[tail++] = u;
            }
        }
    }
}

uint32_t
lbm_graph_components(const struct lbm_graph *g, uint32_t *component)
{
    uint32_t *queue = lbm_alloc(g->n, sizeof *queue);
    if (queue == NULL)
        return 0;
    uint32_t count = 0;
    for (uint32_t v = 0; v < g->n; v++)
        component[v] = LBM_NONE;
    for (uint32_t v = 0; v < g->n; v++)
        if (component[v] == LBM_NONE)
            flood(g, v, count++, component, queue);
    free(queue);
    return count;
}
