/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "wire/rules.h"

/* ---- vertices ----------------------------------------------------------------------------------- */

/* The columns of a Records; `maybe` is OR_EMPTY where a column may be left out as a whole. */
#define RECORDS(rows_max, maybe)                                                                             \
    {"vertex", UP_TO(rows_max), VERTEX}, {"epoch", SAME("vertex"), EPOCH},                                   \
        {"work", SAME("vertex"), WEIGHT, maybe}, {"pin", SAME("vertex"), HOST_OR_NONE, maybe},               \
        {"anchored", SAME("vertex"), FLAG, maybe}, {"position", POINTS("vertex"), maybe},                    \
        {"degree", SAME("vertex"), IN(0, LBM_DEGREE_MAX), maybe},                                            \
        {"neighbour", SUM("degree"), VERTEX, maybe}, {"weight", SAME("neighbour"), WEIGHT, maybe},           \
        {"neighbour_host", SAME("neighbour"), HOST_OR_NONE, maybe},                                          \
        {"payload_len", SAME("vertex"), PAYLOAD, OR_EMPTY},                                                  \
    {                                                                                                        \
        "payload", IN(0, LBM_FRAME_BYTES_MAX)                                                                \
    }
#define COMPLETE .or_empty = 0

/* The columns that only a replica has. */
#define AS_OWNED(count)                                                                                      \
    {"stage", count, SMALL_ENUM}, {"peer", count, HOST_OR_NONE}, {"peer_incarnation", count},                \
        {"source", count, HOST_OR_NONE}, {"source_incarnation", count}, {"fin", count, FLAG},                \
    {                                                                                                        \
        "bare", count, FLAG                                                                                  \
    }
/* The last column of all. */
#define BLOB_COLUMN                                                                                          \
    {                                                                                                        \
        "blob", SAME("vertex"), FLAG, OR_EMPTY                                                               \
    }
#define NEWS                                                                                                 \
    {"news_degree", SAME("vertex"), IN(0, LBM_DEGREE_MAX), OR_EMPTY},                                        \
        {"news_vertex", SUM("news_degree"), VERTEX},                                                         \
        {"news_weight", SAME("news_vertex"), IN(0, LBM_WEIGHT_MAX)},                                         \
        {"news_host", SAME("news_vertex"), HOST_OR_NONE}, BLOB_COLUMN
#define NOT_AS_OWNED                                                                                         \
    AS_OWNED(UP_TO(0)), {"news_degree", UP_TO(0)}, {"news_vertex", UP_TO(0)}, {"news_weight", UP_TO(0)},     \
        {"news_host", UP_TO(0)}, BLOB_COLUMN

static const struct lbm_wire_rule batch_rules[] = {RECORDS(LBM_BATCH_VERTICES_MAX, COMPLETE), NOT_AS_OWNED};
static const struct lbm_wire_table batch_table = TABLE(batch_rules, lbm__records__descriptor);

static const struct lbm_wire_rule band_rules[] = {RECORDS(LBM_ROWS_MAX, COMPLETE), NOT_AS_OWNED};
static const struct lbm_wire_table band_table = TABLE(band_rules, lbm__records__descriptor);

static const struct lbm_wire_rule map_rules[] = {RECORDS(LBM_ROWS_MAX, OR_EMPTY), NOT_AS_OWNED};
const struct lbm_wire_table lbm_wire_map_records_table = TABLE(map_rules, lbm__records__descriptor);

static const struct lbm_wire_rule replica_rules[] = {RECORDS(LBM_CHANGE_RECORDS_MAX, COMPLETE),
                                                     AS_OWNED(SAME("vertex")), NEWS};
static const struct lbm_wire_table replica_table = TABLE(replica_rules, lbm__records__descriptor);

static const struct lbm_wire_rule repl_rules[] = {
    {"records", .nested = &replica_table},
    {"gone", UP_TO(LBM_BATCH_VERTICES_MAX), VERTEX},
    {"drop_job", FLAG},
};
static const struct lbm_wire_table repl_table = TABLE(repl_rules, lbm__repl__descriptor);
static const struct lbm_wire_table repl_ack_table = TABLE_WITHOUT_RULES(lbm__repl_ack__descriptor);
static const struct lbm_wire_table lease_req_table = TABLE_WITHOUT_RULES(lbm__lease_req__descriptor);

static const struct lbm_wire_rule lease_rules[] = {
    {"lease_us", IN(0, LBM_LEASE_US_MAX)}, {"rolled_back", FLAG}, {"unknown", UP_TO(LBM_UNKNOWN_JOBS_MAX)}};
static const struct lbm_wire_table lease_table = TABLE(lease_rules, lbm__lease__descriptor);

static const struct lbm_wire_rule where_rules[] = {{"vertex", UP_TO(LBM_BATCH_VERTICES_MAX), VERTEX}};
static const struct lbm_wire_table where_table = TABLE(where_rules, lbm__where__descriptor);

static const struct lbm_wire_rule ghosts_rules[] = {
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX}, {"epoch", SAME("vertex"), EPOCH},
    {"work", SAME("vertex"), WEIGHT},        {"toward", SAME("vertex"), VERTEX},
    {"position", POINTS("vertex")},
};
static const struct lbm_wire_table ghosts_table = TABLE(ghosts_rules, lbm__ghosts__descriptor);

static const struct lbm_wire_rule moved_rules[] = {
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"epoch", SAME("vertex")},
    {"host", SAME("vertex"), HOST_OR_NONE},
};
static const struct lbm_wire_table moved_table = TABLE(moved_rules, lbm__moved__descriptor);

static const struct lbm_wire_rule edges_rules[] = {
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"epoch", SAME("vertex"), EPOCH},
    {"stamp", SAME("vertex")},
    {"toward", SAME("vertex"), VERTEX},
    {"weight", SAME("vertex"), IN(0, LBM_WEIGHT_MAX)},
};
static const struct lbm_wire_table edges_table = TABLE(edges_rules, lbm__edges__descriptor);

static const struct lbm_wire_rule edges_done_rules[] = {
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX}, {"stamp", SAME("vertex")},
    {"toward", SAME("vertex"), VERTEX},      {"weight", SAME("vertex"), IN(0, LBM_WEIGHT_MAX)},
    {"gone", SAME("vertex"), FLAG},
};
static const struct lbm_wire_table edges_done_table = TABLE(edges_done_rules, lbm__edges_done__descriptor);

static const struct lbm_wire_rule offer_rules[] = {{"records", .nested = &batch_table, .required = 1},
                                                   {"retargeted", FLAG},
                                                   {"reason", UP_TO(LBM_BATCH_VERTICES_MAX), SMALL_ENUM},
                                                   {"gain_is_known", SAME("reason"), FLAG},
                                                   {"gain", SAME("reason"), OR_EMPTY}};
static const struct lbm_wire_table offer_table = TABLE(offer_rules, lbm__offer__descriptor);

static const struct lbm_wire_rule answer_rules[] = {
    {"vertex", UP_TO(LBM_BATCH_VERTICES_MAX), VERTEX},
    {"epoch", SAME("vertex"), EPOCH},
    {"refused", SAME("vertex"), FLAG},
};
static const struct lbm_wire_table answer_table = TABLE(answer_rules, lbm__answer__descriptor);

static const struct lbm_wire_rule fin_rules[] = {
    {"vertex", UP_TO(LBM_BATCH_VERTICES_MAX), VERTEX},
    {"epoch", SAME("vertex"), EPOCH},
};
static const struct lbm_wire_table fin_table = TABLE(fin_rules, lbm__fin__descriptor);

static const struct lbm_wire_rule offer_check_rules[] = {{"vertex", UP_TO(LBM_BATCH_VERTICES_MAX), VERTEX},
                                                         {"of", HOST}};
static const struct lbm_wire_table offer_check_table = TABLE(offer_check_rules, lbm__offer_check__descriptor);
static const struct lbm_wire_rule offer_claims_rules[] = {{"vertex", UP_TO(LBM_BATCH_VERTICES_MAX), VERTEX},
                                                          {"of", HOST}};
static const struct lbm_wire_table offer_claims_table =
    TABLE(offer_claims_rules, lbm__offer_claims__descriptor);

/* ---- exchange rounds -------------------------------------------------------------------------- */

static const struct lbm_wire_rule pair_open_rules[] = {{"numbers", FLAG}, {"due", FLAG}};
static const struct lbm_wire_table pair_open_table = TABLE(pair_open_rules, lbm__pair_open__descriptor);

static const struct lbm_wire_rule pair_accept_rules[] = {
    {"band", .nested = &band_table}, {"round_kind", SMALL_ENUM}, {"first", FLAG}};
static const struct lbm_wire_table pair_accept_table = TABLE(pair_accept_rules, lbm__pair_accept__descriptor);

static const struct lbm_wire_rule pair_plan_rules[] = {
    {"give", UP_TO(LBM_ROWS_MAX), VERTEX}, {"give_epoch", SAME("give"), EPOCH},
    {"take", UP_TO(LBM_ROWS_MAX), VERTEX}, {"take_epoch", SAME("take"), EPOCH},
    {"take_gain", SAME("take"), OR_EMPTY}, {"take_reason", SMALL_ENUM},
};
static const struct lbm_wire_table pair_plan_table = TABLE(pair_plan_rules, lbm__pair_plan__descriptor);

static const struct lbm_wire_rule pair_notice_rules[] = {{"kind", SMALL_ENUM},
                                                         {"stays", UP_TO(LBM_ROWS_MAX), VERTEX}};
static const struct lbm_wire_table pair_notice_table = TABLE(pair_notice_rules, lbm__pair_notice__descriptor);

/* ---- load policies ---------------------------------------------------------------------------- */

static const struct lbm_wire_rule flow_rules[] = {
    {"load", REAL(-1e18, 1e18)}, {"has_changed", FLAG}, {"final", FLAG}, {"again", FLAG}};
static const struct lbm_wire_table flow_table = TABLE(flow_rules, lbm__flow__descriptor);

static const struct lbm_wire_rule transfer_rules[] = {{"ask", FLAG}};
static const struct lbm_wire_table transfer_table = TABLE(transfer_rules, lbm__transfer__descriptor);

static const struct lbm_wire_rule job_policy_rules[] = {
    {"policy", SMALL_ENUM},
    {"asked", SMALL_ENUM},
    {"schedule", SMALL_ENUM},
    {"alpha", REAL(0.0, 1e6)},
    {"lambda", REAL(0.0, 1.0)},
    {"lambda_numerator", IN(0, 1000000000)},
    {"lambda_denominator", IN(0, 1000000000)},
    {"gamma", REAL(0.0, 1e6)},
    {"why", TEXT},
};
static const struct lbm_wire_table job_policy_table = TABLE(job_policy_rules, lbm__job_policy__descriptor);

static const struct lbm_wire_rule job_gates_rules[] = {
    {"given", IN(0, 15)},
    {"cooldown_s", REAL(0.0, LBM_GATE_SECONDS_MAX)},
    {"payback_s", REAL(0.0, LBM_GATE_SECONDS_MAX)},
    {"bytes_per_s", IN(0, LBM_GATE_BYTES_MAX)},
};
const struct lbm_wire_table lbm_wire_job_gates_table = TABLE(job_gates_rules, lbm__job_gates__descriptor);

/* ---- renormalization, collecting a mapping -------------------------------------------------------- */

/* For m = 2 and 3: 1 + m + m (m + 1) / 2 moments; m m + 2 m numbers of an affine map, or none. */
static const struct lbm_wire_rule stats_rules[] = {
    {"moments", ONE_OF(6, 10, 10)},
    {"sample_work", UP_TO(LBM_SAMPLE_MAX), WEIGHT},
    {"sample", POINTS("sample_work")},
};
static const struct lbm_wire_table stats_table = TABLE(stats_rules, lbm__stats__descriptor);

static const struct lbm_wire_rule sums_rules[] = {
    {"stage", IN(1, LBM_SUMS_STAGE_MAX)},
    {"value", UP_TO(LBM_SUMS_MAX)},
    {"sample_work", UP_TO(LBM_SUMS_SAMPLE_MAX), WEIGHT},
    {"sample", POINTS("sample_work")},
    {"part", IN(0, 3)},
};
static const struct lbm_wire_table sums_table = TABLE(sums_rules, lbm__sums__descriptor);

static const struct lbm_wire_rule waves_rules[] = {
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"hops", UP_TO(LBM_FRAME_BYTES_MAX), IN(0, 65535)},
};
static const struct lbm_wire_table waves_table = TABLE(waves_rules, lbm__waves__descriptor);

static const struct lbm_wire_rule labels_rules[] = {
    {"stage", IN(1, LBM_SUMS_STAGE_MAX)},
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"label", SAME("vertex"), HOST},
    {"host", UP_TO(LBM_HOSTS_MAX), HOST},
    {"work", SAME("host")},
    {"answers", IN(0, 1)},
    {"holders", IN(0, LBM_HOSTS_MAX)},
};
static const struct lbm_wire_table labels_table = TABLE(labels_rules, lbm__labels__descriptor);

static const struct lbm_wire_rule normalization_rules[] = {
    {"affine", ONE_OF(0, 8, 15)},
    {"host", UP_TO(LBM_HOSTS_MAX), HOST},
    {"weight", SAME("host")},
    {"fixed", FLAG},
};
static const struct lbm_wire_table normalization_table =
    TABLE(normalization_rules, lbm__normalization__descriptor);

static const struct lbm_wire_rule map_query_rules[] = {
    {"positions", FLAG}, {"edges", FLAG},      {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"moves", FLAG},     {"hold", SMALL_ENUM},
};
static const struct lbm_wire_table map_query_table = TABLE(map_query_rules, lbm__map_query__descriptor);

static const struct lbm_wire_rule move_rules[] = {
    {"epoch", EPOCH},       {"from", HOST},        {"to", HOST},
    {"reason", SMALL_ENUM}, {"state", SMALL_ENUM}, {"gain_is_known", FLAG},
};
const struct lbm_wire_table lbm_wire_move_table = TABLE(move_rules, lbm__move__descriptor);

static const struct lbm_wire_rule map_chunk_rules[] = {
    {"last", FLAG},
    {"records", .nested = &lbm_wire_map_records_table},
    {"moves", UP_TO(LBM_MOVES_TOLD_MAX), .nested = &lbm_wire_move_table},
    {"removed", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"torn", FLAG},
};
static const struct lbm_wire_table map_chunk_table = TABLE(map_chunk_rules, lbm__map_chunk__descriptor);

/* ---- control log -------------------------------------------------------------------------------- */

static const struct lbm_wire_rule found_rules[] = {
    {"cluster", IN(1, UINT64_MAX)},
    {"name", NAME},
    {"leader", HOST},
    {"dimensions", IN(2, LBM_DIMENSIONS_MAX)},
    {"external", FLAG},
    {"copies", IN(0, LBM_COPIES_MAX)},
};
static const struct lbm_wire_table found_table = TABLE(found_rules, lbm__found__descriptor);

static const struct lbm_wire_rule join_rules[] = {
    {"host", HOST},
    {"name", NAME},
    {"address", ADDRESS},
    {"capacity", CAPACITY},
    {"link_host", UP_TO(LBM_HOSTS_MAX), HOST},
    {"link_cost", SAME("link_host"), COST},
    {"failure_domain", NAME_OR_EMPTY},
    {"drains", FLAG},
};
static const struct lbm_wire_table join_table = TABLE(join_rules, lbm__join__descriptor);

static const struct lbm_wire_rule activate_rules[] = {{"host", HOST}, {"site", ONE_OF(2, 3, 3)}};
static const struct lbm_wire_table activate_table = TABLE(activate_rules, lbm__activate__descriptor);

static const struct lbm_wire_rule job_run_rules[] = {
    {"watcher", HOST},
    {"arguments", IN(0, LBM_RUN_WORDS_MAX)},
    {"words", IN(0, LBM_RUN_BYTES_MAX)},
};
static const struct lbm_wire_table job_run_table = TABLE(job_run_rules, lbm__job_run__descriptor);
static const struct lbm_wire_rule job_create_rules[] = {
    {"name", NAME},
    {"coordinator", HOST},
    {"vertices", VERTICES},
    {"edges", EDGES},
    {"start", SMALL_ENUM},
    {"imbalance", IMBALANCE},
    {"policy", .nested = &job_policy_table},
    {"gates", .nested = &lbm_wire_job_gates_table},
    {"ids", VERTICES},
    {"parts", IN(0, LBM_PARTS_MAX)},
    {"slice_host", UP_TO(LBM_PARTS_MAX), HOST},
    {"slice_incarnation", SAME("slice_host")},
    {"slice_first", SAME("slice_host"), VERTEX},
    {"run", .nested = &job_run_table},
};
static const struct lbm_wire_table job_create_table = TABLE(job_create_rules, lbm__job_create__descriptor);

static const struct lbm_wire_table job_delete_table = TABLE_WITHOUT_RULES(lbm__job_delete__descriptor);

static const struct lbm_wire_rule set_rules[] = {
    {"host", HOST},
    {"capacity", REAL(0.0, DBL_MAX)},
    {"site", ONE_OF(0, 2, 3)},
    {"link_host", UP_TO(LBM_HOSTS_MAX), HOST},
    {"link_cost", SAME("link_host"), COST},
    {"change_links", FLAG},
    {"address", IN(0, LBM_ADDRESS_MAX)},
};
static const struct lbm_wire_table set_table = TABLE(set_rules, lbm__set__descriptor);

static const struct lbm_wire_rule host_rules[] = {{"host", HOST}};
static const struct lbm_wire_table drain_table = TABLE(host_rules, lbm__drain__descriptor);
static const struct lbm_wire_table leave_table = TABLE(host_rules, lbm__leave__descriptor);
static const struct lbm_wire_table rejoin_table = TABLE(host_rules, lbm__rejoin__descriptor);
static const struct lbm_wire_table promote_table = TABLE(host_rules, lbm__promote__descriptor);

static const struct lbm_wire_rule evict_rules[] = {{"host", HOST}, {"lost", FLAG}};
static const struct lbm_wire_table evict_table = TABLE(evict_rules, lbm__evict__descriptor);

static const struct lbm_wire_rule change_backup_rules[] = {{"host", HOST}};
static const struct lbm_wire_table change_backup_table =
    TABLE(change_backup_rules, lbm__change_backup__descriptor);

static const struct lbm_wire_rule in_sync_rules[] = {{"host", HOST}, {"backup", HOST}};
static const struct lbm_wire_table in_sync_table = TABLE(in_sync_rules, lbm__in_sync__descriptor);

static const struct lbm_wire_rule take_over_rules[] = {{"successor", HOST}, {"host", HOST}};
static const struct lbm_wire_table take_over_table = TABLE(take_over_rules, lbm__take_over__descriptor);

static const struct lbm_wire_rule job_set_rules[] = {{"imbalance", IMBALANCE},
                                                     {"policy", .nested = &job_policy_table},
                                                     {"gates", .nested = &lbm_wire_job_gates_table},
                                                     {"run", .nested = &job_run_table}};
static const struct lbm_wire_table job_set_table = TABLE(job_set_rules, lbm__job_set__descriptor);

static const struct lbm_wire_rule allot_ids_rules[] = {{"host", HOST}, {"count", IN(1, LBM_IDS_MAX)}};
static const struct lbm_wire_table allot_ids_table = TABLE(allot_ids_rules, lbm__allot_ids__descriptor);
static const struct lbm_wire_rule slice_begin_rules[] = {
    {"create", .nested = &job_create_table, .required = 1},
    {"part", IN(0, LBM_PARTS_MAX - 1)},
    {"first", VERTEX},
    {"rows", VERTICES},
};
static const struct lbm_wire_table slice_begin_table = TABLE(slice_begin_rules, lbm__slice_begin__descriptor);
static const struct lbm_wire_rule slice_answer_rules[] = {{"refusal", TEXT}};
static const struct lbm_wire_table slice_answer_table =
    TABLE(slice_answer_rules, lbm__slice_answer__descriptor);
static const struct lbm_wire_rule slice_rows_rules[] = {
    {"begin", .nested = &slice_begin_table},
    {"degree", UP_TO(LBM_FRAME_BYTES_MAX), IN(0, LBM_DEGREE_MAX)},
    {"neighbour", SUM("degree"), VERTEX},
    {"weight", SAME("neighbour"), WEIGHT, OR_EMPTY},
    {"work", SAME("degree"), WEIGHT, OR_EMPTY},
    {"pin", SAME("degree"), HOST_OR_NONE, OR_EMPTY},
    {"last", FLAG},
};
static const struct lbm_wire_table slice_rows_table = TABLE(slice_rows_rules, lbm__slice_rows__descriptor);
static const struct lbm_wire_rule slice_taken_rules[] = {{"refusal", TEXT}};
static const struct lbm_wire_table slice_taken_table = TABLE(slice_taken_rules, lbm__slice_taken__descriptor);
static const struct lbm_wire_table slice_ready_table = TABLE_WITHOUT_RULES(lbm__slice_ready__descriptor);

static const struct lbm_wire_rule admit_rules[] = {{"host", HOST}};
static const struct lbm_wire_table admit_table = TABLE(admit_rules, lbm__admit__descriptor);
static const struct lbm_wire_rule revoke_rules[] = {{"host", HOST}};
static const struct lbm_wire_table revoke_table = TABLE(revoke_rules, lbm__revoke__descriptor);
static const struct lbm_wire_rule revoke_user_rules[] = {{"name", NAME}, {"made_s", IN(1, INT64_MAX)}};
static const struct lbm_wire_table revoke_user_table = TABLE(revoke_user_rules, lbm__revoke_user__descriptor);

static const struct lbm_wire_rule maintain_rules[] = {
    {"host", HOST},
    {"duration_us", IN(0, LBM_MAINTENANCE_US_MAX)},
    {"reason", IN(0, LBM_REASON_MAX)},
    {"moves", FLAG},
};
static const struct lbm_wire_table maintain_table = TABLE(maintain_rules, lbm__maintain__descriptor);
static const struct lbm_wire_rule ensemble_rules[] = {
    {"id", IN(1, UINT64_MAX)},
    {"step", SMALL_ENUM},
    {"host", UP_TO(LBM_ENSEMBLE_MAX), HOST},
    {"incarnation", SAME("host")},
};
static const struct lbm_wire_table ensemble_table = TABLE(ensemble_rules, lbm__ensemble__descriptor);
static const struct lbm_wire_rule log_move_rules[] = {{"place", SMALL_ENUM}, {"leader", HOST_OR_NONE}};
static const struct lbm_wire_table log_move_table = TABLE(log_move_rules, lbm__log_move__descriptor);
static const struct lbm_wire_rule job_recover_rules[] = {{"host", HOST}};
static const struct lbm_wire_table job_recover_table = TABLE(job_recover_rules, lbm__job_recover__descriptor);
static const struct lbm_wire_rule job_recovered_rules[] = {{"host", HOST}, {"done", FLAG}};
static const struct lbm_wire_table job_recovered_table =
    TABLE(job_recovered_rules, lbm__job_recovered__descriptor);

static const struct lbm_wire_rule command_rules[] = {
    {"found", .nested = &found_table},
    {"join", .nested = &join_table},
    {"activate", .nested = &activate_table},
    {"job_create", .nested = &job_create_table},
    {"job_delete", .nested = &job_delete_table},
    {"set", .nested = &set_table},
    {"drain", .nested = &drain_table},
    {"leave", .nested = &leave_table},
    {"evict", .nested = &evict_table},
    {"in_sync", .nested = &in_sync_table},
    {"take_over", .nested = &take_over_table},
    {"rejoin", .nested = &rejoin_table},
    {"job_set", .nested = &job_set_table},
    {"promote", .nested = &promote_table},
    {"change_backup", .nested = &change_backup_table},
    {"allot_ids", .nested = &allot_ids_table},
    {"admit", .nested = &admit_table},
    {"revoke", .nested = &revoke_table},
    {"revoke_user", .nested = &revoke_user_table},
    {"ensemble", .nested = &ensemble_table},
    {"log_move", .nested = &log_move_table},
    {"maintain", .nested = &maintain_table},
    {"job_recover", .nested = &job_recover_table},
    {"job_recovered", .nested = &job_recovered_table},
};
const struct lbm_wire_table lbm_wire_command_table = {
    .type = &lbm__command__descriptor,
    .rules = command_rules,
    .n_rules = sizeof command_rules / sizeof *command_rules,
    .body_required = 1,
};

static const struct lbm_wire_rule member_rules[] = {
    {"host", HOST},
    {"state", SMALL_ENUM},
    {"name", NAME},
    {"address", ADDRESS},
    {"failure_domain", NAME_OR_EMPTY},
    {"capacity", CAPACITY},
    {"site", ONE_OF(2, 3, 3)},
    {"link_host", UP_TO(LBM_HOSTS_MAX), HOST},
    {"link_cost", SAME("link_host"), COST},
    {"announced_address", ADDRESS},
    {"announced_capacity", CAPACITY},
    {"announced_link_host", UP_TO(LBM_HOSTS_MAX), HOST},
    {"announced_link_cost", SAME("announced_link_host"), COST},
    {"backup", HOST_OR_NONE},
    {"insync", FLAG},
    {"maintenance_us", IN(0, LBM_MAINTENANCE_US_MAX)},
    {"maintenance_moves", FLAG},
    {"maintenance_reason", IN(0, LBM_REASON_MAX)},
    {"second_backup", IN(0, LBM_HOSTS_MAX)},
    {"second_insync", FLAG},
};
static const struct lbm_wire_table member_table = TABLE(member_rules, lbm__snapshot_member__descriptor);

static const struct lbm_wire_rule departed_rules[] = {
    {"host", HOST},       {"evicted", FLAG},   {"successor", HOST_OR_NONE},
    {"taken_over", FLAG}, {"was", SMALL_ENUM}, {"reserve", IN(0, LBM_HOSTS_MAX)},
};
static const struct lbm_wire_table departed_table = TABLE(departed_rules, lbm__snapshot_departed__descriptor);

static const struct lbm_wire_rule snapshot_rules[] = {
    {"index", IN(1, INT64_MAX)},
    {"cluster", IN(1, UINT64_MAX)},
    {"name", NAME},
    {"leader", HOST},
    {"external", FLAG},
    {"dimensions", IN(2, LBM_DIMENSIONS_MAX)},
    {"members", UP_TO(LBM_HOSTS_MAX), .nested = &member_table},
    {"departed", UP_TO(LBM_DEPARTED_MAX), .nested = &departed_table},
    {"jobs", UP_TO(LBM_JOBS_MAX), .nested = &job_create_table},
    {"routable", FLAG},
    {"link_p", UP_TO(LBM_LINKS_MAX), HOST},
    {"link_q", SAME("link_p"), HOST},
    {"link_cost", SAME("link_p"), COST},
    {"unroutable", TEXT},
    {"next_host", IN(0, LBM_HOSTS_MAX)},
    {"revoked", UP_TO(LBM_HOSTS_MAX), HOST},
    {"revoked_users", UP_TO(LBM_REVOKED_USERS_MAX), .nested = &revoke_user_table},
    {"ensemble_host", UP_TO(LBM_ENSEMBLE_MAX), HOST},
    {"ensemble_incarnation", SAME("ensemble_host")},
    {"ensemble_since", SAME("ensemble_host")},
    {"log_place", SMALL_ENUM},
    {"copies", IN(0, LBM_COPIES_MAX)},
    {"request", UP_TO(LBM_REQUESTS_KEPT)},
    {"request_index", SAME("request")},
    {"request_refused", SAME("request"), FLAG},
};
const struct lbm_wire_table lbm_wire_snapshot_table = TABLE(snapshot_rules, lbm__snapshot__descriptor);

static const struct lbm_wire_rule log_fetch_rules[] = {{"diverged", FLAG}};
static const struct lbm_wire_table log_fetch_table = TABLE(log_fetch_rules, lbm__log_fetch__descriptor);

static const struct lbm_wire_rule log_entries_rules[] = {
    {"command", UP_TO(LBM_ROWS_MAX), COMMAND}, {"diverged", FLAG}, {"leader", HOST_OR_NONE}, {"gone", FLAG}};
static const struct lbm_wire_table log_entries_table = TABLE(log_entries_rules, lbm__log_entries__descriptor);

static const struct lbm_wire_rule log_snapshot_rules[] = {
    {"index", IN(1, INT64_MAX)},
    {"offset", IN(0, LBM_SNAPSHOT_BYTES_MAX)},
    {"total", IN(1, LBM_SNAPSHOT_BYTES_MAX)},
    {"data", IN(1, LBM_BATCH_BYTES_MAX)},
};
static const struct lbm_wire_table log_snapshot_table =
    TABLE(log_snapshot_rules, lbm__log_snapshot__descriptor);

static const struct lbm_wire_rule log_poll_rules[] = {{"promise", FLAG}, {"take", FLAG}};
static const struct lbm_wire_table log_poll_table = TABLE(log_poll_rules, lbm__log_poll__descriptor);
static const struct lbm_wire_rule log_position_rules[] = {
    {"leader", HOST_OR_NONE}, {"in_step", FLAG}, {"etcd", FLAG}};
static const struct lbm_wire_table log_position_table =
    TABLE(log_position_rules, lbm__log_position__descriptor);

static const struct lbm_wire_rule log_append_rules[] = {{"command", COMMAND}};
static const struct lbm_wire_table log_append_table = TABLE(log_append_rules, lbm__log_append__descriptor);

static const struct lbm_wire_rule log_result_rules[] = {{"accepted", FLAG}, {"leader", HOST_OR_NONE}};
static const struct lbm_wire_table log_result_table = TABLE(log_result_rules, lbm__log_result__descriptor);

/* ---- the whole ---------------------------------------------------------------------------------- */

static const struct lbm_wire_rule hello_rules[] = {{"name", NAME}, {"address", ADDRESS}};
static const struct lbm_wire_table hello_table = TABLE(hello_rules, lbm__hello__descriptor);

static const struct lbm_wire_rule load_report_rules[] = {
    {"phase", SMALL_ENUM}, {"vertices", VERTICES},     {"ready", FLAG},
    {"drifts", FLAG},      {"sum_vertices", VERTICES},
};
static const struct lbm_wire_table load_report_table = TABLE(load_report_rules, lbm__load_report__descriptor);

static const struct lbm_wire_rule ping_rules[] = {{"jobs", UP_TO(LBM_JOBS_MAX), .nested = &load_report_table},
                                                  {"suspect", UP_TO(LBM_HOSTS_MAX), HOST},
                                                  {"backup_lost", FLAG},
                                                  {"coordinate", COORDINATE},
                                                  {"height", REAL(0.0, 1e9)},
                                                  {"error", REAL(0.0, 1.0)},
                                                  {"slow", FLAG},
                                                  {"etcd", SMALL_ENUM},
                                                  {"idle", FLAG},
                                                  {"inherits", FLAG}};
static const struct lbm_wire_table ping_table = TABLE(ping_rules, lbm__ping__descriptor);

static const struct lbm_wire_rule place_rules[] = {
    {"present", FLAG},       {"finished", FLAG},           {"note", IN(0, LBM_NOTE_BYTES_MAX)},
    {"program", SMALL_ENUM}, {"status", IN(0, UINT8_MAX)}, {"why", TEXT},
    {"withdrawn", FLAG},
};
static const struct lbm_wire_table place_table = TABLE(place_rules, lbm__place__descriptor);
static const struct lbm_wire_rule post_rules[] = {{"data", IN(1, LBM_POST_BYTES_MAX)}};
static const struct lbm_wire_table post_table = TABLE(post_rules, lbm__post__descriptor);
static const struct lbm_wire_rule program_output_rules[] = {{"data", IN(1, LBM_OUTPUT_BYTES_MAX)}};
static const struct lbm_wire_table program_output_table =
    TABLE(program_output_rules, lbm__program_output__descriptor);

static const struct lbm_wire_rule blob_get_rules[] = {
    {"digest", DIGEST}, {"length", BLOB}, {"first", PIECE}, {"count", IN(1, LBM_BLOB_PIECES_ASKED_MAX)}};
static const struct lbm_wire_table blob_get_table = TABLE(blob_get_rules, lbm__blob_get__descriptor);
static const struct lbm_wire_rule blob_piece_rules[] = {
    {"digest", DIGEST}, {"length", BLOB}, {"piece", PIECE}, {"data", IN(0, LBM_BLOB_PIECE_MAX)}};
static const struct lbm_wire_table blob_piece_table = TABLE(blob_piece_rules, lbm__blob_piece__descriptor);
static const struct lbm_wire_rule blob_have_rules[] = {{"digest", DIGEST}, {"length", BLOB}};
static const struct lbm_wire_table blob_have_table = TABLE(blob_have_rules, lbm__blob_have__descriptor);

static const struct lbm_wire_rule peer_rules[] = {
    {"src", HOST},
    {"dst", HOST},
    {"hello", .nested = &hello_table},
    {"ping", .nested = &ping_table},
    {"log_fetch", .nested = &log_fetch_table},
    {"log_entries", .nested = &log_entries_table},
    {"log_append", .nested = &log_append_table},
    {"log_result", .nested = &log_result_table},
    {"lease_req", .nested = &lease_req_table},
    {"lease", .nested = &lease_table},
    {"repl", .nested = &repl_table},
    {"repl_ack", .nested = &repl_ack_table},
    {"ghosts", .nested = &ghosts_table},
    {"moved", .nested = &moved_table},
    {"offer", .nested = &offer_table},
    {"answer", .nested = &answer_table},
    {"fin", .nested = &fin_table},
    {"where", .nested = &where_table},
    {"log_snapshot", .nested = &log_snapshot_table},
    {"log_poll", .nested = &log_poll_table},
    {"log_position", .nested = &log_position_table},
    {"edges", .nested = &edges_table},
    {"pair_open", .nested = &pair_open_table},
    {"pair_accept", .nested = &pair_accept_table},
    {"pair_plan", .nested = &pair_plan_table},
    {"edges_done", .nested = &edges_done_table},
    {"pair_notice", .nested = &pair_notice_table},
    {"flow", .nested = &flow_table},
    {"transfer", .nested = &transfer_table},
    {"stats", .nested = &stats_table},
    {"normalization", .nested = &normalization_table},
    {"slice_begin", .nested = &slice_begin_table},
    {"slice_answer", .nested = &slice_answer_table},
    {"slice_ready", .nested = &slice_ready_table},
    {"sums", .nested = &sums_table},
    {"waves", .nested = &waves_table},
    {"map_query", .nested = &map_query_table},
    {"map_chunk", .nested = &map_chunk_table},
    {"labels", .nested = &labels_table},
    {"slice_rows", .nested = &slice_rows_table},
    {"slice_taken", .nested = &slice_taken_table},
    {"place", .nested = &place_table},
    {"post", .nested = &post_table},
    {"program_output", .nested = &program_output_table},
    {"blob_get", .nested = &blob_get_table},
    {"blob_piece", .nested = &blob_piece_table},
    {"blob_have", .nested = &blob_have_table},
    {"offer_check", .nested = &offer_check_table},
    {"offer_claims", .nested = &offer_claims_table},
};
const struct lbm_wire_table lbm_wire_peer_table = {
    .type = &lbm__peer__descriptor,
    .rules = peer_rules,
    .n_rules = sizeof peer_rules / sizeof *peer_rules,
    .body_required = 1,
};
