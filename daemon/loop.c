/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/loop.h"

#include <errno.h>
#include <event2/bufferevent_ssl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "daemon/contacts.h"
#include "daemon/log.h"
#include "daemon/loop_internal.h"
#include "daemon/supervisor.h"

enum {
    LOOK_US = 1000000,  /* between measurements of the capacity */
    CHECK_US = 2000000, /* between looks whether the database is still in its place */
};

/* Stop the loop with this status. */
static void
loop_stop(struct loop *loop, enum lbm_exit status)
{
    if (loop->stopping)
        return;
    loop->stopping = 1;
    loop->status = status;
    event_base_loopbreak(loop->base);
}

void
loop_fail(struct loop *loop)
{
    loop_stop(loop, LBM_EXIT_FAILED);
}

/* ---- the clock ----------------------------------------------------------------------------------------- */

/* CLOCK_BOOTTIME goes on while the machine sleeps, as others' clocks do. */
int64_t
loop_boottime_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Wake at the node's deadline. It is set to the clock's own time: nothing drifts, and a machine that wakes
 * up late fires at once. */
static void
arm_timer(struct loop *loop)
{
    int64_t deadline_us = lbm_node_deadline(loop->node);
    struct itimerspec spec = {0};
    if (deadline_us == loop->armed_us)
        return;
    if (deadline_us != INT64_MAX) {
        int64_t at_us = deadline_us > 0 ? deadline_us : 1; /* 0 would disarm */
        spec.it_value.tv_sec = (time_t)(at_us / 1000000);
        spec.it_value.tv_nsec = (long)(at_us % 1000000) * 1000;
    }
    int failed = timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
    LBM_ASSERT(failed == 0);
    loop->armed_us = deadline_us;
}

/* ---- events -------------------------------------------------------------------------------------------- */

/* Returns 0 if the daemon ends. */
static int
step_once(struct loop *loop, struct lbm_event *event)
{
    event->now_us = loop->now_us;
    enum lbm_err err = lbm_node_step(loop->node, event, &loop->effects);
    if (err != LBM_OK) {
        carry_notes_only(loop);
        lbm_log(LBM_NOTE_ERROR, "cannot go on: %s", lbm_err_text(err));
        loop_fail(loop);
        return 0;
    }
    carry_out(loop);
    return !loop->stopping;
}

/* Whoever waits for this daemon may go on once it takes part, not before. */
static void
tell_ready(struct loop *loop)
{
    char status[LBM_ADDRESS_MAX + 64];
    loop->is_ready = 1;
    snprintf(status, sizeof status, "host %" PRIu32 " at %s", loop->identity.subject.host,
             loop->config.settings->address);
    lbm_log(LBM_NOTE_INFO, "a member of the cluster: %s", status);
    lbm_supervisor_ready(status);
}

void
loop_step(struct loop *loop, struct lbm_event *event)
{
    if (loop->stopping)
        return;
    int64_t now_us = loop_boottime_us();
    if (now_us > loop->now_us)
        loop->now_us = now_us;
    int goes_on = step_once(loop, event);
    for (uint32_t host; goes_on && (host = lbm_outgoing_fell_behind(loop->outgoing)) != LBM_NONE;) {
        struct lbm_event behind = {.kind = LBM_EVENT_PEER_BEHIND, .as.behind = {host, 1}};
        goes_on = step_once(loop, &behind);
    }
    if (goes_on)
        arm_timer(loop);
    if (goes_on && !loop->is_ready && lbm_node_is_member(loop->node))
        tell_ready(loop);
}

static void
on_timer(evutil_socket_t fd, short what, void *context)
{
    struct loop *loop = context;
    uint64_t expirations;
    (void)what;
    if (read(fd, &expirations, sizeof expirations) < 0)
        return; /* set again since it fired */
    loop->armed_us = INT64_MAX;
    loop_step(loop, &(struct lbm_event){.kind = LBM_EVENT_TIMER});
}

static int
accepts(void *context, const Lbm__Peer *hello)
{
    const struct loop *loop = context;
    return lbm_node_accepts(loop->node, hello);
}

static void
on_message(void *context, const Lbm__Peer *message, size_t bytes)
{
    struct lbm_event event = {.kind = LBM_EVENT_MESSAGE};
    event.as.received.message = message;
    event.as.received.bytes = bytes;
    loop_step(context, &event);
}

static void
on_up(void *context, uint32_t host)
{
    loop_step(context, &(struct lbm_event){.kind = LBM_EVENT_PEER_UP, .as.peer = host});
}

static void
on_down(void *context, uint32_t host)
{
    loop_step(context, &(struct lbm_event){.kind = LBM_EVENT_PEER_DOWN, .as.peer = host});
}

static void
on_caught_up(void *context, uint32_t host)
{
    loop_step(context, &(struct lbm_event){.kind = LBM_EVENT_PEER_BEHIND, .as.behind = {host, 0}});
}

static void
on_request(void *context, const struct lbm_control_client *client, const Lbm__Request *request)
{
    struct lbm_event event = {.kind = LBM_EVENT_REQUEST};
    event.as.request.client = client->id;
    event.as.request.uid = client->uid;
    event.as.request.access = client->access;
    event.as.request.is_remote = client->is_remote;
    event.as.request.request = request;
    loop_step(context, &event);
}

static void
on_client_read(void *context, uint64_t client)
{
    loop_step(context, &(struct lbm_event){.kind = LBM_EVENT_CLIENT_READ, .as.client = client});
}

static void
on_gone(void *context, uint64_t client)
{
    loop_step(context, &(struct lbm_event){.kind = LBM_EVENT_CLIENT_GONE, .as.client = client});
}

/* ---- certificates, and operators from elsewhere -------------------------------------------------------- */

static void
on_other(void *context, enum lbm_tls_use use, struct bufferevent *bev, const char *from)
{
    struct loop *loop = context;
    struct lbm_pki_subject peer;
    if (use == LBM_TLS_ENROL)
        lbm_enrol_accept(loop->enrol, bev, from);
    else if (use == LBM_TLS_CONTROL && lbm_tls_peer(bufferevent_openssl_get_ssl(bev), &peer) &&
             peer.kind == LBM_PKI_USER)
        lbm_control_accept(loop->control, bev, &peer, from);
    else if (use == LBM_TLS_ETCD && loop->ensemble != NULL &&
             lbm_tls_peer(bufferevent_openssl_get_ssl(bev), &peer))
        lbm_ensemble_accept(loop->ensemble, bev, peer.host);
    else
        bufferevent_free(bev);
}

static void
on_enrol_request(void *context, uint64_t client, const Lbm__Request *request)
{
    const struct lbm_control_client is = {.id = client, .access = LBM_ACCESS_ADMIN};
    on_request(context, &is, request);
}

static size_t
enrol_contacts(void *context, struct lbm_node_contact *contacts, size_t max)
{
    struct loop *loop = context;
    contacts[0].host = loop->identity.subject.host;
    snprintf(contacts[0].address, sizeof contacts[0].address, "%s", loop->config.settings->address);
    return 1 + lbm_node_contacts(loop->node, contacts + 1, max - 1);
}

static const char *
enrol_cluster_name(void *context)
{
    return lbm_node_cluster_name(((struct loop *)context)->node);
}

/* Pieces of payloads that were wanted from the disk. */
static void
hand_over_readings(struct loop *loop)
{
    struct lbm_blob_reading reading;
    while (!loop->stopping && lbm_store_worker_reading(loop->store_worker, &reading)) {
        struct lbm_event event = {.kind = LBM_EVENT_BLOB_READ};
        event.as.blob_read.read = reading.read;
        event.as.blob_read.err = reading.err;
        event.as.blob_read.bytes = reading.bytes;
        event.as.blob_read.len = reading.len;
        loop_step(loop, &event);
        free(reading.bytes);
    }
}

static void
on_stored(evutil_socket_t fd, short what, void *context)
{
    struct loop *loop = context;
    struct lbm_diag diag = {0};
    uint64_t durable;
    (void)fd;
    (void)what;
    if (lbm_store_worker_report(loop->store_worker, &durable, &diag) != LBM_OK) {
        /* After a failed sync nobody knows what the disk holds: only opening it again tells. */
        lbm_log_diag(LBM_NOTE_ERROR, &diag);
        loop_fail(loop);
        return;
    }
    if (durable != loop->durable) {
        carry_released(loop, durable);
        loop_step(loop, &(struct lbm_event){.kind = LBM_EVENT_PERSISTED, .as.persisted = durable});
    }
    hand_over_readings(loop);
}

static void
on_planned(evutil_socket_t fd, short what, void *context)
{
    struct loop *loop = context;
    struct lbm_plan_result result;
    (void)fd;
    (void)what;
    while (!loop->stopping && lbm_plan_worker_result(loop->plan_worker, &result)) {
        struct lbm_event event = {.kind = LBM_EVENT_PLANNED};
        event.as.planned.job = result.job;
        event.as.planned.err = result.err;
        event.as.planned.plan = result.plan;
        event.as.planned.anchored = result.anchored;
        loop_step(loop, &event);
    }
}

/* ---- the control log elsewhere ------------------------------------------------------------------------- */

static void
on_log_result(void *context, uint64_t index, enum lbm_log_result result)
{
    struct lbm_event event = {.kind = LBM_EVENT_LOG_RESULT};
    event.as.log_result.index = index;
    event.as.log_result.result = result;
    loop_step(context, &event);
}

static void
on_log_entries(void *context, uint64_t from, const struct lbm_bytes *command, size_t n, int caught_up)
{
    struct lbm_event event = {.kind = LBM_EVENT_LOG_ENTRIES};
    event.as.log_entries.from = from;
    event.as.log_entries.command = command;
    event.as.log_entries.n = n;
    event.as.log_entries.caught_up = caught_up;
    loop_step(context, &event);
}

static void
on_log_snapshot(void *context, uint64_t index, const struct lbm_bytes *view)
{
    struct lbm_event event = {.kind = LBM_EVENT_LOG_SNAPSHOT};
    event.as.log_snapshot.index = index;
    event.as.log_snapshot.view = *view;
    loop_step(context, &event);
}

static void
on_log_older(void *context, uint64_t index)
{
    loop_step(context, &(struct lbm_event){.kind = LBM_EVENT_LOG_OLDER, .as.log_older = index});
}

static void
on_ensemble(void *context, const struct lbm_ensemble_report *report)
{
    struct lbm_event event = {.kind = LBM_EVENT_ENSEMBLE};
    event.as.ensemble = *report;
    loop_step(context, &event);
}

static uint64_t
view_of(void *context)
{
    return lbm_node_view(((const struct loop *)context)->node);
}

static const char *
address_of(void *context, uint32_t host)
{
    const struct loop *loop = context;
    const char *reached = lbm_outgoing_reached(loop->outgoing, host);
    return reached != NULL ? reached : lbm_node_address(loop->node, host);
}

/* ---- signals and the watchdog -------------------------------------------------------------------------- */

static void
on_stop_signal(evutil_socket_t signal, short what, void *context)
{
    struct loop *loop = context;
    (void)what;
    lbm_log(LBM_NOTE_INFO, "stopping: %s", strsignal((int)signal));
    lbm_supervisor_stopping();
    loop_stop(loop, LBM_EXIT_STOPPED);
}

/* The log level is the one setting that may change while the daemon runs. */
static void
on_hangup(evutil_socket_t signal, short what, void *context)
{
    struct loop *loop = context;
    struct lbm_settings settings;
    struct lbm_diag diag = {0};
    (void)signal;
    (void)what;
    if (lbm_settings_read(loop->config.settings_path, &settings, &diag) != LBM_OK) {
        lbm_log_diag(LBM_NOTE_WARNING, &diag);
        return;
    }
    if (!loop->config.debug)
        lbm_log_set_level(settings.log);
    lbm_log(LBM_NOTE_INFO, "read the log level again");
    lbm_settings_free(&settings);
}

static void
on_watchdog(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)context;
    lbm_supervisor_alive();
}

/* Hosts and users that the log says are believed no more: their connections end; none begins any more. */
static void
cut_revoked(struct loop *loop)
{
    for (uint32_t host = 0; host < LBM_HOSTS_MAX; host++)
        if (lbm_node_revoked(loop->node, host)) {
            lbm_inbound_cut(loop->inbound, host);
            lbm_outgoing_cut(loop->outgoing, host);
            lbm_ensemble_cut(loop->ensemble, host);
        }
    lbm_control_cut(loop->control, loop_is_revoked, loop);
}

/* What this host needs to find the others if its disk is lost follows from the log. */
static void
keep_contacts(struct loop *loop)
{
    struct lbm_node_contact contacts[LBM_CONTACTS_MAX], kept[LBM_CONTACTS_MAX] = {0};
    const char *dir = loop->config.settings->identity;
    struct lbm_diag diag = {0};
    size_t n_kept = 0;
    uint64_t view = lbm_node_view(loop->node);
    size_t n = lbm_node_contacts(loop->node, contacts, LBM_CONTACTS_MAX);
    if (view == loop->contacts_view)
        return;
    loop->contacts_view = view;
    cut_revoked(loop);
    if (n == 0)
        return;
    if (lbm_contacts_read(dir, LBM_NONE, kept, &n_kept, NULL) == LBM_OK && n_kept == n) {
        size_t same = 0;
        while (same < n && kept[same].host == contacts[same].host &&
               strcmp(kept[same].address, contacts[same].address) == 0)
            same++;
        if (same == n)
            return;
    }
    if (lbm_contacts_write(dir, contacts, n, &diag) != LBM_OK)
        lbm_log_diag(LBM_NOTE_WARNING, &diag);
}

/* The authority's key, once lbctl pki import has put it there: this host enrols others from then on. */
static void
look_for_key(struct loop *loop)
{
    struct lbm_diag diag = {0};
    if (loop->identity.ca_key != NULL)
        return;
    enum lbm_err err = lbm_identity_read_ca_key(loop->config.settings->identity, &loop->identity, &diag);
    if (err == LBM_OK)
        lbm_log(LBM_NOTE_INFO, "this host has the key of the cluster's authority from now on");
    else if (err != LBM_E_NOTFOUND && err != loop->key_err)
        lbm_log_diag(LBM_NOTE_WARNING, &diag);
    loop->key_err = err;
}

/* How full the disk of the database is; told when it has changed by a hundredth. */
static void
look_at_disk(struct loop *loop)
{
    struct statvfs disk;
    if (statvfs(loop->config.settings->data, &disk) != 0 || disk.f_blocks == 0)
        return;
    double used = 1 - (double)disk.f_bavail / (double)(disk.f_blocks - disk.f_bfree + disk.f_bavail);
    if (fabs(used - loop->disk_used) < 0.01)
        return;
    loop->disk_used = used;
    loop_step(loop, &(struct lbm_event){.kind = LBM_EVENT_DISK, .as.used = used});
}

/* A host that is at rest commits nothing: it notices here that its database is gone. */
static void
on_check(evutil_socket_t fd, short what, void *context)
{
    struct loop *loop = context;
    struct lbm_diag diag = {0};
    (void)fd;
    (void)what;
    keep_contacts(loop);
    look_for_key(loop);
    look_at_disk(loop);
    if (lbm_store_worker_in_place(loop->store_worker, &diag) == LBM_OK)
        return;
    lbm_log_diag(LBM_NOTE_ERROR, &diag);
    loop_fail(loop);
}

/* ---- capacity ------------------------------------------------------------------------------------------ */

static void
on_look(evutil_socket_t fd, short what, void *context)
{
    struct loop *loop = context;
    pid_t pid[LBM_CLIENTS_MAX];
    (void)fd;
    (void)what;
    double left =
        lbm_spare_look(loop->spare, pid, lbm_control_processes(loop->control, pid, LBM_CLIENTS_MAX));
    if (left > 0)
        loop_step(loop, &(struct lbm_event){.kind = LBM_EVENT_CAPACITY, .as.left = left});
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

/* Call back when fd is readable, or the signal came, or (fd -1) every period. */
static enum lbm_err
watch(struct loop *loop, int fd, short what, event_callback_fn callback, uint64_t period_us,
      struct lbm_diag *diag)
{
    const struct timeval period = {.tv_sec = (time_t)(period_us / 1000000),
                                   .tv_usec = (suseconds_t)(period_us % 1000000)};
    LBM_ASSERT(loop->n_watches < WATCHES_MAX);
    struct event *event = event_new(loop->base, fd, (short)(what | EV_PERSIST), callback, loop);
    if (event == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    loop->watches[loop->n_watches++] = event;
    if (event_add(event, period_us != 0 ? &period : NULL) != 0)
        return lbm_diag_set(diag, LBM_E_IO, NULL, 0, "the event loop refuses a descriptor: %s",
                            strerror(errno));
    return LBM_OK;
}

static enum lbm_err
watch_all(struct loop *loop, struct lbm_diag *diag)
{
    const uint64_t alive_us = lbm_supervisor_alive_period_us();
    const struct {
        int fd;
        short what;
        event_callback_fn callback;
        uint64_t period_us;
    } watches[] = {
        {SIGTERM, EV_SIGNAL, on_stop_signal, 0},
        {SIGINT, EV_SIGNAL, on_stop_signal, 0},
        {SIGHUP, EV_SIGNAL, on_hangup, 0},
        {loop->timer_fd, EV_READ, on_timer, 0},
        {lbm_store_worker_fd(loop->store_worker), EV_READ, on_stored, 0},
        {lbm_plan_worker_fd(loop->plan_worker), EV_READ, on_planned, 0},
        {-1, 0, on_check, CHECK_US},
        {-1, 0, on_watchdog, alive_us}, /* last: left out when nobody watches */
    };
    size_t n = sizeof watches / sizeof watches[0] - (alive_us == 0);
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; i < n && err == LBM_OK; i++)
        err = watch(loop, watches[i].fd, watches[i].what, watches[i].callback, watches[i].period_us, diag);
    if (err == LBM_OK && loop->config.programs != NULL)
        err = watch(loop, lbm_programs_fd(loop->config.programs), EV_READ, loop_on_programs, 0, diag);
    if (err == LBM_OK && loop->spare != NULL)
        err = watch(loop, -1, 0, on_look, LOOK_US, diag);
    return err;
}

static enum lbm_err
open_base(struct loop *loop, struct lbm_diag *diag)
{
    loop->base = event_base_new();
    loop->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    loop->armed_us = INT64_MAX;
    if (loop->base == NULL || loop->timer_fd < 0)
        return lbm_diag_set(diag, LBM_E_IO, NULL, 0, "no event loop: %s", strerror(errno));
    return LBM_OK;
}

/* From here on only the status tells why it ends: a signal to stop, too, comes too late. */
static void
hold_stop_signals(void)
{
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGINT);
    sigprocmask(SIG_BLOCK, &stop, NULL);
}

static void
run(struct loop *loop, struct lbm_recovered *recovered)
{
    char status[LBM_ADDRESS_MAX + 64];
    loop_step(loop, &(struct lbm_event){.kind = LBM_EVENT_START, .as.recovered = recovered});
    lbm_recovered_free(recovered);
    if (loop->stopping)
        return;
    snprintf(status, sizeof status, "host %" PRIu32 " at %s", loop->identity.subject.host,
             loop->config.settings->address);
    lbm_log(LBM_NOTE_INFO, "ready: %s", status);
    if (!loop->is_ready)
        lbm_supervisor_waiting("no member of the cluster yet; lbctl status says why");
    if (event_base_dispatch(loop->base) < 0) {
        lbm_log(LBM_NOTE_ERROR, "the event loop failed: %s", strerror(errno));
        loop->status = LBM_EXIT_FAILED;
    }
}

enum lbm_exit
lbm_loop_run(const struct lbm_loop_config *config)
{
    struct loop loop = {.config = *config, .timer_fd = -1};
    const struct lbm_inbound_handler inbound = {
        .context = &loop, .accepts = accepts, .message = on_message, .other = on_other};
    const struct lbm_enrol_handler enrol = {.context = &loop,
                                            .request = on_enrol_request,
                                            .gone = on_gone,
                                            .contacts = enrol_contacts,
                                            .cluster_name = enrol_cluster_name};
    const struct lbm_outgoing_handler outgoing = {
        .context = &loop, .up = on_up, .down = on_down, .caught_up = on_caught_up};
    const struct lbm_control_handler control = {
        .context = &loop, .request = on_request, .read = on_client_read, .gone = on_gone};
    const struct lbm_etcd_handler etcd = {.context = &loop,
                                          .result = on_log_result,
                                          .entries = on_log_entries,
                                          .snapshot = on_log_snapshot,
                                          .older = on_log_older};
    const struct lbm_ensemble_handler ensemble = {
        .context = &loop, .etcd = etcd, .report = on_ensemble, .view = view_of, .address = address_of};
    struct lbm_recovered *recovered = NULL;
    struct lbm_diag diag = {0};
    enum lbm_err err = open_base(&loop, &diag);
    if (err == LBM_OK)
        err = parts_open(&loop, &inbound, &outgoing, &control, &enrol, &etcd, &ensemble, &recovered, &diag);
    if (err == LBM_OK)
        err = watch_all(&loop, &diag);
    if (err == LBM_OK) {
        run(&loop, recovered);
    } else {
        diag.code = err;
        lbm_log_diag(LBM_NOTE_ERROR, &diag);
        loop.status = err == LBM_E_BUSY ? LBM_EXIT_BUSY : LBM_EXIT_FAILED;
        lbm_recovered_free(recovered);
    }
    loop.stopping = 1;
    hold_stop_signals();
    parts_close(&loop);
    for (size_t i = 0; i < loop.n_watches; i++)
        event_free(loop.watches[i]);
    if (loop.timer_fd >= 0)
        close(loop.timer_fd);
    if (loop.base != NULL)
        event_base_free(loop.base);
    return loop.status;
}
