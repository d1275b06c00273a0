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

struct lbm_seen_edge {
    uint32_t other, weight;
};

/* A vertex as its owner has it. */
struct lbm_seen_vertex {
    uint64_t epoch; /* 0: nothing is known of it */
    uint32_t owner, work, pin;
    uint32_t told; /* the last answer that told of it */
    uint32_t degree;
    struct lbm_seen_edge *edge; /* [degree] by the other end */
    uint32_t number;            /* in the trace, or LBM_NONE: not there, or gone again */
};

/* What was known of a vertex that an answer told of. */
struct lbm_seen_change {
    uint32_t vertex;
    uint32_t owner, work, degree;
    struct lbm_seen_edge *edge;
};

struct lbm_gather {
    struct lbm_daemon *daemon;
    const char *job;
    LBM_VEC(struct lbm_seen_host) hosts;
    LBM_VEC(struct lbm_seen_vertex) vertices; /* by id; some ids are no vertex's */
    uint32_t look;                            /* answers so far */
    LBM_VEC(struct lbm_seen_change) changed;  /* by the last one, each vertex once */
    LBM_VEC(uint32_t) removed; /* vertices that it said are gone; some may have been known to be */
    uint64_t present;          /* vertices that the guest has, as the last answer said */
    uint32_t n_missing;        /* hosts that did not answer the last time */
};

/* Ask for the hosts. Out: hosts, with links in the order of their ids, as before this call in *before (owned
 * by the caller, to be freed with lbm_seen_hosts_free). */
enum lbm_status lbm_gather_hosts(struct lbm_gather *gather, struct lbm_seen_host **before, size_t *n_before);
void lbm_seen_hosts_free(struct lbm_seen_host *hosts, size_t n);

/* Ask for vertices with their edges: all, or those that have changed since the last time. Out: changed,
 * removed. */
enum lbm_status lbm_gather_vertices(struct lbm_gather *gather, int all);

/* Vertices that are somewhere, and of which nothing is known. */
uint32_t lbm_gather_unknown(const struct lbm_gather *gather);

/* Weight of an edge as the owner of a vertex has it, or had it before; 0: there is none. */
uint32_t lbm_seen_weight(const struct lbm_seen_edge *edge, uint32_t degree, uint32_t other);

void lbm_gather_free(struct lbm_gather *gather);

#endif
