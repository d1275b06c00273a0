/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl map, locate, plot: where the vertices of a job are, gathered from their owners. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "client/daemon.h"
#include "client/launch.h"
#include "client/progress.h"
#include "client/table.h"
#include "file/file.h"

static const struct lbm_operand job_operand[] = {LBM_JOB_OPERAND};

static const size_t no_launch = SIZE_MAX;

static enum lbm_status
write_picture(const struct lbm_cli *client, struct lbm_picture *picture, const char *job,
              enum lbm_map_format format, const struct lbm_launch *launch, const char *path)
{
    struct lbm_buf out = {0};
    struct lbm_diag diag;
    struct lbm_mapping mapping = {.title = job,
                                  .g = &picture->map.g,
                                  .h = &picture->h,
                                  .plan = &picture->map.plan,
                                  .report = &picture->report,
                                  .n_figures = LBM_REPORT_EVAL_FIELDS,
                                  .launch = *launch,
                                  .id = picture->map.id,
                                  .space = LBM_DRAW_OMEGA};
    enum lbm_err err = lbm_mapping_write(format, &mapping, &out, &diag);
    if (err == LBM_OK)
        err = lbm_file_write(path, out.at, out.len, &diag);
    lbm_buf_free(&out);
    return err == LBM_OK ? LBM_STATUS_DONE : lbm_cli_fail(client, &diag);
}

/* Gather the mapping of the job and write it in a format. launch: where the options for launchers begin among
 * the command's, or no_launch. */
static enum lbm_status
write_map(const struct lbm_cli *client, struct lbm_daemon *daemon, const char *job,
          enum lbm_map_format format, size_t launch, const char *path)
{
    struct lbm_picture picture;
    struct lbm_launch told = {0};
    struct lbm_diag diag;
    enum lbm_status status = lbm_daemon_picture(daemon, job, &picture);
    if (status == LBM_STATUS_DONE && launch != no_launch &&
        lbm_launch_read(client, launch, format, &picture.h, &told, &diag) != LBM_OK)
        status = lbm_cli_refuse(client, &diag);
    else if (status == LBM_STATUS_DONE && launch != no_launch)
        lbm_launch_remark(client, format, &picture.h, &told);
    if (status == LBM_STATUS_DONE)
        status = write_picture(client, &picture, job, format, &told, path);
    lbm_picture_free(&picture);
    return status;
}

/* ---- map ----------------------------------------------------------------------------------------------- */

enum { MAP_OUTPUT, MAP_FORMAT, MAP_LAUNCH, MAP_OPTIONS = MAP_LAUNCH + LBM_LAUNCH_OPTIONS };

static const struct lbm_option map_options[MAP_OPTIONS] = {
    [MAP_OUTPUT] = LBM_TEXT_OPTION("output", "FILE", "where to write it; - is standard output", .letter = 'o',
                                   .fallback = "-"),
    [MAP_FORMAT] = LBM_CHOICE_OPTION("format", "FORMAT", lbm_map_formats, "how to write it:", .letter = 'f',
                                     .fallback = "part"),
    LBM_LAUNCH_OPTION_ROWS(MAP_LAUNCH),
};

static enum lbm_status
run_map(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, LBM_DAEMON_TIMEOUT_MS, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    enum lbm_map_format format = client->global[LBM_GLOBAL_JSON].given
                                     ? LBM_MAP_FORMAT_JSON
                                     : (enum lbm_map_format)client->value[MAP_FORMAT].integer;
    status =
        write_map(client, &daemon, client->operand[0], format, MAP_LAUNCH, client->value[MAP_OUTPUT].text);
    lbm_daemon_close(&daemon);
    return status;
}

const struct lbm_command lbm_command_map = {
    .name = "map",
    .text = "write the mapping of a job as its hosts hold it now",
    .help = "Collects from every host which vertices it owns. Hosts are numbered in the order of their "
            "ids, which is the id itself unless ids are missing.",
    .options = map_options,
    .n_options = MAP_OPTIONS,
    .operands = job_operand,
    .n_operands = 1,
    .run = run_map,
};

/* ---- locate -------------------------------------------------------------------------------------------- */

enum { LOCATE_VERTICES_MAX = 8 };

static const struct lbm_column locate_columns[] = {
    {"vertex", "vertex", LBM_COLUMN_COUNT, 0},
    {"host", "host", LBM_COLUMN_COUNT, 0},
    {"epoch", "epoch", LBM_COLUMN_COUNT, 0},
};

static enum lbm_err
take_places(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    json_t *rows = arg;
    const Lbm__LocateReply *reply = chunk->locate;
    (void)handle;
    for (size_t i = 0; reply != NULL && i < reply->n_vertex; i++) {
        json_t *host = reply->host[i] != LBM_NONE ? json_integer(reply->host[i]) : json_null();
        json_array_append_new(rows, json_pack("{s:I, s:o, s:I}", "vertex", (json_int_t)reply->vertex[i],
                                              "host", host, "epoch", (json_int_t)reply->epoch[i]));
    }
    return LBM_OK;
}

static enum lbm_status
run_locate(const struct lbm_cli *client)
{
    static const struct lbm_listing listing = {locate_columns, sizeof locate_columns / sizeof *locate_columns,
                                               NULL, take_places};
    struct lbm_daemon daemon;
    struct lbm_diag diag;
    char name[LBM_NAME_MAX + 1];
    uint32_t vertex[LOCATE_VERTICES_MAX];
    snprintf(name, sizeof name, "%s", client->operand[0]);
    Lbm__LocateRequest locate = LBM__LOCATE_REQUEST__INIT;
    locate.job = name;
    locate.vertex = vertex;
    for (size_t i = 1; i < client->n_operands; i++) {
        struct lbm_option_value value;
        if (lbm_option_convert(&lbm_vertex_number, client->operand[i], "VERTEX", &value, &diag) != LBM_OK)
            return lbm_cli_refuse(client, &diag);
        vertex[locate.n_vertex++] = (uint32_t)value.integer;
    }
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, LBM_DAEMON_TIMEOUT_MS, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_LOCATE;
    request.locate = &locate;
    status = lbm_daemon_list(&daemon, &request, &listing);
    lbm_daemon_close(&daemon);
    return status;
}

static const struct lbm_operand locate_operands[] = {
    LBM_JOB_OPERAND,
    {.name = "VERTEX",
     .text = "number of a vertex, from 0; up to seven more may follow",
     .most = LOCATE_VERTICES_MAX},
};

const struct lbm_command lbm_command_locate = {
    .name = "locate",
    .text = "show which hosts own some vertices",
    .help = "Asks all hosts; the epoch counts how often the vertex changed hands.",
    .operands = locate_operands,
    .n_operands = sizeof locate_operands / sizeof *locate_operands,
    .run = run_locate,
};

/* ---- plot ---------------------------------------------------------------------------------------------- */

enum { PLOT_OUTPUT, PLOT_FRAMES, PLOT_EVERY, PLOT_TIMEOUT, PLOT_OPTIONS };

static const struct lbm_option plot_options[PLOT_OPTIONS] = {
    [PLOT_OUTPUT] = LBM_TEXT_OPTION("output", "FILE", "picture to write, .svg or .png", .letter = 'o'),
    [PLOT_FRAMES] = LBM_TEXT_OPTION("frames", "DIR",
                                    "write numbered pictures into this folder until the job has settled"),
    [PLOT_EVERY] = LBM_NUMBER_OPTION("every", "S", 0.01, 3600, "time between frames", .fallback = "0.25",
                                     .unit = "seconds"),
    [PLOT_TIMEOUT] =
        LBM_NUMBER_OPTION("timeout", "S", 0.1, 1e6, "stop the frames after this time, with exit status 4",
                          .fallback = "600", .unit = "seconds"),
};

static enum lbm_err
take_settled(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    int *settled = arg;
    (void)handle;
    *settled = chunk->jobs != NULL && chunk->jobs->n_jobs == 1 && chunk->jobs->jobs[0]->settled;
    return LBM_OK;
}

static int
is_directory(const char *path)
{
    struct stat status;
    errno = ENOTDIR;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Wait so long, but no longer than until the end. */
static void
wait_for_next(double every_s, int64_t end_ms)
{
    double pause_s = fmin(every_s, (double)(end_ms - lbm_progress_now_ms()) / 1000);
    struct timespec pause = {(time_t)pause_s, (long)((pause_s - (double)(time_t)pause_s) * 1e9)};
    if (pause_s > 0)
        nanosleep(&pause, NULL);
}

/* One picture after the other; moments in which the mapping is not complete are passed over. */
static enum lbm_status
plot_frames(const struct lbm_cli *client, struct lbm_daemon *daemon)
{
    const char *job = client->operand[0], *dir = client->value[PLOT_FRAMES].text;
    struct lbm_diag diag;
    if (mkdir(dir, 0777) != 0 && (errno != EEXIST || access(dir, W_OK | X_OK) != 0 || !is_directory(dir))) {
        lbm_diag_set(&diag, LBM_E_IO, dir, 0, "is no folder that frames can be written to: %s",
                     strerror(errno));
        return lbm_cli_fail(client, &diag);
    }
    double every = client->value[PLOT_EVERY].number;
    int64_t end_ms = lbm_progress_now_ms() + (int64_t)(1000 * client->value[PLOT_TIMEOUT].number);
    unsigned frame = 0;
    for (int settled = 0; !settled;) {
        char path[4096];
        enum lbm_status status = lbm_daemon_jobs(daemon, job, take_settled, &settled);
        if (status != LBM_STATUS_DONE)
            return status;
        struct lbm_picture picture;
        int is_complete = lbm_daemon_picture(daemon, job, &picture) == LBM_STATUS_DONE;
        snprintf(path, sizeof path, "%s/frame-%04u.svg", dir, frame);
        if (is_complete)
            status = write_picture(client, &picture, job, LBM_MAP_FORMAT_SVG, &(struct lbm_launch){0}, path);
        lbm_picture_free(&picture);
        if (status != LBM_STATUS_DONE || (settled && !is_complete))
            return LBM_STATUS_FAILED;
        frame += is_complete;
        if (!settled && lbm_progress_now_ms() >= end_ms) {
            lbm_diag_set(&diag, LBM_E_TIMEOUT, job, 0, "not settled within %g s",
                         client->value[PLOT_TIMEOUT].number);
            (void)lbm_cli_fail(client, &diag);
            return LBM_STATUS_TIMED_OUT;
        }
        if (!settled)
            wait_for_next(every, end_ms);
    }
    lbm_cli_remark(client, "%u frames in %s", frame, dir);
    return LBM_STATUS_DONE;
}

static enum lbm_status
run_plot(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    struct lbm_diag diag;
    const char *path = client->value[PLOT_OUTPUT].text;
    size_t len = path != NULL ? strlen(path) : 0;
    int png = len > 4 && strcmp(path + len - 4, ".png") == 0,
        svg = len > 4 && strcmp(path + len - 4, ".svg") == 0;
    if ((path == NULL) == !client->value[PLOT_FRAMES].given) {
        lbm_diag_set(&diag, LBM_E_SYNTAX, "", 0, "give either --output FILE or --frames DIR");
        return lbm_cli_refuse(client, &diag);
    }
    if (path != NULL && !png && !svg) {
        lbm_diag_set(&diag, LBM_E_SYNTAX, path, 0, "a picture's name ends in .svg or .png");
        return lbm_cli_refuse(client, &diag);
    }
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, LBM_DAEMON_TIMEOUT_MS, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    status = path != NULL ? write_map(client, &daemon, client->operand[0],
                                      png ? LBM_MAP_FORMAT_PNG : LBM_MAP_FORMAT_SVG, no_launch, path)
                          : plot_frames(client, &daemon);
    lbm_daemon_close(&daemon);
    return status;
}

const struct lbm_command lbm_command_plot = {
    .name = "plot",
    .text = "draw a job in Omega: regions, vertices, edges, loads",
    .help = "Draws the job as its hosts hold it now, or with --frames again and again until it has settled "
            "(HEI97 figs 6 and 7 for a job that starts at the centre or at random places).",
    .options = plot_options,
    .n_options = PLOT_OPTIONS,
    .operands = job_operand,
    .n_operands = 1,
    .run = run_plot,
};
