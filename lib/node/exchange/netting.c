/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What hosts of a job that had settled have netted one another (docs/adr/0017): work that one is to give
 * over their link, the sum of what both have agreed since they last gave. A round between hosts of which
 * one has too much agrees on numbers only; loads count as if what was netted had moved. What comes and goes
 * over a link cancels out, and what many rounds have agreed goes in one batch, when it has been the same
 * for NETTING_SWEEPS sweeps. Both ends keep their side of it, in memory: where they differ nothing was
 * netted.
 */
#include "node/core/core.h"
#include "node/exchange/decision.h"
#include "node/exchange/exchange.h"
#include "node/exchange/internal.h"
#include "node/local/local.h"
#include "node/membership/membership.h"

static struct netted *
netted_with(const struct rounds *s, uint32_t host)
{
    for (size_t i = 0; i < s->netted.n; i++)
        if (s->netted.at[i].host == host)
            return &s->netted.at[i];
    return NULL;
}

int64_t
lbm_exchange_netting_outstanding(const struct rounds *s, uint32_t host)
{
    const struct netted *netted_amount = netted_with(s, host);
    return netted_amount != NULL ? netted_amount->outstanding : 0;
}

int64_t
lbm_exchange_netting_given(const struct rounds *s, uint32_t but)
{
    int64_t sum = 0;
    for (size_t i = 0; i < s->netted.n; i++)
        if (s->netted.at[i].outstanding > 0 && s->netted.at[i].host != but)
            sum += s->netted.at[i].outstanding;
    return sum;
}

int
lbm_exchange_netting_any(const struct rounds *s)
{
    for (size_t i = 0; i < s->netted.n; i++)
        if (s->netted.at[i].outstanding != 0)
            return 1;
    return 0;
}

static struct netted *
netted_add(struct lbm_node *node, struct rounds *s, uint32_t host)
{
    struct netted *netted_amount = netted_with(s, host), fresh = {.host = host};
    if (netted_amount != NULL)
        return netted_amount;
    if (lbm_vec_push(&s->netted, fresh) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    return &s->netted.at[s->netted.n - 1];
}

void
lbm_exchange_netting_set(struct lbm_node *node, struct rounds *s, uint32_t host, int64_t outstanding)
{
    if (lbm_exchange_netting_outstanding(s, host) == outstanding)
        return;
    struct netted *netted_amount = netted_add(node, s, host);
    if (netted_amount == NULL)
        return;
    netted_amount->outstanding = outstanding;
    netted_amount->sweep = s->sweep;
    lbm_termination_disturb(&s->termination);
}

void
lbm_exchange_netting_broken(struct lbm_node *node, struct rounds *s, uint32_t host)
{
    struct netted *netted_amount = netted_add(node, s, host);
    if (netted_amount != NULL)
        netted_amount->broken = 1;
}

void
lbm_exchange_netting_undelivered(struct lbm_node *node, struct rounds *s, uint32_t host)
{
    lbm_exchange_netting_broken(node, s, host);
    s->n_undelivered++;
}

void
lbm_exchange_netting_begin(struct rounds *s)
{
    s->n_undelivered = 0;
    for (size_t i = 0; i < s->netted.n; i++)
        s->netted.at[i].broken = 0;
}

void
lbm_exchange_netting_sweep(struct lbm_node *node, struct rounds *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->netted.n; i++) {
        struct netted netted_amount = s->netted.at[i];
        if (lbm_exchange_round_colour(node, netted_amount.host) != LBM_NONE &&
            (netted_amount.outstanding != 0 || netted_amount.broken))
            s->netted.at[kept++] = netted_amount;
    }
    s->netted.n = kept;
    if (lbm_exchange_netting_any(s))
        lbm_termination_disturb(&s->termination);
}

int
lbm_exchange_netting_possible(const struct lbm_node *node, const struct job *job, uint32_t host)
{
    const struct netted *netted_amount = netted_with(&job->rounds, host);
    return lbm_exchange_is_granular(node, job) && !job->drifts && !lbm_membership_is_straggler(node, host) &&
           job->rounds.n_undelivered < UNDELIVERED_MOST && (netted_amount == NULL || !netted_amount->broken);
}

int
lbm_exchange_netting_due(const struct rounds *s, uint32_t host)
{
    const struct netted *netted_amount = netted_with(s, host);
    return netted_amount != NULL && netted_amount->outstanding != 0 &&
           s->sweep >= netted_amount->sweep + NETTING_SWEEPS;
}

enum round_kind
lbm_exchange_netting_round(const struct lbm_node *node, const struct job *job, const struct early_open *open)
{
    uint32_t host = open->host;
    const struct rounds *s = &job->rounds;
    int64_t outstanding = lbm_exchange_netting_outstanding(s, host);
    uint64_t load = lbm_local_load(job);
    if (!open->numbers || !lbm_exchange_netting_possible(node, job, host))
        return ROUND_KIND_EXCHANGE;
    if (outstanding != -open->outstanding)
        return ROUND_KIND_NUMBERS;
    if (outstanding != 0)
        return open->due && lbm_exchange_netting_due(s, host) ? ROUND_KIND_DELIVERY : ROUND_KIND_NUMBERS;
    int is_over = load > lbm_exchange_limit(node, job, node->host, load, job->was_settled) ||
                  open->load > lbm_exchange_limit(node, job, host, open->load, job->was_settled);
    return is_over ? ROUND_KIND_NUMBERS : ROUND_KIND_EXCHANGE;
}

/* Amounts from outside: more than any load means nothing. */
int64_t
lbm_exchange_netting_heard(uint64_t gives, uint64_t takes)
{
    return gives <= NETTED_MAX && takes <= NETTED_MAX ? (int64_t)gives - (int64_t)takes : 0;
}
