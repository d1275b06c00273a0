/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl submit: a guest to a daemon, in bounded pieces. The daemon checks it again: it trusts nobody. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "client/daemon.h"
#include "client/guest.h"
#include "client/job_state.h"
#include "client/output.h"
#include "client/pins.h"
#include "client/policy.h"
#include "client/upload.h"
#include "file/file.h"
#include "node/node.h"
#include "wire/check.h"

/* The daemon checks the whole guest and stores it before it answers the end. */
enum { END_TIMEOUT_MS = 6 * LBM_DAEMON_TIMEOUT_MS, PARTS_TIMEOUT_MS = 180000 /* the other parts come */ };
enum { WAIT_S = 600 };

enum {
    SUBMIT_NAME,
    SUBMIT_START,
    SUBMIT_SEED,
    SUBMIT_IMBALANCE,
    SUBMIT_POLICY,
    SUBMIT_SCHEDULE,
    SUBMIT_PIN,
    SUBMIT_PAYLOADS,
    SUBMIT_PARALLEL,
    SUBMIT_SPREAD,
    SUBMIT_WAIT,
    SUBMIT_TIMEOUT,
    SUBMIT_GUEST,
    SUBMIT_OPTIONS = SUBMIT_GUEST + LBM_GUEST_OPTIONS
};

static const struct lbm_choice starts[] = {
#define START_CHOICE(id, number, name, text) {name, text},
    LBM_START_LIST(START_CHOICE)
#undef START_CHOICE
        {NULL, NULL},
};

static const struct lbm_choice earlier_starts[] = LBM_START_EARLIER;

static const struct lbm_option submit_options[SUBMIT_OPTIONS] = {
    [SUBMIT_NAME] = LBM_TEXT_OPTION(
        "name", "NAME", "name of the job; the file's name without its suffixes if absent", .letter = 'n'),
    [SUBMIT_START] = LBM_CHOICE_OPTION(
        "start", "START", starts, "how its vertices start:", .fallback = "plan", .earlier = earlier_starts),
    [SUBMIT_SEED] = LBM_INTEGER_OPTION("seed", "N", 0, LBM_OPTION_INTEGER_MAX,
                                       "of all random choices of the plan", .fallback = "1"),
    [SUBMIT_IMBALANCE] = LBM_SHARE_OPTION(
        "imbalance", "X", 0, 1, "load above its share that a host may carry: 0.03 or 3%", .fallback = "0.03"),
    [SUBMIT_POLICY] = LBM_JOB_POLICY_OPTION,
    [SUBMIT_SCHEDULE] = LBM_JOB_SCHEDULE_OPTION,
    [SUBMIT_PIN] = LBM_TEXT_OPTION("pin", "FILE", "vertices that must stay on a host: lines \"vertex host\""),
    [SUBMIT_PAYLOADS] = LBM_TEXT_OPTION(
        "payloads", "DIR", "vertices begin with these payloads: files of DIR, named by their numbers"),
    [SUBMIT_PARALLEL] = LBM_FLAG_OPTION(
        "parallel", "GRAPH is a part of a guest (lbctl convert --parts); others are submitted at other "
                    "hosts, and no host gets the whole"),
    [SUBMIT_SPREAD] = LBM_FLAG_OPTION(
        "spread", "with --start diffuse: each host gets a part of the guest as it is read, and no host the "
                  "whole, as always from 200,000 vertices on"),
    [SUBMIT_WAIT] = LBM_FLAG_OPTION("wait", "then wait until it has settled, as lbctl wait does"),
    [SUBMIT_TIMEOUT] =
        LBM_NUMBER_OPTION("timeout", "S", 0.1, 1e6,
                          "give up when the cluster has not taken the job by then, by default 60, "
                          "or 180 with --parallel; and with --wait when it has not settled after "
                          "as long again, by default 600",
                          .unit = "seconds"),
    LBM_GUEST_OPTION_ROWS(SUBMIT_GUEST),
};

static const struct lbm_operand submit_operands[] = {
    {.name = "GRAPH", .text = "guest graph; - is standard input"}};

/* The file's name without folder and suffixes, cut to a job name; "job" for standard input. */
static void
default_name(const char *path, char name[LBM_NAME_MAX + 1])
{
    const char *slash = strrchr(path, '/');
    const char *file = strcmp(path, "-") == 0 ? "job" : slash != NULL ? slash + 1 : path;
    size_t len = strlen(file);
    if (len > LBM_NAME_MAX) /* not inside a character of several bytes */
        for (len = LBM_NAME_MAX; len > 0 && ((unsigned char)file[len] & 0xc0) == 0x80;)
            len--;
    snprintf(name, LBM_NAME_MAX + 1, "%.*s", (int)len, file);
    char *dot = strchr(name, '.');
    if (dot != NULL && dot != name)
        *dot = '\0';
}

/* The name of the job: --name, or else the file's.  Errors: LBM_E_RANGE, LBM_E_SYNTAX. */
static enum lbm_err
choose_name(const struct lbm_cli *client, char name[LBM_NAME_MAX + 1], struct lbm_diag *diag)
{
    const struct lbm_option_value *given = &client->value[SUBMIT_NAME];
    if (!given->given)
        default_name(client->operand[0], name);
    else if (strlen(given->text) > LBM_NAME_MAX)
        return lbm_diag_set(diag, LBM_E_RANGE, "--name", 0, "a name has at most %d bytes", LBM_NAME_MAX);
    else
        snprintf(name, LBM_NAME_MAX + 1, "%s", given->text);
    size_t len = strlen(name);
    if (len == 0 || name[0] == ' ' || name[len - 1] == ' ' || !lbm_wire_text_clean(name, len))
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--name", 0,
                            "%s; give UTF-8 without control characters, not beginning or ending with a blank",
                            given->given ? "this cannot be the name of a job"
                                         : "the file's name cannot be that of the job");
    return LBM_OK;
}

/* part: parts is 0 if the guest is whole. */
static void
announce(const struct lbm_cli *client, const struct lbm_graph *g, const struct lbm_graph_part *part,
         char *name, Lbm__SubmitBegin *begin)
{
    begin->name = name;
    begin->vertices = g->n;
    begin->edges = lbm_graph_directions(g) / 2;
    begin->start = (uint32_t)client->value[SUBMIT_START].integer;
    begin->seed = client->value[SUBMIT_SEED].integer;
    begin->imbalance = client->value[SUBMIT_IMBALANCE].number;
    begin->policy = lbm_policy_given(&client->value[SUBMIT_POLICY]);
    begin->schedule = lbm_schedule_given(&client->value[SUBMIT_SCHEDULE]);
    begin->spread = client->value[SUBMIT_SPREAD].given;
    if (part->parts == 0)
        return;
    begin->vertices = part->vertices;
    begin->edges = part->edges;
    begin->start = client->value[SUBMIT_START].given ? begin->start : LBM_START_DIFFUSE;
    begin->parts = part->parts;
    begin->part = part->number;
    begin->first = part->first;
    begin->rows = part->rows;
}

/* Payloads of a folder. A vertex without a file begins without a payload. */
struct folder {
    const char *dir;
    uint32_t found;
};

static enum lbm_err
read_payload(void *context, uint32_t vertex, struct lbm_buf *out, struct lbm_diag *diag)
{
    struct folder *folder = context;
    enum lbm_err err = lbm_payload_file(folder->dir, vertex, LBM_BLOB_BYTES_MAX, out, diag);
    folder->found += err == LBM_OK;
    return err == LBM_E_NOTFOUND && errno == ENOENT ? LBM_OK : err;
}

/* Every file of the folder is a vertex's. Errors: LBM_E_NOTFOUND, LBM_E_RANGE. */
static enum lbm_err
check_folder(const char *path, uint32_t vertices, struct lbm_diag *diag)
{
    DIR *dir = opendir(path);
    enum lbm_err err = LBM_OK;
    if (dir == NULL)
        return lbm_diag_set(diag, LBM_E_NOTFOUND, path, 0, "is no folder that can be read: %s",
                            strerror(errno));
    for (const struct dirent *entry; err == LBM_OK && (entry = readdir(dir)) != NULL;) {
        char name[32];
        unsigned long vertex = strtoul(entry->d_name, NULL, 10);
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%lu", vertex);
        if (strcmp(name, entry->d_name) != 0 || vertex >= vertices)
            err = lbm_diag_set(diag, LBM_E_RANGE, path, 0,
                               "has a file %.60s, which is no vertex of the guest: they are 0 to %" PRIu32,
                               entry->d_name, vertices - 1);
    }
    closedir(dir);
    return err;
}

static enum lbm_status
send_guest(struct lbm_daemon *daemon, const struct lbm_cli *client, const struct lbm_graph *g,
           const struct lbm_graph_part *part, char *name)
{
    struct folder folder = {.dir = client->value[SUBMIT_PAYLOADS].text};
    const struct lbm_payloads payloads = {&folder, read_payload};
    int has_payloads = client->value[SUBMIT_PAYLOADS].given;
    unsigned end_ms = part->parts != 0 ? PARTS_TIMEOUT_MS : END_TIMEOUT_MS;
    Lbm__SubmitBegin begin = LBM__SUBMIT_BEGIN__INIT;
    announce(client, g, part, name, &begin);
    if (client->value[SUBMIT_TIMEOUT].given)
        end_ms = (unsigned)(client->value[SUBMIT_TIMEOUT].number * 1000);
    enum lbm_status status = lbm_upload(daemon, &begin, g, has_payloads ? &payloads : NULL, end_ms);
    if (status == LBM_STATUS_DONE && has_payloads && folder.found != g->n)
        lbm_cli_remark(
            client, "%" PRIu32 " of %" PRIu32 " vertices begin with a payload: the others have no file in %s",
            folder.found, g->n, folder.dir);
    return status;
}

/* The pins of the file name hosts of the cluster by id or name; the daemon wants ids. */
static enum lbm_status
read_pins(struct lbm_daemon *daemon, const struct lbm_cli *client, struct lbm_graph *g)
{
    struct lbm_hosts h = {0};
    struct lbm_diag diag;
    uint32_t *ids = NULL;
    enum lbm_status status = lbm_daemon_hosts(daemon, &h, &ids);
    if (status != LBM_STATUS_DONE)
        return status;
    if (lbm_pins_read(client->value[SUBMIT_PIN].text, &h, ids, g, &diag) != LBM_OK)
        status = lbm_cli_refuse(client, &diag);
    lbm_hosts_free(&h);
    free(ids);
    return status;
}

static void
report(const struct lbm_cli *client, const struct lbm_graph *g, const struct lbm_graph_part *part,
       const char *name)
{
    uint32_t vertices = part->parts != 0 ? part->vertices : g->n;
    uint64_t edges = part->parts != 0 ? part->edges : lbm_graph_directions(g) / 2;
    if (client->global[LBM_GLOBAL_JSON].given) {
        json_t *object = json_pack("{s:s, s:I, s:I}", "job", name, "vertices", (json_int_t)vertices, "edges",
                                   (json_int_t)edges);
        json_dumpf(object, stdout, LBM_JSON_FLAGS);
        printf("\n");
        json_decref(object);
    } else if (!lbm_cli_is_quiet(client)) {
        printf("job %s: %" PRIu32 " vertices, %" PRIu64 " edges; follow it with lbctl wait %s\n", name,
               vertices, edges, name);
    }
}

static enum lbm_err
read_guest(const struct lbm_cli *client, struct lbm_graph_part *part, struct lbm_buf *remarks,
           struct lbm_graph *g, struct lbm_diag *diag)
{
    uint64_t start = client->value[SUBMIT_START].integer;
    if (client->value[SUBMIT_SPREAD].given &&
        (client->value[SUBMIT_PARALLEL].given || client->value[SUBMIT_PAYLOADS].given ||
         start != LBM_START_DIFFUSE))
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "--spread", 0,
                            "a whole guest without payloads is spread, with --start diffuse");
    if (!client->value[SUBMIT_PARALLEL].given)
        return lbm_guest_read(client, SUBMIT_GUEST, client->operand[0], remarks, g, diag);
    if (lbm_guest_refuse(client, SUBMIT_GUEST, "a part of a guest is read as it is, with --parallel", diag) !=
        LBM_OK)
        return LBM_E_UNSUPPORTED;
    if (client->value[SUBMIT_PIN].given || client->value[SUBMIT_PAYLOADS].given)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, client->value[SUBMIT_PIN].given ? "--pin" : "--payloads",
                            0, "this is not read with --parallel");
    if (client->value[SUBMIT_START].given && start != LBM_START_COARSE && start != LBM_START_RANDOM &&
        start != LBM_START_DIFFUSE)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "--start", 0,
                            "a guest in parts starts by diffusion, or at random places");
    return lbm_file_graph_part(client->operand[0], part, g, diag);
}

/* A vertex goes to another host in one message, with all its edges. */
static enum lbm_err
check_degrees(const char *path, const struct lbm_graph *g, struct lbm_diag *diag)
{
    for (uint32_t v = 0; v < g->n; v++)
        if (g->offset[v + 1] - g->offset[v] > LBM_DEGREE_MAX)
            return lbm_diag_set(diag, LBM_E_LIMIT, path, 0,
                                "vertex %" PRIu32 " has %" PRIu64
                                " neighbours; of a job that daemons work on it may have %d",
                                v, (uint64_t)(g->offset[v + 1] - g->offset[v]), LBM_DEGREE_MAX);
    return LBM_OK;
}

static enum lbm_status
run_submit(const struct lbm_cli *client)
{
    struct lbm_graph g;
    struct lbm_buf remarks = {0};
    struct lbm_diag diag;
    struct lbm_daemon daemon;
    struct lbm_graph_part part = {0};
    char name[LBM_NAME_MAX + 1];
    if (choose_name(client, name, &diag) != LBM_OK ||
        read_guest(client, &part, &remarks, &g, &diag) != LBM_OK) {
        lbm_buf_free(&remarks);
        return lbm_cli_refuse(client, &diag);
    }
    if (check_degrees(client->operand[0], &g, &diag) != LBM_OK ||
        (client->value[SUBMIT_PAYLOADS].given &&
         check_folder(client->value[SUBMIT_PAYLOADS].text, g.n, &diag) != LBM_OK)) {
        lbm_buf_free(&remarks);
        lbm_graph_free(&g);
        return lbm_cli_refuse(client, &diag);
    }
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, LBM_DAEMON_TIMEOUT_MS, 0);
    if (status == LBM_STATUS_DONE && client->value[SUBMIT_PIN].given)
        status = read_pins(&daemon, client, &g);
    if (status == LBM_STATUS_DONE)
        status = send_guest(&daemon, client, &g, &part, name);
    if (status == LBM_STATUS_DONE)
        lbm_guest_remark(client, client->operand[0], &remarks);
    if (status == LBM_STATUS_DONE)
        report(client, &g, &part, name);
    if (status == LBM_STATUS_DONE && client->value[SUBMIT_WAIT].given) {
        daemon.handle.timeout_ms = LBM_DAEMON_TIMEOUT_MS;
        status =
            lbm_job_wait(client, &daemon, name,
                         client->value[SUBMIT_TIMEOUT].given ? client->value[SUBMIT_TIMEOUT].number : WAIT_S);
    }
    lbm_daemon_close(&daemon);
    lbm_buf_free(&remarks);
    lbm_graph_free(&g);
    return status;
}

const struct lbm_command lbm_command_submit = {
    .name = "submit",
    .text = "give a guest graph to the cluster",
    .help = "Reads and checks the graph, sends it to the daemon at --socket, which checks it again, stores "
            "it and makes a job of it. Returns when the cluster's log has taken the job; lbctl wait "
            "follows it.",
    .options = submit_options,
    .n_options = SUBMIT_OPTIONS,
    .operands = submit_operands,
    .n_operands = 1,
    .run = run_submit,
};
