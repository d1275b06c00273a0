/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lease under which applications of this host work (protocol.md section 5): every backup grants it, from
 * the moment it was asked; it ends with the earliest. Never: lets anybody work after that. */
#include "node/application/application.h"
#include "node/application/guest.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/log/log.h"
#include "node/replication/internal.h"
#include "node/replication/replication.h"

int64_t
lbm_replication_lease_end(const struct lbm_node *node)
{
    int64_t until_us = lbm_local_is_alone(node) ? INT64_MAX : node->lease.until_us;
    until_us = until_us > node->lease.old_us ? until_us : node->lease.old_us;
    return until_us > node->lease.fence_us ? until_us : node->lease.fence_us;
}

/* Keep the shell's page in step. While an application of the life before may run, its page stays as it is. */
void
lbm_replication_lease_tell(struct lbm_node *node)
{
    struct lease *l = &node->lease;
    if (l->fence_us != 0)
        return;
    int64_t held_us = l->until_us > l->old_us ? l->until_us : l->old_us;
    int64_t until_us = !lbm_local_is_alive(node) ? 0 : lbm_local_is_alone(node) ? INT64_MAX : held_us;
    uint32_t used = 0;
    for (size_t i = 0; i < node->applications.n; i++)
        used += node->applications.at[i].has_had != 0;
    if (until_us == l->told_us && l->term == l->told_term && used == l->told_used && l->gone == l->told_gone)
        return;
    l->told_us = until_us;
    l->told_term = l->term;
    l->told_used = used;
    l->told_gone = l->gone;
    struct lbm_effect effect = {.kind = LBM_EFFECT_LEASE};
    effect.as.lease.deadline_us = until_us;
    effect.as.lease.term = l->term;
    effect.as.lease.used = used;
    effect.as.lease.gone = l->gone;
    if (lbm_vec_push(&node->out->list, effect) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

void
lbm_replication_lease_count(struct lbm_node *node)
{
    int64_t least = INT64_MAX, most = 0;
    for (unsigned k = 0; k < lbm_replication_slots(node); k++) {
        const struct replication_log *s = &node->replication.log[k];
        if (s->backup == LBM_NONE)
            continue;
        least = s->until_us < least ? s->until_us : least;
        most = s->until_us > most ? s->until_us : most;
    }
    if (most > least && LBM_BUG(LEASE_OF_ONE))
        least = most;
    node->lease.until_us = least != INT64_MAX ? least : 0;
}

void
lbm_replication_lease_ask(struct lbm_node *node, struct replication_log *s)
{
    Lbm__LeaseReq request = LBM__LEASE_REQ__INIT;
    request.sent_us = (uint64_t)node->now_us;
    request.repl_epoch = s->repl_epoch;
    /* Changes of this life must not hide that a disk went back: they would get the numbers of lost ones. */
    request.seq = s->compared ? node->replication.seq : node->replication.start_seq;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LEASE_REQ;
    message.lease_req = &request;
    lbm_core_send_now(node, s->backup, &message);
    int is_well = s->known && s->until_us > node->now_us;
    if (!is_well)
        lbm_log_fetch(node); /* the cluster may have gone on without this host, and nobody tell it */
    s->ask_us = node->now_us + (is_well ? LEASE_RENEW_US : LEASE_RETRY_US);
}

void
lbm_replication_lease_give(struct lbm_node *node, struct replication_log *s, const Lbm__Lease *lease)
{
    int64_t from_us = node->now_us > (int64_t)lease->sent_us && LBM_BUG(LEASE_FROM_RECEIPT)
                          ? node->now_us
                          : (int64_t)lease->sent_us;
    /* A backup of another version may grant more: this host's next life would not wait for that. */
    int64_t until_us = from_us + (lease->lease_us < LEASE_US ? (int64_t)lease->lease_us : LEASE_US);
    if (lease->lease_us != 0 && until_us > s->until_us) {
        int began = node->lease.until_us <= node->now_us;
        s->until_us = until_us;
        lbm_replication_lease_count(node);
        began &= node->lease.until_us > node->now_us || lbm_replication_slots(node) == 1;
        for (size_t i = 0; began && i < node->jobs.n; i++)
            lbm_application_ready(node, node->jobs.at[i]);
    }
    lbm_replication_lease_tell(node);
}

void
lbm_replication_lease_timer(struct lbm_node *node)
{
    struct lease *l = &node->lease;
    if (l->fence_us != 0 && node->now_us >= l->fence_us) { /* nobody came back for what he held */
        l->fence_us = 0;
        lbm_application_lease_lapsed(node);
    }
    int is_over = l->old_us != 0 && l->old_us <= node->now_us;
    l->old_us = is_over ? 0 : l->old_us;
    if (l->until_us != 0 && l->until_us <= node->now_us) {
        for (unsigned k = 0; k < LBM_COPIES_MAX; k++) {
            struct replication_log *s = &node->replication.log[k];
            s->until_us = s->until_us <= node->now_us ? 0 : s->until_us;
        }
        l->until_us = 0;
        is_over = l->old_us == 0;
    }
    if (is_over && l->until_us == 0 && l->told_us <= node->now_us)
        lbm_application_lease_lapsed(node); /* the page said so, even if this host is alone by now */
    lbm_replication_lease_tell(node);
}
