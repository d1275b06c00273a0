/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a node knows of the network: round-trip times to others, and coordinates that foretell the rest. */
#ifndef LBM_NODE_MEMBERSHIP_NETWORK_H
#define LBM_NODE_MEMBERSHIP_NETWORK_H

#include "base/idmap.h"
#include "base/mem.h"
#include "host/coordinates.h"
#include "wire/wire.h"

enum { ROUND_TRIPS = 128 }; /* a minute of pings */

/* Between this host and another. */
struct round_trip {
    uint32_t host;
    uint64_t incarnation;
    uint64_t sent_us;                /* on its clock: when it sent the last ping that has come */
    int64_t came_us;                 /* when that came */
    int64_t echoed_us;               /* when the last ping came that echoes one from here; at first: any */
    uint32_t recent_us[ROUND_TRIPS]; /* as measured, measurement i at i % ROUND_TRIPS */
    uint32_t n;                      /* measurements ever */
    int is_reviewed;                 /* a whole minute was known when links were last found to be right */
    int calls_slow;                  /* the other says that this host is slow */
    double usual_us;                 /* of the recent ones; 0: there is none */
    int has_place;
    struct lbm_coordinate place; /* as it said itself */
};

struct network {
    struct lbm_coordinate here;
    LBM_VEC(struct round_trip) trips;
    struct lbm_idmap trip_at; /* host: its place in trips */
    LBM_VEC(uint32_t)
    answers_due;        /* hosts that measure with the next ping from here, which would not go to them */
    int64_t started_us; /* when this host first looked for links; 0: it has not */
    int64_t differ_us;  /* since when others are wanted than the log has; 0: they are not */
    int64_t next_us;    /* no change is proposed before */
    uint64_t mark;      /* of the hosts there were then */
    uint32_t n_changes; /* since hosts came or went, at most LASTS_DOUBLES */
};

struct client;
struct lbm_member;
struct lbm_node;
typedef LBM_VEC(uint32_t) host_list;

void lbm_membership_network_heard(struct lbm_node *node, const Lbm__Peer *message); /* a ping of a member */
/* Put this host's coordinate and the echo of the last round trip into a ping to `host`. */
void lbm_membership_network_fill(struct lbm_node *node, uint32_t host, Lbm__Ping *ping);
/* The round trips to a host, or NULL. */
const struct round_trip *lbm_membership_network_trip(const struct lbm_node *node, uint32_t host);
/* Nonzero if that member is heard, and has not heard this host for a while: known where all ping all, in
 * clusters of up to LBM_VIEW_SMALL hosts and one. */
int lbm_membership_network_is_deaf(const struct lbm_node *node, uint32_t host);
/* Returns the round-trip time to a host, us; 0: not known. */
double lbm_membership_network_measured(const struct lbm_node *node, uint32_t host);
/* Returns the round-trip time to a host that coordinates predict, us; 0: not known (Vivaldi). */
double lbm_membership_network_predicted(const struct lbm_node *node, uint32_t host);
/* Free round trips and coordinates. */
void lbm_membership_network_free(struct lbm_node *node);
enum lbm_err lbm_membership_network_pay(struct lbm_node *node,
                                        host_list *to) LBM_MUST_CHECK; /* hosts that wait for a ping */
/* Nonzero if this host's links follow from what it measures. */
int lbm_membership_network_gives_links(const struct lbm_node *node);
/* Nonzero unless a host that joins has yet to find its links. */
int lbm_membership_may_activate(const struct lbm_node *node, const struct lbm_member *self);
/* Propose links that follow the measured network, where it decides them. */
void lbm_membership_network_timer(struct lbm_node *node);
/* Answer NetworkRequest: links, routes, measured and predicted times. */
void lbm_membership_answer_network(struct lbm_node *node, const struct client *client,
                                   const Lbm__Request *request);

#endif
