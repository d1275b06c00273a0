/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers that need every host: a mapping, or the places of some vertices; and what this host alone owns,
 * which has the same form. Parts go to the client as they come; hosts that stay unreachable are named at the
 * end instead of being waited for, those that are alive are given more time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/client/client.h"
#include "node/client/internal.h"
#include "node/core/core.h"
#include "node/exchange/exchange.h"
#include "node/local/local.h"
#include "node/membership/membership.h"
#include "node/migration/migration.h"
#include "node/records/record_batch.h"
#include "node/records/records.h"

/* One chunk: far below a frame whatever the degrees. */
enum {
    CHUNK_ROWS_MAX = 8192,
    CHUNK_HALVES_MAX = 131072,
    CHUNK_PAYLOAD_MAX = 1 << 20, /* and one payload more */
    AT_ONCE_MAX = 8,             /* of one client: every one may ask all hosts for all that they have */
};
_Static_assert(CHUNK_ROWS_MAX <= LBM_ROWS_MAX, "the wire takes as many rows");
_Static_assert(CHUNK_HALVES_MAX * 16u + CHUNK_ROWS_MAX * 64u + CHUNK_PAYLOAD_MAX + LBM_PAYLOAD_MAX <=
                   LBM_FRAME_BYTES_MAX,
               "a chunk of a mapping fits a frame");
_Static_assert(CHUNK_HALVES_MAX >= LBM_DEGREE_MAX, "the vertex of most neighbours fits a chunk");

/* What a host says at once: vertices, and such as the guest has not any more. */
struct rows {
    Lbm__Records *records;
    LBM_VEC(uint32_t) removed;
};

typedef void (*chunk_sink)(struct lbm_node *node, void *arg, const struct rows *rows, int last);

/* Which of the vertices held here are wanted, and what of them. */
struct wanted {
    int content;          /* COLUMNS_BARE, COLUMNS_ADJACENCY, COLUMNS_WHOLE */
    int owned;            /* OWN alone; else OUT too: on its way, and here until the target has it */
    uint64_t since;       /* changed after that; 0: all */
    const uint32_t *only; /* [n_only]; all if n_only is 0 */
    size_t n_only;
};

static int
is_new(const struct wanted *wanted, const struct lbm_vertex *vertex)
{
    return vertex != NULL && (wanted->since == 0 || vertex->seq > wanted->since);
}

static int
is_wanted(const struct wanted *wanted, const struct lbm_vertex *vertex)
{
    return vertex->stage == LBM_STAGE_OWN || (vertex->stage == LBM_STAGE_OUT && !wanted->owned);
}

/* Nobody who asks for some vertices, or for those owned, asks for these. */
static int
was_removed(const struct wanted *wanted, const struct lbm_vertex *vertex)
{
    return wanted->n_only == 0 && !wanted->owned && vertex->stage == LBM_STAGE_MOV &&
           vertex->peer == LBM_NONE;
}

static void
give_chunk(struct lbm_node *node, struct columns *columns, struct rows *rows, chunk_sink sink, void *arg,
           int last)
{
    lbm_records_batch_message(columns);
    rows->records = &columns->message;
    if (node->failed == LBM_OK)
        sink(node, arg, rows, last);
    lbm_records_batch_free(columns);
    lbm_records_batch_init(columns);
    rows->removed.n = 0;
}

/* Give the wanted vertices to the sink chunk by chunk. */
static void
for_each_chunk(struct lbm_node *node, struct job *job, const struct wanted *wanted, chunk_sink sink,
               void *arg)
{
    struct columns columns;
    struct rows rows = {0};
    lbm_records_batch_init(&columns);
    lbm_shard_write_back(&job->shard);
    size_t n = wanted->n_only != 0 ? wanted->n_only : job->shard.vertices.n;
    for (size_t i = 0; i < n && node->failed == LBM_OK; i++) {
        const struct lbm_vertex *vertex =
            wanted->n_only != 0 ? lbm_shard_vertex(&job->shard, wanted->only[i]) : &job->shard.vertices.at[i];
        if (!is_new(wanted, vertex))
            continue;
        if (was_removed(wanted, vertex) && lbm_vec_push(&rows.removed, vertex->id) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
        if (rows.removed.n == CHUNK_ROWS_MAX)
            give_chunk(node, &columns, &rows, sink, arg, 0);
        if (!is_wanted(wanted, vertex))
            continue;
        lbm_records_batch_add(node, &columns, job, vertex, vertex->epoch, wanted->content);
        unsigned m = job->shard.m;
        if (node->failed == LBM_OK)
            lbm_local_place(job, vertex->x, &columns.position.at[columns.position.n - m]);
        if (columns.vertex.n == CHUNK_ROWS_MAX || columns.neighbour.n >= CHUNK_HALVES_MAX ||
            columns.payload.len >= CHUNK_PAYLOAD_MAX)
            give_chunk(node, &columns, &rows, sink, arg, 0);
    }
    give_chunk(node, &columns, &rows, sink, arg, 1);
    lbm_records_batch_free(&columns);
    lbm_vec_free(&rows.removed);
}

/* ---- the asked host ----------------------------------------------------------------------------------- */

struct query_reply {
    uint32_t to;
    uint64_t job, query;
    int moves;
    uint32_t vertex; /* with moves: whose */
    int is_torn;     /* the cut that is wanted is not kept */
};

static void
send_chunk(struct lbm_node *node, void *arg, const struct rows *rows, int last)
{
    const struct query_reply *to = arg;
    Lbm__MapChunk chunk = LBM__MAP_CHUNK__INIT;
    chunk.job = to->job;
    chunk.query = to->query;
    chunk.last = last != 0;
    chunk.records = rows->records;
    chunk.n_removed = rows->removed.n;
    chunk.removed = rows->removed.at;
    chunk.stamp = node->replication.seq;
    chunk.torn = to->is_torn != 0;
    Lbm__Move moves[LBM_MOVES_TOLD_MAX], *list[LBM_MOVES_TOLD_MAX];
    const struct job *job = lbm_local_job(node, to->job);
    chunk.n_moves =
        last && to->moves && job != NULL ? lbm_migration_moves_find(node, job, to->vertex, moves) : 0;
    for (size_t i = 0; i < chunk.n_moves; i++)
        list[i] = &moves[i];
    chunk.moves = list;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_MAP_CHUNK;
    message.map_chunk = &chunk;
    lbm_core_send(node, to->to, &message);
}

static int
content_of(uint64_t cut, uint32_t edges)
{
    return cut != 0 ? COLUMNS_WHOLE : edges != 0 ? COLUMNS_ADJACENCY : COLUMNS_BARE;
}

/* A stamp of the future is none of this incarnation: everything counts as changed. */
static uint64_t
since_here(const struct lbm_node *node, uint64_t since)
{
    return since <= node->replication.seq ? since : 0;
}

void
lbm_client_on_map_query(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__MapQuery *query = message->map_query;
    struct query_reply to = {.to = message->src,
                             .job = query->job,
                             .query = query->query,
                             .moves = query->moves != 0 && query->n_vertex != 0,
                             .vertex = query->n_vertex != 0 ? query->vertex[0] : 0};
    struct job *job = lbm_local_job(node, query->job);
    if (query->hold != LBM_HOLD_READ) {
        lbm_client_cut_on_query(node, message);
        return;
    }
    to.is_torn = query->cut != 0 && !lbm_client_cut_lasts(node, message->src, job, query->cut);
    struct wanted wanted = {.content = content_of(query->cut, query->edges),
                            .only = query->vertex,
                            .n_only = query->n_vertex,
                            .since = since_here(node, query->since)};
    Lbm__Records none = LBM__RECORDS__INIT;
    const struct rows nothing = {.records = &none};
    if (job == NULL || to.is_torn)
        send_chunk(node, &to, &nothing, 1);
    else
        for_each_chunk(node, job, &wanted, send_chunk, &to);
}

/* ---- the asking host ---------------------------------------------------------------------------------- */

static void
collection_free(struct lbm_node *node, size_t at)
{
    struct collection *collection = node->collections.at[at];
    lbm_vec_free(&collection->awaited);
    lbm_vec_free(&collection->vertex);
    lbm_idmap_free(&collection->first);
    lbm_vec_free(&collection->place);
    lbm_vec_free(&collection->epoch);
    lbm_vec_free(&collection->moves);
    lbm_vec_free(&collection->torn);
    free(collection);
    node->collections.at[at] = node->collections.at[--node->collections.n];
}

void
lbm_client_query_gone(struct lbm_node *node, uint64_t client)
{
    for (size_t i = node->collections.n; i-- > 0;)
        if (node->collections.at[i]->client == client)
            collection_free(node, i);
}

/* Rows of one host: on to the client, or into the places asked for (the highest epoch wins). */
static void
take_chunk(struct lbm_node *node, struct collection *collection, uint32_t host, Lbm__Records *records,
           size_t n_removed, uint32_t *removed, uint64_t stamp)
{
    if (!collection->locate) {
        const struct lbm_job_entry *entry = lbm_view_job(&node->view, collection->job);
        Lbm__MapReply map = LBM__MAP_REPLY__INIT;
        map.host = host;
        map.vertices = entry != NULL ? entry->ids : 0;
        map.dimensions = node->view.m;
        map.records = records;
        map.n_removed = n_removed;
        map.removed = removed;
        map.stamp = stamp;
        Lbm__Response response = LBM__RESPONSE__INIT;
        response.what_case = LBM__RESPONSE__WHAT_MAP;
        response.map = &map;
        if (records->n_vertex != 0 || n_removed != 0)
            lbm_core_reply(node, collection->client, collection->request, 0, &response);
        return;
    }
    for (size_t i = 0; i < records->n_vertex; i++) {
        uint32_t k = lbm_idmap_get(&collection->first, records->vertex[i]);
        if (k != LBM_NONE && records->epoch[i] >= collection->epoch.at[k]) {
            collection->place.at[k] = host;
            collection->epoch.at[k] = records->epoch[i];
        }
    }
}

/* A vertex that was asked for again has the place of its first mention. */
static void
repeat_places(struct collection *collection)
{
    for (size_t k = 0; k < collection->vertex.n; k++) {
        uint32_t first = lbm_idmap_get(&collection->first, collection->vertex.at[k]);
        collection->place.at[k] = collection->place.at[first];
        collection->epoch.at[k] = collection->epoch.at[first];
    }
}

static void
finish(struct lbm_node *node, size_t at)
{
    struct collection *collection = node->collections.at[at];
    const struct job *job = lbm_local_job(node, collection->job);
    if (collection->explain) {
        lbm_client_explain_finish(node, collection);
        collection_free(node, at);
        return;
    }
    Lbm__Response response = LBM__RESPONSE__INIT;
    Lbm__MapReply map = LBM__MAP_REPLY__INIT;
    Lbm__LocateReply locate = LBM__LOCATE_REPLY__INIT;
    if (collection->locate) {
        repeat_places(collection);
        locate.n_vertex = locate.n_host = locate.n_epoch = collection->vertex.n;
        locate.vertex = collection->vertex.at;
        locate.host = collection->place.at;
        locate.epoch = collection->epoch.at;
        response.what_case = LBM__RESPONSE__WHAT_LOCATE;
        response.locate = &locate;
    } else {
        const struct lbm_job_entry *entry = lbm_view_job(&node->view, collection->job);
        map.host = node->host;
        map.vertices = entry != NULL ? entry->ids : 0;
        map.dimensions = node->view.m;
        map.n_missing = collection->awaited.n;
        map.missing = collection->awaited.at;
        map.next = collection->next;
        map.cut = collection->cut;
        map.n_torn = collection->torn.n;
        map.torn = collection->torn.at;
        if (job != NULL) {
            map.present = lbm_exchange_load_present(node, job);
            map.n_region_host = map.n_region_weight = job->region_host.n;
            map.region_host = job->region_host.at;
            map.region_weight = job->region_weight.at;
        }
        response.what_case = LBM__RESPONSE__WHAT_MAP;
        response.map = &map;
    }
    lbm_core_reply(node, collection->client, collection->request, 1, &response);
    collection_free(node, at);
}

/* That host has said all that it has to say. */
static void
heard_last(struct collection *collection, uint32_t host)
{
    for (size_t k = 0; k < collection->awaited.n; k++)
        if (collection->awaited.at[k] == host)
            collection->awaited.at[k] = collection->awaited.at[--collection->awaited.n];
}

static void
note_torn(struct lbm_node *node, struct collection *collection, uint32_t host)
{
    if (lbm_vec_push(&collection->torn, host) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

void
lbm_client_query_held(struct lbm_node *node, uint64_t query, int is_torn)
{
    for (size_t i = 0; i < node->collections.n; i++) {
        struct collection *collection = node->collections.at[i];
        if (collection->query != query)
            continue;
        if (is_torn)
            note_torn(node, collection, node->host);
        heard_last(collection, node->host);
        if (collection->awaited.n == 0 && !collection->is_begun)
            finish(node, i);
        return;
    }
}

void
lbm_client_on_map_chunk(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__MapChunk *chunk = message->map_chunk;
    for (size_t i = 0; i < node->collections.n; i++) {
        struct collection *collection = node->collections.at[i];
        if (collection->query != chunk->query || collection->job != chunk->job)
            continue;
        if (chunk->records != NULL)
            take_chunk(node, collection, message->src, chunk->records, chunk->n_removed, chunk->removed,
                       chunk->stamp);
        if (collection->explain)
            lbm_client_explain_take(node, collection, chunk->n_moves, chunk->moves);
        if (chunk->torn)
            note_torn(node, collection, message->src);
        if (chunk->last)
            heard_last(collection, message->src);
        collection->heard_us = node->now_us;
        collection->deadline_us = node->now_us + COLLECT_US; /* as long as chunks keep coming */
        if (collection->awaited.n == 0)
            finish(node, i);
        return;
    }
}

static void
take_own(struct lbm_node *node, void *arg, const struct rows *rows, int last)
{
    (void)last;
    take_chunk(node, arg, node->host, rows->records, rows->removed.n, rows->removed.at,
               node->replication.seq);
}

static uint64_t
since_of(const Lbm__MapRequest *map, uint32_t host)
{
    for (size_t i = 0; map != NULL && i < map->n_since_host; i++)
        if (map->since_host[i] == host)
            return map->since[i];
    return 0;
}

static int
is_asked(const struct collection *collection, uint32_t host)
{
    return host >= collection->from && (collection->next == 0 || host < collection->next);
}

/* The host that the next answer begins with, if the one from `from` on may have that many rows; 0: there is
 * none. The client asks for it when it has read this one: what it has yet to read is kept here. */
static uint32_t
page_end(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t from, uint32_t rows)
{
    size_t n = 0, n_max = (size_t)((double)rows * (double)node->view.members.n / entry->vertices);
    for (size_t i = 0; rows != 0 && i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (member->host >= from && lbm_view_participates(member) && n++ > 0 && n > n_max)
            return member->host;
    }
    return 0;
}

/* Ask everybody. map: the client's request, NULL: it is none for a mapping. Members that are unreachable are
 * asked too, since an answer costs nothing, but not waited for longer than the others. */
static void
ask_all(struct lbm_node *node, struct collection *collection, int edges, const Lbm__MapRequest *map)
{
    Lbm__MapQuery query = LBM__MAP_QUERY__INIT;
    query.job = collection->job;
    query.query = collection->query;
    query.positions = 1;
    query.edges = edges != 0;
    query.n_vertex = collection->vertex.n;
    query.vertex = collection->vertex.at;
    query.moves = collection->explain != 0;
    query.cut = collection->cut;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_MAP_QUERY;
    message.map_query = &query;
    for (size_t i = 0; i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (member->host == node->host || !lbm_view_participates(member))
            continue;
        int is_in = is_asked(collection, member->host);
        if (!is_in && collection->cut == 0)
            continue;
        query.hold = collection->holds ? LBM_HOLD_BEGIN : is_in ? LBM_HOLD_READ : LBM_HOLD_PROLONG;
        query.since = since_of(map, member->host);
        lbm_core_send(node, member->host, &message);
        if (is_in && lbm_vec_push(&collection->awaited, member->host) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    }
}

static int
count_of(const struct lbm_node *node, uint64_t client)
{
    int n = 0;
    for (size_t i = 0; i < node->collections.n; i++)
        n += node->collections.at[i]->client == client;
    return n;
}

static struct collection *
begin(struct lbm_node *node, uint64_t client, uint64_t request, const char *name)
{
    const struct lbm_job_entry *entry = lbm_view_job_named(&node->view, name);
    if (entry == NULL) {
        lbm_core_reply_error(node, client, request, LBM_E_NOTFOUND,
                             "there is no job named %s; lbctl jobs lists them", name);
        return NULL;
    }
    if (count_of(node, client) >= AT_ONCE_MAX) {
        lbm_core_reply_error(node, client, request, LBM_E_BUSY,
                             "%d such requests of this client are in progress", AT_ONCE_MAX);
        return NULL;
    }
    struct collection *collection = lbm_alloc(1, sizeof *collection);
    if (collection == NULL || lbm_vec_push(&node->collections, collection) != LBM_OK) {
        free(collection);
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    collection->query = ++node->query;
    collection->client = client;
    collection->request = request;
    collection->job = entry->job;
    collection->heard_us = node->now_us;
    collection->deadline_us = node->now_us + COLLECT_US;
    return collection;
}

/* Nonzero if vertices of this host belong to the answer; of a cut, as it is kept here. */
static int
is_read_here(struct lbm_node *node, struct collection *collection, struct job *job)
{
    if (collection->holds)
        return 0;
    int lasts =
        collection->cut == 0 ? job != NULL : lbm_client_cut_lasts(node, node->host, job, collection->cut);
    if (!lasts && collection->cut != 0)
        note_torn(node, collection, node->host);
    return lasts && is_asked(collection, node->host);
}

static void
run(struct lbm_node *node, struct collection *collection, const struct wanted *wanted,
    const Lbm__MapRequest *map)
{
    struct job *job = lbm_local_job(node, collection->job);
    if (!wanted->owned)
        ask_all(node, collection, wanted->content != COLUMNS_BARE, map);
    if (collection->holds) {
        collection->is_begun = 1; /* it is answered here, not from within */
        if (lbm_vec_push(&collection->awaited, node->host) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
        lbm_client_cut_hold(node, node->host, collection->query, collection->job, collection->cut);
        collection->is_begun = 0;
    }
    if (node->failed == LBM_OK && is_read_here(node, collection, job))
        for_each_chunk(node, job, wanted, take_own, collection);
    if (collection->awaited.n == 0)
        finish(node, node->collections.n - 1);
}

/* Nonzero if the request is one that makes sense; else the client has been told. */
static int
is_of_a_cut(struct lbm_node *node, const struct collection *collection, const Lbm__MapRequest *map)
{
    if (node->view.protocol < LBM_PROTOCOL_CUTS && (map->cut != 0 || map->hold != LBM_HOLD_READ)) {
        lbm_core_reply_error(
            node, collection->client, collection->request, LBM_E_UNSUPPORTED,
            "hosts of the cluster run an earlier version of lbmap, which keeps no cut of a job (protocol "
            "%" PRIu32 "): see lbctl hosts",
            node->view.protocol);
        return 0;
    }
    int is_own = map->cut == 0 || lbm_client_cut_is_of(node, collection->client, collection->job, map->cut);
    if (map->hold <= LBM_HOLD_BEGIN && (map->hold == LBM_HOLD_READ || map->cut == 0) && is_own)
        return 1;
    lbm_core_reply_error(node, collection->client, collection->request, LBM_E_STATE,
                         "a cut that this connection has not begun, or that has ended");
    return 0;
}

void
lbm_client_query_map(struct lbm_node *node, uint64_t client, uint64_t request, const Lbm__MapRequest *map)
{
    if (map->hold == LBM_HOLD_END) {
        lbm_client_cut_end(node, client, request, map->cut);
        return;
    }
    struct collection *collection = begin(node, client, request, map->job);
    struct wanted wanted = {.content = content_of(map->cut, map->edges),
                            .owned = map->owned != 0,
                            .since = since_here(node, since_of(map, node->host))};
    if (collection == NULL)
        return;
    if (!is_of_a_cut(node, collection, map)) {
        collection_free(node, node->collections.n - 1);
        return;
    }
    collection->holds = map->hold == LBM_HOLD_BEGIN;
    collection->cut = collection->holds ? lbm_client_cut_new(node, client, collection->job) : map->cut;
    if (!wanted.owned && !collection->holds) {
        collection->from = map->from;
        collection->next = page_end(node, lbm_view_job(&node->view, collection->job), map->from, map->rows);
    }
    run(node, collection, &wanted, map);
}

/* The places of n vertices, each of which the guest has. Takes the collection. */
static void
locate(struct lbm_node *node, struct collection *collection, size_t n, const uint32_t *vertex)
{
    collection->locate = 1;
    for (size_t i = 0; i < n; i++)
        if (lbm_vec_push(&collection->vertex, vertex[i]) != LBM_OK ||
            lbm_vec_push(&collection->place, LBM_NONE) != LBM_OK ||
            lbm_vec_push(&collection->epoch, 0) != LBM_OK ||
            (lbm_idmap_get(&collection->first, vertex[i]) == LBM_NONE &&
             lbm_idmap_put(&collection->first, vertex[i], (uint32_t)i) != LBM_OK)) {
            lbm_core_fail(node, LBM_E_NOMEM);
            return;
        }
    struct wanted wanted = {.only = collection->vertex.at, .n_only = collection->vertex.n};
    if (collection->explain)
        lbm_client_explain_take_own(node, collection);
    if (collection->vertex.n == 0)
        finish(node, node->collections.n - 1);
    else
        run(node, collection, &wanted, NULL);
}

/* Nonzero if the guest has all of them; else the client has been told. */
static int
has_vertices(struct lbm_node *node, const struct collection *collection, size_t n, const uint32_t *vertex)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, collection->job);
    for (size_t i = 0; i < n; i++)
        if (vertex[i] >= entry->ids) {
            lbm_core_reply_error(node, collection->client, collection->request, LBM_E_RANGE,
                                 "vertex %u: the guest has vertices 0 to %u", vertex[i], entry->ids - 1);
            return 0;
        }
    return 1;
}

void
lbm_client_query_locate(struct lbm_node *node, uint64_t client, uint64_t request,
                        const Lbm__LocateRequest *asked)
{
    struct collection *collection = begin(node, client, request, asked->job);
    if (collection == NULL)
        return;
    if (has_vertices(node, collection, asked->n_vertex, asked->vertex))
        locate(node, collection, asked->n_vertex, asked->vertex);
    else
        collection_free(node, node->collections.n - 1);
}

void
lbm_client_query_explain(struct lbm_node *node, uint64_t client, uint64_t request,
                         const Lbm__ExplainRequest *asked)
{
    struct collection *collection = begin(node, client, request, asked->job);
    if (collection == NULL)
        return;
    collection->explain = 1;
    if (has_vertices(node, collection, 1, &asked->vertex))
        locate(node, collection, 1, &asked->vertex);
    else
        collection_free(node, node->collections.n - 1);
}

static int
awaits_the_living(const struct lbm_node *node, const struct collection *collection)
{
    for (size_t i = 0; i < collection->awaited.n; i++)
        if (!lbm_membership_is_unreachable(node, collection->awaited.at[i], COLLECT_US))
            return 1;
    return 0;
}

void
lbm_client_query_timer(struct lbm_node *node)
{
    for (size_t i = node->collections.n; i-- > 0;) {
        struct collection *collection = node->collections.at[i];
        if (node->now_us < collection->deadline_us)
            continue;
        if (node->now_us < collection->heard_us + COLLECT_BUSY_US && awaits_the_living(node, collection))
            collection->deadline_us = node->now_us + COLLECT_AGAIN_US;
        else
            finish(node, i);
    }
}

int64_t
lbm_client_query_deadline(const struct lbm_node *node)
{
    int64_t when = INT64_MAX;
    for (size_t i = 0; i < node->collections.n; i++)
        if (node->collections.at[i]->deadline_us < when)
            when = node->collections.at[i]->deadline_us;
    return when;
}
