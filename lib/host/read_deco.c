/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scotch's decomposition-defined targets: a matrix of distances between the terminals.
 *
 * A terminal's label is its host's id if the labels are 0 .. n - 1 in some order, else its name. Links are
 * those the distances imply. The decomposition itself (which Scotch maps by) is not kept. */
#include "host/read_deco.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/internal.h"

enum {
    DOMAINS_MAX = 32768,  /* compiled targets number domains like a heap: 2 n if balanced, else more */
    TERMINALS_MAX = 1024, /* implied links cost up to n^3 steps; a file of distances this long has 2 MB */
    LABEL_TEXT_MAX = 11,  /* digits of 32 bits, and the end */
};

struct terminals {
    uint32_t n;
    uint32_t *label;    /* [n] */
    uint32_t *weight;   /* [n] */
    uint32_t n_domains; /* compiled: of the tree; else n */
    uint32_t *of;       /* [n_domains] compiled: terminal of a domain, LBM_NONE for inner ones */
    uint32_t *dist;     /* [n * n] */
};

static const struct lbm_field field_label = {"terminal label", 0, INT32_MAX, ""};
static const struct lbm_field field_weight = {"terminal weight", 1, LBM_WEIGHT_MAX, ""};
static const struct lbm_field field_size = {"domain size", 0, LBM_HOSTS_MAX, ""};
static const struct lbm_field field_number = {"domain number", 1, UINT32_MAX, ""};
static const struct lbm_field field_dist = {"distance", 1, LBM_LINK_COST_MAX, ""};
static const struct lbm_field field_inner = {"distance", 0, UINT32_MAX, ""};

static enum lbm_err
next(struct lbm_scan *scan, const struct lbm_field *field, uint32_t *out)
{
    if (lbm_scan_text_done(scan))
        return lbm_scan_refuse(scan, LBM_E_SYNTAX, "the text ends where a %s should be", field->what);
    return lbm_scan_u32(scan, field, out);
}

/* Type 0: label, weight and number in the decomposition of every terminal. */
static enum lbm_err
read_terminals(struct lbm_scan *scan, struct terminals *t)
{
    enum lbm_err err = LBM_OK;
    t->n_domains = t->n;
    for (uint32_t i = 0, number; err == LBM_OK && i < t->n; i++) {
        t->of[i] = i;
        err = next(scan, &field_label, &t->label[i]);
        if (err == LBM_OK)
            err = next(scan, &field_weight, &t->weight[i]);
        if (err == LBM_OK)
            err = next(scan, &field_number, &number);
    }
    return err;
}

/* Type 1: least label, size and weight of every domain; those of size 1 are the terminals. */
static enum lbm_err
read_domains(struct lbm_scan *scan, struct terminals *t)
{
    enum lbm_err err = LBM_OK;
    uint32_t found = 0;
    for (uint32_t i = 0; err == LBM_OK && i < t->n_domains; i++) {
        uint32_t label, size, weight;
        t->of[i] = LBM_NONE;
        err = next(scan, &field_label, &label);
        if (err == LBM_OK)
            err = next(scan, &field_size, &size);
        if (err == LBM_OK)
            err = next(scan, size == 1 ? &field_weight : &field_inner, &weight);
        if (err != LBM_OK || size != 1)
            continue;
        if (found == t->n)
            return lbm_scan_refuse(scan, LBM_E_SYNTAX,
                                   "more domains of size 1 than the %" PRIu32 " terminals", t->n);
        t->of[i] = found;
        t->label[found] = label;
        t->weight[found++] = weight;
    }
    if (err == LBM_OK && found < t->n)
        return lbm_scan_refuse(scan, LBM_E_SYNTAX, "%" PRIu32 " domains of size 1 for %" PRIu32 " terminals",
                               found, t->n);
    return err;
}

/* The lower triangle, row by row; only distances between terminals matter. */
static enum lbm_err
read_distances(struct lbm_scan *scan, struct terminals *t)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 1; err == LBM_OK && i < t->n_domains; i++)
        for (uint32_t j = 0; err == LBM_OK && j < i; j++) {
            uint32_t p = t->of[i], q = t->of[j], d;
            int matters = p != LBM_NONE && q != LBM_NONE;
            err = next(scan, matters ? &field_dist : &field_inner, &d);
            if (err == LBM_OK && matters)
                t->dist[(size_t)p * t->n + q] = t->dist[(size_t)q * t->n + p] = d;
        }
    return err;
}

/* ---- hosts --------------------------------------------------------------------------------------- */

/* Host of each terminal: its label if the labels are 0 .. n - 1, else its place.
 * Out: host [n].  Returns whether the labels serve as ids. */
static int
number_hosts(const struct terminals *t, uint32_t *host)
{
    uint8_t taken[LBM_HOSTS_MAX] = {0};
    int ids = 1;
    for (uint32_t i = 0; i < t->n && ids; i++) {
        ids = t->label[i] < t->n && !taken[t->label[i]];
        if (ids)
            taken[t->label[i]] = 1;
    }
    for (uint32_t i = 0; i < t->n; i++)
        host[i] = ids ? t->label[i] : i;
    return ids;
}

static int
by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Labels become names: none twice. */
static enum lbm_err
check_labels(const struct terminals *t, struct lbm_scan *scan)
{
    enum lbm_err err = LBM_OK;
    uint32_t *sorted = lbm_copy(t->label, t->n, sizeof *sorted);
    if (sorted == NULL)
        return LBM_E_NOMEM;
    qsort(sorted, t->n, sizeof *sorted, by_number);
    for (uint32_t i = 1; err == LBM_OK && i < t->n; i++)
        if (sorted[i] == sorted[i - 1])
            err = lbm_scan_refuse(scan, LBM_E_SYNTAX, "two terminals have the number %" PRIu32, sorted[i]);
    free(sorted);
    return err;
}

static enum lbm_err
name_hosts(const struct terminals *t, struct lbm_hosts *h)
{
    h->name = lbm_alloc(t->n, sizeof *h->name);
    for (uint32_t i = 0; h->name != NULL && i < t->n; i++) {
        h->name[i] = lbm_alloc(LABEL_TEXT_MAX, 1);
        if (h->name[i] == NULL)
            return LBM_E_NOMEM;
        snprintf(h->name[i], LABEL_TEXT_MAX, "%" PRIu32, t->label[i]);
    }
    return h->name != NULL ? LBM_OK : LBM_E_NOMEM;
}

/* The hosts of the terminals. host [n] is working space. */
static enum lbm_err
make_hosts(const struct terminals *t, uint32_t *host, struct lbm_hosts *out)
{
    int ids = number_hosts(t, host);
    uint32_t n = t->n;
    struct lbm_link_vec links = {0};
    struct lbm_hosts h = {0};
    enum lbm_err err = lbm_links_of_distances(n, t->dist, &links);
    for (size_t i = 0; i < links.n; i++) {
        links.at[i].p = host[links.at[i].p];
        links.at[i].q = host[links.at[i].q];
    }
    if (err == LBM_OK)
        err = lbm_hosts_link(n, links.at, links.n, &h);
    lbm_vec_free(&links);
    if (err != LBM_OK)
        return err;
    for (uint32_t i = 0; i < n; i++) {
        h.capacity[host[i]] = t->weight[i];
        for (uint32_t j = 0; j < n; j++)
            h.dist[(size_t)host[i] * n + host[j]] = t->dist[(size_t)i * n + j];
    }
    err = lbm_sites_stress(&h);
    if (err == LBM_OK && !ids)
        err = name_hosts(t, &h);
    if (err == LBM_OK)
        *out = h;
    else
        lbm_hosts_free(&h);
    return err;
}

static const struct lbm_field field_type = {"type of deco", 0, 1, "types 0 and 1 are read"};
static const struct lbm_field field_terminals = {"number of terminals", 1, TERMINALS_MAX, ""};
static const struct lbm_field field_domains = {"number of domains", 1, DOMAINS_MAX, ""};

enum lbm_err
lbm_hosts_read_deco(struct lbm_scan *scan, struct lbm_hosts *out)
{
    struct terminals t = {0};
    uint32_t type = 0, *host = NULL;
    enum lbm_err err = next(scan, &field_type, &type);
    if (err == LBM_OK)
        err = next(scan, &field_terminals, &t.n);
    if (err == LBM_OK)
        err = next(scan, type == 1 ? &field_domains : &field_number, &t.n_domains);
    if (err != LBM_OK)
        return err;
    /* A terminal takes at least 6 characters: what is allocated here is bounded by the text. */
    if ((size_t)(scan->end - scan->at) < 6 * (size_t)t.n)
        return lbm_scan_refuse(scan, LBM_E_SYNTAX, "the text is too short for %" PRIu32 " terminals", t.n);
    t.label = lbm_alloc(t.n, sizeof *t.label);
    t.weight = lbm_alloc(t.n, sizeof *t.weight);
    t.of = lbm_alloc(type == 1 ? t.n_domains : t.n, sizeof *t.of);
    t.dist = lbm_alloc((size_t)t.n * t.n, sizeof *t.dist);
    host = lbm_alloc(t.n, sizeof *host);
    err = t.label && t.weight && t.of && t.dist && host ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK)
        err = type == 1 ? read_domains(scan, &t) : read_terminals(scan, &t);
    if (err == LBM_OK)
        err = read_distances(scan, &t);
    if (err == LBM_OK)
        err = check_labels(&t, scan);
    if (err == LBM_OK)
        err = make_hosts(&t, host, out);
    free(t.label);
    free(t.weight);
    free(t.of);
    free(t.dist);
    free(host);
    return err;
}
