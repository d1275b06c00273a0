/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over the hosts of a large cluster, along a tree of the active ones by their numbers: each tells the
 * host above it what it and all below it add, and the first of them tells what came of it to those below,
 * which pass it on. A host that is silent for long is skipped: those below it turn to the next above, and if
 * nobody is above them, to the first that is not silent. So nobody is the coordinator, though somebody is
 * first. */
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"
#include "node/membership/membership.h"

enum { CHILDREN = 8 /* of a host in the tree: 4,096 hosts are four levels deep */ };

int
lbm_mapping_tree_is_large(const struct lbm_node *node)
{
    return node->view.active.n > (node->tree_hosts != 0 ? node->tree_hosts : LBM_VIEW_SMALL);
}

/* ---- who is above and below ---------------------------------------------------------------------------- */

/* Not heard of while this host waited for it in this stage. Who is awaited in the place of a silent one is
 * given as long again. */
static int
is_unreachable(const struct lbm_node *node, const struct diffuse *d, uint32_t host, int skipped)
{
    const struct peer *peer = lbm_membership_peer_known(node, host);
    int64_t heard_us = peer != NULL && peer->heard_us > d->since_us ? peer->heard_us : d->since_us;
    return host != node->host && node->now_us - heard_us > (int64_t)EXCLUDE_US * (1 + skipped);
}

/* The number of the host that this one tells; LBM_NONE: there is none, it is the first. */
static uint32_t
above(const struct lbm_node *node, const struct diffuse *d)
{
    uint32_t self = lbm_view_number(&node->view, node->host), n = node->view.hosts.n, at = self;
    int skipped = 0;
    while (at != LBM_NONE && at != 0) {
        at = (at - 1) / CHILDREN;
        if (!is_unreachable(node, d, lbm_view_host(&node->view, at), skipped++))
            return at;
    }
    for (uint32_t p = self == LBM_NONE ? 0 : 1; p < n && p < self && p <= CHILDREN; p++)
        if (!is_unreachable(node, d, lbm_view_host(&node->view, p), skipped++))
            return p;
    return LBM_NONE;
}

/* Whether all at and below position `at` have told, but for those that are silent. In/out: sum: what they
 * told is added, or NULL. Sets *err if memory is short. */
static int
gather(const struct lbm_node *node, const struct diffuse *d, uint32_t at, int skipped, struct sums_row *sum,
       unsigned m, enum lbm_err *err)
{
    uint32_t host = lbm_view_host(&node->view, at), n = node->view.hosts.n;
    const struct sums_row *row = lbm_mapping_sums_row(d, host, d->stage);
    if (row == NULL && !is_unreachable(node, d, host, skipped))
        return 0;
    if (row != NULL && sum != NULL && *err == LBM_OK)
        *err = lbm_mapping_sums_add(sum, row, m);
    if (row != NULL && host != node->host)
        return 1;
    for (uint32_t k = 1; k <= CHILDREN && (uint64_t)at * CHILDREN + k < n; k++)
        if (!gather(node, d, at * CHILDREN + k, skipped + (host != node->host), sum, m, err))
            return 0;
    return 1;
}

/* ---- telling ------------------------------------------------------------------------------------------- */

/* The hosts below that one in the tree, and those below them if they are silent. */
static void
tell_below(struct lbm_node *node, struct job *job, uint32_t at, int skipped, const struct sums_row *row,
           enum sums_part part)
{
    for (uint32_t k = 1; k <= CHILDREN && (uint64_t)at * CHILDREN + k < node->view.hosts.n; k++) {
        uint32_t child = at * CHILDREN + k, host = lbm_view_host(&node->view, child);
        if (host != node->host)
            lbm_mapping_sums_send(node, job, host, row, part);
        if (is_unreachable(node, &job->diffuse, host, skipped))
            tell_below(node, job, child, skipped + 1, row, part);
    }
}

/* To all that may wait for it: those below, and others that told this host. */
static void
pass_on(struct lbm_node *node, struct job *job)
{
    const struct diffuse *d = &job->diffuse;
    uint32_t self = lbm_view_number(&node->view, node->host);
    if (self != LBM_NONE)
        tell_below(node, job, self, 0, &d->total, SUMS_PART_ALL);
    for (size_t i = 0; i < d->rows.n; i++) {
        const struct sums_row *row = &d->rows.at[i];
        uint32_t p = lbm_view_number(&node->view, row->host);
        int is_below = p != LBM_NONE && p != 0 && (p - 1) / CHILDREN == self;
        if (row->stage == d->total.stage && row->host != node->host && !is_below)
            lbm_mapping_sums_send(node, job, row->host, &d->total, SUMS_PART_ALL);
    }
}

/* This host is there, but has nothing to tell. */
static void
say_none(struct lbm_node *node, struct job *job, uint32_t host)
{
    struct diffuse *d = &job->diffuse;
    const struct sums_row none = {.stage = d->stage, .stamp = lbm_mapping_sums_number(node, d)};
    lbm_mapping_sums_send(node, job, host, &none, SUMS_PART_NONE);
}

/* All have told the first: what follows goes to everybody. */
static void
complete(struct lbm_node *node, struct job *job, struct sums_row *sum)
{
    struct diffuse *d = &job->diffuse;
    d->complete(node, job, sum);
    if (node->failed != LBM_OK)
        return;
    lbm_mapping_sums_free_row(&d->total);
    d->total = *sum;
    *sum = (struct sums_row){0};
    pass_on(node, job);
    job->tick_us = job->remap.tick_us = node->now_us;
}

/* Tell what is complete below, or that it is not any more. */
static void
push(struct lbm_node *node, struct job *job, int again)
{
    struct diffuse *d = &job->diffuse;
    uint32_t up = above(node, d), self = lbm_view_number(&node->view, node->host);
    unsigned m = job->shard.m;
    uint32_t from = up == LBM_NONE ? 0 : self;
    struct sums_row sum = {.host = node->host, .stage = d->stage};
    enum lbm_err err = LBM_OK;
    int is_whole = lbm_mapping_sums_row(d, node->host, d->stage) != NULL;
    if (self != LBM_NONE)
        is_whole =
            is_whole && gather(node, d, from, 0, NULL, m, &err) && gather(node, d, from, 0, &sum, m, &err);
    for (size_t i = 0; is_whole && i < d->rows.n && err == LBM_OK; i++) /* those that drain */
        if (d->rows.at[i].stage == d->stage && lbm_view_number(&node->view, d->rows.at[i].host) == LBM_NONE)
            err = lbm_mapping_sums_add(&sum, &d->rows.at[i], m);
    if (err != LBM_OK) {
        lbm_core_fail(node, err);
    } else if (is_whole && up == LBM_NONE) {
        complete(node, job, &sum);
    } else if (is_whole) {
        sum.stamp = lbm_mapping_sums_number(node, d);
        lbm_mapping_sums_send(node, job, lbm_view_host(&node->view, up), &sum, SUMS_PART_BELOW);
    } else if (up != LBM_NONE && (again || d->has_pushed)) {
        say_none(node, job, lbm_view_host(&node->view, up));
    }
    d->has_pushed = is_whole;
    lbm_mapping_sums_free_row(&sum);
}

void
lbm_mapping_tree_tell(struct lbm_node *node, struct job *job)
{
    if (job->diffuse.total.stage < job->diffuse.stage)
        push(node, job, 0);
}

void
lbm_mapping_tree_withdraw(struct lbm_node *node, struct job *job)
{
    struct diffuse *d = &job->diffuse;
    lbm_mapping_sums_drop(d, node->host, d->stage);
    d->is_told = 0;
    lbm_mapping_tree_tell(node, job);
}

void
lbm_mapping_tree_timer(struct lbm_node *node, struct job *job)
{
    struct diffuse *d = &job->diffuse;
    uint32_t self = lbm_view_number(&node->view, node->host);
    if (node->now_us < d->tree_us || d->total.stage >= d->stage)
        return;
    d->tree_us = node->now_us + SUMS_AGAIN_US;
    push(node, job, 1);
    const struct sums_row none = {.stage = d->stage, .stamp = lbm_mapping_sums_number(node, d)};
    if (self != LBM_NONE && d->total.stage < d->stage)
        tell_below(node, job, self, 0, &none, SUMS_PART_NONE);
}

enum sums_state
lbm_mapping_tree_state(const struct job *job)
{
    const struct diffuse *d = &job->diffuse;
    if (d->total.stage < d->stage)
        return SUMS_WAITING;
    return d->total.stage == d->stage && d->is_told ? SUMS_COMPLETE : SUMS_PASSED;
}

/* ---- hearing ------------------------------------------------------------------------------------------- */

static void
on_total(struct lbm_node *node, struct job *job, const Lbm__Peer *message)
{
    struct diffuse *d = &job->diffuse;
    struct sums_row total;
    if (message->sums->stage <= d->total.stage)
        return;
    if (lbm_mapping_sums_copy(message, &total) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    lbm_mapping_sums_free_row(&d->total);
    d->total = total;
    pass_on(node, job);
    job->tick_us = job->remap.tick_us = node->now_us;
}

void
lbm_mapping_tree_on_sums(struct lbm_node *node, struct job *job, const Lbm__Peer *message)
{
    const Lbm__Sums *sums = message->sums;
    struct diffuse *d = &job->diffuse;
    if (job->heard_phase < LBM_PHASE_MAPPING)
        job->heard_phase = LBM_PHASE_MAPPING;
    if (sums->hosts != d->hosts)
        return; /* one of the two does not know yet who is there; it comes again */
    if (sums->part == SUMS_PART_ALL) {
        on_total(node, job, message);
        return;
    }
    if (sums->stage <= d->total.stage) { /* it lags, or what it waits for got lost */
        lbm_mapping_sums_send(node, job, message->src, &d->total, SUMS_PART_ALL);
        return;
    }
    if (sums->stage < d->stage) { /* a stage that all have left out */
        const struct sums_row last = {.stage = d->stage - 1};
        lbm_mapping_sums_send(node, job, message->src, &last, SUMS_PART_ALL);
        return;
    }
    if (sums->stage > (d->total.stage > d->stage ? d->total.stage : d->stage) + 1)
        return; /* this host lags, and will hear of it again once it does not */
    const struct sums_row *known = lbm_mapping_sums_row(d, message->src, sums->stage);
    if (known != NULL && known->stamp >= sums->stamp)
        return;
    if (sums->part == SUMS_PART_NONE) {
        if (known == NULL)
            return;
        lbm_mapping_sums_drop(d, message->src, sums->stage);
    } else {
        struct sums_row row;
        if (lbm_mapping_sums_copy(message, &row) != LBM_OK) {
            lbm_core_fail(node, LBM_E_NOMEM);
            return;
        }
        lbm_mapping_sums_put(node, d, row);
    }
    if (node->failed == LBM_OK && d->stage != 0)
        push(node, job, 0);
}
