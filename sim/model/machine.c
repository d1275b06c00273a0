/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lives of hosts: start, step, stop, end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/model/internal.h"

enum {
    WAITING_USUAL = 256,
    WAITING_MAX = 1024, /* effects that wait for the disk: several times what the longest stalls gather, */
    WAITING_EACH = 4, /* and those for each host, to all of which a coordinator may speak at once as a job begins */
    RUN_LOG = 16,     /* entries between snapshots */
    PLAN_US = 10000,  /* a plan for a small guest takes */
};

int64_t
machine_now(const struct cluster *c, uint32_t host)
{
    return clock_shows(&c->machine[host].clock, c->now_us);
}

/* Read the node's deadline again. */
static void
wake_later(struct cluster *c, uint32_t host)
{
    const struct machine *m = &c->machine[host];
    int sleeps = m->node == NULL || m->stopped;
    timers_set(&c->timers, host, sleeps ? INT64_MAX : clock_reaches(&m->clock, lbm_node_deadline(m->node)));
}

/* ---- effects ------------------------------------------------------------------------------------------- */

static void
plan_effect(struct cluster *c, uint32_t host, struct lbm_effect *effect)
{
    int64_t takes_us = c->options.plan_us != 0 ? c->options.plan_us : PLAN_US;
    struct happen planned = {.at_us = c->now_us + takes_us,
                             .kind = HAPPEN_PLANNED,
                             .host = host,
                             .life = c->machine[host].life,
                             .task = *effect->as.plan};
    free(effect->as.plan);
    happen_push(c, planned);
}

static void
carry_out(struct cluster *c, uint32_t host, struct waiting *waiting)
{
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
        network_dial(c, host, effect->as.dial.host);
        break;
    case LBM_EFFECT_PLAN:
        plan_effect(c, host, effect);
        break;
    case LBM_EFFECT_NOTE:
        trace(c, host, "note: %s", effect->as.note.text);
        break;
    case LBM_EFFECT_LEASE: {
        struct page page = {effect->as.lease.deadline_us, effect->as.lease.term, effect->as.lease.used,
                            effect->as.lease.gone};
        set_page(c, host, page);
        break;
    }
    case LBM_EFFECT_LOG_APPEND:
    case LBM_EFFECT_LOG_FOLLOW:
    case LBM_EFFECT_LOG_COMPACT:
    case LBM_EFFECT_LOG_BEGIN:
        log_effect(c, host, effect);
        break;
    case LBM_EFFECT_ENSEMBLE:
        ensemble_effect(c, host, effect);
        break;
    case LBM_EFFECT_PROGRAM: /* a simulated host runs none */
        free(effect->as.program.program);
        break;
    case LBM_EFFECT_BLOB_READ:
        blob_read_effect(c, host, effect);
        break;
    case LBM_EFFECT_COUNT:
        break;
    }
}

void
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
    if (kept == 0 && m->waiting.capacity > WAITING_USUAL) /* a host that starts dials all others */
        lbm_vec_free(&m->waiting);
}

/* ---- steps --------------------------------------------------------------------------------------------- */

/* What is left until an allocation of the step at hand fails. */
static uint32_t *allocations_left;

static int
allocation_fails(void)
{
    return *allocations_left != 0 && --*allocations_left == 0;
}

static uint64_t
processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static enum lbm_err
step_metered(struct machine *m, const struct lbm_event *event, struct lbm_effects *effects)
{
    uint64_t before_ns = processor_ns();
    enum lbm_err err = lbm_node_step(m->node, event, effects);
    m->meter.node_ns += processor_ns() - before_ns;
    return err;
}

static enum lbm_err
step_node(struct cluster *c, struct machine *m, const struct lbm_event *event, struct lbm_effects *effects)
{
    m->meter.steps++;
    if (c->options.metered)
        return step_metered(m, event, effects);
    if (m->allocations_left == 0)
        return lbm_node_step(m->node, event, effects);
    allocations_left = &m->allocations_left;
    lbm_alloc_fails = allocation_fails;
    enum lbm_err err = lbm_node_step(m->node, event, effects);
    lbm_alloc_fails = NULL;
    return err;
}

void
step(struct cluster *c, uint32_t host, struct lbm_event *event)
{
    struct machine *m = &c->machine[host];
    struct lbm_effects effects = {0};
    event->now_us = machine_now(c, host);
    note_happening(c, (uint32_t)event->kind, host, NULL, 0);
    enum lbm_err err = step_node(c, m, event, &effects);
    if (err != LBM_OK) {
        lbm_effects_clear(&effects);
        if (err != LBM_E_NOMEM)
            check_violated(&c->check, "I0", "host %" PRIu32 " ends: %s", host, lbm_err_text(err));
        machine_ends(c, host, lbm_err_text(err));
        judge(c);
        return;
    }
    for (size_t i = 0; i < effects.list.n; i++) {
        struct waiting waiting = {.effect = effects.list.at[i]};
        if (waiting.effect.kind == LBM_EFFECT_SEND && waiting.effect.as.send.host < c->n)
            waiting.connection = m->connection[waiting.effect.as.send.host];
        LBM_ASSERT(lbm_vec_push(&m->waiting, waiting) == LBM_OK);
    }
    free(effects.list.at);
    release(c, host);
    if (m->waiting.n > WAITING_MAX + WAITING_EACH * (size_t)c->n)
        check_violated(&c->check, "I7", "host %" PRIu32 ": %zu effects wait for the disk", host,
                       m->waiting.n);
    wake_later(c, host);
    judge(c);
}

/* ---- beginnings ---------------------------------------------------------------------------------------- */

struct machine_names
machine_names(uint32_t host)
{
    struct machine_names names;
    snprintf(names.name, sizeof names.name, "h%" PRIu32, host);
    snprintf(names.address, sizeof names.address, "127.0.0.1:%" PRIu32, 7000 + host);
    return names;
}

static void
new_node(struct cluster *c, uint32_t host)
{
    LBM_VEC(struct lbm_node_link) links = {0};
    for (uint32_t e = c->h->offset[host]; e < c->h->offset[host + 1]; e++) {
        struct lbm_node_link link = {c->h->target[e], c->h->cost[e]};
        LBM_ASSERT(lbm_vec_push(&links, link) == LBM_OK);
    }
    struct machine_names names = machine_names(host);
    int limited = c->options.limited_host == LBM_NONE || c->options.limited_host == host;
    static const uint32_t first_hosts[] = {0, 1, 2, 3};
    LBM_ASSERT(c->options.operators <= sizeof first_hosts / sizeof *first_hosts);
    const struct lbm_node_contact first = {0, "127.0.0.1:7000"};
    char domain[16] = "";
    if (c->options.domain_hosts != 0)
        snprintf(domain, sizeof domain, "rack%" PRIu32, host / c->options.domain_hosts);
    struct lbm_node_config config = {
        .operators = first_hosts,
        .n_operators = c->options.operators,
        .host = host,
        .name = names.name,
        .address = names.address,
        .capacity = c->machine[host].capacity > 0 ? c->machine[host].capacity : c->h->capacity[host],
        .links = links.at,
        .n_links = c->options.hop_us != 0 ? 0 : links.n,
        .hop_us = c->options.hop_us,
        .copies = c->options.copies,
        .m = c->h->m,
        .site = c->options.hop_us != 0 ? NULL : &c->h->site[(size_t)host * c->h->m],
        .engine = c->options.engine,
        .etcd = c->options.etcd,
        .log_compact_min = c->options.log_compact_min != 0 ? c->options.log_compact_min : RUN_LOG,
        .large_members = c->options.large_members,
        .tree_hosts = c->options.tree_hosts,
        .blob_piece = BLOB_PIECE,
        .leader = host == 0,
        .cluster_name = CLUSTER_NAME,
        .contacts = &first,
        .n_contacts = host != 0,
        .tombstone_us = c->options.tombstone_us,
        .policy = c->options.policy,
        .schedule = c->options.schedule,
        .vertices_max = limited ? c->options.vertices_max : 0,
        .seed = lbm_rng_next(&c->rng),
        .evict_share = c->options.evict_share,
        .failure_domain = domain,
        .version = "test",
        .views = c->views};
    struct lbm_diag diag;
    LBM_ASSERT(lbm_node_new(&config, &c->machine[host].node, &diag) == LBM_OK);
    lbm_vec_free(&links);
}

void
cluster_configure(struct cluster *c, uint32_t host, double capacity)
{
    c->machine[host].capacity = capacity;
}

void
cluster_restart(struct cluster *c, uint32_t host)
{
    struct machine *m = &c->machine[host];
    LBM_ASSERT(m->node == NULL);
    trace(c, host, "start");
    new_node(c, host);
    m->life++;
    m->begun_us = c->now_us;
    m->durable = 0;
    m->sync_free_us = c->now_us;
    m->follows = 0;
    m->ensemble = (struct lbm_ensemble){0};
    m->tends = m->looks = 0;
    m->following = 0;
    memset(m->dialled, 0, c->n);
    memset(m->broken, 0, c->n);
    memset(m->heard, 0, c->n * sizeof *m->heard);
    struct lbm_recovered *recovered = lbm_alloc(1, sizeof *recovered);
    disk_recover(&c->disk[host], recovered);
    /* As daemon/lease_page.c: nobody waits for longer. */
    int64_t end_us = machine_now(c, host) + LBM_LEASE_EVER_US;
    recovered->lease_us = m->page.used == 0 ? 0 : m->page.deadline_us < end_us ? m->page.deadline_us : end_us;
    recovered->lease_term = m->page.term;
    recovered->lease_used = (uint32_t)m->page.used;
    recovered->lease_gone = m->page.gone;
    programs_write_page(c, host,
                        (struct page){recovered->lease_us, m->page.term, m->page.used, m->page.gone});
    struct lbm_event event = {.kind = LBM_EVENT_START};
    event.as.recovered = recovered;
    step(c, host, &event);
    lbm_recovered_free(recovered);
}

int
cluster_is_up(const struct cluster *c, uint32_t host)
{
    return c->machine[host].node != NULL;
}

int
cluster_is_just_back(const struct cluster *c, uint32_t host, int64_t down_us, int64_t up_us)
{
    const struct machine *m = &c->machine[host];
    return m->node != NULL && m->ended_us != 0 && m->begun_us - m->ended_us >= down_us &&
           c->now_us - m->begun_us < up_us;
}

/* ---- ends ---------------------------------------------------------------------------------------------- */

void
machine_free_node(struct machine *m)
{
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
    lbm_node_free(m->node);
    m->node = NULL;
}

static void
process_ends(struct cluster *c, uint32_t host, enum crash crash)
{
    struct machine *m = &c->machine[host];
    if (m->node == NULL)
        return;
    sync_some(c, host, crash);
    for (uint32_t p = 0; p < c->n; p++) {
        disconnect(c, host, p);
        disconnect(c, p, host);
    }
    machine_free_node(m);
    m->life++;
    m->ended_us = c->now_us;
    m->stopped = 0;
    m->allocations_left = 0;
    wake_later(c, host);
    application_disconnected(c, host);
    judge(c);
}

void
cluster_kill(struct cluster *c, uint32_t host, enum crash crash)
{
    trace(c, host, "the daemon is killed");
    process_ends(c, host, crash);
}

void
cluster_crash_with(struct cluster *c, uint32_t host, enum crash crash)
{
    struct machine *m = &c->machine[host];
    trace(c, host, "crash");
    process_ends(c, host, crash);
    cluster_kill_applications(c, host);
    m->suspended = 0;
    m->page = (struct page){0};
    m->slept_us = 0;
    m->clock = (struct sim_clock){c->now_us, (int64_t)lbm_rng_below(&c->rng, 30000000), m->clock.ppm};
}

void
cluster_crash(struct cluster *c, uint32_t host)
{
    if (cluster_is_up(c, host))
        cluster_crash_with(c, host, CRASH_SOME);
}

void
machine_ends(struct cluster *c, uint32_t host, const char *why)
{
    trace(c, host, "the daemon ends: %s", why);
    process_ends(c, host, CRASH_SOME);
    if (c->options.restart_us == 0)
        return;
    struct happen again = {.at_us = c->now_us + c->options.restart_us, .kind = HAPPEN_RESTART, .host = host};
    again.life = c->machine[host].life;
    happen_push(c, again);
}

/* ---- pauses -------------------------------------------------------------------------------------------- */

void
cluster_stop(struct cluster *c, uint32_t host)
{
    trace(c, host, "stop");
    c->machine[host].stopped = 1;
    wake_later(c, host);
}

void
cluster_suspend(struct cluster *c, uint32_t host)
{
    trace(c, host, "suspend");
    c->machine[host].stopped = c->machine[host].suspended = 1;
    c->machine[host].suspended_us = machine_now(c, host);
    programs_sleep(c, host);
    wake_later(c, host);
}

void
cluster_continue(struct cluster *c, uint32_t host)
{
    struct machine *m = &c->machine[host];
    trace(c, host, "continue");
    m->slept_us += m->suspended ? machine_now(c, host) - m->suspended_us : 0;
    m->stopped = m->suspended = 0;
    programs_continue(c, host);
    for (size_t i = 0; i < m->held.n; i++) {
        m->held.at[i].was_held = 1;
        m->held.at[i].at_us = c->now_us - 1; /* before what happens now: connections keep order */
        happen_push(c, m->held.at[i]);
    }
    m->held.n = 0;
    wake_later(c, host);
    work_again(c, host);
}

int
cluster_is_stopped(const struct cluster *c, uint32_t host)
{
    return c->machine[host].stopped;
}

void
cluster_clock_rate(struct cluster *c, uint32_t host, int32_t ppm)
{
    trace(c, host, "clock gains %" PRId32 " us/s", ppm);
    clock_set_rate(&c->machine[host].clock, c->now_us, ppm);
    wake_later(c, host);
}

void
cluster_short_of_memory(struct cluster *c, uint32_t host, uint32_t n)
{
    c->machine[host].allocations_left = n;
}
