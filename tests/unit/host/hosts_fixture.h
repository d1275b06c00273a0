/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Host graphs for tests. */
#ifndef LBM_TESTS_UNIT_HOST_HOSTS_FIXTURE_H
#define LBM_TESTS_UNIT_HOST_HOSTS_FIXTURE_H

#include "base/rng.h"
#include "host/host.h"

/* Of a spec; fails the test if it is refused. The caller frees. */
struct lbm_hosts make_hosts(const char *spec);

/* Of links, with sites by stress; fails the test if they are refused. The caller frees. */
struct lbm_hosts make_linked_hosts(uint32_t n, const struct lbm_link *links, size_t n_links);

/* A random connected graph: a tree and extra links, as many as fit; capacities of 1, or between 1 and 4. */
struct lbm_hosts make_random_hosts(struct lbm_rng *rng, uint32_t n, uint32_t extra, int unequal);

/* Hosts at n random places, linked as their Delaunay triangulation is. */
struct lbm_hosts make_planar_hosts(uint32_t n);

int hosts_are_linked(const struct lbm_hosts *h, uint32_t p, uint32_t q);
double site_distance(const struct lbm_hosts *h, uint32_t p, uint32_t q);
void assert_sites_in_the_box(const struct lbm_hosts *h);
void assert_sites_differ(const struct lbm_hosts *h);

/* colour [h->offset[h->n]] is proper: both directions alike, no colour twice at a host, none of the n unused.
 */
void assert_proper_colours(const struct lbm_hosts *h, const uint32_t *colour, uint32_t n);

#endif
