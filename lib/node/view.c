/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "node/node.h"

static void
member_free(struct lbm_member *member)
{
    free(member->links);
    member->links = NULL;
}

void
lbm_view_free(struct lbm_view *view)
{
    for (size_t i = 0; i < view->members.n; i++)
        member_free(&view->members.at[i]);
    lbm_vec_free(&view->members);
    lbm_vec_free(&view->jobs);
    lbm_hosts_free(&view->hosts);
    free(view->colour);
    *view = (struct lbm_view){0};
}

/* Index of the first member with an id >= host. */
static size_t
member_place(const struct lbm_view *view, uint32_t host)
{
    size_t low = 0, high = view->members.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (view->members.at[middle].host < host)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct lbm_member *
member_of(const struct lbm_view *view, uint32_t host)
{
    size_t at = member_place(view, host);
    return at < view->members.n && view->members.at[at].host == host ? &view->members.at[at] : NULL;
}

const struct lbm_member *
lbm_view_member(const struct lbm_view *view, uint32_t host)
{
    return member_of(view, host);
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
    const struct lbm_member *member = lbm_view_member(view, host);
    if (member == NULL || member->state != LBM_MEMBER_ACTIVE)
        return LBM_NONE;
    uint32_t number = 0;
    for (const struct lbm_member *m = view->members.at; m < member; m++)
        number += m->state == LBM_MEMBER_ACTIVE;
    return number;
}

uint32_t
lbm_view_host(const struct lbm_view *view, uint32_t number)
{
    for (size_t i = 0; i < view->members.n; i++)
        if (view->members.at[i].state == LBM_MEMBER_ACTIVE && number-- == 0)
            return view->members.at[i].host;
    return LBM_NONE;
}

static int
by_ends_then_cost(const void *a, const void *b)
{
    const struct lbm_link *x = a, *y = b;
    if (x->p != y->p)
        return x->p < y->p ? -1 : 1;
    if (x->q != y->q)
        return x->q < y->q ? -1 : 1;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

/* Links between ACTIVE members by number; a link counts if either end declares it, the cheaper if both. */
static enum lbm_err
active_links(const struct lbm_view *view, struct lbm_link **links, size_t *n_links)
{
    LBM_VEC(struct lbm_link) all = {0};
    uint32_t p = 0;
    for (size_t i = 0; i < view->members.n; i++) {
        const struct lbm_member *member = &view->members.at[i];
        if (member->state != LBM_MEMBER_ACTIVE)
            continue;
        for (size_t k = 0; k < member->n_links; k++) {
            uint32_t q = lbm_view_number(view, member->links[k].q);
            if (q == LBM_NONE || q == p)
                continue;
            struct lbm_link link = {p < q ? p : q, p < q ? q : p, member->links[k].cost};
            if (lbm_vec_push(&all, link) != LBM_OK) {
                lbm_vec_free(&all);
                return LBM_E_NOMEM;
            }
        }
        p++;
    }
    if (all.n != 0)
        qsort(all.at, all.n, sizeof *all.at, by_ends_then_cost);
    size_t kept = 0;
    for (size_t i = 0; i < all.n; i++)
        if (kept == 0 || all.at[kept - 1].p != all.at[i].p || all.at[kept - 1].q != all.at[i].q)
            all.at[kept++] = all.at[i];
    *links = all.at;
    *n_links = kept;
    return LBM_OK;
}

enum lbm_err
lbm_view_build_hosts(const struct lbm_view *view, struct lbm_hosts *out, struct lbm_diag *diag)
{
    uint32_t n = 0;
    for (size_t i = 0; i < view->members.n; i++)
        n += view->members.at[i].state == LBM_MEMBER_ACTIVE;
    if (n == 0)
        return lbm_diag_set(diag, LBM_E_STATE, "cluster", 0, "no host is active yet");
    struct lbm_link *links = NULL;
    size_t n_links = 0;
    double *capacity = lbm_alloc(n, sizeof *capacity);
    double *site = lbm_alloc((size_t)n * view->m, sizeof *site);
    enum lbm_err err = capacity == NULL || site == NULL ? LBM_E_NOMEM : active_links(view, &links, &n_links);
    if (err == LBM_OK) {
        uint32_t number = 0;
        for (size_t i = 0; i < view->members.n; i++) {
            const struct lbm_member *member = &view->members.at[i];
            if (member->state != LBM_MEMBER_ACTIVE)
                continue;
            capacity[number] = member->capacity;
            memcpy(&site[(size_t)number * view->m], member->site, view->m * sizeof *site);
            number++;
        }
        err = lbm_hosts_build(n, links, n_links, capacity, view->m, site, out, diag);
        /* Sites stay as the log has them: a join must not move anybody else's. */
        if (err == LBM_OK)
            memcpy(out->site, site, (size_t)n * view->m * sizeof *site);
    }
    free(links);
    free(capacity);
    free(site);
    return err;
}

/* Host graph, colours and diameter anew after a change of members. */
static enum lbm_err
derive(struct lbm_view *view)
{
    lbm_hosts_free(&view->hosts);
    free(view->colour);
    view->colour = NULL;
    view->n_colours = 0;
    view->routable = 0;
    struct lbm_diag diag = {0};
    enum lbm_err err = lbm_view_build_hosts(view, &view->hosts, &diag);
    if (err == LBM_E_NOMEM)
        return err;
    if (err != LBM_OK) {
        view->hosts = (struct lbm_hosts){0};
        snprintf(view->unroutable, sizeof view->unroutable, "%s", diag.text);
        return LBM_OK;
    }
    size_t directions = view->hosts.offset[view->hosts.n];
    view->colour = lbm_alloc(directions, sizeof *view->colour);
    if (view->colour == NULL)
        return LBM_E_NOMEM;
    view->n_colours = directions == 0 ? 0 : lbm_hosts_colour(&view->hosts, view->colour);
    if (view->n_colours == 0 && directions != 0)
        return LBM_E_NOMEM;
    view->diameter = lbm_hosts_diameter_hops(&view->hosts);
    view->routable = 1;
    return LBM_OK;
}

static enum lbm_err
apply_found(struct lbm_view *view, const Lbm__Found *found, char *refusal)
{
    if (view->index != 0) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "the cluster is founded already");
        return LBM_OK;
    }
    view->cluster = found->cluster;
    view->founder = found->founder;
    view->m = found->dimensions == 3 ? 3 : 2;
    snprintf(view->cluster_name, sizeof view->cluster_name, "%s", found->name);
    return LBM_OK;
}

static enum lbm_err
set_links(struct lbm_member *member, const Lbm__Join *join)
{
    struct lbm_link *links = lbm_alloc(join->n_link_host, sizeof *links);
    if (links == NULL)
        return LBM_E_NOMEM;
    for (size_t i = 0; i < join->n_link_host; i++)
        links[i] = (struct lbm_link){join->host, join->link_host[i], join->link_cost[i]};
    free(member->links);
    member->links = links;
    member->n_links = join->n_link_host;
    return LBM_OK;
}

/* A member that joins again with the same incarnation and name announces a new address, capacity or
 * links; its state and site stay. */
static enum lbm_err
apply_join(struct lbm_view *view, const Lbm__Join *join, char *refusal)
{
    for (size_t i = 0; i < view->members.n; i++)
        if (view->members.at[i].host != join->host && strcmp(view->members.at[i].name, join->name) == 0) {
            snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " has the name %s already",
                     view->members.at[i].host, join->name);
            return LBM_OK;
        }
    struct lbm_member *known = member_of(view, join->host);
    if (known != NULL && (known->incarnation != join->incarnation || strcmp(known->name, join->name) != 0)) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host id %" PRIu32 " belongs to %s; choose another id",
                 known->host, known->name);
        return LBM_OK;
    }
    if (known == NULL) {
        if (view->members.n == LBM_HOSTS_MAX) {
            snprintf(refusal, LBM_DIAG_TEXT_MAX, "the cluster has its %d hosts", LBM_HOSTS_MAX);
            return LBM_OK;
        }
        if (lbm_vec_reserve(&view->members, 1) != LBM_OK)
            return LBM_E_NOMEM;
        size_t at = member_place(view, join->host);
        memmove(&view->members.at[at + 1], &view->members.at[at],
                (view->members.n - at) * sizeof *view->members.at);
        view->members.n++;
        known = &view->members.at[at];
        *known = (struct lbm_member){.host = join->host, .incarnation = join->incarnation};
        snprintf(known->name, sizeof known->name, "%s", join->name);
    }
    snprintf(known->address, sizeof known->address, "%s", join->address);
    known->capacity = join->capacity;
    enum lbm_err err = set_links(known, join);
    return err == LBM_OK && known->state == LBM_MEMBER_ACTIVE ? derive(view) : err;
}

static enum lbm_err
apply_activate(struct lbm_view *view, const Lbm__Activate *activate, char *refusal)
{
    struct lbm_member *member = member_of(view, activate->host);
    if (member == NULL || member->incarnation != activate->incarnation)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " has not joined", activate->host);
    else if (member->state != LBM_MEMBER_JOINING)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is active already", activate->host);
    else if (activate->n_site != view->m)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "a site has %u coordinates here, not %zu", view->m,
                 activate->n_site);
    if (refusal[0] != '\0')
        return LBM_OK;
    member->state = LBM_MEMBER_ACTIVE;
    memcpy(member->site, activate->site, view->m * sizeof *member->site);
    return derive(view);
}

static enum lbm_err
apply_job_create(struct lbm_view *view, const Lbm__JobCreate *create, char *refusal)
{
    const struct lbm_member *home = lbm_view_member(view, create->home);
    if (lbm_view_job(view, create->job) != NULL || lbm_view_job_named(view, create->name) != NULL)
        snprintf(refusal, LBM_DIAG_TEXT_MAX,
                 "a job named %s exists already; cancel it or choose another name", create->name);
    else if (view->jobs.n == LBM_JOBS_MAX)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "the cluster has its %d jobs; cancel one first", LBM_JOBS_MAX);
    else if (home == NULL || home->state != LBM_MEMBER_ACTIVE)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is not active", create->home);
    else if (!view->routable)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "the active hosts are not connected: %.400s", view->unroutable);
    else if (create->start >= LBM_START_COUNT)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "start %" PRIu32 " is not known", create->start);
    if (refusal[0] != '\0')
        return LBM_OK;
    struct lbm_job_entry entry = {.job = create->job,
                                  .home = create->home,
                                  .vertices = create->vertices,
                                  .edges = create->edges,
                                  .work = create->work,
                                  .weight = create->weight,
                                  .start = create->start,
                                  .seed = create->seed,
                                  .imbalance = create->imbalance,
                                  .owner = create->owner};
    snprintf(entry.name, sizeof entry.name, "%s", create->name);
    return lbm_vec_push(&view->jobs, entry);
}

static enum lbm_err
apply_job_delete(struct lbm_view *view, const Lbm__JobDelete *delete, char *refusal)
{
    for (size_t i = 0; i < view->jobs.n; i++)
        if (view->jobs.at[i].job == delete->job) {
            memmove(&view->jobs.at[i], &view->jobs.at[i + 1], (view->jobs.n - i - 1) * sizeof *view->jobs.at);
            view->jobs.n--;
            return LBM_OK;
        }
    snprintf(refusal, LBM_DIAG_TEXT_MAX, "there is no such job");
    return LBM_OK;
}

enum lbm_err
lbm_view_apply(struct lbm_view *view, const Lbm__Command *command, char refusal[LBM_DIAG_TEXT_MAX])
{
    enum lbm_err err = LBM_OK;
    refusal[0] = '\0';
    if (view->index == 0 && command->what_case != LBM__COMMAND__WHAT_FOUND)
        return LBM_E_CORRUPT;
    switch (command->what_case) {
    case LBM__COMMAND__WHAT_FOUND:
        err = apply_found(view, command->found, refusal);
        break;
    case LBM__COMMAND__WHAT_JOIN:
        err = apply_join(view, command->join, refusal);
        break;
    case LBM__COMMAND__WHAT_ACTIVATE:
        err = apply_activate(view, command->activate, refusal);
        break;
    case LBM__COMMAND__WHAT_JOB_CREATE:
        err = apply_job_create(view, command->job_create, refusal);
        break;
    case LBM__COMMAND__WHAT_JOB_DELETE:
        err = apply_job_delete(view, command->job_delete, refusal);
        break;
    default: /* written by a later version: a no-op here would let views differ */
        return LBM_E_VERSION;
    }
    if (err == LBM_OK)
        view->index++;
    return err;
}

void
lbm_view_site_near(const struct lbm_view *view, uint32_t host, double site[LBM_DIMENSIONS_MAX])
{
    double sum[LBM_DIMENSIONS_MAX] = {0}, least = 1;
    uint32_t linked = 0;
    for (size_t i = 0; i < view->members.n; i++) {
        const struct lbm_member *a = &view->members.at[i];
        if (a->state != LBM_MEMBER_ACTIVE || a->host == host)
            continue;
        int is_linked = 0;
        for (size_t k = 0; k < a->n_links; k++)
            is_linked |= a->links[k].q == host;
        const struct lbm_member *self = lbm_view_member(view, host);
        for (size_t k = 0; self != NULL && k < self->n_links; k++)
            is_linked |= self->links[k].q == a->host;
        for (unsigned k = 0; is_linked && k < view->m; k++)
            sum[k] += a->site[k];
        linked += (uint32_t)is_linked;
        for (size_t j = 0; j < i; j++) {
            const struct lbm_member *b = &view->members.at[j];
            double d2 = 0;
            for (unsigned k = 0; k < view->m; k++)
                d2 += (a->site[k] - b->site[k]) * (a->site[k] - b->site[k]);
            if (b->state == LBM_MEMBER_ACTIVE && d2 > 0 && sqrt(d2) < least)
                least = sqrt(d2);
        }
    }
    /* Aside in a direction that differs from host to host (golden angle). */
    double angle = 2.399963229728653 * host;
    double aside[LBM_DIMENSIONS_MAX] = {cos(angle), sin(angle), 0};
    for (unsigned k = 0; k < view->m; k++) {
        double x = linked != 0 ? sum[k] / linked + 0.5 * least * aside[k] : 0.5;
        site[k] = x < 0 ? 0 : x > 1 ? 1 : x;
    }
}
