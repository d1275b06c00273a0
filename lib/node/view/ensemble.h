/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ensemble of etcd that daemons run for the control log (protocol.md section 2): who its members are.
 * What the log says; who proposes it is log/ensemble.c, who runs it is the shell. */
#ifndef LBM_NODE_VIEW_ENSEMBLE_H
#define LBM_NODE_VIEW_ENSEMBLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/numbers.h"

/* Steps of Ensemble on the wire. */
#define LBM_ENSEMBLE_STEP_LIST(X)                                                                            \
    X(FORM, 0, "form")     /* these hosts start a new ensemble; the log is not in it yet */                  \
    X(MOVE, 1, "move")     /* the last entry that a daemon orders: the next one is in the ensemble */        \
    X(CHANGE, 2, "change") /* a member is removed, or added, or one takes another's place */

enum lbm_ensemble_step {
#define LBM_ENSEMBLE_STEP_ENUM(id, number, name) LBM_ENSEMBLE_##id = number,
    LBM_ENSEMBLE_STEP_LIST(LBM_ENSEMBLE_STEP_ENUM)
#undef LBM_ENSEMBLE_STEP_ENUM
        LBM_ENSEMBLE_STEP_COUNT = 0 LBM_ENSEMBLE_STEP_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_ENSEMBLE_STEP_LIST, LBM_ENSEMBLE_STEP_COUNT);

/* Where operators want the log. */
#define LBM_LOG_PLACE_LIST(X)                                                                                \
    X(AUTO, 0, "auto")   /* an ensemble once enough hosts can run one; else a daemon */                      \
    X(LOCAL, 1, "local") /* a daemon orders it */                                                            \
    X(ETCD, 2, "etcd")   /* an ensemble */

enum lbm_log_place {
#define LBM_LOG_PLACE_ENUM(id, number, name) LBM_LOG_PLACE_##id = number,
    LBM_LOG_PLACE_LIST(LBM_LOG_PLACE_ENUM)
#undef LBM_LOG_PLACE_ENUM
        LBM_LOG_PLACE_COUNT = 0 LBM_LOG_PLACE_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_LOG_PLACE_LIST, LBM_LOG_PLACE_COUNT);

/* What pings say of their sender. */
#define LBM_ETCD_ABILITY_LIST(X)                                                                             \
    X(UNKNOWN, 0, "unknown") /* a version that knows no ensembles, or not heard yet */                       \
    X(NONE, 1, "none")       /* it follows an ensemble, and runs no member */                                \
    X(RUNS, 2, "runs")       /* it can run a member */

enum lbm_etcd_ability {
#define LBM_ETCD_ABILITY_ENUM(id, number, name) LBM_ETCD_ABILITY_##id = number,
    LBM_ETCD_ABILITY_LIST(LBM_ETCD_ABILITY_ENUM)
#undef LBM_ETCD_ABILITY_ENUM
        LBM_ETCD_ABILITY_COUNT = 0 LBM_ETCD_ABILITY_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_ETCD_ABILITY_LIST, LBM_ETCD_ABILITY_COUNT);

/* A host that has lost its disk or was evicted has another incarnation, and is no member any more. A host
 * that becomes a member again is another one: `since` differs. */
struct lbm_ensemble_member {
    uint32_t host;
    uint64_t incarnation;
    uint64_t since; /* index of the entry that made it a member */
};

struct lbm_ensemble {
    uint64_t id;      /* 0: there is none */
    uint64_t moved;   /* index of the entry that moved the log into it; 0: it is being formed */
    uint64_t changed; /* index of the last entry about its members */
    uint32_t n;
    struct lbm_ensemble_member member[LBM_ENSEMBLE_MAX];
};

/* The member of that host, or NULL. */
static inline const struct lbm_ensemble_member *
lbm_ensemble_member(const struct lbm_ensemble *ensemble, uint32_t host)
{
    for (uint32_t i = 0; i < ensemble->n; i++)
        if (ensemble->member[i].host == host)
            return &ensemble->member[i];
    return NULL;
}

#endif
