/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening and closing: the lock, the checks before anything is changed, migration. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "store/internal.h"

/* Who holds the lock wrote its process id into it. */
static enum lbm_err
refuse_busy(const char *path, int lock, struct lbm_diag *diag)
{
    char owner[24];
    ssize_t len = pread(lock, owner, sizeof owner - 1, 0);
    owner[len > 0 ? len : 0] = '\0';
    owner[strcspn(owner, "\n")] = '\0';
    return lbm_diag_set(diag, LBM_E_BUSY, path, 0,
                        "in use by process %s: one daemon a database; stop that one, or give this one a "
                        "directory of its own",
                        owner[0] != '\0' ? owner : "(unknown)");
}

/* Refuse what is no ordinary file of this user alone. Nothing of it is changed. */
static enum lbm_err
open_own(const char *path, int *out, struct lbm_diag *diag)
{
    struct stat status;
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0 && errno == ELOOP)
        return lbm_diag_set(diag, LBM_E_DENIED, path, 0,
                            "is a symbolic link, which is not followed: remove it, or name the file itself");
    if (fd < 0)
        return lbm_store_system_error(path, diag, "creating");
    *out = fd;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return lbm_diag_set(diag, LBM_E_DENIED, path, 0, "not an ordinary file; name a file");
    if (status.st_uid != geteuid() || status.st_nlink != 1)
        return lbm_diag_set(
            diag, LBM_E_DENIED, path, 0,
            status.st_nlink != 1
                ? "has other names, under which another daemon could use it: remove those"
                : "belongs to another user: run the daemon as that user, or name another file");
    return LBM_OK;
}

/* A process id and a newline, or nothing yet. */
static int
is_lock_text(int lock)
{
    char text[24];
    ssize_t n = pread(lock, text, sizeof text, 0);
    ssize_t digits = 0;
    while (digits < n && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    return n == 0 || (n > 0 && n < (ssize_t)sizeof text && digits > 0 &&
                      (digits == n || (digits == n - 1 && text[digits] == '\n')));
}

/* Take the lock. It is a file of its own, so that readers of the database are not kept out; it stays after
 * the end, since removing it would let two daemons lock two files of one name. */
static enum lbm_err
take_lock(struct lbm_store *store, struct lbm_diag *diag)
{
    struct lbm_buf path = {0};
    lbm_buf_printf(&path, "%s-lock", store->path);
    if (path.failed) {
        lbm_buf_free(&path);
        return lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for its name");
    }
    enum lbm_err err = open_own(path.at, &store->lock, diag);
    if (err == LBM_OK && !is_lock_text(store->lock))
        err = lbm_diag_set(diag, LBM_E_DENIED, path.at, 0,
                           "is to be the lock of the database, and holds something else: move it away");
    if (err == LBM_OK && flock(store->lock, LOCK_EX | LOCK_NB) != 0)
        err = errno == EWOULDBLOCK ? refuse_busy(store->path, store->lock, diag)
                                   : lbm_store_system_error(path.at, diag, "locking");
    else if (err == LBM_OK &&
             (ftruncate(store->lock, 0) != 0 || dprintf(store->lock, "%ld\n", (long)getpid()) < 0))
        err = lbm_store_system_error(path.at, diag, "writing its lock");
    lbm_buf_free(&path);
    return err;
}

static enum lbm_err
refuse_other_files(const char *path, struct lbm_diag *diag)
{
    struct stat status;
    if (lstat(path, &status) != 0 || S_ISREG(status.st_mode) || S_ISLNK(status.st_mode))
        return LBM_OK; /* a link is refused when it is opened */
    return lbm_diag_set(diag, LBM_E_IO, path, 0, "%s; name a file",
                        S_ISDIR(status.st_mode) ? "a directory" : "not an ordinary file");
}

/* Where it cannot be used SQLite keeps another journal, and says so in a row. */
static enum lbm_err
use_wal(struct lbm_store *store, struct lbm_diag *diag)
{
    sqlite3_stmt *statement = NULL;
    char mode[16] = "";
    if (sqlite3_prepare_v2(store->db, "PRAGMA journal_mode = WAL", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        snprintf(mode, sizeof mode, "%s", (const char *)sqlite3_column_text(statement, 0));
    if (sqlite3_finalize(statement) != SQLITE_OK || mode[0] == '\0')
        return lbm_store_error(store->db, store->path, diag, "asking for a write-ahead log");
    if (strcmp(mode, "wal") == 0)
        return LBM_OK;
    return lbm_diag_set(
        diag, LBM_E_UNSUPPORTED, store->path, 0,
        "its file system allows no write-ahead log (journal mode %s); keep it on a local disk", mode);
}

static int
note_wal(void *context, sqlite3 *db, const char *schema, int pages)
{
    (void)db, (void)schema;
    struct lbm_store *store = context;
    store->wal_pages = pages;
    return SQLITE_OK;
}

static enum lbm_err
remember_file(struct lbm_store *store, struct lbm_diag *diag)
{
    struct stat status;
    if (lstat(store->path, &status) != 0)
        return lbm_store_system_error(store->path, diag, "looking at it");
    if (status.st_nlink != 1)
        return lbm_diag_set(diag, LBM_E_DENIED, store->path, 0,
                            "has other names, under which another daemon could use it: remove those");
    store->device = status.st_dev;
    store->inode = status.st_ino;
    return LBM_OK;
}

enum lbm_err
lbm_store_in_place(const struct lbm_store *store, struct lbm_diag *diag)
{
    struct stat status, lock;
    if (lstat(store->path, &status) != 0)
        return lbm_diag_set(
            diag, LBM_E_IO, store->path, 0,
            "the database has been removed or moved away while it was in use (%s): what is stored "
            "from now on would be lost. Put it back, or let this host join again as a new one",
            strerror(errno));
    if (status.st_dev != store->device || status.st_ino != store->inode)
        return lbm_diag_set(
            diag, LBM_E_IO, store->path, 0,
            "the database has been replaced by another file while it was in use: stop the daemon "
            "before a database is copied or restored");
    if (fstat(store->lock, &lock) != 0 || lock.st_nlink == 0)
        return lbm_diag_set(
            diag, LBM_E_IO, store->path, 0,
            "its lock has been removed while it was in use: another daemon could open the database");
    return LBM_OK;
}

static enum lbm_err
open_steps(struct lbm_store *store, const struct lbm_store_how *how, struct lbm_diag *diag)
{
    int version = 0;
    enum lbm_err err = refuse_other_files(store->path, diag);
    if (err == LBM_OK)
        err = take_lock(store, diag);
    if (err == LBM_OK)
        err = lbm_store_check_boot(store, how, diag);
    if (err == LBM_OK)
        err = lbm_store_create_file(store->path, 0, diag);
    if (err == LBM_OK)
        err = remember_file(store, diag);
    if (err == LBM_OK)
        err = lbm_store_connect(store, SQLITE_OPEN_READWRITE, &version, diag);
    if (err == LBM_OK && version != 0 && version < lbm_store_version)
        err = lbm_store_copy_before(store->db, version, store->path, diag);
    if (err == LBM_OK && version < lbm_store_version)
        err = lbm_store_migrate(store->db, lbm_store_steps, version, lbm_store_version, store->path, diag);
    if (err == LBM_OK)
        err = use_wal(store, diag);
    if (err == LBM_OK)
        err = lbm_store_prepare(store, diag);
    if (err == LBM_OK)
        err = lbm_store_use_durability(store, diag);
    if (err != LBM_OK)
        return err;
    sqlite3_wal_hook(store->db, note_wal, store);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return LBM_OK;
}

struct lbm_store *
lbm_store_alloc(const char *path, struct lbm_diag *diag)
{
    struct lbm_store *store = lbm_alloc(1, sizeof *store);
    if (store != NULL) {
        store->lock = -1;
        store->path = lbm_copy(path, strlen(path) + 1, 1);
    }
    if (store != NULL && store->path != NULL)
        return store;
    free(store);
    (void)lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "no memory to open it");
    return NULL;
}

enum lbm_err
lbm_store_open(const char *path, const struct lbm_store_how *how, struct lbm_store **out,
               struct lbm_diag *diag)
{
    struct lbm_store *store = lbm_store_alloc(path, diag);
    if (store == NULL)
        return LBM_E_NOMEM;
    enum lbm_err err = open_steps(store, how, diag);
    if (err != LBM_OK) {
        lbm_store_close(store);
        return err;
    }
    *out = store;
    return LBM_OK;
}

void
lbm_store_close(struct lbm_store *store)
{
    if (store == NULL)
        return;
    for (int i = 0; i < LBM_SQL_COUNT; i++)
        sqlite3_finalize(store->statement[i]);
    struct lbm_diag diag;
    /* Closing must not write again what could not be written, nor touch the write-ahead log of another file.
     */
    if (store->failed || (store->inode != 0 && lbm_store_in_place(store, &diag) != LBM_OK))
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    else
        lbm_store_end_boot(store);
    int result = sqlite3_close(store->db);
    LBM_ASSERT(result == SQLITE_OK);
    if (store->lock >= 0)
        close(store->lock); /* after the last write */
    lbm_buf_free(&store->position);
    lbm_buf_free(&store->adjacency);
    lbm_buf_free(&store->news);
    free(store->aside);
    free(store->path);
    free(store);
}
