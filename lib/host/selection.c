/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "host/selection.h"

#include <stdlib.h>
#include <string.h>

#include "host/hostlist.h"

static const char option[] = "@nodes";

struct names {
    LBM_VEC(char *) vec;
};

static enum lbm_err
take(void *arg, const char *name)
{
    struct names *names = arg;
    char *copy = lbm_copy(name, strlen(name) + 1, 1);
    enum lbm_err err = copy != NULL ? lbm_vec_push(&names->vec, copy) : LBM_E_NOMEM;
    if (err != LBM_OK)
        free(copy);
    return err;
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum lbm_err
lbm_selection_make(const char *list, struct lbm_selection *out, struct lbm_diag *diag)
{
    *out = (struct lbm_selection){.all = list == NULL};
    if (list == NULL)
        return LBM_OK;
    struct names names = {0};
    const char *problem = NULL;
    enum lbm_err err = lbm_hostlist_expand(list, strlen(list), take, &names, &problem);
    if (names.vec.n > 1)
        qsort(names.vec.at, names.vec.n, sizeof *names.vec.at, by_text);
    for (size_t i = 0; i < names.vec.n; i++)
        if (out->n > 0 && strcmp(names.vec.at[out->n - 1], names.vec.at[i]) == 0)
            free(names.vec.at[i]);
        else
            names.vec.at[out->n++] = names.vec.at[i];
    out->name = names.vec.at;
    out->seen = lbm_alloc(out->n, 1);
    if (problem != NULL)
        return lbm_diag_set(diag, err, option, 0, "%s: \"%.*s\"", problem, LBM_NAME_MAX, list);
    return err == LBM_OK && out->seen == NULL ? LBM_E_NOMEM : err;
}

int
lbm_selection_has(struct lbm_selection *s, const char *name)
{
    if (s->all)
        return 1;
    char **found = bsearch(&name, s->name, s->n, sizeof *s->name, by_text);
    if (found == NULL)
        return 0;
    s->seen[found - s->name] = 1;
    return 1;
}

enum lbm_err
lbm_selection_complete(const struct lbm_selection *s, const char *where, struct lbm_diag *diag)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (!s->seen[i])
            return lbm_diag_set(diag, LBM_E_RANGE, where, 0, "there is no host \"%s\", which %s names",
                                s->name[i], option);
    return LBM_OK;
}

void
lbm_selection_free(struct lbm_selection *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        free(s->name[i]);
    free(s->name);
    free(s->seen);
    *s = (struct lbm_selection){0};
}
