/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tree of switches as Slurm's topology.conf tells it; not for other modules. */
#ifndef LBM_HOST_SLURM_H
#define LBM_HOST_SLURM_H

#include "graph/scan.h"
#include "host/internal.h"

struct slurm_text {
    const char *at;
    size_t len;
};

/* One SwitchName line, and what becomes of it. */
struct slurm_node {
    struct slurm_text name, nodes, switches;
    uint64_t line;
    uint32_t parent; /* node above, or LBM_NONE */
    uint32_t group;  /* its place among the groups */
};

struct slurm_topology {
    struct lbm_scan scan;
    LBM_VEC(struct slurm_node) nodes;
    uint32_t *by_name;        /* [nodes.n] sorted by name */
    uint32_t *node_of;        /* [nodes.n] node of each group */
    struct lbm_group *groups; /* [nodes.n] */
    uint32_t n_groups;
    uint32_t *host_depth; /* [hosts] */
    char **name;          /* [hosts] */
};

/* Refuse the file at a line, with what it is about in quotes. Returns err. */
enum lbm_err lbm_slurm_refuse(struct slurm_topology *t, uint64_t line, enum lbm_err err, const char *problem,
                              struct slurm_text about);

/* Turn the lines (t->nodes, at least one) into hosts: one tree, no name twice.
 * In: t->scan for messages.  Errors: LBM_E_SYNTAX, LBM_E_LIMIT, LBM_E_NOMEM; *out untouched. */
enum lbm_err lbm_slurm_hosts(struct slurm_topology *t, struct lbm_hosts *out) LBM_MUST_CHECK;

#endif
