/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hosts of a network in which some vertices are switches: routed through, but no hosts.
 *
 * Distances are those of the whole network. Links between hosts stay; hosts that only switches join are
 * linked as the switches are (fabric.c). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/network.h"

static enum lbm_err
no_memory(const char *where, struct lbm_diag *diag)
{
    return lbm_diag_set(diag, LBM_E_NOMEM, where, 0, "no memory for the hosts");
}

static int
is_host(const struct lbm_network *net, uint32_t v)
{
    return net->capacity[v] > 0.0;
}

/* ---- what counts: hosts, and the switches that a way from them leads to -------------------------------- */

static enum lbm_err
check_links(const char *where, const struct lbm_network *net, struct lbm_diag *diag)
{
    uint64_t costliest = 1;
    for (size_t i = 0; i < net->n_links; i++) {
        uint32_t cost = net->links[i].cost;
        if (cost < 1 || cost > LBM_LINK_COST_MAX)
            return lbm_diag_set(diag, LBM_E_RANGE, where, 0,
                                "link %" PRIu32 "-%" PRIu32 " costs %" PRIu32 ", allowed is 1 .. %" PRIu32,
                                net->links[i].p, net->links[i].q, cost, LBM_LINK_COST_MAX);
        costliest = cost > costliest ? cost : costliest;
    }
    if (costliest * net->n >= UINT32_MAX)
        return lbm_diag_set(diag, LBM_E_RANGE, where, 0,
                            "a link costs %" PRIu64 ": a way through %" PRIu32
                            " hosts and switches may be longer than %" PRIu32 "; divide the costs",
                            costliest, net->n, UINT32_MAX);
    return LBM_OK;
}

/* Name a vertex for a message: as the file does, or by its number. */
static const char *
label(const struct lbm_network *net, uint32_t v, char text[LBM_NAME_MAX + 1])
{
    if (net->name != NULL)
        snprintf(text, LBM_NAME_MAX + 1, "%s", net->name[v]);
    else
        snprintf(text, LBM_NAME_MAX + 1, "%" PRIu32, v);
    return text;
}

/* All hosts must be reached from the first one. Out: hops [net->n], LBM_NONE for what is not reached. */
static enum lbm_err
reach(const char *where, const struct lbm_network *net, const struct lbm_hosts *rows, uint32_t *hops,
      struct lbm_diag *diag)
{
    uint32_t *order = lbm_alloc(net->n, sizeof *order), first = 0, lost = 0;
    if (order == NULL)
        return no_memory(where, diag);
    while (!is_host(net, first))
        first++;
    lbm_hosts_hops(rows, first, hops, order);
    free(order);
    while (lost < net->n && (!is_host(net, lost) || hops[lost] != LBM_NONE))
        lost++;
    if (lost == net->n)
        return LBM_OK;
    char from[LBM_NAME_MAX + 1], to[LBM_NAME_MAX + 1];
    return lbm_diag_set(diag, LBM_E_SYNTAX, where, 0,
                        "no way leads from host %s to host %s; add the links or switches that connect them",
                        label(net, first, from), label(net, lost, to));
}

/* Rows of what is reached, hosts first: so the first columns of a row of distances are theirs.
 * Out: number [net->n] in *rows, LBM_NONE for a switch that no way leads to. */
static enum lbm_err
sort_out(const char *where, const struct lbm_network *net, uint32_t *number, struct lbm_hosts *rows,
         struct lbm_diag *diag)
{
    struct lbm_link_vec links = {0};
    struct lbm_hosts all = {0};
    uint32_t n = 0;
    enum lbm_err err = lbm_hosts_link_rows(net->n, net->links, net->n_links, &all);
    if (err == LBM_OK)
        err = reach(where, net, &all, number, diag);
    lbm_hosts_free(&all);
    if (err != LBM_OK)
        return err;
    for (int switches = 0; switches < 2; switches++)
        for (uint32_t v = 0; v < net->n; v++)
            if (is_host(net, v) == !switches && (!switches || number[v] != LBM_NONE))
                number[v] = n++;
    for (size_t i = 0; err == LBM_OK && i < net->n_links; i++) {
        struct lbm_link link = {number[net->links[i].p], number[net->links[i].q], net->links[i].cost};
        if (link.p != LBM_NONE && link.q != LBM_NONE)
            err = lbm_vec_push(&links, link);
    }
    if (err == LBM_OK)
        err = lbm_hosts_link_rows(n, links.at, links.n, rows);
    lbm_vec_free(&links);
    return err == LBM_E_NOMEM ? no_memory(where, diag) : err;
}

/* ---- hosts --------------------------------------------------------------------------------------------- */

/* Capacities and, if there are any, sites. In: number as above. */
static enum lbm_err
attributes(const struct lbm_network *net, const uint32_t *number, struct lbm_hosts *h)
{
    enum lbm_err err = lbm_hosts_set_dimensions(h, net->site != NULL ? net->m : 2);
    for (uint32_t v = 0; err == LBM_OK && v < net->n; v++) {
        if (!is_host(net, v))
            continue;
        h->capacity[number[v]] = net->capacity[v];
        if (net->site != NULL)
            memcpy(&h->site[(size_t)number[v] * h->m], &net->site[(size_t)v * h->m], h->m * sizeof *h->site);
    }
    if (err == LBM_OK && net->site != NULL)
        lbm_sites_fit(h->site, h->n, h->m);
    else if (err == LBM_OK)
        err = lbm_sites_stress(h);
    return err;
}

static enum lbm_err
make_hosts(const char *where, const struct lbm_network *net, uint32_t n, const struct lbm_hosts *rows,
           const uint32_t *number, struct lbm_hosts *h, struct lbm_diag *diag)
{
    struct lbm_link_vec links = {0};
    uint32_t *dist = lbm_alloc((size_t)n * n, sizeof *dist);
    enum lbm_err err = dist != NULL ? lbm_hosts_route_first(rows, n, dist) : LBM_E_NOMEM;
    if (err == LBM_OK)
        err = lbm_fabric_links(rows, n, dist, &links);
    if (err == LBM_E_LIMIT)
        err = lbm_diag_set(diag, err, where, 0, "more than %d links between hosts", LBM_LINKS_MAX);
    if (err == LBM_OK)
        err = lbm_hosts_link(n, links.at, links.n, h);
    lbm_vec_free(&links);
    if (err == LBM_OK) {
        memcpy(h->dist, dist, (size_t)n * n * sizeof *dist);
        err = lbm_hosts_join(h);
    }
    if (err == LBM_OK)
        err = attributes(net, number, h);
    free(dist);
    return err == LBM_E_NOMEM ? no_memory(where, diag) : err;
}

enum lbm_err
lbm_hosts_from_network(const char *where, const struct lbm_network *net, struct lbm_hosts *out,
                       struct lbm_diag *diag)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < net->n; v++)
        n += (uint32_t)is_host(net, v);
    if (n == 0)
        return lbm_diag_set(diag, LBM_E_RANGE, where, 0,
                            "no hosts among %" PRIu32 " switches (capacity 0 makes a switch)", net->n);
    if (n > LBM_HOSTS_MAX || net->n > LBM_NETWORK_MAX || net->n_links > LBM_LINKS_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, where, 0,
                            "%" PRIu32 " hosts, %" PRIu32 " switches and %zu links; at most %d, %d with the "
                            "hosts, and %d are possible",
                            n, net->n - n, net->n_links, LBM_HOSTS_MAX, LBM_NETWORK_MAX, LBM_LINKS_MAX);
    enum lbm_err err = check_links(where, net, diag);
    if (err != LBM_OK)
        return err;
    struct lbm_hosts rows = {0}, h = {0};
    uint32_t *number = lbm_alloc(net->n, sizeof *number);
    err = number != NULL ? sort_out(where, net, number, &rows, diag) : no_memory(where, diag);
    if (err == LBM_OK)
        err = make_hosts(where, net, n, &rows, number, &h, diag);
    free(number);
    lbm_hosts_free(&rows);
    if (err == LBM_OK)
        *out = h;
    else
        lbm_hosts_free(&h);
    return err;
}
