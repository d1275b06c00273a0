/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a mapping costs while the trace goes on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "map/map.h"
#include "sim/experiment/replay.h"

enum { APART_US = 3000000, WHOLE_PARTS = 100 };

/* ---- the state ----------------------------------------------------------------------------------------- */

enum lbm_err
replay_state_make(const struct lbm_trace *trace, const struct replay_place *place, double bound,
                  struct replay_state *out)
{
    uint32_t n = place->h.n;
    *out = (struct replay_state){.trace = trace, .place = place, .bound = bound, .n_there = trace->g.n};
    enum lbm_err err = replay_guest_make(trace, &out->g);
    if (err != LBM_OK)
        return err;
    out->part = lbm_alloc(trace->n, sizeof *out->part);
    out->is_new = lbm_alloc(trace->n, 1);
    out->load = lbm_alloc(n, sizeof *out->load);
    out->capacity = lbm_copy(place->h.capacity, n, sizeof *out->capacity);
    out->participates = lbm_alloc(n, 1);
    if (out->part == NULL || out->is_new == NULL || out->load == NULL || out->capacity == NULL ||
        out->participates == NULL) {
        replay_state_free(out);
        return LBM_E_NOMEM;
    }
    for (uint32_t v = 0; v < trace->g.n; v++)
        out->part[v] = place->number[trace->owner[v]];
    memset(out->participates, 1, place->n_first);
    return LBM_OK;
}

void
replay_state_free(struct replay_state *state)
{
    lbm_graph_free(&state->g);
    free(state->part);
    free(state->is_new);
    free(state->load);
    free(state->capacity);
    free(state->participates);
}

void
replay_state_event(struct replay_state *state, const struct lbm_trace_event *event)
{
    const struct replay_place *place = state->place;
    const struct lbm_trace_host *host;
    switch (event->kind) {
    case LBM_TRACE_ADD:
        state->g.work[event->a] = 1;
        state->part[event->a] = place->number[event->b];
        state->is_new[event->a] = 1;
        state->n_there++;
        break;
    case LBM_TRACE_REMOVE:
        state->g.work[event->a] = 0;
        state->n_there--;
        break;
    case LBM_TRACE_LOAD:
        state->g.work[event->a] = event->b;
        break;
    case LBM_TRACE_JOIN:
    case LBM_TRACE_HOST:
        host = &state->trace->hosts.at[event->a];
        state->capacity[place->number[host->id]] = host->capacity;
        state->participates[place->number[host->id]] |= event->kind == LBM_TRACE_JOIN;
        break;
    case LBM_TRACE_BACK:
        state->participates[place->number[event->a]] = 1;
        break;
    case LBM_TRACE_DRAIN:
    case LBM_TRACE_LEFT:
    case LBM_TRACE_LOST:
        state->participates[place->number[event->a]] = 0;
        break;
    case LBM_TRACE_EDGE: /* replay_state_edges */
    case LBM_TRACE_OWN:
    case LBM_TRACE_EVENT_COUNT:
        break;
    }
}

void
replay_state_owners(struct replay_state *state, const uint32_t *part, uint64_t *work, uint32_t *vertices)
{
    for (uint32_t v = 0; v < state->g.n; v++) {
        if (part[v] == LBM_NONE || state->g.work[v] == 0)
            continue;
        int has_moved = part[v] != state->part[v], is_new = state->is_new[v];
        state->is_new[v] = 0;
        if (!has_moved)
            continue;
        *work += is_new ? 0 : state->g.work[v];
        *vertices += !is_new;
        state->part[v] = part[v];
        state->is_known = 0;
    }
}

/* Loads of all hosts into state->load. Returns their sum. */
static uint64_t
find_loads(struct replay_state *state)
{
    lbm_map_loads(&state->g, state->place->h.n, state->part, state->load);
    return lbm_graph_total_work(&state->g);
}

static double
capacity_of_all(const struct replay_state *state)
{
    double all = 0;
    for (uint32_t p = 0; p < state->place->h.n; p++)
        all += state->participates[p] ? state->capacity[p] : 0;
    return all;
}

static double
imbalance_of(struct replay_state *state)
{
    double whole = (double)find_loads(state), all = capacity_of_all(state), most = 0;
    for (uint32_t p = 0; p < state->place->h.n && all > 0; p++)
        if (state->participates[p])
            most = fmax(most, (double)state->load[p] * all / (whole * state->capacity[p]) - 1);
    return most;
}

static uint64_t
hop_bytes_of(struct replay_state *state)
{
    if (!state->is_known)
        state->hop_bytes = lbm_map_hop_bytes(&state->g, &state->place->h, state->part);
    state->is_known = 1;
    return state->hop_bytes;
}

/* Work that cannot stay: beyond the bound, or a vertex of mean weight if that is more; all of who goes. */
static uint64_t
work_over(struct replay_state *state)
{
    double whole = (double)find_loads(state), all = capacity_of_all(state);
    uint64_t over = 0;
    for (uint32_t p = 0; p < state->place->h.n; p++) {
        double target = state->participates[p] && all > 0 ? whole * state->capacity[p] / all : 0;
        double slack = target > 0 ? fmax(state->bound * target, whole / state->n_there) : 0;
        uint64_t limit = (uint64_t)(target + slack);
        over += state->load[p] > limit ? state->load[p] - limit : 0;
    }
    return over;
}

/* ---- phases -------------------------------------------------------------------------------------------- */

/* Nonzero if the step changes hosts, or loads by a part of the whole. work [n] is what it was, and is brought
 * forward. */
static int
is_large(const struct lbm_trace *trace, const struct lbm_trace_step *step, uint32_t *work, uint64_t whole)
{
    uint64_t change = 0;
    int hosts = 0;
    for (size_t i = step->first; i < step->first + step->n; i++) {
        const struct lbm_trace_event *event = &trace->events.at[i];
        hosts |= !lbm_trace_is_of_guest(event->kind);
        if (event->kind != LBM_TRACE_LOAD && event->kind != LBM_TRACE_ADD && event->kind != LBM_TRACE_REMOVE)
            continue;
        uint32_t now = event->kind == LBM_TRACE_LOAD ? event->b : event->kind == LBM_TRACE_ADD;
        change += now > work[event->a] ? now - work[event->a] : work[event->a] - now;
        work[event->a] = now;
    }
    return hosts || change > whole / WHOLE_PARTS;
}

uint8_t *
replay_phases_find(const struct lbm_trace *trace)
{
    uint8_t *begins = lbm_alloc(trace->steps.n, 1);
    uint32_t *work = lbm_alloc(trace->n, sizeof *work);
    uint64_t whole = lbm_graph_total_work(&trace->g);
    int64_t last_us = -APART_US;
    if (begins == NULL || work == NULL) {
        free(begins);
        free(work);
        return NULL;
    }
    for (uint32_t v = 0; v < trace->g.n; v++)
        work[v] = trace->g.work[v];
    for (size_t i = 0; i < trace->steps.n; i++) {
        int large = is_large(trace, &trace->steps.at[i], work, whole);
        begins[i] = large && trace->steps.at[i].at_us - last_us >= APART_US;
        last_us = large ? trace->steps.at[i].at_us : last_us;
    }
    free(work);
    return begins;
}

void
replay_watch_begin(struct replay_watch *watch, struct replay_state *state, double at_s, int is_change)
{
    *watch = (struct replay_watch){
        .phase = {.at_s = at_s, .is_change = is_change, .over = work_over(state), .settled_s = -1}};
    watch->phase.before = watch->phase.most = imbalance_of(state);
}

void
replay_watch_pass(struct replay_watch *watch, struct replay_state *state, double seconds)
{
    double imbalance = imbalance_of(state);
    watch->phase.most = fmax(watch->phase.most, imbalance);
    watch->imbalance_s += imbalance * seconds;
    watch->hop_bytes_s += (double)hop_bytes_of(state) * seconds;
    watch->passed_s += seconds;
}

enum lbm_err
replay_watch_end(struct replay_watch *watch, struct replay_state *state, struct replay_result *result)
{
    struct replay_phase *phase = &watch->phase;
    phase->after = imbalance_of(state);
    phase->hop_bytes = (double)hop_bytes_of(state);
    phase->mean = watch->passed_s > 0 ? watch->imbalance_s / watch->passed_s : phase->after;
    phase->hop_bytes_mean = watch->passed_s > 0 ? watch->hop_bytes_s / watch->passed_s : phase->hop_bytes;
    int is_first = result->phases.n == 0;
    if (!is_first) { /* sums here, means in the end */
        result->mean += watch->imbalance_s;
        result->hop_bytes_mean += watch->hop_bytes_s;
        result->most = fmax(result->most, phase->most);
        result->moved += phase->moved;
        result->messages += phase->messages;
        result->bytes += phase->bytes;
        int counts = phase->is_change && phase->settled_s >= 0;
        result->n_changes += (uint32_t)phase->is_change;
        result->n_settled += (uint32_t)counts;
        result->settled_mean_s += counts ? phase->settled_s : 0;
        result->settled_most_s =
            counts ? fmax(result->settled_most_s, phase->settled_s) : result->settled_most_s;
        result->passed_s += watch->passed_s;
    }
    return lbm_vec_push(&result->phases, *phase);
}

void
replay_summarize(struct replay_state *state, struct replay_result *result)
{
    double passed_s = result->passed_s;
    result->end = imbalance_of(state);
    result->hop_bytes_end = (double)hop_bytes_of(state);
    result->mean = passed_s > 0 ? result->mean / passed_s : result->end;
    result->hop_bytes_mean = passed_s > 0 ? result->hop_bytes_mean / passed_s : result->hop_bytes_end;
    result->most = fmax(result->most, result->end);
    result->settled_mean_s /= result->n_settled != 0 ? result->n_settled : 1;
    result->moved_share = (double)result->moved / (double)lbm_graph_total_work(&state->g);
}

void
replay_result_free(struct replay_result *result)
{
    lbm_vec_free(&result->phases);
}
