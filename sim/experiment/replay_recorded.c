/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the recorded cluster did, by the trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/replay.h"

/* Where vertices are after the step. */
static void
take_owners(const struct lbm_trace *trace, const struct replay_place *place,
            const struct lbm_trace_step *step, uint32_t *part)
{
    for (size_t i = step->first; i < step->first + step->n; i++)
        if (trace->events.at[i].kind == LBM_TRACE_OWN || trace->events.at[i].kind == LBM_TRACE_ADD)
            part[trace->events.at[i].a] = place->number[trace->events.at[i].b];
}

static enum lbm_err
follow(const struct lbm_trace *trace, struct replay_state *state, const uint8_t *begins, uint32_t *part,
       struct replay_result *result)
{
    struct replay_watch watch;
    enum lbm_err err = LBM_OK;
    int64_t now_us = 0, phase_us = 0, moved_us = 0;
    replay_watch_begin(&watch, state, 0, 0);
    watch.phase.settled_s = 0;
    err = replay_watch_end(&watch, state, result); /* a beginning like that of the runs, in no time */
    replay_watch_begin(&watch, state, 0, 0);
    for (size_t i = 0; err == LBM_OK && i <= trace->steps.n; i++) {
        const struct lbm_trace_step *step = i < trace->steps.n ? &trace->steps.at[i] : NULL;
        int64_t at_us = step != NULL ? step->at_us : trace->end_us;
        replay_watch_pass(&watch, state, (double)(at_us - now_us) / 1e6);
        now_us = at_us;
        if (step == NULL || (begins[i] && now_us > phase_us)) {
            watch.phase.settled_s = (double)(moved_us - phase_us) / 1e6;
            err = replay_watch_end(&watch, state, result);
        }
        for (size_t k = 0; step != NULL && k < step->n; k++)
            replay_state_event(state, &trace->events.at[step->first + k]);
        if (err == LBM_OK && step != NULL)
            err = replay_state_edges(state, step);
        if (step != NULL && begins[i]) {
            replay_watch_begin(&watch, state, (double)now_us / 1e6, 1);
            phase_us = moved_us = now_us;
        }
        uint32_t moved = watch.phase.moved_vertices;
        if (step != NULL)
            take_owners(trace, state->place, step, part);
        replay_state_owners(state, part, &watch.phase.moved, &watch.phase.moved_vertices);
        moved_us = moved != watch.phase.moved_vertices ? now_us : moved_us;
    }
    return err;
}

enum lbm_err
replay_recorded(const struct lbm_trace *trace, const struct replay_place *place,
                const struct replay_options *options, struct replay_result *result)
{
    struct replay_state state;
    double bound = options->imbalance > 0 ? options->imbalance : trace->imbalance;
    *result = (struct replay_result){.is_recorded = 1, .settled = 1};
    snprintf(result->policy, sizeof result->policy, "recorded");
    enum lbm_err err = replay_state_make(trace, place, bound, &state);
    if (err != LBM_OK)
        return err;
    uint8_t *begins = replay_phases_find(trace);
    uint32_t *part = lbm_copy(state.part, trace->n, sizeof *part);
    err = begins != NULL && part != NULL ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK) {
        err = follow(trace, &state, begins, part, result);
        replay_summarize(&state, result);
    }
    free(begins);
    free(part);
    replay_state_free(&state);
    return err;
}
