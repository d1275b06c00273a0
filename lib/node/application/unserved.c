/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hosts that have vertices of a job, and no program that works on them. Programs that talk to each other need
 * all of them: while one lacks, its neighbours wait. So a job is not well then (client/summary.c), and after
 * a time of grace such a host withdraws: it says so in its place, gives its vertices away, and all count it
 * as one that has no share of the job, until a program works there. */
#include <string.h>

#include "node/application/application.h"
#include "node/application/guest.h"
#include "node/core/core.h"
#include "node/local/local.h"

static const struct place *
known_place(const struct lbm_node *node, uint64_t job, uint32_t host)
{
    for (size_t i = 0; i < node->places.n; i++)
        if (node->places.at[i].job == job && node->places.at[i].host == host)
            return &node->places.at[i];
    return NULL;
}

int
lbm_application_is_computed(const struct lbm_node *node, const struct lbm_job_entry *entry)
{
    int is_computed = entry->run.arguments != 0;
    for (size_t i = 0; i < node->places.n; i++) {
        if (node->places.at[i].job == entry->job && node->places.at[i].finished)
            return 0;
        is_computed |= node->places.at[i].job == entry->job && node->places.at[i].present;
    }
    return is_computed;
}

/* Nonzero if a program that serves the job anywhere has published: those talk to each other. */
static int
has_published(const struct lbm_node *node, uint64_t job)
{
    for (size_t i = 0; i < node->places.n; i++)
        if (node->places.at[i].job == job && node->places.at[i].present)
            return 1;
    return 0;
}

/* Of programs that publish nothing others know only that they run. */
static int
works(const struct lbm_node *node, const struct place *place)
{
    return place->present || (place->program == LBM_PROGRAM_RUNS && !has_published(node, place->job));
}

int
lbm_application_is_unserved(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t host,
                            const char **why)
{
    const struct place *place = known_place(node, entry->job, host);
    *why = place != NULL ? place->why : "";
    return (place == NULL || !works(node, place)) && lbm_application_is_computed(node, entry);
}

void
lbm_application_withdrawn(struct lbm_node *node, const struct place *place)
{
    struct job *job = lbm_local_job(node, place->job);
    if (job == NULL || lbm_local_is_withdrawn(job, place->host) == (place->withdrawn != 0))
        return;
    if (place->withdrawn && lbm_vec_push(&job->withdrawn, place->host) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    for (size_t i = 0; !place->withdrawn && i < job->withdrawn.n; i++)
        if (job->withdrawn.at[i] == place->host)
            job->withdrawn.at[i] = job->withdrawn.at[--job->withdrawn.n];
}

/* Nonzero if a program works on the job at another host that may get vertices. */
static int
has_taker(const struct lbm_node *node, uint64_t job)
{
    for (size_t i = 0; i < node->places.n; i++)
        if (node->places.at[i].job == job && works(node, &node->places.at[i]) &&
            node->places.at[i].host != node->host &&
            lbm_view_number(&node->view, node->places.at[i].host) != LBM_NONE)
            return 1;
    return 0;
}

/* A program that is not started again is not waited for. */
static int64_t
grace_us(const struct lbm_node *node, uint64_t job)
{
    const struct place *place = known_place(node, job, node->host);
    int is_given_up =
        place != NULL && (place->program == LBM_PROGRAM_FAILED || place->program == LBM_PROGRAM_REFUSED);
    return is_given_up || node->program_grace_us < 0 ? 0 : node->program_grace_us;
}

static void
set_withdrawn(struct lbm_node *node, const struct lbm_job_entry *entry, int is_withdrawn)
{
    struct place *place = lbm_application_place_own(node, entry->job);
    if (place == NULL)
        return;
    place->withdrawn = is_withdrawn;
    lbm_application_withdrawn(node, place);
    lbm_application_place_tell(node, place);
    if (is_withdrawn)
        lbm_core_note(node, LBM_NOTE_WARNING,
                      "job %s: no program works here, so its vertices go to other hosts", entry->name);
    else
        lbm_core_note(node, LBM_NOTE_INFO, "job %s: this host takes vertices again", entry->name);
}

static void
look(struct lbm_node *node, const struct lbm_job_entry *entry, struct job *job)
{
    const char *why;
    int is_withdrawn = lbm_local_is_withdrawn(job, node->host);
    int is_unserved =
        (is_withdrawn || job->shard.n_own != 0) && lbm_application_is_unserved(node, entry, node->host, &why);
    if (!is_unserved) {
        job->unserved_us = 0;
        if (is_withdrawn)
            set_withdrawn(node, entry, 0);
        return;
    }
    if (job->unserved_us == 0)
        job->unserved_us = node->now_us;
    if (!is_withdrawn && node->program_grace_us >= 0 && has_taker(node, entry->job) &&
        node->now_us - job->unserved_us >= grace_us(node, entry->job))
        set_withdrawn(node, entry, 1);
}

/* Nonzero if there is nothing to look at, as where no programs talk to each other. */
static int
has_nothing(const struct lbm_node *node)
{
    for (size_t i = 0; i < node->view.jobs.n; i++)
        if (node->view.jobs.at[i].run.arguments != 0)
            return 0;
    return node->places.n == 0;
}

void
lbm_application_unserved_timer(struct lbm_node *node)
{
    if (has_nothing(node) || !lbm_local_is_alive(node))
        return;
    for (size_t i = 0; i < node->view.jobs.n && node->failed == LBM_OK; i++) {
        struct job *job = lbm_local_job(node, node->view.jobs.at[i].job);
        if (job != NULL)
            look(node, &node->view.jobs.at[i], job);
    }
}

int64_t
lbm_application_unserved_deadline(const struct lbm_node *node)
{
    int64_t when = INT64_MAX;
    for (size_t i = 0; i < node->jobs.n && node->program_grace_us >= 0; i++) {
        const struct job *job = node->jobs.at[i];
        int64_t end_us = job->unserved_us + grace_us(node, job->id);
        if (job->unserved_us != 0 && end_us > node->now_us && !lbm_local_is_withdrawn(job, node->host))
            when = end_us < when ? end_us : when;
    }
    return when;
}
