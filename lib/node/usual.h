/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long boundaries usually are: J of plans from nothing. The home draws some once a plan has been
 * answered, while nobody waits; the next plan compares the mapping there is with them. Only files of lib/node
 * include this, by state.h. */
#ifndef LBM_NODE_USUAL_H
#define LBM_NODE_USUAL_H

#include "base/mem.h"

struct usual {
    LBM_VEC(uint32_t) host;       /* that were planned with, in the order of their numbers */
    LBM_VEC(double) hop_bytes;    /* each one's part of J, the mean of draws now and before */
    uint32_t n_vertices;          /* of the guest then */
    LBM_VEC(double) drawn_so_far; /* the same, summed up, of those that are being drawn, */
    unsigned drawn;               /* so many of them */
};

void usual_free(struct usual *usual);

#endif
