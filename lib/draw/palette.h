/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A colour for each host: pastel for its region, strong for its vertices, unlike those of hosts nearby. */
#ifndef LBM_DRAW_PALETTE_H
#define LBM_DRAW_PALETTE_H

#include <stdint.h>

struct lbm_colour {
    double r, g, b; /* sRGB, 0 .. 1 */
};

struct lbm_host_colours {
    struct lbm_colour pastel, strong;
};

/* Choose colours. In: anchor [2n], where the hosts are.  Out: colour [n].
 * Cost: O(n^2) up to 1,024 hosts; above, colours go around the circle and neighbours may be alike. */
void lbm_palette(uint32_t n, const double *anchor, struct lbm_host_colours *colour);

#endif
