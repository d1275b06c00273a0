/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sites of arbitrary hosts: stress majorization of the routing distances.
 *
 * Up to FULL_MAX hosts, all pairs count. Of more, FULL_MAX landmarks far from each other are placed so, and
 * the others between them. Source: Gansner, Koren, North 2004. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/rng.h"
#include "host/internal.h"

enum {
    FULL_MAX = 512,       /* all pairs: 2 ms a sweep */
    SWEEPS_MAX = 400,     /* of one start; few need more than 100 */
    STARTS_MAX = 8,       /* random ones, next to MDS */
    START_TERMS = 200000, /* pairs of all random starts together: 8 starts up to 158 hosts, none above 447 */
    OTHERS_SWEEPS = 30,   /* over the hosts that are no landmarks */
    OTHERS_SAMPLE = 64,   /* hosts that each of them looks at next to the landmarks: keeps twins apart */
};

static const double settled = 1e-5; /* movement per sweep, of the mean distance, that ends a start */

/* Weighted mean of where each partner of a host would have it be. */
struct pull {
    double weight;
    double sum[LBM_DIMENSIONS_MAX];
};

static void
pull_add(struct pull *pull, const double *x, const double *partner, unsigned m, uint32_t dist)
{
    double d = dist, length2 = 0.0, w = 1.0 / (d * d);
    for (unsigned k = 0; k < m; k++)
        length2 += (x[k] - partner[k]) * (x[k] - partner[k]);
    double stretch = length2 > 0.0 ? d / sqrt(length2) : 0.0;
    pull->weight += w;
    for (unsigned k = 0; k < m; k++)
        pull->sum[k] += w * (partner[k] + stretch * (x[k] - partner[k]));
    if (length2 == 0.0) /* hosts at one place part along an axis, any will do */
        pull->sum[0] += w * d;
}

/* Move to the mean; returns the squared way. */
static double
pull_apply(const struct pull *pull, double *x, unsigned m)
{
    double moved = 0.0;
    for (unsigned k = 0; k < m; k++) {
        double to = pull->sum[k] / pull->weight;
        moved += (to - x[k]) * (to - x[k]);
        x[k] = to;
    }
    return moved;
}

static double
mean_distance(const struct lbm_hosts *h, const uint32_t *host, uint32_t n)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            sum += lbm_dist(h, host[i], host[j]);
    return sum / ((double)n * (n - 1));
}

/* Improve x [n * m] until it settles; each sweep lowers the stress. Returns the stress. */
static double
majorize(const struct lbm_hosts *h, const uint32_t *host, uint32_t n, double still, double *x)
{
    unsigned m = h->m;
    double moved = HUGE_VAL;
    for (int sweep = 0; sweep < SWEEPS_MAX && moved > still * still * n; sweep++) {
        moved = 0.0;
        for (uint32_t i = 0; i < n; i++) {
            struct pull pull = {0};
            for (uint32_t j = 0; j < n; j++)
                if (j != i)
                    pull_add(&pull, &x[(size_t)i * m], &x[(size_t)j * m], m, lbm_dist(h, host[i], host[j]));
            moved += pull_apply(&pull, &x[(size_t)i * m], m);
        }
    }
    double stress = 0.0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++) {
            double length2 = 0.0, d = lbm_dist(h, host[i], host[j]);
            for (unsigned k = 0; k < m; k++)
                length2 += pow(x[(size_t)i * m + k] - x[(size_t)j * m + k], 2.0);
            stress += pow(sqrt(length2) / d - 1.0, 2.0);
        }
    return stress;
}

/* Place the chosen hosts by the best of several starts: MDS, then random ones. Out: x [n * h->m]. */
static enum lbm_err
place(const struct lbm_hosts *h, const uint32_t *host, uint32_t n, double *x)
{
    size_t coordinates = (size_t)n * h->m;
    double *start = lbm_alloc(coordinates, sizeof *start);
    if (start == NULL)
        return LBM_E_NOMEM;
    double distance = mean_distance(h, host, n), best = HUGE_VAL;
    enum lbm_err err = n >= 3 ? lbm_mds(h, host, n, start) : LBM_E_STATE;
    if (err == LBM_OK) {
        best = majorize(h, host, n, settled * distance, start);
        memcpy(x, start, coordinates * sizeof *x);
    }
    uint32_t affordable = START_TERMS / (n * n);
    uint32_t starts = affordable < STARTS_MAX ? affordable : STARTS_MAX;
    starts += starts == 0 && isinf(best);
    for (uint32_t s = 0; s < starts && err != LBM_E_NOMEM; s++) {
        struct lbm_rng rng;
        lbm_rng_stream(&rng, n, s);
        for (size_t i = 0; i < coordinates; i++)
            start[i] = 2.0 * distance * lbm_rng_unit(&rng);
        double stress = majorize(h, host, n, settled * distance, start);
        if (stress < best) {
            best = stress;
            memcpy(x, start, coordinates * sizeof *x);
        }
    }
    free(start);
    return err == LBM_E_NOMEM ? err : LBM_OK;
}

/* Hosts in order of choice: each the farthest from those chosen before, host 0 first.
 * Out: chosen [n]; nearest [h->n] index of the nearest landmark of each host. */
static enum lbm_err
choose_landmarks(const struct lbm_hosts *h, uint32_t n, uint32_t *chosen, uint32_t *nearest)
{
    uint32_t *away = lbm_alloc(h->n, sizeof *away);
    if (away == NULL)
        return LBM_E_NOMEM;
    memset(away, 0xff, h->n * sizeof *away);
    for (uint32_t i = 0, next = 0; i < n; i++) {
        chosen[i] = next;
        for (uint32_t p = 0; p < h->n; p++)
            if (lbm_dist(h, chosen[i], p) < away[p]) {
                away[p] = lbm_dist(h, chosen[i], p);
                nearest[p] = i;
            }
        for (uint32_t p = 0; p < h->n; p++)
            next = away[p] > away[next] ? p : next;
    }
    free(away);
    return LBM_OK;
}

/* Sweeps over the hosts that are no landmarks; each looks at the landmarks and at a fixed random sample. */
static void
place_others(struct lbm_hosts *h, const uint32_t *landmark, uint32_t n, const uint8_t *is_landmark)
{
    unsigned m = h->m;
    for (int sweep = 0; sweep < OTHERS_SWEEPS; sweep++)
        for (uint32_t p = 0; p < h->n; p++) {
            double *x = &h->site[(size_t)p * m];
            struct pull pull = {0};
            struct lbm_rng rng;
            if (is_landmark[p])
                continue;
            for (uint32_t i = 0; i < n; i++)
                pull_add(&pull, x, &h->site[(size_t)landmark[i] * m], m, lbm_dist(h, p, landmark[i]));
            lbm_rng_stream(&rng, 0, p);
            for (int i = 0; i < OTHERS_SAMPLE; i++) {
                uint32_t q = lbm_rng_below(&rng, h->n);
                if (q != p)
                    pull_add(&pull, x, &h->site[(size_t)q * m], m, lbm_dist(h, p, q));
            }
            pull_apply(&pull, x, m);
        }
}

static enum lbm_err
place_by_landmarks(struct lbm_hosts *h)
{
    uint32_t n = FULL_MAX;
    unsigned m = h->m;
    uint32_t *landmark = lbm_alloc(n, sizeof *landmark), *nearest = lbm_alloc(h->n, sizeof *nearest);
    uint8_t *is_landmark = lbm_alloc(h->n, sizeof *is_landmark);
    double *x = lbm_alloc((size_t)n * m, sizeof *x);
    enum lbm_err err = landmark && nearest && is_landmark && x ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK)
        err = choose_landmarks(h, n, landmark, nearest);
    if (err == LBM_OK)
        err = place(h, landmark, n, x);
    if (err == LBM_OK) {
        struct lbm_rng rng;
        lbm_rng_seed(&rng, h->n);
        /* Off the landmark by up to half a link, or hosts at the same place would stay together. */
        for (size_t i = 0; i < (size_t)h->n * m; i++)
            h->site[i] = x[(size_t)nearest[i / m] * m + i % m] + lbm_rng_unit(&rng) - 0.5;
        for (uint32_t i = 0; i < n; i++) {
            is_landmark[landmark[i]] = 1;
            memcpy(&h->site[(size_t)landmark[i] * m], &x[(size_t)i * m], m * sizeof *x);
        }
        place_others(h, landmark, n, is_landmark);
    }
    free(landmark);
    free(nearest);
    free(is_landmark);
    free(x);
    return err;
}

enum lbm_err
lbm_sites_stress(struct lbm_hosts *h)
{
    enum lbm_err err = LBM_OK;
    if (h->n > FULL_MAX) {
        err = place_by_landmarks(h);
    } else if (h->n >= 2) {
        uint32_t all[FULL_MAX];
        for (uint32_t p = 0; p < h->n; p++)
            all[p] = p;
        err = place(h, all, h->n, h->site);
    }
    if (err == LBM_OK)
        lbm_sites_fit(h->site, h->n, h->m);
    return err;
}
