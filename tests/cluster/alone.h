/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A graph in METIS format, without weights, for the programs that do in one loop what lbmap_steps does. */
#ifndef LBM_TEST_ALONE_H
#define LBM_TEST_ALONE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEGREE_MAX = 4096, LINE_MAX_BYTES = 1 << 16 };

struct mesh {
    size_t n;
    size_t *first;       /* [n + 1] */
    uint32_t *neighbour; /* of v at first[v] .. first[v + 1] - 1, ascending */
};

static int
by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int
next_line(FILE *file, char *line)
{
    do
        if (fgets(line, LINE_MAX_BYTES, file) == NULL)
            return 0;
    while (line[0] == '%');
    return 1;
}

static int
read_mesh(FILE *file, struct mesh *mesh)
{
    static char line[LINE_MAX_BYTES];
    unsigned long long n, m;
    if (!next_line(file, line) || sscanf(line, "%llu %llu", &n, &m) != 2)
        return 0;
    mesh->n = n;
    mesh->first = calloc(n + 1, sizeof *mesh->first);
    mesh->neighbour = calloc(2 * m + 1, sizeof *mesh->neighbour);
    for (size_t v = 0, at = 0; v < n; v++) {
        if (mesh->first == NULL || mesh->neighbour == NULL || !next_line(file, line))
            return 0;
        for (char *word = strtok(line, " \n"); word != NULL && at < 2 * m; word = strtok(NULL, " \n"))
            mesh->neighbour[at++] = (uint32_t)strtoul(word, NULL, 10) - 1;
        mesh->first[v + 1] = at;
        qsort(mesh->neighbour + mesh->first[v], at - mesh->first[v], sizeof *mesh->neighbour, by_number);
    }
    return 1;
}

#endif
