/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* May the program work? By the lease page, and by what the daemon does with the connection (docs/protocol.md,
 * "Leases"). */
#include "config.h"

#include "api/mutants.h"
#include "api/service.h"
#include "api/system.h"

enum {
    FRESH_US = 20000,  /* so long a look that found the lease good holds, while the page stays the same */
    TICK_US = 10000,   /* of the coarse clock, at most */
    DYING_US = 500000, /* from the end of a dying process's connections to that of its locks, at most */
};

_Static_assert(FRESH_US * 5 <= LBM_LEASE_NOTICE_US,
               "a program sees the end of its connection, ends its step, and only then is called gone");

/* The other side has closed the connection, or is gone. */
static int
has_hung_up(const struct lbmap *map)
{
    return map->fd >= 0 && lbm_system_has_hung_up(map->fd);
}

/* What the daemon thinks of us, by the connection. */
enum standing {
    STANDING_GOOD,   /* connected, or the daemon is dead: the page holds */
    STANDING_UNSURE, /* the connection ended, and the daemon may be dying just now */
    STANDING_CUT_OFF /* the daemon goes on without us */
};

/* The connection ended with the daemon's life, or so it seems: a program that stood still may have been cut
 * off before. The page counts who has gone. If that was another program, and this one has not looked since,
 * it takes its lease for lost, too. */
static int
may_have_gone(const struct lbm_service *s, const struct lbm_lease_page *lease, int is_dead)
{
    return lease->gone != s->gone || (is_dead && lease->used == 0);
}

/* A process that dies lets go of its sockets and of its lock one after the other. The page was read before:
 * whoever is still connected then is none of those that it says have gone. */
static enum standing
judge_standing(const struct lbmap *map, const struct lbm_lease_page *lease, int64_t now_us)
{
    struct lbm_service *s = map->service;
    if (map->fd < 0 && map->ended_here)
        return STANDING_CUT_OFF;
    int has_ended = map->fd < 0 || has_hung_up(map);
    int is_dead = has_ended && lease->life == s->life && !lbm_page_is_written(&s->page);
    if (!has_ended && lease->life == s->life)
        s->gone = lease->gone;
    if (!has_ended || lease->life != s->life || is_dead) {
        s->ended_us = 0;
        return has_ended && may_have_gone(s, lease, is_dead) ? STANDING_CUT_OFF : STANDING_GOOD;
    }
    if (s->ended_us == 0)
        s->ended_us = now_us;
    return now_us - s->ended_us < DYING_US ? STANDING_UNSURE : STANDING_CUT_OFF;
}

int
lbm_api_lease_is_good(const struct lbmap *map, const struct lbm_lease_page *lease)
{
    return judge_standing(map, lease, lbm_page_now_us()) == STANDING_GOOD;
}

enum lbmap_lease
lbm_api_lease_look(struct lbmap *map)
{
    struct lbm_service *s = map->service;
    struct lbm_lease_page lease;
    uint64_t sequence = lbm_lease_page_sequence(s->page.mapping);
    int64_t coarse_us = lbm_page_coarse_us(), wall_us = lbm_page_coarse_wall_us();
    s->fresh_us = 0;
    enum lbm_err err = lbm_lease_page_get(s->page.mapping, &lease);
    if (err == LBM_E_BUSY)
        return LBMAP_STOP;
    int64_t now_us = lbm_page_now_us();
    enum standing standing = judge_standing(map, &lease, now_us);
    s->lost = err != LBM_OK || (lease.term != s->term && !LBM_API_BUG(LEASE_OF_OLD_TERM)) ||
              now_us >= lease.deadline_us || (standing == STANDING_CUT_OFF && !LBM_API_BUG(HELD_AFTER_CUT));
    if (s->lost)
        return LBMAP_LOST;
    int64_t left_us = lease.deadline_us - LBM_LEASE_STOP_US - now_us;
    if (left_us <= 0 && !LBM_API_BUG(LEASE_TO_ITS_END))
        return LBMAP_STOP;
    if (standing != STANDING_GOOD)
        return LBMAP_STOP;
    int64_t holds_us = left_us - TICK_US < FRESH_US ? left_us - TICK_US : FRESH_US;
    s->fresh_us = coarse_us + holds_us;
    s->fresh_wall_us = wall_us + holds_us;
    s->fresh_sequence = sequence;
    return LBMAP_WORK;
}

/* Called before every step, so it asks the system for nothing but clocks, which it has in memory, and looks
 * closely every FRESH_US, and after the machine has slept. */
enum lbmap_lease
lbmap_lease_valid(struct lbmap *map)
{
    struct lbm_service *s = map->service;
    if (s == NULL || s->lost)
        return LBMAP_LOST;
    if (s->fresh_us != 0 && lbm_page_coarse_us() < s->fresh_us &&
        lbm_page_coarse_wall_us() < s->fresh_wall_us && map->fd >= 0 &&
        lbm_lease_page_sequence(s->page.mapping) == s->fresh_sequence)
        return LBMAP_WORK;
    return lbm_api_lease_look(map);
}
