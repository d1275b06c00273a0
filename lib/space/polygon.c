/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "space/polygon.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { ROOM_FIRST = 16 }; /* a cell has six corners on average */

enum lbm_err
lbm_cutting_begin(struct lbm_cutting *c, const double lo[2], const double hi[2])
{
    *c = (struct lbm_cutting){.n = 4, .room = ROOM_FIRST};
    c->corner = lbm_alloc(ROOM_FIRST, sizeof *c->corner);
    c->spare = lbm_alloc(ROOM_FIRST, sizeof *c->spare);
    if (c->corner == NULL || c->spare == NULL) {
        lbm_cutting_free(c);
        return LBM_E_NOMEM;
    }
    const double box[4][2] = {{lo[0], lo[1]}, {hi[0], lo[1]}, {hi[0], hi[1]}, {lo[0], hi[1]}};
    memcpy(c->corner, box, sizeof box);
    return LBM_OK;
}

static enum lbm_err
grow(struct lbm_cutting *c)
{
    uint32_t room = 2 * c->room;
    double(*spare)[2] = lbm_alloc(room, sizeof *spare), (*corner)[2] = lbm_alloc(room, sizeof *corner);
    if (spare == NULL || corner == NULL) {
        free(spare);
        free(corner);
        return LBM_E_NOMEM;
    }
    memcpy(corner, c->corner, c->n * sizeof *corner);
    free(c->corner);
    free(c->spare);
    c->corner = corner;
    c->spare = spare;
    c->room = room;
    return LBM_OK;
}

static double
beyond(const double x[2], const double normal[2], double offset)
{
    return normal[0] * x[0] + normal[1] * x[1] - offset;
}

enum lbm_err
lbm_cutting_cut(struct lbm_cutting *c, const double normal[2], double offset)
{
    uint32_t outside = 0;
    for (uint32_t i = 0; i < c->n; i++)
        outside += beyond(c->corner[i], normal, offset) > 0.0;
    if (outside == 0)
        return LBM_OK;
    if (c->n + 2 > c->room && grow(c) != LBM_OK)
        return LBM_E_NOMEM;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const double *a = c->corner[i], *b = c->corner[i + 1 < c->n ? i + 1 : 0];
        double da = beyond(a, normal, offset), db = beyond(b, normal, offset);
        if (da <= 0.0)
            memcpy(c->spare[n++], a, sizeof *c->spare);
        if ((da < 0.0 && db > 0.0) || (da > 0.0 && db < 0.0)) {
            double t = da / (da - db);
            c->spare[n][0] = a[0] + t * (b[0] - a[0]);
            c->spare[n++][1] = a[1] + t * (b[1] - a[1]);
        }
    }
    double(*old)[2] = c->corner;
    c->corner = c->spare;
    c->spare = old;
    c->n = n < 3 ? 0 : n; /* a corner or an edge has no area */
    return LBM_OK;
}

void
lbm_cutting_empty(struct lbm_cutting *c)
{
    c->n = 0;
}

void
lbm_cutting_finish(struct lbm_cutting *c, struct lbm_polygon *out)
{
    *out = (struct lbm_polygon){.n = c->n, .corner = c->corner};
    c->corner = NULL;
    lbm_cutting_free(c);
}

void
lbm_cutting_free(struct lbm_cutting *c)
{
    free(c->corner);
    free(c->spare);
    *c = (struct lbm_cutting){0};
}

double
lbm_polygon_area(const struct lbm_polygon *polygon)
{
    double twice = 0.0;
    /* Around the first corner, so that a small cell far from the origin keeps its digits. */
    for (uint32_t i = 1; i + 1 < polygon->n; i++) {
        const double *o = polygon->corner[0], *a = polygon->corner[i], *b = polygon->corner[i + 1];
        twice += (a[0] - o[0]) * (b[1] - o[1]) - (b[0] - o[0]) * (a[1] - o[1]);
    }
    return 0.5 * twice;
}

void
lbm_polygon_free(struct lbm_polygon *polygon)
{
    free(polygon->corner);
    *polygon = (struct lbm_polygon){0};
}
