/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The objects of jobs on this host: added, removed, kept while a planner reads them; their states on the disk
 * and their proposals. */
#include <stdlib.h>
#include <string.h>

#include "node/application/application.h"
#include "node/core/core.h"
#include "node/exchange/exchange.h"
#include "node/job/internal.h"
#include "node/job/job.h"
#include "node/local/local.h"
#include "node/log/log.h"
#include "node/mapping/mapping.h"
#include "node/migration/migration.h"
#include "node/records/records.h"
#include "node/replication/replication.h"

/* Nonzero while another thread reads its guest. */
static int
is_read(const struct lbm_node *node, const struct job *job)
{
    return job->planning || (job->guest != NULL && job->guest_id > node->persisted);
}

void
lbm_job_free(struct job *job)
{
    lbm_local_free_guest(job);
    lbm_shard_free(&job->shard);
    lbm_vec_free(&job->region_host);
    lbm_vec_free(&job->region_weight);
    lbm_mapping_normalization_free(job);
    lbm_mapping_diffuse_free(job);
    lbm_vec_free(&job->askers);
    lbm_vec_free(&job->out);
    lbm_migration_queue_free(&job->queue);
    lbm_vec_free(&job->unfinished);
    lbm_vec_free(&job->tombstones);
    lbm_vec_free(&job->releasing);
    lbm_vec_free(&job->edges_due);
    lbm_vec_free(&job->news);
    lbm_idmap_free(&job->new_ids);
    free(job->pending);
    lbm_vec_free(&job->load_reports);
    lbm_vec_free(&job->withdrawn);
    lbm_idmap_free(&job->load_report_at);
    lbm_vec_free(&job->rounds.arriving);
    lbm_vec_free(&job->rounds.early);
    lbm_vec_free(&job->rounds.unchanged);
    lbm_vec_free(&job->rounds.skipped);
    lbm_vec_free(&job->rounds.netted);
    lbm_exchange_flow_free(&job->flow);
    free(job);
}

struct job *
lbm_job_add(struct lbm_node *node, uint64_t id)
{
    struct job *job = lbm_alloc(1, sizeof *job);
    if (job == NULL || lbm_vec_push(&node->jobs, job) != LBM_OK) {
        free(job);
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    job->id = id;
    job->created_us = node->now_us;
    job->offers_us = job->checkpoint_us = job->finish_us = job->collect_us = job->load_us = job->cool_us =
        job->news_us = job->pinned_us = INT64_MAX;
    unsigned m = node->view.m != 0 ? node->view.m : node->m;
    lbm_shard_init(&job->shard, m, node->host);
    lbm_affine_identity(&job->normalization, m);
    return job;
}

void
lbm_job_remove(struct lbm_node *node, uint64_t id)
{
    for (size_t i = 0; i < node->jobs.n; i++) {
        struct job *job = node->jobs.at[i];
        if (job->id != id)
            continue;
        lbm_replication_job_gone(node, job);
        if (!is_read(node, job))
            lbm_job_free(job);
        else if (lbm_vec_push(&node->removed, job) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
        memmove(&node->jobs.at[i], &node->jobs.at[i + 1], (node->jobs.n - i - 1) * sizeof *node->jobs.at);
        node->jobs.n--;
        return;
    }
}

struct job *
lbm_job_removed(const struct lbm_node *node, uint64_t id)
{
    for (size_t i = 0; i < node->removed.n; i++)
        if (node->removed.at[i]->id == id)
            return node->removed.at[i];
    return NULL;
}

void
lbm_job_forget_removed(struct lbm_node *node)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->removed.n; i++)
        if (is_read(node, node->removed.at[i]))
            node->removed.at[kept++] = node->removed.at[i];
        else
            lbm_job_free(node->removed.at[i]);
    node->removed.n = kept;
}

void
lbm_job_store_state(struct lbm_node *node, struct job *job, enum lbm_job_state state)
{
    struct lbm_persist_op op = {.kind = LBM_PERSIST_JOB, .job = job->id};
    op.as.state.state = job->stored = state;
    lbm_core_persist(node, op);
}

void
lbm_job_propose(struct lbm_node *node, struct job *job)
{
    if (job->pending == NULL || job->part.is_slice || job->proposed || !node->caught_up ||
        !lbm_local_is_alive(node) ||
        (lbm_local_has_backup(node) && node->replication.acked < job->pending_seq &&
         !LBM_BUG(JOB_BEFORE_COPY)))
        return;
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    job->proposed = 1;
    enum lbm_err err = lbm_wire_unpack_command(job->pending, job->pending_len, &command, &diag);
    if (err != LBM_OK) {
        lbm_core_note(node, LBM_NOTE_ERROR, "stored job cannot be read: %.200s", diag.text);
        lbm_core_fail(node, LBM_E_CORRUPT);
        return;
    }
    int64_t until_us = node->now_us + REQUEST_US; /* its client waits for more than the log */
    until_us = until_us < job->until_us ? until_us : job->until_us;
    (void)lbm_log_append_until(node, command, job->until_us != 0 ? until_us : INT64_MAX);
    lbm__command__free_unpacked(command, NULL);
}

void
lbm_job_answer_submit(struct lbm_node *node, struct job *job, enum lbm_err code, const char *text)
{
    if (job->client == 0)
        return;
    if (code != LBM_OK) {
        lbm_core_reply_error(node, job->client, job->client_request, code, "%s", text);
    } else {
        Lbm__Response response = LBM__RESPONSE__INIT;
        lbm_core_reply(node, job->client, job->client_request, 1, &response);
    }
    job->client = 0;
}

void
lbm_job_refused(struct lbm_node *node, const Lbm__JobCreate *create, const char *why)
{
    struct job *job = lbm_local_job(node, create->job);
    if (lbm_view_job(&node->view, create->job) != NULL)
        return; /* a repeated append of a job that was taken */
    if (job != NULL)
        lbm_job_answer_submit(node, job, LBM_E_EXISTS, why);
    lbm_job_deleted(node, create->job);
}

void
lbm_job_deleted(struct lbm_node *node, uint64_t id)
{
    struct job *job = lbm_local_job(node, id);
    int is_held = lbm_replication_replicas_job_deleted(node, id);
    struct lbm_persist_op op = {.kind = LBM_PERSIST_JOB_DELETE, .job = id};
    if (job != NULL || is_held)
        lbm_core_persist(node, op);
    if (job == NULL)
        return;
    lbm_application_job_deleted(node, id);
    lbm_records_drop_job(node, id);
    lbm_job_remove(node, id);
}
