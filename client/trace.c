/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl trace: what happens to a job, as a text that lbsim replays. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/interrupt.h"
#include "client/output.h"
#include "client/trace_guest.h"
#include "file/file.h"

enum { TRACE_OUTPUT, TRACE_SECONDS, TRACE_EVERY, TRACE_OPTIONS };

enum { COMPLETE_S = 30 /* for the guest to be complete: vertices may be on their way */ };

static const struct lbm_operand trace_operands[] = {LBM_JOB_OPERAND};

static const struct lbm_option trace_options[TRACE_OPTIONS] = {
    [TRACE_OUTPUT] = LBM_TEXT_OPTION("output", "FILE", "where to write it, as it comes; - is standard output",
                                     .letter = 'o', .required = 1),
    [TRACE_SECONDS] = LBM_NUMBER_OPTION("seconds", "S", 0, 1e8, "end after this time; without it, at Ctrl-C",
                                        .unit = "seconds"),
    [TRACE_EVERY] = {.name = "every",
                     .type = LBM_OPTION_NUMBER,
                     .value = "S",
                     .min = 0.05,
                     .max = 30, /* what is gone is remembered for a minute */
                     .fallback = "1",
                     .unit = "seconds",
                     .text = "time between looks"},
};

struct recorder {
    const struct lbm_cli *client;
    struct lbm_gather gather;
    struct lbm_trace trace; /* the head; then one step at a time */
    FILE *to;
    const char *path;
    int64_t began_us;
    uint64_t steps, count[LBM_TRACE_EVENT_COUNT], host_changes;
};

static int64_t
now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static enum lbm_status
no_memory(const struct recorder *r)
{
    struct lbm_diag diag;
    (void)lbm_diag_set(&diag, LBM_E_NOMEM, "", 0, "no memory for the trace");
    return lbm_cli_fail(r->client, &diag);
}

/* Write a part and see to it that it is there: whoever ends us loses no more than the last part. */
static enum lbm_status
put(struct recorder *r, struct lbm_buf *text)
{
    struct lbm_diag diag;
    enum lbm_status status = LBM_STATUS_DONE;
    if (text->failed) {
        status = no_memory(r);
    } else if (fwrite(text->at, 1, text->len, r->to) != text->len || fflush(r->to) != 0) {
        (void)lbm_diag_set(&diag, LBM_E_IO, r->path, 0, "%s", strerror(errno));
        status = lbm_cli_fail(r->client, &diag);
    }
    lbm_buf_free(text);
    return status;
}

static void
sleep_us(int64_t us)
{
    const struct timespec pause = {us / 1000000, us % 1000000 * 1000};
    if (us > 0)
        (void)nanosleep(&pause, NULL); /* Ctrl-C ends it */
}

/* ---- the output ---------------------------------------------------------------------------------------- */

static int
is_standard_output(const struct recorder *r)
{
    return strcmp(r->path, "-") == 0;
}

/* What is there is not touched yet. */
static enum lbm_status
look_at_output(const struct recorder *r)
{
    struct lbm_diag diag;
    size_t len = strlen(r->path);
    if (is_standard_output(r)) {
        if (!r->client->global[LBM_GLOBAL_JSON].given)
            return LBM_STATUS_DONE;
        (void)lbm_diag_set(&diag, LBM_E_SYNTAX, "--json", 0, "the trace itself goes to standard output");
        return lbm_cli_refuse(r->client, &diag);
    }
    if (len > 3 && strcmp(r->path + len - 3, ".gz") == 0) {
        (void)lbm_diag_set(&diag, LBM_E_UNSUPPORTED, r->path, 0,
                           "a trace is written as it comes: compress it when it is complete");
        return lbm_cli_refuse(r->client, &diag);
    }
    if (access(r->path, W_OK) == 0 || lbm_file_writable(r->path, &diag) == LBM_OK)
        return LBM_STATUS_DONE;
    return lbm_cli_fail(r->client, &diag);
}

static enum lbm_status
open_output(struct recorder *r)
{
    struct lbm_diag diag;
    r->to = is_standard_output(r) ? stdout : fopen(r->path, "w");
    if (r->to != NULL)
        return LBM_STATUS_DONE;
    (void)lbm_diag_set(&diag, LBM_E_IO, r->path, 0, "%s", strerror(errno));
    return lbm_cli_fail(r->client, &diag);
}

static enum lbm_status
close_output(struct recorder *r)
{
    struct lbm_diag diag;
    if (r->to == NULL || r->to == stdout || fclose(r->to) == 0)
        return LBM_STATUS_DONE;
    (void)lbm_diag_set(&diag, LBM_E_IO, r->path, 0, "%s", strerror(errno));
    return lbm_cli_fail(r->client, &diag);
}

/* ---- the beginning ------------------------------------------------------------------------------------- */

static int
participates(const struct lbm_seen_host *host)
{
    return strcmp(host->state, "ACTIVE") == 0 || strcmp(host->state, "DRAINING") == 0;
}

static enum lbm_err
take_job(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    struct lbm_trace *trace = arg;
    (void)handle;
    if (chunk->jobs == NULL || chunk->jobs->n_jobs != 1)
        return LBM_OK;
    const Lbm__JobEntry *job = chunk->jobs->jobs[0];
    snprintf(trace->job, sizeof trace->job, "%s", job->name);
    snprintf(trace->policy, sizeof trace->policy, "%s", job->policy_asked);
    trace->imbalance = job->imbalance_bound;
    trace->seed = job->seed;
    return LBM_OK;
}

/* Until every vertex is known. */
static enum lbm_status
gather_all(struct recorder *r)
{
    int64_t end_us = now_us() + (int64_t)COMPLETE_S * 1000000;
    struct lbm_diag diag;
    for (;;) {
        struct lbm_seen_host *before;
        size_t n_before;
        enum lbm_status status = lbm_gather_hosts(&r->gather, &before, &n_before);
        lbm_seen_hosts_free(before, n_before);
        if (status == LBM_STATUS_DONE)
            status = lbm_gather_vertices(&r->gather, 1);
        uint32_t unknown = status == LBM_STATUS_DONE ? lbm_gather_unknown(&r->gather) : 0;
        if (status != LBM_STATUS_DONE || unknown == 0)
            return status;
        if (now_us() > end_us || lbm_interrupt_seen()) {
            (void)lbm_diag_set(&diag, LBM_E_TIMEOUT, "", 0,
                               "%" PRIu32 " vertices could not be found in %d s (%" PRIu32
                               " hosts did not answer); see lbctl hosts",
                               unknown, COMPLETE_S, r->gather.n_missing);
            (void)lbm_cli_fail(r->client, &diag);
            return LBM_STATUS_TIMED_OUT;
        }
        sleep_us(250000);
    }
}

static enum lbm_err
copy_host(struct lbm_trace *trace, const struct lbm_trace_host *host)
{
    struct lbm_trace_host copy = *host;
    memset(&copy.links, 0, sizeof copy.links);
    for (size_t i = 0; i < host->links.n; i++)
        if (lbm_vec_push(&copy.links, host->links.at[i]) != LBM_OK) {
            lbm_vec_free(&copy.links);
            return LBM_E_NOMEM;
        }
    return lbm_vec_push(&trace->hosts, copy);
}

/* A vertex may be on its way from a host that has just gone: then that one is there, and goes at once. */
static int
owns_some(const struct lbm_gather *gather, uint32_t host)
{
    for (size_t v = 0; v < gather->vertices.n; v++)
        if (gather->vertices.at[v].owner == host)
            return 1;
    return 0;
}

static enum lbm_err
fill_head(struct recorder *r, struct lbm_diag *diag)
{
    struct lbm_trace *trace = &r->trace;
    struct lbm_gather *gather = &r->gather;
    for (size_t i = 0; i < gather->hosts.n; i++)
        if ((participates(&gather->hosts.at[i]) || owns_some(gather, gather->hosts.at[i].is.id)) &&
            copy_host(trace, &gather->hosts.at[i].is) != LBM_OK)
            return lbm_diag_set(diag, LBM_E_NOMEM, "", 0, "no memory for the hosts");
    trace->n_present = (uint32_t)trace->hosts.n;
    return lbm_trace_guest_begin(gather, trace, diag);
}

static enum lbm_status
begin(struct recorder *r)
{
    char comment[160], when[64];
    struct lbm_diag diag = {0};
    struct lbm_buf text = {0};
    time_t now = time(NULL);
    enum lbm_status status = lbm_daemon_jobs(r->gather.daemon, r->gather.job, take_job, &r->trace);
    if (status == LBM_STATUS_DONE)
        status = gather_all(r);
    if (status != LBM_STATUS_DONE)
        return status;
    if (fill_head(r, &diag) != LBM_OK)
        return lbm_cli_fail(r->client, &diag);
    status = open_output(r); /* a recording that cannot begin writes over nothing */
    if (status != LBM_STATUS_DONE)
        return status;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", gmtime(&now));
    snprintf(comment, sizeof comment, "recorded by lbctl trace, from %s, every %s s", when,
             r->client->value[TRACE_EVERY].text);
    lbm_trace_put_head(&text, &r->trace, comment);
    r->began_us = now_us();
    return put(r, &text);
}

/* Hosts of the head that are about to leave, or gone already. */
static enum lbm_err
add_first_states(struct lbm_trace *trace, const struct lbm_gather *gather)
{
    enum lbm_err err = lbm_trace_step_begin(trace, 0);
    for (size_t i = 0; err == LBM_OK && i < gather->hosts.n; i++) {
        const struct lbm_seen_host *host = &gather->hosts.at[i];
        enum lbm_trace_event_kind kind = strcmp(host->state, "DRAINING") == 0  ? LBM_TRACE_DRAIN
                                         : strcmp(host->state, "EVICTED") == 0 ? LBM_TRACE_LOST
                                                                               : LBM_TRACE_LEFT;
        if (strcmp(host->state, "ACTIVE") != 0 && (participates(host) || owns_some(gather, host->is.id)))
            err = lbm_trace_event_add(trace, kind, host->is.id, 0, 0);
    }
    return err;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static const struct lbm_seen_host *
seen(const struct lbm_seen_host *hosts, size_t n, uint32_t id)
{
    for (size_t i = 0; i < n; i++)
        if (hosts[i].is.id == id)
            return &hosts[i];
    return NULL;
}

/* Bytes of both are zeroed first, so that equal numbers are equal bytes. */
static int
is_same(const struct lbm_trace_host *a, const struct lbm_trace_host *b)
{
    return memcmp(&a->capacity, &b->capacity, sizeof a->capacity) == 0 && a->m == b->m &&
           memcmp(a->site, b->site, sizeof a->site) == 0 && a->links.n == b->links.n &&
           (a->links.n == 0 || memcmp(a->links.at, b->links.at, a->links.n * sizeof *a->links.at) == 0);
}

static enum lbm_err
add_described(struct lbm_trace *trace, enum lbm_trace_event_kind kind, const struct lbm_trace_host *host)
{
    enum lbm_err err = copy_host(trace, host);
    return err == LBM_OK ? lbm_trace_event_add(trace, kind, (uint32_t)trace->hosts.n - 1, 0, 0) : err;
}

/* What has become of a host, or of its description, since the last look. was NULL: it was not there. */
static enum lbm_err
add_changes_of(struct lbm_trace *trace, const struct lbm_seen_host *was, const struct lbm_seen_host *is)
{
    int was_in = was != NULL && participates(was), is_in = participates(is);
    int drained = was_in && strcmp(was->state, "DRAINING") == 0;
    int drains = is_in && strcmp(is->state, "DRAINING") == 0;
    enum lbm_err err = LBM_OK;
    if (was_in && is_in && was->incarnation != is->incarnation) { /* it was gone and is back */
        err = lbm_trace_event_add(trace, LBM_TRACE_LOST, is->is.id, 0, 0);
        was_in = drained = 0;
    }
    if (err == LBM_OK && was_in && !is_in)
        return lbm_trace_event_add(trace, strcmp(is->state, "EVICTED") == 0 ? LBM_TRACE_LOST : LBM_TRACE_LEFT,
                                   is->is.id, 0, 0);
    if (err == LBM_OK && !was_in && is_in)
        err = add_described(trace, LBM_TRACE_JOIN, &is->is);
    else if (err == LBM_OK && is_in && !is_same(&was->is, &is->is))
        err = add_described(trace, LBM_TRACE_HOST, &is->is);
    if (err == LBM_OK && is_in && drains != drained)
        err = lbm_trace_event_add(trace, drains ? LBM_TRACE_DRAIN : LBM_TRACE_BACK, is->is.id, 0, 0);
    return err;
}

static enum lbm_err
add_hosts(struct recorder *r, const struct lbm_seen_host *before, size_t n_before)
{
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < r->gather.hosts.n; i++) {
        const struct lbm_seen_host *is = &r->gather.hosts.at[i];
        err = add_changes_of(&r->trace, seen(before, n_before, is->is.id), is);
    }
    return err;
}

static void
count_events(struct recorder *r)
{
    r->steps++;
    for (size_t i = 0; i < r->trace.events.n; i++) {
        r->count[r->trace.events.at[i].kind]++;
        r->host_changes += !lbm_trace_is_of_guest(r->trace.events.at[i].kind);
    }
}

/* Write what has happened, if anything has, and forget it. */
static enum lbm_status
put_step(struct recorder *r)
{
    struct lbm_trace *trace = &r->trace;
    enum lbm_status status = LBM_STATUS_DONE;
    struct lbm_buf text = {0};
    if (trace->events.n != 0) {
        count_events(r);
        lbm_trace_put_step(&text, trace, &trace->steps.at[0]);
        status = put(r, &text);
    }
    for (size_t i = 0; i < trace->hosts.n; i++)
        lbm_vec_free(&trace->hosts.at[i].links);
    trace->hosts.n = trace->events.n = trace->steps.n = 0;
    return status;
}

/* One look. Vertices are asked for first, so that their hosts are known when they are told. */
static enum lbm_status
look(struct recorder *r)
{
    struct lbm_seen_host *before = NULL;
    size_t n_before = 0;
    enum lbm_status status = lbm_gather_vertices(&r->gather, 0);
    if (status == LBM_STATUS_DONE)
        status = lbm_gather_hosts(&r->gather, &before, &n_before);
    if (status == LBM_STATUS_DONE) {
        enum lbm_err err = lbm_trace_step_begin(&r->trace, now_us() - r->began_us);
        if (err == LBM_OK)
            err = add_hosts(r, before, n_before);
        if (err == LBM_OK)
            err = lbm_trace_guest_step(&r->gather, &r->trace);
        status = err == LBM_OK ? put_step(r) : no_memory(r);
    }
    lbm_seen_hosts_free(before, n_before);
    return status;
}

/* ---- the command --------------------------------------------------------------------------------------- */

static enum lbm_status
record(struct recorder *r)
{
    const struct lbm_option_value *value = r->client->value;
    int64_t every_us = (int64_t)(value[TRACE_EVERY].number * 1e6), last_us = 0;
    int64_t end_us = value[TRACE_SECONDS].given ? (int64_t)(value[TRACE_SECONDS].number * 1e6) : INT64_MAX;
    struct lbm_buf text = {0};
    enum lbm_status status = begin(r);
    if (status != LBM_STATUS_DONE)
        return status;
    status = add_first_states(&r->trace, &r->gather) == LBM_OK ? put_step(r) : no_memory(r);
    while (status == LBM_STATUS_DONE && !lbm_interrupt_seen() && last_us < end_us) {
        int64_t next_us = last_us + every_us < end_us ? last_us + every_us : end_us;
        sleep_us(r->began_us + next_us - now_us());
        status = look(r);
        if (status == LBM_STATUS_DONE)
            last_us = now_us() - r->began_us;
    }
    lbm_trace_put_end(&text, last_us);
    enum lbm_status written = put(r, &text);
    return status != LBM_STATUS_DONE ? status : written;
}

static enum lbm_status
report(const struct recorder *r)
{
    if (r->client->global[LBM_GLOBAL_JSON].given) {
        json_t *object = json_pack(
            "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "file", r->path, "vertices",
            (json_int_t)r->trace.g.n, "steps", (json_int_t)r->steps, "loads",
            (json_int_t)r->count[LBM_TRACE_LOAD], "moves", (json_int_t)r->count[LBM_TRACE_OWN], "added",
            (json_int_t)r->count[LBM_TRACE_ADD], "removed", (json_int_t)r->count[LBM_TRACE_REMOVE], "edges",
            (json_int_t)r->count[LBM_TRACE_EDGE], "host_changes", (json_int_t)r->host_changes, "seconds",
            (double)(now_us() - r->began_us) / 1e6);
        int failed =
            object == NULL || json_dumpf(object, stdout, LBM_JSON_FLAGS) != 0 || putchar('\n') == EOF;
        json_decref(object);
        return failed ? LBM_STATUS_FAILED : LBM_STATUS_DONE;
    }
    lbm_cli_remark(r->client,
                   "%" PRIu32 " vertices; %" PRIu64 " loads, %" PRIu64 " moves and %" PRIu64
                   " changes of hosts in %" PRIu64 " steps",
                   r->trace.g.n, r->count[LBM_TRACE_LOAD], r->count[LBM_TRACE_OWN], r->host_changes,
                   r->steps);
    if (r->count[LBM_TRACE_ADD] + r->count[LBM_TRACE_REMOVE] + r->count[LBM_TRACE_EDGE] != 0)
        lbm_cli_remark(r->client,
                       "%" PRIu64 " vertices were added, %" PRIu64 " removed; %" PRIu64 " edges changed",
                       r->count[LBM_TRACE_ADD], r->count[LBM_TRACE_REMOVE], r->count[LBM_TRACE_EDGE]);
    return LBM_STATUS_DONE;
}

static enum lbm_status
run_trace(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    struct recorder r = {.client = client,
                         .path = client->value[TRACE_OUTPUT].text,
                         .gather = {.daemon = &daemon, .job = client->operand[0]}};
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, LBM_DAEMON_TIMEOUT_MS, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    status = look_at_output(&r);
    if (status == LBM_STATUS_DONE) {
        lbm_interrupt_catch();
        status = record(&r);
        lbm_interrupt_release();
        enum lbm_status closed = close_output(&r);
        status = status != LBM_STATUS_DONE ? status : closed;
        if (status == LBM_STATUS_DONE)
            status = report(&r);
    }
    lbm_trace_free(&r.trace);
    lbm_gather_free(&r.gather);
    lbm_daemon_close(&daemon);
    return status;
}

const struct lbm_command lbm_command_trace = {
    .name = "trace",
    .text = "record what happens to a job, to be replayed",
    .help =
        "Writes the hosts, the guest and where its vertices are, then what changes: vertices, edges, loads, "
        "owners, and hosts that come, change and go, until Ctrl-C. `lbsim replay` runs the balancer over it. "
        "Hosts are "
        "asked for what has changed since the last look, which costs them little.",
    .options = trace_options,
    .n_options = TRACE_OPTIONS,
    .operands = trace_operands,
    .n_operands = 1,
    .run = run_trace,
};
