/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Views that the nodes of one process have in common. Each node holds the view by value; the arrays in it
 * belong to a shared one, which nobody changes any more: the next entry makes another. What is made on demand
 * otherwise, the host graph, is made at once; rows of distances alone are added later, and are never
 * replaced. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/view/internal.h"

enum { KEPT = 512 }; /* views that nobody may have any more, since others are a little behind */

struct lbm_shared_view {
    struct lbm_view view;
    char refusal[LBM_DIAG_TEXT_MAX]; /* of the entry that led to it */
    struct lbm_views *views;
    size_t users; /* nodes, and the list of those kept */
};

struct lbm_views {
    LBM_VEC(struct lbm_shared_view *) at; /* by index; NULL: nobody has it */
    struct lbm_shared_view *kept[KEPT];
    size_t next; /* in kept */
};

struct lbm_views *
lbm_views_new(void)
{
    return lbm_alloc(1, sizeof(struct lbm_views));
}

void
lbm_view_release(struct lbm_shared_view *shared)
{
    struct lbm_views *views = shared->views;
    if (--shared->users != 0)
        return;
    if (shared->view.index < views->at.n && views->at.at[shared->view.index] == shared)
        views->at.at[shared->view.index] = NULL;
    shared->view.shared = NULL;
    lbm_view_free(&shared->view);
    free(shared);
}

void
lbm_views_free(struct lbm_views *views)
{
    if (views == NULL)
        return;
    for (size_t i = 0; i < KEPT; i++)
        if (views->kept[i] != NULL)
            lbm_view_release(views->kept[i]);
    for (size_t i = 0; i < views->at.n; i++)
        LBM_ASSERT(views->at.at[i] == NULL);
    lbm_vec_free(&views->at);
    free(views);
}

/* ---- copies -------------------------------------------------------------------------------------------- */

static enum lbm_err
copy_array(void *to_pointer, const void *from, size_t n, size_t size)
{
    void **to = to_pointer;
    *to = from != NULL ? lbm_copy(from, n, size) : NULL;
    return from != NULL && *to == NULL ? LBM_E_NOMEM : LBM_OK;
}

/* Makes a vector that was copied with its struct one of its own. */
#define copy_vec(v)                                                                                          \
    ((v)->capacity = (v)->n, copy_array(&(v)->at, (v)->n != 0 ? (v)->at : NULL, (v)->n, sizeof *(v)->at))

/* As the view has it: without distances, which are asked for. */
static enum lbm_err
copy_hosts(struct lbm_hosts *h)
{
    struct lbm_hosts from = *h;
    size_t directions = from.offset != NULL ? from.offset[from.n] : 0;
    LBM_ASSERT(from.dist == NULL && from.name == NULL);
    h->offset = h->target = h->cost = NULL;
    h->capacity = h->site = NULL;
    h->row = NULL;
    if (from.offset == NULL)
        return LBM_OK;
    h->row = lbm_alloc(from.n, sizeof *h->row);
    int failed = h->row == NULL;
    failed |= copy_array(&h->offset, from.offset, (size_t)from.n + 1, sizeof *h->offset);
    failed |= copy_array(&h->target, from.target, directions, sizeof *h->target);
    failed |= copy_array(&h->cost, from.cost, directions, sizeof *h->cost);
    failed |= copy_array(&h->capacity, from.capacity, from.n, sizeof *h->capacity);
    failed |= copy_array(&h->site, from.site, (size_t)from.n * from.m, sizeof *h->site);
    return failed ? LBM_E_NOMEM : LBM_OK;
}

static enum lbm_err
copy_members(struct lbm_view *view)
{
    int failed = copy_vec(&view->members) != LBM_OK;
    if (view->members.at == NULL)
        view->members.n = view->members.capacity = 0;
    for (size_t i = 0; i < view->members.n; i++) {
        struct lbm_member *member = &view->members.at[i];
        failed |= copy_array(&member->links, member->links, member->n_links, sizeof *member->links);
        failed |= copy_array(&member->announced_links, member->announced_links, member->n_announced_links,
                             sizeof *member->announced_links);
    }
    return failed ? LBM_E_NOMEM : LBM_OK;
}

/* A view of its own, to be freed also after an error. */
static enum lbm_err
copy_view(const struct lbm_view *from, struct lbm_view *to)
{
    size_t directions = from->hosts.offset != NULL ? from->hosts.offset[from->hosts.n] : 0;
    *to = *from;
    to->shared = NULL;
    int failed = copy_members(to) != LBM_OK;
    failed |= copy_vec(&to->jobs) != LBM_OK;
    failed |= copy_vec(&to->active) != LBM_OK;
    failed |= copy_vec(&to->active_capacity) != LBM_OK;
    failed |= copy_vec(&to->departed) != LBM_OK;
    failed |= copy_vec(&to->place) != LBM_OK;
    failed |= copy_vec(&to->touched) != LBM_OK;
    failed |= copy_vec(&to->revoked) != LBM_OK;
    failed |= copy_vec(&to->revoked_users) != LBM_OK;
    failed |= copy_vec(&to->requests) != LBM_OK;
    failed |= copy_hosts(&to->hosts) != LBM_OK;
    failed |= copy_array(&to->colour, from->colour, directions, sizeof *to->colour) != LBM_OK;
    return failed ? LBM_E_NOMEM : LBM_OK;
}

/* ---- sharing ------------------------------------------------------------------------------------------- */

static void
take(struct lbm_shared_view *shared, struct lbm_view *view)
{
    shared->users++; /* first: it may be the view's already */
    lbm_view_free(view);
    *view = shared->view;
    view->shared = shared;
}

static struct lbm_shared_view *
known(const struct lbm_views *views, uint64_t index, uint64_t chain)
{
    struct lbm_shared_view *shared = index < views->at.n ? views->at.at[index] : NULL;
    return shared != NULL && shared->view.chain == chain ? shared : NULL;
}

/* Make a view of one's own one that others may have. On an error it stays as it is. */
static enum lbm_err
give(struct lbm_views *views, struct lbm_view *view, const char *refusal)
{
    int routable;
    struct lbm_shared_view *shared = lbm_alloc(1, sizeof *shared);
    if (shared == NULL || lbm_view_graph(view, &routable) != LBM_OK) {
        free(shared);
        return LBM_E_NOMEM;
    }
    while (views->at.n <= view->index)
        if (lbm_vec_push(&views->at, NULL) != LBM_OK) {
            free(shared);
            return LBM_E_NOMEM;
        }
    if (views->at.at[view->index] != NULL) {
        free(shared);
        return LBM_OK; /* of another log: both cannot be found by their index */
    }
    *shared = (struct lbm_shared_view){.view = *view, .views = views, .users = 2};
    snprintf(shared->refusal, sizeof shared->refusal, "%s", refusal);
    view->shared = shared;
    views->at.at[view->index] = shared;
    if (views->kept[views->next] != NULL)
        lbm_view_release(views->kept[views->next]);
    views->kept[views->next] = shared;
    views->next = (views->next + 1) % KEPT;
    return LBM_OK;
}

enum lbm_err
lbm_views_apply(struct lbm_views *views, struct lbm_view *view, const Lbm__Command *command, uint64_t chain,
                char refusal[LBM_DIAG_TEXT_MAX])
{
    if (views == NULL) {
        view->chain = chain;
        return lbm_view_apply(view, command, refusal);
    }
    struct lbm_shared_view *shared = known(views, view->index + 1, chain);
    if (shared != NULL) {
        memcpy(refusal, shared->refusal, sizeof shared->refusal);
        take(shared, view);
        return LBM_OK;
    }
    struct lbm_view next;
    enum lbm_err err = copy_view(view, &next);
    next.chain = chain;
    if (err == LBM_OK)
        err = lbm_view_apply(&next, command, refusal);
    if (err == LBM_OK)
        err = give(views, &next, refusal);
    if (err != LBM_OK) {
        lbm_view_free(&next);
        return err;
    }
    lbm_view_free(view);
    *view = next;
    return LBM_OK;
}

enum lbm_err
lbm_views_share(struct lbm_views *views, struct lbm_view *view)
{
    struct lbm_shared_view *shared = views != NULL ? known(views, view->index, view->chain) : NULL;
    if (shared == NULL)
        return views != NULL ? give(views, view, "") : LBM_OK;
    take(shared, view);
    return LBM_OK;
}

static void
member_free(struct lbm_member *member)
{
    free(member->links);
    free(member->announced_links);
}

void
lbm_view_free(struct lbm_view *view)
{
    if (view->shared != NULL) {
        lbm_view_release(view->shared);
        *view = (struct lbm_view){0};
        return;
    }
    for (size_t i = 0; i < view->members.n; i++)
        member_free(&view->members.at[i]);
    lbm_vec_free(&view->members);
    lbm_vec_free(&view->jobs);
    lbm_vec_free(&view->departed);
    lbm_vec_free(&view->active);
    lbm_vec_free(&view->active_capacity);
    lbm_vec_free(&view->place);
    lbm_vec_free(&view->touched);
    lbm_vec_free(&view->revoked);
    lbm_vec_free(&view->revoked_users);
    lbm_vec_free(&view->requests);
    lbm_hosts_free(&view->hosts);
    free(view->colour);
    *view = (struct lbm_view){0};
}
