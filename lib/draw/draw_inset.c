/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An inset: graded meshes have most of their vertices in a small place, which is shown again, larger. */
#include <math.h>
#include <stdlib.h>

#include "draw/draw.h"

enum { INSET_SIZE = LEGEND_RIGHT - LEGEND_LEFT, INSET_TOP = MAP_TOP + MAP_SIZE - INSET_SIZE };

/* The middle half of the vertices is crowded if it takes less than this share of the map's width. */
static const double crowded = 0.30;

/* How much of the surroundings is shown: the side of the inset to that of the middle half. */
static const double surroundings = 2.1;

static int
ascending(const void *a, const void *b)
{
    double s = *(const double *)a, t = *(const double *)b;
    return s < t ? -1 : s > t;
}

/* First and third quartile of the vertices' coordinate k. room [n]. */
static void
quartiles(const struct lbm_scene *scene, int k, double *room, double *low, double *high)
{
    for (size_t v = 0; v < scene->n; v++)
        room[v] = scene->x[2 * v + (size_t)k];
    qsort(room, scene->n, sizeof *room, ascending);
    *low = room[scene->n / 4];
    *high = room[scene->n - 1 - scene->n / 4];
}

void
lbm_canvas_find_crowd(struct lbm_canvas *canvas)
{
    const struct lbm_scene *scene = canvas->scene;
    /* The list of hosts takes the room of the inset, unless it is short or only a summary. */
    if (scene->n == 0 ||
        (scene->n_hosts > LBM_HOSTS_LISTED_NEXT_TO_INSET_MAX && scene->n_hosts <= LBM_HOSTS_LISTED_MAX))
        return;
    double *room = lbm_alloc(scene->n, sizeof *room);
    if (room == NULL) {
        canvas->err = LBM_E_NOMEM;
        return;
    }
    double side = 0.0;
    for (int k = 0; k < 2; k++) {
        double low, high;
        quartiles(scene, k, room, &low, &high);
        canvas->crowd[k] = (low + high) / 2.0;
        side = fmax(side, high - low);
    }
    free(room);
    if (side * canvas->scale < crowded * MAP_SIZE)
        canvas->crowd_side = surroundings * side;
}

static void
frame(struct lbm_canvas *canvas, double left, double top, double size)
{
    cairo_rectangle(canvas->cr, left, top, size, size);
    lbm_canvas_ink(canvas, lbm_ink_quiet, 1.0);
    cairo_set_line_width(canvas->cr, 1.2);
    cairo_stroke(canvas->cr);
}

static void
draw_inset(struct lbm_canvas *canvas)
{
    struct lbm_canvas inset = *canvas;
    inset.left = LEGEND_LEFT;
    inset.top = INSET_TOP;
    inset.size = INSET_SIZE;
    inset.scale = INSET_SIZE / canvas->crowd_side;
    inset.origin[0] = LEGEND_LEFT + INSET_SIZE / 2.0 - inset.scale * canvas->crowd[0];
    inset.origin[1] = INSET_TOP + INSET_SIZE / 2.0 + inset.scale * canvas->crowd[1];
    inset.edge_width = lbm_canvas_edge_width(INSET_SIZE / sqrt(canvas->scene->n / 2.0));
    inset.crowd_side = 0.0;
    inset.short_labels = 1;
    cairo_save(canvas->cr);
    cairo_rectangle(canvas->cr, inset.left, inset.top, inset.size, inset.size);
    cairo_clip(canvas->cr);
    lbm_canvas_map(&inset);
    lbm_canvas_labels(&inset);
    cairo_restore(canvas->cr);
    canvas->err = inset.err;
}

void
lbm_canvas_inset(struct lbm_canvas *canvas)
{
    double side = canvas->crowd_side;
    if (side <= 0.0 || canvas->err != LBM_OK)
        return;
    draw_inset(canvas);
    frame(canvas, LEGEND_LEFT, INSET_TOP, INSET_SIZE);
    frame(canvas, canvas->origin[0] + canvas->scale * (canvas->crowd[0] - side / 2.0),
          canvas->origin[1] - canvas->scale * (canvas->crowd[1] + side / 2.0), canvas->scale * side);
}
