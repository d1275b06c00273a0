/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/remap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "file/file.h"

/* Power weight of a region that is gone, below all others by more than the unit box's diagonal squared. */
static const double SUNK = 4;

/* A host by its name or its id; LBM_NONE: there is none. */
static uint32_t
find_host(const struct lbm_hosts *h, const char *word)
{
    for (uint32_t p = 0; h->name != NULL && p < h->n; p++)
        if (strcmp(h->name[p], word) == 0)
            return p;
    if (*word == '\0' || word[strspn(word, "0123456789")] != '\0' || strlen(word) > 9)
        return LBM_NONE;
    uint32_t id = (uint32_t)strtoul(word, NULL, 10);
    return id < h->n ? id : LBM_NONE;
}

/* Mark the hosts of a list, whose text is cut up. */
static enum lbm_err
mark(const struct lbm_hosts *h, char *list, uint8_t *gone, struct lbm_diag *diag)
{
    for (char *word = list; word != NULL;) {
        char *comma = strchr(word, ',');
        if (comma != NULL)
            *comma = '\0';
        uint32_t p = find_host(h, word);
        if (p == LBM_NONE)
            return lbm_diag_set(diag, LBM_E_RANGE, "--without", 0,
                                "'%.80s' is not a host; ids are 0 to %" PRIu32 ", as in --without 3,5", word,
                                h->n - 1);
        if (gone[p])
            return lbm_diag_set(diag, LBM_E_SYNTAX, "--without", 0, "host %.80s is named twice", word);
        gone[p] = 1;
        word = comma != NULL ? comma + 1 : NULL;
    }
    return LBM_OK;
}

enum lbm_err
lbm_remap_without(struct lbm_remap *remap, const char *list, struct lbm_hosts *h, struct lbm_diag *diag)
{
    struct lbm_hosts left = {0};
    uint8_t *gone = lbm_alloc(h->n, 1);
    uint32_t *number = lbm_alloc(h->n, sizeof *number);
    char *words = lbm_copy(list, strlen(list) + 1, 1);
    enum lbm_err err = LBM_E_NOMEM;
    if (gone != NULL && number != NULL && words != NULL)
        err = mark(h, words, gone, diag);
    if (err == LBM_OK)
        err = lbm_hosts_without(h, gone, number, &left, diag);
    if (err == LBM_E_NOMEM)
        (void)lbm_diag_set(diag, err, "--without", 0, "out of memory");
    for (uint32_t p = 0; err == LBM_OK && p < h->n; p++)
        h->capacity[p] = gone[p] ? 0 : h->capacity[p];
    free(gone);
    free(words);
    if (err != LBM_OK) {
        free(number);
        return err;
    }
    remap->all = *h;
    remap->number = number;
    *h = left;
    return LBM_OK;
}

enum lbm_err
lbm_remap_read(struct lbm_remap *remap, const char *path, const struct lbm_graph *g,
               const struct lbm_hosts *h, struct lbm_diag *diag)
{
    uint32_t n_hosts = remap->all.n != 0 ? remap->all.n : h->n;
    enum lbm_err err = lbm_file_map(path, g, n_hosts, &remap->current, diag);
    for (uint32_t v = 0; err == LBM_OK && remap->all.n != 0 && v < g->n; v++)
        remap->current[v] = remap->number[remap->current[v]];
    return err;
}

enum lbm_err
lbm_remap_pins(const struct lbm_remap *remap, struct lbm_graph *g, struct lbm_diag *diag)
{
    for (uint32_t v = 0; remap->all.n != 0 && g->pin != NULL && v < g->n; v++) {
        uint32_t pin = g->pin[v];
        if (pin == LBM_NONE || pin >= remap->all.n)
            continue; /* what names no host is refused by the plan */
        if (remap->number[pin] == LBM_NONE)
            return lbm_diag_set(diag, LBM_E_RANGE, "--without", 0,
                                "vertex %" PRIu32 " is pinned to host %" PRIu32 ", which is gone", v, pin);
        g->pin[v] = remap->number[pin];
    }
    return LBM_OK;
}

enum lbm_err
lbm_remap_finish(const struct lbm_remap *remap, struct lbm_plan *plan)
{
    const struct lbm_hosts *all = &remap->all;
    if (all->n == 0)
        return LBM_OK;
    double *weight = lbm_alloc(all->n, sizeof *weight), least = 0;
    uint32_t *id = lbm_alloc(all->n, sizeof *id);
    if (weight == NULL || id == NULL) {
        free(weight);
        free(id);
        return LBM_E_NOMEM;
    }
    for (uint32_t p = 0; p < all->n; p++)
        if (remap->number[p] != LBM_NONE) {
            id[remap->number[p]] = p;
            weight[p] = plan->weight[remap->number[p]];
            least = weight[p] < least ? weight[p] : least;
        }
    for (uint32_t p = 0; p < all->n; p++)
        if (remap->number[p] == LBM_NONE)
            weight[p] = least - SUNK;
    for (uint32_t v = 0; v < plan->n; v++)
        plan->part[v] = id[plan->part[v]];
    free(plan->weight);
    free(id);
    plan->weight = weight;
    return LBM_OK;
}

void
lbm_remap_free(struct lbm_remap *remap)
{
    lbm_hosts_free(&remap->all);
    free(remap->number);
    free(remap->current);
    *remap = (struct lbm_remap){0};
}
