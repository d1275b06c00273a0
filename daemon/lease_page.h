/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The daemon's side of the lease page: the file next to the control socket (layout: wire/lease_page.h).
 *
 * Owns: the file, its mapping, and a lock by which applications see that this daemon lives.
 * Never: removes the file; applications go on by it when the daemon has ended. */
#ifndef LBM_DAEMON_LEASE_PAGE_H
#define LBM_DAEMON_LEASE_PAGE_H

#include <stdint.h>

#include "base/err.h"

struct lbm_lease_file;

/* What the daemon before left behind. */
struct lbm_lease_past {
    int64_t
        deadline_us; /* applications of it may run until then, a full lease from now at most; 0: none does */
    uint64_t term;
    uint32_t used, gone;
};

/* Map the page of the daemon at this control socket, make it if it is not there, and begin a new life in it.
 * What it promised still holds, but for a promise without end, which ends a lease from now.
 * In:      life differs from start to start; now_us of CLOCK_BOOTTIME; lease_us of a full lease
 * Out:     *out owned by the caller; *past
 * Errors:  LBM_E_IO, LBM_E_DENIED (another user's file), LBM_E_BUSY (a daemon uses it), LBM_E_NOMEM. */
enum lbm_err lbm_lease_file_open(const char *control, uint32_t host, uint64_t life, int64_t now_us,
                                 int64_t lease_us, struct lbm_lease_file **out, struct lbm_lease_past *past,
                                 struct lbm_diag *diag) LBM_MUST_CHECK;
void lbm_lease_file_close(struct lbm_lease_file *file); /* NULL is allowed; the page stays as it is */

void lbm_lease_file_write(struct lbm_lease_file *file, int64_t deadline_us, uint64_t term, uint32_t used,
                          uint32_t gone);

#endif
