/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The local engine of the control log (PROTOCOL section 1): the founder orders commands, all others follow
 * it. While the founder is away nothing is added. */
#include <inttypes.h>
#include <stdlib.h>

#include "node/log_internal.h"

/* Bounds of one LogEntries message: far below a frame, though one entry may have LBM_COMMAND_BYTES_MAX. */
enum { ENTRIES_BATCH = 256, ENTRIES_BYTES = 1 << 20 };

/* The founder tells all it is connected to; the others ask when they notice. */
static void
push_entries(struct lbm_node *node, uint32_t host, uint64_t from)
{
    uint64_t last = node->view.index, at = from;
    do {
        ProtobufCBinaryData data[ENTRIES_BATCH];
        size_t n = 0, bytes = 0;
        while (at + n <= last && n < ENTRIES_BATCH && bytes < ENTRIES_BYTES) {
            const struct lbm_recovered_entry *entry = log_entry(node, at + n);
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
local_start(struct lbm_node *node)
{
    if (!node->founder)
        return;
    node->caught_up = 1;
    if (log_last(node) == 0)
        log_found(node);
}

static void
local_applied(struct lbm_node *node, uint64_t from)
{
    for (size_t i = 0; node->founder && i < node->peers.n; i++)
        if (node->peers.at[i].connected)
            push_entries(node, node->peers.at[i].host, from);
}

/* An entry that is being stored may be the first proposal itself, taken before a restart or without our
 * hearing of it: proposing it again could bring back what was deleted in between. */
static int
local_append_waits(const struct lbm_node *node)
{
    if (node->founder)
        return node->append_us != 0;
    return node->append_accepted || node->log_waits.n != 0;
}

static void
local_append(struct lbm_node *node)
{
    const struct append *first = &node->appends.at[0];
    if (node->founder) {
        node->append_us = node->now_us;
        log_store(node, first->command, first->len);
        return;
    }
    if (node->append_us != 0 && node->now_us - node->append_us < APPEND_RETRY_US)
        return;
    node->append_us = node->now_us;
    Lbm__LogAppend append = LBM__LOG_APPEND__INIT;
    append.token = first->token;
    append.index = log_last(node) + 1;
    append.command = (ProtobufCBinaryData){first->len, first->command};
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_APPEND;
    message.log_append = &append;
    send_peer(node, node->founder_host, &message);
}

static int64_t
local_append_deadline(const struct lbm_node *node)
{
    return node->append_us == 0 ? node->now_us : node->append_us + APPEND_RETRY_US;
}

static void
local_fetch(struct lbm_node *node)
{
    if (node->founder || (node->fetch_us != 0 && node->now_us - node->fetch_us < FETCH_RETRY_US))
        return;
    node->fetch_us = node->now_us;
    Lbm__LogFetch fetch = LBM__LOG_FETCH__INIT;
    fetch.from = log_last(node) + 1;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_FETCH;
    message.log_fetch = &fetch;
    send_peer(node, node->founder_host, &message);
}

static int64_t
local_fetch_deadline(const struct lbm_node *node)
{
    return node->fetch_us + FETCH_RETRY_US;
}

const struct log_engine log_local = {
    .start = local_start,
    .applied = local_applied,
    .append_waits = local_append_waits,
    .append = local_append,
    .append_deadline = local_append_deadline,
    .fetch = local_fetch,
    .fetch_deadline = local_fetch_deadline,
};

/* ---- messages -------------------------------------------------------------------------------------------
 */

void
on_log_fetch(struct lbm_node *node, const Lbm__Peer *message)
{
    if (!node->founder || message->log_fetch->from < 1)
        return;
    if (message->log_fetch->from <= node->log_base)
        log_snapshot_send(node, message->src);
    else
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
        if (index == log_last(node) + 1)
            log_store(node, entries->command[i].data, entries->command[i].len);
    }
    if (log_last(node) < entries->last) {
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
    result.accepted = append->index == log_last(node) + 1;
    if (result.accepted) {
        Lbm__Command *command = NULL;
        struct lbm_diag diag;
        if (lbm_wire_unpack_command(append->command.data, append->command.len, &command, &diag) != LBM_OK) {
            note(node, LBM_NOTE_WARNING, "host %" PRIu32 " sent a command that cannot be read: %.160s",
                 message->src, diag.text);
            return;
        }
        lbm__command__free_unpacked(command, NULL);
        log_store(node, append->command.data, append->command.len);
    }
    result.last = log_last(node);
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
    if (result->last > log_last(node)) {
        node->fetch_us = 0;
        log_fetch(node);
    } else {
        node->append_us = 0; /* what was missing has come meanwhile: try again now */
    }
}
