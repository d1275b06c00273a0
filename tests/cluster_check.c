/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cluster_check.h"

#include <stdlib.h>

#include "base/check.h"

static struct known_guest *
guest_of(const struct cluster_check *check, uint64_t job)
{
    for (size_t i = 0; i < check->guests.n; i++)
        if (check->guests.at[i].job == job)
            return &check->guests.at[i];
    return NULL;
}

const struct lbm_graph *
check_guest(const struct cluster_check *check, uint64_t job)
{
    const struct known_guest *guest = guest_of(check, job);
    return guest != NULL ? &guest->g : NULL;
}

static void
learn_guest(struct cluster_check *check, uint64_t job, const struct lbm_graph *g)
{
    LBM_ASSERT(guest_of(check, job) == NULL); /* ids of jobs are used once */
    struct known_guest guest = {.job = job, .g = {.n = g->n}};
    uint64_t directions = lbm_graph_directions(g);
    guest.g.offset = lbm_copy(g->offset, (size_t)g->n + 1, sizeof *g->offset);
    guest.g.target = lbm_copy(g->target, directions, sizeof *g->target);
    guest.g.weight = lbm_alloc(directions, sizeof *g->weight);
    guest.g.work = lbm_alloc(g->n, sizeof *g->work);
    for (uint64_t e = 0; e < directions; e++)
        guest.g.weight[e] = lbm_graph_weight(g, e);
    for (uint32_t v = 0; v < g->n; v++)
        guest.g.work[v] = lbm_graph_work(g, v);
    LBM_ASSERT(lbm_vec_push(&check->guests, guest) == LBM_OK);
}

/* I4: work and adjacency are conserved. */
static void
check_content(const struct lbm_graph *g, const struct lbm_row *row)
{
    LBM_ASSERT(row->vertex < g->n && row->work == g->work[row->vertex]);
    uint64_t begin = g->offset[row->vertex];
    LBM_ASSERT(row->degree == g->offset[row->vertex + 1] - begin);
    for (uint32_t k = 0; k < row->degree; k++)
        LBM_ASSERT(row->half[k].to == g->target[begin + k] && row->half[k].weight == g->weight[begin + k]);
}

static void
check_row(const struct cluster_check *check, struct disk *disk, uint32_t n, uint32_t host,
          const struct lbm_row *row)
{
    const struct known_guest *guest = guest_of(check, row->job);
    LBM_ASSERT(guest != NULL);
    int holds = row->stage == LBM_STAGE_OWN || row->stage == LBM_STAGE_OUT;
    if (holds)
        check_content(&guest->g, row);
    int successors = 0;
    for (uint32_t p = 0; p < n; p++) {
        const struct lbm_row *other = p != host ? disk_row(&disk[p], row->job, row->vertex) : NULL;
        if (other == NULL)
            continue;
        LBM_ASSERT(!holds || other->stage != LBM_STAGE_OWN);
        successors += other->epoch > row->epoch && other->stage != LBM_STAGE_REF;
    }
    LBM_ASSERT(row->stage != LBM_STAGE_MOV || successors != 0 || guest->deleted);
}

void
check_op(struct cluster_check *check, struct disk *disk, uint32_t n, uint32_t host,
         const struct lbm_persist_op *op)
{
    if (op->kind == LBM_PERSIST_GUEST)
        learn_guest(check, op->job, op->as.guest.graph);
    else if (op->kind == LBM_PERSIST_ROW)
        check_row(check, disk, n, host, &op->as.row);
    else if (op->kind == LBM_PERSIST_JOB_DELETE && guest_of(check, op->job) != NULL)
        guest_of(check, op->job)->deleted = 1;
}

void
check_free(struct cluster_check *check)
{
    for (size_t i = 0; i < check->guests.n; i++)
        lbm_graph_free(&check->guests.at[i].g);
    lbm_vec_free(&check->guests);
}
