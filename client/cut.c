/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/cut.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

enum { TRIES = 5, ROWS_AT_ONCE = 4096, PROLONG_MS = 3000 };
enum { HOLD_BEGIN = 1, HOLD_END = 2 }; /* MapRequest.hold */

/* ---- what hosts answer ----------------------------------------------------------------------------------
 */

/* The job has ids below n. */
static enum lbm_err
learn_size(struct lbm_cut *cut, uint32_t n)
{
    if (n <= cut->ids)
        return LBM_OK;
    struct lbm_cut_vertex *grown = lbm_alloc(n, sizeof *grown);
    if (grown == NULL)
        return LBM_E_NOMEM;
    if (cut->ids != 0)
        memcpy(grown, cut->vertex, cut->ids * sizeof *grown);
    free(cut->vertex);
    cut->vertex = grown;
    cut->ids = n;
    return LBM_OK;
}

/* Of a vertex that was on its way when the cut began two hosts may tell: the higher epoch is right. */
static enum lbm_err
take_row(struct lbm_cut *cut, uint32_t host, const Lbm__Records *r, size_t i, size_t half, size_t payload)
{
    struct lbm_cut_vertex *vertex = &cut->vertex[r->vertex[i]];
    if (r->epoch[i] <= vertex->epoch)
        return LBM_OK;
    *vertex = (struct lbm_cut_vertex){.epoch = r->epoch[i],
                                      .host = host,
                                      .work = r->n_work != 0 ? r->work[i] : 1,
                                      .pin = r->n_pin != 0 ? r->pin[i] : LBM_NONE,
                                      .degree = r->n_degree != 0 ? r->degree[i] : 0,
                                      .payload_len = r->n_payload_len != 0 ? r->payload_len[i] : 0,
                                      .is_blob = r->n_blob != 0 && r->blob[i] != 0,
                                      .edge_at = cut->edge.n,
                                      .payload_at = cut->payloads_len};
    for (uint32_t k = 0; k < vertex->degree; k++) {
        struct lbm_cut_half edge = {r->neighbour[half + k], r->weight[half + k]};
        if (lbm_vec_push(&cut->edge, edge) != LBM_OK)
            return LBM_E_NOMEM;
    }
    if (fwrite(r->payload.data + payload, 1, vertex->payload_len, cut->payloads) != vertex->payload_len)
        return LBM_E_IO;
    cut->payloads_len += vertex->payload_len;
    return LBM_OK;
}

static enum lbm_err
take_chunk(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    struct lbm_cut *cut = arg;
    const Lbm__MapReply *reply = chunk->map;
    (void)handle;
    if (reply == NULL)
        return LBM_OK;
    enum lbm_err err = learn_size(cut, reply->vertices);
    const Lbm__Records *r = reply->records;
    size_t half = 0, payload = 0;
    for (size_t i = 0; err == LBM_OK && r != NULL && i < r->n_vertex; i++) {
        if (r->vertex[i] < cut->ids)
            err = take_row(cut, reply->host, r, i, half, payload);
        half += r->n_degree != 0 ? r->degree[i] : 0;
        payload += r->n_payload_len != 0 ? r->payload_len[i] : 0;
    }
    for (size_t i = 0; err == LBM_OK && i < reply->n_missing; i++)
        err = lbm_vec_push(&cut->missing, reply->missing[i]);
    for (size_t i = 0; err == LBM_OK && i < reply->n_torn; i++)
        err = lbm_vec_push(&cut->torn, reply->torn[i]);
    if (!chunk->last)
        return err;
    cut->number = reply->cut;
    cut->next = reply->next;
    cut->present = reply->present != 0 ? reply->present : cut->present;
    return err;
}

/* ---- one attempt ----------------------------------------------------------------------------------------
 */

static enum lbm_status
ask(struct lbm_daemon *daemon, const char *job, uint32_t hold, struct lbm_cut *cut)
{
    char name[LBM_NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", job);
    Lbm__MapRequest map = LBM__MAP_REQUEST__INIT;
    map.job = name;
    map.hold = hold;
    map.cut = hold == HOLD_BEGIN ? 0 : cut->number;
    map.from = cut->next;
    map.rows = ROWS_AT_ONCE;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_MAP;
    request.map = &map;
    return lbm_daemon_ask(daemon, &request, hold == HOLD_END ? NULL : take_chunk, cut);
}

static int
is_whole(const struct lbm_cut *cut)
{
    return cut->missing.n == 0 && cut->torn.n == 0;
}

/* The payload of a vertex that is kept in pieces, in place of what describes it. */
static enum lbm_status
read_large(struct lbm_daemon *daemon, const char *job, struct lbm_cut *cut, struct lbm_cut_vertex *vertex)
{
    uint8_t words[LBM_API_BLOB_WORDS];
    struct lbmap_payload payload;
    struct lbm_diag diag;
    enum lbm_status status = LBM_STATUS_FAILED;
    if (vertex->payload_len != sizeof words || fflush(cut->payloads) != 0 ||
        pread(fileno(cut->payloads), words, sizeof words, vertex->payload_at) != (ssize_t)sizeof words) {
        lbm_diag_set(&diag, LBM_E_IO, job, 0, "a payload cannot be read again");
        return lbm_cli_fail(daemon->client, &diag);
    }
    status = lbm_daemon_get(daemon, job, vertex->host, words, &payload);
    if (status != LBM_STATUS_DONE)
        return status;
    vertex->payload_at = cut->payloads_len;
    vertex->payload_len = (uint32_t)payload.len;
    vertex->is_blob = 0;
    cut->payloads_len += (off_t)payload.len;
    if (fwrite(payload.bytes, 1, payload.len, cut->payloads) != payload.len) {
        lbm_diag_set(&diag, LBM_E_IO, job, 0, "payloads cannot be written: %s", strerror(errno));
        status = lbm_cli_fail(daemon->client, &diag);
    }
    free((void *)payload.bytes);
    return status;
}

/* All of them, while the cut lasts: hosts keep what their records have. */
static enum lbm_status
read_all_large(struct lbm_daemon *daemon, const char *job, struct lbm_cut *cut)
{
    enum lbm_status status = LBM_STATUS_DONE;
    int64_t asked_ms = lbm_api_now_ms();
    for (uint32_t v = 0; status == LBM_STATUS_DONE && is_whole(cut) && v < cut->ids; v++) {
        if (!cut->vertex[v].is_blob)
            continue;
        status = read_large(daemon, job, cut, &cut->vertex[v]);
        if (status != LBM_STATUS_DONE || lbm_api_now_ms() - asked_ms < PROLONG_MS)
            continue;
        cut->next = 0;
        status = ask(daemon, job, 0, cut); /* prolongs it */
        asked_ms = lbm_api_now_ms();
    }
    return status;
}

static enum lbm_status
read_all(struct lbm_daemon *daemon, const char *job, struct lbm_cut *cut)
{
    enum lbm_status status = ask(daemon, job, HOLD_BEGIN, cut);
    if (status != LBM_STATUS_DONE)
        return status;
    for (uint32_t from = 0; status == LBM_STATUS_DONE && is_whole(cut); from = cut->next) {
        cut->next = from;
        status = ask(daemon, job, 0, cut);
        if (cut->next <= from)
            break;
    }
    if (status == LBM_STATUS_DONE)
        status = read_all_large(daemon, job, cut);
    enum lbm_status ended = ask(daemon, job, HOLD_END, cut);
    return status != LBM_STATUS_DONE ? status : ended;
}

static enum lbm_err
open_payloads(const char *dir, struct lbm_cut *cut, struct lbm_diag *diag)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/payloads.XXXXXX", dir);
    int fd = mkstemp(path);
    if (fd >= 0)
        (void)unlink(path);
    cut->payloads = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (cut->payloads == NULL && fd >= 0)
        (void)close(fd);
    return cut->payloads != NULL
               ? LBM_OK
               : lbm_diag_set(diag, LBM_E_IO, dir, 0, "cannot be written to: %s", strerror(errno));
}

/* ---- what it has to be ----------------------------------------------------------------------------------
 */

static void
name_hosts(const char *what, size_t n, const uint32_t *host, char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "%s", n == 1 ? "host" : "hosts");
    for (size_t i = 0; i < n && i < 8 && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s %" PRIu32, i != 0 ? "," : "", host[i]);
    if (at < size)
        snprintf(text + at, size - at, " %s", what);
}

/* Every edge is known at both its ends, with the same weight. Errors: LBM_E_BUSY: not now; LBM_E_NOMEM. */
static enum lbm_err
build(const struct lbm_cut *cut, struct lbm_graph *g, struct lbm_diag *diag)
{
    LBM_VEC(struct lbm_edge) edges = {0};
    enum lbm_err err = LBM_OK;
    for (uint32_t v = 0; err == LBM_OK && v < cut->ids; v++)
        for (uint32_t k = 0; err == LBM_OK && k < cut->vertex[v].degree; k++) {
            const struct lbm_cut_half *half = &cut->edge.at[cut->vertex[v].edge_at + k];
            struct lbm_edge edge = {v, half->to, half->weight};
            if (v < half->to && half->to < cut->ids)
                err = lbm_vec_push(&edges, edge);
        }
    if (err == LBM_OK)
        err = lbm_graph_build(cut->ids, edges.at, edges.n, LBM_MERGE_REJECT, g, diag);
    lbm_vec_free(&edges);
    if (err == LBM_OK) {
        g->work = lbm_alloc(cut->ids, sizeof *g->work);
        g->pin = lbm_alloc(cut->ids, sizeof *g->pin);
        err = g->work != NULL && g->pin != NULL ? LBM_OK : LBM_E_NOMEM;
    }
    for (uint32_t v = 0; err == LBM_OK && v < cut->ids; v++) {
        const struct lbm_cut_vertex *vertex = &cut->vertex[v];
        uint64_t first = g->offset[v];
        g->work[v] = vertex->epoch != 0 ? vertex->work : 1;
        g->pin[v] = vertex->epoch != 0 ? vertex->pin : LBM_NONE;
        if (g->offset[v + 1] - first != vertex->degree)
            err = LBM_E_BUSY;
        for (uint32_t k = 0; err == LBM_OK && k < vertex->degree; k++) {
            const struct lbm_cut_half *half = &cut->edge.at[vertex->edge_at + k];
            if (g->target[first + k] != half->to || lbm_graph_weight(g, first + k) != half->weight)
                err = LBM_E_BUSY;
        }
    }
    if (err == LBM_E_BUSY)
        lbm_diag_set(diag, err, "", 0, "its edges are changing");
    return err;
}

/* Errors: LBM_E_BUSY with a reason: once more. */
static enum lbm_err
judge(struct lbm_cut *cut, struct lbm_graph *g, struct lbm_diag *diag)
{
    char text[LBM_DIAG_TEXT_MAX / 2];
    cut->n = cut->n_pinned = 0;
    cut->bytes = 0;
    for (uint32_t v = 0; v < cut->ids; v++) {
        cut->n += cut->vertex[v].epoch != 0;
        cut->n_pinned += cut->vertex[v].epoch != 0 && cut->vertex[v].pin != LBM_NONE;
        cut->bytes += cut->vertex[v].payload_len;
    }
    if (cut->missing.n != 0) {
        name_hosts("did not answer in time: see lbctl hosts", cut->missing.n, cut->missing.at, text,
                   sizeof text);
        return lbm_diag_set(diag, LBM_E_BUSY, "", 0, "%s", text);
    }
    if (cut->torn.n != 0) {
        name_hosts(
            "did not keep the cut: it has begun again meanwhile, reads the job for somebody else, or does "
            "not listen to operators at the asked host",
            cut->torn.n, cut->torn.at, text, sizeof text);
        return lbm_diag_set(diag, LBM_E_BUSY, "", 0, "%s", text);
    }
    if (cut->n != cut->present)
        return lbm_diag_set(diag, LBM_E_BUSY, "", 0,
                            "%" PRIu32 " of %" PRIu64 " vertices were found on its hosts", cut->n,
                            cut->present);
    return build(cut, g, diag);
}

static void
clear(struct lbm_cut *cut)
{
    free(cut->vertex);
    lbm_vec_free(&cut->edge);
    lbm_vec_free(&cut->missing);
    lbm_vec_free(&cut->torn);
    if (cut->payloads != NULL)
        (void)fclose(cut->payloads);
    *cut = (struct lbm_cut){0};
}

enum lbm_status
lbm_cut_take(struct lbm_daemon *daemon, const char *job, const char *dir, struct lbm_cut *cut,
             struct lbm_graph *g)
{
    const struct timespec pause = {1, 0};
    struct lbm_diag diag;
    *cut = (struct lbm_cut){0};
    *g = (struct lbm_graph){0};
    for (int try = 0;; try++) {
        enum lbm_err err = open_payloads(dir, cut, &diag);
        if (err != LBM_OK)
            return lbm_cli_fail(daemon->client, &diag);
        enum lbm_status status = read_all(daemon, job, cut);
        if (status != LBM_STATUS_DONE)
            return status;
        if (fflush(cut->payloads) != 0)
            err = lbm_diag_set(&diag, LBM_E_IO, dir, 0, "cannot be written to: %s", strerror(errno));
        else
            err = judge(cut, g, &diag);
        if (err == LBM_OK)
            return LBM_STATUS_DONE;
        if (err != LBM_E_BUSY || try == TRIES - 1) {
            snprintf(diag.where, sizeof diag.where, "%.60s", job);
            return lbm_cli_fail(daemon->client, &diag);
        }
        lbm_graph_free(g);
        *g = (struct lbm_graph){0};
        clear(cut);
        nanosleep(&pause, NULL);
    }
}

void
lbm_cut_free(struct lbm_cut *cut)
{
    clear(cut);
}

enum lbm_err
lbm_cut_payload(const struct lbm_cut *cut, uint32_t v, struct lbm_buf *out, struct lbm_diag *diag)
{
    const struct lbm_cut_vertex *vertex = &cut->vertex[v];
    uint8_t *bytes = lbm_alloc(vertex->payload_len, 1);
    if (bytes == NULL && vertex->payload_len != 0)
        return LBM_E_NOMEM;
    ssize_t n = vertex->payload_len != 0
                    ? pread(fileno(cut->payloads), bytes, vertex->payload_len, vertex->payload_at)
                    : 0;
    if (n == (ssize_t)vertex->payload_len)
        lbm_buf_put(out, bytes, vertex->payload_len);
    free(bytes);
    if (n != (ssize_t)vertex->payload_len)
        return lbm_diag_set(diag, LBM_E_IO, "payloads", 0, "the payload of vertex %" PRIu32 " cannot be read",
                            v);
    return out->failed ? LBM_E_NOMEM : LBM_OK;
}
