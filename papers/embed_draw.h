/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames of an embedding that settles: the guest over the regions of the hosts, and the spectrum of its
 * error. */
#ifndef LBM_PAPERS_EMBED_DRAW_H
#define LBM_PAPERS_EMBED_DRAW_H

#include "base/mem.h"
#include "graph/graph.h"
#include "host/host.h"
#include "papers/lattice.h"

/* x [2n] in the unit square; radius [n] of vertices that are circles, or NULL; caption below the frame.
 * Errors: LBM_E_NOMEM. */
enum lbm_err draw_embedding(const struct lbm_graph *g, const struct lbm_hosts *h, const double *x,
                            const double *radius, const char *caption, struct lbm_buf *out) LBM_MUST_CHECK;

/* HEI97 Fig. 8: amplitudes of the modes of both axes, from 10^-6 cells (white) to 10 (black). */
void draw_spectrum(const struct lattice *l, const char *caption, struct lbm_buf *out);

#endif
