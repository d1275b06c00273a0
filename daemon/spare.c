/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* processors a process may run on */
#include "daemon/spare.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { LOOK_TICKS_MIN = 10, LINE_BYTES_MAX = 512 };

/* What little is left, a host keeps; so much is due next to others at most; who ran and waited for less than
 * that part of the time says nothing of how time is shared. */
static const double LEAST = 0.05, DUE_MOST = 0.5, WANTED_LEAST = 0.1;

/* Seconds that a process has run, with threads that have ended, and that those there are have waited to run.
 */
struct usage {
    pid_t pid;
    double ran, waited;
};

/* Ticks of all processors that count. */
struct ticks {
    uint64_t busy, all;
};

struct lbm_spare {
    char proc[PATH_MAX];
    cpu_set_t processors;
    double ticks_second;
    int known; /* the look before was complete */
    struct ticks ticks;
    LBM_VEC(struct usage) usage;
};

/* The line of one processor: user nice system idle iowait irq softirq steal, the last ones in newer kernels.
 */
static int
read_processor(const char *line, const cpu_set_t *processors, struct ticks *ticks)
{
    unsigned cpu;
    uint64_t user, nice, system, idle, iowait = 0, irq = 0, softirq = 0, steal = 0;
    if (line[strlen("cpu")] == ' ') /* the sum of all */
        return 0;
    if (sscanf(line,
               "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64,
               &cpu, &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal) < 5 ||
        cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, processors))
        return 0;
    uint64_t busy = user + nice + system + irq + softirq + steal;
    ticks->busy += busy;
    ticks->all += busy + idle + iowait;
    return 1;
}

static int
read_ticks(const struct lbm_spare *spare, struct ticks *ticks)
{
    char path[PATH_MAX + 16], line[LINE_BYTES_MAX];
    int n = 0;
    *ticks = (struct ticks){0};
    snprintf(path, sizeof path, "%s/stat", spare->proc);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        n += strncmp(line, "cpu", 3) == 0 && read_processor(line, &spare->processors, ticks);
    if (file != NULL)
        fclose(file);
    return n > 0;
}

/* 0: the process is gone. */
static int
read_ran(const struct lbm_spare *spare, struct usage *usage)
{
    char path[PATH_MAX + 64], text[LINE_BYTES_MAX] = "";
    uint64_t user, system;
    snprintf(path, sizeof path, "%s/%ld/stat", spare->proc, (long)usage->pid);
    FILE *file = fopen(path, "re");
    size_t len = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    text[len] = '\0';
    const char *after_name = strrchr(text, ')'); /* which may have blanks and brackets */
    if (after_name == NULL ||
        sscanf(after_name, ") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64, &user,
               &system) != 2)
        return 0;
    usage->ran = (double)(user + system) / spare->ticks_second;
    return 1;
}

/* Nothing is added if the kernel does not tell. */
static void
read_waited(const struct lbm_spare *spare, struct usage *usage)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%ld/task", spare->proc, (long)usage->pid);
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        uint64_t ran, waited;
        if (task->d_name[0] < '0' || task->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "%s/%ld/task/%.20s/schedstat", spare->proc, (long)usage->pid,
                 task->d_name);
        FILE *file = fopen(path, "re");
        if (file != NULL && fscanf(file, "%" SCNu64 " %" SCNu64, &ran, &waited) == 2)
            usage->waited += (double)waited / 1e9;
        if (file != NULL)
            fclose(file);
    }
    if (tasks != NULL)
        closedir(tasks);
}

/* Add what a process has used since the look before to the sum, and remember where it stands. */
static void
look_at(struct lbm_spare *spare, size_t n_before, pid_t pid, struct usage *sum)
{
    struct usage now = {.pid = pid};
    for (size_t i = n_before; i < spare->usage.n; i++)
        if (spare->usage.at[i].pid == pid)
            return; /* an application with two connections */
    if (!read_ran(spare, &now))
        return;
    read_waited(spare, &now);
    if (lbm_vec_push(&spare->usage, now) != LBM_OK)
        return;
    for (size_t i = 0; i < n_before; i++) {
        const struct usage *before = &spare->usage.at[i];
        if (before->pid != pid || now.ran < before->ran)
            continue;
        sum->ran += now.ran - before->ran;
        sum->waited += now.waited > before->waited ? now.waited - before->waited : 0;
    }
}

double
lbm_spare_look(struct lbm_spare *spare, const pid_t *pid, size_t n)
{
    struct ticks ticks, before = spare->ticks;
    struct usage ours = {0};
    size_t n_before = spare->usage.n;
    if (!read_ticks(spare, &ticks))
        return 0;
    if (ticks.all < before.all || ticks.busy < before.busy) { /* a processor has gone */
        spare->ticks = ticks;
        spare->known = 0;
        return 0;
    }
    if (ticks.all < before.all + LOOK_TICKS_MIN)
        return 0;
    look_at(spare, n_before, getpid(), &ours);
    for (size_t i = 0; i < n; i++)
        look_at(spare, n_before, pid[i], &ours);
    if (spare->usage.n != 0)
        memmove(spare->usage.at, spare->usage.at + n_before,
                (spare->usage.n - n_before) * sizeof *spare->usage.at);
    spare->usage.n -= n_before;
    spare->ticks = ticks;
    int was_known = spare->known;
    spare->known = 1;
    if (!was_known)
        return 0;
    double all = (double)(ticks.all - before.all) / spare->ticks_second;
    double busy = (double)(ticks.busy - before.busy) / spare->ticks_second;
    double wanted = ours.ran + ours.waited;
    double others = busy > ours.ran ? (busy - ours.ran) / all : 0, due = DUE_MOST;
    if (wanted >= WANTED_LEAST * all && ours.ran / wanted < due)
        due = ours.ran / wanted > LEAST ? ours.ran / wanted : LEAST;
    return 1 - others > due ? 1 - others : due;
}

enum lbm_err
lbm_spare_new(const char *proc, struct lbm_spare **out, struct lbm_diag *diag)
{
    struct ticks ticks;
    struct lbm_spare *spare = lbm_alloc(1, sizeof *spare);
    if (spare == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    snprintf(spare->proc, sizeof spare->proc, "%s", proc);
    spare->ticks_second = (double)sysconf(_SC_CLK_TCK);
    if (sched_getaffinity(0, sizeof spare->processors, &spare->processors) != 0 ||
        !read_ticks(spare, &ticks)) {
        free(spare);
        return lbm_diag_set(diag, LBM_E_IO, proc, 0,
                            "nothing is told of the processors, so host.measure cannot be true here: %s",
                            strerror(errno));
    }
    *out = spare;
    return LBM_OK;
}

void
lbm_spare_free(struct lbm_spare *spare)
{
    if (spare == NULL)
        return;
    lbm_vec_free(&spare->usage);
    free(spare);
}
