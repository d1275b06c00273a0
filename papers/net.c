/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network of a host specification. */
#include "papers/net.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/generate.h"

static int
finish(struct table_run *t, struct net *out)
{
    enum lbm_err err = lbm_network_make(&out->hosts, &out->network, &t->diag);
    if (err == LBM_OK)
        return 1;
    lbm_hosts_free(&out->hosts);
    return table_fail(t, err);
}

int
net_open(struct table_run *t, struct net *out, const char *fmt, ...)
{
    char spec[64];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(spec, sizeof spec, fmt, ap);
    va_end(ap);
    enum lbm_err err = lbm_hosts_generate(spec, &out->hosts, &t->diag);
    return err == LBM_OK ? finish(t, out) : table_fail(t, err);
}

static enum lbm_err
link_like(const struct lbm_graph *g, struct lbm_hosts *out, struct lbm_diag *diag)
{
    size_t n = 0;
    struct lbm_link *links = lbm_alloc(lbm_graph_directions(g) / 2, sizeof *links);
    if (links == NULL)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            if (v < g->target[e])
                links[n++] = (struct lbm_link){.p = v, .q = g->target[e], .cost = 1};
    enum lbm_err err = lbm_hosts_build(g->n, links, n, NULL, 2, g->position, out, diag);
    free(links);
    return err;
}

int
net_open_guest(struct table_run *t, struct net *out, const char *guest)
{
    struct lbm_graph g;
    enum lbm_err err = lbm_graph_generate(guest, 1, &g, &t->diag);
    if (err != LBM_OK)
        return table_fail(t, err);
    err = link_like(&g, &out->hosts, &t->diag);
    lbm_graph_free(&g);
    return err == LBM_OK ? finish(t, out) : table_fail(t, err);
}

int
net_open_links(struct table_run *t, struct net *out, uint32_t n, const struct lbm_link *links, size_t n_links)
{
    enum lbm_err err = lbm_hosts_build(n, links, n_links, NULL, 2, NULL, &out->hosts, &t->diag);
    return err == LBM_OK ? finish(t, out) : table_fail(t, err);
}

void
net_close(struct net *net)
{
    lbm_network_free(&net->network);
    lbm_hosts_free(&net->hosts);
}
