/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A guest that comes in at one host is spread as it is read: the host keeps one part of its rows, and passes
 * each of the others on to a host of its own, which goes on as if a client had sent it that part (ingest.h).
 * So no host ever has the whole. The client hears that rows were taken once those that they went to have
 * them: what waits is never more than one message of the client.
 *
 * Owns: how rows are cut.  Never: keeps rows of others. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/job/internal.h"
#include "node/job/job.h"
#include "node/local/local.h"

enum { PASSED_US = 120000000 /* without another row: what a reader has passed on is dropped */ };

/* The first row of a part. */
static uint32_t
first_of(const struct upload *upload, size_t part)
{
    return (uint32_t)((uint64_t)upload->vertices * part / upload->spread.n);
}

int
lbm_job_spread_may(const struct lbm_node *node, const Lbm__SubmitBegin *begin)
{
    size_t n = node->view.active.n;
    return begin->parts == 0 && begin->payloads == 0 && begin->start == LBM_START_DIFFUSE && n > 1 &&
           n <= LBM_PARTS_MAX && n <= begin->vertices &&
           (begin->spread != 0 || begin->vertices >= LBM_SPREAD_VERTICES);
}

enum lbm_err
lbm_job_spread_begin(struct lbm_node *node, struct upload *upload)
{
    for (size_t i = 0; i < node->view.active.n; i++) {
        uint32_t host = node->view.active.at[i];
        upload->part = host == node->host ? (uint32_t)i : upload->part;
        if (lbm_vec_push(&upload->spread, host) != LBM_OK)
            return LBM_E_NOMEM;
    }
    upload->parts = (uint32_t)upload->spread.n;
    upload->first = first_of(upload, upload->part);
    upload->rows = first_of(upload, upload->part + 1) - upload->first;
    return LBM_OK;
}

/* ---- the host that reads ------------------------------------------------------------------------------- */

static void
pass_on(struct lbm_node *node, struct upload *upload, uint32_t part, uint32_t uid,
        const Lbm__SubmitRows *rows, int is_first, int is_last)
{
    Lbm__SliceRows piece = LBM__SLICE_ROWS__INIT;
    Lbm__SliceBegin begin = LBM__SLICE_BEGIN__INIT;
    Lbm__JobCreate create = LBM__JOB_CREATE__INIT;
    Lbm__JobPolicy policy;
    piece.token = upload->token;
    piece.n_degree = rows->n_degree;
    piece.degree = rows->degree;
    piece.n_neighbour = rows->n_neighbour;
    piece.neighbour = rows->neighbour;
    piece.n_weight = rows->n_weight;
    piece.weight = rows->weight;
    piece.n_work = rows->n_work;
    piece.work = rows->work;
    piece.n_pin = rows->n_pin;
    piece.pin = rows->pin;
    piece.last = is_last != 0;
    if (is_first) {
        lbm_job_policy_put(&upload->policy, &policy);
        lbm_job_slice_fill(upload, uid, &policy, &create, &begin);
        begin.part = part;
        begin.first = first_of(upload, part);
        begin.rows = first_of(upload, part + 1) - begin.first;
        piece.begin = &begin;
    }
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_SLICE_ROWS;
    message.slice_rows = &piece;
    lbm_core_send(node, upload->spread.at[part], &message);
    upload->awaited++;
}

/* Some of the rows of a message. In: from, n: which of them; edge: the first of their neighbours. */
static Lbm__SubmitRows
cut(const Lbm__SubmitRows *rows, size_t from, size_t n, size_t edge)
{
    Lbm__SubmitRows out = LBM__SUBMIT_ROWS__INIT;
    out.n_degree = n;
    out.degree = rows->degree + from;
    for (size_t i = 0; i < n; i++)
        out.n_neighbour += out.degree[i];
    out.neighbour = rows->neighbour + edge;
    out.n_weight = rows->n_weight != 0 ? out.n_neighbour : 0;
    out.weight = rows->n_weight != 0 ? rows->weight + edge : NULL;
    out.n_work = rows->n_work != 0 ? n : 0;
    out.work = rows->n_work != 0 ? rows->work + from : NULL;
    out.n_pin = rows->n_pin != 0 ? n : 0;
    out.pin = rows->n_pin != 0 ? rows->pin + from : NULL;
    return out;
}

enum lbm_err
lbm_job_spread_rows(struct lbm_node *node, struct upload *upload, uint32_t uid, const Lbm__SubmitRows *rows)
{
    size_t at = 0, edge = 0;
    while (at < rows->n_degree) {
        uint32_t part = 0;
        while (first_of(upload, part + 1) <= upload->read)
            part++;
        uint32_t first = first_of(upload, part), end = first_of(upload, part + 1);
        size_t left = rows->n_degree - at, n = end - upload->read < left ? end - upload->read : left;
        Lbm__SubmitRows piece = cut(rows, at, n, edge);
        if (part != upload->part)
            pass_on(node, upload, part, uid, &piece, upload->read == first, upload->read + n == end);
        else if (lbm_job_submit_append(upload, &piece) != LBM_OK)
            return LBM_E_NOMEM;
        upload->read += (uint32_t)n;
        at += n;
        edge += piece.n_neighbour;
    }
    return LBM_OK;
}

void
lbm_job_on_slice_taken(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__SliceTaken *taken = message->slice_taken;
    for (size_t i = 0; i < node->uploads.n; i++) {
        struct upload *upload = node->uploads.at[i];
        if (upload->spread.n == 0 || upload->token != taken->token)
            continue;
        if (taken->refusal[0] != '\0') {
            lbm_core_reply_error(node, upload->client, upload->request, LBM_E_STATE, "host %" PRIu32 ": %s",
                                 message->src, taken->refusal);
            lbm_job_submit_drop(node, upload->client);
        } else if (upload->awaited != 0 && --upload->awaited == 0) {
            Lbm__Response response = LBM__RESPONSE__INIT;
            lbm_core_reply(node, upload->client, upload->request, 1, &response);
        }
        return;
    }
}

/* ---- the hosts that it passes parts on to -------------------------------------------------------------- */

void
lbm_job_spread_answer(struct lbm_node *node, const struct upload *upload, const char *refusal)
{
    char text[LBM_DIAG_TEXT_MAX] = "";
    snprintf(text, sizeof text, "%s", refusal != NULL ? refusal : "");
    Lbm__SliceTaken taken = LBM__SLICE_TAKEN__INIT;
    taken.token = upload->passed;
    taken.refusal = text;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_SLICE_TAKEN;
    message.slice_taken = &taken;
    lbm_core_send(node, upload->reader - 1, &message);
}

static struct upload *
passed_by(const struct lbm_node *node, uint32_t reader, uint64_t token)
{
    for (size_t i = 0; i < node->uploads.n; i++)
        if (node->uploads.at[i]->reader == 1 + reader && node->uploads.at[i]->passed == token)
            return node->uploads.at[i];
    return NULL;
}

static struct upload *
begin_passed(struct lbm_node *node, uint32_t reader, uint64_t token, const Lbm__SliceBegin *begin)
{
    const Lbm__JobCreate *create = begin->create;
    struct upload *upload = lbm_alloc(1, sizeof *upload);
    if (upload == NULL || lbm_vec_push(&node->uploads, upload) != LBM_OK ||
        lbm_vec_push(&upload->offset, 0) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    snprintf(upload->name, sizeof upload->name, "%s", create->name);
    upload->reader = 1 + reader;
    upload->passed = token;
    upload->start = create->start;
    upload->seed = create->seed;
    upload->imbalance = create->imbalance;
    lbm_job_policy_take(create->policy, &upload->policy);
    upload->vertices = create->vertices;
    upload->edges = create->edges;
    upload->parts = create->parts;
    upload->part = begin->part;
    upload->first = begin->first;
    upload->rows = begin->rows;
    lbm_job_slice_begin(node, upload, create->owner);
    return upload;
}

void
lbm_job_on_slice_rows(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__SliceRows *piece = message->slice_rows;
    Lbm__SubmitRows rows = LBM__SUBMIT_ROWS__INIT;
    rows.n_degree = piece->n_degree;
    rows.degree = piece->degree;
    rows.n_neighbour = piece->n_neighbour;
    rows.neighbour = piece->neighbour;
    rows.n_weight = piece->n_weight;
    rows.weight = piece->weight;
    rows.n_work = piece->n_work;
    rows.work = piece->work;
    rows.n_pin = piece->n_pin;
    rows.pin = piece->pin;
    struct upload *upload = passed_by(node, message->src, piece->token);
    if (piece->begin != NULL && upload == NULL)
        upload = begin_passed(node, message->src, piece->token, piece->begin);
    if (upload == NULL)
        return; /* dropped: the reader hears why, or waits in vain */
    upload->heard_us = node->now_us;
    if (upload->offset.n - 1 + rows.n_degree > upload->rows ||
        upload->target.n + rows.n_neighbour > 2 * upload->edges ||
        lbm_job_submit_append(upload, &rows) != LBM_OK) {
        lbm_job_spread_answer(node, upload, "no memory for its part, or more rows than were announced");
        lbm_job_submit_forget(node, upload);
        return;
    }
    upload->is_complete = piece->last != 0;
    lbm_job_spread_answer(node, upload, NULL);
    if (upload->is_complete && upload->job != 0)
        lbm_job_submit_store(node, upload);
}

void
lbm_job_spread_timer(struct lbm_node *node)
{
    for (size_t i = node->uploads.n; i-- > 0;)
        if (node->uploads.at[i]->reader != 0 && node->now_us - node->uploads.at[i]->heard_us >= PASSED_US)
            lbm_job_submit_forget(node, node->uploads.at[i]);
}
