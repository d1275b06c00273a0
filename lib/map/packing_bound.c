/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How full the fullest host is at least, whatever the packing. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "map/packing.h"

enum { HALVINGS = 60 };

static const uint64_t LOOKS_MAX = UINT64_C(1) << 24; /* vertices times hosts that are looked at */

static int
by_work_falling(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

/* Vertices of so much work that all hosts hold at a level. */
static double
held(const struct packing *k, double work, double level)
{
    double sum = 0;
    for (uint32_t p = 0; p < k->n_hosts; p++)
        sum += floor(level * k->share[p] / work * (1 + 1e-12));
    return sum;
}

/* The least level, not below `level`, at which `many` vertices of so much work fit. */
static double
raise(const struct packing *k, double work, double many, double level)
{
    double share = 0, high = level;
    if (held(k, work, level) >= many)
        return level;
    for (uint32_t p = 0; p < k->n_hosts; p++)
        share += k->share[p];
    do
        high = 2 * high + work / share;
    while (held(k, work, high) < many);
    double low = level;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        if (held(k, work, middle) < many)
            low = middle;
        else
            high = middle;
    }
    return low; /* just below a level that is needed */
}

/* Every host has at least what is pinned to it. */
static double
pinned_level(const struct packing *k, uint64_t *pinned)
{
    double level = 0;
    for (uint32_t v = 0; k->pin != NULL && v < k->n; v++)
        if (k->pin[v] != LBM_NONE)
            pinned[k->pin[v]] += k->work != NULL ? k->work[v] : 1;
    for (uint32_t p = 0; p < k->n_hosts; p++)
        if (pinned[p] != 0 && k->share[p] > 0)
            level = fmax(level, (double)pinned[p] / k->share[p]);
    return level;
}

enum lbm_err
packing_bound(const struct packing *k, double *level)
{
    uint64_t *pinned = lbm_alloc(k->n_hosts, sizeof *pinned);
    uint32_t *work = lbm_alloc(k->n, sizeof *work);
    double share = 0, total = 0;
    if (pinned == NULL || work == NULL) {
        free(pinned);
        free(work);
        return LBM_E_NOMEM;
    }
    for (uint32_t v = 0; v < k->n; v++)
        total += work[v] = k->work != NULL ? k->work[v] : 1;
    for (uint32_t p = 0; p < k->n_hosts; p++)
        share += k->share[p];
    double least = fmax(pinned_level(k, pinned), total / share);
    if (total > 0)
        least = raise(k, 1, total, least); /* loads are whole numbers */
    if (k->work != NULL)
        qsort(work, k->n, sizeof *work, by_work_falling);
    for (uint32_t j = 0; k->work != NULL && j < k->n && (uint64_t)j * k->n_hosts < LOOKS_MAX; j++)
        if (work[j] != 0 && (j + 1 == k->n || work[j + 1] < work[j] || (j + 1) % 16 == 0))
            least = raise(k, work[j], j + 1, least);
    free(pinned);
    free(work);
    *level = least;
    return LBM_OK;
}
