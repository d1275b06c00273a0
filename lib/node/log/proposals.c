/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Proposals: commands that this host wants in the log. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/log/internal.h"
#include "node/log/log.h"
#include "node/membership/membership.h"

void
lbm_log_append_drop(struct lbm_node *node, size_t at)
{
    struct append *append = &node->appends.at[at];
    if (at == 0) {
        lbm_log_append_done(node);
        return;
    }
    free(append->command);
    memmove(append, append + 1, (node->appends.n - at - 1) * sizeof *append);
    node->appends.n--;
}

void
lbm_log_append_done(struct lbm_node *node)
{
    free(node->appends.at[0].command);
    node->appends.n--;
    memmove(&node->appends.at[0], &node->appends.at[1], node->appends.n * sizeof *node->appends.at);
    node->append_us = node->append_accepted = 0;
}

/* Nobody wants it any more: another host has founded the cluster, or who was unreachable when the log could
 * not be reached is there again. */
static int
is_void(const struct lbm_node *node, const struct append *append)
{
    const struct peer *suspect =
        append->suspect != LBM_NONE ? lbm_membership_peer_known(node, append->suspect) : NULL;
    return append->is_given_up || (append->founds && lbm_log_last(node) != 0) ||
           (suspect != NULL && suspect->suspect_us == 0);
}

/* Whoever waits for it hears that it is given up, and whether it may have happened. An attempt that the
 * external log has not answered stays, so that none of the next commands is tried for the same index. */
static void
give_up(struct lbm_node *node, size_t at)
{
    struct append *append = &node->appends.at[at];
    uint64_t at_index = append->at > node->view.index ? append->at : 0;
    uint64_t token = append->token;
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    enum lbm_err err = lbm_wire_unpack_command(append->command, append->len, &command, &diag);
    if (at == 0 && at_index != 0 && node->engine == LBM_LOG_ENGINE_EXTERNAL) {
        append->is_given_up = 1;
        append->until_us = INT64_MAX;
    } else {
        lbm_log_append_drop(node, at);
    }
    if (err != LBM_OK) {
        lbm_core_fail(node, err);
        return;
    }
    node->raise->client_proposal_given_up(node, token, at_index != 0);
    if (command->what_case == LBM__COMMAND__WHAT_JOB_CREATE)
        node->raise->job_given_up(node, command->job_create->job, at_index);
    lbm__command__free_unpacked(command, NULL);
}

void
lbm_log_proposals_end(struct lbm_node *node)
{
    while (node->appends.n != 0 && node->failed == LBM_OK) {
        size_t n = node->appends.n;
        if (!node->appends.at[n - 1].is_given_up)
            give_up(node, n - 1);
        if (node->appends.n == n)
            lbm_log_append_done(node);
    }
    node->append_us = node->append_accepted = 0;
}

/* What has ended is never carried out. */
static void
end_appends(struct lbm_node *node)
{
    for (size_t i = node->appends.n; i-- > 0;)
        if (i < node->appends.n && node->now_us > node->appends.at[i].until_us)
            give_up(node, i);
}

/* Send the first proposal. One at a time keeps a host's own commands in order. */
void
lbm_log_try_append(struct lbm_node *node)
{
    if (node->appends.n != 0 && node->held != 0)
        lbm_log_store_deferred(node);
    end_appends(node);
    while (node->appends.n != 0 && !node->log_engine->append_waits(node) &&
           is_void(node, &node->appends.at[0]))
        lbm_log_append_done(node);
    if (node->appends.n != 0 && node->caught_up && !node->diverged && !node->log_engine->append_waits(node))
        node->log_engine->append(node);
}

static void
propose(struct lbm_node *node, const Lbm__Command *command, int founds, uint32_t suspect, int64_t until_us)
{
    struct append append = {.token = ++node->append_token,
                            .len = lbm__command__get_packed_size(command),
                            .founds = founds,
                            .suspect = suspect,
                            .until_us = until_us};
    append.command = lbm_alloc(append.len, 1);
    if (append.command == NULL || lbm_vec_push(&node->appends, append) != LBM_OK) {
        free(append.command);
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    lbm__command__pack(command, append.command);
    lbm_log_try_append(node);
}

void
lbm_log_append(struct lbm_node *node, const Lbm__Command *command)
{
    propose(node, command, 0, LBM_NONE, INT64_MAX);
}

uint64_t
lbm_log_append_until(struct lbm_node *node, const Lbm__Command *command, int64_t until_us)
{
    propose(node, command, 0, LBM_NONE, until_us);
    return node->append_token;
}

void
lbm_log_append_suspicion(struct lbm_node *node, const Lbm__Command *command, uint32_t suspect)
{
    propose(node, command, 0, suspect, INT64_MAX);
}

static void
tell_unanswered(const struct lbm_node *node, char *text, size_t size)
{
    size_t len = (size_t)snprintf(text, size, "host ");
    for (size_t i = 0; i < node->promotion.awaited.n && i < 4 && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%s%" PRIu32, i != 0 ? ", " : "",
                                node->promotion.awaited.at[i]);
    if (len < size)
        snprintf(text + len, size - len, "%s, which this host asks before it orders anything",
                 node->promotion.awaited.n > 4 ? " and others" : "");
}

static void
tell_ensemble(const struct lbm_node *node, char *text, size_t size)
{
    const struct lbm_ensemble *ensemble = &node->view.ensemble;
    size_t len = (size_t)snprintf(text, size, "etcd, of which no majority answers (hosts");
    for (size_t i = 0; i < ensemble->n && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, " %" PRIu32, ensemble->member[i].host);
    if (len < size)
        snprintf(text + len, size - len,
                 "): start them, or if they are lost for good, lbctl log promote --force");
}

void
lbm_log_tell_wait(const struct lbm_node *node, char *text, size_t size)
{
    const struct peer *peer = lbm_membership_peer_known(node, node->leader_host);
    if (lbm_log_awaits_ensemble(node))
        tell_ensemble(node, text, size);
    else if (node->engine == LBM_LOG_ENGINE_EXTERNAL)
        snprintf(text, size, "etcd, which has not taken it");
    else if (node->diverged)
        snprintf(text, size, "its eviction: this host's copy is not the cluster's log");
    else if (node->leader_host == LBM_NONE)
        snprintf(text, size, "a promotion that is not over");
    else if (node->leader && node->promotion.awaited.n != 0)
        tell_unanswered(node, text, size);
    else if (node->leader)
        snprintf(text, size, "this host itself, which has yet to hear whether it still orders it");
    else if (peer == NULL || peer->heard_us == 0)
        snprintf(text, size, "host %" PRIu32 ", which orders it, and has never been heard",
                 node->leader_host);
    else if (lbm_membership_is_unreachable(node, node->leader_host, UNREACHABLE_US))
        snprintf(text, size, "host %" PRIu32 ", which orders it, and has not been heard for %" PRId64 " s",
                 node->leader_host, (node->now_us - peer->heard_us) / 1000000);
    else
        snprintf(text, size, "host %" PRIu32 ", which orders it, and is heard but does not answer",
                 node->leader_host);
}

void
lbm_log_withdraw(struct lbm_node *node, uint64_t token)
{
    for (size_t i = 0; i < node->appends.n; i++)
        if (node->appends.at[i].token == token && node->appends.at[i].at <= node->view.index) {
            lbm_log_append_drop(node, i);
            return;
        }
}

void
lbm_log_bootstrap(struct lbm_node *node)
{
    Lbm__Found found = LBM__FOUND__INIT;
    uint64_t drawn = lbm_rng_next(&node->rng) | 1; /* 0 means unknown */
    found.cluster = node->cluster != 0 ? node->cluster : drawn;
    found.name = node->cluster_name;
    found.leader = node->host;
    found.dimensions = node->m;
    found.hop_us = node->hop_us;
    found.protocol = node->protocol_most;
    found.copies = node->copies > 1 ? node->copies : 0;
    found.external = node->engine == LBM_LOG_ENGINE_EXTERNAL;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_FOUND;
    command.found = &found;
    propose(node, &command, 1, LBM_NONE, INT64_MAX);
}
