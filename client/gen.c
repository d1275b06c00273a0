/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl gen: make a test graph. */
#include "client/graph_file.h"
#include "graph/generate.h"
#include "graph/write.h"

enum { GEN_OUTPUT, GEN_SEED, GEN_FORMAT, GEN_OPTIONS };

static const struct lbm_option options[] = {
    [GEN_OUTPUT] = {.name = "output",
                    .letter = 'o',
                    .type = LBM_OPTION_TEXT,
                    .value = "FILE",
                    .required = 1,
                    .text = "where the graph goes, \"-\" for standard output; compressed if it ends in .gz, "
                            ".bz2, .xz, .zst"},
    [GEN_SEED] = {.name = "seed",
                  .type = LBM_OPTION_INTEGER,
                  .value = "N",
                  .min = 0.0,
                  .max = LBM_OPTION_INTEGER_MAX,
                  .fallback = "1",
                  .text = "start of the random numbers; the same seed gives the same graph"},
    [GEN_FORMAT] =
        {.name = "format",
         .type = LBM_OPTION_CHOICE,
         .value = "FORMAT",
         .choices = lbm_graph_formats,
         .text = "how it is written [by the suffix; metis to standard output]; graphml, gml and pajek keep "
                 "positions"},
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
