/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Load data of DARMA/vt ("LBDatafile", JSON): per rank and phase the time of each task, and what tasks sent
 * to one another. Source: vt's manual, Node LB Data, and the schema of its validator.
 *
 * Owns: reading these files, and the trace or the guest that they make.  Never: guesses what a file does not
 * say. */
#ifndef LBM_IMPORT_VT_H
#define LBM_IMPORT_VT_H

#include "base/mem.h"
#include "host/host.h"
#include "trace/trace.h"

/* What names a task: its id, or its number among those of a home. home LBM_NONE: not said. */
struct lbm_vt_key {
    int has_seq;
    int64_t number; /* id or seq_id */
    uint32_t home;  /* with has_seq */
};

/* One task in one phase. */
struct lbm_vt_sample {
    struct lbm_vt_key key;
    int64_t phase;
    uint32_t node;
    uint32_t file;
    int fixed; /* not migratable */
    double time_s;
};

struct lbm_vt_talk {
    struct lbm_vt_key from, to;
    uint32_t file;
    double bytes; /* of one phase */
};

/* A phase that a file has. */
struct lbm_vt_phase {
    int64_t id;
    uint32_t file;
};

struct lbm_vt_data {
    LBM_VEC(struct lbm_vt_sample) samples;
    LBM_VEC(struct lbm_vt_talk) talks;
    LBM_VEC(struct lbm_vt_phase) phases;
    uint32_t n_ranks;
    uint64_t n_other; /* tasks and communications that are not between objects */
};

/* Add a file. number: of the file. Errors: LBM_E_SYNTAX, LBM_E_RANGE, LBM_E_LIMIT, LBM_E_NOMEM; diag names
 * the file, and the line or the phase. */
enum lbm_err lbm_vt_read(const char *name, const char *text, size_t len, uint32_t number,
                         struct lbm_vt_data *data, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Read files, one a rank, gzipped or not.
 * Errors: as lbm_vt_read; LBM_E_UNSUPPORTED, a file is compressed by brotli; LBM_E_IO. */
enum lbm_err lbm_vt_read_files(const char *const *files, size_t n, struct lbm_vt_data *data,
                               struct lbm_diag *diag) LBM_MUST_CHECK;

/* Free what was read. */
void lbm_vt_free(struct lbm_vt_data *data);

/* What became of it. */
struct lbm_vt_scale {
    double load_s;      /* seconds of a unit of load */
    double edge_bytes;  /* bytes a phase of a unit of an edge */
    uint64_t n_unknown; /* communications with tasks that no phase has */
    uint32_t n_phases;
};

/* Make the trace: a phase every phase_s seconds, on h. Sorts the data.
 * Errors: LBM_E_SYNTAX (a task twice in a phase; no task), LBM_E_RANGE (more ranks than hosts), LBM_E_LIMIT,
 * LBM_E_NOMEM. *out owned by the caller. */
enum lbm_err lbm_vt_trace(struct lbm_vt_data *data, const struct lbm_hosts *h, double phase_s,
                          struct lbm_trace *out, struct lbm_vt_scale *scale,
                          struct lbm_diag *diag) LBM_MUST_CHECK;

/* Make the guest: works are means over all phases (a task of mean time weighs 1000), names say the ids, and
 * what does not migrate is pinned to its rank. Sorts the data.
 * Errors: LBM_E_SYNTAX, LBM_E_LIMIT, LBM_E_NOMEM, as above. *out owned by the caller. */
enum lbm_err lbm_vt_guest(struct lbm_vt_data *data, struct lbm_graph *out, struct lbm_vt_scale *scale,
                          struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
