/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a node remembers of the exchange of a job: rounds with neighbours, and flow computation. */
#ifndef LBM_NODE_EXCHANGE_STATE_H
#define LBM_NODE_EXCHANGE_STATE_H

#include "balance/balance.h"
#include "balance/flow_computation.h"
#include "base/mem.h"

/* ---- rounds ------------------------------------------------------------------------------------------ */

enum round_state {
    ROUND_NONE,
    ROUND_OPENED,   /* lower id: PAIR_OPEN sent */
    ROUND_AWAITED,  /* higher id: waiting for PAIR_OPEN */
    ROUND_ANSWERED, /* higher id: PAIR_ACCEPT sent */
    ROUND_MOVING,   /* plan known, handoffs in flight */
};

/* Reasons of a PairNotice, on the wire. */
enum lbm_notice {
    NOTICE_NOT_READY = 0, /* still mapping or placing: ask again */
    NOTICE_AHEAD = 1,     /* the sender is at this sweep and colour already */
    NOTICE_SETTLED = 2,   /* the sender knows that all around it are stable; it takes part when asked to */
    NOTICE_ASK = 3,       /* the sender waits: have you settled, or are you further? */
    NOTICE_STAYS = 4, /* vertices of the plan do not come: they have changed since the sender named them */
};

/* Links to the nearest host known to have room, and how much load that had room for when it said so (0: not
 * known). */
struct residual_hop {
    uint32_t hops;
    uint64_t room;
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
    struct residual_hop residual;
    uint64_t fingerprint, change_clock;
    int numbers, due;
    int64_t outstanding; /* by it to us */
    int64_t heard_us;
    int settled; /* it opens nothing by itself */
};

/* The way to room; the neighbour by which it leads (LBM_NONE: none is needed); the way by any other one. A
 * neighbour is told what does not lead through itself, so two hosts never take each other for the way to room
 * that is gone. */
struct residual {
    struct residual_hop best;
    uint32_t via;
    struct residual_hop other;
};

/* What rounds with a neighbour were like: how things stood on both sides when nothing moved, and how often
 * one of both had too much since the change with that number. */
struct unchanged {
    uint32_t host;
    uint64_t own, theirs; /* `fingerprint` of this host and of the other */
    uint32_t times;       /* in a row */
    int is_open; /* the last round decided nothing: whatever moved nothing before, the next one does */
    uint32_t escalated, restarts; /* and how often that began again */
    uint64_t change_clock;
};

/* What this host is to give a neighbour; negative: what it is to get. */
struct netted {
    uint32_t host;
    int64_t outstanding;
    uint64_t sweep; /* in which it last changed */
    int broken;     /* nothing of it could be given: the next rounds with that host exchange at once */
};

/* What a round is about, on the wire. */
enum round_kind {
    ROUND_KIND_EXCHANGE = 0, /* vertices, as both stand now */
    ROUND_KIND_NUMBERS = 1,  /* what is to move is agreed, nothing moves */
    ROUND_KIND_DELIVERY = 2, /* what was netted moves */
};

/* A link of this host. */
struct met_link {
    uint32_t host, colour;
};

struct rounds {
    enum round_state state;
    uint64_t sweep;
    uint32_t colour;
    uint32_t partner; /* host id */
    int64_t started_us;
    int64_t deadline_us;
    int64_t retry_us;           /* ask again, or INT64_MAX */
    uint32_t n_met;             /* partners met in this sweep */
    uint32_t n_unreachable;     /* partners passed over in this sweep: they do not take part */
    int was_unreachable;        /* there were some in the sweep before */
    uint32_t leaving;           /* our vertices not yet MOV */
    LBM_VEC(uint32_t) arriving; /* vertices whose FIN is awaited */
    struct lbm_termination termination;
    struct residual residual;       /* after the last sweep */
    struct residual residual_heard; /* in this sweep */
    uint64_t woken;                 /* sweep at which rounds last (re)started */
    int64_t woken_us;               /* the same as a time */
    LBM_VEC(struct early_open) early;
    LBM_VEC(struct unchanged) unchanged;
    LBM_VEC(struct netted) netted;
    uint32_t n_undelivered;     /* of them nothing could be given, since rounds began */
    enum round_kind round_kind; /* of the round that this host has answered */
    LBM_VEC(uint32_t) skipped;  /* hosts passed over since they did not take part, and not met since */
    int64_t visit_us;           /* SETTLED: one of them may be visited from then on */
    uint64_t fingerprint, fingerprint_heard; /* of the round in progress, this host's and the partner's */
    /* Changes from outside are numbered, as events by Lamport: a host that has too much after one of its own
     * takes the number after the highest that it has heard of. Vertices that move number nothing. */
    uint64_t change_clock;
    int has_changed; /* loads have changed here by themselves since */
};

/* ---- flow computation
 * ----------------------------------------------------------------------------------------- */

/* Flow computation of a job on this host: numbers first, then vertices. */
enum flow_state {
    FLOW_NONE,
    FLOW_NUMBERS,  /* the policy runs on virtual loads */
    FLOW_TRANSFER, /* flows are carried out */
};

/* What is to go over a link, or to come: one entry of the schedule. */
struct transfer_entry {
    uint32_t link;
    uint32_t ordinal; /* among the entries of its link and direction, from 1 */
    int64_t units;    /* > 0: this host gives */
    int64_t left;     /* not chosen yet */
    int has_started;
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
struct flow_run {
    uint64_t topology, policy_view;
};

struct flow_computation {
    enum flow_state state;
    struct flow_run run, over; /* in progress; the last that ended here */
    struct lbm_flow_computation numbers;
    LBM_VEC(struct transfer_link) links; /* in the order of numbers.links */
    LBM_VEC(struct transfer_entry) entries;
    uint64_t life; /* drawn when the numbers began */
    int forced;    /* level whatever the phase of others */
    int64_t tick_us;
    int64_t ask_us;
    int64_t progress_us; /* something was carried out or came */
    int64_t started_us;  /* the numbers, then the transfer */
    uint64_t available;  /* work that may go and does not yet */
    int64_t batch;       /* pipelined: so much at least is chosen at a time, what a message carries */
    uint64_t seen;       /* version of the shard at the last progress */
    uint64_t sweeps, words, flow, transfer_us; /* for those who ask */
};

#endif
