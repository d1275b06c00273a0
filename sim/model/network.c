/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Connections: each goes one way, keeps order, and breaks. */
#include <stdlib.h>

#include "sim/model/internal.h"

enum { CONNECT_US = 200, CONNECT_AGAIN_US = 100000, NOTICE_LEAST_US = 200000, NOTICE_SPREAD_US = 5000000 };

static int64_t
delay(struct cluster *c, uint32_t from, uint32_t to)
{
    const struct cluster_options *o = &c->options;
    int64_t way_us = (from < o->sites_from) != (to < o->sites_from) ? o->sites_us : 0;
    int64_t spread = o->delay_most_us - o->delay_least_us;
    return (way_us + o->delay_least_us + (int64_t)(lbm_rng_unit(&c->rng) * (double)spread)) * c->network_slow;
}

void
transmit(struct cluster *c, uint32_t from, const struct waiting *waiting)
{
    const struct lbm_effect *effect = &waiting->effect;
    struct machine *m = &c->machine[from];
    uint32_t to = effect->as.send.host;
    int lossy = effect->as.send.lossy;
    if (to >= c->n || waiting->connection == 0 || waiting->connection != m->connection[to] || m->broken[to])
        return;
    m->meter.messages++;
    m->meter.bytes += effect->as.send.len;
    if (lossy && lbm_rng_unit(&c->rng) < c->options.lose_soft)
        return;
    int copies = 1 + (lossy && lbm_rng_unit(&c->rng) < c->options.repeat_soft);
    for (int i = 0; i < copies; i++) {
        int64_t at = c->now_us + delay(c, from, to) + m->lag_us[to];
        if (i == 0) { /* a connection keeps order; what is repeated comes whenever it likes */
            if (at < m->channel_us[to])
                at = m->channel_us[to];
            m->channel_us[to] = at;
        } else {
            at += 50000;
        }
        struct happen happen = {.at_us = at,
                                .kind = HAPPEN_MESSAGE,
                                .host = to,
                                .from = from,
                                .life = c->machine[to].life,
                                .len = effect->as.send.len,
                                .number = waiting->connection};
        happen.frame = lbm_copy(effect->as.send.frame, effect->as.send.len, 1);
        happen_push(c, happen);
    }
}

void
happen_message(struct cluster *c, struct happen *happen)
{
    static const enum trigger triggers[] = {
        [LBM__PEER__BODY_OFFER] = TRIGGER_OFFER,       [LBM__PEER__BODY_ANSWER] = TRIGGER_ANSWER,
        [LBM__PEER__BODY_FIN] = TRIGGER_FIN,           [LBM__PEER__BODY_REPL] = TRIGGER_REPL,
        [LBM__PEER__BODY_REPL_ACK] = TRIGGER_REPL_ACK, [LBM__PEER__BODY_LEASE_REQ] = TRIGGER_LEASE_REQ,
        [LBM__PEER__BODY_LEASE] = TRIGGER_LEASE,       [LBM__PEER__BODY_LOG_APPEND] = TRIGGER_LOG_APPEND};
    /* A host reads from the newest connection of another alone. */
    uint64_t *heard = &c->machine[happen->host].heard[happen->from];
    if (happen->number < *heard)
        return;
    *heard = happen->number;
    note_happening(c, 101, happen->host, happen->frame, happen->len);
    Lbm__Peer *message = NULL;
    struct lbm_diag diag;
    if (lbm_wire_unpack_peer(happen->frame + LBM_FRAME_HEADER, happen->len - LBM_FRAME_HEADER, &message,
                             &diag) != LBM_OK) {
        char text[LBM_DIAG_TEXT_MAX];
        lbm_diag_render(&diag, text, sizeof text);
        check_violated(&c->check, "I0", "host %" PRIu32 " sends what no receiver takes: %.200s", happen->from,
                       text);
        judge(c);
        return;
    }
    if (hold_takes(c, happen, (unsigned)message->body_case)) {
        lbm__peer__free_unpacked(message, NULL);
        return;
    }
    if ((unsigned)message->body_case < (unsigned)CLUSTER_KINDS) {
        struct cluster_meter *from = &c->machine[happen->from].meter;
        from->sent[message->body_case]++;
        from->sent_bytes[message->body_case] += happen->len;
        c->machine[happen->host].meter.got[message->body_case]++;
    }
    trace_message(c, happen->host, happen->from, message);
    if (!c->options.unwatched)
        check_message(&c->check, happen->from, message);
    if (forgery_arrives(c, happen->host, happen->from, message)) {
        lbm__peer__free_unpacked(message, NULL);
        return;
    }
    struct lie_words words;
    lie_begins(c, happen->host, happen->from, message, &words);
    struct lbm_event event = {.kind = LBM_EVENT_MESSAGE};
    event.as.received.message = message;
    event.as.received.bytes = happen->len;
    if (!words.is_kept)
        step(c, happen->host, &event);
    lie_ends(&words);
    if (message->body_case < sizeof triggers / sizeof *triggers &&
        triggers[message->body_case] != TRIGGER_NONE)
        trigger_comes(c, triggers[message->body_case], happen->host);
    lbm__peer__free_unpacked(message, NULL);
}

/* ---- connections --------------------------------------------------------------------------------------- */

static void
connect_in(struct cluster *c, uint32_t host, uint32_t to, int64_t us)
{
    struct happen happen = {.at_us = c->now_us + us,
                            .kind = HAPPEN_CONNECT,
                            .host = host,
                            .from = to,
                            .life = c->machine[host].life};
    happen_push(c, happen);
}

void
network_dial(struct cluster *c, uint32_t host, uint32_t to)
{
    struct machine *m = &c->machine[host];
    int is_forming = c->options.late == c->n; /* cluster_form lets all dial a host that it has started */
    if (to >= c->n || m->dialled[to] || (is_forming && c->machine[to].life == 0))
        return;
    m->dialled[to] = 1;
    connect_in(c, host, to, CONNECT_US);
}

/* A try to connect; one that fails is repeated. */
void
happen_connect(struct cluster *c, const struct happen *happen)
{
    uint32_t from = happen->host, to = happen->from;
    if (c->machine[to].node == NULL || c->machine[to].suspended || c->cut[from * c->n + to] ||
        c->cut[to * c->n + from]) {
        connect_in(c, from, to, CONNECT_AGAIN_US / 2 + lbm_rng_below(&c->rng, CONNECT_AGAIN_US));
        return;
    }
    c->machine[from].connection[to] = ++c->connections;
    LBM_ASSERT(lbm_vec_push(&c->broken_us, INT64_MAX) == LBM_OK);
    c->machine[from].broken[to] = 0;
    struct lbm_event event = {.kind = LBM_EVENT_PEER_UP};
    event.as.peer = to;
    step(c, from, &event);
}

/* Tell a host in a while that a connection is broken. number 0: the connection is gone already. */
static void
notice(struct cluster *c, uint32_t from, uint32_t to, uint64_t number, int64_t us)
{
    struct happen down = {.at_us = c->now_us + us,
                          .kind = HAPPEN_DISCONNECTED,
                          .host = from,
                          .from = to,
                          .life = c->machine[from].life,
                          .number = number};
    happen_push(c, down);
}

void
happen_disconnected(struct cluster *c, const struct happen *happen)
{
    struct machine *m = &c->machine[happen->host];
    if (happen->number != 0) {
        if (m->connection[happen->from] != happen->number)
            return;
        m->connection[happen->from] = 0;
        connect_in(c, happen->host, happen->from, CONNECT_US + lbm_rng_below(&c->rng, CONNECT_AGAIN_US));
    }
    struct lbm_event event = {.kind = LBM_EVENT_PEER_DOWN};
    event.as.peer = happen->from;
    step(c, happen->host, &event);
}

int
is_lost(const struct cluster *c, const struct happen *happen)
{
    return happen->kind == HAPPEN_MESSAGE && !happen->was_held &&
           happen->at_us > c->broken_us.at[happen->number - 1];
}

/* What is on its way over the connection arrives up to some trigger, the rest is lost. */
void
disconnect(struct cluster *c, uint32_t from, uint32_t to)
{
    struct machine *m = &c->machine[from];
    uint64_t connection = m->connection[to];
    if (connection == 0)
        return;
    m->connection[to] = 0;
    m->broken[to] = 0;
    interceptors_lose(c, connection);
    int64_t until = c->now_us + (int64_t)(lbm_rng_unit(&c->rng) * (double)c->options.delay_most_us);
    c->broken_us.at[connection - 1] = until;
    notice(c, from, to, 0, 1);
    connect_in(c, from, to, CONNECT_US + lbm_rng_below(&c->rng, CONNECT_AGAIN_US));
}

void
cluster_disconnect(struct cluster *c, uint32_t from, uint32_t to)
{
    trace(c, from, "the connection to %" PRIu32 " breaks", to);
    disconnect(c, from, to);
}

void
cluster_behind(struct cluster *c, uint32_t host, uint32_t to, int is_behind)
{
    struct lbm_event event = {.kind = LBM_EVENT_PEER_BEHIND, .as.behind = {to, is_behind}};
    trace(c, host,
          is_behind ? "much waits to leave for %" PRIu32 : "nothing waits any more to leave for %" PRIu32,
          to);
    if (c->machine[host].node != NULL)
        step(c, host, &event);
}

void
cluster_cut(struct cluster *c, uint32_t p, uint32_t q, int on)
{
    c->cut[p * c->n + q] = c->cut[q * c->n + p] = on != 0;
    if (on) {
        trace(c, p, "cut from %" PRIu32, q);
        disconnect(c, p, q);
        disconnect(c, q, p);
    }
}

static int64_t
until_noticed(struct cluster *c)
{
    return NOTICE_LEAST_US + lbm_rng_below(&c->rng, NOTICE_SPREAD_US);
}

/* What flows the other way arrives, but its acknowledgements do not: that connection breaks as well. */
void
cluster_cut_silently(struct cluster *c, uint32_t from, uint32_t to, int on)
{
    if (!on && c->cut[from * c->n + to])
        trace(c, from, "reaches %" PRIu32 " again", to);
    c->cut[from * c->n + to] = on != 0;
    if (!on)
        return;
    trace(c, from, "does not reach %" PRIu32, to);
    struct machine *m = &c->machine[from];
    if (m->connection[to] != 0) {
        m->broken[to] = 1;
        notice(c, from, to, m->connection[to], until_noticed(c));
    }
    if (c->machine[to].connection[from] != 0)
        notice(c, to, from, c->machine[to].connection[from], until_noticed(c));
}

int
cluster_is_whole(const struct cluster *c)
{
    for (uint32_t i = 0; i < c->n * c->n; i++)
        if (c->cut[i] || c->machine[i / c->n].lag_us[i % c->n] != 0)
            return 0;
    return 1;
}

void
cluster_slow_network(struct cluster *c, uint32_t factor)
{
    c->network_slow = factor;
}

void
cluster_lag(struct cluster *c, uint32_t from, uint32_t to, int64_t us)
{
    trace(c, from, "what it sends to %" PRIu32 " is %" PRId64 " ms late", to, us / 1000);
    c->machine[from].lag_us[to] = us;
    c->check.lag_us = us > c->check.lag_us ? us : c->check.lag_us;
}

void
cluster_soft_loss(struct cluster *c, double lose, double repeat)
{
    c->options.lose_soft = lose;
    c->options.repeat_soft = repeat;
}
