/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A consistent cut of a job, for backups (protocol.md section 17): while it lasts every host keeps payloads
 * and owners as they are, so that hosts can be read one after the other.
 *
 * Owns: the cut that a job is in here, requests of applications that are put off meanwhile, and the cuts that
 * clients of this host have begun. A host confirms a cut once nothing that it gives away is on its way. A cut
 * that nobody asks for ends by itself: applications never wait for an operator that is gone. Never: reads
 * vertices (query.c). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/client/client.h"
#include "node/client/internal.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/log/log.h"

/* What is put off waits in memory; more than that ends the cut. */
enum { DEFERRED_BYTES_MAX = 64 << 20 };

/* ---- requests of applications that come after the cut ---------------------------------------------------
 */

static void
deferred_free(struct deferred_request *deferred)
{
    free(deferred->request);
    free(deferred);
}

/* Those of a job are carried out, in the order in which they came. */
static void
carry_out(struct lbm_node *node, uint64_t job)
{
    LBM_VEC(struct deferred_request *) list = {0};
    size_t kept = 0;
    for (size_t i = 0; i < node->deferred.n; i++) {
        if (node->deferred.at[i]->job != job)
            node->deferred.at[kept++] = node->deferred.at[i];
        else if (lbm_vec_push(&list, node->deferred.at[i]) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    }
    node->deferred.n = kept;
    for (size_t i = 0; i < list.n; i++) {
        struct deferred_request *deferred = list.at[i];
        Lbm__Request *request = lbm__request__unpack(NULL, deferred->len, deferred->request);
        struct lbm_event event = {
            .kind = LBM_EVENT_REQUEST,
            .now_us = node->now_us,
            .as.request = {deferred->client, deferred->uid, deferred->access, deferred->is_remote, request}};
        node->deferred_bytes -= deferred->len;
        deferred_free(deferred);
        if (request == NULL)
            lbm_core_fail(node, LBM_E_NOMEM);
        else if (node->failed == LBM_OK)
            lbm_client_on_request(node, &event);
        if (request != NULL)
            lbm__request__free_unpacked(request, NULL);
    }
    lbm_vec_free(&list);
}

static void
end(struct lbm_node *node, struct job *job)
{
    job->cut = 0;
    job->cut_us = 0;
    carry_out(node, job->id);
}

/* Errors: LBM_E_NOMEM. */
static enum lbm_err
keep(struct lbm_node *node, const struct client *client, const struct job *job, const Lbm__Request *request)
{
    struct deferred_request *deferred = lbm_alloc(1, sizeof *deferred);
    size_t len = lbm__request__get_packed_size(request);
    uint8_t *bytes = lbm_alloc(len, 1);
    if (deferred == NULL || bytes == NULL || lbm_vec_reserve(&node->deferred, 1) != LBM_OK) {
        free(deferred);
        free(bytes);
        return LBM_E_NOMEM;
    }
    lbm__request__pack(request, bytes);
    *deferred = (struct deferred_request){client->id,        job->id, client->uid, client->access,
                                          client->is_remote, len,     bytes};
    node->deferred.at[node->deferred.n++] = deferred;
    node->deferred_bytes += len;
    return LBM_OK;
}

int
lbm_client_cut_defers(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    const struct application *application = lbm_local_application(node, client->id);
    struct job *job = application != NULL ? lbm_local_job(node, application->job) : NULL;
    if (job == NULL || job->cut == 0 ||
        (request->what_case != LBM__REQUEST__WHAT_RELEASED &&
         request->what_case != LBM__REQUEST__WHAT_CHECKPOINT &&
         request->what_case != LBM__REQUEST__WHAT_CHANGE))
        return 0;
    if (!lbm_local_is_held(node, job) || node->deferred_bytes > DEFERRED_BYTES_MAX) {
        end(node, job);
        return 0;
    }
    if (keep(node, client, job, request) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    return 1;
}

/* ---- the hosts that keep it -----------------------------------------------------------------------------
 */

/* Who asks has it from a client that may read the job's payloads: an administrator, whom the cluster listens
 * to at some hosts alone, or the owner, at the host where the job was submitted. */
static int
may_ask(const struct lbm_node *node, uint32_t host, uint64_t job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job);
    return entry != NULL &&
           (host == node->host || entry->coordinator == host || lbm_log_is_operator(node, host));
}

/* The answer to who begins or prolongs a cut: it is kept here, or it is torn. */
static void
confirm(struct lbm_node *node, const struct hold *hold, int is_torn)
{
    if (hold->to == node->host) {
        lbm_client_query_held(node, hold->query, is_torn);
        return;
    }
    Lbm__MapChunk chunk = LBM__MAP_CHUNK__INIT;
    Lbm__Records none = LBM__RECORDS__INIT;
    chunk.job = hold->job;
    chunk.query = hold->query;
    chunk.last = 1;
    chunk.records = &none;
    chunk.torn = is_torn != 0;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_MAP_CHUNK;
    message.map_chunk = &chunk;
    lbm_core_send(node, hold->to, &message);
}

void
lbm_client_cut_hold(struct lbm_node *node, uint32_t from, uint64_t query, uint64_t job_id, uint64_t cut)
{
    struct job *job = lbm_local_job(node, job_id);
    struct hold hold = {from, query, job_id, cut};
    if (job == NULL || !may_ask(node, from, job_id) || lbm_local_is_held(node, job)) {
        confirm(node, &hold, 1);
        return;
    }
    if (job->cut != 0)
        end(node, job);
    job->cut = cut;
    job->cut_us = node->now_us + CUT_US;
    if (job->shard.n_out == 0)
        confirm(node, &hold, 0);
    else if (lbm_vec_push(&node->holds, hold) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

int
lbm_client_cut_lasts(struct lbm_node *node, uint32_t from, struct job *job, uint64_t cut)
{
    if (job == NULL || job->cut != cut || !lbm_local_is_held(node, job) || !may_ask(node, from, job->id))
        return 0;
    job->cut_us = node->now_us + CUT_US;
    return 1;
}

static void
end_here(struct lbm_node *node, uint64_t job_id, uint64_t cut)
{
    struct job *job = lbm_local_job(node, job_id);
    if (job != NULL && job->cut == cut && cut != 0)
        end(node, job);
}

void
lbm_client_cut_on_query(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__MapQuery *query = message->map_query;
    struct hold hold = {message->src, query->query, query->job, query->cut};
    if (query->hold == LBM_HOLD_BEGIN)
        lbm_client_cut_hold(node, message->src, query->query, query->job, query->cut);
    else if (query->hold == LBM_HOLD_END && may_ask(node, message->src, query->job))
        end_here(node, query->job, query->cut);
    else if (query->hold == LBM_HOLD_PROLONG)
        confirm(node, &hold,
                !lbm_client_cut_lasts(node, message->src, lbm_local_job(node, query->job), query->cut));
}

/* ---- the host of the client -----------------------------------------------------------------------------
 */

uint64_t
lbm_client_cut_new(struct lbm_node *node, uint64_t client, uint64_t job)
{
    struct cut cut = {client, job, lbm_rng_next(&node->rng) | 1};
    if (lbm_vec_push(&node->cuts, cut) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    return cut.id;
}

/* All hosts let go of it. */
static void
end_everywhere(struct lbm_node *node, size_t at)
{
    const struct cut cut = node->cuts.at[at];
    node->cuts.at[at] = node->cuts.at[--node->cuts.n];
    Lbm__MapQuery query = LBM__MAP_QUERY__INIT;
    query.job = cut.job;
    query.cut = cut.id;
    query.hold = LBM_HOLD_END;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_MAP_QUERY;
    message.map_query = &query;
    for (size_t i = 0; i < node->view.members.n; i++)
        if (node->view.members.at[i].host != node->host && lbm_view_participates(&node->view.members.at[i]))
            lbm_core_send(node, node->view.members.at[i].host, &message);
    end_here(node, cut.job, cut.id);
}

void
lbm_client_cut_end(struct lbm_node *node, uint64_t client, uint64_t request, uint64_t cut)
{
    Lbm__Response response = LBM__RESPONSE__INIT;
    for (size_t i = node->cuts.n; i-- > 0;)
        if (node->cuts.at[i].client == client && node->cuts.at[i].id == cut)
            end_everywhere(node, i);
    lbm_core_reply(node, client, request, 1, &response);
}

int
lbm_client_cut_is_of(const struct lbm_node *node, uint64_t client, uint64_t job, uint64_t cut)
{
    for (size_t i = 0; i < node->cuts.n; i++)
        if (node->cuts.at[i].client == client && node->cuts.at[i].job == job && node->cuts.at[i].id == cut)
            return 1;
    return 0;
}

/* ---- ends -----------------------------------------------------------------------------------------------
 */

void
lbm_client_cut_gone(struct lbm_node *node, uint64_t client)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->deferred.n; i++) {
        if (node->deferred.at[i]->client != client) {
            node->deferred.at[kept++] = node->deferred.at[i];
            continue;
        }
        node->deferred_bytes -= node->deferred.at[i]->len;
        deferred_free(node->deferred.at[i]);
    }
    node->deferred.n = kept;
    for (size_t i = node->cuts.n; i-- > 0;)
        if (node->cuts.at[i].client == client)
            end_everywhere(node, i);
}

/* Who waits until nothing is on its way. */
static void
look_at_holds(struct lbm_node *node)
{
    for (size_t i = node->holds.n; i-- > 0 && node->failed == LBM_OK;) {
        const struct hold hold = node->holds.at[i];
        const struct job *job = lbm_local_job(node, hold.job);
        int lasts = job != NULL && job->cut == hold.cut && lbm_local_is_held(node, job);
        if (lasts && job->shard.n_out != 0)
            continue;
        node->holds.at[i] = node->holds.at[--node->holds.n];
        confirm(node, &hold, !lasts);
    }
}

void
lbm_client_cut_timer(struct lbm_node *node)
{
    look_at_holds(node);
    for (size_t i = 0; i < node->jobs.n && node->failed == LBM_OK; i++) {
        struct job *job = node->jobs.at[i];
        if (job->cut == 0 || lbm_local_is_held(node, job))
            continue;
        const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
        lbm_core_note(node, LBM_NOTE_INFO, "the cut of job %s has ended: nobody has asked for it for %d s",
                      entry != NULL ? entry->name : "", CUT_US / 1000000);
        end(node, job);
    }
    for (size_t i = 0; i < node->deferred.n && node->failed == LBM_OK; i++)
        if (lbm_local_job(node, node->deferred.at[i]->job) == NULL) { /* it is cancelled: they are told so */
            carry_out(node, node->deferred.at[i]->job);
            break; /* the others with the next step */
        }
}

int64_t
lbm_client_cut_deadline(const struct lbm_node *node)
{
    int64_t when = INT64_MAX;
    for (size_t i = 0; i < node->jobs.n; i++)
        if (node->jobs.at[i]->cut != 0 && node->jobs.at[i]->cut_us < when)
            when = node->jobs.at[i]->cut_us;
    return when;
}

void
lbm_client_cut_free(struct lbm_node *node)
{
    for (size_t i = 0; i < node->deferred.n; i++)
        deferred_free(node->deferred.at[i]);
    lbm_vec_free(&node->deferred);
    lbm_vec_free(&node->holds);
    lbm_vec_free(&node->cuts);
}
