/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Switches of Slurm that are no tree: one below several others, or a host below several. */
#include <stdlib.h>
#include <string.h>

#include "host/network.h"
#include "host/slurm.h"

static int
by_name(const void *a, const void *b)
{
    const struct slurm_host *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

static int
by_place(const void *a, const void *b)
{
    const struct slurm_host *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Give hosts of one name the place of the first; then places count the different names.
 * Out: links between each host and its switches, the hosts being 0 .. *n - 1. */
static enum lbm_err
number_hosts(struct slurm_topology *t, uint32_t *n)
{
    struct slurm_host *host = t->hosts.at;
    uint32_t n_all = (uint32_t)t->hosts.n;
    qsort(host, n_all, sizeof *host, by_name);
    uint32_t *first = lbm_alloc(n_all, sizeof *first); /* by place: that of the first of the name */
    if (first == NULL)
        return LBM_E_NOMEM;
    for (uint32_t i = 0; i < n_all; i++) {
        int again = i > 0 && strcmp(host[i - 1].name, host[i].name) == 0;
        first[host[i].place] = again ? first[host[i - 1].place] : host[i].place;
    }
    qsort(host, n_all, sizeof *host, by_place);
    *n = 0;
    for (uint32_t i = 0; i < n_all; i++) /* places are 0, 1, ... again */
        host[i].place = first[i] == i ? (*n)++ : host[first[i]].place;
    free(first);
    return LBM_OK;
}

static enum lbm_err
link_hosts(struct slurm_topology *t, uint32_t n, struct lbm_link_vec *links)
{
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < t->hosts.n; i++) {
        struct lbm_link link = {t->hosts.at[i].place, n + t->hosts.at[i].entry, 1};
        err = lbm_vec_push(links, link);
    }
    return err;
}

static enum lbm_err
link_switches(const struct slurm_tree *tree, uint32_t n, struct lbm_link_vec *links)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; i < tree->n; i++)
        for (uint32_t k = tree->offset[i]; err == LBM_OK && k < tree->offset[i + 1]; k++) {
            struct lbm_link link = {n + i, n + tree->child[k], 1};
            err = lbm_vec_push(links, link);
        }
    return err;
}

/* Mark what is connected with entry, up and down. In: rows of the switches. */
static void
mark(const struct lbm_hosts *rows, uint32_t from, uint32_t island, uint32_t *of, uint32_t *queue)
{
    uint32_t n = 1;
    queue[0] = from;
    of[from] = island;
    for (uint32_t next = 0; next < n; next++)
        for (uint32_t i = rows->offset[queue[next]]; i < rows->offset[queue[next] + 1]; i++)
            if (of[rows->target[i]] == LBM_NONE) {
                of[rows->target[i]] = island;
                queue[n++] = rows->target[i];
            }
}

/* A link between the first root of one island and the first of each other one. */
static enum lbm_err
link_islands(const struct slurm_tree *tree, uint32_t n, uint32_t cost, struct lbm_link_vec *links)
{
    struct lbm_hosts rows = {0};
    uint32_t all = n + tree->n;
    uint32_t *of = lbm_alloc(all, sizeof *of), *queue = lbm_alloc(all, sizeof *queue);
    uint32_t *first = lbm_alloc(tree->roots, sizeof *first), islands = 0;
    enum lbm_err err =
        of && queue && first ? lbm_hosts_link_rows(all, links->at, links->n, &rows) : LBM_E_NOMEM;
    if (err == LBM_OK)
        memset(of, 0xff, all * sizeof *of);
    for (uint32_t i = 0; err == LBM_OK && i < tree->roots; i++) {
        uint32_t root = n + tree->order[i];
        if (of[root] != LBM_NONE)
            continue;
        mark(&rows, root, islands, of, queue);
        for (uint32_t k = 0; err == LBM_OK && k < islands; k++) {
            struct lbm_link link = {first[k], root, cost};
            err = links->n < LBM_LINKS_MAX ? lbm_vec_push(links, link) : LBM_E_LIMIT;
        }
        first[islands++] = root;
    }
    lbm_hosts_free(&rows);
    free(of);
    free(queue);
    free(first);
    return err;
}

enum lbm_err
lbm_slurm_network(struct slurm_topology *t, const struct slurm_tree *tree, struct lbm_hosts *out)
{
    uint32_t n = 0;
    struct lbm_link_vec links = {0};
    enum lbm_err err = number_hosts(t, &n);
    double *capacity = lbm_alloc((size_t)n + tree->n, sizeof *capacity);
    if (capacity == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK && n + tree->n > LBM_NETWORK_MAX)
        err = lbm_scan_refuse(&t->scan, LBM_E_LIMIT, "more than %d hosts and switches", LBM_NETWORK_MAX);
    for (uint32_t p = 0; err == LBM_OK && p < n; p++)
        capacity[p] = 1.0;
    if (err == LBM_OK)
        err = link_hosts(t, n, &links);
    if (err == LBM_OK)
        err = link_switches(tree, n, &links);
    if (err == LBM_OK && links.n > LBM_LINKS_MAX)
        err = lbm_scan_refuse(&t->scan, LBM_E_LIMIT, "more than %d links", LBM_LINKS_MAX);
    if (err == LBM_OK)
        err = link_islands(tree, n, lbm_slurm_island_cost(t, tree), &links);
    struct lbm_network net = {n + tree->n, links.at, links.n, capacity, 2, NULL, NULL};
    if (err == LBM_OK)
        err = lbm_hosts_from_network(t->scan.name, &net, out, t->scan.diag);
    lbm_vec_free(&links);
    free(capacity);
    return err;
}
