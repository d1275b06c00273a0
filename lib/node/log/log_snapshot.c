/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Views in place of entries: the control log stays short, and who comes late need not read all of it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/log/internal.h"
#include "node/log/log.h"
#include "node/membership/membership.h"

/* ---- beginning ----------------------------------------------------------------------------------------- */

/* A view from a snapshot, or NULL; then the step has failed. The caller frees it. */
static struct lbm_view *
read_view(struct lbm_node *node, const uint8_t *bytes, size_t len)
{
    struct lbm_diag diag = {0};
    struct lbm_view *view = lbm_alloc(1, sizeof *view);
    enum lbm_err err = view != NULL ? lbm_view_unpack(bytes, len, view, &diag) : LBM_E_NOMEM;
    if (err == LBM_OK && node->view.cluster != 0 && view->cluster != node->view.cluster) {
        lbm_view_free(view);
        err = lbm_diag_set(&diag, LBM_E_CORRUPT, "snapshot", 0, "it is of another cluster");
    }
    if (err == LBM_OK)
        return view;
    free(view);
    if (err == LBM_E_CORRUPT)
        lbm_core_note(node, LBM_NOTE_ERROR, "snapshot of the control log: %.180s", diag.text);
    lbm_core_fail(node, err);
    return NULL;
}

static void
take_view(struct lbm_node *node, struct lbm_view *view)
{
    lbm_view_free(&node->view);
    node->view = *view;
    node->snapshot_index = view->index;
    free(view);
    if (lbm_views_share(node->views, &node->view) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    lbm_log_check_engine(node);
    lbm_log_leader_read(node);
}

void
lbm_log_snapshot_start(struct lbm_node *node, const struct lbm_recovered *recovered)
{
    struct lbm_view *view =
        recovered->snapshot_index != 0 ? read_view(node, recovered->snapshot, recovered->snapshot_len) : NULL;
    if (view == NULL)
        return;
    node->log_base = view->index;
    node->base_chain = view->chain;
    take_view(node, view);
    for (size_t i = 0; i < node->view.jobs.n && node->failed == LBM_OK; i++)
        node->raise->job_created(node, &node->view.jobs.at[i]);
}

/* ---- from elsewhere ------------------------------------------------------------------------------------ */

int
lbm_log_snapshot_pending(const struct lbm_node *node)
{
    return node->incoming != NULL;
}

static void
store_snapshot(struct lbm_node *node, uint64_t index, const uint8_t *bytes, size_t len)
{
    struct lbm_persist_op op = {.kind = LBM_PERSIST_SNAPSHOT};
    op.as.snapshot.index = index;
    op.as.snapshot.view = lbm_copy(bytes, len, 1);
    op.as.snapshot.len = len;
    if (op.as.snapshot.view == NULL)
        lbm_core_fail(node, LBM_E_NOMEM);
    else
        lbm_core_persist(node, op);
}

/* Forget the first n entries of the copy in memory. */
static void
drop_entries(struct lbm_node *node, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(node->log.at[i].command);
    node->base_chain = lbm_log_chain(node, node->log_base + n);
    memmove(node->log.at, &node->log.at[n], (node->log.n - n) * sizeof *node->log.at);
    memmove(node->chains.at, &node->chains.at[n], (node->log.n - n) * sizeof *node->chains.at);
    node->log.n -= n;
    node->chains.n -= n;
    node->log_base += n;
}

void
lbm_log_snapshot_install(struct lbm_node *node, const uint8_t *bytes, size_t len)
{
    struct lbm_view *view = read_view(node, bytes, len);
    if (view == NULL)
        return;
    if (view->index <= lbm_log_last(node)) {
        lbm_view_free(view);
        free(view);
        return;
    }
    if (node->incoming != NULL) {
        lbm_view_free(node->incoming);
        free(node->incoming);
    }
    if (node->log.n != 0)
        drop_entries(node, node->log.n);
    node->log_waits.n = 0; /* they are part of it */
    node->held = 0;
    node->log_base = view->index;
    node->base_chain = view->chain;
    node->incoming = view;
    store_snapshot(node, view->index, bytes, len);
    node->incoming_id = node->persist_id;
}

void
lbm_log_snapshot_drop_jobs(struct lbm_node *node)
{
    for (size_t i = node->jobs.n; i-- > 0;) {
        const struct job *job = node->jobs.at[i];
        if (job->stored != LBM_JOB_PENDING && lbm_view_job(&node->view, job->id) == NULL)
            node->raise->job_deleted(node, job->id);
    }
}

/* Jobs that came and went in the entries that nobody will read any more. */
static void
follow_jobs(struct lbm_node *node)
{
    lbm_log_snapshot_drop_jobs(node);
    for (size_t i = 0; i < node->view.jobs.n; i++) {
        const struct job *job = lbm_local_job(node, node->view.jobs.at[i].job);
        if (job == NULL || job->stored == LBM_JOB_PENDING)
            node->raise->job_created(node, &node->view.jobs.at[i]);
    }
}

/* The first proposal may be among the entries that nobody will read. It is proposed again, which changes
 * nothing if it was taken; but a job could have been cancelled since, and must not come back. */
static void
follow_append(struct lbm_node *node)
{
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    int sent = node->appends.n != 0 && node->append_us != 0;
    node->append_us = node->append_accepted = 0;
    if (!sent)
        return;
    const struct append *first = &node->appends.at[0];
    enum lbm_err err = lbm_wire_unpack_command(first->command, first->len, &command, &diag);
    if (err != LBM_OK) {
        lbm_core_fail(node, err);
        return;
    }
    if (command->what_case == LBM__COMMAND__WHAT_JOB_CREATE) {
        lbm_log_append_done(node);
        node->raise->job_refused(node, command->job_create,
                                 "what became of the job is not known: submit it again");
    }
    lbm__command__free_unpacked(command, NULL);
}

void
lbm_log_snapshot_persisted(struct lbm_node *node)
{
    if (node->incoming == NULL || node->incoming_id > node->persisted)
        return;
    struct lbm_view *view = node->incoming;
    node->incoming = NULL;
    take_view(node, view);
    follow_jobs(node);
    follow_append(node);
    lbm_membership_changed(node, 1);
    lbm_core_note(node, LBM_NOTE_INFO, "the control log begins at a snapshot of entry %" PRIu64,
                  node->view.index);
}

/* ---- for others ---------------------------------------------------------------------------------------- */

/* One host is enough to shorten a log that all share. */
static int
compacts_for_all(const struct lbm_node *node)
{
    if (node->engine != LBM_LOG_ENGINE_EXTERNAL)
        return 0;
    for (size_t i = 0; i < node->view.members.n; i++)
        if (lbm_view_participates(&node->view.members.at[i]))
            return node->view.members.at[i].host == node->host;
    return 0;
}

void
lbm_log_snapshot_send(struct lbm_node *node, uint32_t host)
{
    uint8_t *bytes = NULL;
    size_t len = 0;
    enum lbm_err err = lbm_view_pack(&node->view, &bytes, &len);
    if (err == LBM_E_LIMIT)
        lbm_core_note(node, LBM_NOTE_WARNING, "the view is too large for host %" PRIu32 " to begin with it",
                      host);
    else if (err != LBM_OK)
        lbm_core_fail(node, err);
    for (size_t at = 0; err == LBM_OK && at < len; at += LBM_BATCH_BYTES_MAX) {
        Lbm__LogSnapshot chunk = LBM__LOG_SNAPSHOT__INIT;
        chunk.index = node->view.index;
        chunk.offset = at;
        chunk.total = len;
        chunk.data.data = bytes + at;
        chunk.data.len = len - at < LBM_BATCH_BYTES_MAX ? len - at : LBM_BATCH_BYTES_MAX;
        Lbm__Peer message = LBM__PEER__INIT;
        message.body_case = LBM__PEER__BODY_LOG_SNAPSHOT;
        message.log_snapshot = &chunk;
        lbm_core_send(node, host, &message);
    }
    free(bytes);
}

void
lbm_log_compact(struct lbm_node *node)
{
    uint32_t least = node->log_compact_min != 0 ? node->log_compact_min : LOG_COMPACT_MIN;
    uint32_t tail = least < 4 * LOG_TAIL ? least / 4 : LOG_TAIL;
    uint8_t *bytes = NULL;
    size_t len = 0;
    if (node->failed != LBM_OK || node->incoming != NULL || node->view.index - node->snapshot_index < least)
        return;
    node->snapshot_index = node->view.index;
    enum lbm_err err = lbm_view_pack(&node->view, &bytes, &len);
    if (err == LBM_E_LIMIT) {
        lbm_core_note(node, LBM_NOTE_WARNING,
                      "the view is too large for a snapshot: the control log keeps growing");
        return;
    }
    if (err != LBM_OK) {
        lbm_core_fail(node, err);
        return;
    }
    store_snapshot(node, node->view.index, bytes, len);
    if (node->view.index - node->log_base > tail)
        drop_entries(node, (size_t)(node->view.index - node->log_base - tail));
    if (compacts_for_all(node))
        lbm_core_emit_log(node, LBM_EFFECT_LOG_COMPACT, node->view.index, bytes, len);
    free(bytes);
}
