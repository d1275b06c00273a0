/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/daemon.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/dial.h"

/* ---- connecting ---------------------------------------------------------------------------------------- */

/* The folder of the user's certificate. Errors: LBM_E_NOTFOUND there is none. */
static enum lbm_err
user_identity(const struct lbm_cli *client, char path[PATH_MAX], struct lbm_diag *diag)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *own = getenv("HOME");
    if (client->global[LBM_GLOBAL_IDENTITY].given)
        snprintf(path, PATH_MAX, "%s", client->global[LBM_GLOBAL_IDENTITY].text);
    else if (config != NULL && config[0] == '/')
        snprintf(path, PATH_MAX, "%s/lbmap/identity", config);
    else if (own != NULL && own[0] != '\0')
        snprintf(path, PATH_MAX, "%s/.config/lbmap/identity", own);
    else
        return lbm_diag_set(diag, LBM_E_NOTFOUND, "--identity", 0,
                            "there is no ~: say where the certificate is");
    return LBM_OK;
}

static enum lbm_err
open_remote(struct lbm_daemon *daemon, struct lbm_diag *diag)
{
    char identity[PATH_MAX];
    enum lbm_err err = user_identity(daemon->client, identity, diag);
    return err == LBM_OK ? lbm_dial_daemon(daemon->socket, identity, &daemon->handle, diag) : err;
}

static enum lbm_err
open_local(struct lbm_daemon *daemon, struct lbm_diag *diag)
{
    enum lbm_err err = lbm_api_connect(&daemon->handle, daemon->socket);
    if (err == LBM_E_RANGE)
        lbm_diag_set(diag, err, daemon->socket, 0, "this path is empty or too long for a Unix socket");
    else if (err == LBM_E_DENIED)
        lbm_diag_set(diag, err, daemon->socket, 0,
                     "user %" PRIu32 " may not use this lbmapd, for the socket is not open to it: join the "
                     "daemon's group, or ask an administrator",
                     (uint32_t)geteuid());
    else if (err != LBM_OK)
        lbm_diag_set(diag, err, daemon->socket, 0,
                     "no daemon listens there; start lbmapd, or name its socket with -s");
    return err;
}

enum lbm_status
lbm_daemon_open(struct lbm_daemon *daemon, const struct lbm_cli *client, const char *path,
                unsigned timeout_ms, int quiet)
{
    struct lbm_diag diag;
    *daemon = (struct lbm_daemon){.client = client,
                                  .socket = path != NULL ? path : client->global[LBM_GLOBAL_SOCKET].text,
                                  .handle = {.fd = -1, .timeout_ms = timeout_ms}};
    int is_remote = lbm_dial_is_address(daemon->socket);
    enum lbm_err err = is_remote ? open_remote(daemon, &diag) : open_local(daemon, &diag);
    if (err == LBM_OK)
        return LBM_STATUS_DONE;
    if (!quiet)
        (void)lbm_cli_fail(client, &diag);
    if (err == LBM_E_DENIED)
        return LBM_STATUS_DENIED;
    return err == LBM_E_RANGE || (is_remote && err != LBM_E_UNREACHABLE && err != LBM_E_VERSION)
               ? LBM_STATUS_USAGE
               : LBM_STATUS_UNREACHABLE;
}

void
lbm_daemon_close(struct lbm_daemon *daemon)
{
    lbm_api_disconnect(&daemon->handle);
}

/* Print why the last call on the handle failed, and return the status for err. */
static enum lbm_status
explain_failure(struct lbm_daemon *daemon, enum lbm_err err)
{
    struct lbm_diag diag;
    int lost = daemon->handle.fd < 0;
    lbm_diag_set(&diag, err, lost ? daemon->socket : "", 0, "%s", daemon->handle.message);
    enum lbm_status status = lbm_cli_fail(daemon->client, &diag);
    if (err == LBM_E_TIMEOUT)
        return LBM_STATUS_TIMED_OUT;
    if (err == LBM_E_DENIED)
        return LBM_STATUS_DENIED;
    return lost ? LBM_STATUS_UNREACHABLE : status;
}

enum lbm_status
lbm_daemon_ask(struct lbm_daemon *daemon, Lbm__Request *request, lbm_api_chunk take, void *arg)
{
    enum lbm_err err = lbm_api_call(&daemon->handle, request, take, arg);
    return err == LBM_OK ? LBM_STATUS_DONE : explain_failure(daemon, err);
}

enum lbm_status
lbm_daemon_put(struct lbm_daemon *daemon, const struct lbmap_payload *payload,
               uint8_t words[LBM_API_BLOB_WORDS])
{
    enum lbm_err err = lbm_api_payload_put(&daemon->handle, payload, words);
    return err == LBM_OK ? LBM_STATUS_DONE : explain_failure(daemon, err);
}

enum lbm_status
lbm_daemon_get(struct lbm_daemon *daemon, const char *job, uint32_t host,
               const uint8_t words[LBM_API_BLOB_WORDS], struct lbmap_payload *payload)
{
    enum lbm_err err = lbm_api_payload_get(&daemon->handle, job, host, words, LBM_API_BLOB_WORDS, payload);
    return err == LBM_OK ? LBM_STATUS_DONE : explain_failure(daemon, err);
}

/* ---- changes ------------------------------------------------------------------------------------------- */

enum { RETRY_MS = 200 };

/* An identity for a request: no two have the same. */
static uint64_t
draw_key(void)
{
    uint64_t key = 0;
    while (key == 0)
        if (getrandom(&key, sizeof key, 0) != sizeof key)
            key = 0;
    return key;
}

/* Connect again until end_ms. Nonzero if it is connected. */
static int
connect_again(struct lbm_daemon *daemon, int64_t end_ms)
{
    struct lbm_diag diag;
    while (lbm_api_now_ms() + RETRY_MS < end_ms) {
        const struct timespec pause = {0, RETRY_MS * 1000000L};
        nanosleep(&pause, NULL);
        enum lbm_err err =
            lbm_dial_is_address(daemon->socket) ? open_remote(daemon, &diag) : open_local(daemon, &diag);
        if (err == LBM_OK)
            return 1;
    }
    return 0;
}

enum lbm_status
lbm_daemon_change(struct lbm_daemon *daemon, Lbm__Request *request)
{
    const unsigned timeout_ms = daemon->handle.timeout_ms;
    const int64_t end_ms = lbm_api_now_ms() + timeout_ms;
    request->key = draw_key();
    enum lbm_err err = lbm_api_call(&daemon->handle, request, NULL, NULL);
    while (err == LBM_E_IO && daemon->handle.fd < 0 && connect_again(daemon, end_ms)) {
        int64_t left_ms = end_ms - lbm_api_now_ms();
        daemon->handle.timeout_ms = left_ms > 1 ? (unsigned)left_ms : 1;
        err = lbm_api_call(&daemon->handle, request, NULL, NULL);
    }
    daemon->handle.timeout_ms = timeout_ms;
    return err == LBM_OK ? LBM_STATUS_DONE : explain_failure(daemon, err);
}

enum lbm_status
lbm_daemon_list(struct lbm_daemon *daemon, Lbm__Request *request, const struct lbm_listing *listing)
{
    json_t *rows = json_array();
    enum lbm_status status = lbm_daemon_ask(daemon, request, listing->take, rows);
    int json = daemon->client->global[LBM_GLOBAL_JSON].given;
    for (size_t i = 0; json && listing->texts != NULL && i < json_array_size(rows); i++)
        for (const char *const *text = listing->texts; *text != NULL; text++)
            json_object_del(json_array_get(rows, i), *text);
    if (status == LBM_STATUS_DONE &&
        lbm_table_print(stdout, listing->columns, listing->n, rows, json) != LBM_OK)
        status = LBM_STATUS_FAILED;
    json_decref(rows);
    return status;
}

enum lbm_status
lbm_daemon_jobs(struct lbm_daemon *daemon, const char *job, lbm_api_chunk take, void *arg)
{
    char name[LBM_NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", job);
    Lbm__JobsRequest jobs = LBM__JOBS_REQUEST__INIT;
    jobs.name = name;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_JOBS;
    request.jobs = &jobs;
    return lbm_daemon_ask(daemon, &request, take, arg);
}

/* ---- the host graph ---------------------------------------------------------------------------------- */

struct host_list {
    LBM_VEC(uint32_t) id;
    LBM_VEC(double) capacity;
    LBM_VEC(double) site;
    LBM_VEC(struct lbm_link) link; /* by id, then by number; as declared, then as in the host graph */
    int has_graph;                 /* they are those of the host graph */
    LBM_VEC(char *) name;
    unsigned m;
};

static void
host_list_free(struct host_list *list)
{
    for (size_t i = 0; i < list->name.n; i++)
        free(list->name.at[i]);
    lbm_vec_free(&list->name);
    lbm_vec_free(&list->capacity);
    lbm_vec_free(&list->site);
    lbm_vec_free(&list->link);
}

static enum lbm_err
take_hosts(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    struct host_list *list = arg;
    enum lbm_err err = LBM_OK;
    (void)handle;
    for (size_t i = 0; chunk->hosts != NULL && i < chunk->hosts->n_hosts; i++) {
        const Lbm__HostEntry *host = chunk->hosts->hosts[i];
        if (strcmp(host->state, "ACTIVE") != 0)
            continue;
        list->m = (unsigned)host->n_site;
        err |= lbm_vec_push(&list->id, host->host);
        err |= lbm_vec_push(&list->capacity, host->capacity);
        err |= lbm_vec_push(&list->name, strdup(host->name));
        for (size_t k = 0; k < host->n_site; k++)
            err |= lbm_vec_push(&list->site, host->site[k]);
        for (size_t k = 0; k < host->n_link_host; k++) {
            struct lbm_link link = {host->host, host->link_host[k], host->link_cost[k]};
            err |= lbm_vec_push(&list->link, link);
        }
    }
    return err == LBM_OK ? LBM_OK : LBM_E_NOMEM;
}

/* The daemon knows more of the host graph than links that were declared: also ways through hosts that have
 * gone. */
static enum lbm_err
take_links(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    struct host_list *list = arg;
    enum lbm_err err = LBM_OK;
    (void)handle;
    for (size_t i = 0; chunk->network != NULL && i < chunk->network->n_hosts; i++) {
        const Lbm__NetworkEntry *host = chunk->network->hosts[i];
        if (host->n_link_host != 0 && !list->has_graph) {
            list->link.n = 0;
            list->has_graph = 1;
        }
        for (size_t k = 0; k < host->n_link_host; k++) {
            uint32_t cost = host->link_cost[k] < LBM_LINK_COST_MAX ? host->link_cost[k] : LBM_LINK_COST_MAX;
            struct lbm_link link = {host->host, host->link_host[k], cost};
            err |= lbm_vec_push(&list->link, link);
        }
    }
    return err == LBM_OK ? LBM_OK : LBM_E_NOMEM;
}

static uint32_t
number_of(const uint32_t *ids, uint32_t n, uint32_t id)
{
    uint32_t number = 0;
    while (number < n && ids[number] != id)
        number++;
    return number < n ? number : LBM_NONE;
}

static int
by_ends_then_cost(const void *a, const void *b)
{
    const struct lbm_link *x = a, *y = b;
    if (x->p != y->p || x->q != y->q)
        return x->p != y->p ? (x->p < y->p ? -1 : 1) : (x->q < y->q ? -1 : 1);
    return (x->cost > y->cost) - (x->cost < y->cost);
}

/* Links by number, each once, the cheaper where both ends declare it. */
static void
number_links(struct host_list *list)
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < list->link.n; i++) {
        uint32_t p = number_of(list->id.at, (uint32_t)list->id.n, list->link.at[i].p);
        uint32_t q = number_of(list->id.at, (uint32_t)list->id.n, list->link.at[i].q);
        if (p == LBM_NONE || q == LBM_NONE || p == q)
            continue;
        list->link.at[n++] = (struct lbm_link){p < q ? p : q, p < q ? q : p, list->link.at[i].cost};
    }
    if (n != 0)
        qsort(list->link.at, n, sizeof *list->link.at, by_ends_then_cost);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || list->link.at[kept - 1].p != list->link.at[i].p ||
            list->link.at[kept - 1].q != list->link.at[i].q)
            list->link.at[kept++] = list->link.at[i];
    list->link.n = kept;
}

enum lbm_status
lbm_daemon_hosts(struct lbm_daemon *daemon, struct lbm_hosts *h, uint32_t **ids)
{
    struct host_list list = {0};
    struct lbm_diag diag;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOSTS;
    request.hosts = &empty;
    enum lbm_status status = lbm_daemon_ask(daemon, &request, take_hosts, &list);
    request.what_case = LBM__REQUEST__WHAT_NETWORK;
    request.network = &empty;
    if (status == LBM_STATUS_DONE)
        status = lbm_daemon_ask(daemon, &request, take_links, &list);
    if (status == LBM_STATUS_DONE) {
        number_links(&list);
        enum lbm_err err = list.id.n == 0 ? lbm_diag_set(&diag, LBM_E_STATE, "", 0, "no host is active yet")
                                          : lbm_hosts_build((uint32_t)list.id.n, list.link.at, list.link.n,
                                                            list.capacity.at, list.m, list.site.at, h, &diag);
        if (err == LBM_OK) {
            memcpy(h->site, list.site.at, list.site.n * sizeof(double));
            h->name = list.name.at; /* taken */
            memset(&list.name, 0, sizeof list.name);
            *ids = list.id.at;
        } else {
            status = lbm_cli_fail(daemon->client, &diag);
        }
    }
    if (status != LBM_STATUS_DONE)
        lbm_vec_free(&list.id);
    host_list_free(&list);
    return status;
}

/* ---- a mapping in pieces ------------------------------------------------------------------------------- */

/* That many vertices at a time, about: the daemon keeps what its client has yet to read, some 36 bytes each.
 */
enum { MAP_ROWS = 1 << 17 };

struct pieces {
    lbm_api_chunk take;
    void *arg;
    uint32_t next;           /* the host that the next piece begins with; 0: there is none */
    int has_gaps;            /* a host did not answer */
    LBM_VEC(uint32_t) host;  /* those that did, */
    LBM_VEC(uint64_t) stamp; /* and when */
};

static enum lbm_err
take_piece(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    struct pieces *pieces = arg;
    const Lbm__MapReply *reply = chunk->map;
    pieces->next = reply != NULL ? reply->next : 0;
    pieces->has_gaps |= reply != NULL && reply->n_missing != 0;
    if (reply != NULL && reply->records != NULL &&
        number_of(pieces->host.at, (uint32_t)pieces->host.n, reply->host) == LBM_NONE &&
        (lbm_vec_push(&pieces->host, reply->host) != LBM_OK ||
         lbm_vec_push(&pieces->stamp, reply->stamp) != LBM_OK))
        return LBM_E_NOMEM;
    return pieces->take(handle, chunk, pieces->arg);
}

enum lbm_status
lbm_daemon_map(struct lbm_daemon *daemon, Lbm__MapRequest *map, lbm_api_chunk take, void *arg)
{
    struct pieces pieces = {.take = take, .arg = arg};
    enum lbm_status status;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_MAP;
    request.map = map;
    map->rows = map->n_since_host == 0 ? MAP_ROWS : 0; /* else it is about changes: few */
    do {
        map->from = pieces.next;
        status = lbm_daemon_ask(daemon, &request, take_piece, &pieces);
    } while (status == LBM_STATUS_DONE && pieces.next > map->from);
    if (status == LBM_STATUS_DONE && map->from != 0 && !pieces.has_gaps) {
        map->rows = map->from = 0;
        map->n_since_host = map->n_since = pieces.host.n;
        map->since_host = pieces.host.at;
        map->since = pieces.stamp.at;
        status = lbm_daemon_ask(daemon, &request, take, arg);
    }
    lbm_vec_free(&pieces.host);
    lbm_vec_free(&pieces.stamp);
    return status;
}

/* ---- a job's mapping ----------------------------------------------------------------------------------- */

struct gathering {
    struct lbm_job_map *map;
    const struct lbm_hosts *h;
    const uint32_t *ids;
    LBM_VEC(struct lbm_edge) edges;
};

static void
free_map(struct lbm_job_map *map)
{
    lbm_graph_free(&map->g);
    lbm_plan_free(&map->plan);
    free(map->epoch);
    free(map->id);
}

static enum lbm_err
begin_map(struct gathering *gathering, const Lbm__MapReply *reply)
{
    struct lbm_job_map *map = gathering->map;
    uint32_t n = reply->vertices;
    map->plan.m = reply->dimensions;
    map->g.n = map->plan.n = n;
    map->plan.part = lbm_alloc(n, sizeof *map->plan.part);
    map->epoch = lbm_alloc(n, sizeof *map->epoch);
    map->plan.x = lbm_alloc((size_t)n * map->plan.m, sizeof *map->plan.x);
    map->g.work = lbm_alloc(n, sizeof *map->g.work);
    map->plan.weight = lbm_alloc(gathering->h->n, sizeof *map->plan.weight);
    if (map->plan.part == NULL || map->epoch == NULL || map->plan.x == NULL || map->g.work == NULL ||
        map->plan.weight == NULL)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < n; v++) {
        map->plan.part[v] = LBM_NONE;
        map->g.work[v] = 1;
    }
    return LBM_OK;
}

/* Two hosts may answer for a vertex that moves meanwhile: the higher epoch is right. */
static enum lbm_err
take_rows(struct gathering *gathering, uint32_t host, const Lbm__Records *r)
{
    struct lbm_job_map *map = gathering->map;
    size_t half = 0;
    for (size_t i = 0; i < r->n_vertex; half += r->n_degree != 0 ? r->degree[i] : 0, i++) {
        uint32_t v = r->vertex[i];
        if (v >= map->g.n || r->epoch[i] < map->epoch[v])
            continue;
        int again = map->epoch[v] != 0;
        map->epoch[v] = r->epoch[i];
        map->plan.part[v] = number_of(gathering->ids, gathering->h->n, host);
        map->g.work[v] = r->n_work != 0 ? r->work[i] : 1;
        if (r->n_position == r->n_vertex * map->plan.m)
            memcpy(&map->plan.x[(size_t)v * map->plan.m], &r->position[i * map->plan.m],
                   map->plan.m * sizeof(double));
        for (uint32_t k = 0; r->n_degree != 0 && !again && k < r->degree[i]; k++) {
            struct lbm_edge edge = {v, r->neighbour[half + k], r->weight[half + k]};
            if (edge.v < map->g.n && edge.u < map->g.n && lbm_vec_push(&gathering->edges, edge) != LBM_OK)
                return LBM_E_NOMEM;
        }
    }
    return LBM_OK;
}

static enum lbm_err
take_map(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    struct gathering *gathering = arg;
    const Lbm__MapReply *reply = chunk->map;
    (void)handle;
    if (reply == NULL)
        return LBM_OK;
    enum lbm_err err = gathering->map->plan.part == NULL ? begin_map(gathering, reply) : LBM_OK;
    if (err == LBM_OK && reply->records != NULL)
        err = take_rows(gathering, reply->host, reply->records);
    for (size_t i = 0; err == LBM_OK && i < reply->n_region_host; i++) {
        uint32_t number = number_of(gathering->ids, gathering->h->n, reply->region_host[i]);
        if (number != LBM_NONE)
            gathering->map->plan.weight[number] = reply->region_weight[i];
    }
    gathering->map->present = reply->present != 0 ? reply->present : gathering->map->present;
    for (size_t i = 0; i < reply->n_missing; i++)
        if (gathering->map->n_missing++ < sizeof gathering->map->missing / sizeof *gathering->map->missing)
            gathering->map->missing[gathering->map->n_missing - 1] = reply->missing[i];
    return err;
}

/* Vertices that nobody answered for, and that are somewhere: edges lead to them, or there are more than have
 * come. Ids that are no vertex's any more, or not yet, are none of these. */
static uint32_t
count_lost(struct gathering *gathering)
{
    struct lbm_job_map *map = gathering->map;
    uint32_t absent = 0, lost = 0;
    for (uint32_t v = 0; v < map->g.n; v++)
        absent += map->plan.part[v] == LBM_NONE;
    if (absent == 0 || map->n_missing != 0)
        return absent;
    for (size_t i = 0; i < gathering->edges.n; i++) {
        uint32_t to = gathering->edges.at[i].v;
        lost += map->plan.part[to] == LBM_NONE && map->epoch[to] == 0;
        map->epoch[to] += map->plan.part[to] == LBM_NONE; /* counted */
    }
    uint64_t come = map->g.n - absent, left = map->present > come ? map->present - come : 0;
    return left > lost ? (left < absent ? (uint32_t)left : absent) : lost;
}

/* Leave out the ids that are no vertex's. Errors: LBM_E_NOMEM. */
static enum lbm_err
close_gaps(struct gathering *gathering)
{
    struct lbm_job_map *map = gathering->map;
    uint32_t *id = lbm_alloc(map->g.n, sizeof *id), *place = lbm_alloc(map->g.n, sizeof *place), n = 0;
    for (uint32_t v = 0; id != NULL && place != NULL && v < map->g.n; v++) {
        if (map->plan.part[v] == LBM_NONE)
            continue;
        map->plan.part[n] = map->plan.part[v];
        map->epoch[n] = map->epoch[v];
        map->g.work[n] = map->g.work[v];
        memmove(&map->plan.x[(size_t)n * map->plan.m], &map->plan.x[(size_t)v * map->plan.m],
                map->plan.m * sizeof(double));
        place[v] = n;
        id[n++] = v;
    }
    if (id == NULL || place == NULL) {
        free(id);
        free(place);
        return LBM_E_NOMEM;
    }
    for (size_t i = 0; i < gathering->edges.n; i++) {
        gathering->edges.at[i].u = place[gathering->edges.at[i].u];
        gathering->edges.at[i].v = place[gathering->edges.at[i].v];
    }
    map->g.n = map->plan.n = n;
    map->id = id;
    free(place);
    return LBM_OK;
}

static enum lbm_status
join_edges(struct lbm_daemon *daemon, struct gathering *gathering)
{
    struct lbm_job_map *map = gathering->map;
    struct lbm_graph whole;
    struct lbm_diag diag = {0};
    if (lbm_graph_build(map->g.n, gathering->edges.at, gathering->edges.n, LBM_MERGE_KEEP, &whole, &diag) !=
        LBM_OK)
        return lbm_cli_fail(daemon->client, &diag);
    whole.work = map->g.work;
    map->g = whole;
    return LBM_STATUS_DONE;
}

static enum lbm_status
gather_map(struct lbm_daemon *daemon, const char *job, const struct lbm_hosts *h, const uint32_t *ids,
           struct lbm_job_map *out)
{
    char name[LBM_NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", job);
    struct gathering gathering = {.map = out, .h = h, .ids = ids};
    Lbm__MapRequest map = LBM__MAP_REQUEST__INIT;
    map.job = name;
    map.positions = 1;
    map.edges = 1;
    enum lbm_status status = lbm_daemon_map(daemon, &map, take_map, &gathering);
    if (status == LBM_STATUS_DONE)
        out->n_lost = count_lost(&gathering);
    int has_gaps = 0;
    for (uint32_t v = 0; status == LBM_STATUS_DONE && v < out->g.n; v++)
        has_gaps |= out->plan.part[v] == LBM_NONE;
    if (status == LBM_STATUS_DONE && has_gaps && out->n_lost == 0 && close_gaps(&gathering) != LBM_OK) {
        struct lbm_diag diag;
        lbm_diag_set(&diag, LBM_E_NOMEM, job, 0, "no memory for its map");
        status = lbm_cli_fail(daemon->client, &diag);
    }
    if (status == LBM_STATUS_DONE)
        status = join_edges(daemon, &gathering);
    lbm_vec_free(&gathering.edges);
    return status;
}

/* If the mapping is not complete, say what is missing. */
static enum lbm_status
check_map(const struct lbm_cli *client, const struct lbm_job_map *map)
{
    struct lbm_diag diag;
    if (map->n_lost == 0)
        return LBM_STATUS_DONE;
    if (map->n_missing != 0)
        lbm_diag_set(&diag, LBM_E_UNREACHABLE, "", 0,
                     "%" PRIu32 " of %" PRIu32 " vertices are on hosts that did not answer (%" PRIu32
                     " hosts, the first is %" PRIu32 "); see lbctl hosts",
                     map->n_lost, map->g.n, map->n_missing, map->missing[0]);
    else
        lbm_diag_set(&diag, LBM_E_BUSY, "", 0,
                     "%" PRIu32 " of %" PRIu32
                     " vertices are on their way between hosts, or on one that drains; ask again in a moment",
                     map->n_lost, map->g.n);
    return lbm_cli_fail(client, &diag);
}

enum lbm_status
lbm_daemon_picture(struct lbm_daemon *daemon, const char *job, struct lbm_picture *picture)
{
    struct lbm_diag diag;
    *picture = (struct lbm_picture){0};
    enum lbm_status status = lbm_daemon_hosts(daemon, &picture->h, &picture->ids);
    if (status == LBM_STATUS_DONE)
        status = gather_map(daemon, job, &picture->h, picture->ids, &picture->map);
    if (status == LBM_STATUS_DONE)
        status = check_map(daemon->client, &picture->map);
    if (status == LBM_STATUS_DONE && lbm_report_fill(&picture->map.g, &picture->h, picture->map.plan.part,
                                                     &picture->report, &diag) != LBM_OK)
        status = lbm_cli_fail(daemon->client, &diag);
    return status;
}

void
lbm_picture_free(struct lbm_picture *picture)
{
    free_map(&picture->map);
    lbm_hosts_free(&picture->h);
    free(picture->ids);
}
