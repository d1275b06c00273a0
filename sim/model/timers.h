/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timers of all machines of a simulated cluster. */
#ifndef LBM_SIM_MODEL_TIMERS_H
#define LBM_SIM_MODEL_TIMERS_H

#include <stdint.h>

#include "base/mem.h"

struct timers {
    uint32_t n, leaves; /* leaves: a power of two, at least n */
    int64_t *when_us;   /* [n] INT64_MAX: none */
    uint32_t *winner;   /* [2 * leaves] machine whose timer is first below each node of the tree; root 1 */
};

/* n >= 1 machines, none of them with a timer. */
void timers_init(struct timers *timers, uint32_t n);
void timers_free(struct timers *timers);
void timers_set(struct timers *timers, uint32_t machine, int64_t when_us);
/* The machine whose timer is due first, or LBM_NONE; and when. */
uint32_t timers_first(const struct timers *timers, int64_t *when_us);

#endif
