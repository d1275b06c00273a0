/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Load data of vt: refused with a reason, or a trace that may be read, and a guest that is one. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "harnesses.h"
#include "import/vt.h"

static void
read_back(const struct lbm_trace *trace)
{
    struct lbm_buf text = {0};
    struct lbm_trace again;
    struct lbm_diag diag;
    lbm_trace_put_head(&text, trace, NULL);
    for (size_t i = 0; i < trace->steps.n; i++)
        lbm_trace_put_step(&text, trace, &trace->steps.at[i]);
    lbm_trace_put_end(&text, trace->end_us);
    LBM_ASSERT(!text.failed);
    LBM_ASSERT(lbm_trace_read("written", text.at, text.len, &again, &diag) == LBM_OK);
    LBM_ASSERT(again.g.n == trace->g.n && again.events.n == trace->events.n && again.measured);
    lbm_trace_free(&again);
    lbm_buf_free(&text);
}

/* The guest of what makes a trace. */
static void
make_guest(struct lbm_vt_data *loads)
{
    struct lbm_vt_scale scale;
    struct lbm_graph g;
    struct lbm_diag diag;
    LBM_ASSERT(lbm_vt_guest(loads, &g, &scale, &diag) == LBM_OK);
    LBM_ASSERT(lbm_graph_check(&g, &diag) == LBM_OK && g.name != NULL && g.work != NULL);
    lbm_graph_free(&g);
}

int
fuzz_import_vt(const uint8_t *data, size_t size)
{
    struct lbm_vt_data loads = {0};
    struct lbm_vt_scale scale;
    struct lbm_hosts h;
    struct lbm_trace trace;
    struct lbm_diag diag = {0};
    char *text = malloc(size > 0 ? size : 1); /* its own block: a byte too far is noticed */
    LBM_ASSERT(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    enum lbm_err err = lbm_hosts_generate("ring:8", &h, &diag);
    LBM_ASSERT(err == LBM_OK);
    err = lbm_vt_read("input", text, size, 0, &loads, &diag);
    if (err == LBM_OK)
        err = lbm_vt_trace(&loads, &h, 1, &trace, &scale, &diag);
    if (err == LBM_OK) {
        LBM_ASSERT(lbm_graph_check(&trace.g, &diag) == LBM_OK);
        read_back(&trace);
        make_guest(&loads);
        lbm_trace_free(&trace);
    } else {
        LBM_ASSERT(diag.code == err && diag.text[0] != '\0');
    }
    lbm_vt_free(&loads);
    lbm_hosts_free(&h);
    free(text);
    return err == LBM_OK;
}
