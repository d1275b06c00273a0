/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a guest changes while hosts work on it. Only files of lib/node include this. */
#ifndef LBM_NODE_APPLICATION_GUEST_H
#define LBM_NODE_APPLICATION_GUEST_H

#include "node/core/state.h"

/* ---- neighbours.c -------------------------------------------------------------------------------------- */

/* Edges of vertices, for an application. */
struct neighbours {
    LBM_VEC(uint32_t) vertex, degree, neighbour, weight, host;
    LBM_VEC(uint64_t) token;
};

/* The application that works on the vertex, if one does, has yet to hear of its edges. */
enum lbm_err lbm_application_neighbours_changed(struct job *job, struct lbm_vertex *vertex) LBM_MUST_CHECK;
/* Append a vertex and its edges to a list; the record's hints where their other ends are become what is told.
 * Effect on shortage of memory: lbm_core_fail. */
void lbm_application_neighbours_add(struct lbm_node *node, struct neighbours *list, const struct job *job,
                                    struct lbm_vertex *vertex);
/* Returns the bytes that the list takes in a message, at most. */
size_t lbm_application_neighbours_bytes(const struct neighbours *list);
/* Returns the list as a message that borrows it. */
Lbm__Neighbours lbm_application_neighbours_message(const struct neighbours *list);
/* Free what a list holds. */
void lbm_application_neighbours_free(struct neighbours *list);
/* Have the application hear of the edges of its vertices whose other ends are at another host than it was
 * told, if it wants that: a few times a second at most. */
void lbm_application_neighbours_moved(struct lbm_node *node, struct application *application,
                                      struct job *job);
/* Send the application the edges of its vertices that changed in this step. */
void lbm_application_neighbours_timer(struct lbm_node *node, const struct application *application,
                                      struct job *job);

/* ---- places.c ------------------------------------------------------------------------------------------ */

/* Answer PublishRequest: others that serve the job are told the note. Errors in the answer: LBM_E_STATE. */
void lbm_application_publish(struct lbm_node *node, uint64_t client, uint64_t request,
                             const Lbm__PublishRequest *publish);
/* PostRequest: pass bytes on to applications that serve the job at other hosts. Errors in the answer, which
 * is sent only then: LBM_E_STATE, LBM_E_RANGE. */
void lbm_application_post(struct lbm_node *node, uint64_t client, uint64_t request,
                          const Lbm__PostRequest *post);
/* Place: who serves a job at the sender. */
void lbm_application_on_place(struct lbm_node *node, const Lbm__Peer *message);
/* Post: bytes for the application that serves a job here. */
void lbm_application_on_post(struct lbm_node *node, const Lbm__Peer *message);
/* The application of this host serves the job no more: others are told. */
void lbm_application_place_left(struct lbm_node *node, uint64_t job);
/* A job is deleted: nobody serves it. */
void lbm_application_places_deleted(struct lbm_node *node, uint64_t job);
/* Tell this host's places again, forget those of hosts that are lost. */
void lbm_application_places_timer(struct lbm_node *node);
/* Time, us, at which lbm_application_places_timer has something to do; INT64_MAX: none. */
int64_t lbm_application_places_deadline(const struct lbm_node *node);

/* Returns the place of a job at a host, or NULL if nothing is known of one. */
struct place *lbm_application_place(struct lbm_node *node, uint64_t job, uint32_t host);
/* The same of this host, which has one from now on; NULL: memory is short, the step has failed. */
struct place *lbm_application_place_own(struct lbm_node *node, uint64_t job);
/* Tell all members of a place of this host. */
void lbm_application_place_tell(struct lbm_node *node, struct place *place);
/* Nonzero if somebody has said that the job is done. */
int lbm_application_is_finished(const struct lbm_node *node, uint64_t job);

/* ---- programs.c ---------------------------------------------------------------------------------------- */

/* A program that this host has started has written something, or has ended. */
void lbm_application_on_program(struct lbm_node *node, const struct lbm_event *event);
/* ProgramOutput: of a program at another host, for a client of this one. */
void lbm_application_on_output(struct lbm_node *node, const Lbm__Peer *message);
/* Start the programs that this host is to run, again those that have died, and end the others. */
void lbm_application_programs_timer(struct lbm_node *node);
/* Time, us, at which lbm_application_programs_timer has something to do; INT64_MAX: none. */
int64_t lbm_application_programs_deadline(const struct lbm_node *node);
/* Why this host does not run programs of the job; NULL: it does. Out: text [size], which may be returned. */
const char *lbm_application_programs_refusal(const struct lbm_node *node, const struct lbm_job_entry *entry,
                                             char *text, size_t size);

/* ---- program_watch.c ----------------------------------------------------------------------------------- */

/* Answer RunRequest WATCH with RunReply parts until all programs of the job are over. Errors in the answer:
 * LBM_E_STATE nothing is run, or another host has its output. */
void lbm_application_watch(struct lbm_node *node, uint64_t client, uint64_t request,
                           const struct lbm_job_entry *entry);
/* The program of a host is in another state than before: clients that watch are told. */
void lbm_application_watch_state(struct lbm_node *node, const struct place *place);
/* Output of the program at a host: bytes [len] after the first `at`. */
void lbm_application_watch_output(struct lbm_node *node, uint64_t job, uint64_t run, uint32_t host,
                                  uint64_t at, const uint8_t *bytes, size_t len);
void lbm_application_watch_gone(struct lbm_node *node, uint64_t client);     /* its connection ended */
void lbm_application_watch_has_read(struct lbm_node *node, uint64_t client); /* all that it was sent */
/* End runs that nobody watches, and tell clients of those that are over. */
void lbm_application_watch_timer(struct lbm_node *node);
/* Time, us, at which lbm_application_watch_timer has something to do; INT64_MAX: none. */
int64_t lbm_application_watch_deadline(const struct lbm_node *node);

/* ---- unserved.c ---------------------------------------------------------------------------------------- */

/* Nonzero if programs are to work on the job at every host that has vertices of it: hosts run one, or
 * programs that talk to each other serve it; and it is not finished. */
int lbm_application_is_computed(const struct lbm_node *node, const struct lbm_job_entry *entry);
/* Nonzero if no program works on the job at that host, though one is to. why: "" or why. */
int lbm_application_is_unserved(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t host,
                                const char **why);
/* A place says whether its host gets vertices of the job. */
void lbm_application_withdrawn(struct lbm_node *node, const struct place *place);
/* Where no program works for long, give vertices away; take them again where one does. */
void lbm_application_unserved_timer(struct lbm_node *node);
/* Time, us, at which lbm_application_unserved_timer has something to do; INT64_MAX: none. */
int64_t lbm_application_unserved_deadline(const struct lbm_node *node);

/* ---- change.c ------------------------------------------------------------------------------------------ */

/* Answer ChangeRequest: all of the change or nothing of it (protocol.md section 7). Errors in the answer:
 * LBM_E_STATE, LBM_E_NOTFOUND, LBM_E_RANGE, LBM_E_LIMIT. */
void lbm_application_change(struct lbm_node *node, uint64_t client, uint64_t request,
                            const Lbm__ChangeRequest *change);

/* ---- edges.c ------------------------------------------------------------------------------------------- */

/* The place of a neighbour in a record, or LBM_NONE. */
uint32_t lbm_application_edge_find(const struct lbm_vertex *vertex, uint32_t to);
/* Errors: LBM_E_NOMEM. The record is not stored by it. weight 0: there is no such edge any more. */
enum lbm_err lbm_application_edge_set(struct job *job, struct lbm_vertex *vertex, uint32_t to,
                                      uint32_t weight, uint32_t host) LBM_MUST_CHECK;
/* The place of an edge among what is to be told, or LBM_NONE. */
uint32_t lbm_application_edge_news(const struct lbm_vertex *vertex, uint32_t to);
/* Both ends say the same: there is nothing to be told of that edge. */
void lbm_application_edge_agreed(struct lbm_vertex *vertex, uint32_t to);
/* Have the other end's owner told. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_application_edge_note(struct lbm_vertex *vertex, uint32_t to, uint32_t weight,
                                       uint32_t host) LBM_MUST_CHECK;
/* Send the other ends of changed edges what has not been confirmed (protocol.md section 7). */
void lbm_application_edges_timer(struct lbm_node *node, struct job *job);
/* Time, us, at which lbm_application_edges_timer has something to do; INT64_MAX: none. */
int64_t lbm_application_edges_deadline(const struct job *job);
/* Somebody says that `host` has a vertex; or LBM_NONE: that `from`, which says so, has not. */
void lbm_application_edges_learn(struct job *job, uint32_t id, uint32_t host, uint32_t from);

/* ---- edges_heard.c ------------------------------------------------------------------------------------- */

enum { EDGES_TOLD_MAX = LBM_ROWS_MAX / 8 }; /* rows of one message about edges, or of its answer */

/* Edges: a neighbour says what its end of edges is now. Answered with EdgesDone, once the backup has the
 * records as they are by then, or with Moved. */
void lbm_application_on_edges(struct lbm_node *node, const Lbm__Peer *message);
/* The same where both ends are here. In: told, what a message would say; epoch, of the vertex that has
 * changed. */
void lbm_application_edge_heard_here(struct lbm_node *node, struct job *job, const struct edge_answer *told,
                                     uint64_t epoch);
/* The replication log has moved on: what the backup has by now is answered. */
void lbm_application_edges_acked(struct lbm_node *node);
/* EdgesDone: the other ends of edges are durable. */
void lbm_application_on_edges_done(struct lbm_node *node, const Lbm__Peer *message);
/* One of them. What is stored of this record says more than is left to tell, until all is told. */
void lbm_application_edge_done(struct lbm_node *node, struct job *job, const struct edge_answer *answer);

/* ---- ids.c --------------------------------------------------------------------------------------------- */

/* Answer IdsRequest with identifiers of new vertices, asked of the log if too few are left. Errors in the
 * answer: LBM_E_STATE, LBM_E_LIMIT. */
void lbm_application_ids(struct lbm_node *node, uint64_t client, uint64_t request,
                         const Lbm__IdsRequest *ids);
void lbm_application_ids_allotted(struct lbm_node *node, const Lbm__AllotIds *allot,
                                  const char *refusal); /* by the log */
/* The connection of a client ended: its requests for identifiers are dropped. */
void lbm_application_ids_gone(struct lbm_node *node, uint64_t client);
/* Ask the log for identifiers that clients wait for, or that run low. */
void lbm_application_ids_timer(struct lbm_node *node);
/* Time, us, at which lbm_application_ids_timer has something to do; INT64_MAX: none. */
int64_t lbm_application_ids_deadline(const struct lbm_node *node);

#endif
