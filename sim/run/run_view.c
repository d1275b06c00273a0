/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What hosts say of one another, as an operator would ask them, and what that operator does about it. */
#include <string.h>

#include "sim/run/run.h"

enum {
    AFTER_LOSS_US = 5000000, /* between two losses of a disk, at least */
    RENEWAL_US = 8000000,    /* until a loss is in the log, or replicas are renewed */
    PROMOTE_AGAIN_US = 4000000,
    ALONE_US = 15000000,    /* longer than a leader waits for one that does not answer */
    SUSPECTED_US = 3000000, /* a host that is down for so long may be evicted, also if it is back */
    BACK_US = 5000000,      /* since less than that */
};

static const Lbm__HostsReply *
hosts_as_seen_by(struct run *s, uint32_t host)
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOSTS;
    request.hosts = &empty;
    cluster_request(s->cluster, host, 0, &request);
    const Lbm__Response *response = cluster_reply(s->cluster, host, 0);
    return response != NULL && response->code == LBM_OK ? response->hosts : NULL;
}

int
run_all_active(struct cluster *cluster, void *arg)
{
    struct run *s = arg;
    uint32_t n_up = 0;
    for (uint32_t p = 0; p < s->h.n; p++)
        n_up += (uint32_t)cluster_is_up(cluster, p);
    for (uint32_t p = 0; p < s->h.n; p++) {
        if (!cluster_is_up(cluster, p))
            continue;
        const Lbm__HostsReply *reply = hosts_as_seen_by(s, p);
        uint32_t n_active = 0;
        for (size_t i = 0; reply != NULL && i < reply->n_hosts; i++)
            n_active += strcmp(reply->hosts[i]->state, "ACTIVE") == 0;
        if (n_active != n_up)
            return 0;
    }
    return 1;
}

/* One host's word about all of them. */
static int
is_repaired(const struct run *s, const Lbm__HostsReply *reply)
{
    if (reply == NULL || reply->n_hosts < 2)
        return 0;
    for (size_t i = 0; i < reply->n_hosts; i++) {
        const Lbm__HostEntry *entry = reply->hosts[i];
        int evicted = strcmp(entry->state, "EVICTED") == 0, left = strcmp(entry->state, "LEFT") == 0;
        if ((s->dead[entry->host] && !evicted && !left) || strcmp(entry->state, "DRAINING") == 0 ||
            (evicted && !entry->taken_over) ||
            (!evicted && !left && (!entry->insync || entry->backup == LBM_NONE)))
            return 0;
    }
    return 1;
}

int
run_in_sync(struct cluster *cluster, void *arg)
{
    struct run *s = arg;
    for (uint32_t p = 0; p < s->h.n; p++)
        if (cluster_is_up(cluster, p) && !is_repaired(s, hosts_as_seen_by(s, p)))
            return 0;
    return run_all_active(cluster, arg);
}

void
run_lost(struct run *s)
{
    s->loss_us = cluster_now(s->cluster);
    s->no_fault_until_us = s->loss_us + RENEWAL_US;
}

void
run_disk_lost(struct run *s)
{
    s->disk_lost = 1;
    run_lost(s);
}

static const Lbm__HostEntry *
entry_of(const Lbm__HostsReply *reply, uint32_t host)
{
    for (size_t i = 0; reply != NULL && i < reply->n_hosts; i++)
        if (reply->hosts[i]->host == host)
            return reply->hosts[i];
    return NULL;
}

uint32_t
run_second_backup(struct run *s, uint32_t host)
{
    const Lbm__HostEntry *entry =
        cluster_is_up(s->cluster, host) ? entry_of(hosts_as_seen_by(s, host), host) : NULL;
    return entry != NULL && entry->second_backup != 0 ? entry->second_backup - 1 : LBM_NONE;
}

uint32_t
run_backup(struct run *s, uint32_t host)
{
    const Lbm__HostEntry *entry =
        cluster_is_up(s->cluster, host) ? entry_of(hosts_as_seen_by(s, host), host) : NULL;
    return entry != NULL ? entry->backup : LBM_NONE;
}

int
run_is_active(struct run *s, uint32_t host)
{
    const Lbm__HostEntry *entry = entry_of(hosts_as_seen_by(s, host), host);
    return entry != NULL && strcmp(entry->state, "ACTIVE") == 0;
}

int
run_has_undead(struct run *s)
{
    for (uint32_t p = 0; p < s->h.n; p++) {
        const Lbm__HostsReply *reply =
            !s->dead[p] && cluster_is_up(s->cluster, p) ? hosts_as_seen_by(s, p) : NULL;
        for (size_t i = 0; reply != NULL && i < reply->n_hosts; i++) {
            const char *state = reply->hosts[i]->state;
            if (s->dead[reply->hosts[i]->host] && strcmp(state, "EVICTED") != 0 && strcmp(state, "LEFT") != 0)
                return 1;
        }
    }
    return 0;
}

uint64_t
run_incarnation(struct run *s, uint32_t host)
{
    const Lbm__HostEntry *entry =
        cluster_is_up(s->cluster, host) ? entry_of(hosts_as_seen_by(s, host), host) : NULL;
    return entry != NULL ? entry->incarnation : 0;
}

int
run_lacks_copies(struct run *s)
{
    for (uint32_t p = 0; p < s->h.n; p++)
        if (!s->dead[p] && s->lost[p] != 0 && run_incarnation(s, p) <= s->lost[p])
            return 1;
    return 0;
}

/* Nobody is being promoted: that waits for the promises of all, and a host that is lost gives none. */
static int
has_leader(struct run *s)
{
    uint32_t known = LBM_NONE;
    for (uint32_t p = 0; p < s->h.n; p++) {
        if (s->dead[p] || !cluster_is_up(s->cluster, p))
            continue;
        uint32_t leader = run_leader(s, p);
        if (leader == LBM_NONE || (known != LBM_NONE && leader != known))
            return 0;
        known = leader;
    }
    return 1;
}

/* Two must be left to suspect the one that is lost; a host with a new disk has taken part again since, or the
 * copies that others had on the old one would be lost with them; and an eviction that was just appended to
 * the external log, of which no host knows yet, is a loss already, as is one that may be on its way. */
static int
may_lose(struct run *s, uint32_t least)
{
    if (s->loss_us != 0 && cluster_now(s->cluster) < s->loss_us + AFTER_LOSS_US)
        return 0;
    if (run_lacks_copies(s))
        return 0;
    if (cluster_log_is_external(s->cluster) ? !cluster_log_is_everywhere(s->cluster) : !has_leader(s))
        return 0;
    uint32_t n = 0;
    for (uint32_t p = 0; p < s->h.n; p++) {
        if (s->dead[p])
            continue;
        if (!cluster_is_up(s->cluster, p) || cluster_is_stopped(s->cluster, p) ||
            cluster_is_just_back(s->cluster, p, SUSPECTED_US, BACK_US) ||
            !is_repaired(s, hosts_as_seen_by(s, p)))
            return 0;
        n += (uint32_t)run_is_active(s, p);
    }
    return n >= least;
}

int
run_may_lose(struct run *s)
{
    return may_lose(s, 3);
}

/* Whoever does not hear of half of the others takes itself for cut off. */
int
run_may_lose_two(struct run *s)
{
    return s->cluster_options.copies == 2 && may_lose(s, 5);
}

int
run_may_evict(const struct run *s)
{
    return !s->disk_lost && cluster_now(s->cluster) >= s->no_fault_until_us;
}

/* ---- the control log ----------------------------------------------------------------------------------- */

/* What a host says of itself; NULL: it does not answer. */
static const Lbm__StatusReply *
status_of(struct run *s, uint32_t host)
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_STATUS;
    request.status = &empty;
    cluster_request(s->cluster, host, 0, &request);
    const Lbm__Response *response = cluster_reply(s->cluster, host, 0);
    return response != NULL && response->code == LBM_OK ? response->status : NULL;
}

uint32_t
run_leader(struct run *s, uint32_t host)
{
    const Lbm__StatusReply *status = status_of(s, host);
    return status != NULL ? status->leader : LBM_NONE;
}

/* Nonzero if that host orders the control log but for hosts that will never answer: all that it waits for. */
static int
waits_for_the_dead(struct run *s, uint32_t host)
{
    const Lbm__StatusReply *status = status_of(s, host);
    if (status == NULL || status->n_awaited == 0)
        return 0;
    for (size_t i = 0; i < status->n_awaited; i++)
        if (!s->dead[status->awaited[i]])
            return 0;
    return 1;
}

static const Lbm__Response *
ask_promote(struct run *s, uint32_t host, uint32_t uid, int force)
{
    Lbm__PromoteRequest promote = LBM__PROMOTE_REQUEST__INIT;
    promote.force = force != 0;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_PROMOTE;
    request.promote = &promote;
    cluster_request(s->cluster, host, uid, &request);
    return cluster_reply(s->cluster, host, 0);
}

void
run_promote(struct run *s, uint32_t host, int force)
{
    if (!force)
        s->asked_us = cluster_now(s->cluster);
    (void)ask_promote(s, host, 0, force);
}

void
run_move_log(struct run *s, uint32_t host, int to_etcd)
{
    Lbm__LogMoveRequest move = LBM__LOG_MOVE_REQUEST__INIT;
    move.place = to_etcd ? LBM_LOG_PLACE_ETCD : LBM_LOG_PLACE_LOCAL;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_LOG_MOVE;
    request.log_move = &move;
    cluster_request(s->cluster, host, 0, &request);
}

int
run_may_be_promoting(const struct run *s)
{
    return s->asked_us != 0 && cluster_now(s->cluster) < s->asked_us + PROMOTE_AGAIN_US;
}

int
run_can_promote(struct run *s, uint32_t host)
{
    const Lbm__Response *response = ask_promote(s, host, 1000, 0);
    return response != NULL && response->code == LBM_E_DENIED;
}

static int
can_be_asked(const struct run *s, uint32_t host)
{
    return !s->dead[host] && cluster_is_up(s->cluster, host) && !cluster_is_stopped(s->cluster, host);
}

/* A leader that has started waits for a host that is lost: an operator knows that it is. */
static void
pass_over_the_dead(struct run *s)
{
    int is_any_dead = 0;
    for (uint32_t p = 0; p < s->h.n; p++)
        is_any_dead |= s->dead[p];
    if (!is_any_dead || cluster_log_is_external(s->cluster) ||
        cluster_now(s->cluster) < s->passed_over_us + PROMOTE_AGAIN_US)
        return;
    s->passed_over_us = cluster_now(s->cluster);
    for (uint32_t p = 0; p < s->h.n; p++)
        if (can_be_asked(s, p) && waits_for_the_dead(s, p))
            (void)ask_promote(s, p, 0, 1);
}

/* The only host that this one waits for; LBM_NONE: there is none, or there are several. */
static uint32_t
awaits_alone(struct run *s, uint32_t host)
{
    const Lbm__StatusReply *status = status_of(s, host);
    return status != NULL && status->n_awaited == 1 ? status->awaited[0] : LBM_NONE;
}

/* Once faults are over a host that is to lead waits still for another one, which can be asked: that one alone
 * has entries. Nobody lies any more, so an operator has that one order the log. */
static void
believe_who_has_more(struct run *s)
{
    if (s->over_us == 0 || cluster_log_is_external(s->cluster) ||
        cluster_now(s->cluster) < s->over_us + ALONE_US ||
        cluster_now(s->cluster) < s->believed_us + ALONE_US)
        return;
    s->believed_us = cluster_now(s->cluster);
    for (uint32_t p = 0; p < s->h.n; p++) {
        uint32_t host = can_be_asked(s, p) ? awaits_alone(s, p) : LBM_NONE;
        if (host == LBM_NONE || !can_be_asked(s, host))
            continue;
        run_promote(s, host, 1);
        return;
    }
}

/* Whom an operator would ask next: an active host behind that one in turn; LBM_NONE: there is none. */
static uint32_t
next_taker(struct run *s, uint32_t before)
{
    for (uint32_t k = 1; k <= s->h.n; k++) {
        uint32_t host = before == LBM_NONE ? k - 1 : (before + k) % s->h.n;
        if (can_be_asked(s, host) && run_is_active(s, host))
            return host;
    }
    return LBM_NONE;
}

/* What an operator does when the ensemble is lost for good: have a host take the control log by force. While
 * the one that was told first cannot be asked no other one is: it may have done so. One that refuses, since
 * it has lost its disk, say, has not. */
static void
leave_lost_ensemble(struct run *s)
{
    if (!cluster_ensemble_is_lost(s->cluster, s->dead)) {
        s->taker = LBM_NONE;
        return;
    }
    if (cluster_now(s->cluster) < s->taken_us + PROMOTE_AGAIN_US)
        return;
    if (s->taker == LBM_NONE || s->dead[s->taker])
        s->taker = next_taker(s, LBM_NONE);
    s->taken_us = cluster_now(s->cluster);
    if (s->taker == LBM_NONE || !can_be_asked(s, s->taker))
        return;
    const Lbm__Response *response = ask_promote(s, s->taker, 0, 1);
    if (response != NULL && response->code == LBM_E_STATE)
        s->taker = next_taker(s, s->taker);
}

/* What an operator does when who ordered the control log is lost, or somebody whose promise is waited for:
 * promote another host, until one says itself that it orders the log. Others name it as soon as they have
 * promised to follow it. While the one that was told last cannot be asked, it may be the one. */
void
run_find_head(struct run *s)
{
    uint32_t at = LBM_NONE;
    pass_over_the_dead(s);
    believe_who_has_more(s);
    leave_lost_ensemble(s);
    s->headless &= !cluster_log_is_external(s->cluster); /* it has moved since */
    if (!s->headless || run_may_be_promoting(s) ||
        cluster_now(s->cluster) < s->promoted_us + PROMOTE_AGAIN_US ||
        (s->promoted != LBM_NONE && !s->dead[s->promoted] && !can_be_asked(s, s->promoted)))
        return;
    for (uint32_t p = 0; p < s->h.n && s->headless; p++) {
        if (!can_be_asked(s, p))
            continue;
        s->headless = run_leader(s, p) != p;
        at = run_is_active(s, p) ? p : at;
    }
    s->promoted_us = cluster_now(s->cluster);
    s->promoted = s->headless ? at : LBM_NONE;
    if (s->promoted != LBM_NONE)
        run_promote(s, at, 1);
}
