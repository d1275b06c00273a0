/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In the process of a program: become the user, enter the folder, execute. */
#ifndef LBM_DAEMON_PROGRAM_START_H
#define LBM_DAEMON_PROGRAM_START_H

#include "node/node.h"

/* Nonzero if this process may run programs as other users. */
int lbm_program_may_become_others(void);

/* Execute the program with output as its standard output and error, in a process group of its own.
 * Its environment is what the order says, HOME, USER, LOGNAME and SHELL of the user, and LBMAP_JOB,
 * LBMAP_HOST and LBMAP_SOCKET. If it cannot be, why gets a line that says so, and the status is 127. */
_Noreturn void lbm_program_execute(const struct lbm_program_order *order, const char *control, int output,
                                   int why);

#endif
