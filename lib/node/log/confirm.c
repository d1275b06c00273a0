/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Engine local: a leader asks before it orders anything (docs/protocol.md, "The control log").
 *
 * Its disk may be an older copy, or empty: a leader that starts is unreachable until every member that takes
 * part has said how much of the log it has. It takes what it lacks from the longest copy and asks again,
 * since those entries may name other members. One that has no log at all waits LEAD_ALONE_US for others to
 * connect, and takes theirs; only then it founds a cluster.
 *
 * Waiting for all would let a single lost host keep the log from being written, and so from evicting it. So
 * the last host that does not answer is passed over after LEAD_WAIT_US if all others are in step: what the
 * leader told one of them it told all. More than one, or none but that one: an operator decides
 * (lbctl log promote --force at the leader).
 *
 * A leader that was only suspended, or cut off, knows its disk: then whoever does not answer within
 * PROMOTE_US is passed over. */
#include <inttypes.h>
#include <stdlib.h>

#include "node/core/core.h"
#include "node/log/internal.h"
#include "node/log/log.h"

enum {
    TELL_US = 60000000, /* between notes that the leader waits */
    SILENT_ROUNDS = 3   /* of PROMOTE_US each, in which who has more is asked every FETCH_RETRY_US */
};

static void
begin(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    node->caught_up = 0;
    p->term = node->term;
    p->last = lbm_log_last(node);
    p->longest = LBM_NONE;
    p->n_answers = p->n_behind = p->n_longer = 0;
    lbm_log_promote_begin_round(node, PROMOTION_CONFIRM);
    if (p->awaited.n == 0)
        p->deadline_us = node->now_us + (p->doubts_disk ? LEAD_ALONE_US : 0);
}

/* The longest copy that is told of is remembered, also when its host is not heard any more. */
static void
known(struct lbm_node *node, uint64_t last, uint32_t host)
{
    if (last <= node->log_known)
        return;
    node->log_known = last;
    node->log_known_by = host;
}

static size_t
find_awaited(const struct promotion *p, uint32_t host)
{
    size_t at = 0;
    while (at < p->awaited.n && p->awaited.at[at] != host)
        at++;
    return at;
}

/* Nonzero if this host's log is lost: it has contacts, so there is a cluster, which it does not found again.
 */
static int
has_lost_log(const struct lbm_node *node)
{
    return lbm_log_last(node) == 0 && node->n_contacts != 0;
}

static void
wait_for_contact(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    p->deadline_us = node->now_us + LEAD_ALONE_US;
    if (p->told_us != 0 && node->now_us - p->told_us < TELL_US)
        return;
    p->told_us = node->now_us;
    lbm_core_note(node, LBM_NOTE_WARNING,
                  "this host founded the cluster, and its database is empty: it waits for another member, as "
                  "host %" PRIu32
                  " at %.80s; if all have lost theirs, remove its file of contacts and start it again",
                  node->contacts[0].host, node->contacts[0].address);
}

static void
confirmed(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    if (has_lost_log(node)) {
        wait_for_contact(node);
        return;
    }
    if (p->told_us != 0)
        lbm_core_note(node, LBM_NOTE_INFO, "this host orders the control log again");
    lbm_vec_free(&p->awaited);
    p->round = PROMOTION_NONE;
    p->told_us = 0;
    node->caught_up = 1;
    if (lbm_log_last(node) == 0)
        lbm_log_bootstrap(node);
}

void
lbm_log_confirm(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    if (p->round == PROMOTION_CONFIRM)
        for (size_t i = 0; i < p->awaited.n; i++)
            lbm_log_promote_send_poll(node, p->awaited.at[i]);
    if (p->round != PROMOTION_NONE)
        return;
    p->doubts_disk = 0;
    p->since_us = node->now_us;
    begin(node);
    lbm_log_confirm_timer(node);
}

void
lbm_log_confirm_disk(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    p->doubts_disk = 1;
    p->since_us = node->now_us;
    p->told_us = 0;
    begin(node);
    if (LBM_BUG(LEAD_UNASKED))
        confirmed(node);
}

/* Entries that the longest copy alone has: an operator decides whether they are the cluster's. */
static void
tell_unconfirmed(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    if (node->now_us - p->since_us < LEAD_WAIT_US || (p->told_us != 0 && node->now_us - p->told_us < TELL_US))
        return;
    p->told_us = node->now_us;
    lbm_core_note(node, LBM_NOTE_WARNING,
                  "the control log waits for a second host that has what host %" PRIu32
                  " says comes after entry %" PRIu64
                  ": start the others; or run lbctl log promote --force at host %" PRIu32
                  " if that is the cluster's, here if it is not",
                  p->longest, lbm_log_last(node), p->longest);
}

static void
catch_up(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    if (lbm_log_heard_alone(node) == p->longest)
        tell_unconfirmed(node);
    else
        lbm_core_note(node, LBM_NOTE_WARNING,
                      "host %" PRIu32 " has the control log up to entry %" PRIu64
                      ", this host, which orders it, up to %" PRIu64
                      ": its database is an older copy; it takes what is missing",
                      p->longest, p->last, lbm_log_last(node));
    node->caught_up = 0;
    p->round = PROMOTION_CATCH_UP;
    p->is_heard = 0;
    p->deadline_us = node->now_us + PROMOTE_US;
    p->awaited.n = 0;
    if (lbm_vec_push(&p->awaited, p->longest) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    node->fetch_us = node->now_us;
    lbm_log_promote_fetch_rest(node);
}

/* Whose claim alone it waits for is asked again, member or not: it may come back without what it claimed. */
static void
wait_on(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    p->deadline_us = node->now_us + PROMOTE_US;
    if (p->awaited.n == 0 && lbm_vec_push(&p->awaited, node->log_known_by) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    for (size_t i = 0; i < p->awaited.n; i++)
        lbm_log_promote_send_poll(node, p->awaited.at[i]);
    if (node->now_us - p->since_us < LEAD_WAIT_US || (p->told_us != 0 && node->now_us - p->told_us < TELL_US))
        return;
    p->told_us = node->now_us;
    if (p->awaited.n == 1 && p->awaited.at[0] == node->log_known_by && node->log_known > lbm_log_last(node))
        lbm_core_note(node, LBM_NOTE_WARNING,
                      "the control log waits for host %" PRIu32 ", which has it up to entry %" PRIu64
                      ", as it said; this host, which orders it, has it up to %" PRIu64
                      ": start that host, or run lbctl log promote --force here",
                      node->log_known_by, node->log_known, lbm_log_last(node));
    else
        lbm_core_note(node, LBM_NOTE_WARNING,
                      "the control log waits for host %" PRIu32
                      " and %zu others, which may have more of it than this host, "
                      "which orders it: start them, or run lbctl log promote --force here",
                      p->awaited.at[0], (size_t)p->awaited.n - 1);
}

/* One host has said that this copy is not the log. Another one may say so, too, or have the same entries. */
static void
wait_for_second(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    p->deadline_us = node->now_us + PROMOTE_US;
    p->awaited.n = 0;
    if (lbm_vec_push(&p->awaited, node->doubted_by) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    lbm_log_fetch_doubt(node);
    if (node->now_us - p->since_us < LEAD_WAIT_US || (p->told_us != 0 && node->now_us - p->told_us < TELL_US))
        return;
    p->told_us = node->now_us;
    lbm_core_note(
        node, LBM_NOTE_WARNING,
        "the control log waits for a host that has the same entries as this one, which orders it, since "
        "host %" PRIu32
        " says that they are not the cluster's: start the others, or run lbctl log promote --force here",
        node->doubted_by);
}

/* All that will be asked have answered. Entries that somebody has had are not ordered again. */
static void
end_round(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    if (p->last > lbm_log_last(node))
        catch_up(node);
    else if (node->doubted_by != LBM_NONE)
        wait_for_second(node);
    else if (node->log_known > lbm_log_last(node))
        wait_on(node);
    else
        confirmed(node);
}

int
lbm_log_confirm_takes_from(const struct lbm_node *node, uint32_t host)
{
    return node->promotion.round == PROMOTION_CATCH_UP && host == node->promotion.longest;
}

void
lbm_log_confirm_behind(struct lbm_node *node, uint32_t host, uint64_t last)
{
    struct promotion *p = &node->promotion;
    int is_asking = p->round == PROMOTION_NONE || p->round == PROMOTION_CONFIRM;
    if (node->engine != LBM_LOG_ENGINE_LOCAL || !node->leader || node->has_ordered || node->diverged ||
        !is_asking || last <= lbm_log_last(node) || !lbm_log_confirm_counts(node, host) ||
        LBM_BUG(LEAD_UNASKED))
        return;
    known(node, last, host);
    if (p->round == PROMOTION_CONFIRM && find_awaited(p, host) != p->awaited.n)
        return; /* it is going to say it in answer to the poll */
    if (p->round == PROMOTION_NONE) {
        p->since_us = node->now_us;
        p->told_us = 0;
    }
    p->doubts_disk = 1;
    p->last = last;
    p->longest = host;
    p->is_said = 0;
    p->n_longer = 0; /* nobody was asked */
    catch_up(node);
}

static int
is_untrue(const struct lbm_node *node, uint32_t host)
{
    for (size_t i = 0; i < node->log_untrue.n; i++)
        if (node->log_untrue.at[i] == host)
            return 1;
    return 0;
}

int
lbm_log_confirm_counts(const struct lbm_node *node, uint32_t host)
{
    return host != node->doubted_by && !is_untrue(node, host);
}

void
lbm_log_confirm_again(struct lbm_node *node)
{
    if (node->promotion.round == PROMOTION_FETCH)
        lbm_log_promote_ask_again(node);
    else if (node->promotion.round == PROMOTION_CATCH_UP || node->promotion.round == PROMOTION_CONFIRM)
        begin(node);
}

void
lbm_log_confirm_doubt(struct lbm_node *node)
{
    if (node->promotion.round == PROMOTION_FETCH || node->promotion.round == PROMOTION_CATCH_UP)
        lbm_log_confirm_again(node);
}

void
lbm_log_confirm_refuse(struct lbm_node *node, uint32_t host)
{
    if (!is_untrue(node, host) && lbm_vec_push(&node->log_untrue, host) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    if (node->log_known_by == host)
        node->log_known = 0;
    lbm_log_heard_drop(node, host);
}

int
lbm_log_confirm_silence(struct lbm_node *node)
{
    const struct promotion *p = &node->promotion;
    if (p->longest == LBM_NONE || p->is_heard || !p->is_said || p->longest != node->silent_host)
        node->silent_rounds = 0;
    node->silent_host = p->longest;
    if (p->longest == LBM_NONE || p->is_heard || !p->is_said || ++node->silent_rounds < SILENT_ROUNDS)
        return 0;
    lbm_core_note(node, LBM_NOTE_WARNING,
                  "host %" PRIu32 " said that it has the control log up to entry %" PRIu64
                  ", and has sent nothing of what comes after %" PRIu64
                  " though it answers: what it says of it does not count any more",
                  p->longest, p->last, lbm_log_last(node));
    lbm_log_confirm_refuse(node, p->longest);
    return 1;
}

void
lbm_log_confirm_untrue(struct lbm_node *node, uint32_t host)
{
    if (node->promotion.round == PROMOTION_NONE || node->promotion.round == PROMOTION_ASK)
        return;
    lbm_log_confirm_refuse(node, host);
    lbm_log_confirm_again(node);
}

int
lbm_log_confirm_refuted(struct lbm_node *node, uint32_t host, const Lbm__LogEntries *answer)
{
    struct promotion *p = &node->promotion;
    int is_taking = p->round == PROMOTION_CATCH_UP || p->round == PROMOTION_FETCH;
    if (!is_taking || host != p->longest || p->last <= lbm_log_last(node) || answer->n_command != 0 ||
        answer->from != lbm_log_last(node) + 1)
        return 0;
    lbm_core_note(node, LBM_NOTE_WARNING,
                  "host %" PRIu32 " said that it has the control log up to entry %" PRIu64
                  ", and has it up to %" PRIu64 " at most: what it says of it does not count any more",
                  host, p->last, lbm_log_last(node));
    lbm_log_confirm_untrue(node, host);
    return 1;
}

void
lbm_log_confirm_heard(struct lbm_node *node, const Lbm__LogPosition *position, uint32_t from)
{
    struct promotion *p = &node->promotion;
    uint64_t term = node->term;
    (void)lbm_log_term_heard(node, position->term, position->leader, from);
    if (p->round != PROMOTION_CONFIRM || node->term != term)
        return; /* another one leads, or this host a later term: all are asked again */
    size_t at = find_awaited(p, from);
    if (at == p->awaited.n)
        return;
    p->awaited.at[at] = p->awaited.at[--p->awaited.n];
    p->n_answers++;
    p->n_behind += !position->in_step;
    if (from == node->log_known_by && position->last < node->log_known)
        node->log_known = position->last; /* it takes back what it said */
    if (position->last > lbm_log_last(node) && position->term >= node->term && !node->has_ordered &&
        lbm_log_confirm_counts(node, from) && !LBM_BUG(LEAD_UNASKED))
        lbm_log_promote_behind(node, position->last, from);
    known(node, p->last, p->longest);
    if (p->awaited.n == 0)
        end_round(node);
}

int
lbm_log_confirm_force(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    uint32_t alone = p->round == PROMOTION_CATCH_UP ? lbm_log_heard_alone(node) : LBM_NONE;
    if (alone != LBM_NONE && alone == p->longest && lbm_log_last(node) != 0) {
        lbm_log_confirm_refuse(node, alone);
        begin(node);
        return 1;
    }
    if (p->round != PROMOTION_CONFIRM || lbm_log_last(node) == 0)
        return 0;
    if (node->doubted_by != LBM_NONE)
        lbm_log_confirm_refuse(node, node->doubted_by);
    node->doubted_by = LBM_NONE;
    node->log_known = 0;
    end_round(node);
    return 1;
}

/* Nonzero if those that have not answered are not waited for any more. */
static int
goes_on(const struct lbm_node *node)
{
    const struct promotion *p = &node->promotion;
    if (p->awaited.n == 0 || !p->doubts_disk)
        return 1;
    return p->awaited.n == 1 && p->n_answers != 0 && p->n_behind == 0 &&
           node->now_us - p->since_us >= LEAD_WAIT_US;
}

void
lbm_log_confirm_timer(struct lbm_node *node)
{
    struct promotion *p = &node->promotion;
    if (p->round == PROMOTION_CATCH_UP) {
        int has_all =
            lbm_log_last(node) >= p->last && node->log_waits.n == 0 && !lbm_log_snapshot_pending(node);
        if (!has_all && node->now_us < p->deadline_us)
            return;
        if (!has_all)
            (void)lbm_log_confirm_silence(node);
        p->round = PROMOTION_NONE;
        begin(node);
    } else if (p->round == PROMOTION_CONFIRM && node->now_us >= p->deadline_us) {
        if (goes_on(node) || node->doubted_by != LBM_NONE)
            end_round(node);
        else
            wait_on(node);
    }
}

/* A cluster of this host alone, without a job. */
static int
is_fresh(const struct lbm_node *node)
{
    return node->view.members.n <= 1 && node->view.jobs.n == 0;
}

/* This host began a cluster while nobody was there to say that it belongs to one: its database was lost. */
void
lbm_log_stranger(struct lbm_node *node, const Lbm__Peer *message)
{
    int knows_us = message->dst == node->host && message->dst_incarnation != 0 && message->src != node->host;
    if (message->body_case != LBM__PEER__BODY_HELLO || !knows_us || message->cluster == 0 ||
        node->view.cluster == 0 || message->cluster == node->view.cluster)
        return;
    if (node->stranger_us != 0 && node->now_us - node->stranger_us < TELL_US)
        return;
    node->stranger_us = node->now_us;
    int stops = node->leader && is_fresh(node);
    lbm_core_note(node, LBM_NOTE_ERROR,
                  "host %" PRIu32 " (%.60s) takes this host for a member of another cluster (%016" PRIx64
                  ", not %016" PRIx64
                  "): if this host's database was lost, stop this daemon, move its new database "
                  "away and start it while "
                  "that host runs%s",
                  message->src, message->hello->name, message->cluster, node->view.cluster,
                  stops ? "; until then this host takes part in nothing" : "");
    if (!stops)
        return;
    node->diverged = 1;
    node->raise->application_lease_lapsed(node);
}
