/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl approve: a person lets machines in that have no token. */
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "client/setup.h"
#include "client/table.h"

enum { APPROVE_DIR, APPROVE_DENY, APPROVE_OPTIONS };

static const struct lbm_option approve_options[APPROVE_OPTIONS] = {
    [APPROVE_DIR] =
        LBM_TEXT_OPTION("dir", "DIR", "the folder that lbctl init was given, if it was", .letter = 'd'),
    [APPROVE_DENY] = LBM_FLAG_OPTION("deny", "say no"),
};

static const struct lbm_operand approve_operands[] = {
    {.name = "FINGERPRINT",
     .optional = 1,
     .text = "the machine to be let in: what its lbctl enroll says, or eight digits of it and more; all that "
             "wait are "
             "listed if absent",
     .longest = LBM_APPROVAL_DIGITS},
};

static const struct lbm_column approve_columns[] = {
    {"fingerprint", "fingerprint of its key", LBM_COLUMN_TEXT, 0},
    {"name", "name", LBM_COLUMN_TEXT, 0},
    {"from", "address", LBM_COLUMN_TEXT, 0},
    {"state", "state", LBM_COLUMN_TEXT, 0},
    {"seconds", "forgotten in s", LBM_COLUMN_COUNT, 0},
};

static enum lbm_status
list(const struct lbm_cli *client, const char *identity)
{
    struct lbm_approvals *rows = lbm_alloc(1, sizeof *rows);
    struct lbm_diag diag;
    int64_t now_s = time(NULL);
    lbm_diag_set(&diag, LBM_E_NOMEM, identity, 0, "out of memory");
    if (rows == NULL || lbm_approvals_read(identity, now_s, rows, &diag) != LBM_OK) {
        free(rows);
        return lbm_cli_fail(client, &diag);
    }
    json_t *all = json_array();
    for (size_t i = 0; i < rows->n; i++)
        json_array_append_new(all,
                              json_pack("{s:s, s:s, s:s, s:s, s:I}", "fingerprint", rows->row[i].fingerprint,
                                        "name", rows->row[i].name, "from", rows->row[i].from, "state",
                                        lbm_approval_name(rows->row[i].state), "seconds",
                                        (json_int_t)(rows->row[i].until_s - now_s)));
    enum lbm_err err =
        lbm_table_print(stdout, approve_columns, sizeof approve_columns / sizeof *approve_columns, all,
                        client->global[LBM_GLOBAL_JSON].given);
    json_decref(all);
    free(rows);
    return err == LBM_OK ? LBM_STATUS_DONE : LBM_STATUS_FAILED;
}

static enum lbm_status
run_approve(const struct lbm_cli *client)
{
    char identity[PATH_MAX];
    struct lbm_approval row;
    struct lbm_diag diag;
    int approves = !client->value[APPROVE_DENY].given;
    lbm_setup_identity(&client->value[APPROVE_DIR], identity);
    if (client->n_operands == 0 && approves)
        return list(client, identity);
    if (client->n_operands == 0) {
        lbm_diag_set(&diag, LBM_E_SYNTAX, "FINGERPRINT", 0, "whom? lbctl approve lists who waits");
        return lbm_cli_refuse(client, &diag);
    }
    enum lbm_err err = lbm_approvals_decide(identity, client->operand[0], approves, time(NULL), &row, &diag);
    if (err != LBM_OK)
        return err == LBM_E_RANGE ? lbm_cli_refuse(client, &diag) : lbm_cli_fail(client, &diag);
    lbm_cli_remark(client, "%s at %s is %s", row.name, row.from, lbm_approval_name(row.state));
    return LBM_STATUS_DONE;
}

const struct lbm_command lbm_command_approve = {
    .name = "approve",
    .text = "list machines that wait to be let in, and say yes or no",
    .help = "For lbctl enroll --wait-approval, on the host that the machine asks, which has to have the key "
            "of the "
            "cluster's authority. Compare the fingerprint with what the machine itself says: name and "
            "address are "
            "only what it claims. Only who may read the folder of this host's identity may use this command.",
    .options = approve_options,
    .n_options = APPROVE_OPTIONS,
    .operands = approve_operands,
    .n_operands = 1,
    .run = run_approve,
};
