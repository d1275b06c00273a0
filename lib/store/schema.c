/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The schema as steps from each version to the next. A step that has been released is never changed:
 * databases written by it exist. The meaning of every column is in docs/formats.md, "Database". */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "store/internal.h"

const struct lbm_store_step lbm_store_steps[] = {
    {"CREATE TABLE self("
     " id INTEGER PRIMARY KEY CHECK(id = 1), cluster INTEGER NOT NULL, host INTEGER NOT NULL,"
     " incarnation INTEGER NOT NULL, crc INTEGER NOT NULL) STRICT;"
     "CREATE TABLE log("
     " idx INTEGER PRIMARY KEY, command BLOB NOT NULL, crc INTEGER NOT NULL) STRICT;"
     "CREATE TABLE job("
     " job INTEGER PRIMARY KEY, state INTEGER NOT NULL, command BLOB NOT NULL, crc INTEGER NOT NULL) STRICT;"
     "CREATE TABLE vertex("
     " job INTEGER NOT NULL, v INTEGER NOT NULL, epoch INTEGER NOT NULL, stage INTEGER NOT NULL,"
     " peer INTEGER NOT NULL, peer_incarnation INTEGER NOT NULL, work INTEGER NOT NULL, pin INTEGER NOT NULL,"
     " anchored INTEGER NOT NULL, crc INTEGER NOT NULL, position BLOB NOT NULL, adjacency BLOB NOT NULL,"
     " PRIMARY KEY(job, v)) STRICT, WITHOUT ROWID;"},
    /* Replication: what a record is to its source and to its backup, replicas, takeovers, snapshots. Records
     * of version 1 began at their host or have nothing open; they are numbered in the order of their keys. */
    {"ALTER TABLE vertex ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;"
     "ALTER TABLE vertex ADD COLUMN source INTEGER NOT NULL DEFAULT 4294967295;"
     "ALTER TABLE vertex ADD COLUMN source_incarnation INTEGER NOT NULL DEFAULT 0;"
     "ALTER TABLE vertex ADD COLUMN fin INTEGER NOT NULL DEFAULT 1;"
     "ALTER TABLE vertex ADD COLUMN payload BLOB NOT NULL DEFAULT x'';"
     "CREATE TABLE progress("
     " id INTEGER PRIMARY KEY CHECK(id = 1), seq INTEGER NOT NULL, crc INTEGER NOT NULL) STRICT;"
     "UPDATE vertex SET seq = numbered.n FROM"
     " (SELECT job AS j, v AS w, row_number() OVER (ORDER BY job, v) AS n FROM vertex) AS numbered"
     " WHERE job = numbered.j AND v = numbered.w;"
     "UPDATE vertex SET crc = lbm_crc(job, v, epoch, stage, peer, peer_incarnation, work, pin, anchored, seq,"
     " source, source_incarnation, fin, adjacency, payload);"
     "INSERT INTO progress SELECT 1, n, lbm_crc(n, x'', x'') FROM (SELECT count(*) AS n FROM vertex);"
     "CREATE TABLE replica("
     " owner INTEGER NOT NULL, incarnation INTEGER NOT NULL,"
     " job INTEGER NOT NULL, v INTEGER NOT NULL, epoch INTEGER NOT NULL, stage INTEGER NOT NULL,"
     " peer INTEGER NOT NULL, peer_incarnation INTEGER NOT NULL, work INTEGER NOT NULL, pin INTEGER NOT NULL,"
     " anchored INTEGER NOT NULL, seq INTEGER NOT NULL, source INTEGER NOT NULL,"
     " source_incarnation INTEGER NOT NULL, fin INTEGER NOT NULL, crc INTEGER NOT NULL,"
     " position BLOB NOT NULL, adjacency BLOB NOT NULL, payload BLOB NOT NULL,"
     " PRIMARY KEY(owner, incarnation, job, v)) STRICT, WITHOUT ROWID;"
     "CREATE TABLE stream("
     " owner INTEGER NOT NULL, incarnation INTEGER NOT NULL, generation INTEGER NOT NULL,"
     " seq INTEGER NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY(owner, incarnation)) STRICT, WITHOUT ROWID;"
     "CREATE TABLE adopted("
     " host INTEGER NOT NULL, incarnation INTEGER NOT NULL, crc INTEGER NOT NULL,"
     " PRIMARY KEY(host, incarnation)) STRICT, WITHOUT ROWID;"
     "CREATE TABLE snapshot("
     " id INTEGER PRIMARY KEY CHECK(id = 1), idx INTEGER NOT NULL, view BLOB NOT NULL,"
     " crc INTEGER NOT NULL) STRICT;"
     "CREATE TABLE term("
     " id INTEGER PRIMARY KEY CHECK(id = 1), term INTEGER NOT NULL, leader INTEGER NOT NULL,"
     " crc INTEGER NOT NULL) STRICT;"},
    /* Guests that change. Checksums cover `news` too, and an empty one changes none. */
    {"ALTER TABLE vertex ADD COLUMN news BLOB NOT NULL DEFAULT x'';"
     "ALTER TABLE replica ADD COLUMN news BLOB NOT NULL DEFAULT x'';"},
    /* Large payloads, in pieces apart from the records that describe them. */
    {"CREATE TABLE blob("
     " job INTEGER NOT NULL, digest BLOB NOT NULL, length INTEGER NOT NULL, piece INTEGER NOT NULL,"
     " crc INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY(job, digest, length, piece)) STRICT;"},
};

const int lbm_store_version = sizeof lbm_store_steps / sizeof *lbm_store_steps;

static enum lbm_err
run_steps(sqlite3 *db, const struct lbm_store_step *steps, int from, int to, const char *path,
          struct lbm_diag *diag)
{
    for (int i = from; i < to; i++)
        if (sqlite3_exec(db, steps[i].sql, NULL, NULL, NULL) != SQLITE_OK)
            return lbm_store_error(db, path, diag, "migrating its schema");
    char identity[96];
    snprintf(identity, sizeof identity, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             LBM_STORE_APPLICATION_ID, to);
    if (sqlite3_exec(db, identity, NULL, NULL, NULL) != SQLITE_OK)
        return lbm_store_error(db, path, diag, "setting its schema version");
    return LBM_OK;
}

enum lbm_err
lbm_store_copy_before(sqlite3 *db, int from, const char *path, struct lbm_diag *diag)
{
    char *part = sqlite3_mprintf("%s.schema-%d.part", path, from),
         *whole = sqlite3_mprintf("%s.schema-%d", path, from);
    char *sql = part != NULL ? sqlite3_mprintf("VACUUM INTO %Q", part) : NULL;
    enum lbm_err err = sql != NULL && whole != NULL ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK) {
        (void)unlink(part); /* of an attempt that was interrupted */
        err = lbm_store_create_file(part, 0, diag);
    }
    if (err == LBM_OK && sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        err = lbm_store_error(db, path, diag, "copying it before its schema changes");
    if (err == LBM_OK && rename(part, whole) != 0)
        err = lbm_diag_set(diag, LBM_E_IO, whole, 0, "cannot be written: %s", strerror(errno));
    if (err != LBM_OK && part != NULL)
        (void)unlink(part);
    sqlite3_free(part);
    sqlite3_free(whole);
    sqlite3_free(sql);
    return err;
}

enum lbm_err
lbm_store_migrate(sqlite3 *db, const struct lbm_store_step *steps, int from, int to, const char *path,
                  struct lbm_diag *diag)
{
    LBM_ASSERT(from >= 0 && from < to);
    enum lbm_err err = lbm_store_exec(db, "BEGIN EXCLUSIVE", NULL, path, diag);
    if (err != LBM_OK)
        return err;
    err = run_steps(db, steps, from, to, path, diag);
    if (err == LBM_OK)
        err = lbm_store_exec(db, "COMMIT", NULL, path, diag);
    if (!sqlite3_get_autocommit(db) && sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL) != SQLITE_OK)
        return lbm_store_error(db, path, diag, "undoing a migration");
    return err;
}
