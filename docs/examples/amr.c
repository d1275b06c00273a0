/* SPDX-License-Identifier: GPL-3.0-or-later */
/* amr: a front spreads in a circle over a square mesh, which is fine where the front is and coarse elsewhere.
 * Vertices are cells: one that the front crosses splits into four (lbmap_change), and four that it has left
 * become one again: three send what they have to the first (lbmap_send), and go. A cell's value is the sum of
 * the times at which the front came to its points. At the end all cells send theirs to vertex 0, whose
 * program writes a picture, and FILE.cells: level, row, column, value a line. It is that of one loop,
 * whatever moves or fails meanwhile.
 *
 *     cc -O2 amr.c $(pkg-config --cflags --libs lbmap) -o amr
 *     ./amr graph 8 >mesh.graph                    # 8 x 8 coarse cells; submit it as job "mesh"
 *     ./amr run mesh 8 90 mesh.ppm [SOCKET]        # 90 steps
 *     ./amr alone 8 90 mesh.ppm                    # the same in one loop */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lbmap.h>

enum { LEVELS = 3, FINE = 1 << LEVELS, SIDE_MAX = 16, LEAVES_MAX = 1500, PIXELS = 4 };
enum { LEAF = 100 }; /* tag of a message; up to LEVELS: a cell of that level goes */

/* A cell covers (FINE >> level) x (FINE >> level) points of the finest mesh. */
struct square {
    uint32_t level, row, column;
};

struct leaf {
    struct square at;
    uint64_t value;
};

struct cell {
    struct square at;
    uint32_t t; /* steps so far */
    uint64_t value;
    uint32_t first[LEVELS + 1]; /* of each level: the vertex that stays when four become one */
    uint32_t n[LEVELS + 1];     /* others that have gone so far, */
    uint64_t sum[LEVELS + 1];   /* and what they had */
    int has_sent;               /* it goes, or all is done */
};

/* ---- the front ----------------------------------------------------------------------------------------- */

static uint32_t side; /* coarse cells of a side */

static int64_t
square_of(int64_t x)
{
    return x * x;
}

/* Squared distance of a point from the middle, in half points; after t steps the front is t of these away. */
static int64_t
distance(uint32_t y, uint32_t x)
{
    int64_t middle = side * FINE;
    return square_of(2 * (int64_t)y + 1 - middle) + square_of(2 * (int64_t)x + 1 - middle);
}

/* Is some point of the cell behind the front, and another one before it? */
static int
is_crossed(struct square at, uint32_t t)
{
    uint32_t points = FINE >> at.level, behind = 0;
    for (uint32_t k = 0; k < points * points; k++)
        behind += distance(at.row * points + k / points, at.column * points + k % points) < square_of(t);
    return behind != 0 && behind != points * points;
}

static struct square
parent(struct square at)
{
    return (struct square){at.level - 1, at.row / 2, at.column / 2};
}

static uint64_t
reached(struct square at, uint32_t t)
{
    uint32_t points = FINE >> at.level;
    uint64_t n = 0;
    for (uint32_t k = 0; k < points * points; k++) {
        int64_t d = distance(at.row * points + k / points, at.column * points + k % points);
        n += d >= square_of(t - 1) && d < square_of(t);
    }
    return n * t;
}

/* What a cell has to do next. */
enum deed { STEP, SPLIT, MERGE };

static enum deed
deed(const struct cell *cell)
{
    if (cell->at.level > 0 && !is_crossed(parent(cell->at), cell->t))
        return MERGE;
    return cell->at.level < LEVELS && is_crossed(cell->at, cell->t) ? SPLIT : STEP;
}

static void
do_step(struct cell *cell)
{
    cell->t++;
    cell->value += reached(cell->at, cell->t);
}

/* A quarter of a cell; the first one has the rest of the value. */
static struct cell
quarter(const struct cell *of, uint32_t k, uint32_t first)
{
    struct cell cell = *of;
    cell.at = (struct square){of->at.level + 1, 2 * of->at.row + k / 2, 2 * of->at.column + k % 2};
    cell.value = k != 0 ? of->value / 4 : of->value - 3 * (of->value / 4);
    cell.first[cell.at.level] = first;
    if (k != 0)
        memset(cell.n, 0, sizeof cell.n), memset(cell.sum, 0, sizeof cell.sum);
    return cell;
}

/* ---- results ------------------------------------------------------------------------------------------- */

static int
by_place(const void *a, const void *b)
{
    const struct square *x = &((const struct leaf *)a)->at, *y = &((const struct leaf *)b)->at;
    uint32_t p = x->row << (LEVELS - x->level), q = y->row << (LEVELS - y->level);
    uint32_t r = x->column << (LEVELS - x->level), s = y->column << (LEVELS - y->level);
    return p != q ? (p > q) - (p < q) : (r > s) - (r < s);
}

/* Lighter where the front came later; lines between cells. */
static void
draw(unsigned char *image, const struct leaf *leaf, uint32_t steps)
{
    uint32_t points = FINE >> leaf->at.level, size = points * PIXELS, width = side * FINE * PIXELS;
    uint64_t tone = 40 + 215 * leaf->value / ((uint64_t)points * points * (steps + 1));
    tone = tone < 255 ? tone : 255;
    for (uint32_t k = 0; k < size * size; k++) {
        unsigned char *pixel = image + 3 * ((size_t)(leaf->at.row * size + k / size) * width +
                                            leaf->at.column * size + k % size);
        int is_line = k / size == 0 || k % size == 0;
        pixel[0] = (unsigned char)(is_line ? 20 : tone);
        pixel[1] = (unsigned char)(is_line ? 20 : tone / 2);
        pixel[2] = (unsigned char)(is_line ? 30 : 60);
    }
}

static void
write_all(struct leaf *leaf, size_t n, uint32_t steps, const char *path)
{
    uint32_t width = side * FINE * PIXELS;
    char cells[4096];
    unsigned char *image = calloc((size_t)width * width, 3);
    snprintf(cells, sizeof cells, "%s.cells", path);
    qsort(leaf, n, sizeof *leaf, by_place);
    FILE *list = fopen(cells, "w"), *picture = fopen(path, "w");
    if (image == NULL || list == NULL || picture == NULL) {
        perror(path);
        exit(1);
    }
    for (size_t i = 0; i < n; i++) {
        fprintf(list, "%u %u %u %llu\n", leaf[i].at.level, leaf[i].at.row, leaf[i].at.column,
                (unsigned long long)leaf[i].value);
        draw(image, &leaf[i], steps);
    }
    fprintf(picture, "P6\n%u %u\n255\n", width, width);
    fwrite(image, 3, (size_t)width * width, picture);
    if (fclose(list) != 0 || fclose(picture) != 0) {
        perror(path);
        exit(1);
    }
    free(image);
}

/* ---- one loop ------------------------------------------------------------------------------------------ */

/* The leaves of a cell that is coarse before its first step. Four that become one: the first waits for the
 * others, and all have done as many steps. Returns how many. */
static size_t
run_one(struct cell *cells, uint32_t steps)
{
    size_t n = 1;
    for (uint32_t t = 0;; t++) {
        for (size_t i = n; i-- > 0;) /* those that were split last are merged first */
            while (deed(&cells[i]) == MERGE && i + 3 < n &&
                   cells[i].at.row % 2 + cells[i].at.column % 2 == 0 &&
                   cells[i + 3].at.level == cells[i].at.level) {
                for (size_t k = 1; k <= 3; k++)
                    cells[i].value += cells[i + k].value;
                cells[i].at = parent(cells[i].at);
                memmove(&cells[i + 1], &cells[i + 4], (n - i - 4) * sizeof *cells);
                n -= 3;
            }
        for (size_t i = 0; i < n; i++)
            while (deed(&cells[i]) == SPLIT) {
                struct cell whole = cells[i];
                memmove(&cells[i + 4], &cells[i + 1], (n - i - 1) * sizeof *cells);
                for (uint32_t k = 0; k < 4; k++)
                    cells[i + k] = quarter(&whole, k, 0);
                n += 3;
            }
        if (t == steps)
            return n;
        for (size_t i = 0; i < n; i++)
            do_step(&cells[i]);
    }
}

static void
run_alone(uint32_t steps, const char *path)
{
    static struct leaf leaf[SIDE_MAX * SIDE_MAX * FINE * FINE];
    size_t n_leaves = 0;
    for (uint32_t v = 0; v < side * side; v++) {
        struct cell cells[FINE * FINE] = {{.at = {0, v / side, v % side}}};
        size_t n = run_one(cells, steps);
        for (size_t i = 0; i < n; i++)
            leaf[n_leaves++] = (struct leaf){cells[i].at, cells[i].value};
    }
    write_all(leaf, n_leaves, steps, path);
}

/* ---- on all hosts -------------------------------------------------------------------------------------- */

/* What is kept of a vertex; of vertex 0 with the leaves that it has got. */
struct payload {
    struct cell cell;
    uint32_t n_leaves, points; /* that they cover */
    struct leaf leaf[LEAVES_MAX];
};

struct held {
    uint32_t vertex;
    uint64_t token;
    struct payload *is;
};

struct program {
    struct lbmap *map;
    uint32_t steps;
    const char *path;
    struct held *held;
    size_t n_held, room;
    struct payload *released[256]; /* in this dispatch, */
    size_t n_released;
    uint32_t ids[64]; /* for new vertices */
    size_t n_ids;
    int finished;
};

static size_t
bytes_of(const struct payload *is)
{
    return offsetof(struct payload, leaf) + is->n_leaves * sizeof(struct leaf);
}

static struct held *
find(struct program *p, uint32_t vertex)
{
    for (size_t i = 0; i < p->n_held; i++)
        if (p->held[i].vertex == vertex)
            return &p->held[i];
    return NULL;
}

static void
acquire(void *context, uint32_t vertex, uint64_t token, const struct lbmap_payload *payload)
{
    struct program *p = context;
    struct payload *is = calloc(1, sizeof *is);
    if (p->n_held == p->room)
        p->held = realloc(p->held, (p->room = 2 * p->room + 16) * sizeof *p->held);
    if (is == NULL || p->held == NULL || payload->len > sizeof *is)
        abort();
    is->cell.at = (struct square){0, vertex / side, vertex % side};
    if (payload->len != 0)
        memcpy(is, payload->bytes, payload->len);
    p->held[p->n_held++] = (struct held){vertex, token, is};
}

static struct payload *
drop(struct program *p, uint32_t vertex)
{
    struct held *held = find(p, vertex);
    struct payload *is = held->is;
    *held = p->held[--p->n_held];
    return is;
}

static void
free_released(struct program *p)
{
    while (p->n_released > 0)
        free(p->released[--p->n_released]);
}

static void
release(void *context, uint32_t vertex, uint64_t token, struct lbmap_payload *payload)
{
    struct program *p = context;
    struct payload *is = drop(p, vertex);
    (void)token;
    if (p->n_released == sizeof p->released / sizeof *p->released) {
        free(is); /* it goes on from its checkpoint */
        return;
    }
    *payload = (struct lbmap_payload){is, bytes_of(is)};
    p->released[p->n_released++] = is;
}

static void
revoked(void *context, uint32_t vertex, uint64_t token)
{
    (void)token;
    free(drop(context, vertex));
}

static void
deliver(void *context, uint32_t to, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    struct program *p = context;
    struct payload *is = find(p, to)->is;
    const struct leaf *leaf = bytes;
    (void)from, (void)n;
    if (tag == LEAF && is->n_leaves < LEAVES_MAX) {
        is->leaf[is->n_leaves++] = *leaf;
        is->points += (FINE >> leaf->at.level) * (FINE >> leaf->at.level);
    } else if (tag <= LEVELS) {
        is->cell.n[tag]++;
        is->cell.sum[tag] += leaf->value;
    }
}

static void
peer_up(void *context, const struct lbmap_peer *peer)
{
    ((struct program *)context)->finished |= peer->finished;
}

/* The cell becomes its first quarter, next to three new vertices. What cannot be done now is tried again. */
static void
split(struct program *p, struct held *held)
{
    struct lbmap_vertex_change change[4] = {{.vertex = held->vertex, .token = held->token}};
    struct lbmap_edge_change edge[3];
    struct payload part[4];
    if (p->n_ids < 3 && lbmap_new_vertices(p->map, p->ids, 64) == LBMAP_OK)
        p->n_ids = 64;
    if (p->n_ids < 3)
        return;
    for (uint32_t k = 0; k < 4; k++) {
        part[k] = k == 0 ? *held->is : (struct payload){.n_leaves = 0};
        part[k].cell = quarter(&held->is->cell, k, held->vertex);
        if (k != 0) {
            change[k] =
                (struct lbmap_vertex_change){.vertex = p->ids[p->n_ids - k], .near = held->vertex, .work = 1};
            edge[k - 1] = (struct lbmap_edge_change){held->vertex, change[k].vertex, 1};
        }
        change[k].payload = (struct lbmap_payload){&part[k], bytes_of(&part[k])};
    }
    if (lbmap_change(p->map, change, 4, edge, 3) != LBMAP_OK)
        return;
    *held->is = part[0];
    p->n_ids -= 3;
}

/* Four cells become one: the first has got what the others had, or this one sends it. */
static void
merge(struct program *p, struct held *held)
{
    struct cell *cell = &held->is->cell;
    uint32_t level = cell->at.level;
    const struct leaf leaf = {cell->at, cell->value};
    if (cell->first[level] != held->vertex) {
        cell->has_sent =
            lbmap_send(p->map, held->vertex, cell->first[level], level, &leaf, sizeof leaf) == LBMAP_OK;
    } else if (cell->n[level] == 3) {
        cell->value += cell->sum[level];
        cell->n[level] = 0;
        cell->sum[level] = 0;
        cell->at = parent(cell->at);
    }
}

static void
work_on(struct program *p, struct held *held)
{
    struct cell *cell = &held->is->cell;
    enum deed what = deed(cell);
    const struct leaf leaf = {cell->at, cell->value};
    if (cell->has_sent && cell->at.level > 0 && what == MERGE) {
        const struct lbmap_vertex_change gone = {.vertex = held->vertex, .token = held->token, .removed = 1};
        if (lbmap_change(p->map, &gone, 1, NULL, 0) == LBMAP_OK) /* once what it sent has arrived */
            free(drop(p, held->vertex));
    } else if (cell->has_sent) {
        return;
    } else if (what == SPLIT) {
        split(p, held);
    } else if (what == MERGE) {
        merge(p, held);
    } else if (cell->t < p->steps) {
        do_step(cell);
    } else {
        cell->has_sent = lbmap_send(p->map, held->vertex, 0, LEAF, &leaf, sizeof leaf) == LBMAP_OK;
    }
}

static void
keep(struct program *p)
{
    struct lbmap_state *states = calloc(p->n_held + 1, sizeof *states);
    for (size_t i = 0; states != NULL && i < p->n_held; i++)
        states[i] = (struct lbmap_state){
            p->held[i].vertex, p->held[i].token, {p->held[i].is, bytes_of(p->held[i].is)}};
    if (states != NULL)
        (void)lbmap_checkpoint(p->map, states, p->n_held); /* or the next time */
    free(states);
}

/* All leaves are at vertex 0: write them, and say so. */
static void
look_if_complete(struct program *p)
{
    struct held *first = find(p, 0);
    if (first == NULL || first->is->points != side * side * FINE * FINE)
        return;
    write_all(first->is->leaf, first->is->n_leaves, p->steps, p->path);
    p->finished = lbmap_finish(p->map) == LBMAP_OK;
}

static enum lbmap_error
run_job(struct program *p, const char *job, const char *socket)
{
    const struct lbmap_callbacks callbacks = {.size = sizeof callbacks,
                                              .context = p,
                                              .acquire = acquire,
                                              .release = release,
                                              .revoked = revoked,
                                              .peer_up = peer_up,
                                              .deliver = deliver};
    time_t kept = 0;
    enum lbmap_error error = lbmap_open(socket, &p->map);
    if (error == LBMAP_OK && (error = lbmap_attach(p->map, job)) == LBMAP_OK)
        while ((error = lbmap_serve(p->map, &callbacks)) == LBMAP_E_BUSY)
            continue; /* a program that was killed may be served for a moment yet */
    while (error == LBMAP_OK && !p->finished) {
        error = lbmap_dispatch(p->map, 5);
        free_released(p);
        for (size_t i = p->n_held; i-- > 0 && lbmap_lease_valid(p->map) == LBMAP_WORK;)
            work_on(p, &p->held[i]);
        if (time(NULL) != kept) {
            keep(p);
            kept = time(NULL);
        }
        look_if_complete(p);
    }
    if (error != LBMAP_OK)
        fprintf(stderr, "amr: %s\n", p->map != NULL ? lbmap_message(p->map) : lbmap_strerror(error));
    lbmap_close(p->map);
    return error;
}

static void
write_graph(void)
{
    printf("%u %u\n", side * side, 2 * side * (side - 1));
    for (uint32_t v = 0; v < side * side; v++) {
        if (v >= side)
            printf("%u ", v - side + 1);
        if (v % side != 0)
            printf("%u ", v);
        if (v % side + 1 != side)
            printf("%u ", v + 2);
        printf(v + side < side * side ? "%u\n" : "\n", v + side + 1);
    }
}

int
main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[1] : "";
    int is_run = strcmp(mode, "run") == 0 && (argc == 6 || argc == 7);
    side = argc > 2 ? (uint32_t)strtoul(argv[is_run ? 3 : 2], NULL, 10) : 0;
    if (side < 2 || side > SIDE_MAX)
        mode = "";
    if (is_run && mode[0] != '\0') {
        struct program program = {.steps = (uint32_t)strtoul(argv[4], NULL, 10), .path = argv[5]};
        return run_job(&program, argv[2], argc == 7 ? argv[6] : getenv("LBMAP_SOCKET")) != LBMAP_OK;
    }
    if (strcmp(mode, "graph") == 0 && argc == 3)
        write_graph();
    else if (strcmp(mode, "alone") == 0 && argc == 5)
        run_alone((uint32_t)strtoul(argv[3], NULL, 10), argv[4]);
    else {
        fprintf(stderr,
                "usage: amr graph SIDE | run JOB SIDE STEPS FILE [SOCKET] | alone SIDE STEPS FILE; SIDE: 2 "
                "to %d\n",
                SIDE_MAX);
        return 2;
    }
    return 0;
}
