/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is going to happen, in order of time; at one time in order of being caused. */
#include <stdlib.h>

#include "sim/model/internal.h"

static int
before(const struct happen *a, const struct happen *b)
{
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

void
happen_push(struct cluster *c, struct happen happen)
{
    happen.order = c->order++;
    LBM_ASSERT(lbm_vec_push(&c->queue, happen) == LBM_OK);
    for (size_t i = c->queue.n - 1; i > 0 && before(&c->queue.at[i], &c->queue.at[(i - 1) / 2]);
         i = (i - 1) / 2) {
        struct happen other = c->queue.at[i];
        c->queue.at[i] = c->queue.at[(i - 1) / 2];
        c->queue.at[(i - 1) / 2] = other;
    }
}

struct happen
happen_pop(struct cluster *c)
{
    struct happen first = c->queue.at[0];
    c->queue.at[0] = c->queue.at[--c->queue.n];
    for (size_t i = 0;;) {
        size_t least = i;
        for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < c->queue.n; k++)
            if (before(&c->queue.at[k], &c->queue.at[least]))
                least = k;
        if (least == i)
            return first;
        struct happen other = c->queue.at[i];
        c->queue.at[i] = c->queue.at[least];
        c->queue.at[least] = other;
        i = least;
    }
}

void
happen_free(struct happen *happen)
{
    free(happen->frame);
    lbm_persist_free(happen->persist);
}
