/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who keeps whose replica (docs/protocol.md, "The backup"): decided by the view alone, so that all hosts
 * decide alike. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "node/view/internal.h"

static int
are_linked(const struct lbm_member *a, const struct lbm_member *b)
{
    for (size_t k = 0; k < a->n_links; k++)
        if (a->links[k].q == b->host)
            return 1;
    for (size_t k = 0; k < b->n_links; k++)
        if (b->links[k].q == a->host)
            return 1;
    return 0;
}

int
lbm_view_is_poor_backup(const struct lbm_member *member)
{
    return member->state == LBM_MEMBER_DRAINING || member->maintenance_us != 0;
}

/* How unfit a member is as backup, the most important first; the last makes every choice unique. */
enum { BY_DRAINING, BY_DOMAIN, BY_PRIMARIES, BY_LINK, BY_DISTANCE, CRITERIA };
struct unfitness {
    uint32_t by[CRITERIA];
};

static int
are_together(const struct lbm_member *a, const struct lbm_member *b)
{
    return a->failure_domain[0] != '\0' && strcmp(a->failure_domain, b->failure_domain) == 0;
}

/* What takes no look at links; BY_LINK and what follows are left 0. The backups of a member should not fail
 * together either. */
static struct unfitness
cheap_unfitness(const struct lbm_view *view, const struct lbm_member *owner, unsigned slot,
                const struct lbm_host_place *backup)
{
    const struct lbm_member *candidate = &view->members.at[backup->member];
    uint32_t together = (uint32_t)are_together(owner, candidate);
    for (unsigned k = 0; k < view->copies; k++) {
        const struct lbm_member *other = lbm_view_member(view, owner->backups[k].host);
        together += k != slot && other != NULL && are_together(other, candidate);
    }
    return (struct unfitness){{[BY_DRAINING] = (uint32_t)lbm_view_is_poor_backup(candidate),
                               [BY_DOMAIN] = together,
                               [BY_PRIMARIES] = backup->n_primaries}};
}

static int
compare_fitness(const struct unfitness *a, const struct unfitness *b, int from, int to)
{
    int order = 0;
    for (int k = from; order == 0 && k < to; k++)
        order = (a->by[k] > b->by[k]) - (a->by[k] < b->by[k]);
    return order;
}

static enum lbm_err
count_primary(struct lbm_view *view, uint32_t backup, uint32_t more)
{
    if (lbm_view_member(view, backup) == NULL)
        return LBM_OK;
    view->place.at[backup].n_primaries += more;
    return lbm_view_touch(view, backup);
}

const struct lbm_backup *
lbm_view_backup_slot(const struct lbm_member *member, uint32_t host)
{
    for (unsigned k = 0; k < LBM_COPIES_MAX && host != LBM_NONE; k++)
        if (member->backups[k].host == host)
            return &member->backups[k];
    return NULL;
}

int
lbm_view_is_alone(const struct lbm_member *member)
{
    for (unsigned k = 0; k < LBM_COPIES_MAX; k++)
        if (member->backups[k].host != LBM_NONE)
            return 0;
    return 1;
}

enum lbm_err
lbm_view_set_backup(struct lbm_view *view, struct lbm_member *owner, unsigned slot, uint32_t backup)
{
    if (count_primary(view, owner->backups[slot].host, UINT32_MAX) != LBM_OK ||
        count_primary(view, backup, 1) != LBM_OK)
        return LBM_E_NOMEM;
    owner->backups[slot].host = view->place.at[owner->host].backup[slot] = backup;
    return lbm_view_touch(view, owner->host);
}

/* The fittest host that is not in another slot of the owner already, or LBM_NONE. */
static uint32_t
fittest(const struct lbm_view *view, const struct lbm_member *owner, unsigned slot)
{
    uint32_t best = LBM_NONE;
    struct unfitness least = {{0}};
    for (uint32_t host = 0; host < view->place.n; host++) {
        const struct lbm_host_place *place = &view->place.at[host];
        if (host == owner->host || place->member == LBM_NONE || !lbm_state_participates(place->state) ||
            lbm_view_backup_slot(owner, host) != NULL)
            continue;
        struct unfitness fit = cheap_unfitness(view, owner, slot, place);
        int order = best != LBM_NONE ? compare_fitness(&fit, &least, 0, BY_LINK) : -1;
        if (order > 0)
            continue;
        fit.by[BY_LINK] = !are_linked(owner, &view->members.at[place->member]);
        fit.by[BY_DISTANCE] = (host - owner->host) % LBM_HOSTS_MAX;
        if (order < 0 || compare_fitness(&fit, &least, BY_LINK, CRITERIA) < 0) {
            best = host;
            least = fit;
        }
    }
    return best;
}

enum lbm_err
lbm_view_give_backup(struct lbm_view *view, struct lbm_member *owner, unsigned slot)
{
    struct lbm_backup *backup = &owner->backups[slot];
    int had_none = slot != 0 && backup->host == LBM_NONE && backup->view != 0;
    if (lbm_view_set_backup(view, owner, slot, LBM_NONE) != LBM_OK)
        return LBM_E_NOMEM;
    uint32_t best = fittest(view, owner, slot);
    if (had_none && best == LBM_NONE)
        return LBM_OK; /* nothing changes */
    backup->view = view->index + 1;
    backup->insync = 0;
    return lbm_view_set_backup(view, owner, slot, best);
}

enum lbm_err
lbm_view_give_all_backups(struct lbm_view *view, struct lbm_member *owner)
{
    enum lbm_err err = LBM_OK;
    for (unsigned k = 0; k < view->copies && err == LBM_OK; k++)
        err = lbm_view_set_backup(view, owner, k, LBM_NONE);
    for (unsigned k = 0; k < view->copies && err == LBM_OK; k++)
        err = lbm_view_give_backup(view, owner, k);
    return err;
}

enum lbm_err
lbm_view_give_backups(struct lbm_view *view, uint32_t lost)
{
    for (uint32_t host = 0; host < view->place.n; host++)
        for (unsigned k = 0; k < view->copies; k++) {
            const struct lbm_host_place *place = &view->place.at[host];
            if (place->member != LBM_NONE && place->backup[k] == lost &&
                lbm_state_participates(place->state) &&
                lbm_view_give_backup(view, &view->members.at[place->member], k) != LBM_OK)
                return LBM_E_NOMEM;
        }
    return LBM_OK;
}

int
lbm_view_has_other_backup(const struct lbm_view *view, const struct lbm_member *member)
{
    for (uint32_t host = 0; host < view->place.n; host++) {
        const struct lbm_host_place *place = &view->place.at[host];
        if (host != member->host && place->member != LBM_NONE && lbm_state_participates(place->state) &&
            lbm_view_backup_slot(member, host) == NULL &&
            !lbm_view_is_poor_backup(&view->members.at[place->member]))
            return 1;
    }
    return 0;
}

/* The slot, as of that view, whose backup should be another one; LBM_COPIES_MAX: none. */
static unsigned
poor_slot(const struct lbm_view *view, const struct lbm_member *member, uint64_t at)
{
    unsigned slot = 0;
    for (; slot < view->copies; slot++) {
        const struct lbm_member *backup = lbm_view_member(view, member->backups[slot].host);
        if (backup != NULL && member->backups[slot].view == at && lbm_view_is_poor_backup(backup))
            return slot;
    }
    return LBM_COPIES_MAX;
}

enum lbm_err
lbm_view_apply_change_backup(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__ChangeBackup *change = command->change_backup;
    struct lbm_member *member = lbm_view_member_named(view, change->host, change->incarnation, refusal);
    if (member == NULL)
        return LBM_OK;
    unsigned slot = poor_slot(view, member, change->view);
    if (!lbm_view_participates(member))
        lbm_view_refuse_state(member, refusal);
    else if (slot == LBM_COPIES_MAX)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " has a backup that stays", member->host);
    else if (!lbm_view_has_other_backup(view, member))
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "nobody else could be the backup of host %" PRIu32,
                 member->host);
    return refusal[0] != '\0' ? LBM_OK : lbm_view_give_backup(view, member, slot);
}
