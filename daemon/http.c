/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/http.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum { CONNECT_MS = 2000, KEEPALIVE_S = 3 };

struct lbm_http_request {
    struct lbm_http *http;
    struct lbm_http_request *next;
    CURL *easy;
    struct curl_slist *headers;
    char failure[CURL_ERROR_SIZE];
    LBM_VEC(char) body;
    struct lbm_http_ask ask;
    int cancelled; /* freed once libcurl is not in the middle of it */
};

struct lbm_http {
    struct event_base *base;
    struct event *timer;
    struct lbm_http_tls tls;
    CURLM *multi;
    struct lbm_http_request *requests;
    int inside; /* nonzero: libcurl is calling back, or `done` is */
};

static void
request_free(struct lbm_http_request *request)
{
    struct lbm_http_request **at = &request->http->requests;
    while (*at != NULL && *at != request)
        at = &(*at)->next;
    if (*at == request)
        *at = request->next;
    if (request->easy != NULL) {
        curl_multi_remove_handle(request->http->multi, request->easy);
        curl_easy_cleanup(request->easy);
    }
    curl_slist_free_all(request->headers);
    lbm_vec_free(&request->body);
    free(request);
}

/* ---- libcurl and libevent ------------------------------------------------------------------------------ */

/* Requests that have ended say so; cancelled ones go. */
static void
reap(struct lbm_http *http)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(http->multi, &left)) != NULL) {
        struct lbm_http_request *request;
        struct lbm_http_answer answer = {0};
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &request);
        curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &answer.status);
        if (code != CURLE_OK) {
            answer.status = 0;
            answer.failure = request->failure[0] != '\0' ? request->failure : curl_easy_strerror(code);
        }
        answer.body = request->body.at != NULL ? request->body.at : "";
        answer.len = request->body.n;
        if (!request->cancelled)
            request->ask.done(request->ask.context, &answer);
        request_free(request);
    }
    for (struct lbm_http_request *request = http->requests, *next; request != NULL; request = next) {
        next = request->next;
        if (request->cancelled)
            request_free(request);
    }
}

static void
drive(struct lbm_http *http, curl_socket_t fd, int what)
{
    int running;
    http->inside++;
    curl_multi_socket_action(http->multi, fd, what, &running);
    reap(http);
    http->inside--;
}

static void
on_timer(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    drive(context, CURL_SOCKET_TIMEOUT, 0);
}

static void
on_socket(evutil_socket_t fd, short what, void *context)
{
    drive(context, fd,
          ((what & EV_READ) != 0 ? CURL_CSELECT_IN : 0) | ((what & EV_WRITE) != 0 ? CURL_CSELECT_OUT : 0));
}

static int
set_timer(CURLM *multi, long ms, void *context)
{
    struct lbm_http *http = context;
    const struct timeval after = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    (void)multi;
    if (ms < 0)
        event_del(http->timer);
    else
        event_add(http->timer, &after);
    return 0;
}

/* Watch a socket as libcurl wants it; event is the one of before, or NULL. */
static int
set_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *event)
{
    struct lbm_http *http = context;
    (void)easy;
    if (event != NULL)
        event_free(event);
    if (what == CURL_POLL_REMOVE) {
        curl_multi_assign(http->multi, fd, NULL);
        return 0;
    }
    short wanted = (short)(((what & CURL_POLL_IN) != 0 ? EV_READ : 0) |
                           ((what & CURL_POLL_OUT) != 0 ? EV_WRITE : 0) | EV_PERSIST);
    event = event_new(http->base, fd, wanted, on_socket, http);
    curl_multi_assign(http->multi, fd, event);
    return event != NULL && event_add(event, NULL) == 0 ? 0 : -1;
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static size_t
take(char *bytes, size_t size, size_t n, void *context)
{
    struct lbm_http_request *request = context;
    size_t len = size * n;
    long status = 0;
    if (request->cancelled || request->body.n + len > LBM_HTTP_ANSWER_MAX ||
        lbm_vec_reserve(&request->body, len) != LBM_OK)
        return 0; /* the transfer fails */
    memcpy(request->body.at + request->body.n, bytes, len);
    request->body.n += len;
    curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
    if (request->ask.data == NULL || status != 200)
        return len;
    size_t taken = request->ask.data(request->ask.context, request->body.at, request->body.n);
    LBM_ASSERT(taken <= request->body.n);
    memmove(request->body.at, request->body.at + taken, request->body.n - taken);
    request->body.n -= taken;
    return len;
}

static enum lbm_err
add_header(struct lbm_http_request *request, const char *name, const char *value)
{
    struct lbm_buf line = {0};
    lbm_buf_printf(&line, "%s: %s", name, value);
    struct curl_slist *longer = line.failed ? NULL : curl_slist_append(request->headers, line.at);
    lbm_buf_free(&line);
    if (longer == NULL)
        return LBM_E_NOMEM;
    request->headers = longer;
    return LBM_OK;
}

static void
set_options(struct lbm_http_request *request)
{
    const struct lbm_http_tls *tls = &request->http->tls;
    const struct lbm_http_ask *ask = &request->ask;
    CURL *easy = request->easy;
    curl_easy_setopt(easy, CURLOPT_URL, ask->url);
    if (ask->socket != NULL)
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, ask->socket);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, request->headers);
    curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, ask->body);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, ask->timeout_ms);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_S);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_S);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, request->failure);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, request);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, request);
    if (tls->ca[0] != '\0')
        curl_easy_setopt(easy, CURLOPT_CAINFO, tls->ca);
    if (tls->cert[0] != '\0') {
        curl_easy_setopt(easy, CURLOPT_SSLCERT, tls->cert);
        curl_easy_setopt(easy, CURLOPT_SSLKEY, tls->key);
    }
}

enum lbm_err
lbm_http_post(struct lbm_http *http, const struct lbm_http_ask *ask, struct lbm_http_request **out)
{
    struct lbm_http_request *request = lbm_alloc(1, sizeof *request);
    if (request == NULL)
        return LBM_E_NOMEM;
    request->http = http;
    request->ask = *ask;
    request->easy = curl_easy_init();
    enum lbm_err err = request->easy != NULL ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK)
        err = add_header(request, "Content-Type", "application/json");
    if (err == LBM_OK && ask->token != NULL)
        err = add_header(request, "Authorization", ask->token);
    if (err == LBM_OK) {
        set_options(request);
        err = curl_multi_add_handle(http->multi, request->easy) == CURLM_OK ? LBM_OK : LBM_E_NOMEM;
    }
    if (err != LBM_OK) {
        request_free(request);
        return err;
    }
    request->ask.url = request->ask.socket = request->ask.body = request->ask.token =
        NULL; /* libcurl has copied them */
    request->next = http->requests;
    http->requests = request;
    *out = request;
    return LBM_OK;
}

void
lbm_http_cancel(struct lbm_http_request *request)
{
    request->cancelled = 1;
    if (!request->http->inside)
        request_free(request);
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

enum lbm_err
lbm_http_new(struct event_base *base, const struct lbm_http_tls *tls, struct lbm_http **out,
             struct lbm_diag *diag)
{
    struct lbm_http *http = lbm_alloc(1, sizeof *http);
    if (http == NULL)
        return LBM_E_NOMEM;
    http->base = base;
    http->tls = *tls;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    http->timer = evtimer_new(base, on_timer, http);
    http->multi = curl_multi_init();
    if (http->timer == NULL || http->multi == NULL) {
        lbm_http_free(http);
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    }
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, set_socket);
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    *out = http;
    return LBM_OK;
}

void
lbm_http_free(struct lbm_http *http)
{
    if (http == NULL)
        return;
    while (http->requests != NULL)
        request_free(http->requests);
    if (http->multi != NULL)
        curl_multi_cleanup(http->multi);
    if (http->timer != NULL)
        event_free(http->timer);
    curl_global_cleanup();
    free(http);
}
