/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim disturb: its command line, and the table of faults. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/command.h"
#include "sim/experiment/disturb.h"

enum {
    DISTURB_HOSTS,
    DISTURB_GUEST,
    DISTURB_START,
    DISTURB_PARTS,
    DISTURB_SHUFFLE,
    DISTURB_FAULT,
    DISTURB_HOST,
    DISTURB_AFTER,
    DISTURB_SEED,
    DISTURB_TRACE,
    DISTURB_JSON,
    DISTURB_OPTIONS
};

static const struct lbm_choice starts[] = {
#define START_CHOICE(id, number, name, text) {name, text},
    LBM_START_LIST(START_CHOICE)
#undef START_CHOICE
        {NULL, NULL},
};

static const struct lbm_choice faults[] = {
#define FAULT_CHOICE(id, name, text) {name, text},
    DISTURB_LIST(FAULT_CHOICE)
#undef FAULT_CHOICE
        {NULL, NULL},
};

static const char *const names[] = {
#define FAULT_NAME(id, name, text) name,
    DISTURB_LIST(FAULT_NAME)
#undef FAULT_NAME
};
enum { FAULTS = sizeof names / sizeof *names };

static const struct lbm_option options[] = {
    [DISTURB_HOSTS] =
        LBM_TEXT_OPTION("hosts", "SPEC", "the hosts, a topology of lbctl plan", .fallback = "mesh:2x3"),
    [DISTURB_GUEST] = LBM_TEXT_OPTION("guest", "SPEC", "graph of the job, as lbctl gen has it, or a file",
                                      .fallback = "airfoil:3000"),
    [DISTURB_START] =
        LBM_CHOICE_OPTION("start", "START", starts, "how the vertices start", .fallback = "diffuse"),
    [DISTURB_PARTS] = LBM_INTEGER_OPTION("parts", "N", 0, 64,
                                         "hosts that read a part each, 0: host 0 reads all", .fallback = "0"),
    [DISTURB_SHUFFLE] = LBM_FLAG_OPTION("shuffle", "draw the ids of vertices: neighbours begin anywhere"),
    [DISTURB_FAULT] = LBM_CHOICE_OPTION("fault", "FAULT", faults, "what happens [each, a row of the table]"),
    [DISTURB_HOST] = LBM_INTEGER_OPTION("host", "H", 1, 63, "the host that it happens to [the last]"),
    [DISTURB_AFTER] = LBM_NUMBER_OPTION("after", "S", 0, 100,
                                        "seconds of the phase MAPPING before it happens", .fallback = "0.3"),
    [DISTURB_SEED] = SIM_SEED_OPTION,
    [DISTURB_TRACE] = LBM_FLAG_OPTION("trace", "print what hosts note"),
    [DISTURB_JSON] = LBM_JSON_OPTION,
};

static void
print_row(int json, int is_first, enum disturbance fault, const struct disturb_result *r)
{
    if (json)
        printf("%s\n {\"fault\": \"%s\", \"settled\": %s, \"why\": \"%s\", \"first_s\": %.2f, "
               "\"first_imbalance\": %.4f, \"virtual_s\": %.2f, \"imbalance\": %.4f, \"dilation\": %.4f, "
               "\"moved\": %.3f}",
               is_first ? "[" : ",", names[fault], r->settled ? "true" : "false", r->why, r->first_s,
               r->first_imbalance, r->virtual_s, r->imbalance, r->dilation, r->moved);
    else
        printf("%-8s %9.2f %11.3f %9.2f %11.3f %9.4f %7.2f %s\n", names[fault], r->first_s,
               r->first_imbalance, r->virtual_s, r->imbalance, r->dilation, r->moved, r->why);
    fflush(stdout);
}

static enum lbm_status
run_disturb(const struct lbm_cli *cli)
{
    const struct lbm_option_value *value = cli->value;
    struct disturb_options o = {.hosts = value[DISTURB_HOSTS].text,
                                .guest = value[DISTURB_GUEST].text,
                                .parts = (uint32_t)value[DISTURB_PARTS].integer,
                                .is_shuffled = value[DISTURB_SHUFFLE].given,
                                .victim =
                                    value[DISTURB_HOST].given ? (uint32_t)value[DISTURB_HOST].integer : 0,
                                .after_s = value[DISTURB_AFTER].number,
                                .seed = value[DISTURB_SEED].integer,
                                .start = (enum lbm_start)value[DISTURB_START].integer,
                                .traces = value[DISTURB_TRACE].given};
    int json = value[DISTURB_JSON].given, failed = 0, is_first = 1;
    for (int fault = 0; fault < FAULTS; fault++) {
        struct disturb_result result;
        struct lbm_diag diag;
        if (value[DISTURB_FAULT].given && value[DISTURB_FAULT].integer != (uint64_t)fault)
            continue;
        if (disturb_run(&o, (enum disturbance)fault, &result, &diag) != LBM_OK)
            return lbm_cli_refuse(cli, &diag);
        if (is_first && !json)
            printf("%-8s %9s %11s %9s %11s %9s %7s\n", "", "settled s", "unevenness", "rest s", "unevenness",
                   "hops", "moved");
        print_row(json, is_first, (enum disturbance)fault, &result);
        failed |= !result.settled;
        is_first = 0;
    }
    if (json)
        printf("\n]\n");
    return failed ? LBM_STATUS_FAILED : LBM_STATUS_DONE;
}

const struct lbm_command command_disturb = {
    .name = "disturb",
    .text = "what faults while a job maps cost",
    .help =
        "Runs a job in virtual time, once for each fault that comes while it maps: a host stands still, is "
        "killed, a link is slow, messages are lost. Prints when the job was first said to have settled and "
        "how uneven it was then, when it had settled for good, how uneven it was, and the mean hops of an "
        "edge. A run whose host stops or dies compares with the one in which it is absent, others with the "
        "one of no fault.",
    .options = options,
    .n_options = DISTURB_OPTIONS,
    .statuses = "0 each run settles, 1 one does not, 2 wrong usage",
    .run = run_disturb,
};
