/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The map: regions, edges coloured by host, cut edges, vertices, links between sites. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "draw/draw.h"
#include "space/space.h"

/* Vertices get dots while there is room between them. */
enum { DOTS_MAX = 4000 };

/* A path is stroked after that many lines: a rasterizer's time grows faster than its path. */
enum { LINES_PER_STROKE = 512 };

void
lbm_canvas_ink(struct lbm_canvas *canvas, struct lbm_colour colour, double alpha)
{
    cairo_set_source_rgba(canvas->cr, colour.r, colour.g, colour.b, alpha);
}

double
lbm_canvas_edge_width(double spacing)
{
    return fmin(1.3, fmax(0.22, 0.06 * spacing));
}

/* ---- regions ------------------------------------------------------------------------------------- */

static void
trace_cell(struct lbm_canvas *canvas, const struct lbm_polygon *cell)
{
    for (uint32_t i = 0; i < cell->n; i++)
        cairo_line_to(canvas->cr, lbm_canvas_x(canvas, cell->corner[i]),
                      lbm_canvas_y(canvas, cell->corner[i]));
    cairo_close_path(canvas->cr);
}

static void
draw_regions(struct lbm_canvas *canvas)
{
    const struct lbm_scene *scene = canvas->scene;
    struct lbm_regions regions = {.n = scene->n_hosts, .m = 2, .site = scene->site, .weight = scene->weight};
    double border = fmin(1.6, 40.0 / sqrt((double)scene->n_hosts));
    for (uint32_t p = 0; p < scene->n_hosts && canvas->err == LBM_OK; p++) {
        struct lbm_polygon cell;
        canvas->err = lbm_regions_cell(&regions, p, &cell);
        if (canvas->err != LBM_OK)
            return;
        trace_cell(canvas, &cell);
        lbm_polygon_free(&cell);
        lbm_canvas_ink(canvas, canvas->colour[p].pastel, 1.0);
        cairo_fill_preserve(canvas->cr);
        lbm_canvas_ink(canvas, lbm_ink_paper, 1.0);
        cairo_set_line_width(canvas->cr, border);
        cairo_stroke(canvas->cr);
    }
}

/* ---- edges --------------------------------------------------------------------------------------- */

/* Order of the edges by the host they are inside of; cut edges last. Out: start [n_hosts + 2].
 * NULL: no memory. */
static size_t *
sort_edges(const struct lbm_scene *scene, size_t *start)
{
    size_t *order = lbm_alloc(scene->n_edges, sizeof *order);
    size_t *next = lbm_alloc((size_t)scene->n_hosts + 2, sizeof *next);
    if (order == NULL || next == NULL) {
        free(order);
        free(next);
        return NULL;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (size_t e = 0; e < scene->n_edges; e++) {
            uint32_t p = scene->part[scene->edge[2 * e]], q = scene->part[scene->edge[2 * e + 1]];
            size_t group = p == q ? p : scene->n_hosts;
            if (pass == 0)
                start[group + 1]++;
            else
                order[next[group]++] = e;
        }
        for (size_t i = 0; pass == 0 && i <= scene->n_hosts; i++) {
            start[i + 1] += start[i];
            next[i + 1] = start[i + 1];
        }
    }
    free(next);
    return order;
}

static void
stroke_edges(struct lbm_canvas *canvas, const size_t *edges, size_t n)
{
    const struct lbm_scene *scene = canvas->scene;
    size_t traced = 0;
    for (size_t i = 0; i < n; i++) {
        const double *a = scene->x + 2 * (size_t)scene->edge[2 * edges[i]];
        const double *b = scene->x + 2 * (size_t)scene->edge[2 * edges[i] + 1];
        if (lbm_canvas_misses(canvas, a, b))
            continue;
        cairo_move_to(canvas->cr, lbm_canvas_x(canvas, a), lbm_canvas_y(canvas, a));
        cairo_line_to(canvas->cr, lbm_canvas_x(canvas, b), lbm_canvas_y(canvas, b));
        if (++traced % LINES_PER_STROKE == 0)
            cairo_stroke(canvas->cr);
    }
    cairo_stroke(canvas->cr);
}

static void
draw_edges(struct lbm_canvas *canvas)
{
    const struct lbm_scene *scene = canvas->scene;
    size_t *start = lbm_alloc((size_t)scene->n_hosts + 2, sizeof *start);
    size_t *order = start != NULL ? sort_edges(scene, start) : NULL;
    if (order == NULL) {
        free(start);
        canvas->err = LBM_E_NOMEM;
        return;
    }
    cairo_set_line_width(canvas->cr, canvas->edge_width);
    for (uint32_t p = 0; p < scene->n_hosts; p++) {
        lbm_canvas_ink(canvas, canvas->colour[p].strong, 1.0);
        stroke_edges(canvas, order + start[p], start[p + 1] - start[p]);
    }
    cairo_set_line_width(canvas->cr, 1.9 * canvas->edge_width);
    lbm_canvas_ink(canvas, lbm_ink_cut, 0.9);
    stroke_edges(canvas, order + start[scene->n_hosts], scene->n_edges - start[scene->n_hosts]);
    free(start);
    free(order);
}

static void
draw_vertices(struct lbm_canvas *canvas)
{
    const struct lbm_scene *scene = canvas->scene;
    double radius = fmin(5.5, fmax(1.0, 0.13 * MAP_SIZE / sqrt((double)scene->n + 1.0)));
    for (uint32_t v = 0; v < scene->n; v++) {
        const double *x = scene->x + 2 * (size_t)v;
        if (lbm_canvas_misses(canvas, x, x))
            continue;
        cairo_arc(canvas->cr, lbm_canvas_x(canvas, x), lbm_canvas_y(canvas, x), radius, 0.0, 2.0 * M_PI);
        lbm_canvas_ink(canvas, canvas->colour[scene->part[v]].strong, 1.0);
        cairo_fill_preserve(canvas->cr);
        lbm_canvas_ink(canvas, lbm_ink_paper, 0.9);
        cairo_set_line_width(canvas->cr, 0.18 * radius);
        cairo_stroke(canvas->cr);
    }
}

/* ---- hosts --------------------------------------------------------------------------------------- */

static void
draw_links(struct lbm_canvas *canvas)
{
    const struct lbm_scene *scene = canvas->scene;
    /* Next to many links a faint one is enough; all pairs of a complete network would hide the map. */
    double crowd = (double)scene->n_links / (scene->n_hosts + 1.0);
    lbm_canvas_ink(canvas, lbm_ink_link, crowd > 8.0 ? 0.10 : 0.42);
    cairo_set_line_width(canvas->cr, fmin(2.2, 44.0 / sqrt((double)scene->n_hosts + 1.0)));
    double dash[] = {7.0, 6.0};
    cairo_set_dash(canvas->cr, dash, 2, 0.0);
    for (size_t l = 0; l < scene->n_links; l++) {
        const double *a = canvas->anchor + 2 * (size_t)scene->link[2 * l];
        const double *b = canvas->anchor + 2 * (size_t)scene->link[2 * l + 1];
        cairo_move_to(canvas->cr, lbm_canvas_x(canvas, a), lbm_canvas_y(canvas, a));
        cairo_line_to(canvas->cr, lbm_canvas_x(canvas, b), lbm_canvas_y(canvas, b));
        cairo_stroke(canvas->cr);
    }
    cairo_set_dash(canvas->cr, NULL, 0, 0.0);
}

void
lbm_canvas_map(struct lbm_canvas *canvas)
{
    const struct lbm_scene *scene = canvas->scene;
    /* In a picture of three dimensions areas would hide one another. */
    if (scene->site == NULL)
        lbm_canvas_faces(canvas);
    else if (scene->weight != NULL)
        draw_regions(canvas);
    if (canvas->err == LBM_OK)
        draw_edges(canvas);
    if (scene->n <= DOTS_MAX)
        draw_vertices(canvas);
    if (scene->link != NULL)
        draw_links(canvas);
}
