/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Colours that stay while hosts come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/unit/host/hosts_fixture.h"

/* Colours by the ids of hosts, which here are 7 times their numbers, among those that are not gone. */
struct coloured {
    struct lbm_hosts h;
    uint32_t *id;     /* [h.n] */
    uint32_t *colour; /* [h.offset[h.n]] */
    uint32_t n;
};

static void
colour_without(const struct lbm_hosts *all, uint32_t gone, struct coloured *out)
{
    uint8_t *is_gone = lbm_alloc(all->n, 1);
    uint32_t *number = lbm_alloc(all->n, sizeof *number);
    struct lbm_diag diag;
    assert_true(is_gone != NULL && number != NULL);
    *out = (struct coloured){.id = lbm_alloc(all->n, sizeof *out->id)};
    assert_non_null(out->id);
    if (gone != LBM_NONE)
        is_gone[gone] = 1;
    assert_int_equal(lbm_hosts_without(all, is_gone, number, &out->h, &diag), LBM_OK);
    for (uint32_t p = 0; p < all->n; p++)
        if (number[p] != LBM_NONE)
            out->id[number[p]] = 7 * p;
    out->colour = lbm_alloc(out->h.offset[out->h.n], sizeof *out->colour);
    assert_non_null(out->colour);
    out->n = lbm_hosts_colour_stable(&out->h, out->id, out->colour);
    free(is_gone);
    free(number);
}

static void
coloured_free(struct coloured *c)
{
    lbm_hosts_free(&c->h);
    free(c->id);
    free(c->colour);
}

/* By id; LBM_NONE: there is no such link. */
static uint32_t
colour_between(const struct coloured *c, uint32_t id, uint32_t other)
{
    for (uint32_t p = 0; p < c->h.n; p++)
        for (uint32_t e = c->h.offset[p]; c->id[p] == id && e < c->h.offset[p + 1]; e++)
            if (c->id[c->h.target[e]] == other)
                return c->colour[e];
    return LBM_NONE;
}

static uint32_t
largest_degree(const struct lbm_hosts *h)
{
    uint32_t most = 0;
    for (uint32_t p = 0; p < h->n; p++)
        most = h->offset[p + 1] - h->offset[p] > most ? h->offset[p + 1] - h->offset[p] : most;
    return most;
}

static void
they_are_proper_and_fewer_than_twice_the_degree(void **state)
{
    (void)state;
    const char *specs[] = {"chain:2",     "ring:9",   "mesh:8x8",    "torus:5x5",
                           "hypercube:6", "star:100", "complete:80", "tree:3,4"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct lbm_hosts h = make_hosts(specs[i]);
        struct coloured c;
        colour_without(&h, LBM_NONE, &c);
        assert_proper_colours(&c.h, c.colour, c.n);
        assert_in_range(c.n, largest_degree(&h), 2 * largest_degree(&h) - 1);
        coloured_free(&c);
        lbm_hosts_free(&h);
    }
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 5);
    for (uint32_t n = 2; n < 60; n++) {
        struct lbm_hosts h = make_random_hosts(&rng, n, 2 * n, 0);
        struct coloured c;
        colour_without(&h, LBM_NONE, &c);
        assert_proper_colours(&c.h, c.colour, c.n);
        assert_in_range(c.n, largest_degree(&h), 2 * largest_degree(&h) - 1);
        coloured_free(&c);
        lbm_hosts_free(&h);
    }
}

/* Of the 480 links of the mesh a host takes up to 4 with it; few others change. */
static void
a_host_that_goes_changes_those_near_it_alone(void **state)
{
    (void)state;
    struct lbm_hosts h = make_hosts("mesh:16x16");
    struct coloured before;
    uint32_t changed = 0;
    colour_without(&h, LBM_NONE, &before);
    for (uint32_t gone = 0; gone < h.n; gone += 5) {
        struct coloured after;
        uint32_t here = 0;
        colour_without(&h, gone, &after);
        for (uint32_t p = 0; p < after.h.n; p++)
            for (uint32_t e = after.h.offset[p]; e < after.h.offset[p + 1]; e++) {
                uint32_t a = after.id[p], b = after.id[after.h.target[e]];
                if (a > b || colour_between(&before, a, b) == after.colour[e])
                    continue;
                here++;
                assert_true(lbm_dist(&h, a / 7, gone) <= 8);
            }
        assert_true(here <= 24);
        changed += here;
        coloured_free(&after);
    }

    assert_true(changed < 8 * (h.n / 5 + 1)); /* five on the average */
    coloured_free(&before);
    lbm_hosts_free(&h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_proper_and_fewer_than_twice_the_degree),
        cmocka_unit_test(a_host_that_goes_changes_those_near_it_alone),
    };
    return cmocka_run_group_tests_name("colour", tests, NULL, NULL);
}
