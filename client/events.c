/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl events: what a daemon has noted lately. */
#include <stdlib.h>
#include <time.h>

#include "client/daemon.h"
#include "client/table.h"
#include "node/node.h"

enum { EVENTS_FROM, EVENTS_FOLLOW, EVENTS_OPTIONS };

static const struct lbm_option events_options[EVENTS_OPTIONS] = {
    [EVENTS_FROM] =
        LBM_INTEGER_OPTION("from", "N", 0, LBM_OPTION_INTEGER_MAX, "first number wanted", .fallback = "0"),
    [EVENTS_FOLLOW] = {.name = "follow", .letter = 'f', .text = "go on with new events until interrupted"},
};

static const struct lbm_column event_columns[] = {
    {"number", "number", LBM_COLUMN_COUNT, 0},
    {"age_s", "ago", LBM_COLUMN_SECONDS, 0},
    {"level", "level", LBM_COLUMN_TEXT, 0},
    {"text", "event", LBM_COLUMN_TEXT, 0},
};

static const char *
level_name(uint32_t level)
{
    static const char *const names[] = {
        [LBM_NOTE_ERROR] = "error", [LBM_NOTE_WARNING] = "warning", [LBM_NOTE_INFO] = "info"};
    return level < sizeof names / sizeof *names ? names[level] : "other";
}

struct listing {
    json_t *rows;
    uint64_t next; /* number that is wanted after these */
};

static enum lbm_err
take_events(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    struct listing *listing = arg;
    (void)handle;
    for (size_t i = 0; chunk->events != NULL && i < chunk->events->n_events; i++) {
        const Lbm__Event *event = chunk->events->events[i];
        if (json_array_append_new(listing->rows,
                                  json_pack("{s:I, s:f, s:s, s:s}", "number", (json_int_t)event->number,
                                            "age_s", event->age_s, "level", level_name(event->level), "text",
                                            event->text)) != 0)
            return LBM_E_NOMEM;
        listing->next = event->number + 1;
    }
    return LBM_OK;
}

static enum lbm_status
list_events(struct lbm_daemon *daemon, struct listing *listing)
{
    Lbm__EventsRequest events = LBM__EVENTS_REQUEST__INIT;
    events.from = listing->next;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_EVENTS;
    request.events = &events;
    return lbm_daemon_ask(daemon, &request, take_events, listing);
}

static enum lbm_status
print_events(const struct lbm_cli *client, const struct listing *listing)
{
    enum lbm_err err = lbm_table_print(stdout, event_columns, sizeof event_columns / sizeof *event_columns,
                                       listing->rows, client->global[LBM_GLOBAL_JSON].given);
    return err == LBM_OK && fflush(stdout) == 0 ? LBM_STATUS_DONE : LBM_STATUS_FAILED;
}

static enum lbm_status
run_events(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, LBM_DAEMON_TIMEOUT_MS, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    struct listing listing = {json_array(), client->value[EVENTS_FROM].integer};
    status = list_events(&daemon, &listing);
    if (status == LBM_STATUS_DONE)
        status = print_events(client, &listing);
    while (client->value[EVENTS_FOLLOW].given && status == LBM_STATUS_DONE) {
        const struct timespec pause = {0, 500000000};
        nanosleep(&pause, NULL);
        json_array_clear(listing.rows);
        status = list_events(&daemon, &listing);
        if (status == LBM_STATUS_DONE && json_array_size(listing.rows) != 0)
            status = print_events(client, &listing);
    }
    json_decref(listing.rows);
    lbm_daemon_close(&daemon);
    return status;
}

const struct lbm_command lbm_command_events = {
    .name = "events",
    .text = "show what a daemon has noted lately",
    .help =
        "The last events above the level of debugging: joins, suspicions, evictions, takeovers, refusals. "
        "Numbers begin again when the daemon starts; a daemon keeps 1024 of them.",
    .options = events_options,
    .n_options = EVENTS_OPTIONS,
    .run = run_events,
};
