/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace run again: its hosts, its guest and its loads at its times, with the nodes that daemons run, in
 * virtual time. What the recorded cluster did is measured in the same way, for comparison.
 *
 * Owns: the numbering of hosts, the run of a run, what is measured.  Never: decides what moves. */
#ifndef LBM_SIM_EXPERIMENT_REPLAY_H
#define LBM_SIM_EXPERIMENT_REPLAY_H

#include "cli/command.h"
#include "node/node.h"
#include "sim/model/cluster.h"
#include "trace/trace.h"

enum { REPLAY_POLICIES_MAX = 16 };

struct replay_options {
    const char *file;
    uint32_t policy[REPLAY_POLICIES_MAX]; /* enum lbm_job_policy_code */
    uint32_t n_policies;
    uint32_t schedule; /* 1 + enum lbm_schedule; 0: as is usual */
    uint32_t gates;    /* bits of LBM_GATE_...: those that are told below */
    double cooldown_s, payback_s;
    uint64_t bytes_per_s, in_flight;
    double imbalance; /* 0: as recorded */
    uint64_t seed;
    int has_seed;         /* 0: as recorded */
    enum lbm_start start; /* LBM_START_COUNT: where vertices were */
    double rest_s;        /* given to the job to settle, at the beginning and in the end */
    int phases, json, quiet;
};

/* ---- hosts (place.c) ----------------------------------------------------------------------------------- */

/* The hosts of a trace by number: those of the beginning first, of these one that stays to the end. */
struct replay_place {
    struct lbm_hosts h; /* all that are ever there, with all their links */
    uint32_t n_first;   /* that many are there at the beginning */
    uint32_t *id;       /* [h.n] */
    uint32_t number[LBM_HOSTS_MAX];
    int stays; /* nonzero: number 0 is there all the time */
};

/* Errors: LBM_E_SYNTAX, LBM_E_RANGE (hosts that no way connects); LBM_E_NOMEM. */
enum lbm_err replay_place_make(const struct lbm_trace *trace, const char *name, struct replay_place *out,
                               struct lbm_diag *diag) LBM_MUST_CHECK;
void replay_place_free(struct replay_place *place);

/* ---- guests that change (guest.c) ---------------------------------------------------------------------- */

/* All that is ever in the trace, as it begins. Errors: LBM_E_NOMEM. */
enum lbm_err replay_guest_make(const struct lbm_trace *trace, struct lbm_graph *out) LBM_MUST_CHECK;

/* ---- what is measured (measure.c) ---------------------------------------------------------------------- */

/* Changes that belong together: it begins with a step that changes loads by a hundredth of the whole, or
 * hosts, three seconds at least after the last such step. */
struct replay_phase {
    double at_s;
    int is_change;        /* 0: the beginning, and what comes before the first change */
    uint64_t over;        /* work above the limits when it begins */
    double before, after; /* imbalance when it begins and when it ends */
    double mean, most;    /* in between, over time */
    double hop_bytes;     /* J when it ends */
    double hop_bytes_mean;
    uint64_t moved; /* work that changed its host */
    uint32_t moved_vertices;
    uint64_t messages, bytes;
    double settled_s; /* from its beginning until nothing more happened; < 0: something did up to its end */
};

struct replay_result {
    char policy[32]; /* "recorded": what the trace says */
    int is_recorded;
    int settled;                         /* in the end */
    char why[256];                       /* if not, or what went wrong */
    LBM_VEC(struct replay_phase) phases; /* the first is the beginning */
    /* Over all phases but the first. */
    double mean, most, end; /* imbalance */
    double hop_bytes_mean, hop_bytes_end;
    uint64_t moved;
    double moved_share; /* of the whole in the end */
    double passed_s;
    uint64_t messages, bytes;
    double settled_mean_s, settled_most_s; /* of those that settled */
    uint32_t n_changes, n_settled;         /* phases that a change began; of these, that settled */
    uint64_t hash;
};

/* The state that is measured: loads and capacities of the trace at some time, and where vertices are. */
struct replay_state {
    const struct lbm_trace *trace;
    const struct replay_place *place;
    double bound;
    struct lbm_graph
        g;            /* the guest with present loads and edges, of all that is ever there; work 0: is not */
    uint32_t n_there; /* vertices that are there */
    uint32_t *part;   /* [g.n] numbers of hosts */
    uint8_t *is_new;  /* [g.n] has not been anywhere yet: where it is first is no move */
    uint64_t *load;   /* [h.n] scratch */
    double *capacity; /* [h.n] */
    uint8_t *participates; /* [h.n] and is not about to leave */
    uint64_t hop_bytes;    /* of part, if is_known */
    int is_known;
};

enum lbm_err replay_state_make(const struct lbm_trace *trace, const struct replay_place *place, double bound,
                               struct replay_state *out) LBM_MUST_CHECK;
void replay_state_free(struct replay_state *state);

/* The event changes loads, vertices, capacities, or who takes part. Edges change with a whole step,
 * afterwards. */
void replay_state_event(struct replay_state *state, const struct lbm_trace_event *event);
enum lbm_err replay_state_edges(struct replay_state *state, const struct lbm_trace_step *step) LBM_MUST_CHECK;
/* Take vertices where they are now, LBM_NONE: as before. Adds to *work and *vertices what has moved. */
void replay_state_owners(struct replay_state *state, const uint32_t *part, uint64_t *work,
                         uint32_t *vertices);

/* Which steps begin a phase: [trace->steps.n], owned by the caller. NULL: memory is short. */
uint8_t *replay_phases_find(const struct lbm_trace *trace);

/* A phase begins, time passes with the state as it is, it ends. */
struct replay_watch {
    struct replay_phase phase;
    double imbalance_s, hop_bytes_s, passed_s; /* integrals */
};
void replay_watch_begin(struct replay_watch *watch, struct replay_state *state, double at_s, int is_change);
void replay_watch_pass(struct replay_watch *watch, struct replay_state *state, double seconds);
enum lbm_err replay_watch_end(struct replay_watch *watch, struct replay_state *state,
                              struct replay_result *result) LBM_MUST_CHECK;
void replay_summarize(struct replay_state *state, struct replay_result *result);

/* ---- runs (run.c, recorded.c) ----------------------------------------------------------------------- */

/* Errors: LBM_E_NOMEM. *result owned by the caller, also if the run failed: result->why says why. */
enum lbm_err replay_run(const struct lbm_trace *trace, const struct replay_place *place,
                        const struct replay_options *options, uint32_t policy,
                        struct replay_result *result) LBM_MUST_CHECK;
enum lbm_err replay_recorded(const struct lbm_trace *trace, const struct replay_place *place,
                             const struct replay_options *options,
                             struct replay_result *result) LBM_MUST_CHECK;
void replay_result_free(struct replay_result *result);

/* ---- the command (options.c, command.c, report.c) ------------------------------------------------------ */

/* Run the trace o->file with each policy, or with the recorded one if none is told; print what happened. */
enum lbm_status replay_command(const struct lbm_cli *cli, struct replay_options *o);
void replay_print(const struct replay_options *options, const struct lbm_trace *trace,
                  const struct replay_place *place, const struct replay_result *results, size_t n);

#endif
