/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the trace and the guest of load data of vt have in common. Not for others. */
#ifndef LBM_IMPORT_VT_INTERNAL_H
#define LBM_IMPORT_VT_INTERNAL_H

#include "import/vt.h"

/* A task over all phases: samples.at[first .. first + n), by phase. */
struct lbm_vt_task {
    size_t first, n;
    size_t now; /* the sample of the phase at hand, or the last before it */
};

struct lbm_vt_build {
    struct lbm_vt_data *data;
    const struct lbm_hosts *h; /* of a trace */
    struct lbm_graph *g;       /* the guest */
    struct lbm_trace *trace;   /* NULL: the guest alone is made */
    struct lbm_vt_scale *scale;
    struct lbm_diag *diag;
    LBM_VEC(struct lbm_vt_task) tasks;
    LBM_VEC(int64_t) phases;  /* ids, ascending */
    LBM_VEC(uint32_t) counts; /* by file: phases that it has */
};

/* Sort the samples and find the tasks. Errors: LBM_E_SYNTAX (a task twice in a phase; no task), LBM_E_NOMEM.
 */
enum lbm_err lbm_vt_find_tasks(struct lbm_vt_build *b) LBM_MUST_CHECK;

/* Find the phases. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_vt_find_phases(struct lbm_vt_build *b) LBM_MUST_CHECK;

/* Make b->g: a vertex a task, an edge a pair that talks, in bytes a phase. In: tasks and phases are found.
 * Errors: LBM_E_LIMIT, LBM_E_NOMEM. */
enum lbm_err lbm_vt_build_guest(struct lbm_vt_build *b) LBM_MUST_CHECK;

/* Choose b->scale->load_s: a task of mean time weighs 1000. */
void lbm_vt_choose_unit(struct lbm_vt_build *b);

/* What the task weighs in that phase. In: phases are asked for in ascending order. Out: *node, where it is.
 */
uint32_t lbm_vt_work_in(struct lbm_vt_build *b, struct lbm_vt_task *task, int64_t phase, uint32_t *node);

/* Write the name of a task, for people. */
void lbm_vt_name_key(const struct lbm_vt_key *key, char *out, size_t size);

/* Free what find_tasks and find_phases have made. */
void lbm_vt_build_free(struct lbm_vt_build *b);

#endif
