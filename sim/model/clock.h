/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock of one machine: its own zero and its own rate. */
#ifndef LBM_SIM_MODEL_CLOCK_H
#define LBM_SIM_MODEL_CLOCK_H

#include <stdint.h>

struct sim_clock {
    int64_t true_us;  /* at this true time */
    int64_t shown_us; /* the clock shows this */
    int32_t ppm;      /* and gains that many microseconds a second; |ppm| < 100000 */
};

/* What the clock shows at a true time not before true_us. */
int64_t clock_shows(const struct sim_clock *clock, int64_t true_us);

/* The first true time at which the clock shows at least that; INT64_MAX if that is beyond any run. */
int64_t clock_reaches(const struct sim_clock *clock, int64_t shown_us);

/* From now on it gains so much. */
void clock_set_rate(struct sim_clock *clock, int64_t now_us, int32_t ppm);

#endif
