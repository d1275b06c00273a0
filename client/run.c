/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl run: a program at every host that has vertices of a job; what it writes, here. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/daemon.h"
#include "client/interrupt.h"
#include "node/node.h"

enum {
    LISTEN_MS = 100,     /* between looks whether Ctrl-C was pressed */
    STOPPED_MS = 10000,  /* for programs to end then */
    INTERRUPTED = 130,   /* exit status */
    LINE_BYTES = 1 << 16 /* longer lines are cut in two */
};

/* What a host's program has written, and is no whole line yet. */
struct line {
    uint32_t host;
    char name[LBM_NAME_MAX + 1];
    LBM_VEC(char) text;
};

struct run {
    const struct lbm_cli *client;
    LBM_VEC(struct line) lines;
    LBM_VEC(char) words;
    uint32_t arguments;
    int is_over;
    enum lbm_err err; /* why it is not watched; LBM_OK: it is, or was */
    uint32_t status;
};

/* ---- output -------------------------------------------------------------------------------------------- */

static struct line *
line_of(struct run *run, const Lbm__RunReply *reply)
{
    for (size_t i = 0; i < run->lines.n; i++)
        if (run->lines.at[i].host == reply->host)
            return &run->lines.at[i];
    struct line line = {.host = reply->host};
    snprintf(line.name, sizeof line.name, "%s", reply->name);
    return lbm_vec_push(&run->lines, line) == LBM_OK ? &run->lines.at[run->lines.n - 1] : NULL;
}

static void
print_line(struct line *line)
{
    printf("%s: %.*s\n", line->name, (int)line->text.n, line->text.at);
    line->text.n = 0;
}

static enum lbm_err
take_output(struct run *run, const Lbm__RunReply *reply)
{
    struct line *line = line_of(run, reply);
    enum lbm_err err = line != NULL ? LBM_OK : LBM_E_NOMEM;
    if (reply->missing != 0)
        lbm_cli_remark(run->client, "host %" PRIu32 " (%s): %" PRIu64 " bytes of its output are lost",
                       reply->host, reply->name, reply->missing);
    for (size_t i = 0; err == LBM_OK && i < reply->data.len; i++) {
        char c = (char)reply->data.data[i];
        if (c != '\n')
            err = lbm_vec_push(&line->text, c);
        if (c == '\n' || line->text.n >= LINE_BYTES)
            print_line(line);
    }
    fflush(stdout);
    return err;
}

static void
tell_state(const struct run *run, const Lbm__RunReply *reply)
{
    static const char *const texts[] = {[LBM_PROGRAM_WAITS] = "; it is started again",
                                        [LBM_PROGRAM_FAILED] = "; it is given up",
                                        [LBM_PROGRAM_ENDED] = "",
                                        [LBM_PROGRAM_REFUSED] = ""};
    if (reply->state < sizeof texts / sizeof *texts && texts[reply->state] != NULL &&
        (reply->state != LBM_PROGRAM_ENDED || reply->status != 0))
        lbm_cli_remark(run->client, "host %" PRIu32 " (%s): %s%s", reply->host, reply->name, reply->text,
                       texts[reply->state]);
}

static void
end(struct run *run, const Lbm__RunReply *last)
{
    for (size_t i = 0; i < run->lines.n; i++)
        if (run->lines.at[i].text.n != 0)
            print_line(&run->lines.at[i]);
    if (last->text[0] != '\0')
        lbm_cli_remark(run->client, "%s", last->text);
    run->is_over = 1;
    run->status = last->status;
}

/* What the daemon says unasked. */
static struct run *watching;

static void
take(struct lbmap *handle, Lbm__Response *chunk)
{
    struct run *run = watching;
    if (chunk->code != LBM_OK) {
        run->err = lbm_api_fail(handle, (enum lbm_err)chunk->code, "%s", chunk->text);
        run->is_over = 1;
    } else if (chunk->run != NULL && chunk->last) {
        end(run, chunk->run);
    } else if (chunk->run != NULL && chunk->run->data.len != 0) {
        run->err = take_output(run, chunk->run);
        run->is_over |= run->err != LBM_OK;
    } else if (chunk->run != NULL) {
        tell_state(run, chunk->run);
    }
    lbm__response__free_unpacked(chunk, NULL);
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static Lbm__RunRequest
request_of(const struct run *run, char *job, Lbm__RunAction action)
{
    Lbm__RunRequest asked = LBM__RUN_REQUEST__INIT;
    asked.job = job;
    asked.action = (uint32_t)action;
    asked.arguments = action == LBM__RUN_ACTION__RUN_START ? run->arguments : 0;
    if (action == LBM__RUN_ACTION__RUN_START)
        asked.words = (ProtobufCBinaryData){run->words.n, (uint8_t *)run->words.at};
    return asked;
}

static enum lbm_status
change(struct run *run, struct lbm_daemon *daemon, char *job, Lbm__RunAction action)
{
    Lbm__RunRequest asked = request_of(run, job, action);
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_RUN;
    request.run = &asked;
    return lbm_daemon_change(daemon, &request);
}

/* End the programs over a connection of its own: the other one is being listened to. */
static void
stop(struct run *run, char *job)
{
    struct lbm_daemon daemon;
    if (lbm_daemon_open(&daemon, run->client, NULL, LBM_DAEMON_TIMEOUT_MS, 0) != LBM_STATUS_DONE)
        return;
    (void)change(run, &daemon, job, LBM__RUN_ACTION__RUN_STOP);
    lbm_daemon_close(&daemon);
}

static enum lbm_err
take_runs(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    (void)handle;
    *(int *)arg = chunk->jobs != NULL && chunk->jobs->n_jobs == 1 && chunk->jobs->jobs[0]->program_runs;
    return LBM_OK;
}

/* All programs are over: wait a little until the control log says so too, so that another one may be run. */
static void
await_end(struct run *run, const char *job)
{
    const struct timespec pause = {0, 50000000};
    struct lbm_daemon daemon;
    int runs = 1;
    int64_t end_ms = lbm_api_now_ms() + STOPPED_MS;
    if (lbm_daemon_open(&daemon, run->client, NULL, LBM_DAEMON_TIMEOUT_MS, 1) != LBM_STATUS_DONE)
        return;
    while (lbm_daemon_jobs(&daemon, job, take_runs, &runs) == LBM_STATUS_DONE && runs &&
           lbm_api_now_ms() < end_ms)
        nanosleep(&pause, NULL);
    lbm_daemon_close(&daemon);
}

static enum lbm_status
lost(struct run *run, struct lbm_daemon *daemon, const char *job)
{
    struct lbm_diag diag;
    lbm_diag_set(&diag, LBM_E_IO, daemon->socket, 0,
                 "%s; unless the daemon is back soon it ends the programs of job %s", daemon->handle.message,
                 job);
    (void)lbm_cli_fail(run->client, &diag);
    return LBM_STATUS_UNREACHABLE;
}

static enum lbm_status
watch(struct run *run, struct lbm_daemon *daemon, char *job)
{
    Lbm__RunRequest asked = request_of(run, job, LBM__RUN_ACTION__RUN_WATCH);
    Lbm__Request request = LBM__REQUEST__INIT;
    int64_t end_ms = INT64_MAX;
    request.what_case = LBM__REQUEST__WHAT_RUN;
    request.run = &asked;
    watching = run;
    daemon->handle.push = take;
    daemon->handle.pushing = daemon->handle.request + 1;
    enum lbm_err err = lbm_api_tell(&daemon->handle, &request);
    while (err == LBM_OK && !run->is_over && lbm_api_now_ms() < end_ms) {
        if (lbm_interrupt_seen() && end_ms == INT64_MAX) {
            stop(run, job);
            end_ms = lbm_api_now_ms() + STOPPED_MS;
        }
        err = lbm_api_listen(&daemon->handle, LISTEN_MS);
    }
    if (err != LBM_OK)
        return lost(run, daemon, job);
    if (run->is_over && end_ms == INT64_MAX)
        await_end(run, job);
    if (run->err != LBM_OK) {
        struct lbm_diag diag;
        lbm_diag_set(&diag, run->err, "", 0, "%s", daemon->handle.message);
        return lbm_cli_fail(run->client, &diag);
    }
    return (enum lbm_status)(end_ms != INT64_MAX ? INTERRUPTED : run->status);
}

/* ---- the command --------------------------------------------------------------------------------------- */

enum { RUN_ENV, RUN_STOP, RUN_TIMEOUT, RUN_OPTIONS };

static const struct lbm_option run_options[RUN_OPTIONS] = {
    [RUN_ENV] = LBM_TEXT_OPTION("env", "NAMES", "variables that programs get as they are here, with commas",
                                .fallback = "PATH,LANG,LD_LIBRARY_PATH,PYTHONPATH"),
    [RUN_STOP] = LBM_FLAG_OPTION("stop", "end the programs of the job that were started before"),
    [RUN_TIMEOUT] = LBM_NUMBER_OPTION("timeout", "S", 0.1, 1e6, "wait so long for the control log",
                                      .fallback = "10", .unit = "seconds"),
};

static enum lbm_err
add_word(struct run *run, const char *text)
{
    enum lbm_err err = lbm_vec_reserve(&run->words, strlen(text) + 1);
    for (size_t i = 0; err == LBM_OK && i <= strlen(text); i++)
        err = lbm_vec_push(&run->words, text[i]);
    return err;
}

static enum lbm_err
add_variable(struct run *run, const char *name)
{
    const char *value = getenv(name);
    size_t len = value != NULL ? strlen(name) + strlen(value) + 2 : 0;
    char *text = value != NULL ? lbm_alloc(len, 1) : NULL;
    if (value == NULL)
        return LBM_OK;
    if (text == NULL)
        return LBM_E_NOMEM;
    snprintf(text, len, "%s=%s", name, value);
    enum lbm_err err = add_word(run, text);
    free(text);
    return err;
}

static enum lbm_err
read_words(struct run *run, struct lbm_diag *diag)
{
    char *folder = getcwd(NULL, 0), name[LBM_OPTION_WORD_MAX];
    const char *rest = run->client->value[RUN_ENV].text;
    if (folder == NULL)
        return lbm_diag_set(diag, LBM_E_IO, "", 0, "the present folder has no name: it is gone");
    enum lbm_err err = add_word(run, folder);
    free(folder);
    for (size_t i = 1; err == LBM_OK && i < run->client->n_operands; i++, run->arguments++)
        err = add_word(run, run->client->operand[i]);
    while (err == LBM_OK && lbm_option_next_word(&rest, name))
        err = add_variable(run, name);
    if (err != LBM_OK)
        return lbm_diag_set(diag, err, "", 0, "out of memory");
    if (run->words.n > LBM_RUN_BYTES_MAX)
        return lbm_diag_set(
            diag, LBM_E_LIMIT, "", 0,
            "folder, arguments and variables have %zu bytes, %d at most: a script has room for "
            "more",
            run->words.n, LBM_RUN_BYTES_MAX);
    return LBM_OK;
}

static enum lbm_status
run_and_watch(struct run *run, char *job)
{
    struct lbm_daemon daemon;
    struct lbm_diag diag;
    unsigned timeout_ms = (unsigned)(run->client->value[RUN_TIMEOUT].number * 1000);
    int is_stop = run->client->value[RUN_STOP].given;
    if (is_stop != (run->client->n_operands == 1)) {
        lbm_diag_set(&diag, LBM_E_SYNTAX, "", 0,
                     is_stop ? "--stop takes the job alone"
                             : "which program? lbctl run JOB -- PROGRAM ARG...");
        return lbm_cli_refuse(run->client, &diag);
    }
    if (!is_stop && read_words(run, &diag) != LBM_OK)
        return lbm_cli_refuse(run->client, &diag);
    enum lbm_status status = lbm_daemon_open(&daemon, run->client, NULL, timeout_ms, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    lbm_interrupt_catch();
    status = change(run, &daemon, job, is_stop ? LBM__RUN_ACTION__RUN_STOP : LBM__RUN_ACTION__RUN_START);
    if (status == LBM_STATUS_DONE && !is_stop)
        status = watch(run, &daemon, job);
    lbm_interrupt_release();
    lbm_daemon_close(&daemon);
    return status;
}

static enum lbm_status
run_run(const struct lbm_cli *client)
{
    struct run run = {.client = client};
    char job[LBM_NAME_MAX + 1];
    snprintf(job, sizeof job, "%s", client->operand[0]);
    enum lbm_status status = run_and_watch(&run, job);
    for (size_t i = 0; i < run.lines.n; i++)
        lbm_vec_free(&run.lines.at[i].text);
    lbm_vec_free(&run.lines);
    lbm_vec_free(&run.words);
    return status;
}

static const struct lbm_operand run_operands[] = {
    LBM_JOB_OPERAND,
    {.name = "PROGRAM",
     .optional = 1,
     .text = "program and its arguments; -- before it keeps its options from lbctl",
     .most = LBM_RUN_WORDS_MAX},
};

const struct lbm_command lbm_command_run = {
    .name = "run",
    .text = "run a program at every host that has vertices of a job",
    .help =
        "The daemons start the program where vertices of the job are, later also where vertices come to, as "
        "the "
        "job's owner and in this folder; whoever runs it is that owner. It finds LBMAP_SOCKET, LBMAP_JOB and "
        "LBMAP_HOST in its environment. What it writes comes here, each line after the name of its host. A "
        "program that dies is started again, ever later; one that dies five times in a row within 10 s is "
        "given "
        "up, and the host's vertices go to others. All is over when every program has ended: by itself with "
        "status 0, or after one has said that the job is done (lbmap_finish). Ctrl-C ends the programs; so "
        "does "
        "the daemon, 10 s after lbctl has gone. A host runs programs only if programs.run in its lbmapd.conf "
        "allows it.",
    .options = run_options,
    .n_options = RUN_OPTIONS,
    .operands = run_operands,
    .n_operands = 2,
    .statuses =
        "that of the program of the first host that did not end with 0, 128 and the signal if one ended "
        "it; 130 after Ctrl-C; if nothing was run as those of other commands",
    .run = run_run,
};
