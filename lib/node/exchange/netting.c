/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What hosts of a job that had settled have promised one another (docs/adr/0017): work that one is to give
 * over their link, the sum of what both have agreed since they last gave. A session between hosts of which
 * one has too much agrees on numbers only; loads count as if what was promised had moved. What comes and goes
 * over a link cancels out, and what many sessions have agreed goes in one batch, when it has been the same
 * for RIPE_SWEEPS sweeps. Both ends keep their side of it, in memory: where they differ nothing was promised.
 */
#include "node/exchange/exchange.h"
#include "node/exchange/internal.h"

static struct promise *
promise_to(const struct session *s, uint32_t host)
{
    for (size_t i = 0; i < s->promises.n; i++)
        if (s->promises.at[i].host == host)
            return &s->promises.at[i];
    return NULL;
}

int64_t
promise_owed(const struct session *s, uint32_t host)
{
    const struct promise *promise = promise_to(s, host);
    return promise != NULL ? promise->owed : 0;
}

int64_t
promise_sum(const struct session *s)
{
    int64_t sum = 0;
    for (size_t i = 0; i < s->promises.n; i++)
        sum += s->promises.at[i].owed;
    return sum;
}

int64_t
promise_given(const struct session *s, uint32_t but)
{
    int64_t sum = 0;
    for (size_t i = 0; i < s->promises.n; i++)
        if (s->promises.at[i].owed > 0 && s->promises.at[i].host != but)
            sum += s->promises.at[i].owed;
    return sum;
}

int
promise_any(const struct session *s)
{
    for (size_t i = 0; i < s->promises.n; i++)
        if (s->promises.at[i].owed != 0)
            return 1;
    return 0;
}

static struct promise *
promise_add(struct lbm_node *node, struct session *s, uint32_t host)
{
    struct promise *promise = promise_to(s, host), fresh = {.host = host};
    if (promise != NULL)
        return promise;
    if (lbm_vec_push(&s->promises, fresh) != LBM_OK) {
        fail(node, LBM_E_NOMEM);
        return NULL;
    }
    return &s->promises.at[s->promises.n - 1];
}

void
promise_set(struct lbm_node *node, struct session *s, uint32_t host, int64_t owed)
{
    if (promise_owed(s, host) == owed)
        return;
    struct promise *promise = promise_add(node, s, host);
    if (promise == NULL)
        return;
    promise->owed = owed;
    promise->sweep = s->sweep;
    lbm_termination_disturb(&s->termination);
}

void
promise_broken(struct lbm_node *node, struct session *s, uint32_t host)
{
    struct promise *promise = promise_add(node, s, host);
    if (promise != NULL)
        promise->broken = 1;
}

void
promise_undelivered(struct lbm_node *node, struct session *s, uint32_t host)
{
    promise_broken(node, s, host);
    s->n_undelivered++;
}

void
promise_begin(struct session *s)
{
    s->n_undelivered = 0;
    for (size_t i = 0; i < s->promises.n; i++)
        s->promises.at[i].broken = 0;
}

void
promise_sweep(struct lbm_node *node, struct session *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->promises.n; i++) {
        struct promise promise = s->promises.at[i];
        if (session_colour(node, promise.host) != LBM_NONE && (promise.owed != 0 || promise.broken))
            s->promises.at[kept++] = promise;
    }
    s->promises.n = kept;
    if (promise_any(s))
        lbm_termination_disturb(&s->termination);
}

int
promise_possible(const struct lbm_node *node, const struct job *job, uint32_t host)
{
    const struct promise *promise = promise_to(&job->session, host);
    return exchange_is_fine(node, job) && !job->drifts && !is_aside(node, host) &&
           job->session.n_undelivered < UNDELIVERED_MOST && (promise == NULL || !promise->broken);
}

int
promise_ripe(const struct session *s, uint32_t host)
{
    const struct promise *promise = promise_to(s, host);
    return promise != NULL && promise->owed != 0 && s->sweep >= promise->sweep + RIPE_SWEEPS;
}

enum meeting
promise_meeting(const struct lbm_node *node, const struct job *job, const struct early_open *open)
{
    uint32_t host = open->host;
    const struct session *s = &job->session;
    int64_t owed = promise_owed(s, host);
    uint64_t load = session_load(job);
    if (!open->numbers || !promise_possible(node, job, host))
        return MEETING_EXCHANGE;
    if (owed != -open->owed)
        return MEETING_NUMBERS;
    if (owed != 0)
        return open->ripe && promise_ripe(s, host) ? MEETING_DELIVERY : MEETING_NUMBERS;
    int is_over = load > session_limit(node, job, node->host, load) ||
                  open->load > session_limit(node, job, host, open->load);
    return is_over ? MEETING_NUMBERS : MEETING_EXCHANGE;
}

/* Amounts from outside: more than any load means nothing. */
int64_t
promise_heard(uint64_t gives, uint64_t takes)
{
    return gives <= PROMISE_MAX && takes <= PROMISE_MAX ? (int64_t)gives - (int64_t)takes : 0;
}
