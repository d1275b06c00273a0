/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job that runs is mapped again where its loads have become uneven: its labels are annealed from where its
 * vertices are, by all hosts at once, with a price for moves (docs/architecture.md, "Diffusion").
 *
 * Owns: since when loads are uneven, and what is on its way by the labels that were found. */
#ifndef LBM_NODE_MAPPING_REMAP_H
#define LBM_NODE_MAPPING_REMAP_H

#include <stdint.h>

struct remap {
    int64_t due_us;  /* since when loads are uneven by much; 0: they are not */
    int64_t over_us; /* since when this host has too much; 0: it has not */
    uint64_t over;   /* so much of it, at that time */
    uint64_t
        uneven; /* of a large cluster: work beyond limits, as the coordinator says; 0: little, or of few */
    uint64_t least;    /* of that, since labels were annealed last */
    uint64_t told;     /* by the coordinator of a large cluster: what all loads add up to, to all at once, */
    int64_t all_us;    /* it looks at that again then, */
    uint32_t to_all;   /* and number of pings that go to all, not to some in turn */
    int is_spent;      /* labels were annealed since: rounds do the rest */
    int64_t look_us;   /* next look at loads */
    int anneals;       /* labels are being annealed, or compared, */
    int64_t tick_us;   /* go on then, */
    int64_t until_us;  /* and what others tell is waited for so long */
    uint64_t patch;    /* hash of the rows and ghosts that labels are of */
    int follows;       /* vertices are on their way from or to this host, by labels, */
    int64_t follow_us; /* next look at those that wait, */
    int64_t carry_us;  /* and what cannot go until then stays */
    int withheld;      /* rounds that moved nothing meanwhile */
    uint64_t comes;    /* work that is to come here by labels */
    uint64_t came;     /* of that, so far */
    int64_t came_us;   /* when the last of it came, or of this host's own had gone */
};

#endif
