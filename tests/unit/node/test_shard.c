/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A host's part of a guest: records and their ranks, ghosts, the patch made of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "graph/generate.h"
#include "node/records/shard.h"

enum { SELF = 3, JOB = 9, W = 6, H = 5, N = W * H };

/* Work, weight and place of the lattice of these tests, all distinct. */
static uint32_t
work_of(uint32_t v)
{
    return 10 + v;
}

static uint32_t
weight_of(uint32_t u, uint32_t v)
{
    return u < v ? 100 * u + v + 1 : 100 * v + u + 1;
}

/* A row of the W x H lattice, owned here unless changed. */
static struct lbm_row
lattice_row(uint32_t v, uint64_t epoch)
{
    struct lbm_row row = {.job = JOB,
                          .vertex = v,
                          .epoch = epoch,
                          .stage = LBM_STAGE_OWN,
                          .peer = LBM_NONE,
                          .work = work_of(v),
                          .pin = LBM_NONE,
                          .position = {v % W, (double)(v / W), 0}};
    row.half = lbm_alloc(4, sizeof *row.half);
    static const int step[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    for (int k = 0; k < 4; k++) {
        int x = (int)(v % W) + step[k][0], y = (int)(v / W) + step[k][1];
        if (x < 0 || x >= W || y < 0 || y >= H)
            continue;
        uint32_t to = (uint32_t)(y * W + x);
        row.half[row.degree++] = (struct lbm_half){to, weight_of(v, to), LBM_NONE};
    }
    return row;
}

static void
put(struct lbm_shard *shard, struct lbm_row row)
{
    assert_int_equal(lbm_shard_put(shard, &row), LBM_OK);
    assert_null(row.half);
}

static void
lattice(struct lbm_shard *shard)
{
    lbm_shard_init(shard, 2, SELF);
    for (uint32_t v = 0; v < N; v++)
        put(shard, lattice_row(v, 1));
}

static void
set_stage(struct lbm_shard *shard, uint32_t v, enum lbm_stage stage, uint64_t epoch, uint32_t peer)
{
    struct lbm_vertex *vertex = lbm_shard_vertex(shard, v);
    assert_non_null(vertex);
    assert_int_equal(lbm_shard_set_stage(shard, vertex, stage, epoch, peer, 1), LBM_OK);
}

/* Give a vertex away for good. */
static void
give(struct lbm_shard *shard, uint32_t v, uint32_t peer)
{
    uint64_t epoch = lbm_shard_vertex(shard, v)->epoch;
    set_stage(shard, v, LBM_STAGE_OUT, epoch, peer);
    set_stage(shard, v, LBM_STAGE_MOV, epoch, peer);
}

/* Counts by definition, and the patch against the records it is made of. */
static void
expect_consistent(struct lbm_shard *shard)
{
    uint32_t n_own = 0, n_out = 0;
    uint64_t load = 0, directions = 0;
    for (size_t i = 0; i < shard->vertices.n; i++) {
        const struct lbm_vertex *vertex = &shard->vertices.at[i];
        if (vertex->id != LBM_NONE)
            assert_ptr_equal(lbm_shard_vertex(shard, vertex->id), vertex);
        n_own += vertex->stage == LBM_STAGE_OWN;
        n_out += vertex->stage == LBM_STAGE_OUT;
        load += vertex->stage == LBM_STAGE_OWN ? vertex->work : 0;
        directions += vertex->stage == LBM_STAGE_OWN ? vertex->degree : 0;
        assert_true(vertex->stage != LBM_STAGE_MOV || (vertex->half == NULL && vertex->degree == 0));
    }
    assert_int_equal(shard->n_own, n_own);
    assert_int_equal(shard->n_out, n_out);
    assert_int_equal(shard->load, load);
    assert_int_equal(lbm_shard_patch(shard), LBM_OK);
    const struct lbm_patch *patch = &shard->patch;
    assert_int_equal(patch->g.n, n_own);
    assert_int_equal(patch->g.offset[n_own], directions);
    for (uint32_t row = 0; row < n_own; row++) {
        const struct lbm_vertex *vertex = &shard->vertices.at[patch->vertex[row]];
        assert_int_equal(vertex->row, row);
        assert_int_equal(vertex->stage, LBM_STAGE_OWN);
        assert_int_equal(patch->g.work[row], vertex->work);
        assert_int_equal(patch->anchored[row], vertex->anchored);
        assert_memory_equal(&patch->x[(size_t)row * 2], vertex->x, 2 * sizeof(double));
        assert_int_equal(patch->g.offset[row + 1] - patch->g.offset[row], vertex->degree);
        for (uint32_t k = 0; k < vertex->degree; k++) {
            uint64_t e = patch->g.offset[row] + k;
            uint32_t target = patch->g.target[e], id = vertex->half[k].to;
            assert_int_equal(patch->g.weight[e], vertex->half[k].weight);
            if (target < n_own) {
                assert_int_equal(shard->vertices.at[patch->vertex[target]].id, id);
                continue;
            }
            assert_true(target < n_own + patch->n_ghosts);
            const struct lbm_ghost *ghost = &shard->ghosts.at[patch->ghost[target - n_own]];
            assert_int_equal(ghost->id, id);
            assert_int_equal(ghost->at, target);
            assert_ptr_equal(lbm_shard_ghost(shard, id), ghost);
            assert_memory_equal(&patch->x[(size_t)target * 2], ghost->x, 2 * sizeof(double));
        }
    }
    assert_int_equal(shard->ghosts.n, patch->n_ghosts); /* none is kept that nobody needs */
}

/* ---- records ------------------------------------------------------------------------------------------- */

static void
an_empty_shard_has_an_empty_patch(void **state)
{
    (void)state;
    struct lbm_shard shard;
    lbm_shard_init(&shard, 2, SELF);
    assert_null(lbm_shard_vertex(&shard, 0));
    assert_null(lbm_shard_ghost(&shard, 0));
    assert_int_equal(lbm_shard_where(&shard, 0), LBM_NONE);
    expect_consistent(&shard);
    struct lbm_graph g;
    assert_int_equal(lbm_shard_whole(&shard, 1, &g), LBM_E_STATE);
    lbm_shard_write_back(&shard);
    lbm_shard_touch(&shard);
    lbm_shard_free(&shard);
}

static void
one_vertex_without_neighbours_is_a_patch(void **state)
{
    (void)state;
    struct lbm_shard shard;
    lbm_shard_init(&shard, 3, SELF);
    put(&shard, (struct lbm_row){.job = JOB,
                                 .vertex = 5,
                                 .epoch = 1,
                                 .stage = LBM_STAGE_OWN,
                                 .peer = LBM_NONE,
                                 .work = 4,
                                 .pin = LBM_NONE,
                                 .anchored = 1,
                                 .position = {1, 2, 3}});
    assert_int_equal(lbm_shard_patch(&shard), LBM_OK);
    assert_int_equal(shard.patch.g.n, 1);
    assert_int_equal(shard.patch.n_ghosts, 0);
    assert_int_equal(shard.patch.anchored[0], 1);
    assert_true(shard.patch.x[2] == 3);
    assert_int_equal(shard.load, 4);
    assert_int_equal(shard.work_least, 4);
    lbm_shard_free(&shard);
}

static void
counts_follow_every_change_of_stage(void **state)
{
    (void)state;
    struct lbm_shard shard;
    lattice(&shard);
    expect_consistent(&shard);
    set_stage(&shard, 7, LBM_STAGE_OUT, 1, 1);
    expect_consistent(&shard);
    assert_int_equal(shard.n_out, 1);
    set_stage(&shard, 7, LBM_STAGE_OWN, 3, LBM_NONE); /* refused */
    expect_consistent(&shard);
    assert_int_equal(lbm_shard_vertex(&shard, 7)->degree, 4);
    give(&shard, 7, 1);
    expect_consistent(&shard);
    assert_int_equal(shard.n_own, N - 1);
    put(&shard, lattice_row(7, 9)); /* it comes back */
    expect_consistent(&shard);
    assert_int_equal(shard.n_own, N);
    lbm_shard_free(&shard);
}

static void
the_target_of_an_own_row_and_the_peer_of_others_survive_storing(void **state)
{
    (void)state;
    struct lbm_shard shard;
    lbm_shard_init(&shard, 2, SELF);
    struct lbm_row row = lattice_row(0, 1), stored;
    row.peer = 6;
    row.pin = 6;
    row.anchored = 1;
    put(&shard, row);
    const struct lbm_vertex *vertex = lbm_shard_vertex(&shard, 0);
    assert_int_equal(vertex->destination, 6);
    assert_int_equal(vertex->peer, LBM_NONE);
    assert_int_equal(lbm_shard_row(&shard, JOB, vertex, &stored), LBM_OK);
    assert_int_equal(stored.job, JOB);
    assert_int_equal(stored.peer, 6);
    assert_int_equal(stored.pin, 6);
    assert_int_equal(stored.anchored, 1);
    assert_int_equal(stored.degree, 2);
    assert_int_equal(stored.half[0].to, 1);
    assert_int_equal(stored.half[0].host, LBM_NONE);
    free(stored.half);
    put(&shard, lattice_row(1, 1)); /* its place is known from now on */
    assert_int_equal(lbm_shard_row(&shard, JOB, lbm_shard_vertex(&shard, 0), &stored), LBM_OK);
    assert_int_equal(stored.half[0].host, SELF);
    free(stored.half);
    set_stage(&shard, 0, LBM_STAGE_OUT, 1, 6);
    assert_int_equal(lbm_shard_row(&shard, JOB, lbm_shard_vertex(&shard, 0), &stored), LBM_OK);
    assert_int_equal(stored.stage, LBM_STAGE_OUT);
    assert_int_equal(stored.peer, 6);
    assert_int_equal(stored.degree, 2); /* may have to be offered again after a restart */
    free(stored.half);
    set_stage(&shard, 0, LBM_STAGE_MOV, 1, 6);
    assert_int_equal(lbm_shard_row(&shard, JOB, lbm_shard_vertex(&shard, 0), &stored), LBM_OK);
    assert_int_equal(stored.peer, 6);
    assert_int_equal(stored.degree, 0);
    assert_null(stored.half);
    lbm_shard_free(&shard);
}

/* ---- ranks --------------------------------------------------------------------------------------------- */

static jmp_buf escape;

static void
jump_out(const char *expression, const char *file, int line)
{
    (void)expression;
    (void)file;
    (void)line;
    longjmp(escape, 1);
}

/* Nonzero if storing the rank over {OWN, OUT, REF or MOV} of epoch 5 trips an assertion. */
static int
is_caught(enum lbm_stage known, uint64_t epoch, enum lbm_stage stage, int by_put)
{
    struct lbm_shard shard;
    lbm_shard_init(&shard, 2, SELF);
    struct lbm_row first = {.job = JOB,
                            .vertex = 0,
                            .epoch = 5,
                            .stage = known,
                            .peer = known == LBM_STAGE_OWN ? LBM_NONE : 1,
                            .work = 1,
                            .pin = LBM_NONE};
    put(&shard, first);
    struct lbm_row next = first;
    next.epoch = epoch;
    next.stage = stage;
    volatile int caught = 0;
    lbm_assert_hook = jump_out;
    if (setjmp(escape) != 0)
        caught = 1;
    else if (by_put)
        put(&shard, next);
    else
        set_stage(&shard, 0, stage, epoch, 1);
    lbm_assert_hook = NULL;
    lbm_shard_free(&shard);
    return caught;
}

static void
a_rank_that_falls_is_caught(void **state)
{
    (void)state;
    for (int known = LBM_STAGE_OWN; known <= LBM_STAGE_MOV; known++)
        for (int stage = LBM_STAGE_OWN; stage <= LBM_STAGE_MOV; stage++)
            for (int by_put = 0; by_put < 2; by_put++) {
                assert_true(is_caught((enum lbm_stage)known, 4, (enum lbm_stage)stage, by_put));
                assert_false(is_caught((enum lbm_stage)known, 6, (enum lbm_stage)stage, by_put));
                /* a record may be stored again as it is; a change of stage must be one */
                int falls = by_put ? stage < known : stage <= known;
                assert_int_equal(is_caught((enum lbm_stage)known, 5, (enum lbm_stage)stage, by_put), falls);
            }
}

/* ---- where vertices are -------------------------------------------------------------------------------- */

static void
a_vertex_given_away_leaves_its_address(void **state)
{
    (void)state;
    struct lbm_shard shard;
    lattice(&shard);
    set_stage(&shard, 8, LBM_STAGE_OUT, 1, 2);
    assert_int_equal(lbm_shard_where(&shard, 8), SELF); /* until the other side has it */
    assert_int_equal(lbm_shard_patch(&shard), LBM_OK);
    assert_int_equal(lbm_shard_ghost(&shard, 8)->host, SELF);
    set_stage(&shard, 8, LBM_STAGE_MOV, 1, 2);
    assert_int_equal(lbm_shard_where(&shard, 8), 2);
    expect_consistent(&shard);
    const struct lbm_ghost *ghost = lbm_shard_ghost(&shard, 8);
    assert_non_null(ghost);
    assert_int_equal(ghost->host, 2);
    assert_int_equal(ghost->epoch, 2);
    assert_int_equal(ghost->work, work_of(8));
    assert_true(ghost->x[0] == 2 && ghost->x[1] == 1);
    for (uint32_t v = 0; v < N; v++) /* nobody here is left that needs it */
        if (v != 8)
            give(&shard, v, 1);
    expect_consistent(&shard);
    assert_null(lbm_shard_ghost(&shard, 8));
    assert_int_equal(lbm_shard_where(&shard, 8), 2); /* the record still tells */
    lbm_shard_free(&shard);
}

/* What is offered is nobody's own vertex any more, so ghosts that it alone has are dropped. */
static void
what_is_offered_keeps_what_is_known_of_its_neighbours(void **state)
{
    (void)state;
    struct lbm_shard shard;
    double x[2] = {0, 0};
    lbm_shard_init(&shard, 2, SELF);
    struct lbm_row row = lattice_row(0, 1);
    for (uint32_t i = 0; i < row.degree; i++)
        row.half[i].host = 7; /* as it was once */
    put(&shard, row);
    assert_int_equal(lbm_shard_patch(&shard), LBM_OK);
    (void)lbm_shard_learn(&shard, 1, 5, 2, 1, 1, x);
    assert_int_equal(lbm_shard_where(&shard, 1), 5);
    set_stage(&shard, 0, LBM_STAGE_OUT, 1, 4);
    assert_int_equal(lbm_shard_patch(&shard), LBM_OK);
    const struct lbm_vertex *vertex = lbm_shard_vertex(&shard, 0);
    for (uint32_t i = 0; i < vertex->degree; i++)
        assert_int_equal(vertex->half[i].host, vertex->half[i].to == 1 ? 5 : 7);
    lbm_shard_free(&shard);
}

static void
hints_of_a_record_place_unknown_neighbours(void **state)
{
    (void)state;
    struct lbm_shard shard;
    lbm_shard_init(&shard, 2, SELF);
    struct lbm_row row = lattice_row(0, 2);
    row.half[0].host = 7;
    put(&shard, row);
    expect_consistent(&shard);
    const struct lbm_ghost *ghost = lbm_shard_ghost(&shard, 1);
    assert_int_equal(ghost->host, 7);
    assert_int_equal(ghost->epoch, 0);
    assert_int_equal(ghost->work, 0);
    assert_int_equal(lbm_shard_ghost(&shard, W)->host, LBM_NONE);
    assert_true(ghost->x[0] == 0 && ghost->x[1] == 0); /* where its neighbour is, not at the origin by luck */
    lbm_shard_free(&shard);
}

/* ---- learning ------------------------------------------------------------------------------------------ */

struct lesson {
    uint32_t host;
    uint64_t epoch, stamp;
    double x; /* < 0: place only */
    int moved;
    uint32_t host_then;
    double x_then;
};

static void
the_newest_epoch_and_stamp_win(void **state)
{
    (void)state;
    static const struct lesson lessons[] = {
        {2, 2, 50, 1, 0, 2, 1},  /* where it went, and its place */
        {2, 2, 50, 2, 0, 2, 1},  /* repeated */
        {2, 2, 40, 3, 0, 2, 1},  /* late */
        {5, 1, 90, 4, 0, 2, 1},  /* a former owner */
        {2, 2, 60, 5, 0, 2, 5},  /* newer */
        {4, 3, 0, -1, 1, 4, 5},  /* moved on, place only */
        {4, 3, 7, 6, 0, 4, 6},   /* the new owner's clock is its own */
        {4, 3, 6, 7, 0, 4, 6},   /* late */
        {5, 2, 900, 8, 0, 4, 6}, /* a former owner again */
        {6, 9, 1, 9, 1, 6, 9},   /* moved on, with a place */
        {6, 9, 2, 10, 0, 6, 10}, /* its next word */
    };
    struct lbm_shard shard;
    lattice(&shard);
    give(&shard, 8, 2);
    for (int built = 0; built < 2; built++) {
        if (built) { /* the same once more, from a higher epoch on and against a patch that stands */
            put(&shard, lattice_row(8, 21));
            give(&shard, 8, 2);
        }
        assert_int_equal(lbm_shard_patch(&shard), LBM_OK);
        for (size_t i = 0; i < sizeof lessons / sizeof *lessons; i++) {
            const struct lesson *l = &lessons[i];
            double x[2] = {l->x, -l->x};
            assert_int_equal(lbm_shard_learn(&shard, 8, l->host, l->epoch + (built ? 20 : 0), l->stamp, 77,
                                             l->x < 0 ? NULL : x),
                             l->moved);
            const struct lbm_ghost *ghost = lbm_shard_ghost(&shard, 8);
            assert_int_equal(ghost->host, l->host_then);
            assert_true(ghost->x[0] == l->x_then && ghost->x[1] == -l->x_then);
            assert_int_equal(ghost->work, 77);
            assert_true(shard.patch.x[(size_t)ghost->at * 2] == l->x_then);
        }
        expect_consistent(&shard);
    }
    lbm_shard_free(&shard);
}

static void
strangers_are_not_recorded(void **state)
{
    (void)state;
    struct lbm_shard shard;
    lbm_shard_init(&shard, 2, SELF);
    put(&shard, lattice_row(0, 1));
    expect_consistent(&shard);
    double x[2] = {1, 1};
    assert_int_equal(lbm_shard_learn(&shard, 20, 1, 5, 5, 1, x), 0);
    assert_null(lbm_shard_ghost(&shard, 20));
    assert_int_equal(lbm_shard_learn(&shard, 0, 1, 5, 5, 1, x), 0); /* our own */
    assert_int_equal(lbm_shard_where(&shard, 0), SELF);
    lbm_shard_free(&shard);
}

/* What is told of vertices elsewhere comes while owners change, and the patch would be built each time. */
static void
a_neighbour_is_learned_of_before_there_is_a_patch(void **state)
{
    (void)state;
    struct lbm_shard shard;
    lbm_shard_init(&shard, 2, SELF);
    put(&shard, lattice_row(0, 1));
    put(&shard, lattice_row(1, 1));
    const struct lbm_vertex *first = lbm_shard_vertex(&shard, 0);
    uint32_t neighbour = W;
    assert_int_equal(lbm_shard_expect(&shard, N - 1, first), LBM_OK); /* a stranger */
    assert_int_equal(lbm_shard_expect(&shard, 1, first), LBM_OK);     /* our own */
    assert_int_equal(lbm_shard_expect(&shard, neighbour, first), LBM_OK);
    assert_null(lbm_shard_ghost(&shard, N - 1));
    assert_null(lbm_shard_ghost(&shard, 1));
    assert_false(shard.patch.valid);
    assert_int_equal(lbm_shard_learn(&shard, neighbour, 5, 3, 1, 9, (double[2]){7, 8}), 1);
    expect_consistent(&shard);
    const struct lbm_ghost *ghost = lbm_shard_ghost(&shard, neighbour);
    assert_int_equal(ghost->host, 5);
    assert_true(shard.patch.x[(size_t)ghost->at * 2] == 7);
    give(&shard, 0, 1);
    assert_int_equal(lbm_shard_expect(&shard, neighbour, lbm_shard_vertex(&shard, 0)), LBM_OK);
    expect_consistent(&shard);
    assert_null(lbm_shard_ghost(&shard, neighbour)); /* nobody here is its neighbour any more */
    lbm_shard_free(&shard);
}

/* ---- the patch ----------------------------------------------------------------------------------------- */

static void
coordinates_survive_a_change_of_owners(void **state)
{
    (void)state;
    struct lbm_shard shard;
    lattice(&shard);
    assert_int_equal(lbm_shard_patch(&shard), LBM_OK);
    for (uint32_t row = 0; row < N; row++)
        shard.patch.x[(size_t)row * 2] = 1000 + shard.vertices.at[shard.patch.vertex[row]].id;
    give(&shard, 3, 1); /* the patch is void, what it had computed is not */
    assert_false(shard.patch.valid);
    for (uint32_t v = 0; v < N; v++)
        assert_true(lbm_shard_vertex(&shard, v)->x[0] == 1000 + v);
    expect_consistent(&shard);
    assert_true(lbm_shard_ghost(&shard, 3)->x[0] == 1003);
    shard.patch.x[0] = -1;
    lbm_shard_write_back(&shard);
    assert_true(shard.vertices.at[shard.patch.vertex[0]].x[0] == -1);
    assert_true(shard.patch.valid);
    lbm_shard_free(&shard);
}

/* Vertices come and go at random; after every few changes all must agree. */
static void
random_changes_keep_records_and_patch_in_step(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct lbm_rng rng;
        lbm_rng_seed(&rng, seed);
        struct lbm_shard shard;
        lattice(&shard);
        for (int step = 0; step < 300; step++) {
            uint32_t v = lbm_rng_below(&rng, N), other = lbm_rng_below(&rng, 3);
            const struct lbm_vertex *vertex = lbm_shard_vertex(&shard, v);
            uint64_t epoch = vertex->epoch;
            double x[2] = {lbm_rng_unit(&rng), lbm_rng_unit(&rng)};
            if (vertex->stage == LBM_STAGE_OWN)
                set_stage(&shard, v, LBM_STAGE_OUT, epoch, other);
            else if (vertex->stage == LBM_STAGE_OUT && lbm_rng_below(&rng, 3) == 0)
                set_stage(&shard, v, LBM_STAGE_OWN, epoch + 2, LBM_NONE);
            else if (vertex->stage == LBM_STAGE_OUT)
                set_stage(&shard, v, LBM_STAGE_MOV, epoch, vertex->peer);
            else if (lbm_rng_below(&rng, 2) == 0)
                put(&shard, lattice_row(v, epoch + 2 + lbm_rng_below(&rng, 3)));
            else
                lbm_shard_learn(&shard, v, other, epoch + lbm_rng_below(&rng, 3), (uint64_t)step, work_of(v),
                                x);
            if (lbm_rng_below(&rng, 3) == 0)
                expect_consistent(&shard);
        }
        lbm_shard_free(&shard);
    }
}

static void
the_whole_guest_comes_back_only_from_its_only_owner(void **state)
{
    (void)state;
    struct lbm_shard shard;
    lattice(&shard);
    struct lbm_graph g;
    assert_int_equal(lbm_shard_whole(&shard, N + 1, &g), LBM_E_STATE);
    assert_int_equal(lbm_shard_whole(&shard, N, &g), LBM_OK);
    assert_int_equal(g.n, N);
    assert_int_equal(g.offset[N], 2 * (W * (H - 1) + H * (W - 1)));
    for (uint32_t v = 0; v < N; v++) {
        assert_int_equal(g.work[v], work_of(v));
        assert_int_equal(g.pin[v], LBM_NONE);
        for (uint64_t e = g.offset[v]; e < g.offset[v + 1]; e++)
            assert_int_equal(g.weight[e], weight_of(v, g.target[e]));
    }
    lbm_graph_free(&g);
    set_stage(&shard, 4, LBM_STAGE_OUT, 1, 1);
    assert_int_equal(lbm_shard_whole(&shard, N, &g), LBM_E_STATE);
    lbm_shard_free(&shard);
}

static void
slots_of_vertices_that_are_forgotten_are_used_again(void **state)
{
    (void)state;
    enum { GONE = 7, OTHER = N, NEXT = N + 1 };
    struct lbm_shard shard;
    lattice(&shard);
    give(&shard, GONE, 1);
    struct lbm_vertex *gone = lbm_shard_vertex(&shard, GONE);
    uint32_t slot = (uint32_t)(gone - shard.vertices.at);
    assert_int_equal(lbm_shard_patch(&shard), LBM_OK);
    uint64_t built = shard.built;
    lbm_shard_forget(&shard, gone);
    assert_ptr_equal(lbm_shard_vertex(&shard, GONE), gone); /* others have to hear of that */
    assert_int_equal(lbm_shard_patch(&shard), LBM_OK);
    assert_true(shard.built == built); /* rows and ghosts are what they were */
    lbm_shard_vacate(&shard, gone);
    lbm_shard_vacate(&shard, gone); /* no more than once */
    assert_null(lbm_shard_vertex(&shard, GONE));
    expect_consistent(&shard);
    put(&shard, (struct lbm_row){.job = JOB, .vertex = OTHER, .epoch = 1, .stage = LBM_STAGE_OWN, .work = 5});
    put(&shard, (struct lbm_row){.job = JOB, .vertex = NEXT, .epoch = 1, .stage = LBM_STAGE_OWN, .work = 5});
    assert_ptr_equal(lbm_shard_vertex(&shard, OTHER), &shard.vertices.at[slot]);
    assert_int_equal(shard.vertices.n, N + 1);
    put(&shard, lattice_row(GONE, 3)); /* it comes back */
    expect_consistent(&shard);
    lbm_shard_free(&shard);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_shard_has_an_empty_patch),
        cmocka_unit_test(one_vertex_without_neighbours_is_a_patch),
        cmocka_unit_test(counts_follow_every_change_of_stage),
        cmocka_unit_test(the_target_of_an_own_row_and_the_peer_of_others_survive_storing),
        cmocka_unit_test(a_rank_that_falls_is_caught),
        cmocka_unit_test(a_vertex_given_away_leaves_its_address),
        cmocka_unit_test(hints_of_a_record_place_unknown_neighbours),
        cmocka_unit_test(what_is_offered_keeps_what_is_known_of_its_neighbours),
        cmocka_unit_test(the_newest_epoch_and_stamp_win),
        cmocka_unit_test(strangers_are_not_recorded),
        cmocka_unit_test(a_neighbour_is_learned_of_before_there_is_a_patch),
        cmocka_unit_test(coordinates_survive_a_change_of_owners),
        cmocka_unit_test(random_changes_keep_records_and_patch_in_step),
        cmocka_unit_test(the_whole_guest_comes_back_only_from_its_only_owner),
        cmocka_unit_test(slots_of_vertices_that_are_forgotten_are_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
