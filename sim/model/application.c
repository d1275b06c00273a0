/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applications: they attach, work on what they are given, let go, checkpoint, die; each payload is the
 * number of its writing, so that an old one is known by it. */
#include <stdlib.h>
#include <string.h>

#include "sim/model/hash.h"
#include "sim/model/script.h"

enum { ATTACH_US = 400000, CHECKPOINT_ONE_IN = 4, ATTACH_ID = 1 };

/* ---- talking to the daemon ----------------------------------------------------------------------------- */

void
application_asks(struct cluster *c, uint32_t application, Lbm__Request *request)
{
    struct application *a = &c->applications.at[application];
    struct happen asked = {.at_us = c->now_us + 30 + lbm_rng_below(&c->rng, 200),
                           .kind = HAPPEN_ASKED,
                           .host = a->host,
                           .from = application,
                           .life = c->machine[a->host].life,
                           .number = a->client};
    if (c->options.large && asked.at_us < a->asked_us)
        asked.at_us = a->asked_us; /* pieces keep their order */
    a->asked_us = asked.at_us;
    request->id = ++a->requests;
    LBM_ASSERT(lbm_wire_pack_request(request, &asked.frame, &asked.len) == LBM_OK);
    happen_push(c, asked);
}

void
application_drops(struct cluster *c, uint32_t application, size_t k)
{
    struct application *a = &c->applications.at[application];
    work_ends(c, application, a->held.at[k].vertex);
    memmove(&a->held.at[k], &a->held.at[k + 1], (a->held.n - k - 1) * sizeof *a->held.at);
    a->held.n--;
}

/* As the library: what it has not got all of when the connection ends it never held. */
static void
drop_unread(struct cluster *c, uint32_t application)
{
    struct application *a = &c->applications.at[application];
    for (size_t k = a->held.n; k-- > 0;)
        if (a->held.at[k].read != 0)
            application_drops(c, application, k);
}

void
application_hangs_up(struct cluster *c, uint32_t application)
{
    struct application *a = &c->applications.at[application];
    if (a->client == 0)
        return;
    struct happen gone = {.at_us = c->now_us + 300,
                          .kind = HAPPEN_GONE,
                          .host = a->host,
                          .from = application,
                          .life = c->machine[a->host].life,
                          .number = a->client};
    happen_push(c, gone);
    a->client = a->checkpoint = 0;
    a->attached = 0;
    refine_ends(c, application);
    drop_unread(c, application);
}

void
application_disconnected(struct cluster *c, uint32_t host)
{
    if (c->programs != NULL)
        programs_disconnected(c, host);
    for (size_t i = 0; i < c->applications.n; i++) {
        struct application *a = &c->applications.at[i];
        if (a->host != host)
            continue;
        a->client = a->checkpoint = 0;
        a->attached = 0;
        refine_ends(c, (uint32_t)i);
        drop_unread(c, (uint32_t)i);
        for (size_t k = 0; k < a->held.n; k++)
            a->held.at[k].asked = 0;
    }
}

static void
attach(struct cluster *c, uint32_t application)
{
    struct application *a = &c->applications.at[application];
    uint32_t *vertex = lbm_alloc(a->held.n, sizeof *vertex);
    uint64_t *token = lbm_alloc(a->held.n, sizeof *token);
    for (size_t i = 0; i < a->held.n; i++) {
        vertex[i] = a->held.at[i].vertex;
        token[i] = a->held.at[i].token;
    }
    Lbm__AttachRequest attach = LBM__ATTACH_REQUEST__INIT;
    attach.job = a->name;
    attach.n_vertex = attach.n_token = a->held.n;
    attach.vertex = vertex;
    attach.token = token;
    attach.edges = attach.blobs = 1;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_ATTACH;
    request.attach = &attach;
    a->client = ++c->clients;
    a->requests = 0; /* so that the answers to this one are known */
    application_asks(c, application, &request);
    free(vertex);
    free(token);
}

static void
checkpoint(struct cluster *c, uint32_t application)
{
    struct application *a = &c->applications.at[application];
    const struct guest *guest = check_guest(&c->check, a->job);
    struct parcel parcel = {0};
    uint32_t vertex[8];
    uint64_t token[8];
    size_t n = 0;
    a->sent.n = 0;
    for (size_t i = 0; i < a->held.n && n < 8; i++) {
        struct held *held = &a->held.at[i];
        if (held->read != 0)
            continue;
        held->payload = ++guest->vertex[held->vertex].payload;
        vertex[n] = held->vertex;
        token[n++] = held->token;
        parcel_add(c, application, &parcel, held->vertex, held->payload);
        LBM_ASSERT(lbm_vec_push(&a->sent, *held) == LBM_OK);
    }
    Lbm__CheckpointRequest body = LBM__CHECKPOINT_REQUEST__INIT;
    body.n_vertex = body.n_token = body.n_payload_len = body.n_blob = n;
    body.vertex = vertex;
    body.token = token;
    body.payload_len = parcel.len.at;
    body.blob = parcel.blob.at;
    body.payload = (ProtobufCBinaryData){parcel.payload.len, (uint8_t *)parcel.payload.at};
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_CHECKPOINT;
    request.checkpoint = &body;
    application_asks(c, application, &request);
    a->checkpoint = a->requests;
    parcel_free(&parcel);
}

static void
report_loads(struct cluster *c, uint32_t application)
{
    struct application *a = &c->applications.at[application];
    size_t n = a->held.n;
    uint32_t *vertex = lbm_alloc(n, sizeof *vertex);
    uint64_t *token = lbm_alloc(n, sizeof *token);
    double *load = lbm_alloc(n, sizeof *load);
    for (size_t i = 0; i < n; i++) {
        vertex[i] = a->held.at[i].vertex;
        token[i] = a->held.at[i].token;
        load[i] = c->load(c->load_arg, vertex[i], c->now_us);
    }
    Lbm__LoadRequest body = LBM__LOAD_REQUEST__INIT;
    body.n_vertex = body.n_token = body.n_load = n;
    body.vertex = vertex;
    body.token = token;
    body.load = load;
    body.known = c->loads_known != 0;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_LOAD;
    request.load = &body;
    application_asks(c, application, &request);
    free(vertex);
    free(token);
    free(load);
}

void
cluster_report_loads(struct cluster *c, double (*load)(void *arg, uint32_t vertex, int64_t now_us), void *arg)
{
    c->load = load;
    c->load_arg = arg;
    c->check.loads_change = load != NULL;
}

void
cluster_set_loads(struct cluster *c, double (*load)(void *arg, uint32_t vertex, int64_t now_us), void *arg)
{
    cluster_report_loads(c, load, arg);
    c->loads_known = 1;
}

void
cluster_measure(struct cluster *c, uint32_t host, double left)
{
    if (cluster_is_up(c, host) && !c->machine[host].stopped)
        step(c, host, &(struct lbm_event){.kind = LBM_EVENT_CAPACITY, .as.left = left});
}

/* The regular look at the page and at the daemon. */
void
application_looks(struct cluster *c, uint32_t application)
{
    struct application *a = &c->applications.at[application];
    if (!a->alive)
        return;
    for (size_t k = a->held.n; k-- > 0;)
        if (!is_working(c, a, &a->held.at[k]))
            application_drops(c, application, k);
    if (a->client == 0 && cluster_is_up(c, a->host))
        attach(c, application);
    else if (a->attached && a->checkpoint == 0 && a->change == 0 && a->held.n != 0 &&
             lbm_rng_below(&c->rng, CHECKPOINT_ONE_IN) == 0)
        checkpoint(c, application);
    else if (c->options.changes)
        refine(c, application);
    else if (c->script != NULL)
        script_look(c, application);
    if (a->attached && c->load != NULL && a->held.n != 0 && a->change == 0)
        report_loads(c, application);
    struct happen again = {.at_us = c->now_us + ATTACH_US / 2 + lbm_rng_below(&c->rng, ATTACH_US),
                           .kind = HAPPEN_ATTACH,
                           .host = a->host,
                           .from = application};
    happen_push(c, again);
}

/* ---- what the daemon says ------------------------------------------------------------------------------ */

void
application_tell(struct cluster *c, uint32_t host, const struct lbm_effect *effect)
{
    if (programs_tell(c, host, effect))
        return;
    for (uint32_t i = 0; i < c->applications.n; i++) {
        if (c->applications.at[i].client != effect->as.reply.client || c->applications.at[i].host != host)
            continue;
        struct happen told = {.at_us = c->now_us + 30 + lbm_rng_below(&c->rng, 50),
                              .kind = HAPPEN_TOLD,
                              .host = host,
                              .from = i,
                              .number = effect->as.reply.client,
                              .len = effect->as.reply.len};
        if (told.at_us < c->applications.at[i].told_us)
            told.at_us = c->applications.at[i].told_us;
        c->applications.at[i].told_us = told.at_us;
        told.frame = lbm_copy(effect->as.reply.frame, effect->as.reply.len, 1);
        happen_push(c, told);
        return;
    }
}

uint64_t
edge_digest(uint32_t other, uint32_t weight)
{
    return hash_number(1 + (uint64_t)other, weight);
}

static void
edges_are(struct application *a, const Lbm__Neighbours *of)
{
    size_t at = 0, next = 0;
    if (a->held.n > of->n_vertex)
        next = a->held.n - of->n_vertex; /* as if all of them had just come */
    for (size_t i = 0; i < of->n_vertex; at += of->degree[i++])
        for (size_t n = 0; n < a->held.n; n++) {
            size_t k = (next + n) % a->held.n;
            struct held *held = &a->held.at[k];
            if (held->vertex != of->vertex[i] || held->token != of->token[i])
                continue;
            held->edges = 0;
            for (size_t e = at; e < at + of->degree[i]; e++)
                held->edges += edge_digest(of->neighbour[e], of->weight[e]);
            next = k + 1;
            break;
        }
}

static void
acquire(struct cluster *c, uint32_t application, const Lbm__Acquire *acquire)
{
    struct application *a = &c->applications.at[application];
    const struct guest *guest = check_guest(&c->check, a->job);
    size_t at = 0;
    if (acquire->term != c->machine[a->host].page.term)
        return; /* as the library: it was on its way when the lease lapsed, and is void */
    for (size_t i = 0; i < acquire->n_vertex; i++) {
        uint32_t v = acquire->vertex[i];
        size_t len = acquire->n_payload_len != 0 ? acquire->payload_len[i] : 0;
        const uint8_t *payload = acquire->payload.data + at;
        at += len;
        for (size_t k = a->held.n; k-- > 0;)
            if (a->held.at[k].vertex == v)
                application_drops(c, application, k);
        struct held held = {.vertex = v,
                            .token = acquire->token[i],
                            .term = c->machine[a->host].page.term,
                            .least = guest->vertex[v].payload_kept};
        if (acquire->n_blob != 0 && acquire->blob[i] != 0) {
            payload_ask(c, application, &held, payload, len);
        } else {
            held.payload = payload_read(v, payload, len);
            payload_judge(c, application, &held);
        }
        LBM_ASSERT(lbm_vec_push(&a->held, held) == LBM_OK);
        work_begins(c, application, &held);
    }
    edges_are(a, acquire->neighbours);
}

static void
asked_to_release(struct cluster *c, uint32_t application, const Lbm__Release *release)
{
    struct application *a = &c->applications.at[application];
    for (size_t i = 0; i < release->n_vertex; i++)
        for (size_t k = 0; k < a->held.n; k++)
            if (a->held.at[k].vertex == release->vertex[i] && a->held.at[k].token == release->token[i])
                a->held.at[k].asked = 1;
    if (release->n_vertex != 0)
        trace(c, a->host, "application %" PRIu32 " is asked to release vertex %" PRIu32 " of %zu",
              application, release->vertex[0], release->n_vertex);
    int64_t takes = a->client_model == CLIENT_MODEL_SLOW ? 3000000 : 30000;
    struct happen done = {.at_us = c->now_us + 1000 + (int64_t)(lbm_rng_unit(&c->rng) * (double)takes),
                          .kind = HAPPEN_LET_GO,
                          .host = a->host,
                          .from = application};
    if (a->client_model != CLIENT_MODEL_DISOBEDIENT)
        happen_push(c, done);
}

/* Nonzero if it cannot let go just now: the library waits for an answer. */
static int
must_wait(const struct application *a)
{
    int waits = a->change != 0;
    for (size_t k = 0; k < a->held.n; k++)
        waits |= a->held.at[k].asked && a->held.at[k].read != 0;
    return waits;
}

/* What was asked for is done with: its payloads go back to the daemon. */
static void
let_go(struct cluster *c, uint32_t application)
{
    struct application *a = &c->applications.at[application];
    if (must_wait(a)) {
        struct happen later = {
            .at_us = c->now_us + 20000, .kind = HAPPEN_LET_GO, .host = a->host, .from = application};
        happen_push(c, later);
        return;
    }
    const struct guest *guest = check_guest(&c->check, a->job);
    LBM_VEC(uint32_t) vertex = {0};
    LBM_VEC(uint64_t) token = {0};
    struct parcel parcel = {0};
    for (size_t k = a->held.n; k-- > 0;) {
        struct held held = a->held.at[k];
        if (!held.asked || a->client == 0)
            continue;
        if (is_working(c, a, &held))
            held.payload = ++guest->vertex[held.vertex].payload;
        LBM_ASSERT(lbm_vec_push(&vertex, held.vertex) == LBM_OK);
        LBM_ASSERT(lbm_vec_push(&token, held.token) == LBM_OK);
        parcel_add(c, application, &parcel, held.vertex, held.payload);
        trace(c, a->host, "application %" PRIu32 " releases vertex %" PRIu32 ", token %" PRIu64, application,
              held.vertex, held.token);
        application_drops(c, application, k);
    }
    Lbm__ReleasedRequest body = LBM__RELEASED_REQUEST__INIT;
    body.n_vertex = body.n_token = body.n_payload_len = body.n_blob = vertex.n;
    body.vertex = vertex.at;
    body.token = token.at;
    body.payload_len = parcel.len.at;
    body.blob = parcel.blob.at;
    body.payload = (ProtobufCBinaryData){parcel.payload.len, (uint8_t *)parcel.payload.at};
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_RELEASED;
    request.released = &body;
    if (vertex.n != 0)
        application_asks(c, application, &request);
    lbm_vec_free(&vertex);
    lbm_vec_free(&token);
    parcel_free(&parcel);
}

/* Payloads whose keeping was promised. */
static void
kept(struct cluster *c, struct application *a)
{
    const struct guest *guest = check_guest(&c->check, a->job);
    for (size_t i = 0; i < a->sent.n; i++) {
        struct truth *truth = &guest->vertex[a->sent.at[i].vertex];
        if (!guest->deleted)
            check_promise(&c->check, a->host, truth, a->sent.at[i].vertex, a->sent.at[i].payload);
        if (a->sent.at[i].payload > truth->payload_kept)
            truth->payload_kept = a->sent.at[i].payload;
        trace(c, a->host, "payload %" PRIu64 " of vertex %" PRIu32 " of %04x is kept", a->sent.at[i].payload,
              a->sent.at[i].vertex, (unsigned)(a->job & 0xffff));
    }
}

static void
told(struct cluster *c, const struct happen *happen)
{
    struct application *a = &c->applications.at[happen->from];
    if (!a->alive || a->client != happen->number)
        return;
    Lbm__Response *response = NULL;
    struct lbm_diag diag;
    LBM_ASSERT(lbm_wire_unpack_response(happen->frame + LBM_FRAME_HEADER, happen->len - LBM_FRAME_HEADER,
                                        &response, &diag) == LBM_OK);
    if (payload_told(c, happen->from, response)) {
        judge(c);
    } else if ((a->ids != 0 && response->id == a->ids) || (a->change != 0 && response->id == a->change)) {
        refine_told(c, happen->from, response);
    } else if (a->checkpoint != 0 && response->id == a->checkpoint) {
        if (response->code == LBM_OK)
            kept(c, a);
        a->checkpoint = 0;
    } else if (!a->attached && response->code != LBM_OK) {
        application_hangs_up(c, happen->from);
    } else if (response->what_case == LBM__RESPONSE__WHAT_ACQUIRE) {
        acquire(c, happen->from, response->acquire);
    } else if (response->what_case == LBM__RESPONSE__WHAT_RELEASE) {
        asked_to_release(c, happen->from, response->release);
    } else if (response->what_case == LBM__RESPONSE__WHAT_NEIGHBOURS) {
        edges_are(a, response->neighbours);
    }
    if (a->client != 0 && response->id == ATTACH_ID)
        a->attached = 1;
    lbm__response__free_unpacked(response, NULL);
    judge(c);
}

/* ---- lives --------------------------------------------------------------------------------------------- */

static void
asked(struct cluster *c, const struct happen *happen)
{
    Lbm__Request *request = NULL;
    struct lbm_diag diag;
    if (programs_have_cut(c, happen->number))
        return;
    LBM_ASSERT(lbm_wire_unpack_request(happen->frame + LBM_FRAME_HEADER, happen->len - LBM_FRAME_HEADER,
                                       &request, &diag) == LBM_OK);
    struct lbm_event event = {.kind = LBM_EVENT_REQUEST};
    event.as.request.client = happen->number;
    event.as.request.access = LBM_ACCESS_ADMIN;
    event.as.request.request = request;
    step(c, happen->host, &event);
    lbm__request__free_unpacked(request, NULL);
}

void
happen_application(struct cluster *c, struct happen *happen)
{
    switch (happen->kind) {
    case HAPPEN_ASKED:
        asked(c, happen);
        break;
    case HAPPEN_TOLD:
        told(c, happen);
        break;
    case HAPPEN_LET_GO:
        let_go(c, happen->from);
        break;
    case HAPPEN_ATTACH:
        application_looks(c, happen->from);
        break;
    default: {
        struct lbm_event event = {.kind = happen->kind == HAPPEN_READ ? LBM_EVENT_CLIENT_READ
                                                                      : LBM_EVENT_CLIENT_GONE};
        event.as.client = happen->number;
        step(c, happen->host, &event);
        break;
    }
    }
}
