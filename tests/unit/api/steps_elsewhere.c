/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What parts of lbmap_steps call that are tested without the rest of it: failures are kept, and nothing else
 * is expected. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/steps.h"

void
lbm_steps_fail(struct lbm_steps *steps, enum lbmap_error error, const char *fmt, ...)
{
    (void)fmt;
    steps->error = error;
}

void
lbm_steps_heard(struct lbm_steps *steps, uint32_t host, uint32_t vertex, uint64_t step, uint64_t durable,
                struct lbm_state *state)
{
    (void)steps, (void)host, (void)vertex, (void)step, (void)durable, (void)state;
    fail();
}
