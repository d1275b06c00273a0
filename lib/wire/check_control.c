/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "wire/rules.h"

/* ---- requests ----------------------------------------------------------------------------------- */

static const struct lbm_wire_table empty_table = TABLE_WITHOUT_RULES(lbm__empty__descriptor);

static const struct lbm_wire_rule jobs_request_rules[] = {{"name", NAME_OR_EMPTY}};
static const struct lbm_wire_table jobs_request_table =
    TABLE(jobs_request_rules, lbm__jobs_request__descriptor);

static const struct lbm_wire_rule submit_begin_rules[] = {
    {"name", NAME}, {"vertices", VERTICES}, {"edges", EDGES}, {"start", SMALL_ENUM}, {"imbalance", IMBALANCE},
};
static const struct lbm_wire_table submit_begin_table =
    TABLE(submit_begin_rules, lbm__submit_begin__descriptor);

static const struct lbm_wire_rule submit_rows_rules[] = {
    {"work", SAME("degree"), WEIGHT, OR_EMPTY},
    {"pin", SAME("degree"), HOST_OR_NONE, OR_EMPTY},
    {"degree", UP_TO(LBM_FRAME_BYTES_MAX), IN(0, LBM_DEGREE_MAX)},
    {"neighbour", SUM("degree"), VERTEX},
    {"weight", SAME("neighbour"), WEIGHT, OR_EMPTY},
};
static const struct lbm_wire_table submit_rows_table = TABLE(submit_rows_rules, lbm__submit_rows__descriptor);

static const struct lbm_wire_rule map_request_rules[] = {
    {"job", NAME}, {"positions", FLAG}, {"edges", FLAG}, {"owned", FLAG}};
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
};
const struct lbm_wire_table lbm_wire_request_table = {
    .type = &lbm__request__descriptor,
    .rules = request_rules,
    .n_rules = sizeof request_rules / sizeof *request_rules,
    .body_required = 1,
};

/* ---- responses ---------------------------------------------------------------------------------- */

static const struct lbm_wire_rule status_reply_rules[] = {
    {"host", HOST},
    {"name", NAME_OR_EMPTY},
    {"version", NAME_OR_EMPTY},
    {"cluster_name", NAME_OR_EMPTY},
    {"founder", HOST},
    {"silent", UP_TO(LBM_HOSTS_MAX), HOST},
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
};
static const struct lbm_wire_table host_entry_table = TABLE(host_entry_rules, lbm__host_entry__descriptor);

static const struct lbm_wire_rule hosts_reply_rules[] = {
    {"hosts", UP_TO(LBM_HOSTS_MAX), .nested = &host_entry_table},
};
static const struct lbm_wire_table hosts_reply_table = TABLE(hosts_reply_rules, lbm__hosts_reply__descriptor);

static const struct lbm_wire_rule job_entry_rules[] = {
    {"name", NAME},
    {"phase", NAME},
    {"home", HOST},
    {"vertices", VERTICES},
    {"edges", EDGES},
    {"start", SMALL_ENUM},
    {"imbalance_bound", IMBALANCE},
    {"host", UP_TO(LBM_HOSTS_MAX), HOST},
    {"host_load", SAME("host")},
    {"host_vertices", SAME("host"), VERTICES},
    {"settled", FLAG},
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
};
static const struct lbm_wire_table map_reply_table = TABLE(map_reply_rules, lbm__map_reply__descriptor);

static const struct lbm_wire_rule locate_reply_rules[] = {
    {"vertex", UP_TO(LBM_ROWS_MAX), VERTEX},
    {"host", SAME("vertex"), HOST_OR_NONE},
    {"epoch", SAME("vertex")},
};
static const struct lbm_wire_table locate_reply_table =
    TABLE(locate_reply_rules, lbm__locate_reply__descriptor);

static const struct lbm_wire_rule response_rules[] = {
    {"code", IN(0, LBM_ERR_COUNT - 1)},
    {"text", TEXT},
    {"last", FLAG},
    {"status", .nested = &status_reply_table},
    {"hosts", .nested = &hosts_reply_table},
    {"jobs", .nested = &jobs_reply_table},
    {"map", .nested = &map_reply_table},
    {"locate", .nested = &locate_reply_table},
};
/* A response without a body is an acknowledgement or an error. */
const struct lbm_wire_table lbm_wire_response_table = TABLE(response_rules, lbm__response__descriptor);
