/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "host/coordinates.h"

#include <math.h>

/* The constants of the paper's section 3.5: how far a measurement moves a host, and its error. */
static const double step = 0.25, smoothing = 0.25;

static const double height_least_us = 10, error_most = 1, error_least = 0.01;

struct lbm_coordinate
lbm_coordinate_start(void)
{
    return (struct lbm_coordinate){.height = height_least_us, .error = error_most};
}

static double
between(const struct lbm_coordinate *a, const struct lbm_coordinate *b)
{
    double sum = 0;
    for (int k = 0; k < LBM_COORDINATE_DIMENSIONS; k++)
        sum += (a->x[k] - b->x[k]) * (a->x[k] - b->x[k]);
    return sqrt(sum);
}

double
lbm_coordinate_distance(const struct lbm_coordinate *a, const struct lbm_coordinate *b)
{
    return between(a, b) + a->height + b->height;
}

/* A direction of length 1 for hosts of one place (golden angle). */
static void
point_aside(unsigned aside, double direction[LBM_COORDINATE_DIMENSIONS])
{
    double z = fmod(0.6180339887498949 * aside, 1) * 2 - 1, angle = 2.399963229728653 * aside;
    double r = sqrt(1 - z * z);
    direction[0] = r * cos(angle);
    direction[1] = r * sin(angle);
    direction[2] = z;
}

void
lbm_coordinate_observe(struct lbm_coordinate *self, const struct lbm_coordinate *other, double rtt_us,
                       unsigned aside)
{
    double predicted = lbm_coordinate_distance(self, other), plane = between(self, other);
    double trust = self->error / (self->error + other->error); /* the surer host moves less */
    double wrong = fabs(predicted - rtt_us) / rtt_us;
    self->error += smoothing * trust * (wrong - self->error);
    self->error = fmin(fmax(self->error, error_least), error_most);
    /* Along (x - y, h + h'), whose length is the distance: plane and heights each take their part of it. */
    double move = step * trust * (rtt_us - predicted), heights = self->height + other->height;
    double direction[LBM_COORDINATE_DIMENSIONS];
    point_aside(aside, direction);
    for (int k = 0; k < LBM_COORDINATE_DIMENSIONS; k++) {
        /* Without a plane part heights alone would grow: then all of it goes aside. */
        double along = plane > 0 ? (self->x[k] - other->x[k]) / predicted : direction[k];
        self->x[k] += move * along;
    }
    if (plane > 0)
        self->height = fmax(self->height + move * heights / predicted, height_least_us);
}
