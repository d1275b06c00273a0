/* SPDX-License-Identifier: GPL-3.0-or-later */
/* I13: who has answered an offer keeps the answer until nobody can make that offer again. A record that is
 * removed, or given on, has answered whatever was offered up to its epoch. */
#include <inttypes.h>

#include "sim/check/check.h"

/* May this record yet be offered, as far as a host knows that has the control log up to that index? */
static int
may_be_offered(const struct check *check, const struct copy *copy, uint64_t index)
{
    const struct lbm_view *view = &check->view;
    uint32_t host = copy->owner != LBM_NONE ? copy->owner : copy->disk;
    const struct lbm_departed *gone = lbm_view_departed(view, host, copy->incarnation);
    const struct lbm_member *member = lbm_view_member(view, host);
    if (gone != NULL && copy->owner == LBM_NONE)
        return gone->view > index;
    if (gone != NULL)
        return check_takes_over(gone, copy->disk) && !check_is_merged(check, host, copy->incarnation);
    if (member == NULL || member->incarnation != copy->incarnation)
        return 0;
    return copy->owner == LBM_NONE || check_is_backup(member, copy);
}

void
check_end(struct check *check, const struct disk *disk, const struct guest *guest, const struct lbm_row *row)
{
    const struct truth *truth = &guest->vertex[row->vertex];
    const struct lbm_member *self = lbm_view_member(&check->view, disk->place);
    uint64_t index = disk->snapshot_index + disk->log.n;
    if (check->has_loss || !guest->logged || guest->deleted || self == NULL ||
        self->incarnation != disk->incarnation || !lbm_view_participates(self))
        return;
    for (size_t i = 0; i < truth->copies.n; i++) {
        const struct copy *copy = &truth->copies.at[i];
        uint32_t host = copy->owner != LBM_NONE ? copy->owner : copy->disk;
        if (host != disk->place && copy->stage == LBM_STAGE_OUT && copy->epoch < row->epoch &&
            may_be_offered(check, copy, index))
            check_violated(check, "I13",
                           "host %" PRIu32 " is done with vertex %" PRIu32 " of epoch %" PRIu64
                           ", which the disk of host %" PRIu32 " may yet offer at epoch %" PRIu64,
                           disk->place, row->vertex, row->epoch, copy->disk, copy->epoch + 1);
    }
}
