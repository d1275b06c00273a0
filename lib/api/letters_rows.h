/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Rows about letters that go to programs of other hosts, and what becomes of those that come. */
#ifndef LBM_API_LETTERS_ROWS_H
#define LBM_API_LETTERS_ROWS_H

#include "api/letters.h"

/* On the wire between programs of one job: never changed. All begin with kind and vertex (4 bytes each). */
enum lbm_mail_row {
    LBM_MAIL_LETTER = 1, /* from, number (8), tag, len, bytes: to the vertex */
    LBM_MAIL_ANSWER = 2, /* from, token, stamp, received, kept (8 each): what the vertex has of `from` */
    LBM_MAIL_ASK = 3,    /* from: an answer is wanted */
    LBM_MAIL_AWAY = 4,   /* from: the vertex is not here */
    LBM_MAIL_GONE = 5,   /* from: it was removed */
    LBM_MAIL_WHERE = 6,  /* LBM_NONE: whoever has the vertex says so */
    LBM_MAIL_HERE = 7,   /* LBM_NONE: it is at the sender */
};

/* ---- letters_rows.c ---- */

/* A letter, to that host. Returns 0 if that has got as much as it should for the moment. */
int lbm_letters_row_letter(struct lbmap *map, uint32_t host, uint32_t from, const struct lbm_letter *letter);
/* What a desk has of a sender, which is at that host. */
void lbm_letters_row_answer(struct lbmap *map, uint32_t host, const struct lbm_desk *desk,
                            const struct lbm_heard *heard);
/* A row of any other kind. */
void lbm_letters_row_pair(struct lbmap *map, uint32_t host, enum lbm_mail_row kind, uint32_t vertex,
                          uint32_t from);
/* Post what is written. */
void lbm_letters_flush(struct lbmap *map);
/* Hosts may get more letters again, if it is time. */
void lbm_letters_renew_budgets(struct lbm_letters *mail);

/* ---- letters_turn.c ---- */

/* A letter has come for a desk: it is handed to the program if it is the next one. bytes: aligned. */
void lbm_letters_hand_on(struct lbmap *map, struct lbm_desk *desk, uint32_t from, uint64_t number,
                         uint32_t tag, const void *bytes, size_t n);
/* The holder of a receiver says what that has. */
void lbm_letters_answered(struct lbm_letters *mail, struct lbm_desk *desk, struct lbm_sent *sent,
                          uint64_t token, uint64_t stamp, uint64_t received, uint64_t kept);

#endif
