/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which member of an ensemble the client of etcd asks: members that the test plays, at real sockets, since a
 * real one cannot be told to answer late. tests/cluster/etcd.sh has a real ensemble. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include <cmocka.h>
#include <event2/buffer.h>
#include <event2/http.h>

#include "daemon/etcd.h"
#include "tests/unit/daemon/wait_bounds.h"

enum { MEMBERS = 2 };

struct member {
    struct evhttp *http;
    struct evhttp_request *watch, *change; /* held until the test answers */
    unsigned reads, changes;
};

struct fixture {
    struct event_base *base;
    struct member member[MEMBERS];
    char endpoint[MEMBERS][LBM_ETCD_URL_MAX + 1];
    struct lbm_etcd *etcd;
    unsigned results;
    enum lbm_log_result result;
    int caught_up;
};

/* ---- a member ------------------------------------------------------------------------------------------ */

static void
answer(struct evhttp_request **held, int status, const char *body)
{
    struct evhttp_request *request = *held;
    assert_non_null(request);
    *held = NULL;
    evbuffer_add_printf(evhttp_request_get_output_buffer(request), "%s", body);
    evhttp_send_reply(request, status, NULL, NULL);
}

static void
on_read(struct evhttp_request *request, void *context)
{
    struct member *member = context;
    member->reads++;
    answer(&request, 200, "{\"header\":{\"revision\":\"7\"}}");
}

static void
on_watch(struct evhttp_request *request, void *context)
{
    struct member *member = context;
    member->watch = request;
}

static void
on_change(struct evhttp_request *request, void *context)
{
    struct member *member = context;
    member->changes++;
    member->change = request;
}

static void
begin_member(struct fixture *f, size_t at)
{
    struct member *member = &f->member[at];
    struct evhttp_bound_socket *bound;
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    member->http = evhttp_new(f->base);
    assert_non_null(member->http);
    bound = evhttp_bind_socket_with_handle(member->http, "127.0.0.1", 0);
    assert_non_null(bound);
    assert_int_equal(getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&address, &len), 0);
    snprintf(f->endpoint[at], sizeof f->endpoint[at], "http://127.0.0.1:%u", ntohs(address.sin_port));
    evhttp_set_cb(member->http, "/v3/kv/range", on_read, member);
    evhttp_set_cb(member->http, "/v3/watch", on_watch, member);
    evhttp_set_cb(member->http, "/v3/kv/txn", on_change, member);
}

/* ---- the client ---------------------------------------------------------------------------------------- */

static void
take_result(void *context, uint64_t index, enum lbm_log_result result)
{
    struct fixture *f = context;
    (void)index;
    f->results++;
    f->result = result;
}

static void
take_entries(void *context, uint64_t from, const struct lbm_bytes *command, size_t n, int caught_up)
{
    struct fixture *f = context;
    (void)from;
    (void)command;
    assert_int_equal(n, 0);
    f->caught_up |= caught_up;
}

static int
begin(void **state)
{
    static struct fixture fixture;
    struct fixture *f = &fixture;
    struct lbm_diag diag = {0};
    *f = (struct fixture){.base = event_base_new()};
    for (size_t i = 0; i < MEMBERS; i++)
        begin_member(f, i);
    const struct lbm_etcd_config config = {.endpoint = (const char(*)[LBM_ETCD_URL_MAX + 1]) f->endpoint,
                                           .n_endpoints = MEMBERS,
                                           .prefix = "/lbmap",
                                           .ca = "",
                                           .cert = "",
                                           .key = "",
                                           .user = "",
                                           .password_file = ""};
    const struct lbm_etcd_handler handler = {.context = f, .result = take_result, .entries = take_entries};
    assert_int_equal(lbm_etcd_new(f->base, &config, &handler, &f->etcd, &diag), LBM_OK);
    lbm_etcd_follow(f->etcd, 1);
    UNTIL(f, f->member[0].watch != NULL);
    assert_true(f->caught_up);
    *state = f;
    return 0;
}

static int
end(void **state)
{
    struct fixture *f = *state;
    lbm_etcd_free(f->etcd);
    for (size_t i = 0; i < MEMBERS; i++)
        evhttp_free(f->member[i].http);
    event_base_free(f->base);
    return 0;
}

static void
append(struct fixture *f)
{
    uint8_t bytes[] = {'x'};
    const struct lbm_bytes command = {bytes, sizeof bytes};
    lbm_etcd_append(f->etcd, 1, &command);
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static void
who_fails_is_left(void **state)
{
    struct fixture *f = *state;
    append(f);
    UNTIL(f, f->member[0].change != NULL);
    answer(&f->member[0].change, 503, "{\"code\":14,\"message\":\"no leader\"}");
    UNTIL(f, f->results == 1);
    assert_int_equal(f->result, LBM_LOG_UNKNOWN);
    UNTIL(f, f->member[1].watch != NULL);
    append(f);
    UNTIL(f, f->member[1].change != NULL);
    answer(&f->member[1].change, 200, "{\"header\":{},\"succeeded\":true}");
    UNTIL(f, f->results == 2);
    assert_int_equal(f->result, LBM_LOG_TAKEN);
    assert_int_equal(f->member[0].changes, 1);
}

/* What one says that was left before counts against nobody. */
static void
a_late_answer_is_not_its_successors(void **state)
{
    struct fixture *f = *state;
    append(f);
    UNTIL(f, f->member[0].change != NULL);
    answer(&f->member[0].watch, 503, "{\"code\":14,\"message\":\"no leader\"}");
    UNTIL(f, f->member[1].watch != NULL);
    answer(&f->member[0].change, 503, "{\"code\":14,\"message\":\"no leader\"}");
    UNTIL(f, f->results == 1);
    assert_int_equal(f->result, LBM_LOG_UNKNOWN);
    append(f);
    UNTIL(f, f->member[0].change != NULL || f->member[1].change != NULL);
    assert_int_equal(f->member[0].changes, 1);
    assert_int_equal(f->member[1].changes, 1);
}

/* No other member would take it either. */
static void
who_refuses_a_snapshot_stays(void **state)
{
    struct fixture *f = *state;
    uint8_t bytes[] = {'v', 'i', 'e', 'w'};
    const struct lbm_bytes view = {bytes, sizeof bytes};
    lbm_etcd_compact(f->etcd, 1, &view);
    UNTIL(f, f->member[0].change != NULL);
    answer(&f->member[0].change, 400, "{\"code\":3,\"message\":\"request is too large\"}");
    const struct timeval several_switches = {.tv_usec = 300000};
    event_base_loopexit(f->base, &several_switches);
    event_base_dispatch(f->base);
    assert_int_equal(f->member[1].reads, 0);
    append(f);
    UNTIL(f, f->member[0].changes + f->member[1].changes == 2);
    assert_int_equal(f->member[0].changes, 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_fails_is_left, begin, end),
        cmocka_unit_test_setup_teardown(a_late_answer_is_not_its_successors, begin, end),
        cmocka_unit_test_setup_teardown(who_refuses_a_snapshot_stays, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
