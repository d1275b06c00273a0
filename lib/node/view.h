/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The view: what the control log says, applied entry by entry by one deterministic function.
 *
 * Owns: members, jobs, and what follows from them (host graph, colours, diameter). Every daemon that
 * applied the same entries has the same view (PROTOCOL section 1).  Never: sends, stores or decides. */
#ifndef LBM_NODE_VIEW_H
#define LBM_NODE_VIEW_H

#include "host/host.h"
#include "wire/wire.h"

enum lbm_member_state { LBM_MEMBER_JOINING, LBM_MEMBER_ACTIVE };

struct lbm_member {
    uint32_t host;
    uint64_t incarnation;
    enum lbm_member_state state;
    char name[LBM_NAME_MAX + 1];
    char address[LBM_ADDRESS_MAX + 1];
    double capacity;
    double site[LBM_DIMENSIONS_MAX]; /* unit box, once ACTIVE */
    struct lbm_link *links;          /* declared by this member: p is itself */
    size_t n_links;
};

/* A job as the log created it. */
struct lbm_job_entry {
    uint64_t job;
    char name[LBM_NAME_MAX + 1];
    uint32_t home;
    uint32_t vertices;
    uint64_t edges;
    uint64_t work;   /* W, work units */
    uint64_t weight; /* sum of edge weights, each once */
    uint32_t start;  /* enum lbm_start */
    uint64_t seed;
    double imbalance;
    uint32_t owner; /* uid */
};

struct lbm_view {
    uint64_t index; /* of the last entry applied */
    uint64_t cluster;
    char cluster_name[LBM_NAME_MAX + 1];
    uint32_t founder;
    unsigned m;                         /* dimensions of Omega */
    LBM_VEC(struct lbm_member) members; /* by host id */
    LBM_VEC(struct lbm_job_entry) jobs; /* in order of creation */

    /* The ACTIVE members as a host graph; only if they are connected (routable != 0). Hosts in it are
     * numbered 0 .. hosts.n - 1 in order of their ids. */
    int routable;
    char unroutable[LBM_DIAG_TEXT_MAX]; /* why not */
    struct lbm_hosts hosts;
    uint32_t *colour; /* by link direction */
    uint32_t n_colours;
    uint32_t diameter; /* hops */
};

void lbm_view_free(struct lbm_view *view);

/* Apply the command at index view->index + 1. A command that is invalid where it lands changes nothing
 * but the index; refusal then says why (else it is empty).
 * Errors: LBM_E_NOMEM; LBM_E_CORRUPT if the first entry founds no cluster. The view is then unusable. */
enum lbm_err lbm_view_apply(struct lbm_view *view, const Lbm__Command *command,
                            char refusal[LBM_DIAG_TEXT_MAX]) LBM_MUST_CHECK;

const struct lbm_member *lbm_view_member(const struct lbm_view *view, uint32_t host); /* NULL: none */
const struct lbm_job_entry *lbm_view_job(const struct lbm_view *view, uint64_t job);
const struct lbm_job_entry *lbm_view_job_named(const struct lbm_view *view, const char *name);

/* Number of an ACTIVE host in view->hosts, or LBM_NONE; and back. Only if routable. */
uint32_t lbm_view_number(const struct lbm_view *view, uint32_t host);
uint32_t lbm_view_host(const struct lbm_view *view, uint32_t number);

/* A host graph of the ACTIVE members of its own, for a computation that outlives this view.
 * Errors: LBM_E_STATE (not routable, diag says why), LBM_E_NOMEM. */
enum lbm_err lbm_view_build_hosts(const struct lbm_view *view, struct lbm_hosts *out,
                                  struct lbm_diag *diag) LBM_MUST_CHECK;

/* A site for a host that joins without one: the mean of the sites of its ACTIVE neighbours, moved aside
 * by half the least distance of sites so that no two coincide; the centre if it has none. */
void lbm_view_site_near(const struct lbm_view *view, uint32_t host, double site[LBM_DIMENSIONS_MAX]);

#endif
