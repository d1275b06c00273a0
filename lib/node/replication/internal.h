/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this room share. Nothing else includes this. */
#ifndef LBM_NODE_REPLICATION_INTERNAL_H
#define LBM_NODE_REPLICATION_INTERNAL_H

#include "node/core/core.h"

/* ---- replication_log.c ---- */

/* All slots are empty, nothing is numbered yet. */
void lbm_replication_forget(struct lbm_node *node);

/* ---- replica_store.c ---- */

/* The replica of an owner's incarnation, or NULL. */
struct replica *lbm_replication_replica_of(const struct lbm_node *node, uint32_t owner, uint64_t incarnation);
/* Drop a replica, here and on disk. */
void lbm_replication_replica_drop(struct lbm_node *node, struct replica *replica);

#endif
