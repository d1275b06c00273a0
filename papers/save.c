/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawings to files. */
#include "papers/save.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum lbm_err
save_make_dir(const char *dir, struct lbm_diag *diag)
{
    if (mkdir(dir, 0777) == 0 || errno == EEXIST)
        return LBM_OK;
    return lbm_diag_set(diag, LBM_E_IO, dir, 0, "%s", strerror(errno));
}

enum lbm_err
save_svg(const char *dir, const char *name, const struct lbm_buf *text, int tell, struct lbm_diag *diag)
{
    char path[4096];
    if (text->failed)
        return lbm_diag_set(diag, LBM_E_NOMEM, name, 0, "out of memory");
    if ((size_t)snprintf(path, sizeof path, "%s/%s.svg", dir, name) >= sizeof path)
        return lbm_diag_set(diag, LBM_E_IO, name, 0, "the path is too long");
    FILE *file = fopen(path, "w");
    size_t written = file != NULL ? fwrite(text->at, 1, text->len, file) : 0;
    if (file == NULL || fclose(file) != 0 || written != text->len)
        return lbm_diag_set(diag, LBM_E_IO, path, 0, "%s", strerror(errno));
    if (tell)
        printf("%s\n", path);
    return LBM_OK;
}
