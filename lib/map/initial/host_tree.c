/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "map/initial/host_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum {
    POLES_MAX = 64, /* every pair of hosts of a group up to this size is tried as the ends of an axis */
    POLES_FAR = 16, /* of a larger group only that many, far apart: sorting it along an axis takes longer */
};

/* Lists of hosts: group i is host[first[i]] .. host[first[i + 1]). */
struct partition {
    uint32_t n;
    uint32_t *first; /* [n + 1] */
    uint32_t *host;
};

struct leaning {
    double clump_toward; /* the least of its clump */
    uint32_t clump;
    double toward; /* how much nearer to the first pole */
    uint32_t host;
};

/* A step of the shortest tree of a group. */
struct step {
    uint32_t host, from, length;
};

struct halver {
    const struct lbm_hosts *h;
    struct leaning *order; /* [hosts] */
    uint8_t *side;         /* [hosts] 0: not in the group, 1, 2 */
    struct step *step;     /* [hosts] */
    uint32_t *clump;       /* [hosts] named after one of its hosts */
    double *clump_toward;  /* [hosts] by clump */
    uint32_t *longest;     /* [hosts] step of each group */
    uint32_t *best;        /* [hosts] the group in its best order */
    uint32_t *pole;        /* [POLES_MAX] */
    uint32_t *nearest;     /* [hosts] distance to the poles chosen */
};

static int
by_leaning(const void *a, const void *b)
{
    const struct leaning *x = a, *y = b;
    if (x->clump_toward != y->clump_toward)
        return (x->clump_toward > y->clump_toward) - (x->clump_toward < y->clump_toward);
    if (x->clump != y->clump)
        return (x->clump > y->clump) - (x->clump < y->clump);
    if (x->toward != y->toward)
        return (x->toward > y->toward) - (x->toward < y->toward);
    return (x->host > y->host) - (x->host < y->host);
}

/* Ends to try: all hosts of a small group, else those farthest from the ones before. */
static uint32_t
choose_poles(struct halver *s, const uint32_t *group, uint32_t n)
{
    if (n <= POLES_MAX) {
        memcpy(s->pole, group, n * sizeof *group);
        return n;
    }
    for (uint32_t i = 0; i < n; i++)
        s->nearest[i] = UINT32_MAX;
    for (uint32_t k = 0, next = 0; k < POLES_FAR; k++) {
        s->pole[k] = group[next];
        for (uint32_t i = 0; i < n; i++) {
            uint32_t d = lbm_dist(s->h, s->pole[k], group[i]);
            s->nearest[i] = d < s->nearest[i] ? d : s->nearest[i];
        }
        for (uint32_t i = 0; i < n; i++)
            next = s->nearest[i] > s->nearest[next] ? i : next;
    }
    return POLES_FAR;
}

/* Hosts joined by steps of at most half the longest one of the group's shortest tree (Prim 1957) are a clump,
 * which halves do not divide; where all steps are alike each host is one. Value: that step. Cost: n^2. */
static uint32_t
find_clumps(struct halver *s, const uint32_t *group, uint32_t n)
{
    struct step *step = s->step;
    uint32_t longest = 0;
    for (uint32_t i = 0; i < n; i++)
        step[i] = (struct step){group[i], group[0], lbm_dist(s->h, group[0], group[i])};
    for (uint32_t k = 1; k < n; k++) {
        uint32_t next = k;
        for (uint32_t i = k; i < n; i++)
            next = step[i].length < step[next].length ? i : next;
        struct step taken = step[next];
        step[next] = step[k];
        step[k] = taken;
        longest = taken.length > longest ? taken.length : longest;
        for (uint32_t i = k + 1; i < n; i++) {
            uint32_t d = lbm_dist(s->h, taken.host, step[i].host);
            if (d < step[i].length)
                step[i] = (struct step){step[i].host, taken.host, d};
        }
    }
    for (uint32_t k = 0; k < n; k++)
        s->clump[step[k].host] =
            k == 0 || step[k].length > longest / 2 ? step[k].host : s->clump[step[k].from];
    return longest;
}

/* The end of a clump that is nearest to the middle of the order, but no quarter is left alone. */
static uint32_t
middle_of(const struct halver *s, uint32_t n)
{
    uint32_t middle = n / 2, least = n / 4 > 0 ? n / 4 : 1;
    for (uint32_t off = 0; off <= n / 2; off++)
        for (int side = 0; side < 2; side++) {
            uint32_t i = side == 0 ? middle - off : middle + off;
            if (i >= least && i + least <= n && s->order[i - 1].clump != s->order[i].clump)
                return i;
        }
    return middle;
}

/* Order the group from pole a to pole b, and mark its halves. Value: hosts of the first. */
static uint32_t
lean(struct halver *s, const uint32_t *group, uint32_t n, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < n; i++)
        s->clump_toward[s->clump[group[i]]] = HUGE_VAL;
    for (uint32_t i = 0; i < n; i++) {
        double to_a = lbm_dist(s->h, a, group[i]), to_b = lbm_dist(s->h, b, group[i]);
        uint32_t clump = s->clump[group[i]];
        s->order[i] = (struct leaning){0, clump, to_a - to_b + 1e-4 * to_a, group[i]};
        s->clump_toward[clump] = fmin(s->clump_toward[clump], s->order[i].toward);
    }
    for (uint32_t i = 0; i < n; i++)
        s->order[i].clump_toward = s->clump_toward[s->order[i].clump];
    qsort(s->order, n, sizeof *s->order, by_leaning);
    uint32_t half = middle_of(s, n);
    for (uint32_t i = 0; i < n; i++)
        s->side[s->order[i].host] = i < half ? 1 : 2;
    return half;
}

/* Bandwidth lost between the halves (links, weighted by their nearness), and how spread out they are:
 * distances of hosts to their own pole. */
static void
judge(const struct halver *s, const uint32_t *group, uint32_t n, uint32_t a, uint32_t b, double *cut,
      double *spread)
{
    *cut = *spread = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = group[i];
        for (uint32_t e = s->h->offset[p]; e < s->h->offset[p + 1]; e++) {
            uint8_t other = s->side[s->h->target[e]];
            *cut += other != 0 && other != s->side[p] ? 1.0 / s->h->cost[e] : 0;
        }
        *spread += lbm_dist(s->h, p, s->side[p] == 1 ? a : b);
    }
}

/* Reorder a group of more than one so that its halves are its first hosts and the rest. Value: how many are
 * the first. */
static uint32_t
halve(struct halver *s, uint32_t *group, uint32_t n)
{
    double least_cut = HUGE_VAL, least_spread = HUGE_VAL, cut, spread;
    uint32_t best_half = 0;
    find_clumps(s, group, n);
    uint32_t poles = choose_poles(s, group, n);
    for (uint32_t i = 0; i < poles; i++)
        for (uint32_t j = i + 1; j < poles; j++) {
            uint32_t a = s->pole[i], b = s->pole[j];
            uint32_t half = lean(s, group, n, a, b);
            judge(s, group, n, a, b, &cut, &spread);
            if (cut < least_cut || (cut == least_cut && spread < least_spread)) {
                least_cut = cut;
                least_spread = spread;
                best_half = half;
                for (uint32_t k = 0; k < n; k++)
                    s->best[k] = s->order[k].host;
            }
        }
    for (uint32_t k = 0; k < n; k++)
        s->side[group[k]] = 0;
    memcpy(group, s->best, n * sizeof *group);
    return best_half;
}

/* ---- the group graph -------------------------------------------------------------------------------- */

/* Distance of groups: halfway between the mean and the least distance of their hosts. */
static void
set_distances(const struct lbm_hosts *h, uint32_t unit, const struct partition *groups, struct lbm_hosts *out)
{
    for (uint32_t a = 0; a < groups->n; a++)
        for (uint32_t b = 0; b < a; b++) {
            double sum = 0, least = HUGE_VAL;
            uint32_t na = groups->first[a + 1] - groups->first[a],
                     nb = groups->first[b + 1] - groups->first[b];
            for (uint32_t i = groups->first[a]; i < groups->first[a + 1]; i++)
                for (uint32_t j = groups->first[b]; j < groups->first[b + 1]; j++) {
                    double d = lbm_dist(h, groups->host[i], groups->host[j]);
                    sum += d;
                    least = d < least ? d : least;
                }
            double d = unit * 0.5 * (sum / ((double)na * nb) + least);
            out->dist[(size_t)a * groups->n + b] = out->dist[(size_t)b * groups->n + a] = (uint32_t)(d + 0.5);
        }
}

/* Links of the group graph, of cost 1: a link of H joins members. */
static enum lbm_err
set_links(const struct lbm_hosts *h, const struct partition *groups, const uint32_t *group_of,
          struct lbm_hosts *out)
{
    LBM_VEC(uint32_t) target = {0};
    uint32_t *seen = lbm_alloc(groups->n, sizeof *seen); /* group + 1 that listed this one last */
    enum lbm_err err = seen == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t a = 0; a < groups->n && err == LBM_OK; a++) {
        for (uint32_t i = groups->first[a]; i < groups->first[a + 1]; i++)
            for (uint32_t e = h->offset[groups->host[i]]; e < h->offset[groups->host[i] + 1]; e++) {
                uint32_t b = group_of[h->target[e]];
                if (b == a || seen[b] == a + 1 || err != LBM_OK)
                    continue;
                seen[b] = a + 1;
                err = lbm_vec_push(&target, b);
            }
        out->offset[a + 1] = (uint32_t)target.n;
    }
    free(seen);
    out->target = target.at;
    out->cost = lbm_alloc(target.n, sizeof *out->cost);
    if (out->cost == NULL)
        return LBM_E_NOMEM;
    for (size_t e = 0; e < target.n; e++)
        out->cost[e] = 1;
    return err;
}

static enum lbm_err
groups_build(const struct lbm_hosts *h, uint32_t unit, const struct partition *groups,
             struct host_groups *out)
{
    struct lbm_hosts *hosts = &out->hosts;
    uint32_t n = groups->n;
    out->first_half = lbm_alloc(n, sizeof *out->first_half);
    out->group_of = lbm_alloc(h->n, sizeof *out->group_of);
    *hosts = (struct lbm_hosts){.n = n,
                                .topology = LBM_TOPOLOGY_FILE,
                                .m = h->m,
                                .offset = lbm_alloc((size_t)n + 1, sizeof *hosts->offset),
                                .capacity = lbm_alloc(n, sizeof *hosts->capacity),
                                .dist = lbm_alloc((size_t)n * n, sizeof *hosts->dist)};
    if (out->first_half == NULL || out->group_of == NULL || hosts->offset == NULL ||
        hosts->capacity == NULL || hosts->dist == NULL)
        return LBM_E_NOMEM;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t i = groups->first[a]; i < groups->first[a + 1]; i++) {
            out->group_of[groups->host[i]] = a;
            hosts->capacity[a] += h->capacity[groups->host[i]];
        }
    set_distances(h, unit, groups, hosts);
    return set_links(h, groups, out->group_of, hosts);
}

/* Split the groups whose hosts stand far apart: those of at most half the steps of others wait, so that what
 * is near stays together while what is far comes apart. first_half [n] tells where the halves of each are. */
static void
split(struct halver *s, struct partition *groups, uint32_t *first_half, uint32_t *first)
{
    uint32_t n = 0, longest = 0;
    for (uint32_t a = 0; a < groups->n; a++) {
        uint32_t from = groups->first[a];
        s->longest[a] = find_clumps(s, &groups->host[from], groups->first[a + 1] - from);
        longest = s->longest[a] > longest ? s->longest[a] : longest;
    }
    for (uint32_t a = 0; a < groups->n; a++) {
        uint32_t from = groups->first[a], size = groups->first[a + 1] - from;
        first_half[a] = n;
        first[n++] = from;
        if (s->longest[a] > longest / 2) {
            uint32_t half = halve(s, &groups->host[from], size);
            first[n++] = from + half;
        }
    }
    first[n] = groups->first[groups->n];
    memcpy(groups->first, first, ((size_t)n + 1) * sizeof *first);
    groups->n = n;
}

static enum lbm_err
grow(struct halver *s, uint32_t unit, struct partition *groups, uint32_t *first, struct host_tree *tree)
{
    enum lbm_err err = groups_build(s->h, unit, groups, &tree->at[0]);
    for (tree->depths = 1; groups->n < s->h->n && err == LBM_OK; tree->depths++) {
        split(s, groups, tree->at[tree->depths - 1].first_half, first);
        err = groups_build(s->h, unit, groups, &tree->at[tree->depths]);
    }
    return err;
}

enum lbm_err
host_tree_build(const struct lbm_hosts *h, uint32_t unit, struct host_tree *out)
{
    uint32_t n = h->n;
    struct host_tree tree = {.at = lbm_alloc(n, sizeof *tree.at)};
    struct halver s = {.h = h,
                       .order = lbm_alloc(n, sizeof *s.order),
                       .side = lbm_alloc(n, 1),
                       .step = lbm_alloc(n, sizeof *s.step),
                       .clump = lbm_alloc(n, sizeof *s.clump),
                       .clump_toward = lbm_alloc(n, sizeof *s.clump_toward),
                       .longest = lbm_alloc(n, sizeof *s.longest),
                       .best = lbm_alloc(n, sizeof *s.best),
                       .pole = lbm_alloc(POLES_MAX, sizeof *s.pole),
                       .nearest = lbm_alloc(n, sizeof *s.nearest)};
    struct partition groups = {.n = 1,
                               .first = lbm_alloc((size_t)n + 1, sizeof *groups.first),
                               .host = lbm_alloc(n, sizeof *groups.host)};
    uint32_t *first = lbm_alloc((size_t)n + 1, sizeof *first);
    enum lbm_err err = LBM_E_NOMEM;
    if (tree.at != NULL && s.order != NULL && s.side != NULL && s.step != NULL && s.clump != NULL &&
        s.clump_toward != NULL && s.longest != NULL && s.best != NULL && s.pole != NULL &&
        s.nearest != NULL && groups.first != NULL && groups.host != NULL && first != NULL) {
        groups.first[1] = n;
        for (uint32_t p = 0; p < n; p++)
            groups.host[p] = p;
        err = grow(&s, unit, &groups, first, &tree);
    }
    free(s.order);
    free(s.side);
    free(s.step);
    free(s.clump);
    free(s.clump_toward);
    free(s.longest);
    free(s.best);
    free(s.pole);
    free(s.nearest);
    free(groups.first);
    free(groups.host);
    free(first);
    if (err != LBM_OK) {
        host_tree_free(&tree);
        return err;
    }
    *out = tree;
    return LBM_OK;
}

void
host_tree_free(struct host_tree *tree)
{
    for (uint32_t d = 0; d < tree->depths && tree->at != NULL; d++) {
        free(tree->at[d].first_half);
        free(tree->at[d].group_of);
        lbm_hosts_free(&tree->at[d].hosts);
    }
    free(tree->at);
    *tree = (struct host_tree){0};
}
