/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files next to the database, and what the system says of them. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store/internal.h"

enum lbm_err
lbm_store_system_error(const char *path, struct lbm_diag *diag, const char *doing)
{
    int denied = errno == EACCES || errno == EPERM || errno == EROFS;
    return lbm_diag_set(diag, denied ? LBM_E_DENIED : LBM_E_IO, path, 0, "%s: %s; %s", doing, strerror(errno),
                        denied ? "give the daemon's user write access to the file and its directory"
                               : "name a file in a directory that exists, on a disk that works");
}

/* The database is created here, for its user alone: SQLite would leave it to the umask. */
enum lbm_err
lbm_store_create_file(const char *path, int flags, struct lbm_diag *diag)
{
    int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600);
    if (file < 0 && errno == ELOOP)
        return lbm_diag_set(diag, LBM_E_DENIED, path, 0,
                            "is a symbolic link, which is not followed: name the file itself");
    if (file < 0)
        return lbm_store_system_error(path, diag, "creating");
    close(file);
    return LBM_OK;
}
