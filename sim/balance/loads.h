/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads to begin with, from a spec. */
#ifndef LBM_SIM_BALANCE_LOADS_H
#define LBM_SIM_BALANCE_LOADS_H

#include <stdint.h>

#include "base/err.h"

/* uniform:MEAN         each between 0 and twice the mean; integers between 0 and 2 MEAN - 1 (XL95, SAN)
 * point:LOAD[,HOST]    all on one host, 0 unless told
 * list:A,B,..          one a host
 * file:PATH            one a host, white space between
 * In:      seed of what is drawn.  Out: load [n].
 * Errors:  LBM_E_SYNTAX, LBM_E_RANGE, and those of reading a file. */
enum lbm_err loads_make(const char *spec, uint32_t n, int integer, uint64_t seed, double *load,
                        struct lbm_diag *diag) LBM_MUST_CHECK;

struct lbm_colouring;

/* An alpha for each link (CYB89's alpha_ij) from a file: lines of two hosts, counted from 0, and a number >=
 * 0; # begins a remark. Every link once, in either direction. Out:     alpha [c->n_links]. Errors:
 * LBM_E_SYNTAX, LBM_E_RANGE, LBM_E_EXISTS with the line; those of reading a file; LBM_E_NOMEM. */
enum lbm_err links_read(const char *path, const struct lbm_colouring *c, double *alpha,
                        struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
