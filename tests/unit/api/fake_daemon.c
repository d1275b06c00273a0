/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

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
#include "tests/unit/api/fake_daemon.h"
#include "wire/lease_page.h"

int64_t
daemon_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void
daemon_respond(int fd, uint64_t id, int last, Lbm__Response *response)
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
    for (size_t i = 0; i < n_vertex && *n < DAEMON_LISTED; i++, ++*n) {
        struct listed *row = &into[*n];
        row->vertex = vertex[i];
        row->token = token[i];
        snprintf(row->payload, sizeof row->payload, "-");
        if (n_len != 0 && payload->data == NULL)
            row->payload[0] = '\0';
        else if (n_len != 0)
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
    daemon->wants_edges = attach->edges;
    daemon->n_attached = 0;
    list(daemon->attached, &daemon->n_attached, attach->vertex, attach->token, attach->n_vertex, NULL, 0,
         NULL);
    if (daemon->refusal != LBM_OK) {
        char text[] = "not now";
        Lbm__Response response = LBM__RESPONSE__INIT;
        response.code = daemon->refusal;
        response.text = text;
        daemon_respond(fd, request->id, 1, &response);
    }
}

static void
keep_payload(struct daemon *daemon, const ProtobufCBinaryData *payload)
{
    daemon->payload.len = 0;
    lbm_buf_put(&daemon->payload, payload->data, payload->len);
}

static void
answer_kept(struct daemon *daemon, int fd)
{
    for (size_t i = 0; i < daemon->n_unanswered; i++) {
        Lbm__Response response = LBM__RESPONSE__INIT;
        daemon_respond(fd, daemon->unanswered[i], 1, &response);
    }
    daemon->n_unanswered = 0;
}

/* Only once it has the first one. */
void
daemon_answer_late(struct daemon *daemon)
{
    const struct timespec pause = {0, 1000000};
    for (size_t n = 0; n == 0;) {
        pthread_mutex_lock(&daemon->lock);
        n = daemon->n_unanswered;
        if (n != 0)
            answer_kept(daemon, daemon->connection);
        pthread_mutex_unlock(&daemon->lock);
        nanosleep(&pause, NULL);
    }
}

static void
answer_checkpoint(struct daemon *daemon, int fd, const Lbm__Request *request)
{
    const Lbm__CheckpointRequest *c = request->checkpoint;
    daemon->kept_term = c->term;
    list(daemon->kept, &daemon->n_kept, c->vertex, c->token, c->n_vertex, c->payload_len, c->n_payload_len,
         &c->payload);
    keep_payload(daemon, &c->payload);
    daemon->unanswered[daemon->n_unanswered++ % DAEMON_LISTED] = request->id;
    if (daemon->late_answers != 0) {
        daemon->late_answers--;
        return;
    }
    answer_kept(daemon, fd);
}

static void
answer_put(struct daemon *daemon, int fd, const Lbm__Request *request)
{
    const Lbm__BlobPut *put = request->blob_put;
    Lbm__BlobData data = LBM__BLOB_DATA__INIT;
    Lbm__Response response = LBM__RESPONSE__INIT;
    if (memcmp(daemon->blob_digest, put->digest.data, sizeof daemon->blob_digest) != 0)
        lbm_buf_free(&daemon->blob);
    memcpy(daemon->blob_digest, put->digest.data, sizeof daemon->blob_digest);
    assert_true(put->data.len == 0 || daemon->blob.len == (size_t)put->piece * LBM_BLOB_PIECE_MAX);
    lbm_buf_put(&daemon->blob, put->data.data, put->data.len);
    daemon->n_pieces += put->data.len != 0;
    data.known = daemon->blob.len == put->length;
    response.code = daemon->blob_error;
    response.what_case = LBM__RESPONSE__WHAT_BLOB;
    response.blob = &data;
    daemon_respond(fd, request->id, 1, &response);
}

static void
answer_read(struct daemon *daemon, int fd, const Lbm__Request *request)
{
    const Lbm__BlobRead *read = request->blob_read;
    assert_memory_equal(daemon->blob_digest, read->digest.data, sizeof daemon->blob_digest);
    for (uint32_t i = read->first; i < read->first + read->count; i++) {
        size_t at = (size_t)i * LBM_BLOB_PIECE_MAX, left = daemon->blob.len - at;
        Lbm__BlobData data = LBM__BLOB_DATA__INIT;
        Lbm__Response response = LBM__RESPONSE__INIT;
        int last =
            i + 1 == read->first + read->count || left <= LBM_BLOB_PIECE_MAX || daemon->blob_error != LBM_OK;
        data.piece = i;
        data.data = (ProtobufCBinaryData){left < LBM_BLOB_PIECE_MAX ? left : LBM_BLOB_PIECE_MAX,
                                          (uint8_t *)daemon->blob.at + at};
        data.data.data[0] = (uint8_t)(data.data.data[0] ^ (daemon->damages_blob != 0));
        response.code = daemon->blob_error;
        response.what_case = LBM__RESPONSE__WHAT_BLOB;
        response.blob = &data;
        daemon_respond(fd, request->id, last, &response);
        if (last)
            return;
    }
}

static unsigned
count_blobs(size_t n, const uint32_t *blob)
{
    unsigned count = 0;
    for (size_t i = 0; i < n; i++)
        count += blob[i];
    return count;
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
        status.host = DAEMON_HOST;
        response.what_case = LBM__RESPONSE__WHAT_STATUS;
        response.status = &status;
        daemon_respond(fd, request->id, 1, &response);
        break;
    case LBM__REQUEST__WHAT_JOBS:
        entry.name = name;
        entry.phase = phase;
        entry.vertices = DAEMON_VERTICES;
        jobs.n_jobs = 1;
        jobs.jobs = entries;
        response.what_case = LBM__RESPONSE__WHAT_JOBS;
        response.jobs = &jobs;
        daemon_respond(fd, request->id, 1, &response);
        break;
    case LBM__REQUEST__WHAT_ATTACH:
        answer_attach(daemon, fd, request);
        break;
    case LBM__REQUEST__WHAT_RELEASED:
        list(daemon->released, &daemon->n_released, request->released->vertex, request->released->token,
             request->released->n_vertex, request->released->payload_len, request->released->n_payload_len,
             &request->released->payload);
        keep_payload(daemon, &request->released->payload);
        daemon->n_blobs += count_blobs(request->released->n_blob, request->released->blob);
        daemon->released_term = request->released->term;
        daemon->n_returned += request->released->n_vertex;
        daemon_respond(fd, request->id, 1, &response);
        break;
    case LBM__REQUEST__WHAT_BLOB_PUT:
        answer_put(daemon, fd, request);
        break;
    case LBM__REQUEST__WHAT_BLOB_READ:
        answer_read(daemon, fd, request);
        break;
    case LBM__REQUEST__WHAT_CHECKPOINT:
        daemon->n_blobs += count_blobs(request->checkpoint->n_blob, request->checkpoint->blob);
        answer_checkpoint(daemon, fd, request);
        break;
    case LBM__REQUEST__WHAT_CHANGE:
        daemon->n_changes++;
        daemon->kept_term = request->change->term;
        daemon_respond(fd, request->id, 1, &response);
        break;
    case LBM__REQUEST__WHAT_LOAD:
        for (size_t i = 0; i < request->load->n_vertex; i++)
            daemon->load += request->load->load[i];
        daemon_respond(fd, request->id, 1, &response);
        break;
    case LBM__REQUEST__WHAT_PUBLISH:
        assert_true(request->publish->note.len < sizeof daemon->note);
        memset(daemon->note, 0, sizeof daemon->note);
        if (request->publish->note.len != 0)
            memcpy(daemon->note, request->publish->note.data, request->publish->note.len);
        daemon->finished = request->publish->finished;
        daemon->n_published++;
        daemon_respond(fd, request->id, 1, &response);
        break;
    case LBM__REQUEST__WHAT_POST: /* a post is not answered */
        daemon->n_posted += request->post->n_host;
        lbm_buf_put(&daemon->posted, request->post->data.data, request->post->data.len);
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
void
daemon_begin(struct daemon *daemon)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct lbm_lease_past past;
    struct lbm_diag diag;
    memcpy(address.sun_path, daemon->path, sizeof daemon->path);
    assert_int_equal(lbm_lease_file_open(daemon->path, DAEMON_HOST, ++daemon->life, daemon_now_us(),
                                         LBM_LEASE_US, &daemon->page, &past, &diag),
                     LBM_OK);
    unlink(daemon->path);
    daemon->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    daemon->connection = -1;
    assert_int_equal(bind(daemon->listening, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(daemon->listening, 4), 0);
    assert_int_equal(pthread_create(&daemon->thread, NULL, run_daemon, daemon), 0);
}

/* End the connection; the daemon goes on. */
void
daemon_cut(struct daemon *daemon)
{
    pthread_mutex_lock(&daemon->lock);
    if (daemon->connection >= 0)
        shutdown(daemon->connection, SHUT_RDWR);
    pthread_mutex_unlock(&daemon->lock);
}

/* As if it crashed: the page keeps what it says, and loses its lock. */
void
daemon_die(struct daemon *daemon)
{
    lbm_lease_file_close(daemon->page);
    daemon->page = NULL;
    shutdown(daemon->listening, SHUT_RDWR);
    daemon_cut(daemon);
    pthread_join(daemon->thread, NULL);
    close(daemon->listening);
}

/* Without having been asked. */
static void
push(struct daemon *daemon, Lbm__Response *response)
{
    pthread_mutex_lock(&daemon->lock);
    daemon_respond(daemon->connection, daemon->attach_id, 0, response);
    pthread_mutex_unlock(&daemon->lock);
}

void
daemon_push_acquire(struct daemon *daemon, uint64_t term, uint32_t vertex, uint64_t token,
                    const char *payload)
{
    daemon_push_given(daemon, term, vertex, token, payload, strlen(payload));
}

void
daemon_push_given(struct daemon *daemon, uint64_t term, uint32_t vertex, uint64_t token, const void *payload,
                  size_t n)
{
    Lbm__Acquire acquire = LBM__ACQUIRE__INIT;
    Lbm__Response response = LBM__RESPONSE__INIT;
    uint32_t len = (uint32_t)n;
    acquire.n_vertex = acquire.n_token = acquire.n_payload_len = 1;
    acquire.vertex = &vertex;
    acquire.token = &token;
    acquire.payload_len = &len;
    acquire.payload = (ProtobufCBinaryData){len, (uint8_t *)(uintptr_t)payload};
    acquire.term = term;
    response.what_case = LBM__RESPONSE__WHAT_ACQUIRE;
    response.acquire = &acquire;
    push(daemon, &response);
}

void
daemon_push_acquire_large(struct daemon *daemon, uint64_t term, uint32_t vertex, uint64_t token)
{
    Lbm__Acquire acquire = LBM__ACQUIRE__INIT;
    Lbm__Response response = LBM__RESPONSE__INIT;
    uint32_t len = 8 + sizeof daemon->blob_digest, blob = 1;
    uint8_t words[8 + sizeof daemon->blob_digest];
    for (int i = 0; i < 8; i++)
        words[i] = (uint8_t)(daemon->blob.len >> (8 * i));
    memcpy(words + 8, daemon->blob_digest, sizeof daemon->blob_digest);
    acquire.n_vertex = acquire.n_token = acquire.n_payload_len = acquire.n_blob = 1;
    acquire.vertex = &vertex;
    acquire.token = &token;
    acquire.payload_len = &len;
    acquire.blob = &blob;
    acquire.payload = (ProtobufCBinaryData){len, words};
    acquire.term = term;
    response.what_case = LBM__RESPONSE__WHAT_ACQUIRE;
    response.acquire = &acquire;
    push(daemon, &response);
}

void
daemon_push_acquires(struct daemon *daemon, uint64_t term, uint32_t first, uint32_t n)
{
    Lbm__Acquire acquire = LBM__ACQUIRE__INIT;
    Lbm__Response response = LBM__RESPONSE__INIT;
    uint32_t *vertex = lbm_alloc(n, sizeof *vertex);
    uint64_t *token = lbm_alloc(n, sizeof *token);
    for (uint32_t i = 0; i < n; i++) {
        vertex[i] = first + i;
        token[i] = 1;
    }
    acquire.n_vertex = acquire.n_token = n;
    acquire.vertex = vertex;
    acquire.token = token;
    acquire.term = term;
    response.what_case = LBM__RESPONSE__WHAT_ACQUIRE;
    response.acquire = &acquire;
    push(daemon, &response);
    free(vertex);
    free(token);
}

void
daemon_push_release(struct daemon *daemon, uint32_t vertex, uint64_t token)
{
    Lbm__Release release = LBM__RELEASE__INIT;
    Lbm__Response response = LBM__RESPONSE__INIT;
    release.n_vertex = release.n_token = 1;
    release.vertex = &vertex;
    release.token = &token;
    response.what_case = LBM__RESPONSE__WHAT_RELEASE;
    response.release = &release;
    push(daemon, &response);
}

void
daemon_push_neighbours(struct daemon *daemon, uint32_t vertex, uint64_t token, uint32_t other)
{
    daemon_push_neighbour_at(daemon, vertex, token, other, LBM_NONE);
}

void
daemon_push_neighbour_at(struct daemon *daemon, uint32_t vertex, uint64_t token, uint32_t other,
                         uint32_t host)
{
    Lbm__Neighbours neighbours = LBM__NEIGHBOURS__INIT;
    Lbm__Response response = LBM__RESPONSE__INIT;
    uint32_t degree = other != LBM_NONE, weight = 3;
    neighbours.n_vertex = neighbours.n_token = neighbours.n_degree = 1;
    neighbours.vertex = &vertex;
    neighbours.token = &token;
    neighbours.degree = &degree;
    neighbours.n_neighbour = neighbours.n_weight = degree;
    neighbours.neighbour = &other;
    neighbours.weight = &weight;
    neighbours.n_host = host != LBM_NONE ? degree : 0;
    neighbours.host = &host;
    response.what_case = LBM__RESPONSE__WHAT_NEIGHBOURS;
    response.neighbours = &neighbours;
    push(daemon, &response);
}

void
daemon_push_place(struct daemon *daemon, uint32_t host, uint32_t present, uint32_t finished)
{
    char name[] = "h9", address[] = "10.0.0.9:7411", *names[] = {name}, *addresses[] = {address};
    uint8_t note[] = {'n', 'o', 't', 'e'};
    ProtobufCBinaryData notes = {sizeof note, note};
    Lbm__Places places = LBM__PLACES__INIT;
    Lbm__Response response = LBM__RESPONSE__INIT;
    places.n_host = places.n_present = places.n_finished = places.n_note = places.n_name = places.n_address =
        1;
    places.host = &host;
    places.present = &present;
    places.finished = &finished;
    places.note = &notes;
    places.name = names;
    places.address = addresses;
    response.what_case = LBM__RESPONSE__WHAT_PLACES;
    response.places = &places;
    push(daemon, &response);
}

void
daemon_push_posted(struct daemon *daemon, uint32_t host, const char *text)
{
    daemon_push_bytes(daemon, host, text, strlen(text));
}

void
daemon_push_bytes(struct daemon *daemon, uint32_t host, const void *bytes, size_t n)
{
    Lbm__Posted posted = LBM__POSTED__INIT;
    Lbm__Response response = LBM__RESPONSE__INIT;
    posted.host = host;
    posted.data = (ProtobufCBinaryData){n, (uint8_t *)(uintptr_t)bytes};
    response.what_case = LBM__RESPONSE__WHAT_POSTED;
    response.posted = &posted;
    push(daemon, &response);
}

/* ---- all of its life ----------------------------------------------------------------------------------- */

void
daemon_make(struct daemon *daemon)
{
    pthread_mutex_init(&daemon->lock, NULL);
    snprintf(daemon->directory, sizeof daemon->directory, "%s", "/tmp/lbmap-test-api-XXXXXX");
    assert_non_null(mkdtemp(daemon->directory));
    snprintf(daemon->path, sizeof daemon->path, "%s/socket", daemon->directory);
    snprintf(daemon->page_path, sizeof daemon->page_path, "%s" LBM_LEASE_PAGE_SUFFIX, daemon->path);
    daemon_begin(daemon);
    lbm_lease_file_write(daemon->page, daemon_now_us() + 60000000, 1, 1, 0);
}

void
daemon_free(struct daemon *daemon)
{
    if (daemon->page != NULL)
        daemon_die(daemon);
    lbm_buf_free(&daemon->posted);
    lbm_buf_free(&daemon->blob);
    lbm_buf_free(&daemon->payload);
    unlink(daemon->path);
    unlink(daemon->page_path);
    rmdir(daemon->directory);
    pthread_mutex_destroy(&daemon->lock);
}
