/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl jobs, wait, cancel: what jobs there are and how far they have come. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/daemon.h"
#include "client/job_state.h"
#include "client/table.h"
#include "node/node.h"

static const struct lbm_column job_columns[] = {
    {"name", "job", LBM_COLUMN_TEXT, 0},
    {"state", "state", LBM_COLUMN_TEXT, 0},
    {"vertices", "vertices", LBM_COLUMN_COUNT, 0},
    {"edges", "edges", LBM_COLUMN_COUNT, 0},
    {"coordinator", "coordinator", LBM_COLUMN_COUNT, 0},
    {"start", "start", LBM_COLUMN_TEXT, 0},
    {"imbalance_text", "imbalance", LBM_COLUMN_TEXT, 0},
    {"moved", "handoffs", LBM_COLUMN_COUNT, 0},
    {"sweep", "sweep", LBM_COLUMN_COUNT, 0},
    {"age_s", "age", LBM_COLUMN_SECONDS, 0},
};

/* What is not well, a line each; for programs the rows say it. */
static void
print_troubles(const json_t *rows)
{
    char text[LBM_DIAG_TEXT_MAX + 128];
    size_t i;
    const json_t *job;
    json_array_foreach((json_t *)(uintptr_t)rows, i, job)
    {
        if (lbm_job_status(job) == LBM_STATUS_DONE)
            continue;
        lbm_job_say(job, text, sizeof text);
        printf("%s: %s\n", json_string_value(json_object_get(job, "name")), text);
    }
}

/* Print the rows; the worst of them is the exit status. */
static enum lbm_status
print_jobs(const struct lbm_cli *client, json_t *rows)
{
    int json = client->global[LBM_GLOBAL_JSON].given;
    enum lbm_status status = LBM_STATUS_DONE;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        status = lbm_job_worse(status, lbm_job_status(json_array_get(rows, i)));
        for (const char *const *text = lbm_job_texts; json && *text != NULL; text++)
            json_object_del(json_array_get(rows, i), *text);
    }
    if (lbm_table_print(stdout, job_columns, sizeof job_columns / sizeof *job_columns, rows, json) != LBM_OK)
        return LBM_STATUS_FAILED;
    if (!json)
        print_troubles(rows);
    return status;
}

static enum lbm_status
run_jobs(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, 2000, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    json_t *rows = json_array();
    status = lbm_job_ask(&daemon, client->n_operands != 0 ? client->operand[0] : "", rows);
    if (status == LBM_STATUS_DONE)
        status = print_jobs(client, rows);
    json_decref(rows);
    lbm_daemon_close(&daemon);
    return status;
}

static const struct lbm_operand jobs_operands[] = {
    {.name = "JOB", .optional = 1, .text = "only this job", .longest = LBM_NAME_MAX}};

const struct lbm_command lbm_command_jobs = {
    .name = "jobs",
    .text = "list the jobs of the cluster",
    .help =
        "One line a job. Its state is the phase of the host that is least far, but DEGRADED while vertices "
        "wait for a host, or nothing is known of some (exit status 5), and LOST if some are on no host any "
        "more (exit status 6); then a line says why and what to do. The imbalance is unknown unless all "
        "vertices are known. With --json also the load of every host, as last heard.",
    .operands = jobs_operands,
    .n_operands = 1,
    .run = run_jobs,
};

/* ---- wait ---------------------------------------------------------------------------------------------- */

enum { WAIT_TIMEOUT, WAIT_OPTIONS };

static const struct lbm_option wait_options[WAIT_OPTIONS] = {
    [WAIT_TIMEOUT] = LBM_NUMBER_OPTION("timeout", "S", 0.1, 1e6,
                                       "give up after this time, with exit status 4, or 5 if it is not well",
                                       .fallback = "600", .unit = "seconds"),
};

static enum lbm_status
run_wait(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, LBM_DAEMON_TIMEOUT_MS, 0);
    if (status == LBM_STATUS_DONE)
        status = lbm_job_wait(client, &daemon, client->operand[0], client->value[WAIT_TIMEOUT].number);
    lbm_daemon_close(&daemon);
    return status;
}

static const struct lbm_operand job_operand[] = {LBM_JOB_OPERAND};

const struct lbm_command lbm_command_wait = {
    .name = "wait",
    .text = "wait until a job has settled, then show its loads and figures",
    .help =
        "Shows progress while the job is placed, mapped and balanced; when every host says that it has "
        "settled, collects the mapping from its owners and prints each host's load, imbalance, J, cut and "
        "dilation. A job that is DEGRADED is waited for; of one that is LOST it says so at once, with exit "
        "status 6.",
    .options = wait_options,
    .n_options = WAIT_OPTIONS,
    .operands = job_operand,
    .n_operands = 1,
    .run = run_wait,
};

/* ---- cancel -------------------------------------------------------------------------------------------- */

static enum lbm_status
run_cancel(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    enum lbm_status status =
        lbm_daemon_open(&daemon, client, NULL, (unsigned)(client->value[0].number * 1000), 0);
    if (status != LBM_STATUS_DONE)
        return status;
    char name[LBM_NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", client->operand[0]);
    Lbm__CancelRequest cancel = LBM__CANCEL_REQUEST__INIT;
    cancel.job = name;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_CANCEL;
    request.cancel = &cancel;
    status = lbm_daemon_change(&daemon, &request);
    lbm_daemon_close(&daemon);
    return status;
}

static const struct lbm_option cancel_options[] = {
    LBM_NUMBER_OPTION("timeout", "S", 0.1, 1e6,
                      "wait so long for the control log; what it has not taken by then is void",
                      .fallback = "10", .unit = "seconds"),
};

const struct lbm_command lbm_command_cancel = {
    .name = "cancel",
    .text = "end a job and forget its vertices",
    .help = "The job's owner and administrators may. Every host drops what it holds of the job.",
    .options = cancel_options,
    .n_options = 1,
    .operands = job_operand,
    .n_operands = 1,
    .run = run_cancel,
};
