/* SPDX-License-Identifier: GPL-3.0-or-later */
/* I11: nothing is said of a record that no other disk has yet: not to another host, not to an application. */
#include <inttypes.h>

#include "base/check.h"
#include "sim/check/check.h"

static int
ranks_below(const struct replicated *r, uint64_t epoch, enum lbm_stage stage)
{
    return r->epoch < epoch || (r->epoch == epoch && r->stage < stage);
}

static struct replicated *
replicated_of(const struct truth *truth, uint32_t owner, uint64_t incarnation)
{
    for (size_t i = 0; i < truth->replicated.n; i++)
        if (truth->replicated.at[i].owner == owner && truth->replicated.at[i].incarnation == incarnation)
            return &truth->replicated.at[i];
    return NULL;
}

void
check_replicated(struct truth *truth, const struct copy *copy)
{
    struct replicated *known = replicated_of(truth, copy->owner, copy->incarnation);
    struct replicated now = {copy->owner, copy->incarnation, copy->epoch, copy->stage};
    if (known == NULL)
        LBM_ASSERT(lbm_vec_push(&truth->replicated, now) == LBM_OK);
    else if (ranks_below(known, copy->epoch, copy->stage))
        *known = now;
}

/* A host without a backup need not wait for one. */
void
check_alone(struct check *check)
{
    for (size_t i = 0; i < check->view.members.n; i++) {
        const struct lbm_member *member = &check->view.members.at[i];
        if (lbm_view_participates(member) && lbm_view_is_alone(member) && member->host < 64)
            check->was_alone |= UINT64_C(1) << member->host;
    }
}

void
check_word(struct check *check, uint32_t host, uint64_t incarnation, uint64_t job, uint32_t vertex,
           uint64_t epoch, enum lbm_stage stage)
{
    const struct guest *guest = check_guest(check, job);
    if (guest == NULL || guest->deleted || vertex >= guest->n ||
        lbm_view_member(&check->view, host) == NULL || host >= 64 || (check->was_alone >> host & 1) != 0)
        return;
    const struct replicated *known = replicated_of(&guest->vertex[vertex], host, incarnation);
    if (known == NULL || ranks_below(known, epoch, stage))
        check_violated(check, "I11",
                       "host %" PRIu32 " speaks of vertex %" PRIu32 " as of epoch %" PRIu64
                       ", which no other disk has",
                       host, vertex, epoch);
}

void
check_promise(struct check *check, uint32_t host, const struct truth *truth, uint32_t vertex,
              uint64_t payload)
{
    if (lbm_view_member(&check->view, host) != NULL && host < 64 && (check->was_alone >> host & 1) == 0 &&
        payload > truth->payload_replicated)
        check_violated(check, "I11",
                       "host %" PRIu32 " keeps payload %" PRIu64 " of vertex %" PRIu32
                       ", which no other disk has",
                       host, payload, vertex);
}

void
check_words(struct check *check, const Lbm__Peer *message)
{
    const Lbm__Answer *answer = message->answer;
    if (message->body_case == LBM__PEER__BODY_OFFER && message->offer->records != NULL)
        for (size_t i = 0; i < message->offer->records->n_vertex; i++)
            check_word(check, message->src, message->src_incarnation, message->offer->job,
                       message->offer->records->vertex[i], message->offer->records->epoch[i] - 1,
                       LBM_STAGE_OUT);
    for (size_t i = 0; message->body_case == LBM__PEER__BODY_ANSWER && i < answer->n_vertex; i++)
        check_word(check, message->src, message->src_incarnation, answer->job, answer->vertex[i],
                   answer->epoch[i], answer->refused[i] != 0 ? LBM_STAGE_REF : LBM_STAGE_OWN);
}
