/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rings and tori of Slurm: hosts at places of a grid that wraps around.
 *
 * Distance: links on the way in one torus, also through places without a host; between two of them the cost
 * of islands, by default the largest distance in one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/slurm.h"

/* Place of a host in its torus, x fastest. */
static void
locate(const struct slurm_topology *t, const struct slurm_host *host, uint32_t *xyz)
{
    const struct slurm_entry *entry = &t->entries.at[host->entry];
    uint32_t rest = host->index;
    for (int k = 0; k < 3; k++) {
        xyz[k] = entry->anchor[k] + rest % entry->dims[k];
        rest /= entry->dims[k];
    }
}

static uint32_t
distance(const struct slurm_entry *torus, const uint32_t *a, const uint32_t *b)
{
    uint32_t sum = 0;
    for (int k = 0; k < 3; k++) {
        uint32_t d = a[k] < b[k] ? b[k] - a[k] : a[k] - b[k], around = torus->torus_dims[k] - d;
        sum += d < around ? d : around;
    }
    return sum;
}

/* Rings are as long as their lists; other lists must fit. */
static enum lbm_err
check_sizes(struct slurm_topology *t)
{
    for (size_t i = 0; i < t->entries.n; i++) {
        struct slurm_entry *entry = &t->entries.at[i];
        if (entry->torus_dims[0] == 0) {
            entry->torus_dims[0] = entry->dims[0] = entry->n_named != 0 ? entry->n_named : 1;
            for (int k = 1; k < 3; k++)
                entry->torus_dims[k] = entry->dims[k] = 1;
        }
        uint64_t places = (uint64_t)entry->dims[0] * entry->dims[1] * entry->dims[2];
        if (places < entry->n_named) {
            t->scan.line = entry->line;
            return lbm_scan_refuse(&t->scan, LBM_E_RANGE, "%" PRIu32 " nodes for %" PRIu64 " places",
                                   entry->n_named, places);
        }
    }
    return LBM_OK;
}

static uint32_t
island_cost(const struct slurm_topology *t)
{
    uint32_t most = 1;
    if (t->how->island_cost != 0)
        return t->how->island_cost;
    for (size_t i = 0; i < t->entries.n; i++) {
        const uint32_t *dims = t->entries.at[i].torus_dims;
        uint32_t farthest = dims[0] / 2 + dims[1] / 2 + dims[2] / 2;
        most = farthest > most ? farthest : most;
    }
    return most;
}

/* Out: dist [n * n]; links between those one link apart. */
static enum lbm_err
measure(struct slurm_topology *t, uint32_t n, const uint32_t *xyz, uint32_t *dist, struct lbm_link_vec *links)
{
    uint32_t between = island_cost(t);
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t q = 0; q < p; q++) {
            const struct slurm_entry *a = &t->entries.at[t->hosts.at[p].entry];
            const struct slurm_entry *b = &t->entries.at[t->hosts.at[q].entry];
            int same = a->torus == b->torus;
            uint32_t d = same ? distance(a, &xyz[3 * (size_t)p], &xyz[3 * (size_t)q]) : between;
            if (d == 0) {
                struct slurm_text name = {t->hosts.at[p].name, strlen(t->hosts.at[p].name)};
                return lbm_slurm_refuse(t, a->line, LBM_E_SYNTAX, "another host has this place already",
                                        name);
            }
            dist[(size_t)p * n + q] = dist[(size_t)q * n + p] = d;
            struct lbm_link link = {p, q, 1};
            if (same && d == 1 && lbm_vec_push(links, link) != LBM_OK)
                return LBM_E_NOMEM;
        }
    return LBM_OK;
}

static enum lbm_err
build(uint32_t n, const uint32_t *dist, const struct lbm_link_vec *links, struct lbm_hosts *h)
{
    enum lbm_err err = lbm_hosts_link(n, links->at, links->n, h);
    if (err != LBM_OK)
        return err;
    memcpy(h->dist, dist, (size_t)n * n * sizeof *dist);
    err = lbm_hosts_join(h);
    return err == LBM_OK ? lbm_sites_stress(h) : err;
}

enum lbm_err
lbm_slurm_tori(struct slurm_topology *t, struct lbm_hosts *out)
{
    uint32_t n = (uint32_t)t->hosts.n;
    struct lbm_link_vec links = {0};
    uint32_t *xyz = lbm_alloc(3 * (size_t)n, sizeof *xyz), *dist = lbm_alloc((size_t)n * n, sizeof *dist);
    enum lbm_err err = xyz != NULL && dist != NULL ? check_sizes(t) : LBM_E_NOMEM;
    for (uint32_t p = 0; err == LBM_OK && p < n; p++)
        locate(t, &t->hosts.at[p], &xyz[3 * (size_t)p]);
    if (err == LBM_OK)
        err = measure(t, n, xyz, dist, &links);
    if (err == LBM_OK)
        err = build(n, dist, &links, out);
    lbm_vec_free(&links);
    free(xyz);
    free(dist);
    return err;
}
