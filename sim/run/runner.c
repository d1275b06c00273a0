/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/runner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

enum { RUN_SECONDS_MAX = 600, JOBS_MAX = 64 };

/* ---- in the process of a run ------------------------------------------------------------------------- */

static int result_fd;
static struct run_result *unfinished;

static void
write_result(const struct run_result *result)
{
    const char *at = (const char *)result;
    size_t left = sizeof *result;
    while (left != 0) {
        ssize_t n = write(result_fd, at, left);
        if (n < 0 && errno != EINTR)
            _exit(3);
        if (n > 0) {
            at += n;
            left -= (size_t)n;
        }
    }
}

/* An assertion of the node is a violation like others; the process ends here. */
static void
on_assert(const char *expression, const char *file, int line)
{
    const struct run *s = run_running();
    snprintf(unfinished->invariant, sizeof unfinished->invariant, "I0");
    snprintf(unfinished->text, sizeof unfinished->text, "%s:%d: %.300s does not hold", file, line,
             expression);
    if (s != NULL) {
        unfinished->lasted_us = cluster_now(s->cluster);
        unfinished->steps = cluster_steps(s->cluster);
    }
    write_result(unfinished);
    fflush(NULL);
    _exit(0);
}

_Noreturn static void
be_run(const struct run_options *options, int fd)
{
    struct run_result result = {0};
    result_fd = fd;
    unfinished = &result;
    lbm_assert_hook = on_assert;
    alarm(RUN_SECONDS_MAX);
    run_run(options, &result);
    write_result(&result);
    fflush(NULL);
    _exit(0);
}

/* ---- in the process that watches ----------------------------------------------------------------------- */

struct child {
    pid_t pid; /* 0: none */
    int fd;
    uint64_t seed;
};

_Noreturn static void
give_up(const char *what)
{
    fprintf(stderr, "lbsim: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void
begin_run(struct child *child, const struct run_options *options)
{
    int ends[2];
    if (pipe(ends) != 0)
        give_up("pipe");
    fflush(NULL);
    child->pid = fork();
    if (child->pid < 0)
        give_up("fork");
    if (child->pid == 0) {
        close(ends[0]);
        be_run(options, ends[1]);
    }
    close(ends[1]);
    child->fd = ends[0];
    child->seed = options->seed;
}

/* Read what the process of a run, which has ended, has left; without that, say how it ended. A result is
 * smaller than what a pipe holds, so that nobody waits for us. */
static void
end_run(struct child *child, int status, struct run_result *result)
{
    char *at = (char *)result;
    size_t have = 0;
    ssize_t n;
    while (have < sizeof *result && (n = read(child->fd, at + have, sizeof *result - have)) != 0)
        if (n > 0)
            have += (size_t)n;
        else if (errno != EINTR)
            break;
    close(child->fd);
    child->pid = 0;
    if (have == sizeof *result)
        return;
    *result = (struct run_result){.seed = child->seed, .invariant = "I0"};
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(result->text, sizeof result->text, "the run takes more than %d s", RUN_SECONDS_MAX);
    else if (WIFSIGNALED(status))
        snprintf(result->text, sizeof result->text, "the node ends with signal %d", WTERMSIG(status));
    else
        snprintf(result->text, sizeof result->text, "the node exits with status %d", WEXITSTATUS(status));
}

static int
is_late(const struct runner *runner, time_t began)
{
    return runner->time_limit_s != 0 && time(NULL) - began >= (time_t)runner->time_limit_s;
}

uint64_t
run_seeds(const struct runner *runner)
{
    struct child child[JOBS_MAX] = {{0}};
    uint32_t busy = 0, jobs = runner->jobs < JOBS_MAX ? runner->jobs : JOBS_MAX;
    uint64_t next = 0, done = 0;
    int stop = 0;
    time_t began = time(NULL);
    while (busy != 0 || (!stop && next < runner->seeds && !is_late(runner, began))) {
        if (busy < jobs && !stop && next < runner->seeds && !is_late(runner, began)) {
            uint32_t free_place = 0;
            while (child[free_place].pid != 0)
                free_place++;
            struct run_options options = runner->options;
            options.seed = runner->list != NULL ? runner->list[next] : runner->first + next;
            next++;
            begin_run(&child[free_place], &options);
            busy++;
            continue;
        }
        int status;
        pid_t pid = waitpid(-1, &status, 0);
        if (pid < 0 && errno != EINTR)
            give_up("waitpid");
        for (uint32_t i = 0; i < jobs; i++) {
            struct run_result result;
            if (pid <= 0 || child[i].pid != pid)
                continue;
            end_run(&child[i], status, &result);
            result.seed = child[i].seed;
            busy--;
            done++;
            stop |= runner->result(runner->arg, &result);
        }
    }
    return done;
}

static int
keep_result(void *arg, const struct run_result *result)
{
    *(struct run_result *)arg = *result;
    return 1;
}

void
run_seed(const struct run_options *options, struct run_result *result)
{
    struct runner runner = {.options = *options,
                            .first = options->seed,
                            .seeds = 1,
                            .jobs = 1,
                            .result = keep_result,
                            .arg = result};
    (void)run_seeds(&runner);
}
