/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Load data of DARMA/vt ("LBDatafile", JSON): per rank and phase the time of each task, and what tasks sent
 * to one another. Source: vt's manual, Node LB Data, and the schema of its validator.
 *
 * Owns: reading these files, and the trace that they make.  Never: guesses what a file does not say. */
#ifndef LBM_SIM_IMPORT_VT_H
#define LBM_SIM_IMPORT_VT_H

#include "base/mem.h"
#include "host/host.h"
#include "trace/trace.h"

/* What names a task: its id, or its number among those of a home. home LBM_NONE: not said. */
struct vt_key {
    int has_seq;
    int64_t number; /* id or seq_id */
    uint32_t home;  /* with has_seq */
};

/* One task in one phase. */
struct vt_sample {
    struct vt_key key;
    int64_t phase;
    uint32_t node;
    uint32_t file;
    int fixed; /* not migratable */
    double time_s;
};

struct vt_talk {
    struct vt_key from, to;
    uint32_t file;
    double bytes; /* of one phase */
};

/* A phase that a file has. */
struct vt_phase {
    int64_t id;
    uint32_t file;
};

struct vt_data {
    LBM_VEC(struct vt_sample) samples;
    LBM_VEC(struct vt_talk) talks;
    LBM_VEC(struct vt_phase) phases;
    uint32_t n_ranks;
    uint64_t n_other; /* tasks and communications that are not between objects */
};

/* Add a file. number: of the file. Errors: LBM_E_SYNTAX, LBM_E_RANGE, LBM_E_LIMIT, LBM_E_NOMEM; diag names
 * the file, and the line or the phase. */
enum lbm_err vt_read(const char *name, const char *text, size_t len, uint32_t number, struct vt_data *data,
                     struct lbm_diag *diag) LBM_MUST_CHECK;
void vt_free(struct vt_data *data);

/* What became of it. */
struct vt_scale {
    double load_s;      /* seconds of a unit of load */
    double edge_bytes;  /* bytes a phase of a unit of an edge */
    uint64_t n_unknown; /* communications with tasks that no phase has */
    uint32_t n_phases;
};

/* Make the trace: a phase every phase_s seconds, on h. Sorts the data.
 * Errors: LBM_E_SYNTAX (a task twice in a phase; no task), LBM_E_RANGE (more ranks than hosts), LBM_E_LIMIT,
 * LBM_E_NOMEM. *out owned by the caller. */
enum lbm_err vt_trace(struct vt_data *data, const struct lbm_hosts *h, double phase_s, struct lbm_trace *out,
                      struct vt_scale *scale, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
