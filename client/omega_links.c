/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/omega_links.h"

#include <stdio.h>
#include <stdlib.h>

#include "space/space.h"

enum { TEXT_MAX = 96, LINK_TEXT_MAX = 18 };

void
lbm_host_sites_free(struct lbm_host_sites *sites)
{
    lbm_vec_free(&sites->id);
    lbm_vec_free(&sites->site);
}

static uint32_t
number_of(const struct lbm_host_sites *sites, uint32_t id)
{
    for (size_t i = 0; i < sites->id.n; i++)
        if (sites->id.at[i] == id)
            return (uint32_t)i;
    return LBM_NONE;
}

static uint32_t
host_of(const json_t *object)
{
    return (uint32_t)json_integer_value(json_object_get(object, "host"));
}

/* The sites of hosts that are rows: others have no region. */
static enum lbm_err
sites_of_rows(const json_t *rows, const struct lbm_host_sites *all, struct lbm_host_sites *out)
{
    enum lbm_err err = LBM_OK;
    out->m = all->m;
    for (size_t i = 0; i < json_array_size(rows) && err == LBM_OK; i++) {
        uint32_t id = host_of(json_array_get(rows, i)), number = number_of(all, id);
        if (number == LBM_NONE)
            continue;
        err = lbm_vec_push(&out->id, id);
        for (unsigned k = 0; k < all->m && err == LBM_OK; k++)
            err = lbm_vec_push(&out->site, all->site.at[(size_t)number * all->m + k]);
    }
    return err;
}

/* Append the id of a host; what is too much for a table is left to JSON. */
static void
append(char text[TEXT_MAX], size_t *len, uint32_t id)
{
    if (*len >= TEXT_MAX - LINK_TEXT_MAX)
        return;
    int is_last = *len + LINK_TEXT_MAX >= TEXT_MAX - LINK_TEXT_MAX;
    *len += (size_t)snprintf(text + *len, TEXT_MAX - *len, "%s%u%s", *len != 0 ? " " : "", id,
                             is_last ? " ..." : "");
}

static enum lbm_err
mark_row(json_t *row, const struct lbm_regions *regions, const struct lbm_host_sites *sites,
         struct lbm_omega_links *count)
{
    char text[TEXT_MAX] = "";
    size_t len = 0, i;
    json_t *link;
    uint32_t id = host_of(row), p = number_of(sites, id);
    json_array_foreach(json_object_get(row, "links"), i, link)
    {
        uint32_t peer = host_of(link), q = number_of(sites, peer);
        double size = 0.0;
        if (p == LBM_NONE || q == LBM_NONE || p == q)
            continue;
        enum lbm_err err = lbm_regions_interface(regions, p < q ? p : q, p < q ? q : p, &size);
        if (err != LBM_OK)
            return err;
        if (json_object_set_new(link, "in_omega", json_boolean(size > 0.0)) != 0)
            return LBM_E_NOMEM;
        count->links += id < peer;
        count->hidden += id < peer && !(size > 0.0);
        if (!(size > 0.0))
            append(text, &len, peer);
    }
    return json_object_set_new(row, "hidden_text", json_string(text)) == 0 ? LBM_OK : LBM_E_NOMEM;
}

enum lbm_err
lbm_omega_links_mark(json_t *rows, const struct lbm_host_sites *all, struct lbm_omega_links *count)
{
    struct lbm_host_sites sites = {0};
    struct lbm_omega_links found = {0};
    enum lbm_err err = sites_of_rows(rows, all, &sites);
    double *equal = lbm_alloc(sites.id.n, sizeof *equal);
    if (equal == NULL)
        err = LBM_E_NOMEM;
    struct lbm_regions regions = {
        .n = (uint32_t)sites.id.n, .m = sites.m, .site = sites.site.at, .weight = equal};
    for (size_t i = 0; i < json_array_size(rows) && err == LBM_OK; i++)
        err = mark_row(json_array_get(rows, i), &regions, &sites, &found);
    if (err == LBM_OK)
        *count = found;
    free(equal);
    lbm_host_sites_free(&sites);
    return err;
}
