/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node/view/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "node/mutants.h"
#include "node/node.h"
#include "node/view/internal.h"

static void
member_free(struct lbm_member *member)
{
    free(member->links);
    free(member->announced_links);
}

void
lbm_view_free(struct lbm_view *view)
{
    if (view->shared != NULL) {
        lbm_view_release(view->shared);
        *view = (struct lbm_view){0};
        return;
    }
    for (size_t i = 0; i < view->members.n; i++)
        member_free(&view->members.at[i]);
    lbm_vec_free(&view->members);
    lbm_vec_free(&view->jobs);
    lbm_vec_free(&view->departed);
    lbm_vec_free(&view->active);
    lbm_vec_free(&view->active_capacity);
    lbm_vec_free(&view->place);
    lbm_vec_free(&view->touched);
    lbm_vec_free(&view->revoked);
    lbm_vec_free(&view->revoked_users);
    lbm_vec_free(&view->requests);
    lbm_hosts_free(&view->hosts);
    free(view->colour);
    *view = (struct lbm_view){0};
}

struct lbm_member *
lbm_view_member_of(const struct lbm_view *view, uint32_t host)
{
    uint32_t at = host < view->place.n ? view->place.at[host].member : LBM_NONE;
    return at != LBM_NONE ? &view->members.at[at] : NULL;
}

const struct lbm_member *
lbm_view_member(const struct lbm_view *view, uint32_t host)
{
    return lbm_view_member_of(view, host);
}

const struct lbm_job_entry *
lbm_view_job(const struct lbm_view *view, uint64_t job)
{
    for (size_t i = 0; i < view->jobs.n; i++)
        if (view->jobs.at[i].job == job)
            return &view->jobs.at[i];
    return NULL;
}

const struct lbm_job_entry *
lbm_view_job_named(const struct lbm_view *view, const char *name)
{
    for (size_t i = 0; i < view->jobs.n; i++)
        if (strcmp(view->jobs.at[i].name, name) == 0)
            return &view->jobs.at[i];
    return NULL;
}

uint32_t
lbm_view_number(const struct lbm_view *view, uint32_t host)
{
    return host < view->place.n ? view->place.at[host].number : LBM_NONE;
}

uint32_t
lbm_view_host(const struct lbm_view *view, uint32_t number)
{
    return number < view->active.n ? view->active.at[number] : LBM_NONE;
}

const char *
lbm_member_state_name(enum lbm_member_state state)
{
    static const char *const names[] = {
#define STATE_NAME(id, number, name) [number] = name,
        LBM_MEMBER_STATE_LIST(STATE_NAME)
#undef STATE_NAME
    };
    return (unsigned)state < LBM_MEMBER_STATE_COUNT ? names[state] : "unknown";
}

int
lbm_view_participates(const struct lbm_member *member)
{
    return lbm_state_participates(member->state);
}

const struct lbm_departed *
lbm_view_departed(const struct lbm_view *view, uint32_t host, uint64_t incarnation)
{
    size_t low = 0, high = view->departed.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct lbm_departed *gone = &view->departed.at[middle];
        if (gone->host < host || (gone->host == host && gone->incarnation < incarnation))
            low = middle + 1;
        else
            high = middle;
    }
    const struct lbm_departed *gone = low < view->departed.n ? &view->departed.at[low] : NULL;
    return gone != NULL && gone->host == host && gone->incarnation == incarnation ? gone : NULL;
}

int
lbm_view_successor(const struct lbm_view *view, uint32_t host, uint64_t incarnation, uint32_t *successor,
                   uint64_t *successor_incarnation)
{
    /* Each link of the chain departed later than the one before, so it ends. */
    const struct lbm_departed *gone = lbm_view_departed(view, host, incarnation);
    for (; gone != NULL; gone = lbm_view_departed(view, host, incarnation)) {
        if (!gone->evicted) {
            *successor = LBM_NONE;
            *successor_incarnation = 0;
            return 1;
        }
        if (!gone->taken_over && !LBM_BUG(SUCCESSOR_SPEAKS_EARLY))
            return 0;
        host = gone->successor;
        incarnation = gone->successor_incarnation;
    }
    *successor = host;
    *successor_incarnation = incarnation;
    return 1;
}

/* ---- where hosts are found ----------------------------------------------------------------------------- */

enum lbm_err
lbm_view_touch(struct lbm_view *view, uint32_t host)
{
    return lbm_vec_push(&view->touched, host);
}

/* Room for the place of a host id. */
static enum lbm_err
reserve_place(struct lbm_view *view, uint32_t host)
{
    while (view->place.n <= host) {
        struct lbm_host_place nowhere = {.member = LBM_NONE, .number = LBM_NONE, .backup = LBM_NONE};
        if (lbm_vec_push(&view->place, nowhere) != LBM_OK)
            return LBM_E_NOMEM;
    }
    return LBM_OK;
}

uint32_t
lbm_view_name_hash(const char *name)
{
    uint32_t hash = UINT32_C(2166136261); /* FNV-1a */
    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * UINT32_C(16777619);
    return hash;
}

enum lbm_err
lbm_view_add_member(struct lbm_view *view, uint32_t host, const char *name, struct lbm_member **out)
{
    if (lbm_vec_reserve(&view->members, 1) != LBM_OK || reserve_place(view, host) != LBM_OK)
        return LBM_E_NOMEM;
    size_t at = view->members.n++;
    for (; at > 0 && view->members.at[at - 1].host > host; at--) {
        view->members.at[at] = view->members.at[at - 1];
        view->place.at[view->members.at[at].host].member = (uint32_t)at;
    }
    view->members.at[at] = (struct lbm_member){.host = host, .backup = LBM_NONE, .since = view->index + 1};
    snprintf(view->members.at[at].name, sizeof view->members.at[at].name, "%s", name);
    view->place.at[host].member = (uint32_t)at;
    view->place.at[host].name_hash = lbm_view_name_hash(name);
    *out = &view->members.at[at];
    return LBM_OK;
}

static void
put_active(struct lbm_view *view, uint32_t at, uint32_t host, double capacity)
{
    view->active.at[at] = host;
    view->active_capacity.at[at] = capacity;
    view->place.at[host].number = at;
}

enum lbm_err
lbm_view_number_active(struct lbm_view *view, const struct lbm_member *member)
{
    uint32_t n = (uint32_t)view->active.n, at = view->place.at[member->host].number;
    view->place.at[member->host].state = member->state;
    int is_active = member->state == LBM_MEMBER_ACTIVE;
    if (is_active && at != LBM_NONE) {
        view->active_capacity.at[at] = member->capacity;
    } else if (is_active) {
        if (lbm_vec_reserve(&view->active, 1) != LBM_OK ||
            lbm_vec_reserve(&view->active_capacity, 1) != LBM_OK)
            return LBM_E_NOMEM;
        view->active.n = view->active_capacity.n = n + 1;
        for (at = n; at > 0 && view->active.at[at - 1] > member->host; at--)
            put_active(view, at, view->active.at[at - 1], view->active_capacity.at[at - 1]);
        put_active(view, at, member->host, member->capacity);
    } else if (at != LBM_NONE) {
        for (; at + 1 < n; at++)
            put_active(view, at, view->active.at[at + 1], view->active_capacity.at[at + 1]);
        view->active.n = view->active_capacity.n = n - 1;
        view->place.at[member->host].number = LBM_NONE;
    }
    view->active_whole = 0; /* added up again: equal views have equal sums, whatever their history */
    for (size_t i = 0; i < view->active_capacity.n; i++)
        view->active_whole += view->active_capacity.at[i];
    return LBM_OK;
}

enum lbm_err
lbm_view_index(struct lbm_view *view)
{
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < view->members.n; i++) {
        struct lbm_member *member = &view->members.at[i];
        err = reserve_place(view, member->host);
        if (err != LBM_OK)
            break;
        struct lbm_host_place *place = &view->place.at[member->host];
        place->member = (uint32_t)i;
        place->name_hash = lbm_view_name_hash(member->name);
        place->backup = member->backup;
        err = lbm_view_number_active(view, member);
    }
    for (size_t i = 0; err == LBM_OK && i < view->members.n; i++)
        if (lbm_view_member(view, view->members.at[i].backup) != NULL)
            view->place.at[view->members.at[i].backup].n_primaries++;
    return err;
}

/* ---- commands ------------------------------------------------------------------------------------------ */

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
            if (set->policy == NULL && set->gates == NULL)
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
    else
        view->leader = command->promote->host;
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
    {LBM__COMMAND__WHAT_JOB_RECOVER, apply_job_recover},
    {LBM__COMMAND__WHAT_JOB_RECOVERED, apply_job_recover_end},
};

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
    if (err == LBM_OK)
        err = lbm_view_request_append(view, command->request, refusal[0] != '\0');
    if (err == LBM_OK)
        view->index++;
    return err;
}
