/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl explain: why a vertex is where it is, by those who gave it away. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/daemon.h"
#include "client/output.h"
#include "client/table.h"
#include "node/migration/history.h"

static const struct lbm_column move_columns[] = {
    {"epoch", "epoch", LBM_COLUMN_COUNT, 0},
    {"from", "from", LBM_COLUMN_COUNT, 0},
    {"to", "to", LBM_COLUMN_COUNT, 0},
    {"age_s", "ago", LBM_COLUMN_SECONDS, 0},
    {"state", "state", LBM_COLUMN_TEXT, 0},
    {"gain", "J less", LBM_COLUMN_RATIO, 0},
    {"work", "work", LBM_COLUMN_COUNT, 2},
    {"share_from", "load there", LBM_COLUMN_PERCENT, 1},
    {"share_to", "load here", LBM_COLUMN_PERCENT, 1},
    {"bytes", "bytes", LBM_COLUMN_COUNT, 2},
    {"waited", "waited", LBM_COLUMN_TEXT, 4},
    {"took", "took", LBM_COLUMN_TEXT, 2},
    {"why", "why", LBM_COLUMN_TEXT, 0},
    {"text", "that is", LBM_COLUMN_TEXT, 3},
};

/* What is said to be known, or nothing. */
static void
put_real(json_t *row, const char *key, int is_known, double value)
{
    if (is_known)
        json_object_set_new(row, key, json_real(value));
}

static json_t *
move_object(const Lbm__Move *move)
{
    json_t *row = json_pack("{s:I, s:i, s:i, s:s, s:s, s:s, s:I}", "epoch", (json_int_t)move->epoch, "from",
                            (int)move->from, "to", (int)move->to, "why", lbm_move_reason_name(move->reason),
                            "text", lbm_move_reason_text(move->reason), "state",
                            lbm_move_state_name(move->state), "work", (json_int_t)move->work);
    put_real(row, "age_s", move->age_s >= 0, move->age_s);
    put_real(row, "gain", move->gain_is_known != 0, move->gain);
    put_real(row, "share_from", move->share_from >= 0, move->share_from);
    put_real(row, "share_to", move->share_to >= 0, move->share_to);
    put_real(row, "waited_s", move->age_s >= 0, move->waited_s);
    put_real(row, "took_s", move->took_s >= 0, move->took_s);
    if (move->bytes != 0)
        json_object_set_new(row, "bytes", json_integer((json_int_t)move->bytes));
    if (move->together != 0)
        json_object_set_new(row, "together", json_integer(move->together));
    return row;
}

/* Handoffs that nobody tells of: those between the epoch of the last row and this one. */
static uint64_t
unexplained(uint64_t known, uint64_t epoch, int was_refused)
{
    uint64_t least = known + 1 + (was_refused != 0); /* a refusal takes an epoch of its own */
    return epoch > least ? epoch - least : 0;
}

/* Where it began: where it is if it has never moved, and else where the first move took it from, if that is
 * still known; or LBM_NONE. */
static uint32_t
begun_at(const Lbm__ExplainReply *reply)
{
    enum { FIRST_MOVE = 2 }; /* the epoch that it made */
    if (reply->n_moves != 0)
        return reply->moves[0]->epoch == FIRST_MOVE ? reply->moves[0]->from : LBM_NONE;
    return reply->epoch == FIRST_MOVE - 1 ? reply->host : LBM_NONE;
}

/* The rows, the beginning among them; *n_lost of the moves are not known any more. */
static json_t *
list_moves(const Lbm__ExplainReply *reply, uint64_t *n_lost)
{
    json_t *rows = json_array();
    uint64_t known = 1;
    int refused = 0;
    json_t *begun =
        json_pack("{s:i, s:s, s:s, s:s}", "epoch", 1, "why", lbm_move_reason_name(LBM_MOVE_SUBMIT), "text",
                  lbm_move_reason_text(LBM_MOVE_SUBMIT), "state", lbm_move_state_name(LBM_MOVE_ARRIVED));
    if (begun_at(reply) != LBM_NONE)
        json_object_set_new(begun, "to", json_integer(begun_at(reply)));
    json_array_append_new(rows, begun);
    *n_lost = 0;
    for (size_t i = 0; i < reply->n_moves; i++) {
        const Lbm__Move *move = reply->moves[i];
        if (move->epoch > known) {
            *n_lost += unexplained(known, move->epoch, refused);
            known = move->epoch;
        }
        refused = move->state == LBM_MOVE_REFUSED || move->state == LBM_MOVE_TAKEN_BACK;
        json_array_append_new(rows, move_object(move));
    }
    if (reply->epoch > known)
        *n_lost += unexplained(known, reply->epoch + 1, refused);
    return rows;
}

static enum lbm_err
take_explanation(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    const Lbm__ExplainReply *reply = chunk->explain;
    json_t *answer = arg;
    uint64_t n_lost;
    (void)handle;
    if (reply == NULL)
        return LBM_OK;
    json_t *missing = json_array();
    for (size_t i = 0; i < reply->n_missing; i++)
        json_array_append_new(missing, json_integer(reply->missing[i]));
    json_object_set_new(answer, "vertex", json_integer(reply->vertex));
    json_object_set_new(answer, "host", reply->host != LBM_NONE ? json_integer(reply->host) : json_null());
    json_object_set_new(answer, "epoch", json_integer((json_int_t)reply->epoch));
    json_object_set_new(answer, "moves", list_moves(reply, &n_lost));
    json_object_set_new(answer, "unexplained", json_integer((json_int_t)n_lost));
    json_object_set_new(answer, "missing", missing);
    return LBM_OK;
}

/* For people: times in milliseconds, as most moves take some. */
static void
add_times(json_t *rows)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        static const char *const keys[][2] = {{"waited_s", "waited"}, {"took_s", "took"}};
        for (size_t k = 0; k < 2; k++) {
            const json_t *value = json_object_get(row, keys[k][0]);
            char text[32] = "";
            if (value != NULL && (k != 0 || json_number_value(value) > 0))
                snprintf(text, sizeof text, "%.1f ms", 1e3 * json_number_value(value));
            json_object_set_new(row, keys[k][1], json_string(text));
        }
    }
}

static enum lbm_status
print_explanation(const struct lbm_cli *client, json_t *answer)
{
    enum { COLUMNS = sizeof move_columns / sizeof *move_columns };
    const json_t *host = json_object_get(answer, "host");
    json_t *rows = json_object_get(answer, "moves");
    json_int_t n_lost = json_integer_value(json_object_get(answer, "unexplained"));
    size_t n_missing = json_array_size(json_object_get(answer, "missing"));
    enum lbm_err err = LBM_OK;
    if (client->global[LBM_GLOBAL_JSON].given) {
        err = lbm_table_print_object(stdout, NULL, 0, answer, 1);
    } else {
        if (json_is_integer(host))
            printf("vertex %s of %s is on host %" JSON_INTEGER_FORMAT ", at epoch %" JSON_INTEGER_FORMAT "\n",
                   client->operand[1], client->operand[0], json_integer_value(host),
                   json_integer_value(json_object_get(answer, "epoch")));
        else
            printf("vertex %s of %s was not found: %s\n", client->operand[1], client->operand[0],
                   n_missing != 0 ? "its host may be one that does not answer"
                                  : "it was removed, or is on its way");
        add_times(rows);
        err = lbm_table_print(stdout, move_columns, COLUMNS, rows, 0);
    }
    if (n_lost != 0)
        lbm_cli_remark(client,
                       "%" JSON_INTEGER_FORMAT
                       " changes are not known any more: a daemon keeps some %d to %d of "
                       "the last moves since its start",
                       n_lost, LBM_MOVES_LEAST, LBM_MOVES_MAX);
    if (n_missing != 0)
        lbm_cli_remark(client, "%zu hosts did not answer; what they gave away is missing", n_missing);
    return err == LBM_OK && fflush(stdout) == 0 ? LBM_STATUS_DONE : LBM_STATUS_FAILED;
}

static enum lbm_status
run_explain(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    struct lbm_diag diag;
    struct lbm_option_value vertex;
    char name[LBM_NAME_MAX + 1];
    Lbm__ExplainRequest explain = LBM__EXPLAIN_REQUEST__INIT;
    snprintf(name, sizeof name, "%s", client->operand[0]);
    explain.job = name;
    if (lbm_option_convert(&lbm_vertex_number, client->operand[1], "VERTEX", &vertex, &diag) != LBM_OK)
        return lbm_cli_refuse(client, &diag);
    explain.vertex = (uint32_t)vertex.integer;
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, LBM_DAEMON_TIMEOUT_MS, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_EXPLAIN;
    request.explain = &explain;
    json_t *answer = json_pack("{s:s}", "job", name);
    status = lbm_daemon_ask(&daemon, &request, take_explanation, answer);
    if (status == LBM_STATUS_DONE)
        status = print_explanation(client, answer);
    json_decref(answer);
    lbm_daemon_close(&daemon);
    return status;
}

static const struct lbm_operand explain_operands[] = {
    LBM_JOB_OPERAND,
    {.name = "VERTEX", .text = "number of a vertex, from 0"},
};

const struct lbm_command lbm_command_explain = {
    .name = "explain",
    .text = "show why a vertex is where it is: its moves, what each gained and cost",
    .help =
        "Asks all hosts what they know of the moves of a vertex. The host that gave it away tells why, how "
        "much less the cost J was after it, how full both hosts were, what went over the wire and how long "
        "that took. A daemon keeps the last moves since it started: 1024, or half as many as it owns "
        "vertices where that is more, and 16384 at most.",
    .operands = explain_operands,
    .n_operands = 2,
    .run = run_explain,
};
