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
    REFUSAL_MAX = 200, /* bytes of what etcd says */
    OLD_READS = 3,     /* without what was there before, and etcd is taken for an older copy */
};

/* A request in progress, and whom it went to: an answer may come when another member is asked. */
struct errand {
    struct lbm_http_request *request; /* NULL: none */
    size_t endpoint;
};

struct lbm_etcd {
    struct lbm_etcd_config config;
    struct lbm_etcd_handler handler;
    struct lbm_http *http;
    size_t endpoint;   /* the member that is asked */
    uint32_t failures; /* in a row */
    char *password, *token;

    struct errand login, read, watch, append, compact, begin;
    uint64_t begin_index; /* 0: the log has begun */
    struct lbm_bytes first;
    struct lbm_bytes view; /* that is put in parts, of this index, from this one on: */
    uint64_t view_index, view_part;
    LBM_VEC(uint8_t) parts; /* of a snapshot that is read */
    uint64_t parts_index, n_parts, next_part;
    unsigned n_old; /* reads in a row that had nothing of what was read before */
    uint64_t append_index;

    uint64_t next; /* index wanted; 0: nobody follows */
    int caught_up;
    struct event *again;              /* read */
    struct event *arrived;            /* entries of the watch wait: */
    struct lbm_etcd_entries incoming; /* outside of libcurl they may be given on */
};

/* ---- asking -------------------------------------------------------------------------------------------- */

static void
cancel(struct errand *errand)
{
    if (errand->request != NULL)
        lbm_http_cancel(errand->request);
    errand->request = NULL;
}

static void
read_after(struct lbm_etcd *etcd, long ms)
{
    const struct timeval after = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    if (etcd->next != 0)
        event_add(etcd->again, &after);
}

/* Send a body, which is taken, to the member of the hour. */
static void
ask(struct lbm_etcd *etcd, struct errand *errand, const char *path, char *body,
    const struct lbm_http_ask *how)
{
    struct lbm_http_ask whole = *how;
    char url[LBM_ETCD_URL_MAX + 32];
    snprintf(url, sizeof url, "%s%s", etcd->config.endpoint[etcd->endpoint], path);
    whole.url = url;
    whole.socket = etcd->config.socket != NULL ? etcd->config.socket[etcd->endpoint] : NULL;
    whole.body = body;
    whole.token = etcd->token;
    whole.context = etcd;
    *errand = (struct errand){.endpoint = etcd->endpoint};
    if (body == NULL || lbm_http_post(etcd->http, &whole, &errand->request) != LBM_OK) {
        lbm_log(LBM_NOTE_ERROR, "out of memory");
        errand->request = NULL;
        read_after(etcd, RETRY_MS);
    }
    free(body);
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
    cancel(&etcd->login);
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

/* What went wrong, in words; a token that is not valid any more is forgotten. Values: `message`. */
static const char *
refusal(struct lbm_etcd *etcd, const struct lbm_http_answer *answer, char message[REFUSAL_MAX])
{
    int code;
    if (answer->status == 0) {
        snprintf(message, REFUSAL_MAX, "%s", answer->failure);
        return message;
    }
    lbm_etcd_read_error(answer->body, answer->len, &code, message, REFUSAL_MAX);
    if (code == UNAUTHENTICATED || answer->status == 401) {
        free(etcd->token); /* it lasts some minutes, and ends with the member that gave it */
        etcd->token = NULL;
    }
    return message;
}

/* An errand has ended. Nonzero if its answer is to be read; else the member has failed, if it is still the
 * one that is asked. */
static int
is_good(struct lbm_etcd *etcd, struct errand *errand, const struct lbm_http_answer *answer)
{
    char message[REFUSAL_MAX];
    errand->request = NULL;
    if (answer->status == 200)
        return 1;
    (void)refusal(etcd, answer, message);
    if (errand->endpoint == etcd->endpoint)
        member_failed(etcd, message);
    return 0;
}

/* ---- logging in ---------------------------------------------------------------------------------------- */

static void
on_login(void *context, const struct lbm_http_answer *answer)
{
    struct lbm_etcd *etcd = context;
    if (!is_good(etcd, &etcd->login, answer))
        return;
    if (lbm_etcd_read_login(answer->body, answer->len, &etcd->token) != LBM_OK)
        member_failed(etcd, "it gives no token");
    else
        read_after(etcd, 0);
}

/* Nonzero if requests may be sent; else a login is in progress. */
static int
is_logged_in(struct lbm_etcd *etcd)
{
    const struct lbm_http_ask how = {.timeout_ms = ASK_MS, .done = on_login};
    if (etcd->config.user[0] == '\0' || etcd->token != NULL)
        return 1;
    if (etcd->login.request == NULL)
        ask(etcd, &etcd->login, "/v3/auth/authenticate",
            lbm_etcd_login_body(etcd->config.user, etcd->password), &how);
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
    if (is_good(etcd, &etcd->watch, answer))
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
    if (etcd->watch.request == NULL)
        ask(etcd, &etcd->watch, "/v3/watch",
            lbm_etcd_watch_body(etcd->config.prefix, etcd->next, revision + 1), &how);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* Give a snapshot on, the last thing a function does. */
static void
deliver_snapshot(struct lbm_etcd *etcd, uint64_t index, const struct lbm_bytes *view)
{
    read_after(etcd, 0);
    etcd->next = index + 1;
    etcd->handler.snapshot(etcd->handler.context, index, view);
}

static void
on_parts(void *context, const struct lbm_http_answer *answer)
{
    const struct lbm_http_ask how = {.timeout_ms = READ_MS, .done = on_parts};
    struct lbm_etcd *etcd = context;
    struct lbm_etcd_entries parts = {0};
    if (!is_good(etcd, &etcd->read, answer))
        return;
    enum lbm_err err = lbm_etcd_read_entries(answer->body, answer->len, &parts);
    for (size_t i = 0; err == LBM_OK && i < parts.list.n; i++) {
        const struct lbm_etcd_entry *part = &parts.list.at[i];
        err = part->index == etcd->next_part ? lbm_vec_reserve(&etcd->parts, part->len) : LBM_E_SYNTAX;
        if (err == LBM_OK) {
            memcpy(etcd->parts.at + etcd->parts.n, part->value, part->len);
            etcd->parts.n += part->len;
            etcd->next_part++;
        }
    }
    if (parts.list.n == 0) /* another snapshot has replaced it */
        err = LBM_E_NOTFOUND;
    lbm_etcd_entries_free(&parts);
    if (err != LBM_OK) {
        read_after(etcd, RETRY_MS);
    } else if (etcd->next_part < etcd->n_parts) {
        ask(etcd, &etcd->read, "/v3/kv/range",
            lbm_etcd_read_parts_body(etcd->config.prefix, etcd->parts_index, etcd->next_part), &how);
    } else {
        const struct lbm_bytes view = {etcd->parts.at, etcd->parts.n};
        deliver_snapshot(etcd, etcd->parts_index, &view);
    }
}

static void
read_parts(struct lbm_etcd *etcd, uint64_t index, uint64_t n_parts)
{
    const struct lbm_http_ask how = {.timeout_ms = READ_MS, .done = on_parts};
    lbm_vec_free(&etcd->parts);
    etcd->parts_index = index;
    etcd->n_parts = n_parts;
    etcd->next_part = 0;
    ask(etcd, &etcd->read, "/v3/kv/range", lbm_etcd_read_parts_body(etcd->config.prefix, index, 0), &how);
}

static void
on_snapshot(void *context, const struct lbm_http_answer *answer)
{
    struct lbm_etcd *etcd = context;
    struct lbm_etcd_entry snapshot = {0};
    if (!is_good(etcd, &etcd->read, answer))
        return;
    if (lbm_etcd_read_snapshot(answer->body, answer->len, &snapshot) != LBM_OK ||
        snapshot.index < etcd->next) {
        lbm_log(LBM_NOTE_ERROR, "etcd: entries below %s/log are missing and no snapshot is there instead",
                etcd->config.prefix);
        read_after(etcd, READ_MS);
    } else if (lbm_etcd_snapshot_parts(&snapshot) != 0) {
        read_parts(etcd, snapshot.index, lbm_etcd_snapshot_parts(&snapshot));
    } else {
        const struct lbm_bytes view = {snapshot.value, snapshot.len};
        deliver_snapshot(etcd, snapshot.index, &view);
    }
    free(snapshot.value);
}

/* What was read last is read again: if it is not there, nor anything later, etcd is an older copy. */
static void
look_back(struct lbm_etcd *etcd, const struct lbm_etcd_entries *entries)
{
    int is_old = entries->list.n == 0 && etcd->next > 1 && etcd->begin_index == 0;
    unsigned before = etcd->n_old;
    etcd->n_old = !is_old ? 0 : before < OLD_READS ? before + 1 : before;
    if (before != etcd->n_old && (etcd->n_old == OLD_READS || before == OLD_READS))
        etcd->handler.older(etcd->handler.context, is_old ? etcd->next - 1 : 0);
}

static void
on_read(void *context, const struct lbm_http_answer *answer)
{
    const struct lbm_http_ask how = {.timeout_ms = ASK_MS, .done = on_snapshot};
    struct lbm_etcd *etcd = context;
    struct lbm_etcd_entries entries;
    if (!is_good(etcd, &etcd->read, answer))
        return;
    if (lbm_etcd_read_entries(answer->body, answer->len, &entries) != LBM_OK) {
        member_failed(etcd, "it does not answer like etcd");
        return;
    }
    member_answered(etcd);
    look_back(etcd, &entries);
    if (entries.list.n != 0 && entries.list.at[0].index > etcd->next) {
        ask(etcd, &etcd->read, "/v3/kv/range", lbm_etcd_snapshot_body(etcd->config.prefix), &how);
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
on_begun(void *context, const struct lbm_http_answer *answer)
{
    struct lbm_etcd *etcd = context;
    if (is_good(etcd, &etcd->begin, answer))
        etcd->begin_index = 0;
    read_after(etcd, etcd->begin_index == 0 ? 0 : SWITCH_MS);
}

static void
begin(struct lbm_etcd *etcd)
{
    const struct lbm_http_ask how = {.timeout_ms = ASK_MS, .done = on_begun};
    ask(etcd, &etcd->begin, "/v3/kv/txn",
        lbm_etcd_begin_body(etcd->config.prefix, etcd->begin_index, etcd->first.at, etcd->first.len), &how);
}

void
lbm_etcd_begin(struct lbm_etcd *etcd, uint64_t index, const struct lbm_bytes *command)
{
    uint8_t *copy = lbm_copy(command->at, command->len, 1);
    if (copy == NULL) {
        lbm_log(LBM_NOTE_ERROR, "out of memory");
        return;
    }
    cancel(&etcd->begin);
    free(etcd->first.at);
    etcd->first = (struct lbm_bytes){copy, command->len};
    etcd->begin_index = index;
    begin(etcd);
}

void
lbm_etcd_point(struct lbm_etcd *etcd, size_t n_endpoints)
{
    LBM_ASSERT(n_endpoints >= 1);
    etcd->config.n_endpoints = n_endpoints;
    etcd->endpoint = 0;
    etcd->failures = 0;
    cancel(&etcd->read);
    cancel(&etcd->watch);
    read_after(etcd, 0);
}

static void
on_again(evutil_socket_t fd, short what, void *context)
{
    const struct lbm_http_ask how = {.timeout_ms = ASK_MS, .done = on_read};
    struct lbm_etcd *etcd = context;
    (void)fd;
    (void)what;
    if (etcd->begin_index != 0 && etcd->begin.request == NULL)
        begin(etcd);
    if (etcd->read.request == NULL && is_logged_in(etcd))
        ask(etcd, &etcd->read, "/v3/kv/range",
            lbm_etcd_read_body(etcd->config.prefix, etcd->next > 1 ? etcd->next - 1 : 1), &how);
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
    if (is_good(etcd, &etcd->append, answer) &&
        lbm_etcd_read_append(answer->body, answer->len, &taken) == LBM_OK)
        result = taken ? LBM_LOG_TAKEN : LBM_LOG_CONFLICT;
    if (result == LBM_LOG_CONFLICT)
        read_after(etcd, 0); /* what is there instead */
    etcd->handler.result(etcd->handler.context, etcd->append_index, result);
}

void
lbm_etcd_append(struct lbm_etcd *etcd, uint64_t index, const struct lbm_bytes *command)
{
    const struct lbm_http_ask how = {.timeout_ms = ASK_MS, .done = on_append};
    cancel(&etcd->append);
    etcd->append_index = index;
    ask(etcd, &etcd->append, "/v3/kv/txn",
        lbm_etcd_append_body(etcd->config.prefix, index, command->at, command->len), &how);
}

static void put_part(struct lbm_etcd *etcd); /* the next one, or that they count */

static void
on_compact(void *context, const struct lbm_http_answer *answer)
{
    struct lbm_etcd *etcd = context;
    char message[REFUSAL_MAX];
    etcd->compact.request = NULL;
    if (answer->status == 200)
        lbm_log(LBM_NOTE_INFO, "the control log in etcd begins at a snapshot");
    else
        lbm_log(LBM_NOTE_WARNING, "etcd at %s: the control log cannot be shortened: %s",
                etcd->config.endpoint[etcd->compact.endpoint], refusal(etcd, answer, message));
}

static void
on_part(void *context, const struct lbm_http_answer *answer)
{
    struct lbm_etcd *etcd = context;
    if (answer->status != 200) {
        on_compact(etcd, answer);
        return;
    }
    etcd->compact.request = NULL;
    etcd->view_part++;
    put_part(etcd);
}

static void
put_part(struct lbm_etcd *etcd)
{
    const struct lbm_http_ask part = {.timeout_ms = ASK_MS, .done = on_part},
                              last = {.timeout_ms = ASK_MS, .done = on_compact};
    size_t at = (size_t)etcd->view_part * LBM_ETCD_PART_BYTES;
    if (at < etcd->view.len) {
        size_t left = etcd->view.len - at;
        ask(etcd, &etcd->compact, "/v3/kv/put",
            lbm_etcd_part_body(etcd->config.prefix, etcd->view_index, etcd->view_part, etcd->view.at + at,
                               left < LBM_ETCD_PART_BYTES ? left : LBM_ETCD_PART_BYTES),
            &part);
    } else {
        ask(etcd, &etcd->compact, "/v3/kv/txn",
            lbm_etcd_parts_body(etcd->config.prefix, etcd->view_index, etcd->view_part), &last);
    }
}

/* One that fails is not repeated: the next one takes its place, and removes its parts. */
void
lbm_etcd_compact(struct lbm_etcd *etcd, uint64_t index, const struct lbm_bytes *view)
{
    const struct lbm_http_ask how = {.timeout_ms = ASK_MS, .done = on_compact};
    cancel(&etcd->compact);
    free(etcd->view.at);
    etcd->view = (struct lbm_bytes){0};
    if (view->len <= LBM_ETCD_PART_BYTES) {
        ask(etcd, &etcd->compact, "/v3/kv/txn",
            lbm_etcd_compact_body(etcd->config.prefix, index, view->at, view->len), &how);
        return;
    }
    etcd->view = (struct lbm_bytes){lbm_copy(view->at, view->len, 1), view->len};
    etcd->view_index = index;
    etcd->view_part = 0;
    if (etcd->view.at != NULL) /* else the next one */
        put_part(etcd);
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
    free(etcd->first.at);
    free(etcd->view.at);
    lbm_vec_free(&etcd->parts);
    if (etcd->again != NULL)
        event_free(etcd->again);
    if (etcd->arrived != NULL)
        event_free(etcd->arrived);
    lbm_etcd_entries_free(&etcd->incoming);
    free(etcd->password);
    free(etcd->token);
    free(etcd);
}
