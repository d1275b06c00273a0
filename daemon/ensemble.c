/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/ensemble_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum {
    TEND_MS = 2000,   /* the same at rest for who keeps the list */
    REST_MS = 5000,   /* the same for others */
    ASK_MS = 2000,    /* for one answer about a member */
    CHANGE_MS = 5000, /* for a change of the list */
    DEFRAGMENT_MS = 60000,
    DEFRAGMENT_BYTES = 32 << 20, /* of a database of which less than half is in use */
};

const char *
lbm_ensemble_dir(const char *data, char dir[PATH_MAX])
{
    char here[PATH_MAX] = "";
    if (data[0] != '/' && getcwd(here, sizeof here) == NULL)
        here[0] = '\0';
    snprintf(dir, PATH_MAX, "%.2000s%s%.2000s.etcd", data[0] != '/' ? here : "", data[0] != '/' ? "/" : "",
             data);
    return dir;
}

/* ---- asking members --------------------------------------------------------------------------------------
 */

static struct lbm_http_request *
ask(struct lbm_ensemble_part *part, uint32_t at, const char *path, char *body, long timeout_ms, void *context,
    void (*done)(void *context, const struct lbm_http_answer *answer))
{
    struct lbm_http_request *request = NULL;
    char url[LBM_ETCD_URL_MAX + 64];
    snprintf(url, sizeof url, "%s%s", part->url[at], path);
    const struct lbm_http_ask how = {.url = url,
                                     .socket = part->socket[at],
                                     .body = body != NULL ? body : "{}",
                                     .timeout_ms = timeout_ms,
                                     .context = context,
                                     .done = done};
    if (lbm_http_post(part->http, &how, &request) != LBM_OK)
        request = NULL;
    free(body);
    return request;
}

static void
report(struct lbm_ensemble_part *part)
{
    struct lbm_ensemble_report now = {.id = part->is.id,
                                      .changed = part->is.changed,
                                      .leader = LBM_NONE,
                                      .is_listed = part->is_listed,
                                      .is_settled = part->is_settled};
    uint64_t leader = 0;
    for (uint32_t i = 0; i < part->is.n; i++)
        if (part->seen[i].answers) {
            now.host[now.n++] = part->is.member[i].host;
            leader = part->seen[i].status.leader;
        }
    for (uint32_t i = 0; i < part->is.n; i++)
        if (part->seen[i].answers && part->seen[i].status.member == leader)
            now.leader = part->is.member[i].host;
    int is_same = now.id == part->told.id && now.leader == part->told.leader && now.n == part->told.n &&
                  now.is_settled == part->told.is_settled && now.is_listed == part->told.is_listed &&
                  now.changed == part->told.changed &&
                  memcmp(now.host, part->told.host, sizeof now.host) == 0;
    if (is_same)
        return;
    part->told = now;
    part->handler.report(part->handler.context, &now);
}

static void
on_status(void *context, const struct lbm_http_answer *answer)
{
    struct seen *seen = context;
    struct lbm_etcd_status status = {0};
    seen->request = NULL;
    seen->answers = answer->status == 200 &&
                    lbm_etcd_read_status(answer->body, answer->len, &status) == LBM_OK && status.leader != 0;
    seen->status = status;
    int is_asked = 0;
    for (uint32_t i = 0; i < seen->part->is.n; i++)
        is_asked |= seen->part->seen[i].request != NULL;
    if (!is_asked)
        report(seen->part);
}

/* ---- etcd's list of members ------------------------------------------------------------------------------
 */

static void
on_changed(void *context, const struct lbm_http_answer *answer)
{
    struct lbm_ensemble_part *part = context;
    char why[200];
    int code;
    part->change_request = NULL;
    if (answer->status == 200) {
        lbm_log(LBM_NOTE_INFO, "etcd: member %s", part->change);
        lbm_ensemble_look_after(part, 0);
        return;
    }
    part->turn++; /* it may be that one alone that takes others for unhealthy */
    if (answer->status != 0)
        lbm_etcd_read_error(answer->body, answer->len, &code, why, sizeof why);
    lbm_log_limited(&part->complaints, LBM_NOTE_WARNING, "etcd does not change its members yet: %s",
                    answer->status != 0 ? why : answer->failure);
}

/* A member that answers, another one after each refusal, or n. */
static uint32_t
one_that_answers(const struct lbm_ensemble_part *part)
{
    uint32_t n = part->is.n;
    for (uint32_t i = 0; i < n; i++)
        if (part->seen[(part->turn + i) % n].answers)
            return (part->turn + i) % n;
    return n;
}

static const struct lbm_ensemble_member *
in_ensemble(const struct lbm_ensemble_part *part, const char *name)
{
    char own_name[LBM_KEEPER_NAME_MAX];
    for (uint32_t i = 0; i < part->is.n; i++)
        if (strcmp(lbm_ensemble_name(part, &part->is.member[i], own_name), name) == 0)
            return &part->is.member[i];
    return NULL;
}

static void change_list(struct lbm_ensemble_part *part);

/* The log has nothing that this host has not applied: what it takes for the members is what they are. */
static void
on_newest(void *context, const struct lbm_http_answer *answer)
{
    struct lbm_ensemble_part *part = context;
    struct lbm_etcd_entries newer = {0};
    part->change_request = NULL;
    if (answer->status != 200 || lbm_etcd_read_entries(answer->body, answer->len, &newer) != LBM_OK)
        return;
    if (newer.list.n == 0)
        change_list(part);
    lbm_etcd_entries_free(&newer);
}

/* A host that was away may have an old view, and must not undo what others have done since. */
static void
ask_newest(struct lbm_ensemble_part *part)
{
    uint32_t at = one_that_answers(part);
    if (part->change_request != NULL || at == part->is.n)
        return;
    uint64_t next = part->handler.view(part->handler.context) + 1;
    part->change_request =
        ask(part, at, "/v3/kv/range", lbm_etcd_read_body("/lbmap", next), ASK_MS, part, on_newest);
}

/* One step towards the members that the log names: who is not among them goes before one is added. */
static void
change_list(struct lbm_ensemble_part *part)
{
    uint32_t at = one_that_answers(part);
    char name[LBM_KEEPER_NAME_MAX];
    if (part->change_request != NULL || at == part->is.n)
        return;
    for (size_t i = 0; i < part->list.list.n; i++) {
        const struct lbm_etcd_member *member = &part->list.list.at[i];
        if (in_ensemble(part, member->name) != NULL)
            continue;
        snprintf(part->change, sizeof part->change, "%.*s is removed", LBM_KEEPER_NAME_MAX, member->name);
        part->change_request = ask(part, at, "/v3/cluster/member/remove", lbm_etcd_remove_body(member->id),
                                   CHANGE_MS, part, on_changed);
        return;
    }
    for (uint32_t i = 0; i < part->is.n; i++) {
        if (lbm_ensemble_listed(part, lbm_ensemble_name(part, &part->is.member[i], name)) != NULL)
            continue;
        snprintf(part->change, sizeof part->change, "%s is added", name);
        part->change_request =
            ask(part, at, "/v3/cluster/member/add", lbm_etcd_add_body(name), CHANGE_MS, part, on_changed);
        return;
    }
}

/* This host was a member, and etcd knows that it is none any more. */
static void
leave(struct lbm_ensemble_part *part)
{
    char name[LBM_KEEPER_NAME_MAX];
    const struct lbm_ensemble_member *was = lbm_ensemble_member(&part->before, part->config.host);
    if (lbm_ensemble_own(part) != NULL || was == NULL ||
        lbm_ensemble_listed(part, lbm_ensemble_name(part, was, name)) != NULL)
        return;
    part->before = (struct lbm_ensemble){0};
    lbm_ensemble_stop(part);
}

static void
on_list(void *context, const struct lbm_http_answer *answer)
{
    struct lbm_ensemble_part *part = context;
    struct lbm_etcd_members list;
    part->list_request = NULL;
    if (answer->status != 200 || lbm_etcd_read_members(answer->body, answer->len, &list) != LBM_OK)
        return;
    lbm_vec_free(&part->list.list);
    part->list = list;
    size_t n_right = 0, n_begun = 0;
    for (size_t i = 0; i < list.list.n; i++) {
        int is_right = in_ensemble(part, list.list.at[i].name) != NULL;
        n_right += is_right != 0;
        n_begun += is_right && list.list.at[i].has_begun;
    }
    part->is_listed = n_right == list.list.n && n_right == part->is.n;
    part->is_settled = part->is_listed && n_begun == n_right;
    leave(part);
    if (part->is.moved != 0 && part->tends && !part->is_listed)
        ask_newest(part);
    lbm_ensemble_run(part);
    report(part); /* last: it may change all of it */
}

/* ---- keeping the database small --------------------------------------------------------------------------
 */

static void
on_defragmented(void *context, const struct lbm_http_answer *answer)
{
    struct lbm_ensemble_part *part = context;
    part->defragment_request = NULL;
    lbm_log(answer->status == 200 ? LBM_NOTE_INFO : LBM_NOTE_WARNING, "etcd: the database is%s defragmented",
            answer->status == 200 ? "" : " not");
}

static int64_t
clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Of this host's own member: the others do it at other times. */
static void
defragment(struct lbm_ensemble_part *part)
{
    for (uint32_t i = 0; i < part->is.n; i++) {
        const struct seen *seen = &part->seen[i];
        if (part->is.member[i].host != part->config.host || !seen->answers ||
            part->defragment_request != NULL || clock_ms() < part->defragment_ms ||
            seen->status.bytes < DEFRAGMENT_BYTES || seen->status.bytes_used > seen->status.bytes / 2)
            continue;
        part->defragment_ms = clock_ms() + DEFRAGMENT_MS;
        part->defragment_request =
            ask(part, i, "/v3/maintenance/defragment", NULL, DEFRAGMENT_MS, part, on_defragmented);
    }
}

/* ---- looking ---------------------------------------------------------------------------------------------
 */

static void
on_look(evutil_socket_t fd, short what, void *context)
{
    struct lbm_ensemble_part *part = context;
    (void)fd;
    (void)what;
    if (part->is.id == 0)
        return;
    for (uint32_t i = 0; i < part->is.n; i++)
        if (part->seen[i].request == NULL)
            part->seen[i].request =
                ask(part, i, "/v3/maintenance/status", NULL, ASK_MS, &part->seen[i], on_status);
    lbm_ensemble_run(part);
    int is_leaving =
        lbm_ensemble_own(part) == NULL && lbm_ensemble_member(&part->before, part->config.host) != NULL;
    int wants_list = part->tends || is_leaving || (lbm_ensemble_own(part) != NULL && !part->has_order);
    uint32_t at = one_that_answers(part);
    if (wants_list && part->is.moved != 0 && part->list_request == NULL && at < part->is.n)
        part->list_request = ask(part, at, "/v3/cluster/member/list", NULL, ASK_MS, part, on_list);
    defragment(part);
    int is_busy = part->is.moved == 0 || part->told.leader == LBM_NONE ||
                  (part->tends && !part->is_settled) || is_leaving ||
                  (lbm_ensemble_own(part) != NULL && part->config.keeper != NULL && !part->has_order);
    lbm_ensemble_look_after(part, is_busy ? LBM_ENSEMBLE_LOOK_MS : part->tends ? TEND_MS : REST_MS);
}

/* ---- who is in it ----------------------------------------------------------------------------------------
 */

static void
cancel(struct lbm_http_request **request)
{
    if (*request != NULL)
        lbm_http_cancel(*request);
    *request = NULL;
}

static void
forget(struct lbm_ensemble_part *part)
{
    for (uint32_t i = 0; i < LBM_ENSEMBLE_MAX; i++) {
        cancel(&part->seen[i].request);
        part->seen[i] = (struct seen){.part = part};
    }
    cancel(&part->list_request);
    cancel(&part->change_request);
    cancel(&part->defragment_request);
    lbm_vec_free(&part->list.list);
    part->list = (struct lbm_etcd_members){0};
    part->is_listed = part->is_settled = 0;
}

static enum lbm_err
open_folder(struct lbm_ensemble_part *part, struct lbm_diag *diag)
{
    if (part->dir_fd >= 0)
        return LBM_OK;
    if (mkdir(part->dir, 0700) != 0 && errno != EEXIST)
        return lbm_diag_set(diag, LBM_E_IO, part->dir, 0, "the folder for etcd cannot be made: %s",
                            strerror(errno));
    part->dir_fd = open(part->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (part->dir_fd < 0)
        return lbm_diag_set(diag, LBM_E_IO, part->dir, 0, "%s", strerror(errno));
    return LBM_OK;
}

static const char *
address(void *context, uint32_t host)
{
    const struct lbm_ensemble_part *part = context;
    return part->handler.address(part->handler.context, host);
}

/* Members reach this host's etcd as members; whoever is in the log reaches it as a client. */
static const char *
target(void *context, uint32_t from, enum lbm_tunnel_to to, uint64_t of)
{
    static char name[LBM_TUNNEL_NAME_MAX];
    struct lbm_ensemble_part *part = context;
    const struct lbm_ensemble_member *self = lbm_ensemble_own(part) != NULL
                                                 ? lbm_ensemble_own(part)
                                                 : lbm_ensemble_member(&part->before, part->config.host);
    char member[LBM_KEEPER_NAME_MAX];
    if (self == NULL || self->since != of || address(part, from) == NULL)
        return NULL;
    if (to == LBM_TUNNEL_CLIENT)
        return "client:1";
    if (to != LBM_TUNNEL_PEER ||
        (lbm_ensemble_member(&part->is, from) == NULL && lbm_ensemble_member(&part->before, from) == NULL))
        return NULL;
    snprintf(name, sizeof name, "%s:1", lbm_ensemble_name(part, self, member));
    return name;
}

/* Sockets that lead to the other members, and where this daemon finds each. This host's own comes first; else
 * hosts begin with different ones. */
static enum lbm_err
open_ways(struct lbm_ensemble_part *part, struct lbm_diag *diag)
{
    char name[LBM_TUNNEL_NAME_MAX], member[LBM_KEEPER_NAME_MAX], path[LBM_TUNNEL_NAME_MAX + 32];
    enum lbm_err err = LBM_OK;
    int runs =
        lbm_ensemble_own(part) != NULL || lbm_ensemble_member(&part->before, part->config.host) != NULL;
    for (uint32_t i = 0; err == LBM_OK && runs && i < part->before.n; i++)
        if (part->before.member[i].host != part->config.host) {
            snprintf(name, sizeof name, "%s:1", lbm_ensemble_name(part, &part->before.member[i], member));
            err = lbm_tunnel_open(part->tunnel, name, part->before.member[i].host, LBM_TUNNEL_PEER,
                                  part->before.member[i].since, diag);
        }
    for (uint32_t i = 0; err == LBM_OK && i < part->is.n; i++) {
        const struct lbm_ensemble_member *to = &part->is.member[i];
        snprintf(name, sizeof name, "client:1");
        if (to->host != part->config.host) {
            snprintf(name, sizeof name, "%s:1", lbm_ensemble_name(part, to, member));
            if (runs)
                err = lbm_tunnel_open(part->tunnel, name, to->host, LBM_TUNNEL_PEER, to->since, diag);
            snprintf(name, sizeof name, "client-%s", member);
            if (err == LBM_OK)
                err = lbm_tunnel_open(part->tunnel, name, to->host, LBM_TUNNEL_CLIENT, to->since, diag);
        }
        snprintf(part->url[i], sizeof part->url[i], "http://h%" PRIu32, to->host);
        snprintf(part->socket[i], sizeof part->socket[i], "%s", lbm_tunnel_path(part->dir_fd, name, path));
    }
    lbm_tunnel_sweep(part->tunnel);
    return err;
}

static void
put_last(struct lbm_ensemble_part *part, uint32_t at)
{
    struct lbm_ensemble_member moved = part->is.member[at];
    memmove(&part->is.member[at], &part->is.member[at + 1], (part->is.n - 1 - at) * sizeof moved);
    part->is.member[part->is.n - 1] = moved;
}

/* The first one that is asked is this host's own, else one that differs from host to host. One that came
 * later than the others is asked last: it may have yet to begin, and takes requests without an answer until
 * then. */
static void
order_members(struct lbm_ensemble_part *part)
{
    uint32_t first = part->is.n != 0 ? part->config.host % part->is.n : 0, newest = 0;
    int is_one = 0;
    for (uint32_t i = 0; i < part->is.n; i++)
        if (part->is.member[i].host == part->config.host)
            first = i;
    for (uint32_t i = 0; i < first; i++)
        put_last(part, 0);
    for (uint32_t i = 1; i < part->is.n; i++) {
        is_one |= part->is.member[i].since != part->is.member[0].since;
        if (part->is.member[i].since > part->is.member[newest].since)
            newest = i;
    }
    if (is_one)
        put_last(part, newest);
}

static enum lbm_err
open_client(struct lbm_ensemble_part *part, int is_other, struct lbm_diag *diag)
{
    const struct lbm_etcd_config config = {.endpoint = (const char(*)[LBM_ETCD_URL_MAX + 1]) part->url,
                                           .socket = (const char(*)[LBM_ETCD_URL_MAX + 1]) part->socket,
                                           .n_endpoints = part->is.n,
                                           .prefix = "/lbmap",
                                           .ca = "",
                                           .cert = "",
                                           .key = "",
                                           .user = "",
                                           .password_file = ""};
    if (is_other) {
        lbm_etcd_free(part->etcd);
        part->etcd = NULL;
    }
    if (part->etcd != NULL) {
        lbm_etcd_point(part->etcd, part->is.n);
        return LBM_OK;
    }
    return lbm_etcd_new(part->config.base, &config, &part->handler.etcd, &part->etcd, diag);
}

static enum lbm_err
open_all(struct lbm_ensemble_part *part, int is_other, struct lbm_diag *diag)
{
    const struct lbm_tunnel_handler handler = {.context = part, .address = address, .target = target};
    const struct lbm_http_tls none = {.ca = "", .cert = "", .key = ""};
    enum lbm_err err = open_folder(part, diag);
    if (err == LBM_OK && part->tunnel == NULL)
        err = lbm_tunnel_new(part->config.base, part->config.tls, part->config.resolver, part->dir_fd,
                             &handler, &part->tunnel, diag);
    if (err == LBM_OK && part->http == NULL)
        err = lbm_http_new(part->config.base, &none, &part->http, diag);
    if (err == LBM_OK)
        err = open_ways(part, diag);
    if (err == LBM_OK)
        err = open_client(part, is_other, diag);
    return err;
}

void
lbm_ensemble_set(struct lbm_ensemble_part *part, const struct lbm_ensemble *is, int tends)
{
    const struct lbm_ensemble_member *before = lbm_ensemble_own(part);
    uint64_t since = before != NULL ? before->since : 0;
    struct lbm_diag diag = {0};
    int is_other = part->is.id != is->id, is_changed = part->is.changed != is->changed;
    part->tends = tends;
    if (is->id != 0 && !is_other && !is_changed) { /* the log has moved into it, or somebody else tends it */
        part->is.moved = is->moved;
        lbm_ensemble_look_after(part, 0);
        return;
    }
    part->before = is_other ? (struct lbm_ensemble){0} : part->is;
    part->is = *is;
    order_members(part);
    forget(part);
    const struct lbm_ensemble_member *self = lbm_ensemble_own(part);
    if (self == NULL || self->since != since || is_other) {
        part->has_order = part->was_removed = 0;
    }
    if (self == NULL && lbm_ensemble_member(&part->before, part->config.host) == NULL)
        lbm_ensemble_stop(part); /* what an earlier membership has left */
    if (is->id == 0) {
        lbm_etcd_free(part->etcd);
        part->etcd = NULL;
        if (part->tunnel != NULL)
            lbm_tunnel_sweep(part->tunnel);
        event_del(part->look);
        return;
    }
    if (open_all(part, is_other, &diag) != LBM_OK)
        lbm_log_diag(LBM_NOTE_ERROR, &diag);
    else
        lbm_ensemble_look_after(part, 0);
}

struct lbm_etcd *
lbm_ensemble_etcd(const struct lbm_ensemble_part *part)
{
    return part != NULL ? part->etcd : NULL;
}

void
lbm_ensemble_accept(struct lbm_ensemble_part *part, struct bufferevent *bev, uint32_t from)
{
    if (part->tunnel != NULL)
        lbm_tunnel_accept(part->tunnel, bev, from);
    else
        bufferevent_free(bev);
}

void
lbm_ensemble_cut(struct lbm_ensemble_part *part, uint32_t host)
{
    if (part != NULL && part->tunnel != NULL)
        lbm_tunnel_cut(part->tunnel, host);
}

/* ---- the whole -------------------------------------------------------------------------------------------
 */

enum lbm_err
lbm_ensemble_new(const struct lbm_ensemble_config *config, const struct lbm_ensemble_handler *handler,
                 struct lbm_ensemble_part **out, struct lbm_diag *diag)
{
    struct lbm_ensemble_part *part = lbm_alloc(1, sizeof *part);
    if (part == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    part->config = *config;
    part->handler = *handler;
    part->dir_fd = -1;
    part->told.leader = LBM_NONE;
    (void)lbm_ensemble_dir(config->data, part->dir);
    part->look = evtimer_new(config->base, on_look, part);
    if (config->keeper != NULL)
        part->ended = event_new(config->base, lbm_keeper_fd(config->keeper), EV_READ | EV_PERSIST,
                                lbm_ensemble_ended, part);
    if (part->look == NULL ||
        (config->keeper != NULL && (part->ended == NULL || event_add(part->ended, NULL) != 0))) {
        lbm_ensemble_free(part);
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    }
    *out = part;
    return LBM_OK;
}

void
lbm_ensemble_free(struct lbm_ensemble_part *part)
{
    if (part == NULL)
        return;
    if (part->http != NULL)
        forget(part);
    lbm_etcd_free(part->etcd);
    lbm_http_free(part->http);
    lbm_tunnel_free(part->tunnel);
    if (part->look != NULL)
        event_free(part->look);
    if (part->ended != NULL)
        event_free(part->ended);
    if (part->dir_fd >= 0)
        close(part->dir_fd);
    free(part);
}
