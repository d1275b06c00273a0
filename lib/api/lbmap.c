/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The installed interface, include/lbmap.h: arguments to requests, answers to results. */
#include "config.h"

#include "lbmap.h"

#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/serve.h"
#include "base/mem.h"

/* The two lists of errors are one: a public code is the internal code. */
#define SAME_ERROR(name, number, text)                                                                       \
    _Static_assert((int)LBMAP_##name == (int)LBM_##name, "lists of errors differ");
LBM_ERR_LIST(SAME_ERROR)
_Static_assert((int)LBMAP_E_BUSY + 1 == (int)LBM_ERR_COUNT, "lists of errors differ");
_Static_assert(LBMAP_NOWHERE == LBM_NONE, "lbmap_locate passes the daemon's answer on");

/* Vertices of one LocateRequest: small enough that the daemon, which answers all its clients in turn, is
 * not busy with one of them for long. */
enum { LOCATE_BATCH = 16384 };

static enum lbmap_error
to_public(enum lbm_err err)
{
    return (enum lbmap_error)err;
}

const char *
lbmap_version(void)
{
    return PACKAGE_VERSION;
}

const char *
lbmap_strerror(enum lbmap_error error)
{
    return lbm_err_text((enum lbm_err)error);
}

static enum lbm_err
take_status(struct lbmap *map, const Lbm__Response *chunk, void *arg)
{
    (void)arg;
    if (chunk->what_case != LBM__RESPONSE__WHAT_STATUS)
        return lbm_api_fail(map, LBM_E_SYNTAX, "the daemon did not answer with its status");
    map->host = chunk->status->host;
    return LBM_OK;
}

enum lbmap_error
lbmap_open(const char *socket_path, struct lbmap **map)
{
    struct lbmap *opened = lbm_alloc(1, sizeof *opened);
    if (opened == NULL)
        return LBMAP_E_NOMEM;
    opened->fd = -1;
    opened->timeout_ms = LBM_API_TIMEOUT_MS;
    enum lbm_err err =
        lbm_api_connect(opened, socket_path != NULL ? socket_path : LBM_RUNSTATEDIR "/lbmap/lbmapd.sock");
    if (err == LBM_OK) {
        Lbm__Request request = LBM__REQUEST__INIT;
        Lbm__Empty empty = LBM__EMPTY__INIT;
        request.what_case = LBM__REQUEST__WHAT_STATUS;
        request.status = &empty;
        err = lbm_api_call(opened, &request, take_status, NULL);
    }
    if (err == LBM_OK)
        *map = opened;
    else
        lbmap_close(opened);
    return to_public(err);
}

void
lbmap_close(struct lbmap *map)
{
    if (map == NULL)
        return;
    lbm_api_serve_end(map);
    free(map->talk);
    lbm_api_disconnect(map);
    free(map);
}

const char *
lbmap_message(const struct lbmap *map)
{
    return map->message;
}

enum lbmap_error
lbmap_set_timeout(struct lbmap *map, unsigned timeout_ms)
{
    if (timeout_ms == 0)
        return to_public(lbm_api_fail(map, LBM_E_RANGE, "a timeout is at least 1 ms"));
    map->timeout_ms = timeout_ms;
    return LBMAP_OK;
}

uint32_t
lbmap_host(const struct lbmap *map)
{
    return map->host;
}

uint32_t
lbmap_vertices(const struct lbmap *map)
{
    return map->vertices;
}

static enum lbm_err
take_job(struct lbmap *map, const Lbm__Response *chunk, void *arg)
{
    const char *name = arg;
    for (size_t i = 0; chunk->what_case == LBM__RESPONSE__WHAT_JOBS && i < chunk->jobs->n_jobs; i++)
        if (strcmp(chunk->jobs->jobs[i]->name, name) == 0) {
            strcpy(map->job, name);
            map->vertices = chunk->jobs->jobs[i]->vertices;
            return LBM_OK;
        }
    return lbm_api_fail(map, LBM_E_NOTFOUND, "no job is called %s", name);
}

enum lbmap_error
lbmap_attach(struct lbmap *map, const char *job)
{
    char name[LBM_NAME_MAX + 1];
    size_t len = strlen(job);
    if (len == 0 || len >= sizeof name)
        return to_public(lbm_api_fail(map, LBM_E_RANGE, "a job's name has 1 to %d characters, this one %zu",
                                      LBM_NAME_MAX, len));
    if (map->service != NULL)
        return to_public(lbm_api_fail(map, LBM_E_STATE, "job %s is being served", map->job));
    memcpy(name, job, len + 1);
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__JobsRequest jobs;
    lbm__jobs_request__init(&jobs);
    jobs.name = name;
    request.what_case = LBM__REQUEST__WHAT_JOBS;
    request.jobs = &jobs;
    return to_public(lbm_api_call(map, &request, take_job, name));
}

static enum lbm_err
require_job(struct lbmap *map)
{
    return map->job[0] != '\0' ? LBM_OK : lbm_api_fail(map, LBM_E_STATE, "no job is attached");
}

typedef LBM_VEC(struct lbmap_vertex) vertex_list;

/* The rows of this host, of whatever chunks they come in. */
static enum lbm_err
take_own_rows(struct lbmap *map, const Lbm__Response *chunk, void *arg)
{
    vertex_list *list = arg;
    if (chunk->what_case != LBM__RESPONSE__WHAT_MAP)
        return lbm_api_fail(map, LBM_E_SYNTAX, "the daemon did not answer with a mapping");
    const Lbm__Records *rows = chunk->map->records;
    size_t n = chunk->map->host == map->host ? lbm_records_count(rows) : 0;
    if (lbm_vec_reserve(list, n) != LBM_OK)
        return lbm_api_fail(map, LBM_E_NOMEM, "no memory for %zu vertices", list->n + n);
    for (size_t i = 0; i < n; i++)
        list->at[list->n++] = (struct lbmap_vertex){rows->vertex[i], rows->epoch[i]};
    return LBM_OK;
}

static int
by_id(const void *a, const void *b)
{
    uint32_t x = ((const struct lbmap_vertex *)a)->id, y = ((const struct lbmap_vertex *)b)->id;
    return (x > y) - (x < y);
}

enum lbmap_error
lbmap_owned(struct lbmap *map, struct lbmap_vertex **vertices, size_t *n)
{
    enum lbm_err err = require_job(map);
    if (err != LBM_OK)
        return to_public(err);
    vertex_list list = {0};
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__MapRequest query;
    lbm__map_request__init(&query);
    query.job = map->job;
    query.owned = 1;
    request.what_case = LBM__REQUEST__WHAT_MAP;
    request.map = &query;
    if (lbm_vec_reserve(&list, 1) != LBM_OK)
        err = lbm_api_fail(map, LBM_E_NOMEM, "no memory for a list of vertices");
    else
        err = lbm_api_call(map, &request, take_own_rows, &list);
    if (err != LBM_OK) {
        lbm_vec_free(&list);
        return to_public(err);
    }
    qsort(list.at, list.n, sizeof *list.at, by_id);
    *vertices = list.at;
    *n = list.n;
    return LBMAP_OK;
}

/* Places of vertex [n]; done of them are known. */
struct places {
    const uint32_t *vertex;
    size_t n, done;
    uint32_t *host;
    uint64_t *token;
};

/* Answers come in the order of the question. */
static enum lbm_err
take_places(struct lbmap *map, const Lbm__Response *chunk, void *arg)
{
    struct places *places = arg;
    if (chunk->what_case != LBM__RESPONSE__WHAT_LOCATE)
        return lbm_api_fail(map, LBM_E_SYNTAX, "the daemon did not answer with places");
    const Lbm__LocateReply *reply = chunk->locate;
    for (size_t i = 0; i < reply->n_vertex; i++, places->done++) {
        if (places->done == places->n || places->vertex[places->done] != reply->vertex[i])
            return lbm_api_fail(map, LBM_E_SYNTAX, "the daemon answered for another vertex");
        places->host[places->done] = reply->host[i];
        places->token[places->done] = reply->host[i] != LBM_NONE ? reply->epoch[i] : 0;
    }
    return LBM_OK;
}

static enum lbm_err
locate_batch(struct lbmap *map, struct places *places)
{
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__LocateRequest query;
    lbm__locate_request__init(&query);
    uint32_t *vertex = lbm_copy(places->vertex, places->n, sizeof *vertex);
    if (vertex == NULL)
        return lbm_api_fail(map, LBM_E_NOMEM, "no memory for %zu vertices", places->n);
    query.job = map->job;
    query.vertex = vertex;
    query.n_vertex = places->n;
    request.what_case = LBM__REQUEST__WHAT_LOCATE;
    request.locate = &query;
    enum lbm_err err = lbm_api_call(map, &request, take_places, places);
    free(vertex);
    if (err == LBM_OK && places->done != places->n)
        err = lbm_api_fail(map, LBM_E_SYNTAX, "the daemon left %zu vertices out", places->n - places->done);
    return err;
}

enum lbmap_error
lbmap_locate(struct lbmap *map, const uint32_t *vertex, size_t n, uint32_t *host, uint64_t *token)
{
    enum lbm_err err = require_job(map);
    if (err != LBM_OK)
        return to_public(err);
    uint32_t *hosts = lbm_alloc(n, sizeof *hosts);
    uint64_t *tokens = lbm_alloc(n, sizeof *tokens);
    if (hosts == NULL || tokens == NULL)
        err = lbm_api_fail(map, LBM_E_NOMEM, "no memory for %zu places", n);
    for (size_t at = 0; err == LBM_OK && at < n; at += LOCATE_BATCH) {
        size_t batch = n - at < LOCATE_BATCH ? n - at : LOCATE_BATCH;
        struct places places = {vertex + at, batch, 0, hosts + at, tokens + at};
        err = locate_batch(map, &places);
    }
    for (size_t i = 0; err == LBM_OK && i < n; i++) {
        host[i] = hosts[i];
        if (token != NULL)
            token[i] = tokens[i];
    }
    free(hosts);
    free(tokens);
    return to_public(err);
}
