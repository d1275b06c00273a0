/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line of a program: options of all commands, then the command of that name. */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "cli/command.h"

const struct lbm_option lbm_shared_options[LBM_SHARED_OPTIONS] = {
    [LBM_SHARED_QUIET] = {.name = "quiet", .letter = 'q', .text = "no progress, no remarks, no report"},
    [LBM_SHARED_HELP] = {.name = "help", .letter = 'h', .text = "print this text and exit"},
    [LBM_SHARED_VERSION] = {.name = "version", .letter = 'V', .text = "print the version and exit"},
};

/* Tables of a command line: of the command, of the program, shared. */
enum { SET_OWN, SET_GLOBAL, SET_SHARED, SETS };

/* The command of that name, or of which it is the beginning of one only.
 * Errors: LBM_E_NOTFOUND, LBM_E_SYNTAX (ambiguous). */
static enum lbm_err
find_command(const struct lbm_program *program, const char *name, const struct lbm_command **out,
             struct lbm_diag *diag)
{
    char matches[LBM_DIAG_TEXT_MAX / 2] = "";
    size_t len = 0, n = 0;
    for (size_t i = 0; *name != '\0' && program->commands[i] != NULL; i++) {
        const struct lbm_command *c = program->commands[i];
        if (strncmp(c->name, name, strlen(name)) != 0)
            continue;
        *out = c;
        if (strcmp(c->name, name) == 0)
            return LBM_OK;
        len += (size_t)snprintf(matches + len, sizeof matches - len, "%s%s", n == 0 ? "" : ", ", c->name);
        LBM_ASSERT(len < sizeof matches);
        n++;
    }
    if (n == 1)
        return LBM_OK;
    *out = NULL;
    if (n == 0)
        return lbm_diag_set(diag, LBM_E_NOTFOUND, name, 0, "there is no such command; see %s --help",
                            program->name);
    return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0, "may be %s; write more of the name", matches);
}

/* Nonzero if the options everywhere ask for a text; it is printed. */
static int
print_asked(const struct lbm_cli *cli)
{
    if (cli->shared[LBM_SHARED_VERSION].given) {
        printf("%s %s\n", cli->program->name, PACKAGE_VERSION);
        return 1;
    }
    if (!cli->shared[LBM_SHARED_HELP].given)
        return 0;
    if (cli->command != NULL)
        lbm_command_help(stdout, cli->program, cli->command);
    else
        lbm_program_help(stdout, cli->program);
    return 1;
}

/* That many operands a command takes at most. */
static size_t
operands_most(const struct lbm_command *c)
{
    size_t most = c->n_operands;
    if (most > 0 && c->operands[most - 1].most > 1)
        most += c->operands[most - 1].most - 1;
    return most;
}

/* sets: those of the program and shared, already read up to the command. */
static enum lbm_status
run_command(struct lbm_cli *cli, struct lbm_option_set *sets, int argc, char **argv)
{
    const struct lbm_command *c = cli->command;
    struct lbm_operands operands = {cli->operand, 0, operands_most(c)};
    struct lbm_diag diag;
    int used;
    LBM_ASSERT(c->n_options <= LBM_COMMAND_OPTIONS_MAX);
    sets[SET_OWN] = (struct lbm_option_set){c->options, c->n_options, cli->value};
    lbm_options_reset(&sets[SET_OWN]);
    enum lbm_err err = lbm_options_parse(sets, SETS, argc, argv, &operands, &used, &diag);
    if (err == LBM_OK && used < argc) /* there was no room for any operand */
        err = lbm_diag_set(&diag, LBM_E_SYNTAX, argv[used], 0, "no operand is wanted; see --help");
    if (err == LBM_OK && print_asked(cli))
        return LBM_STATUS_DONE;
    if (err == LBM_OK)
        err = lbm_options_complete(&sets[SET_OWN], c->operands, c->n_operands, &operands, &diag);
    if (err != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    for (size_t i = 0; i < c->n_options; i++)
        if (cli->value[i].renamed != NULL)
            lbm_cli_remark(cli, "--%s %s is --%s %s now; the earlier spelling goes with the next version",
                           c->options[i].name, cli->value[i].text, c->options[i].name, cli->value[i].renamed);
    cli->n_operands = operands.n;
    return c->run(cli);
}

static enum lbm_status
run(struct lbm_cli *cli, int argc, char **argv)
{
    const struct lbm_program *program = cli->program;
    struct lbm_option_set sets[SETS] = {
        [SET_GLOBAL] = {program->options, program->n_options, cli->global},
        [SET_SHARED] = {lbm_shared_options, LBM_SHARED_OPTIONS, cli->shared},
    };
    struct lbm_operands none = {0};
    struct lbm_diag diag;
    int used;
    LBM_ASSERT(program->n_options <= LBM_PROGRAM_OPTIONS_MAX);
    lbm_options_reset(&sets[SET_GLOBAL]);
    lbm_options_reset(&sets[SET_SHARED]);
    if (lbm_options_parse(sets, SETS, argc - 1, argv + 1, &none, &used, &diag) != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    if (print_asked(cli))
        return LBM_STATUS_DONE;
    if (used == argc - 1) {
        (void)lbm_diag_set(&diag, LBM_E_SYNTAX, "", 0, "a command is missing; see %s --help", program->name);
        return lbm_cli_refuse(cli, &diag);
    }
    if (find_command(program, argv[1 + used], &cli->command, &diag) != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    return run_command(cli, sets, argc - used - 2, argv + used + 2);
}

int
lbm_program_run(const struct lbm_program *program, int argc, char **argv)
{
    struct lbm_cli cli = {.program = program};
    struct lbm_diag diag;
    if (argc < 1)
        return LBM_STATUS_USAGE;
    cli.operand = lbm_alloc((size_t)argc, sizeof *cli.operand);
    if (cli.operand == NULL) {
        (void)lbm_diag_set(&diag, LBM_E_NOMEM, "", 0, "no memory for the command line");
        return (int)lbm_cli_fail(&cli, &diag);
    }
    enum lbm_status status = run(&cli, argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        (void)lbm_diag_set(&diag, LBM_E_IO, "standard output", 0, "%s", strerror(errno));
        enum lbm_status failed = lbm_cli_fail(&cli, &diag);
        status = status != LBM_STATUS_DONE ? status : failed;
    }
    free(cli.operand);
    return (int)status;
}
