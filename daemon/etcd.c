/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/etcd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "daemon/etcd_message.h"
#include "daemon/http.h"
#include "daemon/log.h"

enum {
    ASK_MS = 3000,   /* for one answer; an election takes about one second */
    READ_MS = 5000,  /* between reads while a watch stands: a watch that died in silence is noticed */
    RETRY_MS = 1000, /* after all members have failed */
    SWITCH_MS = 50,  /* before the next member is tried */
    UNAUTHENTICATED = 16,
};

struct lbm_etcd {
    struct lbm_etcd_config config;
    struct lbm_etcd_handler handler;
    struct lbm_http *http;
    size_t endpoint;   /* the member that is asked */
    uint32_t failures; /* in a row */
    char *password, *token;

    struct lbm_http_request *login, *read, *watch, *append, *compact;
    uint64_t append_index;

    uint64_t next; /* index wanted; 0: nobody follows */
    int caught_up;
    struct event *again;              /* read */
    struct event *arrived;            /* entries of the watch wait: */
    struct lbm_etcd_entries incoming; /* outside of libcurl they may be given on */
};

/* ---- asking -------------------------------------------------------------------------------------------- */

static void
cancel(struct lbm_http_request **request)
{
    if (*request != NULL)
        lbm_http_cancel(*request);
    *request = NULL;
}

static void
read_after(struct lbm_etcd *etcd, long ms)
{
    const struct timeval after = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    if (etcd->next != 0)
        event_add(etcd->again, &after);
}

/* Send a body, which is taken, to the member of the hour. Value: the request, or NULL. */
static struct lbm_http_request *
ask(struct lbm_etcd *etcd, const char *path, char *body, const struct lbm_http_ask *how)
{
    struct lbm_http_request *request = NULL;
    struct lbm_http_ask whole = *how;
    char url[LBM_ETCD_URL_MAX + 32];
    snprintf(url, sizeof url, "%s%s", etcd->config.endpoint[etcd->endpoint], path);
    whole.url = url;
    whole.body = body;
    whole.token = etcd->token;
    whole.context = etcd;
    if (body == NULL || lbm_http_post(etcd->http, &whole, &request) != LBM_OK) {
        lbm_log(LBM_NOTE_ERROR, "out of memory");
        request = NULL;
        read_after(etcd, RETRY_MS);
    }
    free(body);
    return request;
}

/* The member did not do what it was asked for: the next one is asked from now on. */
static void
member_failed(struct lbm_etcd *etcd, const char *why)
{
    const char *member = etcd->config.endpoint[etcd->endpoint];
    etcd->failures++;
    if (etcd->failures <= etcd->config.n_endpoints)
        lbm_log(LBM_NOTE_INFO, "etcd at %s: %s", member, why);
    if (etcd->failures == etcd->config.n_endpoints)
        lbm_log(LBM_NOTE_WARNING,
                "no member of etcd takes part: members and jobs stay as they are meanwhile");
    etcd->endpoint = (etcd->endpoint + 1) % etcd->config.n_endpoints;
    cancel(&etcd->watch);
    cancel(&etcd->read);
    read_after(etcd, etcd->failures < etcd->config.n_endpoints ? SWITCH_MS : RETRY_MS);
}

static void
member_answered(struct lbm_etcd *etcd)
{
    if (etcd->failures >= etcd->config.n_endpoints)
        lbm_log(LBM_NOTE_INFO, "etcd at %s answers again", etcd->config.endpoint[etcd->endpoint]);
    etcd->failures = 0;
}

/* Nonzero if this is an answer to be read; else what follows from it has been done. */
static int
is_good(struct lbm_etcd *etcd, const struct lbm_http_answer *answer)
{
    char message[200];
    int code;
    if (answer->status == 200)
        return 1;
    if (answer->status == 0) {
        member_failed(etcd, answer->failure);
        return 0;
    }
    lbm_etcd_read_error(answer->body, answer->len, &code, message, sizeof message);
    if (code == UNAUTHENTICATED || answer->status == 401) {
        free(etcd->token); /* it lasts some minutes, and ends with the member that gave it */
        etcd->token = NULL;
    }
    member_failed(etcd, message);
    return 0;
}

/* ---- logging in ---------------------------------------------------------------------------------------- */

static void
on_login(void *context, const struct lbm_http_answer *answer)
{
    struct lbm_etcd *etcd = context;
    etcd->login = NULL;
    if (!is_good(etcd, answer))
        return;
    if (lbm_etcd_read_login(answer->body, answer->len, &etcd->token) != LBM_OK)
        member_failed(etcd, "it gives no token");
    else
        read_after(etcd, 0);
}

/* Nonzero if requests may be sent; else a login is under way. */
static int
is_logged_in(struct lbm_etcd *etcd)
{
    const struct lbm_http_ask how = {.timeout_ms = ASK_MS, .done = on_login};
    if (etcd->config.user[0] == '\0' || etcd->token != NULL)
        return 1;
    if (etcd->login == NULL)
        etcd->login =
            ask(etcd, "/v3/auth/authenticate", lbm_etcd_login_body(etcd->config.user, etcd->password), &how);
    return 0;
}

/* ---- watching ------------------------------------------------------------------------------------------ */

static size_t
on_watch_data(void *context, const char *bytes, size_t len)
{
    struct lbm_etcd *etcd = context;
    const char *line = bytes, *end;
    while ((end = memchr(line, '\n', len - (size_t)(line - bytes))) != NULL) {
        struct lbm_etcd_entries entries = {0};
        if (lbm_etcd_read_watch(line, (size_t)(end - line), &entries) != LBM_OK)
            entries.over = 1;
        for (size_t i = 0; i < entries.list.n; i++)
            if (lbm_vec_push(&etcd->incoming.list, entries.list.at[i]) == LBM_OK)
                entries.list.at[i].value = NULL;
            else
                entries.over = 1;
        etcd->incoming.over |= entries.over;
        lbm_etcd_entries_free(&entries);
        line = end + 1;
    }
    if (etcd->incoming.list.n != 0 || etcd->incoming.over)
        event_active(etcd->arrived, 0, 0);
    return (size_t)(line - bytes);
}

static void
on_watch_done(void *context, const struct lbm_http_answer *answer)
{
    struct lbm_etcd *etcd = context;
    etcd->watch = NULL;
    if (is_good(etcd, answer))
        read_after(etcd, SWITCH_MS);
}

/* Give entries from `next` on to the handler, the last thing a function does. Value: those that fitted. */
static size_t
deliver(struct lbm_etcd *etcd, const struct lbm_etcd_entries *entries, int caught_up)
{
    uint64_t from = etcd->next;
    size_t n = 0;
    struct lbm_bytes *command = lbm_alloc(entries->list.n, sizeof *command);
    if (command == NULL) {
        read_after(etcd, RETRY_MS);
        return 0;
    }
    for (size_t i = 0; i < entries->list.n; i++)
        if (entries->list.at[i].index == from + n)
            command[n++] = (struct lbm_bytes){entries->list.at[i].value, entries->list.at[i].len};
    etcd->next += n;
    if (n != 0 || (caught_up && !etcd->caught_up)) {
        etcd->caught_up |= caught_up;
        etcd->handler.entries(etcd->handler.context, from, command, n, caught_up);
    }
    free(command);
    return n;
}

static void
on_arrived(evutil_socket_t fd, short what, void *context)
{
    struct lbm_etcd *etcd = context;
    struct lbm_etcd_entries entries = etcd->incoming;
    (void)fd;
    (void)what;
    etcd->incoming = (struct lbm_etcd_entries){0};
    size_t n = entries.list.n;
    int gap = n != 0 && entries.list.at[n - 1].index >= etcd->next + n;
    if (entries.over || gap) {
        cancel(&etcd->watch);
        read_after(etcd, 0);
    }
    (void)deliver(etcd, &entries, 1);
    lbm_etcd_entries_free(&entries);
}

static void
watch(struct lbm_etcd *etcd, int64_t revision)
{
    const struct lbm_http_ask how = {.data = on_watch_data, .done = on_watch_done};
    if (etcd->watch == NULL)
        etcd->watch =
            ask(etcd, "/v3/watch", lbm_etcd_watch_body(etcd->config.prefix, etcd->next, revision + 1), &how);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static void
on_snapshot(void *context, const struct lbm_http_answer *answer)
{
    struct lbm_etcd *etcd = context;
    struct lbm_etcd_entry snapshot;
    etcd->read = NULL;
    if (!is_good(etcd, answer))
        return;
    if (lbm_etcd_read_snapshot(answer->body, answer->len, &snapshot) != LBM_OK ||
        snapshot.index < etcd->next) {
        lbm_log(LBM_NOTE_ERROR, "etcd: entries below %s/log are missing and no snapshot is there instead",
                etcd->config.prefix);
        read_after(etcd, READ_MS);
        return;
    }
    const struct lbm_bytes view = {snapshot.value, snapshot.len};
    read_after(etcd, 0);
    etcd->next = snapshot.index + 1;
    etcd->handler.snapshot(etcd->handler.context, snapshot.index, &view);
    free(snapshot.value);
}

static void
on_read(void *context, const struct lbm_http_answer *answer)
{
    const struct lbm_http_ask how = {.timeout_ms = ASK_MS, .done = on_snapshot};
    struct lbm_etcd *etcd = context;
    struct lbm_etcd_entries entries;
    etcd->read = NULL;
    if (!is_good(etcd, answer))
        return;
    if (lbm_etcd_read_entries(answer->body, answer->len, &entries) != LBM_OK) {
        member_failed(etcd, "it does not answer like etcd");
        return;
    }
    member_answered(etcd);
    if (entries.list.n != 0 && entries.list.at[0].index > etcd->next) {
        etcd->read = ask(etcd, "/v3/kv/range", lbm_etcd_snapshot_body(etcd->config.prefix), &how);
    } else {
        int more = entries.more;
        read_after(etcd, more ? 0 : READ_MS);
        if (!more)
            watch(etcd, entries.revision);
        (void)deliver(etcd, &entries, !more);
    }
    lbm_etcd_entries_free(&entries);
}

static void
on_again(evutil_socket_t fd, short what, void *context)
{
    const struct lbm_http_ask how = {.timeout_ms = ASK_MS, .done = on_read};
    struct lbm_etcd *etcd = context;
    (void)fd;
    (void)what;
    if (etcd->read == NULL && is_logged_in(etcd))
        etcd->read = ask(etcd, "/v3/kv/range", lbm_etcd_read_body(etcd->config.prefix, etcd->next), &how);
}

void
lbm_etcd_follow(struct lbm_etcd *etcd, uint64_t from)
{
    LBM_ASSERT(from != 0);
    cancel(&etcd->read);
    cancel(&etcd->watch);
    lbm_etcd_entries_free(&etcd->incoming);
    etcd->next = from;
    etcd->caught_up = 0;
    read_after(etcd, 0);
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static void
on_append(void *context, const struct lbm_http_answer *answer)
{
    struct lbm_etcd *etcd = context;
    int taken = 0;
    enum lbm_log_result result = LBM_LOG_UNKNOWN;
    etcd->append = NULL;
    if (is_good(etcd, answer) && lbm_etcd_read_append(answer->body, answer->len, &taken) == LBM_OK)
        result = taken ? LBM_LOG_TAKEN : LBM_LOG_CONFLICT;
    if (result == LBM_LOG_CONFLICT)
        read_after(etcd, 0); /* what is there instead */
    etcd->handler.result(etcd->handler.context, etcd->append_index, result);
}

/* Without a login the answer is that nobody knows: the node tries again. */
void
lbm_etcd_append(struct lbm_etcd *etcd, uint64_t index, const struct lbm_bytes *command)
{
    const struct lbm_http_ask how = {.timeout_ms = ASK_MS, .done = on_append};
    cancel(&etcd->append);
    etcd->append_index = index;
    etcd->append = ask(etcd, "/v3/kv/txn",
                       lbm_etcd_append_body(etcd->config.prefix, index, command->at, command->len), &how);
}

static void
on_compact(void *context, const struct lbm_http_answer *answer)
{
    struct lbm_etcd *etcd = context;
    etcd->compact = NULL;
    if (is_good(etcd, answer))
        lbm_log(LBM_NOTE_INFO, "the control log in etcd begins at a snapshot");
}

/* One that fails is not repeated: the next snapshot takes its place. */
void
lbm_etcd_compact(struct lbm_etcd *etcd, uint64_t index, const struct lbm_bytes *view)
{
    const struct lbm_http_ask how = {.timeout_ms = ASK_MS, .done = on_compact};
    cancel(&etcd->compact);
    etcd->compact =
        ask(etcd, "/v3/kv/txn", lbm_etcd_compact_body(etcd->config.prefix, index, view->at, view->len), &how);
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static enum lbm_err
read_password(struct lbm_etcd *etcd, struct lbm_diag *diag)
{
    char line[LBM_ETCD_TEXT_MAX + 2] = "";
    const char *path = etcd->config.password_file;
    if (etcd->config.user[0] == '\0')
        return LBM_OK;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return lbm_diag_set(diag, LBM_E_IO, path, 0, "the password cannot be read: %s", strerror(errno));
    if (fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    if (line[0] == '\0')
        return lbm_diag_set(diag, LBM_E_IO, path, 0, "there is no password in it");
    etcd->password = lbm_copy(line, strlen(line) + 1, 1);
    return etcd->password != NULL ? LBM_OK : LBM_E_NOMEM;
}

enum lbm_err
lbm_etcd_new(struct event_base *base, const struct lbm_etcd_config *config,
             const struct lbm_etcd_handler *handler, struct lbm_etcd **out, struct lbm_diag *diag)
{
    const struct lbm_http_tls tls = {.ca = config->ca, .cert = config->cert, .key = config->key};
    struct lbm_etcd *etcd = lbm_alloc(1, sizeof *etcd);
    LBM_ASSERT(config->n_endpoints >= 1);
    if (etcd == NULL)
        return LBM_E_NOMEM;
    etcd->config = *config;
    etcd->handler = *handler;
    etcd->again = evtimer_new(base, on_again, etcd);
    etcd->arrived = event_new(base, -1, 0, on_arrived, etcd);
    enum lbm_err err = etcd->again != NULL && etcd->arrived != NULL ? read_password(etcd, diag) : LBM_E_NOMEM;
    if (err == LBM_OK)
        err = lbm_http_new(base, &tls, &etcd->http, diag);
    if (err == LBM_OK)
        *out = etcd;
    else
        lbm_etcd_free(etcd);
    return err;
}

void
lbm_etcd_free(struct lbm_etcd *etcd)
{
    if (etcd == NULL)
        return;
    lbm_http_free(etcd->http);
    if (etcd->again != NULL)
        event_free(etcd->again);
    if (etcd->arrived != NULL)
        event_free(etcd->arrived);
    lbm_etcd_entries_free(&etcd->incoming);
    free(etcd->password);
    free(etcd->token);
    free(etcd);
}
