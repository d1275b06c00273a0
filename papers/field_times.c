/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means of times on random loads, with their errors. */
#include "papers/field_times.h"

#include <math.h>

struct field_times
field_times_measure(struct table_run *t, struct lbm_field_run run, uint32_t runs)
{
    double sum = 0.0, square = 0.0;
    for (uint32_t i = 0; i < runs; i++) {
        uint32_t steps = 0;
        run.seed = t->options->seed * 1000003 + i;
        enum lbm_err err = lbm_field_time(&run, &steps);
        if (err != LBM_OK) {
            table_fail(t, err);
            return (struct field_times){nan(""), nan(""), runs};
        }
        sum += steps;
        square += (double)steps * steps;
    }
    double mean = sum / runs, variance = runs > 1 ? fmax(0.0, square / runs - mean * mean) / (runs - 1) : 0.0;
    return (struct field_times){mean, sqrt(variance), runs};
}

void
field_times_note(struct cell *cell, const struct field_times *times, double unit)
{
    if (times->runs > 1)
        cell_note(cell, "95 %%: %.3g to %.3g", (times->mean - 1.96 * times->error) / unit,
                  (times->mean + 1.96 * times->error) / unit);
    else
        cell_note(cell, "one run");
}
