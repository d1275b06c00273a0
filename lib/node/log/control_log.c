/* SPDX-License-Identifier: GPL-3.0-or-later */
/* This host's copy of the control log (protocol.md section 2): every entry is stored first and applied once
 * it is durable. How an entry gets its index is the engine's matter. While no entry can be added, proposals
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

/* ---- storing and applying ------------------------------------------------------------------------------ */

/* An entry that equals a waiting proposal is that proposal, whatever became of the answer. */
static void
settle_appends(struct lbm_node *node, const struct lbm_recovered_entry *entry)
{
    for (size_t i = 0; i < node->appends.n; i++) {
        struct append *append = &node->appends.at[i];
        if (append->len != entry->len || memcmp(append->command, entry->command, entry->len) != 0)
            continue;
        lbm_log_append_drop(node, i);
        return;
    }
}

/* At the host itself and where the log is ordered: it counts for less than it announces. */
static void
tell_capacity(struct lbm_node *node, const Lbm__Join *join)
{
    const struct lbm_member *member = lbm_view_member(&node->view, join->host);
    if (member->capacity < join->capacity && !node->starting && (node->leader || join->host == node->host))
        lbm_core_note(node, LBM_NOTE_WARNING,
                      "host %" PRIu32
                      " announces capacity %g, but gets %g, %d times the median of the others; "
                      "lbctl set %" PRIu32 " --capacity gives it more",
                      join->host, join->capacity, member->capacity, LBM_CAPACITY_RATIO_MAX, join->host);
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
        if (refusal[0] == '\0')
            tell_capacity(node, command->join);
        /* fall through */
    default:
        if (refusal[0] == '\0')
            lbm_membership_changed(node, 0);
        break;
    }
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
        if (entry->index == 1) {
            lbm_log_check_engine(node);
            lbm_log_leader_read(node);
        }
        if (command->what_case == LBM__COMMAND__WHAT_ENSEMBLE ||
            command->what_case == LBM__COMMAND__WHAT_LOG_MOVE) {
            node->ensemble.is_closed = 0;
            lbm_log_engine_follow(node);
        }
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
    node->log_engine = log_engine_of(node);
    lbm_log_term_start(node, recovered);
    lbm_log_snapshot_start(node, recovered);
    lbm_log_engine_follow(node);
    for (size_t i = 0; i < recovered->log.n && node->failed == LBM_OK; i++) {
        struct lbm_recovered_entry *entry = &recovered->log.at[i];
        if (entry->index != lbm_log_last(node) + 1) {
            lbm_core_note(node, LBM_NOTE_ERROR, "control log has a gap before entry %" PRIu64, entry->index);
            lbm_core_fail(node, LBM_E_CORRUPT);
            return;
        }
        struct lbm_recovered_entry mine = {entry->index, lbm_copy(entry->command, entry->len, 1), entry->len};
        if (mine.command == NULL || lbm_log_add_entry(node, mine) != LBM_OK) {
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
    lbm_log_engine_follow(node);
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
    lbm_log_promote_applied(node);
    lbm_log_compact(node);
}

/* ---- proposals ----------------------------------------------------------------------------------------- */

void
lbm_log_timer(struct lbm_node *node)
{
    if (node->diverged)
        lbm_log_diverged_timer(node);
    else if (!node->caught_up)
        lbm_log_fetch(node);
    lbm_log_deferred_timer(node);
    lbm_log_promote_timer(node);
    lbm_log_ensemble_timer(node);
    lbm_log_local_timer(node);
    lbm_log_try_append(node);
}

int64_t
lbm_log_deadline(const struct lbm_node *node)
{
    const struct log_engine *engine = log_engine_of(node);
    int64_t when = lbm_log_promote_deadline(node), own = lbm_log_deferred_deadline(node);
    when = own < when ? own : when;
    own = lbm_log_ensemble_deadline(node);
    when = own < when ? own : when;
    own = lbm_log_diverged_deadline(node);
    if (node->diverged)
        return own < when ? own : when;
    own = INT64_MAX;
    if (!node->caught_up)
        own = engine->fetch_deadline(node);
    else if (node->appends.n != 0 && !engine->append_waits(node))
        own = engine->append_deadline(node);
    for (size_t i = 0; i < node->appends.n; i++)
        if (node->appends.at[i].until_us < own)
            own = node->appends.at[i].until_us + 1;
    return own < when ? own : when;
}
