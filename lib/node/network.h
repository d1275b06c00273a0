/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a node knows of the network: round-trip times to others, and coordinates that foretell the rest. */
#ifndef LBM_NODE_NETWORK_H
#define LBM_NODE_NETWORK_H

#include "base/idmap.h"
#include "base/mem.h"
#include "host/coordinates.h"

/* Between this host and another. */
struct round_trip {
    uint32_t host;
    uint64_t incarnation;
    uint64_t sent_us;   /* on its clock: when it sent the last ping that has come */
    int64_t came_us;    /* when that came */
    double least_us[2]; /* measured in the present window and in the one before; 0: nothing */
    int64_t since_us;   /* the present window */
    uint32_t n;         /* measurements */
    int has_place;
    struct lbm_coordinate place; /* as it said itself */
};

struct network {
    struct lbm_coordinate here;
    LBM_VEC(struct round_trip) trips;
    struct lbm_idmap trip_at; /* host: its place in trips */
};

#endif
