/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl join, drain, leave, evict, set: what operators do to hosts. The answer is what the control log made
 * of it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/daemon.h"
#include "client/links.h"
#include "client/members.h"
#include "client/policy.h"

/* ---- which host ---------------------------------------------------------------------------------------- */

struct search {
    const char *text; /* NULL: the asked daemon's own host */
    uint32_t host;    /* LBM_NONE: not found */
};

static enum lbm_err
take_own(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    struct search *search = arg;
    (void)handle;
    if (chunk->status != NULL)
        search->host = chunk->status->host;
    return LBM_OK;
}

static enum lbm_err
take_named(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    struct search *search = arg;
    char *end;
    unsigned long id = strtoul(search->text, &end, 10);
    int is_number = search->text[0] >= '0' && search->text[0] <= '9' && *end == '\0';
    (void)handle;
    for (size_t i = 0; chunk->hosts != NULL && i < chunk->hosts->n_hosts; i++) {
        const Lbm__HostEntry *host = chunk->hosts->hosts[i];
        int is_id = is_number && host->host == id;
        if (is_id || (strcmp(host->name, search->text) == 0 && search->host == LBM_NONE))
            search->host = host->host;
        if (is_id)
            break; /* another host's name may be that number */
    }
    return LBM_OK;
}

enum lbm_status
lbm_members_find(struct lbm_daemon *daemon, uint32_t *host)
{
    const struct lbm_cli *client = daemon->client;
    struct search search = {client->n_operands != 0 ? client->operand[0] : NULL, LBM_NONE};
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = search.text != NULL ? LBM__REQUEST__WHAT_HOSTS : LBM__REQUEST__WHAT_STATUS;
    request.status = &empty; /* the same place for both */
    enum lbm_status status =
        lbm_daemon_ask(daemon, &request, search.text != NULL ? take_named : take_own, &search);
    if (status != LBM_STATUS_DONE)
        return status;
    if (search.host == LBM_NONE) {
        struct lbm_diag diag;
        lbm_diag_set(&diag, LBM_E_NOTFOUND, search.text != NULL ? search.text : "", 0,
                     "is neither id nor name of a host; lbctl hosts lists them");
        return lbm_cli_fail(client, &diag);
    }
    *host = search.host;
    return LBM_STATUS_DONE;
}

/* ---- asking for a change ------------------------------------------------------------------------------- */

enum lbm_status
lbm_members_change(struct lbm_daemon *daemon, Lbm__HostChange *change)
{
    enum lbm_status status = lbm_members_find(daemon, &change->host);
    if (status != LBM_STATUS_DONE)
        return status;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOST_CHANGE;
    request.host_change = change;
    return lbm_daemon_change(daemon, &request);
}

/* Connect, and ask for the change. */
static enum lbm_status
run_change(const struct lbm_cli *client, double timeout_s, Lbm__HostChange *change)
{
    struct lbm_daemon daemon;
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, (unsigned)(timeout_s * 1000), 0);
    if (status != LBM_STATUS_DONE)
        return status;
    status = lbm_members_change(&daemon, change);
    lbm_daemon_close(&daemon);
    return status;
}

/* A change that says no more than what it is; the one option is the timeout. */
static enum lbm_status
run_plain(const struct lbm_cli *client, Lbm__HostAction action)
{
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    change.action = action;
    return run_change(client, client->value[0].number, &change);
}

static const struct lbm_operand host_operand[] = {
    {.name = "HOST", .optional = 1, .text = "id or name of the host; the daemon's own if absent"}};

enum { SECONDS_MAX = 86400 };

#define TIMEOUT_OPTION(seconds, what)                                                                        \
    {                                                                                                        \
        .name = "timeout", .type = LBM_OPTION_NUMBER, .value = "S", .min = 0.001, .max = SECONDS_MAX,        \
        .fallback = seconds, .unit = "s", .text = what                                                       \
    }

#define LOG_TIMEOUT                                                                                          \
    TIMEOUT_OPTION("30", "wait so long for the control log; what it has not taken by then is void")

/* ---- join, drain, leave -------------------------------------------------------------------------------- */

static const struct lbm_option log_options[] = {LOG_TIMEOUT};

static enum lbm_status
run_join(const struct lbm_cli *client)
{
    return run_plain(client, LBM__HOST_ACTION__HOST_JOIN);
}

const struct lbm_command lbm_command_join = {
    .name = "join",
    .text = "let a host take part again",
    .help =
        "Ends the drain of a host. A host that has left begins again, empty: ask its own daemon. (A new host "
        "joins by itself when its daemon starts, and so does an evicted one that comes back.)",
    .options = log_options,
    .n_options = 1,
    .operands = host_operand,
    .n_operands = 1,
    .run = run_join,
};

static enum lbm_status
run_drain(const struct lbm_cli *client)
{
    enum lbm_status status = run_plain(client, LBM__HOST_ACTION__HOST_DRAIN);
    if (status == LBM_STATUS_DONE)
        lbm_cli_remark(client, "it gives its vertices away and then leaves; lbctl hosts shows how far it is");
    return status;
}

const struct lbm_command lbm_command_drain = {
    .name = "drain",
    .text = "have a host give everything away, and then leave",
    .help = "The host takes no vertex any more and hands over all it has. It leaves the cluster when it is "
            "empty. Returns when the drain is in the control log; lbctl join ends it.",
    .options = log_options,
    .n_options = 1,
    .operands = host_operand,
    .n_operands = 1,
    .run = run_drain,
};

static const struct lbm_option leave_options[] = {
    TIMEOUT_OPTION("600", "wait so long until the host is empty; it goes on draining after that")};

static enum lbm_status
run_leave(const struct lbm_cli *client)
{
    return run_plain(client, LBM__HOST_ACTION__HOST_LEAVE);
}

const struct lbm_command lbm_command_leave = {
    .name = "leave",
    .text = "drain a host, and wait until it has left",
    .help = "As drain, but returns when the host is empty and has left the cluster: then its daemon may be "
            "stopped.",
    .options = leave_options,
    .n_options = 1,
    .operands = host_operand,
    .n_operands = 1,
    .run = run_leave,
};

/* ---- evict --------------------------------------------------------------------------------------------- */

enum { EVICT_LOST, EVICT_TIMEOUT, EVICT_OPTIONS };

static const struct lbm_option evict_options[EVICT_OPTIONS] = {
    [EVICT_LOST] = {.name = "lost",
                    .text = "even if its backup has no full copy: what the backup lacks is lost for good"},
    [EVICT_TIMEOUT] = LOG_TIMEOUT,
};

static enum lbm_status
run_evict(const struct lbm_cli *client)
{
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    change.action = LBM__HOST_ACTION__HOST_EVICT;
    change.lost = client->value[EVICT_LOST].given != 0;
    return run_change(client, client->value[EVICT_TIMEOUT].number, &change);
}

/* Never the daemon's own by default: whoever types this means another host, which is dead. */
static const struct lbm_operand evicted_operand[] = {{.name = "HOST", .text = "id or name of the host"}};

const struct lbm_command lbm_command_evict = {
    .name = "evict",
    .text = "have a dead host's backup take over its vertices",
    .help = "The backup goes on with the copies it holds, once no application of the evicted host can be "
            "working. "
            "The host, should it come back, joins again empty.",
    .options = evict_options,
    .n_options = EVICT_OPTIONS,
    .operands = evicted_operand,
    .n_operands = 1,
    .run = run_evict,
};

/* ---- revoke -------------------------------------------------------------------------------------------- */

static const struct lbm_option revoke_options[] = {
    TIMEOUT_OPTION("10", "give up when the control log has not taken it by then"),
    LBM_FLAG_OPTION("user", "a user: certificates of that name that were made until now are void",
                    .letter = 'u'),
};

static const struct lbm_operand revoked_operand[] = {
    {.name = "HOST|USER", .text = "id or name of the host; name of the user", .longest = LBM_NAME_MAX}};

/* A host that has enrolled, but never joined, has an id and no name yet. */
static enum lbm_status
find_enrolled(struct lbm_daemon *daemon, uint32_t *host)
{
    const char *text = daemon->client->operand[0];
    char *end;
    unsigned long id = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || id >= LBM_HOSTS_MAX)
        return lbm_members_find(daemon, host);
    *host = (uint32_t)id;
    return LBM_STATUS_DONE;
}

static enum lbm_status
revoke_user(struct lbm_daemon *daemon)
{
    char name[LBM_NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", daemon->client->operand[0]);
    Lbm__RevokeUserRequest revoke = LBM__REVOKE_USER_REQUEST__INIT;
    revoke.name = name;
    revoke.made_s = (uint64_t)time(NULL);
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_REVOKE_USER;
    request.revoke_user = &revoke;
    return lbm_daemon_change(daemon, &request);
}

static enum lbm_status
run_revoke(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    Lbm__RevokeRequest revoke = LBM__REVOKE_REQUEST__INIT;
    enum lbm_status status =
        lbm_daemon_open(&daemon, client, NULL, (unsigned)(client->value[0].number * 1000), 0);
    if (status != LBM_STATUS_DONE)
        return status;
    int is_user = client->value[1].given;
    status = is_user ? revoke_user(&daemon) : find_enrolled(&daemon, &revoke.host);
    if (status == LBM_STATUS_DONE && !is_user) {
        Lbm__Request request = LBM__REQUEST__INIT;
        request.what_case = LBM__REQUEST__WHAT_REVOKE;
        request.revoke = &revoke;
        status = lbm_daemon_change(&daemon, &request);
    }
    lbm_daemon_close(&daemon);
    return status;
}

const struct lbm_command lbm_command_revoke = {
    .name = "revoke",
    .text = "believe the certificate of a host or a user no more, for good",
    .help =
        "All hosts refuse its connections and its messages from then on, and evict it as they evict one that "
        "is "
        "unreachable: its backup goes on with its vertices. Its id is not given again; the machine may enrol "
        "again as another host. With --user all hosts refuse the certificates of that user that were made "
        "until "
        "now, and end its connections; one that lbctl pki user makes afterwards is believed.",
    .options = revoke_options,
    .n_options = sizeof revoke_options / sizeof *revoke_options,
    .operands = revoked_operand,
    .n_operands = 1,
    .run = run_revoke,
};

/* ---- set ----------------------------------------------------------------------------------------------- */

enum {
    SET_CAPACITY,
    SET_LINKS,
    SET_SITE,
    SET_ADDRESS,
    SET_POLICY,
    SET_SCHEDULE,
    SET_COOLDOWN,
    SET_PAYBACK,
    SET_BUDGET,
    SET_IN_FLIGHT,
    SET_TIMEOUT,
    SET_OPTIONS
};

static const struct lbm_option set_options[SET_OPTIONS] = {
    [SET_CAPACITY] = LBM_NUMBER_OPTION("capacity", "X", 1e-9, 1e12,
                                       "how much of the work it takes, against the other hosts' capacities"),
    [SET_LINKS] = LBM_TEXT_OPTION("links", "HOST[:COST],...", "all links that it declares from now on"),
    [SET_SITE] = LBM_TEXT_OPTION(
        "site", "X,Y[,Z]", "its place in the unit box, as many coordinates as the cluster has dimensions"),
    [SET_ADDRESS] = LBM_TEXT_OPTION("address", "ADDRESS:PORT", "where the others reach it"),
    [SET_POLICY] =
        LBM_CHOICE_OPTION("policy", "POLICY", lbm_policy_choices,
                          "of a job, which is named in place of the host: its loads are balanced again:"),
    [SET_SCHEDULE] = LBM_CHOICE_OPTION("schedule", "SCHEDULE", lbm_schedule_choices, "with --policy:"),
    [SET_COOLDOWN] =
        LBM_NUMBER_OPTION("cooldown", "S", 0, LBM_GATE_SECONDS_MAX,
                          "of a job: a vertex that was exchanged stays so long, unless its host has too much",
                          .unit = "seconds"),
    [SET_PAYBACK] =
        LBM_NUMBER_OPTION("payback", "S", 0, LBM_GATE_SECONDS_MAX,
                          "of a job: a move that balance does not ask for saves its own bytes in so long; 0: "
                          "a quarter of a mean edge is enough",
                          .unit = "seconds"),
    [SET_BUDGET] = LBM_INTEGER_OPTION("budget", "N", 0, LBM_GATE_BYTES_MAX,
                                      "of a job: each host hands over at most so much; 0: no limit",
                                      .unit = "bytes a second"),
    [SET_IN_FLIGHT] = LBM_INTEGER_OPTION(
        "in-flight", "N", 0, LBM_VERTICES_MAX,
        "of a job: each host has at most that many on their way; 0: no limit", .unit = "vertices"),
    [SET_TIMEOUT] = LOG_TIMEOUT,
};

/* X,Y[,Z] in the unit box.  Errors: LBM_E_SYNTAX. */
static enum lbm_err
parse_site(const char *text, double site[LBM_DIMENSIONS_MAX], size_t *n, struct lbm_diag *diag)
{
    size_t found = 0;
    for (const char *at = text;; at++) {
        char *end = NULL;
        double x = found < LBM_DIMENSIONS_MAX ? strtod(at, &end) : -1;
        if (end == NULL || end == at || !(x >= 0 && x <= 1) || (*end != ',' && *end != '\0'))
            return lbm_diag_set(diag, LBM_E_SYNTAX, "--site", 0, "%s: give two or three numbers from 0 to 1",
                                text);
        site[found++] = x;
        at = end;
        if (*at == '\0')
            break;
    }
    if (found < 2)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--site", 0, "%s: give two or three numbers from 0 to 1",
                            text);
    *n = found;
    return LBM_OK;
}

/* What a change points into. */
struct setting {
    double site[LBM_DIMENSIONS_MAX];
    uint32_t link_host[LBM_LINKS_TEXT_MAX], link_cost[LBM_LINKS_TEXT_MAX];
    char address[LBM_ADDRESS_MAX + 1];
};

/* All links that --links names; the daemon knows whether the host itself is among them.
 * Errors: LBM_E_SYNTAX. */
static enum lbm_err
read_links(const char *text, struct setting *setting, Lbm__HostChange *change, struct lbm_diag *diag)
{
    struct lbm_link links[LBM_LINKS_TEXT_MAX];
    size_t n;
    enum lbm_err err = lbm_links_parse(text, "--links", LBM_NONE, links, &n, diag);
    if (err != LBM_OK)
        return err;
    for (size_t i = 0; i < n; i++) {
        setting->link_host[i] = links[i].q;
        setting->link_cost[i] = links[i].cost;
    }
    change->change_links = 1;
    change->n_link_host = change->n_link_cost = n;
    change->link_host = setting->link_host;
    change->link_cost = setting->link_cost;
    return LBM_OK;
}

/* The options of set as a change.  Errors: LBM_E_SYNTAX, LBM_E_RANGE. */
static enum lbm_err
read_setting(const struct lbm_option_value *value, struct setting *setting, Lbm__HostChange *change,
             struct lbm_diag *diag)
{
    enum lbm_err err = LBM_OK;
    if (!value[SET_CAPACITY].given && !value[SET_LINKS].given && !value[SET_SITE].given &&
        !value[SET_ADDRESS].given)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "", 0,
                            "nothing to set: give --capacity, --links, --site or --address, or a job and "
                            "what to change of it");
    if (value[SET_CAPACITY].given)
        change->capacity = value[SET_CAPACITY].number;
    if (value[SET_ADDRESS].given) {
        if (strlen(value[SET_ADDRESS].text) > LBM_ADDRESS_MAX)
            return lbm_diag_set(diag, LBM_E_RANGE, "--address", 0, "has at most %d characters",
                                LBM_ADDRESS_MAX);
        snprintf(setting->address, sizeof setting->address, "%s", value[SET_ADDRESS].text);
        change->address = setting->address;
    }
    if (value[SET_SITE].given) {
        change->site = setting->site;
        err = parse_site(value[SET_SITE].text, setting->site, &change->n_site, diag);
    }
    if (err == LBM_OK && value[SET_LINKS].given)
        err = read_links(value[SET_LINKS].text, setting, change, diag);
    return err;
}

static int
is_any_given(const struct lbm_option_value *value, int from, int to)
{
    int given = 0;
    for (int i = from; i <= to; i++)
        given |= value[i].given;
    return given;
}

static void
read_gates(const struct lbm_option_value *value, Lbm__JobGates *gates)
{
    gates->given = (value[SET_COOLDOWN].given ? LBM_GATE_COOLDOWN : 0) |
                   (value[SET_PAYBACK].given ? LBM_GATE_PAYBACK : 0) |
                   (value[SET_BUDGET].given ? LBM_GATE_BYTES : 0) |
                   (value[SET_IN_FLIGHT].given ? LBM_GATE_IN_FLIGHT : 0);
    gates->cooldown_s = value[SET_COOLDOWN].number;
    gates->payback_s = value[SET_PAYBACK].number;
    gates->bytes_per_s = value[SET_BUDGET].integer;
    gates->in_flight = (uint32_t)value[SET_IN_FLIGHT].integer;
}

/* A job's policy and gates; the operand is the job. */
static enum lbm_status
set_job(const struct lbm_cli *client)
{
    const struct lbm_option_value *value = client->value;
    const char *option = value[SET_POLICY].given ? "--policy" : "gates";
    struct lbm_diag diag;
    enum lbm_err err = LBM_OK;
    if (value[SET_SCHEDULE].given && !value[SET_POLICY].given)
        err = lbm_diag_set(&diag, LBM_E_SYNTAX, "--schedule", 0, "goes with --policy");
    else if (client->n_operands == 0)
        err = lbm_diag_set(&diag, LBM_E_SYNTAX, option, 0, "which job? lbctl set JOB --policy POLICY");
    else if (is_any_given(value, SET_CAPACITY, SET_ADDRESS))
        err = lbm_diag_set(&diag, LBM_E_SYNTAX, option, 0, "is a job's: change a host by another command");
    if (err != LBM_OK)
        return lbm_cli_refuse(client, &diag);
    Lbm__JobChange change = LBM__JOB_CHANGE__INIT;
    Lbm__JobGates gates = LBM__JOB_GATES__INIT;
    change.keeps_policy = !value[SET_POLICY].given;
    change.policy = lbm_policy_given(&value[SET_POLICY]);
    change.schedule = lbm_schedule_given(&value[SET_SCHEDULE]);
    if (is_any_given(value, SET_COOLDOWN, SET_IN_FLIGHT)) {
        read_gates(value, &gates);
        change.gates = &gates;
    }
    return lbm_job_change(client, &change, client->operand[0], (unsigned)(1000 * value[SET_TIMEOUT].number));
}

static enum lbm_status
run_set(const struct lbm_cli *client)
{
    struct setting setting;
    struct lbm_diag diag;
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    change.action = LBM__HOST_ACTION__HOST_SET;
    if (is_any_given(client->value, SET_POLICY, SET_IN_FLIGHT))
        return set_job(client);
    if (read_setting(client->value, &setting, &change, &diag) != LBM_OK)
        return lbm_cli_refuse(client, &diag);
    return run_change(client, client->value[SET_TIMEOUT].number, &change);
}

const struct lbm_command lbm_command_set = {
    .name = "set",
    .text = "change a host's capacity, links, site or address, or a job's load policy and gates",
    .help = "What is set of a host holds until its configuration announces another value. A smaller capacity "
            "makes it hand vertices over, a larger one take some. What is set of a job holds until it is set "
            "again.",
    .options = set_options,
    .n_options = SET_OPTIONS,
    .operands = host_operand,
    .n_operands = 1,
    .run = run_set,
};
