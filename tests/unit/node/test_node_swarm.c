/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small clusters under everything that may go wrong at once: late, lost and repeated messages, broken
 * connections, partitions, crashes at any moment, stopped processes, late hosts, cancelled and repeated
 * jobs. Each seed is another cluster, guest and run. While it runs, cluster_check.h looks at every disk;
 * when the faults are over, all must come to rest within 60 virtual seconds.
 *
 * A failure names its seed. SEED=N runs that seed alone and prints its run; SEEDS=N runs that many. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/check.h"
#include "graph/generate.h"
#include "sim/model/cluster.h"

enum {
    SEEDS = 750,
    FAULTS = 24,
    FAULT_PAUSE_US = 400000, /* at most, between two */
    JOIN_US = 20000000,
    REST_US = 60000000,
    STILL_US = 3000000, /* for what may come after all */
};

static const char *const hosts[] = {"chain:3", "ring:4", "mesh:3x2", "star:5", "complete:4", "mesh:2x2"};
static const char *const jobs[] = {"first", "second"};

enum { N_HOSTS = sizeof hosts / sizeof *hosts, N_JOBS = sizeof jobs / sizeof *jobs };

struct run {
    uint64_t seed;
    struct lbm_rng rng;
    struct lbm_hosts h;
    struct lbm_graph g;
    struct cluster *cluster;
    uint8_t stopped[8];
};

/* ---- failures name their seed -------------------------------------------------------------------------- */

static const struct run *running;

static void
tell(const char *what)
{
    fprintf(stderr, "%s\nto replay: SEED=%" PRIu64 " tests/unit/node/test_node_swarm\n", what, running->seed);
    if (getenv("SEED") != NULL)
        fprintf(stderr, "%s", cluster_trace_text(running->cluster));
}

static void
on_assert(const char *expression, const char *file, int line)
{
    char text[512];
    snprintf(text, sizeof text, "%s:%d: %s does not hold", file, line, expression);
    tell(text);
}

static void
fail_run(const char *why)
{
    tell(why);
    fail();
}

/* ---- faults -------------------------------------------------------------------------------------------- */

static uint32_t
any_host(struct run *s)
{
    return lbm_rng_below(&s->rng, s->h.n);
}

static void
crash(struct run *s)
{
    uint32_t host = any_host(s);
    cluster_crash(s->cluster, host);
    s->stopped[host] = 0;
}

/* A late host starts like one that crashed: with what its disk has. */
static void
restart(struct run *s)
{
    uint32_t host = any_host(s);
    if (!cluster_is_up(s->cluster, host))
        cluster_restart(s->cluster, host);
}

static void
stop_or_continue(struct run *s)
{
    uint32_t host = any_host(s);
    if (!cluster_is_up(s->cluster, host))
        return;
    s->stopped[host] = !s->stopped[host];
    if (s->stopped[host])
        cluster_stop(s->cluster, host);
    else
        cluster_continue(s->cluster, host);
}

static void
disconnect(struct run *s)
{
    uint32_t from = any_host(s), to = any_host(s);
    cluster_disconnect(s->cluster, from, to);
}

static void
cut(struct run *s)
{
    uint32_t p = any_host(s), q = any_host(s);
    if (p != q)
        cluster_cut(s->cluster, p, q, lbm_rng_below(&s->rng, 2) != 0);
}

static int
can_answer(const struct run *s, uint32_t host)
{
    return cluster_is_up(s->cluster, host) && !s->stopped[host];
}

static void
submit(struct run *s)
{
    uint32_t host = any_host(s), start = lbm_rng_below(&s->rng, LBM_START_COUNT);
    const char *name = jobs[lbm_rng_below(&s->rng, N_JOBS)];
    if (can_answer(s, host))
        (void)cluster_send_guest(s->cluster, host, name, &s->g, (enum lbm_start)start);
}

static void
cancel(struct run *s)
{
    uint32_t host = any_host(s);
    const char *name = jobs[lbm_rng_below(&s->rng, N_JOBS)];
    if (can_answer(s, host))
        cluster_cancel(s->cluster, host, name);
}

static const struct {
    uint32_t weight;
    void (*happens)(struct run *s);
} faults[] = {{4, crash},  {5, restart}, {2, stop_or_continue}, {3, disconnect}, {3, cut},
              {2, submit}, {1, cancel}};

static void
something_happens(struct run *s)
{
    uint32_t total = 0, at = 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        total += faults[i].weight;
    uint32_t k = lbm_rng_below(&s->rng, total);
    while (k >= faults[at].weight)
        k -= faults[at++].weight;
    faults[at].happens(s);
}

static void
all_is_well_again(struct run *s)
{
    for (uint32_t p = 0; p < s->h.n; p++) {
        if (!cluster_is_up(s->cluster, p))
            cluster_restart(s->cluster, p);
        else if (s->stopped[p])
            cluster_continue(s->cluster, p);
        s->stopped[p] = 0;
        for (uint32_t q = 0; q < p; q++)
            cluster_cut(s->cluster, p, q, 0);
    }
}

/* ---- runs ------------------------------------------------------------------------------------------- */

/* Every host that is up has all that are up in its view, ACTIVE. */
static int
all_active(struct cluster *cluster, void *arg)
{
    const struct run *s = arg;
    uint32_t n_up = 0;
    for (uint32_t p = 0; p < s->h.n; p++)
        n_up += (uint32_t)cluster_is_up(cluster, p);
    for (uint32_t p = 0; p < s->h.n; p++) {
        if (!cluster_is_up(cluster, p))
            continue;
        Lbm__Empty empty = LBM__EMPTY__INIT;
        Lbm__Request request = LBM__REQUEST__INIT;
        request.what_case = LBM__REQUEST__WHAT_HOSTS;
        request.hosts = &empty;
        cluster_request(cluster, p, 0, &request);
        const Lbm__HostsReply *reply = cluster_reply(cluster, p, 0)->hosts;
        uint32_t n_active = 0;
        for (size_t i = 0; i < reply->n_hosts; i++)
            n_active += strcmp(reply->hosts[i]->state, "ACTIVE") == 0;
        if (n_active != n_up)
            return 0;
    }
    return 1;
}

/* All hosts are members and know the same jobs, which are those whose guests are kept; all have settled. */
static int
at_rest(struct cluster *cluster, void *arg)
{
    const struct run *s = arg;
    uint32_t n_jobs = 0;
    if (!all_active(cluster, arg))
        return 0;
    for (size_t i = 0; i < N_JOBS; i++) {
        uint32_t n = 0;
        for (uint32_t p = 0; p < s->h.n; p++)
            n += (uint32_t)cluster_has_job(cluster, p, jobs[i]);
        if (n != 0 && (n != s->h.n || !cluster_settled(cluster, jobs[i])))
            return 0;
        n_jobs += n != 0;
    }
    return n_jobs == cluster_guests(cluster);
}

static void
begin(struct run *s, uint64_t seed)
{
    struct lbm_diag diag;
    char guest[32];
    *s = (struct run){.seed = seed};
    lbm_rng_seed(&s->rng, seed);
    uint32_t width = 1 + lbm_rng_below(&s->rng, 15), height = 1 + lbm_rng_below(&s->rng, 10);
    snprintf(guest, sizeof guest, "lattice:%" PRIu32 "x%" PRIu32, width, height);
    assert_int_equal(lbm_hosts_generate(hosts[lbm_rng_below(&s->rng, N_HOSTS)], &s->h, &diag), LBM_OK);
    assert_int_equal(lbm_graph_generate(guest, 1, &s->g, &diag), LBM_OK);
    struct cluster_options options = {.seed = seed,
                                      .delay_least_us = 50,
                                      .delay_most_us = 100 + lbm_rng_below(&s->rng, 30000),
                                      .sync_us = 100 + lbm_rng_below(&s->rng, 30000),
                                      .lose_soft = 0.3 * lbm_rng_unit(&s->rng),
                                      .repeat_soft = 0.3 * lbm_rng_unit(&s->rng),
                                      .late = lbm_rng_below(&s->rng, 2),
                                      .limited_host = LBM_NONE};
    s->cluster = cluster_new(&s->h, &options);
    running = s;
    cluster_trace(s->cluster, getenv("SEED") != NULL);
}

static void
run_run(uint64_t seed)
{
    struct run s;
    const char *why;
    begin(&s, seed);
    if (!cluster_run(s.cluster, JOIN_US, all_active, &s))
        fail_run("the hosts do not find together");
    submit(&s);
    for (int i = 0; i < FAULTS; i++) {
        cluster_run(s.cluster, lbm_rng_below(&s.rng, FAULT_PAUSE_US), NULL, NULL);
        something_happens(&s);
    }
    all_is_well_again(&s);
    if (!cluster_run(s.cluster, REST_US, at_rest, &s))
        fail_run("no rest within 60 s");
    cluster_run(s.cluster, STILL_US, NULL, NULL);
    if (!cluster_run(s.cluster, REST_US, at_rest, &s)) /* a cancel may have been in progress */
        fail_run("the rest does not last");
    if (!cluster_quiescent(s.cluster, &why))
        fail_run(why);
    cluster_free(s.cluster);
    lbm_hosts_free(&s.h);
    lbm_graph_free(&s.g);
}

static void
a_swarm_keeps_every_vertex_and_comes_to_rest(void **state)
{
    (void)state;
    const char *one = getenv("SEED"), *many = getenv("SEEDS");
    uint64_t first = one != NULL ? strtoull(one, NULL, 10) : 1;
    uint64_t n = one != NULL ? 1 : many != NULL ? strtoull(many, NULL, 10) : SEEDS;
    lbm_assert_hook = on_assert;
    for (uint64_t seed = first; seed < first + n; seed++)
        run_run(seed);
    lbm_assert_hook = NULL;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_swarm_keeps_every_vertex_and_comes_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
