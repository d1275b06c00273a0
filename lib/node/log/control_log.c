/* SPDX-License-Identifier: GPL-3.0-or-later */
/* This host's copy of the control log (PROTOCOL section 1): every entry is stored first and applied once it
 * is durable. How an entry gets its index is the engine's matter. While no entry can be added, proposals
 * wait and all else goes on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/log/internal.h"
#include "node/log/log.h"
#include "node/membership/membership.h"

static const struct log_engine *
log_engine_of(const struct lbm_node *node)
{
    static const struct log_engine *const engines[LBM_LOG_ENGINE_COUNT] = {
        [LBM_LOG_ENGINE_LOCAL] = &log_local, [LBM_LOG_ENGINE_EXTERNAL] = &log_external};
    return engines[node->engine];
}

uint64_t
lbm_log_last(const struct lbm_node *node)
{
    return node->log_base + node->log.n;
}

const struct lbm_recovered_entry *
lbm_log_entry(const struct lbm_node *node, uint64_t index)
{
    LBM_ASSERT(index > node->log_base && index <= lbm_log_last(node));
    return &node->log.at[index - node->log_base - 1];
}

uint64_t
lbm_log_chain(const struct lbm_node *node, uint64_t index)
{
    LBM_ASSERT(index >= node->log_base && index <= lbm_log_last(node));
    return index == node->log_base ? node->base_chain : node->chains.at[index - node->log_base - 1];
}

/* FNV-1a over the chain before and the entry. */
static uint64_t
chained(uint64_t chain, const uint8_t *bytes, size_t len)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ chain;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return hash ^ hash >> 29;
}

/* The next entry of the copy; takes its command. */
static enum lbm_err
add_entry(struct lbm_node *node, struct lbm_recovered_entry entry)
{
    uint64_t chain = chained(lbm_log_chain(node, lbm_log_last(node)), entry.command, entry.len);
    if (lbm_vec_reserve(&node->log, 1) != LBM_OK || lbm_vec_push(&node->chains, chain) != LBM_OK) {
        free(entry.command);
        return LBM_E_NOMEM;
    }
    node->log.at[node->log.n++] = entry;
    return LBM_OK;
}

/* ---- storing and applying ------------------------------------------------------------------------------ */

int
lbm_log_add(struct lbm_node *node, const uint8_t *command, size_t len)
{
    struct lbm_recovered_entry entry = {lbm_log_last(node) + 1, lbm_copy(command, len, 1), len};
    if (entry.command == NULL || add_entry(node, entry) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return 0;
    }
    node->held++;
    return 1;
}

static void
store_entry(struct lbm_node *node, const struct lbm_recovered_entry *entry)
{
    struct lbm_persist_op op = {.kind = LBM_PERSIST_LOG};
    op.as.log.index = entry->index;
    op.as.log.command = lbm_copy(entry->command, entry->len, 1);
    op.as.log.len = entry->len;
    if (op.as.log.command == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    lbm_core_persist(node, op);
    struct log_wait wait = {entry->index, node->persist_id};
    if (lbm_vec_push(&node->log_waits, wait) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

void
lbm_log_store_deferred(struct lbm_node *node)
{
    uint64_t index = lbm_log_last(node) - node->held + 1;
    node->held = 0; /* first: they open a transaction, which takes what is held */
    for (; index <= lbm_log_last(node) && node->failed == LBM_OK; index++)
        store_entry(node, lbm_log_entry(node, index));
}

void
lbm_log_store(struct lbm_node *node, const uint8_t *command, size_t len)
{
    if (lbm_log_add(node, command, len))
        lbm_log_store_deferred(node);
}

void
lbm_log_append_done(struct lbm_node *node)
{
    free(node->appends.at[0].command);
    node->appends.n--;
    memmove(&node->appends.at[0], &node->appends.at[1], node->appends.n * sizeof *node->appends.at);
    node->append_us = node->append_accepted = 0;
}

static void
append_drop(struct lbm_node *node, size_t at)
{
    struct append *append = &node->appends.at[at];
    if (at == 0) {
        lbm_log_append_done(node);
        return;
    }
    free(append->command);
    memmove(append, append + 1, (node->appends.n - at - 1) * sizeof *append);
    node->appends.n--;
}

/* An entry that equals a waiting proposal is that proposal, whatever became of the answer. */
static void
settle_appends(struct lbm_node *node, const struct lbm_recovered_entry *entry)
{
    for (size_t i = 0; i < node->appends.n; i++) {
        struct append *append = &node->appends.at[i];
        if (append->len != entry->len || memcmp(append->command, entry->command, entry->len) != 0)
            continue;
        append_drop(node, i);
        return;
    }
}

/* What an entry changes outside the view. */
static void
follow_up(struct lbm_node *node, const Lbm__Command *command, const char *refusal)
{
    switch (command->what_case) {
    case LBM__COMMAND__WHAT_JOB_CREATE:
        if (refusal[0] != '\0') {
            node->raise->job_refused(node, command->job_create, refusal);
        } else {
            node->raise->job_created(node, lbm_view_job(&node->view, command->job_create->job));
            node->raise->job_slice_created(node, command->job_create);
        }
        break;
    case LBM__COMMAND__WHAT_JOB_DELETE:
        if (refusal[0] == '\0')
            node->raise->job_deleted(node, command->job_delete->job);
        break;
    case LBM__COMMAND__WHAT_JOB_SET:
        if (refusal[0] == '\0' && command->job_set->gates != NULL)
            node->raise->migration_throttle_changed(node, command->job_set);
        if (refusal[0] == '\0' && command->job_set->policy != NULL) {
            node->raise->exchange_policy_tell_unknown(node, lbm_view_job(&node->view, command->job_set->job));
            node->raise->exchange_flow_policy_changed(node, command->job_set->job);
        }
        break;
    case LBM__COMMAND__WHAT_ALLOT_IDS:
        node->raise->application_ids_allotted(node, command->allot_ids, refusal);
        break;
    case LBM__COMMAND__WHAT_JOIN:
        if (refusal[0] != '\0' && command->join->host == node->host &&
            command->join->incarnation == node->incarnation) {
            node->join_refused = 1;
            lbm_core_note(node, LBM_NOTE_ERROR, "this host may not join: %.200s", refusal);
        }
        /* fall through */
    default:
        if (refusal[0] == '\0')
            lbm_membership_changed(node, 0);
        break;
    }
}

void
lbm_log_check_engine(struct lbm_node *node)
{
    if (node->view.index == 0 || node->view.external == (node->engine == LBM_LOG_ENGINE_EXTERNAL))
        return;
    lbm_core_note(
        node, LBM_NOTE_ERROR, "%s",
        node->view.external
            ? "this cluster's control log is kept outside the daemons: configure log_engine as its hosts do"
            : "this cluster's control log is ordered by a daemon: configure log_engine = \"local\"");
    lbm_core_fail(node, LBM_E_CORRUPT);
}

static void
apply_entry(struct lbm_node *node, const struct lbm_recovered_entry *entry)
{
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    char refusal[LBM_DIAG_TEXT_MAX];
    LBM_ASSERT(entry->index == node->view.index + 1);
    enum lbm_err err = lbm_wire_unpack_command(entry->command, entry->len, &command, &diag);
    if (err == LBM_OK)
        err = lbm_views_apply(node->views, &node->view, command, lbm_log_chain(node, entry->index), refusal);
    if (err != LBM_OK) {
        lbm_core_note(node, LBM_NOTE_ERROR, "control log entry %" PRIu64 ": %s", entry->index,
                      lbm_err_text(err));
        lbm_core_fail(node, err == LBM_E_NOMEM ? err : LBM_E_CORRUPT);
    } else {
        if (refusal[0] != '\0')
            lbm_core_note(node, LBM_NOTE_INFO, "control log entry %" PRIu64 " changes nothing: %.180s",
                          entry->index, refusal);
        if (entry->index == 1)
            lbm_log_check_engine(node);
        follow_up(node, command, refusal);
        node->raise->client_proposal_applied(node, command, refusal);
        settle_appends(node, entry);
    }
    if (command != NULL)
        lbm__command__free_unpacked(command, NULL);
}

void
lbm_log_start(struct lbm_node *node, struct lbm_recovered *recovered)
{
    lbm_log_term_start(node, recovered);
    lbm_log_snapshot_start(node, recovered);
    for (size_t i = 0; i < recovered->log.n && node->failed == LBM_OK; i++) {
        struct lbm_recovered_entry *entry = &recovered->log.at[i];
        if (entry->index != lbm_log_last(node) + 1) {
            lbm_core_note(node, LBM_NOTE_ERROR, "control log has a gap before entry %" PRIu64, entry->index);
            lbm_core_fail(node, LBM_E_CORRUPT);
            return;
        }
        struct lbm_recovered_entry mine = {entry->index, lbm_copy(entry->command, entry->len, 1), entry->len};
        if (mine.command == NULL || add_entry(node, mine) != LBM_OK) {
            lbm_core_fail(node, LBM_E_NOMEM);
            return;
        }
        apply_entry(node, lbm_log_entry(node, mine.index));
    }
    if (node->failed == LBM_OK)
        lbm_log_snapshot_drop_jobs(node);
    if (node->failed == LBM_OK)
        log_engine_of(node)->start(node);
}

void
lbm_log_persisted(struct lbm_node *node)
{
    size_t n = 0;
    lbm_log_snapshot_persisted(node);
    while (n < node->log_waits.n && node->log_waits.at[n].persist <= node->persisted)
        n++;
    if (n == 0)
        return;
    uint64_t from = node->log_waits.at[0].index;
    for (uint64_t index = from; index < from + n && node->failed == LBM_OK; index++)
        apply_entry(node, lbm_log_entry(node, index));
    memmove(node->log_waits.at, &node->log_waits.at[n], (node->log_waits.n - n) * sizeof *node->log_waits.at);
    node->log_waits.n -= n;
    log_engine_of(node)->applied(node, from);
    lbm_log_compact(node);
}

/* ---- proposals ----------------------------------------------------------------------------------------- */

/* Nobody wants it any more: somebody else has founded the cluster, or who was silent when the log could not
 * be reached is there again. */
static int
is_void(const struct lbm_node *node, const struct append *append)
{
    const struct peer *suspect =
        append->suspect != LBM_NONE ? lbm_membership_peer_known(node, append->suspect) : NULL;
    return append->is_given_up || (append->founds && lbm_log_last(node) != 0) ||
           (suspect != NULL && suspect->suspect_us == 0);
}

/* Whoever waits for it hears that it is given up, and whether it may have happened. An attempt that the
 * external log has not answered stays, so that none of the next commands is tried for the same index. */
static void
give_up(struct lbm_node *node, size_t at)
{
    struct append *append = &node->appends.at[at];
    uint64_t at_index = append->at > node->view.index ? append->at : 0;
    uint64_t token = append->token;
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    enum lbm_err err = lbm_wire_unpack_command(append->command, append->len, &command, &diag);
    if (at == 0 && at_index != 0 && node->engine == LBM_LOG_ENGINE_EXTERNAL) {
        append->is_given_up = 1;
        append->until_us = INT64_MAX;
    } else {
        append_drop(node, at);
    }
    if (err != LBM_OK) {
        lbm_core_fail(node, err);
        return;
    }
    node->raise->client_proposal_given_up(node, token, at_index != 0);
    if (command->what_case == LBM__COMMAND__WHAT_JOB_CREATE)
        node->raise->job_given_up(node, command->job_create->job, at_index);
    lbm__command__free_unpacked(command, NULL);
}

/* What has ended is never carried out. */
static void
end_appends(struct lbm_node *node)
{
    for (size_t i = node->appends.n; i-- > 0;)
        if (i < node->appends.n && node->now_us > node->appends.at[i].until_us)
            give_up(node, i);
}

void
lbm_log_withdraw(struct lbm_node *node, uint64_t token)
{
    for (size_t i = 0; i < node->appends.n; i++)
        if (node->appends.at[i].token == token && node->appends.at[i].at <= node->view.index) {
            append_drop(node, i);
            return;
        }
}

/* Send the first proposal. One at a time keeps a host's own commands in order. */
static void
try_append(struct lbm_node *node)
{
    if (node->appends.n != 0 && node->held != 0)
        lbm_log_store_deferred(node);
    end_appends(node);
    while (node->appends.n != 0 && !log_engine_of(node)->append_waits(node) &&
           is_void(node, &node->appends.at[0]))
        lbm_log_append_done(node);
    if (node->appends.n != 0 && node->caught_up && !node->diverged &&
        !log_engine_of(node)->append_waits(node))
        log_engine_of(node)->append(node);
}

static void
propose(struct lbm_node *node, const Lbm__Command *command, int founds, uint32_t suspect, int64_t until_us)
{
    struct append append = {.token = ++node->append_token,
                            .len = lbm__command__get_packed_size(command),
                            .founds = founds,
                            .suspect = suspect,
                            .until_us = until_us};
    append.command = lbm_alloc(append.len, 1);
    if (append.command == NULL || lbm_vec_push(&node->appends, append) != LBM_OK) {
        free(append.command);
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    lbm__command__pack(command, append.command);
    try_append(node);
}

void
lbm_log_append(struct lbm_node *node, const Lbm__Command *command)
{
    propose(node, command, 0, LBM_NONE, INT64_MAX);
}

uint64_t
lbm_log_append_until(struct lbm_node *node, const Lbm__Command *command, int64_t until_us)
{
    propose(node, command, 0, LBM_NONE, until_us);
    return node->append_token;
}

void
lbm_log_append_suspicion(struct lbm_node *node, const Lbm__Command *command, uint32_t suspect)
{
    propose(node, command, 0, suspect, INT64_MAX);
}

void
lbm_log_bootstrap(struct lbm_node *node)
{
    Lbm__Found found = LBM__FOUND__INIT;
    found.cluster = lbm_rng_next(&node->rng) | 1; /* 0 means unknown */
    found.name = node->cluster_name;
    found.founder = node->host;
    found.dimensions = node->m;
    found.hop_us = node->hop_us;
    found.external = node->engine == LBM_LOG_ENGINE_EXTERNAL;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_FOUND;
    command.found = &found;
    propose(node, &command, 1, LBM_NONE, INT64_MAX);
}

void
lbm_log_fetch(struct lbm_node *node)
{
    log_engine_of(node)->fetch(node);
}

void
lbm_log_timer(struct lbm_node *node)
{
    if (!node->caught_up)
        lbm_log_fetch(node);
    lbm_log_deferred_timer(node);
    lbm_log_promote_timer(node);
    try_append(node);
}

int64_t
lbm_log_deadline(const struct lbm_node *node)
{
    const struct log_engine *engine = log_engine_of(node);
    int64_t when = lbm_log_promote_deadline(node), own = lbm_log_deferred_deadline(node);
    when = own < when ? own : when;
    own = INT64_MAX;
    if (node->diverged)
        return when;
    if (!node->caught_up)
        own = engine->fetch_deadline(node);
    else if (node->appends.n != 0 && !engine->append_waits(node))
        own = engine->append_deadline(node);
    for (size_t i = 0; i < node->appends.n; i++)
        if (node->appends.at[i].until_us < own)
            own = node->appends.at[i].until_us + 1;
    return own < when ? own : when;
}
