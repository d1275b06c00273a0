/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who handles the events of core/events.h. */
#include "node/core/events.h"
#include "node/application/application.h"
#include "node/application/guest.h"
#include "node/client/client.h"
#include "node/core/core.h"
#include "node/dispatch/events.h"
#include "node/exchange/exchange.h"
#include "node/job/job.h"
#include "node/log/log.h"
#include "node/mapping/mapping.h"
#include "node/mapping/normalization.h"
#include "node/migration/migration.h"
#include "node/replication/replication.h"

const struct lbm_events lbm_dispatch_events = {
    .application_edges_learn = lbm_application_edges_learn,
    .application_ids_allotted = lbm_application_ids_allotted,
    .application_lease_lapsed = lbm_application_lease_lapsed,
    .application_ready = lbm_application_ready,
    .application_release = lbm_application_release,
    .client_event = lbm_client_event,
    .client_proposal_applied = lbm_client_proposal_applied,
    .client_proposal_given_up = lbm_client_proposal_given_up,
    .client_propose = lbm_client_propose,
    .exchange_flow_policy_changed = lbm_exchange_flow_policy_changed,
    .exchange_load_heard = lbm_exchange_load_heard,
    .exchange_load_report = lbm_exchange_load_report,
    .exchange_policy_tell_unknown = lbm_exchange_policy_tell_unknown,
    .exchange_vertex_arrived = lbm_exchange_vertex_arrived,
    .exchange_vertex_left = lbm_exchange_vertex_left,
    .job_created = lbm_job_created,
    .job_deleted = lbm_job_deleted,
    .job_enter = lbm_job_enter,
    .job_given_up = lbm_job_given_up,
    .job_is_ready = lbm_job_is_ready,
    .job_lost_all = lbm_job_lost_all,
    .job_plan_ask = lbm_job_plan_ask,
    .job_refused = lbm_job_refused,
    .job_slice_created = lbm_job_slice_created,
    .job_view_changed = lbm_job_view_changed,
    .log_append = lbm_log_append,
    .log_append_suspicion = lbm_log_append_suspicion,
    .log_confirm = lbm_log_confirm,
    .log_engine_leave = lbm_log_engine_leave,
    .log_fetch = lbm_log_fetch,
    .log_hand_over = lbm_log_hand_over,
    .log_store_deferred = lbm_log_store_deferred,
    .mapping_normalization_send = lbm_mapping_normalization_send,
    .mapping_remap_came = lbm_mapping_remap_came,
    .mapping_remap_holds = lbm_mapping_remap_holds,
    .mapping_remap_look = lbm_mapping_remap_look,
    .mapping_remap_withholds = lbm_mapping_remap_withholds,
    .migration_queue_pump = lbm_migration_queue_pump,
    .migration_throttle_changed = lbm_migration_throttle_changed,
    .replication_connected = lbm_replication_connected,
    .replication_covered = lbm_replication_covered,
    .replication_lease_tell = lbm_replication_lease_tell,
    .replication_push = lbm_replication_push,
    .replication_replicas_view_changed = lbm_replication_replicas_view_changed,
    .replication_begin_again = lbm_replication_begin_again,
    .replication_view_changed = lbm_replication_view_changed,
};
