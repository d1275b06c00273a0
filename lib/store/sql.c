/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SQLite's results as our errors, and the few ways its statements are run. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/internal.h"

enum {
    BUSY_TIMEOUT_MS = 5000, /* an operator's sqlite3 that writes; our daemons are kept out by the lock */
    CACHE_PART = 8,         /* of the database, in memory; */
    CACHE_PAGES_LEAST = 32, /* no less than 128 KiB, */
    CACHE_PAGES_MOST = 128, /* and no more than 512 */
};

/* What an operator can do, by error. */
static const struct {
    int result; /* primary code of SQLite */
    enum lbm_err err;
    const char *advice;
} results[] = {
    {SQLITE_NOMEM, LBM_E_NOMEM, "free memory and start again"},
    {SQLITE_BUSY, LBM_E_BUSY, "another program is writing to it; end that and start again"},
    {SQLITE_LOCKED, LBM_E_BUSY, "another program is writing to it; end that and start again"},
    {SQLITE_PERM, LBM_E_DENIED, "give the daemon's user write access to the file and its directory"},
    {SQLITE_READONLY, LBM_E_DENIED, "give the daemon's user write access to the file and its directory"},
    {SQLITE_CANTOPEN, LBM_E_DENIED, "give the daemon's user write access to the file and its directory"},
    {SQLITE_FULL, LBM_E_IO, "the disk is full: make room and start again"},
    {SQLITE_IOERR, LBM_E_IO, "the disk failed: check it, then start again"},
};

enum lbm_err
lbm_store_error(sqlite3 *db, const char *path, struct lbm_diag *diag, const char *doing)
{
    int result = db != NULL ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM;
    const char *text = db != NULL ? sqlite3_errmsg(db) : "out of memory";
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].result == result)
            return lbm_diag_set(diag, results[i].err, path, 0, "%s: %s; %s", doing, text, results[i].advice);
    return lbm_store_damaged(path, diag, "%s: %s", doing, text);
}

enum lbm_err
lbm_store_damaged(const char *path, struct lbm_diag *diag, const char *fmt, ...)
{
    char why[LBM_DIAG_TEXT_MAX / 2];
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    return lbm_diag_set(
        diag, LBM_E_CORRUPT, path, 0,
        "%s; the file is kept as it is: restore a copy, or move it away and join as a new host", why);
}

enum lbm_err
lbm_store_exec(sqlite3 *db, const char *sql, int64_t *value, const char *path, struct lbm_diag *diag)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    if (result == SQLITE_ROW && value != NULL)
        *value = sqlite3_column_int64(statement, 0);
    enum lbm_err err = LBM_OK;
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        err = lbm_store_error(db, path, diag, sql);
    sqlite3_finalize(statement);
    return err;
}

enum lbm_err
lbm_store_run(struct lbm_store *store, enum lbm_sql id, struct lbm_diag *diag)
{
    static const char *const names[] = {
#define LBM_SQL_NAME(id, text) #id,
        LBM_SQL_LIST(LBM_SQL_NAME)
#undef LBM_SQL_NAME
    };
    sqlite3_stmt *statement = store->statement[id];
    enum lbm_err err = LBM_OK;
    if (sqlite3_step(statement) != SQLITE_DONE)
        err = lbm_store_error(store->db, store->path, diag, names[id]);
    sqlite3_reset(statement);
    return err;
}

enum lbm_err
lbm_store_bind(struct lbm_store *store, enum lbm_sql id, const uint64_t *columns, int n,
               struct lbm_diag *diag)
{
    int result = SQLITE_OK;
    for (int i = 0; result == SQLITE_OK && i < n; i++)
        result = sqlite3_bind_int64(store->statement[id], i + 1, (int64_t)columns[i]);
    return result == SQLITE_OK ? LBM_OK : lbm_store_error(store->db, store->path, diag, "binding numbers");
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* PRAGMA quick_check gives one row "ok", or what is wrong. */
static enum lbm_err
check_pages(struct lbm_store *store, struct lbm_diag *diag)
{
    sqlite3_stmt *statement = NULL;
    enum lbm_err err = LBM_OK;
    int result = sqlite3_prepare_v2(store->db, "PRAGMA quick_check(1)", -1, &statement, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    const char *text = result == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (text == NULL)
        err = lbm_store_error(store->db, store->path, diag, "checking its pages");
    else if (strcmp(text, "ok") != 0)
        err = lbm_store_damaged(store->path, diag, "damaged: %s", text);
    sqlite3_finalize(statement);
    return err;
}

/* Is it empty, ours, or somebody else's? */
static enum lbm_err
check_identity(struct lbm_store *store, int *version, struct lbm_diag *diag)
{
    static const char *const queries[] = {"PRAGMA application_id", "PRAGMA user_version",
                                          "SELECT count(*) FROM sqlite_schema"};
    int64_t value[3] = {0};
    for (int i = 0; i < 3; i++) {
        enum lbm_err err = lbm_store_exec(store->db, queries[i], &value[i], store->path, diag);
        if (err != LBM_OK)
            return err;
    }
    int64_t application = value[0], schema = value[1], tables = value[2];
    if (application == 0 && schema == 0 && tables == 0) {
        /* SQLite takes the first bytes of a database for none at all. */
        struct stat status;
        if (stat(store->path, &status) != 0 || status.st_size != 0)
            return lbm_store_damaged(store->path, diag, "not a database of lbmapd, or cut off");
        *version = 0;
        return LBM_OK;
    }
    if (application != LBM_STORE_APPLICATION_ID || schema < 1)
        return lbm_store_damaged(store->path, diag, "not a database of lbmapd (application id %" PRId64 ")",
                                 application);
    if (schema > lbm_store_version)
        return lbm_diag_set(diag, LBM_E_VERSION, store->path, 0,
                            "written by a newer lbmap (schema %" PRId64
                            ", this program knows %d); the file is "
                            "kept as it is: run the newer program",
                            schema, lbm_store_version);
    *version = (int)schema;
    return LBM_OK;
}

enum lbm_err
lbm_store_fit_cache(struct lbm_store *store, struct lbm_diag *diag)
{
    int64_t pages = 0;
    char setting[48];
    enum lbm_err err = lbm_store_exec(store->db, "PRAGMA page_count", &pages, store->path, diag);
    int64_t fit = pages / CACHE_PART;
    fit = fit < CACHE_PAGES_LEAST ? CACHE_PAGES_LEAST : fit > CACHE_PAGES_MOST ? CACHE_PAGES_MOST : fit;
    if (err != LBM_OK || fit == store->cache_pages)
        return err;
    snprintf(setting, sizeof setting, "PRAGMA cache_size = %" PRId64, fit);
    err = lbm_store_exec(store->db, setting, NULL, store->path, diag);
    store->cache_pages = err == LBM_OK ? fit : store->cache_pages;
    return err;
}

enum lbm_err
lbm_store_connect(struct lbm_store *store, int flags, int *version, struct lbm_diag *diag)
{
    static const char *const settings[] = {"PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON",
                                           "PRAGMA synchronous = FULL", "PRAGMA wal_autocheckpoint = 0"};
    if (sqlite3_open_v2(store->path, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return lbm_store_error(store->db, store->path, diag, "opening");
    sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
    if (lbm_store_add_crc(store->db) != SQLITE_OK)
        return lbm_store_error(store->db, store->path, diag, "opening");
    /* Closing must change nothing in a file that turns out not to be ours; lbm_store_open lifts this. */
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        enum lbm_err err = lbm_store_exec(store->db, settings[i], NULL, store->path, diag);
        if (err != LBM_OK)
            return err;
    }
    enum lbm_err err = check_identity(store, version, diag);
    if (err == LBM_OK)
        err = lbm_store_fit_cache(store, diag);
    return err != LBM_OK || *version == 0 ? err : check_pages(store, diag);
}

enum lbm_err
lbm_store_prepare(struct lbm_store *store, struct lbm_diag *diag)
{
    static const char *const texts[] = {
#define LBM_SQL_TEXT(id, text) text,
        LBM_SQL_LIST(LBM_SQL_TEXT)
#undef LBM_SQL_TEXT
    };
    for (int i = 0; i < LBM_SQL_COUNT; i++)
        if (sqlite3_prepare_v3(store->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &store->statement[i],
                               NULL) != SQLITE_OK)
            return lbm_store_error(store->db, store->path, diag, texts[i]);
    return LBM_OK;
}
