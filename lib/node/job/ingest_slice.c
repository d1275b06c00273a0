/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of a guest that this host reads, others reading the others (ingest.h). The coordinator gives the job
 * its id and says it to one host for each part, so no vertex is ever stored twice under it. Rows are inert
 * until the log has the job, as those of any submission; then every part is with a host that has not gone
 * since, and its backup. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "node/core/core.h"
#include "node/job/internal.h"
#include "node/job/job.h"
#include "node/local/local.h"
#include "node/records/records.h"

enum {
    TELL_US = 1000000, /* the coordinator is told again */
    SOON_US = 50000,   /* before it is looked whether the backup has the part */
};

/* ---- before the rows ----------------------------------------------------------------------------------- */

void
lbm_job_slice_fill(struct upload *upload, uint32_t uid, Lbm__JobPolicy *policy, Lbm__JobCreate *create,
                   Lbm__SliceBegin *begin)
{
    create->name = upload->name;
    create->coordinator = upload->coordinator;
    create->vertices = upload->vertices;
    create->edges = upload->edges;
    create->start = upload->start;
    create->seed = upload->seed;
    create->imbalance = upload->imbalance;
    create->owner = uid;
    create->policy = policy;
    create->parts = upload->parts;
    begin->token = upload->token;
    begin->create = create;
    begin->part = upload->part;
    begin->first = upload->first;
    begin->rows = upload->rows;
}

void
lbm_job_slice_begin(struct lbm_node *node, struct upload *upload, uint32_t uid)
{
    Lbm__SliceBegin begin = LBM__SLICE_BEGIN__INIT;
    Lbm__JobCreate create = LBM__JOB_CREATE__INIT;
    Lbm__JobPolicy policy;
    upload->token = lbm_rng_next(&node->rng) | 1;
    upload->coordinator = lbm_view_host(&node->view, 0);
    lbm_job_policy_put(&upload->policy, &policy);
    lbm_job_slice_fill(upload, uid, &policy, &create, &begin);
    if (upload->coordinator == node->host) {
        lbm_job_ingest_begin(node, node->host, node->incarnation, &begin);
        return;
    }
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_SLICE_BEGIN;
    message.slice_begin = &begin;
    lbm_core_send(node, upload->coordinator, &message);
}

static void
refuse_job(struct lbm_node *node, uint64_t id, const char *why)
{
    Lbm__JobCreate create = LBM__JOB_CREATE__INIT;
    create.job = id;
    lbm_job_refused(node, &create, why);
}

void
lbm_job_slice_answered(struct lbm_node *node, uint64_t token, uint64_t job, const char *refusal)
{
    if (token == 0) {
        struct job *refused = lbm_local_job(node, job);
        if (refusal != NULL && refused != NULL && refused->part.is_slice)
            refuse_job(node, job, refusal);
        return;
    }
    for (size_t i = 0; i < node->uploads.n; i++) {
        struct upload *upload = node->uploads.at[i];
        if (upload->parts == 0 || upload->token != token || upload->job != 0)
            continue;
        if (refusal == NULL && lbm_local_job(node, job) != NULL)
            refusal = "this host has read that part already, and waits for the others";
        if (refusal != NULL && upload->reader != 0) {
            lbm_job_spread_answer(node, upload, refusal);
            lbm_job_submit_forget(node, upload);
        } else if (refusal != NULL) {
            lbm_core_reply_error(node, upload->client, upload->request, LBM_E_STATE, "%s", refusal);
            lbm_job_submit_drop(node, upload->client);
        } else if (upload->reader != 0) {
            upload->job = job;
            if (upload->is_complete)
                lbm_job_submit_store(node, upload);
        } else {
            Lbm__Response response = LBM__RESPONSE__INIT;
            upload->job = job;
            lbm_core_reply(node, upload->client, upload->request, 1, &response);
        }
        return;
    }
}

void
lbm_job_on_slice_answer(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__SliceAnswer *answer = message->slice_answer;
    const char *refusal = answer->refusal[0] != '\0' ? answer->refusal : NULL;
    struct job *job = lbm_local_job(node, answer->job);
    if (answer->token != 0 || (job != NULL && job->part.coordinator == message->src))
        lbm_job_slice_answered(node, answer->token, answer->job, refusal);
}

/* ---- the rows ------------------------------------------------------------------------------------------ */

/* PENDING, with what this host needs to go on after a restart: whose part it is, and who gathers. */
static enum lbm_err
store_pending(struct lbm_node *node, struct job *job, const struct upload *upload)
{
    Lbm__JobCreate create = LBM__JOB_CREATE__INIT;
    uint32_t host = node->host, first = upload->first;
    char name[LBM_NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", upload->name);
    create.job = job->id;
    create.name = name;
    create.coordinator = upload->coordinator;
    create.vertices = upload->vertices;
    create.edges = upload->edges;
    create.parts = upload->parts;
    create.n_slice_host = create.n_slice_incarnation = create.n_slice_first = 1;
    create.slice_host = &host;
    create.slice_incarnation = &node->incarnation;
    create.slice_first = &first;
    return lbm_job_store_pending(node, job, &create);
}

static enum lbm_err
store_rows(struct lbm_node *node, struct job *job, const struct upload *upload)
{
    struct lbm_rng rng;
    lbm_rng_stream(&rng, upload->seed, upload->first);
    return lbm_job_store_rows(node, job, upload->first, upload->vertices, &rng);
}

void
lbm_job_slice_store(struct lbm_node *node, struct upload *upload, struct lbm_graph *g)
{
    struct job *job = lbm_job_add(node, upload->job);
    if (job == NULL)
        return;
    job->guest = g;
    job->client = upload->client;
    job->client_request = upload->request;
    job->part = (struct part){.is_slice = 1,
                              .coordinator = upload->coordinator,
                              .first = upload->first,
                              .rows = upload->rows,
                              .tell_us = node->now_us};
    if (store_pending(node, job, upload) != LBM_OK || store_rows(node, job, upload) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

/* After a restart: of the job only its packed command is known, and what its rows are. */
void
lbm_job_slice_recover(struct job *job)
{
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    if (lbm_wire_unpack_command(job->pending, job->pending_len, &command, &diag) != LBM_OK)
        return; /* lbm_job_propose says so */
    const Lbm__JobCreate *create =
        command->what_case == LBM__COMMAND__WHAT_JOB_CREATE ? command->job_create : NULL;
    if (create != NULL && create->n_slice_host == 1 && create->coordinator_incarnation == 0)
        job->part =
            (struct part){.is_slice = 1, .coordinator = create->coordinator, .first = create->slice_first[0]};
    lbm__command__free_unpacked(command, NULL);
}

/* ---- until the log has it ------------------------------------------------------------------------------ */

/* A number for an edge that both its ends find, and whoever writes a guest does not foresee. */
static uint64_t
edge_hash(uint64_t job, uint32_t u, uint32_t v, uint32_t weight)
{
    struct lbm_rng rng;
    uint64_t low = u < v ? u : v, high = u < v ? v : u;
    lbm_rng_stream(&rng, job ^ weight, low << 32 | high);
    return lbm_rng_next(&rng);
}

static void
sum_up(struct job *job)
{
    struct part_sums *sums = &job->part.sums;
    *sums = (struct part_sums){0};
    for (size_t i = 0; i < job->shard.vertices.n; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[i];
        sums->work += vertex->work;
        sums->each_work = i == 0 || vertex->work == sums->each_work ? vertex->work : 0;
        for (uint32_t k = 0; k < vertex->degree; k++) {
            const struct lbm_half *half = &vertex->half[k];
            uint64_t hash = edge_hash(job->id, vertex->id, half->to, half->weight);
            sums->directions++;
            sums->weight += half->weight;
            sums->balance += vertex->id < half->to ? hash : -hash;
        }
    }
    job->part.is_summed = 1;
}

static void
tell(struct lbm_node *node, struct job *job)
{
    const struct part_sums *sums = &job->part.sums;
    Lbm__SliceReady ready = LBM__SLICE_READY__INIT;
    ready.job = job->id;
    ready.directions = sums->directions;
    ready.work = sums->work;
    ready.each_work = sums->each_work;
    ready.weight = sums->weight;
    ready.balance = sums->balance;
    if (job->part.coordinator == node->host) {
        lbm_job_ingest_ready(node, node->host, &ready);
        return;
    }
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_SLICE_READY;
    message.slice_ready = &ready;
    lbm_core_send(node, job->part.coordinator, &message);
}

/* One that is evicted and not yet taken over may come back, and propose the job. */
static int
is_gone_for_good(const struct lbm_node *node, uint32_t coordinator)
{
    const struct lbm_member *member = lbm_view_member(&node->view, coordinator);
    if (member == NULL)
        return 1;
    const struct lbm_departed *gone = lbm_view_departed(&node->view, coordinator, member->incarnation);
    return gone != NULL && (!gone->evicted || gone->taken_over);
}

void
lbm_job_slice_timer(struct lbm_node *node, struct job *job)
{
    struct part *part = &job->part;
    if (job->guest != NULL && node->persisted >= job->guest_id && part->is_slice)
        lbm_local_free_guest(job); /* the store has read it */
    if (!part->is_slice) {
        lbm_job_propose(node, job);
        return;
    }
    if (node->now_us < part->tell_us)
        return;
    part->tell_us = node->now_us + SOON_US;
    if (!node->caught_up)
        return;
    if (is_gone_for_good(node, part->coordinator)) {
        refuse_job(node, job->id, "the host that gathered the parts is gone; submit all of them again");
        return;
    }
    if (lbm_local_has_backup(node) && node->replication.acked < job->pending_seq && !LBM_BUG(JOB_BEFORE_COPY))
        return;
    part->tell_us = node->now_us + TELL_US;
    if (!part->is_summed)
        sum_up(job);
    tell(node, job);
}

int64_t
lbm_job_slice_deadline(const struct job *job)
{
    return job->part.is_slice ? job->part.tell_us : INT64_MAX;
}

/* ---- the log has it ------------------------------------------------------------------------------------ */

void
lbm_job_slice_created(struct lbm_node *node, const Lbm__JobCreate *create)
{
    struct job *job = create->n_slice_host != 0 ? lbm_local_job(node, create->job) : NULL;
    for (size_t i = 0; job != NULL && i < job->shard.vertices.n; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[i];
        for (uint32_t k = 0; k < vertex->degree; k++) {
            size_t from = 0, to = create->n_slice_first; /* the last part that begins at or before it */
            while (to - from > 1) {
                size_t middle = from + (to - from) / 2;
                if (create->slice_first[middle] <= vertex->half[k].to)
                    from = middle;
                else
                    to = middle;
            }
            if (vertex->half[k].host == LBM_NONE)
                vertex->half[k].host = create->slice_host[from];
        }
    }
}
