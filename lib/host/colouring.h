/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The links of H in the order of a sweep: colour by colour, links of one colour sharing no host. */
#ifndef LBM_HOST_COLOURING_H
#define LBM_HOST_COLOURING_H

#include "host/host.h"

#define LBM_COLOURING_LIST(X)                                                                                \
    X(NONE, "no links")                                                                                      \
    X(CLOSED, "closed form")                                                                                 \
    X(KOENIG, "Koenig")                                                                                      \
    X(MISRA_GRIES, "Misra-Gries")                                                                            \
    X(GREEDY, "greedy colouring of the line graph")

enum lbm_colouring_method {
#define LBM_COLOURING_ENUM(id, text) LBM_COLOURING_##id,
    LBM_COLOURING_LIST(LBM_COLOURING_ENUM)
#undef LBM_COLOURING_ENUM
};

struct lbm_colouring {
    uint32_t n_hosts, n_links, n_colours;
    uint32_t degree;       /* Delta, the largest */
    struct lbm_link *link; /* [n_links] p < q; by colour, then by p */
    uint32_t *first;       /* [n_colours + 1] the links of colour c are first[c] .. first[c + 1] - 1 */
    enum lbm_colouring_method method;
};

/* Colour the links of h with the fewest colours of three ways: closed forms (XL95 section 2) or, if h is
 * bipartite, Koenig: Delta colours; else the better of Misra-Gries (at most Delta + 1) and igraph's greedy
 * colouring of the line graph. Unlike lbm_hosts_colour this may call igraph: one thread at a time.
 * Errors:  LBM_E_NOMEM.  Cost: as lbm_hosts_colour; 10,000 links take a fraction of a second. */
enum lbm_err lbm_colouring_make(const struct lbm_hosts *h, struct lbm_colouring *out) LBM_MUST_CHECK;

void lbm_colouring_free(struct lbm_colouring *c);

/* Nonzero if no host has two links of one colour, and every colour has a link. */
int lbm_colouring_is_proper(const struct lbm_colouring *c);

const char *lbm_colouring_method_text(enum lbm_colouring_method method);

#endif
