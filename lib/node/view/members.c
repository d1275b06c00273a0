/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands about members (protocol.md section 2): who joins, and how a member changes.
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
