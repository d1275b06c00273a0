/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* lbmap_mpi.h: an MPI program whose ranks are placed by a plan. Header only, for MPI 3; needs no liblbmap.
 *
 * A program says who talks to whom by a distributed graph communicator. Once it writes that as a graph:
 *
 *     lbmap_comm_write(graph, "talk.graph");
 *
 * A person plans it: lbctl plan talk.graph --hosts SPEC --format seq -o plan, with names of the hosts as
 * MPI_Get_processor_name has them. From then on one line places the ranks, however mpirun has started them:
 *
 *     lbmap_comm_reorder(graph, "plan", &graph);
 *
 * (What mpirun has not yet started, lbctl mpirun starts where it belongs, without a change to the program.)
 */
#ifndef LBMAP_MPI_H
#define LBMAP_MPI_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Who talks to whom, of all ranks. */
struct lbmap_mpi_talk {
    int size;
    int *sources, *targets;  /* [size] how many each rank has */
    int *from, *from_weight; /* those of rank 0, of rank 1, ... */
    int *to, *to_weight;
};

static inline void
lbmap_mpi_talk_free(struct lbmap_mpi_talk *t)
{
    int *all[] = {t->sources, t->targets, t->from, t->from_weight, t->to, t->to_weight};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

/* Whether all ranks say yes. */
static inline int
lbmap_mpi_all(MPI_Comm comm, int yes)
{
    int all = 0;
    return MPI_Allreduce(&yes, &all, 1, MPI_INT, MPI_LAND, comm) == MPI_SUCCESS && all;
}

/* Put together the lists [n] of all ranks. Out: *all, owned by the caller; NULL if memory is short. */
static inline int
lbmap_mpi_gather(MPI_Comm comm, const int *list, const int *counts, int size, int **all)
{
    int *first = (int *)malloc((size_t)size * sizeof *first), sum = 0, rank, code;
    MPI_Comm_rank(comm, &rank);
    for (int r = 0; first != NULL && r < size; r++) {
        first[r] = sum;
        sum += counts[r];
    }
    *all = (int *)malloc(((size_t)sum + 1) * sizeof **all);
    code = lbmap_mpi_all(comm, first != NULL && *all != NULL) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS)
        code = MPI_Allgatherv(list, counts[rank], MPI_INT, *all, counts, first, MPI_INT, comm);
    free(first);
    return code;
}

/* Learn who talks to whom. Out: *t, freed by the caller in any case. */
static inline int
lbmap_mpi_talk_gather(MPI_Comm graph, struct lbmap_mpi_talk *t)
{
    int kind, in, out, weighted, code;
    memset(t, 0, sizeof *t);
    if (MPI_Topo_test(graph, &kind) != MPI_SUCCESS || kind != MPI_DIST_GRAPH)
        return MPI_ERR_TOPOLOGY;
    MPI_Comm_size(graph, &t->size);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    int *list = (int *)malloc(2 * ((size_t)in + (size_t)out + 1) * sizeof *list);
    t->sources = (int *)malloc((size_t)t->size * sizeof(int));
    t->targets = (int *)malloc((size_t)t->size * sizeof(int));
    if (!lbmap_mpi_all(graph, list != NULL && t->sources != NULL && t->targets != NULL)) {
        free(list);
        return MPI_ERR_NO_MEM;
    }
    int *from = list, *from_weight = from + in, *to = from_weight + in, *to_weight = to + out;
    for (int i = 0; i < 2 * (in + out); i++)
        list[i] = 1;
    code = MPI_Dist_graph_neighbors(graph, in, from, weighted ? from_weight : MPI_UNWEIGHTED, out, to,
                                    weighted ? to_weight : MPI_UNWEIGHTED);
    if (code == MPI_SUCCESS)
        code = MPI_Allgather(&in, 1, MPI_INT, t->sources, 1, MPI_INT, graph);
    if (code == MPI_SUCCESS)
        code = MPI_Allgather(&out, 1, MPI_INT, t->targets, 1, MPI_INT, graph);
    if (code == MPI_SUCCESS)
        code = lbmap_mpi_gather(graph, from, t->sources, t->size, &t->from);
    if (code == MPI_SUCCESS)
        code = lbmap_mpi_gather(graph, from_weight, t->sources, t->size, &t->from_weight);
    if (code == MPI_SUCCESS)
        code = lbmap_mpi_gather(graph, to, t->targets, t->size, &t->to);
    if (code == MPI_SUCCESS)
        code = lbmap_mpi_gather(graph, to_weight, t->targets, t->size, &t->to_weight);
    free(list);
    return code;
}

/* ---- the graph as a file ------------------------------------------------------------------------------- */

/* What rank u says to v, or v to u. */
struct lbmap_mpi_edge {
    int u, v;
    long long weight;
};

static inline int
lbmap_mpi_by_ends(const void *a, const void *b)
{
    const struct lbmap_mpi_edge *x = (const struct lbmap_mpi_edge *)a, *y = (const struct lbmap_mpi_edge *)b;
    return x->u != y->u ? (x->u > y->u) - (x->u < y->u) : (x->v > y->v) - (x->v < y->v);
}

/* Edges in both directions, sorted, each once. Out: *n. NULL if memory is short. */
static inline struct lbmap_mpi_edge *
lbmap_mpi_edges(const struct lbmap_mpi_talk *t, size_t *n)
{
    size_t m = 0, at = 0, kept = 0;
    for (int r = 0; r < t->size; r++)
        m += (size_t)t->targets[r];
    struct lbmap_mpi_edge *edges = (struct lbmap_mpi_edge *)malloc((2 * m + 1) * sizeof *edges);
    if (edges == NULL)
        return NULL;
    for (int r = 0; r < t->size; r++)
        for (int i = 0; i < t->targets[r]; i++, at++) {
            const struct lbmap_mpi_edge there = {r, t->to[at], t->to_weight[at]};
            const struct lbmap_mpi_edge back = {t->to[at], r, t->to_weight[at]};
            edges[2 * at] = there;
            edges[2 * at + 1] = back;
        }
    qsort(edges, 2 * m, sizeof *edges, lbmap_mpi_by_ends);
    for (size_t i = 0; i < 2 * m; i++)
        if (edges[i].u == edges[i].v || edges[i].weight <= 0)
            continue;
        else if (kept > 0 && edges[kept - 1].u == edges[i].u && edges[kept - 1].v == edges[i].v)
            edges[kept - 1].weight += edges[i].weight;
        else
            edges[kept++] = edges[i];
    *n = kept;
    return edges;
}

/* Write the graph of a distributed graph communicator in METIS's format, for lbctl plan: rank r is vertex r,
 * weights of both directions are added up (2147483647 at most). Collective; rank 0 writes.
 * Errors: MPI_ERR_TOPOLOGY graph is no distributed graph; MPI_ERR_FILE path cannot be written;
 *         MPI_ERR_NO_MEM; those of MPI. */
static inline int
lbmap_comm_write(MPI_Comm graph, const char *path)
{
    struct lbmap_mpi_talk t;
    int code = lbmap_mpi_talk_gather(graph, &t), rank = 0;
    MPI_Comm_rank(graph, &rank);
    if (code == MPI_SUCCESS && rank == 0) {
        size_t n = 0, at = 0;
        struct lbmap_mpi_edge *edges = lbmap_mpi_edges(&t, &n);
        FILE *file = edges != NULL ? fopen(path, "w") : NULL;
        code = edges == NULL ? MPI_ERR_NO_MEM : file == NULL ? MPI_ERR_FILE : MPI_SUCCESS;
        if (file != NULL) {
            fprintf(file, "%d %zu 001\n", t.size, n / 2);
            for (int r = 0; r < t.size; r++, fprintf(file, "\n"))
                for (; at < n && edges[at].u == r; at++)
                    fprintf(file, " %d %lld", edges[at].v + 1,
                            edges[at].weight < 2147483647 ? edges[at].weight : 2147483647);
            if (ferror(file))
                code = MPI_ERR_FILE;
            if (fclose(file) != 0)
                code = MPI_ERR_FILE;
        }
        free(edges);
    }
    lbmap_mpi_talk_free(&t);
    if (code != MPI_ERR_TOPOLOGY)
        MPI_Bcast(&code, 1, MPI_INT, 0, graph);
    return code;
}

/* ---- placement ----------------------------------------------------------------------------------------- */

enum { LBMAP_MPI_NAME = MPI_MAX_PROCESSOR_NAME };

/* A place: the host of a process, or the one that the plan has for a rank. */
struct lbmap_mpi_place {
    char host[LBMAP_MPI_NAME];
    int number; /* of the process, or the rank */
    int taken;
};

static inline int
lbmap_mpi_by_host(const void *a, const void *b)
{
    const struct lbmap_mpi_place *x = (const struct lbmap_mpi_place *)a;
    const struct lbmap_mpi_place *y = (const struct lbmap_mpi_place *)b;
    int order = strcmp(x->host, y->host);
    return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

/* A host's name without its domain. */
static inline void
lbmap_mpi_short(char *name)
{
    char *dot = strchr(name, '.');
    if (dot != NULL && strspn(name, "0123456789.") < strlen(name))
        *dot = '\0';
}

/* Read the plan, a name a line. */
static inline int
lbmap_mpi_plan_read(const char *path, struct lbmap_mpi_place *plan, int size)
{
    char line[LBMAP_MPI_NAME + 2];
    int n = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return MPI_ERR_NO_SUCH_FILE;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, " \t\r\n")] = '\0';
        if (line[0] == '\0' || line[0] == '#')
            continue;
        lbmap_mpi_short(line);
        if (n < size)
            snprintf(plan[n].host, sizeof plan[n].host, "%.*s", LBMAP_MPI_NAME - 1, line);
        n++;
    }
    fclose(file);
    return n == size ? MPI_SUCCESS : MPI_ERR_COUNT;
}

/* Give ranks to processes: of the plan's host as far as there are any, the others in order.
 * In:  plan [size] by rank, process [size] by number.  Out: rank_of [size].  Returns how many are where the
 * plan has them. */
static inline int
lbmap_mpi_assign(struct lbmap_mpi_place *plan, struct lbmap_mpi_place *process, int size, int *rank_of)
{
    int placed = 0;
    for (int r = 0; r < size; r++) /* who is right already stays */
        if (strcmp(plan[r].host, process[r].host) == 0) {
            rank_of[r] = r;
            plan[r].taken = process[r].taken = 1;
            placed++;
        }
    qsort(plan, (size_t)size, sizeof *plan, lbmap_mpi_by_host);
    qsort(process, (size_t)size, sizeof *process, lbmap_mpi_by_host);
    for (int i = 0, j = 0; i < size && j < size;) {
        int order = strcmp(plan[i].host, process[j].host);
        if (plan[i].taken || order < 0) {
            i++;
        } else if (process[j].taken || order > 0) {
            j++;
        } else {
            rank_of[process[j].number] = plan[i].number;
            plan[i++].taken = process[j++].taken = 1;
            placed++;
        }
    }
    for (int i = 0, j = 0; i < size; i++) {
        if (plan[i].taken)
            continue;
        while (process[j].taken)
            j++;
        rank_of[process[j].number] = plan[i].number;
        process[j].taken = 1;
    }
    return placed;
}

/* Find the new rank of every process. Out: rank_of [size]. */
static inline int
lbmap_mpi_place_ranks(MPI_Comm comm, const char *path, int size, int *rank_of)
{
    int code = MPI_SUCCESS, length = 0, rank, bytes = (int)sizeof(struct lbmap_mpi_place);
    struct lbmap_mpi_place own;
    struct lbmap_mpi_place *plan = (struct lbmap_mpi_place *)calloc((size_t)size, sizeof *plan);
    struct lbmap_mpi_place *process = (struct lbmap_mpi_place *)calloc((size_t)size, sizeof *process);
    MPI_Comm_rank(comm, &rank);
    memset(&own, 0, sizeof own);
    own.number = rank;
    const char *told = getenv("LBMAP_MPI_HOST");
    if (told != NULL)
        snprintf(own.host, sizeof own.host, "%s", told);
    else
        code = MPI_Get_processor_name(own.host, &length);
    lbmap_mpi_short(own.host);
    if (!lbmap_mpi_all(comm, plan != NULL && process != NULL))
        code = MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS) {
        if (rank == 0)
            code = lbmap_mpi_plan_read(path, plan, size);
        for (int r = 0; r < size; r++)
            plan[r].number = r;
        MPI_Bcast(&code, 1, MPI_INT, 0, comm);
        MPI_Bcast(plan, size * bytes, MPI_BYTE, 0, comm);
        MPI_Allgather(&own, bytes, MPI_BYTE, process, bytes, MPI_BYTE, comm);
        if (code == MPI_SUCCESS && lbmap_mpi_assign(plan, process, size, rank_of) == 0)
            code = MPI_ERR_NAME;
    }
    free(plan);
    free(process);
    return code;
}

/* Make a communicator in which ranks are where a plan has them: rank r of *reordered has the neighbours and
 * weights of rank r of graph, and runs on the host that line r + 1 of the plan names, if a process is there.
 * Where a host has fewer processes than the plan has ranks for it, those that are left take the processes
 * that are left. Collective; rank 0 reads the plan. graph stays; *reordered may be the same variable. Host
 * names are compared without domains; LBMAP_MPI_HOST in the environment of a process stands for its own.
 * Errors: MPI_ERR_TOPOLOGY graph is no distributed graph; MPI_ERR_NO_SUCH_FILE there is no such plan;
 *         MPI_ERR_COUNT it has not a line for each rank; MPI_ERR_NAME none of its hosts has a process;
 *         MPI_ERR_NO_MEM; those of MPI. *reordered is untouched then. */
static inline int
lbmap_comm_reorder(MPI_Comm graph, const char *plan, MPI_Comm *reordered)
{
    struct lbmap_mpi_talk t;
    MPI_Comm plain, result;
    int code = lbmap_mpi_talk_gather(graph, &t), process, in = 0, out = 0;
    int *rank_of = code == MPI_SUCCESS ? (int *)malloc((size_t)t.size * sizeof *rank_of) : NULL;
    if (code == MPI_SUCCESS && !lbmap_mpi_all(graph, rank_of != NULL))
        code = MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS)
        code = lbmap_mpi_place_ranks(graph, plan, t.size, rank_of);
    if (code == MPI_SUCCESS) {
        MPI_Comm_rank(graph, &process);
        code = MPI_Comm_split(graph, 0, rank_of[process], &plain);
    }
    if (code == MPI_SUCCESS) {
        int r = rank_of[process];
        for (int i = 0; i < r; i++) {
            in += t.sources[i];
            out += t.targets[i];
        }
        code =
            MPI_Dist_graph_create_adjacent(plain, t.sources[r], t.from + in, t.from_weight + in, t.targets[r],
                                           t.to + out, t.to_weight + out, MPI_INFO_NULL, 0, &result);
        MPI_Comm_free(&plain);
    }
    if (code == MPI_SUCCESS)
        *reordered = result;
    free(rank_of);
    lbmap_mpi_talk_free(&t);
    return code;
}

#endif
