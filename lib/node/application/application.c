/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an application may work on (protocol.md sections 5 and 6). A vertex is given to it once its record is
 * OWN and acked and the lease holds; the token is the record's epoch. Before the record leaves OWN the
 * application has let go of it, or its lease is over: then it stops by itself, whatever it hears. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/application/application.h"
#include "node/application/guest.h"
#include "node/core/core.h"
#include "node/exchange/exchange.h"
#include "node/local/local.h"
#include "node/migration/migration.h"
#include "node/records/blobs.h"
#include "node/records/record_batch.h"
#include "node/records/records.h"

enum {
    GIVE_BYTES_MAX = 16 << 20, /* about; what goes beyond waits until all has been read */
    GIVE_AGAIN_US = 60000000,  /* should nobody say that: one that reads nothing is cut off before */
};

static struct application *
application_of(const struct lbm_node *node, uint64_t job)
{
    for (size_t i = 0; i < node->applications.n; i++)
        if (node->applications.at[i].job == job)
            return &node->applications.at[i];
    return NULL;
}

/* ---- giving --------------------------------------------------------------------------------- */

struct grant {
    LBM_VEC(uint32_t) vertex;
    LBM_VEC(uint64_t) token;
    LBM_VEC(uint32_t) payload_len, blob;
    int has_blobs;
    struct lbm_buf payload;
    struct neighbours neighbours;
};

static void
send_grant(struct lbm_node *node, const struct application *application, struct grant *grant)
{
    Lbm__Acquire acquire = LBM__ACQUIRE__INIT;
    acquire.n_vertex = acquire.n_token = acquire.n_payload_len = grant->vertex.n;
    acquire.vertex = grant->vertex.at;
    acquire.token = grant->token.at;
    acquire.payload_len = grant->payload_len.at;
    acquire.payload = (ProtobufCBinaryData){grant->payload.len, (uint8_t *)grant->payload.at};
    acquire.n_blob = grant->has_blobs ? grant->blob.n : 0;
    acquire.blob = grant->blob.at;
    acquire.term = node->lease.term;
    Lbm__Neighbours neighbours = lbm_application_neighbours_message(&grant->neighbours);
    acquire.neighbours = application->wants_edges ? &neighbours : NULL;
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_ACQUIRE;
    response.acquire = &acquire;
    if (grant->vertex.n != 0 && node->failed == LBM_OK)
        lbm_core_reply_stored(node, application->client, application->request, 0, &response);
    lbm_vec_free(&grant->vertex);
    lbm_vec_free(&grant->token);
    lbm_vec_free(&grant->payload_len);
    lbm_vec_free(&grant->blob);
    lbm_buf_free(&grant->payload);
    lbm_application_neighbours_free(&grant->neighbours);
}

static int
may_run(const struct lbm_node *node, const struct lbm_vertex *vertex)
{
    return vertex->stage == LBM_STAGE_OWN && vertex->move_to == LBM_NONE &&
           (lbm_records_is_acked(node, vertex) || LBM_BUG(WORK_UNACKED));
}

/* It has been given as much as should wait to be read at a time. */
static int
is_full(struct lbm_node *node, struct application *application, size_t bytes)
{
    application->given += bytes;
    if (application->given <= GIVE_BYTES_MAX)
        return 0;
    application->given = 0;
    application->again_us = node->now_us + GIVE_AGAIN_US;
    application->scan = 1;
    return 1;
}

void
lbm_application_has_read(struct lbm_node *node, uint64_t client)
{
    struct application *application = lbm_local_application(node, client);
    if (application == NULL)
        return;
    application->given = application->posted = 0;
    application->again_us = node->now_us;
}

/* A program that was linked with an earlier library would take the description of a large payload for the
 * payload itself. */
static int
is_beyond(struct lbm_node *node, struct application *application, const struct lbm_vertex *vertex)
{
    if (!vertex->is_blob || application->reads_blobs)
        return 0;
    if (!application->was_told)
        lbm_core_note(node, LBM_NOTE_WARNING,
                      "vertex %" PRIu32 " has a payload of more than %u bytes, which the program that serves "
                      "its job here cannot read: link it with this version of liblbmap",
                      vertex->id, LBM_PAYLOAD_MAX);
    application->was_told = 1;
    return 1;
}

static void
give(struct lbm_node *node, struct application *application)
{
    struct job *job = lbm_local_job(node, application->job);
    struct grant grant = {0};
    application->scan = 0;
    application->has_had = 1;
    node->raise->replication_lease_tell(node); /* the page counts it before it works */
    for (size_t i = 0; job != NULL && i < job->shard.vertices.n && node->failed == LBM_OK; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[i];
        if (vertex->running != 0 || !may_run(node, vertex) || is_beyond(node, application, vertex))
            continue;
        enum lbm_err err = lbm_vec_push(&grant.vertex, vertex->id);
        err |= lbm_vec_push(&grant.token, vertex->epoch);
        err |= lbm_vec_push(&grant.payload_len, vertex->payload_len);
        err |= lbm_vec_push(&grant.blob, vertex->is_blob);
        grant.has_blobs |= vertex->is_blob;
        lbm_buf_put(&grant.payload, vertex->payload, vertex->payload_len);
        if (err != LBM_OK || grant.payload.failed)
            lbm_core_fail(node, LBM_E_NOMEM);
        vertex->running = vertex->epoch;
        vertex->edges_due = 0; /* all of them are told here */
        if (application->wants_edges)
            lbm_application_neighbours_add(node, &grant.neighbours, job, vertex);
        size_t bytes =
            32 * grant.vertex.n + grant.payload.len + lbm_application_neighbours_bytes(&grant.neighbours);
        if (bytes <= LBM_BATCH_BYTES_MAX)
            continue;
        send_grant(node, application, &grant);
        if (is_full(node, application, bytes))
            return;
    }
    send_grant(node, application, &grant);
}

void
lbm_application_ready(struct lbm_node *node, struct job *job)
{
    struct application *application = application_of(node, job->id);
    if (application != NULL)
        application->scan = 1;
}

/* ---- asking back ---------------------------------------------------------------------------- */

/* Not before the application has heard that it was given: that waits for the disk. */
static void
ask_release(struct lbm_node *node, const struct application *application, size_t n, uint32_t *vertex,
            uint64_t *token)
{
    Lbm__Release release = LBM__RELEASE__INIT;
    release.n_vertex = release.n_token = n;
    release.vertex = vertex;
    release.token = token;
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_RELEASE;
    response.release = &release;
    lbm_core_reply_stored(node, application->client, application->request, 0, &response);
}

int
lbm_application_release(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to)
{
    if (node->lease.fence_us != 0 && !LBM_BUG(MOVE_WITHOUT_RELEASE))
        return 0; /* an application of the life before may still work on it */
    const struct application *application = application_of(node, job->id);
    if (vertex->running == 0 || LBM_BUG(MOVE_WITHOUT_RELEASE))
        return 1;
    LBM_ASSERT(application != NULL);
    vertex->move_to = to;
    vertex->since_us = node->now_us;
    if (lbm_vec_push(&job->releasing, (uint32_t)(vertex - job->shard.vertices.at)) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    ask_release(node, application, 1, &vertex->id, &vertex->running);
    return 0;
}

/* Nobody works on the vertex any more: what was waiting for that goes on. */
static void
stopped(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex)
{
    uint32_t to = vertex->move_to;
    int in_round = vertex->in_round;
    vertex->running = 0;
    vertex->move_to = LBM_NONE;
    if (to == LBM_NONE)
        return;
    vertex->in_round = 0;
    if (lbm_local_is_alive(node) && lbm_migration_resume(node, job, vertex, to)) {
        vertex->in_round = in_round != 0;
        return;
    }
    lbm_local_queue_changed(job);
    if (in_round)
        lbm_exchange_vertex_left(node, job);
}

static void
stop_job(struct lbm_node *node, struct job *job)
{
    for (size_t i = 0; i < job->shard.vertices.n; i++)
        if (job->shard.vertices.at[i].running != 0)
            stopped(node, job, &job->shard.vertices.at[i]);
    job->releasing.n = 0;
}

void
lbm_application_lease_lapsed(struct lbm_node *node)
{
    if (!LBM_BUG(LAPSED_GO_ON))
        node->lease.term++; /* what was acquired is lost, even if the page says "work" again */
    node->raise->replication_lease_tell(node);
    for (size_t i = 0; i < node->applications.n && node->failed == LBM_OK; i++) {
        struct job *job = lbm_local_job(node, node->applications.at[i].job);
        if (job != NULL)
            stop_job(node, job);
        node->applications.at[i].scan = 1;
    }
}

int
lbm_application_is_running(const struct lbm_node *node)
{
    for (size_t j = 0; j < node->jobs.n; j++)
        for (size_t i = 0; i < node->jobs.at[j]->shard.vertices.n; i++)
            if (node->jobs.at[j]->shard.vertices.at[i].running != 0)
                return 1;
    return 0;
}

void
lbm_application_fence(struct lbm_node *node, int64_t until_us)
{
    node->lease.fence_us = until_us;
    node->lease.old_used = UINT32_MAX; /* whoever attaches meanwhile does not speak for those that work */
}

/* An application that does not let go keeps its vertex. */
static void
give_up_waiting(struct lbm_node *node, struct job *job)
{
    size_t kept = 0;
    for (size_t i = 0; i < job->releasing.n; i++) {
        uint32_t slot = job->releasing.at[i];
        struct lbm_vertex *vertex = &job->shard.vertices.at[slot];
        if (vertex->move_to == LBM_NONE)
            continue;
        if (node->now_us - vertex->since_us < RELEASE_US) {
            job->releasing.at[kept++] = slot;
            continue;
        }
        if (LBM_BUG(RELEASE_FORCED)) {
            stopped(node, job, vertex);
            continue;
        }
        int in_round = vertex->in_round;
        vertex->move_to = LBM_NONE;
        vertex->in_round = 0;
        vertex->destination = LBM_NONE;
        lbm_local_queue_changed(job);
        vertex->offered_us = node->now_us;
        lbm_core_note(node, LBM_NOTE_WARNING, "the application does not release vertex %" PRIu32 ": it stays",
                      vertex->id);
        if (in_round)
            lbm_exchange_vertex_left(node, job);
    }
    job->releasing.n = kept;
}

void
lbm_application_timer(struct lbm_node *node)
{
    for (size_t i = 0; i < node->jobs.n; i++)
        if (node->jobs.at[i]->releasing.n != 0)
            give_up_waiting(node, node->jobs.at[i]);
    for (size_t i = 0; i < node->applications.n && lbm_local_lease_holds(node) && node->failed == LBM_OK; i++)
        if (node->applications.at[i].scan && node->now_us >= node->applications.at[i].again_us)
            give(node, &node->applications.at[i]);
    for (size_t i = 0; i < node->applications.n && node->failed == LBM_OK; i++) {
        struct job *job = lbm_local_job(node, node->applications.at[i].job);
        if (job != NULL)
            lbm_application_neighbours_moved(node, &node->applications.at[i], job);
        if (job != NULL && job->edges_due.n != 0)
            lbm_application_neighbours_timer(node, &node->applications.at[i], job);
    }
}

int64_t
lbm_application_deadline(const struct lbm_node *node)
{
    int64_t when = INT64_MAX;
    for (size_t i = 0; i < node->applications.n; i++) {
        const struct application *application = &node->applications.at[i];
        if (application->scan && lbm_local_lease_holds(node) && application->again_us > node->now_us)
            when = application->again_us < when ? application->again_us : when;
        const struct job *job = lbm_local_job(node, node->applications.at[i].job);
        if (job != NULL && job->edges_due.n != 0)
            return node->now_us;
        if (job != NULL && application->wants_moves && application->moves != job->shard.version)
            when = application->moves_us < when ? application->moves_us : when;
    }
    for (size_t i = 0; i < node->jobs.n; i++)
        for (size_t k = 0; k < node->jobs.at[i]->releasing.n; k++) {
            const struct job *job = node->jobs.at[i];
            int64_t end_us = job->shard.vertices.at[job->releasing.at[k]].since_us + RELEASE_US;
            when = end_us < when ? end_us : when;
        }
    return when;
}

/* ---- requests ------------------------------------------------------------------------------- */

/* What an application holds since before this daemon's start: it goes on with it if it still is ours. */
static void
take_held(struct lbm_node *node, struct application *application, struct job *job,
          const Lbm__AttachRequest *attach)
{
    LBM_VEC(uint32_t) vertex = {0};
    LBM_VEC(uint64_t) token = {0};
    int is_in_force = node->lease.fence_us > node->now_us && node->lease.term == node->lease.old_term;
    for (size_t i = 0; i < attach->n_vertex && node->failed == LBM_OK; i++) {
        struct lbm_vertex *own = lbm_records_of(job, attach->vertex[i]);
        enum lbm_err err;
        if (own != NULL && own->stage == LBM_STAGE_OWN && own->epoch == attach->token[i] && is_in_force) {
            own->running = own->epoch;
            err = lbm_application_neighbours_changed(job, own); /* perhaps, and it was not told */
        } else {
            err = lbm_vec_push(&vertex, attach->vertex[i]);
            err |= lbm_vec_push(&token, attach->token[i]);
        }
        if (err != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    }
    if (vertex.n != 0 && node->failed == LBM_OK)
        ask_release(node, application, vertex.n, vertex.at, token.at);
    lbm_vec_free(&vertex);
    lbm_vec_free(&token);
}

/* All that had vertices in the life before have come back with them. Others are new, or had nothing by then.
 */
static int
all_are_back(const struct lbm_node *node)
{
    uint32_t n = 0;
    for (size_t i = 0; i < node->applications.n; i++)
        n += node->applications.at[i].is_back != 0;
    return n >= node->lease.old_used;
}

void
lbm_application_attach(struct lbm_node *node, uint64_t client, uint64_t request,
                       const Lbm__AttachRequest *attach)
{
    const struct lbm_job_entry *entry = lbm_view_job_named(&node->view, attach->job);
    struct job *job = entry != NULL ? lbm_local_job(node, entry->job) : NULL;
    if (job == NULL) {
        lbm_core_reply_error(node, client, request, LBM_E_NOTFOUND,
                             "there is no job named %s; lbctl jobs lists them", attach->job);
        return;
    }
    if (application_of(node, job->id) != NULL || lbm_local_application(node, client) != NULL) {
        lbm_core_reply_error(node, client, request, LBM_E_BUSY,
                             "an application serves %s on this host already: end that one first",
                             attach->job);
        return;
    }
    int is_back = attach->n_vertex != 0;
    struct application application = {.client = client,
                                      .request = request,
                                      .job = job->id,
                                      .scan = 1,
                                      .has_had = is_back,
                                      .is_back = is_back,
                                      .wants_edges = attach->edges,
                                      .wants_moves = attach->edges && attach->moves,
                                      .reads_blobs = attach->blobs != 0};
    if (lbm_vec_push(&node->applications, application) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    take_held(node, &node->applications.at[node->applications.n - 1], job, attach);
    if (node->lease.fence_us > node->now_us && all_are_back(node)) {
        node->lease.old_us = node->lease.fence_us;
        node->lease.fence_us = 0;
    }
    node->raise->replication_lease_tell(node);
}

static int
holds(const struct application *application, const struct job *job, uint32_t id, uint64_t token,
      struct lbm_vertex **vertex)
{
    *vertex = application != NULL && job != NULL ? lbm_records_of(job, id) : NULL;
    return *vertex != NULL && (*vertex)->running == token && token != 0;
}

/* Row i of what an application brings. */
struct brought {
    const uint8_t *payload;
    uint32_t len;
    int is_blob;
};

/* Returns 0 if it is a large payload that is not here. */
static int
keep_payload(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, const struct brought *brought)
{
    struct lbm_blob_name name;
    uint32_t len = brought->len;
    if (brought->is_blob &&
        (!lbm_blob_read_name(job->id, brought->payload, len, &name) || !lbm_blobs_have(node, &name)))
        return 0;
    int is_same = len == vertex->payload_len && brought->is_blob == vertex->is_blob &&
                  (len == 0 || memcmp(brought->payload, vertex->payload, len) == 0);
    if (lbm_records_is_undecided(node, vertex) || is_same) /* what the change says stands */
        return 1;
    uint8_t *copy = len != 0 ? lbm_copy(brought->payload, len, 1) : NULL;
    if (len != 0 && copy == NULL)
        lbm_core_fail(node, LBM_E_NOMEM);
    else
        lbm_records_payload(node, job, vertex, copy, len, brought->is_blob);
    return 1;
}

void
lbm_application_released(struct lbm_node *node, uint64_t client, uint64_t request,
                         const Lbm__ReleasedRequest *released)
{
    struct application *application = lbm_local_application(node, client);
    struct job *job = application != NULL ? lbm_local_job(node, application->job) : NULL;
    size_t at = 0;
    if (!lbm_records_payload_fits(released->n_payload_len, released->payload_len, &released->payload)) {
        lbm_core_reply_error(node, client, request, LBM_E_RANGE,
                             "the payloads do not have the lengths that are told");
        return;
    }
    if (!lbm_local_lease_is_of(node, released->term))
        job = NULL;
    for (size_t i = 0; i < released->n_vertex && node->failed == LBM_OK; i++) {
        struct lbm_vertex *vertex;
        struct brought brought = {.payload = released->payload.data + at,
                                  .len = released->n_payload_len != 0 ? released->payload_len[i] : 0,
                                  .is_blob = released->n_blob != 0 && released->blob[i] != 0};
        at += brought.len;
        if (!holds(application, job, released->vertex[i], released->token[i], &vertex))
            continue;
        if (released->n_payload_len != 0 && !keep_payload(node, job, vertex, &brought))
            lbm_core_note(node, LBM_NOTE_WARNING,
                          "the payload of vertex %" PRIu32 " did not come: it goes on with that of its last "
                          "checkpoint",
                          vertex->id);
        stopped(node, job, vertex);
        application->scan = 1;
    }
    /* Withdrawn, and everybody has seen it: what comes next need not wait (lbm_replication_timer). */
    if (node->lease.fence_us > node->now_us && node->lease.old_used == UINT32_MAX &&
        !lbm_application_is_running(node))
        node->lease.fence_us = node->now_us;
    Lbm__Response response = LBM__RESPONSE__INIT;
    lbm_core_reply(node, client, request, 1, &response);
}

void
lbm_application_checkpoint(struct lbm_node *node, uint64_t client, uint64_t request,
                           const Lbm__CheckpointRequest *checkpoint)
{
    struct application *application = lbm_local_application(node, client);
    struct job *job = application != NULL ? lbm_local_job(node, application->job) : NULL;
    size_t n_kept = 0, at = 0;
    if (!lbm_records_payload_fits(checkpoint->n_payload_len, checkpoint->payload_len, &checkpoint->payload)) {
        lbm_core_reply_error(node, client, request, LBM_E_RANGE,
                             "the payloads do not have the lengths that are told");
        return;
    }
    if (!lbm_local_lease_is_of(node, checkpoint->term))
        job = NULL;
    for (size_t i = 0; i < checkpoint->n_vertex && node->failed == LBM_OK; i++) {
        struct lbm_vertex *vertex;
        const struct brought brought = {.payload = checkpoint->payload.data + at,
                                        .len = checkpoint->payload_len[i],
                                        .is_blob = checkpoint->n_blob != 0 && checkpoint->blob[i] != 0};
        at += brought.len;
        if (!holds(application, job, checkpoint->vertex[i], checkpoint->token[i], &vertex) ||
            !lbm_local_lease_holds(node) || lbm_records_is_undecided(node, vertex))
            continue;
        n_kept += keep_payload(node, job, vertex, &brought) != 0;
    }
    if (n_kept != checkpoint->n_vertex) {
        lbm_core_reply_error(
            node, client, request, LBM_E_STATE,
            "%zu of %zu vertices are not this application's any more, or their payloads did not come",
            checkpoint->n_vertex - n_kept, checkpoint->n_vertex);
        return;
    }
    struct checkpoint waiting = {client, request, node->replication.seq};
    if (lbm_vec_push(&node->checkpoints, waiting) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    else if (waiting.seq <= node->replication.acked)
        lbm_application_changes_acked(node); /* all is as it was: the backup has nothing more to say */
}

/* The backup gets the changes after `after` up to `seq` without what later changes, up to `last`, have
 * overtaken: only with those does it have the payloads whose confirmation is waited for. */
void
lbm_application_changes_sent(struct lbm_node *node, uint64_t after, uint64_t seq, uint64_t last)
{
    for (size_t i = 0; i < node->checkpoints.n; i++)
        if (node->checkpoints.at[i].seq > after && node->checkpoints.at[i].seq <= seq && last > seq &&
            !LBM_BUG(CHECKPOINT_OVERTAKEN))
            node->checkpoints.at[i].seq = last;
}

/* Payloads that the backup has: tell who waits for it. */
void
lbm_application_changes_acked(struct lbm_node *node)
{
    size_t waiting = 0;
    for (size_t i = 0; i < node->checkpoints.n; i++) {
        const struct checkpoint *checkpoint = &node->checkpoints.at[i];
        if (checkpoint->seq <= node->replication.acked || LBM_BUG(CHECKPOINT_UNACKED)) {
            Lbm__Response response = LBM__RESPONSE__INIT;
            lbm_core_reply_stored(node, checkpoint->client, checkpoint->request, 1, &response);
        } else {
            node->checkpoints.at[waiting++] = *checkpoint;
        }
    }
    node->checkpoints.n = waiting;
}

void
lbm_application_reset(struct lbm_node *node)
{
    for (size_t i = 0; i < node->checkpoints.n; i++)
        lbm_core_reply_error(node, node->checkpoints.at[i].client, node->checkpoints.at[i].request,
                             LBM_E_STATE, "this host was evicted: its vertices are another host's");
    node->checkpoints.n = 0;
}

void
lbm_application_gone(struct lbm_node *node, uint64_t client)
{
    struct application *application = lbm_local_application(node, client);
    size_t kept = 0;
    for (size_t i = 0; i < node->checkpoints.n; i++)
        if (node->checkpoints.at[i].client != client)
            node->checkpoints.at[kept++] = node->checkpoints.at[i];
    node->checkpoints.n = kept;
    if (application == NULL)
        return;
    struct job *job = lbm_local_job(node, application->job);
    lbm_application_place_left(node, application->job);
    node->lease.gone += application->has_had != 0;
    *application = node->applications.at[--node->applications.n];
    if (job != NULL)
        lbm_idmap_clear(&job->new_ids);
    if (job != NULL)
        stop_job(node, job);
    node->raise->replication_lease_tell(node);
}

void
lbm_application_job_deleted(struct lbm_node *node, uint64_t job)
{
    lbm_application_places_deleted(node, job);
    for (size_t i = 0; i < node->applications.n; i++)
        if (node->applications.at[i].job == job) {
            lbm_core_reply_error(node, node->applications.at[i].client, node->applications.at[i].request,
                                 LBM_E_NOTFOUND, "the job is cancelled");
            node->applications.at[i] = node->applications.at[--node->applications.n];
            return;
        }
}
