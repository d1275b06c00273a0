/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hosts below Slurm's switches or blocks: those that are wanted, in the order of the tree, with the names
 * of the file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/selection.h"
#include "host/slurm.h"

/* ---- names --------------------------------------------------------------------------------------------- */

struct listing {
    struct slurm_topology *t;
    struct lbm_selection wanted;
    uint32_t entry;
};

static enum lbm_err
take_host(void *arg, const char *name)
{
    struct listing *listing = arg;
    struct slurm_topology *t = listing->t;
    struct slurm_text text = {name, strlen(name)};
    uint64_t line = t->entries.at[listing->entry].line;
    for (const char *c = name; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~') /* others are told these names, as text */
            return lbm_slurm_refuse(t, line, LBM_E_SYNTAX, "no name of a host", text);
    if (t->n_named++ == LBM_HOSTLIST_MAX)
        return lbm_slurm_refuse(t, line, LBM_E_LIMIT, "the file has too many names, the last", text);
    uint32_t index = t->entries.at[listing->entry].n_named++;
    if (!lbm_selection_has(&listing->wanted, name))
        return LBM_OK;
    struct slurm_host host = {lbm_copy(name, text.len + 1, 1), listing->entry, index, (uint32_t)t->hosts.n};
    enum lbm_err err = host.name != NULL ? lbm_vec_push(&t->hosts, host) : LBM_E_NOMEM;
    if (err != LBM_OK)
        free(host.name);
    return err;
}

static enum lbm_err
list_hosts(struct slurm_topology *t)
{
    struct listing listing = {.t = t};
    enum lbm_err err = lbm_selection_make(t->how->nodes, &listing.wanted, t->scan.diag);
    for (uint32_t i = 0; err == LBM_OK && i < t->entries.n; i++) {
        const struct slurm_entry *entry = &t->entries.at[i];
        const char *problem = NULL;
        listing.entry = i;
        if (entry->nodes.len != 0)
            err = lbm_hostlist_expand(entry->nodes.at, entry->nodes.len, take_host, &listing, &problem);
        if (problem != NULL)
            err = lbm_slurm_refuse(t, entry->line, err, problem, entry->nodes);
    }
    if (err == LBM_OK)
        err = lbm_selection_complete(&listing.wanted, t->scan.name, t->scan.diag);
    lbm_selection_free(&listing.wanted);
    return err;
}

static int
by_name(const void *a, const void *b)
{
    const struct slurm_host *x = *(const struct slurm_host *const *)a,
                            *y = *(const struct slurm_host *const *)b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->entry > y->entry) - (x->entry < y->entry);
}

/* Out: *n different hosts; *shared nonzero if one is below several entries. */
static enum lbm_err
survey(struct slurm_topology *t, uint32_t *n, int *shared)
{
    const struct slurm_host **sorted = lbm_alloc(t->hosts.n, sizeof *sorted);
    if (sorted == NULL)
        return LBM_E_NOMEM;
    for (size_t i = 0; i < t->hosts.n; i++)
        sorted[i] = &t->hosts.at[i];
    if (t->hosts.n > 1)
        qsort(sorted, t->hosts.n, sizeof *sorted, by_name);
    *n = t->hosts.n != 0;
    *shared = 0;
    enum lbm_err err = LBM_OK;
    for (size_t i = 1; err == LBM_OK && i < t->hosts.n; i++) {
        struct slurm_text name = {sorted[i]->name, strlen(sorted[i]->name)};
        uint64_t line = t->entries.at[sorted[i]->entry].line;
        if (strcmp(sorted[i - 1]->name, name.at) != 0)
            ++*n;
        else if (sorted[i - 1]->entry == sorted[i]->entry)
            err = lbm_slurm_refuse(t, line, LBM_E_SYNTAX, "this host is named twice here", name);
        else if (t->kind != SLURM_TREE)
            err = lbm_slurm_refuse(t, line, LBM_E_SYNTAX, "this host is in another block or ring already",
                                   name);
        else
            *shared = 1;
    }
    free(sorted);
    if (err != LBM_OK)
        return err;
    t->scan.line = 0;
    if (*n == 0)
        return lbm_scan_refuse(&t->scan, LBM_E_RANGE, "no hosts; there must be at least one");
    if (*n > LBM_HOSTS_MAX)
        return lbm_scan_refuse(&t->scan, LBM_E_LIMIT,
                               "%" PRIu32 " hosts, at most %d are possible; choose those of a job with "
                               "@nodes=LIST behind the name of the file",
                               *n, LBM_HOSTS_MAX);
    return LBM_OK;
}

/* ---- groups -------------------------------------------------------------------------------------------- */

/* Leave out groups without hosts. Children stay together and behind their parents. */
static void
drop_empty(struct slurm_topology *t)
{
    uint32_t kept = 0;
    for (uint32_t g = 0; g < t->n_groups; g++) {
        struct lbm_group group = t->groups[g];
        uint32_t left = 0;
        for (uint32_t c = 0; c < group.n_children; c++)
            left += t->groups[group.first_child + c].n_hosts != 0;
        t->groups[g].n_children = left;
    }
    uint32_t next_child = 1;
    for (uint32_t g = 0; g < t->n_groups; g++) {
        if (t->groups[g].n_hosts == 0)
            continue;
        t->entry_of[kept] = t->entry_of[g];
        t->groups[kept] = t->groups[g];
        t->groups[kept].first_child = next_child;
        next_child += t->groups[kept++].n_children;
    }
    t->n_groups = kept;
}

/* How many hosts each group has and which is its first. Out: first [entries], also where an entry's hosts
 * begin. */
static enum lbm_err
count_hosts(struct slurm_topology *t, uint32_t *first)
{
    uint32_t *count = lbm_alloc(t->entries.n, sizeof *count);
    if (count == NULL)
        return LBM_E_NOMEM;
    for (size_t i = 0; i < t->hosts.n; i++)
        count[t->hosts.at[i].entry]++;
    for (uint32_t g = t->n_groups; g-- > 0;) {
        struct lbm_group *group = &t->groups[g];
        group->n_hosts = group->n_children == 0 ? count[t->entry_of[g]] : 0;
        for (uint32_t c = 0; c < group->n_children; c++)
            group->n_hosts += t->groups[group->first_child + c].n_hosts;
    }
    free(count);
    drop_empty(t);
    for (uint32_t g = 0; g < t->n_groups; g++) {
        for (uint32_t c = 0, at = t->groups[g].first_host; c < t->groups[g].n_children; c++) {
            struct lbm_group *child = &t->groups[t->groups[g].first_child + c];
            child->first_host = at;
            at += child->n_hosts;
        }
        if (t->groups[g].n_children == 0)
            first[t->entry_of[g]] = t->groups[g].first_host;
    }
    return LBM_OK;
}

/* Out: host_depth [n]; place of each of t->hosts is its number. */
static enum lbm_err
number_hosts(struct slurm_topology *t, uint32_t *host_depth)
{
    uint32_t *next = lbm_alloc(t->entries.n, sizeof *next);
    enum lbm_err err = next != NULL ? count_hosts(t, next) : LBM_E_NOMEM;
    if (err == LBM_OK) {
        for (uint32_t g = 0; g < t->n_groups; g++)
            for (uint32_t k = 0; t->groups[g].n_children == 0 && k < t->groups[g].n_hosts; k++)
                host_depth[t->groups[g].first_host + k] = t->groups[g].depth + 2;
        for (size_t i = 0; i < t->hosts.n; i++)
            t->hosts.at[i].place = next[t->hosts.at[i].entry]++;
    }
    free(next);
    return err;
}

static enum lbm_err
make_grouped(struct slurm_topology *t, uint32_t n, struct lbm_hosts *h)
{
    uint32_t *host_depth = lbm_alloc(n, sizeof *host_depth);
    enum lbm_err err = host_depth != NULL ? number_hosts(t, host_depth) : LBM_E_NOMEM;
    if (err == LBM_OK)
        err = lbm_hosts_from_groups(t->scan.name, t->groups, t->n_groups, host_depth, h, t->scan.diag);
    free(host_depth);
    return err;
}

/* ---- all ----------------------------------------------------------------------------------------------- */

static enum lbm_err
make(struct slurm_topology *t, struct lbm_hosts *h)
{
    struct slurm_tree tree = {0};
    uint32_t n = 0;
    int shared = 0;
    enum lbm_err err = t->kind != SLURM_TORUS ? lbm_slurm_tree_read(t, &tree) : LBM_OK;
    if (err == LBM_OK)
        err = list_hosts(t);
    if (err == LBM_OK)
        err = survey(t, &n, &shared);
    for (uint32_t i = 0; err == LBM_OK && i < tree.n; i++)
        shared |= tree.parents[i] > 1;
    if (err == LBM_OK && t->kind == SLURM_TORUS) {
        err = lbm_slurm_tori(t, h);
    } else if (err == LBM_OK && shared) {
        err = lbm_slurm_network(t, &tree, h);
    } else if (err == LBM_OK) {
        err = t->kind == SLURM_BLOCK ? lbm_slurm_block_groups(t) : lbm_slurm_tree_groups(t, &tree);
        if (err == LBM_OK)
            err = make_grouped(t, n, h);
    }
    lbm_slurm_tree_free(&tree);
    return err;
}

static enum lbm_err
take_names(struct slurm_topology *t, struct lbm_hosts *h)
{
    h->name = lbm_alloc(h->n, sizeof *h->name);
    if (h->name == NULL)
        return LBM_E_NOMEM;
    for (size_t i = 0; i < t->hosts.n; i++) {
        struct slurm_host *host = &t->hosts.at[i];
        if (h->name[host->place] != NULL)
            continue;
        h->name[host->place] = host->name;
        host->name = NULL;
    }
    return LBM_OK;
}

enum lbm_err
lbm_slurm_hosts(struct slurm_topology *t, struct lbm_hosts *out)
{
    struct lbm_hosts h = {0};
    enum lbm_err err = make(t, &h);
    if (err == LBM_OK)
        err = take_names(t, &h);
    if (err == LBM_OK)
        *out = h;
    else
        lbm_hosts_free(&h);
    return err;
}

void
lbm_slurm_free(struct slurm_topology *t)
{
    for (size_t i = 0; i < t->hosts.n; i++)
        free(t->hosts.at[i].name);
    lbm_vec_free(&t->hosts);
    lbm_vec_free(&t->entries);
    free(t->groups);
    free(t->entry_of);
}
