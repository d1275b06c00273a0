/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/map/pair_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/unit/map/map_fixture.h"

void
trial_open(struct trial *t, unsigned i, uint32_t n, struct lbm_rng *rng)
{
    t->h = map_hosts_some(1 + i % (MAP_HOSTS_SOME - 1));
    t->g = map_guest(n, 3 * n, 1 + i % 4 * 10, 1 + i % 3 * 5, rng);
    t->part = map_chunk(&t->g, t->h.n, rng);
    t->before = lbm_copy(t->part, n, sizeof *t->part);
    t->member = lbm_alloc(n, sizeof *t->member);
    t->moved = lbm_alloc(n, sizeof *t->moved);
    t->fixed = lbm_alloc(n, 1);
    assert_true(t->before != NULL && t->member != NULL && t->moved != NULL && t->fixed != NULL);
    uint32_t a = lbm_rng_below(rng, t->h.n), b = (a + 1 + lbm_rng_below(rng, t->h.n - 1)) % t->h.n;
    t->pair = (struct lbm_pair){.g = &t->g,
                                .h = &t->h,
                                .part = t->part,
                                .fixed = t->fixed,
                                .a = a,
                                .b = b,
                                .member = t->member,
                                .stall_limit = 100};
    for (uint32_t v = 0; v < n; v++) {
        if (t->part[v] != a && t->part[v] != b)
            continue;
        t->pair.load[t->part[v] == b] += lbm_graph_work(&t->g, v);
        t->fixed[v] = lbm_rng_below(rng, 10) == 0;
        if (lbm_rng_below(rng, 10) != 0)
            t->member[t->pair.n_members++] = v;
    }
    for (int side = 0; side < 2; side++)
        t->pair.limit[side] = (t->pair.load[0] + t->pair.load[1]) / 2 + lbm_rng_below(rng, 5);
}

void
trial_close(struct trial *t)
{
    free(t->part);
    free(t->before);
    free(t->member);
    free(t->moved);
    free(t->fixed);
    lbm_graph_free(&t->g);
    lbm_hosts_free(&t->h);
}

int
trial_lists(const uint32_t *ids, uint32_t n, uint32_t id)
{
    for (uint32_t i = 0; i < n; i++)
        if (ids[i] == id)
            return 1;
    return 0;
}

void
trial_expect(const struct trial *t, int64_t gain, uint32_t n_moved)
{
    uint64_t load[2] = {0};
    for (uint32_t v = 0; v < t->g.n; v++) {
        int changed = t->part[v] != t->before[v];
        assert_int_equal(changed, trial_lists(t->moved, n_moved, v));
        if (changed) {
            assert_true(trial_lists(t->member, t->pair.n_members, v) && !t->fixed[v]);
            assert_true(t->part[v] == t->pair.a || t->part[v] == t->pair.b);
        }
        if (t->part[v] == t->pair.a || t->part[v] == t->pair.b)
            load[t->part[v] == t->pair.b] += lbm_graph_work(&t->g, v);
    }
    assert_int_equal(load[0], t->pair.load[0]);
    assert_int_equal(load[1], t->pair.load[1]);
    assert_int_equal(gain, (int64_t)lbm_map_hop_bytes(&t->g, &t->h, t->before) -
                               (int64_t)lbm_map_hop_bytes(&t->g, &t->h, t->part));
}
