/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts of hosts, and the distances that they should have. Each function fails the test if something is
 * wrong. */
#ifndef LBM_TESTS_UNIT_HOST_DISTANCE_CHECK_H
#define LBM_TESTS_UNIT_HOST_DISTANCE_CHECK_H

#include <stdint.h>

#include "host/host.h"

enum { HOSTS_HERE = 8 };

struct example {
    const char *what, *text;
    uint32_t n;
    const char *names;
    uint32_t lower[HOSTS_HERE * (HOSTS_HERE - 1) / 2];
    struct lbm_hosts_reading how;
};

/* The hosts of a text; the caller frees. */
struct lbm_hosts judge_read(const char *text, const struct lbm_hosts_reading *how);
struct lbm_hosts judge_hosts(const char *text);

/* Refused with this error, at this line, saying this; the result untouched. */
void judge_refused_with(const char *text, const struct lbm_hosts_reading *how, enum lbm_err expected,
                        uint64_t line, const char *says);
void judge_refused(const char *text, enum lbm_err expected, uint64_t line, const char *says);

/* Links connect all hosts and cost at least the distance. */
void judge_links(const struct lbm_hosts *h, const char *what);

/* The distances of the lower triangle, row by row: d10, d20 d21, ... */
void judge_distances(const struct lbm_hosts *h, const char *what, const uint32_t *lower);

void judge_examples(const struct example *examples, size_t n);

#define JUDGE_EXAMPLES(examples) judge_examples(examples, sizeof(examples) / sizeof *(examples))

#endif
