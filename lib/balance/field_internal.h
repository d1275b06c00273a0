/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boxes of hosts: what the files of a field share. */
#ifndef LBM_BALANCE_FIELD_INTERNAL_H
#define LBM_BALANCE_FIELD_INTERNAL_H

#include "balance/field.h"

/* A block of a field. Along an axis of size 1 there are no links. odd: the box begins at an odd place. */
struct box {
    uint32_t size[LBM_FIELD_DIMENSIONS_MAX];
    uint32_t odd[LBM_FIELD_DIMENSIONS_MAX];
    double *load, *next;
};

void lbm_box_diffuse(struct box *b, double alpha, int ring);
void lbm_box_exchange(struct box *b, double lambda);

/* The load of a host by its number: a step of splitmix64. */
static inline double
lbm_field_drawn(uint64_t seed, uint64_t host)
{
    uint64_t z = (seed * UINT64_C(0xd1342543de82ef95) + host) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return 0x1p-52 * (double)((z ^ (z >> 31)) >> 11);
}

#endif
