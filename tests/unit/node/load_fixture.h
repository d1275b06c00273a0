/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cluster in virtual time, of sixteen hosts as a rule, on which applications report what vertices of a
 * lattice cost. */
#ifndef LBM_TESTS_UNIT_NODE_LOAD_FIXTURE_H
#define LBM_TESTS_UNIT_NODE_LOAD_FIXTURE_H

#include "base/rng.h"
#include "tests/unit/node/cluster_fixture.h"

enum { SIDE = 48, USUAL = 100 };

struct loads {
    struct lbm_rng rng;
    double corner; /* what the vertices of one corner cost */
    double tenth;  /* what every tenth vertex costs, wherever it is; 0: as others */
    double noise;  /* of any load, at most, relative */

    /* What the vertices cost that were on one host, next to others; NULL: as others. */
    const uint32_t *owner;
    uint32_t host;
    double next_to;
};

double loads_true(const struct loads *loads, uint32_t vertex);
/* What an application reports of a vertex: its load and noise. arg: struct loads. */
double loads_reported(void *arg, uint32_t vertex, int64_t now_us);

/* A job that has settled, and applications that report loads. */
void scene_of_applications(struct scene *scene, struct loads *loads, const struct cluster_options *options);
/* The same on other hosts. */
void scene_of_applications_on(struct scene *scene, const char *hosts, struct loads *loads,
                              const struct cluster_options *options);

/* Largest true load over the mean, less one. Out: part [SIDE * SIDE]: owners. */
double loads_imbalance(struct scene *scene, const struct loads *loads, uint32_t *part);

#endif
