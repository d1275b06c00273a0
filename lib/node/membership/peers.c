/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Peers of this host: who was heard when, who is unreachable, behind, overdue or excluded. */
#include "node/core/core.h"
#include "node/membership/internal.h"
#include "node/membership/membership.h"

struct peer *
lbm_membership_peer_known(const struct lbm_node *node, uint32_t host)
{
    uint32_t at = lbm_idmap_get(&node->peer_at, host);
    return at != LBM_NONE ? &node->peers.at[at] : NULL;
}

struct peer *
lbm_membership_peer_of(struct lbm_node *node, uint32_t host)
{
    struct peer *known = lbm_membership_peer_known(node, host);
    if (known != NULL)
        return known;
    struct peer peer = {.host = host, .since_us = node->now_us};
    if (lbm_vec_reserve(&node->peers, 1) != LBM_OK ||
        lbm_idmap_put(&node->peer_at, host, (uint32_t)node->peers.n) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    node->peers.at[node->peers.n++] = peer;
    return &node->peers.at[node->peers.n - 1];
}

int
lbm_membership_is_unreachable(const struct lbm_node *node, uint32_t host, int64_t limit_us)
{
    if (host == node->host)
        return 0;
    const struct peer *peer = lbm_membership_peer_known(node, host);
    return peer == NULL || peer->heard_us == 0 || node->now_us - peer->heard_us > limit_us;
}

int64_t
lbm_membership_silence(const struct lbm_node *node, uint32_t host)
{
    const struct peer *peer = lbm_membership_peer_known(node, host);
    if (peer == NULL)
        return node->now_us - node->started_us;
    return node->now_us - (peer->heard_us > peer->since_us ? peer->heard_us : peer->since_us);
}

int
lbm_membership_is_foreign(const struct lbm_node *node, uint32_t host)
{
    const struct peer *peer = lbm_membership_peer_known(node, host);
    return peer != NULL && peer->is_foreign;
}

int
lbm_membership_is_behind(const struct lbm_node *node, uint32_t host)
{
    const struct peer *peer = lbm_membership_peer_known(node, host);
    return peer != NULL && peer->is_behind;
}

int
lbm_membership_is_routable(struct lbm_node *node)
{
    int routable = 0;
    if (lbm_view_graph(&node->view, &routable) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    return routable;
}

int
lbm_membership_is_large(const struct lbm_node *node)
{
    return node->view.members.n > (node->large_members != 0 ? node->large_members : LBM_VIEW_SMALL);
}

int
lbm_membership_has_lost_backup(const struct lbm_node *node)
{
    for (unsigned k = 0; k < LBM_COPIES_MAX; k++) {
        uint32_t backup = node->replication.log[k].backup;
        if (backup != LBM_NONE && lbm_membership_is_unreachable(node, backup, UNREACHABLE_US))
            return 1;
    }
    return 0;
}

int
lbm_membership_is_unavailable(const struct lbm_node *node, uint32_t host)
{
    if (lbm_view_is_in_maintenance(&node->view, host))
        return 1;
    if (host == node->host)
        return lbm_membership_has_lost_backup(node);
    return lbm_membership_is_unreachable(node, host, UNREACHABLE_US) ||
           lbm_membership_peer_known(node, host)->backup_lost;
}

int
lbm_membership_offers_wait(const struct lbm_node *node, uint32_t host)
{
    for (size_t i = 0; i < node->view.members.n && !lbm_membership_is_large(node); i++) {
        const struct lbm_member *owner = &node->view.members.at[i];
        unsigned others = 0;
        if (!lbm_view_participates(owner) || lbm_view_backup_slot(owner, host) == NULL ||
            !lbm_membership_is_unreachable(node, owner->host, UNREACHABLE_US))
            continue;
        for (unsigned k = 0; k < LBM_COPIES_MAX; k++)
            others += owner->backups[k].host != host && owner->backups[k].host != LBM_NONE;
        if (others == 0)
            return 1;
    }
    return 0;
}

int
lbm_membership_is_excluded(const struct lbm_node *node, uint32_t host)
{
    const struct lbm_member *member = lbm_view_member(&node->view, host);
    if (host == node->host)
        return 0;
    int is_lost = 0;
    for (unsigned k = 0; k < LBM_COPIES_MAX && member != NULL; k++)
        is_lost |= member->backups[k].host != LBM_NONE &&
                   lbm_membership_is_unreachable(node, member->backups[k].host, EXCLUDE_US);
    return lbm_membership_is_unreachable(node, host, EXCLUDE_US) ||
           (lbm_membership_peer_known(node, host)->backup_lost && is_lost);
}

static int
are_linked(const struct lbm_node *node, const struct lbm_member *member)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    for (size_t k = 0; k < member->n_links; k++)
        if (member->links[k].q == node->host)
            return 1;
    for (size_t k = 0; self != NULL && k < self->n_links; k++)
        if (self->links[k].q == member->host)
            return 1;
    return 0;
}

int
lbm_membership_is_watched(const struct lbm_node *node, const struct lbm_member *member)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    if (member->host == node->host || !lbm_view_participates(member))
        return 0;
    return node->view.members.n <= LBM_VIEW_SMALL || lbm_view_backup_slot(member, node->host) != NULL ||
           (self != NULL && lbm_view_backup_slot(self, member->host) != NULL) || are_linked(node, member);
}

/* Hosts of a large cluster that are heard in turn: one and a half turns, and no less than OVERDUE_US. */
static int64_t
overdue_us(const struct lbm_node *node)
{
    int64_t turn_us = (int64_t)node->view.members.n / ROTATING_PINGS * PING_US;
    return turn_us + turn_us / 2 > OVERDUE_US ? turn_us + turn_us / 2 : OVERDUE_US;
}

int
lbm_membership_is_overdue(const struct lbm_node *node, const struct lbm_member *member)
{
    return lbm_membership_is_unreachable(
        node, member->host, lbm_membership_is_watched(node, member) ? SUSPECT_US : overdue_us(node));
}
