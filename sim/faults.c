/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/faults.h"

#include <inttypes.h>
#include <stdio.h>

#include "sim/story.h"

const struct fault_row fault_rows[FAULT_COUNT] = {
#define FAULT_ROW(id, name, weight, least, most, text) {name, weight, least, most, text},
    FAULT_LIST(FAULT_ROW)
#undef FAULT_ROW
};

enum { RENEWAL_US = 8000000 };

static uint32_t
host_of(const struct story *s, uint32_t number)
{
    return number % s->h.n;
}

/* A host that is up, runs, and is not kept down: from `number` on; LBM_NONE: there is none. */
static uint32_t
running_host(const struct story *s, uint32_t number)
{
    for (uint32_t i = 0; i < s->h.n; i++) {
        uint32_t p = host_of(s, number + i);
        if (cluster_is_up(s->cluster, p) && !cluster_is_stopped(s->cluster, p))
            return p;
    }
    return LBM_NONE;
}

/* ---- hosts that are down --------------------------------------------------------------------------------
 */

static int
takes_down(struct story *s, uint32_t host)
{
    if (!cluster_is_up(s->cluster, host))
        return 0;
    s->down[host]++;
    return 1;
}

static void
comes_back(struct story *s, uint32_t host)
{
    if (s->down[host] != 0)
        s->down[host]--;
    if (s->down[host] == 0 && !s->dead[host] && !cluster_is_up(s->cluster, host))
        cluster_restart(s->cluster, host);
}

static int
crash(struct story *s, const struct fault *f)
{
    static const enum crash how[FAULT_COUNT] = {[FAULT_CRASH_BEFORE] = CRASH_NONE,
                                                [FAULT_CRASH_INSIDE] = CRASH_SOME,
                                                [FAULT_CRASH_AFTER] = CRASH_ALL,
                                                [FAULT_EVICT_DEAD] = CRASH_SOME};
    if (!takes_down(s, host_of(s, f->a)))
        return 0;
    cluster_crash_with(s->cluster, host_of(s, f->a), how[f->kind]);
    return 1;
}

static int
kill_daemon(struct story *s, const struct fault *f)
{
    if (cluster_is_stopped(s->cluster, host_of(s, f->a)) || !takes_down(s, host_of(s, f->a)))
        return 0;
    cluster_kill(s->cluster, host_of(s, f->a), (enum crash)(f->b % 3));
    return 1;
}

static void
restart(struct story *s, const struct fault *f)
{
    comes_back(s, host_of(s, f->a));
}

static int
crash_two(struct story *s, const struct fault *f)
{
    if (f->a % s->h.n == f->b % s->h.n || !crash(s, f))
        return 0;
    cluster_run(s->cluster, f->c % 4000000, NULL, NULL);
    if (takes_down(s, host_of(s, f->b)))
        cluster_crash(s->cluster, host_of(s, f->b));
    return 1;
}

static void
restart_two(struct story *s, const struct fault *f)
{
    comes_back(s, host_of(s, f->a));
    comes_back(s, host_of(s, f->b));
}

static int
return_all(struct story *s, const struct fault *f)
{
    int happens = 0;
    (void)f;
    for (uint32_t p = 0; p < s->h.n; p++)
        if (s->down[p] != 0) {
            s->down[p] = 1;
            comes_back(s, p);
            happens = 1;
        }
    return happens;
}

/* Nonzero if the host is the one that the others get the control log from. */
static int
orders_log(struct story *s, uint32_t host)
{
    return !cluster_log_is_external(s->cluster) && story_founder(s, host) == host;
}

static int
die(struct story *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a);
    if (s->dead[host] || !cluster_is_up(s->cluster, host) || !cluster_is_whole(s->cluster) ||
        !story_may_lose(s))
        return 0;
    int headless = orders_log(s, host);
    if (headless && (!cluster_log_is_everywhere(s->cluster) || !story_can_promote(s, host)))
        return 0;
    cluster_crash(s->cluster, host);
    cluster_lose_disk(s->cluster, host);
    s->dead[host] = 1;
    s->headless |= headless;
    s->loss_us = cluster_now(s->cluster);
    s->quiet_until_us = s->loss_us + RENEWAL_US;
    return 1;
}

static int
image(struct story *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a);
    if (!cluster_is_up(s->cluster, host))
        return 0;
    cluster_image_disk(s->cluster, host);
    return 1;
}

static void
roll_back(struct story *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a);
    if (!cluster_is_up(s->cluster, host) || !cluster_is_whole(s->cluster) || !story_may_lose(s) ||
        orders_log(s, host))
        return;
    cluster_crash(s->cluster, host);
    if (cluster_roll_back_disk(s->cluster, host)) {
        s->loss_us = cluster_now(s->cluster);
        s->quiet_until_us = s->loss_us + RENEWAL_US;
    }
    cluster_restart(s->cluster, host);
}

/* ---- pauses, clocks, memory, disks -----------------------------------------------------------------------
 */

static int
pause_host(struct story *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a);
    if (!cluster_is_up(s->cluster, host) || cluster_is_stopped(s->cluster, host))
        return 0;
    if (f->kind == FAULT_SUSPEND)
        cluster_suspend(s->cluster, host);
    else
        cluster_stop(s->cluster, host);
    return 1;
}

static void
go_on(struct story *s, const struct fault *f)
{
    if (cluster_is_stopped(s->cluster, host_of(s, f->a)))
        cluster_continue(s->cluster, host_of(s, f->a));
}

static int
clock_rate(struct story *s, const struct fault *f)
{
    /* Two clocks differ by 1 % at most. */
    cluster_clock_rate(s->cluster, host_of(s, f->a), (int32_t)(f->b % 9901) - 4950);
    return 1;
}

static int
memory(struct story *s, const struct fault *f)
{
    cluster_short_of_memory(s->cluster, host_of(s, f->a), 1 + f->b % (1u << f->c % 16));
    return cluster_is_up(s->cluster, host_of(s, f->a));
}

static int
slow_disk(struct story *s, const struct fault *f)
{
    cluster_slow_disk(s->cluster, host_of(s, f->a), 20);
    return 1;
}

static void
usual_disk(struct story *s, const struct fault *f)
{
    cluster_slow_disk(s->cluster, host_of(s, f->a), 1);
}

static int
stall_disk(struct story *s, const struct fault *f)
{
    cluster_stall_disk(s->cluster, host_of(s, f->a), 500000 + f->b % 12000000);
    return 1;
}

static int
fill_disk(struct story *s, const struct fault *f)
{
    cluster_fill_disk(s->cluster, host_of(s, f->a), 1);
    return 1;
}

static void
empty_disk(struct story *s, const struct fault *f)
{
    cluster_fill_disk(s->cluster, host_of(s, f->a), 0);
}

static int
sync_error(struct story *s, const struct fault *f)
{
    cluster_fail_sync(s->cluster, host_of(s, f->a));
    return cluster_is_up(s->cluster, host_of(s, f->a));
}

/* ---- network ----------------------------------------------------------------------------------------------
 */

static int
delay(struct story *s, const struct fault *f)
{
    cluster_slow_network(s->cluster, 2 + f->a % 20);
    return 1;
}

static void
no_delay(struct story *s, const struct fault *f)
{
    (void)f;
    cluster_slow_network(s->cluster, 1);
}

static int
soft(struct story *s, const struct fault *f)
{
    cluster_soft_loss(s->cluster, f->kind == FAULT_LOSE ? 0.5 : s->cluster_options.lose_soft,
                      f->kind == FAULT_REPEAT ? 0.5 : s->cluster_options.repeat_soft);
    return 1;
}

static void
usual_soft(struct story *s, const struct fault *f)
{
    (void)f;
    cluster_soft_loss(s->cluster, s->cluster_options.lose_soft, s->cluster_options.repeat_soft);
}

static int
disconnect(struct story *s, const struct fault *f)
{
    cluster_disconnect(s->cluster, host_of(s, f->a), host_of(s, f->b));
    return host_of(s, f->a) != host_of(s, f->b);
}

/* Groups by the bits of b; in a bridge, host a is in both. */
static int
is_apart(const struct story *s, const struct fault *f, uint32_t p, uint32_t q)
{
    uint32_t a = host_of(s, f->a), b = host_of(s, f->b);
    switch (f->kind) {
    case FAULT_CUT_ONE_WAY:
        return p == a && q == b;
    case FAULT_CUT:
    case FAULT_FLAP:
        return (p == a && q == b) || (p == b && q == a);
    case FAULT_EVICT_LIVE:
        return p == a || q == a;
    case FAULT_BRIDGE:
        return p != a && q != a && ((f->b >> p % 32 ^ f->b >> q % 32) & 1) != 0;
    default:
        return ((f->b >> p % 32 ^ f->b >> q % 32) & 1) != 0;
    }
}

static int
divide(struct story *s, const struct fault *f, int on)
{
    int happens = 0;
    for (uint32_t p = 0; p < s->h.n; p++)
        for (uint32_t q = 0; q < s->h.n; q++)
            if (p != q && is_apart(s, f, p, q)) {
                if (f->c % 2 != 0 && f->kind != FAULT_CUT_ONE_WAY)
                    cluster_cut(s->cluster, p, q, on);
                else
                    cluster_cut_silently(s->cluster, p, q, on);
                happens = 1;
            }
    return happens;
}

static int
cut(struct story *s, const struct fault *f)
{
    return divide(s, f, 1);
}

static void
mend(struct story *s, const struct fault *f)
{
    divide(s, f, 0);
}

static int
flap(struct story *s, const struct fault *f)
{
    int happens = 0;
    for (uint32_t i = 0; i < 3 + f->c % 4; i++) {
        happens = divide(s, f, 1);
        cluster_run(s->cluster, 50000 + f->c % 400000, NULL, NULL);
        divide(s, f, 0);
        cluster_run(s->cluster, 50000 + f->b % 300000, NULL, NULL);
    }
    return happens;
}

/* ---- applications, the log -------------------------------------------------------------------------------
 */

static int
manner(struct story *s, const struct fault *f)
{
    cluster_set_manner(s->cluster, f->kind == FAULT_DISOBEDIENT ? MANNER_DISOBEDIENT : MANNER_SLOW);
    return 1;
}

static void
obedient(struct story *s, const struct fault *f)
{
    (void)f;
    cluster_set_manner(s->cluster, MANNER_OBEDIENT);
}

static int
kill_applications(struct story *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a);
    int happens = cluster_applications(s->cluster, host) != 0;
    cluster_kill_applications(s->cluster, host);
    return happens;
}

static int
new_application(struct story *s, const struct fault *f)
{
    char name[LBM_NAME_MAX + 1];
    if (s->jobs == 0 || cluster_applications(s->cluster, host_of(s, f->a)) != 0)
        return 0;
    snprintf(name, sizeof name, "job%" PRIu32, f->b % s->jobs);
    cluster_run_application(s->cluster, host_of(s, f->a), name, (enum manner)(f->c % MANNER_COUNT));
    return 1;
}

static int
log_away(struct story *s, const struct fault *f)
{
    if (!cluster_log_is_external(s->cluster))
        return 0;
    if (f->kind == FAULT_LOG_AWAY)
        cluster_log_unavailable(s->cluster, 1);
    else
        cluster_log_loses(s->cluster, 0.5);
    return 1;
}

static void
log_back(struct story *s, const struct fault *f)
{
    if (f->kind == FAULT_LOG_AWAY)
        cluster_log_unavailable(s->cluster, 0);
    else
        cluster_log_loses(s->cluster, 0);
}

/* ---- operators and users ----------------------------------------------------------------------------------
 */

static int
change_host(struct story *s, const struct fault *f, Lbm__HostAction action)
{
    uint32_t at = running_host(s, f->b);
    if (at == LBM_NONE)
        return 0;
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    change.action = action;
    change.host = host_of(s, f->a);
    change.capacity = action == LBM__HOST_ACTION__HOST_SET ? 0.5 + f->c % 8 / 2.0 : 0;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOST_CHANGE;
    request.host_change = &change;
    cluster_request(s->cluster, at, 0, &request);
    return 1;
}

/* Eviction by an operator is a loss like another. */
static int
evict(struct story *s, const struct fault *f)
{
    if (!cluster_is_whole(s->cluster) || !story_may_lose(s))
        return 0;
    s->loss_us = cluster_now(s->cluster);
    s->quiet_until_us = s->loss_us + RENEWAL_US;
    return change_host(s, f, LBM__HOST_ACTION__HOST_EVICT);
}

static int
operate(struct story *s, const struct fault *f)
{
    static const Lbm__HostAction action[FAULT_COUNT] = {[FAULT_DRAIN] = LBM__HOST_ACTION__HOST_DRAIN,
                                                        [FAULT_LEAVE] = LBM__HOST_ACTION__HOST_LEAVE,
                                                        [FAULT_SET] = LBM__HOST_ACTION__HOST_SET};
    return change_host(s, f, action[f->kind]);
}

static int
join(struct story *s, const struct fault *f)
{
    for (uint32_t p = 0; p < s->h.n; p++)
        if (!cluster_is_up(s->cluster, p) && s->down[p] == 0 && !s->dead[p]) {
            cluster_restart(s->cluster, p);
            return 1;
        }
    return change_host(s, f, LBM__HOST_ACTION__HOST_JOIN);
}

static int
submit(struct story *s, const struct fault *f)
{
    uint32_t at = running_host(s, f->a);
    if (at == LBM_NONE || s->jobs == STORY_JOBS_MAX)
        return 0;
    story_submit(s, at, f->b);
    return 1;
}

static int
cancel(struct story *s, const struct fault *f)
{
    char name[LBM_NAME_MAX + 1];
    uint32_t at = running_host(s, f->a);
    if (at == LBM_NONE || s->jobs < 2)
        return 0;
    snprintf(name, sizeof name, "job%" PRIu32, f->b % s->jobs);
    Lbm__CancelRequest cancel = LBM__CANCEL_REQUEST__INIT;
    cancel.job = name;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_CANCEL;
    request.cancel = &cancel;
    cluster_request(s->cluster, at, 0, &request);
    return 1;
}

static int
promote(struct story *s, const struct fault *f)
{
    uint32_t at = running_host(s, f->a);
    if (at == LBM_NONE || cluster_log_is_external(s->cluster))
        return 0;
    story_promote(s, at, 0);
    return 1;
}

/* ---- the table --------------------------------------------------------------------------------------------
 */

static const struct {
    int (*begins)(struct story *s, const struct fault *fault);
    void (*ends)(struct story *s, const struct fault *fault);
} actions[FAULT_COUNT] = {
    [FAULT_DELAY] = {delay, no_delay},
    [FAULT_DISCONNECT] = {disconnect, NULL},
    [FAULT_REPEAT] = {soft, usual_soft},
    [FAULT_LOSE] = {soft, usual_soft},
    [FAULT_CUT_ONE_WAY] = {cut, mend},
    [FAULT_CUT] = {cut, mend},
    [FAULT_PARTITION] = {cut, mend},
    [FAULT_BRIDGE] = {cut, mend},
    [FAULT_FLAP] = {flap, NULL},
    [FAULT_CRASH_BEFORE] = {crash, restart},
    [FAULT_CRASH_INSIDE] = {crash, restart},
    [FAULT_CRASH_AFTER] = {crash, restart},
    [FAULT_DEATH] = {die, NULL},
    [FAULT_EVICT_DEAD] = {crash, restart},
    [FAULT_EVICT_LIVE] = {cut, mend},
    [FAULT_EVICT] = {evict, NULL},
    [FAULT_RETURN] = {return_all, NULL},
    [FAULT_DOUBLE] = {crash_two, restart_two},
    [FAULT_ROLL_BACK] = {image, roll_back},
    [FAULT_CLOCK_RATE] = {clock_rate, NULL},
    [FAULT_SUSPEND] = {pause_host, go_on},
    [FAULT_STOP] = {pause_host, go_on},
    [FAULT_SLOW_DISK] = {slow_disk, usual_disk},
    [FAULT_STALLED_DISK] = {stall_disk, NULL},
    [FAULT_FULL_DISK] = {fill_disk, empty_disk},
    [FAULT_SYNC_ERROR] = {sync_error, NULL},
    [FAULT_MEMORY] = {memory, NULL},
    [FAULT_SLOW_APPLICATION] = {manner, obedient},
    [FAULT_DISOBEDIENT] = {manner, obedient},
    [FAULT_DEAD_APPLICATION] = {kill_applications, NULL},
    [FAULT_NEW_APPLICATION] = {new_application, NULL},
    [FAULT_KILL] = {kill_daemon, restart},
    [FAULT_LOG_AWAY] = {log_away, log_back},
    [FAULT_LOG_LOSES] = {log_away, log_back},
    [FAULT_JOIN] = {join, NULL},
    [FAULT_DRAIN] = {operate, NULL},
    [FAULT_LEAVE] = {operate, NULL},
    [FAULT_SET] = {operate, NULL},
    [FAULT_SUBMIT] = {submit, NULL},
    [FAULT_CANCEL] = {cancel, NULL},
    [FAULT_PROMOTE] = {promote, NULL},
};

int
fault_begins(struct story *s, const struct fault *fault)
{
    return actions[fault->kind].begins(s, fault);
}

void
fault_ends(struct story *s, const struct fault *fault)
{
    if (actions[fault->kind].ends != NULL)
        actions[fault->kind].ends(s, fault);
}
