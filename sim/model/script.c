/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applications that change their guest as a script wants: vertices and edges by number, each as soon as an
 * application holds a vertex that it concerns. Numbers are the script's; ids are given by the daemons. */
#include "sim/model/script.h"

#include <stdlib.h>

enum { BATCH_MAX = 256 /* edits of one request */, PASSED_MAX = 64 };

struct edit {
    struct cluster_edit what;
    uint32_t id;      /* ADD: the one that was asked for */
    uint32_t passed;  /* ADD: so often its neighbour was not there yet */
    uint32_t carrier; /* application that has asked for it, or LBM_NONE */
};

struct script {
    uint64_t job;
    LBM_VEC(uint32_t) id;      /* by number; LBM_NONE: not there */
    struct lbm_idmap number;   /* by id */
    LBM_VEC(struct edit) list; /* what is not done yet, in order */
};

/* ---- what is wanted ------------------------------------------------------------------------------------ */

void
cluster_follow_script(struct cluster *c, const char *job, uint32_t n)
{
    LBM_ASSERT(c->script == NULL);
    c->script = lbm_alloc(1, sizeof *c->script);
    LBM_ASSERT(c->script != NULL);
    c->script->job = check_job(&c->check, job);
    for (uint32_t v = 0; v < n; v++) {
        LBM_ASSERT(lbm_vec_push(&c->script->id, v) == LBM_OK);
        LBM_ASSERT(lbm_idmap_put(&c->script->number, v, v) == LBM_OK);
    }
}

void
script_free(struct cluster *c)
{
    if (c->script == NULL)
        return;
    lbm_vec_free(&c->script->id);
    lbm_idmap_free(&c->script->number);
    lbm_vec_free(&c->script->list);
    free(c->script);
}

void
cluster_edit(struct cluster *c, struct cluster_edit what)
{
    struct script *s = c->script;
    const struct edit edit = {.what = what, .id = LBM_NONE, .carrier = LBM_NONE};
    check_guest(&c->check, s->job)->changes = 1;
    if (what.kind == CLUSTER_EDIT_ADD)
        LBM_ASSERT(what.a == s->id.n && lbm_vec_push(&s->id, LBM_NONE) == LBM_OK);
    LBM_ASSERT(lbm_vec_push(&s->list, edit) == LBM_OK);
}

size_t
cluster_edits_left(const struct cluster *c)
{
    return c->script != NULL ? c->script->list.n : 0;
}

uint32_t
cluster_number(const struct cluster *c, uint32_t id)
{
    return lbm_idmap_get(&c->script->number, id);
}

void
cluster_owners_by_number(const struct cluster *c, uint32_t *part, uint32_t *none)
{
    const struct script *s = c->script;
    *none = 0;
    for (size_t v = 0; v < s->id.n; v++)
        part[v] = LBM_NONE;
    for (uint32_t p = 0; p < c->n; p++)
        for (size_t j = 0; j < c->disk[p].rows.jobs.n; j++) {
            const struct job_rows *rows = &c->disk[p].rows.jobs.at[j];
            for (size_t i = 0; i < rows->rows.n && rows->job == s->job; i++) {
                uint32_t number = lbm_idmap_get(&s->number, rows->rows.at[i].vertex);
                if (rows->rows.at[i].stage == LBM_STAGE_OWN && number != LBM_NONE)
                    part[number] = p;
            }
        }
    for (size_t v = 0; v < s->id.n; v++)
        *none += part[v] == LBM_NONE && s->id.at[v] != LBM_NONE;
}

/* ---- what an application can do ------------------------------------------------------------------------ */

/* A request that is being put together. */
struct batch {
    struct script *s;
    struct application *a;
    struct lbm_idmap held; /* id: its place in a->held */
    struct lbm_idmap row;  /* number: its row below */
    struct draft draft;
    LBM_VEC(uint32_t) chosen; /* of the list */
    uint32_t n_added;         /* that there are ids for */
};

static int
holds(const struct batch *b, uint32_t number)
{
    uint32_t id = b->s->id.at[number];
    return id != LBM_NONE && lbm_idmap_get(&b->held, id) != LBM_NONE;
}

static void
put_row(struct batch *b, uint32_t number, uint32_t id, uint64_t token, uint32_t near, uint32_t work)
{
    LBM_ASSERT(lbm_idmap_put(&b->row, number, (uint32_t)b->draft.vertex.n) == LBM_OK);
    draft_vertex(&b->draft, id, token, near, work);
}

/* Name a vertex that is held, unless it is named. */
static uint32_t
row_of(struct batch *b, uint32_t number)
{
    if (lbm_idmap_get(&b->row, number) == LBM_NONE) {
        const struct held *held = &b->a->held.at[lbm_idmap_get(&b->held, b->s->id.at[number])];
        put_row(b, number, held->vertex, held->token, held->vertex, 0);
    }
    return lbm_idmap_get(&b->row, number);
}

/* The vertex next to which a new one begins here, or LBM_NONE. If it shall begin next to another new one,
 * which does not come, it begins anywhere. */
static uint32_t
near_of(const struct batch *b, struct edit *edit)
{
    uint32_t near = edit->what.b;
    if (near != LBM_NONE && holds(b, near))
        return b->s->id.at[near];
    if (near == LBM_NONE || (b->s->id.at[near] == LBM_NONE && edit->passed++ > PASSED_MAX))
        return b->a->held.at[0].vertex;
    return LBM_NONE;
}

static int
add(struct batch *b, struct edit *edit)
{
    uint32_t near = near_of(b, edit);
    if (near == LBM_NONE)
        return 0;
    if (b->n_added < b->a->new_ids.n)
        edit->id = b->a->new_ids.at[b->a->new_ids.n - 1 - b->n_added];
    b->n_added++;
    put_row(b, edit->what.a, edit->id, 0, near, edit->what.c);
    return 1;
}

static int
link(struct batch *b, const struct edit *edit)
{
    uint32_t v = edit->what.a, u = edit->what.b;
    if (!holds(b, v) && lbm_idmap_get(&b->row, v) == LBM_NONE) {
        v = edit->what.b;
        u = edit->what.a;
    }
    uint32_t row_u = lbm_idmap_get(&b->row, u), row_v = lbm_idmap_get(&b->row, v);
    if ((row_u == LBM_NONE && b->s->id.at[u] == LBM_NONE) || (row_v == LBM_NONE && !holds(b, v)))
        return 0;
    uint32_t other = row_u != LBM_NONE ? b->draft.vertex.at[row_u] : b->s->id.at[u];
    row_v = row_of(b, v);
    draft_edge(&b->draft, b->draft.vertex.at[row_v], other, edit->what.c);
    return 1;
}

/* Not together with edges that it shall have first. */
static int
take_away(struct batch *b, const struct edit *edit)
{
    if (!holds(b, edit->what.a) || lbm_idmap_get(&b->row, edit->what.a) != LBM_NONE)
        return 0;
    for (size_t i = 0; i < b->draft.other.n; i++)
        if (b->draft.other.at[i] == b->s->id.at[edit->what.a])
            return 0;
    uint32_t row = row_of(b, edit->what.a); /* may move the columns */
    b->draft.removed.at[row] = 1;
    return 1;
}

static void
choose(struct batch *b)
{
    for (size_t i = 0; i < b->s->list.n && b->chosen.n < b->a->batch_max; i++) {
        struct edit *edit = &b->s->list.at[i];
        int is_chosen =
            edit->carrier == LBM_NONE && (edit->what.kind == CLUSTER_EDIT_ADD    ? add(b, edit)
                                          : edit->what.kind == CLUSTER_EDIT_EDGE ? link(b, edit)
                                                                                 : take_away(b, edit));
        if (is_chosen)
            LBM_ASSERT(lbm_vec_push(&b->chosen, (uint32_t)i) == LBM_OK);
    }
}

static void
ask(struct cluster *c, uint32_t application, struct batch *b)
{
    b->a->added.n = b->a->removed.n = 0;
    b->a->new_ids.n -= b->n_added;
    for (size_t i = 0; i < b->chosen.n; i++) {
        struct edit *edit = &b->s->list.at[b->chosen.at[i]];
        edit->carrier = application;
        if (edit->what.kind == CLUSTER_EDIT_ADD)
            LBM_ASSERT(lbm_vec_push(&b->a->added, edit->id) == LBM_OK);
        else if (edit->what.kind == CLUSTER_EDIT_REMOVE)
            LBM_ASSERT(lbm_vec_push(&b->a->removed, b->s->id.at[edit->what.a]) == LBM_OK);
    }
    draft_send(c, application, &b->draft);
}

void
script_look(struct cluster *c, uint32_t application)
{
    struct application *a = &c->applications.at[application];
    struct batch b = {.s = c->script, .a = a};
    if (!refine_may(a) || a->job != c->script->job || c->script->list.n == 0)
        return;
    a->batch_max = a->batch_max == 0 ? BATCH_MAX : a->batch_max;
    for (size_t k = 0; k < a->held.n; k++)
        LBM_ASSERT(lbm_idmap_put(&b.held, a->held.at[k].vertex, (uint32_t)k) == LBM_OK);
    choose(&b);
    if (b.n_added > a->new_ids.n)
        refine_ask_ids(c, application, b.n_added);
    else if (b.chosen.n != 0)
        ask(c, application, &b);
    lbm_idmap_free(&b.held);
    lbm_idmap_free(&b.row);
    draft_free(&b.draft);
    lbm_vec_free(&b.chosen);
}

/* ---- answers ------------------------------------------------------------------------------------------- */

static void
finish(struct script *s, const struct edit *edit)
{
    uint32_t v = edit->what.a;
    if (edit->what.kind == CLUSTER_EDIT_ADD) {
        s->id.at[v] = edit->id;
        LBM_ASSERT(lbm_idmap_put(&s->number, edit->id, v) == LBM_OK);
    } else if (edit->what.kind == CLUSTER_EDIT_REMOVE) {
        lbm_idmap_remove(&s->number, s->id.at[v]);
        s->id.at[v] = LBM_NONE;
    }
}

/* An edge of a vertex that is gone need not be. */
static int
is_void(const struct edit *edit, const struct lbm_idmap *gone)
{
    return edit->what.kind == CLUSTER_EDIT_EDGE &&
           (lbm_idmap_get(gone, edit->what.a) != LBM_NONE || lbm_idmap_get(gone, edit->what.b) != LBM_NONE);
}

void
script_answered(struct cluster *c, uint32_t application, int done)
{
    struct script *s = c->script;
    struct application *a = &c->applications.at[application];
    struct lbm_idmap gone = {0};
    size_t kept = 0;
    for (size_t i = 0; i < s->list.n; i++) {
        struct edit *edit = &s->list.at[i];
        int is_asked = edit->carrier == application;
        if (is_asked && done && edit->what.kind == CLUSTER_EDIT_REMOVE)
            LBM_ASSERT(lbm_idmap_put(&gone, edit->what.a, 1) == LBM_OK);
        if (is_asked && !done && edit->id != LBM_NONE)
            LBM_ASSERT(lbm_vec_push(&a->new_ids, edit->id) == LBM_OK);
        if (is_asked && done) {
            finish(s, edit);
            continue;
        }
        edit->carrier = is_asked ? LBM_NONE : edit->carrier;
        s->list.at[kept++] = *edit;
    }
    s->list.n = kept;
    kept = 0;
    for (size_t i = 0; i < s->list.n; i++)
        if (!is_void(&s->list.at[i], &gone))
            s->list.at[kept++] = s->list.at[i];
    s->list.n = kept;
    lbm_idmap_free(&gone);
    /* One vertex that cannot change just now holds up all that is asked for with it. */
    a->batch_max = done ? BATCH_MAX : a->batch_max > 1 ? a->batch_max / 2 : 1;
}

void
script_ends(struct cluster *c, uint32_t application)
{
    const struct guest *guest = check_guest(&c->check, c->script->job);
    int done = 0;
    for (size_t i = 0; i < c->script->list.n; i++) {
        const struct edit *edit = &c->script->list.at[i];
        if (edit->carrier != application)
            continue;
        if (edit->what.kind == CLUSTER_EDIT_ADD)
            done |= guest->vertex[edit->id].is_born;
        else if (edit->what.kind == CLUSTER_EDIT_REMOVE)
            done |= guest->vertex[c->script->id.at[edit->what.a]].is_removed;
    }
    script_answered(c, application, done);
}
