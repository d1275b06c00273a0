/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hosts that crash, die, pause, and run out of things. */
#include "node/core/timeouts.h"
#include "sim/faults/fault_actions.h"

/* ---- hosts that are down ------------------------------------------------------------------------------- */

static int
takes_down(struct run *s, uint32_t host)
{
    if (!cluster_is_up(s->cluster, host) || run_lacks_copies(s)) /* it may be evicted: a second loss */
        return 0;
    s->down[host]++;
    return 1;
}

/* Nonzero if an operator would start a host whose disk is a new one: the first host would begin a new cluster
 * if it heard of nobody. */
static int
may_start_empty(struct run *s, uint32_t host)
{
    for (uint32_t p = 0; p < s->h.n; p++)
        if (p != host && !s->dead[p] && cluster_is_up(s->cluster, p) && !cluster_is_stopped(s->cluster, p))
            return cluster_is_whole(s->cluster);
    return 0;
}

static void
comes_back(struct run *s, uint32_t host)
{
    if (s->emptied[host] && !may_start_empty(s, host))
        return; /* at the end of the faults */
    if (s->down[host] != 0)
        s->down[host]--;
    if (s->down[host] == 0 && !s->dead[host] && !cluster_is_up(s->cluster, host)) {
        s->emptied[host] = 0;
        cluster_restart(s->cluster, host);
    }
}

int
fault_crash(struct run *s, const struct fault *f)
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

int
fault_kill_daemon(struct run *s, const struct fault *f)
{
    if (cluster_is_stopped(s->cluster, host_of(s, f->a)) || !takes_down(s, host_of(s, f->a)))
        return 0;
    cluster_kill(s->cluster, host_of(s, f->a), (enum crash)(f->b % 3));
    return 1;
}

void
fault_restart(struct run *s, const struct fault *f)
{
    comes_back(s, host_of(s, f->a));
}

int
fault_crash_two(struct run *s, const struct fault *f)
{
    if (f->a % s->h.n == f->b % s->h.n || !fault_crash(s, f))
        return 0;
    cluster_run(s->cluster, f->c % 4000000, NULL, NULL);
    if (takes_down(s, host_of(s, f->b)))
        cluster_crash(s->cluster, host_of(s, f->b));
    return 1;
}

void
fault_restart_two(struct run *s, const struct fault *f)
{
    comes_back(s, host_of(s, f->a));
    comes_back(s, host_of(s, f->b));
}

int
fault_return_all(struct run *s, const struct fault *f)
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
orders_log(struct run *s, uint32_t host)
{
    return !cluster_log_is_external(s->cluster) && run_leader(s, host) == host;
}

/* With two copies: who dies with a host, mostly a backup of it; LBM_NONE: nobody. */
static uint32_t
dies_too(struct run *s, const struct fault *f, uint32_t host)
{
    if (f->c % 3 == 0 || !run_may_lose_two(s))
        return LBM_NONE;
    uint32_t other = f->b % 3 == 0   ? host_of(s, f->b / 3)
                     : f->b % 3 == 1 ? run_backup(s, host)
                                     : run_second_backup(s, host);
    if (other == LBM_NONE || other == host || s->dead[other] || !cluster_is_up(s->cluster, other) ||
        orders_log(s, host) || orders_log(s, other) || run_may_be_promoting(s) ||
        s->cluster_options.etcd == LBM_ETCD_ABILITY_RUNS)
        return LBM_NONE;
    return other;
}

static void
dies(struct run *s, uint32_t host)
{
    cluster_crash_with(s->cluster, host, CRASH_NONE); /* what is on its way to a disk that is lost is lost */
    cluster_lose_disk(s->cluster, host);
    s->dead[host] = 1;
}

int
fault_die(struct run *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a);
    if (s->dead[host] || !cluster_is_up(s->cluster, host) || !cluster_is_whole(s->cluster) ||
        !run_may_lose(s) || !cluster_ensemble_survives(s->cluster, host))
        return 0;
    int headless = orders_log(s, host) || run_may_be_promoting(s);
    if (headless && (!cluster_log_is_everywhere(s->cluster) || !run_can_promote(s, host)))
        return 0;
    if (!cluster_is_up(s->cluster, host))
        return 0; /* it ended when it was asked, and comes back */
    uint32_t other = dies_too(s, f, host);
    dies(s, host);
    if (other != LBM_NONE)
        dies(s, other);
    s->headless |= headless;
    run_disk_lost(s);
    return 1;
}

int
fault_image(struct run *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a);
    if (!cluster_is_up(s->cluster, host))
        return 0;
    cluster_image_disk(s->cluster, host);
    return 1;
}

/* Nonzero if a disk may go back in time, or be emptied. What only the leader has of the control log is lost
 * with its disk, as with the host. */
static int
may_lose_disk(struct run *s, uint32_t host)
{
    return cluster_is_up(s->cluster, host) && cluster_is_whole(s->cluster) && run_may_lose(s) &&
           (!orders_log(s, host) || (cluster_log_is_everywhere(s->cluster) && !run_may_be_promoting(s)));
}

static void
go_back(struct run *s, uint32_t host)
{
    cluster_crash(s->cluster, host);
    if (cluster_roll_back_disk(s->cluster, host))
        run_disk_lost(s);
}

void
fault_roll_back(struct run *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a);
    if (!may_lose_disk(s, host))
        return;
    go_back(s, host);
    cluster_restart(s->cluster, host);
}

int
fault_image_two(struct run *s, const struct fault *f)
{
    struct fault other = *f;
    other.a = f->b;
    return host_of(s, f->a) != host_of(s, f->b) && fault_image(s, f) && fault_image(s, &other);
}

static int
keep_a_copy_both(struct run *s, uint32_t a, uint32_t b)
{
    uint32_t backup[4] = {run_backup(s, a), run_second_backup(s, a), run_backup(s, b),
                          run_second_backup(s, b)};
    for (int i = 0; i < 2; i++)
        for (int k = 2; k < 4; k++)
            if (backup[i] != LBM_NONE && backup[i] == backup[k])
                return 1;
    return backup[0] == b || backup[1] == b || backup[2] == a || backup[3] == a;
}

/* Neither has the other's copy: that would be more than one copy can save. Nor can a second one: the older
 * copy may be taken over. */
void
fault_roll_back_two(struct run *s, const struct fault *f)
{
    uint32_t host[2] = {host_of(s, f->a), host_of(s, f->b)};
    if (!may_lose_disk(s, host[0]) || !may_lose_disk(s, host[1]) || keep_a_copy_both(s, host[0], host[1]))
        return;
    go_back(s, host[0]);
    go_back(s, host[1]);
    cluster_restart(s->cluster, host[0]);
    cluster_restart(s->cluster, host[1]);
}

int
fault_empty(struct run *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a);
    if (!may_lose_disk(s, host) || !takes_down(s, host))
        return 0;
    s->lost[host] = run_incarnation(s, host);
    cluster_crash(s->cluster, host);
    cluster_lose_disk(s->cluster, host);
    s->emptied[host] = 1;
    run_disk_lost(s);
    return 1;
}

/* ---- pauses, clocks, memory, disks --------------------------------------------------------------------- */

int
fault_pause_host(struct run *s, const struct fault *f)
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

void
fault_go_on(struct run *s, const struct fault *f)
{
    if (cluster_is_stopped(s->cluster, host_of(s, f->a)))
        cluster_continue(s->cluster, host_of(s, f->a));
}

_Static_assert(2 * CLUSTER_CLOCK_PPM * LEASE_CLOCK_PARTS <= 1000000,
               "leases allow for the clocks of this cluster");

int
fault_clock_rate(struct run *s, const struct fault *f)
{
    /* Two clocks differ by 1 % at most. */
    cluster_clock_rate(s->cluster, host_of(s, f->a),
                       (int32_t)(f->b % (2 * CLUSTER_CLOCK_PPM + 1)) - CLUSTER_CLOCK_PPM);
    return 1;
}

int
fault_memory(struct run *s, const struct fault *f)
{
    cluster_short_of_memory(s->cluster, host_of(s, f->a), 1 + f->b % (1u << f->c % 16));
    return cluster_is_up(s->cluster, host_of(s, f->a));
}

int
fault_slow_disk(struct run *s, const struct fault *f)
{
    cluster_slow_disk(s->cluster, host_of(s, f->a), 20);
    return 1;
}

void
fault_usual_disk(struct run *s, const struct fault *f)
{
    cluster_slow_disk(s->cluster, host_of(s, f->a), 1);
}

int
fault_stall_disk(struct run *s, const struct fault *f)
{
    cluster_stall_disk(s->cluster, host_of(s, f->a), 500000 + f->b % 12000000);
    return 1;
}

int
fault_fill_disk(struct run *s, const struct fault *f)
{
    cluster_fill_disk(s->cluster, host_of(s, f->a), 1);
    return 1;
}

void
fault_empty_disk(struct run *s, const struct fault *f)
{
    cluster_fill_disk(s->cluster, host_of(s, f->a), 0);
}

int
fault_sync_error(struct run *s, const struct fault *f)
{
    cluster_fail_sync(s->cluster, host_of(s, f->a));
    return cluster_is_up(s->cluster, host_of(s, f->a));
}
