/* SPDX-License-Identifier: GPL-3.0-or-later */
/* XL95 section 5.4: WaTor (fish and sharks on a toroidal ocean of 256 x 256) on a ring of 16, remapped every
 * two steps. A step takes as long as the processor with most creatures; to carry a creature to a neighbour
 * takes a tenth of what a step of it takes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/papers.h"
#include "papers/strips.h"

enum {
    SIDE = 256,
    CELLS = SIDE * SIDE,
    STEPS = 100,
    EVERY = 2,
    FISH_BREED = 4,
    SHARK_BREED = 10,
    SHARK_STARVE = 6
};

enum { SCHOOLS = 16, SCHOOL_RADIUS = 52 };

static const double carry_cost = 0.1;

enum kind { WATER, FISH, SHARK };

struct creature {
    uint8_t kind, age, hunger, moved; /* moved: in this step already */
};

struct ocean {
    struct creature cell[CELLS];
    uint32_t row[SIDE]; /* creatures in it */
    struct lbm_rng rng;
};

static uint32_t
neighbour(uint32_t at, uint32_t direction)
{
    uint32_t x = at % SIDE, y = at / SIDE;
    static const uint32_t dx[] = {1, SIDE - 1, 0, 0}, dy[] = {0, 0, 1, SIDE - 1};
    return (y + dy[direction]) % SIDE * SIDE + (x + dx[direction]) % SIDE;
}

/* A neighbour of the wanted kind, at random; CELLS if there is none. */
static uint32_t
look(struct ocean *o, uint32_t at, enum kind wanted)
{
    uint32_t from = lbm_rng_below(&o->rng, 4);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t to = neighbour(at, (from + i) % 4);
        if (o->cell[to].kind == wanted)
            return to;
    }
    return CELLS;
}

/* Move, and leave young behind if old enough. */
static void
swim(struct ocean *o, uint32_t at, uint32_t to, uint32_t breed)
{
    struct creature *c = &o->cell[at];
    int breeds = c->age >= breed;
    c->moved = 1;
    if (breeds)
        c->age = 0;
    o->cell[to] = *c;
    *c = breeds ? (struct creature){.kind = c->kind, .moved = 1} : (struct creature){0};
}

static void
fish(struct ocean *o, uint32_t at)
{
    uint32_t to = look(o, at, WATER);
    o->cell[at].age++;
    if (to != CELLS)
        swim(o, at, to, FISH_BREED);
}

static void
shark(struct ocean *o, uint32_t at)
{
    uint32_t prey = look(o, at, FISH), to = prey != CELLS ? prey : look(o, at, WATER);
    struct creature *c = &o->cell[at];
    c->age++;
    c->hunger = prey != CELLS ? 0 : (uint8_t)(c->hunger + 1);
    if (c->hunger >= SHARK_STARVE)
        *c = (struct creature){0};
    else if (to != CELLS)
        swim(o, at, to, SHARK_BREED);
}

static void
count(struct ocean *o)
{
    memset(o->row, 0, sizeof o->row);
    for (uint32_t i = 0; i < CELLS; i++)
        o->row[i / SIDE] += o->cell[i].kind != WATER;
}

static void
step(struct ocean *o)
{
    for (uint32_t i = 0; i < CELLS; i++)
        o->cell[i].moved = 0;
    for (uint32_t i = 0; i < CELLS; i++)
        if (!o->cell[i].moved && o->cell[i].kind == FISH)
            fish(o, i);
        else if (!o->cell[i].moved && o->cell[i].kind == SHARK)
            shark(o, i);
    count(o);
}

/* How the ocean is peopled at the start: the paper does not say. Everywhere alike, or in schools. */
static int
is_peopled(uint32_t at, const uint32_t *school, uint32_t n_schools)
{
    uint32_t x = at % SIDE, y = at / SIDE;
    for (uint32_t i = 0; i < n_schools; i++) {
        uint32_t dx = (x + SIDE - school[i] % SIDE) % SIDE, dy = (y + SIDE - school[i] / SIDE) % SIDE;
        dx = dx < SIDE / 2 ? dx : SIDE - dx;
        dy = dy < SIDE / 2 ? dy : SIDE - dy;
        if (dx * dx + dy * dy < SCHOOL_RADIUS * SCHOOL_RADIUS)
            return 1;
    }
    return n_schools == 0;
}

/* Fish and, one to six of them, sharks, at random ages. */
static void
populate(struct ocean *o, uint32_t n_schools, uint64_t seed, uint64_t stream)
{
    uint32_t school[SCHOOLS];
    memset(o, 0, sizeof *o);
    lbm_rng_stream(&o->rng, seed, stream);
    for (uint32_t i = 0; i < n_schools; i++)
        school[i] = lbm_rng_below(&o->rng, CELLS);
    for (uint32_t i = 0; i < CELLS; i++) {
        double draw = lbm_rng_unit(&o->rng);
        uint8_t age = (uint8_t)lbm_rng_below(&o->rng, FISH_BREED);
        if (draw < 0.35 && is_peopled(i, school, n_schools))
            o->cell[i] = (struct creature){.kind = draw < 0.3 ? FISH : SHARK, .age = age};
    }
    count(o);
}

struct times {
    double fixed, remapped, perfect;
};

static int
run_once(struct table_run *t, struct ocean *o, uint32_t schools, uint64_t stream, struct times *times)
{
    struct strips fixed, remapped;
    populate(o, schools, t->options->seed, stream);
    if (!strips_open(t, "ring:16", SIDE, o->row, &fixed))
        return 0;
    if (!strips_open(t, "ring:16", SIDE, o->row, &remapped)) {
        strips_close(&fixed);
        return 0;
    }
    enum lbm_err err = LBM_OK;
    for (int i = 0; i < STEPS && err == LBM_OK; i++) {
        double carried = 0.0;
        if (i % EVERY == 0)
            err = strips_remap(&remapped, &carried, &t->diag);
        times->fixed += strips_largest(&fixed);
        times->remapped += strips_largest(&remapped) + carry_cost * carried;
        for (uint32_t y = 0; y < SIDE; y++)
            times->perfect += o->row[y] / 16.0;
        step(o);
    }
    strips_close(&fixed);
    strips_close(&remapped);
    return err == LBM_OK || table_fail(t, err);
}

static struct times
measure(struct table_run *t, struct ocean *o, uint32_t schools)
{
    uint32_t runs = table_runs(t, 4, 20);
    struct times times = {0};
    for (uint32_t run = 0; run < runs; run++)
        if (!run_once(t, o, schools, run, &times))
            break;
    return times;
}

void
xl95_wator(struct table_run *t)
{
    static const struct {
        uint32_t schools;
        const char *name;
    } rows[] = {{SCHOOLS, "schools"}, {0, "fish everywhere"}};
    struct ocean *o = lbm_alloc(1, sizeof *o);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && o != NULL; i++) {
        struct times times = measure(t, o, rows[i].schools);
        double saved = 100.0 * (times.fixed - times.remapped) / times.fixed;
        double possible = 100.0 * (times.fixed - times.perfect) / times.fixed;
        struct cell *cell =
            table_cell(t, saved, "%s at the start: time saved by remapping, %%", rows[i].name);
        if (rows[i].schools != 0)
            cell_note(cell_paper(cell, 15.0, 5.0), "number and size of the schools were chosen to come near");
        else
            cell_not_reproduced(cell_computed(cell_paper(cell, 15.0, 5.0), 8.0, 2.0),
                                "the paper says 10 to 20 %, not what its ocean was like");
        cell_bound(table_cell(t, saved / possible,
                              "%s at the start: share of what perfect balance would save", rows[i].name),
                   AT_MOST, 1.0);
    }
    if (o == NULL)
        table_fail(t, LBM_E_NOMEM);
    free(o);
}
