/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries of the control log, each with what it makes of the view (docs/protocol.md, "The control log"): here
 * those about the cluster, jobs and certificates; members.c, member_maintenance.c and log_place.c have the
 * others. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "node/mutants.h"
#include "node/node.h"
#include "node/view/internal.h"
#include "node/view/view.h"

static enum lbm_err
apply_found(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__Found *found = command->found;
    if (view->index != 0) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "the cluster is founded already");
        return LBM_OK;
    }
    view->cluster = found->cluster;
    view->leader = found->leader;
    view->external = found->external != 0;
    view->m = found->dimensions == 3 ? 3 : 2;
    view->hop_us = found->hop_us;
    view->protocol = found->protocol != 0 ? found->protocol : 1;
    view->copies = found->copies == 2 ? 2 : 1;
    snprintf(view->cluster_name, sizeof view->cluster_name, "%s", found->name);
    return LBM_OK;
}

/* Every part is with a host that has not gone since it said so, and they follow one another. */
static void
check_parts(const struct lbm_view *view, const Lbm__JobCreate *create, char *refusal)
{
    const struct lbm_member *coordinator = lbm_view_member(view, create->coordinator);
    if (create->parts != create->n_slice_host || coordinator->incarnation != create->coordinator_incarnation)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "not all parts are there");
    for (size_t i = 0; i < create->n_slice_host && refusal[0] == '\0'; i++) {
        const struct lbm_member *member = lbm_view_member(view, create->slice_host[i]);
        if (member == NULL || member->incarnation != create->slice_incarnation[i])
            snprintf(refusal, LBM_DIAG_TEXT_MAX,
                     "host %" PRIu32 ", which has read part %zu, is gone: submit all again",
                     create->slice_host[i], i);
        else if (i == 0 ? create->slice_first[0] != 0 : create->slice_first[i] <= create->slice_first[i - 1])
            snprintf(refusal, LBM_DIAG_TEXT_MAX, "part %zu does not follow the one before", i);
    }
}

static enum lbm_err
apply_job_create(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__JobCreate *create = command->job_create;
    const struct lbm_member *coordinator = lbm_view_member(view, create->coordinator);
    int routable;
    if (lbm_view_graph(view, &routable) != LBM_OK)
        return LBM_E_NOMEM;
    if (lbm_view_job(view, create->job) != NULL || lbm_view_job_named(view, create->name) != NULL)
        snprintf(refusal, LBM_DIAG_TEXT_MAX,
                 "a job named %s exists already; cancel it or choose another name", create->name);
    else if (view->jobs.n == LBM_JOBS_MAX)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "the cluster has its %d jobs; cancel one first", LBM_JOBS_MAX);
    else if (coordinator == NULL || coordinator->state != LBM_MEMBER_ACTIVE)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is not active", create->coordinator);
    else if (!routable)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "the active hosts are not connected: %.400s", view->unroutable);
    else if (create->parts != 0)
        check_parts(view, create, refusal);
    if (refusal[0] != '\0')
        return LBM_OK;
    struct lbm_job_entry entry = {.job = create->job,
                                  .coordinator = create->coordinator,
                                  .vertices = create->vertices,
                                  .ids = create->vertices,
                                  .edges = create->edges,
                                  .work = create->work,
                                  .weight = create->weight,
                                  .each_work = create->each_work,
                                  .start = create->start,
                                  .seed = create->seed,
                                  .imbalance = create->imbalance,
                                  .owner = create->owner};
    lbm_job_policy_take(create->policy, &entry.policy);
    entry.policy.view = view->index + 1;
    lbm_gates_take(create->gates, &entry.gates);
    lbm_job_run_take(NULL, &entry.run);
    snprintf(entry.name, sizeof entry.name, "%s", create->name);
    return lbm_vec_push(&view->jobs, entry);
}

static enum lbm_err
apply_job_delete(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__JobDelete *delete = command->job_delete;
    for (size_t i = 0; i < view->jobs.n; i++)
        if (view->jobs.at[i].job == delete->job) {
            memmove(&view->jobs.at[i], &view->jobs.at[i + 1], (view->jobs.n - i - 1) * sizeof *view->jobs.at);
            view->jobs.n--;
            return LBM_OK;
        }
    snprintf(refusal, LBM_DIAG_TEXT_MAX, "there is no such job");
    return LBM_OK;
}

static enum lbm_err
apply_job_set(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    for (size_t i = 0; i < view->jobs.n; i++)
        if (view->jobs.at[i].job == command->job_set->job) {
            struct lbm_job_entry *entry = &view->jobs.at[i];
            const Lbm__JobSet *set = command->job_set;
            if (set->policy != NULL) {
                lbm_job_policy_take(set->policy, &entry->policy);
                entry->policy.view = view->index + 1;
            }
            lbm_gates_take(set->gates, &entry->gates);
            if (set->gates != NULL)
                entry->gates.view = view->index + 1;
            if (set->run != NULL) {
                lbm_job_run_take(set->run, &entry->run);
                entry->run.view = view->index + 1;
            }
            if (set->policy == NULL && set->gates == NULL && set->run == NULL)
                entry->imbalance = set->imbalance;
            return LBM_OK;
        }
    snprintf(refusal, LBM_DIAG_TEXT_MAX, "there is no such job");
    return LBM_OK;
}

/* Ids grow, and none is given twice. */
static enum lbm_err
apply_allot_ids(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__AllotIds *allot = command->allot_ids;
    const struct lbm_member *member = lbm_view_member(view, allot->host);
    struct lbm_job_entry *entry = NULL;
    for (size_t i = 0; i < view->jobs.n; i++)
        if (view->jobs.at[i].job == allot->job)
            entry = &view->jobs.at[i];
    if (entry == NULL)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "there is no such job");
    else if (member == NULL || !lbm_view_participates(member) || member->incarnation != allot->incarnation)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is no member", allot->host);
    else if (allot->count == 0 || allot->count > LBM_VERTICES_MAX - entry->ids)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "job %s has had its %" PRIu32 " vertices", entry->name,
                 LBM_VERTICES_MAX);
    else
        entry->ids += allot->count;
    return LBM_OK;
}

static enum lbm_err
apply_promote(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const struct lbm_member *member = lbm_view_member(view, command->promote->host);
    if (view->external)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "no daemon orders this log");
    else if (member == NULL || !lbm_view_participates(member))
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is no member", command->promote->host);
    else {
        /* Who ordered the log before may have moved it there by an entry that is lost. */
        view->ensemble = (struct lbm_ensemble){0};
        view->leader = command->promote->host;
    }
    return LBM_OK;
}

uint32_t
lbm_view_next_host(const struct lbm_view *view)
{
    uint32_t above = view->members.n != 0 ? view->members.at[view->members.n - 1].host + 1 : 0;
    return above > view->next_host ? above : view->next_host;
}

int
lbm_view_revoked(const struct lbm_view *view, uint32_t host)
{
    for (size_t i = 0; i < view->revoked.n && view->revoked.at[i] <= host; i++)
        if (view->revoked.at[i] == host)
            return 1;
    return 0;
}

static enum lbm_err
apply_admit(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    uint32_t host = command->admit->host;
    if (host != lbm_view_next_host(view))
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "another host enrols just now; try again");
    else
        view->next_host = host + 1;
    return LBM_OK;
}

static enum lbm_err
apply_revoke(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    uint32_t host = command->revoke->host;
    size_t at = 0;
    if (host >= lbm_view_next_host(view)) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "there is no host %" PRIu32, host);
        return LBM_OK;
    }
    if (!view->external && host == view->leader) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX,
                 "host %" PRIu32 " orders the control log; promote another one first", host);
        return LBM_OK;
    }
    if (lbm_view_revoked(view, host)) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is revoked already", host);
        return LBM_OK;
    }
    if (lbm_vec_push(&view->revoked, host) != LBM_OK)
        return LBM_E_NOMEM;
    for (at = view->revoked.n - 1; at > 0 && view->revoked.at[at - 1] > host; at--)
        view->revoked.at[at] = view->revoked.at[at - 1];
    view->revoked.at[at] = host;
    return LBM_OK;
}

/* Place of the first name that is not below. */
static size_t
place_of_user(const struct lbm_view *view, const char *name)
{
    size_t at = 0;
    while (at < view->revoked_users.n && strcmp(view->revoked_users.at[at].name, name) < 0)
        at++;
    return at;
}

int
lbm_view_revoked_user(const struct lbm_view *view, const char *name, uint64_t made_s)
{
    size_t at = place_of_user(view, name);
    return at < view->revoked_users.n && strcmp(view->revoked_users.at[at].name, name) == 0 &&
           made_s <= view->revoked_users.at[at].made_s;
}

static enum lbm_err
apply_revoke_user(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    struct lbm_revoked_user user = {.made_s = command->revoke_user->made_s};
    size_t at = place_of_user(view, command->revoke_user->name);
    snprintf(user.name, sizeof user.name, "%s", command->revoke_user->name);
    if (at < view->revoked_users.n && strcmp(view->revoked_users.at[at].name, user.name) == 0) {
        if (view->revoked_users.at[at].made_s < user.made_s)
            view->revoked_users.at[at].made_s = user.made_s;
        return LBM_OK;
    }
    if (view->revoked_users.n == LBM_REVOKED_USERS_MAX) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "%d users are revoked, and no more can be",
                 LBM_REVOKED_USERS_MAX);
        return LBM_OK;
    }
    if (lbm_vec_push(&view->revoked_users, user) != LBM_OK)
        return LBM_E_NOMEM;
    memmove(&view->revoked_users.at[at + 1], &view->revoked_users.at[at],
            (view->revoked_users.n - 1 - at) * sizeof user);
    view->revoked_users.at[at] = user;
    return LBM_OK;
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
static enum lbm_err
apply_job_recover(struct lbm_view *view, const Lbm__Command *command, char *refusal)
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

static enum lbm_err
apply_job_recover_end(struct lbm_view *view, const Lbm__Command *command, char *refusal)
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

static const struct {
    Lbm__Command__WhatCase what;
    lbm_view_apply_fn *apply;
} commands[] = {
    {LBM__COMMAND__WHAT_FOUND, apply_found},
    {LBM__COMMAND__WHAT_JOIN, lbm_view_apply_join},
    {LBM__COMMAND__WHAT_ACTIVATE, lbm_view_apply_activate},
    {LBM__COMMAND__WHAT_SET, lbm_view_apply_set},
    {LBM__COMMAND__WHAT_DRAIN, lbm_view_apply_drain},
    {LBM__COMMAND__WHAT_CHANGE_BACKUP, lbm_view_apply_change_backup},
    {LBM__COMMAND__WHAT_LEAVE, lbm_view_apply_leave},
    {LBM__COMMAND__WHAT_EVICT, lbm_view_apply_evict},
    {LBM__COMMAND__WHAT_IN_SYNC, lbm_view_apply_in_sync},
    {LBM__COMMAND__WHAT_TAKE_OVER, lbm_view_apply_take_over},
    {LBM__COMMAND__WHAT_REJOIN, lbm_view_apply_rejoin},
    {LBM__COMMAND__WHAT_JOB_CREATE, apply_job_create},
    {LBM__COMMAND__WHAT_JOB_SET, apply_job_set},
    {LBM__COMMAND__WHAT_JOB_DELETE, apply_job_delete},
    {LBM__COMMAND__WHAT_PROMOTE, apply_promote},
    {LBM__COMMAND__WHAT_ALLOT_IDS, apply_allot_ids},
    {LBM__COMMAND__WHAT_ADMIT, apply_admit},
    {LBM__COMMAND__WHAT_REVOKE, apply_revoke},
    {LBM__COMMAND__WHAT_REVOKE_USER, apply_revoke_user},
    {LBM__COMMAND__WHAT_MAINTAIN, lbm_view_apply_maintain},
    {LBM__COMMAND__WHAT_ENSEMBLE, lbm_view_apply_ensemble},
    {LBM__COMMAND__WHAT_LOG_MOVE, lbm_view_apply_log_move},
    {LBM__COMMAND__WHAT_JOB_RECOVER, apply_job_recover},
    {LBM__COMMAND__WHAT_JOB_RECOVERED, apply_job_recover_end},
};

/* The cluster speaks what all members can, and never less than before. */
static void
raise_protocol(struct lbm_view *view)
{
    uint32_t least = LBM_PROTOCOL_MOST;
    for (size_t i = 0; i < view->members.n; i++)
        if (lbm_view_participates(&view->members.at[i]) && view->members.at[i].protocol < least)
            least = view->members.at[i].protocol;
    if (view->members.n != 0 && least > view->protocol)
        view->protocol = least;
}

enum lbm_err
lbm_view_apply(struct lbm_view *view, const Lbm__Command *command, char refusal[LBM_DIAG_TEXT_MAX])
{
    enum lbm_err err = LBM_E_VERSION; /* written by a later version: a no-op would let views differ */
    refusal[0] = '\0';
    view->touched.n = 0;
    if (view->index == 0 && command->what_case != LBM__COMMAND__WHAT_FOUND)
        return LBM_E_CORRUPT;
    if (lbm_view_request_known(view, command->request, refusal)) {
        view->index++;
        return LBM_OK;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (commands[i].what == command->what_case)
            err = commands[i].apply(view, command, refusal);
    if (err == LBM_OK && view->protocol < LBM_PROTOCOL_MOST)
        raise_protocol(view);
    if (err == LBM_OK)
        err = lbm_view_request_append(view, command->request, refusal[0] != '\0');
    if (err == LBM_OK)
        view->index++;
    return err;
}
