/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The third engine of the control log: linearizable, as an ensemble of etcd is from outside, with delay,
 * unavailability and answers that are lost after the append has happened. */
#include <stdlib.h>
#include <string.h>

#include "sim/model/internal.h"

enum { LOG_DELAY_LEAST_US = 300, LOG_DELAY_SPREAD_US = 8000, LOG_TIMEOUT_US = 1000000, LOG_BATCH = 32 };

static int64_t
log_delay(struct cluster *c)
{
    return LOG_DELAY_LEAST_US + lbm_rng_below(&c->rng, LOG_DELAY_SPREAD_US);
}

static uint64_t
log_end(const struct model_log *log)
{
    return log->first + log->entries.n;
}

/* Entries are on their way to a host that follows and has not got all. */
static int
is_away(const struct cluster *c, uint32_t host)
{
    return c->log.unavailable || !ensemble_answers(c, host) || c->log.first == 0;
}

static void
bring(struct cluster *c, uint32_t host)
{
    struct machine *m = &c->machine[host];
    if (m->follows == 0 || m->following || m->deaf || is_away(c, host))
        return;
    m->following = 1;
    struct happen followed = {
        .at_us = c->now_us + log_delay(c), .kind = HAPPEN_FOLLOWED, .host = host, .life = m->life};
    happen_push(c, followed);
}

void
log_bring(struct cluster *c, uint32_t host)
{
    if (c->machine[host].follows < log_end(&c->log))
        bring(c, host);
}

static void
bring_all(struct cluster *c)
{
    for (uint32_t p = 0; p < c->n; p++)
        if (c->machine[p].follows < log_end(&c->log))
            bring(c, p);
}

/* The append is decided at once: any time between the question and the answer will do. */
static void
append(struct cluster *c, uint32_t host, uint64_t index, struct lbm_bytes command)
{
    struct model_log *log = &c->log;
    struct happen answer = {.at_us = c->now_us + log_delay(c),
                            .kind = HAPPEN_APPENDED,
                            .host = host,
                            .life = c->machine[host].life,
                            .number = index,
                            .result = LBM_LOG_CONFLICT};
    if (is_away(c, host)) {
        answer.result = LBM_LOG_UNKNOWN;
        free(command.at);
    } else if (index == log_end(log)) {
        answer.result = LBM_LOG_TAKEN;
        LBM_ASSERT(lbm_vec_push(&log->entries, command) == LBM_OK);
        bring_all(c);
    } else {
        if (index > log_end(log))
            check_violated(&c->check, "I5", "host %" PRIu32 " leaves a gap before index %" PRIu64, host,
                           index);
        free(command.at);
    }
    if (answer.result != LBM_LOG_UNKNOWN && lbm_rng_unit(&c->rng) < log->loses)
        answer.result = LBM_LOG_UNKNOWN;
    if (answer.result == LBM_LOG_UNKNOWN)
        answer.at_us = c->now_us + LOG_TIMEOUT_US;
    trace(c, host, "appends %" PRIu64 " to the log: %s", index,
          answer.result == LBM_LOG_TAKEN      ? "taken"
          : answer.result == LBM_LOG_CONFLICT ? "conflict"
                                              : "unknown");
    happen_push(c, answer);
}

static void
compact(struct cluster *c, uint32_t host, uint64_t index, struct lbm_bytes view)
{
    struct model_log *log = &c->log;
    if (index < log->first || index >= log_end(log) || is_away(c, host)) {
        free(view.at);
        return;
    }
    size_t n = (size_t)(index + 1 - log->first);
    for (size_t i = 0; i < n; i++)
        free(log->entries.at[i].at);
    memmove(log->entries.at, &log->entries.at[n], (log->entries.n - n) * sizeof *log->entries.at);
    log->entries.n -= n;
    log->first = index + 1;
    free(log->snapshot.at);
    log->snapshot = view;
}

void
log_effect(struct cluster *c, uint32_t host, struct lbm_effect *effect)
{
    switch (effect->kind) {
    case LBM_EFFECT_LOG_APPEND:
        append(c, host, effect->as.log.index, effect->as.log.bytes);
        break;
    case LBM_EFFECT_LOG_COMPACT:
        compact(c, host, effect->as.log.index, effect->as.log.bytes);
        break;
    case LBM_EFFECT_LOG_BEGIN:
        if (c->log.first == 0 && c->machine[host].ensemble.id == c->log.listed.id) {
            c->log.first = effect->as.log.index;
            LBM_ASSERT(lbm_vec_push(&c->log.entries, effect->as.log.bytes) == LBM_OK);
        } else {
            free(effect->as.log.bytes.at);
        }
        break;
    default:
        c->machine[host].follows = effect->as.log.index;
        bring(c, host);
        break;
    }
}

void
happen_appended(struct cluster *c, const struct happen *happen)
{
    struct lbm_event event = {.kind = LBM_EVENT_LOG_RESULT};
    event.as.log_result.index = happen->number;
    event.as.log_result.result = (enum lbm_log_result)happen->result;
    step(c, happen->host, &event);
}

void
happen_followed(struct cluster *c, const struct happen *happen)
{
    struct machine *m = &c->machine[happen->host];
    struct model_log *log = &c->log;
    m->following = 0;
    if (is_away(c, happen->host))
        return;
    struct lbm_event event = {.kind = LBM_EVENT_LOG_ENTRIES};
    if (m->follows < log->first) {
        event.kind = LBM_EVENT_LOG_SNAPSHOT;
        event.as.log_snapshot.index = log->first - 1;
        event.as.log_snapshot.view = log->snapshot;
        m->follows = log->first;
    } else {
        size_t at = (size_t)(m->follows - log->first);
        size_t n = at < log->entries.n ? log->entries.n - at : 0;
        event.as.log_entries.from = m->follows;
        event.as.log_entries.n = n < LOG_BATCH ? n : LOG_BATCH;
        event.as.log_entries.command = n != 0 ? &log->entries.at[at] : NULL;
        event.as.log_entries.caught_up = n <= LOG_BATCH;
        m->follows += event.as.log_entries.n;
    }
    step(c, happen->host, &event);
    if (m->node != NULL && m->follows < log_end(log))
        bring(c, happen->host);
}

int
cluster_log_is_external(const struct cluster *c)
{
    return c->check.external;
}

int
cluster_log_is_everywhere(const struct cluster *c)
{
    uint64_t last = c->check.external ? log_end(&c->log) - 1 : c->check.log.n;
    for (uint32_t p = 0; p < c->n; p++)
        if (c->disk[p].known && c->disk[p].snapshot_index + c->disk[p].log.n != last)
            return 0;
    return 1;
}

void
cluster_log_unavailable(struct cluster *c, int on)
{
    c->log.unavailable = on;
    for (uint32_t p = 0; p < c->n && !on; p++)
        bring(c, p);
}

void
cluster_log_deaf(struct cluster *c, uint32_t host, int on)
{
    c->machine[host].deaf = on;
    bring(c, host);
}

void
cluster_log_loses(struct cluster *c, double share)
{
    c->log.loses = share;
}

void
cluster_part_log(struct cluster *c, uint32_t host)
{
    c->check.parted = host + 1;
}

int
cluster_log_is_managed(const struct cluster *c)
{
    return c->check.external && c->log.listed.id != 0;
}

void
log_free(struct cluster *c)
{
    for (size_t i = 0; i < c->log.entries.n; i++)
        free(c->log.entries.at[i].at);
    lbm_vec_free(&c->log.entries);
    free(c->log.snapshot.at);
}
