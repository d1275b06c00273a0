/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The handlers of all events between rooms. */
#ifndef LBM_NODE_DISPATCH_EVENTS_H
#define LBM_NODE_DISPATCH_EVENTS_H

struct lbm_events;

/* In effect for every node; constant. */
extern const struct lbm_events lbm_dispatch_events;

#endif
