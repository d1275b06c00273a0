/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What this host may do: whether it is a member that may act, whether others back it up, whether its
 * applications may get work. */
#include "node/core/core.h"
#include "node/local/local.h"

int
lbm_local_is_held(const struct lbm_node *node, const struct job *job)
{
    return job->cut != 0 && node->now_us < job->cut_us;
}

int
lbm_local_is_alive(const struct lbm_node *node)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    if (node->replication.rolled_back || node->resetting || node->diverged)
        return 0;
    return self == NULL || (self->incarnation == node->incarnation && lbm_view_participates(self));
}

/* A host that has not heard the log's end may have been given a backup that it does not know of. */
int
lbm_local_is_alone(const struct lbm_node *node)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    return node->caught_up && self != NULL && self->incarnation == node->incarnation &&
           lbm_view_is_alone(self) && !lbm_local_has_backup(node);
}

int
lbm_local_has_backup(const struct lbm_node *node)
{
    for (unsigned k = 0; k < LBM_COPIES_MAX; k++)
        if (node->replication.log[k].backup != LBM_NONE)
            return 1;
    return 0;
}

int
lbm_local_is_known(const struct lbm_node *node)
{
    for (unsigned k = 0; k < LBM_COPIES_MAX; k++)
        if (node->replication.log[k].backup != LBM_NONE && node->replication.log[k].known)
            return 1;
    return 0;
}

int
lbm_local_has_merged(const struct lbm_node *node, uint32_t host, uint64_t incarnation)
{
    for (size_t i = 0; i < node->takeovers.n; i++)
        if (node->takeovers.at[i].host == host && node->takeovers.at[i].incarnation == incarnation)
            return 1;
    return 0;
}

int
lbm_local_inherits(const struct lbm_node *node, const struct lbm_departed *gone)
{
    return gone->evicted && gone->successor == node->host &&
           gone->successor_incarnation == node->incarnation &&
           !lbm_local_has_merged(node, gone->host, gone->incarnation);
}

int
lbm_local_takeovers_done(const struct lbm_node *node)
{
    for (size_t i = 0; i < node->view.departed.n; i++)
        if (lbm_local_inherits(node, &node->view.departed.at[i]))
            return 0;
    return 1;
}

int
lbm_local_awaits_records(const struct lbm_node *node, uint64_t job)
{
    for (size_t i = 0; i < node->view.departed.n; i++) {
        const struct lbm_departed *gone = &node->view.departed.at[i];
        for (size_t k = 0; k < node->replicas.n && lbm_local_inherits(node, gone); k++) {
            const struct replica *replica = node->replicas.at[k];
            int is_theirs = replica->owner == gone->host && replica->incarnation == gone->incarnation;
            for (size_t j = 0; is_theirs && j < replica->jobs.n; j++)
                if (replica->jobs.at[j].job == job && replica->jobs.at[j].rows.n != 0)
                    return 1;
        }
    }
    return 0;
}

int
lbm_local_lease_holds(const struct lbm_node *node)
{
    if (!lbm_local_is_alive(node) || node->lease.fence_us != 0)
        return 0;
    return lbm_local_is_alone(node) || node->now_us < node->lease.until_us - REVOKE_US ||
           LBM_BUG(WORK_WITHOUT_LEASE);
}

int
lbm_local_lease_is_of(const struct lbm_node *node, uint64_t term)
{
    const struct lease *l = &node->lease;
    int is_withdrawn = l->fence_us != 0 && l->old_used == UINT32_MAX; /* nothing was given since */
    return term == 0 || term == l->term - (is_withdrawn ? 1 : 0);
}

uint64_t
lbm_local_replication_lag(const struct lbm_node *node)
{
    uint64_t most = 0;
    for (unsigned k = 0; k < LBM_COPIES_MAX; k++) {
        const struct replication_log *s = &node->replication.log[k];
        uint64_t lag = s->backup == LBM_NONE ? 0 : s->changes.n - s->head;
        most = lag > most ? lag : most;
    }
    return most;
}

struct application *
lbm_local_application(const struct lbm_node *node, uint64_t client)
{
    for (size_t i = 0; i < node->applications.n; i++)
        if (node->applications.at[i].client == client)
            return &node->applications.at[i];
    return NULL;
}

struct job *
lbm_local_application_job(const struct lbm_node *node, uint64_t client)
{
    const struct application *application = lbm_local_application(node, client);
    return application != NULL ? lbm_local_job(node, application->job) : NULL;
}
