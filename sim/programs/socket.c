/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The connection of a program to the daemon of its host: bytes in order, both ways, each a little later. */
#include <stdlib.h>
#include <string.h>

#include "sim/programs/programs.h"
#include "wire/lease_page.h"

enum {
    LEAST_US = 30,
    ASKED_US = 200,
    TOLD_US = 50,
    GONE_US = 300,
    READ_MUCH = 1 << 20,                                 /* as LBM_CLIENT_MUCH of daemon/control.h */
    NOTICE_US = LBM_LEASE_STOP_US + LBM_LEASE_NOTICE_US, /* as daemon/control.c */
};

static struct happen
happens_to(const struct program *p, enum happening kind, int64_t at_us)
{
    return (struct happen){.at_us = at_us,
                           .kind = kind,
                           .host = p->host,
                           .from = p->number,
                           .life = p->of->cluster->machine[p->host].life,
                           .number = p->client};
}

int
socket_connect(struct program *p)
{
    struct cluster *c = p->of->cluster;
    if (p->is_dead || c->machine[p->host].node == NULL)
        return 0;
    LBM_ASSERT(!p->is_connected);
    p->client = ++c->clients;
    p->is_connected = 1;
    p->has_hung_up = p->is_at_end = 0;
    p->in.len = p->out.len = p->taken = p->read = 0;
    p->asked_us = p->told_us = c->now_us;
    return 1;
}

void
socket_close(struct program *p)
{
    struct cluster *c = p->of->cluster;
    if (p->is_connected && !p->has_hung_up) {
        int64_t at_us = c->now_us + GONE_US > p->asked_us ? c->now_us + GONE_US : p->asked_us;
        happen_push(c, happens_to(p, HAPPEN_GONE, at_us));
    }
    p->is_connected = 0;
}

/* What the daemon has said before is read first. */
void
socket_ends(struct program *p)
{
    struct cluster *c = p->of->cluster;
    if (!p->is_connected || p->has_hung_up)
        return;
    p->has_hung_up = 1;
    happen_push(c, happens_to(p, HAPPEN_PROGRAM_TOLD, p->told_us > c->now_us ? p->told_us : c->now_us));
}

void
program_cut(struct cluster *c, uint32_t program)
{
    struct program *p = c->programs->list.at[program];
    if (!p->is_connected || p->has_hung_up)
        return;
    trace(c, p->host, "program %" PRIu32 " is cut off", program);
    LBM_ASSERT(lbm_vec_push(&c->programs->cut, p->client) == LBM_OK);
    happen_push(c, happens_to(p, HAPPEN_GONE, c->now_us + NOTICE_US));
    socket_ends(p);
}

int
programs_have_cut(const struct cluster *c, uint64_t client)
{
    for (size_t i = 0; c->programs != NULL && i < c->programs->cut.n; i++)
        if (c->programs->cut.at[i] == client)
            return 1;
    return 0;
}

int
socket_has_input(const struct program *p)
{
    return p->in.len > p->taken || p->is_at_end;
}

/* ---- from the daemon ----------------------------------------------------------------------------------- */

int
programs_tell(struct cluster *c, uint32_t host, const struct lbm_effect *effect)
{
    for (size_t i = 0; c->programs != NULL && i < c->programs->list.n; i++) {
        struct program *p = c->programs->list.at[i];
        if (!p->is_connected || p->client != effect->as.reply.client || p->host != host)
            continue;
        if (p->has_hung_up)
            return 1;
        int64_t at_us = c->now_us + LEAST_US + lbm_rng_below(&c->rng, TOLD_US);
        p->told_us = at_us > p->told_us ? at_us : p->told_us;
        struct happen told = happens_to(p, HAPPEN_PROGRAM_TOLD, p->told_us);
        told.len = effect->as.reply.len;
        told.frame = lbm_copy(effect->as.reply.frame, effect->as.reply.len, 1);
        happen_push(c, told);
        return 1;
    }
    return 0;
}

void
programs_told(struct cluster *c, const struct happen *happen)
{
    struct program *p = c->programs->list.at[happen->from];
    if (!p->is_connected || p->client != happen->number)
        return;
    if (p->taken == p->in.len)
        p->taken = p->in.len = 0;
    lbm_buf_put(&p->in, happen->frame, happen->len);
    LBM_ASSERT(!p->in.failed);
    p->is_at_end |= happen->len == 0;
    if (p->waits_for_input)
        program_goes_on(p, c->now_us);
}

/* ---- from the program ---------------------------------------------------------------------------------- */

static void
send_frame(struct program *p, size_t len)
{
    struct cluster *c = p->of->cluster;
    int64_t at_us = c->now_us + LEAST_US + lbm_rng_below(&c->rng, ASKED_US);
    p->asked_us = at_us > p->asked_us ? at_us : p->asked_us;
    struct happen asked = happens_to(p, HAPPEN_ASKED, p->asked_us);
    asked.len = len;
    asked.frame = lbm_copy(p->out.at, len, 1);
    happen_push(c, asked);
}

/* All of it, or now and then a part. */
static size_t
some_of(struct program *p, size_t len)
{
    return len > 1 && lbm_rng_below(&p->of->cluster->rng, 8) == 0 ? len / 2 : len;
}

size_t
socket_send(struct program *p, const uint8_t *bytes, size_t len)
{
    uint32_t body = 0;
    len = some_of(p, len);
    lbm_buf_put(&p->out, bytes, len);
    LBM_ASSERT(!p->out.failed);
    if (p->out.len < LBM_FRAME_HEADER)
        return len;
    LBM_ASSERT(lbm_frame_length((const uint8_t *)p->out.at, &body) == LBM_OK);
    if (p->out.len == LBM_FRAME_HEADER + body) { /* the library sends one frame after the other */
        send_frame(p, p->out.len);
        p->out.len = 0;
    }
    return len;
}

size_t
socket_receive(struct program *p, uint8_t *bytes, size_t len)
{
    size_t left = p->in.len - p->taken;
    len = some_of(p, len < left ? len : left);
    memcpy(bytes, p->in.at + p->taken, len);
    p->taken += len;
    p->read += len;
    if (p->read >= READ_MUCH && p->taken == p->in.len && !p->has_hung_up) {
        happen_push(p->of->cluster, happens_to(p, HAPPEN_READ, p->of->cluster->now_us + LEAST_US));
        p->read = 0;
    }
    return len;
}
