/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a node asks to be stored, and what it gets back when it starts again.
 *
 * Owns: the operations of protocol.md section 3 as plain data. lib/store turns them into statements; the
 * simulator has its own. One struct lbm_persist is one transaction. */
#ifndef LBM_NODE_CORE_PERSIST_H
#define LBM_NODE_CORE_PERSIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/limits.h"
#include "base/numbers.h"
#include "graph/graph.h"

/* Stages of a vertex record, in the order of rank within an epoch (protocol.md section 3): rank = (epoch,
 * stage) never decreases for one (host, vertex). */
#define LBM_STAGE_LIST(X)                                                                                    \
    X(NONE, 0, "none")                                                                                       \
    X(OWN, 1, "own")                                                                                         \
    X(OUT, 2, "out")                                                                                         \
    X(REF, 3, "refused")                                                                                     \
    X(MOV, 4, "moved")

enum lbm_stage {
#define LBM_STAGE_ENUM(id, number, name) LBM_STAGE_##id = number,
    LBM_STAGE_LIST(LBM_STAGE_ENUM)
#undef LBM_STAGE_ENUM
        LBM_STAGE_COUNT = 0 LBM_STAGE_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_STAGE_LIST, LBM_STAGE_COUNT);

/* Returns the name of a stage as documents and databases spell it; static. */
const char *lbm_stage_name(enum lbm_stage stage);

/* A large payload by what it holds: the bytes are the same wherever these are. */
struct lbm_blob_name {
    uint64_t job;
    uint64_t len; /* bytes, at least 1 */
    uint8_t digest[LBM_SHA256_BYTES];
};

/* The same within a record of the job, as its payload: the length, 8 bytes, lowest first, and the digest. */
enum { LBM_BLOB_WORDS = 8 + LBM_SHA256_BYTES };

/* Returns nonzero if payload [len] describes a blob. Out: *name. */
int lbm_blob_read_name(uint64_t job, const uint8_t *payload, size_t len, struct lbm_blob_name *name);
/* Describe a blob as a payload. */
void lbm_blob_write_name(const struct lbm_blob_name *name, uint8_t payload[LBM_BLOB_WORDS]);

/* One neighbour in a record. host: where it was last known to be, a hint; LBM_NONE if unknown. */
struct lbm_half {
    uint32_t to;
    uint32_t weight;
    uint32_t host;
};

/* The record of one vertex on this host. Rows in stage MOV and REF keep no adjacency (degree 0). */
struct lbm_row {
    uint64_t job;
    uint32_t vertex;
    enum lbm_stage stage;
    uint64_t epoch;
    /* OUT, MOV: to whom, LBM_NONE: it was removed; OWN: whom the plan wants it to go to; else LBM_NONE. */
    uint32_t peer;
    uint32_t work;
    uint64_t peer_incarnation;
    uint32_t pin;
    int anchored; /* nonzero: does not move in Omega */
    double position[3];
    uint64_t seq; /* of its last change in the host's replication log (protocol.md section 1, REPL), or 0 */
    uint64_t source_incarnation;
    uint32_t source; /* whom the vertex came from, or was refused to; LBM_NONE: it began here */
    int fin;         /* nonzero: the source will not offer it again */
    uint32_t degree;
    uint32_t payload_len;
    int is_blob;           /* nonzero: payload is LBM_BLOB_WORDS bytes that describe a blob */
    struct lbm_half *half; /* [degree], owned by whoever owns the row */
    uint8_t *payload;      /* [payload_len] of the application, owned like half; NULL: none */
    /* Changes of edges that the owners of the other ends have yet to hear of; weight 0: there is no such edge
     * any more. OWN, and MOV of a vertex that was removed. */
    struct lbm_half *news; /* [n_news], owned like half; NULL: none */
    uint32_t n_news;
};

void lbm_row_free(struct lbm_row *row); /* what it owns, not the row itself */

/* A job as its host knows it, beyond what the control log says. */
#define LBM_JOB_STATE_LIST(X)                                                                                \
    X(PENDING, 0, "pending")     /* stored here, not yet in the log */                                       \
    X(SUBMITTED, 1, "submitted") /* in the log; the coordinator has yet to plan */                           \
    X(PLACED, 2, "placed")       /* planned, vertices on their way or there */

enum lbm_job_state {
#define LBM_JOB_STATE_ENUM(id, number, name) LBM_JOB_##id = number,
    LBM_JOB_STATE_LIST(LBM_JOB_STATE_ENUM)
#undef LBM_JOB_STATE_ENUM
        LBM_JOB_STATE_COUNT = 0 LBM_JOB_STATE_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_JOB_STATE_LIST, LBM_JOB_STATE_COUNT);

#define LBM_PERSIST_LIST(X)                                                                                  \
    X(SELF, "identity: cluster and incarnation")                                                             \
    X(LOG, "one entry of the control log")                                                                   \
    X(JOB, "job's local state; command is the packed JOB_CREATE")                                            \
    X(JOB_DELETE, "job and all its rows")                                                                    \
    X(ROW, "a vertex record; a lower rank than the stored one is a bug and refused")                         \
    X(GUEST, "every vertex of a graph as OWN(1)")                                                            \
    X(PLAN, "positions, anchors and targets (peer of OWN rows) of a whole guest")                            \
    X(POSITIONS, "positions of some rows, soft")                                                             \
    X(ROW_DELETE, "the finished record of a vertex goes")                                                    \
    X(REPLICA, "changes of another host's records, and how far its replication log is here")                 \
    X(REPLICA_DROP, "a host's replica, or one job of it, goes")                                              \
    X(TAKEN_OVER, "the replica of this host was merged; in one transaction with the merge")                  \
    X(RESET, "all but the control log is archived and removed; a new incarnation begins")                    \
    X(SNAPSHOT, "the view at an index, instead of the control log's entries up to it")                       \
    X(TERM, "who orders the control log (engine local), and since which term")                               \
    X(BLOB_PIECE, "a piece of a large payload")                                                              \
    X(BLOB_DELETE, "all pieces of a large payload go")

enum lbm_persist_kind {
#define LBM_PERSIST_ENUM(id, text) LBM_PERSIST_##id,
    LBM_PERSIST_LIST(LBM_PERSIST_ENUM)
#undef LBM_PERSIST_ENUM
        LBM_PERSIST_COUNT
};

struct lbm_persist_op {
    enum lbm_persist_kind kind;
    uint64_t job; /* JOB.. POSITIONS */
    union {
        struct {
            uint64_t cluster;
            uint32_t host;
            uint64_t incarnation;
        } self;
        struct {
            uint64_t index;
            uint8_t *command; /* owned */
            size_t len;
        } log;
        struct {
            enum lbm_job_state state;
            uint8_t *command; /* owned */
            size_t len;
        } state;
        struct lbm_row row; /* owns row.half */
        struct {
            const struct lbm_graph *graph; /* borrowed until the operation is reported done */
            uint64_t seq;                  /* of its first vertex; the next one has seq + 1, ... */
            uint32_t first, whole; /* whole > 0: only a part of that many vertices, from that one on */
        } guest;
        struct {
            uint32_t vertex;
            uint64_t seq;
        } gone;
        struct {
            uint32_t owner;
            uint64_t incarnation;
            uint64_t repl_epoch;
            uint64_t seq;
            int fresh;           /* nonzero: what was there of this owner and incarnation goes first */
            struct lbm_row *row; /* [n], owned, and so is what they own; job is that of the operation */
            size_t n;
            uint32_t *gone; /* [n_gone], owned: vertices of the job whose rows go */
            size_t n_gone;
        } replica;
        struct {
            uint32_t owner;
            uint64_t incarnation;
        } drop; /* REPLICA_DROP: job 0 is all of it; also TAKEN_OVER */
        struct {
            uint64_t incarnation;
            int has_no_log; /* the control log goes too */
        } reset;
        struct {
            uint64_t index;
            uint8_t *view; /* packed, owned */
            size_t len;
        } snapshot;
        struct {
            uint64_t term;
            uint32_t leader;
            uint64_t forced; /* term in which the log was last taken from an ensemble by force; 0: never */
        } term;
        struct {
            struct lbm_blob_name name; /* BLOB_PIECE, BLOB_DELETE */
            uint32_t piece;
            uint8_t *bytes; /* owned */
            size_t len;
        } blob;
        struct { /* [n] each, owned; anchored and host may be NULL */
            uint32_t n;
            unsigned m;
            uint32_t *vertex; /* NULL: 0 .. n-1 */
            double *position; /* [n * m] */
            uint8_t *anchored;
            uint32_t *host;
        } plan; /* also POSITIONS */
    } as;
};

/* One transaction. ids grow by one; transactions take effect in order of their ids. */
struct lbm_persist {
    uint64_t id;
    LBM_VEC(struct lbm_persist_op) ops;
};

/* Returns the record of vertex `v` of a guest that is being stored. In: half [degree of v], scratch; edges
 * are written there. */
struct lbm_row lbm_guest_row(const struct lbm_persist_op *op, uint32_t v, struct lbm_half *half);

/* Returns the bytes that a transaction takes in memory, about; a guest that belongs to the job is not
 * counted. */
size_t lbm_persist_bytes(const struct lbm_persist *persist);

void lbm_persist_free(struct lbm_persist *persist); /* the struct and all it owns; NULL is allowed */

struct lbm_recovered_job {
    uint64_t job;
    enum lbm_job_state state;
    uint8_t *command;
    size_t len;
};

struct lbm_recovered_entry {
    uint64_t index;
    uint8_t *command;
    size_t len;
};

/* What a backup holds of another host. */
struct lbm_recovered_replica {
    uint32_t owner;
    uint64_t incarnation;
    uint64_t repl_epoch;
    uint64_t seq;
    LBM_VEC(struct lbm_row) rows; /* by job, vertex */
};

struct lbm_recovered_takeover {
    uint32_t host;
    uint64_t incarnation;
};

/* A large payload: its first pieces, or all, are there. */
struct lbm_recovered_blob {
    struct lbm_blob_name name;
    uint32_t pieces;
};

/* Everything a database holds, for a node that starts. */
struct lbm_recovered {
    int known; /* nonzero: self is set */
    uint64_t cluster;
    uint32_t host;
    uint64_t incarnation;
    uint64_t seq;            /* of the last change of a row */
    uint64_t term;           /* engine local; 0: that of the leader */
    uint32_t leader;         /* of that term */
    uint64_t forced;         /* as in the persist operation */
    uint64_t snapshot_index; /* 0: none, the log begins at 1 */
    uint8_t *snapshot;
    size_t snapshot_len;
    int64_t lease_us;    /* an application of the life before may run until then (shell's clock), or 0 */
    uint64_t lease_term; /* of the page that says so */
    uint32_t lease_used; /* applications that were attached, */
    uint32_t lease_gone; /* and that had gone by then */
    LBM_VEC(struct lbm_recovered_entry) log; /* by index, from snapshot_index + 1 */
    LBM_VEC(struct lbm_recovered_job) jobs;
    LBM_VEC(struct lbm_row) rows; /* by job, vertex */
    LBM_VEC(struct lbm_recovered_replica) replicas;
    LBM_VEC(struct lbm_recovered_takeover) takeovers;
    LBM_VEC(struct lbm_recovered_blob) blobs; /* in no order */
};

void lbm_recovered_free(struct lbm_recovered *recovered); /* the struct and all it owns; NULL is allowed */

#endif
