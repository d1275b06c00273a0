/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who is offered a vertex that it does not have asks the other hosts first whether it is theirs (protocol.md
 * section 6): a member that offers what it does not own makes no second owner. The offer waits in memory
 * until all have answered that are heard; nothing of it is stored before. Its source repeats what is lost so.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/membership/membership.h"
#include "node/migration/internal.h"
#include "node/migration/migration.h"
#include "node/records/records.h"

enum {
    CHECKS_BYTES_MAX = 64 << 20, /* of all offers that wait; what comes beyond is repeated by its source */
    CLAIM_TELL_US = 10000000
};

struct offer_check {
    uint64_t id;
    int64_t since_us, asked_us;
    size_t bytes;
    Lbm__Peer *message;        /* the offer */
    uint8_t *is_asked;         /* [n_vertex] rows that are to be taken if nobody claims them */
    LBM_VEC(uint32_t) waiting; /* hosts that have not answered yet */
};

static void
check_free(struct lbm_node *node, struct offer_check *check)
{
    node->offer_check_bytes -= check->bytes;
    lbm__peer__free_unpacked(check->message, NULL);
    lbm_vec_free(&check->waiting);
    free(check->is_asked);
    free(check);
}

void
lbm_migration_offer_checks_free(struct lbm_node *node)
{
    for (size_t i = 0; i < node->offer_checks.n; i++)
        check_free(node, node->offer_checks.at[i]);
    lbm_vec_free(&node->offer_checks);
}

/* Nonzero while this host is no member, or hears at most half of the others, and for a moment after:
 * connections come back one by one, and the first to be heard could be the one that lies. */
static int
is_just_back(const struct lbm_node *node)
{
    return node->back_us != 0 && node->now_us - node->back_us < OFFER_ANSWER_US;
}

/* Nonzero if that host is not heard any more, or would have been by now. */
static int
cannot_answer(const struct lbm_node *node, uint32_t host)
{
    const struct peer *peer = lbm_membership_peer_known(node, host);
    return peer == NULL || (peer->heard_us != 0 ? lbm_membership_is_unreachable(node, host, UNREACHABLE_US)
                                                : peer->suspect_us != 0);
}

/* Nonzero if that host is to say whether an offered vertex is its own. Who is silent cannot, unless this host
 * is just back, and a slow link holds nobody up. */
static int
is_asked(const struct lbm_node *node, const struct lbm_member *member, uint32_t source)
{
    return lbm_view_participates(member) && member->host != node->host && member->host != source &&
           (!cannot_answer(node, member->host) || is_just_back(node)) &&
           !lbm_membership_is_straggler(node, member->host);
}

int
lbm_migration_offer_is_checked(const struct lbm_node *node, const Lbm__Peer *offer)
{
    if (node->view.protocol < LBM_PROTOCOL_OFFER_CHECKS || lbm_membership_is_large(node))
        return 0;
    for (size_t i = 0; i < node->view.members.n; i++)
        if (is_asked(node, &node->view.members.at[i], offer->src))
            return 1;
    return 0;
}

/* The row of a check in which that vertex is asked about, or SIZE_MAX. */
static size_t
row_of(const struct offer_check *check, uint64_t job, uint32_t vertex)
{
    const Lbm__Records *r = check->message->offer->records;
    for (size_t i = 0; check->message->offer->job == job && i < r->n_vertex; i++)
        if (r->vertex[i] == vertex && check->is_asked[i])
            return i;
    return SIZE_MAX;
}

int
lbm_migration_offer_waits(const struct lbm_node *node, const Lbm__Peer *offer, size_t i)
{
    const Lbm__Records *r = offer->offer->records;
    for (size_t k = 0; k < node->offer_checks.n; k++) {
        const struct offer_check *check = node->offer_checks.at[k];
        size_t row =
            check->message->src == offer->src ? row_of(check, offer->offer->job, r->vertex[i]) : SIZE_MAX;
        if (row != SIZE_MAX && check->message->offer->records->epoch[row] == r->epoch[i])
            return 1;
    }
    return 0;
}

void
lbm_migration_offer_is_taken(struct lbm_node *node, uint64_t job, uint32_t vertex)
{
    for (size_t k = 0; k < node->offer_checks.n; k++) {
        size_t row = row_of(node->offer_checks.at[k], job, vertex);
        if (row != SIZE_MAX)
            node->offer_checks.at[k]->is_asked[row] = 0;
    }
}

/* The offer and its rows that are asked about, as a check's own. NULL: memory is short. */
static struct offer_check *
check_new(struct lbm_node *node, const Lbm__Peer *offer, const uint8_t *rows)
{
    size_t n = offer->offer->records->n_vertex, bytes = lbm__peer__get_packed_size(offer);
    struct offer_check *check = lbm_alloc(1, sizeof *check);
    uint8_t *packed = lbm_alloc(bytes, 1);
    if (check == NULL || packed == NULL) {
        free(check);
        free(packed);
        return NULL;
    }
    lbm__peer__pack(offer, packed);
    check->bytes = bytes;
    check->message = lbm__peer__unpack(NULL, bytes, packed);
    check->is_asked = lbm_copy(rows, n, 1);
    free(packed);
    node->offer_check_bytes += bytes;
    if (check->message != NULL && check->is_asked != NULL)
        return check;
    check_free(node, check);
    return NULL;
}

static void
ask(struct lbm_node *node, struct offer_check *check)
{
    const Lbm__Offer *offer = check->message->offer;
    uint32_t vertex[LBM_BATCH_VERTICES_MAX];
    Lbm__OfferCheck body = LBM__OFFER_CHECK__INIT;
    Lbm__Peer message = LBM__PEER__INIT;
    for (size_t i = 0; i < offer->records->n_vertex; i++)
        if (check->is_asked[i])
            vertex[body.n_vertex++] = offer->records->vertex[i];
    body.job = offer->job;
    body.id = check->id;
    body.vertex = vertex;
    message.body_case = LBM__PEER__BODY_OFFER_CHECK;
    message.offer_check = &body;
    check->asked_us = node->now_us;
    for (size_t i = 0; i < check->waiting.n; i++)
        lbm_core_send_now(node, check->waiting.at[i], &message);
}

void
lbm_migration_offer_check(struct lbm_node *node, const Lbm__Peer *offer, const uint8_t *rows)
{
    if (node->offer_check_bytes > CHECKS_BYTES_MAX)
        return;
    struct offer_check *check = check_new(node, offer, rows);
    if (check == NULL || lbm_vec_push(&node->offer_checks, check) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        if (check != NULL)
            check_free(node, check);
        return;
    }
    check->id = ++node->offer_check_id;
    check->since_us = node->now_us;
    for (size_t i = 0; i < node->view.members.n; i++)
        if (is_asked(node, &node->view.members.at[i], offer->src) &&
            lbm_vec_push(&check->waiting, node->view.members.at[i].host) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    ask(node, check);
}

/* The offer counts if it still could come now: its source and this host are who they were. */
static int
still_counts(const struct lbm_node *node, const Lbm__Peer *offer)
{
    const struct lbm_member *source = lbm_view_member(&node->view, offer->src);
    return lbm_local_is_alive(node) && source != NULL && source->incarnation == offer->src_incarnation &&
           lbm_view_departed(&node->view, offer->src, offer->src_incarnation) == NULL &&
           (offer->dst_incarnation == 0 || offer->dst_incarnation == node->incarnation ||
            LBM_BUG(ANY_DESTINATION_INCARNATION));
}

/* Nonzero while somebody is asked who is not heard, but may yet be: silence counts from then on. */
static int
is_somebody_away(const struct lbm_node *node, const struct offer_check *check)
{
    for (size_t i = 0; i < check->waiting.n; i++)
        if (is_just_back(node) || lbm_membership_is_unreachable(node, check->waiting.at[i], UNREACHABLE_US))
            return 1;
    return 0;
}

/* Take what nobody has claimed. */
static void
finish(struct lbm_node *node, size_t k)
{
    struct offer_check *check = node->offer_checks.at[k];
    memmove(&node->offer_checks.at[k], &node->offer_checks.at[k + 1],
            (--node->offer_checks.n - k) * sizeof *node->offer_checks.at);
    if (still_counts(node, check->message))
        lbm_migration_offer_take(node, check->message, check->is_asked);
    check_free(node, check);
}

void
lbm_migration_offer_check_timer(struct lbm_node *node)
{
    for (size_t k = 0; k < node->offer_checks.n && node->failed == LBM_OK;) {
        struct offer_check *check = node->offer_checks.at[k];
        int64_t waited_us = node->now_us - check->asked_us;
        size_t kept = 0;
        for (size_t i = 0; waited_us >= OFFER_ASK_US && i < check->waiting.n; i++) {
            const struct lbm_member *member = lbm_view_member(&node->view, check->waiting.at[i]);
            if (member != NULL && is_asked(node, member, check->message->src))
                check->waiting.at[kept++] = check->waiting.at[i];
        }
        if (waited_us >= OFFER_ASK_US)
            check->waiting.n = kept;
        if (is_somebody_away(node, check))
            check->since_us = node->now_us;
        if (check->waiting.n == 0 || node->now_us - check->since_us >= OFFER_ANSWER_US) {
            finish(node, k);
            continue;
        }
        if (waited_us >= OFFER_ASK_US)
            ask(node, check);
        k++;
    }
}

int64_t
lbm_migration_offer_check_deadline(const struct lbm_node *node)
{
    int64_t when = INT64_MAX;
    for (size_t k = 0; k < node->offer_checks.n; k++)
        if (node->offer_checks.at[k]->asked_us + OFFER_ASK_US < when)
            when = node->offer_checks.at[k]->asked_us + OFFER_ASK_US;
    return when;
}

void
lbm_migration_on_offer_check(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__OfferCheck *asked = message->offer_check;
    struct job *job = lbm_local_job(node, asked->job);
    uint32_t vertex[LBM_BATCH_VERTICES_MAX];
    Lbm__OfferClaims body = LBM__OFFER_CLAIMS__INIT;
    Lbm__Peer reply = LBM__PEER__INIT;
    for (size_t i = 0; job != NULL && i < asked->n_vertex; i++) {
        const struct lbm_vertex *own = lbm_records_of(job, asked->vertex[i]);
        if (own != NULL && (own->stage == LBM_STAGE_OWN || own->stage == LBM_STAGE_OUT))
            vertex[body.n_vertex++] = own->id;
    }
    body.id = asked->id;
    body.vertex = vertex;
    reply.body_case = LBM__PEER__BODY_OFFER_CLAIMS;
    reply.offer_claims = &body;
    lbm_core_send_now(node, message->src, &reply);
}

/* A vertex that two hosts say is theirs stays where it is. */
static void
tell_claim(struct lbm_node *node, const Lbm__Peer *offer, uint32_t vertex, uint32_t host)
{
    if (node->claim_us != 0 && node->now_us - node->claim_us < CLAIM_TELL_US)
        return;
    node->claim_us = node->now_us;
    lbm_core_note(node, LBM_NOTE_WARNING,
                  "host %" PRIu32 " offers vertex %" PRIu32 " of job %016" PRIx64 ", of which host %" PRIu32
                  " says that it is its own: not taken. If this goes on, one of them lies: revoke it",
                  offer->src, vertex, offer->offer->job, host);
}

void
lbm_migration_on_offer_claims(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__OfferClaims *claims = message->offer_claims;
    size_t k = 0, at = 0;
    while (k < node->offer_checks.n && node->offer_checks.at[k]->id != claims->id)
        k++;
    if (k == node->offer_checks.n)
        return;
    struct offer_check *check = node->offer_checks.at[k];
    while (at < check->waiting.n && check->waiting.at[at] != message->src)
        at++;
    if (at == check->waiting.n)
        return; /* not asked, or answered already */
    check->waiting.at[at] = check->waiting.at[--check->waiting.n];
    for (size_t c = 0; c < claims->n_vertex; c++) {
        size_t row = row_of(check, check->message->offer->job, claims->vertex[c]);
        if (row == SIZE_MAX)
            continue;
        check->is_asked[row] = 0;
        tell_claim(node, check->message, claims->vertex[c], message->src);
    }
    if (check->waiting.n == 0)
        finish(node, k);
}
