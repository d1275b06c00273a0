/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many connections a second may begin a handshake: of one address, and of all.
 *
 * A handshake costs a signature, so strangers could keep a daemon busy that has leases to renew. Two token
 * buckets say when it is too much; who is over is closed before anything is allocated or computed.
 * Owns: the buckets, in a table of fixed size. Never: knows connections, or who is a member. */
#ifndef LBM_DAEMON_ACCEPT_RATE_H
#define LBM_DAEMON_ACCEPT_RATE_H

#include <stdint.h>
#include <sys/socket.h>

enum {
    LBM_ACCEPT_PLACES = 1024, /* addresses that are told apart; those whose hashes meet share a bucket */
};

struct lbm_accept_bucket {
    int64_t at_us; /* filled so far */
    double tokens;
};

struct lbm_accept_rate {
    struct lbm_accept_bucket all, place[LBM_ACCEPT_PLACES];
};

/* All buckets full.
 * In: now_us, microseconds of any clock that does not go back */
void lbm_accept_rate_start(struct lbm_accept_rate *rate, int64_t now_us);

/* Where a connection comes from: the IPv4 address, or the first 64 bits of the IPv6 address, as a number; 0
 * for others. One machine, or one network of one owner, has one place. */
uint64_t lbm_accept_place(const struct sockaddr *from);

/* Nonzero if one more connection from there may begin its handshake now; it is counted. */
int lbm_accept_rate_take(struct lbm_accept_rate *rate, uint64_t place, int64_t now_us);

#endif
