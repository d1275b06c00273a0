/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this room share. Nothing else includes this. */
#ifndef LBM_NODE_REPLICATION_INTERNAL_H
#define LBM_NODE_REPLICATION_INTERNAL_H

#include "node/core/core.h"

/* ---- replication_log.c ---- */

/* All slots are empty, nothing is numbered yet. */
void lbm_replication_forget(struct lbm_node *node);

/* Returns how many slots are in use. One is before this host has read how many there are. */
static inline unsigned
lbm_replication_slots(const struct lbm_node *node)
{
    return node->view.copies > 1 ? node->view.copies : 1;
}

/* ---- lease.c ---- */

/* The lease holds while every backup grants it: find when it ends. */
void lbm_replication_lease_count(struct lbm_node *node);
/* Ask a backup for it, and again when it is due. */
void lbm_replication_lease_ask(struct lbm_node *node, struct replication_log *s);
/* A backup grants it; its applications get what waited for it. */
void lbm_replication_lease_give(struct lbm_node *node, struct replication_log *s, const Lbm__Lease *lease);
/* End what was granted and is over, and tell the page. */
void lbm_replication_lease_timer(struct lbm_node *node);

/* ---- replica_store.c ---- */

/* The replica of an owner's incarnation, or NULL. */
struct replica *lbm_replication_replica_of(const struct lbm_node *node, uint32_t owner, uint64_t incarnation);
/* Drop a replica, here and on disk. */
void lbm_replication_replica_drop(struct lbm_node *node, struct replica *replica);

#endif
