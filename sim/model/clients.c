/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests as an operator makes them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sim/model/internal.h"

enum {
    WITHIN_US = 10000000
}; /* what the log has not taken by then is void, unless a client says otherwise */
enum {
    PARTS_US = 60000000, /* until all parts are with their hosts */
    PIECE_ROWS = 8192,   /* of a guest that is spread as it is read */
    SPREAD_MS = 180000,  /* until the log has it */
};

void
forget_replies(struct machine *m)
{
    for (size_t i = 0; i < m->replies.n; i++)
        lbm__response__free_unpacked(m->replies.at[i], NULL);
    m->replies.n = 0;
}

void
deliver_reply(struct cluster *c, uint32_t host, const struct lbm_effect *effect)
{
    if (effect->as.reply.client != OPERATOR) {
        application_tell(c, host, effect);
        return;
    }
    Lbm__Response *response = NULL;
    struct lbm_diag diag;
    if (lbm_wire_unpack_response(effect->as.reply.frame + LBM_FRAME_HEADER,
                                 effect->as.reply.len - LBM_FRAME_HEADER, &response, &diag) != LBM_OK) {
        char text[LBM_DIAG_TEXT_MAX];
        lbm_diag_render(&diag, text, sizeof text);
        check_violated(&c->check, "I0", "host %" PRIu32 " answers what no client takes: %.200s", host, text);
        return;
    }
    if (response->code == LBM_E_TIMEOUT && response->id == c->machine[host].requests &&
        strstr(response->text, "nothing will be") != NULL)
        check_request_is_void(&c->check, c->machine[host].key);
    LBM_ASSERT(lbm_vec_push(&c->machine[host].replies, response) == LBM_OK);
}

void
cluster_request(struct cluster *c, uint32_t host, uint32_t uid, Lbm__Request *request)
{
    cluster_request_as(c, host, uid, uid == 0 ? LBM_ACCESS_ADMIN : LBM_ACCESS_SUBMIT, request);
}

void
cluster_request_as(struct cluster *c, uint32_t host, uint32_t uid, enum lbm_access access,
                   Lbm__Request *request)
{
    struct machine *m = &c->machine[host];
    forget_replies(m);
    if (m->node == NULL || m->stopped)
        return; /* nobody answers */
    request->id = ++m->requests;
    if (request->key == 0)
        request->key = ++c->keys;
    m->key = request->key;
    check_request_begins(&c->check, request->key,
                         c->now_us +
                             (request->within_ms != 0 ? (int64_t)request->within_ms * 1000 : WITHIN_US));
    struct lbm_event event = {.kind = LBM_EVENT_REQUEST};
    event.as.request.client = OPERATOR;
    event.as.request.uid = uid;
    event.as.request.access = access;
    event.as.request.request = request;
    step(c, host, &event);
}

void
cluster_cancel(struct cluster *c, uint32_t host, const char *name)
{
    char job[LBM_NAME_MAX + 1];
    snprintf(job, sizeof job, "%s", name);
    Lbm__CancelRequest cancel = LBM__CANCEL_REQUEST__INIT;
    cancel.job = job;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_CANCEL;
    request.cancel = &cancel;
    cluster_request(c, host, 0, &request);
}

const Lbm__Response *
cluster_reply(struct cluster *c, uint32_t host, size_t i)
{
    return i < c->machine[host].replies.n ? c->machine[host].replies.at[i] : NULL;
}

static int
has_last_reply(struct cluster *c, void *arg)
{
    const struct machine *m = &c->machine[*(uint32_t *)arg];
    return m->replies.n != 0 && m->replies.at[m->replies.n - 1]->last;
}

const Lbm__Response *
cluster_ask(struct cluster *c, uint32_t host, uint32_t uid, Lbm__Request *request)
{
    cluster_request(c, host, uid, request);
    if (!cluster_run(c, 10000000, has_last_reply, &host))
        return NULL;
    return cluster_reply(c, host, c->machine[host].replies.n - 1);
}

/* Ask for something that is answered within the step. */
static enum lbm_err
ask_at_once(struct cluster *c, uint32_t host, Lbm__Request *request)
{
    cluster_request(c, host, 0, request);
    const Lbm__Response *response = cluster_reply(c, host, 0);
    return response != NULL ? (enum lbm_err)response->code : LBM_E_TIMEOUT;
}

/* In: parts: 0: the whole guest; else rows [first, first + rows) are a part of it. */
struct guest_part {
    uint32_t parts, part, first, rows;
};

static enum lbm_err
send_begin(struct cluster *c, uint32_t host, const char *name, const struct lbm_graph *g,
           enum lbm_start start, const struct guest_part *part)
{
    char copy[LBM_NAME_MAX + 1];
    snprintf(copy, sizeof copy, "%s", name);
    Lbm__SubmitBegin begin = LBM__SUBMIT_BEGIN__INIT;
    begin.name = copy;
    begin.vertices = g->n;
    begin.edges = lbm_graph_directions(g) / 2;
    begin.start = start;
    begin.seed = c->options.job_seed != 0 ? c->options.job_seed : 1;
    begin.imbalance = c->options.imbalance == 0 ? 0.03 : fmax(0, c->options.imbalance);
    if (part->parts != 0) {
        begin.parts = part->parts;
        begin.part = part->part;
        begin.first = part->first;
        begin.rows = part->rows;
    }
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_SUBMIT_BEGIN;
    request.submit_begin = &begin;
    if (part->parts == 0)
        return ask_at_once(c, host, &request);
    const Lbm__Response *response = cluster_ask(c, host, 0, &request); /* the coordinator is asked */
    return response != NULL ? (enum lbm_err)response->code : LBM_E_TIMEOUT;
}

static enum lbm_err
send_rows(struct cluster *c, uint32_t host, const struct lbm_graph *g, const struct guest_part *part)
{
    uint32_t *degree = lbm_alloc(part->rows, sizeof *degree), first = part->first;
    LBM_ASSERT(degree != NULL);
    for (uint32_t i = 0; i < part->rows; i++)
        degree[i] = (uint32_t)(g->offset[first + i + 1] - g->offset[first + i]);
    Lbm__SubmitRows rows = LBM__SUBMIT_ROWS__INIT;
    rows.n_degree = part->rows;
    rows.degree = degree;
    rows.n_neighbour = g->offset[first + part->rows] - g->offset[first];
    rows.neighbour = g->target + g->offset[first];
    rows.n_weight = g->weight != NULL ? rows.n_neighbour : 0;
    rows.weight = g->weight != NULL ? g->weight + g->offset[first] : NULL;
    rows.n_work = g->work != NULL ? part->rows : 0;
    rows.work = g->work != NULL ? g->work + first : NULL;
    rows.n_pin = g->pin != NULL ? part->rows : 0;
    rows.pin = g->pin != NULL ? g->pin + first : NULL;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_SUBMIT_ROWS;
    request.submit_rows = &rows;
    enum lbm_err err = ask_at_once(c, host, &request);
    free(degree);
    return err;
}

/* The same in pieces, each when the hosts that it goes to have taken the one before. */
static enum lbm_err
send_pieces(struct cluster *c, uint32_t host, const struct lbm_graph *g)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t first = 0; err == LBM_OK && first < g->n; first += PIECE_ROWS) {
        const struct guest_part piece = {.first = first,
                                         .rows = g->n - first < PIECE_ROWS ? g->n - first : PIECE_ROWS};
        err = send_rows(c, host, g, &piece);
        if (err == LBM_E_TIMEOUT && cluster_run(c, PARTS_US, has_last_reply, &host))
            err = (enum lbm_err)cluster_reply(c, host, 0)->code;
    }
    return err;
}

static int
is_spread(const struct lbm_graph *g, enum lbm_start start, const struct guest_part *part)
{
    return part->parts == 0 && start == LBM_START_DIFFUSE && g->n >= LBM_SPREAD_VERTICES;
}

static enum lbm_err
send_part(struct cluster *c, uint32_t host, const char *name, const struct lbm_graph *g, enum lbm_start start,
          const struct guest_part *part)
{
    enum lbm_err err = send_begin(c, host, name, g, start, part);
    if (err == LBM_OK && cluster_is_up(c, host))
        err = is_spread(g, start, part) ? send_pieces(c, host, g) : send_rows(c, host, g, part);
    if (err != LBM_OK || !cluster_is_up(c, host))
        return err;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_SUBMIT_END;
    request.submit_end = &empty;
    request.within_ms = is_spread(g, start, part) ? SPREAD_MS : 0;
    cluster_request(c, host, 0, &request);
    return LBM_OK;
}

enum lbm_err
cluster_send_guest(struct cluster *c, uint32_t host, const char *name, const struct lbm_graph *g,
                   enum lbm_start start)
{
    const struct guest_part whole = {.rows = g->n};
    return send_part(c, host, name, g, start, &whole);
}

/* Parts come in at hosts all over the cluster. */
static uint32_t
host_of_part(const struct cluster *c, uint32_t parts, uint32_t part)
{
    return (uint32_t)((uint64_t)c->n * part / parts);
}

enum lbm_err
cluster_submit_parts(struct cluster *c, uint32_t parts, const char *name, const struct lbm_graph *g,
                     enum lbm_start start)
{
    for (uint32_t p = 0; p < parts; p++) {
        uint32_t first = (uint32_t)((uint64_t)g->n * p / parts),
                 next = (uint32_t)((uint64_t)g->n * (p + 1) / parts);
        const struct guest_part part = {parts, p, first, next - first};
        enum lbm_err err = send_part(c, host_of_part(c, parts, p), name, g, start, &part);
        if (err != LBM_OK)
            return err;
    }
    for (uint32_t p = 0; p < parts; p++) {
        uint32_t host = host_of_part(c, parts, p);
        if (!has_last_reply(c, &host) && !cluster_run(c, PARTS_US, has_last_reply, &host))
            return LBM_E_TIMEOUT;
        if (cluster_reply(c, host, c->machine[host].replies.n - 1)->code != LBM_OK)
            return (enum lbm_err)cluster_reply(c, host, c->machine[host].replies.n - 1)->code;
    }
    return LBM_OK;
}

enum lbm_err
cluster_submit(struct cluster *c, uint32_t host, const char *name, const struct lbm_graph *g,
               enum lbm_start start)
{
    enum lbm_err err = cluster_send_guest(c, host, name, g, start);
    if (err != LBM_OK)
        return err;
    const struct guest_part whole = {.rows = g->n};
    if (!cluster_run(c, is_spread(g, start, &whole) ? (int64_t)SPREAD_MS * 1000 : WITHIN_US, has_last_reply,
                     &host))
        return LBM_E_TIMEOUT;
    return (enum lbm_err)cluster_reply(c, host, c->machine[host].replies.n - 1)->code;
}

const Lbm__JobEntry *
cluster_job(struct cluster *c, uint32_t host, const char *name)
{
    char copy[LBM_NAME_MAX + 1];
    snprintf(copy, sizeof copy, "%s", name);
    Lbm__JobsRequest jobs = LBM__JOBS_REQUEST__INIT;
    jobs.name = copy;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_JOBS;
    request.jobs = &jobs;
    cluster_request(c, host, 0, &request);
    const Lbm__Response *response = cluster_reply(c, host, 0);
    return response != NULL && response->code == LBM_OK ? response->jobs->jobs[0] : NULL;
}

int
cluster_has_job(struct cluster *c, uint32_t host, const char *name)
{
    return cluster_job(c, host, name) != NULL;
}

int
cluster_settled_at(struct cluster *c, uint32_t host, const char *name)
{
    const Lbm__JobEntry *job = cluster_job(c, host, name);
    return job != NULL && job->settled;
}

int
cluster_settled(struct cluster *c, const char *name)
{
    for (uint32_t p = 0; p < c->n; p++)
        if (c->machine[p].node != NULL && !c->machine[p].stopped && !cluster_settled_at(c, p, name))
            return 0;
    return 1;
}
