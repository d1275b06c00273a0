/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a node says to those who take vertices to be with it that are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/node/node_fixture.h"

/* Somebody has changed the edge from `vertex` to `toward`. */
static void
hear_edge(struct alone *b, uint32_t vertex, uint32_t toward)
{
    uint32_t weight = 1;
    uint64_t first = 1;
    Lbm__Edges edges = LBM__EDGES__INIT;
    edges.job = JOB;
    edges.n_vertex = edges.n_toward = edges.n_weight = edges.n_epoch = edges.n_stamp = 1;
    edges.vertex = &vertex;
    edges.toward = &toward;
    edges.weight = &weight;
    edges.epoch = edges.stamp = &first;
    Lbm__Peer message = alone_envelope();
    message.body_case = LBM__PEER__BODY_EDGES;
    message.edges = &edges;
    alone_hear(b, &message);
}

/* What was inherited says of vertex 8 that another gave it to this host, which gave it on long ago. */
static void
who_gave_a_vertex_away_says_where_to_but_never_itself(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_keep_row(&b, 7, 1, LBM_STAGE_MOV, OTHER);
    alone_keep_row(&b, 8, 1, LBM_STAGE_MOV, SELF);
    alone_start(&b, 0);
    hear_edge(&b, 3, 7);
    hear_edge(&b, 3, 8);
    alone_expect(&b, "1000 ms  copy 7 e1 to 1 >0\n"
                     "1000 ms  fin 7 e2 to 1 >0\n"
                     "1000 ms  moved 7 e2 to 1 >0\n"
                     "1000 ms  unknown 8 e0 to 1 >0\n");
    alone_stop(&b);
}

/* `vertex` is with host 1, which takes its neighbour `toward` to be here. */
static void
hear_ghost(struct alone *b, uint32_t vertex, uint32_t toward)
{
    uint32_t work = 1;
    uint64_t epoch = 2;
    double position[2] = {0, 0};
    Lbm__Ghosts ghosts = LBM__GHOSTS__INIT;
    ghosts.job = JOB;
    ghosts.stamp = 1;
    ghosts.n_vertex = ghosts.n_toward = ghosts.n_epoch = ghosts.n_work = 1;
    ghosts.n_position = 2;
    ghosts.vertex = &vertex;
    ghosts.toward = &toward;
    ghosts.epoch = &epoch;
    ghosts.work = &work;
    ghosts.position = position;
    Lbm__Peer message = alone_envelope();
    message.body_case = LBM__PEER__BODY_GHOSTS;
    message.ghosts = &ghosts;
    alone_hear(b, &message);
}

/* Neither might hear of the other else: host 1 asks once, and whoever has the vertex by then asks here. */
static void
who_asks_for_a_vertex_that_is_on_its_way_hears_when_it_has_gone(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_keep_row(&b, 5, 3, LBM_STAGE_OUT, OTHER);
    alone_keep_row(&b, 6, 3, LBM_STAGE_OUT, OTHER);
    alone_start(&b, 0);
    alone_hear_phase(&b, LBM_PHASE_MAPPING);
    alone_expect(&b, "1000 ms  copy 5 e3 to 1 >0\n"
                     "1000 ms  offer 5 e4 to 1 >0\n"); /* and 6 */
    hear_ghost(&b, 3, 5);
    hear_ghost(&b, 3, 5); /* repeated */
    hear_ghost(&b, 3, 6);
    alone_pass(&b, SECOND / 2);
    alone_expect(&b, "");
    alone_hear_answer(&b, 5, 4, 0);
    alone_hear_answer(&b, 6, 4, 1); /* it stays, so host 1 was right */
    alone_pass(&b, SECOND / 2);
    alone_expect(&b, "1500 ms  #1 moved 5 e3\n"
                     "1500 ms  moved 5 e4 to 1 >1\n"
                     "1500 ms  copy 5 e3 to 1 >1\n"
                     "1500 ms  fin 5 e4 to 1 >1\n"
                     "1500 ms  #2 own 6 e5\n"
                     "1500 ms  copy 6 e5 to 1 >2\n"
                     "1500 ms  fin 6 e4 to 1 >2\n");
    alone_stop(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_gave_a_vertex_away_says_where_to_but_never_itself),
        cmocka_unit_test(who_asks_for_a_vertex_that_is_on_its_way_hears_when_it_has_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
