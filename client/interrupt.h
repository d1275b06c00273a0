/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ctrl-C: the first is noted, for work that can stop with what it has; the second quits as ever. */
#ifndef LBM_CLIENT_INTERRUPT_H
#define LBM_CLIENT_INTERRUPT_H

void lbm_interrupt_catch(void);   /* from here on the first Ctrl-C is noted */
int lbm_interrupt_seen(void);     /* nonzero: it came */
void lbm_interrupt_release(void); /* Ctrl-C quits again */

#endif
