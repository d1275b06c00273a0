/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cluster_check.h"
#include "cluster_disk.h"

enum happening { HAPPEN_MESSAGE, HAPPEN_SYNCED, HAPPEN_PLANNED, HAPPEN_CONNECT, HAPPEN_DISCONNECTED };

enum { CONNECT_US = 200, CONNECT_AGAIN_US = 100000 };

struct happen {
    int64_t at_us;
    uint64_t order;
    enum happening kind;
    uint32_t host; /* to whom it happens */
    uint32_t from;
    uint64_t life;  /* of `host`: an event for an earlier life is void */
    uint8_t *frame; /* MESSAGE */
    size_t len;
    uint64_t connection;         /* MESSAGE: sent over this one */
    struct lbm_persist *persist; /* SYNCED */
    struct lbm_plan_task task;   /* PLANNED */
};

/* An effect that waits for the disk. A send goes over the connection that stood when it was asked for. */
struct waiting {
    struct lbm_effect effect;
    uint64_t connection;
};

struct machine {
    struct lbm_node *node; /* NULL: down */
    uint64_t life;
    int stopped;
    uint64_t durable;     /* id */
    int64_t sync_free_us; /* the disk is busy until then */
    LBM_VEC(struct waiting) waiting;
    LBM_VEC(struct happen) held; /* while stopped */
    int64_t *channel_us;         /* [n] when the last message to each host arrives: order */
    uint8_t *dialled;            /* [n] */
    uint64_t *connection;        /* [n] number of the one that stands to each host, 0: none */
    uint64_t *heard;             /* [n] number of the newest one from each host that a message came over */
    LBM_VEC(Lbm__Response *) replies;
    uint64_t requests;
};

struct cluster {
    uint32_t n;
    const struct lbm_hosts *h;
    struct cluster_options options;
    struct lbm_rng rng;
    int64_t now_us;
    uint64_t order;
    LBM_VEC(struct happen) queue; /* binary heap */
    struct machine *machine;
    struct disk *disk; /* [n] */
    struct cluster_check check;
    uint64_t connections; /* made so far */
    uint8_t *cut;         /* [n * n] the network does not carry from row to column */
    int tracing;
    struct lbm_buf trace;
};

/* ---- the queue of happenings ------------------------------------------------------------------------ */

static int
before(const struct happen *a, const struct happen *b)
{
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

static void
push(struct cluster *c, struct happen happen)
{
    happen.order = c->order++;
    LBM_ASSERT(lbm_vec_push(&c->queue, happen) == LBM_OK);
    for (size_t i = c->queue.n - 1; i > 0 && before(&c->queue.at[i], &c->queue.at[(i - 1) / 2]);
         i = (i - 1) / 2) {
        struct happen other = c->queue.at[i];
        c->queue.at[i] = c->queue.at[(i - 1) / 2];
        c->queue.at[(i - 1) / 2] = other;
    }
}

static struct happen
pop(struct cluster *c)
{
    struct happen first = c->queue.at[0];
    c->queue.at[0] = c->queue.at[--c->queue.n];
    for (size_t i = 0;;) {
        size_t least = i;
        for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < c->queue.n; k++)
            if (before(&c->queue.at[k], &c->queue.at[least]))
                least = k;
        if (least == i)
            return first;
        struct happen other = c->queue.at[i];
        c->queue.at[i] = c->queue.at[least];
        c->queue.at[least] = other;
        i = least;
    }
}

static void
happen_free(struct happen *happen)
{
    free(happen->frame);
    if (happen->persist != NULL)
        lbm_persist_free(happen->persist);
}

/* ---- effects ------------------------------------------------------------------------------------------ */

static void step(struct cluster *c, uint32_t host, struct lbm_event *event);

static void
trace(struct cluster *c, uint32_t host, const char *what, const char *detail)
{
    if (c->tracing)
        lbm_buf_printf(&c->trace, "%8.3f ms  host %" PRIu32 "  %s%s\n", (double)c->now_us / 1000, host, what,
                       detail);
}

static void
transmit(struct cluster *c, uint32_t from, const struct waiting *waiting)
{
    const struct lbm_effect *effect = &waiting->effect;
    uint32_t to = effect->as.send.host;
    int lossy = effect->as.send.lossy;
    if (to >= c->n || waiting->connection == 0 || waiting->connection != c->machine[from].connection[to])
        return;
    if (lossy && lbm_rng_unit(&c->rng) < c->options.lose_soft)
        return;
    int copies = 1 + (lossy && lbm_rng_unit(&c->rng) < c->options.repeat_soft);
    for (int i = 0; i < copies; i++) {
        int64_t spread = c->options.delay_most_us - c->options.delay_least_us;
        int64_t at =
            c->now_us + c->options.delay_least_us + (int64_t)(lbm_rng_unit(&c->rng) * (double)spread);
        if (i == 0) { /* a connection keeps order; what is repeated comes whenever it likes */
            if (at < c->machine[from].channel_us[to])
                at = c->machine[from].channel_us[to];
            c->machine[from].channel_us[to] = at;
        } else {
            at += 50000;
        }
        struct happen happen = {.at_us = at,
                                .kind = HAPPEN_MESSAGE,
                                .host = to,
                                .from = from,
                                .life = c->machine[to].life,
                                .len = effect->as.send.len,
                                .connection = waiting->connection};
        happen.frame = lbm_copy(effect->as.send.frame, effect->as.send.len, 1);
        push(c, happen);
    }
}

static void
deliver_reply(struct cluster *c, uint32_t host, const struct lbm_effect *effect)
{
    Lbm__Response *response = NULL;
    struct lbm_diag diag;
    enum lbm_err err = lbm_wire_unpack_response(effect->as.reply.frame + LBM_FRAME_HEADER,
                                                effect->as.reply.len - LBM_FRAME_HEADER, &response, &diag);
    LBM_ASSERT(err == LBM_OK);
    LBM_ASSERT(lbm_vec_push(&c->machine[host].replies, response) == LBM_OK);
}

static void
persist_effect(struct cluster *c, uint32_t host, struct lbm_effect *effect)
{
    struct machine *m = &c->machine[host];
    int64_t start = m->sync_free_us > c->now_us ? m->sync_free_us : c->now_us;
    m->sync_free_us = start + 1 + (int64_t)(lbm_rng_unit(&c->rng) * (double)c->options.sync_us);
    struct happen happen = {.at_us = m->sync_free_us,
                            .kind = HAPPEN_SYNCED,
                            .host = host,
                            .life = m->life,
                            .persist = effect->as.persist};
    effect->as.persist = NULL;
    push(c, happen);
}

static void
connect_in(struct cluster *c, uint32_t host, uint32_t to, int64_t us)
{
    struct happen happen = {.at_us = c->now_us + us,
                            .kind = HAPPEN_CONNECT,
                            .host = host,
                            .from = to,
                            .life = c->machine[host].life};
    push(c, happen);
}

static void
carry_out(struct cluster *c, uint32_t host, struct waiting *waiting)
{
    struct machine *m = &c->machine[host];
    struct lbm_effect *effect = &waiting->effect;
    switch (effect->kind) {
    case LBM_EFFECT_PERSIST:
        persist_effect(c, host, effect);
        break;
    case LBM_EFFECT_SEND:
        transmit(c, host, waiting);
        free(effect->as.send.frame);
        break;
    case LBM_EFFECT_REPLY:
        deliver_reply(c, host, effect);
        free(effect->as.reply.frame);
        break;
    case LBM_EFFECT_DIAL:
        if (effect->as.dial.host < c->n && !m->dialled[effect->as.dial.host]) {
            m->dialled[effect->as.dial.host] = 1;
            connect_in(c, host, effect->as.dial.host, CONNECT_US);
        }
        break;
    case LBM_EFFECT_PLAN: {
        struct happen planned = {.at_us = c->now_us + 10000,
                                 .kind = HAPPEN_PLANNED,
                                 .host = host,
                                 .life = m->life,
                                 .task = *effect->as.plan};
        free(effect->as.plan);
        push(c, planned);
        break;
    }
    case LBM_EFFECT_NOTE:
        trace(c, host, "note: ", effect->as.note.text);
        break;
    case LBM_EFFECT_COUNT:
        break;
    }
}

/* Carry out what waits for nothing, in order; keep the rest. */
static void
release(struct cluster *c, uint32_t host)
{
    struct machine *m = &c->machine[host];
    size_t kept = 0;
    for (size_t i = 0; i < m->waiting.n; i++) {
        struct waiting *waiting = &m->waiting.at[i];
        if (waiting->effect.after > m->durable)
            m->waiting.at[kept++] = *waiting;
        else
            carry_out(c, host, waiting);
    }
    m->waiting.n = kept;
}

static void
step(struct cluster *c, uint32_t host, struct lbm_event *event)
{
    struct machine *m = &c->machine[host];
    struct lbm_effects effects = {0};
    event->now_us = c->now_us;
    enum lbm_err err = lbm_node_step(m->node, event, &effects);
    LBM_ASSERT(err == LBM_OK);
    for (size_t i = 0; i < effects.list.n; i++) {
        struct waiting waiting = {.effect = effects.list.at[i]};
        if (waiting.effect.kind == LBM_EFFECT_SEND && waiting.effect.as.send.host < c->n)
            waiting.connection = m->connection[waiting.effect.as.send.host];
        LBM_ASSERT(lbm_vec_push(&m->waiting, waiting) == LBM_OK);
    }
    free(effects.list.at);
    release(c, host);
}

/* ---- lives of machines --------------------------------------------------------------------------------- */

/* A transaction reaches the disk. */
static void
commit(struct cluster *c, uint32_t host, const struct lbm_persist *persist)
{
    struct machine *m = &c->machine[host];
    LBM_ASSERT(persist->id == m->durable + 1);
    m->durable = persist->id;
    for (size_t i = 0; i < persist->ops.n; i++) {
        disk_apply(&c->disk[host], &persist->ops.at[i]);
        check_op(&c->check, c->disk, c->n, host, &persist->ops.at[i]);
    }
}

void
cluster_restart(struct cluster *c, uint32_t host)
{
    struct machine *m = &c->machine[host];
    LBM_ASSERT(m->node == NULL);
    LBM_VEC(struct lbm_node_link) links = {0};
    for (uint32_t e = c->h->offset[host]; e < c->h->offset[host + 1]; e++) {
        struct lbm_node_link link = {c->h->target[e], c->h->cost[e]};
        LBM_ASSERT(lbm_vec_push(&links, link) == LBM_OK);
    }
    char name[16], address[32];
    snprintf(name, sizeof name, "h%" PRIu32, host);
    snprintf(address, sizeof address, "127.0.0.1:%" PRIu32, 7000 + host);
    int limited = c->options.limited_host == LBM_NONE || c->options.limited_host == host;
    struct lbm_node_config config = {.host = host,
                                     .name = name,
                                     .address = address,
                                     .capacity = c->h->capacity[host],
                                     .links = links.at,
                                     .n_links = links.n,
                                     .m = c->h->m,
                                     .site = &c->h->site[(size_t)host * c->h->m],
                                     .founder = host == 0,
                                     .cluster_name = "test",
                                     .founder_host = 0,
                                     .founder_address = "127.0.0.1:7000",
                                     .vertices_max = limited ? c->options.vertices_max : 0,
                                     .seed = lbm_rng_next(&c->rng),
                                     .version = "test"};
    struct lbm_diag diag;
    LBM_ASSERT(lbm_node_new(&config, &m->node, &diag) == LBM_OK);
    lbm_vec_free(&links);
    m->durable = 0;
    m->sync_free_us = c->now_us;
    memset(m->dialled, 0, c->n);
    memset(m->heard, 0, c->n * sizeof *m->heard);
    struct lbm_recovered *recovered = lbm_alloc(1, sizeof *recovered);
    disk_recover(&c->disk[host], recovered);
    struct lbm_event event = {.kind = LBM_EVENT_START};
    event.as.recovered = recovered;
    trace(c, host, "start", "");
    step(c, host, &event);
    lbm_recovered_free(recovered);
}

/* A connection breaks: what is on its way over it arrives up to some moment, the rest is lost. */
static void
disconnect(struct cluster *c, uint32_t from, uint32_t to)
{
    struct machine *m = &c->machine[from];
    uint64_t connection = m->connection[to];
    if (connection == 0)
        return;
    m->connection[to] = 0;
    int64_t until = c->now_us + (int64_t)(lbm_rng_unit(&c->rng) * (double)c->options.delay_most_us);
    for (size_t i = 0; i < c->queue.n; i++) {
        struct happen *happen = &c->queue.at[i];
        if (happen->kind == HAPPEN_MESSAGE && happen->connection == connection && happen->at_us > until)
            happen->life = UINT64_MAX;
    }
    struct happen down = {
        .at_us = c->now_us + 1, .kind = HAPPEN_DISCONNECTED, .host = from, .from = to, .life = m->life};
    push(c, down);
    connect_in(c, from, to, CONNECT_US + lbm_rng_below(&c->rng, CONNECT_AGAIN_US));
}

/* Transactions that were asked for and not reported: the first few may be on the disk all the same. */
static void
sync_some(struct cluster *c, uint32_t host)
{
    struct machine *m = &c->machine[host];
    for (int found = 1; found && lbm_rng_below(&c->rng, 2) != 0;) {
        found = 0;
        for (size_t i = 0; i < c->queue.n + m->held.n && !found; i++) {
            const struct happen *happen = i < c->queue.n ? &c->queue.at[i] : &m->held.at[i - c->queue.n];
            if (happen->kind != HAPPEN_SYNCED || happen->host != host || happen->life != m->life ||
                happen->persist->id != m->durable + 1)
                continue;
            commit(c, host, happen->persist);
            found = 1;
        }
    }
}

void
cluster_crash(struct cluster *c, uint32_t host)
{
    struct machine *m = &c->machine[host];
    if (m->node == NULL)
        return;
    trace(c, host, "crash", "");
    sync_some(c, host);
    for (uint32_t p = 0; p < c->n; p++) {
        disconnect(c, host, p);
        disconnect(c, p, host);
    }
    /* Void what was meant for this life, before the node that plans borrow from goes. */
    for (size_t i = 0; i < m->waiting.n; i++) {
        struct lbm_effects one = {0};
        LBM_ASSERT(lbm_vec_push(&one.list, m->waiting.at[i].effect) == LBM_OK);
        lbm_effects_clear(&one);
    }
    m->waiting.n = 0;
    for (size_t i = 0; i < m->held.n; i++)
        happen_free(&m->held.at[i]);
    m->held.n = 0;
    m->life++;
    m->stopped = 0;
    lbm_node_free(m->node);
    m->node = NULL;
}

int
cluster_is_up(const struct cluster *c, uint32_t host)
{
    return c->machine[host].node != NULL;
}

struct cluster *
cluster_new(const struct lbm_hosts *h, const struct cluster_options *options)
{
    struct cluster *c = lbm_alloc(1, sizeof *c);
    c->n = h->n;
    c->h = h;
    c->options = *options;
    c->now_us = 1000000;
    lbm_rng_seed(&c->rng, options->seed);
    c->machine = lbm_alloc(h->n, sizeof *c->machine);
    c->disk = lbm_alloc(h->n, sizeof *c->disk);
    c->cut = lbm_alloc(h->n, h->n);
    for (uint32_t p = 0; p < h->n; p++) {
        c->machine[p].channel_us = lbm_alloc(h->n, sizeof(int64_t));
        c->machine[p].dialled = lbm_alloc(h->n, 1);
        c->machine[p].connection = lbm_alloc(h->n, sizeof(uint64_t));
        c->machine[p].heard = lbm_alloc(h->n, sizeof(uint64_t));
    }
    for (uint32_t p = 0; p + options->late < h->n; p++)
        cluster_restart(c, p);
    return c;
}

static void
forget_replies(struct machine *m)
{
    for (size_t i = 0; i < m->replies.n; i++)
        lbm__response__free_unpacked(m->replies.at[i], NULL);
    m->replies.n = 0;
}

void
cluster_free(struct cluster *c)
{
    for (uint32_t p = 0; p < c->n; p++)
        cluster_crash(c, p);
    for (uint32_t p = 0; p < c->n; p++) {
        struct machine *m = &c->machine[p];
        forget_replies(m);
        lbm_vec_free(&m->replies);
        lbm_vec_free(&m->waiting);
        lbm_vec_free(&m->held);
        disk_free(&c->disk[p]);
        free(m->channel_us);
        free(m->dialled);
        free(m->connection);
        free(m->heard);
    }
    for (size_t i = 0; i < c->queue.n; i++)
        happen_free(&c->queue.at[i]);
    lbm_vec_free(&c->queue);
    lbm_buf_free(&c->trace);
    check_free(&c->check);
    free(c->disk);
    free(c->cut);
    free(c->machine);
    free(c);
}

/* ---- time -----------------------------------------------------------------------------------------------
 */

static void
happen_message(struct cluster *c, struct happen *happen)
{
    /* A host reads from the newest connection of another alone. */
    uint64_t *heard = &c->machine[happen->host].heard[happen->from];
    if (happen->connection < *heard)
        return;
    *heard = happen->connection;
    Lbm__Peer *message = NULL;
    struct lbm_diag diag;
    enum lbm_err err = lbm_wire_unpack_peer(happen->frame + LBM_FRAME_HEADER, happen->len - LBM_FRAME_HEADER,
                                            &message, &diag);
    LBM_ASSERT(err == LBM_OK); /* nodes must not send what receivers refuse */
    if (c->tracing && message->body_case != LBM__PEER__BODY_PING) {
        char text[64];
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field(&lbm__peer__descriptor, (unsigned)message->body_case);
        snprintf(text, sizeof text, "%s from %" PRIu32, field->name, happen->from);
        trace(c, happen->host, "gets ", text);
    }
    struct lbm_event event = {.kind = LBM_EVENT_MESSAGE};
    event.as.received.message = message;
    event.as.received.bytes = happen->len;
    step(c, happen->host, &event);
    lbm__peer__free_unpacked(message, NULL);
}

static void
happen_synced(struct cluster *c, struct happen *happen)
{
    struct machine *m = &c->machine[happen->host];
    commit(c, happen->host, happen->persist);
    struct lbm_event event = {.kind = LBM_EVENT_PERSISTED};
    event.as.persisted = m->durable;
    release(c, happen->host);
    step(c, happen->host, &event);
}

static void
happen_planned(struct cluster *c, struct happen *happen)
{
    struct lbm_event event = {.kind = LBM_EVENT_PLANNED};
    event.as.planned.job = happen->task.job;
    event.as.planned.err = lbm_node_plan(&happen->task, &event.as.planned.plan, &event.as.planned.anchored);
    step(c, happen->host, &event);
}

/* A try to connect; one that fails is repeated. */
static void
happen_connect(struct cluster *c, const struct happen *happen)
{
    uint32_t from = happen->host, to = happen->from;
    if (c->machine[to].node == NULL || c->cut[from * c->n + to]) {
        connect_in(c, from, to, CONNECT_AGAIN_US / 2 + lbm_rng_below(&c->rng, CONNECT_AGAIN_US));
        return;
    }
    c->machine[from].connection[to] = ++c->connections;
    struct lbm_event event = {.kind = LBM_EVENT_PEER_UP};
    event.as.peer = to;
    step(c, from, &event);
}

static void
happen_now(struct cluster *c, struct happen happen)
{
    struct machine *m = &c->machine[happen.host];
    if (m->node == NULL || happen.life != m->life) {
        happen_free(&happen);
        return;
    }
    if (m->stopped) {
        LBM_ASSERT(lbm_vec_push(&m->held, happen) == LBM_OK);
        return;
    }
    switch (happen.kind) {
    case HAPPEN_MESSAGE:
        happen_message(c, &happen);
        break;
    case HAPPEN_SYNCED:
        happen_synced(c, &happen);
        break;
    case HAPPEN_PLANNED:
        happen_planned(c, &happen);
        break;
    case HAPPEN_CONNECT:
        happen_connect(c, &happen);
        break;
    case HAPPEN_DISCONNECTED: {
        struct lbm_event event = {.kind = LBM_EVENT_PEER_DOWN};
        event.as.peer = happen.from;
        step(c, happen.host, &event);
        break;
    }
    }
    happen_free(&happen);
}

/* The machine whose timer is due first. */
static uint32_t
first_timer(const struct cluster *c, int64_t *when)
{
    uint32_t first = LBM_NONE;
    *when = INT64_MAX;
    for (uint32_t p = 0; p < c->n; p++) {
        const struct machine *m = &c->machine[p];
        if (m->node == NULL || m->stopped)
            continue;
        int64_t deadline = lbm_node_deadline(m->node);
        if (deadline < *when) {
            *when = deadline;
            first = p;
        }
    }
    return first;
}

int
cluster_run(struct cluster *c, int64_t us, int (*done)(struct cluster *cluster, void *arg), void *arg)
{
    int64_t end = c->now_us + us, look = c->now_us;
    while (c->now_us < end) {
        if (done != NULL && c->now_us >= look) {
            if (done(c, arg))
                return 1;
            look = c->now_us + 20000;
        }
        int64_t timer;
        uint32_t host = first_timer(c, &timer);
        int64_t event = c->queue.n != 0 ? c->queue.at[0].at_us : INT64_MAX;
        int64_t next = timer < event ? timer : event;
        if (next >= end) {
            c->now_us = end;
            break;
        }
        /* A timer that stays due advances time all the same: a node cannot stop the clock. */
        c->now_us = next > c->now_us ? next : c->now_us + (timer <= c->now_us && event > c->now_us);
        if (event <= timer) {
            happen_now(c, pop(c));
        } else {
            struct lbm_event tick = {.kind = LBM_EVENT_TIMER};
            step(c, host, &tick);
        }
    }
    return done != NULL && done(c, arg);
}

void
cluster_disconnect(struct cluster *c, uint32_t from, uint32_t to)
{
    disconnect(c, from, to);
}

void
cluster_cut(struct cluster *c, uint32_t p, uint32_t q, int on)
{
    c->cut[p * c->n + q] = c->cut[q * c->n + p] = on != 0;
    if (on) {
        disconnect(c, p, q);
        disconnect(c, q, p);
    }
}

int64_t
cluster_now(const struct cluster *c)
{
    return c->now_us;
}

void
cluster_stop(struct cluster *c, uint32_t host)
{
    c->machine[host].stopped = 1;
}

void
cluster_continue(struct cluster *c, uint32_t host)
{
    struct machine *m = &c->machine[host];
    m->stopped = 0;
    for (size_t i = 0; i < m->held.n; i++) {
        m->held.at[i].at_us = c->now_us;
        push(c, m->held.at[i]);
    }
    m->held.n = 0;
}

/* ---- clients ------------------------------------------------------------------------------------------- */

void
cluster_request(struct cluster *c, uint32_t host, uint32_t uid, Lbm__Request *request)
{
    struct machine *m = &c->machine[host];
    forget_replies(m);
    request->id = ++m->requests;
    struct lbm_event event = {.kind = LBM_EVENT_REQUEST};
    event.as.request.client = 1;
    event.as.request.uid = uid;
    event.as.request.admin = uid == 0;
    event.as.request.request = request;
    step(c, host, &event);
}

const Lbm__Response *
cluster_reply(struct cluster *c, uint32_t host, size_t i)
{
    return i < c->machine[host].replies.n ? c->machine[host].replies.at[i] : NULL;
}

static int
has_last_reply(struct cluster *c, void *arg)
{
    const struct machine *m = &c->machine[*(uint32_t *)arg];
    return m->replies.n != 0 && m->replies.at[m->replies.n - 1]->last;
}

const Lbm__Response *
cluster_ask(struct cluster *c, uint32_t host, uint32_t uid, Lbm__Request *request)
{
    cluster_request(c, host, uid, request);
    if (!cluster_run(c, 10000000, has_last_reply, &host))
        return NULL;
    return cluster_reply(c, host, c->machine[host].replies.n - 1);
}

enum lbm_err
cluster_send_guest(struct cluster *c, uint32_t host, const char *name, const struct lbm_graph *g,
                   enum lbm_start start)
{
    char copy[LBM_NAME_MAX + 1];
    snprintf(copy, sizeof copy, "%s", name);
    Lbm__SubmitBegin begin = LBM__SUBMIT_BEGIN__INIT;
    begin.name = copy;
    begin.vertices = g->n;
    begin.edges = lbm_graph_directions(g) / 2;
    begin.start = start;
    begin.seed = 1;
    begin.imbalance = 0.03;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_SUBMIT_BEGIN;
    request.submit_begin = &begin;
    const Lbm__Response *response = cluster_ask(c, host, 0, &request);
    if (response == NULL || response->code != LBM_OK)
        return response == NULL ? LBM_E_TIMEOUT : (enum lbm_err)response->code;
    uint32_t *degree = lbm_alloc(g->n, sizeof *degree);
    for (uint32_t v = 0; v < g->n; v++)
        degree[v] = (uint32_t)(g->offset[v + 1] - g->offset[v]);
    Lbm__SubmitRows rows = LBM__SUBMIT_ROWS__INIT;
    rows.n_degree = g->n;
    rows.degree = degree;
    rows.n_neighbour = lbm_graph_directions(g);
    rows.neighbour = g->target;
    rows.n_weight = g->weight != NULL ? rows.n_neighbour : 0;
    rows.weight = g->weight;
    rows.n_work = g->work != NULL ? g->n : 0;
    rows.work = g->work;
    rows.n_pin = g->pin != NULL ? g->n : 0;
    rows.pin = g->pin;
    request = (Lbm__Request)LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_SUBMIT_ROWS;
    request.submit_rows = &rows;
    response = cluster_ask(c, host, 0, &request);
    free(degree);
    if (response == NULL || response->code != LBM_OK)
        return response == NULL ? LBM_E_TIMEOUT : (enum lbm_err)response->code;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    request = (Lbm__Request)LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_SUBMIT_END;
    request.submit_end = &empty;
    cluster_request(c, host, 0, &request);
    return LBM_OK;
}

enum lbm_err
cluster_submit(struct cluster *c, uint32_t host, const char *name, const struct lbm_graph *g,
               enum lbm_start start)
{
    enum lbm_err err = cluster_send_guest(c, host, name, g, start);
    if (err != LBM_OK)
        return err;
    if (!cluster_run(c, 10000000, has_last_reply, &host))
        return LBM_E_TIMEOUT;
    return (enum lbm_err)cluster_reply(c, host, c->machine[host].replies.n - 1)->code;
}

/* The job of that name as a host lists it, or NULL. */
static const Lbm__JobEntry *
job_listed(struct cluster *c, uint32_t host, const char *name)
{
    char copy[LBM_NAME_MAX + 1];
    snprintf(copy, sizeof copy, "%s", name);
    Lbm__JobsRequest jobs = LBM__JOBS_REQUEST__INIT;
    jobs.name = copy;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_JOBS;
    request.jobs = &jobs;
    cluster_request(c, host, 0, &request);
    const Lbm__Response *response = cluster_reply(c, host, 0);
    return response != NULL && response->code == LBM_OK ? response->jobs->jobs[0] : NULL;
}

int
cluster_has_job(struct cluster *c, uint32_t host, const char *name)
{
    return job_listed(c, host, name) != NULL;
}

void
cluster_owners(const struct cluster *c, uint32_t n, uint32_t *part, uint32_t *doubles, uint32_t *none)
{
    *doubles = *none = 0;
    memset(part, 0xff, n * sizeof *part);
    for (uint32_t p = 0; p < c->n; p++)
        for (size_t i = 0; i < c->disk[p].rows.n; i++) {
            const struct lbm_row *row = &c->disk[p].rows.at[i];
            if (row->stage != LBM_STAGE_OWN)
                continue;
            *doubles += part[row->vertex] != LBM_NONE;
            part[row->vertex] = p;
        }
    for (uint32_t v = 0; v < n; v++)
        *none += part[v] == LBM_NONE;
}

int
cluster_settled(struct cluster *c, const char *name)
{
    for (uint32_t p = 0; p < c->n; p++) {
        if (c->machine[p].node == NULL || c->machine[p].stopped)
            continue;
        const Lbm__JobEntry *job = job_listed(c, p, name);
        if (job == NULL || !job->settled)
            return 0;
    }
    return 1;
}

uint32_t
cluster_guests(const struct cluster *c)
{
    uint32_t n = 0;
    for (size_t i = 0; i < c->check.guests.n; i++)
        n += !c->check.guests.at[i].deleted;
    return n;
}

int
cluster_quiet(const struct cluster *c, const char **why)
{
    *why = NULL;
    for (size_t i = 0; i < c->check.guests.n && *why == NULL; i++) {
        const struct known_guest *guest = &c->check.guests.at[i];
        uint8_t *owners = lbm_alloc(guest->g.n, 1);
        size_t rows = 0;
        for (uint32_t p = 0; p < c->n; p++)
            for (size_t k = 0; k < c->disk[p].rows.n; k++) {
                const struct lbm_row *row = &c->disk[p].rows.at[k];
                rows += row->job == guest->job;
                owners[row->vertex < guest->g.n && row->job == guest->job ? row->vertex : 0] +=
                    row->job == guest->job && row->stage == LBM_STAGE_OWN;
            }
        if (guest->deleted && rows != 0)
            *why = "rows of a job that is no more";
        for (uint32_t v = 0; v < guest->g.n && !guest->deleted; v++)
            if (owners[v] != 1)
                *why = owners[v] == 0 ? "a vertex without owner" : "a vertex with two owners";
        free(owners);
    }
    return *why == NULL;
}

void
cluster_trace(struct cluster *c, int on)
{
    c->tracing = on;
}

const char *
cluster_trace_text(const struct cluster *c)
{
    return c->trace.at != NULL ? c->trace.at : "";
}
