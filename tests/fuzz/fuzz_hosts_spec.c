/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of topologies: refused with a reason, or hosts that may be freed. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "harnesses.h"
#include "host/host.h"

int
fuzz_hosts_spec(const uint8_t *data, size_t size)
{
    struct lbm_hosts h;
    struct lbm_diag diag = {0};
    char *spec = malloc(size + 1);
    LBM_ASSERT(spec != NULL);
    if (size > 0)
        memcpy(spec, data, size);
    /* A file of the corpus may end its line. */
    spec[size > 0 && spec[size - 1] == '\n' ? size - 1 : size] = '\0';
    enum lbm_err err = lbm_hosts_generate(spec, &h, &diag);
    if (err == LBM_OK) {
        LBM_ASSERT(h.n >= 1 && h.n <= LBM_HOSTS_MAX);
        LBM_ASSERT(h.n < 2 || lbm_dist(&h, 0, h.n - 1) >= 1);
        lbm_hosts_free(&h);
    } else {
        LBM_ASSERT(diag.code == err && diag.text[0] != '\0');
    }
    free(spec);
    return err == LBM_OK;
}
