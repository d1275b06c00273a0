/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loads that hosts may have: the bound asked where a packing keeps it, else what the packing reaches.
 *
 * Longest first puts the heaviest vertices on hosts that they fill beyond the bound, and nothing else goes
 * there. These vertices and hosts are set apart; the bound is on what is left. For the stages of a plan,
 * which may put them anywhere, their works are cut to what fills a host: all on a host by one factor. What
 * such stages find within the limits is therefore, with whole works, no fuller than longest first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/packing.h"
#include "map/problem.h"

enum { CUT_MAX = 1 << 28 }; /* largest work of a guest some of whose vertices are cut */

/* A hair for the rounding of products: 1.03 * 100 is 103. */
static const double HAIR = 1e-12;

struct item {
    uint32_t work, vertex;
    uint32_t host; /* of a heavy one */
};

enum fate {
    SHARES,
    FULL,  /* by what is pinned to it */
    TAKEN, /* by heavy vertices */
};

struct sharing {
    struct problem *p;
    double allowed;        /* 1 and the imbalance */
    double work, capacity; /* of what is left */
    double over;           /* largest load over share that a packing has, at least 1 */
    double full;           /* work for a unit of capacity that fills a host */
    double *share;         /* [hosts] work that fills each; 0: it takes nothing more */
    uint64_t *load;        /* [hosts] pinned or heavy */
    uint8_t *fate;         /* [hosts] enum fate */
    struct item *item;     /* vertices that are not pinned, heaviest first; NULL: none is heavy */
    uint32_t n_items, n_heavy;
    uint32_t n_left; /* hosts that share what is left */
};

static int
by_work_falling(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->work != y->work)
        return x->work > y->work ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static int
is_pinned(const struct lbm_graph *g, uint32_t v)
{
    return g->pin != NULL && g->pin[v] != LBM_NONE;
}

static void
set_apart(struct sharing *s, uint32_t host, enum fate fate)
{
    if (s->fate[host] == SHARES && s->p->h->capacity[host] > 0) {
        s->n_left--;
        s->capacity -= s->p->h->capacity[host];
        s->work -= (double)s->load[host];
    }
    s->fate[host] = (uint8_t)fate;
    if (s->n_left > 0)
        s->full = s->allowed * fmax(s->work, 0) / s->capacity;
}

/* ---- what is set apart --------------------------------------------------------------------------------- */

/* What is pinned to each host; those without capacity take nothing else. */
static void
count_pinned(struct sharing *s)
{
    const struct lbm_hosts *h = s->p->h;
    const struct lbm_graph *g = &s->p->g;
    s->work = (double)lbm_graph_total_work(g);
    for (uint32_t v = 0; g->pin != NULL && v < g->n; v++)
        if (is_pinned(g, v))
            s->load[g->pin[v]] += lbm_graph_work(g, v);
    for (uint32_t p = 0; p < h->n; p++) {
        s->capacity += h->capacity[p];
        s->n_left += h->capacity[p] > 0;
        if (h->capacity[p] <= 0) {
            s->fate[p] = FULL;
            s->work -= (double)s->load[p];
        }
    }
    s->full = s->allowed * s->work / s->capacity;
}

/* The vertices that are not pinned, if one of them may be heavy. */
static enum lbm_err
list_items(struct sharing *s)
{
    const struct lbm_graph *g = &s->p->g;
    double largest = 0;
    for (uint32_t p = 0; p < s->p->h->n; p++)
        largest = fmax(largest, s->fate[p] == SHARES ? s->p->h->capacity[p] : 0);
    if (lbm_graph_max_work(g) <= s->full * largest * (1 + HAIR))
        return LBM_OK;
    s->item = lbm_alloc(g->n, sizeof *s->item);
    if (s->item == NULL)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < g->n; v++)
        if (!is_pinned(g, v))
            s->item[s->n_items++] = (struct item){lbm_graph_work(g, v), v, LBM_NONE};
    qsort(s->item, s->n_items, sizeof *s->item, by_work_falling);
    return LBM_OK;
}

/* Hosts with more pinned to them than the bound allows. Value: whether there was one. */
static int
set_full_apart(struct sharing *s)
{
    const double *capacity = s->p->h->capacity;
    int any = 0;
    for (uint32_t p = 0; p < s->p->h->n && s->n_left > 1; p++)
        if (s->fate[p] == SHARES && (double)s->load[p] > s->full * capacity[p] * (1 + HAIR)) {
            set_apart(s, p, FULL);
            any = 1;
        }
    return any;
}

/* The heaviest vertex that is left, if longest first puts it where the bound is exceeded. */
static int
set_heavy_apart(struct sharing *s)
{
    const double *capacity = s->p->h->capacity;
    if (s->item == NULL || s->n_heavy == s->n_items || s->n_left <= 1)
        return 0;
    struct item *item = &s->item[s->n_heavy];
    double least = HUGE_VAL;
    for (uint32_t p = 0; p < s->p->h->n; p++) {
        double level = capacity[p] > 0 ? (double)(s->load[p] + item->work) / capacity[p] : HUGE_VAL;
        if (level < least * (1 - HAIR)) {
            least = level;
            item->host = p;
        }
    }
    if (item->work == 0 || least <= s->full * (1 + HAIR))
        return 0;
    if (s->fate[item->host] != SHARES)
        s->work -= item->work;
    s->load[item->host] += item->work;
    set_apart(s, item->host, TAKEN);
    s->n_heavy++;
    return 1;
}

/* Where nothing is left every vertex is heavy, and the least full of their hosts says what fills one. */
static void
set_shares(struct sharing *s)
{
    const struct lbm_hosts *h = s->p->h;
    double most = (double)s->p->options.load_most;
    if (s->work < 0.5) {
        s->full = HUGE_VAL;
        for (uint32_t p = 0; p < h->n; p++)
            if (s->fate[p] == TAKEN)
                s->full = fmin(s->full, (double)s->load[p] / h->capacity[p]);
        if (s->n_heavy == 0)
            s->full = 1; /* all is pinned: it is for nobody */
    }
    for (uint32_t p = 0; p < h->n; p++) {
        s->share[p] = s->full * h->capacity[p];
        if (most > 0 && s->share[p] > most)
            s->share[p] = most;
    }
}

/* ---- limits ------------------------------------------------------------------------------------------- */

static void
set_limits(const struct sharing *s, double level)
{
    struct problem *p = s->p;
    for (uint32_t q = 0; q < p->h->n; q++) {
        p->limit[q] = (uint64_t)floor(s->share[q] * level * (1 + HAIR));
        if (p->options.load_most != 0 && p->limit[q] > p->options.load_most * p->fineness)
            p->limit[q] = p->options.load_most * p->fineness;
        if (s->fate[q] == FULL)
            p->limit[q] = s->load[q];
    }
}

/* Pack with longest first, improved. In: pin, share.  Out: part, load; *n_empty of those with capacity. */
static enum lbm_err
fill(const struct sharing *s, const struct packing *k, uint32_t *n_empty)
{
    enum lbm_err err = packing_longest_first(k);
    *n_empty = 0;
    for (uint32_t q = 0; err == LBM_OK && q < k->n_hosts; q++)
        *n_empty += k->load[q] == 0 && s->p->h->capacity[q] > 0;
    return err == LBM_OK && !packing_fits(k) ? packing_improve(k) : err;
}

/* Largest load for a unit of capacity. */
static double
level_of(const struct lbm_hosts *h, const uint64_t *load)
{
    double level = 0;
    for (uint32_t p = 0; p < h->n; p++)
        if (h->capacity[p] > 0)
            level = fmax(level, (double)load[p] / h->capacity[p]);
    return level;
}

/* Limits for all vertices as they are: what is set apart joins the rest. */
static void
join(struct sharing *s)
{
    s->n_heavy = 0;
    for (uint32_t p = 0; p < s->p->h->n; p++)
        s->fate[p] = s->p->h->capacity[p] > 0 ? SHARES : FULL;
    s->full = s->allowed * (double)lbm_graph_total_work(&s->p->g) / s->capacity;
    set_shares(s);
}

/* Two packings: of what is left on the hosts that are, and of all on all. The second one is taken if it is
 * less full, which needs capacities that longest first makes little of. */
static enum lbm_err
pack(struct sharing *s, struct packing *k)
{
    struct problem *p = s->p;
    double *open = lbm_copy(s->share, p->h->n, sizeof *open);
    uint32_t *part = lbm_alloc(p->g.n, sizeof *part), empty, all_empty;
    enum lbm_err err = open == NULL || part == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t q = 0; err == LBM_OK && q < p->h->n; q++)
        open[q] = s->fate[q] == SHARES ? s->share[q] : 0;
    k->share = open;
    if (err == LBM_OK)
        err = fill(s, k, &empty);
    double level = err == LBM_OK ? level_of(p->h, k->load) : 0, over = err == LBM_OK ? packing_level(k) : 0;
    if (err == LBM_OK && s->n_left < p->h->n && over > 1 + HAIR) {
        struct packing all = *k;
        all.share = s->share;
        all.pin = p->g.pin;
        all.part = part;
        err = fill(s, &all, &all_empty);
        if (err == LBM_OK && level_of(p->h, all.load) < level * (1 - HAIR)) {
            double capacity = 0;
            for (uint32_t q = 0; q < p->h->n; q++)
                capacity += p->h->capacity[q];
            s->capacity = capacity;
            join(s);
            all.share = s->share;
            over = packing_level(&all);
            empty = all_empty;
            memcpy(p->packing, part, p->g.n * sizeof *part);
        }
    }
    if (err == LBM_OK)
        set_limits(s, s->over = fmax(over, 1));
    for (uint32_t q = 0; err == LBM_OK && q < p->h->n && empty == 0; q++)
        p->least[q] = p->h->capacity[q] > 0;
    free(open);
    free(part);
    return err;
}

/* Raise the limits to what a packing reaches if it does not keep them, and keep the packing. */
static enum lbm_err
pack_all(struct sharing *s)
{
    struct problem *p = s->p;
    uint64_t *load = lbm_alloc(p->h->n, sizeof *load);
    uint32_t *pin = lbm_alloc(p->g.n, sizeof *pin);
    p->packing = lbm_alloc(p->g.n, sizeof *p->packing);
    enum lbm_err err = load == NULL || pin == NULL || p->packing == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t v = 0; err == LBM_OK && v < p->g.n; v++)
        pin[v] = p->g.pin != NULL ? p->g.pin[v] : LBM_NONE;
    for (uint32_t i = 0; err == LBM_OK && i < s->n_heavy; i++)
        pin[s->item[i].vertex] = s->item[i].host;
    struct packing k = {
        .n = p->g.n, .work = p->g.work, .pin = pin, .n_hosts = p->h->n, .part = p->packing, .load = load};
    if (err == LBM_OK)
        err = pack(s, &k);
    free(load);
    free(pin);
    return err;
}

/* Whether any order of vertices on the host that each fills least keeps the limits. */
static int
is_fine_grained(const struct sharing *s)
{
    const struct problem *p = s->p;
    return s->n_heavy == 0 && p->options.load_most == 0 &&
           (double)lbm_graph_max_work(&p->g) * (p->h->n - 1) <= (s->allowed - 1) * s->work;
}

/* ---- heavy vertices ----------------------------------------------------------------------------------- */

/* Works are counted in smaller units where some are cut, so that the cut ones round well. */
static void
refine_unit(struct sharing *s)
{
    struct problem *p = s->p;
    uint64_t largest = s->n_heavy < s->n_items ? s->item[s->n_heavy].work : 1;
    for (uint32_t q = 0; q < p->h->n; q++)
        if (s->fate[q] != FULL && p->limit[q] > largest)
            largest = p->limit[q];
    p->fineness = largest < CUT_MAX ? (uint32_t)(CUT_MAX / largest) : 1;
}

/* In finer units; what is pinned to a full host never moves, and is its limit.  In: p->work as the guest's.
 */
static void
change_unit(const struct sharing *s)
{
    struct problem *p = s->p;
    set_limits(s, s->over * p->fineness);
    for (uint32_t q = 0; q < p->h->n; q++)
        if (s->fate[q] == FULL)
            p->limit[q] = 0;
    for (uint32_t v = 0; v < p->g.n; v++) {
        uint64_t work = (uint64_t)p->work[v] * p->fineness;
        p->work[v] = work < CUT_MAX ? (uint32_t)work : CUT_MAX;
        if (is_pinned(&p->g, v) && s->fate[p->g.pin[v]] == FULL)
            p->limit[p->g.pin[v]] += p->work[v];
    }
    p->options.load_least *= p->fineness;
}

/* One vertex's part of its host's limit. */
static void
cut(const struct sharing *s, uint32_t v, uint32_t host, uint64_t *rest)
{
    struct problem *p = s->p;
    double part = (double)p->price_work[v] * (double)p->limit[host] / (double)s->load[host];
    p->work[v] = part >= 1 ? (uint32_t)part : 1;
    rest[host] -= p->work[v] < rest[host] ? p->work[v] : rest[host];
}

/* A part of a host's limit for each vertex that is pinned there or heavy, as their works are; the last heavy
 * one gets what is left.  In: rest [hosts] scratch. */
static void
cut_on_hosts(const struct sharing *s, uint64_t *rest)
{
    struct problem *p = s->p;
    for (uint32_t q = 0; q < p->h->n; q++)
        rest[q] = p->limit[q];
    for (uint32_t v = 0; v < p->g.n; v++)
        if (is_pinned(&p->g, v) && s->fate[p->g.pin[v]] == TAKEN)
            cut(s, v, p->g.pin[v], rest);
    for (uint32_t i = 0; i < s->n_heavy; i++)
        cut(s, s->item[i].vertex, s->item[i].host, rest);
    for (uint32_t i = s->n_heavy; i-- > 0;) { /* the lightest of each host */
        p->work[s->item[i].vertex] += (uint32_t)rest[s->item[i].host];
        rest[s->item[i].host] = 0;
    }
}

static uint32_t *
copy_work(const struct lbm_graph *g)
{
    uint32_t *work = lbm_alloc(g->n, sizeof *work);
    for (uint32_t v = 0; work != NULL && v < g->n; v++)
        work[v] = lbm_graph_work(g, v);
    return work;
}

/* Works of heavy vertices, and of what is pinned to their hosts, by which they just fill these. */
static enum lbm_err
cut_heavy(struct sharing *s)
{
    struct problem *p = s->p;
    if (s->n_heavy == 0)
        return LBM_OK;
    uint64_t *rest = lbm_alloc(p->h->n, sizeof *rest);
    p->uncut = copy_work(&p->g);
    if (p->work == NULL)
        p->work = copy_work(&p->g);
    enum lbm_err err = rest == NULL || p->uncut == NULL || p->work == NULL ? LBM_E_NOMEM : LBM_OK;
    if (err == LBM_OK) {
        p->price_work = p->uncut;
        p->g.work = p->work;
        refine_unit(s);
        change_unit(s);
        cut_on_hosts(s, rest);
    }
    free(rest);
    return err;
}

/* Limits with whole works: no host is fuller than those that are set apart. */
static void
set_whole(struct sharing *s)
{
    struct problem *p = s->p;
    double level = 0;
    for (uint32_t q = 0; q < p->h->n; q++)
        if (s->fate[q] == TAKEN)
            level = fmax(level, (double)s->load[q] / p->h->capacity[q]);
    for (uint32_t q = 0; q < p->h->n; q++) {
        uint64_t most = (uint64_t)floor(level * p->h->capacity[q] * (1 + HAIR));
        p->whole[q] = s->fate[q] != FULL && most > p->limit[q] ? most : p->limit[q];
    }
}

static enum lbm_err
share(struct sharing *s)
{
    struct problem *p = s->p;
    count_pinned(s);
    while (set_full_apart(s))
        ;
    enum lbm_err err = list_items(s);
    while (err == LBM_OK && (set_heavy_apart(s) || set_full_apart(s)))
        ;
    if (err != LBM_OK)
        return err;
    set_shares(s);
    set_limits(s, 1);
    if (p->g.n > 0 && !is_fine_grained(s))
        err = pack_all(s);
    if (err == LBM_OK)
        set_whole(s);
    if (err == LBM_OK)
        err = cut_heavy(s);
    for (uint32_t q = 0; err == LBM_OK && q < p->h->n; q++)
        if (p->least[q] < p->options.load_least && p->h->capacity[q] > 0)
            p->least[q] = p->options.load_least;
    return err;
}

enum lbm_err
problem_share(struct problem *p)
{
    uint32_t n = p->h->n;
    struct sharing s = {.p = p,
                        .allowed = 1 + p->options.imbalance,
                        .over = 1,
                        .share = lbm_alloc(n, sizeof *s.share),
                        .load = lbm_alloc(n, sizeof *s.load),
                        .fate = lbm_alloc(n, 1)};
    p->limit = lbm_alloc(n, sizeof *p->limit);
    p->least = lbm_alloc(n, sizeof *p->least);
    p->whole = lbm_alloc(n, sizeof *p->whole);
    enum lbm_err err = s.share == NULL || s.load == NULL || s.fate == NULL || p->limit == NULL ||
                               p->least == NULL || p->whole == NULL
                           ? LBM_E_NOMEM
                           : share(&s);
    free(s.share);
    free(s.load);
    free(s.fate);
    free(s.item);
    return err;
}
