/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "config.h"

#include "api/page.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum lbm_err
lbm_page_open(struct lbm_page *page, const char *control, int *replaced)
{
    char path[256];
    struct stat stat;
    int len = snprintf(path, sizeof path, "%s%s", control, LBM_LEASE_PAGE_SUFFIX);
    int fd = len > 0 && (size_t)len < sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return LBM_E_IO;
    void *mapping = MAP_FAILED;
    if (fstat(fd, &stat) == 0 && stat.st_size >= LBM_LEASE_PAGE_BYTES)
        mapping = mmap(NULL, LBM_LEASE_PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    if (mapping == MAP_FAILED) {
        close(fd);
        return LBM_E_IO;
    }
    *replaced = page->mapping != NULL && (page->device != stat.st_dev || page->inode != stat.st_ino);
    lbm_page_close(page);
    *page = (struct lbm_page){fd, mapping, stat.st_dev, stat.st_ino};
    return LBM_OK;
}

void
lbm_page_close(struct lbm_page *page)
{
    if (page->mapping == NULL)
        return;
    munmap((void *)(uintptr_t)page->mapping, LBM_LEASE_PAGE_BYTES);
    close(page->fd);
    *page = (struct lbm_page){.fd = -1};
}

int
lbm_page_is_written(const struct lbm_page *page)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return fcntl(page->fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static int64_t
clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t
lbm_page_now_us(void)
{
    return clock_us(CLOCK_BOOTTIME);
}

int64_t
lbm_page_coarse_us(void)
{
    return clock_us(CLOCK_MONOTONIC_COARSE);
}

int64_t
lbm_page_coarse_wall_us(void)
{
    return clock_us(CLOCK_REALTIME_COARSE);
}
