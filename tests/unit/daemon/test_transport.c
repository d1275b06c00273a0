/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Peers' connections, both ends in one event loop. */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
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
#include "daemon/inbound.h"
#include "daemon/log.h"
#include "daemon/outgoing.h"
#include "tests/unit/daemon/identities.h"
#include "tests/unit/daemon/wait_bounds.h"

enum { US = 5, OTHER = 7 };

/* What the handlers saw, and the loop they saw it in. */
struct fixture {
    struct event_base *base;
    struct lbm_address address;
    char name[32];
    struct authority authority;
    struct lbm_identity us, other; /* who sends, who listens */
    struct lbm_tls *our_tls, *other_tls;
    struct lbm_resolver *resolver;
    struct lbm_inbound *inbound;
    struct lbm_outgoing *outgoing;
    int ups, downs, caught_up;
    int messages;
    uint32_t last_src;
    Lbm__Peer__BodyCase last_body;
    size_t bytes;
};

static void
on_message(void *context, const Lbm__Peer *message, size_t bytes)
{
    struct fixture *f = context;
    f->messages++;
    f->last_src = message->src;
    f->last_body = message->body_case;
    f->bytes += bytes;
}

static int
accepts(void *context, const Lbm__Peer *hello)
{
    (void)context;
    assert_int_equal(hello->body_case, LBM__PEER__BODY_HELLO);
    return hello->dst == OTHER;
}

static void
on_up(void *context, uint32_t host)
{
    struct fixture *f = context;
    assert_int_equal(host, OTHER);
    f->ups++;
}

static void
on_down(void *context, uint32_t host)
{
    struct fixture *f = context;
    assert_int_equal(host, OTHER);
    f->downs++;
}

static void
on_caught_up(void *context, uint32_t host)
{
    struct fixture *f = context;
    assert_int_equal(host, OTHER);
    f->caught_up++;
}

/* Turn the loop for a while: long enough for all that is in progress to arrive over loopback. */
static void
settle(struct fixture *f)
{
    const struct timeval while_ = {.tv_usec = 50000};
    event_base_loopexit(f->base, &while_);
    event_base_dispatch(f->base);
}

static void
listen_again(struct fixture *f)
{
    const struct lbm_inbound_handler handler = {.context = f, .accepts = accepts, .message = on_message};
    assert_int_equal(
        lbm_inbound_new(f->base, f->other_tls, &f->address, f->name, &handler, &f->inbound, NULL), LBM_OK);
}

/* A port nobody uses now. */
static unsigned
free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static int
set_up(void **state)
{
    struct fixture *f = lbm_alloc(1, sizeof *f);
    const struct lbm_outgoing_handler handler = {
        .context = f, .up = on_up, .down = on_down, .caught_up = on_caught_up};
    if (f == NULL)
        return -1;
    f->base = event_base_new();
    snprintf(f->name, sizeof f->name, "127.0.0.1:%u", free_port());
    *state = f;
    lbm_log_set_level(LBM_NOTE_ERROR);
    f->authority = make_authority(CLUSTER);
    f->us = make_identity(&f->authority, CLUSTER, US, 3600);
    f->other = make_identity(&f->authority, CLUSTER, OTHER, 3600);
    if (lbm_tls_new(&f->us, &f->our_tls, NULL) != LBM_OK ||
        lbm_tls_new(&f->other, &f->other_tls, NULL) != LBM_OK ||
        lbm_address_parse(f->name, NULL, 0, &f->address, NULL) != LBM_OK ||
        lbm_resolver_new(f->base, &f->resolver, NULL) != LBM_OK ||
        lbm_outgoing_new(f->base, f->our_tls, f->resolver, 1, &handler, &f->outgoing, NULL) != LBM_OK)
        return -1;
    listen_again(f);
    return 0;
}

static int
tear_down(void **state)
{
    struct fixture *f = *state;
    lbm_inbound_free(f->inbound);
    lbm_outgoing_free(f->outgoing);
    lbm_resolver_free(f->resolver);
    lbm_tls_free(f->our_tls);
    lbm_tls_free(f->other_tls);
    lbm_identity_free(&f->us);
    lbm_identity_free(&f->other);
    free_authority(&f->authority);
    event_base_free(f->base);
    free(f);
    return 0;
}

static uint8_t *
hello_between(uint32_t src, uint32_t dst, size_t *len)
{
    char name[] = "h", address[] = "127.0.0.1:7000";
    uint8_t *frame;
    Lbm__Hello hello;
    Lbm__Peer peer;
    lbm__hello__init(&hello);
    lbm__peer__init(&peer);
    hello.protocol = LBM_PROTOCOL_MOST;
    hello.name = name;
    hello.address = address;
    peer.src = src;
    peer.src_incarnation = 1;
    peer.dst = dst;
    peer.body_case = LBM__PEER__BODY_HELLO;
    peer.hello = &hello;
    assert_int_equal(lbm_wire_pack_peer(&peer, &frame, len), LBM_OK);
    return frame;
}

static uint8_t *
hello_from(uint32_t src, size_t *len)
{
    return hello_between(src, OTHER, len);
}

/* A frame of about `bytes` bytes. */
static uint8_t *
entries_from(uint32_t src, size_t bytes, size_t *len)
{
    ProtobufCBinaryData commands[128];
    uint8_t *frame, *filling = lbm_alloc(LBM_COMMAND_BYTES_MAX, 1);
    Lbm__LogEntries entries;
    Lbm__Peer peer;
    assert_non_null(filling);
    lbm__log_entries__init(&entries);
    lbm__peer__init(&peer);
    entries.from = 1;
    entries.command = commands;
    for (size_t left = bytes; left > 0; left -= commands[entries.n_command++].len) {
        size_t part = left < LBM_COMMAND_BYTES_MAX ? left : LBM_COMMAND_BYTES_MAX;
        assert_true(entries.n_command < sizeof commands / sizeof commands[0]);
        commands[entries.n_command] = (ProtobufCBinaryData){.len = part, .data = filling};
    }
    entries.last = entries.n_command;
    peer.src = src;
    peer.src_incarnation = 1;
    peer.dst = OTHER;
    peer.body_case = LBM__PEER__BODY_LOG_ENTRIES;
    peer.log_entries = &entries;
    assert_int_equal(lbm_wire_pack_peer(&peer, &frame, len), LBM_OK);
    free(filling);
    return frame;
}

static void
send_frame(struct fixture *f, uint8_t *frame, size_t len, int lossy)
{
    lbm_outgoing_send(f->outgoing, OTHER, lbm_outgoing_connection(f->outgoing, OTHER), frame, len, lossy);
}

static void
connect_and_greet(struct fixture *f)
{
    size_t len;
    int ups = f->ups, messages = f->messages;
    assert_int_equal(lbm_outgoing_dial(f->outgoing, OTHER, f->name, NULL), LBM_OK);
    UNTIL(f, f->ups > ups);
    uint8_t *hello = hello_from(US, &len);
    send_frame(f, hello, len, 0);
    UNTIL(f, f->messages > messages);
    assert_int_equal(f->last_body, LBM__PEER__BODY_HELLO);
}

static void
frames_arrive_whole_and_in_order(void **state)
{
    struct fixture *f = *state;
    size_t small, large;
    connect_and_greet(f);
    size_t before = f->bytes;
    uint8_t *frame = entries_from(US, 3u << 20, &large);
    send_frame(f, frame, large, 0);
    frame = entries_from(US, 10, &small);
    send_frame(f, frame, small, 0);
    UNTIL(f, f->messages == 3);
    assert_int_equal(f->bytes - before, large + small);
    assert_int_equal(f->last_src, US);
    assert_int_equal(f->downs, 0);
}

static void
nothing_is_sent_where_no_connection_stands(void **state)
{
    struct fixture *f = *state;
    size_t len;
    uint8_t *frame = hello_from(US, &len);
    assert_int_equal(lbm_outgoing_connection(f->outgoing, OTHER), 0);
    assert_int_equal(lbm_outgoing_connection(f->outgoing, LBM_NONE), 0);
    send_frame(f, frame, len, 0);
    settle(f);
    assert_int_equal(f->messages, 0);
}

static void
what_was_meant_for_an_old_connection_is_dropped(void **state)
{
    struct fixture *f = *state;
    size_t len;
    connect_and_greet(f);
    uint64_t old = lbm_outgoing_connection(f->outgoing, OTHER);
    lbm_inbound_free(f->inbound);
    f->inbound = NULL;
    UNTIL(f, f->downs == 1);
    assert_int_equal(lbm_outgoing_connection(f->outgoing, OTHER), 0);
    listen_again(f);
    UNTIL(f, f->ups == 2);
    assert_int_not_equal(lbm_outgoing_connection(f->outgoing, OTHER), old);
    uint8_t *frame = entries_from(US, 10, &len);
    lbm_outgoing_send(f->outgoing, OTHER, old, frame, len, 0);
    settle(f);
    assert_int_equal(f->messages, 1);
    assert_int_equal(f->downs, 1);
    uint8_t *hello = hello_from(US, &len);
    send_frame(f, hello, len, 0);
    UNTIL(f, f->messages == 2);
}

static void
lossy_frames_wait_for_the_hello(void **state)
{
    struct fixture *f = *state;
    size_t len;
    assert_int_equal(lbm_outgoing_dial(f->outgoing, OTHER, f->name, NULL), LBM_OK);
    UNTIL(f, f->ups == 1);
    uint8_t *frame = entries_from(US, 10, &len);
    send_frame(f, frame, len, 1);
    settle(f);
    assert_int_equal(f->messages, 0);
    assert_int_equal(f->downs, 0);
}

static void
a_slow_reader_is_named_once_until_it_has_caught_up(void **state)
{
    struct fixture *f = *state;
    size_t len;
    connect_and_greet(f);
    assert_int_equal(lbm_outgoing_fell_behind(f->outgoing), LBM_NONE);
    for (int round = 1; round <= 2; round++) {
        lbm_inbound_pause(f->inbound, 1);
        int messages = f->messages;
        for (int i = 0; i < 10; i++) { /* more than kernel buffers take */
            uint8_t *frame = entries_from(US, 3u << 20, &len);
            send_frame(f, frame, len, 0);
        }
        assert_int_equal(lbm_outgoing_fell_behind(f->outgoing), OTHER);
        assert_int_equal(lbm_outgoing_fell_behind(f->outgoing), LBM_NONE);
        settle(f);
        assert_int_equal(f->caught_up, round - 1);
        lbm_inbound_pause(f->inbound, 0);
        UNTIL(f, f->messages == messages + 10);
        UNTIL(f, f->caught_up == round);
    }
    uint8_t *frame = entries_from(US, 10, &len); /* little: nobody is told */
    send_frame(f, frame, len, 0);
    assert_int_equal(lbm_outgoing_fell_behind(f->outgoing), LBM_NONE);
    settle(f);
    assert_int_equal(f->caught_up, 2);
}

static void
what_waits_for_the_disk_counts_as_unsent(void **state)
{
    struct fixture *f = *state;
    size_t len;
    connect_and_greet(f);
    uint64_t connection = lbm_outgoing_connection(f->outgoing, OTHER);
    lbm_outgoing_wait(f->outgoing, OTHER, connection, LBM_PEER_BEHIND);
    assert_int_equal(lbm_outgoing_fell_behind(f->outgoing), LBM_NONE);
    lbm_outgoing_wait(f->outgoing, OTHER, connection, 1000);
    assert_int_equal(lbm_outgoing_fell_behind(f->outgoing), OTHER);
    uint8_t *frame = entries_from(US, 10, &len); /* is written, but all the other still waits */
    send_frame(f, frame, len, 0);
    settle(f);
    assert_int_equal(f->caught_up, 0);
    lbm_outgoing_wait(f->outgoing, OTHER, connection, -(int64_t)LBM_PEER_BEHIND - 1000);
    frame = entries_from(US, 10, &len);
    send_frame(f, frame, len, 0);
    UNTIL(f, f->caught_up == 1);
    lbm_outgoing_wait(f->outgoing, OTHER, connection + 1,
                      10 * (int64_t)LBM_PEER_BEHIND); /* of no connection */
    assert_int_equal(lbm_outgoing_fell_behind(f->outgoing), LBM_NONE);
}

static void
lossy_frames_are_dropped_when_much_is_queued(void **state)
{
    struct fixture *f = *state;
    size_t len, hello_bytes;
    connect_and_greet(f);
    hello_bytes = f->bytes;
    lbm_inbound_pause(f->inbound, 1);
    /* More than kernel buffers take: what then waits here is over the bound. */
    for (int i = 0; i < 10; i++) {
        uint8_t *frame = entries_from(US, 3u << 20, &len);
        send_frame(f, frame, len, 0);
    }
    settle(f);
    uint8_t *frame = entries_from(US, 10, &len);
    send_frame(f, frame, len, 1);
    lbm_inbound_pause(f->inbound, 0);
    UNTIL(f, f->messages == 11);
    settle(f);
    assert_int_equal(f->messages, 11);
    assert_true(f->bytes - hello_bytes > 10 * (3u << 20));
    frame = entries_from(US, 10, &len);
    send_frame(f, frame, len, 1);
    UNTIL(f, f->messages == 12);
}

static void
a_connection_that_takes_nothing_is_given_up_and_made_again(void **state)
{
    struct fixture *f = *state;
    size_t len;
    connect_and_greet(f);
    lbm_inbound_pause(f->inbound, 1);
    for (size_t sent = 0; sent <= LBM_OUTGOING_QUEUE_MAX + (8 << 20); sent += len) {
        uint8_t *frame = entries_from(US, 3u << 20, &len);
        send_frame(f, frame, len, 0);
    }
    assert_int_equal(f->downs, 0); /* told by the loop, never from within a call */
    assert_int_equal(lbm_outgoing_connection(f->outgoing, OTHER), 0);
    UNTIL(f, f->downs == 1);
    lbm_inbound_pause(f->inbound, 0);
    UNTIL(f, f->ups == 2);
}

static void
a_host_that_comes_up_later_is_reached(void **state)
{
    struct fixture *f = *state;
    lbm_inbound_free(f->inbound);
    f->inbound = NULL;
    assert_int_equal(lbm_outgoing_dial(f->outgoing, OTHER, f->name, NULL), LBM_OK);
    settle(f);
    assert_int_equal(f->ups + f->downs, 0);
    listen_again(f);
    UNTIL(f, f->ups == 1);
}

static void
a_new_address_replaces_the_old(void **state)
{
    struct fixture *f = *state;
    char first[32];
    memcpy(first, f->name, sizeof first);
    connect_and_greet(f);
    lbm_inbound_free(f->inbound);
    f->inbound = NULL;
    snprintf(f->name, sizeof f->name, "127.0.0.1:%u", free_port());
    assert_int_equal(lbm_address_parse(f->name, NULL, 0, &f->address, NULL), LBM_OK);
    listen_again(f);
    assert_int_equal(lbm_outgoing_dial(f->outgoing, OTHER, f->name, NULL), LBM_OK);
    UNTIL(f, f->downs == 1 && f->ups == 2);
    assert_string_not_equal(first, f->name);
}

static void
names_are_looked_up(void **state)
{
    struct fixture *f = *state;
    char name[64];
    snprintf(name, sizeof name, "LocalHost%s", strchr(f->name, ':')); /* no number is put in its place */
    assert_int_equal(lbm_outgoing_dial(f->outgoing, OTHER, name, NULL), LBM_OK);
    UNTIL(f, f->ups == 1);
}

/* Of several addresses each is tried, and the one that answered is known and stays. */
static void
several_addresses_are_tried_in_turn(void **state)
{
    struct fixture *f = *state;
    char list[160];
    snprintf(list, sizeof list, "127.0.0.1:%u,localhost:%u,%s", free_port(), free_port(), f->name);
    assert_null(lbm_outgoing_reached(f->outgoing, OTHER));
    assert_int_equal(lbm_outgoing_dial(f->outgoing, OTHER, list, NULL), LBM_OK);
    UNTIL(f, f->ups == 1);
    assert_string_equal(lbm_outgoing_reached(f->outgoing, OTHER), f->name);
    lbm_outgoing_cut(f->outgoing, OTHER);
    UNTIL(f, f->downs == 1 && f->ups == 2);
    assert_string_equal(lbm_outgoing_reached(f->outgoing, OTHER), f->name);
}

static void
what_is_no_address_is_not_dialled(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(lbm_outgoing_dial(f->outgoing, OTHER, "nonsense", NULL), LBM_E_SYNTAX);
    assert_int_equal(lbm_outgoing_dial(f->outgoing, OTHER, "127.0.0.1:7,", NULL), LBM_E_SYNTAX);
    assert_int_equal(lbm_outgoing_dial(f->outgoing, OTHER, "127.0.0.1:7, 127.0.0.1:8", NULL), LBM_E_SYNTAX);
    assert_int_equal(lbm_outgoing_dial(f->outgoing, OTHER, "10.0.0.300:1", NULL), LBM_E_SYNTAX);
    assert_int_equal(lbm_outgoing_dial(f->outgoing, LBM_HOSTS_MAX, f->name, NULL), LBM_E_RANGE);
}

/* A host at an address that was another's is not taken for that. */
static void
another_host_at_that_address_is_not_spoken_to(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(lbm_outgoing_dial(f->outgoing, OTHER + 1, f->name, NULL), LBM_OK);
    settle(f);
    assert_int_equal(f->ups + f->downs + f->messages, 0);
    assert_int_equal(lbm_outgoing_connection(f->outgoing, OTHER + 1), 0);
}

static int
revokes_us(void *context, const struct lbm_pki_subject *subject, int64_t made_s)
{
    (void)context;
    (void)made_s;
    return subject->host == US;
}

static void
a_host_that_is_revoked_is_cut_off_and_not_let_in_again(void **state)
{
    struct fixture *f = *state;
    connect_and_greet(f);
    lbm_tls_revoked(f->other_tls, revokes_us, NULL);
    lbm_inbound_cut(f->inbound, US);
    UNTIL(f, f->downs == 1);
    int messages = f->messages;
    size_t len;
    for (int round = 0; round < 10;
         round++) { /* it believes to be connected until its certificate is looked at */
        settle(f);
        uint8_t *hello = hello_from(US, &len);
        send_frame(f, hello, len, 0);
    }
    assert_int_equal(f->messages, messages);
}

static void
a_port_in_use_is_refused(void **state)
{
    struct fixture *f = *state;
    const struct lbm_inbound_handler handler = {.context = f, .accepts = accepts, .message = on_message};
    struct lbm_inbound *second = NULL;
    struct lbm_diag diag = {0};
    assert_int_equal(lbm_inbound_new(f->base, f->other_tls, &f->address, f->name, &handler, &second, &diag),
                     LBM_E_BUSY);
    assert_string_equal(diag.where, f->name);
    assert_null(second);
}

/* ---- strangers: sockets that say what they like -------------------------------------------------------- */

/* A connection without TLS. */
static int
plain(struct fixture *f)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&f->address.storage, f->address.len), 0);
    return fd;
}

/* Whether the daemon's side has closed the connection; what is readable then is its end. An alert may come
 * first. */
static int
plain_closed(int fd)
{
    char bytes[64];
    ssize_t got;
    while ((got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        continue;
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

/* A connection with an identity, after its handshake. */
struct stranger {
    SSL *ssl;
    int fd;
};

static struct stranger
stranger(struct fixture *f)
{
    struct stranger s = {.ssl = lbm_tls_connect(f->our_tls, LBM_TLS_PEER, OTHER), .fd = plain(f)};
    int done;
    assert_non_null(s.ssl);
    evutil_make_socket_nonblocking(s.fd);
    SSL_set_fd(s.ssl, s.fd);
    while ((done = SSL_do_handshake(s.ssl)) != 1) {
        assert_int_equal(SSL_get_error(s.ssl, done), SSL_ERROR_WANT_READ);
        event_base_loop(f->base, EVLOOP_NONBLOCK);
    }
    return s;
}

static int
closed(struct stranger *s)
{
    char byte;
    int got = SSL_read(s->ssl, &byte, 1);
    return got > 0 || SSL_get_error(s->ssl, got) != SSL_ERROR_WANT_READ;
}

static void
say(struct stranger *s, const void *bytes, size_t len)
{
    assert_int_equal(SSL_write(s->ssl, bytes, (int)len), (int)len);
}

static void
hang_up(struct stranger *s)
{
    SSL_free(s->ssl);
    close(s->fd);
}

static void
what_speaks_no_tls_is_closed(void **state)
{
    static const char http[] = "GET / HTTP/1.1\r\n\r\n";
    struct fixture *f = *state;
    size_t len;
    uint8_t *hello = hello_from(US, &len);
    const struct {
        const void *bytes;
        size_t len;
    } openings[] = {{http, sizeof http - 1}, {hello, len}, {"\x16\x03\x01\xff\xff", 5}, {"\0\0\0\0", 4}};
    for (size_t i = 0; i < sizeof openings / sizeof openings[0]; i++) {
        int fd = plain(f);
        assert_int_equal(send(fd, openings[i].bytes, openings[i].len, MSG_NOSIGNAL),
                         (ssize_t)openings[i].len);
        shutdown(fd, SHUT_WR);
        UNTIL(f, plain_closed(fd));
        close(fd);
    }
    assert_int_equal(f->messages, 0);
    free(hello);
}

static void
what_does_not_begin_with_a_hello_is_closed(void **state)
{
    static const uint8_t zero[] = {0, 0, 0, 0}, huge[] = {0xff, 0xff, 0xff, 0xff};
    static const uint8_t beyond_hello[] = {0x01, 0x10, 0, 0}; /* 4097 */
    static const uint8_t garbage[] = {3, 0, 0, 0, 0xff, 0xff, 0xff};
    static const char http[] = "GET / HTTP/1.1\r\n\r\n";
    struct fixture *f = *state;
    size_t other_len, alien_len;
    uint8_t *other = entries_from(US, 10, &other_len), *alien = hello_from(LBM_HOSTS_MAX, &alien_len);
    const struct {
        const void *bytes;
        size_t len;
    } openings[] = {
        {zero, sizeof zero},       {huge, sizeof huge},     {beyond_hello, sizeof beyond_hello},
        {garbage, sizeof garbage}, {http, sizeof http - 1}, {other, other_len},
        {alien, alien_len},
    };
    for (size_t i = 0; i < sizeof openings / sizeof openings[0]; i++) {
        struct stranger s = stranger(f);
        say(&s, openings[i].bytes, openings[i].len);
        UNTIL(f, closed(&s));
        hang_up(&s);
    }
    assert_int_equal(f->messages, 0);
    free(other);
    free(alien);
}

static void
a_hello_in_single_bytes_is_taken(void **state)
{
    struct fixture *f = *state;
    size_t len;
    uint8_t *hello = hello_from(US, &len);
    struct stranger s = stranger(f);
    for (size_t i = 0; i < len; i++) {
        assert_int_equal(f->messages, 0);
        say(&s, hello + i, 1);
        event_base_loop(f->base, EVLOOP_NONBLOCK);
    }
    UNTIL(f, f->messages == 1);
    free(hello);
    hang_up(&s);
}

static void
a_connection_speaks_for_one_host(void **state)
{
    struct fixture *f = *state;
    size_t hello_len, len;
    uint8_t *hello = hello_from(US, &hello_len), *frame = entries_from(US + 1, 10, &len);
    struct stranger s = stranger(f);
    say(&s, hello, hello_len);
    say(&s, frame, len);
    UNTIL(f, closed(&s));
    assert_int_equal(f->messages, 1);
    hang_up(&s);
    free(hello);
    free(frame);
}

static void
a_host_that_connects_again_replaces_its_old_connection(void **state)
{
    struct fixture *f = *state;
    size_t len;
    uint8_t *hello = hello_from(US, &len);
    struct stranger first = stranger(f), second = stranger(f);
    say(&first, hello, len);
    UNTIL(f, f->messages == 1);
    say(&second, hello, len);
    UNTIL(f, closed(&first));
    assert_int_equal(f->messages, 2);
    assert_false(closed(&second));
    free(hello);
    hang_up(&first);
    hang_up(&second);
}

static void
a_hello_for_somebody_else_replaces_nobody(void **state)
{
    struct fixture *f = *state;
    size_t len, astray_len;
    uint8_t *hello = hello_from(US, &len), *astray = hello_between(US, OTHER + 1, &astray_len);
    struct stranger first = stranger(f), second = stranger(f);
    say(&first, hello, len);
    UNTIL(f, f->messages == 1);
    say(&second, astray, astray_len);
    UNTIL(f, closed(&second));
    assert_false(closed(&first));
    assert_int_equal(f->messages, 1);
    free(hello);
    free(astray);
    hang_up(&first);
    hang_up(&second);
}

static void
unreachable_strangers_give_way(void **state)
{
    struct fixture *f = *state;
    int fds[80];
    size_t len;
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        fds[i] = plain(f);
        event_base_loop(f->base, EVLOOP_NONBLOCK);
    }
    UNTIL(f, plain_closed(fds[0]) && plain_closed(fds[15]));
    assert_false(plain_closed(fds[79]));
    uint8_t *hello = hello_from(US, &len);
    struct stranger s = stranger(f);
    say(&s, hello, len);
    UNTIL(f, f->messages == 1);
    free(hello);
    hang_up(&s);
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        close(fds[i]);
}

/* What does not speak TLS is not taken for a host, whatever it says. */
static void
what_answers_a_peer_is_no_peer(void **state)
{
    struct fixture *f = *state;
    lbm_inbound_free(f->inbound);
    f->inbound = NULL;
    int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&f->address.storage, f->address.len), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(lbm_outgoing_dial(f->outgoing, OTHER, f->name, NULL), LBM_OK);
    settle(f);
    int fd = accept(listener, NULL, NULL);
    assert_true(fd >= 0);
    assert_int_equal(send(fd, "220 ready\r\n", 11, MSG_NOSIGNAL), 11);
    settle(f);
    assert_int_equal(f->ups + f->downs, 0);
    close(fd);
    close(listener);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(frames_arrive_whole_and_in_order),
        TEST(nothing_is_sent_where_no_connection_stands),
        TEST(what_was_meant_for_an_old_connection_is_dropped),
        TEST(lossy_frames_wait_for_the_hello),
        TEST(a_slow_reader_is_named_once_until_it_has_caught_up),
        TEST(what_waits_for_the_disk_counts_as_unsent),
        TEST(lossy_frames_are_dropped_when_much_is_queued),
        TEST(a_connection_that_takes_nothing_is_given_up_and_made_again),
        TEST(a_host_that_comes_up_later_is_reached),
        TEST(a_new_address_replaces_the_old),
        TEST(names_are_looked_up),
        TEST(several_addresses_are_tried_in_turn),
        TEST(what_is_no_address_is_not_dialled),
        TEST(another_host_at_that_address_is_not_spoken_to),
        TEST(a_host_that_is_revoked_is_cut_off_and_not_let_in_again),
        TEST(what_speaks_no_tls_is_closed),
        TEST(a_port_in_use_is_refused),
        TEST(what_does_not_begin_with_a_hello_is_closed),
        TEST(a_hello_in_single_bytes_is_taken),
        TEST(a_connection_speaks_for_one_host),
        TEST(a_host_that_connects_again_replaces_its_old_connection),
        TEST(a_hello_for_somebody_else_replaces_nobody),
        TEST(unreachable_strangers_give_way),
        TEST(what_answers_a_peer_is_no_peer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
