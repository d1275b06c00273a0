/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large payloads between an application and its daemon, a piece at a time (protocol.md section 20): it brings
 * one before it names it in a checkpoint or a release, and reads the one of a vertex that it was given. */
#include <inttypes.h>

#include "node/application/application.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/records/blobs.h"

/* The job that a client serves; NULL: it was told that it serves none, or that the cluster is too old. */
static const struct application *
server_of(struct lbm_node *node, uint64_t client, uint64_t request)
{
    const struct application *application = lbm_local_application(node, client);
    if (application == NULL)
        lbm_core_reply_error(node, client, request, LBM_E_STATE, "no job is served");
    else if (node->view.protocol < LBM_PROTOCOL_BLOBS)
        lbm_core_reply_error(
            node, client, request, LBM_E_VERSION,
            "payloads of more than %u bytes need protocol %d, and the cluster speaks %" PRIu32
            " until all hosts run this version",
            LBM_PAYLOAD_MAX, LBM_PROTOCOL_BLOBS, node->view.protocol);
    else
        return application;
    return NULL;
}

void
lbm_application_blob_put(struct lbm_node *node, uint64_t client, uint64_t request, const Lbm__BlobPut *put)
{
    const struct application *application = server_of(node, client, request);
    int complete = 0;
    if (application == NULL)
        return;
    const struct lbm_blob_name name = lbm_blobs_name(application->job, &put->digest, put->length);
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

void
lbm_application_blob_read(struct lbm_node *node, uint64_t client, uint64_t request, const Lbm__BlobRead *read)
{
    const struct application *application = server_of(node, client, request);
    if (application == NULL)
        return;
    struct lbm_blob_read whom = {.name = lbm_blobs_name(application->job, &read->digest, read->length),
                                 .host = LBM_NONE,
                                 .client = client,
                                 .request = request};
    enum lbm_err err = lbm_blobs_read(node, &whom, read->first, read->count);
    if (err != LBM_OK)
        lbm_core_reply_error(node, client, request, err, "a payload of %" PRIu64 " bytes cannot be read: %s",
                             whom.name.len, lbm_err_text(err));
}
