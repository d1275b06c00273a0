/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crowd_alone GRAPH STEPS: the steps of docs/examples/crowd.c over all vertices of a graph in METIS format,
 * in one loop, on standard output: what lbmap_steps must give. Vertices and edges without weights. */
int crowd_main(int argc, char **argv); /* the main of the example */
#define main crowd_main
#include "docs/examples/crowd.c"
#undef main

#include "tests/cluster/alone.h"

enum { EVERY = 10 };

/* What all contribute. */
static struct census
count_all(const struct mesh *mesh, const struct place *place)
{
    struct census all;
    count(NULL, 0, &place[0], sizeof *place, &all);
    for (uint32_t v = 1; v < mesh->n; v++) {
        struct census one;
        count(NULL, v, &place[v], sizeof *place, &one);
        add(NULL, &all, &one);
    }
    return all;
}

static void
step_all(const struct mesh *mesh, uint64_t step, const struct census *all, const struct place *before,
         struct place *after)
{
    static struct lbmap_neighbour neighbours[DEGREE_MAX];
    for (uint32_t v = 0; v < mesh->n; v++) {
        size_t degree = mesh->first[v + 1] - mesh->first[v];
        for (size_t i = 0; i < degree && i < DEGREE_MAX; i++) {
            uint32_t u = mesh->neighbour[mesh->first[v] + i];
            neighbours[i] = (struct lbmap_neighbour){u, 1, &before[u].view, sizeof before[u].view};
        }
        const struct lbmap_step s = {v, step, &before[v], sizeof *before, neighbours, degree, all, 0};
        wander(NULL, &s, &after[v]);
    }
}

int
main(int argc, char **argv)
{
    struct mesh mesh = {0};
    struct census taken[2] = {{0}};
    FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
    if (file == NULL || !read_mesh(file, &mesh)) {
        fprintf(stderr, "crowd_alone: GRAPH cannot be read; usage: crowd_alone GRAPH STEPS\n");
        return 2;
    }
    struct place *before = calloc(mesh.n, sizeof *before), *after = calloc(mesh.n, sizeof *after);
    if (before == NULL || after == NULL)
        return 2;
    for (uint32_t v = 0; v < mesh.n; v++)
        gather(NULL, v, &before[v]);
    for (uint64_t step = 0; step < strtoull(argv[2], NULL, 10); step++) {
        if (step % EVERY == 0) { /* step s sees what was taken after (s / EVERY - 1) EVERY steps */
            taken[0] = taken[1];
            taken[1] = count_all(&mesh, before);
        }
        step_all(&mesh, step, step / EVERY >= 2 ? &taken[0] : NULL, before, after);
        struct place *swap = before;
        before = after;
        after = swap;
    }
    for (size_t v = 0; v < mesh.n; v++)
        printf("%lld %lld\n", (long long)before[v].view.people, (long long)before[v].came);
    free(before);
    free(after);
    free(mesh.first);
    free(mesh.neighbour);
    fclose(file);
    return 0;
}
