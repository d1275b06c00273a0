/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A handle that serves a job: what it holds, and by which lease. */
#ifndef LBM_API_SERVE_H
#define LBM_API_SERVE_H

#include <stdint.h>

struct lbmap;
struct lbm_note;

/* Forget everything; no callback is called. Nothing if nothing is served. */
void lbm_api_serve_end(struct lbmap *map);

/* The token by which a vertex is held, or 0. */
uint64_t lbm_api_serve_token(const struct lbmap *map, uint32_t vertex);

/* The term of the lease page in which all that is held was acquired. Something is served. */
uint64_t lbm_api_serve_term(const struct lbmap *map);

/* A number of this holding of a vertex, which no other has; 0: it is not held with that token. */
uint64_t lbm_api_serve_since(const struct lbmap *map, uint32_t vertex, uint64_t token);

/* What the daemon keeps of a vertex that is held is newer than any payload that waits to be sent: another
 * number from here on. */
void lbm_api_serve_renew(struct lbmap *map, uint32_t vertex);

/* What is published, or NULL if nothing is served. */
struct lbm_note *lbm_api_serve_note(struct lbmap *map);

/* The vertex is held no more; no callback is called. Nothing if it is not held with that token. */
void lbm_api_serve_forget(struct lbmap *map, uint32_t vertex, uint64_t token);

/* What the daemon has is not known: all that is held is lost, and given again. */
void lbm_api_serve_doubt(struct lbmap *map);

#endif
