/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why vertices went from host to host, what that gained and cost. The giver knows all of it; the taker is
 * told why, for when the giver is gone. The last are kept, in memory, and more of them where there are more
 * vertices (docs/adr/0007): nothing is decided by them. */
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/membership/membership.h"
#include "node/migration/internal.h"
#include "node/migration/migration.h"
#include "node/records/blobs.h"
#include "node/records/records.h"

enum { MOVES_FIRST = 64 }; /* room for that many at first */

/* ---- what is kept ----------------------------------------------------------------------------------- */

static struct move *
place_of(struct lbm_node *node, uint64_t number)
{
    return &node->moves.at[(number - 1) % node->moves.capacity];
}

/* The move that the vertex is on; NULL: it is on none, or that is forgotten. */
static struct move *
move_of(struct lbm_node *node, const struct job *job, const struct lbm_vertex *vertex)
{
    struct move *move = vertex->move != 0 && node->moves.capacity != 0 ? place_of(node, vertex->move) : NULL;
    int is_it = move != NULL && move->job == job->id && move->vertex == vertex->id &&
                move->epoch == vertex->epoch + 1 && move->state <= LBM_MOVE_IN_FLIGHT;
    return is_it ? move : NULL;
}

/* That many are kept at most: one more for each vertex that this host owns. */
static size_t
most_kept(const struct lbm_node *node)
{
    size_t n = LBM_MOVES_LEAST;
    for (size_t i = 0; i < node->jobs.n; i++)
        n += node->jobs.at[i]->shard.n_own;
    return n < LBM_MOVES_MAX ? n : LBM_MOVES_MAX;
}

/* A ring that is full becomes twice as large, or loses its oldest move next. Capacities are powers of two:
 * numbers of moves in vertices are modulo 2^32. */
static enum lbm_err
make_room(struct lbm_node *node)
{
    size_t before = node->moves.capacity, capacity = before != 0 ? 2 * before : MOVES_FIRST;
    if (node->moves.n < before || capacity > most_kept(node))
        return LBM_OK;
    struct move *at = lbm_alloc(capacity, sizeof *at);
    if (at == NULL)
        return LBM_E_NOMEM;
    for (uint64_t number = node->n_moves; number > node->n_moves - node->moves.n; number--)
        at[(number - 1) % capacity] = *place_of(node, number);
    free(node->moves.at);
    node->moves.at = at;
    node->moves.capacity = capacity;
    return LBM_OK;
}

static struct move *
keep(struct lbm_node *node, const struct move *move)
{
    if (make_room(node) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    node->moves.n += node->moves.n < node->moves.capacity;
    struct move *kept = place_of(node, ++node->n_moves);
    *kept = *move;
    return kept;
}

static size_t
varint_bytes(uint64_t value)
{
    size_t n = 1;
    for (; value > 127; value >>= 7)
        n++;
    return n;
}

size_t
lbm_migration_move_bytes(const struct lbm_vertex *vertex, unsigned m)
{
    size_t bytes = varint_bytes(vertex->id) + varint_bytes(vertex->epoch) + varint_bytes(vertex->work) +
                   varint_bytes(vertex->pin) + 1 + m * sizeof(double) + varint_bytes(vertex->degree) +
                   varint_bytes(vertex->payload_len) + lbm_blobs_payload_bytes(vertex);
    for (uint32_t i = 0; i < vertex->degree; i++)
        bytes += varint_bytes(vertex->half[i].to) + varint_bytes(vertex->half[i].weight) +
                 varint_bytes(vertex->half[i].host);
    return bytes;
}

double
lbm_migration_move_share(const struct lbm_node *node, const struct job *job, uint32_t host, uint64_t load)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    double target = entry != NULL ? lbm_local_target(node, entry, host) : 0;
    return target > 0 ? (double)load / target : -1;
}

/* ---- the life of a move -------------------------------------------------------------------------------- */

void
lbm_migration_move_decided(struct lbm_node *node, const struct job *job, struct lbm_vertex *vertex,
                           uint32_t to, const struct why *why)
{
    struct move move = {.job = job->id,
                        .vertex = vertex->id,
                        .epoch = vertex->epoch + 1,
                        .from = node->host,
                        .to = to,
                        .why = *why,
                        .state = vertex->move_to != LBM_NONE ? LBM_MOVE_WAITS : LBM_MOVE_IN_FLIGHT,
                        .work = vertex->work,
                        .at_us = node->now_us,
                        .left_us = node->now_us};
    struct move *before = move_of(node, job, vertex);
    if (before != NULL)
        before->state = LBM_MOVE_KEPT;
    if (keep(node, &move) != NULL)
        vertex->move = (uint32_t)node->n_moves;
}

void
lbm_migration_move_leaves(struct lbm_node *node, const struct job *job, const struct lbm_vertex *vertex)
{
    struct move *move = move_of(node, job, vertex);
    if (move == NULL)
        return;
    move->state = LBM_MOVE_IN_FLIGHT;
    move->left_us = node->now_us;
}

struct why
lbm_migration_move_sent(struct lbm_node *node, const struct job *job, const struct lbm_vertex *vertex)
{
    struct move *move = move_of(node, job, vertex);
    if (move == NULL)
        return (struct why){.reason = LBM_MOVE_UNKNOWN};
    move->bytes += lbm_migration_move_bytes(vertex, job->shard.m);
    return move->why;
}

void
lbm_migration_move_ends(struct lbm_node *node, const struct job *job, struct lbm_vertex *vertex, uint32_t to,
                        enum lbm_move_state state)
{
    struct move *move = move_of(node, job, vertex);
    if (move == NULL) { /* from before this daemon's start, or that many others have begun since */
        struct move unknown = {.job = job->id,
                               .vertex = vertex->id,
                               .epoch = vertex->epoch + 1,
                               .from = node->host,
                               .why = {.reason = LBM_MOVE_UNKNOWN, .share = {-1, -1}},
                               .work = vertex->work,
                               .at_us = -1,
                               .left_us = -1};
        if ((move = keep(node, &unknown)) == NULL)
            return;
    }
    move->to = to;
    move->state = state;
    move->end_us = node->now_us;
    vertex->move = 0;
}

/* What this host got is over when it is known. */
static void
keep_arrival(struct lbm_node *node, const struct job *job, const struct lbm_vertex *vertex, uint32_t from,
             const struct why *why, uint64_t bytes)
{
    struct move move = {.job = job->id,
                        .vertex = vertex->id,
                        .epoch = vertex->epoch,
                        .from = from,
                        .to = node->host,
                        .why = *why,
                        .state = LBM_MOVE_ARRIVED,
                        .work = vertex->work,
                        .bytes = bytes,
                        .at_us = node->now_us,
                        .left_us = node->now_us,
                        .end_us = -1};
    (void)keep(node, &move);
}

enum lbm_move_reason
lbm_migration_move_came(struct lbm_node *node, const struct job *job, const struct lbm_vertex *vertex,
                        const Lbm__Offer *offer, size_t i)
{
    struct why why = {.reason = LBM_MOVE_UNKNOWN, .share = {-1, -1}};
    if (i < offer->n_reason && offer->reason[i] < LBM_MOVE_REASON_COUNT) {
        why.reason = (enum lbm_move_reason)offer->reason[i];
        why.gain_is_known = i < offer->n_gain && offer->gain_is_known[i] != 0;
        why.gain = why.gain_is_known ? offer->gain[i] : 0;
    }
    keep_arrival(node, job, vertex, vertex->source, &why, lbm_migration_move_bytes(vertex, job->shard.m));
    return why.reason;
}

void
lbm_migration_move_taken_over(struct lbm_node *node, const struct job *job, const struct lbm_vertex *vertex,
                              uint32_t from)
{
    const struct why why = {.reason = LBM_MOVE_TAKE_OVER, .share = {-1, -1}};
    keep_arrival(node, job, vertex, from, &why, 0);
}

void
lbm_migration_moves_free(struct lbm_node *node)
{
    lbm_vec_free(&node->moves);
}

/* ---- gains --------------------------------------------------------------------------------------------- */

/* What each of the rows brought, moved one after the other between two hosts; part has them moved already. */
void
lbm_migration_move_gains(const struct lbm_graph *g, const struct lbm_hosts *h, uint32_t *part, uint32_t a,
                         uint32_t b, const uint32_t *moved, uint32_t n_moved, double *gain)
{
    const uint32_t *row[2] = {lbm_dist_row(h, a), lbm_dist_row(h, b)};
    for (uint32_t i = 0; i < n_moved; i++)
        part[moved[i]] = part[moved[i]] == a ? b : a;
    for (uint32_t i = 0; i < n_moved; i++) {
        int from = part[moved[i]] == b;
        gain[i] = 0;
        for (uint64_t e = g->offset[moved[i]]; e < g->offset[moved[i] + 1]; e++) {
            uint32_t r = part[g->target[e]];
            gain[i] += (double)lbm_graph_weight(g, e) * ((double)row[from][r] - (double)row[!from][r]);
        }
        part[moved[i]] = from ? a : b;
    }
}

/* The same for one vertex and a host that this one is linked to, by what is known of its neighbours. */
static int
gain_by_itself(struct lbm_node *node, const struct job *job, const struct lbm_vertex *vertex, uint32_t to,
               double *gain)
{
    uint32_t self = lbm_view_number(&node->view, node->host), other = lbm_view_number(&node->view, to);
    if (!lbm_membership_is_routable(node) || self == LBM_NONE || other == LBM_NONE ||
        lbm_hosts_route_from(&node->view.hosts, self) != LBM_OK ||
        lbm_hosts_route_from(&node->view.hosts, other) != LBM_OK)
        return 0;
    *gain = 0;
    for (uint32_t i = 0; i < vertex->degree; i++) {
        uint32_t r = lbm_view_number(&node->view, lbm_shard_where(&job->shard, vertex->half[i].to));
        if (r == LBM_NONE)
            return 0;
        *gain += (double)vertex->half[i].weight * ((double)lbm_dist(&node->view.hosts, self, r) -
                                                   (double)lbm_dist(&node->view.hosts, other, r));
    }
    return 1;
}

struct why
lbm_migration_move_reason(struct lbm_node *node, const struct job *job, const struct lbm_vertex *vertex,
                          uint32_t to)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    const struct load_report *load_report = lbm_local_report_known(job, to);
    struct why why = {.reason = LBM_MOVE_PLAN, .share = {-1, -1}};
    if (job->flow.state == FLOW_TRANSFER)
        why.reason = LBM_MOVE_FLOW;
    else if (vertex->pin == to)
        why.reason = LBM_MOVE_PIN;
    else if (self != NULL && self->state == LBM_MEMBER_DRAINING)
        why.reason = LBM_MOVE_DRAIN;
    else if (job->remap.follows)
        why.reason = LBM_MOVE_REMAP;
    else if (entry != NULL && lbm_local_follows_regions(entry))
        why.reason = LBM_MOVE_REGION;
    if (why.reason == LBM_MOVE_FLOW)
        why.gain_is_known = gain_by_itself(node, job, vertex, to, &why.gain);
    why.share[0] = lbm_migration_move_share(node, job, node->host, lbm_local_load(job));
    if (load_report != NULL && load_report->heard_us != 0)
        why.share[1] = lbm_migration_move_share(node, job, to, load_report->load);
    return why;
}

/* ---- telling ------------------------------------------------------------------------------------------- */

static void
fill(const struct lbm_node *node, const struct job *job, const struct move *move, Lbm__Move *out)
{
    const struct lbm_vertex *vertex = lbm_records_of(job, move->vertex);
    int goes = vertex != NULL && vertex->epoch + 1 == move->epoch;
    enum lbm_move_state state = move->state;
    if (state == LBM_MOVE_WAITS && (!goes || vertex->move_to == LBM_NONE))
        state = LBM_MOVE_KEPT;
    lbm__move__init(out);
    out->epoch = move->epoch;
    out->from = move->from;
    out->to = move->to;
    out->reason = (uint32_t)move->why.reason;
    out->state = (uint32_t)state;
    out->age_s = move->at_us < 0 ? -1 : (double)(node->now_us - move->at_us) / 1e6;
    out->waited_s = (double)(move->left_us - move->at_us) / 1e6;
    out->took_s = move->end_us <= 0 || move->at_us < 0 ? -1 : (double)(move->end_us - move->left_us) / 1e6;
    out->bytes = move->bytes;
    out->work = move->work;
    out->gain_is_known = move->why.gain_is_known != 0;
    out->gain = move->why.gain;
    out->share_from = move->why.share[0];
    out->share_to = move->why.share[1];
    out->together = move->why.together;
}

size_t
lbm_migration_moves_find(const struct lbm_node *node, const struct job *job, uint32_t vertex,
                         Lbm__Move out[LBM_MOVES_TOLD_MAX])
{
    size_t n = 0;
    uint64_t oldest = node->n_moves - node->moves.n; /* that many were kept before */
    for (uint64_t number = node->n_moves; number > oldest && n < LBM_MOVES_TOLD_MAX; number--) {
        const struct move *move = &node->moves.at[(number - 1) % node->moves.capacity];
        if (move->job == job->id && move->vertex == vertex)
            fill(node, job, move, &out[n++]);
    }
    return n;
}
