/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An unstructured mesh around a NACA 0012 airfoil of chord 1, from its surface to a far field five chords
 * away. Points lie on curves of constant distance from the foil, spaced in proportion to that distance, are
 * shaken, and triangulated; edges through the foil are dropped.
 * Source: thickness of the four-digit series, Jacobs, Ward & Pinkerton, NACA report 460 (1933), closed at
 * the trailing edge. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "graph/generators.h"

enum { CORNERS = 1024, RING_POINTS_MIN = 4, BISECTIONS = 60 };

static const double PI = 3.14159265358979323846;
static const double THICKNESS = 0.12;
static const double FAR_FIELD = 5;
static const double NEAR = 0.05; /* within this distance of the foil the spacing hardly grows */
static const double SHAKE = 0.2; /* of the spacing; less than half, so that rings do not mix */

/* The foil as a convex polygon, counterclockwise from the trailing edge. Corner i is followed by edge i. The
 * curve at distance d from it is made of edges moved outward and arcs around corners. */
struct foil {
    double x[CORNERS], y[CORNERS];
    double normal[CORNERS]; /* angle of the outward normal of edge i */
    double length[CORNERS]; /* of the edges before corner i */
    double turn[CORNERS];   /* of the corners before corner i */
    double perimeter;
};

/* Points at one distance from the foil. */
struct ring {
    double distance;
    double spacing;
    uint32_t points;
};

static void
make_foil(struct foil *foil)
{
    for (int i = 0; i < CORNERS; i++) {
        double x = 0.5 + 0.5 * cos(2 * PI * i / CORNERS); /* dense at both ends */
        double y =
            5 * THICKNESS *
            (0.2969 * sqrt(x) - 0.1260 * x - 0.3516 * x * x + 0.2843 * x * x * x - 0.1036 * x * x * x * x);
        foil->x[i] = x;
        foil->y[i] = i == 0 || i == CORNERS / 2 ? 0 : i < CORNERS / 2 ? y : -y;
    }
    double length = 0;
    for (int i = 0; i < CORNERS; i++) {
        int next = (i + 1) % CORNERS;
        double dx = foil->x[next] - foil->x[i], dy = foil->y[next] - foil->y[i];
        foil->length[i] = length;
        foil->normal[i] = atan2(-dx, dy);
        length += hypot(dx, dy);
    }
    foil->perimeter = length;
    double turn = 0;
    for (int i = 0; i < CORNERS; i++) {
        foil->turn[i] = turn;
        turn += remainder(foil->normal[i] - foil->normal[(i + CORNERS - 1) % CORNERS], 2 * PI);
    }
}

/* The point at arc length s, from 0 to perimeter + 2 pi distance, of the curve at a distance. */
static void
foil_point(const struct foil *foil, double distance, double s, double point[2])
{
    int corner = 0, beyond = CORNERS;
    while (beyond - corner > 1) {
        int middle = (corner + beyond) / 2;
        if (foil->length[middle] + distance * foil->turn[middle] <= s)
            corner = middle;
        else
            beyond = middle;
    }
    double left = s - foil->length[corner] - distance * foil->turn[corner];
    double before = foil->normal[(corner + CORNERS - 1) % CORNERS];
    double arc = distance * remainder(foil->normal[corner] - before, 2 * PI);
    double normal = left < arc ? before + left / distance : foil->normal[corner];
    double along = left < arc ? 0 : left - arc;
    point[0] = foil->x[corner] + distance * cos(normal) - along * sin(normal);
    point[1] = foil->y[corner] + distance * sin(normal) + along * cos(normal);
}

/* The ring at a distance; spacing grows with the distance, in proportion to `fineness`. */
static struct ring
ring_at(const struct foil *foil, double fineness, double distance)
{
    struct ring ring = {.distance = distance, .spacing = fineness * (NEAR + distance)};
    double points = round((foil->perimeter + 2 * PI * distance) / ring.spacing);
    ring.points = points > RING_POINTS_MIN ? (uint32_t)points : RING_POINTS_MIN;
    return ring;
}

/* Distance of the next ring outward: rows of nearly equilateral triangles. */
static double
next_distance(const struct ring *ring)
{
    double next = ring->distance + ring->spacing * sqrt(0.75);
    return next + ring->spacing / 2 < FAR_FIELD ? next : FAR_FIELD;
}

static uint64_t
count_points(const struct foil *foil, double fineness)
{
    struct ring ring = ring_at(foil, fineness, 0);
    uint64_t points = ring.points;
    while (ring.distance < FAR_FIELD) {
        ring = ring_at(foil, fineness, next_distance(&ring));
        points += ring.points;
    }
    return points;
}

/* The fineness that gives about n points. */
static double
choose_fineness(const struct foil *foil, uint32_t n)
{
    double fine = 1e-4, coarse = 10; /* some 10^10 points, and 8 */
    for (int i = 0; i < BISECTIONS && count_points(foil, coarse) != n; i++) {
        double middle = sqrt(fine * coarse);
        if (count_points(foil, middle) > n)
            fine = middle;
        else
            coarse = middle;
    }
    return coarse;
}

/* Fill one ring. The surface is not shaken, the far field only along itself. */
static void
fill_ring(const struct foil *foil, const struct ring *ring, struct lbm_rng *rng, double *position)
{
    int surface = ring->distance <= 0, rim = ring->distance >= FAR_FIELD;
    double phase = surface ? 0 : lbm_rng_unit(rng);
    for (uint32_t i = 0; i < ring->points; i++) {
        double turn = i + phase, distance = ring->distance;
        if (!surface)
            turn += SHAKE * (2 * lbm_rng_unit(rng) - 1);
        if (!surface && !rim)
            distance += SHAKE * (2 * lbm_rng_unit(rng) - 1) * ring->spacing;
        turn /= ring->points; /* a part of the way around */
        turn -= floor(turn);
        foil_point(foil, distance, turn * (foil->perimeter + 2 * PI * distance), position + 2 * (size_t)i);
    }
}

/* Out: position [2 * *n] owned by the caller; the first *surface points lie on the foil, in order. */
static double *
place_points(const struct foil *foil, struct lbm_recipe *recipe, uint32_t *n, uint32_t *surface)
{
    double fineness = choose_fineness(foil, recipe->n);
    *n = (uint32_t)count_points(foil, fineness);
    double *position = lbm_alloc(2 * (size_t)*n, sizeof *position);
    if (position == NULL)
        return NULL;
    struct ring ring = ring_at(foil, fineness, 0);
    *surface = ring.points;
    uint32_t placed = 0;
    for (;;) {
        fill_ring(foil, &ring, &recipe->rng, position + 2 * (size_t)placed);
        placed += ring.points;
        if (ring.distance >= FAR_FIELD)
            break;
        ring = ring_at(foil, fineness, next_distance(&ring));
    }
    LBM_ASSERT(placed == *n);
    return position;
}

/* Twice the signed area of the triangle (a, b, c): positive if c lies to the left of a to b. */
static double
area2(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Nonzero if the edge from surface point u to w begins inside the foil: between the edges of u's neighbours.
 */
static int
starts_inside(const double *position, uint32_t surface, uint32_t u, uint32_t w)
{
    uint32_t before = (u + surface - 1) % surface, after = (u + 1) % surface;
    if (u >= surface || w == before || w == after)
        return 0;
    const double *at = position + 2 * (size_t)u, *to = position + 2 * (size_t)w;
    return area2(position + 2 * (size_t)before, at, to) > 0 &&
           area2(at, position + 2 * (size_t)after, to) > 0;
}

/* Nonzero if the edge crosses the chord, the line from the leading edge (0, 0) to the trailing edge (1, 0).
 */
static int
crosses_chord(const double *a, const double *b)
{
    if (a[1] * b[1] >= 0)
        return 0;
    double x = a[0] + (b[0] - a[0]) * a[1] / (a[1] - b[1]);
    return x > 0 && x < 1;
}

static void
drop_edges_in_foil(const double *position, uint32_t surface, struct lbm_edge_vec *list)
{
    size_t kept = 0;
    for (size_t e = 0; e < list->edges.n; e++) {
        struct lbm_edge edge = list->edges.at[e];
        if (!starts_inside(position, surface, edge.u, edge.v) &&
            !starts_inside(position, surface, edge.v, edge.u) &&
            !crosses_chord(position + 2 * (size_t)edge.u, position + 2 * (size_t)edge.v))
            list->edges.at[kept++] = edge;
    }
    list->edges.n = kept;
}

/* Number the vertices of the component of the last vertex, which lies on the rim, and drop the others: of a
 * coarse mesh, a point at the thin end of the foil may have lost all its edges.
 * In/out: position. Out: the number of vertices kept, edges renumbered. */
static uint32_t
keep_connected(const struct lbm_graph *g, uint32_t *component, double *position, struct lbm_edge_vec *list)
{
    uint32_t wanted = component[g->n - 1], kept = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        int keep = component[v] == wanted;
        component[v] = keep ? kept : LBM_NONE;
        if (keep) {
            memmove(position + 2 * (size_t)kept, position + 2 * (size_t)v, 2 * sizeof *position);
            kept++;
        }
    }
    size_t edges = 0;
    for (size_t e = 0; e < list->edges.n; e++) {
        uint32_t u = component[list->edges.at[e].u], v = component[list->edges.at[e].v];
        if (u != LBM_NONE)
            list->edges.at[edges++] = (struct lbm_edge){u, v, 1};
    }
    list->edges.n = edges;
    return kept;
}

/* Build the graph of the edges, of the one component if there are several. */
static enum lbm_err
build_connected(uint32_t n, double *position, struct lbm_edge_vec *list, struct lbm_graph *out)
{
    struct lbm_graph_fault fault;
    struct lbm_graph g;
    enum lbm_err err = lbm_edges_build(n, list->edges.at, list->edges.n, LBM_MERGE_KEEP, &g, &fault);
    if (err != LBM_OK)
        return err;
    uint32_t *component = lbm_alloc(n, sizeof *component);
    uint32_t components = component != NULL ? lbm_graph_components(&g, component) : 0;
    if (components > 1) {
        uint32_t kept = keep_connected(&g, component, position, list);
        lbm_graph_free(&g);
        err = lbm_edges_build(kept, list->edges.at, list->edges.n, LBM_MERGE_KEEP, &g, &fault);
    }
    free(component);
    if (components == 0) {
        lbm_graph_free(&g);
        return LBM_E_NOMEM;
    }
    if (err == LBM_OK)
        *out = g;
    return err;
}

enum lbm_err
lbm_generate_airfoil(struct lbm_recipe *recipe, struct lbm_graph *out)
{
    struct foil foil;
    struct lbm_edge_vec list = {0};
    uint32_t n = 0, surface = 0;
    make_foil(&foil);
    double *position = place_points(&foil, recipe, &n, &surface);
    enum lbm_err err = position != NULL ? lbm_delaunay(n, position, &list, recipe->diag) : LBM_E_NOMEM;
    if (err == LBM_OK) {
        drop_edges_in_foil(position, surface, &list);
        err = build_connected(n, position, &list, out);
    }
    if (err == LBM_E_NOMEM)
        err = lbm_generate_no_memory(recipe);
    if (err == LBM_OK) {
        out->position = position;
        position = NULL;
    }
    free(position);
    lbm_vec_free(&list.edges);
    return err;
}
