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

/* What takes no look at links; BY_LINK and what follows are left 0. */
static struct unfitness
cheap_unfitness(const struct lbm_view *view, const struct lbm_member *owner,
                const struct lbm_host_place *backup)
{
    int together = owner->failure_domain[0] != '\0' &&
                   strcmp(owner->failure_domain, view->members.at[backup->member].failure_domain) == 0;
    return (struct unfitness){
        {[BY_DRAINING] = (uint32_t)lbm_view_is_poor_backup(&view->members.at[backup->member]),
         [BY_DOMAIN] = (uint32_t)together,
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

enum lbm_err
lbm_view_set_backup(struct lbm_view *view, struct lbm_member *owner, uint32_t backup)
{
    if (count_primary(view, owner->backup, UINT32_MAX) != LBM_OK || count_primary(view, backup, 1) != LBM_OK)
        return LBM_E_NOMEM;
    owner->backup = view->place.at[owner->host].backup = backup;
    return lbm_view_touch(view, owner->host);
}

enum lbm_err
lbm_view_give_backup(struct lbm_view *view, struct lbm_member *owner)
{
    uint32_t best = LBM_NONE;
    struct unfitness least = {{0}};
    if (lbm_view_set_backup(view, owner, LBM_NONE) != LBM_OK)
        return LBM_E_NOMEM;
    for (uint32_t host = 0; host < view->place.n; host++) {
        const struct lbm_host_place *place = &view->place.at[host];
        if (host == owner->host || place->member == LBM_NONE || !lbm_state_participates(place->state))
            continue;
        struct unfitness fit = cheap_unfitness(view, owner, place);
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
    owner->backup_view = view->index + 1;
    owner->insync = 0;
    return lbm_view_set_backup(view, owner, best);
}

enum lbm_err
lbm_view_give_backups(struct lbm_view *view, uint32_t lost)
{
    for (uint32_t host = 0; host < view->place.n; host++) {
        const struct lbm_host_place *place = &view->place.at[host];
        if (place->member != LBM_NONE && place->backup == lost && lbm_state_participates(place->state) &&
            lbm_view_give_backup(view, &view->members.at[place->member]) != LBM_OK)
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
            !lbm_view_is_poor_backup(&view->members.at[place->member]))
            return 1;
    }
    return 0;
}

enum lbm_err
lbm_view_apply_change_backup(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__ChangeBackup *change = command->change_backup;
    struct lbm_member *member = lbm_view_member_named(view, change->host, change->incarnation, refusal);
    if (member == NULL)
        return LBM_OK;
    const struct lbm_member *backup = lbm_view_member(view, member->backup);
    if (!lbm_view_participates(member))
        lbm_view_refuse_state(member, refusal);
    else if (backup == NULL || member->backup_view != change->view || !lbm_view_is_poor_backup(backup))
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " has a backup that stays", member->host);
    else if (!lbm_view_has_other_backup(view, member))
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "nobody else could be the backup of host %" PRIu32,
                 member->host);
    return refusal[0] != '\0' ? LBM_OK : lbm_view_give_backup(view, member);
}
