/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lbctl says on standard error, and the exit status that goes with it. */
#include <stdarg.h>
#include <stdio.h>

#include "client/command.h"

static void
print_prefix(const struct lbm_client *client)
{
    fprintf(stderr, "lbctl%s%s: ", client->command != NULL ? " " : "",
            client->command != NULL ? client->command->name : "");
}

static void
print_diag(const struct lbm_client *client, const struct lbm_diag *diag)
{
    char text[LBM_DIAG_WHERE_MAX + LBM_DIAG_TEXT_MAX + 32];
    lbm_diag_render(diag, text, sizeof text);
    print_prefix(client);
    fprintf(stderr, "%s\n", text);
}

enum lbm_status
lbm_client_refuse(const struct lbm_client *client, const struct lbm_diag *diag)
{
    print_diag(client, diag);
    return diag->code == LBM_E_NOMEM ? LBM_STATUS_FAILED : LBM_STATUS_USAGE;
}

enum lbm_status
lbm_client_fail(const struct lbm_client *client, const struct lbm_diag *diag)
{
    print_diag(client, diag);
    return LBM_STATUS_FAILED;
}

void
lbm_client_remark(const struct lbm_client *client, const char *fmt, ...)
{
    if (client->global[LBM_GLOBAL_QUIET].given)
        return;
    va_list args;
    va_start(args, fmt);
    print_prefix(client);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
}
