/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a vertex is where it is: the moves that hosts remember, put together. Owns: their order, and which of
 * two words about one move counts. */
#include <stdlib.h>

#include "node/client/internal.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/migration/migration.h"

void
lbm_client_explain_take(struct lbm_node *node, struct collection *collection, size_t n,
                        Lbm__Move *const *moves)
{
    for (size_t i = 0; i < n && collection->moves.n < LBM_MOVES_ALL_MAX; i++)
        if (lbm_vec_push(&collection->moves, *moves[i]) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
}

void
lbm_client_explain_take_own(struct lbm_node *node, struct collection *collection)
{
    Lbm__Move moves[LBM_MOVES_TOLD_MAX], *list[LBM_MOVES_TOLD_MAX];
    const struct job *job = lbm_local_job(node, collection->job);
    size_t n = job != NULL ? lbm_migration_moves_find(node, job, collection->vertex.at[0], moves) : 0;
    for (size_t i = 0; i < n; i++)
        list[i] = &moves[i];
    lbm_client_explain_take(node, collection, n, list);
}

static int
is_arrival(const Lbm__Move *move)
{
    return move->state == LBM_MOVE_ARRIVED;
}

/* By epoch; of one epoch, what the giver says of a move before what the taker does, and the one decided first
 * before others. */
static int
compare_moves(const void *a, const void *b)
{
    const Lbm__Move *x = *(Lbm__Move *const *)a, *y = *(Lbm__Move *const *)b;
    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    if (is_arrival(x) && is_arrival(y))
        return x->reason == LBM_MOVE_UNKNOWN || y->reason == LBM_MOVE_UNKNOWN
                   ? (x->reason == LBM_MOVE_UNKNOWN) - (y->reason == LBM_MOVE_UNKNOWN)
                   : (x->took_s < y->took_s) - (x->took_s > y->took_s);
    return (x->age_s < y->age_s) - (x->age_s > y->age_s);
}

void
lbm_client_explain_finish(struct lbm_node *node, struct collection *collection)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, collection->job);
    Lbm__Move **moves = lbm_alloc(collection->moves.n, sizeof(Lbm__Move *));
    if (moves == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    for (size_t i = 0; i < collection->moves.n; i++)
        moves[i] = &collection->moves.at[i];
    if (collection->moves.n != 0)
        qsort(moves, collection->moves.n, sizeof(Lbm__Move *), compare_moves);
    size_t n = 0;
    for (size_t i = 0; i < collection->moves.n; i++) { /* of an arrival there is only one */
        int is_same = n != 0 && is_arrival(moves[i]) && is_arrival(moves[n - 1]) &&
                      moves[i]->epoch == moves[n - 1]->epoch;
        if (!is_same)
            moves[n++] = moves[i];
    }
    Lbm__ExplainReply explain = LBM__EXPLAIN_REPLY__INIT;
    explain.vertex = collection->vertex.at[0];
    explain.host = collection->place.at[0];
    explain.epoch = collection->epoch.at[0];
    explain.coordinator = entry != NULL ? entry->coordinator : 0;
    explain.n_moves = n;
    explain.moves = moves;
    explain.n_missing = collection->awaited.n;
    explain.missing = collection->awaited.at;
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_EXPLAIN;
    response.explain = &explain;
    lbm_core_reply(node, collection->client, collection->request, 1, &response);
    free(moves);
}
