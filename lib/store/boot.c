/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A database that counts once it is in memory: SQLite waits for no disk, so the kernel has what was committed
 * after the daemon's end, and nobody knows what the disk has after the machine's. The file PATH-boot says so
 * as long as it holds, with the boot id of the machine: if that is another one at the next start, the
 * database is set aside, unopened. It is a file of its own since a database that may be torn cannot be asked.
 *
 * Never: writes to a database without synchronous = FULL before PATH-boot is on the disk, or removes that
 * file before all of the database is. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/internal.h"

#define KERNEL_BOOT_ID "/proc/sys/kernel/random/boot_id"

/* PATH and suffix, to be freed by the caller; NULL: no memory, diag says so. */
static char *
path_of(const struct lbm_store *store, const char *suffix, struct lbm_diag *diag)
{
    struct lbm_buf name = {0};
    lbm_buf_printf(&name, "%s%s", store->path, suffix);
    if (!name.failed)
        return name.at;
    lbm_buf_free(&name);
    (void)lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for the names of its files");
    return NULL;
}

/* What was renamed, created or removed next to the database is so on the disk, too. */
static enum lbm_err
sync_folder(const struct lbm_store *store, struct lbm_diag *diag)
{
    const char *slash = strrchr(store->path, '/');
    size_t len = slash == NULL ? 1 : slash == store->path ? 1 : (size_t)(slash - store->path);
    char *folder = lbm_alloc(len + 1, 1);
    if (folder == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for the name of its folder");
    memcpy(folder, slash == NULL ? "." : store->path, len);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum lbm_err err =
        fd >= 0 && fsync(fd) == 0 ? LBM_OK : lbm_store_system_error(folder, diag, "syncing the folder");
    if (fd >= 0)
        close(fd);
    free(folder);
    return err;
}

/* The first line of a file, without its end; *is_there 0: there is no such file.
 * Errors: LBM_E_IO it cannot be read, which says nothing of what it has. */
static enum lbm_err
read_line(const char *path, char line[LBM_STORE_BOOT_BYTES], int *is_there, struct lbm_diag *diag)
{
    line[0] = '\0';
    *is_there = 0;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? LBM_OK : lbm_store_system_error(path, diag, "reading it");
    ssize_t n = read(fd, line, LBM_STORE_BOOT_BYTES - 1);
    enum lbm_err err = n >= 0 ? LBM_OK : lbm_store_system_error(path, diag, "reading it");
    close(fd);
    *is_there = 1;
    line[n > 0 ? n : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return err;
}

/* ---- before the database is opened --------------------------------------------------------------- */

enum lbm_err
lbm_store_unused_name(const struct lbm_store *store, const char *suffix, struct lbm_buf *out,
                      struct lbm_diag *diag)
{
    for (int again = 0; again < ARCHIVES_MAX; again++) {
        struct lbm_buf name = {0};
        lbm_buf_printf(&name, again == 0 ? "%s%s" : "%s%s.%d", store->path, suffix, again);
        if (!name.failed && access(name.at, F_OK) == 0) {
            lbm_buf_free(&name);
            continue;
        }
        if (name.failed) {
            lbm_buf_free(&name);
            return lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory to archive it");
        }
        *out = name;
        return LBM_OK;
    }
    return lbm_diag_set(diag, LBM_E_EXISTS, store->path, 0, "it has %d archives %s%s already; move them away",
                        ARCHIVES_MAX, store->path, suffix);
}

/* Rename PATH-wal first: without it the database would be an older one. What is not there is left out. */
static enum lbm_err
rename_files(const struct lbm_store *store, const char *aside, struct lbm_diag *diag)
{
    static const char *const suffixes[] = {"-wal", ""};
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < sizeof suffixes / sizeof *suffixes; i++) {
        struct lbm_buf to = {0};
        char *from = path_of(store, suffixes[i], diag);
        lbm_buf_printf(&to, "%s%s", aside, suffixes[i]);
        if (from == NULL || to.failed)
            err = lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory to set it aside");
        else if (rename(from, to.at) != 0 && errno != ENOENT)
            err = lbm_store_system_error(from, diag, "setting it aside");
        lbm_buf_free(&to);
        free(from);
    }
    char *index = err == LBM_OK ? path_of(store, "-shm", diag) : NULL;
    if (err == LBM_OK && index == NULL)
        err = LBM_E_NOMEM;
    else if (err == LBM_OK && unlink(index) != 0 && errno != ENOENT) /* of no use with other files */
        err = lbm_store_system_error(index, diag, "removing it");
    free(index);
    return err;
}

static enum lbm_err
remove_mark(struct lbm_store *store, struct lbm_diag *diag)
{
    char *mark = path_of(store, "-boot", diag);
    if (mark == NULL)
        return LBM_E_NOMEM;
    enum lbm_err err = LBM_OK;
    if (unlink(mark) != 0 && errno != ENOENT)
        err = lbm_store_system_error(mark, diag, "removing it");
    free(mark);
    if (err == LBM_OK)
        err = sync_folder(store, diag);
    store->is_marked = err != LBM_OK;
    return err;
}

static enum lbm_err
set_aside(struct lbm_store *store, struct lbm_diag *diag)
{
    struct lbm_buf name = {0};
    enum lbm_err err = lbm_store_unused_name(store, ".untrusted", &name, diag);
    if (err == LBM_OK)
        err = rename_files(store, name.at, diag);
    if (err == LBM_OK)
        err = sync_folder(store, diag); /* before the mark goes */
    if (err == LBM_OK)
        err = remove_mark(store, diag);
    if (err == LBM_OK)
        store->aside = name.at;
    else
        lbm_buf_free(&name);
    return err;
}

enum lbm_err
lbm_store_check_boot(struct lbm_store *store, const struct lbm_store_how *how, struct lbm_diag *diag)
{
    const char *boot_path = how != NULL && how->boot_path != NULL ? how->boot_path : KERNEL_BOOT_ID;
    char was[LBM_STORE_BOOT_BYTES];
    int is_there;
    char *mark = path_of(store, "-boot", diag);
    if (mark == NULL)
        return LBM_E_NOMEM;
    store->durability = how != NULL ? how->durability : LBM_DURABILITY_DISK;
    enum lbm_err err = read_line(mark, was, &store->is_marked, diag);
    free(mark);
    if (err != LBM_OK || (store->durability == LBM_DURABILITY_DISK && !store->is_marked))
        return err;
    err = read_line(boot_path, store->boot, &is_there, diag);
    if (err != LBM_OK || store->boot[0] == '\0')
        return lbm_diag_set(
            diag, LBM_E_UNSUPPORTED, boot_path, 0,
            "the system does not tell whether the machine has started again, which a database "
            "of durability \"memory\" needs: see that it can be read, or use \"disk\" and "
            "remove %s-boot if the machine has not",
            store->path);
    return store->is_marked && strcmp(was, store->boot) != 0 ? set_aside(store, diag) : LBM_OK;
}

/* ---- once it is open ----------------------------------------------------------------------------- */

/* All that was committed, in whichever of its files it is, goes to the disk. */
static enum lbm_err
sync_database(struct lbm_store *store, struct lbm_diag *diag)
{
    static const int files[] = {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        sqlite3_file *file = NULL;
        if (sqlite3_file_control(store->db, "main", files[i], &file) != SQLITE_OK || file == NULL ||
            file->pMethods == NULL || file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) != SQLITE_OK)
            return lbm_diag_set(diag, LBM_E_IO, store->path, 0,
                                "it cannot be synced: check the disk, then start again");
    }
    return sync_folder(store, diag);
}

/* From here on the disk has what counts. */
static enum lbm_err
unmark(struct lbm_store *store, struct lbm_diag *diag)
{
    enum lbm_err err = lbm_store_exec(store->db, "PRAGMA synchronous = FULL", NULL, store->path, diag);
    if (err == LBM_OK)
        err = sync_database(store, diag);
    return err == LBM_OK ? remove_mark(store, diag) : err;
}

/* Under another name first: half a mark would be one of another boot. */
static enum lbm_err
write_mark(struct lbm_store *store, const char *mark, const char *new, struct lbm_diag *diag)
{
    enum lbm_err err = LBM_OK;
    int fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || dprintf(fd, "%s\n", store->boot) != (int)strlen(store->boot) + 1 || fsync(fd) != 0 ||
        rename(new, mark) != 0)
        err = lbm_store_system_error(new, diag, "writing it");
    if (fd >= 0)
        close(fd);
    return err == LBM_OK ? sync_folder(store, diag) : err;
}

static enum lbm_err
put_mark(struct lbm_store *store, struct lbm_diag *diag)
{
    if (store->is_marked)
        return LBM_OK;
    char *mark = path_of(store, "-boot", diag), *new = path_of(store, "-boot.new", diag);
    enum lbm_err err = mark != NULL && new != NULL ? write_mark(store, mark, new, diag) : LBM_E_NOMEM;
    store->is_marked = err == LBM_OK;
    free(mark);
    free(new);
    return err;
}

enum lbm_err
lbm_store_use_durability(struct lbm_store *store, struct lbm_diag *diag)
{
    if (store->durability == LBM_DURABILITY_DISK)
        return store->is_marked ? unmark(store, diag) : LBM_OK;
    enum lbm_err err = put_mark(store, diag);
    if (err == LBM_OK)
        err = lbm_store_exec(store->db, "PRAGMA synchronous = OFF", NULL, store->path, diag);
    store->is_in_memory = err == LBM_OK;
    return err;
}

void
lbm_store_end_boot(struct lbm_store *store)
{
    struct lbm_diag diag;
    /* What cannot be synced stays marked: that is what the mark is for. */
    if (store->is_in_memory && unmark(store, &diag) != LBM_OK)
        store->is_marked = 1;
    store->is_in_memory = 0;
}

const char *
lbm_store_set_aside(const struct lbm_store *store)
{
    return store->aside;
}
