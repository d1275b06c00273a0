/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What a handle that serves a job remembers. Only serve.c, lease.c, send.c, checkpoint.c and letters_*.c
 * include this. */
#ifndef LBM_API_SERVICE_H
#define LBM_API_SERVICE_H

#include "api/call.h"
#include "api/letters.h"
#include "api/page.h"
#include "api/peers.h"
#include "api/returns.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "lbmap.h"

struct held {
    uint32_t vertex;
    uint64_t token, since; /* lbm_api_serve_since */
};

struct lbm_checkpoint; /* checkpoint.c */

struct lbm_service {
    struct lbmap_callbacks callbacks;
    LBM_VEC(struct held) held;
    struct lbm_idmap slot;           /* vertex to index in held */
    uint64_t n_given;                /* numbers that held have, or had */
    LBM_VEC(Lbm__Response *) pushed; /* not looked at yet, oldest first */
    struct lbm_page page;
    uint64_t life;           /* of the daemon that was attached to */
    uint64_t term;           /* in which all that is held was acquired */
    uint32_t gone;           /* programs, of which this is none, by the page of that life as last seen */
    int64_t ended_us;        /* when the connection was first seen to have ended; 0: it has not */
    int64_t fresh_us;        /* on the coarse clock: until then the lease is good if the page is as it was, */
    int64_t fresh_wall_us;   /* and the machine has not slept since, by the clock on the wall */
    uint64_t fresh_sequence; /* of the page */
    int lost;                /* all that is held is; it is yet to be revoked */
    int short_of_memory;
    enum lbm_err unread;                   /* why a payload could not be read; its vertex is not given */
    int too_long;                          /* a payload that was released is, and is not kept */
    struct lbm_returns with_payload, bare; /* of the dispatch in flight */
    LBM_VEC(struct lbmap_edge) edges;      /* of the vertex that is told of */
    struct lbm_note note;                  /* that is published */
    struct lbm_peers peers;                /* other programs that are up */
    struct lbm_checkpoint *checkpoint;     /* in progress, or its end is not told yet; NULL: none */
    struct lbm_letters *mail;              /* NULL: the program has neither `deliver` nor `vertex_moved` */
};

/* Look at all that there is to see: the page, the clock, the connection. Something is served. */
enum lbmap_lease lbm_api_lease_look(struct lbmap *map);

/* Nonzero if what the page says counts: connected, or the daemon is dead. */
int lbm_api_lease_is_good(const struct lbmap *map, const struct lbm_lease_page *lease);

#endif
