/* SPDX-License-Identifier: GPL-3.0-or-later */
/* METIS meshes: a header "elements [weights]", then a line for each element: "[weight] node ...", nodes
 * numbered from 1. The graph is the dual: elements are vertices. Source: METIS 5 manual section 4.1.2. */
#include <inttypes.h>

#include "graph/mesh.h"
#include "graph/readers.h"

struct header {
    uint64_t elements;
    int weighted;
};

static const struct lbm_field field_elements = {"number of elements", 0, LBM_VERTICES_MAX, ""};
static const struct lbm_field field_weights = {"number of weights", 0, 1000, ""};
static const struct lbm_field field_node = {"node", 1, UINT32_MAX - 1, "nodes are numbered from 1"};

static enum lbm_err
read_header(struct lbm_scan *s, size_t len, struct header *header)
{
    uint64_t weights = 0;
    if (lbm_scan_skip_lines(s, "%", 1))
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "no header: the first line is \"elements [weights]\"");
    enum lbm_err err = lbm_scan_u64(s, &field_elements, &header->elements);
    if (err == LBM_OK && !lbm_scan_line_done(s))
        err = lbm_scan_u64(s, &field_weights, &weights);
    if (err == LBM_OK)
        err = lbm_scan_expect_line_end(s, "the header");
    if (err == LBM_OK && weights > 1)
        return lbm_scan_refuse(s, LBM_E_UNSUPPORTED,
                               "%" PRIu64 " weights an element are not supported; if this is the type of the "
                               "elements, as METIS 4 has it, leave it out",
                               weights);
    if (err == LBM_OK && header->elements > len)
        return lbm_scan_refuse(s, LBM_E_SYNTAX,
                               "the header announces %" PRIu64
                               " elements: the file is truncated or the header wrong",
                               header->elements);
    header->weighted = weights == 1;
    return err;
}

static enum lbm_err
read_element(struct lbm_scan *s, const struct header *header, struct lbm_mesh *mesh)
{
    double work = 1;
    enum lbm_err err = lbm_mesh_element(mesh, s);
    if (err == LBM_OK && header->weighted)
        err = lbm_scan_weight(s, s->work, &work);
    if (err == LBM_OK && header->weighted && lbm_vec_push(&mesh->work, work) != LBM_OK)
        err = lbm_scan_refuse(s, LBM_E_NOMEM, "no memory for the weights");
    if (err == LBM_OK && lbm_scan_line_done(s))
        err = lbm_scan_refuse(s, LBM_E_SYNTAX, "an element without nodes");
    while (err == LBM_OK && !lbm_scan_line_done(s)) {
        uint32_t node = 0;
        err = lbm_scan_u32(s, &field_node, &node);
        if (err == LBM_OK)
            err = lbm_mesh_node(mesh, s, node);
    }
    return err;
}

/* A weight and two nodes a line may be METIS 4's triangles, whose type is 1. */
static enum lbm_err
check_triangles(const struct lbm_scan *s, const struct header *header, const struct lbm_mesh *mesh)
{
    int all = header->weighted && mesh->begin.n > 0;
    for (size_t e = 0; e < mesh->begin.n && all; e++)
        all = mesh->begin.at[e] == 2 * e;
    if (!all || mesh->node.n != 2 * mesh->begin.n)
        return LBM_OK;
    return lbm_diag_set(s->diag, LBM_E_UNSUPPORTED, s->name, 0,
                        "each element has three numbers, a weight and two nodes or, as METIS 4 has it, three "
                        "nodes: leave the second number of the header out if they are triangles");
}

enum lbm_err
lbm_read_mesh(struct lbm_scan *s, struct lbm_graph *out)
{
    struct lbm_mesh mesh = {0};
    struct header header = {0};
    size_t len = (size_t)(s->end - s->at);
    enum lbm_err err = read_header(s, len, &header);
    for (uint64_t e = 0; e < header.elements && err == LBM_OK; e++) {
        lbm_scan_next_line(s);
        if (lbm_scan_skip_lines(s, "%", 1))
            err = lbm_scan_refuse(s, LBM_E_SYNTAX, "the file ends after %" PRIu64 " of %" PRIu64 " elements",
                                  e, header.elements);
        else
            err = read_element(s, &header, &mesh);
    }
    if (err == LBM_OK) {
        lbm_scan_next_line(s);
        err = lbm_scan_expect_text_end(s, "%", "the last element");
    }
    if (err == LBM_OK)
        err = check_triangles(s, &header, &mesh);
    if (err == LBM_OK)
        err = lbm_mesh_dual(&mesh, s, 1, len, out);
    lbm_mesh_free(&mesh);
    return err;
}
