/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The way back from an ensemble of etcd that has lost its majority for good (protocol.md section 2): an
 * operator promotes a host by force, and it orders the log from the longest copy on that it can reach. The
 * term in which that happens is in every message from then on: who hears of a higher one leaves the ensemble
 * that its own copy names, for good, and follows. Never: takes the log from an ensemble that answers anybody
 * who is asked. */
#include <inttypes.h>
#include <stdio.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/log/internal.h"
#include "node/log/log.h"
#include "node/membership/membership.h"

enum { TELL_US = 1000000 }; /* between two messages to a host that has yet to hear of it */

/* ---- who is told, and who hears --------------------------------------------------------------------------
 */

void
lbm_log_forced_store(struct lbm_node *node, uint64_t forced)
{
    node->forced = forced;
    node->forced_id = UINT64_MAX; /* lbm_log_store_term, which follows, knows it */
    node->raise->log_engine_leave(node);
}

/* Another host has taken the log, in a term of which this one has yet to hear. */
static int
enter(struct lbm_node *node, uint64_t forced, uint64_t term, uint32_t leader, uint32_t from)
{
    if (leader >= LBM_HOSTS_MAX || term < forced || term <= node->term ||
        !lbm_local_within_reach(node, from, "term", term, node->term, LBM_TERM_STEP) ||
        !lbm_log_is_operator(node, leader))
        return 0;
    if (node->engine == LBM_LOG_ENGINE_EXTERNAL)
        lbm_core_note(node, LBM_NOTE_WARNING,
                      "the control log was taken from its ensemble of etcd by force: host %" PRIu32
                      " orders it from now on, term %" PRIu64,
                      leader, term);
    lbm_log_forced_store(node, forced);
    return lbm_log_term_heard(node, term, leader, from);
}

int
lbm_log_forced_heard(struct lbm_node *node, const Lbm__Peer *message, uint64_t term, uint32_t leader)
{
    if (node->configured != LBM_LOG_ENGINE_LOCAL || message->forced == node->forced)
        return 1;
    return message->forced > node->forced && enter(node, message->forced, term, leader, message->src);
}

void
lbm_log_forced_tell(struct lbm_node *node, const Lbm__Peer *message)
{
    struct peer *peer = lbm_membership_peer_known(node, message->src);
    if (message->forced >= node->forced || peer == NULL || !peer->connected ||
        lbm_log_known_leader(node) == LBM_NONE ||
        (peer->forced_us != 0 && node->now_us - peer->forced_us < TELL_US))
        return;
    peer->forced_us = node->now_us;
    lbm_log_tell_leader(node, message->src);
}

/* ---- the host that takes it ------------------------------------------------------------------------------
 */

int
lbm_log_forced_may_begin(const struct lbm_node *node, char *why, size_t size)
{
    int is_known = node->ensemble.report.id == node->view.ensemble.id;
    why[0] = '\0';
    if (node->view.protocol < LBM_PROTOCOL_CUTS)
        snprintf(why, size, "some member runs a program that does not know how: upgrade it first");
    else if (!is_known)
        snprintf(why, size, "this host does not know yet whether etcd answers: try again in a few seconds");
    else if (lbm_log_ensemble_answers(node))
        snprintf(why, size, "etcd answers on host %" PRIu32 ": lbctl log move local moves the control log",
                 node->ensemble.report.host[0]);
    return why[0] == '\0';
}

void
lbm_log_forced_answer(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    char why[160] = "";
    enum lbm_err code = LBM_E_STATE;
    if (!lbm_log_is_managed(node)) {
        code = LBM_E_UNSUPPORTED;
        snprintf(why, sizeof why,
                 "the control log is in an ensemble that the configuration names, which is to be restored");
    } else if (!request->promote->force) {
        code = LBM_E_UNSUPPORTED;
        snprintf(why, sizeof why,
                 "etcd orders the control log: lbctl log move local moves it, or --force if most of its "
                 "members are lost for good");
    } else if (node->promotion.round != PROMOTION_NONE) {
        code = LBM_E_BUSY;
        snprintf(why, sizeof why, "a promotion is in progress");
    } else if (!lbm_log_may_promote(node)) {
        snprintf(why, sizeof why, "this host is no member that could do it");
    } else {
        (void)lbm_log_forced_may_begin(node, why, sizeof why);
    }
    if (why[0] != '\0')
        lbm_core_reply_error(node, client->id, client->request, code, "%s", why);
    else
        lbm_log_promote_begin(node, client->id, client->request, 1);
}

void
lbm_log_forced_timer(struct lbm_node *node)
{
    if (!lbm_log_is_forced(node) || !node->leader || !node->caught_up ||
        node->now_us < node->ensemble.retry_us)
        return;
    Lbm__LogMove move = LBM__LOG_MOVE__INIT;
    move.place = node->view.log_place;
    move.leader = node->host;
    move.term = node->term;
    move.forced = node->forced;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_LOG_MOVE;
    command.log_move = &move;
    node->ensemble.retry_us = node->now_us + APPEND_AGAIN_US;
    (void)lbm_log_append_until(node, &command, node->now_us + APPEND_AGAIN_US);
}
