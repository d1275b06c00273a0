/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenarios as a program runs them: each in a process of its own, so that one that ends there and then is a
 * failure like others. */
#include "sim/scenario.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "sim/hunt.h"
#include "sim/scenario_internal.h"

enum { SECONDS_MAX = 60, SCENARIO_FAILED = 1, SCENARIO_USAGE = 2 };

/* ---- the trace ----------------------------------------------------------------------------------------- */

int
scenario_matches(const char *pattern, const char *text)
{
    char piece[400];
    const char *line = text;
    while (*line != '\0') {
        size_t len = strcspn(line, "\n");
        const char *at = line, *end = line + len, *p = pattern;
        while (at != NULL && *p != '\0') {
            size_t n = strcspn(p, "*");
            snprintf(piece, sizeof piece, "%.*s", (int)n, p);
            const char *found = n != 0 ? strstr(at, piece) : at;
            at = found != NULL && found + n <= end ? found + n : NULL;
            p += n + (p[n] == '*');
        }
        if (at != NULL)
            return 1;
        line = end + (*end == '\n');
    }
    return 0;
}

/* Nonzero if a line is one of those that come all the time. */
static int
is_routine(const char *line)
{
    static const char *const routine[] = {
        "gets lease", "gets log_", "gets ghosts", "gets stats", "gets frame", "gets where", "gets moved",
        "gets pair_", "gets map_", "gets hello",  "JOB_STATE",  "POSITION",   "gets repl"};
    for (size_t i = 0; i < sizeof routine / sizeof *routine; i++)
        if (strstr(line, routine[i]) != NULL)
            return 1;
    return 0;
}

static void
take_line(void *arg, const char *line)
{
    struct scenario *s = arg;
    if (s->traced == TRACE_ALL || (s->traced == TRACE_WHAT_MATTERS && !is_routine(line)))
        puts(line);
    lbm_buf_printf(&s->lines, "%s\n", line);
    if (s->awaited != NULL && scenario_matches(s->awaited, line)) {
        s->has_come = 1;
        s->awaited = NULL;
        cluster_interrupt(s->story.cluster);
    }
}

int
scenario_run(struct scenario *s, int64_t us, const char *pattern)
{
    s->awaited = pattern;
    s->has_come = 0;
    cluster_run(s->story.cluster, us, NULL, NULL);
    s->awaited = NULL;
    return s->has_come;
}

/* ---- one scenario -------------------------------------------------------------------------------------- */

static struct scenario *running; /* for an assertion that fails */

void
scenario_fails(struct scenario *s, const char *what, const char *fmt, ...)
{
    va_list args;
    if (!scenario_is_well(s))
        return;
    snprintf(s->result.invariant, sizeof s->result.invariant, "%s", what);
    va_start(args, fmt);
    vsnprintf(s->result.text, sizeof s->result.text, fmt, args);
    va_end(args);
}

int
scenario_is_well(const struct scenario *s)
{
    return s->result.invariant[0] == '\0';
}

static void
print_verdict(const struct scenario *s, int quiet)
{
    double seconds = s->story.cluster != NULL ? (double)cluster_now(s->story.cluster) / 1e6 : 0;
    if (!scenario_is_well(s))
        printf("%s:%" PRIu32 ": fails at %.3f s: %s %s\n", s->file, s->line, seconds, s->result.invariant,
               s->result.text);
    else if (!quiet)
        printf("%s: passed, %.3f s\n", s->file, seconds);
    fflush(NULL);
}

static void
on_assert(const char *expression, const char *file, int line)
{
    scenario_fails(running, "I0", "%s:%d: %.300s does not hold", file, line, expression);
    print_verdict(running, 0);
    _exit(SCENARIO_FAILED);
}

static void
carry_out(struct scenario *s, const struct command *command)
{
    uint32_t host = (uint32_t)command->arguments.number[0];
    enum needs needs = command->row->needs;
    s->line = command->line;
    if (s->traced != TRACE_NOTHING)
        printf("%10.3f ms  -- line %" PRIu32 ": %s\n", (double)cluster_now(s->story.cluster) / 1000,
               command->line, command->said);
    if (needs != NEEDS_NOTHING && cluster_is_up(s->story.cluster, host) != (needs == NEEDS_UP))
        scenario_fails(s, "--", "host %" PRIu32 " is %s", host, needs == NEEDS_UP ? "down" : "up");
    else
        command->row->run(s, &command->arguments);
    const char *text, *invariant = cluster_violation(s->story.cluster, &text);
    if (invariant != NULL) { /* before whatever it led to */
        s->result.invariant[0] = '\0';
        scenario_fails(s, invariant, "%s", text);
    }
}

static void
begin(struct scenario *s, const char *file, enum traced traced)
{
    *s = (struct scenario){.file = file, .traced = traced};
    s->story.result = &s->result;
    s->story.promoted = LBM_NONE;
    s->story.options.line = take_line;
    s->story.options.line_arg = s;
    s->story.cluster_options = (struct cluster_options){.seed = 1,
                                                        .delay_least_us = 100,
                                                        .delay_most_us = 300,
                                                        .sync_us = 2000,
                                                        .limited_host = LBM_NONE,
                                                        .evict_per_minute = 60,
                                                        .evict_share = 100,
                                                        .restart_us = 500000,
                                                        .judged = 1,
                                                        .line = take_line,
                                                        .line_arg = s};
}

static void
play(struct scenario *s)
{
    s->story.dead = lbm_alloc(s->story.h.n, 1);
    s->story.down = lbm_alloc(s->story.h.n, 1);
    s->story.cluster = cluster_new(&s->story.h, &s->story.cluster_options);
    cluster_trace(s->story.cluster, 1);
    for (size_t i = 0; i < s->commands.n && scenario_is_well(s); i++)
        carry_out(s, &s->commands.at[i]);
}

static void
end(struct scenario *s)
{
    if (s->story.cluster != NULL) {
        cluster_trace(s->story.cluster, 0);
        cluster_free(s->story.cluster);
    }
    lbm_hosts_free(&s->story.h);
    for (uint32_t i = 0; i < STORY_JOBS_MAX; i++)
        lbm_graph_free(&s->story.g[i]);
    for (size_t i = 0; i < s->commands.n; i++) {
        free(s->commands.at[i].said);
        free(s->commands.at[i].arguments.text);
    }
    lbm_vec_free(&s->commands);
    lbm_buf_free(&s->lines);
    free(s->story.dead);
    free(s->story.down);
}

/* Returns the exit status. */
static int
run_file(const char *file, enum traced traced, int quiet)
{
    struct scenario s;
    struct lbm_diag diag;
    begin(&s, file, traced);
    const struct arguments usual = {.text = (char[]){"lattice:3x3"}};
    enum lbm_err err = LBM_E_STATE;
    for (size_t i = 0; i < scenario_n_rows && err != LBM_OK; i++)
        if (strcmp(scenario_rows[i].form, "guest SPEC") == 0)
            err = scenario_rows[i].set(&s, &usual, &diag);
    err = scenario_read(&s, &diag);
    if (err != LBM_OK) {
        char text[LBM_DIAG_TEXT_MAX + LBM_DIAG_WHERE_MAX];
        lbm_diag_render(&diag, text, sizeof text);
        fprintf(stderr, "lbsim: %s\n", text);
        end(&s);
        return SCENARIO_USAGE;
    }
    running = &s;
    lbm_assert_hook = on_assert;
    play(&s);
    print_verdict(&s, quiet);
    int failed = !scenario_is_well(&s);
    lbm_assert_hook = NULL;
    end(&s);
    return failed ? SCENARIO_FAILED : EXIT_SUCCESS;
}

/* ---- many of them -------------------------------------------------------------------------------------- */

struct wanted {
    enum traced traced;
    int quiet, help, commands;
    const char *bug;
};

static int
run_apart(const char *file, const struct wanted *wanted)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(SECONDS_MAX);
        int result = run_file(file, wanted->traced, wanted->quiet);
        fflush(NULL);
        _exit(result);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid > 0 && WIFEXITED(status))
        return WEXITSTATUS(status);
    printf("%s: fails: I0 its process ends with signal %d\n", file, pid > 0 ? WTERMSIG(status) : 0);
    return SCENARIO_FAILED;
}

static void
print_commands(void)
{
    for (size_t i = 0; i < scenario_n_rows; i++)
        printf("%-44s %s\n", scenario_rows[i].form, scenario_rows[i].text);
}

static void
print_help(void)
{
    printf("usage: lbsim scenario [options] FILE...\n\nRuns each file: a cluster in virtual time to which "
           "happens what the file says, step by step, under\nthe checks of lbsim cluster.\n\noptions:\n"
           "  --trace        print what happens, without what happens all the time\n"
           "  --trace-all    print all of it\n"
           "  --bug NAME     plant a mistake (sim/lbsim-bugs of the source tree)\n"
           "  --commands     print what can be said in a file\n"
           "  --quiet, -q    print failures alone\n"
           "  --help, -h     print this text and exit\n\n"
           "exit status: 0 all passed, 1 one did not, 2 wrong usage, or something in a file is wrong\n");
}

static enum lbm_err
read_options(int argc, char **argv, struct wanted *out, struct lbm_diag *diag)
{
    for (int i = 0; i < argc; i++) {
        const char *option = argv[i];
        if (strcmp(option, "--trace") == 0)
            out->traced = TRACE_WHAT_MATTERS;
        else if (strcmp(option, "--trace-all") == 0)
            out->traced = TRACE_ALL;
        else if (strcmp(option, "--quiet") == 0 || strcmp(option, "-q") == 0)
            out->quiet = 1;
        else if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0)
            out->help = 1;
        else if (strcmp(option, "--commands") == 0)
            out->commands = 1;
        else if (strcmp(option, "--bug") == 0 && i + 1 == argc)
            return lbm_diag_set(diag, LBM_E_SYNTAX, option, 0, "needs NAME");
        else if (strcmp(option, "--bug") == 0)
            out->bug = argv[++i];
        else if (option[0] == '-' && option[1] != '\0')
            return lbm_diag_set(diag, LBM_E_SYNTAX, option, 0,
                                "no such option; lbsim scenario --help lists them");
    }
    return LBM_OK;
}

static enum lbm_err
plant(const char *name, struct lbm_diag *diag)
{
    if (name == NULL)
        return LBM_OK;
    if (!hunt_can_plant())
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "--bug", 0,
                            "nothing can be planted in this build; sim/lbsim-bugs of the source tree can");
    if (hunt_number(name) == HUNT_NONE)
        return lbm_diag_set(diag, LBM_E_NOTFOUND, "--bug", 0,
                            "%.60s is not known; lbsim cluster --bug list lists them", name);
    hunt_plant(hunt_number(name));
    return LBM_OK;
}

enum lbm_err
scenario_command(int argc, char **argv, int *status, struct lbm_diag *diag)
{
    struct wanted wanted = {0};
    uint32_t files = 0;
    enum lbm_err err = read_options(argc, argv, &wanted, diag);
    if (err == LBM_OK)
        err = plant(wanted.bug, diag);
    if (err != LBM_OK)
        return err;
    *status = EXIT_SUCCESS;
    if (wanted.help || wanted.commands) {
        wanted.help ? print_help() : print_commands();
        return LBM_OK;
    }
    for (int i = 0; i < argc; i++) {
        i += strcmp(argv[i], "--bug") == 0;
        if (argv[i][0] == '-' || (i > 0 && strcmp(argv[i - 1], "--bug") == 0))
            continue;
        int result = run_apart(argv[i], &wanted);
        *status = result > *status ? result : *status;
        files++;
    }
    return files != 0 ? LBM_OK
                      : lbm_diag_set(diag, LBM_E_SYNTAX, "scenario", 0,
                                     "FILE is missing: lbsim scenario FILE...; --help says more");
}
