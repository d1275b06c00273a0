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
#include "api/steps_bytes.h"

enum { STATE_MAX = 64, SEEN_MAX = 16 };

void
lbm_steps_fail(struct lbm_steps *steps, enum lbmap_error error, const char *fmt, ...)
{
    (void)fmt;
    steps->error = error;
}

static size_t
share(void *context, uint32_t vertex, const void *state, size_t size, void *shared)
{
    (void)context, (void)vertex, (void)state, (void)size, (void)shared;
    return 0;
}

static size_t
share_with(void *context, uint32_t vertex, uint32_t neighbour, const void *state, size_t size, void *shared)
{
    (void)context, (void)vertex, (void)neighbour, (void)state, (void)size, (void)shared;
    return 0;
}

/* Programs: neighbours see all of a state, the same part, or a part each. As lbmap_steps has them. */
static const struct lbm_steps
    all = {.program = {.state_size = STATE_MAX}},
    some = {.program = {.state_size = STATE_MAX, .share_size = SEEN_MAX, .share = share}},
    each = {.program = {.state_size = STATE_MAX, .share_with = share_with}, .export_size = SEEN_MAX},
    summing = {.program = {.state_size = STATE_MAX}, .value_size = sizeof(uint64_t)};

static enum lbm_err
unpack(const struct lbm_steps *steps, struct lbm_line *line, const void *bytes, size_t len)
{
    return lbm_line_unpack(steps, line, &(struct lbmap_payload){bytes, len});
}

/* In memory of its own, so that reading beyond its end is seen. */
static void
expect_corrupt(const struct lbm_steps *steps, struct lbm_line *line, const void *bytes, size_t len)
{
    void *own = lbm_copy(bytes, len, 1);
    assert_int_equal(unpack(steps, line, own, len), LBM_E_CORRUPT);
    assert_int_equal(line->n, 0);
    free(own);
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
    assert_memory_equal(buf.at, "lms1", 4);
    assert_int_equal(unpack(&all, other, buf.at, buf.len), LBM_OK);
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
    for (size_t len = 0; len < buf.len; len++)
        expect_corrupt(&summing, other, buf.at, len);
    expect_corrupt(&all, other, buf.at, buf.len); /* of another program */
    assert_int_equal(unpack(&summing, other, buf.at, buf.len), LBM_OK);
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
    for (size_t len = 0; len < buf.len; len++) /* one that ends early */
        expect_corrupt(&all, line, buf.at, len);
    lbm_buf_put(&buf, "", 1); /* one that goes on */
    expect_corrupt(&all, line, buf.at, buf.len);
    buf.len--;
    const struct lbm_steps shorter = {.program = {.state_size = 5}};
    expect_corrupt(&shorter, line, buf.at, buf.len); /* 6 bytes */
    for (size_t at = 0; at < 4; at++) {              /* another kind of payload */
        buf.at[at] ^= 4;
        expect_corrupt(&all, line, buf.at, buf.len);
        buf.at[at] ^= 4;
    }
    memset(buf.at + 4, 0, 4); /* no states */
    expect_corrupt(&all, line, buf.at, 16);
    memset(buf.at + 4, 0xff, 12); /* more than there are steps */
    expect_corrupt(&all, line, buf.at, buf.len);
    lbm_buf_free(&buf);
    lbm_line_free(line);
}

/* ---- states of which only what neighbours see is kept ---- */

/* What neighbour u sees of state s: u bytes, all of them s + u. */
static void
seen_by(uint64_t s, uint32_t u, uint8_t *bytes)
{
    memset(bytes, (int)(s + u), u);
}

/* States 10 to 12 and a whole one, 13: in the parts of 3, 7 and 16, or, of 0, as all neighbours see them. */
static struct lbm_line *
short_line(enum lbm_form form)
{
    struct lbm_line *line = new_line();
    lbm_line_begin(line, 10);
    for (uint64_t s = 10; s < 13; s++) {
        uint8_t bytes[SEEN_MAX];
        struct lbm_buf parts = {0};
        for (uint32_t u = 3; u <= SEEN_MAX; u = u == 3 ? 7 : u + 9) {
            seen_by(s, u, bytes);
            lbm_seen_put(&parts, u, bytes, u);
        }
        struct lbm_state *state =
            form == LBM_PARTS ? lbm_seen_state(&parts) : lbm_state_new(bytes, SEEN_MAX, SEEN_MAX, 0);
        assert_non_null(state);
        state->form = form;
        assert_int_equal(lbm_line_push(line, state), LBM_OK);
        lbm_buf_free(&parts);
    }
    push(line, 13);
    return line;
}

static void
expect_short(const struct lbm_line *line, enum lbm_form form)
{
    assert_int_equal(line->lo, 10);
    assert_int_equal(lbm_line_step(line), 13);
    for (uint64_t s = 10; s < 13; s++) {
        const struct lbm_state *state = lbm_line_get(line, s);
        size_t at = 0, size = 0;
        uint8_t bytes[SEEN_MAX];
        assert_int_equal(state->form, form);
        if (form == LBM_SHARED) {
            seen_by(s, SEEN_MAX, bytes);
            assert_int_equal(state->shared_len, SEEN_MAX);
            assert_memory_equal(state->bytes + state->shared_at, bytes, SEEN_MAX);
            continue;
        }
        for (uint32_t u = 0; u < 2 * SEEN_MAX + 2; u++) { /* each twice, wherever it begins */
            uint32_t user = u / 2 * 7 % (SEEN_MAX + 1);
            const void *seen = lbm_seen_find(state, user, &at, &size);
            assert_true((seen != NULL) == (user == 3 || user == 7 || user == 16));
            if (seen == NULL)
                continue;
            seen_by(s, user, bytes);
            assert_int_equal(size, user);
            assert_memory_equal(seen, bytes, size);
            assert_int_equal((uintptr_t)seen % 16, 0);
        }
    }
    const struct lbm_state *last = lbm_line_get(line, 13);
    assert_int_equal(last->form, LBM_WHOLE);
    assert_int_equal(last->len, 13 % 7);
    assert_int_equal(last->bytes[0], 13);
}

static void
a_payload_holds_what_neighbours_see(void **unused)
{
    static const struct {
        const struct lbm_steps *steps, *other;
        enum lbm_form form;
        size_t bytes; /* of an older state */
    } cases[] = {{&some, &each, LBM_SHARED, 4 + SEEN_MAX}, {&each, &some, LBM_PARTS, 4 + 3 * 8 + 3 + 7 + 16}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lbm_line *line = short_line(cases[i].form), *other = new_line();
        struct lbm_buf buf = {0}, again = {0};
        expect_short(line, cases[i].form);
        lbm_line_pack(line, 0, &buf);
        assert_memory_equal(buf.at, "lms2", 4);
        assert_int_equal(buf.len, 16 + 3 * cases[i].bytes + 4 + 13 % 7);
        assert_int_equal(unpack(cases[i].steps, other, buf.at, buf.len), LBM_OK);
        expect_short(other, cases[i].form);
        lbm_line_pack(other, 0, &again); /* kept again as it came */
        assert_int_equal(again.len, buf.len);
        assert_memory_equal(again.at, buf.at, buf.len);
        for (size_t len = 0; len < buf.len; len++)
            expect_corrupt(cases[i].steps, other, buf.at, len);
        expect_corrupt(&all, other, buf.at, buf.len); /* of programs that show something else */
        expect_corrupt(cases[i].other, other, buf.at, buf.len);
        lbm_line_drop(line, UINT64_MAX); /* nothing but the last one: as before there was a short form */
        buf.len = 0;
        lbm_line_pack(line, 0, &buf);
        assert_memory_equal(buf.at, "lms1", 4);
        assert_int_equal(unpack(cases[i].steps, other, buf.at, buf.len), LBM_OK);
        assert_int_equal(lbm_line_get(other, 13)->form, LBM_WHOLE);
        lbm_buf_free(&again);
        lbm_buf_free(&buf);
        lbm_line_free(other);
        lbm_line_free(line);
    }
}

static int allocations_left;

static int
runs_short(void)
{
    return allocations_left-- == 0;
}

static void
memory_that_is_short_is_told(void **unused)
{
    static const struct {
        const struct lbm_steps *steps;
        enum lbm_form form;
    } cases[] = {{&some, LBM_SHARED}, {&each, LBM_PARTS}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lbm_line *line = short_line(cases[i].form), *other = new_line();
        struct lbm_buf buf = {0};
        enum lbm_err err = LBM_E_NOMEM;
        int n = 0;
        lbm_line_pack(line, 0, &buf);
        for (; err != LBM_OK; n++) {
            allocations_left = n;
            lbm_alloc_fails = runs_short;
            err = unpack(cases[i].steps, other, buf.at, buf.len);
            lbm_alloc_fails = NULL;
            assert_int_equal(err, err != LBM_OK ? LBM_E_NOMEM : LBM_OK);
            assert_int_equal(other->n, err != LBM_OK ? 0 : 4);
        }
        assert_true(n > 4);
        expect_short(other, cases[i].form);
        lbm_buf_free(&buf);
        lbm_line_free(other);
        lbm_line_free(line);
    }
}

/* Programs that share are given what was kept by a library that kept whole states. */
static void
whole_states_are_unpacked_with_room_for_what_is_shared(void **unused)
{
    struct lbm_line *line = new_line(), *other = new_line();
    struct lbm_buf buf = {0};
    (void)unused;
    lbm_line_begin(line, 20);
    for (uint64_t s = 20; s < 24; s++)
        push(line, s);
    lbm_line_pack(line, 0, &buf);
    assert_memory_equal(buf.at, "lms1", 4);
    assert_int_equal(unpack(&each, other, buf.at, buf.len), LBM_OK);
    expect_states(other, 20, 24);
    assert_int_equal(unpack(&some, other, buf.at, buf.len), LBM_OK);
    expect_states(other, 20, 24);
    for (uint64_t s = 20; s < 24; s++) {
        struct lbm_state *state = other->ring[s & (other->ring_size - 1)];
        assert_int_equal(state->form, LBM_WHOLE);
        assert_true(state->shared_at >= state->len);
        memset(state->bytes + state->shared_at, 1, SEEN_MAX);
    }
    expect_states(other, 20, 24);
    lbm_buf_free(&buf);
    lbm_line_free(other);
    lbm_line_free(line);
}

/* A payload of n states, of which one has that form and bytes. */
static void
begin_payload(struct lbm_buf *buf, uint32_t n, uint32_t form, const struct lbm_buf *bytes)
{
    buf->len = 0;
    lbm_buf_put(buf, "lms2", 4);
    lbm_put32(buf, n);
    lbm_put64(buf, 5);
    lbm_put32(buf, form << 30 | (uint32_t)bytes->len);
    lbm_buf_put(buf, bytes->at, bytes->len);
}

static void
parts(struct lbm_buf *buf, const uint32_t *user_and_len, size_t n)
{
    buf->len = 0;
    for (size_t i = 0; i < n; i++) {
        lbm_put32(buf, user_and_len[2 * i]);
        lbm_put32(buf, user_and_len[2 * i + 1]);
        for (uint32_t k = 0; k < user_and_len[2 * i + 1] % 100; k++)
            lbm_buf_put(buf, "x", 1);
    }
}

static void
what_neighbours_see_makes_sense_or_is_refused(void **unused)
{
    static const struct {
        uint32_t part[4]; /* user, len; twice */
        int is_right;
    } cases[] = {{{1, 16, 2, 0}, 1}, {{1, 17, 2, 0}, 0},         {{2, 4, 1, 4}, 0},
                 {{2, 4, 2, 4}, 0},  {{1, 4, 2, UINT32_MAX}, 0}, {{0, 0, UINT32_MAX, 0}, 1},
                 {{1, 4, 2, 104}, 0}};
    struct lbm_line *line = new_line();
    struct lbm_buf buf = {0}, bytes = {0};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parts(&bytes, cases[i].part, 2);
        begin_payload(&buf, 2, LBM_PARTS, &bytes);
        lbm_put32(&buf, 1);
        lbm_buf_put(&buf, "y", 1);
        assert_int_equal(unpack(&each, line, buf.at, buf.len), cases[i].is_right ? LBM_OK : LBM_E_CORRUPT);
        assert_int_equal(line->n, cases[i].is_right ? 2 : 0);
    }
    parts(&bytes, cases[0].part, 2);
    begin_payload(&buf, 1, LBM_PARTS, &bytes); /* without a whole one */
    expect_corrupt(&each, line, buf.at, buf.len);
    bytes.len = SEEN_MAX;
    begin_payload(&buf, 1, LBM_SHARED, &bytes);
    expect_corrupt(&some, line, buf.at, buf.len);
    begin_payload(&buf, 1, LBM_WHOLE, &bytes);
    assert_int_equal(unpack(&some, line, buf.at, buf.len), LBM_OK);
    begin_payload(&buf, 1, 3, &bytes); /* no form */
    expect_corrupt(&some, line, buf.at, buf.len);
    begin_payload(&buf, 2, LBM_SHARED, &bytes);
    lbm_put32(&buf, 0);
    assert_int_equal(unpack(&some, line, buf.at, buf.len), LBM_OK);
    lbm_buf_put(&bytes, "z", 1); /* more than is shared */
    begin_payload(&buf, 2, LBM_SHARED, &bytes);
    lbm_put32(&buf, 0);
    expect_corrupt(&some, line, buf.at, buf.len);
    lbm_buf_free(&bytes);
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
        cmocka_unit_test(a_payload_holds_what_neighbours_see),
        cmocka_unit_test(memory_that_is_short_is_told),
        cmocka_unit_test(whole_states_are_unpacked_with_room_for_what_is_shared),
        cmocka_unit_test(what_neighbours_see_makes_sense_or_is_refused),
        cmocka_unit_test(a_vertex_has_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
