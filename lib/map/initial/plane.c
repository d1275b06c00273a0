/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "map/internal.h"

/* Place of a Gray code among the numbers of its width: neighbours on the line differ in one bit. */
static uint32_t
gray_place(uint32_t code)
{
    uint32_t place = 0;
    for (; code != 0; code >>= 1)
        place ^= code;
    return place;
}

int
map_plane_sites(const struct lbm_hosts *h, double *site)
{
    if (h->topology != LBM_TOPOLOGY_HYPERCUBE)
        return 0;
    uint32_t low = (h->dims[0] + 1) / 2, high = h->dims[0] - low; /* bits on either axis */
    for (uint32_t p = 0; p < h->n; p++) {
        uint32_t x = p & ((UINT32_C(1) << low) - 1), y = p >> low;
        site[2 * (size_t)p] = (gray_place(x) + 0.5) / (UINT32_C(1) << low);
        site[2 * (size_t)p + 1] = (gray_place(y) + 0.5) / (UINT32_C(1) << high);
    }
    return 1;
}
