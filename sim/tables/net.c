/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network of a host specification. */
#include "sim/tables/net.h"

#include <stdarg.h>
#include <stdio.h>

int
net_open(struct table_run *t, struct net *out, const char *fmt, ...)
{
    char spec[64];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(spec, sizeof spec, fmt, ap);
    va_end(ap);
    enum lbm_err err = lbm_hosts_generate(spec, &out->hosts, &t->diag);
    if (err != LBM_OK)
        return table_fail(t, err);
    err = lbm_network_make(&out->hosts, &out->network, &t->diag);
    if (err == LBM_OK)
        return 1;
    lbm_hosts_free(&out->hosts);
    return table_fail(t, err);
}

void
net_close(struct net *net)
{
    lbm_network_free(&net->network);
    lbm_hosts_free(&net->hosts);
}
