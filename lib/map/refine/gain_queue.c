/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "map/refine/gain_queue.h"

#include "base/check.h"

static int
before(const struct gain_entry *a, const struct gain_entry *b)
{
    return a->gain != b->gain ? a->gain > b->gain : a->tie > b->tie;
}

static void
settle(struct gain_queue *q, uint32_t i, struct gain_entry entry)
{
    q->at[i] = entry;
    q->place[entry.row] = i;
}

static void
rise(struct gain_queue *q, uint32_t i, struct gain_entry entry)
{
    while (i > 0 && before(&entry, &q->at[(i - 1) / 2])) {
        settle(q, i, q->at[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    settle(q, i, entry);
}

static void
sink(struct gain_queue *q, uint32_t i, struct gain_entry entry)
{
    for (uint32_t child = 2 * i + 1; child < q->n; child = 2 * i + 1) {
        if (child + 1 < q->n && before(&q->at[child + 1], &q->at[child]))
            child++;
        if (!before(&q->at[child], &entry))
            break;
        settle(q, i, q->at[child]);
        i = child;
    }
    settle(q, i, entry);
}

void
gain_queue_put(struct gain_queue *q, uint32_t row, int64_t gain, uint32_t tie)
{
    struct gain_entry entry = {gain, tie, row};
    uint32_t i = q->place[row];
    if (i == LBM_NONE) {
        rise(q, q->n++, entry);
        return;
    }
    LBM_ASSERT(i < q->n && q->at[i].row == row);
    if (before(&entry, &q->at[i]))
        rise(q, i, entry);
    else
        sink(q, i, entry);
}

uint32_t
gain_queue_pop(struct gain_queue *q)
{
    LBM_ASSERT(q->n > 0);
    uint32_t row = q->at[0].row;
    struct gain_entry last = q->at[--q->n];
    q->place[row] = LBM_NONE;
    if (q->n > 0)
        sink(q, 0, last);
    return row;
}

void
gain_queue_clear(struct gain_queue *q)
{
    for (uint32_t i = 0; i < q->n; i++)
        q->place[q->at[i].row] = LBM_NONE;
    q->n = 0;
}
