/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large payloads between an application and its daemon, a piece at a time (protocol.md section 20): it brings
 * one before it names it in a checkpoint or a release, and reads the one of a vertex that it was given. */
#include <inttypes.h>

#include "node/application/application.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/records/blobs.h"

/* Nonzero if all hosts know large payloads; else the client has been told. */
static int
may_be_large(struct lbm_node *node, uint64_t client, uint64_t request)
{
    if (node->view.protocol >= LBM_PROTOCOL_BLOBS)
        return 1;
    lbm_core_reply_error(node, client, request, LBM_E_VERSION,
                         "payloads of more than %u bytes need protocol %d, and the cluster speaks %" PRIu32
                         " until all hosts run this version",
                         LBM_PAYLOAD_MAX, LBM_PROTOCOL_BLOBS, node->view.protocol);
    return 0;
}

/* The job that a client serves, or submits; 0: it was told that it does neither. */
static uint64_t
job_of(struct lbm_node *node, uint64_t client, uint64_t request)
{
    const struct application *application = lbm_local_application(node, client);
    if (application != NULL)
        return application->job;
    for (size_t i = 0; i < node->uploads.n; i++) {
        struct upload *upload = node->uploads.at[i];
        if (upload->client != client || !upload->has_payloads)
            continue;
        if (upload->blob_job == 0)
            upload->blob_job = lbm_rng_next(&node->rng) | 1;
        return upload->blob_job;
    }
    lbm_core_reply_error(node, client, request, LBM_E_STATE, "no job is served");
    return 0;
}

void
lbm_application_blob_put(struct lbm_node *node, uint64_t client, uint64_t request, const Lbm__BlobPut *put)
{
    uint64_t job = may_be_large(node, client, request) ? job_of(node, client, request) : 0;
    int complete = 0;
    if (job == 0)
        return;
    const struct lbm_blob_name name = lbm_blobs_name(job, &put->digest, put->length);
    enum lbm_err err = lbm_blobs_put(node, &name, put->piece, put->data.data, put->data.len, &complete);
    if (err != LBM_OK) {
        lbm_core_reply_error(node, client, request, err,
                             "piece %" PRIu32 " of a payload of %" PRIu64 " bytes: %s", put->piece, name.len,
                             err == LBM_E_CORRUPT ? "they are not what their digest says"
                                                  : "it is not the next one, or has another length");
        return;
    }
    Lbm__BlobData data = LBM__BLOB_DATA__INIT;
    data.piece = put->piece;
    data.known = complete != 0;
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_BLOB;
    response.blob = &data;
    lbm_core_reply_stored(node, client, request, 1, &response);
}

/* The job that BlobRead is about: a client that has its owner's rights names it. 0: the client was told. */
static uint64_t
job_read(struct lbm_node *node, uint64_t client, uint64_t request, const Lbm__BlobRead *read)
{
    const struct application *application = lbm_local_application(node, client);
    const struct lbm_job_entry *entry =
        read->job[0] != '\0' ? lbm_view_job_named(&node->view, read->job) : NULL;
    if (read->job[0] == '\0' && application != NULL)
        return application->job;
    if (entry != NULL)
        return entry->job;
    lbm_core_reply_error(node, client, request, read->job[0] != '\0' ? LBM_E_NOTFOUND : LBM_E_STATE,
                         read->job[0] != '\0' ? "there is no job named %s" : "no job is served%s", read->job);
    return 0;
}

void
lbm_application_blob_read(struct lbm_node *node, uint64_t client, uint64_t request, const Lbm__BlobRead *read)
{
    uint64_t job = may_be_large(node, client, request) ? job_read(node, client, request, read) : 0;
    if (job == 0)
        return;
    struct lbm_blob_read whom = {.name = lbm_blobs_name(job, &read->digest, read->length),
                                 .host = LBM_NONE,
                                 .client = client,
                                 .request = request};
    int is_elsewhere = read->job[0] != '\0' && read->host != node->host &&
                       !lbm_blobs_have(node, &whom.name) && lbm_view_member(&node->view, read->host) != NULL;
    if (is_elsewhere)
        lbm_blobs_want(node, &whom.name, read->host);
    enum lbm_err err = is_elsewhere ? LBM_E_BUSY : lbm_blobs_read(node, &whom, read->first, read->count);
    if (err != LBM_OK)
        lbm_core_reply_error(node, client, request, err, "a payload of %" PRIu64 " bytes cannot be read: %s",
                             whom.name.len, is_elsewhere ? "it does not come in time" : lbm_err_text(err));
}
