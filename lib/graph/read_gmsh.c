/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gmsh meshes in ASCII, versions 2 and 4.1: the elements of the highest dimension are the vertices of the
 * dual graph; those of a side or an edge are left out. Of elements of higher order only the corners count.
 * Source: Gmsh reference manual, "MSH file format". */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/mesh.h"
#include "graph/readers.h"

enum { NODES_MAX = 125 }; /* of an element of any known type */

/* Types of elements: dimension, nodes, corners. */
static const struct type {
    uint8_t dimension, nodes, corners;
} types[] = {[1] = {1, 2, 2},   [2] = {2, 3, 3},   [3] = {2, 4, 4},   [4] = {3, 4, 4},   [5] = {3, 8, 8},
             [6] = {3, 6, 6},   [7] = {3, 5, 5},   [8] = {1, 3, 2},   [9] = {2, 6, 3},   [10] = {2, 9, 4},
             [11] = {3, 10, 4}, [12] = {3, 27, 8}, [13] = {3, 18, 6}, [14] = {3, 14, 5}, [15] = {0, 1, 1},
             [16] = {2, 8, 4},  [17] = {3, 20, 8}, [18] = {3, 15, 6}, [19] = {3, 13, 5}, [20] = {2, 9, 3},
             [21] = {2, 10, 3}, [22] = {2, 12, 3}, [23] = {2, 15, 3}, [24] = {2, 15, 3}, [25] = {2, 21, 3},
             [26] = {1, 4, 2},  [27] = {1, 5, 2},  [28] = {1, 6, 2},  [29] = {3, 20, 4}, [30] = {3, 35, 4},
             [31] = {3, 56, 4}, [92] = {3, 64, 8}, [93] = {3, 125, 8}};

enum { TYPES = sizeof types / sizeof types[0] };

static const struct lbm_field field_count = {"count", 0, LBM_EDGE_DIRECTIONS_MAX, ""};
static const struct lbm_field field_tag = {"tag", 0, UINT64_C(999999999999999999), ""};
static const struct lbm_field field_type = {"type of element", 1, TYPES - 1, "other types are not known"};
static const struct lbm_field field_node = {"node", 1, UINT32_MAX - 1, ""};
static const struct lbm_field field_dimension = {"dimension", 0, 3, ""};

struct gmsh {
    int version; /* 2 or 4 */
    int has_elements;
    uint8_t dimension; /* of the mesh, so far */
    uint64_t dropped;  /* elements of a lower one */
    struct lbm_mesh mesh;
};

/* The next number, on whatever line it is. */
static enum lbm_err
next(struct lbm_scan *s, const struct lbm_field *field, uint64_t *value)
{
    if (lbm_scan_text_done(s))
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "the file ends before the %s", field->what);
    return lbm_scan_u64(s, field, value);
}

static enum lbm_err
read_version(struct lbm_scan *s, struct gmsh *m)
{
    double version;
    uint64_t binary = 0;
    lbm_scan_next_line(s);
    enum lbm_err err = lbm_scan_real(s, "version", &version);
    if (err == LBM_OK)
        err = lbm_scan_u64(s, &field_tag, &binary);
    if (err != LBM_OK)
        return err;
    if (binary != 0)
        return lbm_scan_refuse(s, LBM_E_UNSUPPORTED, "binary meshes are not read: save the mesh as ASCII");
    m->version = version >= 2 && version < 3 ? 2 : version >= 4.05 && version < 5 ? 4 : 0;
    if (m->version == 0)
        return lbm_scan_refuse(s, LBM_E_UNSUPPORTED,
                               "version %.3g is not read: save the mesh as version 2.2 or 4.1", version);
    return LBM_OK;
}

/* Keep an element if it is of the highest dimension so far; a higher one drops all before it. */
static enum lbm_err
keep(struct lbm_scan *s, struct gmsh *m, const struct type *type, uint64_t tag, const uint64_t *node)
{
    char name[24];
    if (type->dimension < m->dimension) {
        m->dropped++;
        return LBM_OK;
    }
    if (type->dimension > m->dimension) {
        m->dropped += m->mesh.begin.n;
        lbm_mesh_free(&m->mesh);
        m->dimension = type->dimension;
    }
    int len = snprintf(name, sizeof name, "%" PRIu64, tag);
    enum lbm_err err = lbm_mesh_element(&m->mesh, s);
    if (err == LBM_OK && lbm_names_add(&m->mesh.names, name, (size_t)len) != LBM_OK)
        err = lbm_scan_refuse(s, LBM_E_NOMEM, "no memory for the elements");
    for (unsigned i = 0; i < type->corners && err == LBM_OK; i++)
        err = lbm_mesh_node(&m->mesh, s, (uint32_t)node[i]);
    return err;
}

/* The nodes of an element, which is kept. */
static enum lbm_err
read_nodes(struct lbm_scan *s, struct gmsh *m, uint64_t type, uint64_t tag)
{
    uint64_t node[NODES_MAX];
    enum lbm_err err = LBM_OK;
    for (unsigned i = 0; i < types[type].nodes && err == LBM_OK; i++)
        err = lbm_scan_u64(s, &field_node, &node[i]);
    if (err == LBM_OK)
        err = lbm_scan_expect_line_end(s, "an element");
    return err == LBM_OK ? keep(s, m, &types[type], tag, node) : err;
}

static enum lbm_err
read_type(struct lbm_scan *s, uint64_t *type)
{
    enum lbm_err err = next(s, &field_type, type);
    if (err == LBM_OK && types[*type].nodes == 0)
        err = lbm_scan_refuse(s, LBM_E_UNSUPPORTED, "elements of type %" PRIu64 " are not known", *type);
    return err;
}

/* Version 2: "tag type n_tags tag ... node ..." a line. */
static enum lbm_err
read_elements_2(struct lbm_scan *s, struct gmsh *m)
{
    uint64_t count = 0;
    enum lbm_err err = next(s, &field_count, &count);
    for (uint64_t e = 0; e < count && err == LBM_OK; e++) {
        uint64_t tag = 0, type = 1, tags = 0;
        double ignored; /* partitions of ghosts are negative */
        err = next(s, &field_tag, &tag);
        if (err == LBM_OK)
            err = read_type(s, &type);
        if (err == LBM_OK)
            err = lbm_scan_u64(s, &field_count, &tags);
        for (uint64_t i = 0; i < tags && err == LBM_OK; i++)
            err = lbm_scan_real(s, "tag", &ignored);
        if (err == LBM_OK)
            err = read_nodes(s, m, type, tag);
    }
    return err;
}

/* Version 4.1: blocks "dimension entity type count", then "tag node ..." a line. */
static enum lbm_err
read_elements_4(struct lbm_scan *s, struct gmsh *m)
{
    uint64_t blocks = 0, ignored;
    enum lbm_err err = next(s, &field_count, &blocks);
    for (int i = 0; i < 3 && err == LBM_OK; i++)
        err = lbm_scan_u64(s, &field_tag, &ignored);
    for (uint64_t b = 0; b < blocks && err == LBM_OK; b++) {
        uint64_t type = 1, count = 0, tag = 0;
        double entity;
        err = next(s, &field_dimension, &ignored);
        if (err == LBM_OK)
            err = lbm_scan_real(s, "entity", &entity); /* may be negative */
        if (err == LBM_OK)
            err = read_type(s, &type);
        if (err == LBM_OK)
            err = lbm_scan_u64(s, &field_count, &count);
        for (uint64_t e = 0; e < count && err == LBM_OK; e++) {
            err = next(s, &field_tag, &tag);
            if (err == LBM_OK)
                err = read_nodes(s, m, type, tag);
        }
    }
    return err;
}

/* Go behind the line "$End..." of a section that means nothing here. */
static void
skip_section(struct lbm_scan *s)
{
    while (lbm_scan_next_line(s))
        if (s->end - s->at >= 4 && memcmp(s->at, "$End", 4) == 0)
            return;
}

static enum lbm_err
read_section(struct lbm_scan *s, struct gmsh *m)
{
    if (lbm_scan_word(s, "$MeshFormat")) {
        enum lbm_err err = read_version(s, m);
        skip_section(s);
        return err;
    }
    if (!lbm_scan_word(s, "$Elements")) {
        if (s->at == s->end || *s->at != '$')
            return lbm_scan_refuse(s, LBM_E_SYNTAX, "not a Gmsh mesh: a line that begins with $ is missing");
        skip_section(s);
        return LBM_OK;
    }
    if (m->version == 0)
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "there is no $MeshFormat before the elements");
    m->has_elements = 1;
    enum lbm_err err = m->version == 2 ? read_elements_2(s, m) : read_elements_4(s, m);
    if (err == LBM_OK && (lbm_scan_text_done(s) || !lbm_scan_word(s, "$EndElements")))
        err = lbm_scan_refuse(s, LBM_E_SYNTAX, "$EndElements is missing: more elements than announced");
    return err;
}

enum lbm_err
lbm_read_gmsh(struct lbm_scan *s, struct lbm_graph *out)
{
    struct gmsh m = {0};
    size_t len = (size_t)(s->end - s->at);
    enum lbm_err err = LBM_OK;
    while (err == LBM_OK && !lbm_scan_text_done(s)) {
        err = read_section(s, &m);
        lbm_scan_next_line(s);
    }
    if (err == LBM_OK && !m.has_elements)
        err = lbm_scan_refuse(s, LBM_E_SYNTAX, "there are no $Elements");
    if (err == LBM_OK)
        err = lbm_mesh_dual(&m.mesh, s, m.dimension > 0 ? m.dimension : 1, len, out);
    if (err == LBM_OK && m.dropped > 0)
        lbm_reading_remark(s->reading,
                           "%" PRIu64 " elements below dimension %u were left out: they are sides or edges",
                           m.dropped, m.dimension);
    lbm_mesh_free(&m.mesh);
    return err;
}
