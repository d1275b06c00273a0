/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The local engine of the control log (PROTOCOL section 1): the founder orders commands, everyone keeps
 * a full copy and applies an entry once it is stored. While the founder is away, appends wait and all
 * else goes on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/internal.h"

/* Bounds of one LogEntries message: far below a frame, though one entry may have LBM_COMMAND_BYTES_MAX. */
enum { ENTRIES_BATCH = 256, ENTRIES_BYTES = 1 << 20 };

static uint64_t
last_index(const struct lbm_node *node)
{
    return node->log.n;
}

/* Append an entry to the copy in memory and ask for it to be stored. */
static void
store_entry(struct lbm_node *node, const uint8_t *command, size_t len)
{
    uint64_t index = last_index(node) + 1;
    struct lbm_recovered_entry entry = {index, lbm_copy(command, len, 1), len};
    uint8_t *copy = lbm_copy(command, len, 1);
    if (entry.command == NULL || copy == NULL || lbm_vec_push(&node->log, entry) != LBM_OK) {
        free(entry.command);
        free(copy);
        fail(node, LBM_E_NOMEM);
        return;
    }
    struct lbm_persist_op op = {.kind = LBM_PERSIST_LOG};
    op.as.log.index = index;
    op.as.log.command = copy;
    op.as.log.len = len;
    persist(node, op);
    struct log_wait wait = {index, node->persist_id};
    if (lbm_vec_push(&node->log_waits, wait) != LBM_OK)
        fail(node, LBM_E_NOMEM);
}

static void
drop_append(struct lbm_node *node, size_t at)
{
    free(node->appends.at[at].command);
    memmove(&node->appends.at[at], &node->appends.at[at + 1],
            (node->appends.n - at - 1) * sizeof *node->appends.at);
    node->appends.n--;
}

/* An entry that equals a waiting append is that append, whatever became of the reply. */
static void
settle_appends(struct lbm_node *node, const struct lbm_recovered_entry *entry)
{
    for (size_t i = 0; i < node->appends.n; i++)
        if (node->appends.at[i].len == entry->len &&
            memcmp(node->appends.at[i].command, entry->command, entry->len) == 0) {
            drop_append(node, i);
            if (i == 0)
                node->append_us = node->append_accepted = 0;
            return;
        }
}

/* What an entry changes outside the view. */
static void
follow_up(struct lbm_node *node, const Lbm__Command *command, const char *refusal)
{
    switch (command->what_case) {
    case LBM__COMMAND__WHAT_JOB_CREATE:
        if (refusal[0] != '\0')
            jobs_refused(node, command->job_create, refusal);
        else
            jobs_created(node, lbm_view_job(&node->view, command->job_create->job));
        break;
    case LBM__COMMAND__WHAT_JOB_DELETE:
        if (refusal[0] == '\0')
            jobs_deleted(node, command->job_delete->job);
        break;
    case LBM__COMMAND__WHAT_JOIN:
        if (refusal[0] != '\0' && command->join->host == node->host &&
            command->join->incarnation == node->incarnation) {
            node->join_refused = 1;
            note(node, LBM_NOTE_ERROR, "this host may not join: %.200s", refusal);
        }
        /* fall through */
    default:
        if (refusal[0] == '\0')
            membership_changed(node);
        break;
    }
}

static void
apply_entry(struct lbm_node *node, const struct lbm_recovered_entry *entry)
{
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    char refusal[LBM_DIAG_TEXT_MAX];
    enum lbm_err err = lbm_wire_unpack_command(entry->command, entry->len, &command, &diag);
    if (err == LBM_OK)
        err = lbm_view_apply(&node->view, command, refusal);
    if (err != LBM_OK) {
        note(node, LBM_NOTE_ERROR, "control log entry %" PRIu64 ": %s", entry->index, lbm_err_text(err));
        fail(node, err == LBM_E_NOMEM ? err : LBM_E_CORRUPT);
    } else {
        if (refusal[0] != '\0')
            note(node, LBM_NOTE_INFO, "control log entry %" PRIu64 " changes nothing: %.180s", entry->index,
                 refusal);
        follow_up(node, command, refusal);
        operate_applied(node, command, refusal);
        settle_appends(node, entry);
    }
    if (command != NULL)
        lbm__command__free_unpacked(command, NULL);
}

/* The founder tells all it is connected to; the others ask when they notice. */
static void
push_entries(struct lbm_node *node, uint32_t host, uint64_t from)
{
    uint64_t last = node->view.index, at = from;
    do {
        ProtobufCBinaryData data[ENTRIES_BATCH];
        size_t n = 0, bytes = 0;
        while (at + n <= last && n < ENTRIES_BATCH && bytes < ENTRIES_BYTES) {
            const struct lbm_recovered_entry *entry = &node->log.at[at + n - 1];
            data[n++] = (ProtobufCBinaryData){entry->len, entry->command};
            bytes += entry->len;
        }
        Lbm__LogEntries entries = LBM__LOG_ENTRIES__INIT;
        entries.from = at;
        entries.n_command = n;
        entries.command = data;
        entries.last = last;
        Lbm__Peer message = LBM__PEER__INIT;
        message.body_case = LBM__PEER__BODY_LOG_ENTRIES;
        message.log_entries = &entries;
        send_peer(node, host, &message);
        at += n;
    } while (at <= last);
}

static void
found_cluster(struct lbm_node *node)
{
    Lbm__Found found = LBM__FOUND__INIT;
    found.cluster = lbm_rng_next(&node->rng) | 1; /* 0 means unknown */
    found.name = node->cluster_name;
    found.founder = node->host;
    found.dimensions = node->m;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_FOUND;
    command.found = &found;
    size_t len = lbm__command__get_packed_size(&command);
    uint8_t *bytes = lbm_alloc(len, 1);
    if (bytes == NULL) {
        fail(node, LBM_E_NOMEM);
        return;
    }
    lbm__command__pack(&command, bytes);
    store_entry(node, bytes, len);
    free(bytes);
}

void
log_start(struct lbm_node *node, struct lbm_recovered *recovered)
{
    for (size_t i = 0; i < recovered->log.n && node->failed == LBM_OK; i++) {
        struct lbm_recovered_entry *entry = &recovered->log.at[i];
        if (entry->index != i + 1) {
            note(node, LBM_NOTE_ERROR, "control log has a gap before entry %" PRIu64, entry->index);
            fail(node, LBM_E_CORRUPT);
            return;
        }
        struct lbm_recovered_entry mine = {entry->index, lbm_copy(entry->command, entry->len, 1), entry->len};
        if (mine.command == NULL || lbm_vec_push(&node->log, mine) != LBM_OK) {
            free(mine.command);
            fail(node, LBM_E_NOMEM);
            return;
        }
        apply_entry(node, &node->log.at[i]);
    }
    if (node->failed == LBM_OK && node->founder) {
        node->caught_up = 1;
        if (node->log.n == 0)
            found_cluster(node);
    }
}

void
log_persisted(struct lbm_node *node)
{
    size_t n = 0;
    while (n < node->log_waits.n && node->log_waits.at[n].persist <= node->persisted)
        n++;
    if (n == 0)
        return;
    for (size_t i = 0; i < n && node->failed == LBM_OK; i++)
        apply_entry(node, &node->log.at[node->log_waits.at[i].index - 1]);
    uint64_t from = node->log_waits.at[0].index;
    memmove(node->log_waits.at, &node->log_waits.at[n], (node->log_waits.n - n) * sizeof *node->log_waits.at);
    node->log_waits.n -= n;
    for (size_t i = 0; node->founder && i < node->peers.n; i++)
        if (node->peers.at[i].connected)
            push_entries(node, node->peers.at[i].host, from);
}

/* Nonzero if the first append must wait. An entry that is being stored may be that very append, taken
 * before a restart or without our hearing of it: proposing it again could bring back what was deleted
 * in between. */
static int
append_waits(const struct lbm_node *node)
{
    return node->appends.n == 0 || !node->caught_up || node->append_accepted ||
           (!node->founder && node->log_waits.n != 0);
}

/* Send the first waiting append, or order it here. One at a time keeps a host's own commands in order. */
static void
try_append(struct lbm_node *node)
{
    if (append_waits(node))
        return;
    const struct append *first = &node->appends.at[0];
    if (node->founder) {
        if (node->append_us == 0) {
            node->append_us = node->now_us;
            store_entry(node, first->command, first->len);
        }
        return;
    }
    if (node->append_us != 0 && node->now_us - node->append_us < APPEND_RETRY_US)
        return;
    node->append_us = node->now_us;
    Lbm__LogAppend append = LBM__LOG_APPEND__INIT;
    append.token = first->token;
    append.index = last_index(node) + 1;
    append.command = (ProtobufCBinaryData){first->len, first->command};
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_APPEND;
    message.log_append = &append;
    send_peer(node, node->founder_host, &message);
}

void
log_append(struct lbm_node *node, const Lbm__Command *command)
{
    struct append append = {.token = ++node->append_token, .len = lbm__command__get_packed_size(command)};
    append.command = lbm_alloc(append.len, 1);
    if (append.command == NULL || lbm_vec_push(&node->appends, append) != LBM_OK) {
        free(append.command);
        fail(node, LBM_E_NOMEM);
        return;
    }
    lbm__command__pack(command, append.command);
    try_append(node);
}

void
log_fetch(struct lbm_node *node)
{
    if (node->founder || (node->fetch_us != 0 && node->now_us - node->fetch_us < FETCH_RETRY_US))
        return;
    node->fetch_us = node->now_us;
    Lbm__LogFetch fetch = LBM__LOG_FETCH__INIT;
    fetch.from = last_index(node) + 1;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_FETCH;
    message.log_fetch = &fetch;
    send_peer(node, node->founder_host, &message);
}

void
log_timer(struct lbm_node *node)
{
    if (!node->caught_up)
        log_fetch(node);
    try_append(node);
}

int64_t
log_deadline(const struct lbm_node *node)
{
    if (!node->caught_up)
        return node->fetch_us + FETCH_RETRY_US;
    if (append_waits(node) || (node->founder && node->append_us != 0))
        return INT64_MAX;
    return node->append_us == 0 ? node->now_us : node->append_us + APPEND_RETRY_US;
}

void
on_log_fetch(struct lbm_node *node, const Lbm__Peer *message)
{
    if (node->founder && message->log_fetch->from >= 1)
        push_entries(node, message->src, message->log_fetch->from);
}

void
on_log_entries(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__LogEntries *entries = message->log_entries;
    if (node->founder || message->src != node->founder_host)
        return;
    for (size_t i = 0; i < entries->n_command; i++) {
        uint64_t index = entries->from + i;
        if (index == last_index(node) + 1)
            store_entry(node, entries->command[i].data, entries->command[i].len);
    }
    if (last_index(node) < entries->last) {
        node->fetch_us = 0;
        log_fetch(node);
        return;
    }
    node->caught_up = 1;
    if (!node->append_accepted && entries->n_command != 0)
        node->append_us = 0; /* the index it was sent for is taken: try the next one */
}

void
on_log_append(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__LogAppend *append = message->log_append;
    if (!node->founder)
        return;
    Lbm__LogResult result = LBM__LOG_RESULT__INIT;
    result.token = append->token;
    result.accepted = append->index == last_index(node) + 1;
    if (result.accepted) {
        Lbm__Command *command = NULL;
        struct lbm_diag diag;
        if (lbm_wire_unpack_command(append->command.data, append->command.len, &command, &diag) != LBM_OK) {
            note(node, LBM_NOTE_WARNING, "host %" PRIu32 " sent a command that cannot be read: %.160s",
                 message->src, diag.text);
            return;
        }
        lbm__command__free_unpacked(command, NULL);
        store_entry(node, append->command.data, append->command.len);
    }
    result.last = last_index(node);
    Lbm__Peer answer = LBM__PEER__INIT;
    answer.body_case = LBM__PEER__BODY_LOG_RESULT;
    answer.log_result = &result;
    send_peer(node, message->src, &answer);
}

/* Accepted: the entry itself will come and settle the append. Refused: catch up, then try again. */
void
on_log_result(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__LogResult *result = message->log_result;
    if (node->appends.n == 0 || node->appends.at[0].token != result->token)
        return;
    if (result->accepted) {
        node->append_accepted = 1;
        return;
    }
    if (result->last > last_index(node)) {
        node->fetch_us = 0;
        log_fetch(node);
    } else {
        node->append_us = 0; /* what was missing has come meanwhile: try again now */
    }
}
