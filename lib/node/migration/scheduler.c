/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flows are carried out (RJK03 section 6): which vertices go over which link, and when. Handing them over is
 * handoff.c's; here only their targets are set.
 *
 * plain: entry after entry, in the order of the policy's rounds; the next one begins when the one before is
 * over on both sides. overlapped: an entry begins as soon as this host has what it takes, in the same order.
 * pipelined: the flows of all rounds as one, over all links in turn, as soon as there is anything to give: a
 * vertex that came may leave at once. Links that still give share what may be in flight, so that the last
 * one, which decides when it is over, does not wait for acknowledgements while the others idle. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/membership/membership.h"
#include "node/migration/internal.h"
#include "node/migration/migration.h"
#include "node/records/records.h"

/* ---- the schedule -------------------------------------------------------------------------------------- */

static enum lbm_schedule
schedule_of(const struct lbm_node *node, const struct job *job)
{
    return lbm_job_policy_schedule(&lbm_view_job(&node->view, job->id)->policy);
}

static void
add_entry(struct lbm_node *node, struct flow_computation *flow, uint32_t link, int64_t units)
{
    struct transfer_link *l = &flow->links.at[link];
    struct transfer_entry entry = {.link = link, .units = units, .left = units > 0 ? units : 0};
    if (units == 0)
        return;
    entry.ordinal = units > 0 ? ++l->out : ++l->in;
    flow->flow += units > 0 ? (uint64_t)units : 0;
    if (lbm_vec_push(&flow->entries, entry) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

void
lbm_migration_transfer_start(struct lbm_node *node, struct job *job)
{
    struct flow_computation *flow = &job->flow;
    const struct lbm_flow_computation *numbers = &flow->numbers;
    flow->entries.n = 0;
    flow->flow = 0;
    flow->started_us = flow->progress_us = node->now_us;
    flow->ask_us = node->now_us;
    const struct lbm_job_entry *job_entry = lbm_view_job(&node->view, job->id);
    flow->batch = (int64_t)fmin(LBM_BATCH_VERTICES_MAX * (double)job_entry->work / job_entry->vertices, 1e18);
    for (size_t i = 0; i < flow->links.n; i++)
        flow->links.at[i] = (struct transfer_link){.host = flow->links.at[i].host,
                                                   .life = flow->links.at[i].life,
                                                   .heard_done = flow->links.at[i].heard_done};
    if (numbers->rounds.n != 0 && schedule_of(node, job) != LBM_SCHEDULE_PIPELINED) {
        for (size_t i = 0; numbers->has_changed && i < numbers->rounds.n; i++)
            add_entry(node, flow, numbers->rounds.at[i].link, (int64_t)numbers->rounds.at[i].out);
        return;
    }
    /* What comes first: nothing that must go further is missing then. */
    for (int gives = 0; gives < 2; gives++)
        for (uint32_t i = 0; i < flow->links.n; i++) {
            int64_t units = lbm_flow_result(numbers, i);
            if ((units > 0) == gives)
                add_entry(node, flow, i, units);
        }
}

/* ---- which vertices ------------------------------------------------------------------------------------ */

static int
may_go(const struct lbm_node *node, const struct lbm_vertex *vertex)
{
    return vertex->stage == LBM_STAGE_OWN && vertex->destination == LBM_NONE && vertex->move_to == LBM_NONE &&
           vertex->pin == LBM_NONE &&
           (vertex->offered_us == 0 || node->now_us - vertex->offered_us >= REFUSED_US);
}

static int
touches(const struct lbm_shard *shard, uint32_t row, uint32_t host)
{
    const struct lbm_patch *patch = &shard->patch;
    for (uint64_t e = patch->g.offset[row]; e < patch->g.offset[row + 1]; e++)
        if (patch->g.target[e] >= patch->g.n &&
            shard->ghosts.at[patch->ghost[patch->g.target[e] - patch->g.n]].host == host)
            return 1;
    return 0;
}

/* Rows in the order in which they should go to a host: those at its boundary, or else nearest to its site,
 * then layer by layer behind them. Out: order [rows]. */
static void
order_rows(const struct lbm_node *node, const struct job *job, uint32_t host, uint8_t *seen, uint32_t *order)
{
    const struct lbm_patch *patch = &job->shard.patch;
    uint32_t n = 0, row = 0;
    for (uint32_t r = 0; r < patch->g.n; r++)
        if (touches(&job->shard, r, host)) {
            seen[r] = 1;
            order[n++] = r;
        }
    if (n == 0 && patch->g.n != 0) {
        uint32_t first = lbm_local_nearest_row(node, job, lbm_view_number(&node->view, host));
        seen[first] = 1;
        order[n++] = first;
    }
    for (uint32_t i = 0; i < patch->g.n; i++) {
        while (i == n && seen[row]) /* another component */
            row++;
        if (i == n) {
            seen[row] = 1;
            order[n++] = row;
        }
        for (uint64_t e = patch->g.offset[order[i]]; e < patch->g.offset[order[i] + 1]; e++)
            if (patch->g.target[e] < patch->g.n && !seen[patch->g.target[e]]) {
                seen[patch->g.target[e]] = 1;
                order[n++] = patch->g.target[e];
            }
    }
}

/* Choose vertices worth about `units` for the host of a link. Returns what they weigh. */
static int64_t
choose(struct lbm_node *node, struct job *job, uint32_t host, int64_t units)
{
    struct lbm_shard *shard = &job->shard;
    int64_t left = units;
    if (lbm_shard_patch(shard) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return 0;
    }
    uint32_t n = shard->patch.g.n;
    uint8_t *seen = lbm_alloc(n, 1);
    uint32_t *order = lbm_alloc(n, sizeof *order);
    if (seen == NULL || order == NULL)
        lbm_core_fail(node, LBM_E_NOMEM);
    else
        order_rows(node, job, host, seen, order);
    for (uint32_t i = 0; node->failed == LBM_OK && i < n && left > 0; i++) {
        struct lbm_vertex *vertex = &shard->vertices.at[shard->patch.vertex[order[i]]];
        if (!may_go(node, vertex) || 2 * left <= vertex->work)
            continue;
        vertex->destination = host;
        lbm_local_queue_changed(job);
        left -= vertex->work;
    }
    free(seen);
    free(order);
    return units - left;
}

/* ---- carrying out -------------------------------------------------------------------------------------- */

static struct transfer_link *
link_to(struct flow_computation *flow, uint32_t host)
{
    for (size_t l = 0; l < flow->links.n; l++)
        if (flow->links.at[l].host == host)
            return &flow->links.at[l];
    return NULL;
}

/* Vertices of each link that are on their way, or wait for it; what else may go. Those that were refused
 * stay.
 */
static void
look_round(const struct lbm_node *node, struct job *job)
{
    struct flow_computation *flow = &job->flow;
    flow->available = 0;
    for (size_t l = 0; l < flow->links.n; l++)
        flow->links.at[l].leaving = 0;
    for (size_t i = 0; i < job->shard.vertices.n; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[i];
        if (vertex->stage != LBM_STAGE_OWN && vertex->stage != LBM_STAGE_OUT)
            continue;
        int is_refused = vertex->stage == LBM_STAGE_OWN && vertex->offered_us != 0 &&
                         node->now_us - vertex->offered_us < REFUSED_US;
        if (is_refused)
            vertex->destination = LBM_NONE;
        uint32_t to = vertex->stage == LBM_STAGE_OUT ? vertex->peer
                      : vertex->move_to != LBM_NONE  ? vertex->move_to
                                                     : vertex->destination;
        struct transfer_link *link = to != LBM_NONE ? link_to(flow, to) : NULL;
        if (link != NULL)
            link->leaving++;
        else if (may_go(node, vertex))
            flow->available += vertex->work;
    }
}

static void
tell(struct lbm_node *node, struct job *job, uint32_t link, int ask)
{
    Lbm__Transfer transfer = LBM__TRANSFER__INIT;
    transfer.job = job->id;
    transfer.topology = job->flow.run.topology;
    transfer.policy_view = job->flow.run.policy_view;
    transfer.done = job->flow.links.at[link].done;
    transfer.ask = ask != 0;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_TRANSFER;
    message.transfer = &transfer;
    lbm_core_send_lossy(node, job->flow.links.at[link].host, &message);
}

/* Nonzero once what comes by other hosts' entries has come. */
static int
all_came(const struct flow_computation *flow)
{
    for (size_t i = 0; i < flow->entries.n; i++)
        if (flow->entries.at[i].units < 0 && !flow->entries.at[i].over)
            return 0;
    return 1;
}

/* Choose everything an entry takes; what is not there by now will not come. */
static void
begin_entry(struct lbm_node *node, struct job *job, struct transfer_entry *entry)
{
    entry->has_started = 1;
    job->flow.available -= (uint64_t)choose(node, job, job->flow.links.at[entry->link].host, entry->left);
    job->flow.links.at[entry->link].leaving++;
    entry->left = 0;
}

static void
begin_plain(struct lbm_node *node, struct job *job)
{
    struct flow_computation *flow = &job->flow;
    for (size_t i = 0; i < flow->entries.n; i++) {
        struct transfer_entry *entry = &flow->entries.at[i];
        if (entry->over)
            continue;
        if (entry->units > 0 && !entry->has_started)
            begin_entry(node, job, entry);
        return;
    }
}

static void
begin_overlapped(struct lbm_node *node, struct job *job)
{
    struct flow_computation *flow = &job->flow;
    for (size_t i = 0; i < flow->entries.n && node->failed == LBM_OK; i++) {
        struct transfer_entry *entry = &flow->entries.at[i];
        if (entry->over || entry->has_started || entry->units < 0)
            continue;
        if (flow->available < (uint64_t)entry->left && !all_came(flow))
            return;
        begin_entry(node, job, entry);
    }
}

static void
begin_pipelined(struct lbm_node *node, struct job *job)
{
    struct flow_computation *flow = &job->flow;
    uint64_t there = flow->available, open = 0;
    int came = all_came(flow);
    for (size_t i = 0; i < flow->entries.n; i++)
        open += flow->entries.at[i].left > 0;
    for (size_t i = 0; i < flow->entries.n && node->failed == LBM_OK; i++) {
        struct transfer_entry *entry = &flow->entries.at[i];
        if (entry->left <= 0)
            continue;
        struct transfer_link *link = &flow->links.at[entry->link];
        int64_t share = (int64_t)(there / open) + 1, part = entry->left < share ? entry->left : share;
        if (!came && part < entry->left && part < flow->batch && link->leaving != 0)
            continue; /* the link has something to do: wait for a batch */
        int64_t chosen = there != 0 ? choose(node, job, link->host, part) : 0;
        entry->has_started = 1;
        entry->left -= chosen;
        link->leaving += chosen != 0;
        if (chosen == 0 && came && (part == entry->left || there == 0))
            entry->left = 0; /* nothing is left that fits */
    }
}

/* Entries that are over; tells the partners. Returns nonzero once all are. */
static int
finish_entries(struct lbm_node *node, struct job *job)
{
    struct flow_computation *flow = &job->flow;
    int all = 1, asks = node->now_us >= flow->ask_us;
    for (uint32_t l = 0; l < flow->links.n; l++) {
        struct transfer_link *link = &flow->links.at[l];
        const struct lbm_member *member = lbm_view_member(&node->view, link->host);
        uint32_t before = link->done;
        int waits = 0;
        link->is_lost |= member == NULL || member->state != LBM_MEMBER_ACTIVE ||
                         lbm_membership_is_unavailable(node, link->host);
        for (size_t i = 0; i < flow->entries.n; i++) {
            struct transfer_entry *entry = &flow->entries.at[i];
            if (entry->link != l || entry->over)
                continue;
            if (entry->units > 0)
                entry->over = link->is_lost || (entry->has_started && entry->left <= 0 && link->leaving == 0);
            else
                entry->over = link->is_lost || link->heard_done >= entry->ordinal;
            if (entry->over && entry->units > 0)
                link->done = entry->ordinal;
            waits |= !entry->over && entry->units < 0;
            all &= entry->over;
        }
        if (link->done != before || (waits && asks))
            tell(node, job, l, waits);
    }
    if (asks)
        flow->ask_us = node->now_us + FLOW_REPEAT_US;
    return all;
}

uint32_t
lbm_migration_transfer_window(const struct lbm_node *node, const struct job *job)
{
    const struct flow_computation *flow = &job->flow;
    uint32_t giving = 0, batches = HANDOFF_BATCHES;
    if (job->remap.follows)
        return 1 + FOLLOW_VERTICES / (uint32_t)(job->queue.lists.n + 1);
    if (flow->state == FLOW_TRANSFER && schedule_of(node, job) == LBM_SCHEDULE_PIPELINED)
        for (size_t i = 0; i < flow->entries.n; i++)
            giving += flow->entries.at[i].units > 0 && !flow->entries.at[i].over;
    else if (flow->state != FLOW_TRANSFER)
        giving = (uint32_t)job->queue.lists.n;
    if (giving != 0 && PIPELINE_BATCHES / giving > HANDOFF_BATCHES)
        batches = PIPELINE_BATCHES / giving;
    return batches * LBM_BATCH_VERTICES_MAX;
}

void
lbm_migration_transfer_stop(struct job *job)
{
    for (size_t i = 0; i < job->shard.vertices.n; i++)
        if (job->shard.vertices.at[i].stage == LBM_STAGE_OWN)
            job->shard.vertices.at[i].destination = LBM_NONE;
    job->flow.entries.n = 0;
}

int
lbm_migration_transfer_timer(struct lbm_node *node, struct job *job)
{
    static void (*const begin[LBM_SCHEDULE_COUNT])(struct lbm_node *, struct job *) = {
        [LBM_SCHEDULE_PLAIN] = begin_plain,
        [LBM_SCHEDULE_OVERLAPPED] = begin_overlapped,
        [LBM_SCHEDULE_PIPELINED] = begin_pipelined,
    };
    struct flow_computation *flow = &job->flow;
    if (flow->seen != job->shard.version) {
        flow->seen = job->shard.version;
        flow->progress_us = node->now_us;
    }
    look_round(node, job);
    int over = finish_entries(node, job);
    if (!over) {
        begin[schedule_of(node, job)](node, job);
        lbm_migration_queue_pump(node, job);
    }
    if (over || node->now_us - flow->progress_us >= TRANSFER_TIMEOUT_US) {
        flow->transfer_us = flow->entries.n != 0 ? (uint64_t)(node->now_us - flow->started_us) : 0;
        lbm_migration_transfer_stop(job);
        return 1;
    }
    return 0;
}

void
lbm_migration_on_transfer(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Transfer *heard = message->transfer;
    struct job *job = lbm_local_job(node, heard->job);
    if (job == NULL || job->flow.run.topology != heard->topology ||
        job->flow.run.policy_view != heard->policy_view)
        return;
    struct flow_computation *flow = &job->flow;
    for (uint32_t l = 0; l < flow->links.n; l++) {
        struct transfer_link *link = &flow->links.at[l];
        if (link->host != message->src)
            continue;
        if (heard->done > link->heard_done) {
            link->heard_done = heard->done;
            flow->progress_us = node->now_us;
            if (flow->state == FLOW_TRANSFER)
                flow->tick_us = node->now_us;
        }
        if (heard->ask && (flow->state == FLOW_NONE || link->done != 0)) {
            if (flow->state == FLOW_NONE)
                link->done = link->out; /* nothing more of this run will come */
            tell(node, job, l, 0);
        }
    }
}
