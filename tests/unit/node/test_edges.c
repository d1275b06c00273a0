/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edges between hosts that applications change, in virtual time: how soon both ends say the same. Until then
 * their vertices stay where they are, and a plan of the whole lacks the edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/model/cluster.h"
#include "tests/unit/node/cluster_fixture.h"

enum { SECOND_US = 1000000, NEW = 100 };

static char name[] = "job";

static int
all_is_asked_for(struct cluster *cluster, void *arg)
{
    (void)arg;
    return cluster_edits_left(cluster) == 0;
}

/* Applications change the guest until nothing is left to ask for. */
static void
carry_out(struct scene *scene)
{
    assert_true(cluster_run(scene->cluster, 10 * SECOND_US, all_is_asked_for, NULL));
}

static void
add_new_ones(struct scene *scene)
{
    for (uint32_t i = 0; i < NEW; i++) {
        uint32_t next_to = i * (scene->g.n / NEW);
        cluster_edit(scene->cluster, (struct cluster_edit){CLUSTER_EDIT_ADD, scene->g.n + i, next_to, 1});
        cluster_edit(scene->cluster, (struct cluster_edit){CLUSTER_EDIT_EDGE, scene->g.n + i, next_to, 1});
    }
}

/* Each with one that began far from it: some, and before all is said of these the others. */
static void
link_new_ones(struct scene *scene)
{
    for (uint32_t i = 0; i < NEW / 2; i++) {
        cluster_edit(scene->cluster,
                     (struct cluster_edit){CLUSTER_EDIT_EDGE, scene->g.n + i, scene->g.n + NEW / 2 + i, 1});
        if (i == NEW / 4)
            cluster_run(scene->cluster, SECOND_US / 10, NULL, NULL);
    }
}

/* When somebody was told of an edge, or asked where the other end is, for the last time; in ms. */
static double
last_told(const struct scene *scene)
{
    double last = 0;
    for (const char *line = cluster_trace_text(scene->cluster); *line != '\0';
         line = strchr(line, '\n') + 1) {
        const char *gets = strstr(line, "  gets "), *end = strchr(line, '\n');
        if (gets == NULL || gets > end)
            continue;
        if (strncmp(gets, "  gets edges from", 17) == 0 || strncmp(gets, "  gets where from", 17) == 0)
            last = strtod(line, NULL);
    }
    return last;
}

static void
both_ends_agree_within_a_fifth_of_a_second(void **state)
{
    (void)state;
    struct scene scene;
    struct cluster_options options = scene_without_faults;
    options.sync_us = 30000;
    scene_new(&scene, "mesh:3x3", "lattice:30x30", &options);
    assert_int_equal(cluster_submit(scene.cluster, 0, name, &scene.g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(&scene, 60);
    for (uint32_t p = 0; p < scene.h.n; p++)
        cluster_run_application(scene.cluster, p, name, CLIENT_MODEL_OBEDIENT);
    cluster_run(scene.cluster, 5 * SECOND_US, NULL, NULL);
    cluster_follow_script(scene.cluster, name, scene.g.n);
    add_new_ones(&scene);
    carry_out(&scene);
    cluster_trace(scene.cluster, 1);
    link_new_ones(&scene);
    carry_out(&scene);
    double asked = (double)cluster_now(scene.cluster) / 1e3;
    cluster_run(scene.cluster, 5 * SECOND_US, NULL, NULL);
    if (getenv("SHOW") != NULL)
        print_message("asked for until %.0f ms, told until %.0f ms\n", asked, last_told(&scene));
    assert_true(last_told(&scene) > 0 && last_told(&scene) <= asked + 200);
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_agree_within_a_fifth_of_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
