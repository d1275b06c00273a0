/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of sim/ share. */
#ifndef LBM_SIM_MODEL_INTERNAL_H
#define LBM_SIM_MODEL_INTERNAL_H

#include <inttypes.h>

#include "base/check.h"
#include "sim/check/check.h"
#include "sim/model/clock.h"
#include "sim/model/cluster.h"
#include "sim/model/timers.h"

/* What is going to happen to a host, or to an application on it. */
enum happening {
    HAPPEN_MESSAGE,       /* from another host */
    HAPPEN_SYNCED,        /* the disk has a transaction */
    HAPPEN_BLOB_READ,     /* a piece of a large payload was read from the disk */
    HAPPEN_PLANNED,       /* a computation ends */
    HAPPEN_CONNECT,       /* a try to connect */
    HAPPEN_DISCONNECTED,  /* the host notices that a connection is no more */
    HAPPEN_RESTART,       /* the supervisor starts a process that ended */
    HAPPEN_APPENDED,      /* the external log: the answer to an append */
    HAPPEN_FOLLOWED,      /* the external log: entries for who follows it */
    HAPPEN_LOOKED,        /* the ensemble: a daemon has looked how it is */
    HAPPEN_ASKED,         /* a request of an application reaches the daemon */
    HAPPEN_TOLD,          /* a response reaches the application */
    HAPPEN_LET_GO,        /* an application is done with what it was asked to release */
    HAPPEN_ATTACH,        /* an application tries to attach, and sometimes checkpoints */
    HAPPEN_GONE,          /* the daemon notices that a client is gone */
    HAPPEN_READ,          /* or has read what it was sent */
    HAPPEN_PROGRAM,       /* a program goes on */
    HAPPEN_PROGRAM_TOLD,  /* bytes reach it, or the end of its connection: none */
    HAPPEN_PROGRAM_BEGIN, /* one begins, or begins again */
};

struct happen {
    int64_t at_us;
    uint64_t order;
    enum happening kind;
    uint32_t host;  /* to whom it happens */
    uint32_t from;  /* MESSAGE, CONNECT, DISCONNECTED: the other host; those of applications: which */
    uint64_t life;  /* of `host`: an event for an earlier life is void */
    uint8_t *frame; /* MESSAGE, ASKED, TOLD, LET_GO: owned */
    size_t len;
    uint64_t number; /* MESSAGE: the connection; ASKED, TOLD, GONE: the client; APPENDED: the index */
    uint32_t result; /* APPENDED */
    struct lbm_persist *persist; /* SYNCED */
    struct lbm_blob_read read;   /* BLOB_READ */
    struct lbm_plan_task task;   /* PLANNED */
    int was_held;                /* MESSAGE: it had arrived before */
};

/* An effect that waits for the disk. A send goes over the connection that stood when it was asked for. */
struct waiting {
    struct lbm_effect effect;
    uint64_t connection;
};

/* What a daemon tells its applications; it outlives the daemon, not the machine. */
struct page {
    int64_t deadline_us;
    uint64_t term;
    int used;
    uint32_t gone;
};

struct machine {
    struct lbm_node *node; /* NULL: down */
    uint64_t life;
    double capacity; /* that its configuration says, 0: as the host graph has it */
    int stopped, suspended;
    int64_t suspended_us, slept_us; /* by its clock: since when it sleeps; how long it has slept */
    int64_t locked_us;              /* its last daemon has the lock of the lease page until then */
    int64_t ended_us, begun_us; /* when its last life ended, and this one began; 0: there was none before */
    struct sim_clock clock;
    uint64_t durable;     /* id */
    int64_t sync_free_us; /* the disk is busy until then */
    uint32_t slow;        /* factor */
    int full, fail_sync;
    uint32_t allocations_left; /* until one fails; 0: none does */
    int dying;                 /* why it ends with this step */
    uint32_t hasty;            /* timers in a row that did not let a millisecond pass, since: */
    int64_t hasty_us;
    LBM_VEC(struct waiting) waiting;
    LBM_VEC(struct happen) held; /* while stopped */
    int64_t *channel_us;         /* [n] when the last message to each host arrives: order */
    int64_t *lag_us;             /* [n] added to what messages to each host take */
    uint8_t *dialled;            /* [n] */
    uint8_t *broken;             /* [n] the connection to each host stands, but carries nothing any more */
    uint64_t *connection;        /* [n] number of the one that stands to each host, 0: none */
    uint64_t *heard;             /* [n] number of the newest one from each host that a message came over */
    LBM_VEC(Lbm__Response *) replies;
    uint64_t requests, key; /* of the last one: number, identity */
    struct page page;
    uint64_t follows;             /* the external log, from this index; 0: not */
    int following;                /* entries are on their way */
    int deaf;                     /* none are brought */
    struct lbm_ensemble ensemble; /* that the daemon was told of */
    int tends, looks;             /* it keeps the list; a look is on its way */
    struct cluster_meter meter;
    enum cluster_lie lie;
    struct lbm_bytes forged; /* entry of the log that it says it has; NULL: none was given */
};

/* Of a large payload, which the simulated hosts keep in pieces. */
enum { BLOB_PIECE = 32, LARGE_BYTES = 80 };

struct held {
    uint32_t vertex;
    uint64_t token;
    uint64_t term; /* of the lease page when it was given */
    uint64_t payload;
    int asked;      /* it was asked to let go */
    uint64_t edges; /* digest of those that it was told last */
    uint64_t read;  /* request that reads its large payload; 0: it has it, and works with it */
    uint64_t least; /* the payload that it is to find there is no older */
    struct lbm_blob_name described;
    size_t len; /* that has come: */
    uint8_t bytes[LARGE_BYTES];
};

struct application {
    uint32_t host;
    uint64_t job;
    char name[LBM_NAME_MAX + 1];
    enum client_model client_model;
    int alive;
    uint64_t client; /* its connection, 0: none */
    int attached;
    uint64_t requests;
    uint64_t checkpoint;  /* id of the request in progress, 0: none */
    uint64_t ids, change; /* the same */
    LBM_VEC(uint32_t) new_ids;
    LBM_VEC(uint32_t) added, removed; /* by the change in flight */
    LBM_VEC(struct held) held;
    LBM_VEC(struct held) sent; /* payloads of the checkpoint in flight */
    uint32_t batch_max;        /* of a script at once; 0: not asked for any yet */
    int64_t asked_us;          /* when the last that it has asked for arrives, if payloads are large */
    int64_t told_us;           /* when the last that its daemon has said arrives: a socket keeps the order */
};

/* What one host sends to another waits, from the first message of that kind on. */
struct interceptor {
    uint32_t from, to;
    unsigned kind; /* number of the field of Lbm__Peer */
    int closed;    /* the first one has come */
    LBM_VEC(struct happen) waiting;
};

/* A model of the external log: one total order, appended to at one index at a time. */
struct model_log {
    LBM_VEC(struct lbm_bytes) entries; /* from first */
    uint64_t first;                    /* 0: of an ensemble, and not begun */
    int is_lost;                       /* most of its members have lost their data */
    struct lbm_ensemble listed; /* of an ensemble that daemons run: its members, as they list them; or id 0 */
    int has_begun[LBM_ENSEMBLE_MAX]; /* each of them */
    struct lbm_bytes snapshot;       /* of everything before */
    int unavailable;
    double loses;
};

/* With the next ping, whoever's, a host hears this too (forge.c). */
struct words {
    uint32_t from, to;
    Lbm__Peer *message; /* borrowed; NULL: nothing */
};

/* What a lie has put into a message (lie.c, lie_log.c). */
struct lie_words {
    Lbm__Ping *ping;   /* NULL: nothing */
    uint32_t *suspect; /* as it was sent */
    size_t n;
    uint32_t all[64];
    Lbm__LogEntries *entries; /* NULL: nothing */
    ProtobufCBinaryData *command;
    Lbm__LogSnapshot *snapshot; /* NULL: nothing */
    ProtobufCBinaryData data;
    int is_kept; /* nothing is said at all */
};

/* The next ping from one host to another says something else (forge.c). */
struct forgery {
    int is_due;
    uint32_t from, to, what;
    uint64_t repl_epoch; /* of the copy that `to` keeps with `from`, if it does */
};

struct cluster {
    uint32_t n;
    const struct lbm_hosts *h;
    struct cluster_options options;
    struct lbm_rng rng;
    int64_t now_us;
    uint64_t order;
    LBM_VEC(struct happen) queue; /* binary heap */
    struct machine *machine;      /* [n] */
    struct timers timers;         /* true times at which nodes want to be woken */
    struct disk *disk;            /* [n] */
    struct disk *image;           /* [n] of an earlier time; known 0: none */
    struct check check;
    struct lbm_views *views; /* NULL: each node has its own */
    struct model_log log;
    LBM_VEC(struct application) applications;
    struct programs *programs; /* that are run in place of applications; NULL: none */
    struct script *script;     /* what they are to do with their guest; NULL: nothing */
    double (*load)(void *arg, uint32_t vertex, int64_t now_us); /* what applications report; NULL: nothing */
    void *load_arg;
    int loads_known;            /* they are not measured */
    uint64_t clients;           /* connections of applications so far */
    uint64_t connections;       /* made so far */
    LBM_VEC(int64_t) broken_us; /* by connection, less one: what would arrive later is lost */
    uint8_t *cut;               /* [n * n] the network does not carry from row to column */
    LBM_VEC(struct interceptor) interceptors;
    struct forgery forgery;
    struct words words;
    uint32_t network_slow;
    uint64_t steps, hash;
    enum trigger awaited; /* ends the present run */
    uint32_t awaited_at;  /* at this host */
    int interrupted;      /* the present run ends after what happens now */
    int64_t sampled_us;   /* summaries were last looked at */
    uint64_t ordered;     /* entries of the control log so far, as somebody has ordered them */
    uint64_t keys;        /* identities of requests given so far */
    int tracing;
    struct lbm_buf trace;
};

/* ---- queue.c ------------------------------------------------------------------------------------------- */

void happen_push(struct cluster *c, struct happen happen);
struct happen happen_pop(struct cluster *c);
void happen_free(struct happen *happen);

/* ---- trace.c ------------------------------------------------------------------------------------------- */

void trace(struct cluster *c, uint32_t host, const char *fmt, ...) LBM_PRINTF(3, 4);
void trace_ops(struct cluster *c, uint32_t host, const struct lbm_persist *persist);
void trace_message(struct cluster *c, uint32_t host, uint32_t from, const Lbm__Peer *message);
/* Something has happened: into the hash. */
void note_happening(struct cluster *c, uint32_t kind, uint32_t host, const uint8_t *bytes, size_t len);
/* A violation that nobody keeps is an assertion. */
void judge(struct cluster *c);

/* ---- cluster.c ----------------------------------------------------------------------------------------- */

/* A trigger has come that somebody may wait for. */
void trigger_comes(struct cluster *c, enum trigger trigger, uint32_t host);

/* ---- machine.c ----------------------------------------------------------------------------------------- */

#define CLUSTER_NAME "test"

/* What a host calls itself, and where it says that it listens. */
struct machine_names {
    char name[16], address[32];
};
struct machine_names machine_names(uint32_t host);

void step(struct cluster *c, uint32_t host, struct lbm_event *event);
void release(struct cluster *c, uint32_t host); /* carry out what waits for nothing any more */
int64_t machine_now(const struct cluster *c, uint32_t host);
void machine_free_node(struct machine *m); /* and all that its life was about to do */
void machine_ends(struct cluster *c, uint32_t host, const char *why); /* by itself; started again soon */

/* ---- storage.c ----------------------------------------------------------------------------------------- */

void persist_effect(struct cluster *c, uint32_t host, struct lbm_effect *effect);
void blob_read_effect(struct cluster *c, uint32_t host, const struct lbm_effect *effect);
void happen_blob_read(struct cluster *c, const struct happen *happen);
void happen_synced(struct cluster *c, struct happen *happen);
void sync_some(struct cluster *c, uint32_t host, enum crash crash);

/* ---- summaries.c --------------------------------------------------------------------------------------- */

/* I17: now and then, what hosts say of jobs. */
void summaries_sample(struct cluster *c);
/* I18: a host orders entries, or has them from who does. */
void requests_ordered(struct cluster *c, uint32_t host, const struct lbm_persist *persist);

/* ---- network.c ----------------------------------------------------------------------------------------- */

void transmit(struct cluster *c, uint32_t from, const struct waiting *waiting);
void network_dial(struct cluster *c, uint32_t host, uint32_t to);
int is_lost(const struct cluster *c, const struct happen *happen);
void disconnect(struct cluster *c, uint32_t from, uint32_t to);
void happen_message(struct cluster *c, struct happen *happen);
void happen_connect(struct cluster *c, const struct happen *happen);
void happen_disconnected(struct cluster *c, const struct happen *happen);

/* ---- lie.c --------------------------------------------------------------------------------------------- */

/* A message that has arrived of a host that lies; lie_ends gives it back as it was allocated. */
void lie_begins(struct cluster *c, uint32_t to, uint32_t from, Lbm__Peer *message, struct lie_words *words);
void lie_ends(struct lie_words *words);

/* ---- lie_log.c ----------------------------------------------------------------------------------------- */

/* Nonzero if that receiver takes that host's word alone of what is in the control log. */
int lie_is_believed(const struct cluster *c, uint32_t to, uint32_t from);
void lie_about_entries(struct cluster *c, uint32_t from, Lbm__Peer *message, struct lie_words *words);
void lie_in_silence(struct cluster *c, uint32_t to, uint32_t from, Lbm__Peer *message,
                    struct lie_words *words);
void lie_log_ends(struct lie_words *words);

/* ---- summaries.c --------------------------------------------------------------------------------------- */

/* Nonzero for a large cluster: most hosts are heard in turn, so that what is said of them may be minutes old.
 */
int model_is_large(const struct cluster *c);

/* ---- forge.c ------------------------------------------------------------------------------------------- */

int forgery_arrives(struct cluster *c, uint32_t host, uint32_t from, const Lbm__Peer *message);

/* ---- interceptors.c
 * ------------------------------------------------------------------------------------------- */

/* Nonzero if the message is held back; its frame is taken then. */
int hold_takes(struct cluster *c, struct happen *happen, unsigned kind);
void interceptors_lose(struct cluster *c, uint64_t connection);
void interceptors_free(struct cluster *c);

/* ---- log.c --------------------------------------------------------------------------------------------- */

/* Entries are on their way to that host if it follows and has not got all. */
void log_bring(struct cluster *c, uint32_t host);
void log_effect(struct cluster *c, uint32_t host, struct lbm_effect *effect);
void happen_appended(struct cluster *c, const struct happen *happen);
void happen_followed(struct cluster *c, const struct happen *happen);
void log_free(struct cluster *c);

/* ---- ensemble.c ---- */

/* Nonzero if a majority of the ensemble that this host knows runs; also if the log is in none. */
int ensemble_answers(const struct cluster *c, uint32_t host);
void ensemble_effect(struct cluster *c, uint32_t host, const struct lbm_effect *effect);
void happen_looked(struct cluster *c, const struct happen *happen);

/* ---- clients.c, application.c, work.c ------------------------------------------------------------------ */

enum { OPERATOR = 1 }; /* client number of all requests that are not an application's */

void deliver_reply(struct cluster *c, uint32_t host, const struct lbm_effect *effect);
void forget_replies(struct machine *m);
void application_tell(struct cluster *c, uint32_t host, const struct lbm_effect *effect);
void happen_application(struct cluster *c, struct happen *happen);
void application_looks(struct cluster *c, uint32_t application);
void application_hangs_up(struct cluster *c, uint32_t application);
void application_disconnected(struct cluster *c, uint32_t host); /* the daemon is no more */
void applications_free(struct cluster *c);
void application_asks(struct cluster *c, uint32_t application, Lbm__Request *request);
void application_drops(struct cluster *c, uint32_t application, size_t k);

/* sim/programs: applications that are the real library. */
void programs_new(struct cluster *c);
void programs_free(struct cluster *c);
void program_begin(struct cluster *c, uint32_t host, const char *job);
void programs_kill(struct cluster *c, uint32_t host);
int programs_serve(const struct cluster *c, uint32_t host, const char *job);
uint32_t programs_at(const struct cluster *c, uint32_t host); /* that run */
/* The daemon is no more; the machine sleeps, and wakes up. */
void programs_disconnected(struct cluster *c, uint32_t host);
void programs_sleep(struct cluster *c, uint32_t host);
void programs_continue(struct cluster *c, uint32_t host);
/* Nonzero if the reply is for a program; if the daemon has cut off that client. */
int programs_tell(struct cluster *c, uint32_t host, const struct lbm_effect *effect);
int programs_have_cut(const struct cluster *c, uint64_t client);
void happen_program(struct cluster *c, const struct happen *happen);
void programs_write_page(struct cluster *c, uint32_t host, struct page page);

/* refine.c: an application changes its guest. */
void refine(struct cluster *c, uint32_t application);
void refine_told(struct cluster *c, uint32_t application, const Lbm__Response *response);
/* Its connection is over within a change: as the library has it, all that it holds is lost. */
void refine_ends(struct cluster *c, uint32_t application);
/* Nonzero if it waits for nothing. */
int refine_may(const struct application *a);
void refine_ask_ids(struct cluster *c, uint32_t application, uint32_t count);

/* payloads.c: what payloads hold, and large ones between applications and daemons. */

/* Payloads that a request brings. */
struct parcel {
    LBM_VEC(uint32_t) len, blob;
    struct lbm_buf payload;
};
/* Append the payload of a vertex of that number (0: none). A large one is put first, piece by piece. */
void parcel_add(struct cluster *c, uint32_t application, struct parcel *parcel, uint32_t vertex,
                uint64_t number);
void parcel_free(struct parcel *parcel);
/* The number of a payload; UINT64_MAX if it is none of ours. */
uint64_t payload_read(uint32_t vertex, const uint8_t *bytes, size_t len);
/* I4: an application works with a payload that was kept, or a newer one. */
void payload_judge(struct cluster *c, uint32_t application, const struct held *held);
/* The vertex has a large payload: the application asks for it. */
void payload_ask(struct cluster *c, uint32_t application, struct held *held, const uint8_t *described,
                 size_t len);
/* Nonzero if the response brings a piece of one. */
int payload_told(struct cluster *c, uint32_t application, const Lbm__Response *response);

/* Nonzero if the application works on what it holds at this very trigger. */
int is_working(const struct cluster *c, const struct application *a, const struct held *held);
/* What an edge adds to the digest of a vertex. */
uint64_t edge_digest(uint32_t other, uint32_t weight);
/* I1, I2: an application begins to work on a vertex. */
void work_begins(struct cluster *c, uint32_t application, const struct held *held);
void work_ends(struct cluster *c, uint32_t application, uint32_t vertex);
/* The page of a host changes, or its applications run again: what they hold may be worked on again. */
void set_page(struct cluster *c, uint32_t host, struct page page);
void work_again(struct cluster *c, uint32_t host);
/* A host takes over what that incarnation of another had. */
void work_inherited(struct cluster *c, uint32_t successor, uint32_t host, uint64_t incarnation);

#endif
