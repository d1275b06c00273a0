/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 1023 }; /* of one vertex: paths of files are no longer */

enum lbm_err
lbm_names_add(struct lbm_names *names, const char *name, size_t len)
{
    size_t at = names->text.len;
    lbm_buf_put(&names->text, name, len);
    lbm_buf_put(&names->text, "", 1);
    return names->text.failed ? LBM_E_NOMEM : lbm_vec_push(&names->at, at);
}

struct lbm_labels
lbm_names_labels(const struct lbm_names *names)
{
    return (struct lbm_labels){0, names->at.at, names->text.at};
}

static int
compare_entries(const void *a, const void *b)
{
    const struct lbm_name_entry *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left->v > right->v) - (left->v < right->v);
}

struct lbm_name_entry *
lbm_names_sort(const struct lbm_names *names)
{
    size_t n = names->at.n;
    struct lbm_name_entry *sorted = lbm_alloc(n, sizeof *sorted);
    if (sorted == NULL)
        return NULL;
    for (size_t v = 0; v < n; v++)
        sorted[v] = (struct lbm_name_entry){names->text.at + names->at.at[v], (uint32_t)v};
    if (n > 0)
        qsort(sorted, n, sizeof *sorted, compare_entries);
    return sorted;
}

uint32_t
lbm_names_find(const struct lbm_name_entry *sorted, size_t n, const char *name)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(sorted[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && strcmp(sorted[low].name, name) == 0 ? sorted[low].v : LBM_NONE;
}

/* Length of the UTF-8 character at c that is no control character, or 0. */
static size_t
character(const unsigned char *c)
{
    if (c[0] < 0x80)
        return c[0] >= 0x20 && c[0] != 0x7f;
    size_t len = c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;
    if (c[0] < 0xc2 || c[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    int surrogate = c[0] == 0xed && c[1] > 0x9f,
        overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
    int beyond = c[0] == 0xf4 && c[1] > 0x8f, c1 = c[0] == 0xc2 && c[1] < 0xa0;
    return surrogate || overlong || beyond || c1 ? 0 : len;
}

static int
is_name(const char *name)
{
    const unsigned char *c = (const unsigned char *)name;
    size_t len = 0;
    while (c[len] != '\0') {
        size_t step = character(c + len);
        if (step == 0)
            return 0;
        len += step;
    }
    return len > 0 && len <= NAME_BYTES_MAX;
}

static int
are_numbers(const struct lbm_names *names)
{
    char number[24];
    for (size_t v = 0; v < names->at.n; v++) {
        snprintf(number, sizeof number, "%zu", v);
        if (strcmp(number, names->text.at + names->at.at[v]) != 0)
            return 0;
    }
    return 1;
}

/* Out: *fit, nonzero if all can be names of a graph; else why not is told. */
static enum lbm_err
judge(const struct lbm_names *names, const struct lbm_scan *scan, int *fit)
{
    struct lbm_labels labels = lbm_names_labels(names);
    char shown[LBM_LABEL_BYTES];
    *fit = 0;
    for (size_t v = 0; v < names->at.n; v++) {
        if (is_name(names->text.at + names->at.at[v]))
            continue;
        lbm_reading_remark(
            scan->reading,
            "names of vertices are not kept: that of vertex %zu is empty, too long or no UTF-8", v);
        return LBM_OK;
    }
    struct lbm_name_entry *sorted = lbm_names_sort(names);
    if (sorted == NULL)
        return lbm_diag_set(scan->diag, LBM_E_NOMEM, scan->name, 0,
                            "no memory for the names of the vertices");
    *fit = 1;
    for (size_t i = 1; i < names->at.n && *fit; i++) {
        *fit = strcmp(sorted[i - 1].name, sorted[i].name) != 0;
        if (*fit)
            continue;
        lbm_label_show(&labels, sorted[i].v, shown);
        lbm_reading_remark(scan->reading,
                           "names of vertices are not kept: vertices %" PRIu32 " and %" PRIu32
                           " are both called \"%s\"",
                           sorted[i - 1].v, sorted[i].v, shown);
    }
    free(sorted);
    return LBM_OK;
}

enum lbm_err
lbm_names_give(struct lbm_names *names, const struct lbm_scan *scan, struct lbm_graph *g)
{
    int fit = 0;
    if (names->at.n == 0 || are_numbers(names))
        return LBM_OK;
    enum lbm_err err = judge(names, scan, &fit);
    if (err != LBM_OK || !fit)
        return err;
    g->name = names->at.at;
    g->name_text = names->text.at;
    *names = (struct lbm_names){0};
    return LBM_OK;
}

void
lbm_names_free(struct lbm_names *names)
{
    lbm_vec_free(&names->at);
    lbm_buf_free(&names->text);
}
