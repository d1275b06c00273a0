/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of lib/node share. Nothing outside lib/node includes this.
 *
 *   node.c       step function: dispatch, timers, life of a node
 *   effects.c    effects and persist operations
 *   membership.c join, activate, who was heard when
 *   network.c    round-trip times to others, and network coordinates; network_links.c: links that follow
 *   pace.c       who is much slower than others
 *   control_log.c this host's copy of the log; its engines and snapshots: log_internal.h
 *   jobs.c       life of a job on this host
 *   submit.c     a guest from a client to a job
 *   parts.c      the same when several hosts read it, each a part; what their home does: gather.c
 *   begin.c      what is stored of a job before the log knows it
 *   planning.c   plans at the job's home; what they compute: plan_task.c, plan_again.c
 *   records.c    every change of a vertex record: rank, sequence, storing
 *   stream.c     the owner's side of replication: changes to the buddy, leases from it
 *   replica.c    the buddy's side: what it keeps of others, leases it grants
 *   adopt.c      the heir's side, and what an evicted host does
 *   suspect.c    silence, suspicion, proposals to evict
 *   drain.c      giving everything away, and leaving
 *   application.c what an application may work on
 *   change.c     changes of the guest by its applications: guest.h, as the next two
 *   edges.c      changed edges, told to those who own the other ends
 *   ids.c        ids of vertices that are added
 *   load.c       loads that applications report, and what they add up to
 *   handoff.c    PROTOCOL section 4: offers, answers, retries
 *   pinned.c     vertices that go to where they are pinned
 *   moves.c      why vertices went, for those who ask
 *   gates.c      what keeps vertices from moving too much
 *   finish.c     FIN: when a record will not be asked for again, and goes
 *   ghosts.c     what neighbours must know of our vertices, and where theirs went
 *   mapping.c    diffusion, and ownership that follows regions
 *   frame.c      renormalization, and how large regions are: frame.h
 *   outline.c    a plan of what all hosts have coarsened; the graph of it: outline_graph.c; of jobs that
 *                run: outline_again.c; what such plans compare with: usual.c
 *   session.c    exchange sessions by colour rounds, termination; settled.c: once that is known
 *   pair.c       one meeting of two hosts; promise.c: amounts that are agreed before they move
 *   exchange.c   what it moves, GDE's share and pair refinement: exchange.h; band.c: of what
 *   columns.c    records on the wire: columns.h
 *   policy.c     which load policy a job has
 *   level.c      loads levelled on numbers, before anything moves
 *   transfer.c   carrying the flows out
 *   requests.c   answers to clients
 *   operate.c    what operators do to hosts, and the events they read
 *   collect.c    mappings and places gathered from all hosts */
#ifndef LBM_NODE_CORE_INTERNAL_H
#define LBM_NODE_CORE_INTERNAL_H

#include "base/check.h"
#include "node/core/events.h"
#include "node/core/mutants.h"
#include "node/core/state.h"
#include "node/core/timeouts.h"
#include "node/mapping/normalization.h"
#include "node/membership/network.h"
#include "node/migration/history.h"

/* ---- effects.c: append to node->out; a shortage of memory sets node->failed ------------------------ */

void lbm_core_note(struct lbm_node *node, enum lbm_note_level level, const char *fmt, ...) LBM_PRINTF(3, 4);
void lbm_core_dial(struct lbm_node *node, uint32_t host, const char *address);
/* LOG_APPEND, LOG_FOLLOW, LOG_COMPACT; copies the bytes. */
void lbm_core_emit_log(struct lbm_node *node, enum lbm_effect_kind kind, uint64_t index, const uint8_t *bytes,
                       size_t len);

/* Fill the envelope, pack and send once every transaction asked for so far is durable. */
void lbm_core_send(struct lbm_node *node, uint32_t host, Lbm__Peer *message);
/* The same at once: nothing stored depends on it. */
void lbm_core_send_now(struct lbm_node *node, uint32_t host, Lbm__Peer *message);
/* Lossy, but like lbm_core_send not before what it tells is durable. */
void lbm_core_send_stored_lossy(struct lbm_node *node, uint32_t host, Lbm__Peer *message);
/* At once and lossy. */
void lbm_core_send_lossy(struct lbm_node *node, uint32_t host, Lbm__Peer *message);
void lbm_core_reply(struct lbm_node *node, uint64_t client, uint64_t request, int last,
                    Lbm__Response *response);
/* The same once every transaction asked for so far is durable. */
void lbm_core_reply_stored(struct lbm_node *node, uint64_t client, uint64_t request, int last,
                           Lbm__Response *response);
void lbm_core_reply_error(struct lbm_node *node, uint64_t client, uint64_t request, enum lbm_err code,
                          const char *fmt, ...) LBM_PRINTF(5, 6);

/* Add an operation to the transaction of this step, which end_step issues. Takes what the op owns. */
void lbm_core_persist(struct lbm_node *node, struct lbm_persist_op op);
/* Issue the open transaction now, so that later sends of this step wait for it. */
void lbm_core_persist_flush(struct lbm_node *node);
void lbm_records_persist_vertex(struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex);
void lbm_core_fail(struct lbm_node *node, enum lbm_err err);

/* ---- membership.c ----------------------------------------------------------------------------------- */

void lbm_membership_start(struct lbm_node *node);
void lbm_membership_timer(struct lbm_node *node);
/* After an entry about members was applied: those it touched, or `all` of them, may be others. */
void lbm_membership_changed(struct lbm_node *node, int all);
/* The ACTIVE members are a host graph: node->view.hosts, up to date from here until the next entry. */
int lbm_membership_is_routable(struct lbm_node *node);
void lbm_membership_connected(struct lbm_node *node, uint32_t host);
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
/* This host can hand nothing over nor take it, since its buddy is silent. */
int lbm_membership_is_stuck(const struct lbm_node *node);
/* The same of any host, or nothing is heard of it: exchange goes on without it. */
int lbm_membership_is_absent(const struct lbm_node *node, uint32_t host);
/* Nonzero if it has been absent for so long that the end of MAPPING does not wait for it. */
int lbm_membership_is_left_out(const struct lbm_node *node, uint32_t host);
void lbm_membership_on_hello(struct lbm_node *node, const Lbm__Peer *message);
void lbm_membership_on_ping(struct lbm_node *node, const Lbm__Peer *message);

/* ---- pace.c ------------------------------------------------------------------------------------------- */

/* It answers much later than most that this host watches. */
int lbm_membership_is_slow(const struct lbm_node *node, uint32_t host);
/* It is slow, or calls this host slow: they meet only when both have settled. */
int lbm_membership_is_straggler(const struct lbm_node *node, uint32_t host);
/* So long a partner is waited for before it is asked again. */
int64_t lbm_membership_wait_us(const struct lbm_node *node, uint32_t host);

/* ---- control_log.c ---------------------------------------------------------------------------------- */

void lbm_log_start(struct lbm_node *node, struct lbm_recovered *recovered);
void lbm_log_persisted(struct lbm_node *node);
void lbm_log_timer(struct lbm_node *node);
int64_t lbm_log_deadline(const struct lbm_node *node);
void lbm_log_append(struct lbm_node *node, const Lbm__Command *command);
/* Until then, or not at all: then lbm_client_proposal_given_up, or lbm_job_given_up, is called. Returns the
 * proposal's token. */
uint64_t lbm_log_append_until(struct lbm_node *node, const Lbm__Command *command, int64_t until_us);
/* Its client is gone: it is void unless it may be in the log. */
void lbm_log_withdraw(struct lbm_node *node, uint64_t token);
void lbm_log_append_suspicion(struct lbm_node *node, const Lbm__Command *command, uint32_t suspect);
void lbm_log_fetch(struct lbm_node *node);
/* Engine local: another host is asked to order the log if this one does, as must be before this one may be
 * evicted. Nonzero while this one is the leader. */
int lbm_log_hand_over(struct lbm_node *node);
/* reach.c: nonzero unless what another host says is more than `step` above what is known here; then an
 * operator is told, and it must not be taken. */
int lbm_local_within_reach(struct lbm_node *node, uint32_t from, const char *what, uint64_t value,
                           uint64_t known, uint64_t step);
/* The same of an epoch of that job. */
static inline int
is_epoch_within_reach(struct lbm_node *node, uint32_t from, const struct job *job, uint64_t epoch)
{
    return lbm_local_within_reach(node, from, "epoch", epoch, job->shard.epoch_top, LBM_EPOCH_STEP);
}
/* A host that takes this one for a member belongs to another cluster. */
void lbm_log_stranger(struct lbm_node *node, const Lbm__Peer *message);
/* Ask for the entries to be stored that wait for it. */
void lbm_log_store_deferred(struct lbm_node *node);
/* The sender of a message knows a newer view. */
void lbm_log_view_heard(struct lbm_node *node, const Lbm__Peer *message);
void lbm_log_on_fetch(struct lbm_node *node, const Lbm__Peer *message);
void lbm_log_on_entries(struct lbm_node *node, const Lbm__Peer *message);
void lbm_log_on_append(struct lbm_node *node, const Lbm__Peer *message);
void lbm_log_on_poll(struct lbm_node *node, const Lbm__Peer *message);
void lbm_log_on_position(struct lbm_node *node, const Lbm__Peer *message);
void lbm_log_answer_promote(struct lbm_node *node, const struct client *client, const Lbm__Request *request);
void lbm_log_answer(struct lbm_node *node, const struct client *client, const Lbm__Request *request);
void lbm_log_on_snapshot(struct lbm_node *node, const Lbm__Peer *message);
void lbm_log_on_result(struct lbm_node *node, const Lbm__Peer *message);
void lbm_log_on_external_result(struct lbm_node *node, uint64_t index, enum lbm_log_result result);
void lbm_log_on_external_entries(struct lbm_node *node, uint64_t from, const struct lbm_bytes *command,
                                 size_t n, int caught_up);
void lbm_log_on_external_snapshot(struct lbm_node *node, uint64_t index, const struct lbm_bytes *view);

/* ---- jobs.c ----------------------------------------------------------------------------------------- */

struct job *lbm_local_job(const struct lbm_node *node, uint64_t id);
struct job *lbm_job_add(struct lbm_node *node, uint64_t id);
/* Its object stays, out of reach, while another thread reads its guest. */
void lbm_job_remove(struct lbm_node *node, uint64_t id);
struct job *lbm_job_removed(const struct lbm_node *node, uint64_t id); /* such an object, or NULL */
void lbm_job_forget_removed(struct lbm_node *node);                    /* those that nobody reads any more */
void lbm_job_free_all(struct lbm_node *node);
void lbm_job_recover(struct lbm_node *node, struct lbm_recovered *recovered);
void lbm_job_created(struct lbm_node *node, const struct lbm_job_entry *entry); /* by the log */
void lbm_job_refused(struct lbm_node *node, const Lbm__JobCreate *create, const char *why);
/* The proposal was given up. at: index where it may be all the same; 0: nowhere. */
void lbm_job_given_up(struct lbm_node *node, uint64_t id, uint64_t at);
void lbm_job_deleted(struct lbm_node *node, uint64_t id);
void lbm_job_lost_all(struct lbm_node *node); /* all of them, by eviction */
void lbm_job_view_changed(struct lbm_node *node, int topology_changed, int all);
void lbm_job_timer(struct lbm_node *node);
int64_t lbm_job_deadline(const struct lbm_node *node);
/* As pulses say it: the part of MAPPING has come to rest; once settled, all partners have been met, and no
 * plan is awaited. */
int lbm_job_is_ready(const struct lbm_node *node, const struct job *job);
void lbm_job_enter(struct lbm_node *node, struct job *job, enum lbm_phase phase);
void lbm_job_store_state(struct lbm_node *node, struct job *job, enum lbm_job_state state);
void lbm_local_free_guest(struct job *job);
void lbm_job_propose(struct lbm_node *node, struct job *job);      /* once the guest is with the buddy */
struct pulse *lbm_local_report_of(struct job *job, uint32_t host); /* creates; NULL if memory is short */
const struct pulse *lbm_local_report_known(const struct job *job, uint32_t host); /* or NULL */
/* Target load T_p of this host and its limit, work units. */
double lbm_local_target(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t host);
uint64_t lbm_local_limit(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t host);

/* Ownership follows regions while coordinates diffuse. */
static inline int
follows_regions(const struct job *job, const struct lbm_job_entry *entry)
{
    return !job->outlined && (entry->start == LBM_START_CENTRE || entry->start == LBM_START_RANDOM ||
                              entry->start == LBM_START_OUTLINE);
}

/* ---- policy.c --------------------------------------------------------------------------------------- */

/* H of the view, its topology known by name if it has one. Borrows: not to be freed. */
struct lbm_hosts lbm_exchange_policy_hosts(const struct lbm_node *node);
/* The policy that is asked for, with its parameters. Errors: as diag says. */
enum lbm_err lbm_exchange_policy_choose(struct lbm_node *node, uint32_t asked, uint32_t schedule,
                                        struct lbm_job_policy *out, struct lbm_diag *diag) LBM_MUST_CHECK;
/* Tells the operator what of a job's entry this program does not know, and does instead. */
void lbm_exchange_policy_tell_unknown(struct lbm_node *node, const struct lbm_job_entry *entry);
void lbm_exchange_policy_change(struct lbm_node *node, const struct client *client,
                                const struct lbm_job_entry *entry, const Lbm__JobChange *change);

/* ---- level.c, transfer.c ------------------------------------------------------------------------------ */

/* Entering BALANCING: nonzero if loads are levelled first; lbm_exchange_start follows then by itself. */
int lbm_exchange_flow_begin(struct lbm_node *node, struct job *job);
void lbm_exchange_flow_timer(struct lbm_node *node, struct job *job);
void lbm_exchange_flow_stop(struct job *job); /* what has begun to move arrives */
void lbm_exchange_flow_free(struct levelling *level);
void lbm_exchange_flow_policy_changed(struct lbm_node *node, uint64_t job); /* by the log */
void lbm_exchange_on_flow(struct lbm_node *node, const Lbm__Peer *message);
/* Make the schedule of what has been levelled, and carry it out. */
void lbm_migration_transfer_start(struct lbm_node *node, struct job *job);
/* Nonzero once all is over. */
int lbm_migration_transfer_timer(struct lbm_node *node, struct job *job);
/* Vertices of a job that may be on their way to one host. */
uint32_t lbm_migration_transfer_window(const struct lbm_node *node, const struct job *job);
void lbm_migration_transfer_stop(struct job *job);
void lbm_migration_on_transfer(struct lbm_node *node, const Lbm__Peer *message);

/* ---- begin.c ---------------------------------------------------------------------------------------- */

/* The job is PENDING, with the command that tells after a restart what becomes of it. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_job_store_pending(struct lbm_node *node, struct job *job,
                                   const Lbm__JobCreate *create) LBM_MUST_CHECK;
/* Every row of job->guest is OWN(1), stored by one operation and on its way to the buddy. The first is vertex
 * `first`; whole > 0: of a guest of so many, others have the others. places: draws where vertices begin,
 * should coordinates diffuse, or NULL. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_job_store_rows(struct lbm_node *node, struct job *job, uint32_t first, uint32_t whole,
                                struct lbm_rng *places) LBM_MUST_CHECK;

/* ---- planning.c ------------------------------------------------------------------------------------- */

void lbm_job_plan_begin(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
/* Have job->guest planned on job->plan_hosts; they stay until it is. */
void lbm_job_plan_ask(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                      enum lbm_start start);
void lbm_job_on_planned(struct lbm_node *node, const struct lbm_event *event);

/* ---- records.c ---------------------------------------------------------------------------------------- */

/* Every change of a record goes through these: they keep rank, give the change its place in the stream,
 * and store it. Pointers to vertices stay valid except over record_put. */

/* A record from elsewhere: stage and epoch become those of the transition, counted from row->epoch. Takes
 * what row owns. NULL: memory is short. */
struct lbm_vertex *lbm_records_put(struct lbm_node *node, struct job *job, struct lbm_row *row,
                                   enum lbm_transition transition);
/* The record itself goes on; the epoch is counted from its own. */
void lbm_records_stage(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex,
                       enum lbm_transition transition, uint32_t peer, uint64_t peer_incarnation);
/* The payload has changed; takes it. */
void lbm_records_payload(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint8_t *payload,
                         uint32_t len);
/* What the vertex costs has changed. */
void lbm_records_work(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t work);
/* Its neighbours have changed. */
void lbm_records_content(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex);
/* What others have yet to hear of its edges has. */
void lbm_records_news(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex);
/* Its application removes it; the change is stored by record_together. */
void lbm_records_removed(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex);
/* A change of several records that nobody may have in part: each has been changed as it shall be stored. */
void lbm_records_change_together(struct lbm_node *node, struct job *job, const uint32_t *slots, size_t n);
/* It is one of those, and its buddy may have none of them yet: nothing else may change it. */
int lbm_records_is_undecided(const struct lbm_node *node, const struct lbm_vertex *vertex);
void lbm_records_forget(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex);
/* A whole job is void here. */
void lbm_records_drop_job(struct lbm_node *node, uint64_t job);
/* The buddy has this record exactly as it is (PROTOCOL section 4), or there is no buddy. */
int lbm_records_is_acked(const struct lbm_node *node, const struct lbm_vertex *vertex);
/* The same, or it had until its work changed: it may begin to move. */
int lbm_records_is_acked_but_for_work(const struct lbm_node *node, const struct lbm_vertex *vertex);
/* After a record was put in the shard otherwise (recovery, a guest): into the lists it belongs to. */
void lbm_records_list(struct lbm_node *node, struct job *job, uint32_t slot);
struct lbm_vertex *lbm_records_of(const struct job *job, uint32_t id); /* NULL: none, or stage NONE */
uint32_t lbm_records_moved_to(const struct lbm_node *node,
                              const struct lbm_vertex *vertex); /* LBM_NONE: nowhere known */

/* ---- stream.c ------------------------------------------------------------------------------------------ */

void lbm_replication_start(struct lbm_node *node, const struct lbm_recovered *recovered);
void lbm_replication_push(struct lbm_node *node, uint64_t seq, uint64_t job, uint32_t vertex);
void lbm_replication_covered(struct lbm_node *node,
                             struct lbm_vertex *vertex); /* it is not waited for any more */
void lbm_replication_job_gone(struct lbm_node *node, struct job *job);
void lbm_replication_view_changed(struct lbm_node *node);
void lbm_replication_connected(struct lbm_node *node, uint32_t host);
void lbm_replication_timer(struct lbm_node *node);
int64_t lbm_replication_deadline(const struct lbm_node *node);
uint64_t lbm_local_replication_lag(const struct lbm_node *node);
/* Nobody else could take over from this host: it needs neither copy nor lease. */
int lbm_local_is_alone(const struct lbm_node *node);
int lbm_local_lease_holds(const struct lbm_node *node); /* something new may be given to an application */
int64_t lbm_replication_lease_end(const struct lbm_node *node); /* after it no application works any more */
void lbm_replication_lease_tell(struct lbm_node *node);
void lbm_replication_on_lease(struct lbm_node *node, const Lbm__Peer *message);
void lbm_replication_on_repl_ack(struct lbm_node *node, const Lbm__Peer *message);

/* ---- replica.c ----------------------------------------------------------------------------------------- */

void lbm_replication_replicas_start(struct lbm_node *node, struct lbm_recovered *recovered);
void lbm_replication_replicas_free(struct lbm_node *node);
void lbm_replication_replicas_view_changed(struct lbm_node *node);
/* What still arrives of the job is void. Returns nonzero if anything is held of it. */
int lbm_replication_replicas_job_deleted(struct lbm_node *node, uint64_t job);
struct replica *lbm_replication_replica_of(const struct lbm_node *node, uint32_t owner, uint64_t incarnation);
void lbm_replication_replica_drop(struct lbm_node *node, struct replica *replica);
void lbm_replication_on_lease_req(struct lbm_node *node, const Lbm__Peer *message);
void lbm_replication_on_repl(struct lbm_node *node, const Lbm__Peer *message);

/* ---- adopt.c ------------------------------------------------------------------------------------------- */

/* Nonzero if this host has merged everything it inherits. */
int lbm_local_takeovers_done(const struct lbm_node *node);
/* Nonzero while this incarnation of this host may act: it is not evicted, has not left, and its disk is the
 * one its buddy knows. */
int lbm_local_is_alive(const struct lbm_node *node);
/* A host that left begins anew, empty. Nonzero if it does. */
int lbm_replication_rejoin(struct lbm_node *node);
void lbm_replication_takeover_timer(struct lbm_node *node);
int64_t lbm_replication_takeover_deadline(const struct lbm_node *node);
void lbm_replication_takeover_persisted(struct lbm_node *node);

/* ---- suspect.c ----------------------------------------------------------------------------------------- */

int lbm_membership_may_propose(
    const struct lbm_node *node); /* the last proposal had its time, and the log takes them */
void lbm_membership_detector_step(struct lbm_node *node); /* first in every step: was this host running? */
void lbm_membership_detector_timer(struct lbm_node *node);
void lbm_membership_suspicion_heard(struct lbm_node *node, uint32_t from, size_t n, const uint32_t *suspect);
uint32_t lbm_membership_suspicion_count(const struct lbm_node *node, uint32_t host);
void lbm_membership_detector_view_changed(struct lbm_node *node, int all);
/* Hosts that this one should hear from: linked ones, its buddy, its wards, or all of a small cluster. */
int lbm_membership_is_watched(const struct lbm_node *node, const struct lbm_member *member);

/* ---- drain.c ------------------------------------------------------------------------------------------- */

void lbm_membership_drain_timer(struct lbm_node *node);
int64_t lbm_membership_drain_deadline(const struct lbm_node *node);

/* ---- application.c ------------------------------------------------------------------------------------- */

void lbm_application_attach(struct lbm_node *node, uint64_t client, uint64_t request,
                            const Lbm__AttachRequest *attach);
void lbm_application_released(struct lbm_node *node, uint64_t client, uint64_t request,
                              const Lbm__ReleasedRequest *released);
void lbm_application_checkpoint(struct lbm_node *node, uint64_t client, uint64_t request,
                                const Lbm__CheckpointRequest *checkpoint);
void lbm_application_changes_sent(struct lbm_node *node, uint64_t after, uint64_t seq, uint64_t last);
void lbm_application_changes_acked(struct lbm_node *node); /* the stream has moved on */
void lbm_application_reset(struct lbm_node *node);         /* this incarnation is over */
void lbm_application_gone(struct lbm_node *node, uint64_t client);
void lbm_application_has_read(struct lbm_node *node, uint64_t client); /* all that it was given */
void lbm_application_job_deleted(struct lbm_node *node, uint64_t job);
/* Nonzero if nobody works on the vertex. If somebody does, it is asked to stop, and `to` remembered. */
int lbm_application_release(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to);
/* The job that the connection serves, or NULL. */
struct job *lbm_local_application_job(const struct lbm_node *node, uint64_t client);
void lbm_application_ready(struct lbm_node *node, struct job *job); /* some vertices may be given */
void lbm_application_lease_lapsed(struct lbm_node *node);           /* the lease is over */
int lbm_application_is_running(const struct lbm_node *node);        /* some vertex is given to one */
/* Nothing is given or moves until then, and what applications have is lost afterwards. */
void lbm_application_fence(struct lbm_node *node, int64_t until_us);
void lbm_application_timer(struct lbm_node *node);
int64_t lbm_application_deadline(const struct lbm_node *node);

/* ---- load.c -------------------------------------------------------------------------------------------- */

/* The work of the whole job: as submitted, or as the hosts' loads add up once loads are reported. */
uint64_t lbm_local_load_whole(const struct lbm_node *node, const struct lbm_job_entry *entry);
/* The same of the number of vertices. */
uint32_t lbm_local_load_count(const struct lbm_node *node, const struct lbm_job_entry *entry);
/* The work of a usual vertex, at least 1. */
double lbm_local_load_mean(const struct lbm_node *node, const struct lbm_job_entry *entry);
/* Vertices of all hosts, as last heard. */
uint64_t lbm_exchange_load_present(const struct lbm_node *node, const struct job *job);
/* Loads are reported, here or elsewhere. */
void lbm_exchange_load_drifts(struct lbm_node *node, struct job *job);
/* What pulses say of it. */
void lbm_exchange_load_report(const struct lbm_node *node, const struct job *job, Lbm__JobPulse *pulse);
void lbm_exchange_load_heard(struct lbm_node *node, struct job *job, uint32_t from,
                             const Lbm__JobPulse *pulse);
void lbm_exchange_load_timer(struct lbm_node *node, struct job *job);
void lbm_exchange_load_measured(struct lbm_node *node, uint64_t client, uint64_t request,
                                const Lbm__LoadRequest *load);

/* ---- capacity.c ---------------------------------------------------------------------------------------- */

/* Measured: others leave that part of the processors. */
void lbm_membership_on_capacity(struct lbm_node *node, double left);

/* ---- wishes.c ------------------------------------------------------------------------------------------ */

/* Begin handoffs of vertices whose wish is another host, a few batches at a time. Returns how many still
 * wait. */
uint32_t lbm_migration_queue_pump(struct lbm_node *node, struct job *job);
/* An OWN vertex may have a wish that it had not, or has it again; or one that was to go stays. */
void lbm_local_queue_changed(struct job *job);
/* A vertex that was OUT to that host is not any more. */
void lbm_migration_queue_answered(struct job *job,
                                  const struct lbm_vertex *vertex); /* OUT, to vertex->peer */
void lbm_migration_queue_free(struct wishes *wishes);

/* ---- pinned.c: at any time, as the host graph or the phase has changed ----------------------------------
 */

void lbm_migration_pinned_look(struct lbm_node *node, struct job *job);
void lbm_migration_pinned_came(struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex);
void lbm_migration_pinned_timer(struct lbm_node *node, struct job *job);

/* ---- handoff.c -------------------------------------------------------------------------------------- */

/* Start handing over an OWN vertex. Nonzero if it started. */
int lbm_migration_begin(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to,
                        const struct why *why);
/* The same for a vertex that an application has just released: its payload may be newer than the buddy's. */
int lbm_migration_resume(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to);
void lbm_migration_timer(struct lbm_node *node, struct job *job);
/* Nonzero if a vertex is on its way to a host that may answer. */
int lbm_migration_waits(const struct lbm_node *node, const struct job *job);
void lbm_migration_view_changed(struct lbm_node *node, struct job *job);
/* The buddy has got this record as it is: what was waiting for that is due. */
void lbm_migration_acked(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex);
void lbm_migration_flush(struct lbm_node *node); /* send what is due */
void lbm_migration_due(struct lbm_node *node, enum due_kind kind, const struct job *job, uint32_t to,
                       const struct lbm_vertex *vertex, uint64_t epoch);
void lbm_migration_on_offer(struct lbm_node *node, const Lbm__Peer *message);
void lbm_migration_on_answer(struct lbm_node *node, const Lbm__Peer *message);

/* ---- moves.c ------------------------------------------------------------------------------------------- */

/* An OWN vertex is to go; if its application must let go first, move_to is set. */
void lbm_migration_move_decided(struct lbm_node *node, const struct job *job, struct lbm_vertex *vertex,
                                uint32_t to, const struct why *why);
void lbm_migration_move_leaves(struct lbm_node *node, const struct job *job,
                               const struct lbm_vertex *vertex); /* OUT */
/* It is offered. Returns why it goes, to tell the taker. */
struct why lbm_migration_move_sent(struct lbm_node *node, const struct job *job,
                                   const struct lbm_vertex *vertex);
/* Row i of an offer was accepted: the taker tells of the move when the giver cannot. Returns its reason. */
enum lbm_move_reason lbm_migration_move_came(struct lbm_node *node, const struct job *job,
                                             const struct lbm_vertex *vertex, const Lbm__Offer *offer,
                                             size_t i);
/* Called before the record leaves OUT. to: whoever answered. */
void lbm_migration_move_ends(struct lbm_node *node, const struct job *job, struct lbm_vertex *vertex,
                             uint32_t to, enum lbm_move_state state);
void lbm_migration_move_taken_over(struct lbm_node *node, const struct job *job,
                                   const struct lbm_vertex *vertex, uint32_t from);
/* Why a vertex goes whose wish is another host. */
struct why lbm_migration_move_reason(struct lbm_node *node, const struct job *job,
                                     const struct lbm_vertex *vertex, uint32_t to);
/* A load in parts of what is due to a host; < 0: nothing is due to it. */
double lbm_migration_move_share(const struct lbm_node *node, const struct job *job, uint32_t host,
                                uint64_t load);
/* Decrease of J by each of the rows, one after the other between a and b; part has them moved already.
 * Out: gain [n_moved] */
void lbm_migration_move_gains(const struct lbm_graph *g, const struct lbm_hosts *h, uint32_t *part,
                              uint32_t a, uint32_t b, const uint32_t *moved, uint32_t n_moved, double *gain);
/* What this host knows of the moves of a vertex, newest first. Returns how many. */
size_t lbm_migration_moves_find(const struct lbm_node *node, const struct job *job, uint32_t vertex,
                                Lbm__Move out[LBM_MOVES_TOLD_MAX]);
/* What the record of a vertex takes in an offer. */
size_t lbm_migration_move_bytes(const struct lbm_vertex *vertex, unsigned m);
void lbm_migration_moves_free(struct lbm_node *node);

/* ---- gates.c ------------------------------------------------------------------------------------------- */

void lbm_migration_throttle_changed(struct lbm_node *node, const Lbm__JobSet *set); /* by the log */
/* A vertex came by an exchange; nonzero: it is to stay for the time being. */
void lbm_migration_throttle_came(struct lbm_node *node, const struct job *job, struct lbm_vertex *vertex);
int lbm_migration_throttle_cools(const struct lbm_node *node, struct job *job,
                                 const struct lbm_vertex *vertex);
/* Edges have changed, so other moves may pay: a settled job sees about it soon. */
void lbm_migration_throttle_look_again(const struct lbm_node *node, struct job *job);
/* A number that changes when one that stayed may go, and with the gates. That one may has been seen to: the
 * number stays until the next may. */
uint64_t lbm_migration_throttle_cooled(const struct lbm_node *node, const struct job *job);
void lbm_migration_throttle_look(const struct lbm_node *node, struct job *job);
/* What a move over so many links must gain to pay for itself, in bandwidth times links; 0: no such gate. */
double lbm_migration_throttle_price(const struct lbm_node *node, const struct job *job, uint32_t links);
/* So many vertices may begin to move now; UINT32_MAX: any number. */
uint32_t lbm_migration_throttle_budget(const struct lbm_node *node, struct job *job);
/* Nonzero if there was no room for some since it was asked last. */
int lbm_migration_throttle_was_exhausted(const struct lbm_node *node, struct job *job);
void lbm_migration_throttle_charge(const struct lbm_node *node, struct job *job,
                                   const struct lbm_vertex *vertex);

/* ---- self.c, job_table.c ------------------------------------------------------------------------------ */

/* Nonzero if this host is the successor of the departed one and has yet to merge what it left. */
int lbm_local_inherits(const struct lbm_node *node, const struct lbm_departed *gone);
/* Nonzero if the records of that incarnation are merged into this host's own. */
int lbm_local_has_merged(const struct lbm_node *node, uint32_t host, uint64_t incarnation);
/* The application of that connection, or NULL. */
struct application *lbm_local_application(const struct lbm_node *node, uint64_t client);
/* The row nearest to the partner's site, for hosts that share no boundary. */
uint32_t lbm_local_nearest_row(const struct lbm_node *node, const struct job *job, uint32_t partner);
/* Position of a vertex in Omega. In: raw [m]. Out: x [m] */
void lbm_local_place(const struct job *job, const double *raw, double *x);
/* Changed edges are told at the end of this step. */
void lbm_local_edges_soon(struct lbm_node *node, struct job *job);
/* What this host owes all neighbours together; negative: what it is owed. */
int64_t lbm_local_netting_sum(const struct session *s);
/* So many finished records are more than have to stay for long. */
size_t lbm_records_excess(const struct job *job);

/* ---- finish.c ---------------------------------------------------------------------------------------- */

void lbm_migration_completion_timer(struct lbm_node *node, struct job *job);
/* So long a finished record of a vertex that went stays here, the oldest first. */
int64_t lbm_records_completion_timeout_us(const struct lbm_node *node, const struct job *job);
/* Who answers for the source of a record now; LBM_NONE: nobody does, it has finished (*known), or nobody can
 * yet (!*known). */
uint32_t lbm_migration_completion_source(const struct lbm_node *node, const struct lbm_vertex *vertex,
                                         int *known);
/* Nonzero if FIN for an offer of that epoch may be said: it will not be made again. */
int lbm_migration_is_finished(const struct lbm_node *node, const struct job *job, uint32_t vertex,
                              uint64_t epoch);
void lbm_migration_on_fin(struct lbm_node *node, const Lbm__Peer *message);

/* ---- ghosts.c --------------------------------------------------------------------------------------- */

void lbm_mapping_ghosts_timer(struct lbm_node *node, struct job *job);
void lbm_local_ghosts_due(struct job *job, enum ghosts_due what);
int64_t lbm_mapping_ghosts_deadline(const struct job *job);
void lbm_mapping_on_ghosts(struct lbm_node *node, const Lbm__Peer *message);
void lbm_mapping_on_moved(struct lbm_node *node, const Lbm__Peer *message);
void lbm_mapping_on_where(struct lbm_node *node, const Lbm__Peer *message);
/* Ask all hosts who owns these, but seldom. */
void lbm_mapping_ghosts_ask(struct lbm_node *node, struct job *job, size_t n, uint32_t *vertex);
void lbm_mapping_ghosts_tell_moved(struct lbm_node *node, uint64_t job, uint32_t to, size_t n,
                                   uint32_t *vertex, uint64_t *epoch, uint32_t *host);

/* ---- mapping.c -------------------------------------------------------------------------------------- */

void lbm_mapping_timer(struct lbm_node *node, struct job *job);

/* ---- outline.c -------------------------------------------------------------------------------------- */

/* MAPPING, once all are ready: nonzero while a plan of the outline is to be waited for. */
int lbm_mapping_coarse_waits(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
/* The plan for this host's clusters is on its way, and tells more than the frame that follows it. */
int lbm_mapping_coarse_awaits_plan(const struct lbm_node *node, const struct job *job);
void lbm_mapping_coarse_planned(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                                enum lbm_err err, struct lbm_plan *plan);
/* The home asks every host for its clusters, and plans once it has them, or some are too late. */
void lbm_mapping_coarse_begin(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
void lbm_mapping_coarse_continue(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
void lbm_mapping_coarse_end(struct job *job); /* there is a plan, or will be none */
void lbm_mapping_on_coarse_ask(struct lbm_node *node, const Lbm__Peer *message);
void lbm_mapping_on_coarse_slice(struct lbm_node *node, const Lbm__Peer *message);
void lbm_mapping_on_coarse_plan(struct lbm_node *node, const Lbm__Peer *message);

/* ---- outline_again.c -------------------------------------------------------------------------------- */

/* Of a job that runs and had settled. */
void lbm_mapping_remap_look(struct lbm_node *node, struct job *job); /* are loads uneven by much? */
/* Nonzero while sessions leave balance to a plan that may come. */
int lbm_mapping_remap_holds(const struct lbm_node *node, const struct job *job);
/* Looks first. Nonzero if a session that would be held now moves nothing: the plan is to know where vertices
 * are, and boundaries are looked at once it is followed. */
int lbm_mapping_remap_withholds(struct lbm_node *node, struct job *job);
void lbm_mapping_remap_answers(struct lbm_node *node,
                               struct job *job); /* and waits for the plan from now on */
int64_t lbm_mapping_remap_deadline(const struct job *job);
void lbm_mapping_remap_timer(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
/* The vertices of this host's clusters go where the plan has them. host [n]: by cluster; comes: work that
 * others are told to give to this one. */
void lbm_mapping_remap_follow(struct lbm_node *node, struct job *job, size_t n, const uint32_t *host,
                              uint64_t comes);
void lbm_mapping_remap_came(struct lbm_node *node, struct job *job,
                            const struct lbm_vertex *vertex); /* by a plan */

/* ---- session.c -------------------------------------------------------------------------------------- */

void lbm_exchange_start(struct lbm_node *node, struct job *job); /* entering BALANCING */
/* The host graph is another one. */
void lbm_exchange_topology_changed(struct lbm_node *node, struct job *job, int all, int links_changed);
int lbm_exchange_links_changed(struct lbm_node *node);
uint32_t lbm_exchange_round_colour(struct lbm_node *node, uint32_t host);
void lbm_exchange_timer(struct lbm_node *node, struct job *job);
void lbm_exchange_stop(struct job *job);
/* Nonzero where each vertex that moves counts: moves have a price while loads are measured, and in a small
 * cluster a host that joins takes more than the slack from each other one, however much of it was left free.
 */
int lbm_exchange_spares(const struct lbm_node *node, const struct job *job);
/* Work units owned, less what leaves as soon as the application lets go, and as if all that was promised had
 * moved. */
uint64_t lbm_local_load(const struct job *job);
uint64_t lbm_exchange_limit(const struct lbm_node *node, const struct job *job, uint32_t host, uint64_t load);
void lbm_exchange_vertex_left(struct lbm_node *node,
                              struct job *job); /* a vertex of the session is MOV, or came back */
void lbm_exchange_vertex_arrived(struct lbm_node *node, struct job *job,
                                 uint32_t vertex); /* ours, or refused */
void lbm_exchange_on_pair_open(struct lbm_node *node, const Lbm__Peer *message);
void lbm_exchange_on_pair_accept(struct lbm_node *node, const Lbm__Peer *message);
void lbm_exchange_on_pair_plan(struct lbm_node *node, const Lbm__Peer *message);
void lbm_exchange_on_pair_notice(struct lbm_node *node, const Lbm__Peer *message);

/* ---- parts.c, gather.c --------------------------------------------------------------------------------- */

/* A client has begun to send a part: its home is asked, and the client answered when that has answered. */
void lbm_job_slice_begin(struct lbm_node *node, struct upload *upload, uint32_t uid);
/* All rows of a part are here, and make sense by themselves: they are stored. */
void lbm_job_slice_store(struct lbm_node *node, struct upload *upload, struct lbm_graph *g);
/* Of a job that is not in the log: tells the home once the buddy has the part too. */
void lbm_job_slice_timer(struct lbm_node *node, struct job *job);
int64_t lbm_job_slice_deadline(const struct job *job);
void lbm_job_slice_recover(struct job *job);
/* The log has taken a job with parts: who has which vertices is known. */
void lbm_job_slice_created(struct lbm_node *node, const Lbm__JobCreate *create);
/* refusal: NULL or why nothing comes of it. token 0: it is about the job. */
void lbm_job_slice_answered(struct lbm_node *node, uint64_t token, uint64_t job, const char *refusal);
void lbm_job_ingest_begin(struct lbm_node *node, uint32_t host, uint64_t incarnation,
                          const Lbm__PartBegin *begin);
void lbm_job_ingest_ready(struct lbm_node *node, uint32_t host, const Lbm__PartReady *ready);
void lbm_job_ingest_timer(struct lbm_node *node);
int64_t lbm_job_ingest_deadline(const struct lbm_node *node);
void lbm_job_ingest_free(struct lbm_node *node);
void lbm_job_on_slice_begin(struct lbm_node *node, const Lbm__Peer *message);
void lbm_job_on_slice_answer(struct lbm_node *node, const Lbm__Peer *message);
void lbm_job_on_slice_ready(struct lbm_node *node, const Lbm__Peer *message);

/* ---- submit.c, requests.c, collect.c ---------------------------------------------------------------- */

void lbm_job_submit_begin(struct lbm_node *node, const struct client *client, const Lbm__SubmitBegin *begin);
void lbm_job_submit_drop(struct lbm_node *node, uint64_t client);
void lbm_job_submit_rows(struct lbm_node *node, uint64_t client, uint64_t request,
                         const Lbm__SubmitRows *rows);
void lbm_job_submit_end(struct lbm_node *node, const struct client *asks);
void lbm_job_submit_gone(struct lbm_node *node, uint64_t client);
void lbm_client_on_request(struct lbm_node *node, const struct lbm_event *event);
void lbm_client_query_map(struct lbm_node *node, uint64_t client, uint64_t request,
                          const Lbm__MapRequest *map);
void lbm_client_query_locate(struct lbm_node *node, uint64_t client, uint64_t request,
                             const Lbm__LocateRequest *asked);
void lbm_client_query_gone(struct lbm_node *node, uint64_t client);
void lbm_client_query_timer(struct lbm_node *node);
int64_t lbm_client_query_deadline(const struct lbm_node *node);
void lbm_client_on_map_query(struct lbm_node *node, const Lbm__Peer *message);
void lbm_client_on_map_part(struct lbm_node *node, const Lbm__Peer *message);

/* Which place of a vertex, and all that is known of its moves. */
void lbm_client_query_explain(struct lbm_node *node, uint64_t client, uint64_t request,
                              const Lbm__ExplainRequest *asked);

/* ---- operate.c ---------------------------------------------------------------------------------------- */

void lbm_client_answer_host_change(struct lbm_node *node, const struct client *client,
                                   const Lbm__Request *request);
void lbm_client_answer_events(struct lbm_node *node, const struct client *client,
                              const Lbm__Request *request);
/* After every entry of the control log: answers who waits for it. refusal: "" if it took effect. */
void lbm_client_proposal_applied(struct lbm_node *node, const Lbm__Command *command, const char *refusal);
/* The client hears what the log makes of its command. */
/* Propose a client's command; it is answered by what becomes of it. */
void lbm_client_propose(struct lbm_node *node, const struct client *client, const Lbm__Command *command);
/* The proposal was given up; is_unknown: it may be in the log all the same. */
void lbm_client_proposal_given_up(struct lbm_node *node, uint64_t token, int is_unknown);
void lbm_client_event(struct lbm_node *node, enum lbm_note_level level, const char *text);
void lbm_client_admin_gone(struct lbm_node *node, uint64_t client);
void lbm_client_admin_free(struct lbm_node *node);

#endif
