/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests of clients that the log has, and what it says of lost vertices that begin again. */
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

/* ---- lost vertices ---------------------------------------------------------------------------------------
 */

static struct lbm_job_entry *
entry_of(struct lbm_view *view, uint64_t job)
{
    for (size_t i = 0; i < view->jobs.n; i++)
        if (view->jobs.at[i].job == job)
            return &view->jobs.at[i];
    return NULL;
}

/* Nonzero if the host that has begun to recover the job may still do so. */
static int
is_recovering(const struct lbm_view *view, const struct lbm_job_entry *entry)
{
    const struct lbm_member *member = lbm_view_member(view, entry->recovery_host);
    return entry->recovery != 0 && member != NULL && member->incarnation == entry->recovery_incarnation &&
           lbm_view_participates(member);
}

/* One host at a time: of two that begin the same vertices again both would own them. */
enum lbm_err
lbm_view_apply_job_recover(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__JobRecover *recover = command->job_recover;
    struct lbm_job_entry *entry = entry_of(view, recover->job);
    const struct lbm_member *member = lbm_view_member(view, recover->host);
    if (entry == NULL)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "there is no such job");
    else if (member == NULL || member->incarnation != recover->incarnation ||
             member->state != LBM_MEMBER_ACTIVE)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is not active", recover->host);
    else if (entry->loss == 0 || entry->loss != recover->loss)
        snprintf(refusal, LBM_DIAG_TEXT_MAX,
                 "what is lost of job %s is another than was looked at: look again", entry->name);
    else if (is_recovering(view, entry))
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " recovers job %s already", entry->recovery_host,
                 entry->name);
    if (refusal[0] != '\0')
        return LBM_OK;
    entry->recovery = view->index + 1;
    entry->recovery_host = recover->host;
    entry->recovery_incarnation = recover->incarnation;
    return LBM_OK;
}

enum lbm_err
lbm_view_apply_job_recover_end(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__JobRecovered *recovered = command->job_recovered;
    struct lbm_job_entry *entry = entry_of(view, recovered->job);
    if (entry == NULL || entry->recovery == 0 || entry->recovery != recovered->view ||
        entry->recovery_host != recovered->host || entry->recovery_incarnation != recovered->incarnation) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " does not recover that job", recovered->host);
        return LBM_OK;
    }
    if (recovered->done && entry->loss <= entry->recovery)
        entry->loss = 0;
    entry->recovery = 0;
    return LBM_OK;
}
