/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Named topologies in host graphs that were made from members: by the numbers of the hosts, as the generators
 * number them. */
#include "host/host.h"

static int
is_hypercube(const struct lbm_hosts *h)
{
    uint32_t bits = 0;
    while (bits < 31 && UINT32_C(1) << bits < h->n)
        bits++;
    if (h->n < 2 || UINT32_C(1) << bits != h->n || h->offset[h->n] != h->n * bits)
        return 0;
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++) {
            uint32_t change = p ^ h->target[e];
            if (change == 0 || (change & (change - 1)) != 0)
                return 0;
        }
    return 1;
}

/* Nonzero if p and q are neighbours on exactly one axis. */
static int
is_grid_link(const uint32_t *dims, int wrap, uint32_t p, uint32_t q)
{
    unsigned apart = 0;
    for (unsigned k = 0; k < 3; k++) {
        uint32_t a = p % dims[k], b = q % dims[k], d = a < b ? b - a : a - b;
        p /= dims[k];
        q /= dims[k];
        if (d == 0)
            continue;
        if (d != 1 && !(wrap && d == dims[k] - 1))
            return 0;
        apart++;
    }
    return apart == 1;
}

/* All links of h are links of the grid, and there are as many. */
static int
is_grid(const struct lbm_hosts *h, const uint32_t *dims, int wrap)
{
    uint64_t links = 0;
    for (unsigned k = 0; k < 3; k++) {
        uint64_t lines = h->n / dims[k];
        links += lines * (wrap && dims[k] > 2 ? dims[k] : dims[k] - 1);
    }
    if (h->offset[h->n] != 2 * links)
        return 0;
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++)
            if (!is_grid_link(dims, wrap, p, h->target[e]))
                return 0;
    return 1;
}

static int
set_grid(struct lbm_hosts *h, const uint32_t *dims, int wrap)
{
    if (!is_grid(h, dims, wrap))
        return 0;
    int line = dims[1] == 1 && dims[2] == 1;
    h->topology = line ? (wrap ? LBM_TOPOLOGY_RING : LBM_TOPOLOGY_CHAIN)
                       : (wrap ? LBM_TOPOLOGY_TORUS : LBM_TOPOLOGY_MESH);
    for (unsigned k = 0; k < 3; k++)
        h->dims[k] = dims[k];
    return 1;
}

int
lbm_hosts_recognise(struct lbm_hosts *h)
{
    if (is_hypercube(h)) {
        uint32_t bits = h->offset[1];
        h->topology = LBM_TOPOLOGY_HYPERCUBE;
        h->dims[0] = bits;
        h->dims[1] = h->dims[2] = 1;
        return 1;
    }
    if (h->offset[h->n] > 6 * h->n || h->n < 2)
        return 0;
    for (uint32_t a = h->n; a >= 2; a--) {
        if (h->n % a != 0)
            continue;
        for (uint32_t b = h->n / a; b >= 1; b--) {
            uint32_t dims[3] = {a, b, h->n / a / b};
            if (h->n / a % b != 0 || (b == 1 && dims[2] != 1))
                continue;
            if (set_grid(h, dims, 0) || set_grid(h, dims, 1))
                return 1;
        }
    }
    return 0;
}
