/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose timer is due first: a tournament among the machines, kept up as their timers change. Of those that
 * are due at one time the lowest number wins. */
#include "sim/model/timers.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"

void
timers_init(struct timers *timers, uint32_t n)
{
    timers->n = n;
    timers->leaves = 1;
    while (timers->leaves < n)
        timers->leaves *= 2;
    timers->when_us = lbm_alloc(n, sizeof *timers->when_us);
    timers->winner = lbm_alloc(2 * (size_t)timers->leaves, sizeof *timers->winner);
    LBM_ASSERT(timers->when_us != NULL && timers->winner != NULL);
    for (uint32_t p = 0; p < n; p++)
        timers->when_us[p] = INT64_MAX;
    /* Leaf p is winner[leaves + p]; places without a machine never win. */
    for (uint32_t i = 0; i < timers->leaves; i++)
        timers->winner[timers->leaves + i] = i < n ? i : LBM_NONE;
    for (uint32_t i = timers->leaves; i-- > 1;)
        timers->winner[i] = timers->winner[2 * i];
}

void
timers_free(struct timers *timers)
{
    free(timers->when_us);
    free(timers->winner);
}

void
timers_set(struct timers *timers, uint32_t machine, int64_t when_us)
{
    if (timers->when_us[machine] == when_us)
        return;
    timers->when_us[machine] = when_us;
    for (uint32_t i = (timers->leaves + machine) / 2; i >= 1; i /= 2) {
        uint32_t low = timers->winner[2 * i], high = timers->winner[2 * i + 1];
        timers->winner[i] = high != LBM_NONE && timers->when_us[high] < timers->when_us[low] ? high : low;
    }
}

uint32_t
timers_first(const struct timers *timers, int64_t *when_us)
{
    uint32_t first = timers->winner[1];
    *when_us = timers->when_us[first];
    return *when_us == INT64_MAX ? LBM_NONE : first;
}
