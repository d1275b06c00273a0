/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "graph/generate.h"
#include "tests/unit/host/hosts_fixture.h"

struct lbm_hosts
make_hosts(const char *spec)
{
    struct lbm_hosts h = {0};
    struct lbm_diag diag;
    if (lbm_hosts_generate(spec, &h, &diag) != LBM_OK)
        fail_msg("%s: %s", spec, diag.text);
    return h;
}

struct lbm_hosts
make_linked_hosts(uint32_t n, const struct lbm_link *links, size_t n_links)
{
    struct lbm_hosts h;
    struct lbm_diag diag = {0};
    if (lbm_hosts_build(n, links, n_links, NULL, 2, NULL, &h, &diag) != LBM_OK)
        fail_msg("%s", diag.text);
    return h;
}

static int
linked(const struct lbm_link *link, uint32_t n, uint32_t p, uint32_t q)
{
    for (uint32_t i = 0; i < n; i++)
        if ((link[i].p == p && link[i].q == q) || (link[i].p == q && link[i].q == p))
            return 1;
    return 0;
}

struct lbm_hosts
make_random_hosts(struct lbm_rng *rng, uint32_t n, uint32_t extra, int unequal)
{
    struct lbm_hosts h = {0};
    struct lbm_diag diag;
    struct lbm_link *link = lbm_alloc((size_t)n + extra, sizeof *link);
    double *capacity = lbm_alloc(n, sizeof *capacity), *site = lbm_alloc(2 * (size_t)n, sizeof *site);
    uint32_t k = 0;
    assert_true(link != NULL && capacity != NULL && site != NULL);
    for (uint32_t p = 0; p < n; p++) {
        capacity[p] = unequal ? 1.0 + lbm_rng_below(rng, 4) : 1.0;
        site[2 * p] = lbm_rng_unit(rng);
        site[2 * p + 1] = lbm_rng_unit(rng);
        if (p > 0)
            link[k++] = (struct lbm_link){lbm_rng_below(rng, p), p, 1};
    }
    for (uint32_t i = 0; i < extra; i++) {
        uint32_t p = lbm_rng_below(rng, n), q = lbm_rng_below(rng, n);
        if (p != q && !linked(link, k, p, q))
            link[k++] = (struct lbm_link){p, q, 1};
    }
    if (lbm_hosts_build(n, link, k, capacity, 2, site, &h, &diag) != LBM_OK)
        fail_msg("%s", diag.text);
    free(link);
    free(capacity);
    free(site);
    return h;
}

struct lbm_hosts
make_planar_hosts(uint32_t n)
{
    struct lbm_graph g;
    struct lbm_hosts h = {0};
    struct lbm_diag diag;
    char spec[32];
    snprintf(spec, sizeof spec, "tri:%u", n);
    if (lbm_graph_generate(spec, 1, &g, &diag) != LBM_OK)
        fail_msg("%s: %s", spec, diag.text);
    struct lbm_link *link = lbm_alloc(lbm_graph_directions(&g) / 2, sizeof *link);
    uint32_t k = 0;
    assert_non_null(link);
    for (uint32_t v = 0; v < g.n; v++)
        for (uint64_t e = g.offset[v]; e < g.offset[v + 1]; e++)
            if (v < g.target[e])
                link[k++] = (struct lbm_link){v, g.target[e], 1};
    if (lbm_hosts_build(g.n, link, k, NULL, 2, g.position, &h, &diag) != LBM_OK)
        fail_msg("%s", diag.text);
    free(link);
    lbm_graph_free(&g);
    return h;
}

int
hosts_are_linked(const struct lbm_hosts *h, uint32_t p, uint32_t q)
{
    for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++)
        if (h->target[i] == q)
            return 1;
    return 0;
}

double
site_distance(const struct lbm_hosts *h, uint32_t p, uint32_t q)
{
    double sum = 0.0;
    for (unsigned k = 0; k < h->m; k++)
        sum += pow(h->site[(size_t)p * h->m + k] - h->site[(size_t)q * h->m + k], 2.0);
    return sqrt(sum);
}

void
assert_sites_in_the_box(const struct lbm_hosts *h)
{
    assert_true(h->m == 2 || h->m == 3);
    for (size_t i = 0; i < (size_t)h->n * h->m; i++)
        assert_true(h->site[i] >= 0.0 && h->site[i] <= 1.0);
}

void
assert_sites_differ(const struct lbm_hosts *h)
{
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t q = 0; q < p; q++)
            if (site_distance(h, p, q) < 1e-6)
                fail_msg("hosts %u and %u have one site", p, q);
}

void
assert_proper_colours(const struct lbm_hosts *h, const uint32_t *colour, uint32_t n)
{
    uint32_t *seen_at = lbm_alloc(n, sizeof *seen_at); /* 1 + the last host that has the colour */
    assert_non_null(seen_at);
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++) {
            assert_true(colour[i] < n);
            assert_true(seen_at[colour[i]] != p + 1);
            seen_at[colour[i]] = p + 1;
            uint32_t q = h->target[i], back = h->offset[q];
            while (h->target[back] != p)
                back++;
            assert_int_equal(colour[i], colour[back]);
        }
    for (uint32_t c = 0; c < n; c++)
        assert_true(seen_at[c] != 0);
    free(seen_at);
}
