/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames of an embedding that settles. */
#include "papers/embed_draw.h"

#include <math.h>
#include <stdlib.h>

#include "space/space.h"

enum { SIZE = 480, MARGIN = 24, CAPTION = 34 };

static void
open_svg(struct lbm_buf *out, uint32_t height)
{
    lbm_buf_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" "
        "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" "
        "fill=\"#fff\"/>\n",
        SIZE + 2 * MARGIN, height, SIZE + 2 * MARGIN, height);
}

static void
close_svg(struct lbm_buf *out, const char *caption, uint32_t y)
{
    lbm_buf_printf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"middle\">%s</text>\n</svg>\n",
                   MARGIN + SIZE / 2, y, caption);
}

static double
place(double x)
{
    return MARGIN + SIZE * x;
}

/* ---- frames -------------------------------------------------------------------------------------------- */

static enum lbm_err
draw_regions(const struct lbm_hosts *h, struct lbm_buf *out)
{
    double *equal = lbm_alloc(h->n, sizeof *equal);
    struct lbm_regions regions = {.n = h->n, .m = 2, .site = h->site, .weight = equal};
    enum lbm_err err = equal == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t p = 0; p < h->n && err == LBM_OK; p++) {
        struct lbm_polygon cell;
        err = lbm_regions_cell(&regions, p, &cell);
        if (err != LBM_OK)
            break;
        lbm_buf_printf(out, "<polygon fill=\"%s\" stroke=\"#999\" points=\"", p % 2 ? "#eef3f8" : "#f7f3ea");
        for (uint32_t i = 0; i < cell.n; i++)
            lbm_buf_printf(out, "%.2f,%.2f ", place(cell.corner[i][0]), place(cell.corner[i][1]));
        lbm_buf_printf(out, "\"/>\n");
        lbm_polygon_free(&cell);
    }
    free(equal);
    return err;
}

enum lbm_err
draw_embedding(const struct lbm_graph *g, const struct lbm_hosts *h, const double *x, const double *radius,
               const char *caption, struct lbm_buf *out)
{
    open_svg(out, SIZE + MARGIN + CAPTION);
    enum lbm_err err = draw_regions(h, out);
    lbm_buf_printf(out, "<path fill=\"none\" stroke=\"#0072b2\" stroke-width=\"%s\" d=\"",
                   lbm_graph_directions(g) > 20000 ? ".4" : ".8");
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
            const double *from = &x[2 * (size_t)v], *to = &x[2 * (size_t)g->target[e]];
            if (v < g->target[e])
                lbm_buf_printf(out, "M%.2f %.2fL%.2f %.2f", place(from[0]), place(from[1]), place(to[0]),
                               place(to[1]));
        }
    lbm_buf_printf(out, "\"/>\n");
    for (uint32_t v = 0; v < g->n && radius != NULL; v++)
        lbm_buf_printf(out,
                       "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"#d55e00\" fill-opacity=\".35\"/>\n",
                       place(x[2 * (size_t)v]), place(x[2 * (size_t)v + 1]), SIZE * radius[v]);
    close_svg(out, caption, SIZE + MARGIN + 22);
    return err == LBM_OK && out->failed ? LBM_E_NOMEM : err;
}

/* ---- spectrum ------------------------------------------------------------------------------------------ */

static const double faintest = 1e-6, strongest = 10.0; /* cells */

static uint32_t
shade(double amplitude)
{
    double part = log(fmax(amplitude, faintest) / faintest) / log(strongest / faintest);
    return 255 - (uint32_t)(255.0 * fmin(part, 1.0));
}

static void
draw_scale(struct lbm_buf *out)
{
    enum { STEPS = 8, WIDTH = 40 };
    double top = MARGIN + SIZE + 26;
    for (int i = 0; i < STEPS; i++) {
        double amplitude = faintest * pow(10.0, i);
        double left = MARGIN + (SIZE - STEPS * WIDTH) / 2.0 + i * WIDTH;
        lbm_buf_printf(
            out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"12\" fill=\"rgb(%u,%u,%u)\" stroke=\"#ccc\"/>"
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"11\">%g</text>\n",
            left, top, WIDTH, shade(amplitude), shade(amplitude), shade(amplitude), left + WIDTH / 2.0,
            top + 25, amplitude);
    }
    lbm_buf_printf(out, "<text x=\"%d\" y=\"%.1f\" font-size=\"11\">cells</text>\n", MARGIN + SIZE - 30,
                   top + 11);
}

void
draw_spectrum(const struct lattice *l, const char *caption, struct lbm_buf *out)
{
    uint32_t modes = l->side - 2;
    double size = (double)SIZE / modes;
    open_svg(out, SIZE + MARGIN + 100);
    for (uint32_t j = 1; j <= modes; j++)
        for (uint32_t i = 1; i <= modes; i++) {
            uint32_t grey = shade(hypot(lattice_amplitude(l, i, j, 0), lattice_amplitude(l, i, j, 1)));
            if (grey < 255)
                lbm_buf_printf(
                    out,
                    "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"rgb(%u,%u,%u)\"/>\n",
                    MARGIN + size * (i - 1), MARGIN + SIZE - size * j, size, size, grey, grey, grey);
        }
    lbm_buf_printf(
        out,
        "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#000\"/>\n"
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">mode i: 1 to %u</text>\n"
        "<text transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\">mode j: 1 to %u</text>\n",
        MARGIN, MARGIN, SIZE, SIZE, MARGIN + SIZE / 2, MARGIN + SIZE + 17, modes, MARGIN + SIZE / 2, modes);
    draw_scale(out);
    close_svg(out, caption, SIZE + MARGIN + 78);
}
