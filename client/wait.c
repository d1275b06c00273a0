/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waiting for a job, for lbctl wait and lbctl submit --wait. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "client/job_state.h"
#include "client/output.h"
#include "client/progress.h"
#include "client/table.h"
#include "node/node.h"

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

/* It will not settle in time, or not at all: say what it is. */
static enum lbm_status
tell_unsettled(const struct lbm_cli *client, const json_t *job, double timeout_s)
{
    struct lbm_diag diag;
    char text[LBM_DIAG_TEXT_MAX - 64];
    enum lbm_status status = lbm_job_status(job);
    const char *name = json_string_value(json_object_get(job, "name"));
    lbm_job_say(job, text, sizeof text);
    if (status == LBM_STATUS_LOST)
        lbm_diag_set(&diag, LBM_E_STATE, name, 0, "it does not settle: it is %s", text);
    else
        lbm_diag_set(&diag, LBM_E_TIMEOUT, name, 0, "not settled within %g s: it is %s", timeout_s, text);
    (void)lbm_cli_fail(client, &diag);
    return status != LBM_STATUS_DONE ? status : LBM_STATUS_TIMED_OUT;
}

enum lbm_status
lbm_job_wait(const struct lbm_cli *client, struct lbm_daemon *daemon, const char *name, double timeout_s)
{
    json_t *rows = json_array();
    struct lbm_progress progress;
    enum lbm_status status;
    lbm_progress_begin(&progress, lbm_cli_is_quiet(client));
    int64_t end_ms = lbm_progress_now_ms() + (int64_t)(timeout_s * 1000);
    for (;;) {
        status = lbm_job_ask(daemon, name, rows);
        const json_t *job = json_array_get(rows, 0);
        if (status != LBM_STATUS_DONE || job == NULL || json_is_true(json_object_get(job, "settled")))
            break;
        lbm_progress_show(&progress, json_string_value(json_object_get(job, "state")), job_progress(job));
        if (lbm_progress_now_ms() >= end_ms || lbm_job_status(job) == LBM_STATUS_LOST) {
            lbm_progress_end(&progress);
            status = tell_unsettled(client, job, timeout_s);
            break;
        }
        struct timespec pause = {0, 200000000};
        nanosleep(&pause, NULL);
    }
    lbm_progress_end(&progress);
    if (status == LBM_STATUS_DONE)
        status = print_settled(client, daemon, name);
    json_decref(rows);
    return status;
}
