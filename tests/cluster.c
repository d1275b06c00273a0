#include "cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/idmap.h"

enum happening { HAPPEN_MESSAGE, HAPPEN_SYNCED, HAPPEN_PLANNED, HAPPEN_CONNECTED };

struct happen {
    int64_t at_us;
    uint64_t order;
    enum happening kind;
    uint32_t host; /* to whom it happens */
    uint32_t from;
    uint64_t life;  /* of `host`: an event for an earlier life is void */
    uint8_t *frame; /* MESSAGE */
    size_t len;
    struct lbm_persist *persist; /* SYNCED */
    struct lbm_plan_task task;   /* PLANNED */
};

struct waiting {
    struct lbm_effect effect;
};

/* What a disk keeps: the structs of lbm_recovered, owned. */
struct disk {
    int known;
    uint64_t cluster, incarnation;
    uint32_t host;
    LBM_VEC(struct lbm_recovered_entry) log;
    LBM_VEC(struct lbm_recovered_job) jobs;
    LBM_VEC(struct lbm_row) rows;
    uint64_t index_job;     /* the job that index speaks of */
    struct lbm_idmap index; /* vertex to place in rows */
};

struct machine {
    struct lbm_node *node; /* NULL: down */
    uint64_t life;
    int stopped;
    struct disk disk;
    uint64_t durable, syncing; /* ids */
    int64_t sync_free_us;      /* the disk is busy until then */
    LBM_VEC(struct waiting) waiting;
    LBM_VEC(struct happen) held; /* while stopped */
    int64_t *channel_us;         /* [n] when the last message to each host arrives: order */
    uint8_t *dialled;            /* [n] */
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

/* ---- disks -------------------------------------------------------------------------------------------- */

static struct lbm_row *
disk_row(struct disk *disk, uint64_t job, uint32_t vertex)
{
    if (disk->index_job != job) {
        disk->index_job = job;
        lbm_idmap_clear(&disk->index);
        for (size_t i = 0; i < disk->rows.n; i++)
            if (disk->rows.at[i].job == job)
                LBM_ASSERT(lbm_idmap_put(&disk->index, disk->rows.at[i].vertex, (uint32_t)i) == LBM_OK);
    }
    uint32_t at = lbm_idmap_get(&disk->index, vertex);
    return at != LBM_NONE ? &disk->rows.at[at] : NULL;
}

static void
disk_put(struct disk *disk, struct lbm_row row)
{
    row.half = row.degree != 0 ? lbm_copy(row.half, row.degree, sizeof *row.half) : NULL;
    struct lbm_row *known = disk_row(disk, row.job, row.vertex);
    if (known == NULL) {
        LBM_ASSERT(lbm_vec_push(&disk->rows, row) == LBM_OK);
        LBM_ASSERT(lbm_idmap_put(&disk->index, row.vertex, (uint32_t)disk->rows.n - 1) == LBM_OK);
        return;
    }
    /* I9: no record's rank ever falls. */
    LBM_ASSERT(row.epoch > known->epoch || (row.epoch == known->epoch && row.stage >= known->stage));
    free(known->half);
    *known = row;
}

static void
disk_guest(struct disk *disk, uint64_t job, const struct lbm_graph *g)
{
    for (uint32_t v = 0; v < g->n; v++) {
        struct lbm_half half[64];
        uint32_t degree = (uint32_t)(g->offset[v + 1] - g->offset[v]);
        LBM_ASSERT(degree <= 64);
        for (uint32_t k = 0; k < degree; k++)
            half[k] = (struct lbm_half){g->target[g->offset[v] + k], lbm_graph_weight(g, g->offset[v] + k),
                                        LBM_NONE};
        struct lbm_row row = {.job = job,
                              .vertex = v,
                              .epoch = 1,
                              .stage = LBM_STAGE_OWN,
                              .peer = LBM_NONE,
                              .work = lbm_graph_work(g, v),
                              .pin = g->pin != NULL ? g->pin[v] : LBM_NONE,
                              .degree = degree,
                              .half = half};
        disk_put(disk, row);
    }
}

static void
disk_state(struct disk *disk, uint64_t job, enum lbm_job_state state, const uint8_t *command, size_t len)
{
    for (size_t i = 0; i < disk->jobs.n; i++)
        if (disk->jobs.at[i].job == job) {
            disk->jobs.at[i].state = state;
            return;
        }
    struct lbm_recovered_job entry = {job, state, len != 0 ? lbm_copy(command, len, 1) : NULL, len};
    LBM_ASSERT(lbm_vec_push(&disk->jobs, entry) == LBM_OK);
}

static void
disk_delete(struct disk *disk, uint64_t job)
{
    disk->index_job = 0;
    for (size_t i = disk->rows.n; i-- > 0;)
        if (disk->rows.at[i].job == job) {
            free(disk->rows.at[i].half);
            disk->rows.at[i] = disk->rows.at[--disk->rows.n];
        }
    for (size_t i = disk->jobs.n; i-- > 0;)
        if (disk->jobs.at[i].job == job) {
            free(disk->jobs.at[i].command);
            disk->jobs.at[i] = disk->jobs.at[--disk->jobs.n];
        }
}

static void
disk_apply(struct disk *disk, const struct lbm_persist_op *op)
{
    switch (op->kind) {
    case LBM_PERSIST_SELF:
        disk->known = 1;
        disk->cluster = op->as.self.cluster;
        disk->host = op->as.self.host;
        disk->incarnation = op->as.self.incarnation;
        break;
    case LBM_PERSIST_LOG: {
        LBM_ASSERT(op->as.log.index == disk->log.n + 1);
        struct lbm_recovered_entry entry = {op->as.log.index, lbm_copy(op->as.log.command, op->as.log.len, 1),
                                            op->as.log.len};
        LBM_ASSERT(lbm_vec_push(&disk->log, entry) == LBM_OK);
        break;
    }
    case LBM_PERSIST_JOB:
        disk_state(disk, op->job, op->as.state.state, op->as.state.command, op->as.state.len);
        break;
    case LBM_PERSIST_JOB_DELETE:
        disk_delete(disk, op->job);
        break;
    case LBM_PERSIST_ROW:
        disk_put(disk, op->as.row);
        break;
    case LBM_PERSIST_GUEST:
        disk_guest(disk, op->job, op->as.guest.graph);
        break;
    case LBM_PERSIST_PLAN:
    case LBM_PERSIST_POSITIONS:
        for (uint32_t i = 0; i < op->as.plan.n; i++) {
            struct lbm_row *row =
                disk_row(disk, op->job, op->as.plan.vertex != NULL ? op->as.plan.vertex[i] : i);
            if (row == NULL)
                continue;
            memcpy(row->position, &op->as.plan.position[(size_t)i * op->as.plan.m],
                   op->as.plan.m * sizeof(double));
            if (op->as.plan.anchored != NULL)
                row->anchored = op->as.plan.anchored[i];
            if (op->as.plan.host != NULL && row->stage == LBM_STAGE_OWN)
                row->peer = op->as.plan.host[i];
        }
        break;
    case LBM_PERSIST_COUNT:
        break;
    }
}

static void
disk_free(struct disk *disk)
{
    for (size_t i = 0; i < disk->log.n; i++)
        free(disk->log.at[i].command);
    for (size_t i = 0; i < disk->jobs.n; i++)
        free(disk->jobs.at[i].command);
    for (size_t i = 0; i < disk->rows.n; i++)
        free(disk->rows.at[i].half);
    lbm_vec_free(&disk->log);
    lbm_vec_free(&disk->jobs);
    lbm_vec_free(&disk->rows);
    lbm_idmap_free(&disk->index);
}

static void
disk_recover(const struct disk *disk, struct lbm_recovered *out)
{
    *out = (struct lbm_recovered){
        .known = disk->known, .cluster = disk->cluster, .host = disk->host, .incarnation = disk->incarnation};
    for (size_t i = 0; i < disk->log.n; i++) {
        struct lbm_recovered_entry e = disk->log.at[i];
        e.command = lbm_copy(e.command, e.len, 1);
        LBM_ASSERT(lbm_vec_push(&out->log, e) == LBM_OK);
    }
    for (size_t i = 0; i < disk->jobs.n; i++) {
        struct lbm_recovered_job j = disk->jobs.at[i];
        j.command = j.len != 0 ? lbm_copy(j.command, j.len, 1) : NULL;
        LBM_ASSERT(lbm_vec_push(&out->jobs, j) == LBM_OK);
    }
    for (size_t i = 0; i < disk->rows.n; i++) {
        struct lbm_row r = disk->rows.at[i];
        r.half = lbm_copy(r.half, r.degree, sizeof *r.half);
        LBM_ASSERT(lbm_vec_push(&out->rows, r) == LBM_OK);
    }
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
transmit(struct cluster *c, uint32_t from, const struct lbm_effect *effect)
{
    uint32_t to = effect->as.send.host;
    int lossy = effect->as.send.lossy;
    if (to >= c->n || (lossy && lbm_rng_unit(&c->rng) < c->options.lose_soft))
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
                                .len = effect->as.send.len};
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
carry_out(struct cluster *c, uint32_t host, struct lbm_effect *effect)
{
    struct machine *m = &c->machine[host];
    switch (effect->kind) {
    case LBM_EFFECT_PERSIST:
        persist_effect(c, host, effect);
        break;
    case LBM_EFFECT_SEND:
        transmit(c, host, effect);
        free(effect->as.send.frame);
        break;
    case LBM_EFFECT_REPLY:
        deliver_reply(c, host, effect);
        free(effect->as.reply.frame);
        break;
    case LBM_EFFECT_DIAL:
        if (effect->as.dial.host < c->n && !m->dialled[effect->as.dial.host]) {
            m->dialled[effect->as.dial.host] = 1;
            struct happen up = {.at_us = c->now_us + 200,
                                .kind = HAPPEN_CONNECTED,
                                .host = host,
                                .from = effect->as.dial.host,
                                .life = m->life};
            push(c, up);
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
        struct lbm_effect *effect = &m->waiting.at[i].effect;
        if (effect->after > m->durable)
            m->waiting.at[kept++] = m->waiting.at[i];
        else
            carry_out(c, host, effect);
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
        struct waiting waiting = {effects.list.at[i]};
        LBM_ASSERT(lbm_vec_push(&m->waiting, waiting) == LBM_OK);
    }
    free(effects.list.at);
    release(c, host);
}

/* ---- lives of machines --------------------------------------------------------------------------------- */

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
    m->durable = m->syncing = 0;
    m->sync_free_us = c->now_us;
    memset(m->dialled, 0, c->n);
    struct lbm_recovered *recovered = lbm_alloc(1, sizeof *recovered);
    disk_recover(&m->disk, recovered);
    struct lbm_event event = {.kind = LBM_EVENT_START};
    event.as.recovered = recovered;
    trace(c, host, "start", "");
    step(c, host, &event);
    lbm_recovered_free(recovered);
    for (uint32_t p = 0; p < c->n; p++)
        if (p != host && c->machine[p].node != NULL && c->machine[p].dialled[host]) {
            struct happen up = {.at_us = c->now_us + 300,
                                .kind = HAPPEN_CONNECTED,
                                .host = p,
                                .from = host,
                                .life = c->machine[p].life};
            push(c, up);
        }
}

void
cluster_crash(struct cluster *c, uint32_t host)
{
    struct machine *m = &c->machine[host];
    if (m->node == NULL)
        return;
    trace(c, host, "crash", "");
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
    for (uint32_t p = 0; p < h->n; p++) {
        c->machine[p].channel_us = lbm_alloc(h->n, sizeof(int64_t));
        c->machine[p].dialled = lbm_alloc(h->n, 1);
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
    for (uint32_t p = 0; p < c->n; p++) {
        struct machine *m = &c->machine[p];
        cluster_crash(c, p);
        forget_replies(m);
        lbm_vec_free(&m->replies);
        lbm_vec_free(&m->waiting);
        lbm_vec_free(&m->held);
        disk_free(&m->disk);
        free(m->channel_us);
        free(m->dialled);
    }
    for (size_t i = 0; i < c->queue.n; i++)
        happen_free(&c->queue.at[i]);
    lbm_vec_free(&c->queue);
    lbm_buf_free(&c->trace);
    free(c->machine);
    free(c);
}

/* ---- time -----------------------------------------------------------------------------------------------
 */

static void
happen_message(struct cluster *c, struct happen *happen)
{
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
    for (size_t i = 0; i < happen->persist->ops.n; i++)
        disk_apply(&m->disk, &happen->persist->ops.at[i]);
    LBM_ASSERT(happen->persist->id == m->durable + 1);
    m->durable = happen->persist->id;
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
    case HAPPEN_CONNECTED:
        if (c->machine[happen.from].node != NULL) {
            struct lbm_event event = {.kind = LBM_EVENT_PEER_UP};
            event.as.peer = happen.from;
            step(c, happen.host, &event);
        }
        break;
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
cluster_submit(struct cluster *c, uint32_t host, const char *name, const struct lbm_graph *g,
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
    response = cluster_ask(c, host, 0, &request);
    return response == NULL ? LBM_E_TIMEOUT : (enum lbm_err)response->code;
}

void
cluster_owners(const struct cluster *c, uint32_t n, uint32_t *part, uint32_t *doubles, uint32_t *none)
{
    *doubles = *none = 0;
    memset(part, 0xff, n * sizeof *part);
    for (uint32_t p = 0; p < c->n; p++)
        for (size_t i = 0; i < c->machine[p].disk.rows.n; i++) {
            const struct lbm_row *row = &c->machine[p].disk.rows.at[i];
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
        char copy[LBM_NAME_MAX + 1];
        snprintf(copy, sizeof copy, "%s", name);
        Lbm__JobsRequest jobs = LBM__JOBS_REQUEST__INIT;
        jobs.name = copy;
        Lbm__Request request = LBM__REQUEST__INIT;
        request.what_case = LBM__REQUEST__WHAT_JOBS;
        request.jobs = &jobs;
        cluster_request(c, p, 0, &request);
        const Lbm__Response *response = cluster_reply(c, p, 0);
        if (response == NULL || response->code != LBM_OK || !response->jobs->jobs[0]->settled)
            return 0;
    }
    return 1;
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
