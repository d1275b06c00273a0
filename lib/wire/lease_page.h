/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The page through which a daemon tells applications how long they may work (protocol.md section 5).
 *
 * A file of 4096 bytes that both map. 64-bit words of the machine's own order:
 *     0  "LBMLEASE"
 *     1  version (low half), host id (high half)
 *     2  sequence: odd while the following words are being written
 *     3  life of the daemon: another number whenever it starts
 *     4  boot of the machine
 *     5  deadline, CLOCK_BOOTTIME in microseconds: until then applications may work
 *     6  term: grows when a lease lapsed; what was acquired in a lower one is lost
 *     7  applications attached that have had vertices
 *     8  those that have gone: grows from life to life
 * The rest is 0. Nothing here opens or maps a file. */
#ifndef LBM_WIRE_LEASE_PAGE_H
#define LBM_WIRE_LEASE_PAGE_H

#include <stdint.h>

#include "base/err.h"

enum { LBM_LEASE_PAGE_BYTES = 4096 };
#define LBM_LEASE_PAGE_SUFFIX ".lease" /* next to the control socket: its path and this */

struct lbm_lease_page {
    uint32_t host;
    uint64_t life;
    uint64_t boot;
    int64_t deadline_us; /* INT64_MAX: no limit; 0: nobody may work */
    uint64_t term;
    uint32_t used; /* applications that have had vertices, */
    uint32_t gone; /* and the number of those that are attached no more; 0: an earlier version */
};

/* A program that the daemon cuts off sees it, and is given so long beyond the step that it may be within. */
#define LBM_LEASE_NOTICE_US 200000

/* Another number whenever the page is written. Cheap. */
static inline uint64_t
lbm_lease_page_sequence(const void *page)
{
    return __atomic_load_n((const uint64_t *)page + 2, __ATOMIC_ACQUIRE);
}

/* Write. There is one writer. page: LBM_LEASE_PAGE_BYTES, aligned to 8. */
void lbm_lease_page_put(void *page, const struct lbm_lease_page *lease);

/* Read while another process may be writing.
 * Errors: LBM_E_SYNTAX it is no such page, LBM_E_VERSION; LBM_E_BUSY it is being written, or its writer died
 *         over it: *lease then holds what there is, which may be mixed. */
enum lbm_err lbm_lease_page_get(const void *page, struct lbm_lease_page *lease) LBM_MUST_CHECK;

#endif
