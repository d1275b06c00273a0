/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks as a guest graph, with their mean loads over all phases. */
#include <stdlib.h>
#include <string.h>

#include "import/vt_internal.h"

enum { NAME_BYTES = 64 };

/* Mean loads, and where tasks that do not migrate are. */
static enum lbm_err
put_works(struct lbm_vt_build *b)
{
    struct lbm_graph *g = b->g;
    int fixed = 0;
    g->work = lbm_alloc(g->n, sizeof *g->work);
    g->pin = lbm_alloc(g->n, sizeof *g->pin);
    if (g->work == NULL || g->pin == NULL)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < g->n; v++) {
        struct lbm_vt_task *task = &b->tasks.at[v];
        uint64_t sum = 0;
        uint32_t node = 0;
        for (size_t p = 0; p < b->phases.n; p++)
            sum += lbm_vt_work_in(b, task, b->phases.at[p], &node);
        g->work[v] = (uint32_t)((sum + b->phases.n / 2) / b->phases.n);
        g->pin[v] = b->data->samples.at[task->first].fixed ? node : LBM_NONE;
        fixed |= g->pin[v] != LBM_NONE;
    }
    if (!fixed) {
        free(g->pin);
        g->pin = NULL;
    }
    return LBM_OK;
}

static enum lbm_err
put_names(struct lbm_vt_build *b)
{
    struct lbm_graph *g = b->g;
    struct lbm_buf text = {0};
    char name[NAME_BYTES];
    g->name = lbm_alloc(g->n, sizeof *g->name);
    if (g->name == NULL)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < g->n; v++) {
        lbm_vt_name_key(&b->data->samples.at[b->tasks.at[v].first].key, name, sizeof name);
        g->name[v] = text.len;
        lbm_buf_put(&text, name, strlen(name) + 1);
    }
    if (text.failed) {
        lbm_buf_free(&text);
        return LBM_E_NOMEM;
    }
    g->name_text = text.at;
    return LBM_OK;
}

enum lbm_err
lbm_vt_guest(struct lbm_vt_data *data, struct lbm_graph *out, struct lbm_vt_scale *scale,
             struct lbm_diag *diag)
{
    struct lbm_graph g = {0};
    struct lbm_vt_build b = {.data = data, .g = &g, .scale = scale, .diag = diag};
    *scale = (struct lbm_vt_scale){0};
    enum lbm_err err = lbm_vt_find_tasks(&b);
    if (err == LBM_OK)
        err = lbm_vt_find_phases(&b);
    if (err == LBM_OK)
        err = lbm_vt_build_guest(&b);
    if (err == LBM_OK) {
        lbm_vt_choose_unit(&b);
        err = put_works(&b);
        if (err == LBM_OK)
            err = put_names(&b);
        if (err != LBM_OK)
            err = lbm_diag_set(diag, err, "", 0, "no memory for the tasks");
    }
    lbm_vt_build_free(&b);
    if (err == LBM_OK)
        *out = g;
    else
        lbm_graph_free(&g);
    return err;
}
