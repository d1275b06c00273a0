/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/ensemble_internal.h"

/* ---- names -----------------------------------------------------------------------------------------------
 */

const char *
lbm_ensemble_name(const struct lbm_ensemble_part *part, const struct lbm_ensemble_member *member,
                  char name[LBM_KEEPER_NAME_MAX])
{
    snprintf(name, LBM_KEEPER_NAME_MAX, "h%" PRIu32 "-%" PRIu64 "-%08" PRIx32, member->host, member->since,
             (uint32_t)part->is.id);
    return name;
}

const struct lbm_ensemble_member *
lbm_ensemble_own(const struct lbm_ensemble_part *part)
{
    return lbm_ensemble_member(&part->is, part->config.host);
}

void
lbm_ensemble_look_after(struct lbm_ensemble_part *part, int ms)
{
    const struct timeval after = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    event_add(part->look, &after);
}

/* ---- what this host runs ---------------------------------------------------------------------------------
 */

static void
tell_keeper(struct lbm_ensemble_part *part, const struct lbm_keeper_order *order)
{
    if (lbm_keeper_tell(part->config.keeper, order) != LBM_OK)
        lbm_log(LBM_NOTE_ERROR, "the process that runs etcd is gone: start this daemon again");
}

void
lbm_ensemble_stop(struct lbm_ensemble_part *part)
{
    const struct lbm_keeper_order order = {0};
    if (part->config.keeper == NULL || access(part->dir, F_OK) != 0)
        return;
    part->has_order = 0;
    tell_keeper(part, &order);
}

static void
add_to_cluster(struct lbm_keeper_order *order, const char *name)
{
    size_t len = strlen(order->cluster);
    snprintf(order->cluster + len, sizeof order->cluster - len, "%s%s=unix://%s:1", len != 0 ? "," : "", name,
             name);
}

const struct lbm_etcd_member *
lbm_ensemble_listed(const struct lbm_ensemble_part *part, const char *name)
{
    for (size_t i = 0; i < part->list.list.n; i++)
        if (strcmp(part->list.list.at[i].name, name) == 0)
            return &part->list.list.at[i];
    return NULL;
}

static int
has_data(const struct lbm_ensemble_part *part, const char *name)
{
    char path[LBM_KEEPER_NAME_MAX + 32];
    snprintf(path, sizeof path, "member-%s/member", name);
    return faccessat(part->dir_fd, path, F_OK, 0) == 0;
}

void
lbm_ensemble_run(struct lbm_ensemble_part *part)
{
    char name[LBM_KEEPER_NAME_MAX], other[LBM_KEEPER_NAME_MAX];
    struct lbm_keeper_order order = {.runs = 1, .token = part->is.id};
    const struct lbm_ensemble_member *self = lbm_ensemble_own(part);
    if (self == NULL || part->config.keeper == NULL || part->has_order)
        return;
    snprintf(order.name, sizeof order.name, "%s", lbm_ensemble_name(part, self, name));
    const struct lbm_etcd_member *in_list = lbm_ensemble_listed(part, name);
    int is_added = in_list != NULL && !in_list->has_begun;
    int may_go_on = has_data(part, name) && (!part->was_removed || (in_list != NULL && in_list->has_begun));
    order.is_new = part->is.moved == 0;
    order.is_fresh = is_added;
    if (!order.is_new && !is_added && !may_go_on) {
        if (in_list != NULL)
            lbm_log_limited(&part->complaints, LBM_NOTE_WARNING,
                            "the data of etcd on this host are lost: it takes no part until it is replaced");
        return; /* it has to be added first, or the list is not known yet */
    }
    for (uint32_t i = 0; order.is_new && i < part->is.n; i++)
        add_to_cluster(&order, lbm_ensemble_name(part, &part->is.member[i], other));
    for (size_t i = 0; is_added && i < part->list.list.n; i++)
        add_to_cluster(&order, part->list.list.at[i].name);
    if (order.cluster[0] == '\0')
        add_to_cluster(&order, name); /* nobody looks at it: there are data */
    part->was_removed = 0;
    part->has_order = 1;
    tell_keeper(part, &order);
}

void
lbm_ensemble_ended(evutil_socket_t fd, short what, void *context)
{
    struct lbm_ensemble_part *part = context;
    int status, ended;
    (void)fd;
    (void)what;
    while ((ended = lbm_keeper_ended(part->config.keeper, &status)) > 0) {
        lbm_log_limited(&part->complaints, LBM_NOTE_WARNING,
                        "etcd on this host has ended (%s %d); see %s/etcd.log",
                        WIFSIGNALED(status) ? "signal" : "status",
                        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), part->dir);
        if (WIFEXITED(status) && part->is.moved != 0) {
            /* It may have been removed: what it is now the list says. The keeper tries again meanwhile. */
            part->has_order = 0;
            part->was_removed = 1;
            lbm_ensemble_look_after(part, LBM_ENSEMBLE_LOOK_MS);
        }
    }
    if (ended < 0) {
        lbm_log(LBM_NOTE_ERROR, "the process that runs etcd is gone: start this daemon again");
        event_del(part->ended);
    }
}
