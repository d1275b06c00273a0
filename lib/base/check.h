/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Assertions that stay on in release.  They check the programmer, never the input. */
#ifndef LBM_BASE_CHECK_H
#define LBM_BASE_CHECK_H

/* Called once before the process aborts; a program sets it to report where. NULL: abort silently. */
extern void (*lbm_assert_hook)(const char *expression, const char *file, int line);

_Noreturn void lbm_assert_failed(const char *expression, const char *file, int line);

#define LBM_ASSERT(e) ((e) ? (void)0 : lbm_assert_failed(#e, __FILE__, __LINE__))

#endif
