/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers that leave the program, frozen by name: on the wire, in the control log, on disk, as exit status,
 * in the installed interface. A number that changes, disappears or is used again fails here; a new one is
 * added to both lists and stays. The bounds of log entries are among them: a host that refuses an entry that
 * others apply has another state from there on, so they change only with LBM_PROTOCOL_MOST. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "cli/command.h"
#include "daemon/loop.h"
#include "lbmap.h"
#include "node/exchange/state.h"
#include "node/migration/history.h"
#include "node/node.h"
#include "node/view/view.h"

struct number {
    const char *kind, *name;
    long long value;
};

/* As they have been since the first release that used them. */
static const struct number frozen[] = {
    {"policy", "DIFFUSION", 0},
    {"policy", "SECOND_ORDER", 1},
    {"policy", "CHEBYSHEV", 2},
    {"policy", "DIMENSION_EXCHANGE", 3},
    {"policy", "GDE", 4},
    {"policy", "RANDOM_LOAD", 5},
    {"policy", "OEM", 6},
    {"policy", "DEM", 7},
    {"policy", "DEM_TABLE", 8},
    {"policy", "CWA", 9},
    {"policy", "EDGE_REMAP", 10},
    {"policy", "AUTO", 11},
    {"policy", "OPS", 12},
    {"policy", "POTENTIALS", 13},
    {"policy", "METROPOLIS", 14},
    {"policy", "OPTIMIZED", 15},
    {"policy", "RANDOM_MATCHING", 16},
    {"policy", "WHOLE_DIFFUSION", 17},
    {"schedule", "PLAIN", 0},
    {"schedule", "OVERLAPPED", 1},
    {"schedule", "PIPELINED", 2},
    {"start", "PLAN", 0},
    {"start", "CENTRE", 1},
    {"start", "RANDOM", 2},
    {"start", "COORDINATOR", 3},
    {"start", "COARSE", 4},
    {"start", "DIFFUSE", 5},
    {"phase", "SUBMITTED", 0},
    {"phase", "PLACED", 1},
    {"phase", "MAPPING", 2},
    {"phase", "BALANCING", 3},
    {"phase", "SETTLED", 4},
    {"condition", "WELL", 0},
    {"condition", "DEGRADED", 1},
    {"condition", "LOST", 2},
    {"program state", "NONE", 0},
    {"program state", "RUNS", 1},
    {"program state", "WAITS", 2},
    {"program state", "FAILED", 3},
    {"program state", "ENDED", 4},
    {"program state", "REFUSED", 5},
    {"alert", "NO_MEMBER", 0},
    {"alert", "NO_LEADER", 1},
    {"alert", "LOG_WAITS", 2},
    {"alert", "UNREACHABLE", 3},
    {"alert", "EVICTION", 4},
    {"alert", "NO_LEASE", 5},
    {"alert", "BACKUP", 6},
    {"alert", "ONE_WAY", 7},
    {"alert", "DISK", 8},
    {"alert", "JOB_DEGRADED", 9},
    {"alert", "JOB_LOST", 10},
    {"move reason", "UNKNOWN", 0},
    {"move reason", "SUBMIT", 1},
    {"move reason", "PLAN", 2},
    {"move reason", "REGION", 3},
    {"move reason", "PIN", 4},
    {"move reason", "FLOW", 5},
    {"move reason", "BALANCE", 6},
    {"move reason", "PASS", 7},
    {"move reason", "BOUNDARY", 8},
    {"move reason", "DRAIN", 9},
    {"move reason", "TAKE_OVER", 10},
    {"move reason", "REMAP", 11},
    {"move state", "WAITS", 0},
    {"move state", "IN_FLIGHT", 1},
    {"move state", "ARRIVED", 2},
    {"move state", "REFUSED", 3},
    {"move state", "TAKEN_BACK", 4},
    {"move state", "KEPT", 5},
    {"stage", "NONE", 0},
    {"stage", "OWN", 1},
    {"stage", "OUT", 2},
    {"stage", "REF", 3},
    {"stage", "MOV", 4},
    {"job state", "PENDING", 0},
    {"job state", "SUBMITTED", 1},
    {"job state", "PLACED", 2},
    {"member state", "JOINING", 0},
    {"member state", "ACTIVE", 1},
    {"member state", "DRAINING", 2},
    {"member state", "LEFT", 3},
    {"member state", "EVICTED", 4},
    {"ensemble step", "FORM", 0},
    {"ensemble step", "MOVE", 1},
    {"ensemble step", "CHANGE", 2},
    {"log place", "AUTO", 0},
    {"log place", "LOCAL", 1},
    {"log place", "ETCD", 2},
    {"etcd ability", "UNKNOWN", 0},
    {"etcd ability", "NONE", 1},
    {"etcd ability", "RUNS", 2},
    {"error", "OK", 0},
    {"error", "E_NOMEM", 1},
    {"error", "E_RANGE", 2},
    {"error", "E_SYNTAX", 3},
    {"error", "E_LIMIT", 4},
    {"error", "E_IO", 5},
    {"error", "E_EXISTS", 6},
    {"error", "E_NOTFOUND", 7},
    {"error", "E_STATE", 8},
    {"error", "E_CORRUPT", 9},
    {"error", "E_VERSION", 10},
    {"error", "E_DENIED", 11},
    {"error", "E_UNSUPPORTED", 12},
    {"error", "E_UNREACHABLE", 13},
    {"error", "E_TIMEOUT", 14},
    {"error", "E_BUSY", 15},
    {"exit status", "STOPPED", 0},
    {"exit status", "FAILED", 1},
    {"exit status", "INPUT", 2},
    {"exit status", "BUSY", 3},
    {"job policy", "DEFAULT", 0},
    {"job policy", "NONE", 1},
    {"job policy", "FIRST", 2},
    {"gate", "COOLDOWN", 1},
    {"gate", "PAYBACK", 2},
    {"gate", "BYTES", 4},
    {"gate", "IN_FLIGHT", 8},
    {"note level", "ERROR", 0},
    {"note level", "WARNING", 1},
    {"note level", "INFO", 2},
    {"note level", "DEBUG", 3},
    {"notice", "NOT_READY", 0},
    {"notice", "AHEAD", 1},
    {"notice", "SETTLED", 2},
    {"notice", "ASK", 3},
    {"notice", "STAYS", 4},
    {"round kind", "EXCHANGE", 0},
    {"round kind", "NUMBERS", 1},
    {"round kind", "DELIVERY", 2},
    {"lease", "WORK", 0},
    {"lease", "STOP", 1},
    {"lease", "LOST", 2},
    {"program status", "DONE", 0},
    {"program status", "FAILED", 1},
    {"program status", "USAGE", 2},
    {"program status", "UNREACHABLE", 3},
    {"program status", "TIMED_OUT", 4},
    {"program status", "DEGRADED", 5},
    {"program status", "LOST", 6},
    {"program status", "DENIED", 7},
    {"bound of a log entry", "HOSTS_MAX", 8192},
    {"bound of a log entry", "JOBS_MAX", 64},
    {"bound of a log entry", "VERTICES_MAX", 1000000000},
    {"bound of a log entry", "IDS_MAX", 1048576},
    {"bound of a log entry", "NAME_MAX", 63},
    {"bound of a log entry", "ADDRESS_MAX", 255},
    {"bound of a log entry", "LINK_COST_MAX", 500000},
    {"bound of a log entry", "DIMENSIONS_MAX", 3},
    {"bound of a log entry", "ENSEMBLE_MAX", 7},
    {"bound of a log entry", "RUN_BYTES_MAX", 8192},
    {"bound of a log entry", "RUN_WORDS_MAX", 1024},
    {"bound of a step in lbmap.h", "LEASE_STOP_US", 2000000},
};

/* As this program has them. */
static const struct number present[] = {
#define ROW_LBM_POLICY_LIST(id, number, ...) {"policy", #id, number},
    LBM_POLICY_LIST(ROW_LBM_POLICY_LIST)
#undef ROW_LBM_POLICY_LIST
#define ROW_LBM_SCHEDULE_LIST(id, number, ...) {"schedule", #id, number},
        LBM_SCHEDULE_LIST(ROW_LBM_SCHEDULE_LIST)
#undef ROW_LBM_SCHEDULE_LIST
#define ROW_LBM_START_LIST(id, number, ...) {"start", #id, number},
            LBM_START_LIST(ROW_LBM_START_LIST)
#undef ROW_LBM_START_LIST
#define ROW_LBM_PHASE_LIST(id, number, ...) {"phase", #id, number},
                LBM_PHASE_LIST(ROW_LBM_PHASE_LIST)
#undef ROW_LBM_PHASE_LIST
#define ROW_LBM_CONDITION_LIST(id, number, ...) {"condition", #id, number},
                    LBM_CONDITION_LIST(ROW_LBM_CONDITION_LIST)
#undef ROW_LBM_CONDITION_LIST
#define ROW_LBM_PROGRAM_STATE_LIST(id, number, ...) {"program state", #id, number},
                        LBM_PROGRAM_STATE_LIST(ROW_LBM_PROGRAM_STATE_LIST)
#undef ROW_LBM_PROGRAM_STATE_LIST
#define ROW_LBM_ALERT_LIST(id, number, ...) {"alert", #id, number},
                            LBM_ALERT_LIST(ROW_LBM_ALERT_LIST)
#undef ROW_LBM_ALERT_LIST
#define ROW_LBM_MOVE_REASON_LIST(id, number, ...) {"move reason", #id, number},
                                LBM_MOVE_REASON_LIST(ROW_LBM_MOVE_REASON_LIST)
#undef ROW_LBM_MOVE_REASON_LIST
#define ROW_LBM_MOVE_STATE_LIST(id, number, ...) {"move state", #id, number},
                                    LBM_MOVE_STATE_LIST(ROW_LBM_MOVE_STATE_LIST)
#undef ROW_LBM_MOVE_STATE_LIST
#define ROW_LBM_STAGE_LIST(id, number, ...) {"stage", #id, number},
                                        LBM_STAGE_LIST(ROW_LBM_STAGE_LIST)
#undef ROW_LBM_STAGE_LIST
#define ROW_LBM_JOB_STATE_LIST(id, number, ...) {"job state", #id, number},
                                            LBM_JOB_STATE_LIST(ROW_LBM_JOB_STATE_LIST)
#undef ROW_LBM_JOB_STATE_LIST
#define ROW_LBM_MEMBER_STATE_LIST(id, number, ...) {"member state", #id, number},
                                                LBM_MEMBER_STATE_LIST(ROW_LBM_MEMBER_STATE_LIST)
#undef ROW_LBM_MEMBER_STATE_LIST
#define ROW_LBM_ENSEMBLE_STEP_LIST(id, number, ...) {"ensemble step", #id, number},
                                                    LBM_ENSEMBLE_STEP_LIST(ROW_LBM_ENSEMBLE_STEP_LIST)
#undef ROW_LBM_ENSEMBLE_STEP_LIST
#define ROW_LBM_LOG_PLACE_LIST(id, number, ...) {"log place", #id, number},
                                                        LBM_LOG_PLACE_LIST(ROW_LBM_LOG_PLACE_LIST)
#undef ROW_LBM_LOG_PLACE_LIST
#define ROW_LBM_ETCD_ABILITY_LIST(id, number, ...) {"etcd ability", #id, number},
                                                            LBM_ETCD_ABILITY_LIST(ROW_LBM_ETCD_ABILITY_LIST)
#undef ROW_LBM_ETCD_ABILITY_LIST
#define ROW_LBM_ERR_LIST(id, number, ...) {"error", #id, number},
                                                                LBM_ERR_LIST(ROW_LBM_ERR_LIST)
#undef ROW_LBM_ERR_LIST
#define ROW_LBM_EXIT_LIST(id, number, ...) {"exit status", #id, number},
                                                                    LBM_EXIT_LIST(ROW_LBM_EXIT_LIST)
#undef ROW_LBM_EXIT_LIST
                                                                        {"job policy", "DEFAULT",
                                                                         LBM_JOB_POLICY_DEFAULT},
    {"job policy", "NONE", LBM_JOB_POLICY_NONE},
    {"job policy", "FIRST", LBM_JOB_POLICY_FIRST},
    {"gate", "COOLDOWN", LBM_GATE_COOLDOWN},
    {"gate", "PAYBACK", LBM_GATE_PAYBACK},
    {"gate", "BYTES", LBM_GATE_BYTES},
    {"gate", "IN_FLIGHT", LBM_GATE_IN_FLIGHT},
    {"note level", "ERROR", LBM_NOTE_ERROR},
    {"note level", "WARNING", LBM_NOTE_WARNING},
    {"note level", "INFO", LBM_NOTE_INFO},
    {"note level", "DEBUG", LBM_NOTE_DEBUG},
    {"notice", "NOT_READY", NOTICE_NOT_READY},
    {"notice", "AHEAD", NOTICE_AHEAD},
    {"notice", "SETTLED", NOTICE_SETTLED},
    {"notice", "ASK", NOTICE_ASK},
    {"notice", "STAYS", NOTICE_STAYS},
    {"round kind", "EXCHANGE", ROUND_KIND_EXCHANGE},
    {"round kind", "NUMBERS", ROUND_KIND_NUMBERS},
    {"round kind", "DELIVERY", ROUND_KIND_DELIVERY},
    {"lease", "WORK", LBMAP_WORK},
    {"lease", "STOP", LBMAP_STOP},
    {"lease", "LOST", LBMAP_LOST},
    {"program status", "DONE", LBM_STATUS_DONE},
    {"program status", "FAILED", LBM_STATUS_FAILED},
    {"program status", "USAGE", LBM_STATUS_USAGE},
    {"program status", "UNREACHABLE", LBM_STATUS_UNREACHABLE},
    {"program status", "TIMED_OUT", LBM_STATUS_TIMED_OUT},
    {"program status", "DEGRADED", LBM_STATUS_DEGRADED},
    {"program status", "LOST", LBM_STATUS_LOST},
    {"program status", "DENIED", LBM_STATUS_DENIED},
    {"bound of a log entry", "HOSTS_MAX", LBM_HOSTS_MAX},
    {"bound of a log entry", "JOBS_MAX", LBM_JOBS_MAX},
    {"bound of a log entry", "VERTICES_MAX", LBM_VERTICES_MAX},
    {"bound of a log entry", "IDS_MAX", LBM_IDS_MAX},
    {"bound of a log entry", "NAME_MAX", LBM_NAME_MAX},
    {"bound of a log entry", "ADDRESS_MAX", LBM_ADDRESS_MAX},
    {"bound of a log entry", "LINK_COST_MAX", LBM_LINK_COST_MAX},
    {"bound of a log entry", "DIMENSIONS_MAX", LBM_DIMENSIONS_MAX},
    {"bound of a log entry", "ENSEMBLE_MAX", LBM_ENSEMBLE_MAX},
    {"bound of a log entry", "RUN_BYTES_MAX", LBM_RUN_BYTES_MAX},
    {"bound of a log entry", "RUN_WORDS_MAX", LBM_RUN_WORDS_MAX},
    {"bound of a step in lbmap.h", "LEASE_STOP_US", LBM_LEASE_STOP_US},
};

enum { N_FROZEN = sizeof frozen / sizeof *frozen, N_PRESENT = sizeof present / sizeof *present };

static const struct number *
find(const struct number *list, size_t n, const struct number *wanted)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].kind, wanted->kind) == 0 && strcmp(list[i].name, wanted->name) == 0)
            return &list[i];
    return NULL;
}

static void
numbers_in_use_never_change(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_FROZEN; i++) {
        const struct number *now = find(present, N_PRESENT, &frozen[i]);
        if (now == NULL)
            fail_msg("%s %s (%lld) is gone: old logs and databases hold it", frozen[i].kind, frozen[i].name,
                     frozen[i].value);
        else if (now->value != frozen[i].value)
            fail_msg("%s %s was %lld and is %lld: old logs and databases mean something else by it",
                     frozen[i].kind, frozen[i].name, frozen[i].value, now->value);
    }
}

static void
a_new_number_is_frozen_too(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_PRESENT; i++)
        if (find(frozen, N_FROZEN, &present[i]) == NULL)
            fail_msg("%s %s (%lld) is new: add it to the list `frozen`", present[i].kind, present[i].name,
                     present[i].value);
}

static void
no_number_is_used_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_FROZEN; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(frozen[i].kind, frozen[j].kind) == 0 && strncmp(frozen[i].kind, "bound", 5) != 0 &&
                frozen[i].value == frozen[j].value)
                fail_msg("%s %s and %s are both %lld", frozen[i].kind, frozen[i].name, frozen[j].name,
                         frozen[i].value);
}

/* Real constants are compared here: the compiler compares integers alone. */
static void
a_daemon_has_a_capacity_that_a_host_graph_takes(void **state)
{
    (void)state;
    assert_true(LBM_CAPACITY_MIN > 0 && LBM_CAPACITY_MIN <= LBM_DAEMON_CAPACITY_MIN);
    assert_true(LBM_DAEMON_CAPACITY_MIN <= 1 && LBM_DAEMON_CAPACITY_MAX >= 1);
    assert_true(LBM_DAEMON_CAPACITY_MAX <= LBM_CAPACITY_MAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_in_use_never_change),
        cmocka_unit_test(a_new_number_is_frozen_too),
        cmocka_unit_test(no_number_is_used_twice),
        cmocka_unit_test(a_daemon_has_a_capacity_that_a_host_graph_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
