/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Turns of the mail: letters that were not posted yet, answers that are due, questions for what was not
 * answered (invariants: letters.h). */
#include "config.h"

#include "api/letters_rows.h"
#include "api/mutants.h"
#include "api/service.h"

enum {
    LOOK_MS = 50,    /* between looks at what is not answered */
    RESEND_MS = 200, /* letters that are not received are posted again after that, then twice, ... */
    ASK_MS = 1000,   /* those that are received and not kept are asked for after that */
    UNHEARD_MAX = 2, /* so often in vain: the vertex may be elsewhere */
    WHERE_MS = 100,  /* others are asked for a vertex again after that, then twice, ... */
    DOUBLINGS = 4,   /* up to that often, */
    WHERE_TRIES = 8, /* and no more until somebody wants it again */
};

void
lbm_letters_hand_on(struct lbmap *map, struct lbm_desk *desk, uint32_t from, uint64_t number, uint32_t tag,
                    const void *bytes, size_t n)
{
    struct lbm_service *s = map->service;
    struct lbm_heard *heard = lbm_letters_heard(s->mail, desk, from);
    if (heard == NULL)
        return;
    heard->owes = desk->owes = 1;
    lbm_letters_activate(s->mail, desk);
    if (number <= heard->number ? !LBM_API_BUG(LETTER_TAKEN_TWICE)
                                : number != heard->number + 1 && !LBM_API_BUG(LETTER_GAP))
        return; /* it was here before, or one before it is missing: the sender is told what is here */
    heard->number = number;
    s->mail->n_delivered++;
    s->callbacks.deliver(s->callbacks.context, desk->vertex, from, tag, bytes, n);
}

void
lbm_letters_answered(struct lbm_letters *mail, struct lbm_desk *desk, struct lbm_sent *sent, uint64_t token,
                     uint64_t stamp, uint64_t received, uint64_t kept)
{
    int is_other = sent->token != 0 && (token != sent->token || stamp != sent->stamp);
    if (token < sent->token)
        return; /* who had it before */
    sent->token = token;
    sent->stamp = stamp;
    if (is_other) /* it begins from what was kept: letters since are posted again */
        sent->posted = sent->received = received;
    sent->received = received > sent->received ? received : sent->received;
    sent->posted = sent->received > sent->posted ? sent->received : sent->posted;
    if (received > kept && LBM_API_BUG(LETTER_FORGOTTEN_ON_DELIVERY))
        kept = received;
    if (kept > sent->kept) {
        sent->kept = kept;
        desk->has_old = 1;
    }
    desk->has_news |= sent->posted < sent->last;
    sent->tries = 0;
    sent->due_ms = mail->now_ms + (sent->received < sent->posted ? RESEND_MS : ASK_MS);
}

/* The receiver is here too: what it has is known at once. */
static void
answer_here(struct lbm_letters *mail, struct lbm_desk *desk, struct lbm_sent *sent, struct lbm_desk *to)
{
    const struct lbm_heard *heard = lbm_letters_heard(mail, to, desk->vertex);
    if (heard == NULL)
        return;
    lbm_letters_answered(mail, desk, sent, to->token, to->stamp, heard->number, heard->kept);
    sent->posted = heard->number; /* nothing is on its way */
    desk->has_news |= sent->posted < sent->last;
}

/* ---- letters ------------------------------------------------------------------------------------------- */

static void
deliver_here(struct lbmap *map, struct lbm_desk *desk, const struct lbm_letter *letter, struct lbm_desk *to)
{
    lbm_letters_hand_on(map, to, desk->vertex, letter->number, letter->tag, letter->bytes, letter->len);
    struct lbm_sent *sent = lbm_letters_sent(desk, letter->to); /* the program may have sent something */
    sent->posted = letter->number;
    answer_here(map->service->mail, desk, sent, to);
}

/* Returns nonzero if the letter is not on its way yet, and is to be looked at again. */
static int
post_letter(struct lbmap *map, struct lbm_desk *desk, const struct lbm_letter *letter)
{
    struct lbm_letters *mail = map->service->mail;
    struct lbm_sent *sent = lbm_letters_sent(desk, letter->to);
    struct lbm_desk *here;
    if (letter->number <= sent->posted || (map->service->callbacks.send_kept && letter->number > sent->safe &&
                                           !LBM_API_BUG(LETTER_NOT_HELD_BACK)))
        return 0;
    if (letter->number != sent->posted + 1)
        return 1;
    if ((here = lbm_letters_desk(mail, letter->to)) != NULL) {
        deliver_here(map, desk, letter, here);
        return 0;
    }
    struct lbm_hint *hint = lbm_letters_hint(mail, letter->to);
    if (hint == NULL)
        return 1;
    if (hint->gone) {
        sent->posted = sent->received = sent->kept = sent->last;
        desk->has_old = 1;
        return 0;
    }
    if (hint->host == LBMAP_NOWHERE || hint->host == map->host) {
        lbm_letters_want(mail, hint);
        return 1;
    }
    if (!lbm_letters_row_letter(map, hint->host, desk->vertex, letter))
        return 1;
    sent->posted = letter->number;
    if (sent->due_ms <= mail->now_ms)
        sent->due_ms = mail->now_ms + RESEND_MS;
    return 0;
}

/* Letters that the program sends meanwhile wait for the next turn. */
static void
post_letters(struct lbmap *map, struct lbm_desk *desk)
{
    size_t n = desk->letters.n;
    int is_left = 0;
    desk->has_news = 0;
    for (size_t i = 0; i < n; i++)
        is_left |= post_letter(map, desk, desk->letters.at[i]);
    desk->has_news |= is_left;
}

/* ---- answers ------------------------------------------------------------------------------------------- */

static void
answer(struct lbmap *map, struct lbm_desk *desk)
{
    struct lbm_letters *mail = map->service->mail;
    desk->owes = 0;
    for (size_t i = 0; i < desk->heard.n; i++) {
        struct lbm_heard *heard = &desk->heard.at[i];
        struct lbm_desk *from = heard->owes ? lbm_letters_desk(mail, heard->from) : NULL;
        struct lbm_sent *sent = from != NULL ? lbm_letters_sent(from, desk->vertex) : NULL;
        uint32_t at = heard->owes && from == NULL ? lbm_idmap_get(&mail->hint_at, heard->from) : LBM_NONE;
        if (sent != NULL)
            answer_here(mail, from, sent, desk);
        else if (at != LBM_NONE && mail->hints.at[at].host != LBMAP_NOWHERE &&
                 mail->hints.at[at].host != map->host)
            lbm_letters_row_answer(map, mail->hints.at[at].host, desk, heard);
        heard->owes = 0; /* a sender that does not hear asks */
    }
}

/* ---- questions ----------------------------------------------------------------------------------------- */

static void
ask(struct lbmap *map, struct lbm_desk *desk, struct lbm_sent *sent)
{
    struct lbm_letters *mail = map->service->mail;
    struct lbm_desk *here = lbm_letters_desk(mail, sent->to);
    if (sent->n == 0 || sent->posted <= sent->kept || mail->now_ms < sent->due_ms)
        return;
    if (here != NULL) {
        answer_here(mail, desk, sent, here);
        return;
    }
    struct lbm_hint *hint = lbm_letters_hint(mail, sent->to);
    int is_received = sent->received >= sent->posted;
    int64_t again_ms = is_received ? ASK_MS : (int64_t)RESEND_MS << sent->tries;
    int is_lost = hint == NULL || hint->host == map->host || hint->host == LBMAP_NOWHERE;
    if (hint != NULL && (is_lost || sent->tries > UNHEARD_MAX)) {
        lbm_letters_want(mail, hint);
        sent->tries = 0; /* where it is found it is asked again */
        again_ms = RESEND_MS;
    } else if (hint != NULL && is_received) {
        lbm_letters_row_pair(map, hint->host, LBM_MAIL_ASK, sent->to, desk->vertex);
    }
    if (!is_received) {
        sent->posted = sent->received;
        desk->has_news = 1;
    }
    sent->tries++;
    sent->due_ms = mail->now_ms + again_ms;
}

/* Others are asked where vertices are. */
static void
look_for_vertices(struct lbmap *map)
{
    struct lbm_letters *mail = map->service->mail;
    size_t n = 0;
    for (size_t i = 0; i < mail->wanted.n; i++) {
        struct lbm_hint *hint = &mail->hints.at[mail->wanted.at[i]];
        hint->is_wanted = hint->host == LBMAP_NOWHERE && !hint->gone && hint->tries < WHERE_TRIES &&
                          lbm_letters_desk(mail, hint->vertex) == NULL;
        if (!hint->is_wanted) {
            hint->tries = hint->tries < WHERE_TRIES ? hint->tries : DOUBLINGS;
            continue;
        }
        mail->wanted.at[n++] = mail->wanted.at[i];
        if (mail->now_ms < hint->due_ms)
            continue;
        for (size_t k = 0; k < mail->peers.n; k++)
            lbm_letters_row_pair(map, mail->peers.at[k], LBM_MAIL_WHERE, hint->vertex, LBM_NONE);
        hint->due_ms =
            mail->now_ms + ((int64_t)WHERE_MS << (hint->tries < DOUBLINGS ? hint->tries : DOUBLINGS));
        hint->tries++;
    }
    mail->wanted.n = n;
}

/* ---- the turn ------------------------------------------------------------------------------------------ */

static void
look(struct lbmap *map)
{
    struct lbm_letters *mail = map->service->mail;
    if (mail->now_ms >= mail->look_ms) {
        mail->look_ms = mail->now_ms + LOOK_MS;
        for (size_t i = 0; i < mail->active.n; i++)
            for (size_t k = 0; k < mail->active.at[i]->sent.n; k++)
                ask(map, mail->active.at[i], &mail->active.at[i]->sent.at[k]);
    }
    if (mail->wanted.n != 0)
        look_for_vertices(map);
}

void
lbm_letters_turn(struct lbmap *map)
{
    struct lbm_letters *mail = map->service->mail;
    size_t n = mail->active.n;
    mail->now_ms = lbm_api_now_ms();
    lbm_letters_renew_budgets(mail);
    for (size_t i = 0; i < n; i++)
        if (mail->active.at[i]->has_news)
            post_letters(map, mail->active.at[i]);
    look(map);
    for (size_t i = 0; i < mail->active.n; i++)
        if (mail->active.at[i]->owes)
            answer(map, mail->active.at[i]);
    n = 0;
    for (size_t i = 0; i < mail->active.n; i++) {
        struct lbm_desk *desk = mail->active.at[i];
        lbm_letters_clear_old(desk);
        desk->is_active = desk->letters.n != 0 || desk->owes;
        if (desk->is_active)
            mail->active.at[n++] = desk;
    }
    mail->active.n = n;
    lbm_letters_flush(map);
}
