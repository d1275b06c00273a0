/* SPDX-License-Identifier: GPL-3.0-or-later */
/* halo_mpi: heat on a torus of blocks, one a rank, by MPI. Ranks talk through a distributed graph
 * communicator; with a plan its ranks are placed by it, and nothing else changes. Rank 0 checks the field
 * against one loop, bit for bit, and prints the time of a step.
 *
 *     mpicc -O2 halo_mpi.c $(pkg-config --cflags lbmap) -o halo_mpi
 *     mpirun -n 16 ./halo_mpi 4 4 64 1000 --write talk.graph
 *     lbctl plan talk.graph --hosts SPEC --format seq -o plan
 *     mpirun -n 16 ./halo_mpi 4 4 64 1000 --plan plan
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lbmap_mpi.h>

static int rows, columns, side; /* blocks, and cells of a block's side */

enum { NORTH, SOUTH, WEST, EAST, SIDES };

static double
first_value(int row, int column)
{
    return (row * 31 + column * 17) % 64 == 0 ? 1000.0 : 20.0;
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

/* A step of a block. In: old [side * side], halo [SIDES * side].  Out: new. */
static void
step(const double *old, const double *halo, double *new)
{
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++)
            new[i * side + j] =
                next_value(old[i * side + j], i > 0 ? old[(i - 1) * side + j] : halo[NORTH * side + j],
                           i < side - 1 ? old[(i + 1) * side + j] : halo[SOUTH * side + j],
                           j > 0 ? old[i * side + j - 1] : halo[WEST * side + i],
                           j < side - 1 ? old[i * side + j + 1] : halo[EAST * side + i]);
}

/* The sides of a block, as its neighbours to the north, south, west and east want them. */
static void
pack(const double *block, double *sides)
{
    for (int k = 0; k < side; k++) {
        sides[NORTH * side + k] = block[k];
        sides[SOUTH * side + k] = block[(side - 1) * side + k];
        sides[WEST * side + k] = block[k * side];
        sides[EAST * side + k] = block[k * side + side - 1];
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
    int rank, top, left, counts[SIDES],
        first_out[SIDES] = {0, side, 2 * side, 3 * side},
        first_in[SIDES] = {SOUTH * side, NORTH * side, EAST * side, WEST * side};
    double *block = calloc((size_t)(side * side), sizeof *block),
           *next = calloc((size_t)(side * side), sizeof *next);
    double *sides = calloc((size_t)(SIDES * side), sizeof *sides),
           *halo = calloc((size_t)(SIDES * side), sizeof *halo);
    if (block == NULL || next == NULL || sides == NULL || halo == NULL)
        MPI_Abort(graph, 1);
    MPI_Comm_rank(graph, &rank);
    top = rank / columns * side, left = rank % columns * side;
    for (int i = 0; i < side * side; i++)
        block[i] = first_value(top + i / side, left + i % side);
    for (int i = 0; i < SIDES; i++)
        counts[i] = side;
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

/* The same in one loop. Returns the number of cells in which the field of all blocks differs. */
static int
count_wrong(const double *blocks, int steps)
{
    int height = rows * side, width = columns * side, wrong = 0;
    double *now = calloc((size_t)(height * width), sizeof *now),
           *next = calloc((size_t)(height * width), sizeof *next);
    if (now == NULL || next == NULL)
        return height * width;
    for (int i = 0; i < height * width; i++)
        now[i] = first_value(i / width, i % width);
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < height; i++)
            for (int j = 0; j < width; j++)
                next[i * width + j] =
                    next_value(now[i * width + j], now[(i + height - 1) % height * width + j],
                               now[(i + 1) % height * width + j], now[i * width + (j + width - 1) % width],
                               now[i * width + (j + 1) % width]);
        swap(&now, &next);
    }
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++) {
            const double *block = blocks + (size_t)block_at(i / side, j / side) * (size_t)(side * side);
            wrong += memcmp(&block[i % side * side + j % side], &now[i * width + j], sizeof *now) != 0;
        }
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
    int steps = argc == 5 || argc == 7 ? atoi(argv[4]) : 0;
    rows = steps > 0 ? atoi(argv[1]) : 0, columns = steps > 0 ? atoi(argv[2]) : 0;
    side = steps > 0 ? atoi(argv[3]) : 0;
    if (rows < 1 || columns < 1 || side < 1 || side > 4096 || rows * columns != size) {
        if (rank == 0)
            fprintf(stderr, "usage: mpirun -n ROWS*COLUMNS halo_mpi ROWS COLUMNS SIDE STEPS "
                            "[--write GRAPH | --plan PLAN]\n");
        MPI_Finalize();
        return 2;
    }
    int row = rank / columns, column = rank % columns, weights[SIDES] = {side, side, side, side};
    int to[SIDES] = {block_at(row - 1, column), block_at(row + 1, column), block_at(row, column - 1),
                     block_at(row, column + 1)};
    int from[SIDES] = {to[SOUTH], to[NORTH], to[EAST], to[WEST]};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, SIDES, from, weights, SIDES, to, weights, MPI_INFO_NULL, 0,
                                   &graph);
    if (argc == 7 && strcmp(argv[5], "--write") == 0)
        code = lbmap_comm_write(graph, argv[6]);
    if (argc == 7 && strcmp(argv[5], "--plan") == 0)
        code = lbmap_comm_reorder(graph, argv[6], &graph);
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(code, text, &length);
        if (rank == 0)
            fprintf(stderr, "halo_mpi: %s: %s\n", argv[6], text);
        MPI_Finalize();
        return 1;
    }

    MPI_Barrier(graph);
    double began = MPI_Wtime(), *block = run_block(graph, steps), *all = NULL;
    MPI_Barrier(graph);
    double took = MPI_Wtime() - began;
    MPI_Comm_rank(graph, &rank);
    if (rank == 0)
        all = calloc((size_t)(size * side * side), sizeof *all);
    MPI_Gather(block, side * side, MPI_DOUBLE, all, side * side, MPI_DOUBLE, 0, graph);
    int wrong = rank == 0 && all != NULL ? count_wrong(all, steps) : rank == 0;
    MPI_Bcast(&wrong, 1, MPI_INT, 0, graph);
    if (rank == 0)
        printf("%d cells, %d steps of %.1f us, %d cells differ from one loop\n", size * side * side, steps,
               1e6 * took / steps, wrong);
    free(block);
    free(all);
    MPI_Finalize();
    return wrong != 0;
}
