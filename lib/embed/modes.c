/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HEI97's model problem in closed form: the spectrum of a sweep on a square lattice. */
#include <math.h>

#include "base/check.h"
#include "base/mutants.h"
#include "embed/embed.h"

/* A free lattice is its own mirror image: `side` steps of phase pi. A pinned one has its zeros on the
 * perimeter: side - 1 steps. */
double
lbm_lattice_factor(uint32_t side, int pinned, uint32_t i, uint32_t j)
{
    LBM_ASSERT(side >= 2 && i < side && j < side);
    double intervals = LBM_MUTANT(LATTICE_FACTOR, pinned ? side - 1.0 : side, side + 1.0);
    return 0.5 * (cos(M_PI * i / intervals) + cos(M_PI * j / intervals));
}

double
lbm_lattice_decay(uint32_t side, uint32_t iterates)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < side; i++)
        for (uint32_t j = 0; j < side; j++) {
            double factor = lbm_lattice_factor(side, 0, i, j);
            sum += pow(factor * factor, iterates);
        }
    return sum / ((double)side * LBM_MUTANT(LATTICE_DECAY, (double)side, 1.0));
}
