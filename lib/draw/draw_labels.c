/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels: the name of each host on a plate, with its deviation while hosts are few. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "draw/draw.h"

/* Boxes of the labels that stand. */
struct plate {
    double x, y, width, height; /* middle and size */
};

struct plates {
    LBM_VEC(struct plate) at;
};

const char *
lbm_scene_host(const struct lbm_scene *scene, uint32_t p, char id[12])
{
    if (scene->name != NULL)
        return scene->name[p];
    snprintf(id, 12, "%u", p);
    return id;
}

static int
overlaps(const struct plates *plates, const struct plate *plate)
{
    for (size_t i = 0; i < plates->at.n; i++) {
        const struct plate *other = &plates->at.at[i];
        if (2.0 * fabs(plate->x - other->x) < plate->width + other->width &&
            2.0 * fabs(plate->y - other->y) < plate->height + other->height)
            return 1;
    }
    return 0;
}

static void
draw_plate(struct lbm_canvas *canvas, const struct plate *plate)
{
    double radius = 0.28 * plate->height, left = plate->x - plate->width / 2.0;
    double right = left + plate->width, top = plate->y - plate->height / 2.0, bottom = top + plate->height;
    cairo_new_sub_path(canvas->cr);
    cairo_arc(canvas->cr, right - radius, top + radius, radius, -M_PI_2, 0.0);
    cairo_arc(canvas->cr, right - radius, bottom - radius, radius, 0.0, M_PI_2);
    cairo_arc(canvas->cr, left + radius, bottom - radius, radius, M_PI_2, M_PI);
    cairo_arc(canvas->cr, left + radius, top + radius, radius, M_PI, 1.5 * M_PI);
    cairo_close_path(canvas->cr);
    lbm_canvas_ink(canvas, lbm_ink_paper, 0.8);
    cairo_fill(canvas->cr);
}

static double
clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* Nonzero if an inset shows the point, and so labels what is there. */
static int
is_in_inset(const struct lbm_canvas *canvas, const double *point)
{
    return 2.0 * fabs(point[0] - canvas->crowd[0]) < canvas->crowd_side &&
           2.0 * fabs(point[1] - canvas->crowd[1]) < canvas->crowd_side;
}

/* Label host p, unless it would stand on another label. Errors: LBM_E_NOMEM. */
static enum lbm_err
draw_label(struct lbm_canvas *canvas, uint32_t p, double size, struct plates *plates)
{
    const struct lbm_scene *scene = canvas->scene;
    char id[12], text[160];
    const char *name = lbm_scene_host(scene, p, id);
    if (scene->n_hosts <= LBM_LOADS_LABELLED_MAX && !canvas->short_labels)
        snprintf(text, sizeof text, "%.60s  %+.1f %%", name, 100.0 * lbm_scene_deviation(scene, p));
    else
        snprintf(text, sizeof text, "%.60s", name);
    const double *anchor = canvas->anchor + 2 * (size_t)p;
    if (lbm_canvas_misses(canvas, anchor, anchor) || is_in_inset(canvas, anchor))
        return LBM_OK;
    struct plate plate = {.width = lbm_canvas_text_width(canvas, size, text) + 0.9 * size,
                          .height = 1.55 * size};
    plate.x = clamp(lbm_canvas_x(canvas, anchor), canvas->left + plate.width / 2.0,
                    canvas->left + canvas->size - plate.width / 2.0);
    plate.y = clamp(lbm_canvas_y(canvas, anchor), canvas->top + plate.height / 2.0,
                    canvas->top + canvas->size - plate.height / 2.0);
    if (overlaps(plates, &plate))
        return LBM_OK;
    draw_plate(canvas, &plate);
    lbm_canvas_ink(canvas, lbm_ink_text, 1.0);
    lbm_canvas_text(canvas, plate.x, plate.y + 0.36 * size, 0.5, size, 0.0, text);
    return lbm_vec_push(&plates->at, plate);
}

/* A host and how far its vertices spread on the page. */
struct spread {
    uint32_t p;
    double spread;
};

static int
wider_first(const void *a, const void *b)
{
    const struct spread *s = a, *t = b;
    return s->spread > t->spread ? -1 : s->spread < t->spread ? 1 : s->p < t->p ? -1 : s->p > t->p;
}

/* Hosts by the room they have for a label, widest first. NULL: no memory. */
static struct spread *
order_hosts(const struct lbm_canvas *canvas)
{
    const struct lbm_scene *scene = canvas->scene;
    struct spread *order = lbm_alloc(scene->n_hosts, sizeof *order);
    if (order == NULL)
        return NULL;
    for (uint32_t p = 0; p < scene->n_hosts; p++)
        order[p].p = p;
    for (uint32_t v = 0; v < scene->n && scene->site == NULL; v++) {
        uint32_t p = scene->part[v];
        double dx = scene->x[2 * (size_t)v] - canvas->anchor[2 * p];
        double dy = scene->x[2 * (size_t)v + 1] - canvas->anchor[2 * p + 1];
        order[p].spread += (dx * dx + dy * dy) / canvas->population[p];
    }
    qsort(order, scene->n_hosts, sizeof *order, wider_first);
    return order;
}

void
lbm_canvas_labels(struct lbm_canvas *canvas)
{
    const struct lbm_scene *scene = canvas->scene;
    if (scene->n_hosts > LBM_HOSTS_LABELLED_MAX)
        return;
    struct plates plates = {0};
    struct spread *order = order_hosts(canvas);
    enum lbm_err err = order != NULL ? LBM_OK : LBM_E_NOMEM;
    double size = clamp(0.11 * MAP_SIZE / sqrt((double)scene->n_hosts), 6.0, 15.0);
    cairo_select_font_face(canvas->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    /* A host without site and without vertices has no place to be labelled at. */
    for (uint32_t i = 0; err == LBM_OK && i < scene->n_hosts; i++)
        if (!lbm_scene_is_gone(scene, order[i].p) &&
            (scene->site != NULL || canvas->population[order[i].p] > 0))
            err = draw_label(canvas, order[i].p, size, &plates);
    if (err != LBM_OK)
        canvas->err = err;
    free(order);
    lbm_vec_free(&plates.at);
}
