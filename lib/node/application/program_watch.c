/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clients that are told what the programs of a job write, and what becomes of them (lbctl run). A run belongs
 * to the client that asked for it: it ends when all programs are over, or when that client is gone. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/application/application.h"
#include "node/application/guest.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/membership/membership.h"

enum {
    OUTPUT_UNREAD_MAX = 8 << 20, /* bytes that a client may leave unread; what comes beyond is lost */
    EARLY_MAX = 256 << 10, /* of runs that nobody watches yet: a client asks for a run, then watches it */
};

static void
reply(struct lbm_node *node, const struct run_watch *watch, uint32_t host, Lbm__RunReply *reply, int is_last)
{
    static char nobody[1];
    const struct lbm_member *member = lbm_view_member(&node->view, host);
    reply->host = host;
    reply->name = member != NULL ? (char *)(uintptr_t)member->name : nobody; /* packed, not changed */
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_RUN;
    response.run = reply;
    lbm_core_reply(node, watch->client, watch->request, is_last, &response);
}

static void
tell_state(struct lbm_node *node, const struct run_watch *watch, const struct place *place)
{
    Lbm__RunReply state = LBM__RUN_REPLY__INIT;
    char text[LBM_PROGRAM_WHY_MAX];
    snprintf(text, sizeof text, "%s", place->why);
    state.state = (uint32_t)place->program;
    state.status = place->status;
    state.text = text;
    reply(node, watch, place->host, &state, 0);
}

/* ---- before a client watches --------------------------------------------------------------------------- */

static void
keep_early(struct lbm_node *node, const struct early_output *came, const uint8_t *bytes)
{
    struct early_output early = *came;
    size_t kept = 0, all = 0;
    for (size_t i = 0; i < node->early_output.n; i++) {
        struct early_output *old = &node->early_output.at[i];
        if (node->now_us - old->came_us > RUN_UNWATCHED_US) {
            free(old->bytes);
            continue;
        }
        all += old->len;
        node->early_output.at[kept++] = *old;
    }
    node->early_output.n = kept;
    if (all + early.len > EARLY_MAX || early.len == 0)
        return; /* the client is told how much is lost */
    early.bytes = lbm_copy(bytes, early.len, 1);
    if (early.bytes == NULL || lbm_vec_push(&node->early_output, early) != LBM_OK) {
        free(early.bytes);
        lbm_core_fail(node, LBM_E_NOMEM);
    }
}

/* Tell the client that watches a run now what has come of it, in order. */
static void
tell_early(struct lbm_node *node, const struct run_watch *watch)
{
    size_t kept = 0, n = node->early_output.n;
    for (size_t i = 0; i < n; i++) {
        struct early_output early = node->early_output.at[i];
        if (early.job != watch->job || early.run != watch->run) {
            node->early_output.at[kept++] = early;
            continue;
        }
        lbm_application_watch_output(node, early.job, early.run, early.host, early.at, early.bytes,
                                     early.len);
        free(early.bytes);
    }
    node->early_output.n = kept;
}

/* ---- watching ------------------------------------------------------------------------------------------ */

void
lbm_application_watch(struct lbm_node *node, uint64_t client, uint64_t request,
                      const struct lbm_job_entry *entry)
{
    struct run_watch watch = {
        .client = client, .request = request, .job = entry->job, .run = entry->run.view};
    if (entry->run.arguments == 0) {
        lbm_core_reply_error(node, client, request, LBM_E_STATE, "no program is run for job %s", entry->name);
        return;
    }
    if (entry->run.watcher != node->host) {
        lbm_core_reply_error(node, client, request, LBM_E_STATE,
                             "the program of job %s was started at host %" PRIu32 ", which has its output",
                             entry->name, entry->run.watcher);
        return;
    }
    if (lbm_vec_push(&node->watches, watch) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    for (size_t i = 0; i < node->places.n; i++)
        if (node->places.at[i].job == watch.job && node->places.at[i].run == watch.run)
            tell_state(node, &watch, &node->places.at[i]);
    tell_early(node, &watch);
}

void
lbm_application_watch_state(struct lbm_node *node, const struct place *place)
{
    for (size_t i = 0; i < node->watches.n; i++)
        if (node->watches.at[i].job == place->job && node->watches.at[i].run == place->run)
            tell_state(node, &node->watches.at[i], place);
}

void
lbm_application_watch_output(struct lbm_node *node, uint64_t job, uint64_t run, uint32_t host, uint64_t at,
                             const uint8_t *bytes, size_t len)
{
    struct place *place = lbm_application_place(node, job, host);
    int is_watched = 0;
    for (size_t i = 0; i < node->watches.n; i++) {
        struct run_watch *watch = &node->watches.at[i];
        if (watch->job != job || watch->run != run)
            continue;
        is_watched = 1;
        if (watch->unread > OUTPUT_UNREAD_MAX)
            continue;
        Lbm__RunReply output = LBM__RUN_REPLY__INIT;
        output.data = (ProtobufCBinaryData){len, (uint8_t *)(uintptr_t)bytes}; /* packed, not changed */
        output.missing = place != NULL && place->run == run && at > place->output ? at - place->output : 0;
        watch->unread += len;
        reply(node, watch, host, &output, 0);
        if (place != NULL && place->run == run)
            place->output = at + len;
    }
    if (!is_watched) {
        const struct early_output early = {
            .job = job, .run = run, .at = at, .host = host, .came_us = node->now_us, .len = len};
        keep_early(node, &early, bytes);
    }
}

void
lbm_application_watch_gone(struct lbm_node *node, uint64_t client)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->watches.n; i++)
        if (node->watches.at[i].client != client)
            node->watches.at[kept++] = node->watches.at[i];
    node->watches.n = kept;
}

void
lbm_application_watch_has_read(struct lbm_node *node, uint64_t client)
{
    for (size_t i = 0; i < node->watches.n; i++)
        if (node->watches.at[i].client == client)
            node->watches.at[i].unread = 0;
}

/* ---- the end of a run ---------------------------------------------------------------------------------- */

static void
propose_end(struct lbm_node *node, const struct lbm_job_entry *entry)
{
    if (!lbm_membership_may_propose(node))
        return;
    node->propose_us = node->now_us + APPEND_AGAIN_US;
    Lbm__JobRun run = LBM__JOB_RUN__INIT;
    run.watcher = node->host;
    Lbm__JobSet set = LBM__JOB_SET__INIT;
    set.job = entry->job;
    set.imbalance = entry->imbalance;
    set.run = &run;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOB_SET;
    command.job_set = &set;
    node->raise->log_append(node, &command);
}

/* How the programs of a run stand. */
struct standing {
    uint32_t n_running, n_ended, n_failed, n_refused;
    uint32_t status; /* of the first host whose program did not end with 0 */
    uint32_t host;   /* that host, or LBM_NONE */
    const char *why;
};

static struct standing
look_at(const struct lbm_node *node, const struct run_watch *watch)
{
    struct standing s = {.host = LBM_NONE, .why = ""};
    for (size_t i = 0; i < node->places.n; i++) {
        const struct place *place = &node->places.at[i];
        if (place->job != watch->job || place->run != watch->run)
            continue;
        s.n_running += place->program == LBM_PROGRAM_RUNS || place->program == LBM_PROGRAM_WAITS;
        s.n_ended += place->program == LBM_PROGRAM_ENDED;
        s.n_failed += place->program == LBM_PROGRAM_FAILED;
        s.n_refused += place->program == LBM_PROGRAM_REFUSED;
        int is_bad = place->program == LBM_PROGRAM_REFUSED || place->program == LBM_PROGRAM_FAILED ||
                     (place->program == LBM_PROGRAM_ENDED && place->status != 0);
        if (is_bad && place->host < s.host) {
            s.host = place->host;
            s.status = place->status != 0 ? place->status : 1;
            s.why = place->why;
        }
    }
    return s;
}

/* All is over: the client hears how, and the log that nothing is run any more. */
static void
finish(struct lbm_node *node, const struct run_watch *watch, const struct lbm_job_entry *entry)
{
    const struct standing s = look_at(node, watch);
    int is_stopped = entry == NULL || entry->run.view != watch->run || entry->run.arguments == 0;
    int is_finished = lbm_application_is_finished(node, watch->job);
    Lbm__RunReply last = LBM__RUN_REPLY__INIT;
    char text[LBM_DIAG_TEXT_MAX] = "";
    if (is_stopped)
        snprintf(text, sizeof text, "%s", entry == NULL ? "the job is cancelled" : "the run was ended");
    else if (s.host != LBM_NONE && (!is_finished || s.n_ended == 0))
        snprintf(text, sizeof text, "the program of host %" PRIu32 ": %.200s", s.host, s.why);
    else if (s.n_failed + s.n_refused != 0)
        snprintf(text, sizeof text, "the job is done; %" PRIu32 " hosts could not run the program",
                 s.n_failed + s.n_refused);
    else if (s.host != LBM_NONE)
        snprintf(text, sizeof text, "the job is done, but the program of host %" PRIu32 ": %.200s", s.host,
                 s.why);
    int gave_up_alone = is_finished && s.n_ended != 0 && s.n_failed + s.n_refused != 0;
    last.status = is_stopped ? 1 : gave_up_alone ? 0 : s.status;
    last.text = text;
    reply(node, watch, LBM_NONE, &last, 1);
    if (!is_stopped)
        propose_end(node, entry);
}

static int
is_watched(const struct lbm_node *node, const struct lbm_job_entry *entry)
{
    for (size_t i = 0; i < node->watches.n; i++)
        if (node->watches.at[i].job == entry->job && node->watches.at[i].run == entry->run.view)
            return 1;
    return 0;
}

static void
end_unwatched(struct lbm_node *node)
{
    const struct lbm_job_entry *unwatched = NULL;
    for (size_t i = 0; i < node->view.jobs.n; i++)
        if (node->view.jobs.at[i].run.arguments != 0 && node->view.jobs.at[i].run.watcher == node->host &&
            !is_watched(node, &node->view.jobs.at[i]))
            unwatched = &node->view.jobs.at[i];
    if (unwatched == NULL || node->unwatched_us == 0)
        node->unwatched_us = unwatched != NULL ? node->now_us : 0;
    if (unwatched != NULL && lbm_local_is_alive(node) &&
        node->now_us - node->unwatched_us >= RUN_UNWATCHED_US)
        propose_end(node, unwatched);
}

void
lbm_application_watch_timer(struct lbm_node *node)
{
    for (size_t i = 0; i < node->watches.n && node->failed == LBM_OK;) {
        struct run_watch *watch = &node->watches.at[i];
        const struct lbm_job_entry *entry = lbm_view_job(&node->view, watch->job);
        int is_stopped = entry == NULL || entry->run.view != watch->run || entry->run.arguments == 0;
        const struct standing s = look_at(node, watch);
        int is_over = s.n_running == 0 && (is_stopped || s.n_ended + s.n_failed + s.n_refused != 0);
        if (!is_over || watch->over_us == 0)
            watch->over_us = is_over ? node->now_us : 0;
        if (!is_over || (!is_stopped && node->now_us - watch->over_us < RUN_OVER_US)) {
            i++;
            continue;
        }
        const struct run_watch over = *watch;
        *watch = node->watches.at[--node->watches.n];
        finish(node, &over, entry);
    }
    end_unwatched(node);
}

int64_t
lbm_application_watch_deadline(const struct lbm_node *node)
{
    int64_t when = INT64_MAX;
    for (size_t i = 0; i < node->watches.n; i++)
        if (node->watches.at[i].over_us != 0 && node->watches.at[i].over_us + RUN_OVER_US < when)
            when = node->watches.at[i].over_us + RUN_OVER_US;
    if (node->unwatched_us != 0 && node->unwatched_us + RUN_UNWATCHED_US > node->now_us &&
        node->unwatched_us + RUN_UNWATCHED_US < when)
        when = node->unwatched_us + RUN_UNWATCHED_US;
    return when;
}
