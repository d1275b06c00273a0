/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds of a node with partners that are not where it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/exchange/state.h"
#include "tests/unit/node/node_fixture.h"

static void
hear_ahead(struct alone *b, uint64_t sweep)
{
    Lbm__PairNotice notice = LBM__PAIR_NOTICE__INIT;
    notice.job = JOB;
    notice.kind = NOTICE_AHEAD;
    notice.sweep = sweep;
    Lbm__Peer message = alone_envelope();
    message.body_case = LBM__PEER__BODY_PAIR_NOTICE;
    message.pair_notice = &notice;
    alone_hear(b, &message);
}

/* Who was away comes back many sweeps later: a pause for each of them would take a minute. */
static void
who_is_behind_all_catches_up_at_once(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_keep_row(&b, 1, 1, LBM_STAGE_OWN, LBM_NONE);
    alone_start(&b, 0);
    alone_hear_phase(&b, LBM_PHASE_BALANCING);
    alone_pass(&b, SECOND / 100);
    alone_hear_phase(&b, LBM_PHASE_BALANCING);
    alone_pass(&b, 2 * SECOND + 2 * SECOND / 5); /* the other is unreachable by now, and a pause has begun */
    assert_in_range(b.sweep, 0, 10);
    alone_hear_phase(&b, LBM_PHASE_BALANCING);
    hear_ahead(&b, 300);
    alone_pass(&b, SECOND / 2);
    assert_in_range(b.sweep, 300, 301);
    alone_stop(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_behind_all_catches_up_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
