/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the view share. Internal to them.
 *
 *   view.c           look up, apply, jobs
 *   log_place.c      where the log is
 *   members.c        commands about members: who joins, states
 *   departures.c     commands by which they go; successors
 *   hosts.c          the host graph that follows
 *   view_cache.c     one view for many nodes
 *   view_requests.c  requests of clients that the log has
 *   job_terms.c      a job's policy and throttle, to and from commands
 *   view_snapshot.c  the view as bytes */
#ifndef LBM_NODE_VIEW_INTERNAL_H
#define LBM_NODE_VIEW_INTERNAL_H

#include "base/check.h"
#include "node/view/view.h"

/* Apply one command to the view. Errors: LBM_E_NOMEM. A command that is not valid here writes why into
 * refusal (LBM_DIAG_TEXT_MAX bytes) and changes nothing. */
typedef enum lbm_err lbm_view_apply_fn(struct lbm_view *view, const Lbm__Command *command, char *refusal);

lbm_view_apply_fn lbm_view_apply_join, lbm_view_apply_activate, lbm_view_apply_set, lbm_view_apply_drain,
    lbm_view_apply_change_backup, lbm_view_apply_leave, lbm_view_apply_evict, lbm_view_apply_in_sync,
    lbm_view_apply_take_over, lbm_view_apply_rejoin, lbm_view_apply_maintain, lbm_view_apply_ensemble,
    lbm_view_apply_log_move;

/* The member that a command names in its present incarnation, or NULL with a refusal. */
struct lbm_member *lbm_view_member_named(const struct lbm_view *view, uint32_t host, uint64_t incarnation,
                                         char *refusal);
/* Refuse, since the member is in the state that it is in. */
void lbm_view_refuse_state(const struct lbm_member *member, char *refusal);
/* The member is in that state from the present entry on. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_view_set_state(struct lbm_view *view, struct lbm_member *member,
                                enum lbm_member_state state) LBM_MUST_CHECK;
/* ---- backups.c ---- */

/* Another backup in a slot of a member, or LBM_NONE. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_view_set_backup(struct lbm_view *view, struct lbm_member *owner, unsigned slot,
                                 uint32_t backup) LBM_MUST_CHECK;
/* Give a slot of a member the fittest backup there is. Its replication log begins again: nothing is known to
 * be there. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_view_give_backup(struct lbm_view *view, struct lbm_member *owner,
                                  unsigned slot) LBM_MUST_CHECK;
/* The same for all slots. */
enum lbm_err lbm_view_give_all_backups(struct lbm_view *view, struct lbm_member *owner) LBM_MUST_CHECK;
/* New backups for all whose backup was that host, or LBM_NONE: who had none. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_view_give_backups(struct lbm_view *view, uint32_t lost) LBM_MUST_CHECK;
/* Nonzero if others should keep no copies with a member: it drains, or is in maintenance. */
int lbm_view_is_poor_backup(const struct lbm_member *member);

/* Nonzero if the log has that request already: a client that had no answer has asked again, and the first
 * entry counts. Out: refusal says which one it is. */
int lbm_view_request_known(const struct lbm_view *view, uint64_t request, char *refusal);
/* The entry at hand carries out a request, 0: none. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_view_request_append(struct lbm_view *view, uint64_t request, int is_refused) LBM_MUST_CHECK;

/* The member of that id, or NULL. */
struct lbm_member *lbm_view_member_of(const struct lbm_view *view, uint32_t host);

/* An empty member of an id that is new. Errors: LBM_E_NOMEM. *out stays valid until the next. */
enum lbm_err lbm_view_add_member(struct lbm_view *view, uint32_t host, const char *name,
                                 struct lbm_member **out) LBM_MUST_CHECK;
/* Returns the FNV-1a hash of a name. */
uint32_t lbm_view_name_hash(const char *name);

/* Nonzero if a member in that state runs vertices or hands them over. */
static inline int
lbm_state_participates(enum lbm_member_state state)
{
    return state == LBM_MEMBER_JOINING || state == LBM_MEMBER_ACTIVE || state == LBM_MEMBER_DRAINING;
}

/* The member is ACTIVE now, or is not any more, or has another capacity: numbers. */
enum lbm_err lbm_view_number_active(struct lbm_view *view, const struct lbm_member *member) LBM_MUST_CHECK;

/* The ACTIVE members or their links have changed: the host graph is another one, to be made when somebody
 * asks. It depends on nothing that a later entry changes: who joined later does not stand between others yet.
 */
void lbm_view_derive(struct lbm_view *view);

/* The entry at hand changes that member. */
enum lbm_err lbm_view_touch(struct lbm_view *view, uint32_t host) LBM_MUST_CHECK;

/* Where members and numbers are found, and how many primaries each member has, for a view read from a
 * snapshot.
 */
enum lbm_err lbm_view_index(struct lbm_view *view) LBM_MUST_CHECK;

/* Somebody has no view of that one any more. */
void lbm_view_release(struct lbm_shared_view *shared);

/* The same for a view read from a snapshot: the host graph is as old as view->topology, and its links are
 * those the members had then. view->routable is 0 afterwards if these links are no host graph. */
enum lbm_err lbm_view_restore_hosts(struct lbm_view *view, const struct lbm_link *links,
                                    size_t n_links) LBM_MUST_CHECK;

#endif
