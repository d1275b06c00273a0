/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a drawing: the page, the map on it, the texts around. Internal to draw*.c.
 * Page units are points of a page of PAGE_WIDTH by PAGE_HEIGHT, y downwards. */
#ifndef LBM_DRAW_DRAW_H
#define LBM_DRAW_DRAW_H

#include <cairo.h>

#include "draw/palette.h"
#include "draw/scene.h"

enum {
    PAGE_WIDTH = 1400,
    PAGE_HEIGHT = 1060,
    MAP_LEFT = 36, /* the square the map is fitted into */
    MAP_TOP = 92,
    MAP_SIZE = 932,
    LEGEND_LEFT = 1004,
    LEGEND_RIGHT = PAGE_WIDTH - 36
};

struct lbm_canvas {
    cairo_t *cr;
    const struct lbm_scene *scene;
    struct lbm_host_colours *colour; /* [n_hosts] */
    double *anchor;                  /* [2 n_hosts] where a host is, in the scene's plane */
    uint32_t *population;            /* [n_hosts] vertices of each */
    double left, top, size;          /* square of the page it is drawn into */
    double scale, origin[2];         /* page = origin + scale * (x, -y) */
    double edge_width;
    double crowd[2],
        crowd_side;   /* middle and side of what an inset shows, in the scene's plane; side 0: none */
    int short_labels; /* nonzero: names of hosts alone */
    enum lbm_err err; /* LBM_OK until memory is short */
};

/* Hosts that are listed and labelled one by one; above, the legend sums up. */
enum {
    LBM_HOSTS_LISTED_MAX = 36,
    LBM_HOSTS_LISTED_NEXT_TO_INSET_MAX = 17,
    LBM_HOSTS_LABELLED_MAX = 400,
    LBM_LOADS_LABELLED_MAX = 64
};

/* draw_map.c: regions, edges, vertices, links; what is wholly outside of the square is left out. */
void lbm_canvas_map(struct lbm_canvas *canvas);

/* draw_faces.c: areas, in drawings at the guest's own positions. */
void lbm_canvas_faces(struct lbm_canvas *canvas);

/* draw_labels.c: names of hosts and their loads, none over another. */
void lbm_canvas_labels(struct lbm_canvas *canvas);

/* draw_inset.c: find where the vertices crowd, if there is room to show it magnified; show it. */
void lbm_canvas_find_crowd(struct lbm_canvas *canvas);
void lbm_canvas_inset(struct lbm_canvas *canvas);

/* draw_text.c. */
void lbm_canvas_title(struct lbm_canvas *canvas);
void lbm_canvas_legend(struct lbm_canvas *canvas);

/* Width of lines between vertices, for `spacing` page units between them: a share, so that a mesh stays one.
 */
double lbm_canvas_edge_width(double spacing);

/* Show text with its start (align 0), middle (0.5) or end (1) at x, base line y; smaller if it would be wider
 * than width (0: any). What is not UTF-8 is shown as '?'. */
void lbm_canvas_text(struct lbm_canvas *canvas, double x, double y, double align, double size, double width,
                     const char *text);
double lbm_canvas_text_width(struct lbm_canvas *canvas, double size, const char *text);

void lbm_canvas_ink(struct lbm_canvas *canvas, struct lbm_colour colour, double alpha);

/* A point of the scene on the page. */
static inline double
lbm_canvas_x(const struct lbm_canvas *canvas, const double *point)
{
    return canvas->origin[0] + canvas->scale * point[0];
}

static inline double
lbm_canvas_y(const struct lbm_canvas *canvas, const double *point)
{
    return canvas->origin[1] - canvas->scale * point[1];
}

/* Nonzero if a and b, and so the line between them, lie beyond one side of the canvas's square (or a point
 * of the page more: what the square was fitted to may be rounded out of it). */
static inline int
lbm_canvas_misses(const struct lbm_canvas *canvas, const double *a, const double *b)
{
    double left = canvas->left - 1.0, right = canvas->left + canvas->size + 1.0;
    double top = canvas->top - 1.0, bottom = canvas->top + canvas->size + 1.0;
    double ax = lbm_canvas_x(canvas, a), ay = lbm_canvas_y(canvas, a);
    double bx = lbm_canvas_x(canvas, b), by = lbm_canvas_y(canvas, b);
    return (ax < left && bx < left) || (ax > right && bx > right) || (ay < top && by < top) ||
           (ay > bottom && by > bottom);
}

/* Nonzero if nothing is due to the host: it takes part no more. */
static inline int
lbm_scene_is_gone(const struct lbm_scene *scene, uint32_t p)
{
    return scene->n != 0 && !(scene->target[p] > 0.0);
}

/* Load relative to the target: 0.02 is 2 % too much. */
static inline double
lbm_scene_deviation(const struct lbm_scene *scene, uint32_t p)
{
    return scene->target[p] > 0.0 ? (double)scene->load[p] / scene->target[p] - 1.0 : 0.0;
}

/* Name of host p, or its id written into id. */
const char *lbm_scene_host(const struct lbm_scene *scene, uint32_t p, char id[12]);

/* Ink. */
static const struct lbm_colour lbm_ink_text = {0.13, 0.14, 0.17}, lbm_ink_quiet = {0.42, 0.44, 0.48},
                               lbm_ink_cut = {0.10, 0.10, 0.13}, lbm_ink_link = {0.16, 0.20, 0.30},
                               lbm_ink_paper = {1.0, 1.0, 1.0};

#endif
