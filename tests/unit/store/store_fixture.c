/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/store/store_model.h"

/* Ids of both signs as the database stores them. */
static const uint64_t jobs[] = {1, 77, UINT64_C(0x8000000000000001)};
enum { JOBS = 3, VERTICES = 12 };

struct lbm_persist *
model_persist(uint64_t id)
{
    struct lbm_persist *persist = lbm_alloc(1, sizeof *persist);
    assert_non_null(persist);
    persist->id = id;
    return persist;
}

struct lbm_persist_op *
model_op(struct lbm_persist *persist, enum lbm_persist_kind kind, uint64_t job)
{
    struct lbm_persist_op op = {.kind = kind, .job = job};
    assert_int_equal(lbm_vec_push(&persist->ops, op), LBM_OK);
    return &persist->ops.at[persist->ops.n - 1];
}

struct lbm_row *
model_row(struct lbm_persist *persist, uint64_t job, uint32_t vertex, uint64_t epoch, enum lbm_stage stage,
          uint32_t degree)
{
    struct lbm_row *row = &model_op(persist, LBM_PERSIST_ROW, job)->as.row;
    *row = (struct lbm_row){.job = job,
                            .vertex = vertex,
                            .epoch = epoch,
                            .stage = stage,
                            .peer = LBM_NONE,
                            .work = 1,
                            .pin = LBM_NONE,
                            .degree = degree};
    row->half = lbm_alloc(degree, sizeof *row->half);
    assert_non_null(row->half);
    for (uint32_t i = 0; i < degree; i++)
        row->half[i] = (struct lbm_half){.to = i, .weight = i + 1, .host = LBM_NONE - i};
    return row;
}

static uint8_t *
random_command(struct lbm_rng *rng, size_t *len)
{
    *len = lbm_rng_below(rng, 40);
    uint8_t *command = lbm_alloc(*len, 1);
    assert_non_null(command);
    for (size_t i = 0; i < *len; i++)
        command[i] = (uint8_t)lbm_rng_next(rng);
    return command;
}

static void
random_row(struct lbm_rng *rng, struct lbm_persist *persist, uint64_t job)
{
    uint64_t epoch = 1 + lbm_rng_below(rng, 4) + (lbm_rng_below(rng, 9) == 0 ? UINT64_C(1) << 40 : 0);
    struct lbm_row *row =
        model_row(persist, job, lbm_rng_below(rng, VERTICES), epoch,
                  (enum lbm_stage)(1 + lbm_rng_below(rng, LBM_STAGE_COUNT - 1)), lbm_rng_below(rng, 6));
    row->peer = lbm_rng_below(rng, 2) ? LBM_NONE : lbm_rng_below(rng, 64);
    row->peer_incarnation = lbm_rng_next(rng);
    row->work = 1 + lbm_rng_below(rng, LBM_WEIGHT_MAX);
    row->pin = lbm_rng_below(rng, 2) ? LBM_NONE : lbm_rng_below(rng, 64);
    row->anchored = lbm_rng_below(rng, 2) != 0;
    for (unsigned i = 0; i < 2 + lbm_rng_below(rng, 2); i++)
        row->position[i] = lbm_rng_unit(rng) - 0.5;
}

static void
random_plan(struct lbm_rng *rng, struct lbm_persist *persist, uint64_t job, enum lbm_persist_kind kind)
{
    struct lbm_persist_op *op = model_op(persist, kind, job);
    uint32_t n = lbm_rng_below(rng, 4);
    unsigned m = 2 + lbm_rng_below(rng, 2);
    op->as.plan.n = n;
    op->as.plan.m = m;
    op->as.plan.vertex = lbm_alloc(n, sizeof(uint32_t));
    op->as.plan.position = lbm_alloc((size_t)n * m, sizeof(double));
    assert_true(op->as.plan.vertex != NULL && op->as.plan.position != NULL);
    for (uint32_t i = 0; i < n; i++)
        op->as.plan.vertex[i] = lbm_rng_below(rng, VERTICES);
    for (uint32_t i = 0; i < n * m; i++)
        op->as.plan.position[i] = lbm_rng_unit(rng) - 0.5;
    if (kind == LBM_PERSIST_POSITIONS)
        return;
    op->as.plan.anchored = lbm_alloc(n, 1);
    op->as.plan.host = lbm_alloc(n, sizeof(uint32_t));
    assert_true(op->as.plan.anchored != NULL && op->as.plan.host != NULL);
    for (uint32_t i = 0; i < n; i++) {
        op->as.plan.anchored[i] = (uint8_t)lbm_rng_below(rng, 2);
        op->as.plan.host[i] = lbm_rng_below(rng, 64);
    }
}

static void
random_op(struct lbm_rng *rng, struct lbm_persist *persist, uint64_t log_next, const struct lbm_graph *guest)
{
    uint64_t job = jobs[lbm_rng_below(rng, JOBS)];
    uint32_t dice = lbm_rng_below(rng, 40);
    struct lbm_persist_op *op;
    if (dice == 0) {
        model_op(persist, LBM_PERSIST_JOB_DELETE, job);
    } else if (dice == 1) {
        model_op(persist, LBM_PERSIST_GUEST, job)->as.guest.graph = guest;
    } else if (dice == 2) {
        op = model_op(persist, LBM_PERSIST_SELF, 0);
        op->as.self.cluster = lbm_rng_next(rng);
        op->as.self.host = lbm_rng_below(rng, LBM_HOSTS_MAX);
        op->as.self.incarnation = lbm_rng_next(rng);
    } else if (dice < 8) {
        op = model_op(persist, LBM_PERSIST_LOG, 0);
        op->as.log.index = log_next;
        op->as.log.command = random_command(rng, &op->as.log.len);
    } else if (dice < 12) {
        op = model_op(persist, LBM_PERSIST_JOB, job);
        op->as.state.state = (enum lbm_job_state)lbm_rng_below(rng, LBM_JOB_STATE_COUNT);
        op->as.state.command = random_command(rng, &op->as.state.len);
    } else if (dice < 18) {
        random_plan(rng, persist, job, dice < 15 ? LBM_PERSIST_PLAN : LBM_PERSIST_POSITIONS);
    } else {
        random_row(rng, persist, job);
    }
}

struct lbm_persist *
model_random(struct lbm_rng *rng, uint64_t id, const struct lbm_recovered *state,
             const struct lbm_graph *guest)
{
    struct lbm_persist *persist = model_persist(id);
    for (uint32_t i = lbm_rng_below(rng, 4); i > 0; i--)
        random_op(rng, persist, state->log.n + 1, guest);
    return persist;
}
