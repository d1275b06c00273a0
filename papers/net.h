/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network of a host specification, as lib/balance sees it. */
#ifndef LBM_PAPERS_NET_H
#define LBM_PAPERS_NET_H

#include "balance/policy.h"
#include "papers/table.h"

struct net {
    struct lbm_hosts hosts;
    struct lbm_network network;
};

/* Value: 0 if that failed, and so has the table. */
int net_open(struct table_run *t, struct net *out, const char *fmt, ...) LBM_PRINTF(3, 4);
/* Hosts linked like the vertices of a guest that lbm_graph_generate makes. */
int net_open_guest(struct table_run *t, struct net *out, const char *guest);
/* Hosts with these links. */
int net_open_links(struct table_run *t, struct net *out, uint32_t n, const struct lbm_link *links,
                   size_t n_links);

void net_close(struct net *net);

#endif
