/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a program says on standard error, and the exit status that goes with it. */
#include <stdarg.h>
#include <stdio.h>

#include "cli/command.h"

static void
print_prefix(const struct lbm_cli *cli)
{
    fprintf(stderr, "%s%s%s: ", cli->program->name, cli->command != NULL ? " " : "",
            cli->command != NULL ? cli->command->name : "");
}

static void
print_diag(const struct lbm_cli *cli, const struct lbm_diag *diag)
{
    char text[LBM_DIAG_WHERE_MAX + LBM_DIAG_TEXT_MAX + 32];
    lbm_diag_render(diag, text, sizeof text);
    print_prefix(cli);
    fprintf(stderr, "%s\n", text);
}

enum lbm_status
lbm_cli_refuse(const struct lbm_cli *cli, const struct lbm_diag *diag)
{
    print_diag(cli, diag);
    return diag->code == LBM_E_NOMEM ? LBM_STATUS_FAILED : LBM_STATUS_USAGE;
}

enum lbm_status
lbm_cli_fail(const struct lbm_cli *cli, const struct lbm_diag *diag)
{
    print_diag(cli, diag);
    return LBM_STATUS_FAILED;
}

int
lbm_cli_is_quiet(const struct lbm_cli *cli)
{
    return cli->shared[LBM_SHARED_QUIET].given;
}

void
lbm_cli_remark(const struct lbm_cli *cli, const char *fmt, ...)
{
    if (lbm_cli_is_quiet(cli))
        return;
    va_list args;
    va_start(args, fmt);
    print_prefix(cli);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
}
