/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl recover: vertices of a job that are on no host any more begin again, from the application's own
 * copies or as submitted; or the job is closed. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "client/job_state.h"
#include "client/upload.h"
#include "file/file.h"
#include "file/own.h"

enum { RECOVER_GRAPH, RECOVER_FROM, RECOVER_SUBMITTED, RECOVER_CLOSE, RECOVER_TIMEOUT, RECOVER_OPTIONS };
enum { ROWS_AT_ONCE = 256, BYTES_AT_ONCE = 1 << 20 };

static const struct lbm_option recover_options[RECOVER_OPTIONS] = {
    [RECOVER_GRAPH] = LBM_TEXT_OPTION(
        "graph", "FILE", "the guest as it was submitted: what edges and work lost vertices have"),
    [RECOVER_FROM] = LBM_TEXT_OPTION(
        "from", "DIR", "payloads of lost vertices are the files of this folder, named by their numbers"),
    [RECOVER_SUBMITTED] =
        LBM_FLAG_OPTION("as-submitted", "lost vertices begin without a payload, as at first"),
    [RECOVER_CLOSE] = LBM_FLAG_OPTION("close", "end the job instead, as lbctl cancel"),
    [RECOVER_TIMEOUT] =
        LBM_NUMBER_OPTION("timeout", "S", 0.1, 1e6, "wait so long for the control log and the backup",
                          .fallback = "60", .unit = "seconds"),
};

static enum lbm_status
fail(const struct lbm_cli *client, enum lbm_err err, const char *where, const char *text)
{
    struct lbm_diag diag;
    lbm_diag_set(&diag, err, where, 0, "%s", text);
    return lbm_cli_fail(client, &diag);
}

/* ---- what is lost ----------------------------------------------------------------------------------------
 */

struct search {
    uint8_t *found; /* [vertices] */
    uint32_t vertices;
    uint32_t missing; /* hosts that did not answer */
};

static enum lbm_err
take_map(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    struct search *search = arg;
    const Lbm__MapReply *reply = chunk->map;
    (void)handle;
    for (size_t i = 0; reply != NULL && reply->records != NULL && i < reply->records->n_vertex; i++)
        if (reply->records->vertex[i] < search->vertices)
            search->found[reply->records->vertex[i]] = 1;
    search->missing += reply != NULL ? (uint32_t)reply->n_missing : 0;
    return LBM_OK;
}

/* Which vertices some host has. */
static enum lbm_status
look(struct lbm_daemon *daemon, const char *job, struct search *search)
{
    char name[LBM_NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", job);
    Lbm__MapRequest map = LBM__MAP_REQUEST__INIT;
    map.job = name;
    enum lbm_status status = lbm_daemon_map(daemon, &map, take_map, search);
    if (status == LBM_STATUS_DONE && search->missing != 0)
        status = fail(daemon->client, LBM_E_UNREACHABLE, job,
                      "hosts did not answer, so nobody knows what is lost; ask again, see lbctl hosts");
    return status;
}

/* Twice, so that a vertex on its way between hosts is not taken for a lost one. */
static enum lbm_status
look_twice(struct lbm_daemon *daemon, const char *job, struct search *search)
{
    const struct timespec pause = {1, 0};
    enum lbm_status status = look(daemon, job, search);
    if (status == LBM_STATUS_DONE) {
        nanosleep(&pause, NULL);
        status = look(daemon, job, search);
    }
    return status;
}

/* ---- sending ---------------------------------------------------------------------------------------------
 */

/* Rows on their way; columns grow and are sent together. */
struct batch {
    LBM_VEC(uint32_t) vertex, work, pin, degree, neighbour, weight, payload_len;
    struct lbm_buf payload;
};

static void
batch_free(struct batch *batch)
{
    lbm_vec_free(&batch->vertex);
    lbm_vec_free(&batch->work);
    lbm_vec_free(&batch->pin);
    lbm_vec_free(&batch->degree);
    lbm_vec_free(&batch->neighbour);
    lbm_vec_free(&batch->weight);
    lbm_vec_free(&batch->payload_len);
    lbm_buf_free(&batch->payload);
}

static enum lbm_err
add_row(struct batch *batch, const struct lbm_graph *g, uint32_t v, const char *dir, struct lbm_diag *diag)
{
    size_t before = batch->payload.len;
    enum lbm_err err =
        dir != NULL ? lbm_payload_file(dir, v, LBM_PAYLOAD_MAX, &batch->payload, diag) : LBM_OK;
    if (err == LBM_E_NOTFOUND)
        return lbm_diag_set(
            diag, err, dir, 0,
            "has no file %" PRIu32 ": it has to have one for each lost vertex, named by its number", v);
    if (err != LBM_OK)
        return err;
    int failed = lbm_vec_push(&batch->vertex, v) != LBM_OK;
    failed |= lbm_vec_push(&batch->work, lbm_graph_work(g, v)) != LBM_OK;
    failed |= lbm_vec_push(&batch->degree, (uint32_t)(g->offset[v + 1] - g->offset[v])) != LBM_OK;
    failed |= lbm_vec_push(&batch->payload_len, (uint32_t)(batch->payload.len - before)) != LBM_OK;
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        failed |= lbm_vec_push(&batch->neighbour, g->target[e]) != LBM_OK;
        failed |= lbm_vec_push(&batch->weight, lbm_graph_weight(g, e)) != LBM_OK;
    }
    return failed ? LBM_E_NOMEM : LBM_OK;
}

static enum lbm_status
send_batch(struct lbm_daemon *daemon, struct batch *batch)
{
    Lbm__RecoverRows rows = LBM__RECOVER_ROWS__INIT;
    rows.n_vertex = rows.n_work = rows.n_degree = rows.n_payload_len = batch->vertex.n;
    rows.vertex = batch->vertex.at;
    rows.work = batch->work.at;
    rows.degree = batch->degree.at;
    rows.payload_len = batch->payload_len.at;
    rows.n_neighbour = rows.n_weight = batch->neighbour.n;
    rows.neighbour = batch->neighbour.at;
    rows.weight = batch->weight.at;
    rows.payload = (ProtobufCBinaryData){batch->payload.len, (uint8_t *)batch->payload.at};
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_RECOVER_ROWS;
    request.recover_rows = &rows;
    enum lbm_status status = lbm_daemon_ask(daemon, &request, NULL, NULL);
    batch_free(batch);
    *batch = (struct batch){0};
    return status;
}

static enum lbm_status
send_rows(struct lbm_daemon *daemon, const struct lbm_graph *g, const uint8_t *found, const char *dir)
{
    struct batch batch = {0};
    struct lbm_diag diag = {0};
    enum lbm_status status = LBM_STATUS_DONE;
    for (uint32_t v = 0; status == LBM_STATUS_DONE && v < g->n; v++) {
        if (found[v])
            continue;
        if (add_row(&batch, g, v, dir, &diag) != LBM_OK)
            status = lbm_cli_refuse(daemon->client, &diag);
        else if (batch.vertex.n == ROWS_AT_ONCE || batch.payload.len + 8 * batch.neighbour.n >= BYTES_AT_ONCE)
            status = send_batch(daemon, &batch);
    }
    if (status == LBM_STATUS_DONE && batch.vertex.n != 0)
        status = send_batch(daemon, &batch);
    batch_free(&batch);
    return status;
}

static enum lbm_status
send_lost(struct lbm_daemon *daemon, const char *job, const struct lbm_graph *g, const struct search *search,
          uint32_t lost, const char *dir, double timeout_s)
{
    char name[LBM_NAME_MAX + 1];
    Lbm__RecoverBegin begin = LBM__RECOVER_BEGIN__INIT;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    snprintf(name, sizeof name, "%s", job);
    begin.job = name;
    begin.vertices = lost;
    request.what_case = LBM__REQUEST__WHAT_RECOVER_BEGIN;
    request.recover_begin = &begin;
    enum lbm_status status = lbm_daemon_ask(daemon, &request, NULL, NULL);
    if (status == LBM_STATUS_DONE)
        status = send_rows(daemon, g, search->found, dir);
    if (status != LBM_STATUS_DONE)
        return status;
    request = (Lbm__Request)LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_RECOVER_END;
    request.recover_end = &empty;
    daemon->handle.timeout_ms = (unsigned)(timeout_s * 1000);
    return lbm_daemon_ask(daemon, &request, NULL, NULL);
}

/* ---- the command -----------------------------------------------------------------------------------------
 */

/* The job must be one of which vertices are lost. Out: how many it has, and how many are. */
static enum lbm_status
check_job(struct lbm_daemon *daemon, const char *job, uint32_t *vertices, uint32_t *lost)
{
    json_t *rows = json_array();
    char text[LBM_DIAG_TEXT_MAX - 64];
    enum lbm_status status = lbm_job_ask(daemon, job, rows);
    const json_t *row = json_array_get(rows, 0);
    if (status == LBM_STATUS_DONE && row != NULL) {
        const json_t *n = json_object_get(row, "lost");
        *vertices = (uint32_t)json_integer_value(json_object_get(row, "vertices"));
        *lost = (uint32_t)json_integer_value(n);
        lbm_job_say(row, text, sizeof text);
        if (json_is_null(n))
            status = fail(daemon->client, LBM_E_STATE, job,
                          "nobody knows which vertices are lost, since they come and go; lbctl recover "
                          "--close ends the "
                          "job");
        else if (*lost == 0) {
            struct lbm_diag diag;
            lbm_diag_set(&diag, LBM_E_STATE, job, 0, "nothing is lost for certain: it is %s", text);
            status = lbm_cli_fail(daemon->client, &diag);
        }
    }
    json_decref(rows);
    return status;
}

static enum lbm_status
recover(const struct lbm_cli *client, struct lbm_daemon *daemon, const struct lbm_graph *g)
{
    const struct lbm_option_value *value = client->value;
    const char *job = client->operand[0];
    uint32_t vertices = 0, lost = 0, absent = 0;
    enum lbm_status status = check_job(daemon, job, &vertices, &lost);
    if (status != LBM_STATUS_DONE)
        return status;
    if (g->n != vertices)
        return fail(client, LBM_E_RANGE, value[RECOVER_GRAPH].text,
                    "is not the guest of this job: its vertices are others");
    struct search search = {.found = lbm_alloc(vertices, 1), .vertices = vertices};
    if (search.found == NULL)
        return fail(client, LBM_E_NOMEM, job, "no memory");
    status = look_twice(daemon, job, &search);
    for (uint32_t v = 0; v < vertices; v++)
        absent += !search.found[v];
    if (status == LBM_STATUS_DONE && absent != lost)
        status =
            fail(client, LBM_E_BUSY, job, "vertices are on their way between hosts; ask again in a moment");
    if (status == LBM_STATUS_DONE)
        status = send_lost(daemon, job, g, &search, lost,
                           value[RECOVER_FROM].given ? value[RECOVER_FROM].text : NULL,
                           value[RECOVER_TIMEOUT].number);
    free(search.found);
    if (status == LBM_STATUS_DONE && client->global[LBM_GLOBAL_JSON].given)
        printf("{\"recovered\": %" PRIu32 "}\n", lost);
    else if (status == LBM_STATUS_DONE && !lbm_cli_is_quiet(client))
        printf("job %s: %" PRIu32 " lost vertices begin again; follow it with lbctl wait %s\n", job, lost,
               job);
    return status;
}

static enum lbm_err
check_options(const struct lbm_cli *client, struct lbm_diag *diag)
{
    const struct lbm_option_value *value = client->value;
    int ways = (value[RECOVER_FROM].given != 0) + (value[RECOVER_SUBMITTED].given != 0) +
               (value[RECOVER_CLOSE].given != 0);
    if (ways != 1)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "recover", 0,
                            "give one of --from, --as-submitted and --close");
    if (!value[RECOVER_CLOSE].given && !value[RECOVER_GRAPH].given)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--graph", 0,
                            "name the guest's file: it has the edges of lost vertices");
    return LBM_OK;
}

static enum lbm_status
close_job(const struct lbm_cli *client, struct lbm_daemon *daemon)
{
    char name[LBM_NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", client->operand[0]);
    Lbm__CancelRequest cancel = LBM__CANCEL_REQUEST__INIT;
    cancel.job = name;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_CANCEL;
    request.cancel = &cancel;
    daemon->handle.timeout_ms = (unsigned)(client->value[RECOVER_TIMEOUT].number * 1000);
    return lbm_daemon_change(daemon, &request);
}

static enum lbm_status
run_recover(const struct lbm_cli *client)
{
    struct lbm_graph g = {0};
    struct lbm_daemon daemon;
    struct lbm_diag diag;
    int closes = client->value[RECOVER_CLOSE].given;
    enum lbm_err err = check_options(client, &diag);
    if (err == LBM_OK && !closes)
        err = lbm_file_graph(client->value[RECOVER_GRAPH].text, LBM_FORMAT_COUNT, NULL, &g, &diag);
    if (err != LBM_OK)
        return lbm_cli_refuse(client, &diag);
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, LBM_DAEMON_TIMEOUT_MS, 0);
    if (status == LBM_STATUS_DONE)
        status = closes ? close_job(client, &daemon) : recover(client, &daemon, &g);
    lbm_daemon_close(&daemon);
    lbm_graph_free(&g);
    return status;
}

static const struct lbm_operand job_operand[] = {LBM_JOB_OPERAND};

const struct lbm_command lbm_command_recover = {
    .name = "recover",
    .text = "begin lost vertices of a job again, or close it",
    .help = "Of a job that is LOST: an owner and its backup went with what they had, and an operator said so "
            "(lbctl evict "
            "--lost). Asks every host what it has, and begins what none has again on the asked host, with "
            "the payloads "
            "of files (--from) or without any (--as-submitted); edges and work are those of --graph. Tokens "
            "are above "
            "all that were given before. Nothing happens while a host does not answer. The job's owner and "
            "administrators may.",
    .options = recover_options,
    .n_options = RECOVER_OPTIONS,
    .operands = job_operand,
    .n_operands = 1,
    .run = run_recover,
};
