/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds of a node with partners that are not where it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/core/timeouts.h"
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

/* The partner answers the round that was opened last. */
static void
hear_accept(struct alone *b, uint64_t load, int first)
{
    Lbm__Records band = LBM__RECORDS__INIT;
    Lbm__PairAccept accept = LBM__PAIR_ACCEPT__INIT;
    accept.job = JOB;
    accept.sweep = b->sweep;
    accept.load = load;
    accept.residual_hops = RESIDUAL_HOPS_MAX;
    accept.band = &band;
    accept.first = first != 0;
    Lbm__Peer message = alone_envelope();
    message.body_case = LBM__PEER__BODY_PAIR_ACCEPT;
    message.pair_accept = &accept;
    alone_hear(b, &message);
}

/* A host that has 16 vertices of 20 and may have 15 meets one that has as many, until only what makes the
 * excess less still moves; then one with a load of 14. Returns nonzero if it offers anything. */
static int
gives(int first)
{
    struct alone b;
    alone_prepare_job(&b, (struct alone_job){20, 0.5, LBM_START_PLAN});
    for (uint32_t v = 0; v < 16; v++)
        alone_keep_row(&b, v, 1, LBM_STAGE_OWN, LBM_NONE);
    alone_start(&b, 0);
    for (int i = 0; b.sweep <= PATIENT_SHARES + 5; i++) {
        assert_in_range(i, 0, 2 * PATIENT_SHARES);
        alone_hear_phase(&b, LBM_PHASE_BALANCING);
        alone_pass(&b, SECOND / 10);
        hear_accept(&b, b.sweep <= PATIENT_SHARES ? 16 : 14, first);
    }
    alone_pass(&b, SECOND / 10);
    int offers = strstr(b.trace.at, " offer ") != NULL;
    alone_stop(&b);
    return offers;
}

/* One that has settled keeps a part of its slack free, one that has begun again does not. If each took the
 * other for what it is itself, the one would give what the other gives back, for ever. */
static void
the_margin_of_a_partner_that_has_settled_is_no_room(void **state)
{
    (void)state;
    assert_true(gives(1));
    assert_false(gives(0));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_behind_all_catches_up_at_once),
        cmocka_unit_test(the_margin_of_a_partner_that_has_settled_is_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
