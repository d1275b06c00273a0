/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbmapd.conf: refused with a reason, or settings within their ranges. */
#define _GNU_SOURCE /* memfd_create */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "daemon/settings.h"
#include "harnesses.h"

int
fuzz_settings(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[64];
    struct lbm_settings settings;
    struct lbm_diag diag = {0};
    if (memmem(data, size, "@include", 8) != NULL)
        return 0; /* it would read other files of this machine */
    if (fd < 0)
        fd = memfd_create("lbmapd.conf", MFD_CLOEXEC);
    LBM_ASSERT(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    enum lbm_err err = lbm_settings_read(path, &settings, &diag);
    if (err != LBM_OK) {
        LBM_ASSERT(diag.code == err && diag.text[0] != '\0');
        return 0;
    }
    LBM_ASSERT(settings.host.name[0] != '\0' && strlen(settings.host.name) <= LBM_NAME_MAX);
    LBM_ASSERT(settings.dimensions >= 2 && settings.dimensions <= LBM_DIMENSIONS_MAX);
    lbm_settings_free(&settings);
    return 1;
}
