/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vertices of lbmap_steps that come and go. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/steps.h"

enum { STATE_BYTES = 8, KEEP = 1, WINDOW = 3 * KEEP + 1, STEPS = 100, LAST = 40 };

/* ---- what is elsewhere in the library ---- */

int
lbm_reduce_is_there(const struct lbm_steps *steps, uint64_t step)
{
    (void)steps, (void)step;
    return 1;
}

/* ---- a program ---- */

static void
set_up(struct lbm_steps *steps)
{
    *steps = (struct lbm_steps){.program = {.state_size = STATE_BYTES, .steps = STEPS, .keep = KEEP},
                                .window = WINDOW};
}

static void
tear_down(struct lbm_steps *steps)
{
    for (size_t i = 0; i < steps->lines.n; i++)
        lbm_line_free(steps->lines.at[i]);
    lbm_vec_free(&steps->lines);
    lbm_vec_free(&steps->own);
    lbm_vec_free(&steps->ready);
    lbm_vec_free(&steps->fresh);
    lbm_idmap_free(&steps->at);
}

/* It is given with states after `from` to LAST steps. */
static void
acquire(struct lbm_steps *steps, uint32_t vertex, uint64_t from)
{
    static const uint8_t bytes[STATE_BYTES];
    struct lbm_line *line = lbm_alloc(1, sizeof *line);
    struct lbm_buf payload = {0};
    assert_non_null(line);
    lbm_line_begin(line, from);
    for (uint64_t s = from; s <= LAST; s++)
        assert_int_equal(lbm_line_push(line, lbm_state_new(bytes, sizeof bytes, sizeof bytes, 0)), LBM_OK);
    lbm_line_pack(line, 0, &payload);
    lbm_line_free(line);
    lbm_steps_on_acquire(steps, vertex, 1, &(struct lbmap_payload){payload.at, payload.len});
    lbm_buf_free(&payload);
}

static void
tell_edge(struct lbm_steps *steps, uint32_t vertex, uint32_t other)
{
    const struct lbmap_edge edge = {other, 1, LBMAP_NOWHERE};
    lbm_steps_on_edges(steps, vertex, 1, &edge, 1);
}

/* ---- tests ---- */

/* The payload of one of them was made when the other was kept long ago, at the width of the window: by then
 * that one has been kept, too. Both come together, as to a program that begins again. */
static void
states_that_neighbours_have_passed_do_not_hold_a_vertex_up(void **unused)
{
    struct lbm_steps steps;
    (void)unused;
    set_up(&steps);
    acquire(&steps, 1, LAST - WINDOW);
    acquire(&steps, 2, LAST);
    tell_edge(&steps, 1, 2);
    tell_edge(&steps, 2, 1);
    assert_int_equal(steps.error, LBMAP_OK);
    assert_int_equal(lbm_steps_line(&steps, 1)->lo, LAST);
    assert_int_equal(steps.ready.n, 2);
    tear_down(&steps);
}

/* A neighbour elsewhere may begin again at any step, as long as it has not said otherwise. */
static void
states_that_a_neighbour_may_need_stay(void **unused)
{
    struct lbm_steps steps;
    (void)unused;
    set_up(&steps);
    acquire(&steps, 1, LAST - WINDOW);
    tell_edge(&steps, 1, 2);
    struct lbm_line *line = lbm_steps_line(&steps, 1), *other = lbm_steps_line(&steps, 2);
    assert_int_equal(line->lo, LAST - WINDOW);
    lbm_steps_set_durable(&steps, other, LAST - 2);
    assert_int_equal(line->lo, LAST - 2);
    tear_down(&steps);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_that_neighbours_have_passed_do_not_hold_a_vertex_up),
        cmocka_unit_test(states_that_a_neighbour_may_need_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
