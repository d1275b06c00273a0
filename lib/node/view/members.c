/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands about members (protocol.md section 2): who takes part, who inherits.
 *
 * Everything here is decided by the view alone, so that all hosts decide alike. What cannot be seen in the
 * view (that a host is empty, that a copy is complete) is what the proposer vouches for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/mutants.h"
#include "node/view/internal.h"

/* ---- joining ------------------------------------------------------------------------------------------- */

static struct lbm_link *
copy_links(const struct lbm_link *links, size_t n)
{
    return n != 0 ? lbm_copy(links, n, sizeof *links) : lbm_alloc(1, sizeof *links);
}

static enum lbm_err
set_links(struct lbm_link **at, size_t *n, uint32_t host, size_t n_new, const uint32_t *to,
          const uint32_t *cost)
{
    struct lbm_link *links = lbm_alloc(n_new + 1, sizeof *links);
    if (links == NULL)
        return LBM_E_NOMEM;
    for (size_t i = 0; i < n_new; i++)
        links[i] = (struct lbm_link){host, to[i], cost[i]};
    free(*at);
    *at = links;
    *n = n_new;
    return LBM_OK;
}

static int
same_links(const struct lbm_member *member, const Lbm__Join *join)
{
    if (member->n_announced_links != join->n_link_host)
        return 0;
    for (size_t i = 0; i < join->n_link_host; i++)
        if (member->announced_links[i].q != join->link_host[i] ||
            member->announced_links[i].cost != join->link_cost[i])
            return 0;
    return 1;
}

static int
by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

enum lbm_err
lbm_view_capacity_most(const struct lbm_view *view, uint32_t host, double *most)
{
    size_t n = 0;
    double *capacity = lbm_alloc(view->members.n, sizeof *capacity);
    if (capacity == NULL)
        return LBM_E_NOMEM;
    for (size_t i = 0; i < view->members.n; i++)
        if (view->members.at[i].host != host && lbm_view_participates(&view->members.at[i]))
            capacity[n++] = view->members.at[i].capacity;
    *most = LBM_CAPACITY_MAX;
    if (n >= LBM_CAPACITY_OTHERS_MIN) {
        qsort(capacity, n, sizeof *capacity, by_size);
        *most = LBM_CAPACITY_RATIO_MAX * capacity[n / 2];
    }
    free(capacity);
    return LBM_OK;
}

/* Take what a host announces. A value that it announced before stays as an operator may have set it. */
static enum lbm_err
take_announcement(const struct lbm_view *view, struct lbm_member *member, const Lbm__Join *join)
{
    double most;
    if (lbm_view_capacity_most(view, join->host, &most) != LBM_OK)
        return LBM_E_NOMEM;
    if (member->announced_links == NULL || !same_links(member, join)) {
        if (set_links(&member->announced_links, &member->n_announced_links, join->host, join->n_link_host,
                      join->link_host, join->link_cost) != LBM_OK)
            return LBM_E_NOMEM;
        struct lbm_link *links = copy_links(member->announced_links, member->n_announced_links);
        if (links == NULL)
            return LBM_E_NOMEM;
        free(member->links);
        member->links = links;
        member->n_links = member->n_announced_links;
    }
    if (member->announced_capacity != join->capacity) {
        member->announced_capacity = join->capacity;
        member->capacity = join->capacity < most ? join->capacity : most;
    }
    if (strcmp(member->announced_address, join->address) != 0) {
        snprintf(member->announced_address, sizeof member->announced_address, "%s", join->address);
        snprintf(member->address, sizeof member->address, "%s", join->address);
    }
    snprintf(member->failure_domain, sizeof member->failure_domain, "%s", join->failure_domain);
    return LBM_OK;
}

int
lbm_view_has_gone(const struct lbm_view *view, const struct lbm_member *member)
{
    const struct lbm_departed *gone = lbm_view_departed(view, member->host, member->incarnation);
    return !lbm_view_participates(member) && gone != NULL && (!gone->evicted || gone->taken_over);
}

/* Programs of before there was more than one do not say it. */
static uint32_t
protocol_of(const Lbm__Join *join)
{
    return join->protocol != 0 ? join->protocol : 1;
}

/* Why this host may not join, or "". */
static void
refuse_join(const struct lbm_view *view, const Lbm__Join *join, char *refusal)
{
    const struct lbm_member *known = lbm_view_member(view, join->host);
    uint32_t hash = lbm_view_name_hash(join->name);
    for (uint32_t host = 0; host < view->place.n; host++) {
        const struct lbm_host_place *place = &view->place.at[host];
        if (host == join->host || place->member == LBM_NONE || place->name_hash != hash ||
            strcmp(view->members.at[place->member].name, join->name) != 0 ||
            lbm_view_has_gone(view, &view->members.at[place->member]))
            continue;
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " has the name %s already", host, join->name);
        return;
    }
    if (protocol_of(join) < view->protocol) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX,
                 "host %" PRIu32 " speaks protocol %" PRIu32 " at most, and the cluster %" PRIu32
                 ": install the cluster's version of lbmap there",
                 join->host, protocol_of(join), view->protocol);
        return;
    }
    uint64_t incarnation = known != NULL ? known->incarnation : 0;
    if (join->incarnation > incarnation && join->incarnation - incarnation > LBM_INCARNATION_STEP) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "incarnation %" PRIu64 " of host %" PRIu32 " is out of reach",
                 join->incarnation, join->host);
        return;
    }
    if (known == NULL) {
        if (view->members.n == LBM_HOSTS_MAX)
            snprintf(refusal, LBM_DIAG_TEXT_MAX, "the cluster has its %d hosts", LBM_HOSTS_MAX);
        return;
    }
    const struct lbm_departed *gone = lbm_view_departed(view, known->host, known->incarnation);
    if (lbm_view_participates(known) && known->incarnation != join->incarnation)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " takes part as incarnation %" PRIu64,
                 known->host, known->incarnation);
    else if (!lbm_view_participates(known) && join->incarnation <= known->incarnation)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "incarnation %" PRIu64 " of host %" PRIu32 " has gone for good",
                 join->incarnation, known->host);
    else if (gone != NULL && gone->evicted && !gone->taken_over)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is evicted and not taken over yet",
                 known->host);
}

enum lbm_err
lbm_view_set_state(struct lbm_view *view, struct lbm_member *member, enum lbm_member_state state)
{
    member->state = state;
    member->maintenance_us = lbm_state_participates(state) ? member->maintenance_us : 0;
    if (lbm_view_number_active(view, member) != LBM_OK)
        return LBM_E_NOMEM;
    return lbm_view_touch(view, member->host);
}

static enum lbm_err
derive_if_active(struct lbm_view *view, const struct lbm_member *member)
{
    if (member->state == LBM_MEMBER_ACTIVE)
        lbm_view_derive(view);
    return LBM_OK;
}

/* A member that is not ACTIVE is about to change its links, and a host graph that has yet to be made goes
 * through them as they are. */
static enum lbm_err
keep_ways(struct lbm_view *view, const struct lbm_member *member)
{
    int routable;
    return view->is_stale && member->state != LBM_MEMBER_ACTIVE ? lbm_view_graph(view, &routable) : LBM_OK;
}

/* A name is a label: the certificate says who a host is. */
static void
take_name(struct lbm_view *view, struct lbm_member *member, const char *name)
{
    snprintf(member->name, sizeof member->name, "%s", name);
    view->place.at[member->host].name_hash = lbm_view_name_hash(name);
}

enum lbm_err
lbm_view_apply_join(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__Join *join = command->join;
    refuse_join(view, join, refusal);
    if (refusal[0] != '\0')
        return LBM_OK;
    struct lbm_member *member = lbm_view_member_of(view, join->host);
    if (member != NULL && keep_ways(view, member) != LBM_OK)
        return LBM_E_NOMEM;
    if (member == NULL && lbm_view_add_member(view, join->host, join->name, &member) != LBM_OK)
        return LBM_E_NOMEM;
    take_name(view, member, join->name);
    member->protocol = protocol_of(join);
    int begins = member->incarnation != join->incarnation || !lbm_view_participates(member);
    if (take_announcement(view, member, join) != LBM_OK || lbm_view_number_active(view, member) != LBM_OK ||
        lbm_view_touch(view, join->host) != LBM_OK)
        return LBM_E_NOMEM;
    if (!begins)
        return derive_if_active(view, member);
    member->incarnation = join->incarnation;
    member->maintenance_us = 0;
    if (join->drains)
        member->drained = view->index + 1;
    if (lbm_view_set_state(view, member, join->drains ? LBM_MEMBER_DRAINING : LBM_MEMBER_JOINING) != LBM_OK)
        return LBM_E_NOMEM;
    enum lbm_err err = lbm_view_give_all_backups(view, member);
    return err == LBM_OK ? lbm_view_give_backups(view, LBM_NONE) : err; /* who was alone has somebody now */
}

/* ---- a member's changes -------------------------------------------------------------------------------- */

struct lbm_member *
lbm_view_member_named(const struct lbm_view *view, uint32_t host, uint64_t incarnation, char *refusal)
{
    struct lbm_member *member = lbm_view_member_of(view, host);
    if (member != NULL && member->incarnation == incarnation)
        return member;
    snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is no member with incarnation %" PRIu64, host,
             incarnation);
    return NULL;
}

void
lbm_view_refuse_state(const struct lbm_member *member, char *refusal)
{
    snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is %s", member->host,
             lbm_member_state_name(member->state));
}

enum lbm_err
lbm_view_apply_activate(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__Activate *activate = command->activate;
    struct lbm_member *member = lbm_view_member_named(view, activate->host, activate->incarnation, refusal);
    if (member == NULL)
        return LBM_OK;
    if (member->state != LBM_MEMBER_JOINING && member->state != LBM_MEMBER_DRAINING)
        lbm_view_refuse_state(member, refusal);
    else if (activate->n_site != view->m)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "a site has %u coordinates here, not %zu", view->m,
                 activate->n_site);
    if (refusal[0] != '\0')
        return LBM_OK;
    memcpy(member->site, activate->site, view->m * sizeof *member->site);
    enum lbm_err err = lbm_view_set_state(view, member, LBM_MEMBER_ACTIVE);
    lbm_view_derive(view);
    return err;
}

enum lbm_err
lbm_view_apply_set(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__Set *set = command->set;
    struct lbm_member *member = lbm_view_member_named(view, set->host, set->incarnation, refusal);
    if (member == NULL)
        return LBM_OK;
    if (!lbm_view_participates(member))
        lbm_view_refuse_state(member, refusal);
    else if (set->n_site != 0 && set->n_site != view->m)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "a site has %u coordinates here, not %zu", view->m, set->n_site);
    if (refusal[0] != '\0')
        return LBM_OK;
    if (keep_ways(view, member) != LBM_OK)
        return LBM_E_NOMEM;
    if (set->change_links && set_links(&member->links, &member->n_links, set->host, set->n_link_host,
                                       set->link_host, set->link_cost) != LBM_OK)
        return LBM_E_NOMEM;
    if (set->capacity > 0)
        member->capacity = set->capacity;
    if (set->n_site != 0)
        memcpy(member->site, set->site, view->m * sizeof *member->site);
    if (set->address[0] != '\0')
        snprintf(member->address, sizeof member->address, "%s", set->address);
    if (lbm_view_number_active(view, member) != LBM_OK || lbm_view_touch(view, set->host) != LBM_OK)
        return LBM_E_NOMEM;
    return derive_if_active(view, member);
}

enum lbm_err
lbm_view_apply_drain(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    struct lbm_member *member =
        lbm_view_member_named(view, command->drain->host, command->drain->incarnation, refusal);
    if (member == NULL)
        return LBM_OK;
    if (member->state != LBM_MEMBER_ACTIVE)
        lbm_view_refuse_state(member, refusal);
    else if (view->active.n == 1)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is the only one: nobody could take over",
                 member->host);
    else if (!view->external && view->leader == member->host)
        snprintf(refusal, LBM_DIAG_TEXT_MAX,
                 "host %" PRIu32 " orders the control log; promote another one first", member->host);
    if (refusal[0] != '\0')
        return LBM_OK;
    member->drained = view->index + 1;
    enum lbm_err err =
        lbm_view_set_state(view, member, LBM_MEMBER_DRAINING); /* it stays a backup until it leaves */
    lbm_view_derive(view);
    return err;
}

/* ---- departures ----------------------------------------------------------------------------- */

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
