/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands by which members go, and what becomes of what they had (protocol.md section 2): leave, evict, take
 * over, rejoin; who inherits, and whose copies are complete.
 *
 * Everything here is decided by the view alone, as in members.c. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/mutants.h"
#include "node/view/internal.h"

static int
by_host_then_incarnation(const void *a, const void *b)
{
    const struct lbm_departed *x = a, *y = b;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return (x->incarnation > y->incarnation) - (x->incarnation < y->incarnation);
}

static int
succeeds(const struct lbm_member *member, const struct lbm_departed *gone)
{
    return gone->evicted && gone->successor == member->host &&
           gone->successor_incarnation == member->incarnation;
}

static int
is_reserve(const struct lbm_member *member, const struct lbm_departed *gone)
{
    return gone->reserve == member->host && gone->reserve_incarnation == member->incarnation;
}

/* The other backup of a member that is evicted could take over as well, if it is in sync. */
static void
name_reserve(const struct lbm_view *view, const struct lbm_member *member, struct lbm_departed *gone)
{
    for (unsigned k = 0; k < view->copies; k++) {
        const struct lbm_member *backup = lbm_view_member(view, member->backups[k].host);
        if (backup == NULL || backup->host == gone->successor ||
            (!member->backups[k].insync && !LBM_BUG(RESERVE_WITHOUT_INSYNC)))
            continue;
        gone->reserve = backup->host;
        gone->reserve_incarnation = backup->incarnation;
    }
}

/* A member goes: whom it was to take over the reserve takes over, and it is nobody's reserve any more. */
static enum lbm_err
pass_on(struct lbm_view *view, const struct lbm_member *member)
{
    for (size_t i = 0; i < view->departed.n; i++) {
        struct lbm_departed *gone = &view->departed.at[i];
        int is_passed = succeeds(member, gone) && gone->reserve != LBM_NONE &&
                        (!gone->taken_over || LBM_BUG(RESERVE_AFTER_TAKE_OVER));
        if (!is_passed && !is_reserve(member, gone))
            continue;
        if (is_passed) {
            gone->taken_over = 0;
            gone->over = 0;
            gone->successor = gone->reserve;
            gone->successor_incarnation = gone->reserve_incarnation;
            gone->passed = view->index + 1;
            if (lbm_view_touch(view, gone->successor) != LBM_OK)
                return LBM_E_NOMEM;
        }
        gone->reserve = LBM_NONE;
        if (lbm_view_touch(view, gone->host) != LBM_OK)
            return LBM_E_NOMEM;
    }
    return LBM_OK;
}

static enum lbm_err
depart(struct lbm_view *view, struct lbm_member *member, int evicted)
{
    struct lbm_departed gone = {.host = member->host,
                                .incarnation = member->incarnation,
                                .view = view->index + 1,
                                .evicted = evicted,
                                .successor = LBM_NONE,
                                .reserve = LBM_NONE,
                                .was = member->state};
    const struct lbm_member *successor =
        evicted ? lbm_view_member(view, lbm_view_successor_of(view, member)) : NULL;
    if (successor != NULL) {
        gone.successor = successor->host;
        gone.successor_incarnation = successor->incarnation;
        name_reserve(view, member, &gone);
    }
    if (pass_on(view, member) != LBM_OK)
        return LBM_E_NOMEM;
    if (lbm_vec_push(&view->departed, gone) != LBM_OK)
        return LBM_E_NOMEM;
    qsort(view->departed.at, view->departed.n, sizeof *view->departed.at, by_host_then_incarnation);
    int was_active = member->state == LBM_MEMBER_ACTIVE;
    if (lbm_view_set_state(view, member, evicted ? LBM_MEMBER_EVICTED : LBM_MEMBER_LEFT) != LBM_OK)
        return LBM_E_NOMEM;
    for (unsigned k = 0; k < view->copies; k++) {
        if (lbm_view_set_backup(view, member, k, LBM_NONE) != LBM_OK)
            return LBM_E_NOMEM;
        member->backups[k].insync = 0;
    }
    enum lbm_err err = lbm_view_give_backups(view, member->host);
    if (err == LBM_OK && was_active) /* else it stays what it was to the host graph: between others */
        lbm_view_derive(view);
    return err;
}

/* Jobs keep a coordinator that can act. */
static void
move_coordinators(struct lbm_view *view, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < view->jobs.n; i++)
        if (view->jobs.at[i].coordinator == from)
            view->jobs.at[i].coordinator = to;
}

/* A host whose copy only this member keeps, though another one could, or LBM_NONE. */
static uint32_t
primary_of_one_that_leaves(const struct lbm_view *view, const struct lbm_member *member)
{
    for (uint32_t host = 0; host < view->place.n; host++) {
        const struct lbm_host_place *place = &view->place.at[host];
        if (place->member != LBM_NONE && lbm_state_participates(place->state) &&
            lbm_view_backup_slot(&view->members.at[place->member], member->host) != NULL &&
            lbm_view_has_other_backup(view, &view->members.at[place->member]))
            return host;
    }
    return LBM_NONE;
}

/* Was this member made a successor after `known`, or has it yet to take over? What it said before is stale.
 */
static int
inherits_since(const struct lbm_view *view, const struct lbm_member *member, uint64_t known)
{
    for (size_t i = 0; i < view->departed.n; i++) {
        const struct lbm_departed *gone = &view->departed.at[i];
        if (succeeds(member, gone) && (gone->view > known || gone->passed > known || !gone->taken_over) &&
            !LBM_BUG(STALE_WORD_OF_SUCCESSOR))
            return 1;
    }
    return 0;
}

/* Has it yet to take over a host from which nobody else could? */
static int
is_needed(const struct lbm_view *view, const struct lbm_member *member)
{
    for (size_t i = 0; i < view->departed.n; i++) {
        const struct lbm_departed *gone = &view->departed.at[i];
        if (succeeds(member, gone) && !gone->taken_over && gone->reserve == LBM_NONE &&
            !LBM_BUG(SUCCESSOR_STAYS_INSYNC))
            return 1;
    }
    return 0;
}

int
lbm_view_slot_in_sync(const struct lbm_view *view, const struct lbm_member *member, unsigned slot)
{
    return member->backups[slot].insync && !is_needed(view, member);
}

int
lbm_view_in_sync(const struct lbm_view *view, const struct lbm_member *member)
{
    int is_in_sync = 0;
    for (unsigned k = 0; k < view->copies; k++)
        is_in_sync |= member->backups[k].insync;
    return is_in_sync && !is_needed(view, member);
}

int
lbm_view_all_in_sync(const struct lbm_view *view, const struct lbm_member *member)
{
    for (unsigned k = 0; k < view->copies; k++)
        if (member->backups[k].host != LBM_NONE && !member->backups[k].insync)
            return 0;
    return lbm_view_in_sync(view, member);
}

uint32_t
lbm_view_successor_of(const struct lbm_view *view, const struct lbm_member *member)
{
    uint32_t first = LBM_NONE;
    for (unsigned k = 0; k < view->copies; k++) {
        const struct lbm_member *backup = lbm_view_member(view, member->backups[k].host);
        if (backup == NULL || !lbm_view_participates(backup))
            continue;
        if (member->backups[k].insync || LBM_BUG(SUCCESSOR_WITHOUT_INSYNC))
            return backup->host;
        first = first == LBM_NONE ? backup->host : first;
    }
    return first;
}

/* A host that is evicted, and not taken over, whose other copy this member keeps; or LBM_NONE. */
static uint32_t
kept_in_reserve(const struct lbm_view *view, const struct lbm_member *member)
{
    for (size_t i = 0; i < view->departed.n; i++)
        if (is_reserve(member, &view->departed.at[i]))
            return view->departed.at[i].host;
    return LBM_NONE;
}

enum lbm_err
lbm_view_apply_leave(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    struct lbm_member *member =
        lbm_view_member_named(view, command->leave->host, command->leave->incarnation, refusal);
    if (member == NULL)
        return LBM_OK;
    if (member->state != LBM_MEMBER_DRAINING)
        lbm_view_refuse_state(member, refusal);
    else if (!view->external && view->leader == member->host)
        snprintf(refusal, LBM_DIAG_TEXT_MAX,
                 "host %" PRIu32 " orders the control log; promote another one first", member->host);
    else if (lbm_view_host(view, 0) == LBM_NONE)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "no host is active: nobody could take over its jobs");
    else if (command->leave->known < member->drained &&
             !LBM_BUG(LEAVE_OF_EARLIER_DRAIN)) /* it was empty, and has taken vertices since */
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " said so before it was drained again",
                 member->host);
    if (refusal[0] != '\0')
        return LBM_OK;
    uint32_t primary = primary_of_one_that_leaves(view, member);
    if (primary != LBM_NONE) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " has nobody else to keep its copy yet",
                 primary);
        return LBM_OK;
    }
    uint32_t kept = kept_in_reserve(view, member);
    if (kept != LBM_NONE) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX,
                 "host %" PRIu32 " keeps a copy of host %" PRIu32 " until that is "
                 "taken over",
                 member->host, kept);
        return LBM_OK;
    }
    if (inherits_since(view, member, command->leave->known) && !LBM_BUG(LEAVE_WITH_INHERITANCE)) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " has something to take over", member->host);
        return LBM_OK;
    }
    move_coordinators(view, member->host, lbm_view_host(view, 0));
    return depart(view, member, 0);
}

/* All jobs may have lost what that host had. */
static void
mark_losses(struct lbm_view *view)
{
    for (size_t i = 0; i < view->jobs.n; i++)
        view->jobs.at[i].loss = view->index + 1;
}

/* An evicted host that its successor has not taken over, and never will, since it was lost itself: an
 * operator gives up what the host had. Whoever speaks for the successor speaks for it then. */
static enum lbm_err
give_up_evicted(struct lbm_view *view, const struct lbm_member *member, char *refusal)
{
    uint32_t speaker;
    uint64_t incarnation;
    for (size_t i = 0; i < view->departed.n; i++) {
        struct lbm_departed *gone = &view->departed.at[i];
        if (gone->host != member->host || gone->incarnation != member->incarnation)
            continue;
        const struct lbm_member *successor = lbm_view_member(view, gone->successor);
        int may_take_over = successor != NULL && successor->incarnation == gone->successor_incarnation &&
                            lbm_view_participates(successor);
        if (gone->taken_over)
            snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is EVICTED, and taken over", member->host);
        else if (may_take_over)
            snprintf(refusal, LBM_DIAG_TEXT_MAX,
                     "host %" PRIu32 " is EVICTED, and host %" PRIu32
                     " is to take over: start its lbmapd, or declare that one lost first",
                     member->host, gone->successor);
        else if (!lbm_view_successor(view, gone->successor, gone->successor_incarnation, &speaker,
                                     &incarnation))
            snprintf(refusal, LBM_DIAG_TEXT_MAX,
                     "host %" PRIu32 " is EVICTED, and its successor host %" PRIu32
                     " is not taken over yet: ask again then",
                     member->host, gone->successor);
        if (refusal[0] != '\0')
            return LBM_OK;
        gone->taken_over = 1;
        mark_losses(view);
        if (speaker != LBM_NONE)
            move_coordinators(view, member->host, speaker);
        return lbm_view_touch(view, member->host);
    }
    lbm_view_refuse_state(member, refusal);
    return LBM_OK;
}

enum lbm_err
lbm_view_apply_evict(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__Evict *evict = command->evict;
    struct lbm_member *member = lbm_view_member_named(view, evict->host, evict->incarnation, refusal);
    if (member == NULL)
        return LBM_OK;
    if (member->state == LBM_MEMBER_EVICTED && evict->lost)
        return give_up_evicted(view, member, refusal);
    struct lbm_member *successor = lbm_view_member_of(view, lbm_view_successor_of(view, member));
    if (!lbm_view_participates(member))
        lbm_view_refuse_state(member, refusal);
    else if (!view->external && view->leader == member->host)
        snprintf(refusal, LBM_DIAG_TEXT_MAX,
                 "host %" PRIu32 " orders the control log; promote another one first", member->host);
    else if (successor == NULL || !lbm_view_participates(successor))
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "nobody could take over from host %" PRIu32, member->host);
    else if (!lbm_view_in_sync(view, member) && !evict->lost && !LBM_BUG(EVICT_WITHOUT_INSYNC))
        snprintf(refusal, LBM_DIAG_TEXT_MAX,
                 "its backup has no full copy of host %" PRIu32 ": wait for it, or declare it lost",
                 member->host);
    if (refusal[0] != '\0')
        return LBM_OK;
    if (!lbm_view_in_sync(view, member))
        mark_losses(view); /* what its backup lacks is lost */
    if (lbm_view_touch(view, successor->host) !=
        LBM_OK) /* it is not in sync while it has that to take over */
        return LBM_E_NOMEM;
    return depart(view, member, 1);
}

static struct lbm_departed *
departed_of(struct lbm_view *view, uint32_t host, uint64_t incarnation, char *refusal)
{
    for (size_t i = 0; i < view->departed.n; i++) {
        struct lbm_departed *gone = &view->departed.at[i];
        if (gone->host == host && gone->incarnation == incarnation && gone->evicted)
            return gone;
    }
    snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " of incarnation %" PRIu64 " is not evicted", host,
             incarnation);
    return NULL;
}

enum lbm_err
lbm_view_apply_take_over(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__TakeOver *take_over = command->take_over;
    struct lbm_member *successor =
        lbm_view_member_named(view, take_over->successor, take_over->successor_incarnation, refusal);
    struct lbm_departed *gone =
        successor != NULL ? departed_of(view, take_over->host, take_over->incarnation, refusal) : NULL;
    if (gone == NULL)
        return LBM_OK;
    if (!lbm_view_participates(successor))
        lbm_view_refuse_state(successor, refusal);
    else if (gone->taken_over || gone->successor != take_over->successor ||
             gone->successor_incarnation != take_over->successor_incarnation)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is not host %" PRIu32 "'s to take over",
                 take_over->host, take_over->successor);
    if (refusal[0] != '\0')
        return LBM_OK;
    gone->taken_over = 1;
    gone->over = view->index + 1;
    if (!LBM_BUG(SUCCESSOR_STAYS_INSYNC))
        for (unsigned k = 0; k < view->copies; k++)
            successor->backups[k].insync = 0; /* until it has replicated what it inherits */
    if (!LBM_BUG(RESERVE_AFTER_TAKE_OVER))
        gone->reserve = LBM_NONE;
    move_coordinators(view, take_over->host, take_over->successor);
    return lbm_view_touch(view, successor->host) == LBM_OK ? lbm_view_touch(view, take_over->host)
                                                           : LBM_E_NOMEM;
}

enum lbm_err
lbm_view_apply_rejoin(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__Rejoin *rejoin = command->rejoin;
    struct lbm_member *member = lbm_view_member_named(view, rejoin->host, rejoin->incarnation, refusal);
    struct lbm_departed *gone =
        member != NULL ? departed_of(view, rejoin->host, rejoin->incarnation, refusal) : NULL;
    if (gone == NULL)
        return LBM_OK;
    if (gone->taken_over && !LBM_BUG(REJOIN_AFTER_TAKE_OVER)) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is taken over already", rejoin->host);
        return LBM_OK;
    }
    if (lbm_view_set_state(view, member, gone->was) != LBM_OK)
        return LBM_E_NOMEM;
    size_t at = (size_t)(gone - view->departed.at);
    memmove(gone, gone + 1, (view->departed.n - at - 1) * sizeof *gone);
    view->departed.n--;
    if (lbm_view_give_all_backups(view, member) != LBM_OK || lbm_view_give_backups(view, LBM_NONE) != LBM_OK)
        return LBM_E_NOMEM;
    lbm_view_derive(view);
    return LBM_OK;
}

enum lbm_err
lbm_view_apply_in_sync(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__InSync *in_sync = command->in_sync;
    struct lbm_member *member = lbm_view_member_named(view, in_sync->host, in_sync->incarnation, refusal);
    if (member == NULL)
        return LBM_OK;
    unsigned slot = 0;
    while (slot < LBM_COPIES_MAX &&
           (member->backups[slot].host != in_sync->backup || member->backups[slot].view != in_sync->view))
        slot++;
    if (slot == LBM_COPIES_MAX && LBM_BUG(INSYNC_OF_OLD_BACKUP))
        slot = 0;
    if (!lbm_view_participates(member))
        lbm_view_refuse_state(member, refusal);
    else if (slot == LBM_COPIES_MAX)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " has another backup by now", member->host);
    else if (inherits_since(view, member, in_sync->known))
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " has inherited something since", member->host);
    else
        member->backups[slot].insync = 1;
    return lbm_view_touch(view, in_sync->host);
}
