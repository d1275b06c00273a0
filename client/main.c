/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl: global options, then the command of that name. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/check.h"
#include "client/command.h"

const struct lbm_command *const lbm_commands[] = {
    &lbm_command_plan,
    &lbm_command_eval,
    &lbm_command_gen,
    &lbm_command_convert,
    &lbm_command_cluster,
    &lbm_command_status,
    &lbm_command_hosts,
    &lbm_command_jobs,
    &lbm_command_submit,
    &lbm_command_wait,
    &lbm_command_map,
    &lbm_command_locate,
    &lbm_command_plot,
    &lbm_command_cancel,
    &lbm_command_events,
    &lbm_command_explain,
    &lbm_command_join,
    &lbm_command_drain,
    &lbm_command_leave,
    &lbm_command_evict,
    &lbm_command_set,
    &lbm_command_log,
    &lbm_command_trace,
    NULL,
};

static const struct lbm_option global_options[] = {
    [LBM_GLOBAL_SOCKET] = {.name = "socket",
                           .letter = 's',
                           .type = LBM_OPTION_TEXT,
                           .value = "SOCKET",
                           .fallback = LBM_RUNSTATEDIR "/lbmap/lbmapd.sock",
                           .text = "control socket of the daemon; commands that need no daemon ignore it"},
    [LBM_GLOBAL_JSON] = {.name = "json", .text = "print the result as JSON"},
    [LBM_GLOBAL_QUIET] = {.name = "quiet", .letter = 'q', .text = "no progress, no remarks, no report"},
    [LBM_GLOBAL_HELP] = {.name = "help", .letter = 'h', .text = "print this text and exit"},
    [LBM_GLOBAL_VERSION] = {.name = "version", .letter = 'V', .text = "print the version and exit"},
};

static void
assertion_failed(const char *expression, const char *file, int line)
{
    fprintf(stderr, "lbctl: %s:%d: this must not happen: %s; please report it\n", file, line, expression);
}

/* ---- help --------------------------------------------------------------------------------------- */

static void
print_help(void)
{
    printf("usage: lbctl [options] COMMAND ...\n\n");
    lbm_help_paragraph(stdout,
                       "Maps guest graphs (tasks and their traffic) onto host graphs (machines and "
                       "their links). `lbctl COMMAND --help` says more about a command; its name may be "
                       "shortened while it is unique.");
    printf("\ncommands:\n");
    for (size_t i = 0; lbm_commands[i] != NULL; i++)
        lbm_help_row(stdout, 2, lbm_commands[i]->name, lbm_commands[i]->text);
    printf("\noptions everywhere:\n");
    lbm_options_help(stdout, global_options, LBM_GLOBAL_OPTIONS);
    printf("\nexit status: 0 done, 1 refused or failed, 2 wrong usage or input, 3 daemon unreachable, "
           "4 timed out\n");
}

static void
print_usage(const struct lbm_command *c)
{
    printf("usage: lbctl %s", c->name);
    /* The last rows may have one name: an operand that may be repeated. */
    for (size_t i = 0; i < c->n_operands; i++)
        if (i == 0 || strcmp(c->operands[i].name, c->operands[i - 1].name) != 0)
            printf(c->operands[i].optional ? " [%s]" : " %s", c->operands[i].name);
        else if (i + 1 == c->n_operands)
            printf(" ...");
    for (size_t i = 0; i < c->n_options; i++)
        if (c->options[i].required)
            printf(" --%s %s", c->options[i].name, c->options[i].value);
    printf(" [options]\n\n");
}

static void
print_command_help(const struct lbm_command *c)
{
    print_usage(c);
    lbm_help_paragraph(stdout, c->help);
    if (c->n_operands > 0)
        printf("\noperands:\n");
    lbm_operands_help(stdout, c->operands, c->n_operands);
    if (c->n_options > 0)
        printf("\noptions:\n");
    lbm_options_help(stdout, c->options, c->n_options);
    printf("\noptions everywhere:\n");
    lbm_options_help(stdout, global_options, LBM_GLOBAL_OPTIONS);
}

/* ---- dispatch ----------------------------------------------------------------------------------- */

/* The command of that name, or of which it is the beginning of one only.
 * Errors: LBM_E_NOTFOUND, LBM_E_SYNTAX (ambiguous). */
static enum lbm_err
find_command(const char *name, const struct lbm_command **out, struct lbm_diag *diag)
{
    char matches[LBM_DIAG_TEXT_MAX / 2] = "";
    size_t len = 0, n = 0;
    for (size_t i = 0; lbm_commands[i] != NULL; i++) {
        const struct lbm_command *c = lbm_commands[i];
        if (strncmp(c->name, name, strlen(name)) != 0)
            continue;
        *out = c;
        if (strcmp(c->name, name) == 0)
            return LBM_OK;
        len += (size_t)snprintf(matches + len, sizeof matches - len, "%s%s", n == 0 ? "" : ", ", c->name);
        LBM_ASSERT(len < sizeof matches);
        n++;
    }
    if (n == 0 || *name == '\0')
        return lbm_diag_set(diag, LBM_E_NOTFOUND, name, 0, "there is no such command; see lbctl --help");
    if (n > 1)
        return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0, "may be %s; write more of the name", matches);
    return LBM_OK;
}

/* Nonzero if the options everywhere ask for a text; it is printed. */
static int
print_asked(const struct lbm_client *client)
{
    if (client->global[LBM_GLOBAL_VERSION].given) {
        printf("lbctl %s\n", PACKAGE_VERSION);
        return 1;
    }
    if (!client->global[LBM_GLOBAL_HELP].given)
        return 0;
    if (client->command != NULL)
        print_command_help(client->command);
    else
        print_help();
    return 1;
}

static enum lbm_status
run_command(struct lbm_client *client, const struct lbm_option_set *global, int argc, char **argv)
{
    const struct lbm_command *c = client->command;
    LBM_ASSERT(c->n_options <= LBM_COMMAND_OPTIONS_MAX && c->n_operands <= LBM_OPERANDS_MAX);
    struct lbm_option_set own = {c->options, c->n_options, client->value};
    struct lbm_option_set sets[] = {own, *global};
    struct lbm_operands operands = {client->operand, 0, c->n_operands};
    struct lbm_diag diag;
    int used;
    lbm_options_reset(&own);
    if (lbm_options_parse(sets, 2, argc, argv, &operands, &used, &diag) != LBM_OK)
        return lbm_client_refuse(client, &diag);
    if (print_asked(client))
        return LBM_STATUS_DONE;
    if (lbm_options_complete(&own, c->operands, c->n_operands, &operands, &diag) != LBM_OK)
        return lbm_client_refuse(client, &diag);
    client->n_operands = operands.n;
    return c->run(client);
}

static enum lbm_status
run(struct lbm_client *client, int argc, char **argv)
{
    struct lbm_option_set global = {global_options, LBM_GLOBAL_OPTIONS, client->global};
    struct lbm_operands none = {0};
    struct lbm_diag diag;
    int used;
    lbm_options_reset(&global);
    if (lbm_options_parse(&global, 1, argc - 1, argv + 1, &none, &used, &diag) != LBM_OK)
        return lbm_client_refuse(client, &diag);
    if (print_asked(client))
        return LBM_STATUS_DONE;
    if (used == argc - 1) {
        (void)lbm_diag_set(&diag, LBM_E_SYNTAX, "", 0, "a command is missing; see lbctl --help");
        return lbm_client_refuse(client, &diag);
    }
    if (find_command(argv[1 + used], &client->command, &diag) != LBM_OK)
        return lbm_client_refuse(client, &diag);
    return run_command(client, &global, argc - used - 2, argv + used + 2);
}

/* The GNU allocator maps an array apart only from a size that grows with what is freed, so that after a long
 * text was read all others share a heap with holes in it: a plan for a million vertices takes a sixth less
 * with a size that stays. */
static void
keep_arrays_apart(void)
{
#ifdef __GLIBC__
    enum { ARRAY_BYTES = 1 << 20 };
    (void)mallopt(M_MMAP_THRESHOLD, ARRAY_BYTES); /* it takes any size up to 32 MiB */
#endif
}

int
main(int argc, char **argv)
{
    struct lbm_client client = {0};
    lbm_assert_hook = assertion_failed;
    keep_arrays_apart();
    if (argc < 1)
        return LBM_STATUS_USAGE;
    enum lbm_status status = run(&client, argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        struct lbm_diag diag;
        (void)lbm_diag_set(&diag, LBM_E_IO, "standard output", 0, "%s", strerror(errno));
        enum lbm_status failed = lbm_client_fail(&client, &diag);
        return status != LBM_STATUS_DONE ? (int)status : (int)failed;
    }
    return (int)status;
}
