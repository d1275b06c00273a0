/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A handle that serves a job: what it holds, and by which lease. */
#ifndef LBM_API_SERVE_H
#define LBM_API_SERVE_H

struct lbmap;

/* Forget everything; no callback is called. Nothing if nothing is served. */
void lbm_api_serve_end(struct lbmap *map);

#endif
