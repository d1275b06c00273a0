/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transfers in time (RJK03 section 6). */
#include "balance/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/mutants.h"

/* The transfers of each host, in the order of their rounds, and what it has. */
struct desk {
    size_t *first;  /* [n_hosts + 1] into at */
    size_t *at;     /* [n] indices of transfers by sender */
    size_t *served; /* [n_hosts] pipelined: the transfer after the last one served, else the next one */
    uint64_t *left; /* [n] units still to go */
    uint64_t *has;  /* [n_hosts] */
    uint64_t *gets; /* [n_hosts] arrives at the end of the step */
    uint64_t total; /* the sum of left */
};

static void
desk_free(struct desk *d)
{
    free(d->first);
    free(d->at);
    free(d->served);
    free(d->left);
    free(d->has);
    free(d->gets);
}

static enum lbm_err
desk_make(struct desk *d, uint32_t n_hosts, const uint64_t *load, const struct lbm_transfer *transfer,
          size_t n)
{
    *d = (struct desk){
        .first = lbm_alloc((size_t)n_hosts + 1, sizeof *d->first),
        .at = lbm_alloc(n, sizeof *d->at),
        .served = lbm_alloc(n_hosts, sizeof *d->served),
        .left = lbm_alloc(n, sizeof *d->left),
        .has = lbm_copy(load, n_hosts, sizeof *d->has),
        .gets = lbm_alloc(n_hosts, sizeof *d->gets),
    };
    if (!d->first || !d->at || !d->served || !d->left || !d->has || !d->gets)
        return LBM_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        LBM_ASSERT(transfer[i].from < n_hosts && transfer[i].to < n_hosts);
        LBM_ASSERT(i == 0 || transfer[i - 1].round <= transfer[i].round);
        d->first[transfer[i].from + 1]++;
        d->left[i] = transfer[i].units;
        d->total += transfer[i].units;
    }
    for (uint32_t p = 0; p < n_hosts; p++) {
        d->first[p + 1] += d->first[p];
        d->served[p] = d->first[p];
    }
    for (size_t i = 0; i < n; i++)
        d->at[d->served[transfer[i].from]++] = i;
    for (uint32_t p = 0; p < n_hosts; p++)
        d->served[p] = d->first[p];
    return LBM_OK;
}

static void
send(struct desk *d, const struct lbm_transfer *transfer, size_t i, uint64_t units)
{
    d->has[transfer[i].from] -= units;
    d->gets[transfer[i].to] += units;
    d->left[i] -= units;
    d->total -= units;
}

static void
arrive(struct desk *d, uint32_t n_hosts)
{
    for (uint32_t p = 0; p < n_hosts; p++) {
        d->has[p] += d->gets[p];
        d->gets[p] = 0;
    }
}

/* ---- three ways: each carries out one phase and returns its time, 0 if nothing can move ---------------- */

typedef uint64_t phase(struct desk *d, uint32_t n_hosts, const struct lbm_transfer *transfer, size_t n);

/* The next round that has units to go. */
static uint64_t
plain(struct desk *d, uint32_t n_hosts, const struct lbm_transfer *transfer, size_t n)
{
    (void)n_hosts;
    size_t i = 0;
    uint64_t largest = 0;
    while (i < n && d->left[i] == 0)
        i++;
    for (uint32_t round = transfer[i].round; i < n && transfer[i].round == round; i++) {
        if (d->left[i] > d->has[transfer[i].from])
            return 0;
        largest = d->left[i] > largest ? d->left[i] : largest;
        send(d, transfer, i, d->left[i]);
    }
    return largest;
}

/* Each host sends the longest run of its next transfers that its load allows. */
static uint64_t
overlapped(struct desk *d, uint32_t n_hosts, const struct lbm_transfer *transfer, size_t n)
{
    (void)n;
    uint64_t largest = 0;
    for (uint32_t p = 0; p < n_hosts; p++)
        while (d->served[p] < d->first[p + 1] &&
               d->left[d->at[d->served[p]]] + LBM_MUTANT(OVERLAP, 0, 1) <= d->has[p]) {
            size_t i = d->at[d->served[p]++];
            largest = d->left[i] > largest ? d->left[i] : largest;
            send(d, transfer, i, d->left[i]);
        }
    return largest;
}

/* Each host sends one unit on each link, beginning after the link it served last, for as long as it has any.
 */
static uint64_t
pipelined(struct desk *d, uint32_t n_hosts, const struct lbm_transfer *transfer, size_t n)
{
    (void)n;
    uint64_t moved = 0;
    for (uint32_t p = 0; p < n_hosts; p++) {
        size_t links = d->first[p + 1] - d->first[p], start = d->served[p] - d->first[p];
        for (size_t k = 0; k < links && d->has[p] > 0 && LBM_MUTANT(PIPELINE, 1, k == 0); k++) {
            size_t slot = d->first[p] + (start + k) % links;
            if (d->left[d->at[slot]] == 0)
                continue;
            send(d, transfer, d->at[slot], 1);
            d->served[p] = slot + 1 < d->first[p + 1] ? slot + 1 : d->first[p];
            moved++;
        }
    }
    return moved > 0;
}

static phase *const phases[LBM_SCHEDULE_COUNT] = {
    [LBM_SCHEDULE_PLAIN] = plain,
    [LBM_SCHEDULE_OVERLAPPED] = overlapped,
    [LBM_SCHEDULE_PIPELINED] = pipelined,
};

enum lbm_err
lbm_schedule_predict(enum lbm_schedule schedule, uint32_t n_hosts, const uint64_t *load,
                     const struct lbm_transfer *transfer, size_t n, struct lbm_schedule_result *out)
{
    struct lbm_schedule_result result = {0};
    struct desk d;
    enum lbm_err err = desk_make(&d, n_hosts, load, transfer, n);
    result.task_hops = d.total;
    while (err == LBM_OK && d.total > 0) {
        uint64_t time = phases[schedule](&d, n_hosts, transfer, n);
        if (time == 0)
            err = LBM_E_STATE;
        arrive(&d, n_hosts);
        result.time += time;
        result.phases++;
    }
    desk_free(&d);
    if (err == LBM_OK)
        *out = result;
    return err;
}
