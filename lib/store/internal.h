/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of lib/store share: the open database, its statements, errors, the column encodings.
 * Internal to lib/store; tests use it to inject migrations. */
#ifndef LBM_STORE_INTERNAL_H
#define LBM_STORE_INTERNAL_H

#include <sqlite3.h>
#include <sys/types.h>

#include "store/store.h"

/* "lbmp", in the header of every database of ours. */
#define LBM_STORE_APPLICATION_ID 0x6c626d70

/* Every statement of normal work, prepared when the database is opened: a schema that does not fit is found
 * then. ?1.. are bound in the order of the columns. */
#define LBM_SQL_LIST(X)                                                                                      \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                              \
    X(COMMIT, "COMMIT")                                                                                      \
    X(SELF_PUT,                                                                                              \
      "INSERT OR REPLACE INTO self(id, cluster, host, incarnation, crc) VALUES(1, ?1, ?2, ?3, ?4)")          \
    X(SELF_GET, "SELECT cluster, host, incarnation, crc FROM self")                                          \
    X(LOG_LAST,                                                                                              \
      "SELECT max((SELECT ifnull(max(idx), 0) FROM log), (SELECT ifnull(max(idx), 0) FROM snapshot))")       \
    X(LOG_PUT, "INSERT INTO log(idx, command, crc) VALUES(?1, ?2, ?3)")                                      \
    X(LOG_GET, "SELECT idx, command, crc FROM log ORDER BY idx")                                             \
    X(LOG_CUT, "DELETE FROM log WHERE idx <= ?1")                                                            \
    X(SNAPSHOT_PUT, "INSERT OR REPLACE INTO snapshot(id, idx, view, crc) VALUES(1, ?1, ?2, ?3)")             \
    X(SNAPSHOT_GET, "SELECT idx, view, crc FROM snapshot")                                                   \
    X(TERM_PUT, "INSERT OR REPLACE INTO term(id, term, leader, crc) VALUES(1, ?1, ?2, ?3)")                  \
    X(TERM_GET, "SELECT term, leader, crc FROM term")                                                        \
    X(PROGRESS_PUT, "INSERT OR REPLACE INTO progress(id, seq, crc) VALUES(1, ?1, ?2)")                       \
    X(PROGRESS_GET, "SELECT seq, crc FROM progress")                                                         \
    X(JOB_PUT, "INSERT OR REPLACE INTO job(job, state, command, crc) VALUES(?1, ?2, ?3, ?4)")                \
    X(JOB_GET, "SELECT job, state, command, crc FROM job WHERE job BETWEEN ?1 AND ?2 ORDER BY job")          \
    X(JOB_DELETE, "DELETE FROM job WHERE job = ?1")                                                          \
    X(JOB_DELETE_ROWS, "DELETE FROM vertex WHERE job = ?1")                                                  \
    X(JOB_DELETE_REPLICAS, "DELETE FROM replica WHERE job = ?1")                                             \
    X(ROW_PUT,                                                                                               \
      "INSERT INTO vertex(" LBM_ROW_COLUMNS ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"    \
      " ?13, ?14, ?15, ?16, ?17, ?18) ON CONFLICT(job, v) DO UPDATE SET epoch = ?3, stage = ?4, peer = ?5,"  \
      " peer_incarnation = ?6, work = ?7, pin = ?8, anchored = ?9, seq = ?10, source = ?11,"                 \
      " source_incarnation = ?12, fin = ?13, crc = ?14, position = ?15, adjacency = ?16, payload = ?17,"     \
      " news = ?18 WHERE (epoch, stage) <= (?3, ?4)")                                                        \
    X(ROW_ALL, "SELECT " LBM_ROW_COLUMNS " FROM vertex WHERE job BETWEEN ?1 AND ?2 ORDER BY job, v")         \
    X(ROW_GET, "SELECT " LBM_ROW_COLUMNS " FROM vertex WHERE job = ?1 AND v = ?2")                           \
    X(ROW_POSITION, "UPDATE vertex SET position = ?3 WHERE job = ?1 AND v = ?2")                             \
    X(ROW_DELETE, "DELETE FROM vertex WHERE job = ?1 AND v = ?2")                                            \
    X(REPLICA_PUT,                                                                                           \
      "INSERT INTO replica(" LBM_ROW_COLUMNS ", owner, incarnation) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"  \
      " ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)"                                          \
      " ON CONFLICT(owner, incarnation, job, v) DO UPDATE SET epoch = ?3, stage = ?4, peer = ?5,"            \
      " peer_incarnation = ?6, work = ?7, pin = ?8, anchored = ?9, seq = ?10, source = ?11,"                 \
      " source_incarnation = ?12, fin = ?13, crc = ?14, position = ?15, adjacency = ?16, payload = ?17,"     \
      " news = ?18 WHERE (epoch, stage) <= (?3, ?4)")                                                        \
    X(REPLICA_ALL, "SELECT " LBM_ROW_COLUMNS ", owner, incarnation FROM replica"                             \
                   " WHERE job BETWEEN ?1 AND ?2 ORDER BY owner, incarnation, job, v")                       \
    X(REPLICA_DELETE, "DELETE FROM replica WHERE owner = ?1 AND incarnation = ?2 AND job = ?3 AND v = ?4")   \
    X(REPLICA_DROP, "DELETE FROM replica WHERE owner = ?1 AND incarnation = ?2")                             \
    X(REPLICA_DROP_JOB, "DELETE FROM replica WHERE owner = ?1 AND incarnation = ?2 AND job = ?3")            \
    X(REPLICA_LOG_PUT,                                                                                       \
      "INSERT OR REPLACE INTO stream(owner, incarnation, generation, seq, crc) VALUES(?1, ?2, ?3, ?4, ?5)")  \
    X(REPLICA_LOG_GET,                                                                                       \
      "SELECT owner, incarnation, generation, seq, crc FROM stream ORDER BY owner, incarnation")             \
    X(REPLICA_LOG_DROP, "DELETE FROM stream WHERE owner = ?1 AND incarnation = ?2")                          \
    X(TAKEN_OVER_PUT, "INSERT OR REPLACE INTO adopted(host, incarnation, crc) VALUES(?1, ?2, ?3)")           \
    X(TAKEN_OVER_GET, "SELECT host, incarnation, crc FROM adopted ORDER BY host, incarnation")               \
    X(BLOB_PUT,                                                                                              \
      "INSERT OR REPLACE INTO blob(job, length, piece, crc, digest, bytes) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")  \
    X(BLOB_LIST, "SELECT job, length, digest, count(*), max(piece) FROM blob GROUP BY job, digest, length")  \
    X(BLOB_GET, "SELECT crc, bytes FROM blob WHERE job = ?1 AND length = ?2 AND piece = ?3 AND digest = ?4") \
    X(BLOB_ALL, "SELECT job, length, piece, crc, digest, bytes FROM blob")                                   \
    X(BLOB_DELETE, "DELETE FROM blob WHERE job = ?1 AND length = ?2 AND digest = ?3")

/* The columns of a record, in the order in which they are bound and read: 13 numbers, their checksum with the
 * last three blobs, and the blobs. */
#define LBM_ROW_COLUMNS                                                                                      \
    "job, v, epoch, stage, peer, peer_incarnation, work, pin, anchored, seq, source, source_incarnation,"    \
    " fin, crc, position, adjacency, payload, news"

enum lbm_sql {
#define LBM_SQL_ENUM(id, text) LBM_SQL_##id,
    LBM_SQL_LIST(LBM_SQL_ENUM)
#undef LBM_SQL_ENUM
        LBM_SQL_COUNT
};

/* A boot id as text, with its end: the kernel's has 36 characters. */
enum { LBM_STORE_BOOT_BYTES = 64 };

struct lbm_store {
    sqlite3 *db;
    char *path;
    enum lbm_durability durability;
    char boot[LBM_STORE_BOOT_BYTES]; /* which start of the machine this is; empty: not asked */
    char *aside;                     /* where a database of an earlier start was moved to, or NULL */
    int is_marked;                   /* nonzero: PATH-boot is there */
    int is_in_memory;                /* nonzero: transactions do not wait for the disk */
    int lock;                        /* descriptor of the lock file, or -1 */
    dev_t device;                    /* of the database when it was opened; inode 0: not opened yet */
    ino_t inode;
    int failed;          /* nonzero: what is stored is unknown until the database is opened again */
    int wal_pages;       /* in the write-ahead log after the last commit */
    unsigned commits;    /* since it was opened */
    int64_t cache_pages; /* SQLite's cache has room for; 0: not set yet */
    uint64_t last_id;    /* of the last transaction applied */
    uint64_t seq;        /* highest of any record, as stored */
    uint64_t seq_new;    /* the same with the transaction in progress */
    sqlite3_stmt *statement[LBM_SQL_COUNT];
    struct lbm_buf position, adjacency, news; /* of the row being encoded */
};

/* ---- sql.c -------------------------------------------------------------------------------------- */

/* The error of the last call on db as ours; text says what was being done. */
enum lbm_err lbm_store_error(sqlite3 *db, const char *path, struct lbm_diag *diag, const char *doing);

/* "this file is damaged: why"; the reader is told that it is kept and what to do. */
enum lbm_err lbm_store_damaged(const char *path, struct lbm_diag *diag, const char *fmt, ...)
    LBM_PRINTF(3, 4);

/* Run a statement that returns no row, or the first column of its only row in *value (may be NULL). */
enum lbm_err lbm_store_exec(sqlite3 *db, const char *sql, int64_t *value, const char *path,
                            struct lbm_diag *diag) LBM_MUST_CHECK;

/* Bind n whole numbers to ?1 .. ?n of a statement. */
enum lbm_err lbm_store_bind(struct lbm_store *store, enum lbm_sql id, const uint64_t *columns, int n,
                            struct lbm_diag *diag) LBM_MUST_CHECK;

/* Step a prepared statement to its end and reset it. */
enum lbm_err lbm_store_run(struct lbm_store *store, enum lbm_sql id, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Give SQLite's cache room for a part of the database as it is now: of a small guest it would take more
 * memory than the records. */
enum lbm_err lbm_store_fit_cache(struct lbm_store *store, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Open the file without changing it, and verify its identity and pages. Out: *version of the schema, 0:
 * empty file. flags: of sqlite3_open_v2. store->db is the caller's also on errors. */
enum lbm_err lbm_store_connect(struct lbm_store *store, int flags, int *version,
                               struct lbm_diag *diag) LBM_MUST_CHECK;

/* Prepare all statements. Errors: LBM_E_CORRUPT the schema is not what its version says. */
enum lbm_err lbm_store_prepare(struct lbm_store *store, struct lbm_diag *diag) LBM_MUST_CHECK;

/* ---- files.c ------------------------------------------------------------------------------------- */

/* The error of the last system call (errno) as ours; doing says what was being done. */
enum lbm_err lbm_store_system_error(const char *path, struct lbm_diag *diag, const char *doing);

/* Make an empty file that only its owner can read, if there is none; with O_EXCL in flags: there must be
 * none. */
enum lbm_err lbm_store_create_file(const char *path, int flags, struct lbm_diag *diag) LBM_MUST_CHECK;

/* ---- store.c ------------------------------------------------------------------------------------ */

/* A store that has nothing open; lbm_store_close frees it. NULL: no memory, diag says so. */
struct lbm_store *lbm_store_alloc(const char *path, struct lbm_diag *diag);

/* ---- boot.c ------------------------------------------------------------------------------------- */

enum { ARCHIVES_MAX = 100 }; /* of one name: each try of a reset may leave one */

/* Take what was asked for, and set the database aside if it counted in memory and the machine has started
 * again since. Before the database is opened. Errors: LBM_E_UNSUPPORTED no boot id; LBM_E_EXISTS too many
 * set aside; LBM_E_IO, LBM_E_NOMEM. */
enum lbm_err lbm_store_check_boot(struct lbm_store *store, const struct lbm_store_how *how,
                                  struct lbm_diag *diag) LBM_MUST_CHECK;

/* From now on transactions wait for the disk or do not, as was asked for. The database is open, with
 * synchronous = FULL. Errors: LBM_E_IO, LBM_E_NOMEM; those of the database. */
enum lbm_err lbm_store_use_durability(struct lbm_store *store, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Before an open database is closed: what counted in memory goes to the disk, so that it counts there. */
void lbm_store_end_boot(struct lbm_store *store);

/* Find a name next to the database that nobody has: PATH and suffix, else with .1, .2, ... behind it.
 * Out: *out, freed by the caller. Errors: LBM_E_EXISTS, LBM_E_NOMEM. */
enum lbm_err lbm_store_unused_name(const struct lbm_store *store, const char *suffix, struct lbm_buf *out,
                                   struct lbm_diag *diag) LBM_MUST_CHECK;

/* ---- schema.c ----------------------------------------------------------------------------------- */

/* The statements that lead from schema version i to i + 1. */
struct lbm_store_step {
    const char *sql;
};

extern const struct lbm_store_step lbm_store_steps[];
extern const int lbm_store_version; /* number of steps: the version this program writes */

/* Before the schema of a database changes: copy it to PATH.schema-FROM, for the program of before. Errors:
 * LBM_E_IO, LBM_E_NOMEM; those of the database. */
enum lbm_err lbm_store_copy_before(sqlite3 *db, int from, const char *path,
                                   struct lbm_diag *diag) LBM_MUST_CHECK;
/* Carry out steps[from .. to), all or none, in one transaction. */
enum lbm_err lbm_store_migrate(sqlite3 *db, const struct lbm_store_step *steps, int from, int to,
                               const char *path, struct lbm_diag *diag) LBM_MUST_CHECK;

/* ---- column.c ----------------------------------------------------------------------------------- */

/* Give the connection the SQL function lbm_crc(number, ..., blob, blob), for migrations. */
int lbm_store_add_crc(sqlite3 *db);

/* crc32 of n columns, 8 bytes each, little-endian, then a blob. */
uint32_t lbm_store_crc(const uint64_t *columns, size_t n, const void *blob, size_t len);

/* Encode a position: 2 or 3 doubles, little-endian, and the crc of job, v and them.
 * Errors: LBM_E_RANGE not finite; LBM_E_NOMEM. */
enum lbm_err lbm_store_encode_position(struct lbm_buf *out, uint64_t job, uint32_t v,
                                       const double position[3], struct lbm_diag *diag) LBM_MUST_CHECK;

/* Bind a row to ROW_PUT or REPLICA_PUT, with its checksums. The blobs stay in store's buffers until the next
 * row. Errors: LBM_E_RANGE, LBM_E_NOMEM. */
enum lbm_err lbm_store_bind_row(struct lbm_store *store, enum lbm_sql id, const struct lbm_row *row,
                                struct lbm_diag *diag) LBM_MUST_CHECK;

/* Read the row a statement stands on (the columns of ROW_ALL). Out: row->half owned by the caller.
 * Errors: LBM_E_CORRUPT, LBM_E_NOMEM. */
enum lbm_err lbm_store_read_row(const struct lbm_store *store, sqlite3_stmt *statement, struct lbm_row *row,
                                struct lbm_diag *diag) LBM_MUST_CHECK;

/* ---- load.c ------------------------------------------------------------------------------------- */

/* Read and verify everything; without keep_rows the rows are verified and dropped.
 * Out, errors: as lbm_store_load. */
enum lbm_err lbm_store_read(struct lbm_store *store, int keep_rows, struct lbm_recovered **out,
                            struct lbm_diag *diag) LBM_MUST_CHECK;

/* ---- apply.c, apply_rows.c ------------------------------------------------------------------------ */

/* Carry out one operation inside a transaction. Errors: as lbm_store_apply. */
typedef enum lbm_err lbm_store_op_fn(struct lbm_store *store, const struct lbm_persist_op *op,
                                     struct lbm_diag *diag);

lbm_store_op_fn lbm_store_apply_row, lbm_store_apply_row_delete, lbm_store_apply_guest, lbm_store_apply_plan,
    lbm_store_apply_positions, lbm_store_apply_replica, lbm_store_apply_replica_drop,
    lbm_store_apply_blob_piece, lbm_store_apply_blob_delete;

/* A row of BLOB_LIST: into out->blobs. Of BLOB_ALL: only its checksum. */
enum lbm_err lbm_store_take_blob(const struct lbm_store *store, sqlite3_stmt *statement,
                                 struct lbm_recovered *out, struct lbm_diag *diag) LBM_MUST_CHECK;
enum lbm_err lbm_store_verify_piece(const struct lbm_store *store, sqlite3_stmt *statement,
                                    struct lbm_recovered *out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Bind n whole numbers and run. */
enum lbm_err lbm_store_exec_bound(struct lbm_store *store, enum lbm_sql id, const uint64_t *columns, int n,
                                  struct lbm_diag *diag) LBM_MUST_CHECK;
/* The same with the checksum of the numbers as one more. */
enum lbm_err lbm_store_exec_checked(struct lbm_store *store, enum lbm_sql id, const uint64_t *columns, int n,
                                    struct lbm_diag *diag) LBM_MUST_CHECK;
/* The replication log of records has come this far, in the transaction in flight. */
void lbm_store_saw_seq(struct lbm_store *store, uint64_t seq);

#endif
