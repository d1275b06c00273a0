/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The control log in virtual time: promotion, fencing, divergence, snapshots, the external engine. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/model/cluster.h"
#include "tests/unit/node/cluster_fixture.h"

enum { SECOND = 1000000, HELD = 10 * SECOND /* entries that do not concern a host */ };

/* ---- clusters ------------------------------------------------------------------------------------------ */

static struct cluster *
cluster_that_holds(const char *spec, enum lbm_log_engine engine, uint32_t late, uint32_t hold_members,
                   struct lbm_hosts *h)
{
    const struct cluster_options options = {.seed = 4,
                                            .large_members = hold_members,
                                            .delay_least_us = 100,
                                            .delay_most_us = 300,
                                            .sync_us = 2000,
                                            .limited_host = LBM_NONE,
                                            .evict_share = 100,
                                            .engine = engine,
                                            .late = late};
    struct lbm_diag diag;
    assert_int_equal(lbm_hosts_generate(spec, h, &diag), LBM_OK);
    struct cluster *cluster = cluster_new(h, &options);
    cluster_run(cluster, 20 * SECOND, NULL, NULL);
    return cluster;
}

static struct cluster *
cluster_of(const char *spec, enum lbm_log_engine engine, uint32_t late, struct lbm_hosts *h)
{
    return cluster_that_holds(spec, engine, late, 0, h);
}

static const Lbm__StatusReply *
status_of(struct cluster *cluster, uint32_t host)
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_STATUS;
    request.status = &empty;
    const Lbm__Response *response = cluster_ask(cluster, host, 0, &request);
    assert_non_null(response);
    return response->status;
}

static enum lbm_err
promote(struct cluster *cluster, uint32_t host, uint32_t uid, int force)
{
    Lbm__PromoteRequest promote = LBM__PROMOTE_REQUEST__INIT;
    promote.force = (uint32_t)force;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_PROMOTE;
    request.promote = &promote;
    const Lbm__Response *response = cluster_ask(cluster, host, uid, &request);
    assert_non_null(response);
    return (enum lbm_err)response->code;
}

static void
expect_same_views(struct cluster *cluster, uint32_t n)
{
    cluster_run(cluster, HELD + SECOND, NULL, NULL);
    uint64_t view = status_of(cluster, 0)->view;
    for (uint32_t p = 1; p < n; p++)
        assert_int_equal(status_of(cluster, p)->view, view);
}

static void
all_follow_who_is_promoted(void **state)
{
    (void)state;
    struct lbm_hosts h;
    struct cluster *cluster = cluster_of("ring:4", LBM_LOG_ENGINE_LOCAL, 0, &h);
    assert_int_equal(promote(cluster, 2, 1234, 0), LBM_E_DENIED);
    assert_int_equal(promote(cluster, 2, 0, 0), LBM_OK);
    for (uint32_t p = 0; p < 4; p++)
        assert_int_equal(scene_set_capacity(cluster, p, p, 2 + p), LBM_OK);
    expect_same_views(cluster, 4);
    for (uint32_t p = 0; p < 4; p++)
        assert_int_equal(status_of(cluster, p)->leader, 2);
    assert_int_equal(promote(cluster, 2, 0, 0), LBM_OK); /* again: nothing changes */
    expect_same_views(cluster, 4);
    cluster_free(cluster);
    lbm_hosts_free(&h);
}

static void
of_two_promoted_at_once_one_leads(void **state)
{
    (void)state;
    struct lbm_hosts h;
    struct cluster *cluster = cluster_of("ring:4", LBM_LOG_ENGINE_LOCAL, 0, &h);
    Lbm__PromoteRequest both = LBM__PROMOTE_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_PROMOTE;
    request.promote = &both;
    cluster_request(cluster, 1, 0, &request);
    cluster_request(cluster, 2, 0, &request);
    cluster_run(cluster, 15 * SECOND, NULL, NULL);
    for (uint32_t p = 0; p < 4; p++)
        assert_int_equal(status_of(cluster, p)->leader, 2);
    assert_int_equal(scene_set_capacity(cluster, 1, 1, 5), LBM_OK);
    expect_same_views(cluster, 4);
    cluster_free(cluster);
    lbm_hosts_free(&h);
}

static void
a_lost_leader_is_replaced_by_force_and_fenced_when_it_returns(void **state)
{
    (void)state;
    struct lbm_hosts h;
    struct cluster *cluster = cluster_of("ring:4", LBM_LOG_ENGINE_LOCAL, 0, &h);
    cluster_crash_with(cluster, 0, CRASH_ALL);
    cluster_run(cluster, 3 * SECOND, NULL, NULL);
    assert_int_equal(promote(cluster, 1, 0, 0), LBM_E_TIMEOUT);
    assert_int_equal(promote(cluster, 1, 0, 1), LBM_OK);
    assert_int_equal(scene_set_capacity(cluster, 3, 3, 5), LBM_OK);
    cluster_restart(cluster, 0);
    cluster_run(cluster, 3 * SECOND, NULL, NULL);
    assert_int_equal(status_of(cluster, 0)->leader, 1);
    assert_int_equal(scene_set_capacity(cluster, 0, 0, 7), LBM_OK);
    expect_same_views(cluster, 4);
    cluster_crash_with(cluster, 1, CRASH_ALL);
    cluster_restart(cluster, 1); /* it knows its role from the disk */
    cluster_run(cluster, 3 * SECOND, NULL, NULL);
    assert_int_equal(scene_set_capacity(cluster, 2, 2, 9), LBM_OK);
    expect_same_views(cluster, 4);
    cluster_free(cluster);
    lbm_hosts_free(&h);
}

/* The simulator's nodes make a snapshot every 16 entries. */
static void
who_comes_late_begins_with_a_view(enum lbm_log_engine engine)
{
    struct lbm_hosts h;
    struct cluster *cluster = cluster_of("ring:4", engine, 1, &h);
    for (int i = 0; i < 60; i++)
        assert_int_equal(scene_set_capacity(cluster, (uint32_t)i % 3, (uint32_t)i % 3, 1 + i), LBM_OK);
    cluster_restart(cluster, 3);
    cluster_run(cluster, 10 * SECOND, NULL, NULL);
    expect_same_views(cluster, 4);
    assert_int_equal(status_of(cluster, 3)->members, 4);
    assert_int_equal(scene_set_capacity(cluster, 3, 3, 50), LBM_OK);
    Lbm__LogRequest log = LBM__LOG_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    log.from = 1;
    log.count = LBM_LOG_LINES_MAX;
    request.what_case = LBM__REQUEST__WHAT_LOG;
    request.log = &log;
    const Lbm__LogReply *reply = cluster_ask(cluster, 3, 0, &request)->log;
    assert_true(reply->n_lines > 0 && reply->lines[0]->index > 16);
    assert_string_equal(reply->lines[reply->n_lines - 1]->text,
                        "set host 3 incarnation 1 capacity 50 change_links 0 address ");
    for (uint32_t p = 0; p < 4; p++) {
        cluster_crash_with(cluster, p, CRASH_ALL);
        cluster_restart(cluster, p);
    }
    cluster_run(cluster, 5 * SECOND, NULL, NULL);
    assert_int_equal(scene_set_capacity(cluster, 0, 3, 51), LBM_OK);
    expect_same_views(cluster, 4);
    cluster_free(cluster);
    lbm_hosts_free(&h);
}

static void
a_late_host_begins_with_the_leaders_view(void **state)
{
    (void)state;
    who_comes_late_begins_with_a_view(LBM_LOG_ENGINE_LOCAL);
}

static void
a_late_host_begins_with_the_snapshot_of_an_external_log(void **state)
{
    (void)state;
    who_comes_late_begins_with_a_view(LBM_LOG_ENGINE_EXTERNAL);
}

static void
an_external_log_that_is_away_freezes_members_and_loses_nothing(void **state)
{
    (void)state;
    struct lbm_hosts h;
    struct cluster *cluster = cluster_of("ring:3", LBM_LOG_ENGINE_EXTERNAL, 0, &h);
    assert_int_equal(promote(cluster, 1, 0, 1), LBM_E_UNSUPPORTED);
    cluster_log_loses(cluster, 0.7); /* appends happen, but seven of ten answers are lost */
    for (int i = 0; i < 10; i++)
        assert_int_equal(scene_set_capacity(cluster, (uint32_t)i % 3, (uint32_t)i % 3, 2 + i), LBM_OK);
    expect_same_views(cluster, 3);
    uint64_t view = status_of(cluster, 0)->view;
    cluster_log_unavailable(cluster, 1);
    assert_int_equal(scene_set_capacity(cluster, 1, 1, 99), LBM_E_TIMEOUT);
    assert_int_equal(status_of(cluster, 0)->view, view);
    cluster_log_unavailable(cluster, 0);
    cluster_log_loses(cluster, 0);
    expect_same_views(cluster, 3);
    assert_int_equal(status_of(cluster, 0)->view, view); /* what timed out does not happen later */
    assert_int_equal(scene_set_capacity(cluster, 1, 1, 98), LBM_OK);
    expect_same_views(cluster, 3);
    assert_int_equal(status_of(cluster, 0)->view, view + 1);
    cluster_free(cluster);
    lbm_hosts_free(&h);
}

/* ---- leaders whose disks are older copies -------------------------------------------------------------- */

static uint64_t
entries_of(struct cluster *cluster, uint32_t n)
{
    expect_same_views(cluster, n);
    return status_of(cluster, 0)->view;
}

/* A leader that starts with one other host down goes on without it; with two it waits for them, or for its
 * operator. */
static void
a_leader_that_starts_asks_the_others(void **state)
{
    (void)state;
    struct lbm_hosts h;
    struct cluster *cluster = cluster_of("ring:5", LBM_LOG_ENGINE_LOCAL, 0, &h);
    cluster_crash_with(cluster, 3, CRASH_ALL);
    cluster_crash_with(cluster, 0, CRASH_ALL);
    cluster_restart(cluster, 0);
    cluster_run(cluster, 5 * SECOND, NULL, NULL);
    assert_int_equal(status_of(cluster, 0)->n_awaited, 1);
    assert_int_equal(status_of(cluster, 0)->awaited[0], 3);
    cluster_run(cluster, 10 * SECOND, NULL, NULL);
    assert_int_equal(status_of(cluster, 0)->n_awaited, 0);
    assert_int_equal(scene_set_capacity(cluster, 1, 1, 3), LBM_OK);

    cluster_restart(cluster, 3);
    cluster_run(cluster, 10 * SECOND, NULL, NULL);
    uint64_t before = status_of(cluster, 0)->view;
    cluster_crash_with(cluster, 3, CRASH_ALL);
    cluster_crash_with(cluster, 2, CRASH_ALL);
    cluster_crash_with(cluster, 0, CRASH_ALL);
    cluster_restart(cluster, 0);
    cluster_run(cluster, 60 * SECOND, NULL, NULL);
    assert_int_equal(status_of(cluster, 0)->n_awaited, 2);
    assert_int_equal(status_of(cluster, 0)->view, before);
    assert_int_equal(promote(cluster, 0, 0, 0), LBM_E_BUSY);
    assert_int_equal(promote(cluster, 0, 0, 1), LBM_OK);
    assert_int_equal(status_of(cluster, 0)->n_awaited, 0);
    assert_int_equal(scene_set_capacity(cluster, 1, 1, 4), LBM_OK);
    cluster_restart(cluster, 2);
    cluster_restart(cluster, 3);
    assert_true(entries_of(cluster, 5) > before);
    cluster_free(cluster);
    lbm_hosts_free(&h);
}

/* An older copy, from when the leader was alone, and none at all: it takes what the others have. */
static void
a_leader_with_an_older_disk_takes_what_it_lacks(void **state)
{
    (void)state;
    for (int is_empty = 0; is_empty < 2; is_empty++) {
        struct lbm_hosts h;
        struct cluster *cluster = cluster_of("ring:4", LBM_LOG_ENGINE_LOCAL, 3, &h);
        cluster_image_disk(cluster, 0);
        for (uint32_t p = 1; p < 4; p++)
            cluster_restart(cluster, p);
        cluster_run(cluster, 10 * SECOND, NULL, NULL);
        uint64_t before = entries_of(cluster, 4), id = status_of(cluster, 1)->cluster;
        cluster_crash_with(cluster, 0, CRASH_ALL);
        if (is_empty)
            cluster_lose_disk(cluster, 0);
        else
            assert_true(cluster_roll_back_disk(cluster, 0));
        cluster_restart(cluster, 0);
        cluster_run(cluster, 5 * SECOND, NULL, NULL);
        assert_true(entries_of(cluster, 4) >= before);
        assert_true(status_of(cluster, 0)->cluster == id);
        assert_int_equal(scene_set_capacity(cluster, 0, 0, 7), LBM_OK);
        assert_null(cluster_violation(cluster, &(const char *){NULL}));
        cluster_free(cluster);
        lbm_hosts_free(&h);
    }
}

/* Promoted, then back to before that, while the former leader is away: nobody leads meanwhile, nothing forks.
 */
static void
a_promoted_leader_that_forgot_it_leads_again(void **state)
{
    (void)state;
    struct lbm_hosts h;
    struct cluster *cluster = cluster_of("ring:4", LBM_LOG_ENGINE_LOCAL, 0, &h);
    cluster_image_disk(cluster, 2);
    assert_int_equal(promote(cluster, 2, 0, 0), LBM_OK);
    assert_int_equal(scene_set_capacity(cluster, 1, 1, 4), LBM_OK);
    expect_same_views(cluster, 4);
    cluster_crash_with(cluster, 2, CRASH_ALL);
    assert_true(cluster_roll_back_disk(cluster, 2));
    cluster_restart(cluster, 2);
    cluster_run(cluster, 20 * SECOND, NULL, NULL);
    assert_int_equal(scene_set_capacity(cluster, 3, 3, 5), LBM_OK);
    expect_same_views(cluster, 4);
    cluster_free(cluster);
    lbm_hosts_free(&h);
}

/* ---- one node by hand: a copy that has parted from the log --------------------------------------------- */

struct bench {
    struct lbm_node *node;
    int64_t now_us;
    Lbm__LogEntries *entries; /* last one sent; owned */
    int says_diverged;        /* it has told an operator */
    int n_resets;             /* how often it archived all, the log too */
    int asks;                 /* messages about the log that it sent */
    int n_unknown;            /* numbers of the log that it has said it does not know */
};

static void
add_command(struct lbm_recovered *disk, const Lbm__Command *command)
{
    struct lbm_recovered_entry entry = {.index = disk->log.n + 1,
                                        .len = lbm__command__get_packed_size(command)};
    entry.command = malloc(entry.len);
    lbm__command__pack(command, entry.command);
    assert_int_equal(lbm_vec_push(&disk->log, entry), LBM_OK);
}

/* The disk of host 0 or 1: both have joined, host 1 leads term 1. */
static struct lbm_recovered *
disk_of(uint32_t host)
{
    static char cluster_name[] = "test", names[2][3] = {"h0", "h1"}, address[] = "127.0.0.1:1", domain[] = "";
    struct lbm_recovered *disk = lbm_alloc(1, sizeof *disk);
    *disk = (struct lbm_recovered){
        .known = 1, .cluster = 77, .host = host, .incarnation = 1, .term = 1, .leader = 1};
    Lbm__Command command = LBM__COMMAND__INIT;
    Lbm__Found found = LBM__FOUND__INIT;
    found.cluster = 77;
    found.name = cluster_name;
    found.dimensions = 2;
    command.what_case = LBM__COMMAND__WHAT_FOUND;
    command.found = &found;
    add_command(disk, &command);
    for (uint32_t p = 0; p < 2; p++) {
        Lbm__Join join = LBM__JOIN__INIT;
        join.host = p;
        join.incarnation = 1;
        join.name = names[p];
        join.address = address;
        join.capacity = 1;
        join.failure_domain = domain;
        command.what_case = LBM__COMMAND__WHAT_JOIN;
        command.join = &join;
        add_command(disk, &command);
    }
    return disk;
}

static void
take_send(struct bench *b, const struct lbm_effect *effect)
{
    Lbm__Peer *message = NULL;
    struct lbm_diag diag;
    assert_int_equal(lbm_wire_unpack_peer(effect->as.send.frame + LBM_FRAME_HEADER,
                                          effect->as.send.len - LBM_FRAME_HEADER, &message, &diag),
                     LBM_OK);
    b->asks +=
        message->body_case == LBM__PEER__BODY_LOG_FETCH || message->body_case == LBM__PEER__BODY_LOG_APPEND;
    if (message->body_case == LBM__PEER__BODY_LOG_ENTRIES) {
        if (b->entries != NULL)
            lbm__log_entries__free_unpacked(b->entries, NULL);
        b->entries = message->log_entries;
        message->body_case = LBM__PEER__BODY__NOT_SET;
    }
    lbm__peer__free_unpacked(message, NULL);
}

static void
step(struct bench *b, struct lbm_event *event)
{
    struct lbm_effects effects = {0};
    event->now_us = b->now_us;
    assert_int_equal(lbm_node_step(b->node, event, &effects), LBM_OK);
    for (size_t i = 0; i < effects.list.n; i++) {
        const struct lbm_effect *effect = &effects.list.at[i];
        if (effect->kind == LBM_EFFECT_SEND)
            take_send(b, effect);
        for (size_t k = 0; effect->kind == LBM_EFFECT_PERSIST && k < effect->as.persist->ops.n; k++)
            b->n_resets += effect->as.persist->ops.at[k].kind == LBM_PERSIST_RESET &&
                           effect->as.persist->ops.at[k].as.reset.has_no_log;
        if (effect->kind == LBM_EFFECT_NOTE && effect->as.note.level == LBM_NOTE_WARNING)
            b->n_unknown += strstr(effect->as.note.text, "is not known here") != NULL;
        if (effect->kind == LBM_EFFECT_NOTE && effect->as.note.level == LBM_NOTE_ERROR)
            b->says_diverged |= strstr(effect->as.note.text, "begins again, empty") != NULL;
    }
    lbm_effects_clear(&effects);
}

/* The disk goes to the bench. */
static void
bench_start_with(struct bench *b, uint32_t host, struct lbm_recovered *disk)
{
    const struct lbm_node_contact leader = {0, "127.0.0.1:1"};
    const struct lbm_node_config config = {.host = host,
                                           .name = host == 0 ? "h0" : "h1",
                                           .address = "127.0.0.1:1",
                                           .capacity = 1,
                                           .m = 2,
                                           .leader = host == 0,
                                           .cluster_name = "test",
                                           .contacts = &leader,
                                           .n_contacts = host != 0,
                                           .seed = 1,
                                           .version = "test"};
    struct lbm_diag diag;
    *b = (struct bench){.now_us = SECOND};
    assert_int_equal(lbm_node_new(&config, &b->node, &diag), LBM_OK);
    struct lbm_event event = {.kind = LBM_EVENT_START, .as.recovered = disk};
    step(b, &event);
    lbm_recovered_free(disk);
}

static void
bench_start(struct bench *b, uint32_t host)
{
    bench_start_with(b, host, disk_of(host));
}

static void
bench_free(struct bench *b)
{
    if (b->entries != NULL)
        lbm__log_entries__free_unpacked(b->entries, NULL);
    lbm_node_free(b->node);
}

static void
receive(struct bench *b, uint32_t from, Lbm__Peer *message)
{
    struct lbm_event event = {.kind = LBM_EVENT_MESSAGE};
    message->cluster = 77;
    message->src = from;
    message->src_incarnation = 1;
    message->dst = 1 - from;
    message->dst_incarnation = 1;
    event.as.received.message = message;
    step(b, &event);
}

/* Host 0 says that it has no more of the log than host 1, which leads; then the first entry of this life. */
static void
bench_leads(struct bench *b)
{
    Lbm__LogPosition position = LBM__LOG_POSITION__INIT;
    position.term = 1;
    position.last = 3;
    position.leader = 1;
    position.in_step = 1;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_POSITION;
    message.log_position = &position;
    receive(b, 0, &message);
    Lbm__Drain drain = LBM__DRAIN__INIT;
    drain.incarnation = 1;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_DRAIN;
    command.drain = &drain;
    uint8_t bytes[64];
    Lbm__LogAppend append = LBM__LOG_APPEND__INIT;
    append.index = 4;
    append.term = 1;
    append.command = (ProtobufCBinaryData){lbm__command__pack(&command, bytes), bytes};
    message = (Lbm__Peer)LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_APPEND;
    message.log_append = &append;
    receive(b, 0, &message);
}

static void
a_leader_sees_a_copy_that_has_other_entries(void **state)
{
    (void)state;
    static const struct {
        uint64_t from;
        uint64_t chain;
        uint32_t diverged;
    } fetches[] = {{1, 0, 0}, {3, 12345, 1}, {9, 12345, 1}};
    for (size_t i = 0; i < sizeof fetches / sizeof *fetches; i++) {
        struct bench b;
        bench_start(&b, 1);
        bench_leads(&b);
        Lbm__LogFetch fetch = LBM__LOG_FETCH__INIT;
        fetch.from = fetches[i].from;
        fetch.chain = fetches[i].chain;
        fetch.term = 1;
        Lbm__Peer message = LBM__PEER__INIT;
        message.body_case = LBM__PEER__BODY_LOG_FETCH;
        message.log_fetch = &fetch;
        receive(&b, 0, &message);
        assert_non_null(b.entries);
        assert_int_equal(b.entries->diverged, fetches[i].diverged);
        bench_free(&b);
    }
}

static void
a_host_that_is_told_so_stops_taking_part(void **state)
{
    (void)state;
    struct bench b;
    bench_start(&b, 0);
    Lbm__LogEntries entries = LBM__LOG_ENTRIES__INIT;
    entries.from = 4;
    entries.last = 3;
    entries.term = 1;
    entries.leader = 1;
    entries.diverged = 1;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_ENTRIES;
    message.log_entries = &entries;
    receive(&b, 1, &message);
    assert_true(b.says_diverged);
    b.asks = 0;
    for (int i = 0; i < 100; i++) {
        b.now_us += SECOND / 10;
        step(&b, &(struct lbm_event){.kind = LBM_EVENT_TIMER});
    }
    assert_int_equal(b.asks, 0);
    bench_free(&b);
}

/* A host that is told so keeps what it has until the log has nobody who waits for it. */
static void
a_host_whose_incarnation_is_gone_begins_again(void **state)
{
    (void)state;
    struct bench b;
    bench_start(&b, 0);
    Lbm__LogEntries entries = LBM__LOG_ENTRIES__INIT;
    entries.from = 4;
    entries.last = 3;
    entries.term = 1;
    entries.leader = 1;
    entries.diverged = 1;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_ENTRIES;
    message.log_entries = &entries;
    receive(&b, 1, &message);
    assert_int_equal(lbm_node_view(b.node), 3);
    assert_int_equal(b.n_resets, 0);
    entries.gone = 1;
    receive(&b, 1, &message);
    assert_int_equal(b.n_resets, 1);
    assert_int_equal(lbm_node_view(b.node), 0);
    bench_free(&b);
}

/* The leader orders an entry that nobody else gets, and another host is promoted by force meanwhile. */
static void
a_former_leader_with_another_history_begins_again(void **state)
{
    (void)state;
    struct lbm_hosts h;
    struct cluster *cluster = cluster_of("ring:5", LBM_LOG_ENGINE_LOCAL, 0, &h);
    for (uint32_t p = 1; p < 5; p++) {
        cluster_cut(cluster, 0, p, 1);
        cluster_cut(cluster, p, 0, 1);
    }
    cluster_part_log(cluster, 0);
    assert_int_equal(scene_set_capacity(cluster, 0, 1, 4), LBM_OK);
    cluster_run(cluster, 4 * SECOND, NULL, NULL);
    assert_int_equal(promote(cluster, 2, 0, 1), LBM_OK);
    assert_int_equal(scene_set_capacity(cluster, 3, 1, 5), LBM_OK);
    for (uint32_t p = 1; p < 5; p++) {
        cluster_cut(cluster, 0, p, 0);
        cluster_cut(cluster, p, 0, 0);
    }
    cluster_run(cluster, 60 * SECOND, NULL, NULL);
    assert_int_equal(status_of(cluster, 0)->leader, 2);
    assert_string_equal(status_of(cluster, 0)->state, "ACTIVE");
    expect_same_views(cluster, 5);
    assert_int_equal(scene_set_capacity(cluster, 0, 0, 3), LBM_OK);
    cluster_free(cluster);
    lbm_hosts_free(&h);
}

static void
entries_of_a_lower_term_are_not_taken(void **state)
{
    (void)state;
    struct bench b;
    bench_start(&b, 0);
    Lbm__LogEntries entries = LBM__LOG_ENTRIES__INIT;
    entries.from = 4;
    entries.last = 4;
    entries.term = 2; /* a later term: taken over */
    entries.leader = 1;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_ENTRIES;
    message.log_entries = &entries;
    receive(&b, 1, &message);
    Lbm__LogAppend append = LBM__LOG_APPEND__INIT;
    uint8_t command[8] = {0};
    append.index = 4;
    append.term = 1;
    append.command = (ProtobufCBinaryData){sizeof command, command};
    message.body_case = LBM__PEER__BODY_LOG_APPEND;
    message.log_append = &append;
    receive(&b, 1, &message); /* to who does not order it: no entry follows */
    assert_null(b.entries);
    bench_free(&b);
}

/* Both hosts of the disk are active, and host 0 has submitted a job. */
static void
add_job(struct lbm_recovered *disk, uint32_t policy, uint32_t schedule, uint32_t start)
{
    static char name[] = "job", why[] = "of a later version";
    Lbm__Command command = LBM__COMMAND__INIT;
    double site[2] = {0.25, 0.5};
    for (uint32_t p = 0; p < 2; p++) {
        Lbm__Activate activate = LBM__ACTIVATE__INIT;
        activate.host = p;
        activate.incarnation = 1;
        activate.n_site = 2;
        activate.site = site;
        site[0] += 0.5;
        command.what_case = LBM__COMMAND__WHAT_ACTIVATE;
        command.activate = &activate;
        add_command(disk, &command);
    }
    uint32_t link_host = 1, link_cost = 1;
    Lbm__Set set = LBM__SET__INIT;
    set.incarnation = 1;
    set.change_links = 1;
    set.n_link_host = set.n_link_cost = 1;
    set.link_host = &link_host;
    set.link_cost = &link_cost;
    command.what_case = LBM__COMMAND__WHAT_SET;
    command.set = &set;
    add_command(disk, &command);
    Lbm__JobPolicy rule = LBM__JOB_POLICY__INIT;
    rule.policy = rule.asked = policy;
    rule.schedule = schedule;
    rule.alpha = 0.25;
    rule.why = why;
    Lbm__JobCreate create = LBM__JOB_CREATE__INIT;
    create.job = 5;
    create.name = name;
    create.vertices = 10;
    create.imbalance = 0.03;
    create.start = start;
    create.policy = &rule;
    command.what_case = LBM__COMMAND__WHAT_JOB_CREATE;
    command.job_create = &create;
    add_command(disk, &command);
}

static void
numbers_of_a_later_version_are_kept_and_told(void **state)
{
    (void)state;
    static const struct {
        uint32_t policy, schedule, start;
        int n_unknown;
        const char *shown;
    } entries[] = {
        {LBM_JOB_POLICY_FIRST + LBM_POLICY_DIFFUSION, LBM_SCHEDULE_PLAIN, LBM_START_CENTRE, 0, "diffusion"},
        {LBM_JOB_POLICY_FIRST + LBM_POLICY_AUTO, LBM_SCHEDULE_PLAIN, LBM_START_CENTRE, 1, "auto"},
        {200, LBM_SCHEDULE_PLAIN, LBM_START_PLAN, 1, "unknown"},
        {255, 99, LBM_START_PLAN, 2, "unknown"},
        {200, 255, 250, 3, "unknown"},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct bench b;
        struct lbm_recovered *disk = disk_of(0);
        add_job(disk, entries[i].policy, entries[i].schedule, entries[i].start);
        bench_start_with(&b, 0, disk);
        assert_int_equal(b.n_unknown, entries[i].n_unknown);
        assert_string_equal(lbm_job_policy_name(entries[i].policy), entries[i].shown);
        bench_free(&b);
    }
}

/* ---- entries that are stored later --------------------------------------------------------------------- */

enum { NEAR = 3, SETS = 5 }; /* a host of a ring of twelve */

/* A host that is neither linked to NEAR nor its backup, nor the other way round. */
static uint32_t
far_away(struct cluster *c)
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOSTS;
    request.hosts = &empty;
    const Lbm__Response *response = cluster_ask(c, 0, 0, &request);
    assert_non_null(response);
    Lbm__HostEntry **hosts = response->hosts->hosts;
    for (uint32_t p = NEAR + 3; p < response->hosts->n_hosts; p++)
        if (hosts[p]->backup != NEAR && hosts[NEAR]->backup != p)
            return p;
    fail();
    return 0;
}

/* Entries about NEAR, which that host has read and not stored. Returns the view before. */
static uint64_t
set_far_away(struct cluster *c, uint32_t far, uint64_t *commits)
{
    uint64_t view = status_of(c, far)->view;
    cluster_run(c, SECOND / 10, NULL, NULL);
    *commits = cluster_meter(c, far).transactions;
    for (uint32_t i = 0; i < SETS; i++) {
        Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
        change.action = LBM__HOST_ACTION__HOST_SET;
        change.host = NEAR;
        change.capacity = 2 + i;
        Lbm__Request request = LBM__REQUEST__INIT;
        request.what_case = LBM__REQUEST__WHAT_HOST_CHANGE;
        request.host_change = &change;
        cluster_request(c, NEAR, 0, &request);
        cluster_run(c, SECOND / 50, NULL, NULL);
    }
    assert_int_equal(status_of(c, NEAR)->view, view + SETS);
    assert_int_equal(status_of(c, NEAR + 1)->view, view + SETS); /* linked to it */
    assert_true(status_of(c, far)->view < view + SETS);
    return view;
}

static void
entries_about_hosts_far_away_share_a_commit(void **state)
{
    (void)state;
    for (int engine = 0; engine < LBM_LOG_ENGINE_COUNT; engine++) {
        struct lbm_hosts h;
        uint64_t commits;
        struct cluster *c = cluster_that_holds("ring:12", (enum lbm_log_engine)engine, 0, 1, &h);
        uint32_t far = far_away(c);
        uint64_t view = set_far_away(c, far, &commits);
        cluster_run(c, HELD / 2, NULL, NULL);
        assert_int_equal(cluster_meter(c, far).transactions, commits);
        cluster_run(c, HELD / 2 + SECOND / 100, NULL, NULL);
        assert_int_equal(status_of(c, far)->view, view + SETS);
        assert_int_equal(cluster_meter(c, far).transactions, commits + 1);
        cluster_free(c);
        lbm_hosts_free(&h);
    }
}

static void
a_crash_forgets_entries_that_were_not_stored_and_they_are_read_again(void **state)
{
    (void)state;
    struct lbm_hosts h;
    uint64_t commits;
    struct cluster *c = cluster_that_holds("ring:12", LBM_LOG_ENGINE_LOCAL, 0, 1, &h);
    uint32_t far = far_away(c);
    uint64_t view = set_far_away(c, far, &commits);
    cluster_crash_with(c, far, CRASH_ALL);
    assert_int_equal(cluster_meter(c, far).transactions, commits);
    cluster_restart(c, far);
    cluster_run(c, 2 * SECOND, NULL, NULL);
    assert_int_equal(status_of(c, far)->view, view + SETS);
    expect_same_views(c, 12);
    cluster_free(c);
    lbm_hosts_free(&h);
}

/* What a host is promoted with, or tells another that is, is on its disk first. */
static void
who_is_promoted_has_what_it_had_not_stored(void **state)
{
    (void)state;
    for (uint32_t next = 0; next < 2; next++) {
        struct lbm_hosts h;
        uint64_t commits;
        struct cluster *c = cluster_that_holds("ring:12", LBM_LOG_ENGINE_LOCAL, 0, 1, &h);
        uint32_t far = far_away(c);
        uint64_t view = set_far_away(c, far, &commits);
        assert_int_equal(promote(c, far - next, 0, 0), LBM_OK);
        assert_true(cluster_meter(c, far).transactions > commits);
        assert_int_equal(scene_set_capacity(c, far, far, 9), LBM_OK);
        expect_same_views(c, 12);
        assert_int_equal(status_of(c, far)->view, view + SETS + 2); /* Promote, Set */
        cluster_free(c);
        lbm_hosts_free(&h);
    }
}

/* A command of its own comes after all that it has read. */
static void
a_host_that_proposes_stores_first_what_it_has_read(void **state)
{
    (void)state;
    struct lbm_hosts h;
    uint64_t commits;
    struct cluster *c = cluster_that_holds("ring:12", LBM_LOG_ENGINE_LOCAL, 0, 1, &h);
    uint32_t far = far_away(c);
    uint64_t view = set_far_away(c, far, &commits);
    int64_t before_us = cluster_now(c);
    assert_int_equal(scene_set_capacity(c, far, far, 9), LBM_OK);
    assert_true(cluster_now(c) - before_us < SECOND / 2);
    assert_int_equal(status_of(c, far)->view, view + SETS + 1);
    cluster_free(c);
    lbm_hosts_free(&h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_follow_who_is_promoted),
        cmocka_unit_test(of_two_promoted_at_once_one_leads),
        cmocka_unit_test(a_lost_leader_is_replaced_by_force_and_fenced_when_it_returns),
        cmocka_unit_test(a_late_host_begins_with_the_leaders_view),
        cmocka_unit_test(a_late_host_begins_with_the_snapshot_of_an_external_log),
        cmocka_unit_test(an_external_log_that_is_away_freezes_members_and_loses_nothing),
        cmocka_unit_test(a_leader_that_starts_asks_the_others),
        cmocka_unit_test(a_leader_with_an_older_disk_takes_what_it_lacks),
        cmocka_unit_test(a_promoted_leader_that_forgot_it_leads_again),
        cmocka_unit_test(a_leader_sees_a_copy_that_has_other_entries),
        cmocka_unit_test(a_host_that_is_told_so_stops_taking_part),
        cmocka_unit_test(a_host_whose_incarnation_is_gone_begins_again),
        cmocka_unit_test(a_former_leader_with_another_history_begins_again),
        cmocka_unit_test(entries_of_a_lower_term_are_not_taken),
        cmocka_unit_test(numbers_of_a_later_version_are_kept_and_told),
        cmocka_unit_test(entries_about_hosts_far_away_share_a_commit),
        cmocka_unit_test(a_crash_forgets_entries_that_were_not_stored_and_they_are_read_again),
        cmocka_unit_test(who_is_promoted_has_what_it_had_not_stored),
        cmocka_unit_test(a_host_that_proposes_stores_first_what_it_has_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
