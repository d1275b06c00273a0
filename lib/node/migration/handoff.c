/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handoff of vertices (protocol.md section 6): OWN -> OUT, OFFER, OWN at the target, ACK, MOV, FIN. Nothing
 * is said of a record before the backup has it exactly so: whatever host is lost at whatever moment, the
 * vertex is owned once. */
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/membership/membership.h"
#include "node/migration/internal.h"
#include "node/migration/migration.h"
#include "node/records/blobs.h"
#include "node/records/record_batch.h"
#include "node/records/records.h"

enum { OFFER_BYTES_MAX = 16 << 20 /* to one host at a time */ };

/* ---- what is due --------------------------------------------------------------------------------------- */

static int
goes_with(const struct due *a, const struct due *b)
{
    return a->kind == b->kind && a->job == b->job && a->to == b->to && a->retargeted == b->retargeted;
}

/* Bytes a record may take in a message, generously. */
static size_t
record_bytes(const struct lbm_vertex *vertex)
{
    return 96 + 16 * (size_t)vertex->degree + vertex->payload_len;
}

/* Why the vertices of a batch go. */
struct reasons {
    size_t n, n_known;
    uint32_t reason[LBM_BATCH_VERTICES_MAX], is_known[LBM_BATCH_VERTICES_MAX];
    double gain[LBM_BATCH_VERTICES_MAX];
};

static void
add_reason(struct lbm_node *node, struct reasons *reasons, const struct job *job,
           const struct lbm_vertex *vertex)
{
    const struct why why = lbm_migration_move_sent(node, job, vertex);
    reasons->reason[reasons->n] = (uint32_t)why.reason;
    reasons->is_known[reasons->n] = why.gain_is_known != 0;
    reasons->gain[reasons->n++] = why.gain;
    reasons->n_known += why.gain_is_known != 0;
}

static void
send_offer(struct lbm_node *node, const struct due *first, struct columns *columns, struct reasons *reasons)
{
    Lbm__Offer offer = LBM__OFFER__INIT;
    offer.n_reason = offer.n_gain_is_known = reasons->n;
    offer.reason = reasons->reason;
    offer.gain_is_known = reasons->is_known;
    offer.n_gain = reasons->n_known != 0 ? reasons->n : 0;
    offer.gain = reasons->gain;
    offer.job = first->job;
    offer.retargeted = first->retargeted != 0;
    lbm_records_batch_message(columns);
    offer.records = &columns->message;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_OFFER;
    message.offer = &offer;
    if (columns->vertex.n != 0 && node->failed == LBM_OK)
        lbm_core_send(node, first->to, &message);
    lbm_records_batch_free(columns);
    lbm_records_batch_init(columns);
    reasons->n = reasons->n_known = 0;
}

/* What is too much for one connection at a time is offered again with the next repetition. */
static void
send_offers(struct lbm_node *node, struct job *job, const struct due *list, size_t n)
{
    struct columns columns;
    struct reasons reasons = {0};
    size_t bytes = 0, sent = 0;
    lbm_records_batch_init(&columns);
    for (size_t i = 0; i < n && sent <= OFFER_BYTES_MAX && node->failed == LBM_OK; i++) {
        const struct lbm_vertex *vertex = lbm_records_of(job, list[i].vertex);
        if (vertex == NULL || vertex->stage != LBM_STAGE_OUT || vertex->epoch + 1 != list[i].epoch)
            continue;
        bytes += record_bytes(vertex);
        if (columns.vertex.n == LBM_BATCH_VERTICES_MAX ||
            (bytes > LBM_BATCH_BYTES_MAX && columns.vertex.n != 0)) {
            send_offer(node, list, &columns, &reasons);
            sent += bytes - record_bytes(vertex);
            bytes = record_bytes(vertex);
        }
        lbm_records_batch_add(node, &columns, job, vertex, list[i].epoch, COLUMNS_WHOLE);
        add_reason(node, &reasons, job, vertex);
    }
    send_offer(node, list, &columns, &reasons);
    lbm_records_batch_free(&columns);
}

/* Up to one batch of answers or of FIN. */
static void
send_words(struct lbm_node *node, const struct due *list, size_t n)
{
    uint32_t vertex[LBM_BATCH_VERTICES_MAX], refused[LBM_BATCH_VERTICES_MAX];
    uint64_t epoch[LBM_BATCH_VERTICES_MAX];
    LBM_ASSERT(n <= LBM_BATCH_VERTICES_MAX);
    for (size_t i = 0; i < n; i++) {
        vertex[i] = list[i].vertex;
        epoch[i] = list[i].epoch;
        refused[i] = list[i].kind == DUE_REFUSE;
    }
    Lbm__Peer message = LBM__PEER__INIT;
    Lbm__Answer answer = LBM__ANSWER__INIT;
    Lbm__Fin fin = LBM__FIN__INIT;
    if (list->kind == DUE_FIN) {
        fin.job = list->job;
        fin.n_vertex = fin.n_epoch = n;
        fin.vertex = vertex;
        fin.epoch = epoch;
        message.body_case = LBM__PEER__BODY_FIN;
        message.fin = &fin;
    } else {
        answer.job = list->job;
        answer.n_vertex = answer.n_epoch = answer.n_refused = n;
        answer.vertex = vertex;
        answer.epoch = epoch;
        answer.refused = refused;
        message.body_case = LBM__PEER__BODY_ANSWER;
        message.answer = &answer;
    }
    lbm_core_send(node, list->to, &message);
}

/* Everything that became due in this step, in batches by what and to whom, each in the order it came. */
void
lbm_migration_flush(struct lbm_node *node)
{
    LBM_VEC(struct due) batch = {0};
    while (node->due.n != 0 && node->failed == LBM_OK) {
        struct due first = node->due.at[0];
        size_t kept = 0;
        batch.n = 0;
        for (size_t i = 0; i < node->due.n && node->failed == LBM_OK; i++) {
            if (!goes_with(&node->due.at[i], &first))
                node->due.at[kept++] = node->due.at[i];
            else if (lbm_vec_push(&batch, node->due.at[i]) != LBM_OK)
                lbm_core_fail(node, LBM_E_NOMEM);
        }
        node->due.n = kept;
        if (node->failed != LBM_OK)
            break;
        struct job *job = lbm_local_job(node, first.job);
        if (first.kind == DUE_OFFER && job != NULL)
            send_offers(node, job, batch.at, batch.n);
        for (size_t at = 0; first.kind != DUE_OFFER && at < batch.n; at += LBM_BATCH_VERTICES_MAX)
            send_words(node, &batch.at[at],
                       batch.n - at < LBM_BATCH_VERTICES_MAX ? batch.n - at : LBM_BATCH_VERTICES_MAX);
    }
    lbm_vec_free(&batch);
}

/* ---- the source's side --------------------------------------------------------------------------------- */

/* The member that a vertex may be handed to, or NULL: it is not ACTIVE, or the vertex is pinned elsewhere. */
static const struct lbm_member *
target_for(const struct lbm_node *node, const struct lbm_vertex *vertex, uint32_t to)
{
    const struct lbm_member *target = lbm_view_member(&node->view, to);
    const struct lbm_member *pinned =
        vertex->pin != LBM_NONE && vertex->pin != to ? lbm_view_member(&node->view, vertex->pin) : NULL;
    int is_pinned = pinned != NULL && pinned->state == LBM_MEMBER_ACTIVE;
    /* Its source must have finished: a vertex that comes and goes has one unanswered offer at most. */
    int fits = vertex->stage == LBM_STAGE_OWN && vertex->move_to == LBM_NONE && to != node->host &&
               target != NULL && target->state == LBM_MEMBER_ACTIVE && !is_pinned &&
               (vertex->fin || LBM_BUG(MOVE_UNFINISHED)) && vertex->n_news == 0;
    return fits ? target : NULL;
}

int
lbm_migration_begin(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to,
                    const struct why *why)
{
    const struct lbm_member *target = target_for(node, vertex, to);
    if (target == NULL || lbm_local_is_held(node, job) || !lbm_records_is_acked_but_for_work(node, vertex) ||
        (vertex->offered_us != 0 && node->now_us - vertex->offered_us < REFUSED_US))
        return 0;
    int goes = node->raise->application_release(node, job, vertex, to);
    if (goes || vertex->move_to == to) {
        lbm_migration_move_decided(node, job, vertex, to, why);
        lbm_migration_throttle_charge(node, job, vertex);
    }
    if (!goes)
        return vertex->move_to == to; /* it begins when the application has let go */
    lbm_records_stage(node, job, vertex, LBM_TRANSITION_RELEASE, to, target->incarnation);
    return 1;
}

int
lbm_migration_resume(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to)
{
    const struct lbm_member *target = target_for(node, vertex, to);
    if (target == NULL || lbm_local_is_held(node, job))
        return 0;
    lbm_migration_move_leaves(node, job, vertex);
    lbm_records_stage(node, job, vertex, LBM_TRANSITION_RELEASE, to, target->incarnation);
    return 1;
}

/* The vertex is ours again: its target is gone and never had it, or is this host's own inheritance. */
static void
take_back(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, enum lbm_transition transition)
{
    int in_round = vertex->in_round;
    vertex->in_round = 0;
    lbm_migration_queue_answered(job, vertex);
    lbm_migration_move_ends(node, job, vertex, vertex->peer, LBM_MOVE_TAKEN_BACK);
    lbm_records_stage(node, job, vertex, transition, LBM_NONE, 0);
    if (in_round)
        node->raise->exchange_vertex_left(node, job);
}

/* Offer an OUT vertex to whoever must answer for its target now. */
static void
offer(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex)
{
    const struct lbm_departed *gone = lbm_view_departed(&node->view, vertex->peer, vertex->peer_incarnation);
    uint32_t to = vertex->peer;
    uint64_t incarnation;
    if (gone != NULL) {
        if (!lbm_view_successor(&node->view, vertex->peer, vertex->peer_incarnation, &to, &incarnation))
            return; /* nobody has taken over yet; the target itself may come back */
        if (gone->evicted && gone->successor != to && LBM_BUG(SUCCESSOR_OF_SUCCESSOR_FORGOTTEN))
            to = gone->successor;
        if (to == LBM_NONE) {
            take_back(node, job, vertex, LBM_TRANSITION_TAKE_BACK);
            return;
        }
    }
    if (to == node->host) {
        if (lbm_local_takeovers_done(node) || LBM_BUG(INHERIT_BEFORE_MERGE))
            take_back(node, job, vertex, LBM_TRANSITION_INHERIT);
        return;
    }
    if (!lbm_records_is_acked(node, vertex) && !LBM_BUG(OFFER_UNACKED))
        return;
    if (vertex->offered_us != 0 && lbm_membership_is_behind(node, to))
        return; /* the last offer has not left yet */
    vertex->offered_us = node->now_us;
    struct due due = {.kind = DUE_OFFER,
                      .job = job->id,
                      .to = to,
                      .vertex = vertex->id,
                      .epoch = vertex->epoch + 1,
                      .retargeted = gone != NULL};
    if (lbm_vec_push(&node->due, due) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

void
lbm_migration_timer(struct lbm_node *node, struct job *job)
{
    if (node->now_us < job->offers_us)
        return;
    size_t kept = 0;
    for (size_t i = 0; i < job->out.n && node->failed == LBM_OK; i++) {
        uint32_t slot = job->out.at[i];
        struct lbm_vertex *vertex = &job->shard.vertices.at[slot];
        if (vertex->stage == LBM_STAGE_OUT &&
            (vertex->offered_us == 0 || node->now_us - vertex->offered_us >= OFFER_RETRY_US))
            offer(node, job, vertex);
        if (vertex->stage == LBM_STAGE_OUT)
            job->out.at[kept++] = slot;
    }
    job->out.n = kept;
    job->offers_us = kept == 0 ? INT64_MAX : node->now_us + OFFER_RETRY_US;
}

void
lbm_migration_view_changed(struct lbm_node *node, struct job *job)
{
    for (size_t i = 0; i < job->out.n; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[job->out.at[i]];
        if (lbm_view_departed(&node->view, vertex->peer, vertex->peer_incarnation) != NULL)
            vertex->offered_us = 0;
    }
    if (job->out.n != 0)
        job->offers_us = node->now_us;
}

void
lbm_migration_acked(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex)
{
    if (vertex->n_news != 0)
        lbm_local_edges_soon(node, job);
    switch (vertex->stage) {
    case LBM_STAGE_OWN:
    case LBM_STAGE_REF:
        if (vertex->answer_due) {
            int known;
            vertex->answer_due = 0;
            lbm_migration_due(node, vertex->stage == LBM_STAGE_REF ? DUE_REFUSE : DUE_ACK, job,
                              lbm_migration_completion_source(node, vertex, &known), vertex, vertex->epoch);
            node->raise->exchange_vertex_arrived(node, job, vertex->id);
        }
        if (vertex->fin_due) {
            vertex->fin_due = 0;
            lbm_migration_due(node, DUE_FIN, job, vertex->refuser, vertex, vertex->epoch - 1);
        }
        node->raise->application_ready(node, job);
        break;
    case LBM_STAGE_OUT:
        offer(node, job, vertex);
        break;
    case LBM_STAGE_MOV:
        lbm_migration_due(node, DUE_FIN, job, vertex->peer, vertex, vertex->epoch + 1);
        break;
    case LBM_STAGE_NONE:
    case LBM_STAGE_COUNT:
        break;
    }
}

static void
settle_out(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, const Lbm__Peer *from,
           int refused)
{
    int in_round = vertex->in_round;
    vertex->in_round = 0;
    lbm_migration_queue_answered(job, vertex);
    lbm_migration_move_ends(node, job, vertex, from->src, refused ? LBM_MOVE_REFUSED : LBM_MOVE_ARRIVED);
    if (refused) {
        lbm_records_stage(node, job, vertex, LBM_TRANSITION_RETURN, LBM_NONE, 0);
        vertex->offered_us = node->now_us;
        vertex->refuser = from->src;
        vertex->fin_due = 1;
    } else {
        lbm_records_stage(node, job, vertex, LBM_TRANSITION_MOVE, from->src, from->src_incarnation);
        job->moved++;
        node->n_handoffs++;
    }
    if (in_round)
        node->raise->exchange_vertex_left(node, job);
}

void
lbm_migration_on_answer(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Answer *answer = message->answer;
    struct job *job = lbm_local_job(node, answer->job);
    if (job == NULL || node->view.index < message->view)
        return; /* it comes again */
    for (size_t i = 0; i < answer->n_vertex && node->failed == LBM_OK; i++) {
        struct lbm_vertex *vertex = lbm_records_of(job, answer->vertex[i]);
        struct due fin = {DUE_FIN, job->id, message->src, answer->vertex[i], answer->epoch[i], 0};
        if (vertex != NULL && vertex->stage == LBM_STAGE_OUT && vertex->epoch + 1 == answer->epoch[i])
            settle_out(node, job, vertex, message, answer->refused[i] != 0);
        else if (lbm_migration_is_finished(node, job, answer->vertex[i], answer->epoch[i]) &&
                 lbm_vec_push(&node->due, fin) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    }
    if (job->phase == LBM_PHASE_PLACED && job->tick_us != INT64_MAX)
        job->tick_us = node->now_us; /* there is room for more */
    if (job->flow.state == FLOW_TRANSFER && job->flow.tick_us > node->now_us + TRANSFER_SOON_US)
        job->flow.tick_us = node->now_us + TRANSFER_SOON_US;
}

int
lbm_migration_waits(const struct lbm_node *node, const struct job *job)
{
    for (size_t i = 0; job->shard.n_out != 0 && i < job->out.n; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[job->out.at[i]];
        int is_recent =
            node->now_us - vertex->since_us < EXCLUDE_US; /* its host need not be known to be there */
        if (vertex->stage == LBM_STAGE_OUT && (is_recent || !lbm_membership_is_excluded(node, vertex->peer)))
            return 1;
    }
    return 0;
}

/* ---- the target's side --------------------------------------------------------------------------------- */

static int
must_refuse(const struct lbm_node *node, const struct job *job)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    return (node->vertices_max != 0 && job->shard.n_own >= node->vertices_max) ||
           (self != NULL && (self->state == LBM_MEMBER_DRAINING || self->maintenance_us != 0));
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

/* Take or refuse one offered vertex. Refusing is a record too: the offer may come again. What was offered for
 * an evicted host is never refused: its source has nobody else to turn to. */
static void
accept_one(struct lbm_node *node, struct job *job, const Lbm__Peer *message, size_t i,
           struct columns_place place)
{
    const Lbm__Offer *offer = message->offer;
    struct lbm_row row;
    int refused = !offer->retargeted && must_refuse(node, job);
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
    if (!offer->retargeted && must_refuse(node, job))
        return 0;
    return !lbm_blobs_row_has(node, offer->records, i, at, offer->job, message->src) &&
           !LBM_BUG(TAKE_WITHOUT_BLOB);
}

void
lbm_migration_on_blob_have(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__BlobHave *have = message->blob_have;
    const struct lbm_blob_name name = lbm_blobs_name(have->job, &have->digest, have->length);
    struct job *job = lbm_local_job(node, have->job);
    for (size_t i = 0; job != NULL && i < job->out.n; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[job->out.at[i]];
        if (vertex->stage != LBM_STAGE_OUT || !lbm_blobs_is_of(vertex, &name))
            continue;
        vertex->offered_us = 0;
        job->offers_us = node->now_us;
    }
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
    if (n_rows != 0 && lbm_migration_offer_is_checked(node, message))
        lbm_migration_offer_check(node, message, rows);
    else if (n_rows != 0)
        lbm_migration_offer_take(node, message, rows);
}
