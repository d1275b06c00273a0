/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node/view/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "node/mutants.h"
#include "node/node.h"
#include "node/view/internal.h"

struct lbm_member *
lbm_view_member_of(const struct lbm_view *view, uint32_t host)
{
    uint32_t at = host < view->place.n ? view->place.at[host].member : LBM_NONE;
    return at != LBM_NONE ? &view->members.at[at] : NULL;
}

const struct lbm_member *
lbm_view_member(const struct lbm_view *view, uint32_t host)
{
    return lbm_view_member_of(view, host);
}

const struct lbm_job_entry *
lbm_view_job(const struct lbm_view *view, uint64_t job)
{
    for (size_t i = 0; i < view->jobs.n; i++)
        if (view->jobs.at[i].job == job)
            return &view->jobs.at[i];
    return NULL;
}

const struct lbm_job_entry *
lbm_view_job_named(const struct lbm_view *view, const char *name)
{
    for (size_t i = 0; i < view->jobs.n; i++)
        if (strcmp(view->jobs.at[i].name, name) == 0)
            return &view->jobs.at[i];
    return NULL;
}

uint32_t
lbm_view_number(const struct lbm_view *view, uint32_t host)
{
    return host < view->place.n ? view->place.at[host].number : LBM_NONE;
}

uint32_t
lbm_view_host(const struct lbm_view *view, uint32_t number)
{
    return number < view->active.n ? view->active.at[number] : LBM_NONE;
}

const char *
lbm_member_state_name(enum lbm_member_state state)
{
    static const char *const names[] = {
#define STATE_NAME(id, number, name) [number] = name,
        LBM_MEMBER_STATE_LIST(STATE_NAME)
#undef STATE_NAME
    };
    return (unsigned)state < LBM_MEMBER_STATE_COUNT ? names[state] : "unknown";
}

int
lbm_view_participates(const struct lbm_member *member)
{
    return lbm_state_participates(member->state);
}

const struct lbm_departed *
lbm_view_departed(const struct lbm_view *view, uint32_t host, uint64_t incarnation)
{
    size_t low = 0, high = view->departed.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct lbm_departed *gone = &view->departed.at[middle];
        if (gone->host < host || (gone->host == host && gone->incarnation < incarnation))
            low = middle + 1;
        else
            high = middle;
    }
    const struct lbm_departed *gone = low < view->departed.n ? &view->departed.at[low] : NULL;
    return gone != NULL && gone->host == host && gone->incarnation == incarnation ? gone : NULL;
}

int
lbm_view_successor(const struct lbm_view *view, uint32_t host, uint64_t incarnation, uint32_t *successor,
                   uint64_t *successor_incarnation)
{
    /* Each link of the chain departed later than the one before, so it ends. */
    const struct lbm_departed *gone = lbm_view_departed(view, host, incarnation);
    for (; gone != NULL; gone = lbm_view_departed(view, host, incarnation)) {
        if (!gone->evicted) {
            *successor = LBM_NONE;
            *successor_incarnation = 0;
            return 1;
        }
        if (!gone->taken_over && !LBM_BUG(SUCCESSOR_SPEAKS_EARLY))
            return 0;
        host = gone->successor;
        incarnation = gone->successor_incarnation;
    }
    *successor = host;
    *successor_incarnation = incarnation;
    return 1;
}

/* ---- where hosts are found ----------------------------------------------------------------------------- */

enum lbm_err
lbm_view_touch(struct lbm_view *view, uint32_t host)
{
    return lbm_vec_push(&view->touched, host);
}

/* Room for the place of a host id. */
static enum lbm_err
reserve_place(struct lbm_view *view, uint32_t host)
{
    while (view->place.n <= host) {
        struct lbm_host_place nowhere = {
            .member = LBM_NONE, .number = LBM_NONE, .backup = {LBM_NONE, LBM_NONE}};
        if (lbm_vec_push(&view->place, nowhere) != LBM_OK)
            return LBM_E_NOMEM;
    }
    return LBM_OK;
}

uint32_t
lbm_view_name_hash(const char *name)
{
    uint32_t hash = UINT32_C(2166136261); /* FNV-1a */
    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * UINT32_C(16777619);
    return hash;
}

enum lbm_err
lbm_view_add_member(struct lbm_view *view, uint32_t host, const char *name, struct lbm_member **out)
{
    if (lbm_vec_reserve(&view->members, 1) != LBM_OK || reserve_place(view, host) != LBM_OK)
        return LBM_E_NOMEM;
    size_t at = view->members.n++;
    for (; at > 0 && view->members.at[at - 1].host > host; at--) {
        view->members.at[at] = view->members.at[at - 1];
        view->place.at[view->members.at[at].host].member = (uint32_t)at;
    }
    view->members.at[at] = (struct lbm_member){
        .host = host, .backups = {{.host = LBM_NONE}, {.host = LBM_NONE}}, .since = view->index + 1};
    snprintf(view->members.at[at].name, sizeof view->members.at[at].name, "%s", name);
    view->place.at[host].member = (uint32_t)at;
    view->place.at[host].name_hash = lbm_view_name_hash(name);
    *out = &view->members.at[at];
    return LBM_OK;
}

static void
put_active(struct lbm_view *view, uint32_t at, uint32_t host, double capacity)
{
    view->active.at[at] = host;
    view->active_capacity.at[at] = capacity;
    view->place.at[host].number = at;
}

enum lbm_err
lbm_view_number_active(struct lbm_view *view, const struct lbm_member *member)
{
    uint32_t n = (uint32_t)view->active.n, at = view->place.at[member->host].number;
    view->place.at[member->host].state = member->state;
    int is_active = member->state == LBM_MEMBER_ACTIVE;
    if (is_active && at != LBM_NONE) {
        view->active_capacity.at[at] = member->capacity;
    } else if (is_active) {
        if (lbm_vec_reserve(&view->active, 1) != LBM_OK ||
            lbm_vec_reserve(&view->active_capacity, 1) != LBM_OK)
            return LBM_E_NOMEM;
        view->active.n = view->active_capacity.n = n + 1;
        for (at = n; at > 0 && view->active.at[at - 1] > member->host; at--)
            put_active(view, at, view->active.at[at - 1], view->active_capacity.at[at - 1]);
        put_active(view, at, member->host, member->capacity);
    } else if (at != LBM_NONE) {
        for (; at + 1 < n; at++)
            put_active(view, at, view->active.at[at + 1], view->active_capacity.at[at + 1]);
        view->active.n = view->active_capacity.n = n - 1;
        view->place.at[member->host].number = LBM_NONE;
    }
    view->active_whole = 0; /* added up again: equal views have equal sums, whatever their history */
    for (size_t i = 0; i < view->active_capacity.n; i++)
        view->active_whole += view->active_capacity.at[i];
    return LBM_OK;
}

enum lbm_err
lbm_view_index(struct lbm_view *view)
{
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < view->members.n; i++) {
        struct lbm_member *member = &view->members.at[i];
        err = reserve_place(view, member->host);
        if (err != LBM_OK)
            break;
        struct lbm_host_place *place = &view->place.at[member->host];
        place->member = (uint32_t)i;
        place->name_hash = lbm_view_name_hash(member->name);
        for (unsigned k = 0; k < LBM_COPIES_MAX; k++)
            place->backup[k] = member->backups[k].host;
        err = lbm_view_number_active(view, member);
    }
    for (size_t i = 0; err == LBM_OK && i < view->members.n; i++)
        for (unsigned k = 0; k < LBM_COPIES_MAX; k++)
            if (lbm_view_member(view, view->members.at[i].backups[k].host) != NULL)
                view->place.at[view->members.at[i].backups[k].host].n_primaries++;
    return err;
}
