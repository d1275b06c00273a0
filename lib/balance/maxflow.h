/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maximum flows through the links of a host graph, from hosts that have too much to hosts that have too
 * little. Internal to lib/balance.
 *
 * Source:  Dinic 1970, augmenting along shortest ways. Amounts are real: what is below `rounding` is nothing.
 */
#ifndef LBM_BALANCE_MAXFLOW_H
#define LBM_BALANCE_MAXFLOW_H

#include "host/colouring.h"

struct lbm_maxflow {
    const struct lbm_colouring *c; /* borrowed */
    double rounding;
    double *room;   /* [2 n_links] what may still go: 2 i from p to q of link i, 2 i + 1 back */
    double *left;   /* [n_hosts] > 0: to be sent, < 0: to be taken */
    uint32_t *hops; /* [n_hosts] from the senders; LBM_NONE: not reached. After a run: the cut */
    /* internal */
    uint32_t *first, *arc, *cursor, *queue, *way;
};

/* Takes excess [n_hosts] as what is left; no room yet.  Errors: LBM_E_NOMEM.  Free with lbm_maxflow_free. */
enum lbm_err lbm_maxflow_make(const struct lbm_colouring *c, const double *excess,
                              struct lbm_maxflow *out) LBM_MUST_CHECK;
void lbm_maxflow_free(struct lbm_maxflow *m);

/* Send as much as the room lets. In/out: room, left.  Out: hops.
 * In:  may_end [n_hosts]: the hosts that may take, or NULL: all that need. */
void lbm_maxflow_run(struct lbm_maxflow *m, const uint8_t *may_end);

#endif
