/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laps of a job that diffuses: they come to an end, however often hosts come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/mapping/diffuse.h"
#include "tests/unit/node/node_fixture.h"

enum { LAST_LAP = LBM_STAGE_REMAP / LBM_STAGE_LAP - 1 };

static void
hear_sums(struct alone *b, uint32_t stage, uint64_t hosts)
{
    Lbm__Sums sums = LBM__SUMS__INIT;
    sums.job = JOB;
    sums.stage = stage;
    sums.stamp = 1;
    sums.hosts = hosts;
    Lbm__Peer message = alone_envelope();
    message.body_case = LBM__PEER__BODY_SUMS;
    message.sums = &sums;
    alone_hear(b, &message);
}

static void
begin(struct alone *b)
{
    alone_prepare_job(b, (struct alone_job){10, 0.03, LBM_START_DIFFUSE});
    alone_keep_row(b, 1, 1, LBM_STAGE_OWN, LBM_NONE);
    alone_start(b, 0);
    alone_hear_phase(b, LBM_PHASE_MAPPING);
    alone_pass(b, SECOND / 2);
    assert_in_range(b->stage, 1, LBM_STAGE_LAP - 1);
    assert_int_equal(b->phase, LBM_PHASE_MAPPING);
}

/* What is told in another lap is of hosts that this one has yet to hear of: it waits. */
static void
a_lap_of_other_hosts_is_waited_for(void **state)
{
    (void)state;
    struct alone b;
    begin(&b);
    hear_sums(&b, 3 * LBM_STAGE_LAP + 1, 12345);
    alone_pass(&b, SECOND / 2);
    assert_in_range(b.stage, 1, LBM_STAGE_LAP - 1);
    alone_stop(&b);
}

/* There is no lap after the last one that the hosts of now could have. */
static void
after_the_last_lap_nobody_waits(void **state)
{
    (void)state;
    struct alone b;
    begin(&b);
    hear_sums(&b, LAST_LAP * LBM_STAGE_LAP + 1, 12345);
    alone_pass(&b, SECOND / 2);
    assert_int_equal(b.stage / LBM_STAGE_LAP, LAST_LAP);
    alone_hear_phase(&b, LBM_PHASE_BALANCING);
    alone_pass(&b, SECOND / 2);
    assert_int_equal(b.phase, LBM_PHASE_BALANCING);
    alone_stop(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lap_of_other_hosts_is_waited_for),
        cmocka_unit_test(after_the_last_lap_nobody_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
