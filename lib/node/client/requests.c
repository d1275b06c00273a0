/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What clients may ask, one row a request; answers come from what this host knows, at once. Who may ask it:
 * rights.c. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/application/application.h"
#include "node/application/guest.h"
#include "node/client/client.h"
#include "node/client/internal.h"
#include "node/core/core.h"
#include "node/exchange/exchange.h"
#include "node/job/job.h"
#include "node/local/local.h"
#include "node/log/log.h"
#include "node/membership/membership.h"
#include "node/replication/replication.h"

/* ---- status and hosts --------------------------------------------------------------------------------- */

static uint64_t
vertices_here(const struct lbm_node *node)
{
    uint64_t n = 0;
    for (size_t i = 0; i < node->jobs.n; i++)
        n += node->jobs.at[i]->shard.n_own + node->jobs.at[i]->shard.n_out;
    return n;
}

static void
answer_status(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    (void)request;
    Lbm__StatusReply status = LBM__STATUS_REPLY__INIT;
    status.host = node->host;
    status.name = node->name;
    status.version = node->version;
    status.cluster = node->view.cluster;
    status.cluster_name = node->view.cluster_name;
    status.view = node->view.index;
    status.leader = node->leader_host != LBM_NONE ? node->leader_host : node->view.leader;
    uint32_t ensemble[LBM_ENSEMBLE_MAX];
    status.protocol = node->view.protocol;
    status.protocol_most = node->protocol_most;
    status.log_external = node->view.external != 0;
    status.log_is_older = node->log_is_older != 0;
    status.ensemble = ensemble;
    for (uint32_t i = 0; i < node->view.ensemble.n; i++)
        ensemble[status.n_ensemble++] = node->view.ensemble.member[i].host;
    int is_reported = node->view.ensemble.id != 0 && node->ensemble.report.id == node->view.ensemble.id;
    status.ensemble_answers = node->ensemble.report.host;
    status.n_ensemble_answers = is_reported ? node->ensemble.report.n : 0;
    status.ensemble_leader = is_reported ? node->ensemble.report.leader : LBM_NONE;
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    char state[16] = "";
    if (self != NULL && self->incarnation == node->incarnation)
        snprintf(state, sizeof state, "%s", lbm_member_state_name(self->state));
    status.state = state;
    status.uptime_s = (double)(node->now_us - node->started_us) / 1e6;
    uint32_t *unreachable = lbm_alloc(node->view.members.n, sizeof *unreachable);
    uint32_t *deaf = lbm_alloc(node->view.members.n, sizeof *deaf);
    if (unreachable == NULL || deaf == NULL) {
        free(unreachable);
        free(deaf);
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    status.unreachable = unreachable;
    status.deaf = deaf;
    status.members = 0;
    for (size_t i = 0; i < node->view.members.n; i++) {
        if (!lbm_view_participates(&node->view.members.at[i]))
            continue;
        status.members++;
        if (lbm_membership_is_unreachable(node, node->view.members.at[i].host, UNREACHABLE_US))
            unreachable[status.n_unreachable++] = node->view.members.at[i].host;
        else if (lbm_membership_network_is_deaf(node, node->view.members.at[i].host))
            deaf[status.n_deaf++] = node->view.members.at[i].host;
    }
    uint32_t outside[LBM_APPLICANTS_MAX];
    char *outside_address[LBM_APPLICANTS_MAX];
    status.outside = outside;
    status.outside_address = outside_address;
    for (size_t i = 0; i < LBM_APPLICANTS_MAX; i++) {
        if (!lbm_membership_is_outside(node, &node->applicants[i]))
            continue;
        outside[status.n_outside++] = node->applicants[i].host;
        outside_address[status.n_outside_address++] = node->applicants[i].address;
    }
    status.heard = status.members - (uint32_t)status.n_unreachable;
    status.vertices = vertices_here(node);
    status.messages_sent = node->n_sent;
    status.messages_received = node->n_received;
    status.bytes_sent = node->bytes_sent;
    status.bytes_received = node->bytes_received;
    status.handoffs = node->n_handoffs;
    status.plans = node->n_plans;
    status.sweeps = node->n_sweeps;
    int64_t until_us = lbm_replication_lease_end(node);
    status.lease_s = until_us == INT64_MAX     ? -1
                     : until_us > node->now_us ? (double)(until_us - node->now_us) / 1e6
                                               : 0;
    status.applications = (uint32_t)node->applications.n;
    status.backup = node->replication.log[0].backup;
    status.lag = lbm_local_replication_lag(node);
    if (node->promotion.round == PROMOTION_CONFIRM) {
        status.n_awaited = node->promotion.awaited.n;
        status.awaited = node->promotion.awaited.at;
    }
    Lbm__Alert alerts[LBM_ALERT_COUNT], *alert_list[LBM_ALERT_COUNT];
    status.n_alerts = lbm_client_alerts_fill(node, alerts, alert_list);
    status.alerts = alert_list;
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_STATUS;
    response.status = &status;
    lbm_core_reply(node, client->id, client->request, 1, &response);
    free(unreachable);
    free(deaf);
}

/* What the log says of a member beyond its configuration, and what this host last heard of it. */
static void
fill_standing(const struct lbm_node *node, struct lbm_member *member, Lbm__HostEntry *entry)
{
    const struct lbm_departed *gone = lbm_view_departed(&node->view, member->host, member->incarnation);
    entry->incarnation = member->incarnation;
    entry->failure_domain = member->failure_domain;
    entry->protocol = member->protocol;
    entry->backup = member->backups[0].host;
    entry->second_backup = member->backups[1].host != LBM_NONE ? 1 + member->backups[1].host : 0;
    entry->insync = lbm_view_all_in_sync(&node->view, member) != 0;
    entry->successor = gone != NULL && gone->evicted ? gone->successor : LBM_NONE;
    entry->taken_over = gone != NULL && gone->taken_over;
    entry->suspectors = lbm_membership_suspicion_count(node, member->host);
    entry->deaf = lbm_membership_network_is_deaf(node, member->host) != 0;
    int64_t away_us = lbm_membership_maintenance_end(node, member->host) - node->now_us;
    entry->maintenance_s = member->maintenance_us == 0 ? 0 : away_us > 1000000 ? (double)away_us / 1e6 : 1;
    entry->maintenance_reason = member->maintenance_us != 0 ? member->maintenance_reason : (char *)"";
    entry->lag = member->host == node->host ? lbm_local_replication_lag(node) : 0;
    entry->view = member->host == node->host ? node->view.index : 0;
    const struct peer *peer = lbm_membership_peer_known(node, member->host);
    if (peer != NULL) {
        entry->lag = peer->lag;
        entry->view = peer->view;
    }
}

static void
fill_host(struct lbm_node *node, struct lbm_member *member, Lbm__HostEntry *entry)
{
    lbm__host_entry__init(entry);
    entry->host = member->host;
    entry->name = member->name;
    entry->address = member->address;
    static char states[LBM_MEMBER_STATE_COUNT][16];
    snprintf(states[member->state], sizeof states[member->state], "%s", lbm_member_state_name(member->state));
    entry->state = states[member->state];
    fill_standing(node, member, entry);
    entry->capacity = member->capacity;
    entry->n_site = member->state != LBM_MEMBER_JOINING ? node->view.m : 0;
    entry->site = member->site;
    entry->link_host = lbm_alloc(member->n_links, sizeof *entry->link_host);
    entry->link_cost = lbm_alloc(member->n_links, sizeof *entry->link_cost);
    if (entry->link_host == NULL || entry->link_cost == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    entry->n_link_host = entry->n_link_cost = member->n_links;
    for (size_t k = 0; k < member->n_links; k++) {
        entry->link_host[k] = member->links[k].q;
        entry->link_cost[k] = member->links[k].cost;
    }
    entry->reachable = !lbm_membership_is_unreachable(node, member->host, UNREACHABLE_US);
    entry->last_heard_s = member->host == node->host ? 0 : -1;
    entry->vertices = member->host == node->host ? vertices_here(node) : 0;
    const struct peer *peer = lbm_membership_peer_known(node, member->host);
    if (peer != NULL && peer->heard_us != 0) {
        entry->last_heard_s = (double)(node->now_us - peer->heard_us) / 1e6;
        int is_gone = entry->taken_over || member->state == LBM_MEMBER_LEFT; /* others have what it had */
        uint64_t vertices = is_gone ? 0 : peer->vertices;
        entry->vertices = vertices < LBM_VERTICES_MAX ? (uint32_t)vertices : LBM_VERTICES_MAX;
    }
}

static void
answer_hosts(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    (void)request;
    lbm_log_store_deferred(node); /* who watches the cluster here sees it in a moment */
    size_t n = node->view.members.n;
    Lbm__HostEntry *entries = lbm_alloc(n, sizeof *entries), **list = lbm_alloc(n, sizeof *list);
    for (size_t i = 0; entries != NULL && list != NULL && i < n; i++) {
        fill_host(node, &node->view.members.at[i], &entries[i]);
        list[i] = &entries[i];
    }
    if (entries == NULL || list == NULL)
        lbm_core_fail(node, LBM_E_NOMEM);
    Lbm__HostsReply hosts = LBM__HOSTS_REPLY__INIT;
    hosts.n_hosts = n;
    hosts.hosts = list;
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_HOSTS;
    response.hosts = &hosts;
    if (node->failed == LBM_OK)
        lbm_core_reply(node, client->id, client->request, 1, &response);
    for (size_t i = 0; entries != NULL && i < n; i++) {
        free(entries[i].link_host);
        free(entries[i].link_cost);
    }
    free(entries);
    free(list);
}

/* ---- jobs --------------------------------------------------------------------------------------------- */

static void
fold_load_report(const struct load_report *load_report, int is_missing, Lbm__JobEntry *out)
{
    size_t at = out->n_host++;
    out->host[at] = load_report->host;
    out->host_load[at] = load_report->load;
    out->host_vertices[at] = load_report->vertices;
    out->placed += load_report->vertices;
    out->moved += load_report->moved;
    out->sweep = load_report->sweep > out->sweep ? load_report->sweep : out->sweep;
    out->counter = load_report->counter < out->counter ? load_report->counter : out->counter;
    out->largest = load_report->largest > out->largest ? load_report->largest : out->largest;
    out->flow_sweeps =
        load_report->flow_sweeps > out->flow_sweeps ? load_report->flow_sweeps : out->flow_sweeps;
    out->flow_words += load_report->flow_words;
    out->flow += load_report->flow;
    double transfer_s = (double)load_report->transfer_us / 1e6;
    out->transfer_s = transfer_s > out->transfer_s ? transfer_s : out->transfer_s;
    if (is_missing)
        out->missing[out->n_missing++] = load_report->host;
}

/* What one computation says of the job as a whole. */
static void
fill_summary(const struct lbm_node *node, const struct lbm_job_entry *entry, Lbm__JobEntry *out,
             struct lbm_job_summary *summary)
{
    if (!lbm_node_summary(node, entry->job, summary))
        return;
    out->settled = summary->settled != 0;
    out->phase = (char *)lbm_phase_name(summary->phase);
    out->heard_phase = (char *)lbm_phase_name(summary->heard);
    out->condition = (uint32_t)summary->condition;
    out->state = (char *)lbm_job_summary_state(summary);
    out->present = summary->present;
    out->known = summary->known;
    out->idle = summary->idle;
    out->lost = summary->lost;
    out->since_s = (double)(node->now_us - summary->since_us) / 1e6;
    out->reason = summary->reason;
    out->imbalance_known = summary->imbalance >= 0;
    out->imbalance = summary->imbalance >= 0 ? summary->imbalance : 0;
}

/* Where programs work on the job, or are run; why borrows from the node. */
static void
fill_programs(struct lbm_node *node, const struct lbm_job_entry *entry, Lbm__JobEntry *out)
{
    size_t n = node->places.n;
    out->program_host = lbm_alloc(n, sizeof *out->program_host);
    out->program_serves = lbm_alloc(n, sizeof *out->program_serves);
    out->program_state = lbm_alloc(n, sizeof *out->program_state);
    out->program_why = lbm_alloc(n, sizeof *out->program_why);
    if (out->program_host == NULL || out->program_serves == NULL || out->program_state == NULL ||
        out->program_why == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        struct place *place = &node->places.at[i];
        if (place->job != entry->job || (!place->present && place->program == LBM_PROGRAM_NONE))
            continue;
        out->program_host[at] = place->host;
        out->program_serves[at] = place->present != 0;
        out->program_state[at] = (char *)(uintptr_t)lbm_program_state_name(place->program);
        out->program_why[at++] = place->why;
    }
    out->n_program_host = out->n_program_serves = out->n_program_state = out->n_program_why = at;
    out->program_runs = entry->run.arguments != 0;
}

static void
fill_job(struct lbm_node *node, struct lbm_job_entry *entry, Lbm__JobEntry *out, Lbm__JobGates *gates,
         struct lbm_job_summary *summary)
{
    const struct job *job = lbm_local_job(node, entry->job);
    size_t n = node->view.members.n;
    lbm__job_entry__init(out);
    out->host = lbm_alloc(n, sizeof *out->host);
    out->host_load = lbm_alloc(n, sizeof *out->host_load);
    out->host_vertices = lbm_alloc(n, sizeof *out->host_vertices);
    out->missing = lbm_alloc(n, sizeof *out->missing);
    if (job == NULL || out->host == NULL || out->host_load == NULL || out->host_vertices == NULL ||
        out->missing == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    out->counter = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        uint32_t host = node->view.members.at[i].host;
        struct load_report load_report = {.host = host};
        if (!lbm_view_participates(&node->view.members.at[i]))
            continue;
        if (host == node->host)
            load_report = lbm_client_own_report(node, job);
        else if (lbm_local_report_known(job, host) != NULL)
            load_report = *lbm_local_report_known(job, host);
        fold_load_report(&load_report, lbm_client_is_unavailable(node, &node->view.members.at[i]), out);
    }
    fill_summary(node, entry, out, summary);
    fill_programs(node, entry, out);
    out->n_host_load = out->n_host_vertices = out->n_host;
    out->job = entry->job;
    out->name = entry->name;
    out->coordinator = entry->coordinator;
    out->vertices = entry->vertices;
    out->edges = entry->edges;
    out->work = lbm_local_load_whole(node, entry);
    out->start = entry->start;
    out->seed = entry->seed;
    out->imbalance_bound = entry->imbalance;
    out->counter_goal = (lbm_membership_is_routable(node) ? node->view.diameter : 0) + 1;
    out->owner = entry->owner;
    out->policy = (char *)lbm_job_policy_name(entry->policy.policy);
    out->policy_asked = (char *)lbm_job_policy_name(entry->policy.asked);
    out->schedule = (char *)lbm_schedule_name(entry->policy.schedule);
    out->policy_why = entry->policy.why;
    out->gates = gates;
    lbm_gates_put(&entry->gates, gates);
    out->age_s = (double)(node->now_us - job->created_us) / 1e6;
}

static void
answer_jobs(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    const char *name = request->jobs->name;
    size_t n = 0;
    Lbm__JobEntry entries[LBM_JOBS_MAX], *list[LBM_JOBS_MAX];
    Lbm__JobGates gates[LBM_JOBS_MAX];
    struct lbm_job_summary summaries[LBM_JOBS_MAX];
    for (size_t i = 0; i < node->view.jobs.n && node->failed == LBM_OK; i++) {
        if (name[0] != '\0' && strcmp(node->view.jobs.at[i].name, name) != 0)
            continue;
        list[n] = &entries[n];
        fill_job(node, &node->view.jobs.at[i], &entries[n], &gates[n], &summaries[n]);
        n++;
    }
    if (n == 0 && name[0] != '\0') {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_NOTFOUND,
                             "there is no job named %s; lbctl jobs lists them", name);
        return;
    }
    Lbm__JobsReply jobs = LBM__JOBS_REPLY__INIT;
    jobs.n_jobs = n;
    jobs.jobs = list;
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_JOBS;
    response.jobs = &jobs;
    if (node->failed == LBM_OK)
        lbm_core_reply(node, client->id, client->request, 1, &response);
    for (size_t i = 0; i < n; i++) {
        free(entries[i].host);
        free(entries[i].host_load);
        free(entries[i].host_vertices);
        free(entries[i].missing);
        free(entries[i].program_host);
        free(entries[i].program_serves);
        free(entries[i].program_state);
        free(entries[i].program_why);
    }
}

static void
answer_cancel(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    const struct lbm_job_entry *entry = lbm_view_job_named(&node->view, request->cancel->job);
    if (entry == NULL) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_NOTFOUND,
                             "there is no job named %s; lbctl jobs lists them", request->cancel->job);
        return;
    }
    Lbm__JobDelete delete = LBM__JOB_DELETE__INIT;
    delete.job = entry->job;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOB_DELETE;
    command.job_delete = &delete;
    lbm_client_propose(node, client, &command);
}

static void
answer_job_change(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    const struct lbm_job_entry *entry = lbm_view_job_named(&node->view, request->job_change->job);
    if (entry == NULL)
        lbm_core_reply_error(node, client->id, client->request, LBM_E_NOTFOUND,
                             "there is no job named %s; lbctl jobs lists them", request->job_change->job);
    else
        lbm_exchange_policy_change(node, client, entry, request->job_change);
}

/* ---- requests that other files answer ----------------------------------------------------------------- */

static void
answer_submit_begin(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    lbm_job_submit_begin(node, client, request->submit_begin);
}

static void
answer_submit_rows(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    lbm_job_submit_rows(node, client, request->submit_rows);
}

static void
answer_submit_end(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    (void)request;
    lbm_job_submit_end(node, client);
}

static void
answer_map(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    lbm_client_query_map(node, client->id, client->request, request->map);
}

static void
answer_locate(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    lbm_client_query_locate(node, client->id, client->request, request->locate);
}

static void
answer_explain(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    lbm_client_query_explain(node, client->id, client->request, request->explain);
}

static void
answer_attach(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    lbm_application_attach(node, client->id, client->request, request->attach);
}

static void
answer_released(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    lbm_application_released(node, client->id, client->request, request->released);
}

static void
answer_checkpoint(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    lbm_application_checkpoint(node, client->id, client->request, request->checkpoint);
}

static void
answer_blob_put(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    lbm_application_blob_put(node, client->id, client->request, request->blob_put);
}

static void
answer_blob_read(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    lbm_application_blob_read(node, client->id, client->request, request->blob_read);
}

static void
answer_load(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    lbm_exchange_load_measured(node, client->id, client->request, request->load);
}

static void
answer_ids(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    lbm_application_ids(node, client->id, client->request, request->ids);
}

static void
answer_publish(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    lbm_application_publish(node, client->id, client->request, request->publish);
}

static void
answer_post(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    lbm_application_post(node, client->id, client->request, request->post);
}

static void
answer_change(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    lbm_application_change(node, client->id, client->request, request->change);
}

static const struct {
    Lbm__Request__WhatCase what;
    void (*answer)(struct lbm_node *node, const struct client *client, const Lbm__Request *request);
} requests[] = {
    {LBM__REQUEST__WHAT_STATUS, answer_status},
    {LBM__REQUEST__WHAT_HOSTS, answer_hosts},
    {LBM__REQUEST__WHAT_JOBS, answer_jobs},
    {LBM__REQUEST__WHAT_SUBMIT_BEGIN, answer_submit_begin},
    {LBM__REQUEST__WHAT_SUBMIT_ROWS, answer_submit_rows},
    {LBM__REQUEST__WHAT_SUBMIT_END, answer_submit_end},
    {LBM__REQUEST__WHAT_MAP, answer_map},
    {LBM__REQUEST__WHAT_LOCATE, answer_locate},
    {LBM__REQUEST__WHAT_CANCEL, answer_cancel},
    {LBM__REQUEST__WHAT_JOB_CHANGE, answer_job_change},
    {LBM__REQUEST__WHAT_HOST_CHANGE, lbm_client_answer_host_change},
    {LBM__REQUEST__WHAT_LOG, lbm_log_answer},
    {LBM__REQUEST__WHAT_PROMOTE, lbm_log_answer_promote},
    {LBM__REQUEST__WHAT_LOG_MOVE, lbm_log_answer_move},
    {LBM__REQUEST__WHAT_EVENTS, lbm_client_answer_events},
    {LBM__REQUEST__WHAT_ATTACH, answer_attach},
    {LBM__REQUEST__WHAT_RELEASED, answer_released},
    {LBM__REQUEST__WHAT_CHECKPOINT, answer_checkpoint},
    {LBM__REQUEST__WHAT_LOAD, answer_load},
    {LBM__REQUEST__WHAT_BLOB_PUT, answer_blob_put},
    {LBM__REQUEST__WHAT_BLOB_READ, answer_blob_read},
    {LBM__REQUEST__WHAT_EXPLAIN, answer_explain},
    {LBM__REQUEST__WHAT_IDS, answer_ids},
    {LBM__REQUEST__WHAT_CHANGE, answer_change},
    {LBM__REQUEST__WHAT_PUBLISH, answer_publish},
    {LBM__REQUEST__WHAT_POST, answer_post},
    {LBM__REQUEST__WHAT_RUN, lbm_client_answer_run},
    {LBM__REQUEST__WHAT_NETWORK, lbm_membership_answer_network},
    {LBM__REQUEST__WHAT_ADMIT, lbm_client_answer_admit},
    {LBM__REQUEST__WHAT_REVOKE, lbm_client_answer_revoke},
    {LBM__REQUEST__WHAT_REVOKE_USER, lbm_client_answer_revoke_user},
    {LBM__REQUEST__WHAT_RECOVER_BEGIN, lbm_client_recover_begin},
    {LBM__REQUEST__WHAT_RECOVER_ROWS, lbm_client_recover_rows},
    {LBM__REQUEST__WHAT_RECOVER_END, lbm_client_recover_end},
};

void
lbm_client_on_request(struct lbm_node *node, const struct lbm_event *event)
{
    const Lbm__Request *request = event->as.request.request;
    struct client client = {
        event->as.request.client,
        request->id,
        event->as.request.uid,
        event->as.request.access,
        event->as.request.is_remote,
        node->now_us + (request->within_ms != 0 ? (int64_t)request->within_ms * 1000 : (int64_t)REQUEST_US),
        request->key};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        if (requests[i].what == request->what_case) {
            if (lbm_client_may(node, &client, request) && !lbm_client_cut_defers(node, &client, request))
                requests[i].answer(node, &client, request);
            return;
        }
    lbm_core_reply_error(node, client.id, client.request, LBM_E_UNSUPPORTED,
                         "a request this daemon does not know");
}
