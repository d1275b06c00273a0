/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* lbmap_send and lbmap_serve: what becomes of letters as vertices come, go and are kept. Of a program without
 * `deliver` all of these leave payloads and messages as they are. */
#ifndef LBM_API_SEND_H
#define LBM_API_SEND_H

#include "api/call.h"
#include "lbmap.h"

/* The program begins to serve. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_send_begin(struct lbmap *map) LBM_MUST_CHECK;
/* A vertex is given. In/out: payload, from here on the program's part. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_send_acquired(struct lbm_service *s, uint32_t vertex, uint64_t token,
                               struct lbmap_payload *payload) LBM_MUST_CHECK;
/* It was asked back. In/out: payload, with what goes with it; valid until the next call. Errors: LBM_E_NOMEM.
 */
enum lbm_err lbm_send_released(struct lbm_service *s, uint32_t vertex,
                               struct lbmap_payload *payload) LBM_MUST_CHECK;
void lbm_send_lost(struct lbm_service *s, uint32_t vertex);    /* it is lost */
void lbm_send_removed(struct lbm_service *s, uint32_t vertex); /* the program has removed it */
/* These are the edges of a vertex that is held. */
void lbm_send_neighbours(struct lbm_service *s, const struct lbmap_edge *edges, size_t n);
/* A payload of `own` bytes is to be kept by a checkpoint. Append to `into` what goes before it, and remember
 * what that has. Errors: LBM_E_RANGE it is too long, LBM_E_NOMEM; noted. */
enum lbm_err lbm_send_pack(struct lbmap *map, uint32_t vertex, size_t own,
                           struct lbm_buf *into) LBM_MUST_CHECK;
/* The same of a change, whose payloads are shorter. In/out: payload, with what goes with it; valid until the
 * next call. Errors: also LBM_E_BUSY: it is to be removed, and what it sent is not kept. */
enum lbm_err lbm_send_pack_change(struct lbmap *map, const struct lbmap_vertex_change *change,
                                  struct lbmap_payload *payload) LBM_MUST_CHECK;
/* The payload that lbm_send_pack was last called for is kept. */
void lbm_send_kept(struct lbm_service *s, uint32_t vertex);
/* That of lbm_send_pack_change is, and no letter has come or gone since. */
void lbm_send_changed(struct lbm_service *s, uint32_t vertex);
/* A chunk about other programs, or from them. */
void lbm_send_heard(struct lbmap *map, const Lbm__Response *chunk);
/* The program at that host is gone: the daemon that there is now does not know it. */
void lbm_send_peer_gone(struct lbm_service *s, uint32_t host);
/* Do what is due. Returns how many letters were handed to the program. */
size_t lbm_send_turn(struct lbmap *map);
/* Note that a vertex has refused a letter. Returns LBM_E_LIMIT. */
enum lbm_err lbm_send_refusal(struct lbmap *map);
/* Nonzero if a program must not post this. */
int lbm_send_is_reserved(const struct lbm_service *s, const void *bytes, size_t n);

#endif
