/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks become vertices, ranks hosts, phases steps. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/vt_internal.h"

enum { UNITS = 1000, ABSENT = 1 /* what a task weighs in a phase that has none of it */ };

/* ---- order --------------------------------------------------------------------------------------------- */

static int
compare_keys(const struct lbm_vt_key *a, const struct lbm_vt_key *b)
{
    if (a->has_seq != b->has_seq)
        return a->has_seq - b->has_seq;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->home > b->home) - (a->home < b->home);
}

static int
by_task(const void *a, const void *b)
{
    const struct lbm_vt_sample *x = a, *y = b;
    int order = compare_keys(&x->key, &y->key);
    return order != 0 ? order : (x->phase > y->phase) - (x->phase < y->phase);
}

static int
by_id(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int
by_phase(const void *a, const void *b)
{
    const struct lbm_vt_phase *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static enum lbm_err
no_memory(const struct lbm_vt_build *b)
{
    return lbm_diag_set(b->diag, LBM_E_NOMEM, "", 0, "no memory for the tasks");
}

void
lbm_vt_name_key(const struct lbm_vt_key *key, char *out, size_t size)
{
    if (key->has_seq)
        snprintf(out, size, "seq_id %" PRId64 " of home %" PRId32, key->number, (int32_t)key->home);
    else
        snprintf(out, size, "id %" PRId64, key->number);
}

enum lbm_err
lbm_vt_find_tasks(struct lbm_vt_build *b)
{
    struct lbm_vt_data *d = b->data;
    if (d->samples.n == 0)
        return lbm_diag_set(b->diag, LBM_E_SYNTAX, "", 0, "no file has a task that is an object");
    qsort(d->samples.at, d->samples.n, sizeof *d->samples.at, by_task);
    for (size_t i = 0; i < d->samples.n; i++) {
        const struct lbm_vt_sample *sample = &d->samples.at[i], *before = i != 0 ? sample - 1 : NULL;
        struct lbm_vt_task task = {.first = i, .n = 1, .now = i};
        if (before == NULL || compare_keys(&before->key, &sample->key) != 0) {
            if (lbm_vec_push(&b->tasks, task) != LBM_OK)
                return no_memory(b);
            continue;
        }
        if (before->phase == sample->phase) {
            char name[64];
            lbm_vt_name_key(&sample->key, name, sizeof name);
            return lbm_diag_set(b->diag, LBM_E_SYNTAX, "", 0,
                                "phase %" PRId64 " has the task with %s twice: was a file given twice?",
                                sample->phase, name);
        }
        b->tasks.at[b->tasks.n - 1].n++;
    }
    return LBM_OK;
}

enum lbm_err
lbm_vt_find_phases(struct lbm_vt_build *b)
{
    struct lbm_vt_data *d = b->data;
    size_t kept = 0;
    qsort(d->phases.at, d->phases.n, sizeof *d->phases.at, by_phase);
    for (size_t i = 0; i < d->phases.n; i++) {
        while (b->counts.n <= d->phases.at[i].file)
            if (lbm_vec_push(&b->counts, 0) != LBM_OK)
                return no_memory(b);
        b->counts.at[d->phases.at[i].file]++;
        if (lbm_vec_push(&b->phases, d->phases.at[i].id) != LBM_OK)
            return no_memory(b);
    }
    qsort(b->phases.at, b->phases.n, sizeof *b->phases.at, by_id);
    for (size_t i = 0; i < b->phases.n; i++)
        if (kept == 0 || b->phases.at[kept - 1] != b->phases.at[i])
            b->phases.at[kept++] = b->phases.at[i];
    b->phases.n = kept;
    b->scale->n_phases = (uint32_t)kept;
    return LBM_OK;
}

/* ---- the guest ----------------------------------------------------------------------------------------- */

/* The vertex of a key; LBM_NONE: no phase has it, or the key does not say which of several is meant. */
static uint32_t
vertex_of(const struct lbm_vt_build *b, const struct lbm_vt_key *key)
{
    const struct lbm_vt_sample *samples = b->data->samples.at;
    struct lbm_vt_key least = *key;
    size_t low = 0, high = b->tasks.n;
    least.home = key->home != LBM_NONE ? key->home : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(&samples[b->tasks.at[middle].first].key, &least) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    struct lbm_vt_key found =
        low < b->tasks.n ? samples[b->tasks.at[low].first].key : (struct lbm_vt_key){.number = -1};
    if (low == b->tasks.n || found.has_seq != key->has_seq || found.number != key->number)
        return LBM_NONE;
    if (!key->has_seq || key->home != LBM_NONE)
        return !key->has_seq || found.home == key->home ? (uint32_t)low : LBM_NONE;
    const struct lbm_vt_key *next = low + 1 < b->tasks.n ? &samples[b->tasks.at[low + 1].first].key : NULL;
    return next == NULL || next->has_seq != key->has_seq || next->number != key->number ? (uint32_t)low
                                                                                        : LBM_NONE;
}

/* What is said between two tasks, in either direction. A phase that a file leaves out is as the one before,
 * so what it has counts for the mean of its own phases. */
struct pair {
    uint32_t u, v;
    double bytes; /* a phase */
};

static int
by_ends(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->u != y->u)
        return x->u < y->u ? -1 : 1;
    if (x->v != y->v)
        return x->v < y->v ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes); /* so that sums have one order */
}

struct pair_list {
    LBM_VEC(struct pair) at;
};

static enum lbm_err
find_pairs(struct lbm_vt_build *b, struct pair_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->data->talks.n; i++) {
        const struct lbm_vt_talk *talk = &b->data->talks.at[i];
        uint32_t u = vertex_of(b, &talk->from), v = vertex_of(b, &talk->to);
        struct pair pair = {u < v ? u : v, u < v ? v : u, talk->bytes / b->counts.at[talk->file]};
        if (u == LBM_NONE || v == LBM_NONE)
            b->scale->n_unknown++;
        else if (u != v && talk->bytes > 0 && lbm_vec_push(&list->at, pair) != LBM_OK)
            return no_memory(b);
    }
    if (list->at.n != 0)
        qsort(list->at.at, list->at.n, sizeof *list->at.at, by_ends);
    for (size_t i = 0; i < list->at.n; i++)
        if (kept != 0 && list->at.at[kept - 1].u == list->at.at[i].u &&
            list->at.at[kept - 1].v == list->at.at[i].v)
            list->at.at[kept - 1].bytes += list->at.at[i].bytes;
        else
            list->at.at[kept++] = list->at.at[i];
    list->at.n = kept;
    return LBM_OK;
}

/* Bytes a phase on average; in larger units if they are too many for a weight. */
enum lbm_err
lbm_vt_build_guest(struct lbm_vt_build *b)
{
    struct pair_list list = {0};
    LBM_VEC(struct lbm_edge) edges = {0};
    double most = 0, unit = 1;
    enum lbm_err err = find_pairs(b, &list);
    for (size_t i = 0; i < list.at.n; i++)
        most = fmax(most, list.at.at[i].bytes);
    while (most / unit > 1e9)
        unit *= 10;
    for (size_t i = 0; err == LBM_OK && i < list.at.n; i++) {
        double weight = floor(list.at.at[i].bytes / unit + 0.5);
        struct lbm_edge edge = {list.at.at[i].u, list.at.at[i].v, weight < 1 ? 1 : (uint32_t)weight};
        err = lbm_vec_push(&edges, edge) == LBM_OK ? LBM_OK : no_memory(b);
    }
    if (err == LBM_OK)
        err = lbm_graph_build((uint32_t)b->tasks.n, edges.at, edges.n, LBM_MERGE_REJECT, b->g, b->diag);
    b->scale->edge_bytes = unit;
    lbm_vec_free(&list.at);
    lbm_vec_free(&edges);
    return err;
}

/* ---- loads and owners ---------------------------------------------------------------------------------- */

/* A task of mean time weighs UNITS. */
void
lbm_vt_choose_unit(struct lbm_vt_build *b)
{
    double sum = 0;
    for (size_t i = 0; i < b->data->samples.n; i++)
        sum += b->data->samples.at[i].time_s / (double)b->data->samples.n;
    b->scale->load_s = sum > 0 ? sum / UNITS : 1;
}

static int
has_phase(const struct lbm_vt_data *data, uint32_t file, int64_t phase)
{
    struct lbm_vt_phase wanted = {phase, file};
    return bsearch(&wanted, data->phases.at, data->phases.n, sizeof wanted, by_phase) != NULL;
}

/* What the task weighs in that phase, and where it is. A file that leaves a phase out has it as the one
 * before. */
uint32_t
lbm_vt_work_in(struct lbm_vt_build *b, struct lbm_vt_task *task, int64_t phase, uint32_t *node)
{
    const struct lbm_vt_sample *samples = b->data->samples.at;
    while (task->now + 1 < task->first + task->n && samples[task->now + 1].phase <= phase)
        task->now++;
    const struct lbm_vt_sample *sample = &samples[task->now];
    *node = sample->node;
    if (sample->phase > phase || (sample->phase < phase && has_phase(b->data, sample->file, phase)))
        return ABSENT;
    double units = floor(sample->time_s / b->scale->load_s + 0.5);
    return units < 1 ? 1 : units > LBM_WEIGHT_MAX ? LBM_WEIGHT_MAX : (uint32_t)units;
}

static enum lbm_err
put_first_phase(struct lbm_vt_build *b)
{
    struct lbm_trace *t = b->trace;
    t->g.work = lbm_alloc(t->g.n, sizeof *t->g.work);
    t->g.pin = lbm_alloc(t->g.n, sizeof *t->g.pin);
    t->owner = lbm_alloc(t->g.n, sizeof *t->owner);
    if (t->g.work == NULL || t->g.pin == NULL || t->owner == NULL)
        return no_memory(b);
    for (uint32_t v = 0; v < t->g.n; v++) {
        struct lbm_vt_task *task = &b->tasks.at[v];
        t->g.work[v] = lbm_vt_work_in(b, task, b->phases.at[0], &t->owner[v]);
        t->g.pin[v] = b->data->samples.at[task->first].fixed ? t->owner[v] : LBM_NONE;
    }
    return LBM_OK;
}

static enum lbm_err
put_phases(struct lbm_vt_build *b, double phase_s)
{
    struct lbm_trace *t = b->trace;
    uint32_t *work = lbm_copy(t->g.work, t->g.n, sizeof *work),
             *owner = lbm_copy(t->owner, t->g.n, sizeof *owner);
    uint32_t *to = lbm_alloc(t->g.n, sizeof *to);
    enum lbm_err err = work != NULL && owner != NULL && to != NULL ? LBM_OK : LBM_E_NOMEM;
    for (size_t p = 1; err == LBM_OK && p < b->phases.n; p++) {
        err = lbm_trace_step_begin(t, llround((double)p * phase_s * 1e6));
        for (uint32_t v = 0; err == LBM_OK && v < t->g.n; v++) {
            uint32_t now = lbm_vt_work_in(b, &b->tasks.at[v], b->phases.at[p], &to[v]);
            if (now != work[v])
                err = lbm_trace_event_add(t, LBM_TRACE_LOAD, v, now, 0);
            work[v] = now;
        }
        for (uint32_t v = 0; err == LBM_OK && v < t->g.n; v++) {
            if (to[v] != owner[v])
                err = lbm_trace_event_add(t, LBM_TRACE_OWN, v, to[v], 0);
            owner[v] = to[v];
        }
    }
    t->end_us = llround((double)b->phases.n * phase_s * 1e6);
    free(work);
    free(owner);
    free(to);
    return err == LBM_OK ? LBM_OK : no_memory(b);
}

/* ---- hosts --------------------------------------------------------------------------------------------- */

static enum lbm_err
put_hosts(struct lbm_vt_build *b)
{
    const struct lbm_hosts *h = b->h;
    for (uint32_t p = 0; p < h->n; p++) {
        struct lbm_trace_host host = {.id = p, .capacity = h->capacity[p], .m = h->m};
        if (h->name != NULL)
            snprintf(host.name, sizeof host.name, "%s", h->name[p]);
        else
            snprintf(host.name, sizeof host.name, "rank%" PRIu32, p);
        memcpy(host.site, &h->site[(size_t)p * h->m], h->m * sizeof *host.site);
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++) {
            struct lbm_trace_link link = {h->target[e], h->cost[e]};
            if (lbm_vec_push(&host.links, link) != LBM_OK)
                return no_memory(b);
        }
        if (lbm_vec_push(&b->trace->hosts, host) != LBM_OK)
            return no_memory(b);
    }
    b->trace->n_present = h->n;
    return LBM_OK;
}

void
lbm_vt_build_free(struct lbm_vt_build *b)
{
    lbm_vec_free(&b->tasks);
    lbm_vec_free(&b->phases);
    lbm_vec_free(&b->counts);
}

enum lbm_err
lbm_vt_trace(struct lbm_vt_data *data, const struct lbm_hosts *h, double phase_s, struct lbm_trace *out,
             struct lbm_vt_scale *scale, struct lbm_diag *diag)
{
    struct lbm_trace trace = {.imbalance = 0.03, .seed = 1, .measured = 1, .job = "vt", .policy = "auto"};
    struct lbm_vt_build b = {
        .data = data, .h = h, .g = &trace.g, .trace = &trace, .scale = scale, .diag = diag};
    *scale = (struct lbm_vt_scale){0};
    if (h->n < data->n_ranks)
        return lbm_diag_set(diag, LBM_E_RANGE, "--hosts", 0,
                            "%" PRIu32 " hosts are too few for %" PRIu32 " ranks", h->n, data->n_ranks);
    enum lbm_err err = lbm_vt_find_tasks(&b);
    if (err == LBM_OK)
        err = lbm_vt_find_phases(&b);
    if (err == LBM_OK)
        err = put_hosts(&b);
    if (err == LBM_OK)
        err = lbm_vt_build_guest(&b);
    if (err == LBM_OK) {
        lbm_vt_choose_unit(&b);
        err = put_first_phase(&b);
    }
    if (err == LBM_OK)
        err = put_phases(&b, phase_s);
    lbm_vt_build_free(&b);
    if (err == LBM_OK)
        *out = trace;
    else
        lbm_trace_free(&trace);
    return err;
}
