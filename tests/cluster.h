/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A whole cluster of nodes in one process and in virtual time, for tests: the same node core as the
 * daemon's, a network that delays, loses, repeats and breaks, disks that keep what was synced, crashes at
 * any moment. cluster_check.h looks on. The same seed gives the same run. */
#ifndef LBM_TESTS_CLUSTER_H
#define LBM_TESTS_CLUSTER_H

#include "base/rng.h"
#include "node/node.h"

struct cluster_options {
    uint64_t seed;
    int64_t delay_least_us, delay_most_us; /* of a message; connections keep order */
    int64_t sync_us;                       /* a transaction takes up to this */
    double lose_soft;                      /* probability that a lossy message is lost */
    double repeat_soft;                    /* probability that a lossy message comes twice, late */
    uint32_t vertices_max;                 /* of every host, 0: no limit */
    uint32_t late;                         /* the last so many hosts are not started */
    uint32_t limited_host;                 /* the only host with that limit, or LBM_NONE: all */
};

struct cluster;

/* One host per host of the graph, same ids, links, sites; host 0 founds. */
struct cluster *cluster_new(const struct lbm_hosts *h, const struct cluster_options *options);
void cluster_free(struct cluster *cluster);

/* Run until the virtual time has passed, or until done() says so. Returns nonzero if it did. */
int cluster_run(struct cluster *cluster, int64_t us, int (*done)(struct cluster *cluster, void *arg),
                void *arg);
int64_t cluster_now(const struct cluster *cluster);

/* Lose everything not synced; start again from the disk. */
void cluster_crash(struct cluster *cluster, uint32_t host);
void cluster_restart(struct cluster *cluster, uint32_t host);
int cluster_is_up(const struct cluster *cluster, uint32_t host);
/* Break the connection from one host to the other: a part of what is on its way is lost; it is made again
 * soon. Cut: break both and carry nothing between the two until cut again with on = 0. */
void cluster_disconnect(struct cluster *cluster, uint32_t from, uint32_t to);
void cluster_cut(struct cluster *cluster, uint32_t p, uint32_t q, int on);
/* Stop and continue a process: events wait meanwhile. */
void cluster_stop(struct cluster *cluster, uint32_t host);
void cluster_continue(struct cluster *cluster, uint32_t host);

/* Send a request as uid; the replies to it collect until the next request of that host. */
void cluster_request(struct cluster *cluster, uint32_t host, uint32_t uid, Lbm__Request *request);
/* The i-th reply since, or NULL. */
const Lbm__Response *cluster_reply(struct cluster *cluster, uint32_t host, size_t i);
/* Ask and wait (virtual seconds) for the last reply. NULL: none came. */
const Lbm__Response *cluster_ask(struct cluster *cluster, uint32_t host, uint32_t uid, Lbm__Request *request);

/* Submit a graph to a host and wait for the log's word. Returns the code of the last reply. */
enum lbm_err cluster_submit(struct cluster *cluster, uint32_t host, const char *name,
                            const struct lbm_graph *g, enum lbm_start start);

/* The same without waiting for the log: the last reply may come later, or never. */
enum lbm_err cluster_send_guest(struct cluster *cluster, uint32_t host, const char *name,
                                const struct lbm_graph *g, enum lbm_start start);
/* Nonzero if that host knows a job of that name. */
int cluster_has_job(struct cluster *cluster, uint32_t host, const char *name);

/* Guests on the disks whose jobs were not deleted. */
uint32_t cluster_guests(const struct cluster *cluster);

/* Nonzero if over all disks each vertex of every job that was not deleted has exactly one owner, and
 * nothing is left of those that were; else *why says what is wrong. For a cluster at rest. */
int cluster_quiet(const struct cluster *cluster, const char **why);

/* Owners as the disks say: part[v] = the host whose row is OWN, LBM_NONE if none; *doubles counts vertices
 * with more than one OWN row, *out those with an OUT row whose successor does not exist. */
void cluster_owners(const struct cluster *cluster, uint32_t n, uint32_t *part, uint32_t *doubles,
                    uint32_t *none);

/* Nonzero if every host that is up says the job has settled. */
int cluster_settled(struct cluster *cluster, const char *name);

/* Every note of level info and above, every message and commit, one line each, if tracing is on. */
void cluster_trace(struct cluster *cluster, int on);
const char *cluster_trace_text(const struct cluster *cluster);

#endif
