/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The view: every command of the control log, every refusal, and what follows from the members. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "node/node.h"
#include "node/view/view.h"
#include "tests/unit/node/view_fixture.h"

/* ---- founding ------------------------------------------------------------------------------------------ */

static void
a_log_begins_with_found_or_is_damaged(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    Lbm__JobDelete delete = LBM__JOB_DELETE__INIT;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOB_DELETE;
    command.job_delete = &delete;
    char refusal[LBM_DIAG_TEXT_MAX];
    assert_int_equal(lbm_view_apply(&view, &command, refusal), LBM_E_CORRUPT);
    lbm_view_free(&view);
}

static void
a_cluster_is_founded_once(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_found(&view, 3, "");
    assert_int_equal(view.cluster, VIEW_CLUSTER);
    assert_int_equal(view.m, 3);
    assert_string_equal(view.cluster_name, "test");
    view_found(&view, 2, "founded already");
    assert_int_equal(view.m, 3);
    assert_int_equal(view.routable, 0);
    assert_null(lbm_view_member(&view, 0));
    assert_null(lbm_view_job(&view, 1));
    lbm_view_free(&view);
}

static void
a_command_of_a_later_version_stops_the_log(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_found(&view, 2, "");
    Lbm__Command command = LBM__COMMAND__INIT; /* what this version cannot read has no body */
    char refusal[LBM_DIAG_TEXT_MAX];
    assert_int_equal(lbm_view_apply(&view, &command, refusal), LBM_E_VERSION);
    assert_int_equal(view.index, 1);
    lbm_view_free(&view);
}

/* ---- protocols ----------------------------------------------------------------------------------------- */

/* view_found says none: the cluster begins with the first. */
static void
a_cluster_speaks_what_all_members_can(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    struct view_joiner old = {.host = 0, .incarnation = 1, .name = "a", .capacity = 1};
    struct view_joiner new = {
        .host = 1, .incarnation = 1, .name = "b", .capacity = 1, .protocol = LBM_PROTOCOL_MOST};
    view_found(&view, 2, "");
    assert_int_equal(view.protocol, 1);
    view_join(&view, old, "");
    view_join(&view, new, "");
    assert_int_equal(view.protocol, 1);
    assert_int_equal(lbm_view_member(&view, 0)->protocol, 1);
    assert_int_equal(lbm_view_member(&view, 1)->protocol, LBM_PROTOCOL_MOST);
    old.protocol = LBM_PROTOCOL_MOST; /* it runs the later version now */
    view_join(&view, old, "");
    assert_int_equal(view.protocol, LBM_PROTOCOL_MOST);
    lbm_view_free(&view);
}

static void
a_host_that_speaks_less_than_the_cluster_may_not_join(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    struct view_joiner new = {
        .host = 1, .incarnation = 1, .name = "b", .capacity = 1, .protocol = LBM_PROTOCOL_MOST};
    struct view_joiner old = {.host = 2, .incarnation = 1, .name = "c", .capacity = 1, .protocol = 1};
    view_found(&view, 2, "");
    view_join(&view, new, "");
    view_join(&view, old, "host 2 speaks protocol 1 at most, and the cluster 2");
    assert_null(lbm_view_member(&view, 2));
    new.protocol = 1; /* nor may a member go back */
    view_join(&view, new, "host 1 speaks protocol 1 at most, and the cluster 2");
    lbm_view_free(&view);
}

/* ---- members ------------------------------------------------------------------------------------------- */

static void
members_are_kept_by_id_and_numbered_by_it(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_three_in_a_row(&view);
    static const uint32_t ids[] = {0, 3, 7};
    assert_int_equal(view.members.n, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(view.members.at[i].host, ids[i]);
        assert_int_equal(lbm_view_number(&view, ids[i]), i);
        assert_int_equal(lbm_view_host(&view, i), ids[i]);
        assert_true(view.hosts.capacity[i] == 1.0 + i);
    }
    assert_int_equal(lbm_view_number(&view, 4), LBM_NONE);
    assert_int_equal(lbm_view_host(&view, 3), LBM_NONE);
    assert_true(view.routable);
    assert_int_equal(view.diameter, 2);
    assert_int_equal(view_distance(&view, 0, 2), 9);
    assert_true(view.hosts.site[2 * 2] == 0.9); /* as the log has it, not scaled */
    lbm_view_free(&view);
}

static void
each_colour_pairs_a_host_at_most_once(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_three_in_a_row(&view);
    const struct lbm_hosts *h = &view.hosts;
    assert_int_equal(view.n_colours, 2);
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++) {
            assert_true(view.colour[e] < view.n_colours);
            for (uint32_t f = h->offset[p]; f < e; f++)
                assert_int_not_equal(view.colour[e], view.colour[f]);
            for (uint32_t f = h->offset[h->target[e]]; f < h->offset[h->target[e] + 1]; f++)
                if (h->target[f] == p)
                    assert_int_equal(view.colour[e], view.colour[f]);
        }
    lbm_view_free(&view);
}

static void
an_unconnected_host_makes_the_view_unroutable(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_found(&view, 2, "");
    view_create(&view, 5, "early", 0, LBM_START_PLAN, "is not active");
    view_join(&view, (struct view_joiner){.host = 0, .incarnation = 1, .name = "a", .capacity = 1}, "");
    assert_false(view.routable); /* nobody is active */
    view_activate(&view, 0, 1, 2, 0.5, 0.5, "");
    assert_true(view.routable); /* one host is connected to all there are */
    assert_int_equal(view.n_colours, 0);
    view_join(&view, (struct view_joiner){.host = 1, .incarnation = 1, .name = "b", .capacity = 1}, "");
    assert_true(view.routable); /* a JOINING host does not count */
    view_activate(&view, 1, 1, 2, 0.6, 0.5, "");
    assert_false(view.routable);
    assert_true(view.unroutable[0] != '\0');
    struct lbm_hosts hosts;
    struct lbm_diag diag = {0};
    assert_int_not_equal(lbm_view_build_hosts(&view, &hosts, &diag), LBM_OK);
    assert_true(diag.text[0] != '\0');
    view_create(&view, 5, "job", 0, LBM_START_PLAN, "not connected");
    /* joining again may bring the link that was missing */
    view_join(
        &view,
        (struct view_joiner){
            .host = 1, .incarnation = 1, .name = "b", .capacity = 1, .n_links = 1, .link = {0}, .cost = {1}},
        "");
    assert_true(view.routable);
    view_create(&view, 5, "job", 0, LBM_START_PLAN, "");
    lbm_view_free(&view);
}

static void
the_cheaper_of_two_declared_costs_counts(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_three_in_a_row(&view);
    view_join(
        &view,
        (struct view_joiner){
            .host = 0, .incarnation = 1, .name = "a", .capacity = 1, .n_links = 1, .link = {3}, .cost = {2}},
        "");
    assert_int_equal(view_distance(&view, 0, 1), 2);
    /* links to hosts that are no members, and to itself, wait and do no harm */
    view_join(&view,
              (struct view_joiner){.host = 0,
                                   .incarnation = 1,
                                   .name = "a",
                                   .capacity = 1,
                                   .n_links = 3,
                                   .link = {3, 0, 8191},
                                   .cost = {9, 1, 1}},
              "");
    assert_true(view.routable);
    assert_int_equal(view_distance(&view, 0, 1), 4);
    lbm_view_free(&view);
}

static void
joining_again_changes_capacity_and_keeps_the_site(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_three_in_a_row(&view);
    view_join(
        &view,
        (struct view_joiner){
            .host = 3, .incarnation = 1, .name = "b", .capacity = 8, .n_links = 1, .link = {0}, .cost = {4}},
        "");
    const struct lbm_member *member = lbm_view_member(&view, 3);
    assert_int_equal(view.members.n, 3);
    assert_true(member->capacity == 8 && member->site[0] == 0.5);
    assert_int_equal(member->state, LBM_MEMBER_ACTIVE);
    assert_true(view.hosts.capacity[1] == 8);
    lbm_view_free(&view);
}

static void
a_name_is_a_label(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_three_in_a_row(&view);
    struct view_joiner joiner = {.host = 3, .incarnation = 1, .name = "x", .capacity = 2};
    view_join(&view, joiner, "");
    assert_string_equal(lbm_view_member(&view, 3)->name, "x");
    assert_int_equal(lbm_view_member(&view, 3)->state, LBM_MEMBER_ACTIVE);
    view_join(&view, (struct view_joiner){.host = 4, .incarnation = 1, .name = "x", .capacity = 1},
              "has the name x already");
    view_join(&view, (struct view_joiner){.host = 4, .incarnation = 1, .name = "b", .capacity = 1}, "");
    lbm_view_free(&view);
}

static void
a_refused_member_command_changes_nothing(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_three_in_a_row(&view);
    struct view_joiner other = {.host = 3, .incarnation = 2, .name = "b", .capacity = 9};
    view_join(&view, other, "takes part as incarnation 1"); /* another incarnation */
    other = (struct view_joiner){.host = 4, .incarnation = 1, .name = "b", .capacity = 9};
    view_join(&view, other, "has the name b already");
    view_activate(&view, 4, 1, 2, 0, 0, "is no member with incarnation");
    view_activate(&view, 3, 2, 2, 0, 0, "is no member with incarnation");
    view_activate(&view, 3, 1, 2, 0, 0, "is ACTIVE");
    view_join(&view, (struct view_joiner){.host = 9, .incarnation = 1, .name = "n", .capacity = 1}, "");
    view_activate(&view, 9, 1, 3, 0, 0, "2 coordinates");
    assert_int_equal(lbm_view_member(&view, 9)->state, LBM_MEMBER_JOINING);
    const struct lbm_member *member = lbm_view_member(&view, 3);
    assert_true(member->capacity == 2 && member->incarnation == 1 && member->site[0] == 0.5);
    assert_null(lbm_view_member(&view, 4));
    assert_int_equal(lbm_view_number(&view, 9), LBM_NONE);
    lbm_view_free(&view);
}

static void
a_cluster_has_a_largest_number_of_hosts(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_found(&view, 2, "");
    for (uint32_t i = 0; i < LBM_HOSTS_MAX; i++) {
        uint32_t host = i ^ 1; /* not in order */
        char name[16];
        snprintf(name, sizeof name, "h%u", host);
        view_join(&view, (struct view_joiner){.host = host, .incarnation = 1, .name = name, .capacity = 1},
                  "");
    }
    for (uint32_t i = 0; i < LBM_HOSTS_MAX; i++)
        assert_int_equal(view.members.at[i].host, i);
    view_join(&view,
              (struct view_joiner){.host = LBM_HOSTS_MAX, .incarnation = 1, .name = "more", .capacity = 1},
              "has its");
    assert_int_equal(view.members.n, LBM_HOSTS_MAX);
    lbm_view_free(&view);
}

/* ---- jobs ---------------------------------------------------------------------------------------------- */

static void
a_job_is_found_by_id_and_name_until_deleted(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_three_in_a_row(&view);
    view_create(&view, 11, "first", 3, LBM_START_CENTRE, "");
    view_create(&view, 12, "second", 0, LBM_START_PLAN, "");
    const struct lbm_job_entry *entry = lbm_view_job(&view, 11);
    assert_non_null(entry);
    assert_ptr_equal(entry, lbm_view_job_named(&view, "first"));
    assert_int_equal(entry->coordinator, 3);
    assert_int_equal(entry->vertices, 10);
    assert_int_equal(entry->edges, 9);
    assert_int_equal(entry->start, LBM_START_CENTRE);
    assert_int_equal(entry->owner, 1000);
    view_delete_job(&view, 11, "");
    assert_null(lbm_view_job(&view, 11));
    assert_null(lbm_view_job_named(&view, "first"));
    assert_non_null(lbm_view_job_named(&view, "second"));
    view_create(&view, 13, "first", 3, LBM_START_RANDOM, "");
    assert_int_equal(lbm_view_job_named(&view, "first")->job, 13);
    lbm_view_free(&view);
}

static void
a_refused_job_command_changes_nothing(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_three_in_a_row(&view);
    view_join(&view, (struct view_joiner){.host = 9, .incarnation = 1, .name = "n", .capacity = 1}, "");
    view_create(&view, 11, "job", 3, LBM_START_PLAN, "");
    view_create(&view, 12, "job", 0, LBM_START_PLAN, "exists already");
    view_create(&view, 11, "other", 0, LBM_START_PLAN, "exists already");
    view_create(&view, 12, "other", 4, LBM_START_PLAN, "not active");
    view_create(&view, 12, "other", 9, LBM_START_PLAN, "not active"); /* JOINING */
    view_delete_job(&view, 12, "no such job");
    assert_int_equal(view.jobs.n, 1);
    assert_int_equal(view.jobs.at[0].coordinator, 3);
    view_delete_job(&view, 11, "");
    view_delete_job(&view, 11, "no such job");
    lbm_view_free(&view);
}

/* Whether an entry counts must not depend on the program that reads it. */
static void
a_start_of_a_later_version_is_kept(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_three_in_a_row(&view);
    view_create(&view, 12, "job", 0, 77, "");
    const struct lbm_job_entry *entry = lbm_view_job(&view, 12);
    assert_non_null(entry);
    assert_int_equal(entry->start, 77);
    assert_int_equal(lbm_job_start(entry), LBM_START_PLAN);
    lbm_view_free(&view);
}

static void
a_cluster_has_a_largest_number_of_jobs(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_three_in_a_row(&view);
    char name[16];
    for (uint64_t i = 0; i < LBM_JOBS_MAX; i++) {
        snprintf(name, sizeof name, "job-%u", (unsigned)i);
        view_create(&view, 100 + i, name, 0, LBM_START_PLAN, "");
    }
    view_create(&view, 1, "more", 0, LBM_START_PLAN, "cancel one first");
    view_delete_job(&view, 100, "");
    view_create(&view, 1, "more", 0, LBM_START_PLAN, "");
    lbm_view_free(&view);
}

/* ---- successors ---------------------------------------------------------------------------------------- */

static void
in_sync(struct lbm_view *view, uint32_t host)
{
    const struct lbm_member *member = lbm_view_member(view, host);
    Lbm__InSync in_sync = LBM__IN_SYNC__INIT;
    in_sync.host = host;
    in_sync.incarnation = member->incarnation;
    in_sync.backup = member->backups[0].host;
    in_sync.view = member->backups[0].view;
    in_sync.known = view->index;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_IN_SYNC;
    command.in_sync = &in_sync;
    view_apply(view, &command, "");
}

static void
evict(struct lbm_view *view, uint32_t host, const char *refused)
{
    Lbm__Evict evict = LBM__EVICT__INIT;
    evict.host = host;
    evict.incarnation = 1;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_EVICT;
    command.evict = &evict;
    view_apply(view, &command, refused);
}

static void
rejoin(struct lbm_view *view, uint32_t host)
{
    Lbm__Rejoin rejoin = LBM__REJOIN__INIT;
    rejoin.host = host;
    rejoin.incarnation = 1;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_REJOIN;
    command.rejoin = &rejoin;
    view_apply(view, &command, "");
}

struct succession {
    uint32_t host, successor;
};

static void
take_over(struct lbm_view *view, struct succession who)
{
    Lbm__TakeOver take_over = LBM__TAKE_OVER__INIT;
    take_over.successor = who.successor;
    take_over.successor_incarnation = 1;
    take_over.host = who.host;
    take_over.incarnation = 1;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_TAKE_OVER;
    command.take_over = &take_over;
    view_apply(view, &command, "");
}

/* Hosts 0, 3, 7, each in sync; one of them, not the leader, is evicted, and is not its successor's backup. */
static struct succession
three_in_sync_and_one_evicted(struct lbm_view *view)
{
    view_three_in_a_row(view);
    in_sync(view, 0);
    in_sync(view, 3);
    in_sync(view, 7);
    struct succession who = {3, lbm_view_member(view, 3)->backups[0].host};
    if (lbm_view_member(view, who.successor)->backups[0].host == 3)
        who = (struct succession){7, lbm_view_member(view, 7)->backups[0].host};
    const struct lbm_member *successor = lbm_view_member(view, who.successor);
    assert_int_not_equal(successor->backups[0].host, who.host);
    assert_true(lbm_view_in_sync(view, successor));
    evict(view, who.host, "");
    assert_false(lbm_view_in_sync(view, successor));
    return who;
}

/* It cannot say so again if it has lost its disk in the meantime. */
static void
a_successor_is_in_sync_as_before_once_the_evicted_host_rejoins(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    struct succession who = three_in_sync_and_one_evicted(&view);
    rejoin(&view, who.host);
    assert_true(lbm_view_in_sync(&view, lbm_view_member(&view, who.successor)));
    lbm_view_free(&view);
}

static void
a_successor_is_in_sync_once_it_has_replicated_what_it_took_over(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    struct succession who = three_in_sync_and_one_evicted(&view);
    take_over(&view, who);
    assert_false(lbm_view_in_sync(&view, lbm_view_member(&view, who.successor)));
    in_sync(&view, who.successor);
    assert_true(lbm_view_in_sync(&view, lbm_view_member(&view, who.successor)));
    lbm_view_free(&view);
}

/* ---- determinism --------------------------------------------------------------------------------------- */

static void
random_command(struct lbm_view *view, struct lbm_rng *rng)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    char refusal[LBM_DIAG_TEXT_MAX], name[LBM_NAME_MAX + 1], address[] = "127.0.0.1:1";
    uint32_t link[2] = {lbm_rng_below(rng, 5), lbm_rng_below(rng, 5)}, cost[2] = {1, 2};
    double site[2] = {lbm_rng_unit(rng), lbm_rng_unit(rng)};
    snprintf(name, sizeof name, "%s", names[lbm_rng_below(rng, 5)]);
    Lbm__Join join = LBM__JOIN__INIT;
    Lbm__Activate activate = LBM__ACTIVATE__INIT;
    Lbm__JobCreate create = LBM__JOB_CREATE__INIT;
    Lbm__JobDelete delete = LBM__JOB_DELETE__INIT;
    join.host = activate.host = create.coordinator = lbm_rng_below(rng, 5);
    join.incarnation = activate.incarnation = 1 + lbm_rng_below(rng, 2);
    join.name = create.name = name;
    join.address = address;
    join.capacity = 1 + lbm_rng_below(rng, 4);
    join.n_link_host = join.n_link_cost = lbm_rng_below(rng, 3);
    join.link_host = link;
    join.link_cost = cost;
    activate.n_site = 2;
    activate.site = site;
    create.job = delete.job = lbm_rng_below(rng, 6);
    create.vertices = 1;
    Lbm__Command command = LBM__COMMAND__INIT;
    switch (lbm_rng_below(rng, 4)) {
    case 0:
        command.what_case = LBM__COMMAND__WHAT_JOIN;
        command.join = &join;
        break;
    case 1:
        command.what_case = LBM__COMMAND__WHAT_ACTIVATE;
        command.activate = &activate;
        break;
    case 2:
        command.what_case = LBM__COMMAND__WHAT_JOB_CREATE;
        command.job_create = &create;
        break;
    default:
        command.what_case = LBM__COMMAND__WHAT_JOB_DELETE;
        command.job_delete = &delete;
        break;
    }
    assert_int_equal(lbm_view_apply(view, &command, refusal), LBM_OK);
}

static void
expect_same(const struct lbm_view *a, const struct lbm_view *b)
{
    assert_int_equal(a->index, b->index);
    assert_int_equal(a->members.n, b->members.n);
    for (size_t i = 0; i < a->members.n; i++) {
        const struct lbm_member *p = &a->members.at[i], *q = &b->members.at[i];
        assert_int_equal(p->host, q->host);
        assert_int_equal(p->state, q->state);
        assert_string_equal(p->name, q->name);
        assert_memory_equal(p->site, q->site, sizeof p->site);
        assert_true(i == 0 || p[-1].host < p->host);
    }
    assert_int_equal(a->jobs.n, b->jobs.n);
    for (size_t i = 0; i < a->jobs.n; i++)
        assert_memory_equal(&a->jobs.at[i], &b->jobs.at[i], sizeof a->jobs.at[i]);
    assert_int_equal(a->routable, b->routable);
    assert_int_equal(a->n_colours, b->n_colours);
    if (!a->routable)
        return;
    assert_int_equal(a->diameter, b->diameter);
    assert_int_equal(a->hosts.offset[a->hosts.n], b->hosts.offset[b->hosts.n]);
    for (uint32_t e = 0; e < a->hosts.offset[a->hosts.n]; e++) {
        assert_int_equal(a->hosts.target[e], b->hosts.target[e]);
        assert_int_equal(a->hosts.cost[e], b->hosts.cost[e]);
        assert_int_equal(a->colour[e], b->colour[e]);
    }
}

static void
the_same_entries_give_the_same_view(void **state)
{
    (void)state;
    int routable = 0, jobs = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct lbm_view view[2] = {{0}, {0}};
        struct lbm_rng rng[2];
        for (int i = 0; i < 2; i++) {
            lbm_rng_seed(&rng[i], seed);
            view_found(&view[i], 2, "");
        }
        for (int k = 0; k < 60; k++) {
            random_command(&view[0], &rng[0]);
            random_command(&view[1], &rng[1]);
            expect_same(&view[0], &view[1]);
            routable += view[0].routable;
            jobs += view[0].jobs.n != 0;
        }
        lbm_view_free(&view[0]);
        lbm_view_free(&view[1]);
    }
    assert_true(routable > 100 && jobs > 100); /* the runs reach what they compare */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_begins_with_found_or_is_damaged),
        cmocka_unit_test(a_cluster_is_founded_once),
        cmocka_unit_test(a_command_of_a_later_version_stops_the_log),
        cmocka_unit_test(a_cluster_speaks_what_all_members_can),
        cmocka_unit_test(a_host_that_speaks_less_than_the_cluster_may_not_join),
        cmocka_unit_test(members_are_kept_by_id_and_numbered_by_it),
        cmocka_unit_test(each_colour_pairs_a_host_at_most_once),
        cmocka_unit_test(an_unconnected_host_makes_the_view_unroutable),
        cmocka_unit_test(the_cheaper_of_two_declared_costs_counts),
        cmocka_unit_test(joining_again_changes_capacity_and_keeps_the_site),
        cmocka_unit_test(a_name_is_a_label),
        cmocka_unit_test(a_refused_member_command_changes_nothing),
        cmocka_unit_test(a_cluster_has_a_largest_number_of_hosts),
        cmocka_unit_test(a_job_is_found_by_id_and_name_until_deleted),
        cmocka_unit_test(a_refused_job_command_changes_nothing),
        cmocka_unit_test(a_start_of_a_later_version_is_kept),
        cmocka_unit_test(a_cluster_has_a_largest_number_of_jobs),
        cmocka_unit_test(a_successor_is_in_sync_as_before_once_the_evicted_host_rejoins),
        cmocka_unit_test(a_successor_is_in_sync_once_it_has_replicated_what_it_took_over),
        cmocka_unit_test(the_same_entries_give_the_same_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
