/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl log: the control log in words, and who orders it. */
#include <string.h>

#include <time.h>

#include "client/daemon.h"
#include "client/progress.h"
#include "client/table.h"
#include "node/view/ensemble.h"

enum { LOG_FROM, LOG_COUNT, LOG_FORCE, LOG_TIMEOUT, LOG_OPTIONS };

static const struct lbm_option log_options[LOG_OPTIONS] = {
    [LOG_FROM] = LBM_INTEGER_OPTION("from", "N", 0, LBM_OPTION_INTEGER_MAX,
                                    "show: first entry wanted; the last ones if 0", .fallback = "0"),
    [LOG_COUNT] =
        LBM_INTEGER_OPTION("count", "N", 1, LBM_LOG_LINES_MAX, "show: number of entries", .fallback = "20"),
    [LOG_FORCE] =
        {.name = "force",
         .text = "promote: even if members that are unreachable do not answer; what they alone have is lost"},
    [LOG_TIMEOUT] = LBM_NUMBER_OPTION("timeout", "SECONDS", 1, 3600,
                                      "promote, move: wait so long for the other hosts", .fallback = "20"),
};

enum { LOG_SHOW, LOG_PROMOTE, LOG_MOVE };

static const struct lbm_choice log_actions[] = {
    [LOG_SHOW] = {"show", "entries of the control log in words"},
    [LOG_PROMOTE] = {"promote", "the asked host orders the control log from now on"},
    [LOG_MOVE] = {"move", "the control log is in PLACE from now on"},
    {NULL, NULL},
};

static const struct lbm_choice log_places[] = {
    {"local", "the asked host orders it"},
    {"etcd", "an ensemble of etcd that the daemons of three hosts run, or of five in larger clusters"},
    {NULL, NULL},
};

static const struct lbm_operand log_operands[] = {
    {.name = "ACTION", .choices = log_actions, .text = "what to do:"},
    {.name = "PLACE", .choices = log_places, .optional = 1, .text = "move: where to"},
};

static const struct lbm_column log_columns[] = {
    {"index", "index", LBM_COLUMN_COUNT, 0},
    {"text", "entry", LBM_COLUMN_TEXT, 0},
};

static enum lbm_err
take_lines(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    json_t *rows = arg;
    (void)handle;
    for (size_t i = 0; chunk->log != NULL && i < chunk->log->n_lines; i++)
        if (json_array_append_new(rows,
                                  json_pack("{s:I, s:s}", "index", (json_int_t)chunk->log->lines[i]->index,
                                            "text", chunk->log->lines[i]->text)) != 0)
            return LBM_E_NOMEM;
    return LBM_OK;
}

static enum lbm_status
show(const struct lbm_cli *client, struct lbm_daemon *daemon)
{
    static const struct lbm_listing listing = {log_columns, sizeof log_columns / sizeof *log_columns, NULL,
                                               take_lines};
    Lbm__LogRequest log = LBM__LOG_REQUEST__INIT;
    log.from = client->value[LOG_FROM].integer;
    log.count = (uint32_t)client->value[LOG_COUNT].integer;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_LOG;
    request.log = &log;
    return lbm_daemon_list(daemon, &request, &listing);
}

static enum lbm_status
promote(const struct lbm_cli *client, struct lbm_daemon *daemon)
{
    Lbm__PromoteRequest ask = LBM__PROMOTE_REQUEST__INIT;
    ask.force = client->value[LOG_FORCE].given != 0;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_PROMOTE;
    request.promote = &ask;
    enum lbm_status status = lbm_daemon_ask(daemon, &request, NULL, NULL);
    if (status == LBM_STATUS_DONE)
        lbm_cli_remark(client, "this host orders the control log from now on");
    return status;
}

struct where {
    int is_external, has_ensemble;
};

static enum lbm_err
take_where(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    struct where *where = arg;
    (void)handle;
    if (chunk->status != NULL)
        *where = (struct where){(int)chunk->status->log_external, chunk->status->n_ensemble != 0};
    return LBM_OK;
}

/* An ensemble is formed before the log moves there: wait for it. */
static enum lbm_status
wait_moved(const struct lbm_cli *client, struct lbm_daemon *daemon, int to_etcd)
{
    const struct timespec pause = {.tv_nsec = 200000000};
    int64_t end_ms = lbm_progress_now_ms() + (int64_t)(client->value[LOG_TIMEOUT].number * 1000);
    struct where where = {!to_etcd, 0};
    struct lbm_diag diag;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_STATUS;
    request.status = &empty;
    for (;;) {
        enum lbm_status status = lbm_daemon_ask(daemon, &request, take_where, &where);
        if (status != LBM_STATUS_DONE || where.is_external == to_etcd)
            return status;
        if (lbm_progress_now_ms() >= end_ms)
            break;
        nanosleep(&pause, NULL);
    }
    lbm_diag_set(
        &diag, LBM_E_TIMEOUT, "log move", 0,
        "the ensemble does not answer yet; the control log moves as soon as it does: see lbctl status");
    (void)lbm_cli_fail(client, &diag);
    return LBM_STATUS_TIMED_OUT;
}

static enum lbm_status
move(const struct lbm_cli *client, struct lbm_daemon *daemon)
{
    Lbm__LogMoveRequest ask = LBM__LOG_MOVE_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    struct lbm_diag diag;
    const char *place = client->n_operands > 1 ? client->operand[1] : "";
    int to_etcd = strcmp(place, "etcd") == 0;
    if (!to_etcd && strcmp(place, "local") != 0) {
        lbm_diag_set(&diag, LBM_E_SYNTAX, "PLACE", 0, "where to? local or etcd");
        return lbm_cli_refuse(client, &diag);
    }
    ask.place = to_etcd ? LBM_LOG_PLACE_ETCD : LBM_LOG_PLACE_LOCAL;
    request.what_case = LBM__REQUEST__WHAT_LOG_MOVE;
    request.log_move = &ask;
    enum lbm_status status = lbm_daemon_ask(daemon, &request, NULL, NULL);
    if (status == LBM_STATUS_DONE)
        status = wait_moved(client, daemon, to_etcd);
    if (status == LBM_STATUS_DONE)
        lbm_cli_remark(client,
                       to_etcd ? "the control log is in an ensemble of etcd from now on"
                               : "the control log is ordered by a host from now on: lbctl status says which");
    return status;
}

static enum lbm_status
run_log(const struct lbm_cli *client)
{
    static enum lbm_status (*const runs[])(const struct lbm_cli *, struct lbm_daemon *) = {
        [LOG_SHOW] = show, [LOG_PROMOTE] = promote, [LOG_MOVE] = move};
    struct lbm_daemon daemon;
    struct lbm_diag diag;
    size_t action = 0;
    while (log_actions[action].name != NULL && strcmp(client->operand[0], log_actions[action].name) != 0)
        action++;
    if (log_actions[action].name == NULL) {
        lbm_diag_set(&diag, LBM_E_SYNTAX, client->operand[0], 0, "the action must be show, promote or move");
        return lbm_cli_refuse(client, &diag);
    }
    if (client->n_operands > 1 && action != LOG_MOVE) {
        lbm_diag_set(&diag, LBM_E_SYNTAX, "PLACE", 0, "only move takes a place");
        return lbm_cli_refuse(client, &diag);
    }
    enum lbm_status status =
        lbm_daemon_open(&daemon, client, NULL, (unsigned)(client->value[LOG_TIMEOUT].number * 1000), 0);
    if (status != LBM_STATUS_DONE)
        return status;
    status = runs[action](client, &daemon);
    lbm_daemon_close(&daemon);
    return status;
}

const struct lbm_command lbm_command_log = {
    .name = "log",
    .text = "show the control log, or let this host order it",
    .help =
        "show prints entries in words; those behind a snapshot are gone. promote gives the order of the log "
        "to the asked host, when the host that has it is lost or is to be taken down: all members must "
        "answer, unless --force is given. A cluster whose log is in an ensemble of etcd needs "
        "--force, which is refused as long as the ensemble answers: it takes the log from an ensemble most "
        "of "
        "whose members are lost for good. "
        "move puts the log into an ensemble of etcd, or gives the order of it to the asked host, while jobs "
        "run; "
        "the log then stays there.",
    .options = log_options,
    .n_options = LOG_OPTIONS,
    .operands = log_operands,
    .n_operands = sizeof log_operands / sizeof *log_operands,
    .run = run_log,
};
