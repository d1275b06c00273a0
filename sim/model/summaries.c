/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What hosts say of jobs is compared with what the model knows, twice a second (I17); and when requests reach
 * the log with when they were to (I18). */
#include <stdlib.h>

#include "sim/model/internal.h"

enum { SAMPLE_US = 500000 };

/* Nonzero if applications of the host may work by its lease page, and its daemon is there to say so. */
static int
may_work(const struct cluster *c, uint32_t host)
{
    const struct machine *m = &c->machine[host];
    const struct lbm_member *member = lbm_view_member(&c->check.view, host);
    return m->node != NULL && !m->stopped && !m->suspended && member != NULL &&
           lbm_view_participates(member) && member->incarnation == c->disk[host].incarnation &&
           (m->page.deadline_us == INT64_MAX || machine_now(c, host) < m->page.deadline_us);
}

/* Nonzero if it has a record by which somebody may work on the vertex. */
static int
is_attended(const struct cluster *c, const struct truth *truth, const uint8_t *works)
{
    for (size_t i = 0; i < truth->copies.n; i++) {
        const struct copy *copy = &truth->copies.at[i];
        if (copy->owner == LBM_NONE && copy->epoch > truth->moved && works[copy->disk] &&
            copy->incarnation == c->disk[copy->disk].incarnation &&
            (copy->stage == LBM_STAGE_OWN || copy->stage == LBM_STAGE_OUT))
            return 1;
    }
    return 0;
}

/* Note which vertices are with nobody who may work on them. Returns how many. */
static uint32_t
look_at(const struct cluster *c, struct guest *guest, const uint8_t *works)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < guest->n; v++) {
        struct truth *truth = &guest->vertex[v];
        if (!check_is_there(truth) || is_attended(c, truth, works)) {
            truth->idle_us = 0;
            continue;
        }
        truth->idle_us = truth->idle_us != 0 ? truth->idle_us : c->now_us;
        n++;
    }
    return n;
}

static void
ask_all(struct cluster *c, struct guest *guest)
{
    for (uint32_t host = 0; host < c->n; host++) {
        const struct machine *m = &c->machine[host];
        struct lbm_job_summary summary;
        int says = m->node != NULL && !m->stopped && lbm_node_summary(m->node, guest->job, &summary);
        check_summary(&c->check, host, guest, says ? &summary : NULL, c->now_us);
    }
}

int
model_is_large(const struct cluster *c)
{
    return c->n > (c->options.large_members != 0 ? c->options.large_members : (uint32_t)LBM_VIEW_SMALL);
}

void
summaries_sample(struct cluster *c)
{
    if (model_is_large(c) || c->now_us < c->sampled_us + SAMPLE_US || c->options.unwatched)
        return;
    c->sampled_us = c->now_us;
    uint8_t *works = lbm_alloc(c->n, 1);
    LBM_ASSERT(works != NULL);
    for (uint32_t host = 0; host < c->n; host++)
        works[host] = may_work(c, host) != 0;
    for (size_t i = 0; i < c->check.guests.n; i++) {
        struct guest *guest = &c->check.guests.at[i];
        if (!guest->logged || guest->deleted)
            continue;
        uint32_t idle = look_at(c, guest, works);
        guest->was_whole |= idle == 0;
        ask_all(c, guest);
    }
    free(works);
    judge(c);
}

void
requests_ordered(struct cluster *c, uint32_t host, const struct lbm_persist *persist)
{
    for (size_t i = 0; i < persist->ops.n; i++) {
        const struct lbm_persist_op *op = &persist->ops.at[i];
        Lbm__Command *command = NULL;
        struct lbm_diag diag;
        if (op->kind != LBM_PERSIST_LOG || op->as.log.index <= c->ordered ||
            lbm_wire_unpack_command(op->as.log.command, op->as.log.len, &command, &diag) != LBM_OK)
            continue;
        c->ordered = op->as.log.index;
        if (command->request != 0)
            check_request_ordered(&c->check, command->request, host, c->now_us);
        lbm__command__free_unpacked(command, NULL);
    }
}
