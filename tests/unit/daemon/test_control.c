/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The control socket: a daemon's side in the event loop, clients as plain sockets. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "daemon/access.h"
#include "daemon/control.h"
#include "daemon/log.h"
#include "tests/unit/daemon/wait_bounds.h"

/* Of 1.3 MB: more than may wait for a client, and as many as it should read before it asks again. */
enum { GREEDY_REPLIES = 240, BUSY_REPLIES = 60 };

struct fixture {
    struct event_base *base;
    char directory[64];
    char path[96];
    struct lbm_rights_setting rights;
    struct lbm_control *control;
    int requests, reads, gone;
    uint64_t last_client, last_gone;
    uint32_t last_uid;
    enum lbm_access last_access;
    int replies; /* to each request */
    size_t reply_rows;
};

/* A valid response with that many rows of 20 bytes. */
static uint8_t *
response(uint64_t id, size_t rows, size_t *len)
{
    uint8_t *frame;
    Lbm__LocateReply locate;
    Lbm__Response message;
    lbm__locate_reply__init(&locate);
    lbm__response__init(&message);
    locate.n_vertex = locate.n_host = locate.n_epoch = rows;
    locate.vertex = lbm_alloc(rows, sizeof *locate.vertex);
    locate.host = lbm_alloc(rows, sizeof *locate.host);
    locate.epoch = lbm_alloc(rows, sizeof *locate.epoch);
    assert_true(locate.vertex != NULL && locate.host != NULL && locate.epoch != NULL);
    for (size_t i = 0; i < rows; i++) {
        locate.vertex[i] = LBM_VERTICES_MAX - 1;
        locate.host[i] = LBM_NONE;
        locate.epoch[i] = UINT64_MAX;
    }
    message.id = id;
    message.last = 1;
    message.what_case = LBM__RESPONSE__WHAT_LOCATE;
    message.locate = &locate;
    assert_int_equal(lbm_wire_pack_response(&message, &frame, len), LBM_OK);
    free(locate.vertex);
    free(locate.host);
    free(locate.epoch);
    return frame;
}

static void
on_request(void *context, const struct lbm_control_client *client, const Lbm__Request *request)
{
    struct fixture *f = context;
    f->requests++;
    f->last_client = client->id;
    f->last_uid = client->uid;
    f->last_access = client->access;
    for (int i = 0; i < f->replies; i++) {
        size_t len;
        uint8_t *frame = response(request->id, f->reply_rows, &len);
        lbm_control_reply(f->control, client->id, frame, len);
    }
}

static void
on_all_read(void *context, uint64_t client)
{
    struct fixture *f = context;
    assert_int_equal(client, f->last_client);
    f->reads++;
}

static void
on_gone(void *context, uint64_t client)
{
    struct fixture *f = context;
    f->gone++;
    f->last_gone = client;
}

static enum lbm_err
open_control(struct fixture *f, struct lbm_control **control, struct lbm_diag *diag)
{
    const struct lbm_control_handler handler = {
        .context = f, .request = on_request, .read = on_all_read, .gone = on_gone};
    return lbm_control_new(f->base, f->path, &f->rights, &handler, control, diag);
}

static int
set_up(void **state)
{
    struct fixture *f = lbm_alloc(1, sizeof *f);
    if (f == NULL)
        return -1;
    strcpy(f->directory, "/tmp/lbmap-control-XXXXXX");
    f->base = event_base_new();
    f->replies = 1;
    *state = f;
    lbm_log_set_level(LBM_NOTE_ERROR);
    if (mkdtemp(f->directory) == NULL)
        return -1;
    snprintf(f->path, sizeof f->path, "%s/control", f->directory);
    return open_control(f, &f->control, NULL) == LBM_OK ? 0 : -1;
}

static int
tear_down(void **state)
{
    struct fixture *f = *state;
    lbm_control_free(f->control);
    event_base_free(f->base);
    int left = rmdir(f->directory); /* fails if the socket's file was left behind */
    free(f);
    return left;
}

static int
client_of(const struct fixture *f)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    strcpy(address.sun_path, f->path);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void
say(int fd, const void *bytes, size_t len)
{
    assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
}

static void
ask(int fd, uint64_t id)
{
    uint8_t *frame;
    size_t len;
    Lbm__Empty empty;
    Lbm__Request request;
    lbm__empty__init(&empty);
    lbm__request__init(&request);
    request.id = id;
    request.what_case = LBM__REQUEST__WHAT_STATUS;
    request.status = &empty;
    assert_int_equal(lbm_wire_pack_request(&request, &frame, &len), LBM_OK);
    say(fd, frame, len);
    free(frame);
}

static int
readable(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) >= 0 || errno == ECONNRESET;
}

/* Read one whole response; NULL at the end of the stream. */
static Lbm__Response *
answer(struct fixture *f, int fd)
{
    uint8_t header[LBM_FRAME_HEADER];
    uint32_t length;
    Lbm__Response *message;
    UNTIL(f, readable(fd));
    if (recv(fd, header, sizeof header, MSG_WAITALL) != sizeof header)
        return NULL;
    assert_int_equal(lbm_frame_length(header, &length), LBM_OK);
    uint8_t *bytes = lbm_alloc(length, 1);
    for (size_t have = 0; have < length;) {
        UNTIL(f, readable(fd));
        ssize_t got = recv(fd, bytes + have, length - have, 0);
        assert_true(got > 0);
        have += (size_t)got;
    }
    assert_int_equal(lbm_wire_unpack_response(bytes, length, &message, NULL), LBM_OK);
    free(bytes);
    return message;
}

static void
a_request_is_answered(void **state)
{
    struct fixture *f = *state;
    int fd = client_of(f);
    for (uint64_t id = 1; id <= 3; id++) {
        ask(fd, id);
        Lbm__Response *message = answer(f, fd);
        assert_non_null(message);
        assert_int_equal(message->id, id);
        lbm__response__free_unpacked(message, NULL);
    }
    assert_int_equal(f->requests, 3);
    assert_int_equal(f->last_uid, geteuid());
    close(fd);
    UNTIL(f, f->gone == 1);
    assert_int_equal(f->last_gone, f->last_client);
}

static void
requests_in_one_write_are_all_taken(void **state)
{
    struct fixture *f = *state;
    int fd = client_of(f);
    for (uint64_t id = 1; id <= 100; id++)
        ask(fd, id);
    UNTIL(f, f->requests == 100);
    close(fd);
}

static void
the_daemons_own_user_is_admin(void **state)
{
    struct fixture *f = *state;
    int fd = client_of(f);
    ask(fd, 1);
    UNTIL(f, f->requests == 1);
    assert_int_equal(f->last_access, LBM_ACCESS_ADMIN);
    close(fd);
}

/* Connect as another user in a child; needs root. */
static void
others_are_admins_only_if_configured(void **state)
{
    struct fixture *f = *state;
    if (geteuid() != 0) {
        print_message("not root: cannot connect as another user\n");
        skip();
    }
    assert_int_equal(chmod(f->directory, 0755), 0);
    assert_int_equal(chmod(f->path, 0666), 0);
    for (int listed = 0; listed <= 1; listed++) {
        if (listed) {
            f->rights.admins = (struct lbm_uids_setting){.at = {12345}, .n = 1};
            lbm_control_free(f->control);
            assert_int_equal(open_control(f, &f->control, NULL), LBM_OK);
            assert_int_equal(chmod(f->path, 0666), 0);
        }
        int before = f->requests;
        pid_t child = fork();
        if (child == 0) {
            if (setuid(12345) != 0)
                _exit(1);
            ask(client_of(f), 1);
            pause();
        }
        UNTIL(f, f->requests > before);
        assert_int_equal(f->last_uid, 12345);
        assert_int_equal(f->last_access, listed ? LBM_ACCESS_ADMIN : LBM_ACCESS_SUBMIT);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
}

static void
groups_decide_what_their_members_may(void **state)
{
    enum { MINE = 4711, READS = 70001, SUBMITS = 70002, ADMINISTERS = 70003 };
    struct lbm_rights_setting none = {0},
                              all = {.read = {READS, 1}, .submit = {SUBMITS, 1}, .admin = {ADMINISTERS, 1}};
    struct lbm_rights_setting one = {.admin = {ADMINISTERS, 1}};
    const uint32_t own = (uint32_t)getegid();
    const struct {
        const struct lbm_rights_setting *rights;
        uint32_t uid, group;
        enum lbm_access access;
    } cases[] = {
        {&none, MINE, MINE, LBM_ACCESS_SUBMIT},
        {&none, 0, MINE, LBM_ACCESS_ADMIN},
        {&none, (uint32_t)geteuid(), MINE, LBM_ACCESS_ADMIN},
        {&all, MINE, MINE, LBM_ACCESS_NONE},
        {&all, MINE, READS, LBM_ACCESS_READ},
        {&all, MINE, SUBMITS, LBM_ACCESS_SUBMIT},
        {&all, MINE, ADMINISTERS, LBM_ACCESS_ADMIN},
        {&all, 0, MINE, LBM_ACCESS_ADMIN},
        {&all, MINE, own, LBM_ACCESS_NONE},
        {&one, MINE, own, LBM_ACCESS_SUBMIT},
        {&one, MINE, MINE, LBM_ACCESS_NONE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lbm_access_peer peer = {.uid = cases[i].uid, .n_groups = 2, .group = {MINE, cases[i].group}};
        assert_int_equal(lbm_access_of(cases[i].rights, &peer), cases[i].access);
    }
    assert_int_equal(lbm_access_socket_mode(&none), 0660);
    assert_int_equal(lbm_access_socket_mode(&one), 0666);
}

/* Whoever is in no group is told so, whether it has asked already or not, and takes nobody's place. */
static void
strangers_are_turned_away_with_a_reason(void **state)
{
    struct fixture *f = *state;
    if (geteuid() != 0) {
        print_message("not root: cannot connect as another user\n");
        skip();
    }
    f->rights = (struct lbm_rights_setting){.read = {70001, 1}, .submit = {70001, 1}};
    lbm_control_free(f->control);
    assert_int_equal(open_control(f, &f->control, NULL), LBM_OK);
    assert_int_equal(chmod(f->directory, 0755), 0);
    int told[2];
    assert_int_equal(pipe(told), 0);
    for (int i = 0; i < 2 * LBM_CLIENTS_MAX; i++) {
        pid_t child = fork();
        if (child == 0) {
            uint8_t bytes[512] = {0};
            if (setgid(12345) != 0 || setuid(12345) != 0)
                _exit(1);
            int fd = client_of(f);
            if (i % 2 != 0)
                (void)!send(fd, bytes, 1, MSG_NOSIGNAL); /* it may have been turned away by then */
            ssize_t got = recv(fd, bytes, sizeof bytes, 0);
            _exit(got <= 0 || write(told[1], bytes, (size_t)got) != got);
        }
        for (int left = 10000; waitpid(child, NULL, WNOHANG) != child; left--) {
            assert_true(left > 0);
            event_base_loop(f->base, EVLOOP_NONBLOCK);
            usleep(1000);
        }
        uint8_t bytes[512];
        ssize_t got = read(told[0], bytes, sizeof bytes);
        Lbm__Response *message;
        assert_true(got > LBM_FRAME_HEADER);
        assert_int_equal(lbm_wire_unpack_response(bytes + LBM_FRAME_HEADER, (size_t)got - LBM_FRAME_HEADER,
                                                  &message, NULL),
                         LBM_OK);
        assert_int_equal(message->code, LBM_E_DENIED);
        assert_non_null(strstr(message->text, "user 12345 may not use this lbmapd"));
        lbm__response__free_unpacked(message, NULL);
    }
    assert_int_equal(f->requests, 0);
    close(told[0]);
    close(told[1]);
}

static void
the_socket_is_for_user_and_group(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0660);
}

static void
nonsense_is_told_so_and_closed(void **state)
{
    static const uint8_t zero[] = {0, 0, 0, 0}, huge[] = {0xff, 0xff, 0xff, 0x7f};
    static const uint8_t garbage[] = {3, 0, 0, 0, 0xff, 0xff, 0xff};
    static const char text[] = "status\r\n";
    static const struct {
        const void *bytes;
        size_t len;
    } openings[] = {
        {zero, sizeof zero}, {huge, sizeof huge}, {garbage, sizeof garbage}, {text, sizeof text - 1}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof openings / sizeof openings[0]; i++) {
        int fd = client_of(f);
        say(fd, openings[i].bytes, openings[i].len);
        Lbm__Response *message = answer(f, fd);
        assert_non_null(message);
        assert_int_not_equal(message->code, LBM_OK);
        assert_true(message->text[0] != '\0');
        lbm__response__free_unpacked(message, NULL);
        assert_null(answer(f, fd));
        close(fd);
    }
    assert_int_equal(f->requests, 0);
    UNTIL(f, f->gone == sizeof openings / sizeof openings[0]); /* they might go on for a while */
}

static void
too_many_clients_are_turned_away_with_a_reason(void **state)
{
    struct fixture *f = *state;
    int fds[LBM_CLIENTS_MAX];
    for (int i = 0; i < LBM_CLIENTS_MAX; i++) {
        fds[i] = client_of(f);
        ask(fds[i], 1);
        UNTIL(f, f->requests == i + 1);
    }
    int fd = client_of(f);
    Lbm__Response *message = answer(f, fd);
    assert_non_null(message);
    assert_int_equal(message->code, LBM_E_BUSY);
    lbm__response__free_unpacked(message, NULL);
    close(fd);
    close(fds[0]);
    UNTIL(f, f->gone == 1);
    fd = client_of(f);
    ask(fd, 1);
    UNTIL(f, f->requests == LBM_CLIENTS_MAX + 1);
    close(fd);
    for (int i = 1; i < LBM_CLIENTS_MAX; i++)
        close(fds[i]);
}

static void
a_client_that_does_not_read_is_cut_off(void **state)
{
    struct fixture *f = *state;
    int greedy = client_of(f), modest = client_of(f);
    f->replies = GREEDY_REPLIES;
    f->reply_rows = LBM_ROWS_MAX;
    ask(greedy, 1);
    UNTIL(f, f->requests == 1);
    uint64_t cut = f->last_client;
    UNTIL(f, f->gone == 1);
    assert_int_equal(f->last_gone, cut);
    f->replies = 1;
    f->reply_rows = 10;
    ask(modest, 2);
    Lbm__Response *message = answer(f, modest);
    assert_non_null(message);
    lbm__response__free_unpacked(message, NULL);
    close(greedy);
    close(modest);
}

/* A byte now and then is no reading. */
static void
a_client_that_reads_drops_is_cut_off(void **state)
{
    struct fixture *f = *state;
    const struct timeval moment = {.tv_usec = 20000};
    int drips = client_of(f), reads = client_of(f);
    f->replies = 10;
    f->reply_rows = LBM_ROWS_MAX;
    ask(drips, 1);
    UNTIL(f, f->requests == 1);
    uint64_t cut = f->last_client;
    for (int look = 0; look < 2; look++) {
        char bytes[64];
        event_base_loopexit(f->base, &moment);
        event_base_dispatch(f->base);
        assert_int_equal(recv(drips, bytes, sizeof bytes, MSG_DONTWAIT), sizeof bytes);
        assert_int_equal(f->gone, 0);
        lbm_control_look(f->control);
    }
    UNTIL(f, f->gone == 1);
    assert_int_equal(f->last_gone, cut);
    ask(reads, 2); /* whoever reads what it gets is looked at for nothing */
    for (int i = 0; i < f->replies; i++) {
        Lbm__Response *message = answer(f, reads);
        assert_non_null(message);
        lbm__response__free_unpacked(message, NULL);
        lbm_control_look(f->control);
    }
    close(drips);
    close(reads);
}

/* Each look finds bytes that have just been put: that it has yet to get these says nothing of the client. */
static void
a_client_that_has_read_what_was_there_before_stays(void **state)
{
    struct fixture *f = *state;
    const struct timeval moment = {.tv_usec = 20000};
    int reads = client_of(f);
    f->replies = 1;
    ask(reads, 1);
    UNTIL(f, f->requests == 1);
    Lbm__Response *message = answer(f, reads);
    assert_non_null(message);
    lbm__response__free_unpacked(message, NULL);
    for (int look = 0; look < 4; look++) {
        char bytes[8];
        uint8_t *frame = calloc(1, sizeof bytes);
        assert_non_null(frame);
        frame[0] = sizeof bytes - LBM_FRAME_HEADER;
        lbm_control_reply(f->control, f->last_client, frame, sizeof bytes);
        lbm_control_look(f->control);
        event_base_loopexit(f->base, &moment);
        event_base_dispatch(f->base);
        assert_int_equal(recv(reads, bytes, sizeof bytes, MSG_DONTWAIT), sizeof bytes);
    }
    assert_int_equal(f->gone, 0);
    close(reads);
}

/* What others cause is written some times, then counted. */
static void
lines_of_one_kind_are_limited(void **state)
{
    struct lbm_log_limit limit = {0};
    int ends[2], before = dup(STDERR_FILENO);
    char text[4096];
    (void)state;
    assert_true(before >= 0 && pipe(ends) == 0);
    dup2(ends[1], STDERR_FILENO);
    for (int i = 0; i < 1000; i++)
        lbm_log_limited(&limit, LBM_NOTE_ERROR, "line %d", i);
    limit.since_s -= LBM_LOG_PERIOD_S;
    lbm_log_limited(&limit, LBM_NOTE_ERROR, "line again");
    dup2(before, STDERR_FILENO);
    close(before);
    close(ends[1]);
    ssize_t len = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    assert_true(len > 0);
    text[len] = '\0';
    int lines = 0;
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == '\n';
    assert_int_equal(lines, LBM_LOG_BURST + 1);
    assert_non_null(strstr(text, "line again (995 such lines were left out)"));
}

static void
large_answers_reach_a_client_that_reads(void **state)
{
    struct fixture *f = *state;
    int fd = client_of(f);
    f->replies = 10;
    f->reply_rows = LBM_ROWS_MAX;
    ask(fd, 9);
    for (int i = 0; i < f->replies; i++) {
        Lbm__Response *message = answer(f, fd);
        assert_non_null(message);
        assert_int_equal(message->locate->n_vertex, f->reply_rows);
        lbm__response__free_unpacked(message, NULL);
    }
    assert_int_equal(f->gone, 0);
    close(fd);
}

static void
who_has_much_to_read_is_not_listened_to(void **state)
{
    struct fixture *f = *state;
    const struct timeval while_ = {.tv_usec = 50000};
    int fd = client_of(f);
    f->replies = BUSY_REPLIES;
    f->reply_rows = LBM_ROWS_MAX;
    ask(fd, 1);
    UNTIL(f, f->requests == 1);
    f->replies = 1;
    ask(fd, 2);
    event_base_loopexit(f->base, &while_);
    event_base_dispatch(f->base);
    assert_int_equal(f->requests, 1);
    assert_int_equal(f->reads, 0);
    for (int i = 0; i < BUSY_REPLIES + 1; i++) {
        Lbm__Response *message = answer(f, fd);
        assert_non_null(message);
        lbm__response__free_unpacked(message, NULL);
    }
    assert_int_equal(f->requests, 2);
    UNTIL(f, f->reads == 2);
    assert_int_equal(f->gone, 0);
    close(fd);
}

static void
an_answer_to_nobody_is_dropped(void **state)
{
    struct fixture *f = *state;
    size_t len;
    uint8_t *frame = response(1, 10, &len);
    lbm_control_reply(f->control, 77, frame, len);
    assert_int_equal(f->gone, 0);
}

static void
nothing_is_read_while_paused(void **state)
{
    struct fixture *f = *state;
    const struct timeval while_ = {.tv_usec = 50000};
    int before = client_of(f);
    event_base_loop(f->base, EVLOOP_NONBLOCK);
    lbm_control_pause(f->control, 1);
    int during = client_of(f);
    ask(before, 1);
    ask(during, 2);
    event_base_loopexit(f->base, &while_);
    event_base_dispatch(f->base);
    assert_int_equal(f->requests, 0);
    lbm_control_pause(f->control, 0);
    UNTIL(f, f->requests == 2);
    close(before);
    close(during);
}

static void
a_socket_somebody_listens_at_is_left_alone(void **state)
{
    struct fixture *f = *state;
    struct lbm_control *second = NULL;
    struct lbm_diag diag = {0};
    assert_int_equal(open_control(f, &second, &diag), LBM_E_BUSY);
    assert_null(second);
    assert_string_equal(diag.where, f->path);
    int fd = client_of(f);
    ask(fd, 1);
    UNTIL(f, f->requests == 1);
    close(fd);
}

static void
a_socket_left_behind_is_replaced(void **state)
{
    struct fixture *f = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    lbm_control_free(f->control);
    f->control = NULL;
    strcpy(address.sun_path, f->path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    assert_int_equal(open_control(f, &f->control, NULL), LBM_OK);
    fd = client_of(f);
    ask(fd, 1);
    UNTIL(f, f->requests == 1);
    close(fd);
}

static void
a_file_at_the_sockets_path_is_kept(void **state)
{
    struct fixture *f = *state;
    struct lbm_diag diag = {0};
    lbm_control_free(f->control);
    f->control = NULL;
    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    fputs("precious", file);
    fclose(file);
    enum lbm_err err = open_control(f, &f->control, &diag);
    struct stat st;
    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_size, 8);
    unlink(f->path);
    assert_int_equal(err, LBM_E_EXISTS);
}

static void
a_missing_directory_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct lbm_control *second = NULL;
    struct lbm_diag diag = {0};
    strcat(f->path, ".d/control");
    assert_int_equal(open_control(f, &second, &diag), LBM_E_IO);
    assert_string_equal(diag.where, f->path);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_request_is_answered),
        TEST(requests_in_one_write_are_all_taken),
        TEST(the_daemons_own_user_is_admin),
        TEST(others_are_admins_only_if_configured),
        TEST(groups_decide_what_their_members_may),
        TEST(strangers_are_turned_away_with_a_reason),
        TEST(the_socket_is_for_user_and_group),
        TEST(nonsense_is_told_so_and_closed),
        TEST(too_many_clients_are_turned_away_with_a_reason),
        TEST(a_client_that_does_not_read_is_cut_off),
        TEST(a_client_that_reads_drops_is_cut_off),
        TEST(a_client_that_has_read_what_was_there_before_stays),
        TEST(lines_of_one_kind_are_limited),
        TEST(large_answers_reach_a_client_that_reads),
        TEST(who_has_much_to_read_is_not_listened_to),
        TEST(an_answer_to_nobody_is_dropped),
        TEST(nothing_is_read_while_paused),
        TEST(a_socket_somebody_listens_at_is_left_alone),
        TEST(a_socket_left_behind_is_replaced),
        TEST(a_file_at_the_sockets_path_is_kept),
        TEST(a_missing_directory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
