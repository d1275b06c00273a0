/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random geometric graph: points nearer than a radius are linked; components that are left over are bridged
 * to their nearest neighbours, so that the guest is connected. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "graph/generators.h"

static const double PI = 3.14159265358979323846;
static const double RGG_DEGREE = 9; /* mean degree away from the border; leaves few components to bridge */

static double
distance2(const struct lbm_point_grid *grid, uint32_t u, uint32_t v)
{
    double dx = grid->position[2 * (size_t)u] - grid->position[2 * (size_t)v];
    double dy = grid->position[2 * (size_t)u + 1] - grid->position[2 * (size_t)v + 1];
    return dx * dx + dy * dy;
}

/* Call visit for every point of the square ring of cells `ring` cells away from the cell of v.
 * Returns 0 if no cell of that ring is in the grid. */
typedef void visitor(void *arg, uint32_t v, uint32_t u);

static int
visit_ring(const struct lbm_point_grid *grid, uint32_t v, int64_t ring, visitor *visit, void *arg)
{
    int64_t side = grid->side, inside = 0;
    int64_t cell = lbm_points_cell(grid, grid->position[2 * (size_t)v], grid->position[2 * (size_t)v + 1]);
    int64_t column = cell % side, row = cell / side;
    for (int64_t r = row - ring; r <= row + ring; r++) {
        int64_t step = r == row - ring || r == row + ring || ring == 0 ? 1 : 2 * ring;
        for (int64_t c = column - ring; c <= column + ring; c += step) {
            if (r < 0 || r >= side || c < 0 || c >= side)
                continue;
            inside = 1;
            for (uint32_t u = grid->first[r * side + c]; u < grid->first[r * side + c + 1]; u++)
                visit(arg, v, u);
        }
    }
    return (int)inside;
}

/* The shortest edge that leaves a component. */
struct bridge {
    uint32_t from, to;
    double length2;
};

struct rgg {
    struct lbm_point_grid grid;
    uint32_t n;
    double radius2;
    struct lbm_edge_vec list;
    uint32_t *parent;      /* [n] union-find forest; a root is the least vertex of its component */
    uint32_t *size;        /* [n] vertices of the component of a root */
    struct bridge *bridge; /* [n] shortest found so far from the component of a root */
    enum lbm_err err;
};

static uint32_t
find_root(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

static void
link_points(struct rgg *rgg, uint32_t u, uint32_t v)
{
    uint32_t a = find_root(rgg->parent, u), b = find_root(rgg->parent, v);
    if (lbm_vec_push(&rgg->list.edges, ((struct lbm_edge){u, v, 1})) != LBM_OK)
        rgg->err = LBM_E_NOMEM;
    rgg->parent[a > b ? a : b] = a > b ? b : a;
}

static void
link_near(void *arg, uint32_t v, uint32_t u)
{
    struct rgg *rgg = arg;
    if (u > v && distance2(&rgg->grid, u, v) <= rgg->radius2)
        link_points(rgg, u, v);
}

static void
find_bridge(void *arg, uint32_t v, uint32_t u)
{
    struct rgg *rgg = arg;
    uint32_t root = find_root(rgg->parent, v);
    double length2 = distance2(&rgg->grid, u, v);
    if (length2 < rgg->bridge[root].length2 && find_root(rgg->parent, u) != root)
        rgg->bridge[root] = (struct bridge){v, u, length2};
}

/* Look for a bridge from v to another component, ring by ring; a ring `ring` is at least ring - 1 cells away.
 */
static void
search_from(struct rgg *rgg, uint32_t v)
{
    const struct bridge *found = &rgg->bridge[find_root(rgg->parent, v)];
    for (int64_t ring = 0;; ring++) {
        double nearest = (double)(ring - 1) / rgg->grid.side;
        if ((ring > 1 && nearest * nearest > found->length2) ||
            !visit_ring(&rgg->grid, v, ring, find_bridge, rgg))
            return;
    }
}

/* Count the vertices of each component and forget the bridges. Returns the root of the largest. */
static uint32_t
survey(struct rgg *rgg, uint32_t *components)
{
    uint32_t largest = 0;
    *components = 0;
    for (uint32_t v = 0; v < rgg->n; v++) {
        rgg->size[v] = 0;
        rgg->bridge[v].length2 = DBL_MAX;
    }
    for (uint32_t v = 0; v < rgg->n; v++) {
        uint32_t root = find_root(rgg->parent, v);
        *components += root == v;
        rgg->size[root]++;
        if (rgg->size[root] > rgg->size[largest])
            largest = root;
    }
    return largest;
}

/* Boruvka's rounds: every component but the largest takes its shortest bridge, until one is left. */
static void
bridge_components(struct rgg *rgg)
{
    uint32_t components, largest;
    while (largest = survey(rgg, &components), components > 1) {
        for (uint32_t v = 0; v < rgg->n; v++)
            if (find_root(rgg->parent, v) != largest)
                search_from(rgg, v);
        for (uint32_t root = 0; root < rgg->n; root++) {
            const struct bridge *bridge = &rgg->bridge[root];
            if (bridge->length2 < DBL_MAX &&
                find_root(rgg->parent, bridge->from) != find_root(rgg->parent, bridge->to))
                link_points(rgg, bridge->from, bridge->to);
        }
    }
}

static enum lbm_err
link_all(struct rgg *rgg, struct lbm_graph *out)
{
    struct lbm_graph_fault fault;
    for (uint32_t v = 0; v < rgg->n; v++)
        rgg->parent[v] = v;
    for (uint32_t v = 0; v < rgg->n; v++)
        for (int64_t ring = 0; ring <= 1; ring++)
            visit_ring(&rgg->grid, v, ring, link_near, rgg);
    bridge_components(rgg);
    if (rgg->err != LBM_OK)
        return rgg->err;
    return lbm_edges_build(rgg->n, rgg->list.edges.at, rgg->list.edges.n, LBM_MERGE_KEEP, out, &fault);
}

enum lbm_err
lbm_generate_rgg(struct lbm_recipe *recipe, struct lbm_graph *out)
{
    struct rgg rgg = {.n = recipe->n, .radius2 = RGG_DEGREE / (PI * recipe->n)};
    double cells = floor(1 / sqrt(rgg.radius2)); /* a cell is at least a radius wide: two rings hold all */
    enum lbm_err err = lbm_points_draw(rgg.n, cells > 1 ? (uint32_t)cells : 1, &recipe->rng, &rgg.grid);
    rgg.parent = lbm_alloc(rgg.n, sizeof *rgg.parent);
    rgg.size = lbm_alloc(rgg.n, sizeof *rgg.size);
    rgg.bridge = lbm_alloc(rgg.n, sizeof *rgg.bridge);
    if (rgg.parent == NULL || rgg.size == NULL || rgg.bridge == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK)
        err = link_all(&rgg, out);
    if (err == LBM_OK) {
        out->position = rgg.grid.position;
        rgg.grid.position = NULL;
    }
    free(rgg.parent);
    free(rgg.size);
    free(rgg.bridge);
    lbm_vec_free(&rgg.list.edges);
    lbm_points_free(&rgg.grid);
    return err == LBM_OK ? LBM_OK : lbm_generate_no_memory(recipe);
}
