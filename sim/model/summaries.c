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

/* Vertices that are with nobody who may work on them. */
static uint32_t
count_missing(const struct cluster *c, const struct guest *guest, const uint8_t *works)
{
    uint32_t missing = 0;
    for (uint32_t v = 0; v < guest->n; v++) {
        const struct truth *truth = &guest->vertex[v];
        int is_attended = !check_is_there(truth);
        for (size_t i = 0; i < truth->copies.n && !is_attended; i++) {
            const struct copy *copy = &truth->copies.at[i];
            is_attended = copy->owner == LBM_NONE && copy->epoch > truth->moved && works[copy->disk] &&
                          copy->incarnation == c->disk[copy->disk].incarnation &&
                          (copy->stage == LBM_STAGE_OWN || copy->stage == LBM_STAGE_OUT);
        }
        missing += !is_attended;
    }
    return missing;
}

static void
ask_all(struct cluster *c, const struct guest *guest, const struct check_attended *attended)
{
    const struct lbm_job_entry *entry = lbm_view_job(&c->check.view, guest->job);
    for (uint32_t host = 0; host < c->n && entry != NULL; host++) {
        const struct machine *m = &c->machine[host];
        struct check_attended of_host = *attended;
        struct lbm_job_summary summary;
        if (m->node == NULL || m->stopped || !lbm_node_summary(m->node, guest->job, &summary))
            continue;
        of_host.since_us = m->ran_us > of_host.since_us ? m->ran_us : of_host.since_us;
        check_summary(&c->check, host, entry->name, &summary, &of_host);
    }
}

void
summaries_sample(struct cluster *c)
{
    if (c->now_us < c->sampled_us + SAMPLE_US || c->options.unwatched)
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
        uint32_t missing = count_missing(c, guest, works);
        if (missing == 0)
            guest->whole_us = c->now_us;
        const struct check_attended attended = {missing, guest->whole_us, c->now_us};
        if (guest->whole_us != 0)
            ask_all(c, guest, &attended);
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
