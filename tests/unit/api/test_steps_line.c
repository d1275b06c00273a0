/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lbmap_steps keeps of a vertex: states in order, and as a payload that is not trusted. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/steps.h"

enum { STATE_MAX = 64 };

void
lbm_steps_fail(struct lbm_steps *steps, enum lbmap_error error, const char *fmt, ...)
{
    (void)fmt;
    steps->error = error;
}

static struct lbm_line *
new_line(void)
{
    struct lbm_line *line = lbm_alloc(1, sizeof *line);
    assert_non_null(line);
    return line;
}

/* State s has s % 7 bytes, all of them s. */
static void
push(struct lbm_line *line, uint64_t s)
{
    uint8_t bytes[8];
    memset(bytes, (int)s, sizeof bytes);
    struct lbm_state *state = lbm_state_new(bytes, s % 7, s % 7, 0);
    assert_non_null(state);
    assert_int_equal(lbm_line_push(line, state), LBM_OK);
}

static void
expect_states(const struct lbm_line *line, uint64_t from, uint64_t to)
{
    assert_null(from != 0 ? lbm_line_get(line, from - 1) : NULL);
    assert_null(lbm_line_get(line, to));
    for (uint64_t s = from; s < to; s++) {
        const struct lbm_state *state = lbm_line_get(line, s);
        assert_non_null(state);
        assert_int_equal(state->len, s % 7);
        assert_true(state->len == 0 || state->bytes[state->len - 1] == (uint8_t)s);
    }
}

static void
states_come_at_the_end_and_go_at_the_beginning(void **unused)
{
    struct lbm_line *line = new_line();
    (void)unused;
    lbm_line_begin(line, 100);
    assert_int_equal(lbm_line_next(line), 100);
    assert_null(lbm_line_get(line, 100));
    for (uint64_t s = 100; s < 300; s++) {
        push(line, s);
        lbm_line_drop(line, s > 150 ? s - 50 : 0);
        expect_states(line, s > 150 ? s - 50 : 100, s + 1);
    }
    assert_int_equal(lbm_line_step(line), 299);
    lbm_line_drop(line, UINT64_MAX); /* the last one stays */
    expect_states(line, 299, 300);
    lbm_line_begin(line, 7);
    assert_int_equal(lbm_line_next(line), 7);
    assert_null(lbm_line_get(line, 299));
    lbm_line_free(line);
}

static void
a_payload_holds_all_states(void **unused)
{
    struct lbm_line *line = new_line(), *other = new_line();
    struct lbm_buf buf = {0};
    (void)unused;
    lbm_line_begin(line, UINT64_C(1) << 40);
    for (uint64_t s = UINT64_C(1) << 40; s < (UINT64_C(1) << 40) + 20; s++)
        push(line, s);
    lbm_line_pack(line, 0, &buf);
    assert_false(buf.failed);
    push(other, 0); /* forgotten */
    assert_int_equal(lbm_line_unpack(other, &(struct lbmap_payload){buf.at, buf.len}, STATE_MAX, 0, 0),
                     LBM_OK);
    expect_states(other, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 20);
    lbm_buf_free(&buf);
    lbm_line_free(line);
    lbm_line_free(other);
}

static void
a_payload_holds_contributions(void **unused)
{
    struct lbm_line *line = new_line(), *other = new_line();
    struct lbm_buf buf = {0};
    (void)unused;
    lbm_line_begin(line, 40);
    push(line, 40);
    for (uint64_t step = 10; step <= 40; step += 10) {
        struct lbm_part part = {step, lbm_copy(&step, sizeof step, 1)};
        assert_int_equal(lbm_vec_push(&line->parts, part), LBM_OK);
    }
    lbm_line_pack(line, sizeof(uint64_t), &buf);
    for (size_t len = 0; len < buf.len; len++) {
        void *bytes = lbm_copy(buf.at, len, 1);
        assert_int_equal(
            lbm_line_unpack(other, &(struct lbmap_payload){bytes, len}, STATE_MAX, 0, sizeof(uint64_t)),
            LBM_E_CORRUPT);
        free(bytes);
    }
    assert_int_equal(lbm_line_unpack(other, &(struct lbmap_payload){buf.at, buf.len}, STATE_MAX, 0, 0),
                     LBM_E_CORRUPT); /* of another program */
    assert_int_equal(
        lbm_line_unpack(other, &(struct lbmap_payload){buf.at, buf.len}, STATE_MAX, 0, sizeof(uint64_t)),
        LBM_OK);
    assert_int_equal(other->parts.n, 4);
    for (size_t i = 0; i < other->parts.n; i++) {
        assert_int_equal(other->parts.at[i].step, 10 * (i + 1));
        assert_memory_equal(other->parts.at[i].value, &other->parts.at[i].step, sizeof(uint64_t));
    }
    lbm_buf_free(&buf);
    lbm_line_free(line);
    lbm_line_free(other);
}

static void
what_is_no_payload_is_refused(void **unused)
{
    struct lbm_line *line = new_line();
    struct lbm_buf buf = {0};
    (void)unused;
    lbm_line_begin(line, 3);
    for (uint64_t s = 3; s < 9; s++)
        push(line, s);
    lbm_line_pack(line, 0, &buf);
    for (size_t len = 0; len < buf.len; len++) { /* one that ends early, in memory of its own */
        void *bytes = lbm_copy(buf.at, len, 1);
        assert_int_equal(lbm_line_unpack(line, &(struct lbmap_payload){bytes, len}, STATE_MAX, 0, 0),
                         LBM_E_CORRUPT);
        assert_int_equal(line->n, 0);
        free(bytes);
    }
    lbm_buf_put(&buf, "", 1); /* one that goes on */
    assert_int_equal(lbm_line_unpack(line, &(struct lbmap_payload){buf.at, buf.len}, STATE_MAX, 0, 0),
                     LBM_E_CORRUPT);
    buf.len--;
    assert_int_equal(lbm_line_unpack(line, &(struct lbmap_payload){buf.at, buf.len}, 5, 0, 0),
                     LBM_E_CORRUPT);    /* 6 bytes */
    for (size_t at = 0; at < 4; at++) { /* another kind of payload */
        buf.at[at] ^= 1;
        assert_int_equal(lbm_line_unpack(line, &(struct lbmap_payload){buf.at, buf.len}, STATE_MAX, 0, 0),
                         LBM_E_CORRUPT);
        buf.at[at] ^= 1;
    }
    memset(buf.at + 4, 0, 4); /* no states */
    assert_int_equal(lbm_line_unpack(line, &(struct lbmap_payload){buf.at, 16}, STATE_MAX, 0, 0),
                     LBM_E_CORRUPT);
    memset(buf.at + 4, 0xff, 12); /* more than there are steps */
    assert_int_equal(lbm_line_unpack(line, &(struct lbmap_payload){buf.at, buf.len}, STATE_MAX, 0, 0),
                     LBM_E_CORRUPT);
    lbm_buf_free(&buf);
    lbm_line_free(line);
}

static void
a_vertex_has_one_line(void **unused)
{
    struct lbm_steps steps = {0};
    (void)unused;
    struct lbm_line *line = lbm_steps_line(&steps, 5);
    assert_non_null(line);
    assert_int_equal(line->host, LBMAP_NOWHERE);
    for (uint32_t v = 0; v < 100; v++)
        assert_non_null(lbm_steps_line(&steps, v));
    assert_ptr_equal(lbm_steps_line(&steps, 5), line);
    assert_int_equal(steps.lines.n, 100);
    for (size_t i = 0; i < steps.lines.n; i++)
        lbm_line_free(steps.lines.at[i]);
    lbm_vec_free(&steps.lines);
    lbm_idmap_free(&steps.at);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_come_at_the_end_and_go_at_the_beginning),
        cmocka_unit_test(a_payload_holds_all_states),
        cmocka_unit_test(a_payload_holds_contributions),
        cmocka_unit_test(what_is_no_payload_is_refused),
        cmocka_unit_test(a_vertex_has_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
