/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All that a node remembers. Only files of lib/node include this, by internal.h. */
#ifndef LBM_NODE_STATE_H
#define LBM_NODE_STATE_H

#include "balance/balance.h"
#include "balance/level.h"
#include "base/rng.h"
#include "embed/embed.h"
#include "node/moves.h"
#include "node/node.h"
#include "node/shard.h"
#include "node/transitions.h"
#include "node/view.h"
#include "space/space.h"

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
    uint64_t address; /* last dialled: its hash, since there may be thousands of peers */
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
    uint32_t old_used; /* applications that had vertices in the life before; UINT32_MAX: fenced by
                          application_fence */
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
    uint64_t whole;
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

/* A link of this host. */
struct met_link {
    uint32_t host, colour;
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
    int forced;    /* level whatever the phase of others */
    int64_t tick_us;
    int64_t ask_us;
    int64_t progress_us; /* something was carried out or came */
    int64_t begun_us;    /* the numbers, then the transfer */
    uint64_t available;  /* work that may go and does not yet */
    int64_t batch;       /* pipelined: so much at least is chosen at a time, what a message carries */
    uint64_t seen;       /* version of the shard at the last progress */
    uint64_t sweeps, words, flow, transfer_us; /* for those who ask */
};

/* What a host's own vertices contribute to a renormalization. */
struct host_moments {
    uint32_t host;
    uint64_t stamp;
    struct lbm_moments moments;
};

/* Vertices that wish to go to one host. */
struct wish_list {
    uint32_t host, first, n;
    uint32_t at;        /* where the search for those that may go goes on */
    uint32_t under_way; /* OUT, to that host */
};

struct wishes {
    LBM_VEC(struct wish_list) lists; /* by host id */
    LBM_VEC(uint32_t) slots;         /* of vertices; list i has n of them from first on */
    int are_listed;                  /* nobody has a wish since that is on no list */
};

/* What hosts of neighbours have yet to be told. */
enum ghosts_due { GHOSTS_NONE, GHOSTS_CHANGES, GHOSTS_ALL };

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
    enum ghosts_due ghosts_due;
    int64_t ghosts_us;     /* last sent */
    int64_t ghosts_all_us; /* the same, all of them */
    double ghosts_largest; /* displacement not yet told */
    int64_t where_us;      /* everybody may be asked again from then on */

    /* handoff */
    LBM_VEC(uint32_t) out; /* slots of vertices that are, or just were, OUT */
    struct wishes wishes;
    int64_t offers_us;            /* next look at offers without answer; INT64_MAX: none out */
    LBM_VEC(uint32_t) unfinished; /* slots of records whose source has not said FIN */
    int64_t finish_us;            /* next look at them; INT64_MAX: there are none */
    LBM_VEC(uint32_t) tombstones; /* slots of MOV and REF */
    int64_t collect_us;           /* next look at them; INT64_MAX: there are none */
    LBM_VEC(uint32_t) releasing;  /* slots of vertices that an application was asked to release */
    uint64_t moved;               /* handed over so far */

    int drifts;      /* loads are reported, here or elsewhere */
    double lag;      /* what reports, smoothed, say this host has beyond what records do; work units */
    uint64_t whole;  /* what the loads of all hosts add up to then; 0: as submitted */
    int64_t load_us; /* when they are added up next */

    int64_t drain_us; /* DRAINING: when vertices without a wish are looked for next */
    int was_settled; /* in this life: what moves now follows a change */
    int64_t cool_us; /* a vertex that was kept back may move then; INT64_MAX: there is none */
    uint64_t n_cooled;
    double budget_bytes; /* that may go now; < 0: gone beyond it */
    int64_t budget_us;   /* as of then; 0: nothing has gone */
    int was_short;       /* there was none when something might have gone */
    struct session session;
    struct levelling level;
    uint64_t weighed_load, weighed_limit; /* SETTLED: when they were last compared */
    int64_t overload_us;                  /* SETTLED with too much, though loads drift: tried again then */
    uint32_t n_overloads;                 /* so often in a row */
    LBM_VEC(struct pulse) pulses;
    struct lbm_idmap pulse_at;  /* host: its place in pulses */
    enum lbm_phase heard_phase; /* most advanced one heard from anybody so far */
    int64_t checkpoint_us;      /* next, INT64_MAX: positions are stored */
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
    int explain;               /* nonzero: and the moves of the only one */
    LBM_VEC(Lbm__Move) moves;
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
    struct measured measured;
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
    struct lbm_views *views; /* of all nodes of this process; NULL: the view is this node's own */
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
    LBM_VEC(struct move) moves;        /* number i at (i - 1) % LBM_MOVES_MAX */
    uint64_t n_moves;                  /* ever */

    LBM_VEC(struct met_link) met; /* this host's links as sessions last saw them, by host */

    int starting;       /* the stored log is being read: nothing follows from it yet */
    uint64_t topology;  /* of the view, when jobs last took notice */
    uint32_t soft_held; /* lossy messages that wait for the disk, the last of them for this transaction: */
    uint64_t soft_after;
    uint64_t n_sent, n_received, bytes_sent, bytes_received, n_handoffs;
};

#endif
