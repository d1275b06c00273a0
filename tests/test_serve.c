/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An application that serves a job, against a daemon that is a thread of the test with a real lease page. */
#include "config.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "daemon/lease_page.h"
#include "lbmap.h"
#include "wire/lease_page.h"
#include "wire/wire.h"

enum { HOST = 3, VERTICES = 1000, LISTED = 16, PATIENCE_MS = 10000 };
enum { SECOND = 1000000 };

/* ---- the daemon --------------------------------------------------------------------------------------- */

struct listed {
    uint32_t vertex;
    uint64_t token;
    char payload[16]; /* "-": none was sent */
};

struct daemon {
    char directory[64], path[96], page_path[112];
    int listening, connection;
    pthread_t thread;
    struct lbm_lease_file *page;
    uint64_t life;

    pthread_mutex_t lock; /* of what follows */
    uint64_t attach_id;
    unsigned n_attach;
    struct listed attached[LISTED], released[LISTED], kept[LISTED];
    size_t n_attached, n_released, n_kept;
    double load;            /* all that was reported */
    uint64_t released_term; /* of the last ones */
    enum lbm_err refusal;   /* of attach */
    unsigned late_answers;  /* checkpoints are not answered, but with the next one */
    uint64_t unanswered[LISTED];
    size_t n_unanswered;
};

static int64_t
now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void
respond(int fd, uint64_t id, int last, Lbm__Response *response)
{
    uint8_t *frame;
    size_t len;
    response->id = id;
    response->last = last != 0;
    if (lbm_wire_pack_response(response, &frame, &len) != LBM_OK)
        abort();
    (void)!send(fd, frame, len, MSG_NOSIGNAL);
    free(frame);
}

static void
list(struct listed *into, size_t *n, const uint32_t *vertex, const uint64_t *token, size_t n_vertex,
     const uint32_t *len, size_t n_len, const ProtobufCBinaryData *payload)
{
    size_t at = 0;
    for (size_t i = 0; i < n_vertex && *n < LISTED; i++, ++*n) {
        struct listed *row = &into[*n];
        row->vertex = vertex[i];
        row->token = token[i];
        snprintf(row->payload, sizeof row->payload, "-");
        if (n_len != 0)
            snprintf(row->payload, sizeof row->payload, "%.*s", (int)len[i],
                     (const char *)payload->data + at);
        at += n_len != 0 ? len[i] : 0;
    }
}

static void
answer_attach(struct daemon *daemon, int fd, const Lbm__Request *request)
{
    const Lbm__AttachRequest *attach = request->attach;
    daemon->attach_id = request->id;
    daemon->n_attach++;
    daemon->n_attached = 0;
    list(daemon->attached, &daemon->n_attached, attach->vertex, attach->token, attach->n_vertex, NULL, 0,
         NULL);
    if (daemon->refusal != LBM_OK) {
        char text[] = "not now";
        Lbm__Response response = LBM__RESPONSE__INIT;
        response.code = daemon->refusal;
        response.text = text;
        respond(fd, request->id, 1, &response);
    }
}

static void
answer_checkpoint(struct daemon *daemon, int fd, const Lbm__Request *request)
{
    const Lbm__CheckpointRequest *c = request->checkpoint;
    list(daemon->kept, &daemon->n_kept, c->vertex, c->token, c->n_vertex, c->payload_len, c->n_payload_len,
         &c->payload);
    daemon->unanswered[daemon->n_unanswered++ % LISTED] = request->id;
    if (daemon->late_answers != 0) {
        daemon->late_answers--;
        return;
    }
    for (size_t i = 0; i < daemon->n_unanswered; i++) {
        Lbm__Response response = LBM__RESPONSE__INIT;
        respond(fd, daemon->unanswered[i], 1, &response);
    }
    daemon->n_unanswered = 0;
}

static void
answer(struct daemon *daemon, int fd, const Lbm__Request *request)
{
    char name[] = "job", phase[] = "SETTLED";
    Lbm__Response response = LBM__RESPONSE__INIT;
    Lbm__StatusReply status = LBM__STATUS_REPLY__INIT;
    Lbm__JobsReply jobs = LBM__JOBS_REPLY__INIT;
    Lbm__JobEntry entry = LBM__JOB_ENTRY__INIT, *entries[] = {&entry};
    switch (request->what_case) {
    case LBM__REQUEST__WHAT_STATUS:
        status.host = HOST;
        response.what_case = LBM__RESPONSE__WHAT_STATUS;
        response.status = &status;
        respond(fd, request->id, 1, &response);
        break;
    case LBM__REQUEST__WHAT_JOBS:
        entry.name = name;
        entry.phase = phase;
        entry.vertices = VERTICES;
        jobs.n_jobs = 1;
        jobs.jobs = entries;
        response.what_case = LBM__RESPONSE__WHAT_JOBS;
        response.jobs = &jobs;
        respond(fd, request->id, 1, &response);
        break;
    case LBM__REQUEST__WHAT_ATTACH:
        answer_attach(daemon, fd, request);
        break;
    case LBM__REQUEST__WHAT_RELEASED:
        list(daemon->released, &daemon->n_released, request->released->vertex, request->released->token,
             request->released->n_vertex, request->released->payload_len, request->released->n_payload_len,
             &request->released->payload);
        daemon->released_term = request->released->term;
        respond(fd, request->id, 1, &response);
        break;
    case LBM__REQUEST__WHAT_CHECKPOINT:
        answer_checkpoint(daemon, fd, request);
        break;
    case LBM__REQUEST__WHAT_LOAD:
        for (size_t i = 0; i < request->load->n_vertex; i++)
            daemon->load += request->load->load[i];
        respond(fd, request->id, 1, &response);
        break;
    default:
        abort();
    }
}

static int
receive_request(int fd, Lbm__Request **request)
{
    uint8_t header[LBM_FRAME_HEADER];
    uint32_t len;
    if (recv(fd, header, sizeof header, MSG_WAITALL) != sizeof header ||
        lbm_frame_length(header, &len) != LBM_OK)
        return 0;
    uint8_t *bytes = lbm_alloc(len, 1);
    struct lbm_diag diag;
    int good = recv(fd, bytes, len, MSG_WAITALL) == (ssize_t)len &&
               lbm_wire_unpack_request(bytes, len, request, &diag) == LBM_OK;
    free(bytes);
    return good;
}

static void *
run_daemon(void *arg)
{
    struct daemon *daemon = arg;
    int fd;
    while ((fd = accept(daemon->listening, NULL, NULL)) >= 0) {
        Lbm__Request *request;
        pthread_mutex_lock(&daemon->lock);
        daemon->connection = fd;
        pthread_mutex_unlock(&daemon->lock);
        while (receive_request(fd, &request)) {
            pthread_mutex_lock(&daemon->lock);
            answer(daemon, fd, request);
            pthread_mutex_unlock(&daemon->lock);
            lbm__request__free_unpacked(request, NULL);
        }
        pthread_mutex_lock(&daemon->lock);
        daemon->connection = -1;
        close(fd);
        pthread_mutex_unlock(&daemon->lock);
    }
    return NULL;
}

/* Begin (again) to listen, with a page of a new life. */
static void
daemon_begin(struct daemon *daemon)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct lbm_lease_past past;
    struct lbm_diag diag;
    memcpy(address.sun_path, daemon->path, sizeof daemon->path);
    assert_int_equal(lbm_lease_file_open(daemon->path, HOST, ++daemon->life, now_us(), LBM_LEASE_US,
                                         &daemon->page, &past, &diag),
                     LBM_OK);
    unlink(daemon->path);
    daemon->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    daemon->connection = -1;
    assert_int_equal(bind(daemon->listening, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(daemon->listening, 4), 0);
    assert_int_equal(pthread_create(&daemon->thread, NULL, run_daemon, daemon), 0);
}

/* End the connection; the daemon goes on. */
static void
daemon_cut(struct daemon *daemon)
{
    pthread_mutex_lock(&daemon->lock);
    if (daemon->connection >= 0)
        shutdown(daemon->connection, SHUT_RDWR);
    pthread_mutex_unlock(&daemon->lock);
}

/* As if it crashed: the page keeps what it says, and loses its lock. */
static void
daemon_die(struct daemon *daemon)
{
    lbm_lease_file_close(daemon->page);
    daemon->page = NULL;
    shutdown(daemon->listening, SHUT_RDWR);
    daemon_cut(daemon);
    pthread_join(daemon->thread, NULL);
    close(daemon->listening);
}

static void
push_acquire(struct daemon *daemon, uint64_t term, uint32_t vertex, uint64_t token, const char *payload)
{
    Lbm__Acquire acquire = LBM__ACQUIRE__INIT;
    Lbm__Response response = LBM__RESPONSE__INIT;
    uint32_t len = (uint32_t)strlen(payload);
    acquire.n_vertex = acquire.n_token = acquire.n_payload_len = 1;
    acquire.vertex = &vertex;
    acquire.token = &token;
    acquire.payload_len = &len;
    acquire.payload = (ProtobufCBinaryData){len, (uint8_t *)(uintptr_t)payload};
    acquire.term = term;
    response.what_case = LBM__RESPONSE__WHAT_ACQUIRE;
    response.acquire = &acquire;
    pthread_mutex_lock(&daemon->lock);
    respond(daemon->connection, daemon->attach_id, 0, &response);
    pthread_mutex_unlock(&daemon->lock);
}

static void
push_release(struct daemon *daemon, uint32_t vertex, uint64_t token)
{
    Lbm__Release release = LBM__RELEASE__INIT;
    Lbm__Response response = LBM__RESPONSE__INIT;
    release.n_vertex = release.n_token = 1;
    release.vertex = &vertex;
    release.token = &token;
    response.what_case = LBM__RESPONSE__WHAT_RELEASE;
    response.release = &release;
    pthread_mutex_lock(&daemon->lock);
    respond(daemon->connection, daemon->attach_id, 0, &response);
    pthread_mutex_unlock(&daemon->lock);
}

/* ---- the application ----------------------------------------------------------------------------------- */

struct scene {
    struct daemon daemon;
    struct lbmap *map;
    struct lbm_buf told; /* what the callbacks were called with */
    struct lbmap_payload returned;
};

static void
on_acquire(void *context, uint32_t vertex, uint64_t token, struct lbmap_payload payload)
{
    struct scene *scene = context;
    lbm_buf_printf(&scene->told, "acquire %u %d \"%.*s\"; ", vertex, (int)token, (int)payload.len,
                   (const char *)payload.bytes);
}

static struct lbmap_payload
on_release(void *context, uint32_t vertex, uint64_t token)
{
    struct scene *scene = context;
    lbm_buf_printf(&scene->told, "release %u %d; ", vertex, (int)token);
    return scene->returned;
}

static void
on_revoked(void *context, uint32_t vertex, uint64_t token)
{
    struct scene *scene = context;
    lbm_buf_printf(&scene->told, "revoked %u %d; ", vertex, (int)token);
}

/* Dispatch until the callbacks were told this. */
static void
expect_told(struct scene *scene, const char *what)
{
    int64_t end_us = now_us() + PATIENCE_MS * 1000;
    while ((scene->told.at == NULL || strlen(scene->told.at) < strlen(what)) && now_us() < end_us)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    assert_string_equal(scene->told.at != NULL ? scene->told.at : "", what);
    lbm_buf_free(&scene->told);
}

static void
expect_silence(struct scene *scene)
{
    for (int i = 0; i < 5; i++)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    assert_null(scene->told.at);
}

/* Wait until the daemon has got so many. */
static void
expect_count(struct daemon *daemon, const size_t *count, size_t n)
{
    const struct timespec pause = {0, 1000000};
    int64_t end_us = now_us() + PATIENCE_MS * 1000;
    size_t got = 0;
    while (got < n && now_us() < end_us) {
        pthread_mutex_lock(&daemon->lock);
        got = *count;
        pthread_mutex_unlock(&daemon->lock);
        nanosleep(&pause, NULL);
    }
    assert_int_equal(got, n);
}

static enum lbmap_error
serve(struct scene *scene)
{
    const struct lbmap_callbacks callbacks = {scene, on_acquire, on_release, on_revoked};
    return lbmap_serve(scene->map, &callbacks);
}

/* A daemon whose lease lasts for a minute in term 1, and an application that has attached to its job. */
static int
set_up(void **state)
{
    struct scene *scene = lbm_alloc(1, sizeof *scene);
    struct daemon *daemon = &scene->daemon;
    pthread_mutex_init(&daemon->lock, NULL);
    snprintf(daemon->directory, sizeof daemon->directory, "%s", "/tmp/lbmap-test-serve-XXXXXX");
    assert_non_null(mkdtemp(daemon->directory));
    snprintf(daemon->path, sizeof daemon->path, "%s/socket", daemon->directory);
    snprintf(daemon->page_path, sizeof daemon->page_path, "%s" LBM_LEASE_PAGE_SUFFIX, daemon->path);
    daemon_begin(daemon);
    lbm_lease_file_write(daemon->page, now_us() + 60 * SECOND, 1, 1);
    assert_int_equal(lbmap_open(daemon->path, &scene->map), LBMAP_OK);
    assert_int_equal(lbmap_attach(scene->map, "job"), LBMAP_OK);
    *state = scene;
    return 0;
}

static int
tear_down(void **state)
{
    struct scene *scene = *state;
    lbmap_close(scene->map);
    if (scene->daemon.page != NULL)
        daemon_die(&scene->daemon);
    lbm_buf_free(&scene->told);
    unlink(scene->daemon.path);
    unlink(scene->daemon.page_path);
    rmdir(scene->daemon.directory);
    pthread_mutex_destroy(&scene->daemon.lock);
    free(scene);
    return 0;
}

/* The same, serving, and holding vertex 7 by token 5. */
static int
set_up_holding(void **state)
{
    set_up(state);
    struct scene *scene = *state;
    assert_int_equal(serve(scene), LBMAP_OK);
    push_acquire(&scene->daemon, 1, 7, 5, "");
    expect_told(scene, "acquire 7 5 \"\"; ");
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
    return 0;
}

/* ---- what is given and asked back ---------------------------------------------------------------------- */

static void
vertices_come_with_their_payloads(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(serve(scene), LBMAP_OK);
    expect_silence(scene);
    push_acquire(&scene->daemon, 1, 7, 5, "seven");
    push_acquire(&scene->daemon, 1, 9, 1, "");
    expect_told(scene, "acquire 7 5 \"seven\"; acquire 9 1 \"\"; ");
}

static void
a_release_returns_the_payload(void **state)
{
    struct scene *scene = *state;
    scene->returned = (struct lbmap_payload){"done", 4};
    push_release(&scene->daemon, 7, 5);
    expect_told(scene, "release 7 5; ");
    expect_count(&scene->daemon, &scene->daemon.n_released, 1);
    assert_int_equal(scene->daemon.released[0].vertex, 7);
    assert_int_equal(scene->daemon.released[0].token, 5);
    assert_string_equal(scene->daemon.released[0].payload, "done");
}

static void
a_release_without_payload_leaves_it(void **state)
{
    struct scene *scene = *state;
    push_release(&scene->daemon, 7, 5);
    expect_told(scene, "release 7 5; ");
    expect_count(&scene->daemon, &scene->daemon.n_released, 1);
    assert_string_equal(scene->daemon.released[0].payload, "-");
}

static void
what_is_not_held_is_released_without_a_word(void **state)
{
    struct scene *scene = *state;
    push_release(&scene->daemon, 8, 1);
    push_release(&scene->daemon, 7, 4);
    expect_silence(scene);
    expect_count(&scene->daemon, &scene->daemon.n_released, 2);
}

static void
a_cancelled_job_ends_the_service(void **state)
{
    struct scene *scene = *state;
    char text[] = "the job is cancelled";
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.code = LBM_E_NOTFOUND;
    response.text = text;
    pthread_mutex_lock(&scene->daemon.lock);
    respond(scene->daemon.connection, scene->daemon.attach_id, 1, &response);
    pthread_mutex_unlock(&scene->daemon.lock);
    assert_int_equal(lbmap_dispatch(scene->map, PATIENCE_MS), LBMAP_E_NOTFOUND);
    assert_string_equal(scene->told.at, "revoked 7 5; ");
    assert_string_equal(lbmap_message(scene->map), text);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_LOST);
    assert_int_equal(lbmap_dispatch(scene->map, 0), LBMAP_E_STATE);
}

/* ---- the lease ----------------------------------------------------------------------------------------- */

static void
near_its_end_nothing_is_begun(void **state)
{
    struct scene *scene = *state;
    lbm_lease_file_write(scene->daemon.page, now_us() + LBM_LEASE_STOP_US - 500000, 1, 1);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_STOP);
    expect_silence(scene);
    lbm_lease_file_write(scene->daemon.page, INT64_MAX, 1, 1);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
}

static void
what_is_lost_is_returned_in_its_own_term(void **state)
{
    struct scene *scene = *state;
    lbm_lease_file_write(scene->daemon.page, now_us() + 60 * SECOND, 2, 1);
    push_acquire(&scene->daemon, 2, 7, 5, "again"); /* the same token: the record has not changed */
    expect_told(scene, "revoked 7 5; acquire 7 5 \"again\"; ");
    expect_count(&scene->daemon, &scene->daemon.n_released, 1);
    assert_int_equal(scene->daemon.released_term, 1);
}

static void
after_its_end_all_is_lost_even_if_it_is_renewed(void **state)
{
    struct scene *scene = *state;
    lbm_lease_file_write(scene->daemon.page, now_us() - 1, 1, 1);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_LOST);
    lbm_lease_file_write(scene->daemon.page, now_us() + 60 * SECOND, 1, 1);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_LOST);
    expect_told(scene, "revoked 7 5; ");
    expect_count(&scene->daemon, &scene->daemon.n_released, 1); /* the daemon may not have noticed */
    push_acquire(&scene->daemon, 1, 7, 5, "again");
    expect_told(scene, "acquire 7 5 \"again\"; ");
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
}

static void
a_higher_term_voids_what_was_given_before(void **state)
{
    struct scene *scene = *state;
    push_acquire(&scene->daemon, 1, 8, 1, "void");
    lbm_lease_file_write(scene->daemon.page, now_us() + 60 * SECOND, 2, 1);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_LOST);
    expect_told(scene, "revoked 7 5; ");
    expect_silence(scene);
    push_acquire(&scene->daemon, 2, 8, 1, "good");
    expect_told(scene, "acquire 8 1 \"good\"; ");
}

static void
a_page_that_is_being_written_stops_but_loses_nothing(void **state)
{
    struct scene *scene = *state;
    uint64_t word[8], odd;
    FILE *page = fopen(scene->daemon.page_path, "r+e");
    assert_int_equal(fread(word, sizeof *word, 8, page), 8);
    odd = word[2] | 1;
    assert_int_equal(fseek(page, 16, SEEK_SET), 0);
    assert_int_equal(fwrite(&odd, sizeof odd, 1, page), 1);
    assert_int_equal(fflush(page), 0);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_STOP);
    expect_silence(scene);
    fclose(page);
    lbm_lease_file_write(scene->daemon.page, now_us() + 60 * SECOND, 1, 1);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
}

/* ---- the daemon goes and comes ------------------------------------------------------------------------- */

static void
the_daemon_may_be_restarted(void **state)
{
    struct scene *scene = *state;
    daemon_die(&scene->daemon);
    expect_silence(scene);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
    assert_int_equal(lbmap_fd(scene->map), -1);
    assert_int_equal(lbmap_events(scene->map), 0);
    daemon_begin(&scene->daemon);
    for (int i = 0; i < 100 && lbmap_fd(scene->map) < 0; i++)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    assert_int_equal(lbmap_events(scene->map), LBMAP_READ);
    assert_int_equal(scene->daemon.n_attach, 2);
    assert_int_equal(scene->daemon.n_attached, 1);
    assert_int_equal(scene->daemon.attached[0].vertex, 7);
    assert_int_equal(scene->daemon.attached[0].token, 5);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
    expect_silence(scene);
}

static void
without_a_daemon_the_lease_ends_in_time(void **state)
{
    struct scene *scene = *state;
    lbm_lease_file_write(scene->daemon.page, now_us() + SECOND / 5, 1, 1);
    daemon_die(&scene->daemon);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_STOP);
    expect_told(scene, "revoked 7 5; ");
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_LOST);
}

static void
a_daemon_that_cuts_us_off_and_goes_on_takes_all(void **state)
{
    struct scene *scene = *state;
    const struct timespec pause = {0, 1000000};
    daemon_cut(&scene->daemon);
    for (int i = 0; i < PATIENCE_MS && lbmap_lease_valid(scene->map) != LBMAP_LOST; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_LOST);
    expect_told(scene, "revoked 7 5; ");
    for (int i = 0; i < 100 && scene->daemon.n_attach < 2; i++)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    assert_int_equal(scene->daemon.n_attached, 0);
}

/* ---- checkpoints --------------------------------------------------------------------------------------- */

static void
a_checkpoint_is_answered_when_it_is_kept(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state good = {7, 5, {"half", 4}}, strange = {8, 5, {"half", 4}};
    const struct lbmap_state large = {7, 5, {"half", LBMAP_PAYLOAD_MAX + 1}};
    assert_int_equal(lbmap_checkpoint(scene->map, &good, 1), LBMAP_OK);
    assert_int_equal(scene->daemon.n_kept, 1);
    assert_string_equal(scene->daemon.kept[0].payload, "half");
    assert_int_equal(lbmap_checkpoint(scene->map, &good, 0), LBMAP_OK);
    assert_int_equal(lbmap_checkpoint(scene->map, &strange, 1), LBMAP_E_STATE);
    assert_int_equal(lbmap_checkpoint(scene->map, &large, 1), LBMAP_E_RANGE);
    assert_int_equal(scene->daemon.n_kept, 1);
}

static void
loads_are_reported_all_or_none(void **state)
{
    struct scene *scene = *state;
    enum { MANY = 5000 }; /* more than one request has */
    struct lbmap_load *loads = calloc(MANY, sizeof *loads);
    for (uint32_t v = 0; v < MANY; v++)
        loads[v] = (struct lbmap_load){v, 5, 2};
    assert_int_equal(lbmap_report_load(scene->map, loads, MANY), LBMAP_OK);
    assert_true(scene->daemon.load == 2 * MANY);
    assert_int_equal(lbmap_set_load(scene->map, loads, MANY), LBMAP_OK);
    assert_true(scene->daemon.load == 4 * MANY);
    loads[MANY - 1].load = -1;
    assert_int_equal(lbmap_report_load(scene->map, loads, MANY), LBMAP_E_RANGE);
    loads[MANY - 1].load = HUGE_VAL;
    assert_int_equal(lbmap_report_load(scene->map, loads, MANY), LBMAP_E_RANGE);
    assert_int_equal(lbmap_set_load(scene->map, loads, MANY), LBMAP_E_RANGE);
    assert_true(scene->daemon.load == 4 * MANY);
    free(loads);
}

static void
a_late_checkpoint_costs_nothing_but_the_time(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state good = {7, 5, {"half", 4}};
    scene->daemon.late_answers = 1;
    assert_int_equal(lbmap_set_timeout(scene->map, 50), LBMAP_OK);
    assert_int_equal(lbmap_checkpoint(scene->map, &good, 1), LBMAP_E_TIMEOUT);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
    assert_int_equal(lbmap_set_timeout(scene->map, PATIENCE_MS), LBMAP_OK);
    assert_int_equal(lbmap_checkpoint(scene->map, &good, 1), LBMAP_OK);
    expect_silence(scene);
    assert_int_equal(scene->daemon.n_attach, 1);
}

static void
what_comes_during_a_checkpoint_waits_for_dispatch(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state good = {7, 5, {"half", 4}};
    push_acquire(&scene->daemon, 1, 9, 1, "nine");
    assert_int_equal(lbmap_checkpoint(scene->map, &good, 1), LBMAP_OK);
    assert_null(scene->told.at);
    expect_told(scene, "acquire 9 1 \"nine\"; ");
}

/* ---- beginning ----------------------------------------------------------------------------------------- */

static void
what_cannot_be_served_is_refused(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_callbacks none = {.context = scene};
    struct lbmap *fresh = NULL;
    assert_int_equal(lbmap_serve(scene->map, &none), LBMAP_E_RANGE);
    assert_int_equal(lbmap_dispatch(scene->map, 0), LBMAP_E_STATE);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_LOST);
    assert_int_equal(lbmap_checkpoint(scene->map, NULL, 0), LBMAP_E_STATE);
    assert_int_equal(lbmap_report_load(scene->map, NULL, 0), LBMAP_E_STATE);
    scene->daemon.refusal = LBM_E_BUSY;
    assert_int_equal(serve(scene), LBMAP_E_BUSY);
    assert_string_equal(lbmap_message(scene->map), "not now");
    scene->daemon.refusal = LBM_OK;
    assert_int_equal(serve(scene), LBMAP_OK);
    assert_int_equal(serve(scene), LBMAP_E_STATE);
    assert_int_equal(lbmap_attach(scene->map, "job"), LBMAP_E_STATE);
    lbmap_close(scene->map);
    scene->map = NULL;
    assert_int_equal(lbmap_open(scene->daemon.path, &fresh), LBMAP_OK);
    const struct lbmap_callbacks callbacks = {scene, on_acquire, on_release, on_revoked};
    assert_int_equal(lbmap_serve(fresh, &callbacks), LBMAP_E_STATE); /* no job */
    lbmap_close(fresh);
}

static void
without_a_page_nothing_is_served(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(truncate(scene->daemon.page_path, 8), 0);
    assert_int_equal(serve(scene), LBMAP_E_IO);
    assert_int_equal(truncate(scene->daemon.page_path, LBM_LEASE_PAGE_BYTES), 0);
    unlink(scene->daemon.page_path);
    assert_int_equal(serve(scene), LBMAP_E_IO);
    assert_non_null(strstr(lbmap_message(scene->map), "lease page"));
}

int
main(void)
{
#define SERVING(test) cmocka_unit_test_setup_teardown(test, set_up_holding, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(vertices_come_with_their_payloads, set_up, tear_down),
        SERVING(a_release_returns_the_payload),
        SERVING(a_release_without_payload_leaves_it),
        SERVING(what_is_not_held_is_released_without_a_word),
        SERVING(a_cancelled_job_ends_the_service),
        SERVING(near_its_end_nothing_is_begun),
        SERVING(what_is_lost_is_returned_in_its_own_term),
        SERVING(after_its_end_all_is_lost_even_if_it_is_renewed),
        SERVING(a_higher_term_voids_what_was_given_before),
        SERVING(a_page_that_is_being_written_stops_but_loses_nothing),
        SERVING(the_daemon_may_be_restarted),
        SERVING(without_a_daemon_the_lease_ends_in_time),
        SERVING(a_daemon_that_cuts_us_off_and_goes_on_takes_all),
        SERVING(a_checkpoint_is_answered_when_it_is_kept),
        SERVING(loads_are_reported_all_or_none),
        SERVING(a_late_checkpoint_costs_nothing_but_the_time),
        SERVING(what_comes_during_a_checkpoint_waits_for_dispatch),
        cmocka_unit_test_setup_teardown(what_cannot_be_served_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_page_nothing_is_served, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
