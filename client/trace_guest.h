/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The guest in a trace: vertices are numbered on in the order in which they appear, and an edge is as the
 * owner of the end with the lower id has it, since both ends do not change at the same moment. */
#ifndef LBM_CLIENT_TRACE_GUEST_H
#define LBM_CLIENT_TRACE_GUEST_H

#include "client/trace_gather.h"

/* Number what is known, and put it into the head. Errors: LBM_E_NOMEM, and those of lbm_graph_build. */
enum lbm_err lbm_trace_guest_begin(struct lbm_gather *gather, struct lbm_trace *trace,
                                   struct lbm_diag *diag) LBM_MUST_CHECK;

/* Add what the last answer says to the step. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_trace_guest_step(struct lbm_gather *gather, struct lbm_trace *trace) LBM_MUST_CHECK;

#endif
