/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What this host knows of the present term, of a promotion in progress and of the ensemble (protocol.md
 * section 2): for all files of the log. Never: decides who leads. */
#include <inttypes.h>
#include <stdlib.h>

#include "node/core/core.h"
#include "node/log/internal.h"
#include "node/log/log.h"

void
lbm_log_store_term(struct lbm_node *node, uint32_t leader)
{
    struct lbm_persist_op op = {.kind = LBM_PERSIST_TERM};
    op.as.term.term = node->term;
    op.as.term.leader = leader;
    op.as.term.forced = node->forced;
    lbm_core_persist(node, op);
    if (node->forced_id == UINT64_MAX)
        node->forced_id = node->persist_id;
}

uint64_t
lbm_log_known_term(const struct lbm_node *node)
{
    return node->view.log_term > node->term ? node->view.log_term : node->term;
}

uint32_t
lbm_log_known_leader(const struct lbm_node *node)
{
    return node->view.log_term > node->term ? node->view.leader : node->leader_host;
}

void
lbm_log_tell_leader(struct lbm_node *node, uint32_t host)
{
    Lbm__LogResult result = LBM__LOG_RESULT__INIT;
    result.last = node->view.index;
    result.term = lbm_log_known_term(node);
    result.leader = lbm_log_known_leader(node);
    Lbm__Peer answer = LBM__PEER__INIT;
    answer.body_case = LBM__PEER__BODY_LOG_RESULT;
    answer.log_result = &result;
    if (result.term != 0)
        lbm_core_send(node, host, &answer);
}

void
lbm_log_promotion_answer(struct lbm_node *node, enum lbm_err err, const char *why)
{
    struct promotion *p = &node->promotion;
    Lbm__Response response = LBM__RESPONSE__INIT;
    if (p->waits && err != LBM_OK)
        lbm_core_reply_error(node, p->client, p->request, err, "%s", why);
    else if (p->waits)
        lbm_core_reply(node, p->client, p->request, 1, &response);
    p->waits = 0;
}

void
lbm_log_promotion_ends(struct lbm_node *node, enum lbm_err err, const char *why)
{
    lbm_log_promotion_answer(node, err, why);
    lbm_vec_free(&node->promotion.awaited);
    node->promotion.round = PROMOTION_NONE;
}

void
lbm_log_promote_over(struct lbm_node *node)
{
    if (node->promotion.round != PROMOTION_NONE)
        lbm_log_promotion_ends(node, LBM_E_UNSUPPORTED,
                               "the control log is in an ensemble of etcd from now on");
}

int
lbm_log_ensemble_answers(const struct lbm_node *node)
{
    const struct lbm_ensemble_report *report = &node->ensemble.report;
    return lbm_log_is_managed(node) && report->id == node->view.ensemble.id && report->n != 0;
}

int
lbm_log_is_behind(const struct lbm_node *node)
{
    int has_waited = node->engine == LBM_LOG_ENGINE_EXTERNAL && node->ensemble.behind_us != 0 &&
                     node->now_us - node->ensemble.behind_us > SUSPECT_US;
    for (size_t i = 0; has_waited && i < node->peers.n; i++)
        if (node->peers.at[i].view > lbm_log_last(node))
            return 1;
    return 0;
}

int
lbm_log_awaits_ensemble(const struct lbm_node *node)
{
    return lbm_log_is_managed(node) && node->ensemble.report.id == node->view.ensemble.id &&
           node->ensemble.report.n == 0;
}
