/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What goes to other hosts of this host's copy of the log: to who asks for it, to all by who leads, and to
 * who is being promoted while the log has moved. Never: decides who is believed. */
#include "node/core/core.h"
#include "node/log/internal.h"
#include "node/log/log.h"

/* Bounds of one LogEntries message: far below a frame, though one entry may have LBM_COMMAND_BYTES_MAX. */
enum { ENTRIES_BATCH = 256, ENTRIES_BYTES = 1 << 20 };

void
lbm_log_send_entries(struct lbm_node *node, uint32_t host, uint64_t from)
{
    uint64_t last = node->leader ? node->view.index : lbm_log_last(node), at = from;
    do {
        ProtobufCBinaryData data[ENTRIES_BATCH];
        size_t n = 0, bytes = 0;
        while (at + n <= last && n < ENTRIES_BATCH && bytes < ENTRIES_BYTES) {
            const struct lbm_recovered_entry *entry = lbm_log_entry(node, at + n);
            data[n++] = (ProtobufCBinaryData){entry->len, entry->command};
            bytes += entry->len;
        }
        Lbm__LogEntries entries = LBM__LOG_ENTRIES__INIT;
        entries.from = at;
        entries.n_command = n;
        entries.command = data;
        entries.last = last;
        entries.chain =
            at - 1 >= node->log_base && at - 1 <= lbm_log_last(node) ? lbm_log_chain(node, at - 1) : 0;
        entries.term = lbm_log_known_term(node);
        entries.leader = lbm_log_known_leader(node);
        entries.now_us = node->leader ? (uint64_t)node->now_us : 0;
        Lbm__Peer message = LBM__PEER__INIT;
        message.body_case = LBM__PEER__BODY_LOG_ENTRIES;
        message.log_entries = &entries;
        lbm_core_send(node, host, &message);
        at += n;
    } while (at <= last);
}

void
lbm_log_tell_moved(struct lbm_node *node, uint32_t host)
{
    uint64_t moved = node->view.ensemble.moved;
    if (lbm_log_is_managed(node) && moved > node->log_base && moved <= lbm_log_last(node))
        lbm_log_send_entries(node, host, moved);
}
