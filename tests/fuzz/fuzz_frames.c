/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stream of frames that arrives in pieces: the first byte is the size of the pieces, the rest the stream,
 * of a stranger (small frames alone). Whole frames come out in order, whatever the pieces are, and nothing
 * beyond them. Accepted: a stream of frames that are messages between hosts. */
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <string.h>

#include "base/check.h"
#include "daemon/frames.h"
#include "harnesses.h"
#include "wire/wire.h"

enum { STRANGER_BYTES_MAX = 4096 };

struct taken {
    const uint8_t *stream;
    size_t size, at; /* of the stream, and where the next frame begins */
    unsigned frames, messages;
};

static enum lbm_err
take_frame(void *context, const uint8_t *bytes, size_t len)
{
    struct taken *taken = context;
    struct lbm_diag diag = {0};
    Lbm__Peer *message = NULL;
    LBM_ASSERT(len > 0 && len <= STRANGER_BYTES_MAX && taken->at + LBM_FRAME_HEADER + len <= taken->size);
    LBM_ASSERT(memcmp(bytes, taken->stream + taken->at + LBM_FRAME_HEADER, len) == 0);
    taken->at += LBM_FRAME_HEADER + len;
    taken->frames++;
    if (lbm_wire_unpack_peer(bytes, len, &message, &diag) == LBM_OK) {
        taken->messages++;
        lbm__peer__free_unpacked(message, NULL);
    }
    return LBM_OK;
}

int
fuzz_frames(const uint8_t *data, size_t size)
{
    static struct event_base *base;
    struct bufferevent *pair[2];
    if (size < 2)
        return 0;
    if (base == NULL)
        base = event_base_new();
    LBM_ASSERT(base != NULL && bufferevent_pair_new(base, 0, pair) == 0);
    struct taken taken = {.stream = data + 1, .size = size - 1};
    struct lbm_frames frames = {
        .bev = pair[1], .bytes_max = STRANGER_BYTES_MAX, .frame = take_frame, .context = &taken};
    size_t piece = data[0] == 0 ? taken.size : data[0];
    enum lbm_err err = LBM_OK;
    lbm_frames_tune(pair[1]);
    bufferevent_enable(pair[1], EV_READ);
    bufferevent_enable(pair[0], EV_WRITE);
    for (size_t at = 0; err == LBM_OK && at < taken.size; at += piece) {
        size_t left = taken.size - at;
        LBM_ASSERT(bufferevent_write(pair[0], taken.stream + at, left < piece ? left : piece) == 0);
        event_base_loop(base, EVLOOP_NONBLOCK);
        err = lbm_frames_take(&frames);
        LBM_ASSERT(err == LBM_OK || err == LBM_E_LIMIT);
    }
    for (size_t before = taken.size; err == LBM_OK && before != taken.at;) { /* what is on its way yet */
        before = taken.at;
        event_base_loop(base, EVLOOP_NONBLOCK);
        err = lbm_frames_take(&frames);
    }
    bufferevent_free(pair[0]);
    bufferevent_free(pair[1]);
    event_base_loop(base, EVLOOP_NONBLOCK);
    return err == LBM_OK && taken.at == taken.size && taken.frames == taken.messages;
}
