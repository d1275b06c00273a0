/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim import: what other programs recorded, as a trace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "file/file.h"
#include "import/vt.h"
#include "sim/command.h"

enum { IMPORT_OUTPUT, IMPORT_HOSTS, IMPORT_PHASE, IMPORT_OPTIONS };

static const struct lbm_option options[] = {
    [IMPORT_OUTPUT] = LBM_TEXT_OPTION(
        "output", "TRACE", "where to write it; \"-\" is standard output; compressed if it ends in .gz",
        .letter = 'o', .required = 1),
    [IMPORT_HOSTS] = LBM_TEXT_OPTION("hosts", "SPEC",
                                     "the network of the ranks, as lbctl plan has it; complete unless told"),
    [IMPORT_PHASE] = LBM_NUMBER_OPTION("phase", "S", 0.001, 1e5, "from one phase to the next",
                                       .fallback = "10", .unit = "seconds"),
};

enum { IMPORT_FORMAT, IMPORT_FILES };

static const struct lbm_choice formats[] = {{"vt", "load data of DARMA/vt"}, {NULL, NULL}};

static const struct lbm_operand operands[] = {
    [IMPORT_FORMAT] = {.name = "FORMAT", .choices = formats, .text = "what is imported"},
    [IMPORT_FILES] = {.name = "FILE", .text = "one a rank, gzipped or not", .most = LBM_HOSTS_MAX},
};

static enum lbm_err
make_hosts(const char *told, uint32_t n_ranks, struct lbm_hosts *h, struct lbm_diag *diag)
{
    char spec[32];
    snprintf(spec, sizeof spec, n_ranks > 1 ? "complete:%" PRIu32 : "chain:%" PRIu32, n_ranks);
    return lbm_file_hosts(told != NULL ? told : spec, h, diag);
}

static void
remark(const struct lbm_cli *cli, const struct lbm_vt_data *data, const struct lbm_trace *trace,
       const struct lbm_vt_scale *scale)
{
    lbm_cli_remark(cli,
                   "%" PRIu32 " tasks on %" PRIu32 " ranks, %" PRIu32 " phases, %" PRIu64
                   " pairs that talk; a unit of load is %g s, of an edge %g bytes a phase",
                   trace->g.n, data->n_ranks, scale->n_phases, lbm_graph_directions(&trace->g) / 2,
                   scale->load_s, scale->edge_bytes);
    if (data->n_other + scale->n_unknown != 0)
        lbm_cli_remark(cli,
                       "left out: %" PRIu64 " entries that are not of objects, %" PRIu64
                       " communications with tasks that no phase has",
                       data->n_other, scale->n_unknown);
}

static enum lbm_err
write_trace(const char *path, const struct lbm_trace *trace, const struct lbm_vt_scale *scale,
            struct lbm_diag *diag)
{
    char comment[160];
    struct lbm_buf text = {0};
    snprintf(comment, sizeof comment,
             "from load data of vt: a unit of load is %g s, of an edge %g bytes a phase", scale->load_s,
             scale->edge_bytes);
    lbm_trace_put_head(&text, trace, comment);
    for (size_t i = 0; i < trace->steps.n; i++)
        lbm_trace_put_step(&text, trace, &trace->steps.at[i]);
    lbm_trace_put_end(&text, trace->end_us);
    enum lbm_err err = text.failed ? lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "no memory for the trace")
                                   : lbm_file_write(path, text.at, text.len, diag);
    lbm_buf_free(&text);
    return err;
}

/* Check that FORMAT is one that is known. */
static enum lbm_err
check_format(const char *format, struct lbm_diag *diag)
{
    static const struct lbm_option option = {
        .type = LBM_OPTION_CHOICE, .value = "FORMAT", .choices = formats};
    struct lbm_option_value value;
    return lbm_option_convert(&option, format, "FORMAT", &value, diag);
}

static enum lbm_status
run_import(const struct lbm_cli *cli)
{
    struct lbm_vt_data data = {0};
    struct lbm_vt_scale scale;
    struct lbm_hosts h = {0};
    struct lbm_trace trace;
    struct lbm_diag diag;
    enum lbm_err err = check_format(cli->operand[IMPORT_FORMAT], &diag);
    if (err == LBM_OK)
        err = lbm_vt_read_files(cli->operand + IMPORT_FILES, cli->n_operands - IMPORT_FILES, &data, &diag);
    if (err == LBM_OK)
        err = make_hosts(cli->value[IMPORT_HOSTS].text, data.n_ranks != 0 ? data.n_ranks : 1, &h, &diag);
    if (err == LBM_OK)
        err = lbm_vt_trace(&data, &h, cli->value[IMPORT_PHASE].number, &trace, &scale, &diag);
    if (err == LBM_OK) {
        err = write_trace(cli->value[IMPORT_OUTPUT].text, &trace, &scale, &diag);
        if (err == LBM_OK)
            remark(cli, &data, &trace, &scale);
        lbm_trace_free(&trace);
    }
    lbm_hosts_free(&h);
    lbm_vt_free(&data);
    return err == LBM_OK ? LBM_STATUS_DONE : lbm_cli_refuse(cli, &diag);
}

const struct lbm_command command_import = {
    .name = "import",
    .text = "what other programs recorded, as a trace",
    .help =
        "Makes a trace for lbsim replay of the load data of DARMA/vt: one JSON file a rank (vt_lb_data "
        "with vt_lb_data_compress=false). Tasks become vertices, ranks hosts, phases steps. A task of mean "
        "time weighs 1000; an edge has the bytes that two tasks exchange in a phase on average. A task "
        "that is not migratable stays on its rank; one that a phase does not have weighs 1 then.",
    .options = options,
    .n_options = IMPORT_OPTIONS,
    .operands = operands,
    .n_operands = sizeof operands / sizeof *operands,
    .statuses = "0 done, 2 wrong usage or a file that cannot be used",
    .run = run_import,
};
