/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of a job's guest that one host holds: vertex records, ghosts, and the patch made of both.
 *
 * Owns: the records of protocol.md section 6 in memory, what is known of neighbours elsewhere, and the
 * compressed rows that the diffusion kernel and pair refinement work on.  Never: sends or stores. */
#ifndef LBM_NODE_RECORDS_SHARD_H
#define LBM_NODE_RECORDS_SHARD_H

#include "base/idmap.h"
#include "graph/graph.h"
#include "node/core/persist.h"

/* A vertex that this host owns or once owned. */
struct lbm_vertex {
    uint32_t id;
    enum lbm_stage stage;
    uint64_t epoch;
    uint32_t peer; /* OUT, MOV: to whom; LBM_NONE: it was removed */
    uint64_t peer_incarnation;
    uint32_t destination; /* OWN: host it should go to, or LBM_NONE */
    uint32_t work;
    float reported;     /* load as its application reports it, smoothed; 0: not reported here */
    uint32_t followed;  /* when `work` last followed that, seconds */
    uint32_t pin;       /* host it must stay on, or LBM_NONE */
    uint8_t anchored;   /* does not move in Omega */
    uint8_t untold;     /* hosts of its neighbours have yet to hear of its last change */
    uint8_t in_round;   /* OUT because of the present exchange round */
    uint8_t fin;        /* whom it came from will not offer it again */
    uint8_t fin_due;    /* OWN after a refusal: FIN is due to `refuser` */
    uint8_t answer_due; /* an offer waits for this record to be acked */
    uint8_t shares;     /* its last change is one of several that nobody may have in part */
    uint8_t
        awaited; /* from before the epoch of a replication log, and that backup has not got it yet: by slot */
    uint64_t seq;    /* of its last change in this host's replication log */
    uint64_t worked; /* seq of a change of its work alone, made when it could have moved; 0: none */
    /* By slot: epoch of the replication log in which the backup got adjacency and payload; 0: none. */
    uint64_t covered[LBM_COPIES_MAX];
    uint64_t offered; /* epoch at which it came here, or was refused; at most `epoch` */
    uint32_t source;  /* whom it came from, or was refused to; LBM_NONE: it began here */
    uint64_t source_incarnation;
    uint32_t refuser;
    uint32_t move;       /* number of the move that it is on (history.c), 0: none that is known */
    uint64_t running;    /* token an application works with, 0: none does */
    uint8_t edges_due;   /* it has yet to hear of its edges */
    uint32_t arrived_ms; /* OWN: when it came by a round, modulo 2^32, never 0; 0: it did not */
    uint32_t move_to;    /* OWN: goes there once the application has released it, or LBM_NONE */
    int64_t since_us;    /* MOV, REF: of this stage here; OWN with move_to: when release was asked for */
    uint32_t degree;
    struct lbm_half *half; /* [degree], owned; NULL in stages MOV and REF */
    uint32_t payload_len;
    uint8_t is_blob;  /* payload describes a blob */
    uint8_t *payload; /* [payload_len], owned; NULL in stages MOV and REF */
    uint32_t n_news;
    struct lbm_half *news; /* [n_news], owned: changed edges of which the other ends' owners have to hear */
    uint64_t news_stamp;   /* of the last change among them */
    int64_t news_us;       /* when they were last told; 0: not yet */
    uint32_t news_asked;   /* so often everybody was asked for somebody to tell, and nobody was away */
    uint8_t news_told;     /* so often since anything was learnt, or more */
    uint8_t news_listed;   /* they are on the list of those to be told */
    uint8_t is_unfinished; /* it is on the list of those whose source has not said FIN, or has just been */
    double x[3];           /* position in raw coordinates (before the frame) */
    int64_t offered_us;    /* OUT: when the last offer was sent, 0: not yet; OWN: when last refused */
    uint32_t row;          /* of the patch, or LBM_NONE */
};

/* A neighbour elsewhere: the newest that was heard of it. */
struct lbm_ghost {
    uint32_t id;
    uint32_t host;  /* where it is believed to be, or LBM_NONE */
    uint64_t epoch; /* of that belief; 0: only a hint */
    uint64_t stamp; /* of the position */
    uint32_t work;  /* 0: not heard yet */
    double x[3];
    uint32_t at;     /* index in the patch's coordinates, or LBM_NONE */
    uint8_t unaware; /* its host has become another one, which may not know our side */
};

/* Owned vertices as rows, ghosts behind them. Valid until ownership changes. */
struct lbm_patch {
    int valid;
    struct lbm_graph g; /* rows: stage OWN; targets >= g.n are ghosts */
    uint32_t n_ghosts;
    uint32_t *vertex;  /* [g.n] slots of vertices */
    uint32_t *ghost;   /* [n_ghosts] slots of ghosts */
    double *x;         /* [(g.n + n_ghosts) * m] raw coordinates */
    uint8_t *anchored; /* [g.n] */
};

struct lbm_shard {
    unsigned m;
    uint32_t self; /* this host's id */
    LBM_VEC(struct lbm_vertex) vertices;
    LBM_VEC(uint32_t) vacant; /* slots that are no vertex's any more */
    struct lbm_idmap vertex_slot;
    LBM_VEC(struct lbm_ghost) ghosts;
    struct lbm_idmap ghost_slot;
    struct lbm_patch patch;
    uint32_t n_own;     /* stage OWN */
    uint32_t n_out;     /* stage OUT */
    uint64_t load;      /* sum of work, stage OWN */
    uint64_t load_out;  /* the same, stage OUT */
    uint64_t version;   /* changes with ownership, and with the places of neighbours elsewhere */
    uint64_t built;     /* so often the patch was built: as long as that is the same, rows and ghosts are */
    uint64_t epoch_top; /* highest epoch of any record or neighbour so far, and of other hosts' as they say */
    uint32_t work_least; /* least work of any vertex that was ever here; LBM_NONE: there was none */
};

/* Begin an empty shard of a job with m dimensions on host `self`. */
void lbm_shard_init(struct lbm_shard *shard, unsigned m, uint32_t self);
/* Free a shard. */
void lbm_shard_free(struct lbm_shard *shard);

/* The record of a vertex, or NULL. Pointers stay valid until the next put. */
struct lbm_vertex *lbm_shard_vertex(const struct lbm_shard *shard, uint32_t id);
/* The ghost of a vertex, or NULL. */
struct lbm_ghost *lbm_shard_ghost(const struct lbm_shard *shard, uint32_t id);

/* Insert or replace the record of row->vertex; takes row->half. Errors: LBM_E_NOMEM, row untouched. */
enum lbm_err lbm_shard_put(struct lbm_shard *shard, struct lbm_row *row) LBM_MUST_CHECK;

/* Drop a record that is finished. Its slot stays, in stage NONE, until others have heard of that. */
void lbm_shard_forget(struct lbm_shard *shard, struct lbm_vertex *vertex);

/* Stage NONE: the slot is for any vertex from now on. It stays with this one if memory is short. */
void lbm_shard_vacate(struct lbm_shard *shard, struct lbm_vertex *vertex);

/* Change the stage of a record, keeping counts, loads and the patch in step. MOV and REF drop adjacency
 * and leave a ghost behind that knows where the vertex went. */
enum lbm_err lbm_shard_set_stage(struct lbm_shard *shard, struct lbm_vertex *vertex, enum lbm_stage stage,
                                 uint64_t epoch, uint32_t peer, uint64_t peer_incarnation) LBM_MUST_CHECK;

/* Stage OWN: its neighbours are these from now on. Takes half. */
void lbm_shard_set_neighbours(struct lbm_shard *shard, struct lbm_vertex *vertex, struct lbm_half *half,
                              uint32_t degree);

/* Stage OWN: it costs so much from now on. */
void lbm_shard_set_work(struct lbm_shard *shard, struct lbm_vertex *vertex, uint32_t work);

/* A copy of the record for storing; half is a copy too, NULL if the stage keeps none.
 * neighbours' hosts are refreshed from what is known now. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_shard_row(const struct lbm_shard *shard, uint64_t job, const struct lbm_vertex *vertex,
                           struct lbm_row *row) LBM_MUST_CHECK;

/* Where a vertex is as far as this host knows: itself, or the ghost's host, or LBM_NONE. */
uint32_t lbm_shard_where(const struct lbm_shard *shard, uint32_t id);

/* Be ready to learn of a vertex elsewhere, without a patch: if `vertex` is an own one that has an edge to it,
 * there is a ghost from now on, by the record's hint if it is new. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_shard_expect(struct lbm_shard *shard, uint32_t id,
                              const struct lbm_vertex *vertex) LBM_MUST_CHECK;

/* Learn of a vertex elsewhere. The higher epoch wins; at equal epochs the later stamp gives the position.
 * x may be NULL (place only). Vertices that are not neighbours of this host's are not recorded.
 * Returns nonzero if the place changed. */
int lbm_shard_learn(struct lbm_shard *shard, uint32_t id, uint32_t host, uint64_t epoch, uint64_t stamp,
                    uint32_t work, const double *x);

/* Build the patch if it is not valid: rows in order of slots, ghosts for all other neighbours, created
 * from the records' hints if unknown, those no longer needed dropped. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_shard_patch(struct lbm_shard *shard) LBM_MUST_CHECK;

/* Copy the patch's coordinates back into the records (after diffusion). */
void lbm_shard_write_back(struct lbm_shard *shard);

/* The patch will have to be built again; coordinates are written back first. */
void lbm_shard_touch(struct lbm_shard *shard);

/* Nonzero if this host owns each of the n vertices with which a job was submitted, and there is no other. */
int lbm_shard_is_whole(const struct lbm_shard *shard, uint32_t n);

/* The whole guest as a graph, if this host owns every one of its n vertices.
 * Errors: LBM_E_STATE (it does not), LBM_E_NOMEM. */
enum lbm_err lbm_shard_whole(const struct lbm_shard *shard, uint32_t n, struct lbm_graph *out) LBM_MUST_CHECK;

#endif
