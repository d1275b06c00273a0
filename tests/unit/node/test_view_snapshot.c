/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The view as bytes: whatever the log has said, a view read back goes on exactly like the one written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "node/node.h"
#include "node/view/view.h"

enum { HOSTS = 7, JOBS = 5, RUNS = 60, STEPS = 160 };

static void
apply(struct lbm_view *view, Lbm__Command *command, char refusal[LBM_DIAG_TEXT_MAX])
{
    assert_int_equal(lbm_view_apply(view, command, refusal), LBM_OK);
}

static void
found(struct lbm_view *view, uint32_t dimensions, int external)
{
    char refusal[LBM_DIAG_TEXT_MAX], name[] = "test";
    Lbm__Found found = LBM__FOUND__INIT;
    found.cluster = 77;
    found.name = name;
    found.dimensions = dimensions;
    found.external = (uint32_t)external;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_FOUND;
    command.found = &found;
    apply(view, &command, refusal);
}

/* All parts of a random command; `command` points to one of them. */
struct random_command {
    Lbm__Command command;
    char name[16], address[32];
    uint32_t link[3], cost[3];
    double site[3];
    Lbm__Join join;
    Lbm__Activate activate;
    Lbm__Set set;
    Lbm__Drain drain;
    Lbm__Leave leave;
    Lbm__Evict evict;
    Lbm__InSync in_sync;
    Lbm__ChangeBackup change_backup;
    Lbm__TakeOver take_over;
    Lbm__Rejoin rejoin;
    Lbm__JobCreate create;
    Lbm__JobDelete delete;
    Lbm__JobSet job_set;
    Lbm__JobRun run;
    uint8_t words[16];
    Lbm__JobGates gates;
    Lbm__JobPolicy policy;
    Lbm__Promote promote;
    Lbm__RevokeUser revoke_user;
};

static uint64_t
incarnation_of(const struct lbm_view *view, uint32_t host, struct lbm_rng *rng)
{
    const struct lbm_member *member = lbm_view_member(view, host);
    uint64_t incarnation = member != NULL ? member->incarnation : 1;
    return lbm_rng_below(rng, 8) == 0 ? incarnation + 1 : incarnation;
}

static void
draw_member(struct random_command *r, const struct lbm_view *view, uint32_t host, struct lbm_rng *rng)
{
    const struct lbm_member *member = lbm_view_member(view, host);
    r->join = (Lbm__Join)LBM__JOIN__INIT;
    r->join.host = host;
    r->join.incarnation = incarnation_of(view, host, rng);
    if (member != NULL && !lbm_view_participates(member))
        r->join.incarnation = member->incarnation + 1;
    r->join.name = r->name;
    r->join.address = r->address;
    r->join.capacity = 1 + lbm_rng_below(rng, 3);
    r->join.n_link_host = r->join.n_link_cost = lbm_rng_below(rng, 4);
    r->join.link_host = r->link;
    r->join.link_cost = r->cost;
    r->activate = (Lbm__Activate)LBM__ACTIVATE__INIT;
    r->activate.host = host;
    r->activate.incarnation = incarnation_of(view, host, rng);
    r->activate.n_site = view->m;
    r->activate.site = r->site;
    r->set = (Lbm__Set)LBM__SET__INIT;
    r->set.host = host;
    r->set.incarnation = incarnation_of(view, host, rng);
    r->set.capacity = lbm_rng_below(rng, 3);
    r->set.change_links = lbm_rng_below(rng, 2);
    r->set.n_link_host = r->set.n_link_cost = lbm_rng_below(rng, 4);
    r->set.link_host = r->link;
    r->set.link_cost = r->cost;
    r->set.address = lbm_rng_below(rng, 2) == 0 ? r->address : r->name + strlen(r->name);
    r->drain = (Lbm__Drain)LBM__DRAIN__INIT;
    r->leave = (Lbm__Leave)LBM__LEAVE__INIT;
    r->drain.host = r->leave.host = host;
    r->drain.incarnation = r->leave.incarnation = incarnation_of(view, host, rng);
}

static void
draw_loss(struct random_command *r, const struct lbm_view *view, uint32_t host, struct lbm_rng *rng)
{
    const struct lbm_member *member = lbm_view_member(view, host);
    r->evict = (Lbm__Evict)LBM__EVICT__INIT;
    r->rejoin = (Lbm__Rejoin)LBM__REJOIN__INIT;
    r->evict.host = r->rejoin.host = host;
    r->evict.incarnation = r->rejoin.incarnation = incarnation_of(view, host, rng);
    r->evict.lost = lbm_rng_below(rng, 2);
    r->in_sync = (Lbm__InSync)LBM__IN_SYNC__INIT;
    r->in_sync.host = host;
    r->in_sync.incarnation = incarnation_of(view, host, rng);
    r->in_sync.backup = member != NULL ? member->backups[0].host : 0;
    r->in_sync.view = member != NULL ? member->backups[0].view : 0;
    r->change_backup = (Lbm__ChangeBackup)LBM__CHANGE_BACKUP__INIT;
    r->change_backup.host = host;
    r->change_backup.incarnation = r->in_sync.incarnation;
    r->change_backup.view = r->in_sync.view;
    r->take_over = (Lbm__TakeOver)LBM__TAKE_OVER__INIT;
    if (view->departed.n != 0) {
        const struct lbm_departed *gone = &view->departed.at[lbm_rng_below(rng, (uint32_t)view->departed.n)];
        r->take_over.successor = gone->successor;
        r->take_over.successor_incarnation = gone->successor_incarnation;
        r->take_over.host = gone->host;
        r->take_over.incarnation = gone->incarnation;
    }
}

static void
draw_job(struct random_command *r, uint32_t host, struct lbm_rng *rng)
{
    r->create = (Lbm__JobCreate)LBM__JOB_CREATE__INIT;
    r->create.job = 1 + lbm_rng_below(rng, JOBS);
    r->create.name = r->name;
    r->create.coordinator = host;
    r->create.vertices = lbm_rng_below(rng, 1000);
    r->create.imbalance = 0.03;
    r->create.start = lbm_rng_below(rng, 2 * LBM_START_COUNT); /* some of a later version */
    r->policy = (Lbm__JobPolicy)LBM__JOB_POLICY__INIT;
    r->policy.policy = lbm_rng_below(rng, 2 * LBM_POLICY_COUNT);
    r->policy.asked = lbm_rng_below(rng, 2 * LBM_POLICY_COUNT);
    r->policy.schedule = lbm_rng_below(rng, 2 * LBM_SCHEDULE_COUNT);
    r->policy.alpha = lbm_rng_unit(rng);
    r->policy.lambda_denominator = lbm_rng_below(rng, 10);
    r->policy.why = r->name;
    r->create.policy = lbm_rng_below(rng, 2) != 0 ? &r->policy : NULL;
    r->delete = (Lbm__JobDelete)LBM__JOB_DELETE__INIT;
    r->job_set = (Lbm__JobSet)LBM__JOB_SET__INIT;
    r->delete.job = r->job_set.job = 1 + lbm_rng_below(rng, JOBS);
    r->job_set.imbalance = lbm_rng_unit(rng);
    r->gates = (Lbm__JobGates)LBM__JOB_GATES__INIT;
    r->gates.given = lbm_rng_below(rng, 16);
    r->gates.cooldown_s = lbm_rng_unit(rng);
    r->gates.payback_s = lbm_rng_unit(rng);
    r->gates.bytes_per_s = lbm_rng_below(rng, 1000);
    r->gates.in_flight = lbm_rng_below(rng, 1000);
    r->job_set.gates = lbm_rng_below(rng, 2) != 0 ? &r->gates : NULL;
    r->job_set.policy = lbm_rng_below(rng, 2) != 0 ? &r->policy : NULL;
    r->run = (Lbm__JobRun)LBM__JOB_RUN__INIT;
    r->run.watcher = host;
    r->run.arguments = lbm_rng_below(rng, 4);
    memcpy(r->words, "/\0a\0b\0C=d", sizeof "/\0a\0b\0C=d");
    r->run.words = (ProtobufCBinaryData){lbm_rng_below(rng, 4) != 0 ? sizeof "/\0a\0b\0C=d" : 5, r->words};
    r->job_set.run = lbm_rng_below(rng, 2) != 0 ? &r->run : NULL;
    r->promote = (Lbm__Promote)LBM__PROMOTE__INIT;
    r->promote.host = host;
}

static void
draw_command(struct random_command *r, const struct lbm_view *view, struct lbm_rng *rng)
{
    uint32_t host = lbm_rng_below(rng, HOSTS);
    snprintf(r->name, sizeof r->name, "h%u", host);
    snprintf(r->address, sizeof r->address, "127.0.0.1:%u", 7000 + host + 100 * lbm_rng_below(rng, 2));
    for (int i = 0; i < 3; i++) {
        r->link[i] = (host + 1 + (uint32_t)i * lbm_rng_below(rng, 3)) % HOSTS;
        r->cost[i] = 1 + lbm_rng_below(rng, 5);
        r->site[i] = lbm_rng_unit(rng);
    }
    draw_member(r, view, host, rng);
    draw_loss(r, view, host, rng);
    draw_job(r, host, rng);
    r->revoke_user = (Lbm__RevokeUser)LBM__REVOKE_USER__INIT;
    r->revoke_user.name = r->name;
    r->revoke_user.made_s = 1 + lbm_rng_below(rng, 100);
    r->command = (Lbm__Command)LBM__COMMAND__INIT;
    const struct {
        Lbm__Command__WhatCase what;
        void *part;
        uint32_t weight;
    } parts[] = {
        {LBM__COMMAND__WHAT_JOIN, &r->join, 4},
        {LBM__COMMAND__WHAT_ACTIVATE, &r->activate, 5},
        {LBM__COMMAND__WHAT_SET, &r->set, 1},
        {LBM__COMMAND__WHAT_DRAIN, &r->drain, 1},
        {LBM__COMMAND__WHAT_LEAVE, &r->leave, 1},
        {LBM__COMMAND__WHAT_EVICT, &r->evict, 1},
        {LBM__COMMAND__WHAT_IN_SYNC, &r->in_sync, 3},
        {LBM__COMMAND__WHAT_TAKE_OVER, &r->take_over, 2},
        {LBM__COMMAND__WHAT_REJOIN, &r->rejoin, 1},
        {LBM__COMMAND__WHAT_JOB_CREATE, &r->create, 2},
        {LBM__COMMAND__WHAT_JOB_DELETE, &r->delete, 1},
        {LBM__COMMAND__WHAT_JOB_SET, &r->job_set, 1},
        {LBM__COMMAND__WHAT_PROMOTE, &r->promote, 1},
        {LBM__COMMAND__WHAT_CHANGE_BACKUP, &r->change_backup, 3},
        {LBM__COMMAND__WHAT_REVOKE_USER, &r->revoke_user, 1},
    };
    uint32_t total = 0, i = 0;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        total += parts[k].weight;
    for (uint32_t at = lbm_rng_below(rng, total); at >= parts[i].weight; i++)
        at -= parts[i].weight;
    r->command.what_case = parts[i].what;
    r->command.join = parts[i].part; /* every member of the union is such a pointer */
}

static uint8_t *
pack(struct lbm_view *view, size_t *len)
{
    uint8_t *bytes = NULL;
    assert_int_equal(lbm_view_pack(view, &bytes, len), LBM_OK);
    return bytes;
}

static void
read_back(struct lbm_view *view, struct lbm_view *out)
{
    struct lbm_diag diag = {0};
    size_t len;
    uint8_t *bytes = pack(view, &len);
    if (lbm_view_unpack(bytes, len, out, &diag) != LBM_OK)
        fail_msg("index %llu: %s", (unsigned long long)view->index, diag.text);
    free(bytes);
}

static void
assert_same(struct lbm_view *a, struct lbm_view *b)
{
    size_t len_a, len_b;
    uint8_t *bytes_a = pack(a, &len_a), *bytes_b = pack(b, &len_b);
    assert_int_equal(len_a, len_b);
    assert_memory_equal(bytes_a, bytes_b, len_a);
    free(bytes_a);
    free(bytes_b);
    assert_int_equal(a->routable, b->routable);
    assert_int_equal(a->n_colours, b->n_colours);
    assert_int_equal(a->active.n, b->active.n);
    if (!a->routable)
        return;
    const struct lbm_hosts *h = &a->hosts;
    assert_int_equal(a->diameter, b->diameter);
    assert_memory_equal(h->offset, b->hosts.offset, (h->n + 1) * sizeof *h->offset);
    assert_memory_equal(a->colour, b->colour, h->offset[h->n] * sizeof *a->colour);
    assert_memory_equal(h->target, b->hosts.target, h->offset[h->n] * sizeof *h->target);
    assert_memory_equal(h->cost, b->hosts.cost, h->offset[h->n] * sizeof *h->cost);
    assert_memory_equal(h->site, b->hosts.site, h->n * h->m * sizeof *h->site);
    assert_memory_equal(h->capacity, b->hosts.capacity, h->n * sizeof *h->capacity);
}

static void
a_view_read_back_goes_on_like_the_one_written(void **state)
{
    (void)state;
    size_t evicted = 0, routable = 0, jobs = 0;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct lbm_rng rng;
        struct lbm_view kept = {0}, other = {0};
        lbm_rng_seed(&rng, seed);
        found(&kept, 2 + (seed & 1), seed % 3 == 0);
        read_back(&kept, &other);
        for (int i = 0; i < STEPS; i++) {
            struct random_command random;
            char refusal[LBM_DIAG_TEXT_MAX], other_refusal[LBM_DIAG_TEXT_MAX];
            draw_command(&random, &kept, &rng);
            apply(&kept, &random.command, refusal);
            apply(&other, &random.command, other_refusal);
            assert_string_equal(refusal, other_refusal);
            if (i % 3 == 0) /* looking makes the host graph: it must not matter when somebody looks */
                assert_same(&kept, &other);
            if (lbm_rng_below(&rng, 4) == 0) {
                lbm_view_free(&other);
                read_back(&kept, &other);
                assert_same(&kept, &other);
            }
            evicted += kept.departed.n;
            routable += (size_t)kept.routable;
            jobs += kept.jobs.n;
        }
        lbm_view_free(&kept);
        lbm_view_free(&other);
    }
    assert_true(evicted > 1000 && routable > 1000 && jobs > 1000); /* the runs are about something */
}

/* A view of `n` JOINING members, each linked to the one before. */
static void
make_chain(struct lbm_view *view, uint32_t n)
{
    found(view, 2, 0);
    for (uint32_t host = 0; host < n; host++) {
        struct lbm_link link = {host, host != 0 ? host - 1 : 1, 1};
        struct lbm_member member = {.host = host,
                                    .incarnation = 1,
                                    .capacity = 1,
                                    .announced_capacity = 1,
                                    .n_links = 1,
                                    .n_announced_links = 1,
                                    .links = lbm_copy(&link, 1, sizeof link),
                                    .announced_links = lbm_copy(&link, 1, sizeof link),
                                    .backups = {{.host = LBM_NONE}, {.host = LBM_NONE}}};
        snprintf(member.name, sizeof member.name, "h%u", host);
        snprintf(member.address, sizeof member.address, "127.0.0.1:7000");
        snprintf(member.announced_address, sizeof member.announced_address, "127.0.0.1:7000");
        assert_int_equal(lbm_vec_push(&view->members, member), LBM_OK);
    }
}

static void
the_largest_cluster_fits(void **state)
{
    (void)state;
    struct lbm_view view = {0}, back = {0};
    make_chain(&view, LBM_HOSTS_MAX);
    read_back(&view, &back);
    assert_same(&view, &back);
    lbm_view_free(&view);
    lbm_view_free(&back);
}

static void
cut_and_garbled_bytes_are_refused_or_read(void **state)
{
    (void)state;
    struct lbm_rng rng;
    struct lbm_view view = {0};
    size_t len, refused = 0;
    lbm_rng_seed(&rng, 5);
    make_chain(&view, 5);
    uint8_t *bytes = pack(&view, &len);
    for (size_t cut = 0; cut < len; cut++) {
        struct lbm_view back = {0};
        struct lbm_diag diag = {0};
        if (lbm_view_unpack(bytes, cut, &back, &diag) == LBM_OK)
            lbm_view_free(&back);
        else
            refused++;
    }
    assert_true(refused > len / 2);
    for (int i = 0; i < 20000; i++) {
        struct lbm_view back = {0};
        struct lbm_diag diag = {0};
        size_t at = lbm_rng_below(&rng, (uint32_t)len);
        uint8_t was = bytes[at];
        bytes[at] = (uint8_t)lbm_rng_next(&rng);
        enum lbm_err err = lbm_view_unpack(bytes, len, &back, &diag);
        assert_true(err == LBM_OK || err == LBM_E_CORRUPT);
        lbm_view_free(&back);
        bytes[at] = was;
    }
    free(bytes);
    lbm_view_free(&view);
}

static void
members_out_of_order_are_refused(void **state)
{
    (void)state;
    struct lbm_view view = {0}, back = {0};
    struct lbm_diag diag = {0};
    size_t len;
    make_chain(&view, 3);
    struct lbm_member first = view.members.at[0];
    view.members.at[0] = view.members.at[1];
    view.members.at[1] = first;
    uint8_t *bytes = pack(&view, &len);
    assert_int_equal(lbm_view_unpack(bytes, len, &back, &diag), LBM_E_CORRUPT);
    free(bytes);
    lbm_view_free(&view);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_read_back_goes_on_like_the_one_written),
        cmocka_unit_test(the_largest_cluster_fits),
        cmocka_unit_test(cut_and_garbled_bytes_are_refused_or_read),
        cmocka_unit_test(members_out_of_order_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
