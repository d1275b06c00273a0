/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The database of one host: what a node asks to be stored (node/core/persist.h), durably, in SQLite.
 *
 * Owns: the schema and its migrations, transactions, checksums, the lock that keeps a second daemon out.
 * The byte layout is in docs/formats.md, section "Database".
 * Never: decides what is stored; retries a failed write.
 *
 * One thread at a time uses a store. Readers of other processes (sqlite3, tests/cluster/owners.sh) may look
 * while it is open. */
#ifndef LBM_STORE_STORE_H
#define LBM_STORE_STORE_H

#include <stddef.h>

#include "base/err.h"
#include "node/core/persist.h"

struct lbm_store;

/* Where a transaction must be before it is reported durable: */
enum lbm_durability {
    LBM_DURABILITY_DISK,   /* on the disk, which outlives the machine */
    LBM_DURABILITY_MEMORY, /* in the kernel's memory, which outlives the daemon alone */
};

/* How a database is opened. */
struct lbm_store_how {
    enum lbm_durability durability;
    const char *boot_path; /* file whose first line changes when the machine starts; NULL: the kernel's */
};

/* Open the database at path, creating it if there is none, and bring its schema to this version.
 * With LBM_DURABILITY_MEMORY the file path + "-boot" stands next to it until lbm_store_close has synced it.
 * If that file is there and the machine has started again since, whatever how says, the database cannot be
 * trusted: it is moved aside, lbm_store_set_aside says where to, and an empty one is opened.
 * In:      how, borrowed; NULL: on the disk.
 * The lock is the file path + "-lock", held until lbm_store_close or the end of the process.
 * Out:     *out owned by the caller: lbm_store_close.
 * Errors:  LBM_E_BUSY another process has it; LBM_E_CORRUPT damaged or not a database of lbmapd;
 *          LBM_E_VERSION written by a newer lbmap; LBM_E_UNSUPPORTED its file system, or no boot id;
 *          LBM_E_EXISTS too many were moved aside; LBM_E_DENIED, LBM_E_IO, LBM_E_NOMEM. The file is kept as
 *          it is in every case. Links are not followed.
 * Cost:    O(size): every page is checked (PRAGMA quick_check). */
enum lbm_err lbm_store_open(const char *path, const struct lbm_store_how *how, struct lbm_store **out,
                            struct lbm_diag *diag) LBM_MUST_CHECK;

/* Returns where the database was moved to when it was opened, since the machine had started again; NULL: it
 * was not. Valid until lbm_store_close. */
const char *lbm_store_set_aside(const struct lbm_store *store);

/* Is the database still the file at its path, and its lock there? Any thread may ask while the store is open.
 * Errors:  LBM_E_IO it was removed, moved or replaced: what is stored would be lost. The caller exits. */
enum lbm_err lbm_store_in_place(const struct lbm_store *store, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Read everything that is stored. Every row is verified against its checksum.
 * Out:     *out owned by the caller: lbm_recovered_free.
 * Errors:  LBM_E_CORRUPT naming the row; LBM_E_IO, LBM_E_NOMEM. */
enum lbm_err lbm_store_load(struct lbm_store *store, struct lbm_recovered **out,
                            struct lbm_diag *diag) LBM_MUST_CHECK;

/* Carry out n transactions in order of their ids and make them durable by one commit: all or nothing.
 * In:      persists [n], borrowed, ids ascending.
 * Errors:  LBM_E_STATE a record's rank or the log would go back; LBM_E_RANGE an operation that cannot be
 *          stored (a position that is not finite): nothing of this call is stored, the store stays usable.
 *          LBM_E_IO, LBM_E_CORRUPT, LBM_E_BUSY, LBM_E_NOMEM: whether it is stored is known only after the
 *          database has been opened again; until then every call fails. The caller exits. */
enum lbm_err lbm_store_apply(struct lbm_store *store, const struct lbm_persist *const *persists, size_t n,
                             struct lbm_diag *diag) LBM_MUST_CHECK;

/* Read a piece of a large payload, as the last transaction left it. Only the thread that calls
 * lbm_store_apply may. Out:     *bytes [*len], owned by the caller. Errors:  LBM_E_NOTFOUND there is no such
 * piece; LBM_E_CORRUPT it is damaged; LBM_E_IO, LBM_E_NOMEM. */
enum lbm_err lbm_store_read_blob(struct lbm_store *store, const struct lbm_blob_name *name, uint32_t piece,
                                 uint8_t **bytes, size_t *len, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Close, folding the write-ahead log into the file unless a write has failed, and release the lock. All of it
 * is on the disk then, also with LBM_DURABILITY_MEMORY, unless that fails: then it stays marked. NULL is
 * allowed. */
void lbm_store_close(struct lbm_store *store);

/* Verify a database without changing it, also one in use: identity, schema version, pages, and every row.
 * Errors:  LBM_E_NOTFOUND, else as lbm_store_open and lbm_store_load. */
enum lbm_err lbm_store_check(const char *path, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
