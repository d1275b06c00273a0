/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cluster at rest: who owns what, by the disks; who works on what. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/model/internal.h"
#include "sim/model/positions.h"

uint32_t
cluster_guests(const struct cluster *c)
{
    uint32_t n = 0;
    for (size_t i = 0; i < c->check.guests.n; i++)
        n += !c->check.guests.at[i].deleted;
    return n;
}

int
cluster_job_lives(const struct cluster *c, const char *name)
{
    const struct guest *guest = check_guest(&c->check, check_job(&c->check, name));
    return guest != NULL && guest->logged && !guest->deleted;
}

void
cluster_owners(const struct cluster *c, uint32_t n, uint32_t *part, uint32_t *doubles, uint32_t *none)
{
    *doubles = *none = 0;
    memset(part, 0xff, n * sizeof *part);
    for (uint32_t p = 0; p < c->n; p++)
        for (size_t j = 0; j < c->disk[p].rows.jobs.n; j++) {
            const struct job_rows *rows = &c->disk[p].rows.jobs.at[j];
            for (size_t i = 0; i < rows->rows.n; i++) {
                if (rows->rows.at[i].stage != LBM_STAGE_OWN)
                    continue;
                *doubles += part[rows->rows.at[i].vertex] != LBM_NONE;
                part[rows->rows.at[i].vertex] = p;
            }
        }
    for (uint32_t v = 0; v < n; v++)
        *none += part[v] == LBM_NONE;
}

uint32_t
cluster_positions(struct cluster *c, uint32_t n, double *x, uint64_t *sweeps)
{
    uint32_t read = 0;
    *sweeps = 0;
    for (uint32_t p = 0; p < c->n; p++)
        if (c->machine[p].node != NULL)
            read += node_positions(c->machine[p].node, n, x, sweeps);
    return read;
}

/* A host that has left hears no more of the log: what is on its disk is nobody's concern. */
static uint32_t
copies_of_members(const struct cluster *c, const struct truth *truth)
{
    uint32_t n = 0;
    for (size_t i = 0; i < truth->copies.n; i++) {
        const struct lbm_member *member = lbm_view_member(&c->check.view, truth->copies.at[i].disk);
        n += member == NULL || lbm_view_participates(member);
    }
    return n;
}

/* A vertex that nobody owns just now: its record is on the way from one host to another, or there is none. */
static const char *
without_owner(const struct truth *truth)
{
    for (size_t i = 0; i < truth->copies.n; i++)
        if (truth->copies.at[i].owner == LBM_NONE && truth->copies.at[i].stage == LBM_STAGE_OUT)
            return "a vertex that is being handed over";
    return "a vertex without owner";
}

static const char *
guest_at_rest(const struct cluster *c, const struct guest *guest)
{
    for (uint32_t v = 0; v < guest->n; v++) {
        const struct truth *truth = &guest->vertex[v];
        uint32_t owners = 0;
        for (size_t i = 0; i < truth->copies.n; i++)
            owners += truth->copies.at[i].owner == LBM_NONE && truth->copies.at[i].stage == LBM_STAGE_OWN;
        if (guest->deleted && copies_of_members(c, truth) != 0)
            return "rows of a job that is no more";
        int may_be_back = !truth->is_gone || c->check.has_loss;
        int is_as_due = check_is_there(truth) ? owners == 1 : owners == 0 || (owners == 1 && may_be_back);
        if (guest->logged && !guest->deleted && !is_as_due)
            return owners == 0 ? without_owner(truth) : "a vertex with two owners";
    }
    return NULL;
}

/* The record of the owner, or NULL. */
static const struct lbm_row *
owned_row(const struct cluster *c, uint64_t job, uint32_t vertex)
{
    for (uint32_t p = 0; p < c->n; p++) {
        const struct lbm_member *member = lbm_view_member(&c->check.view, p);
        const struct lbm_row *row = rows_get(&c->disk[p].rows, job, vertex);
        if (row != NULL && row->stage == LBM_STAGE_OWN && member != NULL && lbm_view_participates(member))
            return row;
    }
    return NULL;
}

/* I15: an edge is in the records of both ends, and nothing is left to tell of it. */
static const char *
edges_at_rest(const struct cluster *c, const struct guest *guest)
{
    for (uint32_t v = 0; v < guest->n; v++) {
        const struct lbm_row *row = owned_row(c, guest->job, v);
        if (row != NULL && row->n_news != 0)
            return "an edge that one side has yet to hear of";
        for (uint32_t k = 0; row != NULL && k < row->degree; k++) {
            const struct lbm_row *other = owned_row(c, guest->job, row->half[k].to);
            uint32_t back = 0;
            while (other != NULL && back < other->degree && other->half[back].to != v)
                back++;
            if (other == NULL || back == other->degree) {
                static char text[100];
                snprintf(text, sizeof text,
                         "an edge that vertex %" PRIu32 " has and vertex %" PRIu32 " has not%s", v,
                         row->half[k].to, other == NULL ? ", since it is not there" : "");
                return text;
            }
            if (other->half[back].weight != row->half[k].weight)
                return "an edge with two bandwidths";
        }
    }
    return NULL;
}

/* I15: an application knows the edges of what it holds. */
static const char *
edges_as_told(const struct cluster *c)
{
    for (size_t i = 0; i < c->applications.n; i++) {
        const struct application *a = &c->applications.at[i];
        for (size_t k = 0; k < a->held.n; k++) {
            const struct lbm_row *row = rows_get(&c->disk[a->host].rows, a->job, a->held.at[k].vertex);
            uint64_t edges = 0;
            for (uint32_t e = 0; row != NULL && e < row->degree; e++)
                edges += edge_digest(row->half[e].to, row->half[e].weight);
            if (row != NULL && row->stage == LBM_STAGE_OWN && row->epoch == a->held.at[k].token &&
                is_working(c, a, &a->held.at[k]) && edges != a->held.at[k].edges)
                return "an application that has yet to hear of the edges of its vertices";
        }
    }
    return NULL;
}

int
cluster_quiescent(const struct cluster *c, const char **why)
{
    *why = NULL;
    for (size_t i = 0; i < c->check.guests.n && *why == NULL; i++) {
        *why = guest_at_rest(c, &c->check.guests.at[i]);
        if (*why == NULL && c->check.guests.at[i].changes && !c->check.guests.at[i].deleted)
            *why = edges_at_rest(c, &c->check.guests.at[i]);
    }
    if (*why == NULL)
        *why = edges_as_told(c);
    return *why == NULL;
}

/* Marks [n] of the vertices that somebody works on; owned by the caller. */
static uint8_t *
worked_on(const struct cluster *c, const struct guest *guest)
{
    uint8_t *works = lbm_alloc(guest->n, 1);
    for (size_t i = 0; i < c->applications.n; i++) {
        const struct application *a = &c->applications.at[i];
        for (size_t k = 0; k < a->held.n && a->job == guest->job; k++)
            if (is_working(c, a, &a->held.at[k]))
                works[a->held.at[k].vertex] = 1;
    }
    return works;
}

static int
is_alive(const struct guest *guest)
{
    return guest->logged && !guest->deleted;
}

uint32_t
cluster_idle_vertices(const struct cluster *c)
{
    uint32_t n = 0;
    for (size_t i = 0; i < c->check.guests.n; i++) {
        const struct guest *guest = &c->check.guests.at[i];
        if (!is_alive(guest))
            continue;
        uint8_t *works = worked_on(c, guest);
        for (uint32_t v = 0; v < guest->n; v++)
            n += !works[v] && check_is_there(&guest->vertex[v]);
        free(works);
    }
    return n;
}

static void
trace_copies(struct cluster *c, const struct guest *guest, uint32_t vertex)
{
    const struct truth *truth = &guest->vertex[vertex];
    for (size_t i = 0; i < truth->copies.n; i++) {
        const struct copy *copy = &truth->copies.at[i];
        if (copy->owner == LBM_NONE)
            trace(c, copy->disk, "has idle vertex %" PRIu32 " %s e%" PRIu64, vertex,
                  lbm_stage_name(copy->stage), copy->epoch);
        else
            trace(c, copy->disk, "has idle vertex %" PRIu32 " %s e%" PRIu64 " of %" PRIu32 ".%" PRIu64,
                  vertex, lbm_stage_name(copy->stage), copy->epoch, copy->owner, copy->incarnation);
    }
}

void
cluster_trace_idle(struct cluster *c)
{
    for (size_t i = 0; i < c->check.guests.n; i++) {
        const struct guest *guest = &c->check.guests.at[i];
        uint8_t *works = worked_on(c, guest);
        for (uint32_t v = 0; v < guest->n; v++)
            if (is_alive(guest) && !works[v] && check_is_there(&guest->vertex[v]))
                trace_copies(c, guest, v);
        free(works);
    }
}
