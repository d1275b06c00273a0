/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl backup: jobs with the payloads of their vertices, as one cut of each, in a folder of files
 * that people and other programs can read (docs/formats.md). lbctl payloads: the payloads alone. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/backup_format.h"
#include "client/cut.h"
#include "client/graph_file.h"
#include "client/job_state.h"
#include "file/file.h"

/* ---- writing --------------------------------------------------------------------------------------------
 */

static enum lbm_err
write_owners(const struct lbm_cut *cut, const char *path, struct lbm_diag *diag)
{
    struct lbm_buf text = {0};
    for (uint32_t v = 0; v < cut->ids; v++) {
        if (cut->vertex[v].epoch != 0)
            lbm_buf_u64(&text, cut->vertex[v].host);
        lbm_buf_put(&text, cut->vertex[v].epoch != 0 ? "\n" : "-\n", cut->vertex[v].epoch != 0 ? 1 : 2);
    }
    enum lbm_err err = text.failed ? LBM_E_NOMEM : lbm_file_write(path, text.at, text.len, diag);
    lbm_buf_free(&text);
    return err;
}

static enum lbm_err
write_pins(const struct lbm_cut *cut, const char *path, struct lbm_diag *diag)
{
    struct lbm_buf text = {0};
    for (uint32_t v = 0; v < cut->ids; v++)
        if (cut->vertex[v].epoch != 0 && cut->vertex[v].pin != LBM_NONE)
            lbm_buf_printf(&text, "%" PRIu32 " %" PRIu32 "\n", v, cut->vertex[v].pin);
    enum lbm_err err = text.failed ? LBM_E_NOMEM : lbm_file_write(path, text.at, text.len, diag);
    lbm_buf_free(&text);
    return err;
}

/* After the magic, of each vertex: number, length and crc32 of both and the bytes, 4 bytes each, low ones
 * first; then the bytes. */
static enum lbm_err
write_payloads(const struct lbm_cut *cut, const char *path, struct lbm_diag *diag)
{
    FILE *file = fopen(path, "wbx");
    enum lbm_err err = file == NULL ? lbm_backup_io_error(diag, path) : LBM_OK;
    if (err == LBM_OK && fwrite(lbm_backup_magic, sizeof lbm_backup_magic, 1, file) != 1)
        err = lbm_backup_io_error(diag, path);
    for (uint32_t v = 0; err == LBM_OK && v < cut->ids; v++) {
        unsigned char head[LBM_BACKUP_HEAD];
        struct lbm_buf bytes = {0};
        if (cut->vertex[v].epoch == 0)
            continue;
        err = lbm_cut_payload(cut, v, &bytes, diag);
        lbm_backup_put_u32(head, v);
        lbm_backup_put_u32(head + 4, (uint32_t)bytes.len);
        uint32_t crc = lbm_checksum(0, head, 8);
        crc = lbm_checksum(crc, bytes.at, bytes.len);
        lbm_backup_put_u32(head + 8, crc);
        if (err == LBM_OK &&
            (fwrite(head, sizeof head, 1, file) != 1 || fwrite(bytes.at, 1, bytes.len, file) != bytes.len))
            err = lbm_backup_io_error(diag, path);
        lbm_buf_free(&bytes);
    }
    if (err == LBM_OK && (fflush(file) != 0 || fsync(fileno(file)) != 0))
        err = lbm_backup_io_error(diag, path);
    if (file != NULL && fclose(file) != 0 && err == LBM_OK)
        err = lbm_backup_io_error(diag, path);
    return err;
}

static enum lbm_err
write_description(const struct lbm_cut *cut, const json_t *job, const char *cluster, const char *folder,
                  struct lbm_diag *diag)
{
    static const char *const kept[] = {
        "name",  "vertices", "edges", "work", "imbalance_bound", "policy_asked", "schedule",
        "gates", "owner",    "seed",  NULL};
    char path[PATH_MAX], made[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(made, sizeof made, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    json_t *object =
        json_pack("{s:i, s:s, s:s, s:I, s:I}", "format", LBM_BACKUP_FORMAT, "cluster", cluster, "made", made,
                  "ids", (json_int_t)cut->ids, "payload_bytes", (json_int_t)cut->bytes);
    json_t *sums = json_object();
    enum lbm_err err = object != NULL && sums != NULL ? LBM_OK : LBM_E_NOMEM;
    for (const char *const *key = kept; err == LBM_OK && *key != NULL; key++)
        json_object_set(object, *key, json_object_get(job, *key));
    json_object_set_new(object, "vertices", json_integer((json_int_t)cut->n));
    for (size_t i = 0; err == LBM_OK && i < LBM_BACKUP_FILES; i++) {
        uint32_t crc;
        lbm_backup_path_of(folder, lbm_backup_files[i], path);
        if ((i == LBM_BACKUP_PINS && cut->n_pinned == 0) ||
            (err = lbm_file_checksum(path, &crc, diag)) != LBM_OK)
            continue;
        json_object_set_new(sums, lbm_backup_files[i], json_integer((json_int_t)crc));
    }
    json_object_set_new(object, "crc32", sums);
    char *text = err == LBM_OK ? json_dumps(object, JSON_INDENT(2)) : NULL;
    lbm_backup_path_of(folder, "job.json", path);
    if (err == LBM_OK)
        err = text != NULL ? lbm_file_write(path, text, strlen(text), diag) : LBM_E_NOMEM;
    free(text);
    json_decref(object);
    return err;
}

static void
remove_folder(const char *folder)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < LBM_BACKUP_FILES; i++) {
        lbm_backup_path_of(folder, lbm_backup_files[i], path);
        (void)unlink(path);
    }
    lbm_backup_path_of(folder, "job.json", path);
    (void)unlink(path);
    (void)rmdir(folder);
}

static enum lbm_err
write_job(const struct lbm_cut *cut, const struct lbm_graph *g, const json_t *job, const char *cluster,
          const char *folder, struct lbm_diag *diag)
{
    char path[PATH_MAX];
    struct lbm_graph guest = *g;
    guest.pin = NULL; /* in their own file */
    lbm_backup_path_of(folder, lbm_backup_files[LBM_BACKUP_GUEST], path);
    enum lbm_err err = lbm_graph_file_write(path, LBM_FORMAT_METIS, &guest, diag);
    lbm_backup_path_of(folder, lbm_backup_files[LBM_BACKUP_OWNERS], path);
    if (err == LBM_OK)
        err = write_owners(cut, path, diag);
    lbm_backup_path_of(folder, lbm_backup_files[LBM_BACKUP_PINS], path);
    if (err == LBM_OK && cut->n_pinned != 0)
        err = write_pins(cut, path, diag);
    lbm_backup_path_of(folder, lbm_backup_files[LBM_BACKUP_PAYLOADS], path);
    if (err == LBM_OK)
        err = write_payloads(cut, path, diag);
    return err == LBM_OK ? write_description(cut, job, cluster, folder, diag) : err;
}

/* ---- backup ---------------------------------------------------------------------------------------------
 */

static enum lbm_err
take_cluster(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    (void)handle;
    if (chunk->status != NULL)
        snprintf(arg, LBM_NAME_MAX + 1, "%s", chunk->status->cluster_name);
    return LBM_OK;
}

static enum lbm_status
ask_cluster(struct lbm_daemon *daemon, char name[LBM_NAME_MAX + 1])
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_STATUS;
    request.status = &empty;
    name[0] = '\0';
    return lbm_daemon_ask(daemon, &request, take_cluster, name);
}

/* A folder that is there and empty, or is made. Errors: LBM_E_EXISTS, LBM_E_IO. */
static enum lbm_err
make_empty(const char *path, struct lbm_diag *diag)
{
    if (mkdir(path, 0700) == 0)
        return LBM_OK;
    if (errno != EEXIST)
        return lbm_backup_io_error(diag, path);
    DIR *dir = opendir(path);
    enum lbm_err err = dir == NULL ? lbm_backup_io_error(diag, path) : LBM_OK;
    for (const struct dirent *entry; err == LBM_OK && (entry = readdir(dir)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            err = lbm_diag_set(diag, LBM_E_EXISTS, path, 0,
                               "is not empty; name a folder that is not there yet");
    if (dir != NULL)
        closedir(dir);
    return err;
}

static enum lbm_status
back_up_job(struct lbm_daemon *daemon, const char *dir, const json_t *job, const char *cluster, json_t *rows)
{
    const char *name = json_string_value(json_object_get(job, "name"));
    char folder[PATH_MAX], text[LBM_DIAG_TEXT_MAX - 64];
    struct lbm_cut cut;
    struct lbm_graph g;
    struct lbm_diag diag;
    if (lbm_job_status(job) != LBM_STATUS_DONE) {
        lbm_job_say(job, text, sizeof text);
        lbm_diag_set(&diag, LBM_E_STATE, name, 0, "a backup would lack vertices: it is %s", text);
        return lbm_cli_fail(daemon->client, &diag);
    }
    enum lbm_status status = lbm_cut_take(daemon, name, dir, &cut, &g);
    if (status == LBM_STATUS_DONE) {
        lbm_backup_folder_of(dir, name, folder);
        enum lbm_err err = mkdir(folder, 0700) == 0 ? LBM_OK : lbm_backup_io_error(&diag, folder);
        if (err == LBM_OK && (err = write_job(&cut, &g, job, cluster, folder, &diag)) != LBM_OK)
            remove_folder(folder);
        status = err == LBM_OK ? LBM_STATUS_DONE : lbm_cli_fail(daemon->client, &diag);
    }
    if (status == LBM_STATUS_DONE)
        lbm_backup_tell_job(daemon->client, name, cut.n, cut.bytes, folder, rows);
    lbm_graph_free(&g);
    lbm_cut_free(&cut);
    return status;
}

static enum lbm_status
run_backup(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    struct lbm_diag diag;
    char cluster[LBM_NAME_MAX + 1];
    const char *dir = client->operand[0], *job = client->n_operands > 1 ? client->operand[1] : "";
    json_t *jobs = json_array();
    json_t *rows = client->global[LBM_GLOBAL_JSON].given ? json_array() : NULL;
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, LBM_DAEMON_TIMEOUT_MS, 0);
    if (status == LBM_STATUS_DONE) {
        status = ask_cluster(&daemon, cluster);
        if (status == LBM_STATUS_DONE)
            status = lbm_job_ask(&daemon, job, jobs);
        if (status == LBM_STATUS_DONE && json_array_size(jobs) == 0) {
            lbm_diag_set(&diag, LBM_E_NOTFOUND, dir, 0,
                         "the cluster has no jobs: there is nothing to back up");
            status = lbm_cli_fail(client, &diag);
        }
        if (status == LBM_STATUS_DONE && make_empty(dir, &diag) != LBM_OK)
            status = lbm_cli_refuse(client, &diag);
        for (size_t i = 0; status == LBM_STATUS_DONE && i < json_array_size(jobs); i++)
            status = back_up_job(&daemon, dir, json_array_get(jobs, i), cluster, rows);
        lbm_daemon_close(&daemon);
    }
    json_decref(jobs);
    if (status == LBM_STATUS_DONE)
        lbm_backup_print_rows(rows);
    else
        json_decref(rows);
    return status;
}

static const struct lbm_operand backup_operands[] = {
    {.name = "DIR", .text = "folder that is made, or is empty"},
    {.name = "JOB", .optional = 1, .text = "only this job [all]", .longest = LBM_NAME_MAX},
};

const struct lbm_command lbm_command_backup = {
    .name = "backup",
    .text = "write jobs with the payloads of their vertices into a folder",
    .help = "Reads each job as all its hosts have it at one moment, while it runs: hosts move none of its "
            "vertices "
            "meanwhile, and programs that keep a payload wait until it is read. Needs the rights of its "
            "owner. lbctl "
            "restore makes jobs of the folder again, in this cluster or another.",
    .operands = backup_operands,
    .n_operands = sizeof backup_operands / sizeof *backup_operands,
    .run = run_backup,
};

/* ---- payloads -------------------------------------------------------------------------------------------
 */

enum { PAYLOADS_OUTPUT, PAYLOADS_OPTIONS };

static const struct lbm_option payloads_options[PAYLOADS_OPTIONS] = {
    [PAYLOADS_OUTPUT] = LBM_TEXT_OPTION("output", "DIR", "folder that is made, or is empty", .letter = 'o'),
};

static enum lbm_status
run_payloads(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    struct lbm_diag diag;
    const char *dir = client->value[PAYLOADS_OUTPUT].text;
    struct lbm_cut cut = {0};
    struct lbm_graph g = {0};
    json_t *rows = client->global[LBM_GLOBAL_JSON].given ? json_array() : NULL;
    enum lbm_err err = dir == NULL
                           ? lbm_diag_set(&diag, LBM_E_SYNTAX, "--output", 0, "name the folder to write to")
                           : make_empty(dir, &diag);
    enum lbm_status status = err != LBM_OK ? lbm_cli_refuse(client, &diag)
                                           : lbm_daemon_open(&daemon, client, NULL, LBM_DAEMON_TIMEOUT_MS, 0);
    if (status == LBM_STATUS_DONE) {
        status = lbm_cut_take(&daemon, client->operand[0], dir, &cut, &g);
        lbm_daemon_close(&daemon);
    }
    for (uint32_t v = 0; status == LBM_STATUS_DONE && v < cut.ids; v++) {
        char path[PATH_MAX];
        struct lbm_buf bytes = {0};
        if (cut.vertex[v].epoch == 0)
            continue;
        snprintf(path, sizeof path, "%s/%" PRIu32, dir, v);
        err = lbm_cut_payload(&cut, v, &bytes, &diag);
        if (err == LBM_OK)
            err = lbm_file_write(path, bytes.at != NULL ? bytes.at : "", bytes.len, &diag);
        lbm_buf_free(&bytes);
        if (err != LBM_OK)
            status = lbm_cli_fail(client, &diag);
    }
    if (status == LBM_STATUS_DONE)
        lbm_backup_tell_job(client, client->operand[0], cut.n, cut.bytes, dir, rows);
    lbm_graph_free(&g);
    lbm_cut_free(&cut);
    if (status == LBM_STATUS_DONE)
        lbm_backup_print_rows(rows);
    else
        json_decref(rows);
    return status;
}

static const struct lbm_operand payloads_operand[] = {LBM_JOB_OPERAND};

const struct lbm_command lbm_command_payloads = {
    .name = "payloads",
    .text = "write the payloads of a job's vertices, a file each",
    .help = "Reads all payloads as they are kept at one moment, as lbctl backup does. A file is named by the "
            "number of "
            "its vertex; lbctl submit --payloads reads such a folder.",
    .options = payloads_options,
    .n_options = PAYLOADS_OPTIONS,
    .operands = payloads_operand,
    .n_operands = 1,
    .run = run_payloads,
};
