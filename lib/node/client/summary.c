/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What this host can say of a job as a whole. One computation for everybody who asks: jobs, wait, status,
 * text, JSON and the simulator's checks.
 *
 * A vertex counts as worked on if it is with a host that is heard, in its present incarnation, and whose
 * applications may work. What is not known never counts as well. Never: sends, stores or changes a job. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "node/application/guest.h"
#include "node/client/client.h"
#include "node/client/internal.h"
#include "node/core/core.h"
#include "node/job/job.h"
#include "node/local/local.h"
#include "node/log/log.h"
#include "node/membership/membership.h"

enum { NAMED = 2 }; /* hosts that a reason names; of the others it says how many */

/* What the hosts of a job come to. */
struct tally {
    uint64_t heard;   /* vertices of hosts that are heard */
    uint64_t blocked; /* of these, where no application may work */
    uint64_t away;    /* last heard of hosts that are not heard, or are evicted and not taken over */
    uint32_t n_away, n_blocked, n_pending;
    uint32_t n_unsure;      /* members that hold the job up though they are heard: their backup is not */
    uint32_t n_silent;      /* ACTIVE ones that are heard and have not told of the job yet */
    uint64_t load, leaving; /* work units of all hosts; of those that have no share */
    enum lbm_phase least;   /* of those that are heard, and can give and take */
    int is_at_rest;         /* no rounds are to come yet, and no plan */
    struct lbm_job_summary *out;
    size_t len; /* of the reason */
    uint32_t told;
};

/* One more clause of the reason; the first NAMED are told. */
static void because(struct tally *tally, const char *fmt, ...) LBM_PRINTF(2, 3);
static void
because(struct tally *tally, const char *fmt, ...)
{
    struct lbm_job_summary *out = tally->out;
    va_list args;
    if (tally->told++ >= NAMED || tally->len >= sizeof out->reason - 1)
        return;
    if (tally->len != 0)
        tally->len += (size_t)snprintf(out->reason + tally->len, sizeof out->reason - tally->len, "; ");
    if (tally->len >= sizeof out->reason)
        return;
    va_start(args, fmt);
    tally->len += (size_t)vsnprintf(out->reason + tally->len, sizeof out->reason - tally->len, fmt, args);
    va_end(args);
}

static void
end_reason(struct tally *tally)
{
    struct lbm_job_summary *out = tally->out;
    if (tally->told > NAMED && tally->len < sizeof out->reason)
        snprintf(out->reason + tally->len, sizeof out->reason - tally->len, "; and %" PRIu32 " more",
                 tally->told - NAMED);
}

/* Seconds since a host was heard; < 0: never. */
static int64_t
silent_s(const struct lbm_node *node, uint32_t host)
{
    const struct peer *peer = lbm_membership_peer_known(node, host);
    return peer != NULL && peer->heard_us != 0 ? (node->now_us - peer->heard_us) / 1000000 : -1;
}

/* What becomes of a host that is not heard. */
static void
tell_away(const struct lbm_node *node, struct tally *tally, const struct lbm_member *member)
{
    const struct lbm_member *backup =
        lbm_view_member(&node->view, lbm_view_successor_of(&node->view, member));
    char what[128], since[40] = "";
    int64_t s = silent_s(node, member->host);
    if (s >= 0)
        snprintf(since, sizeof since, " for %" PRId64 " s", s);
    if (!node->view.external && node->view.leader == member->host)
        snprintf(what, sizeof what, ", and it orders the control log: lbctl log promote at another host");
    else if (backup == NULL)
        snprintf(what, sizeof what, ", and it has no backup: start its lbmapd");
    else if (lbm_membership_is_overdue(node, backup))
        snprintf(what, sizeof what, ", nor is its backup host %" PRIu32, backup->host);
    else if (!lbm_view_in_sync(&node->view, member))
        snprintf(what, sizeof what,
                 ", its backup host %" PRIu32 " has no full copy: start its lbmapd, or lbctl evict %" PRIu32
                 " --lost",
                 backup->host, member->host);
    else
        snprintf(what, sizeof what, ", its backup host %" PRIu32 " has a copy and goes on once it is evicted",
                 backup->host);
    because(tally, "host %" PRIu32 " is unreachable%s%s", member->host, since, what);
}

static void
tell_blocked(const struct lbm_node *node, struct tally *tally, const struct lbm_member *member)
{
    const struct lbm_member *backup =
        lbm_view_member(&node->view, lbm_view_successor_of(&node->view, member));
    if (backup == NULL)
        because(tally, "applications of host %" PRIu32 " may not work yet", member->host);
    else
        because(
            tally, "applications of host %" PRIu32 " may not work: no lease of its backup host %" PRIu32 "%s",
            member->host, backup->host,
            backup->host != node->host && lbm_membership_is_overdue(node, backup) ? ", which is unreachable"
                                                                                  : "");
}

/* Nonzero if a member is not heard, or its pings are not: what was known of its jobs is old. */
static int
is_away(const struct lbm_node *node, const struct lbm_member *member)
{
    const struct peer *peer = lbm_membership_peer_known(node, member->host);
    if (member->host == node->host)
        return 0;
    int tells_all_the_time = !lbm_membership_is_large(node);
    return lbm_membership_is_overdue(node, member) ||
           (tells_all_the_time && (peer == NULL || node->now_us - peer->told_us > SUSPECT_US));
}

static int
is_idle(const struct lbm_node *node, uint32_t host)
{
    const struct peer *peer = lbm_membership_peer_known(node, host);
    return host == node->host ? !lbm_local_lease_holds(node) : peer != NULL && peer->is_idle;
}

/* This host's own load report, so that sums and minima run over all hosts alike. */
struct load_report
lbm_client_own_report(const struct lbm_node *node, const struct job *job)
{
    return (struct load_report){.host = node->host,
                                .heard_us = node->now_us,
                                .incarnation = node->incarnation,
                                .phase = job->phase,
                                .vertices = job->shard.n_own + job->shard.n_out,
                                .load = job->shard.load,
                                .sweep = job->rounds.sweep,
                                .counter = job->rounds.termination.counter,
                                .largest = job->largest,
                                .moved = job->moved,
                                .ready = lbm_job_is_ready(node, job),
                                .flow_sweeps = job->flow.sweeps,
                                .flow_words = job->flow.words,
                                .flow = job->flow.flow,
                                .transfer_us = job->flow.transfer_us};
}

/* Nonzero if a host that takes part is unreachable, or can neither give nor take since its backup is. */
int
lbm_client_is_unavailable(const struct lbm_node *node, const struct lbm_member *member)
{
    const struct peer *peer = lbm_membership_peer_known(node, member->host);
    return lbm_membership_is_overdue(node, member) ||
           (member->host == node->host ? lbm_membership_has_lost_backup(node)
                                       : peer != NULL && peer->backup_lost);
}

static void
add_heard(const struct lbm_node *node, const struct lbm_job_entry *entry, struct tally *tally,
          const struct lbm_member *member, const struct load_report *report)
{
    double target = lbm_local_target(node, entry, member->host);
    const char *why;
    tally->heard += report->vertices;
    tally->load += report->load;
    tally->leaving += target > 0 ? 0 : report->load;
    int is_unavailable = lbm_client_is_unavailable(node, member);
    if (!is_unavailable && (target > 0 || report->vertices != 0)) /* who leaves is done when empty */
        tally->least = report->phase < tally->least ? report->phase : tally->least;
    tally->is_at_rest &= report->phase != LBM_PHASE_SETTLED || report->ready;
    if (report->vertices != 0 && is_idle(node, member->host)) {
        tally->n_blocked++;
        tally->blocked += report->vertices;
        tell_blocked(node, tally, member);
    } else if (report->vertices != 0 && lbm_application_is_unserved(node, entry, member->host, &why)) {
        tally->n_blocked++;
        tally->blocked += report->vertices;
        because(tally, "no program works at host %" PRIu32 "%s%s", member->host, why[0] != '\0' ? ": " : "",
                why);
    }
    tally->n_unsure += is_unavailable != 0;
}

static void
add_member(const struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry,
           struct tally *tally, const struct lbm_member *member)
{
    const struct load_report *known = lbm_local_report_known(job, member->host);
    struct load_report report = {.host = member->host};
    int is_known = member->host == node->host || (known != NULL && known->incarnation == member->incarnation);
    if (member->host == node->host)
        report = lbm_client_own_report(node, job);
    else if (is_known)
        report = *known;
    if (is_away(node, member)) {
        tally->n_away++;
        tally->away += report.vertices;
        tell_away(node, tally, member);
        return;
    }
    tally->n_silent += !is_known && member->state == LBM_MEMBER_ACTIVE;
    add_heard(node, entry, tally, member, &report);
}

/* Nonzero if what the log calls taken over is not there yet, by what the successor tells in its pings: it has
 * not heard of it, its disk is slow, or it waits for leases of its life before. */
static int
is_taking_over(const struct lbm_node *node, const struct lbm_departed *gone)
{
    const struct lbm_member *successor = lbm_view_member(&node->view, gone->successor);
    const struct peer *peer = lbm_membership_peer_known(node, gone->successor);
    if (gone->successor == node->host)
        return lbm_local_inherits(node, gone);
    return gone->over != 0 && successor != NULL && lbm_view_participates(successor) &&
           successor->incarnation == gone->successor_incarnation && !lbm_membership_is_large(node) &&
           peer != NULL && (peer->view < gone->over || peer->inherits);
}

/* An evicted host that nobody has taken over: what it had waits. */
static void
add_departed(const struct lbm_node *node, const struct job *job, struct tally *tally,
             const struct lbm_departed *gone)
{
    const struct load_report *known = lbm_local_report_known(job, gone->host);
    const struct lbm_member *successor = lbm_view_member(&node->view, gone->successor);
    if (gone->evicted && gone->taken_over && is_taking_over(node, gone)) {
        tally->n_pending++;
        because(tally, "host %" PRIu32 " takes over from host %" PRIu32 ", and has yet to take it in",
                gone->successor, gone->host);
    }
    if (!gone->evicted || gone->taken_over)
        return;
    tally->n_pending++;
    tally->away += known != NULL && known->incarnation == gone->incarnation ? known->vertices : 0;
    int is_there = successor != NULL && lbm_view_participates(successor) &&
                   successor->incarnation == gone->successor_incarnation;
    if (!is_there)
        because(tally,
                "host %" PRIu32 " is evicted, and so is host %" PRIu32
                ", which was to take over: start the former's lbmapd, or lbctl evict %" PRIu32 " --lost",
                gone->host, gone->successor, gone->host);
    else
        because(tally, "host %" PRIu32 " is evicted, and host %" PRIu32 " has yet to take over%s", gone->host,
                gone->successor,
                lbm_membership_is_overdue(node, successor) ? ": it is unreachable, start one of the two"
                                                           : "");
}

/* Nonzero if the job's vertices are not those that were submitted, as far as this host knows. */
static int
is_changing(const struct job *job, const struct lbm_job_entry *entry)
{
    return job->drifts || entry->ids > entry->vertices;
}

static uint32_t
at_most(uint64_t n, uint64_t most)
{
    return (uint32_t)(n < most ? n : most);
}

/* Vertices that are on no host, once all that could tell have told. */
static void
look_for_losses(const struct lbm_job_entry *entry, const struct tally *tally, int changes, uint64_t missing,
                int lasts, struct lbm_job_summary *out)
{
    if (entry->loss == 0)
        return;
    if (changes)
        out->lost = tally->n_away == 0 && tally->n_pending == 0 && tally->n_silent == 0 ? LBM_NONE : 0;
    else if (lasts && missing > tally->away && tally->n_silent == 0)
        out->lost = at_most(missing - tally->away, LBM_VERTICES_MAX);
}

static void
judge(const struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry,
      struct tally *tally)
{
    struct lbm_job_summary *out = tally->out;
    int changes = is_changing(job, entry), is_partial = tally->n_away != 0 || tally->n_pending != 0;
    uint64_t present = !changes ? entry->vertices
                       : is_partial && lbm_local_load_count(node, entry) > tally->heard
                           ? lbm_local_load_count(node, entry)
                           : tally->heard;
    uint64_t missing = present > tally->heard ? present - tally->heard : 0;
    int lasts = job->short_us != 0 && node->now_us - job->short_us >= SHORT_US;
    uint64_t idle = is_partial || lasts ? missing : 0;
    look_for_losses(entry, tally, changes, missing, lasts, out);
    out->is_short = missing != 0;
    out->present = at_most(present, LBM_VERTICES_MAX);
    out->known = at_most(tally->heard, present);
    out->idle = at_most((idle > tally->away ? idle : tally->away) + tally->blocked, present);
    out->phase = out->heard = tally->least;
    int is_whole = (tally->n_unsure == 0 && !is_partial && missing == 0) || LBM_BUG(SETTLED_WITHOUT_ALL);
    out->settled = tally->least == LBM_PHASE_SETTLED && tally->is_at_rest && is_whole &&
                   tally->blocked == 0 && out->lost == 0;
    if (out->phase == LBM_PHASE_SETTLED && !out->settled)
        out->phase = LBM_PHASE_BALANCING;
    out->condition = out->lost != 0                 ? LBM_CONDITION_LOST
                     : is_partial || out->idle != 0 ? LBM_CONDITION_DEGRADED
                                                    : LBM_CONDITION_WELL;
    if (out->lost != 0)
        because(tally, "a host was evicted as lost that had them: lbctl recover %s", entry->name);
    else if (idle > tally->away && !is_partial)
        because(
            tally,
            "no host says that it has them; if that lasts, a host and its backup have lost their disks at "
            "once: lbctl cancel %s, and submit it again",
            entry->name);
    end_reason(tally);
}

/* Of the largest load that a host has, relative to its share; only if all of it is known. */
static void
weigh(const struct lbm_node *node, const struct job *job, const struct tally *tally)
{
    struct lbm_job_summary *out = tally->out;
    double largest = -1, all;
    out->imbalance = -1;
    if (out->condition != LBM_CONDITION_WELL || tally->n_silent != 0 || tally->leaving != 0 ||
        out->is_short || tally->load == 0)
        return;
    for (size_t i = 0; i < node->view.active.n; i++) {
        uint32_t host = node->view.active.at[i];
        const struct load_report *known = lbm_local_report_known(job, host);
        double load = host == node->host ? (double)job->shard.load : known != NULL ? (double)known->load : 0;
        double capacity = lbm_local_capacity(node, job, host, &all);
        double share = all > 0 ? (double)tally->load * capacity / all : 0;
        largest = share > 0 && load / share - 1 > largest ? load / share - 1 : largest;
    }
    out->imbalance = fmax(largest, 0);
}

static void
sum_up(const struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry,
       struct lbm_job_summary *out)
{
    struct tally tally = {.least = LBM_PHASE_SETTLED, .is_at_rest = 1, .out = out};
    *out = (struct lbm_job_summary){0};
    for (size_t i = 0; i < node->view.members.n; i++)
        if (lbm_view_participates(&node->view.members.at[i]))
            add_member(node, job, entry, &tally, &node->view.members.at[i]);
    for (size_t i = 0; i < node->view.departed.n; i++)
        add_departed(node, job, &tally, &node->view.departed.at[i]);
    if (lbm_log_is_behind(node)) {
        tally.n_pending++;
        because(&tally, "this host cannot read the control log, of which others know more: ask another one");
    }
    judge(node, job, entry, &tally);
    weigh(node, job, &tally);
    out->since_us =
        out->condition == job->condition && job->condition_us != 0 ? job->condition_us : node->now_us;
}

int
lbm_node_summary(const struct lbm_node *node, uint64_t job, struct lbm_job_summary *out)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job);
    const struct job *here = lbm_local_job(node, job);
    if (entry == NULL || here == NULL)
        return 0;
    sum_up(node, here, entry, out);
    return 1;
}

const char *
lbm_job_summary_state(const struct lbm_job_summary *summary)
{
    return summary->condition == LBM_CONDITION_WELL ? lbm_phase_name(summary->phase)
                                                    : lbm_condition_name(summary->condition);
}

void
lbm_client_summary_timer(struct lbm_node *node)
{
    for (size_t i = 0; i < node->view.jobs.n; i++) {
        const struct lbm_job_entry *entry = &node->view.jobs.at[i];
        struct job *job = lbm_local_job(node, entry->job);
        struct lbm_job_summary summary;
        if (job == NULL)
            continue;
        sum_up(node, job, entry, &summary);
        job->short_us = !summary.is_short ? 0 : job->short_us != 0 ? job->short_us : node->now_us;
        if (summary.condition != job->condition || job->condition_us == 0) {
            job->condition = summary.condition;
            job->condition_us = node->now_us;
        }
    }
}
