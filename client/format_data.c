/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings for programs that read structure: JSON and GraphML. */
#include <stdlib.h>
#include <string.h>

#include "client/formats.h"
#include "graph/writers.h"

/* ---- JSON ---------------------------------------------------------------------------------------- */

static json_t *
names_array(const struct lbm_hosts *h)
{
    char id[LBM_HOST_ID_BYTES];
    json_t *array = json_array();
    for (uint32_t p = 0; p < h->n; p++)
        if (json_array_append_new(array, json_string(lbm_host_label(h, p, id))) != 0)
            break;
    return array;
}

static json_t *
loads_array(const struct lbm_mapping *mapping)
{
    uint64_t *load = lbm_alloc(mapping->h->n, sizeof *load);
    if (load == NULL)
        return NULL;
    lbm_map_loads(mapping->g, mapping->h->n, mapping->plan->part, load);
    json_t *array = json_array();
    for (uint32_t p = 0; p < mapping->h->n; p++)
        if (json_array_append_new(array, json_integer((json_int_t)load[p])) != 0)
            break;
    free(load);
    return array;
}

static json_t *
part_array(const struct lbm_mapping *mapping)
{
    json_t *array = json_array();
    for (uint32_t v = 0; v < mapping->g->n; v++)
        if (json_array_append_new(array, json_integer(mapping->plan->part[v])) != 0)
            break;
    return array;
}

static json_t *
id_array(const struct lbm_mapping *mapping)
{
    json_t *array = json_array();
    for (uint32_t v = 0; v < mapping->g->n; v++)
        if (json_array_append_new(array, json_integer(mapping->id[v])) != 0)
            break;
    return array;
}

static json_t *
vertex_names_array(const struct lbm_mapping *mapping)
{
    json_t *array = json_array();
    for (uint32_t v = 0; v < mapping->g->n; v++)
        if (json_array_append_new(array, json_string(lbm_graph_name(mapping->g, v))) != 0)
            break;
    return array;
}

/* The figures of the report, host names, their loads, and the host of each vertex; and which vertices these
 * are, if they are not 0, 1, ... */
enum lbm_err
lbm_map_write_json(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    (void)diag;
    json_t *names = names_array(mapping->h), *loads = loads_array(mapping), *part = part_array(mapping);
    int complete = json_array_size(names) == mapping->h->n && json_array_size(loads) == mapping->h->n &&
                   json_array_size(part) == mapping->g->n;
    json_t *object = lbm_output_object(lbm_report_fields, mapping->n_figures, mapping->report);
    /* A mapping is the same whenever it is made. */
    (void)json_object_del(object, "time_s");
    int failed = json_object_set_new(object, "host_names", names) != 0;
    failed |= json_object_set_new(object, "load", loads) != 0;
    failed |= json_object_set_new(object, "part", part) != 0;
    if (mapping->id != NULL)
        failed |= json_object_set_new(object, "vertex", id_array(mapping)) != 0;
    if (mapping->g->name != NULL) {
        json_t *vertices = vertex_names_array(mapping);
        failed |= json_array_size(vertices) != mapping->g->n;
        failed |= json_object_set_new(object, "vertex_names", vertices) != 0;
    }
    char *text = complete && !failed ? json_dumps(object, JSON_COMPACT | LBM_JSON_FLAGS) : NULL;
    json_decref(object);
    if (text == NULL)
        return LBM_E_NOMEM;
    lbm_buf_put(out, text, strlen(text));
    lbm_buf_put(out, "\n", 1);
    free(text);
    return LBM_OK;
}

/* ---- GraphML ------------------------------------------------------------------------------------- */

static const char graphml_head[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
    "  <key id=\"vertex_weight\" for=\"node\" attr.name=\"weight\" attr.type=\"long\"/>\n"
    "  <key id=\"host\" for=\"node\" attr.name=\"host\" attr.type=\"int\"/>\n"
    "  <key id=\"host_name\" for=\"node\" attr.name=\"host_name\" attr.type=\"string\"/>\n"
    "  <key id=\"pinned\" for=\"node\" attr.name=\"pinned\" attr.type=\"boolean\"/>\n"
    "  <key id=\"x\" for=\"node\" attr.name=\"x\" attr.type=\"double\"/>\n"
    "  <key id=\"y\" for=\"node\" attr.name=\"y\" attr.type=\"double\"/>\n"
    "  <key id=\"z\" for=\"node\" attr.name=\"z\" attr.type=\"double\"/>\n"
    "  <key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"long\"/>\n"
    "  <graph edgedefault=\"undirected\">\n";

/* The name of a vertex in the guest, or its id. */
static void
put_vertex(const struct lbm_mapping *mapping, uint32_t v, struct lbm_buf *out)
{
    if (mapping->g->name != NULL)
        lbm_write_escaped(out, lbm_graph_name(mapping->g, v));
    else
        lbm_buf_u64(out, lbm_mapping_id(mapping, v));
}

static void
put_node(const struct lbm_mapping *mapping, uint32_t v, struct lbm_buf *out)
{
    static const char *const axes[] = {"x", "y", "z"};
    const struct lbm_graph *g = mapping->g;
    const struct lbm_plan *plan = mapping->plan;
    lbm_buf_printf(out, "    <node id=\"");
    put_vertex(mapping, v, out);
    lbm_buf_printf(out, "\"><data key=\"vertex_weight\">%u</data><data key=\"host\">%u</data>",
                   lbm_graph_work(g, v), plan->part[v]);
    if (mapping->h->name != NULL) {
        lbm_buf_printf(out, "<data key=\"host_name\">");
        lbm_write_escaped(out, mapping->h->name[plan->part[v]]);
        lbm_buf_printf(out, "</data>");
    }
    if (g->pin != NULL && g->pin[v] != LBM_NONE)
        lbm_buf_printf(out, "<data key=\"pinned\">true</data>");
    /* The guest's own positions are worth more to a reader than ours. */
    const double *x = g->position != NULL ? g->position + 2 * (size_t)v : plan->x + (size_t)plan->m * v;
    for (unsigned k = 0; k < (g->position != NULL ? 2 : plan->m); k++)
        lbm_buf_printf(out, "<data key=\"%s\">%.17g</data>", axes[k], x[k]);
    lbm_buf_printf(out, "</node>\n");
}

static void
put_edge(const struct lbm_mapping *mapping, uint32_t v, uint64_t direction, struct lbm_buf *out)
{
    lbm_buf_printf(out, "    <edge source=\"");
    put_vertex(mapping, v, out);
    lbm_buf_printf(out, "\" target=\"");
    put_vertex(mapping, mapping->g->target[direction], out);
    lbm_buf_printf(out, "\"><data key=\"weight\">%u</data></edge>\n",
                   lbm_graph_weight(mapping->g, direction));
}

/* The guest as lbctl reads it again, each vertex with its host. A host alone does not pin a vertex. */
enum lbm_err
lbm_map_write_graphml(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    (void)diag;
    const struct lbm_graph *g = mapping->g;
    lbm_buf_put(out, graphml_head, sizeof graphml_head - 1);
    for (uint32_t v = 0; v < g->n; v++)
        put_node(mapping, v, out);
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t d = g->offset[v]; d < g->offset[v + 1]; d++)
            if (g->target[d] > v)
                put_edge(mapping, v, d, out);
    lbm_buf_printf(out, "  </graph>\n</graphml>\n");
    return LBM_OK;
}
