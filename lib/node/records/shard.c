/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node/records/shard.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

void
lbm_shard_init(struct lbm_shard *shard, unsigned m, uint32_t self)
{
    *shard = (struct lbm_shard){.m = m, .self = self, .work_least = LBM_NONE};
}

static void
patch_free(struct lbm_patch *patch)
{
    lbm_graph_free(&patch->g);
    free(patch->vertex);
    free(patch->ghost);
    free(patch->x);
    free(patch->anchored);
    *patch = (struct lbm_patch){0};
}

void
lbm_shard_free(struct lbm_shard *shard)
{
    for (size_t i = 0; i < shard->vertices.n; i++) {
        free(shard->vertices.at[i].half);
        free(shard->vertices.at[i].payload);
        free(shard->vertices.at[i].news);
    }
    lbm_vec_free(&shard->vertices);
    lbm_vec_free(&shard->vacant);
    lbm_idmap_free(&shard->vertex_slot);
    lbm_vec_free(&shard->ghosts);
    lbm_idmap_free(&shard->ghost_slot);
    patch_free(&shard->patch);
}

struct lbm_vertex *
lbm_shard_vertex(const struct lbm_shard *shard, uint32_t id)
{
    uint32_t slot = lbm_idmap_get(&shard->vertex_slot, id);
    return slot == LBM_NONE ? NULL : &shard->vertices.at[slot];
}

struct lbm_ghost *
lbm_shard_ghost(const struct lbm_shard *shard, uint32_t id)
{
    uint32_t slot = lbm_idmap_get(&shard->ghost_slot, id);
    return slot == LBM_NONE ? NULL : &shard->ghosts.at[slot];
}

void
lbm_shard_touch(struct lbm_shard *shard)
{
    shard->version++;
    if (!shard->patch.valid)
        return;
    lbm_shard_write_back(shard);
    shard->patch.valid = 0;
}

/* Take a record out of the counts, or put it in. */
static void
account(struct lbm_shard *shard, const struct lbm_vertex *vertex, int in)
{
    uint32_t one = in ? 1 : UINT32_MAX; /* adds or subtracts one, modulo 2^32 */
    if (vertex->stage == LBM_STAGE_OWN) {
        shard->n_own += one;
        shard->load += in ? (uint64_t)vertex->work : -(uint64_t)vertex->work;
        if (vertex->work < shard->work_least)
            shard->work_least = vertex->work;
    } else if (vertex->stage == LBM_STAGE_OUT) {
        shard->n_out += one;
        shard->load_out += in ? (uint64_t)vertex->work : -(uint64_t)vertex->work;
    }
}

enum lbm_err
lbm_shard_put(struct lbm_shard *shard, struct lbm_row *row)
{
    lbm_shard_touch(shard);
    struct lbm_vertex *vertex = lbm_shard_vertex(shard, row->vertex);
    if (vertex == NULL) {
        int is_new = shard->vacant.n == 0;
        uint32_t slot = is_new ? (uint32_t)shard->vertices.n : shard->vacant.at[shard->vacant.n - 1];
        if ((is_new && lbm_vec_reserve(&shard->vertices, 1) != LBM_OK) ||
            lbm_idmap_put(&shard->vertex_slot, row->vertex, slot) != LBM_OK)
            return LBM_E_NOMEM;
        shard->vertices.n += is_new != 0;
        shard->vacant.n -= !is_new;
        vertex = &shard->vertices.at[slot];
    } else {
        LBM_ASSERT(vertex->stage == LBM_STAGE_NONE || row->epoch > vertex->epoch ||
                   (row->epoch == vertex->epoch && row->stage >= vertex->stage));
        account(shard, vertex, 0);
        free(vertex->half);
        free(vertex->payload);
        free(vertex->news);
    }
    shard->epoch_top = row->epoch > shard->epoch_top ? row->epoch : shard->epoch_top;
    *vertex = (struct lbm_vertex){.id = row->vertex,
                                  .stage = row->stage,
                                  .epoch = row->epoch,
                                  .peer = row->stage == LBM_STAGE_OWN ? LBM_NONE : row->peer,
                                  .peer_incarnation = row->peer_incarnation,
                                  .destination = row->stage == LBM_STAGE_OWN ? row->peer : LBM_NONE,
                                  .work = row->work,
                                  .pin = row->pin,
                                  .anchored = row->anchored != 0,
                                  .fin = row->fin != 0,
                                  .seq = row->seq,
                                  .offered = row->epoch,
                                  .source = row->source,
                                  .source_incarnation = row->source_incarnation,
                                  .refuser = LBM_NONE,
                                  .move_to = LBM_NONE,
                                  .degree = row->degree,
                                  .half = row->half,
                                  .payload_len = row->payload_len,
                                  .is_blob = row->is_blob != 0,
                                  .payload = row->payload,
                                  .n_news = row->n_news,
                                  .news = row->news,
                                  .news_stamp = row->seq,
                                  .x = {row->position[0], row->position[1], row->position[2]},
                                  .row = LBM_NONE};
    row->half = NULL;
    row->payload = NULL;
    row->news = NULL;
    account(shard, vertex, 1);
    return LBM_OK;
}

void
lbm_shard_forget(struct lbm_shard *shard, struct lbm_vertex *vertex)
{
    LBM_ASSERT(vertex->stage == LBM_STAGE_MOV || vertex->stage == LBM_STAGE_REF);
    shard->version++; /* the patch has no such vertices */
    account(shard, vertex, 0);
    free(vertex->half);
    free(vertex->payload);
    free(vertex->news);
    *vertex = (struct lbm_vertex){.id = vertex->id,
                                  .peer = LBM_NONE,
                                  .destination = LBM_NONE,
                                  .source = LBM_NONE,
                                  .refuser = LBM_NONE,
                                  .move_to = LBM_NONE,
                                  .row = LBM_NONE,
                                  .pin = LBM_NONE};
}

void
lbm_shard_vacate(struct lbm_shard *shard, struct lbm_vertex *vertex)
{
    LBM_ASSERT(vertex->stage == LBM_STAGE_NONE);
    if (vertex->id == LBM_NONE ||
        lbm_vec_push(&shard->vacant, (uint32_t)(vertex - shard->vertices.at)) != LBM_OK)
        return;
    lbm_idmap_remove(&shard->vertex_slot, vertex->id);
    vertex->id = LBM_NONE;
}

/* Remember where a vertex went, if it is a neighbour of what stays; the patch sorts that out. */
static enum lbm_err
leave_ghost(struct lbm_shard *shard, const struct lbm_vertex *vertex)
{
    struct lbm_ghost *ghost = lbm_shard_ghost(shard, vertex->id);
    if (ghost == NULL) {
        if (lbm_vec_reserve(&shard->ghosts, 1) != LBM_OK ||
            lbm_idmap_put(&shard->ghost_slot, vertex->id, (uint32_t)shard->ghosts.n) != LBM_OK)
            return LBM_E_NOMEM;
        ghost = &shard->ghosts.at[shard->ghosts.n++];
        *ghost = (struct lbm_ghost){.id = vertex->id, .at = LBM_NONE};
    }
    ghost->host = vertex->peer;
    ghost->unaware = 1;
    ghost->epoch = vertex->epoch + 1;
    ghost->stamp = 0;
    ghost->work = vertex->work;
    memcpy(ghost->x, vertex->x, sizeof ghost->x);
    return LBM_OK;
}

/* Where neighbours are believed to be, into the record: ghosts that no own vertex has any more are dropped,
 * and the record may be offered after that. */
static void
note_hints(const struct lbm_shard *shard, struct lbm_vertex *vertex)
{
    for (uint32_t i = 0; i < vertex->degree; i++) {
        uint32_t host = lbm_shard_where(shard, vertex->half[i].to);
        vertex->half[i].host = host != LBM_NONE ? host : vertex->half[i].host;
    }
}

enum lbm_err
lbm_shard_set_stage(struct lbm_shard *shard, struct lbm_vertex *vertex, enum lbm_stage stage, uint64_t epoch,
                    uint32_t peer, uint64_t peer_incarnation)
{
    LBM_ASSERT(epoch > vertex->epoch || (epoch == vertex->epoch && stage > vertex->stage));
    account(shard, vertex, 0);
    if (stage == LBM_STAGE_OUT)
        note_hints(shard, vertex);
    lbm_shard_touch(shard);
    vertex->stage = stage;
    vertex->epoch = epoch;
    shard->epoch_top = epoch > shard->epoch_top ? epoch : shard->epoch_top;
    vertex->peer = peer;
    vertex->peer_incarnation = peer_incarnation;
    vertex->destination = LBM_NONE;
    account(shard, vertex, 1);
    if (stage != LBM_STAGE_MOV)
        return LBM_OK;
    int was_removed = peer == LBM_NONE;
    free(vertex->half);
    free(vertex->payload);
    vertex->half = NULL;
    vertex->degree = 0;
    vertex->payload = NULL;
    vertex->payload_len = 0;
    vertex->is_blob = 0;
    return was_removed ? LBM_OK : leave_ghost(shard, vertex);
}

void
lbm_shard_set_neighbours(struct lbm_shard *shard, struct lbm_vertex *vertex, struct lbm_half *half,
                         uint32_t degree)
{
    LBM_ASSERT(vertex->stage == LBM_STAGE_OWN);
    lbm_shard_touch(shard);
    free(vertex->half);
    vertex->half = half;
    vertex->degree = degree;
}

void
lbm_shard_set_work(struct lbm_shard *shard, struct lbm_vertex *vertex, uint32_t work)
{
    LBM_ASSERT(vertex->stage == LBM_STAGE_OWN);
    account(shard, vertex, 0);
    lbm_shard_touch(shard);
    vertex->work = work;
    account(shard, vertex, 1);
}

uint32_t
lbm_shard_where(const struct lbm_shard *shard, uint32_t id)
{
    const struct lbm_vertex *vertex = lbm_shard_vertex(shard, id);
    if (vertex != NULL && (vertex->stage == LBM_STAGE_OWN || vertex->stage == LBM_STAGE_OUT))
        return shard->self;
    const struct lbm_ghost *ghost = lbm_shard_ghost(shard, id);
    if (ghost != NULL)
        return ghost->host;
    return vertex != NULL && vertex->stage == LBM_STAGE_MOV ? vertex->peer : LBM_NONE;
}

enum lbm_err
lbm_shard_row(const struct lbm_shard *shard, uint64_t job, const struct lbm_vertex *vertex,
              struct lbm_row *row)
{
    struct lbm_half *half = NULL;
    uint8_t *payload = vertex->payload != NULL ? lbm_copy(vertex->payload, vertex->payload_len, 1) : NULL;
    struct lbm_half *news = vertex->n_news != 0 ? lbm_copy(vertex->news, vertex->n_news, sizeof *news) : NULL;
    if ((vertex->payload != NULL && payload == NULL) || (vertex->n_news != 0 && news == NULL)) {
        free(payload);
        free(news);
        return LBM_E_NOMEM;
    }
    if (vertex->half != NULL) {
        half = lbm_copy(vertex->half, vertex->degree, sizeof *half);
        if (half == NULL) {
            free(payload);
            free(news);
            return LBM_E_NOMEM;
        }
        for (uint32_t i = 0; i < vertex->degree; i++) {
            uint32_t host = lbm_shard_where(shard, half[i].to);
            if (host != LBM_NONE)
                half[i].host = host;
        }
    }
    *row = (struct lbm_row){.job = job,
                            .vertex = vertex->id,
                            .epoch = vertex->epoch,
                            .stage = vertex->stage,
                            .peer = vertex->stage == LBM_STAGE_OWN ? vertex->destination : vertex->peer,
                            .peer_incarnation = vertex->peer_incarnation,
                            .work = vertex->work,
                            .pin = vertex->pin,
                            .anchored = vertex->anchored,
                            .position = {vertex->x[0], vertex->x[1], vertex->x[2]},
                            .seq = vertex->seq,
                            .source = vertex->source,
                            .source_incarnation = vertex->source_incarnation,
                            .fin = vertex->fin,
                            .payload_len = payload != NULL ? vertex->payload_len : 0,
                            .payload = payload,
                            .is_blob = payload != NULL && vertex->is_blob,
                            .n_news = vertex->n_news,
                            .news = news,
                            .degree = half != NULL ? vertex->degree : 0,
                            .half = half};
    return LBM_OK;
}

/* The ghost of a neighbour, created from the record's hint if it is new. */
static struct lbm_ghost *
need_ghost(struct lbm_shard *shard, const struct lbm_vertex *vertex, const struct lbm_half *half)
{
    struct lbm_ghost *ghost = lbm_shard_ghost(shard, half->to);
    if (ghost != NULL)
        return ghost;
    if (lbm_vec_reserve(&shard->ghosts, 1) != LBM_OK ||
        lbm_idmap_put(&shard->ghost_slot, half->to, (uint32_t)shard->ghosts.n) != LBM_OK)
        return NULL;
    ghost = &shard->ghosts.at[shard->ghosts.n++];
    *ghost = (struct lbm_ghost){.id = half->to, .host = half->host, .at = LBM_NONE};
    /* A vertex that is on its way out, or was here once, is known better than any hint. */
    const struct lbm_vertex *record = lbm_shard_vertex(shard, half->to);
    const struct lbm_vertex *place = record != NULL ? record : vertex;
    memcpy(ghost->x, place->x, sizeof ghost->x);
    if (record != NULL && record->stage != LBM_STAGE_REF && record->stage != LBM_STAGE_NONE) {
        ghost->host = record->stage == LBM_STAGE_MOV ? record->peer : shard->self;
        ghost->epoch = record->epoch + (record->stage == LBM_STAGE_MOV);
        ghost->work = record->work;
    }
    return ghost;
}

enum lbm_err
lbm_shard_expect(struct lbm_shard *shard, uint32_t id, const struct lbm_vertex *vertex)
{
    const struct lbm_vertex *other = lbm_shard_vertex(shard, id);
    if (vertex->stage != LBM_STAGE_OWN || (other != NULL && other->stage == LBM_STAGE_OWN) ||
        lbm_shard_ghost(shard, id) != NULL)
        return LBM_OK;
    for (uint32_t i = 0; i < vertex->degree; i++)
        if (vertex->half[i].to == id)
            return need_ghost(shard, vertex, &vertex->half[i]) != NULL ? LBM_OK : LBM_E_NOMEM;
    return LBM_OK;
}

int
lbm_shard_learn(struct lbm_shard *shard, uint32_t id, uint32_t host, uint64_t epoch, uint64_t stamp,
                uint32_t work, const double *x)
{
    struct lbm_ghost *ghost = lbm_shard_ghost(shard, id);
    if (ghost == NULL || epoch < ghost->epoch)
        return 0;
    int moved = epoch > ghost->epoch && ghost->host != host;
    shard->version += moved != 0;
    ghost->unaware |= moved != 0;
    if (epoch > ghost->epoch) {
        ghost->epoch = epoch;
        shard->epoch_top = epoch > shard->epoch_top ? epoch : shard->epoch_top;
        ghost->host = host;
        ghost->stamp = 0; /* stamps of another owner come from another clock */
    } else if (stamp <= ghost->stamp) {
        return 0;
    }
    if (x != NULL) {
        ghost->stamp = stamp;
        ghost->work = work;
        memcpy(ghost->x, x, shard->m * sizeof *x);
        if (shard->patch.valid && ghost->at != LBM_NONE)
            memcpy(&shard->patch.x[(size_t)ghost->at * shard->m], x, shard->m * sizeof *x);
    }
    return moved;
}

void
lbm_shard_write_back(struct lbm_shard *shard)
{
    const struct lbm_patch *patch = &shard->patch;
    for (uint32_t row = 0; patch->valid && row < patch->g.n; row++)
        memcpy(shard->vertices.at[patch->vertex[row]].x, &patch->x[(size_t)row * shard->m],
               shard->m * sizeof(double));
}

/* Drop ghosts that the patch no longer refers to (at == LBM_NONE), closing the gaps. */
static enum lbm_err
sweep_ghosts(struct lbm_shard *shard)
{
    size_t kept = 0;
    for (size_t i = 0; i < shard->ghosts.n; i++)
        if (shard->ghosts.at[i].at != LBM_NONE)
            shard->ghosts.at[kept++] = shard->ghosts.at[i];
    shard->ghosts.n = kept;
    if (lbm_vec_give_back(&shard->ghosts))
        lbm_idmap_free(&shard->ghost_slot);
    else
        lbm_idmap_clear(&shard->ghost_slot);
    for (size_t i = 0; i < kept; i++)
        if (lbm_idmap_put(&shard->ghost_slot, shard->ghosts.at[i].id, (uint32_t)i) != LBM_OK)
            return LBM_E_NOMEM;
    return LBM_OK;
}

/* Number rows and ghosts and count directions. */
static enum lbm_err
number(struct lbm_shard *shard, uint32_t *n_rows, uint64_t *directions)
{
    for (size_t i = 0; i < shard->ghosts.n; i++)
        shard->ghosts.at[i].at = LBM_NONE;
    *n_rows = 0;
    *directions = 0;
    for (size_t i = 0; i < shard->vertices.n; i++) {
        struct lbm_vertex *vertex = &shard->vertices.at[i];
        vertex->row = vertex->stage == LBM_STAGE_OWN ? (*n_rows)++ : LBM_NONE;
        *directions += vertex->row != LBM_NONE ? vertex->degree : 0;
    }
    uint32_t next = *n_rows;
    for (size_t i = 0; i < shard->vertices.n; i++) {
        const struct lbm_vertex *vertex = &shard->vertices.at[i];
        for (uint32_t k = 0; vertex->row != LBM_NONE && k < vertex->degree; k++) {
            const struct lbm_vertex *other = lbm_shard_vertex(shard, vertex->half[k].to);
            if (other != NULL && other->row != LBM_NONE)
                continue;
            struct lbm_ghost *ghost = need_ghost(shard, vertex, &vertex->half[k]);
            if (ghost == NULL)
                return LBM_E_NOMEM;
            if (ghost->at == LBM_NONE)
                ghost->at = next++;
        }
    }
    return sweep_ghosts(shard);
}

enum lbm_err
lbm_shard_patch(struct lbm_shard *shard)
{
    struct lbm_patch *patch = &shard->patch;
    if (patch->valid)
        return LBM_OK;
    patch_free(patch);
    uint32_t n_rows;
    uint64_t directions;
    if (number(shard, &n_rows, &directions) != LBM_OK)
        return LBM_E_NOMEM;
    patch->g.n = n_rows;
    patch->n_ghosts = (uint32_t)shard->ghosts.n;
    size_t places = (size_t)n_rows + patch->n_ghosts;
    patch->g.offset = lbm_alloc((size_t)n_rows + 1, sizeof *patch->g.offset);
    patch->g.target = lbm_alloc(directions, sizeof *patch->g.target);
    patch->g.weight = lbm_alloc(directions, sizeof *patch->g.weight);
    patch->g.work = lbm_alloc(n_rows, sizeof *patch->g.work);
    patch->vertex = lbm_alloc(n_rows, sizeof *patch->vertex);
    patch->ghost = lbm_alloc(patch->n_ghosts, sizeof *patch->ghost);
    patch->x = lbm_alloc(places, shard->m * sizeof *patch->x);
    patch->anchored = lbm_alloc(n_rows, sizeof *patch->anchored);
    if (patch->g.offset == NULL || patch->g.target == NULL || patch->g.weight == NULL ||
        patch->g.work == NULL || patch->vertex == NULL || patch->ghost == NULL || patch->x == NULL ||
        patch->anchored == NULL) {
        patch_free(patch);
        return LBM_E_NOMEM;
    }
    uint64_t at = 0;
    for (size_t i = 0; i < shard->vertices.n; i++) {
        const struct lbm_vertex *vertex = &shard->vertices.at[i];
        if (vertex->row == LBM_NONE)
            continue;
        patch->vertex[vertex->row] = (uint32_t)i;
        patch->g.work[vertex->row] = vertex->work;
        patch->anchored[vertex->row] = vertex->anchored;
        memcpy(&patch->x[(size_t)vertex->row * shard->m], vertex->x, shard->m * sizeof(double));
        for (uint32_t k = 0; k < vertex->degree; k++) {
            const struct lbm_vertex *other = lbm_shard_vertex(shard, vertex->half[k].to);
            patch->g.target[at] = other != NULL && other->row != LBM_NONE
                                      ? other->row
                                      : lbm_shard_ghost(shard, vertex->half[k].to)->at;
            patch->g.weight[at++] = vertex->half[k].weight;
        }
        patch->g.offset[vertex->row + 1] = at;
    }
    LBM_ASSERT(at == directions);
    for (uint32_t i = 0; i < patch->n_ghosts; i++) {
        const struct lbm_ghost *ghost = &shard->ghosts.at[i];
        patch->ghost[ghost->at - n_rows] = i;
        memcpy(&patch->x[(size_t)ghost->at * shard->m], ghost->x, shard->m * sizeof(double));
    }
    patch->valid = 1;
    shard->built++;
    return LBM_OK;
}

int
lbm_shard_is_whole(const struct lbm_shard *shard, uint32_t n)
{
    for (uint32_t v = 0; v < n && shard->n_own == n; v++) {
        const struct lbm_vertex *vertex = lbm_shard_vertex(shard, v);
        if (vertex == NULL || vertex->stage != LBM_STAGE_OWN)
            return 0;
        for (uint32_t k = 0; k < vertex->degree; k++)
            if (vertex->half[k].to >= n)
                return 0; /* a newer vertex, elsewhere */
    }
    return shard->n_own == n;
}

enum lbm_err
lbm_shard_whole(const struct lbm_shard *shard, uint32_t n, struct lbm_graph *out)
{
    if (!lbm_shard_is_whole(shard, n))
        return LBM_E_STATE;
    struct lbm_graph g = {.n = n, .offset = lbm_alloc((size_t)n + 1, sizeof *g.offset)};
    if (g.offset == NULL)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < n; v++)
        g.offset[v + 1] = g.offset[v] + lbm_shard_vertex(shard, v)->degree;
    g.target = lbm_alloc(g.offset[n], sizeof *g.target);
    g.weight = lbm_alloc(g.offset[n], sizeof *g.weight);
    g.work = lbm_alloc(n, sizeof *g.work);
    g.pin = lbm_alloc(n, sizeof *g.pin);
    if (g.target == NULL || g.weight == NULL || g.work == NULL || g.pin == NULL) {
        lbm_graph_free(&g);
        return LBM_E_NOMEM;
    }
    for (uint32_t v = 0; v < n; v++) {
        const struct lbm_vertex *vertex = lbm_shard_vertex(shard, v);
        g.work[v] = vertex->work;
        g.pin[v] = vertex->pin;
        for (uint32_t k = 0; k < vertex->degree; k++) {
            g.target[g.offset[v] + k] = vertex->half[k].to;
            g.weight[g.offset[v] + k] = vertex->half[k].weight;
        }
    }
    *out = g;
    return LBM_OK;
}
