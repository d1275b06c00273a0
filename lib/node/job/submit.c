/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A guest comes in from a client in bounded pieces, is validated as a whole, stored, and proposed to the
 * control log as a job. Nothing is changed before it is known to be valid. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/exchange/exchange.h"
#include "node/job/internal.h"
#include "node/job/job.h"
#include "node/membership/membership.h"
#include "node/records/blobs.h"
#include "node/records/record_batch.h"

static struct upload *
upload_of(struct lbm_node *node, uint64_t client)
{
    for (size_t i = 0; i < node->uploads.n; i++)
        if (node->uploads.at[i]->client == client && node->uploads.at[i]->reader == 0)
            return node->uploads.at[i];
    return NULL;
}

void
lbm_job_submit_forget(struct lbm_node *node, struct upload *upload)
{
    size_t i = 0;
    while (node->uploads.at[i] != upload)
        i++;
    lbm_vec_free(&upload->offset);
    lbm_vec_free(&upload->target);
    lbm_vec_free(&upload->weight);
    lbm_vec_free(&upload->work);
    lbm_vec_free(&upload->pin);
    lbm_vec_free(&upload->payload_len);
    lbm_vec_free(&upload->blob);
    lbm_buf_free(&upload->payload);
    lbm_vec_free(&upload->spread);
    free(upload);
    node->uploads.at[i] = node->uploads.at[--node->uploads.n];
}

void
lbm_job_submit_drop(struct lbm_node *node, uint64_t client)
{
    struct upload *upload = upload_of(node, client);
    if (upload != NULL)
        lbm_job_submit_forget(node, upload);
}

void
lbm_job_submit_gone(struct lbm_node *node, uint64_t client)
{
    lbm_job_submit_drop(node, client);
    for (size_t i = 0; i < node->jobs.n; i++)
        if (node->jobs.at[i]->client == client)
            node->jobs.at[i]->client = 0; /* the job goes on, nobody waits for its answer */
}

/* Why a job of this name cannot be submitted now, or NULL. */
static const char *
refusal(struct lbm_node *node, const Lbm__SubmitBegin *begin)
{
    const char *name = begin->name;
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    if (self == NULL || self->state != LBM_MEMBER_ACTIVE)
        return "this host is not an active member yet; try again in a moment";
    if (!lbm_membership_is_routable(node))
        return node->view.unroutable;
    if (lbm_view_job_named(&node->view, name) != NULL)
        return "a job of that name exists already; cancel it or choose another name";
    for (size_t i = 0; i < node->uploads.n; i++)
        if (strcmp(node->uploads.at[i]->name, name) == 0)
            return "a job of that name is being submitted";
    if (begin->start >= LBM_START_COUNT)
        return "this daemon does not know that start";
    if (begin->parts == 0)
        return NULL;
    if (begin->payloads != 0)
        return "payloads come with whole guests, not with parts";
    if (begin->part >= begin->parts || begin->rows == 0 || begin->first > begin->vertices ||
        begin->rows > begin->vertices - begin->first)
        return "that part is none of the guest";
    if (begin->start != LBM_START_COARSE && begin->start != LBM_START_RANDOM &&
        begin->start != LBM_START_DIFFUSE)
        return "a guest in parts starts by diffusion, or at random places";
    return NULL;
}

void
lbm_job_submit_begin(struct lbm_node *node, const struct client *client, const Lbm__SubmitBegin *begin)
{
    const char *why = refusal(node, begin);
    if (upload_of(node, client->id) != NULL)
        why = "this connection is submitting a job already";
    if (why != NULL) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_STATE, "%s", why);
        return;
    }
    struct lbm_job_policy policy;
    struct lbm_diag diag = {0};
    enum lbm_err err = lbm_exchange_policy_choose(node, begin->policy, begin->schedule, &policy, &diag);
    if (err != LBM_OK) {
        lbm_core_reply_error(node, client->id, client->request, err, "%s: %s", diag.where, diag.text);
        return;
    }
    struct upload *upload = lbm_alloc(1, sizeof *upload);
    if (upload == NULL || lbm_vec_push(&node->uploads, upload) != LBM_OK ||
        lbm_vec_push(&upload->offset, 0) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    upload->client = client->id;
    upload->request = client->request;
    snprintf(upload->name, sizeof upload->name, "%s", begin->name);
    upload->start = begin->start;
    upload->seed = begin->seed;
    upload->imbalance = begin->imbalance;
    upload->policy = policy;
    upload->vertices = begin->vertices;
    upload->edges = begin->edges;
    upload->has_payloads = begin->payloads != 0;
    upload->parts = begin->parts;
    upload->part = begin->part;
    upload->first = begin->first;
    upload->rows = begin->parts != 0 ? begin->rows : begin->vertices;
    if (lbm_job_spread_may(node, begin) && lbm_job_spread_begin(node, upload) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    if (upload->parts != 0) {
        lbm_job_slice_begin(node, upload, client->uid);
        return;
    }
    Lbm__Response response = LBM__RESPONSE__INIT;
    lbm_core_reply(node, client->id, client->request, 1, &response);
}

enum lbm_err
lbm_job_submit_append(struct upload *upload, const Lbm__SubmitRows *rows)
{
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; i < rows->n_degree; i++) {
        uint64_t end = upload->offset.at[upload->offset.n - 1] + rows->degree[i];
        err |= lbm_vec_push(&upload->offset, end);
        err |= lbm_vec_push(&upload->work, rows->n_work != 0 ? rows->work[i] : 1);
        err |= lbm_vec_push(&upload->pin, rows->n_pin != 0 ? rows->pin[i] : LBM_NONE);
    }
    for (size_t i = 0; i < rows->n_neighbour; i++) {
        err |= lbm_vec_push(&upload->target, rows->neighbour[i]);
        err |= lbm_vec_push(&upload->weight, rows->n_weight != 0 ? rows->weight[i] : 1);
    }
    size_t at = 0;
    for (size_t i = 0; i < rows->n_degree && upload->has_payloads; i++) {
        uint32_t len = rows->n_payload_len != 0 ? rows->payload_len[i] : 0;
        err |= lbm_vec_push(&upload->payload_len, len);
        err |= lbm_vec_push(&upload->blob, rows->n_blob != 0 ? rows->blob[i] : 0);
        lbm_buf_put(&upload->payload, (const char *)rows->payload.data + at, len);
        at += len;
    }
    return err == LBM_OK && !upload->payload.failed ? LBM_OK : LBM_E_NOMEM;
}

/* Nonzero if there are more than were announced. */
static int
is_too_much(const struct upload *upload, const Lbm__SubmitRows *rows)
{
    if (upload->spread.n != 0)
        return upload->read + rows->n_degree > upload->vertices;
    return upload->offset.n - 1 + rows->n_degree > upload->rows ||
           upload->target.n + rows->n_neighbour > 2 * upload->edges;
}

/* Nonzero if every large payload that the rows describe came before. */
static int
has_blobs(struct lbm_node *node, const struct upload *upload, const Lbm__SubmitRows *rows)
{
    struct lbm_blob_name name;
    size_t at = 0;
    if (rows->n_blob != 0 && rows->n_payload_len == 0)
        return 0;
    for (size_t i = 0; i < rows->n_blob; at += rows->payload_len[i++])
        if (rows->blob[i] != 0 &&
            (!lbm_blob_read_name(upload->blob_job, rows->payload.data + at, rows->payload_len[i], &name) ||
             !lbm_blobs_have(node, &name)))
            return 0;
    return 1;
}

void
lbm_job_submit_rows(struct lbm_node *node, const struct client *asks, const Lbm__SubmitRows *rows)
{
    const uint64_t client = asks->id, request = asks->request;
    struct upload *upload = upload_of(node, client);
    if (upload == NULL || (upload->parts != 0 && upload->job == 0)) {
        lbm_core_reply_error(node, client, request, LBM_E_STATE, "rows without a submission");
        return;
    }
    if (is_too_much(upload, rows)) {
        lbm_core_reply_error(node, client, request, LBM_E_RANGE,
                             "more rows or edges than announced (%" PRIu32 ", %" PRIu64 ")",
                             upload->spread.n != 0 ? upload->vertices : upload->rows, upload->edges);
        lbm_job_submit_drop(node, client);
        return;
    }
    if (!lbm_records_payload_fits(rows->n_payload_len, rows->payload_len, &rows->payload) ||
        (rows->n_payload_len != 0 && !upload->has_payloads)) {
        lbm_core_reply_error(node, client, request, LBM_E_RANGE,
                             "payloads that do not have the lengths that are told, or were not announced");
        lbm_job_submit_drop(node, client);
        return;
    }
    if (!has_blobs(node, upload, rows)) {
        lbm_core_reply_error(node, client, request, LBM_E_STATE,
                             "payloads of more than %u bytes that did not come before", LBM_PAYLOAD_MAX);
        lbm_job_submit_drop(node, client);
        return;
    }
    enum lbm_err err = upload->spread.n != 0 ? lbm_job_spread_rows(node, upload, asks->uid, rows)
                                             : lbm_job_submit_append(upload, rows);
    upload->request = request;
    if (err != LBM_OK) {
        lbm_core_reply_error(node, client, request, LBM_E_NOMEM,
                             "no memory for so large a guest: read it in parts");
        lbm_job_submit_drop(node, client);
        return;
    }
    if (upload->awaited != 0)
        return; /* those that they went to are waited for */
    Lbm__Response response = LBM__RESPONSE__INIT;
    lbm_core_reply(node, client, request, 1, &response);
}

/* The upload as a graph; takes its arrays. */
static struct lbm_graph *
take_graph(struct upload *upload)
{
    struct lbm_graph *g = lbm_alloc(1, sizeof *g);
    if (g == NULL)
        return NULL;
    *g = (struct lbm_graph){.n = (uint32_t)(upload->offset.n - 1),
                            .offset = upload->offset.at,
                            .target = upload->target.at,
                            .weight = upload->weight.at,
                            .work = upload->work.at,
                            .pin = upload->pin.at};
    memset(&upload->offset, 0, sizeof upload->offset);
    memset(&upload->target, 0, sizeof upload->target);
    memset(&upload->weight, 0, sizeof upload->weight);
    memset(&upload->work, 0, sizeof upload->work);
    memset(&upload->pin, 0, sizeof upload->pin);
    return g;
}

/* Neighbours of one row of a part ascend, and are other vertices of the guest. */
static int
is_row(const struct upload *upload, const struct lbm_graph *g, uint32_t v)
{
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
        if (g->target[e] >= upload->vertices || g->target[e] == upload->first + v ||
            (e > g->offset[v] && g->target[e] <= g->target[e - 1]))
            return 0;
    return 1;
}

/* What can be said of each row by itself. id: of the first one. */
static enum lbm_err
check_rows(const struct lbm_node *node, const struct upload *upload, const struct lbm_graph *g,
           struct lbm_diag *diag)
{
    for (uint32_t v = 0; v < g->n; v++) {
        if (g->offset[v + 1] - g->offset[v] > LBM_DEGREE_MAX)
            return lbm_diag_set(diag, LBM_E_LIMIT, upload->name, 0,
                                "vertex %" PRIu32 " has more than %d neighbours", upload->first + v,
                                LBM_DEGREE_MAX);
        if (g->pin[v] != LBM_NONE && lbm_view_number(&node->view, g->pin[v]) == LBM_NONE)
            return lbm_diag_set(diag, LBM_E_RANGE, upload->name, 0,
                                "vertex %" PRIu32 " is pinned to host %" PRIu32 ", which is not active",
                                upload->first + v, g->pin[v]);
        if (upload->parts != 0 && !is_row(upload, g, v))
            return lbm_diag_set(diag, LBM_E_SYNTAX, upload->name, 0,
                                "the neighbours of vertex %" PRIu32 " do not ascend, or are not in the guest",
                                upload->first + v);
    }
    return LBM_OK;
}

/* Everything that must hold before a guest may become a job; of a part, before it may be one. */
static enum lbm_err
check_guest(const struct lbm_node *node, const struct upload *upload, const struct lbm_graph *g,
            struct lbm_diag *diag)
{
    if (g->n != upload->rows || (upload->parts == 0 && lbm_graph_directions(g) != 2 * upload->edges))
        return lbm_diag_set(diag, LBM_E_RANGE, upload->name, 0,
                            "announced %" PRIu32 " vertices and %" PRIu64 " edges, sent %" PRIu32
                            " and %" PRIu64,
                            upload->rows, upload->edges, g->n, lbm_graph_directions(g) / 2);
    if (g->n == 0)
        return lbm_diag_set(diag, LBM_E_RANGE, upload->name, 0, "the guest has no vertices: nothing to map");
    enum lbm_err err = check_rows(node, upload, g, diag);
    return err != LBM_OK || upload->parts != 0 ? err : lbm_graph_check(g, diag);
}

/* The job is proposed to the control log once the backup has every vertex: from then on no single loss can
 * undo it. */
static void
propose(struct lbm_node *node, struct job *job, const struct upload *upload, uint32_t uid)
{
    char name[LBM_NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", upload->name);
    const struct lbm_graph *g = job->guest;
    Lbm__JobCreate create = LBM__JOB_CREATE__INIT;
    create.job = job->id;
    create.name = name;
    create.coordinator = node->host;
    create.vertices = g->n;
    create.edges = lbm_graph_directions(g) / 2;
    create.work = lbm_graph_total_work(g);
    if (g->n > 0 && create.work == (uint64_t)lbm_graph_max_work(g) * g->n)
        create.each_work = lbm_graph_max_work(g);
    for (uint64_t e = 0; e < lbm_graph_directions(g); e++)
        create.weight += lbm_graph_weight(g, e);
    create.weight /= 2;
    create.start = upload->start;
    create.seed = upload->seed;
    create.imbalance = upload->imbalance;
    create.owner = uid;
    Lbm__JobPolicy policy;
    lbm_job_policy_put(&upload->policy, &policy);
    create.policy = &policy;
    if (lbm_job_store_pending(node, job, &create) != LBM_OK ||
        lbm_job_store_rows(node, job, 0, 0, NULL) != LBM_OK ||
        lbm_job_store_payloads(node, job, upload) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

void
lbm_job_submit_store(struct lbm_node *node, struct upload *upload)
{
    struct lbm_graph *g = take_graph(upload);
    struct lbm_diag diag = {0};
    enum lbm_err err = g == NULL ? LBM_E_NOMEM : check_guest(node, upload, g, &diag);
    if (err == LBM_OK) {
        lbm_job_slice_store(node, upload, g);
    } else if (err == LBM_E_NOMEM) {
        lbm_core_fail(node, err);
    } else {
        lbm_job_spread_answer(node, upload, diag.text);
        lbm_graph_free(g);
        free(g);
    }
    lbm_job_submit_forget(node, upload);
}

void
lbm_job_submit_end(struct lbm_node *node, const struct client *asks)
{
    const uint64_t client = asks->id, request = asks->request;
    struct upload *upload = upload_of(node, client);
    if (upload == NULL || (upload->parts != 0 && upload->job == 0)) {
        lbm_core_reply_error(node, client, request, LBM_E_STATE,
                             "the end of a submission that was not begun");
        return;
    }
    struct lbm_graph *g = take_graph(upload);
    struct lbm_diag diag = {0};
    enum lbm_err err = g == NULL ? LBM_E_NOMEM : check_guest(node, upload, g, &diag);
    if (err == LBM_OK && upload->spread.n != 0 && upload->read != upload->vertices)
        err = lbm_diag_set(&diag, LBM_E_RANGE, upload->name, 0,
                           "announced %" PRIu32 " vertices, sent %" PRIu32, upload->vertices, upload->read);
    if (err == LBM_E_NOMEM) {
        lbm_core_fail(node, err);
    } else if (err != LBM_OK) {
        lbm_core_reply_error(node, client, request, err, "%s", diag.text);
    } else if (upload->parts != 0) {
        upload->request = request;
        lbm_job_slice_store(node, upload, g);
        g = NULL;
    } else {
        struct job *job =
            lbm_job_add(node, upload->blob_job != 0 ? upload->blob_job : lbm_rng_next(&node->rng) | 1);
        if (job != NULL) {
            job->guest = g;
            g = NULL;
            job->client = client;
            job->client_request = request;
            job->until_us = asks->until_us;
            propose(node, job, upload, asks->uid);
        }
    }
    if (g != NULL) {
        lbm_graph_free(g);
        free(g);
    }
    lbm_job_submit_drop(node, client);
}
