/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hosts without some of them: those that left, with their links, or those that become switches. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/network.h"

/* Nonzero if distances follow the links; those of hierarchies and matrices are given. Errors: LBM_E_NOMEM. */
static enum lbm_err
follows_links(const struct lbm_hosts *h, int *follows)
{
    uint32_t *row = lbm_alloc(h->n, sizeof *row);
    enum lbm_err err = row != NULL ? LBM_OK : LBM_E_NOMEM;
    *follows = 1;
    for (uint32_t p = 0; p < h->n && err == LBM_OK && *follows; p++) {
        err = lbm_hosts_fill_row(h, p, row);
        *follows = err == LBM_OK && memcmp(row, lbm_dist_row(h, p), h->n * sizeof *row) == 0;
    }
    free(row);
    return err;
}

/* Links between those that stay, in their new numbers; number NULL: all. */
static enum lbm_err
kept_links(const struct lbm_hosts *h, const uint32_t *number, struct lbm_link_vec *links)
{
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++) {
            uint32_t q = h->target[e];
            struct lbm_link link = {number != NULL ? number[p] : p, number != NULL ? number[q] : q,
                                    h->cost[e]};
            if (p < q && link.p != LBM_NONE && link.q != LBM_NONE && lbm_vec_push(links, link) != LBM_OK)
                return LBM_E_NOMEM;
        }
    return LBM_OK;
}

/* The first host that links do not lead to; n: they connect all. Errors: LBM_E_NOMEM. */
static enum lbm_err
find_lost(const struct lbm_hosts *h, uint32_t *lost)
{
    uint32_t *hops = lbm_alloc(h->n, sizeof *hops), *order = lbm_alloc(h->n, sizeof *order);
    enum lbm_err err = hops != NULL && order != NULL ? LBM_OK : LBM_E_NOMEM;
    *lost = h->n;
    if (err == LBM_OK && lbm_hosts_hops(h, 0, hops, order) < h->n)
        for (*lost = 0; hops[*lost] != LBM_NONE;)
            ++*lost;
    free(hops);
    free(order);
    return err;
}

/* What links reach, seen from the hosts taken so far, and the shortest way to the others. */
struct reach {
    uint32_t *least, *from;
    uint8_t *is_taken, *is_linked;
};

static void
take(const struct lbm_hosts *h, uint32_t p, struct reach *r)
{
    r->is_taken[p] = 1;
    for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++)
        r->is_linked[h->target[e]] = 1;
    for (uint32_t q = 0; q < h->n; q++)
        if (!r->is_taken[q] && h->dist[(size_t)p * h->n + q] < r->least[q]) {
            r->least[q] = h->dist[(size_t)p * h->n + q];
            r->from[q] = p;
        }
}

/* Of those not taken: one that is linked, else the nearest. */
static uint32_t
next_of(uint32_t n, const struct reach *r)
{
    uint32_t next = LBM_NONE;
    for (uint32_t p = 0; p < n; p++)
        if (!r->is_taken[p] && (next == LBM_NONE || r->is_linked[p] > r->is_linked[next] ||
                                (r->is_linked[p] == r->is_linked[next] && r->least[p] < r->least[next])))
            next = p;
    return next;
}

/* The shortest links that join the parts that there are: a minimum spanning tree (Prim) in which what is
 * linked costs nothing. In: h with dist. */
static enum lbm_err
join_parts(const struct lbm_hosts *h, struct lbm_link_vec *links)
{
    struct reach r = {lbm_alloc(h->n, sizeof *r.least), lbm_alloc(h->n, sizeof *r.from), lbm_alloc(h->n, 1),
                      lbm_alloc(h->n, 1)};
    enum lbm_err err = LBM_E_NOMEM;
    if (r.least != NULL && r.from != NULL && r.is_taken != NULL && r.is_linked != NULL) {
        memset(r.least, 0xff, h->n * sizeof *r.least);
        take(h, 0, &r);
        err = LBM_OK;
    }
    for (uint32_t i = 1; err == LBM_OK && i < h->n; i++) {
        uint32_t next = next_of(h->n, &r);
        struct lbm_link link = {r.from[next], next, r.least[next]};
        if (!r.is_linked[next])
            err = lbm_vec_push(links, link);
        take(h, next, &r);
    }
    free(r.least);
    free(r.from);
    free(r.is_taken);
    free(r.is_linked);
    return err;
}

enum lbm_err
lbm_hosts_join(struct lbm_hosts *h)
{
    struct lbm_link_vec links = {0};
    struct lbm_hosts linked;
    uint32_t lost;
    enum lbm_err err = find_lost(h, &lost);
    if (err != LBM_OK || lost == h->n)
        return err;
    err = kept_links(h, NULL, &links);
    if (err == LBM_OK)
        err = join_parts(h, &links);
    if (err == LBM_OK)
        err = lbm_hosts_link(h->n, links.at, links.n, &linked);
    lbm_vec_free(&links);
    if (err != LBM_OK)
        return err;
    memcpy(linked.dist, h->dist, (size_t)h->n * h->n * sizeof *linked.dist);
    lbm_hosts_free(h);
    *h = linked;
    return LBM_OK;
}

/* Distances as they were; links that join the parts if those that are left do not connect all. */
static enum lbm_err
keep_distances(const struct lbm_hosts *h, const uint32_t *id, struct lbm_hosts *out)
{
    uint32_t n = out->n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            out->dist[(size_t)i * n + j] = lbm_dist(h, id[i], id[j]);
    return lbm_hosts_join(out);
}

/* The texts of the hosts that are left. Errors: LBM_E_NOMEM, then *out has what there is. */
static enum lbm_err
keep_texts(char *const *text, const uint32_t *id, uint32_t n, char ***out)
{
    if (text == NULL)
        return LBM_OK;
    *out = lbm_alloc(n, sizeof **out);
    for (uint32_t i = 0; *out != NULL && i < n; i++)
        if (((*out)[i] = lbm_copy(text[id[i]], strlen(text[id[i]]) + 1, 1)) == NULL)
            return LBM_E_NOMEM;
    return *out != NULL ? LBM_OK : LBM_E_NOMEM;
}

static enum lbm_err
keep_numbers(const uint32_t *number, const uint32_t *id, uint32_t n, uint32_t **out)
{
    if (number == NULL)
        return LBM_OK;
    *out = lbm_alloc(n, sizeof **out);
    for (uint32_t i = 0; *out != NULL && i < n; i++)
        (*out)[i] = number[id[i]];
    return *out != NULL ? LBM_OK : LBM_E_NOMEM;
}

/* Capacities, sites, names, and what launchers are told. */
static enum lbm_err
keep_attributes(const struct lbm_hosts *h, const uint32_t *id, struct lbm_hosts *out)
{
    enum lbm_err err = lbm_hosts_set_dimensions(out, h->m);
    for (uint32_t i = 0; i < out->n && err == LBM_OK; i++) {
        out->capacity[i] = h->capacity[id[i]];
        memcpy(&out->site[(size_t)i * h->m], &h->site[(size_t)id[i] * h->m], h->m * sizeof *h->site);
    }
    if (err == LBM_OK)
        err = keep_texts(h->name, id, out->n, &out->name);
    if (err == LBM_OK)
        err = keep_texts(h->machine, id, out->n, &out->machine);
    if (err == LBM_OK)
        err = keep_numbers(h->slots, id, out->n, &out->slots);
    if (err == LBM_OK)
        err = keep_numbers(h->core, id, out->n, &out->core);
    return err;
}

static enum lbm_err
build(const struct lbm_hosts *h, const uint32_t *number, const uint32_t *id, uint32_t n,
      struct lbm_hosts *out, struct lbm_diag *diag)
{
    struct lbm_link_vec links = {0};
    int follows;
    uint32_t lost;
    enum lbm_err err = follows_links(h, &follows);
    if (err == LBM_OK)
        err = kept_links(h, number, &links);
    if (err == LBM_OK)
        err = lbm_hosts_link(n, links.at, links.n, out);
    lbm_vec_free(&links);
    if (err == LBM_OK)
        err = find_lost(out, &lost);
    if (err != LBM_OK)
        return err;
    if (!follows)
        err = keep_distances(h, id, out);
    else if (lost < n)
        err = lbm_diag_set(diag, LBM_E_SYNTAX, "hosts", 0,
                           "without these hosts no way leads from host %" PRIu32 " to host %" PRIu32, id[0],
                           id[lost]);
    else
        err = lbm_hosts_route(out);
    return err == LBM_OK ? keep_attributes(h, id, out) : err;
}

enum lbm_err
lbm_hosts_without(const struct lbm_hosts *h, const uint8_t *gone, uint32_t *number, struct lbm_hosts *out,
                  struct lbm_diag *diag)
{
    struct lbm_hosts kept = {0};
    uint32_t n = 0;
    uint32_t *id = lbm_alloc(h->n, sizeof *id);
    if (id == NULL)
        return LBM_E_NOMEM;
    for (uint32_t p = 0; p < h->n; p++) {
        number[p] = gone[p] ? LBM_NONE : n;
        if (!gone[p])
            id[n++] = p;
    }
    enum lbm_err err = n != 0 ? build(h, number, id, n, &kept, diag)
                              : lbm_diag_set(diag, LBM_E_RANGE, "hosts", 0, "no host is left");
    free(id);
    if (err == LBM_OK)
        *out = kept;
    else
        lbm_hosts_free(&kept);
    return err;
}

/* ---- switches ------------------------------------------------------------------------------------------ */

/* The hosts that are left, by their links and the switches between. In: id of each [n]. */
static enum lbm_err
route_through(const char *where, const struct lbm_hosts *h, const double *capacity, const uint32_t *id,
              struct lbm_hosts *out, struct lbm_diag *diag)
{
    struct lbm_link_vec links = {0};
    enum lbm_err err = kept_links(h, NULL, &links);
    struct lbm_network net = {h->n, links.at, links.n, capacity, h->m, h->site, (const char *const *)h->name};
    if (err == LBM_OK)
        err = lbm_hosts_from_network(where, &net, out, diag);
    lbm_vec_free(&links);
    return err == LBM_OK ? keep_attributes(h, id, out) : err;
}

/* The hosts that are left, with the distances that were given. */
static enum lbm_err
leave_out(const struct lbm_hosts *h, const double *capacity, struct lbm_hosts *out, struct lbm_diag *diag)
{
    uint8_t *gone = lbm_alloc(h->n, sizeof *gone);
    uint32_t *number = lbm_alloc(h->n, sizeof *number);
    enum lbm_err err = gone != NULL && number != NULL ? LBM_OK : LBM_E_NOMEM;
    for (uint32_t p = 0; err == LBM_OK && p < h->n; p++)
        gone[p] = capacity[p] == 0.0;
    if (err == LBM_OK)
        err = lbm_hosts_without(h, gone, number, out, diag);
    free(gone);
    free(number);
    return err;
}

enum lbm_err
lbm_hosts_switched_off(const char *where, const struct lbm_hosts *h, const double *capacity,
                       struct lbm_hosts *out, struct lbm_diag *diag)
{
    struct lbm_hosts kept = {0};
    uint32_t n = 0, *id = lbm_alloc(h->n, sizeof *id);
    int follows = 0;
    enum lbm_err err = id != NULL ? follows_links(h, &follows) : LBM_E_NOMEM;
    for (uint32_t p = 0; err == LBM_OK && p < h->n; p++)
        if (capacity[p] > 0.0)
            id[n++] = p;
    if (err == LBM_OK && n == 0)
        err = lbm_diag_set(diag, LBM_E_RANGE, where, 0,
                           "no hosts among %" PRIu32 " switches (capacity 0 makes a switch)", h->n);
    if (err == LBM_OK)
        err = follows ? route_through(where, h, capacity, id, &kept, diag)
                      : leave_out(h, capacity, &kept, diag);
    for (uint32_t i = 0; err == LBM_OK && i < n; i++)
        kept.capacity[i] = capacity[id[i]];
    free(id);
    if (err == LBM_OK)
        *out = kept;
    else
        lbm_hosts_free(&kept);
    return err;
}
