/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spectrum of a sweep of generalized dimension exchange, and the lambda that makes it small. */
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mutants.h"
#include "base/rng.h"
#include "host/internal.h"
#include "host/spectrum.h"

enum {
    DECAY_SWEEPS = 2000, /* the second half is measured */
    SCAN = 24,           /* intervals of (0, 1) */
    GOLDEN = 16,         /* reductions by .618: from 1/12 to 4e-5 */
};

/* ---- gamma --------------------------------------------------------------------------------------- */

/* One sweep on relative loads x = w / s. The balanced state is taken out before and after, so that its
 * eigenvalue 1 becomes 0. */
struct sweep {
    const struct lbm_colouring *c;
    const double *capacity;
    double lambda, capacity_total;
};

static void
take_balanced_out(const struct sweep *s, double *x)
{
    double load = 0.0;
    for (uint32_t p = 0; p < s->c->n_hosts; p++)
        load += s->capacity[p] * x[p];
    for (uint32_t p = 0; p < s->c->n_hosts; p++)
        x[p] -= load / s->capacity_total;
}

static void
apply_sweep(void *arg, const double *from, double *to, uint32_t n)
{
    const struct sweep *s = arg;
    for (uint32_t p = 0; p < n; p++)
        to[p] = from[p];
    take_balanced_out(s, to);
    for (uint32_t i = 0; i < s->c->n_links; i++) { /* links are ordered by colour */
        uint32_t p = s->c->link[i].p, q = s->c->link[i].q;
        double given = 2.0 * s->lambda * (to[p] - to[q]) / (s->capacity[p] + s->capacity[q]);
        to[p] -= given * s->capacity[q];
        to[q] += given * s->capacity[p];
    }
    take_balanced_out(s, to);
}

/* The spectral radius of what acts on two or three hosts, from the traces of M and of M^2: at most two
 * eigenvalues differ from 0. */
static double
radius_small(const struct sweep *s)
{
    uint32_t n = s->c->n_hosts;
    double trace = 0.0, trace_2 = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        double unit[3] = {0}, once[3], twice[3];
        unit[i] = 1.0;
        apply_sweep((void *)(uintptr_t)s, unit, once, n);
        apply_sweep((void *)(uintptr_t)s, once, twice, n);
        trace += once[i];
        trace_2 += twice[i];
    }
    if (n == 2)
        return fabs(trace);
    double product = (trace * trace - trace_2) / 2.0, root = trace * trace / 4.0 - product;
    return root < 0.0 ? sqrt(product) : fabs(trace) / 2.0 + sqrt(root);
}

/* Where ARPACK does not converge: how fast a random deviation decays, sweep by sweep, in the end. */
static enum lbm_err
radius_by_decay(struct sweep *s, double *radius)
{
    uint32_t n = s->c->n_hosts;
    double *x = lbm_alloc(n, sizeof *x), log_sum = 0.0;
    struct lbm_rng rng;
    if (x == NULL)
        return LBM_E_NOMEM;
    lbm_rng_seed(&rng, 1);
    for (uint32_t p = 0; p < n; p++)
        x[p] = lbm_rng_unit(&rng);
    take_balanced_out(s, x);
    *radius = 0.0;
    for (int i = 0; i < DECAY_SWEEPS; i++) {
        double square = 0.0;
        apply_sweep(s, x, x, n);
        for (uint32_t p = 0; p < n; p++)
            square += s->capacity[p] * x[p] * x[p];
        if (square == 0.0)
            break; /* level: radius 0 */
        double norm = sqrt(square);
        for (uint32_t p = 0; p < n; p++)
            x[p] /= norm;
        if (i >= DECAY_SWEEPS / 2)
            log_sum += log(norm);
        if (i == DECAY_SWEEPS - 1)
            *radius = exp(log_sum / (DECAY_SWEEPS - DECAY_SWEEPS / 2));
    }
    free(x);
    return LBM_OK;
}

/* ---- closed forms --------------------------------------------------------------------------------- */

/* gamma of one axis with even sides or without wrap. The two colours of a ring act on cells of two hosts; a
 * wave of phase phi from cell to cell has eigenvalues mu with sum 2 (1 - lambda)^2 + 2 lambda^2 cos phi and
 * product (1 - 2 lambda)^2. The waves of a chain of k are those of a ring of 2 k that are mirrored in its
 * ends. */
static double
gamma_axis(uint32_t extent, int wrap, double lambda)
{
    if (extent == 1)
        return 0.0;
    if (extent == 2)
        return fabs(1.0 - 2.0 * lambda);
    double cells = wrap ? extent / 2.0 : extent, gamma = (1.0 - 2.0 * lambda) * (1.0 - 2.0 * lambda);
    for (uint32_t j = 1; j < cells; j++) {
        double half = (1.0 - lambda) * (1.0 - lambda) +
                      lambda * lambda * cos(LBM_MUTANT(GAMMA_AXIS, 2.0, 1.0) * M_PI * j / cells);
        double root = half * half - (1.0 - 2.0 * lambda) * (1.0 - 2.0 * lambda);
        gamma = fmax(gamma, root < 0.0 ? fabs(1.0 - 2.0 * lambda) : fabs(half) + sqrt(root));
    }
    return gamma;
}

/* Axes are swept one after the other, so that eigenvalues multiply: the slowest axis decides. */
static int
gamma_closed(const struct lbm_hosts *h, double lambda, double *gamma)
{
    int wrap = h->topology == LBM_TOPOLOGY_RING || h->topology == LBM_TOPOLOGY_TORUS;
    for (uint32_t p = 1; p < h->n; p++)
        if (h->capacity[p] != h->capacity[0])
            return 0;
    if (h->topology == LBM_TOPOLOGY_HYPERCUBE) {
        *gamma = h->n < 2 ? 0.0 : fabs(1.0 - 2.0 * lambda);
        return 1;
    }
    if (!wrap && h->topology != LBM_TOPOLOGY_CHAIN && h->topology != LBM_TOPOLOGY_MESH)
        return 0;
    double slowest = 0.0;
    for (unsigned k = 0; k < 3; k++) {
        if (LBM_MUTANT(GAMMA_ODD, wrap, 0) && h->dims[k] % 2 == 1 && h->dims[k] > 1)
            return 0;
        slowest = fmax(slowest, gamma_axis(h->dims[k], wrap, lambda));
    }
    *gamma = slowest;
    return 1;
}

enum lbm_err
lbm_gamma_sweep_numeric(const struct lbm_hosts *h, const struct lbm_colouring *c, double lambda,
                        double *gamma)
{
    LBM_ASSERT(h->n == c->n_hosts && lambda >= 0.0 && lambda <= 1.0);
    struct sweep s = {.c = c, .capacity = h->capacity, .lambda = lambda};
    for (uint32_t p = 0; p < h->n; p++)
        s.capacity_total += h->capacity[p];
    if (h->n <= 3) {
        *gamma = h->n < 2 ? 0.0 : radius_small(&s);
        return LBM_OK;
    }
    enum lbm_err err = lbm_eigen_radius(apply_sweep, &s, h->n, gamma);
    return err == LBM_E_STATE ? radius_by_decay(&s, gamma) : err;
}

enum lbm_err
lbm_gamma_sweep(const struct lbm_hosts *h, const struct lbm_colouring *c, double lambda, double *gamma)
{
    if (gamma_closed(h, lambda, gamma))
        return LBM_OK;
    return lbm_gamma_sweep_numeric(h, c, lambda, gamma);
}

/* ---- lambda_opt ---------------------------------------------------------------------------------- */

static uint32_t
longest_side(const struct lbm_hosts *h)
{
    uint32_t k = h->dims[0];
    for (unsigned i = 1; i < 3; i++)
        k = h->dims[i] > k ? h->dims[i] : k;
    return k;
}

int
lbm_lambda_closed(const struct lbm_hosts *h, double *lambda, int *exact)
{
    double turn;
    *exact = 1;
    switch (h->topology) {
    case LBM_TOPOLOGY_HYPERCUBE:
        *lambda = 0.5;
        return 1;
    case LBM_TOPOLOGY_CHAIN:
    case LBM_TOPOLOGY_MESH:
        turn = M_PI;
        break;
    case LBM_TOPOLOGY_RING:
    case LBM_TOPOLOGY_TORUS:
        turn = LBM_MUTANT(LAMBDA_RING, 2.0, 1.0) * M_PI;
        break;
    default:
        return 0;
    }
    uint32_t k = longest_side(h);
    for (unsigned i = 0; turn > 4.0 && i < 3; i++)
        *exact = *exact && (h->dims[i] % 2 == 0 || h->dims[i] == 1);
    *lambda = k <= 2 ? 0.5 : 1.0 / (1.0 + sin(turn / k));
    return 1;
}

struct search {
    const struct lbm_hosts *h;
    const struct lbm_colouring *c;
    double lambda, gamma; /* the best so far */
    enum lbm_err err;
};

static double
probe(struct search *s, double lambda)
{
    double gamma = HUGE_VAL;
    if (s->err == LBM_OK)
        s->err = lbm_gamma_sweep(s->h, s->c, lambda, &gamma);
    if (gamma < s->gamma) {
        s->gamma = gamma;
        s->lambda = lambda;
    }
    return gamma;
}

/* Golden section: gamma has one minimum in here, or one is as good as another. */
static void
refine(struct search *s, double low, double high)
{
    const double part = (sqrt(5.0) - 1.0) / 2.0;
    double a = high - part * (high - low), b = low + part * (high - low);
    double at_a = probe(s, a), at_b = probe(s, b);
    for (int i = 0; i < LBM_MUTANT(LAMBDA_REFINED, GOLDEN, 0) && s->err == LBM_OK; i++) {
        if (at_a <= at_b) {
            high = b;
            b = a;
            at_b = at_a;
            at_a = probe(s, a = high - part * (high - low));
        } else {
            low = a;
            a = b;
            at_a = at_b;
            at_b = probe(s, b = low + part * (high - low));
        }
    }
}

enum lbm_err
lbm_lambda_numeric(const struct lbm_hosts *h, const struct lbm_colouring *c, double *lambda, double *gamma)
{
    struct search s = {.h = h, .c = c, .lambda = 0.5, .gamma = HUGE_VAL};
    const int scan = LBM_MUTANT(LAMBDA_SCAN, SCAN, 3);
    for (int i = 1; i < scan; i++)
        probe(&s, (double)i / scan);
    double middle = s.lambda;
    if (s.gamma > 1e-9) /* else a sweep levels everything */
        refine(&s, middle - 1.0 / scan, middle + 1.0 / scan);
    if (s.err == LBM_OK) {
        *lambda = s.lambda;
        *gamma = s.gamma;
    }
    return s.err;
}
