/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoints are answered when the backup has what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/node/cluster_fixture.h"

/* All is kept as it is, and nothing else happens: nobody will say so later. */
static void
one_that_changes_nothing_is_answered(void **state)
{
    struct scene scene;
    Lbm__CheckpointRequest checkpoint = LBM__CHECKPOINT_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    (void)state;
    scene_new(&scene, "chain:2", "lattice:4x4", &scene_without_faults);
    assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(&scene, 60);
    cluster_run(scene.cluster, 10000000, NULL, NULL);
    request.what_case = LBM__REQUEST__WHAT_CHECKPOINT;
    request.checkpoint = &checkpoint;
    const Lbm__Response *response = cluster_ask(scene.cluster, 0, 0, &request);
    assert_non_null(response);
    assert_int_equal(response->code, LBM_OK);
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_changes_nothing_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
