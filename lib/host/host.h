/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The host graph: capacities, links, routing distances, sites.
 *
 * Owns: struct lbm_hosts, the generators of named topologies, routing, sites, edge colouring.
 * Never: performs I/O. igraph is called from igraph.c alone. */
#ifndef LBM_HOST_HOST_H
#define LBM_HOST_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"

#define LBM_TOPOLOGY_LIST(X)                                                                                 \
    X(CHAIN, "chain", "chain:N", "N hosts in a row")                                                         \
    X(RING, "ring", "ring:N", "N hosts in a circle")                                                         \
    X(MESH, "mesh", "mesh:AxB[xC]", "grid, host id = x + y*A + z*A*B")                                       \
    X(TORUS, "torus", "torus:AxB[xC]", "grid with wrap-around links")                                        \
    X(HYPERCUBE, "hypercube", "hypercube:D", "2^D hosts, links between ids that differ in one bit")          \
    X(STAR, "star", "star:N", "host 0 linked to the N-1 others")                                             \
    X(COMPLETE, "complete", "complete:N", "every pair linked")                                               \
    X(TREE, "tree", "tree:D,K", "complete K-ary tree of depth D; every node is a host")                      \
    X(HIER, "hier", "hier:4:8:8/1:10:100", "hierarchy, innermost group first, and the cost of each level")   \
    X(FATTREE, "fattree", "fattree:K", "K^3/4 hosts at three layers of K-port switches")                     \
    X(DRAGONFLY, "dragonfly", "dragonfly:A,H,P",                                                             \
      "A H + 1 groups of A routers, each with H global links and P hosts")                                   \
    X(FILE, "file", "file:PATH",                                                                             \
      "METIS with costs and capacities, GraphML, Scotch .tgt, Slurm topology, hostfile, hwloc XML")

enum lbm_topology {
#define LBM_TOPOLOGY_ENUM(id, name, form, text) LBM_TOPOLOGY_##id,
    LBM_TOPOLOGY_LIST(LBM_TOPOLOGY_ENUM)
#undef LBM_TOPOLOGY_ENUM
        LBM_TOPOLOGY_COUNT
};

/* A host graph H. Links are stored in both directions, neighbours sorted by id.
 * Hierarchies (hier:, tleaf, switches) have no physical links between hosts, their dist is given, not
 * routed. Their links stand for it: in each group the children pairwise, the i-th host of one with the i-th
 * of the other; in a uniform hierarchy these are the hosts that differ in one digit of their id. Targets
 * that are matrices of distances (deco) have the links that the distances imply. */
struct lbm_hosts {
    uint32_t n; /* hosts */
    enum lbm_topology topology;
    uint32_t dims[3]; /* chain, ring, mesh, torus: extents; hypercube: dims[0] = dimension */
    uint32_t *offset; /* [n + 1] */
    uint32_t *target; /* [offset[n]] */
    uint32_t *cost;   /* [offset[n]] link cost >= 1 */
    double *capacity; /* [n] relative speed s_p > 0 */
    uint32_t *dist;   /* [n * n] routing distance d_pq, row-major, symmetric, 0 on the diagonal; or NULL: */
    uint32_t **row;   /* [n] the rows asked for by lbm_hosts_route_from, else NULL */
    unsigned m;       /* dimensions of Omega: 2 or 3 */
    double *site;     /* [n * m] site of each host in the unit box [0,1]^m */
    char **name;      /* [n] names from the input, or NULL: the ids */
    /* For launchers, of a hostfile or of hwloc; each NULL if the input does not say. */
    uint32_t *slots; /* [n] ranks that a host takes, >= 1 */
    char **machine;  /* [n] hosts are parts of machines: the name of its machine, or "" */
    uint32_t *core;  /* [n] with machine: the number of its first core there; it has as many as slots */
};

/* Distances from p [n]. Without a matrix the row must have been asked for. */
static inline const uint32_t *
lbm_dist_row(const struct lbm_hosts *h, uint32_t p)
{
    return h->dist != NULL ? &h->dist[(size_t)p * h->n] : h->row[p];
}

static inline uint32_t
lbm_dist(const struct lbm_hosts *h, uint32_t p, uint32_t q)
{
    return lbm_dist_row(h, p)[q];
}

/* Build the host graph named by a spec that needs no file ("mesh:4x4").
 * Errors: LBM_E_SYNTAX, LBM_E_RANGE, LBM_E_LIMIT; diag shows the right form. "file:" and "live" are the
 * caller's: read the file, then lbm_hosts_parse. */
enum lbm_err lbm_hosts_generate(const char *spec, struct lbm_hosts *out,
                                struct lbm_diag *diag) LBM_MUST_CHECK;

/* What is taken of a file of hosts; zeros and NULL: all, and what the file says. Borrowed. */
struct lbm_hosts_reading {
    const char *nodes;    /* the hosts wanted, as in n[1-4],login; others are routed through and no hosts */
    const char *topology; /* which topology of several in a file */
    uint32_t island_cost; /* between fabrics of a Slurm file that no switch joins */
    const char *leaf;     /* hwloc: what a host is: pu, core, l3, die, package */
};

/* Parse a host graph from the text of a file; its format is recognised by its content; name is for messages.
 * METIS, GraphML: edge weight = cost, vertex weight = capacity, 0 for a switch; GraphML: positions = sites.
 * Unconnected graphs are refused, naming two hosts. how: NULL is as all zeros.
 * Errors: LBM_E_SYNTAX, LBM_E_RANGE, LBM_E_LIMIT, LBM_E_UNSUPPORTED (also: how asks for what the format does
 * not have), LBM_E_NOMEM; diag names the file, and the line where there is one. */
enum lbm_err lbm_hosts_parse(const char *name, const char *text, size_t len,
                             const struct lbm_hosts_reading *how, struct lbm_hosts *out,
                             struct lbm_diag *diag) LBM_MUST_CHECK;

/* Replace capacities by the numbers in text (one a host, white space between). Hosts of capacity 0 become
 * switches: then *h has the others alone, in their order, with the distances that they had.
 * Errors: LBM_E_SYNTAX, LBM_E_RANGE naming the line, LBM_E_LIMIT, LBM_E_NOMEM; *h unchanged. */
enum lbm_err lbm_hosts_parse_capacities(struct lbm_hosts *h, const char *name, const char *text, size_t len,
                                        struct lbm_diag *diag) LBM_MUST_CHECK;

/* Replace names by the words in text, one a host and each once: white space between, comments from # on.
 * Errors: LBM_E_SYNTAX naming the line, LBM_E_NOMEM; names unchanged. */
enum lbm_err lbm_hosts_parse_names(struct lbm_hosts *h, const char *name, const char *text, size_t len,
                                   struct lbm_diag *diag) LBM_MUST_CHECK;

/* The hosts that are left when some are gone, and their links. Routes are found again; distances that were
 * given, of hierarchies and matrices, stay.
 * In:     gone [h->n] nonzero for those that are; h routed.
 * Out:    number [h->n] of each in *out, LBM_NONE for the gone.
 * Errors: LBM_E_RANGE none is left, LBM_E_SYNTAX they are in parts, named in diag; LBM_E_NOMEM.
 * Cost:   that of routing h and *out. */
enum lbm_err lbm_hosts_without(const struct lbm_hosts *h, const uint8_t *gone, uint32_t *number,
                               struct lbm_hosts *out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* One link, for graphs made from members or files. */
struct lbm_link {
    uint32_t p, q;
    uint32_t cost;
};

/* Build from explicit links; validates (connected, positive, no duplicate), routes by Dijkstra.
 * In: capacity [n] or NULL (all 1); site [n * m] in any scale, or NULL: stress majorization chooses.
 * Errors: LBM_E_RANGE, LBM_E_LIMIT, LBM_E_SYNTAX (a duplicate; hosts no way leads to); LBM_E_NOMEM. */
enum lbm_err lbm_hosts_build(uint32_t n, const struct lbm_link *links, size_t n_links, const double *capacity,
                             unsigned m, const double *site, struct lbm_hosts *out,
                             struct lbm_diag *diag) LBM_MUST_CHECK;

/* The same without the matrix of distances, which a host that looks at its neighbours alone does not need:
 * memory and time are those of the links. Sites stay as given. Errors: as above. */
enum lbm_err lbm_hosts_build_unrouted(uint32_t n, const struct lbm_link *links, size_t n_links,
                                      const double *capacity, unsigned m, const double *site,
                                      struct lbm_hosts *out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Have the distances from p: nothing to do with a matrix, else a search from p, once. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_hosts_route_from(struct lbm_hosts *h, uint32_t p) LBM_MUST_CHECK;

void lbm_hosts_free(struct lbm_hosts *h);

/* Largest hop count (links, not costs) between two hosts: XL95's diameter for termination. */
uint32_t lbm_hosts_diameter_hops(const struct lbm_hosts *h);

/* The same, or `limit` if it is larger; wide graphs are recognized after one search. */
uint32_t lbm_hosts_diameter_within(const struct lbm_hosts *h, uint32_t limit);

/* Name the topology of hosts made from members or files, if they are numbered and linked as a chain, ring,
 * mesh, torus or hypercube of the generators is. Costs and capacities do not count: closed forms of routes do
 * not hold. Returns 0, h untouched, if it is none.  Cost: links times the divisors of n. */
int lbm_hosts_recognise(struct lbm_hosts *h);

/* Map sites of any scale into the unit box [0,1]^m: a full grid of k distinct values along an axis goes
 * to the cell centres (i + 1/2)/k, as HEI97's squares want; otherwise each axis is centred and scaled to
 * the variance of a uniform density, 1/12, and clamped into the box. In place; site [n * m]. */
void lbm_sites_fit(double *site, uint32_t n, unsigned m);

/* Proper edge colouring of H: links of one colour share no host, so GDE exchanges them at once.
 * Closed form for chain, ring, mesh, torus (axis by axis, as XL95 orders them), hypercube, star, tree and
 * complete; Koenig (Delta colours) if bipartite; else Misra-Gries (at most Delta + 1).
 * Out: colour [offset[n]] by link direction, both directions equal, every number below the result used.
 * Returns the number of colours, or 0 if there are no links or memory is short. */
uint32_t lbm_hosts_colour(const struct lbm_hosts *h, uint32_t *colour);

/* The same for hosts that come and go, known by their ids [n]: what is not near a change keeps its colour,
 * since links take the least colour that is free at both ends in an order drawn from the ids alone. The price
 * are more colours: fewer than twice the largest degree, usually one or two more than it.
 * Cost: O(links * (log links + degree / 32)). */
uint32_t lbm_hosts_colour_stable(const struct lbm_hosts *h, const uint32_t *id, uint32_t *colour);

#endif
