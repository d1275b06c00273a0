/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands still, or will: one row a kind, looked at with every round of pings. An alert that has lasted
 * for as long as its row says is a warning in the log, with its id, since when, and what to do; again every
 * AGAIN_US while it lasts; and a line when it is over. lbctl status shows all that are on. Never: acts on any
 * of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "node/client/client.h"
#include "node/client/internal.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/log/log.h"
#include "node/membership/membership.h"

enum { SECOND_US = 1000000 };

static const double disk_most = 0.8; /* of the disk: there is room for the copy that an eviction keeps */

/* Each says what is wrong and what to do, or leaves the text empty. */
typedef void look(const struct lbm_node *node, char text[LBM_DIAG_TEXT_MAX]);

static void
look_member(const struct lbm_node *node, char text[LBM_DIAG_TEXT_MAX])
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    char awaited[160];
    if (self != NULL && self->incarnation == node->incarnation && lbm_view_participates(self) &&
        self->state != LBM_MEMBER_JOINING)
        return;
    lbm_log_tell_wait(node, awaited, sizeof awaited);
    if (node->diverged)
        snprintf(
            text, LBM_DIAG_TEXT_MAX,
            "this host's control log is not the cluster's: once the cluster has evicted it it begins again, "
            "empty; if that does not happen, lbctl evict %" PRIu32 " --lost at another host",
            node->host);
    else if (node->join_refused)
        snprintf(text, LBM_DIAG_TEXT_MAX,
                 "the cluster does not take this host: see the error before, change its "
                 "configuration and start it again");
    else if (!node->caught_up)
        snprintf(text, LBM_DIAG_TEXT_MAX, "this host has yet to hear the control log's end: it waits for %s",
                 awaited);
    else if (self != NULL && self->state == LBM_MEMBER_LEFT)
        snprintf(text, LBM_DIAG_TEXT_MAX,
                 "this host has left: lbctl join here lets it begin again, or stop its lbmapd");
    else if (self != NULL && self->state == LBM_MEMBER_EVICTED)
        snprintf(text, LBM_DIAG_TEXT_MAX,
                 "this host is evicted and waits until host %" PRIu32 " has taken over",
                 lbm_view_departed(&node->view, node->host, self->incarnation) != NULL
                     ? lbm_view_departed(&node->view, node->host, self->incarnation)->successor
                     : LBM_NONE);
    else
        snprintf(text, LBM_DIAG_TEXT_MAX,
                 "this host is not active yet: the control log waits for %s, or its backup "
                 "for its copy",
                 awaited);
}

static void
look_leader(const struct lbm_node *node, char text[LBM_DIAG_TEXT_MAX])
{
    char awaited[160];
    if (node->view.index == 0 || node->diverged)
        return;
    if (node->engine != LBM_LOG_ENGINE_LOCAL) {
        lbm_log_tell_wait(node, awaited, sizeof awaited);
        if (lbm_log_awaits_ensemble(node))
            snprintf(text, LBM_DIAG_TEXT_MAX, "nothing changes, and no host is evicted: it takes %s",
                     awaited);
        return;
    }
    int is_there = node->leader ? node->caught_up
                                : node->leader_host != LBM_NONE &&
                                      !lbm_membership_is_unreachable(node, node->leader_host, SUSPECT_US);
    if (is_there)
        return;
    lbm_log_tell_wait(node, awaited, sizeof awaited);
    snprintf(text, LBM_DIAG_TEXT_MAX,
             "members and jobs cannot change, and no host is evicted: it takes %s; start its lbmapd, or have "
             "another "
             "host order the log: lbctl log promote",
             awaited);
}

static void
look_log(const struct lbm_node *node, char text[LBM_DIAG_TEXT_MAX])
{
    char awaited[160];
    if (node->appends.n == 0)
        return;
    lbm_log_tell_wait(node, awaited, sizeof awaited);
    snprintf(text, LBM_DIAG_TEXT_MAX, "%zu entries wait for %s", node->appends.n, awaited);
}

static void
look_unreachable(const struct lbm_node *node, char text[LBM_DIAG_TEXT_MAX])
{
    uint32_t n = 0, first = LBM_NONE;
    for (size_t i = 0; i < node->watched.n; i++) {
        if (lbm_membership_silence(node, node->watched.at[i]) <= SUSPECT_US)
            continue;
        first = n++ == 0 ? node->watched.at[i] : first;
    }
    if (n != 0)
        snprintf(text, LBM_DIAG_TEXT_MAX,
                 "host %" PRIu32 "%s not been heard for %" PRId64 " s: look at its lbmapd and at the network",
                 first, n > 1 ? " (and others) has" : " has",
                 lbm_membership_silence(node, first) / SECOND_US);
}

static int
lately(const struct lbm_node *node, int64_t when_us)
{
    return when_us != 0 && node->now_us - when_us < CONFIRM_US;
}

/* Who is suspected for long, and is not evicted: why not. */
static void
look_eviction(const struct lbm_node *node, char text[LBM_DIAG_TEXT_MAX])
{
    for (size_t i = 0; i < node->watched.n && text[0] == '\0' && node->caught_up; i++) {
        const struct lbm_member *member = lbm_view_member(&node->view, node->watched.at[i]);
        const struct peer *peer = lbm_membership_peer_known(node, node->watched.at[i]);
        if (member == NULL || peer == NULL || peer->suspect_us == 0)
            continue;
        if (!node->view.external && node->view.leader == member->host)
            snprintf(text, LBM_DIAG_TEXT_MAX,
                     "host %" PRIu32
                     " is lost and orders the control log, so it cannot be evicted: lbctl log promote "
                     "at another host",
                     member->host);
        else if (lbm_view_is_alone(member))
            snprintf(text, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is lost and has no backup: start its lbmapd",
                     member->host);
        else if (!lbm_view_in_sync(&node->view, member))
            snprintf(text, LBM_DIAG_TEXT_MAX,
                     "host %" PRIu32 " is lost, and its backup host %" PRIu32
                     " has no full copy: start its lbmapd, "
                     "or give up what the backup lacks: lbctl evict %" PRIu32 " --lost",
                     member->host, lbm_view_successor_of(&node->view, member), member->host);
        else if (lately(node, node->cut_off_us))
            snprintf(text, LBM_DIAG_TEXT_MAX,
                     "host %" PRIu32
                     " is unreachable, but this host hears at most half of the others and takes itself to be "
                     "cut off: look at its network, or lbctl evict %" PRIu32,
                     member->host, member->host);
        else if (lately(node, node->withheld_us))
            snprintf(text, LBM_DIAG_TEXT_MAX,
                     "host %" PRIu32
                     " is lost, and as many hosts were evicted lately as the configuration allows: "
                     "lbctl evict %" PRIu32,
                     member->host, member->host);
    }
}

/* The backup whose lease ends first, or has. */
static uint32_t
lacking_lease(const struct lbm_node *node)
{
    const struct replication_log *least = NULL;
    for (unsigned k = 0; k < LBM_COPIES_MAX; k++) {
        const struct replication_log *s = &node->replication.log[k];
        if (s->backup != LBM_NONE && (least == NULL || s->until_us < least->until_us))
            least = s;
    }
    return least != NULL ? least->backup : LBM_NONE;
}

static void
look_lease(const struct lbm_node *node, char text[LBM_DIAG_TEXT_MAX])
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    if (lbm_local_lease_holds(node) || self == NULL || self->incarnation != node->incarnation ||
        !lbm_view_participates(self))
        return;
    if (node->lease.fence_us > node->now_us)
        snprintf(text, LBM_DIAG_TEXT_MAX,
                 "applications of the life before may still work: it ends by itself");
    else if (!lbm_local_has_backup(node))
        snprintf(text, LBM_DIAG_TEXT_MAX, "this host has no backup yet");
    else
        snprintf(text, LBM_DIAG_TEXT_MAX,
                 "host %" PRIu32
                 ", this host's backup, gives no lease%s: look at its lbmapd and at the network",
                 lacking_lease(node), lbm_membership_has_lost_backup(node) ? " and is unreachable" : "");
}

static void
look_backup(const struct lbm_node *node, char text[LBM_DIAG_TEXT_MAX])
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    if (self == NULL || !lbm_view_participates(self) || lbm_view_is_alone(self) ||
        lbm_view_all_in_sync(&node->view, self))
        return;
    if (lbm_view_in_sync(&node->view, self)) {
        snprintf(text, LBM_DIAG_TEXT_MAX,
                 "one of this host's two backups has no full copy, %" PRIu64
                 " changes are on their way: a loss of this host and the other backup now is not made good",
                 lbm_local_replication_lag(node));
        return;
    }
    snprintf(text, LBM_DIAG_TEXT_MAX,
             "host %" PRIu32 ", this host's backup, has no full copy, %" PRIu64
             " changes are on their way: a loss of this host now is not made good",
             lbm_view_successor_of(&node->view, self), lbm_local_replication_lag(node));
}

static void
look_one_way(const struct lbm_node *node, char text[LBM_DIAG_TEXT_MAX])
{
    for (size_t i = 0; i < node->watched.n && text[0] == '\0'; i++)
        if (!lbm_membership_is_unreachable(node, node->watched.at[i], UNREACHABLE_US) &&
            lbm_membership_network_is_deaf(node, node->watched.at[i]))
            snprintf(text, LBM_DIAG_TEXT_MAX,
                     "host %" PRIu32
                     " is heard and does not hear this host: look at this host's port and at its own "
                     "way out",
                     node->watched.at[i]);
}

static void
look_disk(const struct lbm_node *node, char text[LBM_DIAG_TEXT_MAX])
{
    if (node->disk_used > disk_most)
        snprintf(text, LBM_DIAG_TEXT_MAX,
                 "%.0f %% of the disk of the database are used: a daemon whose disk is full ends; make room",
                 100 * node->disk_used);
}

/* The first job in that condition. */
static void
look_jobs(const struct lbm_node *node, enum lbm_condition condition, char text[LBM_DIAG_TEXT_MAX])
{
    for (size_t i = 0; i < node->view.jobs.n && text[0] == '\0'; i++) {
        struct lbm_job_summary summary;
        if (!lbm_node_summary(node, node->view.jobs.at[i].job, &summary) || summary.condition != condition)
            continue;
        if (condition == LBM_CONDITION_LOST && summary.lost == LBM_NONE)
            snprintf(text, LBM_DIAG_TEXT_MAX, "job %s: some vertices are lost: %.300s",
                     node->view.jobs.at[i].name, summary.reason);
        else
            snprintf(text, LBM_DIAG_TEXT_MAX, "job %s: %" PRIu32 " of %" PRIu32 " vertices are %s: %.300s",
                     node->view.jobs.at[i].name,
                     condition == LBM_CONDITION_LOST ? summary.lost : summary.idle, summary.present,
                     condition == LBM_CONDITION_LOST ? "lost" : "worked on by nobody", summary.reason);
    }
}

static void
look_degraded(const struct lbm_node *node, char text[LBM_DIAG_TEXT_MAX])
{
    look_jobs(node, LBM_CONDITION_DEGRADED, text);
}

static void
look_lost(const struct lbm_node *node, char text[LBM_DIAG_TEXT_MAX])
{
    look_jobs(node, LBM_CONDITION_LOST, text);
}

static const struct {
    const char *name;
    look *look;
    int64_t after_us; /* it is told once it has lasted so long */
} rows[LBM_ALERT_COUNT] = {
    [LBM_ALERT_NO_MEMBER] = {"no-member", look_member, 10 * SECOND_US},
    [LBM_ALERT_NO_LEADER] = {"no-leader", look_leader, 2 * SECOND_US},
    [LBM_ALERT_LOG_WAITS] = {"log-waits", look_log, 5 * SECOND_US},
    [LBM_ALERT_UNREACHABLE] = {"host-unreachable", look_unreachable, 0},
    [LBM_ALERT_EVICTION] = {"eviction-held-back", look_eviction, 4 * SECOND_US},
    [LBM_ALERT_NO_LEASE] = {"no-lease", look_lease, 2 * SECOND_US},
    [LBM_ALERT_BACKUP] = {"backup-behind", look_backup, 10 * SECOND_US},
    [LBM_ALERT_ONE_WAY] = {"one-way-link", look_one_way, 0},
    [LBM_ALERT_DISK] = {"disk-full", look_disk, 0},
    [LBM_ALERT_JOB_DEGRADED] = {"job-degraded", look_degraded, 2 * SECOND_US},
    [LBM_ALERT_JOB_LOST] = {"job-lost", look_lost, 0},
};

static int
is_on(const struct lbm_node *node, size_t i)
{
    const struct alert *alert = &node->alerts[i];
    return alert->since_us != 0 && node->now_us - alert->since_us >= rows[i].after_us;
}

static void
announce(struct lbm_node *node, size_t i)
{
    struct alert *alert = &node->alerts[i];
    if (!is_on(node, i) || (alert->told_us != 0 && node->now_us - alert->told_us < ALERT_AGAIN_US))
        return;
    alert->told_us = node->now_us;
    lbm_core_note(node, LBM_NOTE_WARNING, "[%s] for %" PRId64 " s: %.180s", rows[i].name,
                  (node->now_us - alert->since_us) / SECOND_US, alert->text);
}

void
lbm_client_alerts_timer(struct lbm_node *node)
{
    for (size_t i = 0; i < LBM_ALERT_COUNT && node->failed == LBM_OK; i++) {
        struct alert *alert = &node->alerts[i];
        alert->text[0] = '\0';
        rows[i].look(node, alert->text);
        if (alert->text[0] != '\0') {
            alert->since_us = alert->since_us != 0 ? alert->since_us : node->now_us;
            announce(node, i);
            continue;
        }
        if (alert->told_us != 0)
            lbm_core_note(node, LBM_NOTE_INFO, "[%s] is over, after %" PRId64 " s", rows[i].name,
                          (node->now_us - alert->since_us) / SECOND_US);
        alert->since_us = alert->told_us = 0;
    }
}

size_t
lbm_client_alerts_fill(struct lbm_node *node, Lbm__Alert *alerts, Lbm__Alert **list)
{
    size_t n = 0;
    for (size_t i = 0; i < LBM_ALERT_COUNT; i++) {
        if (!is_on(node, i))
            continue;
        lbm__alert__init(&alerts[n]);
        alerts[n].id = (char *)rows[i].name;
        alerts[n].since_s = (double)(node->now_us - node->alerts[i].since_us) / SECOND_US;
        alerts[n].text = node->alerts[i].text;
        list[n] = &alerts[n];
        n++;
    }
    return n;
}
