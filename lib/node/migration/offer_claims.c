/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a host says to one that is offered vertices (offer_check.c): which of them are its own, or were those
 * of a host whose records it keeps, as long as that one cannot say so itself. */
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/migration/internal.h"
#include "node/migration/migration.h"
#include "node/records/records.h"

int
lbm_migration_has_copy(const struct lbm_node *node, uint32_t host, uint32_t of, uint64_t incarnation)
{
    const struct lbm_member *keeper = lbm_view_member(&node->view, host);
    const struct lbm_member *owner = lbm_view_member(&node->view, of);
    const struct lbm_departed *gone = lbm_view_departed(&node->view, of, incarnation);
    if (keeper == NULL || !lbm_view_participates(keeper) || host == of)
        return 0;
    if (gone != NULL)
        return gone->evicted &&
               ((gone->successor == host && gone->successor_incarnation == keeper->incarnation) ||
                (gone->reserve == host && gone->reserve_incarnation == keeper->incarnation));
    return owner != NULL && owner->incarnation == incarnation && lbm_view_participates(owner) &&
           lbm_view_backup_slot(owner, host) != NULL && lbm_view_backup_slot(owner, host)->insync;
}

static int
is_claimed_here(const struct lbm_node *node, uint64_t job_id, uint32_t vertex)
{
    const struct job *job = lbm_local_job(node, job_id);
    const struct lbm_vertex *own = job != NULL ? lbm_records_of(job, vertex) : NULL;
    if (own != NULL && (own->stage == LBM_STAGE_OWN || own->stage == LBM_STAGE_OUT))
        return 1;
    for (size_t i = 0; i < node->view.departed.n; i++) {
        const struct lbm_departed *gone = &node->view.departed.at[i];
        if (lbm_local_inherits(node, gone) &&
            lbm_records_copy_owns(node, gone->host, gone->incarnation, job_id, vertex))
            return 1;
    }
    return 0;
}

/* Nonzero if this host knows all that an incarnation of another had, as far as that was told to anybody. */
static int
has_full_copy(const struct lbm_node *node, uint32_t of, uint64_t incarnation)
{
    return lbm_migration_has_copy(node, node->host, of, incarnation) &&
           lbm_records_has_copy(node, of, incarnation) &&
           (node->replication.compared || lbm_local_is_alone(node));
}

size_t
lbm_migration_claims(const struct lbm_node *node, uint32_t of, uint64_t incarnation,
                     const Lbm__OfferCheck *asked, uint32_t vertex[LBM_BATCH_VERTICES_MAX])
{
    int is_own = of == node->host && incarnation == node->incarnation;
    size_t n = 0;
    if (!is_own && !has_full_copy(node, of, incarnation))
        return SIZE_MAX;
    for (size_t i = 0; i < asked->n_vertex; i++)
        if (is_own ? is_claimed_here(node, asked->job, asked->vertex[i])
                   : lbm_records_copy_owns(node, of, incarnation, asked->job, asked->vertex[i]))
            vertex[n++] = asked->vertex[i];
    return n;
}

void
lbm_migration_on_offer_check(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__OfferCheck *asked = message->offer_check;
    uint32_t vertex[LBM_BATCH_VERTICES_MAX];
    Lbm__OfferClaims body = LBM__OFFER_CLAIMS__INIT;
    Lbm__Peer reply = LBM__PEER__INIT;
    size_t n = lbm_migration_claims(node, asked->of, asked->of_incarnation, asked, vertex);
    if (n == SIZE_MAX)
        return; /* it may be able to say so later, when it is asked again */
    body.n_vertex = n;
    body.id = asked->id;
    body.of = asked->of;
    body.of_incarnation = asked->of_incarnation;
    body.vertex = vertex;
    reply.body_case = LBM__PEER__BODY_OFFER_CLAIMS;
    reply.offer_claims = &body;
    lbm_core_send_now(node, message->src, &reply);
}
