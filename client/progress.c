/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR_COLUMNS = 40, REDRAW_MS = 100 };

int64_t
lbm_progress_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void
lbm_progress_begin(struct lbm_progress *progress, int quiet)
{
    *progress = (struct lbm_progress){.shown = !quiet && isatty(STDERR_FILENO), .last_ms = -REDRAW_MS};
}

void
lbm_progress_show(struct lbm_progress *progress, const char *stage, double done)
{
    int64_t now_ms = progress->shown ? lbm_progress_now_ms() : 0;
    if (!progress->shown || now_ms - progress->last_ms < REDRAW_MS)
        return;
    double part = done < 0.0 ? 0.0 : done > 1.0 ? 1.0 : done;
    char bar[BAR_COLUMNS + 1];
    for (int i = 0; i < BAR_COLUMNS; i++)
        bar[i] = (i + 0.5) / BAR_COLUMNS < part ? '#' : '.';
    bar[BAR_COLUMNS] = '\0';
    fprintf(stderr, "\r[%s] %3.0f %% %s\033[K", bar, 100.0 * part, stage);
    fflush(stderr);
    progress->drawn = 1;
    progress->last_ms = now_ms;
}

void
lbm_progress_end(struct lbm_progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = 0;
}
