/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one host alone says is in the log, and who else is asked for it: see heard.c, which keeps it. Never:
 * judges it. */
#include "node/core/core.h"
#include "node/log/internal.h"
#include "node/log/log.h"

void
lbm_log_heard_drop(struct lbm_node *node, uint32_t host)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->log_words.n; i++)
        if (host != LBM_NONE && node->log_words.at[i].host != host)
            node->log_words.at[kept++] = node->log_words.at[i];
    node->log_words.n = kept;
}

uint32_t
lbm_log_heard_alone(const struct lbm_node *node)
{
    uint32_t host = LBM_NONE;
    for (size_t i = 0; i < node->log_words.n; i++)
        if (node->log_words.at[i].index > lbm_log_last(node) && host != node->promotion.longest)
            host = node->log_words.at[i].host;
    return host;
}

/* Nonzero if a view waits for a second host that has the same. One that gives entries could not say so. */
static int
has_view(const struct lbm_node *node)
{
    for (size_t i = 0; i < node->log_words.n; i++)
        if (node->log_words.at[i].is_view && node->log_words.at[i].index > lbm_log_last(node))
            return 1;
    return 0;
}

void
lbm_log_ask(struct lbm_node *node, uint32_t host)
{
    int is_followed = node->engine == LBM_LOG_ENGINE_LOCAL && host == node->leader_host;
    if (!is_followed && has_view(node))
        lbm_log_send_fetch_view(node, host);
    else
        lbm_log_send_fetch(node, host);
}

void
lbm_log_ask_other(struct lbm_node *node, uint32_t but)
{
    node->fetch_host = lbm_log_next_connected(node);
    if (node->fetch_host == but)
        node->fetch_host = lbm_log_next_connected(node);
    if (node->fetch_host != but && node->fetch_host != LBM_NONE)
        lbm_log_ask(node, node->fetch_host);
}
