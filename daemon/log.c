/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

enum { LINE_BYTES_MAX = 1024 }; /* a diagnosis with its place fits */

/* priority: of syslog, which the journal reads from a "<3>" prefix (sd-daemon(3)). */
static const struct {
    const char *name;
    int priority;
} levels[] = {
    [LBM_NOTE_ERROR] = {"error", 3},
    [LBM_NOTE_WARNING] = {"warning", 4},
    [LBM_NOTE_INFO] = {"info", 6},
    [LBM_NOTE_DEBUG] = {"debug", 7},
};
enum { LEVELS = sizeof levels / sizeof levels[0] };

static atomic_int threshold = LBM_NOTE_INFO;
static int to_journal; /* written once, before threads start */

/* JOURNAL_STREAM is "device:inode" of the stream the journal reads; it is inherited by processes whose
 * standard error was redirected since, so it must match. */
static int
stderr_is_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat st;
    char own[64];
    if (stream == NULL || fstat(STDERR_FILENO, &st) != 0)
        return 0;
    snprintf(own, sizeof own, "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    return strcmp(own, stream) == 0;
}

void
lbm_log_open(enum lbm_note_level level)
{
    to_journal = stderr_is_journal();
    lbm_log_set_level(level);
}

void
lbm_log_set_level(enum lbm_note_level level)
{
    LBM_ASSERT((unsigned)level < LEVELS);
    atomic_store(&threshold, (int)level);
}

static size_t
put_prefix(char *line, size_t size, enum lbm_note_level level)
{
    int len;
    if (to_journal) {
        len = snprintf(line, size, "<%d>", levels[level].priority);
    } else {
        struct timespec now;
        struct tm utc;
        clock_gettime(CLOCK_REALTIME, &now);
        gmtime_r(&now.tv_sec, &utc);
        size_t stamp = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &utc);
        len = (int)stamp +
              snprintf(line + stamp, size - stamp, ".%03ldZ %s: ", now.tv_nsec / 1000000, levels[level].name);
    }
    return (size_t)len;
}

void
lbm_log(enum lbm_note_level level, const char *fmt, ...)
{
    LBM_ASSERT((unsigned)level < LEVELS);
    if ((int)level > atomic_load(&threshold))
        return;
    char line[LINE_BYTES_MAX];
    size_t start = put_prefix(line, sizeof line, level);
    va_list args;
    va_start(args, fmt);
    int text = vsnprintf(line + start, sizeof line - start, fmt, args);
    va_end(args);
    size_t len = start + (text > 0 ? (size_t)text : 0);
    if (len > sizeof line - 2)
        len = sizeof line - 2; /* cut: the end of an overlong line matters least */
    for (size_t i = start; i < len; i++) {
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = '?';
    }
    line[len++] = '\n';
    /* One write, so that lines of threads do not mix. Nothing can be done about a log that is gone. */
    ssize_t written = write(STDERR_FILENO, line, len);
    (void)written;
}

void
lbm_log_limited(struct lbm_log_limit *limit, enum lbm_note_level level, const char *fmt, ...)
{
    char text[LINE_BYTES_MAX], more[64] = "";
    struct timespec now;
    va_list args;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (limit->lines == 0 || now.tv_sec - limit->since_s >= LBM_LOG_PERIOD_S) {
        limit->since_s = now.tv_sec;
        limit->lines = 0;
    }
    if (limit->lines == LBM_LOG_BURST) {
        limit->more++;
        return;
    }
    limit->lines++;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (limit->more != 0)
        snprintf(more, sizeof more, " (%" PRIu64 " such lines were left out)", limit->more);
    limit->more = 0;
    lbm_log(level, "%s%s", text, more);
}

void
lbm_log_diag(enum lbm_note_level level, const struct lbm_diag *diag)
{
    char text[LBM_DIAG_TEXT_MAX + LBM_DIAG_WHERE_MAX + 32];
    lbm_diag_render(diag, text, sizeof text);
    lbm_log(level, "%s", text);
}

enum lbm_err
lbm_log_level_parse(const char *name, enum lbm_note_level *level)
{
    for (int i = 0; i < LEVELS; i++) {
        if (strcmp(name, levels[i].name) == 0) {
            *level = (enum lbm_note_level)i;
            return LBM_OK;
        }
    }
    return LBM_E_RANGE;
}

const char *
lbm_log_level_names(void)
{
    return "error, warning, info, debug";
}
