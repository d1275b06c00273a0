/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which hosts of a file are wanted: a list of their names; not for other modules. */
#ifndef LBM_HOST_SELECTION_H
#define LBM_HOST_SELECTION_H

#include <stdint.h>

#include "host/internal.h"

struct lbm_selection {
    int all;       /* no list: everything is wanted */
    uint32_t n;    /* names of the list */
    char **name;   /* [n] sorted, each once */
    uint8_t *seen; /* [n] nonzero: asked for by lbm_selection_has */
};

/* In: list as in lbm_hostlist_expand, or NULL.
 * Errors: LBM_E_SYNTAX, LBM_E_LIMIT told in diag; LBM_E_NOMEM; *out is to be freed all the same. */
enum lbm_err lbm_selection_make(const char *list, struct lbm_selection *out,
                                struct lbm_diag *diag) LBM_MUST_CHECK;

/* Nonzero if the name is wanted. */
int lbm_selection_has(struct lbm_selection *s, const char *name);

/* Refuse a name of the list that was never asked for. Errors: LBM_E_RANGE told in diag. */
enum lbm_err lbm_selection_complete(const struct lbm_selection *s, const char *where,
                                    struct lbm_diag *diag) LBM_MUST_CHECK;

void lbm_selection_free(struct lbm_selection *s);

#endif
