/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl status, lbctl hosts: how the cluster stands, as one daemon sees it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/daemon.h"
#include "client/table.h"

/* ---- status -------------------------------------------------------------------------------------------- */

static const struct lbm_column status_columns[] = {
    {"name", "host", LBM_COLUMN_TEXT, 0},
    {"host", "id", LBM_COLUMN_COUNT, 0},
    {"cluster_name", "cluster", LBM_COLUMN_TEXT, 0},
    {"state_text", "state", LBM_COLUMN_TEXT, 0},
    {"version", "version", LBM_COLUMN_TEXT, 0},
    {"protocol_text", "protocol", LBM_COLUMN_TEXT, 0},
    {"uptime_s", "up for", LBM_COLUMN_SECONDS, 0},
    {"view", "view", LBM_COLUMN_COUNT, 0},
    {"log_text", "control log", LBM_COLUMN_TEXT, 0},
    {"members", "members", LBM_COLUMN_COUNT, 0},
    {"heard", "members heard", LBM_COLUMN_COUNT, 0},
    {"unreachable_text", "unreachable", LBM_COLUMN_TEXT, 0},
    {"deaf_text", "do not hear this host", LBM_COLUMN_TEXT, 0},
    {"outside_text", "cannot be reached", LBM_COLUMN_TEXT, 0},
    {"log_awaits_text", "control log waits for", LBM_COLUMN_TEXT, 0},
    {"vertices", "vertices here", LBM_COLUMN_COUNT, 0},
    {"handoffs", "vertices handed over", LBM_COLUMN_COUNT, 0},
    {"plans", "plans made", LBM_COLUMN_COUNT, 0},
    {"sweeps", "sweeps of diffusion", LBM_COLUMN_COUNT, 0},
    {"backup", "copies go to host", LBM_COLUMN_COUNT, 0},
    {"lag", "changes on their way", LBM_COLUMN_COUNT, 0},
    {"applications", "applications", LBM_COLUMN_COUNT, 0},
    {"lease_text", "their lease", LBM_COLUMN_TEXT, 0},
    {"messages_sent", "messages sent", LBM_COLUMN_COUNT, 0},
    {"messages_received", "messages received", LBM_COLUMN_COUNT, 0},
    {"bytes_sent", "bytes sent", LBM_COLUMN_COUNT, 0},
    {"bytes_received", "bytes received", LBM_COLUMN_COUNT, 0},
};

/* What a cluster speaks in which some hosts run an earlier version. */
static void
add_protocol(json_t *object, const Lbm__StatusReply *s)
{
    char text[160];
    json_object_set_new(object, "protocol", json_integer(s->protocol));
    json_object_set_new(object, "protocol_most", json_integer(s->protocol_most));
    snprintf(text, sizeof text,
             "%u, since hosts run an earlier version (lbctl hosts --json); this one speaks %u", s->protocol,
             s->protocol_most);
    if (s->protocol != 0 && s->protocol < s->protocol_most)
        json_object_set_new(object, "protocol_text", json_string(text));
}

static void
add_lease(json_t *object, const Lbm__StatusReply *s)
{
    char text[32];
    if (s->lease_s < 0)
        snprintf(text, sizeof text, "no limit");
    else
        snprintf(text, sizeof text, "%.1f s", s->lease_s);
    json_object_set_new(object, "lease_text", json_string(text));
    json_object_set_new(object, "lease_s", s->lease_s < 0 ? json_null() : json_real(s->lease_s));
    json_object_set_new(object, "applications", json_integer(s->applications));
    json_object_set_new(object, "lag", json_integer((json_int_t)s->lag));
    json_object_set_new(object, "backup", s->backup != LBM_NONE ? json_integer(s->backup) : json_null());
}

/* A list of hosts: for programs, and for people if there are any. */
static void
add_list(json_t *object, const char *key, const char *text_key, size_t n, const uint32_t *host)
{
    json_t *list = json_array();
    char text[256] = "";
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(list, json_integer(host[i]));
        if (len < sizeof text - 16)
            len += (size_t)snprintf(text + len, sizeof text - len, "%shost %u", i != 0 ? ", " : "", host[i]);
    }
    json_object_set_new(object, key, list);
    if (text[0] != '\0')
        json_object_set_new(object, text_key, json_string(text));
}

/* Hosts that want to join and cannot be reached, with where they say that they are. */
static void
add_outside(json_t *object, const Lbm__StatusReply *s)
{
    json_t *list = json_array();
    char text[256] = "";
    size_t len = 0;
    for (size_t i = 0; i < s->n_outside; i++) {
        json_array_append_new(
            list, json_pack("{s:i, s:s}", "host", (int)s->outside[i], "address", s->outside_address[i]));
        if (len < sizeof text)
            len += (size_t)snprintf(text + len, sizeof text - len, "%shost %u at %s", i != 0 ? ", " : "",
                                    s->outside[i], s->outside_address[i]);
    }
    json_object_set_new(object, "outside", list);
    if (text[0] != '\0')
        json_object_set_new(object, "outside_text", json_string(text));
}

/* Where the control log is: by whom it is ordered, or in which ensemble. */
static void
add_log(json_t *object, const Lbm__StatusReply *s)
{
    json_t *members = json_array(), *answering = json_array();
    const char *engine = !s->log_external ? "local" : s->n_ensemble != 0 ? "etcd" : "etcd elsewhere";
    char text[256] = "";
    size_t len = 0;
    for (size_t i = 0; i < s->n_ensemble; i++) {
        json_array_append_new(members, json_integer(s->ensemble[i]));
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%u", i != 0 ? " " : "", s->ensemble[i]);
    }
    for (size_t i = 0; i < s->n_ensemble_answers; i++)
        json_array_append_new(answering, json_integer(s->ensemble_answers[i]));
    int has_leader = s->log_external && s->ensemble_leader != LBM_NONE && s->n_ensemble != 0;
    json_object_set_new(object, "log_engine", json_string(engine));
    json_object_set_new(object, "log_members", members);
    json_object_set_new(object, "log_members_answering", answering);
    json_object_set_new(object, "log_leader", has_leader ? json_integer(s->ensemble_leader) : json_null());
    struct lbm_buf line = {0};
    int is_lost = 0;
    for (size_t i = 0; i < s->n_unreachable && !s->log_external; i++)
        is_lost |= s->unreachable[i] == s->leader;
    if (!s->log_external)
        lbm_buf_printf(&line, "local, ordered by host %u%s%s%s", s->leader,
                       is_lost ? ", which is unreachable: see lbctl log promote" : "",
                       s->n_ensemble != 0 ? "; an ensemble of etcd is being formed on hosts " : "", text);
    else if (s->n_ensemble == 0)
        lbm_buf_printf(&line, "etcd, in the ensemble that the configuration names");
    else if (has_leader)
        lbm_buf_printf(&line, "etcd on hosts %s; host %u leads", text, s->ensemble_leader);
    else
        lbm_buf_printf(&line, "etcd on hosts %s; no leader is known%s", text,
                       s->n_ensemble_answers == 0
                           ? ": if most of them are lost for good, lbctl log promote --force"
                           : "");
    if (s->log_external && s->n_ensemble_answers < s->n_ensemble)
        lbm_buf_printf(&line, "; %zu of %zu answer", s->n_ensemble_answers, s->n_ensemble);
    if (s->log_is_older)
        lbm_buf_printf(&line, "; RESTORED FROM AN OLDER COPY: it lacks entries that this host has");
    json_object_set_new(object, "log_is_older", json_boolean(s->log_is_older));
    json_object_set_new(object, "log_text", json_string(line.failed ? "" : line.at));
    lbm_buf_free(&line);
}

/* What stands still, or will. */
static void
add_alerts(json_t *object, const Lbm__StatusReply *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_alerts; i++)
        json_array_append_new(list, json_pack("{s:s, s:f, s:s}", "id", s->alerts[i]->id, "since_s",
                                              s->alerts[i]->since_s, "text", s->alerts[i]->text));
    json_object_set_new(object, "alerts", list);
}

static void
print_alerts(const json_t *object)
{
    const json_t *alert;
    size_t i;
    json_array_foreach(json_object_get(object, "alerts"), i, alert)
        printf("[%s] for %.0f s: %s\n", json_string_value(json_object_get(alert, "id")),
               json_number_value(json_object_get(alert, "since_s")),
               json_string_value(json_object_get(alert, "text")));
}

static enum lbm_err
take_status(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    json_t **object = arg;
    const Lbm__StatusReply *s = chunk->status;
    (void)handle;
    char cluster[24];
    if (s == NULL)
        return LBM_OK;
    /* 64 bits: more than JSON's numbers hold. */
    snprintf(cluster, sizeof cluster, "0x%016" PRIx64, s->cluster);
    *object = json_pack(
        "{s:i, s:s, s:s, s:s, s:s, s:I, s:i, s:f, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "host",
        (int)s->host, "name", s->name, "version", s->version, "cluster", cluster, "cluster_name",
        s->cluster_name, "view", (json_int_t)s->view, "leader", (int)s->leader, "uptime_s", s->uptime_s,
        "members", (int)s->members, "heard", (int)s->heard, "vertices", (json_int_t)s->vertices, "handoffs",
        (json_int_t)s->handoffs, "plans", (json_int_t)s->plans, "messages_sent", (json_int_t)s->messages_sent,
        "messages_received", (json_int_t)s->messages_received, "bytes_sent", (json_int_t)s->bytes_sent,
        "bytes_received", (json_int_t)s->bytes_received);
    if (*object == NULL)
        return LBM_E_NOMEM;
    json_object_set_new(*object, "sweeps", json_integer((json_int_t)s->sweeps));
    json_object_set_new(*object, "state", json_string(s->state));
    json_object_set_new(*object, "state_text", json_string(s->state[0] != '\0' ? s->state : "no member yet"));
    add_protocol(*object, s);
    add_log(*object, s);
    add_lease(*object, s);
    add_list(*object, "unreachable", "unreachable_text", s->n_unreachable, s->unreachable);
    add_list(*object, "deaf", "deaf_text", s->n_deaf, s->deaf);
    add_outside(*object, s);
    add_list(*object, "log_awaits", "log_awaits_text", s->n_awaited, s->awaited);
    add_alerts(*object, s);
    return LBM_OK;
}

/* What the exit status says of an answer. */
static enum lbm_status
judge(const json_t *object)
{
    static const char *const troubles[] = {"alerts", "unreachable", "deaf", "outside", "log_awaits"};
    const json_t *alert;
    size_t at;
    json_array_foreach(json_object_get(object, "alerts"), at,
                       alert) if (strcmp(json_string_value(json_object_get(alert, "id")), "job-lost") ==
                                  0) return LBM_STATUS_LOST;
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++)
        if (json_array_size(json_object_get(object, troubles[i])) != 0)
            return LBM_STATUS_DEGRADED;
    const char *state = json_string_value(json_object_get(object, "state"));
    int participates = state != NULL && (strcmp(state, "ACTIVE") == 0 || strcmp(state, "DRAINING") == 0);
    return participates ? LBM_STATUS_DONE : LBM_STATUS_DEGRADED;
}

static enum lbm_status
run_status(const struct lbm_cli *client)
{
    struct lbm_daemon daemon;
    json_t *object = NULL;
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, 2000, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_STATUS;
    request.status = &empty;
    status = lbm_daemon_ask(&daemon, &request, take_status, &object);
    if (status == LBM_STATUS_DONE && object != NULL) {
        int json = client->global[LBM_GLOBAL_JSON].given;
        if (json) {
            json_object_del(object, "unreachable_text");
            json_object_del(object, "deaf_text");
            json_object_del(object, "outside_text");
            json_object_del(object, "state_text");
            json_object_del(object, "log_awaits_text");
            json_object_del(object, "lease_text");
            json_object_del(object, "log_text");
        }
        if (lbm_table_print_object(stdout, status_columns, sizeof status_columns / sizeof *status_columns,
                                   object, json) != LBM_OK)
            status = LBM_STATUS_FAILED;
        else
            status = judge(object);
        if (!json && status != LBM_STATUS_FAILED)
            print_alerts(object);
    }
    json_decref(object);
    lbm_daemon_close(&daemon);
    return status;
}

const struct lbm_command lbm_command_status = {
    .name = "status",
    .text = "show how a daemon and its cluster stand",
    .help =
        "Asks the daemon at --socket and answers at once from what it knows: members it has not heard "
        "from for 1.6 seconds are named as unreachable, and so are those that are heard but have not heard "
        "this host for 3 seconds, which is known in clusters of up to 65 hosts. A daemon that orders the "
        "control log asks all members before it does so; while it waits, those that have not answered are "
        "named. Below, a line for each thing that stands still or will: its id, since when, and what to do; "
        "lbmapd(8) lists the ids. In each of these cases the exit status is 5, and while the host itself is "
        "not "
        "active; 6 if vertices of a job are lost.",
    .run = run_status,
};

/* ---- hosts --------------------------------------------------------------------------------------------- */

static const struct lbm_column host_columns[] = {
    {"host", "id", LBM_COLUMN_COUNT, 0},
    {"name", "name", LBM_COLUMN_TEXT, 0},
    {"state", "state", LBM_COLUMN_TEXT, 0},
    {"reachable_text", "heard", LBM_COLUMN_TEXT, 0},
    {"last_heard_s", "last heard", LBM_COLUMN_SECONDS, 0},
    {"capacity", "capacity", LBM_COLUMN_RATIO, 0},
    {"vertices", "vertices", LBM_COLUMN_COUNT, 0},
    {"backup_text", "backup", LBM_COLUMN_TEXT, 0},
    {"insync_text", "in sync", LBM_COLUMN_TEXT, 1},
    {"lag", "lag", LBM_COLUMN_COUNT, 2},
    {"suspectors", "suspected by", LBM_COLUMN_COUNT, 3},
    {"view", "view", LBM_COLUMN_COUNT, 5},
    {"incarnation", "incarnation", LBM_COLUMN_TEXT, 7},
    {"links_text", "links", LBM_COLUMN_TEXT, 4},
    {"address", "address", LBM_COLUMN_TEXT, 6},
};

/* Texts for people, which JSON does not show. */
static const char *const host_texts[] = {"reachable_text", "links_text", "backup_text", "insync_text", NULL};

/* Who holds its copy; of an evicted host who takes over. */
static void
add_standing(json_t *row, const Lbm__HostEntry *h)
{
    char backup[32] = "", incarnation[24];
    int taking = strcmp(h->state, "EVICTED") != 0 && strcmp(h->state, "LEFT") != 0;
    if (h->successor != LBM_NONE)
        snprintf(backup, sizeof backup, "successor %u%s", h->successor, h->taken_over ? "" : "?");
    else if (h->backup != LBM_NONE && h->second_backup != 0)
        snprintf(backup, sizeof backup, "%u,%u", h->backup, h->second_backup - 1);
    else if (h->backup != LBM_NONE || h->second_backup != 0)
        snprintf(backup, sizeof backup, "%u", h->backup != LBM_NONE ? h->backup : h->second_backup - 1);
    snprintf(incarnation, sizeof incarnation, "%" PRIu64, h->incarnation);
    json_object_set_new(row, "incarnation",
                        json_string(incarnation)); /* 64 bits: more than JSON's numbers hold */
    json_object_set_new(row, "failure_domain", json_string(h->failure_domain));
    json_object_set_new(row, "backup", h->backup != LBM_NONE ? json_integer(h->backup) : json_null());
    json_object_set_new(row, "second_backup",
                        h->second_backup != 0 ? json_integer(h->second_backup - 1) : json_null());
    json_object_set_new(row, "insync", json_boolean(h->insync));
    json_object_set_new(row, "successor",
                        h->successor != LBM_NONE ? json_integer(h->successor) : json_null());
    json_object_set_new(row, "taken_over", json_boolean(h->taken_over));
    json_object_set_new(row, "lag", json_integer((json_int_t)h->lag));
    json_object_set_new(row, "view", json_integer((json_int_t)h->view));
    json_object_set_new(row, "suspectors", json_integer(h->suspectors));
    json_object_set_new(row, "maintenance_s",
                        h->maintenance_s > 0 ? json_real(h->maintenance_s) : json_null());
    json_object_set_new(row, "maintenance_reason", json_string(h->maintenance_reason));
    json_object_set_new(row, "protocol", json_integer(h->protocol));
    json_object_set_new(row, "backup_text", json_string(backup));
    json_object_set_new(row, "insync_text", json_string(!taking ? "" : h->insync ? "yes" : "NO"));
}

static json_t *
host_object(const Lbm__HostEntry *h)
{
    json_t *links = json_array(), *site = json_array();
    char text[64] = "";
    size_t len = 0;
    for (size_t k = 0; k < h->n_link_host; k++) {
        json_array_append_new(
            links, json_pack("{s:i, s:i}", "host", (int)h->link_host[k], "cost", (int)h->link_cost[k]));
        if (len < sizeof text - 12)
            len +=
                (size_t)snprintf(text + len, sizeof text - len, "%s%u", k != 0 ? " " : "", h->link_host[k]);
    }
    for (size_t k = 0; k < h->n_site; k++)
        json_array_append_new(site, json_real(h->site[k]));
    json_t *row = json_pack("{s:i, s:s, s:s, s:s, s:b, s:s, s:f, s:f, s:I, s:o, s:s, s:o}", "host",
                            (int)h->host, "name", h->name, "address", h->address, "state", h->state,
                            "reachable", (int)h->reachable, "reachable_text",
                            !h->reachable && h->maintenance_s > 0 ? "away"
                            : !h->reachable                       ? "NO"
                            : h->deaf                             ? "one way"
                                                                  : "yes",
                            "last_heard_s", h->last_heard_s, "capacity", h->capacity, "vertices",
                            (json_int_t)h->vertices, "links", links, "links_text", text, "site", site);
    if (row != NULL)
        json_object_set_new(row, "deaf", json_boolean(h->deaf));
    if (row != NULL)
        add_standing(row, h);
    return row;
}

static enum lbm_err
take_hosts(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    json_t *rows = arg;
    (void)handle;
    for (size_t i = 0; chunk->hosts != NULL && i < chunk->hosts->n_hosts; i++)
        if (json_array_append_new(rows, host_object(chunk->hosts->hosts[i])) != 0)
            return LBM_E_NOMEM;
    return LBM_OK;
}

/* Nobody depends on it any more: it has left, or another host has taken over. */
static int
has_gone(const Lbm__HostEntry *host)
{
    return strcmp(host->state, "LEFT") == 0 || (strcmp(host->state, "EVICTED") == 0 && host->taken_over);
}

static enum lbm_err
take_present_hosts(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    json_t *rows = arg;
    (void)handle;
    for (size_t i = 0; chunk->hosts != NULL && i < chunk->hosts->n_hosts; i++)
        if (!has_gone(chunk->hosts->hosts[i]) &&
            json_array_append_new(rows, host_object(chunk->hosts->hosts[i])) != 0)
            return LBM_E_NOMEM;
    return LBM_OK;
}

static const struct lbm_option hosts_options[] = {
    LBM_FLAG_OPTION("all", "also hosts that have left, and evicted ones that others have taken over"),
};

static enum lbm_status
run_hosts(const struct lbm_cli *client)
{
    const struct lbm_listing listing = {
        host_columns, sizeof host_columns / sizeof *host_columns, host_texts,
        client->value[0].given || client->global[LBM_GLOBAL_JSON].given ? take_hosts : take_present_hosts};
    struct lbm_daemon daemon;
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, 2000, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOSTS;
    request.hosts = &empty;
    status = lbm_daemon_list(&daemon, &request, &listing);
    lbm_daemon_close(&daemon);
    return status;
}

const struct lbm_command lbm_command_hosts = {
    .name = "hosts",
    .text = "list the hosts of the cluster",
    .help =
        "One line a host: state, whether (one way: it does not hear the asked one; away: in maintenance) and "
        "when "
        "it was last heard, capacity, vertices, the backup that "
        "holds copies of its records, whether they are complete, how many changes the copy lags behind, "
        "how many hosts suspect it, and its links. Of an evicted host, the successor; ? until it has taken "
        "over. A narrow terminal shows less; --json has all. Hosts that have gone are left out of the table.",
    .options = hosts_options,
    .n_options = 1,
    .run = run_hosts,
};
