/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applications that change their guests: a vertex splits, another goes, edges appear and disappear. What an
 * application knows of edges is what the disk of its host says just then; what it asks for may be out of date
 * when it gets there. */
#include <stdlib.h>

#include "sim/model/script.h"

enum { CHANGE_ONE_IN = 3, IDS_AT_A_TIME = 4 };

/* ---- what is asked for --------------------------------------------------------------------------------- */

void
draft_vertex(struct draft *draft, uint32_t vertex, uint64_t token, uint32_t near, uint32_t work)
{
    LBM_ASSERT(lbm_vec_push(&draft->vertex, vertex) == LBM_OK &&
               lbm_vec_push(&draft->token, token) == LBM_OK);
    LBM_ASSERT(lbm_vec_push(&draft->near, near) == LBM_OK && lbm_vec_push(&draft->work, work) == LBM_OK);
    LBM_ASSERT(lbm_vec_push(&draft->removed, 0) == LBM_OK && lbm_vec_push(&draft->keeps, 1) == LBM_OK);
    LBM_ASSERT(lbm_vec_push(&draft->len, 0) == LBM_OK);
}

void
draft_edge(struct draft *draft, uint32_t end, uint32_t other, uint32_t weight)
{
    LBM_ASSERT(lbm_vec_push(&draft->end, end) == LBM_OK && lbm_vec_push(&draft->other, other) == LBM_OK);
    LBM_ASSERT(lbm_vec_push(&draft->weight, weight) == LBM_OK);
}

void
draft_send(struct cluster *c, uint32_t application, struct draft *draft)
{
    struct application *a = &c->applications.at[application];
    Lbm__ChangeRequest body = LBM__CHANGE_REQUEST__INIT;
    body.n_vertex = body.n_token = body.n_near = body.n_work = body.n_removed = body.n_keeps =
        body.n_payload_len = draft->vertex.n;
    body.vertex = draft->vertex.at;
    body.token = draft->token.at;
    body.near = draft->near.at;
    body.work = draft->work.at;
    body.removed = draft->removed.at;
    body.keeps = draft->keeps.at;
    body.payload_len = draft->len.at;
    body.n_end = body.n_other = body.n_weight = draft->end.n;
    body.end = draft->end.at;
    body.other = draft->other.at;
    body.weight = draft->weight.at;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_CHANGE;
    request.change = &body;
    application_asks(c, application, &request);
    a->change = a->requests;
}

void
draft_free(struct draft *draft)
{
    lbm_vec_free(&draft->vertex);
    lbm_vec_free(&draft->token);
    lbm_vec_free(&draft->near);
    lbm_vec_free(&draft->work);
    lbm_vec_free(&draft->removed);
    lbm_vec_free(&draft->keeps);
    lbm_vec_free(&draft->len);
    lbm_vec_free(&draft->end);
    lbm_vec_free(&draft->other);
    lbm_vec_free(&draft->weight);
}

void
refine_ask_ids(struct cluster *c, uint32_t application, uint32_t count)
{
    struct application *a = &c->applications.at[application];
    Lbm__IdsRequest body = LBM__IDS_REQUEST__INIT;
    body.count = count;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_IDS;
    request.ids = &body;
    application_asks(c, application, &request);
    a->ids = a->requests;
}

/* ---- what runs change ------------------------------------------------------------------------------- */

static void
name(struct draft *draft, const struct held *held)
{
    draft_vertex(draft, held->vertex, held->token, held->vertex, 0);
}

/* Half of the neighbours go over to a new vertex. */
static void
split(struct cluster *c, struct application *a, const struct held *held, const struct lbm_row *row,
      struct draft *draft)
{
    uint32_t child = a->new_ids.at[--a->new_ids.n];
    name(draft, held);
    draft_vertex(draft, child, 0, held->vertex, 1);
    draft_edge(draft, child, held->vertex, 1 + lbm_rng_below(&c->rng, 3));
    for (uint32_t k = 0; k < row->degree; k += 2) {
        draft_edge(draft, child, row->half[k].to, row->half[k].weight);
        draft_edge(draft, held->vertex, row->half[k].to, 0);
    }
    LBM_ASSERT(lbm_vec_push(&a->added, child) == LBM_OK);
}

/* Its neighbours become those of one that this application holds too, if there is one. */
static void
merge(struct application *a, const struct held *held, const struct lbm_row *row, struct draft *draft)
{
    name(draft, held);
    draft->removed.at[0] = 1;
    LBM_ASSERT(lbm_vec_push(&a->removed, held->vertex) == LBM_OK);
    for (size_t i = 0; i < a->held.n && draft->vertex.n == 1; i++)
        for (uint32_t k = 0; k < row->degree && draft->vertex.n == 1; k++)
            if (row->half[k].to == a->held.at[i].vertex)
                name(draft, &a->held.at[i]);
    for (uint32_t k = 0; draft->vertex.n == 2 && k < row->degree; k++)
        if (row->half[k].to != draft->vertex.at[1])
            draft_edge(draft, draft->vertex.at[1], row->half[k].to, row->half[k].weight);
}

static void
relink(struct cluster *c, const struct guest *guest, const struct held *held, const struct lbm_row *row,
       struct draft *draft)
{
    name(draft, held);
    /* Draws in order: what arguments evaluate first is the compiler's choice. */
    int is_known = row->degree != 0 && lbm_rng_below(&c->rng, 2) != 0;
    uint32_t weight = is_known ? lbm_rng_below(&c->rng, 3) : 1 + lbm_rng_below(&c->rng, 5);
    uint32_t other =
        is_known ? row->half[lbm_rng_below(&c->rng, row->degree)].to : lbm_rng_below(&c->rng, guest->g.n);
    if (other != held->vertex)
        draft_edge(draft, held->vertex, other, weight);
}

int
refine_may(const struct application *a)
{
    return a->attached && a->ids == 0 && a->change == 0 && a->checkpoint == 0 && a->held.n != 0;
}

void
refine(struct cluster *c, uint32_t application)
{
    struct application *a = &c->applications.at[application];
    struct guest *guest = check_guest(&c->check, a->job);
    if (!refine_may(a) || guest == NULL || lbm_rng_below(&c->rng, CHANGE_ONE_IN) != 0)
        return;
    guest->changes = 1;
    if (a->new_ids.n == 0) {
        refine_ask_ids(c, application, IDS_AT_A_TIME);
        return;
    }
    struct draft draft = {0};
    const struct held held = a->held.at[lbm_rng_below(&c->rng, (uint32_t)a->held.n)];
    const struct lbm_row *row = rows_get(&c->disk[a->host].rows, a->job, held.vertex);
    uint32_t what = lbm_rng_below(&c->rng, 4);
    a->added.n = a->removed.n = 0;
    if (row == NULL || row->stage != LBM_STAGE_OWN)
        return;
    if (what == 0 && a->held.n > 2)
        merge(a, &held, row, &draft);
    else if (what == 1)
        relink(c, guest, &held, row, &draft);
    else
        split(c, a, &held, row, &draft);
    draft_send(c, application, &draft);
    draft_free(&draft);
}

static void
take_ids(struct cluster *c, struct application *a, const Lbm__Response *response)
{
    struct guest *guest = check_guest(&c->check, a->job);
    a->ids = 0;
    if (guest->deleted)
        return; /* the log has no job any more to which they belong */
    for (size_t i = 0; response->ids != NULL && i < response->ids->n_vertex; i++) {
        uint32_t vertex = response->ids->vertex[i];
        if (vertex >= guest->n && !check_grow(&c->check, guest, vertex))
            check_violated(&c->check, "I16",
                           "host %" PRIu32 " gives id %" PRIu32 ", which the log has not allotted", a->host,
                           vertex);
        else if (guest->vertex[vertex].is_born)
            check_violated(&c->check, "I16", "host %" PRIu32 " gives id %" PRIu32 " again", a->host, vertex);
        LBM_ASSERT(lbm_vec_push(&a->new_ids, vertex) == LBM_OK);
    }
}

/* I11: what an application is told of a change another disk has too. */
static void
check_told(struct cluster *c, const struct application *a, uint32_t vertex, uint64_t epoch,
           enum lbm_stage stage)
{
    check_word(&c->check, a->host, c->disk[a->host].incarnation, a->job, vertex, epoch, stage);
}

/* It is done, and said so. */
static void
promised(struct cluster *c, uint32_t application)
{
    struct application *a = &c->applications.at[application];
    struct guest *guest = check_guest(&c->check, a->job);
    for (size_t i = 0; i < a->added.n; i++) {
        guest->vertex[a->added.at[i]].is_promised = 1;
        check_told(c, a, a->added.at[i], 1, LBM_STAGE_OWN);
    }
    for (size_t i = 0; i < a->removed.n; i++) {
        struct truth *truth = &guest->vertex[a->removed.at[i]];
        if (!truth->is_removed && !guest->deleted)
            check_violated(&c->check, "I14",
                           "host %" PRIu32 " says that vertex %" PRIu32 " is removed, and no disk does",
                           a->host, a->removed.at[i]);
        const struct lbm_row *row = rows_get(&c->disk[a->host].rows, a->job, a->removed.at[i]);
        if (row != NULL)
            check_told(c, a, row->vertex, row->epoch, row->stage);
        truth->is_gone = 1;
        for (size_t k = a->held.n; k-- > 0;)
            if (a->held.at[k].vertex == a->removed.at[i])
                application_drops(c, application, k);
    }
    trace(c, a->host, "application %" PRIu32 ": %zu vertices are added, %zu removed", application, a->added.n,
          a->removed.n);
}

void
refine_told(struct cluster *c, uint32_t application, const Lbm__Response *response)
{
    struct application *a = &c->applications.at[application];
    if (response->id == a->ids) {
        take_ids(c, a, response);
        if (c->script != NULL)
            script_look(c, application);
        return;
    }
    a->change = 0;
    if (response->code == LBM_OK)
        promised(c, application);
    else
        trace(c, a->host, "application %" PRIu32 ": no change: %s", application, response->text);
    a->added.n = a->removed.n = 0;
    if (c->script != NULL)
        script_answered(c, application, response->code == LBM_OK);
    if (c->script != NULL && response->code == LBM_OK)
        script_look(c, application); /* for the rest */
}

void
refine_ends(struct cluster *c, uint32_t application)
{
    struct application *a = &c->applications.at[application];
    int is_in_doubt = a->change != 0;
    if (c->script != NULL && is_in_doubt)
        script_ends(c, application);
    a->ids = a->change = 0;
    a->new_ids.n = a->added.n = a->removed.n = 0;
    while (is_in_doubt && a->held.n != 0)
        application_drops(c, application, a->held.n - 1);
}

void
cluster_leave_guests(struct cluster *c)
{
    c->options.changes = 0;
}
