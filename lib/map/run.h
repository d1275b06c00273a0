/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan by levels in progress: what its stages share. For multilevel.c, portfolio.c and memetic.c only. */
#ifndef LBM_MAP_RUN_H
#define LBM_MAP_RUN_H

#include "embed/embed.h"
#include "map/internal.h"

enum {
    PIVOTS = 30, /* of the coarsest level's coordinates */
    SWEEPS = 30,
    STALL_LIMIT = 100,
};

enum { RUN_MEMBERS_MAX = 8 /* of an evolution */ };

enum start_name { REGIONS, PLANE_REGIONS, OUTER_FACE, HALVING, STARTS };

/* Annealed V-cycles, one after the other; each keeps what it finds if that is not worse. */
struct annealing {
    int cycles;
    uint32_t draws_vertex; /* on each level, for a vertex of the guest */
    uint32_t draws_max;    /* on each level */
};

/* Several mappings annealed apart, then combined two by two. */
struct evolution {
    uint32_t members;        /* 0: none */
    uint32_t generations;    /* of combinations */
    double seconds_alone;    /* of the processor, about, for each member; counted in draws, not by a clock */
    double seconds_together; /* for each combination */
};

/* What an effort stands for. */
struct effort {
    uint32_t portfolio_max; /* starts compete on the finest level of at most that many vertices */
    uint32_t refine_max;    /* the best one is annealed on the finest level of at most that many */
    int turns;              /* of all starts */
    uint8_t skip[STARTS];   /* starts that are left out */
    int drawing;            /* a guest larger than the portfolio level is drawn and cut itself, too */
    int quick;              /* starts try less */
    int rounds;             /* of refinement on a level */
    int rounds_final;       /* of refinement on the portfolio level, the refine level and the guest */
    int vcycles_start;      /* of each start, and of a guest larger than the refine level */
    int vcycles_best;       /* of the best start */
    struct staging staging; /* of recursive bisection */
    struct annealing start; /* of each start */
    struct annealing best;  /* of the best start */
    struct evolution evolution;
};

struct run {
    const struct problem *problem;
    const struct lbm_hosts *h;
    struct lbm_hosts plane; /* borrows h with sites in the plane; n is 0 if there are none */
    double *plane_site;     /* [2 * hosts] */
    const struct lbm_plan_options *options;
    const struct effort *effort;
    const uint64_t *limit, *least;
    uint64_t *load; /* [hosts] scratch */
    uint32_t *work; /* [n] scratch */
    struct lbm_levels levels;
    uint32_t portfolio_level, refine_level; /* levels */
    struct lbm_rng rng;
    struct lbm_plan *plan; /* part is that of the level at hand; x those of the coarsest level */
};

/* A level as the stages see it; its part is the plan's. */
struct mapping run_mapping(const struct run *run, uint32_t level);

void run_tell(const struct run *run, const char *stage, double done);

/* Bring part from one level to a finer one, refining on each.  Errors: LBM_E_NOMEM. */
enum lbm_err run_uncoarsen(struct run *run, uint32_t from, uint32_t to) LBM_MUST_CHECK;

/* Balance, and refine on all levels inside hosts.  Errors: LBM_E_NOMEM. */
enum lbm_err run_refine(struct run *run, uint32_t level, int vcycles) LBM_MUST_CHECK;

/* Errors: LBM_E_NOMEM. */
enum lbm_err run_anneal(struct run *run, uint32_t level, const struct annealing *how) LBM_MUST_CHECK;

/* A run of its own for a task that may work next to others: borrows all that does not change, and owns part,
 * coordinates of the coarsest level, and scratch for levels from `level` on. Random numbers are those of the
 * stream `index`.
 * Errors: LBM_E_NOMEM; to be closed all the same. */
enum lbm_err run_fork(const struct run *run, uint32_t level, uint64_t index, struct run *own) LBM_MUST_CHECK;
void run_close(struct run *own);

/* Make all starts of the effort on the portfolio level; the best of them come to the pool. Stopped early, at
 * least one has been made.  Errors: LBM_E_NOMEM. */
enum lbm_err run_portfolio(struct run *run, struct pool *pool) LBM_MUST_CHECK;

/* Anneal the mappings of a level that the pool holds, combine them, and put the best into part.
 * Errors: LBM_E_NOMEM. */
enum lbm_err run_memetic(struct run *run, uint32_t level, struct pool *pool) LBM_MUST_CHECK;

#endif
