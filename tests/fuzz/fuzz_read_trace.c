/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces: refused with a reason, or what was read comes back the same when it is written and read again. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "harnesses.h"
#include "trace/trace.h"

static void
write_whole(const struct lbm_trace *trace, struct lbm_buf *out)
{
    lbm_trace_put_head(out, trace, NULL);
    for (size_t i = 0; i < trace->steps.n; i++)
        lbm_trace_put_step(out, trace, &trace->steps.at[i]);
    lbm_trace_put_end(out, trace->end_us);
    LBM_ASSERT(!out->failed);
}

static void
read_back(const struct lbm_trace *trace)
{
    struct lbm_buf first = {0}, second = {0};
    struct lbm_trace again;
    struct lbm_diag diag;
    write_whole(trace, &first);
    LBM_ASSERT(lbm_trace_read("written", first.at, first.len, &again, &diag) == LBM_OK);
    LBM_ASSERT(!again.cut && again.events.n == trace->events.n && again.end_us == trace->end_us);
    write_whole(&again, &second);
    LBM_ASSERT(first.len == second.len && memcmp(first.at, second.at, first.len) == 0);
    lbm_trace_free(&again);
    lbm_buf_free(&first);
    lbm_buf_free(&second);
}

int
fuzz_read_trace(const uint8_t *data, size_t size)
{
    struct lbm_trace trace;
    struct lbm_diag diag = {0};
    char *text = malloc(size > 0 ? size : 1); /* its own block: a byte too far is noticed */
    LBM_ASSERT(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    enum lbm_err err = lbm_trace_read("input", text, size, &trace, &diag);
    if (err != LBM_OK) {
        LBM_ASSERT(diag.code == err && diag.text[0] != '\0' && strcmp(diag.where, "input") == 0);
    } else {
        err = lbm_graph_check(&trace.g, &diag);
        LBM_ASSERT(err == LBM_OK);
        read_back(&trace);
        lbm_trace_free(&trace);
    }
    free(text);
    return err == LBM_OK;
}
