/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl gen: make a test graph. */
#include "client/graph_file.h"
#include "graph/generate.h"
#include "graph/write.h"

enum { GEN_OUTPUT, GEN_SEED, GEN_FORMAT, GEN_OPTIONS };

static const struct lbm_option options[] = {
    [GEN_OUTPUT] =
        LBM_TEXT_OPTION("output", "FILE",
                        "where the graph goes, \"-\" for standard output; compressed if it ends in .gz, "
                        ".bz2, .xz, .zst",
                        .letter = 'o', .required = 1),
    [GEN_SEED] = LBM_INTEGER_OPTION("seed", "N", 0, LBM_OPTION_INTEGER_MAX,
                                    "start of the random numbers; the same seed gives the same graph",
                                    .fallback = "1"),
    [GEN_FORMAT] = LBM_CHOICE_OPTION(
        "format", "FORMAT", lbm_graph_formats,
        "how it is written [by the suffix; metis to standard output]; graphml, gml and pajek keep "
        "positions"),
};

static const struct lbm_choice forms[] = {
#define FORM(name, form, text) {form, text},
    LBM_GENERATOR_LIST(FORM)
#undef FORM
        {NULL, NULL},
};

static const struct lbm_operand operands[] = {{.name = "SPEC", .choices = forms, .text = "what to make"}};

static enum lbm_status
run_gen(const struct lbm_cli *client)
{
    const struct lbm_option_value *value = client->value;
    struct lbm_graph g;
    struct lbm_diag diag;
    enum lbm_graph_format format;
    if (lbm_graph_file_format(value[GEN_OUTPUT].text, &value[GEN_FORMAT], "--format", &format, &diag) !=
        LBM_OK)
        return lbm_cli_refuse(client, &diag);
    if (!lbm_graph_is_written(format)) {
        (void)lbm_diag_set(&diag, LBM_E_UNSUPPORTED, value[GEN_OUTPUT].text, 0, "%s is read only",
                           lbm_graph_format_name(format));
        return lbm_cli_refuse(client, &diag);
    }
    if (lbm_graph_generate(client->operand[0], value[GEN_SEED].integer, &g, &diag) != LBM_OK)
        return lbm_cli_refuse(client, &diag);
    enum lbm_status status = LBM_STATUS_DONE;
    if (lbm_graph_file_write(value[GEN_OUTPUT].text, format, &g, &diag) != LBM_OK)
        status = lbm_cli_fail(client, &diag);
    lbm_graph_free(&g);
    return status;
}

const struct lbm_command lbm_command_gen = {
    .name = "gen",
    .text = "make a test graph",
    .help = "Makes a guest graph of a given kind and size. Every weight is 1.",
    .options = options,
    .n_options = GEN_OPTIONS,
    .operands = operands,
    .n_operands = sizeof operands / sizeof operands[0],
    .run = run_gen,
};
