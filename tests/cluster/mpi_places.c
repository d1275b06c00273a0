/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mpi_places PLAN: a ring of ranks with weights, reordered by a plan. Rank r prints "r HOST", in order, and
 * checks that its neighbours are those of rank r before. */
#include <lbmap_mpi.h>

int
main(int argc, char **argv)
{
    MPI_Comm graph;
    int rank, size, neighbour[2], weight[2], from[2], from_weight[2], to[2], to_weight[2], wrong;
    char all[4096] = "", line[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    neighbour[0] = (rank + 1) % size, neighbour[1] = (rank + size - 1) % size;
    weight[0] = 10 + rank, weight[1] = 10 + neighbour[1]; /* of the edge from r to r + 1: 10 + r */
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, neighbour, weight, 2, neighbour, weight, MPI_INFO_NULL,
                                   0, &graph);
    int code = argc == 2 ? lbmap_comm_reorder(graph, argv[1], &graph) : MPI_ERR_ARG;
    if (code != MPI_SUCCESS) {
        fprintf(stderr, "mpi_places: error %d\n", code);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_rank(graph, &rank);
    MPI_Dist_graph_neighbors(graph, 2, from, from_weight, 2, to, to_weight);
    neighbour[0] = (rank + 1) % size, neighbour[1] = (rank + size - 1) % size;
    wrong = to[0] != neighbour[0] || to[1] != neighbour[1] || from[0] != neighbour[0] ||
            from[1] != neighbour[1] || to_weight[0] != 10 + rank || to_weight[1] != 10 + neighbour[1] ||
            from_weight[0] != 10 + rank;
    const char *host = getenv("LBMAP_MPI_HOST");
    snprintf(line, sizeof line, "%d %.40s%s", rank, host != NULL ? host : "",
             wrong ? " wrong neighbours" : "");
    MPI_Gather(line, sizeof line, MPI_CHAR, all, sizeof line, MPI_CHAR, 0, graph);
    for (int r = 0; rank == 0 && r < size && r < (int)(sizeof all / sizeof line); r++)
        printf("%s\n", all + (size_t)r * sizeof line);
    MPI_Finalize();
    return 0;
}
