/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this room share. Nothing else includes this. */
#ifndef LBM_NODE_MEMBERSHIP_INTERNAL_H
#define LBM_NODE_MEMBERSHIP_INTERNAL_H

#include "node/core/core.h"

/* ---- failure_detector.c ---- */

/* A ping names the hosts that its sender suspects; one that it does not name is not suspected by it any more.
 * In: suspect [n]. */
void lbm_membership_suspicion_heard(struct lbm_node *node, uint32_t from, size_t n, const uint32_t *suspect);
/* The log went on: watch the hosts that are to be watched now. In: all, whether any host may have changed. */
void lbm_membership_detector_view_changed(struct lbm_node *node, int all);

/* ---- peers.c ---- */

/* Nonzero if this host should hear from that member: a linked one, its backup, its primaries, or any of a
 * small cluster. */
int lbm_membership_is_watched(const struct lbm_node *node, const struct lbm_member *member);

/* ---- straggler.c ---- */

/* Nonzero if a host answers much later than most that this host watches. */
int lbm_membership_is_slow(const struct lbm_node *node, uint32_t host);

#endif
