/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of nodes in virtual time: hosts, a guest and a cluster of calm machines. What is not as expected
 * fails the test. */
#ifndef LBM_TESTS_UNIT_NODE_CLUSTER_FIXTURE_H
#define LBM_TESTS_UNIT_NODE_CLUSTER_FIXTURE_H

#include "graph/graph.h"
#include "host/host.h"
#include "sim/model/cluster.h"

extern const struct cluster_options scene_without_faults;

struct scene {
    struct lbm_hosts h;
    struct lbm_graph g;
    struct cluster *cluster;
};

/* The guest is not submitted. All hosts that are up, which the late ones of the options are not, are ACTIVE.
 */
void scene_new(struct scene *scene, const char *hosts, const char *guest,
               const struct cluster_options *options);
void scene_free(struct scene *scene);

/* The answer of a host to an operator; valid until the next. */
const Lbm__Response *scene_ask(struct scene *scene, uint32_t host, Lbm__Request *request);
/* The members as a host knows them; valid until the next answer. */
const Lbm__HostsReply *scene_hosts(struct scene *scene, uint32_t host);
/* Another capacity for that host, proposed at `at`; waits for the log's word. */
enum lbm_err scene_set_capacity(struct cluster *cluster, uint32_t at, uint32_t host, double capacity);
/* Every host that is up knows all that are up as ACTIVE, and nobody else. */
int scene_is_active(struct cluster *cluster, void *scene);

/* For cluster_run: the job of that name (char *) has settled. */
int scene_is_settled(struct cluster *cluster, void *name);

/* The job named job. */
void scene_expect_settled(struct scene *scene, int seconds);
const Lbm__JobEntry *scene_job(struct scene *scene, uint32_t host);
/* part [g.n]: every vertex has one owner. */
void scene_owners(struct scene *scene, uint32_t *part);
/* J of a plan of the guest, made here; J of what is on the disks, within the bound of 3 %. */
uint64_t scene_planned(const struct scene *scene);
uint64_t scene_hop_bytes(struct scene *scene);
/* In a cluster of its own: a job of which every fiftieth vertex is pinned settles with each where it must be.
 */
void scene_expect_pins(enum lbm_start start);
uint64_t scene_largest_load(struct scene *scene);

#endif
