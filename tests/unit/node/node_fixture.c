/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/unit/node/node_fixture.h"

/* ---- the trace: only what handoffs are about ----------------------------------------------------------- */

static void
trace_rows(struct alone *b, const struct lbm_persist *persist)
{
    for (size_t i = 0; i < persist->ops.n; i++) {
        const struct lbm_persist_op *op = &persist->ops.at[i];
        if (op->kind == LBM_PERSIST_ROW)
            lbm_buf_printf(&b->trace, "%" PRId64 " ms  #%" PRIu64 " %s %" PRIu32 " e%" PRIu64 "\n",
                           b->now_us / 1000, persist->id, lbm_stage_name(op->as.row.stage), op->as.row.vertex,
                           op->as.row.epoch);
        else if (op->kind == LBM_PERSIST_BLOB_PIECE)
            lbm_buf_printf(&b->trace, "%" PRId64 " ms  #%" PRIu64 " piece %" PRIu32 "\n", b->now_us / 1000,
                           persist->id, op->as.blob.piece);
        else if (op->kind == LBM_PERSIST_BLOB_DELETE)
            lbm_buf_printf(&b->trace, "%" PRId64 " ms  #%" PRIu64 " no piece\n", b->now_us / 1000,
                           persist->id);
    }
}

static void
trace_send(struct alone *b, const struct lbm_effect *effect)
{
    Lbm__Peer *message = NULL;
    struct lbm_diag diag;
    assert_int_equal(lbm_wire_unpack_peer(effect->as.send.frame + LBM_FRAME_HEADER,
                                          effect->as.send.len - LBM_FRAME_HEADER, &message, &diag),
                     LBM_OK);
    const char *what = NULL;
    uint32_t vertex = 0;
    uint64_t epoch = 0;
    if (message->body_case == LBM__PEER__BODY_OFFER) {
        what = "offer";
        vertex = message->offer->records->vertex[0];
        epoch = message->offer->records->epoch[0];
    } else if (message->body_case == LBM__PEER__BODY_ANSWER) {
        what = message->answer->refused[0] ? "refuse" : "ack";
        vertex = message->answer->vertex[0];
        epoch = message->answer->epoch[0];
    } else if (message->body_case == LBM__PEER__BODY_FIN) {
        what = "fin";
        vertex = message->fin->vertex[0];
        epoch = message->fin->epoch[0];
    } else if (message->body_case == LBM__PEER__BODY_MOVED) {
        what = message->moved->host[0] == LBM_NONE ? "unknown" : "moved";
        vertex = message->moved->vertex[0];
        epoch = message->moved->epoch[0];
    } else if (message->body_case == LBM__PEER__BODY_REPL && message->repl->records != NULL) {
        what = "copy";
        vertex = message->repl->records->vertex[0];
        epoch = message->repl->records->epoch[0];
    }
    if (message->body_case == LBM__PEER__BODY_BLOB_GET)
        lbm_buf_printf(&b->trace, "%" PRId64 " ms  get %" PRIu32 " pieces from %" PRIu32 " of %" PRIu32 "\n",
                       b->now_us / 1000, message->blob_get->count, message->blob_get->first,
                       effect->as.send.host);
    if (message->body_case == LBM__PEER__BODY_BLOB_HAVE)
        lbm_buf_printf(&b->trace, "%" PRId64 " ms  have to %" PRIu32 " >%" PRIu64 "\n", b->now_us / 1000,
                       effect->as.send.host, effect->after);
    if (message->body_case == LBM__PEER__BODY_BLOB_PIECE)
        lbm_buf_printf(&b->trace, "%" PRId64 " ms  piece %" PRIu32 " of %zu bytes to %" PRIu32 "\n",
                       b->now_us / 1000, message->blob_piece->piece, message->blob_piece->data.len,
                       effect->as.send.host);
    if (message->body_case == LBM__PEER__BODY_OFFER_CHECK)
        b->check = message->offer_check->id;
    for (size_t i = 0; message->body_case == LBM__PEER__BODY_EDGES_DONE && i < message->edges_done->n_vertex;
         i++)
        lbm_buf_printf(&b->trace, "%" PRId64 " ms  edge %" PRIu32 " to %" PRIu32 " is known >%" PRIu64 "\n",
                       b->now_us / 1000, message->edges_done->vertex[i], message->edges_done->toward[i],
                       effect->after);
    if (message->body_case == LBM__PEER__BODY_REPL)
        b->seq = message->repl->seq;
    if (message->body_case == LBM__PEER__BODY_LEASE_REQ) {
        b->asked_us = message->lease_req->sent_us;
        b->repl_epoch = message->lease_req->repl_epoch;
    }
    if (message->body_case == LBM__PEER__BODY_PAIR_OPEN)
        b->sweep = message->pair_open->sweep;
    if (message->body_case == LBM__PEER__BODY_SUMS)
        b->stage = message->sums->stage;
    if (message->body_case == LBM__PEER__BODY_PING && message->ping->n_jobs != 0)
        b->phase = (enum lbm_phase)message->ping->jobs[0]->phase;
    if (what != NULL)
        lbm_buf_printf(&b->trace, "%" PRId64 " ms  %s %" PRIu32 " e%" PRIu64 " to %" PRIu32 " >%" PRIu64 "\n",
                       b->now_us / 1000, what, vertex, epoch, effect->as.send.host, effect->after);
    lbm__peer__free_unpacked(message, NULL);
}

static void backup_answers(struct alone *b);

static void
alone_step(struct alone *b, struct lbm_event *event)
{
    struct lbm_effects effects = {0};
    event->now_us = b->now_us;
    assert_int_equal(lbm_node_step(b->node, event, &effects), LBM_OK);
    for (size_t i = 0; i < effects.list.n; i++) {
        struct lbm_effect *effect = &effects.list.at[i];
        if (effect->kind == LBM_EFFECT_PERSIST)
            trace_rows(b, effect->as.persist);
        else if (effect->kind == LBM_EFFECT_SEND)
            trace_send(b, effect);
    }
    lbm_effects_clear(&effects);
    if (!b->backup_is_unreachable)
        backup_answers(b);
}

void
alone_expect(struct alone *b, const char *expected)
{
    assert_string_equal(b->trace.at != NULL ? b->trace.at : "", expected);
    lbm_buf_free(&b->trace);
}

/* ---- time ---------------------------------------------------------------------------------------------- */

void
alone_behind(struct alone *b, int is_behind)
{
    alone_step(b, &(struct lbm_event){.kind = LBM_EVENT_PEER_BEHIND, .as.behind = {OTHER, is_behind}});
}

void
alone_pass(struct alone *b, int64_t us)
{
    int64_t end = b->now_us + us;
    for (int64_t when = lbm_node_deadline(b->node); when <= end; when = lbm_node_deadline(b->node)) {
        b->now_us = when > b->now_us ? when : b->now_us + 1;
        alone_step(b, &(struct lbm_event){.kind = LBM_EVENT_TIMER});
    }
    b->now_us = end;
}

/* ---- what a disk held ---------------------------------------------------------------------------------- */

static void
keep_command(struct alone *b, const Lbm__Command *command)
{
    struct lbm_recovered_entry entry = {.index = b->disk->log.n + 1,
                                        .len = lbm__command__get_packed_size(command)};
    entry.command = lbm_alloc(entry.len, 1);
    lbm__command__pack(command, entry.command);
    assert_int_equal(lbm_vec_push(&b->disk->log, entry), LBM_OK);
}

static void
keep_member(struct alone *b, uint32_t host)
{
    char name[8], address[] = "127.0.0.1:7000";
    uint32_t link = 1 - host, cost = 1;
    double site[2] = {0.25 + 0.5 * host, 0.5};
    snprintf(name, sizeof name, "h%" PRIu32, host);
    Lbm__Join join = LBM__JOIN__INIT;
    join.protocol = LBM_PROTOCOL_MOST;
    join.host = host;
    join.incarnation = 1;
    join.name = name;
    join.address = address;
    join.capacity = 1;
    join.n_link_host = join.n_link_cost = 1;
    join.link_host = &link;
    join.link_cost = &cost;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOIN;
    command.join = &join;
    keep_command(b, &command);
    Lbm__Activate activate = LBM__ACTIVATE__INIT;
    activate.host = host;
    activate.incarnation = 1;
    activate.n_site = 2;
    activate.site = site;
    command.what_case = LBM__COMMAND__WHAT_ACTIVATE;
    command.activate = &activate;
    keep_command(b, &command);
}

void
alone_prepare_job(struct alone *b, struct alone_job as)
{
    *b = (struct alone){.now_us = SECOND, .disk = lbm_alloc(1, sizeof *b->disk)};
    b->disk->known = 1;
    b->disk->host = SELF;
    b->disk->incarnation = 1;
    char name[] = "test", job_name[] = "job";
    Lbm__Found found = LBM__FOUND__INIT;
    found.cluster = CLUSTER;
    found.name = name;
    found.leader = SELF;
    found.dimensions = 2;
    found.protocol = LBM_PROTOCOL_MOST;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_FOUND;
    command.found = &found;
    keep_command(b, &command);
    keep_member(b, SELF);
    keep_member(b, OTHER);
    Lbm__JobCreate create = LBM__JOB_CREATE__INIT;
    create.job = JOB;
    create.name = job_name;
    create.coordinator = OTHER;
    create.vertices = as.vertices;
    create.work = as.vertices;
    create.imbalance = as.imbalance;
    create.start = as.start;
    command.what_case = LBM__COMMAND__WHAT_JOB_CREATE;
    command.job_create = &create;
    keep_command(b, &command);
    struct lbm_recovered_job job = {.job = JOB, .state = LBM_JOB_SUBMITTED};
    assert_int_equal(lbm_vec_push(&b->disk->jobs, job), LBM_OK);
}

void
alone_prepare(struct alone *b)
{
    alone_prepare_job(b, (struct alone_job){10, 0.03, LBM_START_PLAN});
}

void
alone_keep_row(struct alone *b, uint32_t vertex, uint64_t epoch, enum lbm_stage stage, uint32_t peer)
{
    struct lbm_row row = {.job = JOB,
                          .vertex = vertex,
                          .epoch = epoch,
                          .stage = stage,
                          .peer = peer,
                          .peer_incarnation = 1,
                          .work = 1,
                          .pin = LBM_NONE,
                          .seq = ++b->disk->seq,
                          .source = LBM_NONE,
                          .fin = 1};
    assert_int_equal(lbm_vec_push(&b->disk->rows, row), LBM_OK);
}

void
alone_start(struct alone *b, uint32_t vertices_max)
{
    static const struct lbm_node_link link = {OTHER, 1};
    static const double site[2] = {0.25, 0.5};
    struct lbm_node_config config = {.host = SELF,
                                     .name = "h0",
                                     .address = "127.0.0.1:7000",
                                     .capacity = 1,
                                     .links = &link,
                                     .n_links = 1,
                                     .m = 2,
                                     .site = site,
                                     .leader = 1,
                                     .cluster_name = "test",
                                     .vertices_max = vertices_max,
                                     .seed = 1,
                                     .version = "test"};
    struct lbm_diag diag;
    assert_int_equal(lbm_node_new(&config, &b->node, &diag), LBM_OK);
    struct lbm_event event = {.kind = LBM_EVENT_START};
    event.as.recovered = b->disk;
    alone_step(b, &event);
    lbm_recovered_free(b->disk);
    b->disk = NULL;
}

void
alone_stop(struct alone *b)
{
    lbm_node_free(b->node);
    lbm_buf_free(&b->trace);
}

/* ---- messages ------------------------------------------------------------------------------------------ */

Lbm__Peer
alone_envelope(void)
{
    Lbm__Peer message = LBM__PEER__INIT;
    message.cluster = CLUSTER;
    message.src = OTHER;
    message.src_incarnation = 1;
    message.dst = SELF;
    message.dst_incarnation = 1;
    message.view = 6;
    return message;
}

void
alone_hear(struct alone *b, const Lbm__Peer *message)
{
    struct lbm_event event = {.kind = LBM_EVENT_MESSAGE};
    event.as.received.message = message;
    event.as.received.bytes = 100;
    alone_step(b, &event);
}

/* The backup holds all it was sent, and grants what it was asked for. */
static void
backup_answers(struct alone *b)
{
    Lbm__Peer message = alone_envelope();
    if (b->asked_us != 0) {
        Lbm__Lease lease = LBM__LEASE__INIT;
        lease.sent_us = b->asked_us;
        lease.repl_epoch = b->repl_epoch;
        lease.seq = b->held;
        lease.lease_us = 8 * SECOND;
        message.body_case = LBM__PEER__BODY_LEASE;
        message.lease = &lease;
        b->asked_us = 0;
        alone_hear(b, &message);
    }
    if (b->check != 0) {
        Lbm__OfferClaims claims = LBM__OFFER_CLAIMS__INIT;
        claims.id = b->check;
        claims.of = OTHER;
        claims.of_incarnation = 1;
        message.body_case = LBM__PEER__BODY_OFFER_CLAIMS;
        message.offer_claims = &claims;
        b->check = 0;
        alone_hear(b, &message);
    }
    if (b->seq != 0) {
        uint64_t seq = b->seq;
        b->seq = 0;
        alone_hear_acked(b, seq);
    }
}

static void
hear_offer(struct alone *b, Lbm__Peer message, uint64_t job, uint32_t vertex, uint64_t epoch,
           const uint8_t *payload, uint32_t len)
{
    uint32_t work = 1, pin = LBM_NONE, anchored = 0, degree = 0;
    double position[2] = {0, 0};
    Lbm__Records records = LBM__RECORDS__INIT;
    records.n_vertex = records.n_epoch = records.n_work = records.n_pin = records.n_anchored = 1;
    records.n_degree = 1;
    records.n_position = 2;
    records.vertex = &vertex;
    records.epoch = &epoch;
    records.work = &work;
    records.pin = &pin;
    records.anchored = &anchored;
    records.position = position;
    records.degree = &degree;
    uint32_t blob = 1;
    records.n_payload_len = records.n_blob = payload != NULL;
    records.payload_len = &len;
    records.blob = &blob;
    records.payload = (ProtobufCBinaryData){len, (uint8_t *)payload};
    Lbm__Offer offer = LBM__OFFER__INIT;
    offer.job = job;
    offer.records = &records;
    message.body_case = LBM__PEER__BODY_OFFER;
    message.offer = &offer;
    alone_hear(b, &message);
}

void
alone_hear_offer_as(struct alone *b, Lbm__Peer message, uint64_t job, uint32_t vertex, uint64_t epoch)
{
    hear_offer(b, message, job, vertex, epoch, NULL, 0);
}

void
alone_hear_offer_of_blob(struct alone *b, uint32_t vertex, uint64_t epoch, const uint8_t *words, uint32_t len)
{
    hear_offer(b, alone_envelope(), JOB, vertex, epoch, words, len);
}

void
alone_hear_offer(struct alone *b, uint32_t vertex, uint64_t epoch)
{
    alone_hear_offer_as(b, alone_envelope(), JOB, vertex, epoch);
}

void
alone_hear_answer(struct alone *b, uint32_t vertex, uint64_t epoch, uint32_t refused)
{
    Lbm__Answer answer = LBM__ANSWER__INIT;
    answer.job = JOB;
    answer.n_vertex = answer.n_epoch = answer.n_refused = 1;
    answer.vertex = &vertex;
    answer.epoch = &epoch;
    answer.refused = &refused;
    Lbm__Peer message = alone_envelope();
    message.body_case = LBM__PEER__BODY_ANSWER;
    message.answer = &answer;
    alone_hear(b, &message);
}

void
alone_hear_acked(struct alone *b, uint64_t seq)
{
    Lbm__ReplAck ack = LBM__REPL_ACK__INIT;
    ack.repl_epoch = b->repl_epoch;
    ack.seq = b->held = seq;
    Lbm__Peer message = alone_envelope();
    message.body_case = LBM__PEER__BODY_REPL_ACK;
    message.repl_ack = &ack;
    alone_hear(b, &message);
}

void
alone_hear_edges(struct alone *b, size_t n, uint32_t *vertex, uint32_t *toward)
{
    uint32_t weight[] = {1, 1, 1, 1};
    uint64_t epoch[] = {1, 1, 1, 1}, stamp[] = {1, 1, 1, 1};
    assert_true(n <= sizeof weight / sizeof *weight);
    Lbm__Edges edges = LBM__EDGES__INIT;
    edges.job = JOB;
    edges.n_vertex = edges.n_toward = edges.n_weight = edges.n_epoch = edges.n_stamp = n;
    edges.vertex = vertex;
    edges.toward = toward;
    edges.weight = weight;
    edges.epoch = epoch;
    edges.stamp = stamp;
    Lbm__Peer message = alone_envelope();
    message.body_case = LBM__PEER__BODY_EDGES;
    message.edges = &edges;
    alone_hear(b, &message);
}

void
alone_hear_phase(struct alone *b, enum lbm_phase phase)
{
    Lbm__LoadReport load_report = LBM__LOAD_REPORT__INIT, *load_reports = &load_report;
    load_report.job = JOB;
    load_report.phase = phase;
    Lbm__Ping ping = LBM__PING__INIT;
    ping.n_jobs = 1;
    ping.jobs = &load_reports;
    Lbm__Peer message = alone_envelope();
    message.body_case = LBM__PEER__BODY_PING;
    message.ping = &ping;
    alone_hear(b, &message);
}
