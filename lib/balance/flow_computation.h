/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flow computation: one host's part of a load policy that runs on numbers between hosts that see their
 * neighbours alone (XL95's first phase). What comes out are flows on links; moving vertices is somebody
 * else's.
 *
 * Links meet step by step as the policy has it. In an exchange both ends tell their loads, and both compute
 * the flow of the link from the two: nobody decides for the other, and no step waits for more than its
 * partners. A word that is lost is repeated; a partner that is gone is closed: what only one side has counted
 * is undone when they hear of one another again, so flows agree and load is conserved.
 *
 * Owns: virtual loads, exchanges, termination.  Never: sends, waits, moves. */
#ifndef LBM_BALANCE_FLOW_COMPUTATION_H
#define LBM_BALANCE_FLOW_COMPUTATION_H

#include "balance/balance.h"
#include "balance/policy.h"
#include "base/mem.h"
#include "base/rng.h"

/* What one end says of an exchange. */
struct lbm_flow_word {
    uint64_t exchange; /* of this link, from 0; final: the first that will not be; UINT64_MAX: none counts */
    double load;
    uint32_t counter;
    int has_changed; /* somebody was over the limit when it all began */
    int final;       /* no more exchanges */
    int again;       /* said again to one that lacked it: not to be answered */
};

struct lbm_flow_link {
    /* the caller's */
    uint32_t number; /* among all links of the network, as the other end has it */
    uint32_t colour;
    int is_lower;          /* this host is the end with the lower number */
    double share;          /* of the other end */
    double alpha;          /* of diffusion, lbm_rule_alpha; 0: the rule's */
    const uint32_t *rival; /* [n_rivals] random-matching: the other links at either end; copied */
    uint32_t n_rivals;
    /* results */
    double out; /* net flow from this host, < 0: it receives */
    /* internal */
    uint64_t met;
    uint64_t final_at; /* told by the other side, else UINT64_MAX */
    int is_closed;     /* by this side, or by undoing */
    int heard[2];
    struct lbm_flow_word word[2]; /* by parity of the exchange */
    struct lbm_flow_word said[2];
    double before;    /* out, before the last exchange */
    double last;      /* flow of the last exchange, outwards */
    int is_matched;   /* random-matching, in the present step */
    size_t rivals_at; /* in lbm flow computation.rivals */
};

/* What one exchange gave, in order: for schedules that keep it. */
struct lbm_flow_round {
    uint32_t link;
    double out;
};

struct lbm_flow_config {
    const struct lbm_rule *rule; /* copied; not of LBM_TURNS_GLOBAL */
    uint32_t n_colours, n_all_links;
    uint32_t diameter;
    double share, target, limit; /* of this host */
    double unit;                 /* random draws move so much at a time, the same everywhere; 0: 1 */
    uint64_t seed;               /* the same everywhere */
    uint64_t sweeps_max;         /* the same everywhere; 0: what is usual */
};

struct lbm_flow_said {
    uint32_t link;
    struct lbm_flow_word word;
};

struct lbm_flow_computation {
    struct lbm_flow_config config;
    struct lbm_rule rule;
    enum lbm_turns turns;
    int integer;
    double load; /* virtual */
    LBM_VEC(struct lbm_flow_link) links;
    LBM_VEC(struct lbm_flow_round) rounds; /* exchange by colours only */
    LBM_VEC(uint32_t) rivals;
    LBM_VEC(struct lbm_flow_said) outbox; /* for the caller to send and to empty */
    struct lbm_termination termination;
    struct lbm_rng rng;
    struct lbm_pace pace;
    double omega;
    uint64_t sweep, step; /* steps in the sweep */
    uint64_t t;           /* steps of diffusion */
    uint32_t drawn;
    int begun; /* the present step has been told to its partners */
    int moved; /* in this sweep */
    int has_changed;
    int is_running;
    uint64_t n_words; /* said, repetitions too */
};

/* Begin with the load; takes the first words to the outbox. links [n]: the caller's part filled in.
 * Errors: LBM_E_NOMEM. */
enum lbm_err lbm_flow_start(struct lbm_flow_computation *flow, const struct lbm_flow_config *config,
                            double load, const struct lbm_flow_link *links, size_t n) LBM_MUST_CHECK;
void lbm_flow_free(struct lbm_flow_computation *flow);

/* A word from the other end.  Errors: LBM_E_NOMEM. */
enum lbm_err lbm_flow_hear(struct lbm_flow_computation *flow, uint32_t link,
                           const struct lbm_flow_word *word) LBM_MUST_CHECK;
/* The other end is gone: go on without it.  Errors: LBM_E_NOMEM. */
enum lbm_err lbm_flow_close(struct lbm_flow_computation *flow, uint32_t link) LBM_MUST_CHECK;
/* The other end has begun again: go on without it, and tell it so, however often.  Errors: LBM_E_NOMEM. */
enum lbm_err lbm_flow_refuse(struct lbm_flow_computation *flow, uint32_t link) LBM_MUST_CHECK;
/* Say again what partners that are waited for may have lost.  Errors: LBM_E_NOMEM. */
enum lbm_err lbm_flow_repeat(struct lbm_flow_computation *flow) LBM_MUST_CHECK;
/* Nonzero if the step in progress waits for that link. */
int lbm_flow_waits(const struct lbm_flow_computation *flow, uint32_t link);

/* Whole units that this host gives over a link in the end, < 0: it receives; 0 if nobody was over the limit.
 */
int64_t lbm_flow_result(const struct lbm_flow_computation *flow, uint32_t link);

#endif
