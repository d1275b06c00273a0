/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of generators, their arguments, and those that need no geometry. */
#include "graph/generate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "graph/generators.h"

enum lbm_err
lbm_generate_no_memory(const struct lbm_recipe *recipe)
{
    return lbm_diag_set(recipe->diag, LBM_E_NOMEM, NULL, 0, "no memory for a graph of %" PRIu32 " vertices",
                        recipe->n);
}

/* Fill the row of lattice point (x, y, z); neighbours come out sorted. */
static void
lattice_row(const uint32_t side[3], uint32_t x, uint32_t y, uint32_t z, struct lbm_graph *g)
{
    uint32_t plane = side[0] * side[1], v = x + y * side[0] + z * plane;
    uint64_t k = g->offset[v];
    if (z > 0)
        g->target[k++] = v - plane;
    if (y > 0)
        g->target[k++] = v - side[0];
    if (x > 0)
        g->target[k++] = v - 1;
    if (x + 1 < side[0])
        g->target[k++] = v + 1;
    if (y + 1 < side[1])
        g->target[k++] = v + side[0];
    if (z + 1 < side[2])
        g->target[k++] = v + plane;
    g->offset[v + 1] = k;
    if (g->position != NULL) {
        g->position[2 * (size_t)v] = x;
        g->position[2 * (size_t)v + 1] = y;
    }
}

/* Positions are given in the plane only: there are no two coordinates that say where a point of space is. */
static enum lbm_err
generate_lattice(struct lbm_recipe *recipe, struct lbm_graph *out)
{
    const uint32_t *side = recipe->side;
    uint64_t n = recipe->n, directions = 0;
    for (int d = 0; d < 3; d++)
        directions += 2 * (n - n / side[d]);
    struct lbm_graph g = {.n = recipe->n};
    g.offset = lbm_alloc(n + 1, sizeof *g.offset);
    g.target = lbm_alloc(directions, sizeof *g.target);
    g.position = side[2] == 1 ? lbm_alloc(2 * n, sizeof *g.position) : NULL;
    if (g.offset == NULL || g.target == NULL || (g.position == NULL && side[2] == 1)) {
        lbm_graph_free(&g);
        return lbm_generate_no_memory(recipe);
    }
    for (uint32_t z = 0; z < side[2]; z++)
        for (uint32_t y = 0; y < side[1]; y++)
            for (uint32_t x = 0; x < side[0]; x++)
                lattice_row(side, x, y, z, &g);
    LBM_ASSERT(lbm_graph_directions(&g) == directions);
    *out = g;
    return LBM_OK;
}

/* Vertex v hangs on a uniform one of those before it: depth grows as log n, degrees are unequal. */
static enum lbm_err
generate_tree(struct lbm_recipe *recipe, struct lbm_graph *out)
{
    struct lbm_edge *edges = lbm_alloc(recipe->n, sizeof *edges);
    struct lbm_graph_fault fault;
    enum lbm_err err = LBM_E_NOMEM;
    if (edges != NULL) {
        for (uint32_t v = 1; v < recipe->n; v++)
            edges[v - 1] = (struct lbm_edge){lbm_rng_below(&recipe->rng, v), v, 1};
        err = lbm_edges_build(recipe->n, edges, recipe->n - 1, LBM_MERGE_KEEP, out, &fault);
        LBM_ASSERT(err != LBM_E_SYNTAX);
    }
    free(edges);
    return err == LBM_OK ? LBM_OK : lbm_generate_no_memory(recipe);
}

/* The list of generate.h names them; this says which function makes them, and how many vertices it can. */
static const struct {
    const char *name;
    lbm_generator *generate;
    int sides_max; /* extents after the colon, joined by "x" */
    uint32_t n_min, n_max;
} generators[] = {
    {"lattice", generate_lattice, 3, 1, LBM_GENERATE_VERTICES_MAX},
    {"tri", lbm_generate_tri, 1, 1, LBM_GENERATE_MESH_MAX},
    {"rgg", lbm_generate_rgg, 1, 1, LBM_GENERATE_VERTICES_MAX},
    {"airfoil", lbm_generate_airfoil, 1, 16, LBM_GENERATE_MESH_MAX},
    {"tree", generate_tree, 1, 1, LBM_GENERATE_VERTICES_MAX},
};

static const char *const forms[] = {
#define LBM_GENERATOR_FORM(name, form, text) form,
    LBM_GENERATOR_LIST(LBM_GENERATOR_FORM)
#undef LBM_GENERATOR_FORM
};

enum { GENERATORS = sizeof generators / sizeof generators[0] };
_Static_assert(GENERATORS == sizeof forms / sizeof forms[0], "every generator has a form");

static enum lbm_err
unknown(const char *spec, struct lbm_diag *diag)
{
    char known[LBM_DIAG_TEXT_MAX / 2] = "";
    for (int i = 0; i < GENERATORS; i++) {
        strcat(known, i != 0 ? ", " : "");
        strcat(known, forms[i]);
    }
    return lbm_diag_set(diag, LBM_E_SYNTAX, spec, 0, "no such graph; known are %s", known);
}

/* Read the extents "AxBxC" of a lattice, or the one number of the others. */
static enum lbm_err
read_sides(const char *text, int sides_max, struct lbm_recipe *recipe, const char *form, const char *spec)
{
    const char *at = text;
    int sides = 0;
    uint64_t n = 1;
    do {
        char *end;
        at += sides > 0;
        if (sides == sides_max || *at < '0' || *at > '9')
            return lbm_diag_set(recipe->diag, LBM_E_SYNTAX, spec, 0, "not of the form %s", form);
        unsigned long long side = strtoull(at, &end, 10);
        if (side == 0 || side > LBM_GENERATE_VERTICES_MAX || n * side > LBM_GENERATE_VERTICES_MAX)
            return lbm_diag_set(recipe->diag, LBM_E_RANGE, spec, 0,
                                "a graph has from 1 to %" PRIu32 " vertices", LBM_GENERATE_VERTICES_MAX);
        recipe->side[sides++] = (uint32_t)side;
        n *= side;
        at = end;
    } while (*at == 'x');
    if (*at != '\0' || (sides_max > 1 && sides < 2))
        return lbm_diag_set(recipe->diag, LBM_E_SYNTAX, spec, 0, "not of the form %s", form);
    recipe->n = (uint32_t)n;
    return LBM_OK;
}

enum lbm_err
lbm_graph_generate(const char *spec, uint64_t seed, struct lbm_graph *out, struct lbm_diag *diag)
{
    size_t name_len = strcspn(spec, ":");
    int i = 0;
    while (i < GENERATORS &&
           (strlen(generators[i].name) != name_len || memcmp(generators[i].name, spec, name_len) != 0))
        i++;
    if (i == GENERATORS)
        return unknown(spec, diag);
    struct lbm_recipe recipe = {.side = {1, 1, 1}, .diag = diag};
    const char *arguments = spec[name_len] == ':' ? spec + name_len + 1 : "";
    enum lbm_err err = read_sides(arguments, generators[i].sides_max, &recipe, forms[i], spec);
    if (err != LBM_OK)
        return err;
    if (recipe.n < generators[i].n_min || recipe.n > generators[i].n_max)
        return lbm_diag_set(diag, LBM_E_RANGE, spec, 0, "%s has from %" PRIu32 " to %" PRIu32 " vertices",
                            forms[i], generators[i].n_min, generators[i].n_max);
    lbm_rng_seed(&recipe.rng, seed);
    return generators[i].generate(&recipe, out);
}
