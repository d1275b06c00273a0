/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cutting convex polygons by half-planes; not for other modules. */
#ifndef LBM_SPACE_POLYGON_H
#define LBM_SPACE_POLYGON_H

#include "space/space.h"

/* A polygon that is being cut. Two buffers, since a cut reads one and writes the other. */
struct lbm_cutting {
    uint32_t n;
    uint32_t room;
    double (*corner)[2];
    double (*spare)[2];
};

/* Begin with an axis-parallel box. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_cutting_begin(struct lbm_cutting *c, const double lo[2], const double hi[2]) LBM_MUST_CHECK;

/* Keep the part where normal . x <= offset. Errors: LBM_E_NOMEM, unchanged. */
enum lbm_err lbm_cutting_cut(struct lbm_cutting *c, const double normal[2], double offset) LBM_MUST_CHECK;

/* Nothing is left. */
void lbm_cutting_empty(struct lbm_cutting *c);

/* Hand the polygon over, or release all. */
void lbm_cutting_finish(struct lbm_cutting *c, struct lbm_polygon *out);
void lbm_cutting_free(struct lbm_cutting *c);

#endif
