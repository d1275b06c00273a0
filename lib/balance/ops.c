/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The optimal polynomial scheme: step t is diffusion with alpha = 1 / lambda_t, which takes the part of
 * eigenvalue lambda_t out of the deviation; after one step for each distinct eigenvalue nothing is left.
 *
 * Source:    Diekmann, Frommer and Monien 1999, section 4.
 * Deviation: the order of the eigenvalues is Leja's, so that no product of the steps in between grows large;
 * the paper asks for a good order and gives none that suits all networks. Where one eigenvalue lies far above
 *            all others no order is good: what rounding leaves of its part grows by lambda / lambda_t - 1 in
 * each later step. Its step is then repeated, as often as it takes to keep rounding below the bounds here. */
#include <math.h>
#include <stdlib.h>

#include "balance/internal.h"

/* Leja: the largest first, then always the one with the largest product of distances to those before.
 * Logarithms, since products leave the range of a double.  In/out: value [n]. */
static enum lbm_err
order_by_leja(double *value, uint32_t n)
{
    double *product = lbm_alloc(n, sizeof *product);
    if (product == NULL)
        return LBM_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        product[i] = log(value[i]); /* the first is the largest */
    for (uint32_t k = 0; k < n; k++) {
        uint32_t best = k;
        for (uint32_t i = k; i < n; i++)
            if (product[i] > product[best])
                best = i;
        double chosen = value[best];
        value[best] = value[k];
        product[best] = product[k];
        value[k] = chosen;
        for (uint32_t i = k + 1; i < n; i++)
            product[i] = (k == 0 ? 0.0 : product[i]) + log(fabs(value[i] - chosen));
    }
    free(product);
    return LBM_OK;
}

/* ---- steps that are repeated --------------------------------------------------------------------- */

/* Logarithms of how large the part of an eigenvalue may be, over the deviation at first. */
static const double ROUNDING = -36.0;  /* of what a step leaves: 2^-52 */
static const double TOO_LARGE = -14.0; /* of a part that was taken out: 1e-6, and its step is repeated */
static const double LEVEL = -25.0;     /* in the end: 1e-11 */
enum { REPEATS_MAX = 4 };              /* times the number of eigenvalues: beyond, the scheme is given up */

struct plan {
    const double *value; /* [n] in Leja's order */
    uint32_t n;
    double *size; /* [n] of each part */
    LBM_VEC(double) step;
};

/* Append the step of value[k]. */
static enum lbm_err
take_out(struct plan *p, uint32_t k)
{
    double largest = -HUGE_VAL;
    for (uint32_t i = 0; i < p->n; i++) {
        p->size[i] += i == k ? 0.0 : log(fabs(1.0 - p->value[i] / p->value[k]));
        largest = fmax(largest, p->size[i]);
    }
    for (uint32_t i = 0; i < p->n; i++)
        p->size[i] = i == k ? largest + ROUNDING : fmax(p->size[i], largest + ROUNDING);
    return lbm_vec_push(&p->step, p->value[k]);
}

static uint32_t
largest_part(const struct plan *p, uint32_t taken)
{
    uint32_t k = 0;
    for (uint32_t i = 1; i < taken; i++)
        if (p->size[i] > p->size[k])
            k = i;
    return k;
}

/* Errors: LBM_E_NOMEM; LBM_E_STATE too many repetitions. */
static enum lbm_err
plan_steps(struct plan *p)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t taken = 1; err == LBM_OK && taken <= p->n; taken++) {
        err = take_out(p, taken - 1);
        double most = taken < p->n ? TOO_LARGE : LEVEL;
        for (uint32_t k = 0; err == LBM_OK && p->size[k = largest_part(p, taken)] > most;)
            err = p->step.n > (size_t)(1 + REPEATS_MAX) * p->n ? LBM_E_STATE : take_out(p, k);
    }
    return err;
}

enum lbm_err
lbm_known_poles(const struct lbm_network *net)
{
    struct lbm_known *known = net->known;
    double *value;
    struct plan p = {0};
    if (known->pole != NULL)
        return LBM_OK;
    enum lbm_err err = lbm_laplacian_distinct(net->h, &value, &p.n);
    if (err != LBM_OK)
        return err;
    p.value = value;
    p.size = lbm_alloc(p.n, sizeof *p.size);
    err = p.size == NULL ? LBM_E_NOMEM : order_by_leja(value, p.n);
    if (err == LBM_OK)
        err = lbm_vec_reserve(&p.step, 1); /* one host has no step, and a list */
    if (err == LBM_OK)
        err = plan_steps(&p);
    free(value);
    free(p.size);
    if (err != LBM_OK) {
        lbm_vec_free(&p.step);
        return err;
    }
    known->pole = p.step.at;
    known->n_poles = (uint32_t)p.step.n;
    known->n_eigenvalues = p.n;
    return LBM_OK;
}
