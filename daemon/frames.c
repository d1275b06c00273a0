/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/frames.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <stdlib.h>

#include "base/limits.h"
#include "wire/wire.h"

enum {
    READ_BYTES = 256 << 10, /* at once: other connections wait meanwhile */
    WRITE_BYTES = 1 << 20,
    COPIED_BYTES =
        2048, /* frames up to that size are put together: TLS makes a record, and a call, of each piece */
};
_Static_assert(READ_BYTES <= LBM_FRAME_BYTES_MAX && WRITE_BYTES <= LBM_FRAME_BYTES_MAX,
               "no more at once than a frame");

void
lbm_frames_tune(struct bufferevent *bev)
{
    bufferevent_set_max_single_read(bev, READ_BYTES);
    bufferevent_set_max_single_write(bev, WRITE_BYTES);
    bufferevent_setwatermark(bev, EV_READ, LBM_FRAME_HEADER, 0);
}

/* Sleep until the input holds that many bytes. What is read at once bounds the rest of it; a high watermark
 * would need memory, and libevent does not look whether it got it. */
static enum lbm_err
await(struct bufferevent *bev, size_t bytes)
{
    bufferevent_setwatermark(bev, EV_READ, bytes, 0);
    return LBM_OK;
}

enum lbm_err
lbm_frames_take(struct lbm_frames *frames)
{
    struct evbuffer *input = bufferevent_get_input(frames->bev);
    for (;;) {
        uint8_t header[LBM_FRAME_HEADER];
        uint32_t length;
        size_t have = evbuffer_get_length(input);
        if (have < LBM_FRAME_HEADER)
            return await(frames->bev, LBM_FRAME_HEADER);
        evbuffer_copyout(input, header, LBM_FRAME_HEADER);
        enum lbm_err err = lbm_frame_length(header, &length);
        if (err != LBM_OK)
            return err;
        if (length > frames->bytes_max)
            return LBM_E_LIMIT;
        if (have < LBM_FRAME_HEADER + (size_t)length)
            return await(frames->bev, LBM_FRAME_HEADER + (size_t)length);
        const uint8_t *bytes = evbuffer_pullup(input, (ev_ssize_t)(LBM_FRAME_HEADER + length));
        if (bytes == NULL)
            return LBM_E_NOMEM;
        err = frames->frame(frames->context, bytes + LBM_FRAME_HEADER, length);
        if (err != LBM_OK)
            return err;
        evbuffer_drain(input, LBM_FRAME_HEADER + (size_t)length);
    }
}

static void
free_frame(const void *bytes, size_t len, void *frame)
{
    (void)bytes;
    (void)len;
    free(frame);
}

enum lbm_err
lbm_frames_put(struct bufferevent *bev, uint8_t *frame, size_t len, size_t queue_max)
{
    struct evbuffer *output = bufferevent_get_output(bev);
    enum lbm_err err = LBM_OK;
    if (evbuffer_get_length(output) + len > queue_max) {
        err = LBM_E_LIMIT;
    } else if (len <= COPIED_BYTES) {
        err = evbuffer_add(output, frame, len) == 0 ? LBM_OK : LBM_E_NOMEM;
        free(frame);
        return err;
    } else if (evbuffer_add_reference(output, frame, len, free_frame, frame) != 0) {
        err = LBM_E_NOMEM;
    }
    if (err != LBM_OK)
        free(frame);
    return err;
}

size_t
lbm_frames_queued(struct bufferevent *bev)
{
    return evbuffer_get_length(bufferevent_get_output(bev));
}
