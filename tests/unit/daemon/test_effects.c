/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Effects: order, and above all that nothing that depends on a transaction leaves before it is durable. What
 * effects are carried out with is replaced by a journal of calls. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/log.h"
#include "daemon/loop_internal.h"

static struct lbm_buf journal;
static uint64_t connection_now;
static enum lbm_err push_result;
static size_t waiting_bytes;
static int64_t bytes_held; /* said to wait for the disk */
static int failed;

/* ---- stand-ins ----------------------------------------------------------------------------------------- */

enum lbm_err
lbm_store_worker_push(struct lbm_store_worker *worker, struct lbm_persist *persist)
{
    (void)worker;
    lbm_buf_printf(&journal, "persist %d; ", (int)persist->id);
    free(persist);
    return push_result;
}

enum lbm_err
lbm_store_worker_read(struct lbm_store_worker *worker, const struct lbm_blob_read *read)
{
    (void)worker;
    (void)read;
    return LBM_OK;
}

size_t
lbm_store_worker_waiting(struct lbm_store_worker *worker)
{
    (void)worker;
    return waiting_bytes;
}

uint64_t
lbm_outgoing_connection(const struct lbm_outgoing *outgoing, uint32_t host)
{
    (void)outgoing;
    (void)host;
    return connection_now;
}

void
lbm_outgoing_send(struct lbm_outgoing *outgoing, uint32_t host, uint64_t connection, uint8_t *frame,
                  size_t len, int lossy)
{
    (void)outgoing;
    (void)len;
    lbm_buf_printf(&journal, "send %d to %d over %d%s; ", frame[0], (int)host, (int)connection,
                   lossy ? " lossy" : "");
    free(frame);
}

void
lbm_outgoing_wait(struct lbm_outgoing *outgoing, uint32_t host, uint64_t connection, int64_t bytes)
{
    (void)outgoing;
    (void)host;
    (void)connection;
    bytes_held += bytes;
}

enum lbm_err
lbm_outgoing_dial(struct lbm_outgoing *outgoing, uint32_t host, const char *address, struct lbm_diag *diag)
{
    (void)outgoing;
    lbm_buf_printf(&journal, "dial %d at %s; ", (int)host, address);
    return lbm_diag_set(diag, LBM_E_UNSUPPORTED, NULL, 0, "not loopback");
}

void
lbm_control_reply(struct lbm_control *control, uint64_t client, uint8_t *frame, size_t len)
{
    (void)control;
    (void)len;
    lbm_buf_printf(&journal, "reply %d to %d; ", frame[0], (int)client);
    free(frame);
}

void
lbm_control_pause(struct lbm_control *control, int paused)
{
    (void)control;
    lbm_buf_printf(&journal, "clients %s; ", paused ? "wait" : "go on");
}

void
lbm_inbound_pause(struct lbm_inbound *inbound, int paused)
{
    (void)inbound;
    lbm_buf_printf(&journal, "hosts %s; ", paused ? "wait" : "go on");
}

void
lbm_lease_file_write(struct lbm_lease_file *file, int64_t deadline_us, uint64_t term, uint32_t used,
                     uint32_t gone)
{
    (void)file;
    lbm_buf_printf(&journal, "lease until %d in term %d for %d, %d gone; ", (int)deadline_us, (int)term,
                   (int)used, (int)gone);
}

void
lbm_etcd_append(struct lbm_etcd *etcd, uint64_t index, const struct lbm_bytes *command)
{
    (void)etcd;
    lbm_buf_printf(&journal, "append %d bytes at %d; ", (int)command->len, (int)index);
}

void
lbm_etcd_begin(struct lbm_etcd *etcd, uint64_t index, const struct lbm_bytes *command)
{
    (void)etcd;
    lbm_buf_printf(&journal, "begin with %d bytes at %d; ", (int)command->len, (int)index);
}

struct lbm_etcd *
lbm_ensemble_etcd(const struct lbm_ensemble_part *part)
{
    return (struct lbm_etcd *)part; /* the same stand-in */
}

void
lbm_ensemble_set(struct lbm_ensemble_part *part, const struct lbm_ensemble *is, int tends)
{
    (void)part;
    lbm_buf_printf(&journal, "ensemble %d of %d%s; ", (int)is->id, (int)is->n, tends ? ", tended" : "");
}

void
lbm_etcd_follow(struct lbm_etcd *etcd, uint64_t from)
{
    (void)etcd;
    lbm_buf_printf(&journal, "follow from %d; ", (int)from);
}

void
lbm_etcd_compact(struct lbm_etcd *etcd, uint64_t index, const struct lbm_bytes *view)
{
    (void)etcd;
    lbm_buf_printf(&journal, "compact %d bytes at %d; ", (int)view->len, (int)index);
}

enum lbm_err
lbm_plan_worker_push(struct lbm_plan_worker *worker, struct lbm_plan_task *task)
{
    (void)worker;
    lbm_buf_printf(&journal, "plan %d; ", (int)task->job);
    free(task);
    return LBM_OK;
}

void
lbm_effects_clear(struct lbm_effects *effects)
{
    for (size_t i = 0; i < effects->list.n; i++)
        if (effects->list.at[i].kind == LBM_EFFECT_SEND)
            free(effects->list.at[i].as.send.frame);
    lbm_vec_free(&effects->list);
}

void
loop_fail(struct loop *loop)
{
    (void)loop;
    failed = 1;
}

/* ---- the node's side ----------------------------------------------------------------------------------- */

static uint8_t *
frame_of(uint8_t mark)
{
    uint8_t *frame = lbm_copy(&mark, 1, 1);
    assert_non_null(frame);
    return frame;
}

static void
add(struct loop *loop, struct lbm_effect effect)
{
    assert_int_equal(lbm_vec_push(&loop->effects.list, effect), LBM_OK);
}

static void
add_persist(struct loop *loop, uint64_t id)
{
    struct lbm_effect effect = {.kind = LBM_EFFECT_PERSIST};
    effect.as.persist = lbm_alloc(1, sizeof *effect.as.persist);
    assert_non_null(effect.as.persist);
    effect.as.persist->id = id;
    add(loop, effect);
}

static void
add_send(struct loop *loop, uint8_t mark, uint64_t after, int lossy)
{
    struct lbm_effect effect = {.kind = LBM_EFFECT_SEND, .after = after};
    effect.as.send.host = 3;
    effect.as.send.frame = frame_of(mark);
    effect.as.send.len = 1;
    effect.as.send.lossy = lossy;
    add(loop, effect);
}

static void
add_reply(struct loop *loop, uint8_t mark, uint64_t after)
{
    struct lbm_effect effect = {.kind = LBM_EFFECT_REPLY, .after = after};
    effect.as.reply.client = 9;
    effect.as.reply.frame = frame_of(mark);
    effect.as.reply.len = 1;
    add(loop, effect);
}

/* What was done since the last look. */
static void
expect(const char *what)
{
    assert_string_equal(journal.at != NULL ? journal.at : "", what);
    lbm_buf_free(&journal);
}

static int
set_up(void **state)
{
    (void)state;
    connection_now = 1;
    push_result = LBM_OK;
    failed = 0;
    waiting_bytes = 0;
    bytes_held = 0;
    lbm_log_set_level(LBM_NOTE_ERROR);
    return 0;
}

/* ---- the tests ----------------------------------------------------------------------------------------- */

static void
effects_are_carried_out_in_order(void **state)
{
    struct loop loop = {0};
    struct lbm_effect dial = {.kind = LBM_EFFECT_DIAL}, plan = {.kind = LBM_EFFECT_PLAN};
    (void)state;
    dial.as.dial.host = 4;
    strcpy(dial.as.dial.address, "127.0.0.1:7");
    plan.as.plan = lbm_alloc(1, sizeof *plan.as.plan);
    plan.as.plan->job = 6;
    add(&loop, dial);
    add_send(&loop, 1, 0, 0);
    add_persist(&loop, 1);
    add(&loop, plan);
    add_send(&loop, 2, 0, 1);
    add_reply(&loop, 3, 0);
    carry_out(&loop);
    expect("dial 4 at 127.0.0.1:7; send 1 to 3 over 1; persist 1; plan 6; send 2 to 3 over 1 lossy; "
           "reply 3 to 9; ");
    assert_int_equal(loop.effects.list.n, 0);
    assert_false(failed);
    carry_out(&loop);
    expect("");
    carry_drop(&loop);
}

/* The log is in etcd where there is one, and nowhere while there is none. */
static void
the_log_goes_to_the_ensemble(void **state)
{
    struct loop loop = {0};
    struct lbm_effect follow = {.kind = LBM_EFFECT_LOG_FOLLOW}, begin = {.kind = LBM_EFFECT_LOG_BEGIN},
                      ensemble = {.kind = LBM_EFFECT_ENSEMBLE};
    (void)state;
    follow.as.log.index = 4;
    add(&loop, follow);
    carry_out(&loop);
    expect("");
    loop.ensemble = (struct lbm_ensemble_part *)&loop;
    ensemble.as.ensemble.is.id = 7;
    ensemble.as.ensemble.is.n = 3;
    ensemble.as.ensemble.tends = 1;
    begin.as.log.index = 3;
    begin.as.log.bytes = (struct lbm_bytes){frame_of(1), 1};
    add(&loop, ensemble);
    add(&loop, begin);
    add(&loop, follow);
    carry_out(&loop);
    expect("ensemble 7 of 3, tended; begin with 1 bytes at 3; follow from 4; ");
    carry_drop(&loop);
}

static void
what_depends_on_a_transaction_waits_for_it(void **state)
{
    struct loop loop = {0};
    (void)state;
    add_persist(&loop, 1);
    add_send(&loop, 1, 1, 0);
    add_reply(&loop, 2, 1);
    add_persist(&loop, 2);
    add_send(&loop, 3, 2, 0);
    add_send(&loop, 4, 0, 1);
    carry_out(&loop);
    expect("persist 1; persist 2; send 4 to 3 over 1 lossy; ");
    carry_released(&loop, 1);
    expect("send 1 to 3 over 1; reply 2 to 9; ");
    carry_released(&loop, 2);
    expect("send 3 to 3 over 1; ");
    add_send(&loop, 5, 2, 0); /* durable already */
    carry_out(&loop);
    expect("send 5 to 3 over 1; ");
    carry_drop(&loop);
}

static void
several_transactions_at_once_release_in_order(void **state)
{
    struct loop loop = {0};
    (void)state;
    for (uint8_t id = 1; id <= 5; id++) {
        add_persist(&loop, id);
        add_send(&loop, id, id, 0);
    }
    carry_out(&loop);
    lbm_buf_free(&journal);
    carry_released(&loop, 4);
    expect("send 1 to 3 over 1; send 2 to 3 over 1; send 3 to 3 over 1; send 4 to 3 over 1; ");
    assert_int_equal(loop.waiting.n, 1);
    carry_drop(&loop); /* frees the fifth */
    assert_int_equal(loop.waiting.n, 0);
}

/* A message that waited keeps to the connection it was meant for, so that a new one begins with its Hello. */
static void
what_waits_keeps_its_connection(void **state)
{
    struct loop loop = {0};
    (void)state;
    add_persist(&loop, 1);
    add_send(&loop, 1, 1, 0);
    carry_out(&loop);
    connection_now = 2;
    add_send(&loop, 2, 1, 0);
    carry_out(&loop);
    expect("persist 1; ");
    carry_released(&loop, 1);
    expect("send 1 to 3 over 1; send 2 to 3 over 2; ");
    carry_drop(&loop);
}

static void
without_a_connection_nothing_waits(void **state)
{
    struct loop loop = {0};
    (void)state;
    connection_now = 0;
    add_persist(&loop, 1);
    add_send(&loop, 1, 1, 0);
    carry_out(&loop);
    assert_int_equal(loop.waiting.n, 0);
    expect("persist 1; send 1 to 3 over 0; ");
    carry_drop(&loop);
}

static void
a_slow_disk_stops_the_reading_and_no_more(void **state)
{
    struct loop loop = {0};
    (void)state;
    for (uint64_t id = 1; id <= 4096; id++)
        add_persist(&loop, id);
    carry_out(&loop);
    assert_null(strstr(journal.at, "wait"));
    add_persist(&loop, 4097);
    add_persist(&loop, 4098);
    lbm_buf_free(&journal);
    carry_out(&loop);
    expect("persist 4097; hosts wait; clients wait; persist 4098; ");
    carry_released(&loop, 1000);
    expect("");
    carry_released(&loop, 3000);
    expect("hosts go on; clients go on; ");
    carry_released(&loop, 4098);
    expect("");
    carry_drop(&loop);
}

static void
so_do_a_few_large_transactions(void **state)
{
    struct loop loop = {0};
    (void)state;
    add_persist(&loop, 1);
    add_persist(&loop, 2);
    waiting_bytes = 200 << 20;
    carry_out(&loop);
    expect("persist 1; hosts wait; clients wait; persist 2; ");
    waiting_bytes = 100 << 20;
    carry_released(&loop, 1);
    expect("");
    waiting_bytes = 0;
    carry_released(&loop, 2);
    expect("hosts go on; clients go on; ");
    carry_drop(&loop);
}

static void
a_store_that_takes_nothing_is_a_failure(void **state)
{
    struct loop loop = {0};
    (void)state;
    lbm_log_set_level(LBM_NOTE_ERROR);
    push_result = LBM_E_NOMEM;
    add_persist(&loop, 1);
    carry_out(&loop);
    expect("persist 1; ");
    assert_true(failed);
    carry_drop(&loop);
}

static void
of_a_failed_step_only_notes_remain(void **state)
{
    struct loop loop = {0};
    struct lbm_effect note = {.kind = LBM_EFFECT_NOTE};
    (void)state;
    note.as.note.level = LBM_NOTE_DEBUG;
    add_send(&loop, 1, 0, 0);
    add(&loop, note);
    carry_notes_only(&loop);
    expect("");
    assert_int_equal(loop.effects.list.n, 0);
}

static void
frames_that_wait_for_the_disk_are_counted_until_they_are_sent(void **state)
{
    (void)state;
    struct loop loop = {0};
    add_persist(&loop, 1);
    add_persist(&loop, 2);
    add_send(&loop, 5, 0, 0); /* waits for nothing */
    add_send(&loop, 6, 1, 0);
    add_send(&loop, 7, 2, 0);
    add_reply(&loop, 8, 2);
    carry_out(&loop);
    assert_int_equal(bytes_held, 2);
    carry_released(&loop, 1);
    assert_int_equal(bytes_held, 1);
    carry_released(&loop, 2);
    assert_int_equal(bytes_held, 0);
    lbm_buf_free(&journal);
    carry_drop(&loop);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(effects_are_carried_out_in_order, set_up),
        cmocka_unit_test_setup(the_log_goes_to_the_ensemble, set_up),
        cmocka_unit_test_setup(what_depends_on_a_transaction_waits_for_it, set_up),
        cmocka_unit_test_setup(several_transactions_at_once_release_in_order, set_up),
        cmocka_unit_test_setup(what_waits_keeps_its_connection, set_up),
        cmocka_unit_test_setup(without_a_connection_nothing_waits, set_up),
        cmocka_unit_test_setup(a_slow_disk_stops_the_reading_and_no_more, set_up),
        cmocka_unit_test_setup(so_do_a_few_large_transactions, set_up),
        cmocka_unit_test_setup(a_store_that_takes_nothing_is_a_failure, set_up),
        cmocka_unit_test_setup(of_a_failed_step_only_notes_remain, set_up),
        cmocka_unit_test_setup(frames_that_wait_for_the_disk_are_counted_until_they_are_sent, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
