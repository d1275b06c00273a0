/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Named topologies: one row each of numbers, size, links and sites. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "host/internal.h"

enum { NUMBERS_MAX = LBM_GROUP_LEVELS_MAX };

/* ---- sizes; a result above LBM_HOSTS_MAX means too large ----------------------------------------- */

static uint64_t
size_product(const uint32_t *dims, unsigned n_dims)
{
    uint64_t size = 1;
    for (unsigned k = 0; k < n_dims; k++)
        size = size > LBM_HOSTS_MAX ? size : size * dims[k];
    return size;
}

static uint64_t
size_hypercube(const uint32_t *dims, unsigned n_dims)
{
    (void)n_dims;
    return dims[0] < 32 ? UINT64_C(1) << dims[0] : UINT64_MAX;
}

static uint64_t
size_tree(const uint32_t *dims, unsigned n_dims)
{
    (void)n_dims;
    uint64_t size = 1, level = 1;
    for (uint32_t depth = 0; depth < dims[0] && size <= LBM_HOSTS_MAX; depth++)
        size += level *= dims[1];
    return size;
}

/* ---- links --------------------------------------------------------------------------------------- */

static enum lbm_err
add(struct lbm_link_vec *links, uint32_t p, uint32_t q)
{
    struct lbm_link link = {p, q, 1};
    return lbm_vec_push(links, link);
}

/* Every axis is a chain, or a ring if wrap; the wrap link of a ring of two is the link it has already. */
static enum lbm_err
link_axes(const uint32_t *dims, unsigned n_dims, int wrap, uint32_t n, struct lbm_link_vec *links)
{
    enum lbm_err err = LBM_OK;
    uint32_t stride = 1;
    for (unsigned k = 0; k < n_dims; stride *= dims[k++])
        for (uint32_t p = 0; p < n && err == LBM_OK; p++) {
            uint32_t c = p / stride % dims[k];
            if (c + 1 < dims[k])
                err = add(links, p, p + stride);
            else if (wrap && dims[k] > 2)
                err = add(links, p, p - c * stride);
        }
    return err;
}

static enum lbm_err
link_mesh(const uint32_t *dims, unsigned n_dims, uint32_t n, struct lbm_link_vec *links)
{
    return link_axes(dims, n_dims, 0, n, links);
}

static enum lbm_err
link_torus(const uint32_t *dims, unsigned n_dims, uint32_t n, struct lbm_link_vec *links)
{
    return link_axes(dims, n_dims, 1, n, links);
}

static enum lbm_err
link_hypercube(const uint32_t *dims, unsigned n_dims, uint32_t n, struct lbm_link_vec *links)
{
    (void)n_dims;
    enum lbm_err err = LBM_OK;
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t bit = 0; bit < dims[0] && err == LBM_OK; bit++)
            if ((p >> bit & 1) == 0)
                err = add(links, p, p | UINT32_C(1) << bit);
    return err;
}

static enum lbm_err
link_star(const uint32_t *dims, unsigned n_dims, uint32_t n, struct lbm_link_vec *links)
{
    (void)dims, (void)n_dims;
    enum lbm_err err = LBM_OK;
    for (uint32_t p = 1; p < n && err == LBM_OK; p++)
        err = add(links, 0, p);
    return err;
}

static enum lbm_err
link_complete(const uint32_t *dims, unsigned n_dims, uint32_t n, struct lbm_link_vec *links)
{
    (void)dims, (void)n_dims;
    enum lbm_err err = LBM_OK;
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t q = p + 1; q < n && err == LBM_OK; q++)
            err = add(links, p, q);
    return err;
}

/* Ids level by level: the children of p are K p + 1 .. K p + K. */
static enum lbm_err
link_tree(const uint32_t *dims, unsigned n_dims, uint32_t n, struct lbm_link_vec *links)
{
    (void)n_dims;
    enum lbm_err err = LBM_OK;
    for (uint32_t p = 1; p < n && err == LBM_OK; p++)
        err = add(links, (p - 1) / dims[1], p);
    return err;
}

/* ---- the table ----------------------------------------------------------------------------------- */

static const struct generator {
    unsigned n_min, n_max; /* how many numbers */
    char separator;
    uint32_t least; /* of each number */
    uint64_t (*size)(const uint32_t *dims, unsigned n_dims);
    enum lbm_err (*links)(const uint32_t *dims, unsigned n_dims, uint32_t n, struct lbm_link_vec *links);
    enum lbm_err (*sites)(struct lbm_hosts *h);
} generators[LBM_TOPOLOGY_COUNT] = {
    [LBM_TOPOLOGY_CHAIN] = {1, 1, 'x', 1, size_product, link_mesh, lbm_sites_grid},
    [LBM_TOPOLOGY_RING] = {1, 1, 'x', 1, size_product, link_torus, lbm_sites_circle},
    [LBM_TOPOLOGY_MESH] = {2, 3, 'x', 1, size_product, link_mesh, lbm_sites_grid},
    [LBM_TOPOLOGY_TORUS] = {2, 3, 'x', 1, size_product, link_torus, lbm_sites_grid},
    [LBM_TOPOLOGY_HYPERCUBE] = {1, 1, 'x', 0, size_hypercube, link_hypercube, lbm_sites_hypercube},
    [LBM_TOPOLOGY_STAR] = {1, 1, 'x', 1, size_product, link_star, lbm_sites_radial},
    [LBM_TOPOLOGY_COMPLETE] = {1, 1, 'x', 1, size_product, link_complete, lbm_sites_boxes},
    [LBM_TOPOLOGY_TREE] = {2, 2, ',', 0, size_tree, link_tree, lbm_sites_radial},
};

/* Those with switches: how many numbers, separated by commas. */
static const struct switched {
    unsigned n_numbers;
    lbm_hosts_switched *make;
} switched[LBM_TOPOLOGY_COUNT] = {
    [LBM_TOPOLOGY_FATTREE] = {1, lbm_hosts_fattree},
    [LBM_TOPOLOGY_DRAGONFLY] = {3, lbm_hosts_dragonfly},
};

static const char *const topology_names[] = {
#define TOPOLOGY_NAME(id, name, form, text) name,
    LBM_TOPOLOGY_LIST(TOPOLOGY_NAME)
#undef TOPOLOGY_NAME
};

static const char *const topology_forms[] = {
#define TOPOLOGY_FORM(id, name, form, text) form,
    LBM_TOPOLOGY_LIST(TOPOLOGY_FORM)
#undef TOPOLOGY_FORM
};

static const char all_forms[] =
#define TOPOLOGY_LISTED(id, name, form, text) " " form
    LBM_TOPOLOGY_LIST(TOPOLOGY_LISTED)
#undef TOPOLOGY_LISTED
    ;

/* ---- building ------------------------------------------------------------------------------------ */

static enum lbm_err
check_dims(enum lbm_topology topology, const char *where, const uint32_t *dims, unsigned n_dims,
           struct lbm_diag *diag)
{
    const struct generator *g = &generators[topology];
    const char *form = topology_forms[topology];
    if (n_dims < g->n_min || n_dims > g->n_max)
        return lbm_diag_set(diag, LBM_E_SYNTAX, where, 0, "%u numbers; the form is %s", n_dims, form);
    for (unsigned k = 0; k < n_dims; k++)
        if (dims[k] < g->least)
            return lbm_diag_set(diag, LBM_E_RANGE, where, 0,
                                "a number is %" PRIu32 ", the least is %" PRIu32 "; the form is %s", dims[k],
                                g->least, form);
    if (topology == LBM_TOPOLOGY_TREE && dims[1] < 1)
        return lbm_diag_set(diag, LBM_E_RANGE, where, 0,
                            "a tree's nodes have at least 1 child; the form is %s", form);
    if (g->size(dims, n_dims) > LBM_HOSTS_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, where, 0, "more than %d hosts; the form is %s", LBM_HOSTS_MAX,
                            form);
    uint64_t n = g->size(dims, n_dims);
    if (topology == LBM_TOPOLOGY_COMPLETE && n * (n - 1) / 2 > LBM_LINKS_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, where, 0,
                            "more than %d links; a mesh or hier: takes more hosts", LBM_LINKS_MAX);
    return LBM_OK;
}

enum lbm_err
lbm_hosts_topology(enum lbm_topology topology, const char *where, const uint32_t *dims, unsigned n_dims,
                   struct lbm_hosts *out, struct lbm_diag *diag)
{
    const struct generator *g = &generators[topology];
    LBM_ASSERT(topology < LBM_TOPOLOGY_COUNT && g->size != NULL);
    enum lbm_err err = check_dims(topology, where, dims, n_dims, diag);
    if (err != LBM_OK)
        return err;
    uint32_t n = (uint32_t)g->size(dims, n_dims);
    struct lbm_link_vec links = {0};
    struct lbm_hosts h = {0};
    err = g->links(dims, n_dims, n, &links);
    if (err == LBM_OK)
        err = lbm_hosts_link(n, links.at, links.n, &h);
    lbm_vec_free(&links);
    if (err != LBM_OK)
        return err;
    h.topology = topology;
    for (unsigned k = 0; k < 3; k++)
        h.dims[k] = k < n_dims ? dims[k] : 1;
    err = lbm_hosts_route(&h);
    if (err == LBM_OK)
        err = g->sites(&h);
    if (err == LBM_OK)
        *out = h;
    else
        lbm_hosts_free(&h);
    return err;
}

/* ---- specs --------------------------------------------------------------------------------------- */

/* Numbers between separators, up to the end or to the stop character.
 * Out: *end where reading stopped.  Errors: LBM_E_SYNTAX, LBM_E_LIMIT (a number beyond 32 bits). */
static enum lbm_err
read_numbers(const char *text, char separator, char stop, uint32_t *number, unsigned *n, const char **end)
{
    for (*n = 0; *n < NUMBERS_MAX; text++) {
        uint64_t value = 0;
        if (*text < '0' || *text > '9')
            return LBM_E_SYNTAX;
        for (; *text >= '0' && *text <= '9'; text++)
            value = value > UINT32_MAX ? value : value * 10 + (uint64_t)(*text - '0');
        if (value > UINT32_MAX)
            return LBM_E_LIMIT;
        number[(*n)++] = (uint32_t)value;
        if (*text == '\0' || *text == stop) {
            *end = text;
            return LBM_OK;
        }
        if (*text != separator)
            return LBM_E_SYNTAX;
    }
    return LBM_E_SYNTAX;
}

static enum lbm_err
refuse_form(enum lbm_err err, enum lbm_topology topology, const char *spec, struct lbm_diag *diag)
{
    if (err == LBM_E_LIMIT)
        return lbm_diag_set(diag, err, spec, 0, "a number is too large; the form is %s",
                            topology_forms[topology]);
    return lbm_diag_set(diag, err, spec, 0, "not understood; the form is %s", topology_forms[topology]);
}

static enum lbm_err
generate_hierarchy(const char *spec, const char *text, struct lbm_hosts *out, struct lbm_diag *diag)
{
    uint32_t size[NUMBERS_MAX], cost[NUMBERS_MAX];
    unsigned levels = 0, costs = 0;
    enum lbm_err err = read_numbers(text, ':', '/', size, &levels, &text);
    if (err == LBM_OK)
        err = *text == '/' ? read_numbers(text + 1, ':', '\0', cost, &costs, &text) : LBM_E_SYNTAX;
    if (err == LBM_OK && costs != levels)
        return lbm_diag_set(diag, LBM_E_SYNTAX, spec, 0, "%u levels but %u costs; the form is %s", levels,
                            costs, topology_forms[LBM_TOPOLOGY_HIER]);
    if (err != LBM_OK)
        return refuse_form(err, LBM_TOPOLOGY_HIER, spec, diag);
    return lbm_hosts_hierarchy(spec, size, cost, levels, out, diag);
}

static enum lbm_err
generate_switched(enum lbm_topology topology, const char *spec, const char *text, struct lbm_hosts *out,
                  struct lbm_diag *diag)
{
    uint32_t number[NUMBERS_MAX];
    unsigned n = 0;
    enum lbm_err err = read_numbers(text, ',', '\0', number, &n, &text);
    if (err == LBM_OK && n != switched[topology].n_numbers)
        return lbm_diag_set(diag, LBM_E_SYNTAX, spec, 0, "%u numbers; the form is %s", n,
                            topology_forms[topology]);
    if (err != LBM_OK)
        return refuse_form(err, topology, spec, diag);
    return switched[topology].make(spec, number, out, diag);
}

enum lbm_err
lbm_hosts_generate(const char *spec, struct lbm_hosts *out, struct lbm_diag *diag)
{
    const char *text = strchr(spec, ':');
    size_t len = text != NULL ? (size_t)(text - spec) : strlen(spec);
    unsigned topology = 0;
    while (topology < LBM_TOPOLOGY_COUNT &&
           (strlen(topology_names[topology]) != len || memcmp(topology_names[topology], spec, len) != 0))
        topology++;
    if (topology == LBM_TOPOLOGY_FILE)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, spec, 0,
                            "hosts of a file are not taken here, name a topology");
    if (topology == LBM_TOPOLOGY_COUNT)
        return lbm_diag_set(diag, LBM_E_SYNTAX, spec, 0, "no such topology; the forms are%s", all_forms);
    if (text == NULL)
        return refuse_form(LBM_E_SYNTAX, (enum lbm_topology)topology, spec, diag);
    if (topology == LBM_TOPOLOGY_HIER)
        return generate_hierarchy(spec, text + 1, out, diag);
    if (switched[topology].make != NULL)
        return generate_switched((enum lbm_topology)topology, spec, text + 1, out, diag);
    uint32_t dims[NUMBERS_MAX];
    unsigned n_dims = 0;
    enum lbm_err err = read_numbers(text + 1, generators[topology].separator, '\0', dims, &n_dims, &text);
    if (err != LBM_OK)
        return refuse_form(err, (enum lbm_topology)topology, spec, diag);
    return lbm_hosts_topology((enum lbm_topology)topology, spec, dims, n_dims, out, diag);
}
