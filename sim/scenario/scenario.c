/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenarios as a program runs them: each in a process of its own, so that one that ends there and then is a
 * failure like others. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "sim/command.h"
#include "sim/run/mutation.h"
#include "sim/scenario/scenario_internal.h"

enum { SECONDS_MAX = 60 };

enum { SCENARIO_TRACE, SCENARIO_TRACE_ALL, SCENARIO_BUG, SCENARIO_COMMANDS, SCENARIO_OPTIONS };

static const struct lbm_option options[] = {
    [SCENARIO_TRACE] = {.name = "trace", .text = "print what happens, without what happens all the time"},
    [SCENARIO_TRACE_ALL] = {.name = "trace-all", .text = "print all of it"},
    [SCENARIO_BUG] = LBM_TEXT_OPTION("bug", "NAME", "plant a mistake (sim/lbsim-bugs of the source tree)"),
    [SCENARIO_COMMANDS] = {.name = "commands", .text = "print what can be said in a file"},
};

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
        cluster_interrupt(s->run.cluster);
    }
}

int
scenario_run(struct scenario *s, int64_t us, const char *pattern)
{
    s->awaited = pattern;
    s->has_come = 0;
    cluster_run(s->run.cluster, us, NULL, NULL);
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
    double seconds = s->run.cluster != NULL ? (double)cluster_now(s->run.cluster) / 1e6 : 0;
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
    _exit(LBM_STATUS_FAILED);
}

static void
carry_out(struct scenario *s, const struct command *command)
{
    uint32_t host = (uint32_t)command->arguments.number[0];
    enum needs needs = command->row->needs;
    s->line = command->line;
    if (s->traced != TRACE_NOTHING)
        printf("%10.3f ms  -- line %" PRIu32 ": %s\n", (double)cluster_now(s->run.cluster) / 1000,
               command->line, command->said);
    if (needs != NEEDS_NOTHING && cluster_is_up(s->run.cluster, host) != (needs == NEEDS_UP))
        scenario_fails(s, "--", "host %" PRIu32 " is %s", host, needs == NEEDS_UP ? "down" : "up");
    else
        command->row->run(s, &command->arguments);
    const char *text, *invariant = cluster_violation(s->run.cluster, &text);
    if (invariant != NULL) { /* before whatever it led to */
        s->result.invariant[0] = '\0';
        scenario_fails(s, invariant, "%s", text);
    }
}

static void
begin(struct scenario *s, const char *file, enum traced traced)
{
    *s = (struct scenario){.file = file, .traced = traced};
    s->run.result = &s->result;
    s->run.promoted = LBM_NONE;
    s->run.options.line = take_line;
    s->run.options.line_arg = s;
    s->run.cluster_options = (struct cluster_options){.seed = 1,
                                                      .delay_least_us = 100,
                                                      .delay_most_us = 300,
                                                      .sync_us = 2000,
                                                      .limited_host = LBM_NONE,
                                                      .evict_share = 100,
                                                      .restart_us = 500000,
                                                      .judged = 1,
                                                      .line = take_line,
                                                      .line_arg = s};
}

static void
play(struct scenario *s)
{
    s->run.dead = lbm_alloc(s->run.h.n, 1);
    s->run.down = lbm_alloc(s->run.h.n, 1);
    s->run.emptied = lbm_alloc(s->run.h.n, 1);
    s->run.lost = lbm_alloc(s->run.h.n, sizeof *s->run.lost);
    s->run.cluster = cluster_new(&s->run.h, &s->run.cluster_options);
    cluster_trace(s->run.cluster, 1);
    for (size_t i = 0; i < s->commands.n && scenario_is_well(s); i++)
        carry_out(s, &s->commands.at[i]);
}

static void
end(struct scenario *s)
{
    if (s->run.cluster != NULL) {
        cluster_trace(s->run.cluster, 0);
        cluster_free(s->run.cluster);
    }
    lbm_hosts_free(&s->run.h);
    for (uint32_t i = 0; i < RUN_JOBS_MAX; i++)
        lbm_graph_free(&s->run.g[i]);
    for (size_t i = 0; i < s->commands.n; i++) {
        free(s->commands.at[i].said);
        free(s->commands.at[i].arguments.text);
    }
    lbm_vec_free(&s->commands);
    lbm_buf_free(&s->lines);
    free(s->run.dead);
    free(s->run.down);
    free(s->run.emptied);
    free(s->run.lost);
}

static enum lbm_status
run_file(const struct lbm_cli *cli, const char *file)
{
    struct scenario s;
    struct lbm_diag diag;
    begin(&s, file,
          cli->value[SCENARIO_TRACE_ALL].given ? TRACE_ALL
          : cli->value[SCENARIO_TRACE].given   ? TRACE_WHAT_MATTERS
                                               : TRACE_NOTHING);
    const struct arguments usual = {.text = (char[]){"lattice:3x3"}};
    enum lbm_err err = LBM_E_STATE;
    for (size_t i = 0; i < scenario_n_rows && err != LBM_OK; i++)
        if (strcmp(scenario_rows[i].form, "guest SPEC") == 0)
            err = scenario_rows[i].set(&s, &usual, &diag);
    err = scenario_read(&s, &diag);
    if (err != LBM_OK) {
        end(&s);
        return lbm_cli_refuse(cli, &diag);
    }
    running = &s;
    lbm_assert_hook = on_assert;
    play(&s);
    print_verdict(&s, lbm_cli_is_quiet(cli));
    int failed = !scenario_is_well(&s);
    lbm_assert_hook = NULL;
    end(&s);
    return failed ? LBM_STATUS_FAILED : LBM_STATUS_DONE;
}

/* ---- many of them -------------------------------------------------------------------------------------- */

static enum lbm_status
run_apart(const struct lbm_cli *cli, const char *file)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(SECONDS_MAX);
        enum lbm_status result = run_file(cli, file);
        fflush(NULL);
        _exit((int)result);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid > 0 && WIFEXITED(status))
        return (enum lbm_status)WEXITSTATUS(status);
    printf("%s: fails: I0 its process ends with signal %d\n", file, pid > 0 ? WTERMSIG(status) : 0);
    return LBM_STATUS_FAILED;
}

static void
print_what_can_be_said(void)
{
    for (size_t i = 0; i < scenario_n_rows; i++)
        printf("%-44s %s\n", scenario_rows[i].form, scenario_rows[i].text);
}

static enum lbm_err
plant(const char *name, struct lbm_diag *diag)
{
    int bug;
    enum lbm_err err = mutation_read(name, &bug, diag);
    if (err == LBM_OK && bug == MUTATION_NONE)
        err = lbm_diag_set(diag, LBM_E_SYNTAX, "--bug", 0,
                           "one at a time; lbsim cluster --bug list lists them");
    if (err == LBM_OK)
        mutation_plant(bug);
    return err;
}

static enum lbm_status
run_scenarios(const struct lbm_cli *cli)
{
    struct lbm_diag diag;
    enum lbm_status worst = LBM_STATUS_DONE;
    if (cli->value[SCENARIO_COMMANDS].given) {
        print_what_can_be_said();
        return LBM_STATUS_DONE;
    }
    if (cli->value[SCENARIO_BUG].given && plant(cli->value[SCENARIO_BUG].text, &diag) != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    if (cli->n_operands == 0) {
        (void)lbm_diag_set(&diag, LBM_E_SYNTAX, "", 0, "FILE is missing (a scenario); see --help");
        return lbm_cli_refuse(cli, &diag);
    }
    for (size_t i = 0; i < cli->n_operands; i++) {
        enum lbm_status status = run_apart(cli, cli->operand[i]);
        worst = status > worst ? status : worst;
    }
    return worst;
}

static const struct lbm_operand operands[] = {
    {.name = "FILE", .optional = 1, .text = "a scenario", .most = SIZE_MAX},
};

const struct lbm_command command_scenario = {
    .name = "scenario",
    .text = "one run, told step by step in a file",
    .help = "Runs each file: a cluster in virtual time to which happens what the file says, step by step, "
            "under the checks of lbsim cluster.",
    .options = options,
    .n_options = SCENARIO_OPTIONS,
    .operands = operands,
    .n_operands = sizeof operands / sizeof *operands,
    .statuses = "0 all passed, 1 one did not, 2 wrong usage, or something in a file is wrong",
    .run = run_scenarios,
};
