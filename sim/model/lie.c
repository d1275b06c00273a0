/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A member that lies: for as long as it does, what arrives of it says something else than what it sent. It
 * speaks as itself and in the form that receivers take, so nothing but what others make of it protects them.
 */
#include <stdlib.h>

#include "sim/model/internal.h"

enum { FAR_US = 1000000000, VIEWS = 1000 };
#define LOAD_LIE (UINT64_C(1) << 60)
#define EPOCH_LIE (UINT64_C(1) << 61)
#define SUM_LIE 1e15

void
cluster_lie(struct cluster *c, uint32_t host, enum cluster_lie lie)
{
    c->machine[host].lie = lie;
    trace(c, host, lie != CLUSTER_LIE_NONE ? "lies from now on" : "lies no more");
}

static void
lie_about_loads(Lbm__Ping *ping)
{
    for (size_t i = 0; i < ping->n_jobs; i++) {
        Lbm__LoadReport *job = ping->jobs[i];
        job->load = job->whole = job->flow = job->moved = LOAD_LIE;
        job->sum = job->sum != 0 ? LOAD_LIE : 0;
        job->vertices = LBM_VERTICES_MAX;
        job->transfer_us = UINT64_MAX;
    }
}

static void
lie_about_epochs(Lbm__Ping *ping)
{
    for (size_t i = 0; i < ping->n_jobs; i++)
        ping->jobs[i]->epoch_top = EPOCH_LIE;
}

static void
lie_about_place(Lbm__Ping *ping)
{
    for (size_t k = 0; k < ping->n_coordinate; k++)
        ping->coordinate[k] = k % 2 == 0 ? FAR_US : -FAR_US;
    ping->error = 0;
    ping->sent_us = 1;
    ping->slow = 1;
}

/* That it hears nobody, and has no backup. */
static void
lie_about_others(struct cluster *c, uint32_t from, Lbm__Ping *ping, struct lie_words *words)
{
    words->n = ping->n_suspect;
    words->suspect = ping->suspect;
    ping->n_suspect = 0;
    ping->suspect = words->all;
    for (uint32_t p = 0; p < c->n && ping->n_suspect < sizeof words->all / sizeof *words->all; p++)
        if (p != from)
            words->all[ping->n_suspect++] = p;
    ping->backup_lost = 1;
}

static void
lie_about_sums(Lbm__Peer *message)
{
    if (message->body_case == LBM__PEER__BODY_SUMS)
        for (size_t i = 0; i < message->sums->n_value; i++)
            message->sums->value[i] = i % 2 == 0 ? SUM_LIE : -SUM_LIE;
    if (message->body_case == LBM__PEER__BODY_GHOSTS)
        for (size_t i = 0; i < message->ghosts->n_position; i++)
            message->ghosts->position[i] = 0;
}

/* Not to the only other member, whom nobody contradicts, nor of who leads: followers take its word. */
static void
lie_about_history(const struct cluster *c, uint32_t to, uint32_t from, Lbm__Peer *message)
{
    struct lbm_node_contact others[2];
    if (message->body_case == LBM__PEER__BODY_LOG_POSITION)
        message->log_position->last += VIEWS;
    if (message->body_case != LBM__PEER__BODY_LOG_ENTRIES || message->log_entries->leader == from ||
        lbm_node_contacts(c->machine[to].node, others, 2) < 2)
        return;
    message->log_entries->diverged = message->log_entries->gone = 1;
}

void
lie_begins(struct cluster *c, uint32_t to, uint32_t from, Lbm__Peer *message, struct lie_words *words)
{
    enum cluster_lie lie = c->machine[from].lie;
    Lbm__Ping *ping = message->body_case == LBM__PEER__BODY_PING ? message->ping : NULL;
    words->ping = NULL;
    words->entries = NULL;
    words->snapshot = NULL;
    words->is_kept = 0;
    if (lie == CLUSTER_LIE_VIEW || lie == CLUSTER_LIE_HISTORY)
        message->view += VIEWS;
    if (lie == CLUSTER_LIE_HISTORY)
        lie_about_history(c, to, from, message);
    if (lie == CLUSTER_LIE_ENTRY && !lie_is_believed(c, to, from))
        lie_about_entries(c, from, message, words);
    if (lie == CLUSTER_LIE_SILENCE && !lie_is_believed(c, to, from))
        lie_in_silence(c, to, from, message, words);
    if (lie == CLUSTER_LIE_SUMS)
        lie_about_sums(message);
    if (ping == NULL)
        return;
    if (lie == CLUSTER_LIE_LOADS)
        lie_about_loads(ping);
    if (lie == CLUSTER_LIE_EPOCHS)
        lie_about_epochs(ping);
    if (lie == CLUSTER_LIE_PLACE)
        lie_about_place(ping);
    if (lie == CLUSTER_LIE_OTHERS) {
        words->ping = ping;
        lie_about_others(c, from, ping, words);
    }
}

void
lie_ends(struct lie_words *words)
{
    lie_log_ends(words);
    if (words->ping == NULL)
        return;
    words->ping->n_suspect = words->n;
    words->ping->suspect = words->suspect;
}
