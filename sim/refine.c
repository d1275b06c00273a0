/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applications that change their guests: a vertex splits, another goes, edges appear and disappear. What an
 * application knows of edges is what the disk of its host says just then; what it asks for may be out of date
 * when it gets there. */
#include <stdlib.h>
#include <string.h>

#include "sim/script.h"

enum { CHANGE_ONE_IN = 3, IDS_AT_A_TIME = 4, EDGES_MAX = 32, PAYLOAD = 16 };

struct edit {
    uint32_t vertex[2], near[2], work[2], removed[2], keeps[2], len[2];
    uint64_t token[2];
    uint8_t payload[2][PAYLOAD];
    size_t n;
    uint32_t end[EDGES_MAX], other[EDGES_MAX], weight[EDGES_MAX];
    size_t m;
};

static void
name(struct edit *edit, uint32_t vertex, uint64_t token, uint32_t near)
{
    size_t i = edit->n++;
    edit->vertex[i] = vertex;
    edit->token[i] = token;
    edit->near[i] = near;
    edit->work[i] = token == 0;
    edit->keeps[i] = 1;
}

static void
edge(struct edit *edit, uint32_t end, uint32_t other, uint32_t weight)
{
    if (edit->m == EDGES_MAX || end == other)
        return;
    edit->end[edit->m] = end;
    edit->other[edit->m] = other;
    edit->weight[edit->m++] = weight;
}

void
refine_send(struct cluster *c, uint32_t application, Lbm__ChangeRequest *body)
{
    struct application *a = &c->applications.at[application];
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_CHANGE;
    request.change = body;
    application_asks(c, application, &request);
    a->change = a->requests;
}

static void
send(struct cluster *c, uint32_t application, struct edit *edit)
{
    Lbm__ChangeRequest body = LBM__CHANGE_REQUEST__INIT;
    body.n_vertex = body.n_token = body.n_near = body.n_work = body.n_removed = body.n_keeps =
        body.n_payload_len = edit->n;
    body.vertex = edit->vertex;
    body.token = edit->token;
    body.near = edit->near;
    body.work = edit->work;
    body.removed = edit->removed;
    body.keeps = edit->keeps;
    body.payload_len = edit->len;
    body.n_end = body.n_other = body.n_weight = edit->m;
    body.end = edit->end;
    body.other = edit->other;
    body.weight = edit->weight;
    refine_send(c, application, &body);
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

/* Half of the neighbours go over to a new vertex. */
static void
split(struct cluster *c, struct application *a, const struct held *held, const struct lbm_row *row,
      struct edit *edit)
{
    uint32_t child = a->new_ids.at[--a->new_ids.n];
    name(edit, held->vertex, held->token, held->vertex);
    name(edit, child, 0, held->vertex);
    edge(edit, child, held->vertex, 1 + lbm_rng_below(&c->rng, 3));
    for (uint32_t k = 0; k < row->degree; k += 2) {
        edge(edit, child, row->half[k].to, row->half[k].weight);
        edge(edit, held->vertex, row->half[k].to, 0);
    }
    LBM_ASSERT(lbm_vec_push(&a->added, child) == LBM_OK);
}

/* Its neighbours become those of one that this application holds too, if there is one. */
static void
merge(struct application *a, const struct held *held, const struct lbm_row *row, struct edit *edit)
{
    name(edit, held->vertex, held->token, held->vertex);
    edit->removed[0] = 1;
    LBM_ASSERT(lbm_vec_push(&a->removed, held->vertex) == LBM_OK);
    for (size_t i = 0; i < a->held.n && edit->n == 1; i++)
        for (uint32_t k = 0; k < row->degree && edit->n == 1; k++)
            if (row->half[k].to == a->held.at[i].vertex)
                name(edit, a->held.at[i].vertex, a->held.at[i].token, a->held.at[i].vertex);
    for (uint32_t k = 0; edit->n == 2 && k < row->degree; k++)
        edge(edit, edit->vertex[1], row->half[k].to, row->half[k].weight);
}

static void
relink(struct cluster *c, const struct guest *guest, const struct held *held, const struct lbm_row *row,
       struct edit *edit)
{
    name(edit, held->vertex, held->token, held->vertex);
    /* Draws in order: what arguments evaluate first is the compiler's choice. */
    int is_known = row->degree != 0 && lbm_rng_below(&c->rng, 2) != 0;
    uint32_t weight = is_known ? lbm_rng_below(&c->rng, 3) : 1 + lbm_rng_below(&c->rng, 5);
    uint32_t other = is_known ? row->half[lbm_rng_below(&c->rng, row->degree)].to
                              : lbm_rng_below(&c->rng, guest->g.n);
    edge(edit, held->vertex, other, weight);
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
    struct edit edit = {0};
    const struct held held = a->held.at[lbm_rng_below(&c->rng, (uint32_t)a->held.n)];
    const struct lbm_row *row = rows_get(&c->disk[a->host].rows, a->job, held.vertex);
    uint32_t what = lbm_rng_below(&c->rng, 4);
    a->added.n = a->removed.n = 0;
    if (row == NULL || row->stage != LBM_STAGE_OWN)
        return;
    if (what == 0 && a->held.n > 2)
        merge(a, &held, row, &edit);
    else if (what == 1)
        relink(c, guest, &held, row, &edit);
    else
        split(c, a, &held, row, &edit);
    send(c, application, &edit);
}

static void
take_ids(struct cluster *c, struct application *a, const Lbm__Response *response)
{
    struct guest *guest = check_guest(&c->check, a->job);
    a->ids = 0;
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
