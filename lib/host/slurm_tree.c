/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Switches of Slurm: who is below whom, and as groups if that is a tree or several.
 *
 * Distance: links on the way, so 2 under one switch; between two trees also the cost of islands. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "host/slurm.h"

/* ---- names --------------------------------------------------------------------------------------------- */

static int
text_order(struct slurm_text a, struct slurm_text b)
{
    int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

struct named {
    struct slurm_text name;
    uint32_t entry;
};

static int
by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = text_order(x->name, y->name);
    return order != 0 ? order : (x->entry > y->entry) - (x->entry < y->entry);
}

static enum lbm_err
sort_names(struct slurm_topology *t, struct slurm_tree *tree)
{
    struct named *sorted = lbm_alloc(tree->n, sizeof *sorted);
    if (sorted == NULL)
        return LBM_E_NOMEM;
    for (uint32_t i = 0; i < tree->n; i++)
        sorted[i] = (struct named){t->entries.at[i].name, i};
    qsort(sorted, tree->n, sizeof *sorted, by_name);
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; i < tree->n && err == LBM_OK; i++) {
        tree->by_name[i] = sorted[i].entry;
        if (i > 0 && text_order(sorted[i - 1].name, sorted[i].name) == 0)
            err = lbm_slurm_refuse(t, t->entries.at[sorted[i].entry].line, LBM_E_SYNTAX,
                                   t->kind == SLURM_BLOCK ? "this block has a line already"
                                                          : "this switch has a line already",
                                   sorted[i].name);
    }
    free(sorted);
    return err;
}

static uint32_t
find_switch(const struct slurm_topology *t, const struct slurm_tree *tree, struct slurm_text name)
{
    uint32_t lo = 0, hi = tree->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int order = text_order(t->entries.at[tree->by_name[mid]].name, name);
        if (order == 0)
            return tree->by_name[mid];
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return LBM_NONE;
}

/* ---- children ------------------------------------------------------------------------------------------ */

/* A pass over the names of one line's list. */
struct pass {
    struct slurm_topology *t;
    struct slurm_tree *tree;
    uint32_t entry;
    LBM_VEC(uint32_t) child;
};

static enum lbm_err
take_child(void *arg, const char *name)
{
    struct pass *pass = arg;
    struct slurm_text text = {name, strlen(name)};
    uint64_t line = pass->t->entries.at[pass->entry].line;
    uint32_t child = find_switch(pass->t, pass->tree, text);
    if (child == LBM_NONE)
        return lbm_slurm_refuse(pass->t, line, LBM_E_SYNTAX, "no line tells of this switch", text);
    if (pass->child.n == LBM_LINKS_MAX)
        return lbm_slurm_refuse(pass->t, line, LBM_E_LIMIT, "too many links between switches, the last to",
                                text);
    return lbm_vec_push(&pass->child, child);
}

static int
ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Children in the order of their lines. Refuse one that the list of entry names twice.
 * In/out: seen [n], the last entry that named each + 1. */
static enum lbm_err
check_twice(struct slurm_topology *t, struct slurm_tree *tree, uint32_t entry, uint32_t *seen)
{
    uint32_t n = tree->offset[entry + 1] - tree->offset[entry];
    if (n > 1)
        qsort(&tree->child[tree->offset[entry]], n, sizeof *tree->child, ascending);
    for (uint32_t k = tree->offset[entry]; k < tree->offset[entry + 1]; k++) {
        uint32_t child = tree->child[k];
        if (seen[child] == entry + 1)
            return lbm_slurm_refuse(t, t->entries.at[entry].line, LBM_E_SYNTAX,
                                    "this switch is named twice here", t->entries.at[child].name);
        seen[child] = entry + 1;
        tree->parents[child]++;
    }
    return LBM_OK;
}

static enum lbm_err
find_children(struct slurm_topology *t, struct slurm_tree *tree)
{
    struct pass pass = {.t = t, .tree = tree};
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; err == LBM_OK && i < tree->n; i++) {
        const struct slurm_entry *entry = &t->entries.at[i];
        const char *problem = NULL;
        pass.entry = i;
        if (entry->switches.len != 0)
            err = lbm_hostlist_expand(entry->switches.at, entry->switches.len, take_child, &pass, &problem);
        if (problem != NULL)
            err = lbm_slurm_refuse(t, entry->line, err, problem, entry->switches);
        tree->offset[i + 1] = (uint32_t)pass.child.n;
    }
    tree->child = pass.child.at;
    uint32_t *seen = lbm_alloc(tree->n, sizeof *seen);
    if (err == LBM_OK && seen == NULL)
        err = LBM_E_NOMEM;
    for (uint32_t i = 0; err == LBM_OK && i < tree->n; i++)
        err = check_twice(t, tree, i, seen);
    free(seen);
    return err;
}

/* Parents before children; the levels. */
static enum lbm_err
find_order(struct slurm_topology *t, struct slurm_tree *tree)
{
    uint32_t *left = lbm_copy(tree->parents, tree->n, sizeof *left), n = 0;
    if (left == NULL)
        return LBM_E_NOMEM;
    for (uint32_t i = 0; i < tree->n; i++)
        if (left[i] == 0)
            tree->order[n++] = i;
    tree->roots = n;
    for (uint32_t next = 0; next < n; next++) {
        uint32_t i = tree->order[next];
        for (uint32_t k = tree->offset[i]; k < tree->offset[i + 1]; k++) {
            uint32_t child = tree->child[k];
            if (tree->level[child] < tree->level[i] + 1)
                tree->level[child] = tree->level[i] + 1;
            if (--left[child] == 0)
                tree->order[n++] = child;
        }
    }
    uint32_t lost = 0;
    while (lost < tree->n && left[lost] == 0)
        lost++;
    free(left);
    if (lost < tree->n)
        return lbm_slurm_refuse(t, t->entries.at[lost].line, LBM_E_SYNTAX,
                                "this switch is in a circle of switches", t->entries.at[lost].name);
    return LBM_OK;
}

enum lbm_err
lbm_slurm_tree_read(struct slurm_topology *t, struct slurm_tree *tree)
{
    uint32_t n = (uint32_t)t->entries.n;
    LBM_ASSERT(n >= 1);
    *tree = (struct slurm_tree){.n = n,
                                .by_name = lbm_alloc(n, sizeof *tree->by_name),
                                .offset = lbm_alloc((size_t)n + 1, sizeof *tree->offset),
                                .parents = lbm_alloc(n, sizeof *tree->parents),
                                .order = lbm_alloc(n, sizeof *tree->order),
                                .level = lbm_alloc(n, sizeof *tree->level)};
    int complete = tree->by_name && tree->offset && tree->parents && tree->order && tree->level;
    enum lbm_err err = complete ? sort_names(t, tree) : LBM_E_NOMEM;
    if (err == LBM_OK)
        err = find_children(t, tree);
    if (err == LBM_OK)
        err = find_order(t, tree);
    return err;
}

void
lbm_slurm_tree_free(struct slurm_tree *tree)
{
    free(tree->by_name);
    free(tree->offset);
    free(tree->child);
    free(tree->parents);
    free(tree->order);
    free(tree->level);
    *tree = (struct slurm_tree){0};
}

/* ---- groups -------------------------------------------------------------------------------------------- */

uint32_t
lbm_slurm_island_cost(const struct slurm_topology *t, const struct slurm_tree *tree)
{
    uint32_t deepest = 0;
    if (t->how->island_cost != 0)
        return t->how->island_cost;
    for (uint32_t i = 0; i < tree->n; i++)
        deepest = tree->level[i] > deepest ? tree->level[i] : deepest;
    return 2 * (deepest + 1);
}

/* The trees, or the root of the only one, as the first groups. Out: group [n] of each entry. */
static void
add_roots(struct slurm_topology *t, const struct slurm_tree *tree, uint32_t island_cost, uint32_t *group)
{
    if (tree->roots > 1) {
        t->entry_of[0] = LBM_NONE;
        t->groups[0] = (struct lbm_group){.first_child = 1, .n_children = tree->roots};
        t->n_groups = 1;
    }
    for (uint32_t i = 0; i < tree->roots; i++) {
        group[tree->order[i]] = t->n_groups;
        t->entry_of[t->n_groups] = tree->order[i];
        t->groups[t->n_groups++] = (struct lbm_group){.depth = tree->roots > 1 ? island_cost : 0};
    }
}

enum lbm_err
lbm_slurm_tree_groups(struct slurm_topology *t, const struct slurm_tree *tree)
{
    uint32_t *group = lbm_alloc(tree->n, sizeof *group), island_cost = lbm_slurm_island_cost(t, tree);
    t->groups = lbm_alloc((size_t)tree->n + 1, sizeof *t->groups);
    t->entry_of = lbm_alloc((size_t)tree->n + 1, sizeof *t->entry_of);
    enum lbm_err err = group != NULL && t->groups != NULL && t->entry_of != NULL ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK)
        add_roots(t, tree, island_cost, group);
    /* In this order the children of one switch come together, level by level. */
    for (uint32_t i = 0; err == LBM_OK && i < tree->n; i++) {
        uint32_t entry = tree->order[i], g = group[entry];
        if (tree->level[entry] == LBM_GROUP_LEVELS_MAX - 1 && tree->offset[entry] != tree->offset[entry + 1])
            err = lbm_slurm_refuse(t, t->entries.at[entry].line, LBM_E_LIMIT, "too many levels of switches",
                                   t->entries.at[entry].name);
        t->groups[g].first_child = t->n_groups;
        t->groups[g].n_children = tree->offset[entry + 1] - tree->offset[entry];
        for (uint32_t k = tree->offset[entry]; err == LBM_OK && k < tree->offset[entry + 1]; k++) {
            group[tree->child[k]] = t->n_groups;
            t->entry_of[t->n_groups] = tree->child[k];
            t->groups[t->n_groups++] = (struct lbm_group){.depth = t->groups[g].depth + 2};
        }
    }
    free(group);
    return err;
}
