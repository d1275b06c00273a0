/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/model/clock.h"

enum { MILLION = 1000000 };

int64_t
clock_shows(const struct sim_clock *clock, int64_t true_us)
{
    int64_t passed = true_us - clock->true_us;
    return clock->shown_us + passed + passed * clock->ppm / MILLION;
}

int64_t
clock_reaches(const struct sim_clock *clock, int64_t shown_us)
{
    int64_t wait = shown_us - clock->shown_us;
    if (wait <= 0)
        return clock->true_us;
    if (wait > (int64_t)MILLION * MILLION) /* twelve days */
        return INT64_MAX;
    int64_t at = clock->true_us + wait * MILLION / (MILLION + clock->ppm);
    while (clock_shows(clock, at) < shown_us)
        at++;
    while (at > clock->true_us && clock_shows(clock, at - 1) >= shown_us)
        at--;
    return at;
}

void
clock_set_rate(struct sim_clock *clock, int64_t now_us, int32_t ppm)
{
    clock->shown_us = clock_shows(clock, now_us);
    clock->true_us = now_us;
    clock->ppm = ppm;
}
