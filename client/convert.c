/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl convert: a guest graph from one format to another. */
#include "client/graph_file.h"
#include "file/file.h"

enum { CONVERT_FROM, CONVERT_TO, CONVERT_OPTIONS };

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

static enum lbm_status
run_convert(const struct lbm_cli *client)
{
    struct lbm_graph g;
    struct lbm_diag diag;
    const char *out = client->operand[CONVERT_OUT];
    enum lbm_graph_format to = lbm_graph_file_format(out, format_of(&client->value[CONVERT_TO]));
    if (lbm_file_graph(client->operand[CONVERT_IN], format_of(&client->value[CONVERT_FROM]), &g, &diag) !=
        LBM_OK)
        return lbm_cli_refuse(client, &diag);
    enum lbm_status status = LBM_STATUS_DONE;
    if (lbm_graph_file_write(out, to, &g, &diag) != LBM_OK)
        status = lbm_cli_fail(client, &diag);
    else
        remark_loss(client, &g, to);
    lbm_graph_free(&g);
    return status;
}

const struct lbm_command lbm_command_convert = {
    .name = "convert",
    .text = "translate a guest graph from one format to another",
    .help = "Reads a guest graph, checks it, and writes it in another format.",
    .options = options,
    .n_options = CONVERT_OPTIONS,
    .operands = operands,
    .n_operands = sizeof operands / sizeof operands[0],
    .run = run_convert,
};
