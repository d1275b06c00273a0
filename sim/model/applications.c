/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The applications of a cluster: they begin, and are killed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/model/internal.h"

void
cluster_run_application(struct cluster *c, uint32_t host, const char *job, enum client_model client_model)
{
    static const char *const client_models[] = {
#define CLIENT_MODEL_NAME(id, name) name,
        CLIENT_MODEL_LIST(CLIENT_MODEL_NAME)
#undef CLIENT_MODEL_NAME
    };
    struct application a = {
        .host = host, .job = check_job(&c->check, job), .client_model = client_model, .alive = 1};
    if (a.job == 0)
        return;
    if (c->programs != NULL) {
        program_begin(c, host, job);
        return;
    }
    snprintf(a.name, sizeof a.name, "%s", job);
    LBM_ASSERT(lbm_vec_push(&c->applications, a) == LBM_OK);
    trace(c, host, "%s application %zu for %s", client_models[client_model], c->applications.n - 1, job);
    application_looks(c, (uint32_t)c->applications.n - 1);
}

void
cluster_kill_applications(struct cluster *c, uint32_t host)
{
    programs_kill(c, host);
    for (uint32_t i = 0; i < c->applications.n; i++) {
        struct application *a = &c->applications.at[i];
        if (a->host != host || !a->alive)
            continue;
        trace(c, host, "application %" PRIu32 " is killed", i);
        for (size_t k = 0; k < a->held.n; k++)
            work_ends(c, i, a->held.at[k].vertex);
        a->held.n = 0;
        a->alive = 0;
        application_hangs_up(c, i);
    }
}

void
cluster_set_client_model(struct cluster *c, enum client_model client_model)
{
    for (size_t i = 0; i < c->applications.n; i++)
        c->applications.at[i].client_model = client_model;
}

uint32_t
cluster_applications(const struct cluster *c, uint32_t host)
{
    uint32_t n = programs_at(c, host);
    for (size_t i = 0; i < c->applications.n; i++)
        n += c->applications.at[i].host == host && c->applications.at[i].alive;
    return n;
}

int
cluster_serves(const struct cluster *c, uint32_t host, const char *job)
{
    for (size_t i = 0; i < c->applications.n; i++) {
        const struct application *a = &c->applications.at[i];
        if (a->alive && a->host == host && strcmp(a->name, job) == 0)
            return 1;
    }
    return programs_serve(c, host, job);
}

void
applications_free(struct cluster *c)
{
    for (size_t i = 0; i < c->applications.n; i++) {
        lbm_vec_free(&c->applications.at[i].held);
        lbm_vec_free(&c->applications.at[i].sent);
        lbm_vec_free(&c->applications.at[i].new_ids);
        lbm_vec_free(&c->applications.at[i].added);
        lbm_vec_free(&c->applications.at[i].removed);
    }
    lbm_vec_free(&c->applications);
}
