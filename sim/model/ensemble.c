/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ensemble of etcd that daemons run for the control log: a member runs as long as its machine does, and
 * the log answers while a majority of those in the list do. The list is brought in line as daemon/ensemble.c
 * does it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/model/internal.h"

enum { LOOK_US = 500000, BEGIN_US = 300000 };

static int
is_listed(const struct model_log *log, const struct lbm_ensemble_member *member, size_t *at)
{
    for (*at = 0; *at < log->listed.n; ++*at)
        if (log->listed.member[*at].host == member->host && log->listed.member[*at].since == member->since)
            return 1;
    return 0;
}

/* Nonzero if that member runs: its machine does, and its daemon knows the ensemble. One that is to go runs
 * until it is not listed any more. */
static int
runs(const struct cluster *c, size_t at)
{
    const struct lbm_ensemble_member *member = &c->log.listed.member[at];
    const struct machine *m = &c->machine[member->host];
    return m->node != NULL && !m->stopped && c->log.has_begun[at] && m->ensemble.id == c->log.listed.id;
}

static uint32_t
running(const struct cluster *c)
{
    uint32_t n = 0;
    for (size_t i = 0; i < c->log.listed.n; i++)
        n += runs(c, i) != 0;
    return n;
}

int
ensemble_answers(const struct cluster *c, uint32_t host)
{
    if (c->log.listed.id == 0 && c->machine[host].ensemble.id == 0)
        return 1;
    return c->machine[host].ensemble.id == c->log.listed.id && running(c) > c->log.listed.n / 2;
}

int
cluster_ensemble_survives(const struct cluster *c, uint32_t host)
{
    uint32_t left = running(c);
    for (size_t i = 0; i < c->log.listed.n; i++)
        left -= c->log.listed.member[i].host == host && runs(c, i);
    return !c->check.external || c->log.listed.id == 0 || left > c->log.listed.n / 2;
}

int
cluster_lose_ensemble(struct cluster *c, uint32_t from)
{
    uint32_t n = c->log.listed.n;
    if (c->log.is_lost)
        return 0;
    for (uint32_t i = 0; i <= n / 2; i++)
        c->log.has_begun[(from + i) % n] = 0;
    c->log.is_lost = 1;
    return 1;
}

int
cluster_ensemble_is_lost(const struct cluster *c, const uint8_t *dead)
{
    uint32_t n = 0;
    for (size_t i = 0; i < c->log.listed.n; i++)
        n += c->log.has_begun[i] && !dead[c->log.listed.member[i].host];
    return cluster_log_is_managed(c) &&
           (c->log.is_lost || (n <= c->log.listed.n / 2 && cluster_log_is_everywhere(c)));
}

static void
form(struct cluster *c, const struct lbm_ensemble *is)
{
    uint64_t before = c->log.listed.n != 0 ? c->log.listed.member[0].since : 0;
    for (size_t i = 0; i < c->log.listed.n; i++)
        before = c->log.listed.member[i].since > before ? c->log.listed.member[i].since : before;
    if (c->log.listed.id == is->id || is->member[0].since <= before)
        return;
    log_free(c);
    c->log.snapshot = (struct lbm_bytes){0};
    c->log.entries.n = 0;
    c->log.first = 0;
    c->log.listed = *is;
    c->log.is_lost = 0;
    memset(c->log.has_begun, 0, sizeof c->log.has_begun);
}

/* One step: who is not a member goes first. */
static void
keep_list(struct cluster *c, uint32_t host, const struct lbm_ensemble *is)
{
    struct model_log *log = &c->log;
    for (size_t i = 0; i < log->listed.n; i++) {
        const struct lbm_ensemble_member *in = lbm_ensemble_member(is, log->listed.member[i].host);
        if (in != NULL && in->since == log->listed.member[i].since)
            continue;
        trace(c, host, "etcd of host %" PRIu32 " is removed", log->listed.member[i].host);
        memmove(&log->listed.member[i], &log->listed.member[i + 1],
                (log->listed.n - 1 - i) * sizeof *log->listed.member);
        memmove(&log->has_begun[i], &log->has_begun[i + 1], (log->listed.n - 1 - i) * sizeof *log->has_begun);
        log->listed.n--;
        return;
    }
    for (size_t i = 0, at; i < is->n; i++)
        if (!is_listed(log, &is->member[i], &at)) {
            trace(c, host, "etcd of host %" PRIu32 " is added", is->member[i].host);
            log->has_begun[log->listed.n] = 0;
            log->listed.member[log->listed.n++] = is->member[i];
            return;
        }
}

static void
look_again(struct cluster *c, uint32_t host, int64_t us)
{
    struct happen looked = {
        .at_us = c->now_us + us, .kind = HAPPEN_LOOKED, .host = host, .life = c->machine[host].life};
    if (c->machine[host].looks)
        return;
    c->machine[host].looks = 1;
    happen_push(c, looked);
}

void
ensemble_effect(struct cluster *c, uint32_t host, const struct lbm_effect *effect)
{
    struct machine *m = &c->machine[host];
    m->ensemble = effect->as.ensemble.is;
    m->tends = effect->as.ensemble.tends;
    if (m->ensemble.id != 0 && m->ensemble.moved == 0)
        form(c, &m->ensemble);
    if (m->ensemble.id != 0)
        look_again(c, host, BEGIN_US + lbm_rng_below(&c->rng, BEGIN_US));
}

void
happen_looked(struct cluster *c, const struct happen *happen)
{
    struct machine *m = &c->machine[happen->host];
    const struct lbm_ensemble_member *self = lbm_ensemble_member(&m->ensemble, happen->host);
    struct lbm_event event = {.kind = LBM_EVENT_ENSEMBLE};
    struct lbm_ensemble_report *report = &event.as.ensemble;
    size_t at, n_right = 0, n_begun = 0;
    m->looks = 0;
    if (m->ensemble.id == 0 || m->ensemble.id != c->log.listed.id)
        return;
    int may_begin = (m->ensemble.moved == 0 && !c->log.is_lost) || running(c) > c->log.listed.n / 2;
    if (self != NULL && is_listed(&c->log, self, &at) && may_begin && !c->log.has_begun[at]) {
        trace(c, happen->host, "its etcd begins");
        c->log.has_begun[at] = 1;
    }
    int has_all = lbm_node_view(m->node) + 1 == c->log.first + c->log.entries.n;
    if (m->tends && m->ensemble.moved != 0 && has_all && ensemble_answers(c, happen->host))
        keep_list(c, happen->host, &m->ensemble);
    *report = (struct lbm_ensemble_report){
        .id = m->ensemble.id, .changed = m->ensemble.changed, .leader = LBM_NONE};
    for (uint32_t i = 0; i < m->ensemble.n; i++) {
        if (!is_listed(&c->log, &m->ensemble.member[i], &at))
            continue;
        n_right++;
        n_begun += c->log.has_begun[at] != 0;
        if (!runs(c, at) || !ensemble_answers(c, happen->host))
            continue;
        report->leader = report->n == 0 ? m->ensemble.member[i].host : report->leader;
        report->host[report->n++] = m->ensemble.member[i].host;
    }
    report->is_listed = n_right == m->ensemble.n && n_right == c->log.listed.n;
    report->is_settled = report->is_listed && n_begun == n_right;
    step(c, happen->host, &event);
    if (m->node == NULL)
        return;
    if (m->follows != 0 && ensemble_answers(c, happen->host))
        log_bring(c, happen->host);
    look_again(c, happen->host, LOOK_US);
}
