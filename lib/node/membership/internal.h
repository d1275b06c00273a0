/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this room share. Nothing else includes this. */
#ifndef LBM_NODE_MEMBERSHIP_INTERNAL_H
#define LBM_NODE_MEMBERSHIP_INTERNAL_H

#include "node/core/core.h"

/* ---- eviction_cap.c ---- */

/* The members of the last ten minutes, and of them those that this host takes to be lost: evicted and not
 * back, or not heard. The same of failure domains; 0 if some host declares none. */
struct losses {
    uint32_t hosts, lost, domains, lost_domains;
};

/* The log says that a host is evicted. */
void lbm_membership_evicted(struct lbm_node *node, uint32_t host);
/* Count. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_membership_losses(struct lbm_node *node, struct losses *losses) LBM_MUST_CHECK;
/* Nonzero if hosts may be evicted without an operator when that many are lost. */
int lbm_membership_may_evict(const struct lbm_node *node, const struct losses *losses);

/* ---- failure_detector.c ---- */

/* A ping names the hosts that its sender suspects; one that it does not name is not suspected by it any more.
 * In: suspect [n]. */
void lbm_membership_suspicion_heard(struct lbm_node *node, uint32_t from, size_t n, const uint32_t *suspect);
/* The log went on: watch the hosts that are to be watched now. In: all, whether any host may have changed. */
void lbm_membership_detector_view_changed(struct lbm_node *node, int all);

/* ---- maintenance.c ---- */

/* The log went on: who is in maintenance now, and until when. In: all, whether any host may have changed. */
void lbm_membership_maintenance_view_changed(struct lbm_node *node, int all);

/* ---- peers.c ---- */

/* Nonzero if this host should hear from that member: a linked one, its backup, its primaries, or any of a
 * small cluster. */
int lbm_membership_is_watched(const struct lbm_node *node, const struct lbm_member *member);

/* ---- straggler.c ---- */

/* Nonzero if a host answers much later than most that this host watches. */
int lbm_membership_is_slow(const struct lbm_node *node, uint32_t host);

#endif
