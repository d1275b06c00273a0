/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries about the ensemble of etcd that the log is in. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "node/view/internal.h"

/* Nonzero if that is a member of the ensemble already: it may be gone, and go from the list after another
 * one, since members change one at a time. */
static int
stays(const struct lbm_view *view, const Lbm__Ensemble *ensemble, size_t i)
{
    const struct lbm_ensemble_member *was = lbm_ensemble_member(&view->ensemble, ensemble->host[i]);
    return view->protocol >= LBM_PROTOCOL_ENSEMBLES_MEND && view->ensemble.id == ensemble->id &&
           was != NULL && was->incarnation == ensemble->incarnation[i];
}

/* Nonzero if the members named are hosts that take part, or stay, each once; else refusal says why not. */
static int
names_hosts(const struct lbm_view *view, const Lbm__Ensemble *ensemble, char *refusal)
{
    for (size_t i = 0; i < ensemble->n_host && refusal[0] == '\0'; i++) {
        const struct lbm_member *member = lbm_view_member(view, ensemble->host[i]);
        int is_there = member != NULL && lbm_state_participates(member->state) &&
                       member->incarnation == ensemble->incarnation[i];
        if (!is_there && !stays(view, ensemble, i))
            snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is no member", ensemble->host[i]);
        for (size_t k = 0; k < i; k++)
            if (ensemble->host[k] == ensemble->host[i])
                snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is named twice", ensemble->host[i]);
    }
    if (ensemble->n_host == 0)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "an ensemble has a member");
    return refusal[0] == '\0';
}

/* The members that an entry names, at the index that is being applied: those that stay are what they were. */
static void
name_members(const struct lbm_view *view, const Lbm__Ensemble *from, struct lbm_ensemble *to)
{
    to->n = 0;
    for (size_t i = 0; i < from->n_host; i++) {
        struct lbm_ensemble_member member = {from->host[i], from->incarnation[i], view->index + 1};
        const struct lbm_ensemble_member *was = lbm_ensemble_member(&view->ensemble, member.host);
        if (was != NULL && view->ensemble.id == to->id && was->incarnation == member.incarnation)
            member.since = was->since;
        to->member[to->n++] = member;
    }
}

/* Members of one that the other does not have. */
static uint32_t
missing(const struct lbm_ensemble *of, const struct lbm_ensemble *in)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        const struct lbm_ensemble_member *same = lbm_ensemble_member(in, of->member[i].host);
        n += same == NULL || same->since != of->member[i].since;
    }
    return n;
}

static void
apply_form(struct lbm_view *view, const Lbm__Ensemble *ensemble, char *refusal)
{
    struct lbm_ensemble formed = {.id = ensemble->id, .changed = view->index + 1};
    if (view->external)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "the control log is in an ensemble already");
    else if (view->log_place == LBM_LOG_PLACE_LOCAL)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "an operator wants the control log ordered by a daemon");
    else if (ensemble->id == view->ensemble.id)
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "this ensemble is being formed");
    else if (names_hosts(view, ensemble, refusal)) {
        name_members(view, ensemble, &formed);
        view->ensemble = formed;
    }
}

static void
apply_move(struct lbm_view *view, const Lbm__Ensemble *ensemble, char *refusal)
{
    if (view->external || view->ensemble.id != ensemble->id) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "that ensemble is not being formed any more");
        return;
    }
    view->external = 1;
    view->ensemble.moved = view->index + 1;
}

/* One at a time: a majority of the members before is one of those after, whoever has heard of it. */
static void
apply_change(struct lbm_view *view, const Lbm__Ensemble *ensemble, char *refusal)
{
    struct lbm_ensemble next = {
        .id = ensemble->id, .moved = view->ensemble.moved, .changed = view->index + 1};
    if (!view->external || view->ensemble.id != ensemble->id) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "the control log is not in that ensemble");
    } else if (ensemble->changed != view->ensemble.changed) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "another change of the ensemble came before");
    } else if (names_hosts(view, ensemble, refusal)) {
        name_members(view, ensemble, &next);
        if (missing(&view->ensemble, &next) > 1 || missing(&next, &view->ensemble) > 1)
            snprintf(refusal, LBM_DIAG_TEXT_MAX, "more than one member would change");
        else
            view->ensemble = next;
    }
}

enum lbm_err
lbm_view_apply_ensemble(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    static void (*const steps[LBM_ENSEMBLE_STEP_COUNT])(struct lbm_view *, const Lbm__Ensemble *,
                                                        char *) = {[LBM_ENSEMBLE_FORM] = apply_form,
                                                                   [LBM_ENSEMBLE_MOVE] = apply_move,
                                                                   [LBM_ENSEMBLE_CHANGE] = apply_change};
    const Lbm__Ensemble *ensemble = command->ensemble;
    if (ensemble->step >= LBM_ENSEMBLE_STEP_COUNT)
        return LBM_E_VERSION;
    steps[ensemble->step](view, ensemble, refusal);
    return LBM_OK;
}

enum lbm_err
lbm_view_apply_log_move(struct lbm_view *view, const Lbm__Command *command, char *refusal)
{
    const Lbm__LogMove *move = command->log_move;
    const struct lbm_member *leader = lbm_view_member(view, move->leader);
    int is_forced = move->forced > view->log_forced;
    int ends_ensemble = view->external && (move->place == LBM_LOG_PLACE_LOCAL || is_forced);
    if (move->place >= LBM_LOG_PLACE_COUNT)
        return LBM_E_VERSION;
    if (view->external && view->ensemble.id == 0) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX,
                 "the control log is in an ensemble that the configuration names, and stays there");
        return LBM_OK;
    }
    if (move->forced != 0 && !is_forced) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "the control log was taken from that ensemble before");
        return LBM_OK;
    }
    if (ends_ensemble && (leader == NULL || !lbm_state_participates(leader->state))) {
        snprintf(refusal, LBM_DIAG_TEXT_MAX, "host %" PRIu32 " is no member", move->leader);
        return LBM_OK;
    }
    view->log_place = move->place;
    if (ends_ensemble) {
        view->external = 0;
        view->leader = move->leader;
        view->log_term = move->term > view->log_term ? move->term : view->log_term;
    }
    if (is_forced)
        view->log_forced = move->forced;
    if (move->place == LBM_LOG_PLACE_LOCAL || is_forced)
        view->ensemble = (struct lbm_ensemble){0};
    return LBM_OK;
}
