/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph/mesh.h"

#include <inttypes.h>
#include <stdlib.h>

/* Neighbours found, and nodes looked at, for each byte of the text: a mesh of tetrahedra has some 3 and 30.
 */
enum { PAIRS_A_BYTE = 32, LOOKS_A_BYTE = 1024, SPARE = 1 << 20 };

static enum lbm_err
no_memory(const struct lbm_scan *s)
{
    return lbm_diag_set(s->diag, LBM_E_NOMEM, s->name, 0, "no memory for the mesh");
}

enum lbm_err
lbm_mesh_element(struct lbm_mesh *mesh, const struct lbm_scan *s)
{
    if (mesh->begin.n >= LBM_VERTICES_MAX)
        return lbm_scan_refuse(s, LBM_E_LIMIT, "more than %" PRIu32 " elements", LBM_VERTICES_MAX);
    return lbm_vec_push(&mesh->begin, mesh->node.n) == LBM_OK ? LBM_OK : no_memory(s);
}

enum lbm_err
lbm_mesh_node(struct lbm_mesh *mesh, const struct lbm_scan *s, uint32_t node)
{
    return lbm_vec_push(&mesh->node, node) == LBM_OK ? LBM_OK : no_memory(s);
}

static int
compare_nodes(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* The elements of each node, and what counts those that are met. */
struct dual {
    const struct lbm_mesh *mesh;
    const struct lbm_scan *s;
    size_t n;     /* elements */
    uint32_t *id; /* distinct nodes, ascending */
    size_t n_ids;
    uint32_t *place;  /* of each entry of mesh->node among them; LBM_NONE: its element has it already */
    uint32_t *last;   /* [n_ids] last element of each node, plus 1 */
    uint64_t *offset; /* [n_ids + 1] */
    uint32_t *member; /* elements of each node */
    uint32_t *shared; /* [n] nodes shared with the present element */
    uint32_t *met;    /* [n] elements that share some */
    struct lbm_edge_list list;
};

static uint64_t
end_of(const struct lbm_mesh *mesh, size_t e)
{
    return e + 1 < mesh->begin.n ? mesh->begin.at[e + 1] : mesh->node.n;
}

static uint32_t
size_of(const struct lbm_mesh *mesh, size_t e)
{
    return (uint32_t)(end_of(mesh, e) - mesh->begin.at[e]);
}

static enum lbm_err
begin(struct dual *d)
{
    size_t m = d->mesh->node.n;
    d->id = lbm_copy(d->mesh->node.at, m, sizeof *d->id);
    d->place = lbm_alloc(m, sizeof *d->place);
    d->last = lbm_alloc(m, sizeof *d->last);
    d->offset = lbm_alloc(m + 2, sizeof *d->offset);
    d->member = lbm_alloc(m, sizeof *d->member);
    d->shared = lbm_alloc(d->n, sizeof *d->shared);
    d->met = lbm_alloc(d->n, sizeof *d->met);
    if (d->id == NULL || d->place == NULL || d->last == NULL || d->offset == NULL || d->member == NULL ||
        d->shared == NULL || d->met == NULL)
        return no_memory(d->s);
    if (m > 0)
        qsort(d->id, m, sizeof *d->id, compare_nodes);
    for (size_t i = 0; i < m; i++)
        if (i == 0 || d->id[i] != d->id[d->n_ids - 1])
            d->id[d->n_ids++] = d->id[i];
    return LBM_OK;
}

/* List the elements of each node. */
static void
invert(struct dual *d)
{
    const struct lbm_mesh *mesh = d->mesh;
    for (size_t e = 0; e < d->n; e++)
        for (uint64_t i = mesh->begin.at[e]; i < end_of(mesh, e); i++) {
            const uint32_t *found = bsearch(&mesh->node.at[i], d->id, d->n_ids, sizeof *d->id, compare_nodes);
            uint32_t p = (uint32_t)(found - d->id);
            d->place[i] = d->last[p] == e + 1 ? LBM_NONE : p;
            d->offset[p + 2] += d->place[i] != LBM_NONE;
            d->last[p] = (uint32_t)e + 1;
        }
    for (size_t p = 2; p <= d->n_ids + 1 && d->n_ids > 0; p++)
        d->offset[p] += d->offset[p - 1];
    for (size_t e = 0; e < d->n; e++)
        for (uint64_t i = mesh->begin.at[e]; i < end_of(mesh, e); i++)
            if (d->place[i] != LBM_NONE)
                d->member[d->offset[d->place[i] + 1]++] = (uint32_t)e;
}

/* Where the elements of the node of entry i begin and end; nowhere if its element names the node twice. */
static uint64_t
first_of(const struct dual *d, uint64_t i)
{
    return d->place[i] != LBM_NONE ? d->offset[d->place[i]] : 0;
}

static uint64_t
end_of_node(const struct dual *d, uint64_t i)
{
    return d->place[i] != LBM_NONE ? d->offset[d->place[i] + 1] : 0;
}

/* Add the neighbours of element e that come after it. */
static enum lbm_err
link_element(struct dual *d, size_t e, uint32_t common)
{
    const struct lbm_mesh *mesh = d->mesh;
    uint32_t n_met = 0, size = size_of(mesh, e);
    for (uint64_t i = mesh->begin.at[e]; i < end_of(mesh, e); i++)
        for (uint64_t k = first_of(d, i); k < end_of_node(d, i); k++) {
            uint32_t f = d->member[k];
            if (f > e && d->shared[f]++ == 0)
                d->met[n_met++] = f;
        }
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; i < n_met; i++) {
        uint32_t f = d->met[i], smaller = size_of(mesh, f) < size ? size_of(mesh, f) : size;
        uint32_t need = smaller > 1 && smaller - 1 < common ? smaller - 1 : common;
        need = smaller == 1 ? 1 : need;
        if (err == LBM_OK && d->shared[f] >= need)
            err = lbm_edge_list_add(&d->list, d->s, (uint32_t)e, f, 1);
        d->shared[f] = 0;
    }
    return err;
}

static enum lbm_err
link_all(struct dual *d, uint32_t common, size_t len)
{
    uint64_t looks = 0, most = (uint64_t)len * LOOKS_A_BYTE + SPARE;
    for (size_t p = 0; p < d->n_ids && looks <= most; p++) {
        uint64_t degree = d->offset[p + 1] - d->offset[p];
        looks += degree * degree;
    }
    enum lbm_err err = LBM_OK;
    for (size_t e = 0; e < d->n && err == LBM_OK && looks <= most; e++) {
        err = link_element(d, e, common);
        if (d->list.edges.n > (uint64_t)len * PAIRS_A_BYTE + SPARE)
            looks = most + 1;
    }
    if (err == LBM_OK && looks > most)
        err = lbm_diag_set(d->s->diag, LBM_E_LIMIT, d->s->name, 0,
                           "too many elements share a node: this is no mesh, or neighbours must share more "
                           "nodes (--common)");
    return err;
}

static enum lbm_err
fill_work(const struct lbm_mesh *mesh, const struct lbm_scan *s, const struct lbm_labels *labels,
          struct lbm_graph *g)
{
    if (mesh->work.n == 0)
        return LBM_OK;
    if (lbm_reading_collects(s->reading))
        return lbm_work_collect(mesh->work.at, g->n, labels, s, &g->work);
    g->work = lbm_alloc(g->n, sizeof *g->work);
    for (size_t v = 0; v < g->n && g->work != NULL; v++)
        g->work[v] = (uint32_t)mesh->work.at[v];
    return g->work != NULL ? LBM_OK : no_memory(s);
}

enum lbm_err
lbm_mesh_dual(struct lbm_mesh *mesh, const struct lbm_scan *s, uint32_t common, size_t len,
              struct lbm_graph *out)
{
    struct dual d = {.mesh = mesh, .s = s, .n = mesh->begin.n};
    struct lbm_graph g = {0};
    d.list.labels = mesh->names.at.n > 0 ? lbm_names_labels(&mesh->names) : (struct lbm_labels){.base = 1};
    if (s->reading != NULL && s->reading->common > 0)
        common = s->reading->common;
    enum lbm_err err = begin(&d);
    if (err == LBM_OK) {
        invert(&d);
        err = link_all(&d, common, len);
    }
    if (err == LBM_OK)
        err = lbm_edge_list_build(&d.list, (uint32_t)d.n, LBM_DIRECTIONS_ONE, s, &g);
    if (err == LBM_OK)
        err = fill_work(mesh, s, &d.list.labels, &g);
    if (err == LBM_OK)
        err = lbm_names_give(&mesh->names, s, &g);
    if (err == LBM_OK)
        lbm_rows_trim(&g, lbm_graph_directions(&g));
    lbm_edge_list_free(&d.list);
    free(d.id);
    free(d.place);
    free(d.last);
    free(d.offset);
    free(d.member);
    free(d.shared);
    free(d.met);
    if (err == LBM_OK)
        *out = g;
    else
        lbm_graph_free(&g);
    return err;
}

void
lbm_mesh_free(struct lbm_mesh *mesh)
{
    lbm_vec_free(&mesh->node);
    lbm_vec_free(&mesh->begin);
    lbm_vec_free(&mesh->work);
    lbm_names_free(&mesh->names);
}
