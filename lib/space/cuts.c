/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recursive halves: sites are cut in two across their longer side, again and again, and points are cut at the
 * same axes where the parts on both sides are as large as the sites there are due. What a power diagram of
 * thousands of regions takes minutes for takes milliseconds, and loads fit the points exactly. */
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "space/space.h"

struct place {
    double x;
    uint32_t i;
};

static int
by_place(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->i > q->i) - (p->i < q->i);
}

/* Sort item [n], rows of x [* m], along an axis. */
static void
sort_along(uint32_t n, uint32_t *item, const double *x, unsigned m, unsigned axis, struct place *room)
{
    for (uint32_t k = 0; k < n; k++)
        room[k] = (struct place){x[(size_t)item[k] * m + axis], item[k]};
    qsort(room, n, sizeof *room, by_place);
    for (uint32_t k = 0; k < n; k++)
        item[k] = room[k].i;
}

static unsigned
longest_side(uint32_t n, const uint32_t *item, const double *x, unsigned m)
{
    unsigned longest = 0;
    double length = -1;
    for (unsigned k = 0; k < m; k++) {
        double least = x[(size_t)item[0] * m + k], most = least;
        for (uint32_t i = 1; i < n; i++) {
            double at = x[(size_t)item[i] * m + k];
            least = at < least ? at : least;
            most = at > most ? at : most;
        }
        if (most - least > length * (1 + 1e-9)) {
            length = most - least;
            longest = k;
        }
    }
    return longest;
}

/* How many of n sorted sites lie before the cut: half of them, or nearly if that does not part sites that lie
 * side by side. */
static uint32_t
halve(uint32_t n, const uint32_t *item, const double *x, unsigned m, unsigned axis)
{
    for (uint32_t off = 0; off <= n / 6; off++)
        for (int sign = -1; sign <= 1; sign += 2) {
            uint32_t at = sign < 0 ? n / 2 - off : n / 2 + off;
            if (at >= 1 && at < n && x[(size_t)item[at - 1] * m + axis] < x[(size_t)item[at] * m + axis])
                return at;
        }
    return n / 2;
}

enum lbm_err
lbm_cuts_plan(uint32_t n, unsigned m, const double *site, struct lbm_cuts *out)
{
    struct range {
        uint32_t first, n, cut;
    } *stack = lbm_alloc(n, sizeof *stack);
    struct place *room = lbm_alloc(n, sizeof *room);
    struct lbm_cuts cuts = {.n = n,
                            .m = m,
                            .region = lbm_alloc(n, sizeof *cuts.region),
                            .lower = lbm_alloc(n, sizeof *cuts.lower),
                            .axis = lbm_alloc(n, 1)};
    if (stack == NULL || room == NULL || cuts.region == NULL || cuts.lower == NULL || cuts.axis == NULL) {
        free(stack);
        free(room);
        lbm_cuts_free(&cuts);
        return LBM_E_NOMEM;
    }
    for (uint32_t p = 0; p < n; p++)
        cuts.region[p] = p;
    uint32_t open = 0;
    if (n > 1)
        stack[open++] = (struct range){0, n, 0};
    while (open > 0) {
        struct range r = stack[--open];
        uint32_t *item = &cuts.region[r.first];
        unsigned axis = longest_side(r.n, item, site, m);
        sort_along(r.n, item, site, m, axis, room);
        uint32_t lower = halve(r.n, item, site, m, axis);
        cuts.axis[r.cut] = (uint8_t)axis;
        cuts.lower[r.cut] = lower;
        if (lower > 1)
            stack[open++] = (struct range){r.first, lower, r.cut + 1};
        if (r.n - lower > 1)
            stack[open++] = (struct range){r.first + lower, r.n - lower, r.cut + lower};
    }
    free(stack);
    free(room);
    *out = cuts;
    return LBM_OK;
}

void
lbm_cuts_free(struct lbm_cuts *cuts)
{
    free(cuts->region);
    free(cuts->lower);
    free(cuts->axis);
    *cuts = (struct lbm_cuts){0};
}

/* How many of n sorted points lie before the cut: those whose work together comes nearest to a share. */
static uint32_t
share_of(uint32_t n, const uint32_t *item, const uint32_t *work, double share)
{
    double whole = 0, before = 0;
    for (uint32_t i = 0; i < n; i++)
        whole += work != NULL ? work[item[i]] : 1;
    for (uint32_t i = 0; i < n; i++) {
        double more = work != NULL ? work[item[i]] : 1;
        if (before + more / 2 > share * whole)
            return i;
        before += more;
    }
    return n;
}

enum lbm_err
lbm_cuts_place(const struct lbm_cuts *cuts, const double *due, uint32_t n_points, const double *point,
               const uint32_t *work, double *at)
{
    struct range {
        uint32_t first, n, cut, first_point, n_points;
    } *stack = lbm_alloc(cuts->n, sizeof *stack);
    struct place *room = lbm_alloc(n_points, sizeof *room);
    uint32_t *item = lbm_alloc(n_points, sizeof *item), open = 0;
    unsigned m = cuts->m;
    enum lbm_err err = stack == NULL || room == NULL || item == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t i = 0; err == LBM_OK && i < n_points; i++)
        item[i] = i;
    if (err == LBM_OK && cuts->n > 1)
        stack[open++] = (struct range){0, cuts->n, 0, 0, n_points};
    while (open > 0) {
        struct range r = stack[--open];
        uint32_t *own = &item[r.first_point], lower = cuts->lower[r.cut];
        unsigned axis = cuts->axis[r.cut];
        double before = 0, whole = 0;
        for (uint32_t p = 0; p < r.n; p++) {
            whole += due[cuts->region[r.first + p]];
            before += p < lower ? due[cuts->region[r.first + p]] : 0;
        }
        sort_along(r.n_points, own, point, m, axis, room);
        uint32_t n = share_of(r.n_points, own, work, before / whole);
        const double *left = n > 0 ? &point[(size_t)own[n - 1] * m + axis] : NULL,
                     *right = n < r.n_points ? &point[(size_t)own[n] * m + axis] : left;
        left = left != NULL ? left : right;
        at[r.cut] = left != NULL ? (*left + *right) / 2 : 0.5;
        if (lower > 1)
            stack[open++] = (struct range){r.first, lower, r.cut + 1, r.first_point, n};
        if (r.n - lower > 1)
            stack[open++] = (struct range){r.first + lower, r.n - lower, r.cut + lower, r.first_point + n,
                                           r.n_points - n};
    }
    free(stack);
    free(room);
    free(item);
    return err;
}

uint32_t
lbm_cuts_find(const struct lbm_cuts *cuts, const double *at, const double *x)
{
    uint32_t first = 0, n = cuts->n, cut = 0;
    LBM_ASSERT(n >= 1);
    while (n > 1) {
        uint32_t lower = cuts->lower[cut];
        if (x[cuts->axis[cut]] < at[cut]) {
            n = lower;
            cut++;
        } else {
            first += lower;
            n -= lower;
            cut += lower;
        }
    }
    return cuts->region[first];
}
