/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who takes much longer to answer than most others, by the last few round trips (network.c): exchange does
 * not wait for it (ADR 14). Both ends measure nearly the same; where one alone finds the other slow, it
 * says so. */
#include "node/core/core.h"
#include "node/membership/internal.h"
#include "node/membership/membership.h"

/* The shortest of the last round trips: one that came at a busy moment does not count. 0: not known yet. */
static double
pace_of(const struct round_trip *trip)
{
    uint32_t least_us = 0;
    for (uint32_t i = 1; trip != NULL && trip->n >= PACES && i <= PACES; i++) {
        uint32_t us = trip->recent_us[(trip->n - i) % ROUND_TRIPS];
        least_us = i == 1 || us < least_us ? us : least_us;
    }
    return least_us;
}

int
lbm_membership_is_slow(const struct lbm_node *node, uint32_t host)
{
    double pace_us = pace_of(lbm_membership_network_trip(node, host));
    size_t known = 0, quicker = 0;
    if (pace_us < SLOW_LEAST_US)
        return 0;
    for (size_t i = 0; i < node->watched.n; i++) {
        double theirs_us = pace_of(lbm_membership_network_trip(node, node->watched.at[i]));
        known += theirs_us > 0;
        quicker += theirs_us > 0 && SLOW_TIMES * theirs_us < pace_us;
    }
    return 2 * quicker > known;
}

int
lbm_membership_is_straggler(const struct lbm_node *node, uint32_t host)
{
    const struct round_trip *trip = lbm_membership_network_trip(node, host);
    return trip != NULL && (trip->calls_slow || lbm_membership_is_slow(node, host));
}

int64_t
lbm_membership_wait_us(const struct lbm_node *node, uint32_t host)
{
    return PAIR_WAIT_US + (int64_t)(2 * pace_of(lbm_membership_network_trip(node, host)));
}
