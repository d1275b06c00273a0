/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads without edges: how evenly whole vertices fit on the hosts. For the files of lib/map only. */
#ifndef LBM_MAP_PACKING_H
#define LBM_MAP_PACKING_H

#include "map/map.h"

/* Vertices to be put on hosts. Borrows everything. */
struct packing {
    uint32_t n;
    const uint32_t *work; /* [n] NULL: all 1 */
    const uint32_t *pin;  /* [n] host, or LBM_NONE; NULL: none is pinned */
    uint32_t n_hosts;
    const double *share; /* [n_hosts] work that fills a host; 0: the host takes only what is pinned to it */
    uint32_t *part;      /* [n] out */
    uint64_t *load;      /* [n_hosts] out */
};

/* Longest first: pinned vertices, then the heaviest one that is left to the host that it fills least.
 * Source:  Graham 1969; Gonzalez, Ibarra, Sahni 1977 for hosts of unequal capacity.
 * In:      at least one share above 0.  Out: part, load.  Errors: LBM_E_NOMEM.
 * Cost:    O(n log n), and for each vertex the number of unequal shares, up to 2^28 in all. */
enum lbm_err packing_longest_first(const struct packing *k) LBM_MUST_CHECK;

/* Lower the largest load over share by moves and exchanges of two vertices, until it is at most 1 with loads
 * rounded down, or no such step helps, or many have been tried.
 * In, out: part, load.  Errors: LBM_E_NOMEM. */
enum lbm_err packing_improve(const struct packing *k) LBM_MUST_CHECK;

/* Largest load over share, of hosts that have one. */
double packing_level(const struct packing *k);

/* Whether no load is over its share, but for rounding errors of the share. */
int packing_fits(const struct packing *k);

/* A lower bound of packing_level over all parts: the whole work, pins, and for every j what the j-th heaviest
 * vertex and those before it need if each is as light as that one. Vertices count as if none was pinned, but
 * what is pinned to one host.
 * Errors:  LBM_E_NOMEM, LBM_OK with *level. */
enum lbm_err packing_bound(const struct packing *k, double *level) LBM_MUST_CHECK;

#endif
