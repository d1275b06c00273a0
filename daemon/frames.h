/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames on a stream: bytes that arrive to whole frames, and frames to bytes that leave, without copies.
 *
 * Never: closes a connection; who owns it does, and not from within a callback of the node. */
#ifndef LBM_DAEMON_FRAMES_H
#define LBM_DAEMON_FRAMES_H

#include <event2/bufferevent.h>

#include "base/err.h"

/* A connection that receives frames. */
struct lbm_frames {
    struct bufferevent *bev;
    size_t bytes_max; /* of one frame; may be changed by `frame` */
    /* One frame without its header, borrowed. An error stops and comes out of lbm_frames_take. */
    enum lbm_err (*frame)(void *context, const uint8_t *bytes, size_t len);
    void *context;
};

/* Set the sizes of reads and writes and the bound of the input buffer; call once. */
void lbm_frames_tune(struct bufferevent *bev);

/* Hand over every whole frame that has arrived; call when there is something to read. The length of a
 * frame is checked before memory is set aside for it.
 * Errors: LBM_E_LIMIT a length of 0 or beyond bytes_max, LBM_E_NOMEM, or what `frame` returned. */
enum lbm_err lbm_frames_take(struct lbm_frames *frames) LBM_MUST_CHECK;

/* Queue a frame with its header; takes it.
 * Errors: LBM_E_LIMIT more than queue_max bytes would wait, LBM_E_NOMEM; the frame is freed. */
enum lbm_err lbm_frames_put(struct bufferevent *bev, uint8_t *frame, size_t len,
                            size_t queue_max) LBM_MUST_CHECK;

/* Bytes that wait to leave. */
size_t lbm_frames_queued(struct bufferevent *bev);

#endif
