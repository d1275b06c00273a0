/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/control_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/check.h"

static enum lbm_err
refuse(const char *path, int error, const char *what, struct lbm_diag *diag)
{
    return lbm_diag_set(diag, error == EACCES || error == EPERM || error == EROFS ? LBM_E_DENIED : LBM_E_IO,
                        path, 0, "%s: %s", what, strerror(error));
}

/* Remove a socket file that a daemon left behind when it was killed; leave everything else alone. */
static enum lbm_err
remove_stale(const char *path, const struct sockaddr_un *address, struct lbm_diag *diag)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? LBM_OK : refuse(path, errno, "cannot be used as control socket", diag);
    if (!S_ISSOCK(st.st_mode))
        return lbm_diag_set(diag, LBM_E_EXISTS, path, 0,
                            "is there and not a socket; it is kept: set control to another path");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return refuse(path, errno, "no socket", diag);
    int error = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ? 0 : errno;
    close(fd);
    if (error != ECONNREFUSED)
        return lbm_diag_set(diag, LBM_E_BUSY, path, 0,
                            "another process listens there (%s); is lbmapd running already?",
                            error == 0 ? "it answered" : strerror(error));
    if (unlink(path) != 0)
        return refuse(path, errno, "cannot remove the socket a former daemon left", diag);
    return LBM_OK;
}

enum lbm_err
lbm_control_bind(const char *path, mode_t mode, int *out, struct lbm_diag *diag)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    LBM_ASSERT(strlen(path) < sizeof address.sun_path); /* settings have checked it */
    memcpy(address.sun_path, path, strlen(path) + 1);
    enum lbm_err err = remove_stale(path, &address, diag);
    if (err != LBM_OK)
        return err;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return refuse(path, errno, "no socket", diag);
    /* The mask, not a chmod afterwards: there is no moment at which everybody may connect. */
    mode_t before = umask(0777 & ~mode);
    int failed = bind(fd, (const struct sockaddr *)&address, sizeof address) != 0;
    int error = errno;
    umask(before);
    if (failed) {
        close(fd);
        return refuse(path, error, "cannot create the control socket", diag);
    }
    *out = fd;
    return LBM_OK;
}
