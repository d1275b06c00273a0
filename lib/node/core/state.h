/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All that a node remembers. */
#ifndef LBM_NODE_CORE_STATE_H
#define LBM_NODE_CORE_STATE_H

#include "base/rng.h"
#include "node/job/state.h"
#include "node/membership/network.h"
#include "node/migration/history.h"
#include "node/view/view.h"

/* Somebody else who suspects a host. */
struct suspector {
    uint32_t host;
    int64_t since_us, heard_us;
};

/* A host that the log evicted, and when this host learned of it. */
struct eviction {
    uint32_t host;
    int64_t seen_us;
};

/* A host that the log has in maintenance, since which entry, and until when by this host's clock. */
struct maintenance {
    uint32_t host;
    uint64_t view;
    int64_t until_us;
};

/* A peer's place in time. */
struct peer {
    uint32_t host;
    int64_t heard_us; /* last message, 0: never */
    int64_t told_us;  /* last ping, 0: never */
    int64_t since_us; /* when this host began to expect something of this incarnation */
    uint64_t incarnation;
    int connected; /* our outgoing connection stands */
    int is_behind; /* much of what was sent has not left this host: nothing large is sent again meanwhile */
    int64_t forced_us; /* it was told last that the log was taken from its ensemble by force; 0: never */
    uint64_t diverged; /* incarnation that says that its copy is not the log; 0: it is. It does not count as
                          heard */
    int is_foreign;    /* its program does not speak what this cluster does */
    int dialled;
    uint64_t address;  /* last dialled: its hash, since there may be thousands of peers */
    uint64_t outdated; /* that of the address in the log, if it has said another one since; else 0 */
    uint64_t vertices; /* as its load reports say, all jobs */
    uint64_t lag, view;
    int backup_lost;                      /* it says that its backup is unreachable */
    int64_t evict_us;                     /* its eviction was proposed last; 0: never */
    enum lbm_etcd_ability etcd;           /* as it says */
    int is_idle;                          /* it says that its applications may not work */
    int inherits;                         /* it says that it has yet to take over from a host that is gone */
    int64_t suspect_us;                   /* since when this host suspects it; 0: it does not */
    LBM_VEC(struct suspector) suspectors; /* others that do */
    int is_doubted;                       /* in node->doubted: somebody else suspects it, or did lately */
};

/* A host that is no member and speaks to this one. */
struct applicant {
    uint32_t host;
    int64_t heard_us;                  /* 0: an unused one */
    char address[LBM_ADDRESS_MAX + 1]; /* where it says that it is */
};

/* A change of a record that the backup has not acknowledged; vertex LBM_NONE: the whole job is void. */
struct change {
    uint64_t seq;
    uint64_t job;
    uint32_t vertex;
    uint32_t bytes; /* that it took when it was last sent */
};

/* This host's records on their way to the backup in one slot. */
struct replication_log {
    unsigned slot;
    uint32_t backup;     /* LBM_NONE: nobody; then every record counts as acked */
    uint64_t repl_epoch; /* view at which it became the backup */
    uint64_t acked;      /* the backup holds all up to here */
    uint64_t sent;
    int known;                      /* the backup has said where it stands, since the connection stands */
    LBM_VEC(struct change) changes; /* after `acked`, by seq; changes.at[head ..] */
    size_t head;
    size_t next;        /* index of the first change not sent */
    uint64_t merged;    /* of the last record that was inherited */
    uint64_t uncovered; /* records from before the epoch that the backup has not got yet */
    uint64_t in_flight; /* bytes of those that are sent and not acknowledged */
    int64_t retry_us;   /* when to send again what is not acknowledged; INT64_MAX: nothing is out */
    int64_t insync_us;  /* last proposed */
    int compared;       /* with what a backup holds, in this life; until then nothing is sent to it */
    int64_t until_us;   /* the lease that it grants; 0: none */
    int64_t ask_us;     /* when to ask for it next */
};

/* All of them. */
struct replication {
    uint64_t seq;       /* of the last change */
    uint64_t acked;     /* every backup holds all up to here: that counts */
    uint64_t start_seq; /* of the last change on the disk when this life began */
    int compared;       /* this disk with what a backup holds, in this life */
    int rolled_back;    /* a backup holds changes that this disk has lost */
    struct replication_log log[LBM_COPIES_MAX];
};

struct lease {
    int64_t until_us;  /* the least that the backups grant; 0: none */
    int64_t fence_us;  /* somebody may work until then whom this life has not given it; 0: nobody may */
    uint64_t term;     /* of the page */
    uint32_t old_used; /* applications that had vertices in the life before; UINT32_MAX: fenced by
                          lbm_application_fence */
    uint64_t old_term; /* of their page; once `term` is another, what they hold is lost */
    int64_t old_us;    /* all of them are back: the page of that life holds until then; 0: it is over */
    int64_t told_us;   /* what the shell was last told: deadline, */
    uint64_t told_term;
    uint32_t told_used; /* applications that have had vertices, */
    uint32_t told_gone; /* and the number of those that had and have gone */
    uint32_t gone;      /* of all lives */
};

/* What this host keeps of another. */
struct replica_job {
    uint64_t job;
    struct lbm_idmap index;
    LBM_VEC(uint8_t *) rows; /* packed (record_packed.c) */
};

struct stored_position {
    uint64_t persist;
    uint64_t seq;
};

struct replica {
    uint32_t owner;
    uint64_t incarnation;
    uint64_t repl_epoch;
    uint64_t seq;
    int64_t granted_us;                    /* until when a lease granted here may last */
    LBM_VEC(struct stored_position) marks; /* of transactions that may not be durable yet, in order */
    uint64_t stored;                       /* up to here all is durable */
    LBM_VEC(struct replica_job) jobs;
};

/* An answer or offer that is due since a record is acked; sent in batches at the end of the step. */
enum due_kind { DUE_OFFER, DUE_ACK, DUE_REFUSE, DUE_FIN };
struct due {
    enum due_kind kind;
    uint64_t job;
    uint32_t to;
    uint32_t vertex;
    uint64_t epoch;
    int retargeted;
};

struct offer_check; /* migration/offer_check.c */

/* An application on this host. */
struct application {
    uint64_t client;
    uint64_t request;
    uint64_t job;
    int scan;         /* vertices may be waiting to be given to it */
    uint64_t given;   /* bytes since it has last read all that it was given, about */
    int64_t again_us; /* it gets no more before that, or before it has read all */
    int has_had;      /* it was given vertices, or came back with some */
    int is_back;      /* with vertices from the life before */
    int wants_edges;  /* it wants to hear of edges of its vertices, */
    int wants_moves;  /* and where their other ends are now */
    uint64_t moves;   /* version of the shard when that was looked at, */
    int64_t moves_us; /* and when it is looked at again */
    int reads_blobs;  /* it understands that a payload is a blob */
    int was_told;     /* that it is not given vertices, since it does not */
    int publishes;    /* it has published, and hears of others that serve the job */
    uint64_t posted;  /* bytes from others that it was sent, and may not have read */
};

/* Whoever serves a job at a host, or has said that it is done: as that host says. */
struct place {
    uint64_t job;
    uint32_t host;
    int present, finished;
    int64_t heard_us;               /* of another host's */
    enum lbm_program_state program; /* that the host runs, */
    uint64_t run;                   /* index of the entry that says so, */
    uint32_t status, starts;        /* of its last end; so often it was started */
    char why[LBM_PROGRAM_WHY_MAX];  /* why it does not run */
    int withdrawn;                  /* no program works there, and vertices go elsewhere */
    uint64_t output;                /* bytes of its output that have come, or are lost */
    uint32_t note_len;
    uint8_t note[LBM_NOTE_BYTES_MAX];
};

/* The program that this host runs for a job. */
struct program {
    uint64_t job, run; /* of the entry that says so */
    uint32_t watcher;  /* host that gets its output */
    int is_ending;     /* it is told to end, and has not yet */
    uint64_t id;       /* of this start; 0: it does not run */
    int64_t since_us;  /* of that */
    int64_t again_us;  /* WAITS: when it is started again */
    uint32_t quick;    /* times in a row that it died soon */
    uint64_t output;   /* bytes that it has written */
};

/* A client that is told of the programs of a job. */
struct run_watch {
    uint64_t client, request, job, run;
    uint64_t unread; /* bytes that it was sent, and may not have read */
    int64_t over_us; /* no program runs, or is to: since then; 0: one does */
};

/* What a program has written before a client watches its run. */
struct early_output {
    uint64_t job, run, at;
    uint32_t host;
    int64_t came_us;
    uint8_t *bytes;
    size_t len;
};

/* What others leave of the processors. */
struct measured {
    double left;      /* smoothed, in (0, 1]; 0: not measured */
    int64_t since_us; /* since when the capacity in the log is another; 0: it is not */
    int64_t next_us;  /* no change is proposed before */
};

/* An append that is not in the log yet. */
struct append {
    uint64_t token;
    uint8_t *command;
    size_t len;
    int founds;       /* nonzero: it founds the cluster, and is void if somebody else did */
    int64_t until_us; /* it is void from then on */
    uint64_t at; /* index that it was last proposed for: while that is not applied it may be there; 0: none */
    int is_given_up;  /* engine external: nobody wants it any more, but an attempt may be in progress */
    uint32_t suspect; /* whom it evicts because it is unreachable, and is void once that host is heard; or
                         LBM_NONE */
};

/* A log entry that is being stored: it is applied once `persist` is durable. */
struct log_wait {
    uint64_t index;
    uint64_t persist;
};

/* An entry of the control log, or a view after it, as one host has it, which is not believed alone. */
struct log_word {
    uint64_t index;
    uint32_t host;
    int is_view;
    uint8_t digest[LBM_SHA256_BYTES]; /* of its bytes */
};

/* An operator gives this host the order of the control log. */
struct promotion {
    enum promotion_round {
        PROMOTION_NONE,
        PROMOTION_CONFIRM,  /* a leader that was away asks whether it still is the leader, and has all entries
                             */
        PROMOTION_CATCH_UP, /* it takes entries that its disk has lost from another host */
        PROMOTION_ASK,
        PROMOTION_PROMISE,
        PROMOTION_FETCH
    } round;
    uint64_t client, request;
    int waits; /* the client has no answer yet */
    int force;
    uint64_t term; /* the one to lead */
    uint64_t last; /* of the longest copy */
    uint32_t longest;
    uint32_t n_longer; /* hosts that say in this round that they have more than this one */
    int is_said;       /* the longest copy has answered in this round that it is that long, */
    int is_heard;      /* and has sent something of it */
    int64_t deadline_us;
    int doubts_disk;           /* confirming: the disk may be an older copy, or empty: so all must answer */
    int64_t since_us;          /* confirming: since then */
    int64_t told_us;           /* confirming: that it waits was last told; 0: not yet */
    uint32_t n_answers;        /* confirming: so far */
    uint32_t n_behind;         /* of these, from hosts that may lack entries themselves */
    LBM_VEC(uint32_t) awaited; /* hosts */
};

/* The ensemble of etcd, as this host knows it (log/ensemble.c). */
struct ensemble {
    enum lbm_etcd_ability ability; /* this host's */
    struct lbm_ensemble told;      /* to the shell; id 0: none */
    int tends;                     /* the same */
    struct lbm_ensemble_report report;
    int64_t since_us;          /* when this host learned of the present members */
    int64_t look_us;           /* next look */
    int64_t ready_us;          /* since when enough hosts could run one; 0: they could not */
    int64_t retry_us;          /* none is formed before */
    uint32_t failures;         /* that were formed in a row, and came to nothing */
    int is_closed;             /* engine local: the last entry is stored, and nothing is ordered behind it */
    LBM_VEC(uint32_t) avoided; /* hosts whose etcd did not answer */
    int64_t behind_us;         /* engine external: since when others know newer entries; 0: they do not */
};

/* A guest on its way in from a client. */
struct upload {
    uint64_t client;
    char name[LBM_NAME_MAX + 1];
    uint32_t start;
    uint64_t seed;
    double imbalance;
    struct lbm_job_policy policy;
    uint32_t vertices; /* of the whole guest */
    uint64_t edges;
    uint32_t parts, part, first, rows; /* parts > 0: other hosts read the others */
    uint64_t token, job; /* with parts: of the question to the coordinator, and its answer, or 0 */
    uint32_t coordinator;
    uint64_t request;
    LBM_VEC(uint32_t) spread; /* hosts of all parts, if this host spreads the guest; else none */
    uint32_t read, awaited;   /* rows so far; pieces passed on that no host has taken yet */
    uint32_t reader;          /* 1 + the host that passes this part on; 0: a client sends it */
    uint64_t passed;          /* the reader's token */
    int64_t heard_us;         /* of the reader */
    int is_complete;          /* all rows of the reader are here */
    LBM_VEC(uint64_t) offset;
    LBM_VEC(uint32_t) target;
    LBM_VEC(uint32_t) weight;
    LBM_VEC(uint32_t) work;
    LBM_VEC(uint32_t) pin;
    LBM_VEC(uint32_t) payload_len, blob; /* one a row, if the client announced payloads */
    uint64_t blob_job; /* the job will have that id, since large payloads have come for it; 0: none have */
    struct lbm_buf payload;
    int has_payloads;
};

/* Whoever asks. */
struct client {
    uint64_t id;
    uint64_t request;
    uint32_t uid;
    enum lbm_access access;
    int is_remote;    /* it asks from another machine */
    int64_t until_us; /* what the control log has not taken by then is void */
    uint64_t key;     /* identity of the request */
};

/* A client that waits for the control log's word on its change. */
struct operator_wait {
    uint64_t client;
    uint64_t request;
    int tell;         /* admin.c says what */
    uint64_t token;   /* of the proposal that is waited for; 0: it is somebody else's */
    int64_t until_us; /* it is answered by then, whatever has become of it */
    uint32_t host;    /* token 0: that is to leave */
    uint8_t *command;
    size_t len;
};

/* A note that is kept for `lbctl events`. */
struct event_line {
    uint64_t number;
    int64_t at_us;
    enum lbm_note_level level;
    char *text; /* owned, at most EVENT_BYTES_MAX */
};

/* Why a vertex goes from this host to another, and what it brings. */
struct why {
    enum lbm_move_reason reason;
    int gain_is_known;
    double gain;       /* decrease of J, bandwidth times links */
    double share[2];   /* loads of both hosts before, in parts of what is due to them; < 0: not known */
    uint32_t together; /* vertices of the same decision; 0: not known */
};

/* A move, kept for `lbctl explain`. */
struct move {
    uint64_t job;
    uint64_t epoch; /* at which the taker owns it, or would */
    uint32_t vertex, from, to, work;
    struct why why;
    enum lbm_move_state state;
    uint64_t bytes;                 /* of its rows in offers */
    int64_t at_us, left_us, end_us; /* decided (-1: before this daemon's start), OUT, over (0: not yet, -1: a
                                       taker does not know how long that took) */
};

/* An application waits until its payloads are with the backup. */
struct checkpoint {
    uint64_t client;
    uint64_t request;
    uint64_t seq;
};

/* An application waits for ids of vertices. */
struct id_wait {
    uint64_t client, request, job;
    uint32_t count;
    int64_t ask_us; /* asked for, again from then on */
};

/* The owner of the other end of an edge hears, once the backup has it, that it is so here too. */
struct edge_answer {
    uint64_t job, stamp;
    uint32_t to; /* host */
    uint32_t vertex, toward, weight, gone;
};

/* A client's question that other hosts answer. */
struct collection {
    uint64_t query;
    uint64_t client;
    uint64_t request;
    uint64_t job;
    int64_t heard_us, deadline_us; /* the last part; when to look who is awaited */
    LBM_VEC(uint32_t) awaited;     /* hosts */
    uint32_t from, next;    /* hosts from `from` on are asked, and none from `next` on; 0: all of them */
    int locate;             /* nonzero: answer places of these vertices */
    int explain;            /* nonzero: and the moves of the only one */
    uint64_t cut;           /* of that cut; 0: as it is */
    int holds;              /* nonzero: begin it */
    int is_begun;           /* all are being asked: nothing is answered yet */
    LBM_VEC(uint32_t) torn; /* hosts that do not keep it */
    LBM_VEC(Lbm__Move) moves;
    LBM_VEC(uint32_t) vertex;
    struct lbm_idmap first; /* vertex: where it is first in the list above */
    LBM_VEC(uint32_t) place;
    LBM_VEC(uint64_t) epoch;
};

/* A cut of a job that a client of this host has begun (client/cut.c). */
struct cut {
    uint64_t client, job, id;
};

/* Who is to hear that a cut is kept here, once nothing is on its way. */
struct hold {
    uint32_t to;
    uint64_t query, job, cut;
};

/* A request of an application that comes after the cut of its job. */
struct deferred_request {
    uint64_t client, job;
    uint32_t uid;
    enum lbm_access access;
    int is_remote;
    size_t len;
    uint8_t *request; /* [len] packed */
};

/* A trouble that is announced (client/alerts.c). */
struct alert {
    int64_t since_us; /* 0: all is well */
    int64_t told_us;  /* 0: it was not told */
    char text[LBM_DIAG_TEXT_MAX];
};

/* Lost vertices of a job that this host is to begin again (client/recover.c). */
struct recovery {
    uint64_t client, request, job;
    int64_t until_us;
    uint64_t key;
    uint64_t loss; /* as it was when they were announced */
    uint32_t vertices;
    int is_asked;  /* the log is asked for the right to */
    uint64_t view; /* of the entry that gives it; 0: not yet */
    uint64_t seq;  /* of the last record in the replication log */
    LBM_VEC(struct lbm_row) rows;
};

/* A large payload that is here, or comes (records/blobs.c). */
struct blob {
    struct lbm_blob_name name;
    uint32_t pieces;         /* that are here, the first ones */
    struct sha256_ctx *hash; /* of these, owned; NULL: the blob is complete */
    uint32_t from;           /* host that it comes from; LBM_NONE: none, or a client brings it */
    uint32_t asked;          /* pieces before this one were asked for there */
    int64_t moved_us;        /* when the last was asked for, or came */
    int64_t used_us;         /* when it was last spoken of */
    int was_named;           /* a record has had it since */
};

struct lbm_events;
struct log_engine;

struct lbm_node {
    const struct lbm_events *raise; /* who handles what a room tells the rooms above it */
    /* configuration */
    uint32_t host;
    char *name, *address, *cluster_name, *version;
    double capacity;
    struct measured measured;
    struct lbm_link *links;
    size_t n_links;
    uint32_t hop_us, copies; /* of a cluster that this host founds */
    unsigned m;
    double site[LBM_DIMENSIONS_MAX];
    int has_site;
    int leader;
    uint32_t leader_host; /* engine local: who orders the log in the present term, or LBM_NONE */
    uint32_t join_host;   /* engine local: the first contact, or this host */
    struct lbm_node_contact *contacts;
    size_t n_contacts;
    uint64_t cluster;          /* that it must be in; 0: any */
    uint32_t vertices_max;     /* refuse offers beyond; 0: no limit */
    uint32_t policy, schedule; /* of jobs that ask for none */
    int64_t tombstone_us;

    struct lbm_rng rng;
    int64_t now_us;
    int64_t started_us;
    struct lbm_effects *out; /* of the step in progress */
    enum lbm_err failed;     /* first error of the step in progress */

    char failure_domain[LBM_NAME_MAX + 1];
    enum lbm_log_engine engine;
    const struct log_engine *log_engine; /* what differs between the engines; since the start */
    enum lbm_log_engine configured;      /* the engine as configured; the log may have moved since */
    struct ensemble ensemble;
    int log_is_older;         /* engine external: it lacks entries that this host has read there */
    int leader_is_lost;       /* engine local: that was told */
    int is_following;         /* engine external: the shell brings entries */
    int may_found;            /* engine external: this host founds the cluster if nobody has */
    uint32_t log_compact_min; /* entries between snapshots; 0: as is usual */
    double evict_share;

    struct replication replication;
    struct lease lease;
    LBM_VEC(struct replica *) replicas;
    LBM_VEC(struct lbm_recovered_takeover) takeovers; /* merged already */
    LBM_VEC(struct due) due;
    LBM_VEC(struct offer_check *) offer_checks; /* offers that wait for what others say of them */
    uint64_t offer_check_id;                    /* of the last one */
    size_t offer_check_bytes;                   /* of all */
    int64_t claim_us;     /* when it was last told that two hosts say a vertex is theirs; 0: never */
    int64_t wait_told_us; /* and that an offer waits for somebody's word */
    LBM_VEC(struct application) applications;
    LBM_VEC(struct checkpoint) checkpoints;
    LBM_VEC(struct place) places;
    int64_t places_us; /* when to tell this host's again, and look who is lost */
    LBM_VEC(struct program) programs;
    LBM_VEC(struct run_watch) watches;
    LBM_VEC(struct early_output) early_output;
    uint64_t program_id;  /* of the last start */
    int64_t unwatched_us; /* since when a run of this host is watched by nobody; 0: none is */
    enum lbm_programs programs_run;
    uint32_t uid;
    int64_t program_grace_us; /* < 0: no end */
    LBM_VEC(struct id_wait) id_waits;
    LBM_VEC(struct edge_answer) edge_answers;
    uint64_t life; /* drawn when it started */
    LBM_VEC(struct maintenance) maintenances;
    LBM_VEC(struct eviction) evictions; /* of the last ten minutes */
    uint64_t evictions_seen;            /* up to this view */
    int64_t cut_off_us;                 /* when this host last heard of hardly anybody; 0: never */
    int64_t withheld_us;                /* when an eviction beyond the cap was last held back; 0: never */
    int64_t withheld_told_us;           /* when it was last told that this host evicts nobody; 0: never */
    int64_t draining_us;                /* when this host learned that it drains; 0: it does not */
    int64_t drain_us;                   /* next look at what is still to give away */
    int64_t propose_us;                 /* no proposal of this host's own before */
    int64_t evicted_us;                 /* when this host learned that it is evicted; 0: it is not */
    int64_t expected_us;                /* deadline the shell was last told */
    uint32_t health;   /* 0: well; more: was starved lately, and trusts its own suspicions less */
    int64_t health_us; /* when health gets better by one */
    int resetting;     /* a RESET is being stored, with this transaction: */
    uint64_t reset_id;

    uint64_t incarnation;
    uint64_t persist_id;      /* last transaction asked for */
    uint64_t persisted;       /* last one known durable */
    struct lbm_persist *open; /* the transaction of the step in progress */

    struct lbm_view view;
    struct lbm_views *views; /* of all nodes of this process; NULL: the view is this node's own */
    LBM_VEC(struct lbm_recovered_entry) log; /* entries after log_base; may be ahead of the view */
    uint64_t log_base;
    uint64_t snapshot_index;   /* of the last snapshot */
    struct lbm_view *incoming; /* a newer view that is being stored, with this transaction: */
    uint64_t incoming_id;
    LBM_VEC(uint8_t) incoming_snapshot; /* of a snapshot that is coming in */
    uint64_t incoming_snapshot_index;   /* of that snapshot */
    uint32_t incoming_snapshot_from;    /* the host that sends it */
    LBM_VEC(uint64_t) chains; /* engine local: of each entry of the copy, the hash of all up to it */
    uint64_t base_chain;      /* of the entries up to log_base */
    uint64_t term;            /* engine local: leader and leader_host are those of this term */
    uint64_t forced;     /* term in which a host last took the log from an ensemble by force; 0: never. */
    uint64_t forced_id;  /* Known without its entry: the transaction that stores it */
    int diverged;        /* the copy has entries that the log does not have */
    uint32_t doubted_by; /* the host that says so, or with diverged that nobody waits for what is here, and is
                            not believed as long as it is the only one; LBM_NONE */
    struct promotion promotion;
    int has_ordered;              /* engine local: this life has put entries into the log */
    uint64_t log_known;           /* engine local, the leader: that many entries there are somewhere, */
    uint32_t log_known_by;        /* as that host says */
    LBM_VEC(uint32_t) log_untrue; /* hosts that did not have the entries that they said they have */
    LBM_VEC(struct log_word)
    log_words;            /* entries behind the copy that wait for a second host that has them */
    uint32_t followed;    /* engine local: who led before nobody did; LBM_NONE */
    uint32_t silent_host; /* it said that it has more, and in that many rounds has sent nothing of it */
    uint32_t silent_rounds;
    struct {
        uint32_t host[LBM_OPERATORS_MAX];
        size_t n;
    } operators_of;         /* hosts at which operators are listened to; 0: all members */
    uint64_t n_refused;     /* what others said and was refused */
    int64_t refused_us;     /* the last one was told; 0: none was */
    int64_t stranger_us;    /* a host of another cluster was last told of; 0: never */
    size_t held;            /* that many entries at the end of the copy have yet to be stored, */
    int64_t held_us;        /* at the latest then */
    uint32_t large_members; /* with more a cluster is large; 0: as is usual */
    uint32_t tree_hosts;    /* with more sums of a mapping go along a tree; 0: as is usual */
    LBM_VEC(struct log_wait) log_waits;
    LBM_VEC(struct append) appends;
    uint64_t append_token;
    int64_t append_us;       /* when the first append was sent; 0: not in progress */
    int append_accepted;     /* the first append has its place: wait for the entry */
    uint64_t append_index;   /* engine external: the index it was sent for */
    int64_t append_retry_us; /* engine external: not before */
    uint64_t
        leader_clock_us; /* engine local: clock of the leader when it sent what came last, 0: not known, */
    int64_t leader_heard_us; /* and when that came */
    uint32_t protocol_most;  /* that this program speaks */
    int join_refused;        /* the log did not take us; the operator must change the configuration */
    uint32_t ping_turn;      /* where the rotation of pings goes on in a large cluster */
    int64_t fetch_us;        /* when the log was last asked for */
    uint32_t fetch_host;     /* and whom */
    int caught_up;           /* heard that there is nothing newer */

    struct applicant applicants[LBM_APPLICANTS_MAX];
    LBM_VEC(struct peer) peers;
    struct lbm_idmap peer_at;  /* host: its place in peers */
    LBM_VEC(uint32_t) watched; /* hosts this one should hear from (lbm_membership_is_watched), ascending */
    LBM_VEC(uint32_t) doubted; /* hosts with suspectors, and some that had */
    int64_t ping_us;
    uint64_t ping_seq;
    struct network network;

    LBM_VEC(struct job *) jobs;
    LBM_VEC(struct job *) removed;  /* of which a plan's thread, or the store's, still reads the guest */
    uint64_t deleted[LBM_JOBS_MAX]; /* the last jobs that were, of whose records some may still arrive */
    uint32_t n_deleted;             /* that many so far */
    LBM_VEC(struct upload *) uploads;
    LBM_VEC(struct gathering *) gatherings;
    LBM_VEC(struct collection *) collections;
    uint64_t query;
    LBM_VEC(struct cut) cuts;
    LBM_VEC(struct hold) holds;
    LBM_VEC(struct deferred_request *) deferred; /* in the order in which they came */
    size_t deferred_bytes;
    LBM_VEC(struct operator_wait) operators;
    LBM_VEC(struct event_line) events; /* number i at (i - 1) % LBM_EVENTS_MAX */
    uint64_t n_events;                 /* ever */
    LBM_VEC(struct move) moves;        /* a ring: number i at (i - 1) % capacity */
    uint64_t n_moves;                  /* ever */

    LBM_VEC(struct met_link) met; /* this host's links as rounds last saw them, by host */

    LBM_VEC(struct blob) blobs; /* by name */
    uint32_t blob_piece;        /* bytes of a piece */
    uint32_t blob_reads;        /* pieces that are being read from the disk */
    int64_t blobs_us;           /* next look at which are of no use any more */

    int starting;       /* the stored log is being read: nothing follows from it yet */
    uint64_t topology;  /* of the view, when jobs last took notice */
    uint32_t soft_held; /* lossy messages that wait for the disk, the last of them for this transaction: */
    uint64_t soft_after;
    struct alert alerts[LBM_ALERT_COUNT];
    double disk_used;                      /* share of the file system of the database; 0: not known */
    LBM_VEC(struct recovery *) recoveries; /* by client */
    uint64_t n_sent, n_received, bytes_sent, bytes_received, n_handoffs, n_plans, n_sweeps;
};

#endif
