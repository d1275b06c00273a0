/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph/reading.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"

/* Relative error of a decimal fraction stored as a double, times some; nearer than that to an integer is one.
 */
static const double near = 1e-12;

enum { DECIMALS_MAX = 9, HALVINGS_MAX = 31 }; /* units tried: 10^-9 .. 1; 2^-31 .. 1: below no weight fits */

static const double whole_max = 9223372036854775808.0; /* 2^63 */
static const double factor_max = 1e300;           /* a finite number, for weights that are next to nothing */
static const double sum_max = 9007199254740992.0; /* 2^53: sums are exact in doubles and in readers of JSON */

void
lbm_reading_remark(struct lbm_reading *r, const char *fmt, ...)
{
    char text[LBM_DIAG_TEXT_MAX];
    if (r == NULL)
        return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    lbm_buf_printf(&r->remarks, "%s\n", text);
}

int
lbm_reading_collects(const struct lbm_reading *r)
{
    return r != NULL &&
           (r->sum || r->edge_scale.how != LBM_SCALE_NONE || r->work_scale.how != LBM_SCALE_NONE);
}

/* What a scan over the weights tells. */
struct survey {
    double max, share; /* share: the sum of all, each divided by max */
    size_t zeros;
    int whole; /* all are integers */
};

static struct survey
survey(const double *value, size_t n)
{
    struct survey s = {.whole = 1};
    for (size_t i = 0; i < n; i++) {
        s.max = value[i] > s.max ? value[i] : s.max;
        s.zeros += value[i] == 0;
        s.whole &= value[i] == floor(value[i]);
    }
    for (size_t i = 0; i < n && s.max > 0; i++)
        s.share += value[i] / s.max;
    return s;
}

/* Nonzero if every value times factor is an integer. */
static int
all_multiples(const double *value, size_t n, double factor)
{
    for (size_t i = 0; i < n; i++) {
        double scaled = value[i] * factor;
        if (fabs(scaled - rint(scaled)) > near * scaled || (value[i] > 0 && rint(scaled) == 0))
            return 0;
    }
    return 1;
}

/* Greatest common divisor of integers up to 2^63. */
static double
common_divisor(const double *value, size_t n)
{
    uint64_t divisor = 0;
    for (size_t i = 0; i < n && divisor != 1; i++)
        for (uint64_t rest = (uint64_t)value[i]; rest != 0;) {
            uint64_t next = divisor % rest;
            divisor = rest;
            rest = next;
        }
    return divisor != 0 ? (double)divisor : 1;
}

/* The largest factor that keeps every weight and their sum in range. */
static double
largest_factor(const struct survey *s)
{
    double most = sum_max / s->share;
    double factor = (most < LBM_WEIGHT_MAX ? most : LBM_WEIGHT_MAX) / s->max;
    return factor < factor_max ? factor : factor_max;
}

/* The factor that makes every value an integer without loss, or 0 if none is found in range. */
static double
exact_factor(const struct survey *s, const double *value, size_t n)
{
    double largest = largest_factor(s), factor = 0;
    if (s->whole && s->max <= whole_max) {
        factor = 1 / common_divisor(value, n);
        return factor <= largest ? factor : 0;
    }
    factor = 10;
    for (int i = 0; i < DECIMALS_MAX && factor <= largest; i++, factor *= 10)
        if (all_multiples(value, n, factor))
            return factor;
    factor = 2;
    for (int i = 0; i < HALVINGS_MAX && factor <= largest; i++, factor *= 2)
        if (all_multiples(value, n, factor))
            return factor;
    return 0;
}

static double
auto_factor(const struct survey *s, const double *value, size_t n, enum lbm_zeros zeros)
{
    if (s->max == 0)
        return 1;
    int need_room = s->zeros > 0 && zeros == LBM_ZEROS_WEIGH_ONE; /* 1 must be next to nothing then */
    if (s->whole && s->max <= LBM_WEIGHT_MAX && !need_room)
        return 1;
    double largest = largest_factor(s), exact = exact_factor(s, value, n);
    if (exact == 0)
        return largest;
    return need_room ? exact * floor(largest / exact) : exact;
}

/* Tell what became of the values. */
static void
remark_factor(struct lbm_reading *r, const char *what, double factor, double worst, size_t raised)
{
    if (factor == 1 && worst == 0)
        return;
    lbm_reading_remark(r, "each %s was multiplied by %.10g and rounded; the largest relative error is %.2g",
                       what, factor, worst);
    if (raised > 0)
        lbm_reading_remark(r, "%zu of these were less than half of 1 then and became 1", raised);
}

enum lbm_err
lbm_reading_convert(struct lbm_reading *r, const struct lbm_scale *how, const char *what,
                    enum lbm_zeros zeros, const double *value, size_t n, uint32_t *whole, size_t *at)
{
    struct survey s = survey(value, n);
    double factor = how->how == LBM_SCALE_AUTO ? auto_factor(&s, value, n, zeros)
                    : how->how == LBM_SCALE_BY ? how->factor
                                               : 1;
    double worst = 0, total = 0;
    size_t raised = 0;
    for (size_t i = 0; i < n; i++) {
        double scaled = value[i] * factor, rounded = rint(scaled);
        *at = i;
        if (rounded > LBM_WEIGHT_MAX && scaled > LBM_WEIGHT_MAX * (1 + near))
            return LBM_E_RANGE;
        rounded = rounded > LBM_WEIGHT_MAX ? LBM_WEIGHT_MAX : rounded;
        if (value[i] > 0 && rounded < 1) {
            rounded = 1;
            raised++;
        }
        double error = value[i] > 0 ? fabs(rounded - scaled) / scaled : 0;
        worst = error > worst && error > near ? error : worst;
        total += rounded;
        whole[i] = rounded > 0 ? (uint32_t)rounded : zeros == LBM_ZEROS_STAY ? 0 : 1;
    }
    remark_factor(r, what, factor, worst, raised);
    if (s.zeros > 0 && zeros == LBM_ZEROS_WEIGH_ONE)
        lbm_reading_remark(r, "%zu times the %s is 0 and became 1; all together weigh %.0f", s.zeros, what,
                           total + (double)s.zeros);
    return LBM_OK;
}
