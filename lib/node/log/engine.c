/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log says itself which engine orders its next entry (protocol.md section 2): each host changes the
 * engine when it applies the entry that says so. Proposals that wait are made again with the other engine. */
#include "node/core/core.h"
#include "node/log/internal.h"
#include "node/log/log.h"

/* No proposal is in progress any more, and nobody was asked for entries. */
static void
begin_again(struct lbm_node *node)
{
    node->append_us = node->append_accepted = 0;
    node->append_retry_us = 0;
    node->leader_clock_us = 0;
    node->fetch_us = 0;
    node->caught_up = 0;
    node->ensemble.is_closed = 0;
    node->ensemble.behind_us = 0;
}

void
lbm_log_engine_leave(struct lbm_node *node)
{
    if (node->engine == LBM_LOG_ENGINE_LOCAL)
        return;
    begin_again(node);
    node->engine = LBM_LOG_ENGINE_LOCAL;
    node->log_engine = &log_local;
    node->has_ordered = 0;
    node->log_is_older = 0;
    node->leader = 0;
    node->ensemble.retry_us = node->ensemble.ready_us = 0;
    node->ensemble.failures = 0;
}

static void
to_external(struct lbm_node *node)
{
    lbm_log_promote_over(node);
    if (!node->starting)
        log_local.applied(node, node->view.index); /* who does not have this entry does not look into etcd */
    begin_again(node);
    node->engine = LBM_LOG_ENGINE_EXTERNAL;
    node->log_engine = &log_external;
    node->leader = 0; /* leader_host stays: as it was stored, it counts once the log is back */
    if (node->starting)
        return;
    lbm_core_note(node, LBM_NOTE_INFO, "the control log is in an ensemble of etcd from now on");
    lbm_log_external_begin(node);
}

static void
to_local(struct lbm_node *node)
{
    begin_again(node);
    node->engine = LBM_LOG_ENGINE_LOCAL;
    node->log_engine = &log_local;
    node->has_ordered = 0;
    if (!node->starting) /* else as it was stored */
        node->leader_host = node->view.leader;
    node->leader = node->leader_host == node->host;
    if (!node->starting)
        lbm_core_note(node, LBM_NOTE_INFO, "host %u orders the control log from now on", node->view.leader);
}

/* The term that came with the order of the log, unless a later one is known. */
static void
enter_least_term(struct lbm_node *node)
{
    node->term = node->view.log_term;
    node->leader_host = node->view.leader;
    node->leader = node->view.leader == node->host;
    node->caught_up = node->leader && !node->starting; /* the entry before is the last one */
    lbm_log_store_term(node, node->leader_host);
}

void
lbm_log_engine_follow(struct lbm_node *node)
{
    int is_external = node->engine == LBM_LOG_ENGINE_EXTERNAL;
    if (node->configured == LBM_LOG_ENGINE_EXTERNAL || node->view.index == 0 || node->failed != LBM_OK)
        return;
    if (node->view.log_forced > node->forced)
        node->forced = node->view.log_forced;
    lbm_log_ensemble_tell(node); /* first: what follows is done in that ensemble */
    if (lbm_log_is_managed(node) && !is_external)
        to_external(node);
    if (!node->view.external && is_external)
        to_local(node);
    if (!node->view.external && node->view.log_term > node->term)
        enter_least_term(node);
}
