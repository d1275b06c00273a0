/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applications that serve one job at several hosts find each other and talk (protocol.md section 15): what
 * each publishes is told to all members when it changes and every PLACES_US; what one posts goes over the
 * connection of the two daemons. Both may be lost: notes are told again, posts are the applications' own
 * matter. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/application/application.h"
#include "node/application/guest.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/records/record_batch.h"

enum {
    PLACES_US = 2000000,        /* between tellings of a place that stays as it is */
    PLACES_EACH_US = 10000,     /* at least so much for each member */
    PLACES_MISSED = 4,          /* periods in which nothing is heard: it serves no more */
    POSTED_BYTES_MAX = 8 << 20, /* that an application may leave unread; what comes beyond is lost */
};

static int64_t
period_us(const struct lbm_node *node)
{
    int64_t each_us = (int64_t)PLACES_EACH_US * (int64_t)node->view.members.n;
    return each_us > PLACES_US ? each_us : PLACES_US;
}

struct place *
lbm_application_place(struct lbm_node *node, uint64_t job, uint32_t host)
{
    for (size_t i = 0; i < node->places.n; i++)
        if (node->places.at[i].job == job && node->places.at[i].host == host)
            return &node->places.at[i];
    return NULL;
}

static struct application *
listener_of(struct lbm_node *node, uint64_t job)
{
    for (size_t i = 0; i < node->applications.n; i++)
        if (node->applications.at[i].job == job && node->applications.at[i].publishes)
            return &node->applications.at[i];
    return NULL;
}

/* ---- what is told ------------------------------------------------------------------------------------- */

int
lbm_application_is_finished(const struct lbm_node *node, uint64_t job)
{
    for (size_t i = 0; i < node->places.n; i++)
        if (node->places.at[i].job == job && node->places.at[i].finished)
            return 1;
    return 0;
}

/* To one host, or to all (LBM_NONE). */
static void
tell(struct lbm_node *node, struct place *place, uint32_t host)
{
    Lbm__Place body = LBM__PLACE__INIT;
    body.job = place->job;
    body.present = place->present != 0;
    body.finished = place->finished != 0;
    body.note = (ProtobufCBinaryData){place->note_len, place->note};
    body.program = (uint32_t)place->program;
    body.run = place->run;
    body.status = place->status;
    body.starts = place->starts;
    body.why = place->why;
    body.withdrawn = place->withdrawn != 0;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_PLACE;
    message.place = &body;
    for (size_t i = 0; i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (member->host != node->host && (host == LBM_NONE || host == member->host) &&
            lbm_view_participates(member))
            lbm_core_send_lossy(node, member->host, &message);
    }
}

void
lbm_application_place_tell(struct lbm_node *node, struct place *place)
{
    tell(node, place, LBM_NONE);
}

/* A program works there that has not heard that the job is done, and whoever said so may be gone. */
static void
tell_finished(struct lbm_node *node, uint64_t job, uint32_t host)
{
    const struct place *own = lbm_application_place(node, job, node->host);
    struct place place = own != NULL ? *own : (struct place){.job = job, .host = node->host};
    place.finished = 1;
    tell(node, &place, host);
}

/* Tell the application of this host about one other place. */
static void
tell_application(struct lbm_node *node, const struct application *application, struct place *place)
{
    static char nothing[1];
    const struct lbm_member *member = lbm_view_member(&node->view, place->host);
    uint32_t present = place->present != 0, finished = place->finished != 0;
    ProtobufCBinaryData note = {place->note_len, place->note};
    char *name = member != NULL ? (char *)(uintptr_t)member->name : nothing; /* packed, not changed */
    char *address = member != NULL ? (char *)(uintptr_t)member->address : nothing;
    Lbm__Places places = LBM__PLACES__INIT;
    places.n_host = places.n_present = places.n_finished = places.n_note = places.n_name = places.n_address =
        1;
    places.host = &place->host;
    places.present = &present;
    places.finished = &finished;
    places.note = &note;
    places.name = &name;
    places.address = &address;
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_PLACES;
    response.places = &places;
    lbm_core_reply(node, application->client, application->request, 0, &response);
}

static void
changed(struct lbm_node *node, struct place *place)
{
    const struct application *application = listener_of(node, place->job);
    if (application != NULL)
        tell_application(node, application, place);
}

/* Out: NULL if memory is short. */
static struct place *
add_place(struct lbm_node *node, uint64_t job, uint32_t host)
{
    struct place place = {.job = job, .host = host};
    if (node->places.n == 0)
        node->places_us = node->now_us + period_us(node);
    if (lbm_vec_push(&node->places, place) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    return &node->places.at[node->places.n - 1];
}

struct place *
lbm_application_place_own(struct lbm_node *node, uint64_t job)
{
    struct place *place = lbm_application_place(node, job, node->host);
    return place != NULL ? place : add_place(node, job, node->host);
}

/* Nonzero if a place says no more than none would. */
static int
is_nothing(const struct place *place)
{
    return !place->present && !place->finished && !place->withdrawn && place->program == LBM_PROGRAM_NONE;
}

/* Returns nonzero if it said something else before. */
static int
set_place(struct place *place, int present, int finished, const ProtobufCBinaryData *note)
{
    int is_same = place->present == present && place->finished == finished && place->note_len == note->len &&
                  (note->len == 0 || memcmp(place->note, note->data, note->len) == 0);
    place->present = present;
    place->finished = finished;
    place->note_len = (uint32_t)note->len;
    if (note->len != 0)
        memcpy(place->note, note->data, note->len);
    return !is_same;
}

/* What the sender says of the program that it runs. */
static void
hear_program(struct lbm_node *node, struct place *place, const Lbm__Place *body)
{
    enum lbm_program_state state =
        body->program < LBM_PROGRAM_COUNT ? (enum lbm_program_state)body->program : LBM_PROGRAM_NONE;
    int is_new = state != place->program || body->run != place->run || body->starts != place->starts;
    if (body->run != place->run)
        place->output = 0;
    place->program = state;
    place->run = body->run;
    place->status = body->status;
    place->starts = body->starts;
    snprintf(place->why, sizeof place->why, "%s", body->why);
    if (is_new)
        lbm_application_watch_state(node, place);
}

/* Those who look on hear that no program works there any more. */
static void
tell_gone(struct lbm_node *node, const struct place *place)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, place->job);
    if (entry != NULL && !lbm_application_is_finished(node, place->job))
        lbm_core_note(node, LBM_NOTE_WARNING, "job %s: no program works at host %" PRIu32 " any more",
                      entry->name, place->host);
}

void
lbm_application_on_place(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Place *body = message->place;
    if (lbm_local_job(node, body->job) == NULL)
        return;
    struct place *place = lbm_application_place(node, body->job, message->src);
    if (place == NULL && !body->present && !body->finished && !body->withdrawn &&
        body->program == LBM_PROGRAM_NONE)
        return;
    if (place == NULL && (place = add_place(node, body->job, message->src)) == NULL)
        return;
    place->heard_us = node->now_us;
    place->withdrawn = body->withdrawn != 0;
    lbm_application_withdrawn(node, place);
    hear_program(node, place, body);
    if (place->present && !body->present)
        tell_gone(node, place);
    if (set_place(place, body->present != 0, place->finished || body->finished, &body->note))
        changed(node, place);
    if (body->present && !body->finished && lbm_application_is_finished(node, body->job))
        tell_finished(node, body->job, message->src);
}

void
lbm_application_publish(struct lbm_node *node, uint64_t client, uint64_t request,
                        const Lbm__PublishRequest *publish)
{
    struct application *application = lbm_local_application(node, client);
    if (application == NULL || lbm_local_job(node, application->job) == NULL) {
        lbm_core_reply_error(node, client, request, LBM_E_STATE,
                             "nothing is served over this connection: attach to a job first");
        return;
    }
    struct place *place = lbm_application_place_own(node, application->job);
    if (place == NULL)
        return;
    int is_new = !application->publishes;
    application->publishes = 1;
    (void)set_place(place, 1, place->finished || publish->finished, &publish->note);
    lbm_application_place_tell(node, place);
    Lbm__Response response = LBM__RESPONSE__INIT;
    lbm_core_reply(node, client, request, 1, &response);
    for (size_t i = 0; is_new && i < node->places.n; i++) {
        struct place *other = &node->places.at[i];
        if (other->job == application->job && (other->host != node->host || other->finished))
            tell_application(node, application, other);
    }
}

void
lbm_application_place_left(struct lbm_node *node, uint64_t job)
{
    struct place *place = lbm_application_place(node, job, node->host);
    if (place == NULL)
        return;
    if (place->present)
        tell_gone(node, place);
    place->present = 0;
    lbm_application_place_tell(node, place);
    if (is_nothing(place))
        *place = node->places.at[--node->places.n];
}

void
lbm_application_places_deleted(struct lbm_node *node, uint64_t job)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->places.n; i++)
        if (node->places.at[i].job != job)
            node->places.at[kept++] = node->places.at[i];
    node->places.n = kept;
}

/* ---- in time ------------------------------------------------------------------------------------------ */

static int
is_lost(const struct lbm_node *node, const struct place *place)
{
    const struct lbm_member *member = lbm_view_member(&node->view, place->host);
    return member == NULL || !lbm_view_participates(member) ||
           node->now_us - place->heard_us > PLACES_MISSED * period_us(node);
}

void
lbm_application_places_timer(struct lbm_node *node)
{
    if (node->places.n == 0 || node->now_us < node->places_us)
        return;
    node->places_us = node->now_us + period_us(node);
    for (size_t i = 0; i < node->places.n && node->failed == LBM_OK;) {
        struct place *place = &node->places.at[i];
        if (place->host == node->host) {
            lbm_application_place_tell(node, place);
        } else if (!is_nothing(place) && is_lost(node, place)) {
            int was_present = place->present;
            place->present = place->withdrawn = 0;
            place->program = LBM_PROGRAM_NONE;
            lbm_application_withdrawn(node, place);
            if (was_present)
                changed(node, place);
        }
        if (is_nothing(place))
            *place = node->places.at[--node->places.n];
        else
            i++;
    }
}

int64_t
lbm_application_places_deadline(const struct lbm_node *node)
{
    return node->places.n != 0 ? node->places_us : INT64_MAX;
}

/* ---- posts -------------------------------------------------------------------------------------------- */

void
lbm_application_post(struct lbm_node *node, uint64_t client, uint64_t request, const Lbm__PostRequest *post)
{
    const struct application *application = lbm_local_application(node, client);
    size_t at = 0;
    if (application == NULL) {
        lbm_core_reply_error(node, client, request, LBM_E_STATE,
                             "nothing is served over this connection: attach to a job first");
        return;
    }
    if (!lbm_records_payload_fits(post->n_len, post->len, &post->data)) {
        lbm_core_reply_error(node, client, request, LBM_E_RANGE,
                             "posts do not have the lengths that are told");
        return;
    }
    for (size_t i = 0; i < post->n_host && node->failed == LBM_OK; i++) {
        const struct lbm_member *member = lbm_view_member(&node->view, post->host[i]);
        Lbm__Post body = LBM__POST__INIT;
        body.job = application->job;
        body.data = (ProtobufCBinaryData){post->len[i], post->data.data + at};
        at += post->len[i];
        Lbm__Peer message = LBM__PEER__INIT;
        message.body_case = LBM__PEER__BODY_POST;
        message.post = &body;
        if (member != NULL && post->host[i] != node->host && lbm_view_participates(member))
            lbm_core_send_lossy(node, post->host[i], &message);
    }
}

void
lbm_application_on_post(struct lbm_node *node, const Lbm__Peer *message)
{
    struct application *application = listener_of(node, message->post->job);
    if (application == NULL || application->posted > POSTED_BYTES_MAX)
        return;
    application->posted += message->post->data.len;
    Lbm__Posted posted = LBM__POSTED__INIT;
    posted.host = message->src;
    posted.data = message->post->data;
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_POSTED;
    response.posted = &posted;
    lbm_core_reply(node, application->client, application->request, 0, &response);
}
