/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who orders the control log, engine local: terms, and the operator's change of the role (PROTOCOL section
 * 1).
 *
 * A term has one leader. Who has heard of a term takes entries of that leader alone and refuses lower terms,
 * so a former leader is fenced by the first host it meets. A promotion asks twice: first whether all answer,
 * then for their promise of the new term, with which they stop following the old one. What the longest copy
 * has is taken over before the new leader orders anything.
 *
 * Once a promise was asked for nobody may lead but who asked, or who is promoted later: so asking goes on
 * after an answer of failure to the operator, and after a restart, until all have promised. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/log/internal.h"
#include "node/log/log.h"
#include "node/membership/membership.h"

enum {
    FORCED_TERMS = 8 /* an ensemble that is not lost after all may give the log to a host, a few times */
};

/* A higher term: its leader is followed from here on. LBM_NONE: it has yet to take the role. */
void
lbm_log_enter_term(struct lbm_node *node, uint64_t term, uint32_t leader)
{
    if (node->leader)
        lbm_core_note(node, LBM_NOTE_WARNING, "host %" PRIu32 " orders the control log from now on", leader);
    if (node->promotion.round != PROMOTION_NONE && leader != LBM_NONE)
        lbm_log_promotion_ends(node, LBM_E_BUSY, "another host is being promoted");
    if (node->leader_host != LBM_NONE && node->caught_up) /* it has led, and not only been promised to */
        node->followed = node->leader_host;
    node->term = term;
    node->leader = 0;
    node->leader_host = leader;
    node->caught_up = 0; /* until the leader of this term says so: what came before may have other entries */
    node->append_us = node->append_accepted = 0;
    node->leader_clock_us = 0;
    node->fetch_us = 0;
    lbm_log_store_term(node, leader);
}

void
lbm_log_term_start(struct lbm_node *node, const struct lbm_recovered *recovered)
{
    if (node->configured != LBM_LOG_ENGINE_LOCAL || recovered->term == 0)
        return;
    node->term = recovered->term;
    node->forced = recovered->forced;
    node->leader = recovered->leader == node->host;
    node->leader_host = recovered->leader;
}

void
lbm_log_leader_read(struct lbm_node *node)
{
    if (node->engine == LBM_LOG_ENGINE_LOCAL && node->term == 0 && !node->leader &&
        node->view.leader != node->host)
        node->leader_host = node->view.leader;
}

/* Others know that this host leads a term of which its disk knows nothing any more. */
static void
lead_again(struct lbm_node *node, uint64_t term)
{
    if (node->promotion.round != PROMOTION_NONE && node->promotion.round != PROMOTION_CONFIRM &&
        node->promotion.round != PROMOTION_CATCH_UP)
        return;
    lbm_core_note(node, LBM_NOTE_WARNING,
                  "the database is from before this host ordered the control log, term %" PRIu64
                  ": it asks the others for "
                  "what is missing",
                  term);
    node->followed = node->leader_host;
    node->term = term;
    node->leader = 1;
    node->leader_host = node->host;
    node->append_us = node->append_accepted = 0;
    lbm_log_store_term(node, node->host);
    node->promotion.round = PROMOTION_NONE;
    lbm_log_confirm_disk(node);
}

int
lbm_log_term_heard(struct lbm_node *node, uint64_t term, uint32_t leader, uint32_t from)
{
    if (node->engine != LBM_LOG_ENGINE_LOCAL ||
        !lbm_local_within_reach(node, from, "term", term, node->term, LBM_TERM_STEP))
        return 0;
    if (term > node->term && leader < LBM_HOSTS_MAX && !lbm_log_is_operator(node, leader)) {
        lbm_local_refused(node,
                          "host %" PRIu32 " says that host %" PRIu32 " leads term %" PRIu64
                          ", which it may not: see operators in lbmapd.conf(5)",
                          from, leader, term);
        return 0;
    }
    if (term > node->term && leader == node->host)
        lead_again(node, term);
    else if (term > node->term && leader < LBM_HOSTS_MAX)
        lbm_log_enter_term(node, term, leader);
    return term == node->term;
}

int
lbm_log_is_source(const struct lbm_node *node, uint32_t host)
{
    return host == node->leader_host ||
           (lbm_membership_is_contact(node, host) && lbm_view_member(&node->view, node->host) == NULL) ||
           (node->promotion.round == PROMOTION_FETCH && host == node->promotion.longest) ||
           lbm_log_confirm_takes_from(node, host);
}

/* ---- the host that is promoted -------------------------------------------------------------- */

void
lbm_log_promote_send_poll(struct lbm_node *node, uint32_t host)
{
    Lbm__LogPoll poll = LBM__LOG_POLL__INIT;
    poll.term = node->promotion.term;
    poll.promise = node->promotion.round == PROMOTION_PROMISE;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_POLL;
    message.log_poll = &poll;
    lbm_core_send(node, host, &message);
}

void
lbm_log_promote_begin_round(struct lbm_node *node, enum promotion_round round)
{
    struct promotion *p = &node->promotion;
    p->round = round;
    p->deadline_us = node->now_us + PROMOTE_US;
    p->awaited.n = 0;
    for (size_t i = 0; i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (member->host == node->host || !lbm_view_participates(member))
            continue;
        if (lbm_vec_push(&p->awaited, member->host) != LBM_OK) {
            lbm_core_fail(node, LBM_E_NOMEM);
            return;
        }
        lbm_log_promote_send_poll(node, member->host);
    }
}

static void
append_promote(struct lbm_node *node)
{
    Lbm__Promote promote = LBM__PROMOTE__INIT;
    promote.host = node->host;
    promote.term = node->term;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_PROMOTE;
    command.promote = &promote;
    lbm_log_append(node, &command);
}

/* Take over: nobody has more than this host, and all who answered follow it. */
static void
lead(struct lbm_node *node)
{
    LBM_ASSERT(node->held == 0);
    node->leader = 1;
    node->leader_host = node->host;
    node->caught_up = 1;
    lbm_log_store_term(node, node->host);
    if (lbm_log_is_forced(node))
        lbm_log_forced_timer(node);
    else
        append_promote(node);
    lbm_core_note(node, LBM_NOTE_INFO, "this host orders the control log from now on, term %" PRIu64,
                  node->term);
    lbm_log_promotion_ends(node, LBM_OK, "");
}

/* Entries that only another copy has. */
void
lbm_log_promote_fetch_rest(struct lbm_node *node)
{
    lbm_log_ask(node, node->promotion.longest);
    if (lbm_log_heard_alone(node) != LBM_NONE)
        lbm_log_ask_other(node, node->promotion.longest);
}

int
lbm_log_promote_takes(const struct lbm_node *node)
{
    return node->promotion.round == PROMOTION_CATCH_UP ||
           (node->promotion.round == PROMOTION_FETCH && node->promotion.longest != LBM_NONE);
}

void
lbm_log_promote_applied(struct lbm_node *node)
{
    if (!lbm_log_promote_takes(node) || node->log_waits.n != 0 || node->held != 0 ||
        lbm_log_last(node) >= node->promotion.last)
        return;
    node->fetch_us = node->now_us;
    lbm_log_promote_fetch_rest(node);
}

/* Nonzero if this host has all there is, and nobody says that it is something else. */
static int
has_all(const struct lbm_node *node)
{
    return lbm_log_last(node) >= node->promotion.last && node->log_waits.n == 0 &&
           !lbm_log_snapshot_pending(node) && node->doubted_by == LBM_NONE;
}

/* Nobody else is asked any more. What only the longest copy has comes first. */
static void
take_over(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    if (has_all(node)) {
        lead(node);
        return;
    }
    p->round = PROMOTION_FETCH;
    p->is_heard = 0;
    p->deadline_us = node->now_us + PROMOTE_US;
    node->fetch_us = node->now_us;
    p->awaited.n = 0; /* for lbctl status */
    if (p->longest != LBM_NONE && lbm_vec_push(&p->awaited, p->longest) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    if (p->longest != LBM_NONE)
        lbm_log_promote_fetch_rest(node);
    else if (node->doubted_by != LBM_NONE)
        lbm_log_fetch_doubt(node);
}

/* The backup, if it can and may, else any host of that state that is heard and may; LBM_NONE: there is none.
 */
static uint32_t
next_leader(const struct lbm_node *node, enum lbm_member_state state)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    uint32_t next = LBM_NONE;
    for (size_t i = 0; i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (member->host != node->host && member->state == state && lbm_log_is_operator(node, member->host) &&
            !lbm_membership_is_unreachable(node, member->host, UNREACHABLE_US) &&
            (next == LBM_NONE || (self != NULL && lbm_view_backup_slot(self, member->host) != NULL)))
            next = member->host;
    }
    return next;
}

int
lbm_log_hand_over(struct lbm_node *node, const char *why, int or_draining)
{
    if (node->engine != LBM_LOG_ENGINE_LOCAL || node->view.leader != node->host)
        return 0;
    if (!node->leader || !node->caught_up)
        return 1;
    uint32_t to = next_leader(node, LBM_MEMBER_ACTIVE);
    if (to == LBM_NONE && or_draining)
        to = next_leader(node, LBM_MEMBER_DRAINING);
    if (to == LBM_NONE)
        return 1;
    lbm_core_note(node, LBM_NOTE_WARNING, "%s: host %" PRIu32 " is asked to order the control log", why, to);
    Lbm__LogPoll poll = LBM__LOG_POLL__INIT;
    poll.term = node->term;
    poll.take = 1;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_POLL;
    message.log_poll = &poll;
    lbm_core_send(node, to, &message);
    return 1;
}

/* Every host that takes part must promise. */
static void
ask_promises(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    p->last = lbm_log_last(node);
    p->longest = LBM_NONE;
    p->n_longer = 0;
    lbm_log_promote_begin_round(node, PROMOTION_PROMISE);
    if (p->awaited.n == 0)
        take_over(node);
}

void
lbm_log_promote_ask_again(struct lbm_node *node)
{
    ask_promises(node);
}

/* The present round has all the answers that it will get. */
static void
end_round(struct lbm_node *node)
{
    char why[160];
    if (node->promotion.round != PROMOTION_ASK) {
        take_over(node);
        return;
    }
    if (node->engine == LBM_LOG_ENGINE_EXTERNAL && !lbm_log_forced_may_begin(node, why, sizeof why)) {
        lbm_log_promotion_ends(node, LBM_E_STATE, why);
        return;
    }
    if (node->engine == LBM_LOG_ENGINE_EXTERNAL)
        lbm_log_forced_store(node, node->promotion.term += FORCED_TERMS);
    lbm_log_enter_term(node, node->promotion.term, LBM_NONE);
    ask_promises(node);
}

void
lbm_log_promote_begin(struct lbm_node *node, uint64_t client, uint64_t request, int force)
{
    lbm_vec_free(&node->promotion.awaited);
    node->promotion = (struct promotion){.client = client,
                                         .request = request,
                                         .waits = client != 0,
                                         .force = force,
                                         .term = node->term + 1,
                                         .longest = LBM_NONE};
    lbm_log_promote_begin_round(node, PROMOTION_ASK);
    if (node->promotion.awaited.n == 0)
        end_round(node);
}

/* Nonzero if this host may lead where no other host may. */
static int
can_lead(const struct lbm_node *node)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    return self != NULL && lbm_view_participates(self) && lbm_local_is_alive(node);
}

int
lbm_log_may_promote(const struct lbm_node *node)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    return can_lead(node) && self->state != LBM_MEMBER_DRAINING;
}

void
lbm_log_answer_promote(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    struct promotion *p = &node->promotion;
    if (node->engine != LBM_LOG_ENGINE_LOCAL) {
        lbm_log_forced_answer(node, client, request);
    } else if (request->promote->force && lbm_log_confirm_force(node)) {
        Lbm__Response response = LBM__RESPONSE__INIT;
        lbm_core_reply(node, client->id, client->request, 1, &response);
    } else if (p->waits || p->round == PROMOTION_CONFIRM || p->round == PROMOTION_CATCH_UP) {
        lbm_core_reply_error(
            node, client->id, client->request, LBM_E_BUSY, "%s",
            p->waits ? "a promotion is in progress"
                     : "this host orders the control log, and waits for hosts that may have more of it; "
                       "lbctl status names them, --force passes them over");
    } else if (p->round != PROMOTION_NONE) {
        p->client = client->id; /* the one that was asked for before, and is not through */
        p->request = client->request;
        p->waits = 1;
        p->force = request->promote->force != 0;
        p->deadline_us = node->now_us + PROMOTE_US;
        if (p->force && p->round == PROMOTION_FETCH && lbm_log_heard_alone(node) == p->longest) {
            lbm_log_confirm_refuse(node, p->longest);
            ask_promises(node);
        }
    } else if (node->leader) {
        Lbm__Response response = LBM__RESPONSE__INIT;
        lbm_core_reply(node, client->id, client->request, 1, &response);
    } else if (!lbm_log_may_promote(node)) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_STATE,
                             "this host is no member that could do it");
    } else {
        lbm_log_promote_begin(node, client->id, client->request, request->promote->force != 0);
    }
}

/* This host's term was promised to another one, or is over. Of two with the same term the one with the higher
 * number takes the next term, the other gives up. */
static void
rival_met(struct lbm_node *node, const Lbm__LogPosition *position, uint32_t src)
{
    struct promotion *p = &node->promotion;
    uint32_t rival = position->leader != LBM_NONE ? position->leader : src;
    if (position->term > p->term || rival > node->host) {
        lbm_log_promotion_ends(node, LBM_E_BUSY, "another host is being promoted; try again");
        return;
    }
    p->term++;
    lbm_log_enter_term(node, p->term, LBM_NONE);
    ask_promises(node);
}

static int
is_awaited(const struct promotion *p, uint32_t host)
{
    for (size_t i = 0; i < p->awaited.n; i++)
        if (p->awaited.at[i] == host)
            return 1;
    return 0;
}

void
lbm_log_promote_behind(struct lbm_node *node, uint64_t last, uint32_t host)
{
    struct promotion *p = &node->promotion;
    p->n_longer++;
    if (last <= p->last)
        return;
    p->last = last;
    p->longest = host;
    p->is_said = 1;
}

void
lbm_log_on_position(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__LogPosition *position = message->log_position;
    struct promotion *p = &node->promotion;
    char why[160];
    if (!lbm_local_within_reach(node, message->src, "term", position->term, node->term, LBM_TERM_STEP) ||
        !lbm_local_within_reach(node, message->src, "log index", position->last, lbm_log_last(node),
                                LBM_INDEX_STEP) ||
        !lbm_log_forced_heard(node, message, position->term, position->leader))
        return;
    if (p->round == PROMOTION_ASK && node->engine == LBM_LOG_ENGINE_EXTERNAL && position->etcd) {
        snprintf(why, sizeof why,
                 "etcd answers host %" PRIu32
                 ", or did a few seconds ago: lbctl log move local moves the control log",
                 message->src);
        lbm_log_promotion_ends(node, LBM_E_STATE, why);
        return;
    }
    if (p->round == PROMOTION_CONFIRM) {
        lbm_log_confirm_heard(node, position, message->src);
        return;
    }
    if (p->round == PROMOTION_NONE || p->round == PROMOTION_FETCH || p->round == PROMOTION_CATCH_UP)
        return;
    if (p->round == PROMOTION_ASK && position->term >= p->term)
        p->term = position->term + 1; /* somebody knows of a later one than this host did */
    if (p->round == PROMOTION_PROMISE && position->term < p->term)
        return; /* of the round before */
    if (p->round == PROMOTION_PROMISE && (position->term > p->term || position->leader != node->host)) {
        rival_met(node, position, message->src);
        return;
    }
    if (p->round == PROMOTION_PROMISE && position->last > lbm_log_last(node) && is_awaited(p, message->src) &&
        lbm_log_confirm_counts(node, message->src))
        lbm_log_promote_behind(node, position->last, message->src);
    for (size_t i = 0; i < p->awaited.n; i++)
        if (p->awaited.at[i] == message->src) {
            p->awaited.at[i] = p->awaited.at[--p->awaited.n];
            if (p->awaited.n == 0)
                end_round(node);
            return;
        }
}

/* Somebody does not answer. What was asked for a promise is asked again; what was only asked is left. */
static void
round_fails(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    char why[160];
    if (p->round == PROMOTION_FETCH && p->longest != LBM_NONE && lbm_log_heard_alone(node) == p->longest)
        snprintf(why, sizeof why,
                 "no second host has what host %" PRIu32 " says comes after entry %" PRIu64
                 ": promote that host, or this one again by --force without it",
                 p->longest, lbm_log_last(node));
    else if (p->awaited.n == 0 && p->longest == LBM_NONE && node->doubted_by != LBM_NONE)
        snprintf(why, sizeof why,
                 "host %" PRIu32
                 " says that this host's control log is not the cluster's, and no other host has the same: "
                 "promote another one",
                 node->doubted_by);
    else
        snprintf(why, sizeof why, "host %" PRIu32 " does not answer%s",
                 p->awaited.n != 0 ? p->awaited.at[0] : p->longest,
                 p->round == PROMOTION_ASK ? ""
                                           : "; this host is promoted as soon as it does, or by --force");
    if (p->round == PROMOTION_ASK) {
        lbm_log_promotion_ends(node, LBM_E_TIMEOUT, why);
        return;
    }
    if (p->round == PROMOTION_FETCH)
        (void)lbm_log_confirm_silence(node);
    lbm_log_promotion_answer(node, LBM_E_TIMEOUT, why);
    ask_promises(node);
}

void
lbm_log_promote_timer(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    if (p->round == PROMOTION_NONE)
        return;
    if (p->round == PROMOTION_CONFIRM || p->round == PROMOTION_CATCH_UP) {
        lbm_log_confirm_timer(node);
        return;
    }
    if (p->round == PROMOTION_FETCH && has_all(node)) {
        lead(node);
        return;
    }
    if (node->now_us < p->deadline_us)
        return;
    int goes_on = p->force && p->round != PROMOTION_FETCH;
    for (size_t i = 0; i < p->awaited.n; i++)
        goes_on &= lbm_membership_is_unreachable(node, p->awaited.at[i], UNREACHABLE_US);
    if (goes_on)
        end_round(node);
    else
        round_fails(node);
}

void
lbm_log_promote_resume(struct lbm_node *node)
{
    if (node->term == 0 || node->leader_host != LBM_NONE)
        return;
    node->promotion = (struct promotion){.term = node->term};
    ask_promises(node);
}

int64_t
lbm_log_promote_deadline(const struct lbm_node *node)
{
    return node->promotion.round == PROMOTION_NONE ? INT64_MAX : node->promotion.deadline_us;
}

/* ---- all others ----------------------------------------------------------------------------- */

/* Nonzero if the leader's request begins a promotion: also in place of one that it asked for before, in which
 * some host has not answered and nobody has promised anything yet. */
static int
can_begin(const struct lbm_node *node)
{
    const struct promotion *p = &node->promotion;
    return can_lead(node) && (p->round == PROMOTION_NONE || (p->round == PROMOTION_ASK && !p->waits));
}

void
lbm_log_on_poll(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__LogPoll *poll = message->log_poll;
    if (node->configured != LBM_LOG_ENGINE_LOCAL ||
        !lbm_local_within_reach(node, message->src, "term", poll->term, node->term, LBM_TERM_STEP))
        return;
    lbm_log_store_deferred(node); /* what this host says it has */
    int is_heard = lbm_log_forced_heard(node, message, poll->term, poll->promise ? message->src : LBM_NONE);
    if (!is_heard)
        return;
    if (poll->promise && node->engine != LBM_LOG_ENGINE_LOCAL) {
        lbm_log_tell_moved(node, message->src);
        return;
    }
    /* A host whose disk was lost knows no members; it has nothing that the others could lack. */
    int may_ask = lbm_view_member(&node->view, message->src) != NULL || lbm_log_last(node) == 0;
    int is_asked = poll->promise && poll->term > node->term && may_ask;
    if (is_asked && !lbm_log_is_operator(node, message->src))
        return;
    if (is_asked)
        lbm_log_enter_term(node, poll->term, message->src);
    if (poll->take && poll->term == node->term && message->src == node->leader_host && can_begin(node))
        lbm_log_promote_begin(node, 0, 0, 0);
    Lbm__LogPosition position = LBM__LOG_POSITION__INIT;
    position.term = node->term;
    position.last = node->diverged ? 0 : lbm_log_last(node);
    position.leader = node->leader_host;
    position.in_step = node->caught_up && !node->diverged;
    position.etcd = lbm_log_ensemble_answers(node) != 0;
    Lbm__Peer answer = LBM__PEER__INIT;
    answer.body_case = LBM__PEER__BODY_LOG_POSITION;
    answer.log_position = &position;
    lbm_core_send(node, message->src, &answer);
}
