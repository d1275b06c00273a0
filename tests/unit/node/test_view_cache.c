/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One view in the memory of many nodes: a cluster does exactly what it does when each node has its own, and
 * a shortage of memory leaves a view as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "graph/generate.h"
#include "node/view/view.h"
#include "sim/model/cluster.h"

enum { SECOND = 1000000 };

/* ---- clusters ------------------------------------------------------------------------------------------ */

static void
drain(struct cluster *c, uint32_t host)
{
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    change.action = LBM__HOST_ACTION__HOST_DRAIN;
    change.host = host;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOST_CHANGE;
    request.host_change = &change;
    assert_non_null(cluster_ask(c, 0, 0, &request));
}

/* Hosts join, one is lost, one comes back after snapshots of the log, one drains. */
static uint64_t
run(const char *hosts, int shares)
{
    struct lbm_hosts h;
    struct lbm_graph g;
    struct lbm_diag diag;
    const char *text;
    assert_int_equal(lbm_hosts_generate(hosts, &h, &diag), LBM_OK);
    assert_int_equal(lbm_graph_generate("lattice:18x18", 1, &g, &diag), LBM_OK);
    struct cluster_options options = {.seed = 5,
                                      .delay_least_us = 100,
                                      .delay_most_us = 1000,
                                      .sync_us = 2000,
                                      .limited_host = LBM_NONE,
                                      .late = h.n - 1,
                                      .log_compact_min = 16,
                                      .evict_share = 0.5,
                                      .unwatched = 1,
                                      .shares = shares,
                                      .judged = 1};
    struct cluster *c = cluster_new(&h, &options);
    assert_true(cluster_roll_out(c, NULL, 60 * SECOND));
    assert_int_equal(cluster_submit(c, 0, "job", &g, LBM_START_PLAN), LBM_OK);
    cluster_run(c, 3 * SECOND, NULL, NULL);
    cluster_crash_with(c, h.n - 1, CRASH_NONE);
    cluster_lose_disk(c, h.n - 1);
    cluster_crash_with(c, 2, CRASH_NONE);
    cluster_run(c, 2 * SECOND, NULL, NULL);
    cluster_restart(c, 2);
    cluster_run(c, 15 * SECOND, NULL, NULL);
    drain(c, 1);
    cluster_restart(c, h.n - 1);
    cluster_run(c, 15 * SECOND, NULL, NULL);
    assert_null(cluster_violation(c, &text));
    assert_true(cluster_settled_at(c, 0, "job"));
    uint64_t hash = cluster_hash(c);
    cluster_free(c);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
    return hash;
}

static void
a_small_cluster_does_the_same(void **state)
{
    (void)state;
    assert_int_equal(run("mesh:3x3", 0), run("mesh:3x3", 1));
}

static void
a_cluster_of_many_does_the_same(void **state)
{
    (void)state;
    assert_int_equal(run("mesh:9x8", 0), run("mesh:9x8", 1));
}

/* ---- shortage of memory -------------------------------------------------------------------------------- */

static uint32_t left;

static int
fails_once(void)
{
    return left != 0 && --left == 0;
}

static enum lbm_err
found(struct lbm_views *views, struct lbm_view *view)
{
    char name[] = "test", refusal[LBM_DIAG_TEXT_MAX];
    Lbm__Found found = LBM__FOUND__INIT;
    found.cluster = 77;
    found.name = name;
    found.dimensions = 2;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_FOUND;
    command.found = &found;
    return lbm_views_apply(views, view, &command, 1, refusal);
}

static enum lbm_err
join(struct lbm_views *views, struct lbm_view *view, uint32_t host, char *refusal)
{
    char name[16], address[] = "127.0.0.1:7000", none[] = "";
    uint32_t link = (host + 1) % 4, cost = 1;
    snprintf(name, sizeof name, "h%u", (unsigned)host);
    Lbm__Join join = LBM__JOIN__INIT;
    join.host = host;
    join.incarnation = 1;
    join.name = name;
    join.address = address;
    join.failure_domain = none;
    join.capacity = 1;
    join.n_link_host = join.n_link_cost = 1;
    join.link_host = &link;
    join.link_cost = &cost;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOIN;
    command.join = &join;
    return lbm_views_apply(views, view, &command, 2 + view->index, refusal);
}

static enum lbm_err
activate(struct lbm_views *views, struct lbm_view *view, uint32_t host)
{
    char refusal[LBM_DIAG_TEXT_MAX];
    double site[2] = {0.1 * (host + 1), 0.5};
    Lbm__Activate activate = LBM__ACTIVATE__INIT;
    activate.host = host;
    activate.incarnation = 1;
    activate.n_site = 2;
    activate.site = site;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_ACTIVATE;
    command.activate = &activate;
    return lbm_views_apply(views, view, &command, 2 + view->index, refusal);
}

/* Every allocation of each entry fails once, and then the entry is applied all the same. */
static void
a_shortage_of_memory_changes_nothing(void **state)
{
    (void)state;
    struct lbm_views *views = lbm_views_new();
    struct lbm_view one = {0}, other = {0};
    char refusal[LBM_DIAG_TEXT_MAX];
    assert_int_equal(found(views, &one), LBM_OK);
    assert_int_equal(found(views, &other), LBM_OK);
    lbm_alloc_fails = fails_once;
    for (uint32_t step = 0; step < 8; step++) {
        uint64_t index = one.index;
        enum lbm_err err = LBM_E_NOMEM;
        for (uint32_t k = 1; err == LBM_E_NOMEM; k++) {
            left = k;
            err = step < 4 ? join(views, &one, step, refusal) : activate(views, &one, step - 4);
            assert_int_equal(one.index, err == LBM_OK ? index + 1 : index);
            assert_int_equal(one.members.n, err == LBM_OK && step < 4 ? step + 1 : step < 4 ? step : 4);
        }
        left = 0;
        assert_int_equal(err, LBM_OK);
        assert_int_equal(step < 4 ? join(views, &other, step, refusal) : activate(views, &other, step - 4),
                         LBM_OK);
        assert_ptr_equal(one.members.at, other.members.at);
    }
    lbm_alloc_fails = NULL;
    assert_int_equal(one.active.n, 4);
    assert_true(one.routable);
    lbm_view_free(&one);
    lbm_view_free(&other);
    lbm_views_free(views);
}

static void
views_of_different_entries_stay_apart(void **state)
{
    (void)state;
    struct lbm_views *views = lbm_views_new();
    struct lbm_view one = {0}, other = {0};
    char refusal[LBM_DIAG_TEXT_MAX];
    assert_int_equal(found(views, &one), LBM_OK);
    assert_int_equal(join(views, &one, 0, refusal), LBM_OK);
    assert_int_equal(join(views, &one, 0, refusal), LBM_OK); /* once more: the index alone */
    assert_string_equal(refusal, "");
    assert_int_equal(found(views, &other), LBM_OK);
    other.chain = 99; /* of another log, as its next entries are */
    other.index = 5;
    assert_int_equal(join(views, &other, 3, refusal), LBM_OK);
    assert_int_equal(other.members.n, 1);
    assert_int_equal(other.members.at[0].host, 3);
    assert_int_equal(one.members.at[0].host, 0);
    lbm_view_free(&one);
    lbm_view_free(&other);
    lbm_views_free(views);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_cluster_does_the_same),
        cmocka_unit_test(a_cluster_of_many_does_the_same),
        cmocka_unit_test(a_shortage_of_memory_changes_nothing),
        cmocka_unit_test(views_of_different_entries_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
