/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Longest first, and exchanges after it. Loads alone count here; where vertices talk to is for others.
 * The bound on what any packing reaches is in packing_bound.c. */
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "map/packing.h"

/* Shares that are compared for a vertex, in all; beyond, light vertices go where a host is least full. */
static const uint64_t COMPARED_MAX = UINT64_C(1) << 28;

/* Moves and exchanges that are looked at, in all and for one step. */
static const uint64_t TRIED_MAX = 20000000, TRIED_STEP_MAX = 400000;

static uint32_t
work_of(const struct packing *k, uint32_t v)
{
    return k->work != NULL ? k->work[v] : 1;
}

static double
fullness(const struct packing *k, uint32_t p, uint64_t load)
{
    return k->share[p] > 0 ? (double)load / k->share[p] : 0;
}

double
packing_level(const struct packing *k)
{
    double level = 0;
    for (uint32_t p = 0; p < k->n_hosts; p++)
        level = fmax(level, fullness(k, p, k->load[p]));
    return level;
}

int
packing_fits(const struct packing *k)
{
    return packing_level(k) <= 1 + 1e-12;
}

/* ---- longest first ------------------------------------------------------------------------------------ */

struct item {
    uint32_t work, vertex;
};

static int
by_work_falling(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->work != y->work)
        return x->work > y->work ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* Hosts of one share: a heap, the least loaded first. */
struct group {
    double share;
    uint32_t first, n; /* in heap */
};

struct queue {
    const struct packing *k;
    uint32_t *heap; /* [hosts with a share] */
    struct group *group;
    uint32_t n_groups;
    struct item *item; /* those that are not pinned, heaviest first */
    uint32_t n_items;
};

/* Of two hosts, whether a is to be filled before b. */
static int
is_before(const struct queue *q, uint32_t a, uint32_t b, int of_any_share)
{
    const uint64_t *load = q->k->load;
    if (of_any_share) {
        double full_a = fullness(q->k, a, load[a]), full_b = fullness(q->k, b, load[b]);
        return full_a != full_b ? full_a < full_b : a < b;
    }
    return load[a] != load[b] ? load[a] < load[b] : a < b;
}

static void
sift_down(const struct queue *q, uint32_t *heap, uint32_t n, uint32_t at, int of_any_share)
{
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_before(q, heap[child + 1], heap[child], of_any_share))
            child++;
        if (!is_before(q, heap[child], heap[at], of_any_share))
            return;
        uint32_t host = heap[at];
        heap[at] = heap[child];
        heap[child] = host;
    }
}

static void
make_heap(const struct queue *q, uint32_t *heap, uint32_t n, int of_any_share)
{
    for (uint32_t i = n / 2; i-- > 0;)
        sift_down(q, heap, n, i, of_any_share);
}

static void
put(const struct queue *q, const struct item *item, uint32_t *heap, uint32_t n, int of_any_share)
{
    q->k->part[item->vertex] = heap[0];
    q->k->load[heap[0]] += item->work;
    sift_down(q, heap, n, 0, of_any_share);
}

/* The group whose least loaded host the item fills least; of equal ones, but for rounding, the first host. */
static const struct group *
choose_group(const struct queue *q, const struct item *item)
{
    const struct group *best = NULL;
    double least = HUGE_VAL;
    for (uint32_t i = 0; i < q->n_groups; i++) {
        const struct group *g = &q->group[i];
        double full = (double)(q->k->load[q->heap[g->first]] + item->work) / g->share;
        int is_equal = best != NULL && fabs(full - least) <= 1e-12 * least;
        if (is_equal ? q->heap[g->first] < q->heap[best->first] : full < least) {
            least = full;
            best = g;
        }
    }
    return best;
}

static void
fill(const struct queue *q)
{
    uint32_t i = 0, hosts = 0;
    for (uint32_t g = 0; g < q->n_groups; g++) {
        make_heap(q, &q->heap[q->group[g].first], q->group[g].n, 0);
        hosts += q->group[g].n;
    }
    for (; i < q->n_items && (q->n_groups == 1 || (uint64_t)i * q->n_groups < COMPARED_MAX); i++) {
        const struct group *g = choose_group(q, &q->item[i]);
        put(q, &q->item[i], &q->heap[g->first], g->n, 0);
    }
    make_heap(q, q->heap, hosts, 1);
    for (; i < q->n_items; i++)
        put(q, &q->item[i], q->heap, hosts, 1);
}

/* Pinned vertices have their hosts; the others are listed. */
static void
list_items(struct queue *q)
{
    const struct packing *k = q->k;
    int is_sorted = 1;
    for (uint32_t p = 0; p < k->n_hosts; p++)
        k->load[p] = 0;
    for (uint32_t v = 0; v < k->n; v++) {
        uint32_t work = work_of(k, v);
        if (k->pin != NULL && k->pin[v] != LBM_NONE) {
            k->part[v] = k->pin[v];
            k->load[k->pin[v]] += work;
            continue;
        }
        is_sorted &= q->n_items == 0 || q->item[q->n_items - 1].work >= work;
        q->item[q->n_items++] = (struct item){work, v};
    }
    if (!is_sorted)
        qsort(q->item, q->n_items, sizeof *q->item, by_work_falling);
}

struct host_share {
    double share;
    uint32_t host;
};

static int
by_share(const void *a, const void *b)
{
    const struct host_share *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return (x->host > y->host) - (x->host < y->host);
}

static enum lbm_err
list_groups(struct queue *q)
{
    const struct packing *k = q->k;
    struct host_share *host = lbm_alloc(k->n_hosts, sizeof *host);
    if (host == NULL)
        return LBM_E_NOMEM;
    for (uint32_t p = 0; p < k->n_hosts; p++)
        host[p] = (struct host_share){k->share[p], p};
    qsort(host, k->n_hosts, sizeof *host, by_share);
    for (uint32_t i = 0; i < k->n_hosts && host[i].share > 0; i++) {
        if (i == 0 || host[i].share < host[i - 1].share)
            q->group[q->n_groups++] = (struct group){host[i].share, i, 0};
        q->group[q->n_groups - 1].n++;
        q->heap[i] = host[i].host;
    }
    LBM_ASSERT(q->n_groups > 0);
    free(host);
    return LBM_OK;
}

enum lbm_err
packing_longest_first(const struct packing *k)
{
    struct queue q = {.k = k,
                      .heap = lbm_alloc(k->n_hosts, sizeof *q.heap),
                      .group = lbm_alloc(k->n_hosts, sizeof *q.group),
                      .item = lbm_alloc(k->n, sizeof *q.item)};
    enum lbm_err err = q.heap == NULL || q.group == NULL || q.item == NULL ? LBM_E_NOMEM : list_groups(&q);
    if (err == LBM_OK) {
        list_items(&q);
        fill(&q);
    }
    free(q.heap);
    free(q.group);
    free(q.item);
    return err;
}

/* ---- moves and exchanges ------------------------------------------------------------------------------ */

/* The vertices of each host that are not pinned. */
struct shelf {
    uint32_t *at;
    size_t n, capacity;
};

struct step {
    double level;      /* of both hosts, after it */
    size_t give, take; /* places in the shelves; take SIZE_MAX: nothing comes back */
    uint32_t to;
};

struct improver {
    const struct packing *k;
    struct shelf *shelf; /* [hosts] */
    uint64_t tried;
};

/* What remains if p gives one vertex to q, and takes none or one. */
static void
try_host(struct improver *m, uint32_t p, uint32_t q, struct step *best)
{
    const struct packing *k = m->k;
    const struct shelf *from = &m->shelf[p], *with = &m->shelf[q];
    m->tried += (uint64_t)from->n * (with->n + 1);
    for (size_t i = 0; i < from->n; i++) {
        uint64_t given = work_of(k, from->at[i]);
        for (size_t j = with->n + 1; j-- > 0;) {
            uint64_t taken = j < with->n ? work_of(k, with->at[j]) : 0;
            if (taken >= given)
                continue;
            double level =
                fmax(fullness(k, p, k->load[p] - given + taken), fullness(k, q, k->load[q] + given - taken));
            if (level < best->level)
                *best = (struct step){level, i, j < with->n ? j : SIZE_MAX, q};
        }
    }
}

static void
carry_out(struct improver *m, uint32_t p, const struct step *step, enum lbm_err *err)
{
    const struct packing *k = m->k;
    struct shelf *from = &m->shelf[p], *with = &m->shelf[step->to];
    uint32_t given = from->at[step->give], taken = LBM_NONE;
    if (step->take != SIZE_MAX) {
        taken = with->at[step->take];
        with->at[step->take] = given;
        from->at[step->give] = taken;
        k->part[taken] = p;
        k->load[p] += work_of(k, taken);
        k->load[step->to] -= work_of(k, taken);
    } else if ((*err = lbm_vec_push(with, given)) != LBM_OK) {
        return;
    } else {
        from->at[step->give] = from->at[--from->n];
    }
    k->part[given] = step->to;
    k->load[p] -= work_of(k, given);
    k->load[step->to] += work_of(k, given);
}

/* The fullest host with something to give. */
static uint32_t
fullest(const struct improver *m)
{
    uint32_t best = 0;
    for (uint32_t p = 1; p < m->k->n_hosts; p++)
        if (fullness(m->k, p, m->k->load[p]) > fullness(m->k, best, m->k->load[best]))
            best = p;
    return best;
}

static enum lbm_err
improve(struct improver *m)
{
    const struct packing *k = m->k;
    enum lbm_err err = LBM_OK;
    while (err == LBM_OK && m->tried < TRIED_MAX && !packing_fits(k)) {
        uint32_t p = fullest(m);
        uint64_t before = m->tried;
        struct step best = {.level = fullness(k, p, k->load[p])};
        double level = best.level;
        for (uint32_t q = 0; q < k->n_hosts && m->tried - before < TRIED_STEP_MAX; q++)
            if (q != p && k->share[q] > 0)
                try_host(m, p, q, &best);
        if (best.level >= level)
            break;
        carry_out(m, p, &best, &err);
    }
    return err;
}

enum lbm_err
packing_improve(const struct packing *k)
{
    struct improver m = {.k = k, .shelf = lbm_alloc(k->n_hosts, sizeof *m.shelf)};
    enum lbm_err err = m.shelf == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t v = 0; v < k->n && err == LBM_OK; v++)
        if (k->pin == NULL || k->pin[v] == LBM_NONE)
            err = lbm_vec_push(&m.shelf[k->part[v]], v);
    if (err == LBM_OK)
        err = improve(&m);
    for (uint32_t p = 0; p < k->n_hosts && m.shelf != NULL; p++)
        lbm_vec_free(&m.shelf[p]);
    free(m.shelf);
    return err;
}
