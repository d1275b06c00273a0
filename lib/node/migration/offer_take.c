/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The target's side of a handoff (protocol.md section 6): vertices that are offered are taken or refused,
 * once no other host says that they are its own (offer_check.c). What is refused makes nobody an owner, and
 * is not asked about. */
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/membership/membership.h"
#include "node/migration/internal.h"
#include "node/migration/migration.h"
#include "node/records/blobs.h"
#include "node/records/record_batch.h"
#include "node/records/records.h"

/* Refusing is a record too: the offer may come again. What was offered for an evicted host is never refused:
 * its source has nobody else to turn to. */
static int
must_refuse(const struct lbm_node *node, const struct job *job, const Lbm__Offer *offer)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    return !offer->retargeted &&
           ((node->vertices_max != 0 && job->shard.n_own >= node->vertices_max) ||
            (self != NULL && (self->state == LBM_MEMBER_DRAINING || self->maintenance_us != 0)));
}

/* Those that were exchanged are not exchanged again at once. */
static void
arrive(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, const Lbm__Offer *offer, size_t i)
{
    enum lbm_move_reason reason = lbm_migration_move_came(node, job, vertex, offer, i);
    lbm_migration_pinned_came(node, job, vertex);
    if (reason == LBM_MOVE_BALANCE || reason == LBM_MOVE_PASS || reason == LBM_MOVE_BOUNDARY ||
        reason == LBM_MOVE_REMAP)
        lbm_migration_throttle_came(node, job, vertex);
    if (reason == LBM_MOVE_REMAP)
        node->raise->mapping_remap_came(node, job, vertex);
}

/* Take or refuse one offered vertex. */
static void
accept_one(struct lbm_node *node, struct job *job, const Lbm__Peer *message, size_t i,
           struct columns_place place)
{
    const Lbm__Offer *offer = message->offer;
    struct lbm_row row;
    int refused = must_refuse(node, job, offer);
    if (lbm_records_batch_row(offer->records, i, &place, job->shard.m, offer->job, &row) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    if (refused) {
        lbm_row_free(&row);
        row.half = NULL;
        row.payload = NULL;
        row.degree = row.payload_len = 0;
        row.is_blob = 0;
    }
    row.source = message->src;
    row.source_incarnation = message->src_incarnation;
    struct lbm_vertex *before = lbm_records_of(job, row.vertex);
    int in_round = before != NULL && before->in_round;
    struct lbm_vertex *vertex =
        lbm_records_put(node, job, &row, refused ? LBM_TRANSITION_REFUSE : LBM_TRANSITION_ACCEPT);
    if (vertex != NULL)
        vertex->answer_due = 1;
    if (vertex != NULL && !refused)
        arrive(node, job, vertex, offer, i);
    if (in_round) /* it went round, and we never heard */
        node->raise->exchange_vertex_left(node, job);
}

/* Records must fit this guest: nothing a peer sends may name a vertex that cannot exist. */
static int
fits_guest(const struct lbm_job_entry *entry, const Lbm__Records *r, unsigned m)
{
    if (r->n_degree != r->n_vertex || r->n_position != r->n_vertex * m ||
        !lbm_records_payload_fits(r->n_payload_len, r->payload_len, &r->payload) ||
        !lbm_blobs_fit(r, entry->job))
        return 0;
    for (size_t i = 0; i < r->n_vertex; i++)
        if (r->vertex[i] >= entry->ids || r->epoch[i] < 2)
            return 0;
    for (size_t k = 0; k < r->n_neighbour; k++)
        if (r->neighbour[k] >= entry->ids)
            return 0;
    return 1;
}

/* A host that drains and has nothing any more may be about to leave: it takes nothing. */
static int
may_leave(const struct lbm_node *node)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    uint64_t n = 0;
    for (size_t i = 0; i < node->jobs.n; i++)
        n += node->jobs.at[i]->shard.n_own + node->jobs.at[i]->shard.n_out;
    return self != NULL && self->state == LBM_MEMBER_DRAINING && n == 0;
}

/* An offer meant for an evicted host is the successor's only after the successor has what that host had. */
static int
is_ready_for(const struct lbm_node *node, const Lbm__Peer *message)
{
    return !message->offer->retargeted ||
           (node->view.index >= message->view &&
            (lbm_local_takeovers_done(node) || LBM_BUG(RETARGETED_TOO_EARLY)) &&
            (!may_leave(node) || LBM_BUG(TAKE_WHILE_LEAVING)));
}

/* While a refusal is unfinished its source may still repeat that offer: another one has to wait, or the
 * refusal would be forgotten with it. What this host owns nobody else can offer, unless its disk went back in
 * time: then the backup will say so. */
static int
must_wait(const struct lbm_vertex *own)
{
    if (own != NULL && own->stage == LBM_STAGE_OWN)
        return 1;
    return own != NULL && own->stage == LBM_STAGE_REF && !own->fin && !LBM_BUG(FORGET_REFUSAL);
}

/* A vertex is taken with its large payload, or not yet: the offer is repeated once that is here. What is
 * refused comes without. */
static int
lacks_blob(struct lbm_node *node, const struct job *job, const Lbm__Peer *message, size_t i, size_t at)
{
    const Lbm__Offer *offer = message->offer;
    if (must_refuse(node, job, offer))
        return 0;
    return !lbm_blobs_row_has(node, offer->records, i, at, offer->job, message->src) &&
           !LBM_BUG(TAKE_WITHOUT_BLOB);
}

/* What could not be handed on is not taken; the others of its batch are. */
static int
is_taken(struct lbm_node *node, const struct job *job, const Lbm__Peer *message, size_t i, size_t payload_at)
{
    const Lbm__Records *r = message->offer->records;
    const struct lbm_vertex *own = lbm_records_of(job, r->vertex[i]);
    return (own == NULL || own->epoch < r->epoch[i]) && !must_wait(own) &&
           lbm_local_is_epoch_within_reach(node, message->src, job, r->epoch[i]) &&
           !lacks_blob(node, job, message, i, payload_at);
}

/* The job of an offer that can be taken now, or NULL: it comes again. */
static struct job *
job_of_offer(struct lbm_node *node, const Lbm__Peer *message)
{
    struct job *job = lbm_local_job(node, message->offer->job);
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, message->offer->job);
    int fits = job != NULL && entry != NULL && fits_guest(entry, message->offer->records, job->shard.m);
    return fits && is_ready_for(node, message) ? job : NULL;
}

static void
next_row(const Lbm__Records *r, size_t i, struct columns_place *place)
{
    place->half += r->degree[i];
    place->payload += r->n_payload_len != 0 ? r->payload_len[i] : 0;
}

void
lbm_migration_offer_take(struct lbm_node *node, const Lbm__Peer *message, const uint8_t *is_free)
{
    const Lbm__Records *r = message->offer->records;
    struct job *job = job_of_offer(node, message);
    struct columns_place place = {0};
    for (size_t i = 0; job != NULL && i < r->n_vertex && node->failed == LBM_OK; i++) {
        if (is_free[i] && is_taken(node, job, message, i, place.payload)) {
            lbm_migration_offer_is_taken(node, job->id, r->vertex[i]);
            accept_one(node, job, message, i, place);
        }
        next_row(r, i, &place);
    }
}

void
lbm_migration_on_offer(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Offer *offer = message->offer;
    const Lbm__Records *r = offer->records;
    struct job *job = job_of_offer(node, message);
    uint8_t rows[LBM_BATCH_VERTICES_MAX] = {0};
    size_t n_rows = 0;
    struct columns_place place = {0};
    if (job == NULL || r->n_vertex > LBM_BATCH_VERTICES_MAX)
        return;
    for (size_t i = 0; i < r->n_vertex && node->failed == LBM_OK; i++) {
        const struct lbm_vertex *own = lbm_records_of(job, r->vertex[i]);
        int is_new = own == NULL || own->epoch < r->epoch[i];
        if (is_taken(node, job, message, i, place.payload))
            n_rows += rows[i] = !lbm_migration_offer_waits(node, message, i);
        else if (!is_new && (lbm_records_is_acked(node, own) || LBM_BUG(ACK_UNACKED)))
            lbm_migration_due(node,
                              own->stage == LBM_STAGE_REF && own->epoch == r->epoch[i] ? DUE_REFUSE : DUE_ACK,
                              job, message->src, own, r->epoch[i]);
        next_row(r, i, &place);
    }
    if (n_rows != 0 && !must_refuse(node, job, offer) && lbm_migration_offer_is_checked(node, message))
        lbm_migration_offer_check(node, message, rows);
    else if (n_rows != 0)
        lbm_migration_offer_take(node, message, rows);
}
