/* SPDX-License-Identifier: GPL-3.0-or-later */
/* halo_mpi: heat on a torus of blocks, one a rank, by MPI; each cell has FIELDS temperatures. Ranks talk
 * through a distributed graph communicator; with a plan its ranks are placed by it, and nothing else changes.
 * Rank 0 checks the field against one loop, bit for bit, and prints the time of a step.
 *
 *     mpicc -O2 halo_mpi.c $(pkg-config --cflags lbmap) -o halo_mpi
 *     mpirun -n 16 ./halo_mpi 4 4 64 1 1000 --write talk.graph
 *     lbctl plan talk.graph --hosts SPEC --format seq -o plan
 *     mpirun -n 16 ./halo_mpi 4 4 64 1 1000 --plan plan
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lbmap_mpi.h>

static int rows, columns, side, fields; /* blocks, cells of a block's side, values of a cell */

enum { NORTH, SOUTH, WEST, EAST, SIDES };

static double
first_value(int row, int column, int field)
{
    return (row * 31 + column * 17 + field * 7) % 64 == 0 ? 1000.0 : 20.0;
}

static double
next_value(double own, double north, double south, double west, double east)
{
    return own + 0.05 * ((north - own) + (south - own) + (west - own) + (east - own));
}

static int
block_at(int row, int column)
{
    return (row + rows) % rows * columns + (column + columns) % columns;
}

/* The values of a cell, in a block and among the sides of one. */
static size_t
cell(int row, int column)
{
    return ((size_t)row * (size_t)side + (size_t)column) * (size_t)fields;
}

/* A step of a block. In: old [side, side, fields], halo [SIDES, side, fields].  Out: new. */
static void
step(const double *old, const double *halo, double *new)
{
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++) {
            const double *own = old + cell(i, j);
            const double *north = i > 0 ? old + cell(i - 1, j) : halo + cell(NORTH, j);
            const double *south = i < side - 1 ? old + cell(i + 1, j) : halo + cell(SOUTH, j);
            const double *west = j > 0 ? old + cell(i, j - 1) : halo + cell(WEST, i);
            const double *east = j < side - 1 ? old + cell(i, j + 1) : halo + cell(EAST, i);
            for (int f = 0; f < fields; f++)
                new[cell(i, j) + (size_t)f] = next_value(own[f], north[f], south[f], west[f], east[f]);
        }
}

/* The sides of a block, as its neighbours to the north, south, west and east want them. */
static void
pack(const double *block, double *sides)
{
    for (int k = 0; k < side; k++) {
        const size_t from[SIDES] = {cell(0, k), cell(side - 1, k), cell(k, 0), cell(k, side - 1)};
        for (int s = 0; s < SIDES; s++)
            memcpy(sides + cell(s, k), block + from[s], (size_t)fields * sizeof *sides);
    }
}

static void
swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

/* The steps of this rank's block. Sides go out to the north, south, west and east, and come in from the
 * south, north, east and west. Out: the block. */
static double *
run_block(MPI_Comm graph, int steps)
{
    const int n = side * fields;
    const int counts[SIDES] = {n, n, n, n}, first_out[SIDES] = {0, n, 2 * n, 3 * n};
    const int first_in[SIDES] = {SOUTH * n, NORTH * n, EAST * n, WEST * n};
    int rank;
    double *block = calloc(cell(side, 0), sizeof *block), *next = calloc(cell(side, 0), sizeof *next);
    double *sides = calloc(cell(SIDES, 0), sizeof *sides), *halo = calloc(cell(SIDES, 0), sizeof *halo);
    if (block == NULL || next == NULL || sides == NULL || halo == NULL)
        MPI_Abort(graph, 1);
    MPI_Comm_rank(graph, &rank);
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++)
            for (int f = 0; f < fields; f++)
                block[cell(i, j) + (size_t)f] =
                    first_value(rank / columns * side + i, rank % columns * side + j, f);
    for (int s = 0; s < steps; s++) {
        pack(block, sides);
        MPI_Neighbor_alltoallv(sides, counts, first_out, MPI_DOUBLE, halo, counts, first_in, MPI_DOUBLE,
                               graph);
        step(block, halo, next);
        swap(&block, &next);
    }
    free(next);
    free(sides);
    free(halo);
    return block;
}

/* The same in one loop, a field after the other. Returns the number of values in which all blocks differ. */
static int
count_wrong(const double *blocks, int steps)
{
    int height = rows * side, width = columns * side, wrong = 0;
    size_t n = (size_t)height * (size_t)width;
    double *now = calloc(n, sizeof *now), *next = calloc(n, sizeof *next);
    for (int f = 0; f < fields && now != NULL && next != NULL; f++) {
        for (int i = 0; i < height * width; i++)
            now[i] = first_value(i / width, i % width, f);
        for (int s = 0; s < steps; s++) {
            for (int i = 0; i < height; i++)
                for (int j = 0; j < width; j++)
                    next[i * width + j] = next_value(
                        now[i * width + j], now[(i + height - 1) % height * width + j],
                        now[(i + 1) % height * width + j], now[i * width + (j + width - 1) % width],
                        now[i * width + (j + 1) % width]);
            swap(&now, &next);
        }
        for (int i = 0; i < height; i++)
            for (int j = 0; j < width; j++) {
                const double *block = blocks + (size_t)block_at(i / side, j / side) * cell(side, 0);
                wrong += memcmp(&block[cell(i % side, j % side) + (size_t)f], &now[i * width + j],
                                sizeof *now) != 0;
            }
    }
    wrong += now == NULL || next == NULL;
    free(now);
    free(next);
    return wrong;
}

int
main(int argc, char **argv)
{
    int rank, size, code = 0;
    MPI_Comm graph;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int known = argc == 6 || argc == 8, steps = known ? atoi(argv[5]) : 0;
    rows = known ? atoi(argv[1]) : 0, columns = known ? atoi(argv[2]) : 0;
    side = known ? atoi(argv[3]) : 0, fields = known ? atoi(argv[4]) : 0;
    if (rows < 1 || columns < 1 || side < 1 || side > 4096 || fields < 1 || fields > 4096 || steps < 1 ||
        rows * columns != size) {
        if (rank == 0)
            fprintf(stderr, "usage: mpirun -n ROWS*COLUMNS halo_mpi ROWS COLUMNS SIDE FIELDS STEPS "
                            "[--write GRAPH | --plan PLAN]\n");
        MPI_Finalize();
        return 2;
    }
    int row = rank / columns, column = rank % columns, n = side * fields;
    int weights[SIDES] = {n, n, n, n};
    int to[SIDES] = {block_at(row - 1, column), block_at(row + 1, column), block_at(row, column - 1),
                     block_at(row, column + 1)};
    int from[SIDES] = {to[SOUTH], to[NORTH], to[EAST], to[WEST]};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, SIDES, from, weights, SIDES, to, weights, MPI_INFO_NULL, 0,
                                   &graph);
    if (argc == 8 && strcmp(argv[6], "--write") == 0)
        code = lbmap_comm_write(graph, argv[7]);
    if (argc == 8 && strcmp(argv[6], "--plan") == 0)
        code = lbmap_comm_reorder(graph, argv[7], &graph);
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(code, text, &length);
        if (rank == 0)
            fprintf(stderr, "halo_mpi: %s: %s\n", argv[7], text);
        MPI_Finalize();
        return 1;
    }

    MPI_Barrier(graph);
    double began = MPI_Wtime(), *block = run_block(graph, steps), *all = NULL;
    MPI_Barrier(graph);
    double took = MPI_Wtime() - began;
    MPI_Comm_rank(graph, &rank);
    n = side * side * fields;
    if (rank == 0)
        all = calloc((size_t)size * (size_t)n, sizeof *all);
    MPI_Gather(block, n, MPI_DOUBLE, all, n, MPI_DOUBLE, 0, graph);
    int wrong = rank == 0 && all != NULL ? count_wrong(all, steps) : rank == 0;
    MPI_Bcast(&wrong, 1, MPI_INT, 0, graph);
    if (rank == 0)
        printf("%d values, %d steps of %.1f us, %d values differ from one loop\n", size * n, steps,
               1e6 * took / steps, wrong);
    free(block);
    free(all);
    MPI_Finalize();
    return wrong != 0;
}
