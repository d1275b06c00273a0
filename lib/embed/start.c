/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts of HEI97 figs 6 and 7. */
#include "base/mutants.h"
#include "embed/embed.h"

/* Without pins the centre is a fixed point: so far around it vertices start instead. */
static const double BLUR = 1e-3;

static int
is_free(const uint8_t *pinned, uint32_t v)
{
    return pinned == NULL || !pinned[v];
}

static int
all_free(const uint8_t *pinned, uint32_t n)
{
    for (uint32_t v = 0; v < n; v++)
        if (!is_free(pinned, v))
            return 0;
    return 1;
}

void
lbm_start_centre(uint32_t n, unsigned m, const uint8_t *pinned, double *x, struct lbm_rng *rng)
{
    double blur = all_free(pinned, n) ? BLUR : 0;
    for (uint32_t v = 0; v < n; v++)
        for (unsigned k = 0; is_free(pinned, v) && k < m; k++)
            x[(size_t)v * m + k] = LBM_MUTANT(START_CENTRE, 0.5, 0.45) + blur * (lbm_rng_unit(rng) - 0.5);
}

void
lbm_start_random(uint32_t n, unsigned m, const uint8_t *pinned, double *x, struct lbm_rng *rng)
{
    for (uint32_t v = 0; v < n; v++)
        for (unsigned k = 0; is_free(pinned, v) && k < m; k++)
            x[(size_t)v * m + k] = lbm_rng_unit(rng);
}
