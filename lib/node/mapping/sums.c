/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over all hosts that nobody makes for others: each host tells all what it adds, and adds up what it has
 * heard, in the order of hosts, so that all come to the same. A stage of the mapping is over for a host once
 * it has heard of all that take part. */
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"
#include "node/membership/membership.h"

void
lbm_mapping_sums_free_row(struct sums_row *row)
{
    free(row->value);
    free(row->sample);
    free(row->sample_work);
    *row = (struct sums_row){0};
}

void
lbm_mapping_sums_free(struct diffuse *d)
{
    for (size_t i = 0; i < d->rows.n; i++)
        lbm_mapping_sums_free_row(&d->rows.at[i]);
    lbm_vec_free(&d->rows);
    lbm_mapping_sums_free_row(&d->total);
}

void
lbm_mapping_sums_forget(struct diffuse *d, uint32_t stage)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->rows.n; i++) {
        if (d->rows.at[i].stage < stage)
            lbm_mapping_sums_free_row(&d->rows.at[i]);
        else
            d->rows.at[kept++] = d->rows.at[i];
    }
    d->rows.n = kept;
}

const struct sums_row *
lbm_mapping_sums_row(const struct diffuse *d, uint32_t host, uint32_t stage)
{
    for (size_t i = 0; i < d->rows.n; i++)
        if (d->rows.at[i].host == host && d->rows.at[i].stage == stage)
            return &d->rows.at[i];
    return NULL;
}

void
lbm_mapping_sums_drop(struct diffuse *d, uint32_t host, uint32_t stage)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->rows.n; i++) {
        if (d->rows.at[i].host == host && d->rows.at[i].stage == stage)
            lbm_mapping_sums_free_row(&d->rows.at[i]);
        else
            d->rows.at[kept++] = d->rows.at[i];
    }
    d->rows.n = kept;
}

void
lbm_mapping_sums_put(struct lbm_node *node, struct diffuse *d, struct sums_row row)
{
    size_t at = 0;
    while (at < d->rows.n && (d->rows.at[at].host < row.host ||
                              (d->rows.at[at].host == row.host && d->rows.at[at].stage < row.stage)))
        at++;
    if (at < d->rows.n && d->rows.at[at].host == row.host && d->rows.at[at].stage == row.stage) {
        lbm_mapping_sums_free_row(&d->rows.at[at]);
        d->rows.at[at] = row;
        return;
    }
    if (lbm_vec_push(&d->rows, row) != LBM_OK) {
        lbm_mapping_sums_free_row(&row);
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    memmove(&d->rows.at[at + 1], &d->rows.at[at], (d->rows.n - at - 1) * sizeof *d->rows.at);
    d->rows.at[at] = row;
}

uint64_t
lbm_mapping_sums_number(const struct lbm_node *node, struct diffuse *d)
{
    uint64_t now_us = node->now_us > 0 ? (uint64_t)node->now_us : 0;
    d->stamp = d->is_tree && now_us > d->stamp ? now_us : d->stamp + 1; /* above those of an earlier life */
    return d->stamp;
}

/* In: via: a host that passes it on, or LBM_NONE. */
static void
send_row(struct lbm_node *node, const struct job *job, uint32_t to, uint32_t via, const struct sums_row *row,
         enum sums_part part)
{
    Lbm__Sums sums = LBM__SUMS__INIT;
    sums.job = job->id;
    sums.stage = row->stage;
    sums.stamp = row->stamp;
    sums.hosts = part == SUMS_PART_OWN ? row->hosts : job->diffuse.hosts;
    sums.n_value = row->n;
    sums.value = row->value;
    sums.n_sample_work = row->n_sample;
    sums.sample_work = row->sample_work;
    sums.n_sample = (size_t)row->n_sample * job->shard.m;
    sums.sample = row->sample;
    sums.to = via != LBM_NONE ? 1 + to : 0;
    sums.part = part;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_SUMS;
    message.sums = &sums;
    lbm_core_send_now(node, via != LBM_NONE ? via : to, &message);
}

void
lbm_mapping_sums_send(struct lbm_node *node, const struct job *job, uint32_t to, const struct sums_row *row,
                      enum sums_part part)
{
    send_row(node, job, to, LBM_NONE, row, part);
}

uint32_t
lbm_mapping_sums_relay(const struct lbm_node *node, uint32_t to)
{
    for (size_t i = 0; i < node->view.members.n && lbm_membership_is_straggler(node, to); i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (member->host != node->host && member->host != to && member->state == LBM_MEMBER_ACTIVE &&
            !lbm_membership_is_straggler(node, member->host) &&
            !lbm_membership_is_unavailable(node, member->host))
            return member->host;
    }
    return LBM_NONE;
}

/* Pass on what another host adds. */
static void
relay(struct lbm_node *node, const Lbm__Peer *message)
{
    uint32_t to = message->sums->to - 1;
    const struct lbm_member *member = lbm_view_member(&node->view, to);
    if (message->sums->of != 0 || to == message->src || member == NULL || !lbm_view_participates(member))
        return;
    Lbm__Sums sums = *message->sums;
    sums.of = 1 + message->src;
    sums.to = 0;
    Lbm__Peer passed = LBM__PEER__INIT;
    passed.body_case = LBM__PEER__BODY_SUMS;
    passed.sums = &sums;
    lbm_core_send_now(node, to, &passed);
}

void
lbm_mapping_sums_tell(struct lbm_node *node, struct job *job, size_t n, const double *value, size_t n_sample,
                      const double *sample, const uint32_t *sample_work)
{
    struct diffuse *d = &job->diffuse;
    struct sums_row row = {.host = node->host,
                           .stage = d->stage,
                           .stamp = lbm_mapping_sums_number(node, d),
                           .hosts = d->hosts,
                           .n = (uint32_t)n,
                           .n_sample = (uint32_t)n_sample,
                           .value = lbm_copy(value, n, sizeof *value),
                           .sample = lbm_copy(sample, n_sample * job->shard.m, sizeof *sample),
                           .sample_work = lbm_copy(sample_work, n_sample, sizeof *sample_work)};
    if ((n != 0 && row.value == NULL) || (n_sample != 0 && (row.sample == NULL || row.sample_work == NULL))) {
        lbm_mapping_sums_free_row(&row);
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    lbm_mapping_sums_put(node, d, row);
    d->is_told = 1;
    if (d->is_tree) {
        d->told_us = node->now_us + SUMS_AGAIN_US;
        lbm_mapping_tree_tell(node, job);
    } else {
        lbm_mapping_sums_tell_again(node, job);
    }
}

void
lbm_mapping_sums_tell_again(struct lbm_node *node, struct job *job)
{
    struct diffuse *d = &job->diffuse;
    const struct sums_row *own = lbm_mapping_sums_row(d, node->host, d->stage);
    d->told_us = node->now_us + SUMS_AGAIN_US;
    if (d->is_tree)
        return; /* the tree has a timer of its own */
    for (size_t i = 0; own != NULL && i < node->view.members.n && node->failed == LBM_OK; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (member->host == node->host || !lbm_view_participates(member))
            continue;
        lbm_mapping_sums_send(node, job, member->host, own, SUMS_PART_OWN);
        uint32_t via = lbm_mapping_sums_relay(node, member->host);
        if (via != LBM_NONE)
            send_row(node, job, member->host, via, own, SUMS_PART_OWN);
    }
}

/* Nonzero if a row is of this host's stage, and of the same hosts. */
static int
counts(const struct diffuse *d, const struct sums_row *row)
{
    return row != NULL && row->stage == d->stage && (row->hosts == d->hosts || row->hosts == 0);
}

uint32_t
lbm_mapping_sums_lap(const struct diffuse *d, uint64_t hosts)
{
    uint32_t lap = 0;
    for (size_t i = 0; i < d->rows.n; i++) {
        const struct sums_row *row = &d->rows.at[i];
        if ((hosts == 0 || row->hosts == hosts) && row->stage / LBM_STAGE_LAP > lap)
            lap = row->stage / LBM_STAGE_LAP;
    }
    return lap;
}

uint32_t
lbm_mapping_sums_stage(const struct diffuse *d, uint32_t host)
{
    uint32_t stage = 0;
    for (size_t i = 0; i < d->rows.n; i++)
        if (d->rows.at[i].host == host)
            stage = d->rows.at[i].stage;
    return stage;
}

enum sums_state
lbm_mapping_sums_state(const struct lbm_node *node, const struct job *job)
{
    const struct diffuse *d = &job->diffuse;
    enum sums_state state = SUMS_COMPLETE;
    if (d->is_tree)
        return lbm_mapping_tree_state(job);
    for (size_t i = 0; i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (member->state != LBM_MEMBER_ACTIVE ||
            counts(d, lbm_mapping_sums_row(d, member->host, d->stage)) ||
            (member->host != node->host && lbm_membership_is_excluded(node, member->host)) ||
            (d->stage >= LBM_STAGE_REMAP && lbm_membership_is_straggler(node, member->host)))
            continue;
        const struct load_report *report = lbm_local_report_known(job, member->host);
        int is_past = lbm_mapping_sums_stage(d, member->host) > d->stage ||
                      (d->stage < LBM_STAGE_REMAP && report != NULL && report->phase >= LBM_PHASE_BALANCING);
        if (!is_past)
            return SUMS_WAITING;
        state = SUMS_PASSED;
    }
    return state;
}

enum lbm_err
lbm_mapping_sums_copy(const Lbm__Peer *message, struct sums_row *out)
{
    const Lbm__Sums *sums = message->sums;
    struct sums_row row = {.host = sums->of != 0 ? sums->of - 1 : message->src,
                           .stage = sums->stage,
                           .stamp = sums->stamp,
                           .hosts = sums->hosts,
                           .n = (uint32_t)sums->n_value,
                           .n_sample = (uint32_t)sums->n_sample_work,
                           .value = lbm_copy(sums->value, sums->n_value, sizeof *sums->value),
                           .sample = lbm_copy(sums->sample, sums->n_sample, sizeof *sums->sample),
                           .sample_work =
                               lbm_copy(sums->sample_work, sums->n_sample_work, sizeof *sums->sample_work)};
    if (row.value == NULL || row.sample == NULL || row.sample_work == NULL) {
        lbm_mapping_sums_free_row(&row);
        return LBM_E_NOMEM;
    }
    *out = row;
    return LBM_OK;
}

enum lbm_err
lbm_mapping_sums_add(struct sums_row *sum, const struct sums_row *row, unsigned m)
{
    uint32_t n_sample = sum->n_sample + row->n_sample;
    n_sample = n_sample < LBM_SUMS_SAMPLE_MAX ? n_sample : LBM_SUMS_SAMPLE_MAX;
    uint32_t n = sum->n > row->n ? sum->n : row->n, more = n_sample - sum->n_sample;
    double *value = n > sum->n ? lbm_alloc(n, sizeof *value) : sum->value;
    double *sample = more != 0 ? lbm_alloc((size_t)n_sample * m, sizeof *sample) : sum->sample;
    uint32_t *work = more != 0 ? lbm_alloc(n_sample, sizeof *work) : sum->sample_work;
    if ((n != 0 && value == NULL) || (n_sample != 0 && (sample == NULL || work == NULL))) {
        free(value != sum->value ? value : NULL);
        free(sample != sum->sample ? sample : NULL);
        free(work != sum->sample_work ? work : NULL);
        return LBM_E_NOMEM;
    }
    if (n > sum->n) {
        if (sum->n != 0)
            memcpy(value, sum->value, sum->n * sizeof *value);
        free(sum->value);
    }
    for (uint32_t k = 0; k < row->n; k++)
        value[k] += row->value[k];
    if (more != 0) {
        if (sum->n_sample != 0) {
            memcpy(sample, sum->sample, (size_t)sum->n_sample * m * sizeof *sample);
            memcpy(work, sum->sample_work, sum->n_sample * sizeof *work);
        }
        memcpy(&sample[(size_t)sum->n_sample * m], row->sample, (size_t)more * m * sizeof *sample);
        memcpy(&work[sum->n_sample], row->sample_work, more * sizeof *work);
        free(sum->sample);
        free(sum->sample_work);
    }
    sum->n = n;
    sum->n_sample = n_sample;
    sum->value = value;
    sum->sample = sample;
    sum->sample_work = work;
    return LBM_OK;
}

/* This host has gone past a stage that another one is in, and has yet to tell what it adds to its own: it
 * says where it is, with a row that counts in no sum. */
static void
tell_place(struct lbm_node *node, const struct job *job, uint32_t to)
{
    const struct diffuse *d = &job->diffuse;
    struct sums_row row = {.host = node->host, .stage = d->stage, .stamp = d->stamp, .hosts = ~d->hosts};
    lbm_mapping_sums_send(node, job, to, &row, SUMS_PART_OWN);
}

void
lbm_mapping_on_sums(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Sums *sums = message->sums;
    struct job *job = lbm_local_job(node, sums->job);
    if (sums->to != 0 && sums->to - 1 != node->host) {
        relay(node, message);
        return;
    }
    uint32_t src = sums->of != 0 ? sums->of - 1 : message->src;
    unsigned m = job != NULL ? job->shard.m : 0;
    if (job == NULL || lbm_view_member(&node->view, src) == NULL ||
        (job->phase > LBM_PHASE_MAPPING) != (sums->stage >= LBM_STAGE_REMAP) ||
        sums->n_sample != sums->n_sample_work * m ||
        !lbm_local_within_reach(node, message->src, "stage", sums->stage, job->diffuse.stage, LBM_STAGE_STEP))
        return;
    struct diffuse *d = &job->diffuse;
    if (sums->part == SUMS_PART_BELOW || sums->part == SUMS_PART_NONE)
        d->heard = sums->stage > d->heard ? sums->stage : d->heard;
    if (sums->part != SUMS_PART_OWN && d->is_tree)
        lbm_mapping_tree_on_sums(node, job, message);
    if (sums->part != SUMS_PART_OWN || d->is_tree)
        return;
    d->heard = sums->stage > d->heard ? sums->stage : d->heard;
    const struct sums_row *known = lbm_mapping_sums_row(d, src, sums->stage),
                          *own = lbm_mapping_sums_row(d, node->host, lbm_mapping_sums_stage(d, node->host));
    int is_repeated = known != NULL && known->stamp >= sums->stamp;
    if (sums->stage < d->stage) { /* it has lost the thread, or what it lacks got lost */
        if (own != NULL && (own->stage > sums->stage || is_repeated))
            lbm_mapping_sums_send(node, job, src, own, SUMS_PART_OWN);
        else if (own == NULL)
            tell_place(node, job, src);
        return;
    }
    if (is_repeated)
        return;
    struct sums_row row;
    if (lbm_mapping_sums_copy(message, &row) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    lbm_mapping_sums_put(node, d, row);
    job->remap.tick_us = node->now_us;
    job->tick_us = job->phase == LBM_PHASE_MAPPING ? node->now_us : job->tick_us;
}

void
lbm_mapping_sums_total(const struct diffuse *d, size_t n, double *sum)
{
    memset(sum, 0, n * sizeof *sum);
    if (d->is_tree) {
        size_t told = n < d->total.n ? n : d->total.n;
        if (told != 0)
            memcpy(sum, d->total.value, told * sizeof *sum);
        return;
    }
    for (size_t i = 0; i < d->rows.n; i++)
        for (size_t k = 0; counts(d, &d->rows.at[i]) && d->rows.at[i].n == n && k < n; k++)
            sum[k] += d->rows.at[i].value[k];
}
