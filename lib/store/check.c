/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <sys/stat.h>

#include "store/internal.h"

static enum lbm_err
check_steps(struct lbm_store *store, struct lbm_diag *diag)
{
    int version = 0;
    enum lbm_err err = lbm_store_connect(store, SQLITE_OPEN_READONLY, &version, diag);
    if (err != LBM_OK)
        return err;
    if (version < lbm_store_version)
        return lbm_diag_set(diag, LBM_E_VERSION, store->path, 0,
                            "%s (schema %d, this program's is %d): start lbmapd once to bring it up to date",
                            version == 0 ? "empty" : "written by an older lbmap", version, lbm_store_version);
    err = lbm_store_prepare(store, diag);
    struct lbm_recovered *head = NULL;
    if (err == LBM_OK)
        err = lbm_store_read(store, 0, &head, diag);
    if (err == LBM_OK)
        lbm_recovered_free(head);
    return err;
}

enum lbm_err
lbm_store_check(const char *path, struct lbm_diag *diag)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return lbm_diag_set(diag, LBM_E_NOTFOUND, path, 0, "there is no such file");
    struct lbm_store *store = lbm_store_alloc(path, diag);
    if (store == NULL)
        return LBM_E_NOMEM;
    enum lbm_err err = check_steps(store, diag);
    lbm_store_close(store);
    return err;
}
