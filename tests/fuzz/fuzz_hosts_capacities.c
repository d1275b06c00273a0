/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Capacities of four hosts: refused and nothing changed, or all positive. */
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
    double capacity[HOSTS] = {-1.0, -1.0, -1.0, -1.0};
    struct lbm_hosts h = {.n = HOSTS, .capacity = capacity};
    struct lbm_diag diag = {0};
    char *text = malloc(size > 0 ? size : 1); /* its own block: a byte too far is noticed */
    LBM_ASSERT(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    enum lbm_err err = lbm_hosts_parse_capacities(&h, "input", text, size, &diag);
    for (int p = 0; p < HOSTS; p++)
        LBM_ASSERT(err == LBM_OK ? capacity[p] > 0.0 && isfinite(capacity[p]) : capacity[p] == -1.0);
    LBM_ASSERT(err == LBM_OK || (diag.code == err && diag.text[0] != '\0' && diag.line > 0));
    free(text);
    return err == LBM_OK;
}
