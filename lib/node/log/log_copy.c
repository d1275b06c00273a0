/* SPDX-License-Identifier: GPL-3.0-or-later */
/* This host's copy of the log in memory and the proposals that wait: what its engines, its snapshots and its
 * leaders use. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/log/internal.h"
#include "node/log/log.h"

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
enum lbm_err
lbm_log_add_entry(struct lbm_node *node, struct lbm_recovered_entry entry)
{
    uint64_t chain = chained(lbm_log_chain(node, lbm_log_last(node)), entry.command, entry.len);
    if (lbm_vec_reserve(&node->log, 1) != LBM_OK || lbm_vec_push(&node->chains, chain) != LBM_OK) {
        free(entry.command);
        return LBM_E_NOMEM;
    }
    node->log.at[node->log.n++] = entry;
    return LBM_OK;
}

int
lbm_log_add(struct lbm_node *node, const uint8_t *command, size_t len)
{
    struct lbm_recovered_entry entry = {lbm_log_last(node) + 1, lbm_copy(command, len, 1), len};
    if (entry.command == NULL || lbm_log_add_entry(node, entry) != LBM_OK) {
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
lbm_log_check_engine(struct lbm_node *node)
{
    int is_named = node->view.external && node->view.ensemble.id == 0;
    if (node->view.index == 0 || is_named == (node->configured == LBM_LOG_ENGINE_EXTERNAL))
        return;
    lbm_core_note(
        node, LBM_NOTE_ERROR, "%s",
        is_named
            ? "this cluster's control log is kept outside the daemons: configure log_engine as its hosts do"
            : "this cluster's control log is ordered by a daemon: configure log_engine = \"local\"");
    lbm_core_fail(node, LBM_E_CORRUPT);
}

void
lbm_log_fetch(struct lbm_node *node)
{
    node->log_engine->fetch(node);
}

uint32_t
lbm_log_next_connected(const struct lbm_node *node)
{
    uint32_t first = LBM_NONE, next = LBM_NONE;
    for (size_t i = 0; i < node->peers.n; i++) {
        uint32_t host = node->peers.at[i].host;
        if (!node->peers.at[i].connected)
            continue;
        first = host < first ? host : first;
        next = host > node->fetch_host && host < next ? host : next;
    }
    return next != LBM_NONE ? next : first;
}

static void
send_fetch(struct lbm_node *node, uint32_t host, uint64_t from, uint64_t chain)
{
    Lbm__LogFetch fetch = LBM__LOG_FETCH__INIT;
    fetch.from = from;
    fetch.term = node->term;
    fetch.chain = chain;
    fetch.diverged = node->diverged != 0;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_FETCH;
    message.log_fetch = &fetch;
    lbm_core_send(node, host, &message);
}

void
lbm_log_send_fetch(struct lbm_node *node, uint32_t host)
{
    send_fetch(node, host, lbm_log_last(node) + 1, lbm_log_chain(node, lbm_log_last(node)));
}

/* From the first entry on, which is gone where there is a snapshot. */
void
lbm_log_send_fetch_view(struct lbm_node *node, uint32_t host)
{
    send_fetch(node, host, 1, 0);
}

void
lbm_log_fetch_other(struct lbm_node *node)
{
    node->fetch_host = lbm_log_next_connected(node);
    if (node->fetch_host == node->doubted_by)
        node->fetch_host = lbm_log_next_connected(node);
    if (node->fetch_host != node->doubted_by && node->fetch_host != LBM_NONE)
        lbm_log_send_fetch(node, node->fetch_host);
}

void
lbm_log_fetch_doubt(struct lbm_node *node)
{
    lbm_log_fetch_other(node);
    lbm_log_send_fetch(node, node->doubted_by);
}
