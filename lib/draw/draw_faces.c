/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Triangles of the guest whose corners are on one host, filled in its colour: where the guest's own positions
 * are drawn they show the part of each host as an area. Guests with more triangles than meshes have get none.
 */
#include <stdlib.h>

#include "draw/draw.h"

/* A plane mesh has fewer than 2 triangles a vertex, a geometric graph of degree 10 about 8. */
enum { TRIANGLES_PER_VERTEX_MAX = 12, TRIANGLES_PER_FILL = 2048 };

/* Edges inside hosts, from the lower to the higher end: row v is to[from[v] .. from[v + 1]). */
struct half_edges {
    size_t *from; /* [n + 1] */
    uint32_t *to;
};

static enum lbm_err
gather(const struct lbm_scene *scene, struct half_edges *half)
{
    half->from = lbm_alloc((size_t)scene->n + 2, sizeof *half->from);
    half->to = lbm_alloc(scene->n_edges, sizeof *half->to);
    if (half->from == NULL || half->to == NULL)
        return LBM_E_NOMEM;
    /* Counted two rows ahead, then filled one row ahead, so that from ends in its place. */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t e = 0; e < scene->n_edges; e++) {
            uint32_t u = scene->edge[2 * e], v = scene->edge[2 * e + 1];
            uint32_t low = u < v ? u : v, high = u < v ? v : u;
            if (scene->part[u] != scene->part[v])
                continue;
            if (pass == 0)
                half->from[low + 2]++;
            else
                half->to[half->from[low + 1]++] = high;
        }
        for (size_t v = 2; pass == 0 && v <= (size_t)scene->n + 1; v++)
            half->from[v] += half->from[v - 1];
    }
    return LBM_OK;
}

struct triangles {
    LBM_VEC(uint32_t) corner; /* three each */
};

/* All triangles of a lowest corner u. mark [n]: u + 1 for neighbours of u. Errors: LBM_E_NOMEM, LBM_E_LIMIT.
 */
static enum lbm_err
find_at(const struct half_edges *half, uint32_t u, uint32_t n, uint32_t *mark, struct triangles *found)
{
    for (size_t i = half->from[u]; i < half->from[u + 1]; i++)
        mark[half->to[i]] = u + 1;
    for (size_t i = half->from[u]; i < half->from[u + 1]; i++) {
        uint32_t v = half->to[i];
        for (size_t j = half->from[v]; j < half->from[v + 1]; j++) {
            uint32_t w = half->to[j];
            if (mark[w] != u + 1)
                continue;
            if (found->corner.n >= 3 * (size_t)TRIANGLES_PER_VERTEX_MAX * n)
                return LBM_E_LIMIT;
            if (lbm_vec_reserve(&found->corner, 3) != LBM_OK)
                return LBM_E_NOMEM;
            found->corner.at[found->corner.n++] = u;
            found->corner.at[found->corner.n++] = v;
            found->corner.at[found->corner.n++] = w;
        }
    }
    return LBM_OK;
}

/* Trace a triangle anticlockwise: then those that share a side leave no seam when they are filled at once. */
static void
trace(struct lbm_canvas *canvas, const uint32_t *corner)
{
    const double *x = canvas->scene->x;
    const double *a = x + 2 * (size_t)corner[0], *b = x + 2 * (size_t)corner[1],
                 *c = x + 2 * (size_t)corner[2];
    if (lbm_canvas_misses(canvas, a, b) && lbm_canvas_misses(canvas, b, c) && lbm_canvas_misses(canvas, c, a))
        return;
    if ((b[0] - a[0]) * (c[1] - a[1]) < (b[1] - a[1]) * (c[0] - a[0])) {
        const double *swap = b;
        b = c;
        c = swap;
    }
    const double *order[3] = {a, b, c};
    cairo_new_sub_path(canvas->cr);
    for (int k = 0; k < 3; k++)
        cairo_line_to(canvas->cr, lbm_canvas_x(canvas, order[k]), lbm_canvas_y(canvas, order[k]));
    cairo_close_path(canvas->cr);
}

/* Fill all triangles, host after host. In: start [hosts + 1] zeros, sorted [triangles]: room to sort. */
static void
fill(struct lbm_canvas *canvas, const struct triangles *found, size_t *start, size_t *sorted)
{
    const struct lbm_scene *scene = canvas->scene;
    size_t n = found->corner.n / 3;
    for (size_t t = 0; t < n; t++)
        start[scene->part[found->corner.at[3 * t]] + 1]++;
    for (uint32_t p = 0; p < scene->n_hosts; p++)
        start[p + 1] += start[p];
    for (size_t t = n; t-- > 0;)
        sorted[--start[scene->part[found->corner.at[3 * t]] + 1]] = t;
    for (size_t i = 0; i < n; i++) {
        const uint32_t *corner = found->corner.at + 3 * sorted[i];
        trace(canvas, corner);
        uint32_t p = scene->part[corner[0]];
        int last = i + 1 == n || scene->part[found->corner.at[3 * sorted[i + 1]]] != p;
        if (!last && (i + 1) % TRIANGLES_PER_FILL != 0)
            continue;
        lbm_canvas_ink(canvas, canvas->colour[p].pastel, 1.0);
        cairo_fill(canvas->cr);
    }
}

void
lbm_canvas_faces(struct lbm_canvas *canvas)
{
    const struct lbm_scene *scene = canvas->scene;
    struct half_edges half = {0};
    struct triangles found = {0};
    uint32_t *mark = lbm_alloc(scene->n, sizeof *mark);
    enum lbm_err err = mark != NULL ? gather(scene, &half) : LBM_E_NOMEM;
    for (uint32_t u = 0; err == LBM_OK && u < scene->n; u++)
        err = find_at(&half, u, scene->n, mark, &found);
    size_t *start = lbm_alloc((size_t)scene->n_hosts + 1, sizeof *start);
    size_t *sorted = lbm_alloc(found.corner.n / 3, sizeof *sorted);
    if (start == NULL || sorted == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK)
        fill(canvas, &found, start, sorted);
    else if (err == LBM_E_NOMEM)
        canvas->err = err;
    free(start);
    free(sorted);
    free(mark);
    free(half.from);
    free(half.to);
    lbm_vec_free(&found.corner);
}
