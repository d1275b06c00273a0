/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who is offered a vertex that it does not have asks the other hosts first whether it is theirs (protocol.md
 * section 6): a member that offers what it does not own makes no second owner. The offer waits in memory
 * until each of them has answered, or its backup for it; nothing of it is stored before. Its source repeats
 * what is lost so.
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
    TELL_US = 10000000
};

/* Whose word an offer waits for. */
struct asked {
    uint32_t host;
    uint64_t incarnation;
    int has_answered;
};

struct offer_check {
    uint64_t id;
    int64_t since_us, asked_us, answered_us;
    uint64_t members_of;     /* index of the view whose hosts are asked */
    uint64_t newest, second; /* views of those that have answered, the last two */
    size_t bytes;
    Lbm__Peer *message; /* the offer */
    uint8_t *is_asked;  /* [n_vertex] rows that are to be taken if nobody claims them */
    LBM_VEC(struct asked) asked;
    int is_void; /* its source has taken over from one that never answered: what it offers may come from there
                  */
};

static void
check_free(struct lbm_node *node, struct offer_check *check)
{
    node->offer_check_bytes -= check->bytes;
    lbm__peer__free_unpacked(check->message, NULL);
    lbm_vec_free(&check->asked);
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

/* ---- who is asked -------------------------------------------------------------------------------------- */

static int
participates(const struct lbm_node *node, uint32_t host, uint64_t incarnation)
{
    const struct lbm_member *member = lbm_view_member(&node->view, host);
    return member != NULL && member->incarnation == incarnation && lbm_view_participates(member);
}

/* Nonzero if what an evicted host had will have another owner, and has none yet. */
static int
is_to_be_taken_over(const struct lbm_node *node, const struct lbm_departed *gone)
{
    return gone->evicted && !gone->taken_over &&
           participates(node, gone->successor, gone->successor_incarnation);
}

static struct asked *
asked_of(const struct offer_check *check, uint32_t host, uint64_t incarnation)
{
    for (size_t i = 0; i < check->asked.n; i++)
        if (check->asked.at[i].host == host && check->asked.at[i].incarnation == incarnation)
            return &check->asked.at[i];
    return NULL;
}

static void
add_asked(struct lbm_node *node, struct offer_check *check, uint32_t host, uint64_t incarnation)
{
    struct asked asked = {host, incarnation, 0};
    if (host != node->host && host != check->message->src && asked_of(check, host, incarnation) == NULL &&
        lbm_vec_push(&check->asked, asked) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

/* Who has not answered and is gone need not any more; who has taken over from it answers once more. */
static int
is_still_asked(const struct lbm_node *node, struct offer_check *check, const struct asked *asked)
{
    const struct lbm_departed *gone = lbm_view_departed(&node->view, asked->host, asked->incarnation);
    if (asked->has_answered || participates(node, asked->host, asked->incarnation))
        return 1;
    if (gone == NULL || !gone->evicted)
        return 0;
    struct asked *successor = asked_of(check, gone->successor, gone->successor_incarnation);
    if (gone->taken_over && successor != NULL)
        successor->has_answered = 0;
    check->is_void |= gone->taken_over && gone->successor == check->message->src;
    return is_to_be_taken_over(node, gone);
}

/* All who could own something: those that take part, and those whose records nobody has taken over yet. */
static void
find_asked(struct lbm_node *node, struct offer_check *check)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->view.members.n; i++)
        if (lbm_view_participates(&node->view.members.at[i]))
            add_asked(node, check, node->view.members.at[i].host, node->view.members.at[i].incarnation);
    for (size_t i = 0; i < node->view.departed.n; i++)
        if (is_to_be_taken_over(node, &node->view.departed.at[i]))
            add_asked(node, check, node->view.departed.at[i].host, node->view.departed.at[i].incarnation);
    for (size_t i = 0; i < check->asked.n; i++)
        if (is_still_asked(node, check, &check->asked.at[i]))
            check->asked.at[kept++] = check->asked.at[i];
    check->asked.n = kept;
    check->members_of = node->view.index;
}

int
lbm_migration_offer_is_checked(const struct lbm_node *node, const Lbm__Peer *offer)
{
    if (node->view.protocol < LBM_PROTOCOL_OFFER_CHECKS || lbm_membership_is_large(node))
        return 0;
    for (size_t i = 0; i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (lbm_view_participates(member) && member->host != node->host && member->host != offer->src)
            return 1;
    }
    for (size_t i = 0; i < node->view.departed.n; i++)
        if (is_to_be_taken_over(node, &node->view.departed.at[i]))
            return 1;
    return 0;
}

/* ---- offers that wait ---------------------------------------------------------------------------------- */
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

/* ---- asking -------------------------------------------------------------------------------------------- */

static void
ask_one(struct lbm_node *node, uint32_t to, Lbm__OfferCheck *body, const struct asked *asked)
{
    Lbm__Peer message = LBM__PEER__INIT;
    body->of = asked->host;
    body->of_incarnation = asked->incarnation;
    message.body_case = LBM__PEER__BODY_OFFER_CHECK;
    message.offer_check = body;
    lbm_core_send_now(node, to, &message);
}

/* Nonzero if that host may say what an incarnation of another owned: not the one that offers it. */
static int
may_answer_for(const struct lbm_node *node, const struct offer_check *check, uint32_t host,
               const struct asked *asked)
{
    return host != check->message->src && lbm_migration_has_copy(node, host, asked->host, asked->incarnation);
}

/* What this host itself knows of one that has not answered. */
static void
ask_here(struct lbm_node *node, struct offer_check *check, const Lbm__OfferCheck *body, struct asked *asked)
{
    uint32_t claimed[LBM_BATCH_VERTICES_MAX];
    size_t n = lbm_migration_claims(node, asked->host, asked->incarnation, body, claimed);
    if (n == SIZE_MAX)
        return;
    asked->has_answered = 1;
    for (size_t i = 0; i < n; i++)
        check->is_asked[row_of(check, body->job, claimed[i])] = 0;
}

/* Nonzero if others are asked what that host owns: it has not said so when it was asked before, or is not
 * heard, or at the end of a slow link. */
static int
may_be_late(const struct lbm_node *node, uint32_t host, int is_repeated)
{
    return is_repeated || lbm_membership_is_unreachable(node, host, UNREACHABLE_US) ||
           lbm_membership_is_straggler(node, host);
}

/* Ask those who have not answered, and whoever may answer for them. */
static void
ask(struct lbm_node *node, struct offer_check *check)
{
    const Lbm__Offer *offer = check->message->offer;
    uint32_t vertex[LBM_BATCH_VERTICES_MAX];
    Lbm__OfferCheck body = LBM__OFFER_CHECK__INIT;
    int is_repeated = check->asked_us != 0;
    for (size_t i = 0; i < offer->records->n_vertex; i++)
        if (check->is_asked[i])
            vertex[body.n_vertex++] = offer->records->vertex[i];
    body.job = offer->job;
    body.id = check->id;
    body.vertex = vertex;
    check->asked_us = node->now_us;
    for (size_t i = 0; i < check->asked.n; i++) {
        struct asked *asked = &check->asked.at[i];
        if (asked->has_answered)
            continue;
        if (participates(node, asked->host, asked->incarnation))
            ask_one(node, asked->host, &body, asked);
        if (!may_be_late(node, asked->host, is_repeated))
            continue;
        for (size_t k = 0; k < node->view.members.n; k++)
            if (may_answer_for(node, check, node->view.members.at[k].host, asked) &&
                node->view.members.at[k].host != node->host)
                ask_one(node, node->view.members.at[k].host, &body, asked);
        if (may_answer_for(node, check, node->host, asked))
            ask_here(node, check, &body, asked);
    }
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
    find_asked(node, check);
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

/* Take what nobody has claimed. */
static void
finish(struct lbm_node *node, size_t k)
{
    struct offer_check *check = node->offer_checks.at[k];
    memmove(&node->offer_checks.at[k], &node->offer_checks.at[k + 1],
            (--node->offer_checks.n - k) * sizeof *node->offer_checks.at);
    if (!check->is_void && still_counts(node, check->message))
        lbm_migration_offer_take(node, check->message, check->is_asked);
    check_free(node, check);
}

/* The first whose word is still awaited, or NULL. */
static const struct asked *
awaited(const struct offer_check *check)
{
    for (size_t i = 0; i < check->asked.n; i++)
        if (!check->asked.at[i].has_answered)
            return &check->asked.at[i];
    return NULL;
}

/* Who is behind what two others say that they have of the log may not know everybody yet; it soon will. */
static int
is_over(const struct lbm_node *node, const struct offer_check *check)
{
    return awaited(check) == NULL &&
           (check->members_of >= check->second || node->now_us - check->answered_us >= OFFER_ASK_SOON_US);
}

/* Time, us, after which those who have not answered are asked again. */
static int64_t
ask_again_us(const struct offer_check *check)
{
    return check->asked_us - check->since_us < OFFER_ASK_SOON_US ? OFFER_ASK_US : OFFER_ASK_LATE_US;
}

static void
tell_wait(struct lbm_node *node, const struct offer_check *check)
{
    const struct asked *asked = awaited(check);
    if (asked == NULL || node->now_us - check->since_us < TELL_US ||
        (node->wait_told_us != 0 && node->now_us - node->wait_told_us < TELL_US))
        return;
    node->wait_told_us = node->now_us;
    lbm_core_note(node, LBM_NOTE_WARNING,
                  "vertices that host %" PRIu32 " offers wait until host %" PRIu32
                  " says that they are not its own, or its backup does, or it is evicted",
                  check->message->src, asked->host);
}

void
lbm_migration_offer_check_timer(struct lbm_node *node)
{
    for (size_t k = 0; k < node->offer_checks.n && node->failed == LBM_OK;) {
        struct offer_check *check = node->offer_checks.at[k];
        if (check->members_of != node->view.index)
            find_asked(node, check);
        if (!is_over(node, check) && node->now_us - check->asked_us >= ask_again_us(check)) {
            ask(node, check);
            tell_wait(node, check);
        }
        if (is_over(node, check))
            finish(node, k);
        else
            k++;
    }
}

int64_t
lbm_migration_offer_check_deadline(const struct lbm_node *node)
{
    int64_t when = INT64_MAX;
    for (size_t k = 0; k < node->offer_checks.n; k++) {
        const struct offer_check *check = node->offer_checks.at[k];
        int64_t due_us = check->asked_us + ask_again_us(check);
        when = due_us < when ? due_us : when;
    }
    return when;
}

/* A vertex that two hosts say is theirs stays where it is. */
static void
tell_claim(struct lbm_node *node, const Lbm__Peer *offer, uint32_t vertex, uint32_t host)
{
    if (node->claim_us != 0 && node->now_us - node->claim_us < TELL_US)
        return;
    node->claim_us = node->now_us;
    lbm_core_note(node, LBM_NOTE_WARNING,
                  "host %" PRIu32 " offers vertex %" PRIu32 " of job %016" PRIx64 ", of which host %" PRIu32
                  " says that it is its own: not taken. If this goes on, one of them lies: revoke it",
                  offer->src, vertex, offer->offer->job, host);
}

/* A backup may be behind its owner by what is on the way: nobody is called a liar by its word. */
static void
take_claims(struct lbm_node *node, struct offer_check *check, const Lbm__Peer *message)
{
    const Lbm__OfferClaims *claims = message->offer_claims;
    for (size_t c = 0; c < claims->n_vertex; c++) {
        size_t row = row_of(check, check->message->offer->job, claims->vertex[c]);
        if (row == SIZE_MAX)
            continue;
        check->is_asked[row] = 0;
        if (claims->of == message->src)
            tell_claim(node, check->message, claims->vertex[c], message->src);
    }
}

void
lbm_migration_on_offer_claims(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__OfferClaims *claims = message->offer_claims;
    size_t k = 0;
    while (k < node->offer_checks.n && node->offer_checks.at[k]->id != claims->id)
        k++;
    if (k == node->offer_checks.n)
        return;
    struct offer_check *check = node->offer_checks.at[k];
    struct asked *asked = asked_of(check, claims->of, claims->of_incarnation);
    if (asked == NULL || asked->has_answered ||
        (claims->of == message->src ? claims->of_incarnation != message->src_incarnation
                                    : !may_answer_for(node, check, message->src, asked)))
        return;
    asked->has_answered = 1;
    check->answered_us = node->now_us;
    if (message->view > check->newest) {
        check->second = check->newest;
        check->newest = message->view;
    } else if (message->view > check->second) {
        check->second = message->view;
    }
    take_claims(node, check, message);
    if (is_over(node, check))
        finish(node, k);
}
