/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows ordered by gain: a binary heap that knows where each row is, so that a gain can change in place. */
#ifndef LBM_MAP_REFINE_GAIN_QUEUE_H
#define LBM_MAP_REFINE_GAIN_QUEUE_H

#include <stdint.h>

#include "base/limits.h"

struct gain_entry {
    int64_t gain;
    uint32_t tie; /* random: equal gains leave in random order */
    uint32_t row;
};

/* `place` [rows] is LBM_NONE for every row that is in no queue; queues of disjoint rows may share it.
 * The owner provides the arrays and never puts more rows than `at` has room for. */
struct gain_queue {
    struct gain_entry *at;
    uint32_t n;
    uint32_t *place;
};

/* Insert a row, or change its gain. */
void gain_queue_put(struct gain_queue *q, uint32_t row, int64_t gain, uint32_t tie);

/* Remove and return the row of largest gain; the queue is not empty. */
uint32_t gain_queue_pop(struct gain_queue *q);

void gain_queue_clear(struct gain_queue *q);

#endif
