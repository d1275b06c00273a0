/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RJK03's event simulation. */
#include "papers/queue.h"

#include <math.h>
#include <string.h>

#include "base/check.h"

enum { N_MAX = 64 };

static const double utilization = 0.55, threshold = 0.55, interval = 10.0;

struct simulation {
    struct cube *cube;
    enum lbm_policy policy;
    struct lbm_rng *rng;
    double now;
    double rate[N_MAX];      /* of arrivals */
    double arrival[N_MAX];   /* time of the next one */
    double departure[N_MAX]; /* infinite: nobody is served */
    double queue[N_MAX];     /* who is served included */
    double busy[N_MAX];      /* time in this interval */
    double area, busy_all;   /* integrals of queues and of busy processors over time */
    double differences;      /* sum over balancings */
    uint64_t balancings, arrivals;
};

static double
exponential(struct lbm_rng *rng, double mean)
{
    return -mean * log(1.0 - lbm_rng_unit(rng));
}

static void
start(struct simulation *s)
{
    double sum = 0.0;
    uint32_t n = s->cube->n;
    for (uint32_t p = 0; p < n; p++)
        sum += s->rate[p] = lbm_rng_unit(s->rng) + 1e-3;
    for (uint32_t p = 0; p < n; p++) {
        s->rate[p] *= utilization * n / sum;
        s->arrival[p] = exponential(s->rng, 1.0 / s->rate[p]);
        s->departure[p] = HUGE_VAL;
    }
}

/* Let time pass. */
static void
advance(struct simulation *s, double to)
{
    double passed = to - s->now;
    for (uint32_t p = 0; p < s->cube->n; p++) {
        s->area += s->queue[p] * passed;
        if (s->queue[p] > 0.0) {
            s->busy[p] += passed;
            s->busy_all += passed;
        }
    }
    s->now = to;
}

/* Begin to serve where somebody waits and nobody is served; end where nobody is left. Whoever is served goes
 * on with what is left of an exponential time, which is one again. */
static void
serve(struct simulation *s, uint32_t p)
{
    if (s->queue[p] == 0.0)
        s->departure[p] = HUGE_VAL;
    else if (isinf(s->departure[p]))
        s->departure[p] = s->now + exponential(s->rng, 1.0);
}

static int
is_overloaded(const struct simulation *s)
{
    int overloaded = 0;
    for (uint32_t p = 0; p < s->cube->n; p++)
        overloaded |= s->busy[p] > threshold * interval;
    return overloaded;
}

static enum lbm_err
end_interval(struct simulation *s)
{
    struct cube *c = s->cube;
    int overloaded = is_overloaded(s);
    memset(s->busy, 0, sizeof s->busy);
    if (!overloaded)
        return LBM_OK;
    memcpy(c->load, s->queue, c->n * sizeof *c->load);
    enum lbm_err err = cube_balance(c, s->policy);
    memcpy(s->queue, c->load, c->n * sizeof *c->load);
    for (uint32_t p = 0; p < c->n; p++)
        serve(s, p);
    s->differences += cube_difference(c);
    s->balancings++;
    return err;
}

/* The processor with the next event before `until`; n if there is none. */
static uint32_t
next_event(const struct simulation *s, double until, double *at)
{
    uint32_t next = s->cube->n;
    *at = until;
    for (uint32_t p = 0; p < s->cube->n; p++) {
        double first = fmin(s->arrival[p], s->departure[p]);
        if (first < *at) {
            *at = first;
            next = p;
        }
    }
    return next;
}

static void
happen(struct simulation *s, uint32_t p)
{
    if (s->arrival[p] <= s->departure[p]) {
        s->arrival[p] = s->now + exponential(s->rng, 1.0 / s->rate[p]);
        s->queue[p] += 1.0;
        s->arrivals++;
    } else {
        s->queue[p] -= 1.0;
        s->departure[p] = HUGE_VAL;
    }
    serve(s, p);
}

enum lbm_err
queue_simulate(struct cube *cube, enum lbm_policy policy, uint32_t processes, struct lbm_rng *rng,
               struct queue_result *out)
{
    struct simulation s = {.cube = cube, .policy = policy, .rng = rng};
    double end = processes / utilization;
    enum lbm_err err = LBM_OK;
    LBM_ASSERT(cube->n <= N_MAX);
    start(&s);
    for (double until = interval; until <= end && err == LBM_OK; until += interval) {
        double at;
        for (uint32_t p; (p = next_event(&s, until, &at)) < cube->n;) {
            advance(&s, at);
            happen(&s, p);
        }
        advance(&s, until);
        err = end_interval(&s);
    }
    *out = (struct queue_result){.difference = s.differences / (double)s.balancings,
                                 .response = s.area / (double)s.arrivals,
                                 .length = s.area / s.now / cube->n,
                                 .busy = s.busy_all / s.now / cube->n,
                                 .balancings = (double)s.balancings};
    return err;
}
