/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The step function: checks where a message comes from, hands each event to the file that owns it, and
 * closes the step's transaction. */
#include "node/node.h"
#include "node/application/guest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/application/application.h"
#include "node/client/client.h"
#include "node/core/core.h"
#include "node/dispatch/events.h"
#include "node/exchange/exchange.h"
#include "node/job/job.h"
#include "node/local/local.h"
#include "node/log/log.h"
#include "node/mapping/mapping.h"
#include "node/membership/membership.h"
#include "node/migration/migration.h"
#include "node/records/blobs.h"
#include "node/replication/replication.h"

static char *
copy_text(const char *text)
{
    return text != NULL ? lbm_copy(text, strlen(text) + 1, 1) : lbm_alloc(1, 1);
}

enum lbm_err
lbm_node_new(const struct lbm_node_config *config, struct lbm_node **out, struct lbm_diag *diag)
{
    if (config->host >= LBM_HOSTS_MAX)
        return lbm_diag_set(diag, LBM_E_RANGE, "host.id", 0, "%" PRIu32 " is above %d", config->host,
                            LBM_HOSTS_MAX - 1);
    int is_local = config->engine == LBM_LOG_ENGINE_LOCAL;
    if (is_local && !config->leader && config->n_contacts == 0)
        return lbm_diag_set(diag, LBM_E_NOTFOUND, "contacts", 0,
                            "this host neither founds a cluster nor knows a member of one");
    for (size_t i = 0; i < config->n_contacts; i++)
        if (config->contacts[i].host == config->host || config->contacts[i].host >= LBM_HOSTS_MAX)
            return lbm_diag_set(diag, LBM_E_RANGE, "contacts", 0, "host %" PRIu32 " is no other host",
                                config->contacts[i].host);
    struct lbm_node *node = lbm_alloc(1, sizeof *node);
    if (node == NULL)
        return LBM_E_NOMEM;
    node->raise = &lbm_dispatch_events;
    node->host = config->host;
    node->name = copy_text(config->name);
    node->address = copy_text(config->address);
    node->cluster_name = copy_text(config->cluster_name);
    node->cluster = config->cluster;
    node->contacts = lbm_copy(config->contacts, config->n_contacts, sizeof *node->contacts);
    node->n_contacts = config->n_contacts;
    node->version = copy_text(config->version);
    node->capacity = config->capacity;
    node->links = lbm_alloc(config->n_links, sizeof *node->links);
    node->n_links = config->n_links;
    node->hop_us = config->hop_us;
    node->copies = config->copies;
    node->m = config->m == 3 ? 3 : 2;
    node->leader = is_local && config->leader;
    node->may_found = !is_local && config->leader;
    node->leader_host = is_local && !config->leader ? config->contacts[0].host : config->host;
    node->fetch_host = node->doubted_by = node->followed = node->silent_host = LBM_NONE;
    node->join_host = node->leader_host;
    node->log_compact_min = config->log_compact_min;
    node->large_members = config->large_members;
    node->protocol_most = config->protocol_most != 0 ? config->protocol_most : LBM_PROTOCOL_MOST;
    node->tree_hosts = config->tree_hosts;
    LBM_ASSERT(config->blob_piece <= LBM_BLOB_PIECE_MAX);
    node->blob_piece = config->blob_piece != 0 ? config->blob_piece : LBM_BLOB_PIECE_MAX;
    node->blobs_us = INT64_MAX;
    node->vertices_max = config->vertices_max;
    node->policy = config->policy;
    node->schedule = config->schedule;
    node->tombstone_us = config->tombstone_us != 0 ? config->tombstone_us : TOMBSTONE_US;
    node->engine = node->configured = config->engine;
    node->ensemble.ability = config->etcd;
    node->ensemble.report.leader = LBM_NONE;
    node->views = config->views;
    node->evict_share = config->evict_share;
    LBM_ASSERT(config->n_operators <= LBM_OPERATORS_MAX);
    node->operators_of.n = config->n_operators;
    if (config->n_operators != 0)
        memcpy(node->operators_of.host, config->operators, config->n_operators * sizeof *config->operators);
    snprintf(node->failure_domain, sizeof node->failure_domain, "%s",
             config->failure_domain != NULL ? config->failure_domain : "");
    node->has_site = config->site != NULL;
    if (config->site != NULL)
        memcpy(node->site, config->site, node->m * sizeof *node->site);
    node->programs_run = config->programs;
    node->uid = config->uid;
    node->program_grace_us = config->program_grace_us != 0 ? config->program_grace_us : PROGRAM_GRACE_US;
    lbm_rng_seed(&node->rng, config->seed);
    node->incarnation = 1;
    node->network.here = lbm_coordinate_start();
    node->append_token = lbm_rng_next(&node->rng); /* no answer to an earlier life's append fits */
    node->life = node->append_token;
    if (node->name == NULL || node->address == NULL || node->cluster_name == NULL || node->contacts == NULL ||
        node->version == NULL || node->links == NULL) {
        lbm_node_free(node);
        return LBM_E_NOMEM;
    }
    for (size_t i = 0; i < config->n_links; i++)
        node->links[i] = (struct lbm_link){config->host, config->links[i].host, config->links[i].cost};
    *out = node;
    return LBM_OK;
}

void
lbm_node_free(struct lbm_node *node)
{
    if (node == NULL)
        return;
    lbm_job_free_all(node);
    while (node->uploads.n != 0)
        lbm_job_submit_gone(node, node->uploads.at[0]->client);
    lbm_vec_free(&node->uploads);
    lbm_job_ingest_free(node);
    while (node->collections.n != 0)
        lbm_client_query_gone(node, node->collections.at[0]->client);
    lbm_vec_free(&node->collections);
    lbm_client_admin_free(node);
    lbm_client_recover_free(node);
    lbm_client_cut_free(node);
    lbm_blobs_free(node);
    lbm_migration_moves_free(node);
    lbm_migration_offer_checks_free(node);
    for (size_t i = 0; i < node->log.n; i++)
        free(node->log.at[i].command);
    lbm_vec_free(&node->log);
    lbm_vec_free(&node->log_waits);
    lbm_vec_free(&node->log_untrue);
    lbm_vec_free(&node->log_words);
    for (size_t i = 0; i < node->appends.n; i++)
        free(node->appends.at[i].command);
    lbm_vec_free(&node->appends);
    for (size_t i = 0; i < node->peers.n; i++)
        lbm_vec_free(&node->peers.at[i].suspectors);
    lbm_vec_free(&node->peers);
    lbm_idmap_free(&node->peer_at);
    lbm_vec_free(&node->watched);
    lbm_membership_network_free(node);
    lbm_vec_free(&node->doubted);
    lbm_vec_free(&node->met);
    lbm_replication_replicas_free(node);
    for (unsigned k = 0; k < LBM_COPIES_MAX; k++)
        lbm_vec_free(&node->replication.log[k].changes);
    lbm_vec_free(&node->takeovers);
    lbm_vec_free(&node->due);
    lbm_vec_free(&node->applications);
    lbm_vec_free(&node->checkpoints);
    lbm_vec_free(&node->places);
    lbm_vec_free(&node->programs);
    lbm_vec_free(&node->watches);
    for (size_t i = 0; i < node->early_output.n; i++)
        free(node->early_output.at[i].bytes);
    lbm_vec_free(&node->early_output);
    lbm_vec_free(&node->id_waits);
    lbm_vec_free(&node->edge_answers);
    lbm_vec_free(&node->evictions);
    lbm_vec_free(&node->maintenances);
    lbm_view_free(&node->view);
    if (node->incoming != NULL)
        lbm_view_free(node->incoming);
    free(node->incoming);
    lbm_vec_free(&node->incoming_snapshot);
    lbm_vec_free(&node->chains);
    lbm_vec_free(&node->promotion.awaited);
    lbm_vec_free(&node->ensemble.avoided);
    if (node->open != NULL)
        lbm_persist_free(node->open);
    free(node->links);
    free(node->name);
    free(node->address);
    free(node->cluster_name);
    free(node->contacts);
    free(node->version);
    free(node);
}

static void
on_start(struct lbm_node *node, struct lbm_recovered *recovered)
{
    node->started_us = node->now_us;
    if (recovered->known) {
        if (recovered->host != node->host) {
            lbm_core_note(node, LBM_NOTE_ERROR,
                          "the database belongs to host %" PRIu32 ", the configuration says %" PRIu32,
                          recovered->host, node->host);
            lbm_core_fail(node, LBM_E_CORRUPT);
            return;
        }
        node->incarnation = recovered->incarnation;
    } else {
        struct lbm_persist_op op = {.kind = LBM_PERSIST_SELF};
        op.as.self.host = node->host;
        op.as.self.incarnation = node->incarnation;
        lbm_core_persist(node, op);
    }
    for (size_t i = 0; i < recovered->takeovers.n; i++)
        if (lbm_vec_push(&node->takeovers, recovered->takeovers.at[i]) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    lbm_replication_start(node, recovered);
    lbm_replication_replicas_start(node, recovered);
    lbm_blobs_start(node, recovered);
    lbm_job_recover(node, recovered);
    node->starting = 1;
    if (node->failed == LBM_OK)
        lbm_log_start(node, recovered);
    node->starting = 0;
    if (node->cluster != 0 && node->view.cluster != 0 && node->view.cluster != node->cluster) {
        lbm_core_note(node, LBM_NOTE_ERROR,
                      "the database belongs to cluster %016" PRIx64 ", the certificate to %016" PRIx64,
                      node->view.cluster, node->cluster);
        lbm_core_fail(node, LBM_E_CORRUPT);
    }
    if (node->failed == LBM_OK)
        lbm_membership_start(node);
}

typedef void (*message_handler)(struct lbm_node *node, const Lbm__Peer *message);

static const struct {
    Lbm__Peer__BodyCase body;
    /* ANYONE: also from hosts that are no members; LIVING: only while this host may act. */
    enum { ANYONE = 1, LIVING = 2 } when;
    message_handler handler;
} handlers[] = {
    {LBM__PEER__BODY_HELLO, ANYONE, lbm_membership_on_hello},
    {LBM__PEER__BODY_PING, 0, lbm_membership_on_ping},
    {LBM__PEER__BODY_LOG_FETCH, ANYONE, lbm_log_on_fetch},
    {LBM__PEER__BODY_LOG_ENTRIES, ANYONE, lbm_log_on_entries},
    {LBM__PEER__BODY_LOG_APPEND, ANYONE, lbm_log_on_append},
    {LBM__PEER__BODY_LOG_SNAPSHOT, ANYONE, lbm_log_on_snapshot},
    {LBM__PEER__BODY_LOG_POLL, ANYONE, lbm_log_on_poll},
    {LBM__PEER__BODY_LOG_POSITION, ANYONE, lbm_log_on_position},
    {LBM__PEER__BODY_LOG_RESULT, ANYONE, lbm_log_on_result},
    {LBM__PEER__BODY_LEASE_REQ, LIVING, lbm_replication_on_lease_req},
    {LBM__PEER__BODY_LEASE, LIVING, lbm_replication_on_lease},
    {LBM__PEER__BODY_REPL, LIVING, lbm_replication_on_repl},
    {LBM__PEER__BODY_REPL_ACK, LIVING, lbm_replication_on_repl_ack},
    {LBM__PEER__BODY_WHERE, LIVING, lbm_mapping_on_where},
    {LBM__PEER__BODY_GHOSTS, LIVING, lbm_mapping_on_ghosts},
    {LBM__PEER__BODY_EDGES, LIVING, lbm_application_on_edges},
    {LBM__PEER__BODY_EDGES_DONE, LIVING, lbm_application_on_edges_done},
    {LBM__PEER__BODY_PLACE, LIVING, lbm_application_on_place},
    {LBM__PEER__BODY_POST, LIVING, lbm_application_on_post},
    {LBM__PEER__BODY_PROGRAM_OUTPUT, LIVING, lbm_application_on_output},
    {LBM__PEER__BODY_BLOB_GET, LIVING, lbm_blobs_on_get},
    {LBM__PEER__BODY_BLOB_PIECE, LIVING, lbm_blobs_on_piece},
    {LBM__PEER__BODY_BLOB_HAVE, LIVING, lbm_migration_on_blob_have},
    {LBM__PEER__BODY_BLOB_HAVE, LIVING, lbm_replication_on_blob_have},
    {LBM__PEER__BODY_MOVED, LIVING, lbm_mapping_on_moved},
    {LBM__PEER__BODY_OFFER, LIVING, lbm_migration_on_offer},
    {LBM__PEER__BODY_OFFER_CHECK, LIVING, lbm_migration_on_offer_check},
    {LBM__PEER__BODY_OFFER_CLAIMS, LIVING, lbm_migration_on_offer_claims},
    {LBM__PEER__BODY_ANSWER, LIVING, lbm_migration_on_answer},
    {LBM__PEER__BODY_FIN, LIVING, lbm_migration_on_fin},
    {LBM__PEER__BODY_PAIR_OPEN, LIVING, lbm_exchange_on_pair_open},
    {LBM__PEER__BODY_PAIR_ACCEPT, LIVING, lbm_exchange_on_pair_accept},
    {LBM__PEER__BODY_PAIR_PLAN, LIVING, lbm_exchange_on_pair_plan},
    {LBM__PEER__BODY_PAIR_NOTICE, LIVING, lbm_exchange_on_pair_notice},
    {LBM__PEER__BODY_FLOW, LIVING, lbm_exchange_on_flow},
    {LBM__PEER__BODY_TRANSFER, LIVING, lbm_migration_on_transfer},
    {LBM__PEER__BODY_STATS, LIVING, lbm_mapping_on_stats},
    {LBM__PEER__BODY_NORMALIZATION, LIVING, lbm_mapping_on_normalization},
    {LBM__PEER__BODY_SUMS, LIVING, lbm_mapping_on_sums},
    {LBM__PEER__BODY_WAVES, LIVING, lbm_mapping_on_waves},
    {LBM__PEER__BODY_LABELS, LIVING, lbm_mapping_on_labels},
    {LBM__PEER__BODY_SLICE_BEGIN, LIVING, lbm_job_on_slice_begin},
    {LBM__PEER__BODY_SLICE_ANSWER, LIVING, lbm_job_on_slice_answer},
    {LBM__PEER__BODY_SLICE_READY, LIVING, lbm_job_on_slice_ready},
    {LBM__PEER__BODY_SLICE_ROWS, LIVING, lbm_job_on_slice_rows},
    {LBM__PEER__BODY_SLICE_TAKEN, LIVING, lbm_job_on_slice_taken},
    {LBM__PEER__BODY_MAP_QUERY, 0, lbm_client_on_map_query},
    {LBM__PEER__BODY_MAP_CHUNK, 0, lbm_client_on_map_chunk},
};

size_t
lbm_node_contacts(const struct lbm_node *node, struct lbm_node_contact *contacts, size_t max)
{
    size_t n = 0, members = node->view.members.n, first = 0;
    while (first < members && node->view.members.at[first].host <= node->host)
        first++;
    for (size_t i = 0; i < members && n < max; i++) {
        const struct lbm_member *member = &node->view.members.at[(first + i) % members];
        if (member->host == node->host || !lbm_view_participates(member))
            continue;
        contacts[n].host = member->host;
        snprintf(contacts[n++].address, sizeof contacts->address, "%s", member->address);
    }
    return n;
}

const char *
lbm_node_address(const struct lbm_node *node, uint32_t host)
{
    const struct lbm_member *member = lbm_view_member(&node->view, host);
    return member != NULL ? member->address : NULL;
}

int
lbm_node_revoked(const struct lbm_node *node, uint32_t host)
{
    return lbm_view_revoked(&node->view, host);
}

int
lbm_node_revoked_user(const struct lbm_node *node, const char *name, uint64_t made_s)
{
    return lbm_view_revoked_user(&node->view, name, made_s);
}

const char *
lbm_node_cluster_name(const struct lbm_node *node)
{
    return node->view.cluster_name;
}

int
lbm_node_is_member(const struct lbm_node *node)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    return self != NULL && self->incarnation == node->incarnation &&
           (self->state == LBM_MEMBER_ACTIVE || self->state == LBM_MEMBER_DRAINING);
}

uint64_t
lbm_node_view(const struct lbm_node *node)
{
    return node->view.index;
}

/* protocol.md section 1: drop what names the wrong destination, cluster, or an older incarnation. */
int
lbm_node_accepts(const struct lbm_node *node, const Lbm__Peer *message)
{
    if (message->dst != node->host || message->src == node->host || message->src >= LBM_HOSTS_MAX ||
        lbm_view_revoked(&node->view, message->src))
        return 0;
    int is_hello = message->body_case == LBM__PEER__BODY_HELLO; /* it may not know yet who this is */
    if (message->dst_incarnation != 0 && message->dst_incarnation != node->incarnation && !is_hello &&
        !LBM_BUG(ANY_DESTINATION_INCARNATION))
        return 0;
    if (message->cluster != 0 && node->view.cluster != 0 && message->cluster != node->view.cluster)
        return 0;
    /* A host with a disk from before a reset learns from the log what became of it. */
    int only_asks = message->body_case == LBM__PEER__BODY_LOG_POLL && !message->log_poll->promise &&
                    !message->log_poll->take;
    if (is_hello || only_asks || message->body_case == LBM__PEER__BODY_LOG_FETCH)
        return 1;
    const struct lbm_member *source = lbm_view_member(&node->view, message->src);
    return source == NULL || message->src_incarnation >= source->incarnation;
}

static void
on_message(struct lbm_node *node, const Lbm__Peer *message, size_t bytes)
{
    if (!lbm_node_accepts(node, message)) {
        lbm_log_stranger(node, message);
        return;
    }
    node->n_received++;
    node->bytes_received += bytes;
    int is_member = lbm_view_member(&node->view, message->src) != NULL;
    if (message->body_case != LBM__PEER__BODY_HELLO && lbm_membership_is_foreign(node, message->src))
        return;
    if (is_member) {
        struct peer *peer = lbm_membership_peer_of(node, message->src);
        if (peer != NULL && (peer->diverged == 0 || peer->diverged != message->src_incarnation))
            peer->heard_us = node->now_us;
    } else {
        lbm_membership_outsider_heard(node, message->src);
    }
    /* A host that does not know that it is evicted must not be listened to: its successor speaks for it. */
    int has_departed = lbm_view_departed(&node->view, message->src, message->src_incarnation) != NULL &&
                       (message->body_case != LBM__PEER__BODY_REPL || !LBM_BUG(REPLICATE_FOR_EVICTED));
    lbm_log_forced_tell(node, message);
    if (message->view > node->view.index)
        lbm_log_view_heard(node, message);
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (handlers[i].body == message->body_case && (is_member || handlers[i].when == ANYONE) &&
            (handlers[i].when != LIVING || (lbm_local_is_alive(node) && !has_departed)))
            handlers[i].handler(node, message);
}

static void
on_persisted(struct lbm_node *node, uint64_t id)
{
    LBM_ASSERT(id <= node->persist_id);
    if (id > node->persisted)
        node->persisted = id;
    if (node->persisted >= node->soft_after)
        node->soft_held = 0;
    lbm_job_forget_removed(node);
    lbm_replication_takeover_persisted(node);
    lbm_log_persisted(node);
}

static void
on_peer_down(struct lbm_node *node, uint32_t host)
{
    struct peer *peer = lbm_membership_peer_of(node, host);
    if (peer != NULL)
        peer->connected = peer->is_behind = 0;
    if (host == node->leader_host)
        node->leader_clock_us = 0; /* it may begin again, with another clock */
}

static void
on_peer_behind(struct lbm_node *node, uint32_t host, int is_behind)
{
    struct peer *peer = lbm_membership_peer_of(node, host);
    if (peer != NULL)
        peer->is_behind = is_behind;
}

/* Timers are cheap to look at, and an event may have made one due. */
static void
look_at_timers(struct lbm_node *node)
{
    lbm_log_timer(node);
    lbm_membership_detector_timer(node);
    if (node->now_us >= node->ping_us) {
        lbm_client_summary_timer(node);
        lbm_client_alerts_timer(node);
        lbm_client_admin_timer(node);
    }
    lbm_membership_timer(node);
    lbm_replication_takeover_timer(node);
    lbm_migration_offer_check_timer(node);
    lbm_job_timer(node);
    lbm_membership_drain_timer(node);
    lbm_membership_maintenance_timer(node);
    lbm_application_timer(node);
    lbm_application_ids_timer(node);
    lbm_application_programs_timer(node);
    lbm_application_watch_timer(node);
    lbm_application_unserved_timer(node);
    lbm_application_places_timer(node);
    lbm_client_query_timer(node);
    lbm_client_recover_timer(node);
    lbm_client_cut_timer(node);
    lbm_replication_timer(node);
    lbm_blobs_timer(node);
}

enum lbm_err
lbm_node_step(struct lbm_node *node, const struct lbm_event *event, struct lbm_effects *effects)
{
    LBM_ASSERT(event->now_us >= node->now_us);
    node->now_us = event->now_us;
    node->out = effects;
    node->failed = LBM_OK;
    lbm_membership_detector_step(node);
    switch (event->kind) {
    case LBM_EVENT_START:
        on_start(node, event->as.recovered);
        break;
    case LBM_EVENT_PEER_UP:
        lbm_membership_connected(node, event->as.peer);
        break;
    case LBM_EVENT_PEER_DOWN:
        on_peer_down(node, event->as.peer);
        break;
    case LBM_EVENT_PEER_BEHIND:
        on_peer_behind(node, event->as.behind.host, event->as.behind.is_behind);
        break;
    case LBM_EVENT_MESSAGE:
        on_message(node, event->as.received.message, event->as.received.bytes);
        break;
    case LBM_EVENT_PERSISTED:
        on_persisted(node, event->as.persisted);
        break;
    case LBM_EVENT_PLANNED:
        lbm_job_on_planned(node, event);
        break;
    case LBM_EVENT_REQUEST:
        lbm_client_on_request(node, event);
        break;
    case LBM_EVENT_CLIENT_GONE:
        lbm_job_submit_gone(node, event->as.client);
        lbm_client_query_gone(node, event->as.client);
        lbm_client_admin_gone(node, event->as.client);
        lbm_client_recover_gone(node, event->as.client);
        lbm_client_cut_gone(node, event->as.client);
        lbm_application_ids_gone(node, event->as.client);
        lbm_application_watch_gone(node, event->as.client);
        lbm_application_gone(node, event->as.client);
        break;
    case LBM_EVENT_CLIENT_READ:
        lbm_application_has_read(node, event->as.client);
        lbm_application_watch_has_read(node, event->as.client);
        break;
    case LBM_EVENT_CAPACITY:
        lbm_membership_on_capacity(node, event->as.left);
        break;
    case LBM_EVENT_DISK:
        node->disk_used = event->as.used;
        break;
    case LBM_EVENT_LOG_RESULT:
        lbm_log_on_external_result(node, event->as.log_result.index, event->as.log_result.result);
        break;
    case LBM_EVENT_LOG_ENTRIES:
        lbm_log_on_external_entries(node, event->as.log_entries.from, event->as.log_entries.command,
                                    event->as.log_entries.n, event->as.log_entries.caught_up);
        break;
    case LBM_EVENT_LOG_SNAPSHOT:
        lbm_log_on_external_snapshot(node, event->as.log_snapshot.index, &event->as.log_snapshot.view);
        break;
    case LBM_EVENT_LOG_OLDER:
        lbm_log_on_external_older(node, event->as.log_older);
        break;
    case LBM_EVENT_ENSEMBLE:
        lbm_log_on_ensemble(node, &event->as.ensemble);
        break;
    case LBM_EVENT_PROGRAM:
        lbm_application_on_program(node, event);
        break;
    case LBM_EVENT_BLOB_READ:
        lbm_blobs_on_read(node, event);
        break;
    case LBM_EVENT_TIMER:
    case LBM_EVENT_COUNT:
        break;
    }
    if (node->failed == LBM_OK) {
        look_at_timers(node);
        lbm_migration_flush(node);
    }
    lbm_core_persist_flush(node);
    node->out = NULL;
    node->expected_us = lbm_node_deadline(node);
    return node->failed;
}

static int64_t
earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t
lbm_node_deadline(const struct lbm_node *node)
{
    int64_t when = node->ping_us;
    when = earlier(when, lbm_log_deadline(node));
    when = earlier(when, lbm_job_deadline(node));
    when = earlier(when, lbm_migration_offer_check_deadline(node));
    when = earlier(when, lbm_client_query_deadline(node));
    when = earlier(when, lbm_client_cut_deadline(node));
    when = earlier(when, lbm_replication_deadline(node));
    when = earlier(when, lbm_replication_takeover_deadline(node));
    when = earlier(when, lbm_blobs_deadline(node));
    when = earlier(when, lbm_application_deadline(node));
    when = earlier(when, lbm_application_ids_deadline(node));
    when = earlier(when, lbm_application_places_deadline(node));
    when = earlier(when, lbm_application_programs_deadline(node));
    when = earlier(when, lbm_application_watch_deadline(node));
    when = earlier(when, lbm_application_unserved_deadline(node));
    when = earlier(when, lbm_membership_drain_deadline(node));
    when = earlier(when, lbm_membership_maintenance_deadline(node));
    return when;
}
