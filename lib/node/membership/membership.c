/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who belongs to the cluster and who was heard when: joining, activation, pings, silence. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/membership/internal.h"
#include "node/membership/membership.h"

static void
send_hello(struct lbm_node *node, uint32_t host)
{
    Lbm__Hello hello = LBM__HELLO__INIT;
    hello.protocol = node->view.protocol != 0 ? node->view.protocol : LBM_PROTOCOL_LEAST;
    hello.protocol_least = LBM_PROTOCOL_LEAST;
    hello.protocol_most = node->protocol_most;
    hello.name = node->name;
    hello.address = node->address;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_HELLO;
    message.hello = &hello;
    lbm_core_send_now(node, host,
                      &message); /* also while the disk is busy: a leader that lost its own waits for it */
}

/* FNV-1a. */
static uint64_t
address_hash(const char *address)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *address != '\0'; address++)
        hash = (hash ^ (uint8_t)*address) * UINT64_C(1099511628211);
    return hash;
}

/* A member that says another address than the log knows has moved: the log has its new one only once somebody
 * has answered it, which is at that address. What an operator has set instead of what it announces stays. */
static void
follow_member(struct lbm_node *node, const struct lbm_member *member, const char *address)
{
    struct peer *peer = lbm_membership_peer_of(node, member->host);
    uint64_t hash = address_hash(address);
    if (peer == NULL || strcmp(member->announced_address, address) == 0 || peer->address == hash)
        return;
    lbm_core_note(node, LBM_NOTE_INFO, "host %" PRIu32 " is at %.160s now, not at %.160s", member->host,
                  address, member->address);
    peer->dialled = 1;
    peer->address = hash;
    peer->outdated = address_hash(member->announced_address);
    lbm_core_dial(node, member->host, address);
}

/* Keep where a host says it is that is not a member yet; of too many the one that was silent longest goes. */
static void
keep_applicant(struct lbm_node *node, uint32_t host, const char *address)
{
    struct applicant *a = &node->applicants[0];
    for (size_t i = 0; i < LBM_APPLICANTS_MAX; i++) {
        struct applicant *other = &node->applicants[i];
        if (other->heard_us != 0 && other->host == host) {
            a = other;
            break;
        }
        a = other->heard_us < a->heard_us ? other : a;
    }
    a->host = host;
    a->heard_us = node->now_us;
    snprintf(a->address, sizeof a->address, "%s", address);
}

void
lbm_membership_outsider_heard(struct lbm_node *node, uint32_t host)
{
    for (size_t i = 0; i < LBM_APPLICANTS_MAX; i++)
        if (node->applicants[i].heard_us != 0 && node->applicants[i].host == host)
            node->applicants[i].heard_us = node->now_us;
}

int
lbm_membership_is_outside(const struct lbm_node *node, const struct applicant *applicant)
{
    const struct lbm_member *member = lbm_view_member(&node->view, applicant->host);
    const struct peer *peer = lbm_membership_peer_known(node, applicant->host);
    return applicant->heard_us != 0 && node->now_us - applicant->heard_us <= UNREACHABLE_US &&
           (member == NULL || !lbm_view_participates(member)) && (peer == NULL || !peer->connected);
}

/* Nonzero if both programs speak what the cluster does, or will if that host joins. Else an operator has to
 * know which one is too old: its host is not listened to, and hears the same of this one. */
static int
speaks_alike(struct lbm_node *node, uint32_t host, const Lbm__Hello *hello)
{
    uint32_t least = hello->protocol_least != 0 ? hello->protocol_least : hello->protocol;
    uint32_t most = hello->protocol_most != 0 ? hello->protocol_most : hello->protocol;
    int is_too_old = most < node->view.protocol || most < LBM_PROTOCOL_LEAST;
    int is_too_new = least > node->protocol_most || hello->protocol > node->protocol_most;
    struct peer *peer =
        is_too_old || is_too_new ? lbm_membership_peer_of(node, host) : lbm_membership_peer_known(node, host);
    if (peer != NULL)
        peer->is_foreign = is_too_old || is_too_new;
    if (!is_too_old && !is_too_new)
        return 1;
    lbm_core_note(node, LBM_NOTE_WARNING,
                  "host %" PRIu32 " (%.60s) speaks protocols %" PRIu32 " to %" PRIu32 ", its cluster %" PRIu32
                  "; this host speaks %d to %" PRIu32 ", its cluster %" PRIu32
                  ": it is not listened to; install the newer lbmap "
                  "at %s",
                  host, hello->name, least, most, hello->protocol, LBM_PROTOCOL_LEAST, node->protocol_most,
                  node->view.protocol, is_too_old ? "that host" : "this one");
    return 0;
}

/* The address to answer a host at that is not a member yet, or has moved, comes with its Hello. */
void
lbm_membership_on_hello(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Hello *hello = message->hello;
    if (!speaks_alike(node, message->src, hello))
        return;
    const struct lbm_member *member = lbm_view_member(&node->view, message->src);
    if (member == NULL || !lbm_view_participates(member)) {
        keep_applicant(node, message->src, hello->address);
        lbm_core_dial(node, message->src, hello->address);
    } else if (message->src_incarnation >= member->incarnation) {
        follow_member(node, member, hello->address);
    }
}

/* What this host announced last is what its configuration says. An operator may have set other values. */
static int
is_announced(const struct lbm_node *node, const struct lbm_member *self)
{
    if (self->announced_capacity != node->capacity || self->n_announced_links != node->n_links ||
        strcmp(self->announced_address, node->address) != 0 || strcmp(self->name, node->name) != 0 ||
        strcmp(self->failure_domain, node->failure_domain) != 0 || self->protocol != node->protocol_most)
        return 0;
    for (size_t i = 0; i < node->n_links; i++)
        if (self->announced_links[i].q != node->links[i].q ||
            self->announced_links[i].cost != node->links[i].cost)
            return 0;
    return 1;
}

/* A host that was drained stays so until an operator asks it to join, however often it crashes meanwhile. */
static int
was_drained(const struct lbm_node *node, const struct lbm_member *self)
{
    const struct lbm_departed *gone =
        self != NULL ? lbm_view_departed(&node->view, self->host, self->incarnation) : NULL;
    return gone != NULL && gone->evicted && gone->was == LBM_MEMBER_DRAINING && !LBM_BUG(DRAINED_IS_ACTIVE);
}

static void
append_join(struct lbm_node *node)
{
    Lbm__Join join = LBM__JOIN__INIT;
    uint32_t *host = lbm_alloc(node->n_links, sizeof *host), *cost = lbm_alloc(node->n_links, sizeof *cost);
    if (host != NULL && cost != NULL) {
        for (size_t i = 0; i < node->n_links; i++) {
            host[i] = node->links[i].q;
            cost[i] = node->links[i].cost;
        }
        join.host = node->host;
        join.incarnation = node->incarnation;
        join.name = node->name;
        join.address = node->address;
        join.capacity = node->capacity;
        join.n_link_host = join.n_link_cost = node->n_links;
        join.link_host = host;
        join.link_cost = cost;
        join.failure_domain = node->failure_domain;
        join.protocol = node->protocol_most;
        join.drains = was_drained(node, lbm_view_member(&node->view, node->host)) != 0;
        Lbm__Command command = LBM__COMMAND__INIT;
        command.what_case = LBM__COMMAND__WHAT_JOIN;
        command.join = &join;
        node->raise->log_append(node, &command);
    } else {
        lbm_core_fail(node, LBM_E_NOMEM);
    }
    free(host);
    free(cost);
}

static void
append_activate(struct lbm_node *node)
{
    double site[LBM_DIMENSIONS_MAX];
    if (node->has_site)
        memcpy(site, node->site, sizeof site);
    else
        lbm_view_site_near(&node->view, node->host, site);
    Lbm__Activate activate = LBM__ACTIVATE__INIT;
    activate.host = node->host;
    activate.incarnation = node->incarnation;
    activate.n_site = node->view.m;
    activate.site = site;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_ACTIVATE;
    command.activate = &activate;
    node->raise->log_append(node, &command);
}

/* A database that was lost or emptied: the host is a member, but knows nothing of it. It takes its old name;
 * its backup then tells whether anything is missing. */
static void
recognize(struct lbm_node *node, const struct lbm_member *self)
{
    if (self->incarnation <= node->incarnation || node->replication.seq != 0)
        return;
    node->incarnation = self->incarnation;
    struct lbm_persist_op op = {.kind = LBM_PERSIST_SELF};
    op.as.self.host = node->host;
    op.as.self.incarnation = node->incarnation;
    lbm_core_persist(node, op);
    node->raise->replication_view_changed(node);
}

/* Propose the next step towards membership, once the log is known in full and nothing is proposed yet. */
static void
advance(struct lbm_node *node)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    if (self != NULL && lbm_view_participates(self) && !node->resetting)
        recognize(node, self); /* before the log's end is known, as a disk from before a reset is given up */
    if (!node->caught_up || node->join_refused || node->resetting || node->view.index == 0 ||
        node->appends.n != 0 || node->log_waits.n != 0 || node->held != 0)
        return;
    if (lbm_view_departed(&node->view, node->host, node->incarnation) != NULL)
        return; /* takeover.c knows what follows */
    int is_member = self != NULL && self->incarnation == node->incarnation;
    int may_act = self == NULL || lbm_view_is_alone(self) || lbm_view_in_sync(&node->view, self);
    if (!is_member || !is_announced(node, self))
        append_join(node);
    else if (self->state == LBM_MEMBER_JOINING && may_act && lbm_membership_may_activate(node, self))
        append_activate(node);
}

static void
dial_member(struct lbm_node *node, const struct lbm_member *member)
{
    struct peer *peer = member->host != node->host ? lbm_membership_peer_of(node, member->host) : NULL;
    uint64_t address = peer != NULL && lbm_view_participates(member) ? address_hash(member->address) : 0;
    if (peer == NULL || !lbm_view_participates(member) || (peer->dialled && peer->address == address))
        return;
    if (peer->outdated != 0 && peer->outdated == address_hash(member->announced_address))
        return; /* it has said better meanwhile */
    peer->outdated = 0;
    peer->dialled = 1;
    peer->address = address;
    lbm_core_dial(node, member->host, member->address);
}

static void
dial_members(struct lbm_node *node, int all)
{
    size_t n = all ? node->view.members.n : node->view.touched.n;
    for (size_t i = 0; i < n; i++)
        dial_member(node,
                    all ? &node->view.members.at[i] : lbm_view_member(&node->view, node->view.touched.at[i]));
}

void
lbm_membership_start(struct lbm_node *node)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    if (self != NULL)
        recognize(node, self);
    for (size_t i = 0; i < node->n_contacts && node->configured == LBM_LOG_ENGINE_LOCAL; i++)
        if (lbm_view_member(&node->view, node->contacts[i].host) == NULL)
            lbm_core_dial(node, node->contacts[i].host, node->contacts[i].address);
    lbm_membership_changed(node, 1);
    node->ping_us = node->now_us;
}

void
lbm_membership_changed(struct lbm_node *node, int all)
{
    if (node->starting)
        return;
    int topology_changed = node->topology != node->view.topology;
    node->topology = node->view.topology;
    dial_members(node, all);
    node->raise->replication_view_changed(node);
    node->raise->replication_replicas_view_changed(node);
    lbm_membership_maintenance_view_changed(node, all);
    lbm_membership_detector_view_changed(node, all);
    node->raise->job_view_changed(node, topology_changed, all);
}

static void
fill_load_report(const struct lbm_node *node, const struct job *job, Lbm__LoadReport *load_report)
{
    lbm__load_report__init(load_report);
    load_report->job = job->id;
    load_report->phase = job->phase;
    load_report->vertices = job->shard.n_own + job->shard.n_out;
    load_report->load = job->shard.load;
    load_report->sweep = job->rounds.sweep;
    load_report->counter = job->rounds.termination.counter;
    load_report->largest = job->largest;
    load_report->normalization = job->normalization_seq;
    load_report->moved = job->moved;
    load_report->ready = node->raise->job_is_ready(node, job) != 0;
    load_report->flow_sweeps = job->flow.sweeps;
    load_report->flow_words = job->flow.words;
    load_report->flow = job->flow.flow;
    load_report->transfer_us = job->flow.transfer_us;
    load_report->whole = job->shard.load + job->shard.load_out;
    load_report->epoch_top = job->shard.epoch_top;
    node->raise->exchange_load_report(node, job, load_report);
}

enum { SUSPECTS_TOLD = 64 };

/* Who else may have heard of a suspect, or not: its neighbours and its backup. */
static enum lbm_err
add_neighbours_of(const struct lbm_node *node, uint32_t suspect, host_list *to)
{
    const struct lbm_member *member = lbm_view_member(&node->view, suspect);
    enum lbm_err err = LBM_OK;
    for (unsigned k = 0; member != NULL && err == LBM_OK && k < node->view.copies; k++)
        err = lbm_vec_push(to, member->backups[k].host);
    for (size_t k = 0; member != NULL && err == LBM_OK && k < member->n_links; k++)
        err = lbm_vec_push(to, member->links[k].q);
    return err;
}

static int
ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Nonzero if the coordinator of a job has something to say that all are to hear at once. */
static int
tells_all(struct lbm_node *node)
{
    int tells = 0;
    for (size_t i = 0; i < node->jobs.n; i++) {
        struct job *job = node->jobs.at[i];
        tells |= job->remap.to_all != 0;
        job->remap.to_all -= job->remap.to_all != 0;
    }
    return tells;
}

/* Hosts to send this round of pings to, ascending, some more than once: those that are watched, coordinators
 * of jobs, those who know suspects, and of all others a few in turn. */
static enum lbm_err
choose_pinged(struct lbm_node *node, host_list *to)
{
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < node->watched.n; i++) {
        const struct peer *peer = lbm_membership_peer_known(node, node->watched.at[i]);
        err = lbm_vec_push(to, node->watched.at[i]);
        if (err == LBM_OK && peer != NULL && peer->suspect_us != 0)
            err = add_neighbours_of(node, peer->host, to);
    }
    for (size_t i = 0; err == LBM_OK && i < node->view.jobs.n; i++)
        err = lbm_vec_push(to, node->view.jobs.at[i].coordinator);
    int is_for_all = tells_all(node);
    for (size_t i = 0; err == LBM_OK && i < (is_for_all ? node->view.members.n : ROTATING_PINGS) &&
                       i < node->view.members.n;
         i++)
        err = lbm_vec_push(to, node->view.members.at[(node->ping_turn + i) % node->view.members.n].host);
    if (err == LBM_OK)
        err = lbm_membership_network_pay(node, to);
    if (err == LBM_OK && to->n != 0)
        qsort(to->at, to->n, sizeof *to->at, ascending);
    node->ping_turn += ROTATING_PINGS;
    return err;
}

static void
send_pings(struct lbm_node *node)
{
    Lbm__LoadReport load_reports[LBM_JOBS_MAX], *list[LBM_JOBS_MAX];
    Lbm__Ping ping = LBM__PING__INIT;
    ping.seq = ++node->ping_seq;
    ping.jobs = list;
    for (size_t i = 0; i < node->jobs.n && ping.n_jobs < LBM_JOBS_MAX; i++) {
        if (lbm_view_job(&node->view, node->jobs.at[i]->id) == NULL)
            continue;
        list[ping.n_jobs] = &load_reports[ping.n_jobs];
        fill_load_report(node, node->jobs.at[i], &load_reports[ping.n_jobs++]);
    }
    uint32_t suspect[SUSPECTS_TOLD];
    ping.suspect = suspect;
    for (size_t i = 0; i < node->watched.n && ping.n_suspect < SUSPECTS_TOLD; i++) {
        const struct peer *peer = lbm_membership_peer_known(node, node->watched.at[i]);
        if (peer != NULL && peer->suspect_us != 0)
            suspect[ping.n_suspect++] = peer->host;
    }
    ping.lag = lbm_local_replication_lag(node);
    ping.backup_lost = lbm_membership_has_lost_backup(node) != 0;
    ping.etcd = (uint32_t)node->ensemble.ability;
    ping.inherits = !lbm_local_takeovers_done(node);
    ping.idle = !lbm_local_lease_holds(node) && !LBM_BUG(SETTLED_WITHOUT_LEASE);
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_PING;
    message.ping = &ping;
    host_list to = {0};
    if (choose_pinged(node, &to) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    for (size_t i = 0; node->failed == LBM_OK && i < to.n; i++) {
        const struct lbm_member *member = lbm_view_member(&node->view, to.at[i]);
        if (member != NULL && member->host != node->host && lbm_view_participates(member) &&
            (i == 0 || to.at[i - 1] != to.at[i])) {
            lbm_membership_network_fill(node, member->host, &ping);
            lbm_core_send_lossy(node, member->host, &message);
        }
    }
    lbm_vec_free(&to);
}

/* What others know of epochs is taken by steps: those that are real come within a few pings, however many
 * there are. */
static uint64_t
epoch_step(uint64_t known, uint64_t heard)
{
    return heard - known <= LBM_EPOCH_STEP ? heard : known + LBM_EPOCH_STEP;
}

enum { LOAD_TIMES = 4 }; /* what is known of the whole load may be a little old */

/* A load that no host can have counts as the most that one can: several times what all have, and
 * LBM_LOAD_MAX. */
static uint64_t
bounded(struct lbm_node *node, const Lbm__Peer *message, const struct job *job, const char *what,
        uint64_t value)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    uint64_t whole = entry != NULL ? lbm_local_load_whole(node, entry) : 0;
    uint64_t most = whole > LBM_LOAD_MAX / LOAD_TIMES ? whole * LOAD_TIMES : LBM_LOAD_MAX;
    if (value <= LBM_LOAD_MAX || value <= most)
        return value;
    lbm_local_refused(node, "host %" PRIu32 " says %s %" PRIu64 ", which no host has: it counts as %" PRIu64,
                      message->src, what, value, most);
    return most;
}

/* A host has no more vertices of a job than the job has ids; who knows a later view may know of more. */
static uint32_t
bounded_vertices(struct lbm_node *node, const Lbm__Peer *message, const Lbm__LoadReport *heard)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, heard->job);
    uint32_t most = entry != NULL ? entry->ids : 0;
    if (entry != NULL && heard->vertices > most && message->view <= node->view.index)
        lbm_local_refused(node,
                          "host %" PRIu32 " says that it has %" PRIu32
                          " vertices of job %s, which has no more than %" PRIu32 ": it counts as these",
                          message->src, heard->vertices, entry->name, most);
    return heard->vertices < most ? heard->vertices : most;
}

void
lbm_membership_on_ping(struct lbm_node *node, const Lbm__Peer *message)
{
    struct peer *peer = lbm_membership_peer_of(node, message->src);
    if (peer == NULL)
        return;
    peer->vertices = 0;
    peer->told_us = node->now_us;
    peer->lag = message->ping->lag;
    peer->backup_lost = message->ping->backup_lost != 0;
    peer->etcd = message->ping->etcd < LBM_ETCD_ABILITY_COUNT ? (enum lbm_etcd_ability)message->ping->etcd
                                                              : LBM_ETCD_ABILITY_NONE;
    peer->is_idle = message->ping->idle != 0;
    peer->inherits = message->ping->inherits != 0;
    peer->view = message->view;
    lbm_membership_network_heard(node, message);
    lbm_membership_suspicion_heard(node, message->src, message->ping->n_suspect, message->ping->suspect);
    for (size_t i = 0; i < message->ping->n_jobs; i++) {
        const Lbm__LoadReport *heard = message->ping->jobs[i];
        struct job *job = lbm_local_job(node, heard->job);
        struct load_report *load_report = job != NULL ? lbm_local_report_of(job, message->src) : NULL;
        uint32_t vertices = bounded_vertices(node, message, heard);
        peer->vertices += vertices;
        if (job != NULL && heard->epoch_top > job->shard.epoch_top)
            job->shard.epoch_top = epoch_step(job->shard.epoch_top, heard->epoch_top);
        if (load_report == NULL || heard->phase >= LBM_PHASE_COUNT)
            continue;
        *load_report =
            (struct load_report){.host = message->src,
                                 .heard_us = node->now_us,
                                 .phase = (enum lbm_phase)heard->phase,
                                 .ready = heard->ready != 0,
                                 .incarnation = message->src_incarnation,
                                 .vertices = vertices,
                                 .load = bounded(node, message, job, "load", heard->load),
                                 .sweep = heard->sweep,
                                 .counter = heard->counter,
                                 .largest = heard->largest,
                                 .normalization = heard->normalization,
                                 .moved = bounded(node, message, job, "moves", heard->moved),
                                 .flow_sweeps = heard->flow_sweeps,
                                 .flow_words = bounded(node, message, job, "words", heard->flow_words),
                                 .flow = bounded(node, message, job, "flow", heard->flow),
                                 .transfer_us = heard->transfer_us,
                                 .whole = bounded(node, message, job, "load", heard->whole)};
        node->raise->exchange_load_heard(node, job, message->src, heard);
        job->heard_phase = load_report->phase > job->heard_phase ? load_report->phase : job->heard_phase;
        if (heard->normalization < job->normalization_seq)
            node->raise->mapping_normalization_send(node, job, message->src);
    }
}

int
lbm_membership_knows_ensembles(const struct lbm_node *node, uint32_t host)
{
    const struct peer *peer = lbm_membership_peer_known(node, host);
    return host == node->host || (peer != NULL && peer->etcd != LBM_ETCD_ABILITY_UNKNOWN);
}

int
lbm_membership_runs_etcd(const struct lbm_node *node, uint32_t host)
{
    const struct peer *peer = lbm_membership_peer_known(node, host);
    if (host == node->host)
        return node->ensemble.ability == LBM_ETCD_ABILITY_RUNS;
    return peer != NULL && peer->connected && peer->etcd == LBM_ETCD_ABILITY_RUNS &&
           !lbm_membership_is_unreachable(node, host, UNREACHABLE_US);
}

void
lbm_membership_timer(struct lbm_node *node)
{
    advance(node);
    if (node->now_us < node->ping_us)
        return;
    node->ping_us = node->now_us + PING_US;
    lbm_membership_network_timer(node);
    send_pings(node);
}

int
lbm_membership_is_contact(const struct lbm_node *node, uint32_t host)
{
    for (size_t i = 0; i < node->n_contacts; i++)
        if (node->contacts[i].host == host)
            return 1;
    return 0;
}

/* A connection that comes up says hello first; what was lost with the last one is told again. */
void
lbm_membership_connected(struct lbm_node *node, uint32_t host)
{
    struct peer *peer = lbm_membership_peer_of(node, host);
    if (peer != NULL) {
        peer->connected = 1;
        peer->is_behind = 0;
    }
    send_hello(node, host);
    if ((host == node->leader_host || lbm_membership_is_contact(node, host)) && !node->leader) {
        node->fetch_us = 0;
        node->raise->log_fetch(node);
    }
    node->raise->replication_connected(node, host);
    for (size_t i = 0; i < node->jobs.n; i++)
        lbm_local_ghosts_due(node->jobs.at[i], GHOSTS_ALL);
}
