/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pins: vertices that must stay on a host, from a file of lines "vertex host". */
#ifndef LBM_CLIENT_PINS_H
#define LBM_CLIENT_PINS_H

#include "graph/graph.h"
#include "host/host.h"

/* Read pins into g->pin, as ids of hosts; they win over those the graph brought. A host is its id or, if the
 * hosts have names, its name; empty lines and what follows '#' are skipped.
 * In:      ids [h->n] of the hosts; NULL: 0, 1, ...
 * Errors: those of lbm_file_read; LBM_E_SYNTAX, LBM_E_RANGE, LBM_E_NOMEM with file:line; g untouched. */
enum lbm_err lbm_pins_read(const char *path, const struct lbm_hosts *h, const uint32_t *ids,
                           struct lbm_graph *g, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
