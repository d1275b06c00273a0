/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exchange sessions (DESIGN section 6): every host meets its linked neighbours one after the other in the
 * order of the edge colours; a sweep meets each once. A colour waits for its partner alone, so neighbours
 * stay within a sweep of one another and the asynchronous run equals a synchronous one; what is missed
 * by a timeout counts as a disturbance. XL95's counters tell when all is stable, in a large cluster all
 * within LBM_VIEW_HORIZON. A host that has settled opens no sessions, but answers those of its neighbours;
 * only if something moves it sweeps again. So what a change costs does not grow with the cluster. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/internal.h"

static void open_colour(struct lbm_node *node, struct job *job);
static void receive_next(struct lbm_node *node, struct job *job);
static void notify_neighbours(struct lbm_node *node, const struct job *job, enum lbm_notice kind);

/* The partner of this host at a colour, or LBM_NONE. */
static uint32_t
partner_at(const struct lbm_node *node, uint32_t colour)
{
    const struct lbm_hosts *h = &node->view.hosts;
    uint32_t self = lbm_view_number(&node->view, node->host);
    for (uint32_t e = h->offset[self]; e < h->offset[self + 1]; e++)
        if (node->view.colour[e] == colour)
            return lbm_view_host(&node->view, h->target[e]);
    return LBM_NONE;
}

uint64_t
session_load(const struct job *job)
{
    uint64_t leaving = 0;
    for (size_t i = 0; i < job->releasing.n; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[job->releasing.at[i]];
        leaving += vertex->stage == LBM_STAGE_OWN && vertex->move_to != LBM_NONE ? vertex->work : 0;
    }
    return job->shard.load > leaving ? job->shard.load - leaving : 0;
}

/* Negative, 0 or positive: where a message stands against this session's place. */
static int
compare_place(const struct session *s, uint64_t sweep, uint32_t colour)
{
    if (sweep != s->sweep)
        return sweep < s->sweep ? -1 : 1;
    return colour < s->colour ? -1 : colour > s->colour;
}

/* ---- where there is room ------------------------------------------------------------------------------ */

static const struct slack no_slack = {.hops = SLACK_HOPS_MAX, .via = LBM_NONE, .other = SLACK_HOPS_MAX};

static uint32_t
one_hop_more(const struct lbm_node *node, uint32_t hops)
{
    return hops + 1 < node->view.hosts.n ? hops + 1 : SLACK_HOPS_MAX;
}

static void
slack_hear(struct session *s, uint32_t from, uint32_t hops)
{
    struct slack *heard = &s->slack_heard;
    if (hops < heard->hops)
        *heard = (struct slack){.hops = hops, .via = from, .other = heard->hops};
    else if (hops < heard->other)
        heard->other = hops;
}

static uint32_t
slack_told(const struct session *s, uint32_t partner)
{
    return partner == s->slack.via ? s->slack.other : s->slack.hops;
}

/* ---- messages sent ----------------------------------------------------------------------------------------
 */

static void
send_notice(struct lbm_node *node, const struct job *job, uint32_t host, enum lbm_notice kind)
{
    Lbm__PairNotice notice = LBM__PAIR_NOTICE__INIT;
    notice.job = job->id;
    notice.kind = kind;
    notice.sweep = job->session.sweep;
    notice.colour = job->session.colour;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_PAIR_NOTICE;
    message.pair_notice = &notice;
    send_peer(node, host, &message);
}

/* A number that changes whenever this host might decide otherwise than before; 0 while it has too much, or
 * something is on its way. */
static uint64_t
stillness(const struct lbm_node *node, const struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    int moves =
        job->shard.n_out != 0 || job->unfinished.n != 0 || job->releasing.n != 0 || stream_lag(node) != 0;
    return moves || session_load(job) > job_limit(node, entry, node->host) ? 0 : job->shard.version + 1;
}

static struct quiet *
quiet_with(struct session *s, uint32_t host)
{
    for (size_t i = 0; i < s->quiet.n; i++)
        if (s->quiet.at[i].host == host)
            return &s->quiet.at[i];
    return NULL;
}

/* Nonzero if nothing moved between both as they stand, and would not now. */
static int
is_quiet(struct session *s)
{
    const struct quiet *quiet = quiet_with(s, s->partner);
    return quiet != NULL && s->still != 0 && s->still_heard != 0 && quiet->own == s->still &&
           quiet->theirs == s->still_heard && quiet->times >= QUIET_TIMES;
}

/* The session under way has moved nothing. */
static void
remember_quiet(struct lbm_node *node, struct session *s)
{
    struct quiet *quiet = quiet_with(s, s->partner), fresh = {.host = s->partner};
    if (quiet == NULL) {
        if (lbm_vec_push(&s->quiet, fresh) != LBM_OK) {
            fail(node, LBM_E_NOMEM);
            return;
        }
        quiet = &s->quiet.at[s->quiet.n - 1];
    }
    int same = quiet->own == s->still && quiet->theirs == s->still_heard;
    quiet->times = same ? quiet->times + 1 : 1;
    quiet->own = s->still;
    quiet->theirs = s->still_heard;
}

static void
send_open(struct lbm_node *node, struct job *job)
{
    struct session *s = &job->session;
    Lbm__PairOpen open = LBM__PAIR_OPEN__INIT;
    open.job = job->id;
    open.sweep = s->sweep;
    open.colour = s->colour;
    open.load = session_load(job);
    open.counter = s->termination.counter;
    open.slack_hops = slack_told(s, s->partner);
    open.topology = node->view.topology;
    open.still = s->still = stillness(node, job);
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_PAIR_OPEN;
    message.pair_open = &open;
    send_peer(node, s->partner, &message);
    s->retry_us = INT64_MAX;
}

static struct early_open *
early_from(struct lbm_node *node, struct session *s, uint32_t host)
{
    for (size_t i = 0; i < s->early.n; i++)
        if (s->early.at[i].host == host)
            return &s->early.at[i];
    struct early_open early = {.host = host};
    if (lbm_vec_push(&s->early, early) != LBM_OK) {
        fail(node, LBM_E_NOMEM);
        return NULL;
    }
    return &s->early.at[s->early.n - 1];
}

/* ---- one colour after the other --------------------------------------------------------------------- */

static int
has_room(const struct lbm_node *node, const struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    uint32_t least = job->shard.work_least != LBM_NONE ? job->shard.work_least : 1;
    return session_load(job) + least <= job_limit(node, entry, node->host);
}

static void
settle(struct lbm_node *node, struct job *job)
{
    session_stop(node, job);
    job_enter(node, job, LBM_PHASE_SETTLED);
    job->weighed_load = session_load(job);
    job->weighed_topology = node->view.topology;
    notify_neighbours(node, job, NOTICE_SETTLED);
    receive_next(node, job);
}

/* The sweep is over: count stability, and how far the nearest host with room is. Nonzero: go on now. */
static int
end_sweep(struct lbm_node *node, struct job *job)
{
    struct session *s = &job->session;
    s->slack = (struct slack){.via = LBM_NONE};
    if (!has_room(node, job))
        s->slack = (struct slack){.hops = one_hop_more(node, s->slack_heard.hops),
                                  .via = s->slack_heard.via,
                                  .other = one_hop_more(node, s->slack_heard.other)};
    s->slack_heard = no_slack;
    lbm_termination_sweep(&s->termination);
    /* With somebody missing nothing can settle; while nothing moves either there is no hurry. */
    int pause = node->view.n_colours != 0 && (s->n_met == 0 || (s->n_silent != 0 && !s->moved));
    if (s->was_silent && s->n_silent == 0)
        s->woken = s->sweep; /* who was missing is back: gains count from the start again */
    s->was_silent = s->n_silent != 0;
    s->n_met = s->n_silent = 0;
    s->moved = 0;
    s->sweep++;
    s->colour = 0;
    if (lbm_termination_done(&s->termination, node->view.diameter)) {
        settle(node, job);
        return 0;
    }
    if (pause) {
        s->retry_us = node->now_us + SWEEP_PAUSE_US;
        return 0;
    }
    return 1;
}

static void
answer(struct lbm_node *node, struct job *job, const struct early_open *open)
{
    struct session *s = &job->session;
    struct columns columns;
    slot_list band = {0};
    columns_init(&columns);
    lbm_termination_hear(&s->termination, open->counter);
    slack_hear(s, s->partner, open->slack_hops);
    s->still = stillness(node, job);
    s->still_heard = open->still;
    int same = is_quiet(s);
    if (!same && exchange_band(node, job, s->partner, &band) != LBM_OK)
        fail(node, LBM_E_NOMEM);
    for (size_t i = 0; i < band.n && node->failed == LBM_OK; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[band.at[i]];
        columns_add(node, &columns, job, vertex, vertex->epoch, 1);
    }
    columns_message(&columns);
    Lbm__PairAccept accept = LBM__PAIR_ACCEPT__INIT;
    accept.job = job->id;
    accept.sweep = s->sweep;
    accept.colour = s->colour;
    accept.load = session_load(job);
    int settled = job->phase == LBM_PHASE_SETTLED;
    accept.counter = settled ? node->view.diameter + 1 : s->termination.counter;
    accept.slack_hops = settled && has_room(node, job) ? 0 : slack_told(s, s->partner);
    accept.topology = node->view.topology;
    accept.band = &columns.message;
    accept.still = s->still;
    accept.same = same != 0;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_PAIR_ACCEPT;
    message.pair_accept = &accept;
    if (node->failed == LBM_OK)
        send_peer(node, s->partner, &message);
    columns_free(&columns);
    lbm_vec_free(&band);
    s->n_met++;
    s->state = SESSION_ANSWERED;
    s->retry_us = INT64_MAX;
    s->deadline_us = node->now_us + PAIR_HANDOFF_US;
}

/* Nonzero if the partner of this colour cannot be met: it is silent, or known to be further already. */
static int
is_missed(struct lbm_node *node, struct session *s)
{
    if (is_silent(node, s->partner, SILENT_US)) {
        s->n_silent++;
        return 1;
    }
    const struct early_open *early = early_from(node, s, s->partner);
    return early != NULL && early->set && compare_place(s, early->sweep, early->colour) > 0;
}

/* The partner waits to be asked. */
static int
is_settled(const struct job *job, const struct session *s, uint32_t host)
{
    const struct pulse *pulse = pulse_known(job, host);
    for (size_t i = 0; i < s->early.n; i++)
        if (s->early.at[i].host == host && s->early.at[i].settled)
            return 1;
    return pulse != NULL && pulse->phase == LBM_PHASE_SETTLED;
}

/* Begin the session of the present colour, passing colours without a partner and ends of sweeps. */
static void
open_colour(struct lbm_node *node, struct job *job)
{
    struct session *s = &job->session;
    s->state = SESSION_NONE;
    s->retry_us = INT64_MAX;
    if (!is_routable(node) || lbm_view_number(&node->view, node->host) == LBM_NONE)
        return; /* the log's next word on that begins anew */
    for (;; s->colour++) {
        while (s->colour >= node->view.n_colours)
            if (!end_sweep(node, job))
                return;
        s->partner = partner_at(node, s->colour);
        if (s->partner == LBM_NONE)
            continue;
        if (!is_missed(node, s))
            break;
        lbm_termination_disturb(&s->termination);
    }
    s->begun_us = node->now_us;
    s->deadline_us = node->now_us + PAIR_WAIT_US;
    if (node->host < s->partner || is_settled(job, s, s->partner)) {
        s->state = SESSION_OPENED;
        send_open(node, job);
        if (node->host < s->partner)
            return;
    } else {
        s->state = SESSION_AWAITED;
    }
    struct early_open *early = early_from(node, s, s->partner);
    if (early != NULL && early->set && early->is_open && compare_place(s, early->sweep, early->colour) == 0) {
        early->set = 0;
        answer(node, job, early);
    }
}

static void
next_colour(struct lbm_node *node, struct job *job)
{
    job->session.colour++;
    open_colour(node, job);
}

static void
notify_neighbours(struct lbm_node *node, const struct job *job, enum lbm_notice kind)
{
    const struct lbm_hosts *h = &node->view.hosts;
    uint32_t self = lbm_view_number(&node->view, node->host);
    if (!is_routable(node) || self == LBM_NONE)
        return;
    for (uint32_t e = h->offset[self]; e < h->offset[self + 1]; e++)
        send_notice(node, job, lbm_view_host(&node->view, h->target[e]), kind);
}

/* Leave the present place for one that a partner has reached already. The other partners hear of it, so
 * that none waits for a meeting that was passed over. */
static void
jump(struct lbm_node *node, struct job *job, uint64_t sweep, uint32_t colour)
{
    job->session.sweep = sweep;
    job->session.colour = colour;
    lbm_termination_reset(&job->session.termination);
    lbm_termination_disturb(&job->session.termination);
    notify_neighbours(node, job, NOTICE_AHEAD);
    open_colour(node, job);
}

void
session_start(struct lbm_node *node, struct job *job)
{
    struct session *s = &job->session;
    lbm_termination_reset(&s->termination);
    s->woken = s->sweep;
    s->colour = 0;
    s->n_met = s->n_silent = 0;
    s->slack = s->slack_heard = no_slack;
    s->state = SESSION_NONE;
    s->retry_us = node->now_us; /* from the timer: the caller may be inside a handler */
}

/* Forget what is under way; handoffs that have begun run to their end by themselves. */
void
session_stop(struct lbm_node *node, struct job *job)
{
    struct session *s = &job->session;
    for (size_t i = 0; i < job->out.n; i++)
        job->shard.vertices.at[job->out.at[i]].in_session = 0;
    for (size_t i = 0; i < job->releasing.n; i++)
        job->shard.vertices.at[job->releasing.at[i]].in_session = 0;
    s->state = SESSION_NONE;
    s->retry_us = INT64_MAX;
    s->leaving = 0;
    s->arriving.n = 0;
    (void)node;
}

static void
finish_if_over(struct lbm_node *node, struct job *job)
{
    struct session *s = &job->session;
    if (s->state == SESSION_MOVING && s->leaving == 0 && s->arriving.n == 0)
        next_colour(node, job);
}

void
session_left(struct lbm_node *node, struct job *job)
{
    if (job->session.leaving != 0)
        job->session.leaving--;
    finish_if_over(node, job);
}

void
session_arrived(struct lbm_node *node, struct job *job, uint32_t vertex)
{
    struct session *s = &job->session;
    for (size_t i = 0; i < s->arriving.n; i++)
        if (s->arriving.at[i] == vertex) {
            s->arriving.at[i] = s->arriving.at[--s->arriving.n];
            break;
        }
    finish_if_over(node, job);
}

/* The partner is late. One that is alive is asked again and waited for, since it may itself wait for
 * somebody: only the neighbours of a dead host pass it over, the others keep in step. */
static void
late(struct lbm_node *node, struct job *job)
{
    struct session *s = &job->session;
    int waits = (s->state == SESSION_OPENED || s->state == SESSION_AWAITED) &&
                !is_silent(node, s->partner, SILENT_US) && node->now_us - s->begun_us < PAIR_PATIENCE_US;
    if (waits) {
        s->deadline_us = node->now_us + PAIR_WAIT_US;
        if (s->state == SESSION_OPENED)
            send_open(node, job);
        else
            send_notice(node, job, s->partner, NOTICE_ASK); /* it may have settled without us */
        return;
    }
    if (s->state == SESSION_MOVING && !is_silent(node, s->partner, SILENT_US) &&
        node->now_us - s->begun_us < PAIR_MOVING_US) { /* an application takes its time to let go */
        s->deadline_us = node->now_us + PAIR_HANDOFF_US;
        return;
    }
    uint32_t partner = s->partner;
    session_stop(node, job);
    lbm_termination_disturb(&s->termination);
    next_colour(node, job);
    if (!is_silent(node, partner, SILENT_US))
        send_notice(node, job, partner, NOTICE_AHEAD); /* else it may answer later, and wait for the plan */
}

/* ---- a host that has settled ---------------------------------------------------------------------------
 */

/* Take part in the session that a neighbour opens. */
static void
receive(struct lbm_node *node, struct job *job, struct early_open *visitor)
{
    struct session *s = &job->session;
    s->sweep = visitor->sweep;
    s->colour = visitor->colour;
    s->partner = visitor->host;
    s->begun_us = node->now_us;
    visitor->set = 0;
    answer(node, job, visitor);
    s->deadline_us = node->now_us + PAIR_WAIT_US;
}

/* The neighbour that has waited longest, if one still does: who waits asks again. */
static void
receive_next(struct lbm_node *node, struct job *job)
{
    struct session *s = &job->session;
    struct early_open *next = NULL;
    for (size_t i = 0; i < s->early.n; i++) {
        struct early_open *early = &s->early.at[i];
        if (early->set && early->is_open && node->now_us - early->heard_us < PAIR_WAIT_US &&
            (next == NULL || early->heard_us < next->heard_us))
            next = early;
    }
    if (next != NULL && is_routable(node) && lbm_view_number(&node->view, next->host) != LBM_NONE)
        receive(node, job, next);
}

/* More has come than this host should have, or its share has become smaller. */
static int
is_overloaded(const struct lbm_node *node, struct job *job)
{
    uint64_t load = session_load(job);
    if (load == job->weighed_load && node->view.topology == job->weighed_topology)
        return 0;
    int has_grown = load > job->weighed_load || node->view.topology != job->weighed_topology;
    job->weighed_load = load;
    job->weighed_topology = node->view.topology;
    return has_grown && load > job_limit(node, lbm_view_job(&node->view, job->id), node->host);
}

static void
settled_timer(struct lbm_node *node, struct job *job)
{
    struct session *s = &job->session;
    if (s->state != SESSION_NONE) {
        if (node->now_us < s->deadline_us)
            return;
        session_stop(node, job); /* the visitor has gone */
        receive_next(node, job);
    } else if (is_overloaded(node, job)) {
        job_enter(node, job, LBM_PHASE_BALANCING);
    }
}

/* Nonzero if the entry at hand is about this host, or one that it is linked to. */
static int
is_near(const struct lbm_node *node, int all)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    int near = all || self == NULL;
    for (size_t i = 0; i < node->view.touched.n && !near; i++) {
        const struct lbm_member *other = lbm_view_member(&node->view, node->view.touched.at[i]);
        near = other == self;
        for (size_t k = 0; k < self->n_links; k++)
            near |= self->links[k].q == other->host;
        for (size_t k = 0; k < other->n_links; k++)
            near |= other->links[k].q == self->host;
    }
    return near;
}

void
session_topology_changed(struct lbm_node *node, struct job *job, int all)
{
    if (job->phase < LBM_PHASE_BALANCING)
        return;
    session_stop(node, job);
    level_stop(node, job);
    for (size_t i = 0; i < job->session.early.n; i++)
        job->session.early.at[i].set = 0; /* colours are others now */
    if (job->phase == LBM_PHASE_BALANCING || is_near(node, all))
        job_enter(node, job, LBM_PHASE_BALANCING);
}

void
session_timer(struct lbm_node *node, struct job *job)
{
    struct session *s = &job->session;
    if (job->phase == LBM_PHASE_SETTLED) {
        settled_timer(node, job);
        return;
    }
    if (job->phase != LBM_PHASE_BALANCING || !is_routable(node) ||
        lbm_view_number(&node->view, node->host) == LBM_NONE)
        return;
    if (s->state == SESSION_NONE) {
        if (node->now_us >= s->retry_us)
            open_colour(node, job);
    } else if (node->now_us >= s->deadline_us) {
        late(node, job);
    } else if (s->state == SESSION_OPENED && node->now_us >= s->retry_us) {
        send_open(node, job);
    }
}

/* ---- messages ---------------------------------------------------------------------------------------- */

void
on_pair_open(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__PairOpen *open = message->pair_open;
    struct job *job = job_of(node, open->job);
    if (job == NULL || !is_routable(node) || open->topology != node->view.topology)
        return;
    struct session *s = &job->session;
    if (job->phase < LBM_PHASE_BALANCING || job->level.state != LEVEL_NONE) {
        send_notice(node, job, message->src, NOTICE_NOT_READY);
        return;
    }
    int place = compare_place(s, open->sweep, open->colour);
    struct early_open *early = early_from(node, s, message->src);
    if (early == NULL)
        return;
    *early = (struct early_open){.host = message->src,
                                 .set = 1,
                                 .is_open = 1,
                                 .sweep = open->sweep,
                                 .colour = open->colour,
                                 .load = open->load,
                                 .counter = open->counter,
                                 .slack_hops = open->slack_hops,
                                 .still = open->still,
                                 .heard_us = node->now_us};
    int awaits = s->state == SESSION_AWAITED || (s->state == SESSION_OPENED && message->src < node->host);
    if (job->phase == LBM_PHASE_SETTLED) {
        if (s->state == SESSION_NONE || s->partner == message->src)
            receive(node, job, early);
    } else if (place < 0) {
        early->set = 0;
        send_notice(node, job, message->src, NOTICE_AHEAD);
    } else if (place == 0 && awaits && s->partner == message->src) {
        early->set = 0;
        answer(node, job, early);
    } else if (place > 0 && s->state == SESSION_ANSWERED && s->partner == message->src) {
        session_stop(node, job); /* it has given up the session that this host answered */
        jump(node, job, open->sweep, open->colour);
    } else if (open->sweep > s->sweep + 1 &&
               (s->state == SESSION_NONE || s->state == SESSION_OPENED || s->state == SESSION_AWAITED)) {
        jump(node, job, open->sweep, open->colour);
    }
}

/* Hand over the vertices of a plan's list that are still ours; records them as part of the session. */
static void
give_away(struct lbm_node *node, struct job *job, uint32_t to, size_t n, const uint32_t *vertex,
          const uint64_t *epoch)
{
    for (size_t i = 0; i < n && node->failed == LBM_OK; i++) {
        struct lbm_vertex *own = lbm_shard_vertex(&job->shard, vertex[i]);
        if (own == NULL || own->epoch != epoch[i] || !handoff_begin(node, job, own, to))
            continue;
        own->in_session = 1;
        job->session.leaving++;
    }
}

static void
start_moving(struct lbm_node *node, struct job *job, size_t n_arriving, const uint32_t *arriving)
{
    struct session *s = &job->session;
    s->arriving.n = 0;
    for (size_t i = 0; i < n_arriving; i++)
        if (lbm_vec_push(&s->arriving, arriving[i]) != LBM_OK)
            fail(node, LBM_E_NOMEM);
    s->state = SESSION_MOVING;
    s->moved = 1;
    s->deadline_us = node->now_us + PAIR_HANDOFF_US;
    lbm_termination_disturb(&s->termination);
}

static enum lbm_err
send_plan(struct lbm_node *node, struct job *job, const struct exchange *exchange, const Lbm__Records *band,
          uint64_t *give_epoch)
{
    uint64_t *take_epoch = lbm_alloc(exchange->take.n, sizeof *take_epoch);
    if (take_epoch == NULL)
        return LBM_E_NOMEM;
    for (size_t i = 0; i < exchange->take.n; i++)
        for (size_t k = 0; k < band->n_vertex; k++)
            if (band->vertex[k] == exchange->take.at[i])
                take_epoch[i] = band->epoch[k];
    Lbm__PairPlan plan = LBM__PAIR_PLAN__INIT;
    plan.job = job->id;
    plan.sweep = job->session.sweep;
    plan.colour = job->session.colour;
    plan.n_give = plan.n_give_epoch = exchange->give.n;
    plan.give = exchange->give.at;
    plan.give_epoch = give_epoch;
    plan.n_take = plan.n_take_epoch = exchange->take.n;
    plan.take = exchange->take.at;
    plan.take_epoch = take_epoch;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_PAIR_PLAN;
    message.pair_plan = &plan;
    send_peer(node, job->session.partner, &message);
    free(take_epoch);
    return LBM_OK;
}

/* The opener decides, tells, and both sides hand over. */
static void
carry_out(struct lbm_node *node, struct job *job, const struct exchange *exchange, const Lbm__Records *band)
{
    uint32_t partner = job->session.partner;
    uint64_t *give_epoch = lbm_alloc(exchange->give.n, sizeof *give_epoch);
    if (give_epoch == NULL) {
        fail(node, LBM_E_NOMEM);
        return;
    }
    for (size_t i = 0; i < exchange->give.n; i++)
        give_epoch[i] = lbm_shard_vertex(&job->shard, exchange->give.at[i])->epoch;
    if (send_plan(node, job, exchange, band, give_epoch) != LBM_OK)
        fail(node, LBM_E_NOMEM);
    if (exchange->give.n + exchange->take.n != 0) {
        start_moving(node, job, exchange->take.n, exchange->take.at);
        give_away(node, job, partner, exchange->give.n, exchange->give.at, give_epoch);
        finish_if_over(node, job);
    } else {
        next_colour(node, job);
    }
    free(give_epoch);
}

void
on_pair_accept(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__PairAccept *accept = message->pair_accept;
    struct job *job = job_of(node, accept->job);
    if (job == NULL || accept->band == NULL || job->phase != LBM_PHASE_BALANCING ||
        job->session.state != SESSION_OPENED || job->session.partner != message->src ||
        accept->topology != node->view.topology ||
        compare_place(&job->session, accept->sweep, accept->colour) != 0)
        return;
    struct session *s = &job->session;
    s->n_met++;
    s->retry_us = INT64_MAX;
    lbm_termination_hear(&s->termination, accept->counter);
    slack_hear(s, message->src, accept->slack_hops);
    struct exchange exchange = {0};
    s->still_heard = accept->still;
    if (!accept->same && exchange_decide(node, job, message->src, accept, &exchange) != LBM_OK) {
        fail(node, LBM_E_NOMEM);
    } else {
        if (exchange.give.n + exchange.take.n == 0)
            remember_quiet(node, s);
        carry_out(node, job, &exchange, accept->band);
    }
    lbm_vec_free(&exchange.give);
    lbm_vec_free(&exchange.take);
}

void
on_pair_plan(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__PairPlan *plan = message->pair_plan;
    struct job *job = job_of(node, plan->job);
    if (job == NULL || job->phase < LBM_PHASE_BALANCING || job->session.state != SESSION_ANSWERED ||
        job->session.partner != message->src || compare_place(&job->session, plan->sweep, plan->colour) != 0)
        return;
    int settled = job->phase == LBM_PHASE_SETTLED;
    if (plan->n_give + plan->n_take == 0) {
        remember_quiet(node, &job->session);
        if (settled) {
            session_stop(node, job);
            receive_next(node, job);
        } else {
            next_colour(node, job);
        }
        return;
    }
    if (settled) { /* from here on it sweeps again, with this session as the first */
        job_enter(node, job, LBM_PHASE_BALANCING);
        job->session.colour = plan->colour;
        job->session.retry_us = INT64_MAX;
    }
    start_moving(node, job, plan->n_give, plan->give);
    give_away(node, job, message->src, plan->n_take, plan->take, plan->take_epoch);
    finish_if_over(node, job);
}

/* A partner is further than this host, or was passed over: follow it if it is the one waited for, else
 * remember. */
static void
on_ahead(struct lbm_node *node, struct job *job, uint32_t from, const Lbm__PairNotice *notice)
{
    struct session *s = &job->session;
    if (compare_place(s, notice->sweep, notice->colour) <= 0)
        return;
    int is_over = s->state == SESSION_OPENED || s->state == SESSION_AWAITED || s->state == SESSION_ANSWERED;
    if (is_over && s->partner == from) {
        session_stop(node, job);
        if (job->phase == LBM_PHASE_SETTLED)
            receive_next(node, job);
        else
            jump(node, job, notice->sweep, notice->colour);
        return;
    }
    struct early_open *early = early_from(node, s, from);
    if (early != NULL && (!early->set || compare_place(s, early->sweep, early->colour) <= 0))
        *early =
            (struct early_open){.host = from, .set = 1, .sweep = notice->sweep, .colour = notice->colour};
}

void
on_pair_notice(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__PairNotice *notice = message->pair_notice;
    struct job *job = job_of(node, notice->job);
    if (job == NULL || job->phase < LBM_PHASE_BALANCING)
        return;
    struct session *s = &job->session;
    int is_opened = s->state == SESSION_OPENED && s->partner == message->src;
    switch ((enum lbm_notice)notice->kind) {
    case NOTICE_NOT_READY:
        if (is_opened)
            s->retry_us = node->now_us + NOTICE_RETRY_US;
        break;
    case NOTICE_AHEAD:
        on_ahead(node, job, message->src, notice);
        break;
    case NOTICE_SETTLED:
        if (early_from(node, s, message->src) != NULL)
            early_from(node, s, message->src)->settled = 1;
        if (job->phase == LBM_PHASE_BALANCING && s->state == SESSION_AWAITED && s->partner == message->src) {
            s->state = SESSION_OPENED;
            send_open(node, job);
        }
        break;
    case NOTICE_ASK:
        if (job->phase == LBM_PHASE_SETTLED)
            send_notice(node, job, message->src, NOTICE_SETTLED);
        else if (compare_place(s, notice->sweep, notice->colour) < 0)
            send_notice(node, job, message->src, NOTICE_AHEAD); /* it waits for a meeting that is over */
        break;
    }
}
