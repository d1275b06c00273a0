/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jacobi's iteration on a square of BLOCKS x BLOCKS blocks of 32 x 32 cells, with lbmap_steps, a vertex for
 * each block, or, compiled with HALO_MPI, by hand: bands of rows, and the rows next to them from the other
 * ranks. Writes the seconds from the first step on, and the sum of all cells.
 *
 *     halo graph BLOCKS
 *     halo run JOB BLOCKS STEPS KEEP FILE SOCKET
 *     mpirun halo_mpi BLOCKS STEPS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 32, CELLS = SIDE * SIDE };

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Outside of the square it is 0. */
static double
cell_at_first(size_t row, size_t column)
{
    return (double)((row * 2654435761u + column * 40503u) % 1000);
}

#ifdef HALO_MPI
#include <mpi.h>

static void
exchange(double *cell, size_t rows, size_t width, int rank, int ranks)
{
    int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    MPI_Request request[4];
    MPI_Irecv(cell, (int)width, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(cell + (rows + 1) * width, (int)width, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &request[1]);
    MPI_Isend(cell + width, (int)width, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &request[2]);
    MPI_Isend(cell + rows * width, (int)width, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &request[3]);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
}

int
main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3)
        return 2;
    size_t n = strtoul(argv[1], NULL, 10) * SIDE, width = n + 2, steps = strtoul(argv[2], NULL, 10);
    size_t first = n * (size_t)rank / (size_t)ranks, rows = n * ((size_t)rank + 1) / (size_t)ranks - first;
    double *cell = calloc((rows + 2) * width, sizeof *cell), *next = calloc((rows + 2) * width, sizeof *next);
    if (cell == NULL || next == NULL)
        return 1;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < n; j++)
            cell[(i + 1) * width + j + 1] = cell_at_first(first + i, j);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = now(), sum = 0, all;
    for (size_t s = 0; s < steps; s++) {
        exchange(cell, rows, width, rank, ranks);
        for (size_t i = 1; i <= rows; i++)
            for (size_t j = 1; j <= n; j++)
                next[i * width + j] = 0.25 * (cell[(i - 1) * width + j] + cell[(i + 1) * width + j] +
                                              cell[i * width + j - 1] + cell[i * width + j + 1]);
        double *swap = cell;
        cell = next;
        next = swap;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double took = now() - began;
    for (size_t i = 1; i <= rows; i++)
        for (size_t j = 1; j <= n; j++)
            sum += cell[i * width + j];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.6f %.9e\n", took, all);
    MPI_Finalize();
    return 0;
}

#else
#include <lbmap_steps.h>

struct square {
    size_t blocks;
    double began, ended, sum;
};

enum side { NORTH, SOUTH, WEST, EAST };

/* On which side of a block another one is. */
static enum side
side_of(const struct square *square, uint32_t vertex, uint32_t other)
{
    return other + square->blocks == vertex   ? NORTH
           : vertex + square->blocks == other ? SOUTH
           : other < vertex                   ? WEST
                                              : EAST;
}

static void
begin(void *context, uint32_t vertex, void *state)
{
    const struct square *square = context;
    double *cell = state;
    for (size_t k = 0; k < CELLS; k++)
        cell[k] = cell_at_first(vertex / square->blocks * SIDE + k / SIDE,
                                vertex % square->blocks * SIDE + k % SIDE);
}

static size_t
show(void *context, uint32_t vertex, uint32_t neighbour, const void *state, size_t size, void *shared)
{
    const double *cell = state;
    double *out = shared;
    (void)size;
    switch (side_of(context, vertex, neighbour)) {
    case NORTH:
        memcpy(out, cell, SIDE * sizeof *out);
        break;
    case SOUTH:
        memcpy(out, cell + CELLS - SIDE, SIDE * sizeof *out);
        break;
    case WEST:
        for (size_t i = 0; i < SIDE; i++)
            out[i] = cell[i * SIDE];
        break;
    case EAST:
        for (size_t i = 0; i < SIDE; i++)
            out[i] = cell[i * SIDE + SIDE - 1];
        break;
    }
    return SIDE * sizeof *out;
}

static void
step(void *context, const struct lbmap_step *s, void *after)
{
    struct square *square = context;
    enum { WIDE = SIDE + 2 };
    double room[WIDE * WIDE] = {0}, *next = after;
    const double *cell = s->state;
    if (square->began == 0)
        square->began = now();
    for (size_t i = 0; i < SIDE; i++)
        memcpy(room + (i + 1) * WIDE + 1, cell + i * SIDE, SIDE * sizeof *cell);
    for (size_t k = 0; k < s->degree; k++) {
        const double *seen = s->neighbour[k].state;
        enum side side = side_of(square, s->vertex, s->neighbour[k].vertex);
        for (size_t i = 0; i < SIDE; i++)
            room[side == NORTH   ? i + 1
                 : side == SOUTH ? (SIDE + 1) * WIDE + i + 1
                 : side == WEST  ? (i + 1) * WIDE
                                 : (i + 2) * WIDE - 1] = seen[i];
    }
    for (size_t i = 1; i <= SIDE; i++)
        for (size_t j = 1; j <= SIDE; j++)
            next[(i - 1) * SIDE + j - 1] = 0.25 * (room[(i - 1) * WIDE + j] + room[(i + 1) * WIDE + j] +
                                                   room[i * WIDE + j - 1] + room[i * WIDE + j + 1]);
}

static void
add(void *context, uint32_t vertex, const void *state, size_t size)
{
    struct square *square = context;
    const double *cell = state;
    if (vertex == 0)
        square->ended = now(), square->sum = 0;
    for (size_t k = 0; k < size / sizeof *cell; k++)
        square->sum += cell[k];
}

static void
print_graph(size_t blocks)
{
    printf("%zu %zu\n", blocks * blocks, 2 * blocks * (blocks - 1));
    for (size_t v = 0; v < blocks * blocks; v++) {
        if (v >= blocks)
            printf("%zu ", v - blocks + 1);
        if (v % blocks != 0)
            printf("%zu ", v);
        if (v % blocks != blocks - 1)
            printf("%zu ", v + 2);
        if (v + blocks < blocks * blocks)
            printf("%zu ", v + blocks + 1);
        printf("\n");
    }
}

int
main(int argc, char **argv)
{
    char message[256];
    if (argc == 3 && strcmp(argv[1], "graph") == 0) {
        print_graph(strtoul(argv[2], NULL, 10));
        return 0;
    }
    if (argc != 8)
        return 2;
    struct square square = {.blocks = strtoul(argv[3], NULL, 10)};
    const struct lbmap_steps program = {.size = sizeof program,
                                        .job = argv[2],
                                        .socket_path = argv[7],
                                        .steps = strtoul(argv[4], NULL, 10),
                                        .keep = (uint32_t)strtoul(argv[5], NULL, 10),
                                        .state_size = CELLS * sizeof(double),
                                        .context = &square,
                                        .init = begin,
                                        .step = step,
                                        .result = add,
                                        .share_size = SIDE * sizeof(double),
                                        .share_with = show};
    enum lbmap_error error = lbmap_steps(&program, message, sizeof message);
    FILE *file = fopen(argv[6], "w");
    if (error != LBMAP_OK)
        fprintf(stderr, "halo: %s\n", message);
    if (file == NULL || fprintf(file, "%.6f %.9e\n", square.ended - square.began, square.sum) < 0 ||
        fclose(file) != 0)
        return 1;
    return error != LBMAP_OK;
}
#endif
