/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edge colouring of host graphs: closed forms of products, else colour_general.c. */
#include <stdlib.h>

#include "base/check.h"
#include "host/colour.h"
#include "host/internal.h"

/* ---- chain, ring, mesh, torus: axis by axis (XL95 section 2) -------------------------------------- */

static int
wraps(const struct lbm_hosts *h)
{
    return h->topology == LBM_TOPOLOGY_RING || h->topology == LBM_TOPOLOGY_TORUS;
}

/* Links of an axis: (0,1) (2,3).., then (1,2) (3,4)..; the closing link of an odd ring comes third. */
static uint32_t
axis_colours(uint32_t extent, int wrap)
{
    if (extent < 3)
        return extent - 1;
    return wrap && extent % 2 == 1 ? 3 : 2;
}

static uint32_t
axis_colour(uint32_t a, uint32_t b, uint32_t extent)
{
    uint32_t lo = a < b ? a : b, hi = a < b ? b : a;
    if (hi == lo + 1)
        return lo % 2;
    return extent % 2 == 1 ? 2 : 1;
}

static uint32_t
colours_axes(const struct lbm_hosts *h)
{
    uint32_t n = 0;
    for (unsigned k = 0; k < 3; k++)
        n += axis_colours(h->dims[k], wraps(h));
    return n;
}

static uint32_t
colour_axes(const struct lbm_hosts *h, uint32_t p, uint32_t q)
{
    uint32_t below = 0;
    for (unsigned k = 0; k < 3; k++) {
        uint32_t extent = h->dims[k], a = p % extent, b = q % extent;
        if (a != b)
            return below + axis_colour(a, b, extent);
        below += axis_colours(extent, wraps(h));
        p /= extent;
        q /= extent;
    }
    LBM_ASSERT(!"hosts that are linked differ in one coordinate");
    return 0;
}

/* ---- hypercube: by the bit that differs ---------------------------------------------------------- */

static uint32_t
colours_hypercube(const struct lbm_hosts *h)
{
    return h->dims[0];
}

static uint32_t
colour_hypercube(const struct lbm_hosts *h, uint32_t p, uint32_t q)
{
    (void)h;
    uint32_t bit = 0;
    while (((p ^ q) >> bit & 1) == 0)
        bit++;
    return bit;
}

/* ---- complete: a round-robin tournament ---------------------------------------------------------- */

static uint32_t
colours_complete(const struct lbm_hosts *h)
{
    return h->n % 2 == 0 ? h->n - 1 : h->n < 2 ? 0 : h->n;
}

/* With an odd number of players p meets q in round p + q mod n and rests once; of an even number the last
 * meets whoever rests. */
static uint32_t
colour_complete(const struct lbm_hosts *h, uint32_t p, uint32_t q)
{
    uint32_t rounds = h->n % 2 == 0 ? h->n - 1 : h->n;
    if (h->n % 2 == 0 && (p == h->n - 1 || q == h->n - 1))
        return 2 * (p < q ? p : q) % rounds;
    return (p + q) % rounds;
}

/* ---- star, tree: children count on from the colour of their parent's own link ------------------------ */

static uint32_t
arity(const struct lbm_hosts *h)
{
    return h->topology == LBM_TOPOLOGY_STAR ? h->n - 1 : h->offset[1];
}

/* Links to the children of the root have the colours 0 .. K - 1; the others skip that of the link above. */
static uint32_t
colours_tree(const struct lbm_hosts *h)
{
    uint32_t k = arity(h);
    return h->n < 2 ? 0 : h->n - 1 == k ? k : k + 1;
}

static uint32_t
colour_tree(const struct lbm_hosts *h, uint32_t p, uint32_t q)
{
    uint32_t k = arity(h), colour = 0;
    uint32_t path[32], depth = 0; /* a tree of 8192 hosts is no deeper, but for k = 1: a chain */
    uint32_t child = p < q ? q : p;
    if (k == 1)
        return (child - 1) % 2;
    for (; child != 0; child = (child - 1) / k)
        path[depth++] = (child - 1) % k;
    colour = path[--depth];
    while (depth-- != 0)
        colour = (colour + 1 + path[depth]) % (k + 1);
    return colour;
}

/* ---- dispatch ------------------------------------------------------------------------------------ */

static const struct closed_form {
    uint32_t (*colours)(const struct lbm_hosts *h);
    uint32_t (*colour)(const struct lbm_hosts *h, uint32_t p, uint32_t q);
} closed_forms[LBM_TOPOLOGY_COUNT] = {
    [LBM_TOPOLOGY_CHAIN] = {colours_axes, colour_axes},
    [LBM_TOPOLOGY_RING] = {colours_axes, colour_axes},
    [LBM_TOPOLOGY_MESH] = {colours_axes, colour_axes},
    [LBM_TOPOLOGY_TORUS] = {colours_axes, colour_axes},
    [LBM_TOPOLOGY_HYPERCUBE] = {colours_hypercube, colour_hypercube},
    [LBM_TOPOLOGY_COMPLETE] = {colours_complete, colour_complete},
    [LBM_TOPOLOGY_STAR] = {colours_tree, colour_tree},
    [LBM_TOPOLOGY_TREE] = {colours_tree, colour_tree},
};

uint32_t
lbm_hosts_colour(const struct lbm_hosts *h, uint32_t *colour)
{
    const struct closed_form *form = &closed_forms[h->topology];
    if (form->colour == NULL)
        return lbm_colour_general(h, colour);
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++)
            colour[i] = form->colour(h, p, h->target[i]);
    return form->colours(h);
}
