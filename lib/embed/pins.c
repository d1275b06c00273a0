/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pins of a planar guest: a planar embedding from libplanarity, its longest face, spread over the perimeter
 * of the unit square (HEI97 figs 1 and 2: extremal vertices, properly ordered).
 * Owns: every call of libplanarity, whose macros work on a variable named as they like. */
#include <planarity/graph.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/mutants.h"
#include "embed/embed.h"

/* libplanarity counts arcs in int and its stack takes two entries for each. */
enum { DIRECTIONS_MAX = INT32_MAX / 4 };

/* ---- the plane -------------------------------------------------------------------------------------- */

/* The guest as libplanarity's graph; NULL if memory is short. */
static graphP
copy_graph(const struct lbm_graph *g)
{
    graphP plane = gp_New();
    if (plane == NULL)
        return NULL;
    const int first = gp_GetFirstVertex(plane);
    /* Told before its size, the capacity in arcs is taken as it is; the library's own guess is 6 n. */
    int ok = gp_EnsureArcCapacity(plane, (int)lbm_graph_directions(g)) == OK;
    if (ok && gp_InitGraph(plane, (int)g->n) != OK) {
        /* It has freed all but the graph, and gp_Free of version 3.0.2 would free a part of it again. */
        free(plane);
        return NULL;
    }
    for (uint32_t v = 0; ok && v < g->n; v++)
        for (uint64_t e = g->offset[v]; ok && e < g->offset[v + 1]; e++)
            if (v < g->target[e])
                ok = gp_AddEdge(plane, (int)v + first, 0, (int)g->target[e] + first, 0) == OK;
    if (!ok)
        gp_Free(&plane);
    return plane;
}

/* Embed the guest in the plane. Out: *out NULL if it is not planar; else freed by the caller. */
static enum lbm_err
embed_plane(const struct lbm_graph *g, graphP *out)
{
    graphP plane = copy_graph(g);
    *out = NULL;
    if (plane == NULL)
        return LBM_E_NOMEM;
    int result = gp_Embed(plane, EMBEDFLAGS_PLANAR);
    /* The embedder renumbers vertices in depth-first order; this brings back ours. */
    if (result == OK && gp_SortVertices(plane) != OK)
        result = NOTOK;
    if (result == OK)
        *out = plane;
    else
        gp_Free(&plane);
    return result == NOTOK ? LBM_E_NOMEM : LBM_OK;
}

/* Walk the face on one side of arc `start`. A vertex met again (a cut vertex) counts once.
 * In/out: walked [arcs], 1 for those met; stamp [n], `mark` for vertices met.
 * Out:    face (NULL: none): vertices in order.  Returns how many. */
static uint32_t
walk_face(graphP plane, int start, uint8_t *walked, uint32_t *stamp, uint32_t mark, uint32_t *face)
{
    const int first = gp_GetFirstVertex(plane);
    uint32_t n = 0;
    int arc = start;
    do {
        uint32_t v = (uint32_t)(gp_GetNeighbor(plane, arc) - first);
        walked[arc] = 1;
        if (stamp[v] != mark) {
            stamp[v] = mark;
            if (face != NULL)
                face[n] = v;
            n++;
        }
        arc = gp_GetNextArcCircular(plane, gp_GetTwinArc(plane, arc));
    } while (arc != start);
    return n;
}

/* The face with the most vertices. Out: face [n], *n_face of them. Errors: LBM_E_NOMEM. */
static enum lbm_err
longest_face(graphP plane, const struct lbm_graph *g, uint32_t *face, uint32_t *n_face)
{
    uint8_t *walked = lbm_alloc((size_t)gp_EdgeIndexBound(plane), sizeof *walked);
    uint32_t *stamp = lbm_alloc(g->n, sizeof *stamp), mark = 0, most = 0;
    int best = 0;
    if (walked == NULL || stamp == NULL) {
        free(walked);
        free(stamp);
        return LBM_E_NOMEM;
    }
    for (int v = gp_GetFirstVertex(plane); gp_VertexInRange(plane, v); v++)
        for (int arc = gp_GetFirstArc(plane, v); gp_IsArc(arc); arc = gp_GetNextArc(plane, arc)) {
            uint32_t n = walked[arc] ? 0 : walk_face(plane, arc, walked, stamp, ++mark, NULL);
            if (n > most) {
                most = n;
                best = arc;
            }
        }
    *n_face = most != 0 ? walk_face(plane, best, walked, stamp, ++mark, face) : 0;
    free(walked);
    free(stamp);
    return LBM_OK;
}

/* ---- the perimeter ---------------------------------------------------------------------------------- */

/* A face as a cycle with a first vertex and a sense. */
struct cycle {
    const uint32_t *vertex; /* [n] */
    uint32_t n;
    uint32_t first;
    int backward;
};

static uint32_t
vertex_at(const struct cycle *c, uint32_t i)
{
    uint32_t step = i % c->n;
    return c->vertex[(c->first + (c->backward ? c->n - step : step)) % c->n];
}

/* Find the corners of a lattice: the only vertices of degree 2, opposite sides equally long.
 * Out: corner [5] positions on the cycle, the last one n beyond the first.  Returns 0 if it is no lattice. */
static int
lattice_corners(const struct lbm_graph *g, const struct cycle *c, uint32_t corner[5])
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t v = vertex_at(c, i);
        if (g->offset[v + 1] - g->offset[v] != 2)
            continue;
        if (found == 4)
            return 0;
        corner[found++] = i;
    }
    corner[4] = corner[0] + c->n;
    return found == 4 && corner[1] - corner[0] == corner[3] - corner[2] &&
           corner[2] - corner[1] == corner[4] - corner[3];
}

/* Where the corners of the square go: to those of a lattice, else to quarters of the cycle. */
static void
choose_corners(const struct lbm_graph *g, const struct cycle *c, uint32_t corner[5])
{
    if (lattice_corners(g, c, corner))
        return;
    for (uint32_t k = 0; k <= 4; k++)
        corner[k] = (uint32_t)((uint64_t)k * c->n / 4);
}

/* Position of the lowest of the vertices at n positions. */
static uint32_t
lowest(const struct cycle *c, const uint32_t *position, uint32_t n)
{
    uint32_t best = position != NULL ? position[0] : 0;
    for (uint32_t i = 1; i < n; i++) {
        uint32_t at = position != NULL ? position[i] : i;
        best = vertex_at(c, at) < vertex_at(c, best) ? at : best;
    }
    return best;
}

/* Begin at the lowest vertex and turn to the lower one next to it, of a lattice to the lower corner, so that
 * the drawing does not depend on how the face was walked. */
static void
orient(const struct lbm_graph *g, struct cycle *c)
{
    uint32_t corner[5], before = c->n - 1, after = 1;
    if (lattice_corners(g, c, corner)) {
        c->first = lowest(c, corner, 4);
        lattice_corners(g, c, corner);
        before = corner[3];
        after = corner[1];
    } else {
        c->first = lowest(c, NULL, c->n);
    }
    c->backward = vertex_at(c, before) < vertex_at(c, after);
}

/* Point of the perimeter of the unit square: `along` [0, 1) of a side, counter-clockwise. */
static void
perimeter(uint32_t side, double along, double *x)
{
    const double point[4][2] = {{along, 0}, {1, along}, {1 - along, 1}, {0, 1 - along}};
    x[0] = point[side][0];
    x[1] = point[side][1];
}

static void
place(const struct lbm_graph *g, struct cycle *c, uint8_t *pinned, double *x)
{
    uint32_t corner[5];
    orient(g, c);
    choose_corners(g, c, corner);
    for (uint32_t side = 0; side < 4; side++) {
        uint32_t length = corner[side + 1] - corner[side];
        for (uint32_t i = 0; i < length; i++) {
            uint32_t v = vertex_at(c, corner[side] + i);
            perimeter(side, LBM_MUTANT(PIN_PERIMETER, 1.0, 0.9) * i / length, x + 2 * (size_t)v);
            pinned[v] = 1;
        }
    }
}

/* ---- the pins --------------------------------------------------------------------------------------- */

/* Whether it is worth asking for an embedding: few enough edges, and connected. */
static enum lbm_err
may_be_pinned(const struct lbm_graph *g, int *may)
{
    uint64_t directions = lbm_graph_directions(g);
    *may = 0;
    /* A planar graph has at most 3 n - 6 edges. */
    if (g->n < 4 || directions > 6 * (uint64_t)g->n - 12 || directions > DIRECTIONS_MAX ||
        g->n > DIRECTIONS_MAX)
        return LBM_OK;
    uint32_t *component = lbm_alloc(g->n, sizeof *component);
    uint32_t n_components = component != NULL ? lbm_graph_components(g, component) : 0;
    free(component);
    *may = n_components == 1;
    return n_components == 0 ? LBM_E_NOMEM : LBM_OK;
}

enum lbm_err
lbm_pin_outer_face(const struct lbm_graph *g, uint8_t *pinned, double *x, uint32_t *n_pinned)
{
    graphP plane = NULL;
    int may = 0;
    enum lbm_err err = may_be_pinned(g, &may);
    if (err == LBM_OK && may)
        err = embed_plane(g, &plane);
    uint32_t n = 0, *face = plane != NULL ? lbm_alloc(g->n, sizeof *face) : NULL;
    if (plane != NULL)
        err = face != NULL ? longest_face(plane, g, face, &n) : LBM_E_NOMEM;
    if (plane != NULL)
        gp_Free(&plane);
    if (err == LBM_OK) {
        for (uint32_t v = 0; v < g->n; v++)
            pinned[v] = 0;
        *n_pinned = n >= 4 && n < g->n ? n : 0;
        if (*n_pinned != 0)
            place(g, &(struct cycle){.vertex = face, .n = n}, pinned, x);
    }
    free(face);
    return err;
}
