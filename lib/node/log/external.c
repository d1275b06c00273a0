/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The external engine of the control log (protocol.md section 2): a log outside the daemons that takes
 * exactly one command an index. The shell appends and follows; this host proposes for the index after its
 * last entry.
 *
 * The next index is tried only when the entry of the one before is known, so a proposal whose answer was
 * lost may be repeated: at most one of the attempts gets that index. */
#include <inttypes.h>

#include "node/core/core.h"
#include "node/log/internal.h"
#include "node/log/log.h"

static void
follow(struct lbm_node *node)
{
    lbm_core_emit_log(node, LBM_EFFECT_LOG_FOLLOW, lbm_log_last(node) + 1, NULL, 0);
}

static void
external_start(struct lbm_node *node)
{
    if (node->may_found && lbm_log_last(node) == 0)
        lbm_log_bootstrap(node);
    follow(node);
}

/* Nothing to tell others: they follow the log themselves. A proposal whose index has another entry by now
 * is proposed again for the next one. */
static void
external_applied(struct lbm_node *node, uint64_t from)
{
    (void)from;
    if (node->append_us != 0 && node->view.index >= node->append_index)
        node->append_us = node->append_accepted = 0;
}

/* A proposal waits for its answer, and after it for the entry of its index. */
static int
external_append_waits(const struct lbm_node *node)
{
    return node->append_us != 0 || node->log_waits.n != 0 || lbm_log_snapshot_pending(node);
}

static void
external_append(struct lbm_node *node)
{
    struct append *first = &node->appends.at[0];
    if (node->now_us < node->append_retry_us)
        return;
    node->append_us = node->now_us;
    node->append_index = first->at = lbm_log_last(node) + 1;
    lbm_core_emit_log(node, LBM_EFFECT_LOG_APPEND, node->append_index, first->command, first->len);
}

static int64_t
external_append_deadline(const struct lbm_node *node)
{
    return node->now_us < node->append_retry_us ? node->append_retry_us : node->now_us;
}

static void
external_fetch(struct lbm_node *node)
{
    (void)node; /* the shell brings what is new */
}

static int64_t
external_fetch_deadline(const struct lbm_node *node)
{
    (void)node;
    return INT64_MAX;
}

const struct log_engine log_external = {
    .start = external_start,
    .applied = external_applied,
    .append_waits = external_append_waits,
    .append = external_append,
    .append_deadline = external_append_deadline,
    .fetch = external_fetch,
    .fetch_deadline = external_fetch_deadline,
};

/* ---- events -------------------------------------------------------------------------------------------- */

/* Taken, or taken by another: the entry will come. No answer: it may have happened, or not; the same index
 * is tried again, unless its entry comes first. */
void
lbm_log_on_external_result(struct lbm_node *node, uint64_t index, enum lbm_log_result result)
{
    if (node->append_us == 0 || index != node->append_index || result != LBM_LOG_UNKNOWN)
        return;
    node->append_us = 0;
    node->append_retry_us = node->now_us + APPEND_RETRY_US;
}

void
lbm_log_on_external_entries(struct lbm_node *node, uint64_t from, const struct lbm_bytes *command, size_t n,
                            int caught_up)
{
    if (from > lbm_log_last(node) + 1) {
        follow(node); /* something is missing in between */
        return;
    }
    for (size_t i = 0; i < n && node->failed == LBM_OK; i++)
        if (from + i == lbm_log_last(node) + 1)
            lbm_log_take(node, command[i].at, command[i].len);
    node->caught_up |= caught_up != 0;
}

void
lbm_log_on_external_snapshot(struct lbm_node *node, uint64_t index, const struct lbm_bytes *view)
{
    if (index <= lbm_log_last(node))
        return;
    lbm_log_snapshot_install(node, view->at, view->len);
    follow(node); /* from behind it */
}
