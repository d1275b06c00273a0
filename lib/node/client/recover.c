/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lost vertices of a job that begin again, as a client has them: from the application's own copies, or as
 * submitted (protocol.md section 15).
 *
 * Owns: what clients have announced of it, and what of it the log has allowed. A vertex begins again only if
 * the log lets this host alone do so, if everybody is heard and nothing is still to be taken over, and if as
 * many are missing as the client says. Its epoch is above all that are known. Never: decides what is lost;
 * the client has asked every owner. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/client/client.h"
#include "node/client/internal.h"
#include "node/core/core.h"
#include "node/job/job.h"
#include "node/local/local.h"
#include "node/log/log.h"
#include "node/records/record_batch.h"
#include "node/records/records.h"
#include "node/replication/replication.h"

enum { EPOCHS_ABOVE = 1000 }; /* what was lost may have been a little above what others have heard of */
_Static_assert((uint64_t)EPOCHS_ABOVE < LBM_EPOCH_STEP, "others take it");

static struct recovery *
recovery_of(const struct lbm_node *node, uint64_t client)
{
    for (size_t i = 0; i < node->recoveries.n; i++)
        if (node->recoveries.at[i]->client == client)
            return node->recoveries.at[i];
    return NULL;
}

static void
forget(struct lbm_node *node, struct recovery *recovery)
{
    size_t at = 0;
    while (node->recoveries.at[at] != recovery)
        at++;
    memmove(&node->recoveries.at[at], &node->recoveries.at[at + 1],
            (node->recoveries.n - at - 1) * sizeof *node->recoveries.at);
    node->recoveries.n--;
    for (size_t i = 0; i < recovery->rows.n; i++)
        lbm_row_free(&recovery->rows.at[i]);
    lbm_vec_free(&recovery->rows);
    free(recovery);
}

void
lbm_client_recover_free(struct lbm_node *node)
{
    while (node->recoveries.n != 0)
        forget(node, node->recoveries.at[0]);
    lbm_vec_free(&node->recoveries);
}

/* What the log was asked for goes on, answered to nobody. */
void
lbm_client_recover_gone(struct lbm_node *node, uint64_t client)
{
    struct recovery *recovery = recovery_of(node, client);
    if (recovery != NULL && !recovery->is_asked)
        forget(node, recovery);
    else if (recovery != NULL)
        recovery->client = 0;
}

/* Nonzero if that many vertices are missing and could not be anywhere; else the client is told why not. */
static int
may_begin(struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t vertices,
          char why[LBM_DIAG_TEXT_MAX])
{
    struct lbm_job_summary summary;
    const struct job *job = lbm_local_job(node, entry->job);
    why[0] = '\0';
    if (job == NULL || !lbm_node_summary(node, entry->job, &summary))
        snprintf(why, LBM_DIAG_TEXT_MAX, "there is no job named %s", entry->name);
    else if (summary.condition != LBM_CONDITION_LOST)
        snprintf(why, LBM_DIAG_TEXT_MAX, "nothing is lost for certain: job %s is %s%s%.300s", entry->name,
                 lbm_job_summary_state(&summary), summary.reason[0] != '\0' ? ": " : "", summary.reason);
    else if (summary.lost == LBM_NONE)
        snprintf(why, LBM_DIAG_TEXT_MAX,
                 "nobody knows what is lost: the job's vertices or loads change; close it (lbctl recover %s "
                 "--close) "
                 "and submit it again",
                 entry->name);
    else if (summary.idle != summary.lost)
        snprintf(why, LBM_DIAG_TEXT_MAX, "%" PRIu32 " vertices wait for hosts, too: %.300s",
                 summary.idle - summary.lost, summary.reason);
    else if (summary.lost != vertices)
        snprintf(why, LBM_DIAG_TEXT_MAX, "%" PRIu32 " vertices are lost, not %" PRIu32 ": look again",
                 summary.lost, vertices);
    return why[0] == '\0';
}

void
lbm_client_recover_begin(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    const struct lbm_job_entry *entry = lbm_view_job_named(&node->view, request->recover_begin->job);
    char why[LBM_DIAG_TEXT_MAX];
    if (recovery_of(node, client->id) != NULL)
        lbm_client_recover_gone(node, client->id);
    if (entry == NULL) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_NOTFOUND,
                             "there is no job named %s; lbctl jobs lists them", request->recover_begin->job);
        return;
    }
    if (!may_begin(node, entry, request->recover_begin->vertices, why)) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_STATE, "%s", why);
        return;
    }
    struct recovery *recovery = lbm_alloc(1, sizeof *recovery);
    if (recovery == NULL || lbm_vec_push(&node->recoveries, recovery) != LBM_OK) {
        free(recovery);
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    recovery->client = client->id;
    recovery->job = entry->job;
    recovery->loss = entry->loss;
    recovery->vertices = request->recover_begin->vertices;
    Lbm__Response response = LBM__RESPONSE__INIT;
    lbm_core_reply(node, client->id, client->request, 1, &response);
}

/* A row of a request. Errors: LBM_E_NOMEM. */
static enum lbm_err
take_row(struct recovery *recovery, const Lbm__RecoverRows *rows, size_t i, size_t half, size_t payload)
{
    struct lbm_row row = {.job = recovery->job,
                          .vertex = rows->vertex[i],
                          .stage = LBM_STAGE_OWN,
                          .peer = LBM_NONE,
                          .work = rows->work[i],
                          .pin = rows->n_pin != 0 ? rows->pin[i] : LBM_NONE,
                          .source = LBM_NONE,
                          .fin = 1,
                          .degree = rows->degree[i],
                          .payload_len = rows->payload_len[i]};
    row.half = lbm_alloc(row.degree, sizeof *row.half);
    row.payload = row.payload_len != 0 ? lbm_copy(rows->payload.data + payload, row.payload_len, 1) : NULL;
    if (row.half == NULL || (row.payload_len != 0 && row.payload == NULL) ||
        lbm_vec_reserve(&recovery->rows, 1) != LBM_OK) {
        lbm_row_free(&row);
        return LBM_E_NOMEM;
    }
    for (uint32_t k = 0; k < row.degree; k++) {
        row.half[k].to = rows->neighbour[half + k];
        row.half[k].weight = rows->weight[half + k];
    }
    recovery->rows.at[recovery->rows.n++] = row;
    return LBM_OK;
}

/* Nonzero if row i follows those before it and names vertices of the job. */
static int
is_row(const struct recovery *recovery, const struct lbm_job_entry *entry, const Lbm__RecoverRows *rows,
       size_t i, size_t half)
{
    size_t n = recovery->rows.n;
    if (rows->vertex[i] >= entry->vertices || n >= recovery->vertices ||
        (n != 0 && recovery->rows.at[n - 1].vertex >= rows->vertex[i]))
        return 0;
    for (uint32_t k = 0; k < rows->degree[i]; k++)
        if (rows->neighbour[half + k] >= entry->vertices || rows->neighbour[half + k] == rows->vertex[i] ||
            (k != 0 && rows->neighbour[half + k - 1] >= rows->neighbour[half + k]))
            return 0;
    return 1;
}

void
lbm_client_recover_rows(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    const Lbm__RecoverRows *rows = request->recover_rows;
    struct recovery *recovery = recovery_of(node, client->id);
    const struct lbm_job_entry *entry = recovery != NULL ? lbm_view_job(&node->view, recovery->job) : NULL;
    size_t half = 0, payload = 0;
    if (entry == NULL || recovery->is_asked) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_STATE, "vertices of no recovery");
        return;
    }
    if (!lbm_records_payload_fits(rows->n_payload_len, rows->payload_len, &rows->payload)) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_RANGE, "payloads do not add up");
        return;
    }
    for (size_t i = 0; i < rows->n_vertex && node->failed == LBM_OK; i++) {
        if (!is_row(recovery, entry, rows, i, half)) {
            lbm_core_reply_error(node, client->id, client->request, LBM_E_RANGE,
                                 "vertex %" PRIu32 " is out of order, or names what job %s does not have",
                                 rows->vertex[i], entry->name);
            return;
        }
        if (take_row(recovery, rows, i, half, payload) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
        half += rows->degree[i];
        payload += rows->payload_len[i];
    }
    Lbm__Response response = LBM__RESPONSE__INIT;
    lbm_core_reply(node, client->id, client->request, 1, &response);
}

void
lbm_client_recover_end(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    struct recovery *recovery = recovery_of(node, client->id);
    const struct lbm_job_entry *entry = recovery != NULL ? lbm_view_job(&node->view, recovery->job) : NULL;
    char why[LBM_DIAG_TEXT_MAX];
    (void)request;
    if (entry == NULL || recovery->is_asked || recovery->rows.n != recovery->vertices) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_STATE, "the end of no recovery");
        return;
    }
    if (!may_begin(node, entry, recovery->vertices, why)) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_STATE, "%s", why);
        forget(node, recovery);
        return;
    }
    recovery->request = client->request;
    recovery->until_us = client->until_us;
    recovery->key = client->key != 0 ? client->key : lbm_rng_next(&node->rng);
    recovery->is_asked = 1;
    Lbm__JobRecover recover = LBM__JOB_RECOVER__INIT;
    recover.job = recovery->job;
    recover.host = node->host;
    recover.incarnation = node->incarnation;
    recover.loss = recovery->loss;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOB_RECOVER;
    command.job_recover = &recover;
    command.request = recovery->key;
    (void)lbm_log_append_until(node, &command, recovery->until_us);
}

/* ---- the log's word --------------------------------------------------------------------------------------
 */

/* The right to recover is given back: done, the vertices are there and with the backup. */
static void
tell_log(struct lbm_node *node, const struct lbm_job_entry *entry, int done)
{
    Lbm__JobRecovered recovered = LBM__JOB_RECOVERED__INIT;
    recovered.job = entry->job;
    recovered.host = node->host;
    recovered.incarnation = node->incarnation;
    recovered.view = entry->recovery;
    recovered.done = done != 0;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOB_RECOVERED;
    command.job_recovered = &recovered;
    lbm_log_append(node, &command);
}

static void
answer(struct lbm_node *node, const struct recovery *recovery, enum lbm_err code, const char *text)
{
    Lbm__Response response = LBM__RESPONSE__INIT;
    if (recovery->client == 0)
        return;
    if (code != LBM_OK)
        lbm_core_reply_error(node, recovery->client, recovery->request, code, "%s", text);
    else
        lbm_core_reply(node, recovery->client, recovery->request, 1, &response);
}

/* The vertices begin again, in one transaction. */
static void
begin_again(struct lbm_node *node, struct recovery *recovery, struct job *job)
{
    uint64_t epoch = job->shard.epoch_top + EPOCHS_ABOVE;
    lbm_core_persist_flush(node);
    for (size_t i = 0; i < recovery->rows.n && node->failed == LBM_OK; i++) {
        struct lbm_row *row = &recovery->rows.at[i];
        const struct lbm_vertex *known = lbm_records_of(job, row->vertex);
        row->epoch = epoch;
        if (known != NULL && (known->stage == LBM_STAGE_OWN || known->epoch > epoch))
            continue; /* it is here after all */
        for (unsigned k = 0; k < job->shard.m; k++)
            row->position[k] = 0.5;
        (void)lbm_records_put(node, job, row, LBM_TRANSITION_TAKE_OVER_OWN);
        *row = (struct lbm_row){0};
    }
    recovery->seq = node->replication.seq;
    lbm_core_persist_flush(node);
    if (job->phase == LBM_PHASE_SETTLED)
        node->raise->job_enter(node, job, LBM_PHASE_BALANCING);
    node->raise->application_ready(node, job);
}

static void
on_recover(struct lbm_node *node, const Lbm__Command *command, const char *refusal)
{
    const Lbm__JobRecover *recover = command->job_recover;
    struct recovery *recovery = NULL;
    char why[LBM_DIAG_TEXT_MAX];
    for (size_t i = 0; i < node->recoveries.n; i++)
        if (node->recoveries.at[i]->key == command->request && node->recoveries.at[i]->is_asked)
            recovery = node->recoveries.at[i];
    if (recovery == NULL || recover->host != node->host || node->starting)
        return;
    struct job *job = lbm_local_job(node, recover->job);
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, recover->job);
    if (refusal[0] != '\0' || job == NULL || entry == NULL) {
        answer(node, recovery, LBM_E_STATE, refusal[0] != '\0' ? refusal : "the job is gone");
        forget(node, recovery);
        return;
    }
    recovery->view = entry->recovery;
    if (!may_begin(node, entry, recovery->vertices, why)) {
        answer(node, recovery, LBM_E_STATE, why);
        tell_log(node, entry, 0);
        forget(node, recovery);
        return;
    }
    begin_again(node, recovery, job);
    lbm_core_note(node, LBM_NOTE_INFO, "job %s: %" PRIu32 " lost vertices begin again here", entry->name,
                  recovery->vertices);
}

static void
on_recovered(struct lbm_node *node, const Lbm__JobRecovered *recovered, const char *refusal)
{
    for (size_t i = node->recoveries.n; i-- > 0;) {
        struct recovery *recovery = node->recoveries.at[i];
        if (recovery->job != recovered->job || recovery->view == 0 || recovery->view != recovered->view)
            continue;
        answer(node, recovery, refusal[0] == '\0' ? LBM_OK : LBM_E_STATE, refusal);
        forget(node, recovery);
    }
}

void
lbm_client_recover_applied(struct lbm_node *node, const Lbm__Command *command, const char *refusal)
{
    if (command->what_case == LBM__COMMAND__WHAT_JOB_RECOVER)
        on_recover(node, command, refusal);
    else if (command->what_case == LBM__COMMAND__WHAT_JOB_RECOVERED)
        on_recovered(node, command->job_recovered, refusal);
}

/* ---- going on --------------------------------------------------------------------------------------------
 */

static const struct recovery *
recovery_at(const struct lbm_node *node, uint64_t view)
{
    for (size_t i = 0; i < node->recoveries.n; i++)
        if (node->recoveries.at[i]->view == view)
            return node->recoveries.at[i];
    return NULL;
}

static int
is_proposed(const struct lbm_node *node)
{
    return node->appends.n != 0 || node->log_waits.n != 0;
}

/* This host has the right to recover a job: it says when it is done, or that it does not know of it any more.
 */
static void
go_on(struct lbm_node *node, const struct lbm_job_entry *entry)
{
    const struct recovery *recovery = recovery_at(node, entry->recovery);
    int is_kept = recovery != NULL && recovery->seq != 0 &&
                  (!lbm_local_has_backup(node) || node->replication.acked >= recovery->seq);
    if (recovery == NULL || is_kept)
        tell_log(node, entry, recovery != NULL);
}

void
lbm_client_recover_timer(struct lbm_node *node)
{
    for (size_t i = 0;
         i < node->view.jobs.n && lbm_local_is_alive(node) && node->caught_up && !is_proposed(node); i++) {
        const struct lbm_job_entry *entry = &node->view.jobs.at[i];
        if (entry->recovery != 0 && entry->recovery_host == node->host &&
            entry->recovery_incarnation == node->incarnation)
            go_on(node, entry);
    }
    for (size_t i = node->recoveries.n; i-- > 0 && node->failed == LBM_OK;) {
        struct recovery *recovery = node->recoveries.at[i];
        char awaited[160], text[256];
        if (!recovery->is_asked || recovery->view != 0 || node->now_us <= recovery->until_us)
            continue;
        lbm_log_tell_wait(node, awaited, sizeof awaited);
        snprintf(text, sizeof text,
                 "the control log could not be written in time (it waits for %s): ask again", awaited);
        answer(node, recovery, LBM_E_TIMEOUT, text);
        forget(node, recovery);
    }
}
