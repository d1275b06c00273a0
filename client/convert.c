/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl convert: a guest graph from one format to another. */
#include <stdio.h>
#include <string.h>

#include "client/graph_file.h"
#include "file/file.h"
#include "graph/write.h"
#include "wire/wire.h"

enum { CONVERT_FROM, CONVERT_TO, CONVERT_PARTS, CONVERT_OPTIONS };

static const struct lbm_option options[] = {
    [CONVERT_FROM] = {.name = "from",
                      .type = LBM_OPTION_CHOICE,
                      .value = "FORMAT",
                      .choices = lbm_graph_formats,
                      .text = "format of IN [by the suffix, else metis]"},
    [CONVERT_TO] = {.name = "to",
                    .type = LBM_OPTION_CHOICE,
                    .value = "FORMAT",
                    .choices = lbm_graph_formats,
                    .text = "format of OUT [by the suffix, else metis]"},
    [CONVERT_PARTS] =
        {.name = "parts",
         .type = LBM_OPTION_INTEGER,
         .value = "N",
         .min = 1,
         .max = LBM_PARTS_MAX,
         .text = "write N files OUT.0, OUT.1, ..., each with some of the vertices, for lbctl submit "
                 "--parallel"},
};

enum { CONVERT_IN, CONVERT_OUT };

static const struct lbm_operand operands[] = {
    [CONVERT_IN] = {.name = "IN", .text = "guest graph, also compressed; \"-\" is standard input"},
    [CONVERT_OUT] = {.name = "OUT",
                     .text = "where it goes, \"-\" for standard output; compressed if it ends in .gz"},
};

static enum lbm_graph_format
format_of(const struct lbm_option_value *value)
{
    return value->given ? (enum lbm_graph_format)value->integer : LBM_FORMAT_COUNT;
}

/* Only GraphML holds all that a guest graph has. */
static void
remark_loss(const struct lbm_cli *client, const struct lbm_graph *g, enum lbm_graph_format to)
{
    if (to == LBM_FORMAT_GRAPHML || (g->position == NULL && g->pin == NULL))
        return;
    lbm_cli_remark(client, "%s holds no %s; write .graphml to keep them", lbm_graph_format_name(to),
                   g->pin == NULL        ? "positions"
                   : g->position == NULL ? "pins"
                                         : "positions and no pins");
}

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

static enum lbm_status
run_convert(const struct lbm_cli *client)
{
    struct lbm_graph g;
    struct lbm_diag diag;
    const char *out = client->operand[CONVERT_OUT];
    enum lbm_graph_format to = lbm_graph_file_format(out, format_of(&client->value[CONVERT_TO]));
    if (client->value[CONVERT_PARTS].given &&
        (strcmp(out, "-") == 0 || (client->value[CONVERT_TO].given && to != LBM_FORMAT_METIS))) {
        (void)lbm_diag_set(&diag, LBM_E_SYNTAX, "--parts", 0,
                           "parts are METIS files, named OUT.0, OUT.1, ...");
        return lbm_cli_refuse(client, &diag);
    }
    if (lbm_file_graph(client->operand[CONVERT_IN], format_of(&client->value[CONVERT_FROM]), &g, &diag) !=
        LBM_OK)
        return lbm_cli_refuse(client, &diag);
    enum lbm_status status = LBM_STATUS_DONE;
    if (client->value[CONVERT_PARTS].integer > g.n) {
        (void)lbm_diag_set(&diag, LBM_E_RANGE, "--parts", 0, "each part needs a vertex, there are %u", g.n);
        status = lbm_cli_refuse(client, &diag);
    } else if (client->value[CONVERT_PARTS].given) {
        if (write_parts(out, (uint32_t)client->value[CONVERT_PARTS].integer, &g, &diag) != LBM_OK)
            status = lbm_cli_fail(client, &diag);
        else
            remark_loss(client, &g, LBM_FORMAT_METIS);
    } else if (lbm_graph_file_write(out, to, &g, &diag) != LBM_OK)
        status = lbm_cli_fail(client, &diag);
    else
        remark_loss(client, &g, to);
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
