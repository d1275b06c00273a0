/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The loop of lbmap_steps: take what the daemon and others say, do steps that can be done, send what came of
 * them, keep, ask for what is missing (invariants: steps.h).
 *
 * Owns: all lines, messages on their way, results.  Never: a decision that rests on a message having arrived.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/page.h"
#include "api/steps.h"
#include "api/system.h"
#include "base/check.h"

enum {
    KEEP_DEFAULT = 32,
    USUAL_DEGREE = 8, /* neighbours that a vertex is taken to have where nothing is known of it */
    WORK_MS = 10,     /* of steps before the daemon and others are listened to again */
    IDLE_MS = 20,     /* waiting for them while no step can be done */
    LOOK_MS = 50,     /* between looks at what is missing */
    LOAD_MS = 1000,   /* between reports of loads */
    LEFT_MS = 2000,   /* between looks at whether this host has left, while it has no vertices */
    START_MS = 5000,  /* for the daemon to notice that a program before this one has ended, */
    AGAIN_MS = 100,   /* asked again that often */
};

void
lbm_steps_fail(struct lbm_steps *steps, enum lbmap_error error, const char *fmt, ...)
{
    va_list args;
    if (steps->error != LBMAP_OK)
        return;
    steps->error = error;
    va_start(args, fmt);
    vsnprintf(steps->message, sizeof steps->message, fmt, args);
    va_end(args);
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static void
send_last(struct lbm_steps *steps, const struct lbm_line *line)
{
    uint32_t host[HOSTS_OF_ONE];
    size_t n = lbm_steps_hosts(line, host, HOSTS_OF_ONE);
    for (size_t i = 0; i < n; i++)
        lbm_mail_state(steps, host[i], line, lbm_line_step(line));
}

static struct lbm_state *
make_next(struct lbm_steps *steps, const struct lbm_line *line)
{
    const struct lbmap_steps *program = &steps->program;
    uint64_t at = lbm_line_step(line);
    const struct lbm_state *own = lbm_line_get(line, at);
    struct lbm_state *state =
        lbm_state_new(NULL, program->state_size, program->state_size, program->share_size);
    size_t each = 0;
    uint8_t *room = lbm_export_room(steps, line, &each);
    steps->views.n = 0;
    if (state == NULL || room == NULL || lbm_vec_reserve(&steps->views, line->edges.n) != LBM_OK) {
        free(state);
        return NULL;
    }
    for (size_t i = 0; i < line->edges.n; i++) {
        const struct lbm_edge *edge = &line->edges.at[i];
        const struct lbm_state *other = lbm_line_get(edge->to, at);
        LBM_ASSERT(other != NULL);
        struct lbmap_neighbour view = {edge->to->vertex, edge->weight, NULL, 0};
        view.state = lbm_export_view(steps, edge->to, other, line->vertex, room + i * each, &view.size);
        steps->views.at[steps->views.n++] = view;
    }
    struct lbmap_step step = {line->vertex,   at,   own->bytes, own->len, steps->views.at,
                              steps->views.n, NULL, 0};
    step.value = lbm_reduce_value(steps, at, &step.value_step);
    program->step(program->context, &step, state->bytes);
    if (program->length != NULL)
        state->len = program->length(program->context, line->vertex, state->bytes);
    if (state->len > program->state_size)
        lbm_steps_fail(steps, LBMAP_E_RANGE, "vertex %u: a state of %zu bytes, state_size is %zu",
                       line->vertex, state->len, program->state_size);
    else
        lbm_steps_share(steps, line->vertex, state);
    return state;
}

static void
do_step(struct lbm_steps *steps, struct lbm_line *line)
{
    struct lbm_state *state = make_next(steps, line);
    if (state != NULL && lbm_steps_must_end(steps)) {
        free(state);
        return;
    }
    if (state == NULL || lbm_line_push(line, state) != LBM_OK) {
        free(state);
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for a state of vertex %u", line->vertex);
        return;
    }
    /* No neighbour that goes on looks at the one before the last two any more. */
    if (lbm_line_step(line) >= 2)
        lbm_export_shorten(steps, line, lbm_line_step(line) - 2, lbm_line_step(line) - 1);
    send_last(steps, line);
    lbm_reduce_contribute(steps, line);
    lbm_steps_grown(steps, line);
    for (size_t i = 0; i < line->edges.n; i++)
        if (line->edges.at[i].to->token == 0)
            lbm_steps_drop_passed(line->edges.at[i].to);
    lbm_steps_count(steps, line);
}

static void
work(struct lbm_steps *steps)
{
    int64_t end_ms = lbm_api_now_ms() + WORK_MS;
    while (steps->next < steps->ready.n && !lbm_steps_must_end(steps)) {
        struct lbm_line *line = steps->ready.at[steps->next];
        if (lbmap_lease_valid(steps->map) != LBMAP_WORK)
            return;
        steps->next++;
        line->queued = 0;
        if (line->token != 0 && line->has_edges) {
            /* it may have left and come back since */
            size_t have = 0;
            for (size_t i = 0; i < line->edges.n; i++)
                have += lbm_export_has(line->edges.at[i].to, lbm_line_step(line), line->vertex);
            line->have = have;
            if (have == line->edges.n && !lbm_steps_is_done(steps, line) && line->n <= steps->window &&
                lbm_reduce_is_there(steps, lbm_line_step(line)))
                do_step(steps, line);
        }
        if (lbm_api_now_ms() >= end_ms)
            break;
    }
    if (steps->next == steps->ready.n)
        steps->next = steps->ready.n = 0;
    if (steps->next > 4096 && steps->next > steps->ready.n / 2) {
        steps->ready.n -= steps->next;
        memmove(steps->ready.at, steps->ready.at + steps->next, steps->ready.n * sizeof *steps->ready.at);
        steps->next = 0;
    }
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

static void
report_loads(struct lbm_steps *steps)
{
    const struct lbmap_steps *program = &steps->program;
    LBM_VEC(struct lbmap_load) loads = {0};
    if (lbm_vec_reserve(&loads, steps->own.n) != LBM_OK)
        return;
    for (size_t i = 0; i < steps->own.n; i++)
        loads.at[loads.n++] = (struct lbmap_load){steps->own.at[i]->vertex, steps->own.at[i]->token,
                                                  program->load(program->context, steps->own.at[i]->vertex)};
    if (lbmap_report_load(steps->map, loads.at, loads.n) == LBMAP_E_RANGE)
        lbm_steps_fail(steps, LBMAP_E_RANGE, "%s", lbmap_message(steps->map));
    lbm_vec_free(&loads);
}

static enum lbm_err
take_state(struct lbmap *map, const Lbm__Response *chunk, void *arg)
{
    (void)map;
    if (chunk->what_case == LBM__RESPONSE__WHAT_STATUS && strcmp(chunk->status->state, "LEFT") == 0)
        *(int *)arg = 1;
    return LBM_OK;
}

/* A host that has left is told nothing any more, not even that the job is done. */
static void
look_if_left(struct lbm_steps *steps)
{
    int has_left = 0;
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    request.what_case = LBM__REQUEST__WHAT_STATUS;
    request.status = &empty;
    if (lbm_api_call(steps->map, &request, take_state, &has_left) == LBM_OK && has_left)
        lbm_steps_fail(steps, LBMAP_E_STATE,
                       "this host has left the cluster: its vertices are at other hosts");
}

static void
look_at_timers(struct lbm_steps *steps)
{
    int64_t now_ms = lbm_api_now_ms();
    lbm_steps_keep(steps, now_ms);
    if (now_ms >= steps->look_ms) {
        steps->look_ms = now_ms + LOOK_MS;
        lbm_steps_look(steps, now_ms);
        lbm_steps_tell(steps, now_ms);
        lbm_steps_tell_kept(steps, now_ms);
        lbm_reduce_look(steps, now_ms);
    }
    if (steps->program.load != NULL && now_ms >= steps->load_ms) {
        steps->load_ms = now_ms + LOAD_MS;
        report_loads(steps);
    }
    if (steps->own.n == 0 && now_ms >= steps->left_ms) {
        steps->left_ms = now_ms + LEFT_MS;
        look_if_left(steps);
    }
    if (steps->n_done == lbmap_vertices(steps->map))
        lbm_steps_finish(steps);
}

static enum lbmap_error
dispatch(struct lbm_steps *steps)
{
    int may_work = steps->ready.n != 0 && lbmap_lease_valid(steps->map) == LBMAP_WORK;
    enum lbmap_error error = lbmap_dispatch(steps->map, may_work ? 0 : IDLE_MS);
    for (size_t i = 0; i < steps->payloads.n; i++)
        lbm_buf_free(&steps->payloads.at[i]);
    steps->payloads.n = 0;
    return error;
}

static void
run(struct lbm_steps *steps)
{
    while (steps->error == LBMAP_OK && !steps->finished) {
        enum lbmap_error error = dispatch(steps);
        if (error != LBMAP_OK) {
            lbm_steps_fail(steps, error, "%s", lbmap_message(steps->map));
            return;
        }
        if (!lbm_steps_must_end(steps)) {
            lbm_steps_greet(steps);
            work(steps);
        }
        if (lbm_steps_must_end(steps)) {
            lbm_steps_fail(steps, LBMAP_E_BUSY, "stopped by the program");
            return;
        }
        lbm_mail_flush(steps);
        look_at_timers(steps);
        lbm_mail_flush(steps);
    }
    if (steps->error == LBMAP_OK)
        lbm_steps_stable(steps, steps->program.steps);
}

/* ---- from outside -------------------------------------------------------------------------------------- */

/* Most steps between checkpoints whose payload, 3 keep + 3 states at most, fits. */
static uint64_t
most_keep(const struct lbmap_steps *program)
{
    const uint64_t bytes = LBMAP_PAYLOAD_MAX;
    uint64_t states = program->state_size < bytes ? (bytes - 32) / (program->state_size + 4) : 0;
    return states < 6 ? 0 : (states - 3) / 3;
}

/* Bytes that are kept of a state but the last, as a rule: what neighbours see of it, if that is less. */
static uint64_t
usual_bytes(const struct lbm_steps *steps)
{
    uint64_t whole = steps->program.state_size;
    uint64_t seen = steps->program.share != NULL ? steps->program.share_size
                    : steps->export_size != 0    ? USUAL_DEGREE * ((uint64_t)steps->export_size + 8)
                                                 : whole;
    return seen < whole ? seen : whole;
}

/* Where nothing else is said: not more than 32, and no more than a short payload has, if it can be: a last
 * state and 3 keep + 2 before it. */
static uint32_t
usual_keep(const struct lbm_steps *steps)
{
    uint64_t last = 32 + (uint64_t)steps->program.state_size + 4;
    uint64_t before = last < LBM_PAYLOAD_MAX ? (LBM_PAYLOAD_MAX - last) / (usual_bytes(steps) + 4) : 0;
    uint64_t most = before < 5 ? 1 : (before - 2) / 3;
    return most < KEEP_DEFAULT ? (uint32_t)most : KEEP_DEFAULT;
}

/* It is always one that could be given. */
_Static_assert((3 * (uint64_t)KEEP_DEFAULT + 3) * (LBM_PAYLOAD_MAX + 4) + 32 <= LBMAP_PAYLOAD_MAX,
               "states of a short payload fit a long one");

/* Contributions of vertices, which are in payloads too. */
static void
check_values(struct lbm_steps *steps)
{
    const struct lbmap_steps *p = &steps->program;
    if (p->every == 0 || steps->error != LBMAP_OK)
        return;
    steps->periods = lbm_reduce_periods(p, steps->window);
    steps->value_size = p->value_size;
    if (p->value_size == 0 || p->contribute == NULL || p->combine == NULL)
        lbm_steps_fail(steps, LBMAP_E_RANGE, "every is given, but value_size, contribute or combine is not");
    else if (p->value_size > LBMAP_STEPS_BYTES_MAX ||
             36 + (steps->window + 2) * (p->state_size + 4) + (steps->periods + 1) * (p->value_size + 8) >
                 LBMAP_PAYLOAD_MAX)
        lbm_steps_fail(
            steps, LBMAP_E_RANGE,
            "with keep %u and every %llu, %llu states of %zu bytes and %llu values of %zu do not fit a "
            "payload of %d: take a smaller keep or a larger every",
            p->keep, (unsigned long long)p->every, (unsigned long long)steps->window + 2, p->state_size,
            (unsigned long long)steps->periods + 1, p->value_size, LBMAP_PAYLOAD_MAX);
}

/* What neighbours see. */
static void
check_shared(struct lbm_steps *steps)
{
    struct lbmap_steps *p = &steps->program;
    size_t most = p->share_with != NULL ? LBMAP_STEPS_BYTES_MAX / 2 : LBMAP_STEPS_BYTES_MAX;
    if (p->share != NULL && p->share_with != NULL)
        lbm_steps_fail(steps, LBMAP_E_RANGE,
                       "share and share_with are given: only one says what neighbours see");
    else if ((p->share_size != 0) != (p->share != NULL || p->share_with != NULL) || p->share_size > most)
        lbm_steps_fail(steps, LBMAP_E_RANGE,
                       "share_size is %zu: with share or share_with it is 1 to %zu, without them 0",
                       p->share_size, most);
    else if (p->share_size == 0 && p->state_size > LBMAP_STEPS_BYTES_MAX)
        lbm_steps_fail(steps, LBMAP_E_RANGE,
                       "a state of %zu bytes is more than neighbours can see, which is %d: share or "
                       "share_with says what they see of it",
                       p->state_size, LBMAP_STEPS_BYTES_MAX);
    if (p->share_with == NULL)
        return;
    steps->export_size = p->share_size;
    p->share_size = 0; /* states have no room for it */
}

static void
check(struct lbm_steps *steps, const struct lbmap_steps *program)
{
    if (program->size < offsetof(struct lbmap_steps, stop)) {
        lbm_steps_fail(steps, LBMAP_E_RANGE, "size is %zu, not sizeof(struct lbmap_steps)", program->size);
        return;
    }
    memcpy(&steps->program, program, program->size < sizeof *program ? program->size : sizeof *program);
    uint64_t most = most_keep(program);
    if (program->job == NULL || program->init == NULL || program->step == NULL || program->state_size == 0)
        lbm_steps_fail(steps, LBMAP_E_RANGE, "job, state_size, init or step is missing");
    else if (most == 0)
        lbm_steps_fail(steps, LBMAP_E_RANGE,
                       "a state of %zu bytes is too long: six of them, and 4 bytes each, fit %d",
                       program->state_size, LBMAP_PAYLOAD_MAX);
    else if (program->keep > most)
        lbm_steps_fail(steps, LBMAP_E_RANGE, "keep is %u: with states of %zu bytes it is %u at most",
                       program->keep, program->state_size, (unsigned)most);
    if (steps->error == LBMAP_OK)
        check_shared(steps);
    if (steps->program.keep == 0)
        steps->program.keep = usual_keep(steps);
    steps->window = 3 * (uint64_t)steps->program.keep + 1;
    check_values(steps);
}

static void
clean(struct lbm_steps *steps)
{
    for (uint32_t v = 0; steps->result != NULL && v < lbmap_vertices(steps->map); v++)
        free(steps->result[v]);
    free(steps->result);
    free(steps->kept);
    lbm_pieces_free(steps);
    lbmap_close(steps->map);
    lbm_steps_keep_none(steps);
    for (size_t i = 0; i < steps->lines.n; i++)
        lbm_line_free(steps->lines.at[i]);
    for (size_t i = 0; i < steps->out.n; i++)
        lbm_buf_free(&steps->out.at[i].rows);
    for (size_t i = 0; i < steps->payloads.n; i++)
        lbm_buf_free(&steps->payloads.at[i]);
    lbm_reduce_free(steps);
    lbm_vec_free(&steps->lines);
    lbm_vec_free(&steps->own);
    lbm_vec_free(&steps->ready);
    lbm_vec_free(&steps->fresh);
    lbm_vec_free(&steps->out);
    lbm_vec_free(&steps->views);
    lbm_buf_free(&steps->parts);
    lbm_buf_free(&steps->room);
    lbm_vec_free(&steps->peers);
    lbm_vec_free(&steps->payloads);
    lbm_idmap_free(&steps->at);
}

/* A program that was killed may be served for a moment yet. */
static enum lbmap_error
begin(struct lbmap *map, const struct lbmap_callbacks *callbacks)
{
    int64_t end_ms = lbm_api_now_ms() + START_MS;
    enum lbmap_error error = lbmap_serve(map, callbacks);
    while (error == LBMAP_E_BUSY && lbm_api_now_ms() < end_ms) {
        lbm_system_sleep(AGAIN_MS);
        error = lbmap_serve(map, callbacks);
    }
    return error;
}

/* A note that no other program has: who hears another one at a host hears of another program there, also if
 * nobody has told that the one before has ended. */
static enum lbmap_error
publish(struct lbmap *map)
{
    const int64_t begun_us[] = {lbm_page_now_us(), lbm_page_coarse_wall_us()};
    return lbmap_publish(map, begun_us, sizeof begun_us);
}

enum lbmap_error
lbmap_steps(const struct lbmap_steps *program, char *message, size_t len)
{
    struct lbm_steps steps = {.nowhere.failed = 1, .collector = LBMAP_NOWHERE};
    const struct lbmap_callbacks callbacks = {.size = sizeof callbacks,
                                              .context = &steps,
                                              .acquire = lbm_steps_on_acquire,
                                              .release = lbm_steps_on_release,
                                              .revoked = lbm_steps_on_revoked,
                                              .edges = lbm_steps_on_edges,
                                              .peer_up = lbm_steps_on_peer_up,
                                              .peer_down = lbm_steps_on_peer_down,
                                              .message = lbm_steps_on_message};
    enum lbmap_error error = LBMAP_OK;
    check(&steps, program);
    if (steps.error == LBMAP_OK && (error = lbmap_open(program->socket_path, &steps.map)) != LBMAP_OK)
        lbm_steps_fail(&steps, error, "the daemon of this host: %s", lbmap_strerror(error));
    if (steps.error == LBMAP_OK &&
        ((error = lbmap_attach(steps.map, program->job)) != LBMAP_OK ||
         (error = begin(steps.map, &callbacks)) != LBMAP_OK || (error = publish(steps.map)) != LBMAP_OK))
        lbm_steps_fail(&steps, error, "%s", lbmap_message(steps.map));
    if (steps.error == LBMAP_OK)
        run(&steps);
    clean(&steps);
    if (len != 0)
        snprintf(message, len, "%s", steps.message);
    return steps.error;
}
