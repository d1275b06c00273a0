/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A member that offers vertices that it does not own makes no second owner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "tests/unit/node/liar_fixture.h"

/* The liar offers a vertex without neighbours, at that epoch. */
static void
say_offer(struct scene *scene, uint32_t to, uint32_t v, uint64_t e)
{
    uint32_t vertex[1] = {v}, one[1] = {1}, none[1] = {LBM_NONE}, zero[1] = {0};
    uint64_t epoch[1] = {e};
    double position[LBM_DIMENSIONS_MAX] = {0.5, 0.5, 0.5};
    Lbm__Records records = LBM__RECORDS__INIT;
    records.n_vertex = records.n_epoch = records.n_work = records.n_pin = records.n_anchored =
        records.n_degree = 1;
    records.vertex = vertex;
    records.epoch = epoch;
    records.work = one;
    records.pin = none;
    records.anchored = zero;
    records.degree = zero;
    records.n_position = 2;
    records.position = position;
    Lbm__Offer offer = LBM__OFFER__INIT;
    offer.job = liar_job(scene, 0);
    offer.records = &records;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_OFFER;
    message.offer = &offer;
    assert_true(cluster_say(scene->cluster, LIAR, to, &message));
}

/* A vertex of another host at the last epochs, to a third one: whatever is offered, it is not taken. */
static void
an_offer_out_of_reach_makes_no_second_owner(void **state)
{
    static const uint64_t epochs[] = {UINT64_MAX, INT64_MAX, (uint64_t)1 << 62};
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
    uint32_t *part = calloc(scene.g.n, sizeof *part);
    scene_owners(&scene, part);
    for (size_t i = 0; i < sizeof epochs / sizeof *epochs; i++)
        for (uint32_t v = 0; v < 2; v++)
            say_offer(&scene, part[v] == 0 ? 1 : 0, v, epochs[i]);
    liar_expect_told(scene.cluster, "that is out of reach; refused");
    free(part);
    liar_expect_unharmed(&scene, 0);
    scene_free(&scene);
}

/* The liar offers vertices that neither of the two owns to a host, at epochs that it could have.
 * Returns how many. */
static unsigned
offer_others(struct scene *scene, const uint32_t *part, uint32_t to)
{
    unsigned n = 0;
    for (uint32_t v = 0; v < scene->g.n; v += 5)
        if (part[v] != LIAR && part[v] != to) {
            say_offer(scene, to, v, 3 + v);
            n++;
        }
    return n;
}

/* Nobody has taken anything of another host. */
static void
expect_owners(struct scene *scene, uint32_t *before)
{
    uint32_t *after = calloc(scene->g.n, sizeof *after);
    liar_expect_told(scene->cluster, "host 3 offers vertex ");
    liar_expect_told(scene->cluster, "says that it is its own: not taken");
    scene_owners(scene, after);
    assert_memory_equal(before, after, scene->g.n * sizeof *before);
    free(before);
    free(after);
    liar_expect_unharmed(scene, 0);
}

/* Hosts that never heard of the vertex ask its owner. */
static void
an_offer_of_what_another_host_owns_is_not_taken(void **state)
{
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
    uint32_t *before = calloc(scene.g.n, sizeof *before);
    scene_owners(&scene, before);
    unsigned n_said = 0;
    for (uint32_t to = 0; to < LIAR; to++)
        n_said += offer_others(&scene, before, to);
    assert_true(n_said >= 20);
    cluster_run(scene.cluster, 5000000, NULL, NULL);
    expect_owners(&scene, before);
    scene_free(&scene);
}

/* A host that starts and hears the liar alone waits for the others, and asks them. */
static void
an_offer_to_a_host_that_hears_nobody_else_is_not_taken(void **state)
{
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
    uint32_t *before = calloc(scene.g.n, sizeof *before);
    scene_owners(&scene, before);
    cluster_crash(scene.cluster, 1);
    cluster_cut(scene.cluster, 0, 1, 1);
    cluster_cut(scene.cluster, 2, 1, 1);
    cluster_restart(scene.cluster, 1);
    cluster_run(scene.cluster, 300000, NULL, NULL);
    assert_true(offer_others(&scene, before, 1) >= 5);
    cluster_run(scene.cluster, 300000, NULL, NULL);
    cluster_cut(scene.cluster, 0, 1, 0);
    cluster_cut(scene.cluster, 2, 1, 0);
    cluster_run(scene.cluster, 5000000, NULL, NULL);
    expect_owners(&scene, before);
    scene_free(&scene);
}

/* Some of what the given host owns, to the two others. */
static void
offer_of(struct scene *scene, const uint32_t *part, uint32_t owner)
{
    for (uint32_t v = 0; v < scene->g.n; v += 5)
        for (uint32_t to = 0; to < LIAR; to++)
            if (part[v] == owner && to != owner)
                say_offer(scene, to, v, 3 + v);
}

static void
cut_off(struct scene *scene, uint32_t host, int is_cut)
{
    for (uint32_t other = 0; other < LIAR; other++)
        if (other != host)
            cluster_cut(scene->cluster, host, other, is_cut);
}

/* An owner that is not heard for a while cannot object; its backup does. */
static void
an_offer_of_what_a_silent_host_owns_is_not_taken(void **state)
{
    (void)state;
    for (uint32_t owner = 0; owner < LIAR; owner++) {
        struct scene scene;
        liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
        uint32_t *before = calloc(scene.g.n, sizeof *before);
        uint32_t *after = calloc(scene.g.n, sizeof *after);
        scene_owners(&scene, before);
        cut_off(&scene, owner, 1);
        cluster_run(scene.cluster, 500000, NULL, NULL);
        offer_of(&scene, before, owner);
        cluster_run(scene.cluster, 2500000, NULL, NULL);
        cut_off(&scene, owner, 0);
        cluster_run(scene.cluster, 3000000, NULL, NULL);
        scene_owners(&scene, after);
        assert_memory_equal(before, after, scene.g.n * sizeof *before);
        liar_expect_unharmed(&scene, owner == 0 ? 1 : 0);
        free(before);
        free(after);
        scene_free(&scene);
    }
}

/* Nor can one that is lost: what it had goes to its successor, whatever is offered meanwhile. */
static void
an_offer_of_what_a_lost_host_owned_is_not_taken(void **state)
{
    struct scene scene;
    struct cluster_options options = scene_without_faults;
    (void)state;
    options.evict_share = 0.5;
    liar_begin_with(&scene, "chain:4", &options);
    uint32_t *before = calloc(scene.g.n, sizeof *before);
    scene_owners(&scene, before);
    cluster_crash(scene.cluster, 1);
    while (!liar_is_told(scene.cluster, "took over from host") && cluster_now(scene.cluster) < 120000000)
        offer_of(&scene, before, 1);
    cluster_run(scene.cluster, 3000000, NULL, NULL);
    liar_expect_told(scene.cluster, "took over from host");
    cluster_restart(scene.cluster, 1);
    cluster_run(scene.cluster, 10000000, NULL, NULL);
    liar_expect_unharmed(&scene, 0);
    free(before);
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_offer_out_of_reach_makes_no_second_owner),
        cmocka_unit_test(an_offer_of_what_another_host_owns_is_not_taken),
        cmocka_unit_test(an_offer_of_what_a_silent_host_owns_is_not_taken),
        cmocka_unit_test(an_offer_of_what_a_lost_host_owned_is_not_taken),
        cmocka_unit_test(an_offer_to_a_host_that_hears_nobody_else_is_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
