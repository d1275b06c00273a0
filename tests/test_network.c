/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What hosts measure of the network, in virtual time: round-trip times, coordinates. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/scene.h"

enum { HOSTS = 8, FAR = 4, FAR_US = 9800 }; /* hosts from FAR on are 20 ms away, there and back */

/* Two sites, 0.2 ms to 0.6 ms inside. */
static struct cluster_options
two_sites(void)
{
    struct cluster_options options = scene_calm;
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
foretold_between(const Lbm__NetworkEntry *a, const Lbm__NetworkEntry *b)
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
round_trips_are_measured_and_foretold(void **state)
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
                assert_true(entry->measured_us <= 0 && entry->foretold_us <= 0);
                continue;
            }
            double least_us = is_far(p, host) ? 2 * FAR_US + 200 : 200;
            assert_true(entry->measurements > 80);
            assert_true(entry->measured_us >= least_us - 20 && entry->measured_us <= least_us + 200);
            double ms = least_us / 1000;
            assert_true(fabs(entry->foretold_us / 1000 - ms) < (is_far(p, host) ? 0.1 * ms : 2));
        }
        /* Also of two others, of which this one has measured nothing. */
        for (uint32_t p = 0; p < HOSTS; p++)
            for (uint32_t q = 0; q < p; q++) {
                double ms = foretold_between(network->hosts[p], network->hosts[q]);
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
    assert_true(fabs(ask_network(&scene, 1)->hosts[0]->foretold_us - us) < 0.2 * us);
    for (uint32_t p = 1; p < HOSTS; p++)
        cluster_lag(scene.cluster, 0, p, 0);
    cluster_run(scene.cluster, 2000000, NULL, NULL);
    assert_true(ask_network(&scene, 1)->hosts[0]->measured_us < 1000); /* what is short counts at once */
    scene_free(&scene);
}

/* A daemon that starts again, a machine whose clock begins anew: nothing of before is taken for a time. */
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips_are_measured_and_foretold),
        cmocka_unit_test(a_way_that_becomes_longer_is_noticed_within_a_minute),
        cmocka_unit_test(what_is_of_an_earlier_life_is_not_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
