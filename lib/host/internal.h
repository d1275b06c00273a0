/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of lib/host share; not for other modules. */
#ifndef LBM_HOST_INTERNAL_H
#define LBM_HOST_INTERNAL_H

#include "base/mem.h"
#include "host/host.h"

struct lbm_link_vec {
    struct lbm_link *at;
    size_t n, capacity;
};

/* ---- hosts.c ------------------------------------------------------------------------------------- */

/* Rows of n hosts from links that are known to be valid; capacities 1, m 2, sites and distances zero.
 * In:      topology and name are the caller's to set.  Links may come in any order.
 * Errors:  LBM_E_NOMEM; *out untouched. */
enum lbm_err lbm_hosts_link(uint32_t n, const struct lbm_link *links, size_t n_links,
                            struct lbm_hosts *out) LBM_MUST_CHECK;

/* The same without the matrix of distances, for networks of up to LBM_NETWORK_MAX hosts and switches. */
enum lbm_err lbm_hosts_link_rows(uint32_t n, const struct lbm_link *links, size_t n_links,
                                 struct lbm_hosts *out) LBM_MUST_CHECK;

/* Nonzero for the capacity of a host: zero, numbers that are none, and those whose sums or ratios would not be
 * finite are no such thing. */
int lbm_is_capacity(double number);

/* Change the number of dimensions before sites are set. Errors: LBM_E_NOMEM, unchanged. */
enum lbm_err lbm_hosts_set_dimensions(struct lbm_hosts *h, unsigned m) LBM_MUST_CHECK;

/* ---- routing.c ----------------------------------------------------------------------------------- */

/* Hops from source along links; visits stop when every host has been reached.
 * Out: hops [n], LBM_NONE where there is no way; order [n] hosts as visited.  Returns how many. */
uint32_t lbm_hosts_hops(const struct lbm_hosts *h, uint32_t source, uint32_t *hops, uint32_t *order);

/* Distances from p. Out: row [n]. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_hosts_fill_row(const struct lbm_hosts *h, uint32_t p, uint32_t *row) LBM_MUST_CHECK;

/* Fill dist: breadth first if all links cost the same, else Dijkstra from each host.
 * In: connected.  Errors: LBM_E_NOMEM.  Cost: O(n (n + links)), with Dijkstra a log n more. */
enum lbm_err lbm_hosts_route(struct lbm_hosts *h) LBM_MUST_CHECK;

/* Distances among the first n vertices of rows, through all of them. In: rows connected, distances fit.
 * Out: dist [n * n].  Errors: LBM_E_NOMEM. */
enum lbm_err lbm_hosts_route_first(const struct lbm_hosts *rows, uint32_t n, uint32_t *dist) LBM_MUST_CHECK;

/* The links that a matrix of distances implies: pairs no third host lies between, d(p,q) = d(p,r) + d(r,q).
 * For the metric of a graph these are its links; always connected.
 * In: dist [n * n] symmetric, >= 1 off the diagonal.  Errors: LBM_E_NOMEM.  Cost: up to O(n^3). */
enum lbm_err lbm_links_of_distances(uint32_t n, const uint32_t *dist,
                                    struct lbm_link_vec *links) LBM_MUST_CHECK;

/* ---- subset.c ------------------------------------------------------------------------------------ */

/* Add the shortest links that connect all hosts. In/out: h with its distances, which stay.
 * Errors: LBM_E_NOMEM, h unchanged.  Cost: O(n^2) where something is to be added, else that of a search. */
enum lbm_err lbm_hosts_join(struct lbm_hosts *h) LBM_MUST_CHECK;

/* Make switches of the hosts of capacity 0. Distances stay: through the links if they follow these.
 * In: capacity [h->n].  Errors: LBM_E_RANGE, none is left; LBM_E_SYNTAX, LBM_E_LIMIT; LBM_E_NOMEM. */
enum lbm_err lbm_hosts_switched_off(const char *where, const struct lbm_hosts *h, const double *capacity,
                                    struct lbm_hosts *out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* ---- names.c ------------------------------------------------------------------------------------- */

/* Nonzero if the text may be the name of a host: 1 .. LBM_NAME_MAX bytes, no blanks or control characters. */
int lbm_is_host_name(const char *name);

/* ---- colouring.c --------------------------------------------------------------------------------- */

/* ---- sites.c: each fills h->site; h is routed --------------------------------------------------- */

enum lbm_err lbm_sites_grid(struct lbm_hosts *h) LBM_MUST_CHECK;      /* by dims; m = 3 if all three extend */
enum lbm_err lbm_sites_circle(struct lbm_hosts *h) LBM_MUST_CHECK;    /* ids in a circle */
enum lbm_err lbm_sites_hypercube(struct lbm_hosts *h) LBM_MUST_CHECK; /* Gray codes, neighbours adjacent */
enum lbm_err lbm_sites_radial(struct lbm_hosts *h) LBM_MUST_CHECK;    /* a tree rooted at host 0 */
enum lbm_err lbm_sites_boxes(struct lbm_hosts *h) LBM_MUST_CHECK;     /* near-square boxes, all alike */

/* ---- stress.c, igraph.c -------------------------------------------------------------------------- */

/* Sites whose distances follow the routing distances: least stress of several starts, in h->m dimensions.
 * Source: Gansner, Koren, North 2004, weights 1/d^2.  Errors: LBM_E_NOMEM. */
enum lbm_err lbm_sites_stress(struct lbm_hosts *h) LBM_MUST_CHECK;

/* Classical multidimensional scaling of the routing distances among n chosen hosts.
 * In: host [n], n >= 3.  Out: x [n * h->m].
 * Errors: LBM_E_NOMEM; LBM_E_STATE if the eigensolver does not converge (x undefined). */
enum lbm_err lbm_mds(const struct lbm_hosts *h, const uint32_t *host, uint32_t n, double *x) LBM_MUST_CHECK;

/* A matrix that is not formed: to = A from, both [n]. */
typedef void lbm_operator(void *arg, const double *from, double *to, uint32_t n);

/* The least and the largest eigenvalue of a symmetric matrix, n >= 3.
 * Errors: LBM_E_NOMEM; LBM_E_STATE if ARPACK does not converge. */
enum lbm_err lbm_eigen_ends(lbm_operator *apply, void *arg, uint32_t n, double *least,
                            double *largest) LBM_MUST_CHECK;

/* The largest modulus of an eigenvalue of any matrix, n >= 4.  Errors: as above. */
enum lbm_err lbm_eigen_radius(lbm_operator *apply, void *arg, uint32_t n, double *radius) LBM_MUST_CHECK;

/* Greedy colours of the line graph, most coloured neighbours first; often Delta, never more than 2 Delta - 1.
 * Out: colour [n_links].  Errors: LBM_E_NOMEM, LBM_E_STATE.  Cost: the sum of squares of the degrees. */
enum lbm_err lbm_colour_greedy(uint32_t n, const struct lbm_link *links, uint32_t n_links,
                               uint32_t *colour) LBM_MUST_CHECK;

/* ---- groups.c: hierarchies ----------------------------------------------------------------------- */

enum { LBM_GROUP_LEVELS_MAX = 16 }; /* deeper than any machine; bounds the recursion over groups */

/* Whether the i-th and the j-th of n equal members, i < j, are linked: all pairs of up to 256; of more those
 * 1, 2, 4, ... places apart in a circle, so that degrees grow with the logarithm. */
int lbm_are_partners(uint32_t n, uint32_t i, uint32_t j);

/* A group of a hierarchy. Its hosts are consecutive; its children are groups (consecutive, each with a
 * larger index than its parent) or, if n_children is 0, its hosts themselves. */
struct lbm_group {
    uint32_t first_host, n_hosts;
    uint32_t first_child, n_children;
    uint32_t depth; /* see lbm_hosts_from_groups */
};

/* Hosts of a hierarchy, group 0 being all of them.
 * Distance of p and q: (depth(p) + depth(q)) / 2 - depth of the least group that holds both.
 * In:      host_depth [n]; depths such that distances are integers in 1 .. LBM_LINK_COST_MAX.
 * Links:   in each group, its children pairwise, the i-th host of one with the i-th of the other: of a
 *          uniform hierarchy the hosts that differ in one digit.  Sites: boxes within boxes.
 * Errors:  LBM_E_NOMEM; LBM_E_LIMIT (too many links, named in diag). */
enum lbm_err lbm_hosts_from_groups(const char *where, const struct lbm_group *groups, uint32_t n_groups,
                                   const uint32_t *host_depth, struct lbm_hosts *out,
                                   struct lbm_diag *diag) LBM_MUST_CHECK;

/* The uniform hierarchy of hier: and tleaf: size[l] children in a group of level l and the distance
 * cost[l] between them, level 0 innermost.
 * Errors: LBM_E_RANGE, LBM_E_LIMIT, LBM_E_NOMEM. */
enum lbm_err lbm_hosts_hierarchy(const char *where, const uint32_t *size, const uint32_t *cost,
                                 uint32_t levels, struct lbm_hosts *out,
                                 struct lbm_diag *diag) LBM_MUST_CHECK;

/* ---- topology.c ---------------------------------------------------------------------------------- */

/* Build a named topology from its numbers ("mesh", {4, 4}); used by specs and by Scotch targets.
 * In: dims [n_dims], as many as the topology's form has.
 * Errors: LBM_E_RANGE, LBM_E_LIMIT with the right form; LBM_E_NOMEM. */
enum lbm_err lbm_hosts_topology(enum lbm_topology topology, const char *where, const uint32_t *dims,
                                unsigned n_dims, struct lbm_hosts *out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* ---- switched.c ---------------------------------------------------------------------------------- */

/* Networks with switches, from the numbers of their forms: {K}, {A, H, P}.
 * Errors: LBM_E_RANGE, LBM_E_LIMIT with the right form; LBM_E_NOMEM. */
typedef enum lbm_err lbm_hosts_switched(const char *where, const uint32_t *number, struct lbm_hosts *out,
                                        struct lbm_diag *diag);
lbm_hosts_switched lbm_hosts_fattree, lbm_hosts_dragonfly;

/* ---- readers: text to hosts ---------------------------------------------------------------------- */

typedef enum lbm_err lbm_hosts_reader(const char *name, const char *text, size_t len,
                                      const struct lbm_hosts_reading *how, struct lbm_hosts *out,
                                      struct lbm_diag *diag);

lbm_hosts_reader lbm_hosts_read_scotch, lbm_hosts_read_slurm, lbm_hosts_read_slurm_yaml, lbm_hosts_read_hwloc,
    lbm_hosts_read_hostfile;

#endif
