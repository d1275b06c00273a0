/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/check.h"
#include "base/mem.h"
#include "map/internal.h"

#include <stdlib.h>

static enum lbm_err
append(struct residents *r, uint32_t host, uint32_t v)
{
    struct resident_list *list = &r->list[host];
    enum lbm_err err = lbm_vec_push(list, v);
    if (err == LBM_OK)
        r->place[v] = (uint32_t)(list->n - 1);
    return err;
}

enum lbm_err
residents_init(struct residents *r, const struct mapping *m)
{
    enum lbm_err err = LBM_OK;
    *r = (struct residents){.n_hosts = m->h->n,
                            .list = lbm_alloc(m->h->n, sizeof *r->list),
                            .place = lbm_alloc(m->g->n, sizeof *r->place)};
    if (r->list == NULL || r->place == NULL)
        err = LBM_E_NOMEM;
    for (uint32_t v = 0; v < m->g->n && err == LBM_OK; v++) {
        r->place[v] = LBM_NONE;
        if (!mapping_pinned(m, v))
            err = append(r, m->part[v], v);
    }
    if (err != LBM_OK)
        residents_free(r);
    return err;
}

enum lbm_err
residents_move(struct residents *r, uint32_t v, uint32_t from, uint32_t to)
{
    struct resident_list *list = &r->list[from];
    uint32_t hole = r->place[v];
    LBM_ASSERT(hole < list->n && list->at[hole] == v);
    enum lbm_err err = append(r, to, v);
    if (err != LBM_OK)
        return err;
    uint32_t last = list->at[--list->n];
    if (last != v) {
        list->at[hole] = last;
        r->place[last] = hole;
    }
    return LBM_OK;
}

void
residents_free(struct residents *r)
{
    for (uint32_t p = 0; p < r->n_hosts && r->list != NULL; p++)
        free(r->list[p].at);
    free(r->list);
    free(r->place);
    *r = (struct residents){0};
}
