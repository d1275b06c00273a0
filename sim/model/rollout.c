/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a large cluster comes about: hosts join one after the other, or all are members from the beginning. */
#include <stdlib.h>
#include <string.h>

#include "sim/model/internal.h"

enum {
    ROLL_OUT_US = 20000, /* between the starts of two hosts */
    FORM_US = 1000,      /* the same where all are members: what each says to all finds its way to the disk */
    LOOK_US = 500000,
    MEET_US = 10000000, /* until hosts that start know how they stand, and have leases */
    FORMED_INCARNATION = 1
};

/* Hosts that are active, as that host knows them; or only those whose backup has a copy of all. */
static uint32_t
count(struct cluster *c, uint32_t asked, int only_in_sync)
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
        n += strcmp(hosts->hosts[i]->state, "ACTIVE") == 0 && (!only_in_sync || hosts->hosts[i]->insync);
    return n;
}

uint32_t
cluster_count_active(struct cluster *c, uint32_t asked)
{
    return count(c, asked, 0);
}

/* Run until there are that many; 0: not within that time. */
static int
await(struct cluster *c, uint32_t n, int only_in_sync, int64_t us)
{
    const char *why;
    for (int64_t end = c->now_us + us; c->now_us < end && cluster_violation(c, &why) == NULL;) {
        if (count(c, 0, only_in_sync) == n)
            return 1;
        cluster_run(c, LOOK_US, NULL, NULL);
    }
    return 0;
}

/* All hosts but those marked in later: nearest to the leader first, so that those before one are always
 * connected. Returns how many; order [h->n]. */
static uint32_t
order_hosts(const struct lbm_hosts *h, const uint8_t *later, uint32_t *order)
{
    uint32_t n = 1;
    uint8_t *seen = lbm_alloc(h->n, 1);
    LBM_ASSERT(seen != NULL);
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
    free(seen);
    return n;
}

int
cluster_roll_out(struct cluster *c, const uint8_t *later, int64_t us)
{
    uint32_t *order = lbm_alloc(c->h->n, sizeof *order);
    LBM_ASSERT(order != NULL);
    uint32_t n = order_hosts(c->h, later, order);
    for (uint32_t i = 0; i < n; i++) {
        if (i != 0)
            cluster_restart(c, order[i]);
        cluster_run(c, ROLL_OUT_US, NULL, NULL);
    }
    free(order);
    return await(c, n, 0, us);
}

/* ---- a cluster that there has been for long ------------------------------------------------------------ */

/* The next entry of the control log, as if a host had stored it. */
static void
enter(struct cluster *c, const Lbm__Command *command)
{
    size_t len = lbm__command__get_packed_size(command);
    uint8_t *bytes = lbm_alloc(len, 1);
    LBM_ASSERT(bytes != NULL);
    lbm__command__pack(command, bytes);
    struct lbm_persist_op op = {.kind = LBM_PERSIST_LOG};
    op.as.log.index = c->check.log.n + 1;
    op.as.log.command = bytes;
    op.as.log.len = len;
    check_op(&c->check, &c->disk[0], &op);
    free(bytes);
}

static void
enter_founding(struct cluster *c)
{
    char name[] = CLUSTER_NAME;
    Lbm__Found found = LBM__FOUND__INIT;
    found.cluster = lbm_rng_next(&c->rng) | 1;
    found.name = name;
    found.dimensions = c->h->m;
    found.copies = c->options.copies > 1 ? c->options.copies : 0;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_FOUND;
    command.found = &found;
    enter(c, &command);
}

static void
enter_host(struct cluster *c, uint32_t host)
{
    const struct lbm_hosts *h = c->h;
    struct machine_names names = machine_names(host);
    Lbm__Join join = LBM__JOIN__INIT;
    join.host = host;
    join.incarnation = FORMED_INCARNATION;
    join.name = names.name;
    join.address = names.address;
    join.capacity = h->capacity[host];
    join.n_link_host = join.n_link_cost = h->offset[host + 1] - h->offset[host];
    join.link_host = &h->target[h->offset[host]];
    join.link_cost = &h->cost[h->offset[host]];
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOIN;
    command.join = &join;
    enter(c, &command);
    Lbm__Activate activate = LBM__ACTIVATE__INIT;
    activate.host = host;
    activate.incarnation = FORMED_INCARNATION;
    activate.n_site = h->m;
    activate.site = &h->site[(size_t)host * h->m];
    command.what_case = LBM__COMMAND__WHAT_ACTIVATE;
    command.activate = &activate;
    enter(c, &command);
}

/* There is nothing yet of which its backup could lack a copy; and thousands who said so at once would be too
 * many for who orders the log. */
static void
enter_in_sync(struct cluster *c, uint32_t host, unsigned slot)
{
    const struct lbm_member *member = lbm_view_member(&c->check.view, host);
    Lbm__InSync in_sync = LBM__IN_SYNC__INIT;
    in_sync.host = host;
    in_sync.incarnation = FORMED_INCARNATION;
    in_sync.backup = member->backups[slot].host;
    in_sync.view = member->backups[slot].view;
    in_sync.known = c->check.view.index;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_IN_SYNC;
    command.in_sync = &in_sync;
    enter(c, &command);
}

int
cluster_form(struct cluster *c, int64_t us)
{
    struct lbm_view *view = &c->check.view;
    uint32_t *order = lbm_alloc(c->h->n, sizeof *order);
    LBM_ASSERT(order != NULL);
    uint32_t n = order_hosts(c->h, NULL, order);
    enter_founding(c);
    for (uint32_t i = 0; i < n; i++)
        enter_host(c, order[i]);
    for (uint32_t i = 0; i < n; i++)
        for (unsigned k = 0; k < view->copies; k++)
            enter_in_sync(c, order[i], k);
    free(order);
    struct lbm_persist_op self = {.kind = LBM_PERSIST_SELF}, snapshot = {.kind = LBM_PERSIST_SNAPSHOT};
    self.as.self.cluster = view->cluster;
    self.as.self.incarnation = FORMED_INCARNATION;
    snapshot.as.snapshot.index = view->index;
    LBM_ASSERT(lbm_view_pack(view, &snapshot.as.snapshot.view, &snapshot.as.snapshot.len) == LBM_OK);
    for (uint32_t host = 0; host < c->n; host++) {
        self.as.self.host = host;
        LBM_ASSERT(disk_apply(&c->disk[host], &self) == NULL);
        LBM_ASSERT(disk_apply(&c->disk[host], &snapshot) == NULL);
    }
    for (uint32_t host = 0; host < c->n; host++) {
        cluster_restart(c, host);
        /* Not before: dials to hosts that are not there are repeated, and these would be millions. */
        for (uint32_t p = 0; p < host; p++)
            network_dial(c, p, host);
        cluster_run(c, FORM_US, NULL, NULL);
    }
    free(snapshot.as.snapshot.view);
    cluster_run(c, MEET_US, NULL, NULL);
    return await(c, n, 1, us);
}
