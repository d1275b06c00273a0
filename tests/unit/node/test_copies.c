/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two copies in the view: who backs up whom, who takes over when two hosts are lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "node/view/view.h"
#include "tests/unit/node/view_fixture.h"

enum { HOSTS = 6 };

static void
found(struct lbm_view *view, uint32_t copies)
{
    Lbm__Found found = LBM__FOUND__INIT;
    found.cluster = VIEW_CLUSTER;
    found.name = (char *)(uintptr_t) "test";
    found.dimensions = 2;
    found.external = 1;
    found.copies = copies;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_FOUND;
    command.found = &found;
    view_apply(view, &command, "");
}

/* Hosts h and h + 3 are in one failure domain. */
static void
join(struct lbm_view *view, uint32_t host)
{
    char name[16], domain[16], address[] = "127.0.0.1:7000";
    uint32_t link = host != 0 ? host - 1 : 1, cost = 1;
    snprintf(name, sizeof name, "h%u", host);
    snprintf(domain, sizeof domain, "rack%u", host % 3);
    Lbm__Join join = LBM__JOIN__INIT;
    join.host = host;
    join.incarnation = 1;
    join.name = name;
    join.address = address;
    join.failure_domain = domain;
    join.capacity = 1;
    join.n_link_host = join.n_link_cost = host != 0;
    join.link_host = &link;
    join.link_cost = &cost;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOIN;
    command.join = &join;
    view_apply(view, &command, "");
    view_activate(view, host, 1, 2, 0.1 * host, 0.5, "");
}

static void
in_sync(struct lbm_view *view, uint32_t host, unsigned slot)
{
    const struct lbm_backup *backup = &lbm_view_member(view, host)->backups[slot];
    Lbm__InSync in_sync = LBM__IN_SYNC__INIT;
    in_sync.host = host;
    in_sync.incarnation = 1;
    in_sync.backup = backup->host;
    in_sync.view = backup->view;
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
take_over(struct lbm_view *view, uint32_t successor, uint32_t host, const char *refused)
{
    Lbm__TakeOver take_over = LBM__TAKE_OVER__INIT;
    take_over.successor = successor;
    take_over.successor_incarnation = 1;
    take_over.host = host;
    take_over.incarnation = 1;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_TAKE_OVER;
    command.take_over = &take_over;
    view_apply(view, &command, refused);
}

static void
drain_and_leave(struct lbm_view *view, uint32_t host, const char *refused)
{
    Lbm__Drain drain = LBM__DRAIN__INIT;
    drain.host = host;
    drain.incarnation = 1;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_DRAIN;
    command.drain = &drain;
    view_apply(view, &command, "");
    for (uint32_t p = 0; p < HOSTS; p++) { /* those whose copy it keeps take others */
        const struct lbm_member *member = lbm_view_member(view, p);
        const struct lbm_backup *slot =
            lbm_view_participates(member) ? lbm_view_backup_slot(member, host) : NULL;
        if (slot == NULL)
            continue;
        Lbm__ChangeBackup change = LBM__CHANGE_BACKUP__INIT;
        change.host = p;
        change.incarnation = 1;
        change.view = slot->view;
        command.what_case = LBM__COMMAND__WHAT_CHANGE_BACKUP;
        command.change_backup = &change;
        view_apply(view, &command, "");
    }
    Lbm__Leave leave = LBM__LEAVE__INIT;
    leave.host = host;
    leave.incarnation = 1;
    leave.known = view->index;
    command.what_case = LBM__COMMAND__WHAT_LEAVE;
    command.leave = &leave;
    view_apply(view, &command, refused);
}

/* All hosts are in sync with both backups, of host 0: *first and *second. */
static void
six_in_sync(struct lbm_view *view, uint32_t *first, uint32_t *second)
{
    found(view, 2);
    for (uint32_t host = 0; host < HOSTS; host++)
        join(view, host);
    for (uint32_t host = 0; host < HOSTS; host++)
        for (unsigned k = 0; k < 2; k++)
            in_sync(view, host, k);
    *first = lbm_view_member(view, 0)->backups[0].host;
    *second = lbm_view_member(view, 0)->backups[1].host;
}

static void
one_copy_is_what_a_cluster_has_that_says_nothing(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    found(&view, 0);
    for (uint32_t host = 0; host < 3; host++)
        join(&view, host);
    for (uint32_t host = 0; host < 3; host++) {
        assert_int_not_equal(lbm_view_member(&view, host)->backups[0].host, LBM_NONE);
        assert_int_equal(lbm_view_member(&view, host)->backups[1].host, LBM_NONE);
    }
    lbm_view_free(&view);
}

static void
backups_are_two_hosts_in_other_domains(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    found(&view, 2);
    for (uint32_t host = 0; host < HOSTS; host++)
        join(&view, host);
    /* The last to join chose among all. */
    const struct lbm_backup *backup = lbm_view_member(&view, HOSTS - 1)->backups;
    uint32_t domain[3] = {(HOSTS - 1) % 3, backup[0].host % 3, backup[1].host % 3};
    assert_true(domain[0] != domain[1] && domain[0] != domain[2] && domain[1] != domain[2]);
    for (uint32_t host = 0; host < HOSTS; host++) {
        const struct lbm_member *member = lbm_view_member(&view, host);
        assert_int_not_equal(member->backups[0].host, LBM_NONE);
        assert_int_not_equal(member->backups[1].host, LBM_NONE);
        assert_int_not_equal(member->backups[0].host, member->backups[1].host);
        assert_null(lbm_view_backup_slot(member, host));
    }
    lbm_view_free(&view);
}

static void
two_hosts_have_one_copy_until_a_third_comes(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    found(&view, 2);
    join(&view, 0);
    join(&view, 1);
    assert_int_equal(lbm_view_member(&view, 0)->backups[1].host, LBM_NONE);
    in_sync(&view, 0, 0);
    assert_true(lbm_view_all_in_sync(&view, lbm_view_member(&view, 0)));
    uint64_t before = lbm_view_member(&view, 0)->backups[0].view;
    join(&view, 2);
    const struct lbm_member *member = lbm_view_member(&view, 0);
    assert_int_equal(member->backups[1].host, 2);
    assert_int_equal(member->backups[0].view, before);
    assert_true(lbm_view_in_sync(&view, member));
    assert_false(lbm_view_all_in_sync(&view, member));
    lbm_view_free(&view);
}

static void
the_reserve_takes_over_if_the_successor_goes_first(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    uint32_t first, second;
    six_in_sync(&view, &first, &second);
    evict(&view, 0, "");
    const struct lbm_departed *gone = lbm_view_departed(&view, 0, 1);
    assert_int_equal(gone->successor, first);
    assert_int_equal(gone->reserve, second);
    assert_true(lbm_view_in_sync(&view, lbm_view_member(&view, first)));
    evict(&view, first, "");
    gone = lbm_view_departed(&view, 0, 1);
    assert_int_equal(gone->successor, second);
    assert_int_equal(gone->reserve, LBM_NONE);
    assert_int_equal(gone->passed, view.index);
    assert_false(lbm_view_in_sync(&view, lbm_view_member(&view, second)));
    take_over(&view, first, 0, "EVICTED");
    take_over(&view, second, 0, "");
    lbm_view_free(&view);
}

static void
the_other_backup_takes_over_if_the_first_is_evicted_before(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    uint32_t first, second;
    six_in_sync(&view, &first, &second);
    evict(&view, first, "");
    const struct lbm_member *member = lbm_view_member(&view, 0);
    assert_true(member->backups[0].host != first && member->backups[0].host != second);
    assert_false(member->backups[0].insync);
    assert_true(lbm_view_in_sync(&view, member));
    assert_int_equal(lbm_view_successor_of(&view, member), second);
    evict(&view, 0, "");
    assert_int_equal(lbm_view_departed(&view, 0, 1)->successor, second);
    assert_int_equal(lbm_view_departed(&view, 0, 1)->reserve, LBM_NONE); /* it has nothing yet */
    evict(&view, second, "no full copy");
    lbm_view_free(&view);
}

static void
the_reserve_is_void_once_the_successor_has_taken_over(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    uint32_t first, second;
    six_in_sync(&view, &first, &second);
    evict(&view, 0, "");
    take_over(&view, first, 0, "");
    assert_int_equal(lbm_view_departed(&view, 0, 1)->reserve, LBM_NONE);
    evict(&view, first, "no full copy"); /* its backups do not have what it merged */
    for (unsigned k = 0; k < 2; k++)
        in_sync(&view, first, k);
    evict(&view, first, "");
    assert_int_equal(lbm_view_departed(&view, 0, 1)->successor, first);
    assert_true(lbm_view_departed(&view, 0, 1)->taken_over);
    lbm_view_free(&view);
}

static void
a_reserve_does_not_leave(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    uint32_t first, second;
    six_in_sync(&view, &first, &second);
    evict(&view, 0, "");
    drain_and_leave(&view, second, "keeps a copy of host 0");
    lbm_view_free(&view);
}

static void
a_snapshot_has_both_slots_and_the_reserve(void **state)
{
    (void)state;
    struct lbm_view view = {0}, copy = {0};
    struct lbm_diag diag;
    uint32_t first, second;
    uint8_t *bytes, *again;
    size_t len, len_again;
    six_in_sync(&view, &first, &second);
    evict(&view, 0, "");
    assert_int_equal(lbm_view_pack(&view, &bytes, &len), LBM_OK);
    assert_int_equal(lbm_view_unpack(bytes, len, &copy, &diag), LBM_OK);
    assert_int_equal(copy.copies, 2);
    assert_int_equal(lbm_view_departed(&copy, 0, 1)->reserve, second);
    assert_int_equal(lbm_view_departed(&copy, 0, 1)->reserve_incarnation, 1);
    assert_memory_equal(lbm_view_member(&copy, 1)->backups, lbm_view_member(&view, 1)->backups,
                        sizeof(struct lbm_backup[LBM_COPIES_MAX]));
    assert_int_equal(lbm_view_pack(&copy, &again, &len_again), LBM_OK);
    assert_int_equal(len_again, len);
    assert_memory_equal(again, bytes, len);
    evict(&copy, first, "");
    assert_int_equal(lbm_view_departed(&copy, 0, 1)->successor, second);
    free(bytes);
    free(again);
    lbm_view_free(&view);
    lbm_view_free(&copy);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_copy_is_what_a_cluster_has_that_says_nothing),
        cmocka_unit_test(backups_are_two_hosts_in_other_domains),
        cmocka_unit_test(two_hosts_have_one_copy_until_a_third_comes),
        cmocka_unit_test(the_reserve_takes_over_if_the_successor_goes_first),
        cmocka_unit_test(the_other_backup_takes_over_if_the_first_is_evicted_before),
        cmocka_unit_test(the_reserve_is_void_once_the_successor_has_taken_over),
        cmocka_unit_test(a_reserve_does_not_leave),
        cmocka_unit_test(a_snapshot_has_both_slots_and_the_reserve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
