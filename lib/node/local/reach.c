/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds on what others say (docs/protocol.md, "Connections and frames"). Terms, indices, epochs,
 * incarnations and positions advance by bounded steps: a number that is further above what this host knows
 * than any others can have come meanwhile is a fault of its sender. It is refused before anything follows
 * from it, since nothing could be above it; the rest of its message, and of its sender, goes on. Once in
 * REACH_TELL_US an operator hears of it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "node/core/core.h"
#include "node/local/local.h"

enum { REACH_TELL_US = 10000000 };

void
lbm_local_refused(struct lbm_node *node, const char *fmt, ...)
{
    char text[LBM_DIAG_TEXT_MAX];
    va_list args;
    node->n_refused++;
    if (node->refused_us != 0 && node->now_us - node->refused_us < REACH_TELL_US)
        return;
    node->refused_us = node->now_us;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    lbm_core_note(node, LBM_NOTE_WARNING, "%.200s; refused, as %" PRIu64 " such so far", text,
                  node->n_refused);
}

int
lbm_local_within_reach(struct lbm_node *node, uint32_t from, const char *what, uint64_t value, uint64_t known,
                       uint64_t step)
{
    if (value <= known || value - known <= step)
        return 1;
    lbm_local_refused(node,
                      "host %" PRIu32 " says %s %" PRIu64 ", but no more than %" PRIu64
                      " is known here: that is out of reach",
                      from, what, value, known);
    return 0;
}
