/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Borders of hosts: lists kept up to date, so that refinement need not look at what lies inside. */
#include <stdlib.h>

#include "base/mem.h"
#include "map/internal.h"

static int
is_at_border(const struct mapping *m, uint32_t v)
{
    const struct lbm_graph *g = m->g;
    uint32_t host = m->part[v];
    if (g->offset[v] == g->offset[v + 1] ||
        (m->current != NULL && m->current[v] != LBM_NONE && m->current[v] != host))
        return 1;
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
        if (m->part[g->target[e]] != host)
            return 1;
    return 0;
}

static void
leave(struct border *b, uint32_t v, uint32_t host)
{
    struct resident_list *list = &b->list[host];
    uint32_t hole = b->place[v], last = list->at[--list->n];
    list->at[hole] = last;
    b->place[last] = hole;
    b->place[v] = LBM_NONE;
}

static enum lbm_err
look_at(struct border *b, const struct mapping *m, uint32_t v)
{
    struct resident_list *list = &b->list[m->part[v]];
    int is_listed = b->place[v] != LBM_NONE, belongs = is_at_border(m, v);
    if (is_listed && !belongs)
        leave(b, v, m->part[v]);
    if (is_listed || !belongs)
        return LBM_OK;
    enum lbm_err err = lbm_vec_push(list, v);
    if (err == LBM_OK)
        b->place[v] = (uint32_t)(list->n - 1);
    return err;
}

enum lbm_err
border_init(struct border *b, const struct mapping *m)
{
    *b = (struct border){.n_hosts = m->h->n,
                         .list = lbm_alloc(m->h->n, sizeof *b->list),
                         .place = lbm_alloc(m->g->n, sizeof *b->place)};
    enum lbm_err err = b->list == NULL || b->place == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t v = 0; v < m->g->n && err == LBM_OK; v++) {
        b->place[v] = LBM_NONE;
        err = look_at(b, m, v);
    }
    return err;
}

enum lbm_err
border_moved(struct border *b, const struct mapping *m, const uint32_t *moved, uint32_t n_moved, uint32_t p,
             uint32_t q)
{
    const struct lbm_graph *g = m->g;
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; i < n_moved; i++)
        if (b->place[moved[i]] != LBM_NONE)
            leave(b, moved[i], m->part[moved[i]] == p ? q : p);
    for (uint32_t i = 0; i < n_moved && err == LBM_OK; i++) {
        err = look_at(b, m, moved[i]);
        for (uint64_t e = g->offset[moved[i]]; e < g->offset[moved[i] + 1] && err == LBM_OK; e++)
            err = look_at(b, m, g->target[e]);
    }
    return err;
}

void
border_free(struct border *b)
{
    for (uint32_t p = 0; p < b->n_hosts && b->list != NULL; p++)
        free(b->list[p].at);
    free(b->list);
    free(b->place);
    *b = (struct border){0};
}
