/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many hosts the others evict without an operator (docs/protocol.md, "When a host is lost"): as long as
 * those that are left are most of the members of ten minutes ago, all that are lost at once. What is lost in
 * one failure domain of several (a rack, a switch) counts as one loss while half of the hosts are left. */
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/membership/internal.h"
#include "node/membership/membership.h"

enum { TEN_MINUTES_US = 600000000, SUSPECTORS = 2 };

void
lbm_membership_evicted(struct lbm_node *node, uint32_t host)
{
    struct eviction eviction = {host, node->now_us};
    if (lbm_vec_push(&node->evictions, eviction) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

static void
forget_old(struct lbm_node *node)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->evictions.n; i++)
        if (node->now_us - node->evictions.at[i].seen_us < TEN_MINUTES_US)
            node->evictions.at[kept++] = node->evictions.at[i];
    node->evictions.n = kept;
}

/* A member of the last ten minutes that this host takes to be lost: evicted and not back, or not heard. Of
 * hosts that it does not watch itself, two others have to say so. */
static int
is_lost(const struct lbm_node *node, const struct lbm_member *member)
{
    if (!lbm_view_participates(member))
        return 1;
    const struct peer *peer = lbm_membership_peer_known(node, member->host);
    if (peer == NULL || member->host == node->host)
        return 0;
    return peer->suspect_us != 0 ||
           (!lbm_membership_is_watched(node, member) && peer->suspectors.n >= SUSPECTORS);
}

static int
was_member(const struct lbm_node *node, const struct lbm_member *member)
{
    int was = lbm_view_participates(member);
    for (size_t i = 0; !was && i < node->evictions.n; i++)
        was = node->evictions.at[i].host == member->host;
    return was;
}

struct domains {
    LBM_VEC(struct domain {
        const char *name;
        int is_lost;
    })
    all;
    int are_declared; /* by every host */
};

static enum lbm_err
count_domain(struct domains *domains, const char *name, int is_lost)
{
    domains->are_declared &= name[0] != '\0';
    for (size_t i = 0; i < domains->all.n; i++)
        if (strcmp(domains->all.at[i].name, name) == 0) {
            domains->all.at[i].is_lost |= is_lost;
            return LBM_OK;
        }
    struct domain domain = {name, is_lost};
    return lbm_vec_push(&domains->all, domain);
}

enum lbm_err
lbm_membership_losses(struct lbm_node *node, struct losses *losses)
{
    struct domains domains = {.are_declared = 1};
    enum lbm_err err = LBM_OK;
    forget_old(node);
    *losses = (struct losses){0};
    for (size_t i = 0; err == LBM_OK && i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (!was_member(node, member))
            continue;
        losses->hosts++;
        losses->lost += is_lost(node, member) != 0;
        err = count_domain(&domains, member->failure_domain, is_lost(node, member));
    }
    for (size_t i = 0; domains.are_declared && i < domains.all.n; i++) {
        losses->domains++;
        losses->lost_domains += domains.all.at[i].is_lost != 0;
    }
    lbm_vec_free(&domains.all);
    return err;
}

int
lbm_membership_may_evict(const struct lbm_node *node, const struct losses *losses)
{
    if (node->evict_share <= 0)
        return 0;
    if ((double)losses->lost <= node->evict_share * (double)losses->hosts)
        return 1;
    return losses->domains != 0 && 2 * losses->lost < losses->hosts &&
           (double)losses->lost_domains <= node->evict_share * (double)losses->domains;
}
