/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who is a member, who is heard, who is suspected or slow, what the network measures, and a host that drains.
 */
#ifndef LBM_NODE_MEMBERSHIP_MEMBERSHIP_H
#define LBM_NODE_MEMBERSHIP_MEMBERSHIP_H

#include "node/core/core.h"

/* ---- capacity.c ---- */

/* Measured: others leave that part of the processors. */
void lbm_membership_on_capacity(struct lbm_node *node, double left);

/* ---- drain.c ---- */

void lbm_membership_drain_timer(struct lbm_node *node);
int64_t lbm_membership_drain_deadline(const struct lbm_node *node);

/* ---- failure_detector.c ---- */

int lbm_membership_may_propose(
    const struct lbm_node *node); /* the last proposal had its time, and the log takes them */
void lbm_membership_detector_step(struct lbm_node *node); /* first in every step: was this host running? */
void lbm_membership_detector_timer(struct lbm_node *node);
uint32_t lbm_membership_suspicion_count(const struct lbm_node *node, uint32_t host);

/* ---- membership.c ---- */

void lbm_membership_start(struct lbm_node *node);
void lbm_membership_timer(struct lbm_node *node);
/* After an entry about members was applied: those it touched, or `all` of them, may be others. */
void lbm_membership_changed(struct lbm_node *node, int all);
void lbm_membership_connected(struct lbm_node *node, uint32_t host);
void lbm_membership_on_hello(struct lbm_node *node, const Lbm__Peer *message);
void lbm_membership_on_ping(struct lbm_node *node, const Lbm__Peer *message);

/* ---- peers.c ---- */

/* The ACTIVE members are a host graph: node->view.hosts, up to date from here until the next entry. */
int lbm_membership_is_routable(struct lbm_node *node);
struct peer *lbm_membership_peer_of(struct lbm_node *node,
                                    uint32_t host); /* creates; NULL if memory is short */
struct peer *lbm_membership_peer_known(const struct lbm_node *node, uint32_t host); /* or NULL */
/* Nonzero while much of what was sent to that host has not left this one: repeating it would only lengthen
 * the queue. */
int lbm_membership_is_behind(const struct lbm_node *node, uint32_t host);
int lbm_membership_is_silent(const struct lbm_node *node, uint32_t host, int64_t limit_us);
/* Nothing is heard of a member for so long that lost pings are not the reason: where they are, one of many
 * hosts that are well always seems silent. In a large cluster most are heard in turn. */
int lbm_membership_is_unheard(const struct lbm_node *node, const struct lbm_member *member);
/* So many members that most are far away, and somebody always comes or goes. */
int lbm_membership_is_large(const struct lbm_node *node);
/* This host can hand nothing over nor take it, since its backup is silent. */
int lbm_membership_is_stuck(const struct lbm_node *node);
/* The same of any host, or nothing is heard of it: exchange goes on without it. */
int lbm_membership_is_absent(const struct lbm_node *node, uint32_t host);
/* Nonzero if it has been absent for so long that the end of MAPPING does not wait for it. */
int lbm_membership_is_left_out(const struct lbm_node *node, uint32_t host);

/* ---- straggler.c ---- */

/* It is slow, or calls this host slow: they meet only when both have settled. */
int lbm_membership_is_straggler(const struct lbm_node *node, uint32_t host);
/* So long a partner is waited for before it is asked again. */
int64_t lbm_membership_wait_us(const struct lbm_node *node, uint32_t host);

#endif
