/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries of the control log for tests of the view. */
#ifndef LBM_TESTS_UNIT_NODE_VIEW_FIXTURE_H
#define LBM_TESTS_UNIT_NODE_VIEW_FIXTURE_H

#include "node/view/view.h"

enum { VIEW_CLUSTER = 77 };

/* Apply an entry: it is taken if `refused` is empty, else refused with these words. The others make one. */
void view_apply(struct lbm_view *view, const Lbm__Command *command, const char *refused);
void view_found(struct lbm_view *view, uint32_t dimensions, const char *refused);

struct view_joiner {
    uint32_t host;
    uint64_t incarnation;
    const char *name;
    double capacity;
    size_t n_links;
    uint32_t link[3], cost[3];
    uint32_t protocol; /* 0: it does not say any */
};

void view_join(struct lbm_view *view, struct view_joiner joiner, const char *refused);
void view_activate(struct lbm_view *view, uint32_t host, uint64_t incarnation, size_t m, double x, double y,
                   const char *refused);
void view_create(struct lbm_view *view, uint64_t job, const char *name, uint32_t coordinator, uint32_t start,
                 const char *refused);
void view_delete_job(struct lbm_view *view, uint64_t job, const char *refused);

/* Hosts 0 - 3 - 7 in a row, only the later end declares each link. */
void view_three_in_a_row(struct lbm_view *view);

uint32_t view_distance(struct lbm_view *view, uint32_t p, uint32_t q);

#endif
