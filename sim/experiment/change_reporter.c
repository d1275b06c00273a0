/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sim/experiment/change.h"

static char job_name[] = "change";

static void
acquire(struct reporter *r, const Lbm__Acquire *acquire)
{
    for (size_t i = 0; i < acquire->n_vertex; i++)
        LBM_ASSERT(lbm_vec_push(&r->vertex, acquire->vertex[i]) == LBM_OK &&
                   lbm_vec_push(&r->token, acquire->token[i]) == LBM_OK);
}

static void
drop(struct reporter *r, uint32_t vertex, uint64_t token)
{
    for (size_t i = 0; i < r->vertex.n; i++)
        if (r->vertex.at[i] == vertex && r->token.at[i] == token) {
            r->vertex.at[i] = r->vertex.at[--r->vertex.n];
            r->token.at[i] = r->token.at[--r->token.n];
            return;
        }
}

struct released {
    LBM_VEC(uint32_t) vertex;
    LBM_VEC(uint64_t) token;
};

/* Read what has come; it is kept until the next request, which must follow. */
static void
read_replies(struct reporter *r, struct released *released)
{
    const Lbm__Response *response;
    for (size_t i = 0; (response = cluster_reply(r->cluster, r->host, i)) != NULL; i++) {
        if (response->what_case == LBM__RESPONSE__WHAT_ACQUIRE)
            acquire(r, response->acquire);
        if (response->what_case != LBM__RESPONSE__WHAT_RELEASE)
            continue;
        for (size_t k = 0; k < response->release->n_vertex; k++)
            LBM_ASSERT(lbm_vec_push(&released->vertex, response->release->vertex[k]) == LBM_OK &&
                       lbm_vec_push(&released->token, response->release->token[k]) == LBM_OK);
    }
}

void
reporter_look(struct reporter *r)
{
    struct released released = {0};
    read_replies(r, &released);
    for (size_t i = 0; i < released.vertex.n; i++)
        drop(r, released.vertex.at[i], released.token.at[i]);
    Lbm__ReleasedRequest body = LBM__RELEASED_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    body.n_vertex = body.n_token = released.vertex.n;
    body.vertex = released.vertex.at;
    body.token = released.token.at;
    request.what_case = LBM__REQUEST__WHAT_RELEASED;
    request.released = &body;
    cluster_request(r->cluster, r->host, 0, &request); /* also forgets what was read */
    lbm_vec_free(&released.vertex);
    lbm_vec_free(&released.token);
}

int
reporter_attach(struct reporter *r)
{
    Lbm__AttachRequest attach = LBM__ATTACH_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    attach.job = job_name;
    request.what_case = LBM__REQUEST__WHAT_ATTACH;
    request.attach = &attach;
    cluster_request(r->cluster, r->host, 0, &request);
    cluster_run(r->cluster, 1000000, NULL, NULL);
    const Lbm__Response *response = cluster_reply(r->cluster, r->host, 0);
    if (response == NULL || response->code != LBM_OK)
        return 0;
    reporter_look(r);
    return r->vertex.n != 0;
}

void
reporter_tell(struct reporter *r, const double *load)
{
    Lbm__LoadRequest body = LBM__LOAD_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    body.n_vertex = body.n_token = body.n_load = r->vertex.n;
    body.vertex = r->vertex.at;
    body.token = r->token.at;
    body.load = (double *)load;
    body.known = 1;
    request.what_case = LBM__REQUEST__WHAT_LOAD;
    request.load = &body;
    cluster_request(r->cluster, r->host, 0, &request);
}

void
reporter_free(struct reporter *r)
{
    lbm_vec_free(&r->vertex);
    lbm_vec_free(&r->token);
}
