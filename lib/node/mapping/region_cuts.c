/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regions of the hosts of a large cluster: the first host of the tree cuts a sample of places in halves, once
 * for all, and tells where. */
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/mapping/internal.h"

/* Cut all samples in each rotation. In: due [hosts]. Out: at [rotations * (hosts - 1)]. */
static enum lbm_err
cut(const struct lbm_node *node, const struct job *job, const struct lbm_affine *whitened,
    const struct sums_row *sum, const double *due, double *at)
{
    const struct lbm_hosts *h = &node->view.hosts;
    unsigned m = job->shard.m;
    struct lbm_cuts cuts = {0};
    double *x = lbm_alloc((size_t)sum->n_sample * m, sizeof *x);
    enum lbm_err err = x == NULL ? LBM_E_NOMEM : lbm_cuts_plan(h->n, m, h->site, &cuts);
    for (int k = 0; k < lbm_mapping_regions_count(job) && err == LBM_OK; k++) {
        struct lbm_affine map = lbm_mapping_regions_normalization(whitened, k);
        for (size_t i = 0; i < sum->n_sample; i++)
            lbm_affine_apply(&map, &sum->sample[i * m], &x[i * m]);
        err = lbm_cuts_place(&cuts, due, sum->n_sample, x, sum->sample_work, &at[(size_t)k * (h->n - 1)]);
    }
    lbm_cuts_free(&cuts);
    free(x);
    return err;
}

enum lbm_err
lbm_mapping_cuts_total(struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry,
                       struct sums_row *sum)
{
    unsigned m = job->shard.m, n_moments = lbm_mapping_regions_sum_count(m);
    uint32_t n_hosts = node->view.hosts.n, n_cuts = (uint32_t)lbm_mapping_regions_count(job) * (n_hosts - 1);
    struct lbm_affine whitened;
    struct lbm_moments moments = {0};
    if (sum->n == n_moments)
        moments = lbm_mapping_regions_sum(sum->value, m);
    if (sum->n != n_moments || lbm_moments_whiten(&moments, m, &whitened) != LBM_OK)
        n_cuts = 0; /* all in one place, or on a line: there is nothing to cut */
    double *value = lbm_alloc((size_t)n_moments + n_cuts, sizeof *value),
           *due = lbm_alloc(n_hosts, sizeof *due);
    enum lbm_err err = value == NULL || due == NULL ? LBM_E_NOMEM : LBM_OK;
    if (err == LBM_OK && n_cuts != 0) {
        memcpy(value, sum->value, n_moments * sizeof *value);
        lbm_mapping_regions_due(node, entry, due);
        err = cut(node, job, &whitened, sum, due, &value[n_moments]);
    }
    free(due);
    if (err != LBM_OK) {
        free(value);
        return err;
    }
    struct sums_row out = {
        .host = sum->host, .stage = sum->stage, .stamp = sum->stamp, .n = n_moments + n_cuts, .value = value};
    lbm_mapping_sums_free_row(sum);
    *sum = out;
    return LBM_OK;
}

/* In a large cluster: where places are cut, as the first host has told. */
void
lbm_mapping_cuts_draw(struct lbm_node *node, struct job *job)
{
    struct diffuse *d = &job->diffuse;
    const struct lbm_hosts *h = &node->view.hosts;
    unsigned n_moments = lbm_mapping_regions_sum_count(job->shard.m);
    if (d->total.n != n_moments + (size_t)lbm_mapping_regions_count(job) * (h->n - 1))
        return;
    enum lbm_err err = d->cuts.n != 0 ? LBM_OK : lbm_cuts_plan(h->n, job->shard.m, h->site, &d->cuts);
    for (int k = 0; k < lbm_mapping_regions_count(job) && err == LBM_OK; k++) {
        free(d->weight[k]);
        d->weight[k] =
            lbm_copy(&d->total.value[n_moments + (size_t)k * (h->n - 1)], h->n - 1, sizeof(double));
        err = d->weight[k] == NULL ? LBM_E_NOMEM : LBM_OK;
    }
    d->n_weights = h->n;
    if (err != LBM_OK)
        lbm_core_fail(node, err);
}
