/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edge colouring of arbitrary graphs, link by link.
 * Sources: Koenig 1916 (alternating paths in bipartite graphs); Misra, Gries 1992 (fans). Colours that stay
 * when the graph changes elsewhere: greedy in a random order, whose chains of dependence are short (Blelloch,
 * Fineman, Shun 2012). */
#include "host/colour.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "host/internal.h"

_Static_assert(LBM_HOSTS_MAX < UINT16_MAX, "a host's id, or NOBODY, fits 16 bits");
enum { NOBODY = UINT16_MAX };

/* partner[p * width + c] is the host that p is linked to by colour c, or NOBODY. */
struct palette {
    uint32_t width; /* colours */
    uint16_t *partner;
};

static uint16_t *
slot(const struct palette *palette, uint32_t p, uint32_t c)
{
    return &palette->partner[(size_t)p * palette->width + c];
}

static int
is_free(const struct palette *palette, uint32_t p, uint32_t c)
{
    return *slot(palette, p, c) == NOBODY;
}

static uint32_t
least_free(const struct palette *palette, uint32_t p)
{
    uint32_t c = 0;
    while (c < palette->width && !is_free(palette, p, c))
        c++;
    LBM_ASSERT(c < palette->width);
    return c;
}

static void
set(const struct palette *palette, uint32_t p, uint32_t q, uint32_t c)
{
    *slot(palette, p, c) = (uint16_t)q;
    *slot(palette, q, c) = (uint16_t)p;
}

/* Exchange colours c and d along the path of alternating c and d links that begins at p with c; d is free
 * at p. A path, not a cycle: its ends lack one of the two. */
static void
flip(const struct palette *palette, uint32_t p, uint32_t c, uint32_t d)
{
    uint32_t previous = NOBODY; /* the host before p on the path, linked to it by d, now by c */
    while (p != NOBODY) {
        uint32_t next = *slot(palette, p, c);
        *slot(palette, p, d) = (uint16_t)next;
        *slot(palette, p, c) = (uint16_t)previous;
        previous = p;
        p = next;
        uint32_t swap = c;
        c = d;
        d = swap;
    }
}

/* ---- bipartite ----------------------------------------------------------------------------------- */

static int
is_bipartite(const struct lbm_hosts *h, const uint32_t *hops)
{
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++)
            if ((hops[p] + hops[h->target[i]]) % 2 == 0)
                return 0;
    return 1;
}

/* A colour free at p, and at q after flipping q's path, which cannot end at p: it would close an odd cycle.
 */
static void
colour_bipartite(const struct palette *palette, uint32_t p, uint32_t q)
{
    uint32_t c = least_free(palette, p), d = least_free(palette, q);
    if (!is_free(palette, q, c))
        flip(palette, q, c, d);
    set(palette, p, q, c);
}

/* ---- arbitrary ----------------------------------------------------------------------------------- */

/* A fan of p: partners whose link to p has a colour that is free at the partner before. The first has no
 * colour yet. Shifting each colour one partner back frees the last link. */
struct fan {
    uint32_t n;
    uint16_t *host;   /* [Delta] */
    uint32_t *colour; /* [Delta] of the link to p; of the first undefined */
    uint8_t *member;  /* [n of hosts] */
};

static int
fan_extend(const struct palette *palette, uint32_t p, struct fan *fan)
{
    uint32_t last = fan->host[fan->n - 1];
    for (uint32_t c = 0; c < palette->width; c++) {
        uint32_t q = *slot(palette, p, c);
        if (q != NOBODY && is_free(palette, last, c) && !fan->member[q]) {
            fan->host[fan->n] = (uint16_t)q;
            fan->colour[fan->n++] = c;
            fan->member[q] = 1;
            return 1;
        }
    }
    return 0;
}

/* Shift the colours of the fan up to its last-th host one back, and give that link colour d. */
static void
fan_rotate(const struct palette *palette, uint32_t p, const struct fan *fan, uint32_t last, uint32_t d)
{
    for (uint32_t i = 1; i <= last; i++)
        *slot(palette, p, fan->colour[i]) = *slot(palette, fan->host[i], fan->colour[i]) = NOBODY;
    for (uint32_t i = 0; i < last; i++)
        set(palette, p, fan->host[i], fan->colour[i + 1]);
    set(palette, p, fan->host[last], d);
}

/* A colour that both lack, or LBM_NONE. */
static uint32_t
common_free(const struct palette *palette, uint32_t p, uint32_t q)
{
    for (uint32_t c = 0; c < palette->width; c++)
        if (is_free(palette, p, c) && is_free(palette, q, c))
            return c;
    return LBM_NONE;
}

/* The fan cannot grow: give p the colour d that its last host lacks by flipping p's path of d and c. That
 * leaves a part of the fan whole whose last host lacks d: the part before the link that was d, unless the
 * path ended there, else all of it.  Returns the index of that host. */
static uint32_t
free_by_flip(const struct palette *palette, uint32_t p, struct fan *fan, uint32_t d)
{
    uint32_t c = least_free(palette, p), last = 0;
    flip(palette, p, d, c);
    for (uint32_t i = 1; i < fan->n; i++)
        if (fan->colour[i] == d)
            fan->colour[i] = c;
    while (!is_free(palette, fan->host[last], d)) {
        last++;
        LBM_ASSERT(last < fan->n);
    }
    return last;
}

static void
colour_by_fan(const struct palette *palette, uint32_t p, uint32_t q, struct fan *fan)
{
    fan->n = 1;
    fan->host[0] = (uint16_t)q;
    fan->member[q] = 1;
    uint32_t d = common_free(palette, p, q);
    while (d == LBM_NONE && fan_extend(palette, p, fan))
        d = common_free(palette, p, fan->host[fan->n - 1]);
    uint32_t last = fan->n - 1;
    if (d == LBM_NONE) {
        d = least_free(palette, fan->host[last]);
        last = free_by_flip(palette, p, fan, d);
    }
    fan_rotate(palette, p, fan, last, d);
    for (uint32_t i = 0; i < fan->n; i++)
        fan->member[fan->host[i]] = 0;
}

static enum lbm_err
colour_arbitrary(const struct lbm_hosts *h, const struct palette *palette)
{
    struct fan fan = {
        .host = lbm_alloc(palette->width, sizeof *fan.host),
        .colour = lbm_alloc(palette->width, sizeof *fan.colour),
        .member = lbm_alloc(h->n, sizeof *fan.member),
    };
    enum lbm_err err = fan.host && fan.colour && fan.member ? LBM_OK : LBM_E_NOMEM;
    for (uint32_t p = 0; err == LBM_OK && p < h->n; p++)
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++)
            if (p < h->target[i])
                colour_by_fan(palette, p, h->target[i], &fan);
    free(fan.host);
    free(fan.colour);
    free(fan.member);
    return err;
}

/* ---- result -------------------------------------------------------------------------------------- */

static uint32_t
direction(const struct lbm_hosts *h, uint32_t p, uint32_t q)
{
    uint32_t lo = h->offset[p], hi = h->offset[p + 1];
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (h->target[mid] <= q)
            lo = mid;
        else
            hi = mid;
    }
    LBM_ASSERT(h->target[lo] == q);
    return lo;
}

/* Colours that no link has are left out of the numbering. */
static uint32_t
write_colours(const struct lbm_hosts *h, const struct palette *palette, uint32_t *colour)
{
    uint32_t used = 0;
    for (uint32_t c = 0; c < palette->width; c++) {
        int in_use = 0;
        for (uint32_t p = 0; p < h->n; p++)
            if (!is_free(palette, p, c)) {
                colour[direction(h, p, *slot(palette, p, c))] = used;
                in_use = 1;
            }
        used += (uint32_t)in_use;
    }
    return used;
}

uint32_t
lbm_colour_general(const struct lbm_hosts *h, uint32_t *colour)
{
    uint32_t degree = 0, used = 0;
    for (uint32_t p = 0; p < h->n; p++) {
        uint32_t own = h->offset[p + 1] - h->offset[p];
        degree = own > degree ? own : degree;
    }
    uint32_t *hops = lbm_alloc(h->n, sizeof *hops), *order = lbm_alloc(h->n, sizeof *order);
    struct palette palette = {.width = degree + 1};
    palette.partner = lbm_alloc((size_t)h->n * palette.width, sizeof *palette.partner);
    if (hops == NULL || order == NULL || palette.partner == NULL)
        goto out;
    memset(palette.partner, 0xff, (size_t)h->n * palette.width * sizeof *palette.partner);
    uint32_t reached = lbm_hosts_hops(h, 0, hops, order);
    LBM_ASSERT(reached == h->n);
    if (is_bipartite(h, hops)) {
        for (uint32_t p = 0; p < h->n; p++)
            for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++)
                if (p < h->target[i])
                    colour_bipartite(&palette, p, h->target[i]);
        used = write_colours(h, &palette, colour);
    } else if (colour_arbitrary(h, &palette) == LBM_OK) {
        used = write_colours(h, &palette, colour);
    }
out:
    free(hops);
    free(order);
    free(palette.partner);
    return used;
}

/* ---- colours that stay ----------------------------------------------------------------------------- */

struct ranked_link {
    uint64_t rank;
    uint32_t p, q;
};

static int
by_rank(const void *a, const void *b)
{
    const struct ranked_link *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->p != y->p)
        return x->p < y->p ? -1 : 1;
    return x->q < y->q ? -1 : x->q > y->q;
}

/* Of two ids, lower first; a bijection, so that links of different ends never rank alike. */
static uint64_t
rank_of(uint32_t id, uint32_t other)
{
    uint64_t x = (uint64_t)(id < other ? id : other) << 32 | (id < other ? other : id);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* The least colour in neither set; sets of `words` words, of which one bit at least is free in both. */
static uint32_t
least_in_neither(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++) {
        uint64_t free_of_both = ~(a[w] | b[w]);
        if (free_of_both != 0)
            return 64 * w + (uint32_t)__builtin_ctzll(free_of_both);
    }
    LBM_ASSERT(!"two hosts have fewer than twice the largest degree links");
    return 0;
}

uint32_t
lbm_hosts_colour_stable(const struct lbm_hosts *h, const uint32_t *id, uint32_t *colour)
{
    uint32_t degree = 0, used = 0, n_links = 0;
    for (uint32_t p = 0; p < h->n; p++) {
        uint32_t own = h->offset[p + 1] - h->offset[p];
        degree = own > degree ? own : degree;
    }
    uint32_t words = 2 * degree / 64 + 1;
    struct ranked_link *links = lbm_alloc(h->offset[h->n] / 2, sizeof *links);
    uint64_t *taken = lbm_alloc((size_t)h->n * words, sizeof *taken);
    if (links == NULL || taken == NULL)
        goto out;
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++)
            if (p < h->target[e])
                links[n_links++] = (struct ranked_link){rank_of(id[p], id[h->target[e]]), p, h->target[e]};
    qsort(links, n_links, sizeof *links, by_rank);
    for (uint32_t i = 0; i < n_links; i++) {
        uint32_t p = links[i].p, q = links[i].q;
        uint64_t *at_p = &taken[(size_t)p * words], *at_q = &taken[(size_t)q * words];
        uint32_t c = least_in_neither(at_p, at_q, words);
        at_p[c / 64] |= UINT64_C(1) << c % 64;
        at_q[c / 64] |= UINT64_C(1) << c % 64;
        colour[direction(h, p, q)] = colour[direction(h, q, p)] = c;
        used = c + 1 > used ? c + 1 : used;
    }
out:
    free(links);
    free(taken);
    return used;
}
