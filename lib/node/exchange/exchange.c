/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one exchange round moves: the share of generalized dimension exchange where a side is over its
 * limit (XL95), and pair refinement of the boundary, settled together (protocol.md section 13). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/exchange/decision.h"
#include "node/exchange/exchange.h"
#include "node/exchange/internal.h"
#include "node/local/local.h"
#include "node/migration/migration.h"
#include "node/records/records.h"

/* The number of a host in view->hosts. */
static uint32_t
number_of(const struct lbm_node *node, uint32_t host, uint32_t otherwise)
{
    uint32_t number = lbm_view_number(&node->view, host);
    return number != LBM_NONE ? number : otherwise;
}

/* ---- the two sides as one patch ------------------------------------------------------------------------ */

/* Rows 0 .. n_own-1 are this host's, then the partner's band, then whatever else they touch. */
struct joint {
    struct lbm_graph g;
    LBM_VEC(uint32_t) part; /* host number of each row and ghost */
    uint32_t n_own;
    struct lbm_idmap other; /* ids of band rows and ghosts to indices */
};

static void
joint_free(struct joint *joint)
{
    lbm_graph_free(&joint->g);
    lbm_vec_free(&joint->part);
    lbm_idmap_free(&joint->other);
}

/* Index of a vertex in the joint patch, as a ghost at `where` if it is not there yet; LBM_NONE: memory. */
static uint32_t
joint_index(struct joint *joint, const struct lbm_shard *shard, uint32_t id, uint32_t where)
{
    const struct lbm_vertex *own = lbm_shard_vertex(shard, id);
    if (own != NULL && own->row != LBM_NONE)
        return own->row;
    uint32_t at = lbm_idmap_get(&joint->other, id);
    if (at != LBM_NONE)
        return at;
    at = (uint32_t)joint->part.n;
    if (lbm_vec_push(&joint->part, where) != LBM_OK || lbm_idmap_put(&joint->other, id, at) != LBM_OK)
        return LBM_NONE;
    return at;
}

static enum lbm_err
joint_alloc(struct joint *joint, const struct lbm_shard *shard, const Lbm__Records *band)
{
    joint->n_own = shard->patch.g.n;
    joint->g.n = joint->n_own + (uint32_t)band->n_vertex;
    uint64_t directions = lbm_graph_directions(&shard->patch.g) + band->n_neighbour;
    joint->g.offset = lbm_alloc((size_t)joint->g.n + 1, sizeof *joint->g.offset);
    joint->g.target = lbm_alloc(directions, sizeof *joint->g.target);
    joint->g.weight = lbm_alloc(directions, sizeof *joint->g.weight);
    joint->g.work = lbm_alloc(joint->g.n, sizeof *joint->g.work);
    int short_of = joint->g.offset == NULL || joint->g.target == NULL || joint->g.weight == NULL ||
                   joint->g.work == NULL || lbm_vec_reserve(&joint->part, joint->g.n) != LBM_OK;
    return short_of ? LBM_E_NOMEM : LBM_OK;
}

/* Marks [rows of the patch] of those that may move. Owned by the caller; NULL: memory is short. */
static uint8_t *
mark_rows(const struct lbm_shard *shard, const slot_list *own_band)
{
    uint8_t *marks = lbm_alloc(shard->patch.g.n, 1);
    for (size_t i = 0; marks != NULL && i < own_band->n; i++)
        marks[shard->vertices.at[own_band->at[i]].row] = 1;
    return marks;
}

/* Only rows that may move get their neighbours: nobody asks for those of the others. */
static enum lbm_err
joint_build(struct lbm_node *node, struct lbm_shard *shard, const slot_list *own_band,
            const Lbm__Records *band, uint32_t partner, struct joint *joint)
{
    const struct lbm_patch *patch = &shard->patch;
    uint32_t self = lbm_view_number(&node->view, node->host);
    uint8_t *may_go = mark_rows(shard, own_band);
    enum lbm_err err = may_go != NULL ? joint_alloc(joint, shard, band) : LBM_E_NOMEM;
    for (uint32_t row = 0; err == LBM_OK && row < joint->n_own; row++)
        err = lbm_vec_push(&joint->part, self);
    for (size_t i = 0; err == LBM_OK && i < band->n_vertex; i++) {
        err = lbm_vec_push(&joint->part, partner);
        if (err == LBM_OK)
            err = lbm_idmap_put(&joint->other, band->vertex[i], (uint32_t)joint->part.n - 1);
    }
    uint64_t at = 0;
    for (uint32_t row = 0; err == LBM_OK && row < joint->n_own; row++) {
        const struct lbm_vertex *vertex = &shard->vertices.at[patch->vertex[row]];
        joint->g.work[row] = vertex->work;
        for (uint32_t k = 0; may_go[row] && k < vertex->degree; k++) {
            uint32_t where = number_of(node, lbm_shard_where(shard, vertex->half[k].to), self);
            uint32_t to = joint_index(joint, shard, vertex->half[k].to, where);
            err = to == LBM_NONE ? LBM_E_NOMEM : err;
            joint->g.target[at] = to;
            joint->g.weight[at++] = vertex->half[k].weight;
        }
        joint->g.offset[row + 1] = at;
    }
    size_t half = 0;
    for (size_t i = 0; err == LBM_OK && i < band->n_vertex; i++) {
        joint->g.work[joint->n_own + i] = band->work[i];
        for (uint32_t k = 0; k < band->degree[i]; k++, half++) {
            uint32_t where = number_of(node, band->neighbour_host[half], partner);
            uint32_t to = joint_index(joint, shard, band->neighbour[half], where);
            err = to == LBM_NONE ? LBM_E_NOMEM : err;
            joint->g.target[at] = to;
            joint->g.weight[at++] = band->weight[half];
        }
        joint->g.offset[joint->n_own + i + 1] = at;
    }
    free(may_go);
    return err;
}

/* ---- the decision -------------------------------------------------------------------------------------- */

/* What balance may cost for a usual vertex at first, in parts of a mean edge, and how that grows
 * with each round. */
static const double escalation_first = 0.02, escalation_growth = 1.25;

static uint64_t
excess(uint64_t load, uint64_t limit)
{
    return load > limit ? load - limit : 0;
}

/* Of an edge, in units of gain. */
static double
mean_edge(const struct lbm_job_entry *entry)
{
    return entry->edges != 0 ? (double)entry->weight / (double)entry->edges * LBM_PAIR_PRICE_PARTS : 0;
}

/* Gain that a move must bring besides balance. What ran well before is not disturbed for little: a
 * fraction of a mean edge, for moving costs as well, or what an operator says it costs. */
static uint32_t
move_price(const struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry,
           uint32_t links)
{
    double paid = lbm_migration_throttle_price(node, job, links);
    if (!job->was_settled && paid <= 0)
        return 0;
    double price = paid > 0 ? paid * LBM_PAIR_PRICE_PARTS : mean_edge(entry) / MOVES_PER_EDGE;
    return price < UINT32_MAX ? (uint32_t)price : UINT32_MAX;
}

/* What a host that is over its limit gives another one of a job that had settled, so that a host that comes
 * or goes moves little: as much as the other has room for; on the way to room further off half of what is too
 * much, and the last of it at once, or all that takes no more than half of that room, since others may send
 * to it as well; nothing to where no room is. */
static uint64_t
give_on(const struct lbm_node *node, const struct job *job, uint64_t over, uint64_t half, uint64_t room,
        int is_nearer, uint64_t beyond)
{
    uint64_t least = job->shard.work_least != LBM_NONE ? job->shard.work_least : 1;
    if (room >= least || !is_nearer)
        return over < room ? over : room;
    if (over >= least && 2 * over <= beyond)
        return over;
    uint64_t few = (lbm_exchange_spares(node, job) ? GIVE_ON_SPARING : GIVE_ON_AT_ONCE) * least,
             part = half > few ? half : few;
    return over < least ? least : over < part ? over : part;
}

/* Nonzero if some host may have a vertex of that work, with or without others: what fits nowhere would be
 * passed on for ever. */
static int
fits_somewhere(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t work)
{
    for (uint32_t p = 0; p < node->view.hosts.n; p++)
        if (work <= lbm_local_limit(node, entry, lbm_view_host(&node->view, p)))
            return 1;
    return 0;
}

/* Nonzero if one of both sides may pass on what it has too much of to the other, which is nearer to room. */
static int
may_pass_on(const struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry,
            const Lbm__PairAccept *accept, int is_giver)
{
    uint32_t own_hops = job->rounds.residual.best.hops, least = job->shard.work_least;
    if (is_giver ? accept->residual_hops >= own_hops : own_hops >= accept->residual_hops)
        return 0;
    if (!is_giver) {
        least = accept->round_kind == ROUND_KIND_NUMBERS ? accept->least : LBM_NONE;
        for (size_t i = 0; i < accept->band->n_work; i++)
            least = accept->band->work[i] < least ? accept->band->work[i] : least;
    }
    return least == LBM_NONE || fits_somewhere(node, entry, least);
}

/* Nonzero while what only brings a surplus nearer to room is carried out. Room is not where it was said to be
 * for long, so passing on is given up earlier than balancing. */
static int
is_patient_to_pass(const struct lbm_node *node, const struct job *job)
{
    uint64_t sweeps = job->rounds.sweep - job->rounds.woken;
    return sweeps <= 2 * (PATIENT_SWEEPS + (uint64_t)node->view.diameter);
}

/* What each side may have after the round, as it says itself: one that has settled since it started leaves a
 * margin free, one that has not does not. Were both taken for what this host is, each would find too much
 * where the other finds room, and what one gives the other would give back for ever. */
static uint64_t
own_limit(const struct lbm_node *node, const struct job *job)
{
    return lbm_exchange_limit(node, job, node->host, lbm_local_load(job), job->was_settled);
}

static uint64_t
partner_limit(const struct lbm_node *node, const struct job *job, uint32_t partner,
              const Lbm__PairAccept *accept)
{
    return lbm_exchange_limit(node, job, partner, accept->load, !accept->first);
}

/* What must leave the side that is over its limit: GDE's half of the difference; see above once the job had
 * settled, and it is known where room is. */
static int64_t
due_share(const struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry,
          uint32_t partner, const Lbm__PairAccept *accept)
{
    uint64_t own = lbm_local_load(job), theirs = accept->load;
    uint64_t most = own_limit(node, job), their_most = partner_limit(node, job, partner, accept);
    uint64_t own_over = excess(own, most), their_over = excess(theirs, their_most);
    if ((own_over == 0 && their_over == 0) || node->raise->mapping_remap_holds(node, job))
        return 0;
    int passes = own_over != 0 && may_pass_on(node, job, entry, accept, 1);
    int takes = their_over != 0 && may_pass_on(node, job, entry, accept, 0);
    int64_t share = lbm_gde_share(own, lbm_local_target(node, entry, node->host), theirs,
                                  lbm_local_target(node, entry, partner), 1, 2);
    uint64_t half = (uint64_t)(share > 0 ? share : -share);
    int room_is_known =
        job->rounds.residual.best.hops < RESIDUAL_HOPS_MAX || accept->residual_hops < RESIDUAL_HOPS_MAX;
    if (job->was_settled && room_is_known && is_patient_to_pass(node, job)) {
        if (own_over != 0 && (their_over == 0 || passes))
            return (int64_t)give_on(node, job, own_over, half, excess(their_most, theirs), passes,
                                    accept->residual_load);
        if (their_over != 0 && (own_over == 0 || takes))
            return -(int64_t)give_on(node, job, their_over, half, excess(most, own), takes,
                                     lbm_exchange_round_residual(node, job, partner).room);
        return 0;
    }
    if (share != 0)
        return share;
    int64_t one = job->shard.work_least != LBM_NONE ? job->shard.work_least : 1;
    return passes ? one : takes ? -one : 0;
}

/* Nonzero if the host that gives is over its limit, and the other one nearer to a host with room. */
static int
is_passed_on(const struct lbm_node *node, const struct job *job, uint32_t partner,
             const Lbm__PairAccept *accept, int64_t share)
{
    int is_over = share > 0 ? lbm_local_load(job) > own_limit(node, job)
                            : accept->load > partner_limit(node, job, partner, accept);
    return is_over && may_pass_on(node, job, lbm_view_job(&node->view, job->id), accept, share > 0);
}

/* How uneven two loads are, relative to what is due to each. */
static double
squares(const uint64_t load[2], const double target[2])
{
    double due_a = target[0] > 0 ? target[0] : 1, due_b = target[1] > 0 ? target[1] : 1;
    return (double)load[0] * (double)load[0] / due_a + (double)load[1] * (double)load[1] / due_b;
}

/* The longer rounds have gone on, the more a move must gain: stale views cannot keep a job awake. What
 * edges gain by a move is a matter of what the way between both costs. */
static int64_t
least_gain(const struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry,
           uint32_t partner)
{
    uint64_t sweeps = job->rounds.sweep - job->rounds.woken;
    uint32_t self = lbm_view_number(&node->view, node->host), other = number_of(node, partner, self);
    double mean = entry->edges != 0 ? (double)entry->weight / (double)entry->edges : 1;
    double way = fmax(1, lbm_dist(&node->view.hosts, self, other));
    return sweeps <= PATIENT_SWEEPS ? 1 : 1 + (int64_t)(mean * way * (double)(sweeps - PATIENT_SWEEPS) / 4);
}

/* Is what refinement found to be carried out? `left`: the loads of this host and its partner after it. */
static int
is_worth_it(const struct lbm_node *node, const struct job *job, uint32_t partner,
            const Lbm__PairAccept *accept, int64_t share, const uint64_t left[2], int64_t gain)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    uint64_t load[2] = {lbm_local_load(job), accept->load};
    uint64_t limit[2] = {own_limit(node, job), partner_limit(node, job, partner, accept)};
    double target[2] = {lbm_local_target(node, entry, node->host), lbm_local_target(node, entry, partner)};
    uint64_t over_before = excess(load[0], limit[0]) + excess(load[1], limit[1]);
    uint64_t over_after = excess(left[0], limit[0]) + excess(left[1], limit[1]);
    /* All other shares lower the sum of squares: so they come to an end however coarse the weights are. Those
     * that only pass on bring what is too much nearer to where there is room, and make no more of it; since
     * room is not where it was said to be for long, they are given up earlier. */
    int goes_on = over_after <= over_before && is_passed_on(node, job, partner, accept, share);
    uint64_t sweeps = job->rounds.sweep - job->rounds.woken;
    int may_pass = goes_on && is_patient_to_pass(node, job);
    int may_even = squares(left, target) < squares(load, target) && sweeps <= PATIENT_SHARES;
    return (share != 0 && (may_even || may_pass)) || over_after < over_before ||
           (gain > 0 && gain >= least_gain(node, job, entry, partner));
}

/* Why a side gives, by the loads before and after; share: what it is due to give, which may only be passed
 * on. */
static enum lbm_move_reason
reason_of(int side, int64_t share, int passes_on, const uint64_t load[2], const uint64_t left[2],
          const uint64_t limit[2])
{
    uint64_t before = excess(load[0], limit[0]) + excess(load[1], limit[1]);
    uint64_t after = excess(left[0], limit[0]) + excess(left[1], limit[1]);
    if (load[side] <= limit[side] || (share <= 0 && after >= before))
        return LBM_MOVE_BOUNDARY;
    return passes_on && after >= before ? LBM_MOVE_PASS : LBM_MOVE_BALANCE;
}

static enum lbm_err
list_moves(const struct lbm_node *node, struct joint *joint, const struct lbm_shard *shard,
           const Lbm__Records *band, const struct lbm_pair *pair, const uint32_t *moved, uint32_t n_moved,
           struct exchange *out)
{
    double *gain = lbm_alloc(n_moved, sizeof *gain);
    enum lbm_err err = gain != NULL ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK)
        lbm_migration_move_gains(&joint->g, &node->view.hosts, joint->part.at, pair->a, pair->b, moved,
                                 n_moved, gain);
    for (uint32_t i = 0; i < n_moved && err == LBM_OK; i++) {
        int gives = moved[i] < joint->n_own;
        err = gives ? lbm_vec_push(&out->give, shard->vertices.at[shard->patch.vertex[moved[i]]].id)
                    : lbm_vec_push(&out->take, band->vertex[moved[i] - joint->n_own]);
        if (err == LBM_OK)
            err = gives ? lbm_vec_push(&out->give_gain, gain[i]) : lbm_vec_push(&out->take_gain, gain[i]);
    }
    free(gain);
    return err;
}

/* Nonzero if some vertex of the side that is to give may move just now: else nobody can offer anything. */
static int
has_to_give(const struct lbm_pair *pair)
{
    for (uint32_t i = 0; i < pair->n_members; i++)
        if (pair->part[pair->member[i]] == pair->a)
            return 1;
    return 0;
}

/* Balance is not bought at once at any price: at first only where it costs little, for a boundary that is
 * wide or falls in anyway, and the more the longer one of both has too much. So what is too much leaves a
 * host where that is cheapest, though no host knows what the others would have to pay. The price begins again
 * with each change from outside, and between two of them a few times when both were level. When changes end,
 * so do rounds that wait for a better offer, however often hosts wake one another. */
static double
escalated_price(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry, uint32_t partner,
                const struct lbm_pair *pair)
{
    struct unchanged *met = lbm_exchange_pair_unchanged(node, &job->rounds, partner);
    int is_late = job->rounds.sweep - job->rounds.woken > PATIENT_SWEEPS;
    if (met == NULL)
        return 0;
    if (met->change_clock != job->rounds.change_clock) {
        met->change_clock = job->rounds.change_clock;
        met->escalated = met->restarts = 0;
    }
    if (pair->shift == 0 && met->escalated != 0 && met->restarts < ESCALATION_RESTARTS) {
        met->escalated = 0;
        met->restarts++;
    }
    if (pair->shift == 0 || is_late || met->escalated >= ESCALATIONS || !has_to_give(pair))
        return 0;
    lbm_termination_disturb(&job->rounds.termination); /* it is not over yet */
    double escalation = escalation_first * mean_edge(entry) * pow(escalation_growth, met->escalated++);
    return (pair->price + escalation) / lbm_local_load_mean(node, entry);
}

/* How the boundary of a job that had settled changes: as little as balance allows, for as much as possible.
 */
static enum lbm_err
cut_boundary(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry, uint32_t partner,
             int is_netted, struct lbm_pair *pair, int64_t *gain, uint32_t *moved, uint32_t *n_moved)
{
    int64_t *stay = lbm_alloc(pair->g->n, sizeof *stay);
    double price = pair->price / lbm_local_load_mean(node, entry);
    if (stay == NULL)
        return LBM_E_NOMEM;
    for (uint32_t i = 0; i < pair->n_members; i++)
        stay[pair->member[i]] = (int64_t)(price * lbm_graph_work(pair->g, pair->member[i]));
    pair->stay = stay;
    pair->stall_limit = CUT_STALL_ROUNDS;
    pair->escalation = is_netted ? 0 : escalated_price(node, job, entry, partner, pair);
    enum lbm_err err = lbm_pair_cut(pair, &node->rng, gain, moved, n_moved);
    free(stay);
    return err;
}

static enum lbm_err
settle_boundary(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry, uint32_t partner,
                int is_netted, struct lbm_pair *pair, int64_t *gain, uint32_t *moved, uint32_t *n_moved)
{
    return lbm_exchange_is_granular(node, job)
               ? cut_boundary(node, job, entry, partner, is_netted, pair, gain, moved, n_moved)
               : lbm_pair_refine(pair, &node->rng, gain, moved, n_moved);
}

int64_t
lbm_exchange_net(struct lbm_node *node, struct job *job, uint32_t partner, const Lbm__PairAccept *accept,
                 int64_t outstanding)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    int64_t share = due_share(node, job, entry, partner, accept);
    uint64_t left[2] = {lbm_local_load(job) - (uint64_t)share, accept->load + (uint64_t)share};
    if (share == 0 || !is_worth_it(node, job, partner, accept, share, left, 0))
        return outstanding;
    int64_t sum = outstanding + share;
    uint64_t amount = (uint64_t)(sum > 0 ? sum : -sum);
    uint64_t least = sum > 0 ? job->shard.work_least : accept->least;
    uint64_t all = amount + (uint64_t)(sum > 0 ? lbm_exchange_netting_given(&job->rounds, partner) : 0);
    uint64_t free = sum > 0 ? lbm_exchange_movable(node, job, all) : accept->free;
    if (sum == 0 || (all <= free && amount >= least))
        return sum;
    lbm_exchange_netting_broken(node, &job->rounds, partner);
    return outstanding;
}

/* Loads before what was netted moves; what both are to have after it is no overload. */
static void
undo_netting(int64_t outstanding, uint64_t load[2], uint64_t limit[2])
{
    for (int side = 0; side < 2; side++)
        limit[side] = load[side] > limit[side] ? load[side] : limit[side];
    load[0] = outstanding > 0 || load[0] > (uint64_t)-outstanding ? load[0] + (uint64_t)outstanding : 0;
    load[1] = outstanding < 0 || load[1] > (uint64_t)outstanding ? load[1] - (uint64_t)outstanding : 0;
}

enum lbm_err
lbm_exchange_decide(struct lbm_node *node, struct job *job, uint32_t partner_host,
                    const Lbm__PairAccept *accept, int64_t outstanding, struct exchange *out)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    const Lbm__Records *band = accept->band;
    uint32_t self = lbm_view_number(&node->view, node->host);
    uint32_t partner = lbm_view_number(&node->view, partner_host);
    struct lbm_shard *shard = &job->shard;
    slot_list own_band = {0};
    struct joint joint = {0};
    uint32_t *member = NULL, *moved = NULL;
    enum lbm_err err = lbm_exchange_band(node, job, partner_host, &own_band);
    if (err == LBM_OK)
        err = joint_build(node, shard, &own_band, band, partner, &joint);
    uint32_t n_members = (uint32_t)(own_band.n + band->n_vertex);
    if (err == LBM_OK) {
        member = lbm_alloc(n_members, sizeof *member);
        moved = lbm_alloc(n_members, sizeof *moved);
        err = member == NULL || moved == NULL ? LBM_E_NOMEM : LBM_OK;
    }
    if (err == LBM_OK) {
        for (size_t i = 0; i < own_band.n; i++)
            member[i] = shard->vertices.at[own_band.at[i]].row;
        for (uint32_t i = 0; i < band->n_vertex; i++)
            member[own_band.n + i] = joint.n_own + i;
        int64_t share = outstanding != 0 ? outstanding : due_share(node, job, entry, partner_host, accept);
        int swap = share < 0; /* the pair's first side is the one that gives */
        uint64_t load[2] = {lbm_local_load(job), accept->load};
        uint64_t limit[2] = {own_limit(node, job), partner_limit(node, job, partner_host, accept)};
        if (outstanding != 0)
            undo_netting(outstanding, load, limit);
        uint32_t room[2] = {lbm_migration_throttle_budget(node, job),
                            accept->room != 0 ? accept->room - 1 : UINT32_MAX};
        const uint32_t most[2] = {room[swap], room[!swap]};
        struct lbm_pair pair = {.g = &joint.g,
                                .h = &node->view.hosts,
                                .part = joint.part.at,
                                .a = swap ? partner : self,
                                .b = swap ? self : partner,
                                .member = member,
                                .n_members = n_members,
                                .load = {load[swap], load[!swap]},
                                .limit = {limit[swap], limit[!swap]},
                                .shift = (uint64_t)(share < 0 ? -share : share),
                                .stall_limit = 100,
                                .price =
                                    move_price(node, job, entry, lbm_dist(&node->view.hosts, self, partner)),
                                .most = most};
        int64_t gain = 0;
        uint32_t n_moved = 0;
        err =
            settle_boundary(node, job, entry, partner_host, outstanding != 0, &pair, &gain, moved, &n_moved);
        uint64_t left[2] = {pair.load[swap], pair.load[!swap]};
        int is_due = outstanding != 0 ? left[swap] < load[swap] && load[swap] - left[swap] <= pair.shift
                                      : is_worth_it(node, job, partner_host, accept, share, left, gain);
        if (err == LBM_OK && is_due)
            err = list_moves(node, &joint, shard, band, &pair, moved, n_moved, out);
        int passes_on = outstanding != 0 || is_passed_on(node, job, partner_host, accept, share);
        out->give_reason = reason_of(0, share, passes_on, load, left, limit);
        out->take_reason = reason_of(1, -share, passes_on, load, left, limit);
    }
    free(member);
    free(moved);
    joint_free(&joint);
    lbm_vec_free(&own_band);
    return err;
}
