/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Planning from a mapping that exists: which hosts are gone, where the vertices are now. Hosts have the ids
 * of
 * --hosts for the user, and consecutive numbers among those that are left for the plan.
 *
 * Owns: the translation between both. */
#ifndef LBM_CLIENT_REMAP_H
#define LBM_CLIENT_REMAP_H

#include "map/map.h"

struct lbm_remap {
    struct lbm_hosts all; /* as given, those that are gone without capacity; n is 0 if none is */
    uint32_t *number;     /* [all.n] among those left; LBM_NONE: gone */
    uint32_t *current;    /* [n] numbers, LBM_NONE: on a host that is gone; NULL: no mapping is given */
    struct lbm_migration migration;
};

/* Take the hosts of a list "3,5" (ids, or names if hosts have some) out of h; all keeps them.
 * Errors: LBM_E_SYNTAX, LBM_E_RANGE, those of lbm_hosts_without. */
enum lbm_err lbm_remap_without(struct lbm_remap *remap, const char *list, struct lbm_hosts *h,
                               struct lbm_diag *diag) LBM_MUST_CHECK;

/* Read the present mapping of g, in ids of the hosts as given. Errors: those of lbm_file_map. */
enum lbm_err lbm_remap_read(struct lbm_remap *remap, const char *path, const struct lbm_graph *g,
                            const struct lbm_hosts *h, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Pins of g from ids into numbers. Errors: LBM_E_RANGE a vertex is pinned to a host that is gone. */
enum lbm_err lbm_remap_pins(const struct lbm_remap *remap, struct lbm_graph *g,
                            struct lbm_diag *diag) LBM_MUST_CHECK;

/* A plan from numbers into ids; regions of hosts that are gone are empty. Errors: LBM_E_NOMEM, unchanged. */
enum lbm_err lbm_remap_finish(const struct lbm_remap *remap, struct lbm_plan *plan) LBM_MUST_CHECK;

void lbm_remap_free(struct lbm_remap *remap);

#endif
