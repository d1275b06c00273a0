/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One change in a large cluster at rest: the load of one host grows, and what that costs whom.
 *
 * Owns: the course, and telling messages of the change from those of every day.  Never: decides what moves.
 */
#ifndef LBM_SIM_EXPERIMENT_CHANGE_H
#define LBM_SIM_EXPERIMENT_CHANGE_H

#include "base/err.h"
#include "sim/model/cluster.h"

struct change_options {
    const char *hosts, *guest;
    const char *map;  /* file with the mapping to begin with; NULL: a plan */
    double factor;    /* by which the load of the host grows */
    uint32_t host;    /* LBM_NONE: the one in the middle */
    uint32_t changes; /* one after the other, each on another host: all but the first are drawn */
    uint32_t apart;   /* that many links from one of these hosts to another, at least */
    uint64_t seed;
    int json, quiet;
};

/* What messages there are of a kind. */
struct change_kind {
    const char *name;
    uint64_t messages, bytes;
};

/* One change. A host is touched if it sends or gets a message of a kind that a cluster at rest does not have.
 */
struct change_cost {
    uint32_t host;
    double settled_s;      /* < 0: it does not settle */
    double before, after;  /* imbalance */
    uint32_t touched, far; /* hosts; the longest way from the changed one to one of them, in links */
    uint32_t movers;       /* hosts that gave or got vertices */
    uint32_t moved;        /* vertices elsewhere afterwards */
    uint64_t messages, bytes;
    struct change_kind kind[CLUSTER_KINDS];
};

enum { CHANGES_MAX = 64 };

struct change_result {
    uint32_t n_hosts, vertices;
    int settled;
    char why[200];
    uint32_t n;
    struct change_cost cost[CHANGES_MAX];
    double messages, bytes, touched; /* means */
    uint32_t touched_most;
    double rest_messages; /* a host and second at rest */
    uint64_t hash;
    long memory_kib;
};

/* Errors: LBM_E_SYNTAX, LBM_E_RANGE (a spec or the host, diag says which). */
enum lbm_err change_run(const struct change_options *options, struct change_result *result,
                        struct lbm_diag *diag) LBM_MUST_CHECK;
void change_print(const struct change_options *options, const struct change_result *result);

/* ---- the application of the changed host (reporter.c) -------------------------------------------------- */

/* Serves the job on one host over the operator's connection: it takes what it is given, lets go of what is
 * wanted, and says what its vertices cost. */
struct reporter {
    struct cluster *cluster;
    uint32_t host;
    LBM_VEC(uint32_t) vertex;
    LBM_VEC(uint64_t) token;
};

int reporter_attach(struct reporter *r); /* 0: it is refused */
/* Do what the daemon has asked for since. */
void reporter_look(struct reporter *r);
/* load [r->vertex.n]: what they cost from now on. */
void reporter_tell(struct reporter *r, const double *load);
void reporter_free(struct reporter *r);

#endif
