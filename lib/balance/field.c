/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads on lines, rings, squares and cubes, in one piece: drawn, balanced, measured. */
#include <math.h>
#include <stdlib.h>

#include "balance/field_internal.h"
#include "balance/internal.h"
#include "base/check.h"

enum lbm_err
lbm_field_open(unsigned d, uint32_t side, int ring, struct lbm_field *out)
{
    LBM_ASSERT(d >= 1 && d <= LBM_FIELD_DIMENSIONS_MAX && side >= 2 && (!ring || d == 1));
    struct lbm_field f = {.d = d, .side = side, .ring = ring, .n = 1};
    for (unsigned k = 0; k < d; k++)
        f.n *= side;
    f.load = lbm_alloc(f.n, sizeof *f.load);
    f.next = lbm_alloc(f.n, sizeof *f.next);
    if (f.load == NULL || f.next == NULL) {
        lbm_field_close(&f);
        return LBM_E_NOMEM;
    }
    *out = f;
    return LBM_OK;
}

void
lbm_field_close(struct lbm_field *f)
{
    free(f->load);
    free(f->next);
    *f = (struct lbm_field){0};
}

void
lbm_field_draw(struct lbm_field *f, uint64_t seed)
{
    for (size_t i = 0; i < f->n; i++)
        f->load[i] = lbm_field_drawn(seed, i);
}

void
lbm_field_cosine(struct lbm_field *f)
{
    for (size_t i = 0; i < f->n; i++)
        f->load[i] = 1.0 + cos(M_PI * ((double)(i % f->side) + 0.5) / f->side);
}

double
lbm_field_error(const struct lbm_field *f)
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

static struct box
box_of(const struct lbm_field *f)
{
    struct box box = {.load = f->load, .next = f->next};
    for (unsigned k = 0; k < LBM_FIELD_DIMENSIONS_MAX; k++)
        box.size[k] = k < f->d ? f->side : 1;
    return box;
}

void
lbm_field_diffuse(struct lbm_field *f, double alpha)
{
    struct box box = box_of(f);
    lbm_box_diffuse(&box, alpha, f->ring);
    f->load = box.load;
    f->next = box.next;
}

void
lbm_field_exchange(struct lbm_field *f, double lambda)
{
    LBM_ASSERT(!f->ring);
    struct box box = box_of(f);
    lbm_box_exchange(&box, lambda);
}

/* ---- boxes ------------------------------------------------------------------------------------------ */

/* Add to next what comes over the links of one axis to the row at `row`, whose neighbours along that axis
 * are rows; a missing neighbour is the row itself. */
static void
take_rows(const double *row, const double *before, const double *after, double *next, size_t n, double alpha)
{
    for (size_t x = 0; x < n; x++)
        next[x] += lbm_diffusion_flow(alpha, before[x], row[x]) + lbm_diffusion_flow(alpha, after[x], row[x]);
}

static void
take_row(const double *row, double *next, size_t n, double alpha, int ring)
{
    ring = LBM_MUTANT(FIELD_BORDER, ring, 1);
    double before = row[ring ? n - 1 : 0], after = row[ring ? 0 : n - 1];
    next[0] =
        row[0] + lbm_diffusion_flow(alpha, before, row[0]) + lbm_diffusion_flow(alpha, row[n > 1], row[0]);
    for (size_t x = 1; x + 1 < n; x++)
        next[x] = row[x] + lbm_diffusion_flow(alpha, row[x - 1], row[x]) +
                  lbm_diffusion_flow(alpha, row[x + 1], row[x]);
    if (n > 1)
        next[n - 1] = row[n - 1] + lbm_diffusion_flow(alpha, row[n - 2], row[n - 1]) +
                      lbm_diffusion_flow(alpha, after, row[n - 1]);
}

void
lbm_box_diffuse(struct box *b, double alpha, int ring)
{
    size_t n = b->size[0], stride[LBM_FIELD_DIMENSIONS_MAX] = {1, n, n * b->size[1]};
    for (size_t z = 0; z < b->size[2]; z++)
        for (size_t y = 0; y < b->size[1]; y++) {
            const size_t at[LBM_FIELD_DIMENSIONS_MAX] = {0, y, z};
            const double *row = &b->load[z * stride[2] + y * stride[1]];
            double *next = &b->next[z * stride[2] + y * stride[1]];
            take_row(row, next, n, alpha, ring);
            for (unsigned k = 1; k < LBM_FIELD_DIMENSIONS_MAX; k++)
                if (b->size[k] > 1)
                    take_rows(row, at[k] > 0 ? row - stride[k] : row,
                              at[k] + 1 < b->size[k] ? row + stride[k] : row, next, n, alpha);
        }
    double *load = b->load;
    b->load = b->next;
    b->next = load;
}

static void
exchange_row(double *row, size_t n, uint32_t first, double lambda)
{
    for (size_t i = first; i + 1 < n; i += 2) {
        double flow = lbm_exchange_flow(lambda, row[i], 1.0, row[i + 1], 1.0);
        row[i] -= flow;
        row[i + 1] += flow;
    }
}

static void
exchange_rows(double *restrict p, double *restrict q, size_t n, double lambda)
{
    for (size_t i = 0; i < n; i++) {
        double flow = lbm_exchange_flow(lambda, p[i], 1.0, q[i], 1.0);
        p[i] -= flow;
        q[i] += flow;
    }
}

void
lbm_box_exchange(struct box *b, double lambda)
{
    size_t n = b->size[0], rows = (size_t)b->size[1] * b->size[2];
    for (size_t y = 0; y < rows; y++) /* both colours of a row while it is cached */
        for (uint32_t colour = 0; colour < 2; colour++)
            exchange_row(&b->load[y * n], n, (colour + b->odd[0]) % 2, lambda);
    for (size_t z = 0; z < b->size[2]; z++)
        for (uint32_t colour = 0; colour < 2; colour++)
            for (size_t y = (colour + b->odd[1]) % 2; y + 1 < b->size[1]; y += 2) {
                double *row = &b->load[(z * b->size[1] + y) * n];
                exchange_rows(row, row + n, n, lambda);
            }
    size_t plane = n * b->size[1];
    for (uint32_t colour = 0; colour < 2; colour++)
        for (size_t z = (colour + b->odd[2]) % 2; z + 1 < b->size[2]; z += 2)
            exchange_rows(&b->load[z * plane], &b->load[(z + 1) * plane], plane, lambda);
}
