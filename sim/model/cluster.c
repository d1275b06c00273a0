/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Virtual time: whatever is due next happens. */
#include "sim/model/cluster.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "sim/model/script.h"

enum { TIMERS_MAX = 500 };

/* ---- what happens -------------------------------------------------------------------------------------- */

static void
happen_planned(struct cluster *c, struct happen *happen)
{
    struct lbm_event event = {.kind = LBM_EVENT_PLANNED};
    event.as.planned.job = happen->task.job;
    event.as.planned.err =
        lbm_node_plan(&happen->task, NULL, &event.as.planned.plan, &event.as.planned.anchored);
    if (event.as.planned.err == LBM_OK && c->options.planned != NULL)
        c->options.planned(c->options.planned_arg, &happen->task, event.as.planned.plan);
    step(c, happen->host, &event);
}

/* Nonzero if it happens to the daemon, so that it is void once that one ended and waits while it is stopped.
 */
static int
is_for_daemon(enum happening kind)
{
    return kind != HAPPEN_TOLD && kind != HAPPEN_LET_GO && kind != HAPPEN_ATTACH && kind < HAPPEN_PROGRAM;
}

static void
happen_to_daemon(struct cluster *c, struct happen *happen)
{
    switch (happen->kind) {
    case HAPPEN_MESSAGE:
        happen_message(c, happen);
        break;
    case HAPPEN_SYNCED:
        happen_synced(c, happen);
        break;
    case HAPPEN_BLOB_READ:
        happen_blob_read(c, happen);
        break;
    case HAPPEN_PLANNED:
        happen_planned(c, happen);
        break;
    case HAPPEN_CONNECT:
        happen_connect(c, happen);
        break;
    case HAPPEN_DISCONNECTED:
        happen_disconnected(c, happen);
        break;
    case HAPPEN_APPENDED:
        happen_appended(c, happen);
        break;
    case HAPPEN_FOLLOWED:
        happen_followed(c, happen);
        break;
    case HAPPEN_LOOKED:
        happen_looked(c, happen);
        break;
    default:
        happen_application(c, happen);
        break;
    }
}

static void
happen_now(struct cluster *c, struct happen happen)
{
    struct machine *m = &c->machine[happen.host];
    if (happen.kind == HAPPEN_RESTART) {
        if (m->node == NULL && happen.life == m->life)
            cluster_restart(c, happen.host);
    } else if (is_for_daemon(happen.kind)) {
        int is_void = m->node == NULL || happen.life != m->life || is_lost(c, &happen);
        if (!is_void && m->stopped) {
            LBM_ASSERT(lbm_vec_push(&m->held, happen) == LBM_OK);
            return;
        }
        if (!is_void)
            happen_to_daemon(c, &happen);
    } else if (happen.kind >= HAPPEN_PROGRAM) {
        happen_program(c, &happen);
    } else if (m->suspended) {
        happen.at_us = c->now_us + 100000;
        happen_push(c, happen);
        return;
    } else {
        happen_application(c, &happen);
    }
    happen_free(&happen);
}

/* ---- time ---------------------------------------------------------------------------------------------- */

/* I7: a node that wants to be woken again and again does nothing else. */
static void
wake(struct cluster *c, uint32_t host)
{
    struct machine *m = &c->machine[host];
    m->hasty = c->now_us < m->hasty_us + 1000 ? m->hasty + 1 : 0;
    if (m->hasty == 0)
        m->hasty_us = c->now_us;
    if (m->hasty > TIMERS_MAX)
        check_violated(&c->check, "I7", "host %" PRIu32 " wants to be woken %d times within a millisecond",
                       host, TIMERS_MAX);
    struct lbm_event tick = {.kind = LBM_EVENT_TIMER};
    step(c, host, &tick);
}

static int has_come(struct cluster *c, void *arg);

int
cluster_run(struct cluster *c, int64_t us, int (*done)(struct cluster *cluster, void *arg), void *arg)
{
    int64_t end = c->now_us + us, look = c->now_us;
    c->interrupted = 0;
    while (c->now_us < end && c->check.invariant[0] == '\0' && !c->interrupted) {
        if (done != NULL && (c->now_us >= look || done == has_come)) {
            if (done(c, arg))
                return 1;
            look = c->now_us + 20000;
        }
        summaries_sample(c);
        int64_t timer;
        uint32_t host = timers_first(&c->timers, &timer);
        int64_t event = c->queue.n != 0 ? c->queue.at[0].at_us : INT64_MAX;
        int64_t next = timer < event ? timer : event;
        if (next >= end) {
            c->now_us = end;
            break;
        }
        /* A timer that stays due advances time all the same: a node cannot stop the clock. */
        c->now_us = next > c->now_us ? next : c->now_us + (timer <= c->now_us && event > c->now_us);
        if (event <= timer) {
            happen_now(c, happen_pop(c));
        } else {
            wake(c, host);
        }
    }
    return done != NULL && c->check.invariant[0] == '\0' && done(c, arg);
}

void
cluster_interrupt(struct cluster *c)
{
    c->interrupted = 1;
}

static int
has_come(struct cluster *c, void *arg)
{
    (void)arg;
    return c->awaited == TRIGGER_NONE;
}

void
cluster_run_to_trigger(struct cluster *c, enum trigger trigger, uint32_t host, int64_t us)
{
    c->awaited = trigger;
    c->awaited_at = host;
    cluster_run(c, us, has_come, NULL);
    c->awaited = TRIGGER_NONE;
}

void
trigger_comes(struct cluster *c, enum trigger trigger, uint32_t host)
{
    if (c->awaited == trigger &&
        (trigger >= TRIGGER_ENTRY || c->awaited_at == LBM_NONE || c->awaited_at == host))
        c->awaited = TRIGGER_NONE;
}

struct cluster_meter
cluster_meter(const struct cluster *c, uint32_t host)
{
    return c->machine[host].meter;
}

long
cluster_memory_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

uint64_t
cluster_log_entries(const struct cluster *c)
{
    return c->check.log.n;
}

int64_t
cluster_now(const struct cluster *c)
{
    return c->now_us;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

struct cluster *
cluster_new(const struct lbm_hosts *h, const struct cluster_options *options)
{
    struct cluster *c = lbm_alloc(1, sizeof *c);
    c->n = h->n;
    c->h = h;
    c->options = *options;
    c->now_us = 1000000;
    c->clients = OPERATOR;
    c->network_slow = 1;
    c->log.first = 1;
    c->check.n_hosts = h->n;
    lbm_rng_seed(&c->rng, options->seed);
    c->views = options->shares ? lbm_views_new() : NULL;
    c->machine = lbm_alloc(h->n, sizeof *c->machine);
    timers_init(&c->timers, h->n);
    c->disk = lbm_alloc(h->n, sizeof *c->disk);
    c->image = lbm_alloc(h->n, sizeof *c->image);
    c->cut = lbm_alloc(h->n, h->n);
    for (uint32_t p = 0; p < h->n; p++) {
        struct machine *m = &c->machine[p];
        m->channel_us = lbm_alloc(h->n, sizeof(int64_t));
        m->dialled = lbm_alloc(h->n, 1);
        m->broken = lbm_alloc(h->n, 1);
        m->lag_us = lbm_alloc(h->n, sizeof(int64_t));
        m->connection = lbm_alloc(h->n, sizeof(uint64_t));
        m->heard = lbm_alloc(h->n, sizeof(uint64_t));
        m->slow = 1;
        m->clock = (struct sim_clock){c->now_us, c->now_us, 0};
        c->disk[p] = (struct disk){
            .place = p, .watcher = options->unwatched ? NULL : check_record, .watcher_arg = &c->check};
    }
    programs_new(c);
    for (uint32_t p = 0; p + options->late < h->n; p++)
        cluster_restart(c, p);
    return c;
}

void
cluster_free(struct cluster *c)
{
    script_free(c);
    programs_free(c);
    for (uint32_t p = 0; p < c->n; p++) {
        struct machine *m = &c->machine[p];
        machine_free_node(m);
        forget_replies(m);
        lbm_vec_free(&m->replies);
        lbm_vec_free(&m->waiting);
        lbm_vec_free(&m->held);
        free(m->forged.at);
        disk_free(&c->disk[p]);
        disk_free(&c->image[p]);
        free(m->channel_us);
        free(m->dialled);
        free(m->broken);
        free(m->lag_us);
        free(m->connection);
        free(m->heard);
    }
    for (size_t i = 0; i < c->queue.n; i++)
        happen_free(&c->queue.at[i]);
    lbm_vec_free(&c->queue);
    lbm_vec_free(&c->broken_us);
    lbm_buf_free(&c->trace);
    interceptors_free(c);
    applications_free(c);
    log_free(c);
    check_free(&c->check);
    lbm_views_free(c->views);
    free(c->disk);
    free(c->image);
    free(c->cut);
    free(c->machine);
    timers_free(&c->timers);
    free(c);
}
