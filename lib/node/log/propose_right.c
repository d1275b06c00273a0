/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which host may have which command in the control log; the leader of engine `local` looks before it orders.
 *
 * What a host says of itself, only that host proposes. What operators decide, hosts propose at which the
 * cluster listens to operators: all members, or those that the configuration names. A member that lies can so
 * propose its own ruin and no other's. Who is no member may propose to become one. Never: looks whether a
 * command is possible; that is the view's, for every host alike. */
#include <inttypes.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/log/internal.h"
#include "node/log/log.h"
#include "node/membership/membership.h"

int
lbm_log_is_operator(const struct lbm_node *node, uint32_t host)
{
    for (size_t i = 0; i < node->operators_of.n; i++)
        if (node->operators_of.host[i] == host)
            return 1;
    return node->operators_of.n == 0;
}

/* The coordinator of the job is the host that began it. */
static int
coordinates(const struct lbm_node *node, uint32_t host, uint64_t job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job);
    return entry != NULL && entry->coordinator == host;
}

/* A host may give itself less, and what its own announcement would give it. */
static int
gets(struct lbm_node *node, const Lbm__Set *set)
{
    double most = 0;
    if (lbm_view_capacity_most(&node->view, set->host, &most) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    return set->capacity <= most;
}

/* Nonzero if others find that host unreachable too: the word of one is not enough. */
static int
is_suspect(const struct lbm_node *node, uint32_t host)
{
    return lbm_membership_suspicion_count(node, host) >= 2 ||
           lbm_membership_is_unreachable(node, host, UNREACHABLE_US);
}

/* The host that a command is about, which alone says it; LBM_NONE: it is not of that kind. */
static uint32_t
speaker(const Lbm__Command *command)
{
    switch (command->what_case) {
    case LBM__COMMAND__WHAT_JOIN:
        return command->join->host;
    case LBM__COMMAND__WHAT_LEAVE:
        return command->leave->host;
    case LBM__COMMAND__WHAT_IN_SYNC:
        return command->in_sync->host;
    case LBM__COMMAND__WHAT_TAKE_OVER:
        return command->take_over->successor;
    case LBM__COMMAND__WHAT_REJOIN:
        return command->rejoin->host;
    case LBM__COMMAND__WHAT_CHANGE_BACKUP:
        return command->change_backup->host;
    case LBM__COMMAND__WHAT_ALLOT_IDS:
        return command->allot_ids->host;
    case LBM__COMMAND__WHAT_PROMOTE:
        return command->promote->host;
    case LBM__COMMAND__WHAT_JOB_CREATE:
        return command->job_create->coordinator;
    case LBM__COMMAND__WHAT_JOB_RECOVER:
        return command->job_recover->host;
    case LBM__COMMAND__WHAT_JOB_RECOVERED:
        return command->job_recovered->host;
    default:
        return LBM_NONE;
    }
}

static int
is_backup(const struct lbm_node *node, uint32_t host, uint32_t of)
{
    const struct lbm_member *member = lbm_view_member(&node->view, of);
    return member != NULL && lbm_view_backup_slot(member, host) != NULL;
}

/* Commands that a host proposes of itself, and an operator of any host. */
static int
may_decide(struct lbm_node *node, uint32_t from, const Lbm__Command *command)
{
    int is_operator = lbm_log_is_operator(node, from);
    switch (command->what_case) {
    case LBM__COMMAND__WHAT_ACTIVATE:
        return is_operator || command->activate->host == from;
    case LBM__COMMAND__WHAT_SET:
        return is_operator || (command->set->host == from && gets(node, command->set));
    case LBM__COMMAND__WHAT_DRAIN:
        return is_operator || command->drain->host == from;
    case LBM__COMMAND__WHAT_MAINTAIN:
        return is_operator || command->maintain->host == from ||
               (command->maintain->duration_us == 0 && is_backup(node, from, command->maintain->host));
    case LBM__COMMAND__WHAT_EVICT:
        return is_operator || command->evict->host == from ||
               (!command->evict->lost && is_suspect(node, command->evict->host));
    case LBM__COMMAND__WHAT_JOB_DELETE:
        return is_operator || coordinates(node, from, command->job_delete->job);
    case LBM__COMMAND__WHAT_JOB_SET:
        return is_operator || coordinates(node, from, command->job_set->job);
    case LBM__COMMAND__WHAT_ADMIT:
    case LBM__COMMAND__WHAT_REVOKE:
    case LBM__COMMAND__WHAT_REVOKE_USER:
    case LBM__COMMAND__WHAT_LOG_MOVE:
        return is_operator;
    default:
        return 0; /* FOUND is the first entry, by whoever has it */
    }
}

int
lbm_log_propose_check(struct lbm_node *node, uint32_t from, const Lbm__Command *command)
{
    int is_member =
        lbm_view_member(&node->view, from) != NULL; /* also one that has gone, and has not heard of it */
    uint32_t of_itself = speaker(command);
    if (command->what_case == LBM__COMMAND__WHAT_PROMOTE && !lbm_log_is_operator(node, from))
        return 0;
    if (!is_member && command->what_case != LBM__COMMAND__WHAT_JOIN)
        return 0;
    return of_itself != LBM_NONE ? of_itself == from : is_member && may_decide(node, from, command);
}

int
lbm_log_may_propose(struct lbm_node *node, uint32_t from, const Lbm__Command *command)
{
    if (lbm_log_propose_check(node, from, command))
        return 1;
    lbm_local_refused(node, "host %" PRIu32 " proposes what it may not: command %d of the control log%s",
                      from, (int)command->what_case,
                      lbm_view_member(&node->view, from) != NULL ? "; see operators in lbmapd.conf(5)"
                                                                 : ", and is no member");
    return 0;
}
