/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/store/store_model.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/check.h"

enum { DEGREE_MAX = 8 }; /* of the guests that tests store */

/* ---- the reference ------------------------------------------------------------------------------ */

struct lbm_recovered *
model_new(void)
{
    struct lbm_recovered *state = lbm_alloc(1, sizeof *state);
    assert_non_null(state);
    return state;
}

static struct lbm_row
copy_row(const struct lbm_row *row)
{
    struct lbm_row copy = *row;
    copy.half = lbm_copy(row->half, row->degree, sizeof *row->half);
    assert_non_null(copy.half);
    return copy;
}

static struct lbm_recovered *
copy_state(const struct lbm_recovered *state)
{
    struct lbm_recovered *copy = model_new();
    copy->known = state->known;
    copy->cluster = state->cluster;
    copy->host = state->host;
    copy->incarnation = state->incarnation;
    for (size_t i = 0; i < state->log.n; i++) {
        struct lbm_recovered_entry entry = state->log.at[i];
        entry.command = lbm_copy(entry.command, entry.len, 1);
        assert_int_equal(lbm_vec_push(&copy->log, entry), LBM_OK);
    }
    for (size_t i = 0; i < state->jobs.n; i++) {
        struct lbm_recovered_job job = state->jobs.at[i];
        job.command = lbm_copy(job.command, job.len, 1);
        assert_int_equal(lbm_vec_push(&copy->jobs, job), LBM_OK);
    }
    for (size_t i = 0; i < state->rows.n; i++)
        assert_int_equal(lbm_vec_push(&copy->rows, copy_row(&state->rows.at[i])), LBM_OK);
    return copy;
}

static int
row_before(const struct lbm_row *row, uint64_t job, uint32_t vertex)
{
    return row->job != job ? row->job < job : row->vertex < vertex;
}

/* Index of the row, or of where it belongs. */
static size_t
row_index(const struct lbm_recovered *state, uint64_t job, uint32_t vertex, int *found)
{
    size_t i = 0;
    while (i < state->rows.n && row_before(&state->rows.at[i], job, vertex))
        i++;
    *found = i < state->rows.n && state->rows.at[i].job == job && state->rows.at[i].vertex == vertex;
    return i;
}

static enum lbm_err
put_row(struct lbm_recovered *state, const struct lbm_row *row)
{
    int found;
    size_t i = row_index(state, row->job, row->vertex, &found);
    struct lbm_row copy = copy_row(row);
    if (found) {
        struct lbm_row *old = &state->rows.at[i];
        if (row->epoch < old->epoch || (row->epoch == old->epoch && row->stage < old->stage)) {
            free(copy.half);
            return LBM_E_STATE;
        }
        free(old->half);
        *old = copy;
        return LBM_OK;
    }
    assert_int_equal(lbm_vec_push(&state->rows, copy), LBM_OK);
    memmove(&state->rows.at[i + 1], &state->rows.at[i], (state->rows.n - 1 - i) * sizeof *state->rows.at);
    state->rows.at[i] = copy;
    return LBM_OK;
}

static enum lbm_err
put_guest(struct lbm_recovered *state, uint64_t job, const struct lbm_graph *g, uint64_t seq)
{
    for (uint32_t v = 0; v < g->n; v++) {
        struct lbm_half half[DEGREE_MAX];
        uint32_t degree = (uint32_t)(g->offset[v + 1] - g->offset[v]);
        assert_in_range(degree, 0, DEGREE_MAX);
        for (uint32_t i = 0; i < degree; i++)
            half[i] = (struct lbm_half){g->target[g->offset[v] + i], lbm_graph_weight(g, g->offset[v] + i),
                                        LBM_NONE};
        struct lbm_row row = {.job = job,
                              .vertex = v,
                              .epoch = 1,
                              .stage = LBM_STAGE_OWN,
                              .peer = LBM_NONE,
                              .work = lbm_graph_work(g, v),
                              .pin = g->pin != NULL ? g->pin[v] : LBM_NONE,
                              .seq = seq + v,
                              .source = LBM_NONE,
                              .fin = 1,
                              .degree = degree,
                              .half = half};
        for (int i = 0; i < 2; i++)
            row.position[i] = g->position != NULL ? g->position[2 * v + (uint32_t)i] : 0;
        enum lbm_err err = put_row(state, &row);
        if (err != LBM_OK)
            return err;
    }
    return LBM_OK;
}

static enum lbm_err
put_plan(struct lbm_recovered *state, const struct lbm_persist_op *op)
{
    for (uint32_t i = 0; i < op->as.plan.n; i++) {
        int found;
        size_t at = row_index(state, op->job, op->as.plan.vertex[i], &found);
        if (!found && op->kind == LBM_PERSIST_PLAN)
            return LBM_E_STATE;
        if (!found)
            continue;
        struct lbm_row *row = &state->rows.at[at];
        for (unsigned k = 0; k < 3; k++)
            row->position[k] = k < op->as.plan.m ? op->as.plan.position[i * op->as.plan.m + k] : 0;
        if (op->as.plan.anchored != NULL)
            row->anchored = op->as.plan.anchored[i];
        if (op->as.plan.host != NULL && row->stage == LBM_STAGE_OWN)
            row->peer = op->as.plan.host[i];
    }
    return LBM_OK;
}

static void
delete_job(struct lbm_recovered *state, uint64_t job)
{
    size_t kept = 0;
    for (size_t i = 0; i < state->rows.n; i++)
        if (state->rows.at[i].job == job)
            free(state->rows.at[i].half);
        else
            state->rows.at[kept++] = state->rows.at[i];
    state->rows.n = kept;
    kept = 0;
    for (size_t i = 0; i < state->jobs.n; i++)
        if (state->jobs.at[i].job == job)
            free(state->jobs.at[i].command);
        else
            state->jobs.at[kept++] = state->jobs.at[i];
    state->jobs.n = kept;
}

static void
put_job(struct lbm_recovered *state, const struct lbm_persist_op *op)
{
    struct lbm_recovered_job job = {op->job, op->as.state.state,
                                    lbm_copy(op->as.state.command, op->as.state.len, 1), op->as.state.len};
    size_t i = 0;
    while (i < state->jobs.n && state->jobs.at[i].job < op->job)
        i++;
    if (i < state->jobs.n && state->jobs.at[i].job == op->job) {
        free(state->jobs.at[i].command);
        state->jobs.at[i] = job;
        return;
    }
    assert_int_equal(lbm_vec_push(&state->jobs, job), LBM_OK);
    memmove(&state->jobs.at[i + 1], &state->jobs.at[i], (state->jobs.n - 1 - i) * sizeof *state->jobs.at);
    state->jobs.at[i] = job;
}

static enum lbm_err
put_log(struct lbm_recovered *state, const struct lbm_persist_op *op)
{
    if (op->as.log.index != state->log.n + 1)
        return LBM_E_STATE;
    struct lbm_recovered_entry entry = {op->as.log.index, lbm_copy(op->as.log.command, op->as.log.len, 1),
                                        op->as.log.len};
    return lbm_vec_push(&state->log, entry);
}

static enum lbm_err
put_op(struct lbm_recovered *state, const struct lbm_persist_op *op)
{
    switch (op->kind) {
    case LBM_PERSIST_SELF:
        state->known = 1;
        state->cluster = op->as.self.cluster;
        state->host = op->as.self.host;
        state->incarnation = op->as.self.incarnation;
        return LBM_OK;
    case LBM_PERSIST_LOG:
        return put_log(state, op);
    case LBM_PERSIST_JOB:
        put_job(state, op);
        return LBM_OK;
    case LBM_PERSIST_JOB_DELETE:
        delete_job(state, op->job);
        return LBM_OK;
    case LBM_PERSIST_ROW:
        return put_row(state, &op->as.row);
    case LBM_PERSIST_GUEST:
        return put_guest(state, op->job, op->as.guest.graph, op->as.guest.seq);
    default:
        return put_plan(state, op);
    }
}

enum lbm_err
model_apply(struct lbm_recovered **state, const struct lbm_persist *persist)
{
    struct lbm_recovered *next = copy_state(*state);
    for (size_t i = 0; i < persist->ops.n; i++) {
        enum lbm_err err = put_op(next, &persist->ops.at[i]);
        if (err != LBM_OK) {
            lbm_recovered_free(next);
            return err;
        }
    }
    lbm_recovered_free(*state);
    *state = next;
    return LBM_OK;
}

/* ---- comparing ---------------------------------------------------------------------------------- */

static int
rows_equal(const struct lbm_row *a, const struct lbm_row *b)
{
    return a->job == b->job && a->vertex == b->vertex && a->epoch == b->epoch && a->stage == b->stage &&
           a->peer == b->peer && a->peer_incarnation == b->peer_incarnation && a->work == b->work &&
           a->pin == b->pin && a->anchored == b->anchored &&
           memcmp(a->position, b->position, sizeof a->position) == 0 && a->degree == b->degree &&
           (a->degree == 0 || memcmp(a->half, b->half, a->degree * sizeof *a->half) == 0);
}

static int
bytes_equal(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    return a_len == b_len && (a_len == 0 || memcmp(a, b, a_len) == 0);
}

int
model_equal(const struct lbm_recovered *a, const struct lbm_recovered *b)
{
    int equal = a->known == b->known && a->cluster == b->cluster && a->host == b->host &&
                a->incarnation == b->incarnation && a->log.n == b->log.n && a->jobs.n == b->jobs.n &&
                a->rows.n == b->rows.n;
    for (size_t i = 0; equal && i < a->log.n; i++)
        equal = a->log.at[i].index == b->log.at[i].index &&
                bytes_equal(a->log.at[i].command, a->log.at[i].len, b->log.at[i].command, b->log.at[i].len);
    for (size_t i = 0; equal && i < a->jobs.n; i++)
        equal =
            a->jobs.at[i].job == b->jobs.at[i].job && a->jobs.at[i].state == b->jobs.at[i].state &&
            bytes_equal(a->jobs.at[i].command, a->jobs.at[i].len, b->jobs.at[i].command, b->jobs.at[i].len);
    for (size_t i = 0; equal && i < a->rows.n; i++)
        equal = rows_equal(&a->rows.at[i], &b->rows.at[i]);
    return equal;
}

void
model_assert_equal(const struct lbm_recovered *a, const struct lbm_recovered *b)
{
    assert_int_equal(a->log.n, b->log.n);
    assert_int_equal(a->jobs.n, b->jobs.n);
    assert_int_equal(a->rows.n, b->rows.n);
    assert_true(model_equal(a, b));
}

/* ---- databases and directories ------------------------------------------------------------------- */

enum lbm_err
model_store(struct lbm_store *store, struct lbm_persist *persist, struct lbm_diag *diag)
{
    const struct lbm_persist *const one = persist;
    enum lbm_err err = lbm_store_apply(store, &one, 1, diag);
    lbm_persist_free(persist);
    return err;
}

char *
model_directory(void)
{
    char template[] = "test_store.XXXXXX";
    assert_non_null(mkdtemp(template));
    char *directory = strdup(template);
    assert_non_null(directory);
    return directory;
}

const char *
model_path(const char *directory, const char *name)
{
    static char path[256];
    int len = snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_in_range(len, 1, sizeof path - 1);
    return path;
}

void
model_remove(char *directory)
{
    DIR *list = opendir(directory);
    assert_non_null(list);
    const struct dirent *entry;
    while ((entry = readdir(list)) != NULL)
        if (entry->d_name[0] != '.')
            assert_int_equal(remove(model_path(directory, entry->d_name)), 0);
    closedir(list);
    assert_int_equal(rmdir(directory), 0);
    free(directory);
}
