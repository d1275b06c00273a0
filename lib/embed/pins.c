/* Pins of a planar guest: a planar embedding from libplanarity, its longest face, spread over the perimeter
 * of the unit square (HEI97 figs 1 and 2: extremal vertices, properly ordered). */
#include <planarity/graph.h>
#include <stdlib.h>

#include "base/mem.h"
#include "embed/embed.h"

/* The guest as libplanarity's graph (vertices from 1), embedded in the plane; NULL if it cannot be.
 * Errors: LBM_E_NOMEM. */
static enum lbm_err
embed_plane(const struct lbm_graph *g, graphP *out)
{
    graphP plane = gp_New();
    uint64_t directions = lbm_graph_directions(g);
    int first = gp_GetFirstVertex(plane);
    *out = NULL;
    if (plane == NULL)
        return LBM_E_NOMEM;
    int ok = gp_InitGraph(plane, (int)g->n) == OK && gp_EnsureArcCapacity(plane, (int)directions) == OK;
    for (uint32_t v = 0; ok && v < g->n; v++)
        for (uint64_t e = g->offset[v]; ok && e < g->offset[v + 1]; e++)
            if (v < g->target[e])
                ok = gp_AddEdge(plane, (int)v + first, 0, (int)g->target[e] + first, 0) == OK;
    if (!ok) {
        gp_Free(&plane);
        return LBM_E_NOMEM;
    }
    int result = gp_Embed(plane, EMBEDFLAGS_PLANAR);
    if (result == OK && gp_SortVertices(plane) == OK) {
        *out = plane;
        return LBM_OK;
    }
    gp_Free(&plane);
    return result == NONEMBEDDABLE ? LBM_OK : LBM_E_NOMEM;
}

/* Walk the face to the one side of arc `start`: vertices in order into face (NULL: only count). */
static uint32_t
walk_face(graphP plane, int start, uint8_t *seen, uint32_t *face)
{
    int first = gp_GetFirstVertex(plane), arc = start;
    uint32_t n = 0;
    do {
        seen[arc] = 1;
        if (face != NULL)
            face[n] = (uint32_t)(gp_GetNeighbor(plane, arc) - first);
        n++;
        arc = gp_GetNextArcCircular(plane, gp_GetTwinArc(plane, arc));
    } while (arc != start);
    return n;
}

/* Longest face as a cycle of vertices; a vertex the walk meets again (a cut vertex) is listed once.
 * Out: *face owned by the caller. */
static enum lbm_err
longest_face(graphP plane, uint32_t n_vertices, uint64_t directions, uint32_t **face, uint32_t *n_face)
{
    size_t arcs = directions + 8;
    uint8_t *seen = lbm_alloc(arcs, 1), *listed = lbm_alloc(n_vertices, 1);
    uint32_t most = 0;
    int best = 0, first = gp_GetFirstVertex(plane);
    *face = NULL;
    *n_face = 0;
    if (seen == NULL || listed == NULL) {
        free(seen);
        free(listed);
        return LBM_E_NOMEM;
    }
    for (int v = first; v < first + (int)n_vertices; v++)
        for (int arc = gp_GetFirstArc(plane, v); gp_IsArc(arc); arc = gp_GetNextArc(plane, arc)) {
            uint32_t n = seen[arc] ? 0 : walk_face(plane, arc, seen, NULL);
            if (n > most) {
                most = n;
                best = arc;
            }
        }
    if (most != 0)
        *face = lbm_alloc(most, sizeof **face);
    if (*face != NULL) {
        uint32_t walked = walk_face(plane, best, seen, *face), kept = 0;
        for (uint32_t i = 0; i < walked; i++) {
            if (!listed[(*face)[i]])
                (*face)[kept++] = (*face)[i];
            listed[(*face)[kept != 0 ? kept - 1 : 0]] = 1;
        }
        *n_face = kept;
    }
    free(seen);
    free(listed);
    return most != 0 && *face == NULL ? LBM_E_NOMEM : LBM_OK;
}

/* Point of the perimeter of the unit square at t in [0, 4), corners at whole numbers. */
static void
perimeter(double t, double *x)
{
    double s = t < 1 ? t : t < 2 ? t - 1 : t < 3 ? 3 - t : 4 - t;
    x[0] = t < 1 ? s : t < 2 ? 1 : t < 3 ? s : 0;
    x[1] = t < 1 ? 0 : t < 2 ? s : t < 3 ? 1 : s;
}

/* Where the four corners of the square go on the face: its four vertices of degree 2 if there are just
 * four, as on a lattice; else quarters of its length. */
static void
choose_corners(const struct lbm_graph *g, const uint32_t *face, uint32_t n, uint32_t corner[5])
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++)
        if (g->offset[face[i] + 1] - g->offset[face[i]] == 2) {
            if (found < 4)
                corner[found] = i;
            found++;
        }
    for (uint32_t k = 0; found != 4 && k < 4; k++)
        corner[k] = (uint32_t)((uint64_t)k * n / 4);
    corner[4] = corner[0] + n;
}

enum lbm_err
lbm_pin_outer_face(const struct lbm_graph *g, uint8_t *pinned, double *x, uint32_t *n_pinned)
{
    graphP plane = NULL;
    uint32_t *face = NULL, n = 0, corner[5];
    uint64_t directions = lbm_graph_directions(g);
    *n_pinned = 0;
    for (uint32_t v = 0; v < g->n; v++)
        pinned[v] = 0;
    /* A planar graph has at most 3n - 6 edges; libplanarity counts in int. */
    if (g->n < 4 || directions > 6 * (uint64_t)g->n - 12 || directions > INT32_MAX / 2)
        return LBM_OK;
    uint32_t *component = lbm_alloc(g->n, sizeof *component);
    if (component == NULL)
        return LBM_E_NOMEM;
    uint32_t n_components = lbm_graph_components(g, component);
    free(component);
    if (n_components != 1)
        return n_components == 0 ? LBM_E_NOMEM : LBM_OK;
    enum lbm_err err = embed_plane(g, &plane);
    if (err == LBM_OK && plane != NULL)
        err = longest_face(plane, g->n, directions, &face, &n);
    if (err == LBM_OK && n >= 4) {
        choose_corners(g, face, n, corner);
        for (uint32_t k = 0; k < 4; k++)
            for (uint32_t i = corner[k]; i < corner[k + 1]; i++) {
                uint32_t v = face[i % n];
                perimeter(k + (double)(i - corner[k]) / (corner[k + 1] - corner[k]), &x[2 * (size_t)v]);
                pinned[v] = 1;
            }
        *n_pinned = n;
    }
    free(face);
    if (plane != NULL)
        gp_Free(&plane);
    return err;
}
