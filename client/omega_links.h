/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which links of the host graph Omega shows: those whose hosts' regions touch.
 *
 * Source: HEI97 section 3. Regions are those of equal weights, as of a guest that covers Omega evenly.
 * Owns: what rows of lbctl network say of it. Never: asks a daemon. */
#ifndef LBM_CLIENT_OMEGA_LINKS_H
#define LBM_CLIENT_OMEGA_LINKS_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

/* Sites of hosts, by their ids. */
struct lbm_host_sites {
    unsigned m;
    LBM_VEC(uint32_t) id;
    LBM_VEC(double) site; /* m a host */
};

void lbm_host_sites_free(struct lbm_host_sites *sites);

/* Links of the rows, each counted once. */
struct lbm_omega_links {
    uint32_t links, hidden;
};

/* Say of every link of the rows whether Omega shows it.
 * In/out:  rows: an array of {"host": id, "links": [{"host": id}], ...}. Each link gets "in_omega", true or
 * false; each row "hidden_text", for people: the hosts that it is linked to and does not touch. Links to
 * hosts without a site, or that are no row, are left as they are and not counted. Out:     *count. Errors:
 * LBM_E_NOMEM.  Cost: O(links * hosts). */
enum lbm_err lbm_omega_links_mark(json_t *rows, const struct lbm_host_sites *sites,
                                  struct lbm_omega_links *count) LBM_MUST_CHECK;

#endif
