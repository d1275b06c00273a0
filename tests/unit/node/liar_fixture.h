/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Four hosts with a job, the last of which lies, and what must be so whatever it says. */
#ifndef LBM_TESTS_LIAR_FIXTURE_H
#define LBM_TESTS_LIAR_FIXTURE_H

#include "tests/unit/node/cluster_fixture.h"

enum { LIAR = 3, OTHER = 2 };

/* Such hosts, operators at the first `operators` of them (0: all), and a job that has settled. */
void liar_begin(struct scene *scene, const char *hosts, uint32_t operators, enum lbm_etcd_ability etcd);
void liar_begin_with(struct scene *scene, const char *hosts, const struct cluster_options *options);
uint64_t liar_job(struct scene *scene, uint32_t asked);

/* Whether the trace has that text; the test fails without. */
int liar_is_told(struct cluster *cluster, const char *text);
void liar_expect_told(struct cluster *cluster, const char *text);

/* Every host takes part, each vertex has one owner, the log can be written. In: the host that is asked. */
void liar_expect_unharmed(struct scene *scene, uint32_t asked);

/* An operator there has that host order the log.
 * Returns what it answers. */
enum lbm_err liar_promote(struct scene *scene, uint32_t host, int force);

#endif
