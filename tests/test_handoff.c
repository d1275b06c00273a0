/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One node alone, driven by hand: what it stores and sends, in order, at every row of the handoff
 * (docs/protocol.md). The traces read as
 *     1000 ms  #4 own 7 e2            transaction 4 asked for: record of vertex 7
 *     1000 ms  ack 7 e2 to 1 >4       sent once transaction 4 is durable
 *     1000 ms  copy 7 e2 to 1 >4      the record goes to the buddy
 * Host 1 is the buddy too. It answers at once, unless the test lets it be silent. */
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
#include "node/node.h"

enum { CLUSTER = 77, JOB = 9, SELF = 0, OTHER = 1, SECOND = 1000000 };

struct bench {
    struct lbm_node *node;
    struct lbm_recovered *disk; /* until started */
    int64_t now_us;
    struct lbm_buf trace;
    int buddy_is_silent;
    uint64_t asked_us, generation, seq; /* what the buddy was asked and sent, not answered yet; 0: nothing */
    uint64_t held;                      /* what it has answered */
};

/* ---- the trace: only what handoffs are about ----------------------------------------------------------- */

static void
trace_rows(struct bench *b, const struct lbm_persist *persist)
{
    for (size_t i = 0; i < persist->ops.n; i++) {
        const struct lbm_persist_op *op = &persist->ops.at[i];
        if (op->kind == LBM_PERSIST_ROW)
            lbm_buf_printf(&b->trace, "%" PRId64 " ms  #%" PRIu64 " %s %" PRIu32 " e%" PRIu64 "\n",
                           b->now_us / 1000, persist->id, lbm_stage_name(op->as.row.stage), op->as.row.vertex,
                           op->as.row.epoch);
    }
}

static void
trace_send(struct bench *b, const struct lbm_effect *effect)
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
    if (message->body_case == LBM__PEER__BODY_REPL)
        b->seq = message->repl->seq;
    if (message->body_case == LBM__PEER__BODY_LEASE_REQ) {
        b->asked_us = message->lease_req->sent_us;
        b->generation = message->lease_req->generation;
    }
    if (what != NULL)
        lbm_buf_printf(&b->trace, "%" PRId64 " ms  %s %" PRIu32 " e%" PRIu64 " to %" PRIu32 " >%" PRIu64 "\n",
                       b->now_us / 1000, what, vertex, epoch, effect->as.send.host, effect->after);
    lbm__peer__free_unpacked(message, NULL);
}

static void buddy_answers(struct bench *b);

static void
step(struct bench *b, struct lbm_event *event)
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
    if (!b->buddy_is_silent)
        buddy_answers(b);
}

static void
expect_trace(struct bench *b, const char *expected)
{
    assert_string_equal(b->trace.at != NULL ? b->trace.at : "", expected);
    lbm_buf_free(&b->trace);
}

/* ---- time ---------------------------------------------------------------------------------------------- */

static void
pass(struct bench *b, int64_t us)
{
    int64_t end = b->now_us + us;
    for (int64_t when = lbm_node_deadline(b->node); when <= end; when = lbm_node_deadline(b->node)) {
        b->now_us = when > b->now_us ? when : b->now_us + 1;
        step(b, &(struct lbm_event){.kind = LBM_EVENT_TIMER});
    }
    b->now_us = end;
}

/* ---- what a disk held ---------------------------------------------------------------------------------- */

static void
keep_command(struct bench *b, const Lbm__Command *command)
{
    struct lbm_recovered_entry entry = {.index = b->disk->log.n + 1,
                                        .len = lbm__command__get_packed_size(command)};
    entry.command = lbm_alloc(entry.len, 1);
    lbm__command__pack(command, entry.command);
    assert_int_equal(lbm_vec_push(&b->disk->log, entry), LBM_OK);
}

static void
keep_member(struct bench *b, uint32_t host)
{
    char name[8], address[] = "127.0.0.1:7000";
    uint32_t link = 1 - host, cost = 1;
    double site[2] = {0.25 + 0.5 * host, 0.5};
    snprintf(name, sizeof name, "h%" PRIu32, host);
    Lbm__Join join = LBM__JOIN__INIT;
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

/* Host 0 of two, founder, with the log of both and of a job of ten vertices whose home is host 1. */
static void
prepare(struct bench *b)
{
    *b = (struct bench){.now_us = SECOND, .disk = lbm_alloc(1, sizeof *b->disk)};
    b->disk->known = 1;
    b->disk->host = SELF;
    b->disk->incarnation = 1;
    char name[] = "test", job_name[] = "job";
    Lbm__Found found = LBM__FOUND__INIT;
    found.cluster = CLUSTER;
    found.name = name;
    found.founder = SELF;
    found.dimensions = 2;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_FOUND;
    command.found = &found;
    keep_command(b, &command);
    keep_member(b, SELF);
    keep_member(b, OTHER);
    Lbm__JobCreate create = LBM__JOB_CREATE__INIT;
    create.job = JOB;
    create.name = job_name;
    create.home = OTHER;
    create.vertices = 10;
    create.work = 10;
    create.imbalance = 0.03;
    command.what_case = LBM__COMMAND__WHAT_JOB_CREATE;
    command.job_create = &create;
    keep_command(b, &command);
    struct lbm_recovered_job job = {.job = JOB, .state = LBM_JOB_SUBMITTED};
    assert_int_equal(lbm_vec_push(&b->disk->jobs, job), LBM_OK);
}

static void
keep_row(struct bench *b, uint32_t vertex, uint64_t epoch, enum lbm_stage stage, uint32_t peer)
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

static void
start(struct bench *b, uint32_t vertices_max)
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
                                     .founder = 1,
                                     .cluster_name = "test",
                                     .vertices_max = vertices_max,
                                     .seed = 1,
                                     .version = "test"};
    struct lbm_diag diag;
    assert_int_equal(lbm_node_new(&config, &b->node, &diag), LBM_OK);
    struct lbm_event event = {.kind = LBM_EVENT_START};
    event.as.recovered = b->disk;
    step(b, &event);
    lbm_recovered_free(b->disk);
    b->disk = NULL;
}

static void
stop(struct bench *b)
{
    lbm_node_free(b->node);
    lbm_buf_free(&b->trace);
}

/* ---- messages ------------------------------------------------------------------------------------------ */

static Lbm__Peer
envelope(void)
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

static void
hear(struct bench *b, const Lbm__Peer *message)
{
    struct lbm_event event = {.kind = LBM_EVENT_MESSAGE};
    event.as.received.message = message;
    event.as.received.bytes = 100;
    step(b, &event);
}

/* The buddy holds all it was sent, and grants what it was asked for. */
static void
buddy_answers(struct bench *b)
{
    Lbm__Peer message = envelope();
    if (b->asked_us != 0) {
        Lbm__Lease lease = LBM__LEASE__INIT;
        lease.sent_us = b->asked_us;
        lease.generation = b->generation;
        lease.seq = b->held;
        lease.lease_us = 8 * SECOND;
        message.body_case = LBM__PEER__BODY_LEASE;
        message.lease = &lease;
        b->asked_us = 0;
        hear(b, &message);
    }
    if (b->seq != 0) {
        Lbm__ReplAck ack = LBM__REPL_ACK__INIT;
        ack.generation = b->generation;
        ack.seq = b->held = b->seq;
        message.body_case = LBM__PEER__BODY_REPL_ACK;
        message.repl_ack = &ack;
        b->seq = 0;
        hear(b, &message);
    }
}

static void
hear_offer_as(struct bench *b, Lbm__Peer message, uint64_t job, uint32_t vertex, uint64_t epoch)
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
    Lbm__Offer offer = LBM__OFFER__INIT;
    offer.job = job;
    offer.records = &records;
    message.body_case = LBM__PEER__BODY_OFFER;
    message.offer = &offer;
    hear(b, &message);
}

static void
hear_offer(struct bench *b, uint32_t vertex, uint64_t epoch)
{
    hear_offer_as(b, envelope(), JOB, vertex, epoch);
}

static void
hear_answer(struct bench *b, uint32_t vertex, uint64_t epoch, uint32_t refused)
{
    Lbm__Answer answer = LBM__ANSWER__INIT;
    answer.job = JOB;
    answer.n_vertex = answer.n_epoch = answer.n_refused = 1;
    answer.vertex = &vertex;
    answer.epoch = &epoch;
    answer.refused = &refused;
    Lbm__Peer message = envelope();
    message.body_case = LBM__PEER__BODY_ANSWER;
    message.answer = &answer;
    hear(b, &message);
}

/* ---- the target's side --------------------------------------------------------------------------------- */

static void
an_offer_is_stored_before_it_is_acknowledged(void **state)
{
    (void)state;
    struct bench b;
    prepare(&b);
    start(&b, 0);
    hear_offer(&b, 7, 2);
    expect_trace(&b, "1000 ms  #1 own 7 e2\n"
                     "1000 ms  copy 7 e2 to 1 >1\n"
                     "1000 ms  ack 7 e2 to 1 >1\n");
    stop(&b);
}

static void
a_repeated_offer_is_answered_from_the_record(void **state)
{
    (void)state;
    struct bench b;
    prepare(&b);
    keep_row(&b, 1, 4, LBM_STAGE_OWN, LBM_NONE);
    keep_row(&b, 2, 4, LBM_STAGE_MOV, OTHER);
    keep_row(&b, 3, 4, LBM_STAGE_REF, OTHER);
    start(&b, 0);
    hear_offer(&b, 1, 4);
    hear_offer(&b, 2, 4); /* accepted then, passed on since */
    hear_offer(&b, 2, 3);
    hear_offer(&b, 3, 4);
    hear_offer(&b, 3, 2); /* refused later than this one */
    expect_trace(&b, "1000 ms  copy 1 e4 to 1 >0\n"
                     "1000 ms  fin 2 e5 to 1 >0\n"
                     "1000 ms  ack 1 e4 to 1 >0\n"
                     "1000 ms  ack 2 e4 to 1 >0\n"
                     "1000 ms  ack 2 e3 to 1 >0\n"
                     "1000 ms  refuse 3 e4 to 1 >0\n"
                     "1000 ms  ack 3 e2 to 1 >0\n");
    hear_offer(&b, 3, 6); /* after the refusal its owner went on at e5 */
    expect_trace(&b, "1000 ms  #1 own 3 e6\n"
                     "1000 ms  copy 3 e6 to 1 >1\n"
                     "1000 ms  ack 3 e6 to 1 >1\n");
    stop(&b);
}

static void
a_full_host_stores_its_refusal_first(void **state)
{
    (void)state;
    struct bench b;
    prepare(&b);
    keep_row(&b, 1, 4, LBM_STAGE_OWN, LBM_NONE);
    start(&b, 1);
    hear_offer(&b, 7, 2);
    hear_offer(&b, 7, 2);
    expect_trace(&b, "1000 ms  copy 1 e4 to 1 >0\n"
                     "1000 ms  #1 refused 7 e2\n"
                     "1000 ms  copy 7 e2 to 1 >1\n"
                     "1000 ms  refuse 7 e2 to 1 >1\n"
                     "1000 ms  refuse 7 e2 to 1 >1\n");
    stop(&b);
}

/* ---- the source's side --------------------------------------------------------------------------------- */

/* The plan wants it elsewhere; the home says that vertices may go. */
static void
a_vertex_is_out_on_disk_before_it_is_offered(void **state)
{
    (void)state;
    struct bench b;
    prepare(&b);
    keep_row(&b, 4, 3, LBM_STAGE_OWN, LBM_NONE);
    keep_row(&b, 5, 3, LBM_STAGE_OWN, LBM_NONE);
    b.disk->rows.at[1].peer = OTHER;
    start(&b, 0);
    Lbm__JobPulse pulse = LBM__JOB_PULSE__INIT, *pulses = &pulse;
    pulse.job = JOB;
    pulse.phase = LBM_PHASE_MAPPING;
    Lbm__Ping ping = LBM__PING__INIT;
    ping.n_jobs = 1;
    ping.jobs = &pulses;
    Lbm__Peer message = envelope();
    message.body_case = LBM__PEER__BODY_PING;
    message.ping = &ping;
    hear(&b, &message);
    pass(&b, SECOND / 2);
    expect_trace(&b, "1000 ms  copy 4 e3 to 1 >0\n"
                     "1000 ms  #1 out 5 e3\n"
                     "1000 ms  copy 5 e3 to 1 >1\n"
                     "1000 ms  offer 5 e4 to 1 >1\n");
    stop(&b);
}

static void
what_was_out_is_offered_again_after_a_restart_until_answered(void **state)
{
    (void)state;
    struct bench b;
    prepare(&b);
    keep_row(&b, 5, 3, LBM_STAGE_OUT, OTHER);
    start(&b, 0);
    pass(&b, 2 * SECOND + SECOND / 2);
    expect_trace(&b, "1000 ms  copy 5 e3 to 1 >0\n"
                     "1000 ms  offer 5 e4 to 1 >0\n"
                     "2000 ms  offer 5 e4 to 1 >0\n"
                     "3000 ms  offer 5 e4 to 1 >0\n");
    hear_answer(&b, 5, 4, 0);
    expect_trace(&b, "3500 ms  #1 moved 5 e3\n"
                     "3500 ms  copy 5 e3 to 1 >1\n"
                     "3500 ms  fin 5 e4 to 1 >1\n");
    pass(&b, 5 * SECOND);
    expect_trace(&b, "");
    hear_answer(&b, 5, 4, 0); /* it missed our FIN */
    expect_trace(&b, "8500 ms  fin 5 e4 to 1 >2\n");
    stop(&b);
}

static void
a_refused_vertex_is_owned_again_two_epochs_later(void **state)
{
    (void)state;
    struct bench b;
    prepare(&b);
    keep_row(&b, 5, 3, LBM_STAGE_OUT, OTHER);
    start(&b, 0);
    lbm_buf_free(&b.trace);
    hear_answer(&b, 5, 4, 1);
    expect_trace(&b, "1000 ms  #1 own 5 e5\n"
                     "1000 ms  copy 5 e5 to 1 >1\n"
                     "1000 ms  fin 5 e4 to 1 >1\n");
    hear_answer(&b, 5, 4, 1); /* repeated, and an acknowledgement that contradicts it */
    hear_answer(&b, 5, 4, 0);
    pass(&b, 3 * SECOND);
    expect_trace(&b, "1000 ms  fin 5 e4 to 1 >1\n"
                     "1000 ms  fin 5 e4 to 1 >1\n");
    stop(&b);
}

static void
an_answer_to_another_offer_changes_nothing(void **state)
{
    (void)state;
    struct bench b;
    prepare(&b);
    keep_row(&b, 5, 3, LBM_STAGE_OUT, OTHER);
    keep_row(&b, 6, 3, LBM_STAGE_OWN, LBM_NONE);
    start(&b, 0);
    lbm_buf_free(&b.trace);
    hear_answer(&b, 5, 3, 0);
    hear_answer(&b, 5, 5, 0);
    hear_answer(&b, 6, 4, 0); /* never offered */
    hear_answer(&b, 9, 2, 0); /* never here */
    expect_trace(&b, "1000 ms  fin 5 e3 to 1 >0\n"
                     "1000 ms  fin 9 e2 to 1 >0\n");
    stop(&b);
}

/* ---- where vertices are ---------------------------------------------------------------------------------
 */

/* Somebody has changed the edge from `vertex` to `toward`. */
static void
hear_edge(struct bench *b, uint32_t vertex, uint32_t toward)
{
    uint32_t weight = 1;
    uint64_t first = 1;
    Lbm__Edges edges = LBM__EDGES__INIT;
    edges.job = JOB;
    edges.n_vertex = edges.n_toward = edges.n_weight = edges.n_epoch = edges.n_stamp = 1;
    edges.vertex = &vertex;
    edges.toward = &toward;
    edges.weight = &weight;
    edges.epoch = edges.stamp = &first;
    Lbm__Peer message = envelope();
    message.body_case = LBM__PEER__BODY_EDGES;
    message.edges = &edges;
    hear(b, &message);
}

/* What was inherited says of vertex 8 that another gave it to this host, which gave it on long ago. */
static void
who_gave_a_vertex_away_says_where_to_but_never_itself(void **state)
{
    (void)state;
    struct bench b;
    prepare(&b);
    keep_row(&b, 7, 1, LBM_STAGE_MOV, OTHER);
    keep_row(&b, 8, 1, LBM_STAGE_MOV, SELF);
    start(&b, 0);
    hear_edge(&b, 3, 7);
    hear_edge(&b, 3, 8);
    expect_trace(&b, "1000 ms  copy 7 e1 to 1 >0\n"
                     "1000 ms  fin 7 e2 to 1 >0\n"
                     "1000 ms  moved 7 e2 to 1 >0\n"
                     "1000 ms  unknown 8 e0 to 1 >0\n");
    stop(&b);
}

/* ---- strangers ----------------------------------------------------------------------------------------- */

static void
what_is_meant_for_others_is_dropped(void **state)
{
    (void)state;
    struct bench b;
    prepare(&b);
    start(&b, 0);
    Lbm__Peer wrong[6];
    for (int i = 0; i < 6; i++)
        wrong[i] = envelope();
    wrong[0].cluster = CLUSTER + 1;
    wrong[1].dst = OTHER;
    wrong[2].dst_incarnation = 2;
    wrong[3].src_incarnation = 0;
    wrong[4].src = 5; /* no member */
    wrong[5].src = SELF;
    for (int i = 0; i < 6; i++)
        hear_offer_as(&b, wrong[i], JOB, 7, 2);
    hear_offer_as(&b, envelope(), JOB + 1, 7, 2); /* a job this host has not heard of */
    hear_offer_as(&b, envelope(), JOB, 10, 2);    /* a vertex the guest does not have */
    hear_offer_as(&b, envelope(), JOB, 7, 1);     /* an epoch no offer can have */
    expect_trace(&b, "");
    hear_offer(&b, 7, 2);
    expect_trace(&b, "1000 ms  #1 own 7 e2\n"
                     "1000 ms  copy 7 e2 to 1 >1\n"
                     "1000 ms  ack 7 e2 to 1 >1\n");
    stop(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_offer_is_stored_before_it_is_acknowledged),
        cmocka_unit_test(a_repeated_offer_is_answered_from_the_record),
        cmocka_unit_test(a_full_host_stores_its_refusal_first),
        cmocka_unit_test(a_vertex_is_out_on_disk_before_it_is_offered),
        cmocka_unit_test(what_was_out_is_offered_again_after_a_restart_until_answered),
        cmocka_unit_test(a_refused_vertex_is_owned_again_two_epochs_later),
        cmocka_unit_test(an_answer_to_another_offer_changes_nothing),
        cmocka_unit_test(who_gave_a_vertex_away_says_where_to_but_never_itself),
        cmocka_unit_test(what_is_meant_for_others_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
