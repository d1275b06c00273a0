/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Slurm's topology.conf and topology.yaml tell, and the hosts made of it; not for other modules.
 *
 * read_slurm.c and read_slurm_yaml.c fill the entries, slurm_tree.c and slurm_block.c put them into groups,
 * slurm_network.c has those that are no tree, slurm_torus.c rings and tori, and slurm_hosts.c finds the hosts
 * of all. */
#ifndef LBM_HOST_SLURM_H
#define LBM_HOST_SLURM_H

#include "graph/scan.h"
#include "host/hostlist.h"
#include "host/internal.h"

struct slurm_text {
    const char *at;
    size_t len;
};

/* A switch, a block, a ring, or a region of a torus. */
struct slurm_entry {
    struct slurm_text name, nodes, switches;
    uint64_t line;
    uint32_t n_named; /* names that nodes lists; of slurm_hosts.c */
    /* Of a torus: which one, its extents (0: a ring, as long as its list), and the region. */
    uint32_t torus, torus_dims[3], anchor[3], dims[3];
};

enum slurm_kind { SLURM_TREE, SLURM_BLOCK, SLURM_TORUS };

enum { SLURM_BLOCK_SIZES_MAX = 16 };

/* A host, and the entry it is below. */
struct slurm_host {
    char *name;
    uint32_t entry;
    uint32_t index; /* in the list of its entry */
    uint32_t place; /* in the order of the file */
};

struct slurm_topology {
    struct lbm_scan scan;
    const struct lbm_hosts_reading *how;
    enum slurm_kind kind;
    LBM_VEC(struct slurm_entry) entries;
    uint64_t block_size[SLURM_BLOCK_SIZES_MAX];
    uint32_t n_block_sizes;
    uint64_t sizes_line;

    /* Of slurm_hosts.c: hosts that are wanted, entry by entry; one that is below two entries is here twice.
     */
    LBM_VEC(struct slurm_host) hosts;
    uint32_t n_named; /* names that the file lists */

    /* Of slurm_tree.c and slurm_block.c. */
    struct lbm_group *groups;
    uint32_t *entry_of; /* [n_groups] entry whose hosts a group without children has */
    uint32_t n_groups;
};

/* Refuse the file at a line, with what it is about in quotes. Returns err. */
enum lbm_err lbm_slurm_refuse(struct slurm_topology *t, uint64_t line, enum lbm_err err, const char *problem,
                              struct slurm_text about);

/* Turn the entries, at least one, into hosts.
 * In: t->scan for messages.  Errors: LBM_E_SYNTAX, LBM_E_RANGE, LBM_E_LIMIT, LBM_E_NOMEM; *out untouched. */
enum lbm_err lbm_slurm_hosts(struct slurm_topology *t, struct lbm_hosts *out) LBM_MUST_CHECK;

/* Free what t owns; texts of entries are the reader's. */
void lbm_slurm_free(struct slurm_topology *t);

/* ---- between the files of it -------------------------------------------------------------------------- */

/* Which switch is above which. */
struct slurm_tree {
    uint32_t n;        /* entries */
    uint32_t *by_name; /* [n] sorted */
    uint32_t *offset;  /* [n + 1] */
    uint32_t *child;   /* [offset[n]] in the order of the lists */
    uint32_t *parents; /* [n] how many */
    uint32_t *order;   /* [n] parents first */
    uint32_t *level;   /* [n] links on the longest way from a root */
    uint32_t roots;
};

/* Names to entries, children, order. Errors: LBM_E_SYNTAX (a name twice, no such switch, a circle),
 * LBM_E_LIMIT, LBM_E_NOMEM. */
enum lbm_err lbm_slurm_tree_read(struct slurm_topology *t, struct slurm_tree *tree) LBM_MUST_CHECK;
void lbm_slurm_tree_free(struct slurm_tree *tree);

/* Cost between the roots of fabrics without a common one: the one asked for, else twice the links from the
 * deepest host to its root. */
uint32_t lbm_slurm_island_cost(const struct slurm_topology *t, const struct slurm_tree *tree);

/* Groups of a forest in which nothing has two parents, or of blocks. Out: t->groups, t->entry_of.
 * Errors: LBM_E_RANGE, LBM_E_LIMIT, LBM_E_NOMEM. */
enum lbm_err lbm_slurm_tree_groups(struct slurm_topology *t, const struct slurm_tree *tree) LBM_MUST_CHECK;
enum lbm_err lbm_slurm_block_groups(struct slurm_topology *t) LBM_MUST_CHECK;

/* Hosts of switches that are no tree. In: t->hosts.  Out: *out without names, in the order of t->hosts, each
 * name once (the first one is kept, place is the number of the host). Errors: as lbm_hosts_from_network. */
enum lbm_err lbm_slurm_network(struct slurm_topology *t, const struct slurm_tree *tree,
                               struct lbm_hosts *out) LBM_MUST_CHECK;

/* Hosts of rings and tori. In: t->hosts.  Out: *out without names, in the order of t->hosts.
 * Errors: LBM_E_RANGE, LBM_E_SYNTAX, LBM_E_NOMEM. */
enum lbm_err lbm_slurm_tori(struct slurm_topology *t, struct lbm_hosts *out) LBM_MUST_CHECK;

#endif
