/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ids of vertices that applications add. The control log allots them in blocks, so no two hosts have the
 * same; what a life of this host has not used by its end is never used: nobody need remember which of them
 * have been (docs/adr/0009). */
#include <inttypes.h>

#include "node/application/application.h"
#include "node/application/guest.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/log/log.h"

enum {
    BLOCK = 1024,       /* asked for at a time: an entry of the log for that many splits */
    UNUSED_MAX = 65536, /* of a job: an application that only asks would use all ids up */
};

static int
has_ids(const struct job *job, uint32_t n)
{
    return job->id_end - job->id_next >= n || job->spare_end - job->spare_next >= n;
}

/* What is left of a block is too little: it is never used. */
static void
use_spare(struct job *job)
{
    job->id_next = job->spare_next;
    job->id_end = job->spare_end;
    job->spare_next = job->spare_end = 0;
}

static void
answer(struct lbm_node *node, struct job *job, const struct id_wait *wait)
{
    uint32_t vertex[LBM_CHANGE_RECORDS_MAX];
    LBM_ASSERT(wait->count <= LBM_CHANGE_RECORDS_MAX && has_ids(job, wait->count));
    if (job->id_end - job->id_next < wait->count)
        use_spare(job);
    for (uint32_t i = 0; i < wait->count; i++) {
        vertex[i] = job->id_next++;
        if (lbm_idmap_put(&job->new_ids, vertex[i], 1) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    }
    Lbm__IdsReply ids = LBM__IDS_REPLY__INIT;
    ids.n_vertex = wait->count;
    ids.vertex = vertex;
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_IDS;
    response.ids = &ids;
    lbm_core_reply(node, wait->client, wait->request, 1, &response);
}

static int
may_ask(const struct lbm_node *node)
{
    return node->appends.n < PROPOSALS_MAX && lbm_local_is_alive(node);
}

static void
ask_for_more(struct lbm_node *node, uint64_t job, uint32_t count)
{
    Lbm__AllotIds allot = LBM__ALLOT_IDS__INIT;
    allot.job = job;
    allot.host = node->host;
    allot.incarnation = node->incarnation;
    allot.count = count > BLOCK ? count : BLOCK;
    allot.life = node->life;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_ALLOT_IDS;
    command.allot_ids = &allot;
    lbm_log_append(node, &command);
}

void
lbm_application_ids(struct lbm_node *node, uint64_t client, uint64_t request, const Lbm__IdsRequest *ids)
{
    struct job *job = lbm_local_application_job(node, client);
    if (job == NULL) {
        lbm_core_reply_error(node, client, request, LBM_E_STATE, "no job is served by this connection");
        return;
    }
    if (job->new_ids.n + ids->count > UNUSED_MAX) {
        lbm_core_reply_error(node, client, request, LBM_E_LIMIT,
                             "%zu ids were given and are not used: use them first", (size_t)job->new_ids.n);
        return;
    }
    struct id_wait wait = {client, request, job->id, ids->count, node->now_us};
    lbm_application_ids_gone(node, client); /* it has given up waiting for those that it asked for before */
    if (has_ids(job, ids->count))
        answer(node, job, &wait);
    else if (lbm_vec_push(&node->id_waits, wait) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

/* Those of a job that there are ids for by now; refusal: why there will be none. */
static void
answer_waiting(struct lbm_node *node, uint64_t id, const char *refusal)
{
    struct job *job = lbm_local_job(node, id);
    size_t kept = 0;
    for (size_t i = 0; i < node->id_waits.n; i++) {
        const struct id_wait wait = node->id_waits.at[i];
        if (wait.job == id && (job == NULL || refusal[0] != '\0'))
            lbm_core_reply_error(node, wait.client, wait.request, LBM_E_LIMIT, "%s",
                                 refusal[0] != '\0' ? refusal : "the job is cancelled");
        else if (wait.job == id && has_ids(job, wait.count))
            answer(node, job, &wait);
        else
            node->id_waits.at[kept++] = wait;
    }
    node->id_waits.n = kept;
}

void
lbm_application_ids_allotted(struct lbm_node *node, const Lbm__AllotIds *allot, const char *refusal)
{
    struct job *job = lbm_local_job(node, allot->job);
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, allot->job);
    if (allot->host != node->host || allot->incarnation != node->incarnation ||
        (allot->life != node->life && !LBM_BUG(IDS_OF_EARLIER_LIFE)))
        return;
    if (job != NULL && entry != NULL && refusal[0] == '\0') {
        job->spare_next = entry->ids - allot->count;
        job->spare_end = entry->ids;
        if (job->id_next == job->id_end)
            use_spare(job);
    }
    answer_waiting(node, allot->job, refusal);
}

void
lbm_application_ids_gone(struct lbm_node *node, uint64_t client)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->id_waits.n; i++)
        if (node->id_waits.at[i].client != client)
            node->id_waits.at[kept++] = node->id_waits.at[i];
    node->id_waits.n = kept;
}

/* More are asked for before there are too few: hosts that ask at the same time wait for one another. */
static int
is_running_low(const struct job *job)
{
    return job->id_end != 0 && job->id_end - job->id_next < BLOCK / 2 && job->spare_end == job->spare_next;
}

void
lbm_application_ids_timer(struct lbm_node *node)
{
    for (size_t i = 0; i < node->id_waits.n && node->failed == LBM_OK; i++) {
        struct id_wait *wait = &node->id_waits.at[i];
        if (node->now_us < wait->ask_us || !may_ask(node))
            continue;
        wait->ask_us = node->now_us + APPEND_AGAIN_US;
        ask_for_more(node, wait->job, wait->count);
    }
    for (size_t i = 0; i < node->jobs.n && node->failed == LBM_OK; i++) {
        struct job *job = node->jobs.at[i];
        if (!is_running_low(job) || node->now_us < job->spare_us || !may_ask(node))
            continue;
        job->spare_us = node->now_us + APPEND_AGAIN_US;
        ask_for_more(node, job->id, 0);
    }
}

int64_t
lbm_application_ids_deadline(const struct lbm_node *node)
{
    int64_t when = INT64_MAX;
    if (!may_ask(node))
        return when;
    for (size_t i = 0; i < node->id_waits.n; i++)
        when = node->id_waits.at[i].ask_us < when ? node->id_waits.at[i].ask_us : when;
    for (size_t i = 0; i < node->jobs.n; i++)
        if (is_running_low(node->jobs.at[i]))
            when = node->jobs.at[i]->spare_us < when ? node->jobs.at[i]->spare_us : when;
    return when;
}
