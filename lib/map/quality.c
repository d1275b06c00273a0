/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a mapping costs: hop-bytes, cut, dilation, communication volume, loads and their limits. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "map/map.h"

/* Sums over edges, and per host: what lbm_map_evaluate gathers in one pass. */
struct sums {
    uint64_t weight; /* of all edges */
    uint64_t hop_bytes, cut;
    uint32_t dilation_max;
    uint64_t *volume; /* [hosts] */
    uint32_t *seen;   /* [hosts] vertex + 1 that counted this host last */
    int overflow;
};

static void
add_row(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part, uint32_t v,
        struct sums *sums)
{
    uint32_t p = part[v];
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        uint32_t u = g->target[e], q = part[u];
        if (q != p && sums->seen[q] != v + 1) {
            sums->seen[q] = v + 1;
            sums->volume[p]++;
        }
        if (u < v)
            continue; /* each edge once */
        uint64_t c = lbm_graph_weight(g, e), bytes;
        uint32_t d = lbm_dist(h, p, q);
        sums->overflow |= __builtin_mul_overflow(c, (uint64_t)d, &bytes);
        sums->overflow |= __builtin_add_overflow(sums->hop_bytes, bytes, &sums->hop_bytes);
        sums->overflow |= __builtin_add_overflow(sums->weight, c, &sums->weight);
        sums->cut += q != p ? c : 0;
        sums->dilation_max = d > sums->dilation_max ? d : sums->dilation_max;
    }
}

static double
capacity_sum(const struct lbm_hosts *h)
{
    double sum = 0;
    for (uint32_t p = 0; p < h->n; p++)
        sum += h->capacity[p];
    return sum;
}

static void
report(const struct lbm_hosts *h, const uint64_t *load, const struct sums *sums, struct lbm_quality *out)
{
    double work = 0, capacity = capacity_sum(h), fullest = 0;
    *out = (struct lbm_quality){
        .hop_bytes = sums->hop_bytes, .cut = sums->cut, .dilation_max = sums->dilation_max};
    for (uint32_t p = 0; p < h->n; p++)
        work += (double)load[p];
    for (uint32_t p = 0; p < h->n; p++) {
        double full = work > 0 ? (double)load[p] / (work * h->capacity[p] / capacity) : 1;
        fullest = full > fullest ? full : fullest;
        out->comm_volume_total += sums->volume[p];
        out->comm_volume_max =
            sums->volume[p] > out->comm_volume_max ? sums->volume[p] : out->comm_volume_max;
        out->empty_hosts += load[p] == 0;
    }
    out->imbalance = fullest - 1;
    out->dilation_mean = sums->weight != 0 ? (double)sums->hop_bytes / (double)sums->weight : 0;
}

enum lbm_err
lbm_map_evaluate(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part,
                 struct lbm_quality *out, struct lbm_diag *diag)
{
    for (uint32_t v = 0; v < g->n; v++)
        if (part[v] >= h->n)
            return lbm_diag_set(diag, LBM_E_RANGE, NULL, 0,
                                "vertex %" PRIu32 " is mapped to host %" PRIu32 "; hosts are 0 to %" PRIu32,
                                v, part[v], h->n - 1);
    uint64_t *load = lbm_alloc(h->n, sizeof *load);
    struct sums sums = {.volume = lbm_alloc(h->n, sizeof *sums.volume),
                        .seen = lbm_alloc(h->n, sizeof *sums.seen)};
    enum lbm_err err = LBM_OK;
    if (load == NULL || sums.volume == NULL || sums.seen == NULL)
        err = lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    if (err == LBM_OK) {
        for (uint32_t v = 0; v < g->n; v++)
            add_row(g, h, part, v, &sums);
        if (sums.overflow)
            err = lbm_diag_set(diag, LBM_E_LIMIT, NULL, 0,
                               "hop-bytes exceed 64 bits: scale the edge weights down");
    }
    if (err == LBM_OK) {
        lbm_map_loads(g, h->n, part, load);
        report(h, load, &sums, out);
    }
    free(load);
    free(sums.volume);
    free(sums.seen);
    return err;
}

enum lbm_err
lbm_map_check_sums(const struct lbm_graph *g, const struct lbm_hosts *h, struct lbm_diag *diag)
{
    /* The update of a gain adds twice a weight times a distance; each direction is in one row's gain. */
    uint64_t weight = 0, directions = lbm_graph_directions(g), farthest = 1, worst;
    for (uint64_t e = 0; e < directions; e++)
        weight += lbm_graph_weight(g, e); /* at most 2^34 times 2^31: no overflow */
    for (size_t i = 0; i < (size_t)h->n * h->n; i++)
        farthest = h->dist[i] > farthest ? h->dist[i] : farthest;
    if (__builtin_mul_overflow(weight, 2 * farthest, &worst) || worst > INT64_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, NULL, 0,
                            "edge weights sum to %" PRIu64 " and distances reach %" PRIu64
                            ": hop-bytes may exceed 63 bits; scale one of them down",
                            weight / 2, farthest);
    return LBM_OK;
}

uint64_t
lbm_map_hop_bytes(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part)
{
    uint64_t sum = 0;
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            if (g->target[e] > v)
                sum += (uint64_t)lbm_graph_weight(g, e) * lbm_dist(h, part[v], part[g->target[e]]);
    return sum;
}

static int
is_linked(const struct lbm_hosts *h, uint32_t p, uint32_t q)
{
    for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++)
        if (h->target[e] == q)
            return 1;
    return p == q;
}

uint64_t
lbm_map_unlinked_hop_bytes(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part)
{
    uint64_t sum = 0;
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
            uint32_t p = part[v], q = part[g->target[e]];
            if (v < g->target[e] && !is_linked(h, p, q))
                sum += (uint64_t)lbm_graph_weight(g, e) * lbm_dist(h, p, q);
        }
    return sum;
}

void
lbm_map_loads(const struct lbm_graph *g, uint32_t n_hosts, const uint32_t *part, uint64_t *load)
{
    for (uint32_t p = 0; p < n_hosts; p++)
        load[p] = 0;
    for (uint32_t v = 0; v < g->n; v++)
        load[part[v]] += lbm_graph_work(g, v);
}

uint64_t
lbm_map_excess(uint32_t n_hosts, const uint64_t *load, const uint64_t *limit)
{
    uint64_t excess = 0;
    for (uint32_t p = 0; p < n_hosts; p++)
        excess += load[p] > limit[p] ? load[p] - limit[p] : 0;
    return excess;
}

int64_t
lbm_map_gain(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part, uint32_t v,
             uint32_t q)
{
    const uint32_t *here = &h->dist[(size_t)part[v] * h->n], *there = &h->dist[(size_t)q * h->n];
    int64_t gain = 0;
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        uint32_t r = part[g->target[e]];
        gain += (int64_t)lbm_graph_weight(g, e) * ((int64_t)here[r] - (int64_t)there[r]);
    }
    return gain;
}
