/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/trace.h"

#include <stdlib.h>

const char *
lbm_trace_event_word(enum lbm_trace_event_kind kind)
{
    static const char *const words[] = {
#define EVENT_WORD(id, word) word,
        LBM_TRACE_EVENT_LIST(EVENT_WORD)
#undef EVENT_WORD
    };
    return words[kind];
}

int
lbm_trace_is_of_guest(enum lbm_trace_event_kind kind)
{
    return kind < LBM_TRACE_JOIN;
}

void
lbm_trace_free(struct lbm_trace *trace)
{
    for (size_t i = 0; i < trace->hosts.n; i++)
        lbm_vec_free(&trace->hosts.at[i].links);
    lbm_vec_free(&trace->hosts);
    lbm_graph_free(&trace->g);
    free(trace->owner);
    lbm_vec_free(&trace->events);
    lbm_vec_free(&trace->steps);
    *trace = (struct lbm_trace){0};
}

enum lbm_err
lbm_trace_step_begin(struct lbm_trace *trace, int64_t at_us)
{
    struct lbm_trace_step step = {.at_us = at_us, .first = trace->events.n};
    trace->end_us = at_us;
    return lbm_vec_push(&trace->steps, step);
}

enum lbm_err
lbm_trace_event_add(struct lbm_trace *trace, enum lbm_trace_event_kind kind, uint32_t a, uint32_t b,
                    uint32_t c)
{
    struct lbm_trace_event event = {kind, a, b, c};
    enum lbm_err err = lbm_vec_push(&trace->events, event);
    if (err == LBM_OK)
        trace->steps.at[trace->steps.n - 1].n++;
    return err;
}
