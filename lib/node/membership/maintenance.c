/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hosts that are away for a planned time (docs/protocol.md, "Maintenance"). The log says for how long, and
 * has no clock: each host counts from when it learns of it, or starts. The end is said by the host itself, if
 * it is back, or by its backup. */
#include <stdlib.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/membership/internal.h"
#include "node/membership/membership.h"

static struct maintenance *
known(const struct lbm_node *node, uint32_t host)
{
    for (size_t i = 0; i < node->maintenances.n; i++)
        if (node->maintenances.at[i].host == host)
            return &node->maintenances.at[i];
    return NULL;
}

static void
follow(struct lbm_node *node, uint32_t host)
{
    const struct lbm_member *member = lbm_view_member(&node->view, host);
    struct maintenance *m = known(node, host);
    if (member == NULL || member->maintenance_us == 0) {
        if (m != NULL)
            *m = node->maintenances.at[--node->maintenances.n];
        return;
    }
    if (m != NULL && m->view == member->maintenance_view)
        return;
    struct maintenance begun = {host, member->maintenance_view,
                                node->now_us + (int64_t)member->maintenance_us};
    if (m != NULL)
        *m = begun;
    else if (lbm_vec_push(&node->maintenances, begun) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

void
lbm_membership_maintenance_view_changed(struct lbm_node *node, int all)
{
    size_t n = all ? node->view.members.n : node->view.touched.n;
    for (size_t i = 0; i < n && node->failed == LBM_OK; i++)
        follow(node, all ? node->view.members.at[i].host : node->view.touched.at[i]);
}

int64_t
lbm_membership_maintenance_end(const struct lbm_node *node, uint32_t host)
{
    const struct maintenance *m = known(node, host);
    return m != NULL ? m->until_us : 0;
}

/* Nonzero if this host is to say that the maintenance is over. */
static int
is_told_here(const struct lbm_node *node, const struct lbm_member *member)
{
    return member != NULL && member->maintenance_us != 0 &&
           (member->host == node->host || lbm_view_backup_slot(member, node->host) != NULL);
}

static void
propose_end(struct lbm_node *node, const struct lbm_member *member)
{
    node->propose_us = node->now_us + APPEND_AGAIN_US;
    Lbm__Maintain maintain = LBM__MAINTAIN__INIT;
    maintain.host = member->host;
    maintain.incarnation = member->incarnation;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_MAINTAIN;
    command.maintain = &maintain;
    node->raise->log_append(node, &command);
}

void
lbm_membership_maintenance_timer(struct lbm_node *node)
{
    if (!lbm_local_is_alive(node) || !node->caught_up)
        return;
    for (size_t i = 0; i < node->maintenances.n; i++) {
        const struct lbm_member *member = lbm_view_member(&node->view, node->maintenances.at[i].host);
        if (node->now_us >= node->maintenances.at[i].until_us && is_told_here(node, member) &&
            lbm_membership_may_propose(node))
            propose_end(node, member);
    }
}

int64_t
lbm_membership_maintenance_deadline(const struct lbm_node *node)
{
    int64_t when = INT64_MAX;
    for (size_t i = 0; i < node->maintenances.n; i++) {
        int64_t until_us = node->maintenances.at[i].until_us;
        until_us = until_us > node->propose_us ? until_us : node->propose_us;
        if (is_told_here(node, lbm_view_member(&node->view, node->maintenances.at[i].host)))
            when = until_us < when ? until_us : when;
    }
    return lbm_local_is_alive(node) && node->caught_up && node->appends.n < PROPOSALS_MAX ? when : INT64_MAX;
}
