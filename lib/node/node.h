/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The node: everything a daemon decides, without a clock, a socket or a disk.
 *
 * One step function takes an event and returns ordered effects. Time is in the event. A send names the
 * transaction it depends on; the shell delivers it only after that transaction is durable. The daemon
 * and the simulator are equal shells around it. */
#ifndef LBM_NODE_NODE_H
#define LBM_NODE_NODE_H

#include "balance/policy.h"
#include "balance/schedule.h"
#include "base/err.h"
#include "base/numbers.h"
#include "map/map.h"
#include "node/core/persist.h"
#include "node/view/ensemble.h"
#include "wire/wire.h"

/* How the vertices of a job start (HEI97 figs 6 and 7). */
#define LBM_START_LIST(X)                                                                                    \
    X(PLAN, 0, "plan", "the submitting host plans, vertices go where the plan says")                         \
    X(CENTRE, 1, "centre", "all vertices at the centre of Omega, all diffusion distributed")                 \
    X(RANDOM, 2, "random", "vertices at random places of Omega, all diffusion distributed")                  \
    X(COORDINATOR, 3, "coordinator", "vertices stay on the submitting host until loads are exchanged")       \
    X(COARSE, 4, "coarse", "of earlier versions: the same as diffuse")                                       \
    X(DIFFUSE, 5, "diffuse", "no plan: coordinates diffuse, vertices follow regions, without a coordinator")
/* Names of starts in earlier versions, and their names now. */
#define LBM_START_EARLIER                                                                                    \
    {                                                                                                        \
        {"home", "coordinator"}, {"outline", "coarse"},                                                      \
        {                                                                                                    \
            NULL, NULL                                                                                       \
        }                                                                                                    \
    }

enum lbm_start {
#define LBM_START_ENUM(id, number, name, text) LBM_START_##id = number,
    LBM_START_LIST(LBM_START_ENUM)
#undef LBM_START_ENUM
        LBM_START_COUNT = 0 LBM_START_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_START_LIST, LBM_START_COUNT);

/* The load policy of a job, on the wire: the daemon's default, none (exchange rounds alone), or
 * LBM_JOB_POLICY_FIRST + enum lbm_policy. */
enum lbm_job_policy_code {
    LBM_JOB_POLICY_DEFAULT = 0,
    LBM_JOB_POLICY_NONE = 1,
    LBM_JOB_POLICY_FIRST = 2,
};

/* Bits of JobGates.given. */
enum {
    LBM_GATE_COOLDOWN = 1,
    LBM_GATE_PAYBACK = 2,
    LBM_GATE_BYTES = 4,
    LBM_GATE_IN_FLIGHT = 8,
    LBM_GATE_ALL = 15
};

/* Returns the name of a load policy as commands spell it; static. */
const char *lbm_job_policy_name(uint32_t policy);
/* Returns the number of the policy of that name; LBM_JOB_POLICY_DEFAULT: there is none. */
uint32_t lbm_job_policy_by_name(const char *name);
/* Nonzero if hosts that know their neighbours alone can follow it. */
int lbm_job_policy_is_local(uint32_t policy);
/* Returns the name of a schedule of transfers; static. */
const char *lbm_schedule_name(enum lbm_schedule schedule);

/* Life of a job on one host (architecture.md, "Life of a job"), least advanced first. */
#define LBM_PHASE_LIST(X)                                                                                    \
    X(SUBMITTED, 0, "SUBMITTED", "validated and stored, being planned")                                      \
    X(PLACED, 1, "PLACED", "vertices are being handed to their regions")                                     \
    X(MAPPING, 2, "MAPPING", "coordinates diffuse, ownership follows regions")                               \
    X(BALANCING, 3, "BALANCING", "exchange rounds between neighbours")                                       \
    X(SETTLED, 4, "SETTLED", "all stable, within the bound, no round gained")

enum lbm_phase {
#define LBM_PHASE_ENUM(id, number, name, text) LBM_PHASE_##id = number,
    LBM_PHASE_LIST(LBM_PHASE_ENUM)
#undef LBM_PHASE_ENUM
        LBM_PHASE_COUNT = 0 LBM_PHASE_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_PHASE_LIST, LBM_PHASE_COUNT);

/* What a host can say of a job as a whole; the worse, the higher. */
#define LBM_CONDITION_LIST(X)                                                                                \
    X(WELL, 0, "WELL")         /* every vertex has an owner that is heard and may work on it */              \
    X(DEGRADED, 1, "DEGRADED") /* some wait for a host, or nothing is known of them */                       \
    X(LOST, 2, "LOST")         /* some are on no host any more */

enum lbm_condition {
#define LBM_CONDITION_ENUM(id, number, name) LBM_CONDITION_##id = number,
    LBM_CONDITION_LIST(LBM_CONDITION_ENUM)
#undef LBM_CONDITION_ENUM
        LBM_CONDITION_COUNT = 0 LBM_CONDITION_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_CONDITION_LIST, LBM_CONDITION_COUNT);

/* Which programs a host runs for jobs (lbctl run). */
enum lbm_programs {
    LBM_PROGRAMS_NONE, /* none */
    LBM_PROGRAMS_OWN,  /* of jobs of the user that the daemon runs as */
    LBM_PROGRAMS_USERS /* of everybody's jobs, as their owners */
};

/* The program that a host runs for a job: on the wire (Place, RunReply). */
#define LBM_PROGRAM_STATE_LIST(X)                                                                            \
    X(NONE, 0, "")           /* none is to run here */                                                       \
    X(RUNS, 1, "RUNS")       /* it is there */                                                               \
    X(WAITS, 2, "WAITS")     /* it has died, and is started again in a moment */                             \
    X(FAILED, 3, "FAILED")   /* it has died too often: it is not started again */                            \
    X(ENDED, 4, "ENDED")     /* by itself, or with the job */                                                \
    X(REFUSED, 5, "REFUSED") /* this host does not run it */

enum lbm_program_state {
#define LBM_PROGRAM_STATE_ENUM(id, number, name) LBM_PROGRAM_##id = number,
    LBM_PROGRAM_STATE_LIST(LBM_PROGRAM_STATE_ENUM)
#undef LBM_PROGRAM_STATE_ENUM
        LBM_PROGRAM_COUNT = 0 LBM_PROGRAM_STATE_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_PROGRAM_STATE_LIST, LBM_PROGRAM_COUNT);

/* Returns the name of a state of a program; static. */
const char *lbm_program_state_name(enum lbm_program_state state);
/* Returns the name of a condition; static. */
const char *lbm_condition_name(enum lbm_condition condition);
/* Returns the name of a start; static. */
const char *lbm_start_name(enum lbm_start start);
/* Returns the name of a phase; static. */
const char *lbm_phase_name(enum lbm_phase phase);

/* Who orders the control log (protocol.md section 2). */
#define LBM_LOG_ENGINE_LIST(X)                                                                               \
    X(LOCAL, "local")       /* one daemon, the leader or who was promoted */                                 \
    X(EXTERNAL, "external") /* the shell knows how: LOG_APPEND and LOG_FOLLOW effects */

enum lbm_log_engine {
#define LBM_LOG_ENGINE_ENUM(id, name) LBM_LOG_ENGINE_##id,
    LBM_LOG_ENGINE_LIST(LBM_LOG_ENGINE_ENUM)
#undef LBM_LOG_ENGINE_ENUM
        LBM_LOG_ENGINE_COUNT
};

struct lbm_node_link {
    uint32_t host;
    uint32_t cost;
};

/* A host that may be asked for the control log by one that knows nobody else. */
struct lbm_node_contact {
    uint32_t host;
    char address[LBM_ADDRESS_MAX + 1];
};

struct lbm_views;

/* A piece of a large payload is wanted from the disk, and for whom: the shell gives it back as it is. */
struct lbm_blob_read {
    struct lbm_blob_name name;
    uint32_t piece;
    uint32_t host;            /* LBM_NONE: a client */
    uint64_t client, request; /* of the client */
    int last;                 /* the last one that its request wants */
};

/* Who this node is. All strings are copied. */
struct lbm_node_config {
    uint32_t host; /* id, < LBM_HOSTS_MAX */
    const char *name;
    const char *address; /* host:port others reach it at */
    double capacity;     /* with CAPACITY events: when nobody else uses the machine */
    const struct lbm_node_link *links;
    size_t n_links;
    /* Nonzero: hosts without links get them as measured; a round trip of so long costs 1. By the leader. */
    uint32_t hop_us;
    uint32_t copies;            /* backups of a host, by who founds the cluster; 0: one */
    unsigned m;                 /* dimensions of Omega; the leader's counts */
    const double *site;         /* [m] in the unit box, or NULL: chosen near the hosts it is linked to */
    const char *failure_domain; /* hosts of one domain may fail together; NULL: one of its own */
    enum lbm_log_engine engine;
    enum lbm_etcd_ability etcd; /* engine local: UNKNOWN is NONE, and that the log is not moved from here */
    uint32_t log_compact_min;   /* entries of the control log between snapshots; 0: as is usual */
    uint32_t large_members;     /* with more a cluster is large: much in it can wait; 0: as is usual */
    uint32_t tree_hosts;        /* with more active ones sums of a mapping go along a tree; 0: as is usual */
    int leader;                /* engine local, nonzero: orders the control log; engine external: may found */
    const char *cluster_name;  /* leader only */
    const uint32_t *operators; /* engine local: hosts at which operators are listened to, and that may lead */
    size_t n_operators;        /* at most LBM_OPERATORS_MAX; 0: all members */
    uint64_t cluster;          /* that it founds, or belongs to; 0: drawn by the leader, taken as it comes */
    /* Members that are asked while this host knows no cluster. A leader that has some does not found one. */
    const struct lbm_node_contact *contacts;
    size_t n_contacts;
    uint32_t vertices_max;      /* refuse offers beyond that many vertices; 0: no limit */
    uint32_t policy;            /* of jobs that ask for none, enum lbm_job_policy_code; 0: none */
    uint32_t schedule;          /* the same, 1 + enum lbm_schedule; 0: pipelined */
    int64_t tombstone_us;       /* finished records stay so long; 0: as is usual */
    enum lbm_programs programs; /* that this host runs, */
    uint32_t uid;               /* of the daemon */
    int64_t
        program_grace_us; /* where no program works vertices stay so long; 0: as is usual; < 0: for good */
    uint32_t blob_piece;  /* bytes of a piece of a large payload, the same in all hosts; 0: as is usual */
    uint64_t seed;        /* of the node's own random stream; the shell draws it */
    double evict_share;   /* hosts are evicted while no larger part of the members of ten minutes ago is lost;
                             0: never */
    const char *version;  /* of the program, for status */
    uint32_t protocol_most;  /* that it speaks, from LBM_PROTOCOL_LEAST on; 0: LBM_PROTOCOL_MOST */
    struct lbm_views *views; /* for all nodes of this process, borrowed; NULL: the node's view is its own */
};

/* What a daemon announces when something stands still, or is about to: in its log, and in lbctl status. */
#define LBM_ALERT_LIST(X)                                                                                    \
    X(NO_MEMBER, 0, "no-member", "this host is no member of the cluster")                                    \
    X(NO_LEADER, 1, "no-leader", "nobody orders the control log")                                            \
    X(LOG_WAITS, 2, "log-waits", "the control log takes no entry")                                           \
    X(UNREACHABLE, 3, "host-unreachable", "a member is not heard")                                           \
    X(EVICTION, 4, "eviction-held-back", "a host that is lost is not evicted")                               \
    X(NO_LEASE, 5, "no-lease", "applications of this host may not work")                                     \
    X(BACKUP, 6, "backup-behind", "the backup has no full copy")                                             \
    X(ONE_WAY, 7, "one-way-link", "a member is heard and does not hear this host")                           \
    X(DISK, 8, "disk-full", "the disk of the database is nearly full")                                       \
    X(JOB_DEGRADED, 9, "job-degraded", "vertices of a job are worked on by nobody")                          \
    X(JOB_LOST, 10, "job-lost", "vertices of a job are on no host")

enum lbm_alert {
#define LBM_ALERT_ENUM(id, number, name, text) LBM_ALERT_##id = number,
    LBM_ALERT_LIST(LBM_ALERT_ENUM)
#undef LBM_ALERT_ENUM
        LBM_ALERT_COUNT = 0 LBM_ALERT_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_ALERT_LIST, LBM_ALERT_COUNT);
_Static_assert((int)LBM_ALERT_COUNT <= LBM_ALERTS_MAX, "a status has room for all");

#define LBM_EVENT_LIST(X)                                                                                    \
    X(START, "start")     /* once, first */                                                                  \
    X(TIMER, "timer")     /* the deadline has come */                                                        \
    X(PEER_UP, "peer up") /* a connection to a dialled host stands */                                        \
    X(PEER_DOWN, "peer down")                                                                                \
    X(PEER_BEHIND, "peer behind") /* much of what was sent has not left this host, or it has now */          \
    X(MESSAGE, "message")                                                                                    \
    X(PERSISTED, "persisted") /* all transactions up to this id are durable */                               \
    X(PLANNED, "planned")     /* a computation asked for by LBM_EFFECT_PLAN has ended */                     \
    X(REQUEST, "request")     /* from a client */                                                            \
    X(CLIENT_GONE, "client gone")                                                                            \
    X(CLIENT_READ, "client read")   /* it has read all that was sent to it, which was much */                \
    X(CAPACITY, "capacity")         /* measured: what others leave of the processors */                      \
    X(DISK, "disk")                 /* how full the disk of the database is */                               \
    X(LOG_RESULT, "log result")     /* engine external: what became of a LOG_APPEND */                       \
    X(LOG_ENTRIES, "log entries")   /* engine external: entries in order, from where LOG_FOLLOW said */      \
    X(LOG_SNAPSHOT, "log snapshot") /* engine external: the entries wanted are compacted */                  \
    X(LOG_OLDER, "log older")       /* engine external: it lacks what it had */                              \
    X(ENSEMBLE, "ensemble")         /* how the ensemble of etcd that daemons run is */                       \
    X(PROGRAM, "program")           /* a program that was started has written something, or has ended */     \
    X(BLOB_READ, "blob read")       /* a piece that was wanted from the disk */

enum lbm_event_kind {
#define LBM_EVENT_ENUM(id, text) LBM_EVENT_##id,
    LBM_EVENT_LIST(LBM_EVENT_ENUM)
#undef LBM_EVENT_ENUM
        LBM_EVENT_COUNT
};

/* What became of an append to an external log. */
enum lbm_log_result {
    LBM_LOG_TAKEN,
    LBM_LOG_CONFLICT, /* another command has that index */
    LBM_LOG_UNKNOWN,  /* no answer: it may have happened */
};

/* What a client may do, by who it is on this machine: each includes what stands before it. The shell says
 * which; which request needs which is in client/rights.c. */
enum lbm_access {
    LBM_ACCESS_NONE,   /* nothing: it is turned away */
    LBM_ACCESS_READ,   /* look at hosts, jobs, mappings and the log; never at payloads */
    LBM_ACCESS_SUBMIT, /* submit jobs, which are its own from then on */
    LBM_ACCESS_ADMIN,  /* change hosts and everybody's jobs */
};

struct lbm_bytes {
    uint8_t *at;
    size_t len;
};

/* What the shell sees of the ensemble. */
struct lbm_ensemble_report {
    uint64_t id;
    uint32_t leader;  /* host whose etcd leads; LBM_NONE: none does, or it is not known */
    uint64_t changed; /* of the last LBM_EFFECT_ENSEMBLE: what follows is about that one */
    int is_listed;    /* etcd's list of members is that one */
    int is_settled;   /* and all have begun */
    uint32_t n;       /* hosts whose etcd answers: */
    uint32_t host[LBM_ENSEMBLE_MAX];
};

struct lbm_event {
    enum lbm_event_kind kind;
    int64_t now_us; /* CLOCK_BOOTTIME of the shell; never goes back */
    union {
        struct lbm_recovered *recovered; /* START; the node takes what it keeps, the shell frees the rest */
        uint32_t peer;                   /* PEER_UP, PEER_DOWN: host id */
        struct {
            uint32_t host;
            int is_behind;
        } behind; /* PEER_BEHIND; a connection that begins is not */
        struct {
            const Lbm__Peer *message; /* borrowed, validated */
            size_t bytes;
        } received;
        uint64_t persisted; /* id */
        struct {
            uint64_t job;
            enum lbm_err err;
            struct lbm_plan *plan; /* owned by the node from here; NULL on error */
            uint8_t *anchored;     /* [n] or NULL: nothing anchored; owned by the node from here */
        } planned;
        struct {
            uint64_t client; /* one connection */
            uint32_t uid;
            enum lbm_access access;
            int is_remote;               /* it asks from another machine */
            const Lbm__Request *request; /* borrowed, validated */
        } request;
        uint64_t client; /* CLIENT_GONE, CLIENT_READ */
        double left;     /* CAPACITY: in (0, 1], 1: all of them */
        double used;     /* DISK: in [0, 1], 1: it is full */
        struct {
            uint64_t index;
            enum lbm_log_result result;
        } log_result;
        struct {
            uint64_t from;
            const struct lbm_bytes *command; /* [n] packed commands, borrowed */
            size_t n;
            int caught_up; /* nonzero: there is nothing newer */
        } log_entries;
        struct {
            uint64_t index;
            struct lbm_bytes view; /* packed, borrowed */
        } log_snapshot;
        uint64_t log_older; /* last entry that was there; 0: it is there again */
        struct lbm_ensemble_report ensemble;
        struct {
            uint64_t id;          /* of the effect that started it */
            int has_ended;        /* 0: it has written `bytes` */
            uint32_t status;      /* exit status, or 128 and the signal, up to 255 */
            const char *why;      /* why it could not be started; "": it was */
            const uint8_t *bytes; /* [len] borrowed */
            size_t len;
        } program;
        struct {
            struct lbm_blob_read read;
            enum lbm_err err;     /* LBM_E_NOTFOUND: there is no such piece; LBM_E_CORRUPT: it is damaged */
            const uint8_t *bytes; /* [len] borrowed */
            size_t len;
        } blob_read;
    } as;
};

#define LBM_EFFECT_LIST(X)                                                                                   \
    X(PERSIST, "persist")                                                                                    \
    X(SEND, "send")                                                                                          \
    X(REPLY, "reply")                                                                                        \
    X(DIAL, "dial")             /* keep a connection to this host, from now on, at this address */           \
    X(PLAN, "plan")             /* compute, in a thread of its own; PLANNED brings the result */             \
    X(NOTE, "note")             /* something an operator may want to read */                                 \
    X(LEASE, "lease")           /* applications may work until then: into the shared page */                 \
    X(LOG_APPEND, "log append") /* engine external: put the command at that index if it is free */           \
    X(LOG_FOLLOW, "log follow") /* engine external: bring all entries from that index on, now and later */   \
    X(LOG_COMPACT,                                                                                           \
      "log compact")          /* engine external: entries up to that index may go, the view replaces them */ \
    X(LOG_BEGIN, "log begin") /* engine external: this is the entry of that index, if there is no log yet */ \
    X(ENSEMBLE, "ensemble")   /* who runs the ensemble of etcd, from now on */                               \
    X(PROGRAM, "program")     /* start a program, or end it */                                               \
    X(BLOB_READ, "blob read") /* read a piece, after all transactions before; BLOB_READ brings it */

enum lbm_effect_kind {
#define LBM_EFFECT_ENUM(id, text) LBM_EFFECT_##id,
    LBM_EFFECT_LIST(LBM_EFFECT_ENUM)
#undef LBM_EFFECT_ENUM
        LBM_EFFECT_COUNT
};

enum lbm_note_level { /* on the wire (control.proto) */
                      LBM_NOTE_ERROR = 0,
                      LBM_NOTE_WARNING = 1,
                      LBM_NOTE_INFO = 2,
                      LBM_NOTE_DEBUG = 3,
};

/* What a plan computes: for start plan the whole pipeline; for centre and random pins and coordinates only
 * (plan->part then is the region of each vertex). Pure; run it with lbm_node_plan. */
struct lbm_plan_task {
    uint64_t job;
    enum lbm_start start;
    uint64_t seed;
    unsigned starts; /* from nothing: plans of which the best is taken, at least 1 */
    double imbalance;
    uint32_t coordinator;          /* number of the planning host */
    const struct lbm_graph *graph; /* borrowed until PLANNED is delivered */
    const struct lbm_hosts *hosts; /* borrowed until PLANNED is delivered */
};

/* A program to be started. */
struct lbm_program_order {
    uint64_t id;   /* of this start: never the same again in the life of a node */
    uint32_t uid;  /* whom it runs as */
    uint32_t host; /* this host, and what it works on, for its environment: */
    char job[LBM_NAME_MAX + 1];
    uint32_t arguments; /* strings of `words` after the first one that are the program and its arguments */
    uint32_t len;
    char words[LBM_RUN_BYTES_MAX]; /* [len] as in JobRun: folder, arguments, environment */
};

struct lbm_effect {
    enum lbm_effect_kind kind;
    uint64_t after; /* SEND, REPLY: only once this transaction is durable; 0: at once */
    union {
        struct lbm_persist *persist; /* owned by the shell: lbm_persist_free */
        struct {
            uint32_t host;
            uint8_t *frame; /* owned by the shell: free */
            size_t len;
            int lossy; /* nonzero: may be dropped when the queue is long */
        } send;
        struct {
            uint64_t client;
            uint8_t *frame; /* owned by the shell: free */
            size_t len;
        } reply;
        struct {
            uint32_t host;
            char address[LBM_ADDRESS_MAX + 1];
        } dial;
        struct lbm_blob_read blob_read;
        struct lbm_plan_task *plan; /* owned by the shell: free */
        struct {
            enum lbm_note_level level;
            char text[256];
        } note;
        struct {
            int64_t deadline_us; /* INT64_MAX: no limit; 0: nobody may work */
            uint64_t term;       /* grows whenever the lease lapsed: what was acquired before is lost */
            uint32_t used, gone; /* applications attached that have had vertices, and those that have gone */
        } lease;
        struct {
            struct lbm_ensemble is;
            int tends; /* nonzero: this host brings etcd's list of members in line */
        } ensemble;
        struct {
            uint64_t id;                       /* end this one, */
            struct lbm_program_order *program; /* or, if not NULL, start this; owned by the shell: free */
        } program;
        struct {
            uint64_t index;
            struct lbm_bytes
                bytes; /* LOG_APPEND, LOG_BEGIN: command; LOG_COMPACT: view; owned by the shell: free */
        } log;
    } as;
};

/* Effects of one step, in order. The shell empties it (lbm_effects_clear frees what is left). */
struct lbm_effects {
    LBM_VEC(struct lbm_effect) list;
};

/* Free the effects of a step. */
void lbm_effects_clear(struct lbm_effects *effects);

struct lbm_node;

/* Errors: LBM_E_NOMEM, LBM_E_RANGE (config). *out owned by the caller. */
enum lbm_err lbm_node_new(const struct lbm_node_config *config, struct lbm_node **out,
                          struct lbm_diag *diag) LBM_MUST_CHECK;
/* Free a node; NULL is allowed. */
void lbm_node_free(struct lbm_node *node);

/* Other members that take part, for a host that starts with an empty disk.
 * Out: contacts [at most max], those whose ids follow this host's first. Value: how many. */
size_t lbm_node_contacts(const struct lbm_node *node, struct lbm_node_contact *contacts, size_t max);

/* Returns the address of a member, borrowed until the next step; NULL: it is none. */
const char *lbm_node_address(const struct lbm_node *node, uint32_t host);

/* Nonzero if the certificate of that host is believed no more. */
int lbm_node_revoked(const struct lbm_node *node, uint32_t host);
/* Nonzero if certificates of that user that were made then, in seconds since 1970, are believed no more. */
int lbm_node_revoked_user(const struct lbm_node *node, const char *name, uint64_t made_s);

/* Returns the name of the cluster, borrowed; empty while the node is in none. */
const char *lbm_node_cluster_name(const struct lbm_node *node);

/* Nonzero if this host takes part as the log has it: others can count on it. */
int lbm_node_is_member(const struct lbm_node *node);

/* Returns the index of the last entry of the control log that this host has applied. */
uint64_t lbm_node_view(const struct lbm_node *node);

/* What a host can say of a job as a whole, from what it has heard; what it does not know it says, too. */
struct lbm_job_summary {
    enum lbm_condition condition;
    enum lbm_phase
        phase; /* of the host that is least far, of those that are heard; SETTLED only if settled */
    enum lbm_phase heard; /* the same, also SETTLED if not all have */
    int settled;          /* every vertex has an owner that is heard and may work, and nobody is missing */
    uint32_t present;     /* vertices that the job has, as far as is known */
    uint32_t known;       /* of these, those on hosts that are heard */
    uint32_t idle;        /* of these, those that nobody may work on, or nothing is known of */
    uint32_t lost;        /* of these, those that no host has; LBM_NONE: nobody knows how many; 0: none */
    int is_short;         /* the hosts that are heard have fewer vertices than there are */
    int64_t since_us;     /* the condition has been that, as far as this host knows */
    double imbalance;     /* >= 0; < 0: not known, since not all vertices are */
    char reason[LBM_DIAG_TEXT_MAX]; /* why it is not well, and what to do; empty if it is */
};

/* Fill *out. It is as of the node's last step. Value: 0 if there is no such job, and *out is void. */
int lbm_node_summary(const struct lbm_node *node, uint64_t job, struct lbm_job_summary *out);
/* Returns the word for it: the phase if the job is well, else the condition; static. */
const char *lbm_job_summary_state(const struct lbm_job_summary *summary);

/* Nonzero if the message is for this host: it names it, and its cluster. */
int lbm_node_accepts(const struct lbm_node *node, const Lbm__Peer *message);

/* Take one event; append effects in the order they must be carried out.
 * Errors: LBM_E_NOMEM, LBM_E_CORRUPT (recovered data contradict one another): the shell must stop; what
 * was stored stays consistent. */
enum lbm_err lbm_node_step(struct lbm_node *node, const struct lbm_event *event,
                           struct lbm_effects *effects) LBM_MUST_CHECK;

/* When a TIMER event is wanted next, microseconds on the shell's clock; INT64_MAX: never. */
int64_t lbm_node_deadline(const struct lbm_node *node);

/* Carry out a plan task. Pure; may run in any thread. The plan is the same with and without parallel.
 * In:  parallel carries out tasks next to each other; NULL: one after the other.
 * Out: *plan and *anchored (may stay NULL) owned by the caller. */
enum lbm_err lbm_node_plan(const struct lbm_plan_task *task, lbm_parallel *parallel, struct lbm_plan **plan,
                           uint8_t **anchored) LBM_MUST_CHECK;

#endif
