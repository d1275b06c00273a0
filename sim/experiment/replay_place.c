/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/replay.h"

/* The description of a host: the first that the trace has. */
static const struct lbm_trace_host *
described(const struct lbm_trace *trace, uint32_t id)
{
    for (size_t i = 0; i < trace->hosts.n; i++)
        if (trace->hosts.at[i].id == id)
            return &trace->hosts.at[i];
    return NULL;
}

/* Nonzero if the host never leaves. */
static int
stays(const struct lbm_trace *trace, uint32_t id)
{
    for (size_t i = 0; i < trace->events.n; i++) {
        const struct lbm_trace_event *event = &trace->events.at[i];
        if (event->a == id && (event->kind == LBM_TRACE_DRAIN || event->kind == LBM_TRACE_LEFT ||
                               event->kind == LBM_TRACE_LOST))
            return 0;
    }
    return 1;
}

/* Number the hosts. Out: place->id, number, n_first, stays; returns how many there are. */
static uint32_t
number_hosts(const struct lbm_trace *trace, struct replay_place *place)
{
    uint32_t n = 0, first = 0;
    memset(place->number, 0xff, sizeof place->number);
    while (first < trace->n_present && !stays(trace, trace->hosts.at[first].id))
        first++;
    place->stays = first < trace->n_present;
    first = place->stays ? first : 0;
    place->id[n++] = trace->hosts.at[first].id;
    for (size_t i = 0; i < trace->hosts.n; i++) {
        uint32_t known = 0;
        while (known < n && place->id[known] != trace->hosts.at[i].id)
            known++;
        if (known == n)
            place->id[n++] = trace->hosts.at[i].id;
        if (i + 1 == trace->n_present)
            place->n_first = n;
    }
    for (uint32_t p = 0; p < n; p++)
        place->number[place->id[p]] = p;
    return n;
}

static int
by_ends(const void *a, const void *b)
{
    const struct lbm_link *x = a, *y = b;
    if (x->p != y->p || x->q != y->q)
        return x->p != y->p ? (x->p < y->p ? -1 : 1) : (x->q < y->q ? -1 : 1);
    return (x->cost > y->cost) - (x->cost < y->cost);
}

struct link_list {
    LBM_VEC(struct lbm_link) links;
};

/* Links of all descriptions, each once, the cheapest where they differ. */
static enum lbm_err
gather_links(const struct lbm_trace *trace, const struct replay_place *place, struct link_list *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < trace->hosts.n; i++)
        for (size_t k = 0; k < trace->hosts.at[i].links.n; k++) {
            uint32_t p = place->number[trace->hosts.at[i].id];
            uint32_t q = place->number[trace->hosts.at[i].links.at[k].host];
            struct lbm_link link = {p < q ? p : q, p < q ? q : p, trace->hosts.at[i].links.at[k].cost};
            if (p != LBM_NONE && q != LBM_NONE && lbm_vec_push(&out->links, link) != LBM_OK)
                return LBM_E_NOMEM;
        }
    if (out->links.n != 0)
        qsort(out->links.at, out->links.n, sizeof *out->links.at, by_ends);
    for (size_t i = 0; i < out->links.n; i++)
        if (kept == 0 || out->links.at[kept - 1].p != out->links.at[i].p ||
            out->links.at[kept - 1].q != out->links.at[i].q)
            out->links.at[kept++] = out->links.at[i];
    out->links.n = kept;
    return LBM_OK;
}

static enum lbm_err
build(const struct lbm_trace *trace, uint32_t n, const struct link_list *list, struct replay_place *place,
      struct lbm_diag *diag)
{
    unsigned m = trace->hosts.at[0].m;
    double *capacity = lbm_alloc(n, sizeof *capacity),
           *site = lbm_alloc((size_t)n * (m != 0 ? m : 2), sizeof *site);
    enum lbm_err err = capacity != NULL && site != NULL ? LBM_OK : LBM_E_NOMEM;
    for (uint32_t p = 0; err == LBM_OK && p < n; p++) {
        const struct lbm_trace_host *host = described(trace, place->id[p]);
        capacity[p] = host->capacity;
        memcpy(&site[(size_t)p * m], host->site, m * sizeof *site);
    }
    if (err == LBM_OK)
        err = lbm_hosts_build(n, list->links.at, list->links.n, capacity, m != 0 ? m : 2,
                              m != 0 ? site : NULL, &place->h, diag);
    if (err == LBM_OK && m != 0)
        memcpy(place->h.site, site, (size_t)n * m * sizeof *site);
    free(capacity);
    free(site);
    return err;
}

enum lbm_err
replay_place_make(const struct lbm_trace *trace, const char *name, struct replay_place *out,
                  struct lbm_diag *diag)
{
    struct link_list list = {0};
    *out = (struct replay_place){.id = lbm_alloc(trace->hosts.n, sizeof *out->id)};
    enum lbm_err err = out->id != NULL ? LBM_OK : LBM_E_NOMEM;
    uint32_t n = err == LBM_OK ? number_hosts(trace, out) : 0;
    if (err == LBM_OK)
        err = gather_links(trace, out, &list);
    if (err == LBM_OK) {
        err = build(trace, n, &list, out, diag);
        if (err != LBM_OK && err != LBM_E_NOMEM) {
            char why[LBM_DIAG_TEXT_MAX];
            snprintf(why, sizeof why, "%s", diag->text);
            (void)lbm_diag_set(diag, err, name, 0, "the hosts of this trace: %.400s", why);
        }
    }
    if (err == LBM_E_NOMEM)
        (void)lbm_diag_set(diag, err, name, 0, "no memory for its hosts");
    lbm_vec_free(&list.links);
    if (err != LBM_OK)
        replay_place_free(out);
    return err;
}

void
replay_place_free(struct replay_place *place)
{
    lbm_hosts_free(&place->h);
    free(place->id);
    place->id = NULL;
}
