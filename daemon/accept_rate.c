/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/accept_rate.h"

#include <netinet/in.h>
#include <string.h>

/* A handshake takes 0.4 ms of a processor, so all together may take a tenth of one. A thousand hosts that
 * come up together are within the burst, 64 on one machine within that of an address. */
enum {
    ALL_PER_S = 256,
    ALL_BURST = 1024,
    PLACE_PER_S = 64,
    PLACE_BURST = 256,
};

void
lbm_accept_rate_start(struct lbm_accept_rate *rate, int64_t now_us)
{
    rate->all = (struct lbm_accept_bucket){now_us, ALL_BURST};
    for (int i = 0; i < LBM_ACCEPT_PLACES; i++)
        rate->place[i] = (struct lbm_accept_bucket){now_us, PLACE_BURST};
}

uint64_t
lbm_accept_place(const struct sockaddr *from)
{
    uint64_t place = 0;
    if (from->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, from, sizeof in);
        place = in.sin_addr.s_addr;
    } else if (from->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        uint32_t v4;
        memcpy(&in6, from, sizeof in6);
        memcpy(&place, in6.sin6_addr.s6_addr, sizeof place);
        if (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr)) {
            memcpy(&v4, in6.sin6_addr.s6_addr + 12, sizeof v4);
            place = v4;
        }
    }
    return place;
}

static void
fill(struct lbm_accept_bucket *bucket, int64_t now_us, double per_s, double burst)
{
    bucket->tokens += (double)(now_us - bucket->at_us) * 1e-6 * per_s;
    bucket->tokens = bucket->tokens < burst ? bucket->tokens : burst;
    bucket->at_us = now_us;
}

int
lbm_accept_rate_take(struct lbm_accept_rate *rate, uint64_t place, int64_t now_us)
{
    /* Fibonacci hashing: addresses of one network lie next to each other. */
    uint64_t hash = place * UINT64_C(0x9E3779B97F4A7C15);
    struct lbm_accept_bucket *bucket = &rate->place[hash >> 32 & (LBM_ACCEPT_PLACES - 1)];
    fill(&rate->all, now_us, ALL_PER_S, ALL_BURST);
    fill(bucket, now_us, PLACE_PER_S, PLACE_BURST);
    if (bucket->tokens < 1 || rate->all.tokens < 1)
        return 0;
    bucket->tokens -= 1;
    rate->all.tokens -= 1;
    return 1;
}
