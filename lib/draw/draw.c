/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One drawing: the surface (SVG or PNG from the same strokes), the fit of the scene to the page. */
#include <cairo-svg.h>
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "draw/draw.h"

static const double png_pixels_per_point = 1.5;

static cairo_status_t
append(void *buf, const unsigned char *bytes, unsigned len)
{
    lbm_buf_put(buf, bytes, len);
    return ((struct lbm_buf *)buf)->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

/* ---- fit ----------------------------------------------------------------------------------------- */

struct box {
    double low[2], high[2];
};

static void
widen(struct box *box, const double *point)
{
    for (int k = 0; k < 2; k++) {
        box->low[k] = fmin(box->low[k], point[k]);
        box->high[k] = fmax(box->high[k], point[k]);
    }
}

/* Scale and origin so that vertices, sites and Omega (if its regions are drawn) fill the map's square. */
static void
fit(struct lbm_canvas *canvas)
{
    const struct lbm_scene *scene = canvas->scene;
    static const double corners[2][2] = {{0.0, 0.0}, {1.0, 1.0}};
    struct box box = {{HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL}};
    for (uint32_t v = 0; v < scene->n; v++)
        widen(&box, scene->x + 2 * (size_t)v);
    for (uint32_t p = 0; scene->site != NULL && p < scene->n_hosts; p++)
        widen(&box, scene->site + 2 * (size_t)p);
    for (int k = 0; k < 2 && (scene->weight != NULL || scene->n == 0); k++)
        widen(&box, corners[k]);
    double extent = fmax(box.high[0] - box.low[0], box.high[1] - box.low[1]);
    canvas->scale = MAP_SIZE / (extent > 0.0 ? extent : 1.0);
    canvas->origin[0] = MAP_LEFT + MAP_SIZE / 2.0 - canvas->scale * (box.low[0] + box.high[0]) / 2.0;
    canvas->origin[1] = MAP_TOP + MAP_SIZE / 2.0 + canvas->scale * (box.low[1] + box.high[1]) / 2.0;
    canvas->left = MAP_LEFT;
    canvas->top = MAP_TOP;
    canvas->size = MAP_SIZE;
    canvas->edge_width = lbm_canvas_edge_width(MAP_SIZE / sqrt((double)scene->n + 1.0));
}

/* Where each host is: its site, else the middle of its vertices, else the middle of the map. */
static void
place_hosts(struct lbm_canvas *canvas)
{
    const struct lbm_scene *scene = canvas->scene;
    for (uint32_t v = 0; v < scene->n; v++) {
        uint32_t p = scene->part[v];
        LBM_ASSERT(p < scene->n_hosts);
        canvas->population[p]++;
        for (int k = 0; k < 2; k++)
            canvas->anchor[2 * p + k] += scene->x[2 * (size_t)v + k];
    }
    for (uint32_t p = 0; p < scene->n_hosts; p++)
        for (int k = 0; k < 2; k++)
            if (scene->site != NULL)
                canvas->anchor[2 * p + k] = scene->site[2 * p + k];
            else if (canvas->population[p] > 0)
                canvas->anchor[2 * p + k] /= canvas->population[p];
}

/* ---- surface ------------------------------------------------------------------------------------- */

static void
draw_page(struct lbm_canvas *canvas)
{
    cairo_set_source_rgb(canvas->cr, lbm_ink_paper.r, lbm_ink_paper.g, lbm_ink_paper.b);
    cairo_paint(canvas->cr);
    cairo_set_line_cap(canvas->cr, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(canvas->cr, CAIRO_LINE_JOIN_ROUND);
    if (canvas->scene->site == NULL)
        lbm_canvas_find_crowd(canvas);
    lbm_canvas_map(canvas);
    lbm_canvas_labels(canvas);
    lbm_canvas_title(canvas);
    lbm_canvas_legend(canvas);
    lbm_canvas_inset(canvas);
}

static cairo_status_t
render(struct lbm_canvas *canvas, enum lbm_picture picture, struct lbm_buf *out)
{
    int svg = picture == LBM_PICTURE_SVG;
    cairo_surface_t *surface =
        svg ? cairo_svg_surface_create_for_stream(append, out, PAGE_WIDTH, PAGE_HEIGHT)
            : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(PAGE_WIDTH * png_pixels_per_point),
                                         (int)(PAGE_HEIGHT * png_pixels_per_point));
    canvas->cr = cairo_create(surface);
    if (!svg)
        cairo_scale(canvas->cr, png_pixels_per_point, png_pixels_per_point);
    draw_page(canvas);
    cairo_status_t status = cairo_status(canvas->cr);
    cairo_destroy(canvas->cr);
    if (!svg && status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(surface, append, out);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status;
}

enum lbm_err
lbm_scene_draw(const struct lbm_scene *scene, enum lbm_picture picture, struct lbm_buf *out,
               struct lbm_diag *diag)
{
    struct lbm_canvas canvas = {.scene = scene};
    canvas.colour = lbm_alloc(scene->n_hosts, sizeof *canvas.colour);
    canvas.anchor = lbm_alloc(scene->n_hosts, 2 * sizeof *canvas.anchor);
    canvas.population = lbm_alloc(scene->n_hosts, sizeof *canvas.population);
    enum lbm_err err = LBM_E_NOMEM;
    if (canvas.colour != NULL && canvas.anchor != NULL && canvas.population != NULL) {
        fit(&canvas);
        place_hosts(&canvas);
        lbm_palette(scene->n_hosts, canvas.anchor, canvas.colour);
        cairo_status_t status = render(&canvas, picture, out);
        err = canvas.err;
        if (status == CAIRO_STATUS_NO_MEMORY)
            err = LBM_E_NOMEM;
        else if (status != CAIRO_STATUS_SUCCESS)
            err =
                lbm_diag_set(diag, LBM_E_IO, "", 0, "the drawing failed: %s", cairo_status_to_string(status));
    }
    free(canvas.colour);
    free(canvas.anchor);
    free(canvas.population);
    return err;
}
