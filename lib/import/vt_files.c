/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Load data of vt from files. */
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "import/vt.h"

/* Brotli has no mark by which it could be known; vt compresses by it unless told. */
static enum lbm_err
compressed(const char *path, const char *what, struct lbm_diag *diag)
{
    return lbm_diag_set(
        diag, LBM_E_UNSUPPORTED, path, 0,
        "%s: unpack it with brotli -d, or let vt write plain JSON with --vt_lb_data_compress=false", what);
}

enum lbm_err
lbm_vt_read_files(const char *const *files, size_t n, struct lbm_vt_data *data, struct lbm_diag *diag)
{
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < n; i++) {
        const char *path = files[i];
        size_t end = strlen(path), len;
        char *text;
        if (end > 3 && strcmp(path + end - 3, ".br") == 0)
            return compressed(path, "is compressed by brotli", diag);
        err = lbm_file_read(path, &text, &len, diag);
        if (err != LBM_OK)
            return err == LBM_E_SYNTAX ? compressed(path, "is no text; it may be compressed by brotli", diag)
                                       : err;
        if (text[strspn(text, " \t\r\n\xef\xbb\xbf")] != '{') {
            free(text);
            return compressed(path, "is no JSON; it may be compressed by brotli", diag);
        }
        err = lbm_vt_read(path, text, len, (uint32_t)i, data, diag);
        free(text);
    }
    return err;
}
