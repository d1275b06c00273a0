/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl convert: a guest graph from one format to another. */
#include <stdio.h>
#include <string.h>

#include "client/guest.h"
#include "file/file.h"
#include "graph/write.h"
#include "wire/wire.h"

enum {
    CONVERT_GUEST,
    CONVERT_TO = CONVERT_GUEST + LBM_GUEST_OPTIONS,
    CONVERT_LOSSY,
    CONVERT_PARTS,
    CONVERT_OPTIONS
};

static const struct lbm_option options[] = {
    LBM_GUEST_OPTION_ROWS(CONVERT_GUEST),
    [CONVERT_TO] =
        LBM_CHOICE_OPTION("to", "FORMAT", lbm_graph_formats,
                          "format of OUT, of the same list [by the suffix; metis to standard output]"),
    [CONVERT_LOSSY] = LBM_FLAG_OPTION("lossy", "leave out what the format of OUT cannot hold, with a remark"),
    [CONVERT_PARTS] = LBM_INTEGER_OPTION(
        "parts", "N", 1, LBM_PARTS_MAX,
        "write N files OUT.0, OUT.1, ..., each with some of the vertices, for lbctl submit "
        "--parallel"),
};

enum { CONVERT_IN, CONVERT_OUT };

static const struct lbm_operand operands[] = {
    [CONVERT_IN] = {.name = "IN", .text = "guest graph, also compressed; \"-\" is standard input"},
    [CONVERT_OUT] =
        {.name = "OUT",
         .text = "where it goes, \"-\" for standard output; compressed if it ends in .gz, .bz2, .xz, .zst"},
};

/* As many vertices to each as to the others, in their order. */
static enum lbm_err
write_parts(const char *out, uint32_t parts, const struct lbm_graph *g, struct lbm_diag *diag)
{
    for (uint32_t i = 0; i < parts; i++) {
        char path[4096];
        struct lbm_buf text = {0};
        struct lbm_graph_part part = {
            .number = i, .parts = parts, .first = (uint32_t)((uint64_t)g->n * i / parts)};
        part.rows = (uint32_t)((uint64_t)g->n * (i + 1) / parts) - part.first;
        if (snprintf(path, sizeof path, "%s.%u", out, i) >= (int)sizeof path)
            return lbm_diag_set(diag, LBM_E_RANGE, out, 0, "the path is too long");
        enum lbm_err err = lbm_graph_write_part(g, &part, &text);
        if (err != LBM_OK)
            err = lbm_diag_set(diag, err, path, 0, "no memory for the text of %u vertices", part.rows);
        else
            err = lbm_file_write(path, text.at, text.len, diag);
        lbm_buf_free(&text);
        if (err != LBM_OK)
            return err;
    }
    return LBM_OK;
}

/* The format of OUT; parts are METIS files. */
static enum lbm_err
choose_format(const struct lbm_cli *client, enum lbm_graph_format *to, struct lbm_diag *diag)
{
    const char *out = client->operand[CONVERT_OUT];
    const struct lbm_option_value *given = &client->value[CONVERT_TO];
    if (!client->value[CONVERT_PARTS].given)
        return lbm_graph_file_format(out, given, "--to", to, diag);
    *to = LBM_FORMAT_METIS;
    if (strcmp(out, "-") == 0 || (given->given && given->integer != LBM_FORMAT_METIS))
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--parts", 0,
                            "parts are METIS files, named OUT.0, OUT.1, ...");
    return LBM_OK;
}

/* What can be said before anything is written. */
static enum lbm_err
check_output(const struct lbm_cli *client, enum lbm_graph_format to, const struct lbm_graph *g,
             struct lbm_diag *diag)
{
    if (client->value[CONVERT_PARTS].integer > g->n)
        return lbm_diag_set(diag, LBM_E_RANGE, "--parts", 0, "each part needs a vertex, there are %u", g->n);
    return lbm_graph_file_holds(client->operand[CONVERT_OUT], to, g, client->value[CONVERT_LOSSY].given,
                                diag);
}

static enum lbm_status
run_convert(const struct lbm_cli *client)
{
    struct lbm_graph g = {0};
    struct lbm_buf remarks = {0};
    struct lbm_diag diag;
    const char *out = client->operand[CONVERT_OUT];
    enum lbm_graph_format to = LBM_FORMAT_METIS;
    enum lbm_err err = choose_format(client, &to, &diag);
    if (err == LBM_OK)
        err = lbm_guest_read(client, CONVERT_GUEST, client->operand[CONVERT_IN], &remarks, &g, &diag);
    if (err == LBM_OK)
        err = check_output(client, to, &g, &diag);
    enum lbm_status status = err == LBM_OK ? LBM_STATUS_DONE : lbm_cli_refuse(client, &diag);
    if (err == LBM_OK && client->value[CONVERT_PARTS].given)
        err = write_parts(out, (uint32_t)client->value[CONVERT_PARTS].integer, &g, &diag);
    else if (err == LBM_OK)
        err = lbm_graph_file_write(out, to, &g, &diag);
    if (err != LBM_OK && status == LBM_STATUS_DONE)
        status = lbm_cli_fail(client, &diag);
    if (err == LBM_OK) {
        lbm_guest_remark(client, client->operand[CONVERT_IN], &remarks);
        lbm_graph_file_remark(client, out, to, &g);
    }
    lbm_buf_free(&remarks);
    lbm_graph_free(&g);
    return status;
}

const struct lbm_command lbm_command_convert = {
    .name = "convert",
    .text = "translate a guest graph from one format to another",
    .help = "Reads a guest graph, checks it, and writes it in another format, or in parts.",
    .options = options,
    .n_options = CONVERT_OPTIONS,
    .operands = operands,
    .n_operands = sizeof operands / sizeof operands[0],
    .run = run_convert,
};
