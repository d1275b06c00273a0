/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The owner's side of replication (protocol.md sections 4 and 5): changes of records go to the backup in
 * order. A change is sent only once it is durable here, as every send is; so the backup never knows more than
 * this disk, unless the disk went back in time. The lease that backups grant is in lease.c. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/application/application.h"
#include "node/application/guest.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/log/log.h"
#include "node/membership/membership.h"
#include "node/migration/migration.h"
#include "node/records/blobs.h"
#include "node/records/record_batch.h"
#include "node/records/records.h"
#include "node/replication/internal.h"
#include "node/replication/replication.h"

static const struct lbm_member *
self_of(const struct lbm_node *node)
{
    return lbm_view_member(&node->view, node->host);
}

/* What every backup holds. A slot without one asks for nothing, unless all are. */
static void
count_acked(struct lbm_node *node)
{
    struct replication *r = &node->replication;
    uint64_t least = UINT64_MAX, most = 0;
    for (unsigned k = 0; k < lbm_replication_slots(node); k++) {
        const struct replication_log *s = &r->log[k];
        if (s->backup == LBM_NONE)
            continue;
        least = s->acked < least ? s->acked : least;
        most = s->acked > most ? s->acked : most;
    }
    if (LBM_BUG(ONE_COPY_COUNTS) && most > least)
        least = most;
    r->acked = least != UINT64_MAX ? least : r->log[0].acked;
}

/* ---- the queue of changes ------------------------------------------------------------------------------ */

void
lbm_replication_push(struct lbm_node *node, uint64_t seq, uint64_t job, uint32_t vertex)
{
    struct change change = {seq, job, vertex, 0};
    for (unsigned k = 0; k < lbm_replication_slots(node); k++)
        if (lbm_vec_push(&node->replication.log[k].changes, change) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
}

static int
by_seq(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* All records above `acked` as changes, in order: a new backup knows nothing, a restarted host does not know
 * what its backup has. */
static void
gather(struct lbm_node *node, struct replication_log *s)
{
    s->changes.n = s->head = s->next = 0;
    s->uncovered = s->in_flight = 0;
    for (size_t j = 0; j < node->jobs.n; j++) {
        struct lbm_shard *shard = &node->jobs.at[j]->shard;
        for (size_t i = 0; i < shard->vertices.n; i++) {
            struct lbm_vertex *vertex = &shard->vertices.at[i];
            if (vertex->stage == LBM_STAGE_NONE && lbm_replication_slots(node) == 1)
                lbm_shard_vacate(shard, vertex); /* it has nothing to forget */
            int is_vacant = vertex->stage == LBM_STAGE_NONE &&
                            (lbm_replication_slots(node) == 1 || vertex->id == LBM_NONE);
            if (vertex->seq <= s->acked || is_vacant)
                continue;
            if (vertex->stage != LBM_STAGE_NONE) { /* else the other backup may have to forget it */
                vertex->covered[s->slot] = 0;
                vertex->awaited |= (uint8_t)(1U << s->slot);
                vertex->shares = lbm_replication_slots(node) == 1 ? 0 : vertex->shares;
                s->uncovered++;
            }
            struct change change = {vertex->seq, node->jobs.at[j]->id, vertex->id, 0};
            if (lbm_vec_push(&s->changes, change) != LBM_OK)
                lbm_core_fail(node, LBM_E_NOMEM);
        }
    }
    if (s->changes.n != 0)
        qsort(s->changes.at, s->changes.n, sizeof *s->changes.at, by_seq);
    s->sent = s->acked;
    s->retry_us = INT64_MAX;
}

/* ---- sending ------------------------------------------------------------------------------------------- */

static struct lbm_vertex *
vertex_of(const struct lbm_node *node, const struct change *change, struct job **job)
{
    *job = lbm_local_job(node, change->job);
    if (*job == NULL || change->vertex == LBM_NONE)
        return NULL;
    return lbm_shard_vertex(&(*job)->shard, change->vertex);
}

struct repl_batch {
    Lbm__Repl message;
    struct columns columns;
    LBM_VEC(uint32_t) gone;
    size_t bytes;
    int has_blob; /* it waits until the backup has that: nothing else goes with it */
};

static size_t
content_bytes(const struct lbm_vertex *vertex)
{
    return 96 + 16 * ((size_t)vertex->degree + vertex->n_news) + vertex->payload_len;
}

/* The end of those that have the number of this one: nobody may have a part of them
 * (lbm_records_change_together). */
static size_t
together_end(const struct replication_log *s, size_t from)
{
    size_t end = from + 1;
    while (end < s->changes.n && s->changes.at[end].seq == s->changes.at[from].seq)
        end++;
    return end;
}

/* May changes [from, end) go with the batch? One that has nothing yet takes whatever belongs together. */
static int
batch_fits(const struct lbm_node *node, const struct replication_log *s, const struct repl_batch *batch,
           size_t from, size_t end)
{
    size_t n = batch->columns.vertex.n + batch->gone.n, bytes = batch->bytes;
    for (size_t i = from; n != 0 && i < end; i++) {
        const struct change *change = &s->changes.at[i];
        struct job *job;
        const struct lbm_vertex *vertex = vertex_of(node, change, &job);
        if (change->vertex == LBM_NONE)
            return 0;
        if (vertex == NULL || vertex->seq != change->seq)
            continue;
        n++;
        bytes += content_bytes(vertex);
        if (batch->has_blob || vertex->is_blob || batch->message.job != change->job ||
            n > LBM_BATCH_VERTICES_MAX || bytes > LBM_BATCH_BYTES_MAX)
            return 0;
    }
    return 1;
}

static void
batch_add(struct lbm_node *node, struct replication_log *s, struct repl_batch *batch, struct change *change)
{
    struct job *job;
    const struct lbm_vertex *vertex = vertex_of(node, change, &job);
    change->bytes = 0;
    if (change->vertex == LBM_NONE) {
        batch->message.job = change->job;
        batch->message.drop_job = 1;
    } else if (vertex != NULL && vertex->seq == change->seq) {
        batch->message.job = change->job;
        change->bytes = (uint32_t)content_bytes(vertex);
        batch->has_blob |= vertex->is_blob;
        batch->bytes += change->bytes;
        s->in_flight += change->bytes;
        if (vertex->stage == LBM_STAGE_NONE) {
            if (lbm_vec_push(&batch->gone, change->vertex) != LBM_OK)
                lbm_core_fail(node, LBM_E_NOMEM);
        } else {
            lbm_records_batch_add_replica(node, &batch->columns, job, vertex,
                                          vertex->covered[s->slot] == s->repl_epoch);
        }
    }
    /* A change that a later one has overtaken needs no row: the later one brings the record. */
    batch->message.seq = change->seq;
}

/* What is not acknowledged goes once more. */
static void
send_again(struct replication_log *s)
{
    s->next = s->head;
    s->in_flight = 0;
}

/* Send one batch of what has not been sent. Returns 0 if there is nothing. */
static int
send_batch(struct lbm_node *node, struct replication_log *s)
{
    uint64_t last = node->replication.seq;
    struct repl_batch batch = {.message = LBM__REPL__INIT};
    lbm_records_batch_init(&batch.columns);
    batch.message.repl_epoch = s->repl_epoch;
    batch.message.after = s->sent;
    size_t from = s->next;
    while (s->next < s->changes.n && node->failed == LBM_OK && !batch.message.drop_job) {
        size_t end = together_end(s, s->next);
        if (!batch_fits(node, s, &batch, s->next, end))
            break;
        for (; s->next < end; s->next++)
            batch_add(node, s, &batch, &s->changes.at[s->next]);
    }
    if (s->next == s->changes.n)
        batch.message.seq = last; /* later ones are of records that are gone: a new backup hears of none */
    if (s->next != from && node->failed == LBM_OK) {
        if (batch.columns.vertex.n != 0) {
            lbm_records_batch_message(&batch.columns);
            batch.message.records = &batch.columns.message;
        }
        batch.message.n_gone = batch.gone.n;
        batch.message.gone = batch.gone.at;
        Lbm__Peer message = LBM__PEER__INIT;
        message.body_case = LBM__PEER__BODY_REPL;
        message.repl = &batch.message;
        lbm_core_send(node, s->backup, &message);
        lbm_application_changes_sent(node, s->sent, batch.message.seq, last);
        if (s->merged > s->sent && s->merged <= batch.message.seq)
            s->merged = last; /* what has overtaken inherited records is still to come */
        s->sent = batch.message.seq;
    }
    lbm_records_batch_free(&batch.columns);
    lbm_vec_free(&batch.gone);
    return s->next != from;
}

static void
pump(struct lbm_node *node, struct replication_log *s)
{
    if (!s->known || s->backup == LBM_NONE)
        return;
    while (s->next - s->head < REPL_BATCHES * LBM_BATCH_VERTICES_MAX &&
           s->in_flight < (uint64_t)REPL_BATCHES * LBM_BATCH_BYTES_MAX && send_batch(node, s))
        if (s->retry_us == INT64_MAX)
            s->retry_us = node->now_us + REPL_RETRY_US;
}

/* ---- acknowledgement ----------------------------------------------------------------------------------- */

static void
covered_at(struct replication_log *s, struct lbm_vertex *vertex)
{
    unsigned is_awaited = vertex->awaited >> s->slot & 1U;
    LBM_ASSERT(!is_awaited || s->uncovered != 0);
    s->uncovered -= is_awaited;
    vertex->awaited &= (uint8_t) ~(1U << s->slot);
}

void
lbm_replication_covered(struct lbm_node *node, struct lbm_vertex *vertex)
{
    for (unsigned k = 0; k < LBM_COPIES_MAX; k++)
        covered_at(&node->replication.log[k], vertex);
}

void
lbm_replication_job_gone(struct lbm_node *node, struct job *job)
{
    for (size_t i = 0; i < job->shard.vertices.n; i++)
        lbm_replication_covered(node, &job->shard.vertices.at[i]);
}

static void
acknowledged(struct lbm_node *node, struct replication_log *s, const struct change *change)
{
    struct job *job;
    struct lbm_vertex *vertex = vertex_of(node, change, &job);
    if (vertex == NULL || vertex->seq != change->seq)
        return;
    int counts = change->seq <= node->replication.acked || lbm_local_is_alone(node);
    if (vertex->stage == LBM_STAGE_NONE) {
        if (counts)
            lbm_shard_vacate(&job->shard, vertex);
        return;
    }
    covered_at(s, vertex);
    vertex->covered[s->slot] =
        vertex->stage == LBM_STAGE_OWN || vertex->stage == LBM_STAGE_OUT ? s->repl_epoch : 0;
    if (!counts)
        return; /* another backup has yet to say so */
    vertex->shares = 0;
    lbm_migration_acked(node, job, vertex);
}

static void
advance(struct lbm_node *node, struct replication_log *s, uint64_t seq)
{
    s->acked = seq;
    count_acked(node);
    while (s->head < s->changes.n && s->changes.at[s->head].seq <= seq && node->failed == LBM_OK) {
        struct change change = s->changes.at[s->head];
        s->in_flight -= s->head < s->next ? change.bytes : 0;
        s->head++;
        acknowledged(node, s, &change);
    }
    s->next = s->next < s->head ? s->head : s->next;
    s->sent = s->sent < seq ? seq : s->sent;
    s->retry_us = s->head < s->next ? node->now_us + REPL_RETRY_US : INT64_MAX;
    if (s->head > CHANGES_OVER && s->head > s->changes.n / 2) {
        memmove(s->changes.at, &s->changes.at[s->head], (s->changes.n - s->head) * sizeof *s->changes.at);
        s->changes.n -= s->head;
        s->next -= s->head;
        s->head = 0;
    }
    lbm_application_changes_acked(node);
    lbm_application_edges_acked(node);
}

/* The backup holds everything up to seq of this epoch. */
static void
heard_position(struct lbm_node *node, struct replication_log *s, uint64_t seq)
{
    if (!lbm_local_within_reach(node, s->backup, "position", seq, node->replication.seq, LBM_POSITION_STEP))
        return;
    if (seq > node->replication.seq && !LBM_BUG(IGNORE_ROLLED_BACK)) {
        node->replication.rolled_back = 1;
        return;
    }
    if (seq < s->acked && LBM_BUG(KEEP_ACKS))
        return;
    if (seq < s->acked) { /* its disk has gone back: give it again what it had */
        lbm_core_note(node, LBM_NOTE_WARNING,
                      "host %" PRIu32 " has lost a part of this host's replica: sending it again", s->backup);
        s->acked = seq;
        count_acked(node);
        gather(node, s);
    } else {
        advance(node, s, seq);
    }
}

/* The log of the slot in which that host is the backup, or NULL. */
static struct replication_log *
log_to(struct lbm_node *node, uint32_t host)
{
    for (unsigned k = 0; k < lbm_replication_slots(node); k++)
        if (node->replication.log[k].backup == host && host != LBM_NONE)
            return &node->replication.log[k];
    return NULL;
}

void
lbm_replication_on_repl_ack(struct lbm_node *node, const Lbm__Peer *message)
{
    struct replication_log *s = log_to(node, message->src);
    const Lbm__ReplAck *ack = message->repl_ack;
    if (s == NULL || ack->repl_epoch != s->repl_epoch)
        return;
    int is_stalled = ack->seq == s->acked && s->head < s->next;
    if (ack->seq >= s->acked)
        heard_position(node, s, ack->seq);
    if (is_stalled && node->now_us + REPL_RETRY_US / 2 >= s->retry_us)
        s->retry_us = node->now_us; /* it misses something: from there on again */
}

void
lbm_replication_on_blob_have(struct lbm_node *node, const Lbm__Peer *message)
{
    struct replication_log *s = log_to(node, message->src);
    const Lbm__BlobHave *have = message->blob_have;
    const struct lbm_blob_name name = lbm_blobs_name(have->job, &have->digest, have->length);
    struct job *job;
    const struct lbm_vertex *vertex =
        s != NULL && s->head < s->next ? vertex_of(node, &s->changes.at[s->head], &job) : NULL;
    if (vertex != NULL && lbm_blobs_is_of(vertex, &name))
        s->retry_us = node->now_us; /* it refused that change, and will take it */
}

/* ---- what the backup says of itself -------------------------------------------------------------------- */

/* Nonzero if the backup is yet to acknowledge that the job's records are void. */
static int
is_being_dropped(const struct replication_log *s, uint64_t job)
{
    for (size_t i = s->head; i < s->changes.n; i++)
        if (s->changes.at[i].job == job && s->changes.at[i].vertex == LBM_NONE)
            return 1;
    return 0;
}

/* The backup has records of a job that this host gave up in an earlier life, and has not heard that they are
 * void: that life ended before the change that says so was acknowledged. This life has no such change to send
 * again, so it makes a new one, whatever the number of the last. */
static void
drop_unknown(struct lbm_node *node, const struct replication_log *s, const Lbm__Lease *lease)
{
    if (!node->caught_up || node->replication.rolled_back)
        return;
    for (size_t i = 0; i < lease->n_unknown; i++)
        if (lbm_local_job(node, lease->unknown[i]) == NULL &&
            lbm_view_job(&node->view, lease->unknown[i]) == NULL && !is_being_dropped(s, lease->unknown[i]))
            lbm_records_drop_job(node, lease->unknown[i]);
}

void
lbm_replication_on_lease(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Lease *lease = message->lease;
    struct replication_log *s = log_to(node, message->src);
    if (s == NULL || lease->repl_epoch != s->repl_epoch || (int64_t)lease->sent_us > node->now_us)
        return;
    if (lease->rolled_back && !LBM_BUG(IGNORE_ROLLED_BACK)) {
        node->replication.rolled_back = 1;
        return;
    }
    if ((!s->known || lease->seq > s->acked))
        heard_position(node, s, lease->seq);
    if (!s->known) { /* whatever was in progress on the connection before is lost */
        s->known = s->compared = node->replication.compared = 1;
        s->sent = s->acked;
        send_again(s);
    }
    drop_unknown(node, s, lease);
    lbm_replication_lease_give(node, s, lease);
}

/* ---- life ---------------------------------------------------------------------------------------------- */

void
lbm_replication_forget(struct lbm_node *node)
{
    for (unsigned k = 0; k < LBM_COPIES_MAX; k++)
        lbm_vec_free(&node->replication.log[k].changes);
    node->replication = (struct replication){0};
    for (unsigned k = 0; k < LBM_COPIES_MAX; k++) {
        node->replication.log[k].slot = k;
        node->replication.log[k].backup = LBM_NONE;
        node->replication.log[k].retry_us = INT64_MAX;
    }
}

void
lbm_replication_start(struct lbm_node *node, const struct lbm_recovered *recovered)
{
    lbm_replication_forget(node);
    node->replication.seq = node->replication.start_seq = recovered->seq;
    node->lease.term = recovered->lease_term + 1;
    node->lease.gone = recovered->lease_gone;
    node->lease.told_us = -1;
    if (recovered->lease_us > node->now_us) {
        node->lease.fence_us = LBM_BUG(FORGET_OLD_APPLICATION) ? 0 : recovered->lease_us;
        node->lease.old_used = recovered->lease_used;
        node->lease.old_term = recovered->lease_term;
        node->lease.term = recovered->lease_term;
    }
}

/* The lease is over before the time that the page tells. Applications see it before their next step, but
 * those that are within one may go on for as long as a step takes; until then nothing moves
 * (lbm_replication_timer). */
static void
withdraw(struct lbm_node *node)
{
    struct lease *l = &node->lease;
    int64_t page_us = l->told_us, step_us = node->now_us + REVOKE_US;
    l->old_us = 0;
    if (l->fence_us != 0 || page_us <= node->now_us || !lbm_application_is_running(node)) {
        lbm_application_lease_lapsed(node);
        return;
    }
    l->term++;
    lbm_replication_lease_tell(node);
    lbm_application_fence(node, page_us < step_us ? page_us : step_us);
}

/* A life that begins does not know how far its backup got with what the life before changed together. */
static void
mark_shared(struct lbm_node *node, const struct replication_log *s)
{
    for (size_t i = s->head; i < s->changes.n;) {
        size_t end = together_end(s, i);
        for (size_t k = i; end - i > 1 && k < end; k++) {
            struct job *job;
            struct lbm_vertex *vertex = vertex_of(node, &s->changes.at[k], &job);
            if (vertex != NULL)
                vertex->shares = 1;
        }
        i = end;
    }
}

/* Nonzero if a backup may have granted something in this life. */
static int
has_had_backup(const struct lbm_node *node)
{
    for (unsigned k = 0; k < LBM_COPIES_MAX; k++)
        if (node->replication.log[k].repl_epoch != 0)
            return 1;
    return 0;
}

/* Slot k has another backup, or none any more. Returns nonzero if so. */
static int
take_backup(struct lbm_node *node, const struct lbm_member *self, unsigned k)
{
    struct replication_log *s = &node->replication.log[k];
    const struct lbm_backup *given = &self->backups[k];
    if (given->host == s->backup && given->view == s->repl_epoch)
        return 0;
    int is_first = s->repl_epoch == 0;
    s->backup = given->host;
    s->repl_epoch = given->view;
    s->known = 0;
    if (s->acked != 0 && !LBM_BUG(KEEP_ACKS))
        s->acked = 0;
    s->until_us = 0;
    s->ask_us = node->now_us;
    count_acked(node);
    gather(node, s);
    if (is_first)
        mark_shared(node, s);
    return 1;
}

/* A new backup has nothing of ours, and its word counts from now on in place of the one before. */
void
lbm_replication_view_changed(struct lbm_node *node)
{
    const struct lbm_member *self = self_of(node);
    if (self == NULL || self->incarnation != node->incarnation || !lbm_view_participates(self))
        return;
    int is_changed = 0, had_lease = has_had_backup(node);
    for (unsigned k = 0; k < lbm_replication_slots(node); k++)
        is_changed |= take_backup(node, self, k);
    lbm_replication_lease_count(node);
    if (is_changed && had_lease)
        withdraw(node);
}

void
lbm_replication_connected(struct lbm_node *node, uint32_t host)
{
    struct replication_log *s = log_to(node, host);
    if (s == NULL)
        return;
    s->known = 0;
    s->ask_us = node->now_us;
}

/* The backup has it all: let the log know (protocol.md section 4, INSYNC). */
static void
propose_insync(struct lbm_node *node, struct replication_log *s)
{
    const struct lbm_member *self = self_of(node);
    int is_full = s->uncovered == 0 && (s->acked >= s->merged || LBM_BUG(INSYNC_BEFORE_MERGED));
    if (self == NULL || self->backups[s->slot].insync || !s->known ||
        self->backups[s->slot].view != s->repl_epoch || node->now_us < s->insync_us ||
        node->appends.n >= PROPOSALS_MAX || (!is_full && !LBM_BUG(INSYNC_TOO_EARLY)) ||
        (!lbm_local_takeovers_done(node) && !LBM_BUG(INSYNC_BEFORE_TAKEOVER)))
        return;
    /* An application that runs under a page of the life before may have it from another backup, who is the
     * only one that could wait for its end. */
    int old_page = node->lease.fence_us > node->now_us || node->lease.old_us > node->now_us;
    if (old_page)
        return;
    s->insync_us = node->now_us + APPEND_AGAIN_US;
    Lbm__InSync in_sync = LBM__IN_SYNC__INIT;
    in_sync.host = node->host;
    in_sync.incarnation = node->incarnation;
    in_sync.backup = s->backup;
    in_sync.view = s->repl_epoch;
    in_sync.known = node->view.index;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_IN_SYNC;
    command.in_sync = &in_sync;
    lbm_log_append(node, &command);
}

/* Send the backup in one slot what it lacks, and ask it for the lease. */
static void
tend(struct lbm_node *node, struct replication_log *s)
{
    if (s->backup == LBM_NONE) { /* as if it had what the others have */
        if (lbm_local_is_alone(node))
            advance(node, s, node->replication.seq);
        else if (s->slot != 0 || lbm_local_has_backup(node))
            advance(node, s, node->replication.acked);
        return;
    }
    if (node->now_us >= s->retry_us && lbm_membership_is_behind(node, s->backup)) {
        s->retry_us = node->now_us + REPL_RETRY_US; /* the changes themselves have not left yet */
    } else if (node->now_us >= s->retry_us) {
        s->retry_us = INT64_MAX;
        send_again(s);
        s->sent = s->acked;
        s->known = 0; /* ask where it stands, rather than repeat what may not fit */
        s->ask_us = node->now_us;
    }
    if (node->now_us >= s->ask_us)
        lbm_replication_lease_ask(node, s);
    pump(node, s);
    propose_insync(node, s);
}

void
lbm_replication_timer(struct lbm_node *node)
{
    lbm_replication_lease_timer(node);
    for (unsigned k = 0; k < lbm_replication_slots(node) && lbm_local_is_alive(node); k++)
        tend(node, &node->replication.log[k]);
}

int64_t
lbm_replication_deadline(const struct lbm_node *node)
{
    const struct lease *l = &node->lease;
    int64_t when = INT64_MAX;
    if (l->fence_us != 0)
        when = l->fence_us;
    if (!lbm_local_has_backup(node) || !lbm_local_is_alive(node))
        return when;
    for (unsigned k = 0; k < lbm_replication_slots(node); k++) {
        const struct replication_log *s = &node->replication.log[k];
        if (s->backup == LBM_NONE)
            continue;
        when = s->retry_us < when ? s->retry_us : when;
        when = s->ask_us < when ? s->ask_us : when;
    }
    when = l->old_us != 0 && l->old_us < when ? l->old_us : when;
    return l->until_us != 0 && l->until_us < when ? l->until_us : when;
}
