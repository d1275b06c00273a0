/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A member that is away for a planned time (docs/protocol.md, "Maintenance"). */
#include <inttypes.h>
#include <stdio.h>

#include "node/view/internal.h"

int
lbm_view_is_in_maintenance(const struct lbm_view *view, uint32_t host)
{
    const struct lbm_member *member = lbm_view_member(view, host);
    return member != NULL && member->maintenance_us != 0;
}

static enum lbm_err
end(struct lbm_view *view, struct lbm_member *member, char *refusal)
{
    if (member->maintenance_us == 0) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is not in maintenance", member->host);
        return LBM_OK;
    }
    int comes_back = member->maintenance_moves && member->state == LBM_MEMBER_DRAINING;
    member->maintenance_us = 0;
    if (!comes_back)
        return lbm_view_touch(view, member->host);
    enum lbm_err err = lbm_view_set_state(view, member, LBM_MEMBER_ACTIVE);
    lbm_view_derive(view);
    return err;
}

/* Why a host cannot be in maintenance, or "". */
static void
refuse_maintenance(const struct lbm_view *view, const struct lbm_member *member,
                   const Lbm__Maintain *maintain, char *refusal)
{
    if (!lbm_view_participates(member) || (maintain->moves && member->state == LBM_MEMBER_JOINING))
        lbm_view_refuse_state(member, refusal);
    else if (!view->external && view->leader == member->host)
        snprintf(refusal, LBM_DIAG_TEXT_MAX,
                 "host %" PRIu32 " orders the control log; promote another one first", member->host);
    else if (maintain->moves && member->state == LBM_MEMBER_ACTIVE && view->active.n == 1)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is the only one: nobody could take over",
                 member->host);
}

enum lbm_err
lbm_view_apply_maintain(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__Maintain *maintain = command->maintain;
    struct lbm_member *member = lbm_view_member_named(view, maintain->host, maintain->incarnation, refusal);
    if (member == NULL)
        return LBM_OK;
    if (maintain->duration_us == 0)
        return end(view, member, refusal);
    refuse_maintenance(view, member, maintain, refusal);
    if (refusal[0] != '\0')
        return LBM_OK;
    int drains = maintain->moves && member->state == LBM_MEMBER_ACTIVE;
    member->maintenance_us = maintain->duration_us;
    member->maintenance_view = view->index + 1;
    member->maintenance_moves = drains || (member->maintenance_moves && member->state == LBM_MEMBER_DRAINING);
    snprintf(member->maintenance_reason, sizeof member->maintenance_reason, "%s", maintain->reason);
    if (!drains)
        return lbm_view_touch(view, member->host);
    member->drained = view->index + 1;
    enum lbm_err err = lbm_view_set_state(view, member, LBM_MEMBER_DRAINING);
    lbm_view_derive(view);
    return err;
}
