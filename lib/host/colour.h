/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edge colouring of arbitrary host graphs; not for other modules. */
#ifndef LBM_HOST_COLOUR_H
#define LBM_HOST_COLOUR_H

#include "host/host.h"

/* Koenig's Delta colours if h is bipartite, else at most Delta + 1 by Misra and Gries.
 * Out: colour [offset[n]], both directions equal, every number below the result used.
 * Returns the number of colours; 0 if there are no links, or memory is short.
 * Cost: O(links * (n + Delta^2)), n * (Delta + 1) * 2 bytes. */
uint32_t lbm_colour_general(const struct lbm_hosts *h, uint32_t *colour);

#endif
