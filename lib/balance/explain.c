/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a run ended, in words: what it promises, or the theorem that forbids it to settle. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "balance/internal.h"

struct ending {
    const struct lbm_network *net;
    const struct lbm_balance_options *options;
    const struct lbm_balance_result *result;
};

static void
explain_diffusion(const struct ending *e, char *out, size_t size)
{
    const struct lbm_hosts *h = e->net->h;
    struct lbm_convergence c;
    double *alpha = lbm_alloc(h->offset[h->n], sizeof *alpha);
    for (uint32_t i = 0; alpha != NULL && i < h->offset[h->n]; i++)
        alpha[i] = e->result->rule.alpha;
    if (alpha != NULL && e->result->rule.link_alpha != NULL)
        lbm_directions_of_links(e->net, e->result->rule.link_alpha, alpha);
    if (alpha == NULL || lbm_convergence_check(h, alpha, &c) != LBM_OK)
        snprintf(out, size, "the bound was not reached in %" PRIu64 " steps", e->result->steps);
    else if (c.converges)
        snprintf(out, size,
                 "levels, but slowly: gamma = %.6g; the bound was not reached in %" PRIu64 " steps",
                 e->result->rule.gamma, e->result->steps);
    else
        snprintf(out, size, "%s", c.text);
    free(alpha);
}

static void
explain_failure(const struct ending *e, char *out, size_t size)
{
    const struct lbm_balance_result *r = e->result;
    if (r->rule.n_poles > 0)
        snprintf(out, size,
                 "of %" PRIu32
                 " eigenvalues one is taken out a step (Diekmann et al. 1999); the bound was not "
                 "reached in %" PRIu64 " steps, rounding keeps it off",
                 r->rule.n_poles, r->steps);
    else if (r->rule.alpha > 0.0 && e->options->integer)
        snprintf(out, size,
                 "whole units: links carry nothing below a difference of 1 / alpha = %.4g, the bound was not "
                 "reached in %" PRIu64 " steps",
                 1.0 / r->rule.alpha, r->steps);
    else if (r->rule.alpha > 0.0)
        explain_diffusion(e, out, size);
    else if (e->options->integer && r->rule.lambda > 0.0 && e->options->stop != LBM_STOP_QUIESCENT)
        snprintf(out, size,
                 "whole units: XL95 (6) leaves linked hosts a difference of 1%s, their sum along a path of "
                 "links is above the bound",
                 r->rule.lambda < 0.5 ? " and more where lambda < 1/2" : "");
    else if (r->rule.lambda >= 1.0)
        snprintf(out, size, "at lambda = 1 pairs swap their loads: gamma(M) = 1 (XL95 section 3)");
    else if (r->rule.lambda > 0.0)
        snprintf(out, size, "gamma(M) = %.6g a sweep: the bound was not reached in %" PRIu64 " steps",
                 r->rule.gamma, r->steps);
    else
        snprintf(out, size,
                 "the bound was not reached in %" PRIu64 " steps: fig. 9 of HEI97 never settles "
                 "where the loads cannot be equal",
                 r->steps);
}

static void
explain_success(const struct ending *e, char *out, size_t size)
{
    const struct lbm_balance_result *r = e->result;
    const char *name = lbm_policy_source(r->rule.policy);
    uint32_t d = e->net->colouring.n_colours;
    if (r->rule.policy == LBM_POLICY_OEM)
        snprintf(out, size, "one sweep; loads differ by at most %u (RJK03 Theorem 1)", (d + 1) / 2);
    else if (r->rule.policy == LBM_POLICY_CWA)
        snprintf(out, size,
                 "one sweep; loads differ by at most %u (RJK03 section 5); all loads were collected first",
                 lbm_cwa_difference(e->net, &r->rule));
    else if (lbm_policies[r->rule.policy].hypercube)
        snprintf(out, size, "one sweep; loads differ by at most %u (RJK03 section 2)", d);
    else if (r->rule.policy == LBM_POLICY_EDGE_REMAP && e->options->stop == LBM_STOP_QUIESCENT)
        snprintf(out, size, "every host is within one unit of its share (HEI97 section 9)");
    else if (r->rule.policy == LBM_POLICY_RANDOM_MATCHING && e->options->stop == LBM_STOP_QUIESCENT)
        snprintf(out, size, "no pair of linked hosts would give anything (%s)", name);
    else if (r->rule.policy == LBM_POLICY_WHOLE_DIFFUSION && e->options->stop == LBM_STOP_QUIESCENT)
        snprintf(out, size, "nothing moves (%s); linked hosts may differ by less than 1 / alpha = %.4g units",
                 name, 1.0 / r->rule.alpha);
    else if (e->options->stop == LBM_STOP_QUIESCENT)
        snprintf(out, size, "a sweep in which nothing moves (XL95)%s",
                 r->rule.lambda < 0.5 ? "; for lambda < 1/2 linked hosts may still differ by more than 1"
                                      : "");
    else
        snprintf(out, size, "the bound is kept (%s)", name);
}

void
lbm_balance_explain(const struct lbm_network *net, const struct lbm_balance_options *options,
                    const struct lbm_balance_result *result, char *out, size_t size)
{
    const struct ending e = {net, options, result};
    (result->settled ? explain_success : explain_failure)(&e, out, size);
}
