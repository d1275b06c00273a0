/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A backup reads what it keeps of others only when it inherits, or when a change comes without the content;
 * most numbers in it are small, or none at all. So they are packed: seven bits a byte, the last one below
 * 128, and one more than a host or 0 for none. In memory alone, never on a disk or a wire. */
#include "node/records/record_packed.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum {
    STAGE_BITS = 7,
    ANCHORED = 1 << 3,
    FIN = 1 << 4,
    HAS_HALF = 1 << 5, /* neighbours, if only none */
    SPATIAL = 1 << 6,  /* three coordinates; else the third is 0 */
    BLOB = 1 << 7,     /* the payload, at the end, describes a blob */
};
_Static_assert((STAGE_BITS & (STAGE_BITS + 1)) == 0 && LBM_STAGE_COUNT <= STAGE_BITS + 1,
               "a stage has bits of its own");
_Static_assert((STAGE_BITS | ANCHORED | FIN | HAS_HALF | SPATIAL | BLOB) ==
                   STAGE_BITS + ANCHORED + FIN + HAS_HALF + SPATIAL + BLOB,
               "no flag shares a bit");

static void
put(struct lbm_buf *out, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; value >= 128; value >>= 7)
        bytes[n++] = (uint8_t)(value | 128);
    bytes[n++] = (uint8_t)value;
    lbm_buf_put(out, bytes, n);
}

static uint64_t
get(const uint8_t **at)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (; **at >= 128; shift += 7)
        value |= (uint64_t)(*(*at)++ & 127) << shift;
    return value | (uint64_t) * (*at)++ << shift;
}

/* A number that may be LBM_NONE. */
static void
put_or_none(struct lbm_buf *out, uint32_t value)
{
    put(out, value + 1U);
}

static uint32_t
get_or_none(const uint8_t **at)
{
    return (uint32_t)get(at) - 1U;
}

static unsigned
dimensions(uint8_t flags)
{
    return (flags & SPATIAL) != 0 ? 3 : 2;
}

static void
put_halves(struct lbm_buf *out, const struct lbm_half *half, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        put(out, half[i].to);
        put(out, half[i].weight);
        put_or_none(out, half[i].host);
    }
}

static struct lbm_half *
get_halves(const uint8_t **at, uint32_t n)
{
    struct lbm_half *half = lbm_alloc(n, sizeof *half);
    for (uint32_t i = 0; half != NULL && i < n; i++) {
        half[i].to = (uint32_t)get(at);
        half[i].weight = (uint32_t)get(at);
        half[i].host = get_or_none(at);
    }
    return half;
}

static void
skip_halves(const uint8_t **at, uint32_t n)
{
    for (uint64_t left = 3 * (uint64_t)n; left != 0; left--)
        (void)get(at);
}

uint8_t *
lbm_records_pack(const struct lbm_row *row, struct lbm_buf *scratch)
{
    static const double zero = 0;
    LBM_ASSERT(LBM_STAGE_COUNT <= STAGE_BITS + 1 && (row->half != NULL || row->degree == 0));
    uint8_t flags = (uint8_t)row->stage;
    flags |= row->anchored ? ANCHORED : 0;
    flags |= row->fin ? FIN : 0;
    flags |= row->is_blob ? BLOB : 0;
    flags |= row->half != NULL ? HAS_HALF : 0;
    flags |= memcmp(&row->position[2], &zero, sizeof zero) != 0 ? SPATIAL : 0;
    scratch->len = 0;
    lbm_buf_put(scratch, &flags, 1);
    put(scratch, row->vertex);
    put(scratch, row->epoch);
    put_or_none(scratch, row->peer);
    put(scratch, row->peer_incarnation);
    put(scratch, row->work);
    put_or_none(scratch, row->pin);
    put(scratch, row->seq);
    put_or_none(scratch, row->source);
    put(scratch, row->source_incarnation);
    lbm_buf_put(scratch, row->position, dimensions(flags) * sizeof *row->position);
    put(scratch, row->degree);
    put_halves(scratch, row->half, row->degree);
    put(scratch, row->n_news);
    put_halves(scratch, row->news, row->n_news);
    put(scratch, row->payload_len);
    lbm_buf_put(scratch, row->payload, row->payload_len);
    return scratch->failed ? NULL : lbm_copy(scratch->at, scratch->len, 1);
}

/* Moves `at` behind it. */
static struct kept_head
get_head(const uint8_t **at)
{
    struct kept_head head = {.stage = (enum lbm_stage)(*(*at)++ & STAGE_BITS)};
    head.vertex = (uint32_t)get(at);
    head.epoch = get(at);
    return head;
}

struct kept_head
lbm_records_packed_head(const uint8_t *kept)
{
    return get_head(&kept);
}

/* All before the neighbours; moves `at` there. */
static struct lbm_row
get_fixed(const uint8_t **at, uint64_t job)
{
    const uint8_t flags = **at;
    struct kept_head head = get_head(at);
    struct lbm_row out = {.job = job,
                          .vertex = head.vertex,
                          .stage = head.stage,
                          .epoch = head.epoch,
                          .anchored = (flags & ANCHORED) != 0,
                          .fin = (flags & FIN) != 0,
                          .is_blob = (flags & BLOB) != 0};
    out.peer = get_or_none(at);
    out.peer_incarnation = get(at);
    out.work = (uint32_t)get(at);
    out.pin = get_or_none(at);
    out.seq = get(at);
    out.source = get_or_none(at);
    out.source_incarnation = get(at);
    memcpy(out.position, *at, dimensions(flags) * sizeof *out.position);
    *at += dimensions(flags) * sizeof *out.position;
    out.degree = (uint32_t)get(at);
    return out;
}

enum lbm_err
lbm_records_unpack(const uint8_t *kept, uint64_t job, struct lbm_row *row)
{
    const uint8_t *at = kept;
    struct lbm_row out = get_fixed(&at, job);
    int is_short = (kept[0] & HAS_HALF) != 0 && (out.half = get_halves(&at, out.degree)) == NULL;
    if (!is_short) {
        out.n_news = (uint32_t)get(&at);
        is_short = out.n_news != 0 && (out.news = get_halves(&at, out.n_news)) == NULL;
    }
    if (!is_short) {
        out.payload_len = (uint32_t)get(&at);
        is_short = out.payload_len != 0 && (out.payload = lbm_copy(at, out.payload_len, 1)) == NULL;
    }
    if (is_short) {
        lbm_row_free(&out);
        return LBM_E_NOMEM;
    }
    *row = out;
    return LBM_OK;
}

int
lbm_records_packed_blob(const uint8_t *kept, uint64_t job, struct lbm_blob_name *name)
{
    const uint8_t *at = kept;
    if ((kept[0] & BLOB) == 0)
        return 0;
    uint32_t degree = get_fixed(&at, job).degree;
    if ((kept[0] & HAS_HALF) != 0)
        skip_halves(&at, degree);
    skip_halves(&at, (uint32_t)get(&at));
    size_t len = (size_t)get(&at);
    return lbm_blob_read_name(job, at, len, name);
}
