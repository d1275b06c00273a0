/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A whole cluster of nodes in one process and in virtual time: the same node core as the daemon's, a
 * network that delays, loses, repeats and breaks, disks that keep what was synced, clocks that are not
 * quite right, applications that work on vertices, crashes at any time. sim/check/check.h looks on. The
 * same seed gives the same run. */
#ifndef LBM_SIM_MODEL_CLUSTER_H
#define LBM_SIM_MODEL_CLUSTER_H

#include "base/rng.h"
#include "node/node.h"

/* Programs that are run in place of models of applications (sim/programs). */
enum cluster_programs { CLUSTER_PROGRAMS_NONE, CLUSTER_PROGRAMS_STEPS, CLUSTER_PROGRAMS_SEND };

struct cluster_options {
    uint64_t seed;
    uint64_t job_seed;                     /* of jobs, 0: 1 */
    double imbalance;                      /* bound of jobs, 0: 0.03, less: none above 0 */
    int64_t delay_least_us, delay_most_us; /* of a message; connections keep order */
    uint32_t sites_from;                   /* hosts from this one on are at another site; 0: all are at one */
    int64_t sites_us;                      /* from site to site a message takes so much longer */
    uint32_t copies;                       /* of each record, 0: 1 */
    uint32_t hop_us;                       /* nonzero: hosts measure, and bring neither links nor sites */
    int64_t sync_us;                       /* a transaction takes up to this */
    double lose_soft;                      /* probability that a lossy message is lost */
    double repeat_soft;                    /* probability that a lossy message comes twice, late */
    uint32_t vertices_max;                 /* of every host, 0: no limit */
    int64_t tombstone_us;                  /* finished records stay so long, 0: as is usual */
    uint32_t policy, schedule;             /* of every host's configuration */
    uint32_t late;                         /* the last that many hosts are not started */
    uint32_t limited_host;                 /* the only host with that limit, or LBM_NONE: all */
    enum lbm_log_engine engine;
    double evict_share;    /* of every host's configuration */
    uint32_t domain_hosts; /* that many hosts one after the other are a failure domain; 0: none is declared */
    enum lbm_etcd_ability etcd; /* of every host */
    int64_t restart_us;         /* a process that ended by itself is started again after this; 0: it is not */
    int unwatched; /* nonzero: records, messages and applications are not checked, only the control log */
    int shares;    /* nonzero: all nodes have one view in memory; what they compute of it is done once */
    int metered;   /* nonzero: cluster_meter has the time of the processor too */
    uint32_t large_members;   /* of every host's configuration, */
    uint32_t tree_hosts;      /* this too */
    uint32_t log_compact_min; /* entries of the control log between snapshots; 0: few, as runs have few */
    /* May change what a plan computes: where its vertices go. NULL: it stays. */
    void (*planned)(void *arg, const struct lbm_plan_task *task, struct lbm_plan *plan);
    void *planned_arg;
    int64_t plan_us;    /* a plan takes, 0: what it takes for a small guest */
    uint32_t operators; /* hosts from 0 on at which operators are listened to; 0: all */
    int changes;        /* nonzero: applications change their guests */
    int large;          /* nonzero: payloads of some vertices are kept in pieces */
    enum cluster_programs programs;
    int judged; /* nonzero: violations are kept for cluster_violation; 0: they are assertions */
    void (*line)(void *arg, const char *line); /* told of each line of the trace; NULL: it collects */
    void *line_arg;
};

struct cluster;

/* Applications change their guests no more. */
void cluster_leave_guests(struct cluster *cluster);

/* One host per host of the graph, same ids, links, sites; host 0 founds. */
struct cluster *cluster_new(const struct lbm_hosts *h, const struct cluster_options *options);
void cluster_free(struct cluster *cluster);

/* Of a cluster whose other hosts are all late: start them one after the other, all but those marked in later
 * [h->n] (NULL: none is). Returns nonzero if all are active within that time afterwards. */
int cluster_roll_out(struct cluster *cluster, const uint8_t *later, int64_t us);
/* Of a cluster whose hosts are all late: start all within triggers, as members of old. Each disk has the view
 * that is there when they have joined one after the other. Returns nonzero if all have a copy with their
 * backups within that time. */
int cluster_form(struct cluster *cluster, int64_t us);
/* Members that are active, as that host knows them. */
uint32_t cluster_count_active(struct cluster *cluster, uint32_t asked);

/* Run until the virtual time has passed, something is violated, or done() says so. Returns nonzero if
 * it did. */
int cluster_run(struct cluster *cluster, int64_t us, int (*done)(struct cluster *cluster, void *arg),
                void *arg);
/* To be called from options.line: the run that goes on ends after what happens now. */
void cluster_interrupt(struct cluster *cluster);

/* The triggers that matter. */
#define TRIGGER_LIST(X)                                                                                      \
    X(STAGE) /* a record of a host changes its stage on the disk */                                          \
    X(OFFER) /* a host has read a message of that kind */                                                    \
    X(ANSWER)                                                                                                \
    X(FIN)                                                                                                   \
    X(REPL)                                                                                                  \
    X(REPL_ACK)                                                                                              \
    X(LEASE_REQ)                                                                                             \
    X(LEASE)                                                                                                 \
    X(LOG_APPEND)                                                                                            \
    X(HELD)     /* something for a host is held back, from now on */                                         \
    X(MERGE)    /* a host has taken over from another on its disk */                                         \
    X(ENTRY)    /* the control log has another entry */                                                      \
    X(ACTIVATE) /* of that kind */                                                                           \
    X(IN_SYNC)                                                                                               \
    X(EVICT)                                                                                                 \
    X(TAKE_OVER)                                                                                             \
    X(LEAVE)

enum trigger {
    TRIGGER_NONE,
#define TRIGGER_ENUM(id) TRIGGER_##id,
    TRIGGER_LIST(TRIGGER_ENUM)
#undef TRIGGER_ENUM
        TRIGGER_COUNT
};

/* Run until that trigger, at that host (LBM_NONE: any) unless it is one of the control log, or until the time
 * has passed. */
void cluster_run_to_trigger(struct cluster *cluster, enum trigger trigger, uint32_t host, int64_t us);
int64_t cluster_now(const struct cluster *cluster);

/* Number and text of the first invariant that was violated, e.g. "I3"; NULL: none was. */
const char *cluster_violation(const struct cluster *cluster, const char **text);

enum { CLUSTER_KINDS = 64 }; /* of messages: the fields of Lbm__Peer are below */

/* What the node of a host has done and sent so far, all its lives together. */
struct cluster_meter {
    uint64_t steps, node_ns;  /* node_ns: of the processor, if metered */
    uint64_t messages, bytes; /* sent to other hosts */
    uint64_t transactions;
    uint64_t sent[CLUSTER_KINDS], sent_bytes[CLUSTER_KINDS]; /* of each kind, as they arrived */
    uint64_t got[CLUSTER_KINDS];
};
struct cluster_meter cluster_meter(const struct cluster *cluster, uint32_t host);
/* The most memory that this process has had. */
long cluster_memory_kib(void);

/* Where the owners of the vertices 0 .. n - 1 have them in Omega, of the one job that there is.
 * Out: x [n * dimensions of the sites], untouched for vertices that nobody owns now; *sweeps of the host that
 * made the most. Returns how many it has read. */
uint32_t cluster_positions(struct cluster *cluster, uint32_t n, double *x, uint64_t *sweeps);

/* ---- lives of hosts (machine.c) ------------------------------------------------------------------------ */

/* What is on the disk afterwards, of the transactions asked for and not yet reported. */
enum crash { CRASH_SOME, CRASH_NONE, CRASH_ALL };

/* The machine loses power, or the daemon alone is killed. Start again from the disk. */
void cluster_crash(struct cluster *cluster, uint32_t host);
void cluster_crash_with(struct cluster *cluster, uint32_t host, enum crash crash);
void cluster_kill(struct cluster *cluster, uint32_t host, enum crash crash);
void cluster_restart(struct cluster *cluster, uint32_t host);
/* When it starts next it says that its capacity is this one. */
void cluster_configure(struct cluster *cluster, uint32_t host, double capacity);
int cluster_is_up(const struct cluster *cluster, uint32_t host);
/* Nonzero if a host is up again since less than that, after it was down for at least as long: others may be
 * about to evict it all the same. */
int cluster_is_just_back(const struct cluster *cluster, uint32_t host, int64_t down_us, int64_t up_us);
/* Stop and continue a process: events wait meanwhile. Suspend and resume a machine: applications too. */
void cluster_stop(struct cluster *cluster, uint32_t host);
void cluster_continue(struct cluster *cluster, uint32_t host);
void cluster_suspend(struct cluster *cluster, uint32_t host);
int cluster_is_stopped(const struct cluster *cluster, uint32_t host);
/* The clock of a host gains so much from now on. */
enum { CLUSTER_CLOCK_PPM = 4950 }; /* two clocks differ by nearly as much as leases allow for */
void cluster_clock_rate(struct cluster *cluster, uint32_t host, int32_t ppm);
/* The n-th allocation from now within the node of a host fails; 0: none does. */
void cluster_short_of_memory(struct cluster *cluster, uint32_t host, uint32_t n);

/* ---- disks (storage.c) --------------------------------------------------------------------------------- */

void cluster_slow_disk(struct cluster *cluster, uint32_t host, uint32_t factor); /* 1: as usual */
/* Nothing is synced meanwhile. */
void cluster_stall_disk(struct cluster *cluster, uint32_t host, int64_t us);
/* Transactions fail while it is full; one sync fails and nobody knows what it did. The process ends. */
void cluster_fill_disk(struct cluster *cluster, uint32_t host, int full);
void cluster_fail_sync(struct cluster *cluster, uint32_t host);
/* Remember what the disk holds; go back to that; lose everything. The host must be down, but for the first.
 */
void cluster_image_disk(struct cluster *cluster, uint32_t host);
int cluster_roll_back_disk(struct cluster *cluster, uint32_t host); /* 0: there was no image */
void cluster_lose_disk(struct cluster *cluster, uint32_t host);

/* ---- network (network.c) ------------------------------------------------------------------------------- */

/* Break the connection from one host to the other: a part of what is on its way is lost; it is made again
 * soon. Cut: break both and carry nothing between the two until cut again with on = 0. */
void cluster_disconnect(struct cluster *cluster, uint32_t from, uint32_t to);
/* The shell of a host says that much, or nothing any more, of what it sent to another one has not left. */
void cluster_behind(struct cluster *cluster, uint32_t host, uint32_t to, int is_behind);
void cluster_cut(struct cluster *cluster, uint32_t p, uint32_t q, int on);
/* Carry nothing from one to the other, without anybody being told: the connection breaks in a while. */
void cluster_cut_silently(struct cluster *cluster, uint32_t from, uint32_t to, int on);
/* Nonzero if everybody reaches everybody. */
int cluster_is_whole(const struct cluster *cluster);
/* All messages are so much slower; 1: as usual. */
void cluster_slow_network(struct cluster *cluster, uint32_t factor);
/* What a host sends to another arrives so much later from now on, in the order in which it was sent. */
void cluster_lag(struct cluster *cluster, uint32_t from, uint32_t to, int64_t us);
void cluster_soft_loss(struct cluster *cluster, double lose, double repeat);

/* From the first message of that kind (a field of Lbm__Peer) on, hold back what one host sends to another, in
 * order. Pass: let it through, and all that follows; returns 0 if nothing was to be held. What is held is
 * lost when its connection breaks. */
int cluster_knows_message(const char *kind);
void cluster_hold(struct cluster *cluster, const char *kind, uint32_t from, uint32_t to);
int cluster_pass(struct cluster *cluster, uint32_t from, uint32_t to);
void cluster_pass_all(struct cluster *cluster);

/* A host hears a message as of another one, which did not send it: body_case and the body are given. Within
 * some seconds, with the next ping; returns 0 if none came. */
int cluster_say(struct cluster *cluster, uint32_t from, uint32_t to, Lbm__Peer *message);
/* What a member lies about. */
enum cluster_lie {
    CLUSTER_LIE_NONE,
    CLUSTER_LIE_LOADS,   /* it has more work than there is */
    CLUSTER_LIE_EPOCHS,  /* it has seen epochs that nobody can have counted to */
    CLUSTER_LIE_PLACE,   /* it is far away, and finds others slow */
    CLUSTER_LIE_OTHERS,  /* it hears nobody */
    CLUSTER_LIE_VIEW,    /* it has entries of the control log that do not exist */
    CLUSTER_LIE_SUMS,    /* its vertices lie elsewhere, and sums are another */
    CLUSTER_LIE_HISTORY, /* the same as VIEW, and what others have of it is not the log */
    CLUSTER_LIES,
    CLUSTER_LIE_ENTRY = CLUSTER_LIES, /* it has an entry of the log that nobody has ordered */
    CLUSTER_LIE_SILENCE               /* the same as VIEW, and it sends no entries */
};

/* From now on what arrives of that host is such a lie (lie.c); CLUSTER_LIE_NONE: no more. */
void cluster_lie(struct cluster *cluster, uint32_t host, enum cluster_lie lie);
/* The same as CLUSTER_LIE_ENTRY with that entry. Copies it. */
void cluster_lie_entry(struct cluster *cluster, uint32_t host, const Lbm__Command *command);
/* The next ping from one host to another is replaced by a number out of reach, or by an offer of what a third
 * one owns, drawn by `what` (forge.c). */
void cluster_forge(struct cluster *cluster, uint32_t from, uint32_t to, uint32_t what);

/* ---- the external log (log.c) -------------------------------------------------------------------------- */

/* Nonzero if the cluster was founded on it. */
int cluster_log_is_external(const struct cluster *cluster);
/* Nonzero if the control log is in an ensemble that daemons run. */
int cluster_log_is_managed(const struct cluster *cluster);
/* What that host puts into its log from here on is nobody else's, and not judged, until it archives its
 * database. */
void cluster_part_log(struct cluster *cluster, uint32_t host);
/* Nonzero if a majority of that ensemble runs without this host; also if there is none. */
int cluster_ensemble_survives(const struct cluster *cluster, uint32_t host);
/* A majority of that ensemble, from the given member on, loses its data: nothing is ever ordered there again.
 * Value: 0: it was so before. */
int cluster_lose_ensemble(struct cluster *cluster, uint32_t from);
/* Nonzero if that has happened, or too many members are on hosts that are dead or have no data yet, and no
 * other ensemble was formed since. In: dead, by host. */
int cluster_ensemble_is_lost(const struct cluster *cluster, const uint8_t *dead);
/* Nonzero if every disk that has a part of the log has all of it. */
int cluster_log_is_everywhere(const struct cluster *cluster);
/* Entries that some disk has had. */
uint64_t cluster_log_entries(const struct cluster *cluster);
void cluster_log_unavailable(struct cluster *cluster, int on);
/* A host hears nothing of it. */
void cluster_log_deaf(struct cluster *cluster, uint32_t host, int on);
void cluster_log_loses(struct cluster *cluster, double share); /* of its answers to appends */

/* ---- clients (clients.c) ------------------------------------------------------------------------------- */

/* Send a request as uid; the replies to it collect until the next request of that host. User 0 is an
 * administrator, others may submit. */
void cluster_request(struct cluster *cluster, uint32_t host, uint32_t uid, Lbm__Request *request);
/* The same of a client that may do that much. */
void cluster_request_as(struct cluster *cluster, uint32_t host, uint32_t uid, enum lbm_access access,
                        Lbm__Request *request);
/* The i-th reply since, or NULL. */
const Lbm__Response *cluster_reply(struct cluster *cluster, uint32_t host, size_t i);
/* Ask and wait (virtual seconds) for the last reply. NULL: none came. */
const Lbm__Response *cluster_ask(struct cluster *cluster, uint32_t host, uint32_t uid, Lbm__Request *request);

/* Submit a graph to a host and wait for the log's word. Returns the code of the last reply. */
enum lbm_err cluster_submit(struct cluster *cluster, uint32_t host, const char *name,
                            const struct lbm_graph *g, enum lbm_start start);

/* The same without waiting for the log: the last reply may come later, or never. */
enum lbm_err cluster_send_guest(struct cluster *cluster, uint32_t host, const char *name,
                                const struct lbm_graph *g, enum lbm_start start);
/* Hosts evenly apart read a part each, of consecutive vertices; wait for the log's word. Returns the code of
 * the first reply that is none of success. */
enum lbm_err cluster_submit_parts(struct cluster *cluster, uint32_t parts, const char *name,
                                  const struct lbm_graph *g, enum lbm_start start);
/* The operator of the machine cancels a job. */
void cluster_cancel(struct cluster *cluster, uint32_t host, const char *name);
/* The job of that name as that host lists it, or NULL; valid until its next reply. */
const Lbm__JobEntry *cluster_job(struct cluster *cluster, uint32_t host, const char *name);
/* Nonzero if that host knows a job of that name. */
int cluster_has_job(struct cluster *cluster, uint32_t host, const char *name);
/* Nonzero if that host, or every host that is up, says the job has settled. */
int cluster_settled_at(struct cluster *cluster, uint32_t host, const char *name);
int cluster_settled(struct cluster *cluster, const char *name);

/* ---- applications (application.c) ---------------------------------------------------------------------- */

#define CLIENT_MODEL_LIST(X)                                                                                 \
    X(OBEDIENT, "obedient")       /* lets go when asked to */                                                \
    X(SLOW, "slow")               /* the same, seconds later */                                              \
    X(DISOBEDIENT, "disobedient") /* never lets go, but minds the lease page */

enum client_model {
#define CLIENT_MODEL_ENUM(id, name) CLIENT_MODEL_##id,
    CLIENT_MODEL_LIST(CLIENT_MODEL_ENUM)
#undef CLIENT_MODEL_ENUM
        CLIENT_MODEL_COUNT
};

/* Start an application for a job on a host; it attaches and attaches again by itself. */
void cluster_run_application(struct cluster *cluster, uint32_t host, const char *job,
                             enum client_model client_model);
/* From now on applications report what each vertex costs, a few times a second. load: of a vertex at that
 * time; it may draw. */
void cluster_report_loads(struct cluster *cluster, double (*load)(void *arg, uint32_t vertex, int64_t now_us),
                          void *arg);
/* The same as loads that they know, and have not measured. */
void cluster_set_loads(struct cluster *cluster, double (*load)(void *arg, uint32_t vertex, int64_t now_us),
                       void *arg);
/* The shell of a host has measured that others leave it this part of the processors, in (0, 1]. */
void cluster_measure(struct cluster *cluster, uint32_t host, double left);
/* Kill the applications of a host; change the client model of all of them. */
void cluster_kill_applications(struct cluster *cluster, uint32_t host);
void cluster_set_client_model(struct cluster *cluster, enum client_model client_model);
uint32_t cluster_applications(const struct cluster *cluster, uint32_t host);
/* Nonzero if an application on that host works for the job of that name. */
int cluster_serves(const struct cluster *cluster, uint32_t host, const char *job);

/* ---- programs of the real library (sim/programs) ------------------------------------------------------- */

/* One of those that run, if that one does (0: it does not): kill it, and it begins again soon; have its
 * daemon cut it off; let it stand still, or go on. number: any. */
int cluster_kill_program(struct cluster *cluster, uint32_t number);
int cluster_cut_program(struct cluster *cluster, uint32_t number);
int cluster_stop_program(struct cluster *cluster, uint32_t number, int on);
void cluster_continue_programs(struct cluster *cluster);
/* Nonzero if all jobs came to what they were to come to, and their programs have ended, but for those at
 * hosts that are marked in absent [n]. */
int cluster_programs_are_done(const struct cluster *cluster, const uint8_t *absent);
/* Why not. */
void cluster_tell_programs(const struct cluster *cluster, char *text, size_t len);

/* ---- guests that change by a script (script.c) -------------------------------------------------------- */

/* Vertices have numbers of the script: the first n are those that the job was submitted with. */
struct cluster_edit {
    enum { CLUSTER_EDIT_ADD, CLUSTER_EDIT_EDGE, CLUSTER_EDIT_REMOVE } kind;
    uint32_t a; /* vertex; ADD: the next number */
    uint32_t b; /* EDGE: the other vertex; ADD: the one next to which it begins, LBM_NONE: any */
    uint32_t c; /* ADD: its work; EDGE: its weight, 0: none */
};

void cluster_follow_script(struct cluster *cluster, const char *job, uint32_t n);
/* Whoever holds a vertex that this concerns asks for it, and asks again until it is done. */
void cluster_edit(struct cluster *cluster, struct cluster_edit edit);
size_t cluster_edits_left(const struct cluster *cluster);
/* The number of the vertex of that id, or LBM_NONE. */
uint32_t cluster_number(const struct cluster *cluster, uint32_t id);
/* As cluster_owners, by numbers: part [all of them]; *none counts those that are there and owned by nobody.
 */
void cluster_owners_by_number(const struct cluster *cluster, uint32_t *part, uint32_t *none);

/* ---- at rest (rest.c) ---------------------------------------------------------------------------------- */

/* Guests on the disks whose jobs were not deleted. */
uint32_t cluster_guests(const struct cluster *cluster);

/* Nonzero if the control log has a job of that name, and has not deleted it. */
int cluster_job_lives(const struct cluster *cluster, const char *name);

/* Nonzero if over all disks each vertex of every job that was not deleted has exactly one owner, and
 * nothing is left of those that were; else *why says what is wrong. For a cluster at rest. */
int cluster_quiescent(const struct cluster *cluster, const char **why);

/* Owners as the disks say: part[v] = the host whose row is OWN, LBM_NONE if none; *doubles counts vertices
 * with more than one OWN row, *none those without. */
void cluster_owners(const struct cluster *cluster, uint32_t n, uint32_t *part, uint32_t *doubles,
                    uint32_t *none);

/* Vertices of all jobs in the log that no application works on now. */
uint32_t cluster_idle_vertices(const struct cluster *cluster);
/* Where they are, into the trace. */
void cluster_trace_idle(struct cluster *cluster);

/* ---- traces -------------------------------------------------------------------------------------------- */

/* Every note of level info and above, every message and commit, one line each, if tracing is on. */
void cluster_trace(struct cluster *cluster, int on);
const char *cluster_trace_text(const struct cluster *cluster);
/* Over everything that has happened, whether or not it was traced. */
uint64_t cluster_hash(const struct cluster *cluster);
uint64_t cluster_steps(const struct cluster *cluster);

#endif
