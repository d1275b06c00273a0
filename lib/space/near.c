/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "space/near.h"

#include <stdlib.h>

#include "base/mem.h"

enum {
    SITES_MIN = 192,  /* below, a scan of all sites is as fast */
    NEAR_LISTED = 64, /* five rings of a grid; a search that runs off the list scans all */
};

/* Powers of the unit box are right to this; on a line with two sites the bound is sharp. */
static const double rounding = 1e-12;

/* Insert into the sorted list of p, dropping the farthest if it is full. */
static void
insert(uint32_t *region, double *away, uint32_t n, uint32_t q, double d)
{
    uint32_t at = n;
    for (; at > 0 && away[at - 1] > d; at--) {
        away[at] = away[at - 1];
        region[at] = region[at - 1];
    }
    away[at] = d;
    region[at] = q;
}

static void
list(const struct lbm_regions *r, uint32_t p, uint32_t *region, double *away)
{
    uint32_t n = 0;
    for (uint32_t q = 0; q < r->n; q++) {
        if (q == p)
            continue;
        double d = sqrt(lbm_metric2(&r->site[(size_t)p * r->m], &r->site[(size_t)q * r->m], r->m, r->wrap));
        if (n < NEAR_LISTED)
            insert(region, away, n++, q, d);
        else if (d < away[NEAR_LISTED - 1])
            insert(region, away, NEAR_LISTED - 1, q, d);
    }
}

enum lbm_err
lbm_near_build(const struct lbm_regions *r, struct lbm_near *near)
{
    *near = (struct lbm_near){0};
    if (r->n < SITES_MIN)
        return LBM_OK;
    near->listed = NEAR_LISTED;
    near->region = lbm_alloc((size_t)r->n * NEAR_LISTED, sizeof *near->region);
    near->away = lbm_alloc((size_t)r->n * NEAR_LISTED, sizeof *near->away);
    if (near->region == NULL || near->away == NULL) {
        lbm_near_free(near);
        return LBM_E_NOMEM;
    }
    for (uint32_t p = 0; p < r->n; p++)
        list(r, p, &near->region[(size_t)p * NEAR_LISTED], &near->away[(size_t)p * NEAR_LISTED]);
    return LBM_OK;
}

void
lbm_near_free(struct lbm_near *near)
{
    free(near->region);
    free(near->away);
    *near = (struct lbm_near){0};
}

/* By the triangle inequality x is at least away - |x - s_p| from a listed site, so once that, squared, less
 * the largest weight, exceeds the second least power, nothing farther counts. */
LBM_INLINE struct lbm_winner
search(const struct lbm_near *near, const struct lbm_regions *r, const double *x, uint32_t p,
       double weight_most, unsigned m, int wrap)
{
    const uint32_t *region = &near->region[(size_t)p * near->listed];
    const double *away = &near->away[(size_t)p * near->listed];
    double to_site = sqrt(lbm_metric2(x, &r->site[(size_t)p * m], m, wrap));
    double least = lbm_power(r, p, x, m, wrap), second = HUGE_VAL;
    uint32_t winner = p;
    for (uint32_t i = 0; i < near->listed; i++) {
        double gap = away[i] - to_site;
        if (gap > 0.0 && gap * gap - weight_most > second + rounding)
            return (struct lbm_winner){winner, least, second - least};
        uint32_t q = region[i];
        double power = lbm_power(r, q, x, m, wrap);
        if (power < least || (power == least && q < winner)) {
            second = least;
            least = power;
            winner = q;
        } else if (power < second) {
            second = power;
        }
    }
    return lbm_scan_regions(r, x, m, wrap);
}

struct lbm_winner
lbm_near_find(const struct lbm_near *near, const struct lbm_regions *r, const double *x, uint32_t p,
              double weight_most)
{
    if (near->listed == 0)
        return lbm_find_winner(r, x);
    if (r->wrap)
        return search(near, r, x, p, weight_most, r->m, 1);
    return r->m == 2 ? search(near, r, x, p, weight_most, 2, 0) : search(near, r, x, p, weight_most, 3, 0);
}
