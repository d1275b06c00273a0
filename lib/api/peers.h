/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Other programs that serve the same job: what this one publishes, and what comes from them. */
#ifndef LBM_API_PEERS_H
#define LBM_API_PEERS_H

#include "api/call.h"
#include "base/mem.h"
#include "lbmap.h"

struct lbm_note {
    int is_published, finished;
    size_t len;
    uint8_t bytes[LBMAP_NOTE_MAX];
};

/* A program of which the daemon has told, and not that it has ended. */
struct lbm_peer {
    uint32_t host;
    uint64_t connection; /* over which it was last told of */
};

struct lbm_peers {
    LBM_VEC(struct lbm_peer) up;
    int64_t due_ms; /* those that the connection has not told of by then are gone; 0: it has of all */
};

/* Remember what a chunk says of programs. connection: over which it came. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_api_peers_note(struct lbm_peers *peers, uint64_t connection,
                                const Lbm__Places *places) LBM_MUST_CHECK;

/* Forget one that only earlier connections have told of. Returns its host; LBMAP_NOWHERE: there is none. */
uint32_t lbm_api_peers_forget(struct lbm_peers *peers, uint64_t connection);

/* Hand a chunk about other programs to the callbacks; others are passed over. */
void lbm_api_peers_take(const struct lbmap_callbacks *callbacks, const Lbm__Response *chunk);

/* Tell the daemon of a new connection what is published, if anything is. Errors: as lbm_api_call. */
enum lbm_err lbm_api_peers_again(struct lbmap *map, const struct lbm_note *note) LBM_MUST_CHECK;

/* Post to n hosts at once: to host[i] the next len[i] of the bytes. Errors: as lbm_api_tell. */
enum lbm_err lbm_api_peers_post(struct lbmap *map, uint32_t *host, uint32_t *len, size_t n, const void *bytes,
                                size_t bytes_len);

#endif
