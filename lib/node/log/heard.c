/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries and views from other hosts: which are taken (docs/adr/0050-take-no-entry-from-one-host-alone.md).
 *
 * Who leads the term that this host follows is believed, as is who led before by a host that is to lead now.
 * What any other host sends counts once a second one has sent the same: of what the first one sent digests
 * are kept, in memory, and the next host is asked. There need be no second one where there is no third
 * member, and for entries that a host might have had ordered anyway, while it is the only one of which a host
 * that is to lead knows that it has more. Never: stores or applies what waits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/sha2.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/log/internal.h"
#include "node/log/log.h"
#include "node/membership/membership.h"

enum {
    WORDS_EACH = 256,            /* of one host: what a message usually has */
    WORDS_MAX = 16 * WORDS_EACH, /* of all: more than two differ only while several lie */
};

static void
digest_of(const uint8_t *bytes, size_t len, uint8_t *digest)
{
    struct sha256_ctx hash;
    sha256_init(&hash);
    sha256_update(&hash, len, bytes);
    sha256_digest(&hash, LBM_SHA256_BYTES, digest);
}

/* Hosts but these two that could say the same: members; without a log, who is connected. */
static uint32_t
count_others(const struct lbm_node *node, uint32_t host)
{
    uint32_t n = 0;
    for (size_t i = 0; i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        n += member->host != node->host && member->host != host && lbm_view_participates(member);
    }
    for (size_t i = 0; node->view.members.n == 0 && i < node->peers.n; i++)
        n += node->peers.at[i].connected && node->peers.at[i].host != host;
    return n;
}

static int
is_believed(const struct lbm_node *node, uint32_t host)
{
    int is_local = node->engine == LBM_LOG_ENGINE_LOCAL;
    if (is_local && !node->leader && host == node->leader_host)
        return 1;
    if (is_local && lbm_log_promote_takes(node) &&
        (host == node->followed || (!node->view.external && host == node->view.leader)))
        return 1;
    if (host == node->join_host && lbm_view_member(&node->view, node->host) == NULL)
        return 1; /* the first that this host was told to ask */
    return count_others(node, host) == 0 || LBM_BUG(ONE_SAYS_IT);
}

/* Nonzero if the log has left its ensemble, as that host says, and it orders the log now: a host that was
 * away follows it as it would a leader of a later term. In: term, leader, of what it has sent. */
static int
is_new_leader(const struct lbm_node *node, uint32_t host, uint64_t term, uint32_t leader)
{
    return lbm_log_is_managed(node) && leader == host && term > node->view.log_term &&
           lbm_log_is_operator(node, host);
}

/* Nonzero if who led before says that the log has moved into the ensemble that is there for it. A host that
 * asks for promises meanwhile gets none. */
static int
is_move(const struct lbm_node *node, uint32_t host, const ProtobufCBinaryData *bytes)
{
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    if (node->promotion.round != PROMOTION_PROMISE ||
        (host != node->followed && (node->view.external || host != node->view.leader)) ||
        lbm_wire_unpack_command(bytes->data, bytes->len, &command, &diag) != LBM_OK)
        return 0;
    int is_so =
        command->what_case == LBM__COMMAND__WHAT_ENSEMBLE && command->ensemble->step == LBM_ENSEMBLE_MOVE;
    lbm__command__free_unpacked(command, NULL);
    return is_so;
}

/* The same of a view. */
static int
is_new_leaders(const struct lbm_node *node, uint32_t host, const uint8_t *bytes, size_t len)
{
    struct lbm_view view = {0};
    struct lbm_diag diag;
    if (!lbm_log_is_managed(node) || lbm_view_unpack(bytes, len, &view, &diag) != LBM_OK)
        return 0;
    int is_so = !view.external && is_new_leader(node, host, view.log_term, view.leader);
    lbm_view_free(&view);
    return is_so;
}

/* Nonzero if a host's word can be the second one. */
static int
is_voter(const struct lbm_node *node, uint32_t host)
{
    const struct lbm_member *member = lbm_view_member(&node->view, host);
    return lbm_log_confirm_counts(node, host) &&
           (node->view.members.n == 0 || (member != NULL && lbm_view_participates(member)));
}

/* The other host that has sent the same, or LBM_NONE. */
static uint32_t
second(const struct lbm_node *node, const struct log_word *said)
{
    for (size_t i = 0; i < node->log_words.n && is_voter(node, said->host); i++) {
        const struct log_word *word = &node->log_words.at[i];
        if (word->host != said->host && word->index == said->index && word->is_view == said->is_view &&
            memcmp(word->digest, said->digest, sizeof word->digest) == 0 && is_voter(node, word->host))
            return word->host;
    }
    return LBM_NONE;
}

/* Nonzero if that host has more than all others, and the leader would order it of that host. What the entries
 * before it change has to be applied first. */
static int
might_be_ordered(struct lbm_node *node, uint32_t host, const ProtobufCBinaryData *bytes)
{
    const struct promotion *p = &node->promotion;
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    if (!lbm_log_promote_takes(node) || host != p->longest || p->n_longer != 1 ||
        node->view.index != lbm_log_last(node) ||
        lbm_wire_unpack_command(bytes->data, bytes->len, &command, &diag) != LBM_OK)
        return 0;
    int is_entitled = lbm_log_propose_check(node, host, command);
    lbm__command__free_unpacked(command, NULL);
    return is_entitled;
}

static void
drop_settled(struct lbm_node *node, uint64_t index)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->log_words.n; i++)
        if (node->log_words.at[i].index > index)
            node->log_words.at[kept++] = node->log_words.at[i];
    node->log_words.n = kept;
}

static void
tell_liar(struct lbm_node *node, const struct log_word *said, uint32_t liar)
{
    char by[40] = "etcd";
    if (said->host != LBM_NONE)
        snprintf(by, sizeof by, "host %" PRIu32, said->host);
    lbm_local_refused(
        node, "host %" PRIu32 " says that %s %" PRIu64 " of the control log is another one than %s says",
        liar, said->is_view ? "the view after entry" : "entry", said->index, by);
}

/* What was said is so: who has said something else of the same index is told. Returns one of these that
 * counts no more; LBM_NONE: there is none. */
static uint32_t
settle(struct lbm_node *node, const struct log_word *said)
{
    uint32_t liar = LBM_NONE;
    for (size_t i = 0; i < node->log_words.n; i++) {
        const struct log_word *word = &node->log_words.at[i];
        if (word->host == said->host || word->index != said->index || word->is_view != said->is_view ||
            memcmp(word->digest, said->digest, sizeof word->digest) == 0)
            continue;
        liar = word->host;
        tell_liar(node, said, liar);
    }
    drop_settled(node, said->index);
    return liar;
}

void
lbm_log_known_entry(struct lbm_node *node, uint32_t from, uint64_t index, const uint8_t *bytes, size_t len)
{
    struct log_word said = {.index = index, .host = from};
    if (node->log_words.n == 0)
        return;
    digest_of(bytes, len, said.digest);
    uint32_t liar = settle(node, &said);
    if (liar != LBM_NONE)
        lbm_log_heard_drop(node, liar);
}

/* Nonzero if it says something new. */
static int
keep(struct lbm_node *node, const struct log_word *said)
{
    for (size_t i = 0; i < node->log_words.n; i++) {
        struct log_word *word = &node->log_words.at[i];
        if (word->host != said->host || word->index != said->index || word->is_view != said->is_view)
            continue;
        int is_new = memcmp(word->digest, said->digest, sizeof word->digest) != 0;
        *word = *said;
        return is_new;
    }
    if (node->log_words.n == WORDS_MAX)
        lbm_log_heard_drop(node, node->log_words.at[0].host);
    if (lbm_vec_push(&node->log_words, *said) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    return 1;
}

/* The entries behind the copy, from number i of the message on, wait. */
static void
wait_for_second(struct lbm_node *node, uint32_t from, const Lbm__LogEntries *entries, size_t i)
{
    int is_new = 0;
    for (size_t k = 0; i < entries->n_command && k < WORDS_EACH && node->failed == LBM_OK; i++, k++) {
        struct log_word word = {.index = entries->from + i, .host = from};
        digest_of(entries->command[i].data, entries->command[i].len, word.digest);
        is_new |= keep(node, &word);
    }
    if (is_new)
        lbm_log_ask_other(node, from);
}

int
lbm_log_heard_entries(struct lbm_node *node, uint32_t from, const Lbm__LogEntries *entries)
{
    uint32_t liar = LBM_NONE;
    int believed = is_believed(node, from) || is_new_leader(node, from, entries->term, entries->leader);
    int waits = 0;
    for (size_t i = 0; i < entries->n_command && !waits && node->failed == LBM_OK; i++) {
        const ProtobufCBinaryData *command = &entries->command[i];
        struct log_word said = {.index = entries->from + i, .host = from};
        if (said.index != lbm_log_last(node) + 1)
            continue;
        node->promotion.is_heard |= from == node->promotion.longest;
        if (!believed || node->log_words.n != 0)
            digest_of(command->data, command->len, said.digest);
        waits = !believed && second(node, &said) == LBM_NONE && !might_be_ordered(node, from, command) &&
                !is_move(node, from, command);
        if (waits) {
            wait_for_second(node, from, entries, i);
            continue;
        }
        uint32_t other = settle(node, &said);
        liar = other != LBM_NONE ? other : liar;
        lbm_log_take(node, command->data, command->len);
    }
    if (liar != LBM_NONE) {
        lbm_log_heard_drop(node, liar);
        lbm_log_confirm_untrue(node, liar);
    }
    return waits;
}

static int
heard_view(struct lbm_node *node, uint32_t from, uint64_t index, const uint8_t *bytes, size_t len)
{
    struct log_word said = {.index = index, .host = from, .is_view = 1};
    node->promotion.is_heard |= from == node->promotion.longest;
    digest_of(bytes, len, said.digest);
    if (!is_believed(node, from) && second(node, &said) == LBM_NONE &&
        !is_new_leaders(node, from, bytes, len)) {
        if (keep(node, &said))
            lbm_log_ask_other(node, from);
        return 0;
    }
    uint32_t liar = settle(node, &said);
    if (liar != LBM_NONE)
        lbm_log_confirm_untrue(node, liar);
    return 1;
}

/* The chunks of one snapshot come over one connection, so in order; a repeated answer begins again. */
void
lbm_log_on_snapshot(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__LogSnapshot *chunk = message->log_snapshot;
    if ((node->engine != LBM_LOG_ENGINE_LOCAL && !lbm_log_is_managed(node)) ||
        (node->leader && !lbm_log_promote_takes(node)) ||
        ((node->engine != LBM_LOG_ENGINE_LOCAL || !lbm_log_is_source(node, message->src)) &&
         message->src != node->fetch_host && !lbm_log_promote_takes(node)) ||
        chunk->index <= lbm_log_last(node) || message->forced < node->forced || node->diverged ||
        !lbm_local_within_reach(node, message->src, "log index", chunk->index, lbm_log_last(node),
                                LBM_INDEX_STEP))
        return;
    if (chunk->offset == 0) {
        node->incoming_snapshot.n = 0;
        node->incoming_snapshot_index = chunk->index;
        node->incoming_snapshot_from = message->src;
    }
    if (chunk->index != node->incoming_snapshot_index || message->src != node->incoming_snapshot_from ||
        chunk->offset != node->incoming_snapshot.n)
        return;
    node->promotion.is_heard |= message->src == node->promotion.longest && chunk->offset != 0;
    if (lbm_vec_reserve(&node->incoming_snapshot, chunk->data.len) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    memcpy(&node->incoming_snapshot.at[node->incoming_snapshot.n], chunk->data.data, chunk->data.len);
    node->incoming_snapshot.n += chunk->data.len;
    if (node->incoming_snapshot.n < chunk->total)
        return;
    if (heard_view(node, message->src, chunk->index, node->incoming_snapshot.at, node->incoming_snapshot.n))
        lbm_log_snapshot_install(node, node->incoming_snapshot.at, node->incoming_snapshot.n);
    lbm_vec_free(&node->incoming_snapshot);
}
