/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages that wait on their way: from the first one of some kind on, what one host sends to another is held
 * back, in order, until it is let through. */
#include <stdlib.h>
#include <string.h>

#include "sim/model/internal.h"

static struct interceptor *
interceptor_of(struct cluster *c, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < c->interceptors.n; i++)
        if (c->interceptors.at[i].from == from && c->interceptors.at[i].to == to)
            return &c->interceptors.at[i];
    return NULL;
}

/* Number of the kind of message of that name; 0: there is none. */
static unsigned
kind_of(const char *name)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(&lbm__peer__descriptor, name);
    return field != NULL && field->type == PROTOBUF_C_TYPE_MESSAGE ? field->id : 0;
}

int
cluster_knows_message(const char *kind)
{
    return kind_of(kind) != 0;
}

void
cluster_hold(struct cluster *c, const char *kind, uint32_t from, uint32_t to)
{
    struct interceptor *hold = interceptor_of(c, from, to);
    if (hold == NULL) {
        struct interceptor fresh = {.from = from, .to = to};
        LBM_ASSERT(lbm_vec_push(&c->interceptors, fresh) == LBM_OK);
        hold = &c->interceptors.at[c->interceptors.n - 1];
    }
    if (!hold->closed)
        hold->kind = kind_of(kind);
}

int
hold_takes(struct cluster *c, struct happen *happen, unsigned kind)
{
    struct interceptor *hold = interceptor_of(c, happen->from, happen->host);
    if (hold == NULL || (!hold->closed && kind != hold->kind))
        return 0;
    if (!hold->closed) {
        trigger_comes(c, TRIGGER_HELD, happen->host);
        trace(c, happen->host, "%s from %" PRIu32 " is held back",
              protobuf_c_message_descriptor_get_field(&lbm__peer__descriptor, kind)->name, happen->from);
    }
    hold->closed = 1;
    LBM_ASSERT(lbm_vec_push(&hold->waiting, *happen) == LBM_OK);
    happen->frame = NULL;
    return 1;
}

/* What is held of a connection that breaks is lost. */
void
interceptors_lose(struct cluster *c, uint64_t connection)
{
    for (size_t i = 0; i < c->interceptors.n; i++) {
        struct interceptor *hold = &c->interceptors.at[i];
        size_t kept = 0;
        for (size_t k = 0; k < hold->waiting.n; k++)
            if (hold->waiting.at[k].number == connection)
                happen_free(&hold->waiting.at[k]);
            else
                hold->waiting.at[kept++] = hold->waiting.at[k];
        hold->waiting.n = kept;
    }
}

int
cluster_pass(struct cluster *c, uint32_t from, uint32_t to)
{
    struct interceptor *hold = interceptor_of(c, from, to);
    if (hold == NULL)
        return 0;
    trace(c, to, "what %" PRIu32 " sent comes through: %zu messages", from, hold->waiting.n);
    for (size_t k = 0; k < hold->waiting.n; k++) {
        hold->waiting.at[k].was_held = 1;
        hold->waiting.at[k].at_us = c->now_us - 1; /* before what happens now: connections keep order */
        happen_push(c, hold->waiting.at[k]);
    }
    lbm_vec_free(&hold->waiting);
    size_t i = (size_t)(hold - c->interceptors.at);
    memmove(hold, hold + 1, (c->interceptors.n - i - 1) * sizeof *hold);
    c->interceptors.n--;
    return 1;
}

void
cluster_pass_all(struct cluster *c)
{
    while (c->interceptors.n != 0)
        cluster_pass(c, c->interceptors.at[0].from, c->interceptors.at[0].to);
}

void
interceptors_free(struct cluster *c)
{
    for (size_t i = 0; i < c->interceptors.n; i++) {
        for (size_t k = 0; k < c->interceptors.at[i].waiting.n; k++)
            happen_free(&c->interceptors.at[i].waiting.at[k]);
        lbm_vec_free(&c->interceptors.at[i].waiting);
    }
    lbm_vec_free(&c->interceptors);
}
