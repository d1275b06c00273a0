/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of lib/node share. Nothing outside lib/node includes this.
 *
 *   node.c       step function: dispatch, timers, life of a node
 *   effects.c    effects and persist operations
 *   membership.c join, activate, who was heard when
 *   control_log.c this host's copy of the log; its engines and snapshots: log_internal.h
 *   jobs.c       life of a job on this host
 *   submit.c     a guest from a client to a job
 *   planning.c   plans at the job's home
 *   records.c    every change of a vertex record: rank, sequence, storing
 *   stream.c     the owner's side of replication: changes to the buddy, leases from it
 *   replica.c    the buddy's side: what it keeps of others, leases it grants
 *   adopt.c      the heir's side, and what an evicted host does
 *   suspect.c    silence, suspicion, proposals to evict
 *   drain.c      giving everything away, and leaving
 *   application.c what an application may work on
 *   handoff.c    PROTOCOL section 4: offers, answers, retries
 *   finish.c     FIN: when a record will not be asked for again, and goes
 *   ghosts.c     what neighbours must know of our vertices, and where theirs went
 *   mapping.c    diffusion, regions, renormalization
 *   session.c    exchange sessions by colour rounds, termination
 *   exchange.c   what one session moves: GDE's share and pair refinement
 *   policy.c     which load policy a job has
 *   level.c      loads levelled on numbers, before anything moves
 *   transfer.c   carrying the flows out
 *   requests.c   answers to clients
 *   operate.c    what operators do to hosts, and the events they read
 *   collect.c    mappings and places gathered from all hosts */
#ifndef LBM_NODE_INTERNAL_H
#define LBM_NODE_INTERNAL_H

#include "balance/balance.h"
#include "balance/level.h"
#include "base/check.h"
#include "base/rng.h"
#include "embed/embed.h"
#include "node/bugs.h"
#include "node/node.h"
#include "node/shard.h"
#include "node/transitions.h"
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
    LEVEL_SOON_US = 20000,   /* so soon in the first LEVEL_REPEAT_US of a levelling */
    LEVEL_REPEAT_US = 300000,     /* words of levelling without answer are said again */
    LEVEL_PATIENCE_US = 10000000, /* a partner that is alive, and silent on this */
    TRANSFER_TICK_US = 10000,
    TRANSFER_SOON_US = 2000, /* after an answer */
    TRANSFER_PATIENCE_US = 15000000, /* without anything moving */
    PAIR_MOVING_US = 13000000,       /* the same, while a partner that is alive waits for an application */
    NOTICE_RETRY_US = 50000,         /* before asking a partner again that was not there yet */
    COLLECT_US = 1500000,            /* for the parts of a mapping */
    CHECKPOINT_US = 5000000,         /* positions to disk while they change */
    LEASE_US = LBM_LEASE_US,         /* PROTOCOL section 5; counted by the owner from asking */
    GRANT_US = 8080000,              /* the same with 1 % for clocks; counted by the grantor from granting */
    REVOKE_US = LBM_LEASE_STOP_US,   /* before its end an application gets nothing new */
    LEASE_RENEW_US = 2000000,
    LEASE_RETRY_US = 400000,   /* while there is none */
    REPL_RETRY_US = 400000,    /* before changes without acknowledgement are sent again */
    SUSPECT_US = 3500000,      /* of silence, times health */
    CONFIRM_US = 1500000,      /* two suspect for so long: evict */
    STARVED_US = 300000,       /* a step so much too late: this host was not running */
    APPEND_AGAIN_US = 3000000, /* before a proposal that changed nothing is repeated */
    RECLAIM_US = 20000000,     /* an evicted host waits so long to be adopted */
    RELEASE_US = 10000000,     /* for an application to let go; then the vertex stays */
    FIN_RETRY_US = 5000000,
    WHERE_US = 1000000,      /* between questions to everybody */
    TOMBSTONE_US = 60000000, /* a finished record still tells where the vertex went; unless configured */
};

enum {
    HANDOFF_BATCHES = 2,       /* in flight to one host */
    SOFT_HELD_MAX = 256,       /* lossy messages that wait for the disk: no more while it stalls */
    REPL_BATCHES = 8,          /* in flight to the buddy */
    HEALTH_MAX = 8,            /* Lifeguard's multiplier: at most so much more patience */
    DIRECT_MEMBERS = 64,       /* up to here everybody pings everybody */
    ROTATING_PINGS = 4,        /* above: besides neighbours and buddies so many in turn */
    PIPELINE_BATCHES = 8,      /* in flight over all links that still give: REPL_BATCHES could not follow more */
    MAPPING_SWEEPS = 2,        /* a tick */
    MAPPING_SWEEPS_MAX = 4000, /* then BALANCING starts with what there is */
    PLAN_SWEEPS = 4,           /* smoothing of planned coordinates */
    BAND_VERTICES_MAX = 4096,  /* of one PAIR_ACCEPT */
    BAND_HALVES_MAX = 65536,
    SWEEP_PAUSE_US = 200000, /* between sweeps in which nobody answered */
    SLACK_HOPS_MAX = 10000,  /* "no host with room is known" */
    PROPOSALS_MAX = 4,       /* waiting for the log before this host proposes nothing more by itself */
    QUIET_TIMES = 2,         /* so often nothing moved: it is not tried again until something changes */
    PATIENT_SHARES = 200,    /* after so many sweeps a share moves only what makes somebody's excess less */
    MOVES_PER_EDGE = 4,  /* so many vertices may move to have one edge of mean weight less between hosts */
    PATIENT_SWEEPS = 40, /* after so many sweeps a session must gain more and more */
};

/* Somebody else who suspects a host. */
struct suspector {
    uint32_t host;
    int64_t since_us, heard_us;
};

/* A peer's place in time. */
struct peer {
    uint32_t host;
    int64_t heard_us; /* last message, 0: never */
    int64_t since_us; /* when this host began to expect something of this incarnation */
    uint64_t incarnation;
    int connected; /* our outgoing connection stands */
    int dialled;
    char address[LBM_ADDRESS_MAX + 1]; /* last dialled */
    uint64_t vertices;                 /* as its pulses say, all jobs */
    uint64_t lag, view;
    int64_t suspect_us;                   /* since when this host suspects it; 0: it does not */
    LBM_VEC(struct suspector) suspectors; /* others that do */
    int is_doubted;                       /* in node->doubted: somebody else suspects it, or did lately */
};

/* A change of a record that the buddy has not acknowledged; vertex LBM_NONE: the whole job is void. */
struct change {
    uint64_t seq;
    uint64_t job;
    uint32_t vertex;
};

/* This host's records on their way to its buddy. */
struct stream {
    uint32_t buddy;      /* LBM_NONE: nobody; then every record counts as acked */
    uint64_t generation; /* view at which it became the buddy */
    uint64_t seq;        /* of the last change */
    uint64_t acked;      /* the buddy holds all up to here */
    uint64_t sent;
    int known;                      /* the buddy has said where it stands, since the connection stands */
    LBM_VEC(struct change) changes; /* after `acked`, by seq; changes.at[head ..] */
    size_t head;
    size_t next;        /* index of the first change not sent */
    uint64_t merged;    /* of the last record that was inherited */
    uint64_t uncovered; /* records from before the generation that the buddy has not got yet */
    int64_t retry_us;   /* when to send again what is not acknowledged; INT64_MAX: nothing is out */
    int64_t insync_us;  /* last proposed */
    uint64_t start_seq; /* of the last change on the disk when this life began */
    int compared;       /* with what a buddy holds, in this life; until then nothing is sent to it */
    int rolled_back;    /* the buddy holds changes that this disk has lost */
};

struct lease {
    int64_t until_us;  /* INT64_MAX: no limit; 0: none */
    int64_t ask_us;    /* when to ask next */
    int64_t fence_us;  /* somebody may work until then whom this life has not given it; 0: nobody may */
    uint64_t term;     /* of the page */
    uint32_t old_used; /* applications that had vertices in the life before; UINT32_MAX: fenced by application_fence */
    uint64_t old_term; /* of their page; once `term` is another, what they hold is lost */
    int64_t old_us;    /* all of them are back: the page of that life holds until then; 0: it is over */
    int64_t told_us;   /* what the shell was last told: deadline, */
    uint64_t told_term;
    uint32_t told_used; /* applications that have had vertices */
};

/* What this host keeps of another. */
struct replica_job {
    uint64_t job;
    struct lbm_idmap index;
    LBM_VEC(struct lbm_row) rows;
};

struct stored_position {
    uint64_t persist;
    uint64_t seq;
};

struct replica {
    uint32_t owner;
    uint64_t incarnation;
    uint64_t generation;
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

/* An application on this host. */
struct application {
    uint64_t client;
    uint64_t request;
    uint64_t job;
    int scan;    /* vertices may be waiting to be given to it */
    int has_had; /* it was given vertices, or came back with some */
    int is_back; /* with vertices from the life before */
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
    uint64_t level_sweeps, level_words, flow, transfer_us;
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
    NOTICE_SETTLED,   /* the sender knows that all around it are stable; it takes part when asked to */
    NOTICE_ASK,       /* the sender waits: have you settled, or are you further? */
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
    uint64_t still;
    int64_t heard_us;
    int settled; /* it opens nothing by itself */
};

/* Hops to the nearest host with room; the neighbour by which it is reached (LBM_NONE: none is needed); hops
 * by any other one. A neighbour is told what does not lead through itself, so two hosts never take each other
 * for the way to room that is gone. */
struct slack {
    uint32_t hops, via, other;
};

/* A neighbour with which nothing moved, and how things stood on both sides. */
struct quiet {
    uint32_t host;
    uint64_t own, theirs; /* `still` of this host and of the other */
    uint32_t times;       /* in a row */
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
    struct slack slack;       /* after the last sweep */
    struct slack slack_heard; /* in this sweep */
    uint64_t woken;           /* sweep at which sessions last (re)started */
    LBM_VEC(struct early_open) early;
    LBM_VEC(struct quiet) quiet;
    uint64_t still, still_heard; /* of the session under way, this host's and the partner's */
};

/* Levelling of a job on this host: numbers first, then vertices. */
enum level_state {
    LEVEL_NONE,
    LEVEL_NUMBERS,  /* the policy runs on virtual loads */
    LEVEL_TRANSFER, /* flows are carried out */
};

/* What is to go over a link, or to come: one entry of the schedule. */
struct transfer_entry {
    uint32_t link;
    uint32_t ordinal; /* among the entries of its link and direction, from 1 */
    int64_t units;    /* > 0: this host gives */
    int64_t left;     /* not chosen yet */
    int begun;
    int over;
};

/* The same, of a whole link. */
struct transfer_link {
    uint32_t host;
    uint64_t life;       /* of the other side's numbers; 0: nothing heard */
    uint32_t done;       /* entries this host has carried out */
    uint32_t heard_done; /* entries the other has */
    uint32_t out, in;    /* entries in all */
    int told;            /* `done` has been told */
    uint32_t leaving;    /* vertices on their way, or about to be */
    int is_lost;         /* nothing more on this link */
};

/* A policy run: of one host graph and one entry of the log. */
struct level_run {
    uint64_t topology, policy_view;
};

struct levelling {
    enum level_state state;
    struct level_run run, over; /* under way; the last that ended here */
    struct lbm_level numbers;
    LBM_VEC(struct transfer_link) links; /* in the order of numbers.links */
    LBM_VEC(struct transfer_entry) entries;
    uint64_t life; /* drawn when the numbers began */
    int forced; /* level whatever the phase of others */
    int64_t tick_us;
    int64_t ask_us;
    int64_t progress_us;                       /* something was carried out or came */
    int64_t begun_us; /* the numbers, then the transfer */
    uint64_t available;  /* work that may go and does not yet */
    int64_t batch;       /* pipelined: so much at least is chosen at a time, what a message carries */
    uint64_t seen;                             /* version of the shard at the last progress */
    uint64_t sweeps, words, flow, transfer_us; /* for those who ask */
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
    uint8_t *pending; /* packed JOB_CREATE, until the buddy has the guest and the log has it */
    size_t pending_len;
    uint64_t guest_id;    /* transaction that stores the guest: it borrows the graph until it is durable */
    uint64_t pending_seq; /* of the guest's last vertex */
    int proposed;
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
    int64_t where_us;      /* everybody may be asked again from then on */

    /* handoff */
    LBM_VEC(uint32_t) out;        /* slots of vertices that are, or just were, OUT */
    uint32_t pump_at;             /* where the search for wishes goes on */
    int64_t offers_us;            /* next look at offers without answer; INT64_MAX: none out */
    LBM_VEC(uint32_t) unfinished; /* slots of records whose source has not said FIN */
    int64_t finish_us;            /* next look at them; INT64_MAX: there are none */
    LBM_VEC(uint32_t) tombstones; /* slots of MOV and REF */
    int64_t collect_us;           /* next look at them; INT64_MAX: there are none */
    LBM_VEC(uint32_t) releasing;  /* slots of vertices that an application was asked to release */
    uint64_t moved;               /* handed over so far */

    int was_settled; /* in this life: what moves now follows a change */
    struct session session;
    struct levelling level;
    uint64_t weighed_load, weighed_topology; /* SETTLED: when the load was last compared with the limit */
    LBM_VEC(struct pulse) pulses;
    struct lbm_idmap pulse_at;  /* host: its place in pulses */
    enum lbm_phase heard_phase; /* most advanced one heard from anybody so far */
    int64_t checkpoint_us;      /* next, INT64_MAX: positions are stored */
};

/* An append that is not in the log yet. */
struct append {
    uint64_t token;
    uint8_t *command;
    size_t len;
    int founds; /* nonzero: it founds the cluster, and is void if somebody else did */
    uint32_t
        suspect; /* whom it evicts because it is silent, and is void once that host is heard; or LBM_NONE */
};

/* A log entry that is being stored: it is applied once `persist` is durable. */
struct log_wait {
    uint64_t index;
    uint64_t persist;
};

/* An operator gives this host the order of the control log. */
struct promotion {
    enum promotion_round {
        PROMOTION_NONE,
        PROMOTION_CONFIRM, /* a leader that was away asks whether it still is the leader */
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
    int64_t deadline_us;
    LBM_VEC(uint32_t) awaited; /* hosts */
};

/* A guest on its way in from a client. */
struct upload {
    uint64_t client;
    char name[LBM_NAME_MAX + 1];
    uint32_t start;
    uint64_t seed;
    double imbalance;
    struct lbm_job_policy policy;
    uint32_t vertices;
    uint64_t edges;
    LBM_VEC(uint64_t) offset;
    LBM_VEC(uint32_t) target;
    LBM_VEC(uint32_t) weight;
    LBM_VEC(uint32_t) work;
    LBM_VEC(uint32_t) pin;
};

/* Whoever asks. */
struct client {
    uint64_t id;
    uint64_t request;
    uint32_t uid;
    int admin;
};

/* A client that waits for the control log's word on its change. */
struct operator_wait {
    uint64_t client;
    uint64_t request;
    int tell; /* operate.c says what */
    uint8_t *command;
    size_t len;
};

/* A note that is kept for `lbctl events`. */
struct event_line {
    uint64_t number;
    int64_t at_us;
    enum lbm_note_level level;
    char text[256];
};

/* An application waits until its payloads are with the buddy. */
struct checkpoint {
    uint64_t client;
    uint64_t request;
    uint64_t seq;
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
    uint32_t founder_host;     /* engine local: who orders the log in the present term, or LBM_NONE */
    uint32_t join_host;        /* engine local: as configured */
    uint32_t vertices_max;     /* refuse offers beyond; 0: no limit */
    uint32_t policy, schedule; /* of jobs that ask for none */
    int64_t tombstone_us;

    struct lbm_rng rng;
    int64_t now_us;
    int64_t started_us;
    struct lbm_effects *out; /* of the step under way */
    enum lbm_err failed;     /* first error of the step under way */

    char failure_domain[LBM_NAME_MAX + 1];
    enum lbm_log_engine engine;
    int may_found;            /* engine external: this host founds the cluster if nobody has */
    uint32_t log_compact_min; /* entries between snapshots; 0: as is usual */
    uint32_t evict_per_minute;
    double evict_share;

    struct stream stream;
    struct lease lease;
    LBM_VEC(struct replica *) replicas;
    LBM_VEC(struct lbm_recovered_adoption) adoptions; /* merged already */
    LBM_VEC(struct due) due;
    LBM_VEC(struct application) applications;
    LBM_VEC(struct checkpoint) checkpoints;
    LBM_VEC(int64_t) evictions; /* when this host learned of the last ones */
    uint64_t evictions_seen;    /* up to this view */
    int64_t cut_off_us;         /* when this host last heard of hardly anybody; 0: never */
    int64_t withheld_us;        /* an eviction beyond the cap was last told; 0: never */
    int64_t drain_us;           /* next look at what is still to give away */
    int64_t propose_us;         /* no proposal of this host's own before */
    int64_t evicted_us;         /* when this host learned that it is evicted; 0: it is not */
    int64_t expected_us;        /* deadline the shell was last told */
    uint32_t health;            /* 0: well; more: was starved lately, and trusts its own suspicions less */
    int64_t health_us;          /* when health gets better by one */
    int resetting;              /* a RESET is being stored, with this transaction: */
    uint64_t reset_id;

    uint64_t incarnation;
    uint64_t persist_id;      /* last transaction asked for */
    uint64_t persisted;       /* last one known durable */
    struct lbm_persist *open; /* the transaction of the step under way */

    struct lbm_view view;
    LBM_VEC(struct lbm_recovered_entry) log; /* entries after log_base; may be ahead of the view */
    uint64_t log_base;
    uint64_t snapshot_index;   /* of the last snapshot */
    struct lbm_view *incoming; /* a newer view that is being stored, with this transaction: */
    uint64_t incoming_id;
    LBM_VEC(uint8_t) parts;   /* of a snapshot that is coming in */
    uint64_t parts_index;     /* of that snapshot */
    LBM_VEC(uint64_t) chains; /* engine local: of each entry of the copy, the hash of all up to it */
    uint64_t base_chain;      /* of the entries up to log_base */
    uint64_t term;            /* engine local: founder and founder_host are those of this term */
    int diverged;             /* the copy has entries that the log does not have */
    struct promotion promotion;
    LBM_VEC(struct log_wait) log_waits;
    LBM_VEC(struct append) appends;
    uint64_t append_token;
    int64_t append_us;       /* when the first append was sent; 0: not under way */
    int append_accepted;     /* the first append has its place: wait for the entry */
    uint64_t append_index;   /* engine external: the index it was sent for */
    int64_t append_retry_us; /* engine external: not before */
    int join_refused;        /* the log did not take us; the operator must change the configuration */
    uint32_t ping_turn;      /* where the rotation of pings goes on in a large cluster */
    int64_t fetch_us;        /* when the log was last asked for */
    uint32_t fetch_host;     /* and whom */
    int caught_up;           /* heard that there is nothing newer */

    LBM_VEC(struct peer) peers;
    struct lbm_idmap peer_at;  /* host: its place in peers */
    LBM_VEC(uint32_t) watched; /* hosts this one should hear from (is_watched), ascending */
    LBM_VEC(uint32_t) doubted; /* hosts with suspectors, and some that had */
    int64_t ping_us;
    uint64_t ping_seq;

    LBM_VEC(struct job *) jobs;
    LBM_VEC(struct upload *) uploads;
    LBM_VEC(struct collection *) collections;
    uint64_t query;
    LBM_VEC(struct operator_wait) operators;
    LBM_VEC(struct event_line) events; /* number i at (i - 1) % LBM_EVENTS_MAX */
    uint64_t n_events;                 /* ever */

    int starting;       /* the stored log is being read: nothing follows from it yet */
    uint64_t topology;  /* of the view, when jobs last took notice */
    uint32_t soft_held; /* lossy messages that wait for the disk, the last of them for this transaction: */
    uint64_t soft_after;
    uint64_t n_sent, n_received, bytes_sent, bytes_received, n_handoffs;
};

/* ---- effects.c: append to node->out; a shortage of memory sets node->failed ------------------------ */

void note(struct lbm_node *node, enum lbm_note_level level, const char *fmt, ...) LBM_PRINTF(3, 4);
void dial(struct lbm_node *node, uint32_t host, const char *address);
/* LOG_APPEND, LOG_FOLLOW, LOG_COMPACT; copies the bytes. */
void emit_log(struct lbm_node *node, enum lbm_effect_kind kind, uint64_t index, const uint8_t *bytes,
              size_t len);

/* Fill the envelope, pack and send once every transaction asked for so far is durable. */
void send_peer(struct lbm_node *node, uint32_t host, Lbm__Peer *message);
/* The same at once: nothing stored depends on it. */
void send_now(struct lbm_node *node, uint32_t host, Lbm__Peer *message);
/* Lossy, but like send_peer not before what it tells is durable. */
void send_stored_soft(struct lbm_node *node, uint32_t host, Lbm__Peer *message);
/* At once and lossy. */
void send_soft(struct lbm_node *node, uint32_t host, Lbm__Peer *message);
void reply(struct lbm_node *node, uint64_t client, uint64_t request, int last, Lbm__Response *response);
/* The same once every transaction asked for so far is durable. */
void reply_stored(struct lbm_node *node, uint64_t client, uint64_t request, int last,
                  Lbm__Response *response);
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
/* After an entry about members was applied: those it touched, or `all` of them, may be others. */
void membership_changed(struct lbm_node *node, int all);
/* The ACTIVE members are a host graph: node->view.hosts, up to date from here until the next entry. */
int is_routable(struct lbm_node *node);
void dial_member(struct lbm_node *node, const struct lbm_member *member);
void membership_connected(struct lbm_node *node, uint32_t host);
struct peer *peer_of(struct lbm_node *node, uint32_t host);          /* creates; NULL if memory is short */
struct peer *peer_known(const struct lbm_node *node, uint32_t host); /* or NULL */
int is_silent(const struct lbm_node *node, uint32_t host, int64_t limit_us);
void on_hello(struct lbm_node *node, const Lbm__Peer *message);
void on_ping(struct lbm_node *node, const Lbm__Peer *message);

/* ---- control_log.c ---------------------------------------------------------------------------------- */

void log_start(struct lbm_node *node, struct lbm_recovered *recovered);
void log_persisted(struct lbm_node *node);
void log_timer(struct lbm_node *node);
int64_t log_deadline(const struct lbm_node *node);
void log_append(struct lbm_node *node, const Lbm__Command *command);
void log_append_suspicion(struct lbm_node *node, const Lbm__Command *command, uint32_t suspect);
void log_fetch(struct lbm_node *node);
void on_log_fetch(struct lbm_node *node, const Lbm__Peer *message);
void on_log_entries(struct lbm_node *node, const Lbm__Peer *message);
void on_log_append(struct lbm_node *node, const Lbm__Peer *message);
void on_log_poll(struct lbm_node *node, const Lbm__Peer *message);
void on_log_position(struct lbm_node *node, const Lbm__Peer *message);
void answer_promote(struct lbm_node *node, const struct client *client, const Lbm__Request *request);
void answer_log(struct lbm_node *node, const struct client *client, const Lbm__Request *request);
void on_log_snapshot(struct lbm_node *node, const Lbm__Peer *message);
void on_log_result(struct lbm_node *node, const Lbm__Peer *message);
void on_log_external_result(struct lbm_node *node, uint64_t index, enum lbm_log_result result);
void on_log_external_entries(struct lbm_node *node, uint64_t from, const struct lbm_bytes *command, size_t n,
                             int caught_up);
void on_log_external_snapshot(struct lbm_node *node, uint64_t index, const struct lbm_bytes *view);

/* ---- jobs.c ----------------------------------------------------------------------------------------- */

struct job *job_of(const struct lbm_node *node, uint64_t id);
struct job *job_add(struct lbm_node *node, uint64_t id);
void job_remove(struct lbm_node *node, uint64_t id);
void job_free(struct job *job);
void jobs_start(struct lbm_node *node, struct lbm_recovered *recovered);
void jobs_created(struct lbm_node *node, const struct lbm_job_entry *entry); /* by the log */
void jobs_refused(struct lbm_node *node, const Lbm__JobCreate *create, const char *why);
void jobs_deleted(struct lbm_node *node, uint64_t id);
void jobs_lost(struct lbm_node *node); /* all of them, by eviction */
void jobs_view_changed(struct lbm_node *node, int topology_changed, int all);
void jobs_timer(struct lbm_node *node);
int64_t jobs_deadline(const struct lbm_node *node);
void job_enter(struct lbm_node *node, struct job *job, enum lbm_phase phase);
void job_store_state(struct lbm_node *node, struct job *job, enum lbm_job_state state);
void job_free_guest(struct job *job);
void job_propose(struct lbm_node *node, struct job *job);              /* once the guest is with the buddy */
struct pulse *pulse_of(struct job *job, uint32_t host);                /* creates; NULL if memory is short */
const struct pulse *pulse_known(const struct job *job, uint32_t host); /* or NULL */
int is_home(const struct lbm_node *node, const struct job *job);
/* Target load T_p of this host and its limit, work units. */
double job_target(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t host);
uint64_t job_limit(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t host);

/* Ownership follows regions while coordinates diffuse. */
static inline int
follows_regions(const struct lbm_job_entry *entry)
{
    return entry->start == LBM_START_CENTRE || entry->start == LBM_START_RANDOM;
}

/* ---- policy.c --------------------------------------------------------------------------------------- */

/* H of the view, its topology known by name if it has one. Borrows: not to be freed. */
struct lbm_hosts policy_hosts(const struct lbm_node *node);
/* The policy that is asked for, with its parameters. Errors: as diag says. */
enum lbm_err policy_choose(struct lbm_node *node, uint32_t asked, uint32_t schedule,
                           struct lbm_job_policy *out, struct lbm_diag *diag) LBM_MUST_CHECK;
void policy_change(struct lbm_node *node, const struct client *client, const struct lbm_job_entry *entry,
                   const Lbm__JobChange *change);

/* ---- level.c, transfer.c ------------------------------------------------------------------------------ */

/* Entering BALANCING: nonzero if loads are levelled first; session_start follows then by itself. */
int level_begin(struct lbm_node *node, struct job *job);
void level_timer(struct lbm_node *node, struct job *job);
void level_stop(struct lbm_node *node, struct job *job); /* what has begun to move arrives */
void level_free(struct levelling *level);
void level_policy_changed(struct lbm_node *node, uint64_t job); /* by the log */
void on_level(struct lbm_node *node, const Lbm__Peer *message);
/* Make the schedule of what has been levelled, and carry it out. */
void transfer_start(struct lbm_node *node, struct job *job);
/* Nonzero once all is over. */
int transfer_timer(struct lbm_node *node, struct job *job);
/* Vertices of a job that may be on their way to one host. */
uint32_t transfer_window(const struct lbm_node *node, const struct job *job);
void transfer_stop(struct lbm_node *node, struct job *job);
void on_transfer(struct lbm_node *node, const Lbm__Peer *message);

/* ---- planning.c ------------------------------------------------------------------------------------- */

/* The record of a vertex of a guest that is nowhere else yet. Errors: LBM_E_NOMEM; row owns its content. */
enum lbm_err plan_row(const struct job *job, uint32_t v, struct lbm_row *row) LBM_MUST_CHECK;
void plan_begin(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
void on_planned(struct lbm_node *node, const struct lbm_event *event);

/* ---- records.c ---------------------------------------------------------------------------------------- */

/* Every change of a record goes through these: they keep rank, give the change its place in the stream,
 * and store it. Pointers to vertices stay valid except over record_put. */

/* A record from elsewhere: stage and epoch become those of the transition, counted from row->epoch. Takes
 * what row owns. NULL: memory is short. */
struct lbm_vertex *record_put(struct lbm_node *node, struct job *job, struct lbm_row *row,
                              enum lbm_transition transition);
/* The record itself goes on; the epoch is counted from its own. */
void record_stage(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex,
                  enum lbm_transition transition, uint32_t peer, uint64_t peer_incarnation);
/* The payload has changed; takes it. */
void record_payload(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint8_t *payload,
                    uint32_t len);
void record_forget(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex);
/* A whole job is void here. */
void record_drop_job(struct lbm_node *node, uint64_t job);
/* The buddy has this record exactly as it is (PROTOCOL section 4), or there is no buddy. */
int is_acked(const struct lbm_node *node, const struct lbm_vertex *vertex);
/* After a record was put in the shard otherwise (recovery, a guest): into the lists it belongs to. */
void record_list(struct lbm_node *node, struct job *job, uint32_t slot);
struct lbm_vertex *record_of(const struct job *job, uint32_t id); /* NULL: none, or stage NONE */

/* ---- stream.c ------------------------------------------------------------------------------------------ */

void stream_start(struct lbm_node *node, const struct lbm_recovered *recovered);
void stream_push(struct lbm_node *node, uint64_t seq, uint64_t job, uint32_t vertex);
void stream_covered(struct lbm_node *node, struct lbm_vertex *vertex); /* it is not waited for any more */
void stream_job_gone(struct lbm_node *node, struct job *job);
void stream_view_changed(struct lbm_node *node);
void stream_connected(struct lbm_node *node, uint32_t host);
void stream_timer(struct lbm_node *node);
int64_t stream_deadline(const struct lbm_node *node);
uint64_t stream_lag(const struct lbm_node *node);
/* Nobody else could take over from this host: it needs neither copy nor lease. */
int is_alone(const struct lbm_node *node);
int lease_holds(const struct lbm_node *node);   /* something new may be given to an application */
int64_t lease_end(const struct lbm_node *node); /* after it no application works any more */
void lease_tell(struct lbm_node *node);
void on_lease(struct lbm_node *node, const Lbm__Peer *message);
void on_repl_ack(struct lbm_node *node, const Lbm__Peer *message);

/* ---- replica.c ----------------------------------------------------------------------------------------- */

void replicas_start(struct lbm_node *node, struct lbm_recovered *recovered);
void replicas_free(struct lbm_node *node);
void replicas_view_changed(struct lbm_node *node);
void replicas_job_deleted(struct lbm_node *node, uint64_t job);
struct replica *replica_of(const struct lbm_node *node, uint32_t owner, uint64_t incarnation);
void replica_drop(struct lbm_node *node, struct replica *replica);
void on_lease_req(struct lbm_node *node, const Lbm__Peer *message);
void on_repl(struct lbm_node *node, const Lbm__Peer *message);

/* ---- adopt.c ------------------------------------------------------------------------------------------- */

/* Nonzero if this host has merged everything it inherits. */
int all_adopted(const struct lbm_node *node);
/* Nonzero while this incarnation of this host may act: it is not evicted, has not left, and its disk is the
 * one its buddy knows. */
int is_alive(const struct lbm_node *node);
/* A host that left begins anew, empty. Nonzero if it does. */
int adopt_rejoin(struct lbm_node *node);
void adopt_timer(struct lbm_node *node);
int64_t adopt_deadline(const struct lbm_node *node);
void adopt_persisted(struct lbm_node *node);

/* ---- suspect.c ----------------------------------------------------------------------------------------- */

int may_propose(const struct lbm_node *node); /* the last proposal had its time, and the log takes them */
void suspect_step(struct lbm_node *node);     /* first in every step: was this host running? */
void suspect_timer(struct lbm_node *node);
void suspect_heard(struct lbm_node *node, uint32_t from, size_t n, const uint32_t *suspect);
uint32_t suspect_count(const struct lbm_node *node, uint32_t host);
void suspect_view_changed(struct lbm_node *node, int all);
/* Hosts that this one should hear from: linked ones, its buddy, its wards, or all of a small cluster. */
int is_watched(const struct lbm_node *node, const struct lbm_member *member);

/* ---- drain.c ------------------------------------------------------------------------------------------- */

/* Wish every own vertex onto an ACTIVE host near its neighbours. */
void drain_job(struct lbm_node *node, struct job *job);
void drain_timer(struct lbm_node *node);
int64_t drain_deadline(const struct lbm_node *node);

/* ---- application.c ------------------------------------------------------------------------------------- */

void application_attach(struct lbm_node *node, uint64_t client, uint64_t request,
                        const Lbm__AttachRequest *attach);
void application_released(struct lbm_node *node, uint64_t client, uint64_t request,
                          const Lbm__ReleasedRequest *released);
void application_checkpoint(struct lbm_node *node, uint64_t client, uint64_t request,
                            const Lbm__CheckpointRequest *checkpoint);
void application_sent(struct lbm_node *node, uint64_t after, uint64_t seq, uint64_t last);
void application_acked(struct lbm_node *node); /* the stream has moved on */
void application_reset(struct lbm_node *node); /* this incarnation is over */
void application_gone(struct lbm_node *node, uint64_t client);
void application_job_deleted(struct lbm_node *node, uint64_t job);
/* Nonzero if nobody works on the vertex. If somebody does, it is asked to stop, and `to` remembered. */
int application_lets_go(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to);
void application_ready(struct lbm_node *node, struct job *job); /* some vertices may be given */
void application_lapsed(struct lbm_node *node);                 /* the lease is over */
int application_runs(const struct lbm_node *node);              /* some vertex is given to one */
/* Nothing is given or moves until then, and what applications have is lost afterwards. */
void application_fence(struct lbm_node *node, int64_t until_us);
void application_timer(struct lbm_node *node);
int64_t application_deadline(const struct lbm_node *node);

/* ---- handoff.c -------------------------------------------------------------------------------------- */

/* Start handing over an OWN vertex. Nonzero if it started. */
int handoff_begin(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to);
/* The same for a vertex that an application has just released: its payload may be newer than the buddy's. */
int handoff_resume(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to);
/* Begin handoffs of vertices whose wish is another host, a few batches at a time. Returns those that
 * still wait. */
uint32_t handoff_pump(struct lbm_node *node, struct job *job);
void handoff_timer(struct lbm_node *node, struct job *job);
void handoff_view_changed(struct lbm_node *node, struct job *job);
/* The buddy has got this record as it is: what was waiting for that is due. */
void handoff_acked(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex);
void handoff_flush(struct lbm_node *node); /* send what is due */
void due(struct lbm_node *node, enum due_kind kind, const struct job *job, uint32_t to,
         const struct lbm_vertex *vertex, uint64_t epoch);
void on_offer(struct lbm_node *node, const Lbm__Peer *message);
void on_answer(struct lbm_node *node, const Lbm__Peer *message);

/* ---- finish.c ---------------------------------------------------------------------------------------- */

void finish_timer(struct lbm_node *node, struct job *job);
/* Who answers for the source of a record now; LBM_NONE: nobody does, it has finished (*known), or nobody can
 * yet (!*known). */
uint32_t finish_source(const struct lbm_node *node, const struct lbm_vertex *vertex, int *known);
/* Nonzero if FIN for an offer of that epoch may be said: it will not be made again. */
int is_finished(const struct lbm_node *node, const struct job *job, uint32_t vertex, uint64_t epoch);
void on_fin(struct lbm_node *node, const Lbm__Peer *message);

/* ---- ghosts.c --------------------------------------------------------------------------------------- */

void ghosts_send(struct lbm_node *node, struct job *job);
void ghosts_timer(struct lbm_node *node, struct job *job);
int64_t ghosts_deadline(const struct job *job);
void on_ghosts(struct lbm_node *node, const Lbm__Peer *message);
void on_moved(struct lbm_node *node, const Lbm__Peer *message);
void on_where(struct lbm_node *node, const Lbm__Peer *message);

/* ---- mapping.c -------------------------------------------------------------------------------------- */

void mapping_timer(struct lbm_node *node, struct job *job);
void mapping_send_frame(struct lbm_node *node, struct job *job, uint32_t host); /* to one that lags */
void on_stats(struct lbm_node *node, const Lbm__Peer *message);
void on_frame(struct lbm_node *node, const Lbm__Peer *message);
/* Position of a vertex in Omega. */
void mapping_place(const struct job *job, const double *raw, double *x);

/* ---- session.c -------------------------------------------------------------------------------------- */

void session_start(struct lbm_node *node, struct job *job); /* entering BALANCING */
/* The host graph is another one. */
void session_topology_changed(struct lbm_node *node, struct job *job, int all);
void session_timer(struct lbm_node *node, struct job *job);
void session_stop(struct lbm_node *node, struct job *job);
/* Work units owned, less what leaves as soon as the application lets go. */
uint64_t session_load(const struct job *job);
void session_left(struct lbm_node *node, struct job *job); /* a vertex of the session is MOV, or came back */
void session_arrived(struct lbm_node *node, struct job *job, uint32_t vertex); /* ours, or refused */
void on_pair_open(struct lbm_node *node, const Lbm__Peer *message);
void on_pair_accept(struct lbm_node *node, const Lbm__Peer *message);
void on_pair_plan(struct lbm_node *node, const Lbm__Peer *message);
void on_pair_notice(struct lbm_node *node, const Lbm__Peer *message);

/* ---- exchange.c ------------------------------------------------------------------------------------- */

/* Slots of the own vertices that may move to the partner: those it pulls, and some layers behind them. */
typedef LBM_VEC(uint32_t) slot_list;
enum lbm_err exchange_band(struct lbm_node *node, struct job *job, uint32_t partner,
                           slot_list *band) LBM_MUST_CHECK;
/* Of the patch; LBM_NONE: it has none. */
uint32_t exchange_nearest_row(const struct lbm_node *node, const struct job *job, uint32_t partner);
struct exchange {
    LBM_VEC(uint32_t) give; /* own vertices, ids */
    LBM_VEC(uint32_t) take; /* the partner's, ids */
};
/* Decide what moves between this host and the partner, whose answer is `accept`. */
enum lbm_err exchange_decide(struct lbm_node *node, struct job *job, uint32_t partner,
                             const Lbm__PairAccept *accept, struct exchange *out) LBM_MUST_CHECK;

/* ---- columns.c: records on the wire ------------------------------------------------------------------ */

/* Columns of vertices, built row by row; free with columns_free. */
struct columns {
    Lbm__Records message;
    LBM_VEC(uint32_t) vertex, work, pin, anchored, degree, neighbour, weight, host;
    LBM_VEC(uint64_t) epoch;
    LBM_VEC(double) position;
    LBM_VEC(uint32_t) payload_len;
    struct lbm_buf payload;
    LBM_VEC(uint32_t) stage, peer, source, fin, bare;
    LBM_VEC(uint64_t) peer_incarnation, source_incarnation;
};
void columns_init(struct columns *columns);
/* Append a vertex as it would be owned at `epoch`; with_content: adjacency, hints and payload too. */
void columns_add(struct lbm_node *node, struct columns *columns, const struct job *job,
                 const struct lbm_vertex *vertex, uint64_t epoch, int with_content);
/* Append a record as it stands, for the buddy; bare: without the content that the buddy has already. */
void columns_add_replica(struct lbm_node *node, struct columns *columns, const struct job *job,
                         const struct lbm_vertex *vertex, int bare);
const Lbm__Records *columns_message(struct columns *columns);
void columns_free(struct columns *columns);
/* Where the content of a row begins, when a message is read row by row. */
struct columns_place {
    size_t half, payload;
};
/* Row i of a message as a record; moves `at` on to the next. Errors: LBM_E_NOMEM; row owns its content. */
enum lbm_err columns_row(const Lbm__Records *records, size_t i, struct columns_place *at, unsigned m,
                         uint64_t job, struct lbm_row *row) LBM_MUST_CHECK;
/* Nonzero if n lengths add up to the payloads of a message. */
int payload_fits(size_t n, const uint32_t *len, const ProtobufCBinaryData *payload);

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

/* ---- operate.c ---------------------------------------------------------------------------------------- */

void answer_host_change(struct lbm_node *node, const struct client *client, const Lbm__Request *request);
void answer_events(struct lbm_node *node, const struct client *client, const Lbm__Request *request);
/* After every entry of the control log: answers who waits for it. refusal: "" if it took effect. */
void operate_applied(struct lbm_node *node, const Lbm__Command *command, const char *refusal);
/* The client hears what the log makes of its command. */
void operate_await(struct lbm_node *node, const struct client *client, const Lbm__Command *command);
void operate_event(struct lbm_node *node, enum lbm_note_level level, const char *text);
void operate_gone(struct lbm_node *node, uint64_t client);
void operate_free(struct lbm_node *node);

#endif
