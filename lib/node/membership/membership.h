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

/* A host that drains: change its backup, hand on the lead, leave when it is empty (protocol.md section 9). */
void lbm_membership_drain_timer(struct lbm_node *node);
/* Time, us, at which lbm_membership_drain_timer has something to do; INT64_MAX: none. */
int64_t lbm_membership_drain_deadline(const struct lbm_node *node);

/* ---- failure_detector.c ---- */

/* Nonzero if the last proposal had its time and the log takes another. */
int lbm_membership_may_propose(const struct lbm_node *node);
void lbm_membership_detector_step(struct lbm_node *node); /* first in every step: was this host running? */
/* Suspect hosts that are not heard; propose their eviction when enough suspect them (protocol.md section 8).
 */
void lbm_membership_detector_timer(struct lbm_node *node);
/* Returns the number of hosts that suspect that one, this host included. */
uint32_t lbm_membership_suspicion_count(const struct lbm_node *node, uint32_t host);

/* ---- maintenance.c ---- */

/* Time, us, until which a host may be silent without being suspected; 0: it is not in maintenance. */
int64_t lbm_membership_maintenance_end(const struct lbm_node *node, uint32_t host);
/* Say that a maintenance is over: of this host, and of those whose backup it is. */
void lbm_membership_maintenance_timer(struct lbm_node *node);
/* Time, us, at which lbm_membership_maintenance_timer has something to do; INT64_MAX: none. */
int64_t lbm_membership_maintenance_deadline(const struct lbm_node *node);

/* ---- membership.c ---- */

/* Nonzero if that host is one of those to ask while this one knows no cluster. */
int lbm_membership_is_contact(const struct lbm_node *node, uint32_t host);
struct applicant;
/* A message has come of a host that is no member. */
void lbm_membership_outsider_heard(struct lbm_node *node, uint32_t host);
/* Nonzero if it speaks to this host, is no member, and cannot be reached where it says that it is. */
int lbm_membership_is_outside(const struct lbm_node *node, const struct applicant *applicant);

/* Begin as a member that the view knows, or ask to join. */
void lbm_membership_start(struct lbm_node *node);
/* Send pings, and propose what this host's membership needs. */
void lbm_membership_timer(struct lbm_node *node);
/* After an entry about members was applied: those it touched, or `all` of them, may be others. */
void lbm_membership_changed(struct lbm_node *node, int all);
/* A connection came up: Hello goes first, then what was lost with the last one. */
void lbm_membership_connected(struct lbm_node *node, uint32_t host);
/* Hello: version, incarnation and address of a host, which may be no member yet. */
void lbm_membership_on_hello(struct lbm_node *node, const Lbm__Peer *message);
/* Ping: load reports, suspicions, round-trip times of a member. */
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
/* Nonzero if a host has not been heard for limit_us. */
int lbm_membership_is_unreachable(const struct lbm_node *node, uint32_t host, int64_t limit_us);
/* Returns for how long, us, that host has not been heard, though it could be: since this host expects
 * something of it. */
int64_t lbm_membership_silence(const struct lbm_node *node, uint32_t host);
/* Nonzero if that host's program does not speak what this one's cluster does: its messages are void. */
int lbm_membership_is_foreign(const struct lbm_node *node, uint32_t host);
/* Nonzero if the version of that host, as it says, knows ensembles of etcd. */
int lbm_membership_knows_ensembles(const struct lbm_node *node, uint32_t host);
/* Nonzero if that host is heard and connected, and says that it can run etcd. */
int lbm_membership_runs_etcd(const struct lbm_node *node, uint32_t host);
/* Nonzero if a member has not been heard for as long as it should have been; in a large cluster most are
 * heard in turn. */
int lbm_membership_is_overdue(const struct lbm_node *node, const struct lbm_member *member);
/* Nonzero if the cluster has that many members that most are not watched by this host. */
int lbm_membership_is_large(const struct lbm_node *node);
/* Nonzero if this host can neither hand over nor take, since its backup is unreachable. */
int lbm_membership_has_lost_backup(const struct lbm_node *node);
/* The same of any host, or nothing is heard of it: exchange goes on without it. */
int lbm_membership_is_unavailable(const struct lbm_node *node, uint32_t host);
/* Nonzero if what that host offers is taken by nobody at present, since it alone could say that the vertices
 * are not those of a host that is not heard (docs/protocol.md section 6). */
int lbm_membership_offers_wait(const struct lbm_node *node, uint32_t host);
/* Nonzero if it has been unreachable for so long that the end of MAPPING does not wait for it. */
int lbm_membership_is_excluded(const struct lbm_node *node, uint32_t host);

/* ---- straggler.c ---- */

/* Nonzero if a host is slow, or calls this host slow: they meet only when both have settled. */
int lbm_membership_is_straggler(const struct lbm_node *node, uint32_t host);
/* Time, us, that a partner is waited for before it is asked again. */
int64_t lbm_membership_wait_us(const struct lbm_node *node, uint32_t host);

#endif
