/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clients of the control socket that come over TLS: a daemon's side in the event loop, the other end of a
 * pair of sockets in this test. Rights and bounds are those of local clients. */
#include "config.h"

#include <event2/bufferevent_ssl.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "daemon/control.h"
#include "daemon/log.h"
#include "tests/unit/daemon/identities.h"

enum { TURNS_MAX = 200000, REPLY_ROWS = 60000, GREEDY_REPLIES = 320, SMALL_BUFFER = 64 << 10 };

struct fixture {
    struct event_base *base;
    char directory[64], path[96];
    struct authority authority;
    struct lbm_identity host, user;
    struct lbm_tls *server_tls, *user_tls;
    struct lbm_control *control;
    struct lbm_control_client last; /* who asked last */
    int requests, gone, replies;
};

/* ---- the daemon's side --------------------------------------------------------------------------------- */

static void
on_request(void *context, const struct lbm_control_client *client, const Lbm__Request *request)
{
    struct fixture *f = context;
    f->requests++;
    f->last = *client;
    for (int i = 0; i < f->replies; i++) {
        Lbm__LocateReply locate = LBM__LOCATE_REPLY__INIT;
        Lbm__Response message = LBM__RESPONSE__INIT;
        uint8_t *frame;
        size_t len;
        locate.n_vertex = locate.n_host = locate.n_epoch = REPLY_ROWS;
        locate.vertex = lbm_alloc(REPLY_ROWS, sizeof *locate.vertex);
        locate.host = lbm_alloc(REPLY_ROWS, sizeof *locate.host);
        locate.epoch = lbm_alloc(REPLY_ROWS, sizeof *locate.epoch);
        for (size_t k = 0; k < REPLY_ROWS; k++) {
            locate.vertex[k] = LBM_VERTICES_MAX - 1;
            locate.epoch[k] = UINT64_MAX;
        }
        message.id = request->id;
        message.what_case = LBM__RESPONSE__WHAT_LOCATE;
        message.locate = &locate;
        assert_int_equal(lbm_wire_pack_response(&message, &frame, &len), LBM_OK);
        free(locate.vertex);
        free(locate.host);
        free(locate.epoch);
        lbm_control_reply(f->control, client->id, frame, len);
    }
}

static void
on_all_read(void *context, uint64_t client)
{
    (void)context;
    (void)client;
}

static void
on_gone(void *context, uint64_t client)
{
    struct fixture *f = context;
    f->gone++;
    assert_int_equal(client, f->last.id);
}

static void
on_event(struct bufferevent *bev, short what, void *context)
{
    struct fixture *f = context;
    struct lbm_pki_subject peer;
    assert_int_equal(what, BEV_EVENT_CONNECTED);
    SSL *ssl = bufferevent_openssl_get_ssl(bev);
    assert_int_equal(lbm_tls_use_of(ssl), LBM_TLS_CONTROL);
    assert_true(lbm_tls_peer(ssl, &peer));
    lbm_control_accept(f->control, bev, &peer, "there");
}

static int
set_up(void **state)
{
    struct fixture *f = lbm_alloc(1, sizeof *f);
    const struct lbm_pki_subject ann = {
        .kind = LBM_PKI_USER, .cluster = CLUSTER, .user = "ann", .level = LBM_PKI_SUBMIT, .uid = 1234};
    const struct lbm_control_handler handler = {
        .context = f, .request = on_request, .read = on_all_read, .gone = on_gone};
    const struct lbm_rights_setting rights = {0};
    lbm_log_set_level(LBM_NOTE_ERROR);
    signal(SIGPIPE, SIG_IGN); /* as the daemon does */
    strcpy(f->directory, "/tmp/lbmap-remote-XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    snprintf(f->path, sizeof f->path, "%s/control", f->directory);
    f->base = event_base_new();
    f->replies = 1;
    f->authority = make_authority(CLUSTER);
    f->host = make_identity(&f->authority, CLUSTER, 0, 3600);
    f->user = make_identity(&f->authority, CLUSTER, 1, 3600);
    X509_free(f->user.certificate);
    assert_int_equal(
        lbm_pki_sign(f->authority.ca, f->authority.key, f->user.key, &ann, 3600, &f->user.certificate, NULL),
        LBM_OK);
    f->user.subject = ann;
    assert_int_equal(lbm_tls_new(&f->host, &f->server_tls, NULL), LBM_OK);
    assert_int_equal(lbm_tls_new(&f->user, &f->user_tls, NULL), LBM_OK);
    assert_int_equal(lbm_control_new(f->base, f->path, &rights, &handler, &f->control, NULL), LBM_OK);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    struct fixture *f = *state;
    lbm_control_free(f->control);
    event_base_free(f->base);
    lbm_tls_free(f->server_tls);
    lbm_tls_free(f->user_tls);
    lbm_identity_free(&f->host);
    lbm_identity_free(&f->user);
    free_authority(&f->authority);
    int left = rmdir(f->directory);
    free(f);
    return left;
}

/* ---- the other end ------------------------------------------------------------------------------------- */

static void
turn(struct fixture *f)
{
    event_base_loop(f->base, EVLOOP_NONBLOCK);
}

/* A user after the handshake. */
static SSL *
connect_user(struct fixture *f)
{
    const int small = SMALL_BUFFER;
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd), 0);
    setsockopt(fd[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    struct bufferevent *bev = bufferevent_openssl_socket_new(
        f->base, fd[0], lbm_tls_accept(f->server_tls), BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(bev, NULL, NULL, on_event, f);
    bufferevent_enable(bev, EV_READ | EV_WRITE);
    SSL *ssl = lbm_tls_connect(f->user_tls, LBM_TLS_CONTROL, 0);
    SSL_set_fd(ssl, fd[1]);
    int shaken = 0;
    for (int i = 0; i < TURNS_MAX && !shaken; i++) {
        shaken = SSL_do_handshake(ssl) == 1;
        turn(f);
    }
    assert_true(shaken);
    return ssl;
}

static void
disconnect(SSL *ssl)
{
    close(SSL_get_fd(ssl));
    SSL_free(ssl);
}

static void
ask_status(struct fixture *f, SSL *ssl)
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    uint8_t *frame;
    size_t len;
    int before = f->requests;
    request.id = 7;
    request.what_case = LBM__REQUEST__WHAT_STATUS;
    request.status = &empty;
    assert_int_equal(lbm_wire_pack_request(&request, &frame, &len), LBM_OK);
    assert_int_equal(SSL_write(ssl, frame, (int)len), len);
    free(frame);
    for (int i = 0; i < TURNS_MAX && f->requests == before; i++)
        turn(f);
    assert_int_equal(f->requests, before + 1);
}

/* Read on until the daemon has closed the connection. Value: bytes that came; -1: it did not. */
static int64_t
read_to_end(struct fixture *f, SSL *ssl)
{
    static char bytes[1 << 16];
    int64_t got = 0;
    for (int i = 0; i < TURNS_MAX; i++) {
        int n = SSL_read(ssl, bytes, sizeof bytes);
        int error = n > 0 ? SSL_ERROR_NONE : SSL_get_error(ssl, n);
        got += n > 0 ? n : 0;
        if (n <= 0 && error != SSL_ERROR_WANT_READ)
            return got;
        turn(f);
    }
    return -1;
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static void
a_user_asks_with_the_right_and_the_number_of_its_certificate(void **state)
{
    struct fixture *f = *state;
    SSL *ssl = connect_user(f);
    ask_status(f, ssl);
    assert_int_equal(f->last.uid, 1234);
    assert_int_equal(f->last.access, LBM_ACCESS_SUBMIT);
    assert_true(f->last.is_remote);
    assert_int_equal(f->last.pid, 0);
    char first[4];
    int n = 0;
    for (int i = 0; i < TURNS_MAX && n != (int)sizeof first; i++) {
        n = SSL_read(ssl, first, sizeof first);
        turn(f);
    }
    assert_int_equal(n, sizeof first); /* the answer comes */
    pid_t pid[4];
    assert_int_equal(lbm_control_processes(f->control, pid, 4), 0); /* no process of this machine */
    disconnect(ssl);
    for (int i = 0; i < TURNS_MAX && f->gone == 0; i++)
        turn(f);
    assert_int_equal(f->gone, 1);
}

static void
a_user_that_reads_nothing_is_cut_off(void **state)
{
    struct fixture *f = *state;
    f->replies = GREEDY_REPLIES;
    SSL *ssl = connect_user(f);
    ask_status(f, ssl); /* more than LBM_CLIENT_QUEUE_MAX wait for it at once */
    int64_t got = read_to_end(f, ssl);
    assert_true(got >= 0 && got < LBM_CLIENT_QUEUE_MAX);
    disconnect(ssl);
}

static void
a_user_that_reads_too_slowly_is_cut_off(void **state)
{
    struct fixture *f = *state;
    f->replies = 4;
    SSL *ssl = connect_user(f);
    ask_status(f, ssl);
    char some[16];
    for (int look = 0; look < 2; look++) {
        for (int i = 0; i < 10; i++) {
            (void)SSL_read(ssl, some, sizeof some);
            turn(f);
        }
        lbm_control_look(f->control);
    }
    assert_true(read_to_end(f, ssl) >= 0);
    disconnect(ssl);
}

static int
revokes_ann(void *context, const struct lbm_pki_subject *subject, int64_t made_s)
{
    *(int64_t *)context = made_s;
    return strcmp(subject->user, "ann") == 0;
}

static int
revokes_nobody(void *context, const struct lbm_pki_subject *subject, int64_t made_s)
{
    (void)context;
    (void)subject;
    (void)made_s;
    return 0;
}

static void
a_user_that_is_revoked_is_cut_off(void **state)
{
    struct fixture *f = *state;
    int64_t made_s = 0;
    SSL *ssl = connect_user(f);
    ask_status(f, ssl);
    lbm_control_cut(f->control, revokes_nobody, NULL);
    ask_status(f, ssl); /* it goes on */
    lbm_control_cut(f->control, revokes_ann, &made_s);
    assert_true(made_s >= time(NULL) - 60 && made_s <= time(NULL));
    assert_true(read_to_end(f, ssl) >= 0);
    disconnect(ssl);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_user_asks_with_the_right_and_the_number_of_its_certificate),
        TEST(a_user_that_reads_nothing_is_cut_off),
        TEST(a_user_that_reads_too_slowly_is_cut_off),
        TEST(a_user_that_is_revoked_is_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
