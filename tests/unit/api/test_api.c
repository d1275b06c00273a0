/* SPDX-License-Identifier: GPL-3.0-or-later */
/* liblbmap against a daemon that is a child process of the test: honest, or wrong in one particular way. */
#include "config.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "lbmap.h"
#include "wire/wire.h"

enum { HOST = 3, VERTICES = 200000, MINE = 5 };

/* What the daemon does with a request. */
enum manner {
    HONEST,
    SILENT,
    CLOSES,
    ZERO_LENGTH,
    HUGE_LENGTH,
    GARBAGE,
    HALF,
    WRONG_ID,
    WRONG_BODY,
    REFUSES,
    TURNS_AWAY,
    OTHER_VERTEX,
    TOO_FEW,
    TOO_MANY,
};

/* A manner applies from the request with this number on, the first is 1 (the status that opening asks). */
struct daemon {
    enum manner manner;
    uint64_t from;
    char directory[64];
    char path[96];
    pid_t pid;
};

static void
send_bytes(int fd, const void *bytes, size_t len)
{
    if (send(fd, bytes, len, MSG_NOSIGNAL) != (ssize_t)len)
        _exit(0);
}

static void
respond(int fd, Lbm__Response *response)
{
    uint8_t *frame;
    size_t len;
    if (lbm_wire_pack_response(response, &frame, &len) != LBM_OK)
        _exit(1);
    send_bytes(fd, frame, len);
    free(frame);
}

static void
respond_status(int fd, uint64_t id)
{
    Lbm__Response response;
    lbm__response__init(&response);
    Lbm__StatusReply status;
    lbm__status_reply__init(&status);
    status.host = HOST;
    response.id = id;
    response.last = 1;
    response.what_case = LBM__RESPONSE__WHAT_STATUS;
    response.status = &status;
    respond(fd, &response);
}

static void
respond_error(int fd, uint64_t id, enum lbm_err code, const char *text)
{
    char copy[128];
    Lbm__Response response;
    lbm__response__init(&response);
    snprintf(copy, sizeof copy, "%s", text);
    response.id = id;
    response.last = 1;
    response.code = (uint32_t)code;
    response.text = copy;
    respond(fd, &response);
}

static void
respond_jobs(int fd, const Lbm__Request *request)
{
    char name[] = "airfoil", phase[] = "SETTLED";
    if (strcmp(request->jobs->name, name) != 0) {
        respond_error(fd, request->id, LBM_E_NOTFOUND, "no such job here");
        return;
    }
    Lbm__Response response;
    lbm__response__init(&response);
    Lbm__JobsReply jobs;
    lbm__jobs_reply__init(&jobs);
    Lbm__JobEntry entry, *list[] = {&entry};
    lbm__job_entry__init(&entry);
    entry.name = name;
    entry.phase = phase;
    entry.vertices = VERTICES;
    jobs.n_jobs = 1;
    jobs.jobs = list;
    response.id = request->id;
    response.last = 1;
    response.what_case = LBM__RESPONSE__WHAT_JOBS;
    response.jobs = &jobs;
    respond(fd, &response);
}

static void
respond_part(int fd, uint64_t id, uint32_t host, uint32_t *vertex, uint64_t *epoch, size_t n, int last)
{
    Lbm__Response response;
    lbm__response__init(&response);
    Lbm__MapReply map;
    lbm__map_reply__init(&map);
    Lbm__Records records;
    lbm__records__init(&records);
    map.host = host;
    map.vertices = VERTICES;
    records.vertex = vertex;
    records.n_vertex = n;
    records.epoch = epoch;
    records.n_epoch = n;
    map.records = n != 0 ? &records : NULL;
    response.id = id;
    response.last = (uint32_t)last;
    response.what_case = LBM__RESPONSE__WHAT_MAP;
    response.map = &map;
    respond(fd, &response);
}

/* The rows of this host come in two parts, out of order, between those of others. */
static void
respond_map(int fd, uint64_t id)
{
    uint32_t first[] = {40, 7, 99}, foreign[] = {1, 2}, second[] = {3, 8};
    uint64_t first_epoch[] = {1, 5, 2}, foreign_epoch[] = {1, 1}, second_epoch[] = {4, UINT64_C(1) << 40};
    respond_part(fd, id, HOST, first, first_epoch, 3, 0);
    respond_part(fd, id, HOST + 1, foreign, foreign_epoch, 2, 0);
    respond_part(fd, id, HOST, second, second_epoch, 2, 0);
    respond_part(fd, id, LBM_NONE, NULL, NULL, 0, 1);
}

/* Vertex v is on host v mod 4 with epoch v + 1; those divisible by 10 are nowhere. */
static void
respond_places(int fd, const Lbm__Request *request, enum manner manner)
{
    const Lbm__LocateRequest *query = request->locate;
    size_t n = query->n_vertex + (manner == TOO_MANY) - (manner == TOO_FEW);
    uint32_t *vertex = lbm_alloc(n, sizeof *vertex), *host = lbm_alloc(n, sizeof *host);
    uint64_t *epoch = lbm_alloc(n, sizeof *epoch);
    for (size_t i = 0; i < n; i++) {
        uint32_t v = query->vertex[i < query->n_vertex ? i : 0] + (manner == OTHER_VERTEX);
        vertex[i] = v;
        host[i] = v % 10 == 0 ? LBM_NONE : v % 4;
        epoch[i] = v + 1;
    }
    Lbm__Response response;
    lbm__response__init(&response);
    Lbm__LocateReply reply;
    lbm__locate_reply__init(&reply);
    reply.n_vertex = reply.n_host = reply.n_epoch = n;
    reply.vertex = vertex;
    reply.host = host;
    reply.epoch = epoch;
    response.id = request->id;
    response.last = 1;
    response.what_case = LBM__RESPONSE__WHAT_LOCATE;
    response.locate = &reply;
    respond(fd, &response);
    free(vertex);
    free(host);
    free(epoch);
}

static void
answer_honestly(int fd, const Lbm__Request *request, enum manner manner)
{
    switch (request->what_case) {
    case LBM__REQUEST__WHAT_STATUS:
        respond_status(fd, request->id);
        break;
    case LBM__REQUEST__WHAT_JOBS:
        respond_jobs(fd, request);
        break;
    case LBM__REQUEST__WHAT_MAP:
        respond_map(fd, request->id);
        break;
    case LBM__REQUEST__WHAT_LOCATE:
        respond_places(fd, request, manner);
        break;
    default:
        _exit(1);
    }
}

static void
answer(int fd, const Lbm__Request *request, enum manner manner)
{
    static const uint8_t huge[] = {0xff, 0xff, 0xff, 0x7f}, zero[] = {0, 0, 0, 0};
    static const uint8_t garbage[] = {4, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}, half[] = {9, 0, 0, 0, 8};
    switch (manner) {
    case SILENT:
        break;
    case CLOSES:
        _exit(0);
    case ZERO_LENGTH:
        send_bytes(fd, zero, sizeof zero);
        break;
    case HUGE_LENGTH:
        send_bytes(fd, huge, sizeof huge);
        break;
    case GARBAGE:
        send_bytes(fd, garbage, sizeof garbage);
        break;
    case HALF:
        send_bytes(fd, half, sizeof half);
        _exit(0);
    case WRONG_ID:
        respond_status(fd, request->id + 1);
        break;
    case WRONG_BODY: {
        Lbm__Response response;
        lbm__response__init(&response);
        response.id = request->id;
        response.last = 1;
        respond(fd, &response);
        break;
    }
    case REFUSES:
        respond_error(fd, request->id, LBM_E_BUSY, "too much to do");
        break;
    case TURNS_AWAY:
        respond_error(fd, 0, LBM_E_BUSY, "too many are connected");
        break;
    default:
        answer_honestly(fd, request, manner);
        break;
    }
}

static int
receive_bytes(int fd, uint8_t *bytes, size_t len)
{
    return recv(fd, bytes, len, MSG_WAITALL) == (ssize_t)len;
}

/* One connection after the other; ends when the test closes its socket's directory or kills it. */
static void
serve(int listening, const struct daemon *daemon)
{
    int fd;
    while ((fd = accept(listening, NULL, NULL)) >= 0) {
        uint8_t header[LBM_FRAME_HEADER];
        uint32_t len;
        for (uint64_t number = 1; receive_bytes(fd, header, sizeof header); number++) {
            Lbm__Request *request;
            if (lbm_frame_length(header, &len) != LBM_OK)
                _exit(1);
            uint8_t *bytes = lbm_alloc(len, 1);
            if (!receive_bytes(fd, bytes, len) ||
                lbm_wire_unpack_request(bytes, len, &request, NULL) != LBM_OK)
                _exit(1);
            answer(fd, request, number >= daemon->from ? daemon->manner : HONEST);
            lbm__request__free_unpacked(request, NULL);
            free(bytes);
        }
        close(fd);
    }
    _exit(0);
}

static struct daemon
start(enum manner manner, uint64_t from)
{
    struct daemon daemon = {.manner = manner, .from = from};
    snprintf(daemon.directory, sizeof daemon.directory, "%s", "/tmp/lbmap-test-api-XXXXXX");
    assert_non_null(mkdtemp(daemon.directory));
    snprintf(daemon.path, sizeof daemon.path, "%s/socket", daemon.directory);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", daemon.path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 4), 0);
    daemon.pid = fork();
    assert_true(daemon.pid >= 0);
    if (daemon.pid == 0)
        serve(fd, &daemon);
    close(fd);
    return daemon;
}

static void
stop(struct daemon *daemon)
{
    kill(daemon->pid, SIGKILL);
    waitpid(daemon->pid, NULL, 0);
    unlink(daemon->path);
    rmdir(daemon->directory);
}

static struct lbmap *
open_attached(const struct daemon *daemon)
{
    struct lbmap *map = NULL;
    assert_int_equal(lbmap_open(daemon->path, &map), LBMAP_OK);
    assert_int_equal(lbmap_attach(map, "airfoil"), LBMAP_OK);
    return map;
}

/* ---- an honest daemon --------------------------------------------------------------------------- */

static void
attaching_tells_host_and_vertices(void **state)
{
    (void)state;
    struct daemon daemon = start(HONEST, 1);
    struct lbmap *map = NULL;
    assert_int_equal(lbmap_open(daemon.path, &map), LBMAP_OK);
    assert_int_equal(lbmap_host(map), HOST);
    assert_int_equal(lbmap_vertices(map), 0);
    assert_int_equal(lbmap_attach(map, "airfoil"), LBMAP_OK);
    assert_int_equal(lbmap_vertices(map), VERTICES);
    assert_string_equal(lbmap_message(map), "");
    lbmap_close(map);
    stop(&daemon);
}

static void
an_unknown_job_leaves_the_attached_one(void **state)
{
    (void)state;
    struct daemon daemon = start(HONEST, 1);
    struct lbmap *map = open_attached(&daemon);
    char long_name[LBM_NAME_MAX + 2];
    memset(long_name, 'x', sizeof long_name);
    long_name[LBM_NAME_MAX + 1] = '\0';
    assert_int_equal(lbmap_attach(map, "wing"), LBMAP_E_NOTFOUND);
    assert_string_equal(lbmap_message(map), "no such job here");
    assert_int_equal(lbmap_attach(map, ""), LBMAP_E_RANGE);
    assert_int_equal(lbmap_attach(map, long_name), LBMAP_E_RANGE);
    assert_int_equal(lbmap_vertices(map), VERTICES);
    struct lbmap_vertex *mine;
    size_t n;
    assert_int_equal(lbmap_owned(map, &mine, &n), LBMAP_OK);
    free(mine);
    lbmap_close(map);
    stop(&daemon);
}

static void
owned_are_the_rows_of_this_host_by_id(void **state)
{
    (void)state;
    static const struct lbmap_vertex expected[MINE] = {
        {3, 4}, {7, 5}, {8, UINT64_C(1) << 40}, {40, 1}, {99, 2}};
    struct daemon daemon = start(HONEST, 1);
    struct lbmap *map = open_attached(&daemon);
    struct lbmap_vertex *mine;
    size_t n;
    assert_int_equal(lbmap_owned(map, &mine, &n), LBMAP_OK);
    assert_int_equal(n, MINE);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(mine[i].id, expected[i].id);
        assert_int_equal(mine[i].token, expected[i].token);
    }
    free(mine);
    lbmap_close(map);
    stop(&daemon);
}

/* More vertices than one request may hold, so that batches must fit together. */
static void
places_come_in_the_order_of_the_question(void **state)
{
    (void)state;
    struct daemon daemon = start(HONEST, 1);
    struct lbmap *map = open_attached(&daemon);
    uint32_t *vertex = lbm_alloc(VERTICES, sizeof *vertex), *host = lbm_alloc(VERTICES, sizeof *host);
    uint64_t *token = lbm_alloc(VERTICES, sizeof *token);
    for (uint32_t i = 0; i < VERTICES; i++)
        vertex[i] = i % 3 == 0 ? 17 : VERTICES - 1 - i;
    assert_int_equal(lbmap_locate(map, vertex, VERTICES, host, token), LBMAP_OK);
    for (uint32_t i = 0; i < VERTICES; i++) {
        int nowhere = vertex[i] % 10 == 0;
        assert_int_equal(host[i], nowhere ? LBMAP_NOWHERE : vertex[i] % 4);
        assert_int_equal(token[i], nowhere ? 0 : vertex[i] + 1);
    }
    assert_int_equal(lbmap_locate(map, vertex, 1, host, NULL), LBMAP_OK);
    assert_int_equal(lbmap_locate(map, NULL, 0, NULL, NULL), LBMAP_OK);
    free(vertex);
    free(host);
    free(token);
    lbmap_close(map);
    stop(&daemon);
}

/* Which vertices there are only the daemon knows: programs add some. */
static void
a_vertex_that_cannot_be_is_not_asked_for(void **state)
{
    (void)state;
    struct daemon daemon = start(HONEST, 1);
    struct lbmap *map = open_attached(&daemon);
    uint32_t vertex[] = {0, LBMAP_NOWHERE}, host[] = {77, 77}, added = VERTICES + 1;
    assert_int_equal(lbmap_locate(map, vertex, 2, host, NULL), LBMAP_E_RANGE);
    assert_int_equal(host[0], 77);
    assert_non_null(strstr(lbmap_message(map), "element 1 is 4294967295"));
    assert_int_equal(lbmap_locate(map, &added, 1, host, NULL), LBMAP_OK);
    assert_int_equal(host[0], added % 4);
    lbmap_close(map);
    stop(&daemon);
}

static void
nothing_is_owned_before_a_job_is_attached(void **state)
{
    (void)state;
    struct daemon daemon = start(HONEST, 1);
    struct lbmap *map = NULL;
    struct lbmap_vertex *mine;
    size_t n;
    uint32_t vertex = 0, host;
    assert_int_equal(lbmap_open(daemon.path, &map), LBMAP_OK);
    assert_int_equal(lbmap_owned(map, &mine, &n), LBMAP_E_STATE);
    assert_int_equal(lbmap_locate(map, &vertex, 1, &host, NULL), LBMAP_E_STATE);
    lbmap_close(map);
    stop(&daemon);
}

/* ---- no daemon, or a wrong one -------------------------------------------------------------------- */

static void
opening_fails_where_nobody_listens(void **state)
{
    (void)state;
    struct lbmap *map = NULL;
    char long_path[300];
    memset(long_path, 'x', sizeof long_path);
    long_path[sizeof long_path - 1] = '\0';
    assert_int_equal(lbmap_open("/nonexistent/socket", &map), LBMAP_E_UNREACHABLE);
    assert_int_equal(lbmap_open("/etc/passwd", &map), LBMAP_E_UNREACHABLE);
    assert_int_equal(lbmap_open("", &map), LBMAP_E_RANGE);
    assert_int_equal(lbmap_open(long_path, &map), LBMAP_E_RANGE);
    assert_null(map);
    lbmap_close(NULL);
}

static const struct {
    enum manner manner;
    enum lbmap_error error;
    int lost; /* the connection cannot be used any more */
} wrong[] = {
    {CLOSES, LBMAP_E_IO, 1},         {ZERO_LENGTH, LBMAP_E_LIMIT, 1}, {HUGE_LENGTH, LBMAP_E_LIMIT, 1},
    {GARBAGE, LBMAP_E_SYNTAX, 1},    {HALF, LBMAP_E_IO, 1},           {WRONG_ID, LBMAP_E_SYNTAX, 1},
    {WRONG_BODY, LBMAP_E_SYNTAX, 0}, {REFUSES, LBMAP_E_BUSY, 0},      {TURNS_AWAY, LBMAP_E_BUSY, 1},
};

static void
a_wrong_daemon_is_not_opened(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct daemon daemon = start(wrong[i].manner, 1);
        struct lbmap *map = NULL;
        assert_int_equal(lbmap_open(daemon.path, &map), wrong[i].error);
        assert_null(map);
        stop(&daemon);
    }
}

static void
a_wrong_answer_is_an_error_and_may_cost_the_connection(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct daemon daemon = start(wrong[i].manner, 3);
        struct lbmap *map = open_attached(&daemon);
        struct lbmap_vertex *mine = NULL;
        size_t n = 77;
        assert_int_equal(lbmap_owned(map, &mine, &n), wrong[i].error);
        assert_null(mine);
        assert_int_equal(n, 77);
        assert_true(lbmap_message(map)[0] != '\0');
        assert_int_equal(lbmap_owned(map, &mine, &n), wrong[i].lost ? LBMAP_E_STATE : wrong[i].error);
        lbmap_close(map);
        stop(&daemon);
    }
}

static void
places_that_do_not_fit_the_question_are_refused(void **state)
{
    (void)state;
    static const enum manner manners[] = {OTHER_VERTEX, TOO_FEW, TOO_MANY};
    for (size_t i = 0; i < sizeof manners / sizeof *manners; i++) {
        struct daemon daemon = start(manners[i], 1);
        struct lbmap *map = open_attached(&daemon);
        uint32_t vertex[] = {4, 5}, host[] = {77, 77};
        assert_int_equal(lbmap_locate(map, vertex, 2, host, NULL), LBMAP_E_SYNTAX);
        assert_int_equal(host[0], 77);
        lbmap_close(map);
        stop(&daemon);
    }
}

static void
a_unreachable_daemon_costs_the_timeout_and_the_connection(void **state)
{
    (void)state;
    struct daemon daemon = start(SILENT, 3);
    struct lbmap *map = open_attached(&daemon);
    struct lbmap_vertex *mine;
    size_t n;
    assert_int_equal(lbmap_set_timeout(map, 0), LBMAP_E_RANGE);
    assert_int_equal(lbmap_set_timeout(map, 50), LBMAP_OK);
    assert_int_equal(lbmap_owned(map, &mine, &n), LBMAP_E_TIMEOUT);
    assert_int_equal(lbmap_owned(map, &mine, &n), LBMAP_E_STATE);
    lbmap_close(map);
    stop(&daemon);
}

static void
errors_have_texts_and_the_version_is_the_package_s(void **state)
{
    (void)state;
    for (int error = 0; error < LBM_ERR_COUNT; error++)
        assert_string_equal(lbmap_strerror((enum lbmap_error)error), lbm_err_text((enum lbm_err)error));
    assert_non_null(lbmap_strerror((enum lbmap_error)12345));
    assert_string_equal(lbmap_version(), PACKAGE_VERSION);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attaching_tells_host_and_vertices),
        cmocka_unit_test(an_unknown_job_leaves_the_attached_one),
        cmocka_unit_test(owned_are_the_rows_of_this_host_by_id),
        cmocka_unit_test(places_come_in_the_order_of_the_question),
        cmocka_unit_test(a_vertex_that_cannot_be_is_not_asked_for),
        cmocka_unit_test(nothing_is_owned_before_a_job_is_attached),
        cmocka_unit_test(opening_fails_where_nobody_listens),
        cmocka_unit_test(a_wrong_daemon_is_not_opened),
        cmocka_unit_test(a_wrong_answer_is_an_error_and_may_cost_the_connection),
        cmocka_unit_test(places_that_do_not_fit_the_question_are_refused),
        cmocka_unit_test(a_unreachable_daemon_costs_the_timeout_and_the_connection),
        cmocka_unit_test(errors_have_texts_and_the_version_is_the_package_s),
    };
    return cmocka_run_group_tests_name("api", tests, NULL, NULL);
}
