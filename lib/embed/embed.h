/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Embedding: vertices diffuse in Omega until each lies at the weighted mean of its neighbours.
 * Source: HEI97 sections 5-8, fig. 4; the diffusion kernel, pins, renormalization, starts, levels. */
#ifndef LBM_EMBED_EMBED_H
#define LBM_EMBED_EMBED_H

#include "base/rng.h"
#include "graph/graph.h"

#define LBM_ORDER_LIST(X)                                                                                    \
    X(BLOCK, "block", "random permutation of cache-sized blocks, random inside a block")                     \
    X(PERMUTATION, "permutation", "a random permutation of all vertices each sweep")                         \
    X(REPLACEMENT, "replacement", "random with replacement, as HEI97 fig. 4 prints it")                      \
    X(JACOBI, "jacobi", "all at once, from where they were before the sweep: HEI97 eq. (5)")                 \
    X(IDS, "ids", "in the order of the ids, new positions used at once")

enum lbm_order {
#define LBM_ORDER_ENUM(id, name, text) LBM_ORDER_##id,
    LBM_ORDER_LIST(LBM_ORDER_ENUM)
#undef LBM_ORDER_ENUM
        LBM_ORDER_COUNT
};

/* Where an update moves a vertex. HEI97 section 10 names the last two and prints no formula; ours are in
 * rules.c. */
#define LBM_RULE_LIST(X)                                                                                     \
    X(MEAN, "mean", "to the mean of its neighbours: HEI97 fig. 4")                                           \
    X(CIRCLES, "circles", "vertices are circles, edges measured between perimeters: HEI97 section 10")       \
    X(ANGLES, "angles", "to where its edges halve the angles next to them: HEI97 section 10")

enum lbm_diffusion_rule {
#define LBM_RULE_ENUM(id, name, text) LBM_RULE_##id,
    LBM_RULE_LIST(LBM_RULE_ENUM)
#undef LBM_RULE_ENUM
        LBM_RULE_COUNT
};

/* What a diffusion needs besides the graph. */
struct lbm_diffusion {
    unsigned m; /* dimensions of Omega, 2 or 3 */
    enum lbm_order order;
    int wrap;                     /* nonzero: Omega is the unit torus, means are taken around the vertex and
                                     results lie in [0, 1) */
    const uint8_t *pinned;        /* [n] nonzero: does not move; NULL: all move */
    enum lbm_diffusion_rule rule; /* CIRCLES without wrap; ANGLES too, with m = 2 and no ghosts */
    const double *radius;         /* [n and ghosts] of CIRCLES; else not looked at */
    double length;                /* of ANGLES: edges are placed at this length; 0: at the one they have */
};

/* Radii in proportion to the work of vertices, such that all circles (balls) together have the volume
 * `share`. Out: radius [g->n]. */
void lbm_circle_radii(const struct lbm_graph *g, unsigned m, double share, double *radius);

/* One or more sweeps: n updates each, x_v = sum c_vj x_j / sum c_vj (HEI97 fig. 4 with weights).
 * In:      g may be a patch: x has m doubles for every row and for every ghost its targets name.
 *          Ghosts, pinned and isolated vertices do not move.
 * In/out:  x [rows and ghosts * m]; rng.
 * Out:     norm (may be NULL): ||Delta||_2 = sqrt(sum_i (dx^2 + dy^2)^2) of the last sweep (HEI97 eq. 2);
 *          largest (may be NULL): the longest single displacement of the last sweep.
 *          In the order with replacement a vertex counts as often as it was drawn.
 * Errors:  LBM_E_NOMEM.  Cost: O(sweeps * directions). */
enum lbm_err lbm_diffuse(const struct lbm_graph *g, const struct lbm_diffusion *how, int sweeps, double *x,
                         struct lbm_rng *rng, double *norm, double *largest) LBM_MUST_CHECK;

/* First and second moments of weighted points: what a renormalization needs; moments of parts add. */
struct lbm_moments {
    double work;    /* sum w */
    double sum[3];  /* sum w x_k */
    double prod[6]; /* sum w x_j x_k for (0,0) (1,0) (1,1) (2,0) (2,1) (2,2) */
};

/* Add moments, or those of the rows of a graph or patch at x [n * m], weighted with their work. */
void lbm_moments_add(struct lbm_moments *to, const struct lbm_moments *from);
void lbm_moments_take(struct lbm_moments *to, const struct lbm_graph *g, unsigned m, const double *x);

/* An affine map x -> matrix (x - centre) + shift, row-major m by m. */
struct lbm_affine {
    unsigned m;
    double matrix[9];
    double centre[3];
    double shift[3];
};

void lbm_affine_identity(struct lbm_affine *a, unsigned m);
/* Map one point; out may be x. */
void lbm_affine_apply(const struct lbm_affine *a, const double *x, double *out);

/* Renormalize (HEI97 fig. 4): the map that centres, decorrelates (Gram-Schmidt, in axis order) and scales
 * so that the image has mean 1/2 and variance 1/12 on every axis, as a uniform density on the unit box has.
 * The diffusion commutes with it, so it may be applied late.
 * Errors: LBM_E_STATE if the points lie in a hyperplane, as far as rounding can tell. */
enum lbm_err lbm_moments_whiten(const struct lbm_moments *moments, unsigned m,
                                struct lbm_affine *out) LBM_MUST_CHECK;

/* Pins of a planar guest: the face with the most vertices (libplanarity) spread evenly over the perimeter
 * of the unit square; a lattice's perimeter exactly, its corners on those of the square. The lowest vertex
 * or corner comes to (0, 0), the lower one of those next to it along the first axis.
 * Out:     pinned [n] 0 or 1; x [2n] set for the pinned vertices only; *n_pinned, 0 if the guest is not
 *          planar, is disconnected, has no face with at least 4 vertices, or has all its vertices on that
 *          face (a tree, a ring): nothing would be left to diffuse.
 * Errors:  LBM_E_NOMEM.  Cost: O(n), some 200 bytes a vertex while it runs. */
enum lbm_err lbm_pin_outer_face(const struct lbm_graph *g, uint8_t *pinned, double *x,
                                uint32_t *n_pinned) LBM_MUST_CHECK;

/* Starts of HEI97 figs 6 and 7: every vertex that is not pinned at the centre, or uniform at random.
 * Without pins the centre start is blurred by 1e-3, or it would be a fixed point. */
void lbm_start_centre(uint32_t n, unsigned m, const uint8_t *pinned, double *x, struct lbm_rng *rng);
void lbm_start_random(uint32_t n, unsigned m, const uint8_t *pinned, double *x, struct lbm_rng *rng);

/* The factor by which a sweep of all vertices at once multiplies mode (i, j) of the error of a lattice of
 * side by side vertices, HEI97 (6) without the square. Pinned perimeter: the modes are products of sines and
 * i, j go from 1 to side - 2. Free: products of cosines (7) at half places, i, j from 0 to side - 1. */
double lbm_lattice_factor(uint32_t side, int pinned, uint32_t i, uint32_t j);

/* HEI97 (13) with the normalization that makes it 1 at the start: what is left of the displacement of a
 * single vertex after `iterates` of two sweeps each, in the mean over all places it may have. Cost:
 * O(side^2). */
double lbm_lattice_decay(uint32_t side, uint32_t iterates);

/* A hierarchy of coarser graphs. levels[0] is a view of the input (borrowed, not freed). */
struct lbm_levels {
    uint32_t n;              /* levels, >= 1 */
    struct lbm_graph *graph; /* [n] */
    uint32_t **parent;       /* [n - 1] parent[l][v] = vertex of level l + 1 */
};

/* Coarsen a whole graph by heavy-edge matching: in random order each vertex takes its best free neighbour,
 * rating w_e^2/(w_u w_v); what is left alone is paired two hops apart, isolated vertices with each other.
 * Until at most `target` vertices are left or a level shrinks by less than 5 %. Total work stays, and so does
 * the cut of every partition of a level, unless an edge weight would pass LBM_WEIGHT_MAX: it stays there.
 * In: part [n] or NULL: only vertices of equal part are matched (V-cycles need no messages).
 *     max_work: bound of a coarse vertex. Vertices with different pins (graph->pin) are never matched.
 * Out: *out, freed by the caller with lbm_levels_free before g. Coarse graphs have work and weight, and pin
 *     if g has.
 * Errors: LBM_E_NOMEM.  Cost: O(n + m). */
enum lbm_err lbm_levels_build(const struct lbm_graph *g, const uint32_t *part, uint32_t target,
                              uint64_t max_work, struct lbm_rng *rng, struct lbm_levels *out) LBM_MUST_CHECK;
void lbm_levels_free(struct lbm_levels *levels);

/* Coordinates of a coarse graph without pins: 30 farthest-point BFS pivots, double-centred squared
 * distances, top m eigenvectors, then `sweeps` renormalized Laplacian sweeps.
 * Disconnected guests are chained for the embedding only.
 * Out: x [n * m], mean 1/2 and variance 1/12 on each axis; n <= m points cannot have that and are put on the
 *      diagonal.
 * Errors: LBM_E_NOMEM.  Cost: O(pivots (edges + pivots n) + sweeps edges). */
enum lbm_err lbm_embed_pivots(const struct lbm_graph *g, unsigned m, int pivots, int sweeps,
                              struct lbm_rng *rng, double *x) LBM_MUST_CHECK;

/* The same start where nobody has the whole graph: each part of it sums up what its vertices have, sums add,
 * and whoever has the sum of all can place his own vertices. Hops are distances to pivots, in edges. */
enum {
    LBM_PIVOTS = 30,
    LBM_PIVOT_HOPS_MAX = 65534, /* a larger distance counts as this one */
    LBM_PIVOT_UNREACHED = 65535,
    LBM_PIVOT_SUMS = 1 + LBM_PIVOTS + LBM_PIVOTS * (LBM_PIVOTS + 1) / 2
};

/* Where the row-centred squared distances of a vertex put it. */
struct lbm_pivot_map {
    unsigned m;
    double mean[LBM_PIVOTS];
    double axis[3][LBM_PIVOTS];
};

/* Add n vertices. In: hops [n * LBM_PIVOTS]; work [n], NULL: 1 each. In/out: sums. */
void lbm_pivot_sums_add(uint32_t n, const uint16_t *hops, const uint32_t *work, double sums[LBM_PIVOT_SUMS]);
/* In: sums of all vertices. Out: the map whose image has mean 1/2 and variance 1/12 on each axis; the same
 * bytes for the same sums.  Errors: LBM_E_STATE: the distances span no m dimensions. */
enum lbm_err lbm_pivot_sums_solve(const double sums[LBM_PIVOT_SUMS], unsigned m,
                                  struct lbm_pivot_map *out) LBM_MUST_CHECK;
/* Place one vertex. In: hops [LBM_PIVOTS]. Out: x [m]. */
void lbm_pivot_place(const struct lbm_pivot_map *map, const uint16_t *hops, double *x);

/* Carry coordinates from coarse to fine: x_fine[v] = x_coarse[parent[v]]. Of levels, whose parents are
 * numbered in order of their first vertices, x_fine may be x_coarse. */
void lbm_embed_interpolate(const uint32_t *parent, uint32_t n_fine, unsigned m, const double *x_coarse,
                           double *x_fine);

#endif
