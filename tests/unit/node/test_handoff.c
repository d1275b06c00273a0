/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a node stores and sends at every row of the handoff (docs/protocol.md), in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/node/node_fixture.h"

/* ---- the target's side --------------------------------------------------------------------------------- */

static void
an_offer_is_stored_before_it_is_acknowledged(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_start(&b, 0);
    alone_hear_offer(&b, 7, 2);
    alone_expect(&b, "1000 ms  #1 own 7 e2\n"
                     "1000 ms  copy 7 e2 to 1 >1\n"
                     "1000 ms  ack 7 e2 to 1 >1\n");
    alone_stop(&b);
}

static void
a_repeated_offer_is_answered_from_the_record(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_keep_row(&b, 1, 4, LBM_STAGE_OWN, LBM_NONE);
    alone_keep_row(&b, 2, 4, LBM_STAGE_MOV, OTHER);
    alone_keep_row(&b, 3, 4, LBM_STAGE_REF, OTHER);
    alone_start(&b, 0);
    alone_hear_offer(&b, 1, 4);
    alone_hear_offer(&b, 2, 4); /* accepted then, passed on since */
    alone_hear_offer(&b, 2, 3);
    alone_hear_offer(&b, 3, 4);
    alone_hear_offer(&b, 3, 2); /* refused later than this one */
    alone_expect(&b, "1000 ms  copy 1 e4 to 1 >0\n"
                     "1000 ms  fin 2 e5 to 1 >0\n"
                     "1000 ms  ack 1 e4 to 1 >0\n"
                     "1000 ms  ack 2 e4 to 1 >0\n"
                     "1000 ms  ack 2 e3 to 1 >0\n"
                     "1000 ms  refuse 3 e4 to 1 >0\n"
                     "1000 ms  ack 3 e2 to 1 >0\n");
    alone_hear_offer(&b, 3, 6); /* after the refusal its owner went on at e5 */
    alone_expect(&b, "1000 ms  #1 own 3 e6\n"
                     "1000 ms  copy 3 e6 to 1 >1\n"
                     "1000 ms  ack 3 e6 to 1 >1\n");
    alone_stop(&b);
}

static void
a_full_host_stores_its_refusal_first(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_keep_row(&b, 1, 4, LBM_STAGE_OWN, LBM_NONE);
    alone_start(&b, 1);
    alone_hear_offer(&b, 7, 2);
    alone_hear_offer(&b, 7, 2);
    alone_expect(&b, "1000 ms  copy 1 e4 to 1 >0\n"
                     "1000 ms  #1 refused 7 e2\n"
                     "1000 ms  copy 7 e2 to 1 >1\n"
                     "1000 ms  refuse 7 e2 to 1 >1\n"
                     "1000 ms  refuse 7 e2 to 1 >1\n");
    alone_stop(&b);
}

/* ---- the source's side --------------------------------------------------------------------------------- */

/* The plan wants it elsewhere; the coordinator says that vertices may go. */
static void
a_vertex_is_out_on_disk_before_it_is_offered(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_keep_row(&b, 4, 3, LBM_STAGE_OWN, LBM_NONE);
    alone_keep_row(&b, 5, 3, LBM_STAGE_OWN, LBM_NONE);
    b.disk->rows.at[1].peer = OTHER;
    alone_start(&b, 0);
    alone_hear_phase(&b, LBM_PHASE_MAPPING);
    alone_pass(&b, SECOND / 2);
    alone_expect(&b, "1000 ms  copy 4 e3 to 1 >0\n"
                     "1000 ms  #1 out 5 e3\n"
                     "1000 ms  copy 5 e3 to 1 >1\n"
                     "1000 ms  offer 5 e4 to 1 >1\n");
    alone_stop(&b);
}

static void
what_was_out_is_offered_again_after_a_restart_until_answered(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_keep_row(&b, 5, 3, LBM_STAGE_OUT, OTHER);
    alone_start(&b, 0);
    alone_pass(&b, 2 * SECOND + SECOND / 2);
    alone_expect(&b, "1000 ms  copy 5 e3 to 1 >0\n"
                     "1000 ms  offer 5 e4 to 1 >0\n"
                     "2000 ms  offer 5 e4 to 1 >0\n"
                     "3000 ms  offer 5 e4 to 1 >0\n");
    alone_hear_answer(&b, 5, 4, 0);
    alone_expect(&b, "3500 ms  #1 moved 5 e3\n"
                     "3500 ms  copy 5 e3 to 1 >1\n"
                     "3500 ms  fin 5 e4 to 1 >1\n");
    alone_pass(&b, 5 * SECOND);
    alone_expect(&b, "");
    alone_hear_answer(&b, 5, 4, 0); /* it missed our FIN */
    alone_expect(&b, "8500 ms  fin 5 e4 to 1 >1\n");
    alone_stop(&b);
}

/* The taker reads slowly: what waits to leave must not grow with each repetition. */
static void
what_has_not_left_yet_is_not_offered_again(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_keep_row(&b, 5, 3, LBM_STAGE_OUT, OTHER);
    alone_start(&b, 0);
    alone_behind(&b, 1);
    alone_pass(&b, 30 * SECOND);
    alone_expect(&b, "1000 ms  copy 5 e3 to 1 >0\n"
                     "1000 ms  offer 5 e4 to 1 >0\n");
    alone_behind(&b, 0);
    alone_pass(&b, SECOND);
    alone_expect(&b, "32000 ms  offer 5 e4 to 1 >0\n");
    alone_stop(&b);
}

static void
a_refused_vertex_is_owned_again_two_epochs_later(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_keep_row(&b, 5, 3, LBM_STAGE_OUT, OTHER);
    alone_start(&b, 0);
    lbm_buf_free(&b.trace);
    alone_hear_answer(&b, 5, 4, 1);
    alone_expect(&b, "1000 ms  #1 own 5 e5\n"
                     "1000 ms  copy 5 e5 to 1 >1\n"
                     "1000 ms  fin 5 e4 to 1 >1\n");
    alone_hear_answer(&b, 5, 4, 1); /* repeated, and an acknowledgement that contradicts it */
    alone_hear_answer(&b, 5, 4, 0);
    alone_pass(&b, 3 * SECOND);
    alone_expect(&b, "1000 ms  fin 5 e4 to 1 >1\n"
                     "1000 ms  fin 5 e4 to 1 >1\n");
    alone_stop(&b);
}

static void
an_answer_to_another_offer_changes_nothing(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_keep_row(&b, 5, 3, LBM_STAGE_OUT, OTHER);
    alone_keep_row(&b, 6, 3, LBM_STAGE_OWN, LBM_NONE);
    alone_start(&b, 0);
    lbm_buf_free(&b.trace);
    alone_hear_answer(&b, 5, 3, 0);
    alone_hear_answer(&b, 5, 5, 0);
    alone_hear_answer(&b, 6, 4, 0); /* never offered */
    alone_hear_answer(&b, 9, 2, 0); /* never here */
    alone_expect(&b, "1000 ms  fin 5 e3 to 1 >0\n"
                     "1000 ms  fin 9 e2 to 1 >0\n");
    alone_stop(&b);
}

/* ---- strangers ----------------------------------------------------------------------------------------- */

static void
what_is_meant_for_others_is_dropped(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_start(&b, 0);
    Lbm__Peer wrong[6];
    for (int i = 0; i < 6; i++)
        wrong[i] = alone_envelope();
    wrong[0].cluster = CLUSTER + 1;
    wrong[1].dst = OTHER;
    wrong[2].dst_incarnation = 2;
    wrong[3].src_incarnation = 0;
    wrong[4].src = 5; /* no member */
    wrong[5].src = SELF;
    for (int i = 0; i < 6; i++)
        alone_hear_offer_as(&b, wrong[i], JOB, 7, 2);
    alone_hear_offer_as(&b, alone_envelope(), JOB + 1, 7, 2); /* a job this host has not heard of */
    alone_hear_offer_as(&b, alone_envelope(), JOB, 10, 2);    /* a vertex the guest does not have */
    alone_hear_offer_as(&b, alone_envelope(), JOB, 7, 1);     /* an epoch no offer can have */
    alone_expect(&b, "");
    alone_hear_offer(&b, 7, 2);
    alone_expect(&b, "1000 ms  #1 own 7 e2\n"
                     "1000 ms  copy 7 e2 to 1 >1\n"
                     "1000 ms  ack 7 e2 to 1 >1\n");
    alone_stop(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_offer_is_stored_before_it_is_acknowledged),
        cmocka_unit_test(a_repeated_offer_is_answered_from_the_record),
        cmocka_unit_test(a_full_host_stores_its_refusal_first),
        cmocka_unit_test(a_vertex_is_out_on_disk_before_it_is_offered),
        cmocka_unit_test(what_was_out_is_offered_again_after_a_restart_until_answered),
        cmocka_unit_test(what_has_not_left_yet_is_not_offered_again),
        cmocka_unit_test(a_refused_vertex_is_owned_again_two_epochs_later),
        cmocka_unit_test(an_answer_to_another_offer_changes_nothing),
        cmocka_unit_test(what_is_meant_for_others_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
