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

int
check_takes_over(const struct lbm_departed *gone, uint32_t disk)
{
    return gone->evicted && (gone->successor == disk || (gone->reserve == disk && !gone->taken_over));
}

int
check_is_backup(const struct lbm_member *member, const struct copy *copy)
{
    const struct lbm_backup *slot = lbm_view_backup_slot(member, copy->disk);
    return slot != NULL && slot->view == copy->repl_epoch;
}

/* Would this record be found if that host and its disk were lost? */
static int
outlives(const struct check *check, const struct copy *copy, uint32_t lost, uint32_t other)
{
    const struct lbm_view *view = &check->view;
    if (copy->disk == lost || copy->disk == other ||
        (copy->stage != LBM_STAGE_OWN && copy->stage != LBM_STAGE_OUT && !copy->is_removal))
        return 0;
    uint32_t host = copy->owner != LBM_NONE ? copy->owner : copy->disk;
    const struct lbm_departed *gone = lbm_view_departed(view, host, copy->incarnation);
    if (gone != NULL)
        return copy->owner != LBM_NONE && check_takes_over(gone, copy->disk) &&
               !check_is_merged(check, host, copy->incarnation);
    const struct lbm_member *member = lbm_view_member(view, host);
    if (member == NULL || member->incarnation != copy->incarnation)
        return 0;
    return copy->owner == LBM_NONE || check_is_backup(member, copy);
}

static int
vertex_outlives(const struct check *check, const struct truth *truth, uint32_t lost, uint32_t other)
{
    for (size_t i = 0; i < truth->copies.n; i++)
        if (truth->copies.at[i].epoch > truth->moved && outlives(check, &truth->copies.at[i], lost, other))
            return 1;
    return 0;
}

static int
is_kept_twice(const struct check *check, const struct lbm_member *member)
{
    int is_kept = lbm_view_participates(member) && lbm_view_all_in_sync(&check->view, member);
    for (unsigned k = 0; k < check->view.copies; k++)
        is_kept &= member->backups[k].host != LBM_NONE;
    for (size_t i = 0; i < check->view.departed.n; i++) /* one of the two may be all that has its copy */
        is_kept &= !check->view.departed.at[i].evicted || check->view.departed.at[i].taken_over;
    return is_kept;
}

/* With two copies a host and a backup of it may be lost at once, if both have all their copies. */
static void
check_loss_of_two(struct check *check, const struct truth *truth, const struct lbm_member *member,
                  unsigned slot, uint32_t vertex)
{
    const struct lbm_member *backup = lbm_view_member(&check->view, member->backups[slot].host);
    if (backup == NULL || check->has_loss || !is_kept_twice(check, member) || !is_kept_twice(check, backup) ||
        vertex_outlives(check, truth, member->host, backup->host))
        return;
    check_violated(check, "I10",
                   "if host %" PRIu32 " and its backup host %" PRIu32 " were lost now, vertex %" PRIu32
                   " of epoch %" PRIu64 " or more would be",
                   member->host, backup->host, vertex, truth->moved + 1);
}

void
check_losses(struct check *check, const struct guest *guest, uint32_t vertex)
{
    const struct truth *truth = &guest->vertex[vertex];
    for (size_t i = 0; i < check->view.members.n && !check->has_loss && check_is_there(truth); i++) {
        const struct lbm_member *member = &check->view.members.at[i];
        if (lbm_view_participates(member) && lbm_view_in_sync(&check->view, member) &&
            !lbm_view_is_alone(member) && !vertex_outlives(check, truth, member->host, LBM_NONE))
            check_violated(check, "I10",
                           "if host %" PRIu32 ", which is in sync with host %" PRIu32
                           ", were lost now, vertex %" PRIu32 " of epoch %" PRIu64 " or more would be",
                           member->host, lbm_view_successor_of(&check->view, member), vertex,
                           truth->moved + 1);
        for (unsigned k = 0; k < check->view.copies && check->view.copies > 1; k++)
            check_loss_of_two(check, truth, member, k, vertex);
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
