/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast a graph file is read, and how large it is in memory.
 * bench/read GRAPH: seconds to read, parse and validate it (best of three), and bytes a vertex. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "file/file.h"

static double
now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t
bytes_of(const struct lbm_graph *g)
{
    uint64_t n = g->n, directions = lbm_graph_directions(g);
    return (n + 1) * sizeof *g->offset + directions * sizeof *g->target +
           (g->weight != NULL ? directions * sizeof *g->weight : 0) +
           (g->work != NULL ? n * sizeof *g->work : 0) +
           (g->position != NULL ? 2 * n * sizeof *g->position : 0) +
           (g->pin != NULL ? n * sizeof *g->pin : 0);
}

/* Read the file at path once. Out: *g; seconds of reading it and of parsing it. */
static enum lbm_err
run(const char *path, struct lbm_graph *g, double *read_s, double *parse_s, struct lbm_diag *diag)
{
    char *text;
    size_t len;
    enum lbm_graph_format format = lbm_graph_format_by_path(path);
    double start = now_s();
    enum lbm_err err = lbm_file_read(path, &text, &len, diag);
    if (err != LBM_OK)
        return err;
    double middle = now_s();
    err = lbm_graph_parse(format != LBM_FORMAT_COUNT ? format : LBM_FORMAT_METIS, path, text, len, g, diag);
    *read_s = middle - start;
    *parse_s = now_s() - middle;
    free(text);
    return err;
}

int
main(int argc, char **argv)
{
    enum { RUNS = 3 };
    double best_read = 0, best_parse = 1e30;
    struct lbm_graph g = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: bench/read GRAPH\n");
        return 2;
    }
    for (int i = 0; i < RUNS; i++) {
        double read_s, parse_s;
        struct lbm_diag diag;
        lbm_graph_free(&g);
        if (run(argv[1], &g, &read_s, &parse_s, &diag) != LBM_OK) {
            char text[LBM_DIAG_TEXT_MAX + LBM_DIAG_WHERE_MAX];
            lbm_diag_render(&diag, text, sizeof text);
            fprintf(stderr, "%s\n", text);
            return 1;
        }
        if (read_s + parse_s < best_read + best_parse) {
            best_read = read_s;
            best_parse = parse_s;
        }
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("vertices %" PRIu32 " edges %" PRIu64
           " seconds %.3f read %.3f parse %.3f bytes_per_vertex %.1f peak_mib "
           "%.0f\n",
           g.n, lbm_graph_directions(&g) / 2, best_read + best_parse, best_read, best_parse,
           g.n > 0 ? (double)bytes_of(&g) / g.n : 0, (double)usage.ru_maxrss / 1024);
    lbm_graph_free(&g);
    return 0;
}
