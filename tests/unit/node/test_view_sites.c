/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sites of hosts that bring none: what follows from the links of the members. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tests/unit/node/view_fixture.h"

static void
a_site_lies_among_the_linked_hosts_and_on_none(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_three_in_a_row(&view);
    double site[LBM_DIMENSIONS_MAX], other[LBM_DIMENSIONS_MAX];
    struct view_joiner joiner = {.host = 4,
                                 .incarnation = 1,
                                 .name = "n",
                                 .capacity = 1,
                                 .n_links = 2,
                                 .link = {0, 3},
                                 .cost = {1, 1}};
    view_join(&view, joiner, "");
    lbm_view_site_near(&view, 4, site);
    /* the middle of 0 and 3 is (0.3, 0.5); half the least distance, 0.2, aside */
    double dx = site[0] - 0.3, dy = site[1] - 0.5;
    assert_true(fabs(dx * dx + dy * dy - 0.04) < 1e-9);
    joiner.host = 5;
    joiner.name = "o";
    view_join(&view, joiner, "");
    lbm_view_site_near(&view, 5, other);
    assert_true(other[0] != site[0] || other[1] != site[1]);
    /* a link that only the others declare counts as well */
    joiner = (struct view_joiner){.host = 7,
                                  .incarnation = 1,
                                  .name = "c",
                                  .capacity = 3,
                                  .n_links = 2,
                                  .link = {3, 6},
                                  .cost = {5, 1}};
    view_join(&view, joiner, "");
    view_join(&view, (struct view_joiner){.host = 6, .incarnation = 1, .name = "p", .capacity = 1}, "");
    lbm_view_site_near(&view, 6, site);
    assert_true(site[0] >= 0.7 - 1e-9 && site[0] <= 1);
    lbm_view_free(&view);
}

static void
a_site_stays_in_the_unit_box(void **state)
{
    (void)state;
    struct lbm_view view = {0};
    view_found(&view, 2, "");
    double site[LBM_DIMENSIONS_MAX];
    lbm_view_site_near(&view, 0, site);
    assert_true(site[0] == 0.5 && site[1] == 0.5); /* nobody to be near to */
    view_join(&view, (struct view_joiner){.host = 0, .incarnation = 1, .name = "a", .capacity = 1}, "");
    view_activate(&view, 0, 1, 2, 1, 0, "");
    for (uint32_t host = 1; host < 40; host++) {
        char name[16];
        snprintf(name, sizeof name, "h%u", host);
        struct view_joiner joiner = {
            .host = host, .incarnation = 1, .name = name, .capacity = 1, .n_links = 1, .cost = {1}};
        view_join(&view, joiner, "");
        lbm_view_site_near(&view, host, site);
        assert_true(site[0] >= 0 && site[0] <= 1 && site[1] >= 0 && site[1] <= 1);
        view_activate(&view, host, 1, 2, site[0], site[1], "");
    }
    assert_true(view.routable);
    lbm_view_free(&view);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_site_lies_among_the_linked_hosts_and_on_none),
        cmocka_unit_test(a_site_stays_in_the_unit_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
