/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Colours are made in Oklch (lightness, chroma, hue), where equal steps look equal (Ottosson 2020). */
#include "draw/palette.h"

#include <math.h>

enum { HUES = 15, SHADES = 2, CANDIDATES = HUES * SHADES, COMPARED_HOSTS_MAX = 1024 };

/* Lightness and chroma of pastel and strong, for each shade. */
static const struct {
    double pastel[2], strong[2];
} shades[SHADES] = {
    {{0.915, 0.050}, {0.600, 0.135}},
    {{0.840, 0.075}, {0.470, 0.110}},
};

static double
gamma_of(double linear)
{
    double x = linear < 0.0 ? 0.0 : linear > 1.0 ? 1.0 : linear;
    return x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1.0 / 2.4) - 0.055;
}

static struct lbm_colour
from_oklch(double lightness, double chroma, double hue)
{
    double a = chroma * cos(hue), b = chroma * sin(hue);
    double l = lightness + 0.3963377774 * a + 0.2158037573 * b;
    double m = lightness - 0.1055613458 * a - 0.0638541728 * b;
    double s = lightness - 0.0894841775 * a - 1.2914855480 * b;
    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    return (struct lbm_colour){gamma_of(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                               gamma_of(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                               gamma_of(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

static struct lbm_host_colours
candidate(int k)
{
    double hue = 2.0 * M_PI * (k % HUES + 0.5 * (k / HUES)) / HUES;
    const double *pastel = shades[k / HUES].pastel, *strong = shades[k / HUES].strong;
    return (struct lbm_host_colours){from_oklch(pastel[0], pastel[1], hue),
                                     from_oklch(strong[0], strong[1], hue)};
}

/* How alike two candidates look, 1: the same. */
static double
likeness(int i, int j)
{
    double turn = fabs((i % HUES + 0.5 * (i / HUES)) - (j % HUES + 0.5 * (j / HUES))) / HUES;
    double hue = 2.0 * (turn > 0.5 ? 1.0 - turn : turn); /* 1: opposite */
    double shade = i / HUES != j / HUES ? 0.25 : 0.0;
    return exp(-12.0 * (hue * hue + shade * shade));
}

/* The candidate least like those of hosts before p, nearer ones counting more. spacing2: squared
 * distance of hosts if they were spread evenly; used: how bad it is to use a colour again anywhere. */
static int
least_alike(uint32_t p, const double *anchor, double spacing2, double used, const int *chosen,
            double alike[CANDIDATES][CANDIDATES])
{
    double dislike[CANDIDATES] = {0.0};
    for (uint32_t q = 0; q < p; q++) {
        double dx = anchor[2 * p] - anchor[2 * q], dy = anchor[2 * p + 1] - anchor[2 * q + 1];
        double near = spacing2 / (dx * dx + dy * dy + 0.01 * spacing2);
        dislike[chosen[q]] += used;
        for (int k = 0; k < CANDIDATES; k++)
            dislike[k] += alike[k][chosen[q]] * near;
    }
    int best = 0;
    for (int k = 1; k < CANDIDATES; k++)
        if (dislike[k] < dislike[best])
            best = k;
    return best;
}

/* Squared distance of n points spread evenly over the box of the anchors; not 0. */
static double
even_spacing2(uint32_t n, const double *anchor)
{
    double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
    for (uint32_t i = 0; i < 2 * n; i++) {
        low[i % 2] = fmin(low[i % 2], anchor[i]);
        high[i % 2] = fmax(high[i % 2], anchor[i]);
    }
    double extent = fmax(high[0] - low[0], high[1] - low[1]);
    return extent > 0.0 ? extent * extent / n : 1.0;
}

static void
choose(uint32_t n, const double *anchor, int *chosen)
{
    double spacing2 = even_spacing2(n, anchor);
    double used = n <= CANDIDATES ? 8.0 : 0.02;
    double alike[CANDIDATES][CANDIDATES];
    for (int i = 0; i < CANDIDATES; i++)
        for (int j = 0; j < CANDIDATES; j++)
            alike[i][j] = likeness(i, j);
    for (uint32_t p = 0; p < n; p++)
        chosen[p] = least_alike(p, anchor, spacing2, used, chosen, alike);
}

void
lbm_palette(uint32_t n, const double *anchor, struct lbm_host_colours *colour)
{
    int chosen[COMPARED_HOSTS_MAX];
    int compared = n <= COMPARED_HOSTS_MAX;
    if (compared)
        choose(n, anchor, chosen);
    for (uint32_t p = 0; p < n; p++)
        colour[p] = candidate(compared ? chosen[p] : (int)(p * 11u % CANDIDATES));
}
