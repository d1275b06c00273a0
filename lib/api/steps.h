/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* lbmap_steps from the inside. A *line* is what is known of one vertex: n states, those after steps lo, lo +
 * 1 and so on without a gap. Own lines grow by steps, others by what their owners send.
 *
 * Invariants. (1) A state is the same wherever it was computed, so any copy serves. (2) `durable` never goes
 * back: whoever has the vertex next begins there or later. (3) The owner of u keeps u's states from the least
 * `durable` of its neighbours on, in memory and in each checkpoint: so a neighbour that begins again finds
 * what it needs, even if u begins again at the same time. The last one is there as a whole, and those before
 * it too, or what neighbours see of them (`share`, `share_with`): nobody looks at more. While a checkpoint is
 * on its way u goes on, and its `durable` is what it was: only what is kept is told. (4) n of an own line is
 * at most the window, which is wider than the distance of checkpoints: so the vertex that holds others up is
 * always due for its checkpoint. */
#ifndef LBM_API_STEPS_H
#define LBM_API_STEPS_H

#include "api/call.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "lbmap_steps.h"

/* What is here of a state; numbers as in payloads. */
enum lbm_form {
    LBM_WHOLE = 0,
    LBM_SHARED = 1, /* what neighbours see (`share`) */
    LBM_PARTS = 2,  /* what single neighbours see (`share_with`), steps_seen.c */
};

struct lbm_state {
    size_t len;
    size_t shared_at, shared_len; /* what neighbours see, in `bytes`, of LBM_WHOLE and LBM_SHARED */
    enum lbm_form form;
    int stays_whole; /* LBM_PARTS would be no shorter */
    _Alignas(16) uint8_t bytes[];
};

struct lbm_line;
struct lbm_sum;    /* steps_reduce.c */
struct lbm_batch;  /* steps_end.c */
struct lbm_coming; /* steps_pieces.c */

/* What a vertex contributes after a step. */
struct lbm_part {
    uint64_t step;
    uint8_t *value; /* [value_size] */
};

struct lbm_edge {
    struct lbm_line *to;
    uint32_t weight;
};

struct lbm_line {
    uint32_t vertex;
    uint64_t token;          /* of an own one; 0: another host's */
    uint64_t acquired;       /* so often */
    uint64_t lo;             /* step of the first state */
    size_t n;                /* states; of an own line 1 or more */
    struct lbm_state **ring; /* [ring_size], a power of two; state s at s & (ring_size - 1) */
    size_t ring_size;
    uint64_t durable;                /* it never begins before that again */
    uint32_t host;                   /* of another host's: which one, as last heard, or LBMAP_NOWHERE */
    LBM_VEC(struct lbm_edge) edges;  /* of an own one, by vertex */
    int has_edges;                   /* they have been told */
    LBM_VEC(struct lbm_line *) used; /* own lines that have it as a neighbour */
    size_t at;                       /* own: index in steps->own */
    size_t have;                     /* own: neighbours whose state after as many steps is here */
    int queued;                      /* own: in steps->ready */
    int64_t asked_ms;                /* its owner was last asked; 0: not since something came */
    unsigned asked;                  /* so often since something came, */
    unsigned unheard;                /* and so often in vain */
    LBM_VEC(struct lbm_part) parts;  /* own: of the last periods, by step */
    int64_t told_ms;                 /* own, done: when the collector was last told; INT64_MAX: it has it */
    size_t result_have, result_sent; /* own, done: bytes of the last state that it has, and was sent */
};

/* Messages to one host on their way. */
struct lbm_outbox {
    uint32_t host;
    struct lbm_buf rows;
};

struct lbm_steps {
    struct lbmap_steps program;
    struct lbmap *map;
    uint64_t window;
    LBM_VEC(struct lbm_line *) lines;
    struct lbm_idmap at; /* vertex to index in lines */
    LBM_VEC(struct lbm_line *) own;
    LBM_VEC(struct lbm_line *) ready; /* a queue: from `next` on */
    size_t next;
    LBM_VEC(struct lbm_line *) fresh; /* own lines that were acquired and have not asked yet */
    LBM_VEC(struct lbm_outbox) out;
    struct lbm_buf nowhere; /* failed: takes what is for nobody */
    LBM_VEC(struct lbmap_neighbour) views;
    size_t export_size;                /* of what single neighbours see, 0: all see the same */
    struct lbm_buf parts;              /* steps_export.c: that are being written, */
    struct lbm_buf room;               /* and that own lines see in a step */
    LBM_VEC(uint32_t) peers;           /* hosts that have a program, ascending */
    LBM_VEC(struct lbm_buf) payloads;  /* of the dispatch in progress */
    struct lbm_batch *batch;           /* that is being kept; NULL: none */
    int64_t keep_ms;                   /* since when something is due for a checkpoint; 0: nothing */
    int64_t look_ms, load_ms;          /* next look at what is missing; next report of loads */
    uint32_t collector;                /* that was told last, or LBMAP_NOWHERE */
    uint32_t n_done;                   /* of result */
    struct lbm_state **result;         /* [vertices] if this is the collector; NULL: not yet */
    LBM_VEC(struct lbm_coming) coming; /* last states that come in pieces, if this is the collector */
    uint64_t *kept;                    /* [vertices] if this is the collector: least step they are kept at */
    uint64_t stable;                   /* that all of them are, as last heard; */
    int64_t kept_ms, stable_ms;        /* own vertices are told again, it is worked out again */
    int64_t left_ms;                   /* next look at whether this host has left */
    int handed_out;                    /* they have been handed to the program */
    int finished;                      /* somebody has collected everything */
    size_t value_size;                 /* of contributions; 0: there are none */
    uint64_t periods;                  /* contributions that a vertex has in its payload; 0: there are none */
    LBM_VEC(struct lbm_sum *) sums;    /* values of the job, and what they are made from */
    uint64_t reduced;                  /* of the last that the program was told */
    enum lbmap_error error;            /* found in a callback */
    char message[LBM_DIAG_TEXT_MAX];
};

void lbm_steps_fail(struct lbm_steps *steps, enum lbmap_error error, const char *fmt, ...) LBM_PRINTF(3, 4);

/* Nonzero if nothing that functions of the program have just made may be used: it failed, or gives up. */
static inline int
lbm_steps_must_end(const struct lbm_steps *steps)
{
    return steps->error != LBMAP_OK || (steps->program.stop != NULL && *steps->program.stop);
}

/* ---- steps_line.c ---- */

static inline uint64_t
lbm_line_next(const struct lbm_line *line)
{
    return line->lo + line->n;
}

/* Of an own one: how many steps it has done. */
static inline uint64_t
lbm_line_step(const struct lbm_line *line)
{
    return line->lo + line->n - 1;
}

/* The line of a vertex, made if there is none. NULL: memory is short, noted. */
struct lbm_line *lbm_steps_line(struct lbm_steps *steps, uint32_t vertex);
void lbm_line_free(struct lbm_line *line);
void lbm_line_begin(struct lbm_line *line, uint64_t step); /* forget all states; the next one is that */
void lbm_line_drop(struct lbm_line *line, uint64_t lo);    /* states before lo; the last one stays */
const struct lbm_state *lbm_line_get(const struct lbm_line *line, uint64_t step); /* or NULL */
/* Append the next state; takes it. Errors: LBM_E_NOMEM, then it is the caller's. */
enum lbm_err lbm_line_push(struct lbm_line *line, struct lbm_state *state) LBM_MUST_CHECK;
/* A state of len bytes, with room for room, and for what it shares if that is not all; neighbours see all of
 * it until lbm_steps_share. NULL: memory is short. */
struct lbm_state *lbm_state_new(const void *bytes, size_t len, size_t room, size_t share_size);
void lbm_line_replace(struct lbm_line *line, uint64_t step, struct lbm_state *state); /* one that it has */
/* The payload of an own line; with contributions, if value_size is not 0. Errors: buf->failed. */
void lbm_line_pack(const struct lbm_line *line, size_t value_size, struct lbm_buf *buf);
/* The states in a payload of that program, the last one as a whole.
 * Errors: LBM_E_CORRUPT, LBM_E_NOMEM; the line is empty then. */
enum lbm_err lbm_line_unpack(const struct lbm_steps *steps, struct lbm_line *line,
                             const struct lbmap_payload *payload) LBM_MUST_CHECK;
void lbm_line_clear_parts(struct lbm_line *line);

/* ---- steps_seen.c: parts of states ---- */

/* Bytes of a part in a state before its own, which are made up to a multiple of as many. */
enum { LBM_PART_HEAD = 16 };

/* What `user` sees of a state of LBM_PARTS, or NULL. In/out: *at, where to begin: 0, or as the last call left
 * it, which is quick for users in the order of their numbers. Out: *size. */
const void *lbm_seen_find(const struct lbm_state *state, uint32_t user, size_t *at, size_t *size);
/* Add what that neighbour sees to parts of a state. Errors: parts->failed. */
void lbm_seen_put(struct lbm_buf *parts, uint32_t user, const void *bytes, size_t len);
struct lbm_state *lbm_seen_state(const struct lbm_buf *parts);          /* NULL: memory is short */
void lbm_seen_pack(const struct lbm_state *state, struct lbm_buf *buf); /* as in payloads; or buf->failed */
/* The reverse, with users in the order of their numbers. Errors: LBM_E_CORRUPT, LBM_E_NOMEM; *state NULL. */
enum lbm_err lbm_seen_unpack(const uint8_t *bytes, size_t len, size_t part_max,
                             struct lbm_state **state) LBM_MUST_CHECK;

/* ---- steps_mail.c ---- */

enum lbm_row {
    LBM_ROW_STATE = 1,       /* vertex, step, durable, len, bytes: its state; len UINT32_MAX: only that */
    LBM_ROW_WANT = 2,        /* vertex, durable, other, from: of other, from that step on */
    LBM_ROW_DONE = 3,        /* vertex, len, bytes: its last state, to the collector */
    LBM_ROW_GOT = 4,         /* vertex: the collector has it */
    LBM_ROW_KEPT = 5,        /* vertex, durable: to the collector, if programs want to know what is stable */
    LBM_ROW_STABLE = 6,      /* 0, step: all vertices are kept there or later */
    LBM_ROW_PART = 7,        /* vertex, step, value: what it contributes, to the collector */
    LBM_ROW_WHOLE = 8,       /* 0, step, value: of the job */
    LBM_ROW_WANT_WHOLE = 9,  /* 0, step: that one, from the collector */
    LBM_ROW_WANT_PARTS = 10, /* 0, step: the collector lacks some */
    LBM_ROW_EXPORT = 11,     /* vertex, step, durable, len, bytes: what neighbours see, steps_export.c */
    LBM_ROW_PIECE = 12,      /* vertex, total, offset, len, bytes: of a long last state, to the collector */
    LBM_ROW_HAVE = 13,       /* vertex, bytes: so much of it is with the collector */
};

void lbm_mail_state(struct lbm_steps *steps, uint32_t host, const struct lbm_line *line, uint64_t step);
void lbm_mail_durable(struct lbm_steps *steps, uint32_t host, const struct lbm_line *line);
void lbm_mail_want(struct lbm_steps *steps, uint32_t host, const struct lbm_line *line, uint32_t other,
                   uint64_t from);
void lbm_mail_done(struct lbm_steps *steps, uint32_t host, const struct lbm_line *line);
/* Bytes [offset, offset + n) of its last state. */
void lbm_mail_piece(struct lbm_steps *steps, uint32_t host, const struct lbm_line *line, size_t offset,
                    size_t n);
void lbm_mail_step(struct lbm_steps *steps, uint32_t host, enum lbm_row kind, uint32_t vertex, uint64_t step);
void lbm_mail_value(struct lbm_steps *steps, uint32_t host, enum lbm_row kind, uint32_t vertex, uint64_t step,
                    const uint8_t *value);
void lbm_mail_got(struct lbm_steps *steps, uint32_t host, uint32_t vertex);
/* Post what waits. What the daemon does not take now is lost, and asked for again. */
void lbm_mail_flush(struct lbm_steps *steps);
/* A message from another program: bytes that make no sense are dropped. */
void lbm_mail_take(struct lbm_steps *steps, uint32_t host, const uint8_t *bytes, size_t n);

/* ---- steps_pieces.c ---- */

/* The next pieces of the last state of an own line, from what that host is known to have on. */
void lbm_pieces_send(struct lbm_steps *steps, uint32_t host, struct lbm_line *line);
/* The collector has the first `have` bytes of it. */
void lbm_pieces_answered(struct lbm_steps *steps, uint32_t host, uint32_t vertex, uint64_t have);
/* The collector hears a piece, from that host. In: total, 1 to state_size; bytes [n]. */
void lbm_pieces_take(struct lbm_steps *steps, uint32_t host, uint32_t vertex, size_t total, size_t offset,
                     const uint8_t *bytes, size_t n);
void lbm_pieces_free(struct lbm_steps *steps);

/* ---- steps_export.c: programs with `share` or `share_with` ---- */

/* Of states [from, to) of an own line keep only what neighbours see, where that is shorter. The last one must
 * not be among them. With `share_with` only once edges are told. */
void lbm_export_shorten(struct lbm_steps *steps, struct lbm_line *line, uint64_t from, uint64_t to);
/* Nonzero if all neighbours of an own line find what they see of its states, wherever those come from. */
int lbm_export_is_complete(const struct lbm_line *line);

/* Nonzero if the state of another line after that step is here, as far as `user` sees it. */
int lbm_export_has(const struct lbm_line *of, uint64_t step, uint32_t user);
/* What `user` sees of a state, or NULL: that is not here. In: room [export_size] aligned, for what is made
 * here. Out: *size. */
const void *lbm_export_view(struct lbm_steps *steps, const struct lbm_line *of, const struct lbm_state *state,
                            uint32_t user, void *room, size_t *size);
/* Room for what the neighbours of a line see of theirs, `each` bytes apart. NULL: memory is short. */
uint8_t *lbm_export_room(struct lbm_steps *steps, const struct lbm_line *line, size_t *each);
/* Write into steps->parts what neighbours at that host see of an own line's state, from its edge *at on, as
 * much as a row should have. Out: *at, the next edge. Returns 0 if there is nothing left. */
int lbm_export_pack(struct lbm_steps *steps, const struct lbm_line *line, uint64_t step, uint32_t host,
                    size_t *at);
/* Parts have come: of the next state of a line, or of one of which others are here. */
void lbm_export_heard(struct lbm_steps *steps, uint32_t host, uint32_t vertex, uint64_t step,
                      uint64_t durable, const uint8_t *bytes, size_t n);

/* ---- steps_vertices.c ---- */

/* A state of an own vertex is complete: work out what neighbours see of it. */
void lbm_steps_share(struct lbm_steps *steps, uint32_t vertex, struct lbm_state *state);

int lbm_steps_is_done(const struct lbm_steps *steps, const struct lbm_line *line); /* an own one: all steps */
/* Put an own line into the queue of those that can do a step, if it can. */
void lbm_steps_consider(struct lbm_steps *steps, struct lbm_line *line);
/* An own line has another step, or neighbours' states have gone or come at once: count those that are here.
 */
void lbm_steps_count(struct lbm_steps *steps, struct lbm_line *line);
/* One more state of this line has come, or was made: whoever waited for it may go on. */
void lbm_steps_grown(struct lbm_steps *steps, struct lbm_line *line);
/* Drop states of an own line that no neighbour can need again. */
void lbm_steps_drop_old(struct lbm_steps *steps, struct lbm_line *line);
/* The same of another host's line: those that users here have all passed. */
void lbm_steps_drop_passed(struct lbm_line *line);
/* It is known that a vertex begins there or later. */
void lbm_steps_set_durable(struct lbm_steps *steps, struct lbm_line *line, uint64_t durable);
/* Callbacks of lbmap_serve. */
void lbm_steps_on_acquire(void *context, uint32_t vertex, uint64_t token,
                          const struct lbmap_payload *payload);
void lbm_steps_on_release(void *context, uint32_t vertex, uint64_t token, struct lbmap_payload *payload);
void lbm_steps_on_revoked(void *context, uint32_t vertex, uint64_t token);
void lbm_steps_on_edges(void *context, uint32_t vertex, uint64_t token, const struct lbmap_edge *edges,
                        size_t n);

/* ---- steps_others.c ---- */

enum { HOSTS_OF_ONE = 64 }; /* neighbours at more hosts ask for what they miss */

/* Hosts of the neighbours of an own line, each once. Returns how many, at most max. */
size_t lbm_steps_hosts(const struct lbm_line *line, uint32_t *host, size_t max);
/* A state of another host's vertex has come, or NULL: only how far it is kept; takes it. */
void lbm_steps_heard(struct lbm_steps *steps, uint32_t host, uint32_t vertex, uint64_t step, uint64_t durable,
                     struct lbm_state *state);
/* `vertex` is at that host and wants states of `other`, from that step on. */
void lbm_steps_wanted(struct lbm_steps *steps, uint32_t host, uint32_t vertex, uint64_t durable,
                      uint32_t other, uint64_t from);
/* Vertices that have just come tell their neighbours where they are, and ask for what they need. */
void lbm_steps_greet(struct lbm_steps *steps);
/* Ask for what own lines wait for: a neighbour's state, or word that one is kept. */
void lbm_steps_look(struct lbm_steps *steps, int64_t now_ms);
/* Callbacks of lbmap_serve. */
void lbm_steps_on_message(void *context, uint32_t host, const void *bytes, size_t n);
void lbm_steps_on_peer_up(void *context, const struct lbmap_peer *peer);
void lbm_steps_on_peer_down(void *context, uint32_t host);

/* ---- steps_reduce.c ---- */

/* How many contributions of a vertex are kept. */
uint64_t lbm_reduce_periods(const struct lbmap_steps *program, uint64_t window);
/* The value that a vertex sees which has done that many steps, or NULL. Out: *at, the step it was taken
 * after; 0: none yet. */
const void *lbm_reduce_value(const struct lbm_steps *steps, uint64_t step, uint64_t *at);
int lbm_reduce_is_there(const struct lbm_steps *steps, uint64_t step); /* or none is needed */
/* An own line has done another step. */
void lbm_reduce_contribute(struct lbm_steps *steps, struct lbm_line *line);
/* From other programs: a contribution, a value, a question for these. */
void lbm_reduce_take_part(struct lbm_steps *steps, uint32_t vertex, uint64_t step, const uint8_t *value);
void lbm_reduce_take_whole(struct lbm_steps *steps, uint64_t step, const uint8_t *value);
void lbm_reduce_asked(struct lbm_steps *steps, uint32_t host, uint64_t step, int for_parts);
/* Ask for what own lines wait for; as the collector, for what it is made from. */
void lbm_reduce_look(struct lbm_steps *steps, int64_t now_ms);
void lbm_reduce_free(struct lbm_steps *steps);

/* ---- steps_end.c ---- */

/* Make checkpoints of own lines if some are due, or go on with those that are being made. Does not wait. */
void lbm_steps_keep(struct lbm_steps *steps, int64_t now_ms);
/* Forget those that are being made; the handle is closed. */
void lbm_steps_keep_none(struct lbm_steps *steps);
/* A last state, from the program at that host; takes it. */
void lbm_steps_collect(struct lbm_steps *steps, uint32_t host, uint32_t vertex, struct lbm_state *state);
/* The program at that host has it; that counts if this is the collector. */
void lbm_steps_collected(struct lbm_steps *steps, uint32_t host, uint32_t vertex);
/* Tell the collector of own lines that are done and kept. */
void lbm_steps_tell(struct lbm_steps *steps, int64_t now_ms);
/* A vertex is kept at that step or later. */
void lbm_steps_kept(struct lbm_steps *steps, uint32_t vertex, uint64_t durable);
/* All vertices are. */
void lbm_steps_stable(struct lbm_steps *steps, uint64_t step);
/* Tell the collector what is kept of own lines; as the collector, tell all what is stable. */
void lbm_steps_tell_kept(struct lbm_steps *steps, int64_t now_ms);
/* All last states are here: hand them out, and tell everybody that there is nothing left to do. */
void lbm_steps_finish(struct lbm_steps *steps);

#endif
