/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/store/power_vfs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/mem.h"

enum { KINDS = 4, FILES = 8, OPEN = 16, SECTOR = 512, FILE_MAX = 1 << 20 };

enum event_kind { CREATE, WRITE, TRUNCATE, SYNC, REMOVE, DURABLE };

struct event {
    enum event_kind kind;
    int file;
    size_t at, len; /* TRUNCATE: at is the new length; REMOVE: at 1 syncs the directory */
    uint8_t *bytes; /* WRITE */
};

/* A file as the cut leaves it. */
struct image {
    int exists;
    size_t len;
    uint8_t bytes[FILE_MAX];
};

static struct {
    sqlite3_vfs vfs;
    const sqlite3_io_methods *real[KINDS]; /* the default file system has some kinds of files */
    sqlite3_io_methods methods[KINDS];
    char *name[FILES]; /* without directory */
    struct {
        const sqlite3_file *file;
        int name;
    } open[OPEN];
    LBM_VEC(struct event) events;
} record;

static struct image images[FILES];

/* ---- recording ---------------------------------------------------------------------------------- */

static void
note(enum event_kind kind, int file, size_t at, const void *bytes, size_t len)
{
    struct event event = {.kind = kind, .file = file, .at = at, .len = len};
    if (file < 0)
        return;
    if (bytes != NULL)
        assert_non_null(event.bytes = lbm_copy(bytes, len, 1));
    assert_int_equal(lbm_vec_push(&record.events, event), LBM_OK);
}

/* Number of a name; -1 for a temporary file without one. */
static int
number_of(const char *path)
{
    if (path == NULL)
        return -1;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    int i = 0;
    while (i < FILES && record.name[i] != NULL && strcmp(record.name[i], name) != 0)
        i++;
    assert_in_range(i, 0, FILES - 1);
    if (record.name[i] == NULL)
        assert_non_null(record.name[i] = strdup(name));
    return i;
}

static int
slot_of(const sqlite3_file *file)
{
    int i = 0;
    while (i < OPEN && record.open[i].file != file)
        i++;
    assert_in_range(i, 0, OPEN - 1);
    return i;
}

static int
name_of(const sqlite3_file *file)
{
    return record.open[slot_of(file)].name;
}

static const sqlite3_io_methods *
real_methods(const sqlite3_file *file)
{
    return record.real[file->pMethods - record.methods];
}

static int
noted_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    note(WRITE, name_of(file), (size_t)at, bytes, (size_t)len);
    return real_methods(file)->xWrite(file, bytes, len, at);
}

static int
noted_truncate(sqlite3_file *file, sqlite3_int64 len)
{
    note(TRUNCATE, name_of(file), (size_t)len, NULL, 0);
    return real_methods(file)->xTruncate(file, len);
}

static int
noted_sync(sqlite3_file *file, int flags)
{
    note(SYNC, name_of(file), 0, NULL, 0);
    return real_methods(file)->xSync(file, flags);
}

static int
noted_close(sqlite3_file *file)
{
    record.open[slot_of(file)].file = NULL;
    return real_methods(file)->xClose(file);
}

static int
noted_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *flags_out)
{
    sqlite3_vfs *real = vfs->pAppData;
    int exists = 0;
    if (name != NULL)
        (void)real->xAccess(real, name, SQLITE_ACCESS_EXISTS, &exists);
    int result = real->xOpen(real, name, file, flags, flags_out);
    if (result != SQLITE_OK)
        return result;
    int kind = 0;
    while (kind < KINDS - 1 && record.real[kind] != NULL && record.real[kind] != file->pMethods)
        kind++;
    assert_true(record.real[kind] == NULL || record.real[kind] == file->pMethods);
    record.real[kind] = file->pMethods;
    record.methods[kind] = *file->pMethods;
    record.methods[kind].xWrite = noted_write;
    record.methods[kind].xTruncate = noted_truncate;
    record.methods[kind].xSync = noted_sync;
    record.methods[kind].xClose = noted_close;
    file->pMethods = &record.methods[kind];
    int slot = slot_of(NULL);
    record.open[slot].file = file;
    record.open[slot].name = number_of(name);
    if (!exists)
        note(CREATE, record.open[slot].name, 0, NULL, 0);
    return SQLITE_OK;
}

static int
noted_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    sqlite3_vfs *real = vfs->pAppData;
    note(REMOVE, number_of(name), (size_t)(sync != 0), NULL, 0);
    return real->xDelete(real, name, sync);
}

void
power_begin(void)
{
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    record.vfs = *real;
    record.vfs.zName = "power";
    record.vfs.pAppData = real;
    record.vfs.xOpen = noted_open;
    record.vfs.xDelete = noted_delete;
    assert_int_equal(sqlite3_vfs_register(&record.vfs, 1), SQLITE_OK);
}

void
power_end(void)
{
    assert_int_equal(sqlite3_vfs_unregister(&record.vfs), SQLITE_OK);
}

void
power_free(void)
{
    for (size_t i = 0; i < record.events.n; i++)
        free(record.events.at[i].bytes);
    lbm_vec_free(&record.events);
    for (int i = 0; i < FILES; i++)
        free(record.name[i]);
    memset(&record, 0, sizeof record);
}

void
power_durable(void)
{
    note(DURABLE, 0, 0, NULL, 0);
}

size_t
power_length(void)
{
    return record.events.n;
}

/* ---- cutting ------------------------------------------------------------------------------------ */

static void
grow(struct image *image, size_t len)
{
    assert_in_range(len, 0, FILE_MAX);
    if (len > image->len)
        memset(image->bytes + image->len, 0, len - image->len);
    image->len = len;
}

static void
put_bytes(struct image *image, const struct event *event, size_t from, size_t to)
{
    if (event->at + to > image->len)
        grow(image, event->at + to);
    memcpy(image->bytes + event->at + from, event->bytes + from, to - from);
    image->exists = 1;
}

static void
carry_out(const struct event *event)
{
    struct image *image = &images[event->file];
    switch (event->kind) {
    case CREATE:
        image->exists = 1;
        break;
    case WRITE:
        put_bytes(image, event, 0, event->len);
        break;
    case TRUNCATE:
        grow(image, event->at);
        break;
    case REMOVE:
        image->exists = 0;
        image->len = 0;
        break;
    case SYNC:
    case DURABLE:
        break;
    }
}

/* Nonzero: the event is durable at the cut. Only a sync of its file, or for what is removed a sync of the
 * directory, says so. */
static int
is_durable(size_t i, size_t cut)
{
    const struct event *at = record.events.at;
    int fresh[FILES] = {0};
    for (size_t k = 0; k < i; k++)
        if (at[k].kind == CREATE || at[k].kind == SYNC)
            fresh[at[k].file] = at[k].kind == CREATE;
    int removed = at[i].kind == REMOVE;
    if (removed && at[i].at == 1)
        return 1;
    for (size_t k = i + 1; k < cut; k++) {
        if (at[k].kind == CREATE)
            fresh[at[k].file] = 1;
        removed |= at[k].kind == REMOVE && at[k].file == at[i].file;
        int directory = at[k].kind == REMOVE ? at[k].at == 1 : at[k].kind == SYNC && fresh[at[k].file];
        if (at[k].kind == SYNC)
            fresh[at[k].file] = 0;
        if (directory && removed)
            return 1;
        if (at[k].kind == SYNC && at[k].file == at[i].file && at[i].kind != REMOVE)
            return 1;
    }
    return 0;
}

/* Of a write, the sectors before or after some sector border of the file. */
static void
tear(const struct event *event, struct lbm_rng *rng)
{
    size_t border =
        (event->at / SECTOR + 1 + lbm_rng_below(rng, (uint32_t)(event->len / SECTOR + 1))) * SECTOR;
    size_t inside = border - event->at < event->len ? border - event->at : event->len;
    if (lbm_rng_below(rng, 2) != 0)
        put_bytes(&images[event->file], event, 0, inside);
    else if (inside < event->len)
        put_bytes(&images[event->file], event, inside, event->len);
}

static void
carry_out_perhaps(const struct event *event, enum power_outcome outcome, struct lbm_rng *rng)
{
    uint32_t dice = lbm_rng_below(rng, outcome == POWER_TORN ? 3 : 2);
    if (outcome == POWER_ALL || (outcome != POWER_NONE && dice == 0))
        carry_out(event);
    else if (outcome == POWER_TORN && dice == 1 && event->kind == WRITE)
        tear(event, rng);
}

size_t
power_cut(size_t cut, enum power_outcome outcome, struct lbm_rng *rng, const char *directory)
{
    size_t marks = 0;
    for (int f = 0; f < FILES; f++)
        images[f].exists = 0, images[f].len = 0;
    for (size_t i = 0; i < cut; i++) {
        const struct event *event = &record.events.at[i];
        marks += event->kind == DURABLE;
        if (is_durable(i, cut))
            carry_out(event);
        else
            carry_out_perhaps(event, outcome, rng);
    }
    for (int f = 0; f < FILES; f++) {
        if (!images[f].exists)
            continue;
        char path[256];
        snprintf(path, sizeof path, "%s/%s", directory, record.name[f]);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(images[f].bytes, 1, images[f].len, file), images[f].len);
        assert_int_equal(fclose(file), 0);
    }
    return marks;
}
