/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Links of a host as text: HOST[:COST],... */
#ifndef LBM_CLIENT_LINKS_H
#define LBM_CLIENT_LINKS_H

#include "base/err.h"
#include "host/host.h"

enum { LBM_LINKS_TEXT_MAX = 64 }; /* links of one option: what a person writes */

/* Read the links of host self, each other end once; a cost that is not given is 1.
 * In:     option  name of the option, for the message
 * Out:    links [LBM_LINKS_TEXT_MAX], *n of them, at least one.
 * Errors: LBM_E_SYNTAX; diag says what is expected. */
enum lbm_err lbm_links_parse(const char *text, const char *option, uint32_t self,
                             struct lbm_link links[LBM_LINKS_TEXT_MAX], size_t *n,
                             struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
