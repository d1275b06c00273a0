/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* An application's look at its daemon's lease page (layout: wire/lease_page.h).
 *
 * Owns: the file, open and mapped for reading.  Never: writes it. */
#ifndef LBM_API_PAGE_H
#define LBM_API_PAGE_H

#include "base/err.h"
#include "wire/lease_page.h"

struct lbm_page {
    int fd;              /* -1: no page */
    const void *mapping; /* NULL: no page */
    uint64_t device, inode;
};

/* Open the page next to the control socket at this path, in place of the one that is open.
 * Out:    *replaced nonzero if another file was open: nothing that it promised is renewed any more.
 * Errors: LBM_E_IO; the page that is open stays. */
enum lbm_err lbm_page_open(struct lbm_page *page, const char *control, int *replaced) LBM_MUST_CHECK;
void lbm_page_close(struct lbm_page *page);

/* Nonzero if the daemon that writes the page lives. */
int lbm_page_is_written(const struct lbm_page *page);

int64_t lbm_page_now_us(void); /* CLOCK_BOOTTIME, the clock of its deadline */
/* Cheap, late by 10 ms at most: a clock that stands still while the machine sleeps, and one that does not,
 * but that somebody may set. */
int64_t lbm_page_coarse_us(void);      /* CLOCK_MONOTONIC_COARSE */
int64_t lbm_page_coarse_wall_us(void); /* CLOCK_REALTIME_COARSE */

#endif
