/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The coarse graph of a guest: every host coarsens what it owns, by itself, and its job's coordinator plans
 * with the clusters of all. So no host holds the guest, and what diffusion cannot see from where it is comes
 * right. Only for a job that runs the clusters may be its vertices (coarse_remap.c). */
#ifndef LBM_NODE_MAPPING_COARSE_PLAN_H
#define LBM_NODE_MAPPING_COARSE_PLAN_H

#include "base/mem.h"

struct coarse_list {
    uint32_t *at;
    size_t n, capacity;
};

/* What a host has told of its clusters, which it numbers from 0. */
struct coarse_slice {
    uint32_t host, clusters;
    int is_whole;
    struct coarse_list work, pin;                    /* of clusters; pin: none, or of all */
    struct coarse_list from, to, weight;             /* edges between them, each once */
    struct coarse_list vertex, cluster;              /* vertices with neighbours elsewhere */
    struct coarse_list out_from, out_to, out_weight; /* edges to vertices elsewhere */
};

enum coarse_state {
    COARSE_NONE,
    COARSE_ASKED,
    COARSE_PLANNING,
    COARSE_DRAWING, /* of a job that runs: the plan is answered; what others would be like (baseline.h) */
    COARSE_OVER,    /* there is a plan, or will be none */
};

struct coarse_plan {
    enum coarse_state state; /* of the coordinator; others are NONE, or OVER */
    uint32_t planned;        /* so often, by the coordinator */
    int normalized;          /* the normalization is that of a plan */
    int more;                /* another plan follows the one that is followed */
    uint64_t round;          /* the coordinator's own; of others the last that they answered; 0: none */
    int64_t until_us;        /* the coordinator waits for parts so long */
    struct coarse_list vertex, cluster; /* what this host has put where */
    LBM_VEC(struct coarse_slice) parts; /* of those that were asked, by host */

    /* of a job that runs: coarse_remap.c */
    int again;         /* coordinator: this round's plan begins with the mapping there is */
    int64_t due_us;    /* since when loads are uneven by much; 0: they are not */
    int64_t over_us;   /* since when this host has too much; 0: it has not */
    uint64_t over;     /* so much of it, at that time */
    int is_spent;      /* there was a plan since: rounds do the rest */
    int64_t look_us;   /* next look at loads */
    int64_t hold_us;   /* what was asked for is waited for so long */
    int follows;       /* vertices are on their way from or to this host, to where the plan has them */
    int withheld;      /* rounds that moved nothing meanwhile */
    int64_t follow_us; /* next look at those that wait */
    uint64_t comes;    /* work that the plan has come here */
    uint64_t came;     /* of that, since this host told its clusters */
    int64_t came_us;   /* when the last of it came, or of this host's own had gone */
};

struct lbm_graph;
struct lbm_shard;
struct lbm_rng;

/* Put the rows of the shard's patch, which is valid, into clusters.
 * In:      share  about that many clusters for each row;  work_max  of a cluster of several rows
 * Out:     *part  owned by the caller, host not set; *vertex, *cluster  where each row is. Nothing if there
 * are more clusters than a message may name: then part->clusters is 0, as if there were no rows. Errors:
 * LBM_E_NOMEM; all to be freed all the same. */
enum lbm_err lbm_mapping_coarse_cluster(const struct lbm_shard *shard, double share, uint32_t work_max,
                                        struct lbm_rng *rng, struct coarse_slice *part,
                                        struct coarse_plan *place) LBM_MUST_CHECK;

/* The graph of the clusters of all parts, those of the first part first.
 * In, out: *coarse graph  parts keep their clusters; edges and borders are freed one after the other, as the
 * graph takes them: where parts are scattered all over the guest the coordinator hears of most of its edges
 * Out:     *g  owned by the caller; pins are host ids.
 * Errors:  LBM_E_NOMEM, LBM_E_RANGE (numbers that fit nothing, sums that are too large); *g untouched. */
enum lbm_err lbm_mapping_coarse_graph(struct coarse_plan *coarse, struct lbm_graph *g) LBM_MUST_CHECK;

/* Nonzero if the numbers of a part that is whole fit together. */
int lbm_mapping_coarse_slice_fits(const struct coarse_slice *part);
/* Free a host's slice of a coarse graph. */
void lbm_mapping_coarse_slice_free(struct coarse_slice *part);
/* Free a coarse plan. */
void lbm_mapping_coarse_free(struct coarse_plan *coarse);

#endif
