/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/trace.h"

enum { A_LINE = 32 }; /* vertices of a line: short enough to be looked at */

/* The shortest text that reads as the same number. */
static void
put_real(struct lbm_buf *buf, double value)
{
    char text[32];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (!(strtod(text, NULL) < value) && !(strtod(text, NULL) > value))
            break;
    }
    lbm_buf_printf(buf, " %s", text);
}

static void
put_word(struct lbm_buf *buf, const char *word)
{
    lbm_buf_put(buf, " ", 1);
    for (const char *c = word[0] != '\0' ? word : "-"; *c != '\0'; c++)
        lbm_buf_put(buf, *c > ' ' && *c < 0x7f ? c : "_", 1);
}

static void
put_seconds(struct lbm_buf *buf, int64_t us)
{
    lbm_buf_printf(buf, " %" PRId64 ".%06" PRId64, us / 1000000, us % 1000000);
}

static void
put_host(struct lbm_buf *buf, const char *word, const struct lbm_trace_host *host)
{
    lbm_buf_printf(buf, "%s %" PRIu32, word, host->id);
    put_word(buf, host->name);
    put_real(buf, host->capacity);
    if (host->m != 0)
        lbm_buf_printf(buf, " at");
    for (unsigned k = 0; k < host->m; k++)
        put_real(buf, host->site[k]);
    if (host->links.n != 0)
        lbm_buf_printf(buf, " to");
    for (size_t i = 0; i < host->links.n; i++)
        lbm_buf_printf(buf, " %" PRIu32 ":%" PRIu32, host->links.at[i].host, host->links.at[i].cost);
    lbm_buf_put(buf, "\n", 1);
}

static void
put_vertex(struct lbm_buf *buf, const struct lbm_trace *trace, uint32_t v)
{
    const struct lbm_graph *g = &trace->g;
    lbm_buf_put(buf, "vertex ", 7);
    lbm_buf_u64(buf, v);
    lbm_buf_put(buf, " ", 1);
    lbm_buf_u64(buf, lbm_graph_work(g, v));
    lbm_buf_put(buf, " ", 1);
    lbm_buf_u64(buf, trace->owner[v]);
    if (g->pin != NULL && g->pin[v] != LBM_NONE)
        lbm_buf_printf(buf, " pin %" PRIu32, g->pin[v]);
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        if (g->target[e] < v)
            continue;
        lbm_buf_put(buf, " ", 1);
        lbm_buf_u64(buf, g->target[e]);
        lbm_buf_put(buf, ":", 1);
        lbm_buf_u64(buf, lbm_graph_weight(g, e));
    }
    lbm_buf_put(buf, "\n", 1);
}

void
lbm_trace_put_head(struct lbm_buf *buf, const struct lbm_trace *trace, const char *comment)
{
    lbm_buf_printf(buf, "lbmap-trace %d\n", LBM_TRACE_VERSION);
    if (comment != NULL)
        lbm_buf_printf(buf, "# %s\n", comment);
    lbm_buf_printf(buf, "job");
    put_word(buf, trace->job);
    put_real(buf, trace->imbalance);
    put_word(buf, trace->policy);
    lbm_buf_printf(buf, " %" PRIu64 "\n%sguest %" PRIu32 " %" PRIu64 "\n", trace->seed,
                   trace->measured ? "measured\n" : "", trace->g.n, lbm_graph_directions(&trace->g) / 2);
    for (uint32_t i = 0; i < trace->n_present; i++)
        put_host(buf, "host", &trace->hosts.at[i]);
    for (uint32_t v = 0; v < trace->g.n; v++)
        put_vertex(buf, trace, v);
    lbm_buf_printf(buf, "begin\n");
}

/* Nonzero if the event stands on the line of the one before. */
static int
goes_on(const struct lbm_trace_event *before, const struct lbm_trace_event *event, size_t on_line)
{
    return before != NULL && before->kind == event->kind && lbm_trace_is_of_guest(event->kind) &&
           on_line < A_LINE &&
           (event->kind == LBM_TRACE_LOAD || event->kind == LBM_TRACE_REMOVE ||
            (event->kind == LBM_TRACE_EDGE ? before->a == event->a : before->b == event->b));
}

static void
put_event(struct lbm_buf *buf, const struct lbm_trace *trace, const struct lbm_trace_event *event, int same)
{
    const char *word = lbm_trace_event_word(event->kind);
    switch (event->kind) {
    case LBM_TRACE_LOAD:
        lbm_buf_printf(buf, "%s %" PRIu32 ":%" PRIu32, same ? "" : word, event->a, event->b);
        break;
    case LBM_TRACE_EDGE:
        if (!same)
            lbm_buf_printf(buf, "%s %" PRIu32, word, event->a);
        lbm_buf_printf(buf, " %" PRIu32 ":%" PRIu32, event->b, event->c);
        break;
    case LBM_TRACE_REMOVE:
        lbm_buf_printf(buf, "%s %" PRIu32, same ? "" : word, event->a);
        break;
    case LBM_TRACE_ADD:
    case LBM_TRACE_OWN:
        if (!same)
            lbm_buf_printf(buf, "%s %" PRIu32, word, event->b);
        lbm_buf_printf(buf, " %" PRIu32, event->a);
        break;
    case LBM_TRACE_JOIN:
    case LBM_TRACE_HOST:
        put_host(buf, word, &trace->hosts.at[event->a]);
        return;
    default:
        lbm_buf_printf(buf, "%s %" PRIu32 "\n", word, event->a);
        return;
    }
}

void
lbm_trace_put_step(struct lbm_buf *buf, const struct lbm_trace *trace, const struct lbm_trace_step *step)
{
    const struct lbm_trace_event *before = NULL;
    size_t on_line = 0;
    lbm_buf_printf(buf, "at");
    put_seconds(buf, step->at_us);
    lbm_buf_put(buf, "\n", 1);
    for (size_t i = 0; i < step->n; i++) {
        const struct lbm_trace_event *event = &trace->events.at[step->first + i];
        int same = goes_on(before, event, on_line);
        if (!same && before != NULL && lbm_trace_is_of_guest(before->kind))
            lbm_buf_put(buf, "\n", 1);
        put_event(buf, trace, event, same);
        on_line = same ? on_line + 1 : 1;
        before = event;
    }
    if (before != NULL && lbm_trace_is_of_guest(before->kind))
        lbm_buf_put(buf, "\n", 1);
}

void
lbm_trace_put_end(struct lbm_buf *buf, int64_t end_us)
{
    lbm_buf_printf(buf, "end");
    put_seconds(buf, end_us);
    lbm_buf_put(buf, "\n", 1);
}
