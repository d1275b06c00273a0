/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds on what others say (docs/protocol.md, "Connections and frames"). Terms, indices, epochs,
 * incarnations and positions advance by bounded steps: a number that is further above what this host knows
 * than any others can have come meanwhile is a fault of its sender. It is refused before anything follows
 * from it, since nothing could be above it; the rest of its message, and of its sender, goes on. Once in
 * REACH_TELL_US an operator hears of it. */
#include <inttypes.h>

#include "node/core/core.h"
#include "node/local/local.h"

enum { REACH_TELL_US = 10000000 };

int
lbm_local_within_reach(struct lbm_node *node, uint32_t from, const char *what, uint64_t value, uint64_t known,
                       uint64_t step)
{
    if (value <= known || value - known <= step)
        return 1;
    node->n_refused++;
    if (node->refused_us != 0 && node->now_us - node->refused_us < REACH_TELL_US)
        return 0;
    node->refused_us = node->now_us;
    lbm_core_note(node, LBM_NOTE_WARNING,
                  "host %" PRIu32 " says %s %" PRIu64 ", but no more than %" PRIu64
                  " is known here: that is out of reach, and refused; %" PRIu64 " such numbers so far",
                  from, what, value, known, node->n_refused);
    return 0;
}
