/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Network coordinates: places of hosts in a space where distances are round-trip times, so that the time
 * between two hosts that never measured it can be predicted.
 *
 * Source:  Dabek, Cox, Kaashoek, Morris, Vivaldi, SIGCOMM 2004: section 3 (adaptive timestep), 5.4 (heights).
 * Never:   measures; times come from the caller. */
#ifndef LBM_HOST_COORDINATES_H
#define LBM_HOST_COORDINATES_H

/* Three dimensions hold four sites that are equally far apart, and what is on a sphere. */
enum { LBM_COORDINATE_DIMENSIONS = 3 };

struct lbm_coordinate {
    double x[LBM_COORDINATE_DIMENSIONS]; /* microseconds */
    double height;                       /* from the host to where its way to all others begins; > 0 */
    double error;                        /* of what it foretells, relative, smoothed: 0 .. 1 */
};

/* Of a host that has measured nothing. */
struct lbm_coordinate lbm_coordinate_start(void);

/* Predicted round-trip time of two hosts, microseconds. */
double lbm_coordinate_distance(const struct lbm_coordinate *a, const struct lbm_coordinate *b);

/* The host at `self` has measured a round-trip time to the one at `other`: it is drawn nearer or pushed off.
 * In:      rtt_us > 0;  aside: any number, another one for each pair: where hosts of one place are pushed
 * Cost:    O(1). */
void lbm_coordinate_observe(struct lbm_coordinate *self, const struct lbm_coordinate *other, double rtt_us,
                            unsigned aside);

#endif
