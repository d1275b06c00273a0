/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages that are late, lost or repeated; hosts that do not reach each other. */
#include "sim/faults/fault_actions.h"

/* ---- network ------------------------------------------------------------------------------------------- */

int
fault_delay(struct run *s, const struct fault *f)
{
    cluster_slow_network(s->cluster, 2 + f->a % 20);
    return 1;
}

void
fault_no_delay(struct run *s, const struct fault *f)
{
    (void)f;
    cluster_slow_network(s->cluster, 1);
}

static void
lag(struct run *s, const struct fault *f, int64_t us)
{
    for (uint32_t q = 0; q < s->h.n; q++)
        if (q != host_of(s, f->a) && (f->c % 2 != 0 || q == host_of(s, f->b)))
            cluster_lag(s->cluster, host_of(s, f->a), q, us);
}

int
fault_lag(struct run *s, const struct fault *f)
{
    /* Who is late with everything is suspected after some seconds; who is late with one host is not. */
    lag(s, f, LAG_LEAST_US + f->c % (f->c % 2 != 0 ? 5000000 : 12000000));
    return host_of(s, f->a) != host_of(s, f->b) || f->c % 2 != 0;
}

void
fault_no_lag(struct run *s, const struct fault *f)
{
    lag(s, f, 0);
}

int
fault_hold(struct run *s, const struct fault *f)
{
    static const char *const names[] = {
#define HELD_NAME(id, name) name,
        HELD_LIST(HELD_NAME)
#undef HELD_NAME
    };
    if (host_of(s, f->a) == host_of(s, f->b))
        return 0;
    uint32_t held = f->held != HELD_ANY ? f->held : 1 + f->c % (HELD_COUNT - 1);
    cluster_hold(s->cluster, names[held], host_of(s, f->a), host_of(s, f->b));
    return 1;
}

void
fault_let_pass(struct run *s, const struct fault *f)
{
    (void)cluster_pass(s->cluster, host_of(s, f->a), host_of(s, f->b));
}

int
fault_pass(struct run *s, const struct fault *f)
{
    (void)f;
    cluster_pass_all(s->cluster);
    return 1;
}

int
fault_soft(struct run *s, const struct fault *f)
{
    cluster_soft_loss(s->cluster, f->kind == FAULT_LOSE ? 0.5 : s->cluster_options.lose_soft,
                      f->kind == FAULT_REPEAT ? 0.5 : s->cluster_options.repeat_soft);
    return 1;
}

void
fault_usual_soft(struct run *s, const struct fault *f)
{
    (void)f;
    cluster_soft_loss(s->cluster, s->cluster_options.lose_soft, s->cluster_options.repeat_soft);
}

int
fault_disconnect(struct run *s, const struct fault *f)
{
    cluster_disconnect(s->cluster, host_of(s, f->a), host_of(s, f->b));
    return host_of(s, f->a) != host_of(s, f->b);
}

/* Groups by the bits of b; in a bridge, host a is in both. */
static int
is_apart(const struct run *s, const struct fault *f, uint32_t p, uint32_t q)
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
divide(struct run *s, const struct fault *f, int on)
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

int
fault_cut(struct run *s, const struct fault *f)
{
    return divide(s, f, 1);
}

void
fault_mend(struct run *s, const struct fault *f)
{
    divide(s, f, 0);
}

int
fault_flap(struct run *s, const struct fault *f)
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

/* ---- hosts that hear little ---------------------------------------------------------------------------- */

int
fault_leash(struct run *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a), backup = run_backup(s, host);
    if (backup == LBM_NONE)
        return 0;
    for (uint32_t p = 0; p < s->h.n; p++)
        if (p != host && p != backup) {
            cluster_cut_silently(s->cluster, host, p, 1);
            cluster_cut_silently(s->cluster, p, host, 1);
        }
    return 1;
}

void
fault_unleash(struct run *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a);
    for (uint32_t p = 0; p < s->h.n; p++)
        if (p != host)
            cluster_cut(s->cluster, host, p, 0);
}

int
fault_deafen(struct run *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a);
    uint32_t leader = cluster_is_up(s->cluster, host) ? run_leader(s, host) : LBM_NONE;
    if (cluster_log_is_external(s->cluster))
        cluster_log_deaf(s->cluster, host, 1);
    else if (leader == LBM_NONE || leader == host)
        return 0;
    else
        cluster_cut_silently(s->cluster, leader, host, 1);
    return 1;
}

void
fault_undeafen(struct run *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a);
    cluster_log_deaf(s->cluster, host, 0);
    for (uint32_t p = 0; p < s->h.n && !cluster_log_is_external(s->cluster); p++)
        if (p != host)
            cluster_cut_silently(s->cluster, p, host, 0);
}

int
fault_forge(struct run *s, const struct fault *f)
{
    if (host_of(s, f->a) == host_of(s, f->b))
        return 0;
    cluster_forge(s->cluster, host_of(s, f->a), host_of(s, f->b), f->c);
    return 1;
}

int
fault_lie(struct run *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a), kind = 1 + f->c % (CLUSTER_LIES - 1);
    if (kind == CLUSTER_LIE_HISTORY &&
        host != s->h.n - 1) { /* else what a second one says, too, is believed */
        kind = f->b % 2 == 0 ? CLUSTER_LIE_ENTRY : CLUSTER_LIE_SILENCE;
        uint32_t at = host_of(s, host + 1 + f->b / 2 % (s->h.n - 1)); /* who takes the log over asks for it */
        if (cluster_is_up(s->cluster, at) && !cluster_is_stopped(s->cluster, at) &&
            !cluster_log_is_external(s->cluster))
            run_promote(s, at, 0);
    }
    cluster_lie(s->cluster, host, (enum cluster_lie)kind);
    return 1;
}

void
fault_no_lie(struct run *s, const struct fault *f)
{
    cluster_lie(s->cluster, host_of(s, f->a), CLUSTER_LIE_NONE);
}
