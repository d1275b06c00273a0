/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of lib/node share. Nothing outside lib/node includes this.
 *
 *   node.c       step function: dispatch, timers, life of a node
 *   effects.c    effects and persist operations
 *   membership.c join, activate, who was heard when
 *   control_log.c the local engine: append, follow, serve
 *   jobs.c       life of a job on this host
 *   submit.c     a guest from a client to a job
 *   planning.c   plans at the job's home
 *   handoff.c    PROTOCOL section 4: offers, answers, retries
 *   ghosts.c     what neighbours must know of our vertices, and where theirs went
 *   mapping.c    diffusion, regions, renormalization
 *   session.c    exchange sessions by colour rounds, termination
 *   exchange.c   what one session moves: GDE's share and pair refinement
 *   requests.c   answers to clients
 *   collect.c    mappings and places gathered from all hosts */
#ifndef LBM_NODE_INTERNAL_H
#define LBM_NODE_INTERNAL_H

#include "balance/balance.h"
#include "base/check.h"
#include "base/rng.h"
#include "embed/embed.h"
#include "node/node.h"
#include "node/shard.h"
#include "node/view.h"
#include "space/space.h"

/* Periods and patience, microseconds. */
enum {
    PING_US = 500000,
    SILENT_US = 1600000,  /* three pings missed: status calls the host silent */
    EXCLUDE_US = 3000000, /* a silent host is no longer waited for at the end of MAPPING */
    APPEND_RETRY_US = 1000000,
    FETCH_RETRY_US = 500000,
    OFFER_RETRY_US = 1000000,
    MAPPING_TICK_US = 10000,
    PLACING_TICK_US = 5000,
    FOLLOW_US = 100000,           /* ownership follows regions this often */
    STATS_US = 300000,            /* moments to the job's home */
    READY_US = 700000,            /* all ready for longer than a ping takes */
    REFUSED_US = 5000000,         /* before a refused vertex is offered again */
    GHOSTS_SOON_US = 5000,        /* changes within this time travel together */
    GHOSTS_AGAIN_US = 2000000,    /* repeat unchanged ghosts: heals what a broken connection lost */
    GHOSTS_SETTLED_US = 10000000, /* the same once a job has settled */
    PAIR_WAIT_US = 700000,        /* for the partner of a colour, before asking again */
    PAIR_PATIENCE_US = 10000000,  /* the same, if it is alive */
    PAIR_HANDOFF_US = 3000000,    /* for the handoffs of a session */
    NOTICE_RETRY_US = 50000,      /* before asking a partner again that was not there yet */
    COLLECT_US = 1500000,         /* for the parts of a mapping */
    CHECKPOINT_US = 5000000,      /* positions to disk while they change */
};

enum {
    HANDOFF_BATCHES = 2,       /* in flight to one host */
    MAPPING_SWEEPS = 2,        /* a tick */
    MAPPING_SWEEPS_MAX = 4000, /* then BALANCING starts with what there is */
    PLAN_SWEEPS = 4,           /* smoothing of planned coordinates */
    BAND_VERTICES_MAX = 4096,  /* of one PAIR_ACCEPT */
    BAND_HALVES_MAX = 65536,
    SWEEP_PAUSE_US = 200000, /* between sweeps in which nobody answered */
    SLACK_HOPS_MAX = 10000,  /* "no host with room is known" */
    PATIENT_SWEEPS = 40,     /* after so many sweeps a session must gain more and more */
};

/* A peer's place in time. */
struct peer {
    uint32_t host;
    int64_t heard_us;  /* last message, 0: never */
    int connected;     /* our outgoing connection stands */
    uint64_t vertices; /* as its pulses say, all jobs */
};

/* What a host last said of a job. */
struct pulse {
    uint32_t host;
    int64_t heard_us;
    enum lbm_phase phase;
    int ready;
    uint32_t vertices;
    uint64_t load;
    uint64_t sweep;
    uint32_t counter;
    double largest;
    uint64_t frame;
    uint64_t moved;
};

enum session_state {
    SESSION_NONE,
    SESSION_OPENED,   /* lower id: PAIR_OPEN sent */
    SESSION_AWAITED,  /* higher id: waiting for PAIR_OPEN */
    SESSION_ANSWERED, /* higher id: PAIR_ACCEPT sent */
    SESSION_MOVING,   /* plan known, handoffs under way */
};

/* Reasons of a PairNotice. */
enum lbm_notice {
    NOTICE_NOT_READY, /* still mapping or placing: ask again */
    NOTICE_AHEAD,     /* the sender is at this sweep and colour already */
    NOTICE_WAKE,      /* the sender needs sessions again */
    NOTICE_SETTLED,   /* the sender knows that all are stable */
};

/* Where a partner is, if it is further than we are; its open, if it sent one. */
struct early_open {
    uint32_t host;
    int set;
    int is_open; /* 0: only its place is known */
    uint64_t sweep;
    uint32_t colour;
    uint64_t load;
    uint32_t counter;
    uint32_t slack_hops;
};

struct session {
    enum session_state state;
    uint64_t sweep;
    uint32_t colour;
    uint32_t partner; /* host id */
    int64_t begun_us;
    int64_t deadline_us;
    int64_t retry_us;           /* ask again, or INT64_MAX */
    uint32_t n_met;             /* partners met in this sweep */
    uint32_t n_silent;          /* partners passed over in this sweep: nothing was heard from them */
    int was_silent;             /* there were some in the sweep before */
    int moved;                  /* something moved in this sweep */
    uint32_t leaving;           /* our vertices not yet MOV */
    LBM_VEC(uint32_t) arriving; /* vertices whose FIN is awaited */
    struct lbm_termination termination;
    uint32_t slack_hops;  /* ours after the last sweep */
    uint32_t slack_heard; /* least heard in this sweep */
    uint64_t woken;       /* sweep at which sessions last (re)started */
    LBM_VEC(struct early_open) early;
};

/* What a host's own vertices contribute to a renormalization. */
struct host_moments {
    uint32_t host;
    uint64_t stamp;
    struct lbm_moments moments;
};

/* A job on this host. */
struct job {
    uint64_t id;
    enum lbm_phase phase;
    enum lbm_job_state stored; /* home only: what the database says */
    struct lbm_shard shard;
    int64_t created_us;

    /* home, before and during planning */
    struct lbm_graph *guest; /* whole guest; freed when the plan is stored */
    struct lbm_hosts plan_hosts;
    LBM_VEC(uint32_t) plan_ids; /* host ids by number in plan_hosts */
    int planning;
    uint64_t client; /* waits for the log's word on its submit; 0: nobody */
    uint64_t client_request;

    /* regions and frame */
    struct lbm_affine frame; /* raw coordinates to Omega */
    uint64_t frame_seq;      /* 0: none yet */
    int frame_fixed;
    LBM_VEC(uint32_t) region_host;
    LBM_VEC(double) region_weight;
    LBM_VEC(struct host_moments) moments; /* home: the newest of each host */

    /* mapping */
    int64_t tick_us;
    uint64_t sweeps;
    double largest; /* of the last sweep, Omega units */
    uint32_t calm;  /* ticks in a row with nothing to do */
    int ready;
    int64_t ready_us;  /* since when all members are ready; 0: they are not */
    int64_t follow_us; /* when regions are looked at next */
    int64_t stats_us;

    /* ghosts */
    int ghosts_due;        /* something changed */
    int64_t ghosts_us;     /* last sent */
    double ghosts_largest; /* displacement not yet told */

    /* handoff */
    LBM_VEC(uint32_t) out; /* slots of vertices that are, or just were, OUT */
    uint32_t pump_at;      /* where the search for wishes goes on */
    int64_t offers_us;     /* next look at offers without answer; INT64_MAX: none out */
    uint64_t moved;        /* handed over so far */

    struct session session;
    LBM_VEC(struct pulse) pulses;
    int64_t checkpoint_us; /* next, INT64_MAX: positions are stored */
};

/* An append that is not in the log yet. */
struct append {
    uint64_t token;
    uint8_t *command;
    size_t len;
};

/* A log entry that is being stored: it is applied once `persist` is durable. */
struct log_wait {
    uint64_t index;
    uint64_t persist;
};

/* A guest on its way in from a client. */
struct upload {
    uint64_t client;
    char name[LBM_NAME_MAX + 1];
    uint32_t start;
    uint64_t seed;
    double imbalance;
    uint32_t vertices;
    uint64_t edges;
    LBM_VEC(uint64_t) offset;
    LBM_VEC(uint32_t) target;
    LBM_VEC(uint32_t) weight;
    LBM_VEC(uint32_t) work;
    LBM_VEC(uint32_t) pin;
};

/* A client's question that other hosts answer. */
struct collection {
    uint64_t query;
    uint64_t client;
    uint64_t request;
    uint64_t job;
    int64_t deadline_us;
    LBM_VEC(uint32_t) awaited; /* hosts */
    int locate;                /* nonzero: answer places of these vertices */
    LBM_VEC(uint32_t) vertex;
    struct lbm_idmap first; /* vertex: where it is first in the list above */
    LBM_VEC(uint32_t) place;
    LBM_VEC(uint64_t) epoch;
};

struct lbm_node {
    /* configuration */
    uint32_t host;
    char *name, *address, *cluster_name, *founder_address, *version;
    double capacity;
    struct lbm_link *links;
    size_t n_links;
    unsigned m;
    double site[LBM_DIMENSIONS_MAX];
    int has_site;
    int founder;
    uint32_t founder_host;
    uint32_t vertices_max; /* refuse offers beyond; 0: no limit */

    struct lbm_rng rng;
    int64_t now_us;
    int64_t started_us;
    struct lbm_effects *out; /* of the step under way */
    enum lbm_err failed;     /* first error of the step under way */

    uint64_t incarnation;
    uint64_t persist_id;      /* last transaction asked for */
    uint64_t persisted;       /* last one known durable */
    struct lbm_persist *open; /* the transaction of the step under way */

    struct lbm_view view;
    LBM_VEC(struct lbm_recovered_entry) log; /* every entry known, by index - 1; may be ahead of the view */
    LBM_VEC(struct log_wait) log_waits;
    LBM_VEC(struct append) appends;
    uint64_t append_token;
    int64_t append_us;   /* when the first append was sent; 0: not under way */
    int append_accepted; /* the first append has its place: wait for the entry */
    int join_refused;    /* the log did not take us; the operator must change the configuration */
    int64_t fetch_us;    /* when the log was last asked for */
    int caught_up;       /* heard that there is nothing newer */

    LBM_VEC(struct peer) peers;
    int64_t ping_us;
    uint64_t ping_seq;

    LBM_VEC(struct job *) jobs;
    LBM_VEC(struct upload *) uploads;
    LBM_VEC(struct collection *) collections;
    uint64_t query;

    uint64_t n_sent, n_received, bytes_sent, bytes_received, n_handoffs;
};

/* ---- effects.c: append to node->out; a shortage of memory sets node->failed ------------------------ */

void note(struct lbm_node *node, enum lbm_note_level level, const char *fmt, ...) LBM_PRINTF(3, 4);
void dial(struct lbm_node *node, uint32_t host, const char *address);

/* Fill the envelope, pack and send once every transaction asked for so far is durable. */
void send_peer(struct lbm_node *node, uint32_t host, Lbm__Peer *message);
/* The same at once and lossy: nothing stored depends on it. */
void send_soft(struct lbm_node *node, uint32_t host, Lbm__Peer *message);
void reply(struct lbm_node *node, uint64_t client, uint64_t request, int last, Lbm__Response *response);
void reply_error(struct lbm_node *node, uint64_t client, uint64_t request, enum lbm_err code, const char *fmt,
                 ...) LBM_PRINTF(5, 6);

/* Add an operation to the transaction of this step, which end_step issues. Takes what the op owns. */
void persist(struct lbm_node *node, struct lbm_persist_op op);
/* Issue the open transaction now, so that later sends of this step wait for it. */
void persist_flush(struct lbm_node *node);
void persist_vertex(struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex);
void fail(struct lbm_node *node, enum lbm_err err);

/* ---- membership.c ----------------------------------------------------------------------------------- */

void membership_start(struct lbm_node *node);
void membership_timer(struct lbm_node *node);
void membership_changed(struct lbm_node *node); /* after the view changed */
void membership_connected(struct lbm_node *node, uint32_t host);
struct peer *peer_of(struct lbm_node *node, uint32_t host); /* creates; NULL if memory is short */
int is_silent(const struct lbm_node *node, uint32_t host, int64_t limit_us);
void on_hello(struct lbm_node *node, const Lbm__Peer *message);
void on_ping(struct lbm_node *node, const Lbm__Peer *message);

/* ---- control_log.c ---------------------------------------------------------------------------------- */

void log_start(struct lbm_node *node, struct lbm_recovered *recovered);
void log_persisted(struct lbm_node *node);
void log_timer(struct lbm_node *node);
int64_t log_deadline(const struct lbm_node *node);
void log_append(struct lbm_node *node, const Lbm__Command *command);
void log_fetch(struct lbm_node *node);
void on_log_fetch(struct lbm_node *node, const Lbm__Peer *message);
void on_log_entries(struct lbm_node *node, const Lbm__Peer *message);
void on_log_append(struct lbm_node *node, const Lbm__Peer *message);
void on_log_result(struct lbm_node *node, const Lbm__Peer *message);

/* ---- jobs.c ----------------------------------------------------------------------------------------- */

struct job *job_of(const struct lbm_node *node, uint64_t id);
struct job *job_add(struct lbm_node *node, uint64_t id);
void job_remove(struct lbm_node *node, uint64_t id);
void job_free(struct job *job);
void jobs_start(struct lbm_node *node, struct lbm_recovered *recovered);
void jobs_created(struct lbm_node *node, const struct lbm_job_entry *entry); /* by the log */
void jobs_refused(struct lbm_node *node, const Lbm__JobCreate *create, const char *why);
void jobs_deleted(struct lbm_node *node, uint64_t id);
void jobs_view_changed(struct lbm_node *node);
void jobs_timer(struct lbm_node *node);
int64_t jobs_deadline(const struct lbm_node *node);
void job_enter(struct lbm_node *node, struct job *job, enum lbm_phase phase);
void job_store_state(struct lbm_node *node, struct job *job, enum lbm_job_state state);
void job_free_guest(struct job *job);
struct pulse *pulse_of(struct job *job, uint32_t host); /* creates; NULL if memory is short */
int is_home(const struct lbm_node *node, const struct job *job);
/* Target load T_p of this host and its limit, work units. */
double job_target(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t host);
uint64_t job_limit(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t host);

/* ---- planning.c ------------------------------------------------------------------------------------- */

void plan_begin(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
void on_planned(struct lbm_node *node, const struct lbm_event *event);

/* ---- handoff.c -------------------------------------------------------------------------------------- */

/* Start handing over an OWN vertex. Nonzero if it started. */
int handoff_begin(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to);
/* Send the offers of what was begun in this step, in batches. */
void handoff_offer(struct lbm_node *node, struct job *job);
/* Begin handoffs of vertices whose wish is another host, a few batches at a time. Returns those that
 * still wait. */
uint32_t handoff_pump(struct lbm_node *node, struct job *job);
void handoff_timer(struct lbm_node *node, struct job *job);
void on_offer(struct lbm_node *node, const Lbm__Peer *message);
void on_answer(struct lbm_node *node, const Lbm__Peer *message);
void on_fin(struct lbm_node *node, const Lbm__Peer *message);

/* ---- ghosts.c --------------------------------------------------------------------------------------- */

void ghosts_send(struct lbm_node *node, struct job *job);
void ghosts_timer(struct lbm_node *node, struct job *job);
int64_t ghosts_deadline(const struct job *job);
void on_ghosts(struct lbm_node *node, const Lbm__Peer *message);
void on_moved(struct lbm_node *node, const Lbm__Peer *message);

/* ---- mapping.c -------------------------------------------------------------------------------------- */

void mapping_timer(struct lbm_node *node, struct job *job);
void mapping_send_frame(struct lbm_node *node, struct job *job, uint32_t host); /* to one that lags */
void on_stats(struct lbm_node *node, const Lbm__Peer *message);
void on_frame(struct lbm_node *node, const Lbm__Peer *message);
/* Position of a vertex in Omega. */
void mapping_place(const struct job *job, const double *raw, double *x);

/* ---- session.c -------------------------------------------------------------------------------------- */

void session_start(struct lbm_node *node, struct job *job); /* entering BALANCING */
void session_timer(struct lbm_node *node, struct job *job);
void session_stop(struct lbm_node *node, struct job *job);
void session_left(struct lbm_node *node, struct job *job); /* a vertex of the session is MOV, or came back */
void session_arrived(struct lbm_node *node, struct job *job, uint32_t vertex); /* FIN */
void on_pair_open(struct lbm_node *node, const Lbm__Peer *message);
void on_pair_accept(struct lbm_node *node, const Lbm__Peer *message);
void on_pair_plan(struct lbm_node *node, const Lbm__Peer *message);
void on_pair_notice(struct lbm_node *node, const Lbm__Peer *message);

/* ---- exchange.c ------------------------------------------------------------------------------------- */

/* Slots of the own vertices that may move to the partner: those it pulls, and some layers behind them. */
typedef LBM_VEC(uint32_t) slot_list;
enum lbm_err exchange_band(struct lbm_node *node, struct job *job, uint32_t partner,
                           slot_list *band) LBM_MUST_CHECK;
struct exchange {
    LBM_VEC(uint32_t) give; /* own vertices, ids */
    LBM_VEC(uint32_t) take; /* the partner's, ids */
};
/* Decide what moves between this host and the partner, whose answer is `accept`. */
enum lbm_err exchange_decide(struct lbm_node *node, struct job *job, uint32_t partner,
                             const Lbm__PairAccept *accept, struct exchange *out) LBM_MUST_CHECK;

/* ---- records on the wire (effects.c) ---------------------------------------------------------------- */

/* Columns of vertices, built row by row; free with columns_free. */
struct columns {
    Lbm__Records message;
    LBM_VEC(uint32_t) vertex, work, pin, anchored, degree, neighbour, weight, host;
    LBM_VEC(uint64_t) epoch;
    LBM_VEC(double) position;
};
void columns_init(struct columns *columns);
/* Append a vertex as it would be owned at `epoch`; with_halves: adjacency and hints too. */
void columns_add(struct lbm_node *node, struct columns *columns, const struct job *job,
                 const struct lbm_vertex *vertex, uint64_t epoch, int with_halves);
const Lbm__Records *columns_message(struct columns *columns);
void columns_free(struct columns *columns);

/* ---- submit.c, requests.c, collect.c ---------------------------------------------------------------- */

void submit_begin(struct lbm_node *node, uint64_t client, uint64_t request, const Lbm__SubmitBegin *begin);
void submit_rows(struct lbm_node *node, uint64_t client, uint64_t request, const Lbm__SubmitRows *rows);
void submit_end(struct lbm_node *node, uint64_t client, uint64_t request, uint32_t uid);
void submit_gone(struct lbm_node *node, uint64_t client);
void on_request(struct lbm_node *node, const struct lbm_event *event);
void collect_map(struct lbm_node *node, uint64_t client, uint64_t request, const Lbm__MapRequest *map);
void collect_locate(struct lbm_node *node, uint64_t client, uint64_t request,
                    const Lbm__LocateRequest *locate);
void collect_gone(struct lbm_node *node, uint64_t client);
void collect_timer(struct lbm_node *node);
int64_t collect_deadline(const struct lbm_node *node);
void on_map_query(struct lbm_node *node, const Lbm__Peer *message);
void on_map_part(struct lbm_node *node, const Lbm__Peer *message);

#endif
