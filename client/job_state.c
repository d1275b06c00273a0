/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/job_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/output.h"
#include "node/node.h"

const char *const lbm_job_texts[] = {"imbalance_text", NULL};

static json_t *
gates_object(const Lbm__JobGates *gates)
{
    return gates == NULL ? json_null()
                         : json_pack("{s:f, s:f, s:I, s:I}", "cooldown_s", gates->cooldown_s, "payback_s",
                                     gates->payback_s, "bytes_per_s", (json_int_t)gates->bytes_per_s,
                                     "in_flight", (json_int_t)gates->in_flight);
}

/* The state, and what is not known is null. A daemon of an earlier version says the phase alone. */
static void
add_state(json_t *object, const Lbm__JobEntry *job)
{
    int is_told = job->state[0] != '\0', is_known = job->imbalance_known || (!is_told && job->settled);
    char text[48];
    json_object_set_new(object, "state", json_string(is_told ? job->state : job->phase));
    json_object_set_new(object, "heard_phase", json_string(is_told ? job->heard_phase : job->phase));
    json_object_set_new(object, "since_s", json_real(job->since_s));
    json_object_set_new(object, "present", json_integer(job->present));
    json_object_set_new(object, "known", json_integer(job->known));
    json_object_set_new(object, "idle", json_integer(job->idle));
    json_object_set_new(object, "lost", job->lost != LBM_NONE ? json_integer(job->lost) : json_null());
    json_object_set_new(object, "reason", json_string(job->reason));
    json_object_set_new(object, "imbalance", is_known ? json_real(job->imbalance) : json_null());
    if (is_known)
        snprintf(text, sizeof text, "%.2f %%", 100 * job->imbalance);
    else if (job->known < job->present)
        snprintf(text, sizeof text, "unknown: %" PRIu32 " of %" PRIu32, job->known, job->present);
    else
        snprintf(text, sizeof text, "unknown");
    json_object_set_new(object, "imbalance_text", json_string(text));
}

/* Where programs work on the job, or are run. */
static void
add_programs(json_t *object, const Lbm__JobEntry *job)
{
    json_t *programs = json_array();
    for (size_t i = 0; i < job->n_program_host; i++)
        json_array_append_new(programs, json_pack("{s:i, s:b, s:s, s:s}", "host", (int)job->program_host[i],
                                                  "works", (int)job->program_serves[i], "state",
                                                  job->program_state[i], "why", job->program_why[i]));
    json_object_set_new(object, "runs_program", json_boolean(job->program_runs));
    json_object_set_new(object, "programs", programs);
}

json_t *
lbm_job_object(const Lbm__JobEntry *job)
{
    json_t *hosts = json_array();
    for (size_t i = 0; i < job->n_host; i++)
        json_array_append_new(hosts, json_pack("{s:i, s:I, s:I}", "host", (int)job->host[i], "load",
                                               (json_int_t)job->host_load[i], "vertices",
                                               (json_int_t)job->host_vertices[i]));
    json_t *missing = json_array();
    for (size_t i = 0; i < job->n_missing; i++)
        json_array_append_new(missing, json_integer((json_int_t)job->missing[i]));
    char id[24];
    snprintf(id, sizeof id, "0x%016" PRIx64, job->job); /* 64 bits: more than JSON's numbers hold */
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:b, s:I, s:I, s:I, s:i, s:s, s:I, s:f, s:I, s:I, s:I, s:i, s:i, s:f, s:i, "
        "s:f, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:f, s:o, s:o, s:o}",
        "name", job->name, "id", id, "phase", job->phase, "settled", (int)job->settled, "vertices",
        (json_int_t)job->vertices, "edges", (json_int_t)job->edges, "work", (json_int_t)job->work,
        "coordinator", (int)job->coordinator, "start", lbm_start_name((enum lbm_start)job->start), "seed",
        (json_int_t)job->seed, "imbalance_bound", job->imbalance_bound, "placed", (json_int_t)job->placed,
        "moved", (json_int_t)job->moved, "sweep", (json_int_t)job->sweep, "counter", (int)job->counter,
        "counter_goal", (int)job->counter_goal, "largest", job->largest, "owner", (int)job->owner, "age_s",
        job->age_s, "policy", job->policy, "policy_asked", job->policy_asked, "schedule", job->schedule,
        "policy_why", job->policy_why, "flow_sweeps", (json_int_t)job->flow_sweeps, "flow_words",
        (json_int_t)job->flow_words, "flow", (json_int_t)job->flow, "transfer_s", job->transfer_s, "gates",
        gates_object(job->gates), "missing", missing, "hosts", hosts);
    if (object != NULL)
        add_state(object, job);
    if (object != NULL)
        add_programs(object, job);
    return object;
}

static int64_t
count(const json_t *job, const char *key)
{
    return json_integer_value(json_object_get(job, key));
}

void
lbm_job_say(const json_t *job, char *text, size_t size)
{
    const char *state = json_string_value(json_object_get(job, "state"));
    const json_t *lost = json_object_get(job, "lost");
    double since_s = json_number_value(json_object_get(job, "since_s"));
    char what[96];
    if (lbm_job_status(job) == LBM_STATUS_DONE) {
        snprintf(text, size, "%s", state);
        return;
    }
    if (json_is_null(lost))
        snprintf(what, sizeof what, "vertices are lost, nobody knows how many");
    else if (json_integer_value(lost) != 0)
        snprintf(what, sizeof what, "%" PRId64 " of %" PRId64 " vertices lost",
                 (int64_t)json_integer_value(lost), count(job, "present"));
    else
        snprintf(what, sizeof what, "%" PRId64 " of %" PRId64 " vertices idle", count(job, "idle"),
                 count(job, "present"));
    snprintf(text, size, "%s for %.0f s: %s: %s", state, since_s, what,
             json_string_value(json_object_get(job, "reason")));
}

enum lbm_status
lbm_job_status(const json_t *job)
{
    const char *state = json_string_value(json_object_get(job, "state"));
    return strcmp(state, lbm_condition_name(LBM_CONDITION_LOST)) == 0       ? LBM_STATUS_LOST
           : strcmp(state, lbm_condition_name(LBM_CONDITION_DEGRADED)) == 0 ? LBM_STATUS_DEGRADED
                                                                            : LBM_STATUS_DONE;
}

enum lbm_status
lbm_job_worse(enum lbm_status a, enum lbm_status b)
{
    return a > b ? a : b;
}

static enum lbm_err
take_jobs(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    json_t *rows = arg;
    (void)handle;
    for (size_t i = 0; chunk->jobs != NULL && i < chunk->jobs->n_jobs; i++)
        if (json_array_append_new(rows, lbm_job_object(chunk->jobs->jobs[i])) != 0)
            return LBM_E_NOMEM;
    return LBM_OK;
}

enum lbm_status
lbm_job_ask(struct lbm_daemon *daemon, const char *job, json_t *rows)
{
    json_array_clear(rows);
    return lbm_daemon_jobs(daemon, job, take_jobs, rows);
}
