/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Silence, suspicion, eviction (protocol.md section 8). A host is suspected when nothing is heard of it over
 * the very connections that carry data. Eviction is proposed when two hosts suspect it for a while, while
 * most hosts are left (eviction_cap.c), and never by a host that has reason to doubt itself: one that was not
 * running, or that suspects most of the others. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/membership/internal.h"
#include "node/membership/membership.h"

enum { MINUTE_US = 60000000, HEALTH_STEP_US = 10000000, SUSPECTS_MAX = 256 };

int
lbm_membership_may_propose(const struct lbm_node *node)
{
    return node->now_us >= node->propose_us && node->appends.n < PROPOSALS_MAX;
}

/* A step that comes much later than asked for: this host did not run, and has not heard what it missed. */
void
lbm_membership_detector_step(struct lbm_node *node)
{
    int64_t late_us =
        node->expected_us != 0 && node->expected_us != INT64_MAX ? node->now_us - node->expected_us : 0;
    if (late_us < STARVED_US)
        return;
    for (size_t i = 0; i < node->peers.n; i++) {
        struct peer *peer = &node->peers.at[i];
        peer->heard_us += peer->heard_us != 0 ? late_us : 0;
        peer->suspect_us = 0;
    }
    node->health = node->health < HEALTH_MAX ? node->health + 1 : HEALTH_MAX;
    node->health_us = node->now_us + HEALTH_STEP_US;
    if (node->leader && late_us >= UNREACHABLE_US)
        node->raise->log_confirm(node); /* the others may have promoted another one */
}

/* ---- who suspects whom ---------------------------------------------------------------------- */

static void
forget_suspectors(struct peer *peer)
{
    peer->suspect_us = 0;
    peer->suspectors.n = 0;
}

static void
add_suspector(struct lbm_node *node, struct peer *peer, uint32_t from)
{
    for (size_t i = 0; i < peer->suspectors.n; i++)
        if (peer->suspectors.at[i].host == from) {
            peer->suspectors.at[i].heard_us = node->now_us;
            return;
        }
    if (!peer->is_doubted && lbm_vec_push(&node->doubted, peer->host) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    peer->is_doubted = 1;
    struct suspector suspector = {from, node->now_us, node->now_us};
    if (lbm_vec_push(&peer->suspectors, suspector) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

/* Every ping names all that its sender suspects: who is not named is not suspected any more. */
void
lbm_membership_suspicion_heard(struct lbm_node *node, uint32_t from, size_t n, const uint32_t *suspect)
{
    for (size_t i = 0; i < n && i < SUSPECTS_MAX; i++) {
        struct peer *peer = suspect[i] != node->host ? lbm_membership_peer_of(node, suspect[i]) : NULL;
        if (peer != NULL && lbm_view_member(&node->view, suspect[i]) != NULL)
            add_suspector(node, peer, from);
    }
    size_t doubted = 0;
    for (size_t i = 0; i < node->doubted.n; i++) {
        struct peer *peer = lbm_membership_peer_known(node, node->doubted.at[i]);
        size_t kept = 0;
        for (size_t k = 0; k < peer->suspectors.n; k++) {
            const struct suspector *other = &peer->suspectors.at[k];
            if (node->now_us - other->heard_us < 3 * PING_US &&
                (other->host != from || other->heard_us == node->now_us))
                peer->suspectors.at[kept++] = *other;
        }
        peer->suspectors.n = kept;
        peer->is_doubted = kept != 0;
        if (kept != 0)
            node->doubted.at[doubted++] = peer->host;
    }
    node->doubted.n = doubted;
}

uint32_t
lbm_membership_suspicion_count(const struct lbm_node *node, uint32_t host)
{
    const struct peer *peer = lbm_membership_peer_known(node, host);
    return peer != NULL ? (uint32_t)peer->suspectors.n + (peer->suspect_us != 0) : 0;
}

/* Others that have suspected it long enough. */
static uint32_t
confirmed_by_others(const struct lbm_node *node, const struct peer *peer)
{
    uint32_t n = 0;
    for (size_t i = 0; i < peer->suspectors.n; i++)
        n += node->now_us - peer->suspectors.at[i].since_us >= CONFIRM_US / 2 &&
             node->now_us - peer->suspectors.at[i].heard_us < 3 * PING_US;
    return n;
}

/* ---- evicting ------------------------------------------------------------------------------- */

/* A peer may be another incarnation now: what was thought of the one before is void. */
static void
look_at(struct lbm_node *node, struct peer *peer)
{
    const struct lbm_member *member = lbm_view_member(&node->view, peer->host);
    if (member != NULL && lbm_view_participates(member) && member->incarnation == peer->incarnation)
        return;
    forget_suspectors(peer);
    peer->incarnation = member != NULL ? member->incarnation : 0;
    peer->since_us = node->now_us;
}

static void
watch_all(struct lbm_node *node)
{
    node->watched.n = 0;
    for (size_t i = 0; i < node->view.members.n; i++)
        if (lbm_membership_is_watched(node, &node->view.members.at[i]) &&
            lbm_vec_push(&node->watched, node->view.members.at[i].host) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
}

/* Put one host into the list, or take it out. */
static void
watch(struct lbm_node *node, uint32_t host)
{
    const struct lbm_member *member = lbm_view_member(&node->view, host);
    int wanted = member != NULL && lbm_membership_is_watched(node, member);
    size_t at = 0, n = node->watched.n;
    while (at < n && node->watched.at[at] < host)
        at++;
    int there = at < n && node->watched.at[at] == host;
    if (wanted == there)
        return;
    if (wanted && lbm_vec_reserve(&node->watched, 1) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    memmove(&node->watched.at[at + (size_t)wanted], &node->watched.at[at + (size_t)there],
            (n - at - (size_t)there) * sizeof *node->watched.at);
    node->watched.n = n + (size_t)wanted - (size_t)there;
    if (wanted)
        node->watched.at[at] = host;
}

void
lbm_membership_detector_view_changed(struct lbm_node *node, int all)
{
    size_t n = node->view.touched.n;
    /* Whom this host watches follows from itself too, and from the size of the cluster. */
    int all_watched = all || node->view.members.n <= LBM_VIEW_SMALL + 1;
    for (size_t i = 0; !all && i < n; i++)
        all_watched |= node->view.touched.at[i] == node->host;
    if (all_watched)
        watch_all(node);
    for (size_t i = 0; !all_watched && i < n; i++)
        watch(node, node->view.touched.at[i]);
    for (size_t i = 0; i < (all ? node->peers.n : n); i++) {
        struct peer *peer =
            all ? &node->peers.at[i] : lbm_membership_peer_known(node, node->view.touched.at[i]);
        if (peer != NULL)
            look_at(node, peer);
    }
    /* Evictions by anybody count: the cap is the cluster's. Those before this host caught up are past. */
    if (!node->caught_up)
        node->evictions_seen = node->view.index;
    for (size_t i = 0; i < node->view.departed.n; i++)
        if (node->view.departed.at[i].evicted && node->view.departed.at[i].view > node->evictions_seen) {
            lbm_membership_evicted(node, node->view.departed.at[i].host);
            lbm_core_note(node, LBM_NOTE_INFO, "host %" PRIu32 " is evicted; host %" PRIu32 " takes over",
                          node->view.departed.at[i].host, node->view.departed.at[i].successor);
        }
    node->evictions_seen = node->view.index;
}

static void
propose_evict(struct lbm_node *node, const struct lbm_member *member, struct peer *peer)
{
    int is_proposed = peer->evict_us != 0 && node->now_us - peer->evict_us < APPEND_AGAIN_US;
    if (is_proposed || node->appends.n >= PROPOSALS_MAX)
        return;
    peer->evict_us = node->now_us;
    lbm_core_note(node, LBM_NOTE_WARNING,
                  "host %" PRIu32 " (%s) is unreachable, and others say so too: evicting it", member->host,
                  member->name);
    Lbm__Evict evict = LBM__EVICT__INIT;
    evict.host = member->host;
    evict.incarnation = member->incarnation;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_EVICT;
    command.evict = &evict;
    node->raise->log_append_suspicion(node, &command, member->host);
}

/* Nonzero if this host may say now that it evicts nobody, once a minute. */
static int
may_tell(struct lbm_node *node)
{
    if (node->withheld_told_us != 0 && node->now_us - node->withheld_told_us < MINUTE_US)
        return 0;
    node->withheld_told_us = node->now_us;
    return 1;
}

/* Too many are lost for this host to decide: an operator hears of it. */
static void
withhold(struct lbm_node *node, const struct lbm_member *member, const struct losses *losses)
{
    node->withheld_us = node->now_us;
    if (may_tell(node))
        lbm_core_note(
            node, LBM_NOTE_WARNING,
            "host %" PRIu32 " (%s) is unreachable, but with it %" PRIu32 " of the %" PRIu32
            " members of the last ten minutes are lost, more than the configuration allows: it stays, and "
            "what it has stands still, until lbctl evict %" PRIu32,
            member->host, member->name, losses->lost, losses->hosts, member->host);
}

static void
evict_or_withhold(struct lbm_node *node, const struct lbm_member *member, struct peer *peer)
{
    struct losses losses;
    if (lbm_membership_losses(node, &losses) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    else if (lbm_membership_may_evict(node, &losses))
        propose_evict(node, member, peer);
    else
        withhold(node, member, &losses);
}

/* Nonzero if nobody could take over from that member now: it stays, and may come back, as may its backup. */
static int
has_no_successor(const struct lbm_node *node, const struct lbm_member *member)
{
    int is_there = lbm_view_is_alone(member);
    for (unsigned k = 0; k < node->view.copies; k++) {
        uint32_t host = member->backups[k].host;
        const struct peer *backup = host != LBM_NONE ? lbm_membership_peer_known(node, host) : NULL;
        int is_suspected = backup != NULL && host != node->host && backup->suspect_us != 0;
        is_there |= host != LBM_NONE && !is_suspected &&
                    (lbm_view_slot_in_sync(&node->view, member, k) || node->view.copies == 1);
    }
    return (!lbm_view_in_sync(&node->view, member) && !LBM_BUG(EVICT_WITHOUT_INSYNC)) || !is_there;
}

/* Whether that host is suspected, from when on.
 * Returns nonzero if it is. */
static int
suspect(struct lbm_node *node, const struct lbm_member *member, struct peer *peer)
{
    int64_t timeout_us = (int64_t)SUSPECT_US * (1 + node->health);
    int64_t heard_us = peer->heard_us > peer->since_us ? peer->heard_us : peer->since_us;
    int64_t away_us = lbm_membership_maintenance_end(node, member->host);
    heard_us = away_us > heard_us ? away_us : heard_us;
    if (node->now_us - heard_us < timeout_us)
        peer->suspect_us = 0;
    else if (peer->suspect_us == 0)
        peer->suspect_us = node->now_us;
    return peer->suspect_us != 0;
}

static void
judge(struct lbm_node *node, const struct lbm_member *member, struct peer *peer)
{
    if (peer->suspect_us == 0 || node->now_us - peer->suspect_us < CONFIRM_US)
        return;
    int orders_log = !node->view.external && node->view.leader == member->host;
    if (orders_log || has_no_successor(node, member))
        return; /* another must be promoted first, or nobody could take over */
    /* After a cut connections come back one by one: what this host and the others think is of before. */
    if (node->cut_off_us != 0 && node->now_us - node->cut_off_us < SUSPECT_US + CONFIRM_US)
        return;
    if (confirmed_by_others(node, peer) >= 1)
        evict_or_withhold(node, member, peer);
}

void
lbm_membership_detector_timer(struct lbm_node *node)
{
    if (node->health != 0 && node->now_us >= node->health_us) {
        node->health--;
        node->health_us = node->now_us + HEALTH_STEP_US;
    }
    if (!lbm_local_is_alive(node) || !node->caught_up)
        return;
    size_t watched = 0, suspected = 0;
    for (size_t i = 0; i < node->watched.n; i++) {
        const struct lbm_member *member = lbm_view_member(&node->view, node->watched.at[i]);
        struct peer *peer = lbm_membership_peer_of(node, node->watched.at[i]);
        watched += peer != NULL;
        suspected += peer != NULL && suspect(node, member, peer);
    }
    /* Whoever hears of hardly anybody is itself the one cut off. */
    int is_cut_off = watched > 1 && 2 * suspected > watched;
    if (is_cut_off)
        node->cut_off_us = node->now_us;
    if (is_cut_off && may_tell(node))
        lbm_core_note(
            node, LBM_NOTE_WARNING,
            "%zu of %zu other hosts are unreachable: this host takes itself to be the one that is cut off, "
            "and evicts nobody until it hears more than half of them; if they are lost, run lbctl evict",
            suspected, watched);
    for (size_t i = 0; i < node->watched.n && node->failed == LBM_OK; i++) {
        const struct lbm_member *member = lbm_view_member(&node->view, node->watched.at[i]);
        struct peer *peer = lbm_membership_peer_of(node, node->watched.at[i]);
        if (peer != NULL &&
            !(is_cut_off && peer->suspect_us != 0 && peer->heard_us < node->now_us - SUSPECT_US))
            judge(node, member, peer);
    }
}
