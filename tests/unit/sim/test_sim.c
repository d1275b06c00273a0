/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulator itself: its clocks, timers and disks do what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/model/internal.h"
#include "tests/unit/sim/disk_fixture.h"

enum { SECOND = 1000000 };

/* ---- clocks -------------------------------------------------------------------------------------------- */

static void
a_clock_gains_what_its_rate_says(void **state)
{
    (void)state;
    struct sim_clock clock = {0, 500, 10000};
    assert_int_equal(clock_shows(&clock, 0), 500);
    assert_int_equal(clock_shows(&clock, 100 * SECOND), 500 + 101 * (int64_t)SECOND);
    clock_set_rate(&clock, 100 * SECOND, -10000);
    assert_int_equal(clock_shows(&clock, 200 * SECOND), 500 + 200 * (int64_t)SECOND);
}

static void
a_clock_reaches_a_time_at_the_first_trigger_that_shows_it(void **state)
{
    (void)state;
    const int32_t rates[] = {0, 1, -1, 333, -4950, 9999, 10000, -10000};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct sim_clock clock = {1000, 77, rates[i]};
        for (int64_t shown = 78; shown < 400 * (int64_t)SECOND; shown = shown * 3 + 1) {
            int64_t at = clock_reaches(&clock, shown);
            assert_true(clock_shows(&clock, at) >= shown);
            assert_true(clock_shows(&clock, at - 1) < shown);
        }
        assert_int_equal(clock_reaches(&clock, 5), 1000);
        assert_int_equal(clock_reaches(&clock, INT64_MAX), INT64_MAX);
    }
}

/* ---- timers ------------------------------------------------------------------------------------------- */

/* Against looking at all of them. */
static void
the_first_timer_is_found(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 7);
    for (uint32_t n = 1; n <= 40; n += 13) {
        struct timers timers;
        int64_t when_us[40], first_us;
        timers_init(&timers, n);
        assert_int_equal(timers_first(&timers, &first_us), LBM_NONE);
        for (uint32_t p = 0; p < n; p++)
            when_us[p] = INT64_MAX;
        for (int i = 0; i < 500; i++) {
            uint32_t p = lbm_rng_below(&rng, n), first = LBM_NONE;
            when_us[p] = lbm_rng_below(&rng, 4) != 0 ? (int64_t)lbm_rng_below(&rng, 50) : INT64_MAX;
            timers_set(&timers, p, when_us[p]);
            for (uint32_t q = 0; q < n; q++)
                if (when_us[q] != INT64_MAX && (first == LBM_NONE || when_us[q] < when_us[first]))
                    first = q;
            assert_int_equal(timers_first(&timers, &first_us), first);
            if (first != LBM_NONE)
                assert_int_equal(first_us, when_us[first]);
        }
        timers_free(&timers);
    }
}

/* ---- disks --------------------------------------------------------------------------------------------- */

static void
a_disk_gives_back_what_it_was_given(void **state)
{
    (void)state;
    struct disks s;
    struct lbm_recovered recovered;
    disks_begin(&s);
    struct lbm_row row = disks_row_at(&s, 2, 4, LBM_STAGE_OUT);
    row.seq = 50;
    assert_null(disks_put_row(&s, 0, row));
    row = disks_row_at(&s, 3, 2, LBM_STAGE_OWN);
    assert_null(disks_put_replica(&s, 0, 1, &row, 1));
    struct disk copy;
    disk_copy(&s.disk[0], &copy);
    disk_recover(&copy, &recovered);
    assert_int_equal(recovered.seq, 50);
    assert_int_equal(recovered.rows.n, 6);
    for (uint32_t v = 0; v < 6; v++)
        assert_int_equal(recovered.rows.at[v].vertex, v);
    assert_int_equal(recovered.rows.at[2].stage, LBM_STAGE_OUT);
    assert_int_equal(recovered.replicas.n, 1);
    assert_int_equal(recovered.replicas.at[0].rows.at[0].vertex, 3);
    assert_int_equal(recovered.log.n, DISKS_FOUNDING + 1);
    struct lbm_recovered *owned = lbm_copy(&recovered, 1, sizeof recovered);
    lbm_recovered_free(owned);
    disk_free(&copy);
    disks_end(&s);
}

static void
a_disk_says_what_it_must_not_be_told(void **state)
{
    (void)state;
    struct disks s;
    disks_begin(&s);
    assert_null(disks_put_row(&s, 0, disks_row_at(&s, 0, 3, LBM_STAGE_OUT)));
    assert_non_null(disks_put_row(&s, 0, disks_row_at(&s, 0, 3, LBM_STAGE_OWN)));
    assert_non_null(disks_put_row(&s, 0, disks_row_at(&s, 1, 0, LBM_STAGE_MOV)));
    struct lbm_persist_op gap = {.kind = LBM_PERSIST_LOG};
    gap.as.log.index = DISKS_FOUNDING + 5;
    gap.as.log.command = (uint8_t *)"";
    assert_non_null(disk_apply(&s.disk[0], &gap));
    struct lbm_persist_op held = {.kind = LBM_PERSIST_ROW_DELETE, .job = DISKS_JOB};
    held.as.gone.vertex = 4;
    assert_non_null(disk_apply(&s.disk[0], &held));
    struct lbm_persist_op again = {.kind = LBM_PERSIST_RESET};
    again.as.reset.incarnation = 1;
    assert_non_null(disk_apply(&s.disk[0], &again));
    disks_end(&s);
}

static void
a_reset_leaves_the_control_log_alone(void **state)
{
    (void)state;
    struct disks s;
    disks_begin(&s);
    struct lbm_persist_op reset = {.kind = LBM_PERSIST_RESET};
    reset.as.reset.incarnation = 2;
    assert_null(disk_apply(&s.disk[0], &reset));
    assert_int_equal(rows_count(&s.disk[0].rows), 0);
    assert_int_equal(s.disk[0].log.n, DISKS_FOUNDING + 1);
    assert_int_equal(s.disk[0].incarnation, 2);
    disks_end(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_timer_is_found),
        cmocka_unit_test(a_clock_gains_what_its_rate_says),
        cmocka_unit_test(a_clock_reaches_a_time_at_the_first_trigger_that_shows_it),
        cmocka_unit_test(a_disk_gives_back_what_it_was_given),
        cmocka_unit_test(a_disk_says_what_it_must_not_be_told),
        cmocka_unit_test(a_reset_leaves_the_control_log_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
