/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl restore: jobs of a folder that lbctl backup has written. Everything is checked before a job is begun.
 */
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "client/backup_format.h"
#include "client/policy.h"
#include "client/upload.h"
#include "file/file.h"
#include "node/node.h"

enum { END_TIMEOUT_MS = 6 * LBM_DAEMON_TIMEOUT_MS };
enum { RESTORE_NAME, RESTORE_START, RESTORE_DROP_PINS, RESTORE_OPTIONS };

static const struct lbm_choice restore_starts[] = {
#define START_CHOICE(id, number, name, text) {name, text},
    LBM_START_LIST(START_CHOICE)
#undef START_CHOICE
        {NULL, NULL},
};

static const struct lbm_option restore_options[RESTORE_OPTIONS] = {
    [RESTORE_NAME] = LBM_TEXT_OPTION(
        "name", "NAME", "of the only job that is restored, if not its former name", .letter = 'n'),
    [RESTORE_START] =
        LBM_CHOICE_OPTION("start", "START", restore_starts, "how its vertices start:", .fallback = "plan"),
    [RESTORE_DROP_PINS] = LBM_FLAG_OPTION("drop-pins", "no vertex is pinned to a host any more"),
};

struct saved {
    const char *folder;
    json_t *job;
    struct lbm_graph g;
    FILE *payloads;
    uint64_t bytes;
};

static void
saved_free(struct saved *saved)
{
    json_decref(saved->job);
    lbm_graph_free(&saved->g);
    if (saved->payloads != NULL)
        fclose(saved->payloads);
}

/* Errors: LBM_E_CORRUPT: the file is not the one that was written. */
static enum lbm_err
check_file(const struct saved *saved, size_t i, char path[PATH_MAX], struct lbm_diag *diag)
{
    const json_t *sum = json_object_get(json_object_get(saved->job, "crc32"), lbm_backup_files[i]);
    uint32_t crc;
    lbm_backup_path_of(saved->folder, lbm_backup_files[i], path);
    enum lbm_err err = lbm_file_checksum(path, &crc, diag);
    if (err == LBM_OK && json_integer_value(sum) != (json_int_t)crc)
        err = lbm_diag_set(diag, LBM_E_CORRUPT, path, 0,
                           "is not as it was written: its checksum is another one");
    return err;
}

static enum lbm_err
read_pins(const struct saved *saved, const char *path, struct lbm_graph *g, struct lbm_diag *diag)
{
    char *text;
    size_t len;
    enum lbm_err err = lbm_file_read(path, &text, &len, diag);
    if (err != LBM_OK)
        return err;
    g->pin = lbm_alloc(g->n, sizeof *g->pin);
    for (uint32_t v = 0; g->pin != NULL && v < g->n; v++)
        g->pin[v] = LBM_NONE;
    char *end = text;
    for (const char *at = text; g->pin != NULL && *at != '\0'; at = end) {
        unsigned long v = strtoul(at, &end, 10), host = strtoul(end, &end, 10);
        if (*end == '\n')
            end++;
        if (end == at || v >= g->n || host >= LBM_HOSTS_MAX)
            break;
        g->pin[v] = (uint32_t)host;
    }
    int is_whole = *end == '\0';
    free(text);
    if (g->pin == NULL)
        return LBM_E_NOMEM;
    return is_whole ? LBM_OK
                    : lbm_diag_set(diag, LBM_E_SYNTAX, saved->folder, 0,
                                   "its file pins has lines \"vertex host\"");
}

static enum lbm_err
read_description(struct saved *saved, struct lbm_diag *diag)
{
    char path[PATH_MAX], *text = NULL;
    size_t len;
    json_error_t error;
    lbm_backup_path_of(saved->folder, "job.json", path);
    enum lbm_err err = lbm_file_read(path, &text, &len, diag);
    if (err == LBM_E_NOTFOUND)
        return lbm_diag_set(diag, err, saved->folder, 0,
                            "is no backup of a job: it has no file job.json, which lbctl backup writes last");
    if (err != LBM_OK)
        return err;
    saved->job = json_loads(text, 0, &error);
    free(text);
    if (saved->job == NULL)
        return lbm_diag_set(diag, LBM_E_SYNTAX, path, (uint64_t)error.line, "%s", error.text);
    json_int_t format = json_integer_value(json_object_get(saved->job, "format"));
    if (format != LBM_BACKUP_FORMAT)
        return lbm_diag_set(diag, LBM_E_VERSION, path, 0, "has format %" PRId64 "; this program reads %d",
                            (int64_t)format, LBM_BACKUP_FORMAT);
    if (!json_is_string(json_object_get(saved->job, "name")))
        return lbm_diag_set(diag, LBM_E_SYNTAX, path, 0, "has no name of the job");
    if (json_integer_value(json_object_get(saved->job, "ids")) !=
        json_integer_value(json_object_get(saved->job, "vertices")))
        return lbm_diag_set(
            diag, LBM_E_UNSUPPORTED, saved->folder, 0,
            "vertices of this job were removed, so numbers are free that a new job would use: it "
            "cannot be restored; its files are guest.graph and payloads");
    return LBM_OK;
}

static enum lbm_err
open_saved(struct saved *saved, int drops_pins, struct lbm_diag *diag)
{
    char path[PATH_MAX], magic[sizeof lbm_backup_magic];
    enum lbm_err err = read_description(saved, diag);
    if (err == LBM_OK)
        err = check_file(saved, LBM_BACKUP_GUEST, path, diag);
    if (err == LBM_OK)
        err = lbm_file_graph(path, LBM_FORMAT_METIS, NULL, &saved->g, diag);
    if (err == LBM_OK &&
        json_object_get(json_object_get(saved->job, "crc32"), lbm_backup_files[LBM_BACKUP_PINS]) != NULL &&
        !drops_pins) {
        err = check_file(saved, LBM_BACKUP_PINS, path, diag);
        if (err == LBM_OK)
            err = read_pins(saved, path, &saved->g, diag);
    }
    if (err == LBM_OK)
        err = check_file(saved, LBM_BACKUP_PAYLOADS, path, diag);
    if (err != LBM_OK)
        return err;
    saved->payloads = fopen(path, "rb");
    if (saved->payloads == NULL)
        return lbm_backup_io_error(diag, path);
    if (fread(magic, sizeof magic, 1, saved->payloads) != 1 ||
        memcmp(magic, lbm_backup_magic, sizeof magic) != 0)
        return lbm_diag_set(diag, LBM_E_CORRUPT, path, 0, "does not begin as such a file does");
    return LBM_OK;
}

static enum lbm_err
read_saved(void *context, uint32_t vertex, struct lbm_buf *out, struct lbm_diag *diag)
{
    struct saved *saved = context;
    unsigned char head[LBM_BACKUP_HEAD];
    if (fread(head, sizeof head, 1, saved->payloads) != 1 || lbm_backup_get_u32(head) != vertex ||
        lbm_backup_get_u32(head + 4) > LBM_BLOB_BYTES_MAX)
        return lbm_diag_set(diag, LBM_E_CORRUPT, saved->folder, 0, "lacks the payload of vertex %" PRIu32,
                            vertex);
    uint32_t len = lbm_backup_get_u32(head + 4);
    uint8_t *bytes = lbm_alloc(len, 1);
    if (bytes == NULL)
        return LBM_E_NOMEM;
    int is_there = fread(bytes, 1, len, saved->payloads) == len;
    uint32_t crc = lbm_checksum(0, head, 8);
    crc = lbm_checksum(crc, bytes, len);
    if (is_there)
        lbm_buf_put(out, bytes, len);
    free(bytes);
    saved->bytes += len;
    if (!is_there || crc != lbm_backup_get_u32(head + 8))
        return lbm_diag_set(diag, LBM_E_CORRUPT, saved->folder, 0, "has a damaged payload of vertex %" PRIu32,
                            vertex);
    return out->failed ? LBM_E_NOMEM : LBM_OK;
}

/* The number of a name in a table of choices, and more for `plus`; 0: it is not there. */
static uint32_t
number_of(const struct lbm_choice *choices, const char *name, uint32_t plus)
{
    for (uint32_t i = 0; name != NULL && choices[i].name != NULL; i++)
        if (strcmp(choices[i].name, name) == 0)
            return i + plus;
    return 0;
}

static enum lbm_status
set_gates(struct lbm_daemon *daemon, char *name, const json_t *from)
{
    if (!json_is_object(from))
        return LBM_STATUS_DONE;
    Lbm__JobGates gates = LBM__JOB_GATES__INIT;
    Lbm__JobChange change = LBM__JOB_CHANGE__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    gates.cooldown_s = json_number_value(json_object_get(from, "cooldown_s"));
    gates.payback_s = json_number_value(json_object_get(from, "payback_s"));
    gates.bytes_per_s = (uint64_t)json_integer_value(json_object_get(from, "bytes_per_s"));
    gates.in_flight = (uint32_t)json_integer_value(json_object_get(from, "in_flight"));
    gates.given =
        (gates.cooldown_s > 0 ? LBM_GATE_COOLDOWN : 0) | (gates.payback_s > 0 ? LBM_GATE_PAYBACK : 0) |
        (gates.bytes_per_s > 0 ? LBM_GATE_BYTES : 0) | (gates.in_flight > 0 ? LBM_GATE_IN_FLIGHT : 0);
    if (gates.given == 0)
        return LBM_STATUS_DONE;
    change.job = name;
    change.keeps_policy = 1;
    change.gates = &gates;
    request.what_case = LBM__REQUEST__WHAT_JOB_CHANGE;
    request.job_change = &change;
    return lbm_daemon_change(daemon, &request);
}

static enum lbm_status
restore_job(struct lbm_daemon *daemon, const char *folder, json_t *rows)
{
    const struct lbm_option_value *value = daemon->client->value;
    struct saved saved = {.folder = folder};
    struct lbm_diag diag;
    const struct lbm_payloads payloads = {&saved, read_saved};
    enum lbm_status status = LBM_STATUS_DONE;
    char name[LBM_NAME_MAX + 1];
    if (open_saved(&saved, value[RESTORE_DROP_PINS].given, &diag) != LBM_OK) {
        status = lbm_cli_refuse(daemon->client, &diag);
    } else {
        const json_t *job = saved.job;
        Lbm__SubmitBegin begin = LBM__SUBMIT_BEGIN__INIT;
        snprintf(name, sizeof name, "%s",
                 value[RESTORE_NAME].given ? value[RESTORE_NAME].text
                                           : json_string_value(json_object_get(job, "name")));
        begin.name = name;
        begin.vertices = saved.g.n;
        begin.edges = lbm_graph_directions(&saved.g) / 2;
        begin.start = (uint32_t)value[RESTORE_START].integer;
        begin.seed = (uint64_t)json_integer_value(json_object_get(job, "seed"));
        begin.imbalance = json_number_value(json_object_get(job, "imbalance_bound"));
        begin.policy = number_of(lbm_policy_choices, json_string_value(json_object_get(job, "policy_asked")),
                                 LBM_JOB_POLICY_NONE);
        begin.schedule =
            number_of(lbm_schedule_choices, json_string_value(json_object_get(job, "schedule")), 1);
        status = lbm_upload(daemon, &begin, &saved.g, &payloads, END_TIMEOUT_MS);
        daemon->handle.timeout_ms = LBM_DAEMON_TIMEOUT_MS;
        if (status == LBM_STATUS_DONE)
            status = set_gates(daemon, name, json_object_get(job, "gates"));
    }
    if (status == LBM_STATUS_DONE) {
        lbm_backup_tell_job(daemon->client, name, saved.g.n, saved.bytes,
                            "restored; follow it with lbctl wait", rows);
    }
    saved_free(&saved);
    return status;
}

/* Folders of jobs in dir, by name. */
static enum lbm_err
list_jobs(const char *dir, const char *job, char ***out, size_t *n, struct lbm_diag *diag)
{
    struct dirent **entries = NULL;
    char path[PATH_MAX];
    struct stat is;
    int found = scandir(dir, &entries, NULL, alphasort);
    *n = 0;
    *out = lbm_alloc(found > 0 ? (size_t)found : 1, sizeof **out);
    if (found < 0)
        return lbm_backup_io_error(diag, dir);
    for (int i = 0; i < found; i++) {
        char wanted[PATH_MAX];
        lbm_backup_folder_of(dir, job, wanted);
        snprintf(path, sizeof path, "%s/%s", dir, entries[i]->d_name);
        int is_job = entries[i]->d_name[0] != '.' && stat(path, &is) == 0 && S_ISDIR(is.st_mode) &&
                     (job[0] == '\0' || strcmp(path, wanted) == 0);
        if (is_job && *out != NULL && ((*out)[*n] = strdup(path)) != NULL)
            (*n)++;
        free(entries[i]);
    }
    free(entries);
    return *out == NULL ? LBM_E_NOMEM
           : *n == 0    ? lbm_diag_set(diag, LBM_E_NOTFOUND, dir, 0, "has no backup of %s%.80s",
                                    job[0] != '\0' ? "job " : "a job", job)
                        : LBM_OK;
}

static enum lbm_status
run_restore(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    struct lbm_diag diag;
    char **folder = NULL;
    size_t n = 0;
    json_t *rows = client->global[LBM_GLOBAL_JSON].given ? json_array() : NULL;
    enum lbm_err err =
        list_jobs(client->operand[0], client->n_operands > 1 ? client->operand[1] : "", &folder, &n, &diag);
    if (err == LBM_OK && n != 1 && client->value[RESTORE_NAME].given)
        err = lbm_diag_set(&diag, LBM_E_SYNTAX, "--name", 0, "there are %zu jobs in %s: name one of them", n,
                           client->operand[0]);
    enum lbm_status status = err != LBM_OK ? lbm_cli_refuse(client, &diag)
                                           : lbm_daemon_open(&daemon, client, NULL, LBM_DAEMON_TIMEOUT_MS, 0);
    if (status == LBM_STATUS_DONE) {
        for (size_t i = 0; status == LBM_STATUS_DONE && i < n; i++)
            status = restore_job(&daemon, folder[i], rows);
        lbm_daemon_close(&daemon);
    }
    for (size_t i = 0; i < n; i++)
        free(folder[i]);
    free(folder);
    if (status == LBM_STATUS_DONE)
        lbm_backup_print_rows(rows);
    else
        json_decref(rows);
    return status;
}

static const struct lbm_operand restore_operands[] = {
    {.name = "DIR", .text = "folder that lbctl backup has made"},
    {.name = "JOB", .optional = 1, .text = "only this job [all]", .longest = LBM_NAME_MAX},
};

const struct lbm_command lbm_command_restore = {
    .name = "restore",
    .text = "make jobs of a backup, with the payloads of their vertices",
    .help = "Submits each job of the folder again, with the settings that it had; no job of its name may "
            "exist. Vertices "
            "go to the hosts that there are now. All files are checked first. Programs begin with the "
            "payloads of the "
            "backup.",
    .options = restore_options,
    .n_options = RESTORE_OPTIONS,
    .operands = restore_operands,
    .n_operands = sizeof restore_operands / sizeof *restore_operands,
    .run = run_restore,
};
