/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best boundary between two hosts, all else as it is: a least cut.
 * Source: Picard & Ratliff 1975 (two kinds of labels with costs for pairs are a cut). Balance is a price for
 * the work that stays on the side that gives (Everett 1963): the loads of least cuts are corners of a convex
 * hull, found by its chords. Flows go on where those for a lower price ended.
 *
 * Owns: the cut, and which corners.  What lies between two of them is found by refinement (pair.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "map/flow/flow_network.h"
#include "map/map.h"

enum {
    CHORDS_MAX = 24, /* a few are enough; each is a flow */
    CORNERS = 2,
};

static const double COSTS_MAX = 0x1p60;

struct cut {
    const struct lbm_pair *pair;
    uint32_t n;      /* members that may move */
    uint32_t *row;   /* [n] */
    uint32_t *index; /* [rows of the graph] member + 1, or 0 */
    int64_t *bias;   /* [n] cost on the first side less that on the second, edges to members left out */
    struct flow_network net;  /* the source is the first side */
    int64_t *cost;            /* [arcs] of having both ends apart */
    int64_t *left, *terminal; /* of the flow to go on from */
    double whole;             /* no member costs more than that, wherever it is */
    uint64_t least;           /* work of the lightest member: what is asked for can be met as well as that */
};

/* Where the members are. */
struct corner {
    uint8_t *second; /* [n] nonzero: on the second side */
    uint64_t load;   /* of the first side */
    int64_t cost;
};

/* ---- the network --------------------------------------------------------------------------------------- */

static int
is_second(const struct cut *c, uint32_t i)
{
    return c->pair->part[c->row[i]] == c->pair->b;
}

/* The member at the other end of a direction of i's row, if this is where their edge is counted: at the lower
 * one; LBM_NONE if it is not, *outside: the other end is no member. */
static uint32_t
partner_of(const struct cut *c, uint32_t i, uint64_t e, int *outside)
{
    uint32_t u = c->pair->g->target[e], k = u < c->pair->g->n ? c->index[u] : 0;
    *outside = k == 0;
    return k > i + 1 ? k - 1 : LBM_NONE;
}

static enum lbm_err
list_members(struct cut *c)
{
    const struct lbm_pair *pair = c->pair;
    c->row = lbm_alloc(pair->n_members, sizeof *c->row);
    c->index = lbm_alloc(pair->g->n, sizeof *c->index);
    c->bias = lbm_alloc(pair->n_members, sizeof *c->bias);
    c->terminal = lbm_alloc(pair->n_members, sizeof *c->terminal);
    if (c->row == NULL || c->index == NULL || c->bias == NULL || c->terminal == NULL)
        return LBM_E_NOMEM;
    for (uint32_t i = 0; i < pair->n_members; i++)
        if (pair->fixed == NULL || !pair->fixed[pair->member[i]]) {
            uint64_t work = lbm_graph_work(pair->g, pair->member[i]);
            c->least = c->n == 0 || work < c->least ? work : c->least;
            c->row[c->n++] = pair->member[i];
            c->index[pair->member[i]] = c->n;
        }
    return flow_network_make(&c->net, c->n);
}

/* Bias of members, and how many arcs each has. */
static void
weigh(struct cut *c)
{
    const struct lbm_pair *pair = c->pair;
    const struct lbm_graph *g = pair->g;
    const uint32_t *near_a = lbm_dist_row(pair->h, pair->a), *near_b = lbm_dist_row(pair->h, pair->b);
    for (uint32_t i = 0; i < c->n; i++) {
        for (uint64_t e = g->offset[c->row[i]]; e < g->offset[c->row[i] + 1]; e++) {
            int64_t weight = (int64_t)lbm_graph_weight(g, e) * LBM_PAIR_PRICE_PARTS;
            uint32_t r = pair->part[g->target[e]];
            int outside;
            uint32_t k = partner_of(c, i, e, &outside);
            if (outside)
                c->bias[i] += weight * ((int64_t)near_a[r] - (int64_t)near_b[r]);
            else if (k != LBM_NONE) {
                c->net.offset[i + 1]++;
                c->net.offset[k + 1]++;
            }
        }
        c->bias[i] += is_second(c, i) ? pair->stay[c->row[i]] : -pair->stay[c->row[i]];
    }
}

static enum lbm_err
build(struct cut *c)
{
    const struct lbm_pair *pair = c->pair;
    int64_t apart = (int64_t)lbm_dist(pair->h, pair->a, pair->b) * LBM_PAIR_PRICE_PARTS;
    enum lbm_err err = list_members(c);
    if (err != LBM_OK)
        return err;
    weigh(c);
    if ((err = flow_network_room(&c->net)) != LBM_OK)
        return err;
    for (uint32_t i = 0; i < c->n; i++)
        for (uint64_t e = pair->g->offset[c->row[i]]; e < pair->g->offset[c->row[i] + 1]; e++) {
            int outside;
            uint32_t k = partner_of(c, i, e, &outside);
            if (k != LBM_NONE)
                flow_network_join(&c->net, i, k, apart * (int64_t)lbm_graph_weight(pair->g, e));
        }
    uint32_t arcs = c->net.offset[c->n];
    c->cost = lbm_copy(c->net.left, arcs, sizeof *c->cost);
    c->left = lbm_copy(c->net.left, arcs, sizeof *c->left);
    if (c->cost == NULL || c->left == NULL)
        return LBM_E_NOMEM;
    for (uint32_t i = 0; i < c->n; i++) {
        double all = fabs((double)c->bias[i]);
        for (uint32_t e = c->net.offset[i]; e < c->net.offset[i + 1]; e++)
            all += (double)c->cost[e];
        c->whole = fmax(c->whole, all + 1);
        c->terminal[i] = -c->bias[i];
    }
    return LBM_OK;
}

/* Whether all costs of the members, at any price, are far from what 63 bits hold. */
static int
has_large_costs(const struct lbm_pair *pair)
{
    const uint32_t *near_a = lbm_dist_row(pair->h, pair->a), *near_b = lbm_dist_row(pair->h, pair->b);
    double sum = 0, farthest = 1;
    for (uint32_t r = 0; r < pair->h->n; r++)
        farthest = fmax(farthest, fmax((double)near_a[r], (double)near_b[r]));
    for (uint32_t i = 0; i < pair->n_members; i++) {
        uint32_t v = pair->member[i];
        sum += (double)pair->stay[v];
        for (uint64_t e = pair->g->offset[v]; e < pair->g->offset[v + 1]; e++)
            sum += (double)lbm_graph_weight(pair->g, e) * farthest * LBM_PAIR_PRICE_PARTS;
    }
    return sum * (double)(pair->n_members + 1) > COSTS_MAX;
}

static void
cut_free(struct cut *c)
{
    free(c->row);
    free(c->index);
    free(c->bias);
    free(c->terminal);
    free(c->cost);
    free(c->left);
    flow_network_free(&c->net);
}

/* ---- corners ------------------------------------------------------------------------------------------- */

/* Load and cost of what corner->second says. */
static void
measure(const struct cut *c, struct corner *corner)
{
    corner->load = c->pair->load[0];
    corner->cost = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        uint64_t work = lbm_graph_work(c->pair->g, c->row[i]);
        int second = corner->second[i];
        if (second != is_second(c, i))
            corner->load += second ? -work : work;
        corner->cost += second ? 0 : c->bias[i];
        for (uint32_t e = c->net.offset[i]; e < c->net.offset[i + 1]; e++)
            if (c->net.target[e] > i && corner->second[c->net.target[e]] != second)
                corner->cost += c->cost[e];
    }
}

/* What a member costs more on the first side at a price for work. */
static int64_t
charge(const struct cut *c, uint32_t i, double price)
{
    double cost = price * lbm_graph_work(c->pair->g, c->row[i]);
    return llround(fmin(fmax(cost, -2 * c->whole), 2 * c->whole));
}

/* The least cut at a price of work on the first side, no lower than the one of the flow that is kept. */
static void
solve(struct cut *c, double price, double kept, struct corner *out)
{
    memcpy(c->net.left, c->left, c->net.offset[c->n] * sizeof *c->left);
    for (uint32_t i = 0; i < c->n; i++)
        c->net.terminal[i] = c->terminal[i] - (charge(c, i, price) - charge(c, i, kept));
    flow_network_flow(&c->net);
    for (uint32_t i = 0; i < c->n; i++)
        out->second[i] = c->net.to_sink[i] != LBM_NONE;
    measure(c, out);
}

/* Go on from here: a flow remains one if more may go to the sink. */
static void
keep(struct cut *c)
{
    memcpy(c->left, c->net.left, c->net.offset[c->n] * sizeof *c->left);
    memcpy(c->terminal, c->net.terminal, c->n * sizeof *c->terminal);
}

static void
copy_corner(const struct cut *c, struct corner *to, const struct corner *from)
{
    memcpy(to->second, from->second, c->n);
    to->load = from->load;
    to->cost = from->cost;
}

/* Between the corner with more than `limit` on the first side and one with no more: the two of these that are
 * next to each other on the hull. The flow of the first is kept, at that price. */
static void
approach(struct cut *c, uint64_t limit, double kept, struct corner *heavy, struct corner *light,
         struct corner *scratch)
{
    for (int i = 0; i < CHORDS_MAX && light->load < heavy->load; i++) {
        double slope = (double)(light->cost - heavy->cost) / (double)(heavy->load - light->load);
        if (slope < kept)
            return; /* rounding */
        solve(c, slope, kept, scratch);
        double saves =
            (double)(heavy->cost - scratch->cost) + slope * ((double)heavy->load - (double)scratch->load);
        if (scratch->load >= heavy->load || scratch->load <= light->load || saves < 0.5)
            return;
        if (scratch->load > limit) {
            keep(c);
            kept = slope;
            copy_corner(c, heavy, scratch);
        } else {
            copy_corner(c, light, scratch);
        }
    }
}

/* Corners on both sides of the limits, or one that keeps them, or the one at the highest price: then that is
 * how far balance goes (*limit). Returns how many. */
static int
find_corners(struct cut *c, uint64_t limit[2], struct corner corner[CORNERS + 1])
{
    const struct lbm_pair *pair = c->pair;
    uint64_t all = pair->load[0] + pair->load[1], least = all > limit[1] ? all - limit[1] : 0;
    struct corner *heavy = &corner[0], *light = &corner[1], *scratch = &corner[CORNERS];
    double enough = 2 * c->whole, highest = pair->escalation > 0 ? fmin(pair->escalation, enough) : enough;
    solve(c, 0, 0, heavy);
    if (heavy->load > limit[0]) {
        keep(c);
        solve(c, highest, 0, light);
        if (light->load > limit[0]) {
            copy_corner(c, heavy, light);
            limit[0] = light->load < pair->load[0] ? light->load : pair->load[0];
            return 1;
        }
        approach(c, limit[0], 0, heavy, light, scratch);
    } else if (heavy->load < least) {
        copy_corner(c, light, heavy);
        for (uint32_t i = 0; i < c->n; i++)
            c->terminal[i] -= charge(c, i, -enough);
        solve(c, -enough, -enough, heavy);
        if (heavy->load < least) {
            copy_corner(c, light, heavy);
            return 1;
        }
        keep(c);
        approach(c, least - 1, -enough, heavy, light, scratch);
    } else {
        return 1;
    }
    return light->load != heavy->load ? CORNERS : 1;
}

/* ---- what comes of it ---------------------------------------------------------------------------------- */

static void
apply(const struct cut *c, const uint8_t *second)
{
    for (uint32_t i = 0; i < c->n; i++)
        c->pair->part[c->row[i]] = second[i] ? c->pair->b : c->pair->a;
}

/* Refine from a corner; current [rows] is where rows were before. */
static enum lbm_err
finish(const struct cut *c, const uint64_t limit[2], const uint32_t *current, struct lbm_rng *rng,
       uint32_t *moved, struct corner *corner)
{
    struct lbm_pair pair = *c->pair;
    uint32_t n_moved;
    int64_t gain;
    apply(c, corner->second);
    pair.load[0] = corner->load;
    pair.load[1] = c->pair->load[0] + c->pair->load[1] - corner->load;
    pair.limit[0] = limit[0];
    pair.limit[1] = limit[1];
    pair.current = current;
    pair.shift = 0;
    enum lbm_err err = lbm_pair_refine(&pair, rng, &gain, moved, &n_moved);
    for (uint32_t i = 0; i < c->n; i++)
        corner->second[i] = pair.part[c->row[i]] == pair.b;
    corner->load = pair.load[0];
    corner->cost -= err == LBM_OK ? gain : 0;
    for (uint32_t i = 0; i < c->n; i++)
        pair.part[c->row[i]] = current[c->row[i]];
    return err;
}

static uint64_t
excess(const struct lbm_pair *pair, const uint64_t limit[2], const struct corner *corner)
{
    uint64_t load[2] = {corner->load, pair->load[0] + pair->load[1] - corner->load};
    return lbm_map_excess(2, load, limit);
}

/* a is better than b: in balance, or in cost. */
static int
is_better(const struct lbm_pair *pair, const uint64_t limit[2], const struct corner *a,
          const struct corner *b)
{
    uint64_t over_a = excess(pair, limit, a), over_b = excess(pair, limit, b);
    return over_a != over_b ? over_a < over_b : a->cost < b->cost;
}

/* Take the corner; cost: of what was before. Returns what J is less by. */
static int64_t
take(const struct cut *c, struct lbm_pair *pair, const struct corner *best, int64_t cost, uint32_t *moved,
     uint32_t *n_moved)
{
    int64_t stay = 0;
    *n_moved = 0;
    for (uint32_t i = 0; i < c->n; i++)
        if (best->second[i] != is_second(c, i)) {
            stay += pair->stay[c->row[i]];
            moved[(*n_moved)++] = c->row[i];
        }
    apply(c, best->second);
    pair->load[1] = pair->load[0] + pair->load[1] - best->load;
    pair->load[0] = best->load;
    return (cost - best->cost + stay) / LBM_PAIR_PRICE_PARTS;
}

/* A side is fuller than its limit by more than has to be, and than it was before. Who is to give the shift
 * has to get nothing. */
static int
overflows(const struct cut *c, const uint64_t limit[2], const struct corner *corner)
{
    const uint64_t *before = c->pair->load;
    uint64_t load[2] = {corner->load, before[0] + before[1] - corner->load};
    uint64_t most = c->pair->limit[0] + (c->pair->shift == 0 ? c->least : 0);
    return (load[0] > most && load[0] > before[0]) || (load[1] > limit[1] + c->least && load[1] > before[1]);
}

/* The best of n corners, or what was before if none is better, refined as well: hosts that are both too full
 * gain by being one, and no row leads back from there. What must go at any price is shifted without a cut if
 * that finds no way: both have no boundary in common, or corners are far apart. */
static enum lbm_err
choose(const struct cut *c, struct lbm_pair *pair, const uint64_t limit[2], struct corner corner[CORNERS + 1],
       int n, const uint32_t *current, struct lbm_rng *rng, int64_t *gain, uint32_t *moved, uint32_t *n_moved)
{
    const struct corner *best = &corner[n > 1 && is_better(pair, limit, &corner[1], &corner[0])];
    struct corner *before = &corner[CORNERS];
    for (uint32_t i = 0; i < c->n; i++)
        before->second[i] = (uint8_t)is_second(c, i);
    measure(c, before);
    int64_t cost = before->cost;
    if (!is_better(pair, limit, best, before) || overflows(c, limit, best)) {
        enum lbm_err err = finish(c, limit, current, rng, moved, before);
        if (err != LBM_OK)
            return err;
        best = before;
    }
    *gain = 0;
    *n_moved = 0;
    int is_refused = overflows(c, limit, best);
    if (pair->shift != 0 && pair->escalation <= 0 && (is_refused || best->load >= pair->load[0]))
        return lbm_pair_refine(pair, rng, gain, moved, n_moved);
    if (!is_refused)
        *gain = take(c, pair, best, cost, moved, n_moved);
    return LBM_OK;
}

/* What each side may have after the shift. Where the second one gets more than its limit, the first keeps the
 * last part of the shift that is less than a row: else a little more would be too much than before. */
static void
set_limits(const struct cut *c, uint64_t limit[2])
{
    const struct lbm_pair *pair = c->pair;
    uint64_t left = pair->load[0] > pair->shift ? pair->load[0] - pair->shift : 0,
             come = pair->load[1] + pair->shift;
    limit[0] = pair->shift != 0 && left < pair->limit[0] ? left : pair->limit[0];
    limit[1] = pair->limit[1];
    if (pair->shift != 0 && come > limit[1]) {
        limit[0] += c->least != 0 ? c->least - 1 : 0;
        limit[1] = come;
    }
}

static enum lbm_err
run(struct cut *c, struct lbm_pair *pair, struct lbm_rng *rng, int64_t *gain, uint32_t *moved,
    uint32_t *n_moved)
{
    uint64_t limit[2];
    struct corner corner[CORNERS + 1] = {{0}};
    uint32_t *current = lbm_copy(pair->part, pair->g->n, sizeof *current);
    enum lbm_err err = current != NULL ? build(c) : LBM_E_NOMEM;
    for (int i = 0; i < CORNERS + 1; i++)
        if ((corner[i].second = lbm_alloc(c->n, 1)) == NULL)
            err = LBM_E_NOMEM;
    set_limits(c, limit);
    int n = err == LBM_OK ? find_corners(c, limit, corner) : 0;
    for (int i = 0; i < n && err == LBM_OK; i++)
        err = finish(c, limit, current, rng, moved, &corner[i]);
    if (err == LBM_OK)
        err = choose(c, pair, limit, corner, n, current, rng, gain, moved, n_moved);
    for (int i = 0; i < CORNERS + 1; i++)
        free(corner[i].second);
    free(current);
    return err;
}

enum lbm_err
lbm_pair_cut(struct lbm_pair *pair, struct lbm_rng *rng, int64_t *gain, uint32_t *moved, uint32_t *n_moved)
{
    LBM_ASSERT(pair->a != pair->b && pair->room == 0 && pair->current == NULL && pair->stay != NULL);
    int is_limited =
        pair->most != NULL && (pair->most[0] < pair->n_members || pair->most[1] < pair->n_members);
    if (is_limited || has_large_costs(pair))
        return lbm_pair_refine(pair, rng, gain, moved, n_moved);
    struct cut cut = {.pair = pair};
    enum lbm_err err = run(&cut, pair, rng, gain, moved, n_moved);
    cut_free(&cut);
    return err;
}
