/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network of a host specification, as lib/balance sees it. */
#ifndef LBM_SIM_TABLES_NET_H
#define LBM_SIM_TABLES_NET_H

#include "balance/policy.h"
#include "sim/tables/table.h"

struct net {
    struct lbm_hosts hosts;
    struct lbm_network network;
};

/* Value: 0 if that failed, and so has the table. */
int net_open(struct table_run *t, struct net *out, const char *fmt, ...) LBM_PRINTF(3, 4);
void net_close(struct net *net);

#endif
