/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl cluster: a whole cluster on this machine, real daemons, one folder a host:
 *   DIR/cluster.json    who belongs to it
 *   DIR/ca              the authority that signs its hosts' certificates
 *   DIR/hN/lbmapd.conf, identity, lbmap.db, lbmapd.sock, lbmapd.pid, lbmapd.log */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "client/cluster_dir.h"
#include "client/cluster_pki.h"
#include "client/daemon.h"
#include "client/links.h"
#include "client/process.h"
#include "client/progress.h"
#include "client/table.h"
#include "file/file.h"

enum {
    CLUSTER_HOSTS,
    CLUSTER_DIR,
    CLUSTER_DAEMON,
    CLUSTER_LINK,
    CLUSTER_CAPACITY,
    CLUSTER_LOG,
    CLUSTER_COPIES,
    CLUSTER_SIGNAL,
    CLUSTER_OPTIONS
};

enum { READY_MS = 30000, STOP_MS = 10000 };

static const struct lbm_choice signals[] = {
    {"KILL", "end it at once, as a crash would"},
    {"TERM", "let it end in order"},
    {"STOP", "freeze it"},
    {"CONT", "let a frozen one go on"},
    {NULL, NULL},
};

static const struct lbm_choice log_choices[] = {
    {"auto",
     "in etcd once three hosts run, which the daemons start themselves, if there is one on this machine"},
    {"local", "ordered by the first host"},
    {NULL, NULL},
};

static const int signal_numbers[] = {SIGKILL, SIGTERM, SIGSTOP, SIGCONT};

static const struct lbm_option cluster_options[CLUSTER_OPTIONS] = {
    [CLUSTER_HOSTS] =
        LBM_TEXT_OPTION("hosts", "SPEC",
                        "up: host graph of the new cluster, one daemon a host; without it, start again what "
                        "DIR holds and is not running",
                        .letter = 'H', .choices = lbm_host_forms),
    [CLUSTER_DIR] =
        LBM_TEXT_OPTION("dir", "DIR", "folder of the cluster; its name must be short, sockets go there",
                        .letter = 'd', .required = 1),
    [CLUSTER_DAEMON] = LBM_TEXT_OPTION(
        "daemon", "FILE", "up, add: the daemon to run; the one next to lbctl, or in PATH, if absent"),
    [CLUSTER_LINK] = LBM_TEXT_OPTION("link", "HOST[:COST],...", "add: hosts the new one is linked to"),
    [CLUSTER_CAPACITY] = LBM_NUMBER_OPTION(
        "capacity", "X", LBM_DAEMON_CAPACITY_MIN, LBM_DAEMON_CAPACITY_MAX,
        "add: how much of the work the new one takes, against the others' capacities", .fallback = "1"),
    [CLUSTER_LOG] =
        LBM_CHOICE_OPTION("log", "PLACE", log_choices, "up: where the control log is", .fallback = "auto"),
    [CLUSTER_COPIES] = LBM_INTEGER_OPTION("copies", "N", 1, LBM_COPIES_MAX,
                                          "up: hosts that keep a copy of each record", .fallback = "1"),
    [CLUSTER_SIGNAL] =
        LBM_CHOICE_OPTION("signal", "SIGNAL", signals, "kill: what the daemon gets", .fallback = "KILL"),
};

static const struct lbm_choice actions[] = {
    {"up", "start a cluster, or what of it is not running, and wait until all hosts are active"},
    {"down", "stop all its daemons in order; the folder stays"},
    {"status", "show every daemon: process, whether it answers, whom it hears"},
    {"kill", "send a signal to the daemon of HOST"},
    {"add", "start one more host, linked as --link says"},
    {NULL, NULL},
};

static const struct lbm_operand cluster_operands[] = {
    {.name = "ACTION", .choices = actions, .text = "what to do:"},
    {.name = "HOST", .optional = 1, .text = "kill: id of the host"},
};

/* ---- up and add ---------------------------------------------------------------------------------------- */

static enum lbm_status
start(const struct lbm_cli *client, const struct lbm_cluster *cluster, struct lbm_place *place)
{
    char program[PATH_MAX], config[LBM_CLUSTER_PATH_MAX], log[LBM_CLUSTER_PATH_MAX];
    struct lbm_diag diag;
    if (client->value[CLUSTER_DAEMON].given)
        snprintf(program, sizeof program, "%s", client->value[CLUSTER_DAEMON].text);
    else
        lbm_process_daemon_path(program, sizeof program);
    if (lbm_process_start(program, lbm_cluster_path(cluster, place, "lbmapd.conf", config),
                          lbm_cluster_path(cluster, place, "lbmapd.log", log), &place->started,
                          &diag) != LBM_OK)
        return lbm_cli_fail(client, &diag);
    return LBM_STATUS_DONE;
}

/* What one daemon sees of the cluster. */
struct heard {
    uint32_t of;      /* its host */
    uint32_t added;   /* host that is to become active, or LBM_NONE: all are */
    uint32_t known;   /* hosts in its view, also those that left */
    uint32_t unready; /* of them: on their way in, or away without having left */
    uint32_t heard;   /* of them: heard from */
    int added_active;
    int left; /* it has left: it hears nobody, and nobody waits for it */
    uint64_t vertices;
};

static enum lbm_err
take_heard(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    struct heard *heard = arg;
    (void)handle;
    for (size_t i = 0; chunk->hosts != NULL && i < chunk->hosts->n_hosts; i++) {
        const Lbm__HostEntry *host = chunk->hosts->hosts[i];
        int left = strcmp(host->state, "LEFT") == 0;
        int participates = strcmp(host->state, "ACTIVE") == 0 || strcmp(host->state, "DRAINING") == 0;
        heard->known++;
        heard->heard += host->reachable;
        heard->unready += !left && !(participates && host->reachable);
        if (host->host == heard->added)
            heard->added_active = strcmp(host->state, "ACTIVE") == 0;
        if (host->host == heard->of) {
            heard->vertices = host->vertices;
            heard->left = left;
        }
    }
    return LBM_OK;
}

/* Ask one daemon, quietly. Nonzero if it answered in time. */
static int
ask_heard(const struct lbm_cli *client, const struct lbm_cluster *cluster, const struct lbm_place *place,
          uint32_t added, struct heard *heard)
{
    char path[LBM_CLUSTER_PATH_MAX];
    struct lbm_daemon daemon;
    *heard = (struct heard){.of = place->id, .added = added};
    if (lbm_daemon_open(&daemon, client, lbm_cluster_path(cluster, place, "lbmapd.sock", path), 1000, 1) !=
        LBM_STATUS_DONE)
        return 0;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOSTS;
    request.hosts = &empty;
    int answered = lbm_api_call(&daemon.handle, &request, take_heard, heard) == LBM_OK;
    lbm_daemon_close(&daemon);
    return answered;
}

static void
pause_ms(long ms)
{
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* The first daemon this command started that has ended already, or NULL. */
static const struct lbm_place *
first_dead(const struct lbm_cluster *cluster)
{
    for (size_t i = 0; i < cluster->places.n; i++)
        if (cluster->places.at[i].started != 0 && !lbm_process_alive(cluster->places.at[i].started, NULL))
            return &cluster->places.at[i];
    return NULL;
}

static int
sees_ready(const struct heard *heard, uint32_t n)
{
    if (heard->left)
        return 1;
    return heard->added != LBM_NONE ? heard->added_active : heard->known == n && heard->unready == 0;
}

/* Wait until every daemon sees every host take part and hears it; or, with an added host, until those that
 * run see that one active. */
static enum lbm_status
wait_ready(const struct lbm_cli *client, const struct lbm_cluster *cluster, uint32_t added)
{
    struct lbm_progress progress;
    struct lbm_diag diag;
    int64_t end_ms = lbm_progress_now_ms() + READY_MS;
    uint32_t n = (uint32_t)cluster->places.n, ready = 0;
    const struct lbm_place *dead = NULL;
    lbm_progress_begin(&progress, lbm_cli_is_quiet(client));
    while (ready < n && dead == NULL && lbm_progress_now_ms() < end_ms) {
        const struct lbm_place *place = &cluster->places.at[ready];
        struct heard heard;
        if ((ask_heard(client, cluster, place, added, &heard) && sees_ready(&heard, n)) ||
            (added != LBM_NONE && !lbm_process_alive(lbm_cluster_process(cluster, place), NULL) &&
             place->started == 0)) {
            ready++;
            lbm_progress_show(&progress, "starting", (double)ready / n);
        } else {
            dead = first_dead(cluster);
            pause_ms(50);
        }
    }
    lbm_progress_end(&progress);
    if (ready == n)
        return LBM_STATUS_DONE;
    const struct lbm_place *late = dead != NULL ? dead : &cluster->places.at[ready];
    lbm_diag_set(&diag, dead != NULL ? LBM_E_STATE : LBM_E_TIMEOUT, late->name, 0,
                 "%s; see %.200s/%s/lbmapd.log",
                 dead != NULL ? "its daemon has ended" : "does not see all hosts active yet", cluster->dir,
                 late->name);
    (void)lbm_cli_fail(client, &diag);
    return dead != NULL ? LBM_STATUS_FAILED : LBM_STATUS_TIMED_OUT;
}

static const struct lbm_column place_columns[] = {
    {"host", "id", LBM_COLUMN_COUNT, 0},
    {"name", "name", LBM_COLUMN_TEXT, 0},
    {"pid", "pid", LBM_COLUMN_COUNT, 0},
    {"process", "process", LBM_COLUMN_TEXT, 0},
    {"answers_text", "answers", LBM_COLUMN_TEXT, 0},
    {"heard", "hears", LBM_COLUMN_COUNT, 0},
    {"vertices", "vertices", LBM_COLUMN_COUNT, 0},
    {"address", "address", LBM_COLUMN_TEXT, 0},
    {"socket", "talk to it with", LBM_COLUMN_TEXT, 0},
};

/* Print a row for every host. Returns how many do not answer. */
static uint32_t
print_places(const struct lbm_cli *client, const struct lbm_cluster *cluster)
{
    json_t *rows = json_array();
    uint32_t n_mute = 0;
    int json = client->global[LBM_GLOBAL_JSON].given;
    for (size_t i = 0; i < cluster->places.n; i++) {
        const struct lbm_place *place = &cluster->places.at[i];
        char path[LBM_CLUSTER_PATH_MAX], talk[LBM_CLUSTER_PATH_MAX + 32];
        struct heard heard = {0};
        int stopped = 0;
        pid_t pid = lbm_cluster_process(cluster, place);
        int alive = lbm_process_alive(pid, &stopped);
        int answers = alive && ask_heard(client, cluster, place, LBM_NONE, &heard);
        n_mute += !answers;
        lbm_cluster_path(cluster, place, "lbmapd.sock", path);
        snprintf(talk, sizeof talk, "%s%s", json ? "" : "lbctl -s ", path);
        json_t *row = json_pack("{s:i, s:s, s:i, s:s, s:b, s:i, s:I, s:s, s:s}", "host", (int)place->id,
                                "name", place->name, "pid", alive ? (int)pid : 0, "process",
                                stopped ? "STOPPED"
                                : alive ? "running"
                                        : "none",
                                "answers", answers, "heard", (int)heard.heard, "vertices",
                                (json_int_t)heard.vertices, "address", place->address, "socket", talk);
        if (!json)
            json_object_set_new(row, "answers_text", json_string(answers ? "yes" : "NO"));
        json_array_append_new(rows, row);
    }
    if ((json || !lbm_cli_is_quiet(client)) &&
        lbm_table_print(stdout, place_columns, sizeof place_columns / sizeof *place_columns, rows, json) !=
            LBM_OK)
        n_mute = UINT32_MAX;
    json_decref(rows);
    return n_mute;
}

/* Folders and configurations of a new cluster. */
static enum lbm_status
lay_out(const struct lbm_cli *client, struct lbm_cluster *cluster, const struct lbm_hosts *h)
{
    struct lbm_diag diag;
    uint16_t *port = lbm_alloc(h->n, sizeof *port);
    lbm_diag_set(&diag, LBM_E_NOMEM, cluster->dir, 0, "no memory for the hosts");
    enum lbm_status status = LBM_STATUS_DONE;
    if (port == NULL || lbm_process_free_ports(h->n, port, &diag) != LBM_OK ||
        lbm_cluster_authority(cluster, &diag) != LBM_OK)
        status = lbm_cli_fail(client, &diag);
    for (uint32_t p = 0; status == LBM_STATUS_DONE && p < h->n; p++) {
        struct lbm_place place = {.id = p};
        snprintf(place.name, sizeof place.name, "h%" PRIu32, p);
        snprintf(place.address, sizeof place.address, "127.0.0.1:%u", port[p]);
        if (lbm_vec_push(&cluster->places, place) != LBM_OK)
            status = LBM_STATUS_FAILED;
    }
    for (uint32_t p = 0; status == LBM_STATUS_DONE && p < h->n; p++) {
        LBM_VEC(struct lbm_link) links = {0};
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++) {
            struct lbm_link link = {p, h->target[e], h->cost[e]};
            if (lbm_vec_push(&links, link) != LBM_OK)
                status = LBM_STATUS_FAILED;
        }
        struct lbm_place_config config = {.leader = &cluster->places.at[0],
                                          .capacity = h->capacity[p],
                                          .site = &h->site[(size_t)p * h->m],
                                          .m = h->m,
                                          .links = links.at,
                                          .n_links = links.n,
                                          .copies = (uint32_t)client->value[CLUSTER_COPIES].integer,
                                          .log_engine = log_choices[client->value[CLUSTER_LOG].integer].name};
        if (status == LBM_STATUS_DONE)
            status = lbm_cluster_configure(client, cluster, &cluster->places.at[p], &config);
        lbm_vec_free(&links);
    }
    free(port);
    return status == LBM_STATUS_DONE ? lbm_cluster_save(client, cluster) : status;
}

static int
exists(const struct lbm_cluster *cluster)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/cluster.json", cluster->dir);
    return access(path, F_OK) == 0;
}

/* Start what does not run, wait for all, show them. */
static enum lbm_status
start_all(const struct lbm_cli *client, struct lbm_cluster *cluster)
{
    enum lbm_status status = LBM_STATUS_DONE;
    for (size_t i = 0; status == LBM_STATUS_DONE && i < cluster->places.n; i++)
        if (!lbm_process_alive(lbm_cluster_process(cluster, &cluster->places.at[i]), NULL))
            status = start(client, cluster, &cluster->places.at[i]);
    if (status == LBM_STATUS_DONE)
        status = wait_ready(client, cluster, LBM_NONE);
    if (status == LBM_STATUS_DONE)
        (void)print_places(client, cluster);
    return status;
}

/* Daemons take no others. */
static enum lbm_err
check_capacities(const char *spec, const struct lbm_hosts *h, struct lbm_diag *diag)
{
    for (uint32_t p = 0; p < h->n; p++)
        if (h->capacity[p] < LBM_DAEMON_CAPACITY_MIN || h->capacity[p] > LBM_DAEMON_CAPACITY_MAX)
            return lbm_diag_set(diag, LBM_E_RANGE, spec, 0,
                                "host %" PRIu32 " has capacity %g; a daemon's is %g to %g", p, h->capacity[p],
                                LBM_DAEMON_CAPACITY_MIN, LBM_DAEMON_CAPACITY_MAX);
    return LBM_OK;
}

static enum lbm_status
create(const struct lbm_cli *client, struct lbm_cluster *cluster)
{
    struct lbm_diag diag;
    struct lbm_hosts h;
    /* First, so that a wrong specification leaves no folder behind. */
    if (lbm_file_hosts(client->value[CLUSTER_HOSTS].text, &h, &diag) != LBM_OK)
        return lbm_cli_refuse(client, &diag);
    if (check_capacities(client->value[CLUSTER_HOSTS].text, &h, &diag) != LBM_OK) {
        lbm_hosts_free(&h);
        return lbm_cli_refuse(client, &diag);
    }
    enum lbm_status status = lbm_cluster_open(client, client->value[CLUSTER_DIR].text, cluster, 1);
    if (status == LBM_STATUS_DONE && exists(cluster)) {
        lbm_diag_set(
            &diag, LBM_E_EXISTS, cluster->dir, 0,
            "holds a cluster already; leave out --hosts to start it again, or choose another folder");
        status = lbm_cli_refuse(client, &diag);
    }
    if (status == LBM_STATUS_DONE)
        status = lay_out(client, cluster, &h);
    lbm_hosts_free(&h);
    return status;
}

static enum lbm_status
run_up(const struct lbm_cli *client, struct lbm_cluster *cluster)
{
    enum lbm_status status;
    if (client->value[CLUSTER_HOSTS].given) {
        status = create(client, cluster);
    } else {
        status = lbm_cluster_open(client, client->value[CLUSTER_DIR].text, cluster, 0);
        if (status == LBM_STATUS_DONE)
            status = lbm_cluster_load(client, cluster);
    }
    return status == LBM_STATUS_DONE ? start_all(client, cluster) : status;
}

/* --link as links of the new host, all to hosts of the cluster. */
static enum lbm_status
parse_links(const struct lbm_cli *client, const struct lbm_cluster *cluster, uint32_t self,
            struct lbm_link links[LBM_LINKS_TEXT_MAX], size_t *n)
{
    struct lbm_diag diag;
    if (!client->value[CLUSTER_LINK].given) {
        lbm_diag_set(&diag, LBM_E_SYNTAX, "--link", 0, "is needed: to which hosts is the new one linked?");
        return lbm_cli_refuse(client, &diag);
    }
    if (lbm_links_parse(client->value[CLUSTER_LINK].text, "--link", self, links, n, &diag) != LBM_OK)
        return lbm_cli_refuse(client, &diag);
    for (size_t k = 0; k < *n; k++) {
        int known = 0;
        for (size_t i = 0; i < cluster->places.n; i++)
            known |= cluster->places.at[i].id == links[k].q;
        if (!known) {
            lbm_diag_set(&diag, LBM_E_NOTFOUND, "--link", 0, "%" PRIu32 " is no host of this cluster",
                         links[k].q);
            return lbm_cli_refuse(client, &diag);
        }
    }
    return LBM_STATUS_DONE;
}

static enum lbm_status
run_add(const struct lbm_cli *client, struct lbm_cluster *cluster)
{
    struct lbm_link links[LBM_LINKS_TEXT_MAX];
    struct lbm_diag diag;
    uint16_t port;
    enum lbm_status status = lbm_cluster_open(client, client->value[CLUSTER_DIR].text, cluster, 0);
    if (status == LBM_STATUS_DONE)
        status = lbm_cluster_load(client, cluster);
    if (status != LBM_STATUS_DONE)
        return status;
    struct lbm_place place = {0};
    for (size_t i = 0; i < cluster->places.n; i++)
        place.id = cluster->places.at[i].id >= place.id ? cluster->places.at[i].id + 1 : place.id;
    struct lbm_place_config config = {.capacity = client->value[CLUSTER_CAPACITY].number,
                                      .m = 2,
                                      .links = links,
                                      .copies = (uint32_t)client->value[CLUSTER_COPIES].integer,
                                      .log_engine = log_choices[client->value[CLUSTER_LOG].integer].name};
    status = parse_links(client, cluster, place.id, links, &config.n_links);
    if (status != LBM_STATUS_DONE)
        return status;
    if (lbm_process_free_ports(1, &port, &diag) != LBM_OK)
        return lbm_cli_fail(client, &diag);
    snprintf(place.name, sizeof place.name, "h%" PRIu32, place.id);
    snprintf(place.address, sizeof place.address, "127.0.0.1:%u", port);
    if (lbm_vec_push(&cluster->places, place) != LBM_OK)
        return LBM_STATUS_FAILED;
    config.leader = &cluster->places.at[0];
    struct lbm_place *added = &cluster->places.at[cluster->places.n - 1];
    status = lbm_cluster_configure(client, cluster, added, &config);
    if (status == LBM_STATUS_DONE)
        status = lbm_cluster_save(client, cluster);
    if (status == LBM_STATUS_DONE)
        status = start(client, cluster, added);
    if (status == LBM_STATUS_DONE)
        status = wait_ready(client, cluster, added->id);
    if (status == LBM_STATUS_DONE)
        (void)print_places(client, cluster);
    if (status == LBM_STATUS_FAILED && !lbm_process_alive(added->started, NULL)) {
        cluster->places.n--; /* else every later command would wait for it */
        (void)lbm_cluster_save(client, cluster);
    }
    return status;
}

/* ---- down, status, kill -------------------------------------------------------------------------------- */

static enum lbm_status
run_down(const struct lbm_cli *client, struct lbm_cluster *cluster)
{
    struct lbm_diag diag;
    enum lbm_status status = lbm_cluster_open(client, client->value[CLUSTER_DIR].text, cluster, 0);
    if (status == LBM_STATUS_DONE)
        status = lbm_cluster_load(client, cluster);
    if (status != LBM_STATUS_DONE)
        return status;
    for (size_t i = 0; i < cluster->places.n; i++) {
        pid_t pid = lbm_cluster_process(cluster, &cluster->places.at[i]);
        if (pid != 0) {
            kill(pid, SIGTERM);
            kill(pid, SIGCONT); /* a frozen one must hear it */
        }
    }
    int64_t end_ms = lbm_progress_now_ms() + STOP_MS;
    uint32_t killed = 0;
    for (size_t i = 0; i < cluster->places.n;) {
        pid_t pid = lbm_cluster_process(cluster, &cluster->places.at[i]);
        if (!lbm_process_alive(pid, NULL)) {
            i++;
        } else if (lbm_progress_now_ms() >= end_ms) {
            kill(pid, SIGKILL);
            killed++;
            i++;
        } else {
            pause_ms(20);
        }
    }
    if (killed == 0)
        return LBM_STATUS_DONE;
    lbm_diag_set(&diag, LBM_E_TIMEOUT, cluster->dir, 0,
                 "%" PRIu32 " daemons did not end in %d s and were killed", killed, STOP_MS / 1000);
    return lbm_cli_fail(client, &diag);
}

static enum lbm_status
run_status(const struct lbm_cli *client, struct lbm_cluster *cluster)
{
    enum lbm_status status = lbm_cluster_open(client, client->value[CLUSTER_DIR].text, cluster, 0);
    if (status == LBM_STATUS_DONE)
        status = lbm_cluster_load(client, cluster);
    if (status != LBM_STATUS_DONE)
        return status;
    return print_places(client, cluster) == 0 ? LBM_STATUS_DONE : LBM_STATUS_FAILED;
}

static enum lbm_status
run_kill(const struct lbm_cli *client, struct lbm_cluster *cluster)
{
    struct lbm_diag diag;
    enum lbm_status status = lbm_cluster_open(client, client->value[CLUSTER_DIR].text, cluster, 0);
    if (status == LBM_STATUS_DONE)
        status = lbm_cluster_load(client, cluster);
    if (status != LBM_STATUS_DONE)
        return status;
    const char *text = client->n_operands > 1 ? client->operand[1] : "";
    char *end;
    unsigned long id = strtoul(text, &end, 10);
    for (size_t i = 0; *text != '\0' && *end == '\0' && i < cluster->places.n; i++) {
        const struct lbm_place *place = &cluster->places.at[i];
        pid_t pid = place->id == id ? lbm_cluster_process(cluster, place) : 0;
        if (place->id != id)
            continue;
        if (!lbm_process_alive(pid, NULL)) {
            lbm_diag_set(&diag, LBM_E_STATE, place->name, 0, "its daemon does not run");
            return lbm_cli_fail(client, &diag);
        }
        int number = signal_numbers[client->value[CLUSTER_SIGNAL].integer];
        if (kill(pid, number) == 0)
            return LBM_STATUS_DONE;
        lbm_diag_set(&diag, LBM_E_DENIED, place->name, 0, "%s", strerror(errno));
        return lbm_cli_fail(client, &diag);
    }
    lbm_diag_set(&diag, LBM_E_SYNTAX, "HOST", 0, "%s is no host of this cluster; give its id",
                 *text != '\0' ? text : "(nothing)");
    return lbm_cli_refuse(client, &diag);
}

/* A daemon that cannot be run is known before anything is written.  Errors: LBM_E_NOTFOUND. */
static enum lbm_err
check_program(const struct lbm_cli *client, struct lbm_diag *diag)
{
    const struct lbm_option_value *program = &client->value[CLUSTER_DAEMON];
    if (!program->given || strchr(program->text, '/') == NULL || access(program->text, X_OK) == 0)
        return LBM_OK;
    return lbm_diag_set(diag, LBM_E_NOTFOUND, "--daemon", 0, "%s cannot be run: %s", program->text,
                        strerror(errno));
}

static enum lbm_status
run_cluster(const struct lbm_cli *client)
{
    static const struct {
        const char *name;
        enum lbm_status (*run)(const struct lbm_cli *client, struct lbm_cluster *cluster);
        int takes_host;
    } runs[] = {{"up", run_up, 0},
                {"down", run_down, 0},
                {"status", run_status, 0},
                {"kill", run_kill, 1},
                {"add", run_add, 0}};
    struct lbm_cluster cluster = {0};
    struct lbm_diag diag;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        if (strcmp(client->operand[0], runs[i].name) == 0) {
            if (client->n_operands > 1 && !runs[i].takes_host) {
                lbm_diag_set(&diag, LBM_E_SYNTAX, "HOST", 0,
                             "%s is for the whole cluster; only kill takes a host", runs[i].name);
                return lbm_cli_refuse(client, &diag);
            }
            if (check_program(client, &diag) != LBM_OK)
                return lbm_cli_refuse(client, &diag);
            enum lbm_status status = runs[i].run(client, &cluster);
            lbm_vec_free(&cluster.places);
            return status;
        }
    lbm_diag_set(&diag, LBM_E_SYNTAX, client->operand[0], 0, "is not up, down, status, kill or add");
    return lbm_cli_refuse(client, &diag);
}

const struct lbm_command lbm_command_cluster = {
    .name = "cluster",
    .text = "run a whole cluster on this machine",
    .help = "Starts, stops and shows real daemons with real sockets and databases, one folder a host below "
            "DIR. Only processes that run with a configuration of DIR are ever signalled.",
    .options = cluster_options,
    .n_options = CLUSTER_OPTIONS,
    .operands = cluster_operands,
    .n_operands = sizeof cluster_operands / sizeof *cluster_operands,
    .run = run_cluster,
};
