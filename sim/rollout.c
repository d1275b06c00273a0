/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hosts of a cluster that was begun with its founder alone join. */
#include <stdlib.h>
#include <string.h>

#include "sim/internal.h"

enum { ROLL_OUT_US = 20000 /* between the starts of two hosts */, LOOK_US = 500000 };

uint32_t
cluster_count_active(struct cluster *c, uint32_t asked)
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    uint32_t n = 0;
    request.what_case = LBM__REQUEST__WHAT_HOSTS;
    request.hosts = &empty;
    cluster_request(c, asked, 0, &request);
    const Lbm__Response *response = cluster_reply(c, asked, 0);
    const Lbm__HostsReply *hosts = response != NULL && response->code == LBM_OK ? response->hosts : NULL;
    for (size_t i = 0; hosts != NULL && i < hosts->n_hosts; i++)
        n += strcmp(hosts->hosts[i]->state, "ACTIVE") == 0;
    return n;
}

/* Nearest to the founder first, so that those that are active are always connected. */
int
cluster_roll_out(struct cluster *c, const uint8_t *later, int64_t us)
{
    const struct lbm_hosts *h = c->h;
    uint32_t *order = lbm_alloc(h->n, sizeof *order), n = 1;
    uint8_t *seen = lbm_alloc(h->n, 1);
    LBM_ASSERT(order != NULL && seen != NULL);
    order[0] = 0;
    seen[0] = 1;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = h->offset[order[i]]; e < h->offset[order[i] + 1]; e++) {
            uint32_t q = h->target[e];
            if (seen[q] || (later != NULL && later[q]))
                continue;
            seen[q] = 1;
            order[n++] = q;
        }
    for (uint32_t i = 0; i < n; i++) {
        if (i != 0)
            cluster_restart(c, order[i]);
        cluster_run(c, ROLL_OUT_US, NULL, NULL);
    }
    free(order);
    free(seen);
    for (int64_t end = c->now_us + us; c->now_us < end;) {
        if (cluster_count_active(c, 0) == n)
            return 1;
        cluster_run(c, LOOK_US, NULL, NULL);
    }
    return 0;
}
