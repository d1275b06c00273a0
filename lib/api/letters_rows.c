/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What programs of several hosts tell each other about letters: rows in messages of lbmap_post, any of which
 * may be lost. Whoever does not hear asks again (invariants: letters.h). */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "api/letters_rows.h"
#include "api/peers.h"
#include "api/service.h"
#include "api/steps_bytes.h"

enum {
    FULL_BYTES = 128 << 10,   /* a message that has become so long is posted */
    BUDGET_BYTES = 256 << 10, /* of letters to a host, every */
    BUDGET_MS = 20,
};

_Static_assert(FULL_BYTES + LBMAP_SEND_MAX + 64 <= LBM_POST_BYTES_MAX, "one more row fits a message");

static const uint8_t magic[16] = {'l', 'b', 'm', 'a', 'p', ' ', 'l', 'e',
                                  't', 't', 'e', 'r', 's', ' ', '1', 0};

int
lbm_letters_is_ours(const void *bytes, size_t n)
{
    return n >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* ---- where vertices are -------------------------------------------------------------------------------- */

struct lbm_hint *
lbm_letters_hint(struct lbm_letters *mail, uint32_t vertex)
{
    const struct lbm_hint hint = {.vertex = vertex, .host = LBMAP_NOWHERE, .told = LBMAP_NOWHERE};
    uint32_t at = lbm_idmap_get(&mail->hint_at, vertex);
    if (at != LBM_NONE)
        return &mail->hints.at[at];
    if (vertex == LBM_NONE || lbm_vec_reserve(&mail->hints, 1) != LBM_OK ||
        lbm_idmap_put(&mail->hint_at, vertex, (uint32_t)mail->hints.n) != LBM_OK) {
        mail->short_of_memory |= vertex != LBM_NONE;
        return NULL;
    }
    mail->hints.at[mail->hints.n] = hint;
    return &mail->hints.at[mail->hints.n++];
}

void
lbm_letters_learn(struct lbm_letters *mail, uint32_t vertex, uint32_t host)
{
    struct lbm_hint *hint = lbm_letters_hint(mail, vertex);
    if (hint == NULL)
        return;
    hint->host = host;
    hint->tries = 0;
}

void
lbm_letters_want(struct lbm_letters *mail, struct lbm_hint *hint)
{
    hint->host = LBMAP_NOWHERE;
    if (hint->is_wanted)
        return;
    if (lbm_vec_push(&mail->wanted, (uint32_t)(hint - mail->hints.at)) != LBM_OK)
        mail->short_of_memory = 1;
    else
        hint->is_wanted = 1;
}

void
lbm_letters_peer(struct lbm_letters *mail, uint32_t host, int is_up)
{
    size_t at = 0;
    while (at < mail->peers.n && mail->peers.at[at] != host)
        at++;
    if (is_up && at == mail->peers.n && lbm_vec_push(&mail->peers, host) != LBM_OK)
        mail->short_of_memory = 1;
    if (is_up)
        return;
    if (at < mail->peers.n)
        mail->peers.at[at] = mail->peers.at[--mail->peers.n];
    for (size_t i = 0; i < mail->hints.n; i++)
        if (mail->hints.at[i].host == host)
            mail->hints.at[i].host = LBMAP_NOWHERE;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static void
post(struct lbmap *map, struct lbm_box *box)
{
    uint32_t len = (uint32_t)box->rows.len;
    if (len != 0 && !box->rows.failed) /* what the daemon does not take now is asked for again */
        (void)lbm_api_peers_post(map, &box->host, &len, 1, box->rows.at, len);
    box->rows.len = 0;
    box->rows.failed = 0;
}

/* The message to a host that is being written, or NULL. */
static struct lbm_box *
open_box(struct lbmap *map, uint32_t host)
{
    struct lbm_letters *mail = map->service->mail;
    struct lbm_box *box = NULL;
    for (size_t i = 0; i < mail->boxes.n && box == NULL; i++)
        box = mail->boxes.at[i].host == host ? &mail->boxes.at[i] : NULL;
    if (box == NULL) {
        if (lbm_vec_push(&mail->boxes, ((struct lbm_box){.host = host, .budget = BUDGET_BYTES})) != LBM_OK)
            return NULL;
        box = &mail->boxes.at[mail->boxes.n - 1];
    }
    if (box->rows.len >= FULL_BYTES)
        post(map, box);
    if (box->rows.len == 0)
        lbm_buf_put(&box->rows, magic, sizeof magic);
    return box;
}

static struct lbm_buf *
open_row(struct lbmap *map, uint32_t host, enum lbm_mail_row kind, uint32_t vertex)
{
    struct lbm_box *box = open_box(map, host);
    struct lbm_buf *rows = box != NULL ? &box->rows : &map->service->mail->nowhere;
    lbm_put32(rows, kind);
    lbm_put32(rows, vertex);
    return rows;
}

int
lbm_letters_row_letter(struct lbmap *map, uint32_t host, uint32_t from, const struct lbm_letter *letter)
{
    struct lbm_box *box = open_box(map, host);
    if (box == NULL || box->budget < letter->len)
        return 0;
    box->budget -= letter->len;
    struct lbm_buf *rows = open_row(map, host, LBM_MAIL_LETTER, letter->to);
    lbm_put32(rows, from);
    lbm_put64(rows, letter->number);
    lbm_put32(rows, letter->tag);
    lbm_put32(rows, letter->len);
    lbm_buf_put(rows, letter->bytes, letter->len);
    return 1;
}

void
lbm_letters_row_answer(struct lbmap *map, uint32_t host, const struct lbm_desk *desk,
                       const struct lbm_heard *heard)
{
    struct lbm_buf *rows = open_row(map, host, LBM_MAIL_ANSWER, desk->vertex);
    lbm_put32(rows, heard->from);
    lbm_put64(rows, desk->token);
    lbm_put64(rows, desk->stamp);
    lbm_put64(rows, heard->number);
    lbm_put64(rows, heard->kept);
}

void
lbm_letters_row_pair(struct lbmap *map, uint32_t host, enum lbm_mail_row kind, uint32_t vertex, uint32_t from)
{
    lbm_put32(open_row(map, host, kind, vertex), from);
}

void
lbm_letters_flush(struct lbmap *map)
{
    struct lbm_letters *mail = map->service->mail;
    for (size_t i = 0; i < mail->boxes.n; i++)
        post(map, &mail->boxes.at[i]);
}

void
lbm_letters_renew_budgets(struct lbm_letters *mail)
{
    if (mail->now_ms < mail->budget_ms)
        return;
    mail->budget_ms = mail->now_ms + BUDGET_MS;
    for (size_t i = 0; i < mail->boxes.n; i++)
        mail->boxes.at[i].budget = BUDGET_BYTES;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* A vertex that is not here: whoever asked looks for it elsewhere. */
static void
refuse(struct lbmap *map, uint32_t host, uint32_t vertex, uint32_t from)
{
    struct lbm_letters *mail = map->service->mail;
    uint32_t at = lbm_idmap_get(&mail->hint_at, vertex);
    int is_gone = at != LBM_NONE && mail->hints.at[at].gone;
    lbm_letters_row_pair(map, host, is_gone ? LBM_MAIL_GONE : LBM_MAIL_AWAY, vertex, from);
}

static int
take_letter(struct lbmap *map, uint32_t host, uint32_t to, struct lbm_reader *reader)
{
    struct lbm_letters *mail = map->service->mail;
    uint32_t from = lbm_get32(reader);
    uint64_t number = lbm_get64(reader);
    uint32_t tag = lbm_get32(reader), len = lbm_get32(reader);
    const uint8_t *bytes = lbm_get_bytes(reader, len);
    struct lbm_desk *desk = lbm_letters_desk(mail, to);
    if (bytes == NULL || len > LBMAP_SEND_MAX || from == LBM_NONE)
        return 0;
    if (desk == NULL || lbm_letters_heard(mail, desk, from) == NULL) {
        if (desk == NULL)
            refuse(map, host, to, from);
        return 1;
    }
    lbm_letters_learn(mail, from, host); /* only now: what is remembered is bounded */
    mail->letter.len = 0;                /* a copy is aligned */
    lbm_buf_put(&mail->letter, bytes, len);
    mail->short_of_memory |= mail->letter.failed;
    if (!mail->letter.failed)
        lbm_letters_hand_on(map, desk, from, number, tag, mail->letter.at, len);
    mail->letter.failed = 0;
    return 1;
}

static int
take_answer(struct lbmap *map, uint32_t host, uint32_t vertex, struct lbm_reader *reader)
{
    struct lbm_letters *mail = map->service->mail;
    struct lbm_desk *desk = lbm_letters_desk(mail, lbm_get32(reader));
    uint64_t token = lbm_get64(reader), stamp = lbm_get64(reader);
    uint64_t received = lbm_get64(reader), kept = lbm_get64(reader);
    struct lbm_sent *sent = desk != NULL ? lbm_letters_sent(desk, vertex) : NULL;
    if (reader->failed)
        return 0;
    if (sent != NULL && token >= sent->token) {
        lbm_letters_learn(mail, vertex, host);
        lbm_letters_answered(mail, desk, sent, token, stamp, received, kept);
    }
    return 1;
}

/* A vertex is not at that host: it moved, or was removed. */
static void
take_away(struct lbmap *map, uint32_t host, uint32_t vertex, uint32_t from, int is_gone)
{
    struct lbm_letters *mail = map->service->mail;
    uint32_t at = lbm_idmap_get(&mail->hint_at, vertex);
    struct lbm_hint *hint = at != LBM_NONE ? &mail->hints.at[at] : NULL;
    struct lbm_desk *desk = lbm_letters_desk(mail, from);
    struct lbm_sent *sent = desk != NULL ? lbm_letters_sent(desk, vertex) : NULL;
    if (hint == NULL)
        return;
    hint->gone |= is_gone;
    if (hint->host == host)
        lbm_letters_want(mail, hint);
    if (sent != NULL) {
        sent->posted = sent->received;
        sent->due_ms = mail->now_ms;
        desk->has_news = 1;
    }
}

static int
take_pair(struct lbmap *map, uint32_t host, enum lbm_mail_row kind, uint32_t vertex, uint32_t from)
{
    struct lbm_letters *mail = map->service->mail;
    struct lbm_desk *desk = lbm_letters_desk(mail, vertex);
    struct lbm_heard *heard;
    switch (kind) {
    case LBM_MAIL_ASK:
        if (from == LBM_NONE)
            return 0;
        if (desk == NULL) {
            refuse(map, host, vertex, from);
        } else if ((heard = lbm_letters_heard(mail, desk, from)) != NULL) {
            lbm_letters_learn(mail, from, host);
            heard->owes = desk->owes = 1;
            lbm_letters_activate(mail, desk);
        }
        return 1;
    case LBM_MAIL_WHERE:
        if (desk != NULL)
            lbm_letters_row_pair(map, host, LBM_MAIL_HERE, vertex, LBM_NONE);
        else if (lbm_idmap_get(&mail->hint_at, vertex) != LBM_NONE && lbm_letters_hint(mail, vertex)->gone)
            lbm_letters_row_pair(map, host, LBM_MAIL_GONE, vertex, LBM_NONE);
        return 1;
    case LBM_MAIL_HERE:
        if (lbm_idmap_get(&mail->hint_at, vertex) != LBM_NONE)
            lbm_letters_learn(mail, vertex, host);
        return 1;
    case LBM_MAIL_AWAY:
    case LBM_MAIL_GONE:
        take_away(map, host, vertex, from, kind == LBM_MAIL_GONE);
        return 1;
    default:
        return 0;
    }
}

static int
take_row(struct lbmap *map, uint32_t host, struct lbm_reader *reader)
{
    enum lbm_mail_row kind = (enum lbm_mail_row)lbm_get32(reader);
    uint32_t vertex = lbm_get32(reader);
    if (kind == LBM_MAIL_LETTER)
        return take_letter(map, host, vertex, reader);
    if (kind == LBM_MAIL_ANSWER)
        return take_answer(map, host, vertex, reader);
    uint32_t from = lbm_get32(reader);
    return !reader->failed && take_pair(map, host, kind, vertex, from);
}

void
lbm_letters_take(struct lbmap *map, uint32_t host, const uint8_t *bytes, size_t n)
{
    struct lbm_reader reader = {bytes + sizeof magic, n - sizeof magic, 0};
    while (reader.left != 0 && take_row(map, host, &reader))
        continue;
}
