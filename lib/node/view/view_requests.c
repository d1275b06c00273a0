/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests of clients that the log has. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "node/view/internal.h"

const struct lbm_logged_request *
lbm_view_request(const struct lbm_view *view, uint64_t request)
{
    for (size_t i = view->requests.n; i-- > 0 && request != 0;)
        if (view->requests.at[i].request == request)
            return &view->requests.at[i];
    return NULL;
}

enum lbm_err
lbm_view_request_append(struct lbm_view *view, uint64_t request, int is_refused)
{
    struct lbm_logged_request logged = {request, view->index + 1, is_refused};
    if (request == 0)
        return LBM_OK;
    if (view->requests.n < LBM_REQUESTS_KEPT)
        return lbm_vec_push(&view->requests, logged);
    memmove(&view->requests.at[0], &view->requests.at[1], (view->requests.n - 1) * sizeof logged);
    view->requests.at[view->requests.n - 1] = logged;
    return LBM_OK;
}

int
lbm_view_request_known(const struct lbm_view *view, uint64_t request, char *refusal)
{
    const struct lbm_logged_request *logged = lbm_view_request(view, request);
    if (logged != NULL)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "it is a request that was %s before, by entry %" PRIu64,
                 logged->is_refused ? "refused" : "carried out", logged->index);
    return logged != NULL;
}
