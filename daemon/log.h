/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The daemon's log: one line a message, on standard error.
 *
 * Owns: the level, and the choice between time stamps and the journal's priority prefixes.
 * Never: blocks on anything but standard error, or lets a control character of a message through. */
#ifndef LBM_DAEMON_LOG_H
#define LBM_DAEMON_LOG_H

#include "base/err.h"
#include "node/node.h"

/* Look whether the journal reads standard error (JOURNAL_STREAM), and set the level. Call once, before
 * any thread starts. */
void lbm_log_open(enum lbm_note_level level);

/* Messages above this level are dropped. */
void lbm_log_set_level(enum lbm_note_level level);

/* Write one line; any thread may. */
void lbm_log(enum lbm_note_level level, const char *fmt, ...) LBM_PRINTF(2, 3);

/* Lines of one kind that others cause: at most LBM_LOG_BURST in LBM_LOG_PERIOD_S seconds. All zero at first.
 * One thread at a time uses it. */
enum { LBM_LOG_BURST = 5, LBM_LOG_PERIOD_S = 60 };
struct lbm_log_limit {
    int64_t since_s; /* the period began */
    uint32_t lines;  /* written in it */
    uint64_t more;   /* not written since the last one that was */
};

/* Write one line, unless there were enough of its kind; the next one that is written says how many were left
 * out. */
void lbm_log_limited(struct lbm_log_limit *limit, enum lbm_note_level level, const char *fmt, ...)
    LBM_PRINTF(3, 4);

/* Write a diagnosis as "where:line: text". */
void lbm_log_diag(enum lbm_note_level level, const struct lbm_diag *diag);

/* The level of that name. Value: LBM_OK or LBM_E_RANGE (*level untouched). */
enum lbm_err lbm_log_level_parse(const char *name, enum lbm_note_level *level) LBM_MUST_CHECK;

/* "error, warning, info, debug": what lbm_log_level_parse takes, for messages. */
const char *lbm_log_level_names(void);

#endif
