/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heat_alone GRAPH STEPS: the steps of docs/examples/heat.c over all vertices of a graph in METIS format, in
 * one loop, on standard output: what lbmap_steps must give. Vertices and edges without weights. */
int heat_main(int argc, char **argv); /* the main of the example */
#define main heat_main
#include "docs/examples/heat.c"
#undef main

#include "tests/cluster/alone.h"

static void
step_all(const struct mesh *mesh, uint64_t step, const double *before, double *after)
{
    struct lbmap_neighbour neighbours[DEGREE_MAX];
    for (uint32_t v = 0; v < mesh->n; v++) {
        size_t degree = mesh->first[v + 1] - mesh->first[v];
        for (size_t i = 0; i < degree && i < DEGREE_MAX; i++) {
            uint32_t u = mesh->neighbour[mesh->first[v] + i];
            neighbours[i] = (struct lbmap_neighbour){u, 1, &before[u], sizeof *before};
        }
        const struct lbmap_step s = {v, step, &before[v], sizeof *before, neighbours, degree, NULL, 0};
        flow(NULL, &s, &after[v]);
    }
}

int
main(int argc, char **argv)
{
    struct mesh mesh = {0};
    FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
    if (file == NULL || !read_mesh(file, &mesh)) {
        fprintf(stderr, "heat_alone: GRAPH cannot be read; usage: heat_alone GRAPH STEPS\n");
        return 2;
    }
    double *before = calloc(mesh.n, sizeof *before), *after = calloc(mesh.n, sizeof *after);
    if (before == NULL || after == NULL)
        return 2;
    for (uint32_t v = 0; v < mesh.n; v++)
        begin(NULL, v, &before[v]);
    for (uint64_t step = 0; step < strtoull(argv[2], NULL, 10); step++) {
        step_all(&mesh, step, before, after);
        double *swap = before;
        before = after;
        after = swap;
    }
    for (size_t v = 0; v < mesh.n; v++)
        printf("%a\n", before[v]);
    free(before);
    free(after);
    free(mesh.first);
    free(mesh.neighbour);
    fclose(file);
    return 0;
}
