/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scotch targets: hcub, mesh2D .. torusXD, cmplt, cmpltw, tleaf; deco is in read_deco.c.
 * Source: the Scotch user's guide, "Target files"; distances checked against atst of Scotch 7.0.3. */
#include <stdlib.h>
#include <string.h>

#include "graph/scan.h"
#include "host/internal.h"
#include "host/read_deco.h"

/* A number on this line or a later one. */
static enum lbm_err
next_number(struct lbm_scan *scan, const char *what, uint64_t min, uint64_t max, uint32_t *out)
{
    struct lbm_field field = {what, min, max, ""};
    if (lbm_scan_text_done(scan))
        return lbm_scan_refuse(scan, LBM_E_SYNTAX, "the text ends where a %s should be", what);
    return lbm_scan_u32(scan, &field, out);
}

static enum lbm_err
next_numbers(struct lbm_scan *scan, const char *what, uint32_t n, uint32_t *out)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; err == LBM_OK && i < n; i++)
        err = next_number(scan, what, 0, LBM_HOSTS_MAX, &out[i]);
    return err;
}

/* ---- kinds --------------------------------------------------------------------------------------- */

struct kind {
    const char *name;
    enum lbm_topology topology;
    uint32_t n_dims; /* 0: the first number tells */
    enum lbm_err (*read)(struct lbm_scan *scan, const struct kind *kind, struct lbm_hosts *out);
};

static enum lbm_err
read_topology(struct lbm_scan *scan, const struct kind *kind, struct lbm_hosts *out)
{
    uint32_t dims[LBM_DIMENSIONS_MAX], n_dims = kind->n_dims;
    enum lbm_err err = LBM_OK;
    if (n_dims == 0)
        err = next_number(scan, "number of dimensions, 2 or 3,", 2, LBM_DIMENSIONS_MAX, &n_dims);
    if (err == LBM_OK)
        err = next_numbers(scan, "extent", n_dims, dims);
    if (err == LBM_OK)
        err = lbm_hosts_topology(kind->topology, scan->name, dims, n_dims, out, scan->diag);
    return err;
}

static enum lbm_err
read_weighted(struct lbm_scan *scan, const struct kind *kind, struct lbm_hosts *out)
{
    struct lbm_hosts h;
    enum lbm_err err = read_topology(scan, kind, &h);
    if (err != LBM_OK)
        return err;
    for (uint32_t p = 0, weight; err == LBM_OK && p < h.n; p++) {
        err = next_number(scan, "host weight", 1, LBM_WEIGHT_MAX, &weight);
        if (err == LBM_OK)
            h.capacity[p] = weight;
    }
    if (err == LBM_OK)
        *out = h;
    else
        lbm_hosts_free(&h);
    return err;
}

/* tleaf: levels from the root, each with its number of children and the cost of one step down; the way
 * between two leaves costs every step below the node they share (once, not up and down). */
static enum lbm_err
read_tleaf(struct lbm_scan *scan, const struct kind *kind, struct lbm_hosts *out)
{
    (void)kind;
    uint32_t size[LBM_GROUP_LEVELS_MAX], cost[LBM_GROUP_LEVELS_MAX], levels;
    enum lbm_err err = next_number(scan, "number of levels", 1, LBM_GROUP_LEVELS_MAX, &levels);
    for (uint32_t l = err == LBM_OK ? levels : 0; err == LBM_OK && l-- > 0;) {
        err = next_number(scan, "number of children", 1, LBM_HOSTS_MAX, &size[l]);
        if (err == LBM_OK)
            err = next_number(scan, "link cost", 1, LBM_LINK_COST_MAX, &cost[l]);
    }
    if (err != LBM_OK)
        return err;
    for (uint32_t l = 1; l < levels; l++)
        cost[l] += cost[l - 1];
    return lbm_hosts_hierarchy(scan->name, size, cost, levels, out, scan->diag);
}

static enum lbm_err
read_deco(struct lbm_scan *scan, const struct kind *kind, struct lbm_hosts *out)
{
    (void)kind;
    return lbm_hosts_read_deco(scan, out);
}

static const struct kind kinds[] = {
    {"hcub", LBM_TOPOLOGY_HYPERCUBE, 1, read_topology},  {"mesh2D", LBM_TOPOLOGY_MESH, 2, read_topology},
    {"mesh3D", LBM_TOPOLOGY_MESH, 3, read_topology},     {"meshXD", LBM_TOPOLOGY_MESH, 0, read_topology},
    {"torus2D", LBM_TOPOLOGY_TORUS, 2, read_topology},   {"torus3D", LBM_TOPOLOGY_TORUS, 3, read_topology},
    {"torusXD", LBM_TOPOLOGY_TORUS, 0, read_topology},   {"cmplt", LBM_TOPOLOGY_COMPLETE, 1, read_topology},
    {"cmpltw", LBM_TOPOLOGY_COMPLETE, 1, read_weighted}, {"tleaf", LBM_TOPOLOGY_HIER, 0, read_tleaf},
    {"deco", LBM_TOPOLOGY_FILE, 0, read_deco},
};

enum lbm_err
lbm_hosts_read_scotch(const char *name, const char *text, size_t len, const struct lbm_hosts_reading *how,
                      struct lbm_hosts *out, struct lbm_diag *diag)
{
    struct lbm_scan scan;
    (void)how;
    lbm_scan_begin(&scan, name, text, len, diag);
    lbm_scan_skip_lines(&scan, "#%", 1);
    size_t i = 0;
    while (i < sizeof kinds / sizeof *kinds && !lbm_scan_word(&scan, kinds[i].name))
        i++;
    if (i == sizeof kinds / sizeof *kinds) {
        char token[32];
        lbm_scan_token(&scan, token, sizeof token);
        return lbm_scan_refuse(
            &scan, LBM_E_UNSUPPORTED,
            "\"%s\" is no host graph that is read here; of Scotch's targets these are: hcub, "
            "mesh2D, mesh3D, meshXD, torus2D, torus3D, torusXD, cmplt, cmpltw, tleaf, deco",
            token);
    }
    struct lbm_hosts h = {0};
    enum lbm_err err = kinds[i].read(&scan, &kinds[i], &h);
    if (err == LBM_OK)
        err = lbm_scan_expect_text_end(&scan, "", "the target");
    if (err == LBM_OK)
        *out = h;
    else
        lbm_hosts_free(&h);
    return err;
}
