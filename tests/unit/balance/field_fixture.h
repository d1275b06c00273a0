/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks with loads on them, for tests of load policies. */
#ifndef LBM_TESTS_UNIT_BALANCE_FIELD_FIXTURE_H
#define LBM_TESTS_UNIT_BALANCE_FIELD_FIXTURE_H

#include "balance/policy.h"
#include "tests/unit/host/hosts_fixture.h"

/* FIELD_HOSTS: the networks on which every policy is tried. */
enum { FIELD_LOADS_MAX = 256, FIELD_HOSTS = 9 };

struct field {
    struct lbm_hosts h;
    struct lbm_network net;
    double load[FIELD_LOADS_MAX];
    double *flow;
};

/* Fails the test unless a is b within the tolerance. */
void assert_near(double a, double b, double tolerance);

/* The i-th network, and what it is called. The caller frees. */
struct lbm_hosts field_hosts(size_t i);
const char *field_name(size_t i);

/* Takes the hosts; loads are not set. */
void field_open(struct field *f, struct lbm_hosts h);
void field_close(struct field *f);

/* Loads of this seed: units uniform on 0 to 255, or any fraction uniform on 0 to 2. */
void field_draw(struct field *f, uint64_t seed, int integer);

double field_total(const struct field *f);

/* Until nothing moves if integer, else within 1 % of the mean. */
struct lbm_balance_options field_usual(enum lbm_policy policy, int integer);

/* Nonzero if the policy fits; then it has run. */
int field_run(struct field *f, const struct lbm_balance_options *o, struct lbm_balance_result *r);

#endif
