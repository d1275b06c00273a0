/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What hosts measure of the network, in virtual time: round-trip times, coordinates, and links that follow.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/node/cluster_fixture.h"

enum { HOSTS = 8, FAR = 4, FAR_US = 9800 }; /* hosts from FAR on are 20 ms away, there and back */

/* Two sites, 0.2 ms to 0.6 ms inside. */
static struct cluster_options
two_sites(void)
{
    struct cluster_options options = scene_without_faults;
    options.sites_from = FAR;
    options.sites_us = FAR_US;
    return options;
}

static const Lbm__NetworkReply *
ask_network(struct scene *scene, uint32_t host)
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_NETWORK;
    request.network = &empty;
    const Lbm__NetworkReply *network = scene_ask(scene, host, &request)->network;
    assert_non_null(network);
    assert_int_equal(network->host, host);
    return network;
}

/* Milliseconds between two points as host `asked` lists them. */
static double
predicted_between(const Lbm__NetworkEntry *a, const Lbm__NetworkEntry *b)
{
    double sum = 0;
    assert_int_equal(a->n_coordinate, 3);
    assert_int_equal(b->n_coordinate, 3);
    for (int k = 0; k < 3; k++)
        sum += (a->coordinate[k] - b->coordinate[k]) * (a->coordinate[k] - b->coordinate[k]);
    return (sqrt(sum) + a->height + b->height) / 1000;
}

static int
is_far(uint32_t p, uint32_t q)
{
    return (p < FAR) != (q < FAR);
}

static void
round_trips_are_measured_and_predicted(void **state)
{
    (void)state;
    struct scene scene;
    struct cluster_options options = two_sites();
    scene_new(&scene, "mesh:4x2", "lattice:4x4", &options);
    cluster_run(scene.cluster, 60000000, NULL, NULL);
    for (uint32_t host = 0; host < HOSTS; host++) {
        const Lbm__NetworkReply *network = ask_network(&scene, host);
        assert_int_equal(network->n_hosts, HOSTS);
        for (uint32_t p = 0; p < HOSTS; p++) {
            const Lbm__NetworkEntry *entry = network->hosts[p];
            assert_int_equal(entry->host, p);
            assert_true(entry->n_link_host >= 2 && entry->n_link_host <= 3);
            if (p == host) {
                assert_true(entry->measured_us <= 0 && entry->predicted_us <= 0);
                continue;
            }
            double least_us = is_far(p, host) ? 2 * FAR_US + 200 : 200;
            assert_true(entry->measurements > 80);
            assert_true(entry->measured_us >= least_us - 20 && entry->measured_us <= least_us + 200);
            double ms = least_us / 1000;
            assert_true(fabs(entry->predicted_us / 1000 - ms) < (is_far(p, host) ? 0.1 * ms : 2));
        }
        /* Also of two others, of which this one has measured nothing. */
        for (uint32_t p = 0; p < HOSTS; p++)
            for (uint32_t q = 0; q < p; q++) {
                double ms = predicted_between(network->hosts[p], network->hosts[q]);
                assert_true(is_far(p, q) ? ms > 17 && ms < 23 : ms < 3);
            }
    }
    assert_int_equal(ask_network(&scene, 0)->hosts[7]->distance, 4);
    scene_free(&scene);
}

static void
a_way_that_becomes_longer_is_noticed_within_a_minute(void **state)
{
    (void)state;
    struct scene scene;
    struct cluster_options options = two_sites();
    scene_new(&scene, "mesh:4x2", "lattice:4x4", &options);
    cluster_run(scene.cluster, 30000000, NULL, NULL);
    for (uint32_t p = 1; p < HOSTS; p++)
        cluster_lag(scene.cluster, 0, p, 15000);
    cluster_run(scene.cluster, 10000000, NULL, NULL);
    assert_true(ask_network(&scene, 1)->hosts[0]->measured_us < 1000); /* what is short of late stays */
    cluster_run(scene.cluster, 60000000, NULL, NULL);
    double us = ask_network(&scene, 1)->hosts[0]->measured_us;
    assert_true(us > 15000 && us < 16000);
    cluster_run(scene.cluster, 60000000, NULL, NULL);
    assert_true(fabs(ask_network(&scene, 1)->hosts[0]->predicted_us - us) < 0.2 * us);
    for (uint32_t p = 1; p < HOSTS; p++)
        cluster_lag(scene.cluster, 0, p, 0);
    cluster_run(scene.cluster, 25000000, NULL, NULL);
    assert_true(ask_network(&scene, 1)->hosts[0]->measured_us < 1000); /* what is short counts sooner */
    scene_free(&scene);
}

/* A daemon that starts again, a machine whose clock begins again: nothing of before is taken for a time. */
static void
what_is_of_an_earlier_life_is_not_measured(void **state)
{
    (void)state;
    struct scene scene;
    struct cluster_options options = two_sites();
    scene_new(&scene, "mesh:4x2", "lattice:4x4", &options);
    cluster_run(scene.cluster, 10000000, NULL, NULL);
    for (int i = 0; i < 5; i++) {
        cluster_crash(scene.cluster, 5);
        cluster_run(scene.cluster, 200000, NULL, NULL);
        cluster_restart(scene.cluster, 5);
        cluster_run(scene.cluster, 3000000, NULL, NULL);
        const Lbm__NetworkReply *network = ask_network(&scene, 5);
        for (uint32_t p = 0; p < HOSTS; p++) {
            double us = network->hosts[p]->measured_us, least_us = is_far(p, 5) ? 2 * FAR_US : 0;
            assert_true(p == 5 || (us >= least_us && us <= least_us + 700));
        }
    }
    assert_true(ask_network(&scene, 0)->hosts[5]->measured_us >= 2 * FAR_US);
    scene_free(&scene);
}

/* ---- links that follow -------------------------------------------------------------------------------- */

static uint64_t
view_of(struct scene *scene, uint32_t host)
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_STATUS;
    request.status = &empty;
    return scene_ask(scene, host, &request)->status->view;
}

/* The cost of a link in H, 0 if there is none. */
static uint32_t
cost_between(struct scene *scene, uint32_t p, uint32_t q)
{
    const Lbm__NetworkEntry *entry = ask_network(scene, p)->hosts[p];
    for (size_t k = 0; k < entry->n_link_host; k++)
        if (entry->link_host[k] == q)
            return entry->link_cost[k];
    return 0;
}

static struct cluster_options
measured_sites(void)
{
    struct cluster_options options = two_sites();
    options.hop_us = 1000;
    return options;
}

static void
links_and_costs_follow_from_round_trips(void **state)
{
    (void)state;
    struct scene scene;
    struct cluster_options options = measured_sites();
    scene_new(&scene, "chain:8", "lattice:4x4", &options);
    assert_true(cluster_now(scene.cluster) < 20000000);
    cluster_run(scene.cluster, 60000000, NULL, NULL);
    for (uint32_t p = 0; p < HOSTS; p++)
        for (uint32_t q = 0; q < p; q++)
            assert_int_equal(cost_between(&scene, p, q), is_far(p, q) ? 20 : 1);
    uint64_t view = view_of(&scene, 0);
    cluster_run(scene.cluster, 300000000, NULL, NULL);
    assert_int_equal(view_of(&scene, 0), view);
    scene_free(&scene);
}

/* Edges between the sites; the load of the first site to *first. */
static uint32_t
cut_between_sites(struct scene *scene, uint32_t *first)
{
    uint32_t *part = calloc(scene->g.n, sizeof *part), cut = 0;
    scene_owners(scene, part);
    *first = 0;
    for (uint32_t v = 0; v < scene->g.n; v++) {
        *first += part[v] < FAR;
        for (uint64_t e = scene->g.offset[v]; e < scene->g.offset[v + 1]; e++)
            cut += v < scene->g.target[e] && is_far(part[v], part[scene->g.target[e]]);
    }
    free(part);
    return cut;
}

static void
halves_of_a_guest_lie_in_the_sites(void **state)
{
    (void)state;
    static const enum lbm_start starts[] = {LBM_START_PLAN, LBM_START_DIFFUSE};
    for (size_t i = 0; i < 2; i++) {
        struct scene scene;
        struct cluster_options options = measured_sites();
        uint32_t first;
        scene_new(&scene, "complete:8", "lattice:40x10", &options);
        cluster_run(scene.cluster, 30000000, NULL, NULL);
        assert_int_equal(cluster_submit(scene.cluster, 2, "job", &scene.g, starts[i]), LBM_OK);
        scene_expect_settled(&scene, 120);
        uint32_t cut = cut_between_sites(&scene, &first);
        print_message("start %s: %u edges between the sites, %u of 400 vertices in the first\n",
                      lbm_start_name(starts[i]), cut, first);
        assert_in_range(first, 188, 212);
        assert_in_range(cut, 10, 13); /* 10 is the least */
        scene_free(&scene);
    }
}

static void
noise_changes_nothing(void **state)
{
    (void)state;
    struct scene scene;
    struct cluster_options options = measured_sites();
    options.delay_most_us = 3000;
    scene_new(&scene, "complete:8", "lattice:4x4", &options);
    cluster_run(scene.cluster, 120000000, NULL, NULL); /* what was measured in haste is put right, once */
    uint64_t view = view_of(&scene, 0);
    cluster_run(scene.cluster, 600000000, NULL, NULL);
    assert_int_equal(view_of(&scene, 0), view);
    scene_free(&scene);
}

/* Among many equals there is always one that seems nearer for a while. It has to seem so the longer, the more
 * often that was believed. */
static void
noise_among_many_hosts_is_believed_less_and_less(void **state)
{
    (void)state;
    struct scene scene;
    struct cluster_options options = measured_sites();
    options.delay_most_us = 30000;
    scene_new(&scene, "ring:48", "lattice:4x4", &options);
    cluster_run(scene.cluster, 360000000, NULL, NULL);
    uint64_t view = view_of(&scene, 0);
    cluster_run(scene.cluster, 360000000, NULL, NULL);
    print_message("48 hosts, far from quiet: %d entries of the log in six minutes\n",
                  (int)(view_of(&scene, 0) - view));
    assert_in_range(view_of(&scene, 0) - view, 0, 8);
    scene_free(&scene);
}

static void
a_host_that_moves_gets_other_costs_by_few_entries(void **state)
{
    (void)state;
    struct scene scene;
    struct cluster_options options = measured_sites();
    scene_new(&scene, "complete:8", "lattice:4x4", &options);
    cluster_run(scene.cluster, 60000000, NULL, NULL);
    uint64_t view = view_of(&scene, 0);
    for (uint32_t p = 0; p < FAR; p++) /* from the first site to the second */
        cluster_lag(scene.cluster, 0, p, p != 0 ? 2 * FAR_US : 0);
    for (uint32_t p = FAR; p < HOSTS; p++) {
        cluster_lag(scene.cluster, 0, p, -FAR_US);
        cluster_lag(scene.cluster, p, 0, -FAR_US);
    }
    cluster_run(scene.cluster, 150000000, NULL, NULL);
    for (uint32_t p = 1; p < HOSTS; p++)
        assert_int_equal(cost_between(&scene, 0, p), p < FAR ? 20 : 1);
    uint64_t moved = view_of(&scene, 0);
    print_message("a host moves: %d entries of the log\n", (int)(moved - view));
    assert_in_range(moved - view, 1, 4 * HOSTS);
    cluster_run(scene.cluster, 300000000, NULL, NULL);
    assert_int_equal(view_of(&scene, 0), moved);
    scene_free(&scene);
}

/* More hosts than are all linked: the nearest are, and some of the other site. */
static void
many_hosts_are_linked_to_the_nearest_and_across(void **state)
{
    (void)state;
    enum { MANY = 24, HALF = 12 };
    struct scene scene;
    struct cluster_options options = measured_sites();
    options.sites_from = HALF;
    scene_new(&scene, "ring:24", "lattice:4x4", &options);
    cluster_run(scene.cluster, 60000000, NULL, NULL);
    const Lbm__NetworkReply *network = ask_network(&scene, 3);
    uint32_t links = 0;
    for (uint32_t p = 0; p < MANY; p++) {
        const Lbm__NetworkEntry *entry = network->hosts[p];
        uint32_t near = 0, across = 0;
        for (size_t k = 0; k < entry->n_link_host; k++) {
            int far = (p < HALF) != (entry->link_host[k] < HALF);
            assert_int_equal(entry->link_cost[k], far ? 20 : 1);
            near += !far;
            across += far;
        }
        assert_in_range(near, 8, HALF - 1);
        assert_in_range(across, 1, HALF);
        assert_true(p == 3 || entry->distance <= ((p < HALF) ? 2 : 22));
        links += near + across;
    }
    print_message("24 hosts: %u links\n", links / 2);
    assert_true(links / 2 < MANY * (MANY - 1) / 2 * 2 / 3);
    scene_free(&scene);
}

/* Hosts with links to one that goes are linked to others, and stay connected. */
static void
hosts_that_go_leave_the_others_connected(void **state)
{
    (void)state;
    struct scene scene;
    struct cluster_options options = measured_sites();
    options.evict_share = 100;
    options.engine = LBM_LOG_ENGINE_EXTERNAL;
    scene_new(&scene, "ring:16", "lattice:16x8", &options);
    cluster_run(scene.cluster, 40000000, NULL, NULL);
    assert_int_equal(cluster_submit(scene.cluster, 9, "job", &scene.g, LBM_START_PLAN), LBM_OK);
    for (uint32_t host = 0; host < 3; host++) {
        cluster_crash(scene.cluster, host);
        cluster_run(scene.cluster, 60000000, NULL, NULL);
        const Lbm__NetworkReply *network = ask_network(&scene, 9);
        assert_int_equal(network->n_hosts, 15 - host);
        for (size_t i = 0; i < network->n_hosts; i++)
            assert_true(network->hosts[i]->host == 9 || network->hosts[i]->distance > 0);
    }
    scene_expect_settled(&scene, 60);
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips_are_measured_and_predicted),
        cmocka_unit_test(a_way_that_becomes_longer_is_noticed_within_a_minute),
        cmocka_unit_test(what_is_of_an_earlier_life_is_not_measured),
        cmocka_unit_test(links_and_costs_follow_from_round_trips),
        cmocka_unit_test(halves_of_a_guest_lie_in_the_sites),
        cmocka_unit_test(noise_changes_nothing),
        cmocka_unit_test(noise_among_many_hosts_is_believed_less_and_less),
        cmocka_unit_test(a_host_that_moves_gets_other_costs_by_few_entries),
        cmocka_unit_test(many_hosts_are_linked_to_the_nearest_and_across),
        cmocka_unit_test(hosts_that_go_leave_the_others_connected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
