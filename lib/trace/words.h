/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands on the lines of a trace besides numbers. Both take what they read. */
#ifndef LBM_TRACE_WORDS_H
#define LBM_TRACE_WORDS_H

#include "graph/rows.h"

/* A word of printable ASCII without blanks. Errors: LBM_E_SYNTAX, LBM_E_RANGE (it does not fit). */
enum lbm_err lbm_trace_word(struct lbm_scan *s, const char *what, char *out, size_t size) LBM_MUST_CHECK;

/* NUMBER:NUMBER. Errors: LBM_E_SYNTAX, LBM_E_RANGE. */
enum lbm_err lbm_trace_pair(struct lbm_scan *s, const struct lbm_field *first, const struct lbm_field *second,
                            uint32_t *a, uint32_t *b) LBM_MUST_CHECK;

#endif
