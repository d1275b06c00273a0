/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm's topology.yaml: a list of topologies, of which one is read. The YAML is libyaml's.
 *
 * What is not known is refused, so that nothing of a file is lost without a word; how jobs are placed
 * (placements) is none of our business. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "host/slurm.h"

/* A document and the topology that is made of it. */
struct reader {
    yaml_document_t doc;
    struct slurm_topology *t;
};

static uint64_t
line_of(const yaml_node_t *node)
{
    return (uint64_t)node->start_mark.line + 1;
}

static struct slurm_text
text_of(const yaml_node_t *node)
{
    if (node->type != YAML_SCALAR_NODE)
        return (struct slurm_text){"", 0};
    return (struct slurm_text){(const char *)node->data.scalar.value, node->data.scalar.length};
}

static enum lbm_err
refuse(struct reader *r, const yaml_node_t *node, const char *problem)
{
    return lbm_slurm_refuse(r->t, line_of(node), LBM_E_SYNTAX, problem, text_of(node));
}

static int
is_word(const yaml_node_t *node, const char *word)
{
    struct slurm_text text = text_of(node);
    return text.len == strlen(word) && memcmp(text.at, word, text.len) == 0;
}

/* ---- schema: the members a mapping may have, each with what reads it ----------------------------------- */

struct member {
    const char *key;
    yaml_node_t **node; /* where the value goes; NULL: it is not looked at */
};

/* Find the members of a mapping. Out: nodes, NULL where there is none. */
static enum lbm_err
take_members(struct reader *r, yaml_node_t *map, const struct member *members)
{
    if (map->type != YAML_MAPPING_NODE)
        return refuse(r, map, "members with values are expected here, as in \"nodes: n[1-4]\"");
    for (const struct member *m = members; m->key != NULL; m++)
        if (m->node != NULL)
            *m->node = NULL;
    for (yaml_node_pair_t *pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top; pair++) {
        yaml_node_t *key = yaml_document_get_node(&r->doc, pair->key);
        const struct member *m = members;
        while (m->key != NULL && !is_word(key, m->key))
            m++;
        if (m->key == NULL)
            return refuse(r, key, "not understood here");
        if (m->node != NULL && *m->node != NULL)
            return refuse(r, key, "given twice");
        if (m->node != NULL)
            *m->node = yaml_document_get_node(&r->doc, pair->value);
    }
    return LBM_OK;
}

typedef enum lbm_err item_reader(struct reader *r, yaml_node_t *item, void *arg);

static enum lbm_err
each_item(struct reader *r, yaml_node_t *list, item_reader *read, void *arg)
{
    if (list->type != YAML_SEQUENCE_NODE)
        return refuse(r, list, "a list is expected here");
    enum lbm_err err = LBM_OK;
    for (yaml_node_item_t *item = list->data.sequence.items.start;
         err == LBM_OK && item < list->data.sequence.items.top; item++)
        err = read(r, yaml_document_get_node(&r->doc, *item), arg);
    return err;
}

/* A number from min to 10^9. */
static enum lbm_err
take_number(struct reader *r, yaml_node_t *node, uint64_t min, uint64_t *number)
{
    struct slurm_text text = text_of(node);
    *number = 0;
    size_t i = 0;
    for (; i < text.len && text.at[i] >= '0' && text.at[i] <= '9' && *number < 100000000; i++)
        *number = 10 * *number + (uint64_t)(text.at[i] - '0');
    return text.len != 0 && i == text.len && *number >= min ? LBM_OK : refuse(r, node, "no fitting number");
}

static enum lbm_err
add_entry(struct reader *r, yaml_node_t *item, const struct slurm_entry *entry)
{
    if (r->t->entries.n == LBM_NETWORK_MAX)
        return refuse(r, item, "too many switches, blocks or rings");
    return lbm_vec_push(&r->t->entries, *entry);
}

/* Name and nodes of an item; both must be words. Out: *entry, without its name if name is NULL. */
static enum lbm_err
make_entry(struct reader *r, yaml_node_t *item, yaml_node_t *name, yaml_node_t *nodes,
           struct slurm_entry *entry)
{
    *entry = (struct slurm_entry){.line = line_of(item)};
    if (name == NULL || text_of(name).len == 0)
        return refuse(r, item, "a name is missing here");
    entry->name = text_of(name);
    if (nodes != NULL && nodes->type != YAML_SCALAR_NODE)
        return refuse(r, nodes, "a list of names is one word, as in n[1-4],login");
    if (nodes != NULL)
        entry->nodes = text_of(nodes);
    return LBM_OK;
}

/* ---- trees and blocks ---------------------------------------------------------------------------------- */

static enum lbm_err
read_switch(struct reader *r, yaml_node_t *item, void *arg)
{
    (void)arg;
    yaml_node_t *name, *children, *nodes;
    struct slurm_entry entry;
    enum lbm_err err = take_members(r, item,
                                    (const struct member[]){{"switch", &name},
                                                            {"children", &children},
                                                            {"nodes", &nodes},
                                                            {"link_speed", NULL},
                                                            {NULL, NULL}});
    if (err == LBM_OK)
        err = make_entry(r, item, name, nodes, &entry);
    if (err != LBM_OK)
        return err;
    if (children != NULL && children->type != YAML_SCALAR_NODE)
        return refuse(r, children, "a list of names is one word, as in s[1-4],core");
    if (children != NULL)
        entry.switches = text_of(children);
    if ((entry.nodes.len == 0) == (entry.switches.len == 0))
        return refuse(r, name, "a switch has either nodes or children; not so");
    return add_entry(r, item, &entry);
}

static enum lbm_err
read_tree(struct reader *r, yaml_node_t *node)
{
    yaml_node_t *switches;
    enum lbm_err err = take_members(r, node, (const struct member[]){{"switches", &switches}, {NULL, NULL}});
    r->t->kind = SLURM_TREE;
    if (err == LBM_OK && switches == NULL)
        err = refuse(r, node, "a tree has switches");
    return err == LBM_OK ? each_item(r, switches, read_switch, NULL) : err;
}

static enum lbm_err
read_block(struct reader *r, yaml_node_t *item, void *arg)
{
    (void)arg;
    yaml_node_t *name, *nodes;
    struct slurm_entry entry;
    enum lbm_err err =
        take_members(r, item, (const struct member[]){{"block", &name}, {"nodes", &nodes}, {NULL, NULL}});
    if (err == LBM_OK)
        err = make_entry(r, item, name, nodes, &entry);
    return err == LBM_OK ? add_entry(r, item, &entry) : err;
}

static enum lbm_err
read_block_size(struct reader *r, yaml_node_t *item, void *arg)
{
    (void)arg;
    if (r->t->n_block_sizes == SLURM_BLOCK_SIZES_MAX)
        return refuse(r, item, "more than 16 block sizes");
    return take_number(r, item, 1, &r->t->block_size[r->t->n_block_sizes++]);
}

static enum lbm_err
read_blocks(struct reader *r, yaml_node_t *node)
{
    yaml_node_t *sizes, *blocks;
    enum lbm_err err = take_members(
        r, node, (const struct member[]){{"block_sizes", &sizes}, {"blocks", &blocks}, {NULL, NULL}});
    r->t->kind = SLURM_BLOCK;
    if (err == LBM_OK && blocks == NULL)
        err = refuse(r, node, "there are no blocks");
    if (err == LBM_OK && sizes != NULL) {
        r->t->sizes_line = line_of(sizes);
        err = each_item(r, sizes, read_block_size, NULL);
    }
    return err == LBM_OK ? each_item(r, blocks, read_block, NULL) : err;
}

/* ---- rings and tori ------------------------------------------------------------------------------------ */

static enum lbm_err
read_ring(struct reader *r, yaml_node_t *item, void *arg)
{
    (void)arg;
    yaml_node_t *name, *nodes;
    struct slurm_entry entry;
    enum lbm_err err =
        take_members(r, item, (const struct member[]){{"ring", &name}, {"nodes", &nodes}, {NULL, NULL}});
    if (err == LBM_OK)
        err = make_entry(r, item, name, nodes, &entry);
    entry.torus = (uint32_t)r->t->entries.n;
    return err == LBM_OK ? add_entry(r, item, &entry) : err;
}

static enum lbm_err
read_rings(struct reader *r, yaml_node_t *node)
{
    yaml_node_t *rings;
    enum lbm_err err = take_members(r, node, (const struct member[]){{"rings", &rings}, {NULL, NULL}});
    r->t->kind = SLURM_TORUS;
    if (err == LBM_OK && rings == NULL)
        err = refuse(r, node, "there are no rings");
    return err == LBM_OK ? each_item(r, rings, read_ring, NULL) : err;
}

/* The numbers x, y and z. */
static enum lbm_err
read_xyz(struct reader *r, yaml_node_t *node, uint64_t min, uint32_t *xyz)
{
    yaml_node_t *axis[3];
    enum lbm_err err = take_members(
        r, node, (const struct member[]){{"x", &axis[0]}, {"y", &axis[1]}, {"z", &axis[2]}, {NULL, NULL}});
    for (int k = 0; err == LBM_OK && k < 3; k++) {
        uint64_t number = 0;
        err =
            axis[k] != NULL ? take_number(r, axis[k], min, &number) : refuse(r, node, "x, y or z is missing");
        if (err == LBM_OK && number > LBM_NETWORK_MAX)
            err = refuse(r, axis[k], "too large");
        xyz[k] = (uint32_t)number;
    }
    return err;
}

/* A part of a torus with a list of nodes. In: arg the entry of the torus. */
static enum lbm_err
read_region(struct reader *r, yaml_node_t *item, void *arg)
{
    struct slurm_entry entry = *(const struct slurm_entry *)arg;
    yaml_node_t *anchor, *dims, *nodes;
    enum lbm_err err = take_members(
        r, item,
        (const struct member[]){{"anchor", &anchor}, {"dims", &dims}, {"nodes", &nodes}, {NULL, NULL}});
    if (err == LBM_OK && (anchor == NULL || dims == NULL || nodes == NULL || nodes->type != YAML_SCALAR_NODE))
        err = refuse(r, item, "a region has anchor, dims and nodes");
    if (err != LBM_OK)
        return err;
    entry.line = line_of(item);
    entry.nodes = text_of(nodes);
    err = read_xyz(r, anchor, 0, entry.anchor);
    if (err == LBM_OK)
        err = read_xyz(r, dims, 1, entry.dims);
    for (int k = 0; err == LBM_OK && k < 3; k++)
        if (entry.anchor[k] + entry.dims[k] > entry.torus_dims[k])
            err = refuse(r, item, "the region does not fit into its torus");
    return err == LBM_OK ? add_entry(r, item, &entry) : err;
}

static enum lbm_err
read_torus(struct reader *r, yaml_node_t *item, void *arg)
{
    yaml_node_t *name, *dims, *nodes, *regions;
    uint32_t *count = arg;
    struct slurm_entry entry;
    enum lbm_err err = take_members(r, item,
                                    (const struct member[]){{"name", &name},
                                                            {"dims", &dims},
                                                            {"nodes", &nodes},
                                                            {"regions", &regions},
                                                            {"placements", NULL},
                                                            {NULL, NULL}});
    if (err == LBM_OK)
        err = make_entry(r, item, name, nodes, &entry);
    if (err == LBM_OK && (dims == NULL || (nodes == NULL) == (regions == NULL)))
        err = refuse(r, item, "a torus has dims, and either nodes or regions");
    if (err == LBM_OK)
        err = read_xyz(r, dims, 1, entry.torus_dims);
    if (err != LBM_OK)
        return err;
    entry.torus = (*count)++;
    memcpy(entry.dims, entry.torus_dims, sizeof entry.dims);
    return regions != NULL ? each_item(r, regions, read_region, &entry) : add_entry(r, item, &entry);
}

static enum lbm_err
read_tori(struct reader *r, yaml_node_t *node)
{
    yaml_node_t *tori;
    uint32_t count = 0;
    enum lbm_err err = take_members(r, node, (const struct member[]){{"toruses", &tori}, {NULL, NULL}});
    r->t->kind = SLURM_TORUS;
    if (err == LBM_OK && tori == NULL)
        err = refuse(r, node, "there are no toruses");
    return err == LBM_OK ? each_item(r, tori, read_torus, &count) : err;
}

/* ---- topologies ---------------------------------------------------------------------------------------- */

static enum lbm_err
read_flat(struct reader *r, yaml_node_t *node)
{
    return refuse(r, node,
                  "a flat topology lists no nodes; give a hostfile, or hosts as complete:N@names=FILE");
}

enum { KINDS = 5 };

static const struct kind {
    const char *key;
    enum lbm_err (*read)(struct reader *r, yaml_node_t *node);
} kinds[KINDS] = {
    {"tree", read_tree},    {"block", read_blocks}, {"ring", read_rings},
    {"torus3d", read_tori}, {"flat", read_flat},
};

struct topology {
    yaml_node_t *name, *is_default, *kind[KINDS];
};

static enum lbm_err
take_topology(struct reader *r, yaml_node_t *item, struct topology *out)
{
    struct member members[KINDS + 3] = {{"topology", &out->name}, {"cluster_default", &out->is_default}};
    for (int k = 0; k < KINDS; k++)
        members[k + 2] = (struct member){kinds[k].key, &out->kind[k]};
    enum lbm_err err = take_members(r, item, members);
    if (err == LBM_OK && (out->name == NULL || text_of(out->name).len == 0))
        err = refuse(r, item, "a topology has a name first: \"- topology: NAME\"");
    int n = 0;
    for (int k = 0; err == LBM_OK && k < KINDS; k++)
        n += out->kind[k] != NULL;
    if (err == LBM_OK && n != 1)
        err = refuse(r, out->name, "a topology is one of tree, block, ring, torus3d and flat; not so");
    return err;
}

/* The topology that was asked for; else the first that is the cluster's; else the first of all. */
struct choice {
    yaml_node_t *first, *cluster, *asked;
};

static enum lbm_err
consider(struct reader *r, yaml_node_t *item, void *arg)
{
    struct choice *choice = arg;
    struct topology topology;
    enum lbm_err err = take_topology(r, item, &topology);
    if (err != LBM_OK)
        return err;
    if (choice->first == NULL)
        choice->first = item;
    if (choice->cluster == NULL && topology.is_default != NULL && text_of(topology.is_default).len == 4 &&
        strncasecmp(text_of(topology.is_default).at, "true", 4) == 0)
        choice->cluster = item;
    if (choice->asked == NULL && r->t->how->topology != NULL && is_word(topology.name, r->t->how->topology))
        choice->asked = item;
    return LBM_OK;
}

static enum lbm_err
read_document(struct reader *r)
{
    yaml_node_t *root = yaml_document_get_root_node(&r->doc);
    struct choice choice = {0};
    if (root == NULL)
        return lbm_scan_refuse(&r->t->scan, LBM_E_SYNTAX, "the document is empty");
    enum lbm_err err = each_item(r, root, consider, &choice);
    const char *asked = r->t->how->topology;
    if (err == LBM_OK && asked != NULL && choice.asked == NULL)
        return lbm_slurm_refuse(r->t, line_of(root), LBM_E_RANGE, "there is no such topology",
                                (struct slurm_text){asked, strlen(asked)});
    if (err == LBM_OK && choice.first == NULL)
        err = refuse(r, root, "there is no topology");
    if (err != LBM_OK)
        return err;
    struct topology topology;
    yaml_node_t *chosen = choice.asked != NULL     ? choice.asked
                          : choice.cluster != NULL ? choice.cluster
                                                   : choice.first;
    err = take_topology(r, chosen, &topology);
    for (int k = 0; err == LBM_OK && k < KINDS; k++)
        if (topology.kind[k] != NULL)
            err = kinds[k].read(r, topology.kind[k]);
    if (err == LBM_OK && r->t->entries.n == 0)
        err = refuse(r, topology.name, "this topology is empty");
    return err;
}

enum lbm_err
lbm_hosts_read_slurm_yaml(const char *name, const char *text, size_t len, const struct lbm_hosts_reading *how,
                          struct lbm_hosts *out, struct lbm_diag *diag)
{
    struct slurm_topology t = {.how = how};
    struct reader r = {.t = &t};
    yaml_parser_t parser;
    lbm_scan_begin(&t.scan, name, text, len, diag);
    if (!yaml_parser_initialize(&parser))
        return LBM_E_NOMEM;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    enum lbm_err err;
    if (!yaml_parser_load(&parser, &r.doc)) {
        t.scan.line = (uint64_t)parser.problem_mark.line + 1;
        err = parser.error == YAML_MEMORY_ERROR
                  ? LBM_E_NOMEM
                  : lbm_scan_refuse(&t.scan, LBM_E_SYNTAX, "not YAML: %s",
                                    parser.problem != NULL ? parser.problem : "it cannot be read");
    } else {
        err = read_document(&r);
        if (err == LBM_OK)
            err = lbm_slurm_hosts(&t, out);
        lbm_slurm_free(&t);
        yaml_document_delete(&r.doc);
    }
    yaml_parser_delete(&parser);
    return err;
}
