/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What becomes of programs that the node has started, as events. */
#include <stdio.h>

#include "daemon/log.h"
#include "daemon/loop_internal.h"

void
loop_on_programs(evutil_socket_t fd, short what, void *context)
{
    enum { AT_A_TIME = 16 };
    static struct lbm_programs_report report;
    struct loop *loop = context;
    (void)fd;
    (void)what;
    for (int i = 0; i < AT_A_TIME && !loop->stopping; i++) {
        int n = lbm_programs_next(loop->config.programs, &report);
        if (n < 0) {
            lbm_log(LBM_NOTE_ERROR, "the process that runs programs is gone");
            loop_fail(loop);
        }
        if (n <= 0)
            return;
        char why[LBM_PROGRAM_WHY_MAX];
        struct lbm_event event = {.kind = LBM_EVENT_PROGRAM};
        event.as.program.id = report.id;
        event.as.program.has_ended = report.has_ended != 0;
        event.as.program.status = report.status;
        snprintf(why, sizeof why, "%.*s", (int)report.len, report.has_ended ? (const char *)report.text : "");
        event.as.program.why = why;
        event.as.program.bytes = report.text;
        event.as.program.len = report.len;
        loop_step(loop, &event);
    }
}
