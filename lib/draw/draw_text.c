/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts around the map: title, figures, legend. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "draw/draw.h"

enum { TEXT_BYTES = 512 }; /* longer texts are cut */

/* ---- text ---------------------------------------------------------------------------------------- */

/* Length of the UTF-8 sequence at s, 0 if it is none or a control character. */
static int
sequence_length(const unsigned char *s)
{
    static const struct {
        unsigned char mask, lead, least_second, most_second;
        int length;
    } forms[] = {{0x80, 0x00, 0, 0, 1},       {0xff, 0xe0, 0xa0, 0xbf, 3}, {0xff, 0xed, 0x80, 0x9f, 3},
                 {0xff, 0xf0, 0x90, 0xbf, 4}, {0xff, 0xf4, 0x80, 0x8f, 4}, {0xe0, 0xc0, 0x80, 0xbf, 2},
                 {0xf0, 0xe0, 0x80, 0xbf, 3}, {0xf8, 0xf0, 0x80, 0xbf, 4}};
    if (*s < 0x20 || *s == 0x7f || *s == 0xc0 || *s == 0xc1 || *s > 0xf4)
        return 0;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if ((*s & forms[i].mask) != forms[i].lead)
            continue;
        for (int k = 1; k < forms[i].length; k++)
            if (k == 1 ? s[1] < forms[i].least_second || s[1] > forms[i].most_second : (s[k] & 0xc0) != 0x80)
                return 0;
        return forms[i].length;
    }
    return 0;
}

/* Copy text with '?' for each byte that is not part of UTF-8; cairo refuses to draw such. */
static void
clean(const char *text, char *out, size_t out_size)
{
    size_t len = 0;
    for (const unsigned char *s = (const unsigned char *)text; *s != '\0';) {
        int n = sequence_length(s);
        if (len + (size_t)(n > 0 ? n : 1) >= out_size)
            break;
        if (n > 0)
            memcpy(out + len, s, (size_t)n);
        else
            out[len] = '?';
        len += n > 0 ? (size_t)n : 1;
        s += n > 0 ? n : 1;
    }
    out[len] = '\0';
}

double
lbm_canvas_text_width(struct lbm_canvas *canvas, double size, const char *text)
{
    char shown[TEXT_BYTES];
    cairo_text_extents_t extents;
    clean(text, shown, sizeof shown);
    cairo_set_font_size(canvas->cr, size);
    cairo_text_extents(canvas->cr, shown, &extents);
    return extents.x_advance;
}

void
lbm_canvas_text(struct lbm_canvas *canvas, double x, double y, double align, double size, double width,
                const char *text)
{
    char shown[TEXT_BYTES];
    double taken = lbm_canvas_text_width(canvas, size, text);
    if (width > 0.0 && taken > width) {
        cairo_set_font_size(canvas->cr, size * width / taken);
        taken = width;
    }
    clean(text, shown, sizeof shown);
    cairo_move_to(canvas->cr, x - align * taken, y);
    cairo_show_text(canvas->cr, shown);
    cairo_new_path(canvas->cr);
}

static void
face(struct lbm_canvas *canvas, cairo_font_weight_t weight, struct lbm_colour ink)
{
    cairo_select_font_face(canvas->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, weight);
    lbm_canvas_ink(canvas, ink, 1.0);
}

/* ---- title --------------------------------------------------------------------------------------- */

void
lbm_canvas_title(struct lbm_canvas *canvas)
{
    const struct lbm_scene *scene = canvas->scene;
    char figures[256];
    double width = LEGEND_RIGHT - MAP_LEFT;
    uint32_t n_hosts = 0;
    for (uint32_t p = 0; p < scene->n_hosts; p++)
        n_hosts += !lbm_scene_is_gone(scene, p);
    face(canvas, CAIRO_FONT_WEIGHT_BOLD, lbm_ink_text);
    lbm_canvas_text(canvas, MAP_LEFT, 44, 0.0, 25, width, scene->title);
    snprintf(figures, sizeof figures,
             "%u vertices, %zu edges, %u hosts   \xc2\xb7   imbalance %.2f %%   \xc2\xb7   J %" PRIu64
             "   \xc2\xb7   cut %" PRIu64,
             scene->n, scene->n_edges, n_hosts, 100.0 * scene->imbalance, scene->hop_bytes, scene->cut);
    face(canvas, CAIRO_FONT_WEIGHT_NORMAL, lbm_ink_quiet);
    lbm_canvas_text(canvas, MAP_LEFT, 71, 0.0, 16, width, figures);
}

/* ---- legend -------------------------------------------------------------------------------------- */

enum { ROW = 23, SAMPLE = 34 };

static void
sample_line(struct lbm_canvas *canvas, double y, double width, int dashed, const char *text)
{
    double dash[] = {7.0, 6.0};
    cairo_set_dash(canvas->cr, dash, dashed ? 2 : 0, 0.0);
    cairo_set_line_width(canvas->cr, width);
    cairo_move_to(canvas->cr, LEGEND_LEFT, y - 5);
    cairo_line_to(canvas->cr, LEGEND_LEFT + SAMPLE, y - 5);
    cairo_stroke(canvas->cr);
    cairo_set_dash(canvas->cr, NULL, 0, 0.0);
    face(canvas, CAIRO_FONT_WEIGHT_NORMAL, lbm_ink_text);
    lbm_canvas_text(canvas, LEGEND_LEFT + SAMPLE + 12, y, 0.0, 14, LEGEND_RIGHT - LEGEND_LEFT - SAMPLE - 12,
                    text);
}

/* What the lines mean; returns the next row's base line. */
static double
draw_samples(struct lbm_canvas *canvas, double y)
{
    const struct lbm_scene *scene = canvas->scene;
    lbm_canvas_ink(canvas, canvas->colour[0].strong, 1.0);
    sample_line(canvas, y, 2.0, 0, "edge inside a host, in its colour");
    y += ROW;
    lbm_canvas_ink(canvas, lbm_ink_cut, 0.9);
    sample_line(canvas, y, 2.6, 0, "cut edge, between two hosts");
    y += ROW;
    if (scene->link == NULL)
        return y;
    lbm_canvas_ink(canvas, lbm_ink_link, 0.6);
    sample_line(canvas, y, 2.2, 1, "link of the host network");
    return y + ROW;
}

static void
draw_host_row(struct lbm_canvas *canvas, uint32_t p, double y)
{
    const struct lbm_scene *scene = canvas->scene;
    char id[12], text[80];
    cairo_rectangle(canvas->cr, LEGEND_LEFT, y - 13, SAMPLE, 16);
    lbm_canvas_ink(canvas, canvas->colour[p].pastel, 1.0);
    cairo_fill_preserve(canvas->cr);
    lbm_canvas_ink(canvas, canvas->colour[p].strong, 1.0);
    cairo_set_line_width(canvas->cr, 1.6);
    cairo_stroke(canvas->cr);
    face(canvas, CAIRO_FONT_WEIGHT_NORMAL, lbm_ink_text);
    lbm_canvas_text(canvas, LEGEND_LEFT + SAMPLE + 12, y, 0.0, 14, 150, lbm_scene_host(scene, p, id));
    snprintf(text, sizeof text, "%" PRIu64, scene->load[p]);
    lbm_canvas_text(canvas, LEGEND_RIGHT - 76, y, 1.0, 14, 110, text);
    if (lbm_scene_is_gone(scene, p))
        snprintf(text, sizeof text, "gone");
    else
        snprintf(text, sizeof text, "%+.1f %%", 100.0 * lbm_scene_deviation(scene, p));
    lbm_canvas_text(canvas, LEGEND_RIGHT, y, 1.0, 14, 70, text);
}

static void
draw_host_rows(struct lbm_canvas *canvas, double y)
{
    face(canvas, CAIRO_FONT_WEIGHT_BOLD, lbm_ink_quiet);
    lbm_canvas_text(canvas, LEGEND_LEFT + SAMPLE + 12, y, 0.0, 13, 0.0, "host");
    lbm_canvas_text(canvas, LEGEND_RIGHT - 76, y, 1.0, 13, 0.0, "load");
    lbm_canvas_text(canvas, LEGEND_RIGHT, y, 1.0, 13, 0.0, "to target");
    for (uint32_t p = 0; p < canvas->scene->n_hosts; p++)
        draw_host_row(canvas, p, y + ROW * (p + 1.0));
}

/* Too many hosts to list: those with the least and the most load for their speed. */
static void
draw_host_summary(struct lbm_canvas *canvas, double y)
{
    const struct lbm_scene *scene = canvas->scene;
    uint32_t least = 0, most = 0;
    for (uint32_t p = 1; p < scene->n_hosts; p++) {
        if (lbm_scene_deviation(scene, p) < lbm_scene_deviation(scene, least))
            least = p;
        if (lbm_scene_deviation(scene, p) > lbm_scene_deviation(scene, most))
            most = p;
    }
    face(canvas, CAIRO_FONT_WEIGHT_BOLD, lbm_ink_quiet);
    lbm_canvas_text(canvas, LEGEND_LEFT + SAMPLE + 12, y, 0.0, 13, 0.0, "most and least loaded host");
    lbm_canvas_text(canvas, LEGEND_RIGHT, y, 1.0, 13, 0.0, "to target");
    draw_host_row(canvas, most, y + ROW);
    draw_host_row(canvas, least, y + 2 * ROW);
}

void
lbm_canvas_legend(struct lbm_canvas *canvas)
{
    double y = draw_samples(canvas, MAP_TOP + 14) + ROW / 2.0;
    if (canvas->scene->n_hosts <= LBM_HOSTS_LISTED_MAX)
        draw_host_rows(canvas, y);
    else
        draw_host_summary(canvas, y);
}
