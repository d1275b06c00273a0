/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Capacities from a text; a host of capacity 0 becomes a switch. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/scan.h"
#include "host/internal.h"

/* Out: capacity [n]; *n_switches. */
static enum lbm_err
read_numbers(struct lbm_scan *scan, uint32_t n, double *capacity, uint32_t *n_switches)
{
    enum lbm_err err = LBM_OK;
    uint32_t p = 0;
    *n_switches = 0;
    for (; err == LBM_OK && p < n && !lbm_scan_text_done(scan); p++) {
        err = lbm_scan_real(scan, "capacity", &capacity[p]);
        if (err == LBM_OK && capacity[p] == 0.0)
            ++*n_switches;
        else if (err == LBM_OK && !lbm_is_capacity(capacity[p]))
            err = lbm_scan_refuse(scan, LBM_E_RANGE,
                                  "capacity %g: it must be from %g to %g, or 0, which makes a switch",
                                  capacity[p], LBM_CAPACITY_MIN, LBM_CAPACITY_MAX);
    }
    if (err == LBM_OK && p < n)
        err = lbm_scan_refuse(scan, LBM_E_SYNTAX,
                              "%" PRIu32 " capacities for %" PRIu32 " hosts; give one a host", p, n);
    if (err == LBM_OK && !lbm_scan_text_done(scan))
        err = lbm_scan_refuse(scan, LBM_E_SYNTAX, "more than %" PRIu32 " capacities; give one a host", n);
    return err;
}

enum lbm_err
lbm_hosts_parse_capacities(struct lbm_hosts *h, const char *name, const char *text, size_t len,
                           struct lbm_diag *diag)
{
    struct lbm_scan scan;
    struct lbm_hosts left;
    uint32_t n_switches = 0;
    lbm_scan_begin(&scan, name, text, len, diag);
    double *capacity = lbm_alloc(h->n, sizeof *capacity);
    if (capacity == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, name, 0, "no memory for %" PRIu32 " capacities", h->n);
    enum lbm_err err = read_numbers(&scan, h->n, capacity, &n_switches);
    if (err == LBM_OK && n_switches == 0) {
        memcpy(h->capacity, capacity, h->n * sizeof *capacity);
    } else if (err == LBM_OK) {
        err = lbm_hosts_switched_off(name, h, capacity, &left, diag);
        if (err == LBM_OK) {
            lbm_hosts_free(h);
            *h = left;
        }
    }
    free(capacity);
    return err == LBM_E_NOMEM ? lbm_diag_set(diag, err, name, 0, "no memory for the hosts") : err;
}
