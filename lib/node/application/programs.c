/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that this host runs for jobs (lbctl run). The control log says what is to be run; the shell starts
 * it, and says when it has ended. Every host decides for itself: it runs the program of a job once it has
 * vertices of it, again when it dies, and not any more once it has died soon too often.
 *
 * Never: knows what a program does; that it serves the job is in its place (places.c). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/application/application.h"
#include "node/application/guest.h"
#include "node/core/core.h"
#include "node/local/local.h"

enum { QUICK_MAX = 5 }; /* times in a row that a program dies soon before it is given up */

static struct program *
program_of(struct lbm_node *node, uint64_t job)
{
    for (size_t i = 0; i < node->programs.n; i++)
        if (node->programs.at[i].job == job)
            return &node->programs.at[i];
    return NULL;
}

/* The program is in that state from now on: all hosts are told. Value: its place; NULL: memory is short. */
static struct place *
set_state(struct lbm_node *node, const struct program *program, enum lbm_program_state state, const char *why)
{
    struct place *place = lbm_application_place_own(node, program->job);
    if (place == NULL)
        return NULL;
    if (place->run != program->run)
        place->status = place->starts = 0;
    place->run = program->run;
    place->program = state;
    place->starts += state == LBM_PROGRAM_RUNS;
    snprintf(place->why, sizeof place->why, "%s", why);
    return place;
}

static void
tell(struct lbm_node *node, struct place *place)
{
    if (place == NULL)
        return;
    lbm_application_place_tell(node, place);
    lbm_application_watch_state(node, place);
}

/* ---- whether ------------------------------------------------------------------------------------------- */

const char *
lbm_application_programs_refusal(const struct lbm_node *node, const struct lbm_job_entry *entry, char *text,
                                 size_t size)
{
    if (node->programs_run == LBM_PROGRAMS_NONE)
        return "it runs no programs; programs.run in its lbmapd.conf allows it";
    if (node->programs_run == LBM_PROGRAMS_USERS && (entry->owner != 0 || node->uid == 0))
        return NULL;
    if (entry->owner == node->uid)
        return NULL;
    snprintf(text, size,
             "it runs programs of user %" PRIu32 " alone, and the job is user %" PRIu32
             "'s; programs.run = \"users\" in its lbmapd.conf allows others",
             node->uid, entry->owner);
    return text;
}

/* ---- starting and ending ------------------------------------------------------------------------------- */

static void
start(struct lbm_node *node, const struct lbm_job_entry *entry, struct program *program)
{
    struct lbm_program_order *order = lbm_alloc(1, sizeof *order);
    if (order == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    program->id = order->id = ++node->program_id;
    program->since_us = node->now_us;
    order->uid = entry->owner;
    order->host = node->host;
    order->arguments = entry->run.arguments;
    order->len = entry->run.len;
    snprintf(order->job, sizeof order->job, "%s", entry->name);
    memcpy(order->words, entry->run.words, entry->run.len);
    lbm_core_emit_program(node, order->id, order);
    tell(node, set_state(node, program, LBM_PROGRAM_RUNS, ""));
}

/* This host is to run the job's program from now on. */
static void
begin(struct lbm_node *node, const struct lbm_job_entry *entry)
{
    char text[LBM_PROGRAM_WHY_MAX];
    struct program program = {.job = entry->job, .run = entry->run.view, .watcher = entry->run.watcher};
    const char *refusal = lbm_application_programs_refusal(node, entry, text, sizeof text);
    if (lbm_vec_push(&node->programs, program) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    if (refusal == NULL) {
        start(node, entry, &node->programs.at[node->programs.n - 1]);
        return;
    }
    lbm_core_note(node, LBM_NOTE_WARNING, "the program of job %s is not run here: %.160s", entry->name,
                  refusal);
    tell(node, set_state(node, &program, LBM_PROGRAM_REFUSED, refusal));
}

/* Nothing is to be run here any more, and nothing is. */
static void
remove_program(struct lbm_node *node, struct program *program)
{
    struct place *place = lbm_application_place(node, program->job, node->host);
    if (place != NULL && place->run == program->run) {
        place->program = LBM_PROGRAM_NONE;
        place->why[0] = '\0';
        lbm_application_place_tell(node, place);
        lbm_application_watch_state(node, place);
    }
    *program = node->programs.at[--node->programs.n];
}

/* It is not to be run here any more. Nonzero: it is not, already. */
static int
end(struct lbm_node *node, struct program *program)
{
    if (program->id != 0) {
        lbm_core_emit_program(node, program->id, NULL);
        program->is_ending = 1;
        return 0;
    }
    remove_program(node, program);
    return 1;
}

static int
participates(const struct lbm_node *node)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    return self != NULL && self->incarnation == node->incarnation && lbm_view_participates(self) &&
           lbm_local_is_alive(node);
}

void
lbm_application_programs_timer(struct lbm_node *node)
{
    int is_here = participates(node);
    for (size_t i = 0; i < node->programs.n && node->failed == LBM_OK;) {
        struct program *program = &node->programs.at[i];
        const struct lbm_job_entry *entry = lbm_view_job(&node->view, program->job);
        const struct place *place = lbm_application_place(node, program->job, node->host);
        int is_wanted =
            is_here && entry != NULL && entry->run.arguments != 0 && entry->run.view == program->run;
        if (!is_wanted && !program->is_ending && end(node, program))
            continue;
        if (is_wanted && place != NULL && place->program == LBM_PROGRAM_WAITS &&
            node->now_us >= program->again_us)
            start(node, entry, program);
        i++;
    }
    for (size_t i = 0; i < node->view.jobs.n && is_here && node->failed == LBM_OK; i++) {
        const struct lbm_job_entry *entry = &node->view.jobs.at[i];
        const struct job *job = entry->run.arguments != 0 ? lbm_local_job(node, entry->job) : NULL;
        if (job != NULL && job->shard.n_own != 0 && program_of(node, entry->job) == NULL &&
            !lbm_application_is_finished(node, entry->job))
            begin(node, entry);
    }
}

int64_t
lbm_application_programs_deadline(const struct lbm_node *node)
{
    int64_t when = INT64_MAX;
    for (size_t i = 0; i < node->programs.n; i++)
        if (node->programs.at[i].again_us > node->now_us && node->programs.at[i].again_us < when)
            when = node->programs.at[i].again_us;
    return when;
}

/* ---- what becomes of one ------------------------------------------------------------------------------- */

static void
describe(uint32_t status, const char *why, char *text, size_t size)
{
    if (why[0] != '\0')
        snprintf(text, size, "%.150s", why);
    else if (status > 128)
        snprintf(text, size, "it was ended by signal %" PRIu32, status - 128);
    else
        snprintf(text, size, "it ended with status %" PRIu32, status);
}

static void
has_ended(struct lbm_node *node, struct program *program, uint32_t status, const char *why)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, program->job);
    char text[LBM_PROGRAM_WHY_MAX];
    enum lbm_program_state state = LBM_PROGRAM_WAITS;
    int64_t pause_us = PROGRAM_AGAIN_US;
    int is_over = status == 0 || lbm_application_is_finished(node, program->job);
    program->id = 0;
    if (program->is_ending) {
        remove_program(node, program);
        return;
    }
    describe(status, why, text, sizeof text);
    program->quick = node->now_us - program->since_us < PROGRAM_QUICK_US ? program->quick + 1 : 1;
    for (uint32_t i = 0; i < program->quick && i < QUICK_MAX; i++)
        pause_us *= 2;
    if (is_over)
        state = LBM_PROGRAM_ENDED;
    else if (why[0] != '\0' || program->quick >= QUICK_MAX)
        state = LBM_PROGRAM_FAILED;
    program->again_us = node->now_us + pause_us;
    struct place *place = set_state(node, program, state, text);
    if (place == NULL)
        return;
    place->status = status;
    lbm_core_note(node, is_over && status == 0 ? LBM_NOTE_INFO : LBM_NOTE_WARNING,
                  "the program of job %s: %.150s%s", entry != NULL ? entry->name : "?", text,
                  state == LBM_PROGRAM_WAITS    ? ", and is started again"
                  : state == LBM_PROGRAM_FAILED ? ": it is given up"
                                                : "");
    tell(node, place);
}

/* To the client that asked for the run, wherever it is. */
static void
pass_on(struct lbm_node *node, struct program *program, const uint8_t *bytes, size_t len)
{
    uint64_t at = program->output;
    program->output += len;
    if (program->watcher == node->host) {
        lbm_application_watch_output(node, program->job, program->run, node->host, at, bytes, len);
        return;
    }
    Lbm__ProgramOutput output = LBM__PROGRAM_OUTPUT__INIT;
    output.job = program->job;
    output.run = program->run;
    output.at = at;
    output.data = (ProtobufCBinaryData){len, (uint8_t *)(uintptr_t)bytes}; /* packed, not changed */
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_PROGRAM_OUTPUT;
    message.program_output = &output;
    const struct lbm_member *watcher = lbm_view_member(&node->view, program->watcher);
    if (watcher != NULL && lbm_view_participates(watcher))
        lbm_core_send_lossy(node, program->watcher, &message);
}

void
lbm_application_on_program(struct lbm_node *node, const struct lbm_event *event)
{
    for (size_t i = 0; i < node->programs.n; i++) {
        struct program *program = &node->programs.at[i];
        if (program->id != event->as.program.id || program->id == 0)
            continue;
        if (event->as.program.has_ended)
            has_ended(node, program, event->as.program.status, event->as.program.why);
        else
            pass_on(node, program, event->as.program.bytes, event->as.program.len);
        return;
    }
}

void
lbm_application_on_output(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__ProgramOutput *output = message->program_output;
    lbm_application_watch_output(node, output->job, output->run, message->src, output->at, output->data.data,
                                 output->data.len);
}
