/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generalized dimension exchange over all links of a network. */
#include "sim/tables/exchange.h"

#include <math.h>
#include <stdlib.h>

#include "balance/balance.h"
#include "base/mem.h"

void
exchange_free(struct exchange *e)
{
    free(e->first);
    free(e->pair);
    *e = (struct exchange){0};
}

static enum lbm_err
allocate(struct exchange *e, uint32_t n, uint32_t colours, uint32_t pairs)
{
    *e = (struct exchange){.n = n, .colours = colours};
    e->first = lbm_alloc((size_t)colours + 1, sizeof *e->first);
    e->pair = lbm_alloc(pairs, sizeof *e->pair);
    if (e->first != NULL && e->pair != NULL)
        return LBM_OK;
    exchange_free(e);
    return LBM_E_NOMEM;
}

/* Pairs p < q in order of colour, then of p. */
static void
fill(struct exchange *e, const struct lbm_hosts *h, const uint32_t *colour)
{
    uint32_t at = 0;
    for (uint32_t c = 0; c < e->colours; c++) {
        e->first[c] = at;
        for (uint32_t p = 0; p < h->n; p++)
            for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++)
                if (colour[i] == c && p < h->target[i]) {
                    e->pair[at][0] = p;
                    e->pair[at++][1] = h->target[i];
                }
    }
    e->first[e->colours] = at;
}

static enum lbm_err
exchange_of_hosts(const struct lbm_hosts *h, struct exchange *out)
{
    uint32_t directions = h->offset[h->n];
    uint32_t *colour = lbm_alloc(directions, sizeof *colour);
    if (colour == NULL)
        return LBM_E_NOMEM;
    uint32_t colours = lbm_hosts_colour(h, colour);
    enum lbm_err err = colours == 0 ? LBM_E_NOMEM : allocate(out, h->n, colours, directions / 2);
    if (err == LBM_OK)
        fill(out, h, colour);
    free(colour);
    return err;
}

enum lbm_err
exchange_of_spec(const char *spec, struct exchange *out)
{
    struct lbm_hosts h;
    enum lbm_err err = lbm_hosts_generate(spec, &h, NULL);
    if (err != LBM_OK)
        return err;
    err = exchange_of_hosts(&h, out);
    lbm_hosts_free(&h);
    return err;
}

enum lbm_err
exchange_of_cube(uint32_t k, uint32_t dimensions, struct exchange *out)
{
    uint32_t n = 1, at = 0;
    for (uint32_t d = 0; d < dimensions; d++)
        n *= k;
    enum lbm_err err = allocate(out, n, 2 * dimensions, n * dimensions);
    if (err != LBM_OK)
        return err;
    for (uint32_t d = 0, step = 1; d < dimensions; d++, step *= k)
        for (uint32_t parity = 0; parity < 2; parity++) {
            out->first[2 * d + parity] = at;
            for (uint32_t p = 0; p < n; p++) {
                uint32_t x = p / step % k;
                if (x % 2 != parity)
                    continue;
                out->pair[at][0] = p;
                out->pair[at++][1] = x + 1 < k ? p + step : p - x * step;
            }
        }
    out->first[2 * dimensions] = at;
    return LBM_OK;
}

/* One sweep. Value: units moved. */
static uint64_t
sweep(const struct exchange *e, struct ratio lambda, uint64_t *load)
{
    uint64_t moved = 0;
    for (uint32_t i = 0; i < e->first[e->colours]; i++) {
        uint64_t *high = &load[e->pair[i][0]], *low = &load[e->pair[i][1]];
        if (*high < *low) {
            uint64_t *other = high;
            high = low;
            low = other;
        }
        uint64_t given = lbm_gde_exchange(*high, *low, lambda.numerator, lambda.denominator);
        *high -= given;
        *low += given;
        moved += given;
    }
    return moved;
}

uint32_t
exchange_sweeps(const struct exchange *e, struct ratio lambda, uint64_t *load)
{
    uint32_t sweeps = 1;
    while (sweep(e, lambda, load) != 0)
        sweeps++;
    return sweeps;
}

static int
is_level(const struct exchange *e, const double *load)
{
    for (uint32_t i = 0; i < e->first[e->colours]; i++)
        if (fabs(load[e->pair[i][0]] - load[e->pair[i][1]]) > 1.0)
            return 0;
    return 1;
}

uint32_t
exchange_sweeps_real(const struct exchange *e, double lambda, double *load)
{
    uint32_t sweeps = 0;
    for (; !is_level(e, load); sweeps++)
        for (uint32_t i = 0; i < e->first[e->colours]; i++) {
            double *p = &load[e->pair[i][0]], *q = &load[e->pair[i][1]];
            double flow = lambda * (*p - *q);
            *p -= flow;
            *q += flow;
        }
    return sweeps;
}

void
exchange_loads(struct lbm_rng *rng, uint32_t mean, uint32_t n, uint64_t *load)
{
    for (uint32_t p = 0; p < n; p++)
        load[p] = lbm_rng_below(rng, 2 * mean);
}
