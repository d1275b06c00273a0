/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "pki/pki.h"

enum lbm_err
lbm_identity_lock(const char *dir, int *fd, struct lbm_diag *diag)
{
    char path[PATH_MAX];
    int opened = open(lbm_identity_path(dir, LBM_IDENTITY_LOCK, path),
                      O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (opened < 0 || !lbm_identity_own(opened, dir) || flock(opened, LOCK_EX) != 0) {
        enum lbm_err err = errno == EACCES ? LBM_E_DENIED : errno == ENOENT ? LBM_E_NOTFOUND : LBM_E_IO;
        lbm_diag_set(diag, err, path, 0, "cannot be locked: %s", strerror(errno));
        if (opened >= 0)
            close(opened);
        return err;
    }
    *fd = opened;
    return LBM_OK;
}
