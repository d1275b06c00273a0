/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A consistent cut of a job: what all hosts had of it at one moment, with the payloads of its vertices.
 *
 * Owns: the asking. While a cut is read hosts put off what applications keep and move no vertex. */
#ifndef LBM_CLIENT_CUT_H
#define LBM_CLIENT_CUT_H

#include <stdio.h>

#include "client/daemon.h"

struct lbm_cut_vertex {
    uint64_t epoch; /* 0: the guest has no such vertex any more */
    uint32_t host, work, pin, degree, payload_len;
    int is_blob;      /* the payload is kept in pieces: what is here only describes it */
    size_t edge_at;   /* in `edge` */
    off_t payload_at; /* in `payloads` */
};

struct lbm_cut_half {
    uint32_t to, weight;
};

struct lbm_cut {
    uint32_t ids;                  /* vertices that the guest has ever had */
    struct lbm_cut_vertex *vertex; /* [ids] */
    LBM_VEC(struct lbm_cut_half) edge;
    FILE *payloads; /* without a name; what vertices of the cut do not point to is void */
    off_t payloads_len;
    uint64_t present; /* vertices that there are, as hosts say */
    uint32_t next;    /* the host that is read next; 0: none is */
    uint64_t number;
    LBM_VEC(uint32_t) missing, torn; /* hosts */
    uint32_t n, n_pinned;            /* vertices that were found, */
    uint64_t bytes;                  /* and their payloads */
};

/* Read a job as it is at one moment; tries again a few times when hosts come, go or change edges meanwhile.
 * In:      dir: where there is room for its payloads.
 * Out:     *cut, to be freed in any case; *g: the guest, by id, with work and pins; vertices that are gone
 * have no edges and work 1. Freed by the caller. Status:  DONE; FAILED with a message: hosts do not answer,
 * or vertices are lost. */
enum lbm_status lbm_cut_take(struct lbm_daemon *daemon, const char *job, const char *dir, struct lbm_cut *cut,
                             struct lbm_graph *g);
void lbm_cut_free(struct lbm_cut *cut);

/* Append the payload of a vertex to out. Errors: LBM_E_IO, LBM_E_NOMEM. */
enum lbm_err lbm_cut_payload(const struct lbm_cut *cut, uint32_t vertex, struct lbm_buf *out,
                             struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
