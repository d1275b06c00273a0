/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of switches: who is below whom, and the hosts below its leaves.
 *
 * Distance: links on the way through the tree, so 2 under one switch. Ids follow the tree, switches in the
 * order of the file; names are the file's. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "host/hostlist.h"
#include "host/slurm.h"

/* ---- the tree ------------------------------------------------------------------------------------ */

static int
text_order(struct slurm_text a, struct slurm_text b)
{
    int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* Sorting by insertion into a sorted array keeps the comparison free of globals. */
static enum lbm_err
sort_names(struct slurm_topology *t)
{
    for (uint32_t i = 0; i < t->nodes.n; i++) {
        struct slurm_text name = t->nodes.at[i].name;
        uint32_t lo = 0, hi = i;
        while (lo < hi) {
            uint32_t mid = lo + (hi - lo) / 2;
            int order = text_order(t->nodes.at[t->by_name[mid]].name, name);
            if (order == 0)
                return lbm_slurm_refuse(t, t->nodes.at[i].line, LBM_E_SYNTAX,
                                        "this switch has a line already", name);
            if (order < 0)
                lo = mid + 1;
            else
                hi = mid;
        }
        memmove(&t->by_name[lo + 1], &t->by_name[lo], (i - lo) * sizeof *t->by_name);
        t->by_name[lo] = i;
    }
    return LBM_OK;
}

static uint32_t
find_switch(const struct slurm_topology *t, struct slurm_text name)
{
    uint32_t lo = 0, hi = (uint32_t)t->nodes.n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int order = text_order(t->nodes.at[t->by_name[mid]].name, name);
        if (order == 0)
            return t->by_name[mid];
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return LBM_NONE;
}

/* A pass over the names of one line's list. */
struct pass {
    struct slurm_topology *t;
    uint32_t node;
    uint32_t n; /* names seen */
};

static enum lbm_err
adopt(void *arg, const char *name)
{
    struct pass *pass = arg;
    struct slurm_topology *t = pass->t;
    uint64_t line = t->nodes.at[pass->node].line;
    struct slurm_text text = {name, strlen(name)};
    uint32_t child = find_switch(t, text);
    if (child == LBM_NONE)
        return lbm_slurm_refuse(t, line, LBM_E_SYNTAX, "no line tells of this switch", text);
    if (t->nodes.at[child].parent != LBM_NONE)
        return lbm_slurm_refuse(t, line, LBM_E_SYNTAX, "this switch is below another one already", text);
    t->nodes.at[child].parent = pass->node;
    return LBM_OK;
}

static enum lbm_err
count_name(void *arg, const char *name)
{
    (void)name;
    ((struct pass *)arg)->n++;
    return LBM_OK;
}

static enum lbm_err
each_name(struct pass *pass, struct slurm_text list, lbm_hostlist_each *each)
{
    const char *problem = NULL;
    enum lbm_err err = lbm_hostlist_expand(list.at, list.len, each, pass, &problem);
    if (problem == NULL)
        return err;
    return lbm_slurm_refuse(pass->t, pass->t->nodes.at[pass->node].line, err, problem, list);
}

static enum lbm_err
find_parents(struct slurm_topology *t)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; err == LBM_OK && i < t->nodes.n; i++) {
        struct pass pass = {t, i, 0};
        if (t->nodes.at[i].switches.len != 0)
            err = each_name(&pass, t->nodes.at[i].switches, adopt);
    }
    return err;
}

static enum lbm_err
find_root(struct slurm_topology *t, uint32_t *root)
{
    *root = LBM_NONE;
    for (uint32_t i = 0; i < t->nodes.n; i++) {
        if (t->nodes.at[i].parent != LBM_NONE)
            continue;
        if (*root != LBM_NONE)
            return lbm_slurm_refuse(t, t->nodes.at[i].line, LBM_E_SYNTAX,
                                    "no switch is above both this one and the one at the root",
                                    t->nodes.at[i].name);
        *root = i;
    }
    if (*root == LBM_NONE)
        return lbm_slurm_refuse(t, t->nodes.at[0].line, LBM_E_SYNTAX,
                                "the switches form a circle; one of them", t->nodes.at[0].name);
    return LBM_OK;
}

/* Groups level by level below the root, children in the order of the file. */
static enum lbm_err
number_groups(struct slurm_topology *t, uint32_t root)
{
    struct slurm_node *nodes = t->nodes.at;
    uint32_t level = 0, level_end = 1;
    t->node_of[t->n_groups++] = root;
    nodes[root].group = 0;
    for (uint32_t g = 0; g < t->n_groups; g++) {
        if (g == level_end) {
            level_end = t->n_groups;
            if (++level == LBM_GROUP_LEVELS_MAX)
                return lbm_slurm_refuse(t, nodes[t->node_of[g]].line, LBM_E_LIMIT,
                                        "too many levels of switches", nodes[t->node_of[g]].name);
        }
        t->groups[g].depth = 2 * level;
        t->groups[g].first_child = t->n_groups;
        for (uint32_t i = 0; i < t->nodes.n; i++)
            if (nodes[i].parent == t->node_of[g]) {
                nodes[i].group = t->n_groups;
                t->node_of[t->n_groups++] = i;
            }
        t->groups[g].n_children = t->n_groups - t->groups[g].first_child;
    }
    for (uint32_t i = 0; i < t->nodes.n; i++)
        if (nodes[i].group == LBM_NONE)
            return lbm_slurm_refuse(t, nodes[i].line, LBM_E_SYNTAX, "this switch is in a circle of switches",
                                    nodes[i].name);
    return LBM_OK;
}

/* ---- hosts --------------------------------------------------------------------------------------- */

static enum lbm_err
count_hosts(struct slurm_topology *t)
{
    uint32_t all = 0;
    for (uint32_t g = t->n_groups; g-- > 0;) {
        struct lbm_group *group = &t->groups[g];
        struct pass pass = {t, t->node_of[g], 0};
        enum lbm_err err = LBM_OK;
        if (group->n_children == 0)
            err = each_name(&pass, t->nodes.at[pass.node].nodes, count_name);
        if (err != LBM_OK)
            return err;
        group->n_hosts = pass.n;
        all += pass.n;
        if (all > LBM_HOSTS_MAX)
            return lbm_slurm_refuse(t, t->nodes.at[pass.node].line, LBM_E_LIMIT,
                                    "too many hosts, the last under", t->nodes.at[pass.node].name);
        for (uint32_t c = 0; c < group->n_children; c++)
            group->n_hosts += t->groups[group->first_child + c].n_hosts;
    }
    for (uint32_t g = 0; g < t->n_groups; g++)
        for (uint32_t c = 0, at = t->groups[g].first_host; c < t->groups[g].n_children; c++) {
            struct lbm_group *child = &t->groups[t->groups[g].first_child + c];
            child->first_host = at;
            at += child->n_hosts;
        }
    return LBM_OK;
}

static enum lbm_err
name_host(void *arg, const char *name)
{
    struct pass *pass = arg;
    for (const char *c = name; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~') /* others are told these names, as text */
            return lbm_slurm_refuse(pass->t, pass->t->nodes.at[pass->node].line, LBM_E_SYNTAX,
                                    "no name of a host", (struct slurm_text){name, strlen(name)});
    struct lbm_group *group = &pass->t->groups[pass->t->nodes.at[pass->node].group];
    uint32_t host = group->first_host + pass->n++;
    pass->t->host_depth[host] = group->depth + 2;
    pass->t->name[host] = lbm_copy(name, strlen(name) + 1, 1);
    return pass->t->name[host] != NULL ? LBM_OK : LBM_E_NOMEM;
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum lbm_err
check_names(struct slurm_topology *t, uint32_t n)
{
    char **sorted = lbm_copy(t->name, n, sizeof *sorted);
    if (sorted == NULL)
        return LBM_E_NOMEM;
    qsort(sorted, n, sizeof *sorted, by_text);
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 1; err == LBM_OK && i < n; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            err = lbm_slurm_refuse(t, 0, LBM_E_SYNTAX, "a host is below two switches, or twice below one",
                                   (struct slurm_text){sorted[i], strlen(sorted[i])});
    free(sorted);
    return err;
}

static enum lbm_err
make_hosts(struct slurm_topology *t, struct lbm_hosts *out)
{
    uint32_t n = t->groups[0].n_hosts;
    t->host_depth = lbm_alloc(n, sizeof *t->host_depth);
    t->name = lbm_alloc(n, sizeof *t->name);
    if (t->host_depth == NULL || t->name == NULL)
        return LBM_E_NOMEM;
    enum lbm_err err = LBM_OK;
    for (uint32_t g = 0; err == LBM_OK && g < t->n_groups; g++) {
        struct pass pass = {t, t->node_of[g], 0};
        if (t->groups[g].n_children == 0)
            err = each_name(&pass, t->nodes.at[pass.node].nodes, name_host);
    }
    if (err == LBM_OK)
        err = check_names(t, n);
    if (err == LBM_OK)
        err = lbm_hosts_from_groups(t->scan.name, t->groups, t->n_groups, t->host_depth, out, t->scan.diag);
    if (err == LBM_OK) {
        out->name = t->name;
        t->name = NULL;
    }
    for (uint32_t p = 0; t->name != NULL && p < n; p++)
        free(t->name[p]);
    return err;
}

enum lbm_err
lbm_slurm_hosts(struct slurm_topology *t, struct lbm_hosts *out)
{
    LBM_ASSERT(t->nodes.n >= 1);
    t->by_name = lbm_alloc(t->nodes.n, sizeof *t->by_name);
    t->node_of = lbm_alloc(t->nodes.n, sizeof *t->node_of);
    t->groups = lbm_alloc(t->nodes.n, sizeof *t->groups);
    uint32_t root = 0;
    enum lbm_err err = t->by_name && t->node_of && t->groups ? sort_names(t) : LBM_E_NOMEM;
    if (err == LBM_OK)
        err = find_parents(t);
    if (err == LBM_OK)
        err = find_root(t, &root);
    if (err == LBM_OK)
        err = number_groups(t, root);
    if (err == LBM_OK)
        err = count_hosts(t);
    if (err == LBM_OK)
        err = make_hosts(t, out);
    free(t->by_name);
    free(t->node_of);
    free(t->groups);
    free(t->host_depth);
    free(t->name);
    return err;
}
