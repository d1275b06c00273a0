/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A host says numbers that nobody could have counted to, or offers what another host owns: its next ping to
 * another host is replaced by such a message of the same sender. Whatever is taken of it harms more than that
 * one message. */
#include <inttypes.h>
#include <stdlib.h>

#include "sim/model/internal.h"

enum { SAY_US = 5000000 };

void
cluster_forge(struct cluster *c, uint32_t from, uint32_t to, uint32_t what)
{
    c->forgery = (struct forgery){.is_due = 1, .from = from, .to = to, .what = what};
}

static int
has_been_said(struct cluster *c, void *unused)
{
    (void)unused;
    return c->words.message == NULL;
}

int
cluster_say(struct cluster *c, uint32_t from, uint32_t to, Lbm__Peer *message)
{
    c->words = (struct words){.from = from, .to = to, .message = message};
    int is_said = cluster_run(c, SAY_US, has_been_said, NULL);
    c->words.message = NULL;
    return is_said;
}

/* With the head of a ping that arrives, which is right for its receiver. All are in their first lives. */
static void
say(struct cluster *c, uint32_t host, const Lbm__Peer *ping)
{
    Lbm__Peer *message = c->words.message;
    c->words.message = NULL;
    message->cluster = ping->cluster;
    message->src = c->words.from;
    message->src_incarnation = 1;
    message->dst = ping->dst;
    message->dst_incarnation = ping->dst_incarnation;
    message->view = message->view != 0 ? message->view : ping->view;
    struct lbm_event event = {.kind = LBM_EVENT_MESSAGE, .as.received.message = message};
    trace(c, host, "hears what %" PRIu32 " has not said", c->words.from);
    step(c, host, &event);
}

/* A vertex without neighbours at that epoch. */
static void
offer(struct cluster *c, uint32_t host, const Lbm__Peer *as, uint64_t job, uint32_t v, uint64_t e)
{
    uint32_t vertex[1] = {v}, one[1] = {1}, none[1] = {LBM_NONE}, zero[1] = {0};
    uint64_t epoch[1] = {e};
    double position[LBM_DIMENSIONS_MAX] = {0.5, 0.5, 0.5};
    Lbm__Records records = LBM__RECORDS__INIT;
    records.n_vertex = records.n_epoch = records.n_work = records.n_pin = records.n_anchored = 1;
    records.n_degree = 1;
    records.vertex = vertex;
    records.epoch = epoch;
    records.work = one;
    records.pin = none;
    records.anchored = zero;
    records.degree = zero;
    records.n_position = c->h->m;
    records.position = position;
    Lbm__Offer body = LBM__OFFER__INIT;
    body.job = job;
    body.records = &records;
    Lbm__Peer message = *as;
    message.body_case = LBM__PEER__BODY_OFFER;
    message.offer = &body;
    struct lbm_event event = {.kind = LBM_EVENT_MESSAGE, .as.received.message = &message};
    step(c, host, &event);
}

/* Nonzero if that host takes part, and its disk is its present one: what is on it is its own, whether it can
 * say so or not. */
static int
is_owner(const struct cluster *c, uint32_t host)
{
    const struct lbm_member *member = lbm_view_member(&c->check.view, host);
    return member != NULL && lbm_view_participates(member) &&
           c->disk[host].incarnation == member->incarnation;
}

static int
has_row(const struct cluster *c, uint32_t host, uint64_t job, uint32_t vertex)
{
    const struct row_set *set = &c->disk[host].rows;
    for (size_t k = 0; k < set->jobs.n; k++)
        for (size_t r = 0; set->jobs.at[k].job == job && r < set->jobs.at[k].rows.n; r++)
            if (set->jobs.at[k].rows.at[r].vertex == vertex)
                return 1;
    return 0;
}

/* A vertex that a third host owns, and the liar never had, at an epoch that could be the next. */
static void
offer_of_another(struct cluster *c, uint32_t host, const Lbm__Peer *as, uint64_t job, uint32_t draw)
{
    const struct lbm_row *row = NULL;
    uint32_t owner = draw % c->n;
    if (model_is_large(c))
        return; /* nobody is asked there */
    for (uint32_t i = 0; i < c->n && row == NULL; i++, owner = (owner + 1) % c->n) {
        const struct row_set *set = &c->disk[owner].rows;
        int is_third = owner != host && owner != as->src && is_owner(c, owner);
        for (size_t k = 0; is_third && k < set->jobs.n; k++)
            for (size_t r = 0; set->jobs.at[k].job == job && r < set->jobs.at[k].rows.n && row == NULL; r++)
                if (set->jobs.at[k].rows.at[r].stage == LBM_STAGE_OWN &&
                    !has_row(c, as->src, job, set->jobs.at[k].rows.at[r].vertex))
                    row = &set->jobs.at[k].rows.at[r];
    }
    if (row != NULL)
        offer(c, host, as, job, row->vertex, row->epoch + 1 + draw % 3);
}

static void
moved(struct cluster *c, uint32_t host, const Lbm__Peer *as, uint64_t job)
{
    enum { SOME = 8 };
    uint32_t vertex[SOME], at[SOME];
    uint64_t epoch[SOME];
    for (uint32_t i = 0; i < SOME; i++) {
        vertex[i] = i;
        at[i] = as->src;
        epoch[i] = INT64_MAX - 1;
    }
    Lbm__Moved body = LBM__MOVED__INIT;
    body.job = job;
    body.n_vertex = body.n_epoch = body.n_host = SOME;
    body.vertex = vertex;
    body.epoch = epoch;
    body.host = at;
    Lbm__Peer message = *as;
    message.body_case = LBM__PEER__BODY_MOVED;
    message.moved = &body;
    struct lbm_event event = {.kind = LBM_EVENT_MESSAGE, .as.received.message = &message};
    step(c, host, &event);
}

static void
log_number(struct cluster *c, uint32_t host, const Lbm__Peer *as, uint32_t what)
{
    Lbm__LogPoll poll = LBM__LOG_POLL__INIT;
    Lbm__LogEntries entries = LBM__LOG_ENTRIES__INIT;
    Lbm__ReplAck ack = LBM__REPL_ACK__INIT;
    Lbm__Peer message = *as;
    poll.term = UINT64_MAX;
    poll.promise = 1;
    entries.from = entries.last = UINT64_MAX / 2;
    entries.term = what % 2 != 0 ? UINT64_MAX : 0;
    entries.leader = as->src;
    ack.repl_epoch = c->forgery.repl_epoch;
    ack.seq = UINT64_MAX / 2;
    if (what % 3 == 0) {
        message.body_case = LBM__PEER__BODY_LOG_POLL;
        message.log_poll = &poll;
    } else if (what % 3 == 1) {
        message.body_case = LBM__PEER__BODY_LOG_ENTRIES;
        message.log_entries = &entries;
    } else {
        message.body_case = LBM__PEER__BODY_REPL_ACK;
        message.repl_ack = &ack;
    }
    struct lbm_event event = {.kind = LBM_EVENT_MESSAGE, .as.received.message = &message};
    step(c, host, &event);
}

/* A ping arrives, or an acknowledgement, whose epoch is the present one. Nonzero if a forgery took its
 * place. */
int
forgery_arrives(struct cluster *c, uint32_t host, uint32_t from, const Lbm__Peer *message)
{
    struct forgery *f = &c->forgery;
    if (c->words.message != NULL && c->words.to == host && message->body_case == LBM__PEER__BODY_PING)
        say(c, host, message);
    if (!f->is_due || f->from != from || f->to != host)
        return 0;
    if (message->body_case == LBM__PEER__BODY_REPL_ACK)
        f->repl_epoch = message->repl_ack->repl_epoch;
    if (message->body_case != LBM__PEER__BODY_PING)
        return 0;
    f->is_due = 0;
    trace(c, host, "hears a forged number from %" PRIu32, from);
    uint64_t job = message->ping->n_jobs != 0 ? message->ping->jobs[0]->job : 0;
    Lbm__Peer as = *message;
    if (f->what % 8 == 0 && job != 0)
        offer(c, host, &as, job, 0, INT64_MAX); /* cannot be handed on */
    else if (f->what % 4 == 0 && job != 0)
        offer_of_another(c, host, &as, job, f->what / 8);
    else if (f->what % 4 == 1 && job != 0)
        moved(c, host, &as, job);
    else if (f->what % 4 == 2) {
        as.view = UINT64_MAX / 2;
        struct lbm_event event = {.kind = LBM_EVENT_MESSAGE, .as.received.message = &as};
        step(c, host, &event);
    } else
        log_number(c, host, &as, f->what / 4);
    return 1;
}
