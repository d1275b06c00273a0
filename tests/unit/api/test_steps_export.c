/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lbmap_steps keeps of states before the last where neighbours see a part. */
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

enum { STATE_BYTES = 8192, SIDE_BYTES = 256, NEIGHBOURS = 4, STATES = 30, HERE = 1, THERE = 2 };

/* ---- what is elsewhere in the library ---- */

void
lbm_steps_count(struct lbm_steps *steps, struct lbm_line *line)
{
    (void)steps, (void)line;
    fail();
}

/* ---- a program ---- */

static size_t side_bytes = SIDE_BYTES;
static int calls;

static size_t
share(void *context, uint32_t vertex, const void *state, size_t size, void *shared)
{
    (void)context, (void)vertex, (void)size;
    memcpy(shared, state, SIDE_BYTES);
    return side_bytes;
}

static size_t
share_with(void *context, uint32_t vertex, uint32_t neighbour, const void *state, size_t size, void *shared)
{
    (void)context, (void)vertex, (void)size;
    calls++;
    memset(shared, (int)(*(const uint8_t *)state + neighbour), SIDE_BYTES);
    return side_bytes;
}

static const struct lbmap_steps some = {.state_size = STATE_BYTES, .share_size = SIDE_BYTES, .share = share},
                                each = {.state_size = STATE_BYTES, .share_with = share_with};

/* Vertex 10 with STATES states, those after 0, 1 ... steps; neighbours 0 to 3, the odd ones at THERE. */
static struct lbm_line *
begin(struct lbm_steps *steps, const struct lbmap_steps *program)
{
    *steps = (struct lbm_steps){.program = *program, .export_size = program->share_with ? SIDE_BYTES : 0};
    side_bytes = SIDE_BYTES;
    calls = 0;
    for (uint32_t u = 0; u < NEIGHBOURS; u++) {
        struct lbm_line *other = lbm_steps_line(steps, u);
        other->host = u % 2 != 0 ? THERE : HERE;
        other->token = u % 2 == 0;
    }
    struct lbm_line *line = lbm_steps_line(steps, 10);
    line->token = 1;
    for (uint32_t u = 0; u < NEIGHBOURS; u++)
        assert_int_equal(lbm_vec_push(&line->edges, ((struct lbm_edge){lbm_steps_line(steps, u), 1})),
                         LBM_OK);
    line->has_edges = 1;
    uint8_t bytes[STATE_BYTES];
    for (int s = 0; s < STATES; s++) {
        memset(bytes, s, sizeof bytes);
        struct lbm_state *state = lbm_state_new(bytes, sizeof bytes, sizeof bytes, program->share_size);
        assert_non_null(state);
        if (program->share != NULL) /* as lbm_steps_share */
            state->shared_len = share(NULL, 10, state->bytes, state->len, state->bytes + state->shared_at);
        assert_int_equal(lbm_line_push(line, state), LBM_OK);
    }
    return line;
}

static void
end(struct lbm_steps *steps)
{
    for (size_t i = 0; i < steps->lines.n; i++)
        lbm_line_free(steps->lines.at[i]);
    lbm_vec_free(&steps->lines);
    lbm_idmap_free(&steps->at);
    lbm_buf_free(&steps->parts);
    lbm_buf_free(&steps->room);
}

static void
expect_form(const struct lbm_line *line, uint64_t from, uint64_t to, enum lbm_form form)
{
    for (uint64_t s = from; s < to; s++)
        assert_int_equal(lbm_line_get(line, s)->form, form);
}

/* What every neighbour finds of states [0, STATES). */
static void
expect_views(struct lbm_steps *steps, const struct lbm_line *line)
{
    _Alignas(16) uint8_t room[SIDE_BYTES], expected[SIDE_BYTES];
    for (uint64_t s = 0; s < STATES; s++)
        for (uint32_t u = 0; u < NEIGHBOURS; u++) {
            size_t size = 0;
            assert_true(lbm_export_has(line, s, u));
            const void *seen = lbm_export_view(steps, line, lbm_line_get(line, s), u, room, &size);
            memset(expected, (int)(s + (steps->program.share_with != NULL ? u : 0)), sizeof expected);
            assert_int_equal(size, SIDE_BYTES);
            assert_memory_equal(seen, expected, SIDE_BYTES);
        }
}

static size_t
payload_bytes(const struct lbm_line *line)
{
    struct lbm_buf buf = {0};
    lbm_line_pack(line, 0, &buf);
    assert_false(buf.failed);
    size_t len = buf.len;
    lbm_buf_free(&buf);
    return len;
}

static void
states_before_the_last_become_short(void **unused)
{
    struct lbm_steps steps;
    (void)unused;
    for (int i = 0; i < 2; i++) {
        struct lbm_line *line = begin(&steps, i == 0 ? &some : &each);
        enum lbm_form form = i == 0 ? LBM_SHARED : LBM_PARTS;
        size_t of_each = i == 0 ? SIDE_BYTES : NEIGHBOURS * (SIDE_BYTES + 8);
        assert_int_equal(payload_bytes(line), 16 + STATES * (4 + STATE_BYTES));
        expect_views(&steps, line);
        lbm_export_shorten(&steps, line, 3, 5);
        expect_form(line, 0, 3, LBM_WHOLE);
        expect_form(line, 3, 5, form);
        expect_form(line, 5, STATES, LBM_WHOLE);
        expect_views(&steps, line);
        lbm_export_shorten(&steps, line, 0, UINT64_MAX); /* the last one stays, whatever is said */
        expect_form(line, 0, STATES - 1, form);
        expect_form(line, STATES - 1, STATES, LBM_WHOLE);
        expect_views(&steps, line);
        assert_int_equal(payload_bytes(line), 16 + 4 + STATE_BYTES + (STATES - 1) * (4 + of_each));
        assert_true(lbm_export_is_complete(line));
        end(&steps);
    }
}

static void
states_stay_whole_where_nothing_is_saved_or_nothing_is_known(void **unused)
{
    struct lbm_steps steps;
    (void)unused;
    struct lbm_line *line = begin(&steps, &each);
    line->has_edges = 0; /* not told yet */
    lbm_export_shorten(&steps, line, 0, STATES);
    expect_form(line, 0, STATES, LBM_WHOLE);
    assert_int_equal(calls, 0);
    line->has_edges = 1;
    for (uint64_t s = 0; s < STATES; s++) /* parts with what is around them would take as much */
        line->ring[s & (line->ring_size - 1)]->len = NEIGHBOURS * (SIDE_BYTES + LBM_PART_HEAD);
    lbm_export_shorten(&steps, line, 0, STATES);
    expect_form(line, 0, STATES, LBM_WHOLE);
    assert_int_equal(calls, (STATES - 1) * NEIGHBOURS);
    lbm_export_shorten(&steps, line, 0, STATES); /* it is not tried again */
    assert_int_equal(calls, (STATES - 1) * NEIGHBOURS);
    end(&steps);

    line = begin(&steps, &each);
    side_bytes = SIDE_BYTES + 1; /* a program that ends with an error */
    lbm_export_shorten(&steps, line, 0, STATES);
    assert_int_equal(steps.error, LBMAP_E_RANGE);
    expect_form(line, 0, STATES, LBM_WHOLE);
    end(&steps);

    volatile int stop = 1; /* or that gives up, perhaps as what it made is wrong */
    line = begin(&steps, &each);
    steps.program.stop = &stop;
    lbm_export_shorten(&steps, line, 0, STATES);
    expect_form(line, 0, STATES, LBM_WHOLE);
    end(&steps);
}

static void
short_states_are_sent_as_whole_ones_are(void **unused)
{
    struct lbm_steps steps;
    struct lbm_buf before = {0};
    size_t at = 0;
    (void)unused;
    struct lbm_line *line = begin(&steps, &each);
    assert_true(lbm_export_pack(&steps, line, 7, THERE, &at));
    lbm_buf_put(&before, steps.parts.at, steps.parts.len);
    assert_int_equal(before.len, NEIGHBOURS / 2 * (8 + SIDE_BYTES));
    lbm_export_shorten(&steps, line, 0, STATES);
    at = 0;
    assert_true(lbm_export_pack(&steps, line, 7, THERE, &at));
    assert_int_equal(steps.parts.len, before.len);
    assert_memory_equal(steps.parts.at, before.at, before.len);
    assert_false(lbm_export_pack(&steps, line, 7, THERE, &at));
    lbm_buf_free(&before);
    end(&steps);
}

static void
a_neighbour_that_was_none_is_noticed(void **unused)
{
    struct lbm_steps steps;
    (void)unused;
    struct lbm_line *line = begin(&steps, &each);
    lbm_export_shorten(&steps, line, 0, 5);
    assert_int_equal(lbm_vec_push(&line->edges, ((struct lbm_edge){lbm_steps_line(&steps, 4), 1})), LBM_OK);
    assert_false(lbm_export_is_complete(line));
    lbm_line_drop(line, 5); /* of whole states it sees its part */
    assert_true(lbm_export_is_complete(line));
    end(&steps);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_before_the_last_become_short),
        cmocka_unit_test(states_stay_whole_where_nothing_is_saved_or_nothing_is_known),
        cmocka_unit_test(short_states_are_sent_as_whole_ones_are),
        cmocka_unit_test(a_neighbour_that_was_none_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
