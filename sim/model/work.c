/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who works on which vertex: the lease page as an application reads it, and I1 and I2. */
#include "sim/model/internal.h"

int
is_working(const struct cluster *c, const struct application *a, const struct held *held)
{
    const struct machine *m = &c->machine[a->host];
    return a->alive && !m->suspended && m->page.term == held->term &&
           (m->page.deadline_us == INT64_MAX || machine_now(c, a->host) < m->page.deadline_us);
}

static const struct held *
held_by(const struct application *a, uint32_t vertex)
{
    for (size_t i = 0; i < a->held.n; i++)
        if (a->held.at[i].vertex == vertex)
            return &a->held.at[i];
    return NULL;
}

static struct truth *
truth_of(struct cluster *c, const struct application *a, uint32_t vertex)
{
    struct guest *guest = check_guest(&c->check, a->job);
    return guest != NULL && vertex < guest->n ? &guest->vertex[vertex] : NULL;
}

/* I1: nobody else works on the vertex. */
static void
works_alone(struct cluster *c, uint32_t application, uint32_t vertex)
{
    const struct application *a = &c->applications.at[application];
    const struct truth *truth = truth_of(c, a, vertex);
    for (size_t i = 0; i < truth->workers.n; i++) {
        const struct application *other = &c->applications.at[truth->workers.at[i]];
        const struct held *held = other != a ? held_by(other, vertex) : NULL;
        if (held != NULL && is_working(c, other, held))
            check_violated(&c->check, "I1",
                           "applications on hosts %" PRIu32 " (token %" PRIu64 ") and %" PRIu32
                           " both work on vertex %" PRIu32,
                           other->host, held->token, a->host, vertex);
    }
}

void
work_begins(struct cluster *c, uint32_t application, const struct held *held)
{
    const struct application *a = &c->applications.at[application];
    struct truth *truth = truth_of(c, a, held->vertex);
    LBM_ASSERT(lbm_vec_push(&truth->workers, application) == LBM_OK);
    if (!is_working(c, a, held))
        return;
    if (held->token < truth->token)
        check_violated(&c->check, "I2",
                       "host %" PRIu32 " gives vertex %" PRIu32 " with token %" PRIu64 " after %" PRIu64,
                       a->host, held->vertex, held->token, truth->token);
    else if (held->token == truth->token && truth->token_host != a->host)
        check_violated(&c->check, "I2",
                       "hosts %" PRIu32 " and %" PRIu32 " give vertex %" PRIu32
                       " with the same token %" PRIu64,
                       truth->token_host, a->host, held->vertex, held->token);
    truth->token = held->token;
    truth->token_host = a->host;
    check_word(&c->check, a->host, c->disk[a->host].incarnation, a->job, held->vertex, held->token,
               LBM_STAGE_OWN);
    works_alone(c, application, held->vertex);
}

void
work_ends(struct cluster *c, uint32_t application, uint32_t vertex)
{
    struct truth *truth = truth_of(c, &c->applications.at[application], vertex);
    for (size_t i = truth->workers.n; i-- > 0;)
        if (truth->workers.at[i] == application)
            truth->workers.at[i] = truth->workers.at[--truth->workers.n];
}

void
work_again(struct cluster *c, uint32_t host)
{
    for (uint32_t i = 0; i < c->applications.n; i++) {
        const struct application *a = &c->applications.at[i];
        for (size_t k = 0; k < a->held.n && a->host == host; k++)
            if (is_working(c, a, &a->held.at[k]))
                works_alone(c, i, a->held.at[k].vertex);
    }
    judge(c);
}

/* I1: who takes over from a host, at that trigger, has waited for the end of its lease. */
void
work_inherited(struct cluster *c, uint32_t successor, uint32_t host, uint64_t incarnation)
{
    if (host >= c->n || c->disk[host].incarnation != incarnation)
        return;
    for (uint32_t i = 0; i < c->applications.n; i++) {
        const struct application *a = &c->applications.at[i];
        for (size_t k = 0; k < a->held.n && a->host == host; k++)
            if (is_working(c, a, &a->held.at[k]))
                check_violated(&c->check, "I1",
                               "host %" PRIu32 " takes over from host %" PRIu32
                               " while an application there works on vertex %" PRIu32,
                               successor, host, a->held.at[k].vertex);
    }
}

void
set_page(struct cluster *c, uint32_t host, struct page page)
{
    struct machine *m = &c->machine[host];
    int lapsed = m->page.deadline_us != INT64_MAX && machine_now(c, host) >= m->page.deadline_us;
    if (page.term != m->page.term || (lapsed && page.deadline_us != 0))
        trace(c, host, "lease until %" PRId64 " ms of its clock, term %" PRIu64, page.deadline_us / 1000,
              page.term);
    m->page = page;
    programs_write_page(c, host, page);
    if (lapsed)
        work_again(c, host);
}
