/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Balancing on large lines, rings and meshes. */
#include "sim/tables/fields.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"

enum lbm_err
field_open(uint32_t side, int square, int ring, struct field *out)
{
    LBM_ASSERT(!(square && ring));
    size_t n = square ? (size_t)side * side : side;
    *out = (struct field){.side = side, .square = square, .ring = ring, .n = n};
    out->load = lbm_alloc(n, sizeof *out->load);
    out->next = lbm_alloc(n, sizeof *out->next);
    if (out->load != NULL && out->next != NULL)
        return LBM_OK;
    field_close(out);
    return LBM_E_NOMEM;
}

void
field_close(struct field *f)
{
    free(f->load);
    free(f->next);
    *f = (struct field){0};
}

void
field_random(struct field *f, struct lbm_rng *rng)
{
    for (size_t i = 0; i < f->n; i++)
        f->load[i] = 2.0 * lbm_rng_unit(rng);
}

void
field_cosine(struct field *f)
{
    for (size_t i = 0; i < f->n; i++)
        f->load[i] = 1.0 + cos(acos(-1.0) * ((double)(i % f->side) + 0.5) / f->side);
}

double
field_error(const struct field *f)
{
    double sum = 0.0, least = f->load[0], largest = f->load[0];
    for (size_t i = 0; i < f->n; i++) {
        sum += f->load[i];
        least = f->load[i] < least ? f->load[i] : least;
        largest = f->load[i] > largest ? f->load[i] : largest;
    }
    double mean = sum / (double)f->n;
    return fmax(largest - mean, mean - least) / mean;
}

/* ---- diffusion ----------------------------------------------------------------------------------------- */

/* A missing neighbour is the processor itself, which is what reflection at the border means. */
static void
diffuse_line(struct field *f)
{
    const double *load = f->load;
    size_t last = f->n - 1;
    f->next[0] = 0.5 * (load[f->ring ? last : 0] + load[1]);
    f->next[last] = 0.5 * (load[last - 1] + load[f->ring ? 0 : last]);
    for (size_t i = 1; i < last; i++)
        f->next[i] = 0.5 * (load[i - 1] + load[i + 1]);
}

static void
diffuse_square(struct field *f)
{
    size_t side = f->side;
    for (size_t y = 0; y < side; y++) {
        const double *row = &f->load[y * side];
        const double *above = y > 0 ? row - side : row, *below = y + 1 < side ? row + side : row;
        for (size_t x = 0; x < side; x++) {
            double left = row[x > 0 ? x - 1 : x], right = row[x + 1 < side ? x + 1 : x];
            f->next[y * side + x] = 0.25 * (left + right + above[x] + below[x]);
        }
    }
}

void
field_diffuse(struct field *f)
{
    if (f->square)
        diffuse_square(f);
    else
        diffuse_line(f);
    double *load = f->load;
    f->load = f->next;
    f->next = load;
}

/* ---- exchange ------------------------------------------------------------------------------------------ */

static inline void
exchange(double *p, double *q, double lambda)
{
    double flow = lambda * (*p - *q);
    *p -= flow;
    *q += flow;
}

static void
exchange_row(double *load, size_t n, double lambda)
{
    for (size_t first = 0; first < 2; first++)
        for (size_t i = first; i + 1 < n; i += 2)
            exchange(&load[i], &load[i + 1], lambda);
}

void
field_exchange(struct field *f, double lambda)
{
    size_t side = f->side, rows = f->square ? side : 1;
    LBM_ASSERT(!f->ring);
    for (size_t y = 0; y < rows; y++)
        exchange_row(&f->load[y * side], side, lambda);
    for (size_t first = 0; first < 2; first++)
        for (size_t y = first; y + 1 < rows; y += 2)
            for (size_t x = 0; x < side; x++)
                exchange(&f->load[y * side + x], &f->load[(y + 1) * side + x], lambda);
}
