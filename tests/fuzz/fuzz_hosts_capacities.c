/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Capacities of four hosts: refused and nothing changed, or all positive, without those of capacity 0. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "harnesses.h"
#include "host/host.h"

enum { HOSTS = 4 };

int
fuzz_hosts_capacities(const uint8_t *data, size_t size)
{
    struct lbm_hosts h;
    struct lbm_diag diag = {0};
    LBM_ASSERT(lbm_hosts_generate("chain:4", &h, NULL) == LBM_OK);
    char *text = malloc(size > 0 ? size : 1); /* its own block: a byte too far is noticed */
    LBM_ASSERT(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    enum lbm_err err = lbm_hosts_parse_capacities(&h, "input", text, size, &diag);
    LBM_ASSERT(err == LBM_OK ? h.n >= 1 && h.n <= HOSTS : h.n == HOSTS);
    for (uint32_t p = 0; p < h.n; p++) {
        LBM_ASSERT(err == LBM_OK ? h.capacity[p] > 0.0 && isfinite(h.capacity[p]) : h.capacity[p] == 1.0);
        LBM_ASSERT(p == 0 || lbm_dist(&h, p - 1, p) >= 1);
    }
    LBM_ASSERT(err == LBM_OK || (diag.code == err && diag.text[0] != '\0'));
    lbm_hosts_free(&h);
    free(text);
    return err == LBM_OK;
}
