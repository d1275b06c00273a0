/* SPDX-License-Identifier: GPL-3.0-or-later */
/* After an eviction (protocol.md section 8): the successor takes the replica over, once no application of
 * the evicted host can be working any more and the log says so; the evicted host, if it lives, gives up what
 * it had or, if nobody took it, goes on. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/application/application.h"
#include "node/core/core.h"
#include "node/exchange/exchange.h"
#include "node/local/local.h"
#include "node/log/log.h"
#include "node/membership/membership.h"
#include "node/migration/migration.h"
#include "node/records/record_packed.h"
#include "node/records/records.h"
#include "node/replication/internal.h"
#include "node/replication/replication.h"

/* ---- what is known ------------------------------------------------------------------------------------- */

/* ---- the successor
 * ------------------------------------------------------------------------------------------ */

static int
ranks_above(const struct lbm_row *row, const struct lbm_vertex *vertex)
{
    return vertex == NULL || row->epoch > vertex->epoch ||
           (row->epoch == vertex->epoch && row->stage > vertex->stage);
}

static int
is_out_to(const struct lbm_row *row, uint32_t host, uint64_t incarnation)
{
    return row->stage == LBM_STAGE_OUT && row->peer == host && row->peer_incarnation == incarnation;
}

enum merge { MERGE_KEEP, MERGE_OWN_REFUSED, MERGE_OWN, MERGE_BACK, MERGE_COPY };

/* protocol.md section 8, the merge of a replica. A refusal of epoch e + 1 answers the offer of OUT at
 * e, whoever refused: the host it was meant for, or a successor who has its records. */
static enum merge
merge_rule(const struct lbm_node *node, const struct lbm_row *r, const struct lbm_vertex *c)
{
    if (r->stage == LBM_STAGE_OUT && c != NULL && c->stage == LBM_STAGE_REF && c->epoch == r->epoch + 1 &&
        !LBM_BUG(SUCCESSOR_REFUSED_FORGOTTEN))
        return MERGE_OWN_REFUSED;
    if (!ranks_above(r, c))
        return MERGE_KEEP;
    if (r->stage == LBM_STAGE_OWN || is_out_to(r, node->host, node->incarnation))
        return MERGE_OWN;
    if (r->stage == LBM_STAGE_REF && c != NULL && c->stage == LBM_STAGE_OUT && c->epoch + 1 == r->epoch &&
        !LBM_BUG(REPLICA_REFUSED_ME))
        return MERGE_BACK;
    return MERGE_COPY;
}

static void
merge_row(struct lbm_node *node, struct job *job, struct lbm_row *r, uint32_t owner)
{
    struct lbm_vertex *c = lbm_records_of(job, r->vertex);
    enum merge rule = merge_rule(node, r, c);
    if (rule == MERGE_KEEP)
        return;
    if (rule == MERGE_BACK) {
        lbm_records_stage(node, job, c, LBM_TRANSITION_TAKE_OVER_REFUSED_THERE, LBM_NONE, 0);
        return;
    }
    enum lbm_transition transition = LBM_TRANSITION_TAKE_OVER_OUT;
    if (rule == MERGE_OWN_REFUSED)
        transition = LBM_TRANSITION_TAKE_OVER_REFUSED_HERE;
    else if (rule == MERGE_OWN)
        transition = r->stage == LBM_STAGE_OWN ? LBM_TRANSITION_TAKE_OVER_OWN : LBM_TRANSITION_TAKE_OVER_MINE;
    else if (r->stage == LBM_STAGE_REF)
        transition = LBM_TRANSITION_TAKE_OVER_REF;
    else if (r->stage == LBM_STAGE_MOV)
        transition = LBM_TRANSITION_TAKE_OVER_MOV;
    if (rule != MERGE_COPY) {
        if (LBM_BUG(TAKE_OVER_SAME_EPOCH) && transition == LBM_TRANSITION_TAKE_OVER_OWN)
            r->epoch--;
        r->peer = r->stage == LBM_STAGE_OWN && r->peer != node->host ? r->peer : LBM_NONE; /* its target */
        r->peer_incarnation = 0;
    }
    if (r->n_news != 0 && LBM_BUG(EDGES_NOT_INHERITED)) {
        free(r->news);
        r->news = NULL;
        r->n_news = 0;
    }
    const struct lbm_vertex *vertex = lbm_records_put(node, job, r, transition);
    if (vertex != NULL)
        lbm_migration_pinned_came(node, job, vertex);
    if (vertex != NULL && rule != MERGE_COPY)
        lbm_migration_move_taken_over(node, job, vertex, owner);
}

static void
merge_job(struct lbm_node *node, struct replica_job *held, uint32_t owner)
{
    struct job *job = lbm_local_job(node, held->job);
    if (job == NULL || lbm_view_job(&node->view, held->job) == NULL)
        return; /* cancelled, or never in the log */
    for (size_t i = 0; i < held->rows.n && node->failed == LBM_OK; i++) {
        struct lbm_row row;
        if (lbm_records_unpack(held->rows.at[i], held->job, &row) != LBM_OK) {
            lbm_core_fail(node, LBM_E_NOMEM);
            return;
        }
        merge_row(node, job, &row, owner);
        lbm_row_free(&row); /* what was not taken */
    }
    if (job->phase == LBM_PHASE_SETTLED) /* more than its share, probably */
        node->raise->job_enter(node, job, LBM_PHASE_BALANCING);
}

static void
merge(struct lbm_node *node, const struct lbm_departed *gone)
{
    struct replica *replica = lbm_replication_replica_of(node, gone->host, gone->incarnation);
    uint64_t n = 0;
    struct lbm_persist_op op = {.kind = LBM_PERSIST_TAKEN_OVER};
    op.as.drop.owner = gone->host;
    op.as.drop.incarnation = gone->incarnation;
    struct lbm_recovered_takeover takeover = {gone->host, gone->incarnation};
    lbm_core_persist_flush(node); /* the merge is a transaction of its own */
    if (LBM_BUG(TAKEOVER_IN_TWO)) {
        lbm_core_persist(node, op);
        lbm_core_persist_flush(node);
    }
    if (lbm_vec_push(&node->takeovers, takeover) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    for (size_t j = 0; replica != NULL && j < replica->jobs.n && node->failed == LBM_OK; j++) {
        n += replica->jobs.at[j].rows.n;
        merge_job(node, &replica->jobs.at[j], gone->host);
    }
    if (replica != NULL && node->failed == LBM_OK)
        lbm_replication_replica_drop(node, replica);
    for (unsigned k = 0; k < LBM_COPIES_MAX; k++)
        node->replication.log[k].merged = node->replication.seq;
    if (!LBM_BUG(TAKEOVER_IN_TWO))
        lbm_core_persist(node, op);
    lbm_core_persist_flush(node);
    lbm_core_note(node, LBM_NOTE_INFO, "took over from host %" PRIu32 ": %" PRIu64 " records", gone->host, n);
}

static void
propose_take_over(struct lbm_node *node, const struct lbm_departed *gone)
{
    if (!lbm_membership_may_propose(node))
        return;
    node->propose_us = node->now_us + APPEND_AGAIN_US;
    Lbm__TakeOver take_over = LBM__TAKE_OVER__INIT;
    take_over.successor = node->host;
    take_over.successor_incarnation = node->incarnation;
    take_over.host = gone->host;
    take_over.incarnation = gone->incarnation;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_TAKE_OVER;
    command.take_over = &take_over;
    lbm_log_append(node, &command);
}

/* When the last lease that this host may have granted is over for certain. */
static int64_t
lease_over_us(const struct lbm_node *node, const struct lbm_departed *gone)
{
    const struct replica *replica = lbm_replication_replica_of(node, gone->host, gone->incarnation);
    int64_t after_start = node->started_us + GRANT_PAST_US; /* what the life before granted */
    int64_t granted = replica != NULL ? replica->granted_us : 0;
    return granted > after_start || LBM_BUG(FORGET_GRANTS) ? granted : after_start;
}

static void
take_over_all(struct lbm_node *node)
{
    for (size_t i = 0; i < node->view.departed.n && node->failed == LBM_OK; i++) {
        const struct lbm_departed *gone = &node->view.departed.at[i];
        if (!lbm_local_inherits(node, gone) ||
            (node->now_us < lease_over_us(node, gone) && !LBM_BUG(SUCCESSOR_DOES_NOT_WAIT)))
            continue;
        if (!lbm_local_is_known(node) && !lbm_local_is_alone(node))
            continue; /* the backup has yet to say that this disk is not from the past */
        if (gone->taken_over || LBM_BUG(TAKE_OVER_WITHOUT_LOG))
            merge(node, gone);
        else
            propose_take_over(node, gone);
    }
}

/* ---- the evicted --------------------------------------------------------------------------------------- */

/* All that this incarnation had is archived and gone; the given one begins empty once that is durable. */
static void
reset(struct lbm_node *node, uint64_t incarnation, int has_no_log)
{
    for (size_t i = 0; i < node->jobs.n; i++)
        if (node->jobs.at[i]->planning || node->jobs.at[i]->guest_id > node->persisted)
            return; /* a computation, or the store, still reads the guest */
    lbm_core_note(node, LBM_NOTE_WARNING,
                  "this host is no longer a member as incarnation %" PRIu64
                  ": its records are archived; it may join "
                  "again, empty",
                  node->incarnation);
    lbm_core_persist_flush(node);
    struct lbm_persist_op op = {.kind = LBM_PERSIST_RESET};
    op.as.reset.incarnation = incarnation;
    op.as.reset.has_no_log = has_no_log;
    lbm_core_persist(node, op);
    lbm_application_reset(node);
    node->raise->job_lost_all(node);
    lbm_replication_replicas_free(node);
    node->takeovers.n = 0;
    node->due.n = 0;
    node->edge_answers.n = 0;
    node->id_waits.n = 0;
    lbm_application_lease_lapsed(node);
    uint64_t cleared = node->persist_id;
    lbm_replication_forget(node);
    node->lease.until_us = 0;
    node->incarnation = incarnation;
    node->resetting = 1;
    node->reset_id = cleared;
    if (has_no_log)
        lbm_log_forget(node);
    for (size_t i = 0; i < node->view.jobs.n; i++)
        node->raise->job_created(node, &node->view.jobs.at[i]);
    lbm_core_persist_flush(node);
}

int
lbm_replication_rejoin(struct lbm_node *node)
{
    const struct lbm_departed *gone = lbm_view_departed(&node->view, node->host, node->incarnation);
    if (gone == NULL || gone->evicted || node->resetting)
        return 0;
    reset(node, node->incarnation + 1, 0);
    return node->resetting;
}

void
lbm_replication_begin_again(struct lbm_node *node)
{
    reset(node, node->incarnation + 1, 1);
}

/* The new incarnation acts once its beginning is durable. */
void
lbm_replication_takeover_persisted(struct lbm_node *node)
{
    if (!node->resetting || node->persisted < node->reset_id)
        return;
    node->resetting = 0;
    node->evicted_us = 0;
    node->join_refused = 0;
    lbm_replication_view_changed(node); /* the log may know this incarnation already */
}

static void
propose_rejoin(struct lbm_node *node)
{
    if (!lbm_membership_may_propose(node))
        return;
    node->propose_us = node->now_us + APPEND_AGAIN_US;
    Lbm__Rejoin rejoin = LBM__REJOIN__INIT;
    rejoin.host = node->host;
    rejoin.incarnation = node->incarnation;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_REJOIN;
    command.rejoin = &rejoin;
    lbm_log_append(node, &command);
}

/* The backup holds more than this disk: what is here is a past that others have left behind. The backup's
 * copy is the truth; it takes over. */
static void
give_up(struct lbm_node *node)
{
    if (!lbm_membership_may_propose(node))
        return;
    node->propose_us = node->now_us + APPEND_AGAIN_US;
    if (lbm_log_hand_over(node, "the database is older than what others hold of it", 1))
        return; /* who orders the log cannot be evicted */
    lbm_core_note(node, LBM_NOTE_ERROR,
                  "the database is older than what host %" PRIu32
                  " holds of it: this host gives up what it has and "
                  "joins again, empty",
                  node->replication.log[0].backup);
    Lbm__Evict evict = LBM__EVICT__INIT;
    evict.host = node->host;
    evict.incarnation = node->incarnation;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_EVICT;
    command.evict = &evict;
    lbm_log_append(node, &command);
}

static int
holds_something(const struct lbm_node *node)
{
    for (size_t i = 0; i < node->jobs.n; i++)
        if (node->jobs.at[i]->shard.n_own + node->jobs.at[i]->shard.n_out != 0)
            return 1;
    return 0;
}

/* Time to come back with what is here, since the successor does not take over. Not if it holds more than this
 * disk, and a life that has not compared the two gives it longer. INT64_MAX: never. */
static int64_t
rejoin_us(const struct lbm_node *node)
{
    if (node->replication.rolled_back)
        return INT64_MAX;
    return node->evicted_us + (node->replication.compared ? 1 : 3) * (int64_t)REJOIN_US;
}

static void
own_departure(struct lbm_node *node, const struct lbm_departed *gone)
{
    if (node->evicted_us == 0) {
        node->evicted_us = node->now_us;
        lbm_application_lease_lapsed(node);
        for (size_t i = 0; i < node->jobs.n; i++)
            lbm_exchange_stop(node->jobs.at[i]);
    }
    if (!gone->evicted) { /* it left; only an operator brings it back */
        if (holds_something(node))
            reset(node, node->incarnation + 1, 0); /* a disk from before it left: it joins again, empty */
        return;
    }
    if (gone->taken_over) {
        reset(node, node->incarnation + 1, 0);
        return;
    }
    lbm_log_fetch(node); /* nobody pings who is no member: it would not hear that there is more */
    if (node->now_us >= rejoin_us(node))
        propose_rejoin(node);
}

/* See lbm_replication_takeover_timer. */
static int
is_from_before_reset(const struct lbm_node *node)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    return self != NULL && self->incarnation > node->incarnation;
}

void
lbm_replication_takeover_timer(struct lbm_node *node)
{
    const struct lbm_departed *gone = lbm_view_departed(&node->view, node->host, node->incarnation);
    if (node->resetting || node->diverged)
        return;
    if (is_from_before_reset(node)) {
        reset(node, lbm_view_member(&node->view, node->host)->incarnation, 0);
        return;
    }
    if (!node->caught_up)
        return;
    if (gone != NULL) {
        own_departure(node, gone);
        return;
    }
    node->evicted_us = 0;
    if (node->replication.rolled_back)
        give_up(node);
    else if (lbm_local_is_alive(node))
        take_over_all(node);
}

int64_t
lbm_replication_takeover_deadline(const struct lbm_node *node)
{
    const struct lbm_departed *gone = lbm_view_departed(&node->view, node->host, node->incarnation);
    int64_t when = INT64_MAX;
    if (is_from_before_reset(node))
        return when; /* given up in the step that hears of it, or in the one that ends what reset() waits for
                      */
    if (!node->caught_up || node->resetting || node->diverged || node->appends.n >= PROPOSALS_MAX)
        return when;
    if (gone != NULL && gone->evicted && !gone->taken_over && node->evicted_us != 0)
        when = rejoin_us(node);
    if (gone == NULL && node->replication.rolled_back)
        when = node->propose_us;
    for (size_t i = 0; lbm_local_is_alive(node) && i < node->view.departed.n; i++) {
        const struct lbm_departed *inherited = &node->view.departed.at[i];
        int waits =
            lbm_local_inherits(node, inherited) && (lbm_local_is_known(node) || lbm_local_is_alone(node));
        int64_t over_us = waits ? lease_over_us(node, inherited) : INT64_MAX;
        when = over_us < when ? over_us : when;
    }
    return when < node->propose_us && when != INT64_MAX ? node->propose_us : when;
}
