/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan of the coarse graph (coarse_plan.h), for a job that nobody could plan as a whole: once all hosts are
 * ready, its coordinator asks each for its clusters, plans with what came, and tells each where its clusters
 * go. The vertices then go as those of any plan, and rounds refine. Who does not answer keeps what it has;
 * a coordinator that is lost is not waited for. Nothing of it is stored: the coordinator, or all of them,
 * would only ask again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"
#include "node/membership/membership.h"
#include "node/records/records.h"

enum {
    CLUSTERS_HOST = 60,       /* of each host, at least */
    CLUSTERS_MAX = 1 << 15,   /* of all, about: what a plan takes a second or two for */
    CLUSTERS_START = 1 << 14, /* the same when a job begins: of several plans made next to each other */
    PLANS = 2,            /* the second one has better clusters: parts of what the first has put together */
    SHARES = 2,           /* that many clusters as that many hosts have vertices */
    PART_ITEMS = 1 << 16, /* of each column in a message: 3.5 MB at most */
    COARSE_WAIT_US = 20000000, /* for the clusters of a host that is not unreachable */
};
_Static_assert(PART_ITEMS <= LBM_ROWS_MAX, "the wire takes as many rows");
_Static_assert(PART_ITEMS * 56u <= LBM_FRAME_BYTES_MAX,
               "eleven columns of a part fit a frame, 5 bytes an item each");

static const double WORK_RATIO = 1.5; /* of a cluster, to the mean of all, at most */

/* Not waited for, since it is gone or has been unreachable for long. At the start of a job that is longer
 * than a busy machine keeps a host unreachable: who is left out keeps what chance gave it, and if one host
 * does not wait for the coordinator all go on without a plan. A job that runs loses little. A host that was
 * starved itself lately waits longer. */
static int
is_unavailable(const struct lbm_node *node, const struct job *job, uint32_t host)
{
    int64_t timeout_us = job->coarse.again ? (int64_t)EXCLUDE_US * (1 + node->health) : COARSE_WAIT_US;
    return lbm_view_number(&node->view, host) == LBM_NONE ||
           lbm_membership_is_unreachable(node, host, timeout_us);
}

/* ---- answers of hosts ---------------------------------------------------------------------------------- */

static uint32_t
piece_of(size_t n, size_t at)
{
    return n <= at ? 0 : n - at < PART_ITEMS ? (uint32_t)(n - at) : PART_ITEMS;
}

/* Point the columns of a message to the items of a part from `at` on. Nonzero if these are the last ones. */
static int
put_piece(struct coarse_slice *part, size_t at, Lbm__CoarseChunk *message)
{
    message->n_work = piece_of(part->work.n, at);
    message->work = part->work.at + (message->n_work != 0 ? at : 0);
    message->n_pin = piece_of(part->pin.n, at);
    message->pin = part->pin.at + (message->n_pin != 0 ? at : 0);
    message->n_from = message->n_to = message->n_weight = piece_of(part->from.n, at);
    size_t edge = message->n_from != 0 ? at : 0;
    message->from = part->from.at + edge;
    message->to = part->to.at + edge;
    message->weight = part->weight.at + edge;
    message->n_vertex = message->n_cluster = piece_of(part->vertex.n, at);
    size_t border = message->n_vertex != 0 ? at : 0;
    message->vertex = part->vertex.at + border;
    message->cluster = part->cluster.at + border;
    message->n_out_from = message->n_out_to = message->n_out_weight = piece_of(part->out_from.n, at);
    size_t out = message->n_out_from != 0 ? at : 0;
    message->out_from = part->out_from.at + out;
    message->out_to = part->out_to.at + out;
    message->out_weight = part->out_weight.at + out;
    size_t end = at + PART_ITEMS;
    return part->work.n <= end && part->from.n <= end && part->vertex.n <= end && part->out_from.n <= end;
}

static void
send_part(struct lbm_node *node, const struct job *job, uint32_t coordinator, struct coarse_slice *part)
{
    size_t at = 0;
    int is_last;
    do {
        Lbm__CoarseChunk body = LBM__COARSE_CHUNK__INIT;
        body.job = job->id;
        body.round = job->coarse.round;
        body.clusters = part->clusters;
        body.last = (uint32_t)(is_last = put_piece(part, at, &body));
        Lbm__Peer message = LBM__PEER__INIT;
        message.body_case = LBM__PEER__BODY_COARSE_CHUNK;
        message.coarse_chunk = &body;
        lbm_core_send(node, coordinator, &message);
        at += PART_ITEMS;
    } while (!is_last && node->failed == LBM_OK);
}

/* Put what this host owns into clusters. Errors: LBM_E_NOMEM; part to be freed all the same. */
static enum lbm_err
cluster_own(struct lbm_node *node, struct job *job, double share, uint32_t work_max,
            struct coarse_slice *part)
{
    *part = (struct coarse_slice){0};
    enum lbm_err err = lbm_shard_patch(&job->shard);
    if (err == LBM_OK)
        err = lbm_mapping_coarse_cluster(&job->shard, share, work_max, &node->rng, part, &job->coarse);
    part->host = node->host;
    return err;
}

void
lbm_mapping_on_coarse_ask(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__CoarseAsk *ask = message->coarse_ask;
    struct job *job = lbm_local_job(node, ask->job);
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, ask->job);
    if (job == NULL || entry == NULL || entry->coordinator != message->src ||
        (job->phase != LBM_PHASE_MAPPING && !job->was_settled))
        return;
    struct coarse_slice part;
    job->coarse.round = ask->round;
    job->coarse.until_us = node->now_us + COARSE_WAIT_US;
    if (job->phase != LBM_PHASE_MAPPING)
        lbm_mapping_remap_answers(node, job);
    if (cluster_own(node, job, ask->share, ask->work_max, &part) == LBM_OK)
        send_part(node, job, message->src, &part);
    else
        lbm_core_fail(node, LBM_E_NOMEM);
    lbm_mapping_coarse_slice_free(&part);
}

int
lbm_mapping_coarse_awaits_plan(const struct lbm_node *node, const struct job *job)
{
    return job->coarse.vertex.n != 0 && node->now_us < job->coarse.until_us;
}

static void
follow_row(struct job *job, struct lbm_vertex *vertex, uint32_t self, uint32_t to, const double *x)
{
    vertex->destination = to != self ? to : LBM_NONE;
    if (x != NULL)
        memcpy(vertex->x, x, job->shard.m * sizeof *x);
}

/* The plan for this host's clusters: it is the target of their vertices. */
static void
follow_plan(struct lbm_node *node, struct job *job, size_t n, const uint32_t *host, const double *position,
            int more)
{
    struct coarse_plan *o = &job->coarse;
    lbm_shard_touch(&job->shard);
    for (size_t i = 0; i < o->vertex.n; i++) {
        struct lbm_vertex *vertex = lbm_records_of(job, o->vertex.at[i]);
        uint32_t cluster = o->cluster.at[i];
        if (vertex == NULL || vertex->stage != LBM_STAGE_OWN)
            continue;
        if (vertex->pin != LBM_NONE)
            follow_row(job, vertex, node->host, vertex->pin, NULL);
        else if (cluster < n)
            follow_row(job, vertex, node->host, host[cluster],
                       position != NULL ? &position[(size_t)cluster * job->shard.m] : NULL);
    }
    lbm_local_queue_changed(job);
    lbm_vec_free(&o->vertex);
    lbm_vec_free(&o->cluster);
    job->is_coarse_planned = 1;
    o->more = more;
    job->ready = 0;
    job->sweeps = 0;
    job->tick_us = node->ping_us = node->now_us;
    lbm_local_ghosts_due(job, GHOSTS_ALL);
}

void
lbm_mapping_on_coarse_plan(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__CoarsePlan *plan = message->coarse_plan;
    struct job *job = lbm_local_job(node, plan->job);
    if (job == NULL || job->coarse.round != plan->round ||
        (plan->n_position != 0 && plan->n_position != plan->n_host * job->shard.m))
        return;
    if (job->phase == LBM_PHASE_MAPPING) {
        follow_plan(node, job, plan->n_host, plan->host, plan->n_position != 0 ? plan->position : NULL,
                    plan->more != 0);
    } else if (job->was_settled) {
        job->whole = plan->sum != 0 ? plan->sum : job->whole;
        lbm_mapping_remap_follow(node, job, plan->n_host, plan->host, plan->comes);
    }
}

/* ---- the coordinator asks
 * ------------------------------------------------------------------------------------- */

static enum lbm_err
append(struct coarse_slice *part, const Lbm__CoarseChunk *piece)
{
    const struct {
        struct coarse_list *to;
        const uint32_t *from;
        size_t n;
    } column[] = {{&part->work, piece->work, piece->n_work},
                  {&part->pin, piece->pin, piece->n_pin},
                  {&part->from, piece->from, piece->n_from},
                  {&part->to, piece->to, piece->n_to},
                  {&part->weight, piece->weight, piece->n_weight},
                  {&part->vertex, piece->vertex, piece->n_vertex},
                  {&part->cluster, piece->cluster, piece->n_cluster},
                  {&part->out_from, piece->out_from, piece->n_out_from},
                  {&part->out_to, piece->out_to, piece->n_out_to},
                  {&part->out_weight, piece->out_weight, piece->n_out_weight}};
    for (size_t i = 0; i < sizeof column / sizeof *column; i++) {
        struct coarse_list *to = column[i].to;
        if (lbm_vec_reserve(to, column[i].n) != LBM_OK)
            return LBM_E_NOMEM;
        if (column[i].n != 0)
            memcpy(&to->at[to->n], column[i].from, column[i].n * sizeof *to->at);
        to->n += column[i].n;
    }
    return LBM_OK;
}

void
lbm_mapping_on_coarse_slice(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__CoarseChunk *piece = message->coarse_chunk;
    struct job *job = lbm_local_job(node, piece->job);
    if (job == NULL || job->coarse.state != COARSE_ASKED || job->coarse.round != piece->round)
        return;
    for (size_t i = 0; i < job->coarse.parts.n; i++) {
        struct coarse_slice *part = &job->coarse.parts.at[i];
        if (part->host != message->src || part->is_whole)
            continue;
        if (append(part, piece) != LBM_OK) {
            lbm_core_fail(node, LBM_E_NOMEM);
            return;
        }
        part->clusters = piece->clusters;
        part->is_whole = piece->last != 0;
        if (part->is_whole)
            job->tick_us = node->now_us;
    }
}

void
lbm_mapping_coarse_end(struct job *job)
{
    if (!job->planning)
        lbm_local_free_guest(job);
    lbm_mapping_coarse_free(&job->coarse);
    job->coarse.state = COARSE_OVER;
}

static void
ask(struct lbm_node *node, struct job *job, uint32_t host, double share, uint32_t work_max)
{
    Lbm__CoarseAsk body = LBM__COARSE_ASK__INIT;
    body.job = job->id;
    body.round = job->coarse.round;
    body.share = share;
    body.work_max = work_max;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_COARSE_ASK;
    message.coarse_ask = &body;
    lbm_core_send(node, host, &message);
}

void
lbm_mapping_coarse_begin(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    uint32_t n_hosts = node->view.hosts.n;
    double n = lbm_local_load_count(node, entry),
           want = fmax(SHARES * n / n_hosts, (double)CLUSTERS_HOST * n_hosts);
    want = job->coarse.again ? fmin(n, CLUSTERS_MAX) : fmin(fmin(want, CLUSTERS_START), n / 2);
    if (n_hosts < 2 || want < 1) {
        lbm_mapping_coarse_end(job);
        return;
    }
    double heavy = ceil(WORK_RATIO * (double)lbm_local_load_whole(node, entry) / want);
    uint32_t work_max = heavy < LBM_WEIGHT_MAX ? (uint32_t)heavy : LBM_WEIGHT_MAX;
    job->coarse.state = COARSE_ASKED;
    job->coarse.round = lbm_rng_next(&node->rng) | 1;
    job->coarse.until_us = node->now_us + COARSE_WAIT_US;
    for (uint32_t p = 0; p < n_hosts && node->failed == LBM_OK; p++) {
        struct coarse_slice part = {.host = lbm_view_host(&node->view, p)};
        int waits_for = !is_unavailable(node, job, part.host) &&
                        !(job->coarse.again && lbm_membership_is_straggler(node, part.host));
        if (part.host != node->host && !waits_for)
            continue;
        if (part.host != node->host)
            ask(node, job, part.host, want / n, work_max);
        else if (cluster_own(node, job, want / n, work_max, &part) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
        if (lbm_vec_push(&job->coarse.parts, part) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    }
}

/* ---- the coordinator plans
 * ------------------------------------------------------------------------------------ */

static void
send_plan(struct lbm_node *node, const struct job *job, uint32_t to, Lbm__CoarsePlan *body)
{
    body->job = job->id;
    body->round = job->coarse.round;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_COARSE_PLAN;
    message.coarse_plan = body;
    lbm_core_send(node, to, &message);
}

/* Leave out what is not whole, or makes no sense; its host takes part in nothing then, and need not wait. */
static void
drop_parts(struct lbm_node *node, const struct job *job, struct coarse_plan *o)
{
    size_t kept = 0;
    for (size_t i = 0; i < o->parts.n; i++) {
        struct coarse_slice *part = &o->parts.at[i];
        int is_here = lbm_view_number(&node->view, part->host) != LBM_NONE;
        if (part->is_whole && is_here && lbm_mapping_coarse_slice_fits(part)) {
            o->parts.at[kept++] = *part;
            continue;
        }
        Lbm__CoarsePlan nothing = LBM__COARSE_PLAN__INIT;
        if (o->again && is_here && part->host != node->host)
            send_plan(node, job, part->host, &nothing);
        lbm_mapping_coarse_slice_free(part);
    }
    o->parts.n = kept;
}

/* The hosts whose parts are known, as the plan wants them. Errors: LBM_E_NOMEM, LBM_E_STATE (they do not make
 * a network by themselves). */
static enum lbm_err
build_hosts(struct lbm_node *node, struct job *job)
{
    const struct coarse_plan *o = &job->coarse;
    struct lbm_hosts all = {0};
    struct lbm_diag diag;
    uint32_t n = node->view.hosts.n, *number = lbm_alloc(n, sizeof *number);
    uint8_t *gone = lbm_alloc(n, 1);
    enum lbm_err err =
        number == NULL || gone == NULL ? LBM_E_NOMEM : lbm_view_build_hosts(&node->view, &all, &diag);
    if (err == LBM_OK && all.n != n)
        err = LBM_E_STATE; /* the members make no network just now: their numbers are those of before */
    for (uint32_t p = 0; p < n && err == LBM_OK; p++)
        gone[p] = 1;
    for (size_t i = 0; i < o->parts.n && err == LBM_OK; i++) {
        gone[lbm_view_number(&node->view, o->parts.at[i].host)] = 0;
        err = lbm_vec_push(&job->plan_ids, o->parts.at[i].host); /* in the order of numbers, as asked */
    }
    if (err == LBM_OK && o->parts.n < n)
        err = lbm_hosts_without(&all, gone, number, &job->plan_hosts, &diag);
    if (err == LBM_OK && o->parts.n == n) {
        job->plan_hosts = all;
        all = (struct lbm_hosts){0};
    }
    lbm_hosts_free(&all);
    free(number);
    free(gone);
    return err == LBM_OK || err == LBM_E_NOMEM ? err : LBM_E_STATE;
}

/* Which part each cluster is of: parts have the numbers that their hosts have in the plan. Owned by the
 * caller; NULL: memory. */
static uint32_t *
current_hosts(const struct coarse_plan *o, uint32_t n)
{
    uint32_t *current = lbm_alloc(n, sizeof *current), at = 0;
    for (size_t i = 0; i < o->parts.n && current != NULL; i++)
        for (uint32_t c = 0; c < o->parts.at[i].clusters; c++)
            current[at++] = (uint32_t)i;
    return current;
}

static void spread_again(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                         const struct lbm_plan *plan);

static void
plan(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct coarse_plan *o = &job->coarse;
    struct lbm_graph *g = lbm_alloc(1, sizeof *g);
    drop_parts(node, job, o);
    enum lbm_err err = g == NULL        ? LBM_E_NOMEM
                       : o->parts.n < 2 ? LBM_E_STATE
                                        : lbm_mapping_coarse_graph(o, g);
    job->guest = g;
    if (err == LBM_OK)
        err = build_hosts(node, job);
    if (err == LBM_OK && (job->plan_current = current_hosts(o, g->n)) == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK && g->n != 0) {
        o->state = COARSE_PLANNING;
        node->raise->job_plan_ask(node, job, entry, LBM_START_PLAN);
        return;
    }
    if (o->again)
        spread_again(node, job, entry, NULL);
    lbm_mapping_coarse_end(job);
    if (err == LBM_E_NOMEM)
        lbm_core_fail(node, err);
}

/* Nonzero if the clusters should stay: loads are right as they are, and J is as low as the plan's; or, in a
 * job that runs, the plan does not make loads even. */
static int
is_well_placed(const struct job *job, double imbalance, const struct lbm_plan *plan)
{
    const struct lbm_graph *g = job->guest;
    const struct lbm_hosts *h = &job->plan_hosts;
    const uint32_t *part = job->plan_current;
    uint64_t *load = lbm_alloc(h->n, sizeof *load), *limit = lbm_alloc(h->n, sizeof *limit);
    int well = load != NULL && limit != NULL && lbm_map_limits(g, h, imbalance, limit) == LBM_OK;
    if (well) {
        double hop_bytes = (double)lbm_map_hop_bytes(g, h, part);
        double planned = (double)lbm_map_hop_bytes(g, h, plan->part);
        lbm_map_loads(g, h->n, part, load);
        uint64_t over = lbm_map_excess(h->n, load, limit);
        well = over == 0 && hop_bytes <= planned;
        if (job->coarse.again) {
            lbm_map_loads(g, h->n, plan->part, load);
            well = lbm_map_excess(h->n, load, limit) >= over;
        }
    }
    free(load);
    free(limit);
    return well;
}

/* Regions and normalization are those of the plan; an anchored guest keeps its own. */
static void
take_normalization(struct lbm_node *node, struct job *job, const struct lbm_plan *plan)
{
    if (!job->normalization_fixed || job->coarse.normalized) {
        job->coarse.normalized = 1;
        lbm_affine_identity(&job->normalization, job->shard.m);
        lbm_mapping_normalization_set_regions(node, job, job->plan_ids.n, job->plan_ids.at, plan->weight);
    }
    lbm_mapping_normalization_is_new(job);
    job->normalization_fixed = 1;
    job->is_coarse_planned = 1;
}

/* Work that the plan takes from elsewhere to a host, of that number in it. */
static uint64_t
work_to(const struct job *job, const struct lbm_plan *plan, uint32_t p)
{
    uint64_t work = 0;
    for (uint32_t c = 0; c < plan->n; c++)
        work += plan->part[c] == p && job->plan_current[c] != p ? lbm_graph_work(job->guest, c) : 0;
    return work;
}

/* Where the clusters of a job that runs go; NULL: nowhere, and nobody need wait. Normalization, regions and
 * positions stay as they are. What the plan has taken the whole to be holds for what follows, if no vertex
 * was in progress to another host. */
static void
spread_again(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
             const struct lbm_plan *plan)
{
    const struct coarse_plan *o = &job->coarse;
    uint32_t n = plan != NULL ? plan->n : 0, *host = lbm_alloc(n, sizeof *host), first = 0;
    if (host == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    for (uint32_t c = 0; c < n; c++)
        host[c] = job->plan_ids.at[plan->part[c]];
    if (n != 0 && n == lbm_local_load_count(node, entry))
        job->whole = lbm_graph_total_work(job->guest);
    for (size_t i = 0; i < o->parts.n && node->failed == LBM_OK; i++) {
        const struct coarse_slice *part = &o->parts.at[i];
        Lbm__CoarsePlan body = LBM__COARSE_PLAN__INIT;
        body.n_host = plan != NULL ? part->clusters : 0;
        body.host = &host[first];
        body.comes = plan != NULL ? work_to(job, plan, (uint32_t)i) : 0;
        body.sum = job->whole;
        if (part->host != node->host)
            send_plan(node, job, part->host, &body);
        else
            lbm_mapping_remap_follow(node, job, body.n_host, body.host, body.comes);
        first += (uint32_t)body.n_host;
    }
    free(host);
}

static void
spread(struct lbm_node *node, struct job *job, struct lbm_plan *plan)
{
    struct coarse_plan *o = &job->coarse;
    int has_positions = !job->normalization_fixed || o->normalized;
    uint32_t *host = plan->part, first = 0;
    for (uint32_t c = 0; c < plan->n; c++)
        host[c] = job->plan_ids.at[plan->part[c]];
    take_normalization(node, job, plan);
    o->more = o->planned < PLANS;
    for (size_t i = 0; i < o->parts.n && node->failed == LBM_OK; i++) {
        const struct coarse_slice *part = &o->parts.at[i];
        double *position = has_positions ? &plan->x[(size_t)first * plan->m] : NULL;
        Lbm__CoarsePlan body = LBM__COARSE_PLAN__INIT;
        body.more = o->planned < PLANS;
        body.n_host = part->clusters;
        body.host = &host[first];
        body.n_position = position != NULL ? (size_t)part->clusters * plan->m : 0;
        body.position = position;
        if (part->host != node->host)
            send_plan(node, job, part->host, &body);
        else
            follow_plan(node, job, part->clusters, &host[first], position, o->planned < PLANS);
        first += part->clusters;
    }
    lbm_mapping_normalization_send_all(node, job);
}

void
lbm_mapping_coarse_planned(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                           enum lbm_err err, struct lbm_plan *plan)
{
    LBM_ASSERT(job->coarse.state == COARSE_PLANNING);
    if (err == LBM_E_NOMEM)
        lbm_core_fail(node, err);
    job->coarse.planned += !job->coarse.again;
    int is_asked = job->coarse.again ? job->was_settled : job->phase == LBM_PHASE_MAPPING;
    int moves = err == LBM_OK && is_asked && !is_well_placed(job, entry->imbalance, plan);
    if (job->coarse.again)
        spread_again(node, job, entry, moves ? plan : NULL);
    else if (moves)
        spread(node, job, plan);
    if (err == LBM_OK && job->coarse.again) {
        lbm_mapping_baseline_begin(node, job, entry);
        return;
    }
    lbm_mapping_coarse_end(job);
    if (moves && !job->coarse.again && job->coarse.planned < PLANS)
        job->coarse.state = COARSE_NONE;
}

void
lbm_mapping_coarse_continue(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct coarse_plan *o = &job->coarse;
    int are_whole = 1;
    for (size_t i = 0; i < o->parts.n; i++)
        are_whole &= o->parts.at[i].is_whole || is_unavailable(node, job, o->parts.at[i].host);
    if (o->state == COARSE_ASKED && !job->planning && (are_whole || node->now_us >= o->until_us))
        plan(node, job, entry);
}

int
lbm_mapping_coarse_waits(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct coarse_plan *o = &job->coarse;
    if ((!lbm_local_follows_regions(job, entry) && !o->more) || o->state == COARSE_OVER)
        return 0;
    if (entry->coordinator != node->host)
        return !is_unavailable(node, job, entry->coordinator);
    if (o->state == COARSE_NONE)
        lbm_mapping_coarse_begin(node, job, entry);
    lbm_mapping_coarse_continue(node, job, entry);
    return o->state != COARSE_OVER;
}
