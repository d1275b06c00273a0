/* SPDX-License-Identifier: GPL-3.0-or-later */
/* I10: nobody has to be lost to see that a loss would be one. The control log says who is in sync; whichever
 * of these hosts is lost, of each vertex there is a record elsewhere that the protocol would go on with: a
 * member's own, or a replica with the backup or the successor of its owner. */
#include <inttypes.h>

#include "sim/check/check.h"

int
check_is_merged(const struct check *check, uint32_t host, uint64_t incarnation)
{
    for (size_t i = 0; i < check->merged.n; i++)
        if (check->merged.at[i].host == host && check->merged.at[i].incarnation == incarnation)
            return 1;
    return 0;
}

/* Would this record be found if that host and its disk were lost? */
static int
outlives(const struct check *check, const struct copy *copy, uint32_t lost)
{
    const struct lbm_view *view = &check->view;
    if (copy->disk == lost ||
        (copy->stage != LBM_STAGE_OWN && copy->stage != LBM_STAGE_OUT && !copy->is_removal))
        return 0;
    uint32_t host = copy->owner != LBM_NONE ? copy->owner : copy->disk;
    const struct lbm_departed *gone = lbm_view_departed(view, host, copy->incarnation);
    if (gone != NULL)
        return copy->owner != LBM_NONE && gone->evicted && gone->successor == copy->disk &&
               !check_is_merged(check, host, copy->incarnation);
    const struct lbm_member *member = lbm_view_member(view, host);
    if (member == NULL || member->incarnation != copy->incarnation)
        return 0;
    return copy->owner == LBM_NONE ||
           (member->backup == copy->disk && member->backup_view == copy->repl_epoch);
}

static int
vertex_outlives(const struct check *check, const struct truth *truth, uint32_t lost)
{
    for (size_t i = 0; i < truth->copies.n; i++)
        if (truth->copies.at[i].epoch > truth->moved && outlives(check, &truth->copies.at[i], lost))
            return 1;
    return 0;
}

void
check_losses(struct check *check, const struct guest *guest, uint32_t vertex)
{
    const struct truth *truth = &guest->vertex[vertex];
    for (size_t i = 0; i < check->view.members.n && !check->has_loss && check_is_there(truth); i++) {
        const struct lbm_member *member = &check->view.members.at[i];
        if (lbm_view_participates(member) && lbm_view_in_sync(&check->view, member) &&
            member->backup != LBM_NONE && !vertex_outlives(check, truth, member->host))
            check_violated(check, "I10",
                           "if host %" PRIu32 ", which is in sync with host %" PRIu32
                           ", were lost now, vertex %" PRIu32 " of epoch %" PRIu64 " or more would be",
                           member->host, member->backup, vertex, truth->moved + 1);
    }
}

/* I12: of those that have not departed one at most owns the vertex. */
void
check_owners(struct check *check, const struct guest *guest, uint32_t vertex)
{
    const struct truth *truth = &guest->vertex[vertex];
    uint32_t owner = LBM_NONE;
    for (size_t i = 0; i < truth->copies.n && !check->has_loss; i++) {
        const struct copy *copy = &truth->copies.at[i];
        const struct lbm_member *member = lbm_view_member(&check->view, copy->disk);
        if (copy->owner != LBM_NONE || copy->stage != LBM_STAGE_OWN || member == NULL ||
            !lbm_view_participates(member) || member->incarnation != copy->incarnation)
            continue;
        if (owner != LBM_NONE)
            check_violated(check, "I12", "hosts %" PRIu32 " and %" PRIu32 " both own vertex %" PRIu32, owner,
                           copy->disk, vertex);
        owner = copy->disk;
    }
}

void
check_all_losses(struct check *check)
{
    for (size_t i = 0; i < check->guests.n && !check->has_loss; i++)
        for (uint32_t v = 0; v < check->guests.at[i].n; v++)
            if (check->guests.at[i].logged && !check->guests.at[i].deleted)
                check_losses(check, &check->guests.at[i], v);
}
