/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the control log share (protocol.md section 2). Nothing else includes this.
 *
 *   control_log.c   storing, applying, what follows from an entry
 *   log_copy.c      the copy in memory
 *   proposals.c     commands that this host wants in the log
 *   propose_right.c which host may want which
 *   deferred.c      entries that may be stored a little later
 *   diverged.c      a copy that is not the cluster's log
 *   heard.c         entries and views from other hosts: which are taken
 *   alone.c         those that one host alone says are in the log
 *   log_snapshot.c  views in place of entries
 *   local.c         engine local: one daemon orders, all others follow it
 *   promote.c       engine local: terms, and who leads them
 *   confirm.c       engine local: a leader that starts asks the others before it orders anything
 *   external.c      engine external: the shell reaches a log that no daemon orders
 *   engine.c        which engine it is, as the log says
 *   terms.c         the present term, a promotion in progress, the ensemble, as this host knows them
 *   forced.c        the log is taken from an ensemble that has lost its majority
 *   ensemble.c      the ensemble of etcd that daemons run: its members, and when the log moves there */
#ifndef LBM_NODE_LOG_INTERNAL_H
#define LBM_NODE_LOG_INTERNAL_H

#include "node/core/core.h"

enum {
    LOG_COMPACT_MIN = 4096, /* entries since the last snapshot at which the next one is made */
    LOG_TAIL = 1024,        /* entries kept in memory behind a snapshot, for those who are a little late */
    LOG_HELD_US = 10000000, /* an entry that does not concern this host is stored after this at the latest */
};
_Static_assert(LOG_TAIL <= LOG_COMPACT_MIN,
               "what is kept behind a snapshot is not more than what leads to the next");
_Static_assert((int)LOG_HELD_US > (int)APPEND_AGAIN_US,
               "an entry may be held while its proposal is made again");

/* What differs between the engines. */
struct log_engine {
    void (*start)(struct lbm_node *node);                  /* what was stored is applied */
    void (*applied)(struct lbm_node *node, uint64_t from); /* all entries from `from` up to the view's */
    int (*append_waits)(const struct lbm_node *node); /* nonzero: the first proposal cannot be sent now */
    void (*append)(struct lbm_node *node);            /* send the first proposal, or again */
    int64_t (*append_deadline)(const struct lbm_node *node);
    void (*fetch)(struct lbm_node *node); /* somebody has newer entries */
    int64_t (*fetch_deadline)(const struct lbm_node *node);
};

extern const struct log_engine log_local, log_external;

/* ---- alone.c ---- */

/* Returns the host whose entries behind the copy wait for a second one, the longest copy first; LBM_NONE:
 * none does. */
uint32_t lbm_log_heard_alone(const struct lbm_node *node);
/* Ask a host for what comes behind the copy: entries, or the view if one waits for a second host. */
void lbm_log_ask(struct lbm_node *node, uint32_t host);
/* The same of the next host that is connected, but that one. */
void lbm_log_ask_other(struct lbm_node *node, uint32_t but);
/* What that host has said is forgotten; LBM_NONE: what all have. */
void lbm_log_heard_drop(struct lbm_node *node, uint32_t host);

/* ---- confirm.c ---- */

/* A leader has started: its disk may be an older copy, or empty. */
void lbm_log_confirm_disk(struct lbm_node *node);
/* Another host has entries up to `last`, more than this leader: it takes them if it has ordered none yet. */
void lbm_log_confirm_behind(struct lbm_node *node, uint32_t host, uint64_t last);
/* Nonzero if entries are taken from that host, though this one is the leader. */
int lbm_log_confirm_takes_from(const struct lbm_node *node, uint32_t host);
/* Nonzero if the host whose copy is the longest, as it says, answers that it has nothing that this one lacks:
 * in this life it does not count any more how much of the log that host says it has, and all are asked again.
 */
int lbm_log_confirm_refuted(struct lbm_node *node, uint32_t host, const Lbm__LogEntries *answer);
/* The same for a host that is known to have said what is not so. Does nothing in a host that follows. */
void lbm_log_confirm_untrue(struct lbm_node *node, uint32_t host);
/* A leader, or who is promoted, asks again whose copy is the longest, of those that count. */
void lbm_log_confirm_again(struct lbm_node *node);
/* The longest copy had until now to send something of what it says it has: once it has not in several rounds
 * it counts as one that has said what is not so. Nonzero: it does from now on. */
int lbm_log_confirm_silence(struct lbm_node *node);
/* An operator does not believe that host: what it says it has does not count any more, no round begins. */
void lbm_log_confirm_refuse(struct lbm_node *node, uint32_t host);
/* Somebody says that this copy is not the log: others are asked for what is longer. */
void lbm_log_confirm_doubt(struct lbm_node *node);
/* Nonzero unless that has happened with this host, or it alone says that this copy is not the log. */
int lbm_log_confirm_counts(const struct lbm_node *node, uint32_t host);
/* An answer to a poll of this round. */
void lbm_log_confirm_heard(struct lbm_node *node, const Lbm__LogPosition *position, uint32_t from);
/* The operator takes the risk: those that have not answered are passed over, or entries of a host that no
 * other one has. Nonzero if it waited. */
int lbm_log_confirm_force(struct lbm_node *node);
/* Continue the promotion of this host: take what the longest copy has, then confirm. */
void lbm_log_confirm_timer(struct lbm_node *node);

/* ---- deferred.c ---- */

/* The next entry as it came from elsewhere: stored at once, or a little later. */
void lbm_log_take(struct lbm_node *node, const uint8_t *command, size_t len);
/* Store what was deferred once its time is over. */
void lbm_log_deferred_timer(struct lbm_node *node);
/* Time, us, at which lbm_log_deferred_timer has something to do; INT64_MAX: none. */
int64_t lbm_log_deferred_deadline(const struct lbm_node *node);

/* ---- diverged.c ---- */

/* The copy has entries that the log does not have: this host takes part in nothing any more. */
void lbm_log_diverge(struct lbm_node *node);
/* LogEntries from another host, which may say that this copy is not the log, and that nobody waits for what
 * this host has. The leader is believed by those who follow it, any other host once a second one says the
 * same: that one is asked. In: is_source, whether entries are taken from it though it was not asked last.
 * Value: nonzero: nothing else follows from the message. */
int lbm_log_doubt_heard(struct lbm_node *node, const Lbm__Peer *message, int is_source);
/* Tell a host that asked for entries that its copy is not this log. */
void lbm_log_tell_diverged(struct lbm_node *node, const Lbm__Peer *asked);
/* Ask the next host what the log says of this one. */
void lbm_log_diverged_timer(struct lbm_node *node);
/* Time, us, at which lbm_log_diverged_timer has something to do; INT64_MAX: none. */
int64_t lbm_log_diverged_deadline(const struct lbm_node *node);

/* ---- engine.c ---- */

/* Nonzero if a host has taken the log from the ensemble that the view names, and the entry that says so is
 * not applied yet: that ensemble counts for nothing any more. */
static inline int
lbm_log_is_forced(const struct lbm_node *node)
{
    return node->forced > node->view.log_forced;
}
/* Nonzero if the log is in an ensemble of etcd that daemons run. */
static inline int
lbm_log_is_managed(const struct lbm_node *node)
{
    return node->view.external && node->view.ensemble.id != 0 && !lbm_log_is_forced(node);
}

/* Change the engine if the last entry that was applied says so, and tell the shell. */
void lbm_log_engine_follow(struct lbm_node *node);

/* ---- ensemble.c ---- */

/* Tell the shell who runs the ensemble, if that is news. */
void lbm_log_ensemble_tell(struct lbm_node *node);
/* The same once the stored log has been read. */
void lbm_log_ensemble_start(struct lbm_node *node);
/* Form an ensemble, move the log there, replace a member: what is due. */
void lbm_log_ensemble_timer(struct lbm_node *node);
/* Time, us, at which lbm_log_ensemble_timer has something to do; INT64_MAX: none. */
int64_t lbm_log_ensemble_deadline(const struct lbm_node *node);
/* The members of a new ensemble: hosts that are heard and can run one, of different failure domains first.
 * Out: out, its id 0. Value: 0: there are too few, or some host's version knows no ensembles. */
int lbm_log_ensemble_choose(const struct lbm_node *node, struct lbm_ensemble *out);
/* Nonzero if nothing is ordered by a daemon behind that command. */
int lbm_log_ensemble_closes(const uint8_t *bytes, size_t len);

/* ---- external.c ---- */

/* The log is in an ensemble from here on: its first entry there, and what follows. */
void lbm_log_external_begin(struct lbm_node *node);
/* LogEntries from another host, asked for since the ensemble does not answer. */
void lbm_log_external_heard(struct lbm_node *node, const Lbm__Peer *message);
/* LogAppend from a host that is no member yet: this one proposes it. */
void lbm_log_external_asked(struct lbm_node *node, const Lbm__Peer *message);

/* ---- heard.c ---- */

/* Entries from another host, of one that may be asked for them: those behind the copy are taken, in order, as
 * far as that host is believed, a second one has sent the same, or it alone has more than this host, which is
 * to lead, and might have had them ordered. Another host is asked for the rest. Value: nonzero: there is a
 * rest. */
int lbm_log_heard_entries(struct lbm_node *node, uint32_t from, const Lbm__LogEntries *entries);
/* An entry comes from where it is ordered: who has said that it is another one is told, and what it has said
 * is forgotten. In: from: whose word it is; LBM_NONE: etcd's. */
void lbm_log_known_entry(struct lbm_node *node, uint32_t from, uint64_t index, const uint8_t *bytes,
                         size_t len);

/* ---- local.c ---- */

/* Tell operators that the leader is lost, or heard again. */
void lbm_log_local_timer(struct lbm_node *node);
/* ---- log_copy.c ---- */

/* Returns the connected host after the one that was asked last; LBM_NONE: there is none. */
uint32_t lbm_log_next_connected(const struct lbm_node *node);
/* Ask a host for the entries that this one lacks. */
void lbm_log_send_fetch(struct lbm_node *node, uint32_t host);
/* Ask a host for its view, whether this one lacks entries of it or not. */
void lbm_log_send_fetch_view(struct lbm_node *node, uint32_t host);
/* The same of the next host, but who says that this copy is not the log. */
void lbm_log_fetch_other(struct lbm_node *node);
/* The same, and of the one that says so, which may take it back. */
void lbm_log_fetch_doubt(struct lbm_node *node);
/* Returns the index of the last entry of this host's copy; it may be ahead of the view. */
uint64_t lbm_log_last(const struct lbm_node *node);
/* An entry of the copy; index in log_base + 1 .. log_last. */
const struct lbm_recovered_entry *lbm_log_entry(const struct lbm_node *node, uint64_t index);
/* Append an entry to the copy in memory, ask for it to be stored, and apply it once it is. */
void lbm_log_store(struct lbm_node *node, const uint8_t *command, size_t len);
/* The first of it alone: the entry is held. 0: no memory, the step has failed. */
int lbm_log_add(struct lbm_node *node, const uint8_t *command, size_t len);
/* The cluster's log must be of the engine that is configured. */
void lbm_log_check_engine(struct lbm_node *node);
/* Returns the hash of all entries up to `index`. In: index, log_base to lbm_log_last. */
uint64_t lbm_log_chain(const struct lbm_node *node, uint64_t index);
/* Append an entry to the copy in memory. Takes entry.command. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_log_add_entry(struct lbm_node *node, struct lbm_recovered_entry entry) LBM_MUST_CHECK;

/* ---- log_snapshot.c ---- */

/* Begin from a stored snapshot. */
void lbm_log_snapshot_start(struct lbm_node *node, const struct lbm_recovered *recovered);
/* Delete what is stored of jobs that are not in the view: also at the start, since a crash may have come
 * between a snapshot and what followed from it. */
void lbm_log_snapshot_drop_jobs(struct lbm_node *node);
/* Take a view that is newer than the whole copy: it is stored first, and counts once it is durable. */
void lbm_log_snapshot_install(struct lbm_node *node, const uint8_t *bytes, size_t len);
/* A transaction is durable: the view may be it. */
void lbm_log_snapshot_persisted(struct lbm_node *node);
/* Send the view, in parts, to a host that asks for entries that are gone. */
void lbm_log_snapshot_send(struct lbm_node *node, uint32_t host);
/* Make a snapshot if there are many entries since the last one. */
void lbm_log_compact(struct lbm_node *node);
/* Nonzero while a view that was taken is being stored. */
int lbm_log_snapshot_pending(const struct lbm_node *node);

/* ---- forced.c ---- */

/* Store that the log was taken from its ensemble by force in that term, and leave the ensemble. */
void lbm_log_forced_store(struct lbm_node *node, uint64_t forced);
/* A message about the log, of that term and its leader: it may tell of a log that was taken by force. Value:
 * 0: its sender has yet to hear of that, and has been told; nothing else follows from its message. */
int lbm_log_forced_heard(struct lbm_node *node, const Lbm__Peer *message, uint64_t term, uint32_t leader);
/* Answer PromoteRequest while the log is in an ensemble. */
void lbm_log_forced_answer(struct lbm_node *node, const struct client *client, const Lbm__Request *request);
/* The first promises are to be asked for. Value: 0: the ensemble answers; out: why not. In: size, of why. */
int lbm_log_forced_may_begin(const struct lbm_node *node, char *why, size_t size);
/* Propose the entry that says so, until it is in the log. */
void lbm_log_forced_timer(struct lbm_node *node);

/* ---- promote.c ---- */

/* Begin one. In: client, 0: the leader itself asks for it. */
void lbm_log_promote_begin(struct lbm_node *node, uint64_t client, uint64_t request, int force);
/* Nonzero if an operator may promote this host. */
int lbm_log_may_promote(const struct lbm_node *node);
/* Follow another host, in a higher term; LBM_NONE: this one has yet to take the role. */
void lbm_log_enter_term(struct lbm_node *node, uint64_t term, uint32_t leader);
/* Nonzero if entries are taken from this host: the leader, or the longest copy during a promotion. */
int lbm_log_is_source(const struct lbm_node *node, uint32_t host);
/* As it was stored. */
void lbm_log_term_start(struct lbm_node *node, const struct lbm_recovered *recovered);
/* Follow who leads by the log itself, while no term says more: a contact need not be the leader. */
void lbm_log_leader_read(struct lbm_node *node);
/* A message of this term, and who leads it (LBM_NONE: not known). Nonzero if it is of the present term. */
int lbm_log_term_heard(struct lbm_node *node, uint64_t term, uint32_t leader, uint32_t from);
/* Ask all others that take part, or ask again those that have not answered. */
void lbm_log_promote_begin_round(struct lbm_node *node, enum promotion_round round);
/* Send LogPoll of the present round of a promotion to a host. */
void lbm_log_promote_send_poll(struct lbm_node *node, uint32_t host);
/* Every host that takes part must promise, once more. */
void lbm_log_promote_ask_again(struct lbm_node *node);
/* A host that was asked has more than this one. In: last, of its copy. */
void lbm_log_promote_behind(struct lbm_node *node, uint64_t last, uint32_t host);
/* Nonzero while this host is to lead and takes what it lacks from others. */
int lbm_log_promote_takes(const struct lbm_node *node);
/* Ask the longest copy for what this host lacks, and another one if it is to say the same. */
void lbm_log_promote_fetch_rest(struct lbm_node *node);
/* Entries are applied: more may be taken now. */
void lbm_log_promote_applied(struct lbm_node *node);
/* After a restart: a promotion that had asked for promises goes on. */
void lbm_log_promote_resume(struct lbm_node *node);
/* Continue or give up a promotion (protocol.md section 2). */
void lbm_log_promote_timer(struct lbm_node *node);
/* Time, us, at which lbm_log_promote_timer has something to do; INT64_MAX: none. */
int64_t lbm_log_promote_deadline(const struct lbm_node *node);

/* ---- propose_right.c ---- */

/* Nonzero if the leader may order that command of that host; else an operator is told, at most every ten
 * seconds. */
int lbm_log_may_propose(struct lbm_node *node, uint32_t from, const Lbm__Command *command);

/* The same, and nobody is told. Takes what the view has now. */
int lbm_log_propose_check(struct lbm_node *node, uint32_t from, const Lbm__Command *command);

/* ---- proposals.c ---- */

/* Found the cluster: as the first proposal, which is void once there is an entry. */
void lbm_log_bootstrap(struct lbm_node *node);
/* The first proposal is done with. */
void lbm_log_append_done(struct lbm_node *node);
/* The proposal is void, or done with. */
void lbm_log_append_drop(struct lbm_node *node, size_t at);
/* All proposals are given up; whoever waits for one hears so. */
void lbm_log_proposals_end(struct lbm_node *node);
/* Send the first proposal. One at a time keeps a host's own commands in order. */
void lbm_log_try_append(struct lbm_node *node);

/* ---- terms.c ---- */

/* Store that the present term has this leader; LBM_NONE: it has yet to take the role. */
void lbm_log_store_term(struct lbm_node *node, uint32_t leader);
/* Returns the term that this host would tell others: the log may know of a later one than it has led or
 * followed. */
uint64_t lbm_log_known_term(const struct lbm_node *node);
/* Returns who leads that term; LBM_NONE: nobody yet. */
uint32_t lbm_log_known_leader(const struct lbm_node *node);
/* Who asks the wrong host, or has yet to hear of a term, learns who leads. */
void lbm_log_tell_leader(struct lbm_node *node, uint32_t host);
/* Send a host this copy's entries from that index on; a leader, those that it has applied. */
void lbm_log_send_entries(struct lbm_node *node, uint32_t host, uint64_t from);
/* Who is being promoted while the log has moved into its ensemble is sent the entry that says so, and those
 * after it. */
void lbm_log_tell_moved(struct lbm_node *node, uint32_t host);
/* The operator who waits for a promotion, if one does, hears how it is. */
void lbm_log_promotion_answer(struct lbm_node *node, enum lbm_err err, const char *why);
/* A promotion is over; the operator who waits for it hears how. */
void lbm_log_promotion_ends(struct lbm_node *node, enum lbm_err err, const char *why);
/* The local engine ends: so does a promotion in progress. */
void lbm_log_promote_over(struct lbm_node *node);
/* Nonzero if some member of the ensemble answers this host, and knows who leads it. */
int lbm_log_ensemble_answers(const struct lbm_node *node);

#endif
