/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Omega: points, metric, and the power cells that cut it into one region per host.
 *
 * Region of host p = {x : |x - s_p|^2 - a_p <= |x - s_q|^2 - a_q for all q}, ties to the lower id
 * (a power diagram; HEI97's squares are the case of grid sites and equal weights). */
#ifndef LBM_SPACE_SPACE_H
#define LBM_SPACE_SPACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"

/* The sites and weights of n regions in the unit box; with wrap set, the unit torus. Borrows arrays. */
struct lbm_regions {
    uint32_t n;
    unsigned m;           /* 2 or 3 */
    int wrap;             /* nonzero: distances on the torus */
    const double *site;   /* [n * m] */
    const double *weight; /* [n] power weights a_p, in squared length units of Omega */
};

/* Squared distance of two points of Omega (along the shorter way around if wrap). */
double lbm_space_distance2(const double *x, const double *y, unsigned m, int wrap);

/* The region that holds x: argmin |x - s_p|^2 - a_p, ties to the lower id.
 * margin (may be NULL) gets the second least value minus the least: 0 on a border, squared length. */
uint32_t lbm_regions_find(const struct lbm_regions *r, const double *x, double *margin);

/* Least distance between two different sites, the delta of the weight adaptation; 1 if there are none.
 * Cost: O(n^2). */
double lbm_regions_least_distance(const struct lbm_regions *r);

/* Adaptive weights: a balanced power diagram. a_p += g_p/2 delta^2 clamp((T_p - L_p)/T_p, -1, 1); the
 * gain g_p shrinks by 0.6 on a change of sign, else grows by 1.15 up to 2. One host's step, so that a
 * daemon can do it alone with its own numbers.
 * In/out: gain (start 1), previous (start 0).  Returns the change to add to a_p. */
double lbm_regions_adapt(double load, double target, double delta, double *gain, double *previous);

/* Assign n_points points [n_points * m] with work (NULL: 1 each) to regions whose loads come within
 * tolerance of capacity shares, by at most `rounds` adaptations; keeps the best assignment seen.
 * In:  capacity [n] > 0.
 * Out: weight [n] final weights, host [n_points].  Returns the imbalance reached, < 0 if out of memory. */
double lbm_regions_balance(uint32_t n, unsigned m, int wrap, const double *site, const double *capacity,
                           uint32_t n_points, const double *point, const uint32_t *work, double tolerance,
                           int rounds, double *weight, uint32_t *host);

/* Regions for thousands of sites: cuts in two, again and again. The first parts all, the next the lower part
 * of the first, and so on, depth first; a cut of n regions has n - 1 below it and itself. Owned. */
struct lbm_cuts {
    uint32_t n; /* regions */
    unsigned m;
    uint32_t *region; /* [n] the sites, side by side */
    uint32_t
        *lower;    /* [n - 1] of each cut: how many of its regions lie below it; those above follow behind */
    uint8_t *axis; /* [n - 1] that it is across */
};

/* Cut sites [n * m] across their longer side, in halves that do not part sites side by side if they need not.
 * Errors: LBM_E_NOMEM.  Cost: O(n log^2 n). */
enum lbm_err lbm_cuts_plan(uint32_t n, unsigned m, const double *site, struct lbm_cuts *out) LBM_MUST_CHECK;

/* Where points [n_points * m] of work (NULL: 1 each) are cut, so that on both sides there is as much as is
 * due [n] to the regions there: exactly, but for what one point weighs. Out: at [n - 1] coordinates of the
 * cuts; 0.5 without points.  Errors: LBM_E_NOMEM. Cost: O(n_points log^2). */
enum lbm_err lbm_cuts_place(const struct lbm_cuts *cuts, const double *due, uint32_t n_points,
                            const double *point, const uint32_t *work, double *at) LBM_MUST_CHECK;

/* The region that holds x.  Cost: O(log n). */
uint32_t lbm_cuts_find(const struct lbm_cuts *cuts, const double *at, const double *x);
void lbm_cuts_free(struct lbm_cuts *cuts);

/* A convex cell as a polygon in the plane, corners counter-clockwise. */
struct lbm_polygon {
    uint32_t n;
    double (*corner)[2];
};

/* The cell of host p clipped to the unit square (m = 2, wrap = 0). May be empty (n = 0).
 * Errors: LBM_E_NOMEM, LBM_E_UNSUPPORTED (m = 3 or wrap).  The caller frees with lbm_polygon_free.
 * Cost: O(n) for one cell. */
enum lbm_err lbm_regions_cell(const struct lbm_regions *r, uint32_t p,
                              struct lbm_polygon *out) LBM_MUST_CHECK;

/* The same on the unit torus (m = 2, sites in the unit square; wrap is not looked at): the cell lies around
 * its site and may reach beyond the unit square; areas still add up to 1. */
enum lbm_err lbm_regions_cell_torus(const struct lbm_regions *r, uint32_t p,
                                    struct lbm_polygon *out) LBM_MUST_CHECK;

/* How much border two regions share inside the unit box: a length (m = 2) or an area (m = 3), 0 if they do
 * not touch, or only in a point or a line. Source:  HEI97 section 3: the regions of two linked hosts must
 * share an interface. In:      p != q.  Out: *size. Errors:  LBM_E_NOMEM, LBM_E_UNSUPPORTED (wrap); *size
 * untouched.  Cost: O(n). */
enum lbm_err lbm_regions_interface(const struct lbm_regions *r, uint32_t p, uint32_t q,
                                   double *size) LBM_MUST_CHECK;

double lbm_polygon_area(const struct lbm_polygon *polygon);
void lbm_polygon_free(struct lbm_polygon *polygon);

#endif
