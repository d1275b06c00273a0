/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl maintain: a host is away for a planned time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/members.h"

enum { MAINTAIN_FOR, MAINTAIN_REASON, MAINTAIN_MOVE, MAINTAIN_END, MAINTAIN_TIMEOUT, MAINTAIN_OPTIONS };

static const struct lbm_option maintain_options[MAINTAIN_OPTIONS] = {
    [MAINTAIN_FOR] = LBM_TEXT_OPTION(
        "for", "TIME", "so long at most: 90s, 10min, 2h, a week at most; required but with --end"),
    [MAINTAIN_REASON] = LBM_TEXT_OPTION("reason", "TEXT", "what for; lbctl hosts shows it"),
    [MAINTAIN_MOVE] = LBM_FLAG_OPTION("move", "its vertices go to other hosts meanwhile"),
    [MAINTAIN_END] = LBM_FLAG_OPTION("end", "it is back: the maintenance is over"),
    [MAINTAIN_TIMEOUT] =
        LBM_NUMBER_OPTION("timeout", "S", 0.001, 86400, "wait so long until the daemon may be stopped",
                          .fallback = "60", .unit = "s"),
};

/* "10min" in microseconds; 0: it is no time, or too long a one. */
static uint64_t
duration_us(const char *text)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && strcmp(end, units[i].unit) == 0 && value * units[i].seconds >= 1 &&
            value * units[i].seconds * 1e6 <= (double)LBM_MAINTENANCE_US_MAX)
            return (uint64_t)(value * units[i].seconds * 1e6);
    return 0;
}

/* What the change says, or why not. */
static enum lbm_err
read_change(const struct lbm_option_value *value, Lbm__HostChange *change, struct lbm_diag *diag)
{
    change->action = LBM__HOST_ACTION__HOST_MAINTAIN;
    if (value[MAINTAIN_END].given &&
        (value[MAINTAIN_FOR].given || value[MAINTAIN_MOVE].given || value[MAINTAIN_REASON].given))
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--end", 0, "goes with no other option but --timeout");
    if (value[MAINTAIN_END].given)
        return LBM_OK;
    if (!value[MAINTAIN_FOR].given)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--for", 0,
                            "is missing: how long is the host away, as 10min?");
    change->duration_us = duration_us(value[MAINTAIN_FOR].text);
    change->moves = value[MAINTAIN_MOVE].given != 0;
    if (change->duration_us == 0)
        return lbm_diag_set(diag, LBM_E_RANGE, "--for", 0,
                            "'%s' is no time from 1s to 7d: give a number and s, min, h or d",
                            value[MAINTAIN_FOR].text);
    if (!value[MAINTAIN_REASON].given)
        return LBM_OK;
    if (strlen(value[MAINTAIN_REASON].text) > LBM_REASON_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, "--reason", 0, "has more than %d bytes", LBM_REASON_MAX);
    change->reason = (char *)value[MAINTAIN_REASON].text;
    return LBM_OK;
}

/* What still depends on the host. */
struct need {
    uint32_t host;
    int is_emptied;    /* it is to own nothing */
    uint32_t primary;  /* a host that has no full copy elsewhere; LBM_NONE: all have */
    uint64_t vertices; /* here */
};

static enum lbm_err
take_need(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    struct need *need = arg;
    (void)handle;
    for (size_t i = 0; chunk->hosts != NULL && i < chunk->hosts->n_hosts; i++) {
        const Lbm__HostEntry *host = chunk->hosts->hosts[i];
        int participates = strcmp(host->state, "ACTIVE") == 0 || strcmp(host->state, "DRAINING") == 0;
        if (host->host == need->host)
            need->vertices = need->is_emptied ? host->vertices : 0;
        else if (participates && host->reachable && host->backup != LBM_NONE &&
                 (host->backup == need->host || host->second_backup == need->host + 1 || !host->insync))
            need->primary = host->host;
    }
    return LBM_OK;
}

/* Until the daemon may be stopped: others keep their copies elsewhere. Prints what is missing at the end. */
static enum lbm_status
await_release(struct lbm_daemon *daemon, uint32_t host, int is_emptied, double timeout_s)
{
    struct timespec pause = {0, 200000000};
    for (double waited_s = 0;; waited_s += 0.2) {
        struct need need = {host, is_emptied, LBM_NONE, 0};
        Lbm__Empty empty = LBM__EMPTY__INIT;
        Lbm__Request request = LBM__REQUEST__INIT;
        request.what_case = LBM__REQUEST__WHAT_HOSTS;
        request.hosts = &empty;
        enum lbm_status status = lbm_daemon_ask(daemon, &request, take_need, &need);
        if (status != LBM_STATUS_DONE || (need.primary == LBM_NONE && need.vertices == 0))
            return status;
        if (waited_s >= timeout_s) {
            struct lbm_diag diag;
            if (need.vertices != 0)
                lbm_diag_set(&diag, LBM_E_TIMEOUT, "maintain", 0,
                             "host %" PRIu32 " has %" PRIu64 " vertices still; do not stop it yet", host,
                             need.vertices);
            else
                lbm_diag_set(&diag, LBM_E_TIMEOUT, "maintain", 0,
                             "host %" PRIu32
                             " has no full copy on another host yet; do not stop host %" PRIu32 " yet",
                             need.primary, host);
            (void)lbm_cli_fail(daemon->client, &diag);
            return LBM_STATUS_TIMED_OUT;
        }
        nanosleep(&pause, NULL);
    }
}

static enum lbm_status
run_maintain(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    struct lbm_diag diag;
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    double timeout_s = client->value[MAINTAIN_TIMEOUT].number;
    if (read_change(client->value, &change, &diag) != LBM_OK)
        return lbm_cli_refuse(client, &diag);
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, (unsigned)(timeout_s * 1000), 0);
    if (status != LBM_STATUS_DONE)
        return status;
    status = lbm_members_change(&daemon, &change);
    if (status == LBM_STATUS_DONE && change.duration_us != 0)
        status = await_release(&daemon, change.host, change.moves != 0, timeout_s);
    if (status == LBM_STATUS_DONE && change.duration_us != 0)
        lbm_cli_remark(client,
                       "host %" PRIu32
                       " is in maintenance for %s: its daemon may be stopped; lbctl maintain --end %" PRIu32
                       " when it is back",
                       change.host, client->value[MAINTAIN_FOR].text, change.host);
    lbm_daemon_close(&daemon);
    return status;
}

static const struct lbm_operand maintained_operand[] = {
    {.name = "HOST", .optional = 1, .text = "id or name of the host; the daemon's own if absent"}};

const struct lbm_command lbm_command_maintain = {
    .name = "maintain",
    .text = "have a host be away for a planned time",
    .help = "The others do not evict the host during that time, and give it no vertices; copies that it "
            "keeps for "
            "others go elsewhere. Returns when its daemon may be stopped. Its own vertices wait for it, or "
            "with --move go "
            "to other hosts first. The maintenance ends with --end, or when its time is over; then a host "
            "that is silent "
            "is evicted as always.",
    .options = maintain_options,
    .n_options = MAINTAIN_OPTIONS,
    .operands = maintained_operand,
    .n_operands = 1,
    .run = run_maintain,
};
