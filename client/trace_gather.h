/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a recorder knows of a cluster: its hosts, and the job's vertices as their owners have them.
 *
 * Owns: the last that was heard; the first answer has everything, later ones what has changed since. */
#ifndef LBM_CLIENT_TRACE_GATHER_H
#define LBM_CLIENT_TRACE_GATHER_H

#include "client/daemon.h"
#include "trace/trace.h"

/* A host as the control log has it. */
struct lbm_seen_host {
    struct lbm_trace_host is;
    uint64_t incarnation;
    char state[16]; /* as in HostEntry */
    uint64_t stamp; /* of the last change that was heard of it */
    uint64_t heard; /* of the answer at hand; 0: none, or not all of it */
};

struct lbm_gather {
    struct lbm_daemon *daemon;
    const char *job;
    LBM_VEC(struct lbm_seen_host) hosts;
    uint32_t n;      /* vertices; 0: not known yet */
    uint64_t *epoch; /* [n] of what is known, 0: nothing is */
    uint32_t *owner, *work, *pin;
    uint32_t look, *told; /* [n] the last answer that told of a vertex */
    LBM_VEC(uint32_t)
    changed; /* vertices of the last answer, each once, with what was known of them before */
    LBM_VEC(uint32_t) owner_before, work_before;
    LBM_VEC(struct lbm_edge) edges; /* of the first answers, from both ends */
    int with_edges;
    uint32_t n_missing; /* hosts that did not answer the last time */
    int other_guest;    /* the guest has another number of vertices than it had */
};

/* Ask for the hosts. Out: hosts, with links in the order of their ids, as before this call in *before (owned
 * by the caller, to be freed with lbm_seen_hosts_free). */
enum lbm_status lbm_gather_hosts(struct lbm_gather *gather, struct lbm_seen_host **before, size_t *n_before);
void lbm_seen_hosts_free(struct lbm_seen_host *hosts, size_t n);

/* Ask for vertices: all with their edges, or those that have changed since the last time. Out: changed. */
enum lbm_status lbm_gather_vertices(struct lbm_gather *gather, int with_edges);

/* Vertices of which nothing is known. */
uint32_t lbm_gather_unknown(const struct lbm_gather *gather);

void lbm_gather_free(struct lbm_gather *gather);

#endif
