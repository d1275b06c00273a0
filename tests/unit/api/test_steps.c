/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lbmap_steps says of a program before it asks a daemon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lbmap_steps.h"

static void
never_begins(void *context, uint32_t vertex, void *state)
{
    (void)context, (void)vertex, (void)state;
    fail();
}

static void
never_steps(void *context, const struct lbmap_step *step, void *after)
{
    (void)context, (void)step, (void)after;
    fail();
}

static size_t
share(void *context, uint32_t vertex, const void *state, size_t size, void *shared)
{
    (void)context, (void)vertex, (void)state, (void)shared;
    return size;
}

static size_t
share_with(void *context, uint32_t vertex, uint32_t neighbour, const void *state, size_t size, void *shared)
{
    (void)context, (void)vertex, (void)neighbour, (void)state, (void)shared;
    return size;
}

static void
steps_that_contradict_themselves_are_refused(void **state)
{
    static const struct {
        size_t state_size, share_size;
        int share, share_with;
        const char *why;
    } cases[] = {
        {8, 8, 0, 0, "share_size is 8"},
        {8, 0, 1, 0, "share_size is 0"},
        {8, 0, 0, 1, "share_size is 0"},
        {8, 8, 1, 1, "only one"},
        {8, LBMAP_STEPS_BYTES_MAX / 2 + 1, 0, 1, "it is 1 to 131072"},
        {8, LBMAP_STEPS_BYTES_MAX + 1, 1, 0, "it is 1 to 262144"},
        {LBMAP_STEPS_BYTES_MAX + 1, 0, 0, 0, "more than neighbours can see, which is 262144"},
        {LBMAP_PAYLOAD_MAX / 6, 8, 1, 0, "six of them, and 4 bytes each, fit 67108864"},
        {LBMAP_PAYLOAD_MAX, 8, 1, 0, "six of them"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[256];
        const struct lbmap_steps program = {.size = sizeof program,
                                            .job = "job",
                                            .state_size = cases[i].state_size,
                                            .init = never_begins,
                                            .step = never_steps,
                                            .share_size = cases[i].share_size,
                                            .share = cases[i].share ? share : NULL,
                                            .share_with = cases[i].share_with ? share_with : NULL};
        assert_int_equal(lbmap_steps(&program, message, sizeof message), LBMAP_E_RANGE);
        assert_non_null(strstr(message, cases[i].why));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_that_contradict_themselves_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
