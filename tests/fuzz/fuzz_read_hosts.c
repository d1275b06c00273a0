/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Host graphs of any bytes: refused with a reason, or fit for routing, colouring and drawing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "harnesses.h"
#include "host/host.h"

/* Above these, the matrix and the colours take seconds and the search does not get on. */
enum { SIZE_MAX_HERE = 4096, DIRECTIONS_MAX = 50000 };

static void
check_rows(const struct lbm_hosts *h)
{
    LBM_ASSERT(h->n >= 1 && h->n <= LBM_HOSTS_MAX && h->offset[0] == 0);
    for (uint32_t p = 0; p < h->n; p++) {
        LBM_ASSERT(h->capacity[p] > 0.0 && isfinite(h->capacity[p]));
        LBM_ASSERT(h->name == NULL || h->name[p] != NULL);
        LBM_ASSERT(lbm_dist(h, p, p) == 0);
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++) {
            uint32_t q = h->target[i];
            LBM_ASSERT(q < h->n && q != p && (i == h->offset[p] || h->target[i - 1] < q));
            LBM_ASSERT(lbm_dist(h, p, q) >= 1 && lbm_dist(h, p, q) == lbm_dist(h, q, p));
            LBM_ASSERT(lbm_dist(h, p, q) <= h->cost[i]);
        }
    }
    LBM_ASSERT(h->m == 2 || h->m == 3);
    for (size_t i = 0; i < (size_t)h->n * h->m; i++)
        LBM_ASSERT(h->site[i] >= 0.0 && h->site[i] <= 1.0);
}

static void
check_colours(const struct lbm_hosts *h)
{
    uint32_t *colour = malloc((h->offset[h->n] + 1) * sizeof *colour);
    LBM_ASSERT(colour != NULL);
    uint32_t n = lbm_hosts_colour(h, colour);
    LBM_ASSERT((n == 0) == (h->offset[h->n] == 0));
    uint32_t *seen_at = calloc((size_t)n + 1, sizeof *seen_at);
    LBM_ASSERT(seen_at != NULL);
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++) {
            LBM_ASSERT(colour[i] < n && seen_at[colour[i]] != p + 1);
            seen_at[colour[i]] = p + 1;
        }
    free(seen_at);
    free(colour);
}

int
fuzz_read_hosts(const uint8_t *data, size_t size)
{
    struct lbm_hosts h;
    struct lbm_diag diag = {0};
    if (size > SIZE_MAX_HERE)
        return 0;
    char *text = malloc(size > 0 ? size : 1); /* its own block: a byte too far is noticed */
    LBM_ASSERT(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    enum lbm_err err = lbm_hosts_parse("input", text, size, NULL, &h, &diag);
    if (err == LBM_OK) {
        check_rows(&h);
        if (h.offset[h.n] <= DIRECTIONS_MAX)
            check_colours(&h);
        lbm_hosts_free(&h);
    } else {
        LBM_ASSERT(diag.code == err && diag.text[0] != '\0' && strcmp(diag.where, "input") == 0);
    }
    free(text);
    return err == LBM_OK;
}
