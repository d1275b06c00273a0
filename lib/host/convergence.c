/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CYB89 Theorem 1: does a diffusion matrix level every load, and if not, why. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mutants.h"
#include "host/internal.h"
#include "host/spectrum.h"

/* Own shares are differences of sums of alphas: below this they are rounding. */
static const double ROUNDING = 1e-12;

static int
uses(const double *alpha, uint32_t i)
{
    return alpha[i] > 0.0;
}

/* Colour the hosts by turns along the links in use.
 * Out: side [n] 1 or 2, 0 where host 0 does not lead.  Returns how many were reached. */
static uint32_t
reach(const struct lbm_hosts *h, const double *alpha, uint8_t *side, uint32_t *queue)
{
    uint32_t n = 0;
    if (h->n > 0) {
        side[0] = 1;
        queue[n++] = 0;
    }
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = h->offset[queue[k]]; i < h->offset[queue[k] + 1]; i++)
            if (uses(alpha, i) && side[h->target[i]] == 0) {
                side[h->target[i]] = 3 - side[queue[k]];
                queue[n++] = h->target[i];
            }
    return n;
}

static void
own_shares(const struct lbm_hosts *h, const double *alpha, struct lbm_convergence *out)
{
    double mean = 0.0;
    for (uint32_t p = 0; p < h->n; p++)
        mean += h->capacity[p] / h->n;
    out->feasible = 1;
    for (uint32_t p = 0; p < h->n; p++) {
        double own = 1.0;
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++)
            own -= alpha[i] * mean / h->capacity[p];
        if (own > ROUNDING)
            out->own_share = 1;
        if (own < -ROUNDING)
            out->feasible = 0;
    }
}

static const char *
words(const struct lbm_convergence *c)
{
    if (!c->connected)
        return "CYB89 Theorem 1: the links in use do not connect all hosts, no load passes between the parts";
    if (!c->bipartite)
        return "CYB89 Theorem 1: the links in use connect all hosts and close an odd circle: every load "
               "levels";
    if (c->own_share)
        return "CYB89 Theorem 1: connected, and some host keeps a share of its own load: every load levels";
    return "CYB89 Theorem 1: the network is bipartite and no host keeps a share of its own load: -1 is an "
           "eigenvalue, the two sides exchange their loads for ever; a smaller alpha converges";
}

static enum lbm_err
ask_spectrum(const struct lbm_hosts *h, const double *alpha, struct lbm_convergence *c)
{
    double lambda_2, lambda_n;
    enum lbm_err err = lbm_diffusion_ends(h, alpha, &lambda_2, &lambda_n);
    if (err != LBM_OK)
        return err;
    double gamma = fmax(fabs(lambda_2), fabs(lambda_n));
    c->converges = gamma < 1.0 - ROUNDING;
    snprintf(c->text, sizeof c->text,
             "CYB89 constraint (b) does not hold, some host gives away more than it has; gamma = %.6g %s 1, "
             "so loads %s",
             gamma, c->converges ? "<" : ">=", c->converges ? "level all the same" : "do not level");
    return LBM_OK;
}

enum lbm_err
lbm_convergence_check(const struct lbm_hosts *h, const double *alpha, struct lbm_convergence *out)
{
    struct lbm_convergence c = {.bipartite = 1};
    uint8_t *side = lbm_alloc(h->n, sizeof *side);
    uint32_t *queue = lbm_alloc(h->n, sizeof *queue);
    enum lbm_err err = side && queue ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK) {
        c.connected = reach(h, alpha, side, queue) == h->n;
        for (uint32_t p = 0; p < h->n; p++)
            for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++)
                if (uses(alpha, i) && side[p] != 0 && side[p] == side[h->target[i]])
                    c.bipartite = 0;
        own_shares(h, alpha, &c);
        c.converges =
            LBM_MUTANT(THEOREM_1_CONNECTED, c.connected, 1) &&
            (LBM_MUTANT(THEOREM_1_OWN, c.own_share, 0) || LBM_MUTANT(THEOREM_1_BIPARTITE, !c.bipartite, 0));
        snprintf(c.text, sizeof c.text, "%s", words(&c));
        if (!c.feasible && c.connected)
            err = ask_spectrum(h, alpha, &c);
    }
    free(side);
    free(queue);
    if (err == LBM_OK)
        *out = c;
    return err;
}
