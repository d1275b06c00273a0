/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/trace_gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- hosts --------------------------------------------------------------------------------------------- */

static int
by_link(const void *a, const void *b)
{
    const struct lbm_trace_link *x = a, *y = b;
    return x->host != y->host ? (x->host < y->host ? -1 : 1) : (x->cost > y->cost) - (x->cost < y->cost);
}

static enum lbm_err
add_host(struct lbm_gather *gather, const Lbm__HostEntry *entry)
{
    struct lbm_seen_host host = {.incarnation = entry->incarnation};
    enum lbm_err err = LBM_OK;
    host.is.id = entry->host;
    host.is.capacity = entry->capacity;
    host.is.m = entry->n_site <= LBM_DIMENSIONS_MAX ? (unsigned)entry->n_site : 0;
    if (host.is.m != 0)
        memcpy(host.is.site, entry->site, host.is.m * sizeof *host.is.site);
    snprintf(host.is.name, sizeof host.is.name, "%s", entry->name);
    snprintf(host.state, sizeof host.state, "%s", entry->state);
    for (size_t k = 0; k < entry->n_link_host; k++) {
        struct lbm_trace_link link = {entry->link_host[k], entry->link_cost[k]};
        err |= lbm_vec_push(&host.is.links, link);
    }
    if (host.is.links.n != 0)
        qsort(host.is.links.at, host.is.links.n, sizeof *host.is.links.at, by_link);
    err |= lbm_vec_push(&gather->hosts, host);
    return err == LBM_OK ? LBM_OK : LBM_E_NOMEM;
}

static enum lbm_err
take_hosts(struct lbmap *handle, const Lbm__Response *part, void *arg)
{
    enum lbm_err err = LBM_OK;
    (void)handle;
    for (size_t i = 0; err == LBM_OK && part->hosts != NULL && i < part->hosts->n_hosts; i++)
        err = add_host(arg, part->hosts->hosts[i]);
    return err;
}

void
lbm_seen_hosts_free(struct lbm_seen_host *hosts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        lbm_vec_free(&hosts[i].is.links);
    free(hosts);
}

/* What was heard of a host holds as long as its incarnation does. */
static void
keep_stamps(struct lbm_gather *gather, const struct lbm_seen_host *before, size_t n)
{
    for (size_t i = 0; i < gather->hosts.n; i++)
        for (size_t k = 0; k < n; k++)
            if (before[k].is.id == gather->hosts.at[i].is.id &&
                before[k].incarnation == gather->hosts.at[i].incarnation)
                gather->hosts.at[i].stamp = before[k].stamp;
}

enum lbm_status
lbm_gather_hosts(struct lbm_gather *gather, struct lbm_seen_host **before, size_t *n_before)
{
    *before = gather->hosts.at;
    *n_before = gather->hosts.n;
    memset(&gather->hosts, 0, sizeof gather->hosts);
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOSTS;
    request.hosts = &empty;
    enum lbm_status status = lbm_daemon_ask(gather->daemon, &request, take_hosts, gather);
    keep_stamps(gather, *before, *n_before);
    return status;
}

/* ---- vertices ------------------------------------------------------------------------------------------ */

static enum lbm_err
learn_size(struct lbm_gather *gather, uint32_t n)
{
    if (gather->n != 0) {
        gather->other_guest = gather->n != n;
        return LBM_OK;
    }
    gather->n = n;
    gather->told = lbm_alloc(n, sizeof *gather->told);
    gather->epoch = lbm_alloc(n, sizeof *gather->epoch);
    gather->owner = lbm_alloc(n, sizeof *gather->owner);
    gather->work = lbm_alloc(n, sizeof *gather->work);
    gather->pin = lbm_alloc(n, sizeof *gather->pin);
    int has_all = gather->told != NULL && gather->epoch != NULL && gather->owner != NULL &&
                  gather->work != NULL && gather->pin != NULL;
    return has_all ? LBM_OK : LBM_E_NOMEM;
}

static enum lbm_err
take_edges(struct lbm_gather *gather, uint32_t v, const Lbm__Records *r, size_t half, uint32_t degree)
{
    for (uint32_t k = 0; k < degree; k++) {
        struct lbm_edge edge = {v, r->neighbour[half + k], r->weight[half + k]};
        if (edge.v < gather->n && lbm_vec_push(&gather->edges, edge) != LBM_OK)
            return LBM_E_NOMEM;
    }
    return LBM_OK;
}

/* Two hosts may answer for a vertex that moves meanwhile: the higher epoch is right. */
static enum lbm_err
take_rows(struct lbm_gather *gather, uint32_t host, const Lbm__Records *r)
{
    enum lbm_err err = LBM_OK;
    size_t half = 0;
    for (size_t i = 0; err == LBM_OK && i < r->n_vertex; i++) {
        uint32_t v = r->vertex[i], degree = r->n_degree != 0 ? r->degree[i] : 0;
        if (v < gather->n && r->epoch[i] >= gather->epoch[v]) {
            if (gather->with_edges && gather->epoch[v] == 0)
                err |= take_edges(gather, v, r, half, degree);
            if (gather->told[v] != gather->look) {
                err |= lbm_vec_push(&gather->changed, v);
                err |= lbm_vec_push(&gather->owner_before, gather->owner[v]);
                err |= lbm_vec_push(&gather->work_before, gather->work[v]);
            }
            gather->told[v] = gather->look;
            gather->epoch[v] = r->epoch[i];
            gather->owner[v] = host;
            gather->work[v] = r->n_work != 0 ? r->work[i] : 1;
            gather->pin[v] = r->n_pin != 0 ? r->pin[i] : LBM_NONE;
        }
        half += degree;
    }
    return err == LBM_OK ? LBM_OK : LBM_E_NOMEM;
}

static enum lbm_err
take_map(struct lbmap *handle, const Lbm__Response *part, void *arg)
{
    struct lbm_gather *gather = arg;
    const Lbm__MapReply *reply = part->map;
    (void)handle;
    if (reply == NULL)
        return LBM_OK;
    enum lbm_err err = learn_size(gather, reply->vertices);
    if (err == LBM_OK && reply->records != NULL && !gather->other_guest)
        err = take_rows(gather, reply->host, reply->records);
    for (size_t i = 0; i < gather->hosts.n; i++) {
        struct lbm_seen_host *seen = &gather->hosts.at[i];
        if (reply->records != NULL && seen->is.id == reply->host)
            seen->heard = reply->stamp;
        for (size_t k = 0; k < reply->n_missing; k++) /* in the last part */
            if (seen->is.id == reply->missing[k])
                seen->heard = 0;
    }
    gather->n_missing += (uint32_t)reply->n_missing;
    return err;
}

/* A first answer that lacks something is asked for again as a whole. */
static void
put_stamps(const struct lbm_gather *gather, Lbm__MapRequest *map, uint32_t *host, uint64_t *since)
{
    map->since_host = host;
    map->since = since;
    for (size_t i = 0; i < gather->hosts.n && !gather->with_edges; i++) {
        if (gather->hosts.at[i].stamp == 0)
            continue;
        host[map->n_since_host++] = gather->hosts.at[i].is.id;
        since[map->n_since++] = gather->hosts.at[i].stamp;
    }
}

enum lbm_status
lbm_gather_vertices(struct lbm_gather *gather, int with_edges)
{
    char name[LBM_NAME_MAX + 1];
    struct lbm_diag diag;
    uint32_t *host = lbm_alloc(gather->hosts.n, sizeof *host);
    uint64_t *since = lbm_alloc(gather->hosts.n, sizeof *since);
    snprintf(name, sizeof name, "%s", gather->job);
    gather->changed.n = gather->owner_before.n = gather->work_before.n = 0;
    gather->n_missing = 0;
    gather->look++;
    gather->with_edges = with_edges;
    Lbm__MapRequest map = LBM__MAP_REQUEST__INIT;
    map.job = name;
    map.edges = with_edges != 0;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_MAP;
    request.map = &map;
    enum lbm_status status = LBM_STATUS_FAILED;
    if (host == NULL || since == NULL) {
        (void)lbm_diag_set(&diag, LBM_E_NOMEM, "", 0, "no memory for the hosts");
        status = lbm_cli_fail(gather->daemon->client, &diag);
    } else {
        put_stamps(gather, &map, host, since);
        status = lbm_daemon_ask(gather->daemon, &request, take_map, gather);
    }
    for (size_t i = 0; i < gather->hosts.n; i++) {
        struct lbm_seen_host *seen = &gather->hosts.at[i];
        seen->stamp = status == LBM_STATUS_DONE && seen->heard != 0 ? seen->heard : seen->stamp;
        seen->heard = 0;
    }
    free(host);
    free(since);
    return status;
}

uint32_t
lbm_gather_unknown(const struct lbm_gather *gather)
{
    uint32_t n = gather->n == 0;
    for (uint32_t v = 0; v < gather->n; v++)
        n += gather->epoch[v] == 0;
    return n;
}

void
lbm_gather_free(struct lbm_gather *gather)
{
    lbm_seen_hosts_free(gather->hosts.at, gather->hosts.n);
    free(gather->told);
    free(gather->epoch);
    free(gather->owner);
    free(gather->work);
    free(gather->pin);
    lbm_vec_free(&gather->changed);
    lbm_vec_free(&gather->owner_before);
    lbm_vec_free(&gather->work_before);
    lbm_vec_free(&gather->edges);
}
