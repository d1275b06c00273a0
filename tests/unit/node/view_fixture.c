/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/node/view_fixture.h"

void
view_apply(struct lbm_view *view, const Lbm__Command *command, const char *refused)
{
    char refusal[LBM_DIAG_TEXT_MAX];
    uint64_t index = view->index;
    assert_int_equal(lbm_view_apply(view, command, refusal), LBM_OK);
    int routable;
    assert_int_equal(lbm_view_graph(view, &routable), LBM_OK);
    assert_int_equal(routable, view->routable);
    assert_int_equal(view->index, index + 1); /* a refused command takes its place in the log too */
    if (refused[0] == '\0')
        assert_string_equal(refusal, "");
    else if (strstr(refusal, refused) == NULL)
        fail_msg("refused with \"%s\", not with \"%s\"", refusal, refused);
}

uint32_t
view_distance(struct lbm_view *view, uint32_t p, uint32_t q)
{
    assert_int_equal(lbm_hosts_route_from(&view->hosts, p), LBM_OK);
    return lbm_dist(&view->hosts, p, q);
}

void
view_found(struct lbm_view *view, uint32_t dimensions, const char *refused)
{
    char name[] = "test";
    Lbm__Found found = LBM__FOUND__INIT;
    found.cluster = VIEW_CLUSTER;
    found.name = name;
    found.leader = 0;
    found.dimensions = dimensions;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_FOUND;
    command.found = &found;
    view_apply(view, &command, refused);
}

void
view_join(struct lbm_view *view, struct view_joiner joiner, const char *refused)
{
    char name[LBM_NAME_MAX + 1], address[] = "127.0.0.1:7000";
    snprintf(name, sizeof name, "%s", joiner.name);
    Lbm__Join join = LBM__JOIN__INIT;
    join.host = joiner.host;
    join.incarnation = joiner.incarnation;
    join.name = name;
    join.address = address;
    join.capacity = joiner.capacity;
    join.protocol = joiner.protocol;
    join.n_link_host = join.n_link_cost = joiner.n_links;
    join.link_host = joiner.link;
    join.link_cost = joiner.cost;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOIN;
    command.join = &join;
    view_apply(view, &command, refused);
}

void
view_activate(struct lbm_view *view, uint32_t host, uint64_t incarnation, size_t m, double x, double y,
              const char *refused)
{
    double site[3] = {x, y, 0.5};
    Lbm__Activate activate = LBM__ACTIVATE__INIT;
    activate.host = host;
    activate.incarnation = incarnation;
    activate.n_site = m;
    activate.site = site;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_ACTIVATE;
    command.activate = &activate;
    view_apply(view, &command, refused);
}

void
view_create(struct lbm_view *view, uint64_t job, const char *name, uint32_t coordinator, uint32_t start,
            const char *refused)
{
    char copy[LBM_NAME_MAX + 1];
    snprintf(copy, sizeof copy, "%s", name);
    Lbm__JobCreate create = LBM__JOB_CREATE__INIT;
    create.job = job;
    create.name = copy;
    create.coordinator = coordinator;
    create.vertices = 10;
    create.edges = 9;
    create.work = 10;
    create.weight = 9;
    create.start = start;
    create.seed = 4;
    create.imbalance = 0.03;
    create.owner = 1000;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOB_CREATE;
    command.job_create = &create;
    view_apply(view, &command, refused);
}

void
view_delete_job(struct lbm_view *view, uint64_t job, const char *refused)
{
    Lbm__JobDelete delete = LBM__JOB_DELETE__INIT;
    delete.job = job;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOB_DELETE;
    command.job_delete = &delete;
    view_apply(view, &command, refused);
}

/* Hosts 0 - 3 - 7 in a row, only the later end declares each link. */
void
view_three_in_a_row(struct lbm_view *view)
{
    view_found(view, 2, "");
    view_join(view, (struct view_joiner){.host = 0, .incarnation = 1, .name = "a", .capacity = 1}, "");
    view_activate(view, 0, 1, 2, 0.1, 0.5, "");
    view_join(
        view,
        (struct view_joiner){
            .host = 7, .incarnation = 1, .name = "c", .capacity = 3, .n_links = 1, .link = {3}, .cost = {5}},
        "");
    view_join(
        view,
        (struct view_joiner){
            .host = 3, .incarnation = 1, .name = "b", .capacity = 2, .n_links = 1, .link = {0}, .cost = {4}},
        "");
    view_activate(view, 3, 1, 2, 0.5, 0.5, "");
    view_activate(view, 7, 1, 2, 0.9, 0.5, "");
}
