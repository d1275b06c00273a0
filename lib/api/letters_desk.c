/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Desks: what vertices have sent and heard, and how that stands before their payloads (invariants:
 * letters.h).
 *
 * A payload: MAGIC (8 bytes), numbers of heard, sent and letters (4 each); heard: from (4), number (8); sent:
 * to (4), last (8); letters: to, tag, len (4 each), number (8), bytes; then the program's part. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "api/letters.h"
#include "api/steps_bytes.h"

enum { HEADER_BYTES = 20, PAIR_BYTES = 12, LETTER_BYTES = 20 };

/* Of letters: what is left when a vertex has heard from and sent to as many as it may. */
#define LETTERS_MAX (LBMAP_MAIL_MAX - HEADER_BYTES - 2 * PAIR_BYTES * LBMAP_PARTNERS_MAX)

_Static_assert(LBMAP_SEND_MAX + LETTER_BYTES <= LETTERS_MAX, "the longest letter fits");
_Static_assert(LBMAP_MAIL_MAX < LBMAP_PAYLOAD_MAX, "something is left for the program");

static const uint8_t magic[8] = {'l', 'b', 'm', 'm', 'a', 'i', 'l', '1'};

struct lbm_desk *
lbm_letters_desk(const struct lbm_letters *mail, uint32_t vertex)
{
    uint32_t at = lbm_idmap_get(&mail->at, vertex);
    return at != LBM_NONE ? mail->desks.at[at] : NULL;
}

struct lbm_sent *
lbm_letters_sent(const struct lbm_desk *desk, uint32_t to)
{
    uint32_t at = lbm_idmap_get(&desk->sent_at, to);
    return at != LBM_NONE ? &desk->sent.at[at] : NULL;
}

static enum lbm_err
add_sent(struct lbm_desk *desk, uint32_t to, uint64_t last)
{
    struct lbm_sent sent = {
        .to = to, .last = last, .safe = last, .posted = last, .received = last, .kept = last};
    if (lbm_letters_sent(desk, to) != NULL)
        return LBM_E_CORRUPT;
    if (desk->sent.n == LBMAP_PARTNERS_MAX)
        return LBM_E_LIMIT;
    if (lbm_vec_reserve(&desk->sent, 1) != LBM_OK ||
        lbm_idmap_put(&desk->sent_at, to, (uint32_t)desk->sent.n) != LBM_OK)
        return LBM_E_NOMEM;
    desk->sent.at[desk->sent.n++] = sent;
    return LBM_OK;
}

static enum lbm_err
add_heard(struct lbm_desk *desk, uint32_t from, uint64_t number)
{
    struct lbm_heard heard = {.from = from, .number = number, .kept = number};
    if (lbm_idmap_get(&desk->heard_at, from) != LBM_NONE)
        return LBM_E_CORRUPT;
    if (desk->heard.n == LBMAP_PARTNERS_MAX)
        return LBM_E_LIMIT;
    if (lbm_vec_reserve(&desk->heard, 1) != LBM_OK ||
        lbm_idmap_put(&desk->heard_at, from, (uint32_t)desk->heard.n) != LBM_OK)
        return LBM_E_NOMEM;
    desk->heard.at[desk->heard.n++] = heard;
    return LBM_OK;
}

struct lbm_heard *
lbm_letters_heard(struct lbm_letters *mail, struct lbm_desk *desk, uint32_t from)
{
    uint32_t at = lbm_idmap_get(&desk->heard_at, from);
    if (at != LBM_NONE)
        return &desk->heard.at[at];
    enum lbm_err err = add_heard(desk, from, 0);
    if (err == LBM_E_LIMIT)
        mail->refused = desk->vertex;
    else if (err != LBM_OK)
        mail->short_of_memory = 1;
    return err == LBM_OK ? &desk->heard.at[desk->heard.n - 1] : NULL;
}

/* Takes a letter of this length. Errors: LBM_E_NOMEM, LBM_E_LIMIT. */
static enum lbm_err
add_letter(struct lbm_desk *desk, struct lbm_sent *sent, uint32_t tag, uint64_t number, const void *bytes,
           size_t n)
{
    if (n > LETTERS_MAX || desk->bytes + LETTER_BYTES + n > LETTERS_MAX)
        return LBM_E_LIMIT;
    struct lbm_letter *letter = lbm_alloc(1, sizeof *letter + n);
    if (letter == NULL || lbm_vec_push(&desk->letters, letter) != LBM_OK) {
        free(letter);
        return LBM_E_NOMEM;
    }
    letter->to = sent->to;
    letter->tag = tag;
    letter->len = (uint32_t)n;
    letter->number = number;
    if (n != 0)
        memcpy(letter->bytes, bytes, n);
    desk->bytes += LETTER_BYTES + n;
    desk->has_news = 1;
    sent->n++;
    return LBM_OK;
}

enum lbm_err
lbm_letters_write(struct lbm_letters *mail, struct lbm_desk *desk, uint32_t to, uint32_t tag,
                  const void *bytes, size_t n)
{
    struct lbm_sent *sent = lbm_letters_sent(desk, to);
    if (desk->bytes + LETTER_BYTES + n > LETTERS_MAX)
        return LBM_E_BUSY;
    enum lbm_err err = sent == NULL ? add_sent(desk, to, 0) : LBM_OK;
    if (err != LBM_OK)
        return err;
    sent = lbm_letters_sent(desk, to);
    err = add_letter(desk, sent, tag, sent->last + 1, bytes, n);
    if (err != LBM_OK)
        return err;
    sent->last++;
    lbm_letters_activate(mail, desk);
    return LBM_OK;
}

void
lbm_letters_clear_old(struct lbm_desk *desk)
{
    size_t n = 0;
    if (!desk->has_old)
        return;
    for (size_t i = 0; i < desk->letters.n; i++) {
        struct lbm_letter *letter = desk->letters.at[i];
        struct lbm_sent *sent = lbm_letters_sent(desk, letter->to);
        if (letter->number > sent->kept) {
            desk->letters.at[n++] = letter;
            continue;
        }
        sent->n--;
        desk->bytes -= LETTER_BYTES + letter->len;
        free(letter);
    }
    desk->letters.n = n;
    desk->has_old = 0;
}

void
lbm_letters_activate(struct lbm_letters *mail, struct lbm_desk *desk)
{
    if (desk->is_active)
        return;
    if (lbm_vec_push(&mail->active, desk) != LBM_OK)
        mail->short_of_memory = 1;
    else
        desk->is_active = 1;
}

/* ---- payloads ------------------------------------------------------------------------------------------ */

void
lbm_letters_pack(const struct lbm_desk *desk, struct lbm_buf *buf)
{
    uint32_t n = 0;
    for (size_t i = 0; i < desk->sent.n; i++)
        n += desk->sent.at[i].n;
    lbm_buf_put(buf, magic, sizeof magic);
    lbm_put32(buf, (uint32_t)desk->heard.n);
    lbm_put32(buf, (uint32_t)desk->sent.n);
    lbm_put32(buf, n);
    for (size_t i = 0; i < desk->heard.n; i++) {
        lbm_put32(buf, desk->heard.at[i].from);
        lbm_put64(buf, desk->heard.at[i].number);
    }
    for (size_t i = 0; i < desk->sent.n; i++) {
        lbm_put32(buf, desk->sent.at[i].to);
        lbm_put64(buf, desk->sent.at[i].last);
    }
    for (size_t i = 0; i < desk->letters.n; i++) {
        const struct lbm_letter *letter = desk->letters.at[i];
        lbm_put32(buf, letter->to);
        lbm_put32(buf, letter->tag);
        lbm_put32(buf, letter->len);
        lbm_put64(buf, letter->number);
        lbm_buf_put(buf, letter->bytes, letter->len);
    }
}

static enum lbm_err
unpack_pairs(struct lbm_reader *reader, uint32_t n, struct lbm_desk *desk,
             enum lbm_err (*add)(struct lbm_desk *desk, uint32_t other, uint64_t number))
{
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; i < n && err == LBM_OK; i++) {
        uint32_t other = lbm_get32(reader);
        uint64_t number = lbm_get64(reader);
        err = reader->failed || other == LBM_NONE ? LBM_E_CORRUPT : add(desk, other, number);
    }
    return err;
}

static enum lbm_err
unpack_letter(struct lbm_reader *reader, struct lbm_desk *desk)
{
    uint32_t to = lbm_get32(reader), tag = lbm_get32(reader), len = lbm_get32(reader);
    uint64_t number = lbm_get64(reader);
    const uint8_t *bytes = lbm_get_bytes(reader, len);
    struct lbm_sent *sent = bytes != NULL ? lbm_letters_sent(desk, to) : NULL;
    if (sent == NULL || number == 0 || number > sent->last)
        return LBM_E_CORRUPT;
    if (sent->n == 0)
        sent->posted = sent->received = sent->kept = number - 1;
    return add_letter(desk, sent, tag, number, bytes, len);
}

/* Returns the bytes that are the library's. Errors: LBM_E_NOMEM; all others: they make no sense. */
static enum lbm_err
unpack(struct lbm_desk *desk, const struct lbmap_payload *payload, size_t *taken)
{
    struct lbm_reader reader = {payload->bytes, payload->len, 0};
    const uint8_t *begin = lbm_get_bytes(&reader, sizeof magic);
    if (begin == NULL || memcmp(begin, magic, sizeof magic) != 0)
        return LBM_E_SYNTAX;
    uint32_t n_heard = lbm_get32(&reader), n_sent = lbm_get32(&reader), n_letters = lbm_get32(&reader);
    enum lbm_err err = reader.failed ? LBM_E_CORRUPT : unpack_pairs(&reader, n_heard, desk, add_heard);
    if (err == LBM_OK)
        err = unpack_pairs(&reader, n_sent, desk, add_sent);
    for (uint32_t i = 0; i < n_letters && err == LBM_OK; i++)
        err = unpack_letter(&reader, desk);
    *taken = payload->len - reader.left;
    return err;
}

static void
empty(struct lbm_desk *desk)
{
    for (size_t i = 0; i < desk->letters.n; i++)
        free(desk->letters.at[i]);
    lbm_vec_free(&desk->letters);
    lbm_vec_free(&desk->sent);
    lbm_vec_free(&desk->heard);
    lbm_idmap_free(&desk->sent_at);
    lbm_idmap_free(&desk->heard_at);
    desk->bytes = 0;
}

enum lbm_err
lbm_letters_open(struct lbm_letters *mail, uint32_t vertex, uint64_t token, uint64_t stamp,
                 const struct lbmap_payload *payload, struct lbmap_payload *own)
{
    struct lbm_desk *desk = lbm_alloc(1, sizeof *desk);
    size_t taken = 0;
    if (desk == NULL || lbm_vec_reserve(&mail->desks, 1) != LBM_OK ||
        lbm_idmap_put(&mail->at, vertex, (uint32_t)mail->desks.n) != LBM_OK) {
        free(desk);
        return LBM_E_NOMEM;
    }
    desk->vertex = vertex;
    desk->token = token;
    desk->stamp = stamp;
    desk->at = mail->desks.n;
    mail->desks.at[mail->desks.n++] = desk;
    enum lbm_err err = unpack(desk, payload, &taken);
    if (err == LBM_E_NOMEM) {
        lbm_letters_close(mail, desk);
        return err;
    }
    if (err != LBM_OK) {
        empty(desk);
        taken = 0;
    }
    *own = (struct lbmap_payload){taken != 0 ? (const uint8_t *)payload->bytes + taken : payload->bytes,
                                  payload->len - taken};
    for (size_t i = 0; i < desk->heard.n; i++)
        desk->heard.at[i].owes = desk->owes = 1;
    if (desk->owes || desk->letters.n != 0)
        lbm_letters_activate(mail, desk);
    return LBM_OK;
}

void
lbm_letters_close(struct lbm_letters *mail, struct lbm_desk *desk)
{
    if (desk == NULL)
        return;
    struct lbm_desk *last = mail->desks.at[--mail->desks.n];
    lbm_idmap_remove(&mail->at, desk->vertex);
    if (last != desk) {
        mail->desks.at[desk->at] = last;
        last->at = desk->at;
        enum lbm_err err = lbm_idmap_put(&mail->at, last->vertex, (uint32_t)last->at); /* replaces */
        mail->short_of_memory |= err != LBM_OK;
    }
    for (size_t i = 0; i < mail->active.n && desk->is_active; i++)
        if (mail->active.at[i] == desk) {
            mail->active.at[i] = mail->active.at[--mail->active.n];
            break;
        }
    empty(desk);
    free(desk);
}

void
lbm_letters_mark(struct lbm_desk *desk)
{
    for (size_t i = 0; i < desk->heard.n; i++)
        desk->heard.at[i].packed = desk->heard.at[i].number;
    for (size_t i = 0; i < desk->sent.n; i++)
        desk->sent.at[i].packed = desk->sent.at[i].last;
}

/* Partners that came after the mark have 0 there, and what is kept never goes back. */
void
lbm_letters_set_kept(struct lbm_letters *mail, struct lbm_desk *desk)
{
    for (size_t i = 0; i < desk->heard.n; i++) {
        struct lbm_heard *heard = &desk->heard.at[i];
        if (heard->packed <= heard->kept)
            continue;
        heard->kept = heard->packed;
        heard->owes = desk->owes = 1;
    }
    for (size_t i = 0; i < desk->sent.n; i++) {
        struct lbm_sent *sent = &desk->sent.at[i];
        if (sent->packed <= sent->safe)
            continue;
        sent->safe = sent->packed;
        desk->has_news = 1;
    }
    lbm_letters_activate(mail, desk);
}

void
lbm_letters_free(struct lbm_letters *mail)
{
    if (mail == NULL)
        return;
    for (size_t i = 0; i < mail->desks.n; i++) {
        empty(mail->desks.at[i]);
        free(mail->desks.at[i]);
    }
    for (size_t i = 0; i < mail->boxes.n; i++)
        lbm_buf_free(&mail->boxes.at[i].rows);
    lbm_vec_free(&mail->desks);
    lbm_vec_free(&mail->active);
    lbm_vec_free(&mail->hints);
    lbm_vec_free(&mail->wanted);
    lbm_vec_free(&mail->peers);
    lbm_vec_free(&mail->boxes);
    lbm_idmap_free(&mail->at);
    lbm_idmap_free(&mail->hint_at);
    lbm_buf_free(&mail->letter);
    lbm_buf_free(&mail->packed);
    free(mail);
}
