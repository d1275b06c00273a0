/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fiduccia-Mattheyses refinement of one pair of hosts, third hosts included in every gain.
 * Source: Fiduccia & Mattheyses 1982 (moves one at a time, each row once, back to the best prefix);
 * Touches the members and their neighbours, nothing else of the graph or the patch. */
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "map/map.h"
#include "map/refine/gain_queue.h"

struct lbm_pair_workspace {
    uint32_t rows;
    uint32_t known;           /* mark of rows whose gain this round knows and which have not moved */
    uint32_t *mark;           /* [rows] that, or known + 1: has moved; else nothing is known */
    int64_t *gain;            /* [rows] of members: decrease of J by moving to the other side */
    uint32_t *place;          /* [rows] in its queue */
    struct gain_entry *entry; /* [entries] memory of both queues */
    size_t entries;
};

/* What a round would return to: the better of two such states is kept. */
struct standing {
    uint64_t excess;
    int64_t worth; /* gain less the price of the moves */
    double fullest;
};

struct round {
    struct lbm_pair *pair;
    struct lbm_pair_workspace *ws;
    struct lbm_rng *rng;
    struct gain_queue queue[2]; /* rows of each side that may move to the other */
    uint32_t side[2];           /* the two hosts */
    uint64_t limit[2];
    int64_t parts; /* of J in a unit of gain */
    int64_t gain;
    uint32_t *moved; /* in order */
    uint32_t n_moved;
    uint32_t n_shifted; /* of them: the shift, which has no price */
    uint32_t most[2];   /* that many more may leave each side */
};

struct lbm_pair_workspace *
lbm_pair_workspace_new(uint32_t rows)
{
    struct lbm_pair_workspace *ws = lbm_alloc(1, sizeof *ws);
    if (ws == NULL)
        return NULL;
    ws->rows = rows;
    ws->mark = lbm_alloc(rows, sizeof *ws->mark);
    ws->gain = lbm_alloc(rows, sizeof *ws->gain);
    ws->place = lbm_alloc(rows, sizeof *ws->place);
    if (ws->mark == NULL || ws->gain == NULL || ws->place == NULL) {
        lbm_pair_workspace_free(ws);
        return NULL;
    }
    for (uint32_t v = 0; v < rows; v++)
        ws->place[v] = LBM_NONE;
    return ws;
}

void
lbm_pair_workspace_free(struct lbm_pair_workspace *ws)
{
    if (ws == NULL)
        return;
    free(ws->mark);
    free(ws->gain);
    free(ws->place);
    free(ws->entry);
    free(ws);
}

/* Nonzero if the row may move, and has not in this round. */
static int
is_free(const struct round *s, uint32_t v)
{
    const struct lbm_pair *pair = s->pair;
    if (v >= pair->g->n || pair->room == 0)
        return v < pair->g->n && s->ws->mark[v] == s->ws->known;
    return (pair->part[v] == s->side[0] || pair->part[v] == s->side[1]) &&
           s->ws->mark[v] != s->ws->known + 1 && (pair->fixed == NULL || !pair->fixed[v]);
}

static int
side_of(const struct round *s, uint32_t v)
{
    return s->pair->part[v] == s->side[1];
}

/* Load in units of its limit, which may be 0 for a host that is to be emptied. */
static double
fullness(const struct round *s, int side, uint64_t load)
{
    if (s->limit[side] == 0)
        return load == 0 ? 0 : HUGE_VAL;
    return (double)load / (double)s->limit[side];
}

static struct standing
stand(const struct round *s)
{
    double a = fullness(s, 0, s->pair->load[0]), b = fullness(s, 1, s->pair->load[1]);
    uint64_t parts = (uint64_t)s->pair->price * (s->n_moved - s->n_shifted);
    int64_t price = s->parts != 1
                        ? (int64_t)parts
                        : (int64_t)(parts / LBM_PAIR_PRICE_PARTS + (parts % LBM_PAIR_PRICE_PARTS != 0));
    uint64_t excess = lbm_map_excess(2, s->pair->load, s->limit);
    for (int i = 0; s->pair->least != NULL && i < 2; i++)
        excess += s->pair->load[i] < s->pair->least[i] ? s->pair->least[i] - s->pair->load[i] : 0;
    return (struct standing){excess, s->gain - price, a > b ? a : b};
}

/* a is better than b in balance or, at equal balance, in what it is worth. */
static int
improves(const struct standing *a, const struct standing *b)
{
    return a->excess != b->excess ? a->excess < b->excess : a->worth > b->worth;
}

/* a is as good as b, and its fuller side less full. */
static int
evens(const struct standing *a, const struct standing *b)
{
    return a->excess == b->excess && a->worth == b->worth && a->fullest < b->fullest;
}

/* Gain of a row, and whether one of its neighbours is nearer to the other side or nothing is lost. */
static int
attracted(struct round *s, uint32_t v)
{
    const struct lbm_pair *pair = s->pair;
    const struct lbm_graph *g = pair->g;
    int from = side_of(s, v), nearer = 0;
    const uint32_t *here = lbm_dist_row(pair->h, s->side[from]);
    const uint32_t *there = lbm_dist_row(pair->h, s->side[!from]);
    int64_t gain = 0;
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        uint32_t r = pair->part[g->target[e]];
        gain += (int64_t)lbm_graph_weight(g, e) * ((int64_t)here[r] - (int64_t)there[r]);
        nearer |= there[r] < here[r];
    }
    gain *= s->parts;
    if (pair->current != NULL && pair->current[v] == s->side[from])
        gain -= pair->stay[v];
    else if (pair->current != NULL && pair->current[v] == s->side[!from])
        gain += pair->stay[v];
    s->ws->gain[v] = gain;
    s->ws->mark[v] = s->ws->known;
    return nearer || gain >= 0;
}

static void
enqueue(struct round *s, uint32_t v)
{
    gain_queue_put(&s->queue[side_of(s, v)], v, s->ws->gain[v], (uint32_t)(lbm_rng_next(s->rng) >> 32));
}

/* Fill the queues with the members that have not moved. */
static void
gather(struct round *s)
{
    gain_queue_clear(&s->queue[0]);
    gain_queue_clear(&s->queue[1]);
    for (uint32_t i = 0; i < s->pair->n_members; i++) {
        uint32_t v = s->pair->member[i];
        if (is_free(s, v) && attracted(s, v))
            enqueue(s, v);
    }
}

static void
move(struct round *s, uint32_t v, int from)
{
    uint64_t work = lbm_graph_work(s->pair->g, v);
    s->pair->part[v] = s->side[!from];
    s->pair->load[from] -= work;
    s->pair->load[!from] += work;
}

/* Move v, lock it, and bring the gains of its neighbours up to date. */
static void
advance(struct round *s, uint32_t v)
{
    const struct lbm_graph *g = s->pair->g;
    int from = side_of(s, v);
    int64_t twice = 2 * s->parts * (int64_t)lbm_dist(s->pair->h, s->side[0], s->side[1]);
    s->ws->mark[v] = s->ws->known + 1;
    s->gain += s->ws->gain[v];
    s->moved[s->n_moved++] = v;
    s->most[from]--;
    move(s, v, from);
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        uint32_t u = g->target[e];
        if (!is_free(s, u))
            continue;
        /* Followers gain both ways: no longer apart, and not apart after the move. */
        if (s->ws->mark[u] == s->ws->known)
            s->ws->gain[u] += (side_of(s, u) == from ? twice : -twice) * (int64_t)lbm_graph_weight(g, e);
        else
            (void)attracted(s, u);
        enqueue(s, u);
    }
}

/* A row may move where there is room, be it not for all of it: the side that is over then has to give, so
 * that exchanges are found between sides that are full. Or it may move from a fuller side to one that stays
 * less full than that was. */
static int
fits(const struct round *s, uint32_t v, int from)
{
    uint64_t load = s->pair->load[!from];
    return load <= s->limit[!from] ||
           fullness(s, !from, load + lbm_graph_work(s->pair->g, v)) < fullness(s, from, s->pair->load[from]);
}

/* The next row to move: from an overloaded side that is the fuller; else the larger gain.
 * Value: LBM_NONE if none may move. */
static uint32_t
choose(struct round *s)
{
    struct gain_queue *queue = s->queue;
    for (int i = 0; i < 2; i++)
        while (queue[i].n > 0 && (s->most[i] == 0 || !fits(s, queue[i].at[0].row, i)))
            gain_queue_pop(&queue[i]);
    if (queue[0].n == 0 && queue[1].n == 0)
        return LBM_NONE;
    double full[2] = {fullness(s, 0, s->pair->load[0]), fullness(s, 1, s->pair->load[1])};
    int fuller = full[1] > full[0], from;
    if (queue[0].n == 0 || queue[1].n == 0)
        from = queue[0].n == 0;
    else if (full[fuller] > 1 || queue[0].at[0].gain == queue[1].at[0].gain)
        from = fuller;
    else
        from = queue[1].at[0].gain > queue[0].at[0].gain;
    return gain_queue_pop(&queue[from]);
}

/* Move the pair's shift from a to b by best gain; rows that would overshoot by more than what is missing
 * stay. Whether b has room is the caller's business: it may be a stop on the way. */
static void
shift(struct round *s)
{
    uint64_t missing = s->pair->shift;
    int every = 0; /* all members of a were offered */
    while (missing > 0 && s->most[0] > 0) {
        if (s->queue[0].n == 0 && every)
            break;
        if (s->queue[0].n == 0) {
            for (uint32_t i = 0; i < s->pair->n_members; i++)
                if (is_free(s, s->pair->member[i]) && side_of(s, s->pair->member[i]) == 0)
                    enqueue(s, s->pair->member[i]);
            every = 1;
            continue;
        }
        uint32_t v = gain_queue_pop(&s->queue[0]);
        uint64_t work = lbm_graph_work(s->pair->g, v);
        if (work > missing && work - missing > missing)
            continue;
        advance(s, v);
        missing -= work < missing ? work : missing;
    }
    if (s->limit[0] > s->pair->load[0])
        s->limit[0] = s->pair->load[0];
}

/* Move rows until `stall_limit` moves in a row did not improve, then return to the best prefix. */
static void
refine(struct round *s)
{
    struct standing best = stand(s);
    int64_t gain = s->gain;
    uint32_t kept = s->n_moved, v;
    for (uint32_t misses = 0; misses < s->pair->stall_limit && (v = choose(s)) != LBM_NONE;) {
        advance(s, v);
        struct standing now = stand(s);
        int better = improves(&now, &best);
        misses = better ? 0 : misses + 1;
        if (better || evens(&now, &best)) {
            best = now;
            gain = s->gain;
            kept = s->n_moved;
        }
    }
    while (s->n_moved > kept) {
        v = s->moved[--s->n_moved];
        move(s, v, side_of(s, v));
    }
    s->gain = gain;
}

/* Rows that a queue may have to hold. */
static size_t
room_of(const struct lbm_pair *pair)
{
    return pair->room > pair->n_members ? pair->room : pair->n_members;
}

static enum lbm_err
workspace_open(struct lbm_pair_workspace *ws, const struct lbm_pair *pair)
{
    LBM_ASSERT(ws->rows >= pair->g->n && (pair->room == 0 || pair->shift == 0));
    enum lbm_err err = lbm_reserve(&ws->entry, &ws->entries, 2 * room_of(pair), sizeof *ws->entry);
    if (err != LBM_OK)
        return err;
    ws->known += 2;
    if (ws->known < 2 || ws->known == UINT32_MAX) { /* the marks are used up: forget the old ones */
        for (uint32_t v = 0; v < ws->rows; v++)
            ws->mark[v] = 0;
        ws->known = 2;
    }
    for (uint32_t i = 0; i < pair->n_members && pair->room == 0; i++) {
        uint32_t v = pair->member[i];
        LBM_ASSERT(v < pair->g->n && (pair->part[v] == pair->a || pair->part[v] == pair->b));
        if (pair->fixed == NULL || !pair->fixed[v])
            ws->mark[v] = ws->known;
    }
    return LBM_OK;
}

enum lbm_err
lbm_pair_refine(struct lbm_pair *pair, struct lbm_rng *rng, int64_t *gain, uint32_t *moved, uint32_t *n_moved)
{
    LBM_ASSERT(pair->a != pair->b && pair->a < pair->h->n && pair->b < pair->h->n);
    struct lbm_pair_workspace *ws = pair->workspace;
    if (ws == NULL && (ws = lbm_pair_workspace_new(pair->g->n)) == NULL)
        return LBM_E_NOMEM;
    enum lbm_err err = workspace_open(ws, pair);
    if (err == LBM_OK) {
        struct round s = {.pair = pair,
                          .ws = ws,
                          .rng = rng,
                          .queue = {{ws->entry, 0, ws->place}, {ws->entry + room_of(pair), 0, ws->place}},
                          .side = {pair->a, pair->b},
                          .limit = {pair->limit[0], pair->limit[1]},
                          .most = {pair->most != NULL ? pair->most[0] : UINT32_MAX,
                                   pair->most != NULL ? pair->most[1] : UINT32_MAX},
                          .parts = pair->current != NULL ? LBM_PAIR_PRICE_PARTS : 1,
                          .moved = moved};
        gather(&s);
        if (pair->shift > 0) {
            shift(&s);
            s.n_shifted = s.n_moved;
            gather(&s); /* rows that were passed over may move again */
        }
        refine(&s);
        gain_queue_clear(&s.queue[0]);
        gain_queue_clear(&s.queue[1]);
        *gain = s.gain;
        *n_moved = s.n_moved;
    }
    if (pair->workspace == NULL)
        lbm_pair_workspace_free(ws);
    return err;
}
