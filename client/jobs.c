/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl jobs, wait, cancel: what jobs there are and how far they have come. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/daemon.h"
#include "client/output.h"
#include "client/progress.h"
#include "client/table.h"
#include "node/node.h"

static const struct lbm_column job_columns[] = {
    {"name", "job", LBM_COLUMN_TEXT, 0},
    {"phase", "phase", LBM_COLUMN_TEXT, 0},
    {"vertices", "vertices", LBM_COLUMN_COUNT, 0},
    {"edges", "edges", LBM_COLUMN_COUNT, 0},
    {"coordinator", "coordinator", LBM_COLUMN_COUNT, 0},
    {"start", "start", LBM_COLUMN_TEXT, 0},
    {"imbalance", "imbalance", LBM_COLUMN_PERCENT, 0},
    {"moved", "handoffs", LBM_COLUMN_COUNT, 0},
    {"sweep", "sweep", LBM_COLUMN_COUNT, 0},
    {"age_s", "age", LBM_COLUMN_SECONDS, 0},
};

static json_t *
gates_object(const Lbm__JobGates *gates)
{
    return gates == NULL ? json_null()
                         : json_pack("{s:f, s:f, s:I, s:I}", "cooldown_s", gates->cooldown_s, "payback_s",
                                     gates->payback_s, "bytes_per_s", (json_int_t)gates->bytes_per_s,
                                     "in_flight", (json_int_t)gates->in_flight);
}

static json_t *
job_object(const Lbm__JobEntry *job)
{
    json_t *hosts = json_array();
    for (size_t i = 0; i < job->n_host; i++)
        json_array_append_new(hosts, json_pack("{s:i, s:I, s:I}", "host", (int)job->host[i], "load",
                                               (json_int_t)job->host_load[i], "vertices",
                                               (json_int_t)job->host_vertices[i]));
    json_t *missing = json_array();
    for (size_t i = 0; i < job->n_missing; i++)
        json_array_append_new(missing, json_integer((json_int_t)job->missing[i]));
    char id[24];
    snprintf(id, sizeof id, "0x%016" PRIx64, job->job);
    return json_pack(
        "{s:s, s:s, s:s, s:b, s:I, s:I, s:I, s:i, s:s, s:I, s:f, s:f, s:I, s:I, s:I, s:i, s:i, s:f, s:i, "
        "s:f, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:f, s:o, s:o, s:o}",
        "name", job->name, "id", id, "phase", job->phase, "settled", (int)job->settled, "vertices",
        (json_int_t)job->vertices, "edges", (json_int_t)job->edges, "work", (json_int_t)job->work,
        "coordinator", (int)job->coordinator, "start", lbm_start_name((enum lbm_start)job->start), "seed",
        (json_int_t)job->seed, "imbalance_bound", job->imbalance_bound, "imbalance", job->imbalance, "placed",
        (json_int_t)job->placed, "moved", (json_int_t)job->moved, "sweep", (json_int_t)job->sweep, "counter",
        (int)job->counter, "counter_goal", (int)job->counter_goal, "largest", job->largest, "owner",
        (int)job->owner, "age_s", job->age_s, "policy", job->policy, "policy_asked", job->policy_asked,
        "schedule", job->schedule, "policy_why", job->policy_why, "flow_sweeps", (json_int_t)job->flow_sweeps,
        "flow_words", (json_int_t)job->flow_words, "flow", (json_int_t)job->flow, "transfer_s",
        job->transfer_s, "gates", gates_object(job->gates), "missing", missing, "hosts", hosts);
}

static enum lbm_err
take_jobs(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    json_t *rows = arg;
    (void)handle;
    for (size_t i = 0; chunk->jobs != NULL && i < chunk->jobs->n_jobs; i++)
        if (json_array_append_new(rows, job_object(chunk->jobs->jobs[i])) != 0)
            return LBM_E_NOMEM;
    return LBM_OK;
}

/* Ask for one job or, with an empty name, all; rows is emptied first. */
static enum lbm_status
ask_jobs(struct lbm_daemon *daemon, const char *job, json_t *rows)
{
    json_array_clear(rows);
    return lbm_daemon_jobs(daemon, job, take_jobs, rows);
}

static enum lbm_status
run_jobs(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, 2000, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    json_t *rows = json_array();
    status = ask_jobs(&daemon, client->n_operands != 0 ? client->operand[0] : "", rows);
    if (status == LBM_STATUS_DONE &&
        lbm_table_print(stdout, job_columns, sizeof job_columns / sizeof *job_columns, rows,
                        client->global[LBM_GLOBAL_JSON].given) != LBM_OK)
        status = LBM_STATUS_FAILED;
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
        "One line a job: its phase is that of the host that is least far. With --json also the load of every "
        "host, as last heard.",
    .operands = jobs_operands,
    .n_operands = 1,
    .run = run_jobs,
};

/* ---- wait ---------------------------------------------------------------------------------------------- */

enum { WAIT_TIMEOUT, WAIT_OPTIONS };

static const struct lbm_option wait_options[WAIT_OPTIONS] = {
    [WAIT_TIMEOUT] =
        LBM_NUMBER_OPTION("timeout", "S", 0.1, 1e6, "give up after this time, with exit status 4",
                          .fallback = "600", .unit = "seconds"),
};

/* How far a job is, in [0, 1], for a bar: a phase counts a quarter, inside it what can be counted. */
static double
job_progress(const json_t *job)
{
    const char *phase = json_string_value(json_object_get(job, "phase"));
    double counter = json_number_value(json_object_get(job, "counter"));
    double goal = json_number_value(json_object_get(job, "counter_goal"));
    int at = 0;
    while (at < LBM_PHASE_COUNT && strcmp(phase, lbm_phase_name((enum lbm_phase)at)) != 0)
        at++;
    double inside = at == LBM_PHASE_BALANCING && goal > 0 ? counter / goal : 0;
    return at >= LBM_PHASE_SETTLED ? 1 : 0.25 * at + 0.25 * (inside < 1 ? inside : 1);
}

static const struct lbm_column load_columns[] = {
    {"host", "id", LBM_COLUMN_COUNT, 0},
    {"name", "host", LBM_COLUMN_TEXT, 0},
    {"vertices", "vertices", LBM_COLUMN_COUNT, 0},
    {"load", "load", LBM_COLUMN_COUNT, 0},
    {"share", "of its share", LBM_COLUMN_PERCENT, 0},
};

/* What each host has; NULL without memory. */
static json_t *
host_rows(const struct lbm_picture *picture)
{
    const struct lbm_hosts *h = &picture->h;
    const struct lbm_graph *g = &picture->map.g;
    double capacity = 0, work = (double)lbm_graph_total_work(g);
    uint64_t *load = lbm_alloc(h->n, sizeof *load);
    uint32_t *count = lbm_alloc(h->n, sizeof *count);
    json_t *rows = load != NULL && count != NULL ? json_array() : NULL;
    if (rows != NULL) {
        lbm_map_loads(g, h->n, picture->map.plan.part, load);
        for (uint32_t v = 0; v < g->n; v++)
            count[picture->map.plan.part[v]]++;
    }
    for (uint32_t p = 0; p < h->n; p++)
        capacity += h->capacity[p];
    for (uint32_t p = 0; rows != NULL && p < h->n; p++)
        json_array_append_new(rows, json_pack("{s:i, s:s, s:I, s:I, s:f}", "host", (int)picture->ids[p],
                                              "name", h->name[p], "vertices", (json_int_t)count[p], "load",
                                              (json_int_t)load[p], "share",
                                              (double)load[p] / (work * h->capacity[p] / capacity)));
    free(load);
    free(count);
    return rows;
}

/* Per host load and the figures of the mapping as it is now, measured from the owners themselves. */
static enum lbm_status
print_settled(const struct lbm_cli *client, struct lbm_daemon *daemon, const char *job)
{
    struct lbm_picture picture;
    enum lbm_status status = lbm_daemon_picture(daemon, job, &picture);
    json_t *rows = status == LBM_STATUS_DONE ? host_rows(&picture) : NULL;
    if (status == LBM_STATUS_DONE && rows == NULL)
        status = LBM_STATUS_FAILED;
    if (rows != NULL && client->global[LBM_GLOBAL_JSON].given) {
        json_t *object = lbm_output_object(lbm_report_fields, LBM_REPORT_EVAL_FIELDS - 1, &picture.report);
        json_object_set(object, "per_host", rows);
        json_dumpf(object, stdout, LBM_JSON_FLAGS | JSON_INDENT(2));
        printf("\n");
        json_decref(object);
    } else if (rows != NULL && !lbm_cli_is_quiet(client)) {
        if (lbm_table_print(stdout, load_columns, sizeof load_columns / sizeof *load_columns, rows, 0) !=
            LBM_OK)
            status = LBM_STATUS_FAILED;
        printf("\n");
        if (lbm_output_record(stdout, lbm_report_fields, LBM_REPORT_EVAL_FIELDS - 1, &picture.report, 0) !=
            LBM_OK)
            status = LBM_STATUS_FAILED;
    }
    json_decref(rows);
    lbm_picture_free(&picture);
    return status;
}

/* " but for host 3, 5", as much as there is room for; nothing if all take part. */
static void
name_missing(const json_t *job, char *text, size_t size)
{
    const json_t *missing = json_object_get(job, "missing");
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; i < json_array_size(missing) && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%s%d", i == 0 ? " but for host " : ", ",
                                (int)json_integer_value(json_array_get(missing, i)));
}

static enum lbm_status
run_wait(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, LBM_DAEMON_TIMEOUT_MS, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    json_t *rows = json_array();
    struct lbm_progress progress;
    lbm_progress_begin(&progress, lbm_cli_is_quiet(client));
    int64_t end_ms = lbm_progress_now_ms() + (int64_t)(client->value[WAIT_TIMEOUT].number * 1000);
    for (;;) {
        status = ask_jobs(&daemon, client->operand[0], rows);
        const json_t *job = json_array_get(rows, 0);
        if (status != LBM_STATUS_DONE || job == NULL)
            break;
        if (json_is_true(json_object_get(job, "settled")))
            break;
        lbm_progress_show(&progress, json_string_value(json_object_get(job, "phase")), job_progress(job));
        if (lbm_progress_now_ms() >= end_ms) {
            struct lbm_diag diag;
            char missing[120];
            name_missing(job, missing, sizeof missing);
            lbm_diag_set(&diag, LBM_E_TIMEOUT, client->operand[0], 0,
                         "not settled within %g s: it is %s%s, imbalance %.2f %%",
                         client->value[WAIT_TIMEOUT].number, json_string_value(json_object_get(job, "phase")),
                         missing, 100 * json_number_value(json_object_get(job, "imbalance")));
            lbm_progress_end(&progress);
            (void)lbm_cli_fail(client, &diag);
            status = LBM_STATUS_TIMED_OUT;
            break;
        }
        struct timespec pause = {0, 200000000};
        nanosleep(&pause, NULL);
    }
    lbm_progress_end(&progress);
    if (status == LBM_STATUS_DONE)
        status = print_settled(client, &daemon, client->operand[0]);
    json_decref(rows);
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
        "dilation.",
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
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, LBM_DAEMON_TIMEOUT_MS, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    char name[LBM_NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", client->operand[0]);
    Lbm__CancelRequest cancel = LBM__CANCEL_REQUEST__INIT;
    cancel.job = name;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_CANCEL;
    request.cancel = &cancel;
    status = lbm_daemon_ask(&daemon, &request, NULL, NULL);
    lbm_daemon_close(&daemon);
    return status;
}

const struct lbm_command lbm_command_cancel = {
    .name = "cancel",
    .text = "end a job and forget its vertices",
    .help = "The job's owner and administrators may. Every host drops what it holds of the job.",
    .operands = job_operand,
    .n_operands = 1,
    .run = run_cancel,
};
