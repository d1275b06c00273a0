/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights in units of their common divisor, so that a factor of all of them changes nothing. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "map/problem.h"

/* The largest divisor of all that are not 0; 1 if there is none. */
static uint32_t
common_divisor(const uint32_t *number, uint64_t n)
{
    uint32_t divisor = 0;
    for (uint64_t i = 0; number != NULL && i < n && divisor != 1; i++)
        for (uint32_t rest = number[i]; rest != 0;) {
            uint32_t next = divisor % rest;
            divisor = rest;
            rest = next;
        }
    return divisor != 0 ? divisor : 1;
}

enum lbm_err
units_scale(const uint32_t *number, uint64_t n, uint32_t *unit, uint32_t **scaled)
{
    *unit = common_divisor(number, n);
    if (*unit == 1)
        return LBM_OK;
    *scaled = lbm_alloc(n, sizeof **scaled);
    for (uint64_t i = 0; *scaled != NULL && i < n; i++)
        (*scaled)[i] = number[i] / *unit;
    return *scaled != NULL ? LBM_OK : LBM_E_NOMEM;
}

/* Sum in units; exact up to 2^53 of them. */
static double
sum_of(const uint32_t *number, uint64_t n, uint32_t unit)
{
    double sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += number != NULL ? number[i] / unit : 1;
    return sum;
}

double
lbm_map_migration_cost_of(double weight, double work, uint32_t n, uint32_t n_hosts)
{
    double border = n_hosts < n ? sqrt((double)n_hosts / n) : 1;
    return work > 0 ? 6 * weight / work * border : 0;
}

double
lbm_map_migration_cost(const struct lbm_graph *g, uint32_t n_hosts)
{
    uint64_t directions = lbm_graph_directions(g);
    uint32_t weight_unit = common_divisor(g->weight, directions), work_unit = common_divisor(g->work, g->n);
    double weight = sum_of(g->weight, directions, weight_unit), work = sum_of(g->work, g->n, work_unit);
    /* Rounded before the units come in: problem_open finds the same number again in its own. */
    return (double)(float)lbm_map_migration_cost_of(weight / 2, work, g->n, n_hosts) * weight_unit /
           work_unit;
}
