/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What random arrivals leave, in closed form (CYB89 sections 2 to 4). */
#include <math.h>

#include "balance/policy.h"
#include "base/check.h"
#include "base/mutants.h"

double
lbm_variance_bound(double n, double gamma, double steps)
{
    double shrinks = LBM_MUTANT(VARIANCE_BOUND, gamma * gamma, gamma);
    return (n - 1.0) * (1.0 - pow(shrinks, steps)) / (1.0 - shrinks);
}

/* The eigenvalue 1 - 2 k alpha has multiplicity d over k (CYB89 Theorem 3). What arrived s steps ago has been
 * multiplied s times, so that a mode holds 1 + lambda^2 + ... of its share. */
double
lbm_variance_diffusion(unsigned d, double alpha, double steps)
{
    double sum = 0.0, multiplicity = 1.0;
    for (unsigned k = LBM_MUTANT(VARIANCE_DIFFUSION, 1u, 0u); k <= d; k++) {
        double lambda = 1.0 - 2.0 * k * alpha, square = lambda * lambda;
        if (k > 0)
            multiplicity *= (double)(d - k + 1) / k;
        sum += multiplicity * (square < 1.0 ? (1.0 - pow(square, steps)) / (1.0 - square) : fmin(steps, 1e9));
    }
    return sum;
}

/* Work that arrived s steps ago is levelled within subcubes of 2^(s every) hosts and by Lemma 3 still
 * contributes n over their size, less 1. */
double
lbm_variance_exchange(unsigned d, unsigned every)
{
    LBM_ASSERT(every >= 1);
    double sum = 0.0, n = ldexp(1.0, (int)d);
    for (unsigned levelled = 0; levelled < d; levelled += every)
        sum += ldexp(n, -(int)levelled) - LBM_MUTANT(VARIANCE_EXCHANGE, 1.0, 0.0);
    return sum;
}
