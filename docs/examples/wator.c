/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wator: fish and sharks in a toroidal ocean (Dewdney, Scientific American, December 1984), a vertex a row of
 * it. Who eats whom depends on nothing but the seed: on any number of hosts, through losses, the ocean is
 * that of one loop, and fish are counted after every step. Rows with more animals cost more, and animals
 * travel: vertices move.
 *
 *     cc -O2 wator.c $(pkg-config --cflags --libs lbmap) -o wator
 *     ./wator graph 256 >ocean.graph                    # a ring of rows; submit it as job "ocean"
 *     ./wator run ocean 256 256 200 ocean.ppm [SOCKET [NS]]
 *     ./wator alone 256 256 200 ocean.ppm               # the same in one loop
 *
 * The program at the host with the lowest number writes a picture, and FILE.counts: step, fish, sharks a
 * line. NS: every animal of a row costs that many nanoseconds more, as it would with a brain. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lbmap_steps.h>

/* An animal moves in three parts, each of which needs the next row only: it chooses a cell, the cell chooses
 * one of those that want it, and who was chosen goes there. First all fish, then all sharks. */
enum { CHOOSE, ACCEPT, MOVE, PARTS, STEP_PARTS = 2 * PARTS };
enum { WATER, FISH, SHARK, KINDS };
enum { NORTH, SOUTH, WEST, EAST, NONE };
enum { SIDE_MAX = 4096, STEPS_MAX = 10000 };

static const unsigned breeds_at[KINDS] = {0, 3, 8},
                      starves_at = 4; /* steps of a life; steps without a meal */

struct cell {
    uint8_t kind, age, hunger;
    uint8_t aim;    /* the direction in which it wants to go */
    uint8_t chosen; /* the direction from which somebody may come */
};

/* A row has its cells, and the counts of fish and sharks in it after each step so far. */
struct ocean {
    uint32_t width, height, steps;
    const char *path;
    uint32_t nanoseconds;
    uint32_t *animals; /* [height] of each row when it was last computed here */
    uint64_t *total;   /* [2 steps] fish and sharks, while results are collected */
    FILE *picture;
};

static size_t
row_bytes(const struct ocean *o)
{
    return 2 * o->steps * sizeof(uint32_t) + o->width * sizeof(struct cell);
}

static struct cell *
cells_of(const struct ocean *o, const void *row)
{
    return (struct cell *)((uint32_t *)(uintptr_t)row + 2 * o->steps);
}

/* A random number for a cell, the same wherever it is asked for (Steele, Lea, Flood 2014: splitmix64). */
static uint64_t
chance(uint64_t step, uint32_t row, uint32_t column)
{
    uint64_t z = (step * SIDE_MAX + row) * SIDE_MAX + column + 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A shoal in a quarter of the ocean, some fish elsewhere, and sharks everywhere. */
static void
begin(void *context, uint32_t row, void *state)
{
    const struct ocean *o = context;
    struct cell *cells = cells_of(o, state);
    for (uint32_t j = 0; j < o->width; j++) {
        uint64_t r = chance(UINT32_MAX, row, j), percent = r % 100;
        uint64_t fish = row < o->height / 4 ? 60 : 5, sharks = 2;
        cells[j].kind = percent < sharks ? SHARK : percent < sharks + fish ? FISH : WATER;
        cells[j].age = cells[j].kind != WATER ? (uint8_t)((r >> 32) % breeds_at[cells[j].kind]) : 0;
        cells[j].aim = cells[j].chosen = NONE;
    }
}

/* Three rows, and the cells around a place. */
struct view {
    const struct ocean *o;
    const struct cell *row[3]; /* to the north, own, to the south */
};

static const struct cell *
beyond(const struct view *v, uint32_t j, int direction)
{
    uint32_t w = v->o->width;
    return direction == NORTH   ? &v->row[0][j]
           : direction == SOUTH ? &v->row[2][j]
           : direction == WEST  ? &v->row[1][(j + w - 1) % w]
                                : &v->row[1][(j + 1) % w];
}

static int
opposite(int direction)
{
    return direction ^ 1;
}

/* One of the directions whose bit is set. */
static uint8_t
one_of(unsigned directions, uint64_t random)
{
    unsigned n = 0;
    for (int d = 0; d < NONE; d++)
        n += directions >> d & 1;
    for (uint8_t d = 0; d < NONE && n > 0; d++)
        if ((directions >> d & 1) != 0 && random-- % n == 0)
            return d;
    return NONE;
}

static uint8_t
choose(const struct view *v, uint32_t j, uint8_t mover, uint64_t random)
{
    unsigned water = 0, fish = 0;
    if (v->row[1][j].kind != mover)
        return NONE;
    for (int d = 0; d < NONE; d++) {
        water |= (unsigned)(beyond(v, j, d)->kind == WATER) << d;
        fish |= (unsigned)(beyond(v, j, d)->kind == FISH) << d;
    }
    return one_of(mover == SHARK && fish != 0 ? fish : water, random);
}

static uint8_t
accept(const struct view *v, uint32_t j, uint64_t random)
{
    unsigned wanted = 0;
    for (int d = 0; d < NONE; d++)
        wanted |= (unsigned)(beyond(v, j, d)->aim == opposite(d)) << d;
    return one_of(wanted, random);
}

/* What is in the cell once everybody has moved. */
static struct cell
moved(const struct view *v, uint32_t j, uint8_t mover)
{
    const struct cell old = v->row[1][j], nothing = {WATER, 0, 0, NONE, NONE};
    struct cell now = old;
    int comes = old.chosen != NONE;
    int goes = old.kind == mover && old.aim != NONE && beyond(v, j, old.aim)->chosen == opposite(old.aim);
    if (comes)
        now = *beyond(v, j, old.chosen);
    if (goes && !comes) /* it leaves a young one, or nothing */
        now = now.age + 1u >= breeds_at[mover] ? (struct cell){mover, 0, 0, NONE, NONE} : nothing;
    else if (now.kind == mover) {
        now.age = (uint8_t)(now.age + 1u < breeds_at[mover] ? now.age + 1u : comes ? 0u : breeds_at[mover]);
        now.hunger = (uint8_t)(comes && old.kind == FISH ? 0 : now.hunger + 1);
        if (mover == SHARK && now.hunger >= starves_at)
            now = nothing;
    }
    now.aim = now.chosen = NONE;
    return now;
}

/* Count what is in the row after a step. */
static void
count(const struct ocean *o, uint64_t step, void *row)
{
    uint32_t *counts = (uint32_t *)row + 2 * step, fish = 0, sharks = 0;
    for (uint32_t j = 0; j < o->width; j++) {
        fish += cells_of(o, row)[j].kind == FISH;
        sharks += cells_of(o, row)[j].kind == SHARK;
    }
    counts[0] = fish;
    counts[1] = sharks;
}

static void
compute(void *context, const struct lbmap_step *s, void *after)
{
    struct ocean *o = context;
    uint8_t mover = s->step % STEP_PARTS < PARTS ? FISH : SHARK;
    struct view v = {o, {NULL, cells_of(o, s->state), NULL}};
    struct cell *cells = cells_of(o, after);
    uint32_t animals = 0;
    for (size_t i = 0; i < s->degree; i++)
        v.row[s->neighbour[i].vertex == (s->vertex + 1) % o->height ? 2 : 0] =
            cells_of(o, s->neighbour[i].state);
    memcpy(after, s->state, row_bytes(o));
    for (uint32_t j = 0; j < o->width; j++) {
        uint64_t random = chance(s->step, s->vertex, j) >> 8;
        if (s->step % PARTS == CHOOSE)
            cells[j].aim = choose(&v, j, mover, random);
        else if (s->step % PARTS == ACCEPT)
            cells[j].chosen = accept(&v, j, random);
        else
            cells[j] = moved(&v, j, mover);
        animals += cells[j].kind != WATER;
    }
    o->animals[s->vertex] = animals;
    if (s->step % STEP_PARTS == STEP_PARTS - 1)
        count(o, s->step / STEP_PARTS, after);
    if (o->nanoseconds != 0) {
        const uint64_t pause = (uint64_t)animals * o->nanoseconds;
        nanosleep(&(struct timespec){(time_t)(pause / 1000000000), (long)(pause % 1000000000)}, NULL);
    }
}

static double
cost(void *context, uint32_t row)
{
    return 1.0 + ((struct ocean *)context)->animals[row];
}

/* ---- results
 * ------------------------------------------------------------------------------------------------ */

static void
fail(const char *path)
{
    perror(path);
    exit(1);
}

static void
write_counts(const struct ocean *o)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.counts", o->path);
    FILE *file = fopen(path, "w");
    for (uint32_t s = 0; file != NULL && s < o->steps; s++)
        fprintf(file, "%u %llu %llu\n", (unsigned)s + 1, (unsigned long long)o->total[2 * s],
                (unsigned long long)o->total[2 * s + 1]);
    if (file == NULL || fclose(file) != 0)
        fail(path);
}

/* A row of the picture: water is blue, fish are green, sharks red. */
static void
write_row(void *context, uint32_t row, const void *state, size_t size)
{
    static const unsigned char colours[KINDS][3] = {{20, 40, 90}, {90, 200, 120}, {230, 80, 60}};
    struct ocean *o = context;
    (void)size;
    if (row == 0) {
        memset(o->total, 0, 2 * o->steps * sizeof *o->total);
        o->picture = fopen(o->path, "w");
        if (o->picture == NULL || fprintf(o->picture, "P6\n%u %u\n255\n", o->width, o->height) < 0)
            fail(o->path);
    }
    for (uint32_t j = 0; j < o->width; j++)
        if (fwrite(colours[cells_of(o, state)[j].kind], 3, 1, o->picture) != 1)
            fail(o->path);
    for (uint32_t i = 0; i < 2 * o->steps; i++)
        o->total[i] += ((const uint32_t *)state)[i];
    if (row + 1 < o->height)
        return;
    if (fclose(o->picture) != 0)
        fail(o->path);
    write_counts(o);
}

/* ---- the three ways to run
 * ---------------------------------------------------------------------------------- */

/* The steps of lbmap_steps over all rows, in one loop. */
static void
run_alone(struct ocean *o)
{
    size_t bytes = row_bytes(o);
    char *now = calloc(o->height, bytes), *next = calloc(o->height, bytes);
    if (now == NULL || next == NULL)
        fail("memory");
    for (uint32_t r = 0; r < o->height; r++)
        begin(o, r, now + r * bytes);
    for (uint64_t s = 0; s < (uint64_t)o->steps * STEP_PARTS; s++) {
        for (uint32_t r = 0; r < o->height; r++) {
            uint32_t north = (r + o->height - 1) % o->height, south = (r + 1) % o->height;
            const struct lbmap_neighbour around[2] = {{north, 1, now + north * bytes, bytes},
                                                      {south, 1, now + south * bytes, bytes}};
            compute(o,
                    &(struct lbmap_step){.vertex = r,
                                         .step = s,
                                         .state = now + r * bytes,
                                         .size = bytes,
                                         .neighbour = around,
                                         .degree = 2},
                    next + r * bytes);
        }
        char *swap = now;
        now = next;
        next = swap;
    }
    for (uint32_t r = 0; r < o->height; r++)
        write_row(o, r, now + r * bytes, bytes);
    free(now);
    free(next);
}

static int
run_job(struct ocean *o, const char *job, const char *socket)
{
    char message[256];
    const struct lbmap_steps program = {.size = sizeof program,
                                        .job = job,
                                        .socket_path = socket,
                                        .steps = (uint64_t)o->steps * STEP_PARTS,
                                        .state_size = row_bytes(o),
                                        .context = o,
                                        .init = begin,
                                        .step = compute,
                                        .load = cost,
                                        .result = write_row};
    if (lbmap_steps(&program, message, sizeof message) == LBMAP_OK)
        return 0;
    fprintf(stderr, "wator: %s\n", message);
    return 1;
}

/* A ring of rows, as METIS has it. */
static void
print_graph(uint32_t height)
{
    printf("%u %u\n", height, height);
    for (uint32_t r = 0; r < height; r++)
        printf("%u %u\n", (r + height - 1) % height + 1, (r + 1) % height + 1);
}

static int
usage(void)
{
    fprintf(stderr, "usage: wator graph HEIGHT\n"
                    "       wator alone WIDTH HEIGHT STEPS FILE\n"
                    "       wator run JOB WIDTH HEIGHT STEPS FILE [SOCKET [NS]]\n"
                    "WIDTH and HEIGHT are 3 to 4096, STEPS 1 to 10000\n");
    return 2;
}

int
main(int argc, char **argv)
{
    int alone = argc == 6 && strcmp(argv[1], "alone") == 0;
    if (argc == 3 && strcmp(argv[1], "graph") == 0 && atoi(argv[2]) >= 3 && atoi(argv[2]) <= SIDE_MAX) {
        print_graph((uint32_t)atoi(argv[2]));
        return 0;
    }
    if (!alone && (argc < 7 || argc > 9 || strcmp(argv[1], "run") != 0))
        return usage();
    char **a = argv + (alone ? 2 : 3);
    long width = atol(a[0]), height = atol(a[1]), steps = atol(a[2]);
    if (width < 3 || width > SIDE_MAX || height < 3 || height > SIDE_MAX || steps < 1 || steps > STEPS_MAX)
        return usage();
    struct ocean o = {(uint32_t)width, (uint32_t)height, (uint32_t)steps, a[3], 0, NULL, NULL, NULL};
    o.animals = calloc(o.height, sizeof *o.animals);
    o.total = calloc(2 * (size_t)o.steps, sizeof *o.total);
    o.nanoseconds = argc == 9 ? (uint32_t)strtoul(argv[8], NULL, 10) : 0;
    if (o.animals == NULL || o.total == NULL)
        fail("memory");
    int status = 0;
    if (alone)
        run_alone(&o);
    else
        status = run_job(&o, argv[2], argc > 7 ? argv[7] : NULL);
    free(o.animals);
    free(o.total);
    return status;
}
