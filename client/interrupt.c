/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t seen;

static void
note(int number)
{
    (void)number;
    seen = 1;
}

void
lbm_interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    struct sigaction old;
    sigemptyset(&action.sa_mask);
    /* Who started lbctl with Ctrl-C ignored (nohup, a background job) keeps that. */
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        (void)sigaction(SIGINT, &action, NULL);
}

int
lbm_interrupt_seen(void)
{
    return seen;
}

void
lbm_interrupt_release(void)
{
    struct sigaction old;
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler == note)
        (void)signal(SIGINT, SIG_DFL);
}
