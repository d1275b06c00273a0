/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a room tells the rooms above it. A room calls the rooms below it by name; what happens in it that
 * rooms above act on is an event here. The dispatcher says who handles each (dispatch/events.c). Events are
 * handled at once, in the step that raises them: the order of decisions, messages and transactions depends on
 * it (docs/architecture.md). Members are named after the function that handles them. */
#ifndef LBM_NODE_CORE_EVENTS_H
#define LBM_NODE_CORE_EVENTS_H

#include "node/core/state.h"

struct lbm_events {
    /* raised by application */
    void (*replication_lease_tell)(struct lbm_node *node);
    /* raised by core */
    void (*client_event)(struct lbm_node *node, enum lbm_note_level level, const char *text);
    void (*log_store_deferred)(struct lbm_node *node);
    /* raised by exchange */
    void (*client_propose)(struct lbm_node *node, const struct client *client, const Lbm__Command *command);
    int (*mapping_remap_holds)(const struct lbm_node *node, const struct job *job);
    void (*mapping_remap_look)(struct lbm_node *node, struct job *job);
    int (*mapping_remap_withholds)(struct lbm_node *node, struct job *job);
    /* raised by exchange, mapping, migration, replication */
    void (*job_enter)(struct lbm_node *node, struct job *job, enum lbm_phase phase);
    /* raised by log */
    void (*application_ids_allotted)(struct lbm_node *node, const Lbm__AllotIds *allot, const char *refusal);
    void (*application_lease_lapsed)(struct lbm_node *node);
    void (*client_proposal_applied)(struct lbm_node *node, const Lbm__Command *command, const char *refusal);
    void (*client_proposal_given_up)(struct lbm_node *node, uint64_t token, int is_unknown);
    void (*exchange_flow_policy_changed)(struct lbm_node *node, uint64_t job);
    void (*exchange_policy_tell_unknown)(struct lbm_node *node, const struct lbm_job_entry *entry);
    void (*job_deleted)(struct lbm_node *node, uint64_t id);
    void (*job_given_up)(struct lbm_node *node, uint64_t id, uint64_t at);
    void (*job_refused)(struct lbm_node *node, const Lbm__JobCreate *create, const char *why);
    void (*job_slice_created)(struct lbm_node *node, const Lbm__JobCreate *create);
    void (*log_engine_leave)(struct lbm_node *node);
    void (*replication_begin_again)(struct lbm_node *node);
    void (*migration_throttle_changed)(struct lbm_node *node, const Lbm__JobSet *set);
    /* raised by log, replication */
    void (*job_created)(struct lbm_node *node, const struct lbm_job_entry *entry);
    /* raised by mapping */
    void (*application_edges_learn)(struct job *job, uint32_t id, uint32_t host, uint32_t from);
    void (*job_plan_ask)(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                         enum lbm_start start);
    /* raised by membership */
    int (*log_hand_over)(struct lbm_node *node, const char *why, int or_draining);
    void (*exchange_load_heard)(struct lbm_node *node, struct job *job, uint32_t from,
                                const Lbm__LoadReport *load_report);
    void (*exchange_load_report)(const struct lbm_node *node, const struct job *job,
                                 Lbm__LoadReport *load_report);
    int (*job_is_ready)(const struct lbm_node *node, const struct job *job);
    void (*job_view_changed)(struct lbm_node *node, int topology_changed, int all);
    void (*log_append)(struct lbm_node *node, const Lbm__Command *command);
    void (*log_append_suspicion)(struct lbm_node *node, const Lbm__Command *command, uint32_t suspect);
    void (*log_confirm)(struct lbm_node *node);
    void (*log_fetch)(struct lbm_node *node);
    void (*mapping_normalization_send)(struct lbm_node *node, struct job *job, uint32_t host);
    uint32_t (*migration_queue_pump)(struct lbm_node *node, struct job *job);
    void (*replication_connected)(struct lbm_node *node, uint32_t host);
    void (*replication_replicas_view_changed)(struct lbm_node *node);
    void (*replication_view_changed)(struct lbm_node *node);
    /* raised by migration */
    void (*application_ready)(struct lbm_node *node, struct job *job);
    int (*application_release)(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex,
                               uint32_t to);
    void (*exchange_vertex_arrived)(struct lbm_node *node, struct job *job, uint32_t vertex);
    void (*exchange_vertex_left)(struct lbm_node *node, struct job *job);
    void (*mapping_remap_came)(struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex);
    /* raised by records */
    void (*replication_covered)(struct lbm_node *node, struct lbm_vertex *vertex);
    void (*replication_push)(struct lbm_node *node, uint64_t seq, uint64_t job, uint32_t vertex);
    /* raised by replication */
    void (*job_lost_all)(struct lbm_node *node);
};

#endif
