/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/trace_gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"

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
    err |= lbm_vec_push(&gather->hosts, host);
    return err == LBM_OK ? LBM_OK : LBM_E_NOMEM;
}

static enum lbm_err
take_hosts(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    enum lbm_err err = LBM_OK;
    (void)handle;
    for (size_t i = 0; err == LBM_OK && chunk->hosts != NULL && i < chunk->hosts->n_hosts; i++)
        err = add_host(arg, chunk->hosts->hosts[i]);
    return err;
}

static struct lbm_trace_host *
trace_host(struct lbm_gather *gather, uint32_t id)
{
    for (size_t i = 0; i < gather->hosts.n; i++)
        if (gather->hosts.at[i].is.id == id)
            return &gather->hosts.at[i].is;
    return NULL;
}

static int
has_link(const struct lbm_trace_host *host, uint32_t to)
{
    for (size_t k = 0; k < host->links.n; k++)
        if (host->links.at[k].host == to)
            return 1;
    return 0;
}

/* Where a host that has left held others together the host graph has links that nobody declared. */
static enum lbm_err
take_ways(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    enum lbm_err err = LBM_OK;
    (void)handle;
    for (size_t i = 0; chunk->network != NULL && i < chunk->network->n_hosts; i++) {
        const Lbm__NetworkEntry *entry = chunk->network->hosts[i];
        struct lbm_trace_host *host = trace_host(arg, entry->host);
        for (size_t k = 0; host != NULL && k < entry->n_link_host; k++) {
            uint32_t cost = entry->link_cost[k] < LBM_LINK_COST_MAX ? entry->link_cost[k] : LBM_LINK_COST_MAX;
            struct lbm_trace_link link = {entry->link_host[k], cost};
            if (!has_link(host, link.host))
                err |= lbm_vec_push(&host->links, link);
        }
    }
    return err == LBM_OK ? LBM_OK : LBM_E_NOMEM;
}

static void
sort_links(struct lbm_gather *gather)
{
    for (size_t i = 0; i < gather->hosts.n; i++) {
        struct lbm_trace_host *host = &gather->hosts.at[i].is;
        if (host->links.n != 0)
            qsort(host->links.at, host->links.n, sizeof *host->links.at, by_link);
    }
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
    request.what_case = LBM__REQUEST__WHAT_NETWORK;
    request.network = &empty;
    if (status == LBM_STATUS_DONE)
        status = lbm_daemon_ask(gather->daemon, &request, take_ways, gather);
    sort_links(gather);
    keep_stamps(gather, *before, *n_before);
    return status;
}

/* ---- vertices ------------------------------------------------------------------------------------------ */

/* The job has ids below n. */
static enum lbm_err
learn_size(struct lbm_gather *gather, uint32_t n)
{
    enum lbm_err err = LBM_OK;
    while (err == LBM_OK && gather->vertices.n < n) {
        const struct lbm_seen_vertex fresh = {.owner = LBM_NONE, .number = LBM_NONE};
        err = lbm_vec_push(&gather->vertices, fresh);
    }
    return err;
}

static int
by_other(const void *a, const void *b)
{
    const struct lbm_seen_edge *x = a, *y = b;
    return (x->other > y->other) - (x->other < y->other);
}

uint32_t
lbm_seen_weight(const struct lbm_seen_edge *edge, uint32_t degree, uint32_t other)
{
    const struct lbm_seen_edge key = {other, 0};
    const struct lbm_seen_edge *found =
        degree != 0 ? bsearch(&key, edge, degree, sizeof key, by_other) : NULL;
    return found != NULL ? found->weight : 0;
}

/* What was known of it is kept as long as the answer is at hand. */
static enum lbm_err
keep_before(struct lbm_gather *gather, uint32_t v)
{
    struct lbm_seen_vertex *vertex = &gather->vertices.at[v];
    const struct lbm_seen_change change = {v, vertex->owner, vertex->work, vertex->degree, vertex->edge};
    if (vertex->told == gather->look) {
        free(vertex->edge);
        vertex->edge = NULL;
        return LBM_OK;
    }
    enum lbm_err err = lbm_vec_push(&gather->changed, change);
    if (err == LBM_OK)
        vertex->edge = NULL; /* the change has it */
    return err;
}

static enum lbm_err
take_row(struct lbm_gather *gather, uint32_t host, const Lbm__Records *r, size_t i, size_t half)
{
    struct lbm_seen_vertex *vertex = &gather->vertices.at[r->vertex[i]];
    uint32_t degree = r->n_degree != 0 ? r->degree[i] : 0;
    struct lbm_seen_edge *edge = lbm_alloc(degree, sizeof *edge);
    enum lbm_err err = edge != NULL ? keep_before(gather, r->vertex[i]) : LBM_E_NOMEM;
    if (err != LBM_OK) {
        free(edge);
        return err;
    }
    for (uint32_t k = 0; k < degree; k++)
        edge[k] = (struct lbm_seen_edge){r->neighbour[half + k], r->weight[half + k]};
    if (degree > 1)
        qsort(edge, degree, sizeof *edge, by_other);
    vertex->told = gather->look;
    vertex->epoch = r->epoch[i];
    vertex->owner = host;
    vertex->work = r->n_work != 0 ? r->work[i] : 1;
    vertex->pin = r->n_pin != 0 ? r->pin[i] : LBM_NONE;
    vertex->degree = degree;
    vertex->edge = edge;
    return LBM_OK;
}

/* Two hosts may answer for a vertex that moves meanwhile: the higher epoch is right. */
static enum lbm_err
take_rows(struct lbm_gather *gather, uint32_t host, const Lbm__Records *r)
{
    enum lbm_err err = LBM_OK;
    size_t half = 0;
    for (size_t i = 0; err == LBM_OK && i < r->n_vertex; i++) {
        if (r->vertex[i] < gather->vertices.n && r->epoch[i] >= gather->vertices.at[r->vertex[i]].epoch)
            err = take_row(gather, host, r, i, half);
        half += r->n_degree != 0 ? r->degree[i] : 0;
    }
    return err;
}

static enum lbm_err
take_map(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    struct lbm_gather *gather = arg;
    const Lbm__MapReply *reply = chunk->map;
    (void)handle;
    if (reply == NULL)
        return LBM_OK;
    enum lbm_err err = learn_size(gather, reply->vertices);
    if (err == LBM_OK && reply->records != NULL)
        err = take_rows(gather, reply->host, reply->records);
    for (size_t i = 0; err == LBM_OK && i < reply->n_removed; i++)
        err = lbm_vec_push(&gather->removed, reply->removed[i]);
    gather->present = reply->present != 0 ? reply->present : gather->present;
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

static void
put_stamps(const struct lbm_gather *gather, Lbm__MapRequest *map, uint32_t *host, uint64_t *since)
{
    map->since_host = host;
    map->since = since;
    for (size_t i = 0; i < gather->hosts.n; i++) {
        if (gather->hosts.at[i].stamp == 0)
            continue;
        host[map->n_since_host++] = gather->hosts.at[i].is.id;
        since[map->n_since++] = gather->hosts.at[i].stamp;
    }
}

static void
forget_changes(struct lbm_gather *gather)
{
    for (size_t i = 0; i < gather->changed.n; i++)
        free(gather->changed.at[i].edge);
    gather->changed.n = gather->removed.n = 0;
}

/* A first answer that lacks something is asked for again as a whole. */
enum lbm_status
lbm_gather_vertices(struct lbm_gather *gather, int all)
{
    char name[LBM_NAME_MAX + 1];
    struct lbm_diag diag;
    uint32_t *host = lbm_alloc(gather->hosts.n, sizeof *host);
    uint64_t *since = lbm_alloc(gather->hosts.n, sizeof *since);
    snprintf(name, sizeof name, "%s", gather->job);
    forget_changes(gather);
    for (size_t v = 0; v < gather->vertices.n && all; v++)
        gather->vertices.at[v].epoch = 0;
    gather->n_missing = 0;
    gather->look++;
    Lbm__MapRequest map = LBM__MAP_REQUEST__INIT;
    map.job = name;
    map.edges = 1;
    enum lbm_status status = LBM_STATUS_FAILED;
    if (host == NULL || since == NULL) {
        (void)lbm_diag_set(&diag, LBM_E_NOMEM, "", 0, "no memory for the hosts");
        status = lbm_cli_fail(gather->daemon->client, &diag);
    } else {
        if (!all)
            put_stamps(gather, &map, host, since);
        status = lbm_daemon_map(gather->daemon, &map, take_map, gather);
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

/* Ids that are no vertex's, or not any more, are none of these: some vertex has an edge to them, or there are
 * more vertices than are known. */
uint32_t
lbm_gather_unknown(const struct lbm_gather *gather)
{
    uint32_t known = 0, n = (uint32_t)gather->vertices.n;
    struct lbm_idmap lacking = {0};
    for (uint32_t v = 0; v < n; v++) {
        const struct lbm_seen_vertex *vertex = &gather->vertices.at[v];
        known += vertex->epoch != 0;
        for (uint32_t k = 0; k < vertex->degree; k++)
            if (vertex->edge[k].other < n && gather->vertices.at[vertex->edge[k].other].epoch == 0 &&
                lbm_idmap_put(&lacking, vertex->edge[k].other, 1) != LBM_OK)
                known = 0;
    }
    uint32_t lost = (uint32_t)lacking.n;
    lbm_idmap_free(&lacking);
    if (known == 0 || gather->n_missing != 0)
        return known < n ? n - known : 0;
    return gather->present > known + lost ? (uint32_t)gather->present - known : lost;
}

void
lbm_gather_free(struct lbm_gather *gather)
{
    lbm_seen_hosts_free(gather->hosts.at, gather->hosts.n);
    for (size_t v = 0; v < gather->vertices.n; v++)
        free(gather->vertices.at[v].edge);
    forget_changes(gather);
    lbm_vec_free(&gather->vertices);
    lbm_vec_free(&gather->changed);
    lbm_vec_free(&gather->removed);
}
