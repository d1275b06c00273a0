/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that a program keeps for itself, next to others' files: opened without following a link, and refused
 * if they are not what that program would have made. */
#include "file/own.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Tells what errno says. */
static enum lbm_err
system_error(const char *path, const char *what, struct lbm_diag *diag)
{
    enum lbm_err err = errno == ENOENT                                       ? LBM_E_NOTFOUND
                       : errno == EACCES || errno == EPERM || errno == EROFS ? LBM_E_DENIED
                                                                             : LBM_E_IO;
    return lbm_diag_set(diag, err, path, 0, "%s: %s", what, strerror(errno));
}

/* Why the open file is not this user's own; NULL: it is. */
static const char *
foreign(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return "is not an ordinary file: remove it, or choose another path";
    if (status.st_uid != geteuid())
        return "belongs to another user: remove it, or choose another path";
    if (status.st_nlink > 1)
        return "is a file with several names: remove this one, or choose another path";
    return NULL;
}

enum lbm_err
lbm_file_open_own(const char *path, int flags, unsigned mode, int *out, struct lbm_diag *diag)
{
    /* Not blocking: a pipe that nobody reads is refused, not waited for. */
    int fd = open(path, flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, (mode_t)mode);
    if (fd < 0 && errno == ELOOP)
        return lbm_diag_set(diag, LBM_E_DENIED, path, 0,
                            "is a symbolic link, which is not followed: remove it, or choose another path");
    if (fd < 0)
        return system_error(path, "cannot be opened", diag);
    const char *why = foreign(fd);
    if (why == NULL) {
        *out = fd;
        return LBM_OK;
    }
    close(fd);
    return lbm_diag_set(diag, LBM_E_DENIED, path, 0, "%s", why);
}

/* A number and a newline, or nothing. */
static int
is_number(int fd)
{
    char text[32];
    ssize_t n = pread(fd, text, sizeof text, 0);
    if (n < 0 || n == (ssize_t)sizeof text)
        return 0;
    for (ssize_t i = 0; i < n; i++)
        if (!isdigit((unsigned char)text[i]) && !(text[i] == '\n' && i == n - 1 && i > 0))
            return 0;
    return 1;
}

enum lbm_err
lbm_file_write_number(const char *path, long number, struct lbm_diag *diag)
{
    int fd = -1;
    enum lbm_err err = lbm_file_open_own(path, O_RDWR, 0644, &fd, diag);
    if (err != LBM_OK)
        return err;
    if (!is_number(fd))
        err =
            lbm_diag_set(diag, LBM_E_EXISTS, path, 0,
                         "holds something else than a number; it is kept: remove it, or choose another path");
    else if (ftruncate(fd, 0) != 0 || dprintf(fd, "%ld\n", number) < 0)
        err = system_error(path, "cannot be written", diag);
    close(fd);
    return err;
}

enum lbm_err
lbm_file_own_directory(const char *path, struct lbm_diag *diag)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return system_error(path, "cannot be used", diag);
    if (S_ISLNK(status.st_mode))
        return lbm_diag_set(diag, LBM_E_DENIED, path, 0,
                            "is a symbolic link, which is not followed: remove it, or choose another folder");
    if (!S_ISDIR(status.st_mode))
        return lbm_diag_set(diag, LBM_E_EXISTS, path, 0,
                            "is not a folder: remove it, or choose another folder");
    if (status.st_uid != geteuid())
        return lbm_diag_set(diag, LBM_E_DENIED, path, 0,
                            "belongs to another user: choose a folder of your own");
    return LBM_OK;
}
