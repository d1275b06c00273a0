/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function with a stack of its own, which waits in the middle and goes on later. One runs at a time, in the
 * one thread that there is, so a run with fibers is as reproducible as one without. */
#ifndef LBM_SIM_PROGRAMS_FIBER_H
#define LBM_SIM_PROGRAMS_FIBER_H

struct fiber;

/* It begins with the first fiber_resume. Owned by the caller: fiber_free. */
struct fiber *fiber_new(void (*main)(void *arg), void *arg);
/* Run it until it waits, or ends. Not from within a fiber. Returns nonzero if it has ended. */
int fiber_resume(struct fiber *fiber);
/* Within a fiber: back to who resumed it. */
void fiber_wait(struct fiber *fiber);
/* It must have ended. NULL is allowed. */
void fiber_free(struct fiber *fiber);

#endif
