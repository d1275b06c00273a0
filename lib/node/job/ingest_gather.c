/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The coordinator of a guest that several hosts read gathers what they say of their parts: ranges that must
 * fill the guest, and sums that must fit together. It never sees the rows. That both sides of an edge say the
 * same, sums of hashes show: each edge counts once for it and once against it. When all are stored, the
 * coordinator proposes the job with the list of parts; in the log it is one entry, valid only if none of
 * their hosts has gone meanwhile. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/job/internal.h"
#include "node/job/job.h"
#include "node/local/local.h"
#include "node/membership/membership.h"

enum {
    GATHER_US = 120000000, /* without another part: those that are there are let go of */
};

static void
answer(struct lbm_node *node, uint32_t host, uint64_t token, uint64_t job, const char *refusal)
{
    if (host == node->host) {
        lbm_job_slice_answered(node, token, job, refusal);
        return;
    }
    char text[LBM_DIAG_TEXT_MAX] = "";
    if (refusal != NULL)
        snprintf(text, sizeof text, "%s", refusal);
    Lbm__SliceAnswer body = LBM__SLICE_ANSWER__INIT;
    body.token = token;
    body.job = job;
    body.refusal = text;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_SLICE_ANSWER;
    message.slice_answer = &body;
    lbm_core_send(node, host, &message);
}

/* Nothing comes of it; all that have stored a part hear why. */
static void
let_go(struct lbm_node *node, struct gathering *g, const char *why)
{
    for (size_t i = 0; i < node->gatherings.n; i++)
        if (node->gatherings.at[i] == g)
            node->gatherings.at[i] = node->gatherings.at[--node->gatherings.n];
    for (size_t i = 0; i < g->list.n && why != NULL; i++)
        answer(node, g->list.at[i].host, 0, g->job, why);
    lbm_vec_free(&g->list);
    free(g);
}

void
lbm_job_ingest_free(struct lbm_node *node)
{
    for (size_t i = 0; i < node->gatherings.n; i++) {
        lbm_vec_free(&node->gatherings.at[i]->list);
        free(node->gatherings.at[i]);
    }
    lbm_vec_free(&node->gatherings);
}

/* ---- parts that begin ---------------------------------------------------------------------------------- */

static struct gathering *
gathering_new(struct lbm_node *node, const Lbm__JobCreate *create)
{
    struct gathering *g = lbm_alloc(1, sizeof *g);
    if (g == NULL || lbm_vec_push(&node->gatherings, g) != LBM_OK) {
        free(g);
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    g->job = lbm_rng_next(&node->rng) | 1;
    g->parts = create->parts;
    g->entry = (struct lbm_job_entry){.vertices = create->vertices,
                                      .edges = create->edges,
                                      .start = create->start,
                                      .seed = create->seed,
                                      .imbalance = create->imbalance,
                                      .owner = create->owner};
    snprintf(g->entry.name, sizeof g->entry.name, "%s", create->name);
    lbm_job_policy_take(create->policy, &g->entry.policy);
    return g;
}

static struct gathering *
gathering_named(const struct lbm_node *node, const char *name)
{
    for (size_t i = 0; i < node->gatherings.n; i++)
        if (strcmp(node->gatherings.at[i]->entry.name, name) == 0)
            return node->gatherings.at[i];
    return NULL;
}

/* Why this part does not belong to what is there; 0: it does. */
static int
misfits(const struct gathering *g, uint32_t host, const Lbm__SliceBegin *begin, char why[LBM_DIAG_TEXT_MAX])
{
    const Lbm__JobCreate *create = begin->create;
    if (create->parts != g->parts || create->vertices != g->entry.vertices ||
        create->edges != g->entry.edges || create->start != g->entry.start || create->seed != g->entry.seed ||
        create->imbalance < g->entry.imbalance || create->imbalance > g->entry.imbalance)
        return snprintf(why, LBM_DIAG_TEXT_MAX,
                        "part %" PRIu32 " is of another guest than the first one that came (%" PRIu32
                        " parts, %" PRIu32 " vertices, %" PRIu64 " edges), or has other options",
                        begin->part, g->parts, g->entry.vertices, g->entry.edges);
    if (create->owner != g->entry.owner)
        return snprintf(why, LBM_DIAG_TEXT_MAX,
                        "part %" PRIu32 " is submitted by user %" PRIu32
                        ", the first one that came by user %" PRIu32 "; a job has one owner",
                        begin->part, create->owner, g->entry.owner);
    for (size_t i = 0; i < g->list.n; i++) {
        const struct gathered *known = &g->list.at[i];
        if (known->host == host && (known->number != begin->part || known->is_ready))
            return snprintf(why, LBM_DIAG_TEXT_MAX,
                            "host %" PRIu32 " reads part %" PRIu32 " already; each host reads one", host,
                            known->number);
        if (known->host != host && known->number == begin->part)
            return snprintf(why, LBM_DIAG_TEXT_MAX, "part %" PRIu32 " comes from host %" PRIu32 " already",
                            begin->part, known->host);
    }
    return 0;
}

/* Why nothing can be gathered here under that name; 0: it can. */
static int
is_refused(struct lbm_node *node, const Lbm__JobCreate *create, char why[LBM_DIAG_TEXT_MAX])
{
    if (!lbm_membership_is_routable(node) || lbm_view_host(&node->view, 0) != node->host)
        return snprintf(why, LBM_DIAG_TEXT_MAX,
                        "host %" PRIu32 " gathers no parts just now; try again in a moment", node->host);
    if (lbm_view_job_named(&node->view, create->name) != NULL)
        return snprintf(why, LBM_DIAG_TEXT_MAX,
                        "a job of that name exists already; cancel it or choose another name");
    if (create->parts > node->view.hosts.n)
        return snprintf(why, LBM_DIAG_TEXT_MAX,
                        "%" PRIu32 " parts for %" PRIu32 " hosts; each host reads one at most", create->parts,
                        node->view.hosts.n);
    return 0;
}

void
lbm_job_ingest_begin(struct lbm_node *node, uint32_t host, uint64_t incarnation, const Lbm__SliceBegin *begin)
{
    char why[LBM_DIAG_TEXT_MAX];
    struct gathering *g = gathering_named(node, begin->create->name);
    if (is_refused(node, begin->create, why) || (g != NULL && misfits(g, host, begin, why))) {
        answer(node, host, begin->token, 0, why);
        return;
    }
    if (g == NULL && (g = gathering_new(node, begin->create)) == NULL)
        return;
    struct gathered part = {.host = host,
                            .number = begin->part,
                            .first = begin->first,
                            .rows = begin->rows,
                            .incarnation = incarnation};
    g->heard_us = node->now_us;
    size_t at = 0;
    while (at < g->list.n && g->list.at[at].host != host)
        at++;
    if (at < g->list.n)
        g->list.at[at] = part; /* it begins again */
    else if (lbm_vec_push(&g->list, part) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    answer(node, host, begin->token, g->job, NULL);
}

void
lbm_job_on_slice_begin(struct lbm_node *node, const Lbm__Peer *message)
{
    lbm_job_ingest_begin(node, message->src, message->src_incarnation, message->slice_begin);
}

/* ---- all parts are there ------------------------------------------------------------------------------- */

static int
by_number(const void *a, const void *b)
{
    const struct gathered *p = a, *q = b;
    return p->number < q->number ? -1 : p->number > q->number;
}

/* Why the parts, in their order, are not a guest; 0: they are. */
static int
is_no_guest(const struct gathering *g, struct part_sums *all, char why[LBM_DIAG_TEXT_MAX])
{
    uint64_t next = 0;
    *all = (struct part_sums){0};
    for (size_t i = 0; i < g->list.n; i++) {
        const struct gathered *part = &g->list.at[i];
        if (part->first != next || part->rows == 0)
            return snprintf(why, LBM_DIAG_TEXT_MAX,
                            "part %" PRIu32 " begins at vertex %" PRIu32 ", but %" PRIu64 " is the next one",
                            part->number, part->first, next);
        next += part->rows;
        all->directions += part->sums.directions;
        all->work += part->sums.work;
        all->each_work = i == 0 || part->sums.each_work == all->each_work ? part->sums.each_work : 0;
        all->weight += part->sums.weight;
        all->balance += part->sums.balance;
    }
    if (next != g->entry.vertices || all->directions != 2 * g->entry.edges)
        return snprintf(why, LBM_DIAG_TEXT_MAX,
                        "all parts together have %" PRIu64 " vertices and %" PRIu64
                        " neighbours; announced were %" PRIu32 " and %" PRIu64,
                        next, all->directions, g->entry.vertices, 2 * g->entry.edges);
    if (all->balance != 0)
        return snprintf(why, LBM_DIAG_TEXT_MAX,
                        "some edge is in the row of one of its vertices only, or its weights differ; "
                        "check the guest as a whole, with lbctl convert");
    return 0;
}

static void
fill_parts(const struct gathering *g, Lbm__JobCreate *create)
{
    create->n_slice_host = create->n_slice_incarnation = create->n_slice_first = g->list.n;
    for (size_t i = 0; i < g->list.n; i++) {
        create->slice_host[i] = g->list.at[i].host;
        create->slice_incarnation[i] = g->list.at[i].incarnation;
        create->slice_first[i] = g->list.at[i].first;
    }
}

static void
propose(struct lbm_node *node, struct gathering *g, const struct part_sums *all)
{
    Lbm__JobCreate create = LBM__JOB_CREATE__INIT;
    Lbm__JobPolicy policy;
    struct job *job = lbm_local_job(node, g->job);
    if (job == NULL)
        job = lbm_job_add(node, g->job);
    lbm_job_policy_put(&g->entry.policy, &policy);
    create.job = g->job;
    create.name = g->entry.name;
    create.coordinator = node->host;
    create.coordinator_incarnation = node->incarnation;
    create.vertices = g->entry.vertices;
    create.edges = g->entry.edges;
    create.work = all->work;
    create.each_work = all->each_work;
    create.weight = all->weight / 2;
    create.start = g->entry.start;
    create.seed = g->entry.seed;
    create.imbalance = g->entry.imbalance;
    create.owner = g->entry.owner;
    create.policy = &policy;
    create.parts = g->parts;
    create.slice_host = lbm_alloc(g->list.n, sizeof *create.slice_host);
    create.slice_incarnation = lbm_alloc(g->list.n, sizeof *create.slice_incarnation);
    create.slice_first = lbm_alloc(g->list.n, sizeof *create.slice_first);
    enum lbm_err err = job == NULL || create.slice_host == NULL || create.slice_incarnation == NULL ||
                               create.slice_first == NULL
                           ? LBM_E_NOMEM
                           : LBM_OK;
    if (err == LBM_OK) {
        fill_parts(g, &create);
        err = lbm_job_store_pending(node, job, &create);
    }
    free(create.slice_host);
    free(create.slice_incarnation);
    free(create.slice_first);
    if (err != LBM_OK) {
        lbm_core_fail(node, err);
        return;
    }
    job->until_us = node->now_us + REQUEST_US;
    job->part.is_slice = 0; /* if this host has one, it is the coordinator's of the whole now */
    lbm_core_persist_flush(
        node); /* stored before it is proposed: a restart finds out whether the log has it */
    lbm_job_propose(node, job);
}

static void
finish(struct lbm_node *node, struct gathering *g)
{
    char why[LBM_DIAG_TEXT_MAX];
    struct part_sums all;
    qsort(g->list.at, g->list.n, sizeof *g->list.at, by_number);
    if (is_no_guest(g, &all, why)) {
        let_go(node, g, why);
        return;
    }
    propose(node, g, &all);
    let_go(node, g, NULL);
}

void
lbm_job_ingest_ready(struct lbm_node *node, uint32_t host, const Lbm__SliceReady *ready)
{
    struct gathering *g = NULL;
    for (size_t i = 0; i < node->gatherings.n && g == NULL; i++)
        if (node->gatherings.at[i]->job == ready->job)
            g = node->gatherings.at[i];
    if (g == NULL) {
        const struct job *job = lbm_local_job(node, ready->job);
        int comes = lbm_view_job(&node->view, ready->job) != NULL || (job != NULL && !job->part.is_slice);
        if (!comes)
            answer(node, host, 0, ready->job,
                   "the host that gathers the parts has forgotten them; submit all of them again");
        return;
    }
    uint32_t n_ready = 0;
    for (size_t i = 0; i < g->list.n; i++) {
        struct gathered *part = &g->list.at[i];
        if (part->host == host && !part->is_ready) {
            part->is_ready = 1;
            part->sums = (struct part_sums){.directions = ready->directions,
                                            .work = ready->work,
                                            .each_work = ready->each_work,
                                            .weight = ready->weight,
                                            .balance = ready->balance};
            g->heard_us = node->now_us;
        }
        n_ready += part->is_ready != 0;
    }
    if (n_ready == g->parts)
        finish(node, g);
}

void
lbm_job_on_slice_ready(struct lbm_node *node, const Lbm__Peer *message)
{
    lbm_job_ingest_ready(node, message->src, message->slice_ready);
}

/* ---- parts that do not come ---------------------------------------------------------------------------- */

void
lbm_job_ingest_timer(struct lbm_node *node)
{
    for (size_t i = node->gatherings.n; i-- > 0;) {
        struct gathering *g = node->gatherings.at[i];
        if (node->now_us - g->heard_us < GATHER_US)
            continue;
        uint32_t n_ready = 0;
        char why[LBM_DIAG_TEXT_MAX];
        for (size_t k = 0; k < g->list.n; k++)
            n_ready += g->list.at[k].is_ready != 0;
        snprintf(why, sizeof why,
                 "only %" PRIu32 " of %" PRIu32 " parts came within %d s; submit all of them again", n_ready,
                 g->parts, (int)(GATHER_US / 1000000));
        let_go(node, g, why);
    }
}

int64_t
lbm_job_ingest_deadline(const struct lbm_node *node)
{
    int64_t when = INT64_MAX;
    for (size_t i = 0; i < node->gatherings.n; i++)
        if (node->gatherings.at[i]->heard_us + GATHER_US < when)
            when = node->gatherings.at[i]->heard_us + GATHER_US;
    return when;
}
