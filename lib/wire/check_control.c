/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "wire/rules.h"

/* ---- requests ----------------------------------------------------------------------------------- */

static const struct lbm_wire_table empty_table = TABLE_WITHOUT_RULES(lbm__empty__descriptor);

static const struct lbm_wire_rule jobs_request_rules[] = {{"name", NAME_OR_EMPTY}};
static const struct lbm_wire_table jobs_request_table =
    TABLE(jobs_request_rules, lbm__jobs_request__descriptor);

static const struct lbm_wire_rule submit_begin_rules[] = {
    {"name", NAME},
    {"vertices", VERTICES},
    {"edges", EDGES},
    {"start", SMALL_ENUM},
    {"imbalance", IMBALANCE},
    {"policy", SMALL_ENUM},
    {"schedule", SMALL_ENUM},
    {"parts", IN(0, LBM_PARTS_MAX)},
    {"part", IN(0, LBM_PARTS_MAX - 1)},
    {"first", VERTEX},
    {"rows", VERTICES},
    {"spread", FLAG},
    {"payloads", FLAG},
};
static const struct lbm_wire_rule job_change_rules[] = {{"job", NAME},
                                                        {"policy", SMALL_ENUM},
                                                        {"schedule", SMALL_ENUM},
                                                        {"gates", .nested = &lbm_wire_job_gates_table},
                                                        {"keeps_policy", FLAG}};
static const struct lbm_wire_table job_change_table = TABLE(job_change_rules, lbm__job_change__descriptor);

static const struct lbm_wire_table submit_begin_table =
    TABLE(submit_begin_rules, lbm__submit_begin__descriptor);

static const struct lbm_wire_rule submit_rows_rules[] = {
    {"work", SAME("degree"), WEIGHT, OR_EMPTY},
    {"pin", SAME("degree"), HOST_OR_NONE, OR_EMPTY},
    {"degree", UP_TO(LBM_FRAME_BYTES_MAX), IN(0, LBM_DEGREE_MAX)},
    {"neighbour", SUM("degree"), VERTEX},
    {"weight", SAME("neighbour"), WEIGHT, OR_EMPTY},
    {"payload_len", SAME("degree"), PAYLOAD, OR_EMPTY},
    {"payload", IN(0, LBM_FRAME_BYTES_MAX)},
    {"blob", SAME("degree"), FLAG, OR_EMPTY},
};
static const struct lbm_wire_table submit_rows_table = TABLE(submit_rows_rules, lbm__submit_rows__descriptor);

static const struct lbm_wire_rule map_request_rules[] = {
    {"job", NAME},
    {"positions", FLAG},
    {"edges", FLAG},
    {"owned", FLAG},
    {"since_host", UP_TO(LBM_HOSTS_MAX), HOST},
    {"since", SAME("since_host")},
    {"from", HOST},
    {"hold", SMALL_ENUM},
};
static const struct lbm_wire_table map_request_table = TABLE(map_request_rules, lbm__map_request__descriptor);

static const struct lbm_wire_rule locate_request_rules[] = {
    {"job", NAME},
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},
};
static const struct lbm_wire_table locate_request_table =
    TABLE(locate_request_rules, lbm__locate_request__descriptor);

static const struct lbm_wire_rule cancel_request_rules[] = {{"job", NAME}};
static const struct lbm_wire_table cancel_request_table =
    TABLE(cancel_request_rules, lbm__cancel_request__descriptor);

static const struct lbm_wire_rule host_change_rules[] = {
    {"action", SMALL_ENUM},
    {"host", HOST},
    {"lost", FLAG},
    {"capacity", REAL(0.0, DBL_MAX)},
    {"site", ONE_OF(0, 2, 3)},
    {"change_links", FLAG},
    {"link_host", UP_TO(LBM_HOSTS_MAX), HOST},
    {"link_cost", SAME("link_host"), COST},
    {"address", IN(0, LBM_ADDRESS_MAX)},
    {"duration_us", IN(0, LBM_MAINTENANCE_US_MAX)},
    {"reason", IN(0, LBM_REASON_MAX)},
    {"moves", FLAG},
};
static const struct lbm_wire_table host_change_table = TABLE(host_change_rules, lbm__host_change__descriptor);

static const struct lbm_wire_rule log_request_rules[] = {{"count", IN(0, LBM_LOG_LINES_MAX)}};
static const struct lbm_wire_table log_request_table = TABLE(log_request_rules, lbm__log_request__descriptor);

static const struct lbm_wire_rule promote_request_rules[] = {{"force", FLAG}};
static const struct lbm_wire_table promote_request_table =
    TABLE(promote_request_rules, lbm__promote_request__descriptor);

static const struct lbm_wire_table events_request_table =
    TABLE_WITHOUT_RULES(lbm__events_request__descriptor);

static const struct lbm_wire_rule attach_request_rules[] = {
    {"job", NAME},
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"token", SAME("vertex"), EPOCH},
    {"edges", FLAG},
    {"blobs", FLAG},
    {"moves", FLAG},
};
static const struct lbm_wire_table attach_request_table =
    TABLE(attach_request_rules, lbm__attach_request__descriptor);

static const struct lbm_wire_rule released_request_rules[] = {
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"token", SAME("vertex"), EPOCH},
    {"payload_len", SAME("vertex"), PAYLOAD, OR_EMPTY},
    {"payload", IN(0, LBM_FRAME_BYTES_MAX)},
    {"blob", SAME("vertex"), FLAG, OR_EMPTY},
};
static const struct lbm_wire_table released_request_table =
    TABLE(released_request_rules, lbm__released_request__descriptor);

static const struct lbm_wire_rule checkpoint_request_rules[] = {
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},  {"token", SAME("vertex"), EPOCH},
    {"payload_len", SAME("vertex"), PAYLOAD}, {"payload", IN(0, LBM_FRAME_BYTES_MAX)},
    {"blob", SAME("vertex"), FLAG, OR_EMPTY},
};
static const struct lbm_wire_table checkpoint_request_table =
    TABLE(checkpoint_request_rules, lbm__checkpoint_request__descriptor);

static const struct lbm_wire_rule load_request_rules[] = {
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"token", SAME("vertex"), EPOCH},
    {"load", SAME("vertex"), REAL(0.0, DBL_MAX)},
    {"known", FLAG},
};
static const struct lbm_wire_table load_request_table =
    TABLE(load_request_rules, lbm__load_request__descriptor);

static const struct lbm_wire_rule blob_put_rules[] = {
    {"digest", DIGEST},
    {"length", BLOB},
    {"piece", PIECE},
    {"data", IN(0, LBM_BLOB_PIECE_MAX)},
};
static const struct lbm_wire_table blob_put_table = TABLE(blob_put_rules, lbm__blob_put__descriptor);

static const struct lbm_wire_rule blob_read_rules[] = {
    {"digest", DIGEST},     {"length", BLOB}, {"first", PIECE}, {"count", IN(1, LBM_BLOB_PIECES_ASKED_MAX)},
    {"job", NAME_OR_EMPTY}, {"host", HOST}};
static const struct lbm_wire_table blob_read_table = TABLE(blob_read_rules, lbm__blob_read__descriptor);

static const struct lbm_wire_rule ids_request_rules[] = {{"count", IN(1, LBM_CHANGE_RECORDS_MAX)}};
static const struct lbm_wire_table ids_request_table = TABLE(ids_request_rules, lbm__ids_request__descriptor);

static const struct lbm_wire_rule change_request_rules[] = {
    {"vertex", UP_TO(LBM_CHANGE_RECORDS_MAX), VERTEX},
    {"token", SAME("vertex"), IN(0, INT64_MAX)},
    {"near", SAME("vertex"), VERTEX},
    {"work", SAME("vertex"), IN(0, LBM_WEIGHT_MAX)},
    {"removed", SAME("vertex"), FLAG},
    {"keeps", SAME("vertex"), FLAG},
    {"payload_len", SAME("vertex"), PAYLOAD},
    {"payload", IN(0, LBM_FRAME_BYTES_MAX)},
    {"end", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"other", SAME("end"), VERTEX},
    {"weight", SAME("end"), IN(0, LBM_WEIGHT_MAX)},
};
static const struct lbm_wire_table change_request_table =
    TABLE(change_request_rules, lbm__change_request__descriptor);

static const struct lbm_wire_rule explain_request_rules[] = {{"job", NAME}, {"vertex", VERTEX}};
static const struct lbm_wire_table explain_request_table =
    TABLE(explain_request_rules, lbm__explain_request__descriptor);

static const struct lbm_wire_rule admit_request_rules[] = {{"name", NAME_OR_EMPTY}};
static const struct lbm_wire_table admit_request_table =
    TABLE(admit_request_rules, lbm__admit_request__descriptor);

static const struct lbm_wire_rule revoke_request_rules[] = {{"host", HOST}};
static const struct lbm_wire_table revoke_request_table =
    TABLE(revoke_request_rules, lbm__revoke_request__descriptor);

static const struct lbm_wire_rule revoke_user_request_rules[] = {{"name", NAME},
                                                                 {"made_s", IN(1, INT64_MAX)}};
static const struct lbm_wire_table revoke_user_request_table =
    TABLE(revoke_user_request_rules, lbm__revoke_user_request__descriptor);

static const struct lbm_wire_rule enrol_request_rules[] = {
    {"secret", IN(0, LBM_ENROL_BYTES_MAX)},
    {"request", IN(1, LBM_ENROL_BYTES_MAX)},
    {"name", NAME_OR_EMPTY},
    {"wait", FLAG},
};
static const struct lbm_wire_table enrol_request_table =
    TABLE(enrol_request_rules, lbm__enrol_request__descriptor);

static const struct lbm_wire_rule log_move_request_rules[] = {{"place", IN(1, 2)}};
static const struct lbm_wire_table log_move_request_table =
    TABLE(log_move_request_rules, lbm__log_move_request__descriptor);
static const struct lbm_wire_rule recover_begin_rules[] = {{"job", NAME}, {"vertices", VERTICES}};
static const struct lbm_wire_table recover_begin_table =
    TABLE(recover_begin_rules, lbm__recover_begin__descriptor);

static const struct lbm_wire_rule recover_rows_rules[] = {
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"work", SAME("vertex"), WEIGHT},
    {"pin", SAME("vertex"), HOST_OR_NONE, OR_EMPTY},
    {"degree", SAME("vertex"), IN(0, LBM_DEGREE_MAX)},
    {"neighbour", SUM("degree"), VERTEX},
    {"weight", SAME("neighbour"), WEIGHT},
    {"payload_len", SAME("vertex"), PAYLOAD},
    {"payload", IN(0, LBM_FRAME_BYTES_MAX)},
};
static const struct lbm_wire_table recover_rows_table =
    TABLE(recover_rows_rules, lbm__recover_rows__descriptor);
static const struct lbm_wire_rule publish_request_rules[] = {{"note", IN(0, LBM_NOTE_BYTES_MAX)},
                                                             {"finished", FLAG}};
static const struct lbm_wire_table publish_request_table =
    TABLE(publish_request_rules, lbm__publish_request__descriptor);

static const struct lbm_wire_rule post_request_rules[] = {
    {"host", UP_TO(LBM_HOSTS_MAX), HOST},
    {"len", SAME("host"), IN(1, LBM_POST_BYTES_MAX)},
    {"data", IN(0, LBM_FRAME_BYTES_MAX)},
};
static const struct lbm_wire_table post_request_table =
    TABLE(post_request_rules, lbm__post_request__descriptor);

static const struct lbm_wire_rule run_request_rules[] = {
    {"job", NAME},
    {"action", SMALL_ENUM},
    {"arguments", IN(0, LBM_RUN_WORDS_MAX)},
    {"words", IN(0, LBM_RUN_BYTES_MAX)},
};
static const struct lbm_wire_table run_request_table = TABLE(run_request_rules, lbm__run_request__descriptor);

static const struct lbm_wire_rule request_rules[] = {
    {"status", .nested = &empty_table},
    {"hosts", .nested = &empty_table},
    {"jobs", .nested = &jobs_request_table},
    {"submit_begin", .nested = &submit_begin_table},
    {"submit_rows", .nested = &submit_rows_table},
    {"submit_end", .nested = &empty_table},
    {"map", .nested = &map_request_table},
    {"locate", .nested = &locate_request_table},
    {"cancel", .nested = &cancel_request_table},
    {"host_change", .nested = &host_change_table},
    {"log", .nested = &log_request_table},
    {"promote", .nested = &promote_request_table},
    {"events", .nested = &events_request_table},
    {"attach", .nested = &attach_request_table},
    {"released", .nested = &released_request_table},
    {"checkpoint", .nested = &checkpoint_request_table},
    {"job_change", .nested = &job_change_table},
    {"load", .nested = &load_request_table},
    {"explain", .nested = &explain_request_table},
    {"ids", .nested = &ids_request_table},
    {"change", .nested = &change_request_table},
    {"network", .nested = &empty_table},
    {"admit", .nested = &admit_request_table},
    {"revoke", .nested = &revoke_request_table},
    {"enrol", .nested = &enrol_request_table},
    {"revoke_user", .nested = &revoke_user_request_table},
    {"recover_begin", .nested = &recover_begin_table},
    {"recover_rows", .nested = &recover_rows_table},
    {"recover_end", .nested = &empty_table},
    {"log_move", .nested = &log_move_request_table},
    {"publish", .nested = &publish_request_table},
    {"post", .nested = &post_request_table},
    {"run", .nested = &run_request_table},
    {"blob_put", .nested = &blob_put_table},
    {"blob_read", .nested = &blob_read_table},
};
const struct lbm_wire_table lbm_wire_request_table = {
    .type = &lbm__request__descriptor,
    .rules = request_rules,
    .n_rules = sizeof request_rules / sizeof *request_rules,
    .body_required = 1,
};

/* ---- responses ---------------------------------------------------------------------------------- */

static const struct lbm_wire_rule alert_rules[] = {{"id", NAME}, {"text", TEXT}};
static const struct lbm_wire_table alert_table = TABLE(alert_rules, lbm__alert__descriptor);

static const struct lbm_wire_rule status_reply_rules[] = {
    {"host", HOST},
    {"name", NAME_OR_EMPTY},
    {"version", NAME_OR_EMPTY},
    {"cluster_name", NAME_OR_EMPTY},
    {"leader", HOST_OR_NONE},
    {"unreachable", UP_TO(LBM_HOSTS_MAX), HOST},
    {"backup", HOST_OR_NONE},
    {"awaited", UP_TO(LBM_HOSTS_MAX), HOST},
    {"deaf", UP_TO(LBM_HOSTS_MAX), HOST},
    {"state", NAME_OR_EMPTY},
    {"outside", UP_TO(LBM_APPLICANTS_MAX), HOST},
    {"outside_address", SAME("outside"), ADDRESS},
    {"alerts", UP_TO(LBM_ALERTS_MAX), .nested = &alert_table},
    {"log_external", FLAG},
    {"ensemble", UP_TO(LBM_ENSEMBLE_MAX), HOST},
    {"ensemble_answers", UP_TO(LBM_ENSEMBLE_MAX), HOST},
    {"ensemble_leader", HOST_OR_NONE},
    {"log_is_older", FLAG},
};
static const struct lbm_wire_table status_reply_table =
    TABLE(status_reply_rules, lbm__status_reply__descriptor);

static const struct lbm_wire_rule host_entry_rules[] = {
    {"host", HOST},
    {"name", NAME},
    {"address", ADDRESS},
    {"state", NAME},
    {"capacity", CAPACITY},
    {"site", ONE_OF(0, 2, 3)}, /* none while JOINING */
    {"link_host", UP_TO(LBM_HOSTS_MAX), HOST},
    {"link_cost", SAME("link_host"), COST},
    {"reachable", FLAG},
    {"failure_domain", NAME_OR_EMPTY},
    {"backup", HOST_OR_NONE},
    {"insync", FLAG},
    {"successor", HOST_OR_NONE},
    {"taken_over", FLAG},
    {"deaf", FLAG},
    {"maintenance_s", REAL(0.0, DBL_MAX)},
    {"maintenance_reason", IN(0, LBM_REASON_MAX)},
    {"second_backup", IN(0, LBM_HOSTS_MAX)},
};
static const struct lbm_wire_table host_entry_table = TABLE(host_entry_rules, lbm__host_entry__descriptor);

static const struct lbm_wire_rule hosts_reply_rules[] = {
    {"hosts", UP_TO(LBM_HOSTS_MAX), .nested = &host_entry_table},
};
static const struct lbm_wire_table hosts_reply_table = TABLE(hosts_reply_rules, lbm__hosts_reply__descriptor);

static const struct lbm_wire_rule network_entry_rules[] = {
    {"host", HOST},
    {"name", NAME},
    {"coordinate", COORDINATE},
    {"height", REAL(0.0, 1e9)},
    {"error", REAL(0.0, 1.0)},
    {"measured_us", REAL(0.0, DBL_MAX)},
    {"predicted_us", REAL(0.0, DBL_MAX)},
    {"link_host", UP_TO(LBM_HOSTS_MAX), HOST},
    {"link_cost", SAME("link_host")}, /* of a way through hosts that have gone: more than a link may have */
};
static const struct lbm_wire_table network_entry_table =
    TABLE(network_entry_rules, lbm__network_entry__descriptor);

static const struct lbm_wire_rule network_reply_rules[] = {
    {"host", HOST},
    {"hosts", UP_TO(LBM_HOSTS_MAX), .nested = &network_entry_table},
};
static const struct lbm_wire_table network_reply_table =
    TABLE(network_reply_rules, lbm__network_reply__descriptor);

static const struct lbm_wire_rule job_entry_rules[] = {
    {"name", NAME},
    {"phase", NAME},
    {"coordinator", HOST},
    {"vertices", VERTICES},
    {"edges", EDGES},
    {"start", SMALL_ENUM},
    {"imbalance_bound", IMBALANCE},
    {"host", UP_TO(LBM_HOSTS_MAX), HOST},
    {"host_load", SAME("host")},
    {"host_vertices", SAME("host"), VERTICES},
    {"settled", FLAG},
    {"policy", NAME_OR_EMPTY},
    {"policy_asked", NAME_OR_EMPTY},
    {"schedule", NAME_OR_EMPTY},
    {"policy_why", TEXT},
    {"gates", .nested = &lbm_wire_job_gates_table},
    {"missing", UP_TO(LBM_HOSTS_MAX), HOST},
    {"condition", SMALL_ENUM},
    {"state", NAME_OR_EMPTY}, /* of an earlier version */
    {"present", VERTICES},
    {"known", VERTICES},
    {"idle", VERTICES},
    {"reason", TEXT},
    {"imbalance_known", FLAG},
    {"heard_phase", NAME_OR_EMPTY}, /* of an earlier version */
    {"program_host", UP_TO(LBM_HOSTS_MAX), HOST},
    {"program_serves", SAME("program_host"), FLAG},
    {"program_state", SAME("program_host"), NAME_OR_EMPTY},
    {"program_why", SAME("program_host"), TEXT},
    {"program_runs", FLAG},
};
static const struct lbm_wire_table job_entry_table = TABLE(job_entry_rules, lbm__job_entry__descriptor);

static const struct lbm_wire_rule jobs_reply_rules[] = {
    {"jobs", UP_TO(LBM_JOBS_MAX), .nested = &job_entry_table},
};
static const struct lbm_wire_table jobs_reply_table = TABLE(jobs_reply_rules, lbm__jobs_reply__descriptor);

static const struct lbm_wire_rule map_reply_rules[] = {
    {"host", HOST_OR_NONE},
    {"vertices", VERTICES},
    {"dimensions", IN(0, LBM_DIMENSIONS_MAX)},
    {"records", .nested = &lbm_wire_map_records_table},
    {"region_host", UP_TO(LBM_HOSTS_MAX), HOST},
    {"region_weight", SAME("region_host")},
    {"missing", UP_TO(LBM_HOSTS_MAX), HOST},
    {"removed", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"next", HOST},
    {"torn", UP_TO(LBM_HOSTS_MAX), HOST},
};
static const struct lbm_wire_table map_reply_table = TABLE(map_reply_rules, lbm__map_reply__descriptor);

static const struct lbm_wire_rule locate_reply_rules[] = {
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"host", SAME("vertex"), HOST_OR_NONE},
    {"epoch", SAME("vertex")},
};
static const struct lbm_wire_table locate_reply_table =
    TABLE(locate_reply_rules, lbm__locate_reply__descriptor);

static const struct lbm_wire_rule log_line_rules[] = {{"text", TEXT}};
static const struct lbm_wire_table log_line_table = TABLE(log_line_rules, lbm__log_line__descriptor);

static const struct lbm_wire_rule log_reply_rules[] = {
    {"lines", UP_TO(LBM_LOG_LINES_MAX), .nested = &log_line_table}};
static const struct lbm_wire_table log_reply_table = TABLE(log_reply_rules, lbm__log_reply__descriptor);

static const struct lbm_wire_rule event_rules[] = {{"level", SMALL_ENUM}, {"text", TEXT}};
static const struct lbm_wire_table event_table = TABLE(event_rules, lbm__event__descriptor);

static const struct lbm_wire_rule events_reply_rules[] = {
    {"events", UP_TO(LBM_EVENTS_MAX), .nested = &event_table}};
static const struct lbm_wire_table events_reply_table =
    TABLE(events_reply_rules, lbm__events_reply__descriptor);

static const struct lbm_wire_rule neighbours_rules[] = {
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"token", SAME("vertex"), EPOCH},
    {"degree", SAME("vertex"), IN(0, LBM_DEGREE_MAX)},
    {"neighbour", SUM("degree"), VERTEX},
    {"weight", SAME("neighbour"), WEIGHT},
    {"host", SAME("neighbour"), HOST_OR_NONE, OR_EMPTY},
};
static const struct lbm_wire_table neighbours_table = TABLE(neighbours_rules, lbm__neighbours__descriptor);

static const struct lbm_wire_rule acquire_rules[] = {
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"token", SAME("vertex"), EPOCH},
    {"payload_len", SAME("vertex"), PAYLOAD, OR_EMPTY},
    {"payload", IN(0, LBM_FRAME_BYTES_MAX)},
    {"neighbours", .nested = &neighbours_table},
    {"blob", SAME("vertex"), FLAG, OR_EMPTY},
};
static const struct lbm_wire_table acquire_table = TABLE(acquire_rules, lbm__acquire__descriptor);

static const struct lbm_wire_rule blob_data_rules[] = {
    {"piece", PIECE}, {"data", IN(0, LBM_BLOB_PIECE_MAX)}, {"known", FLAG}};
static const struct lbm_wire_table blob_data_table = TABLE(blob_data_rules, lbm__blob_data__descriptor);

static const struct lbm_wire_rule release_rules[] = {
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"token", SAME("vertex"), EPOCH},
};
static const struct lbm_wire_table release_table = TABLE(release_rules, lbm__release__descriptor);

static const struct lbm_wire_rule explain_reply_rules[] = {
    {"vertex", VERTEX},
    {"host", HOST_OR_NONE},
    {"coordinator", HOST},
    {"moves", UP_TO(LBM_MOVES_ALL_MAX), .nested = &lbm_wire_move_table},
    {"missing", UP_TO(LBM_HOSTS_MAX), HOST},
};
static const struct lbm_wire_table explain_reply_table =
    TABLE(explain_reply_rules, lbm__explain_reply__descriptor);

static const struct lbm_wire_rule ids_reply_rules[] = {{"vertex", UP_TO(LBM_CHANGE_RECORDS_MAX), VERTEX}};
static const struct lbm_wire_table ids_reply_table = TABLE(ids_reply_rules, lbm__ids_reply__descriptor);

static const struct lbm_wire_rule admit_reply_rules[] = {{"host", HOST}};
static const struct lbm_wire_table admit_reply_table = TABLE(admit_reply_rules, lbm__admit_reply__descriptor);

static const struct lbm_wire_rule enrol_reply_rules[] = {
    {"certificate", IN(1, LBM_ENROL_BYTES_MAX)},
    {"cluster_name", NAME_OR_EMPTY},
    {"contact_host", UP_TO(LBM_CONTACTS_MAX), HOST},
    {"contact_address", SAME("contact_host"), ADDRESS},
};
static const struct lbm_wire_table enrol_reply_table = TABLE(enrol_reply_rules, lbm__enrol_reply__descriptor);

static const struct lbm_wire_rule places_rules[] = {
    {"host", UP_TO(LBM_HOSTS_MAX), HOST},  {"present", SAME("host"), FLAG},
    {"finished", SAME("host"), FLAG},      {"note", SAME("host"), IN(0, LBM_NOTE_BYTES_MAX)},
    {"name", SAME("host"), NAME_OR_EMPTY}, {"address", SAME("host"), IN(0, LBM_ADDRESS_MAX)},
};
static const struct lbm_wire_table places_table = TABLE(places_rules, lbm__places__descriptor);

static const struct lbm_wire_rule posted_rules[] = {{"host", HOST}, {"data", IN(1, LBM_POST_BYTES_MAX)}};
static const struct lbm_wire_table posted_table = TABLE(posted_rules, lbm__posted__descriptor);

static const struct lbm_wire_rule run_reply_rules[] = {
    {"host", HOST_OR_NONE}, {"name", NAME_OR_EMPTY},      {"data", IN(0, LBM_OUTPUT_BYTES_MAX)},
    {"state", SMALL_ENUM},  {"status", IN(0, UINT8_MAX)}, {"text", TEXT},
};
static const struct lbm_wire_table run_reply_table = TABLE(run_reply_rules, lbm__run_reply__descriptor);

static const struct lbm_wire_rule response_rules[] = {
    {"code", IN(0, LBM_ERR_COUNT - 1)},
    {"text", TEXT},
    {"last", FLAG},
    {"status", .nested = &status_reply_table},
    {"hosts", .nested = &hosts_reply_table},
    {"jobs", .nested = &jobs_reply_table},
    {"map", .nested = &map_reply_table},
    {"locate", .nested = &locate_reply_table},
    {"log", .nested = &log_reply_table},
    {"events", .nested = &events_reply_table},
    {"acquire", .nested = &acquire_table},
    {"release", .nested = &release_table},
    {"explain", .nested = &explain_reply_table},
    {"ids", .nested = &ids_reply_table},
    {"network", .nested = &network_reply_table},
    {"neighbours", .nested = &neighbours_table},
    {"admit", .nested = &admit_reply_table},
    {"enrol", .nested = &enrol_reply_table},
    {"places", .nested = &places_table},
    {"posted", .nested = &posted_table},
    {"run", .nested = &run_reply_table},
    {"blob", .nested = &blob_data_table},
};
/* A response without a body is an acknowledgement or an error. */
const struct lbm_wire_table lbm_wire_response_table = TABLE(response_rules, lbm__response__descriptor);
