/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source: Zeller and Hildebrandt, Simplifying and isolating failure-inducing input (2002): delta debugging,
 * by complements alone.  Cost: about 2 n runs if the run is due to a few of its n faults. */
#include "sim/run/shrink.h"

#include <string.h>

#include "sim/run/runner.h"

static int
still_fails(const struct run_options *options, uint64_t left_out, struct run_result *result)
{
    struct run_options fewer = *options;
    struct run_result other;
    fewer.left_out = left_out;
    run_seed(&fewer, &other);
    if (strcmp(other.invariant, result->invariant) != 0)
        return 0;
    *result = other;
    return 1;
}

/* The next `n` faults from `from` on that still take place, as bits; *from goes on behind them. */
static uint64_t
part(uint64_t left_out, uint32_t n_faults, uint32_t n, uint32_t *from)
{
    uint64_t bits = 0;
    for (; *from < n_faults && n > 0; ++*from)
        if ((left_out >> *from & 1) == 0) {
            bits |= UINT64_C(1) << *from;
            n--;
        }
    return bits;
}

uint64_t
shrink_run(const struct run_options *options, struct run_result *result)
{
    uint64_t left_out = options->left_out;
    uint32_t n_faults = result->n_faults != 0 ? result->n_faults : RUN_FAULTS_MAX;
    for (uint32_t n = (n_faults + 1) / 2; n > 0;) {
        int some = 0;
        for (uint32_t from = 0; from < n_faults;) {
            uint64_t bits = part(left_out, n_faults, n, &from);
            if (bits != 0 && still_fails(options, left_out | bits, result)) {
                left_out |= bits;
                some = 1;
            }
        }
        if (n > 1)
            n = (n + 1) / 2;
        else if (!some)
            n = 0;
    }
    return left_out;
}
