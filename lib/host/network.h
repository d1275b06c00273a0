/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks of hosts and switches; not for other modules. */
#ifndef LBM_HOST_NETWORK_H
#define LBM_HOST_NETWORK_H

#include "host/internal.h"

/* Vertices of capacity 0 are switches, the others hosts. Borrowed. */
struct lbm_network {
    uint32_t n;
    const struct lbm_link *links; /* both ends < n, no loop, no pair twice */
    size_t n_links;
    const double *capacity;  /* [n] */
    unsigned m;              /* with site */
    const double *site;      /* [n * m], or NULL: by the distances */
    const char *const *name; /* [n] for messages, or NULL: numbers */
};

/* The hosts of a network, numbered in its order; distances go through hosts and switches alike.
 * Out:     names are the caller's to set.
 * Errors:  LBM_E_RANGE (no host; a cost), LBM_E_SYNTAX (hosts that no way connects), LBM_E_LIMIT,
 *          LBM_E_NOMEM; told in diag, *out untouched.
 * Cost:    a search from each host through the whole network. */
enum lbm_err lbm_hosts_from_network(const char *where, const struct lbm_network *net, struct lbm_hosts *out,
                                    struct lbm_diag *diag) LBM_MUST_CHECK;

/* Links for hosts 0 .. n - 1 of rows, whose other vertices are switches: those there are; the hosts of one
 * switch; the i-th hosts of two switches with no third one between them that has hosts. Where one of these
 * would have many partners it has those at the distances 1, 2, 4, ... in the order of the numbers, so that
 * degrees grow with the logarithm.
 * In:      dist [n * n], which gives the costs; rows connected.
 * Out:     links are appended; they connect all hosts.
 * Errors:  LBM_E_NOMEM; LBM_E_LIMIT, more than LBM_LINKS_MAX. */
enum lbm_err lbm_fabric_links(const struct lbm_hosts *rows, uint32_t n, const uint32_t *dist,
                              struct lbm_link_vec *links) LBM_MUST_CHECK;

#endif
