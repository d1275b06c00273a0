/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The view as bytes and back (Snapshot of wire/peer.proto).
 *
 * What follows from the members alone is not written, with one exception: the links of the host graph. They
 * are as old as view->topology, while members may have changed links since that do not count yet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/view/internal.h"

/* ---- packing ------------------------------------------------------------------------------------------- */

/* A snapshot whose strings and sites are the view's, and whose columns are its own. */
struct draft {
    Lbm__Snapshot snapshot;
    Lbm__SnapshotMember *member, **members;
    Lbm__SnapshotDeparted *departed, **departures;
    Lbm__JobCreate *job, **jobs;
    Lbm__JobPolicy *policy;
    Lbm__JobGates *gates;
    Lbm__JobRun *run;
    Lbm__RevokeUser *user, **users;
    uint32_t ensemble_host[LBM_ENSEMBLE_MAX];
    uint64_t ensemble_incarnation[LBM_ENSEMBLE_MAX], ensemble_since[LBM_ENSEMBLE_MAX];
    uint32_t *column; /* all columns of links, one after the other */
    uint64_t request[LBM_REQUESTS_KEPT], request_index[LBM_REQUESTS_KEPT];
    uint32_t request_refused[LBM_REQUESTS_KEPT];
};

static void
draft_free(struct draft *draft)
{
    free(draft->member);
    free(draft->members);
    free(draft->departed);
    free(draft->departures);
    free(draft->job);
    free(draft->jobs);
    free(draft->run);
    free(draft->policy);
    free(draft->gates);
    free(draft->user);
    free(draft->users);
    free(draft->column);
}

static enum lbm_err
draft_new(const struct lbm_view *view, struct draft *draft)
{
    size_t n_members = view->members.n, n_gone = view->departed.n, n_jobs = view->jobs.n,
           n_users = view->revoked_users.n;
    size_t n_links = view->routable ? view->hosts.offset[view->hosts.n] / 2 : 0, columns = 3 * n_links;
    for (size_t i = 0; i < n_members; i++)
        columns += 2 * (view->members.at[i].n_links + view->members.at[i].n_announced_links);
    *draft = (struct draft){.snapshot = LBM__SNAPSHOT__INIT,
                            .member = lbm_alloc(n_members, sizeof *draft->member),
                            .members = lbm_alloc(n_members, sizeof *draft->members),
                            .departed = lbm_alloc(n_gone, sizeof *draft->departed),
                            .departures = lbm_alloc(n_gone, sizeof *draft->departures),
                            .job = lbm_alloc(n_jobs, sizeof *draft->job),
                            .jobs = lbm_alloc(n_jobs, sizeof *draft->jobs),
                            .policy = lbm_alloc(n_jobs, sizeof *draft->policy),
                            .gates = lbm_alloc(n_jobs, sizeof *draft->gates),
                            .run = lbm_alloc(n_jobs, sizeof *draft->run),
                            .user = lbm_alloc(n_users, sizeof *draft->user),
                            .users = lbm_alloc(n_users, sizeof *draft->users),
                            .column = lbm_alloc(columns, sizeof *draft->column)};
    if (draft->member != NULL && draft->members != NULL && draft->departed != NULL &&
        draft->departures != NULL && draft->job != NULL && draft->jobs != NULL && draft->policy != NULL &&
        draft->gates != NULL && draft->run != NULL && draft->user != NULL && draft->users != NULL &&
        draft->column != NULL)
        return LBM_OK;
    draft_free(draft);
    return LBM_E_NOMEM;
}

/* Links of a member as two columns at `place`, which moves on behind them. */
static void
draft_links(const struct lbm_link *links, size_t n, uint32_t **place, uint32_t **host, uint32_t **cost)
{
    *host = *place;
    *cost = *place + n;
    *place += 2 * n;
    for (size_t i = 0; i < n; i++) {
        (*host)[i] = links[i].q;
        (*cost)[i] = links[i].cost;
    }
}

static Lbm__SnapshotMember
draft_member(const struct lbm_member *member, unsigned m, uint32_t **place)
{
    Lbm__SnapshotMember to = LBM__SNAPSHOT_MEMBER__INIT;
    to.host = member->host;
    to.incarnation = member->incarnation;
    to.state = (uint32_t)member->state;
    to.name = (char *)member->name;
    to.address = (char *)member->address;
    to.failure_domain = (char *)member->failure_domain;
    to.capacity = member->capacity;
    to.site = (double *)member->site;
    to.n_site = m;
    to.announced_address = (char *)member->announced_address;
    to.announced_capacity = member->announced_capacity;
    to.backup = member->backups[0].host;
    to.backup_view = member->backups[0].view;
    to.insync = member->backups[0].insync != 0;
    to.second_backup = member->backups[1].host != LBM_NONE ? 1 + member->backups[1].host : 0;
    to.second_backup_view = member->backups[1].view;
    to.second_insync = member->backups[1].insync != 0;
    to.drained = member->drained;
    to.protocol = member->protocol;
    to.maintenance_us = member->maintenance_us;
    to.maintenance_view = member->maintenance_view;
    to.maintenance_moves = member->maintenance_moves != 0;
    to.maintenance_reason = (char *)member->maintenance_reason;
    to.n_link_host = to.n_link_cost = member->n_links;
    draft_links(member->links, member->n_links, place, &to.link_host, &to.link_cost);
    to.n_announced_link_host = to.n_announced_link_cost = member->n_announced_links;
    draft_links(member->announced_links, member->n_announced_links, place, &to.announced_link_host,
                &to.announced_link_cost);
    return to;
}

static Lbm__SnapshotDeparted
draft_departed(const struct lbm_departed *gone)
{
    Lbm__SnapshotDeparted to = LBM__SNAPSHOT_DEPARTED__INIT;
    to.host = gone->host;
    to.incarnation = gone->incarnation;
    to.view = gone->view;
    to.evicted = gone->evicted != 0;
    to.successor = gone->successor;
    to.successor_incarnation = gone->successor_incarnation;
    to.taken_over = gone->taken_over != 0;
    to.was = (uint32_t)gone->was;
    to.reserve = gone->reserve != LBM_NONE ? 1 + gone->reserve : 0;
    to.reserve_incarnation = gone->reserve_incarnation;
    to.passed = gone->passed;
    return to;
}

static Lbm__JobCreate
draft_job(const struct lbm_job_entry *job)
{
    Lbm__JobCreate to = LBM__JOB_CREATE__INIT;
    to.job = job->job;
    to.name = (char *)job->name;
    to.coordinator = job->coordinator;
    to.vertices = job->vertices;
    to.ids = job->ids;
    to.edges = job->edges;
    to.work = job->work;
    to.weight = job->weight;
    to.each_work = job->each_work;
    to.start = job->start;
    to.seed = job->seed;
    to.imbalance = job->imbalance;
    to.owner = job->owner;
    to.loss = job->loss;
    to.recovery = job->recovery;
    to.recovery_host = job->recovery_host;
    to.recovery_incarnation = job->recovery_incarnation;
    return to;
}

static void
draft_hosts(const struct lbm_view *view, Lbm__Snapshot *to, uint32_t *place)
{
    to->routable = view->routable != 0;
    if (!view->routable) {
        to->unroutable = (char *)view->unroutable;
        return;
    }
    const struct lbm_hosts *h = &view->hosts;
    size_t n = h->offset[h->n] / 2, k = 0;
    to->link_p = place;
    to->link_q = place + n;
    to->link_cost = place + 2 * n;
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++)
            if (p < h->target[e]) {
                to->link_p[k] = p;
                to->link_q[k] = h->target[e];
                to->link_cost[k++] = h->cost[e];
            }
    LBM_ASSERT(k == n);
    to->n_link_p = to->n_link_q = to->n_link_cost = n;
}

static void
draft_fill(const struct lbm_view *view, struct draft *draft)
{
    Lbm__Snapshot *to = &draft->snapshot;
    uint32_t *place = draft->column;
    to->index = view->index;
    to->cluster = view->cluster;
    to->name = (char *)view->cluster_name;
    to->leader = view->leader;
    to->external = view->external != 0;
    to->dimensions = view->m;
    to->hop_us = view->hop_us;
    to->copies = view->copies > 1 ? view->copies : 0; /* as before there could be two */
    to->topology = view->topology;
    to->chain = view->chain;
    for (size_t i = 0; i < view->members.n; i++) {
        draft->member[i] = draft_member(&view->members.at[i], view->m, &place);
        draft->members[i] = &draft->member[i];
    }
    for (size_t i = 0; i < view->departed.n; i++) {
        draft->departed[i] = draft_departed(&view->departed.at[i]);
        draft->departures[i] = &draft->departed[i];
    }
    for (size_t i = 0; i < view->jobs.n; i++) {
        draft->job[i] = draft_job(&view->jobs.at[i]);
        lbm_job_policy_put(&view->jobs.at[i].policy, &draft->policy[i]);
        draft->job[i].policy = &draft->policy[i];
        lbm_gates_put(&view->jobs.at[i].gates, &draft->gates[i]);
        draft->job[i].gates = &draft->gates[i];
        lbm_job_run_put(&view->jobs.at[i].run, &draft->run[i]);
        draft->job[i].run = view->jobs.at[i].run.view != 0 ? &draft->run[i] : NULL;
        draft->jobs[i] = &draft->job[i];
    }
    to->next_host = view->next_host;
    to->n_revoked = view->revoked.n;
    to->revoked = view->revoked.at;
    for (size_t i = 0; i < view->revoked_users.n; i++) {
        lbm__revoke_user__init(&draft->user[i]);
        draft->user[i].name = view->revoked_users.at[i].name;
        draft->user[i].made_s = view->revoked_users.at[i].made_s;
        draft->users[i] = &draft->user[i];
    }
    for (size_t i = 0; i < view->requests.n; i++) {
        draft->request[i] = view->requests.at[i].request;
        draft->request_index[i] = view->requests.at[i].index;
        draft->request_refused[i] = view->requests.at[i].is_refused != 0;
    }
    to->n_request = to->n_request_index = to->n_request_refused = view->requests.n;
    to->request = draft->request;
    to->request_index = draft->request_index;
    to->request_refused = draft->request_refused;
    to->n_revoked_users = view->revoked_users.n;
    to->ensemble = view->ensemble.id;
    to->ensemble_moved = view->ensemble.moved;
    to->ensemble_changed = view->ensemble.changed;
    to->n_ensemble_host = to->n_ensemble_incarnation = to->n_ensemble_since = view->ensemble.n;
    to->ensemble_host = draft->ensemble_host;
    to->ensemble_incarnation = draft->ensemble_incarnation;
    to->ensemble_since = draft->ensemble_since;
    for (uint32_t i = 0; i < view->ensemble.n; i++) {
        draft->ensemble_host[i] = view->ensemble.member[i].host;
        draft->ensemble_incarnation[i] = view->ensemble.member[i].incarnation;
        draft->ensemble_since[i] = view->ensemble.member[i].since;
    }
    to->log_place = view->log_place;
    to->log_term = view->log_term;
    to->log_forced = view->log_forced;
    to->protocol = view->protocol;
    to->revoked_users = draft->users;
    to->n_members = view->members.n;
    to->members = draft->members;
    to->n_departed = view->departed.n;
    to->departed = draft->departures;
    to->n_jobs = view->jobs.n;
    to->jobs = draft->jobs;
    draft_hosts(view, to, place);
}

enum lbm_err
lbm_view_pack(struct lbm_view *view, uint8_t **out, size_t *len)
{
    LBM_ASSERT(view->index != 0);
    struct draft draft;
    int routable;
    if (lbm_view_graph(view, &routable) != LBM_OK || draft_new(view, &draft) != LBM_OK)
        return LBM_E_NOMEM;
    draft_fill(view, &draft);
    size_t n = lbm__snapshot__get_packed_size(&draft.snapshot);
    uint8_t *bytes = n <= LBM_SNAPSHOT_BYTES_MAX ? lbm_alloc(n, 1) : NULL;
    if (bytes != NULL)
        lbm__snapshot__pack(&draft.snapshot, bytes);
    draft_free(&draft);
    if (bytes == NULL)
        return n <= LBM_SNAPSHOT_BYTES_MAX ? LBM_E_NOMEM : LBM_E_LIMIT;
    *out = bytes;
    *len = n;
    return LBM_OK;
}

/* ---- unpacking ----------------------------------------------------------------------------------------- */

static enum lbm_err
take_links(uint32_t host, size_t n, const uint32_t *to, const uint32_t *cost, struct lbm_link **links,
           size_t *n_links)
{
    *links = lbm_alloc(n, sizeof **links);
    if (*links == NULL)
        return LBM_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        (*links)[i] = (struct lbm_link){host, to[i], cost[i]};
    *n_links = n;
    return LBM_OK;
}

static enum lbm_err
take_member(struct lbm_view *view, const Lbm__SnapshotMember *from, struct lbm_diag *diag)
{
    const struct lbm_member *last = view->members.n != 0 ? &view->members.at[view->members.n - 1] : NULL;
    if (from->state >= LBM_MEMBER_STATE_COUNT || from->n_site != view->m ||
        (last != NULL && last->host >= from->host))
        return lbm_diag_set(diag, LBM_E_CORRUPT, "snapshot", 0, "host %u is out of order or no member",
                            from->host);
    struct lbm_member empty = {.host = from->host,
                               .incarnation = from->incarnation,
                               .state = (enum lbm_member_state)from->state,
                               .capacity = from->capacity,
                               .announced_capacity = from->announced_capacity,
                               .backups = {{from->backup, from->backup_view, (int)from->insync},
                                           {from->second_backup != 0 ? from->second_backup - 1 : LBM_NONE,
                                            from->second_backup_view, (int)from->second_insync}},
                               .drained = from->drained,
                               .protocol = from->protocol,
                               .maintenance_us = from->maintenance_us,
                               .maintenance_view = from->maintenance_view,
                               .maintenance_moves = (int)from->maintenance_moves};
    if (lbm_vec_push(&view->members, empty) != LBM_OK)
        return LBM_E_NOMEM;
    struct lbm_member *to = &view->members.at[view->members.n - 1];
    snprintf(to->name, sizeof to->name, "%s", from->name);
    snprintf(to->address, sizeof to->address, "%s", from->address);
    snprintf(to->failure_domain, sizeof to->failure_domain, "%s", from->failure_domain);
    snprintf(to->announced_address, sizeof to->announced_address, "%s", from->announced_address);
    snprintf(to->maintenance_reason, sizeof to->maintenance_reason, "%s", from->maintenance_reason);
    memcpy(to->site, from->site, view->m * sizeof *to->site);
    enum lbm_err err =
        take_links(to->host, from->n_link_host, from->link_host, from->link_cost, &to->links, &to->n_links);
    if (err == LBM_OK)
        err = take_links(to->host, from->n_announced_link_host, from->announced_link_host,
                         from->announced_link_cost, &to->announced_links, &to->n_announced_links);
    return err;
}

static enum lbm_err
take_departed(struct lbm_view *view, const Lbm__SnapshotDeparted *from, struct lbm_diag *diag)
{
    const struct lbm_departed *last = view->departed.n != 0 ? &view->departed.at[view->departed.n - 1] : NULL;
    int in_order = last == NULL || last->host < from->host ||
                   (last->host == from->host && last->incarnation < from->incarnation);
    if (!in_order || from->was >= LBM_MEMBER_STATE_COUNT)
        return lbm_diag_set(diag, LBM_E_CORRUPT, "snapshot", 0, "departure of host %u is out of order",
                            from->host);
    struct lbm_departed gone = {.host = from->host,
                                .incarnation = from->incarnation,
                                .view = from->view,
                                .evicted = (int)from->evicted,
                                .successor = from->successor,
                                .successor_incarnation = from->successor_incarnation,
                                .taken_over = (int)from->taken_over,
                                .was = (enum lbm_member_state)from->was,
                                .reserve = from->reserve != 0 ? from->reserve - 1 : LBM_NONE,
                                .reserve_incarnation = from->reserve_incarnation,
                                .passed = from->passed};
    return lbm_vec_push(&view->departed, gone);
}

static enum lbm_err
take_job(struct lbm_view *view, const Lbm__JobCreate *from)
{
    struct lbm_job_entry job = {.job = from->job,
                                .coordinator = from->coordinator,
                                .vertices = from->vertices,
                                .ids = from->ids > from->vertices ? from->ids : from->vertices,
                                .edges = from->edges,
                                .work = from->work,
                                .weight = from->weight,
                                .each_work = from->each_work,
                                .start = from->start,
                                .seed = from->seed,
                                .imbalance = from->imbalance,
                                .owner = from->owner,
                                .loss = from->loss,
                                .recovery = from->recovery,
                                .recovery_host = from->recovery_host,
                                .recovery_incarnation = from->recovery_incarnation};
    snprintf(job.name, sizeof job.name, "%s", from->name);
    lbm_gates_take(from->gates, &job.gates);
    job.gates.view = from->gates != NULL ? from->gates->view : 0;
    lbm_job_policy_take(from->policy, &job.policy);
    lbm_job_run_take(from->run, &job.run);
    return lbm_vec_push(&view->jobs, job);
}

static enum lbm_err
take_hosts(struct lbm_view *view, const Lbm__Snapshot *from, struct lbm_diag *diag)
{
    struct lbm_link *links = lbm_alloc(from->n_link_p, sizeof *links);
    if (links == NULL)
        return LBM_E_NOMEM;
    for (size_t i = 0; i < from->n_link_p; i++)
        links[i] = (struct lbm_link){from->link_p[i], from->link_q[i], from->link_cost[i]};
    enum lbm_err err = lbm_view_restore_hosts(view, links, from->n_link_p);
    free(links);
    if (err == LBM_OK && view->routable != (int)from->routable)
        err = lbm_diag_set(diag, LBM_E_CORRUPT, "snapshot", 0, "its links are no host graph");
    if (err == LBM_OK && !view->routable)
        snprintf(view->unroutable, sizeof view->unroutable, "%s", from->unroutable);
    return err;
}

static enum lbm_err
take_revoked_user(struct lbm_view *view, const Lbm__RevokeUser *from, struct lbm_diag *diag)
{
    struct lbm_revoked_user user = {.made_s = from->made_s};
    size_t n = view->revoked_users.n;
    snprintf(user.name, sizeof user.name, "%s", from->name);
    if (n != 0 && strcmp(view->revoked_users.at[n - 1].name, user.name) >= 0)
        return lbm_diag_set(diag, LBM_E_CORRUPT, "snapshot", 0, "revoked users are out of order");
    return lbm_vec_push(&view->revoked_users, user);
}

static enum lbm_err
take_snapshot(struct lbm_view *view, const Lbm__Snapshot *from, struct lbm_diag *diag)
{
    enum lbm_err err = LBM_OK;
    view->index = from->index;
    view->cluster = from->cluster;
    view->leader = from->leader;
    view->external = (int)from->external;
    view->m = from->dimensions;
    view->hop_us = from->hop_us;
    view->copies = from->copies == 2 ? 2 : 1;
    view->topology = from->topology;
    view->chain = from->chain;
    snprintf(view->cluster_name, sizeof view->cluster_name, "%s", from->name);
    view->next_host = from->next_host;
    view->ensemble.id = from->ensemble;
    view->ensemble.moved = from->ensemble_moved;
    view->ensemble.changed = from->ensemble_changed;
    for (size_t i = 0; i < from->n_ensemble_host; i++)
        view->ensemble.member[view->ensemble.n++] = (struct lbm_ensemble_member){
            from->ensemble_host[i], from->ensemble_incarnation[i], from->ensemble_since[i]};
    view->log_place = from->log_place;
    view->log_term = from->log_term;
    view->log_forced = from->log_forced;
    view->protocol = from->protocol != 0 ? from->protocol : 1;
    for (size_t i = 0; err == LBM_OK && i < from->n_revoked; i++)
        err = i != 0 && from->revoked[i - 1] >= from->revoked[i]
                  ? lbm_diag_set(diag, LBM_E_CORRUPT, "snapshot", 0, "revoked hosts are out of order")
                  : lbm_vec_push(&view->revoked, from->revoked[i]);
    for (size_t i = 0; err == LBM_OK && i < from->n_revoked_users; i++)
        err = take_revoked_user(view, from->revoked_users[i], diag);
    for (size_t i = 0; err == LBM_OK && i < from->n_request; i++) {
        struct lbm_logged_request request = {from->request[i], from->request_index[i],
                                             (int)from->request_refused[i]};
        err = lbm_vec_push(&view->requests, request);
    }
    for (size_t i = 0; err == LBM_OK && i < from->n_members; i++)
        err = take_member(view, from->members[i], diag);
    for (size_t i = 0; err == LBM_OK && i < from->n_departed; i++)
        err = take_departed(view, from->departed[i], diag);
    for (size_t i = 0; err == LBM_OK && i < from->n_jobs; i++)
        err = take_job(view, from->jobs[i]);
    if (err == LBM_OK)
        err = lbm_view_index(view);
    return err == LBM_OK ? take_hosts(view, from, diag) : err;
}

enum lbm_err
lbm_view_unpack(const uint8_t *bytes, size_t len, struct lbm_view *out, struct lbm_diag *diag)
{
    Lbm__Snapshot *snapshot = NULL;
    struct lbm_view view = {0};
    enum lbm_err err = lbm_wire_unpack_snapshot(bytes, len, &snapshot, diag);
    if (err != LBM_OK)
        return err == LBM_E_NOMEM ? err : LBM_E_CORRUPT;
    err = take_snapshot(&view, snapshot, diag);
    lbm__snapshot__free_unpacked(snapshot, NULL);
    if (err != LBM_OK) {
        lbm_view_free(&view);
        return err;
    }
    *out = view;
    return LBM_OK;
}
