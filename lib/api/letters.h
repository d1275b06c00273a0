/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Messages to vertices (docs/adr/0044): what a vertex has sent and heard travels with it.
 *
 * Every vertex that is held has a *desk*. Letters of one vertex to another are numbered from 1. Invariants:
 * (1) a letter stays at its sender's desk until the holder of the receiver says that a payload is kept that
 * counts it; (2) a desk hands letters of one sender on in the order of their numbers, each once; (3) a
 * payload has the desk as it was when the payload was made. So whatever is lost, a vertex goes on with a
 * state and the numbers that belong to it, and who sent to it still has all letters above these numbers. */
#ifndef LBM_API_LETTERS_H
#define LBM_API_LETTERS_H

#include "base/idmap.h"
#include "base/mem.h"
#include "lbmap.h"

struct lbm_letter {
    uint32_t to, tag, len;
    uint64_t number;
    _Alignas(16) uint8_t bytes[];
};

/* What a vertex has sent to another one. */
struct lbm_sent {
    uint32_t to;
    uint32_t n;            /* letters that are at the desk */
    uint64_t last;         /* number of the last letter */
    uint64_t packed;       /* those up to here are in the payload that was marked last, */
    uint64_t safe;         /* and in one that is kept */
    uint64_t posted;       /* those up to here were posted, */
    uint64_t received;     /* have been handed on by the holder, */
    uint64_t kept;         /* and are in a payload of the receiver that is kept */
    uint64_t token, stamp; /* of the holder that said what is received */
    int64_t due_ms;        /* it is asked again then */
    unsigned tries;        /* so often since it answered */
};

/* What a vertex has heard from another one. */
struct lbm_heard {
    uint32_t from;
    int owes;        /* the sender is to be told */
    uint64_t number; /* of the last letter that was handed on, */
    uint64_t packed; /* of the last that is in the payload that was marked last, */
    uint64_t kept;   /* and of the last that is in one that is kept */
};

struct lbm_desk {
    uint32_t vertex;
    uint64_t token, stamp; /* of this holder: the stamp tells one that begins again from the one before */
    size_t at;             /* index in mail->desks */
    LBM_VEC(struct lbm_sent) sent;
    LBM_VEC(struct lbm_heard) heard;
    struct lbm_idmap sent_at, heard_at;   /* vertex to index */
    LBM_VEC(struct lbm_letter *) letters; /* in the order in which they were sent */
    size_t bytes;                         /* of letters in a payload */
    int is_active;                        /* in mail->active */
    int has_news;                         /* some letters are not posted */
    int has_old;                          /* some are kept, and can go */
    int owes;                             /* some of heard do */
};

/* Where a vertex is, as last heard. */
struct lbm_hint {
    uint32_t vertex, host; /* LBMAP_NOWHERE: not known */
    uint32_t told;         /* what the program heard by `edges` or `vertex_moved` */
    int gone;              /* it was removed */
    int is_wanted;         /* in mail->wanted: other programs are asked for it */
    unsigned tries;
    int64_t due_ms;
};

/* A message to one host that is being written. */
struct lbm_box {
    uint32_t host;
    size_t budget; /* bytes that may be posted before the next look */
    struct lbm_buf rows;
};

struct lbm_letters {
    int delivers; /* 0: only `hints` is used */
    LBM_VEC(struct lbm_desk *) desks;
    struct lbm_idmap at; /* vertex to index in desks */
    LBM_VEC(struct lbm_desk *) active;
    LBM_VEC(struct lbm_hint) hints;
    struct lbm_idmap hint_at;
    LBM_VEC(uint32_t) wanted; /* indices of hints */
    LBM_VEC(uint32_t) peers;  /* hosts that have a program */
    LBM_VEC(struct lbm_box) boxes;
    struct lbm_buf nowhere; /* failed: takes what is for nobody */
    struct lbm_buf letter;  /* that is being handed on */
    struct lbm_buf packed;  /* a payload that is being made */
    int64_t look_ms, budget_ms, now_ms;
    size_t n_delivered; /* in this turn */
    uint32_t refused;   /* a vertex that has heard from too many; LBMAP_NOWHERE: none */
    int short_of_memory;
};

/* ---- letters_desk.c: desks by themselves ------------------------------------------------------------------
 */

/* Make a desk for a vertex that is held from now on, with what stands before the program's payload. stamp: a
 * number that grows from holder to holder on one host.
 * Out:     *own, the program's part of the payload: borrows.
 * Errors:  LBM_E_NOMEM. A payload that begins otherwise is all the program's. */
enum lbm_err lbm_letters_open(struct lbm_letters *mail, uint32_t vertex, uint64_t token, uint64_t stamp,
                              const struct lbmap_payload *payload, struct lbmap_payload *own) LBM_MUST_CHECK;
/* The desk of a vertex, or NULL. */
struct lbm_desk *lbm_letters_desk(const struct lbm_letters *mail, uint32_t vertex);
/* The vertex is not held any more. NULL: nothing. */
void lbm_letters_close(struct lbm_letters *mail, struct lbm_desk *desk);
/* Append what stands before a payload of this vertex. Errors: buf->failed. */
void lbm_letters_pack(const struct lbm_desk *desk, struct lbm_buf *buf);
/* A payload with the desk as it is now is on its way: what comes and goes from here on is not in it. */
void lbm_letters_mark(struct lbm_desk *desk);
/* The payload that was marked last is kept. */
void lbm_letters_set_kept(struct lbm_letters *mail, struct lbm_desk *desk);
/* What a vertex has sent to another one, or NULL. */
struct lbm_sent *lbm_letters_sent(const struct lbm_desk *desk, uint32_t to);
/* What it has heard of another one, made if there is none. NULL: it has heard from LBMAP_PARTNERS_MAX, or
 * memory is short; both are noted. */
struct lbm_heard *lbm_letters_heard(struct lbm_letters *mail, struct lbm_desk *desk, uint32_t from);
/* Append a letter. Errors: LBM_E_BUSY more than fits is not kept; LBM_E_LIMIT too many receivers;
 * LBM_E_NOMEM.
 */
enum lbm_err lbm_letters_write(struct lbm_letters *mail, struct lbm_desk *desk, uint32_t to, uint32_t tag,
                               const void *bytes, size_t n) LBM_MUST_CHECK;
/* Forget letters that are kept by their receivers. Not while letters of the desk are being looked at. */
void lbm_letters_clear_old(struct lbm_desk *desk);
/* Have the desk looked at by the next turns. */
void lbm_letters_activate(struct lbm_letters *mail, struct lbm_desk *desk);
/* Free all of it. NULL is allowed. */
void lbm_letters_free(struct lbm_letters *mail);

/* ---- letters_rows.c: what programs of several hosts tell each other ---------------------------------------
 */

/* The hint about a vertex, made if there is none. NULL: memory is short, noted. */
struct lbm_hint *lbm_letters_hint(struct lbm_letters *mail, uint32_t vertex);
/* A vertex is at that host. */
void lbm_letters_learn(struct lbm_letters *mail, uint32_t vertex, uint32_t host);
/* It is not where it was thought to be: others are asked. */
void lbm_letters_want(struct lbm_letters *mail, struct lbm_hint *hint);
/* A program is there, or not. */
void lbm_letters_peer(struct lbm_letters *mail, uint32_t host, int is_up);
/* Nonzero if a message begins as those of this file do. */
int lbm_letters_is_ours(const void *bytes, size_t n);
/* Take such a message: what makes no sense is dropped. */
void lbm_letters_take(struct lbmap *map, uint32_t host, const uint8_t *bytes, size_t n);
/* Post, deliver, ask and answer what is due. Something is served by a lease that holds. */
void lbm_letters_turn(struct lbmap *map);

#endif
