/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Annealed remapping between neighbours: one vertex at a time goes to the host of a neighbour, also if J
 * rises a little, less and less so. Source: Metropolis et al. 1953, Kirkpatrick et al. 1983. Only
 * vertices at a boundary are drawn; most others could not move. */
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "map/internal.h"

enum {
    STEPS = 400,        /* of temperature, at most */
    STEP_MIN = 256,     /* draws at one temperature, at least */
    DRAWS_STOP = 65536, /* between questions whether to stop */
    QUANTILE_BITS = 12, /* of the table of logarithms */
    QUANTILES = 1 << QUANTILE_BITS,
    LINK_BITS = 4, /* one draw of 2^4 tries a linked host, not one of a neighbour */
};

/* Weight of the work over a limit, in vertices z of mean weight, against the energy: STRICTNESS (z^2 + z). */
static const double STRICTNESS = 2;

static const double DEGREE = 6; /* of the guest on which temperature 1 is one edge */

/* A host that a vertex may go to. */
struct offer {
    uint32_t to;   /* LBM_NONE: none */
    uint32_t sole; /* whether all foreign neighbours are there */
    int64_t gain;
};

struct spot {
    uint32_t foreign;   /* edges to other hosts */
    uint32_t place;     /* in boundary; LBM_NONE: not there */
    struct offer known; /* while no neighbour moves; most draws are refused, so that is long */
};

struct annealer {
    const struct mapping *m;
    uint64_t *load;     /* [hosts] */
    struct spot *spot;  /* [n] */
    uint32_t *boundary; /* vertices that have foreign neighbours, and are not pinned */
    uint32_t n_boundary;
    int64_t away;               /* sum of stay of vertices that are not at current */
    double bytes_unit;          /* energy of one hop-byte */
    double work_unit;           /* of one unit of work in mean vertices */
    double quantile[QUANTILES]; /* of the exponential distribution: -log of a uniform number */
};

static void
enlist(struct annealer *a, uint32_t v)
{
    if (a->spot[v].place != LBM_NONE || mapping_pinned(a->m, v))
        return;
    a->spot[v].place = a->n_boundary;
    a->boundary[a->n_boundary++] = v;
}

static void
dismiss(struct annealer *a, uint32_t v)
{
    uint32_t hole = a->spot[v].place;
    if (hole == LBM_NONE)
        return;
    uint32_t last = a->boundary[--a->n_boundary];
    a->boundary[hole] = last;
    a->spot[last].place = hole;
    a->spot[v].place = LBM_NONE;
}

static void
move(struct annealer *a, uint32_t v, uint32_t to)
{
    const struct lbm_graph *g = a->m->g;
    uint32_t *part = a->m->part, from = part[v], foreign = 0;
    part[v] = to;
    a->load[from] -= lbm_graph_work(g, v);
    a->load[to] += lbm_graph_work(g, v);
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        uint32_t u = g->target[e], r = part[u];
        struct spot *s = &a->spot[u];
        s->known.to = LBM_NONE;
        foreign += r != to;
        if (r == from) {
            if (s->foreign++ == 0)
                enlist(a, u);
        } else if (r == to && --s->foreign == 0) {
            dismiss(a, u);
        }
    }
    a->spot[v].foreign = foreign;
    a->spot[v].known.to = LBM_NONE;
    if (foreign == 0)
        dismiss(a, v);
}

static double
penalty(const struct annealer *a, uint32_t host, uint64_t load)
{
    uint64_t limit = a->m->limit[host], least = a->m->least != NULL ? a->m->least[host] : 0;
    if (load <= limit && load >= least)
        return 0;
    double z = (double)(load > limit ? load - limit : least - load) * a->work_unit;
    return STRICTNESS * (z * z + z);
}

/* The host of the next foreign neighbour after a random one. */
static uint32_t
pick_foreign(const struct annealer *a, uint32_t v, uint32_t random)
{
    const struct lbm_graph *g = a->m->g;
    const uint32_t *part = a->m->part, *target = &g->target[g->offset[v]], p = part[v];
    uint32_t degree = (uint32_t)(g->offset[v + 1] - g->offset[v]), i = (random * (uint64_t)degree) >> 16;
    while (part[target[i]] == p)
        i = i + 1 < degree ? i + 1 : 0;
    return part[target[i]];
}

/* Current, or else a host linked to the vertex's own; LBM_NONE: none. */
static uint32_t
pick_linked(const struct annealer *a, uint32_t v, uint32_t random)
{
    const struct lbm_hosts *h = a->m->h;
    uint32_t p = a->m->part[v], links = h->offset[p + 1] - h->offset[p];
    if (a->m->current != NULL && a->m->current[v] != LBM_NONE && a->m->current[v] != p)
        return a->m->current[v];
    return links > 0 ? h->target[h->offset[p] + (uint32_t)(((uint64_t)random * links) >> 16)] : LBM_NONE;
}

/* With the gain as lbm_map_gain counts it. */
static struct offer
appraise(const struct annealer *a, uint32_t v, uint32_t q)
{
    const struct lbm_graph *g = a->m->g;
    const struct lbm_hosts *h = a->m->h;
    const uint32_t *part = a->m->part, p = part[v];
    const uint32_t *here = &h->dist[(size_t)p * h->n], *there = &h->dist[(size_t)q * h->n];
    uint32_t others = 0;
    int64_t gain = 0;
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        uint32_t r = part[g->target[e]];
        gain += (int64_t)lbm_graph_weight(g, e) * ((int64_t)here[r] - (int64_t)there[r]);
        others += (r != p) & (r != q);
    }
    return (struct offer){q, others == 0, gain};
}

/* To a foreign neighbour's host, or once in a while to a linked one. */
static struct offer
find_offer(struct annealer *a, uint32_t v, uint64_t random)
{
    struct offer *known = &a->spot[v].known;
    uint32_t q = LBM_NONE;
    if ((random >> 16 & ((1 << LINK_BITS) - 1)) == 0)
        q = pick_linked(a, v, random & 0xffff);
    if (q != LBM_NONE)
        return appraise(a, v, q);
    if (known->to != LBM_NONE && known->sole)
        return *known;
    q = pick_foreign(a, v, random & 0xffff);
    if (known->to != q)
        *known = appraise(a, v, q);
    return *known;
}

/* What a move adds to the stay of what is away. */
static int64_t
departure(const struct mapping *m, uint32_t v, uint32_t p, uint32_t q)
{
    if (m->current == NULL || m->current[v] == LBM_NONE)
        return 0;
    return m->current[v] == p ? m->stay[v] : m->current[v] == q ? -m->stay[v] : 0;
}

/* One draw at a temperature. */
static void
draw(struct annealer *a, double temperature, struct lbm_rng *rng)
{
    uint64_t random = lbm_rng_next(rng);
    uint32_t v = a->boundary[((random >> 32) * a->n_boundary) >> 32];
    struct offer offer = find_offer(a, v, random);
    uint32_t p = a->m->part[v], q = offer.to;
    uint64_t work = lbm_graph_work(a->m->g, v);
    double energy = -(double)offer.gain * a->bytes_unit;
    int64_t more = departure(a->m, v, p, q);
    if (more != 0) {
        int64_t price = mapping_price(a->m, a->away + more) - mapping_price(a->m, a->away);
        energy += (double)price * a->bytes_unit / LBM_PAIR_PRICE_PARTS;
    }
    energy += penalty(a, q, a->load[q] + work) - penalty(a, q, a->load[q]);
    energy += penalty(a, p, a->load[p] - work) - penalty(a, p, a->load[p]);
    if (energy > temperature * a->quantile[random >> (16 + LINK_BITS) & (QUANTILES - 1)])
        return;
    a->away += more;
    move(a, v, q);
}

static enum lbm_err
annealer_open(struct annealer *a, const struct mapping *m)
{
    const struct lbm_graph *g = m->g;
    *a = (struct annealer){.m = m,
                           .load = lbm_alloc(m->h->n, sizeof *a->load),
                           .spot = lbm_alloc(g->n, sizeof *a->spot),
                           .boundary = lbm_alloc(g->n, sizeof *a->boundary)};
    if (a->load == NULL || a->spot == NULL || a->boundary == NULL)
        return LBM_E_NOMEM;
    lbm_map_loads(g, m->h->n, m->part, a->load);
    a->away = mapping_away(m);
    double weight = 0, work = 0, directions = (double)lbm_graph_directions(g);
    for (uint32_t v = 0; v < g->n; v++) {
        work += lbm_graph_work(g, v);
        a->spot[v] = (struct spot){.place = LBM_NONE, .known.to = LBM_NONE};
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
            weight += lbm_graph_weight(g, e);
            a->spot[v].foreign += m->part[g->target[e]] != m->part[v];
        }
        if (a->spot[v].foreign != 0)
            enlist(a, v);
    }
    uint32_t nearest = UINT32_MAX;
    for (uint32_t p = 0; p < m->h->n; p++)
        for (uint32_t q = 0; q < p; q++)
            nearest = lbm_dist(m->h, p, q) < nearest ? lbm_dist(m->h, p, q) : nearest;
    if (weight > 0)
        a->bytes_unit = sqrt(DEGREE * directions * g->n) / (weight * nearest);
    if (work > 0)
        a->work_unit = g->n / work;
    for (int i = 0; i < QUANTILES; i++)
        a->quantile[i] = -log((i + 0.5) / QUANTILES);
    return LBM_OK;
}

enum lbm_err
map_anneal(const struct mapping *m, const struct cooling *how, struct lbm_rng *rng)
{
    LBM_ASSERT(how->hot >= how->cold && how->cold > 0);
    struct annealer a;
    enum lbm_err err = annealer_open(&a, m);
    uint64_t steps = how->draws / STEP_MIN + 1 < STEPS ? how->draws / STEP_MIN + 1 : STEPS, since = 0;
    for (uint64_t i = 0; i < steps && err == LBM_OK; i++) {
        double temperature = how->hot * pow(how->cold / how->hot, steps > 1 ? (double)i / (steps - 1) : 1);
        for (uint64_t k = 0; k < how->draws / steps && a.n_boundary > 0; k++)
            draw(&a, temperature, rng);
        since += how->draws / steps;
        if (since >= DRAWS_STOP && mapping_stopped(m))
            break;
        since = since >= DRAWS_STOP ? 0 : since;
    }
    free(a.load);
    free(a.spot);
    free(a.boundary);
    return err;
}
