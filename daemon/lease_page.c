/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "daemon/lease_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "wire/lease_page.h"

struct lbm_lease_file {
    int fd;
    void *page;
    struct lbm_lease_page lease; /* as last written */
};

/* A number for this boot of the machine; 0 if the system does not tell (FNV-1a of its boot id). */
static uint64_t
boot_number(void)
{
    char text[64];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    FILE *from = fopen("/proc/sys/kernel/random/boot_id", "re");
    size_t n = from != NULL ? fread(text, 1, sizeof text, from) : 0;
    if (from != NULL)
        fclose(from);
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return n != 0 ? hash : 0;
}

/* The file, open and locked, of the right size and owner.  Errors: as lbm_lease_file_open. */
static enum lbm_err
open_file(const char *path, int *out, struct lbm_diag *diag)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat stat;
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return lbm_diag_set(diag, LBM_E_IO, path, 0, "cannot create the lease page of the control socket: %s",
                            strerror(errno));
    enum lbm_err err = LBM_OK;
    if (fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode) || stat.st_uid != geteuid() || stat.st_nlink != 1)
        err =
            lbm_diag_set(diag, LBM_E_DENIED, path, 0, "is not a file of the daemon's user alone: remove it");
    else if (stat.st_size > LBM_LEASE_PAGE_BYTES)
        err = lbm_diag_set(diag, LBM_E_EXISTS, path, 0, "is no lease page and is kept: move it away");
    else if (fcntl(fd, F_OFD_SETLK, &whole) != 0)
        err = lbm_diag_set(diag, LBM_E_BUSY, path, 0, "another process uses it; is lbmapd running already?");
    else if (fchmod(fd, 0644) != 0 || /* applications of other users read it */
             (stat.st_size != LBM_LEASE_PAGE_BYTES && ftruncate(fd, LBM_LEASE_PAGE_BYTES) != 0) ||
             (errno = posix_fallocate(fd, 0, LBM_LEASE_PAGE_BYTES)) != 0) /* not at the first store */
        err = lbm_diag_set(diag, LBM_E_IO, path, 0, "%s", strerror(errno));
    if (err != LBM_OK)
        close(fd);
    else
        *out = fd;
    return err;
}

/* Who may still work, by the page as it was found. */
static struct lbm_lease_past
read_past(const void *page, uint64_t boot, int64_t now_us, int64_t lease_us)
{
    struct lbm_lease_page old;
    enum lbm_err err = lbm_lease_page_get(page, &old);
    struct lbm_lease_past none = {0};
    if (err == LBM_OK)
        none = (struct lbm_lease_past){.term = old.term, .gone = old.gone};
    if (err == LBM_E_BUSY) /* the writer died over it: anything may have been promised, to any number, but
                              nobody whose term is over begins to work again */
        return (struct lbm_lease_past){now_us + lease_us, old.term + 1, UINT32_MAX, old.gone};
    if (err != LBM_OK || old.used == 0 || old.deadline_us <= now_us)
        return none;
    if (old.boot != boot && old.boot != 0 && boot != 0)
        return none; /* the machine has started since: nothing of before runs */
    int64_t end_us = now_us + lease_us;
    return (struct lbm_lease_past){old.deadline_us < end_us ? old.deadline_us : end_us, old.term, old.used,
                                   old.gone};
}

enum lbm_err
lbm_lease_file_open(const char *control, uint32_t host, uint64_t life, int64_t now_us, int64_t lease_us,
                    struct lbm_lease_file **out, struct lbm_lease_past *past, struct lbm_diag *diag)
{
    char path[256];
    int fd = -1;
    if ((size_t)snprintf(path, sizeof path, "%s%s", control, LBM_LEASE_PAGE_SUFFIX) >= sizeof path)
        return lbm_diag_set(diag, LBM_E_RANGE, control, 0, "is too long");
    enum lbm_err err = open_file(path, &fd, diag);
    if (err != LBM_OK)
        return err;
    struct lbm_lease_file *file = lbm_alloc(1, sizeof *file);
    void *page = mmap(NULL, LBM_LEASE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (file == NULL || page == MAP_FAILED) {
        if (page != MAP_FAILED)
            munmap(page, LBM_LEASE_PAGE_BYTES);
        free(file);
        close(fd);
        return lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "cannot be mapped");
    }
    uint64_t boot = boot_number();
    *past = read_past(page, boot, now_us, lease_us);
    file->fd = fd;
    file->page = page;
    file->lease = (struct lbm_lease_page){.host = host, .life = life, .boot = boot};
    lbm_lease_file_write(file, past->deadline_us, past->term, past->used, past->gone);
    *out = file;
    return LBM_OK;
}

void
lbm_lease_file_close(struct lbm_lease_file *file)
{
    if (file == NULL)
        return;
    munmap(file->page, LBM_LEASE_PAGE_BYTES);
    close(file->fd);
    free(file);
}

void
lbm_lease_file_write(struct lbm_lease_file *file, int64_t deadline_us, uint64_t term, uint32_t used,
                     uint32_t gone)
{
    file->lease.deadline_us = deadline_us;
    file->lease.term = term;
    file->lease.used = used;
    file->lease.gone = gone;
    lbm_lease_page_put(file->page, &file->lease);
}
